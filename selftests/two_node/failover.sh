#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two rails between two nodes: whatever becomes of one, connections go on by the
# other, in bounded time, without a byte lost; and new ones find it too.
# kernels: um
# clock: virtual how long a cut may be seen is measured
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/clients.sh
. "$(dirname "$0")/clients.sh"
# shellcheck source=SCRIPTDIR/rail_devices.sh
. "$(dirname "$0")/rail_devices.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

# Seconds until all are on the other rail: twenty heartbeats until a silent one is
# lost, and then a try for each rail.
BOUND=$((40 * SLOW))
HEARTBEAT=$((200 * SLOW))

nodemap() {
	nodemap_put "$1" <<-END
		10.77.0.1 1 10.78.0.1 10.79.0.1
		10.77.0.2 2 10.78.0.2 10.79.0.2
	END
}

clean_up() {
	rm -f "$LAB_RUN/share/$OVER"
	stop_all
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null || true
	remove_rails
}

load_module() {
	lab run "$1" "echo $HEARTBEAT >/sys/module/af_sanx/parameters/heartbeat_ms" </dev/null &&
		insert_verbs "$1"
}

# load_again N: what node N knew of rails and links is forgotten.
load_again() {
	if [ -n "$RAIL" ]; then
		unload_sanx "$1" && load_sanx "$1" && nodemap "$1"
	else
		eventually 10 "lab run $1 rmmod sanx_verbs 2>/dev/null"
	fi && load_module "$1"
}

# conns N RAIL: connections of node N on a link that is up there.
conns() {
	lab run "$1" "sanxctl -j link show" </dev/null |
		jq --arg local "10.$((77 + $2)).0.$1" \
			'[.[] | select(.state == "up" and .local == $local) | .conns] | add // 0'
}

# by_rail RAIL COUNT: on both nodes, all connections are there.
by_rail() {
	[ "$(conns 1 "$1")" = "$2" ] && [ "$(conns 2 "$1")" = "$2" ]
}

# none_elsewhere RAIL: there is no link for connections but over that one.
none_elsewhere() {
	lab run 1 "sanxctl -j link show" </dev/null |
		jq -e --arg local "10.$((77 + $1)).0.1" \
			'all(.[]; .standby or .state == "connecting" or .local == $local)'
}

# moves_to RAIL WHAT: after that, all go on there.
moves_to() {
	all_move "by_rail $1 $CLIENTS" "$2"
}

under_traffic() {
	start_clients
	check "the first rail is the one that is used" eventually 10 "by_rail 1 $CLIENTS"
	check "and no other" none_elsewhere 1

	silence 1
	moves_to 2 "the first rail falls silent"
	check "nothing is left on the first" eventually $BOUND "none_elsewhere 2"

	speak 1
	rail_down 1 2
	moves_to 1 "node 1's second rail goes down, and the first is mended"

	silence 1
	check "no rail is left: all wait" eventually $BOUND \
		"node2 'sanxctl link show' | grep -q 'state lost conns $CLIENTS'"
	check "and none has ended" none_ended
	rail_up 1 2
	moves_to 2 "of two lost rails the second comes back"
	speak 1
}

# From nothing, while the first rail is of no use: TCP is not what is meant.
begins_by_second() {
	local n
	stop_all
	for n in 1 2; do load_again "$n"; done
	serve 1 5063 echo
	serve 2 5064 echo
	remember
	check "$1: a new connection is made" peer 2 connect 10.77.0.1 5063 ping 10 shut end
	check "$1: over verbs" moves 2 conns_verbs=1
	is "$1: by the second rail" "$(lab run 2 'sanxctl -j link' </dev/null |
		jq -r '[.[] | select(.state == "up") | .remote] | unique | join(" ")')" 10.79.0.1
	check "$1: and so is the other way" other_way
}

other_way() {
	remember
	peer 1 connect 10.77.0.2 5064 ping 10 shut end && moves 1 conns_verbs=1
}

# counted WORD...: by how much these of both nodes' counters have moved.
counted() {
	local key
	for key; do echo "$(moved 1 "$key") $(moved 2 "$key")"; done | paste -sd ' '
}

plan 30
at_exit clean_up
make_rails
nodemap 1
nodemap 2
load_module 1
load_module 2
under_traffic
to_the_end
# The modules are fresh, so all that was counted was counted here.
from_zero
is "no protocol error, no reset, nothing fell back" \
	"$(counted protocol_errors resets conns_fallback)" "0 0 0 0 0 0"
is "each connection was made once" "$(counted conns_verbs)" "$CLIENTS $CLIENTS"

silence 1
begins_by_second "the first rail is silent"
speak 1
if [ -n "$RAIL" ]; then
	node1 ip link del rail1 </dev/null
else
	node1 rdma link del rxe1 </dev/null
fi
begins_by_second "the peer's first device is gone"
rail_down 2 1
begins_by_second "the first rail is down"
