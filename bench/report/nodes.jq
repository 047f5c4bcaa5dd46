# SPDX-License-Identifier: GPL-2.0
# From samples, PATH ROUND MEASURE NUMBER VALUE, and reasons, PATH PROGRAM WORDS,
# to a run's JSON: every figure by its path, measure and number, as in
# bench.json, with what it was in each round.

def lines: split("\n")[] | select(. != "");

def median:
	sort | length as $n
	| if $n % 2 == 1 then .[($n - 1) / 2] else (.[$n / 2 - 1] + .[$n / 2]) / 2 end;

{ version: $version, commit: $commit, kernel: $kernel, mitigations: $mitigations,
  units: "us and MB/s by a wall clock, \($accel)",
  rounds: $rounds, paths: ($paths | split(" ")) }
| .samples = reduce ($samples | lines | split(" ")) as [$path, $round, $measure, $number, $value]
	({}; .[$path][$measure][$number] += [$value | tonumber])
| .figures = (.samples | map_values(map_values(map_values(median))))
| .missing = reduce ($reasons | lines | split(" ")) as $words
	({}; .[$words[0]][$words[1]] = ($words[2:] | join(" ")))
