#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that breaks the protocol loses its link, and nobody else notices.
# kernels: um debug
# no rail: the hostile peer is a program that speaks RDMA
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

HOSTILE=$BIN/hostile

# Each case, what comes of it, and how many protocol errors node 1 counts.
CASES='
hello-good		up		0
hello-none		rejected	0
hello-magic		rejected	0
hello-version		rejected	0
hello-lane-12		rejected	0
hello-from-0		rejected	0
hello-from-unknown	rejected	0
hello-from-another	rejected	0
hello-from-them		rejected	0
hello-to-0		rejected	0
hello-to-another	rejected	0
hello-recvs-few		rejected	0
hello-inline		rejected	0
hello-instance-0	rejected	0
hello-rail		up		0
hello-feature		rejected	0
hello-key		rejected	0
hello-keys-3		rejected	0
hello-proof		rejected	0
hello-proof-old		rejected	0
hello-auth		down		0
hello-auth-reply	down		0
hello-auth-none		down		1
frame-pong		up		0
frame-short		down		1
frame-long		down		1
frame-cut		down		1
frame-huge		down		0
type-0			down		1
type-17			down		1
auth-again		down		1
flag			down		1
flag-of-another		down		1
ping-id			down		1
ping-body		down		1
ping-count		down		1
id-0			down		1
id-unknown		down		1
id-unknown-close	down		1
resume-ack-unknown	down		1
resume-rej-unknown	down		1
resume-no-ring		down		1
grant-back		down		1
grant-far		down		1
open-good		open		0
open-foreign-src	unmapped	0
open-another-src	unmapped	0
open-their-src		unmapped	0
open-foreign-dst	route		0
open-loopback		denied		1
open-loopback-only	denied		1
open-loopback-far	denied		1
open-loopback-6		denied		1
open-any		denied		1
open-any-6		denied		1
open-broadcast		denied		1
open-multicast		denied		1
open-link-local		denied		1
open-denied		denied		0
open-no-listener	listener	0
open-sport-0		welcome		0
open-asks-denied	denied		0
open-asks-no-listener	listener	0
open-asks-no-port	welcome		0
open-dport-0		listener	0
open-id-0		down		1
open-ring-none		open		0
open-ring-0		down		1
open-ring-odd		down		1
open-ring-small		down		1
open-ring-large		down		1
open-ring-wraps		down		1
open-body-short		down		1
open-body-long		down		1
open-standby		down		1
open-flood		down		1
dialogue		up		0
dialogue-no-ring	up		0
data			up		0
data-offset		down		1
data-again		down		1
data-count-0		down		1
data-count		down		1
data-count-far		down		1
data-no-ring		down		1
data-full		up		0
data-gen		down		1
data-gen-last		down		1
data-gen-ahead		down		1
data-ring		up		0
data-ring-early		down		1
data-beyond		down		1
data-old-gen		up		0
data-old-gen-beyond	down		1
data-gen-back		down		1
data-ring-body		down		1
confirm			up		0
cancel			up		0
credit-far		down		1
credit-back		down		1
fin-offset		down		1
fin-twice		down		1
fin-data		down		1
fin-credit		up		0
close-twice		down		1
close-data		down		1
close-ack		down		1
open-ack		down		1
open-rej		down		1
resume-unknown		unknown		0
resume-live		down		1
resume			resumed		0
resume-late		resumed		0
resume-other		unknown		0
resume-token		down		1
resume-token-old	down		1
resume-ring		resumed		0
resume-smaller		resumed		0
resume-none		resumed		0
resume-number		resumed		0
resume-number-0		down		1
resume-number-back	down		1
resume-credit-far	down		1
resume-credit-back	down		1
resume-ahead		down		1
resume-behind		reset		0
resume-back		reset		0
resume-instance		unknown		0
resume-ack		down		1
resume-rej		down		1
ring-good		up		0
ring-had-one		down		1
ring-larger		up		0
ring-smaller		down		1
ring-none		down		1
ring-none-any-more	down		1
ring-odd		down		1
ring-other		down		1
ring-number-0		down		1
ring-number-2		down		1
ring-number-back	down		1
ring-credit-far		down		1
ring-credit-back	down		1
ring-unasked		down		1
ring-unknown		down		1
leave			up		0
leave-old		down		1
leave-first		up		0
leave-offset		down		1
leave-back		down		1
leave-ahead		down		1
leave-far		down		1
leave-twice		down		1
leave-fin		down		1
leave-write		down		1
leave-frames		up		0
leave-beyond		down		1
leave-no-ring		down		1
leave-unknown		down		1
leave-stays		up		0
leave-stays-back	down		1
leave-stays-again	up		0
leave-stays-twice	down		1
leave-read		up		0
leave-read-ring		down		1
leave-read-again	down		1
leave-read-write	down		0
write-good		up		0
write-before		down		0
write-beyond		down		0
write-key		down		0
write-late		down		0
imm-good		up		0
imm-full		up		0
imm-ask			up		0
imm-old-gen		down		1
imm-not-in-ring		down		1
imm-urgent		down		1
imm-unknown-flag	down		1
imm-next-gen		down		1
imm-unknown-id		down		1
imm-nothing		down		1
imm-beyond		down		1
port			rejected	0
vanish			open		0
'

