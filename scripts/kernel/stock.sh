#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# stock.sh 6.1|6.12: fetch Debian's own kernel into the cache; print its folder.
#
# The package is downloaded and unpacked, never installed: the host's /boot and
# /lib/modules stay as they are.  The image is the one whose headers are
# installed, so that modules built here load there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

case ${1:-} in
6.1) meta=linux-headers-amd64 ;;
6.12) meta=linux-headers-6.12-amd64 ;;
*) die "usage: stock.sh 6.1|6.12" ;;
esac

# The metapackage depends on exactly one headers package: NAME (= VERSION).
depends=$(dpkg-query -W -f '${Depends}' "$meta" 2>/dev/null) ||
	die "$meta is not installed: run scripts/deps.sh"
[[ $depends =~ linux-headers-([0-9][^ ,]*)' (= '([^\)]+)\) ]] ||
	die "cannot read the dependencies of $meta: $depends"
release=${BASH_REMATCH[1]}
version=${BASH_REMATCH[2]}
dir=$SANX_CACHE/kernels/$release-$version

download() {
	apt-get -qq -o APT::Sandbox::User=root download "linux-image-$release=$version" >&2
}

# fetch: the archive may have moved on since the package lists were read.
fetch() {
	say "fetching linux-image-$release $version"
	(cd "$dir" && { download || { apt-get -qq update && download; }; }) ||
		die "linux-image-$release=$version cannot be downloaded; if the archive has moved on, run: apt-get install $meta"
}

unpack() {
	[ ! -e "$dir/.complete" ] || return 0
	rm -rf "$dir"
	mkdir -p "$dir"
	fetch
	dpkg -x "$dir"/linux-image-*.deb "$dir/root"
	rm -f "$dir"/linux-image-*.deb
	mv "$dir/root/boot/vmlinuz-$release" "$dir/vmlinuz"
	rm -rf "$dir/root/boot" "$dir/root/usr"
	/sbin/depmod -b "$dir/root" "$release"
	printf '%s\n' "$release" >"$dir/release"
	touch "$dir/.complete"
}

with_lock "stock-$1" unpack
printf '%s\n' "$dir"
