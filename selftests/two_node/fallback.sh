#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every way to become TCP, and the counter that tells of each.
# kernels: 6.1 um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# silent N: node N waits for a peer that does not answer, which is what follows, no longer
# than it does outside tests.
silent() {
	LINK_TIMEOUT_MS=3000 tune "$1"
}

# log_attempts: the end of each attempt of node 2 at a link is a line in its log; and it
# remembers one that has failed until the node map changes.
log_attempts() {
	node2 "echo 'module af_sanx func sanx_link_set_state +p' >/proc/dynamic_debug/control
		echo 3600000 >/sys/module/af_sanx/parameters/link_hold_ms" </dev/null
}

attempts() {
	node2 "dmesg | grep -c 'link to node 1: connecting -> '" </dev/null || true
}

# finds_out NAME PORT ATTEMPTS: the first connection of node 2 finds out that there will be
# no link, by so many attempts at one, and the next one knows, although there was no socket
# in between.
finds_out() {
	local before
	before=$(attempts)
	remember 2
	works "$1" 2 connect 10.77.0.1 "$2"
	is "$1: attempts at a link" $(($(attempts) - before)) "$3"
	works "$1, again" 2 connect 10.77.0.1 "$2"
	is "$1: remembered" $(($(attempts) - before)) "$3"
	check "$1: the client's counter" moves 2 fallback_link=2
}

# works NAME N ARGS...: the program notices nothing, and ends: peer has a limit.
works() {
	local name=$1 out rc=0
	shift
	out=$(peer "$@" both 100000 shut end 2>&1) || rc=$?
	is "$name: works" "$rc ${out##*$'\n'}" "0 done"
}

# What should be over verbs is, or the rest would prove nothing.
nothing_in_the_way() {
	remember
	works "listed, allowed, listening" 2 connect 10.77.0.1 5001
	check "listed, allowed, listening: client" moves 2 conns_verbs=1
	check "listed, allowed, listening: server" moves 1 conns_verbs=1
}

plain_server() {
	remember
	works "plain TCP server" 2 connect 10.77.0.1 5002
	check "plain TCP server: the client's counter" moves 2 fallback_refused=1
	check "plain TCP server: nothing at the server" moves 1
}

plain_client() {
	remember
	works "plain TCP client" 2 -t connect 10.77.0.1 5001
	check "plain TCP client: nothing at the client" moves 2
	check "plain TCP client: the server's counter" moves 1 fallback_accept=1
}

no_listener() {
	local out rc=0
	remember
	out=$(peer 2 connect 10.77.0.1 5009 hold) || rc=$?
	is "no listener at all: refused" "$rc ${out%% after*}" "1 connect: ECONNREFUSED"
	check "no listener at all: the client's counter" moves 2 fallback_refused=1
}

port_rules() {
	node2 sanxctl ports add deny 5001 </dev/null
	remember
	works "port denied" 2 connect 10.77.0.1 5001
	check "port denied: the client's counter" moves 2 fallback_port=1
	check "port denied: the server's counter" moves 1 fallback_accept=1
	node2 sanxctl ports load - <<-END
		allow 5001
		deny 1-65535
	END
	remember
	works "the first rule decides" 2 connect 10.77.0.1 5001
	check "the first rule decides: over verbs" moves 2 conns_verbs=1
	node2 sanxctl ports flush </dev/null
}

not_in_the_map() {
	node2 sanxctl nodemap del 10.77.0.1 </dev/null
	remember
	works "peer not in the map" 2 connect 10.77.0.1 5001
	check "peer not in the map: the client's counter" moves 2 fallback_unmapped=1
	check "peer not in the map: the server's counter" moves 1 fallback_accept=1
	remember
	works "its other address still is" 2 connect fd77::1 5001
	check "its other address still is: over verbs" moves 2 conns_verbs=1
	node2 "sanxctl nodemap add 10.77.0.1 1 $RAIL" </dev/null
	remember
	works "back in the map" 2 connect 10.77.0.1 5001
	check "back in the map: over verbs" moves 2 conns_verbs=1
}

# A client that the server's map does not have is nobody to it.
client_not_in_the_map() {
	node1 'sanxctl nodemap del 10.77.0.2 && sanxctl nodemap del fd77::2' </dev/null
	remember
	works "client not in the server's map" 2 connect 10.77.0.1 5001
	is "client not in the server's map: not over verbs" "$(moved 2 conns_verbs)" 0
	is "client not in the server's map: fell back once" "$(moved 2 conns_fallback)" 1
	nodemap_std
}

nobody_there() {
	local ours tcp
	silent 2
	tcp=$(peer 2 -t connect 10.77.0.9 5001 hold || true)
	node2 "sanxctl nodemap add 10.77.0.9 9 $RAIL" </dev/null
	remember
	ours=$(peer 2 connect 10.77.0.9 5001 hold || true)
	is "nobody at the address: TCP's error" "${ours%% after*}" "${tcp%% after*}"
	is "nobody at the address: which is one" "${ours%% after*}" "connect: EHOSTUNREACH"
	check "nobody at the address: the client's counter" moves 2 fallback_link=1
	node2 sanxctl nodemap del 10.77.0.9 </dev/null
	tune 2
}

# A device of one's own is for that device's stack.
only_tcp() {
	remember
	check "bound to a device: works" node2 \
		"head -c 1000 /dev/zero | sanx-run socat -u - TCP:10.77.0.1:5005,so-bindtodevice=eth0"
	check "bound to a device: the client's counter" moves 2 fallback_option=1
}

peer_without_module() {
	stop_all
	check "the peer's module goes" unload_sanx 1
	OPTS=-t serve 1 5003 both 100000 end
	log_attempts
	finds_out "peer without the module" 5003 1
	load_sanx 1
	insert_verbs 1
	nodemap_std
	serve 1 5004 both 100000 end
	remember 2
	check "peer with the module again: found" eventually 30 over_verbs_again
}

over_verbs_again() {
	peer 2 connect 10.77.0.1 5004 both 100000 shut end >/dev/null &&
		[ "$(moved 2 conns_verbs)" -ge 1 ]
}

# A TCP rail has no device of its own, so it is the map that has none, and then there is
# nothing to try.
no_device() {
	check "our module goes" unload_sanx 2
	[ -n "$RAIL" ] || node2 rdma link del rxe0 </dev/null
	load_sanx 2
	insert_verbs 2
	nodemap_std
	[ -z "$RAIL" ] || std_map | RAIL="" nodemap_put 2
	log_attempts
	finds_out "no device" 5004 $((${#RAIL} ? 0 : 1))
	# And the other way: the peer has one, we do not.
	serve 2 5006 both 100000 end
	silent 1
	remember 1
	works "no device at the peer" 1 connect 10.77.0.2 5006
	check "no device at the peer: the client's counter" moves 1 fallback_link=1
}

plan 46
load_verbs
nodemap_std
serve 1 5001 both 100000 end
OPTS=-t serve 1 5002 both 100000 end
OPTS=-t serve 1 5005 drain

nothing_in_the_way
plain_server
plain_client
no_listener
port_rules
not_in_the_map
client_not_in_the_map
nobody_there
only_tcp
peer_without_module
no_device
