# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The paths between two nodes: what each needs, what a program is run under, and
# whether what it did really went that way.

RSPRELOAD=/usr/lib/$(uname -m)-linux-gnu/rsocket/librspreload.so
SMC_PRELOAD=$SANX_TREE/build/bench/libsmc-preload.so

# known_to_fail PATH PROGRAM: what a peer cannot do.  rsockets have neither what
# these ask of a socket, nor a second connect() that says it is connected; on 6.1
# SMC's link breaks.
known_to_fail() {
	case "$1 $2" in
	"rsockets iperf3" | "rsockets qperf" | "rsockets sockperf") ;;
	"smc all") [ "$KERNEL" = 6.1 ] ;;
	*) return 1 ;;
	esac
}

# What most paths need is there for all of them, as they take turns.
setup_paths() {
	# An RDMA device of 1500 bytes would have packets of 1024.
	nodes ip link set eth0 mtu 9000
	with_verbs || return
	case $PATHS in *smc*) setup_smc ;; esac
}

# The path that the modules are loaded for.  Links go by TCP only without the verbs wire.
LOADED=""

with_verbs() {
	fresh && load_verbs && nodemap_std && LOADED=verbs
}

with_rail() {
	fresh && nodemap_rail && LOADED=tcp-rail
}

# ready PATH: others do not mind what is loaded.
ready() {
	[ "$1" != "$LOADED" ] || return 0
	case $1 in
	verbs) with_verbs && read_counters before ;;
	tcp-rail) with_rail && read_counters before ;;
	esac
}

# The rest of the run does without it.
setup_smc() {
	[ "$KERNEL" != 6.1 ] || {
		give_up smc all "not tried: on 6.1 its link breaks and callers hang in the kernel"
		return 0
	}
	nodes "modprobe smc && '$SANX_TREE/build/bench/smc' add eth0 rxe0" || {
		warn "AF_SMC cannot be set up"
		give_up smc all "cannot be set up"
	}
}

# under PATH: what goes before a command.
under() {
	case $1 in
	tcp) ;;
	verbs | tcp-rail) echo "sanx-run --strict" ;;
	rsockets) echo "env LD_PRELOAD=$RSPRELOAD" ;;
	smc) echo "env LD_PRELOAD=$SMC_PRELOAD" ;;
	*) die "no path between nodes is called '$1'" ;;
	esac
}

# went PATH: fails, and says why, if it was another, by what has been counted.
went() {
	case $1 in
	verbs) went_sanx conns_verbs ;;
	tcp-rail) went_sanx conns_tcp_rail ;;
	smc) went_smc ;;
	esac || return
	case $1 in
	tcp | tcp-rail) went_by tcp_segments ;;
	*) went_by rdma_packets ;;
	esac
}

# read_counters before|after: of both nodes.
read_counters() {
	local n pids=()
	for n in 1 2; do
		lab run "$n" "$SANX_TREE/bench/nodes/counters.sh" </dev/null >"$TMPDIR/$1.$n" &
		pids+=($!)
	done
	for n in "${pids[@]}"; do wait "$n" || die "a node does not answer"; done
}

# forget_counters: what is counted from here on is another's.
forget_counters() {
	local n
	for n in 1 2; do mv "$TMPDIR/after.$n" "$TMPDIR/before.$n"; done
}

# counted N KEY: by how much node N's counter moved.
counted() {
	local before after
	before=$(sed -n "s/^$2 //p" "$TMPDIR/before.$1")
	after=$(sed -n "s/^$2 //p" "$TMPDIR/after.$1")
	echo $((${after:-0} - ${before:-0}))
}

# moved PREFIX: the lines of counters that are not what they were, on either node.
moved() {
	local n
	for n in 1 2; do
		grep "^$1" "$TMPDIR/after.$n" | grep -vxFf "$TMPDIR/before.$n"
	done
}

# went_by KEY: of what the client sent nine parts in ten are counted there.
# TCP carries nothing but handshakes beside the others, and RDMA nothing but
# keepalives beside TCP.
went_by() {
	local mine all
	mine=$(counted 2 "$1")
	all=$(($(counted 2 tcp_segments) + $(counted 2 rdma_packets)))
	if [ "$mine" = 0 ] || [ $((mine * 10)) -lt $((all * 9)) ]; then
		echo "went elsewhere: $1 are $mine of $all"
		return 1
	fi
}

# either KEY: did it move on one of the nodes?
either() {
	[ "$(counted 1 "$1")" != 0 ] || [ "$(counted 2 "$1")" != 0 ]
}

# both KEY: did it on each?
both() {
	[ "$(counted 1 "$1")" != 0 ] && [ "$(counted 2 "$1")" != 0 ]
}

# went_sanx COUNTER: connections are counted there, at both ends.
went_sanx() {
	! either sanx_conns_fallback ||
		{ echo "fell back: $(moved sanx_fallback_ | sed 's/^sanx_//; s/ .*//' | paste -sd ' ')"; return 1; }
	both "sanx_$1" ||
		{ echo "went elsewhere: $1 is 0"; return 1; }
}

# The end that declines has the reason; "the peer declined" is the other's.
went_smc() {
	! either smc_fallback ||
		{ echo "fell back: $(smc_reasons)"; return 1; }
	both smc_smcr ||
		{ echo "went elsewhere: no connection was SMC-R"; return 1; }
}

smc_reasons() {
	moved smc_reason | cut -d ' ' -f 3- | sort -u |
		{ grep -vx 'the peer declined' || echo 'the peer declined'; } | paste -sd ';'
}
