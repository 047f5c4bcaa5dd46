# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# One node, whatever runs it: qemu, or (the kernel called um) the kernel itself as
# a process of the host.

# Commands at once in a node.
# shellcheck disable=SC2034
PORTS=12

# is_native: are this lab's nodes User Mode Linux?
is_native() {
	[ "$KERNEL" = um ]
}

# has_calendar: have this lab's nodes one virtual clock?  A node that is alone has its own.
has_calendar() {
	[ "$VIRTUAL" = 1 ] && [ "$NODES" -gt 1 ]
}

# common_cmdline N: what the node's own scripts, and every kernel, are told.
common_cmdline() {
	# A node that is slow, because the host is busy, is not a stalled one.
	echo "loglevel=5 net.ifnames=0 printk.devkmsg=on sanx.node=$1" \
		"watchdog_thresh=40 rcupdate.rcu_cpu_stall_timeout=90 workqueue.watchdog_thresh=90" \
		"sanx.kernel=$KERNEL sanx.tree=$SANX_TREE sanx.moddir=$MODDIR" \
		"${DISK:+sanx.disk=/dev/vda}" "${APPEND:-}"
}

# node_start N: returns once the node's process runs; it is still booting.
node_start() {
	local n=$1
	! pid_of "node$n" >/dev/null || die "node $n is up already"
	rm -f "$RUN/node$n".[0-9] "$RUN/node$n".[0-9][0-9]
	echo "lab: node$n is switched on" >>"$RUN/node$n.console"
	if is_native; then um_start "$n"; else qemu_start "$n"; fi
}

# Seconds: it takes 20 where the host is idle.
BOOT_TIMEOUT=300

# node_answers N: the agent answers the first command as soon as it is there.
node_answers() {
	(cd "$RUN" && timeout "$BOOT_TIMEOUT" "$PROGRAMS/client" "node$1" true </dev/null)
}

# node_again N: emulated kernels with two CPUs hang now and then when they start the
# second one, long before there is anything of ours.
node_again() {
	! is_native || return 1
	say "node $1 does not come up: switching it off and on"
	echo "# tries: 2 to boot node $1" >>"$RUN/tries"
	stop_process "node$1"
	node_start "$1"
	node_answers "$1"
}

# node_wait N: until the node is up.
node_wait() {
	local n=$1
	node_answers "$n" || node_again "$n" || {
		tail -n 30 "$RUN/node$n.console" >&2
		die "node $n did not come up; console: $RUN/node$n.console"
	}
}

# node_boot N
node_boot() {
	node_start "$1"
	node_wait "$1"
}
