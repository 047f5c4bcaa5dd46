#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The whole of sanxctl, against a kernel that is made up.
# Usage: test-sanxctl.sh BUILD-DIRECTORY

set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"

sanxctl=$1/tests/sanxctl
# How to run it; valgrind has its say on the standard error.
read -ra checker <<<"${VALGRIND_RUN-}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export FAKE_STATE=$work FAKE=

# says STATUS STDOUT STDERR ARGUMENT...: exactly that?
says() {
	local status=$1 out=$2 err=$3 rc=0
	shift 3
	"${checker[@]}" "$sanxctl" "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
	is "$rc" "$status" && is "$(<"$work/out")" "$out" && is "$(<"$work/err")" "$err"
}

# json FILTER WANTED ARGUMENT...: is the output JSON, and this in it?
json() {
	local filter=$1 wanted=$2
	shift 2
	"${checker[@]}" "$sanxctl" "$@" >"$work/out" 2>/dev/null </dev/null || return
	python3 -m json.tool "$work/out" >/dev/null || return
	is "$(python3 -c '
import json, sys
doc = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/out" "$filter")" "$wanted"
}

file() {
	cat >"$work/file"
}

### Node map

ok "nodemap: empty" says 0 "" "" nodemap show
ok "nodemap: empty, JSON" says 0 "[]" "" -j nodemap show

file <<-END
	# two nodes
	10.0.0.1   1  10.1.0.1 10.2.0.1

	fd00::2    2
END
saved="10.0.0.1 1 10.1.0.1 10.2.0.1
fd00::2 2"
ok "nodemap: load" says 0 "" "" nodemap load "$work/file"
ok "nodemap: show" says 0 "$saved" "" nodemap show
ok "nodemap: show is the default" says 0 "$saved" "" nodemap
ok "nodemap: show, abbreviated" says 0 "$saved" "" n s
ok "nodemap: list" says 0 "$saved" "" nodemap li
ok "nodemap: JSON" json doc "[{'addr': '10.0.0.1', 'id': 1, 'rails': ['10.1.0.1', '10.2.0.1'], 'found': False, 'found_secs': None, 'auto': None}, {'addr': 'fd00::2', 'id': 2, 'rails': [], 'found': False, 'found_secs': None, 'auto': None}]" -j nodemap show
ok "nodemap: pretty JSON" json 'len(doc)' 2 -j -p nodemap show
ok "nodemap: load, JSON" says 0 "[]" "" -j nodemap load "$work/file"

ok "nodemap: what is shown can be loaded" \
	is "$("$sanxctl" n show | "$sanxctl" n load - && "$sanxctl" n)" "$saved"

file <<-END
	10.0.0.1 1
	10.0.0.2
END
ok "nodemap: bad file" says 1 "" \
	"$work/file:2: host \"10.0.0.2\" has no node id, expected HOST NODEID [RAIL...]" \
	nodemap load "$work/file"
ok "nodemap: bad file, JSON" says 1 "[]" \
	"$work/file:2: host \"10.0.0.2\" has no node id, expected HOST NODEID [RAIL...]" \
	-j nodemap load "$work/file"
ok "nodemap: bad file changes nothing" says 0 "$saved" "" nodemap show

file <<-END
	10.0.0.1 1
	# the next one is not liked

	10.0.0.2 666 10.1.0.2
	10.0.0.3 3
END
ok "nodemap: the kernel's complaint has the line" says 1 "" \
	"$work/file:4: that one is not liked" nodemap load "$work/file"
ok "nodemap: the kernel's complaint, from stdin" \
	is "$("$sanxctl" n load - 2>&1 <"$work/file")" "<stdin>:4: that one is not liked"
ok "nodemap: the kernel's complaint about an argument" says 1 "" \
	"Error: that one is not liked." nodemap add 10.0.0.1 666

ok "nodemap: no such file" says 1 "" "Error: /nonexistent: No such file or directory." \
	nodemap load /nonexistent
ok "nodemap: a directory" says 1 "" "/: Is a directory" nodemap load /
ok "nodemap: load what" says 1 "" "Error: FILE is missing." nodemap load
ok "nodemap: load too much" says 1 "" "Error: argument \"b\" is one too many." nodemap load a b

ok "nodemap: add" says 0 "" "" nodemap add 10.0.0.9 9 10.1.0.9
ok "nodemap: add what" says 1 "" "Error: HOST is missing." nodemap add
ok "nodemap: add which node" says 1 "" \
	"Error: host \"10.0.0.9\" has no node id, expected HOST NODEID [RAIL...]." \
	nodemap add 10.0.0.9
ok "nodemap: add a name" says 0 "" "" nodemap add localhost 9
ok "nodemap: del" says 0 "" "" nodemap del 10.0.0.9
ok "nodemap: delete" says 0 "" "" nodemap delete 10.0.0.9
ok "nodemap: del what" says 1 "" "Error: HOST is missing." nodemap del
ok "nodemap: del too much" says 1 "" "Error: argument \"9\" is one too many." nodemap del a 9
echo "# nobody" >"$work/file"
ok "nodemap: a file without a host" says 1 "" \
	"Error: $work/file has no host: nodemap flush, or load --allow-empty." nodemap load "$work/file"
ok "nodemap: which changes nothing" is "$("$sanxctl" nodemap | wc -l)" 1
ok "nodemap: unless that is meant" says 0 "" "" nodemap load "$work/file" --allow-empty
ok "nodemap: then nobody is there" says 0 "" "" nodemap
ok "nodemap: flush" says 0 "" "" nodemap flush
ok "nodemap: flushed" says 0 "[]" "" -j nodemap show

### Nodes that are found

echo 0123456789abcdef0123456789abcdef >"$work/machine-id"
export SANX_MACHINE_ID_FILE=$work/machine-id
file <<-END
	auto 10.5.0.0/16
	10.0.0.1 1 10.1.0.1
	auto fd00:5::/32	# and these
END
saved="10.0.0.1 1 10.1.0.1
auto 10.5.0.0/16
auto fd00:5::/32"
ok "auto: load" says 0 "" "" nodemap load "$work/file"
ok "auto: show" says 0 "$saved" "" nodemap show
ok "auto: JSON" json doc "[{'addr': '10.0.0.1', 'id': 1, 'rails': ['10.1.0.1'], 'found': False, 'found_secs': None, 'auto': None}, {'addr': None, 'id': None, 'rails': [], 'found': False, 'found_secs': None, 'auto': '10.5.0.0/16'}, {'addr': None, 'id': None, 'rails': [], 'found': False, 'found_secs': None, 'auto': 'fd00:5::/32'}]" -j nodemap show

