# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Test results in the Test Anything Protocol, for scripts.

tap_count=0
tap_failed=0

# ok NAME COMMAND...: does the command succeed?
ok() {
	local name=$1 out
	shift
	tap_count=$((tap_count + 1))
	if out=$("$@" 2>&1); then
		echo "ok $tap_count - $name"
	else
		echo "not ok $tap_count - $name"
		printf '%s\n' "$out" | sed 's/^/# /'
		tap_failed=$((tap_failed + 1))
	fi
}

# is GOT WANTED: the same, byte for byte?
is() {
	[ "$1" = "$2" ] && return
	printf 'got:    %s\nwanted: %s\n' "$1" "$2"
	return 1
}

tap_done() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
}
