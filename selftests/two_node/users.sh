#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What the network namespaces of a user may have is limited for all of them together.
# kernels: um
# clock: virtual links that a peer asks for are counted by the second
# no rail: its nodes have TCP rails of their own
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

LANES=8
# PIDs of node 1 in the two namespaces of the user.
declare -A SPACE=()

# in_space N COMMAND: as root of node 1, whose user has the network namespace.
in_space() {
	local n=$1
	shift
	node1 nsenter -t "${SPACE[$n]}" -n "$@" </dev/null
}

# Each is in a user namespace of its own, which makes no difference.
make_spaces() {
	local n pids
	for n in 1 2; do
		background 1 setpriv --reuid 65534 --regid 65534 --clear-groups \
			unshare -Urn sleep $((600 + n))
		eventually 20 "node1 'pgrep -xf \"sleep $((600 + n))\"' >/dev/null"
		pids=$(node1 pgrep -xf "sleep $((600 + n))" </dev/null)
		SPACE[$n]=$pids
	done
	in_space 1 ip link add v type veth peer name v netns "${SPACE[2]}"
	for n in 1 2; do
		in_space "$n" sh -c "ip link set lo up; ip addr add 10.9.0.$n/24 dev v; ip link set v up"
	done
	map_spaces
}

map_spaces() {
	local n i
	for n in 1 2; do
		for i in 1 2; do
			in_space "$n" sanxctl nodemap add "10.9.0.$i" "$i" "tcp:10.9.0.$i"
		done
	done
}

unmap_spaces() {
	in_space 1 sanxctl nodemap flush
	in_space 2 sanxctl nodemap flush
}

# links N: that are up there.
links() {
	in_space "$1" sanxctl -j link show | jq "[.[] | select(.state == \"up\")] | length"
}

all_links() {
	echo $(($(links 1) + $(links 2)))
}

no_links() { [ "$(all_links)" = 0 ]; }

# wide: there are as many as there may be.
wide() { [ "$(all_links)" = $((2 * LANES)) ]; }

# crowd: connections that stay.  Each that finds another one on its link makes a lane.
crowd() {
	local one="nsenter -t ${SPACE[1]} -n $PEER -T $PATIENCE connect 10.9.0.2 5001 ping 1 hold"
	background 1 "$one"
	says "$LAST_LOG" '^connected' || return 1
	background 1 "for i in \$(seq $((2 * LANES))); do $one & done; wait"
	eventually 60 "[ \$(grep -c '^connected' $LAST_LOG) = $((2 * LANES)) ]"
}

disperse() {
	node1 "pkill -f '[p]eer .*connect'" </dev/null || true
	unmap_spaces
	eventually 60 no_links
	map_spaces
}

# refused N: links that were.
refused() {
	in_space "$1" sanxctl -j stats show | jq '.links_refused'
}

plenty() {
	check "plenty: connections" crowd
	check "plenty: all lanes have links" eventually 60 wide
	disperse
}

# 128 pages: for four ends of links, and connections.
no_memory() {
	node1 sysctl -qw net.sanx.mem_mb=1 net.sanx.mem_peer_percent=50 </dev/null
	check "no memory: connections" crowd
	check "no memory: links for some of them" [ "$(all_links)" -ge 2 ]
	check "no memory: and not for all" [ "$(all_links)" -le 4 ]
	check "no memory: the log says why" node1 \
		"dmesg | grep -q 'namespace of a user: net.sanx.mem_mb or mem_peer_percent is'"
	node1 sysctl -qw "net.sanx.mem_mb=$DEFAULT" </dev/null
	disperse
}

# His own limits are as they were.
setups() {
	local before
	before=$(refused 2)
	node1 sysctl -qw net.sanx.setups_peer=1 </dev/null
	check "set-ups: connections" crowd
	check "set-ups: some were refused" [ "$(refused 2)" -gt "$before" ]
	check "set-ups: there are fewer links" [ "$(all_links)" -lt $((2 * LANES)) ]
	node1 sysctl -qw net.sanx.setups_peer=100 </dev/null
	disperse
}

# over_rail: connections of the first one so far.
over_rail() {
	in_space 1 sanxctl -j stats show | jq '.conns_tcp_rail'
}

# 81 pages: for the two ends of a link, and for half of the nodes that he asks.
forgotten() {
	local before
	node1 sysctl -qw net.sanx.mem_mb=1 net.sanx.mem_peer_percent=32 </dev/null
	# All that there is would end without a socket, and with an empty map.
	background 1 nsenter -t "${SPACE[1]}" -n "$PEER" -T $((PATIENCE * 10)) listen 5002 echo
	eventually 20 "in_space 1 ss -Hltn | grep -q 5002"
	in_space 1 bash -c "for i in {101..140}; do
		sanxctl nodemap add 10.9.0.2 \$i tcp:10.9.0.2
		$PEER -T $PATIENCE connect 10.9.0.2 5001 ping 1 shut end
	done" >/dev/null
	map_spaces
	before=$(over_rail)
	check "nodes that the map has lost: a connection" in_space 1 "$PEER" -T "$PATIENCE" \
		connect 10.9.0.2 5001 ping 1 shut end
	is "nodes that the map has lost: take no memory" $(($(over_rail) - before)) 1
	node1 sysctl -qw "net.sanx.mem_mb=$DEFAULT" net.sanx.mem_peer_percent=50 </dev/null
}

plan 12
node1 "echo $LANES >/sys/module/af_sanx/parameters/lanes" </dev/null
DEFAULT=$(node1 cat /proc/sys/net/sanx/mem_mb </dev/null)
make_spaces
background 1 nsenter -t "${SPACE[2]}" -n "$PEER" -T $((PATIENCE * 10)) listen 5001 echo
eventually 20 "in_space 2 ss -Hltn | grep -q 5001"
plenty
no_memory
setups
forgotten
check "and then all have links again" eventually 60 "crowd && eventually 60 wide"
stop_all
