#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sockmap.sh up|down|went: on a node, redirect the connections of all processes in
# the cgroup /sys/fs/cgroup/sockmap (sockmap.bpf.c); stop that; fail if TCP has
# carried what they sent.
set -euo pipefail

OBJECT=$SANX_TREE/build/bench/sockmap.o
GROUP=/sys/fs/cgroup/sockmap
PINS=/sys/fs/bpf/sockmap
LO_BYTES=/sys/class/net/lo/statistics/tx_bytes
LO_BEFORE=/run/sockmap.lo

# sk_msg comes first: sockets take it from the map when they join.
up() {
	mkdir -p "$GROUP"
	bpftool prog loadall "$OBJECT" "$PINS" pinmaps "$PINS"
	bpftool prog attach pinned "$PINS/redirect" msg_verdict pinned "$PINS/ends"
	bpftool cgroup attach "$GROUP" sock_ops pinned "$PINS/join"
	cat "$LO_BYTES" >"$LO_BEFORE"
}

# While a program is attached anywhere, TCP looks for programs everywhere.
down() {
	bpftool cgroup detach "$GROUP" sock_ops pinned "$PINS/join"
	rm -r "$PINS"
}

# count NUMBER: a value of enum count.
count() {
	bpftool -j map lookup pinned "$PINS/counts" key "$1" 0 0 0 | jq -e .formatted.value
}

# went: over lo there are handshakes and the ends of streams, no more.
went() {
	local joined not_joined redirected lo
	joined=$(count 0)
	not_joined=$(count 1)
	redirected=$(count 2)
	lo=$(($(<"$LO_BYTES") - $(<"$LO_BEFORE")))
	echo "sockmap: $joined ends joined the hash, $not_joined did not;" \
		"$redirected bytes were redirected, lo had $lo" >&2
	[ "$joined" -gt 0 ] && [ "$not_joined" = 0 ] && [ "$redirected" -gt $((lo * 10)) ]
}

case ${1:-} in
up | down | went) "$1" ;;
*) echo "usage: sockmap.sh up|down|went" >&2 && exit 2 ;;
esac
