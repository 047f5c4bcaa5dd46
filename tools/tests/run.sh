#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs test programs that speak TAP, and counts.  Each is a COMMAND LINE.  A
# result that is missing is a failure, and so is a test that was skipped.
# Usage: run.sh COMMAND...

passed=0
failed=0
skipped=0

for command in "$@"; do
	echo "# $command"
	rc=0
	out=$($command) || rc=$?
	results=$(grep -cE '^(not )?ok ' <<<"$out")
	if [ "$results" = 0 ] || ! grep -qx "1\.\.$results" <<<"$out"; then
		out+=$'\nnot ok - its results are not those of its plan'
	elif [ "$rc" != 0 ] && ! grep -q '^not ok' <<<"$out"; then
		out+=$'\nnot ok - the program failed'
	fi
	printf '%s\n' "$out"
	skipped=$((skipped + $(grep -c '^ok .*# SKIP' <<<"$out")))
	passed=$((passed + $(grep '^ok ' <<<"$out" | grep -vc '# SKIP')))
	failed=$((failed + $(grep -c '^not ok' <<<"$out")))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$skipped" -eq 0 ] && [ "$passed" -gt 0 ]
