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
trap 'rm -rf "$work"; rm -rf "$bin/family" "$bin/sys"' EXIT
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

# profile LINE...: a file of these lines.
profile() {
	printf '%s\n' "$@" >"$work/profile"
}
# refuses TEXT LINE...: such a file is refused with that text, behind its name.
refuses() {
	local text=$1
	shift
	profile "$@"
	says 125 "" "sanx-run: $work/profile:$text" --profile "$work/profile" true
}
mkdir -p "$bin/sys/net/core"
printf '4096\t131072\t6291456\n' >"$bin/sys/net/mem"
echo 128 >"$bin/sys/net/core/backlog"
echo min-inflight >"$bin/sys/net/policy"
profile "# nothing" "" "  option   SO_RCVBUF 50000  " "option SO_KEEPALIVE 1" "env A  b c " "env HOME x"
ok "profile: options of each socket" says 0 "$(printf 'options:100000/1\noptions:100000/1')" "" \
	--profile "$work/profile" "$bin/probe" options options
ok "profile: those of the kind" says 0 "$(printf 'options:100000/0\nudp-options:100000/0')" "" \
	-d -p <(printf 'option SO_RCVBUF 50000\noption TCP_NODELAY 1\n') "$bin/probe" options udp-options
ok "profile: a variable" says 0 "b c" "" -p "$work/profile" printenv A
ok "profile: not one that there is" says 0 "$HOME" "" -p "$work/profile" printenv HOME
ok "profile: children" says 0 "options:100000/1" "" -p "$work/profile" sh -c "$bin/probe options"
ok "profile: a child by another program" says 0 "options:100000/1" "" -p "$work/profile" \
	env LD_BIND_NOW=1 "$bin/probe" options
ok "profile: the program's environment may go" says 0 "$(printf 'options:100000/1\noptions:100000/1')" "" \
	-p "$work/profile" "$bin/probe" options clearenv options
profile "strict yes" "dgram yes" "summary each"
ok "profile: sanx-run's own options" says 0 "udp:unix/" "$uncounted" -p "$work/profile" "$bin/probe" udp
ok "profile: the last one counts" says 0 "udp:inet/" "" -p "$work/profile" \
	-p <(printf 'dgram no\nsummary no\n') "$bin/probe" udp
profile "expect net.core.backlog >= 128" "expect net.core.backlog <= 128" "expect net.core.backlog = 128" \
	"expect net.mem >= 4096 131072 6291456" "expect net.mem = 4096 131072 6291456" \
	"expect net.mem <= 4097" "expect net.policy = min-inflight"
ok "profile: all is as expected" says 0 "" "" -p "$work/profile" true
differs() {
	profile "expect $1"
	says 0 "" "sanx-run: $work/profile: $2" -p "$work/profile" true
}
ok "profile: too few" differs "net.core.backlog >= 129" \
	'net.core.backlog is 128, and should be >= 129 (sysctl -w net.core.backlog="129")'
ok "profile: too many" differs "net.core.backlog <= 127" \
	'net.core.backlog is 128, and should be <= 127 (sysctl -w net.core.backlog="127")'
ok "profile: one of three" differs "net.mem >= 4096 131073 1" \
	'net.mem is 4096 131072 6291456, and should be >= 4096 131073 1 (sysctl -w net.mem="4096 131073 1")'
ok "profile: fewer than there should be" differs "net.core.backlog >= 1 1" \
	'net.core.backlog is 128, and should be >= 1 1 (sysctl -w net.core.backlog="1 1")'
ok "profile: another word" differs "net.policy = in-order" \
	'net.policy is min-inflight, and should be = in-order (sysctl -w net.policy="in-order")'
ok "profile: no such sysctl" differs "net.nothing = 1" 'there is no net.nothing'
ok "profile: another line" refuses '2: "option2": expected dgram, strict, summary, option, env or expect' \
	"# a" "option2 x"
ok "profile: not yes or no" refuses '1: "maybe": expected yes or no' "strict maybe"
ok "profile: not a summary" refuses '1: "": expected no, yes or each' "summary"
ok "profile: another option" refuses '1: "SO_MARK": not a socket option that a profile can set' \
	"option SO_MARK 1"
for value in "" x 1x -1 2147483648 "1 2"; do
	ok "profile: option $value" refuses "1: \"$value\": expected a number" "option SO_RCVBUF $value"
done
ok "profile: no variable" refuses '1: "": expected the name of a variable' "env"
ok "profile: a path" refuses '1: "../a": expected the name of a sysctl' "expect ../a = 1"
ok "profile: no comparison" refuses '1: "==": expected =, >= or <=' "expect net.mem == 1"
ok "profile: no value" refuses '1: "": expected a value' "expect net.mem ="
ok "profile: what a terminal obeys" refuses '1: "?[31m": expected dgram, strict, summary, option, env or expect' \
	$'\e[31m'
mapfile -t many < <(yes "option SO_KEEPALIVE 1" | head -n 17)
ok "profile: too many options" refuses '17: "SO_KEEPALIVE": too many socket options' "${many[@]}"
ok "profile: no such file" says 125 "" "sanx-run: $work/no: No such file or directory" -p "$work/no" true
ok "profile: no such name" says 125 "" "sanx-run: there is no profile no; there are: none" -p no true
rm -r "$bin/sys"

ok "command not found" says 127 "" "sanx-run: /nonexistent: No such file or directory" /nonexistent
ok "command not found in PATH" says 127 "" \
	"sanx-run: no-such-command: No such file or directory" no-such-command
ok "command not executable" says 126 "" "sanx-run: /dev/null: Permission denied" /dev/null
ok "no command" says 125 "" "sanx-run: a command is missing"
ok "no command after --" says 125 "" "sanx-run: a command is missing" --strict --
ok "unknown option" is "$("$run" --wrong true 2>/dev/null; echo $?)" 125
ok "help" is "$("$run" --help | head -n 1)" "Usage: sanx-run [OPTION]... [--] COMMAND [ARGUMENT]..."
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
	mkdir -p "$1/bin" "$1/lib/sanx" "$1/share/sanx/profiles" && cp "$run" "$1/bin" &&
		cp "$bin/libsanx-preload.so" "$1/lib/sanx" &&
		cp "$here/../profiles/"* "$1/share/sanx/profiles"
}
install_in "$work/usr" && run=$work/usr/bin/sanx-run
ok "a profile that is installed" says 0 "ob1" \
	"sanx-run: $work/usr/share/sanx/profiles/mpi: there is no net.core.somaxconn" \
	-p mpi printenv OMPI_MCA_pml
ok "another, and all of ours" says 125 "" \
	"sanx-run: there is no profile no; there are: latency mpi nginx postgresql redis safe throughput" \
	-p no true
for name in "$here/../profiles/"*; do
	# Each line is understood; what this machine has is not looked at.
	ok "profile ${name##*/}" is "$("$run" -p "$name" true >/dev/null 2>&1; echo $?)" 0
done
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
