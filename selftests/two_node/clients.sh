# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Clients that go on while links between two nodes come and go, and that see whether a
# byte is lost.

# There while they are to go on.
OVER=clients-over

declare -A LOG
SERVERS=()

server() {
	serve "$@"
	SERVERS+=("$LAST_LOG")
}

# client NODE NAME ARGS...: to the other node.
client() {
	local n=$1 name=$2
	shift 2
	background "$n" "$PEER" -T $((500 * SLOW)) connect "10.77.0.$((3 - n))" "$@"
	LOG[$name]=$LAST_LOG
	says "$LAST_LOG" connected
}

# Both ways and one way, all the time, now and then, and not before the end.
start_clients() {
	local over=/share/$OVER
	server 1 5060 echo
	server 2 5061 echo
	server 1 5062 drain
	client 2 asks 5060 busy "$over" shut end
	client 1 asks-back 5061 busy "$over" shut end
	client 2 sends 5062 flow "$over" shut end
	client 2 rests 5060 await "$over" both 300k shut end
	client 1 rests-back 5061 await "$over" both 300k shut end
}
# shellcheck disable=SC2034 # whoever includes this file reads it
CLIENTS=5

# none_ended: not one of the clients has come to an end, good or bad.
none_ended() {
	! grep -HE 'done|after' "${LOG[@]}"
}

# carries: bytes come to node 1's programs.  BOUND is how long that may take, in s.
carries() {
	remember 1
	eventually "$BOUND" "at_least 1 rx_bytes 100000 >/dev/null"
}

# all_move 'SHELL LINE' WHAT: that holds in less than BOUND seconds, all go on, and none has
# ended.
all_move() {
	took_ms eventually "$BOUND" "$1" || MS=""
	below "$2: all move" "$MS" $((BOUND * 1000))
	echo "# that took ${MS:-too many} ms"
	check "$2: and go on" carries
	check "$2: none has ended" none_ended
}

all_done() {
	local name rc=0
	for name in "${!LOG[@]}"; do
		eventually 60 "grep -qE 'done|after' '${LOG[$name]}'" || true
		tail -n 1 "${LOG[$name]}" | grep -q 'done' || {
			echo "$name: $(tail -n 1 "${LOG[$name]}")"
			rc=1
		}
	done
	return "$rc"
}

to_the_end() {
	touch "$LAB_RUN/share/$OVER"
	check "all come to their end, with every byte" all_done
	is "no server misses anything" "$(grep -h after "${SERVERS[@]}")" ""
	rm -f "$LAB_RUN/share/$OVER"
}
