#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh: see AF_SANX at work, on two virtual nodes, in a few minutes.
#
# Nothing on this machine is changed but for the packages that are missing.
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"

export SANX_LAB=demo-$$
KERNEL=6.1
SECONDS_EACH=4

title() {
	printf '\n\033[1m%s\033[0m\n' "$*"
}

tell() {
	printf '%s\n' "$@" | fold -s -w 78
}

# show N CMD...: say what is run on node N, and run it.
show() {
	local n=$1
	shift
	printf '\nnode%s$ %s\n' "$n" "$*"
	lab run "$n" "$*" </dev/null | sed 's/^/    /'
}

prepare() {
	title "1. Getting ready"
	tell "Building two kernel modules and three tools, and booting two virtual machines with Debian's own kernel $KERNEL. A virtual wire joins them; this computer's network is not touched."
	"$SCRIPTS/deps.sh" build lab programs
	"$SCRIPTS/build-modules.sh" "$KERNEL"
	make -s -C "$SANX_TREE/tools" O="$SANX_TREE/build/tools"
	"$SCRIPTS/lab" up --kernel "$KERNEL" --owner $$
	# shellcheck source=scripts/lablib.sh
	. "$SCRIPTS/lablib.sh"
	trap 'lab down' EXIT
}

configure() {
	title "2. Switching AF_SANX on"
	tell "Each node gets a software RDMA device (with real RDMA hardware this step is not there), the modules, and a node map that says which addresses are nodes like itself. That is all the configuration there is."
	fresh
	load_verbs
	nodemap_std
	show 1 rdma link
	show 1 sanxctl nodemap show
}

# mbits N CMD...: what an iperf3 client on node N says it received, in Mbit/s.
mbits() {
	lab run "$@" -J -t "$SECONDS_EACH" </dev/null |
		jq -r '(.end.sum_received.bits_per_second / 1e6 * 10 | round) / 10'
}

# usec N CMD...: what sockperf says a message takes one way.
usec() {
	lab run "$@" -t "$SECONDS_EACH" </dev/null 2>&1 |
		sed -n 's/.*Latency is \([0-9.]*\) usec.*/\1/p'
}

# serve N: the servers of both tests; they listen for TCP and for AF_SANX.
serve() {
	background "$1" sanx-run iperf3 -s
	background "$1" sanx-run sockperf server --tcp -p 11111
	wait_port "$1" 5201
	wait_port "$1" 11111
}

measure() {
	title "3. The same programs, over TCP and over AF_SANX"
	tell "iperf3 and sockperf are Debian's own, unmodified. What changes is the word sanx-run in front. The server side listens for both, so one server answers all clients. Each figure takes $SECONDS_EACH seconds."
	serve 1
	tell "" "Between the nodes ..."
	TCP_MBITS=$(mbits 2 iperf3 -c node1)
	SANX_MBITS=$(mbits 2 sanx-run --strict iperf3 -c node1)
	TCP_USEC=$(usec 2 sockperf ping-pong --tcp -i 10.77.0.1 -p 11111)
	SANX_USEC=$(usec 2 sanx-run --strict sockperf ping-pong --tcp -i 10.77.0.1 -p 11111)
	tell "Inside one node ..."
	LO_TCP_MBITS=$(mbits 1 iperf3 -c 127.0.0.1)
	LO_SANX_MBITS=$(mbits 1 sanx-run --strict iperf3 -c 127.0.0.1)
	LO_TCP_USEC=$(usec 1 sockperf ping-pong --tcp -i 127.0.0.1 -p 11111)
	LO_SANX_USEC=$(usec 1 sanx-run --strict sockperf ping-pong --tcp -i 127.0.0.1 -p 11111)
}

watch() {
	title "4. Looking inside"
	tell "While an iperf3 runs from node2 to node1, node2 can say what it is doing:"
	background 2 sanx-run iperf3 -c node1 -t 5
	eventually 5 "lab run 2 'sanxctl socket show | grep -q 5201'" || true
	show 2 sanxctl link show
	show 2 sanxctl socket show
	show 2 sanxctl stats show
	wait "$LAST" || true
}

fall_back() {
	local before after
	title "5. When it cannot be AF_SANX, it is TCP"
	tell "A rule on node2 now denies AF_SANX to iperf3's port. The same command still works, as plain TCP, and the reason is counted:"
	show 2 "echo 'deny 5201' | sanxctl ports load -"
	before=$(stat 2 fallback_port)
	show 2 "sanx-run iperf3 -c node1 -t 1 | grep -E 'receiver|sender'"
	after=$(stat 2 fallback_port)
	tell "" "fallback_port went from $before to $after."
}

table() {
	title "6. The figures"
	printf '\n%-34s %12s %12s\n' "" "TCP" "AF_SANX"
	printf '%-34s %12s %12s\n' \
		"node to node, Mbit/s" "$TCP_MBITS" "$SANX_MBITS" \
		"node to node, usec one way" "$TCP_USEC" "$SANX_USEC" \
		"one node, Mbit/s" "$LO_TCP_MBITS" "$LO_SANX_MBITS" \
		"one node, usec one way" "$LO_TCP_USEC" "$LO_SANX_USEC"
	tell "" "These machines are emulated and the RDMA device is software on top of the same virtual wire, so between nodes the figures say that it works, not how fast hardware is; they also vary from run to run."
	tell "" "To try things yourself: make nodes"
}

prepare
configure
measure
watch
fall_back
table
title "Done; switching the nodes off."
