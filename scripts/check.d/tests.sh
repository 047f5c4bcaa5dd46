# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Which selftests there are, where each is run, and how.
#
# What the comments of a test's source say of it:
#
#	timeout: N		seconds until it counts as hung
#	kernels: NAMES		the others need not be asked, as they lack what it
#				is about, or say the same
#	cpus: N			needs so many
#	nodes: N		of a test over several, if not two; long ones only
#	no siw: WHY		not run over iWARP
#	no rail: WHY		not run over a TCP rail
#	only verbs: WHY		run over RDMA only
#	long: WHY		not in make check; it has a make target of its own
#	boot: ARGS		for the kernel's command line, of the lab that it is in
#	last: WHY		behind the others

# Seconds until a test counts as hung, if its source does not say otherwise: far
# more than it takes, as the host may be busy with other things.
LIMIT_ONE=600
LIMIT_TWO=600

# What make check runs on the emulated debug kernel, which is slow and has two
# CPUs: what races, and what needs x86.  The native one runs everything.  make
# check-debug runs everything there.
DEBUG_TESTS="abuse stress stress-verbs verbs_refuse-verbs"

# cpus_of KERNEL: a native node has one.
cpus_of() {
	case $1 in
	um) echo 1 ;;
	*) echo "${SANX_CPUS:-2}" ;;
	esac
}

# source_of KIND NAME: the file that a test is written in.
source_of() {
	case $1 in
	two) echo "$SANX_TREE/selftests/two_node/$2.sh" ;;
	*) echo "$SANX_TREE/selftests/${2%-"$1"}.c" ;;
	esac
}

# said_of KIND NAME WORD: what a test's source says of it, or nothing.
said_of() {
	sed -nE "s/^( \*|#) $3: *//p" "$(source_of "$1" "$2")" | head -n 1
}

# limit_of KIND NAME: seconds the test may take.
limit_of() {
	local limit
	limit=$(said_of "$1" "$2" timeout | sed 's/[^0-9].*//')
	[ "$1" != two ] || echo $((${limit:-$LIMIT_TWO} * ${SLOW:-1}))
	[ "$1" = two ] || echo $((${limit:-$LIMIT_ONE} * ${SLOW:-1}))
}

# is_socket_test NAME: is it about connected sockets?  Such programs run once
# more with the node talking to itself over its RDMA device.
is_socket_test() {
	grep -q 'include "sanx_test.h"' "$SANX_TREE/selftests/$1.c"
}

one_names() {
	make -s -C "$SANX_TREE/selftests" KSRC=. list | sort
}

# wire_names KIND: what runs over siw or a TCP rail, too.
wire_names() {
	local name
	for name in $(one_names); do
		! is_socket_test "$name" || [ -n "$(said_of "$1" "$name-$1" "no $1")" ] || echo "$name"
	done
}

