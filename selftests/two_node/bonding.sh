#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two RDMA rails and one of TCP: what "sanxctl rail" says and does with traffic running,
# connections spread over rails, and ports that lose their carrier.
# kernels: um
# no rail: the node map has rails of both kinds
# full: how long moves take is measured by the clock
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/clients.sh
. "$(dirname "$0")/clients.sh"
# shellcheck source=SCRIPTDIR/rail_devices.sh
. "$(dirname "$0")/rail_devices.sh"

# The peer that does not answer is what this is about.
LINK_TIMEOUT_MS=$((3000 * SLOW))

# Seconds until all are on another rail.
BOUND=$((20 * SLOW))
HOLD=$((500 * SLOW))
# Streams that are spread; by turns, over two rails.
STREAMS=8

map_rails() {
	nodes 'sanxctl nodemap load - <<-END
		10.77.0.1 1 rdma:10.78.0.1 rdma:10.79.0.1 tcp:10.77.0.1
		10.77.0.2 2 rdma:10.78.0.2 rdma:10.79.0.2 tcp:10.77.0.2
		END'
}

clean_up() {
	rm -f "$LAB_RUN/share/$OVER"
	stop_all
	nodes "sysctl -qw net.sanx.rail_policy=in-order
		for i in 10.78 10.79; do
			for n in 1 2; do sanxctl rail set \$i.0.\$n up weight 1; done
		done
		sanxctl rail set tcp:10.77.0.1 up; sanxctl rail set tcp:10.77.0.2 up" \
		>/dev/null 2>&1 || true
	eventually 20 "nodes '[ ! -d /sys/module/sanx_verbs ] || rmmod sanx_verbs'" 2>/dev/null || true
	remove_rails
}

# rail N NUMBER FILTER: of node N's rail NUMBER to the other node.
rail() {
	lab run "$1" "sanxctl -j rail show" </dev/null |
		jq -r --argjson number "$2" ".[] | select(.rail == \$number) | $3"
}

# rails N FILTER: of all of node N's rails, in order.
rails() {
	lab run "$1" "sanxctl -j rail show" </dev/null |
		jq -r "[sort_by(.rail)[] | $2] | map(tostring) | join(\" \")"
}

# by_rail NUMBER: on both nodes, all clients' connections are there.
by_rail() {
	[ "$(rail 1 "$1" .conns)" = "$CLIENTS" ] && [ "$(rail 2 "$1" .conns)" = "$CLIENTS" ]
}

# moves_to NUMBER WHAT
moves_to() {
	all_move "by_rail $1" "$2"
}

# moved_because N CAUSE: node N's links for connections say so.
moved_because() {
	[ "$(lab run "$1" 'sanxctl -j link show' </dev/null |
		jq -r '[.[] | select(.up_secs and (.standby | not) and .moves > 0) | .moved] |
			unique | join(" ")')" = "$2" ]
}

set_rail() {
	local n=$1
	shift
	lab run "$n" sanxctl rail set "$@" </dev/null
}

settings() {
	check "an address that is no rail is refused" node1 '! sanxctl rail set 10.1.2.3 down 2>/dev/null'
	check "and one of another kind" node1 '! sanxctl rail set tcp:10.78.0.1 down 2>/dev/null'
	check "a user cannot set one" node1 "! setpriv --reuid 65534 --clear-groups \
		sanxctl rail set 10.78.0.1 down 2>/dev/null"
	is "rails are listed before their node is used" "$(rails 1 .state)" "idle idle idle"
	is "with their addresses" "$(rails 2 '.local + "-" + .remote')" \
		"10.78.0.2-10.78.0.1 10.79.0.2-10.79.0.1 10.77.0.2-10.77.0.1"
	is "and their kind" "$(rails 1 .transport)" "verbs verbs tcp-rail"
}

drained() {
	start_clients
	check "all begin on rail 0" eventually 10 "by_rail 0"
	for n in 1 2; do
		check "node $n sees that the others work, too" eventually $BOUND \
			"[ \"\$(rails $n .state)\" = 'up up up' ]"
	done
	is "links that carry nothing say so" "$(lab run 1 'sanxctl -j link' </dev/null |
		jq -r '[.[] | select(.standby) | .rail] | sort | join(" ")')" "1 2"
	check "bytes are counted" [ "$(rail 1 0 '.tx_bytes > 100000 and .rx_bytes > 100000')" = true ]
	check "a round trip is known" [ "$(rail 2 0 '.rtt_ns > 0')" = true ]
	is "no error" "$(rails 1 .errors) $(rails 2 .errors)" "0 0 0 0 0 0"

	# By the node that does not move lanes otherwise.
	set_rail 2 10.78.0.2 drain
	moves_to 1 "node 2 drains rail 0"
	check "and says why" moved_because 2 admin
	is "it is shown" "$(rail 2 0 '.admin + " " + (.links | tostring)')" "drain 0"
	sleep $((3 * SLOW))
	check "they stay there" by_rail 1
	set_rail 2 10.78.0.2 up
	moves_to 0 "it is up again"

	set_rail 1 10.79.0.2 down
	check "a spare that is down has no link" eventually $BOUND \
		"[ \"\$(rail 1 1 '.state + (.links | tostring)')\" = down0 ]"
	set_rail 1 10.78.0.1 down
	moves_to 2 "node 1 takes both out of service"
	set_rail 1 10.79.0.2 up
	moves_to 1 "one is up"
	set_rail 1 10.78.0.1 up
	moves_to 0 "the other is up"
}

