#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanxctl explain: what it says of set-ups that work and of such that are broken, each in its
# own way, agrees with what a connection does; and no program of the peer sees the question.
# kernels: um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# says NAME FALLBACK WORDS [ADVICE [HOST [PORT]]]: what node 2 says of a connection, with
# FALLBACK "none" if it is none.
says_of() {
	local name=$1 fallback=$2 words=$3 advice=${4:-} host=${5:-10.77.0.1} port=${6-5003} out
	forget
	out=$(lab run 2 "sanxctl -j explain $host $port" </dev/null)
	is "$name: the reason" "$(jq -r '.fallback // "none"' <<<"$out")" "$fallback"
	if [[ $(jq -r .verdict <<<"$out") == *"$words"* ]]; then
		ok "$name: the sentence"
	else
		fail "$name: the sentence: $(jq -r .verdict <<<"$out")"
	fi
	out=$(jq -r '.advice // ""' <<<"$out")
	if [[ $out == *"$advice"* && (-n $advice || -z $out) ]]; then
		ok "$name: the advice"
	else
		fail "$name: the advice: $out"
	fi
}

# does NAME COUNTER: that is what a connection does.
does() {
	forget
	remember 2
	check "$1: a connection works" peer 2 connect 10.77.0.1 "${3:-5003}" both 1000 shut end
	check "$1: and counts as that" moves 2 "$2=1"
}

explained() {
	says_of "$1" "$2" "$3" "$4"
	does "$1" "fallback_$2"
}

yes() {
	says_of "all is well" none "goes over $TRANSPORT to node 1"
	does "all is well" conns_verbs
	says_of "no port" none "goes over $TRANSPORT to node 1" "" 10.77.0.1 ""
	says_of "this host" none "through memory" "" 10.77.0.2 22
	says_of "this host, nobody listens" refused "no AF_SANX socket" "sanx-run" 10.77.0.2 23
	node2 'sanxctl ports add deny in 22' </dev/null
	says_of "this host, a rule" refused "or a port rule denies it" "sanxctl ports" 10.77.0.2 22
	node2 'sanxctl ports flush' </dev/null
	says_of "the unspecified address" none "through memory" "" 0.0.0.0 22
	is "a port that is none" "$(node2 'sanxctl explain 10.77.0.1 65536 2>&1' </dev/null)" \
		'Error: port "65536", expected 1 to 65535.'
	is "each node of the map" \
		"$(node2 'sanxctl -j explain' </dev/null | jq -c '[.[] | [.addr, .fallback]]')" \
		'[["10.77.0.1",null],["10.77.0.2",null]]'
	is "text: the last line" "$(node2 'sanxctl explain 10.77.0.1 5003 | tail -n 1' </dev/null)" \
		"A connection goes over $TRANSPORT to node 1."
	is "all keys" "$(node2 'sanxctl -j explain 10.77.0.1 5003' </dev/null | jq -c 'keys')" \
		'["addr","advice","fallback","held_secs","local","node","port","rails","rule","transport","verdict"]'
	check "any user may ask" node2 "setpriv --reuid 65534 sanxctl explain 10.77.0.1 5003" </dev/null
	is "no host" "$(node2 'sanxctl explain nowhere.invalid 2>&1; echo $?' </dev/null | tail -n 1)" 1
	is "no port" "$(node2 'sanxctl explain 10.77.0.1 0 2>&1' </dev/null)" \
		'Error: port "0", expected 1 to 65535.'
}

# What the peer answers.
answers() {
	says_of "no AF_SANX listener" refused "no AF_SANX socket listens" "sanx-run" 10.77.0.1 5004
	does "no AF_SANX listener" fallback_refused 5004
	node1 'sanxctl ports add deny in 5003' </dev/null
	explained "a rule there" denied "a port rule of node 1" "On node 1: sanxctl ports"
	node1 'sanxctl ports flush; sysctl -qw net.sanx.conns_peer=0' </dev/null
	explained "a limit there" limit "a limit of node 1" "dmesg says which"
	node1 'sysctl -qw net.sanx.conns_peer=65536' </dev/null
	put 1 "10.77.0.1 1" "10.77.0.22 2 10.77.0.2"
	explained "an address that the map there does not have" unmapped \
		"the node map of node 1 does not have this node at 10.77.0.2" \
		"On node 1: sanxctl nodemap add 10.77.0.2 2"
	same_maps
}

