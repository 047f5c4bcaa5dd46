#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Bytes between two nodes over verbs: all of them, in order, and not over TCP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

plan 16

# tcp_sent N: what stands still if TCP has nothing to do with it: the segments that node N
# has received, or with $RAIL, where links are TCP's, the connections that it has made.
tcp_sent() {
	local column=11
	[ -z "$RAIL" ] || column=6
	lab run "$1" "awk '/^Tcp:/ { if (\$$column ~ /[0-9]/) print \$$column }' /proc/net/snmp" </dev/null
}

# shows_link N: node N's links are up, and lead to the other one.
shows_link() {
	lab run "$1" sanxctl -j link show </dev/null |
		jq -ce "., (length > 0 and all(.state == \"up\" and .transport == \"$TRANSPORT\" and .node == $((3 - $1))))"
}

# both_ways NAME ADDRESS: a client on node 2, a server on node 1.
both_ways() {
	local name=$1 address=$2
	remember
	check "$name: both directions at once" peer 2 connect "$address" 5001 both 2M shut end
	check "$name: node 1's counters say verbs" moves 1 conns_verbs=1
	check "$name: node 2's counters say verbs" moves 2 conns_verbs=1
	check "$name: all bytes counted" at_least 2 tx_bytes 2097152
}

load_verbs
nodemap_std
serve 1 5001 both 2M end
both_ways IPv4 10.77.0.1
both_ways IPv6 fd77::1

before=$(tcp_sent 2)
remember
serve 1 5002 echo
check "many connections" peer 2 -n 50 connect node1 5002 ping 3 shut end
check "many connections: over verbs" moves 2 conns_verbs=50
check "a slow dialogue" peer 2 connect node1 5002 ping 300 shut end
serve 2 5003 send 1M
check "the other way round" peer 1 connect node2 5003 recv 1M end
check "the other way round: over verbs" moves 1 conns_verbs=52
is "TCP sent nothing meanwhile" "$(tcp_sent 2)" "$before"
check "node 1 shows the link" shows_link 1
check "node 2 shows the link" shows_link 2
