#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# TCP as the last rail: connections go by it without RDMA, fall to it when RDMA is gone,
# and come forward again, with all their bytes, and nobody notices.
# kernels: um
# no rail: about RDMA and TCP rails beside each other
# clock: virtual how long moves take is measured
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/clients.sh
. "$(dirname "$0")/clients.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

# Seconds until all are on another rail.
BOUND=$((30 * SLOW))
# A rail that failed is held for 16 times as long at most.
HOLD=$((500 * SLOW))
FAILOVER=$((1000 * SLOW))

tcp_rails() {
	nodes 'sanxctl nodemap load - <<-END
		10.77.0.1 1 tcp
		10.77.0.2 2 tcp
		fd77::1 1 10.77.0.1 tcp:fd77::1
		fd77::2 2 10.77.0.2 tcp:fd77::2
		END'
}

# rmmod_verbs: on both nodes, when no connection is left.
rmmod_verbs() {
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null
}

clean_up() {
	rm -f "$LAB_RUN/share/$OVER"
	stop_all
	nodes "nft delete table ip rails; sanxctl nodemap flush" >/dev/null 2>&1 || true
	rmmod_verbs || true
}

# conns N TRANSPORT: connections of node N on links that are up over it.
conns() {
	lab run "$1" "sanxctl -j link show" </dev/null |
		jq --arg over "$2" '[.[] | select(.state == "up" and .transport == $over) |
			.conns] | add // 0'
}

# over TRANSPORT: on both nodes, all clients' connections are there.
over() {
	[ "$(conns 1 "$1")" = "$CLIENTS" ] && [ "$(conns 2 "$1")" = "$CLIENTS" ]
}

none_over_verbs() {
	[ "$(conns 1 verbs) $(conns 2 verbs)" = "0 0" ]
}

# moves_to TRANSPORT WHAT: after that, all go on there.
moves_to() {
	all_move "over $1" "$2"
}

# because WHAT CAUSE: the links of one node, or of both, say why connections came to them.
# The peer of the node that finds out first is asked for a link by it.
because() {
	local n causes=""
	for n in 1 2; do
		causes+=$(lab run $n "sanxctl -j link show" </dev/null |
			jq -r '.[] | select(.up_secs and .moves > 0 and .moved_secs < 60) | .moved')" "
	done
	check "links say that $1 ($causes)" test -z "${causes//*$2*/}"
}

# deaf RULE: packets of RDMA, or of links over TCP, do not come to the nodes.  If they
# did not leave them, rxe would take that for its own failure.
deaf() {
	nodes "nft -f - <<-END
		table ip rails {
			chain in {
				type filter hook input priority 0
				$1 drop
			}
		}
		END"
}

hear() {
	nodes "nft delete table ip rails"
}

one_way_each() {
	remember
	serve 1 5001 both 2M end
	check "$1: both directions at once" peer 2 connect 10.77.0.1 5001 both 2M shut end
	check "$1: over TCP rails" moves 2 conns_tcp_rail=1
	serve 2 5002 send 1M
	check "$1: the other way round" peer 1 connect fd77::2 5002 recv 1M end
	check "$1: so that is" moves 1 conns_tcp_rail=2
	is "$1: the links say so" "$(lab run 1 'sanxctl -j link' </dev/null |
		jq -r 'map(.transport + " " + .state) | unique | join(",")')" "tcp-rail up"
}

# A request for a link as node 2 makes it (Documentation/protocol.rst, "Authentication").
# Args: the address that it says it has; a port that was not used before.
# Prints 2 for a reply, 3 for a refusal.
REQUEST='
import hashlib, hmac, socket, struct, sys
def mapped(addr):
    return bytes(10) + b"\xff\xff" + socket.inet_aton(addr)
says, port = sys.argv[1], int(sys.argv[2])
hello = struct.pack("<IHHIIQQHBBHH", 0x534e5831, 8, 256, 2, 1, 1, 1, 128, 0, 0, 0, 0)
text = b"request\0" + mapped(says) + mapped("10.77.0.1") + struct.pack("<II", 9, 0)
text += hello.ljust(56, b"\0") + bytes(56)
hello += hmac.new(bytes(32), text, hashlib.sha256).digest()[:8]
s = socket.socket()
s.bind(("10.77.0.2", port))
s.connect(("10.77.0.1", 658))
s.sendall(struct.pack("<IBBHI", 0x54584e53, 2, 1, 56, 9) + hello.ljust(96, b"\0"))
print(s.recv(108, socket.MSG_WAITALL)[5])'

