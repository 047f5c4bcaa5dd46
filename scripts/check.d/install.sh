#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# install.sh: does make install put everything where README and the man pages say,
# does it work from there, and does make uninstall take away that and no more?
# KVER says for which kernel (6.12).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$SANX_TREE"

KVER=${KVER:-6.12}
release=$(scripts/kernel/resolve.sh "$KVER" release)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rc=0

wrong() {
	echo "$*" >&2
	rc=1
}

# expected PREFIX: each file, with its mode.
expected() {
	sort <<-END
		644 /lib/modules/$release/extra/af_sanx.ko
		644 /lib/modules/$release/extra/sanx_verbs.ko
		644 $1/include/linux/sanx.h
		644 $1/include/linux/sanx_netlink.h
		644 $1/include/sanx.h
		755 $1/bin/sanx-run
		755 $1/sbin/sanxctl
		755 $1/lib/sanx/libsanx-preload.so
		755 $1/lib/sanx/libsanx-preload-dgram.so
		644 $1/lib/libsanx.a
		644 $1/lib/pkgconfig/sanx.pc
		644 $1/share/man/man1/sanx-run.1
		644 $1/share/man/man3/sanx_family.3
		644 $1/share/man/man3/sanx_freeaddrinfo.3
		644 $1/share/man/man3/sanx_getaddrinfo.3
		644 $1/share/man/man7/af_sanx.7
		644 $1/share/man/man8/sanxctl.8
		644 $1/share/bash-completion/completions/sanxctl
		644 $1/share/bash-completion/completions/sanx-run
		644 $1/share/zsh/site-functions/_sanxctl
		644 $1/share/zsh/site-functions/_sanx-run
		644 $1/share/sanx/sanxctl.schema.json
		644 $1/share/sanx/grafana.json
		644 $1/share/sanx/profiles/latency
		644 $1/share/sanx/profiles/mpi
		644 $1/share/sanx/profiles/nginx
		644 $1/share/sanx/profiles/postgresql
		644 $1/share/sanx/profiles/redis
		644 $1/share/sanx/profiles/safe
		644 $1/share/sanx/profiles/throughput
	END
}

# found ROOT: what is there.
found() {
	find "$1" ! -type d -printf '%m /%P\n' | sort
}

# same WHAT WANTED GOT
same() {
	diff <(echo "$2") <(echo "$3") >&2 || wrong "$1"
}

makes() {
	local root=$1 prefix=$2
	shift 2
	make -s "$@" KVER="$KVER" DESTDIR="$root" PREFIX="$prefix" >"$work/log" 2>&1 || {
		cat "$work/log" >&2
		wrong "make $* failed"
	}
}

# Each compiles on its own, in a strict dialect and as C++, with nothing of the tree.
headers() {
	local dir=$1 header lang
	for header in "$dir"/linux/*.h "$dir"/*.h; do
		header=${header#"$dir"/}
		for lang in c++ "c -std=c99"; do
			# shellcheck disable=SC2086
			printf '#include <%s>\nint used;\n' "$header" | cc -x $lang -I"$dir" -Wall -Wextra -pedantic \
				-Werror -fsyntax-only - || wrong "$header does not compile as ${lang%% *}"
		done
	done
}

modules() {
	local root=$1 name
	for name in af_sanx sanx_verbs; do
		[ "$(modinfo -F vermagic "$root/lib/modules/$release/extra/$name.ko" | cut -d' ' -f1)" = "$release" ] ||
			wrong "$name.ko is not for $release"
		[ "$(modinfo -F version "$root/lib/modules/$release/extra/$name.ko")" = "$(cat VERSION)" ] ||
			wrong "$name.ko has another version"
	done
	depmod -b "$root" "$release" 2>/dev/null
	# socket() of the family finds the module by this.
	modprobe -d "$root" -S "$release" --show-depends net-pf-25 |
		grep -q 'extra/af_sanx.ko' || wrong "af_sanx is not found by its family"
	modprobe -d "$root" -S "$release" -n sanx_verbs 2>/dev/null || true
	rm -f "$root/lib/modules/$release"/modules.*
}

# Where the man pages say that it is; and beside what runs it.
programs() {
	local root=$1 prefix=$2
	[ "$("$root$prefix/sbin/sanxctl" -V)" = "sanxctl, af_sanx $(cat VERSION)" ] ||
		wrong "sanxctl does not run, or has another version"
	[ "$("$root$prefix/bin/sanx-run" -V)" = "sanx-run, af_sanx $(cat VERSION)" ] ||
		wrong "sanx-run does not run, or has another version"
	[[ $("$root$prefix/bin/sanx-run" env 2>/dev/null) == *"LD_PRELOAD=$root$prefix/lib/sanx/libsanx-preload.so"* ]] ||
		wrong "sanx-run does not find its library"
	[ "$(grep -oE "/[a-z/]*/lib/sanx/" "$root$prefix/share/man/man1/sanx-run.1" | sort -u)" = "$prefix/lib/sanx/" ] ||
		wrong "sanx-run(1) has another place for the library"
}

# What pkg-config says compiles the examples.
examples() {
	local root=$1 prefix=$2 flags example
	flags=$(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig \
		pkg-config --cflags --libs sanx) || wrong "pkg-config does not find sanx"
	[ "$(PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig pkg-config --modversion sanx)" = "$(cat VERSION)" ] ||
		wrong "sanx.pc has another version"
	for example in tools/examples/*.c; do
		# shellcheck disable=SC2086
		cc -Wall -Wextra -Werror -o "$work/example" "$example" $flags || wrong "$example does not compile"
	done
}

# neighbours ROOT: somebody else's file in each folder that there is.
neighbours() {
	find "$1" -type d -exec touch {}/somebodys \;
}

# What was installed for a kernel whose headers are gone is to be removed as well.
builds_nothing() {
	[[ $(make -n uninstall KVER="$KVER") != *build-modules* ]] ||
		wrong "make uninstall builds modules"
}

try() {
	local root=$work/root$1 prefix=$1 others
	makes "$root" "$prefix" install
	same "make install PREFIX=$prefix" "$(expected "$prefix")" "$(found "$root")"
	headers "$root$prefix/include"
	modules "$root"
	programs "$root" "$prefix"
	examples "$root" "$prefix"
	# Over what is there already, as an upgrade does.
	makes "$root" "$prefix" install
	same "make install once more" "$(expected "$prefix")" "$(found "$root")"
	neighbours "$root"
	others=$(find "$root" -name somebodys -printf '%m /%P\n' | sort)
	makes "$root" "$prefix" uninstall
	same "make uninstall PREFIX=$prefix" "$others" "$(found "$root")"
	# What is not there need not be removed.
	find "$root" -name somebodys -delete
	makes "$root" "$prefix" uninstall
	same "make uninstall once more" "" "$(found "$root")"
}

builds_nothing
try /usr/local
try /opt/a
exit "$rc"
