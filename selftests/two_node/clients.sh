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

# client NODE NAME ARGS...: to the other node.  OPTS are peer's.
client() {
	local n=$1 name=$2
	shift 2
	# shellcheck disable=SC2086
	background "$n" "$PEER" -T $((PATIENCE * 10)) ${OPTS:-} connect "10.77.0.$((3 - n))" "$@"
	LOG[$name]=$LAST_LOG
	says "$LAST_LOG" connected
}

# Both ways and one way, all the time with pauses, now and then, and not before the end.
start_clients() {
	local over=/share/$OVER
	server 1 5060 echo
	server 2 5061 echo
	server 1 5062 drain
	OPTS=-p client 2 asks 5060 busy "$over" shut end
	OPTS=-p client 1 asks-back 5061 busy "$over" shut end
	OPTS=-p client 2 sends 5062 flow "$over" shut end
	client 2 rests 5060 await "$over" both 300k shut end
	client 1 rests-back 5061 await "$over" both 300k shut end
}
# shellcheck disable=SC2034 # whoever includes this file reads it
CLIENTS=5

# stall_begin, stall_end: one client more, whose longest wait for an answer, in ms, is in
# STALL then.  How long it takes until a node can be asked says little: it is busy.
stall_begin() {
	client 2 stall 5060 busy "/share/$OVER.stall" shut end
	CLIENTS=$((CLIENTS + 1))
}

stall_end() {
	touch "$LAB_RUN/share/$OVER.stall"
	says "${LOG[stall]}" 'done|after'
	rm -f "$LAB_RUN/share/$OVER.stall"
	# shellcheck disable=SC2034
	STALL=$(sed -n 's/^longest \([0-9]*\) ms$/\1/p' "${LOG[stall]}")
	unset "LOG[stall]"
	CLIENTS=$((CLIENTS - 1))
}

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
