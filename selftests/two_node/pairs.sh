# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A server program on node 1 and a client program on node 2, unmodified.

# Where the programs keep their things on a node.
DIR=/tmp/programs

# Seconds for a client.
CLIENT_SECONDS=120

SSHD="/usr/sbin/sshd -D -e -p 2222 -h $DIR/host -o PidFile=none -o StrictModes=no"
SSHD+=" -o PermitRootLogin=yes -o UsePAM=no -o AuthorizedKeysFile=$DIR/key.pub"
# For ssh and scp; the port is -p to the one and -P to the other.
# shellcheck disable=SC2034
SSH_OPTIONS="-i $DIR/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes"

# nginx_setup [CONFIGURATION]: $DIR/nginx.conf on node 1, for a server on port
# 8080 of what is in $DIR.  CONFIGURATION goes into its http part.
nginx_setup() {
	node1 "cat >$DIR/nginx.conf" <<-END
		daemon off;
		worker_processes 2;
		pid $DIR/nginx.pid;
		error_log stderr;
		user root;
		events { worker_connections 512; }
		http {
			access_log off;
			sendfile on;
			root $DIR;
			server { listen 8080 reuseport; }
			${1:-}
		}
	END
}

# ssh_setup: keys for $SSHD on node 1 and for clients on node 2; $DIR is there.
ssh_setup() {
	node1 "mkdir -p /run/sshd && ssh-keygen -q -t ed25519 -N '' -f $DIR/host && ssh-keygen -q -t ed25519 -N '' -f $DIR/key" </dev/null
	node1 cat $DIR/key </dev/null | node2 "umask 077; cat >$DIR/key"
}

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
	check "$name" timeout $((CLIENT_SECONDS * SLOW)) "$SANX_TREE/scripts/lab" run 2 "$client"
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
