# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Selftests: labs that run them, several at a time.
#
# A lab is KERNEL-KIND, or KERNEL-KIND.N where its tests are split.  A kind is "one" (one
# node, its own programs), "verbs" (those about connected sockets, over rxe), "siw" (the
# same over iWARP, where the kernel has it), "rail" (the same over a TCP rail), "two"
# (scripts over two nodes), "tworail" (the same over TCP rails), "virtual" (those about
# time, over two nodes with one virtual clock), or "stock" (two, one and verbs: an emulated
# node takes longer to boot than most tests do).

again() {
	if [ -n "${SANX_TUNE:-}" ]; then
		echo "make check-extremes KERNEL=$KERNEL TUNE=$SANX_TUNE${1:+ TEST=$1}"
	else
		echo "make selftests KERNEL=$KERNEL${1:+ TEST=$1}"
	fi
}

# within SECONDS: sets LIMIT to them, or to what is left until the deadline of the run.
within() {
	LIMIT=$1
	[ -n "${SANX_DEADLINE:-}" ] || return 0
	local left=$((SANX_DEADLINE - $(date +%s)))
	[ "$left" -ge "$LIMIT" ] || LIMIT=$left
}

# not_run LAB NAME
not_run() {
	result fail "$(lab_base "$1") $2: not run: deadline" "make selftests KERNEL=${1%%-*} TEST=$2"
}

# run_test KIND NAME LIMIT
run_test() {
	local kind=$1 name=$2 limit log why rc=0 start=$SECONDS
	local WHERE=$KERNEL-$1${SANX_TUNE:+-$SANX_TUNE}
	log=$LAB_LOGS/$kind-$name.log
	within "$3"
	limit=$LIMIT
	if [ "$limit" -le 0 ]; then
		not_run "$WHERE" "$name"
		return
	fi
	host_begin
	limited "$limit" "run_$kind" "$name" >"$log" 2>&1 || rc=$?
	tap_results "$WHERE $name" "$(again "$name")" "$log"
	if [ "$rc" != 0 ] && ! grep -q '^not ok' "$log"; then
		why="exit status $rc"
		[ "$rc" != 124 ] || why+=", time limit $limit s"
		result fail "$WHERE $name: $why" "$(again "$name")" "log: $log"
	fi
	if [ "$rc" = 124 ]; then
		sed -n '/^# no end after/,$p' "$log" | head -n 200
	elif grep -q '^not ok' "$log"; then
		tail -n 40 "$log" | sed 's/^/# /'
	fi
	grep -h '^# tries: ' "$log" || true
	after_test "$name" "$log"
	host_end "$WHERE" "$kind" "$name"
	printf '%s %s %s\n' "${KERNEL}-$kind" "$name" $((SECONDS - start)) >>"$LOGS/seconds"
	say "$WHERE $name took $((SECONDS - start)) s"
}

# wires_of NODES: two nodes have a wire for each rail.
wires_of() {
	if [ "$1" = 2 ]; then echo 3; else echo 1; fi
}

# clock_of LAB: make check runs what one native node can by a virtual clock, make check-full
# by the host's.
clock_of() {
	case $1 in
	um-virtual*) echo "--virtual" ;;
	um-two*) ;;
	um-*) runs_all || [ "${CLOCK:-}" = host ] || echo "--virtual" ;;
	esac
}

# lab_boots LAB: its nodes, and a result that says how often they had to be switched on.
lab_boots() {
	local nodes clock
	nodes=$(nodes_of "$1")
	mapfile -t clock < <(clock_of "$1")
	say "$1: booting $nodes node(s)"
	if lab up "${clock[@]}" --kernel "$KERNEL" --nodes "$nodes" --wires "$(wires_of "$nodes")" \
		--cpus "$(cpus_of "$KERNEL")" --append "$(boot_args "$1")" --owner $$; then
		result ok "$1: nodes boot" "$(again "")"
		grep -hs '^# tries: ' "$SANX_CACHE/run/$SANX_LAB/tries" || true
		return 0
	fi
	result fail "$1: nodes boot" "$(again "")"
	return 1
}

