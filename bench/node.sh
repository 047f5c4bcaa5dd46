#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# node.sh PATH: on a node, all that is measured of one path, a line each:
# PATH MEASURE NUMBER VALUE, or PATH failed WHAT, and then the status is 3.
# What the path needs is loaded already.
set -euo pipefail

BENCH=$SANX_TREE/build/bench/bench
RSPRELOAD=/usr/lib/$(uname -m)-linux-gnu/rsocket/librspreload.so
MINE=10.77.0.$NODE
# This node's too, and to the node map that of a node without a link.
UNREACHABLE=10.77.0.5

LATENCY_SIZES="1 64 256 1024 4096 16384 65536"
STREAM_SIZES="1 64 256 1024 4096 16384 65536 262144 1048576"
# With TCP_NODELAY, read with a buffer that takes what there is.
LARGE_READS=262144
LARGE_SIZES="1 1024"
NODELAY_SIZES="64 1024 4096 16384 65536"
MANY="1 16 256 4096"
DGRAM_SIZES="1 1024 16384"
CONNECTIONS=500

# Seconds for one program.
PATIENCE=120
STATUS=0

# failed WHAT...: the rest is measured all the same.
failed() {
	echo "$path failed $*"
	STATUS=3
}

# measure ARGS...: half of its figures would be none.
measure() {
	local out
	if out=$(timeout "$PATIENCE" "$BENCH" "$@") && [ -n "$out" ]; then
		printf '%s\n' "$out" | sed "s/^/$path /"
	else
		failed "$@"
	fi
}

one_at_a_time() {
	# shellcheck disable=SC2086
	{
		measure "$@" latency $LATENCY_SIZES
		measure "$@" stream $STREAM_SIZES
		measure "$@" -r "$LARGE_READS" latency $LARGE_SIZES
		measure "$@" -n -r "$LARGE_READS" stream $NODELAY_SIZES
		measure "$@" connect "$CONNECTIONS"
		measure "$@" short "$CONNECTIONS"
	}
}

# sockets OPTIONS...: everything.
sockets() {
	one_at_a_time "$@"
	measure "$@" idle 512
	# shellcheck disable=SC2086
	measure "$@" many $MANY
}

# dgrams OPTIONS...: UDP's, or what takes its place.
dgrams() {
	# shellcheck disable=SC2086
	{
		measure "$@" dgram $DGRAM_SIZES
		measure "$@" dgrams $DGRAM_SIZES
	}
}

# sockmap: to the program it is TCP.
sockmap() {
	echo "$$" >/sys/fs/cgroup/sockmap/cgroup.procs
	sockets -k tcp
}

# It knows no epoll, and one of its connections takes milliseconds.
rsockets() {
	cd /tmp
	export LD_PRELOAD=$RSPRELOAD
	CONNECTIONS=20
	one_at_a_time -a "$MINE"
}

# perftest TOOL SIZE COLUMN OPTIONS...: a figure of a server and its client.
perftest() {
	local tool=$1 size=$2 column=$3 server rc=0
	shift 3
	timeout "$PATIENCE" "$tool" -F -d rxe0 -s "$size" "$@" >/dev/null 2>&1 &
	server=$!
	until [ -n "$(ss -Hltn "sport = :18515")" ]; do
		kill -0 "$server" || return
		sleep 0.01
	done
	timeout "$PATIENCE" "$tool" -F -d rxe0 -s "$size" "$@" "$MINE" 2>/dev/null |
		awk -v size="$size" -v column="$column" '$1 == size { print $column }' || rc=$?
	wait "$server" || rc=$?
	return "$rc"
}

# verbs MEASURE FACTOR TOOL SIZE COLUMN OPTIONS...
verbs() {
	local measure=$1 factor=$2 size=$4 figure
	shift 2
	if figure=$(perftest "$@") && [ -n "$figure" ]; then
		awk -v line="$path $measure $size" -v figure="$figure" -v factor="$factor" \
			'BEGIN { printf "%s %.3f\n", line, figure * factor }'
	else
		failed "$measure $size"
	fi
}

# perftest's MB are MiB.
verbs_themselves() {
	local size
	for size in $LATENCY_SIZES; do
		verbs latency 1 ib_send_lat "$size" 6 -e -n 300
	done
	for size in $STREAM_SIZES; do
		verbs stream 1.048576 ib_write_bw "$size" 4 -n \
			$((size < 65536 ? 1000 : size < 1048576 ? 300 : 32))
	done
}

path=$1
case $path in
eventfd) measure -k eventfd latency 1 ;;
unix) sockets -k unix && dgrams -k unix ;;
tcp) sockets -k tcp && dgrams -k tcp ;;
loop) sockets -k sanx && dgrams -k sanx ;;
sockmap) sockmap ;;
fallback) one_at_a_time -k sanx ;;
fb-link) one_at_a_time -k sanx -a "$UNREACHABLE" ;;
fb-option) one_at_a_time -k sanx -o ;;
tcp-rail | verbs) sockets -k sanx -a "$MINE" && dgrams -k sanx -a "$MINE" ;;
rsockets) rsockets ;;
raw) verbs_themselves ;;
*) echo "bench: no path is called '$path'" >&2 && exit 2 ;;
esac
exit "$STATUS"
