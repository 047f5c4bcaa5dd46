#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# syz.sh: calls at random, as scripts/syzkaller/sanx.txt describes them, on a native debug
# kernel, guided by what of the modules they cover (KCOV).  fuzz/calls/ makes the calls;
# a second node plays the peer.
#
# MINUTES (10) says how long: a third of it with connections of the node to itself over
# loop, the rest with the same over verbs.  SEED begins with the same programs.
# REPLAY=FILE runs the programs of a log again, over verbs, or with LOOP=1 over loop.
#
# Ends with what was covered, by folder and file.  Fails if a kernel complained, a call
# hung or memory was lost.  What is found is in build/syz/: the programs that ran last
# (programs-*.log), and the consoles.
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"
MINUTES=${MINUTES:-10} SEED=${SEED:-$RANDOM$RANDOM}
# A node sees the files of this machine.
REPLAY=${REPLAY:+$(realpath "$REPLAY")}
OUT=$SANX_TREE/build/syz
PROCS=3
# Bytes of programs to keep: those before them have not done it.
LOG_BYTES=16000000
DESC=("$SCRIPTS/syzkaller/sanx.txt.const" "$SCRIPTS/syzkaller/prelude.txt" "$SCRIPTS/syzkaller/sanx.txt")

# Each report to KCOV loads its address anew, so that sites() finds them all; User Mode
# Linux is too large for direct calls.
APART="-fno-gcse -fno-tree-pre -fno-rerun-cse-after-loop -fno-cse-follow-jumps -fno-move-loop-invariants"

# The modules are built anew for this, with coverage and line numbers, in a folder of
# their own.
build() {
	local ksrc
	ksrc=$("$SCRIPTS/kernel/source.sh" 6.12)
	mkdir -p "$OUT"
	"$SCRIPTS/syzkaller/consts.sh" | cmp -s - "${DESC[0]}" ||
		die "sanx.txt.const is not what scripts/syzkaller/consts.sh makes"
	BUILD=$OUT/modules "$SCRIPTS/build-modules.sh" um KCOV_INSTRUMENT=y KCFLAGS="-g $APART"
	make -s -C "$SANX_TREE/tools" O="$SANX_TREE/build/tools"
	make -s -C "$SANX_TREE/selftests" O="$SANX_TREE/build/selftests" KSRC="$ksrc" \
		"$SANX_TREE/build/selftests/bin/hostile"
	make -s -C "$SANX_TREE/fuzz/calls" O="$OUT"
	"$OUT/calls" list "${DESC[@]}" >/dev/null
}

# Programs change these; what they lose is given back every second.
# shellcheck disable=SC2016
GOOD='sanxctl nodemap load - <<-END
	10.77.0.1 1
	10.77.0.2 2
	fd77::1 1 10.77.0.1
	fd77::2 2 10.77.0.2
	END
	echo deny 5003 | sanxctl ports load -
	sanxctl key show | awk "/^[0-9d]/ { print \$1 }" | while read -r n; do sanxctl key del "$n"; done'

# bring_up LOOP: only a program speaks for node 2.  Links are set up often, and given up
# soon.
bring_up() {
	load_sanx 1 "loop=$1" link_hold_ms=1 link_timeout_ms=400 heartbeat_ms=200 || return 1
	lab rdma 0 rxe || return 1
	node1 insmod "$MODULES/sanx_verbs.ko" </dev/null || return 1
	node1 'sysctl -qw net.sanx.setups_peer=100000 net.sanx.idle_ms=200' </dev/null
	background 2 "while :; do $SANX_TREE/build/selftests/bin/hostile 10.77.0.1 obey 10.77.0.2; sleep 0.1; done"
	background 1 "while :; do $GOOD; sleep 1; done >/dev/null 2>&1"
	sleep 2
}

# keep_last FILE: of standard input the last bytes, in two files.
keep_last() {
	local i=0
	while head -c "$LOG_BYTES" >"$1.$((i % 2)).log" && [ -s "$1.$((i % 2)).log" ]; do i=$((i + 1)); done
}

# watch: what the generator says of itself.
watch() {
	tee >(keep_last "$1") | grep --line-buffered -E '^# |^HANG|:[0-9]+: ' >&2 || true
}

