# SPDX-License-Identifier: GPL-2.0
# $old and $new: what changed against TCP in the same round, where not one round
# of the one run was like any of the other.  Figures themselves say nothing, and
# nor do a few rounds.

def left($n): . + " " * ([$n - length, 0] | max);
def right($n): " " * ([$n - length, 0] | max) + .;
def shown: . * 100 | round / 100 | tostring;

# Of this less is better.
def good_is_less: IN("sockperf", "qperf_lat", "netpipe");

def ratios($path; $measure; $number):
	[.samples | (.[$path], .tcp)[$measure][$number]]
	| select(all(. != null)) | transpose | map(.[0] / .[1]);

def range: "\(min | shown)-\(max | shown)";

def change($a; $b; $measure):
	if ($a | min) > ($b | max) then (if $measure | good_is_less then "better" else "worse" end)
	elif ($a | max) < ($b | min) then (if $measure | good_is_less then "worse" else "better" end)
	else null end;

$old[0] as $o | $new[0] as $n
| if [$o.rounds, $n.rounds] | min < 4
  then "", "nothing can be compared: one of the runs has less than 4 rounds"
  else [$n.samples | to_entries[] | .key as $path | select($path != "tcp")
   | .value | to_entries[] | .key as $measure
   | .value | keys[] as $number
   | ($o | ratios($path; $measure; $number)) as $a
   | ($n | ratios($path; $measure; $number)) as $b
   | ("\($path) \($measure) \($number)" | left(28)) + ($a | range | right(16))
     + ($b | range | right(16)) + "  \(change($a; $b; $measure))"] as $all
| ($all | map(select(endswith("null") | not))) as $lines
| "", ("ratio to tcp, since \($o.version)" | left(28)) + ("before" | right(16)) + ("now" | right(16)),
  $lines[], "\(($all | length) - ($lines | length)) of \($all | length) ratios have not changed"
  end