# With a datagram socket on node 1, what comes of datagrams that it sends by an implicit
# connection; a good one behind each is answered.
RECORDS='
record-good		answered	0
record-number		listener	0
record-empty		reset		1
record-short		reset		1
record-long		reset		1
record-reserved		reset		1
record-gso		answered	1
record-total		answered	1
record-fragment		answered	1
record-no-port		answered	1
record-their-src	answered	0
record-another-src	answered	0
record-loopback		answered	0
record-foreign-dst	answered	0
record-multicast	answered	0
'

# Records of SOCK_SEQPACKET; "two" begins with an empty one, which the program takes for the end.
PACKETS='
packet-good		answered	0
packet-two		reset		0
packet-longest		reset		0
packet-too-long		reset		1
packet-huge		reset		1
packet-flags		reset		1
packet-cut		reset		0
packet-no-header	reset		0
'
# Datagrams between explicit sockets.
MESSAGES='
message-good			answered	0
message-no-source-port		answered	1
message-no-port			answered	1
message-another-type		answered	1
message-to-another-type		answered	1
message-parts			answered	1
message-foreign-source		answered	1
message-refusal			answered	0
message-refusal-with-bytes	answered	1
message-nobody			answered	0
message-another-node		answered	0
message-to-another-node		answered	0
'
PACKETS_TOLD='
example-records: a client has gone: Connection reset by peer
example-records: a client has gone: Protocol error
example-records: a client has gone: Protocol error
example-records: a client has gone: Protocol error
example-records: a client has gone: Connection reset by peer
example-records: a client has gone: Connection reset by peer
'
DENIED=5

# Node 1 asks it for a link: what it gets, the errors that node 1 counts, and what the
# program gets that has connected: TCP, or a reset if it was connected.
SERVES='
serve-good		up		0	-
serve-version		down		0	tcp
serve-from-another	down		1	tcp
serve-to-another	down		1	tcp
serve-recvs-few		down		1	tcp
serve-lane		down		1	tcp
serve-rail		down		1	tcp
serve-instance-0	down		1	tcp
serve-key		down		0	tcp
serve-proof		down		0	tcp
serve-old		down		0	tcp
serve-nothing		down		1	tcp
serve-auth		down		1	tcp
serve-open-ack-id-0	down		1	tcp
serve-resume-ack	down		1	tcp
serve-resume-rej	down		1	tcp
serve-close		down		1	tcp
serve-data		down		1	tcp
serve-ring		down		1	tcp
serve-refused		up		0	tcp
serve-refused-twice	down		1	tcp
serve-refused-why	down		1	tcp
serve-grant-far		down		1	tcp
serve-ack-twice		down		1	reset
serve-reject-late	down		1	reset
serve-credit-far	down		1	reset
serve-credit-most	down		1	reset
serve-data-far		down		1	reset
serve-resume		down		1	reset
'

