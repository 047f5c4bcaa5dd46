#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# try.sh: build what changed and run one selftest on native nodes with KASAN and
# lockdep: from an edit to the verdict in seconds.
#
# TEST names it; CASE chooses one of its tests, VARIANT one or more of tcp, loop,
# fallback, verbs, siw and rail (default: what make selftests runs).  LEAKS=1
# looks for lost memory too, which takes six seconds.  One node has a virtual clock,
# which CLOCK=virtual gives to two; CLOCK=host gives one the host's.
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"
. "$SCRIPTS/check.d/results.sh"
. "$SCRIPTS/check.d/tests.sh"
. "$SCRIPTS/check.d/host.sh"
. "$SCRIPTS/check.d/health.sh"

KERNEL=um
TEST=${TEST:-} CASE=${CASE:-} VARIANT=${VARIANT:-}
export KERNEL TEST CASE VARIANT
measure_host

again() {
	echo "make try TEST=$TEST${CASE:+ CASE=$CASE}${VARIANT:+ VARIANT=$VARIANT}"
}

# quietly LOG CMD...: its output only if it fails.
quietly() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 40 "$log"
		die "failed: $*"
	}
}

build() {
	quietly "$LOGS/modules.log" "$SCRIPTS/build-modules.sh" um
	quietly "$LOGS/tools.log" make -s -C "$SANX_TREE/tools" O="$SANX_TREE/build/tools"
	quietly "$LOGS/selftests.log" make -s -j2 -C "$SANX_TREE/selftests" \
		O="$SANX_TREE/build/selftests" KSRC="$("$SCRIPTS/kernel/source.sh" 6.12)"
}

# passes: KIND, a line each, of what VARIANT asks of a program on one node.
passes() {
	local other
	if [ -z "$VARIANT" ]; then
		echo one
		! is_socket_test "$TEST" || echo verbs
		return
	fi
	other=$(tr ' ' '\n' <<<"$VARIANT" | grep -vE '^(verbs|siw|rail)' | tr '\n' ' ' || true)
	[ -z "$other" ] || echo one
	[[ " $VARIANT " != *" verbs"* ]] || echo verbs
	[[ " $VARIANT " != *" siw"* ]] || echo siw
	[[ " $VARIANT " != *" rail"* ]] || echo rail
}

# run_pass KIND: verbs, siw and rail say which variant they are.
run_pass() {
	local kind=$1 name=$TEST log=$LOGS/$1.log rc=0
	case $kind in
	one | two) ;;
	tworail) name=$TEST-rail ;;
	*) name=$TEST-$kind ;;
	esac
	[ "$kind" != one ] || VARIANT=$(sed -E 's/\<(verbs|siw|rail)[46]?\>//g' <<<"$VARIANT")
	limit_of "$kind" "$name"
	limited "$LIMIT" "run_$kind" "$name" >"$log" 2>&1 || rc=$?
	grep -vE '^# +(RUN|OK) |^#  +RUN|^#  +OK' "$log" || true
	tap_results "$name" "$(again)" "$log" >/dev/null
	[ "$rc" = 0 ] || grep -q '^not ok' "$log" || result fail "$name: exit status $rc" "$(again)"
	fresh || result fail "$name: lets the module go" "$(again)"
}

if [ -f "$SANX_TREE/selftests/two_node/$TEST.sh" ]; then
	nodes=2
elif [ -n "$TEST" ] && [ -f "$SANX_TREE/selftests/$TEST.c" ]; then
	nodes=1
else
	die "make try TEST=name: a program of selftests/ or a script of selftests/two_node/"
fi
results_start
WHERE=try
LAB_LOGS=$LOGS/try
mkdir -p "$LAB_LOGS"
export SANX_LAB=try-$$
# The nodes boot meanwhile: they see the tree as it is when they look.
virtual=()
case $nodes-${CLOCK:-} in
1- | 2-virtual) virtual=(--virtual) ;;
esac
"$SCRIPTS/lab" up --um "${virtual[@]}" --nodes "$nodes" --wires $((nodes * 2 - 1)) --owner $$ &
booting=$!
build
wait "$booting" || die "the nodes do not boot"
# shellcheck source=scripts/lablib.sh
. "$SCRIPTS/lablib.sh"
trap 'cp "$LAB_RUN"/*.console "$LOGS/" || true; lab down' EXIT
fresh || die "af_sanx does not load"
[ -z "${LEAKS:-}" ] || nodes "$SCRIPTS/guest/leaks" before
if [ "$nodes" = 2 ] && [ "$VARIANT" = rail ]; then
	run_pass tworail
elif [ "$nodes" = 2 ]; then
	run_pass two
else
	for kind in $(passes); do run_pass "$kind"; done
fi
[ -z "${LEAKS:-}" ] || check_leaks
run_health "both modules go" "" unload_all
run_health "lockdep has looked until the end" "" lockdep_works
run_health "the kernel log is clean" "" lab splat
results_end
