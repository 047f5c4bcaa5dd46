# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Nodes with two RDMA devices, each on a network device of its own, beside eth0.  Where the
# lab has three wires, each of them has its own, through eth1 and eth2.

# A rail is a net device, with an RDMA device of its own: 10.78.0.N and 10.79.0.N.  eth1 of
# User Mode Linux cannot be switched on again once it was off, so it is not the device
# that goes down.
make_rails() {
	# shellcheck disable=SC2016
	nodes '
		# None speaks for the address of another.
		sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
		for i in 1 2; do
			port=eth$i
			[ -d /sys/class/net/$port ] || port=eth0
			ip link set $port up &&
			ip link add rail$i link $port type macvlan mode bridge &&
			ip addr add 10.$((77 + i)).0.$NODE/24 dev rail$i &&
			ip link set rail$i up || exit 1
		done'
	[ -n "$RAIL" ] || make_devices
}

make_devices() {
	# shellcheck disable=SC2016
	nodes '
		rdma link del rxe0 2>/dev/null
		modprobe -a rdma_rxe ib_uverbs rdma_ucm 2>/dev/null
		for i in 1 2; do
			rdma link add rxe$i type rxe netdev rail$i || exit 1
		done'
}

remove_rails() {
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

# silence RAIL: what is sent there reaches nobody, and nobody is told.
silence() {
	nodes "ip neigh replace 10.$((77 + $1)).0.\$((3 - NODE)) dev rail$1 \
		lladdr 02:00:00:00:00:99 nud permanent"
}

speak() {
	nodes "ip neigh del 10.$((77 + $1)).0.\$((3 - NODE)) dev rail$1"
}

# limit [RATE]: of each RDMA rail, from node 2 on; without one, none.
limit() {
	local i
	for i in 1 2; do
		lab run 2 "tc qdisc del dev rail$i root 2>/dev/null
			[ -z '${1-}' ] || tc qdisc add dev rail$i root tbf \
				rate ${1-} burst 64k limit 1m" </dev/null
	done
}

# rail_down N RAIL, rail_up N RAIL: its net device.  rxe sends a message of the
# connection manager on a device that is down, takes the failure for one of the
# queue pair that all use, and is of no use from then on: it is made anew.
rail_down() {
	lab run "$1" "ip link set rail$2 down" </dev/null
}

rail_up() {
	[ -n "$RAIL" ] || lab run "$1" rdma link del "rxe$2" </dev/null || true
	lab run "$1" ip link set "rail$2" up </dev/null
	[ -n "$RAIL" ] || lab run "$1" rdma link add "rxe$2" type rxe netdev "rail$2" </dev/null
}
