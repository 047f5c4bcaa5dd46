#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanx-run --summary: what it says of a program's connections, of its children's and of a
# server's; and that it ends as the program does.  What --profile sets.
# kernels: um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# What sanx-run says; port numbers that connect() chose are PORT.
said() {
	sed -n 's/^sanx-run: //p' "$1" | sed -E 's/(10\.77\.0\.[0-9]+):[0-9]{5}/\1:PORT/g'
}

# summary N OPTIONS COMMAND: what a command on node N says at its end.
summary() {
	lab run "$1" "sanx-run $2 $3" </dev/null >"$DIR/out" 2>"$DIR/err" || return $?
	said "$DIR/err"
}

# clients HOST PORT TIMES: a shell line with so many connections, one after the other.
clients() {
	echo "$PEER -t -T $PATIENCE -n $3 connect $1 $2 both 1000 shut end"
}

programs() {
	local both
	both="$(clients 10.77.0.1 5003 2); $(clients 10.77.0.2 5003 1)"
	is "one program" "$(summary 2 --summary "$(clients 10.77.0.1 5003 3)")" "3 connections
3 over $TRANSPORT, 3000 bytes sent, 3000 received"
	is "one connection" "$(summary 2 --summary "$(clients 10.77.0.1 5003 1)")" "1 connection
1 over $TRANSPORT, 1000 bytes sent, 1000 received"
	is "none" "$(summary 2 --summary true)" "0 connections"
	is "each" "$(summary 2 -v "$(clients 10.77.0.1 5003 1)")" \
"10.77.0.2:PORT 10.77.0.1:5003 $TRANSPORT, 1000 bytes sent, 1000 received
1 connection
1 over $TRANSPORT, 1000 bytes sent, 1000 received"
	is "children" "$(summary 2 --summary "sh -c '$both'")" "3 connections
2 over $TRANSPORT, 2000 bytes sent, 2000 received
1 over loop, 1000 bytes sent, 1000 received"
}

reasons() {
	# TCP chooses the port after that, if connect() had none yet.
	is "nobody listens with AF_SANX" \
		"$(summary 2 -v "$(clients 10.77.0.1 5004 1)" | sed 's/^10.77.0.2:PORT /- /')" \
"- 10.77.0.1:5004 tcp: refused
1 connection
1 over tcp: refused"
	node2 'sanxctl ports add deny out 5003' </dev/null
	is "a rule" "$(summary 2 --summary "$(clients 10.77.0.1 5003 2)")" "2 connections
2 over tcp: port"
	node2 'sanxctl ports flush' </dev/null
}

# A server is ended from outside, as others are.
server() {
	background 1 "sanx-run -v $PEER -t -T $PATIENCE listen 5005 both 1000 end"
	wait_port 1 5005
	peer 2 -n 2 connect 10.77.0.1 5005 both 1000 shut end
	peer 2 -t connect 10.77.0.1 5005 both 1000 shut end
	node1 'pkill -o -TERM sanx-run' </dev/null
	wait "$LAST" || true
	is "a server" "$(said "$LAST_LOG")" \
"10.77.0.1:5005 10.77.0.2:PORT $TRANSPORT, 1000 bytes sent, 1000 received
10.77.0.1:5005 10.77.0.2:PORT $TRANSPORT, 1000 bytes sent, 1000 received
10.77.0.1:5005 10.77.0.2:PORT tcp: accept
3 connections
2 over $TRANSPORT, 2000 bytes sent, 2000 received
1 over tcp: accept"
}

# status OPTION COMMAND: its exit status on node 2, as a shell has it.
status() {
	lab run 2 "sanx-run $1 $2 2>/dev/null; echo \$?" </dev/null
}

ends() {
	is "the exit status" "$(status --summary "sh -c 'exit 3'")" 3
	is "a signal" "$(status --summary "sh -c 'kill -KILL \$\$'")" 137
	is "a signal from outside" "$(status --summary "sh -c 'kill -TERM \$PPID; exec sleep 1000'")" 143
	is "an interrupt from outside" \
		"$(status --summary "env --default-signal=INT sh -c 'kill -INT \$PPID; exec sleep 1000'")" 130
	is "SIGCHLD is ignored" "$(status --summary "true; trap '' CHLD; sanx-run --summary sh -c 'exit 4'")" 4
	# As a shell with job control does: it goes on when the program has stopped.
	is "a program that stops" "$(lab run 2 "set -m; sanx-run --summary sh -c 'kill -STOP \$\$; exit 5' 2>/dev/null
		kill -CONT %1; wait %1; echo \$?" </dev/null | tail -n 1)" 5
	is "no such command" "$(status --summary no-such-command)" 127
}

# options: those of a socket that nobody has set any of.
profiles() {
	local options="import socket; s = socket.socket(); print(s.getsockopt(6, 1), s.getsockopt(1, 46))"
	is "profile latency" "$(node2 "sanx-run --profile latency python3 -c '$options' 2>/dev/null" </dev/null)" \
		"1 50"
	is "without" "$(node2 "sanx-run python3 -c '$options' 2>/dev/null" </dev/null)" "0 0"
	node2 'sysctl -qw net.sanx.spin_us=10' </dev/null
	is "what should be otherwise" \
		"$(node2 'sanx-run --profile latency true 2>&1 | sed "s/.*latency: //"' </dev/null)" \
		'net.sanx.spin_us is 10, and should be >= 50 (sysctl -w net.sanx.spin_us="50")'
	node2 'sysctl -qw net.sanx.spin_us=50' </dev/null
	is "and when it is" "$(node2 'sanx-run --profile latency true 2>&1' </dev/null)" ""
	is "profile safe says what there was" "$(summary 2 "--profile safe" "$(clients 10.77.0.1 5003 1)")" \
		"1 connection
1 over $TRANSPORT, 1000 bytes sent, 1000 received"
}

plan 21
DIR=$(mktemp -d)
at_exit "rm -rf '$DIR'"
at_exit stop_all
load_verbs
same_maps
serve 1 5003 both 1000 end
serve 2 5003 both 1000 end
OPTS=-t serve 1 5004 both 1000 end
programs
reasons
server
ends
profiles
is "no protocol error" "$(stat 1 protocol_errors) $(stat 2 protocol_errors)" "0 0"
