#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Datagrams between two nodes by implicit connections: they come as they were sent, once, from
# the address that they say, whoever receives them; and by UDP where there is no such way.
# kernels: 6.1 um debug
# clock: virtual datagrams that have waited for half a second are dropped
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/dgram_lib.sh
. "$(dirname "$0")/dgram_lib.sh"

IDLE=/proc/sys/net/sanx/dgram_idle_ms

# went N LINK UDP: so many of node N's datagrams.
went() {
	is "$1" "$(moved "$2" dgrams_verbs) $(moved "$2" dgrams_udp)" "$3 $4"
}

# exchange NAME N V COUNT LEAST MOST [OPTION...]: all are answered, once and from the right
# address, by links both ways.
exchange() {
	local name=$1 n=$2 count=$4
	shift
	remember
	client "$@"
	is "$name" "$OUT" "sent $count answered $count $GOOD"
	went "$name: by a link" "$n" "$count" 0
	went "$name: and back" $((3 - n)) "$count" 0
}

ours() {
	exchange "small ones" 2 4 2000 8 8
	exchange "large ones" 2 4 300 8 65507 -w 4
	exchange "by IPv6" 2 6 500 8 1000
	exchange "the other way round" 1 4 500 8 1000
	exchange "a connected socket" 2 4 500 8 1000 -c
}

# Sockets of UDP: the IP stack of the receiver gives it to them.  What they send is UDP's.
theirs() {
	server 1 5090 -u
	remember
	client 2 4 500 8 60000 -w 4
	is "to a socket of UDP" "$OUT" "sent 500 answered 500 $GOOD"
	went "to a socket of UDP: by a link" 2 500 0
	remember
	client 2 6 500 8 60000 -w 4
	is "by IPv6" "$OUT" "sent 500 answered 500 $GOOD"
	went "by IPv6: by a link" 2 500 0
	stop "$LAST"
	server 1 5090
	remember
	client 2 4 500 8 60000 -w 4 -u
	is "from a socket of UDP" "$OUT" "sent 500 answered 500 $GOOD"
	went "from a socket of UDP: the answers by a link" 1 500 0
}

# was_told: the client's calls have returned errors.
was_told() {
	echo "$OUT"
	[[ $OUT =~ ^sent\ [0-9]+\ answered\ 0\ .*\ errors\ [1-9] ]]
}

# ICMP tells a connected socket, as over UDP.
nobody() {
	remember
	client 2 4 20 8 8 -c -p 20000
	check "nobody listens: the sender is told" was_told
	check "nobody listens: they went by a link" by_link 2
}

# A packet filter of the receiver is asked for those to sockets of UDP.
filtered() {
	server 1 5090 -u
	node1 "nft -f - <<-END
		table ip dgrams {
			chain in {
				type filter hook input priority 0
				udp dport 5090 drop
			}
		}
		END" </dev/null
	client 2 4 5 8 8 -w 5
	is "a packet filter of the receiver" "$OUT" "sent 5 answered 0 $GOOD"
	node1 nft delete table ip dgrams </dev/null
	stop "$LAST"
}

# no_conns: no link has any.
no_conns() {
	[ "$(lab run 2 'sanxctl -j link show' </dev/null | jq '[.[] | .conns] | add // 0')" = 0 ]
}

bounds() {
	nodes "echo 1000 >$IDLE"
	check "connections that are not used end" eventually 30 no_conns
	nodes "echo 60000 >$IDLE"
	server 1 5090
	node2 'sysctl -qw net.sanx.dgram_conns=0'
	remember
	client 2 4 100 8 1000
	is "no connections are wanted" "$OUT" "sent 100 answered 100 $GOOD"
	went "no connections are wanted: by UDP" 2 0 100
	node2 'sysctl -qw net.sanx.dgram_conns=1'
	check "one is enough" eventually 60 "client 2 4 50 8 8 && by_link 2"
	node2 'sysctl -qw net.sanx.dgram_conns=1024'
	stop "$LAST"
}

plan 31
load_verbs
nodemap_std
server 1 5090
FIRST=$LAST
# So the node has a datagram socket, whatever else there is.
server 1 5091
server 2 5090
check "connections are asked for" eventually 60 "opens 2"
check "and by the other node" eventually 60 "opens 1"
ours
stop "$FIRST"
theirs
stop "$LAST"
nobody
filtered
bounds
stop_all
check "nothing is left of any" unload_all
