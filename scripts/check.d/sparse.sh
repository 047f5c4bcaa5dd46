#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sparse.sh ARGS... FILE: kbuild's CHECK.  It takes longer than the compiler, so a file that
# has passed as it is, is not looked at again.
#
# What sparse says depends on itself, on its arguments and on all files that FILE includes.
# kbuild has compiled FILE before, and has listed those beside the object.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

file=${!#}
name=${file##*/}
mapfile -t read < <(sed -nE 's/^  ([^ $]+) \\$/\1/p' "${file%/*}/.${name%.c}.o.cmd")
[ "${#read[@]}" != 0 ] || die "sparse.sh: nothing says what $file includes"
key=$({
	sparse --version
	# Another clone has the same files in another folder.
	echo "${@//$SANX_TREE/}"
	sha256sum "$file" "${read[@]}" | cut -d ' ' -f 1
} | sha256sum | cut -d ' ' -f 1)
passed=$SANX_CACHE/sparse/$key
[ ! -e "$passed" ] || exit 0
said=$(sparse "$@" 2>&1) || { echo "$said" >&2 && exit 1; }
[ -z "$said" ] || { echo "$said" >&2 && exit 0; }
mkdir -p "$SANX_CACHE/sparse"
: >"$passed"
