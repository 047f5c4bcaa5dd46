# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Which selftests there are, where each is run, and how.
#
# What the comments of a test's source say of it:
#
#	kernels: NAMES		the others need not be asked, as they lack what it
#				is about, or say the same
#	cpus: N			needs so many
#	nodes: N		of a test over several, if not two; long ones only
#	no siw: WHY		not run over iWARP
#	no rail: WHY		not run over TCP rails, on one node or on two
#	only verbs: WHY		run over RDMA only
#	clock: host WHY		its verdict depends on how soon the host runs the nodes;
#				if it fails, it is run once more (scripts/check.d/unstable.sh)
#	clock: virtual WHY	of a script over two nodes: it is about time, and in make
#				check these have one virtual clock; make check-full runs it
#				by the host's, too
#	full: WHY		not in make check, but in make check-full
#	long: WHY		in neither; it has a make target of its own
#	timeout: N		of a long one, seconds until it counts as hung
#	boot: ARGS		for the kernel's command line, of the lab that it is in
#	last: WHY		behind the others

# Seconds until a test counts as hung: so many times what scripts/check.d/seconds has, as
# the host may be busy with other things; not less than LIMIT_LEAST, and LIMIT_UNKNOWN
# where that file has nothing.  All of it SANX_HOST_SLOW times.
LIMIT_TIMES=8
LIMIT_LEAST=60
LIMIT_UNKNOWN=600

# A lab in which tests take longer than this is split.
LAB_SECONDS=240

# The native debug kernel (um) runs every test of make check.  What else is to run where is
# chosen here, so that make check has an end; make check-full runs all on each kernel.

# On the stock kernels: what races on two CPUs, what compat/ makes the same on 6.1, and
# what unmodified programs do.  What um cannot run is run there in any case.
STOCK_TESTS="abuse accept connect data dgram poll process stress transfer uring"
STOCK_TESTS+=" abuse-verbs connect-verbs data-verbs poll-verbs"
STOCK_TESTS+=" stress-verbs transfer-verbs urgent-verbs uring-verbs zerocopy-verbs"
STOCK_TESTS+=" streams"

# Over iWARP: connections, data in each way that they travel, ends, and memory that is
# registered and given back, as the two devices differ in no more than that.
SIW_TESTS="abuse-siw connect-siw data-siw grow-siw long-siw reclaim-siw"
SIW_TESTS+=" stress-siw transfer-siw urgent-siw"

# Once more over TCP rails, of the tests over two nodes and then of those on one, where
# the wire is what counts.  All of them: make selftests KERNEL=um VARIANT=rail.
RAIL_TESTS="streams-rail"
RAIL_TESTS+=" abuse-rail accept-rail connect-rail data-rail full-rail grow-rail"
RAIL_TESTS+=" long-rail reclaim-rail sendbuf-rail stress-rail transfer-rail urgent-rail"
RAIL_TESTS+=" uring-rail zerocopy-rail"

# cpus_of KERNEL: a native node has one.
cpus_of() {
	case $1 in
	um) echo 1 ;;
	*) echo "${SANX_CPUS:-2}" ;;
	esac
}

# read_sources: fills SAID, by FILE:WORD, with what the tests' sources say, "socket" for
# programs about sockets in variants, and "variants" for those that they run by default.
# One process reads all: a fork for each question would take longer than some tests.
declare -A SAID=()
read_sources() {
	local file word value
	while IFS=$'\t' read -r file word value; do
		SAID[$file:$word]=$value
	done < <(awk '
		function say(word, value) {
			if (!((FILENAME, word) in seen))
				print FILENAME "\t" word "\t" value
			seen[FILENAME, word] = 1
		}
		match($0, /^( \*|#) [a-z ]+: */) {
			word = substr($0, 1, RLENGTH)
			sub(/^( \*|#) /, "", word)
			sub(/: *$/, "", word)
			say(word, substr($0, RLENGTH + 1))
		}
		/include "(sanx_test|variants)\.h"/ { say("socket", "yes") }
		/^#define DEFAULT_VARIANTS "/ { split($0, part, "\""); say("variants", part[2]) }
		' "$SANX_TREE"/selftests/*.[ch] "$SANX_TREE"/selftests/two_node/*.sh)
	mapfile -t ONE_NAMES < <(make -s -C "$SANX_TREE/selftests" KSRC=. list | sort)
}

# source_of KIND NAME: sets SOURCE to the file that a test is written in.
source_of() {
	case $1 in
	two) SOURCE=$SANX_TREE/selftests/two_node/$2.sh ;;
	virtual) SOURCE=$SANX_TREE/selftests/two_node/${2%-virtual}.sh ;;
	tworail) SOURCE=$SANX_TREE/selftests/two_node/${2%-rail}.sh ;;
	*) SOURCE=$SANX_TREE/selftests/${2%-"$1"}.c ;;
	esac
}

