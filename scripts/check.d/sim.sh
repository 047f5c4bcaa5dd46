# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The simulator: how far it has to come.

# Percent of the lines of the engine, and in how many steps.
SIM_COVERED=96
SIM_COVER_STEPS=8000000

# sim_sum WORD LOG: the sum of the figures in front of WORD.
sim_sum() {
	grep -oE "[0-9]+ $1" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

sim_worlds() {
	local log=$LOGS/sim.log rc=0
	say "sim: 10 million steps and 100000 link deaths"
	DEATHS=100000 "$SCRIPTS/sim.sh" run >"$log" 2>&1 </dev/null || rc=$?
	if [ "$rc" = 0 ]; then
		result ok "sim: $(sim_sum steps "$log") steps, $(sim_sum 'link deaths' "$log") link deaths" "make sim"
		return
	fi
	grep -E '^sim: |ERROR: |runtime error: |^  leak' "$log" | sed 's/^/# /' || true
	result fail "sim: a world failed" \
		"make $(grep -oE 'sim SEED=[0-9]+' "$log" | head -n 1)" "log: $log"
}

# sim_bites: whoever changes a line that a defect was in adapts the defect.
sim_bites() {
	local patch log=$LOGS/bites.log rc=0
	for patch in "$SANX_TREE"/sim/bites/*.patch; do
		patch --dry-run -f -s -p1 -d "$SANX_TREE" <"$patch" || rc=1
	done >"$log" 2>&1
	if [ "$rc" = 0 ]; then
		result ok "sim: the defects of sim/bites can be put back" "make sim-bites"
	else
		result fail "sim: a defect of sim/bites cannot be put back" \
			"make sim-bites" "log: $log"
	fi
}

# stage_bites: the simulator has to find them.
stage_bites() {
	say "bites: defects of the past, put back"
	run_gate "sim: finds the defects of sim/bites" "make sim-bites" "$SCRIPTS/sim.sh" bites
}

# sim_coverage: a few million steps run nearly all lines of the engine.
sim_coverage() {
	local log=$LOGS/sim-coverage.log percent
	STEPS=$SIM_COVER_STEPS "$SCRIPTS/sim.sh" coverage >"$log" 2>&1 </dev/null || true
	percent=$(sed -nE 's/^engine: ([0-9.]+)% of .*/\1/p' "$log")
	if [ -n "$percent" ] && awk "BEGIN { exit $percent < $SIM_COVERED }"; then
		result ok "sim: $percent % of the lines of the engine ran" "make sim-coverage"
	else
		result fail "sim: ${percent:-?} % of the lines of the engine ran, not $SIM_COVERED" \
			"make sim-coverage" "log: $log"
	fi
}

# sim_fuzz: the inputs of each fuzz target, so that no target rots.
sim_fuzz() {
	local log=$LOGS/fuzz-corpus.log rc=0
	"$SANX_TREE/fuzz/fuzz.sh" corpus >"$log" 2>&1 </dev/null || rc=$?
	if [ "$rc" = 0 ]; then
		result ok "sim: $(grep -c '^ok ' "$log") fuzz targets, $(sim_sum inputs "$log") inputs" \
			"make fuzz-corpus"
		return
	fi
	grep -E '^not ok |^# (fuzz|sim): |ERROR: |runtime error: ' "$log" | sed 's/^/# /' || true
	result fail "sim: a fuzz target failed" "make fuzz-corpus" "log: $log"
}

stage_sim() {
	sim_bites
	sim_worlds
	sim_coverage
	sim_fuzz
}
