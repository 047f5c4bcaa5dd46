# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What was checked, and how it went: a line a result, added up at the end.

ALLOWED_SKIPS=$SANX_TREE/scripts/check.d/allowed-skips
KNOWN_UNSTABLE=$SANX_TREE/scripts/check.d/known-unstable
KNOWN_DAYS=14
# Set in the processes that a run starts.
LOGS=${LOGS:-}
RESULTS=$LOGS/results

# results_start: a folder for logs and results; another one if a run that is
# still going on has the first.
results_start() {
	local n=1 lock
	export LOGS=$SANX_TREE/build/check
	mkdir -p "$SANX_TREE/build"
	exec {lock}>"$LOGS.lock"
	until flock -n "$lock"; do
		n=$((n + 1))
		LOGS=$SANX_TREE/build/check-$n
		exec {lock}>"$LOGS.lock"
	done
	rm -rf "$LOGS"
	mkdir -p "$LOGS"
	RESULTS=$LOGS/results
	: >"$RESULTS"
}

# result ok|fail|skip NAME [COMMAND-THAT-REPEATS-IT [NOTE]]
# One write() a line: several kernels may be under test at once.
result() {
	local status=$1 name=${2//$'\t'/ } again=${3:-} note=${4:-}
	printf '%s\t%s\t%s\t%s\n' "$status" "$name" "$again" "$note" >>"$RESULTS"
	case $status in
	ok) echo "ok $name" ;;
	skip) echo "ok $name # SKIP $note" ;;
	fail) echo "not ok $name${note:+ ($note)}" ;;
	esac
}

# run_gate NAME AGAIN CMD...: one result for one command; its output if it fails.
run_gate() {
	local name=$1 again=$2 log start=$SECONDS
	shift 2
	log=$LOGS/${name//[ \/]/-}.log
	if "$@" >"$log" 2>&1 </dev/null; then
		result ok "$name" "$again"
	else
		tail -n 60 "$log" | sed 's/^/# /'
		result fail "$name" "$again" "log: $log"
	fi
	[ $((SECONDS - start)) -lt 10 ] || say "$name took $((SECONDS - start)) s"
}

# tap_results PREFIX AGAIN FILE: every result line of TAP output.  Plans that
# are not fulfilled are a failure of their own, as is no result at all.
tap_results() {
	local prefix=$1 again=$2 file=$3 line planned=0 plans=0 seen=0
	while IFS= read -r line; do
		if [[ $line =~ ^1\.\.([0-9]+) ]]; then
			planned=$((planned + BASH_REMATCH[1]))
			plans=$((plans + 1))
			continue
		fi
		[[ $line =~ ^(not )?ok\ *([0-9]*)\ *-?\ *(.*)$ ]] || continue
		seen=$((seen + 1))
		tap_result "$prefix" "$again" "$file" "${BASH_REMATCH[1]}" "${BASH_REMATCH[3]}"
	done < <(tr -d '\r' <"$file")
	if [ "$seen" = 0 ]; then
		result fail "$prefix: gave no result" "$again" "log: $file"
	elif [ "$plans" != 0 ] && [ "$planned" != "$seen" ]; then
		result fail "$prefix: gave $seen results of $planned" "$again" "log: $file"
	fi
}

tap_result() {
	local prefix=$1 again=$2 file=$3 not=$4 name=$5
	if [ -n "$not" ]; then
		result fail "$prefix: $name" "$again" "log: $file"
	elif [[ $name =~ ^(.*)\#\ *SKIP\ *(.*)$ ]]; then
		name=${BASH_REMATCH[1]}
		result skip "$prefix: ${name%"${name##*[! ]}"}" "$again" "${BASH_REMATCH[2]}"
	else
		result ok "$prefix: $name" "$again"
	fi
}

count() {
	awk -F'\t' -v s="$1" '$1 == s { n++ } END { print n + 0 }' "$RESULTS"
}

# A skip is allowed only if its name is listed, with the reason why.
forbidden_skips() {
	local status name again note
	while IFS=$'\t' read -r status name again note; do
		[ "$status" = skip ] || continue
		grep -qxF "$name" <(sed 's/[ \t]*#.*//' "$ALLOWED_SKIPS") ||
			printf '%s\n' "skipped, and may not be: $name ($note)"
	done <"$RESULTS"
}

# known_unstable TEST: is it in the file, and for how long may it be?
known_unstable() {
	local name until
	while IFS='|' read -r name until _; do
		[ "${name%"${name##*[! ]}"}" = "$1" ] || continue
		until=$(date -d "${until// /}" +%s) || return 1
		[ "$until" -ge "$(($(date +%s) - 86400))" ] &&
			[ "$until" -le "$(($(date +%s) + KNOWN_DAYS * 86400))" ]
		return
	done < <(grep -v '^#' "$KNOWN_UNSTABLE")
	return 1
}

# unknown_unstable: results that were unstable and may not be.
unknown_unstable() {
	local name
	while read -r name; do
		known_unstable "$name" || printf '%s\n' "unstable, and not known to be: $name"
	done < <(awk -F'\t' '$1 == "unstable" { sub(/: .*/, "", $2); print $2 }' "$RESULTS" | sort -u)
}

# results_end: how to repeat what failed, what was unstable, then the line that counts.
results_end() {
	local rc=0 wrong
	wrong=$(forbidden_skips; unknown_unstable)
	[ -z "$wrong" ] || { printf '%s\n' "$wrong" && rc=1; }
	if [ "$(count fail)" != 0 ]; then
		rc=1
		echo "== what failed, and the command that repeats it"
		awk -F'\t' '$1 == "fail" { printf "%s\n    %s\n", $2, $3 }' "$RESULTS"
	fi
	[ "$(($(count ok) + $(count skip) + $(count fail)))" != 0 ] || rc=1
	[ "$(count unstable)" = 0 ] || echo "$(count unstable) unstable"
	echo "$(count ok) passed, $(count fail) failed, $(count skip) skipped"
	return "$rc"
}
