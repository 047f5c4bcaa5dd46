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
# and result, in $OUT.NAME.  Whether the suite as a whole succeeds is not asked,
# but it has to come to its end, where it writes its report.
# "network" is what lets test_socketserver run; nothing leaves the nodes.
run() {
	local n=$1 name=$2 options=$3
	shift 3
	lab run "$n" "rm -f /tmp/$name.xml; cd /tmp && $* $PYTHON -m test -u network --junit-xml /tmp/$name.xml $options" \
		</dev/null >"$OUT.$name.log" 2>&1 || true
	lab run "$n" cat "/tmp/$name.xml" </dev/null | results >"$OUT.$name" || return
	[ -s "$OUT.$name" ]
}

# results: from JUnit's XML; the text of an error can differ, by a port say.
results() {
	python3 -c '
import sys, xml.etree.ElementTree as tree
for t in tree.parse(sys.stdin).iter("testcase"):
    how = [c.tag for c in t if not c.tag.startswith("system-")] or ["ok"]
    print(t.get("name"), *how)' | sort
}

# together NAME-1 NAME-2 'OPTIONS' [COMMAND...]: on node 2 over TCP, and at the same
# time on node 1 under COMMAND; fails if one of them gives no results.
together() {
	local rc=0
	run 2 "$2" "$3" &
	run 1 "$1" "$3" "${@:4}" || rc=1
	wait $! || rc=1
	return "$rc"
}

# not_seen: results over AF_SANX that none over TCP is like.
not_seen() {
	grep -vxFf "$OUT.seen" "$OUT.sanx" || [ $? = 1 ]
}

# names FILE: of the tests.
names() {
	cut -d' ' -f1 "$1" | sort -u
}

# same: what AF_SANX gave counts.  Many of these tests have limits in fractions of
# a second and end now so and now so, over TCP, too: there, those that differ are
# asked again, on both nodes, as they were busy the first time.
same() {
	local try missing differ
	missing=$(comm -23 <(names "$OUT.tcp") <(names "$OUT.sanx"))
	[ -z "$missing" ] || { echo "without a result: $missing" && return 1; }
	cp "$OUT.tcp" "$OUT.seen"
	for try in 1 2 3; do
		differ=$(not_seen)
		[ -n "$differ" ] || return 0
		printf '%s\n' "does TCP ever give these?" "$differ"
		# shellcheck disable=SC2046
		together "again1.$try" "again2.$try" \
			"$(printf -- '-m %s ' $(cut -d' ' -f1 <<<"$differ")) $SUITES" || return 1
		cat "$OUT.again1.$try" "$OUT.again2.$try" >>"$OUT.seen"
	done
	differ=$(not_seen)
	[ -z "$differ" ] || { printf '%s\n' "TCP never gave:" "$differ" && return 1; }
}

plan 6
mkdir -p "${OUT%/*}"
remember 1
check "over TCP and over AF_SANX the suites come to their end" \
	together sanx tcp "$SUITES" sanx-run --dgram --strict
check "over TCP there are hundreds of results" test "$(wc -l <"$OUT.tcp")" -gt 200
check "over AF_SANX they are the same" same
check "and were connections over loop" at_least 1 conns_loop 200
check "and datagrams" at_least 1 dgrams_loop 100
echo "# $(wc -l <"$OUT.sanx") results, fallbacks: $(moved 1 conns_fallback)"
is "which broke no rule" "$(moved 1 protocol_errors)" 0
