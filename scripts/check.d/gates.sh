# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Gates: what can be said about the sources without running them.

GATES="warnings-6.12 checkpatch shellcheck warnings-6.1 packages install layers warnings-um generated-code options sizes figures version kernel-doc follows"

# our_sources: the C files that people write here.
our_sources() {
	(cd "$SANX_TREE" &&
		find af_sanx include tools kunit sim fuzz selftests bench scripts -name '*.[ch]' \
			! -path 'tools/build/*' \
			! -name 'netlink_gen.[ch]' ! -name 'sanx_netlink.h' | sort)
}

shell_scripts() {
	(cd "$SANX_TREE" &&
		find .ci debian packaging scripts tools sim fuzz selftests bench -type f ! -path 'tools/build/*' -print0 |
		xargs -0 grep -lE '^#!(/usr/bin/env |/bin/)(ba|da)?sh|^# shellcheck shell=' | sort)
}

# Not asked of anything here: a MAINTAINERS entry (the module is out of tree);
# that no version is looked at (compat/ does nothing else); that all proto_ops are constant
# (datagram sockets have a copy of UDP's, as net/tls has of TCP's).
CHECKPATCH_IGNORE=FILE_PATH_CHANGES,LINUX_VERSION_CODE,CONST_STRUCT
# Nor of programs: the kernel's names for types and attributes; that nothing is volatile
# (signal handlers); that kselftest_harness.h's macros look like expressions; the names
# of libFuzzer.
CHECKPATCH_IGNORE_PROGRAMS=CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO,PREFER_KERNEL_TYPES,VOLATILE,SPACING,COMPLEX_MACRO,MACRO_WITH_FLOW_CONTROL

# checkpatch IGNORE FILES...: what it says of a file depends on nothing else, and it takes
# minutes for all of them, so those that have passed as they are, by their checksums, are
# not asked again.  It leaves a cache file where it runs.
checkpatch() {
	local script ignore=$1 passed files
	local args=(--no-tree --strict --quiet --no-summary --terse --show-types
		--max-line-length=100 --ignore "$ignore")
	shift
	script=$("$SCRIPTS/kernel/source.sh" 6.12)/scripts/checkpatch.pl
	passed=$SANX_CACHE/checkpatch-$({ cat "$script" && echo "${args[*]}"; } | sha256sum | cut -c1-12)
	touch "$passed"
	mapfile -t files < <(cd "$SANX_TREE" && sha256sum "$@" | grep -vxFf "$passed" | sed 's/^[^ ]*  //')
	[ "${#files[@]}" != 0 ] || return 0
	(cd "$SANX_CACHE" && "$script" "${args[@]}" -f "${files[@]/#/$SANX_TREE/}") || return
	(cd "$SANX_TREE" && sha256sum "${files[@]}") >>"$passed"
}

# The simulator's shims repeat the interfaces of the kernel's headers.
CHECKPATCH_IGNORE_SHIM=MACRO_ARG_REUSE,MACRO_ARG_UNUSED,MACRO_ARG_PRECEDENCE,MEMORY_BARRIER,NEW_TYPEDEFS,UNCOMMENTED_DEFINITION
CHECKPATCH_IGNORE_SHIM+=,CAMELCASE,BIT_MACRO,AVOID_EXTERNS,EMBEDDED_FUNCTION_NAME,EXPORT_SYMBOL,IS_ENABLED_CONFIG,AVOID_BUG
CHECKPATCH_IGNORE_SHIM+=,MINMAX,COMPARISON_TO_NULL,TRAILING_STATEMENTS,UNNECESSARY_CASTS,LONG_LINE

gate_checkpatch() {
	local rc=0 modules programs shim
	mapfile -t modules < <(our_sources | grep -E '^(af_sanx|include|kunit)/')
	mapfile -t programs < <(our_sources | grep -E '^(tools|sim|fuzz|selftests|bench|scripts)/' |
		grep -v '^sim/shim/')
	mapfile -t shim < <(our_sources | grep '^sim/shim/')
	checkpatch "$CHECKPATCH_IGNORE" "${modules[@]}" || rc=1
	checkpatch "$CHECKPATCH_IGNORE,$CHECKPATCH_IGNORE_PROGRAMS" "${programs[@]}" || rc=1
	checkpatch "$CHECKPATCH_IGNORE,$CHECKPATCH_IGNORE_PROGRAMS,$CHECKPATCH_IGNORE_SHIM" \
		"${shim[@]}" || rc=1
	return "$rc"
}

gate_generated_code() {
	"$SCRIPTS/ynl-regen.sh" --check
}

# Each option that the kernels' headers name has its line.
gate_options() {
	"$SCRIPTS/options-table.sh" check "$("$SCRIPTS/kernel/source.sh" 6.1)" \
		"$("$SCRIPTS/kernel/source.sh" 6.12)"
}