# shellcheck disable=SC2016 # a node knows its number
all_drained() {
	nodes 'for i in 10.78 10.79; do sanxctl rail set $i.0.$NODE drain; done
		sanxctl rail set tcp:10.77.0.$NODE drain'
	sleep 1
	check "all are drained: connections go on" carries
	check "all are drained: none has ended" none_ended
	serve 1 5070 echo
	remember 2
	check "a new one is made" peer 2 connect 10.77.0.1 5070 ping 10 shut end
	check "by TCP" moves 2 fallback_link=1
	is "that is the way it is shown" "$(rails 1 .admin)" "drain drain drain"
	nodes 'for i in 10.78 10.79; do sanxctl rail set $i.0.$NODE up; done
		sanxctl rail set tcp:10.77.0.$NODE up'
	check "afterwards new ones are accelerated" eventually $BOUND \
		"remember 2; peer 2 connect 10.77.0.1 5070 ping 10 shut end && moves 2 conns_verbs=1"
	moves_to 0 "afterwards"
}

# Nobody waits until the rail has been silent for too long.
unplugged() {
	nodes "echo $((20000 * SLOW)) >/sys/module/af_sanx/parameters/failover_ms"
	stall_begin
	rail_down 1 1
	check "a port goes down: all move" eventually $BOUND "by_rail 1"
	stall_end
	below "and at once" "$STALL" $((2000 * SLOW))
	echo "# $STALL ms"
	nodes "echo 2000 >/sys/module/af_sanx/parameters/failover_ms"
	is "it is shown" "$(rail 1 0 .state)" no-carrier
	check "and they go on" carries
	check "none has ended" none_ended
	rail_up 1 1
	moves_to 0 "the port is up again"
}

# gid_index: of node 1's first rail, in the table of its RDMA device.
gid_index() {
	lab run 1 'grep -ls 0000:0000:0000:0000:0000:ffff:0a4e:0001 \
		/sys/class/infiniband/rxe1/ports/1/gids/*' </dev/null | sed 's/.*\///'
}

# take_place INDEX: another address has the place of the GID in the table.  The place is
# free when no queue pair has the index any more.
take_place() {
	lab run 1 "ip addr add 10.81.0.1/24 dev rail1
		sleep 0.3
		grep -qs 0000:0000:0000:0000:0000:ffff:0a51:0001 \
			/sys/class/infiniband/rxe1/ports/1/gids/$1 ||
			! ip addr del 10.81.0.1/24 dev rail1"
}

# A queue pair has the index of a GID, and not the GID.
renumbered() {
	local before
	before=$(gid_index)
	lab run 1 'ip addr del 10.78.0.1/24 dev rail1' </dev/null
	moves_to 1 "the address goes"
	eventually 20 "take_place $before" || true
	lab run 1 'ip addr add 10.78.0.1/24 dev rail1' </dev/null
	moves_to 0 "it is there again"
	check "and its GID has another index ($before, $(gid_index))" \
		[ "$before" != "$(gid_index)" ]
	lab run 1 'ip addr del 10.81.0.1/24 dev rail1' </dev/null
}

# The device goes, with its address, which then is on another one: with another hardware
# address, and with an RDMA device of another name.
another_device() {
	lab run 1 'ip link del rail1' </dev/null
	moves_to 1 "the device goes"
	# shellcheck disable=SC2016
	lab run 1 'port=eth1
		[ -d /sys/class/net/$port ] || port=eth0
		ip link add rail3 link $port type macvlan mode bridge &&
		sysctl -qw net.ipv4.conf.rail3.arp_notify=1 && ip link set rail3 up &&
		ip addr add 10.78.0.1/24 dev rail3 && rdma link add rxe3 type rxe netdev rail3' </dev/null
	moves_to 0 "the address is on another device"
	is "which carries the links" "$(lab run 1 'sanxctl -j link show' </dev/null | jq -r '[.[] |
		select(.state == "up" and .conns > 0).device] | unique | join(" ")')" rxe3
	lab run 1 'ip link set rail3 name rail1 && rdma dev set rxe3 name rxe1' </dev/null
}

