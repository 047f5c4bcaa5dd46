#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Programs that know nothing of AF_SANX: both ends under sanx-run go over
# verbs, and with one end only they work as TCP.
# kernels: 6.1 um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/pairs.sh
. "$(dirname "$0")/pairs.sh"

prepare() {
	nodes "mkdir -p $DIR && chmod 755 $DIR"
	nginx_setup ""
	node1 "head -c 100000 /dev/urandom >$DIR/page" </dev/null
	ssh_setup
}

SSH="ssh -p 2222 $SSH_OPTIONS root@10.77.0.1"

plan 34
load_verbs
nodemap_std
prepare

# At the end iperf3 leaves unread what is still under way, which is what buffers
# hold: a few MB.  So it sends many times that, and half must have come.
three_ways iperf3 5201 "iperf3 -s" "iperf3 -c 10.77.0.1 -n 24M" 12000000
both_ends "iperf3, reverse" 5201 "iperf3 -s" "iperf3 -c 10.77.0.1 -R -P 2 -n 24M" 6000000
three_ways nginx 8080 "nginx -c $DIR/nginx.conf" \
	"ab -q -n 60 -c 6 http://10.77.0.1:8080/page | tee /dev/stderr | grep -q 'Failed requests: *0$'" 6000000
both_ends "nginx, kept alive" 8080 "nginx -c $DIR/nginx.conf" \
	"ab -q -k -n 60 -c 6 http://10.77.0.1:8080/page | tee /dev/stderr | grep -q 'Failed requests: *0$'" 6000000
three_ways redis 6379 "redis-server --port 6379 --save '' --protected-mode no --dir $DIR" \
	"redis-benchmark -h 10.77.0.1 -n 300 -c 10 -q -t set,get,lrange_100" 30000
three_ways ssh 2222 "$SSHD" \
	"$SSH 'head -c 500000 /dev/zero; cat | wc -c' </etc/services | tail -c 6 | grep -q \$(wc -c </etc/services)" 500000
nodes "rm -rf $DIR"
