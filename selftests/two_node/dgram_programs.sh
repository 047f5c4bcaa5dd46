#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Larger programs that speak UDP and know nothing of AF_SANX: name servers, QUIC, TFTP,
# memcached, SNMP.  Both ends of one node go over loop, those of two by a link; with one end
# only they work as with UDP.  What they carry is compared.
# kernels: 6.1 um
# long: several minutes; make check-programs
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/dgram_lib.sh
. "$(dirname "$0")/dgram_lib.sh"

DIR=/tmp/dgram_programs

# Names that both name servers know, and questions about them.
names() {
	nodes "mkdir -p $DIR && chmod 755 $DIR &&
		for i in \$(seq 200); do echo host\$i.example A; done >$DIR/questions"
	node1 "cat >$DIR/unbound.conf" <<-END
		server:
			port: 5353
			interface: 0.0.0.0
			interface-automatic: yes
			access-control: 0.0.0.0/0 allow
			chroot: ""
			username: ""
			directory: "$DIR"
			pidfile: ""
			use-syslog: no
			num-threads: 2
			so-reuseport: yes
			local-zone: "example." redirect
			local-data: "example. A 192.0.2.1"
		remote-control:
			control-enable: no
	END
}

# What is fetched, the same at both nodes.
pages() {
	nodes "seq 100000 >$DIR/page"
	node1 "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=node1 \
		-keyout $DIR/tls.key -out $DIR/tls.crt 2>/dev/null" </dev/null
	node1 "printf '%s\n' 'rocommunity public' 'agentaddress udp:0.0.0.0:1161' >$DIR/snmpd.conf" \
		</dev/null
	node1 "ls /sys/class/net | sort | tee $DIR/devices" </dev/null | node2 "cat >$DIR/devices"
}

# memcached's UDP has a header of 8 bytes: request, sequence, datagrams, 0.
memcached_client() {
	node1 "tee $DIR/cache.py" <<-'END' | node2 "cat >$DIR/cache.py"
		import socket, struct, sys

		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("0.0.0.0", 0))
		s.settimeout(20)
		to = (sys.argv[1], 11211)

		def ask(nr, line):
		    s.sendto(struct.pack(">HHHH", nr, 0, 1, 0) + line, to)
		    # It sends an answer of several values as several, with numbers of their own.
		    answer = b""
		    while not answer.endswith((b"END\r\n", b"STORED\r\n")):
		        data, source = s.recvfrom(65536)
		        request, _, _, _ = struct.unpack(">HHHH", data[:8])
		        if request == nr and source == to:
		            answer += data[8:]
		    return answer

		def value(i):
		    return b"%d," % i * (1 + i * 7 % 300)

		for i in range(500):
		    v = value(i)[:1300]
		    assert ask(i, b"set key%d 0 0 %d\r\n" % (i, len(v)) + v + b"\r\n") == b"STORED\r\n"
		for i in range(0, 500, 5):
		    keys = range(i, i + 5)
		    want = b"".join(b"VALUE key%d 0 %d\r\n" % (k, len(value(k)[:1300])) +
		                    value(k)[:1300] + b"\r\n" for k in keys) + b"END\r\n"
		    line = b"get " + b" ".join(b"key%d" % k for k in keys) + b"\r\n"
		    assert ask(1000 + i, line) == want
	END
}

DNSPERF="dnsperf -d $DIR/questions -n 10 -q 20 -t 20 -W -p"
ANSWERED="tee /dev/stderr | grep -q 'Queries completed: *2000 (100.00%)'"
QUIC="gtlsclient -q --exit-on-all-streams-close --download=$DIR/got"
# The table of devices, by a request for each field.
WALK="snmpwalk -v2c -c public -t 20 -Oqn @:1161 .1.3.6.1.2.1.2.2.1"
NAMES="sed -n 's/^\\.1\\.3\\.6\\.1\\.2\\.1\\.2\\.2\\.1\\.2\\.[0-9]* //p' | tr -d '\"' | sort"

# program NAME: sets LISTENS, SERVER and CLIENT; @ is the server's address.
program() {
	case $1 in
	unbound)
		LISTENS=5353
		SERVER="unbound -d -c $DIR/unbound.conf"
		CLIENT="$DNSPERF 5353 -s @ | $ANSWERED"
		;;
	dnsmasq)
		LISTENS=5354
		SERVER="dnsmasq -k -p 5354 -u root -C /dev/null --no-resolv --no-hosts --address=/example/192.0.2.1"
		CLIENT="$DNSPERF 5354 -s @ | $ANSWERED"
		;;
	TFTP)
		LISTENS=69
		SERVER="in.tftpd -L -4 -a 0.0.0.0:69 -s $DIR"
		CLIENT="sh -c 'rm -f $DIR/got && tftp -4 -m binary @ -c get page $DIR/got && cmp $DIR/got $DIR/page'"
		;;
	QUIC)
		LISTENS=4433
		SERVER="gtlsserver -q -d $DIR 0.0.0.0 4433 $DIR/tls.key $DIR/tls.crt"
		CLIENT="sh -c 'rm -rf $DIR/got && mkdir $DIR/got && $QUIC @ 4433 https://@:4433/page && cmp $DIR/got/page $DIR/page'"
		;;
	memcached)
		LISTENS=11211
		SERVER="memcached -u root -l 0.0.0.0 -p 0 -U 11211"
		CLIENT="python3 $DIR/cache.py @"
		;;
	SNMP)
		LISTENS=1161
		SERVER="snmpd -f -Lo -C -c $DIR/snmpd.conf"
		CLIENT="$WALK | $NAMES | cmp - $DIR/devices"
		;;
	esac
}

# loop PROGRAM COUNT: both ends on node 1.
loop() {
	program "$1"
	pair "$1" 1 "$BOTH" 1 "$BOTH" "$LISTENS" "$SERVER" "${CLIENT//@/10.77.0.1}"
	check "$1: over loop" at_least 1 dgrams_loop "$2"
}

# links PROGRAM COUNT: a server on node 1 and a client on node 2, both ways; and then one of
# them is UDP's.
links() {
	program "$1"
	local client=${CLIENT//@/10.77.0.1}
	pair "$1, by a link" 1 "$BOTH" 2 "$BOTH" "$LISTENS" "$SERVER" "$client"
	check "$1, by a link: what the client sends" at_least 2 dgrams_verbs "$2"
	check "$1, by a link: what the server sends" at_least 1 dgrams_verbs "$2"
	pair "$1, client only" 1 "" 2 "$BOTH" "$LISTENS" "$SERVER" "$client"
	check "$1, client only: by a link" at_least 2 dgrams_verbs "$2"
	pair "$1, server only" 1 "$BOTH" 2 "" "$LISTENS" "$SERVER" "$client"
	check "$1, server only: by a link" at_least 1 dgrams_verbs "$2"
}

each() {
	"$1" unbound 1000
	"$1" dnsmasq 1000
	"$1" TFTP 500
	"$1" QUIC 20
	"$1" memcached 400
	"$1" SNMP 40
}

plan 57
load_verbs
names
pages
memcached_client
each loop
nodemap_std
nodes "sysctl -qw net.sanx.dgram_idle_ms=3600000"
server 1 5090
server 2 5090
check "connections are there" eventually 60 "opens 2 && opens 1"
each links
stop_all
from_zero
is "nothing broke a rule" "$(moved 1 protocol_errors) $(moved 2 protocol_errors)" "0 0"
check "nothing is left" unload_all
nodes "rm -rf $DIR"
