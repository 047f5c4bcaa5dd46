#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# headers.sh TREE FOLDER
#
# Makes in FOLDER each kernel header that the sources of TREE include; it leads
# to sim/shim/kernel.h, and those of netlink to sim/shim/netlink.h.  Those that libc
# needs as well lead to the system's too.
set -euo pipefail
tree=$1 out=$2

both="linux/errno.h linux/netlink.h linux/socket.h linux/stddef.h linux/types.h"

names() {
	find "$tree/af_sanx/link" "$tree/af_sanx/conn" "$tree/af_sanx/config" \
		"$tree/af_sanx/loop" "$tree/af_sanx/netlink" "$tree/af_sanx/dgram" \
		"$tree/include/net" \
		-name '*.[ch]' -print0 |
		xargs -0 sed -nE 's/^#include <((linux|net|asm|kunit|trace|crypto)\/[^>]*)>.*/\1/p' |
		sort -u
}

for h in $(names) $both; do
	[ ! -e "$tree/include/$h" ] || continue
	mkdir -p "$out/$(dirname "$h")"
	case " $both " in
	*" $h "*) echo "#include_next <$h>" ;;
	esac >"$out/$h"
	case $h in
	net/netlink.h | net/genetlink.h) echo '#include "sim/shim/netlink.h"' ;;
	*) echo '#include "sim/shim/kernel.h"' ;;
	esac >>"$out/$h"
done
