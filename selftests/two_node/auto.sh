#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Nodes that find each other: the first connection is TCP, the next is not; who is no
# node is left alone for a time; who has another's id, or no key, is not found.
# kernels: um
# no rail: both kinds of rails are in it
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

ID=/tmp/machine-id
ctl="SANX_MACHINE_ID_FILE=$ID sanxctl"

# identity N HEX-DIGIT: the machine id of node N.
identity() {
	lab run "$1" "printf '%032d\n' 0 | tr 0 $2 >$ID" </dev/null
}

# map N LINE...: the node map of node N.
map() {
	local n=$1
	shift
	printf '%s\n' "$@" | lab run "$n" "$ctl nodemap load -"
}

# found N: the addresses that were found there, other nodes' and its own.
found() {
	lab run "$1" "sanxctl -j nodemap" </dev/null | jq -r '[.[] | select(.found).addr] | join(" ")'
}

finds() {
	[ "$(found "$1")" = "$2" ]
}

# goes FROM TO HOW NAME: a connection works, and the connecting node counts it as HOW.
goes() {
	local out rc=0
	remember "$1"
	out=$(peer "$1" connect "$2" 5003 both 100000 shut end 2>&1) || rc=$?
	is "$4: works" "$rc ${out##*$'\n'}" "0 done"
	check "$4: $3" moves "$1" "$3=1"
}

# soon_goes FROM TO HOW NAME: within some seconds connections are like that.
soon_goes() {
	check "$4: $3" eventually 30 "remember $1
		peer $1 connect $2 5003 both 100000 shut end >/dev/null 2>&1 && moves $1 $3=1 >/dev/null"
}

clean_up() {
	stop_all
	nodes 'sanxctl nodemap flush; sanxctl key del default 2>/dev/null; rm -f /tmp/machine-id /tmp/key' || true
	node2 "ip route del 10.99.0.0/24 2>/dev/null" </dev/null || true
}

off_unless_written() {
	nodes 'sanxctl nodemap flush'
	check "off: nobody listens" node1 "! ss -Hltn 'sport = 658' | grep -q ." </dev/null
	goes 2 10.77.0.1 fallback_unmapped "off"
	map 1 "auto 10.77.0.0/16"
	map 2 "auto 10.88.0.0/16"
	goes 2 10.77.0.1 fallback_unmapped "another prefix"
	# Who had asked all the same would have an answer by now; on a busy host perhaps not.
	sleep 1
	is "another prefix: nobody was found" "$(found 1)$(found 2)" ""
}

# The node that is asked asks back, so both have each other.
found_by_asking() {
	map 1 "auto 10.77.0.0/16"
	map 2 "auto 10.77.0.0/16"
	is "found: nobody at first" "$(found 1)$(found 2)" ""
	goes 2 10.77.0.1 fallback_asked "found: the first connection"
	check "found: by who asked" eventually 10 "finds 2 '10.77.0.1 10.77.0.2'"
	check "found: by who was asked" eventually 10 "finds 1 '10.77.0.1 10.77.0.2'"
	goes 2 10.77.0.1 conns_tcp_rail "found: the next connection"
	goes 1 10.77.0.2 conns_tcp_rail "found: the other way round"
	is "found: both have the same ids" "$(ids 1)" "$(ids 2)"
	check "found: which no written id is" test "$(ids 1 | tr ' ' '\n' | sort -n | head -n 1)" -ge 2147483648
	is "found: what is shown" "$(node1 'sanxctl nodemap' </dev/null | sed -E 's/[0-9]{10}/ID/; s/[0-9]+ s ago/AGE/')" \
		"auto 10.77.0.0/16
# found: 10.77.0.1 ID 10.77.0.1 tcp:10.77.0.1, AGE
# found: 10.77.0.2 ID 10.77.0.2 tcp:10.77.0.2, AGE"
}

ids() {
	lab run "$1" "sanxctl -j nodemap" </dev/null | jq -r '[.[] | select(.found).id] | join(" ")'
}

# A program that asks for the node of a host waits until that is known.
by_name() {
	nodes 'sanxctl nodemap flush'
	map 1 "auto 10.77.0.0/16"
	background 1 "$BIN/example-explicit" 80000
	check "by name: there is a server" eventually 30 \
		"node1 'sanxctl socket show sport 80000 | grep -q ^LISTEN' </dev/null"
	map 2 "auto 10.77.0.0/16"
	is "by name: nobody was found yet" "$(found 2)" ""
	is "by name: the node of a host that is to be asked" \
		"$(node2 "$BIN/example-explicit" 10.77.0.1 80000 </dev/null | sed -E 's/[0-9]{7,}/N/g')" \
		"you are port N of node N"
	nodes 'sanxctl nodemap flush'
}

