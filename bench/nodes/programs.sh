# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The programs, as Debian has them: server, client, and how the client's words
# become figures, a line each: MEASURE NUMBER VALUE.  Latencies are us, half a
# round trip; streams are MB/s, 10^6 bytes.

# PORT is another each time: a port that was used is not free at once.
SERVER=10.77.0.1
# Sizes to show of those that NetPIPE goes through.
NETPIPE_SIZES="1 64 256 1024 4096 16384 65536"
# The same number of messages for every path; of seven times the best counts.
NETPIPE="-p 0 -l 1 -u 65536 -n 10 -o /dev/null"
# The sockets that it is given, rather than rsockets by itself.
RSTREAM="-T s -S 65536 -I 1 -C 150"

server_of() {
	case $1 in
	sockperf) echo "sockperf server --tcp -i $SERVER -p $PORT" ;;
	iperf3) echo "iperf3 -s -4 -p $PORT" ;;
	qperf) echo "qperf -lp $PORT" ;;
	netpipe) echo "NPtcp $NETPIPE -P $PORT" ;;
	rstream) echo "rstream $RSTREAM -p $PORT" ;;
	*) die "there is no program '$1' to measure with" ;;
	esac
}

client_of() {
	case $1 in
	# An emulated node's time stamp counter is not what it says it is.
	sockperf) echo "sockperf ping-pong --tcp --no-rdtsc -i $SERVER -p $PORT -t 2 -m 64" ;;
	iperf3) echo "iperf3 -4 -c $SERVER -p $PORT -t 2 -J" ;;
	qperf) echo "qperf $SERVER -lp $PORT -uu -t 1 -m 1 tcp_lat -m 64K tcp_bw" ;;
	netpipe) echo "NPtcp $NETPIPE -P $PORT -h $SERVER 2>&1" ;;
	rstream) echo "rstream $RSTREAM -p $PORT -s $SERVER" ;;
	esac
}

# figures_of PROGRAM: from what its client said.
figures_of() {
	case $1 in
	sockperf) sed -n 's/^sockperf: ---> percentile 50.000 = */sockperf 64 /p' ;;
	iperf3) jq -r '"iperf3 131072 \(.end.sum_received.bits_per_second / 8e6)"' ;;
	qperf) awk '$1 == "latency" { print "qperf_lat 1", $3 / 1000 }
		$1 == "bw" { print "qperf_bw 65536", $3 / 1e6 }' ;;
	netpipe) awk -v sizes="$NETPIPE_SIZES" 'BEGIN { split(sizes, s); for (i in s) want[s[i]] }
		$3 == "bytes" && $2 in want { print "netpipe", $2, $(NF - 1) }' ;;
	rstream) awk '$1 == "custom" { print "rstream 65536", 65536 / $NF }' ;;
	esac
}
