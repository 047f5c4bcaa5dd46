#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# A kernel consumer: nbd on node 2 gets its socket from nbd-client under
# sanx-run, and a file system's blocks travel over verbs.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lablib.sh"

plan 9

load_verbs
nodemap_std
node1 'truncate -s 64M /tmp/disk && cat >/tmp/nbd.conf <<-END
	[generic]
	port = 10809
	listenaddr = 10.77.0.1
	[disk]
	exportname = /tmp/disk
	END'
background 1 'sanx-run --strict nbd-server -d -C /tmp/nbd.conf'
wait_port 1 10809
node2 modprobe nbd max_part=0
at_exit "node2 'umount /mnt 2>/dev/null; nbd-client -d /dev/nbd0; true' >/dev/null 2>&1"

tx=$(stat 2 tx_bytes)
rx=$(stat 2 rx_bytes)
check "nbd-client attaches a device" \
	node2 'sanx-run --strict nbd-client 10.77.0.1 10809 /dev/nbd0 -N disk -b 4096'
is "by a connection over verbs" "$(stat 2 conns_verbs)" 1
is "and by no other" "$(stat 2 conns_fallback)" 0
check "mkfs" node2 'mkfs.ext4 -q -E lazy_itable_init=0 /dev/nbd0'
check "write" node2 'mkdir -p /mnt && mount /dev/nbd0 /mnt &&
	head -c 4000000 /dev/urandom >/mnt/file && cp /mnt/file /tmp/file && sync && umount /mnt'
check "read back after a remount" node2 'echo 3 >/proc/sys/vm/drop_caches &&
	mount /dev/nbd0 /mnt && cmp /mnt/file /tmp/file && umount /mnt && fsck.ext4 -fn /dev/nbd0'
tx=$(($(stat 2 tx_bytes) - tx))
rx=$(($(stat 2 rx_bytes) - rx))
echo "# $tx bytes to the server, $rx bytes from it"
if [ "$tx" -gt 4000000 ]; then ok "what was written went over AF_SANX"; else fail "what was written went over AF_SANX"; fi
if [ "$rx" -gt 4000000 ]; then ok "what was read came over AF_SANX"; else fail "what was read came over AF_SANX"; fi
check "nbd-client detaches" node2 'nbd-client -d /dev/nbd0'
