#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What ends the connections that datagrams go by, and what keeps them waiting: a reader that
# does not read, a way that is cut, a program that is killed, a node map that goes, a module
# that is to go.  Datagrams may be lost then; none comes twice, or wrong, and no sender hangs.
# kernels: um debug
# clock: virtual datagrams that have waited for half a second are dropped
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/dgram_lib.sh
. "$(dirname "$0")/dgram_lib.sh"

# stream N: sends without an end, in the background, one each ms.
stream() {
	background "$1" "exec $(sends "$1" 4 4000000 8 2000 -p 1000)"
	LOG=$LAST_LOG
}

was_right() {
	cat "$LOG"
	grep -q "^sent .* $GOOD\$" "$LOG"
}

# stream_ends NAME: it was always right.
stream_ends() {
	stop "$LAST"
	check "$1: none comes twice or wrong" was_right
}

drops() {
	lab run "$1" "cat /proc/net/snmp" </dev/null |
		awk '/^Udp:/ { if (n) { for (i in name) if (name[i] == "RcvbufErrors") print $i }
			else { n = split($0, name) } }'
}

# Its socket loses them, and nobody else does.
slow_reader() {
	local before
	server 1 5092 hold
	before=$(drops 1)
	remember
	PORT=5092 client 2 4 3000 1000 1000 -w 1000000
	is "nobody reads: the sender does not wait" "$OUT" "sent 3000 answered 0 $GOOD"
	check "nobody reads: the receiver counts them" test "$(drops 1)" -gt "$before"
	check "and so does sanxctl" at_least 1 dropped_full 1
	client 2 4 1000 8 1000
	is "others are not disturbed" "$OUT" "sent 1000 answered 1000 $GOOD"
	stop "$LAST"
}

# Nothing of the rail comes to node 1.
cut_rail() {
	local what="udp dport 4791"
	[ -z "$RAIL" ] || what="tcp dport 658 drop; tcp sport 658"
	node1 "nft -f - <<-END
		table ip dgrams {
			chain in {
				type filter hook input priority 0
				$what drop
			}
		}
		END" </dev/null
}

mend_rail() {
	node1 nft delete table ip dgrams </dev/null
}

cuts() {
	stream 2
	remember
	check "they go by a link" eventually 30 "by_link 2 100"
	cut_rail
	remember
	check "the link is cut: then by UDP" eventually 30 "by_udp 2 100"
	check "those that waited are counted" at_least 2 dropped_waited 1
	remember
	check "for as long as it is cut" eventually 30 "by_udp 2 5000"
	is "none by the link" "$(moved 2 dgrams_verbs)" 0
	mend_rail
	remember
	check "it is mended: by a link again" eventually 60 "by_link 2 100"
	stream_ends "a link is cut"
}

killed() {
	stream 2
	stream 2
	remember
	check "two send" eventually 30 "by_link 2 100"
	node2 'pkill -KILL -x datagrams; true' </dev/null
	server 2 5090
	client 2 4 500 8 1000
	is "they are killed: others go on" "$OUT" "sent 500 answered 500 $GOOD"
}

forgotten() {
	stream 2
	remember
	check "one sends" eventually 30 "by_link 2 100"
	node2 sanxctl nodemap flush </dev/null
	remember
	check "the node map goes: then by UDP" eventually 30 "by_udp 2 100"
	nodemap_std
	remember
	check "it is back: by a link again" eventually 60 "by_link 2 100"
	stream_ends "a node map goes"
}

# verbs_goes N: the module of its RDMA rail.
verbs_goes() {
	lab run "$1" rmmod sanx_verbs </dev/null 2>/dev/null
}

is_used() {
	! verbs_goes "$1"
}

module_goes() {
	stream 2
	remember
	check "one sends by it" eventually 30 "by_link 2 100"
	check "a module that is used does not go" is_used 2
	node2 'sysctl -qw net.sanx.dgram_conns=0'
	check "without connections it does" eventually 60 "verbs_goes 2"
	remember
	check "they go by UDP" eventually 30 "by_udp 2 100"
	node2 'sysctl -qw net.sanx.dgram_conns=1024'
	insert_verbs 2
	check "it is back: by a link again" eventually 90 "by_link 2 100"
	stream_ends "a module goes"
}

if [ -n "$RAIL" ]; then plan 19; else plan 25; fi
load_verbs
nodemap_std
server 1 5090
server 2 5090
check "connections are there" eventually 60 "opens 2 && opens 1"
slow_reader
cuts
killed
forgotten
[ -n "$RAIL" ] || module_goes
stop_all
check "nothing is left of any" unload_all
