# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What a test must not do to the nodes it runs on: kill them, hang them, have
# their kernels complain, lose memory, or keep the module.

# shellcheck source=SCRIPTDIR/../lab.d/splat.sh
. "$SCRIPTS/lab.d/splat.sh"

# limited SECONDS FUNCTION ARGS...: 124 when time is up.
limited() {
	local limit=$1 pid end
	shift
	set -m
	"$@" &
	pid=$!
	set +m
	end=$((SECONDS + limit))
	while kill -0 "$pid" 2>/dev/null; do
		if [ "$SECONDS" -ge "$end" ]; then
			dump_stacks
			kill -TERM -- "-$pid" 2>/dev/null
			sleep 2
			kill -KILL -- "-$pid" 2>/dev/null
			wait "$pid" 2>/dev/null
			return 124
		fi
		nap 0.1
	done
	wait "$pid"
}

# dump_stacks: the log of a run elsewhere may be all that is seen of it, so what
# matters is in it; the console has all tasks.
dump_stacks() {
	echo "# no end after the time limit: stacks of all tasks are in the console logs"
	show_programs
	lab stacks
}

show_programs() {
	local n
	for ((n = 1; n <= NODES; n++)); do
		echo "# programs on node $n:"
		timeout $((20 * SLOW)) "$SCRIPTS/lab" run "$n" "$SCRIPTS/guest/stuck" </dev/null 2>&1 |
			sed 's/^/# /' | tail -n 150
	done
}

# lab_reboot: a node that lost its kernel is no use to the next test.
lab_reboot() {
	local n
	echo "# booting all nodes again"
	for ((n = 1; n <= NODES; n++)); do lab kill "$n"; done
	for ((n = 1; n <= NODES; n++)); do lab boot "$n" || return 1; done
	fresh
}

healthy() {
	local n
	for ((n = 1; n <= NODES; n++)); do
		timeout $((60 * SLOW)) "$SCRIPTS/lab" run "$n" true </dev/null 2>/dev/null || return 1
	done
}

# has_checks: is this a kernel that looks for mistakes?
has_checks() {
	[ "$KERNEL" = debug ] || [ "$KERNEL" = um ]
}

# run_health NAME TEST CMD...: one result for one command about all nodes.
run_health() {
	local name=$1 test=$2 log
	shift 2
	log=$LAB_LOGS/${name//[ \/]/-}.log
	if "$@" >"$log" 2>&1; then
		result ok "$WHERE $name" "$(again "$test")"
	else
		sed 's/^/# /' "$log" | head -n 60
		result fail "$WHERE $name" "$(again "$test")" "log: $log"
	fi
}

# check_leaks TEST...: memory that is lost.  Looked for once a lab, as it takes
# long under emulation; the report names the program that was running.
# SANX_LEAKS=each looks after every test.
check_leaks() {
	has_checks || return 0
	# What is loaded anew comes to where it was, so addresses keep their names.
	{ fresh && load_verbs; } >"$LAB_LOGS/leaks-fresh.log" 2>&1 || true
	run_health "${1:-all tests}: no memory is lost" "$*" nodes "$SCRIPTS/guest/leaks"
}

# lockdep_works: it stops looking after its first report, and where it runs out
# of room.
lockdep_works() {
	nodes 'grep -q "debug_locks: *1" /proc/lockdep_stats' || {
		cat "$LAB_RUN"/*.console | known_bugs | grep '^known bug:'
	}
}

# check_end TEST...: when all tests of a lab have run, and once more with the
# modules gone.
check_end() {
	check_leaks "$@"
	run_health "all tests: both modules go" "$*" unload_all
	! has_checks || run_health "all tests: lockdep has looked until the end" "$*" lockdep_works
	run_health "all tests: the kernel log is clean when the modules are gone" "$*" lab splat
}

# after_test NAME LOG: what a test leaves behind is its failure.
after_test() {
	local name=$1 log=$2 again
	again=$(again "$name")
	[ "${SANX_LEAKS:-}" != each ] || check_leaks "$name"
	limited $((60 * SLOW)) fresh >"$log.fresh" 2>&1 || {
		sed 's/^/# /' "$log.fresh"
		if healthy; then
			show_programs
			result fail "$WHERE $name: lets the module go" "$again" "log: $log.fresh"
		else
			result fail "$WHERE $name: leaves the nodes alive" "$again" "console: $LAB_RUN"
		fi
		lab_reboot
	}
	lab splat >"$log.splat" 2>&1 || {
		sed 's/^/# /' "$log.splat"
		result fail "$WHERE $name: leaves the kernel log clean" "$again" "log: $log.splat"
	}
}
