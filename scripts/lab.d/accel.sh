# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Hardware virtualisation if it works here, else emulation.

# kvm_boots: a /dev/kvm that opens is no proof; a kernel that reaches its first
# process is.
kvm_boots() {
	local dir rc=0
	[ -r /dev/kvm ] && [ -w /dev/kvm ] || return 1
	say "checking whether KVM works here"
	dir=$(mktemp -d)
	mkdir -p "$dir/root/bin"
	cp /bin/busybox "$dir/root/bin/"
	printf '%s\n' '#!/bin/busybox sh' 'echo kvm-works' '/bin/busybox poweroff -f' >"$dir/root/init"
	chmod +x "$dir/root/init"
	(cd "$dir/root" && find . | cpio --quiet -o -H newc) | gzip -1 >"$dir/initrd"
	timeout 10 qemu-system-x86_64 -M q35 -accel kvm -cpu host -m 256 -nodefaults \
		-display none -no-reboot -serial "file:$dir/log" -kernel "$1" \
		-initrd "$dir/initrd" -append "console=ttyS0 panic=-1 quiet" \
		>/dev/null 2>&1 || rc=$?
	grep -q kvm-works "$dir/log" 2>/dev/null || rc=1
	rm -rf "$dir"
	return "$rc"
}

# choose_accel VMLINUZ: prints kvm or tcg.  SANX_ACCEL overrides; the answer is
# remembered until the host boots again.
choose_accel() {
	local memo boot answer=tcg
	[ -z "${SANX_ACCEL:-}" ] || { echo "$SANX_ACCEL" && return; }
	boot=$(cat /proc/sys/kernel/random/boot_id)
	memo=$SANX_CACHE/accel-$boot
	if [ ! -f "$memo" ]; then
		! kvm_boots "$1" || answer=kvm
		rm -f "$SANX_CACHE"/accel-*
		echo "$answer" >"$memo"
	fi
	cat "$memo"
}
