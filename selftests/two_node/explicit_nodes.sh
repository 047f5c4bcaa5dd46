#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Explicit sockets of two nodes: reached by node id, by whatever links there are, and with
# errors where other sockets become TCP.
# kernels: 6.1 um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# It is beyond those of TCP.
PORT=70000

# listening N PORT: does a socket of node N listen there?
listening() {
	lab run "$1" "sanxctl socket show sport $2 | grep -q ^LISTEN" </dev/null
}

# serve_explicit N PORT ACTION...
serve_explicit() {
	local n=$1 port=$2
	shift 2
	background "$n" "$PEER" -T $((PATIENCE * 10)) listen node:0 "$port" "$@"
	eventually 60 "listening $n $port"
}

# gets NAME ERROR N NODE PORT: what a connect() of node N gets.
gets() {
	local out
	out=$(peer "$3" connect "node:$4" "$5" ping 1 2>&1) || true
	is "$1" "${out%% after*}" "connect: $2"
}

# works NAME N PORT CONNS: node N reaches node 1, and that many connections are counted
# at node 1 over loop or at node 2 over the wire.
works() {
	local out rc=0
	remember
	out=$(peer "$2" connect node:1 "$3" both 1000000 shut end 2>&1) || rc=$?
	is "$1" "$rc ${out##*$'\n'}" "0 done"
	is "$1: over which way" \
		"$(moved 1 conns_loop) $(moved 2 "$WIRE") $(moved 1 conns_fallback) $(moved 2 conns_fallback)" "$4"
}

both_ways() {
	works "from the other node" 2 $PORT "0 1 0 0"
	works "from the same node" 1 $PORT "2 0 0 0"
	gets "nobody listens" ECONNREFUSED 2 1 $((PORT + 1))
	gets "nobody listens there, though one does of the same 16 bits" ECONNREFUSED 2 1 $((PORT + 65536))
	gets "nobody listens: the same node" ECONNREFUSED 1 1 $((PORT + 1))
	gets "a node that the map does not have" ENETUNREACH 2 9 $PORT
	serve 1 $((PORT - 65536)) both 1000000 end
	gets "a socket of TCP's is another" ECONNREFUSED 2 1 $((PORT - 65536))
}

# What the manual offers to be copied.
examples() {
	background 1 "$BIN/example-explicit" 80000
	eventually 60 "listening 1 80000"
	is "the example" "$(node2 "$BIN/example-explicit" 1 80000 </dev/null | sed -E 's/[0-9]{7,}/N/')" \
		"you are port N of node 2"
	is "the example: by the host's address" "$(node2 "$BIN/example-explicit" 10.77.0.1 80000 </dev/null |
		sed -E 's/[0-9]{7,}/N/')" "you are port N of node 2"
	is "the example: by the name of this host" "$(node1 "$BIN/example-explicit" localhost 80000 </dev/null |
		sed -E 's/[0-9]{7,}/N/')" "you are port N of node 1"
	is "the example: a host that is no node" \
		"$(node2 "$BIN/example-explicit" 10.99.0.1 80000 </dev/null 2>&1)" \
		"example-explicit: 10.99.0.1 port 80000: Address family for hostname not supported"
	background 1 "$BIN/example-records" 80001
	eventually 60 "listening 1 80001"
	# The longest has its end of line.
	is "the example of records" "$(node2 "(echo; echo hello; head -c 1048575 /dev/zero |
			tr '\\0' x; echo) | $BIN/example-records 1 80001" </dev/null)" \
		$'1 bytes\n6 bytes\n1048576 bytes'
	is "the example of records: its sockets are shown" \
		"$(lab run 1 'sanxctl -j socket show sport 80001' </dev/null | jq -r '.[].type' | sort -u)" \
		"seqpacket"
	background 1 "$BIN/example-datagrams 80002"
	eventually 60 "lab run 1 'sanxctl socket show sport 80002 | grep -q UNCONN' </dev/null"
	is "the example of datagrams" "$(node2 "echo hello | $BIN/example-datagrams 1 80002" </dev/null |
		sed -E 's/[0-9]{7,}/N/')" "6 bytes of node 2, port N"
	is "the example of datagrams: its socket is shown" \
		"$(lab run 1 'sanxctl -j socket show sport 80002' </dev/null | jq -r '.[].type')" dgram
	is "the example of datagrams: nobody has the port" \
		"$(node2 "echo hello | $BIN/example-datagrams 1 80003" </dev/null 2>&1)" \
		"example-datagrams: recv: Connection refused"
}