asks() {
	lab run 2 python3 -c "$REQUEST" "$@" </dev/null
}

translated() {
	remember 1
	is "a request from the address that it names" "$(asks 10.77.0.2 601)" 2
	is "is not refused" "$(moved 1 links_refused)" 0
	is "one that comes from another: something translates" "$(asks 10.0.0.2 602)" 3
	is "is refused" "$(moved 1 links_refused)" 1
	check "and the log says why" node1 "dmesg | tail -n 20 | grep -q 'translator of addresses'"
}

# lanes_over TRANSPORT: how many of node 2's lanes have a link over it.
lanes_over() {
	lab run 2 "sanxctl -j link show" </dev/null |
		jq --arg over "$1" '[.[] | select(.state == "up" and .transport == $over)] | length'
}

# Of the links of several lanes one asks for all whether the peer is there.  The others,
# which rest, are lost when that one is.
idle_lanes() {
	nodes 'echo 4 >/sys/module/af_sanx/parameters/lanes'
	serve 1 5080 hold
	# A connection that shares its link asks for one more.
	background 2 "for i in \$(seq 8); do
			$PEER -T $PATIENCE connect 10.77.0.1 5080 hold & sleep 1
		done
		wait"
	check "four lanes" eventually "$BOUND" "[ \$(lanes_over verbs) = 4 ]"
	sleep $((5 * SLOW))
	deaf "udp dport 4791"
	took_ms eventually "$BOUND" none_over_verbs || MS=""
	below "their peer falls silent: all are lost in time" "$MS" $((FAILOVER + 800 * SLOW))
	echo "# that took ${MS:-too many} ms"
	hear
	nodes 'echo 0 >/sys/module/af_sanx/parameters/lanes'
	stop_all
}

plan 47
at_exit clean_up
nodes "echo $HOLD >/sys/module/af_sanx/parameters/rail_hold_ms
	echo $FAILOVER >/sys/module/af_sanx/parameters/failover_ms"
tcp_rails
one_way_each "no RDMA"
stop_all

start_clients
check "all go by TCP" eventually $BOUND "over tcp-rail"
load_verbs
moves_to verbs "RDMA is there"
check "it cannot be unloaded now" node1 '! rmmod sanx_verbs 2>/dev/null'

deaf "udp dport 4791"
moves_to tcp-rail "RDMA falls silent"
because "the link was lost" lost
hear
moves_to verbs "it is heard again"

nodes 'rdma link del rxe0'
moves_to tcp-rail "the devices go"
nodes 'rdma link add rxe0 type rxe netdev eth0'
moves_to verbs "they come back"
because "they were preferred" better

# Twenty heartbeats, 20 s, would end the rail; 100 ms do it sooner.  They do not stay: a
# node that is busy for as long would lose its other rail, too.
stall_begin
nodes "echo $((30000 * SLOW)) >/sys/module/af_sanx/parameters/failover_ms"
deaf "udp dport 4791"
nodes "echo 100 >/sys/module/af_sanx/parameters/failover_ms"
check "RDMA falls silent for 100 ms: that counts" eventually 8 none_over_verbs
nodes "echo $FAILOVER >/sys/module/af_sanx/parameters/failover_ms"
moves_to tcp-rail "RDMA falls silent for 100 ms"
stall_end
below "no answer takes longer" "$STALL" $((5000 * SLOW))
echo "# $STALL ms"
hear
moves_to verbs "RDMA is heard, too"

deaf "tcp dport 658"
check "TCP falls silent: nobody cares" carries
check "and none has ended" none_ended
hear
to_the_end
idle_lanes
# The modules are fresh, so all that was counted was counted here.
from_zero
is "no protocol error, no reset, nothing fell back" \
	"$(for k in protocol_errors resets conns_fallback; do
		echo "$(moved 1 $k) $(moved 2 $k)"
	done | paste -sd ' ')" "0 0 0 0 0 0"
stop_all

# Who may ask for a link: as over RDMA.
remember 1
node2 'timeout 5 nc -w 2 10.77.0.1 658 </dev/null' || true
is "a program's connection is ended, and counted" "$(moved 1 links_refused)" 1
check "and the log says why" node1 "dmesg | tail -n 20 | grep -q 'not come from a reserved port'"
translated
nodes 'sanxctl nodemap load - <<-END
	10.77.0.1 1
	10.77.0.2 2
	END'
check "without a TCP rail nobody listens" node1 "! ss -Hltn 'sport = 658' | grep -q ."
