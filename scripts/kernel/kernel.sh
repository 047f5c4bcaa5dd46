#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# kernel.sh NAME [release|kdir|vmlinuz|moddir]: where a kernel's parts are.
#
# NAME is 6.1, 6.12 (Debian's own), debug, kcsan or um (built here; um is User Mode
# Linux).  What is missing is fetched or built first.  Without a field all are printed as shell variables.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

name=${1:?usage: kernel.sh 6.1|6.12|debug|kcsan|um [release|kdir|vmlinuz|moddir]}
case $name in
debug) dir=$("$here/build-debug.sh" x86) ;;
kcsan) dir=$("$here/build-kcsan.sh") ;;
um) dir=$("$here/build-debug.sh" um) ;;
6.1 | 6.12) dir=$("$here/stock.sh" "$name") ;;
*) die "no kernel is called '$name': 6.1, 6.12, debug, kcsan or um" ;;
esac

RELEASE=$(cat "$dir/release")
VMLINUZ=$dir/vmlinuz
MODDIR=$dir/root/lib/modules/$RELEASE
case $name in
debug | kcsan | um) KDIR=$dir/build ;;
*) KDIR=/usr/src/linux-headers-$RELEASE ;;
esac

case ${2:-all} in
release) echo "$RELEASE" ;;
kdir) echo "$KDIR" ;;
vmlinuz) echo "$VMLINUZ" ;;
moddir) echo "$MODDIR" ;;
all) printf '%s=%q\n' RELEASE "$RELEASE" KDIR "$KDIR" VMLINUZ "$VMLINUZ" MODDIR "$MODDIR" ;;
*) die "no such field: $2" ;;
esac
