#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# check.sh: are the figures in the documentation what they are said to be?  All of
# those of make bench measured, of a commit that others have, and the tables made of
# them.  (Those of make bench-nodes are still of a tree with changes.)
set -euo pipefail
report=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$report/../../Documentation/performance"
rc=0

wrong() {
	echo "Documentation/performance/$1"
	rc=1
}

# of_a_commit JSON: of one that this tree comes from, as far as can be known here.
of_a_commit() {
	local commit
	commit=$(jq -r .commit "$1")
	[[ $commit =~ ^[0-9a-f]{40}$ ]] || { wrong "$1 is of '$commit', which is no commit" && return; }
	# A clone need not have all of the history.
	! git cat-file -e "$commit^{commit}" 2>/dev/null ||
		git merge-base --is-ancestor "$commit" HEAD ||
		wrong "$1 is of $commit, which HEAD does not come from"
}

# table JSON FILTER TABLE
table() {
	jq -r -f "$report/$2" "$1" | cmp -s - "$3" || wrong "$3 is not made of $1"
}

of_a_commit bench.json
[ "$(jq -c .missing bench.json)" = "[]" ] || wrong "bench.json lacks what could not be measured"
table bench.json table.jq table.txt
table bench-nodes.json nodes-table.jq table-nodes.txt
exit "$rc"
