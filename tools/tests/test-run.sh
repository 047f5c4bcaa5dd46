#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sanx-run, with AF_UNIX in the place of the family as in test-preload.sh.
# Usage: test-run.sh BUILD-DIRECTORY

set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"

bin=$(realpath "$1")/tests
run=$bin/sanx-run
work=$(mktemp -d)
trap 'rm -rf "$work"; rm -f "$bin/family"' EXIT
unset LD_PRELOAD

# says STATUS STDOUT STDERR ARGUMENT...: exactly that?
says() {
	local status=$1 out=$2 err=$3 rc=0
	shift 3
	"$run" "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
	is "$rc" "$status" && is "$(<"$work/out")" "$out" && is "$(head -n 1 "$work/err")" "$err"
}

missing="sanx-run: AF_SANX is not loaded (try: modprobe af_sanx)"

echo 1 >"$bin/family"
ok "TCP becomes the family" says 0 "tcp:unix/" "" "$bin/probe" tcp
ok "strict is content" says 0 "tcp:unix/" "" --strict "$bin/probe" tcp
ok "-s -- " says 0 "tcp:unix/" "" -s -- "$bin/probe" tcp
ok "UDP does not" says 0 "udp:inet/" "" "$bin/probe" udp
ok "UDP becomes the family when asked" says 0 "$(printf 'tcp:unix/\nudp:unix/')" "" \
	--dgram "$bin/probe" tcp udp
ok "-d -s" says 0 "udp:unix/" "" -d -s "$bin/probe" udp
ok "the library for it" says 0 "$bin/libsanx-preload-dgram.so" "" -d printenv LD_PRELOAD
ok "within one without" says 0 "$bin/libsanx-preload-dgram.so" "" \
	"$run" "$run" -d printenv LD_PRELOAD
ok "and UDP becomes the family" says 0 "udp:unix/" "" "$run" "$run" -d "$bin/probe" udp
ok "one without within one with" says 0 "$bin/libsanx-preload-dgram.so" "" \
	-d "$run" printenv LD_PRELOAD
ok "between other libraries" \
	is "$(LD_PRELOAD=a:$bin/libsanx-preload.so:b "$run" -d printenv LD_PRELOAD 2>/dev/null)" \
	"a:$bin/libsanx-preload-dgram.so:b"
ok "children inherit" says 0 "tcp:unix/" "" sh -c "$bin/probe tcp; exit"
ok "options of the command are its own" says 0 "-x --strict" "" echo -x --strict
ok "status" says 42 "" "" sh -c "exit 42"
ok "killed by a signal" is "$("$run" sh -c 'kill -9 $$' 2>/dev/null; echo $?)" 137
ok "the process is the same" is "$(sh -c "echo \$\$; exec $run sh -c 'echo \$\$'" | uniq | wc -l)" 1
ok "LD_PRELOAD" says 0 "$bin/libsanx-preload.so" "" printenv LD_PRELOAD
ok "LD_PRELOAD is kept" \
	is "$(LD_PRELOAD=$bin/interpose.so "$run" printenv LD_PRELOAD 2>/dev/null)" \
	"$bin/interpose.so:$bin/libsanx-preload.so"
ok "within itself" says 0 "$bin/libsanx-preload.so" "" "$run" "$run" printenv LD_PRELOAD
ok "called by another name" is "$(ln -s "$run" "$work/link" && "$work/link" "$bin/probe" tcp)" "tcp:unix/"

# AF_UNIX counts nothing.
uncounted="sanx-run: nothing is counted: Operation not supported"
ok "summary: not there" says 3 "tcp:unix/" "$uncounted" --summary sh -c "$bin/probe tcp; exit 3"
ok "summary: no command" says 127 "" "$uncounted" -v no-such-command

ok "command not found" says 127 "" "sanx-run: /nonexistent: No such file or directory" /nonexistent
ok "command not found in PATH" says 127 "" \
	"sanx-run: no-such-command: No such file or directory" no-such-command
ok "command not executable" says 126 "" "sanx-run: /dev/null: Permission denied" /dev/null
ok "no command" says 125 "" "sanx-run: a command is missing"
ok "no command after --" says 125 "" "sanx-run: a command is missing" --strict --
ok "unknown option" is "$("$run" --wrong true 2>/dev/null; echo $?)" 125
ok "help" is "$("$run" --help | head -n 1)" "Usage: sanx-run [--dgram] [--strict] [--summary] [-v] [--] COMMAND [ARGUMENT]..."
ok "version" is "$("$run" -V | wc -l)" 1

echo 40000 >"$bin/family"
ok "a family that cannot be used" says 0 "tcp:inet/" \
	"sanx-run: AF_SANX cannot be used (family 40000: Address family not supported by protocol), running over TCP" \
	"$bin/probe" tcp
ok "the same, strict" says 125 "" \
	"sanx-run: AF_SANX cannot be used (family 40000: Address family not supported by protocol)" \
	--strict "$bin/probe" tcp

rm "$bin/family"
ok "no module" says 0 "tcp:inet/" "$missing, running over TCP" "$bin/probe" tcp
ok "no module, said once" is "$("$run" "$bin/probe" tcp tcp tcp 2>&1 >/dev/null | wc -l)" 1
ok "no module, for datagrams" says 0 "udp:inet/" "$missing, running over TCP and UDP" -d "$bin/probe" udp
ok "no module, strict" says 125 "" "$missing" --strict "$bin/probe" tcp

# Installed, and where the library is not to be found or not to be named.
echo 1 >"$bin/family"
install_in() {
	mkdir -p "$1/bin" "$1/lib/sanx" && cp "$run" "$1/bin" &&
		cp "$bin/libsanx-preload.so" "$1/lib/sanx"
}
install_in "$work/usr" && run=$work/usr/bin/sanx-run
ok "installed" says 0 "$work/usr/lib/sanx/libsanx-preload.so" "" printenv LD_PRELOAD
rm "$work/usr/lib/sanx/libsanx-preload.so"
ok "no library" says 0 "tcp:inet/" \
	"sanx-run: libsanx-preload.so is not where it belongs, running over TCP" "$bin/probe" tcp
ok "no library, strict" says 125 "" \
	"sanx-run: libsanx-preload.so is not where it belongs" --strict "$bin/probe" tcp
install_in "$work/a b" && run="$work/a b/bin/sanx-run"
ok "a path that LD_PRELOAD cannot have" says 0 "tcp:inet/" \
	"sanx-run: the path of the library has a space or a colon in it, running over TCP" \
	"$bin/probe" tcp

tap_done