# said_of KIND NAME WORD: sets SAYS to what a test's source says of it, or to nothing.
said_of() {
	[ "${#SAID[@]}" != 0 ] || read_sources
	source_of "$1" "$2"
	SAYS=${SAID[$SOURCE:$3]:-}
}

# read_seconds: fills TAKES, by KERNEL-KIND:NAME and by :NAME for the most of any, with the
# seconds that tests took.
declare -A TAKES=()
read_seconds() {
	local lab name seconds
	TAKES[:]=0
	while read -r lab name seconds; do
		[[ $lab != "#"* ]] || continue
		TAKES[$lab:$name]=$seconds
		[ "${TAKES[:$name]:-0}" -ge "$seconds" ] || TAKES[:$name]=$seconds
	done <"$SANX_TREE/scripts/check.d/seconds"
}

# take_seconds: of each test that has run, the time it took, into the committed file.
take_seconds() {
	local file=$SANX_TREE/scripts/check.d/seconds new=$SANX_TREE/build/check/seconds
	[ -s "$new" ] || die "no test has run: $new"
	{
		grep '^#' "$file"
		{ grep -v '^#' "$file" && cat "$new"; } |
			awk '{ last[$1 " " $2] = $3 } END { for (test in last) print test, last[test] }' | sort
	} >"$file.new"
	mv "$file.new" "$file"
}

# limit_of KIND NAME: sets TOOK to the seconds that the test took, LIMIT to those that it
# may take.
limit_of() {
	[ "${#TAKES[@]}" != 0 ] || read_seconds
	TOOK=${TAKES[$KERNEL-$1:$2]:-${TAKES[:$2]:-}}
	said_of "$1" "$2" timeout
	LIMIT=${SAYS%%[!0-9]*}
	if [ -n "$LIMIT" ]; then
		LIMIT=$((LIMIT * $(slow_of "$KERNEL")))
	elif [ -n "${TAKES[$KERNEL-$1:$2]:-}" ]; then
		LIMIT=$((TOOK * LIMIT_TIMES))
	else
		LIMIT=$((LIMIT_UNKNOWN * $(slow_of "$KERNEL")))
	fi
	[ "$LIMIT" -ge "$LIMIT_LEAST" ] || LIMIT=$LIMIT_LEAST
	LIMIT=$((LIMIT * SANX_HOST_SLOW))
	TOOK=${TOOK:-30}
}

# is_socket_test NAME: is it about sockets, in variants?  Such programs run once
# more with the node talking to itself over its RDMA device.
is_socket_test() {
	said_of one "$1" socket
	[ -n "$SAYS" ]
}

# wire_names KIND: what runs over siw or a TCP rail, too.
wire_names() {
	local name
	for name in "${ONE_NAMES[@]}"; do
		is_socket_test "$name" || continue
		said_of "$1" "$name-$1" "no $1"
		[ -n "$SAYS" ] || echo "$name"
	done
}

# two_names: the scripts of two nodes, those last that say so.
two_names() {
	local test name last=()
	for test in "$SANX_TREE"/selftests/two_node/*.sh; do
		[ -x "$test" ] || continue
		name=${test##*/}
		name=${name%.sh}
		said_of two "$name" last
		if [ -n "$SAYS" ]; then last+=("$name"); else echo "$name"; fi
	done
	[ "${#last[@]}" = 0 ] || printf '%s\n' "${last[@]}"
}

# rail_names: tests over two nodes that run over TCP rails, too.
rail_names() {
	local name
	while read -r name; do
		said_of two "$name" "no rail"
		[ -n "$SAYS" ] || echo "$name-rail"
	done < <(two_names)
}

# virtual_names: tests over two nodes that are about time.
virtual_names() {
	local name
	while read -r name; do
		said_of two "$name" clock
		[[ $SAYS != virtual* ]] || echo "$name-virtual"
	done < <(two_names)
}

# all_tests LAB: KIND NAME, a line each, of what this lab can run.
all_tests() {
	local name
	[ "${#SAID[@]}" != 0 ] || read_sources
	case $1 in
	one)
		for name in "${ONE_NAMES[@]}"; do
			said_of one "$name" 'only verbs'
			[ -n "$SAYS" ] || echo "one $name"
		done
		;;
	verbs)
		for name in "${ONE_NAMES[@]}"; do
			! is_socket_test "$name" || echo "verbs $name-verbs"
		done
		;;
	siw | rail) while read -r name; do echo "$1 $name-$1"; done < <(wire_names "$1") ;;
	two) while read -r name; do echo "two $name"; done < <(two_names) ;;
	virtual) while read -r name; do echo "virtual $name"; done < <(virtual_names) ;;
	tworail) while read -r name; do echo "tworail $name"; done < <(rail_names) ;;
	esac
}

