#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# SELinux asks of AF_SANX's sockets what it asks of TCP's: the same permissions of
# the class tcp_socket, name_connect too, over verbs and loop and after a fallback.
#
# The policy lets a program do anything but connect to port 7777, and has the kernel
# tell of what is granted.
#
# kernels: 6.12
# boot: security=selinux
# no rail: the wire makes no difference to what SELinux is asked
# last: the policy cannot be taken back
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# Asked of the socket's inode as well, whose class is "socket".
OF_THE_INODE='read|write'

load_policy() {
	secilc -c 33 -f /dev/null -o "$LAB_RUN/share/policy" "$(dirname "$0")/selinux.cil"
	nodes 'mkdir -p /sys/fs/selinux && mount -t selinuxfs none /sys/fs/selinux &&
		echo 0 >/proc/sys/kernel/printk_ratelimit &&
		cat /share/policy >/sys/fs/selinux/load && echo 1 >/sys/fs/selinux/enforce'
}

# confined NAME: peer under another name, in the domain that is asked.
confined() {
	cp "$PEER" "$LAB_RUN/share/$1"
	cat >"$LAB_RUN/share/run-$1" <<-END
		#!/bin/sh
		printf u:r:prog_t >/proc/self/attr/current && exec /share/$1 "\$@"
	END
	chmod +x "$LAB_RUN/share/run-$1"
}

# asked N NAME: "CLASS VERDICT PERMISSION" of what that program was asked on node N.
asked() {
	lab run "$1" dmesg </dev/null |
		sed -nE "/comm=\"$2\"/s/.*avc:  (granted|denied)  \{ (.*) \} .*tclass=([a-z_]*).*/\3 \1 \2/p" |
		sort -u
}

# of_tcp N NAME: what of that is about sockets of the class tcp_socket.
of_tcp() {
	asked "$@" | grep "^tcp_socket" | grep -vwE "$OF_THE_INODE" || true
}

# talk NAME SERVER-OPTIONS CLIENT-NODE CLIENT-OPTIONS ADDRESS PORT: one connection to
# node 1.  Sets CLIENT and SERVER, what was asked of each.
talk() {
	local name=$1 client=$3 port=$6 out
	nodes dmesg -C
	PEER=/share/run-server OPTS=$2 serve 1 "$port" both 1000 shut end
	# shellcheck disable=SC2086
	out=$(PEER=/share/run-client peer "$client" $4 connect "$5" "$port" \
		both 1000 shut end 2>&1) || true
	is "$name: works" "${out##*$'\n'}" "done"
	check "$name: to its end" says "$LAST_LOG" served
	stop_all
	CLIENT=$(of_tcp "$client" client) SERVER=$(of_tcp 1 server)
}

# as_tcp NAME: it is TCP's.
as_tcp() {
	is "$1: TCP's permissions at the client" "$CLIENT" "$TCP_CLIENT"
	is "$1: TCP's permissions at the server" "$SERVER" "$TCP_SERVER"
}

# denied NAME N OPTIONS ADDRESS
denied() {
	nodes dmesg -C
	remember
	# shellcheck disable=SC2086
	is "$1: connect() to a port that is denied" \
		"$(PEER=/share/run-client peer "$2" $3 connect "$4" 7777 hold 2>&1 |
			sed 's/ after.*//')" "connect: EACCES"
	is "$1: the class forbids it" "$(asked "$2" client | grep denied)" \
		"tcp_socket denied name_connect"
	check "$1: nothing was tried" moves "$2"
}

plan 38
load_verbs
nodemap_std
check "the policy is loaded" load_policy
confined client
confined server

talk "TCP" -t 2 -t 10.77.0.1 5001
TCP_CLIENT=$CLIENT TCP_SERVER=$SERVER
for asked in connect name_connect; do
	is "TCP: the client is asked for $asked" "$(grep -cw "$asked" <<<"$CLIENT")" 1
done
for asked in bind listen accept name_bind; do
	is "TCP: the server is asked for $asked" "$(grep -cw "$asked" <<<"$SERVER")" 1
done
denied "TCP" 2 -t 10.77.0.1

remember
talk "verbs" "" 2 "" 10.77.0.1 5002
check "verbs: it was that" moves 2 conns_verbs=1
as_tcp "verbs"
denied "verbs" 2 "" 10.77.0.1

remember
talk "loop" "" 1 "" 127.0.0.1 5003
check "loop: it was that" moves 1 conns_loop=2
as_tcp "loop"
denied "loop" 1 "" 127.0.0.1

remember
talk "fallback of the client" -t 2 "" 10.77.0.1 5004
check "fallback of the client: it was that" moves 2 fallback_refused=1
as_tcp "fallback of the client"

remember
talk "fallback of the server" "" 2 -t 10.77.0.1 5005
check "fallback of the server: it was that" moves 1 fallback_accept=1
as_tcp "fallback of the server"
