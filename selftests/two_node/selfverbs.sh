#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The socket tests over verbs.  Connections to this node itself would go over
# loop, so it is switched off, and node 1 is its own peer through its device.
# timeout: 300
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=$SANX_TREE/build/selftests
PROGRAMS="accept backlog close connect data full options poll process signal stress transfer"

# shellcheck disable=SC2086
set -- $PROGRAMS
plan $#

unload_sanx 1
load_sanx 1 loop=0
load_verbs
nodemap_std

for name; do
	log=$(mktemp)
	if lab run 1 "SANX_VARIANTS=verbs exec $TESTS/$name" </dev/null >"$log" 2>&1; then
		ok "$name: $(sed -n 's/^# PASSED: //p' "$log")"
	else
		sed -n '/^ok/d; /RUN/d; / OK /d; s/^# //; s/^/# /p' "$log"
		fail "$name"
	fi
	rm -f "$log"
done
