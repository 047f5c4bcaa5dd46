# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# One node: its kernel command line, its devices, its process.

PORTS=12	# commands at once in a node

node_cmdline() {
	local n=$1
	echo "console=ttyS0 loglevel=5 panic=-1 mitigations=off tsc=reliable" \
		"net.ifnames=0 random.trust_cpu=on printk.devkmsg=on" \
		"sanx.node=$n sanx.kernel=$KERNEL sanx.tree=$SANX_TREE sanx.moddir=$MODDIR"
	[ "$KERNEL" = debug ] || return 0
	# A node slowed by emulation and KASAN is not a stalled one.
	echo "kmemleak=on kunit.enable=1 hung_task_panic=0 watchdog_thresh=40" \
		"rcupdate.rcu_cpu_stall_timeout=90 workqueue.watchdog_thresh=90"
	[ "$PANIC" = 0 ] || echo "panic_on_warn=1"
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
		echo "-accel tcg,thread=multi -cpu max,-smap,-la57,-cx16"
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
	# Several host file systems may lie below /: remap keeps inodes apart.
	echo "-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap" \
		"-virtfs local,path=$SANX_TREE,mount_tag=tree,security_model=none,readonly=on,multidevs=remap" \
		"-virtfs local,path=$RUN/share,mount_tag=share,security_model=none,multidevs=remap"
}

# An emulated single CPU's barriers are none for qemu's main loop, which runs
# beside it, so a kick can get lost.  With event indices that is the end of the
# queue: no later packet kicks either.  Without, the next one does.
VIRTIO_ARGS=(-global virtio-device.event_idx=off)

# node_start N: returns once qemu runs; the node itself is still booting.
node_start() {
	local n=$1 args
	! pid_of "node$n" >/dev/null || die "node $n is up already"
	read -r -d '' -a args < <(
		accel_args
		port_args "$n"
		share_args
		printf '\0'
	) || true
	(
		cd "$RUN"
		rm -f "node$n".[0-9] "node$n".[0-9][0-9]
		echo "lab: node$n is switched on" >>"node$n.console"
		qemu-system-x86_64 -name "$RUN/node$n" -M q35 -smp "$CPUS" -m "$MEM" \
			-nodefaults -no-user-config -display none -no-reboot \
			"${VIRTIO_ARGS[@]}" \
			-kernel "$VMLINUZ" -initrd "$INITRD" \
			-append "$(node_cmdline "$n" | tr '\n' ' ')" \
			-chardev "file,id=console,path=node$n.console,append=on" \
			-serial chardev:console \
			-device virtio-rng-pci \
			-netdev "stream,id=net0,server=off,addr.type=unix,addr.path=wire$n" \
			-device "virtio-net-pci,netdev=net0,mac=52:54:00:77:00:0$n" \
			"${args[@]}" -pidfile "node$n.pid" -daemonize
	) >"$RUN/node$n.qemu.log" 2>&1 || {
		cat "$RUN/node$n.qemu.log" >&2
		die "node $n does not start"
	}
}

# node_wait N: the agent answers the first command as soon as it is there.
node_wait() {
	local n=$1
	(cd "$RUN" && timeout "$BOOT_TIMEOUT" "$PROGRAMS/client" "node$n" true </dev/null) || {
		tail -n 30 "$RUN/node$n.console" >&2
		die "node $n did not come up; console: $RUN/node$n.console"
	}
}
