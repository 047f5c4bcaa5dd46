#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Several links between two nodes that are cut, or whose peer starts anew: each connection
# goes on in its lane, and all lanes hear of the new peer.
# kernels: um debug
# clock: virtual a cut for as long as a link lives, and a node that boots
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/lane_clients.sh
. "$(dirname "$0")/lane_clients.sh"

N=$((3 * LANES))

# all_lost N: no link is up on node N, and connections wait for one.
all_lost() {
	lab run "$1" 'sanxctl -j link show' </dev/null |
		jq -e 'any(.state == "lost") and all(.state != "up")' >/dev/null
}

plan 5
load_verbs
nodemap_std
servers
set_lanes $LANES
if widen; then ok "as many links as lanes"; else fail "as many links as lanes"; fi

remember
GO=/share/lanes-go
at_exit "rm -f '$LAB_RUN$GO'"
clients $N 2 5001 await $GO both 300k shut end
THERE=$LAST_LOG
clients $N 1 5002 await $GO both 300k shut end
BACK=$LAST_LOG
connected "$THERE" $N
connected "$BACK" $N
lab wire cut
eventually 40 "all_lost 1 && all_lost 2"
# They send while there is no link.
touch "$LAB_RUN$GO"
lab wire mend
check "a cut through all: every byte arrives" all_end "$THERE" $N "done"
check "and the other way" all_end "$BACK" $N "done"
is "no protocol error" "$(moved 1 protocol_errors) $(moved 2 protocol_errors)" "0 0"

stop_all
servers
widen
clients $N 2 5004 hold
THERE=$LAST_LOG
connected "$THERE" $N
lab kill 1
lab boot 1
load_sanx 1
load_verbs
nodemap_std
# All lanes hear of it by the first one that has a link again.
check "the peer starts anew: a reset in each lane" all_end "$THERE" $N ECONNRESET
