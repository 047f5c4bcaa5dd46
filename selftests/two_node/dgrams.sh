#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Programs that speak UDP and know nothing of AF_SANX: on one node their datagrams go
# over loop if both ends are AF_SANX's, else and between nodes they are UDP.
# kernels: 6.1 um
# no rail: nothing goes over a link
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

BOTH="sanx-run --dgram --strict"
LIMIT=$((120 * SLOW))

# udp_ready N PORT: a UDP socket is bound there.
udp_ready() {
	lab run "$1" "ss -Huln 'sport = :$2' | grep -q ." </dev/null
}

# pair NAME SERVER-NODE PREFIX CLIENT-NODE PREFIX PORT SERVER CLIENT
pair() {
	local name=$1 on=$2 port=$6
	remember
	background "$on" "exec $3 $7"
	if ! eventually 30 "udp_ready $on $port"; then
		sed 's/^/# /' "$LAST_LOG"
		fail "$name: the server starts"
		return
	fi
	check "$name" timeout "$LIMIT" "$SANX_TREE/scripts/lab" run "$4" "$5 $8"
	stop "$LAST"
}

# went N LOOP UDP: at least so many datagrams of node N over loop, and over UDP; 0 is none,
# but for the first of a socket, which gives it a port.
went() {
	local loop udp
	loop=$(moved "$1" dgrams_loop)
	udp=$(moved "$1" dgrams_udp)
	echo "$loop over loop, $udp over UDP"
	if [ "$2" = 0 ]; then [ "$loop" = 0 ]; else [ "$loop" -ge "$2" ]; fi &&
		if [ "$3" = 0 ]; then [ "$udp" -le 20 ]; else [ "$udp" -ge "$3" ]; fi
}

PING="sockperf ping-pong -p 11111 -t 2 -m 200 -i"

# client N PREFIX ADDRESS: iperf3 there; they are not sent faster than the receiver reads,
# so few are lost.
client() {
	local out
	out=$(timeout "$LIMIT" "$SANX_TREE/scripts/lab" run "$1" \
		"$2 iperf3 -u -b 20M -n 4M -l 8000 -c $3" </dev/null) || return
	echo "$out"
	awk '$NF == "receiver" { lost = $(NF - 1); gsub(/[()%]/, "", lost); seen = 1 }
		END { exit !(seen && lost + 0 < 20) }' <<<"$out"
}

# iperf NAME SERVER-PREFIX NODE PREFIX ADDRESS: one client, for which the server on node 1
# has a UDP socket.
iperf() {
	remember
	background 1 "exec $2 iperf3 -s -1"
	wait_port 1 5201
	check "$1" client "$3" "$4" "$5"
	stop "$LAST"
}

plan 14
iperf "iperf3" "$BOTH" 1 "$BOTH" 127.0.0.1
check "iperf3: over loop" went 1 400 0
iperf "iperf3, client only" "" 1 "$BOTH" 127.0.0.1
check "iperf3, client only: over UDP" went 1 0 400
iperf "iperf3, server only" "$BOTH" 1 "" 127.0.0.1
check "iperf3, server only: nothing over loop" went 1 0 0
iperf "iperf3, two nodes" "$BOTH" 2 "$BOTH" 10.77.0.1
check "iperf3, two nodes: over UDP" went 2 0 400
pair "sockperf" 1 "$BOTH" 1 "$BOTH" 11111 "sockperf server -p 11111 -i 10.77.0.1" "$PING 10.77.0.1"
check "sockperf: over loop" went 1 100 0
pair "sockperf, two nodes" 1 "$BOTH" 2 "$BOTH" 11111 "sockperf server -p 11111 -i 10.77.0.1" "$PING 10.77.0.1"
check "sockperf, two nodes: over UDP" went 2 0 100

# The administrator asks for it, and not the command.
node1 'sysctl -qw net.sanx.dgram=1'
pair "sockperf, by sysctl" 1 "sanx-run --strict" 1 "sanx-run --strict" 11111 \
	"sockperf server -p 11111 -i 10.77.0.1" "$PING 10.77.0.1"
check "sockperf, by sysctl: over loop" went 1 100 0
node1 'sysctl -qw net.sanx.dgram=0'
