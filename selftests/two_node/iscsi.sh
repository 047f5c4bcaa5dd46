#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A file system on an iSCSI disk: the initiator is the kernel itself, which takes over the
# socket that iscsid made, and reads its receive queue (conn/feed.c).
# kernels: 6.1 um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

DIR=/tmp/iscsi
NAME=iqn.2026-01.lab:disk
PORTAL=10.77.0.1:3260
SIZE=24

prepare() {
	node1 "mkdir -p $DIR && truncate -s ${SIZE}M $DIR/disk"
	nodes "mkdir -p $DIR/mnt /etc/iscsi && modprobe -a sd_mod iscsi_tcp &&
		echo InitiatorName=iqn.2026-01.lab:\$HOSTNAME >/etc/iscsi/initiatorname.iscsi"
}

# target: tgtd on node 1, with the disk.
target() {
	background 1 "exec sanx-run --strict tgtd -f --iscsi portal=$PORTAL"
	TARGET=$LAST
	wait_port 1 3260
	node1 "tgtadm --lld iscsi --op new --mode target --tid 1 -T $NAME &&
		tgtadm --lld iscsi --op new --mode logicalunit --tid 1 --lun 1 -b $DIR/disk &&
		tgtadm --lld iscsi --op update --mode target --tid 1 --name HeaderDigest --value CRC32C &&
		tgtadm --lld iscsi --op update --mode target --tid 1 --name DataDigest --value CRC32C &&
		tgtadm --lld iscsi --op bind --mode target --tid 1 -I ALL" </dev/null
}

# login N: node N's session, with a checksum over each header and over all data.
login() {
	local digest
	lab run "$1" iscsiadm -m node -o new -T "$NAME" -p "$PORTAL"
	for digest in Header Data; do
		lab run "$1" iscsiadm -m node -T "$NAME" -o update \
			-n "node.conn[0].iscsi.${digest}Digest" -v CRC32C
	done
	lab run "$1" iscsiadm -m node -T "$NAME" -p "$PORTAL" --login
} </dev/null

# disk N: its device there; fails if there is none.
disk() {
	lab run "$1" "basename /sys/class/iscsi_session/*/device/target*/*:1/block/[a-z]*" </dev/null |
		grep -v '\*'
}

# limited N SECONDS 'SHELL LINE': on node N; 124 if it takes longer.
limited() {
	lab run "$1" timeout -k 5 $(($2 * SLOW)) bash -c "$3" </dev/null
}

# on NODE: a session from there, and a file system on its disk, which stays mounted.
on() {
	background "$1" "exec sanx-run --strict iscsid -f"
	check "login" eventually 30 "login $1"
	check "there is a disk" eventually 30 "disk $1"
	DISK=$(disk "$1")
	check "mkfs" limited "$1" 60 "mkfs.ext4 -q -F -O ^has_journal /dev/$DISK"
	check "mount" limited "$1" 30 "mount /dev/$DISK $DIR/mnt"
	check "write" limited "$1" 60 "head -c 6000000 /dev/urandom >$DIR/mnt/file &&
		cp -r /etc/ssl $DIR/mnt/ && sync -f $DIR/mnt"
	SUM=$(limited "$1" 30 "sha256sum <$DIR/mnt/file")
}

# off NODE: what was written is there when nothing of it is in memory any more.
off() {
	check "umount" limited "$1" 60 "umount $DIR/mnt && blockdev --flushbufs /dev/$DISK &&
		echo 3 >/proc/sys/vm/drop_caches"
	check "mount again" limited "$1" 30 "mount -o ro /dev/$DISK $DIR/mnt"
	is "the file is the same" "$(limited "$1" 60 "sha256sum <$DIR/mnt/file")" "$SUM"
	check "so are the small ones" limited "$1" 30 "diff -r /etc/ssl $DIR/mnt/ssl"
	check "umount again" limited "$1" 30 "umount $DIR/mnt"
	check "logout" limited "$1" 30 "iscsiadm -m node -T $NAME --logout"
}

plan 30
load_verbs
nodemap_std
prepare
target

echo "# between two nodes"
remember
on 2
is "the connection is over verbs" "$(moved 2 conns_verbs) $(moved 2 conns_fallback)" "1 0"
# The target is killed, and starts again, while a program writes.
background 2 "exec dd if=/dev/urandom of=$DIR/mnt/more bs=64k count=128 oflag=direct"
WRITER=$LAST
eventually 20 "at_least 2 tx_bytes 8000000"
node1 "pkill -KILL tgtd" </dev/null
stop "$TARGET"
target
STATUS=0
wait "$WRITER" || STATUS=$?
is "what was being written is done" "$STATUS" 0
check "over verbs again" eventually 60 "at_least 2 conns_verbs 2"
check "all of it" at_least 2 tx_bytes 14000000
off 2
check "what was read came over verbs" at_least 2 rx_bytes 6000000

# There the initiator may read later than it is told.  It then takes its back_lock with
# softirqs enabled, over TCP, too, which lockdep does not let pass.
echo "# on one node"
[ "$KERNEL" = um ] ||
	node1 "echo Y >/sys/module/iscsi_tcp/parameters/recv_from_iscsi_q" </dev/null
remember
on 1
is "the connection is over loop" "$(moved 1 conns_loop) $(moved 1 conns_fallback)" "2 0"
off 1
stop_all
check "the target's disk is a clean file system" node1 e2fsck -fn $DIR/disk
nodes "rm -rf $DIR"
check "nothing is left of it" eventually 10 "unload_sanx 2"
