#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ready.sh PORT SECONDS: on a node, wait until a server listens there, be it for
# TCP or, which is all that rsockets do, for RDMA connections.
set -u

port=$1
end=$((SECONDS + $2))
until ss -Hltn "sport = :$port" | grep -q . ||
	rdma resource show cm_id | grep -q "state LISTEN.*src-addr [^ ]*:$port "; do
	[ "$SECONDS" -lt "$end" ] || exit 1
	sleep 0.1
done
