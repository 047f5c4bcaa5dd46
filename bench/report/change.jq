# SPDX-License-Identifier: GPL-2.0
# $old and $new: what a change did, figure by figure, where it is 1% or more, and
# what only one of them has.

def left($n): . + " " * ([$n - length, 0] | max);
def right($n): " " * ([$n - length, 0] | max) + .;
def rounded($k): . * $k | round / $k | tostring;

# Of these more is better.
def good_is_more: IN("stream", "nodelay", "dgrams", "many", "fair");

def change($path; $measure; $number; $a; $b):
	(if $a == 0 then 0 else 100 * ($b / $a - 1) end) as $percent
	| select(($percent | fabs) >= 1)
	| ("\($path) \($measure)\(if $number == "0" then "" else " " + $number end)" | left(28))
	+ ($a | rounded(1000) | right(14)) + ($b | rounded(1000) | right(14))
	+ ("\(if $percent > 0 then "+" else "" end)\($percent | rounded(10))%" | right(12))
	+ (if ($percent > 0) == ($measure | good_is_more) then "  better" else "  worse" end);

# Paths, or measures of a path, that $a has and $b has not.
def only($a; $b):
	[$a.figures | to_entries[] | .key as $path | $b.figures[$path] as $other
	 | if $other
	   then .value | keys[] | select($other[.] == null) | "\($path) \(.)"
	   else $path end]
	| join(", ") | select(. != "");

$old[0] as $o | $new[0] as $n
| "", ("since \($o.version)" | left(28)) + ("before" | right(14)) + ("now" | right(14)) + ("change" | right(12)),
([$n.figures | to_entries[] | .key as $path
 | .value | to_entries[] | .key as $measure
 | .value | to_entries[]
 | select($o.figures[$path][$measure][.key] != null)
 | [$path, $measure, .key, $o.figures[$path][$measure][.key], .value]] as $both
| ([$both[] | change(.[0]; .[1]; .[2]; .[3]; .[4])] as $lines
 | $lines[], "\(($both | length) - ($lines | length)) of \($both | length) figures changed by less than 1%")),
(only($n; $o) | "not measured before: \(.)"),
(only($o; $n) | "not measured now: \(.)")
