# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Selftests: labs that run them, several at a time.
#
# A lab is KERNEL-KIND: "one" (one node, its own programs), "verbs" (those about
# connected sockets, over rxe), "mixed" (both), "siw" (the same over iWARP, where the
# kernel has it), "rail" (the same over a TCP rail) or "two" (scripts over two nodes).

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
	[ "$1" != debug ] || [ -n "${SANX_ALL_TESTS:-}" ] || one=debug-mixed
	case $1 in
	debug) one+=" $1-siw" ;;
	um) one+=" $1-siw $1-rail" ;;
	esac
	echo "$1-two" "$one"
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

# run_labs LABS...: JOBS of them at a time; every line says whose it is.
run_labs() {
	local l
	[ $# -gt 0 ] || result fail "there is no test${TEST:+ called $TEST}${KERNEL:+ for $KERNEL}" ""
	for l in "$@"; do
		while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n || true; done
		"$SCRIPTS/check.sh" one-lab "$l" ||
			result fail "$l: broke off" "make selftests KERNEL=${l%%-*}" &
	done
	wait
}

# nothing_left_out: in a run of everything each test has results, of one kernel at
# least, in its lab or a mixed one; but for those that have a make target of their own.
nothing_left_out() {
	local lab kind name
	for lab in one verbs siw rail two; do
		while read -r kind name; do
			[ -n "$(said_of "$kind" "$name" long)" ] ||
				grep -qE "^[a-z]*	[^ ]*-($lab|mixed) $name: " "$RESULTS" ||
				result fail "$name: ran on no kernel" "make selftests TEST=$name"
		done < <(all_tests "$lab")
	done
}

stage_selftests() {
	local kernels=${KERNEL:-debug um 6.1 6.12} labs
	# shellcheck disable=SC2086
	build_for $kernels || return 0
	# shellcheck disable=SC2086
	mapfile -t labs < <(useful_labs $kernels)
	run_labs "${labs[@]}"
	[ -n "$KERNEL$TEST${VARIANT:-}${CASE:-}" ] || nothing_left_out
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
