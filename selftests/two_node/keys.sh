#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Keys: who has the key of its peer gets a link, who has not becomes TCP; and keys
# are replaced without a connection's noticing.
# kernels: um debug
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

HOSTILE=$BIN/hostile
KEYS=()
IDS=()

# key_file N NR: key NR on node N, in a file that nobody else can read.
key_file() {
	lab run "$1" "umask 077; cat >/tmp/key$2" <<<"${KEYS[$2]}"
}

# add N PEER NR: key NR becomes valid on node N.
add() {
	IDS[$3]=$(lab run "$1" sanxctl key add "$2" "/tmp/key$3" </dev/null)
}

# del N PEER [NR]
del() {
	lab run "$1" sanxctl key del "$2" ${3:+"${IDS[$3]}"} </dev/null
}

# auth N: what node N's links show; one, as there is one lane.
auth() {
	lab run "$1" 'sanxctl -j link show' </dev/null | jq -r '[.[] | select(.state == "up").auth] | join(" ")'
}

# goes HOW NAME: node 2 connects to node 1, over verbs or tcp.
goes() {
	local how=$1 name=$2 out rc=0 wanted="1 0"
	remember 2
	out=$(peer 2 connect 10.77.0.1 5003 both 100000 shut end 2>&1) || rc=$?
	is "$name: works" "$rc ${out##*$'\n'}" "0 done"
	[ "$how" = verbs ] || wanted="0 1"
	is "$name: over $how" "$(moved 2 conns_verbs) $(moved 2 conns_fallback)" "$wanted"
}

# back N: node N connects, in the other direction.
back() {
	remember 1
	check "$2: the other way: works" peer 1 connect 10.77.0.2 5001 both 100000 shut end
	is "$2: the other way: over tcp" "$(moved 1 conns_fallback)" 1
}

log_says() {
	lab run "$1" "dmesg | grep -q '$2'" </dev/null
}

without_and_with() {
	goes verbs "no keys"
	is "no keys: the links say so" "$(auth 1) $(auth 2)" "none none"
	is "no keys: none is shown" "$(node1 sanxctl -j key show </dev/null)" "[]"
	add 1 2 1
	goes tcp "only one node has a key"
	back 1 "only one node has a key"
	check "only one node has a key: the log says why" log_says 1 "one of the two nodes has a key"
	add 2 1 2
	forget
	goes tcp "the nodes have different keys"
	check "the nodes have different keys: the log says why" log_says 1 "it has another key"
	del 2 1 2
	add 2 1 1
	forget
	goes verbs "the nodes have the same key"
	is "the nodes have the same key: the links say which" "$(auth 1) $(auth 2)" "${IDS[1]} ${IDS[1]}"
	is "it is shown by its id" "$(node1 sanxctl key show </dev/null)" "2 ${IDS[1]}"
	check "and only to the administrator" node1 "! setpriv --reuid 65534 sanxctl key show 2>/dev/null" </dev/null
	is "not in another namespace" "$(node1 'unshare -n sanxctl -j key show' </dev/null)" "[]"
	is "the same key twice" "$(node1 'sanxctl key add 2 /tmp/key1 2>&1' </dev/null)" "Error: the peer has this key."
}

# walk: a program asks and is answered, some times a second, until arrive().
WALK_END=/share/keys-walk
walk() {
	rm -f "$LAB_RUN$WALK_END"
	background 2 "$PEER" -p -T $((PATIENCE * 10)) connect 10.77.0.1 5002 busy "$WALK_END" shut end
	WALK=$LAST_LOG
	says "$WALK" '^connected'
}

arrive() {
	touch "$LAB_RUN$WALK_END"
	says "$WALK" '^done'
}

# goes_on: the program has asked and was answered since; it asks for less than 200 kB.
goes_on() {
	local now
	now=$(stat 1 rx_bytes)
	eventually 60 "[ \$(stat 1 rx_bytes) -gt $((now + 400000)) ]"
}

# have NR: the links of both nodes have that key.
have() {
	[ "$(auth 1) $(auth 2)" = "${IDS[$1]} ${IDS[$1]}" ]
}

