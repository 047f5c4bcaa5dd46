#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# install.sh install|uninstall RELEASE PREFIX DESTDIR: what make built, to where
# it belongs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

action=$1
release=$2
prefix=$3
destdir=$4
moddir=$destdir/lib/modules/$release/extra
includedir=$destdir$prefix/include/linux
cd "$SANX_TREE"

# New modules are found by name only after depmod, which a package runs itself.
refresh_modules() {
	[ -n "$destdir" ] || depmod "$release"
}

do_install() {
	install -d "$moddir" "$includedir"
	install -m 644 "build/$release"/{af_sanx,sanx_verbs}.ko "$moddir"
	install -m 644 include/uapi/linux/sanx*.h "$includedir"
	make -s -C tools install O="$PWD/build/tools" PREFIX="$prefix" DESTDIR="$destdir"
	refresh_modules
}

do_uninstall() {
	local f
	rm -f "$moddir"/{af_sanx,sanx_verbs}.ko
	for f in include/uapi/linux/sanx*.h; do rm -f "$includedir/$(basename "$f")"; done
	make -s -C tools uninstall PREFIX="$prefix" DESTDIR="$destdir"
	rmdir --ignore-fail-on-non-empty "$moddir" 2>/dev/null || true
	refresh_modules
}

"do_$action"
