#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [gates|tools|sim|kunit|selftests|extremes|packages|all]
#
# "all" is every stage but extremes and packages; with SANX_ALL_TESTS, every test on
# every kernel, too.
# Runs the project's checks and ends with one line: N passed, N failed,
# N skipped.  Fails if anything failed, or was skipped without leave.
# KERNEL and TEST in the environment choose a kernel and one test (or gate), CASE
# and VARIANT what of it.
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"
. "$SCRIPTS/check.d/results.sh"
. "$SCRIPTS/check.d/gates.sh"
. "$SCRIPTS/check.d/kunit.sh"
. "$SCRIPTS/check.d/sim.sh"
. "$SCRIPTS/check.d/tests.sh"
. "$SCRIPTS/check.d/health.sh"
. "$SCRIPTS/check.d/selftests.sh"
. "$SCRIPTS/check.d/clean.sh"

# CPUs of the nodes that are up at the same time, five for two of the host's, as they
# wait half of the time.  Tests over two nodes look at the clock, and on a busier
# host some took that for a defect.
JOBS=${SANX_JOBS:-$((5 * $(nproc) / 2))}
[ "$JOBS" -ge 4 ] || JOBS=4
[ "$JOBS" -le 8 ] || JOBS=8

lab() {
	"$SCRIPTS/lab" "$@"
}

# stages NAMES...: each in a process of its own, so that one which breaks off
# is a failure and not the end.
stages() {
	local s start
	"$SCRIPTS/deps.sh"
	results_start
	for s in "$@"; do
		start=$SECONDS
		"$SCRIPTS/check.sh" one-stage "$s" || result fail "$s: broke off" "make $s"
		say "$s took $((SECONDS - start)) s"
	done
	results_end
}

export KERNEL=${KERNEL:-} TEST=${TEST:-} CASE=${CASE:-} VARIANT=${VARIANT:-}
case ${1:-all} in
all) stages gates tools sim kunit selftests ;;
gates | tools | sim | kunit | selftests | extremes | packages) stages "$1" ;;
one-stage) "stage_$2" ;;
one-gate) gate "$2" ;;
one-clean) clean_packages "$2" ;;
one-lab) in_lab "$2" ;;
*) die "check.sh: no stage is called '$1'" ;;
esac