errors() {
	stat 1 protocol_errors
}

# try CASE WORD ERRORS; none are counted between two cases.
try() {
	local before=$ERRORS word rc=0
	word=$(lab run 2 "$HOSTILE" 10.77.0.1 "$1" 2>&1 </dev/null) || rc=$?
	ERRORS=$(errors)
	is "$1: $2, errors: $3" "${word:-status $rc} $((ERRORS - before))" "$2 $3"
}

# Only the program speaks for node 2.
bring_up() {
	load_verbs
	node2 rmmod sanx_verbs </dev/null
	nodemap_std
	node1 sanxctl nodemap load - <<-END
		10.77.0.1 1
		10.77.0.2 2
		10.77.0.3 3
		fd77::1 1 10.77.0.1
		fd77::2 2 10.77.0.2
	END
	node1 sanxctl ports add deny 5003 </dev/null
	serve 1 5001 sleep 600000
	serve 1 5002 echo
	background 1 "$PEER" -T $((PATIENCE * 10)) listen 127.0.0.1 5004 echo
	wait_port 1 5004
	OPTS='-b 2' serve 1 5005 echo
	serve 1 5007 await /share/hostile.read echo
	at_exit "rm -f '$LAB_RUN/share/hostile.read'"
	OPTS=-t serve 2 5006 echo
}

# begin CASE: in the background, with its link up.
begin() {
	background 2 "$HOSTILE" 10.77.0.1 "$1"
	CASE=$LAST
	CASE_LOG=$LAST_LOG
	says "$CASE_LOG" '^up$'
}

# A program of node 1 sends it something, and loses that connection and no other.
answer_behind() {
	local out
	begin answer-behind
	out=$(peer 1 connect 10.77.0.2 5006 ping 1) || true
	is "answer-behind: the program" "$(sed -n 's/^ping: \([A-Z]*\) .*/\1/p' <<<"$out")" ECONNRESET
	wait "$CASE" || true
	is "answer-behind: reset, errors: 0" "$(tail -n 1 "$CASE_LOG") $(($(errors) - ERRORS))" "reset 0"
}

# asked: how many OPENs have come to the peer that is mute.
asked() {
	grep -c '^asked' "$CASE_LOG" || true
}

# Nobody waits longer than for a link, and who comes next does not ask.
MANY=70
mute() {
	local before
	begin mute
	remember 1
	background 1 "for i in \$(seq $MANY); do
		$PEER -T $((90 * SLOW)) connect 10.77.0.2 5006 ping 1 shut end &
	done; wait; echo all"
	eventually 150 "grep -q '^all$' '$LAST_LOG'" || true
	is "mute: all become TCP" "$(grep -c '^done' "$LAST_LOG") $(moved 1 fallback_link)" "$MANY $MANY"
	before=$(asked)
	peer 1 connect 10.77.0.2 5006 ping 1 shut end >/dev/null || true
	is "mute: the next one does not ask" "$(moved 1 fallback_link) $(asked)" "$((MANY + 1)) $before"
	node2 touch /tmp/hostile.answer </dev/null
	says "$CASE_LOG" '^answered$' || true
	remember 1
	check "mute: it answers at last" peer 1 connect 10.77.0.2 5006 ping 1 shut end
	check "mute: and is asked again" moves 1 fallback_refused=1
	is "mute: its link has stayed" "$(node1 sanxctl -j link show </dev/null | jq -c '[.[].state]')" '["up"]'
	stop "$CASE"
	node2 rm /tmp/hostile.answer </dev/null
	is "mute: errors: 0" "$(($(errors) - ERRORS))" 0
}

