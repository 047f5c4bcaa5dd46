#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A peer that falls silent: each program runs over AF_SANX and over TCP at the
# same time, through the same cut, and learns the same at the same time.
# kernels: um debug
# full: what is silent is noticed after seconds, which are compared with TCP
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

declare -A LOG
# There when the cable is cut, and when it is mended.
CUT=dead-peer-cut MENDED=dead-peer-mended

clean_up() {
	rm -f "$LAB_RUN/share/$CUT" "$LAB_RUN/share/$MENDED"
}

# pair NAME PORT ACTION...: a client of each kind on node 2.
pair() {
	local name=$1 run
	shift
	run="$PEER -T $((PATIENCE * 2))"
	background 2 "{ $run connect 10.77.0.1 $* & $run -t connect 10.77.0.1 $* |
		sed -u 's/^/TCP /'; wait; }"
	LOG[$name]=$LAST_LOG
}

# connected NAME...: wait until those pairs are.
connected() {
	local name
	for name; do
		says "${LOG[$name]}" '^connected'
		says "${LOG[$name]}" '^TCP connected'
	done
}

# word NAME TCP?: the errno that a client ended with; ms: after how many ms.
word() {
	sed -nE "s/^$2[a-z-]+: ([A-Z]+) after .*/\1/p" "${LOG[$1]}"
}

ms() {
	sed -nE "s/^$2[a-z-]+: .* bytes, ([0-9]+) ms$/\1/p" "${LOG[$1]}"
}

# ended NAME: how many of the two have.
ended() {
	grep -cE 'after|done' "${LOG[$1]}"
}

# An unreachable neighbour makes TCP say EHOSTUNREACH, if that is known by then.
same_errno() {
	[ "$2" = EHOSTUNREACH ] && set -- "$1" ETIMEDOUT
	[ "$1" = "$2" ]
}

# alike NAME WHAT [MS]: both ended with the same error, within a second and a bit
# or that many ms.
alike() {
	local diff
	eventually 40 "[ \$(ended $1) = 2 ]" || true
	diff=$(($(ms "$1" "" || echo 0) - $(ms "$1" "TCP " || echo 99999)))
	if same_errno "$(word "$1" "")" "$(word "$1" "TCP ")" &&
	   [ "${diff#-}" -le $((${3:-1500} * SLOW)) ]; then
		ok "$2"
	else
		sed 's/^/# /' "${LOG[$1]}"
		fail "$2"
	fi
}

# alive NAME WHAT: neither has ended.
alive() {
	is "$2" "$(grep -E 'after|done' "${LOG[$1]}")" ""
}

# both_end NAME WHAT WORD: both end, with that word.
both_end() {
	eventually 60 "[ \$(ended $1) = 2 ]" || true
	is "$2" "$(sed -nE "s/^(TCP )?([a-z-]+: )?([A-Za-z]+)( after .*)?$/\3/p" "${LOG[$1]}" | tr '\n' ' ')" "$3 $3 "
}

servers() {
	serve 1 5001 hold
	serve 1 5002 drain
	serve 1 5003 echo
	serve 1 5004 both 3M end
	serve 1 5005 sleep 600000
}

# Idle seconds of keepalive.
IDLE=20

# period FROM TO MARGIN: the number of the interval between two probes in which TO is, for
# a connection that came at FROM; MARGIN is added to TO.  All in ms.
period() {
	echo $((($2 - $1 + $3) / (IDLE * 1000)))
}

# cut_between_probes FIRST LAST: cuts the cable when no connection that came in that
# time, in ms, is near a probe: one of a pair would still have its answer.
# Return: false if the host was too slow for that.
cut_between_probes() {
	local first=$1 last=$2 from to half=$((IDLE * 500))
	sleep "$(((half * 3 - ($(now_ms) - last) % (half * 2)) % (half * 2)))e-3"
	from=$(now_ms)
	lab wire cut
	to=$(now_ms)
	[ "$(period "$last" "$from" -1000)" = "$(period "$first" "$to" 1000)" ]
}

