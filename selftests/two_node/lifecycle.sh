#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# Ends that come early: programs killed, modules unloaded, devices and
# namespaces and nodes that go.  The other side gets the error that TCP would
# give, and nothing hangs or is left over.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lablib.sh"

plan 22

# A peer that sends, and one that reads; what ends it is on its last line.
TALK='import socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
try:
    if sys.argv[3] == "send":
        while True: s.send(b"x" * 50000)
    n = 0
    while True:
        b = s.recv(50000)
        if not b: break
        n += len(b)
    print("EOF")
except OSError as e:
    print(type(e).__name__)'
SERVE='import socket, sys
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.bind(("", int(sys.argv[1]))); l.listen()
c, _ = l.accept()
if sys.argv[2] == "send":
    while True: c.send(b"x" * 50000)
if sys.argv[2] == "idle":
    import time
    time.sleep(1000)
while c.recv(50000): pass'

# Brings up a server on node 2 and a client on node 1: pair PORT SERVER CLIENT.
pair() {
	background 2 "exec sanx-run --strict python3 -c '$SERVE' $1 $2"
	SERVER=$LAST
	wait_port 2 "$1"
	background 1 "exec sanx-run --strict python3 -c '$TALK' 10.77.0.2 $1 $3"
	CLIENT=$LAST
	CLIENT_LOG=$LAST_LOG
	eventually 10 "[ \"\$(node1 \"sanxctl -j socket show | jq '[.[] | select(.state == \\\"ESTAB\\\")] | length'\")\" -ge 1 ]"
}