a_new_map() {
	map 2 "auto 10.77.0.0/24" "10.99.0.9 9"
	is "a new map keeps what it covers" "$(found 2)" "10.77.0.1 10.77.0.2"
	map 2 "auto 10.77.0.2/32"
	is "and drops what it does not" "$(found 2)" "10.77.0.2"
	check "and what it contradicts" map 2 "auto 10.77.0.0/16" "10.77.0.2 7"
	is "and what it contradicts: gone" "$(found 2)" ""
	nodes 'sanxctl nodemap flush'
	is "and nothing without auto" "$(found 1)$(found 2)" ""
}

# One node is written in the other's map, which it does not have itself.
half_written() {
	map 1 "auto 10.77.0.0/16" "10.77.0.1 1 tcp"
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "one has an id of its own"
	check "one has an id of its own: found as that" eventually 10 "[ \"\$(ids 2 | cut -d' ' -f1)\" = 1 ]"
	goes 2 10.77.0.1 conns_tcp_rail "one has an id of its own: then"
}

# Node 1 is another one, and then none.
gone() {
	map 1 "auto 10.77.0.0/16"
	soon_goes 2 10.77.0.1 conns_tcp_rail "another id at the address: found anew"
	check "another id at the address: that is shown" test "$(ids 2 | cut -d' ' -f1)" -ge 2147483648
	node1 'sanxctl nodemap flush' </dev/null
	soon_goes 2 10.77.0.1 fallback_unmapped "a node that went: a no"
	is "a node that went: gone" "$(found 2)" "10.77.0.2"
}

nos() {
	nodes 'sanxctl nodemap flush'
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "a no"
	soon_goes 2 10.77.0.1 fallback_unmapped "a no is remembered"
	map 1 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_unmapped "a no is remembered, though there is a node now"
	node2 'ip route add 10.99.0.0/24 dev eth0' </dev/null
	goes 2 10.77.0.1 fallback_asked "a no is forgotten when routes change"
	soon_goes 2 10.77.0.1 conns_tcp_rail "and then it is found"

	node1 'sanxctl nodemap flush' </dev/null
	nodes 'sanxctl nodemap flush'
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "another no"
	soon_goes 2 10.77.0.1 fallback_unmapped "another no is remembered"
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "a no is forgotten with a new map"
	soon_goes 2 10.77.0.1 fallback_unmapped "that no is remembered"
	map 1 "auto 10.77.0.0/16"
	goes 1 10.77.0.2 fallback_asked "who asks is no no any more"
	soon_goes 2 10.77.0.1 conns_tcp_rail "so it is found"

	a_late_no

	# A node that does not cover the other does not answer it.
	nodes 'sanxctl nodemap flush'
	map 1 "auto 10.88.0.0/16"
	map 2 "auto 10.77.0.0/16"
	remember 1
	goes 2 10.77.0.1 fallback_asked "who is not covered there"
	soon_goes 2 10.77.0.1 fallback_unmapped "who is not covered there is not answered"
	is "and finds nobody" "$(found 1)$(found 2)" ""
}

# nobody_asks: no address is being asked by node 2.
nobody_asks() {
	node2 "! ss -Htn state syn-sent 'dport = 658' | grep -q ." </dev/null
}

# listens: node 1 takes questions.
listens() {
	node1 "ss -Hltn 'sport = 658' | grep -q ." </dev/null
}

# The map is loaded anew while nobody has answered yet, and nobody does: a no to a question
# from before.  On a host that is too slow for that the question is over before.
a_late_no() {
	nodes 'sanxctl nodemap flush'
	deaf "tcp dport 658"
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "nobody answers yet"
	map 2 "auto 10.77.0.0/16"
	check "nobody has answered" eventually 30 nobody_asks
	node1 'nft delete table ip auto' </dev/null
	map 1 "auto 10.77.0.0/16"
	eventually 30 listens
	remember 2
	check "a no from before a new map: found" eventually 30 \
		"peer 2 connect 10.77.0.1 5003 both 100000 shut end >/dev/null 2>&1 && finds 2 '10.77.0.1 10.77.0.2'"
	is "a no from before a new map is none" "$(moved 2 fallback_unmapped)" 0
}

# asked_twice: a connection was made, and has come to its end, while nobody had said yet who
# is there, or the next one would not be counted as it is.  The host may be so busy that
# it takes longer than the question, so this is tried more than once; if connect() waited,
# it would never be so.
asked_twice() {
	nodes 'sanxctl nodemap flush'
	map 2 "auto 10.77.0.0/16"
	remember 2
	peer 2 -n 2 connect 10.77.0.1 5003 both 100000 shut end >/dev/null
	moves 2 fallback_asked=2 >/dev/null
}

never_delays() {
	deaf "tcp dport 658"
	check "nobody says no: connect() does not wait" eventually 60 asked_twice
	soon_goes 2 10.77.0.1 fallback_unmapped "nobody says no: that is a no"
	node1 'nft delete table ip auto' </dev/null
}

