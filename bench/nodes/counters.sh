#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# counters.sh: on a node, what says which way connections went; KEY VALUE lines.
set -euo pipefail

# Without awk and jq, which take longer to start here than this takes.
while read -r -a fields; do
	[[ "${fields[*]}" != Tcp:\ [0-9]* ]] || echo "tcp_segments ${fields[11]}"
done </proc/net/snmp
echo "rdma_packets $(</sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts)"
sanxctl stats show | while read -r key value; do echo "sanx_$key $value"; done
[ ! -d /sys/module/smc ] || "$SANX_TREE/build/bench/smc" stats |
	while read -r key value; do echo "smc_$key $value"; done
