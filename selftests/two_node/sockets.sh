#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanxctl socket on nodes that have sockets of all kinds: each of them is there,
# once, with what it is, and nothing else is.
# kernels: 6.1 um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

SOCKETS=$BIN/sockets
# By node, the logs of what was started there.
declare -A STARTED

# start N TRANSPORT ARGS...: sockets on node N; they are there until clear.
start() {
	local n=$1 transport=$2
	shift 2
	# Its standard input does not end; TERM ends it.
	background "$n" "tail -f /dev/null | TRANSPORT=$transport exec setpriv --reuid ${USER_ID:-0} $SOCKETS $*"
	STARTED[$n]="${STARTED[$n]:-} $LAST_LOG"
}

ready() {
	says "$LAST_LOG" "^ready" || { cat "$LAST_LOG" && return 1; }
}

clear_all() {
	local n
	for n in 1 2; do
		lab run "$n" 'pkill -x sockets; pkill -x tail; true' </dev/null
	done
	stop_all
	STARTED=()
}

# wanted N: what node N's sockets are, as they say, by inode.
wanted() {
	# shellcheck disable=SC2086
	sed -n '/^{/p' ${STARTED[$1]:-/dev/null} | jq -cS . | sort
}

# got N [COMMAND...]: and as sanxctl says; of what a program can know of its own.
got() {
	local n=$1
	shift
	lab run "$n" "$* sanxctl -j socket" </dev/null | jq -cS '.[] | {state, rx_queue, tx_queue,
		local, remote, transport, uid, inode, denied}' | sort
}

same() {
	[ "$(wanted "$1")" = "$(got "$1")" ]
}

# shows NAME N: bytes take a moment to arrive, and to be said to have been read.
shows() {
	if eventually 20 "same $2"; then
		ok "$1"
	else
		diff <(wanted "$2") <(got "$2") | sed 's/^/# /' || true
		fail "$1"
	fi
}

# The text, made of the JSON, has the same in its columns.
text_of() {
	lab run "$1" 'sanxctl -j socket' </dev/null | jq -r '.[] |
		[.state, .rx_queue, .tx_queue, .local, .remote, .transport, .uid, .inode,
		(if .node then "node:\(.node)" else empty end)] | join(" ")'
}

columns() {
	lab run "$1" 'sanxctl socket' </dev/null | sed 1d | tr -s ' ' | sed 's/^ //'
}

over_loop() {
	start 1 loop both 127.0.0.1 5070
	ready
	start 1 loop both ::1 5071
	ready
	start 1 loop both 10.77.0.1 5072
	ready
	shows "loop: connections and their listeners" 1
	start 1 loop lone 127.0.0.1 5073
	ready
	start 1 loop lone fd77::1 5076
	ready
	shows "loop: listeners, a full backlog, sockets without a connection" 1
	USER_ID=65534 start 1 loop both 127.0.0.1 5079
	ready
	shows "of another user" 1
	is "the columns are the same" "$(columns 1)" "$(text_of 1)"
	is "and have a heading" "$(node1 'sanxctl socket' </dev/null | sed -n 1p | tr -s ' ')" \
		"State Recv-Q Send-Q Local Remote Transport Uid Inode"
	check "an unprivileged user sees the same" test "$(got 1)" = \
		"$(got 1 setpriv --reuid 65534)"
	is "another namespace has none of them" \
		"$(node1 'unshare -n sanxctl -j socket' </dev/null)" "[]"
}

over_verbs() {
	local a
	for a in 10.77.0.1 fd77::1; do
		start 1 "$TRANSPORT" serve "$a" 5080
		says "$LAST_LOG" "^listens"
		start 2 "$TRANSPORT" call "$a" 5080
		ready
	done
	shows "verbs: the end that accepts" 1
	shows "verbs: the end that connects" 2
	is "the columns are the same on that end" "$(columns 2)" "$(text_of 2)"
	figures
	is "with as many connections as the link has" \
		"$(node2 'sanxctl -j link' </dev/null | jq '[.[].conns] | add')" \
		"$(got 2 | grep -c "\"$TRANSPORT\"")"
}

# More than goes into one message, or into a hundred.
very_many() {
	start 1 loop many 3000
	ready
	shows "three thousand: each is there, once" 1
}

# asked JQ ARGS...: of what sanxctl on node 1 shows with these arguments.
asked() {
	local what=$1
	shift
	lab run 1 "sanxctl -j socket show $*" </dev/null | jq -c "$what"
}

is_one() {
	[ "$(asked length "$@")" = 1 ]
}

