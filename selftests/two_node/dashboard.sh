#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Documentation/grafana.json: each query of each panel has something to show, with figures of
# two nodes that work, are refused and lose a cable.  Prometheus reads them as it would read
# those of a node exporter, and promtool says whether the text is as it should be.  Grafana
# itself is no package of Debian: how the panels look is not tested.
# kernels: um
# timeout: 900
# long: needs a package that nothing else needs; make check-dashboard
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

BOARD=$SANX_TREE/Documentation/grafana.json
# Seconds between two looks at the nodes, and of what a rate is made.
EVERY=1 RANGE=10s
WEB=$((20000 + $$ % 10000)) DB=$((WEB + 1))

# publish: the figures of both nodes, as whole files.
publish() {
	local n
	for n in 1 2; do
		lab run "$n" sanxctl stats show --prometheus </dev/null >"$DIR/new" &&
			mv "$DIR/new" "$DIR/www/node$n"
	done
}

# program NAME COMMAND...: runs on the host until the test ends.
program() {
	local name=$1
	shift
	"$@" >"$DIR/$name.log" 2>&1 </dev/null &
	at_exit "kill $! 2>/dev/null"
}

prometheus_start() {
	cat >"$DIR/prometheus.yml" <<-END
		global:
		  scrape_interval: ${EVERY}s
		scrape_configs:
		  - job_name: sanx
		    static_configs: [targets: ["127.0.0.1:$WEB"]]
		    metrics_path: /node1
		    relabel_configs: [{target_label: instance, replacement: node1}]
		  - job_name: sanx2
		    static_configs: [targets: ["127.0.0.1:$WEB"]]
		    metrics_path: /node2
		    relabel_configs: [{target_label: instance, replacement: node2}]
	END
	program web python3 -m http.server --bind 127.0.0.1 --directory "$DIR/www" "$WEB"
	program prometheus prometheus --config.file="$DIR/prometheus.yml" --storage.tsdb.path="$DIR/db" \
		--web.listen-address="127.0.0.1:$DB"
}

# query EXPRESSION: the series that it gives, as JSON.
query() {
	curl -sf --data-urlencode "query=$1" "http://127.0.0.1:$DB/api/v1/query" | jq -c '.data.result // []'
}

# scraped N: Prometheus has had so many looks at each node.
scraped() {
	query "min(count_over_time(sanx_transmit_bytes_total[10m])) >= $1" | grep -q value
}

# work: something of all that is counted: each transport, each way to be TCP, datagrams, rails.
work() {
	peer 2 -n 20 connect 10.77.0.1 5003 both 100000 shut end >/dev/null
	peer 2 -n 3 connect 10.77.0.2 5003 both 1000 shut end >/dev/null
	peer 2 -n 3 connect 10.77.0.1 5004 both 1000 shut end >/dev/null
	node2 "for i in 1 2 3; do echo x | sanx-run --dgram socat -u - UDP:10.77.0.1:5003; done" </dev/null
}

figures() {
	local i
	for ((i = 0; i < 8; i++)); do
		work
		[ "$i" != 4 ] || lab wire cut
		[ "$i" != 4 ] || command sleep 3
		[ "$i" != 4 ] || lab wire mend
		publish
		command sleep "$EVERY"
	done
	eventually 60 'scraped 6'
}

# panels: TITLE<tab>EXPRESSION, a line each, with Grafana's variables set.
panels() {
	jq -r '.panels[] | .title as $t | (.targets // [])[] | "\($t)\t\(.expr)"' "$BOARD" |
		sed "s/\\\$__rate_interval/$RANGE/g; s/\\\$instance/.*/g"
}

# shows TITLE EXPRESSION: numbers, of at least one series.
shows() {
	local got
	got=$(query "$2")
	if jq -e 'length > 0 and all(.[]; .value[1] | test("^[0-9.e+-]+$"))' <<<"$got" >/dev/null; then
		ok "$1: $2"
	else
		fail "$1: $2: $got"
	fi
}

# not_still TITLE: the first query of that panel gives more than 0 somewhere.
not_still() {
	local title expression
	while IFS=$'\t' read -r title expression; do
		[ "$title" = "$1" ] || continue
		is "$1: not all is 0" "$(query "max($expression) > 0" | jq length)" 1
		return
	done < <(panels)
	fail "$1: there is no such panel"
}

command -v prometheus promtool >/dev/null || { echo "prometheus is missing: scripts/deps.sh dashboard"; exit 1; }
mapfile -t PANELS < <(panels)
plan $((${#PANELS[@]} + 9))
DIR=$(mktemp -d)
at_exit "rm -rf '$DIR'"
at_exit stop_all
mkdir "$DIR/www"
load_verbs
same_maps
serve 1 5003 both 100000 end
serve 2 5003 both 1000 end
OPTS=-t serve 1 5004 both 1000 end
publish
for n in 1 2; do
	check "node $n: the text of Prometheus" promtool check metrics <"$DIR/www/node$n"
done
prometheus_start
eventually 60 'scraped 1'
figures
for line in "${PANELS[@]}"; do
	shows "${line%%$'\t'*}" "${line#*$'\t'}"
done
for title in "New connections" "Why connections are TCP" "Part that is accelerated" "Bytes" "Bytes on rails" \
	"Links that are up" "Round trip"; do
	not_still "$title"
done
