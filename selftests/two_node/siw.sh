#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The same bytes over iWARP, which has no write with immediate data.  Stock kernels
# lack the driver.
# kernels: debug um
# last: a bug of siw (see known_bugs in scripts/lab.d/splat.sh) ends lockdep
# no rail: about iWARP
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

plan 11
nodes 'rdma link del rxe0 2>/dev/null || true'
at_exit 'unload_sanx 1; unload_sanx 2; nodes "rdma link del siw0"'
RDMA=siw load_verbs
nodemap_std
serve 1 5001 both 1M end
serve 1 5002 echo
remember
check "both directions at once" peer 2 connect 10.77.0.1 5001 both 1M shut end
check "many connections" peer 2 -n 20 connect 10.77.0.1 5002 ping 3 shut end
check "IPv6" peer 2 connect fd77::1 5001 both 1M shut end
check "a dialogue" peer 2 connect 10.77.0.1 5002 ping 100 shut end
check "over verbs at the client" moves 2 conns_verbs=23
check "over verbs at the server" moves 1 conns_verbs=23
check "by siw" node2 'sanxctl -j link show | jq -e ".[] | select(.device == \"siw0\")"'

# Who listens for links goes, and not the device: siw tells when it connects.
node2 "dmesg -C; echo 'module af_sanx func sanx_link_kill_locked +p' >/proc/dynamic_debug/control"
check "the server's module goes" eventually 30 "node1 rmmod sanx_verbs 2>/dev/null"
check "nobody listens for links: TCP" peer 2 connect 10.77.0.1 5002 ping 3 shut end
check "as a refusal" node2 "dmesg | grep -q 'link to node 1 ends: refused'"
insert_verbs 1

serve 2 5003 drain
background 1 "$PEER" -T "$PATIENCE" connect 10.77.0.2 5003 flood
says "$LAST_LOG" connected
node2 pkill -9 peer </dev/null
check "the reader is killed: the sender gets an error" says "$LAST_LOG" 'flood: (ECONNRESET|EPIPE)'
