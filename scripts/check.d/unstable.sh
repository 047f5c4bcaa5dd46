# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests whose verdict depends on how soon the host runs the nodes.
#
# A test that declares "clock: host" and fails is run once more, alone, after everything
# else.  If it passes then, what failed is "unstable": it is shown and counted, and fails
# the run unless scripts/check.d/known-unstable has the test, with a reason and a date
# until when.  What no slow host brings about is never repeated.

# Parts of the names of results that stay failures: a kernel's complaint, memory that is
# lost, a wrong byte, a hang, a broken protocol, a test that did not come to its end.
NEVER_REPEATED='leaves the|lets the module|memory|byte|hang|protocol|error|exit status|gave |leak|not run'

# host_begin: what host_end compares with.
host_begin() {
	read -r HOST_STEAL HOST_ALL < <(host_times)
}

# host_times: the host's time that others took, and all of it.
host_times() {
	awk '$1 == "cpu" { for (i = 2; i <= 9; i++) all += $i; print $9, all; exit }' /proc/stat
}

# host_end WHERE KIND NAME: if the test that has just ended failed, keeps how busy the host
# was.
host_end() {
	local steal all load
	grep -q "^fail	$1 $3: " "$RESULTS" || return 0
	read -r steal all < <(host_times)
	read -r load _ </proc/loadavg
	all=$((all - HOST_ALL))
	printf '%s %s %s\tload %s, steal %s %%\n' "$1" "$2" "$3" "$load" \
		$((all ? 100 * (steal - HOST_STEAL) / all : 0)) >>"$LOGS/failed"
}

# may_repeat WHERE KIND NAME
may_repeat() {
	said_of "$2" "$3" clock
	[[ $SAYS == host* ]] || return 1
	! grep "^fail	$1 $3: " "$RESULTS" | cut -f 2 | grep -qE ": .*($NEVER_REPEATED)"
}

# passes_now WHERE NAME: the test alone, in a lab of its own.
passes_now() {
	local dir=$LOGS/again/$1-$2
	mkdir -p "$dir"
	: >"$dir/results"
	KERNEL="" TEST=$2 LOGS=$dir "$SCRIPTS/check.sh" one-lab "$1" 2>&1 | sed 's/^/# again: /'
	grep -q "^ok	$1 $2: " "$dir/results" && ! grep -q '^fail' "$dir/results"
}

# repeat_failed: after everything else.
repeat_failed() {
	local where kind name host
	[ -s "$LOGS/failed" ] || return 0
	while IFS=$' \t' read -r where kind name host; do
		may_repeat "$where" "$kind" "$name" || continue
		say "$where $name failed ($host): once more, alone"
		passes_now "$where" "$name" </dev/null || continue
		make_unstable "$where $name: " "$host"
	done < <(sort -u -k 1,3 "$LOGS/failed")
}

# make_unstable PREFIX HOST: of results that failed.
make_unstable() {
	awk -F'\t' -v OFS='\t' -v prefix="$1" -v host="$2" '
		$1 == "fail" && index($2, prefix) == 1 { $1 = "unstable"; $4 = host }
		{ print }' "$RESULTS" >"$RESULTS.new"
	mv "$RESULTS.new" "$RESULTS"
	awk -F'\t' -v prefix="$1" '
		$1 == "unstable" && index($2, prefix) == 1 { print "unstable " $2 " (" $4 ")" }' "$RESULTS"
}