replaced() {
	remember
	walk
	add 1 2 2
	check "replaced: one node has two keys: goes on" goes_on
	add 2 1 2
	check "replaced: both nodes have: goes on" goes_on
	is "two keys are shown" "$(node1 sanxctl key show </dev/null | tr '\n' ' ')" "2 ${IDS[1]} 2 ${IDS[2]} "
	key_file 1 3
	is "there is no third" "$(node1 'sanxctl key add 2 /tmp/key3 2>&1' </dev/null)" \
		"Error: the peer has two keys, remove one first."
	del 1 2 1
	check "replaced: the links have the new key" eventually 30 "have 2"
	check "replaced: one node has two keys still: goes on" goes_on
	del 2 1 1
	check "replaced: the old key is gone: goes on" goes_on
	is "replaced: the links have the new key still" "$(auth 1) $(auth 2)" "${IDS[2]} ${IDS[2]}"
	check "replaced: the connection has gone on" arrive
	is "replaced: no reset" "$(moved 1 resets) $(moved 2 resets)" "0 0"
	is "replaced: nothing was TCP" "$(moved 2 conns_fallback)" 0
}

# refused: a node has refused a link.
refused() {
	[ $(($(moved 1 links_refused) + $(moved 2 links_refused))) -ge 1 ]
}

# A connection without a key waits until both nodes have one.
introduced() {
	del 1 2
	del 2 1
	forget
	goes verbs "no keys any more"
	is "no keys any more: the links say so" "$(auth 1) $(auth 2)" "none none"
	remember
	walk
	add 1 2 1
	check "introduced: one node has the key: no link" eventually 30 refused
	add 2 1 1
	check "introduced: the links have the key" eventually 30 "have 1"
	check "introduced: goes on" goes_on
	check "introduced: the connection has gone on" arrive
	is "introduced: no reset" "$(moved 1 resets) $(moved 2 resets)" "0 0"
}

default_key() {
	del 1 2
	del 2 1
	add 1 default 3
	add 2 default 3
	forget
	goes verbs "a key for all"
	is "a key for all: the links say which" "$(auth 1) $(auth 2)" "${IDS[3]} ${IDS[3]}"
	add 1 2 1
	forget
	goes tcp "a key for all and one for one node"
	del 1 2
	forget
	goes verbs "a key for all again"
}

# hex NR: the bytes of a key.
hex() {
	cut -d: -f2 <<<"${KEYS[$1]}" | base64 -d | head -c 32 | od -An -tx1 -v | tr -d ' \n'
}

# says_hostile NAME KEY CASE WORD: what a program of node 2 gets, which speaks for it.
tries() {
	is "$1" "$(lab run 2 "KEY=$2 $HOSTILE 10.77.0.1 $3" </dev/null)" "$4"
}

# By a program that speaks RDMA.
attacked() {
	local refused
	# The old links are gone, so that only the program speaks.
	node2 rmmod sanx_verbs </dev/null
	remember 1
	tries "who has the key" "$(hex 3)" hello-good up
	tries "who has another" "$(hex 1)" hello-good rejected
	is "who has none" "$(lab run 2 "$HOSTILE" 10.77.0.1 hello-good </dev/null)" rejected
	tries "a wrong proof" "$(hex 3)" hello-proof rejected
	tries "a request of another queue pair" "$(hex 3)" hello-proof-old rejected
	refused=$(moved 1 links_refused)
	is "they are counted" "$refused" 4
	tries "a wrong proof in the first frame" "$(hex 3)" hello-auth down
	tries "the reply's proof in the first frame" "$(hex 3)" hello-auth-reply down
	is "they are counted too" "$(moved 1 links_refused)" 6
	tries "another frame first" "$(hex 3)" hello-auth-none down
	is "which is a protocol error" "$(moved 1 protocol_errors)" 1
	tries "who has the key is let in still" "$(hex 3)" hello-good up
	tries "a resumed connection" "$(hex 3)" resume resumed
	tries "with a wrong token" "$(hex 3)" resume-token down
}

if [ -n "$RAIL" ]; then plan 45; else plan 59; fi
at_exit "rm -f '$LAB_RUN$WALK_END'"
load_verbs
nodes 'echo 1 >/sys/module/af_sanx/parameters/lanes'
nodemap_std
for i in 1 2 3; do
	KEYS[i]=$(node1 sanxctl key generate </dev/null)
	key_file 1 "$i"
	key_file 2 "$i"
done
serve 1 5001 sleep 600000
serve 1 5002 echo
serve 1 5003 both 100000 end
serve 2 5001 both 100000 end
without_and_with
replaced
introduced
default_key
[ -n "$RAIL" ] || attacked
nodes 'sanxctl key del default && rm /tmp/key?; echo 0 >/sys/module/af_sanx/parameters/lanes'
