#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# An RDMA device is removed from under its connections: they go on by another rail,
# or wait for one, and nothing hangs.
# kernels: 6.12 um
# no rail: about RDMA devices that are removed
# clock: virtual bounds of seconds for what waits for a rail
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

SIZE=3M

# second_rail: another device on each node, at an address of its own.
second_rail() {
	local n
	for n in 1 2; do
		# shellcheck disable=SC2016
		lab run "$n" 'modprobe macvlan 2>/dev/null || true
			ip link add mv0 link eth0 type macvlan mode bridge &&
			ip addr add 10.78.0.'"$n"'/24 dev mv0 && ip link set mv0 up &&
			rdma link add rxe1 type rxe netdev mv0' </dev/null
		at_exit "lab run $n 'rdma link del rxe1; ip link del mv0' </dev/null 2>/dev/null"
	done
	nodes 'sanxctl nodemap load - <<-END
		10.77.0.1 1 10.77.0.1 10.78.0.1
		10.77.0.2 2 10.77.0.2 10.78.0.2
		END'
}

# rail N: the device of node N's links, if there are any and they are up.
rail() {
	lab run "$1" sanxctl -j link show </dev/null |
		jq -r '[.[] | select(.state == "up") | .device] | unique | join(" ")'
}

# remove N DEVICE: at most as long as a link takes to end.
remove() {
	lab run "$1" timeout $((20 * SLOW)) rdma link del "$2" </dev/null
}

# Two that do something later, and one in the middle of it.
start() {
	background 2 "$PEER" -T $((200 * SLOW)) connect 10.77.0.1 5001 ping 3 sleep "$1" ping 3 shut end
	IDLE=$LAST_LOG
	background 2 "$PEER" -T $((200 * SLOW)) connect 10.77.0.1 5002 both $SIZE sleep "$1" both $SIZE shut end
	BUSY=$LAST_LOG
	says "$IDLE" connected
	says "$BUSY" connected
}

# all_done: none has noticed.
all_done() {
	local log rc=0
	for log in "$IDLE" "$BUSY"; do
		eventually 90 "grep -qE 'done|after' '$log'" || true
		tail -n 1 "$log" | grep -q '^done' || {
			tail -n 1 "$log"
			rc=1
		}
	done
	return "$rc"
}

plan 12
load_verbs
second_rail
serve 1 5001 echo
serve 1 5002 both $SIZE both $SIZE end

remember
start $((8000 * SLOW))
is "over the first rail" "$(rail 2)" rxe0
check "the client's device is removed" remove 2 rxe0
check "another link comes up" eventually 30 "[ \"\$(rail 2)\" = rxe1 ]"
check "no connection notices" all_done
is "they were over verbs" "$(moved 2 conns_verbs)" 2

# The other end's, and while it is the only one left.
start $((20000 * SLOW))
is "over the second rail" "$(rail 1)" rxe1
check "the server's device is removed, the last one in common" remove 1 rxe1
check "no link is left" eventually 20 "[ -z \"\$(rail 1)\$(rail 2)\" ]"
lab rdma 2 rxe
check "the first rail comes back: there is a link" eventually 60 "[ \"\$(rail 2)\" = rxe0 ]"
check "no connection notices that either" all_done
is "no protocol error, and no reset" \
	"$(moved 1 protocol_errors) $(moved 2 protocol_errors) $(moved 1 resets) $(moved 2 resets)" "0 0 0 0"
stop_all
check "all can be unloaded" eventually 20 'unload_sanx 2 && unload_sanx 1'
