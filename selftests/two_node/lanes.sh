#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Several links between two nodes: connections are shared out among them.
# kernels: um debug
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/lane_clients.sh
. "$(dirname "$0")/lane_clients.sh"

# spread: once all links are up, each connection goes to the one that has fewest.  So three
# more for each that is there make the shares equal, whatever they were.
spread() {
	holders 2 "[ \$i -lt $((3 * HELD / 2)) ]"
	says "$LAST_LOG" '^all' || return 1
	holders 1 "[ \$i -lt $((3 * HELD - 3 * HELD / 2)) ]"
	says "$LAST_LOG" '^all'
}

# none_left: no link has a connection.
none_left() {
	[ "$(shares 1)$(shares 2)" = "[0][0]" ]
}

plan 8
load_verbs
nodemap_std
servers
set_lanes 1
clients 3 2 5001 both 300k shut end
check "one lane: over one link" all_end "$LAST_LOG" 3 "done"
is "and there is no other" "$(lanes 2)" "[0]"
check "and its connections go" eventually 30 none_left

set_lanes $LANES
remember
if widen; then
	ok "as many links as lanes, seen from both nodes"
else
	fail "as many links as lanes, seen from both nodes"
fi
if spread; then ok "as many connections, and more"; else fail "as many connections, and more"; fi
EQUAL="[$HELD,$HELD,$HELD,$HELD]"
is "each has its share, seen from node 1" "$(shares 1)" "$EQUAL"
is "and from node 2" "$(shares 2)" "$EQUAL"
is "no protocol error" "$(moved 1 protocol_errors) $(moved 2 protocol_errors)" "0 0"
