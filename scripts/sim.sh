#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sim.sh [run|bites|coverage]
#
# The simulator (sim/): the engine in user space, two and three nodes in one
# process.
#   run	worlds until STEPS (10000000) or MINUTES are over; SEED repeats one
#	world.  A process for each CPU.  With NODES, it prints what so many nodes cost.
#   bites	defects of the past, put back, that the simulator has to find
#   coverage	lines of the engine that STEPS (6000000) run
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"
SIM=$SANX_TREE/sim
OUT=$SANX_TREE/build/sim
SEED=${SEED:-} STEPS=${STEPS:-} MINUTES=${MINUTES:-} NODES=${NODES:-}

# Seeds of the processes are so far apart that they do not meet.
STRIDE=1000000

build() {
	nice -n 10 make -s -j"$(nproc)" -C "$SIM" >&2
}

# run_one N: worlds from the seed of process N on.
run_one() {
	local seed=$((1 + $1 * STRIDE)) n
	n=$(nproc)
	if [ -n "$MINUTES" ]; then
		nice -n 10 "$OUT/sim" -s "$seed" -m "$MINUTES"
	else
		nice -n 10 "$OUT/sim" -s "$seed" -n "$(((${STEPS:-10000000} + n - 1) / n))" \
			-d "$(((${DEATHS:-0} + n - 1) / n))"
	fi
}

# nodes: without sanitizers, so that times mean something.  HOSTS more in the node maps.
nodes() {
	local out=$SANX_TREE/build/sim-plain n
	nice -n 10 make -s -j"$(nproc)" -C "$SIM" O="$out" SANITIZE= >&2
	for n in $NODES; do
		nice -n 10 "$out/sim" -N "$n" -R "${RAILS:-2}" -L "${LANES:-1}" \
			-C "${CONNS:-10}" -A "${HOSTS:-0}"
	done
}

run_all() {
	local i pid rc=0 pids=()
	for ((i = 0; i < $(nproc); i++)); do
		run_one "$i" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || rc=1
	done
	return "$rc"
}

run() {
	if [ -n "$NODES" ]; then
		nodes
		return
	fi
	build
	if [ -n "$SEED" ]; then
		nice -n 10 "$OUT/sim" -s "$SEED" -w
	else
		run_all
	fi
}

case ${1:-run} in
run) run ;;
bites) exec "$SIM/bites.sh" ;;
coverage) exec "$SIM/coverage.sh" "${STEPS:-6000000}" ;;
*) die "sim.sh: no command is called '$1'" ;;
esac
