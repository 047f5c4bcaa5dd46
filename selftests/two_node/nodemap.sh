#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The node map and the port rules: what goes in comes out, what is wrong goes
# in neither whole nor in part, and each network namespace has its own.
# kernels: um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

FILE=/share/nodemap-test

# file TEXT: what node 1 sees in $FILE.
file() {
	printf '%b' "$1" >"$LAB_RUN/share/nodemap-test"
}

# shown [ARGS...]: the node map, or what else is asked for.
shown() {
	[ $# -gt 0 ] || set -- nodemap show
	node1 sanxctl "$@" </dev/null
}

# bad OBJECT TEXT LINE PATTERN: refused with file and line, nothing changed.
bad() {
	local object=$1 text=$2 line=$3 pattern=$4 out before
	before=$(shown "$object" show)
	file "$text"
	if out=$(node1 sanxctl "$object" load "$FILE" </dev/null 2>&1); then
		fail "bad $object: '$text' was taken"
	elif ! grep -qE "^$FILE:$line: .*$pattern" <<<"$out"; then
		echo "# $out"
		fail "bad $object: '$text': what is said of it"
	else
		is "bad $object: '$text'" "$(shown "$object" show)" "$before"
	fi
}

loads() {
	file '# hosts\n10.77.0.1\t1\n\n10.77.0.2 2 10.77.0.2 10.78.0.2 # two rails\nfd77::2 2 10.77.0.2\n'
	check "a file loads" node1 sanxctl nodemap load "$FILE"
	is "and is shown" "$(shown)" "10.77.0.1 1 10.77.0.1
10.77.0.2 2 10.77.0.2 10.78.0.2
fd77::2 2 10.77.0.2"
	is "as JSON, too" "$(shown -j nodemap show | jq -r '[.[] | .id] | join(" ")')" "1 2 2"
	node1 sanxctl nodemap show </dev/null >"$LAB_RUN/share/nodemap-test"
	check "what is shown can be loaded" node1 sanxctl nodemap load "$FILE"
	is "and is the same" "$(shown | wc -l)" 3
	check "add" node1 sanxctl nodemap add 10.77.0.3 3
	check "add changes what is there" node1 sanxctl nodemap add 10.77.0.3 4
	is "add: shown" "$(shown | grep 10.77.0.3)" "10.77.0.3 4 10.77.0.3"
	check "del" node1 sanxctl nodemap del 10.77.0.3
	is "del: gone" "$(shown | grep -c 10.77.0.3 || true)" 0
	is "del of nobody" "$(node1 sanxctl nodemap del 10.77.0.3 </dev/null 2>&1 || echo "rc $?")" \
		"Error: no such host in the node map.
rc 1"
	check "names are resolved" node1 'sanxctl nodemap add node1 1 && sanxctl nodemap show | grep -q "fd77::1 1"'
	check "flush" node1 sanxctl nodemap flush
	is "flush: empty" "$(shown)" ""
}

# many HOSTS ID: a map with so many lines.
many() {
	awk -v n="$1" -v id="$2" 'BEGIN { for (i = 1; i <= n; i++)
		printf "10.%d.%d.%d %d\n", int(i / 65536), int(i / 256) % 256, i % 256, id }' \
		>"$LAB_RUN/share/nodemap-test$2"
}

