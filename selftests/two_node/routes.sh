#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer reaches only addresses at which TCP would answer it: routes, rules, VRFs.
# kernels: um 6.12
# clock: virtual what says nothing at the service port ends after five seconds
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

# Of TCP connections that say nothing, the service port keeps 16 of a node, whatever their
# addresses, for 5 s.  Those beyond that, from another address, end before the others.
offers() {
	local ended
	RAIL='' nodemap_load <<-END
		10.77.0.1 1 tcp
		10.77.0.2 2 tcp:10.77.0.2 tcp:10.79.0.2
	END
	# shellcheck disable=SC2016
	ended=$(node2 'idle() {
			nc -s "$2" -p "$3" 10.77.0.1 658 </dev/null >/dev/null 2>&1
			echo "$1" >>/tmp/ended
		}
		rm -f /tmp/ended
		for port in $(seq 700 715); do idle a 10.77.0.2 "$port" & done
		until [ "$(ss -Htn state established sport ge 700 sport le 715 | wc -l)" = 16 ]; do
			sleep 0.1
		done
		for port in $(seq 720 723); do idle b 10.79.0.2 "$port" & done
		wait
		tr -d "\n" </tmp/ended' </dev/null)
	is "the places of a node are its own, not its addresses'" "$ended" bbbbaaaaaaaaaaaaaaaa
}

# esp FROM TO SPI: packets from one address to the other are ESP's, and that node takes them.
esp() {
	nodes "ip xfrm state add src $1 dst $2 proto esp spi $3 reqid $3 mode transport \
		auth digest_null '' enc 'ecb(cipher_null)' ''"
	echo "ip xfrm policy add src $1/32 dst $2/32 dir out \
		tmpl src $1 dst $2 proto esp reqid $3 mode transport"
}

# sealed N SPI: node N has sent something with that.
sealed() {
	lab run "$1" "ip -s xfrm state list spi $2" </dev/null | grep -qE '[1-9][0-9]*\(packets\)'
}

# What an IPsec policy of either node covers, TCP encrypts; AF_SANX would not.
ipsec() {
	local policy
	policy=$(esp 10.79.0.2 10.79.0.1 11)
	node2 "$policy"
	remember
	is "a policy of the client: TCP, as in fallback_route" \
		"$(ends connect 10.79.0.1) $(moved 2 conns_verbs) $(moved 2 fallback_route)" "done 0 1"
	check "a policy of the client: it has encrypted" sealed 2 11
	node2 'ip xfrm policy flush'
	reached "the policy is gone" 10.79.0.1
	policy=$(esp 10.79.0.1 10.79.0.2 12)
	node1 "$policy"
	remember
	is "a policy of the server: TCP" "$(ends connect 10.79.0.1) $(moved 2 conns_verbs)" "done 0"
	is "a policy of the server: it is counted" "$(moved 1 requests_refused)" 1
	check "a policy of the server: it has encrypted" sealed 1 12
	nodes 'ip xfrm policy flush; ip xfrm state flush'
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

if [ "$KERNEL" = um ]; then plan 27; else plan $((37 + ${#RAIL} * 2 / 3)); fi
load_verbs
addresses
serve 1 5001 both 100000 end
routes
strong
moved_away
false_source
[ "$KERNEL" = um ] || ipsec
[ "$KERNEL" = um ] || vrf
[ "$KERNEL" = um ] || [ -z "$RAIL" ] || vrf_rail
offers
