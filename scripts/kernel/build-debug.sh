#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-debug.sh x86|um: build a debug kernel unless the cache has it; print its folder.
#
# x86 runs under qemu, um (User Mode Linux) as a process of the host.  The folder
# holds vmlinuz (for um a program), build/ (what external modules are built
# against), root/lib/modules/RELEASE, and release.  Its name is a hash of
# everything that goes in: source version, configuration, compiler, this recipe.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"

case ${1:-} in
x86) arch=x86 kernel=debug image=bzImage result=arch/x86/boot/bzImage ;;
um) arch=um kernel=um image=linux result=linux ;;
*) die "usage: build-debug.sh x86|um" ;;
esac
src=$("$here/source.sh" 6.12)
fragments=("$here/debug.config" "$here/debug-$arch.config")
# Patches are called ARCH-WHAT; those of another architecture touch what is not built here.
patches=()
for patch in "$here/patches/$arch"-*.patch; do
	[ ! -e "$patch" ] || patches+=("$patch")
done
key=$({ basename "$src"; gcc -dumpfullversion; cat "${fragments[@]}" "${patches[@]}" \
	"$here/build-debug.sh"; } |
	sha256sum | cut -c1-12)
dir=$SANX_CACHE/kernels/$kernel-$key
log=$dir/build.log

# kmake ARGS...: make in the build folder; the log is shown only on failure.
kmake() {
	make -C "$src" O="$dir/build" ARCH="$arch" \
		KBUILD_BUILD_USER=sanx KBUILD_BUILD_HOST=lab \
		"$@" >>"$log" 2>&1 || {
		tail -n 40 "$log" >&2
		die "kernel $kernel: make $* failed, see $log"
	}
}

configure() {
	kmake allnoconfig
	(cd "$dir/build" && ARCH=$arch \
		"$src/scripts/kconfig/merge_config.sh" -m .config "${fragments[@]}") >>"$log" 2>&1
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
		warn "kernel $kernel: $line did not take"
		bad=1
	done < <(cat "${fragments[@]}")
	[ "$bad" = 0 ] || die "mend ${fragments[*]}"
}

install_kernel() {
	kmake INSTALL_MOD_PATH="$dir/root" INSTALL_MOD_STRIP=1 modules_install
	cp "$dir/build/$result" "$dir/vmlinuz"
	cat "$dir/build/include/config/kernel.release" >"$dir/release"
}

# prune: modules need the build folder's headers, tools and Module.symvers only.
prune() {
	find "$dir/build" -type f ! -path "$dir/build/scripts/*" ! -path "$dir/build/tools/*" \
		\( -name '*.o' -o -name '*.a' -o -name '*.ko' -o -name '.*.cmd' -o \
		-name '*.mod.c' -o -name 'vmlinux*' -o -name linux \) -delete
}

build() {
	[ ! -e "$dir/.complete" ] || return 0
	# A kernel with one patch more has another folder, and most of its objects are there.
	use_ccache
	say "building kernel $kernel (about 10 minutes on two idle cores; log: $log)"
	mkdir -p "$dir/build"
	: >"$log"
	configure
	check_config
	kmake -j"$(nproc)" "$image" modules
	install_kernel
	prune
	touch "$dir/.complete"
}

[ -e "$dir/.complete" ] || with_lock "$kernel-$key" build
printf '%s\n' "$dir"