# shown N WORDS: what sanxctl says of node N's sockets, the numbers left out that vary.
shown() {
	local n=$1
	shift
	lab run "$n" "sanxctl -j socket show $*" </dev/null |
		jq -r '.[] | [.state, .local, .remote, .transport] | join(" ")' |
		sed -E 's/:[0-9]{7,}/:N/g' | sort
}

# A stream whose link is lost, and which is shown while it is there.
held() {
	background 2 "$PEER" -T "$PATIENCE" connect node:1 $((PORT + 2)) ping 3 sleep $((6000 * SLOW)) ping 3 shut end
	check "held: it is connected" says "$LAST_LOG" '^connected'
	is "held: shown where it was accepted" "$(shown 1 node 2 sport $((PORT + 2)))" \
		"ESTAB 1:$((PORT + 2)) 2:N $SHOWN"
	is "held: shown where it was connected" "$(shown 2 dport $((PORT + 2)))" \
		"ESTAB 2:N 1:$((PORT + 2)) $SHOWN"
	is "held: the listener" "$(shown 1 sport $((PORT + 2)) | grep ^LISTEN)" "LISTEN *:$((PORT + 2)) *:* -"
	check "held: its link is lost" test "$(lab run 2 'sanxctl -j link reset 1' </dev/null | jq .ended)" -gt 0
	check "held: it goes on" says "$LAST_LOG" '^done'
	is "held: and never was reset" "$(stat 1 resets) $(stat 2 resets)" "0 0"
}

# ended N FILTER...: how many sockets of node N the administrator has ended.
ended() {
	local n=$1
	shift
	lab run "$n" "sanxctl -j socket kill $*" </dev/null | jq .ended
}

killed() {
	local port=$((PORT + 3)) server
	serve_explicit 1 $port echo
	server=$LAST_LOG
	background 2 "$PEER" -T "$PATIENCE" connect node:1 $port ping 3 end
	check "kill: it is connected" says "$LAST_LOG" '^connected'
	check "kill: its server has it" eventually 60 "[ -n \"\$(shown 1 sport $port state connected)\" ]"
	is "kill: a connection" "$(ended 2 dport $port)" 1
	check "kill: its program" says "$LAST_LOG" ECONNABORTED
	check "kill: the peer's" says "$server" ECONNRESET
	is "kill: a listener" "$(ended 1 sport $port state listening)" 1
	gets "kill: which listens no more" ECONNREFUSED 2 1 $port
	background 1 "$BIN/example-datagrams $port"
	eventually 60 "lab run 1 'sanxctl socket show sport $port state unconnected | grep -q :$port' </dev/null"
	is "kill: a socket of datagrams" "$(ended 1 sport $port state unconnected)" 1
	check "kill: its program, of datagrams" says "$LAST_LOG" "connection abort"
	is "kill: nothing is left" "$(ended 1 port $port)" 0
}

rules() {
	node1 sanxctl ports load - <<<"deny default"
	gets "the listener's node denies it" EACCES 2 1 $PORT
	node1 sanxctl ports flush </dev/null
	node2 sanxctl ports load - <<<"deny default"
	gets "this node denies it" EACCES 2 1 $PORT
	node2 sanxctl ports flush </dev/null
	# The address is node 2's by the node map, and no address of its sockets.
	node1 sanxctl ports load - <<<"deny in from 10.77.0.2/31 explicit $PORT"
	gets "the listener's node denies its network" EACCES 2 1 $PORT
	check "and no other" peer 1 connect node:1 $PORT both 1000000 shut end
	node1 sanxctl ports flush </dev/null
}

# The map, and with it the id of the node, comes and goes under sockets that are bound.
renumbered() {
	node2 sanxctl nodemap flush </dev/null
	gets "no node map" ENETUNREACH 2 1 $PORT
	nodemap_load <<-END
		10.77.0.1 11
		10.77.0.2 12
	END
	gets "the node had this id" ENETUNREACH 2 1 $PORT
	check "the listener is found by its new one" peer 2 connect node:11 $PORT both 1000000 shut end
}

plan 42
load_verbs
nodemap_std
WIRE=conns_verbs SHOWN=verbs
[ -z "$RAIL" ] || WIRE=conns_tcp_rail SHOWN=tcp-rail
serve_explicit 1 $PORT both 1000000 end
serve_explicit 1 $((PORT + 2)) echo
both_ways
examples
held
killed
rules
renumbered
