#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A completion fails, with each status that there is.  Where a device or a cable has
# failed, connections go on over another link and miss nothing; where a message was
# wrong, they are reset.  No software device fails that way, so the module pretends.
# kernels: um debug
# clock: virtual a connection whose link does not come again within ten seconds is given up
# no rail: completions are RDMA's
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/clients.sh
. "$(dirname "$0")/clients.sh"

# Seconds until bytes flow again.
BOUND=$((20 * SLOW))
# Numbers of enum ib_wc_status, as in kunit/status_test.c.
LOST='2:LOC_QP_OP 5:WR_FLUSH 7:BAD_RESP 11:REM_OP 12:RETRY_EXC 13:RNR_RETRY_EXC
	16:REM_ABORT 19:FATAL 20:RESP_TIMEOUT 21:GENERAL'
FAULT='1:LOC_LEN 4:LOC_PROT 8:LOC_ACCESS 9:REM_INV_REQ 10:REM_ACCESS'
PARAM=/sys/module/sanx_verbs/parameters/fail_status

# fails N STATUS: the next frame of node N does, and one comes soon.
fails() {
	lab run "$1" "echo $2 >$PARAM" </dev/null
	eventually 10 "[ \"\$(lab run $1 cat $PARAM)\" = 0 ]"
}

map_rails() {
	nodes 'sanxctl nodemap load - <<-END
		10.77.0.1 1 rdma:10.77.0.1 tcp
		10.77.0.2 2 rdma:10.77.0.2 tcp
		END'
}

clean_up() {
	rm -f "$LAB_RUN/share/$OVER"
	stop_all
}

# lost_by N STATUS:NAME
lost_by() {
	check "$2 at node $1: it happens" fails "$1" "${2%%:*}"
	check "$2 at node $1: bytes flow" carries
	check "$2 at node $1: none has ended" none_ended
}

# on_rdma COUNT: so many connections of node 2 are on its first rail, and no other.
on_rdma() {
	[ "$(node2 'sanxctl -j rail show' </dev/null | jq -c '[.[] | .conns]')" = "[$1,0]" ]
}

# reset_by N STATUS:NAME: a connection that is made for it.  After an earlier reset it may
# begin on the other rail, and would outlive what happens to RDMA.
reset_by() {
	local out
	serve 1 5070 echo
	out=$LAST
	background 2 "$PEER" -T $((60 * SLOW)) connect 10.77.0.1 5070 ping 100000000
	eventually 20 "on_rdma 1" || true
	fails "$1" "${2%%:*}" || true
	says "$LAST_LOG" after || true
	is "$2 at node $1: a reset" "$(sed -n 's/^ping: \([A-Z]*\) after.*/\1/p' "$LAST_LOG")" ECONNRESET
	stop "$out"
	check "$2 at node $1: a new connection" eventually $BOUND \
		"peer 2 connect 10.77.0.1 5060 ping 3 shut end >/dev/null"
}

read -r -a LOST <<<"$(tr '\n' ' ' <<<"$LOST")"
read -r -a FAULT <<<"$FAULT"
plan $((4 + 3 * ${#LOST[@]} + 2 * ${#FAULT[@]}))
at_exit clean_up
load_verbs
map_rails
nodes "echo 200 >/sys/module/af_sanx/parameters/rail_hold_ms"
start_clients
n=1
for status in "${LOST[@]}"; do
	lost_by $n "$status"
	n=$((3 - n))
done
check "they are over RDMA in the end" eventually $((BOUND * 2)) "on_rdma $CLIENTS"
to_the_end
for status in "${FAULT[@]}"; do
	reset_by $n "$status"
	n=$((3 - n))
done
# An end at which the other node failed waits ten seconds for its RESUME.
stop_all
check "nothing is left of any" eventually 15 unload_all