# The node id that went to the kernel: the last attribute of the request.
self_sent() {
	python3 -c '
import sys
print("%08x" % int.from_bytes(open(sys.argv[1], "rb").read()[-4:], sys.byteorder))' "$work/nodes"
}

self_wanted() {
	python3 -c '
import hmac, sys
app = bytes.fromhex("5d2c0e6b913f4a77b814e39a602dc548")
mac = hmac.new(bytes.fromhex(sys.argv[1]), app, "sha256").digest()
print("%08x" % (int.from_bytes(mac[:4], "big") | 1 << 31))' "$1"
}

for id in 0123456789abcdef0123456789abcdef fedcba98765432100123456789ABCDEF; do
	echo $id >"$work/machine-id"
	"$sanxctl" nodemap load "$work/file"
	ok "auto: the node id of machine $id" is "$(self_sent)" "$(self_wanted $id)"
done
FAKE=found
ok "auto: what was found is a comment" says 0 "$saved
# found: 10.5.0.1 2147483649 10.5.0.1 tcp:10.5.0.1, 7 s ago" "" nodemap show
ok "auto: what was found, JSON" json 'doc[3]' "{'addr': '10.5.0.1', 'id': 2147483649, 'rails': ['10.5.0.1', 'tcp:10.5.0.1'], 'found': True, 'found_secs': 7, 'auto': None}" -j nodemap show
ok "auto: what is shown can be loaded" \
	is "$("$sanxctl" n show | "$sanxctl" n load - && FAKE="" "$sanxctl" n)" "$saved"
ok "auto: sync looks at what is written only" says 0 "unchanged" "" nodemap sync cat "$work/file"
FAKE=
file <<<"auto 10.6.0.0/16"
ok "auto: sync, other prefixes" says 0 "changed" "" nodemap sync cat "$work/file"
ok "auto: sync, the same prefixes" says 0 "unchanged" "" nodemap sync cat "$work/file"
echo 10.0.0.1 1 >"$work/plain"
echo "auto 10.0.0.0/8" >"$work/file"
for id in 0123 00000000000000000000000000000000 0123456789abcdef0123456789abcdeg 0123456789abcdef0123456789abcdef0; do
	echo $id >"$work/machine-id"
	ok "auto: no machine id: $id" says 1 "" \
		"Error: $work/machine-id has no id of this machine, expected 32 hex digits." \
		nodemap load "$work/file"
done
rm "$work/machine-id"
ok "auto: no machine id at all" says 1 "" \
	"Error: $work/machine-id: No such file or directory, expected the id of this machine." \
	nodemap load "$work/file"
ok "auto: which needs none without auto" says 0 "" "" nodemap load "$work/plain"
ok "auto: only in a file" says 1 "" \
	'Error: node id "10.0.0.0/8": not a node id, expected 1-4294967295.' \
	nodemap add auto 10.0.0.0/8
unset SANX_MACHINE_ID_FILE
"$sanxctl" nodemap flush

### Node map from a command

# sync STATUS STDOUT STDERR COMMAND: nodemap sync -- sh -c COMMAND
sync() {
	says "$1" "$2" "$3" nodemap sync -- sh -c "$4"
}

ok "sync: a map" sync 0 "changed" "" "echo 10.0.0.2 2; echo 10.0.0.1 1 tcp"
saved="10.0.0.2 2
10.0.0.1 1 tcp:10.0.0.1"
ok "sync: is loaded" says 0 "$saved" "" nodemap
touch -d "1 hour ago" "$work/nodes" "$work/then"
ok "sync: the same map" sync 0 "unchanged" "" "echo 10.0.0.1 1 tcp:10.0.0.1; echo 10.0.0.2 2"
ok "sync: is not loaded again" test ! "$work/nodes" -nt "$work/then"
ok "sync: JSON" json doc "{'changed': 0}" -j nodemap sync -- sh -c "echo 10.0.0.1 1 tcp; echo 10.0.0.2 2"
"$sanxctl" nodemap >"$work/same"
ok "sync: without --, abbreviated" says 0 "unchanged" "" n sy cat "$work/same"
ok "sync: it fails behind its map" sync 1 "" "Error: sh failed with status 3." \
	"echo 10.0.0.9 9; exit 3"
ok "sync: it is killed" sync 1 "" "Error: sh was ended by signal 9." \
	"echo 10.0.0.9 9; kill -9 \$\$"
ok "sync: what it wrote is no map" sync 1 "" \
	"<output>:2: host \"10.0.0.9\" has no node id, expected HOST NODEID [RAIL...]" \
	"echo 10.0.0.8 8; echo 10.0.0.9"
ok "sync: the kernel's complaint has the line" sync 1 "" \
	"<output>:2: that one is not liked" "echo 10.0.0.8 8; echo 10.0.0.9 666"
ok "sync: it writes nothing" sync 1 "" \
	"Error: the command wrote nothing, expected a node map." true
ok "sync: it writes no host" sync 1 "" \
	"Error: the command wrote no host, expected a node map." "echo '# none'"
ok "sync: no such command" says 1 "" "Error: /nonexistent: No such file or directory.
Error: /nonexistent failed with status 127." nodemap sync -- /nonexistent
ok "sync: it never ends" sync 1 "" "Error: sh writes more than a node map can have." "exec yes"
ok "sync: after each failure the map is what it was" says 0 "$saved" "" nodemap
ok "sync: it reads nothing" is "$(echo 10.0.0.9 9 | "$sanxctl" nodemap sync -- cat 2>&1)" \
	"Error: the command wrote nothing, expected a node map."
ok "sync: no command" says 1 "" "Error: COMMAND is missing." nodemap sync
ok "sync: no command behind --" says 1 "" "Error: COMMAND is missing." nodemap sync --
ok "sync: no such option" says 1 "" \
	'Error: option "-x" is unknown, expected --every or --.' nodemap sync -x true
ok "sync: every what" says 1 "" "Error: SECONDS is missing." nodemap sync --every
for secs in 0 x -- 4294967295; do
	ok "sync: every $secs" says 1 "" \
		"Error: \"$secs\" is not a time, expected a number of seconds." nodemap sync --every "$secs" true
done

