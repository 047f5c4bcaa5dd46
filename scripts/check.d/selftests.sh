# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Selftests: labs that run them, several at a time.
#
# A lab is KERNEL-KIND: "one" (one node, its own programs), "verbs" (those about
# connected sockets, over rxe), "mixed" (both), "siw" (the same over iWARP, where the
# kernel has it), "rail" (the same over a TCP rail), "two" (scripts over two nodes),
# "rails" (those of them about several rails), "trust" (about what a peer may do) or
# "tworail" (all of them over TCP rails).

again() {
	if [ -n "${SANX_TUNE:-}" ]; then
		echo "make check-extremes KERNEL=$KERNEL TUNE=$SANX_TUNE${1:+ TEST=$1}"
	else
		echo "make selftests KERNEL=$KERNEL${1:+ TEST=$1}"
	fi
}

# run_test KIND NAME LIMIT
run_test() {
	local kind=$1 name=$2 limit=$3 log rc=0 start=$SECONDS
	log=$LOGS/$WHERE/$kind-$name.log
	limited "$limit" "run_$kind" "$name" >"$log" 2>&1 || rc=$?
	tap_results "$WHERE $name" "$(again "$name")" "$log"
	if [ "$rc" != 0 ] && ! grep -q '^not ok' "$log"; then
		[ "$rc" != 124 ] || rc="$rc, time limit $limit s"
		result fail "$WHERE $name: exit status $rc" "$(again "$name")" "log: $log"
	fi
	if [ "$rc" = 124 ]; then
		sed -n '/^# no end after/,$p' "$log" | head -n 200
	elif grep -q '^not ok' "$log"; then
		tail -n 40 "$log" | sed 's/^/# /'
	fi
	after_test "$name" "$log"
	say "$WHERE $name took $((SECONDS - start)) s"
}

# wires_of NODES: two nodes have a wire for each rail.
wires_of() {
	if [ "$1" = 2 ]; then echo 3; else echo 1; fi
}

# in_lab LAB: in a process of its own, as several may be up.
in_lab() {
	local kind=${1#*-} nodes list line
	KERNEL=${1%%-*}
	WHERE=$1${SANX_TUNE:+-$SANX_TUNE}
	export SANX_LAB=check-$WHERE-$$
	mkdir -p "$LOGS/$WHERE"
	nodes=$(nodes_of "$kind")
	say "$WHERE: booting $nodes node(s)"
	lab up --kernel "$KERNEL" --nodes "$nodes" --wires "$(wires_of "$nodes")" --cpus "$(cpus_of "$KERNEL")" \
		--append "$(boot_args "$kind")" --owner $$ || {
		result fail "$WHERE: nodes boot" "$(again "")"
		return
	}
	# shellcheck source=scripts/lablib.sh
	. "$SCRIPTS/lablib.sh"
	trap 'cp "$LAB_RUN"/*.console "$LOGS/$WHERE/" || true; lab down' EXIT
	fresh || {
		result fail "$WHERE: af_sanx loads" "$(again "")"
		return
	}
	! has_checks || nodes "$SCRIPTS/guest/leaks" before
	mapfile -t list < <(wanted_tests "$kind")
	# shellcheck disable=SC2086
	for line in "${list[@]}"; do run_test $line; done
	check_end "$TEST"
}

# labs_of KERNEL: the emulated debug kernel takes longer to boot than to run the few
# tests that it usually has.
labs_of() {
	local one="$1-one $1-verbs"
	[ "$1" != debug ] || KERNEL=debug runs_all || one=debug-mixed
	case $1 in
	debug) one+=" $1-siw" ;;
	um) one+=" $1-siw $1-rail $1-tworail" ;;
	esac
	# Asked for by name, rails are tested on any kernel.
	[ "${VARIANT:-}" != rail ] || one="$1-rail $1-tworail"
	[ "${VARIANT:-}" = rail ] || one="$1-two $1-rails $1-trust $one"
	echo "$one"
}

# useful_labs KERNELS...: those that have a test to run.
useful_labs() {
	local lab
	for KERNEL in "$@"; do
		for lab in $(labs_of "$KERNEL"); do
			[ -z "$(SLOW=1 wanted_tests "${lab#*-}")" ] || echo "$lab"
		done
	done
}

# long_first: labs over two nodes take longest, and those with many CPUs leave the least
# room beside them.  One that begins when all others are about to end leaves the machine
# with little to do.
long_first() {
	sed -E 's/^6.*-(two|rails|trust)$/0 &/; t; s/^.*-(two|rails|trust|tworail)$/1 &/; t
		s/^6/2 &/; t; s/^/3 /' | sort -s -n -k 1,1 | cut -d ' ' -f 2
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
	"$SCRIPTS/check.sh" one-lab "$1" ||
		result fail "$1: broke off" "make selftests KERNEL=${1%%-*}" &
	RUNNING[$!]=${CPUS_IN[$1]}
}

# CPUs that the nodes of each lab have.
declare -A CPUS_IN=()

count_cpus() {
	local lab KERNEL
	for lab; do
		KERNEL=${lab%%-*}
		CPUS_IN[$lab]=$(($(nodes_of "${lab#*-}") * $(cpus_of "$KERNEL")))
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

# any_can_run KIND NAME KERNELS...
any_can_run() {
	local kind=$1 name=$2 KERNEL
	shift 2
	for KERNEL; do
		! is_for_kernel "$kind" "$name" || return 0
	done
	return 1
}

# nothing_left_out KERNELS...: in a run of everything each test that they can run has
# results, of one kernel at least, in its lab or a mixed one; but for those that have a
# make target of their own.
nothing_left_out() {
	local lab kind name
	for lab in one verbs siw rail two rails trust tworail; do
		while read -r kind name; do
			said_of "$kind" "$name" long
			[ -n "$SAYS" ] ||
				! KERNEL=um is_chosen "$kind" "$name" ||
				! any_can_run "$kind" "$name" "$@" ||
				grep -qE "^[a-z]*	[^ ]*-($lab|mixed) $name: " "$RESULTS" ||
				result fail "$name: ran on no kernel" "make selftests TEST=$name"
		done < <(all_tests "$lab")
	done
}

stage_selftests() {
	local kernels=${KERNEL:-um 6.1 6.12} labs
	[ -n "$KERNEL" ] || [ -z "${SANX_ALL_TESTS:-}" ] || kernels="debug $kernels"
	# shellcheck disable=SC2086
	build_for $kernels || return 0
	# shellcheck disable=SC2086
	mapfile -t labs < <(useful_labs $kernels | long_first)
	run_labs "${labs[@]}"
	# shellcheck disable=SC2086
	[ -n "$KERNEL$TEST${VARIANT:-}${CASE:-}" ] || nothing_left_out $kernels
}

# Everything that one node can test, with every tunable at one end and then at
# the other.  What a test is about it sets for itself.
stage_extremes() {
	local kernel=${KERNEL:-6.12} tune
	build_for "$kernel" || return 0
	for tune in ${TUNE:-least most}; do
		SANX_TUNE=$tune run_labs "$kernel-one" "$kernel-verbs"
	done
}
