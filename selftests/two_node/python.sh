#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# CPython's own tests of what it does with sockets: what they find over AF_SANX
# is what they find over TCP on the same kernel, test for test.  SUITES names
# others.
# timeout: 2400
# long: several minutes; make check-python
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=/usr/bin/python3
OUT=$SANX_TREE/build/check/python-$KERNEL
# Of test_asyncio what is about sockets; its TLS tests are too much for an
# emulated CPU, over TCP, too.
SUITES=${SUITES:-test_socket test_select test_epoll test_socketserver test_asyncore
	test_asynchat test_ssl test_httplib test_httpservers test_wsgiref
	test_urllib2_localnet test_xmlrpc test_docxmlrpc test_ftplib test_smtplib
	test_poplib test_imaplib test_nntplib test_telnetlib
	test_asyncio.test_sock_lowlevel test_asyncio.test_streams
	test_asyncio.test_server test_asyncio.test_sendfile test_asyncio.test_events}
SUITES=${SUITES//[$'\n\t']/ }

# run N NAME 'OPTIONS' [COMMAND...]: on node N, one line for each test, its name
# and result, in $OUT.NAME.  Whether the suite as a whole succeeds is not asked.
# "network" is what lets test_socketserver run; nothing leaves the nodes.
run() {
	local n=$1 name=$2 options=$3
	shift 3
	lab run "$n" "rm -f /tmp/$name.xml; cd /tmp && $* $PYTHON -m test -u network --junit-xml /tmp/$name.xml $options" \
		</dev/null >"$OUT.$name.log" 2>&1 || true
	lab run "$n" cat "/tmp/$name.xml" </dev/null | results >"$OUT.$name" || true
}

# results: from JUnit's XML; the text of an error can differ, by a port say.
results() {
	python3 -c '
import sys, xml.etree.ElementTree as tree
for t in tree.parse(sys.stdin).iter("testcase"):
    how = [c.tag for c in t if not c.tag.startswith("system-")] or ["ok"]
    print(t.get("name"), *how)' | sort
}

# both NAME 'OPTIONS': over TCP on node 2 and over AF_SANX on node 1.
both() {
	run 2 "tcp$1" "$2" &
	run 1 "sanx$1" "$2" sanx-run --strict
	wait $!
}

# differing NAME: the names of the tests that differ.
differing() {
	{ diff "$OUT.tcp$1" "$OUT.sanx$1" || true; } | sed -n 's/^[<>] \([^ ]*\) .*/\1/p' | sort -u
}

# same: many of these tests have limits in fractions of a second, so one counts
# as different if it is so every time.
same() {
	local names try
	diff "$OUT.tcp" "$OUT.sanx" || true
	names=$(differing "")
	for try in 1 2 3; do
		[ -n "$names" ] || return 0
		echo "differ, so once more: $names"
		# shellcheck disable=SC2086
		both ".again$try" "$(printf -- '-m %s ' $names) $SUITES"
		names=$(differing ".again$try")
	done
	[ -z "$names" ] || { echo "still differ: $names" && return 1; }
}

plan 4
mkdir -p "${OUT%/*}"
remember 1
both "" "$SUITES"
check "over TCP there are hundreds of results" test "$(wc -l <"$OUT.tcp")" -gt 200
check "over AF_SANX they are the same" same
check "and were connections over loop" at_least 1 conns_loop 200
echo "# $(wc -l <"$OUT.sanx") results, fallbacks: $(moved 1 conns_fallback)"
is "which broke no rule" "$(moved 1 protocol_errors)" 0