none_left() {
	[ "$(asked length all)" = 0 ]
}

# kill_at N FILTER...: how many were ended.
kill_at() {
	local n=$1
	shift
	lab run "$n" "sanxctl -j socket kill $*" </dev/null | jq .ended
}

# A client of a server that is plain TCP.
became_tcp() {
	local one pid
	background 1 "tail -f /dev/null | exec nc -l 127.0.0.1 5090"
	wait_port 1 5090
	background 1 "tail -f /dev/null | exec sanx-run --strict nc 127.0.0.1 5090"
	check "a socket that became TCP is asked for" eventually 30 "is_one all state established"
	is "by itself it is not shown" "$(asked . )" "[]"
	one=$(asked '.[0]' -p fallback refused)
	is "it says why it is TCP" "$(jq -r '[.state, .transport, .fallback, .remote, .node, .tx_bytes]
		| join(" ")' <<<"$one")" "ESTAB tcp refused 127.0.0.1:5090  "
	pid=$(jq '.users[0].pid' <<<"$one")
	is "and whose it is" "$(jq -r '.users | map(.name) | join(" ")' <<<"$one")" \
		"$(node1 "cat /proc/$pid/comm" </dev/null)"
	is "the process finds it" "$(asked '.[0].inode' all "pid $pid")" "$(jq .inode <<<"$one")"
	is "another one does not" "$(asked length all pid 1)" 0
	is "the port of the other end does" "$(asked length all dport 5090 port 5090)" 1
	is "that of this end does not" "$(asked length all sport 5090)" 0
	is "another namespace does not have it" \
		"$(node1 'unshare -n sanxctl -j socket show all' </dev/null)" "[]"
	is "kill: what became TCP" "$(kill_at 1 all dport 5090)" 1
	node1 'pkill -x nc; pkill -x tail; true' </dev/null
	stop_all
	check "it goes with its program" eventually 30 none_left
	start 1 tcp fallen 1000
	ready
	is "a thousand that became TCP: each is there, once" \
		"$(asked '[length, (map(.inode) | unique | length)] | @csv' all)" '"1000,1000"'
	clear_all
}

# Figures of connections, and who the peer is.
figures() {
	is "verbs: the other node is known" "$(asked 'map(.node) | unique' transport "$TRANSPORT")" "[2]"
	# As bin/sockets.c sends and reads them.
	is "verbs: bytes that have come and gone" \
		"$(asked 'map([.rx_bytes, .tx_bytes]) | unique' transport "$TRANSPORT")" \
		"[[0,0],[0,20],[0,700],[3,0],[50000,60000],[100000,1]]"
	is "a node that has none" "$(asked length node 3)" 0
	check "in words" node1 'sanxctl socket show -m state established |
		grep -q " tx_bytes:[0-9]* rx_bytes:[0-9]* tx_ring:[0-9]* rx_ring:[0-9]* "'
}

no_more() {
	[ "$(asked length "$@")" = 0 ]
}

# What an administrator ends.
killed() {
	start 1 loop both 127.0.0.1 5074
	ready
	is "kill: not all that there are" "$(node1 'sanxctl socket kill 2>&1' </dev/null)" \
		"Error: FILTER is missing, which says what is to end."
	is "kill: not by everybody" \
		"$(node1 'setpriv --reuid 65534 sanxctl socket kill port 5074 2>&1' </dev/null)" \
		"Error: Operation not permitted (CAP_NET_ADMIN is needed)."
	is "kill: a listener" "$(kill_at 1 sport 5074 state listening)" 1
	check "kill: which listens no more" no_more sport 5074 state listening
	check "kill: connections" test "$(kill_at 1 port 5074 state established)" -gt 0
	check "kill: which are over" no_more port 5074 state established
	clear_all
	start 1 "$TRANSPORT" serve 10.77.0.1 5080
	says "$LAST_LOG" "^listens"
	start 2 "$TRANSPORT" call 10.77.0.1 5080
	ready
	check "kill: those with a node" test "$(kill_at 2 node 1 state established)" -gt 0
	check "kill: that node has none of them" eventually 20 "no_more node 2 state established"
	clear_all
}

plan 39
load_verbs
nodemap_std
is "nobody has a socket" "$(node1 'sanxctl -j socket' </dev/null)" "[]"
over_loop
clear_all
check "they go with their programs" eventually 20 "[ -z \"\$(got 1)\" ]"
over_verbs
clear_all
very_many
clear_all
became_tcp
killed
check "nothing is left" eventually 30 "[ -z \"\$(got 1)\$(got 2)\" ]"