# While two maps take turns, whoever looks sees one of them.  He looks until he has seen both.
all_or_nothing() {
	local out
	many 20 1
	many 20 2
	out=$(node1 "
		sanxctl nodemap load ${FILE}1
		( while sanxctl nodemap load ${FILE}2 && sanxctl nodemap load ${FILE}1; do :; done ) & pid=\$!
		looks=0
		until [ \$looks -ge 30 -a \$(sort -u /tmp/seen 2>/dev/null | wc -l) -ge 2 ]; do
			sanxctl nodemap show | cut -d' ' -f2 | sort | uniq -c | tr -s '\n ' ' ' >>/tmp/seen
			echo >>/tmp/seen
			looks=\$((looks + 1))
			[ \$looks -lt 3000 ] || break
		done
		sort -u /tmp/seen; rm /tmp/seen
		kill \$pid; wait \$pid" </dev/null || true)
	is "a load is never seen half done" "$(sed 's/^ //; s/ $//' <<<"$out")" "20 1
20 2"
	many 20000 7
	check "a large map loads" node1 sanxctl nodemap load "${FILE}7"
	is "a large map is shown" "$(shown | wc -l)" 20000
	node1 sanxctl nodemap flush </dev/null
}

bad_files() {
	file '10.77.0.1 1\n'
	node1 sanxctl nodemap load "$FILE" </dev/null
	bad nodemap '10.77.0.1\n' 1 'node id'
	bad nodemap '10.77.0.1 1\n10.77.0.2 two\n' 2 'two'
	bad nodemap '10.77.0.1 1\n10.77.0.2 2\n\n# x\n10.77.0.3 0\n' 5 '0'
	bad nodemap '10.77.0.2 -1\n' 1 '-1'
	bad nodemap '10.77.0.2 4294967296\n' 1 '4294967296'
	bad nodemap '300.77.0.2 2\n' 1 '300.77.0.2'
	bad nodemap 'no-such-host.invalid 2\n' 1 'no-such-host'
	bad nodemap '10.77.0.2 2 nowhere.invalid\n' 1 'nowhere'
	bad nodemap '10.77.0.2 2 1.1.1.1 1.1.1.2 1.1.1.3 1.1.1.4 1.1.1.5\n' 1 '4'
	bad nodemap '10.77.0.2 2\n10.77.0.2 3\n' 2 'two nodes|already|node 2'
	bad nodemap '10.77.0.2 2\n127.0.0.1 3\n' 2 'loopback'
	bad nodemap '10.77.0.2 2\n0.0.0.0 3\n' 2 '0.0.0.0'
	bad nodemap '10.77.0.2 2\n224.0.0.1 3\n' 2 '224.0.0.1'
	bad nodemap '10.77.0.2 2\nfe80::1 3\n' 2 'link-local'
	bad nodemap '10.77.0.2 2\n::1 3\n' 2 'loopback'
	bad nodemap '10.77.0.2 2 127.0.0.1\n' 1 'loopback'
	is "no such file" "$(node1 sanxctl nodemap load /no/such </dev/null 2>&1 || echo "rc $?")" \
		"Error: /no/such: No such file or directory.
rc 1"
}

port_rules() {
	file '# some\ndeny 22\nallow 1-1023 # all\ndeny 3000-3999,5000\n'
	check "port rules load" node1 sanxctl ports load "$FILE"
	is "port rules are shown in order" "$(shown ports show)" "deny 22
allow 1-1023
deny 3000-3999
deny 5000"
	is "port rules as JSON" "$(shown -j ports show | jq -r '.[1].last')" 1023
	check "a port rule more" node1 sanxctl ports add deny 80
	check "a port rule less" node1 sanxctl ports del allow 1-1023
	is "port rules after that" "$(shown ports show | tr '\n' ' ')" \
		"deny 22 deny 3000-3999 deny 5000 deny 80 "
	bad ports 'deny\n' 1 ''
	bad ports 'deny 22\nrefuse 23\n' 2 'refuse'
	bad ports 'deny 0\n' 1 '0'
	bad ports 'deny 65536\n' 1 '65536'
	bad ports 'deny 20-10\n' 1 '20-10'
	bad ports 'deny 22,\n' 1 ''
	bad ports 'deny ssh!\n' 1 'ssh!'
	check "port rules flush" node1 sanxctl ports flush
	is "port rules are gone" "$(shown ports show)" ""
}

namespaces() {
	node1 'ip netns add other' </dev/null
	is "a new namespace has no map" "$(node1 ip netns exec other sanxctl nodemap show </dev/null)" ""
	check "a namespace has its own" node1 \
		'ip netns exec other sanxctl nodemap add 10.1.1.1 11 && ip netns exec other sanxctl ports add deny 99'
	is "which is shown there" "$(node1 ip netns exec other sanxctl nodemap show </dev/null)" "10.1.1.1 11 10.1.1.1"
	is "and not here" "$(shown)" "10.77.0.1 1 10.77.0.1"
	is "nor are its port rules" "$(shown ports show)" ""
	check "counters are of the namespace" node1 "ip netns exec other sh -c '
		ip link set lo up
		$PEER -1 listen 5000 echo >/dev/null &
		until ss -Hltn sport = :5000 | grep -q .; do sleep 0.1; done
		$PEER connect 127.0.0.1 5000 ping 3 shut end >/dev/null
		wait
		sanxctl -j stats show' | jq -e '.conns_loop == 2'"
	is "and not of this one" "$(moved 1 conns_loop)" 0
	check "the namespace goes with its map" node1 'ip netns del other'
}

# as_nobody COMMAND...: what becomes of it without privileges.
as_nobody() {
	node1 setpriv --reuid 65534 --regid 65534 --clear-groups "$@" </dev/null 2>&1
}

privileges() {
	local object
	for object in "nodemap flush" "nodemap add 10.1.1.1 1" "nodemap del 10.77.0.1" \
		"ports flush" "ports add deny 1"; do
		# shellcheck disable=SC2086
		is "nobody may not: $object" "$(as_nobody sanxctl $object || echo "rc $?")" \
			"Error: Operation not permitted (CAP_NET_ADMIN is needed).
rc 1"
	done
	is "nobody may look" "$(as_nobody sanxctl nodemap show)" "10.77.0.1 1 10.77.0.1"
	check "nobody may look at counters" as_nobody sanxctl stats show
	check "nobody may in a namespace of his own" as_nobody \
		unshare -Urn sanxctl nodemap add 10.9.9.9 9
	is "which changes nothing here" "$(shown)" "10.77.0.1 1 10.77.0.1"
}

plan 66
node1 'sanxctl nodemap flush; sanxctl ports flush' </dev/null
remember
loads
all_or_nothing
bad_files
port_rules
namespaces
privileges
node1 sanxctl nodemap flush </dev/null
rm -f "$LAB_RUN"/share/nodemap-test*
