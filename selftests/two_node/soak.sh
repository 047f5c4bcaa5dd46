#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Connections of every kind at random, over verbs and loop at the same time,
# with ends that are killed, and programs in turn: see bin/soak.c.
# SOAK_MINUTES says how long, SOAK_SEED repeats what was chosen.
# timeout: 7200
# long: half an hour; make soak
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/pairs.sh
. "$(dirname "$0")/pairs.sh"

SOAK=$BIN/soak
MINUTES=${SOAK_MINUTES:-30}
SEED=${SOAK_SEED:-$((RANDOM * 32768 + RANDOM))}
PORT=7000
# Seconds after which a connection hangs.
LIMIT=$((60 * SLOW))

# The servers on node N and its clients, of this node and of the other.
soak_start() {
	local n=$1 other=$((3 - $1))
	background "$n" "$SOAK" -s "$SEED" -T "$LIMIT" serve "$PORT"
	SERVER_LOG[n]=$LAST_LOG
	wait_port "$n" "$PORT"
	wait_port "$n" $((PORT + 1))
	CLIENT_ADDRESSES[n]="10.77.0.$other fd77::$other 10.77.0.$other fd77::$other 127.0.0.1 10.77.0.$n ::1"
}
SERVER_LOG=()
CLIENT_ADDRESSES=()
CLIENT_LOG=()

clients_start() {
	local n=$1
	# shellcheck disable=SC2086
	background "$n" "$SOAK" -s $((SEED + n)) -T "$LIMIT" -d $((MINUTES * 60)) call "$PORT" ${CLIENT_ADDRESSES[n]}
	CLIENT_LOG[n]=$LAST_LOG
}

# program NAME PORT 'SERVER' 'CLIENT': node 1 serves and node 2 asks, once.
PROGRAM_RUNS=0
PROGRAM_FAILURES=0
program() {
	local name=$1 port=$2 log
	background 1 "exec sanx-run --strict $3"
	log=$LAST_LOG
	: >"$log.client"
	PROGRAM_RUNS=$((PROGRAM_RUNS + 1))
	if ! wait_port 1 "$port" || ! timeout $((60 * SLOW)) \
		"$SANX_TREE/scripts/lab" run 2 "sanx-run --strict $4" </dev/null >"$log.client" 2>&1; then
		PROGRAM_FAILURES=$((PROGRAM_FAILURES + 1))
		echo "# $name fails, after $SECONDS s"
		sed 's/^/# /' "$log" "$log.client" | tail -n 20
	fi
	stop "$LAST"
}

programs_setup() {
	nodes "mkdir -p $DIR && chmod 755 $DIR"
	nginx_setup ""
	node1 "head -c 100000 /dev/urandom >$DIR/page" </dev/null
	node1 cat "$DIR/page" </dev/null | node2 "cat >$DIR/page"
}

# Until the clients are done.
programs_in_turn() {
	local end=$((SECONDS + MINUTES * 60))
	while [ "$SECONDS" -lt "$end" ] && healthy_clients; do
		program iperf3 5201 "iperf3 -s" "iperf3 -c 10.77.0.1 -n 300k"
		program "nginx, ab" 8080 "nginx -c $DIR/nginx.conf" \
			"ab -q -n 20 -c 4 http://10.77.0.1:8080/page | tee /dev/stderr | grep -q 'Failed requests: *0$'"
		program "nginx, curl" 8080 "nginx -c $DIR/nginx.conf" \
			"curl -s http://10.77.0.1:8080/page | cmp - $DIR/page"
		program redis 6379 "redis-server --port 6379 --save '' --protected-mode no --dir $DIR" \
			"redis-benchmark -h 10.77.0.1 -n 50 -c 5 -q -t set,get,lrange_100"
	done
}

# healthy_clients: a node that died takes its clients with it.
healthy_clients() {
	local n
	for n in 1 2; do
		kill -0 "${CLIENT_PID[n]}" 2>/dev/null || grep -q '^done' "${CLIENT_LOG[n]}" || return 1
	done
}
CLIENT_PID=()

# figure NAME: added up over both nodes, clients and servers.
figure() {
	cat "${CLIENT_LOG[@]}" "${SERVER_LOG[@]}" | awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }'
}

# nothing_left: no socket on any node, whatever its state.
nothing_left() {
	nodes 'sanxctl -j socket | jq -e "length == 0" >/dev/null'
}

figures() {
	local n
	echo "# seed $SEED, $MINUTES minutes, kernel $KERNEL"
	cat "${CLIENT_LOG[@]}" "${SERVER_LOG[@]}" | grep -E '^[a-zA-Z_]+ [0-9]+$' |
		awk '{ n[$1] += $2 } END { for (i in n) if (n[i]) print "#   " i, n[i] }' | sort
	for n in 1 2; do
		for key in conns_verbs conns_loop conns_fallback tx_bytes rx_bytes protocol_errors; do
			echo "#   node $n $key $(moved "$n" "$key")"
		done
	done
	echo "#   programs $PROGRAM_RUNS, of which $PROGRAM_FAILURES failed"
}

plan 9
echo "# seed $SEED: SOAK_SEED=$SEED repeats it"
load_verbs
nodemap_std
# Several links, memory that comes and goes, and programs' pages wherever it can be.
nodes 'cd /sys/module/af_sanx/parameters && echo 3 >lanes && echo 32768 >long_min &&
	echo 50 >/proc/sys/net/sanx/idle_ms'
programs_setup
remember
for n in 1 2; do soak_start "$n"; done
for n in 1 2; do
	clients_start "$n"
	CLIENT_PID[n]=$LAST
done
programs_in_turn
check "the clients come to their end" eventually $((LIMIT / SLOW + 60)) \
	"grep -q ^done '${CLIENT_LOG[1]}' && grep -q ^done '${CLIENT_LOG[2]}'"
# Who serves may have an end to see yet.
sleep $((2 * SLOW))
nodes "pkill -TERM -o -f '[s]oak .*serve'" || true
check "and the servers" eventually 30 \
	"grep -q ^done '${SERVER_LOG[1]}' && grep -q ^done '${SERVER_LOG[2]}'"
figures
grep -h ^ERROR "${CLIENT_LOG[@]}" "${SERVER_LOG[@]}" | sed 's/^/# /' | head -n 100 || true
conns="$(($(moved 1 conns_verbs) + $(moved 2 conns_verbs))) ends over verbs, $(($(moved 1 conns_loop) + $(moved 2 conns_loop))) over loop"
check "connections: $conns" test "$(figure connections)" -ge $((MINUTES * 20))
is "no byte is wrong: $(figure received) received" "$(figure wrong_bytes)" 0
is "nothing hangs" "$(figure hangs)" 0
killed="$(figure killed_clients) clients, $(figure killed_handlers) handlers, $(figure killed_servers) servers"
is "no error but those of who was killed: $killed" "$(figure errors)" 0
check "programs: $PROGRAM_RUNS runs, $PROGRAM_FAILURES failed" \
	test "$PROGRAM_RUNS" -ge 4 -a "$PROGRAM_FAILURES" = 0
is "no rule of the protocol is broken" "$(($(moved 1 protocol_errors) + $(moved 2 protocol_errors)))" 0
check "no socket is left" eventually 60 nothing_left
nodes "rm -rf $DIR"
