#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer reaches only addresses at which TCP would answer it: routes, rules, VRFs.
# kernels: um 6.12
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# Each node has another address, which its map and its peer's give it.
addresses() {
	node1 'ip addr add 10.79.0.1/32 dev lo; ip addr add fd79::1/128 dev lo
		ip route add 10.79.0.2 via 10.77.0.2; ip route add fd79::2 via fd77::2'
	node2 'ip addr add 10.79.0.2/32 dev lo; ip addr add fd79::2/128 dev lo
		ip route add 10.79.0.1 via 10.77.0.1 src 10.79.0.2
		ip route add 10.79.0.9 via 10.77.0.1 src 10.79.0.2
		ip route add fd79::1 via fd77::1 src fd79::2
		echo 1 > /proc/sys/net/ipv4/tcp_syn_retries'
	nodemap_load <<-END
		10.77.0.1 1
		10.77.0.2 2
		10.79.0.1 1 10.77.0.1
		10.79.0.9 1 10.77.0.1
		10.79.0.2 2 10.77.0.2
		fd77::1 1 10.77.0.1
		fd77::2 2 10.77.0.2
		fd79::1 1 10.77.0.1
		fd79::2 2 10.77.0.2
		fd79::8 2 10.77.0.2
	END
}

# ends [-t] ADDRESS: how a client of node 2 fares that connects there.
ends() {
	local out
	out=$(peer 2 "$@" 5001 both 100000 shut end 2>&1) || true
	sed -E 's/ after .*//; s/^connected.*//' <<<"${out##*$'\n'}"
}

reached() {
	remember
	is "$1: TCP answers" "$(ends -t connect "$2")" "done"
	is "$1: so does AF_SANX" "$(ends connect "$2") $(moved 2 conns_verbs)" "done 1"
}

kept() {
	local how
	remember
	how=$(ends -t connect "$2")
	check "$1: TCP does not answer" [ "$how" != "done" ]
	is "$1: nor does AF_SANX" "$(ends connect "$2") $(moved 2 conns_verbs)" "$how 0"
	check "$1: it is counted" at_least 1 requests_refused 1
}

# The way back.
routes() {
	reached "another address" 10.79.0.1
	reached "another address, IPv6" fd79::1
	node1 'ip route replace blackhole 10.79.0.2'
	kept "no way back" 10.79.0.1
	node1 'ip route replace 10.79.0.2 via 10.77.0.2
		ip -6 route del fd79::2; ip -6 route add blackhole fd79::2'
	kept "no way back, IPv6" fd79::1
	node1 'ip -6 route del blackhole fd79::2; ip -6 route add fd79::2 via fd77::2'
	reached "the way back is there again" 10.79.0.1
}

# The strong host model: an address is reached by its own device only.
strong() {
	node1 'ip rule add pref 10 lookup local; ip rule del pref 0
		ip rule add pref 5 iif eth0 to 10.79.0.1 blackhole'
	kept "a rule keeps an address from a device" 10.79.0.1
	reached "the device's own address" 10.77.0.1
	node1 'ip rule add pref 0 lookup local; ip rule del pref 10; ip rule del pref 5'
	reached "the rule is gone" 10.79.0.1
}

# The node map names it, but no device has it, for example because it has moved.
moved_away() {
	kept "an address that is not there" 10.79.0.9
}

# Nor may its programs connect from one that no device has, as any user may bind to it.
false_source() {
	local how
	node1 'ip route add fd79::8 via fd77::2'
	remember
	how=$(ends -t -s fd79::8 connect fd79::1)
	check "a source that is not there: TCP gets no answer" [ "$how" != "done" ]
	is "a source that is not there: nor does AF_SANX" \
		"$(ends -s fd79::8 connect fd79::1) $(moved 2 conns_verbs)" "$how 0"
	is "a source that is not there: it is counted" "$(moved 2 fallback_route)" 1
	node2 'ip addr add fd79::8/128 dev lo nodad'
	is "a source that is there" "$(ends -s fd79::8 connect fd79::1) $(moved 2 conns_verbs)" \
		"done 1"
}

vrf() {
	node1 'modprobe vrf && ip link add red type vrf table 10 && ip link set red up &&
		ip addr add 10.79.0.9/32 dev red'
	kept "an address in a VRF" 10.79.0.9
	node1 'ip link del red'
}

# Who comes in by a VRF is not the node that has this address outside of it.
vrf_rail() {
	remember 1
	node1 'echo 1 >/proc/sys/net/ipv4/tcp_l3mdev_accept
		ip link add red type vrf table 10 && ip link set red up && ip link set eth0 master red'
	node2 'timeout 10 nc -w 5 -p 700 10.77.0.1 658 </dev/null' || true
	check "who comes in by a VRF is refused" eventually 30 "at_least 1 links_refused 1"
	check "and the log says why" node1 "dmesg | tail -n 20 | grep -q 'comes in by a VRF'"
	node1 'ip link del red; echo 0 >/proc/sys/net/ipv4/tcp_l3mdev_accept'
}

if [ "$KERNEL" = um ]; then plan 26; else plan $((29 + ${#RAIL} * 2 / 3)); fi
load_verbs
addresses
serve 1 5001 both 100000 end
routes
strong
moved_away
false_source
[ "$KERNEL" = um ] || vrf
[ "$KERNEL" = um ] || [ -z "$RAIL" ] || vrf_rail
