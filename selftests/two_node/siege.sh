#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two good nodes, 1 and 2, with connections of every kind between them (bin/soak.c),
# beside two hostile ones: node 3 attacks node 1, node 4 attacks node 2, with one case
# of bin/hostile.c after the other, at random.  The good ones must not notice more of it
# than of nodes that are busy with themselves.  SIEGE_MINUTES says how long.
# timeout: 14400
# long: an hour; make siege
# kernels: um
# nodes: 4
# no rail: the hostile peers are programs that speak RDMA
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

SOAK=$BIN/soak
HOSTILE=$BIN/hostile
MINUTES=${SIEGE_MINUTES:-60}
LIMIT=$((60 * SLOW))
PATIENCE=$((MINUTES * 60))
# Not for this: they wait for a partner, or until they are told.
NOT_HERE="^(answer-behind|mute|rate|resume-rate|conns|half-open|setups|resume-instance)$"

bring_up() {
	local n
	load_verbs
	for n in 3 4; do lab run "$n" rmmod sanx_verbs </dev/null; done
	for n in 1 2; do
		lab run "$n" sanxctl nodemap load - <<-END
			10.77.0.1 1
			10.77.0.2 2
			10.77.0.3 3
			10.77.0.4 4
		END
		# Targets of the attacks.
		serve "$n" 5001 sleep 14400000
		serve "$n" 5002 echo
	done
	OPTS=-t serve 3 5006 echo
	OPTS=-t serve 4 5006 echo
}

# soak N: servers and clients of node N.
SERVER_LOG=() CLIENT_LOG=()
soak_servers() {
	background "$1" "$SOAK" -k -T "$LIMIT" serve 7000
	SERVER_LOG[$1]=$LAST_LOG
	wait_port "$1" 7000
	wait_port "$1" 7001
}

soak_clients() {
	background "$1" "$SOAK" -k -s "$1" -T "$LIMIT" -d $((MINUTES * 60)) call 7000 "10.77.0.$((3 - $1))"
	CLIENT_LOG[$1]=$LAST_LOG
}

# figure NAME: added up over both nodes, clients and servers.
figure() {
	cat "${CLIENT_LOG[@]}" "${SERVER_LOG[@]}" | awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }'
}

# attack N: one case after the other, until there is a file /tmp/peace; the node that it
# attacks is two numbers below.  Now and then the attacker waits to be asked.
attack() {
	local victim=$(($1 - 2))
	background "$1" "export US=$1 THEM=$victim
		$HOSTILE list | grep -vE '$NOT_HERE' >/tmp/cases
		$HOSTILE serves >>/tmp/cases
		while [ ! -e /tmp/peace ]; do
			name=\$(shuf -n 1 /tmp/cases)
			case \$name in
			serve-*) where=10.77.0.$1 ;;
			*) where=10.77.0.$victim ;;
			esac
			timeout 8 $HOSTILE \$where \$name
		done"
	ATTACK_LOG[$1]=$LAST_LOG
	background "$victim" "while [ ! -e /tmp/peace ]; do
			timeout 8 $PEER connect 10.77.0.$1 5006 ping 1 shut end
			sleep 1
		done >/dev/null 2>&1"
}
ATTACK_LOG=()

# busy N: as busy as an attacker, with itself.
busy() {
	background "$1" "while [ ! -e /tmp/peace ]; do :; done"
}

# exchanges: between the good nodes, in some seconds; done by a busy program.
PROBES=5
exchanges() {
	local i ms=()
	for ((i = 0; i < PROBES; i++)); do
		took_ms peer 2 connect 10.77.0.1 5002 ping 2000 shut end >/dev/null || MS=999999
		ms+=("$MS")
	done
	printf '%s\n' "${ms[@]}" | sort -n | sed -n "$((PROBES / 2 + 1))p"
}

plan 7
bring_up
remember 1 2
busy 3
busy 4
QUIET=$(exchanges)
lab run 3 touch /tmp/peace </dev/null
lab run 4 touch /tmp/peace </dev/null
sleep 2
lab run 3 rm /tmp/peace </dev/null
lab run 4 rm /tmp/peace </dev/null
attack 3
attack 4
BESIEGED=$(exchanges)
for n in 1 2; do soak_servers "$n"; done
for n in 1 2; do soak_clients "$n"; done
check "the clients come to their end" eventually $((MINUTES * 60 / SLOW + LIMIT + 60)) \
	"grep -q ^done '${CLIENT_LOG[1]}' && grep -q ^done '${CLIENT_LOG[2]}'"
for n in 1 2 3 4; do lab run "$n" touch /tmp/peace </dev/null; done
sleep $((2 * SLOW))
for n in 1 2; do lab run "$n" "pkill -TERM -o -f '[s]oak .*serve'" </dev/null || true; done
check "and the servers" eventually 30 \
	"grep -q ^done '${SERVER_LOG[1]}' && grep -q ^done '${SERVER_LOG[2]}'"
echo "# 2000 exchanges: $QUIET ms beside busy nodes, $BESIEGED ms beside hostile ones"
for n in 1 2; do
	for key in conns_verbs conns_fallback resets protocol_errors links_refused requests_refused \
		requests_delayed memory_refused; do
		echo "#   node $n $key $(moved "$n" "$key")"
	done
done
cat "${ATTACK_LOG[3]}" "${ATTACK_LOG[4]}" | sort | uniq -c | sort -rn | sed 's/^/#   attacks: /' | head -n 20
grep -h ^ERROR "${CLIENT_LOG[@]}" "${SERVER_LOG[@]}" | sed 's/^/# /' | head -n 50 || true
attacks=$(cat "${ATTACK_LOG[3]}" "${ATTACK_LOG[4]}" | wc -l)
check "attacks: $attacks" test "$attacks" -ge $((MINUTES * 10))
check "connections between the good ones: $(figure connections)" test "$(figure connections)" -ge $((MINUTES * 20))
is "no byte is wrong: $(figure received) received" "$(figure wrong_bytes)" 0
is "nothing hangs" "$(figure hangs)" 0
is "no error but those of who was killed" "$(figure errors)" 0
