# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What a two-node test is written with.  It runs on the host:
#
#	. "$(dirname "$0")/../../scripts/lablib.sh"
#	plan 2
#	load_verbs && nodemap_std
#	node2 iperf3 -s -1 -D
#	node1 sanx-run iperf3 -c node2 && ok "iperf3 runs" || fail "iperf3 runs"
#	...
#
# The nodes have just loaded a fresh af_sanx when a test starts.  $KERNEL is
# what they run (6.1, 6.12, debug, kcsan, um), $SANX_LAB their lab.  A test that stands
# alone has a lab made for it: make selftests KERNEL=6.1 TEST=name.

[ -z "${LABLIB:-}" ] || return 0
LABLIB=1

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export SANX_LAB=${SANX_LAB:-default}

LAB_RUN=$SANX_CACHE/run/$SANX_LAB
[ -f "$LAB_RUN/config" ] || die "lab '$SANX_LAB' is not up: scripts/lab up"
while IFS='=' read -r LAB_FIELD LAB_VALUE; do
	case $LAB_FIELD in
	KERNEL | RELEASE | NODES) declare -g "$LAB_FIELD=$LAB_VALUE" ;;
	WIRES | ACCEL | PROGRAMS | VIRTUAL) declare -g "LAB_$LAB_FIELD=$LAB_VALUE" ;;
	esac
done <"$LAB_RUN/config"
MODULES=$SANX_TREE/build/$RELEASE
export KERNEL RELEASE NODES MODULES

SLOW=$(slow_of "$KERNEL")
export SLOW

# Where nodes have links over TCP rails, and no RDMA, in place of RDMA: "tcp", which is
# also what a host has in a node map then; else nothing.
RAIL=${SANX_RAIL:-}
export SANX_RAIL=$RAIL

lab() {
	if [ "$1" = run ]; then
		(shift && lab_exec "$@")
	else
		"$SANX_TREE/scripts/lab" "$@"
	fi
}

