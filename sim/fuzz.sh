#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# fuzz.sh MINUTES
#
# libFuzzer feeds frames to a live engine for so many minutes.  New inputs are
# added to build/sim-fuzz/corpus; sim/corpus/ has a few to start from.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(dirname "$here")/build/sim-fuzz

make -s -j"$(nproc)" -C "$here" O="$out" CC=clang FUZZ=1 \
	SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
mkdir -p "$out/corpus"
cd "$out"
exec nice -n 10 ./sim -max_total_time="$(awk "BEGIN { print int(60 * $1) }")" \
	-max_len=400 -timeout=60 -detect_leaks=0 -print_final_stats=1 corpus "$here/corpus"