# in_lab LAB: in a process of its own, as several may be up.
in_lab() {
	local list line lab=$1${SANX_TUNE:+-$SANX_TUNE}
	KERNEL=${1%%-*}
	WHERE=$(lab_base "$1")${SANX_TUNE:+-$SANX_TUNE}
	LAB_LOGS=$LOGS/$lab
	export SANX_LAB=check-$lab-$$
	mkdir -p "$LAB_LOGS"
	mapfile -t list < <(tests_of "$1")
	within 1
	if [ "$LIMIT" -le 0 ]; then
		for line in "${list[@]}"; do not_run "$1" "$(cut -d ' ' -f 2 <<<"$line")"; done
		return
	fi
	lab_boots "$1" || return 0
	# shellcheck source=scripts/lablib.sh
	. "$SCRIPTS/lablib.sh"
	trap 'cp "$LAB_RUN"/*.console "$LAB_LOGS/" || true; lab down' EXIT
	fresh || {
		result fail "$lab: af_sanx loads" "$(again "")"
		return
	}
	! has_checks || nodes "$SCRIPTS/guest/leaks" before
	# shellcheck disable=SC2086
	for line in "${list[@]}"; do run_test $line; done
	check_end "$TEST"
}

# kinds_of KERNEL
kinds_of() {
	# Asked for by name, rails are tested on any kernel.
	if [ "${VARIANT:-}" = rail ]; then
		echo "rail tworail"
		return
	fi
	case $1 in
	debug) echo "two one verbs siw" ;;
	um) echo "two virtual one verbs siw rail tworail" ;;
	*) echo "two one verbs" ;;
	esac
}

# lab_kinds KERNEL: the kinds of its labs.
lab_kinds() {
	if [[ $1 == 6.* ]] && ! runs_all && [ "${VARIANT:-}" != rail ]; then
		echo stock
	else
		kinds_of "$1"
	fi
}

# labs_of KERNELS...: LAB SECONDS of those that have a test to run.
labs_of() {
	local KERNEL kind n i
	for KERNEL; do
		for kind in $(lab_kinds "$KERNEL"); do
			n=$(shards "$kind")
			for ((i = 1; i <= n; i++)); do
				tests_of "$KERNEL-$kind$([ "$n" = 1 ] || echo ".$i")" |
					awk -v lab="$KERNEL-$kind$([ "$n" = 1 ] || echo ".$i")" '
						{ sum += $4 } END { if (NR) print lab, sum }'
			done
		done
	done
}

# long_first: labs that have the most CPUs leave the least room beside them, and one that
# begins when all others are about to end leaves the machine with little to do.
long_first() {
	sed -E 's/^6.*-two/1 &/; t; s/^/0 /' | sort -s -k 1,1nr -k 3,3nr | cut -d ' ' -f 2
}

# build_for KERNELS: everything is built before any lab is up.
build_for() {
	local k before
	before=$(count fail)
	say "selftests: building modules, tools and tests"
	for k in "$@"; do
		run_gate "build modules for $k" "make KVER=$k" "$SCRIPTS/build-modules.sh" "$k"
	done
	run_gate "build tools" "make tools" make -C "$SANX_TREE/tools" O="$SANX_TREE/build/tools"
	run_gate "build selftests" "make -C selftests" make -C "$SANX_TREE/selftests" \
		O="$SANX_TREE/build/selftests" KSRC="$("$SCRIPTS/kernel/source.sh" 6.12)"
	[ "$(count fail)" = "$before" ]
}

# start_lab LAB
start_lab() {
	local cpu
	cpu=$(idlest)
	SANX_CPU=$cpu "$SCRIPTS/check.sh" one-lab "$1" ||
		result fail "$1: broke off" "make selftests KERNEL=${1%%-*}" &
	RUNNING[$!]=${CPUS_IN[$1]}
	NEAR[$!]=$cpu
}

# idlest: the number of the CPU with the fewest labs that have one CPU.  What has more is
# spread over all of them.
idlest() {
	local pid cpu n cpus least="" best=0
	cpus=$(nproc)
	for ((cpu = 0; cpu < cpus; cpu++)); do
		n=0
		for pid in "${!RUNNING[@]}"; do
			[ "${RUNNING[$pid]} ${NEAR[$pid]}" != "1 $cpu" ] || n=$((n + 1))
		done
		[ -n "$least" ] && [ "$n" -ge "$least" ] || least=$n best=$cpu
	done
	echo "$best"
}

# CPUs that the nodes of each lab have, and the CPU of the host that a lab is near.
declare -A CPUS_IN=() NEAR=()

count_cpus() {
	local lab KERNEL
	for lab; do
		KERNEL=${lab%%-*}
		CPUS_IN[$lab]=$(($(nodes_of "$lab") * $(cpus_of "$KERNEL")))
		# One runs at a time.
		[[ $lab != *-virtual* ]] || CPUS_IN[$lab]=1
		# Most of its tests run on one of its nodes.
		[[ $lab != *-stock* ]] || CPUS_IN[$lab]=$(cpus_of "$KERNEL")
	done
}

