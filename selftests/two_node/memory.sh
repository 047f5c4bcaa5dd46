#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Memory of connections, rings and send buffers is limited, in all and for each peer.
# kernels: um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

MANY=16

# limits MB PERCENT: of node 1.
limits() {
	node1 sysctl -qw "net.sanx.mem_mb=$1" "net.sanx.mem_peer_percent=$2" </dev/null
}

# streams_start: so many, which all have the rings and send buffers that they get, and go on
# when there is $GO.
GO=/share/memory-go
streams_start() {
	rm -f "$LAB_RUN$GO"
	remember
	background 2 "for i in \$(seq $MANY); do
		$PEER -T $((240 * SLOW)) connect 10.77.0.1 5001 both 64k await $GO both 1M shut end &
	done; wait"
	STREAMS=$LAST_LOG
	eventually 60 "at_least 1 rx_bytes $((MANY * 65536)) && at_least 2 rx_bytes $((MANY * 65536))" \
		>/dev/null
}

# streams_end: how many have come to it.
streams_end() {
	touch "$LAB_RUN$GO"
	eventually 60 "[ \$(grep -cE 'done|after' $STREAMS) = $MANY ]" || true
	grep -c '^done' "$STREAMS" || true
}

plenty() {
	streams_start || true
	is "plenty: all streams come to their end" "$(streams_end)" "$MANY"
	is "plenty: over verbs, none without memory" "$(moved 1 conns_verbs) $(moved 1 memory_refused)" \
		"$MANY 0"
}

# short NAME MB PERCENT
short() {
	limits "$2" "$3"
	streams_start || true
	check "$1: some have to do without" at_least 1 memory_refused 1
	is "$1: all streams come to their end" "$(streams_end)" "$MANY"
	is "$1: over verbs" "$(moved 1 conns_verbs)" "$MANY"
}

# What they had is free again.
alone() {
	remember 1
	peer 2 connect 10.77.0.1 5002 both 100000 shut end >/dev/null &&
		[ "$(moved 1 memory_refused)" = 0 ]
}

# no_conns: node 1 has none with node 2 any more.
no_conns() {
	[ "$(node1 sanxctl -j link show </dev/null | jq '[.[].conns] | add // 0')" = 0 ]
}

# crowd N: so many connections of node 2, that stay.
crowd() {
	local i
	for ((i = 0; i < $1; i++)); do
		background 2 "$PEER" -T $((60 * SLOW)) connect 10.77.0.1 5003 ping 1 hold
		says "$LAST_LOG" '^connected' || return 1
	done
}

# Two pages are for two connections, which have no rings; what comes next is TCP.
structures() {
	limits 1 1
	remember 1
	crowd 5
	is "structures: so many over verbs, others refused" \
		"$(moved 1 conns_verbs) $(moved 1 requests_refused)" "2 3"
	limits 1 100
	crowd 3
	is "structures: more memory, more connections" "$(moved 1 conns_verbs)" 5
	nodes "pkill -f '[p]eer .*5003'" || true
}

plan 14
load_verbs
nodemap_std
# Which rings grow depends on the time, and so does which are idle.
nodes 'echo 0 >/sys/module/af_sanx/parameters/grow_ms; sysctl -qw net.sanx.idle_ms=86400000'
at_exit "rm -f '$LAB_RUN$GO'"
serve 1 5001 both 64k both 1M end
serve 1 5002 both 100000 end
serve 1 5003 echo
DEFAULT=$(node1 cat /proc/sys/net/sanx/mem_mb </dev/null)
check "an eighth of the memory" [ "$DEFAULT" -ge 16 ]
plenty
short "all peers" 2 100
short "one peer" 4 50
check "the log says why" node1 "dmesg | grep -q 'with node 2: net.sanx.mem_mb or mem_peer_percent is'" </dev/null
limits 2 100
check "one stream alone" peer 2 connect 10.77.0.1 5002 both 100000 shut end
check "one stream alone: has memory" eventually 30 alone
eventually 30 no_conns || true
structures
limits "$DEFAULT" 50
nodes 'sysctl -qw net.sanx.idle_ms=30000'
