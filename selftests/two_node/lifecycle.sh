#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Things that come and go while they are in use: programs, modules, namespaces,
# devices, cables, nodes.  What is left learns of it, in bounded time.
# kernels: 6.1 um debug
# full: ends that are noticed by their time-outs
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

# client NAME ARGS...: a client on node 2, in the background; its log is in
# LOG[NAME].
client() {
	local name=$1
	shift
	background 2 "$PEER" -T $((PATIENCE * 4)) connect "$@"
	LOG[$name]=$LAST_LOG
	says "$LAST_LOG" connected
}
declare -A LOG

# ends NAME SECONDS PATTERN: the client's last word comes in time, and is that.
ends() {
	took_ms eventually "$2" "grep -qE ': |done' '${LOG[$1]}'" || true
	if tail -n 1 "${LOG[$1]}" | grep -qE "^($3)"; then
		ok "$4"
	else
		echo "# after $MS ms: $(tail -n 1 "${LOG[$1]}")"
		fail "$4"
	fi
}

# waits NAME WHAT: the client has had no news since it was connected.
waits() {
	check "$2" grep -q '^connected' <(tail -n 1 "${LOG[$1]}")
}

# both_up: the modules on both nodes, verbs and all.
both_up() {
	load_verbs && nodemap_std
}

program_killed() {
	serve 1 5001 drain
	client flood 10.77.0.1 5001 flood
	sleep 1
	node1 "pkill -9 -f '[l]isten 5001'" </dev/null
	ends flood 10 "flood: (ECONNRESET|EPIPE)" "the reader is killed: the sender gets an error"

	serve 1 5002 flood
	client drain 10.77.0.1 5002 drain
	sleep 1
	node1 "pkill -9 -f '[l]isten 5002'" </dev/null
	ends drain 10 "done" "the sender is killed: the reader gets an end"

	serve 1 5003 hold
	client hold 10.77.0.1 5003 hold
	node1 "pkill -9 -f '[l]isten 5003'" </dev/null
	ends hold 10 "done" "an idle peer is killed: the other gets an end"

	background 1 "$PEER" -1 listen 5004 drain
	SERVER_LOG=$LAST_LOG
	wait_port 1 5004
	client killed 10.77.0.1 5004 send 100k hold
	node2 "pkill -9 -f '[5]004 send'" </dev/null
	LOG[server]=$SERVER_LOG
	ends server 10 "done" "the client is killed: the server has all it sent"
}

module_in_use() {
	serve 1 5005 echo
	client user 10.77.0.1 5005 hold
	check "rmmod $WIRE_MODULE is refused under a connection" node2 "! rmmod $WIRE_MODULE 2>/dev/null"
	check "rmmod af_sanx is refused under a socket" node2 '! rmmod af_sanx 2>/dev/null'
	stop_all
	check "and granted after it" eventually 10 "unload_sanx 2"
	load_sanx 2
	both_up
	serve 1 5006 echo
	check "and all is well" peer 2 connect 10.77.0.1 5006 ping 10 shut end
}

# The module comes and goes, with connections in between.  Each time can take seconds, so
# only a run of all tests does so often.
load_unload() {
	local times=20
	[ -z "${SANX_FULL:-}" ] || times=100
	stop_all
	unload_sanx 1
	check "$times times insmod, traffic, rmmod" node1 "
		set -e
		for i in \$(seq $times); do
			insmod $MODULES/af_sanx.ko
			$PEER -T 60 -1 listen 127.0.0.1 5007 both 50000 end & pid=\$!
			until ss -Hltn sport = :5007 | grep -q .; do :; done
			$PEER -T 60 connect 127.0.0.1 5007 both 50000 shut end >/dev/null
			wait \$pid
			[ \$((i % 10)) != 0 ] || sanxctl -j stats show | jq -e '.conns_loop == 2' >/dev/null
			rmmod af_sanx
		done" </dev/null
	load_sanx 1
	both_up
}

# An accept() that fails leaves no timer, which would find the module gone.
deferred_denied() {
	stop_all
	unload_sanx 1
	load_sanx 1
	check "a connection that waited for its first byte cannot be accepted" node1 "$BIN/denied"
	check "and the module can go" unload_sanx 1
	sleep 8
	check "and nothing is left of it" lab splat
	load_sanx 1
	both_up
}

