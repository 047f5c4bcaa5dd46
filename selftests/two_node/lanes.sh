#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Several links between two nodes: connections are shared out among them, each
# goes on in its lane when the links are lost, and a peer that starts anew is
# noticed in all.
# kernels: um debug
# clock: host connections are spread as links come up
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

LANES=4
# lanes N: on node N, the lanes with a link that takes connections.
lanes() {
	lab run "$1" "sanxctl -j link show" </dev/null |
		jq -c '[.[] | select(.state == "up") | .lane] | sort'
}

# least N, most N: connections on that of its links that has the fewest, the most.
least() {
	lab run "$1" "sanxctl -j link show" </dev/null | jq '[.[].conns] | min'
}

most() {
	lab run "$1" "sanxctl -j link show" </dev/null | jq '[.[].conns] | max'
}

set_lanes() {
	lab run "$1" "echo $2 >/sys/module/af_sanx/parameters/lanes" </dev/null
}

# clients TIMES N ACTION...: so many from node N to the other one, one after the
# other.  Their log is LAST_LOG.
clients() {
	local times=$1 n=$2
	shift 2
	background "$n" "for i in \$(seq $times); do
		$PEER -T $((200 * SLOW)) connect 10.77.0.$((3 - n)) $* &
		sleep 0.2
	done; wait"
}

# connected LOG TIMES: wait until so many are.
connected() {
	eventually 30 "[ \$(grep -c connected $1) = $2 ]"
}

# all_end LOG TIMES WORD: so many end, and all of them with that word.
all_end() {
	eventually 60 "[ \$(grep -cE 'done|after' $1) = $2 ]" || true
	[ "$(grep -c "$3" "$1")" = "$2" ] || {
		cat "$1"
		return 1
	}
}

servers() {
	serve 1 5001 both 300k end
	serve 2 5002 both 300k end
	serve 1 5003 hold
	serve 2 5004 hold
}

plan 9
load_verbs
nodemap_std
servers
set_lanes 1 1
set_lanes 2 1
clients 3 2 5001 both 300k shut end
check "one lane: over one link" all_end "$LAST_LOG" 3 "done"
is "and there is no other" "$(lanes 2)" "[0]"

# From both nodes at the same time, so that both want the next link.
set_lanes 1 $LANES
set_lanes 2 $LANES
remember
N=$((3 * LANES))
clients $N 2 5003 hold
THERE=$LAST_LOG
clients $N 1 5004 hold
BACK=$LAST_LOG
connected "$THERE" $N
connected "$BACK" $N
is "as many links as lanes, seen from node 1" "$(lanes 1)" "[0,1,2,3]"
is "and from node 2" "$(lanes 2)" "[0,1,2,3]"
# Each connection was put where the fewest were, once all links were up.
check "each has its share" test "$(least 2)" -ge 3 -a "$(most 2)" -le 12

stop_all
servers
clients $N 2 5001 sleep $((15000 * SLOW)) both 300k shut end
THERE=$LAST_LOG
clients $N 1 5002 sleep $((15000 * SLOW)) both 300k shut end
BACK=$LAST_LOG
connected "$THERE" $N
connected "$BACK" $N
lab wire cut
eventually 40 "node2 'sanxctl link show' | grep -q 'state lost'"
lab wire mend
check "a cut through all: every byte arrives" all_end "$THERE" $N "done"
check "and the other way" all_end "$BACK" $N "done"
is "no protocol error" "$(moved 1 protocol_errors) $(moved 2 protocol_errors)" "0 0"

clients $N 2 5003 hold
connected "$LAST_LOG" $N
lab kill 1
lab boot 1
load_sanx 1
load_verbs
nodemap_std
# All lanes hear of it by the first one that has a link again.
check "the peer starts anew: a reset in each lane" all_end "$LAST_LOG" $N ECONNRESET
