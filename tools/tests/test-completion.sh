#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What bash completes for sanxctl.
# Usage: test-completion.sh

set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
# shellcheck source-path=SCRIPTDIR source=../completion/sanxctl
. "$here/../completion/sanxctl"

# In the place of the program: what is there to be deleted.
sanxctl() {
	case $1 in
	nodemap) printf '10.0.0.1 1 10.1.0.1\nfd00::2 2\n' ;;
	key) printf 'default 0012abcd\n7 00000001\n7 00000002\n' ;;
	rail) printf 'node 2 rail 0 transport verbs local 10.0.0.1 remote 10.0.0.2 state up\nnode 2 rail 1 transport tcp-rail local fd00::1 remote fd00::2 state up\nnode 3 rail 0 transport tcp-rail remote fd00::3 state idle\n' ;;
	ports) printf 'deny 22\nallow 80-90\ndeny 23\n' ;;
	esac
}

# completes WANTED WORD...: what can the last word become?
completes() {
	local wanted=$1
	shift
	COMP_WORDS=(sanxctl "$@")
	COMP_CWORD=$#
	_sanxctl
	is "${COMPREPLY[*]-}" "$wanted"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/one file"

ok "objects" completes "nodemap ports key link rail socket stats explain help" ""
ok "objects, begun" completes "socket stats" s
ok "options" completes "-json -pretty -Version -help" -
ok "objects after options" completes "nodemap" -j -p n
ok "commands" completes "show load sync add del flush help" nodemap ""
ok "commands of keys" completes "show generate add del help" key ""
ok "peers with keys" completes "default 7" key del ""
ok "keys of a peer" completes "00000001 00000002" key del 7 ""
ok "commands of what is only shown" completes "show help" link ""
ok "an object cut short" completes "flush" no f
ok "an ambiguous object" completes "" s ""
ok "an unknown object" completes "" x ""
ok "a file" completes "$work/one file" nodemap load "$work/o"
ok "a file for ports" completes "$work/one file" -j ports load "$work/o"
ok "one file" completes "" nodemap load file "$work/o"
ok "how often" completes "--every" nodemap sync --e
ok "hosts that are there" completes "10.0.0.1 fd00::2" nodemap del ""
ok "actions" completes "allow deny" ports add ""
ok "rules that are there" completes "22 23" ports del deny ""
ok "rails" completes "10.0.0.1 10.0.0.2 tcp:fd00::1 tcp:fd00::2 tcp:fd00::3" rail set ""
ok "what a rail can be set to" completes "up drain down weight" rail set 10.0.0.1 ""
ok "nothing after show" completes "" link show ""
ok "filters of sockets" completes "port pid" socket show all p
ok "states of sockets" completes "connecting connected" socket show state conn
ok "hosts to explain" completes "10.0.0.1" explain 10
ok "nothing behind the port" completes "" explain 10.0.0.1 80 ""
ok "reasons" completes "refused route" socket show all fallback r

tap_done
