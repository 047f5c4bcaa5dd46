#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanxctl doctor: what it finds on a node that is broken, each time in another way, and that
# it finds nothing wrong on one that works.  What sanxctl writes as JSON has the shape that
# Documentation/sanxctl.schema.json says.
# kernels: um
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# finds NAME HOW TEXT: node 2 finds something with TEXT in it, which is HOW; the exit status
# says whether something is bad.
finds() {
	local name=$1 how=$2 text=$3 out rc=0
	out=$(lab run 2 "sanxctl -j doctor" </dev/null) || rc=$?
	if jq -e --arg how "$how" --arg text "$text" \
		'any(.[]; .finding == $how and (.text | contains($text)))' <<<"$out" >/dev/null; then
		ok "$name"
	else
		fail "$name: $(jq -r '.[] | .finding + " " + .text' <<<"$out")"
	fi
	is "$name: the exit status" "$rc" "$(jq 'if any(.[]; .finding == "bad") then 1 else 0 end' <<<"$out")"
}

well() {
	is "$1" "$(lab run 2 "sanxctl -j doctor" </dev/null | jq -r '[.[] | select(.finding == "bad").text] | join("; ")')" ""
}

node_map() {
	put 2 "10.77.0.1 1"
	finds "not in its own map" bad "no address of this node is in its node map"
	put 2 "10.77.0.1 1" "10.77.0.2 2 10.78.0.2"
	[ -n "$RAIL" ] || finds "a rail that it does not have" bad "this node does not have 10.78.0.2"
	node2 'sanxctl nodemap flush' </dev/null
	finds "no map" bad "the node map is empty"
	same_maps
}

devices() {
	[ -z "$RAIL" ] || { finds "no device" note "has no RDMA device"; return; }
	finds "a device of software" note "in software"
	node2 'rmmod sanx_verbs' </dev/null
	finds "no sanx_verbs" bad "sanx_verbs is not loaded"
	insert_verbs 2
	node2 "rdma link delete ${RDMA:-rxe}0" </dev/null
	finds "the device is gone" bad "eth0 has no RDMA device"
	lab rdma 2 "${RDMA:-rxe}"
}

peers() {
	put 1 "10.77.0.1 1"
	peer 2 connect 10.77.0.1 5003 both 1000 shut end >/dev/null 2>&1 || true
	finds "the other node refuses" bad "its node map"
	same_maps
	forget
	peer 2 connect 10.77.0.1 5003 both 1000 shut end >/dev/null 2>&1 || true
	finds "there is a link" ok "there is a link to 10.77.0.1"
	well "all is well again"
	node2 "sanxctl rail set ${RAIL:+tcp:}10.77.0.2 drain" </dev/null
	finds "a rail to be left free" note "is to be left free"
	node2 "sanxctl rail set ${RAIL:+tcp:}10.77.0.2 up" </dev/null
}

# A second rail, on a device that is down.
cable() {
	node2 'ip addr add 10.78.0.2/24 dev eth1' </dev/null
	[ -n "$RAIL" ] || node2 'rdma link add rxe1 type rxe netdev eth1' </dev/null
	put 2 "10.77.0.1 1 10.77.0.1 10.78.0.1" "10.77.0.2 2 10.77.0.2 10.78.0.2"
	finds "a cable that is out" bad "$([ -n "$RAIL" ] && echo "no carrier" || echo "not active")"
	[ -n "$RAIL" ] || node2 'rdma link delete rxe1' </dev/null
	node2 'ip addr flush dev eth1' </dev/null
	same_maps
}

# shape NAME COMMAND: what node 2 writes there is as the schema has NAME.
shape() {
	# shellcheck disable=SC2016
	if lab run 2 "sanxctl -j $2" </dev/null | python3 -c '
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
schema["$ref"] = "#/$defs/" + sys.argv[2]
doc = json.load(sys.stdin)
assert doc, "nothing in it"
jsonschema.validate(doc, schema)' "$SANX_TREE/Documentation/sanxctl.schema.json" "$1"; then
		ok "shape: $2"
	else
		fail "shape: $2"
	fi
}

shapes() {
	local what
	background 2 "$PEER" -T $((PATIENCE * 10)) connect 10.77.0.1 5005 ping 100000000
	check "a connection is there" eventually 30 \
		"lab run 2 'sanxctl socket show dport 5005 state established' </dev/null | grep -q 5005"
	for what in nodemap link rail stats doctor explain; do shape $what $what; done
	shape socket "socket show all -p -m"
	shape explain_host "explain 10.77.0.1 5003"
	shape explain_host "explain 10.77.0.99"
	shape explain_pid "explain pid \$(pgrep -o peer)"
}

without_module() {
	stop_all
	unload_sanx 2
	finds "no module" bad "af_sanx is not loaded"
}

if [ -n "$RAIL" ]; then plan 29; else plan 35; fi
at_exit stop_all
load_verbs
same_maps
serve 1 5003 both 1000 end
serve 1 5005 echo
well "all is well"
node_map
devices
peers
cable
shapes
without_module
