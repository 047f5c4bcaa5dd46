# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Selftests: programs on one node, scripts over two, on each kernel.

# Seconds until a test counts as hung, if its source does not say otherwise: far
# more than it takes, as the host may be busy with other things.
LIMIT_SINGLE=600
LIMIT_PAIR=600

again() {
	if [ -n "${SANX_TUNE:-}" ]; then
		echo "make check-extremes KERNEL=$KERNEL TUNE=$SANX_TUNE${1:+ TEST=$1}"
	else
		echo "make selftests KERNEL=$KERNEL${1:+ TEST=$1}"
	fi
}

# limit_of SOURCE OTHERWISE: seconds the test may take; "timeout: N" in its
# source asks for another limit.
limit_of() {
	local limit
	limit=$(sed -n 's/.*\btimeout: *\([0-9]\+\).*/\1/p' "$1" 2>/dev/null | head -n 1)
	echo $((${limit:-$2} * SLOW))
}

# runs_here SOURCE: "kernels: NAMES" in a test's source says that the others
# need not be asked, as they lack what it is about, or say the same.
runs_here() {
	local kernels
	kernels=$(sed -n 's/^# kernels: *//p' "$1" 2>/dev/null | head -n 1)
	[[ -z $kernels || " $kernels " == *" $KERNEL "* ]]
}

# single_tests, pair_tests: their names; "last: WHY" in a test's source puts it
# behind the others.
single_tests() {
	find "$SANX_TREE/build/selftests" -maxdepth 1 -type f -executable -printf '%f\n' 2>/dev/null | sort
}

