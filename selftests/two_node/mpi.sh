#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Open MPI's TCP transport, a rank on each node: HPCC's tests find the same
# answers over verbs as over TCP, and they are right.
# timeout: 2400
# long: several minutes; make check-programs
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/pairs.sh
. "$(dirname "$0")/pairs.sh"

OUT=$SANX_TREE/build/check/mpi-$KERNEL
HPCC_SECONDS=900
# Above 4096 bytes rxe sends large packets, which an emulated CPU can do more of.
MTU=4300

# HPCC's example for a small matrix on a grid of one by two; the sizes of its
# other tests follow from that.
hpcc_setup() {
	node2 "sed -e '6s/^[0-9]*/500/' -e '8s/^[0-9]*/32/' -e '11s/^[0-9]*/1/' -e '12s/^[0-9]*/2/' \
		/usr/share/doc/hpcc/examples/_hpccinf.txt >$DIR/hpccinf.txt" </dev/null
}

# hpcc NAME [COMMAND...]: ranks, mpirun, orted, ssh and sshd all run under
# COMMAND.  What hpcc says of its answers is in $OUT.NAME.
hpcc() {
	local name=$1 prefix mpirun rc=0
	shift
	prefix="env HWLOC_COMPONENTS=-gl $*"
	mpirun="mpirun --allow-run-as-root --host 10.77.0.2,10.77.0.1"
	mpirun+=" --mca plm rsh --mca plm_rsh_agent 'ssh -p 2222 $SSH_OPTIONS'"
	mpirun+=" --mca orte_launch_agent '$prefix orted' --mca oob_tcp_if_include eth0"
	mpirun+=" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0"
	background 1 "exec $* $SSHD"
	wait_port 1 2222
	timeout $((HPCC_SECONDS * SLOW)) "$SANX_TREE/scripts/lab" run 2 \
		"cd $DIR && rm -f hpccoutf.txt && $prefix $mpirun hpcc" </dev/null || rc=$?
	stop "$LAST"
	node2 "cat $DIR/hpccoutf.txt" </dev/null >"$OUT.$name.txt"
	answers <"$OUT.$name.txt" >"$OUT.$name"
	return "$rc"
}

# answers: what hpcc found, without the times it took.
answers() {
	sed -nE -e '/^Found [0-9]+ errors/p' -e '/tests completed and/p' \
		-e '/^max\(\|x-x0\|\)/p' -e 's/^(\|\|Ax-b\|\|.*=) */\1 /p' \
		-e '/^(Success|PTRANS_residual|MPIFFT_maxErr|.*_Errors)=/p'
}

# right FILE: every test is there and satisfied.
right() {
	local line
	for line in '^Success=1$' '\|\|Ax-b.* PASSED$' ' 1 tests completed and passed' \
		' 5 tests completed and passed' '^MPIRandomAccess_Errors=0$' \
		'^MPIRandomAccess_LCG_Errors=0$' '^MPIFFT_maxErr=.*e-1[4-9]$'; do
		grep -E "$line" "$1" || { echo "no line like $line" && return 1; }
	done
	! grep -E 'FAILED|[1-9][0-9]* tests completed and failed|^Found [1-9]' "$1"
}

plan 7
at_exit "nodes 'rm -rf $DIR; ip link set eth0 mtu 1500'"
nodes "mkdir -p $DIR && chmod 755 $DIR && ip link set eth0 mtu $MTU"
mkdir -p "${OUT%/*}"
load_verbs
nodemap_std
ssh_setup
hpcc_setup
check "hpcc over TCP" hpcc tcp
check "its answers are right" right "$OUT.tcp"
remember
check "hpcc over verbs" hpcc verbs "$SANX_TREE/build/tools/sanx-run" --strict
check "its answers are right, too" right "$OUT.verbs"
check "and the same" diff "$OUT.tcp" "$OUT.verbs"
check "over verbs at one rank" over_verbs 2 500000000
check "over verbs at the other" over_verbs 1 500000000
