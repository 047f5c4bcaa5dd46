# SPDX-License-Identifier: GPL-2.0
# The figures of two nodes as text: the median of all rounds and, in brackets,
# the least and the most; then the same of their ratio to TCP's of that round.

def left($n): . + " " * ([$n - length, 0] | max);
def right($n): " " * ([$n - length, 0] | max) + .;

# Three digits that count.
def shown:
	if . >= 100 then round | tostring
	elif . >= 10 then . * 10 | round / 10 | tostring
	else . * 100 | round / 100 | tostring
	end;

def size:
	if . == "" then ""
	else tonumber | if . >= 1024 then "\(. / 1024) KiB" else "\(.) B" end
	end;

def median:
	sort | length as $n
	| if $n % 2 == 1 then .[($n - 1) / 2] else (.[$n / 2 - 1] + .[$n / 2]) / 2 end;

def spread: "\(median | shown) (\(min | shown)-\(max | shown))";

# What there are no figures of, numbered for the table to point at.
def notes:
	[.missing | to_entries[] | .key as $path | .value | to_entries[]
	 | { path: $path, program: .key, why: .value }];

def note($path; $measure):
	notes | to_entries[]
	| select(.value | .path == $path
		and (.program == "all" or (.program as $p | $measure | startswith($p))))
	| "\(if .value.why | startswith("fell back") then "fell back" else "none" end) [\(.key + 1)]";

def cell($path; $measure; $number):
	.samples[$path][$measure][$number] as $samples
	| if $samples then $samples | spread
	  else first(note($path; $measure)) // "-" end;

def against_tcp($path; $measure; $number):
	.samples["tcp"][$measure][$number] as $tcp
	| .samples[$path][$measure][$number] as $mine
	| if $tcp and $mine and $path != "tcp"
	  then [$mine, $tcp] | transpose | map(.[0] / .[1]) | spread
	  else "" end;

# A measure that nobody has a figure of still has a line.
def numbers($measure):
	[.samples[][$measure] // {} | keys[]] | unique | sort_by(tonumber)
	| if . == [] then [""] else . end | .[];

def row($name; cells): ($name | left(20)) + (cells | map(right(22)) | add);

def section($title; $measure):
	. as $all
	| select(any(.samples[]; has($measure))
		or any(.missing[] | keys[]; . as $program | $measure | startswith($program)))
	| "", row($title; .paths),
	(numbers($measure) as $n
	 | row("  \($n | size)"; [.paths[] as $p | $all | cell($p; $measure; $n)]),
	   ([.paths[] as $p | $all | against_tcp($p; $measure; $n)]
	    | select(add != "") | row("    to tcp"; .)));

"AF_SANX \(.version) on \(.kernel), two nodes, \(.units),",
"median of \(.rounds) rounds (least-most); beneath, the ratio to tcp's in the same round",
(select(.mitigations == "off") | "the nodes were booted with mitigations=off"),
section("sockperf, us"; "sockperf"),
section("qperf tcp_lat, us"; "qperf_lat"),
section("netpipe, us"; "netpipe"),
section("iperf3, MB/s"; "iperf3"),
section("qperf tcp_bw, MB/s"; "qperf_bw"),
section("rstream, MB/s"; "rstream"),
(notes | to_entries[] | "\(if .key == 0 then "\n" else "" end)[\(.key + 1)] \(.value.path), \(.value.program): \(.value.why)")