# What this node finds.
here() {
	node2 'sanxctl ports add allow 80; sanxctl ports add deny out 5000-5010' </dev/null
	explained "a rule here" port "port rule 2" "sanxctl ports show"
	node2 'sanxctl ports flush' </dev/null
	put 2 "10.77.0.2 2"
	explained "not in the map" unmapped "does not have 10.77.0.1" "sanxctl nodemap add 10.77.0.1"
	same_maps
	node2 "sanxctl rail set ${RAIL:+tcp:}10.77.0.2 down" </dev/null
	explained "the rail is down" link "set the rail from 10.77.0.2 down" \
		"rail set ${RAIL:+tcp:}10.77.0.2 up"
	node2 "sanxctl rail set ${RAIL:+tcp:}10.77.0.2 up" </dev/null
	if [ -z "$RAIL" ]; then
		node2 'rmmod sanx_verbs' </dev/null
		explained "no sanx_verbs" link "sanx_verbs is not loaded" "modprobe sanx_verbs"
		insert_verbs 2
	fi
}

# What the two find of each other.
links() {
	put 1 "10.77.0.1 1"
	explained "not in the map there" link "its node map" \
		"On node 1: sanxctl nodemap add 10.77.0.2 2 ${RAIL:+tcp:}10.77.0.2"
	put 1 "10.77.0.1 7" "10.77.0.2 2"
	explained "the id of a third one" link "it has another id in its own node map" \
		"Load the same node map"
	same_maps
	node1 'umask 077; sanxctl key generate >/tmp/explain-key; sanxctl key add 2 /tmp/explain-key' </dev/null >/dev/null
	explained "a key at one end" link "only one of the two nodes has a key" "Give both the same key"
	node1 'sanxctl key del 2; rm /tmp/explain-key' </dev/null
	if [ -z "$RAIL" ]; then
		node1 'rmmod sanx_verbs' </dev/null
		explained "no sanx_verbs there" link "no module of AF_SANX listens there" "Load it there"
		insert_verbs 1
	fi
	says_of "all is well again" none "goes over $TRANSPORT to node 1"
}

# pid_of N FILTER: a process of node N with such a socket.
pid_of() {
	lab run "$1" "sanxctl -j socket show all -p $2" </dev/null | jq -r '.[0].users[0].pid'
}

# of_pid NAME N PID FILTER WANTED: what is said of sockets of a process.
of_pid() {
	is "$1" "$(lab run "$2" "sanxctl -j explain pid $3" </dev/null | jq -rc ".[] | select($4) | .verdict")" \
		"$5"
}

sockets_that_exist() {
	local pid
	serve 1 5005 echo
	background 2 "$PEER" -T $((PATIENCE * 10)) connect 10.77.0.1 5005 ping 100000000
	check "a socket over a link is there" eventually 30 "[[ \$(pid_of 2 'dport 5005 state established') =~ [0-9] ]]"
	pid=$(pid_of 2 'dport 5005')
	of_pid "a socket over a link" 2 "$pid" '.remote == "10.77.0.1:5005"' \
		"It goes over $TRANSPORT to node 1."
	of_pid "one that listens" 1 "$(pid_of 1 'sport 5005 state listening')" '.state == "LISTEN"' \
		"It takes clients of AF_SANX and of TCP."
	OPTS=-t serve 1 5006 echo
	background 2 "$PEER" -T $((PATIENCE * 10)) connect 10.77.0.1 5006 ping 100000000
	check "one that fell back is there" eventually 30 "[[ \$(pid_of 2 'dport 5006 fallback refused') =~ [0-9] ]]"
	pid=$(pid_of 2 'dport 5006')
	of_pid "one that fell back" 2 "$pid" '.remote == "10.77.0.1:5006"' \
		"It became plain TCP, as no AF_SANX socket listened there."
	is "and what would become of it now" \
		"$(node2 "sanxctl -j explain pid $pid" </dev/null | jq -r '.[0].advice')" \
		"What would become of it now: sanxctl explain 10.77.0.1 5006"
	is "only that descriptor" \
		"$(node2 "sanxctl -j explain pid $pid fd 1 2>&1; echo \$?" </dev/null | tail -n 1)" 1
	of_pid "one that is TCP's" 1 "$(node1 pgrep -o -f 'listen 500[4]' </dev/null)" '.transport == "tcp" and .state == "LISTEN"' \
		"It is a socket of TCP, and takes TCP clients only."
	check "nobody else's" node2 "! setpriv --reuid 65534 sanxctl explain pid $pid 2>/dev/null" </dev/null
}

if [ -n "$RAIL" ]; then plan 90; else plan 100; fi
at_exit stop_all
load_verbs
same_maps
serve 1 5003 both 1000 end
OPTS=-t serve 1 5004 both 1000 end
serve 2 22 both 1000 end
yes
answers
here
links
sockets_that_exist
is "no protocol error" "$(stat 1 protocol_errors) $(stat 2 protocol_errors)" "0 0"