namespace_deleted() {
	stop_all
	node1 '
		ip netns add gone
		ip -n gone link set lo up' </dev/null
	background 1 ip netns exec gone "$PEER" -T "$PATIENCE" listen 5008 echo
	eventually 10 "node1 'ip netns exec gone ss -Hltn | grep -q 5008'"
	background 1 ip netns exec gone "$PEER" -T "$PATIENCE" connect 127.0.0.1 5008 ping 5 hold
	says "$LAST_LOG" connected
	check "a namespace is deleted under its sockets" node1 ip netns del gone
	stop_all
	check "and goes with them" eventually 20 "unload_sanx 1"
	load_sanx 1
	both_up
}

# What links are made over: the RDMA device, or the address of the TCP rail.
device_del() {
	if [ -n "$RAIL" ]; then
		node2 ip addr del 10.77.0.2/24 dev eth0
	else
		node2 timeout $((30 * SLOW)) rdma link del rxe0
	fi </dev/null
}

device_add() {
	if [ -n "$RAIL" ]; then
		node2 ip addr add 10.77.0.2/24 dev eth0 </dev/null
	else
		lab rdma 2 rxe
	fi
}

device_goes() {
	stop_all
	serve 1 5010 drain
	serve 1 5011 flood
	client flood 10.77.0.1 5010 flood
	client drain 10.77.0.1 5011 drain
	client hold 10.77.0.1 5010 hold
	sleep 1
	check "the device goes under traffic" device_del
	sleep 5
	waits flood "the sender waits for it"
	waits drain "the reader waits for it"
	waits hold "the idle one waits for it"
	device_add
	serve 1 5012 echo
	check "it comes back: connections work" peer 2 connect 10.77.0.1 5012 ping 10 shut end
	check "and are over verbs again" eventually 40 over_verbs_again
	check "and what was sent before goes on" eventually 60 "reads_on 1"
	check "what was read, too" eventually 60 "reads_on 2"
}

# reads_on N: programs on node N get bytes now.
reads_on() {
	local before
	before=$(stat "$1" rx_bytes)
	sleep 1
	[ "$(stat "$1" rx_bytes)" -gt $((before + 65536)) ]
}

over_verbs_again() {
	remember 2
	peer 2 connect 10.77.0.1 5012 ping 3 shut end >/dev/null && [ "$(moved 2 conns_verbs)" = 1 ]
}

# One is in the middle of its bytes, one begins while there is no cable.
cable_cut() {
	stop_all
	serve 1 5013 both 40M end
	serve 1 5016 both 400k end
	client late 10.77.0.1 5016 sleep 1000 both 400k shut end
	client busy 10.77.0.1 5013 both 40M shut end
	lab wire cut
	sleep 2
	lab wire mend
	ends late 60 "done" "a cable cut for two seconds: what is sent meanwhile arrives"
	ends busy 90 "done" "a cable cut for two seconds: what is under way arrives"
}

# TCP's connect() to a dead node ends with its last retry, or when its neighbour
# is known not to answer; ours does so after a look for a link.
connects_as_tcp() {
	node2 sysctl -qw net.ipv4.tcp_syn_retries=2 </dev/null
	background 2 "$PEER" -t -T "$PATIENCE" connect 10.77.0.1 5014 hold
	LOG[tcp]=$LAST_LOG
	background 2 "$PEER" -T "$PATIENCE" connect 10.77.0.1 5014 hold
	LOG[dead]=$LAST_LOG
	ends tcp 60 "connect: (EHOSTUNREACH|ETIMEDOUT) " "a dead node: TCP's connect() fails"
	ends dead 60 "connect: (EHOSTUNREACH|ETIMEDOUT) " "a dead node: ours does, too"
	node2 sysctl -qw net.ipv4.tcp_syn_retries=6 </dev/null
}

node_dies() {
	stop_all
	serve 1 5014 drain
	serve 1 5015 flood
	client flood 10.77.0.1 5014 user-timeout 5000 flood
	client drain 10.77.0.1 5015 keepalive 3 1 drain
	client hold 10.77.0.1 5014 keepalive 3 1 hold
	sleep 1
	lab kill 1
	ends flood 60 "flood: ETIMEDOUT" "a node dies: the sender gets its error (TCP_USER_TIMEOUT)"
	ends drain 60 "drain: ETIMEDOUT" "a node dies: the reader gets its error (keepalive)"
	ends hold 60 "hold: ETIMEDOUT" "a node dies: the idle one gets its error (keepalive)"
	connects_as_tcp
	lab boot 1
	load_sanx 1
	both_up
	serve 1 5012 echo
	check "it comes back: connections work" peer 2 connect 10.77.0.1 5012 ping 10 shut end
	check "and are over verbs again" eventually 40 over_verbs_again
}

plan 31
both_up
program_killed
module_in_use
load_unload
deferred_denied
namespace_deleted
device_goes
cable_cut
node_dies