# phase NAME LOOP SECONDS
phase() {
	say "$1: $3 s, SEED=$SEED"
	bring_up "$2" || return 1
	[ ! -s "$OUT/corpus" ] || node1 cp "$OUT/corpus" /tmp/corpus </dev/null || return 1
	lab run 1 "$OUT/calls" run "$3" "$SEED" "$PROCS" /tmp/corpus /tmp/cover "${DESC[@]}" \
		</dev/null 2>&1 | watch "$OUT/programs-$1" || return 1
	node1 'cat /tmp/cover' </dev/null >"$OUT/cover-$1" || return 1
	node1 'cat /tmp/corpus' </dev/null >"$OUT/corpus" || return 1
	take_down
}

take_down() {
	local pid
	for pid in "${LAB_BACKGROUND[@]}"; do stop "$pid"; done
	LAB_BACKGROUND=()
	unload_sanx 1
}

replay() {
	bring_up "${LOOP:-0}" || return 1
	lab run 1 "$OUT/calls" again "$REPLAY" "${DESC[@]}" </dev/null 2>&1 |
		watch "$OUT/programs-again" || return 1
	take_down
}

# sites MODULE: where its code reports that it runs, an offset in .text each: behind a call
# of a register that has just got the address of what it reports to.
sites() {
	objdump -dr --no-show-raw-insn -j .text "$OUT/modules/$1.ko" | awk '
		/__sanitizer_cov_trace_pc/ { loaded = 1; next }
		/^ *[0-9a-f]+:/ && called { print substr($1, 1, length($1) - 1); called = 0 }
		loaded && /call / { called = 1; loaded = 0 }'
}

# report: places that were covered, of those that there are, by file and by folder.
report() {
	local m
	for m in af_sanx sanx_verbs; do
		sites "$m" | sort >"$OUT/sites"
		paste "$OUT/sites" <(addr2line -j .text -e "$OUT/modules/$m.ko" <"$OUT/sites") |
			sed 's/ (discriminator.*//' |
			awk -v m="$m" 'NR == FNR { seen[$1 " " $2] = 1; next }
				{ sub(/:[0-9?]*$/, "", $2); sub(/.*\/af_sanx\//, "", $2); sub(/.*\/include\//, "include/", $2)
				  all[$2]++; got[$2] += (m " " $1) in seen }
				END { for (f in all) print f, got[f], all[f] }' \
				<(cat "$OUT"/cover-*) -
	done | sort | awk '
		{ n = split($1, part, "/"); d = n > 1 ? part[1] : "."
		  got[d] += $2; all[d] += $3; g += $2; a += $3
		  printf "# %4d of %4d  %s\n", $2, $3, $1 }
		END {
			for (d in all) printf "# %4d of %4d  %3d %%  %s/\n", got[d], all[d], 100 * got[d] / all[d], d
			printf "# %d of %d places of the modules were covered\n", g, a
		}'
}

# result NAME CMD...: a line, and whether all is well in the end.
FAILED=0
result() {
	local name=$1
	shift
	if "$@" </dev/null >&2; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		FAILED=1
	fi
}

# leaks: what is loaded anew comes to where it was, so addresses keep their names.
leaks() {
	load_sanx 1 && node1 insmod "$MODULES/sanx_verbs.ko" </dev/null &&
		node1 "$SCRIPTS/guest/leaks" </dev/null
}

build
rm -f "$OUT"/cover-* "$OUT"/programs-*.log "$OUT"/corpus
export SANX_LAB=syz-$$
"$SCRIPTS/lab" up --um --nodes 2 --owner $$
# shellcheck source=scripts/lablib.sh
. "$SCRIPTS/lablib.sh"
MODULES=$OUT/modules
# shellcheck disable=SC2016
at_exit 'cp "$LAB_RUN"/*.console "$OUT/"; lab down'
load_sanx 1 && unload_sanx 1
node1 "$SCRIPTS/guest/leaks" before </dev/null
if [ -n "$REPLAY" ]; then
	result "the programs of $REPLAY come to their end" replay
else
	seconds=$(awk "BEGIN { print int(60 * $MINUTES) }")
	result loop phase loop 1 $((seconds / 3))
	result verbs phase verbs 0 $((seconds - seconds / 3))
	report
fi
result "no memory is lost" leaks
result "the modules go" unload_sanx 1
result "the kernel logs are clean" lab splat
[ "$FAILED" = 0 ] || die "programs: build/syz/programs-*.log, for REPLAY=FILE; SEED=$SEED"