# soon COMMAND...: does it succeed within five seconds?
soon() {
	local tries
	for ((tries = 0; tries < 50; tries++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

shows() {
	[ "$("$sanxctl" nodemap 2>/dev/null)" = "$1" ]
}

echo "10.0.0.1 1" >"$work/source"
cat >"$work/command" <<-END
	#!/bin/sh
	echo >>"$work/runs"
	cat "$work/source"
END
chmod +x "$work/command"
"$sanxctl" nodemap sync --every 1 -- "$work/command" >"$work/out" 2>"$work/err" &
pid=$!
ok "sync, every second: the map" soon shows "10.0.0.1 1"
echo "10.0.0.1 2" >"$work/source"
ok "sync, every second: the next map" soon shows "10.0.0.1 2"
touch -r "$work/then" "$work/nodes"
runs=$(wc -l <"$work/runs")
again() {
	[ "$(wc -l <"$work/runs")" -gt $((runs + 1)) ]
}
ok "sync, every second: again" soon again
ok "sync, every second: the same map is not loaded again" test ! "$work/nodes" -nt "$work/then"
ok "sync, every second: no complaint" is "$(<"$work/out")$(<"$work/err")" ""
echo "none" >"$work/source"
ok "sync, every second: complains of a bad map" soon test -s "$work/err"
ok "sync, every second: which changes nothing" shows "10.0.0.1 2"
echo "10.0.0.1 3" >"$work/source"
ok "sync, every second: goes on after it" soon shows "10.0.0.1 3"
kill "$pid"
wait "$pid"
ok "sync, every second: SIGTERM ends it" is "$?" 143

"$sanxctl" nodemap sync -- sh -c "echo \$\$ >'$work/child'; exec sleep 60" &
pid=$!
ok "sync: the command runs" soon test -s "$work/child"
kill "$pid"
wait "$pid"
ended() {
	! kill -0 "$(<"$work/child")" 2>/dev/null
}
ok "sync: the command ends with it" soon ended
"$sanxctl" nodemap flush

### Ports

ok "ports: empty" says 0 "" "" ports
file <<-END
	deny 22 25,8000-8010	# not these
	allow 1-65535
END
saved="deny 22
deny 25
deny 8000-8010
allow 1-65535"
ok "ports: load" says 0 "" "" ports load "$work/file"
ok "ports: show" says 0 "$saved" "" ports show
ok "ports: JSON" json 'doc[2]' "{'action': 'deny', 'way': 'both', 'node': 0, 'prefix': '', 'explicit': False, 'first': 8000, 'last': 8010}" -j ports show
ok "ports: what is shown can be loaded" \
	is "$("$sanxctl" p | "$sanxctl" p l - && "$sanxctl" p)" "$saved"

file <<-END
	deny 22
	allow 9-5
END
ok "ports: bad file" says 1 "" \
	"$work/file:2: range \"9-5\" ends before it starts, expected the lower port first" \
	ports load "$work/file"
ok "ports: bad file changes nothing" says 0 "$saved" "" ports show

file <<-END
	# a comment
	deny 22
	allow 1 2 3 666 4
END
ok "ports: the kernel's complaint has the line" says 1 "" \
	"$work/file:3: that one is not liked" ports load "$work/file"
ok "ports: add" says 0 "" "" ports add deny 22 25-30
ok "ports: add what" says 1 "" "Error: ACTION is missing, expected allow or deny." ports add
ok "ports: add which" says 1 "" \
	"Error: deny has no port, expected PORT or PORT-PORT after it." ports add deny
ok "ports: add which explicit ones" says 1 "" \
	"Error: explicit has no port, expected PORT or PORT-PORT after it." ports add deny explicit
ok "ports: add an explicit default" says 1 "" \
	"Error: default is for all ports, expected it without explicit." \
	ports add deny explicit default
ok "ports: add explicit ports" says 0 "" "" ports add deny explicit 5000-70000
ok "ports: show explicit ports" says 0 "deny explicit 5000-70000" "" ports show
ok "ports: del explicit ports" says 0 "" "" ports del deny explicit 5000-70000
ok "ports: del" says 0 "" "" ports del deny 22
saved="allow in from 10.0.0.0/8 22
deny out to 3 22
deny in from fd00::/16 1-65535
deny in from ::/1 9
allow out to 10.0.0.1 80-90
deny explicit 70000
allow in from 3 explicit 1-4294967295
deny in default
deny default"
file <<<"$saved"
ok "ports: rules about peers" says 0 "" "" ports load "$work/file"
ok "ports: rules about peers are shown as they were" says 0 "$saved" "" ports show
ok "ports: rules about peers can be loaded again" \
	is "$("$sanxctl" ports | "$sanxctl" ports load - && "$sanxctl" ports)" "$saved"
ok "ports: JSON of a prefix" json 'doc[0]' "{'action': 'allow', 'way': 'in', 'node': 0, 'prefix': '10.0.0.0/8', 'explicit': False, 'first': 22, 'last': 22}" -j ports show
ok "ports: JSON of a node" json 'doc[1]' "{'action': 'deny', 'way': 'out', 'node': 3, 'prefix': '', 'explicit': False, 'first': 22, 'last': 22}" -j ports show
ok "ports: JSON of explicit ports" json 'doc[6]' "{'action': 'allow', 'way': 'in', 'node': 3, 'prefix': '', 'explicit': True, 'first': 1, 'last': 4294967295}" -j ports show
ok "ports: JSON of a default" json 'doc[8]' "{'action': 'deny', 'way': 'both', 'node': 0, 'prefix': '', 'explicit': False, 'first': 0, 'last': 0}" -j ports show
ok "ports: apply" says 0 "3 ended" "" ports apply
ok "ports: JSON of apply" json 'doc' "{'ended': 3}" -j ports apply
echo "# all" >"$work/file"
ok "ports: a file without a rule" says 1 "" \
	"Error: $work/file has no rule: ports flush, or load --allow-empty." ports load "$work/file"
ok "ports: unless that is meant" says 0 "" "" ports load --allow-empty "$work/file"
ok "ports: flush" says 0 "" "" ports flush
ok "ports: flushed" says 0 "" "" ports show

### Keys

# text KEY-HEX: as "key generate" writes it, by other means.
text() {
	python3 -c '
import base64, sys, zlib
key = bytes.fromhex(sys.argv[1])
print("SANX-1:%s:" % base64.b64encode(key + zlib.crc32(key).to_bytes(4, "little")).decode())' "$1"
}

# key TEXT: in a file that nobody else can read.
key() {
	rm -f "$work/key"
	(umask 077 && printf '%s' "$1" >"$work/key")
}

some=0011223344556677fbefbe3f8899aabbccddeeff0123456789abcdef02468ace
ok "key: show" says 0 "default 0012abcd
7 ffffffff" "" key show
ok "key: JSON" json doc "[{'node': 0, 'id': '0012abcd'}, {'node': 7, 'id': 'ffffffff'}]" -j key
key "$(text $some)"
ok "key: add" says 0 "00112235" "" key add 2 "$work/key"
ok "key: add, default" says 0 "00112233" "" key add default "$work/key"
ok "key: add, JSON" json doc "{'id': '00112233'}" -j key add default "$work/key"
key "$(text $some)
"
ok "key: a newline behind it" says 0 "00112235" "" key add 2 "$work/key"
ok "key: from a pipe" is "$(text $some | "$sanxctl" key add 2 -)" 00112235
for n in 1 2 3 4 5; do
	"$sanxctl" key generate >"$work/made$n"
done
ok "key: generate, each time another" is "$(cat "$work"/made? | sort -u | wc -l)" 5
key "$(<"$work/made1")"
"$sanxctl" key add 2 "$work/key" >"$work/out" 2>&1
ok "key: what is generated can be added" grep -qE '^[0-9a-f]{8}$' "$work/out"
ok "key: and is what others read" is "$(text "$(python3 -c '
import base64, sys
print(base64.b64decode(sys.argv[1].split(":")[1])[:32].hex())' "$(<"$work/made1")")")" "$(<"$work/made1")"

# wrong NAME MESSAGE TEXT
wrong_key() {
	key "$3"
	ok "key: $1" says 1 "" "Error: $work/key: $2." key add 2 "$work/key"
}
good=$(text $some)
short="the key is too short, or has a character that is not base64"
wrong_key "an empty file" "it is not a key, expected SANX-1: and base64" ""
wrong_key "of NVMe" "it is not a key, expected SANX-1: and base64" "DHHC-1:00:${good#SANX-1:}"
wrong_key "cut short" "$short" "${good:0:40}"
wrong_key "a wrong character" "$short" "${good:0:20}!${good:21}"
wrong_key "no colon" "something follows the key, expected one key and a colon" "${good%:}"
wrong_key "more behind it" "something follows the key, expected one key and a colon" "$good x"
wrong_key "mistyped" "the checksum of the key is wrong" "${good:0:12}/${good:13}"
key "$good"
for mode in 0640 0604 0660; do
	chmod "$mode" "$work/key"
	ok "key: a file with mode $mode" says 1 "" \
		"Error: $work/key has mode $mode, and others can use it, expected 0600." key add 2 "$work/key"
done
ok "key: no such file" says 1 "" "Error: $work/none: No such file or directory." key add 2 "$work/none"
ok "key: no peer" says 1 "" "Error: PEER is missing, expected a node id or default." key add
ok "key: peer 0" says 1 "" 'Error: "0" is not a peer, expected a node id of 1-4294967295 or default.' key add 0 -
ok "key: no file" says 1 "" "Error: FILE is missing." key add 2
# Some containers forbid the system call.
"$sanxctl" key add 2 keyring sanx-test-none >"$work/out" 2>&1
ok "key: no such key in a keyring" grep -qE \
	'^Error: keyring: sanx-test-none: (Required key not available|Operation not permitted)\.$' "$work/out"
ok "key: del" says 0 "" "" key del 2 0012abcd
ok "key: del, all" says 0 "" "" key del default
ok "key: del, none there" says 1 "" "Error: no such key." key del 2 62616421
ok "key: del, not an id" says 1 "" \
	'Error: "xyz" is not the id of a key, expected 8 hex digits.' key del 2 xyz
FAKE=denied "$sanxctl" key del 2 >"$work/out" 2>&1
ok "key: denied" grep -q "Operation not permitted" "$work/out"

### Link, socket, stats

ok "link: show" is "$("$sanxctl" link | tr -d '\001')" \
	'node 2 transport verbs device a"b\c/ lane 5 state up conns 3 local 10.0.0.1 remote fd00::2 auth none rail 1 up_secs 70 moves 2 moved lost moved_secs 71'
ok "rail: show" is "$("$sanxctl" rail)" \
	'node 2 rail 0 transport verbs local 10.0.0.1 remote 10.0.0.2 state failed admin drain weight 3 links 0 conns 0 rtt_ns 1234 tx_bytes 18446744073709551615 rx_bytes 6 errors 7 retry_secs 8 cause no-key
node 2 rail 1 transport tcp-rail remote fd00::2 state no-wire admin up weight 1 links 0 conns 0 tx_bytes 0 rx_bytes 0 errors 0'
ok "rail: JSON" json "doc[0]['admin'], doc[0]['tx_bytes'], doc[1]['local'], doc[1]['cause']" "('drain', 18446744073709551615, None, None)" -j rail
while IFS='|' read -r args sent; do
	# shellcheck disable=SC2086
	ok "rail set $args" says 0 "" "Warning: $sent." rail set $args
done <<-END
	10.0.0.1 down|::ffff:10.0.0.1 tcp 0 admin 2 weight -1
	rdma:fd00::1 weight 0|fd00::1 tcp 0 admin -1 weight 0
	tcp:10.0.0.1 drain weight 255|::ffff:10.0.0.1 tcp 1 admin 1 weight 255
	tcp:fd00::1 weight 7 up|fd00::1 tcp 1 admin 0 weight 7
END
while IFS='|' read -r args why; do
	# shellcheck disable=SC2086
	ok "rail set $args: refused" says 1 "" "Error: $why." rail set $args
done <<-'END'
	|RAIL is missing
	10.0.0.1|nothing to set, expected up, drain, down or weight
	tcp: up|"tcp:" is not the address of a rail
	here up|"here" is not the address of a rail
	10.0.0.1 sideways|"sideways", expected up, drain, down or weight
	10.0.0.1 up down|argument "down" is one too many
	10.0.0.1 weight|the weight is missing, expected 0 to 255
	10.0.0.1 weight 256|weight "256", expected 0 to 255
	10.0.0.1 weight -1|weight "-1", expected 0 to 255
	10.0.0.1 weight 1x|weight "1x", expected 0 to 255
	10.9.9.9 up|no such rail
END
ok "link: JSON" json 'doc[0]' "{'node': 2, 'transport': 'verbs', 'device': 'a\"b\\\\c/\\x01', 'lane': 5, 'state': 'up', 'standby': None, 'conns': 3, 'local': '10.0.0.1', 'remote': 'fd00::2', 'auth': 'none', 'rtt_ns': None, 'long_min_bytes': None, 'rail': 1, 'up_secs': 70, 'moves': 2, 'moved': 'lost', 'moved_secs': 71, 'retry_secs': None}" -j l s
ok "socket: show" says 0 \
"State       Recv-Q Send-Q Local                 Remote                Transport   Uid Inode
ESTAB            5      6 10.0.0.1:80           10.0.0.2:40000        loop       1000 4294967297 node:2 denied
LISTEN           0      0 [::]:8080             [::]:0                              0 0" "" socket show
ok "socket: JSON" json 'doc[0]' "{'state': 'ESTAB', 'rx_queue': 5, 'tx_queue': 6, 'local': '10.0.0.1:80', 'remote': '10.0.0.2:40000', 'transport': 'loop', 'uid': 1000, 'inode': 4294967297, 'node': 2, 'fallback': None, 'denied': 1, 'type': 'stream', 'users': None, 'tx_bytes': 10, 'rx_bytes': 0, 'tx_ring_bytes': 65536, 'rx_ring_bytes': 32768, 'tx_age_ms': 30, 'rx_age_ms': None}" -j socket show
ok "socket: each has all keys" json 'len(set(tuple(d) for d in doc))' 1 -j socket show all
fell="ESTAB            0      0 10.0.0.1:40001        10.0.0.3:81           tcp           0 77 fallback:refused"
ok "socket: all" is "$("$sanxctl" socket show all | sed -n 3p)" "$fell"
ok "socket: fallback" is "$("$sanxctl" socket show fallback refused | sed 1d)" "$fell"
ok "socket: another fallback" says 0 "" "" socket show fallback link
ok "socket: memory" is "$("$sanxctl" socket show -m | sed -n 2p | sed 's/.*denied//')" \
	" tx_bytes:10 rx_bytes:0 tx_ring:65536 rx_ring:32768 sent:30ms"
ok "socket: by processes" is "$("$sanxctl" socket show -p node 2 | sed -n 2p | sed 's/.*denied//')" ""
# seen ARGS...: the local ports of the sockets that are shown.
seen() {
	"$sanxctl" -j socket show all "$@" | python3 -c 'import json, sys
print(*(s["local"].rpartition(":")[2] for s in json.load(sys.stdin)))'
}
ok "socket: state" is "$(seen state ESTABLISHED)" "80 40001"
ok "socket: state, connected" is "$(seen state connected)" "80 40001"
ok "socket: state, listening" is "$(seen state listening)" 8080
ok "socket: transport" is "$(seen transport loop)" 80
ok "socket: node" is "$(seen node 2)" 80
ok "socket: port" is "$(seen port 81)" 40001
ok "socket: sport" is "$(seen sport 80)" 80
ok "socket: dport" is "$(seen dport 80)" ""
ok "socket: uid" is "$(seen uid 1000)" 80
ok "socket: uid by name" is "$(seen uid root)" "40001 8080"
ok "socket: pid" is "$(seen pid $$)" ""
ok "socket: several" is "$(seen state established uid 0)" 40001
ok "socket: no value" says 1 "" 'Error: a value for "node" is missing.' socket show node
ok "socket: no port" says 1 "" 'Error: port "0" is not a number from 1 to 4294967295.' socket show port 0
ok "socket: no state" says 1 "" 'Error: state "gone" is unknown, try "sanxctl socket help".' socket show state gone
ok "socket: no user" says 1 "" 'Error: there is no user "nobody-there".' socket show uid nobody-there
ok "socket: kill one" says 0 "1 ended" "" socket kill node 2
ok "socket: kill a listener" says 0 "1 ended" "" socket kill sport 8080 state listening
ok "socket: kill none" says 0 "0 ended" "" socket kill node 3
ok "socket: kill one that goes by itself" says 0 "0 ended" "" socket kill fallback refused
ok "socket: kill, JSON" json doc "{'ended': 1}" -j socket kill port 8080
ok "socket: kill explicit ones" is "$(FAKE=explicit "$sanxctl" socket kill sport 70000)" "1 ended"
ok "socket: kill explicit ones and others" is "$(FAKE=explicit "$sanxctl" socket kill state listening)" "2 ended"
ok "socket: kill explicit ones, denied" is "$(FAKE=forbidden "$sanxctl" socket kill sport 70000 2>&1)" \
	"Error: Operation not permitted (CAP_NET_ADMIN is needed)."
ok "socket: kill what" says 1 "{}" "Error: FILTER is missing, which says what is to end." -j socket kill all
ok "socket: kill, an option of show" says 1 "" "Error: -p and -m are options of show." socket kill -p node 2
ok "socket: kill, denied" is "$(FAKE=denied "$sanxctl" socket kill node 2 2>&1)" \
	"Error: Operation not permitted (CAP_NET_ADMIN is needed)."
### Live

ok "link: reset" says 0 "299 ended" "" link reset 2
ok "link: reset one lane" says 0 "205 ended" "" link reset 2 lane 5
ok "link: reset, JSON" json doc "{'ended': 200}" -j link reset 2 lane 0
ok "link: reset what" says 1 "" "Error: NODEID is missing." link reset
ok "link: reset no node" says 1 "" 'Error: "0" is not a node id, expected 1-4294967295.' link reset 0
ok "link: reset, no lane" says 1 "" "Error: the number of a lane is missing." link reset 2 lane
ok "link: reset, a bad lane" says 1 "" 'Error: "256" is not the number of a lane.' link reset 2 lane 256
ok "link: reset, one too many" says 1 "" 'Error: argument "7" is one too many.' link reset 2 lane 5 7
ok "link: reset, denied" is "$(FAKE=denied "$sanxctl" link reset 2 2>&1)" \
	"Error: Operation not permitted (CAP_NET_ADMIN is needed)."
lost="Warning: events were lost, as they come too fast.
Error: Input/output error."
"$sanxctl" monitor >"$work/out" 2>"$work/err"
ok "monitor: fails when it must" is "$? $(<"$work/err")" "1 $lost"
ok "monitor: in words" is "$(cut -d ' ' -f 2- "$work/out")" \
"socket ESTAB 10.0.0.1:80 10.0.0.2:40000 loop node:2 tx_bytes:10 rx_bytes:0
link   up node 2 lane 5 verbs 10.0.0.1 - fd00::2: the peer was lost
rail   node 2 rail 0 transport verbs local 10.0.0.1 remote 10.0.0.2 state failed admin drain weight 3 links 0 conns 0 rtt_ns 1234 tx_bytes 18446744073709551615 rx_bytes 6 errors 7 retry_secs 8 cause no-key
socket ESTAB 10.0.0.1:40001 10.0.0.3:81 tcp fallback:refused"
ok "monitor: the time" test "$(grep -cE '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} ' "$work/out")" = 4
ok "monitor: some only" is "$("$sanxctl" monitor rail link 2>/dev/null | cut -d ' ' -f 2)" "link
rail"
ok "monitor: what else" says 1 "" 'Error: "lane", expected socket, link or rail.' monitor lane
ok "monitor: another version" is "$(FAKE=old "$sanxctl" monitor 2>&1)" \
	"Error: the module tells no events: it is of another version."
# tops ARGUMENT...: rates of a second, while a socket sends more and more.
tops() {
	FAKE=grows "$sanxctl" top count 1 "$@"
}
ok "top: by socket" is "$(tops | sed 's/^ *[1-9][0-9]*/N/')" \
"        Tx/s         Rx/s Transport  Node Local                 Remote                Program
N            0 loop          2 10.0.0.1:80           10.0.0.2:40000        -"
ok "top: by node" is "$(tops by node | sed 1d | sed 's/^ *[1-9][0-9]*/N/')" "N            0      1 loop          2"
ok "top: by program" is "$(tops by program | sed 1d | sed 's/^ *[1-9][0-9]*/N/')" "N            0      1 -"
ok "top: each is one object" is "$(FAKE=grows "$sanxctl" -j top count 2 | python3 -c '
import json, sys
for line in sys.stdin:
	[top] = json.loads(line)
	print(top["tx_bytes_per_sec"] > 0)')" "True
True"
ok "top: by what" says 1 "" 'Error: "user", expected socket, node or program.' top by user
ok "top: no delay" says 1 "" 'Error: delay "0" is not a number from 1 to 3600.' top delay 0
ok "top: count what" says 1 "" 'Error: a value for "count" is missing.' top count

ok "stats: show" is "$("$sanxctl" stats | sed -n '1p;3p;14p;18p')" \
"conns_loop         1
conns_tcp_rail     18
tx_bytes           18446744073709551615
protocol_errors    7"
ok "stats: JSON is one object" json 'sorted(doc)' "['auto_refused', 'conns_fallback', 'conns_loop', 'conns_tcp_rail', 'conns_verbs', 'dgrams_loop', 'dgrams_tcp_rail', 'dgrams_udp', 'dgrams_verbs', 'dropped_closed', 'dropped_denied', 'dropped_full', 'dropped_memory', 'dropped_waited', 'fallback_accept', 'fallback_asked', 'fallback_denied', 'fallback_limit', 'fallback_link', 'fallback_option', 'fallback_port', 'fallback_refused', 'fallback_route', 'fallback_unmapped', 'lent_bytes', 'links_refused', 'memory_refused', 'protocol_errors', 'requests_delayed', 'requests_refused', 'resets', 'rx_bytes', 'tx_bytes']" -j stats
ok "stats: a large number" json 'doc["tx_bytes"]' 18446744073709551615 -j stats

ok "stats: describe" is "$("$sanxctl" stats describe | sed -n '1p;17p')" \
"conns_loop         Ends of connections that were established over memory of this host
resets             Established connections that ended in a reset"
ok "stats: each is described" is "$("$sanxctl" stats describe | cut -d ' ' -f 1)" \
	"$("$sanxctl" stats | cut -d ' ' -f 1)"
"$sanxctl" stats show --prometheus >"$work/prometheus"
ok "stats: for Prometheus" is "$(grep -A 5 'HELP sanx_connections_total' "$work/prometheus")" \
'# HELP sanx_connections_total Ends of connections, by what carries them.
# TYPE sanx_connections_total counter
sanx_connections_total{transport="loop"} 1
sanx_connections_total{transport="verbs"} 2
sanx_connections_total{transport="tcp-rail"} 18
sanx_connections_total{transport="tcp"} 3'
ok "stats: rails for Prometheus" is "$(grep -A 3 'HELP sanx_rail_transmit' "$work/prometheus")" \
'# HELP sanx_rail_transmit_bytes_total Payload that was sent on the rail.
# TYPE sanx_rail_transmit_bytes_total counter
sanx_rail_transmit_bytes_total{node="2",rail="0",transport="verbs",remote="10.0.0.2"} 18446744073709551615
sanx_rail_transmit_bytes_total{node="2",rail="1",transport="tcp-rail",remote="fd00::2"} 0'
ok "stats: no round trip that nobody made" is "$(grep -c '^sanx_rail_rtt' "$work/prometheus")" 1
# Each family once, its samples behind it, each sample once.
ok "stats: Prometheus can read it" is "$(python3 -c '
import re, sys
seen, names, family = set(), set(), None
for line in open(sys.argv[1]):
	if line.startswith("# HELP "):
		family = line.split()[2]
		assert family not in seen, family
		seen.add(family)
	elif line.startswith("# TYPE "):
		assert line.split()[2] == family, line
		assert line.split()[3] == ("counter" if family.endswith("_total") else "gauge"), line
	else:
		name, labels, value = re.fullmatch(r"(\w+)(\{.*\})? (\d+)\n", line).groups()
		assert name == family and (name, labels) not in names, line
		names.add((name, labels))
print(len(seen), len(names) > 40)' "$work/prometheus")" "20 True"
ok "stats: the dashboard has each family, and no other" is \
	"$(grep -o 'sanx_[a-z_]*[{]' "$here/../../Documentation/grafana.json" | tr -d '{' | sort -u)" \
	"$(sed -n 's/^# HELP \([a-z_]*\) .*/\1/p' "$work/prometheus" | sort -u)"
ok "stats: no JSON for Prometheus" says 1 "{}" \
	"Error: Prometheus reads no JSON: leave out one of the two options." -j stats show --prometheus

### Doctor

# device DRIVER STATE TYPE MTU: a machine with a device on eth7; without a driver, none.
device() {
	local port=$work/root/sys/class/infiniband/one/ports/1
	rm -rf "$work/root"
	mkdir -p "$work/root/sys/module/af_sanx" "$work/root/sys/class/net/eth7"
	version >"$work/root/sys/module/af_sanx/version"
	echo "$4" >"$work/root/sys/class/net/eth7/mtu"
	[ -n "$1" ] || return
	mkdir -p "$port/gid_attrs/ndevs" "$port/gid_attrs/types" "$port/gids" \
		"$work/root/sys/module/sanx_verbs" "$port/../../device"
	echo live >"$work/root/sys/module/sanx_verbs/initstate"
	echo "$2" >"$port/state"
	echo "1: CA" >"$port/../../node_type"
	echo 1.2.3 >"$port/../../fw_ver"
	echo Ethernet >"$port/link_layer"
	echo eth7 >"$port/gid_attrs/ndevs/2"
	echo "$3" >"$port/gid_attrs/types/2"
	echo 0000:0000:0000:0000:0000:ffff:0a00:0001 >"$port/gids/2"
	[ "$1" = none ] || ln -s "/drivers/$1" "$port/../../device/driver"
}

version() {
	"$sanxctl" -V | sed 's/.* //'
}

# doctor FINDING TEXT: does it find that? FINDING and TEXT of all that is not ok.
doctor() {
	"$sanxctl" -j doctor root "$work/root" >"$work/out" 2>"$work/err"
	is "$?" "$([[ $* == *"bad "* ]] && echo 1 || echo 0)" && is "$(<"$work/err")" "" &&
		is "$(python3 -c 'import json, sys
print("\n".join(d["finding"] + " " + d["text"] for d in json.load(open(sys.argv[1])) if d["finding"] != "ok"))' "$work/out")" "$1"
}

printf '10.0.0.1 1\n10.0.0.2 2\n' | "$sanxctl" nodemap load -
FAKE=well
device mlx5_core "4: ACTIVE" "RoCE v2" 9000
ok "doctor: nothing is wrong" doctor ""
ok "doctor: and says so" is "$("$sanxctl" doctor root "$work/root" | tail -n 1)" "Nothing is wrong here."
device mlx5_core "4: ACTIVE" "RoCE v2" 1500
ok "doctor: a small MTU" doctor "note eth7 has an MTU of 1500, so RDMA packets carry 1024 bytes and not 4096"
device none "4: ACTIVE" "RoCE v2" 9000
ok "doctor: software" doctor "note one (rdma_rxe): RoCE in software: to try things; TCP rails and TCP are faster"
device mlx5_core "1: DOWN" "RoCE v2" 9000
ok "doctor: a port that is down" doctor "bad port 1 of one, for the rail at 10.0.0.1, is not active (1: DOWN)"
ok "doctor: with what to do" is "$("$sanxctl" doctor root "$work/root" | sed -n '/^bad/,/->/p; $p')" \
"bad  rail     port 1 of one, for the rail at 10.0.0.1, is not active (1: DOWN)
              -> look at the cable, and: rdma link, ip link
1 to mend."
device mlx5_core "4: ACTIVE" "IB/RoCE v1" 9000
ok "doctor: no GID" doctor "bad port 1 of one has no RoCE v2 GID for the rail at 10.0.0.1"
rm -r "$work/root/sys/module/sanx_verbs"
ok "doctor: no sanx_verbs" doctor "bad sanx_verbs is not loaded, so nothing uses them
bad port 1 of one has no RoCE v2 GID for the rail at 10.0.0.1"
device "" "" "" 9000
ok "doctor: no device" doctor "note this node has no RDMA device
bad eth7 has no RDMA device, and 10.0.0.1 is a rail for RDMA"
device mlx5_core "4: ACTIVE" "RoCE v2" 9000
echo 0.0.1 >"$work/root/sys/module/af_sanx/version"
ok "doctor: another version" doctor "bad af_sanx is 0.0.1, and these tools are $(version)"
rm -r "$work/root/sys/module/af_sanx"
ok "doctor: no module" doctor "bad af_sanx is not loaded: every connection is TCP"
device mlx5_core "4: ACTIVE" "RoCE v2" 9000
"$sanxctl" nodemap add 10.0.0.1 1 10.9.0.1
ok "doctor: a rail that is not there" is "$("$sanxctl" doctor root "$work/root" | grep -c 'this node does not have 10.9.0.1')" 1
echo 10.0.0.2 2 | "$sanxctl" nodemap load -
ok "doctor: not in its own map" doctor "bad no address of this node is in its node map, so it has no node id"
"$sanxctl" nodemap flush
ok "doctor: no map" doctor "bad the node map is empty: all that leaves this host is TCP"
printf '10.0.0.1 1 tcp\n10.0.0.2 2\n' | "$sanxctl" nodemap load -
FAKE=
ok "doctor: what the module says" doctor "note eth7 has no priority flow control: RoCE is slow where packets are lost
note the rail to 10.0.0.2 of node 2 is to be left free
bad protocol_errors is 7: Messages of peers that violated the protocol
note links_refused is 14: Requests of peers for a link that were refused
note requests_refused is 15: Requests of peers for a connection over a limit, or that TCP would not answer
note memory_refused is 17: How often a limit kept a ring or a send buffer from being made or enlarged
note auto_refused is 20: How often a node was not found as its node id is that of another"
device "" "" "" 9000
ok "doctor: no device, and a TCP rail" is "$("$sanxctl" doctor root "$work/root" | sed -n 's/^note rail *//p')" \
	"eth7 has no RDMA device, and 10.0.0.1 is a rail for RDMA"
ok "doctor: where" says 1 "[]" "Error: DIR is missing." -j doctor root
"$sanxctl" nodemap flush

### Explain

ok "explain: a port where nobody listens" json "doc['fallback'], doc['node'], doc['local'], len(doc['rails'])" \
	"('refused', 2, '10.0.0.1', 2)" -j explain 10.0.0.2 80
printf '10.0.0.1 1\n10.0.0.2 2\n' | "$sanxctl" nodemap load -
ok "explain: a node" json "doc['addr'], doc['node'], doc['local']" "('10.0.0.2', 2, '10.0.0.1')" -j explain node 2
ok "explain: a node has no plain TCP" json "doc['verdict'][:24]" "There is no connection: " -j explain node 2
ok "explain: a node that the map does not have" says 1 "" "Error: node 3 is not in the node map." explain node 3
ok "explain: no node" says 1 "" "Error: NODEID is missing, expected 1-4294967295." explain node 0
ok "explain: a node has no port" says 1 "" 'Error: argument "80" is one too many.' explain node 2 80
"$sanxctl" nodemap flush
ok "explain: the module is not there" is "$(FAKE=absent "$sanxctl" explain 10.0.0.2 2>&1)" \
	"Error: the module is not loaded: modprobe af_sanx."

### Shapes

# shape NAME ARGUMENT...: what is written is as the schema has NAME.
shape() {
	local name=$1
	shift
	"${checker[@]}" "$sanxctl" -j "$@" >"$work/out" 2>/dev/null </dev/null
	# shellcheck disable=SC2016
	python3 -c '
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
schema["$ref"] = "#/$defs/" + sys.argv[3]
text = open(sys.argv[2]).read()
while text:
	doc, end = json.JSONDecoder().raw_decode(text)
	assert doc or sys.argv[3] in ("nothing", "error"), "nothing in it"
	jsonschema.validate(doc, schema)
	text = text[end:].lstrip()' "$here/../../Documentation/sanxctl.schema.json" "$work/out" "$name"
}

printf '10.0.0.1 1 tcp\nfd00::2 2\nauto 10.5.0.0/16\n' >"$work/file"
echo 0123456789abcdef0123456789abcdef >"$work/machine-id"
export SANX_MACHINE_ID_FILE=$work/machine-id
ok "shape: nodemap load" shape nothing nodemap load "$work/file"
FAKE=found
ok "shape: nodemap" shape nodemap nodemap
FAKE=
ok "shape: nodemap sync" shape nodemap_sync nodemap sync cat "$work/file"
unset SANX_MACHINE_ID_FILE
"$sanxctl" ports add deny in from 10.0.0.0/8 22
ok "shape: ports, with an address" shape ports ports
"$sanxctl" ports add deny explicit 70000
ok "shape: ports" shape ports ports
ok "shape: ports apply" shape ports_apply ports apply
ok "shape: key" shape key key
key "$good"
ok "shape: key add" shape key_add key add 2 "$work/key"
ok "shape: key generate" shape key_generate key generate
ok "shape: key add, an error" shape error key add x "$work/key"
for object in link rail stats doctor help; do
	ok "shape: $object" shape $object $object
done
ok "shape: socket" shape socket socket show all
ok "shape: socket, with processes" shape socket socket show all -p -m
ok "shape: stats describe" shape stats_describe stats describe
# shellcheck disable=SC2016
ok "shape: counters mean there what describe says" is "$(python3 -c '
import json, sys
told = json.load(open(sys.argv[1]))["$defs"]["stats"]["properties"]
print(json.dumps({key: value["description"] for key, value in told.items()}))' \
	"$here/../../Documentation/sanxctl.schema.json")" \
	"$("$sanxctl" -j stats describe | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)))')"
ok "shape: socket kill" shape socket_kill socket kill node 2
ok "shape: link reset" shape link_reset link reset 2
ok "shape: monitor" shape monitor monitor
ok "shape: top" shape top top count 1
ok "shape: top by node" shape top top count 1 by node
ok "shape: top by program" shape top top count 1 by program
ok "shape: explain a host" shape explain_host explain 10.0.0.2 80
ok "shape: explain all" shape explain explain
ok "shape: version" shape version -V
ok "shape: one that is wrong is seen" test "$(shape rail link 2>&1 | grep -c ValidationError)" -gt 0
"$sanxctl" nodemap flush
"$sanxctl" ports flush

### Grammar

ok "ambiguous object" says 1 "" 'Error: object "s" is ambiguous: socket or stats.' s
ok "unknown object" says 1 "" 'Error: object "x" is unknown, try "sanxctl help".' x
ok "empty object" says 1 "" 'Error: object "" is unknown, try "sanxctl help".' ""
ok "unknown object, JSON" says 1 "[]" 'Error: object "x" is unknown, try "sanxctl help".' -j x
ok "unknown command" says 1 "" \
	'Error: command "x" is unknown, try "sanxctl link help".' link x
ok "unknown option" says 1 "" 'Error: option "-x" is unknown, try "sanxctl -help".' -x link
ok "unknown option after -j" says 1 "[]" \
	'Error: option "-x" is unknown, try "sanxctl -help".' -j -x link
ok "show takes nothing" says 1 "[]" 'Error: argument "x" is one too many.' -j link show x
ok "socket: an unknown word" says 1 "[]" 'Error: "x" is unknown, try "sanxctl socket help".' -j socket show x
ok "no object" is "$("$sanxctl" 2>/dev/null; echo $?)" 1
for option in -j -json --json "-j -p" "-json -pretty" "-p -j"; do
	# shellcheck disable=SC2086
	ok "option $option" json 'len(doc)' 1 $option link
done
for words in "link -j" "link show -j" "l s --json" "-p link -j" "link -j -p" "link -js"; do
	# shellcheck disable=SC2086
	ok "options anywhere: $words" json 'len(doc)' 1 $words
done
ok "options anywhere: another's -p" json 'doc[0]["users"]' "[]" socket show -p -j
ok "options anywhere: not those of a command" says 0 "changed" "" nodemap sync sh -c "echo 10.0.0.1 1" -j
ok "options anywhere: not behind --" says 1 "" 'Error: argument "--" is one too many.' link show -- -j
ok "options anywhere: help" is "$("$sanxctl" link show -h)" "$("$sanxctl" link help)"
ok "options anywhere: version" is "$("$sanxctl" link -V)" "$("$sanxctl" -V)"
ok "options anywhere: unknown" says 1 "" 'Error: argument "-x" is one too many.' link show -x
ok "a namespace that is not there" says 1 "[]" \
	'Error: network namespace "no-such": No such file or directory.' -j link -n no-such
ok "a namespace, no name" says 1 "" "Error: the name of a network namespace is missing." link -n
ok "a namespace by path" is "$("$sanxctl" -n /dev/null link 2>&1)" \
	'Error: network namespace "/dev/null": Invalid argument.'
ok "version" is "$("$sanxctl" -V | wc -l)" 1
ok "version, JSON" json 'list(doc)' "['version']" -j -V
for object in "" nodemap ports key link rail socket stats explain doctor; do
	# shellcheck disable=SC2086
	ok "help: sanxctl $object" is "$("$sanxctl" $object help | head -c 14)" "Usage: sanxctl"
done
ok "help, JSON" json 'list(doc)' "['help']" -j link help

### Misfortune

for object in nodemap ports link rail socket stats; do
	none="[]"
	[ $object != stats ] || none="{}"
	ok "$object: no module" env FAKE=absent bash -c \
		"[ \"\$($sanxctl -j $object 2>&1)\" = \"\$(printf 'Error: AF_SANX is not loaded (try: modprobe af_sanx).\n$none')\" ]"
	ok "$object: no module, status" is "$(FAKE=absent "$sanxctl" $object 2>/dev/null; echo $?)" 1
done
FAKE=denied
ok "denied" says 1 "" \
	"Error: Operation not permitted (CAP_NET_ADMIN is needed)." nodemap flush
FAKE=broken
ok "a dump that fails shows nothing" says 1 "" "Error: Input/output error." link
ok "a dump that fails shows nothing, JSON" says 1 "[]" "Error: Input/output error." -j link
FAKE=interrupted
ok "a dump that changed is made again" is "$("$sanxctl" socket | wc -l)" 3
ok "a dump that changed is made again, JSON" json 'len(doc)' 2 -j socket
FAKE=
ok "nowhere to write" is "$("$sanxctl" socket 2>&1 >/dev/full; echo $?)" \
"Error: standard output: No space left on device.
1"
ok "nowhere to write, JSON" is "$("$sanxctl" -j socket 2>&1 >/dev/full; echo $?)" \
"Error: standard output: No space left on device.
1"

tap_done
