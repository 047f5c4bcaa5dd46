#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Three cables between two nodes are cut and joined at random (cable_events.sh), under
# a file system on NBD, PostgreSQL, redis with a replica, MPI, and connections of every
# kind that compare each byte.  None of them sees an error.  STORM_EVENTS says how many
# events there are, STORM_PROGRAMS under what.
# kernels: um
# timeout: 14400
# long: an hour; make check-rails
# no rail: the node map has rails of both kinds
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/clients.sh
. "$(dirname "$0")/clients.sh"
# shellcheck source=SCRIPTDIR/pairs.sh
. "$(dirname "$0")/pairs.sh"

OUT=$SANX_TREE/build/check/storm
EVENT_LOG=$OUT/events.log
mkdir -p "$OUT"
: >"$EVENT_LOG"
# shellcheck source=SCRIPTDIR/cable_events.sh
. "$(dirname "$0")/cable_events.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

BOUND=$((30 * SLOW))
CHANCES=${STORM_EVENTS:-1000}
RANDOM=${EVENT_SEED:-1}
# All go on until the end: ten seconds for each event at most, and what comes before.
PATIENCE=$((PATIENCE + CHANCES))
read -r -a PROGRAMS <<<"${STORM_PROGRAMS:-nbd postgres redis mpi}"
PG=/usr/lib/postgresql/15/bin
AS_PG="setpriv --reuid=postgres --regid=postgres --clear-groups"
# Each program works until this is there.
END=/share/$OVER
# While this is there, the cables are whole.
CALM=storm-calm
declare -A JOB

clean_up() {
	touch "$LAB_RUN/share/$OVER"
	mend_all >/dev/null 2>&1 || true
	stop_all
	node2 "umount $DIR/mnt; nbd-client -d /dev/nbd0" </dev/null >/dev/null 2>&1 || true
	rm -f "$LAB_RUN/share/$OVER" "$LAB_RUN/share/$CALM"
	nodes "rm -rf $DIR; sanxctl nodemap flush" || true
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null || true
	remove_rails
}

# job NAME 'SHELL LINES': on node 2, in the background; says "right" in the end, or
# what was wrong.  Each ends when $END is there.
job() {
	background 2 "set -e; trap 'echo it failed with status \$?' ERR; $2
		echo right"
	JOB[$1]=$LAST_LOG
}

# Writes files, reads them again from the disk, and compares.
begin_nbd() {
	node1 "mkdir -p $DIR && truncate -s 64M $DIR/disk && cat >$DIR/nbd.conf" <<-END
		[generic]
		port = 10809
		allowlist = false
		[disk]
		exportname = $DIR/disk
	END
	background 1 "exec sanx-run --strict nbd-server -d -C $DIR/nbd.conf"
	wait_port 1 10809
	node2 "mkdir -p $DIR/mnt && modprobe nbd && sanx-run --strict nbd-client -t 600 -N disk \
		10.77.0.1 /dev/nbd0 && mkfs.ext4 -q /dev/nbd0 && mount /dev/nbd0 $DIR/mnt" </dev/null
	job nbd "i=0
		until [ -e $END ]; do
			i=\$((i + 1))
			head -c 3000000 /dev/urandom >$DIR/data
			cp $DIR/data $DIR/mnt/file.\$((i % 5))
			sync -f $DIR/mnt
			echo 1 >/proc/sys/vm/drop_caches
			cmp $DIR/data $DIR/mnt/file.\$((i % 5))
		done
		umount $DIR/mnt; e2fsck -fn /dev/nbd0 >/dev/null 2>&1
		nbd-client -d /dev/nbd0 >/dev/null; echo \$i files"
}

