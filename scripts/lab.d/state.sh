# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A lab's state: one folder for each name, holding its settings, sockets, logs.

lab_select() {
	LAB_NAME=$1
	[[ $LAB_NAME =~ ^[A-Za-z0-9_.-]+$ ]] || die "not a lab name: '$LAB_NAME'"
	RUN=$SANX_CACHE/run/$LAB_NAME
}

# lab_load: the settings that `lab up` was given.
lab_load() {
	[ -f "$RUN/config" ] || die "lab '$LAB_NAME' is not up: scripts/lab up"
	# shellcheck source=/dev/null
	. "$RUN/config"
}

# pid_of WHAT: a process of this lab, if it is alive and really ours.
pid_of() {
	local pid
	pid=$(cat "$RUN/$1.pid" 2>/dev/null) || return 1
	tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "$RUN" || return 1
	echo "$pid"
}

# stop_process WHAT: no mercy needed, nothing in a lab outlives it.
stop_process() {
	local pid
	pid=$(pid_of "$1") || return 0
	kill -KILL "$pid" 2>/dev/null || return 0
	while [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do
		nap 0.05
	done
}

check_node() {
	[[ ${1:-} =~ ^[1-4]$ && $1 -le $NODES ]] || die "no such node: '${1:-}'"
}

# lab_programs: build agent, calendar, client, tsc, um and wire once; print their folder.
lab_programs() {
	local dir key p
	key=$(cat "$SCRIPTS"/lab.d/*.[ch] | sha256sum | cut -c1-12)
	dir=$SANX_CACHE/lab-$key
	if [ ! -e "$dir/.complete" ]; then
		mkdir -p "$dir"
		for p in agent calendar client tsc um wire; do
			gcc -O2 -static -o "$dir/$p.$$" "$SCRIPTS/lab.d/$p.c"
			mv "$dir/$p.$$" "$dir/$p"
		done
		touch "$dir/.complete"
	fi
	echo "$dir"
}
