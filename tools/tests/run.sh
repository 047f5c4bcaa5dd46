#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs test programs that speak TAP, and counts.  Each is a COMMAND LINE.
# Usage: run.sh COMMAND...

passed=0
failed=0
skipped=0

for command in "$@"; do
	echo "# $command"
	if ! out=$($command) && ! grep -q '^not ok' <<<"$out"; then
		out+=$'\nnot ok - the program failed'
	fi
	grep -q '^1\.\.[1-9]' <<<"$out" || out+=$'\nnot ok - the program did not finish'
	printf '%s\n' "$out"
	skipped=$((skipped + $(grep -c '^ok .*# SKIP' <<<"$out")))
	passed=$((passed + $(grep '^ok ' <<<"$out" | grep -vc '# SKIP')))
	failed=$((failed + $(grep -c '^not ok' <<<"$out")))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
