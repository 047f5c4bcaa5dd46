#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# CPython's own tests of its socket module: what they find over AF_SANX is what
# they find over TCP on the same kernel, test for test.
# timeout: 1200
# long: two runs of some minutes each; make check-python
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=/usr/bin/python3
OUT=$SANX_TREE/build/check/python-$KERNEL
SUITES="test_socket ${SUITES:-}"

# run NAME [COMMAND...]: one line for each test, its name and result, in
# $OUT.NAME.  Whether the suite as a whole succeeds is not asked.
run() {
	local name=$1
	shift
	# shellcheck disable=SC2086
	lab run 1 "cd /tmp && $* $PYTHON -m test --junit-xml /tmp/$name.xml $SUITES" \
		</dev/null >"$OUT.$name.log" 2>&1 || true
	lab run 1 cat "/tmp/$name.xml" </dev/null | results >"$OUT.$name"
}

# results: from JUnit's XML; the text of an error can differ, by a port say.
results() {
	python3 -c '
import sys, xml.etree.ElementTree as tree
for t in tree.parse(sys.stdin).iter("testcase"):
    how = [c.tag for c in t if not c.tag.startswith("system-")] or ["ok"]
    print(t.get("name"), *how)' | sort
}

plan 4
mkdir -p "${OUT%/*}"
run tcp
check "over TCP there are hundreds of results" test "$(wc -l <"$OUT.tcp")" -gt 500
remember 1
run sanx sanx-run --strict
check "over AF_SANX they are the same" diff "$OUT.tcp" "$OUT.sanx"
check "and were connections over loop" at_least 1 conns_loop 200
echo "# fallbacks: $(moved 1 conns_fallback)"
is "which broke no rule" "$(moved 1 protocol_errors)" 0
