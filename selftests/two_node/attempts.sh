#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A link is set up while something on the way is lost for a time.  A connect() that waits
# for it is over the link in the end, and becomes TCP only if link_timeout_ms is over.
# kernels: um
# clock: virtual steps of a set-up run out of time
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

LINK_TIMEOUT_MS=$((30000 * SLOW))

clean_up() {
	stop_all
	lab wire mend
	rm -f "$LAB_RUN/share/attempts-on"
	nodes "nft delete table ip attempts" 2>/dev/null || true
}

# anew: no links, no attempts, and nothing that is remembered of any.
anew() {
	stop_all
	fresh && load_verbs && nodemap_std || return 1
	serve 1 5080 echo
	serve 2 5080 echo
	node2 "echo 'module af_sanx func sanx_link_set_state +p' >/proc/dynamic_debug/control
		dmesg -C" </dev/null
	remember
}

# from N: node N connects to the other, in the background.
from() {
	background "$1" "$PEER" -T $((300 * SLOW)) connect "10.77.0.$((3 - $1))" 5080 \
		ping 3 shut end
}

# trying N: node N's own attempt is under way.
trying() {
	lab run "$1" "sanxctl link show" </dev/null | grep -q "state connecting"
}

gave_up() {
	! trying "$1"
}

# comes FILE: that connect() is over, and all that followed.
comes() {
	eventually 60 "grep -q '^done' '$1'"
}

# ended: an attempt of node 2 has.
ended() {
	node2 "dmesg | grep -q 'link to node 1: connecting -> '"
}

# The RDMA CM asks for the peer's hardware address when nobody has it.  It does not see
# when somebody has, until its time is over.
nobody_there() {
	local sees="node2 ip neigh show 10.77.0.1 | grep -q FAILED"
	[ -z "$RAIL" ] || sees=ended
	lab run 2 ip neigh flush dev eth0 </dev/null 2>/dev/null
	lab wire cut
	from 2
	check "nobody has the peer's address" eventually 10 "$sees"
	lab wire mend
	check "then the peer has it: connected" comes "$LAST_LOG"
	check "over the link" moves 2 conns_verbs=1
	check "and so says the peer" moves 1 conns_verbs=1
}

# Requests for links do not come to node 2; the answers to its own do.  With verbs they
# are the REQ of the CM, the attribute of a MAD behind UDP, BTH and DETH.
loses_requests() {
	local what="udp dport 4791 @th,352,16 0x0010"
	[ -z "$RAIL" ] || what="tcp dport 658 tcp flags & (syn | ack) == syn"
	lab run 2 "nft -f - <<-END
		table ip attempts {
			chain in {
				type filter hook input priority 0
				$what drop
			}
		}
		END" </dev/null
}

takes_requests() {
	lab run 2 nft delete table ip attempts </dev/null
}

# Node 2 gives way to the attempt of node 1, of which it hears nothing, and which ends
# when nobody at node 1 waits for it any more.
gives_way() {
	local first
	loses_requests
	from 1
	first=$LAST
	check "node 1 tries" eventually 10 "trying 1"
	from 2
	check "node 2 tries, too" eventually 10 ended
	stop "$first"
	check "node 1 gives up" eventually 60 "gave_up 1"
	takes_requests
	check "node 2 tries again: connected" comes "$LAST_LOG"
	check "over the link" moves 2 conns_verbs=1
}

# deaf: RDMA and links over TCP are silent.  hears_rdma: RDMA is not any more.
deaf() {
	nodes "nft -f - <<-END
		table ip attempts {
			chain by_rdma {
				type filter hook input priority 0
				udp dport 4791 drop
			}
			chain by_tcp {
				type filter hook input priority 0
				tcp dport 658 drop
			}
		}
		END"
}

hears_rdma() {
	nodes "nft flush chain ip attempts by_rdma"
}

# rail_is STATE KIND: of node 2's rails.
rail_is() {
	lab run 2 "sanxctl -j rail" </dev/null |
		jq -e ".[] | select(.transport == \"$2\" and .state == \"$1\")" >/dev/null
}

# Both rails are lost.  A lane tries one while the other is heard again: a standby link shows
# that it works, and nobody waits until the time of the first, half a minute, is over.
another_works() {
	local log
	# shellcheck disable=SC2016
	nodes 'for i in 1 2; do
		echo 10.77.0.$i $i 10.77.0.$i tcp:10.77.0.$i; done | sanxctl nodemap load -'
	from 2
	check "RDMA and TCP rails: connected" comes "$LAST_LOG"
	background 2 "$PEER" -T $((300 * SLOW)) connect 10.77.0.1 5080 await /share/attempts-on \
		ping 3 shut end
	log=$LAST_LOG
	check "both rails have a link" eventually 30 "rail_is up verbs && rail_is up tcp-rail"
	deaf
	check "both are lost" eventually 60 "! rail_is up verbs && ! rail_is up tcp-rail"
	hears_rdma
	touch "$LAB_RUN/share/attempts-on"
	took_ms comes "$log" || MS=""
	below "one is heard again: it goes on" "$MS" $((10000 * SLOW))
	echo "# after $MS ms"
	rm -f "$LAB_RUN/share/attempts-on"
	nodes "nft delete table ip attempts"
}

PLAN=9
[ -n "$RAIL" ] || PLAN=13
plan "$PLAN"
at_exit clean_up
anew
nobody_there
anew
gives_way
if [ -n "$RAIL" ]; then exit; fi
anew
another_works
