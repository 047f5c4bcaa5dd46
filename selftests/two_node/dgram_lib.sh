# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Datagrams between two nodes: selftests/bin/datagrams.c on both.

DATAGRAMS=$BIN/datagrams
# shellcheck disable=SC2034
GOOD="twice 0 wrong 0 strange 0 errors 0"

# server N PORT [-u] [WHAT]: on node N, in the background, ready.
server() {
	local n=$1 port=$2 what=serve
	shift 2
	if [ "${1-}" = hold ]; then
		what=$1
		shift
	fi
	background "$n" "exec $DATAGRAMS $* $what :: $port"
	says "$LAST_LOG" ready
}

address() {
	if [ "$2" = 6 ]; then echo "fd77::$1"; else echo "10.77.0.$1"; fi
}

# sends N V COUNT LEAST MOST [OPTION...]: the command for node N to send to the other one, by
# IPv4 or IPv6.  It has a port from the beginning; else UDP would give it one with the first
# datagram.
sends() {
	local n=$1 v=$2 args="$3 $4 $5"
	shift 5
	echo "$DATAGRAMS -b $(address "$n" "$v") $* send $(address $((3 - n)) "$v")" \
		"${PORT:-5090} $args"
}

# client N ...: likewise, runs it.  OUT is what it says.
client() {
	OUT=$(lab run "$1" "$(sends "$@")" </dev/null) || OUT+=" exit $?"
}

# opens N: sixteen sockets of node N find connections that are open.
opens() {
	local before
	before=$(stat "$1" dgrams_udp)
	for _ in $(seq 16); do client "$1" 4 1 8 8; done
	[ "$(stat "$1" dgrams_udp)" = "$before" ]
}

# by_link N, by_udp N [COUNT]: some of its datagrams have gone so since remember.
by_link() {
	[ "$(moved "$1" dgrams_verbs)" -gt "${2:-0}" ]
}

by_udp() {
	[ "$(moved "$1" dgrams_udp)" -gt "${2:-0}" ]
}

# Both ends of programs that know nothing of AF_SANX, and how long they may take.
# shellcheck disable=SC2034
BOTH="sanx-run --dgram --strict"
LIMIT=$((120 * SLOW))

# udp_ready N PORT: a UDP socket is bound there.
udp_ready() {
	lab run "$1" "ss -Huln 'sport = :$2' | grep -q ." </dev/null
}

# pair NAME SERVER-NODE PREFIX CLIENT-NODE PREFIX PORT SERVER CLIENT
pair() {
	local name=$1 on=$2 port=$6
	remember
	background "$on" "exec $3 $7"
	if ! eventually 30 "udp_ready $on $port"; then
		sed 's/^/# /' "$LAST_LOG"
		fail "$name: the server starts"
		stop "$LAST"
		return
	fi
	check "$name" timeout "$LIMIT" "$SANX_TREE/scripts/lab" run "$4" "$5 $8"
	stop "$LAST"
}
