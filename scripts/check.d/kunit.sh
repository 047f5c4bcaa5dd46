# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# KUnit: the suites of kunit/, on one native node (kernel um).  TEST chooses
# one module.

# suites_written: the names that the sources give their suites.
suites_written() {
	sed -n '/struct kunit_suite/,/};/s/.*\.name[ \t]*=[ \t]*"\([^"]*\)".*/\1/p' \
		"$SANX_TREE"/kunit/*.c | sort
}

# run_suite_module MODULE LOG: what the kernel said while it was loaded.
run_suite_module() {
	timeout 300 "$SCRIPTS/lab" run 1 \
		"dmesg -C; insmod '$1' && rmmod '$(basename "$1" .ko)'; rc=\$?; dmesg; exit \$rc" \
		>"$2" 2>&1 </dev/null || result fail \
		"kunit $(basename "$1" .ko): the module does not load or leave" "make kunit TEST=$(basename "$1" .ko)" "log: $2"
	sed -i -E 's/^\[ *[0-9.]+\] //' "$2"
}

run_suite_modules() {
	local dir=$1 ko name log found=0
	for ko in "$dir"/kunit/*.ko; do
		[ -e "$ko" ] || break
		name=$(basename "$ko" .ko)
		[ -z "$TEST" ] || [ "$TEST" = "$name" ] || continue
		found=1
		log=$LOGS/kunit-$name.log
		run_suite_module "$ko" "$log"
		sed -n 's/.*# Subtest: //p' "$log" >>"$LOGS/kunit-suites-seen"
		kunit_cases "$log" >"$LOGS/kunit-$name.tap"
		tap_results "kunit $name" "make kunit TEST=$name" "$LOGS/kunit-$name.tap"
		grep -A 4 -E '# [a-z0-9_]+: (EXPECTATION|ASSERTION) FAILED' "$log" | head -n 60 || true
	done
	[ "$found" = 1 ] || result fail "kunit: there is no module${TEST:+ called $TEST}" "make kunit"
}

# kunit_cases LOG: plans and results of cases, which are one level in; a module with
# several suites has as many plans.
kunit_cases() {
	sed -n -E 's/^    ((not )?ok [0-9]+ .*|1\.\.[0-9]+)$/\1/p' "$1"
}

check_suites() {
	local suite
	for suite in $(suites_written); do
		grep -qxF "$suite" "$LOGS/kunit-suites-seen" ||
			result fail "kunit: suite $suite did not run" "make kunit"
	done
	[ -n "$(suites_written)" ] || result fail "kunit: there are no suites" "make kunit"
}

stage_kunit() {
	local release
	say "kunit: building, and booting one native node"
	release=$("$SCRIPTS/kernel/kernel.sh" um release)
	"$SCRIPTS/build-modules.sh" um CONFIG_SANX_KUNIT=m >"$LOGS/kunit-build.log" 2>&1 || {
		tail -n 30 "$LOGS/kunit-build.log"
		result fail "kunit: build" "make KVER=um" "log: $LOGS/kunit-build.log"
		return
	}
	export SANX_LAB=check-kunit-$$
	: >"$LOGS/kunit-suites-seen"
	lab up --kernel um --nodes 1 --owner $$
	lab run 1 insmod "$SANX_TREE/build/$release/af_sanx.ko" </dev/null ||
		result fail "kunit: af_sanx does not load" "make kunit"
	run_suite_modules "$SANX_TREE/build/$release"
	[ -n "$TEST" ] || check_suites
	run_gate "kunit: nothing in the kernel log" "make kunit" lab splat
	lab down
}