# CPUs of the labs that are up, by process.
declare -A RUNNING=()

cpus_up() {
	local pid sum=0
	for pid in "${!RUNNING[@]}"; do
		if kill -0 "$pid" 2>/dev/null; then
			sum=$((sum + RUNNING[$pid]))
		else
			unset "RUNNING[$pid]"
		fi
	done
	UP=$sum
}

# start_next LABS...: the first for whose nodes there is room, to NEXT; or nothing.
start_next() {
	cpus_up
	for NEXT; do
		if [ "$UP" = 0 ] || [ $((UP + CPUS_IN[$NEXT])) -le "$JOBS" ]; then
			start_lab "$NEXT"
			return
		fi
	done
	NEXT=""
}

# run_labs LABS...: as many as have JOBS CPUs; every line says whose it is.
run_labs() {
	local l left
	[ $# -gt 0 ] || result fail "there is no test${TEST:+ called $TEST}${KERNEL:+ for $KERNEL}" ""
	count_cpus "$@"
	while [ $# -gt 0 ]; do
		start_next "$@"
		left=()
		for l; do [ "$l" = "$NEXT" ] || left+=("$l"); done
		set -- "${left[@]}"
		[ -n "$NEXT" ] || wait -n || true
	done
	wait
}

# planned KERNELS...: KERNEL-KIND NAME, a line each, of what is to run on these.
planned() {
	local KERNEL kind
	for KERNEL; do
		for kind in $(kinds_of "$KERNEL"); do
			wanted_tests "$kind" | awk -v lab="$KERNEL-$kind" '{ print lab, $2 }'
		done
	done
}

# all_run KERNELS...: whatever was planned has a result.
all_run() {
	local lab name
	while read -r lab name; do
		grep -q "^[a-z]*	$lab $name: " "$RESULTS" ||
			result fail "$lab $name: gave no result" "make selftests KERNEL=${lab%%-*} TEST=$name"
	done < <(planned "$@")
}

KERNELS_CHECK="um 6.1 6.12"
KERNELS_FULL="debug $KERNELS_CHECK"

# nothing_left_out: each test is in make check or in make check-full, on one kernel at
# least, or has a target of its own.
nothing_left_out() {
	local kind name
	while read -r kind name; do
		said_of "$kind" "$name" long
		[ -n "$SAYS" ] || echo "$name"
	done < <(every_test) | sort -u >"$LOGS/tests"
	# shellcheck disable=SC2086
	{
		SANX_FULL="" planned $KERNELS_CHECK
		SANX_FULL=1 planned $KERNELS_FULL
	} | cut -d ' ' -f 2 | sort -u >"$LOGS/planned"
	while read -r name; do
		result fail "$name: is in no target" "make selftests TEST=$name"
	done < <(comm -23 "$LOGS/tests" "$LOGS/planned")
}

stage_selftests() {
	local kernels=${KERNEL:-$KERNELS_CHECK} labs
	[ -n "$KERNEL" ] || ! runs_all || kernels=$KERNELS_FULL
	# shellcheck disable=SC2086
	build_for $kernels || return 0
	# shellcheck disable=SC2086
	mapfile -t labs < <(labs_of $kernels | long_first)
	run_labs "${labs[@]}"
	repeat_failed
	[ -z "$KERNEL$TEST${VARIANT:-}${CASE:-}" ] || return 0
	# shellcheck disable=SC2086
	all_run $kernels
	nothing_left_out
}

# Tests that have a target of their own, and the kernel that they are run on.  (stripes
# has figures, and no verdict.)
LONG_RUNS=(6.1:python 6.1:more_programs 6.1:mpi um:dashboard um:storm um:siege debug:soak)

long_tests() {
	printf '%s\n' "${LONG_RUNS[@]#*:}"
}

stage_long() {
	local run
	"$SCRIPTS/deps.sh" suites dashboard
	for run in "${LONG_RUNS[@]}"; do
		KERNEL=${run%%:*} TEST=${run#*:} stage_selftests
	done
}

# Everything that one node can test, with every tunable at one end and then at
# the other.  What a test is about it sets for itself.
stage_extremes() {
	local kernel=${KERNEL:-6.12} tune
	export SANX_FULL=1
	build_for "$kernel" || return 0
	for tune in ${TUNE:-least most}; do
		SANX_TUNE=$tune run_labs "$kernel-one" "$kernel-verbs"
	done
}