# Those in the documentation are a commit's.
gate_figures() {
	"$SANX_TREE/bench/report/check.sh"
}

gate_packages() {
	"$SCRIPTS/check.d/packages.sh"
}

# What the simulator has of the calls of a socket.
gate_follows() {
	"$SCRIPTS/check.d/follows.sh"
}

gate_version() {
	"$SCRIPTS/check.d/version.sh"
}

# What it installs must not be built anew meanwhile.
gate_install() {
	local lock
	exec {lock}>"$LOGS/objects-6.12.lock"
	flock "$lock"
	"$SCRIPTS/check.d/install.sh"
}

# Includes and calls go down.  The objects must not be built anew meanwhile.
gate_layers() {
	local lock
	exec {lock}>"$LOGS/objects-6.12.lock"
	flock "$lock"
	"$SCRIPTS/check.d/layers.sh"
}

# struct_size MODULE STRUCT
struct_size() {
	local size
	size=$(pahole --sizes "$1" 2>/dev/null | awk -v name="$2" '$1 == name { print $2 }')
	echo "${size:?$1: no struct $2}"
}

# A connection over loop fits the allocator's class of 1 KiB; a byte more takes 2 KiB.
gate_sizes() {
	local kernel release lock ko size rc=0
	for kernel in 6.1 6.12; do
		exec {lock}>"$LOGS/objects-$kernel.lock"
		flock "$lock"
		"$SCRIPTS/build-modules.sh" "$kernel" || return
		read -r release _ <<<"$("$SCRIPTS/kernel/resolve.sh" "$kernel")"
		ko=$SANX_TREE/build/$release/af_sanx.ko
		size=$(struct_size "$ko" loop_conn) || return
		echo "$kernel: loop_conn has $size bytes of 1024"
		[ "$size" -le 1024 ] || rc=1
		exec {lock}>&-
	done
	return "$rc"
}

# What it says of a script depends on those that the script reads, so all of them are asked
# again unless they have passed as they are.
gate_shellcheck() {
	local files passed
	mapfile -t files < <(shell_scripts)
	cd "$SANX_TREE" || return
	passed=$SANX_CACHE/shellcheck-$({ shellcheck --version && sha256sum "${files[@]}"; } |
		sha256sum | cut -c1-12)
	[ ! -e "$passed" ] || return 0
	shellcheck -x -P SCRIPTDIR -P "$SANX_TREE" "${files[@]}" && touch "$passed"
}

gate_kernel_doc() {
	local doc files out
	doc=$("$SCRIPTS/kernel/source.sh" 6.12)/scripts/kernel-doc
	mapfile -t files < <(our_sources | grep -E '^(af_sanx|include)/')
	cd "$SANX_TREE" || return
	out=$("$doc" -none -Wall "${files[@]}" 2>&1) || { echo "$out" && return 1; }
	[ -z "$out" ] || { echo "$out" && return 1; }
}

# quiet_build KERNEL ARGS...: any warning is a failure.  Everything is built anew,
# since what has been built already would say nothing, and used by all that follows.
quiet_build() {
	local kernel=$1 out lock rc=0
	shift
	exec {lock}>"$LOGS/objects-$kernel.lock"
	flock "$lock"
	out=$(FRESH=1 "$SCRIPTS/build-modules.sh" "$kernel" "$@" 2>&1) || rc=1
	grep -vE '^== |Skipping BTF generation|^  [A-Z]+ ' <<<"$out" || return "$rc"
	return 1
}

# gate_warnings KERNEL: W=1 and sparse; KUnit's suites with the debug configuration.
gate_warnings() {
	local args=(C=1 CF=-D__CHECK_ENDIAN__ CHECK="$SCRIPTS/check.d/sparse.sh")
	[ "$1" != um ] || args+=(CONFIG_SANX_KUNIT=m)
	quiet_build "$1" "${args[@]}"
}

gate() {
	case $1 in
	warnings-*) "gate_${1%%-*}" "${1#*-}" ;;
	*) "gate_${1//-/_}" ;;
	esac
}

stage_gates() {
	local g
	say "gates: style, static analysis, generated code"
	for g in ${TEST:-$GATES}; do
		while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
		run_gate "gate $g" "make gates TEST=$g" \
			"$SCRIPTS/check.sh" one-gate "$g" &
	done
	wait
}

# The tools' own tests, which need no module.
stage_tools() {
	local log=$LOGS/tools.log rc=0
	say "tools: their own tests"
	make -s -C "$SANX_TREE/tools" check O="$SANX_TREE/build/tools" >"$log" 2>&1 </dev/null || rc=$?
	tap_results "tools" "make -C tools check" "$log"
	[ "$rc" = 0 ] || grep -q '^not ok' "$log" ||
		result fail "tools: exit status $rc" "make -C tools check" "log: $log"
}