# A program sees a connection when its connector has shown that it knows of it.
unconfirmed() {
	local name conns
	for name in open-good:0 cancel:0 confirm:1 data:1 fin-credit:1 resume:1; do
		conns=${name#*:}
		name=${name%:*}
		remember 1
		lab run 2 "$HOSTILE" 10.77.0.1 "$name" </dev/null >/dev/null 2>&1 || true
		eventually 10 "at_least 1 conns_verbs $conns >/dev/null" || true
		is "unconfirmed: $name: accepted" "$(moved 1 conns_verbs)" "$conns"
	done
	is "unconfirmed: a backlog of 2 is full, and not any more after 3 s" \
		"$(lab run 2 "$HOSTILE" 10.77.0.1 backlog </dev/null)" "3 busy 3"
}

# Connections that a peer leaves half-open take no room from those of others, which would
# else try again and again, as the place of one that expires is taken at once: all five
# would take minutes, and have one.
crowd() {
	background 2 "$HOSTILE" 10.77.0.1 crowd
	CASE=$LAST
	CASE_LOG=$LAST_LOG
	check "crowd: a backlog of 2 is full" says "$CASE_LOG" '^full$'
	remember 1
	check "crowd: five of another node need not wait for room" \
		node1 "$PEER" -T 60 -n 5 connect 10.77.0.1 5005 ping 1 shut end
	check "crowd: none of them had to become TCP" moves 1 conns_loop=10
	node2 touch /tmp/hostile.answer </dev/null
	wait "$CASE" || true
	is "crowd: it was full to the end" "$(tail -n 1 "$CASE_LOG")" crowded
	node2 rm /tmp/hostile.answer </dev/null
}

# no_links: none is left of earlier cases.
no_links() {
	node1 sanxctl -j link show </dev/null |
		jq -e 'all(.state == "lost" or .state == "held" or .state == "connecting")' >/dev/null
}

# Links without a first frame are limited, in number and in time: twice link_timeout_ms.
half_open() {
	LINK_TIMEOUT_MS=5000 tune 1
	eventually 30 no_links || true
	node1 sysctl -qw net.sanx.half_open_peer=5 </dev/null
	remember 1
	is "half-open: 5, and again" "$(lab run 2 "$HOSTILE" 10.77.0.1 half-open </dev/null)" "5 again"
	node1 sysctl -qw net.sanx.half_open_peer=32 net.sanx.half_open=3 </dev/null
	check "half-open: a good link, when they are gone" \
		eventually 20 "[ \"\$(lab run 2 '$HOSTILE' 10.77.0.1 hello-good </dev/null)\" = up ]"
	eventually 30 no_links || true
	is "half-open: 3 of all peers, and again" \
		"$(lab run 2 "$HOSTILE" 10.77.0.1 half-open </dev/null)" "3 again"
	node1 sysctl -qw net.sanx.half_open=256 </dev/null
	check "half-open: refused links are counted" [ "$(moved 1 links_refused)" -ge 2 ]
	check "half-open: and the log says why" node1 "dmesg | grep -q 'half_open or half_open_peer is'" </dev/null
	check "half-open: a good link once more" \
		eventually 20 "[ \"\$(lab run 2 '$HOSTILE' 10.77.0.1 hello-good </dev/null)\" = up ]"
	tune 1
}

# So are links that come one after the other.
setups() {
	node1 sysctl -qw net.sanx.setups_peer=1 </dev/null
	remember 1
	is "setups: some, and again" "$(lab run 2 "$HOSTILE" 10.77.0.1 setups </dev/null)" "limited again"
	check "setups: those that are refused are counted" [ "$(moved 1 links_refused)" -ge 1 ]
	check "setups: and the log says why" node1 "dmesg | grep -q 'net.sanx.setups_peer is'" </dev/null
	node1 sysctl -qw net.sanx.setups_peer=100 </dev/null
}

# Of a record that is not whole, and has an end, the program hears.
packets() {
	background 1 "exec $BIN/example-records 5008"
	eventually 60 "lab run 1 'sanxctl socket show sport 5008 | grep -q ^LISTEN' </dev/null"
	while read -r name word count; do try "$name" "$word" "$count"; done <<<"$PACKETS"
	is "packets: what the program was told" "$(stop "$LAST"; cat "$LAST_LOG")" \
		"$(sed '/^$/d' <<<"$PACKETS_TOLD")"
}

messages() {
	background 1 "exec $BIN/example-datagrams 5008"
	eventually 60 "lab run 1 'sanxctl socket show sport 5008 | grep -q UNCONN' </dev/null"
	remember 1
	while read -r name word count; do try "$name" "$word" "$count"; done <<<"$MESSAGES"
	is "messages: those from and to other nodes are counted" "$(moved 1 dropped_denied)" 2
	is "messages: the server hears of none" "$(stop "$LAST"; cat "$LAST_LOG")" ""
}

records() {
	background 1 "exec $BIN/datagrams serve 0.0.0.0 5090"
	says "$LAST_LOG" ready
	remember 1
	while read -r name word count; do try "$name" "$word" "$count"; done <<<"$RECORDS"
	is "records: datagrams from and to other addresses are counted" \
		"$(moved 1 dropped_denied)" "$DENIED"
	# "good" has two, and each of ten others one.
	is "records: the good ones have come, and no other" "$(stop "$LAST"; cat "$LAST_LOG")" \
		"ready
sent 11 answered 0 twice 0 wrong 11 strange 0 errors 0"
	node1 sysctl -qw net.sanx.dgram_conns=0 </dev/null
}

# conns: with all peers, as node 1 has them.
conns() {
	node1 sanxctl -j link show </dev/null | jq '[.[].conns] | add // 0'
}

# Requests of a peer are limited, in number a second, and so are its connections.
requests() {
	node1 sysctl -qw net.sanx.requests_peer=5 </dev/null
	remember 1
	is "requests: so many a second" "$(lab run 2 "$HOSTILE" 10.77.0.1 rate </dev/null)" limited
	check "requests: that is counted" [ "$(moved 1 requests_delayed)" -ge 1 ]
	remember 1
	is "requests: so many to resume" "$(lab run 2 "$HOSTILE" 10.77.0.1 resume-rate </dev/null)" limited
	check "requests: that is counted too" [ "$(moved 1 requests_delayed)" -ge 1 ]
	check "requests: and the log says why" node1 "dmesg | grep -q 'node 2 asks .* net.sanx.requests_peer is'" </dev/null
	check "connections: none is left" eventually 60 "[ \"\$(conns)\" = 0 ]"
	node1 sysctl -qw net.sanx.conns_peer=5 </dev/null
	is "connections: so many" "$(lab run 2 "$HOSTILE" 10.77.0.1 conns </dev/null)" "5 limit"
	check "connections: and the log says why" node1 "dmesg | grep -q 'net.sanx.conns_peer is'" </dev/null
	# Those that are not resumed on a new link are forgotten, and make room.
	begin mute
	check "connections: those of a lost link go" eventually 60 "[ \"\$(conns)\" = 0 ]"
	stop "$CASE"
	is "connections: and make room" "$(lab run 2 "$HOSTILE" 10.77.0.1 open-good </dev/null)" open
	node1 sysctl -qw net.sanx.requests_peer=20000 net.sanx.conns_peer=65536 </dev/null
	is "requests: errors: 0" "$(($(errors) - ERRORS))" 0
	ERRORS=$(errors)
}

# gets: what a program of node 1 gets that connects.
gets() {
	local out
	remember 1
	out=$(peer 1 connect 10.77.0.2 5006 ping 1 shut end 2>&1) || true
	case $(moved 1 fallback_link)$(moved 1 fallback_refused)$out in
	[01][01]*done) echo tcp ;;
	*ECONNRESET*) echo reset ;;
	*) echo "$out" ;;
	esac
}

