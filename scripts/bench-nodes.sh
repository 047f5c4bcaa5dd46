#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# bench-nodes.sh: AF_SANX beside its peers between two nodes, by a wall clock.
#
# Standard programs, unmodified, over every path in turn, ROUNDS times, so that
# what disturbs the machine hits all alike.  Writes a table and JSON to $OUT, by
# default build/bench/results; BASELINE=JSON of an earlier run shows what has
# changed against TCP since.  PATHS="tcp verbs" and PROGRAMS="qperf" measure only
# these.  What cannot be measured is in the table with its reason, and is a failure
# unless it is known (bench/nodes/paths.sh).
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"
# shellcheck source=bench/nodes/paths.sh
. "$SANX_TREE/bench/nodes/paths.sh"
# shellcheck source=bench/nodes/programs.sh
. "$SANX_TREE/bench/nodes/programs.sh"

export SANX_LAB=${SANX_LAB:-bench-nodes-$$}
# Only from here on does AF_SMC work over rxe.
KERNEL=${KERNEL:-6.12}
PATHS=${PATHS:-tcp tcp-rail verbs rsockets smc}
PROGRAMS=${PROGRAMS:-sockperf iperf3 qperf netpipe rstream}
ROUNDS=${ROUNDS:-5}
REPORT=$SANX_TREE/bench/report
# shellcheck source=bench/report/commit.sh
. "$REPORT/commit.sh"
FILES=(table-nodes.txt bench-nodes.json)
# Seconds for a client.
PATIENCE=30
PORT=20000	# of the server before the first

prepare() {
	"$SCRIPTS/deps.sh" build lab bench-nodes
	"$SCRIPTS/build-modules.sh" "$KERNEL"
	make -s -C "$SANX_TREE/tools" O="$SANX_TREE/build/tools"
	make -s -C "$SANX_TREE/bench" O="$SANX_TREE/build/bench"
	"$SCRIPTS/lab" up --kernel "$KERNEL" --nodes 2 --owner $$
	# shellcheck source=scripts/lablib.sh
	. "$SCRIPTS/lablib.sh"
	at_exit 'lab down'
	TMPDIR=$(mktemp -d)
	at_exit "rm -rf '$TMPDIR'"
	export TMPDIR
	SAMPLES=$TMPDIR/samples
	: >"$SAMPLES"
}

# Why there are no figures, by path and program.
declare -A WHY=()

# give_up PATH PROGRAM REASON: half a set of figures would be none.
give_up() {
	WHY["$1 $2"]=$3
	sed -i "/^$1 [0-9]* $2/d" "$SAMPLES"
	warn "$1, $2: $3"
	say "to repeat it: make bench-nodes KERNEL=$KERNEL ROUNDS=1 PATHS=$1 PROGRAMS=${2/#all/\"$PROGRAMS\"}"
}

# last_words FILE: what a program that failed said why: what sounds like it first,
# or else what it said last.
last_words() {
	local line
	line=$(sed -n 's/.*"error": *"\(.*\)".*/\1/p' "$1" | head -n 1)
	[ -n "$line" ] || line=$(grep -iE -m 1 'error|fail|cannot|unable' "$1")
	[ -n "$line" ] || line=$(grep -v '^[[:space:]]*$' "$1" | tail -n 1)
	sed 's/^[[:space:]]*//; s/[[:space:]]*$//' <<<"${line:-without a word}" | cut -c 1-160
}

# client PATH PROGRAM FILE: on node 2.
client() {
	timeout "$PATIENCE" "$SCRIPTS/lab" run 2 "cd /tmp; $(under "$1") $(client_of "$2")" \
		</dev/null >"$3" 2>"$3.err"
}

