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

# common_cmdline N: what the node's own scripts, and every kernel, are told.
common_cmdline() {
	echo "loglevel=5 net.ifnames=0 printk.devkmsg=on sanx.node=$1" \
		"sanx.kernel=$KERNEL sanx.tree=$SANX_TREE sanx.moddir=$MODDIR"
}

# node_start N: returns once the node's process runs; it is still booting.
node_start() {
	local n=$1
	! pid_of "node$n" >/dev/null || die "node $n is up already"
	rm -f "$RUN/node$n".[0-9] "$RUN/node$n".[0-9][0-9]
	echo "lab: node$n is switched on" >>"$RUN/node$n.console"
	if is_native; then um_start "$n"; else qemu_start "$n"; fi
}

# node_wait N: the agent answers the first command as soon as it is there.
node_wait() {
	local n=$1
	(cd "$RUN" && timeout "$BOOT_TIMEOUT" "$PROGRAMS/client" "node$n" true </dev/null) || {
		tail -n 30 "$RUN/node$n.console" >&2
		die "node $n did not come up; console: $RUN/node$n.console"
	}
}
