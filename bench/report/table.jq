# SPDX-License-Identifier: GPL-2.0
# The figures of a run as text: measure by path, then what was asked for.

# Those that were measured, or should have been, in this order.
def paths:
	. as $all
	| ["eventfd", "unix", "tcp", "sockmap", "loop", "fallback", "fb-link", "fb-option",
	   "tcp-rail", "verbs", "rsockets", "raw"]
	| map(select(. as $path | $all
		| (.figures | has($path)) or any(.missing[]; startswith($path + ":"))));

def left($n): . + " " * ([$n - length, 0] | max);
def right($n): " " * ([$n - length, 0] | max) + .;

# Three digits that count.
def shown:
	if . == null then "-"
	elif . >= 100 then round | tostring
	elif . >= 10 then . * 10 | round / 10 | tostring
	elif . >= 1 then . * 100 | round / 100 | tostring
	else . * 1000 | round / 1000 | tostring
	end;

def size:
	tonumber | if . >= 1048576 then "\(. / 1048576) MiB"
	elif . >= 1024 then "\(. / 1024) KiB"
	else "\(.) B"
	end;

def header($title): ($title | left(26)) + (paths | map(right(10)) | add);

def row($name; $measure; $number):
	.figures as $f
	| ($name | left(26)) + (paths | map($f[.][$measure][$number] | shown | right(10)) | add);

