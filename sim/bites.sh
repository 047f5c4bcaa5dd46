#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# bites.sh [NAME...]
#
# Puts defects of the past back, one at a time (sim/bites/NAME.patch), and runs
# worlds until one fails, without sanitizers, because that is faster.  The same world
# must not fail without the defect.  Prints a TAP line for each, with the steps that it
# took.  Each patch starts with the commit that mended the defect.  make check looks
# whether each can be put back.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(dirname "$here")
work=$tree/build/sim-bites
plain=$tree/build/sim-plain
most=${BITE_STEPS:-600000000}

# build NAME: objects of files that no patch changed are shared.
build() {
	local out=$work/$1 src=$work/$1/src
	rm -rf "$out"
	mkdir -p "$src"
	cp -r "$tree/af_sanx" "$tree/include" "$src/"
	(cd "$src" && patch -s -p1) <"$here/bites/$1.patch"
	cp -r "$plain/engine" "$plain/shim" "$plain/world" "$plain/include" "$out/"
	find "$out" -name '*.d' -delete
	find "$out" -name '*.o' -exec touch {} +
	find "$out/include" -exec touch -d '1 hour ago' {} +
	find "$src" -exec touch -d '1 hour ago' {} +
	sed -n 's/^+++ b\/af_sanx\///p' "$here/bites/$1.patch" | while read -r f; do
		case $f in
		*.h) find "$out/engine" -name '*.o' -delete ;;
		*) rm -f "$out/engine/${f%.c}.o" ;;
		esac
	done
	make -s -C "$here" O="$out" SRC="$src" SANITIZE= "$out/sim"
}

# bite NAME: runs worlds; prints the TAP line.
bite() {
	local name=$1 log=$work/$1.log rc=0 at seed
	if ! build "$name" >"$log" 2>&1; then
		echo "not ok - $name does not build"
		return 1
	fi
	"$work/$name/sim" -s 1 -n "$most" -t 100 >>"$log" 2>&1 || rc=$?
	at=$(sed -nE 's/^sim: FAILED at step ([0-9]+).*/\1/p' "$log" | head -n 1)
	seed=$(sed -nE 's/^sim: FAILED at .*SEED=([0-9]+)$/\1/p' "$log" | head -n 1)
	rm -rf "${work:?}/$name"
	if [ "$rc" = 0 ] || [ -z "$at" ]; then
		echo "not ok - $name: not found in $most steps"
		return 1
	fi
	if ! "$plain/sim" -s "$seed" -w >"$work/without.log" 2>&1; then
		echo "not ok - $name: world $seed fails without it, too"
		return 1
	fi
	echo "ok - $name: step $at, $(grep -E '^sim: [^F]|ERROR: Addr|runtime error' "$log" | head -n 1 | cut -c1-90 | tr '#' ' ')"
}

mkdir -p "$work"
make -s -j"$(nproc)" -C "$here" O="$plain" SANITIZE=
names=("$@")
[ $# != 0 ] || mapfile -t names < <(basename -s .patch -- "$here"/bites/*.patch)
echo "1..${#names[@]}"
rc=0
for name in "${names[@]}"; do
	bite "$name" || rc=1
done
exit "$rc"
