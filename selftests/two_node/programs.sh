#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Programs that know nothing of AF_SANX: both ends under sanx-run go over
# verbs, and with one end only they work as TCP.
# timeout: 240
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# Where the programs keep their things on a node.
DIR=/tmp/programs

# both_ends NAME PORT 'SERVER' 'CLIENT' LIMIT: SERVER on node 1 and CLIENT on node
# 2, both under sanx-run.  CLIENT succeeds or not; at least LIMIT bytes pass.
both_ends() {
	local name=$1 limit=$5
	run_pair "$name" "sanx-run --strict" "sanx-run --strict" "$@"
	check "$name: over verbs at the client" over_verbs 2 "$limit"
	check "$name: over verbs at the server" over_verbs 1 "$limit"
}

# three_ways, as both_ends: and then with one end only, and with the other.
three_ways() {
	local name=$1
	both_ends "$@"
	run_pair "$name, client only" "" "sanx-run --strict" "$@"
	check "$name, client only: it fell back" only_fell_back 2 fallback_refused
	run_pair "$name, server only" "sanx-run --strict" "" "$@"
	check "$name, server only: it took TCP's clients" only_fell_back 1 fallback_accept
}

# run_pair NAME SERVER-PREFIX CLIENT-PREFIX . PORT SERVER CLIENT .
run_pair() {
	local name=$1 server="$2 $6" client="$3 $7" port=$5
	remember
	background 1 "exec $server"
	if ! wait_port 1 "$port"; then
		sed 's/^/# /' "$LAST_LOG"
		fail "$name: the server starts"
		return
	fi
	check "$name" timeout $((40 * SLOW)) "$SANX_TREE/scripts/lab" run 2 "$client"
	stop "$LAST"
}

# over_verbs N BYTES: connections and bytes did, and nothing fell back.
over_verbs() {
	local rx
	[ "$(moved "$1" conns_verbs)" -ge 1 ] || { echo "nothing over verbs"; return 1; }
	[ "$(moved "$1" conns_fallback)" = 0 ] || { echo "something fell back"; return 1; }
	rx=$(($(moved "$1" rx_bytes) + $(moved "$1" tx_bytes)))
	[ "$rx" -ge "$2" ] || { echo "only $rx bytes"; return 1; }
}

# only_fell_back N KEY: nothing over verbs, and all fallbacks are of that kind.
only_fell_back() {
	local all
	all=$(moved "$1" conns_fallback)
	[ "$(moved "$1" conns_verbs)" = 0 ] || { echo "something over verbs"; return 1; }
	[ "$all" -ge 1 ] || { echo "nothing fell back"; return 1; }
	[ "$(moved "$1" "$2")" = "$all" ] || { echo "other fallbacks than $2"; return 1; }
}

prepare() {
	nodes "mkdir -p $DIR && chmod 755 $DIR"
	node1 "cat >$DIR/nginx.conf" <<-END
		daemon off;
		worker_processes 2;
		pid $DIR/nginx.pid;
		error_log stderr;
		user root;
		events { worker_connections 512; }
		http {
			access_log off;
			server { listen 8080 reuseport; root $DIR; }
		}
	END
	node1 "head -c 100000 /dev/urandom >$DIR/page" </dev/null
	node1 "mkdir -p /run/sshd && ssh-keygen -q -t ed25519 -N '' -f $DIR/host && ssh-keygen -q -t ed25519 -N '' -f $DIR/key" </dev/null
	node1 cat $DIR/key </dev/null | node2 "umask 077; cat >$DIR/key"
}

SSHD="/usr/sbin/sshd -D -e -p 2222 -h $DIR/host -o PidFile=none -o StrictModes=no"
SSHD+=" -o PermitRootLogin=yes -o UsePAM=no -o AuthorizedKeysFile=$DIR/key.pub"
SSH="ssh -p 2222 -i $DIR/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
SSH+=" -o LogLevel=ERROR -o BatchMode=yes root@10.77.0.1"

plan 34
load_verbs
nodemap_std
prepare

three_ways iperf3 5201 "iperf3 -s" "iperf3 -c 10.77.0.1 -n 3M" 3000000
both_ends "iperf3, reverse" 5201 "iperf3 -s" "iperf3 -c 10.77.0.1 -R -P 2 -n 2M" 2000000
three_ways nginx 8080 "nginx -c $DIR/nginx.conf" \
	"ab -q -n 60 -c 6 http://10.77.0.1:8080/page | tee /dev/stderr | grep -q 'Failed requests: *0$'" 6000000
both_ends "nginx, kept alive" 8080 "nginx -c $DIR/nginx.conf" \
	"ab -q -k -n 60 -c 6 http://10.77.0.1:8080/page | tee /dev/stderr | grep -q 'Failed requests: *0$'" 6000000
three_ways redis 6379 "redis-server --port 6379 --save '' --protected-mode no --dir $DIR" \
	"redis-benchmark -h 10.77.0.1 -n 300 -c 10 -q -t set,get,lrange_100" 30000
three_ways ssh 2222 "$SSHD" \
	"$SSH 'head -c 500000 /dev/zero; cat | wc -c' </etc/services | tail -c 6 | grep -q \$(wc -c </etc/services)" 500000
nodes "rm -rf $DIR"
