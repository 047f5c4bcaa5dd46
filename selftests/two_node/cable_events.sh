# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What happens to three cables between two nodes, at random: each is cut, joined, and
# made slow or bad by itself, all are cut at once, ports go down at one end, rails are
# silent in one direction, and an administrator drains rails and takes them out of
# service.  EVENT_SEED repeats what was chosen.

# shellcheck source=SCRIPTDIR/rail_devices.sh
. "$(dirname "${BASH_SOURCE[0]}")/rail_devices.sh"

# Wire 1 is that of the TCP rail, 2 and 3 those of the RDMA devices.
WIRE=([1]=ok [2]=ok [3]=ok)
# [N.RAIL]=1: node N's port of that RDMA rail is down; it hears nothing there.
declare -A PORT_DOWN SILENT
# [N.WIRE]: what "sanxctl rail set" was told there, but for "up".
declare -A ADMIN
# How many of which kind there were.
declare -A EVENTS
# What was done, in order.
EVENT_LOG=${EVENT_LOG:-/dev/null}

# map_node N [RAIL...]: node N's map has these rails, each as KIND:ADDR without the last
# number of the address; by default all of them.
map_node() {
	local n at=$1
	shift
	[ $# -gt 0 ] || set -- rdma:10.78.0 rdma:10.79.0 tcp:10.77.0
	lab run "$at" sanxctl nodemap load - < <(
		for n in 1 2; do echo "10.77.0.$n $n" "${@/%/.$n}"; done)
}

# map_cables [RAIL...]: likewise, on both nodes.
map_cables() {
	map_node 1 "$@" && map_node 2 "$@"
}

# rail_name N WIRE: node N's end, as "sanxctl rail set" wants it.
rail_name() {
	if [ "$2" = 1 ]; then echo "tcp:10.77.0.$1"; else echo "10.$((76 + $2)).0.$1"; fi
}

# event KIND ARGS...: counted, and told.
event() {
	EVENTS[$1]=$((${EVENTS[$1]:-0} + 1))
	echo "$(date +%T) $*" >>"$EVENT_LOG"
}

# wire_is W STATE COMMAND...
wire_is() {
	local w=$1 state=$2
	shift 2
	event "$state" "wire $w" "$@"
	lab wire "$w" "$@"
	WIRE[w]=$state
}

mend_all() {
	local w key
	for w in 1 2 3; do wire_is "$w" ok mend; done
	for key in "${!SILENT[@]}"; do hear "${key%.*}" "${key#*.}"; done
	for key in "${!PORT_DOWN[@]}"; do port_up "${key%.*}" "${key#*.}"; done
	for w in 1 2 3; do admin 1 "$w" up && admin 2 "$w" up; done
}

# usable W: nothing is the matter with that wire, at either end.
usable() {
	local n
	[ "${WIRE[$1]}" = ok ] || return 1
	for n in 1 2; do
		[ -z "${ADMIN[$n.$1]:-}${PORT_DOWN[$n.$(($1 - 1))]:-}${SILENT[$n.$(($1 - 1))]:-}" ] ||
			return 1
	done
}

# leave_one: so that bytes can flow.
leave_one() {
	if usable 1 || usable 2 || usable 3; then return; fi
	wire_is 1 ok mend
	admin 1 1 up
	admin 2 1 up
}

# deafen N RAIL: what node N's peer sends to it there goes nowhere.
deafen() {
	event silent "to node $1 on rail $2"
	lab run $((3 - $1)) ip neigh replace "10.$((77 + $2)).0.$1" dev "rail$2" \
		lladdr 02:00:00:00:00:99 nud permanent </dev/null
	SILENT[$1.$2]=1
}

hear() {
	event heard "to node $1 on rail $2"
	lab run $((3 - $1)) ip neigh del "10.$((77 + $2)).0.$1" dev "rail$2" </dev/null || true
	unset "SILENT[$1.$2]"
}

port_down() {
	event port-down "node $1 rail $2"
	rail_down "$1" "$2"
	PORT_DOWN[$1.$2]=1
}

# A port that went down has lost its static neighbours.
port_up() {
	event port-up "node $1 rail $2"
	rail_up "$1" "$2"
	unset "PORT_DOWN[$1.$2]" "SILENT[$((3 - $1)).$2]"
}

admin() {
	event "$3" "node $1 wire $2"
	lab run "$1" sanxctl rail set "$(rail_name "$1" "$2")" "$3" </dev/null
	if [ "$3" = up ]; then unset "ADMIN[$1.$2]"; else ADMIN[$1.$2]=$3; fi
}

bad_wire() {
	case $((RANDOM % 4)) in
	0) wire_is "$1" delay delay $((RANDOM % 100)) ;;
	1) wire_is "$1" delay delay $((RANDOM % 20)) $((RANDOM % 20)) ;;
	2) wire_is "$1" drop drop $((1 + RANDOM % 10)) ;;
	3) wire_is "$1" reorder reorder $((1 + RANDOM % 10)) ;;
	esac
}

change_wire() {
	local w=$1
	if [ "${WIRE[$w]}" = cut ] || { [ "${WIRE[$w]}" != ok ] && [ $((RANDOM % 2)) = 0 ]; }; then
		wire_is "$w" ok mend
	elif [ $((RANDOM % 3)) = 0 ]; then
		bad_wire "$w"
	else
		wire_is "$w" cut cut
	fi
}

change_port() {
	local n=$1 r=$2
	if [ -n "${PORT_DOWN[$n.$r]:-}" ]; then port_up "$n" "$r"; else port_down "$n" "$r"; fi
}

change_ears() {
	local n=$1 r=$2
	[ -z "${PORT_DOWN[$((3 - n)).$r]:-}" ] || return 0
	if [ -n "${SILENT[$n.$r]:-}" ]; then hear "$n" "$r"; else deafen "$n" "$r"; fi
}

all_cut() {
	local w
	for w in 1 2 3; do wire_is "$w" cut cut; done
	sleep $((RANDOM % 4))
	wire_is $((1 + RANDOM % 3)) ok mend
}

# random_event: one of them.
random_event() {
	local words=(up up drain down) n=$((1 + RANDOM % 2)) w=$((1 + RANDOM % 3)) r=$((1 + RANDOM % 2))
	case $((RANDOM % 12)) in
	0) change_port "$n" "$r" ;;
	1) change_ears "$n" "$r" ;;
	2) admin "$n" "$w" "${words[RANDOM % 4]}" ;;
	3) all_cut ;;
	*) change_wire "$w" ;;
	esac
	leave_one
	sleep "0.$((RANDOM % 10))"
}

told_events() {
	local kind
	for kind in "${!EVENTS[@]}"; do echo "# $kind: ${EVENTS[$kind]}"; done | sort
}
