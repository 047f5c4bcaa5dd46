#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-debug.sh: build the debug kernel unless the cache has it; print its folder.
#
# The folder holds vmlinuz, build/ (what external modules are built against),
# root/lib/modules/RELEASE, and release.  Its name is a hash of everything that
# goes in: source version, configuration, compiler and this recipe.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

src=$("$here/source.sh" 6.12)
fragment=$here/debug.config
key=$({ basename "$src"; gcc -dumpfullversion; cat "$fragment" "$here/build-debug.sh"; } |
	sha256sum | cut -c1-12)
dir=$SANX_CACHE/kernels/debug-$key
log=$dir/build.log

# kmake ARGS...: make in the build folder; the log is shown only on failure.
kmake() {
	make -C "$src" O="$dir/build" KBUILD_BUILD_USER=sanx KBUILD_BUILD_HOST=lab \
		"$@" >>"$log" 2>&1 || {
		tail -n 40 "$log" >&2
		die "debug kernel: make $* failed, see $log"
	}
}

configure() {
	kmake allnoconfig
	(cd "$dir/build" &&
		"$src/scripts/kconfig/merge_config.sh" -m .config "$fragment") >>"$log" 2>&1
	kmake olddefconfig
}

# check_config: an option that did not take is a check that silently is not made.
check_config() {
	local line bad=0
	while read -r line; do
		case $line in
		CONFIG_*=n) grep -q "^${line%n}" "$dir/build/.config" || continue ;;
		CONFIG_*) ! grep -qxF "$line" "$dir/build/.config" || continue ;;
		*) continue ;;
		esac
		warn "debug kernel: $line did not take"
		bad=1
	done <"$fragment"
	[ "$bad" = 0 ] || die "mend $fragment"
}

install_kernel() {
	kmake INSTALL_MOD_PATH="$dir/root" INSTALL_MOD_STRIP=1 modules_install
	cp "$dir/build/arch/x86/boot/bzImage" "$dir/vmlinuz"
	cat "$dir/build/include/config/kernel.release" >"$dir/release"
}

# prune: modules need the build folder's headers, tools and Module.symvers only.
prune() {
	find "$dir/build" -type f ! -path "$dir/build/scripts/*" ! -path "$dir/build/tools/*" \
		\( -name '*.o' -o -name '*.a' -o -name '*.ko' -o -name '.*.cmd' -o \
		-name '*.mod.c' -o -name 'vmlinux*' \) -delete
}

build() {
	[ ! -e "$dir/.complete" ] || return 0
	say "building the debug kernel (about 10 minutes on two idle cores; log: $log)"
	mkdir -p "$dir/build"
	: >"$log"
	configure
	check_config
	kmake -j"$(nproc)" bzImage modules
	install_kernel
	prune
	touch "$dir/.complete"
}

[ -e "$dir/.complete" ] || with_lock "debug-$key" build
printf '%s\n' "$dir"
