#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# consts.sh >sanx.txt.const: the values of all names in sanx.txt and prelude.txt, as
# syz-extract of syzkaller would find them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

# names: words in capitals, but for those that the files define, parameters and calls.
names() {
	sed -E 's/#.*//; s/"[^"]*"//g; s/\$[A-Za-z0-9_]+//g; /^include/d' "$here"/{sanx,prelude}.txt |
		grep -oE '\<[A-Z][A-Z0-9_]*_[A-Z0-9_]+\>|\<(FASYNC|FIONBIO|FIOASYNC|SIOCINQ|SIOCOUTQ|SIOCATMARK|SIOCOUTQNSD|SIOCGIFCONF|SIOCGPGRP)\>' |
		grep -v '^SYZ_' | sort -u
}

# program: prints them.  An option has the number that options.rst gives it, whatever the headers of
# this machine know.
program() {
	local name number options
	options=$("$here/../options-table.sh" list)
	cat <<-'END'
		#define _GNU_SOURCE
		#include <arpa/inet.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/epoll.h>
		#include <sys/ioctl.h>
		#include <sys/socket.h>
		#include <asm/socket.h>
		#include <linux/errqueue.h>
		#include <linux/genetlink.h>
		#include <linux/netlink.h>
		#include <linux/sockios.h>
		#include "linux/sanx.h"
		#include "linux/sanx_netlink.h"
		int main(void) {
	END
	while read -r name; do
		number=$(awk -v n="$name" '$2 == n && !m { m = $3 } END { print m }' <<<"$options")
		printf 'printf("%s = %%lld\\n", (long long)(%s));\n' "$name" "${number:-$name}"
	done < <(names)
	echo "}"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program >"$work/consts.c"
gcc -w -I"$SANX_TREE/include/uapi" -o "$work/consts" "$work/consts.c"
cat <<END
# SPDX-License-Identifier: GPL-2.0
# Made by scripts/syzkaller/consts.sh.
arches = amd64
END
"$work/consts"
