#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# source.sh SERIES: unpack Debian's linux-source-SERIES once, print where it is.
#
# The debug kernel is built from it, checkpatch, kernel-doc and the netlink
# code generator are taken from it, and so are the selftest headers.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

series=${1:?usage: source.sh SERIES}
tarball=/usr/src/linux-source-$series.tar.xz
[ -f "$tarball" ] || die "no $tarball: run scripts/deps.sh"
version=$(dpkg-query -W -f '${Version}' "linux-source-$series")
dir=$SANX_CACHE/src/linux-$version

unpack() {
	[ ! -e "$dir/.complete" ] || return 0
	say "unpacking linux-source-$series $version"
	rm -rf "$dir"
	mkdir -p "$dir"
	tar -C "$dir" --strip-components=1 -xf "$tarball"
	touch "$dir/.complete"
}

with_lock "source-$series" unpack
printf '%s\n' "$dir"
