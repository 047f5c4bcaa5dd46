# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A node that is a User Mode Linux kernel: no emulation, so it is quick, also with
# all that the debug kernel checks.  It has one CPU.  A node that is alone has a
# dummy device for eth0 and needs no wire.

um_cmdline() {
	local n=$1 share=$RUN/share
	# The command line is all that such nodes have for randomness: no lab's name in it.
	! has_calendar || share=/proc/self/cwd/share
	echo "mem=${MEM}M root=/dev/root rootfstype=hostfs rootflags=/ ro" \
		"init=$SANX_TREE/scripts/guest/first-init con=null con0=null,fd:1 ssl=null" \
		"panic=0 kmemleak=on kunit.enable=1 hung_task_panic=0" \
		"sanx.share=$share sanx.ports=$PORTS $(common_cmdline "$n")"
	[ "$PANIC" = 0 ] || echo "panic_on_warn=1"
	if has_calendar; then
		echo "time-travel=ext:$n:calendar"
	elif [ -n "$VIRTUAL" ]; then
		echo "time-travel=inf-cpu"
	fi
}

# um_wires N: node N's ends of the wires, for the program um.
um_wires() {
	local w
	for ((w = 1; w <= WIRES; w++)); do
		printf '%s/wire%s.packet,52:54:00:77:0%s:0%s ' "$(wire_dir "$w")" "$1" $((w - 1)) "$1"
	done
}

# um_near N: the program that keeps node N on one CPU of the host, $SANX_CPU or another.
# A native kernel runs its programs in turn with itself, by ptrace(), and each turn
# costs a third more when the host has them on two CPUs.
um_near() {
	local cpus cpu=${SANX_CPU:-$$}
	# Nodes with one clock run in turn, too.
	has_calendar || cpu=$((cpu + $1))
	mapfile -t cpus < <(allowed_cpus)
	cpu=${cpus[$((cpu % ${#cpus[@]}))]}
	echo taskset -c "$cpu"
}

# allowed_cpus: the numbers of those that this process may use, a line each.
allowed_cpus() {
	local from to
	while IFS=- read -r from to; do
		seq "$from" "${to:-$from}"
	done < <(awk '$1 == "Cpus_allowed_list:" { gsub(",", "\n", $2); print $2 }' /proc/self/status)
}

# um_start N: as qemu_start.
um_start() {
	local n=$1 args near ends=""
	read -r -a near < <(um_near "$n")
	[ "$NODES" = 1 ] || ends=$(um_wires "$n")
	read -r -d '' -a args < <(
		um_cmdline "$n"
		printf '\0'
	) || true
	(
		export UM_WIRES=$ends
		! has_calendar || export UM_CALENDAR=calendar.lines
		exec "${near[@]}" setsid "$PROGRAMS/um" "$RUN" "node$n" "$PORTS" "$VMLINUZ" "${args[@]}"
	) </dev/null >>"$RUN/node$n.console" 2>&1 &
	echo $! >"$RUN/node$n.pid"
	disown
	until [ -S "$RUN/node$n.$((PORTS - 1))" ]; do
		kill -0 "$(<"$RUN/node$n.pid")" 2>/dev/null ||
			die "node $n does not start: $(tail -n 5 "$RUN/node$n.console")"
		nap 0.02
	done
}
