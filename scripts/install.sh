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
cd "$SANX_TREE"

# New modules are found by name only after depmod, which a package runs itself.
refresh_modules() {
	[ -n "$destdir" ] || depmod "$release"
}

do_install() {
	install -d "$moddir"
	install -m 644 "build/$release"/{af_sanx,sanx_verbs}.ko "$moddir"
	make -s -C tools install install-dev O="$PWD/build/tools" PREFIX="$prefix" DESTDIR="$destdir"
	refresh_modules
}

do_uninstall() {
	rm -f "$moddir"/{af_sanx,sanx_verbs}.ko
	make -s -C tools uninstall PREFIX="$prefix" DESTDIR="$destdir"
	rmdir --ignore-fail-on-non-empty "$moddir" 2>/dev/null || true
	refresh_modules
}

"do_$action"