# spread PORT [SECONDS]: so many streams to node 1, which it drains.
spread() {
	local i
	serve 1 "$1" drain
	for i in $(seq "$STREAMS"); do
		client 2 "spread$i" "$1" flow "/share/$OVER" shut end
	done
}

lanes_of() {
	lab run "$1" "sanxctl -j link show" </dev/null |
		jq -r '[.[] | select(.state == "up" and (.standby | not)) | .rail] | sort |
			map(tostring) | join(" ")'
}

balanced() {
	[ "$(rails 1 .conns)" = "$1" ] && [ "$(rails 2 .conns)" = "$1" ]
}

# Half of them, give or take what was sent before all were there.
halves() {
	local a b
	a=$(rail 2 0 .tx_bytes) b=$(rail 2 1 .tx_bytes)
	a=$((a - $1)) b=$((b - $2))
	echo "# $a bytes on rail 0, $b on rail 1"
	[ "$a" -gt 100000 ] && [ "$b" -gt 100000 ] && [ $((a / 4)) -lt "$b" ] && [ $((b / 4)) -lt "$a" ]
}

# sent: bytes that node 2 has sent by all rails, and the time there in ms.
sent() {
	lab run 2 "sanxctl -j rail show; cat /proc/uptime" </dev/null |
		jq -rn 'input as $rails | [$rails[].tx_bytes] | add, ([inputs][0] * 1000 | floor)' |
		paste -sd ' '
}

# rate: bytes a second that node 2 sends by all rails, to RATE, in steady state.  The
# time is its own: commands take long on a busy host.
rate() {
	local bytes ms bytes_after ms_after
	sleep "$SLOW"
	read -r bytes ms < <(sent)
	sleep $((4 * SLOW))
	read -r bytes_after ms_after < <(sent)
	RATE=$(((bytes_after - bytes) * 1000 / (ms_after - ms)))
}

# policy_rate POLICY CONNS: the rate with that policy, when rails have those connections.
policy_rate() {
	nodes "sysctl -qw net.sanx.rail_policy=$1"
	eventually "$BOUND" "balanced '$2'" || {
		echo "# $1: not '$2'"
		return 1
	}
	rate
}

# doubles: do two rails carry twice as much as one?
doubles() {
	local one
	policy_rate in-order '8 0 0' || return 1
	one=$RATE
	policy_rate min-inflight '4 4 0' || return 1
	echo "# $one bytes a second over one rail, $RATE over two"
	[ $((RATE * 10)) -gt $((one * 17)) ]
}

# Rails that carry little more than half a MB/s, so that nothing else counts; but where
# other programs have the host's CPUs it carries less for a while.
twice() {
	limit 5mbit
	check "two carry twice as much as one" eventually $((2 * BOUND)) doubles
	limit
}

bonded() {
	local a b
	LOG=()
	SERVERS=()
	nodes 'sysctl -qw net.sanx.rail_policy=round-robin'
	is "the policy is what was set" "$(node1 'sysctl -n net.sanx.rail_policy')" round-robin
	check "no policy of another name" node1 \
		'! sysctl -qw net.sanx.rail_policy=random 2>/dev/null'
	check "each rail has a lane" eventually $BOUND "[ \"\$(lanes_of 1)\" = '0 1' ]"
	spread 5071
	check "connections are spread over both" eventually 10 "balanced '4 4 0'"
	a=$(rail 2 0 .tx_bytes) b=$(rail 2 1 .tx_bytes)
	sleep $((3 * SLOW))
	check "and so are their bytes" halves "$a" "$b"

	silence 2
	check "one falls silent: all are on the other" eventually $BOUND "balanced '8 0 0'"
	check "and go on" carries
	check "none has ended" none_ended
	speak 2
	check "it is heard again: it gets its part" eventually $BOUND "balanced '4 4 0'"
	check "lanes say why they moved" eventually 10 \
		"node2 'sanxctl link' | grep -q 'moved balance'"

	set_rail 1 10.78.0.1 weight 0
	check "no weight, no part" eventually $BOUND "balanced '0 8 0'"
	set_rail 1 10.78.0.1 weight 1
	check "its weight is back, and its part" eventually $BOUND "balanced '4 4 0'"
	twice
	check "none has ended" none_ended
	to_the_end
}

plan 82
at_exit clean_up
make_rails
map_rails
nodes "echo $HOLD >/sys/module/af_sanx/parameters/rail_hold_ms
	echo 2 >/sys/module/af_sanx/parameters/lanes
	insmod $MODULES/sanx_verbs.ko"
settings
drained
all_drained
unplugged
renumbered
another_device
to_the_end
stop_all
bonded
from_zero
is "no protocol error, no reset" \
	"$(for k in protocol_errors resets; do
		echo "$(moved 1 $k) $(moved 2 $k)"
	done | paste -sd ' ')" "0 0 0 0"