keepalive_pairs() {
	pair keepalive 5001 keepalive $IDLE 1 hold
	pair user-idle 5001 keepalive $IDLE 2 user-timeout $((IDLE * 1000 + 3000)) hold
	connected keepalive user-idle
}

# cut_under_keepalive: a host that is too slow tries again.
cut_under_keepalive() {
	local first try
	for try in 1 2 3 4 5; do
		first=$(now_ms)
		keepalive_pairs
		cut_between_probes "$first" "$(now_ms)" && return
		echo "# try $try: the cable was cut too late"
		lab wire mend
		stop_all
		servers
	done
	return 1
}

idle_cut() {
	if cut_under_keepalive; then
		ok "a cable cut between probes"
	else
		fail "a cable cut between probes"
	fi
	# The cable stays cut until they have ended: a probe must not be answered.
	eventually 60 "[ \$(ended keepalive)\$(ended user-idle) = 22 ]" || true
	lab wire mend
	alike keepalive "a cable cut: keepalive"
	alike user-idle "a cable cut: keepalive with TCP_USER_TIMEOUT"
}

cable_cut() {
	# With the first there is a link, so that the others take no longer than TCP.
	pair plain 5003 ping 3 await "/share/$MENDED" ping 3 shut end
	connected plain
	pair user-busy 5002 user-timeout 5000 trickle
	pair full 5002 send-timeout 2000 flood
	pair bytes 5004 await "/share/$CUT" both 3M shut end
	connected user-busy full bytes
	lab wire cut
	touch "$LAB_RUN/share/$CUT"
	sleep 12
	alive plain "a cable cut: without options an idle connection stays"
	alive bytes "a cable cut: and so does a busy one"
	lab wire mend
	touch "$LAB_RUN/share/$MENDED"
	alike user-busy "a cable cut: TCP_USER_TIMEOUT"
	both_end full "a cable cut: SO_SNDTIMEO" EAGAIN
	both_end plain "mended: the idle one works" "done"
	both_end bytes "mended: the busy one loses nothing" "done"
}

# TCP ends it when the first retransmission is longer ago than the sixth would
# be, had the round trip no length: with few retries, one more or less can be
# all.  And it counts in its own round trips.
retries_used_up() {
	node2 sysctl -qw net.ipv4.tcp_retries2=5 </dev/null
	pair busy 5002 trickle
	connected busy
	sleep 1
	lab wire cut
	eventually 20 "[ \$(ended busy) = 2 ]" || true
	lab wire mend
	alike busy "a cable cut: tcp_retries2" 2500
	node2 sysctl -qw net.ipv4.tcp_retries2=15 </dev/null
}

# The node is there, the program is not.
process_stopped() {
	stop_all
	servers
	pair keepalive 5001 keepalive 1 1 hold
	connected keepalive
	node1 "pkill -STOP -f '[l]isten'" </dev/null
	pair user-busy 5005 sndbuf 64k user-timeout 4000 flood
	connected user-busy
	alike user-busy "a stopped process: TCP_USER_TIMEOUT"
	alive keepalive "a stopped process: keepalive is answered"
	node1 "pkill -CONT -f '[l]isten'" </dev/null
}

node_dies() {
	stop_all
	servers
	pair user-busy 5002 user-timeout 4000 trickle
	pair late 5002 trickle
	pair keepalive 5001 keepalive 5 1 hold
	connected user-busy late keepalive
	sleep 1
	lab kill 1
	alike keepalive "a dead node: keepalive"
	alike user-busy "a dead node: TCP_USER_TIMEOUT"
	alive late "a dead node: without options a connection stays"
	lab boot 1
	load_sanx 1
	load_verbs
	nodemap_std
	both_end late "it starts anew: a reset" ECONNRESET
	serve 1 5003 echo
	check "and connections are over verbs again" eventually 40 over_verbs_again
}

over_verbs_again() {
	remember 2
	peer 2 connect 10.77.0.1 5003 ping 3 shut end >/dev/null && [ "$(moved 2 conns_verbs)" = 1 ]
}

plan 17
at_exit clean_up
load_verbs
nodemap_std
servers
idle_cut
cable_cut
retries_used_up
process_stopped
node_dies