collisions() {
	nodes 'sanxctl nodemap flush'
	identity 1 5
	identity 2 5
	map 1 "auto 10.77.0.0/16"
	map 2 "auto 10.77.0.0/16"
	remember
	goes 2 10.77.0.1 fallback_asked "two machines with one id"
	soon_goes 2 10.77.0.1 fallback_unmapped "two machines with one id: refused"
	check "two machines with one id: counted" eventually 5 "at_least 2 auto_refused 1"
	check "two machines with one id: the log says so" node2 \
		"dmesg | tail -n 30 | grep -q 'two machines with one machine id'" </dev/null
	is "two machines with one id: not found" "$(found 1)$(found 2)" ""
	identity 1 1
	map 1 "auto 10.77.0.0/16"
	map 2 "auto 10.77.0.0/16" "10.99.0.9 $(self_id 1)"
	remember
	goes 2 10.77.0.1 fallback_asked "the id of a written node"
	soon_goes 2 10.77.0.1 fallback_unmapped "the id of a written node: refused"
	check "the id of a written node: counted" eventually 5 "at_least 2 auto_refused 1"
	identity 2 2
	is "our own id is written for another" \
		"$(map 2 "auto 10.77.0.0/16" "10.99.0.9 $(self_id 2)" 2>&1 || echo "rc $?")" \
		"Error: a host has the node id that this machine has by itself, expected another.
rc 1"
}

# self_id N: the node id that node N gets from its machine id.
self_id() {
	lab run "$1" "cat $ID" </dev/null | python3 -c '
import hmac, sys
app = bytes.fromhex("5d2c0e6b913f4a77b814e39a602dc548")
mac = hmac.new(bytes.fromhex(sys.stdin.read().strip()), app, "sha256").digest()
print(int.from_bytes(mac[:4], "big") | 1 << 31)'
}

addresses_of_one_node() {
	nodes 'sanxctl nodemap flush'
	map 1 "auto 10.77.0.0/16" "auto fd77::/16"
	map 2 "auto 10.77.0.0/16" "auto fd77::/16"
	goes 2 fd77::1 fallback_asked "IPv6"
	soon_goes 2 fd77::1 conns_tcp_rail "IPv6: found"
	remember
	goes 2 10.77.0.1 fallback_asked "another address of a node that was found"
	soon_goes 2 10.77.0.1 fallback_unmapped "another address of a node: stays TCP"
}

# key N DIGIT: a default key on node N.
key() {
	lab run "$1" "umask 077; cat >/tmp/key; sanxctl key add default /tmp/key >/dev/null" <<<"$2"
}

keys() {
	local one other
	one=$(node1 sanxctl key generate </dev/null)
	other=$(node1 sanxctl key generate </dev/null)
	nodes 'sanxctl nodemap flush'
	key 1 "$one"
	map 1 "auto 10.77.0.0/16"
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "no key"
	soon_goes 2 10.77.0.1 fallback_unmapped "no key: not answered"
	goes 1 10.77.0.2 fallback_asked "who has no key"
	soon_goes 1 10.77.0.2 fallback_unmapped "who has no key: not found"
	key 2 "$other"
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "another key"
	soon_goes 2 10.77.0.1 fallback_unmapped "another key: not answered"
	is "nobody was found without the key" "$(found 1)$(found 2)" ""
	key 2 "$one"
	goes 2 10.77.0.1 fallback_asked "a no is forgotten with a new key"
	soon_goes 2 10.77.0.1 conns_tcp_rail "the key: found"
	nodes 'sanxctl key del default'
}

# deaf RULE: what matches does not come to node 1.
deaf() {
	node1 "nft -f - <<-END
		table ip auto {
			chain in {
				type filter hook input priority 0
				$1 drop
			}
		}
		END" </dev/null
}

# Over RDMA, and where that is silent over the service port of TCP.
with_rdma() {
	nodes 'sanxctl nodemap flush'
	load_verbs
	deaf "tcp dport 658"
	map 1 "auto 10.77.0.0/16"
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "asked over RDMA"
	soon_goes 2 10.77.0.1 conns_verbs "asked over RDMA: found, and used"
	node1 'nft delete table ip auto' </dev/null
	nodes 'sanxctl nodemap flush'
	deaf "udp dport 4791"
	map 1 "auto 10.77.0.0/16"
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "RDMA is silent"
	soon_goes 2 10.77.0.1 conns_tcp_rail "RDMA is silent: found over TCP"
	node1 'nft delete table ip auto' </dev/null
	nodes 'sanxctl nodemap flush'
	map 1 "auto 10.77.0.0/16"
	map 2 "auto 10.77.0.0/16"
	goes 2 10.77.0.1 fallback_asked "RDMA"
	soon_goes 2 10.77.0.1 conns_verbs "RDMA: found, and used"
}

plan 103
at_exit clean_up
identity 1 1
identity 2 2
serve 1 5003 both 100000 end
serve 2 5003 both 100000 end
off_unless_written
found_by_asking
a_new_map
by_name
half_written
gone
nos
never_delays
collisions
addresses_of_one_node
keys
with_rdma
remember
is "no link was refused, no protocol error" "$(stat 1 protocol_errors) $(stat 2 protocol_errors)" "0 0"