# serve_try CASE WORD ERRORS PROGRAM
serve_try() {
	local before=$ERRORS word program
	background 2 "$HOSTILE" 10.77.0.2 "$1"
	CASE=$LAST
	CASE_LOG=$LAST_LOG
	says "$CASE_LOG" '^listens$' || true
	program=$(gets)
	wait "$CASE" || true
	word=$(tail -n 1 "$CASE_LOG")
	ERRORS=$(errors)
	[ "$4" != - ] || program=-
	is "$1: $2, errors: $3, the program: $4" "$word $((ERRORS - before)) $program" "$2 $3 $4"
}

# A program without privileges listens where a kernel would.
serve_as_user() {
	node2 'chmod 666 /dev/infiniband/rdma_cm /dev/infiniband/uverbs0' </dev/null
	is "a program of a user cannot listen there" "$(lab run 2 \
		"setpriv --reuid 65534 --clear-groups $HOSTILE 10.77.0.2 serve-good" </dev/null)" forbidden
	is "nor ask from a reserved port" "$(lab run 2 "setpriv --reuid 65534 --clear-groups \
		$HOSTILE 10.77.0.1 hello-good 2>&1" </dev/null)" "10.77.0.1: Permission denied"
}

serves() {
	# A busy node takes its time for a link, and none becomes TCP for that here.
	node1 'cd /sys/module/af_sanx/parameters; echo 1 >link_hold_ms; echo 20000 >link_timeout_ms' </dev/null
	# A changed map ends what is left of a backoff.
	node1 'sanxctl nodemap add 10.99.0.1 99 && sanxctl nodemap del 10.99.0.1' </dev/null
	while read -r name word count program; do
		serve_try "$name" "$word" "$count" "$program"
	done <<<"$SERVES"
	node1 'cd /sys/module/af_sanx/parameters; echo 10000 >link_hold_ms' </dev/null
	tune 1
	serve_as_user
}