# ends NAME PID LOG WANTED...: it ends by itself, saying one of these.
ends() {
	local name=$1 pid=$2 log=$3 i said
	shift 3
	for ((i = 0; i < 300 * SLOW; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	if kill -0 "$pid" 2>/dev/null; then
		echo "# it hangs"
		fail "$name"
		return
	fi
	said=$(tail -n 1 "$log" | tr -d '\r')
	for i in "$@"; do
		[ "$said" != "$i" ] || { ok "$name: $said" && return; }
	done
	echo "# it said: $said"
	fail "$name"
}

unloads() {
	eventually 5 "unload_sanx $1 2>/dev/null"
}

load_verbs
nodemap_std

pair 7201 recv send
node2 "pkill -9 -f 'python3 -c.* 7201'" || true
ends "the reader is killed: the sender gets" "$CLIENT" "$CLIENT_LOG" ConnectionResetError BrokenPipeError
stop "$SERVER"

pair 7202 send recv
node2 "pkill -9 -f 'python3 -c.* 7202'" || true
ends "the sender is killed: the reader gets" "$CLIENT" "$CLIENT_LOG" EOF ConnectionResetError
stop "$SERVER"

pair 7203 send recv
node1 "pkill -9 -f 'python3 -c.* 7203'" || true
check "the client is killed: the server ends" eventually 20 "! kill -0 $SERVER 2>/dev/null"

pair 7204 idle recv
check "rmmod sanx_verbs is refused" node1 '! rmmod sanx_verbs'
check "rmmod af_sanx is refused" node1 '! rmmod af_sanx'
node1 'rdma link del rxe0'
ends "the device goes: the reader gets" "$CLIENT" "$CLIENT_LOG" ConnectionResetError TimeoutError
stop "$SERVER"

check "the modules can go after that" unloads 1
load_sanx 1
load_verbs
nodemap_std

# Again and again, with traffic before and after.
TRIP='import socket, threading
l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen()
c = socket.create_connection(l.getsockname()); s, _ = l.accept()
c.sendall(b"x" * 20000); assert len(s.recv(20000, socket.MSG_WAITALL)) == 20000
s.close(); assert c.recv(1) == b""'
check "loop carries bytes before" node1 "sanx-run --strict python3 -c '$TRIP'"
unloads 1
rounds=100
check "$rounds times in and out" node1 "for i in \$(seq $rounds); do
		insmod $MODULES/af_sanx.ko || exit 1
		[ \$((i % 10)) != 0 ] || sanx-run --strict python3 -c '$TRIP' || exit 1
		for try in \$(seq 100); do rmmod af_sanx 2>/dev/null && break; sleep 0.05; done
		[ ! -d /sys/module/af_sanx ] || exit 1
	done"
load_sanx 1
check "$((rounds / 10)) times in and out, with verbs and a live link" node1 "for i in \$(seq $((rounds / 10))); do
		[ -d /sys/module/af_sanx ] || insmod $MODULES/af_sanx.ko || exit 1
		insmod $MODULES/sanx_verbs.ko || exit 1
		printf '10.77.0.1 1\n10.77.0.2 2\n' | sanxctl nodemap load - || exit 1
		sanx-run python3 -c 'import socket
try: socket.create_connection((\"10.77.0.2\", 9))
except ConnectionRefusedError: pass' || exit 1
		for try in \$(seq 100); do rmmod sanx_verbs 2>/dev/null && break; sleep 0.05; done
		for try in \$(seq 100); do rmmod af_sanx 2>/dev/null && break; sleep 0.05; done
		[ ! -d /sys/module/af_sanx ] || exit 1
	done"
load_sanx 1
check "loop carries bytes after" node1 "sanx-run --strict python3 -c '$TRIP'"

# A namespace that goes while sockets live in it: it goes when they have.
check "a namespace with live sockets is deleted" node1 "ip netns add gone &&
	ip -n gone link set lo up &&
	{ ip netns exec gone sanx-run --strict python3 -c 'import socket, time
l = socket.socket(); l.bind((\"127.0.0.1\", 7300)); l.listen()
c = socket.create_connection((\"127.0.0.1\", 7300)); s, _ = l.accept()
print(\"up\", flush=True); time.sleep(3)
c.sendall(b\"still\"); assert s.recv(9) == b\"still\"' >/tmp/ns.log & } &&
	for i in \$(seq 100); do grep -q up /tmp/ns.log && break; sleep 0.1; done &&
	ip netns del gone && wait \$!"
check "and its counters were its own" node1 "ip netns add other && ip -n other link set lo up &&
	ip netns exec other sanxctl -j stats show | jq -e '.conns_loop == 0' && ip netns del other"
load_verbs
nodemap_std
check "the node map was its own, too" node1 "ip netns add other &&
	[ \"\$(ip netns exec other sanxctl -j nodemap show)\" = '[]' ] && ip netns del other"
check "nothing holds the modules" unloads 1
load_sanx 1
load_verbs
nodemap_std

# The peer loses power.
pair 7205 idle recv
lab kill 2
ends "the node dies: the reader gets" "$CLIENT" "$CLIENT_LOG" TimeoutError ConnectionResetError
is "no socket is left" "$(node1 'sanxctl -j socket show')" '[]'
before=$(stat 1 fallback_link)
start=$SECONDS
check "nobody answers" node1 "! sanx-run --strict python3 -c 'import socket
socket.create_connection((\"10.77.0.2\", 7206), 15)'"
check "within a bounded time" [ $((SECONDS - start)) -le $((20 * SLOW)) ]
check "and TCP was asked" [ "$(stat 1 fallback_link)" -gt "$before" ]

lab boot 2
load_sanx 2
load_verbs
nodemap_std
background 2 'sanx-run --strict socat TCP4-LISTEN:7207,reuseaddr,fork SYSTEM:cat'
wait_port 2 7207
verbs=$(stat 1 conns_verbs)
# speaks: by verbs, or by TCP while the node is still left alone.
speaks() {
	[ "$(node1 'echo again | sanx-run --strict socat -t 20 - TCP4:10.77.0.2:7207')" = again ]
}
speaks_verbs() {
	speaks && [ "$(stat 1 conns_verbs)" -gt "$verbs" ]
}
check "the node is back" eventually 30 speaks
check "and speaks verbs again" eventually 30 speaks_verbs
