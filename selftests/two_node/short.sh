#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Short connections, one after the other, while three cables between two nodes are cut and
# joined in turn.  Each is made, by a rail that is whole, and carries its bytes; none
# becomes TCP, which has no way while the cable of its address is the one that is cut.
# kernels: um
# no rail: the node map has rails of both kinds
# full: cuts for longer than a link lives
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/cable_events.sh
. "$(dirname "$0")/cable_events.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

CUTS=${CUTS:-12}
OVER=short-over
# Connections that are made while a cable is cut, and behind that.
SOME=20

clean_up() {
	touch "$LAB_RUN/share/$OVER"
	mend_all >/dev/null 2>&1 || true
	stop_all
	rm -f "$LAB_RUN/share/$OVER"
	nodes 'sanxctl nodemap flush' || true
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null || true
	remove_rails
}

# one_by_one FROM: node FROM makes connections to the other; a line of LAST_LOG for each.
one_by_one() {
	background "$1" "until [ -e /share/$OVER ]; do
		$PEER -T $PATIENCE connect 10.77.0.$((3 - $1)) 5060 ping 3 shut end 2>&1 | tail -n 1
	done; echo over"
	LOG[$1]=$LAST_LOG
}

made() {
	grep -c . "${LOG[$1]}" || true
}

# some_more: each node makes that many.
some_more() {
	local n
	declare -A from
	for n in 1 2; do from[$n]=$(made $n); done
	for n in 1 2; do
		eventually 120 "[ \$(made $n) -ge $((from[$n] + SOME)) ]" || return 1
	done
}

# in_turn: each cable is cut when those before it are whole again.
in_turn() {
	local i w
	for ((i = 0; i < CUTS; i++)); do
		w=$((1 + i % 3))
		lab wire $w cut
		check "cut $((i + 1)), of cable $w: more are made" some_more
		lab wire $w mend
		check "and when it is whole" some_more
	done
}

declare -A LOG
plan $((2 * CUTS + 4))
at_exit clean_up
make_rails
# shellcheck disable=SC2119
map_cables
nodes "insmod '$MODULES/sanx_verbs.ko'"
nodes "echo $((500 * SLOW)) >/sys/module/af_sanx/parameters/rail_hold_ms"
for n in 1 2; do serve $n 5060 echo; done
check "a link is there" peer 2 connect 10.77.0.1 5060 ping 3 shut end
remember
for n in 1 2; do one_by_one $n; done
in_turn
touch "$LAB_RUN/share/$OVER"
for n in 1 2; do eventually 120 "grep -q '^over' ${LOG[$n]}"; done
echo "# $(made 1) and $(made 2) connections"
is "all were made, and had their answers" "$(cat "${LOG[@]}" | grep -v '^done' | sort | uniq -c)" \
	"      2 over"
is "none is TCP" "$(moved 1 conns_fallback) $(moved 2 conns_fallback)" "0 0"
is "none was reset" "$(moved 1 resets) $(moved 2 resets)" "0 0"
