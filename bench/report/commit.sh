# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Which commit and which nodes figures are of, and where they may go.  For bench.sh
# and bench-nodes.sh, which set OUT.

RESULTS=$SANX_TREE/build/bench/results
OUT=$(realpath -m "${OUT:-$RESULTS}")

# changes: what the tree has that its commit has not, apart from figures.
changes() {
	git -C "$SANX_TREE" status --porcelain -- . ':!Documentation/performance'
}

# commit: the tree's, with -dirty behind it if that is not what is measured.
commit() {
	local name changed
	if name=$(git -C "$SANX_TREE" rev-parse HEAD 2>/dev/null) && changed=$(changes); then
		echo "$name${changed:+-dirty}"
	else
		echo unknown
	fi
}

# Figures in the documentation are of a commit that others have, too.
for_documentation() {
	[[ $OUT/ == "$SANX_TREE"/Documentation/* ]]
}

# begin_figures: before anything is built.  Sets COMMIT, and VERSION, which is
# shorter.
begin_figures() {
	COMMIT=$(commit)
	VERSION=${COMMIT:0:12}
	[[ $COMMIT != *-dirty ]] || VERSION+=-dirty
	for_documentation || return 0
	[[ $COMMIT =~ ^[0-9a-f]{40}$ ]] || {
		changes >&2
		die "figures in Documentation are a commit's, and this tree is '$COMMIT'"
	}
}

# mitigations: "off" if node 1 was booted without those of the CPU's defects.
mitigations() {
	node1 'grep -qw mitigations=off /proc/cmdline && echo off || echo on' </dev/null
}

# new_results FILES...: a folder for them, where an earlier run's are not.
new_results() {
	mkdir -p "$RESULTS"
	(cd "$RESULTS" && rm -f "$@")
}

# end_figures FAILURES FILES...: those of $RESULTS go to $OUT, if nothing failed,
# and they are still the commit's.
end_figures() {
	local failures=$1 file
	shift
	[ -z "$failures" ] ||
		die "could not be measured (what could is in $RESULTS): $failures"
	! for_documentation || [ "$(commit)" = "$COMMIT" ] ||
		die "the tree has changed meanwhile; the figures are in $RESULTS"
	[ "$OUT" != "$RESULTS" ] || return 0
	mkdir -p "$OUT"
	for file; do
		# Few paths make no plot.
		[ ! -e "$RESULTS/$file" ] || cp "$RESULTS/$file" "$OUT/"
	done
}
