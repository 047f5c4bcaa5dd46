#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Connections of every kind at random (bin/soak.c), over verbs and loop, on nodes whose
# workers and interrupts have no memory now and then, while links come and go.  A
# connection may break then; nothing hangs, and no byte is wrong.  FAILSOAK_SECONDS says
# how long.
# kernels: um
# full: at random, for a time
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

SOAK=$BIN/soak
FAULTS=$BIN/faults
SECS=${FAILSOAK_SECONDS:-40}
# Seconds after which a connection hangs.
LIMIT=$((60 * SLOW))
PERCENT=5

SERVER_LOG=() CLIENT_LOG=()
soak_servers() {
	background "$1" "$SOAK" -kf -T "$LIMIT" serve 7000
	SERVER_LOG[$1]=$LAST_LOG
	wait_port "$1" 7000
	wait_port "$1" 7001
}

soak_clients() {
	background "$1" "$SOAK" -kf -s "$1" -T "$LIMIT" -d "$SECS" call 7000 \
		"10.77.0.$((3 - $1))" "fd77::$((3 - $1))" "10.77.0.$((3 - $1))" 127.0.0.1
	CLIENT_LOG[$1]=$LAST_LOG
}

# figure NAME: added up over both nodes, clients and servers.
figure() {
	cat "${CLIENT_LOG[@]}" "${SERVER_LOG[@]}" | awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }'
}

# Each link ends now and then, and its connections are to be resumed.
flap() {
	local end=$((SECONDS + SECS))
	while [ "$SECONDS" -lt "$end" ]; do
		sleep $((6 * SLOW))
		lab wire cut
		sleep 2
		lab wire mend
	done
}

plan 8
load_verbs
nodemap_std
nodes 'cd /sys/module/af_sanx/parameters && echo 2 >lanes && echo 32768 >long_min && echo 50 >heartbeat_ms &&
	echo 50 >/proc/sys/net/sanx/idle_ms'
remember
for n in 1 2; do soak_servers "$n"; done
for n in 1 2; do soak_clients "$n"; done
for n in 1 2; do lab run "$n" "$FAULTS" af_sanx "$PERCENT" </dev/null; done
flap
check "the clients come to their end" eventually $((SECS / SLOW + LIMIT + 60)) \
	"grep -q ^done '${CLIENT_LOG[1]}' && grep -q ^done '${CLIENT_LOG[2]}'"
failed=0
for n in 1 2; do
	failed=$((failed + $(lab run "$n" "$FAULTS" stop </dev/null | awk '{ print $1 }')))
done
sleep $((2 * SLOW))
for n in 1 2; do lab run "$n" "pkill -TERM -o -f '[s]oak .*serve'" </dev/null || true; done
check "and the servers" eventually 30 \
	"grep -q ^done '${SERVER_LOG[1]}' && grep -q ^done '${SERVER_LOG[2]}'"
cat "${CLIENT_LOG[@]}" "${SERVER_LOG[@]}" | grep -E '^[a-zA-Z_]+ [0-9]+$' |
	awk '{ n[$1] += $2 } END { for (i in n) if (n[i]) print "#   " i, n[i] }' | sort
for n in 1 2; do
	for key in conns_verbs conns_loop conns_fallback resets protocol_errors; do
		echo "#   node $n $key $(moved "$n" "$key")"
	done
done
grep -h ^ERROR "${CLIENT_LOG[@]}" "${SERVER_LOG[@]}" | sed 's/^/# /' | head -n 50 || true
check "allocations that failed: $failed" test "$failed" -ge 10
check "connections: $(figure connections)" test "$(figure connections)" -ge "$SECS"
is "no byte is wrong: $(figure received) received" "$(figure wrong_bytes)" 0
is "nothing hangs" "$(figure hangs)" 0
is "no error but those of a lack of memory" "$(figure errors)" 0
is "no rule of the protocol is broken" "$(($(moved 1 protocol_errors) + $(moved 2 protocol_errors)))" 0
