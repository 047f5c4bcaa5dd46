#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What one stream would gain from two rails: the same stream over one connection, and in
# chunks by turns over two, one on each rail (bin/stripe.c).  With rails that carry little,
# and with rails that carry more than the nodes can copy.  Documentation/scaling.rst says
# what follows from it.
# kernels: um
# timeout: 900
# long: figures for Documentation/scaling.rst; make selftests TEST=stripes
# no rail: the node map has rails of both kinds
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/rail_devices.sh
. "$(dirname "$0")/rail_devices.sh"

SECONDS_EACH=5
ROUNDS=3
PORT=5080

clean_up() {
	limit
	stop_all
	nodes "sysctl -qw net.sanx.rail_policy=in-order; sanxctl nodemap flush" || true
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null || true
	remove_rails
}

# spread: bytes that each RDMA rail has carried from node 2 on.
spread() {
	lab run 2 "sanxctl -j rail show" </dev/null |
		jq -r '[sort_by(.rail)[] | select(.rail < 2) | .tx_bytes] | join(" ")'
}

# stream CONNECTIONS: KiB a second of one stream, to RATE.
stream() {
	local bytes ms
	PORT=$((PORT + 1))
	background 1 "exec sanx-run --strict $BIN/stripe serve $PORT $1"
	wait_port 1 $PORT
	read -r bytes ms < <(lab run 2 "sanx-run --strict $BIN/stripe send 10.77.0.1 $PORT $1 \
		$SECONDS_EACH" </dev/null)
	check "the reader has all of it in order" says "$LAST_LOG" "^done $bytes\$"
	RATE=$((bytes * 1000 / 1024 / ms))
}

# median N...
median() {
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

# compare NAME: ONE and TWO are KiB a second over one connection and over two.
compare() {
	local i one=() two=() a b c d
	for ((i = 0; i < ROUNDS; i++)); do
		stream 1
		one+=("$RATE")
		read -r a b < <(spread)
		stream 2
		two+=("$RATE")
		read -r c d < <(spread)
		check "$1: each rail carries half" \
			[ $(((c - a) * 10)) -gt $(((d - b) * 9)) -a $(((d - b) * 10)) -gt $(((c - a) * 9)) ]
	done
	ONE=$(median "${one[@]}") TWO=$(median "${two[@]}")
	echo "# $1: $ONE KiB/s over one connection, $TWO over two"
}

plan $((2 * 3 * ROUNDS + 1))
at_exit clean_up
make_rails
nodes "echo 2 >/sys/module/af_sanx/parameters/lanes
	sysctl -qw net.sanx.rail_policy=round-robin
	insmod $MODULES/sanx_verbs.ko"
nodes 'sanxctl nodemap load - <<-END
	10.77.0.1 1 rdma:10.78.0.1 rdma:10.79.0.1
	10.77.0.2 2 rdma:10.78.0.2 rdma:10.79.0.2
	END'
peer_up() {
	lab run 2 "sanxctl -j link show" </dev/null |
		jq -e '[.[] | select(.state == "up" and (.standby | not)) | .rail] | unique | length == 2'
}
serve 1 5070 echo
peer 2 connect 10.77.0.1 5070 ping 1 shut end >/dev/null
eventually 30 peer_up >/dev/null
limit 5mbit
compare "5 Mbit/s each"
check "rails that carry little: two carry almost twice as much" [ $((TWO * 10)) -gt $((ONE * 17)) ]
limit
compare "no limit"
