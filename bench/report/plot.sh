#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# plot.sh JSON FOLDER: latency and bandwidth by message size, all paths.
set -euo pipefail

json=$1
folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# title PATH
title() {
	case $1 in
	loop) echo "AF_SANX, loop" ;;
	verbs) echo "AF_SANX, verbs on rxe" ;;
	fallback) echo "AF_SANX, fallen back" ;;
	tcp-rail) echo "AF_SANX, TCP rail" ;;
	tcp) echo "TCP over lo" ;;
	sockmap) echo "TCP with sockmap" ;;
	unix) echo "AF_UNIX" ;;
	rsockets) echo "rsockets on rxe" ;;
	raw) echo "raw verbs on rxe" ;;
	*) echo "$1" ;;
	esac
}

# colour PATH: the same in every plot, whichever paths are in it.
colour() {
	case $1 in
	loop) echo "#c00000" ;;
	verbs) echo "#e07000" ;;
	fallback) echo "#c0a0a0" ;;
	tcp-rail) echo "#a06000" ;;
	tcp) echo "#2060c0" ;;
	sockmap) echo "#40b0d0" ;;
	unix) echo "#208040" ;;
	rsockets) echo "#8040a0" ;;
	*) echo "#303030" ;;
	esac
}

# Those with one size are no curve, and of the ways to fall back one is enough.
curves() {
	jq -r --arg measure "$1" '.figures | to_entries[] |
		select(.key | startswith("fb-") | not) |
		select((.value[$measure] // {} | length) > 1) | .key' "$json"
}

# plot MEASURE FILE YLABEL KEY
plot() {
	local measure=$1 path list="" i=1
	for path in $(curves "$measure"); do
		jq -r --arg path "$path" --arg measure "$measure" '.figures[$path][$measure] |
			to_entries | sort_by(.key | tonumber)[] | "\(.key) \(.value)"' \
			"$json" >"$work/$path"
		list+="${list:+, }'$work/$path' with linespoints lw 2 pt $((i++ + 3)) lc rgb '$(colour "$path")' title '$(title "$path")'"
	done
	[ -n "$list" ] || return 0
	gnuplot <<-GNUPLOT
		set terminal svg noenhanced size 800,520 dynamic background 'white' font 'sans,13'
		set output '$folder/$2'
		set logscale xy
		set xtics ('1' 1, '16' 16, '64' 64, '256' 256, '1 Ki' 1024, '4 Ki' 4096, \
			'16 Ki' 16384, '64 Ki' 65536, '256 Ki' 262144, '1 Mi' 1048576)
		set xrange [0.7:*]
		set grid
		set xlabel 'bytes'
		set ylabel '$3'
		set key $4
		plot $list
	GNUPLOT
}

plot latency latency.svg "half a round trip, thousand instructions" "left top"
plot stream bandwidth.svg "bytes for each 1000 instructions" "right bottom"