pair_tests() {
	local test
	for test in "$SANX_TREE"/selftests/two_node/*.sh; do
		[ ! -x "$test" ] ||
			echo "$(grep -c '^# last:' "$test") $(basename "$test" .sh)"
	done | sort | sed 's/.* //'
}

# ip_version: the IP version that this kernel's one-node tests are run with, if
# not with both.  Most of what they test does not know of it, so each has one;
# SANX_ALL_VARIANTS=1 runs all variants.
ip_version() {
	[ -n "${SANX_ALL_VARIANTS:-}" ] || case $KERNEL in
	6.12) echo 6 ;;
	*) echo 4 ;;
	esac
}

# variants SOURCE: which variants a program runs; empty leaves it to the program.
# The debug kernel looks for our mistakes, not TCP's, and is slow: it has no use
# for the oracle.
variants() {
	local ip drop=""
	ip=$(ip_version)
	[ -n "$ip" ] || return 0
	[ "$KERNEL" != debug ] || drop='/^tcp[46]\?$/d;'
	sed -n 's/^#define DEFAULT_VARIANTS "\(.*\)"/\1/p' \
		"$1" "$SANX_TREE/selftests/sanx_test.h" 2>/dev/null | head -n 1 | tr ' ' '\n' |
		sed "$drop s/[a-z]\$/&$ip/" | tr '\n' ' '
}

# run_program NAME VARIANTS
run_program() {
	lab run 1 "cd '$SANX_TREE/build/selftests' && SANX_VARIANTS='$2' exec ./'$1'" </dev/null
}

run_single() {
	run_program "$1" "$(variants "$SANX_TREE/selftests/$1.c")"
}

# Programs about connected sockets run a second time, with the node talking to
# itself over its RDMA device.
has_verbs_pass() {
	grep -q 'include "sanx_test.h"' "$SANX_TREE/selftests/$1.c" 2>/dev/null
}

run_verbs() {
	unload_sanx 1 && load_sanx 1 loop=0 && load_verbs && nodemap_std || return 1
	run_program "${1%-verbs}" "verbs$(ip_version)"
}

run_pair() {
	"$SANX_TREE/selftests/two_node/$1.sh" </dev/null
}

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
		sleep 0.1
	done
	wait "$pid"
}

dump_stacks() {
	echo "# no end after the time limit: stacks of all tasks are in the console logs"
	lab stacks
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
		timeout $((20 * SLOW)) "$SCRIPTS/lab" run "$n" true </dev/null 2>/dev/null || return 1
	done
}

# check_leaks NAME TEST: on the debug kernel, memory that our code lost.  Looked
# for once a lab, as it takes long under emulation; the report names the program
# that was running.  SANX_LEAKS=each looks after every test.
check_leaks() {
	local log=$LOGS/$WHERE/leaks-$2.log
	[ "$KERNEL" = debug ] || return 0
	# What is loaded anew comes to where it was, so addresses keep their names.
	{ fresh && load_verbs; } >"$log" 2>&1 || true
	if nodes "$SCRIPTS/guest/leaks" >>"$log" 2>&1; then
		result ok "$WHERE $1: no memory is lost" "$(again "$2")"
	else
		sed 's/^/# /' "$log" | head -n 60
		result fail "$WHERE $1: no memory is lost" "$(again "$2")" "log: $log"
	fi
}

# after_test NAME LOG: what a test leaves behind is its failure.
after_test() {
	local name=$1 log=$2 again
	again=$(again "$name")
	[ "${SANX_LEAKS:-}" != each ] || check_leaks "$name" "$name"
	lab splat >"$log.splat" 2>&1 || {
		sed 's/^/# /' "$log.splat"
		result fail "$WHERE $name: leaves the kernel log clean" "$again" "log: $log.splat"
	}
	healthy || {
		result fail "$WHERE $name: leaves the nodes alive" "$again" "console: $LAB_RUN"
		lab_reboot
		return
	}
	limited $((60 * SLOW)) fresh >"$log.fresh" 2>&1 || {
		sed 's/^/# /' "$log.fresh"
		result fail "$WHERE $name: lets the module go" "$again" "log: $log.fresh"
		lab_reboot
	}
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
	! grep -q '^not ok' "$log" || tail -n 40 "$log" | sed 's/^/# /'
	after_test "$name" "$log"
	say "$WHERE $name took $((SECONDS - start)) s"
}

# all_tests: KIND NAME LIMIT, a line each.
all_tests() {
	local name limit
	for name in $(single_tests); do
		limit=$(limit_of "$SANX_TREE/selftests/$name.c" "$LIMIT_SINGLE")
		echo "single $name $limit"
		! has_verbs_pass "$name" || echo "verbs $name-verbs $limit"
	done
	[ "$NODES" = 2 ] || return 0
	for name in $(pair_tests); do
		runs_here "$SANX_TREE/selftests/two_node/$name.sh" || continue
		echo "pair $name $(limit_of "$SANX_TREE/selftests/two_node/$name.sh" "$LIMIT_PAIR")"
	done
}

# What make check runs on the debug kernel, which is slow; make check-debug
# runs everything there.
DEBUG_TESTS="abuse data data-verbs stress-verbs hostile siw"

# in_time NAME: is it run now, where no test was named?  "long: WHY" in a
# test's source says that it has a make target of its own.
in_time() {
	[ -z "${TEST:-}" ] || return 0
	! grep -qs '^# long:' "$SANX_TREE/selftests/two_node/$1.sh" || return 1
	[ "$KERNEL" != debug ] || [ -n "${SANX_ALL_TESTS:-}" ] ||
		[[ " $DEBUG_TESTS " == *" $1 "* ]]
}

run_tests() {
	local list kind name limit found=0
	mapfile -t list < <(all_tests)
	for name in "${list[@]}"; do
		read -r kind name limit <<<"$name"
		[ -z "${TEST:-}" ] || [[ " $TEST " == *" $name "* ]] || continue
		in_time "$name" || continue
		found=1
		run_test "$kind" "$name" "$limit"
	done
	[ "$found" = 1 ] || result fail "$WHERE: there is no test${TEST:+ called $TEST}" "$(again "")"
	check_leaks "all tests" "$TEST"
}

# selftests_on KERNEL: in a process of its own, as kernels may run in parallel.
selftests_on() {
	export SANX_LAB=check-$1-$$
	KERNEL=$1
	WHERE=$KERNEL${SANX_TUNE:+-$SANX_TUNE}
	mkdir -p "$LOGS/$WHERE"
	say "selftests: booting ${SANX_NODES:-2} nodes with kernel $KERNEL"
	lab up --kernel "$KERNEL" --nodes "${SANX_NODES:-2}" --cpus "${SANX_CPUS:-1}" --owner $$ || {
		result fail "$WHERE: nodes boot" "$(again "")"
		return
	}
	# shellcheck source=scripts/lablib.sh
	. "$SCRIPTS/lablib.sh"
	trap 'lab down' EXIT
	if fresh; then
		run_tests
	else
		result fail "$WHERE: af_sanx loads" "$(again "")"
	fi
	cp "$LAB_RUN"/*.console "$LOGS/$WHERE/" || true
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

# run_kernels KERNELS...: JOBS of them at a time; every line says whose it is.
run_kernels() {
	local k
	for k in "$@"; do
		while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n || true; done
		"$SCRIPTS/check.sh" one-kernel "$k" ||
			result fail "$k: broke off" "$(KERNEL=$k again "")" &
	done
	wait
}

# The slowest kernel starts first.
stage_selftests() {
	# shellcheck disable=SC2086
	set -- ${KERNEL:-debug 6.1 6.12}
	build_for "$@" || return 0
	run_kernels "$@"
}

# Everything that one node can test, with every tunable at one end and then at
# the other, on two CPUs.  What a test is about it sets for itself.
stage_extremes() {
	local kernel=${KERNEL:-6.12} tune
	build_for "$kernel" || return 0
	for tune in ${TUNE:-least most}; do
		SANX_TUNE=$tune SANX_NODES=1 SANX_CPUS=2 run_kernels "$kernel"
	done
}
