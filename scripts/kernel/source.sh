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

# has_patches: does the tree have all patches as they are now, and no other?
has_patches() {
	local patch
	for patch in "$here"/patches/*.patch; do
		cmp -s "$patch" "$dir/.has-${patch##*/}" || return
	done
	for patch in "$dir"/.has-*; do [ -e "$here/patches/${patch##*/.has-}" ] || return; done
}

# apply_patches: they are for one series.  A tree keeps a copy of each that it has.  Some
# are on top of others, so if one is changed, all are taken back first, the last one first.
apply_patches() {
	local patch had i
	[ "$series" = 6.12 ] && ! has_patches || return 0
	shopt -s nullglob
	had=("$dir"/.has-*)
	for ((i = ${#had[@]} - 1; i >= 0; i--)); do
		patch -s -R -d "$dir" -p1 <"${had[i]}"
		rm "${had[i]}"
	done
	for patch in "$here"/patches/*.patch; do
		patch -s -d "$dir" -p1 <"$patch"
		cp "$patch" "$dir/.has-${patch##*/}"
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