begin_postgres() {
	local psql="$PG/psql -h 10.77.0.1 -U postgres -At"
	node1 "mkdir -p $DIR/pg && chown postgres $DIR/pg &&
		$AS_PG $PG/initdb -D $DIR/pg -A trust -U postgres -N >/dev/null &&
		echo 'host all all 10.77.0.0/24 trust' >>$DIR/pg/pg_hba.conf" </dev/null
	background 1 "exec sanx-run --strict $AS_PG $PG/postgres -D $DIR/pg -h 10.77.0.1 -k $DIR/pg"
	wait_port 1 5432
	node2 "sanx-run --strict $PG/pgbench -h 10.77.0.1 -U postgres -q -i postgres 2>/dev/null" </dev/null
	job postgres "i=0
		until [ -e $END ]; do
			i=\$((i + 1))
			sanx-run $PG/pgbench -h 10.77.0.1 -U postgres -n -c 3 -t 100 postgres >$DIR/pgbench 2>&1 ||
				{ cat $DIR/pgbench; false; }
			grep -q 'number of failed transactions: 0 ' $DIR/pgbench
		done
		[ \"\$(sanx-run $psql -c 'select count(*) from pgbench_history')\" = \$((i * 300)) ]
		[ \"\$(sanx-run $psql -c 'select sum(abalance) = (select sum(delta) from pgbench_history)
			from pgbench_accounts')\" = t ]
		echo \$((i * 300)) transactions"
}

# A replica, on node 2, of what clients there write to node 1.
begin_redis() {
	local server="redis-server --save '' --protected-mode no --enable-debug-command yes --dir $DIR"
	background 1 "exec sanx-run --strict $server --port 6379"
	wait_port 1 6379
	background 2 "exec sanx-run $server --port 6380 --replicaof 10.77.0.1 6379"
	wait_port 2 6380
	# shellcheck disable=SC2016
	job redis 'i=0; master="redis-cli -h 10.77.0.1"; copy="redis-cli -p 6380"
		until [ -e '"$END"' ]; do
			i=$((i + 1))
			{ yes "incr counter" | head -n 50; seq 200 | sed "s/.*/set key& value$i.&/"; } |
				sanx-run $master >'"$DIR"'/redis
			[ "$(sed -n 50p '"$DIR"'/redis)" = $((i * 50)) ]
			[ "$(grep -c OK '"$DIR"'/redis)" = 200 ]
			if grep -vE "^([0-9]+|OK)$" '"$DIR"'/redis; then false; fi
		done
		for _ in $(seq 600); do
			[ "$(sanx-run $master debug digest)" != "$($copy debug digest)" ] || break
			sleep 0.1
		done
		[ "$(sanx-run $master debug digest)" = "$($copy debug digest)" ]
		[ "$($copy get counter)" = $((i * 50)) ]
		echo $((i * 250)) commands'
}

# HPCC again and again, a rank on each node.  ssh and orted are under AF_SANX, too.
# mpirun gives up early if ranks are slow to start, so nothing is cut until they have.
begin_mpi() {
	local mpirun prefix="env HWLOC_COMPONENTS=-gl $SANX_TREE/build/tools/sanx-run"
	ssh_setup
	mpirun="mpirun --allow-run-as-root --host 10.77.0.2,10.77.0.1"
	mpirun+=" --mca plm rsh --mca plm_rsh_agent 'ssh -p 2222 $SSH_OPTIONS'"
	mpirun+=" --mca orte_launch_agent '$prefix orted' --mca oob_tcp_if_include eth0"
	mpirun+=" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0"
	node2 "sed -e '6s/^[0-9]*/300/' -e '8s/^[0-9]*/32/' -e '11s/^[0-9]*/1/' -e '12s/^[0-9]*/2/' \
		/usr/share/doc/hpcc/examples/_hpccinf.txt >$DIR/hpccinf.txt" </dev/null
	background 1 "exec sanx-run $SSHD"
	wait_port 1 2222
	job mpi "i=0; cd $DIR
		until [ -e $END ]; do
			i=\$((i + 1))
			rm -f hpccoutf.txt
			touch /share/$CALM
			$prefix $mpirun hpcc >$DIR/mpi.log 2>&1 & pid=\$!
			while [ ! -s hpccoutf.txt ] && [ -d /proc/\$pid ]; do sleep 0.2; done
			rm -f /share/$CALM
			wait \$pid || { cat $DIR/mpi.log; false; }
			grep -q '^Success=1' hpccoutf.txt
			if grep -E 'FAILED|[1-9][0-9]* tests completed and failed' hpccoutf.txt; then false; fi
		done
		echo \$i runs"
}

jobs_go_on() {
	local name
	for name in "${!JOB[@]}"; do
		! grep -q 'it failed' "${JOB[$name]}" || {
			echo "$name: $(tail -n 5 "${JOB[$name]}")"
			return 1
		}
	done
}

# ends_right NAME
ends_right() {
	eventually 300 "grep -qE '^right|it failed' '${JOB[$1]}'" || true
	tail -n 1 "${JOB[$1]}" | grep -q '^right'
}

# calm: as long as somebody asks for it.
calm() {
	[ ! -e "$LAB_RUN/share/$CALM" ] || mend_all
	eventually 120 "[ ! -e '$LAB_RUN/share/$CALM' ]"
}

storm() {
	local i
	for ((i = 1; i <= CHANCES; i++)); do
		calm
		random_event
		[ $((i % 50)) != 0 ] || {
			check "$i events: bytes flow" carries
			check "$i events: none has ended" none_ended
			check "$i events: every program goes on" jobs_go_on
		}
	done
	told_events
}

plan $((7 + 3 * (CHANCES / 50) + ${#PROGRAMS[@]}))
at_exit clean_up
make_rails
# shellcheck disable=SC2119
map_cables
nodes "insmod '$MODULES/sanx_verbs.ko' && mkdir -p $DIR && chmod 755 $DIR"
nodes "echo $((500 * SLOW)) >/sys/module/af_sanx/parameters/rail_hold_ms"
start_clients
for p in "${PROGRAMS[@]}"; do "begin_$p"; done
check "bytes flow in the beginning" carries
storm
mend_all
check "bytes flow in the end" carries
check "none has ended" none_ended
touch "$LAB_RUN/share/$OVER"
check "all come to their end, with every byte" all_done
is "no server misses anything" "$(grep -h after "${SERVERS[@]}")" ""
for p in "${PROGRAMS[@]}"; do
	check "$p comes to its end, and is right" ends_right "$p"
	tail -n 2 "${JOB[$p]}" | sed "s/^/# $p: /"
done
check "every program is right" jobs_go_on
echo "# longest wait for an answer: $(grep -ho 'longest.*' "${LOG[@]}" | tr '\n' ' ')"
is "no protocol error" "$(stat 1 protocol_errors) $(stat 2 protocol_errors)" "0 0"
