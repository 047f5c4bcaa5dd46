#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The tables of Documentation/options.rst, for programs to walk.
#
#	options-table.sh list           LEVEL NAME NUMBER CLASS, a line each
#	options-table.sh header         the same in C, for selftests/sockopts.c
#	options-table.sh check KSRC...  fail if an option of these kernels' headers
#	                                is not there, or has another number
set -euo pipefail
TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
RST=$TREE/Documentation/options.rst

# A section is named for its level; a row begins with a name and a number.
list() {
	awk '
		/^(SOL_SOCKET|IPPROTO_TCP|IPPROTO_IP|IPPROTO_IPV6)$/ { level = $1 }
		level && $1 ~ /^[A-Z0-9_]+$/ && $2 ~ /^[0-9]+$/ { print level, $1, $2, $3 }
	' "$RST"
}

header() {
	echo "/* SPDX-License-Identifier: GPL-2.0 */"
	echo "/* Made of Documentation/options.rst by scripts/options-table.sh. */"
	list | awk '{
		n = split("same set own refused unread", class)
		known = 0
		for (i = 1; i <= n; i++)
			known += $4 == class[i]
		if (!known) {
			print "options.rst: " $2 ": what is \"" $4 "\"?" >"/dev/stderr"
			exit 1
		}
		printf "OPTION(%s, \"%s\", %s, %s)\n", $1, $2, $3, toupper($4)
	}'
}

# What looks like an option in a header and is a value of one.
VALUES='^(IP_(PMTUDISC|DEFAULT)_|IP_MSFILTER_SIZE|MCAST_(IN|EX)CLUDE$|IPV6_(PMTUDISC|PRIORITY|TLV|PREFER_SRC|FL_[AFS])_|IPV6_FLOWINFO_(FLOWLABEL|PRIORITY)$|TCP_(MSS|AO_KEYF|MD5SIG_FLAG|RECEIVE_ZEROCOPY_FLAG)_|TCP_(MD5SIG|AO)_MAXKEYLEN$|TCP_REPAIR_(ON|OFF|OFF_NO_WP)$)'

# defines HEADER PATTERN LEVEL: as list, without the class.
defines() {
	awk -v pattern="^($2)_" -v values="$VALUES" -v level="$3" '
		$1 == "#define" && $2 ~ pattern && $2 !~ values && !($2 in value) {
			value[$2] = $3
			order[++n] = $2
		}
		END {
			for (i = 1; i <= n; i++) {
				v = value[order[i]]
				while (v in value) v = value[v]
				if (v ~ /^[0-9]+$/) print level, order[i], v
			}
		}' "$1"
}

headers() {
	local uapi=$1/include/uapi
	defines "$uapi/asm-generic/socket.h" SO SOL_SOCKET
	defines "$uapi/linux/tcp.h" TCP IPPROTO_TCP
	defines "$uapi/linux/in.h" 'IP|MCAST' IPPROTO_IP
	defines "$uapi/linux/in6.h" IPV6 IPPROTO_IPV6
}

check() {
	local ksrc missing rc=0
	for ksrc in "$@"; do
		missing=$(comm -23 <(headers "$ksrc" | sort -u) <(list | cut -d' ' -f1-3 | sort -u))
		[ -z "$missing" ] || {
			echo "not in Documentation/options.rst, of ${ksrc##*/}:"
			echo "$missing"
			rc=1
		}
	done
	header >/dev/null || rc=1
	return "$rc"
}

command=${1:-}
[ $# = 0 ] || shift
case $command in
list | header | check) "$command" "$@" ;;
*) sed -n 's/^#	//p' "$0" >&2 && exit 2 ;;
esac
