#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Programs that speak UDP and know nothing of AF_SANX: on one node their datagrams go
# over loop if both ends are AF_SANX's, else they are UDP; between nodes they go by a link if
# there is a node map.
# kernels: 6.1 um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/dgram_lib.sh
. "$(dirname "$0")/dgram_lib.sh"

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

# both_ways COUNT: at least so many by a link of either node.
both_ways() {
	at_least 1 dgrams_verbs "$1" && at_least 2 dgrams_verbs "$1"
}

PING="sockperf ping-pong -p 11111 -t 2 -m 200 -i"

# What iperf3 sends: datagrams that are longer than a packet; and those that even a slow
# node takes from the wire, where IP would make six packets of one of the others.
LONG="-b 20M -n 4M -l 8000"
SHORT="-b 2M -n 700K -l 1400"

# client N PREFIX ADDRESS WHAT: iperf3 there; WHAT is not sent faster than the receiver reads,
# so few are lost.
client() {
	local out
	out=$(timeout "$LIMIT" "$SANX_TREE/scripts/lab" run "$1" \
		"$2 iperf3 -u $4 -c $3" </dev/null) || return
	echo "$out"
	awk '$NF == "receiver" { lost = $(NF - 1); gsub(/[()%]/, "", lost); seen = 1 }
		END { exit !(seen && lost + 0 < 20) }' <<<"$out"
}

# iperf NAME SERVER-PREFIX NODE PREFIX ADDRESS [WHAT]: one client, for which the server on node 1
# has a UDP socket.
iperf() {
	remember
	background 1 "exec $2 iperf3 -s -1"
	wait_port 1 5201
	check "$1" client "$3" "$4" "$5" "${6:-$LONG}"
	stop "$LAST"
}

plan 22
iperf "iperf3" "$BOTH" 1 "$BOTH" 127.0.0.1
check "iperf3: over loop" went 1 400 0
iperf "iperf3, client only" "" 1 "$BOTH" 127.0.0.1
check "iperf3, client only: over UDP" went 1 0 400
iperf "iperf3, server only" "$BOTH" 1 "" 127.0.0.1
check "iperf3, server only: nothing over loop" went 1 0 0
iperf "iperf3, two nodes" "$BOTH" 2 "$BOTH" 10.77.0.1 "$SHORT"
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

load_verbs
nodemap_std
# A node has a datagram socket, before the other one asks it for connections.
server 1 5091
server 2 5091
iperf "iperf3, by a link" "$BOTH" 2 "$BOTH" 10.77.0.1
check "iperf3, by a link: those of the client" at_least 2 dgrams_verbs 300
iperf "iperf3, client only, by a link" "" 2 "$BOTH" 10.77.0.1
check "iperf3, client only, by a link: the server gets them from the stack" at_least 2 dgrams_verbs 300
pair "sockperf, by a link" 1 "$BOTH" 2 "$BOTH" 11111 \
	"sockperf server -p 11111 -i 10.77.0.1" "$PING 10.77.0.1"
check "sockperf, by a link: both ways" both_ways 100
pair "sockperf, server only, by a link" 1 "$BOTH" 2 "" 11111 \
	"sockperf server -p 11111 -i 10.77.0.1" "$PING 10.77.0.1"
check "sockperf, server only, by a link: what the server sends" at_least 1 dgrams_verbs 100
