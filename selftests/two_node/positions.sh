#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rails that the two nodes have in different orders, a host whose address goes together
# with a port, and a rail that the peer refuses while the port of the other one has no
# carrier: connections go on, and come to rest on one rail.
# kernels: um
# no rail: the node map has rails of both kinds
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/clients.sh
. "$(dirname "$0")/clients.sh"
# shellcheck source=SCRIPTDIR/rail_devices.sh
. "$(dirname "$0")/rail_devices.sh"

# Seconds that may pass until something has happened, times SLOW.  It takes few; how many,
# rails.sh asks.
BOUND=40

clean_up() {
	rm -f "$LAB_RUN/share/$OVER"
	stop_all
	node2 'ip addr replace 10.77.0.2/24 dev eth0'
	nodes 'sanxctl nodemap flush' || true
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null || true
	remove_rails
}

# map 'RAILS OF NODE 1' 'RAILS OF NODE 2': on both nodes.
map() {
	nodes "printf '10.77.0.1 1 $1\n10.77.0.2 2 $2\n' | sanxctl nodemap load -"
}

# on NET: on both nodes, all clients' connections are on the rail to that network.
on() {
	local n
	for n in 1 2; do
		[ "$(lab run $n 'sanxctl -j rail show' </dev/null |
			jq -r '.[] | select(.conns > 0) | "\(.remote) \(.conns)"')" = \
			"$1.$((3 - n)) $CLIENTS" ] || return 1
	done
}

# goes_to NET WHAT
goes_to() {
	check "$2: all move" eventually "$BOUND" "on $1"
	check "$2: and go on" carries
	check "$2: none has ended" none_ended
}

# rested: on both nodes, all clients' connections have been on the same link for so long
# that it was looked after some times, by the nodes' clocks.
rested() {
	local n
	for n in 1 2; do
		lab run $n 'sanxctl -j link show' </dev/null |
			jq -e '[.[] | select(.conns > 0).up_secs] | min >= 10' >/dev/null || return 1
	done
}

# moves_of_links: how often lanes have moved, on both nodes.
moves_of_links() {
	local n
	for n in 1 2; do
		lab run $n 'sanxctl -j link show' </dev/null | jq -c '[.[].moves // 0] | add'
	done | paste -sd ' '
}

# The first RDMA rail of the node that keeps the links stands where the other node has its
# second: it goes by the order of the other's rails.
keeper_order() {
	map "tcp:10.77.0.1 rdma:10.78.0.1 rdma:10.79.0.1" \
		"rdma:10.78.0.2 rdma:10.79.0.2 tcp:10.77.0.2"
	start_clients
	goes_to 10.78.0 "TCP is first at one node"
	rail_down 1 1
	goes_to 10.79.0 "the first port goes down"
	rail_up 1 1
	goes_to 10.78.0 "and is up again"
}

# The second RDMA rail of node 1 stands where node 2 has one of TCP.
other_order() {
	local before
	map "rdma:10.78.0.1 tcp:10.77.0.1 rdma:10.79.0.1" \
		"rdma:10.78.0.2 rdma:10.79.0.2 tcp:10.77.0.2"
	goes_to 10.78.0 "other order"
	rail_down 2 1
	goes_to 10.79.0 "a port goes down at the node that does not keep the links"
	before=$(moves_of_links)
	eventually "$BOUND" rested || true
	is "they have come to rest" "$(moves_of_links)" "$before"
	rail_up 2 1
	goes_to 10.78.0 "it is up again"
}

host_goes() {
	map "rdma:10.78.0.1 rdma:10.79.0.1 tcp:10.77.0.1" \
		"rdma:10.78.0.2 rdma:10.79.0.2 tcp:10.77.0.2"
	goes_to 10.78.0 "same order"
	node2 'ip addr del 10.77.0.2/24 dev eth0'
	rail_down 2 1
	goes_to 10.79.0 "a host goes with a port"
	node2 'sanxctl nodemap show >/tmp/map && sanxctl nodemap load /tmp/map'
	check "the map is loaded again: all go on" carries
	check "and none has ended" none_ended
	node2 'ip addr add 10.77.0.2/24 dev eth0'
	rail_up 2 1
	goes_to 10.78.0 "both are there again"
}

# A node has no address for a time, as while a network is set up anew, and gets its map.
no_address() {
	node2 'ip addr del 10.77.0.2/24 dev eth0
		ip addr del 10.78.0.2/24 dev rail1
		ip addr del 10.79.0.2/24 dev rail2
		sanxctl nodemap show >/tmp/map && sanxctl nodemap load /tmp/map
		ip addr add 10.77.0.2/24 dev eth0
		ip addr add 10.78.0.2/24 dev rail1
		ip addr add 10.79.0.2/24 dev rail2'
	goes_to 10.78.0 "the map is loaded while there is no address"
}

# refusals: how often node 2 was refused a link.
refusals() {
	node2 "dmesg | grep -c 'link to node 1 ends: refused'" </dev/null || true
}

refused_again() {
	local before
	before=$(refusals)
	eventually "$BOUND" "[ \$(refusals) -gt $before ]"
}

waits() {
	node2 'sanxctl link show' </dev/null | grep -q 'state lost'
}

# Node 1 has no RDMA, and says so at once; the port of TCP is dark for longer than the 5 s
# that it takes to believe that.
dark_and_refused() {
	LOG=()
	SERVERS=()
	node1 'rmmod sanx_verbs'
	map "rdma:10.79.0.1 tcp:10.78.0.1" "rdma:10.79.0.2 tcp:10.78.0.2"
	start_clients
	goes_to 10.78.0 "no RDMA at node 1"
	node2 "echo 'module af_sanx func sanx_link_kill_locked +p' >/proc/dynamic_debug/control"
	node2 ip link set rail1 down </dev/null
	check "the port is dark: connections wait" eventually "$BOUND" waits
	check "and node 1 refuses" refused_again
	sleep 6
	check "for so long" refused_again
	node2 ip link set rail1 up </dev/null
	goes_to 10.78.0 "the port was dark, and the other rail refused"
	to_the_end
}

plan 47
at_exit clean_up
make_rails
# A node that is busy is not to be taken for a rail that is silent.
nodes "echo $((500 * SLOW)) >/sys/module/af_sanx/parameters/rail_hold_ms
	echo 20000 >/sys/module/af_sanx/parameters/failover_ms
	insmod $MODULES/sanx_verbs.ko"
keeper_order
other_order
host_goes
no_address
to_the_end
stop_all
dark_and_refused
from_zero
is "no protocol error, no reset" \
	"$(for k in protocol_errors resets; do
		echo "$(moved 1 $k) $(moved 2 $k)"
	done | paste -sd ' ')" "0 0 0 0"