# every_test: KIND NAME, a line each.
every_test() {
	local kind
	for kind in one verbs siw rail two virtual tworail; do all_tests "$kind"; done
}

# is_test NAME: is there one?
is_test() {
	every_test | grep -qE "^[a-z]* $1\$"
}

# is_asked KIND NAME: does TEST name it, or nothing?  VARIANT=rail says it of all names.
is_asked() {
	[ -z "${TEST:-}" ] || [[ " $TEST " == *" $2 "* ]] ||
		{ [ "${VARIANT:-}" = rail ] && [[ $1 == *rail && " $TEST " == *" ${2%-rail} "* ]]; }
}

# is_for_kernel KIND NAME: can this kernel run it?
is_for_kernel() {
	local under=$KERNEL
	# It is one more debug kernel with two CPUs.
	[ "$under" != kcsan ] || under=debug
	said_of "$1" "$2" kernels
	[[ -z $SAYS || " $SAYS " == *" $under "* ]] || return 1
	said_of "$1" "$2" cpus
	[ "${SAYS:-1}" = 1 ] || [ "$SAYS" -le "$(cpus_of "$KERNEL")" ]
}

# wanted KIND NAME: is it to run now?
wanted() {
	is_asked "$1" "$2" && is_for_kernel "$1" "$2" || return 1
	[ -z "${TEST:-}" ] || return 0
	said_of "$1" "$2" long
	[ -z "$SAYS" ] || return 1
	runs_all || is_chosen "$1" "$2"
}

# runs_all: make check-full.
runs_all() {
	[ -n "${SANX_FULL:-}" ]
}

# is_chosen KIND NAME: is it for make check, and of tests that run in several labs, is it
# one for this one?
is_chosen() {
	[ "${VARIANT:-}" != rail ] || [[ $1 != *rail ]] || return 0
	said_of "$1" "$2" full
	[ -z "$SAYS" ] || return 1
	said_of "$1" "$2" clock
	[[ $SAYS != virtual* || $1 = virtual ]] || return 1
	case $KERNEL-$1 in
	*rail) [[ " $RAIL_TESTS " == *" $2 "* ]] ;;
	*-siw) [[ " $SIW_TESTS " == *" $2 "* ]] ;;
	6.*) [[ " $STOCK_TESTS " == *" $2 "* ]] || ! KERNEL=um is_for_kernel "$1" "$2" ;;
	esac
}

# wanted_tests KIND: what labs of this kind are to run, KIND NAME LIMIT TOOK a line.
wanted_tests() {
	local part kind name
	for part in $(parts_of "$1"); do
		while read -r kind name; do
			wanted "$kind" "$name" || continue
			limit_of "$kind" "$name"
			echo "$kind $name $LIMIT $TOOK"
		done < <(all_tests "$part")
	done
}

# parts_of KIND: the kinds of its tests.
parts_of() {
	case $1 in
	stock) echo "two one verbs" ;;
	*) echo "$1" ;;
	esac
}

# shards KIND: into how many labs of about the same length these are split.
shards() {
	wanted_tests "$1" | awk -v most="$LAB_SECONDS" '
		{ sum += $4 }
		END { print int((sum + most - 1) / most) + !NR }'
}

# kind_of LAB, lab_base LAB: without the number of a part.
kind_of() {
	local kind=${1#*-}
	echo "${kind%.*}"
}

lab_base() {
	echo "${1%%-*}-$(kind_of "$1")"
}

# tests_of LAB: what it is to run, likewise.  The longest are dealt out first, each to the
# lab that has least; their order stays.
tests_of() {
	local kind=${1#*-}
	if [ "$kind" = "${kind%.*}" ]; then
		wanted_tests "$kind"
		return
	fi
	wanted_tests "${kind%.*}" | awk -v own="${kind#*.}" -v n="$(shards "${kind%.*}")" '
		{ line[NR] = $0; took[NR] = $4; of[NR] = 0 }
		END {
			for (i = 1; i <= NR; i++) {
				longest = least = 0
				for (j = 1; j <= NR; j++)
					if (!of[j] && (!longest || took[j] > took[longest]))
						longest = j
				for (j = 1; j <= n; j++)
					if (!least || sum[j] < sum[least])
						least = j
				of[longest] = least
				sum[least] += took[longest] + 1
			}
			for (i = 1; i <= NR; i++)
				if (of[i] == own)
					print line[i]
		}'
}

# nodes_of LAB: how many it has.
nodes_of() {
	local kind name most=1
	while read -r kind name _; do
		[ "$most" != 1 ] || [[ $kind != @(two|tworail|virtual) ]] || most=2
		said_of "$kind" "$name" nodes
		[ "${SAYS:-0}" -le "$most" ] || most=$SAYS
	done < <(tests_of "$1")
	echo "$most"
}

# boot_args LAB: for the command line of its kernels.
boot_args() {
	local kind name
	while read -r kind name _; do
		said_of "$kind" "$name" boot
		[ -z "$SAYS" ] || echo "$SAYS"
	done < <(tests_of "$1") | sort -u | tr '\n' ' '
}

# ip_version: the IP version that this kernel's one-node tests are run with, if
# not with both.  Most of what they test does not know of it, so each has one;
# make check-full runs all variants.
ip_version() {
	runs_all || case $KERNEL in
	6.12) echo 6 ;;
	*) echo 4 ;;
	esac
}

