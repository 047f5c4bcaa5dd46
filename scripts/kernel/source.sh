#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# source.sh SERIES: unpack Debian's linux-source-SERIES once, print where it is.
#
# With the patches in patches/, which mend what keeps a debug kernel from looking
# for our mistakes, or make it faster; what they touch is in that kernel only.
#
# The debug kernel is built from it, checkpatch, kernel-doc and the netlink
# code generator are taken from it, and so are the selftest headers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

series=${1:?usage: source.sh SERIES}
tarball=/usr/src/linux-source-$series.tar.xz
[ -f "$tarball" ] || die "no $tarball: run scripts/deps.sh"
version=$(dpkg-query -W -f '${Version}' "linux-source-$series")
dir=$SANX_CACHE/src/linux-$version

# apply_patches: they are for one series.  A tree keeps a copy of each that it has, so
# that one which was changed since is taken back first.
apply_patches() {
	local patch has
	[ "$series" = 6.12 ] || return 0
	for patch in "$here"/patches/*.patch; do
		has=$dir/.has-$(basename "$patch")
		! cmp -s "$patch" "$has" || continue
		[ ! -s "$has" ] || patch -s -R -d "$dir" -p1 <"$has"
		# A tree unpacked when its patches left an empty file has the first of them.
		if [ ! -e "$has" ] || [ -s "$has" ]; then
			patch -s -d "$dir" -p1 <"$patch"
		fi
		cp "$patch" "$has"
	done
}

unpack() {
	if [ -e "$dir/.complete" ]; then
		apply_patches
		return
	fi
	say "unpacking linux-source-$series $version"
	rm -rf "$dir"
	mkdir -p "$dir"
	tar -C "$dir" --strip-components=1 -xf "$tarball"
	apply_patches
	touch "$dir/.complete"
}

with_lock "source-$series" unpack
printf '%s\n' "$dir"
