#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What modules are loaded with: the number of the family, which everybody has
# from sysfs, and the port that links are made on.
# kernels: 6.1 um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

FAMILY=19
PORT=7471
# The parameter for the port of links, its default, and the module that has it.
PARAM=service_port USUAL=659
[ -z "$RAIL" ] || PARAM=tcp_rail_port USUAL=658

# A program that knows of TCP only: sends what it gets back.
# shellcheck disable=SC2016
TALK='import socket, sys
s = socket.create_connection(("10.77.0.1", int(sys.argv[1])))
s.sendall(b"x" * 5000)
s.shutdown(socket.SHUT_WR)
n = 0
while True:
    data = s.recv(4096)
    if not data:
        break
    n += len(data)
print(n)'

# opens N FAMILY: what socket() says there.
opens() {
	lab run "$1" python3 -c "
import errno, socket
try:
    s = socket.socket($2, socket.SOCK_STREAM, 0)
    print(s.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN))
except OSError as e:
    print(errno.errorcode[e.errno])" </dev/null
}

# load N PARAMETERS OF THE WIRE: with another number for the family.
load() {
	local n=$1
	shift
	unload_sanx "$n" || return
	if [ -n "$RAIL" ]; then
		load_sanx "$n" family=$FAMILY "$@"
	else
		load_sanx "$n" family=$FAMILY && lab rdma "$n" &&
			lab run "$n" insmod "$MODULES/sanx_verbs.ko" "$@" </dev/null
	fi
}

# refused N MODULE PARAMETER: insmod fails, and nothing is there.
refused() {
	! lab run "$1" "insmod $MODULES/$2.ko $3" </dev/null &&
		lab run "$1" "[ ! -d /sys/module/$2 ]" </dev/null
}

# listens_on N: the ports on which node N takes links.
listens_on() {
	if [ -n "$RAIL" ]; then
		lab run "$1" "ss -Hltn 'sport = :$PORT or sport = :$USUAL'" </dev/null |
			awk '{ sub(".*:", "", $4); print $4 }' | sort -u | paste -sd ' '
		return
	fi
	lab run "$1" 'rdma -j resource show cm_id' </dev/null |
		jq -r '[.[] | select(.comm == "sanx_verbs" and .state == "LISTEN") |
			."src-addr" | sub(".*:"; "")] | unique | join(" ")'
}

family() {
	unload_sanx 1
	check "a family that is there already is refused" refused 1 af_sanx family=2
	check "and so is a number that is too large" refused 1 af_sanx family=46
	check "and 0" refused 1 af_sanx family=0
	load 1
	load 2
	nodemap_std
	is "sysfs says which it is" "$(node1 cat /sys/module/af_sanx/parameters/family </dev/null)" $FAMILY
	is "sockets of that family are TCP's, to look at" "$(opens 1 $FAMILY)" 2
	is "there are none of the usual number" "$(opens 1 25)" EAFNOSUPPORT
	serve 1 5090 echo
	remember
	check "programs that read sysfs find it" peer 2 connect 10.77.0.1 5090 ping 3 shut end
	check "and are over verbs" moves 2 conns_verbs=1
	remember
	is "sanx-run and its library find it" \
		"$(node2 sanx-run --strict python3 -c "$TALK" 5090 </dev/null)" 5000
	check "and are over verbs, too" moves 2 conns_verbs=1
	counted_as conns_verbs
	check "sanxctl needs not know" node2 "sanxctl socket && sanxctl -j stats | jq -e '.$KEY == 2'"
}

# How it goes with what modules are loaded with, that is counted as said.
port_goes() {
	serve 1 "$2" echo
	remember
	check "$1: a connection is made" peer 2 connect 10.77.0.1 "$2" ping 3 shut end
	check "$1: $3" moves 2 "$3"
	remember
	serve 2 "$2" echo
	check "$1: and the other way" peer 1 connect 10.77.0.2 "$2" ping 3 shut end
	check "$1: $3, too" moves 1 "$3"
}

ports() {
	stop_all
	unload_sanx 1
	[ -n "$RAIL" ] || load_sanx 1
	check "port 0 is none" refused 1 "$WIRE_MODULE" $PARAM=0
	check "nor is 65536" refused 1 "$WIRE_MODULE" $PARAM=65536
	load 1 $PARAM=$PORT
	load 2 $PARAM=$PORT
	nodemap_std
	is "links are taken on that port" "$(listens_on 1)" $PORT
	port_goes "both have another port" 5091 conns_verbs=1
	stop_all
	load 2
	nodemap_std
	is "one takes them on the usual port" "$(listens_on 2)" $USUAL
	port_goes "they have two ports" 5092 fallback_link=1
	stop_all
}

plan 23
family
ports
