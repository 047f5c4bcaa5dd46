#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What an operator sees while two nodes work and a cable is pulled: sanxctl monitor and top;
# and sanxctl link reset.
# kernels: um
# clock: virtual a cable is out until the link is lost
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

EVENTS=/tmp/live.events

clean_up() {
	lab wire mend
	node2 "pkill sanxctl; rm -f $EVENTS; true" </dev/null
	stop_all
}

# told JQ: the events at node 2 for which that is true.
told() {
	lab run 2 "cat $EVENTS" </dev/null | jq -c "select($1)"
}

# tells NAME JQ: there is such an event, or will be.
tells() {
	if eventually 60 "[ -n \"\$(told '$2')\" ]"; then
		ok "$1"
	else
		told true | tail -n 20 | sed 's/^/# /'
		fail "$1"
	fi
}

forget_events() {
	node2 ": >$EVENTS" </dev/null
}

# listen ARGS...: sanxctl monitor at node 2, which has told something.
listen() {
	node2 "pkill sanxctl; : >$EVENTS; (sanxctl -j monitor $* >>$EVENTS 2>&1 &)" </dev/null
	check "monitor $*: it listens" eventually 30 "node2 'grep -q sanxctl /proc/*/comm' </dev/null"
	pause 1
}

connections() {
	listen
	check "a connection" peer 2 connect 10.77.0.1 5003 both 1000 shut end
	tells "the link comes up" ".event == \"link\" and .state == \"up\" and .node == 1 and .transport == \"$TRANSPORT\""
	tells "the rail is well" '.event == "rail" and .state == "up" and .node == 1'
	tells "a connection is there" \
		".event == \"socket\" and .state == \"ESTAB\" and .remote == \"10.77.0.1:5003\" and .transport == \"$TRANSPORT\" and .node == 1"
	tells "and has ended, with its bytes" \
		'.event == "socket" and .state == "CLOSED" and .remote == "10.77.0.1:5003" and .tx_bytes == 1000 and .rx_bytes == 1000'
	check "one that becomes TCP" peer 2 connect 10.77.0.1 5004 both 1000 shut end
	tells "it says why" '.event == "socket" and .transport == "tcp" and .fallback == "refused" and .remote == "10.77.0.1:5004"'
	node2 "$PEER connect 192.0.2.1 5004 2>/dev/null; true" </dev/null
	tells "where one goes that is TCP at once" '.fallback == "unmapped" and .remote == "192.0.2.1:5004"'
	check "over loop" peer 2 connect 10.77.0.2 5007 both 1000 shut end
	tells "each end is told" '.transport == "loop" and .state == "ESTAB" and .local == "10.77.0.2:5007"'
	tells "that of the client, too" '.transport == "loop" and .state == "ESTAB" and .remote == "10.77.0.2:5007"'
}

# shapes: each event is as the schema has it.
shapes() {
	# shellcheck disable=SC2016
	if told true | python3 -c '
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
schema["$ref"] = "#/$defs/monitor"
n = 0
for line in sys.stdin:
	jsonschema.validate(json.loads(line), schema)
	n += 1
assert n > 5, "too few"' "$SANX_TREE/Documentation/sanxctl.schema.json"; then
		ok "events are as the schema has them"
	else
		fail "events are as the schema has them"
	fi
}

# busiest BY: what node 2 shows of a second.
busiest() {
	lab run 2 "sanxctl -j top by $1 count 1" </dev/null
}

cable() {
	background 2 "$PEER" -T $((PATIENCE * 10)) connect 10.77.0.1 5005 ping 100000000
	tells "a stream" '.remote == "10.77.0.1:5005" and .state == "ESTAB"'
	is "top: what it moves" "$(busiest socket | jq '.[0] | .remote == "10.77.0.1:5005" and
		.tx_bytes_per_sec > 0 and .rx_bytes_per_sec > 0')" true
	is "top: by node" "$(busiest node | jq '.[0] | .node == 1 and .conns == 1 and .tx_bytes_per_sec > 0')" true
	is "top: by program" "$(busiest program | jq -r '.[0].program')" peer
	is "top: another user sees no program" \
		"$(lab run 2 'setpriv --reuid 65534 sanxctl -j top count 1' </dev/null | jq -r '.[0].program')" -
	forget_events
	lab wire cut
	tells "the cable is out: the link ends, and why" '.event == "link" and .state == "dying" and .why != null'
	tells "the cable is out: the rail" '.event == "rail" and .state != "up" and .cause != null'
	lab wire mend
	tells "the cable is in: the link" '.event == "link" and .state == "up"'
	tells "the cable is in: the rail" '.event == "rail" and .state == "up"'
}

