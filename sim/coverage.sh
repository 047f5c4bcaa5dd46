#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# coverage.sh STEPS [SEED]
#
# Line coverage of the engine (af_sanx/link/) by so many steps of worlds.
# Prints a line for each file, and the sum, without what is for netlink (dump.c), and
# without seek.c and who.c: nobody in the simulator asks who is there; KUnit (who_test)
# and two_node/auto.sh do.  With SANX_UNCOVERED=1 it also prints
# the lines that never ran.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(dirname "$here")
out=$tree/build/sim-coverage

make -s -j"$(nproc)" -C "$here" O="$out" SANITIZE=--coverage
find "$out" -name '*.gcda' -delete
"$out/sim" -s "${2:-1}" -n "$1" -S 10000

rm -rf "$out/gcov"
mkdir -p "$out/gcov"
cd "$out/gcov"
for folder in "$out"/engine/link/*/; do
	gcov -o "$folder" "$folder"*.gcda >/dev/null 2>&1 || true
done
awk -F: '
FNR == 1 { name = FILENAME; sub(/\.gcov$/, "", name) }
FILENAME !~ /\.(c|h)\.gcov$/ { next }
$3 == "Source" { ours = $0 ~ /af_sanx\/link\// }
!ours { next }
{ gsub(/ /, "", $1) }
$1 ~ /^[0-9]+\*?$/ { ran[name]++; all[name]++ }
$1 ~ /^[#=]+$/ {
	all[name]++
	if (ENVIRON["SANX_UNCOVERED"])
		print name ":" $2 + 0 ": " $3
}
END {
	for (n in all) {
		printf "%-16s %4d of %4d lines\n", n, ran[n], all[n] | "sort"
		if (n !~ /(^|\/)(dump|seek|who)\.[ch]$/) { r += ran[n]; a += all[n] }
	}
	close("sort")
	printf "engine: %.1f%% of %d lines\n", 100 * r / a, a
}' ./*.gcov
