# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Nodes with several links to each other, and connections in all of them.

# shellcheck disable=SC2034 # whoever includes this file reads it
LANES=4

# lanes N: on node N, the lanes with a link that takes connections.
lanes() {
	lab run "$1" "sanxctl -j link show" </dev/null |
		jq -c '[.[] | select(.state == "up") | .lane] | sort'
}

# shares N: on node N, how many connections each link has, in order.
shares() {
	lab run "$1" "sanxctl -j link show" </dev/null | jq -c '[.[].conns] | sort'
}

set_lanes() {
	nodes "echo $1 >/sys/module/af_sanx/parameters/lanes"
}

# clients TIMES N ACTION...: so many from node N to the other one.  Their log is LAST_LOG.
clients() {
	local times=$1 n=$2
	shift 2
	background "$n" "for i in \$(seq $times); do
		$PEER -T $((200 * SLOW)) connect 10.77.0.$((3 - n)) $* &
	done; wait"
}

# connected LOG TIMES: wait until so many are.
connected() {
	eventually 60 "[ \$(grep -c connected $1) = $2 ]"
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
	serve 1 5004 hold
	serve 2 5003 hold
}

# all_up: both nodes have a link in each lane, and no other.
all_up() {
	local n
	for n in 1 2; do
		[ "$(lab run $n 'sanxctl -j link show' </dev/null | jq -c '[.[] |
			if .state == "up" then .lane else -1 end] | sort')" = "[0,1,2,3]" ] || return 1
	done
}

# holders N 'WHILE': on node N, connections to the other one that stay, each when the one
# before is there, while that shell condition on $i holds; then "all".  Their log is LAST_LOG.
holders() {
	background "$1" "i=0
		while $2; do
			: >/tmp/holder
			$PEER -T $((PATIENCE * 10)) connect 10.77.0.$((3 - $1)) $((5002 + $1)) hold >>/tmp/holder &
			until grep -q connected /tmp/holder; do sleep 0.1; done
			cat /tmp/holder
			i=\$((i + 1))
		done
		echo all
		wait"
}

# widen: connect from both nodes at the same time, so that both want the next link, until
# there is one in each lane.  HELD is how many connections that took.
WIDE=/share/lanes-wide
HELD=0
widen() {
	local there rc=0
	rm -f "$LAB_RUN$WIDE"
	# A connection that shares its link asks for one more.  Whether that has come up
	# before the next one asks does not matter.
	holders 2 "[ ! -e $WIDE ] && sleep 1"
	there=$LAST_LOG
	holders 1 "[ ! -e $WIDE ] && sleep 1"
	eventually 30 all_up || rc=1
	touch "$LAB_RUN$WIDE"
	says "$there" '^all' && says "$LAST_LOG" '^all' || rc=1
	HELD=$(cat "$there" "$LAST_LOG" | grep -c connected)
	return "$rc"
}
at_exit "rm -f '$LAB_RUN$WIDE'"
