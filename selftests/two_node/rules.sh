#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Port rules that know who, and what they do to connections that are there.
# kernels: um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# goes HOW NAME ADDRESS PORT: node 2 connects to node 1, over verbs or tcp.
goes() {
	local how=$1 name=$2 out rc=0 wanted="1 0"
	shift 2
	remember 2
	out=$(peer 2 connect "$1" "$2" both 100000 shut end 2>&1) || rc=$?
	is "$name: works" "$rc ${out##*$'\n'}" "0 done"
	[ "$how" = verbs ] || wanted="0 1"
	is "$name: over $how" "$(moved 2 conns_verbs) $(moved 2 conns_fallback)" "$wanted"
}

# rules N RULES: these, and no others.
rules() {
	lab run "$1" sanxctl ports load --allow-empty - <<<"$2"
}

incoming() {
	rules 1 "deny in from 2 5001"
	goes tcp "denied from that node" 10.77.0.1 5001
	goes tcp "denied from that node, its other address" fd77::1 5001
	goes verbs "another port" 10.77.0.1 5002
	remember 1
	check "denied from that node: this one itself" peer 1 connect 10.77.0.1 5001 both 100000 shut end
	check "denied from that node: over loop" moves 1 conns_loop=2
	rules 1 "deny in from 3 5001"
	goes verbs "denied from another node" 10.77.0.1 5001
	rules 1 "deny in from 10.77.0.0/24 5001"
	goes tcp "denied from a network" 10.77.0.1 5001
	goes verbs "denied from a network: from beside it" fd77::1 5001
	remember 1
	check "denied from a network: this node itself" peer 1 connect 10.77.0.1 5001 both 100000 shut end
	check "denied from a network: not over loop" moves 1 fallback_refused=1 fallback_accept=1
	rules 1 "deny out 5001"
	goes verbs "denied for those who go out" 10.77.0.1 5001
	rules 1 $'deny default\nallow in from 2 5001'
	goes verbs "allowed before the default" 10.77.0.1 5001
	goes tcp "denied by default" 10.77.0.1 5002
	rules 1 ""
}

outgoing() {
	rules 2 "deny out to 1 5001"
	goes tcp "denied to that node" 10.77.0.1 5001
	check "denied to that node: the counter" [ "$(moved 2 fallback_port)" = 1 ]
	rules 2 "deny to 10.77.0.1 5001"
	goes tcp "denied to that host" 10.77.0.1 5001
	goes verbs "denied to that host: its other address" fd77::1 5001
	rules 2 "deny in 5001"
	goes verbs "denied for those who come in" 10.77.0.1 5001
	rules 2 ""
}

denied() {
	node1 sanxctl -j socket show </dev/null | jq -c '[.[] | select(.denied == 1).remote] | length'
}

# A rule ends nothing, until it is applied, and then what it is about only.
applied() {
	local one two
	background 2 "$PEER" -T $((60 * SLOW)) connect 10.77.0.1 5003 ping 1 hold
	one=$LAST_LOG
	background 2 "$PEER" -T $((60 * SLOW)) connect 10.77.0.1 5004 ping 1 sleep $((8000 * SLOW)) ping 3 shut end
	two=$LAST_LOG
	says "$one" '^connected'
	says "$two" '^connected'
	is "apply: none is denied yet" "$(denied)" 0
	rules 1 "deny in from 2 5003"
	is "apply: one is denied" "$(denied)" 1
	check "apply: and goes on" [ "$(grep -c after "$one")" = 0 ]
	is "apply: it is ended" "$(node1 sanxctl ports apply </dev/null)" "1 ended"
	check "apply: its client is told" says "$one" '^hold: ECONNRESET after'
	is "apply: none is left" "$(denied) $(node1 sanxctl ports apply </dev/null)" "0 0 ended"
	check "apply: the other one goes on" says "$two" '^done'
	rules 1 ""
}

# Connections that wait for accept() have no socket, and end like the others.
waiting() {
	local log
	node1 "pkill -STOP -f '[p]eer .*listen 5005'" </dev/null
	background 2 "$PEER" -T $((60 * SLOW)) connect 10.77.0.1 5005 hold
	log=$LAST_LOG
	says "$log" '^connected'
	rules 1 "deny in from 2 5005"
	is "apply: one that waits for accept() is ended" "$(node1 sanxctl ports apply </dev/null)" "1 ended"
	check "apply: its client is told" says "$log" '^hold: ECONNRESET after'
	is "apply: none is left that waits" "$(node1 sanxctl ports apply </dev/null)" "0 ended"
	rules 1 ""
	node1 "pkill -CONT -f '[p]eer .*listen 5005'" </dev/null
	goes verbs "the listener goes on" 10.77.0.1 5005
}

plan 43
load_verbs
nodemap_std
serve 1 5001 both 100000 end
serve 1 5002 both 100000 end
serve 1 5003 echo
serve 1 5004 echo
serve 1 5005 both 100000 end
incoming
outgoing
applied
waiting
