#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# Bytes between two nodes, both ways at once, by IPv4 and IPv6: none lost, none
# changed, and all of them over verbs.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lablib.sh"

plan 14

# moved NAME ADDRESS FAMILY: 4 MiB to a server on node 2 that sends them back.
moved() {
	local name=$1 addr=$2 family=$3 sent back tx rx
	tx=$(stat 1 tx_bytes)
	rx=$(stat 2 rx_bytes)
	background 2 "sanx-run --strict socat -b 65536 $family-LISTEN:7000,reuseaddr PIPE"
	wait_port 2 7000
	# No tool but the one that is tested knows how many bytes there are.
	node1 "head -c 4194304 /dev/urandom >/tmp/out
		sanx-run --strict socat -b 65536 -t 60 - $family:$addr:7000 </tmp/out >/tmp/back" ||
		echo "# socat failed"
	sent=$(node1 'md5sum </tmp/out')
	back=$(node1 'md5sum </tmp/back')
	is "$name: what comes back is what was sent" "$back" "$sent"
	is "$name: all of it was sent over AF_SANX" $(($(stat 1 tx_bytes) - tx)) 4194304
	is "$name: all of it was received over AF_SANX" $(($(stat 2 rx_bytes) - rx)) 4194304
}

load_verbs
nodemap_std
moved IPv4 10.77.0.2 TCP4
moved IPv6 '[fd77::2]' TCP6

is "two connections over verbs on node 1" "$(stat 1 conns_verbs)" 2
is "two connections over verbs on node 2" "$(stat 2 conns_verbs)" 2
is "none fell back" "$(stat 1 conns_fallback)" 0
is "one link to node 2, and it is up" \
	"$(node1 "sanxctl -j link show | jq -c '[.[] | select(.node == 2) | .state]'")" '["up"]'
is "no protocol errors on node 1" "$(stat 1 protocol_errors)" 0
is "no protocol errors on node 2" "$(stat 2 protocol_errors)" 0

# The link stays warm, and many connections in turn leave nothing on it.
background 2 "sanx-run --strict socat TCP4-LISTEN:7001,reuseaddr,fork SYSTEM:cat"
wait_port 2 7001
# shellcheck disable=SC2016
check "20 connections in turn" node1 'for i in $(seq 20); do
	[ "$(echo "$i" | sanx-run --strict socat -t 20 - TCP4:10.77.0.2:7001)" = "$i" ] || exit 1
done'
idle() {
	[ "$(node1 'sanxctl -j link show | jq "map(.conns) | add"')" = 0 ]
}
check "leave no connection on the link" eventually 10 idle
