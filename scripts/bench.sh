#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh: what AF_SANX costs beside its peers, counted in instructions.
#
# One node, stock kernel, every path in one run.  Writes a table, JSON and two
# plots to $OUT, by default build/bench/results; BASELINE=JSON of an earlier run
# shows what has changed since.  PATHS="loop tcp" measures only these.  What cannot
# be measured is named at the end, and is a failure.
# bench-nodes.sh is the second part, over two nodes and by a wall clock.
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"

export SANX_LAB=bench-$$
KERNEL=6.1
PATHS=${PATHS:-eventfd unix tcp sockmap loop fallback fb-link fb-option tcp-rail verbs rsockets raw}
REPORT=$SANX_TREE/bench/report
# shellcheck source=bench/report/commit.sh
. "$REPORT/commit.sh"
SOCKMAP=$SANX_TREE/bench/sockmap/sockmap.sh
FIGURES=$SANX_TREE/build/bench/figures
FILES=(table.txt bench.json latency.svg bandwidth.svg)

prepare() {
	"$SCRIPTS/deps.sh" build lab bench
	"$SCRIPTS/build-modules.sh" "$KERNEL"
	make -s -C "$SANX_TREE/tools" O="$SANX_TREE/build/tools"
	make -s -C "$SANX_TREE/bench" O="$SANX_TREE/build/bench" all sockmap
	# 4096 connections of every kind have room.
	"$SCRIPTS/lab" up --kernel "$KERNEL" --nodes 1 --icount --mem 4096 --owner $$
	# shellcheck source=scripts/lablib.sh
	. "$SCRIPTS/lablib.sh"
	trap 'lab down' EXIT
	# An RDMA device of 1500 bytes would have packets of 1024.
	node1 ip link set eth0 mtu 9000
}

# A node that nobody is, behind an address that is this node's: with loop=0 a
# connect there waits for a link once, and then finds the backoff, which lasts.
without_link() {
	load_sanx 1 loop=0 link_hold_ms=3600000 && load_verbs &&
		node1 ip addr replace 10.77.0.5/32 dev lo &&
		node1 'sanxctl nodemap load -' <<-END
			10.77.0.1 1
			10.77.0.5 5 10.77.0.9
		END
}

# enough_memory: 4096 streams take more than the part of this small node that connections
# may have by default (net.sanx.mem_mb); what it is without is in the figures' README.
enough_memory() {
	node1 sysctl -qw net.sanx.mem_mb=4096 net.sanx.mem_peer_percent=100
}

# ready PATH: what a path needs, and no more than that.
ready() {
	unload_sanx 1 || return
	case $1 in
	sockmap) node1 "$SOCKMAP" up ;;
	loop | fb-option) load_sanx 1 ;;
	fallback) load_sanx 1 && node1 "echo 'deny 1-65535' | sanxctl ports load -" ;;
	fb-link) without_link ;;
	tcp-rail) load_sanx 1 loop=0 && nodemap_rail && enough_memory ;;
	verbs) load_sanx 1 loop=0 && load_verbs && nodemap_std && enough_memory ;;
	rsockets | raw) lab rdma 1 rxe ;;
	esac
}

# took PATH COUNTER: the connections that clients asked for are counted there, and
# nowhere else.
took() {
	local counter n
	for counter in conns_{loop,verbs,tcp_rail} fallback_{unmapped,port,link,refused,option}; do
		n=$(stat 1 "$counter")
		if [ "$counter" = "$2" ]; then
			[ "$n" -gt 0 ] || die "$1: $counter is 0"
		else
			[ "$n" = 0 ] || die "$1: $counter is not 0"
		fi
	done
}

# carried PATH COUNTER: datagrams that were UDP's would give UDP's figures.
carried() {
	[ "$(stat 1 "$2")" -gt "$(stat 1 dgrams_udp)" ] || die "$1: datagrams were UDP's"
}

# went PATH: a connection that went elsewhere would give another's figures.
went() {
	case $1 in
	sockmap)
		node1 "$SOCKMAP" went || die "sockmap: not all was redirected"
		node1 "$SOCKMAP" down || die "sockmap cannot be taken down"
		;;
	loop | verbs | tcp-rail)
		took "$1" "conns_${1/-/_}"
		carried "$1" "dgrams_${1/-/_}"
		;;
	fallback) took fallback fallback_port ;;
	fb-link) took fb-link fallback_link ;;
	fb-option) took fb-option fallback_option ;;
	esac
}

measure_all() {
	local path start rc
	: >"$FIGURES"
	for path in $PATHS; do
		start=$SECONDS
		ready "$path" || die "cannot make ready for $path"
		rc=0
		node1 "$SANX_TREE/bench/node.sh" "$path" </dev/null >>"$FIGURES" || rc=$?
		[ "$rc" = 0 ] || [ "$rc" = 3 ] || echo "$path failed with status $rc" >>"$FIGURES"
		went "$path"
		say "$path took $((SECONDS - start)) s"
	done
	lab splat || die "the node's kernel complained"
}

# failures: what there are no figures of.
failures() {
	sed -n 's/^\([a-z-]*\) failed /\1: /p' "$FIGURES"
}

# as_json: every figure by its path, measure and number.
as_json() {
	sed '/^[a-z-]* failed /d' "$FIGURES" | jq -Rn --arg kernel "$RELEASE" \
		--arg version "$VERSION" --arg commit "$COMMIT" --arg missing "$(failures)" \
		--arg mitigations "$(mitigations)" '
		reduce (inputs | split(" ")) as [$path, $measure, $number, $value]
		({ version: $version, commit: $commit, kernel: $kernel, mitigations: $mitigations,
		   units: "1 ns is 1 instruction", missing: ($missing / "\n") };
		.figures[$path][$measure][$number] = ($value | tonumber))'
}

report() {
	new_results "${FILES[@]}"
	as_json >"$RESULTS/bench.json"
	jq -r -f "$REPORT/table.jq" "$RESULTS/bench.json" >"$RESULTS/table.txt"
	"$REPORT/plot.sh" "$RESULTS/bench.json" "$RESULTS"
	cat "$RESULTS/table.txt"
	[ -z "${BASELINE:-}" ] ||
		jq -rn --slurpfile old "$BASELINE" --slurpfile new "$RESULTS/bench.json" -f "$REPORT/change.jq"
}

[ -z "${BASELINE:-}" ] || [ -r "$BASELINE" ] || die "no such file: $BASELINE"
begin_figures
prepare
measure_all
report
end_figures "$(failures | paste -sd ';')" "${FILES[@]}"
say "${FILES[*]} are in $OUT"
