# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the tests over two nodes share, on top of the lab's library.

# shellcheck source=SCRIPTDIR/../../scripts/lablib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lablib.sh"

BIN=$SANX_TREE/build/selftests/bin
PEER=$BIN/peer
# Seconds after which peer gives up by itself.
PATIENCE=$((60 * SLOW))

# peer N ARGS...: one end of a connection on node N, see bin/peer.c.
peer() {
	local n=$1
	shift
	lab run "$n" "$PEER" -T "$PATIENCE" "$@" </dev/null
}

# serve N PORT ARGS...: a listener on node N, in the background, ready.  Sets
# LAST and LAST_LOG.  OPTS=-t makes it a plain TCP one.
serve() {
	local n=$1 port=$2
	shift 2
	# shellcheck disable=SC2086
	background "$n" "$PEER" -T $((PATIENCE * 10)) ${OPTS:-} listen "$port" "$@"
	wait_port "$n" "$port"
}

# put N LINE...: the node map of node N.
put() {
	local n=$1
	shift
	printf '%s\n' "$@" | nodemap_put "$n"
}

# same_maps: that of two nodes with their IPv4 addresses only, at both.
same_maps() {
	put 1 "10.77.0.1 1" "10.77.0.2 2"
	put 2 "10.77.0.1 1" "10.77.0.2 2"
}

# forget: no node takes the other to be without AF_SANX for what was before.
forget() {
	nodes 'sanxctl nodemap add 10.99.0.1 99 && sanxctl nodemap del 10.99.0.1'
}

# stop_all: whatever runs in the background.
stop_all() {
	local pid
	for pid in "${LAB_BACKGROUND[@]}"; do stop "$pid"; done
	LAB_BACKGROUND=()
}

# remember [N...]: the counters of nodes 1 and 2, which moved() then compares with.
remember() {
	local n
	[ $# -gt 0 ] || set -- 1 2
	for n; do
		counters "$n" "BEFORE$n"
	done
}
# from_zero: moved() counts from when the module was loaded.
# shellcheck disable=SC2034
from_zero() {
	BEFORE1=()
	BEFORE2=()
}
# Used by name: moved(), counters().
# shellcheck disable=SC2034
declare -A BEFORE1=() BEFORE2=() NOW=()

# counted_as KEY: sets KEY to what that counter is called with $RAIL.  A test that says
# conns_verbs means connections over the links between nodes, whatever wire these have; the
# same with dgrams_verbs.
counted_as() {
	KEY=$1
	[ -z "$RAIL" ] || [[ ! $KEY =~ ^(conns|dgrams)_verbs ]] || KEY=${KEY/_verbs/_tcp_rail}
}

# The same in the words of sanxctl; and the module that connections hold.
TRANSPORT=verbs WIRE_MODULE=sanx_verbs
# shellcheck disable=SC2034
[ -z "$RAIL" ] || TRANSPORT=tcp-rail WIRE_MODULE=af_sanx

# counters N ARRAY: all counters of node N, into this associative array.
counters() {
	local -n into=$2
	local all
	into=()
	all=$(lab run "$1" sanxctl -j stats show </dev/null)
	while [[ $all =~ \"([a-z_]+)\":\ *([0-9]+)(.*) ]]; do
		# shellcheck disable=SC2004,SC2034
		into[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
		all=${BASH_REMATCH[3]}
	done
}

# moved N KEY: by how much, since remember.
moved() {
	local -n before=BEFORE$1
	local now
	counted_as "$2"
	now=$(stat "$1" "$KEY")
	echo $((now - ${before[$KEY]:-0}))
}

# moves N KEY=VALUE...: fails, and says so, if a counter moved by anything else.
# Fallback counters that are not named must not have moved, nor protocol_errors.
moves() {
	local n=$1 key now rc=0
	local -n before=BEFORE$1
	declare -A want
	shift
	for key in "$@"; do
		counted_as "${key%%=*}"
		want[$KEY]=${key#*=}
	done
	counters "$n" NOW
	for key in conns_verbs "${!want[@]}"; do
		[ -n "${NOW[$key]:-}" ] || {
			echo "node $n: there is no counter $key"
			rc=1
		}
	done
	for key in "${!NOW[@]}"; do
		[[ $key =~ ^(conns_(loop|verbs|tcp_rail)|protocol_errors|fallback_[a-z]*)$ ]] || continue
		now=$((NOW[$key] - ${before[$key]:-0}))
		[ "$now" = "${want[$key]:-0}" ] || {
			echo "node $n: $key moved by $now, not ${want[$key]:-0}"
			rc=1
		}
	done
	return "$rc"
}

# at_least N KEY VALUE: fails if the counter moved by less.
at_least() {
	local now
	now=$(moved "$1" "$2")
	[ "$now" -ge "$3" ] || {
		echo "node $1: $2 moved by $now, less than $3"
		return 1
	}
}

# sleep SECONDS: the nodes do.
sleep() {
	if [ "${LAB_VIRTUAL:-}" = 1 ]; then pause "$1"; else command sleep "$1"; fi
}

# took_ms CMD...: runs it; MS is how long that took.
took_ms() {
	local start rc=0
	start=$(now_ms)
	"$@" || rc=$?
	# shellcheck disable=SC2034
	MS=$(($(now_ms) - start))
	return "$rc"
}

# below NAME VALUE LIMIT: ok if it is.
below() {
	if [ "${2:-$3}" -lt "$3" ]; then
		ok "$1"
	else
		fail "$1: ${2:-nothing} is not below $3"
	fi
}

# says FILE PATTERN: wait until a background command has said that.
says() {
	eventually 30 "grep -qE '$2' '$1'"
}
