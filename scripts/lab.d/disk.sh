#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# disk.sh 6.1 [root]: a disk of a Debian that has nothing of AF_SANX, for lab up --disk;
# make it once, print where it is; or with "root" the folder that it was made of.
#
# It has systemd, a kernel with its headers, and what the packages depend on, so that
# they can be installed without a network.  Of the lab there are two units: one that
# names the node and its addresses and makes its RDMA device, which is an
# administrator's part, and one for the agent.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

[ "${1:-}" = 6.1 ] || die "usage: disk.sh 6.1 [root]"
release=$("$here/../kernel/kernel.sh" 6.1 release)
packages="systemd-sysv,udev,dbus,kmod,iproute2,procps,linux-image-$release,linux-headers-$release"
packages+=",dkms,ccache,rdma-core,libmnl0,libjson-c5,libc6-dev,openssl"
dir=$SANX_CACHE/disk-$release-$(sha256sum "${BASH_SOURCE[0]}" | cut -c1-12)

unit() {
	cat >"$1/etc/systemd/system/$2.service"
	ln -s "../$2.service" "$1/etc/systemd/system/multi-user.target.wants/"
}

# guest ROOT: what makes it a node.
guest() {
	local root=$1 unit
	mkdir -p "$root/etc/systemd/system/multi-user.target.wants" "$root/share"
	unit "$root" lab-node <<-'END'
		[Unit]
		Description=a name, addresses and an RDMA device for a node of the lab
		Before=network-online.target
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/usr/local/sbin/lab-node
	END
	unit "$root" lab-agent <<-'END'
		[Unit]
		Description=the agent of the lab
		After=lab-node.service
		# Its commands outlive no shutdown, but nor do they delay one.
		[Service]
		Environment=HOME=/root LANG=C.UTF-8
		ExecStartPre=mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none share /share
		ExecStart=/share/agent
		LimitMEMLOCK=infinity
		KillMode=mixed
		TimeoutStopSec=5
	END
	install -m 755 /dev/stdin "$root/usr/local/sbin/lab-node" <<-'END'
		#!/bin/sh
		# scripts/guest/init does this for nodes without a disk.
		set -eu
		n=$(sed 's/.*sanx\.node=\([0-9]*\).*/\1/' /proc/cmdline)
		hostname "node$n"
		ip link set eth0 up
		ip addr add "10.77.0.$n/24" dev eth0
		ip addr add "fd77::$n/64" dev eth0 nodad
		modprobe rdma_rxe
		rdma link add rxe0 type rxe netdev eth0
	END
	# Emulated, they would take longer than all else that starts.
	for unit in apt-daily.timer apt-daily-upgrade.timer e2scrub_reap.service getty@tty1.service \
		serial-getty@ttyS0.service systemd-networkd.service systemd-networkd-wait-online.service; do
		ln -sf /dev/null "$root/etc/systemd/system/$unit"
	done
	# A first boot would enable what is only there, such as networkd.
	: >"$root/etc/machine-id"
	rm -f "$root/boot"/initrd.img-* "$root/etc/resolv.conf"
}

make_disk() {
	[ ! -e "$dir/.complete" ] || return 0
	[ "$(id -u)" = 0 ] || die "only root can make a disk"
	say "making a disk with Debian 12 and kernel $release: minutes, once"
	rm -rf "$dir"
	mkdir -p "$dir"
	mmdebstrap --variant=minbase --include="$packages" bookworm "$dir/root" >"$dir/log" 2>&1 || {
		tail -n 30 "$dir/log" >&2
		die "mmdebstrap failed"
	}
	guest "$dir/root"
	mke2fs -q -t ext4 -d "$dir/root" "$dir/disk" 4G
	touch "$dir/.complete"
}

with_lock "disk-$release" make_disk
case ${2:-disk} in
disk | root) echo "$dir/${2:-disk}" ;;
*) die "no such part: $2" ;;
esac
