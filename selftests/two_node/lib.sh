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

# stop_all: whatever runs in the background.
stop_all() {
	local pid
	for pid in "${LAB_BACKGROUND[@]}"; do stop "$pid"; done
	LAB_BACKGROUND=()
}

# remember [N...]: the counters of the nodes, which moved() then compares with.
remember() {
	local n
	[ $# -gt 0 ] || set -- 1 2
	for n; do
		BEFORE[n]=$(counters "$n")
	done
}
BEFORE=()

# counters N: KEY VALUE lines.
counters() {
	lab run "$1" sanxctl -j stats show </dev/null |
		jq -r '(if type == "array" then .[0] else . end) | to_entries[] | "\(.key) \(.value)"'
}

# moved N KEY: by how much, since remember.
moved() {
	local now before
	before=$(sed -n "s/^$2 //p" <<<"${BEFORE[$1]}")
	now=$(stat "$1" "$2")
	echo $((now - before))
}

# moves N KEY=VALUE...: fails, and says so, if a counter moved by anything else.
# Fallback counters that are not named must not have moved, nor protocol_errors.
moves() {
	local n=$1 key now all rc=0
	declare -A want
	shift
	for key in "$@"; do want[${key%%=*}]=${key#*=}; done
	all=$(counters "$n")
	for key in conns_loop conns_verbs conns_tcp_rail protocol_errors $(sed -n 's/^\(fallback_[a-z]*\) .*/\1/p' <<<"$all"); do
		now=$(sed -n "s/^$key //p" <<<"$all")
		now=$((now - $(sed -n "s/^$key //p" <<<"${BEFORE[$n]}")))
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

# took_ms CMD...: runs it; MS is how long that took.
took_ms() {
	local start rc=0
	start=$(date +%s%N)
	"$@" || rc=$?
	# shellcheck disable=SC2034
	MS=$((($(date +%s%N) - start) / 1000000))
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
