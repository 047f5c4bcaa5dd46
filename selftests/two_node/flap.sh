#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A cable that is cut again and again, each time for longer than a link lives:
# every byte arrives, once, and every end of stream.
# kernels: 6.12 um debug
# clock: virtual cuts for longer than a link lives
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

CUTS=3
LONG=50M
[ "$SLOW" = 1 ] || LONG=10M

declare -A LOG
SERVERS=()

# start NODE NAME ARGS...: a client on NODE, to the other one.
start() {
	local n=$1 name=$2
	shift 2
	background "$n" "$PEER" -T $((300 * SLOW)) connect "10.77.0.$((3 - n))" "$@"
	LOG[$name]=$LAST_LOG
}

server() {
	serve "$@"
	SERVERS+=("$LAST_LOG")
}

# In a cut: one sends and closes, one sends more than fits, one asks and waits.
during() {
	start 2 "closes-$1" 5022 sleep 1500 send 60k
	start 2 "sends-$1" 5023 sleep 1500 both 2M shut end
	start 1 "asks-$1" 5024 sleep 1500 ping 20 shut end
	says "${LOG[closes-$1]}" connected
	says "${LOG[sends-$1]}" connected
	says "${LOG[asks-$1]}" connected
	lab wire cut
	! eventually 40 "node2 'sanxctl link show' | grep -q 'state lost'" || LOST=$((LOST + 1))
	sleep 2
	lab wire mend
	sleep 3
}

all_done() {
	local name rc=0
	for name in "${!LOG[@]}"; do
		eventually 180 "grep -qE 'done|after' '${LOG[$name]}'" || true
		tail -n 1 "${LOG[$name]}" | grep -q 'done' || {
			echo "$name: $(tail -n 1 "${LOG[$name]}")"
			rc=1
		}
	done
	return "$rc"
}

# all_served: every connection came to its end at its server, and none to another.
all_served() {
	[ "$(cat "${SERVERS[@]}" | grep -c '^served$')" = "${#LOG[@]}" ] &&
		! grep -H after "${SERVERS[@]}"
}

# fell_back: what the counters say of connections that are not over verbs.
fell_back() {
	local n key
	for n in 1 2; do
		counters "$n" NOW
		for key in "${!NOW[@]}"; do
			[[ ! $key =~ ^(conns|fallback|protocol) || ${NOW[$key]} = 0 ]] ||
				echo "node $n: $key ${NOW[$key]}"
		done
	done
}

all_served_soon() {
	eventually 60 'all_served >/dev/null' || {
		all_served
		fell_back
		return 1
	}
}

plan 4
load_verbs
nodemap_std
# A link is lost after twenty of these.
nodes "echo $((300 * SLOW)) >/sys/module/af_sanx/parameters/heartbeat_ms"
server 1 5020 both $LONG end
server 2 5021 both $LONG end
server 1 5022 recv 60k end
server 1 5023 both 2M end
server 2 5024 echo
remember
start 2 long 5020 both $LONG shut end
start 1 back 5021 both $LONG shut end
LOST=0
for i in $(seq $CUTS); do
	during "$i"
done
is "each cut lost the link" "$LOST" "$CUTS"
check "all clients come to their end" all_done
check "no server misses anything" all_served_soon
is "no protocol error" "$(moved 1 protocol_errors) $(moved 2 protocol_errors)" "0 0"