def numbers($measure):
	[.figures[][$measure] // {} | keys[]] | unique | sort_by(tonumber);

# Earlier runs have not measured all.
def measured($measure): any(.figures[]; has($measure));
def has_path($path): paths | index($path) != null;

def section($title; $measure; name):
	"", header($title),
	(numbers($measure)[] as $n | row("  " + ($n | name); $measure; $n));

# What issue and documentation ask of AF_SANX: a figure, what it is held
# against, and the ratio at which it is good enough.
def figure($path; $measure; $number): .figures[$path][$measure][$number | tostring];

def ask($what; $mine; $theirs; $sense; $must; $aim):
	(if $mine and $theirs then $mine / $theirs else null end) as $ratio
	| ($what | left(58)) + ($mine | shown | right(8)) + ($theirs | shown | right(9))
	+ ($ratio | shown | right(8))
	+ ("\($must) or \(if $sense < 0 then "less" else "more" end)" | right(14))
	+ (if $ratio == null then "  not measured"
	   elif $sense * ($ratio - $must) >= 0 then "  met" else "  missed" end)
	+ (if $ratio != null and $sense * ($ratio - $aim) >= 0 then ", and the aim of \($aim)" else "" end);

def atmost($what; $mine; $theirs; $must; $aim): ask($what; $mine; $theirs; -1; $must; $aim);
def atleast($what; $mine; $theirs; $must; $aim): ask($what; $mine; $theirs; 1; $must; $aim);

def asked:
	. as $all
	| def f($p; $m; $n): $all | figure($p; $m; $n);
	  def larger($a; $b): if $a and $b then [$a, $b] | max else null end;
	("what must be" | left(58)) + ("figure" | right(8)) + ("against" | right(9))
		+ ("ratio" | right(8)) + ("must" | right(14)) + "  ",
	atmost("loop, latency of 1 B, against tcp";
		f("loop"; "latency"; 1); f("tcp"; "latency"; 1); 0.5; 0.4),
	atmost("loop, latency of 1 B, against unix";
		f("loop"; "latency"; 1); f("unix"; "latency"; 1); 0.75; 0.6),
	atleast("loop, stream of 64 KiB, against unix";
		f("loop"; "stream"; 65536); f("unix"; "stream"; 65536); 1.3; 2),
	atleast("loop, stream of 1 KiB, against the better of unix and tcp";
		f("loop"; "stream"; 1024);
		larger(f("unix"; "stream"; 1024); f("tcp"; "stream"; 1024)); 2; 4),
	atmost("loop, connect + accept + close, against tcp";
		f("loop"; "cycle"; 0); f("tcp"; "cycle"; 0); 0.6; 0.4),
	atmost("verbs, latency of 1 B, against raw";
		f("verbs"; "latency"; 1); f("raw"; "latency"; 1); 1.05; 0.9),
	atleast("verbs, stream of 64 KiB, against raw";
		f("verbs"; "stream"; 65536); f("raw"; "stream"; 65536); 0.85; 0.95),
	atleast("verbs, stream of 1 KiB, against rsockets";
		f("verbs"; "stream"; 1024); f("rsockets"; "stream"; 1024); 5; 8),
	(select(measured("large"))
	| atmost("loop, 1 B, buffer of 256 KiB, against tcp";
		f("loop"; "large"; 1); f("tcp"; "large"; 1); 0.38; 0.33),
	  atmost("verbs, 1 B, buffer of 256 KiB, against raw";
		f("verbs"; "large"; 1); f("raw"; "latency"; 1); 0.72; 0.65)),
	(select(has_path("sockmap"))
	| atmost("loop, 1 B, buffer of 256 KiB, against sockmap";
		f("loop"; "large"; 1); f("sockmap"; "large"; 1); 0.73; 0.6),
	  atleast("loop, 64 KiB, TCP_NODELAY, against sockmap";
		f("loop"; "nodelay"; 65536); f("sockmap"; "nodelay"; 65536); 1.35; 1.6)),
	(select(measured("nodelay"))
	| atleast("loop, 1 KiB, TCP_NODELAY, against the better of unix and tcp";
		f("loop"; "nodelay"; 1024);
		larger(f("unix"; "nodelay"; 1024); f("tcp"; "nodelay"; 1024)); 2; 4),
	  atleast("verbs, 1 KiB, TCP_NODELAY, against rsockets";
		f("verbs"; "nodelay"; 1024); f("rsockets"; "nodelay"; 1024); 5; 8),
	  ((16384, 65536) as $size
	  | atleast("verbs, \($size | size), TCP_NODELAY, against raw";
		f("verbs"; "nodelay"; $size); f("raw"; "stream"; $size); 0.85; 0.95))),
	(select(measured("dgram"))
	| atmost("loop, datagram of 1 B, against UDP";
		f("loop"; "dgram"; 1); f("tcp"; "dgram"; 1); 0.5; 0.5),
	  atleast("loop, datagrams of 1 KiB, against UDP";
		f("loop"; "dgrams"; 1024); f("tcp"; "dgrams"; 1024); 2; 2),
	  atleast("loop, datagrams of 16 KiB, against UDP";
		f("loop"; "dgrams"; 16384); f("tcp"; "dgrams"; 16384); 3; 3)),
	(select((.figures.verbs // {}) | has("dgram"))
	| atmost("verbs, datagram of 1 B, against raw";
		f("verbs"; "dgram"; 1); f("raw"; "latency"; 1); 1; 1)),
	atleast("verbs, stream of 1 KiB, against tcp";
		f("verbs"; "stream"; 1024); f("tcp"; "stream"; 1024); 1; 1),
	atmost("verbs, connect() on a warm link, against rsockets";
		f("verbs"; "connect"; 0); f("rsockets"; "connect"; 0); 0.02; 0.02),
	atmost("verbs, connect() on a warm link, against tcp (an aim)";
		f("verbs"; "connect"; 0); f("tcp"; "connect"; 0); 1; 1),
	(("fallback", "fb-link", "fb-option") as $p
	| select($p == "fallback" or has_path($p))
	| atmost("\($p), latency of 1 B, against tcp";
		f($p; "latency"; 1); f("tcp"; "latency"; 1); 1.01; 1.01),
	  atleast("\($p), stream of 64 KiB, against tcp";
		f($p; "stream"; 65536); f("tcp"; "stream"; 65536); 0.99; 0.99)),
	(select(has_path("tcp-rail"))
	| (16384, 65536) as $size
	| atleast("tcp-rail, stream of \($size | size), against tcp";
		f("tcp-rail"; "stream"; $size); f("tcp"; "stream"; $size); 0.8; 0.9)),
	(select(has_path("tcp-rail") and measured("nodelay"))
	| ((1024, 65536) as $size
	  | atleast("tcp-rail, \($size | size), TCP_NODELAY, against tcp";
		f("tcp-rail"; "nodelay"; $size); f("tcp"; "nodelay"; $size); 0.8; 0.9)),
	  atmost("tcp-rail, 1 B, buffer of 256 KiB, against tcp";
		f("tcp-rail"; "large"; 1); f("tcp"; "large"; 1); 1.3; 1.1)),
	(("loop", "verbs") as $p
	| atmost("\($p), idle connection, both ends, against 16 KiB";
		f($p; "idle"; 0); 16384; 1; 0.5),
	  atmost("\($p), the same after a byte each way";
		f($p; "used"; 0); 16384; 1; 0.5)),
	(("loop", "verbs") as $p
	| atleast("\($p), 4096 streams, least against mean share";
		f($p; "fair"; 4096); 1; 0.5; 0.8));

"AF_SANX \(.version) on \(.kernel), counted in instructions: 1 us is 1000 instructions",
(select(.mitigations == "off") | "the node was booted with mitigations=off"),
section("latency, us"; "latency"; size),
section("stream, MB/s, writes of"; "stream"; size),
section("CPU, ns a byte, same"; "cpu"; size),
(select(measured("large")) | section("latency, buffer 256 KiB"; "large"; size)),
(select(measured("nodelay")) | section("TCP_NODELAY, MB/s"; "nodelay"; size)),
(select(measured("dgram")) | section("datagrams, us"; "dgram"; size)),
(select(measured("dgrams")) | section("datagrams, MB/s"; "dgrams"; size)),
"", header("connections"),
row("  connect(), us"; "connect"; "0"),
row("  connect+accept+close, us"; "cycle"; "0"),
row("  short connection, us"; "short"; "0"),
row("  idle, bytes, both ends"; "idle"; "0"),
row("  after a byte each way"; "used"; "0"),
section("streams at once, MB/s"; "many"; .),
section("  least / mean share"; "fair"; .),
"", asked
