#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# resolve.sh [KVER] [release|kdir]: which kernel to build modules for.
#
# KVER is a release (6.1.0-56-amd64), one of the lab's names (6.1, 6.12, debug,
# kcsan, um) or empty: the running kernel, or failing its headers the newest that are
# installed.  Prints "RELEASE KDIR", or only the field asked for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

# headers_of RELEASE: its build folder, if its headers are here.
headers_of() {
	local dir
	for dir in "/lib/modules/$1/build" "/usr/src/linux-headers-$1"; do
		[ -e "$dir/Module.symvers" ] && echo "$dir" && return
	done
	for dir in "$SANX_CACHE"/kernels/*; do
		[ -e "$dir/build/Module.symvers" ] && [ "$(cat "$dir/release" 2>/dev/null)" = "$1" ] &&
			echo "$dir/build" && return
	done
	return 1
}

newest_installed() {
	local dir
	for dir in /usr/src/linux-headers-*; do
		[ ! -e "$dir/Module.symvers" ] || echo "${dir#/usr/src/linux-headers-}"
	done | sort -V | tail -n 1
}

pick() {
	case $1 in
	6.1 | 6.12 | debug | kcsan | um)
		RELEASE=$("$here/kernel.sh" "$1" release)
		KDIR=$("$here/kernel.sh" "$1" kdir)
		return
		;;
	esac
	RELEASE=${1:-$(uname -r)}
	KDIR=$(headers_of "$RELEASE") && return
	[ -z "$1" ] || die "no headers for kernel $1"
	RELEASE=$(newest_installed)
	[ -n "$RELEASE" ] || die "no kernel headers are installed: run scripts/deps.sh"
	KDIR=$(headers_of "$RELEASE")
	say "the running kernel $(uname -r) has no headers here: building for $RELEASE"
}

pick "${1:-}"
case ${2:-both} in
release) echo "$RELEASE" ;;
kdir) echo "$KDIR" ;;
both) echo "$RELEASE $KDIR" ;;
*) die "no such field: $2" ;;
esac
