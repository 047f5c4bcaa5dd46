# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The packages on clean nodes: two machines with a Debian on their disks that has
# nothing of AF_SANX (scripts/lab.d/disk.sh), on which dpkg installs them.

# next_version: of the packages that it upgrades to, which are the same but for that.
next_version() {
	awk -F. '{ print $1 "." $2 "." $3 + 1 }' "$SANX_TREE/VERSION"
}

# in_clean_root FOLDER SHELL-LINE: in a copy of what the disks were made of, which is gone
# afterwards; FOLDER is its /share.
in_clean_root() {
	local root
	root=$("$SCRIPTS/lab.d/disk.sh" 6.1 root)
	# shellcheck disable=SC2016
	unshare --mount sh -ec '
		mount -t tmpfs none /mnt
		mkdir /mnt/upper /mnt/work /mnt/root
		mount -t overlay -o "lowerdir=$1,upperdir=/mnt/upper,workdir=/mnt/work" none /mnt/root
		mount -t proc proc /mnt/root/proc
		mount --bind "$2" /mnt/root/share
		exec chroot /mnt/root /bin/sh -ec "$3"' - "$root" "$1" "$2"
}

# What DKMS compiles on an emulated node is compiled here before, with the same compiler
# in the same folders, and kept by ccache: else each build would take half an hour.
# Everything else that dpkg and DKMS do there is done there.  With inode_cache a header is
# read once, and not for each of the files that include it.
compile_ahead() {
	# shellcheck disable=SC2016
	in_clean_root "$1" '
		export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=/share/ccache DEBIAN_FRONTEND=noninteractive
		ccache -o max_size=100M -o inode_cache=true
		dpkg -i /share/now/*.deb
		dpkg -i /share/next/*.deb
		dpkg -P sanx-dkms sanx-tools libsanx-dev
		ccache -s'
}

clean_packages() {
	local dir=$1 kept=$SANX_CACHE/ccache-clean
	mkdir -p "$kept"
	cp -r "$kept" "$dir/ccache"
	"$SCRIPTS/deb.sh" "$dir/now" &&
		VERSION=$(next_version) "$SCRIPTS/deb.sh" "$dir/next" &&
		make -s -C "$SANX_TREE/selftests" O="$SANX_TREE/build/selftests" \
			KSRC="$("$SCRIPTS/kernel/source.sh" 6.12)" "$SANX_TREE/build/selftests/bin/peer" &&
		cp "$SANX_TREE/build/selftests/bin/peer" "$dir/" &&
		compile_ahead "$dir" && rm -rf "$kept" && cp -r "$dir/ccache" "$kept"
}

stage_packages() {
	local dir=$LOGS/clean log=$LOGS/clean.log rc=0 again="make check-packages" before
	"$SCRIPTS/deps.sh" clean
	mkdir -p "$dir"
	before=$(count fail)
	say "packages: building them, and once more as the next version"
	DEB_BUILD_OPTIONS=nocheck run_gate "packages: build, and install in a chroot" "$again" \
		with_lock clean "$SCRIPTS/check.sh" one-clean "$dir"
	[ "$(count fail)" = "$before" ] || return 0
	export SANX_LAB=check-clean-$$
	# shellcheck disable=SC2064
	trap "'$SCRIPTS/lab' down" EXIT
	lab up --kernel 6.1 --nodes 2 --cpus 1 --mem 1024 --owner $$ \
		--disk "$("$SCRIPTS/lab.d/disk.sh" 6.1)" || {
		result fail "packages: clean nodes boot" "$again"
		return
	}
	mv "$dir"/{now,next,ccache,peer} "$SANX_CACHE/run/$SANX_LAB/share/"
	"$SANX_TREE/selftests/clean/packages.sh" 2>&1 </dev/null | tee "$log" || rc=$?
	cp "$SANX_CACHE/run/$SANX_LAB"/*.console "$LOGS/" || true
	tap_results packages "$again" "$log"
	[ "$rc" = 0 ] || grep -q '^not ok' "$log" || result fail "packages: exit status $rc" "$again" "log: $log"
	run_gate "packages: the kernel log is clean" "$again" lab splat
}