reset() {
	forget_events
	is "reset: a node that has no links" "$(lab run 2 'sanxctl -j link reset 9' </dev/null)" '{"ended":0}'
	check "reset: all to a node" test "$(lab run 2 'sanxctl -j link reset 1' </dev/null | jq .ended)" -gt 0
	tells "reset: they end" '.event == "link" and .state == "dying"'
	tells "reset: and come again" '.event == "link" and .state == "up"'
	is "reset: one lane" "$(lab run 2 'sanxctl -j link reset 1 lane 0' </dev/null)" '{"ended":1}'
	tells "reset: it comes again" '.event == "link" and .lane == 0 and .state == "up"'
	is "reset: not by everybody" \
		"$(lab run 2 'setpriv --reuid 65534 sanxctl link reset 1 2>&1' </dev/null)" \
		"Error: Operation not permitted (CAP_NET_ADMIN is needed)."
	remember 2
	check "the stream goes on" eventually 60 "[ \$(moved 2 tx_bytes) -gt 0 ]"
	is "and never was reset" "$(stat 1 resets) $(stat 2 resets)" "0 0"
}

# What is told: only what was asked for, only there.
filters() {
	listen rail
	check "monitor rail: a connection" peer 2 connect 10.77.0.1 5003 both 1000 shut end
	is "monitor rail: no socket" "$(told '.event == "socket"')" ""
	node2 "pkill sanxctl; : >$EVENTS; (unshare -n sanxctl -j monitor >>$EVENTS 2>&1 &)" </dev/null
	pause 1
	check "another namespace: a connection" peer 2 connect 10.77.0.1 5003 both 1000 shut end
	is "another namespace: is told nothing" "$(told true)" ""
	node2 "pkill sanxctl; : >$EVENTS; (setpriv --reuid 65534 sanxctl -j monitor >>$EVENTS 2>&1 &)" </dev/null
	pause 1
	check "any user: a connection" peer 2 connect 10.77.0.1 5003 both 1000 shut end
	tells "any user: is told" '.event == "socket"'
	is "in words" "$(node2 "(timeout 2 sanxctl monitor socket & sleep 1
		$PEER -T 60 connect 10.77.0.1 5003 both 1000 shut end >/dev/null; wait) | sed -n 1p |
		cut -d ' ' -f 2-3" </dev/null)" "socket ESTAB"
}

# Nobody reads for a while: what is lost is told, and what comes later as well.
lost() {
	listen socket
	node2 'pkill -STOP sanxctl' </dev/null
	check "lost: connections" peer 2 -n 300 connect 10.77.0.2 5007 both 1000 shut end
	node2 'pkill -CONT sanxctl' </dev/null
	check "lost: it says so" eventually 30 "node2 'grep -q \"events were lost\" $EVENTS' </dev/null"
	forget_events
	check "lost: another connection" peer 2 connect 10.77.0.2 5007 both 1000 shut end
	tells "lost: is told" '.event == "socket" and .state == "CLOSED"'
}

# One that goes while it has a listener, connections and events that were not sent yet; what is
# left of it keeps the module, or is a leak.
namespace() {
	local i
	for i in 1 2 3; do
		node2 "ip netns add gone && ip -n gone link set lo up
			(ip netns exec gone sanxctl monitor >/dev/null 2>&1 &)
			(ip netns exec gone $PEER -T 60 listen 5008 both 1000 end >/dev/null 2>&1 &)
			until ip netns exec gone ss -Hltn 'sport = :5008' | grep -q .; do sleep 0.1; done
			(ip netns exec gone $PEER -T 60 -n 1000 connect 127.0.0.1 5008 both 1000 shut end >/dev/null 2>&1 &)
			until ip netns exec gone sanxctl -j stats show | grep -q '\"conns_loop\": *[1-9]'; do sleep 0.1; done
			kill -9 \$(ip netns pids gone); ip netns del gone" </dev/null || return
	done
}

plan 45
at_exit clean_up
load_verbs
printf '%s\n' "10.77.0.1 1" "10.77.0.2 2" | nodemap_load
serve 1 5003 both 1000 end
OPTS=-t serve 1 5004 both 1000 end
serve 1 5005 echo
serve 2 5007 both 1000 end
connections
shapes
cable
reset
filters
lost
check "namespaces that go" namespace
