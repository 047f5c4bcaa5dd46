#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two rails between two nodes: whatever becomes of one, connections go on by the
# other, in bounded time, without a byte lost; and new ones find it too.
# kernels: um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/clients.sh
. "$(dirname "$0")/clients.sh"

# Seconds until all are on the other rail: twenty heartbeats until a silent one is
# lost, and then a try for each rail.
BOUND=$((40 * SLOW))
HEARTBEAT=$((200 * SLOW))

# A rail is a net device with an RDMA device of its own: 10.78.0.N and 10.79.0.N.
make_rails() {
	# shellcheck disable=SC2016
	nodes '
		rdma link del rxe0 2>/dev/null
		modprobe -a rdma_rxe ib_uverbs rdma_ucm 2>/dev/null
		# None speaks for the address of another.
		sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
		for i in 1 2; do
			ip link add rail$i link eth0 type macvlan mode bridge &&
			ip addr add 10.$((77 + i)).0.$NODE/24 dev rail$i &&
			ip link set rail$i up &&
			rdma link add rxe$i type rxe netdev rail$i || exit 1
		done'
	nodes 'sanxctl nodemap load - <<-END
		10.77.0.1 1 10.78.0.1 10.79.0.1
		10.77.0.2 2 10.78.0.2 10.79.0.2
		END'
}

remove_rails() {
	rm -f "$LAB_RUN/share/$OVER"
	stop_all
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null || true
	# shellcheck disable=SC2016
	nodes '
		sanxctl nodemap flush
		for i in 1 2; do
			rdma link del rxe$i
			ip link del rail$i
		done
		sysctl -qw net.ipv4.conf.all.arp_ignore=0 net.ipv4.conf.all.arp_announce=0' \
		>/dev/null 2>&1
}

load_module() {
	lab run "$1" "echo $HEARTBEAT >/sys/module/af_sanx/parameters/heartbeat_ms &&
		insmod $MODULES/sanx_verbs.ko" </dev/null
}

# silence RAIL: what is sent there reaches nobody, and nobody is told.
silence() {
	nodes "ip neigh replace 10.$((77 + $1)).0.\$((3 - NODE)) dev rail$1 \
		lladdr 02:00:00:00:00:99 nud permanent"
}

speak() {
	nodes "ip neigh del 10.$((77 + $1)).0.\$((3 - NODE)) dev rail$1"
}

# rail_down N RAIL, rail_up N RAIL: its net device.  rxe sends a message of the
# connection manager on a device that is down, takes the failure for one of the
# queue pair that all use, and is of no use from then on: it is made anew.
rail_down() {
	lab run "$1" "ip link set rail$2 down" </dev/null
}

rail_up() {
	lab run "$1" "rdma link del rxe$2; ip link set rail$2 up &&
		rdma link add rxe$2 type rxe netdev rail$2" </dev/null
}

# conns N RAIL: connections of node N on a link that is up there.
conns() {
	lab run "$1" "sanxctl -j link show" </dev/null |
		jq --arg local "10.$((77 + $2)).0.$1" \
			'[.[] | select(.state == "up" and .local == $local) | .conns] | add // 0'
}

# by_rail RAIL COUNT: on both nodes, all connections are there.
by_rail() {
	[ "$(conns 1 "$1")" = "$2" ] && [ "$(conns 2 "$1")" = "$2" ]
}

# none_elsewhere RAIL: there is no link in use but over that one.
none_elsewhere() {
	! lab run 1 "sanxctl link show" </dev/null |
		grep -E 'state (up|lost)' | grep -qv "local 10.$((77 + $1)).0.1 "
}

# moves_to RAIL WHAT: after that, all go on there.
moves_to() {
	took_ms eventually $BOUND "by_rail $1 $CLIENTS" || MS=""
	below "$2: all move to the other rail" "$MS" $((BOUND * 1000))
	echo "# that took ${MS:-too many} ms"
	check "$2: and go on" carries
	check "$2: none has ended" none_ended
}

under_traffic() {
	start_clients
	check "the first rail is the one that is used" eventually 10 "by_rail 1 $CLIENTS"
	check "and no other" none_elsewhere 1

	silence 1
	moves_to 2 "the first rail falls silent"
	check "nothing is left on the first" eventually $BOUND "none_elsewhere 2"

	speak 1
	rail_down 1 2
	moves_to 1 "node 1's second rail goes down, and the first is mended"

	silence 1
	check "no rail is left: all wait" eventually $BOUND \
		"node2 'sanxctl link show' | grep -q 'state lost conns $CLIENTS'"
	check "and none has ended" none_ended
	rail_up 1 2
	moves_to 2 "of two lost rails the second comes back"
	speak 1
}

# From nothing, while the first rail is of no use: TCP is not what is meant.
begins_by_second() {
	local n
	stop_all
	for n in 1 2; do
		eventually 10 "lab run $n rmmod sanx_verbs 2>/dev/null" && load_module "$n"
	done
	serve 1 5063 echo
	serve 2 5064 echo
	remember
	check "$1: a new connection is made" peer 2 connect 10.77.0.1 5063 ping 10 shut end
	check "$1: over verbs" moves 2 conns_verbs=1
	is "$1: by the second rail" "$(lab run 2 'sanxctl -j link' </dev/null |
		jq -r '[.[] | select(.state == "up") | .remote] | join(" ")')" 10.79.0.1
	check "$1: and so is the other way" other_way
}

other_way() {
	remember
	peer 1 connect 10.77.0.2 5064 ping 10 shut end && moves 1 conns_verbs=1
}

# counted WORD...: by how much these of both nodes' counters have moved.
counted() {
	local key
	for key; do echo "$(moved 1 "$key") $(moved 2 "$key")"; done | paste -sd ' '
}

plan 30
at_exit remove_rails
make_rails
load_module 1
load_module 2
under_traffic
to_the_end
# The modules are fresh, so all that was counted was counted here.
BEFORE=("" "" "")
is "no protocol error, no reset, nothing fell back" \
	"$(counted protocol_errors resets conns_fallback)" "0 0 0 0 0 0"
is "each connection was made once" "$(counted conns_verbs)" "$CLIENTS $CLIENTS"

silence 1
begins_by_second "the first rail is silent"
speak 1
node1 'rdma link del rxe1' </dev/null
begins_by_second "the peer's first device is gone"
rail_down 2 1
begins_by_second "the first rail is down"
