#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# layers.sh: do includes and calls go down only?  The table in Documentation/layers.rst
# has the order.  Calls are those of the objects that the modules are linked of, built
# for KVER (6.12).  Do too many files use each other in a circle, or is one too long?
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$SANX_TREE"
export LC_ALL=C

KVER=${KVER:-6.12}
CIRCLE_MOST=8
table=Documentation/layers.rst
declare -A rank headers
rc=0

wrong() {
	echo "$*" >&2
	rc=1
}

# rows: number, folder and headers of each layer, with a tab between.
rows() {
	awk -F'  +' '/^[0-9]+  +[a-z_\/]+\/  / {
		sub(/\/$/, "", $2); gsub(/,/, "", $3); print $1 "\t" $2 "\t" $3 }' "$table"
}

# folder_of FILE: where the table has it; all of include/ is one.
folder_of() {
	case $1 in
	include/*) folder=include ;;
	*) folder=${1%/*} ;;
	esac
}

# may_include FROM TO: may a file of folder FROM include the file TO?
may_include() {
	local folder
	folder_of "$2"
	[ "$folder" != "$1" ] || return 0
	[ "${rank[$folder]:-99}" -lt "${rank[$1]}" ] || return 1
	[[ " ${headers[$folder]} " == *" all "* || " ${headers[$folder]} " == *" ${2##*/} "* ]]
}

# target DIR NAME SIGN: the file of ours that is included, or nothing.
target() {
	local dir
	for dir in "$1" af_sanx include include/uapi; do
		if [ "$dir" = "$1" ] && [ "$3" = '<' ]; then continue; fi
		[ -e "$dir/$2" ] || continue
		realpath --relative-to=. "$dir/$2"
		return
	done
}

check_includes() {
	local file line sign name to folder
	local include='include[[:space:]]*(["<])([^">]+)[">]'
	while IFS=: read -r file line; do
		folder_of "$file"
		[ -n "${rank[$folder]:-}" ] || { wrong "$file: $table has no layer for its folder" && continue; }
		[[ $line =~ $include ]] || continue
		sign=${BASH_REMATCH[1]} name=${BASH_REMATCH[2]}
		# Most are the kernel's: only names that can be ours are looked for.
		if [ "$sign" = '<' ] && [ ! -e "af_sanx/$name" ] && [ ! -e "include/$name" ] &&
			[ ! -e "include/uapi/$name" ]; then continue; fi
		to=$(target "${file%/*}" "$name" "$sign")
		[ -n "$to" ] || { wrong "$file: includes $name, which is not there" && continue; }
		may_include "$folder" "$to" || wrong "$file: includes $to, which is not for it"
	done < <(find af_sanx include -name '*.[ch]' -print0 | sort -z |
		xargs -0 grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]')
}

# symbols DIR: each object's, as: object, type, symbol.
symbols() {
	(cd "$1" && cat af_sanx.mod sanx_verbs.mod | grep -o 'af_sanx/.*\.o$' | xargs nm -A) |
		awk '{ sub(/:.*/, "", $1); print $1, $(NF - 1), $NF }'
}

# upward: of symbols(), what calls something that is not below it.
upward() {
	awk -v ranks="$(rows | cut -f 1,2)" '
	function folder(object) { sub(/\/[^\/]*$/, "", object); return object }
	BEGIN {
		n = split(ranks, row, "\n")
		for (i = 1; i <= n; i++) { split(row[i], f, "\t"); rank[f[2]] = f[1] }
	}
	$2 == "U" { user[++uses] = $1; used[uses] = $3; next }
	$2 ~ /[A-TV-Z]/ { has[$3] = $1; defined++ }
	END {
		for (i = 1; i <= uses; i++) {
			if (!(used[i] in has)) continue
			from = folder(user[i]); to = folder(has[used[i]]); calls++
			if (from != to && !(rank[to] < rank[from]))
				print user[i] ": uses " used[i] " of " has[used[i]] ", which is not below it"
		}
		if (!defined || !calls) print "no calls were found: is nothing built?"
	}'
}

# circles: of symbols(), the files of a folder of link/ that use each other in a circle, if
# they are more than CIRCLE_MOST.
circles() {
	awk -v most="$CIRCLE_MOST" '
	function folder(object) { sub(/\/[^\/]*$/, "", object); return object }
	# What a file reaches by calls within its folder.
	function reach(from, to,   next_) {
		for (next_ in calls_to) {
			if (!((to, next_) in call) || (from, next_) in reached) continue
			reached[from, next_] = 1
			reach(from, next_)
		}
	}
	$1 !~ /af_sanx\/link\// { next }
	$2 == "U" { user[++uses] = $1; used[uses] = $3; next }
	$2 ~ /[A-TV-Z]/ { has[$3] = $1 }
	END {
		for (i = 1; i <= uses; i++) {
			if (!(used[i] in has)) continue
			to = has[used[i]]
			if (to == user[i] || folder(to) != folder(user[i])) continue
			call[user[i], to] = 1; calls_to[to] = 1; file[user[i]] = 1
		}
		for (f in file) reach(f, f)
		for (f in file) {
			n = 0; names = ""
			for (g in file)
				if ((f, g) in reached && (g, f) in reached) { n++; names = names " " g }
			if (n > most) print f ": is one of " n " that use each other in a circle:" names
		}
	}'
}

check_calls() {
	local dir found
	dir=build/$(scripts/kernel/resolve.sh "$KVER" release)
	scripts/build-modules.sh "$KVER"
	found=$(symbols "$dir" | upward)
	[ -z "$found" ] || wrong "$found"
	found=$(symbols "$dir" | circles)
	[ -z "$found" ] || wrong "$found"
}

# check_lengths: files and headers that nobody reads in one go.
check_lengths() {
	local file most
	while read -r file; do
		most=800
		[ "${file##*.}" = c ] || most=400
		[ "$(wc -l <"$file")" -le "$most" ] || wrong "$file: has more than $most lines"
	done < <(find af_sanx -name '*.[ch]' | sort)
}

while IFS=$'\t' read -r number folder names; do
	rank[$folder]=$number
	headers[$folder]=$names
done < <(rows)
[ "${#rank[@]}" -ge 5 ] || die "$table has no table of layers"

check_includes
check_lengths
check_calls
exit "$rc"
