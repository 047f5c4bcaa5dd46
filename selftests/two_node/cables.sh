#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Three cables between two nodes, for two RDMA devices and an Ethernet port: each is
# pulled by itself and all at once while connections of several kinds go on.  No byte
# is lost, and no program sees an error.
# kernels: um
# no rail: the node map has rails of both kinds
# full: cuts for longer than a link lives
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/clients.sh
. "$(dirname "$0")/clients.sh"
# shellcheck source=SCRIPTDIR/cable_events.sh
. "$(dirname "$0")/cable_events.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

# Seconds until bytes flow again.
BOUND=$((20 * SLOW))
CHANCES=${CHANCES:-24}
RANDOM=${EVENT_SEED:-1}

clean_up() {
	rm -f "$LAB_RUN/share/$OVER" "$LAB_RUN/share/cables-post"
	mend_all >/dev/null 2>&1 || true
	stop_all
	nodes 'sanxctl nodemap flush' || true
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null || true
	remove_rails
}

# Where the rails go, as the node map has them.
REMOTE=(10.78.0 10.79.0 10.77.0)

# on_rail NUMBER: all connections, at both nodes.
on_rail() {
	local n
	for n in 1 2; do
		[ "$(lab run $n 'sanxctl -j rail show' </dev/null |
			jq -r '[.[] | select(.conns > 0) | .remote] | unique | join(" ")')" = \
			"${REMOTE[$1]}.$((3 - n))" ] || return 1
	done
}

# goes_to NUMBER WHAT
goes_to() {
	all_move "on_rail $1" "$2"
}

# new_one: a connection that is made now is accelerated, too.
new_one() {
	remember 2
	peer 2 connect 10.77.0.1 5060 ping 10 shut end >/dev/null
	[ $(($(moved 2 conns_verbs) + $(moved 2 conns_tcp_rail))) = 1 ]
}

one_by_one() {
	lab wire 2 cut
	goes_to 1 "the first cable is cut"
	check "the first cable is cut: a new one" eventually $BOUND new_one
	lab wire 3 cut
	goes_to 2 "the second cable is cut, too"
	check "the second cable is cut, too: a new one" eventually $BOUND new_one
	lab wire 3 mend
	goes_to 1 "the second cable is whole"
	lab wire 1 cut
	check "the last one is cut, and nobody cares" carries
	lab wire 1 mend
	lab wire 2 mend
	goes_to 0 "all are whole"
}

# A connection that has sent nothing yet takes what TCP would, without a link, too.
all_at_once() {
	local w
	background 2 "$PEER" -T $((PATIENCE * 10)) connect 10.77.0.1 5060 await /share/cables-post \
		post 100 recv 100 shut end
	says "$LAST_LOG" connected
	for w in 1 2 3; do lab wire $w cut; done
	sleep $((4 * SLOW))
	check "all are cut at once: none has ended" none_ended
	touch "$LAB_RUN/share/cables-post"
	check "a first send() does not have to wait" says "$LAST_LOG" posted
	lab wire 3 mend
	check "and arrives" says "$LAST_LOG" '^done'
	goes_to 1 "one is whole"
	for w in 1 2; do lab wire $w mend; done
	goes_to 0 "all are whole again"
}

# A cable that loses every tenth frame, or is slow, is no reason to leave it.
bad_ones() {
	lab wire 2 drop 5
	check "frames are lost: they go on" carries
	lab wire 2 mend
	lab wire 2 delay 20 10
	check "a slow cable, on which frames overtake: they go on" carries
	lab wire 2 mend
	check "none has ended" none_ended
}

# Rails leave the node map and come into it while data flows.  Whoever changes the maps of
# two nodes does so on one after the other, and meanwhile each refuses what the other one
# asks for.
other_maps() {
	map_cables rdma:10.79.0
	goes_to 1 "the map has the second rail only"
	map_node 1 tcp:10.77.0
	sleep $((5 * SLOW))
	check "one node has the TCP rail only, the other one does not: none has ended" none_ended
	map_node 2 tcp:10.77.0
	goes_to 2 "the map has that over TCP only"
	map_cables
	goes_to 0 "the map has all of them"
}

at_random() {
	local i
	for ((i = 1; i <= CHANCES; i++)); do
		random_event
		[ $((i % 8)) != 0 ] || check "$i events at random: bytes flow" carries
	done
	check "none has ended after that" none_ended
	mend_all
	goes_to 0 "in the end"
	told_events
}

plan $((48 + CHANCES / 8))
at_exit clean_up
make_rails
map_cables
is "each rail has a wire" "$LAB_WIRES" 3
nodes "insmod '$MODULES/sanx_verbs.ko'"
nodes "echo $((500 * SLOW)) >/sys/module/af_sanx/parameters/rail_hold_ms"
start_clients
goes_to 0 "in the beginning"
one_by_one
all_at_once
bad_ones
other_maps
at_random
to_the_end
echo "# longest wait for an answer: $(grep -ho 'longest.*' "${LOG[@]}" | tr '\n' ' ')"
is "no protocol error" "$(stat 1 protocol_errors) $(stat 2 protocol_errors)" "0 0"