two_names() {
	local test
	for test in "$SANX_TREE"/selftests/two_node/*.sh; do
		[ ! -x "$test" ] ||
			echo "$(grep -c '^# last:' "$test") $(basename "$test" .sh)"
	done | sort | sed 's/.* //'
}

# all_tests LAB: KIND NAME, a line each, of what this lab can run.
all_tests() {
	local name
	case $1 in
	one)
		for name in $(one_names); do
			[ -n "$(said_of one "$name" 'only verbs')" ] || echo "one $name"
		done
		;;
	verbs) for name in $(one_names); do ! is_socket_test "$name" || echo "verbs $name-verbs"; done ;;
	siw | rail) for name in $(wire_names "$1"); do echo "$1 $name-$1"; done ;;
	two) for name in $(two_names); do echo "two $name"; done ;;
	mixed) all_tests one && all_tests verbs ;;
	esac
}

# wanted KIND NAME: is it to run now?
wanted() {
	local kernels cpus under=$KERNEL
	# It is one more debug kernel with two CPUs.
	[ "$under" != kcsan ] || under=debug
	[ -z "${TEST:-}" ] || [[ " $TEST " == *" $2 "* ]] || return 1
	kernels=$(said_of "$1" "$2" kernels)
	[[ -z $kernels || " $kernels " == *" $under "* ]] || return 1
	cpus=$(said_of "$1" "$2" cpus)
	[ "${cpus:-1}" -le "$(cpus_of "$KERNEL")" ] || return 1
	[ -z "${TEST:-}" ] || return 0
	[ -z "$(said_of "$1" "$2" long)" ] || return 1
	[ "$KERNEL" != debug ] || [ -n "${SANX_ALL_TESTS:-}" ] ||
		[[ " $DEBUG_TESTS " == *" $2 "* ]]
}

# wanted_tests LAB: what this lab is to run, KIND NAME LIMIT a line.
wanted_tests() {
	local kind name
	while read -r kind name; do
		! wanted "$kind" "$name" || echo "$kind $name $(limit_of "$kind" "$name")"
	done < <(all_tests "$1")
}

# nodes_of LAB: how many it has.
nodes_of() {
	local kind name limit n most=1
	[ "$1" != two ] || most=2
	while read -r kind name limit; do
		n=$(said_of "$kind" "$name" nodes)
		[ "${n:-0}" -le "$most" ] || most=$n
	done < <(wanted_tests "$1")
	echo "$most"
}

# boot_args LAB: for the command line of its kernels.
boot_args() {
	local kind name limit
	while read -r kind name limit; do
		said_of "$kind" "$name" boot
	done < <(wanted_tests "$1") | sort -u | tr '\n' ' '
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

# named_variants NAME: those of $VARIANT, else what the program runs by default.
# An emulated debug kernel has no use for the oracle: it looks for our mistakes,
# not TCP's, and is slow.  Stock 6.12 adds a second CPU to what the native kernel has
# shown of the same source: that is asked of what runs over loop and verbs.
named_variants() {
	local all=${VARIANT:-} few=1
	[ -z "$all${SANX_ALL_VARIANTS:-}" ] || few=
	[ -n "$all" ] || all=$(sed -n 's/^#define DEFAULT_VARIANTS "\(.*\)"/\1/p' \
		"$SANX_TREE/selftests/$1.c" "$SANX_TREE/selftests/sanx_test.h" | head -n 1)
	for all in $all; do
		case $KERNEL-$all in
		debug-tcp* | kcsan-tcp*) continue ;;
		6.12-tcp* | 6.12-fallback*) [ -z "$few" ] || continue ;;
		esac
		echo "$all"
	done
}

# variants NAME: which variants a program runs, with the IP version; empty leaves
# it to the program.
variants() {
	local ip
	ip=$(ip_version)
	[ -n "$ip$VARIANT" ] || return 0
	named_variants "$1" | sed "s/[a-z]\$/&$ip/" | tr '\n' ' '
}

# run_program NAME VARIANTS: $CASE chooses one of its tests.  The program runs from
# the node's memory: the tree comes over 9p and is not cached, and a test whose next
# page does not come would look like a hung socket.
run_program() {
	local only=${CASE:+-t $CASE} copy=/tmp/$1
	lab run 1 "cp '$SANX_TREE/build/selftests/$1' $copy && cd '$SANX_TREE/build/selftests' &&
		SANX_VARIANTS='$2' SANX_DEVICE='${DEVICE:-}' exec $copy $only" </dev/null
}

run_one() {
	run_program "$1" "$(variants "$1")"
}

# prepare_verbs DEVICE: one node, whose connections to itself go by its device.
prepare_verbs() {
	unload_sanx 1 && load_sanx 1 loop=0 && RDMA=$1 load_verbs && nodemap_std
}

run_verbs() {
	prepare_verbs rxe && run_program "${1%-verbs}" "verbs$(ip_version)"
}

run_siw() {
	prepare_verbs siw && DEVICE=siw run_program "${1%-siw}" "verbs$(ip_version)"
}

# run_rail: one node, whose connections to itself go by a TCP rail, without RDMA.
run_rail() {
	unload_sanx 1 && load_sanx 1 loop=0 && tune 1 && nodemap_rail &&
		DEVICE=tcp run_program "${1%-rail}" "verbs$(ip_version)"
}

run_two() {
	"$SANX_TREE/selftests/two_node/$1.sh" </dev/null
}
