#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# Unmodified programs: iperf3, nginx, redis and ssh, with both ends and with
# one end under sanx-run.  Each pair's way is read from the counters.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lablib.sh"

plan 20

# What a server of each kind is run with, and what its connections count as.
RUN=
WAY=

# came NAME BEFORE: connections were counted as they should be.
came() {
	local now
	now=$(stat 1 "$WAY")
	if [ "$now" -gt "$2" ]; then
		ok "$1: $WAY"
	else
		echo "# $WAY is still $now"
		fail "$1: $WAY"
	fi
}

# program NAME PORT 'SERVER' 'CLIENT': the server on node 2, the client on node 1.
program() {
	local name=$1 port=$2 server=$3 client=$4 before
	background 2 "$RUN $server"
	wait_port 2 "$port"
	before=$(stat 1 "$WAY")
	check "$name runs" node1 "$client"
	came "$name" "$before"
	stop "$LAST"
}

iperf() {
	program "iperf3, $1" "$2" "iperf3 -s -p $2 -1" \
		"sanx-run --strict iperf3 -c 10.77.0.2 -p $2 -t 2 -J >/tmp/iperf.json &&
		jq -e '.end.sum_received.bytes > 0' /tmp/iperf.json"
}

nginx_conf() {
	node2 "mkdir -p /tmp/nginx/html && head -c 200000 /dev/urandom >/tmp/nginx/html/file &&
		cat >/tmp/nginx/$1.conf <<-END
		daemon off; pid /tmp/nginx/$1.pid; error_log stderr;
		events { worker_connections 512; }
		http {
			access_log off; sendfile on; keepalive_requests 1000;
			client_body_temp_path /tmp/nginx/b; proxy_temp_path /tmp/nginx/p;
			fastcgi_temp_path /tmp/nginx/f; uwsgi_temp_path /tmp/nginx/u;
			scgi_temp_path /tmp/nginx/s;
			server { listen $1; root /tmp/nginx/html; }
		}
		END" </dev/null
}

nginx_() {
	nginx_conf "$2"
	program "nginx, $1" "$2" "nginx -c /tmp/nginx/$2.conf" \
		"sanx-run --strict curl -fsS -o /tmp/file http://10.77.0.2:$2/file &&
		sanx-run --strict ab -q -k -n 50 -c 5 http://10.77.0.2:$2/file >/tmp/ab &&
		grep -q 'Failed requests: *0' /tmp/ab && grep -q 'Complete requests: *50' /tmp/ab"
}

redis() {
	program "redis, $1" "$2" \
		"redis-server --port $2 --bind 10.77.0.2 --protected-mode no --save '' --dir /tmp" \
		"sanx-run --strict redis-benchmark -h 10.77.0.2 -p $2 -q -n 200 -c 5 -t set,get,lpush"
}

ssh_keys() {
	node2 'mkdir -p /run/sshd /tmp/ssh && ssh-keygen -q -t ed25519 -N "" -f /tmp/ssh/host' </dev/null
	node1 'mkdir -p /tmp/ssh && ssh-keygen -q -t ed25519 -N "" -f /tmp/ssh/user && cat /tmp/ssh/user.pub' </dev/null |
		node2 'cat >/tmp/ssh/authorized && chmod 600 /tmp/ssh/authorized'
}

ssh_() {
	program "ssh, $1" "$2" \
		"/usr/sbin/sshd -D -e -p $2 -h /tmp/ssh/host -o PidFile=none -o StrictModes=no \
			-o UsePAM=no -o AuthorizedKeysFile=/tmp/ssh/authorized -o PermitRootLogin=yes" \
		"head -c 500000 /dev/urandom >/tmp/in && sanx-run --strict ssh -p $2 -i /tmp/ssh/user \
			-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes \
			root@10.77.0.2 'cat; exit 3' </tmp/in >/tmp/out; [ \$? = 3 ] && cmp /tmp/in /tmp/out"
}

load_verbs
nodemap_std
ssh_keys

RUN='sanx-run --strict' WAY=conns_verbs
iperf "both ends" 7101
nginx_ "both ends" 7102
redis "both ends" 7103
ssh_ "both ends" 7104

RUN='' WAY=fallback_refused
iperf "client alone" 7111
nginx_ "client alone" 7112
redis "client alone" 7113
ssh_ "client alone" 7114

# A plain client of a server under sanx-run; counted where it is accepted.
server_alone() {
	local before
	background 2 "sanx-run --strict $3"
	wait_port 2 "$2"
	before=$(stat 2 fallback_accept)
	check "$1, server alone, runs" node1 "$4"
	if [ "$(stat 2 fallback_accept)" -gt "$before" ]; then
		ok "$1, server alone: fallback_accept"
	else
		fail "$1, server alone: fallback_accept"
	fi
	stop "$LAST"
}
nginx_conf 7122
server_alone iperf3 7121 "iperf3 -s -p 7121 -1" "iperf3 -c 10.77.0.2 -p 7121 -t 2"
server_alone nginx 7122 "nginx -c /tmp/nginx/7122.conf" \
	"curl -fsS -o /tmp/file http://10.77.0.2:7122/file"
