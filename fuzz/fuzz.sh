#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# fuzz.sh [run|corpus]
#
#   run	libFuzzer (clang) runs each target, or TARGET, for MINUTES (1).  INPUT=FILE
#	runs that file only, which repeats a finding.
#   corpus	each target, or TARGET, runs the inputs in fuzz/corpus/, in seconds and
#	without libFuzzer
#
# What libFuzzer adds to the corpus is in build/fuzz-run/corpus/, and inputs that
# were findings are in build/fuzz-run/found/.  Fails if there was one.
set -euo pipefail
FUZZ=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$FUZZ/../scripts/lib.sh"
TARGET=${TARGET:-} MINUTES=${MINUTES:-1} INPUT=${INPUT:-}

all=$(make -s -C "$FUZZ" names)

# build OUT ARGS...
build() {
	local out=$1
	shift
	nice -n 10 make -s -j"$(nproc)" -C "$FUZZ" O="$out" "$@" "${targets[@]/#/$out/bin/}" >&2
}

# leaks NAME: the simulator's tasks have stacks of their own, which LeakSanitizer
# does not know; it counts memory itself.
leaks() {
	case $1 in
	engine | netlink) echo detect_leaks=0 ;;
	*) echo detect_leaks=1 ;;
	esac
}

# options NAME: of libFuzzer.
options() {
	echo "-$(leaks "$1")"
	case $1 in
	engine) echo -max_len=400 ;;
	esac
}

# fuzz_one NAME: one target.
fuzz_one() {
	local name=$1 log=$out/$1.log rc=0 found
	mkdir -p "$out/corpus/$name" "$out/found"
	say "$name: $MINUTES min"
	# shellcheck disable=SC2046
	nice -n 10 "$out/bin/$name" -max_total_time="$seconds" -timeout=60 \
		-print_final_stats=1 -artifact_prefix="$out/found/$name-" $(options "$name") \
		"$out/corpus/$name" "$FUZZ/corpus/$name" >"$log" 2>&1 </dev/null || rc=$?
	if [ "$rc" = 0 ]; then
		echo "ok - $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
		return
	fi
	echo "not ok - $name"
	grep -E '^fuzz: |^sim: |ERROR: |runtime error: |^SUMMARY: ' "$log" | sed 's/^/# /' || true
	found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	[ -z "$found" ] || echo "# again: make fuzz TARGET=$name INPUT=${found#"$SANX_TREE/"}"
	echo "# log: ${log#"$SANX_TREE/"}"
	return 1
}

fuzz() {
	local name rc=0
	out=$SANX_TREE/build/fuzz-run
	"$SANX_TREE/scripts/deps.sh" build fuzz
	build "$out" CC=clang LIBFUZZER=1
	if [ -n "$INPUT" ]; then
		# shellcheck disable=SC2046
		exec "$out/bin/$TARGET" $(options "$TARGET") "$INPUT"
	fi
	seconds=$(awk "BEGIN { print int(60 * $MINUTES) }")
	for name in "${targets[@]}"; do
		fuzz_one "$name" || rc=1
	done
	return "$rc"
}

# corpus_one NAME
corpus_one() {
	local name=$1 log=$out/$1.log files
	files=("$FUZZ/corpus/$name"/*)
	if ASAN_OPTIONS=$(leaks "$name") "$out/bin/$name" "${files[@]}" >"$log" 2>&1 </dev/null; then
		echo "ok - $name: ${#files[@]} inputs"
		return
	fi
	echo "not ok - $name"
	sed 's/^/# /' "$log" | tail -n 20
	return 1
}

corpus() {
	local name rc=0
	out=$SANX_TREE/build/fuzz
	build "$out"
	for name in "${targets[@]}"; do
		corpus_one "$name" || rc=1
	done
	return "$rc"
}

read -ra targets <<<"${TARGET:-$all}"
case " $all " in
*" ${targets[0]} "*) ;;
*) die "no fuzz target is called '$TARGET', expected one of: $all" ;;
esac
[ -z "$INPUT" ] || [ -n "$TARGET" ] || die "INPUT needs a TARGET"
case ${1:-run} in
run) fuzz ;;
corpus) corpus ;;
*) die "fuzz.sh: no command is called '$1'" ;;
esac
