# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A node under emulation: its kernel command line, its devices, its process.

qemu_cmdline() {
	local n=$1
	echo "console=ttyS0 panic=-1 mitigations=off tsc=reliable" \
		"random.trust_cpu=on $(common_cmdline "$n")"
	# A node that measures the counter on a busy host gets it wrong.
	[ "$ACCEL" != tcg ] || [ "$ICOUNT" = 1 ] || echo "tsc_early_khz=$("$PROGRAMS/tsc")"
	[[ $KERNEL == @(debug|kcsan) ]] || return 0
	echo "kmemleak=on kunit.enable=1 hung_task_panic=0"
	if [ "$KERNEL" = kcsan ]; then
		# Few accesses are instrumented, so it looks at more of them, and for
		# longer, because an emulated CPU does less in a microsecond.
		# A report is not the end of the node.
		echo "kcsan.skip_watch=100 kcsan.udelay_task=200 kcsan.udelay_interrupt=60"
	elif [ "$PANIC" != 0 ]; then
		echo "panic_on_warn=1"
	fi
}

# qemu before 8.1 may run an instruction that another CPU is replacing just then
# as it was before ("accel/tcg: Always lock pages before translation").  Where a
# static key changes, a node then dies of "Oops: int3".  A kernel without
# CONFIG_JUMP_LABEL, as debug and kcsan are, has nothing to replace.  The CPUs of
# all others take turns in one thread, which is no slower on a small machine.
tcg_threads() {
	if [[ $KERNEL == @(debug|kcsan) ]]; then
		echo multi
	else
		echo single
	fi
}

accel_args() {
	if [ "$ICOUNT" = 1 ]; then
		# Time is counted in instructions; see Documentation on benchmarks.
		# As few instructions as on a machine: CMPXCHG16B stays, for all
		# its trouble below.
		echo "-accel tcg,thread=single -icount shift=0,sleep=off -cpu max,-erms,-fsrm"
	elif [ "$ACCEL" = kvm ]; then
		echo "-accel kvm -cpu host"
	else
		# -cx16: qemu 7.2 forgets to settle the flags before it runs
		# CMPXCHG16B.  SLUB uses that, and an interrupt at the wrong
		# moment then saves part of a pointer as EFLAGS: a double fault.
		# -smap, -la57: they cost, and tell us nothing under emulation.
		echo "-accel tcg,thread=$(tcg_threads) -cpu max,-smap,-la57,-cx16"
	fi
}

port_args() {
	local n=$1 i
	echo "-device virtio-serial-pci,max_ports=$((PORTS + 1))"
	for ((i = 0; i < PORTS; i++)); do
		echo "-chardev socket,id=c$i,path=node$n.$i,server=on,wait=off" \
			"-device virtserialport,chardev=c$i,name=sanx.$i"
	done
}

share_args() {
	# A node with a disk has nothing of this machine.
	[ -z "${DISK:-}" ] || {
		echo "-virtfs local,path=$RUN/share,mount_tag=share,security_model=none,multidevs=remap"
		return
	}
	# Several host file systems may lie below /: remap keeps inodes apart.
	echo "-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap" \
		"-virtfs local,path=$SANX_TREE,mount_tag=tree,security_model=none,readonly=on,multidevs=remap" \
		"-virtfs local,path=$RUN/share,mount_tag=share,security_model=none,multidevs=remap"
}

# disk_args N: node N's disk, if its root is not this machine's.
disk_args() {
	[ -n "${DISK:-}" ] || return 0
	echo "-drive if=none,id=disk,file=node$1.disk,format=qcow2,cache=unsafe" \
		"-device virtio-blk-pci,drive=disk"
}

# An emulated single CPU's barriers are none for qemu's main loop, which runs
# beside it, so a kick can get lost.  With event indices that is the end of the
# queue: no later packet kicks either.  Without, the next one does.
VIRTIO_ARGS=(-global virtio-device.event_idx=off)

# net_args N: node N's ends of the wires.
net_args() {
	local w
	for ((w = 1; w <= WIRES; w++)); do
		echo "-netdev stream,id=net$w,server=off,addr.type=unix,addr.path=$(wire_dir "$w")/wire$1" \
			"-device virtio-net-pci,netdev=net$w,mac=52:54:00:77:0$((w - 1)):0$1"
	done
}

# qemu_start N: returns once qemu runs; the node itself is still booting.
qemu_start() {
	local n=$1 args
	read -r -d '' -a args < <(
		accel_args
		port_args "$n"
		share_args
		disk_args "$n"
		net_args "$n"
		printf '\0'
	) || true
	(
		cd "$RUN"
		qemu-system-x86_64 -name "$RUN/node$n" -M q35 -smp "$CPUS" -m "$MEM" \
			-nodefaults -no-user-config -display none -no-reboot \
			"${VIRTIO_ARGS[@]}" \
			-kernel "$VMLINUZ" -initrd "$INITRD" \
			-append "$(qemu_cmdline "$n" | tr '\n' ' ')" \
			-chardev "file,id=console,path=node$n.console,append=on" \
			-serial chardev:console \
			-device virtio-rng-pci \
			"${args[@]}" -pidfile "node$n.pid" -daemonize
	) >"$RUN/node$n.qemu.log" 2>&1 || {
		cat "$RUN/node$n.qemu.log" >&2
		die "node $n does not start"
	}
}
