#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [gates|tools|sim|bites|kunit|selftests|long|extremes|packages|all|full]
# check.sh seconds
#
# "all" is make check: what is deterministic, and what a change breaks most often.
# "full" is make check-full: every test and variant on every kernel, which takes hours.
# Runs the project's checks and ends with one line, whatever ends it: N passed,
# N failed, N skipped.  Fails if anything failed, or was skipped or unstable without leave.
# KERNEL and TEST in the environment choose a kernel and one test (or gate), CASE
# and VARIANT what of it; STAGES some of those of "all" or "full".  "seconds" takes over what tests took in the last run.
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"
. "$SCRIPTS/check.d/results.sh"
. "$SCRIPTS/check.d/gates.sh"
. "$SCRIPTS/check.d/kunit.sh"
. "$SCRIPTS/check.d/sim.sh"
. "$SCRIPTS/check.d/tests.sh"
. "$SCRIPTS/check.d/host.sh"
. "$SCRIPTS/check.d/health.sh"
. "$SCRIPTS/check.d/unstable.sh"
. "$SCRIPTS/check.d/selftests.sh"
. "$SCRIPTS/check.d/clean.sh"
. "$SCRIPTS/check.d/report.sh"

measure_host

# CPUs of the nodes that are up at the same time, three for one of the host's, as they
# wait more than half of the time, and two on a slow host, where they do not.  Tests over
# two nodes look at the clock, and on a busier host some took that for a defect.
JOBS=${SANX_JOBS:-$(((SANX_HOST_SLOW == 1 ? 3 : 2) * $(nproc)))}
[ "$JOBS" -ge 4 ] || JOBS=4
[ "$JOBS" -le 8 ] || JOBS=8

# Seconds that make check may take once the kernels are there; what has not run by then
# fails.  A stage that does not end by itself has some more to say which of its tests
# did not.
DEADLINE=$((SANX_HOST_SLOW == 1 ? 2700 : 4200))
DEADLINE_MORE=300

lab() {
	"$SCRIPTS/lab" "$@"
}

# attend SECONDS CMD...: 124 if it takes longer.  A signal's trap need not wait for it.
attend() {
	local rc=0 timer
	sleep "$1" &
	timer=$!
	"${@:2}" &
	CHILD=$!
	wait -n "$CHILD" "$timer" || rc=$?
	if kill -0 "$CHILD" 2>/dev/null; then
		end_tree "$CHILD"
		rc=124
	fi
	CHILD=""
	kill "$timer" 2>/dev/null || true
	return "$rc"
}

# end_tree PID: it and what it has started.  It is stopped first, as it would start the next
# lab when one has ended.
end_tree() {
	local child
	kill -STOP "$1" 2>/dev/null || return 0
	for child in $(pgrep -P "$1"); do end_tree "$child"; done
	kill -TERM "$1" 2>/dev/null || true
	kill -CONT "$1" 2>/dev/null || true
}

# end_run WHY: in place of what is still to run.
end_run() {
	trap '' TERM INT HUP
	trap - EXIT
	[ -z "${CHILD:-}" ] || end_tree "$CHILD"
	result fail "$STAGE: $1" "make check"
	results_end
	exit 1
}

# run_stage NAME: in a process of its own, so that one which breaks off is a failure and
# not the end.
run_stage() {
	local s=$1 start=$SECONDS rc=0 limit=864000
	[ -z "${SANX_DEADLINE:-}" ] || limit=$((SANX_DEADLINE + DEADLINE_MORE - $(date +%s)))
	STAGE=$s
	if [ "$limit" -le "$DEADLINE_MORE" ]; then
		result fail "$s: not run: deadline" "make $s"
		return
	fi
	attend "$limit" "$SCRIPTS/check.sh" one-stage "$s" || rc=$?
	case $rc in
	0) ;;
	124) result fail "$s: broken off: deadline" "make $s" ;;
	*) result fail "$s: broke off" "make $s" ;;
	esac
	say "$s took $((SECONDS - start)) s"
}

# get_kernels STAGES...: what takes minutes where it is missing, before anything is timed.
get_kernels() {
	local kernels=${KERNEL:-$KERNELS_CHECK} k
	[ -n "$KERNEL" ] || ! runs_all || kernels=$KERNELS_FULL
	[[ " $* " == *" selftests "* ]] || kernels=um
	[[ " $* " == *@(selftests|kunit)* ]] || return 0
	for k in $kernels; do
		STAGE="kernel $k"
		attend 10000 "$SCRIPTS/kernel/kernel.sh" "$k" release >/dev/null ||
			result fail "kernel $k: cannot be had" "scripts/kernel/kernel.sh $k"
	done
}

# stages NAMES...
stages() {
	local s tree
	STAGE=start
	results_start
	trap 'end_run "ended by a signal"' TERM INT HUP
	trap 'end_run "broke off"' EXIT
	attend 3600 "$SCRIPTS/deps.sh"
	tree=$(clean_tree)
	get_kernels "$@"
	runs_all || export SANX_DEADLINE=$(($(date +%s) + DEADLINE))
	for s in "$@"; do run_stage "$s"; done
	[ $# -gt 0 ] || result fail "nothing is called $TEST" ""
	trap - EXIT
	! runs_all || [ -n "$TEST$CASE$VARIANT" ] || write_report
	results_end
	[ "$*" != "${STAGES_ALL:-}" ] || runs_all || leave_mark "$tree"
}

# clean_tree: the tree of the commit that is checked out, if nothing is changed in it.
clean_tree() {
	[ -n "$(git -C "$SANX_TREE" status --porcelain 2>&1)" ] ||
		git -C "$SANX_TREE" rev-parse 'HEAD^{tree}'
}

# leave_mark TREE: everything has passed on it; others look for this file.
leave_mark() {
	[ -n "$1" ] && [ "$1" = "$(clean_tree)" ] && [ -z "$KERNEL$TEST$CASE$VARIANT" ] || return 0
	mkdir -p "$SANX_CACHE/passed"
	: >"$SANX_CACHE/passed/$1"
}

# stages_of TESTS...: those that know one of them.
stages_of() {
	local test
	for test; do
		[[ " $GATES " != *" $test "* ]] || echo gates
		[ ! -f "$SANX_TREE/kunit/$test.c" ] || echo kunit
		! is_test "$test" || echo selftests
	done | sort -u
}

export KERNEL=${KERNEL:-} TEST=${TEST:-} CASE=${CASE:-} VARIANT=${VARIANT:-}
case ${1:-all} in
all | full)
	STAGES_ALL="gates tools sim kunit selftests"
	if [ "${1:-}" = full ]; then
		export SANX_FULL=1
		STAGES_ALL="gates tools sim bites kunit selftests long extremes packages"
	fi
	# shellcheck disable=SC2086
	[ -z "$TEST" ] || STAGES=$(stages_of $TEST)
	STAGES=${STAGES:-$STAGES_ALL}
	# shellcheck disable=SC2086
	stages $STAGES
	;;
gates | tools | sim | bites | kunit | selftests | long | extremes | packages) stages "$1" ;;
seconds) take_seconds ;;
one-stage) "stage_$2" ;;
one-gate) gate "$2" ;;
one-clean) clean_packages "$2" ;;
one-lab) in_lab "$2" ;;
*) die "check.sh: no stage is called '$1'" ;;
esac
