# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Documentation/test-report.txt: the last result of each part of make check-full, written by
# the run itself.  All of it takes hours, so a run may be about some parts only: STAGES and
# KERNEL choose them.

REPORT=$SANX_TREE/Documentation/test-report.txt

# parts: PART PASSED FAILED SKIPPED UNSTABLE, a line each, of this run.  A part is a lab
# without the number behind it, a test that has a target of its own, or a stage.
parts() {
	awk -F'\t' -v long=" $(long_tests | tr '\n' ' ')" '
		{
			split($2, word, /[ :]+/)
			part = word[1]
			sub(/\.[0-9]+$/, "", part)
			if (part == "gate" || part == "build" || part == "kernel")
				part = "gates"
			if (index(long, " " word[2] " "))
				part = word[2]
			n[part, $1]++
			seen[part]
		}
		END {
			for (part in seen)
				print part, n[part, "ok"] + 0, n[part, "fail"] + 0,
					n[part, "skip"] + 0, n[part, "unstable"] + 0
		}' "$RESULTS"
}

machine() {
	printf '%s CPUs, %s, %s GiB' "$(nproc)" \
		"$(sed -n 's/^model name[ \t]*: *//p' /proc/cpuinfo | head -n 1 | tr -s ' ')" \
		"$(awk '/^MemTotal/ { print int($2 / 1048576 + 0.5) }' /proc/meminfo)"
}

# write_report: a part that was not run keeps its line.
write_report() {
	local commit
	commit=$(git -C "$SANX_TREE" rev-parse --short=12 HEAD)
	[ -z "$(git -C "$SANX_TREE" status --porcelain -- . ":!Documentation/test-report.txt")" ] || commit+=+
	{
		cat <<-END
			The last result of each part of "make check-full" (testing.rst), written by the run.
			A commit with a + had changes that are not in it.

		END
		printf '%-14s %7s %7s %8s %9s  %-10s  %-13s  %s\n' part passed failed skipped unstable \
			date commit machine
		{
			[ ! -f "$REPORT" ] || sed '1,/^part /d' "$REPORT"
			parts | while read -r part ok failed skipped unstable; do
				printf '%-14s %7s %7s %8s %9s  %-10s  %-13s  %s\n' "$part" "$ok" "$failed" \
					"$skipped" "$unstable" "$(date +%F)" "$commit" "$(machine)"
			done
		} | awk '{ line[$1] = $0 } END { for (part in line) print line[part] }' | sort
	} >"$REPORT.new"
	mv "$REPORT.new" "$REPORT"
	say "written: $REPORT"
}
