#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A file system on a network block device: the client is the kernel itself,
# which takes over the socket that nbd-client made.
# kernels: 6.1 um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

DIR=/tmp/nbd
SIZE=24
# Seconds: no request is given up, as what is late on a busy host is no error.
FOREVER=86400

prepare() {
	node1 "mkdir -p $DIR && truncate -s ${SIZE}M $DIR/disk && cat >$DIR/conf" <<-END
		[generic]
		port = 10809
		allowlist = false
		[disk]
		exportname = $DIR/disk
	END
	node2 "mkdir -p $DIR/mnt && modprobe nbd" </dev/null
}

# start [COMMAND...]: the server, under that command.
start() {
	background 1 "exec $* nbd-server -d -C $DIR/conf"
	wait_port 1 10809
}

# attach SECONDS [COMMAND...]: the client, likewise.  It gives requests up after so long.
attach() {
	local limit=$1
	shift
	node2 "$@" nbd-client -t "$limit" -N disk 10.77.0.1 /dev/nbd0 </dev/null
}

# limited SECONDS 'SHELL LINE': on node 2; 124 if it takes longer.
limited() {
	lab run 2 timeout -k 5 $(($1 * SLOW)) bash -c "$2" </dev/null
}

file_system() {
	check "mkfs" limited 60 "mkfs.ext4 -q -F -O ^has_journal /dev/nbd0"
	check "mount" limited 30 "mount /dev/nbd0 $DIR/mnt"
	check "write" limited 60 "head -c 6000000 /dev/urandom >$DIR/mnt/file && cp -r /etc/ssl $DIR/mnt/ && sync -f $DIR/mnt"
	sum=$(limited 30 "sha256sum <$DIR/mnt/file")
	check "umount" limited 30 "umount $DIR/mnt && blockdev --flushbufs /dev/nbd0 && echo 3 >/proc/sys/vm/drop_caches"
	check "mount again" limited 30 "mount -o ro /dev/nbd0 $DIR/mnt"
	is "the file is the same" "$(limited 60 "sha256sum <$DIR/mnt/file")" "$sum"
	check "so are the small ones" limited 30 "diff -r /etc/ssl $DIR/mnt/ssl"
	check "umount again" limited 30 "umount $DIR/mnt"
}

# reserved NAME: a thread that works for the workqueue when there is no memory for
# another, without which a write could wait for itself.
reserved() {
	node2 "ps -eo comm | grep -qxE '(kworker/R-)?$1'"
}

# says_reserves, after watch_reserves: node 2's TCP rail knows that reclaim waits for it.
watch_reserves() {
	node2 "echo 'func tlink_use_reserves +p' >/proc/dynamic_debug/control; dmesg -C" </dev/null
}
says_reserves() {
	node2 "dmesg | grep -q 'node 1: for memory reclaim'" </dev/null
}

plan $((24 + ${#RAIL} * 2 / 3))
load_verbs
[ -z "$RAIL" ] || watch_reserves
nodemap_std
prepare
remember
start sanx-run --strict
check "nbd-client attaches" attach $FOREVER sanx-run --strict
is "the connection is over verbs" "$(moved 2 conns_verbs) $(moved 2 conns_fallback)" "1 0"
file_system
[ -z "$RAIL" ] || check "the rail may use the reserves" says_reserves
for queue in sanx sanx_link sanx_conn ${RAIL:+sanx_tcp}; do
	check "workqueue $queue runs without memory" reserved "$queue"
done
check "what was written went over verbs" at_least 2 tx_bytes 6000000
check "what was read did" at_least 2 rx_bytes 6000000
check "and at the server" at_least 1 rx_bytes 6000000
check "the module is in use" node2 "! rmmod $WIRE_MODULE 2>/dev/null"
check "detach" node2 nbd-client -d /dev/nbd0
stop "$LAST"
check "the server's disk is a clean file system" node1 e2fsck -fn $DIR/disk

# A server that dies is an error for who uses the disk, and not the end.
# written: sectors that were ever written to the disk of node 2.
written() {
	node2 cat /sys/block/nbd0/stat </dev/null | awk '{ print $7 }'
}

# killed NAME [COMMAND...]: as over TCP.
killed() {
	local name=$1 before
	shift
	start "$@"
	# The kernel gives requests up for their age only, when the connection is gone, too.
	# On a busy host that may be before, which is the same error.
	check "$name, attach" attach 10 "$@"
	before=$(written)
	background 2 "timeout -k 1 $((60 * SLOW)) sh -c '
		while dd if=/dev/zero of=/dev/nbd0 bs=1M count=$SIZE oflag=direct; do :; done
		exit 1'; echo rc \$?"
	eventually 30 "[ \$(written) -gt $before ]" || true
	node1 pkill -9 nbd-server </dev/null
	if says "$LAST_LOG" 'rc [0-9]+'; then
		is "$name, the server is killed: an error" "$(grep -oE 'rc [0-9]+' "$LAST_LOG")" "rc 1"
	else
		fail "$name, the server is killed: the writer hangs"
	fi
	node2 nbd-client -d /dev/nbd0 </dev/null >/dev/null 2>&1 || true
}

killed "plain TCP"
killed "AF_SANX" sanx-run --strict
nodes "rm -rf $DIR"
check "nothing is left of it" eventually 10 "unload_sanx 2"
