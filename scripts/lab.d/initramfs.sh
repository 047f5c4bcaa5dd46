#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# initramfs.sh RELEASE MODDIR OUT: the first root of a node.
#
# busybox, and of RELEASE's modules those without which the host's root cannot
# be mounted, unpacked: busybox cannot load a .ko.xz.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

release=$1
moddir=$2
out=$3
needed="virtio_pci 9pnet_virtio 9p overlay virtio_console virtio_net virtio_rng virtio_blk ext4"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# files: the modules to load, in order; what is built in has none.
files() {
	local m
	for m in $needed; do
		/sbin/modprobe -d "${moddir%/lib/modules/*}" -S "$release" \
			--show-depends "$m" 2>/dev/null | sed -n 's/^insmod \([^ ]*\).*/\1/p'
	done | awk '!seen[$0]++'
}

add_module() {
	local file=$1 name
	name=$(basename "$file")
	case $name in
	*.xz) xz -dc "$file" >"$work/modules/${name%.xz}" ;;
	*.zst) zstd -qdc "$file" >"$work/modules/${name%.zst}" ;;
	*) cp "$file" "$work/modules/$name" ;;
	esac
	name=${name%.xz}
	echo "${name%.zst}" >>"$work/modules/order"
}

mkdir -p "$work"/{bin,proc,sys,dev,modules}
: >"$work/modules/order"
files | while read -r f; do add_module "$f"; done
cp /bin/busybox "$work/bin/busybox"
for applet in sh mount mkdir sed uname insmod switch_root poweroff sleep; do
	ln -s busybox "$work/bin/$applet"
done
cp "$here/../guest/first-init" "$work/init"
(cd "$work" && find . -print0 | cpio --null --quiet -R 0:0 -o -H newc) |
	gzip -1 >"$out.tmp"
mv "$out.tmp" "$out"
