#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# follows.sh [--write]: has a function changed that the simulator has in its own way?
# sim/sock.follows names functions of af_sanx/socket/ whose order of loads, locks and
# wake-ups sim/sock.c has as well, and what each was when sim/sock.c last followed it.
# --write says that it does so now.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$SANX_TREE"

list=sim/sock.follows
rc=0

# sum FILE FUNCTION: of its text, without comments and white space.
sum() {
	awk -v name="$2" '
		/^[a-z]/ && $0 ~ "[ *]" name "[(]" { text = ""; on = 1 }
		on { text = text $0 "\n" }
		on && /;$/ && text !~ /[{]/ { on = 0 }
		on && /^}/ { print text; on = 0 }' "$1" |
		perl -0pe 's{/\*.*?\*/}{}gs; s/\s+//g' | sha256sum | cut -c1-12
}

rows() {
	grep -v '^#' "$list"
}

none=$(sum "$list" none)
write() {
	local file name
	grep '^#' "$list"
	while read -r file name _; do
		echo "$file $name $(sum "$file" "$name")"
	done < <(rows)
}

if [ "${1:-}" = --write ]; then
	write >"$list.new"
	mv "$list.new" "$list"
fi
while read -r file name old; do
	now=$(sum "$file" "$name")
	[ "$now" != "$none" ] || { echo "$file: has no $name()" >&2; rc=1; continue; }
	[ "$now" = "$old" ] || {
		echo "$file: $name() has changed.  See that sim/sock.c does the same; then:" \
			"scripts/check.d/follows.sh --write" >&2
		rc=1
	}
done < <(rows)
exit "$rc"
