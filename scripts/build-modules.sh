#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-modules.sh KVER [MAKE-ARGS...]: build the modules into build/RELEASE/.
#
# kbuild leaves objects beside sources, so it is given a folder of symbolic
# links instead: one for each kernel, and the source tree stays clean.
# KDIR and BUILD, if set, say where the kernel is and where objects go; FRESH=1
# builds everything anew, and so shows every warning.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

kver=${1-}
[ $# = 0 ] || shift
read -r release kdir <<<"$("$here/kernel/resolve.sh" "$kver")"
[ -n "$release" ] || exit 1

# One line, where kbuild itself, which refuses it too, adds some of its own.
supported() {
	local k
	for k in $1; do [[ $release != "$k".* ]] || return 0; done
	die "AF_SANX can be built for Linux ${1// / and }, not for $release"
}
supported "$(sed -n 's/^sanx-kernels := //p' "$SANX_TREE/Kbuild")"
kdir=${KDIR:-$kdir}
out=${BUILD:-$SANX_TREE/build/$release}

# link_sources: new files get a link, links to files that went are removed.
link_sources() {
	local part
	mkdir -p "$out"
	for part in Kbuild VERSION af_sanx include kunit; do
		[ ! -e "$SANX_TREE/$part" ] || cp -rsf "$SANX_TREE/$part" "$out/"
	done
	find "$out" -xtype l -delete
}

say "building modules for $release"
mkdir -p "$out"
exec {lock}>"$out/.lock"
flock "$lock"
[ -z "${FRESH:-}" ] || find "$out" -mindepth 1 -maxdepth 1 ! -name .lock -exec rm -rf {} +
link_sources
# A make above us must not pass its own variables on to kbuild.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES
use_ccache
! grep -q '^CONFIG_UML=y' "$kdir/.config" || set -- ARCH=um "$@"
exec make -s -C "$kdir" M="$out" -j"$(nproc)" W=1 "$@" modules
