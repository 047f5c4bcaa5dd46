#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Why there is no link: the node that asks shows what the other one has said, or what it has
# found out itself, and its log says it once; that of the other one does, too.
# kernels: um
# clock: virtual an attempt that nobody answers runs out of time
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

clean_up() {
	stop_all
	lab wire mend
}

# map N ID: the node map of node N, by which node 1 has that id.
map() {
	put "$1" "10.77.0.1 $2" "10.77.0.2 2"
}

# shown: why node 2 has no link to node 1.
shown() {
	node2 'sanxctl -j rail show' </dev/null |
		jq -r ".[] | select(.node == 1 and .transport == \"$TRANSPORT\") | .cause // \"none\""
}

# said N WORDS: how often the log of node N says that.
said() {
	lab run "$1" "dmesg | grep -cF '$2' || true" </dev/null
}

shows() {
	[ "$(shown)" = "$1" ]
}

# connects: node 2 does, twice, whatever it is over.
connects() {
	local i
	for i in 1 2; do
		peer 2 connect 10.77.0.1 5003 both 1000 shut end >/dev/null || return 1
		forget
	done
}

# goes NAME: over a link, without a cause.
goes() {
	forget
	remember 2
	check "$1: works" peer 2 connect 10.77.0.1 5003 both 1000 shut end
	is "$1: by a link" "$(moved 2 conns_verbs)" 1
	is "$1: no cause is shown" "$(shown)" none
}

# case_of NAME CAUSE WORDS [WORDS OF NODE 1]: what node 2 finds as things are.
case_of() {
	local name=$1 cause=$2 words=$3 before other=0
	# More than the log takes of one kind in five seconds would be left out.
	sleep 6
	before=$(said 2 "$words")
	[ $# -lt 4 ] || other=$(said 1 "$4")
	forget
	check "$name: it is TCP" connects
	is "$name: the cause is shown" "$(shown)" "$cause"
	is "$name: the log says it once" "$(($(said 2 "$words") - before))" 1
	[ $# -lt 4 ] || check "$name: and that of the other node" [ "$(said 1 "$4")" -gt "$other" ]
}

# add N PEER: the key on standard input becomes valid on node N.
add() {
	lab run "$1" "umask 077; cat >/tmp/causes-key; sanxctl key add $2 /tmp/causes-key; rm /tmp/causes-key" >/dev/null
}

refusals() {
	node1 sanxctl nodemap del 10.77.0.2 </dev/null
	# TCP rails do not talk to strangers.
	case_of "not in the other's map" "$([ -z "$RAIL" ] && echo unmapped || echo closed)" \
		"this node" \
		"the node map does not have its node at that address"
	map 1 7
	case_of "the other has another id" other-id "it has another id in its own node map" \
		"its node map has another id for this node"
	map 1 1
	goes "the maps are the same again"
	node1 sanxctl rail set "${RAIL:+tcp:}10.77.0.1" down </dev/null
	case_of "the rail is kept free" rail "its administrator keeps the rail free"
	node1 sanxctl rail set "${RAIL:+tcp:}10.77.0.1" up </dev/null
	goes "the rail may be used again"
}

keys() {
	local key
	key=$(node1 sanxctl key generate </dev/null)
	add 1 2 <<<"$key"
	case_of "one node has a key" no-key "one of the two nodes has a key, and the other has none" \
		"one of the two nodes has a key, and the other has none"
	add 2 1 < <(node1 sanxctl key generate </dev/null)
	case_of "the keys are different" other-key "it has another key" "it has another key"
	node1 sanxctl key del 2 </dev/null
	node2 sanxctl key del 1 </dev/null
	goes "no keys"
}

absence() {
	if [ -n "$RAIL" ]; then
		node1 sanxctl nodemap flush </dev/null
	else
		node1 rmmod sanx_verbs </dev/null
	fi
	case_of "no module there" absent "no module listens there on that rail"
	if [ -n "$RAIL" ]; then
		map 1 1
	else
		node1 "insmod $MODULES/sanx_verbs.ko" </dev/null
	fi
	goes "there is one again"
}

# Another lane is refused a link: the first one has one, and nothing is wrong with the rail.
crowded() {
	local held
	remember 1
	node1 sysctl -qw net.sanx.half_open_peer=0 </dev/null
	node2 'echo 2 >/sys/module/af_sanx/parameters/lanes; dmesg -C' </dev/null
	background 2 "$PEER" -T $((PATIENCE * 10)) connect 10.77.0.1 5004 ping 100000000
	held=$LAST
	check "a second lane: a connection is there" says "$LAST_LOG" '^connected'
	goes "a second lane"
	check "a second lane: it is refused" eventually 30 "[ \$(moved 1 links_refused) -ge 1 ]"
	is "a second lane: no cause is shown" "$(shown)" none
	is "a second lane: the log does not say it" \
		"$(said 2 'no link') $(said 2 'is lost') $(said 2 'is reached')" "0 0 0"
	stop "$held"
	node1 'sysctl -qw net.sanx.half_open_peer=32' </dev/null
	node2 'echo 1 >/sys/module/af_sanx/parameters/lanes' </dev/null
}

# asks: node 2 connects, in vain.
asks() {
	background 2 "$PEER" -T $((PATIENCE * 10)) connect 10.77.0.1 5003 both 1000 shut end
}

# attempts: how many of node 2 have failed.
attempts() {
	said 2 'link to node 1: connecting -> '
}

# The link is lost, and then nobody answers.
silence() {
	node2 "echo 'module af_sanx func sanx_link_set_state +p' >/proc/dynamic_debug/control
		echo 3000 >/sys/module/af_sanx/parameters/link_timeout_ms
		echo 1000 >/sys/module/af_sanx/parameters/link_hold_ms
		dmesg -C" </dev/null
	# The request itself is to be lost, and not the question for the hardware address.
	# shellcheck disable=SC2016
	node2 'ip neigh replace 10.77.0.1 dev eth0 nud permanent \
		lladdr $(ip neigh show 10.77.0.1 dev eth0 | grep -o "..:..:..:..:..:..")' </dev/null
	lab wire cut
	check "the link is lost: it is shown" eventually 60 "shows lost"
	check "the link is lost: the log says it" [ "$(said 2 "node 1 is lost at $TRANSPORT")" -ge 1 ]
	asks
	check "nobody answers: it is shown" eventually 120 "shows silent"
	# The backoff is over.
	sleep 2
	asks
	check "nobody answers: a second time" eventually 120 "[ \$(attempts) -ge 2 ]"
	is "nobody answers: the log says it once" "$(said 2 "nobody answers there")" 1
	lab wire mend
	stop_all
	node2 ip neigh del 10.77.0.1 dev eth0 </dev/null
	serve 1 5003 both 1000 end
	goes "it answers again"
	is "it answers again: the log says it" "$(said 2 "node 1 is reached at $TRANSPORT")" 1
}

plan 54
at_exit clean_up
load_verbs
nodes 'echo 1 >/sys/module/af_sanx/parameters/lanes'
map 1 1
map 2 1
serve 1 5003 both 1000 end
serve 1 5004 echo
# Other tests have their words in the log as well.
before=$(said 2 "node 1 is reached at $TRANSPORT")
goes "all is well"
is "all is well: the log says it once" "$(($(said 2 "node 1 is reached at $TRANSPORT") - before))" 1
refusals
keys
absence
crowded
silence
nodes 'echo 0 >/sys/module/af_sanx/parameters/lanes'
