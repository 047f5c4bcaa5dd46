#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The preload library, with AF_UNIX in the place of the family: that makes
# stream sockets for SANXPROTO_INET and refuses SANXPROTO_INET6.
# Usage: test-preload.sh BUILD-DIRECTORY

set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"

bin=$1/tests
export PROBE_FAMILY=$bin/family

# gets FAMILY WANTED WORD...: what do the sockets become?  FAMILY is what the
# module says, "-" if there is no module.
gets() {
	local family=$1 wanted=$2
	shift 2
	rm -f "$PROBE_FAMILY"
	[ "$family" = - ] || printf '%s\n' "$family" >"$PROBE_FAMILY"
	is "$(LD_PRELOAD=$bin/libsanx-preload.so "$bin/probe" "$@" 2>&1 | tr '\n' ' ')" "$wanted "
}

# calls PATTERN WORD...: the system calls of the first TCP socket and after
calls() {
	local pattern=$1
	shift
	rm -f "$bin/strace"
	command -v strace >/dev/null || { echo "strace is not installed" && return; }
	LD_PRELOAD=$bin/libsanx-preload.so strace -f -e trace="$pattern" -o "$bin/strace" \
		"$bin/probe" "$@" >/dev/null
	grep -c "$bin/family\|$bin/dgram\|socket(" "$bin/strace"
}

ok "TCP" gets 1 "tcp:unix/" tcp
ok "TCP by its number" gets 1 "tcp-named:unix/" tcp-named
ok "flags are kept" gets 1 "tcp-flags:unix/nc" tcp-flags
ok "IPv6 has its own protocol; refused, it is native" gets 1 "tcp6:inet6/" tcp6
ok "UDP stays" gets 1 "udp:inet/" udp
for number in 0 "" x; do
	echo "$number" >"$bin/dgram"
	ok "with \"$number\" in net.sanx.dgram, too" gets 1 "udp:inet/" udp
done
echo 1 >"$bin/dgram"
ok "UDP if net.sanx.dgram says so" gets 1 "udp:unix/ tcp:unix/" udp tcp
ok "but no other protocol" gets 1 "udp-proto:EPROTONOSUPPORT" udp-proto
ok "and without the module, none" gets - "udp:inet/" udp
rm "$bin/dgram"
ok "errors of others stay" \
	gets 1 "udp-proto:EPROTONOSUPPORT odd-proto:EINVAL odd-type:EINVAL odd-flags:EINVAL odd-domain:EAFNOSUPPORT" \
	udp-proto odd-proto odd-type odd-flags odd-domain

ok "no module" gets - "tcp:inet/ tcp-flags:inet/nc tcp6:inet6/" tcp tcp-flags tcp6
ok "a number that is no family" gets 40000 "tcp:inet/ tcp6:inet6/" tcp tcp6
for number in "" 0 -1 x 1x 99999999999999999999; do
	ok "\"$number\" is no number" gets "$number" "tcp:inet/" tcp
done
ok "a module that comes later is noticed" \
	gets - "tcp:inet/ tcp:inet/ tcp:unix/" tcp load tcp wait tcp

ok "before a library's constructors" gets 1 "early:unix/" early
ok "threads together" gets 1 "$(printf 'threads:unix/ %.0s' {1..8} | sed 's/ $//')" threads
ok "socket() is no cancellation point" gets 1 "cancel:unix/" cancel
ok "a signal handler" gets 1 "signal:unix/" signal
ok "after vfork()" gets 1 "vfork:made tcp:unix/" vfork tcp
ok "no file is left open" gets 1 "files:0" files
ok "a sandbox entered before the first socket" gets - "tcp:inet/" sandbox tcp
ok "a sandbox entered later" gets 1 "tcp:unix/ tcp:unix/" tcp sandbox-kill tcp
ok "a sandbox, the module absent" gets - "tcp:inet/ tcp:inet/" tcp sandbox wait tcp

echo 1 >"$PROBE_FAMILY"
ok "the number is read once" is "$(calls openat,socket tcp tcp tcp)" 5
ok "others cost a look at net.sanx.dgram" is "$(calls openat,socket udp udp udp)" 6
rm -f "$PROBE_FAMILY"
ok "without the module, it is looked for once" is "$(calls openat,socket tcp tcp tcp)" 5

other() {
	echo 1 >"$PROBE_FAMILY"
	is "$(LD_PRELOAD="$*" "$bin/probe" udp tcp 2>&1 | grep -v '^asked for 2$')" \
		"udp:inet/
tcp:unix/"
}
ok "behind another library" other "$bin/interpose.so:$bin/libsanx-preload.so"
ok "the other library is asked first" \
	is "$(LD_PRELOAD="$bin/interpose.so:$bin/libsanx-preload.so" "$bin/probe" tcp 2>&1 |
		grep -c '^asked for 2$')" 2
ok "before another library" other "$bin/libsanx-preload.so:$bin/interpose.so"

exports() {
	is "$(nm -D --defined-only "$bin/../libsanx-preload.so" | awk '{ print $3 }' | sort | xargs)" \
		"__socket socket"
}
ok "only socket() is replaced" exports

rm -f "$PROBE_FAMILY" "$bin/strace"
tap_done