# lab_exec N CMD ARGS...: "lab run", in place of this process.  Tests run hundreds of
# commands, so this one does not start a shell more.
lab_exec() {
	local n=$1
	shift
	[[ $n =~ ^[1-4]$ && $n -le $NODES && $# -gt 0 ]] || die "lab run: '$n' $*"
	[ $# -gt 1 ] || set -- /bin/bash -c "$1"
	cd "$LAB_RUN" && exec "$LAB_PROGRAMS/client" "node$n" "$@"
}

# node1 CMD ARGS..., node2 CMD ARGS...: run there.  One argument is a shell
# line.  Standard input is the caller's, so in a loop over lines add </dev/null.
node1() {
	lab run 1 "$@"
}

node2() {
	lab run 2 "$@"
}

# has_calendar: is this a lab of several nodes with one virtual clock?  It stands still
# while nobody waits for a command, whatever runs in the background.
has_calendar() {
	[ "${LAB_VIRTUAL:-}" = 1 ] && [ "$NODES" -gt 1 ]
}

# lab_start N CMD...: start it on node N, as process $LAST, with this standard output.  With
# a calendar it runs when this returns, so that what is started next comes after it; and it
# lets time pass only when it is waited for.
lab_start() {
	local fd REPLY
	if ! has_calendar; then
		lab_exec "$@" </dev/null &
		LAST=$!
		return
	fi
	[ -n "${LAB_STARTS:-}" ] || exec {LAB_STARTS}<> <(:)
	fd=$LAB_STARTS
	LAB_STARTED=$fd lab_exec "$@" </dev/null &
	LAST=$!
	while kill -0 "$LAST" 2>/dev/null; do
		# If its time ends meanwhile, read fails with the byte that it has taken.
		REPLY=""
		read -r -N 1 -t 1 -u "$fd" || [ -n "$REPLY" ] || continue
		return 0
	done
	# It has ended: what it may have said is not for the next one.
	! read -r -t 0 -u "$fd" || read -r -N 1 -u "$fd"
}

# wait [PID...]: as the shell's, and time passes until they have ended.
wait() {
	local pids=("$@")
	if has_calendar; then
		[ $# -gt 0 ] || mapfile -t pids < <(jobs -p)
		kill -URG "${pids[@]}" 2>/dev/null || true
	fi
	builtin wait "$@"
}

# nodes CMD ARGS...: on every node, at the same time; fails if it fails on one.
nodes() {
	local n pids=() rc=0
	for ((n = 1; n <= NODES; n++)); do
		lab_start "$n" "$@"
		pids+=("$LAST")
	done
	for n in "${pids[@]}"; do wait "$n" || rc=$?; done
	return "$rc"
}

# background N CMD...: start it on node N and go on.  It ends with the test, or
# with: stop $LAST.  Its output is in the file $LAST_LOG.
background() {
	LAST_LOG=$(mktemp "${TMPDIR:-/tmp}/sanx-bg.XXXXXX")
	lab_start "$@" >"$LAST_LOG" 2>&1
	LAB_BACKGROUND+=("$LAST")
}

# stop PID: SIGTERM for the command in the node, and if that does not help,
# hanging up on it, which kills its session.
stop() {
	local i nap=0.02
	for ((i = 0; i < 20; i++)); do
		kill "$1" 2>/dev/null || break
		! has_calendar || kill -URG "$1" 2>/dev/null || break
		nap "$nap"
		nap=0.1
	done
	kill -KILL "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

# wait_port N PORT: until something on node N listens there (TCP).
wait_port() {
	eventually 60 "lab run $1 'ss -Hltn sport = :$2 | grep -q .'"
}

# pause SECONDS: in a lab with virtual time on the nodes' clock, which else stands still.
pause() {
	local n
	if [ "${LAB_VIRTUAL:-}" != 1 ]; then
		nap "$1"
		return
	fi
	for ((n = 1; n <= NODES; n++)); do
		! lab run "$n" sleep "$1" </dev/null 2>/dev/null || break
	done
	settle
}

# settle: what nodes with a calendar have said so far is in the logs.
settle() {
	! has_calendar || "$LAB_PROGRAMS/wire" tell "$LAB_RUN" settle
}

# now_ms: by the clock that the nodes go by.
now_ms() {
	local n
	if [ "${LAB_VIRTUAL:-}" != 1 ]; then
		date +%s%3N
		return
	fi
	for ((n = 1; n <= NODES; n++)); do
		! lab run "$n" date +%s%3N </dev/null 2>/dev/null || return 0
	done
	return 1
}

# eventually SECONDS 'SHELL LINE': repeat it until it succeeds, more seldom after some
# times, as the programs that ask have the CPUs of what is asked for.
eventually() {
	local end=$((SECONDS + $1 * SLOW)) tenths=2 left=$(($1 * SLOW * 10))
	settle
	until eval "$2" </dev/null; do
		if [ "${LAB_VIRTUAL:-}" = 1 ]; then
			[ $((left -= tenths)) -gt 0 ] || return 1
		else
			[ "$SECONDS" -lt "$end" ] || return 1
		fi
		pause "0.$tenths"
		[ "$tenths" -ge 6 ] || tenths=$((tenths + 1))
	done
}

# load_sanx N [PARAM=VALUE...]: insert af_sanx on node N.
load_sanx() {
	local n=$1
	shift
	lab run "$n" insmod "$MODULES/af_sanx.ko" "$@" </dev/null && tune "$n"
}

# tunables: every one with what $SANX_TUNE says, one end of what it takes; if that
# leaves it its meaning, as it would not a heartbeat that is lost before it comes.
tunables() {
	# On a busy host a link may take its time, and what is TCP then is a failure of the
	# test.  Tests about a peer that does not answer set LINK_TIMEOUT_MS.
	echo "link_timeout_ms=${LINK_TIMEOUT_MS:-60000}"
	case ${SANX_TUNE:-} in
	least) echo "net/sanx/spin_us=0 net/sanx/idle_ms=1 net/sanx/nodelay_us=0 heartbeat_ms=100" \
		"lanes=1 grow_ms=0 long_min=1" ;;
	most) echo "net/sanx/spin_us=10000 net/sanx/idle_ms=86400000 net/sanx/nodelay_us=100000" \
		"heartbeat_ms=3600000 lanes=8 grow_ms=4294967295 long_min=4294967295" ;;
	esac
}

# tune N: what is loaded on node N gets the values of $SANX_TUNE.
tune() {
	local all
	all=$(tunables)
	# shellcheck disable=SC2016
	[ -z "$all" ] || lab run "$1" 'for set in '"$all"'; do
		case $set in
		*/*) file=/proc/sys/${set%=*} ;;
		*) file=/sys/module/af_sanx/parameters/${set%=*} ;;
		esac
		[ ! -d "${file%/*}" ] || echo "${set#*=}" >"$file" || exit 1
	done' </dev/null
}

# unload_sanx N: both modules; fails if something still holds them.  A closed
# connection holds them until the peer has answered (sanx_verbs) or until its
# socket has been reaped (af_sanx), so this asks for a minute.
unload_sanx() {
	eventually 60 "lab run $1 '
		[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs 2>/dev/null
		[ ! -d /sys/module/af_sanx ] || rmmod af_sanx 2>/dev/null
		[ ! -d /sys/module/af_sanx ]'" || {
		lab run "$1" 'grep sanx /proc/modules' </dev/null
		return 1
	}
}

unload_all() {
	local n
	for ((n = 1; n <= NODES; n++)); do unload_sanx "$n" || return 1; done
}

# fresh: unload everything everywhere and load af_sanx anew.
fresh() {
	local n
	for ((n = 1; n <= NODES; n++)); do
		unload_sanx "$n" && load_sanx "$n" || return 1
	done
}

# insert_verbs N: the verbs wire on node N, whose RDMA device is there.  With $RAIL there
# is nothing to insert: TCP rails need no RDMA.
insert_verbs() {
	[ -n "$RAIL" ] ||
		lab run "$1" "[ -d /sys/module/sanx_verbs ] || insmod $MODULES/sanx_verbs.ko" </dev/null
}

# load_verbs: an RDMA device ($RDMA: rxe, or siw on the debug kernels) and the
# verbs wire on every node; or neither, with $RAIL.
load_verbs() {
	local n
	for ((n = 1; n <= NODES; n++)); do
		[ -n "$RAIL" ] || lab rdma "$n" "${RDMA:-rxe}" || return 1
		insert_verbs "$n" && tune "$n" || return 1
	done
}

# with_rails: a node map, with a TCP rail at each RDMA address if there is $RAIL.
with_rails() {
	local host id addrs rails
	while read -r host id addrs; do
		rails=${addrs:+tcp:${addrs// / tcp:}}
		echo "$host $id $addrs${RAIL:+ ${rails:-tcp}}"
	done
}

# nodemap_put N: from the standard input, to node N, as with_rails() says.
nodemap_put() {
	with_rails | lab run "$1" sanxctl nodemap load -
}

# nodemap_load: likewise, to all nodes.
nodemap_load() {
	local map n
	map=$(cat)
	for ((n = 1; n <= NODES; n++)); do nodemap_put "$n" <<<"$map" || return 1; done
}

# std_map: both nodes, by IPv4 and by IPv6.
std_map() {
	cat <<-END
		10.77.0.1 1
		10.77.0.2 2
		fd77::1 1 10.77.0.1
		fd77::2 2 10.77.0.2
	END
}

# nodemap_std: all nodes know both nodes.
nodemap_std() {
	std_map | nodemap_load
}

# nodemap_rail: likewise, with TCP rails.
nodemap_rail() {
	RAIL=tcp nodemap_std
}

# stat N KEY: one of node N's counters.
stat() {
	local all
	all=$(lab run "$1" sanxctl -j stats show </dev/null)
	[[ $all =~ \"$2\":\ *([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

# TAP: plan COUNT first, then one ok, fail or skip for each check.
TAP_DONE=0
TAP_FAILED=0
TAP_PLAN=""

plan() {
	TAP_PLAN=$1
	echo "TAP version 13"
	echo "1..$1"
}

ok() {
	echo "ok $((++TAP_DONE)) $*"
}

fail() {
	echo "not ok $((++TAP_DONE)) $*"
	TAP_FAILED=$((TAP_FAILED + 1))
	return 0
}

skip() {
	echo "ok $((++TAP_DONE)) $1 # SKIP ${2:-}"
}

# check NAME CMD ARGS...: ok if the command succeeds; shows what it said if not.
check() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1 </dev/null); then
		ok "$name"
	else
		[ -z "$out" ] || printf '%s\n' "# ${out//$'\n'/$'\n'# }"
		fail "$name"
	fi
}

# is NAME GOT WANTED: ok if they are the same.
is() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		echo "# got '$2', not '$3'"
		fail "$1"
	fi
}

# A test's end: nothing stays behind, and its status says what happened.
LAB_BACKGROUND=()
LAB_CLEANUP=()

# at_exit 'SHELL LINE': done when the test ends, last in first out.
at_exit() {
	LAB_CLEANUP=("$1" "${LAB_CLEANUP[@]}")
}

lab_end() {
	local rc=$? line
	trap - EXIT
	for line in "${LAB_CLEANUP[@]}"; do eval "$line" || true; done
	for line in "${LAB_BACKGROUND[@]}"; do stop "$line"; done
	[ "$rc" = 0 ] || exit "$rc"
	[ -z "$TAP_PLAN" ] || [ "$TAP_DONE" = "$TAP_PLAN" ] || {
		echo "# $TAP_DONE checks made of $TAP_PLAN planned"
		exit 1
	}
	[ "$TAP_FAILED" = 0 ] || exit 1
	exit 0
}
trap lab_end EXIT