# attempt PATH PROGRAM: what the client says goes into a file; prints why, if it
# fails.
attempt() {
	local rc=0 error=$TMPDIR/said.err
	lab run 1 "$SANX_TREE/bench/nodes/ready.sh" "$PORT" 10 </dev/null || {
		echo "the server does not start: $(last_words "$LAST_LOG")"
		return 1
	}
	client "$1" "$2" "$TMPDIR/said" || rc=$?
	cat "$TMPDIR/said" >>"$error"
	case $rc in
	0) ;;
	124) echo "hangs; the server: $(last_words "$LAST_LOG")" ;;
	*) echo "fails: $(last_words "$error")" ;;
	esac
	return "$rc"
}

# take PATH PROGRAM ROUND: the figures, if there are some.
take() {
	figures_of "$2" <"$TMPDIR/said" >"$TMPDIR/figures"
	grep -q . "$TMPDIR/figures" || {
		echo "no figures: $(last_words "$TMPDIR/said")"
		return 1
	}
	sed "s/^/$1 $3 /" "$TMPDIR/figures" >>"$SAMPLES"
}

# measure PATH PROGRAM ROUND
measure() {
	local reason rc=0
	[ -z "${WHY[$1 $2]:-}${WHY[$1 all]:-}" ] || return 0
	ready "$1" || die "the nodes cannot be made ready for $1"
	PORT=$((PORT + 1))
	background 1 "cd /tmp; exec $(under "$1") $(server_of "$2")"
	reason=$(attempt "$1" "$2") || rc=$?
	stop "$LAST"
	LAB_BACKGROUND=()
	read_counters after
	[ "$rc" != 0 ] || reason=$(went "$1" && take "$1" "$2" "$3") || rc=$?
	[ "$rc" = 0 ] || give_up "$1" "$2" "$reason"
	forget_counters
}

# in_turn ROUND WORDS...: another one comes first in each round.
in_turn() {
	local n=$(($1 % ($# - 1)))
	shift
	echo "${@:n + 1}" "${@:1:n}"
}

measure_all() {
	local round path program start
	setup_paths || die "the nodes cannot be set up"
	read_counters before
	for ((round = 1; round <= ROUNDS; round++)); do
		start=$SECONDS
		for program in $PROGRAMS; do
			# shellcheck disable=SC2086
			for path in $(in_turn "$round" $PATHS); do
				measure "$path" "$program" "$round"
			done
		done
		say "round $round of $ROUNDS took $((SECONDS - start)) s"
	done
}

reasons() {
	local key
	for key in "${!WHY[@]}"; do echo "$key ${WHY[$key]}"; done | sort
}

# failures: reasons that are not to be expected.
failures() {
	reasons | while read -r path program why; do
		known_to_fail "$path" "$program" || echo "$path, $program: $why"
	done
}

report() {
	new_results "${FILES[@]}"
	jq -n --arg kernel "$RELEASE" --arg version "$VERSION" --arg commit "$COMMIT" \
		--arg accel "$LAB_ACCEL" --arg mitigations "$(mitigations)" \
		--argjson rounds "$ROUNDS" --arg paths "$PATHS" --rawfile samples "$SAMPLES" \
		--rawfile reasons <(reasons) -f "$REPORT/nodes.jq" >"$RESULTS/bench-nodes.json"
	jq -r -f "$REPORT/nodes-table.jq" "$RESULTS/bench-nodes.json" >"$RESULTS/table-nodes.txt"
	cat "$RESULTS/table-nodes.txt"
	[ -z "${BASELINE:-}" ] ||
		jq -rn --slurpfile old "$BASELINE" --slurpfile new "$RESULTS/bench-nodes.json" \
			-f "$REPORT/nodes-change.jq"
}

[ -z "${BASELINE:-}" ] || [ -r "$BASELINE" ] || die "no such file: $BASELINE"
for name in $PATHS; do under "$name" >/dev/null; done
for name in $PROGRAMS; do server_of "$name" >/dev/null; done
begin_figures
prepare
measure_all
report
lab splat || die "a node's kernel complained"
end_figures "$(failures | paste -sd ';')" "${FILES[@]}"
say "${FILES[*]} are in $OUT"
