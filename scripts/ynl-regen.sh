#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# ynl-regen.sh [--check]: write the netlink code from its specification.
#
# With --check nothing is written; what differs is shown and is a failure.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

check=0
[ "${1:-}" != --check ] || check=1
linux=$("$here/kernel/source.sh" 6.12)
# The generator looks for its schema beside the specification, and writes the
# paths of what it reads and writes into its output: give it a tree of its own.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/Documentation/netlink/specs "$work"/include/uapi/linux \
	"$work"/af_sanx/netlink
: >"$work/MAINTAINERS" # how it recognises the top of a kernel tree
cp "$linux"/Documentation/netlink/*.yaml "$work/Documentation/netlink/"
spec=Documentation/netlink/specs/sanx.yaml
cp "$SANX_TREE/$spec" "$work/$spec"
rc=0

# generate FILE ARGS...: /usr/bin/python3 is the one that has Debian's modules.
generate() {
	local file=$1
	shift
	(cd "$work" && /usr/bin/python3 "$linux/tools/net/ynl/ynl-gen-c.py" \
		--spec "$spec" "$@" -o "$file")
	if [ "$check" = 0 ]; then
		cp "$work/$file" "$SANX_TREE/$file"
	elif ! diff -u "$SANX_TREE/$file" "$work/$file"; then
		echo "$file is not what $spec says: run scripts/ynl-regen.sh" >&2
		rc=1
	fi
}

generate include/uapi/linux/sanx_netlink.h --mode uapi --header
generate af_sanx/netlink/netlink_gen.h --mode kernel --header
generate af_sanx/netlink/netlink_gen.c --mode kernel --source
exit "$rc"