# What node 1 does about a link that came up takes its time, on a debug kernel.
held_up() {
	local file=/sys/module/af_sanx/parameters/hold_up_ms
	node1 "[ ! -f $file ] || echo 500 >$file" </dev/null
	"$@"
	node1 "[ ! -f $file ] || echo 0 >$file" </dev/null
}

# What a node is for still works.
others_work() {
	remember
	check "loop connection" peer 1 connect 10.77.0.1 5002 ping 3 shut end
	check "loop connection: over loop" moves 1 conns_loop=2
	load_verbs
	remember
	check "verbs connection" peer 2 connect 10.77.0.1 5002 ping 3 shut end
	check "verbs connection: the client's counter" moves 2 conns_verbs=1
	check "verbs connection: the server's counter" moves 1 conns_verbs=1
}

CASES=$(sed '/^$/d' <<<"$CASES")
RECORDS=$(sed '/^$/d' <<<"$RECORDS")
PACKETS=$(sed '/^$/d' <<<"$PACKETS")
MESSAGES=$(sed '/^$/d' <<<"$MESSAGES")
SERVES=$(sed '/^$/d' <<<"$SERVES")
plan $(($(wc -l <<<"$CASES") + $(wc -l <<<"$RECORDS") + $(wc -l <<<"$PACKETS") +
	$(wc -l <<<"$MESSAGES") + $(wc -l <<<"$SERVES") + 53))
is "every case is tried" "$("$HOSTILE" list)" "$(cut -f1 <<<"$CASES")
answer-behind
mute
rate
resume-rate
conns
backlog
crowd
half-open
setups
$(cut -f1 <<<"$RECORDS")
$(cut -f1 <<<"$PACKETS")
$(cut -f1 <<<"$MESSAGES")"
is "every case of a listener is tried" "$("$HOSTILE" serves)" "$(cut -f1 <<<"$SERVES")"
bring_up
ERRORS=$(errors)
answer_behind
mute
while read -r name word count; do
	case $name in
	resume-instance) held_up try "$name" "$word" "$count" ;;
	*) try "$name" "$word" "$count" ;;
	esac
done <<<"$CASES"
messages
records
packets
unconfirmed
crowd
half_open
setups
requests
serves
others_work