# named_variants NAME: those of $VARIANT, else what the program runs by default.
# An emulated debug kernel has no use for the oracle: it looks for our mistakes,
# not TCP's, and is slow.  Stock 6.12 adds a second CPU to what the native kernel has
# shown of the same source: that is asked of what runs over loop and verbs.  What the
# oracle says on 6.1 the native kernel need not ask again.
named_variants() {
	local all=${VARIANT:-} few=1
	[ -z "$all${SANX_FULL:-}" ] || few=
	if [ -z "$all" ]; then
		said_of one "$1" variants
		all=${SAYS:-${SAID[$SANX_TREE/selftests/sanx_test.h:variants]}}
	fi
	for all in $all; do
		case $KERNEL-$all in
		debug-tcp* | kcsan-tcp*) continue ;;
		6.12-tcp* | 6.12-fallback*) [ -z "$few" ] || continue ;;
		um-tcp | um-tcp[46])
			[ -z "$few" ] || [ -n "${TEST:-}" ] ||
				[[ " $STOCK_TESTS " != *" $1 "* ]] || continue
			;;
		esac
		echo "$all"
	done
}

# variants NAME: which variants a program runs, with the IP version, which explicit sockets
# do not have; empty leaves it to the program.
variants() {
	local ip
	ip=$(ip_version)
	[ -n "$ip$VARIANT" ] || return 0
	named_variants "$1" | sed "/^explicit/!s/[a-z]\$/&$ip/" | tr '\n' ' '
}

# without_other_ip NAME: options that leave out a program's own fixture variants of the
# other IP version, which are called so.
without_other_ip() {
	local ip
	ip=$(ip_version)
	[ -n "$ip" ] && [ -z "$VARIANT" ] || return 0
	source_of one "$1"
	sed -nE "s/^FIXTURE_VARIANT_ADD\(\w+, (\w+$((10 - ip)))\).*/-V \1/p" "$SOURCE" | tr '\n' ' '
}

# run_program NAME VARIANTS [OPTIONS]: $CASE chooses one of its tests.  The program runs
# from the node's memory: the tree comes over 9p and is not cached, and a test whose next
# page does not come would look like a hung socket.
run_program() {
	local only="${CASE:+-t $CASE }${3:-}" copy=/tmp/sanx-tests/$1
	lab run 1 "mkdir -p '${copy%/*}' && cp '$SANX_TREE/build/selftests/$1' $copy && cd '$SANX_TREE/build/selftests' &&
		SANX_VARIANTS='$2' SANX_DEVICE='${DEVICE:-}' exec $copy $only" </dev/null
}

run_one() {
	run_program "$1" "$(variants "$1")" "$(without_other_ip "$1")"
}

# prepare_verbs DEVICE: one node, whose connections to itself go by its device.
prepare_verbs() {
	unload_sanx 1 && load_sanx 1 loop=0 && RDMA=$1 load_verbs && nodemap_std
}

# over_verbs NAME: the variants that a program runs over the RDMA device.
over_verbs() {
	said_of one "$1" variants
	echo "verbs$(ip_version)"
	[[ " $SAYS " != *" explicit "* ]] || echo explicitverbs
}

run_verbs() {
	prepare_verbs rxe && run_program "${1%-verbs}" "$(over_verbs "${1%-verbs}" | tr '\n' ' ')"
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

run_virtual() {
	run_two "${1%-virtual}"
}

# run_tworail: without RDMA, with links over TCP rails (scripts/lablib.sh).
run_tworail() {
	SANX_RAIL=tcp run_two "${1%-rail}"
}
