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
	link) printf 'node 2 transport verbs device a lane 5 state up\nnode 2 transport verbs device a lane 6 state up\nnode 3 transport loop device a lane 1 state up\n' ;;
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

ok "objects" completes "nodemap ports key link rail socket stats explain doctor monitor top help" ""
ok "objects, begun" completes "socket stats" s
ok "options" completes "-json -pretty -netns -Version -help" -
ok "objects after options" completes "nodemap" -j -p n
ok "commands" completes "show load sync add del flush help" nodemap ""
ok "commands of keys" completes "show generate add del help" key ""
ok "peers with keys" completes "default 7" key del ""
ok "keys of a peer" completes "00000001 00000002" key del 7 ""
ok "commands of what is only shown" completes "show reset help" link ""
ok "an object cut short" completes "flush" no f
ok "an ambiguous object" completes "" s ""
ok "an unknown object" completes "" x ""
ok "a file" completes "$work/one file" nodemap load "$work/o"
ok "a file for ports" completes "$work/one file" -j ports load "$work/o"
ok "one file" completes "" nodemap load file "$work/o"
ok "how often" completes "--every" nodemap sync --e
ok "hosts that are there" completes "10.0.0.1 fd00::2" nodemap del ""
ok "actions" completes "allow deny" ports add ""
ok "rules" completes "in out from to explicit default" ports add deny ""
ok "rules that are there" completes "22 23" ports del deny ""
ok "rails" completes "10.0.0.1 10.0.0.2 tcp:fd00::1 tcp:fd00::2 tcp:fd00::3" rail set ""
ok "what a rail can be set to" completes "up drain down weight" rail set 10.0.0.1 ""
ok "nothing after show" completes "" link show ""
ok "filters of sockets" completes "port pid" socket show all p
ok "states of sockets" completes "connecting connected" socket show state conn
ok "hosts to explain" completes "10.0.0.1" explain 10
ok "no port behind node" completes "" explain node ""
ok "nothing behind the port" completes "" explain 10.0.0.1 80 ""
ok "reasons" completes "refused route" socket show all fallback r
ok "an option of a command" completes "--prometheus" stats show --
ok "what there is to look at" completes "root help" doctor ""
ok "nodes with links" completes "2 3" link reset ""
ok "lanes of a node" completes "5 6" link reset 2 lane ""
ok "what there is to be told" completes "socket link rail help" monitor ""
ok "sums" completes "socket node program" top count 3 by ""
ok "behind the name of a namespace" completes "link" -n blue l
ok "the name of a namespace" completes "" -n b

# runs WANTED WORD...: likewise for sanx-run.
# shellcheck source-path=SCRIPTDIR source=../completion/sanx-run
. "$here/../completion/sanx-run"
runs() {
	local wanted=$1
	shift
	COMP_WORDS=(sanx-run "$@")
	COMP_CWORD=$#
	_sanx_run
	is "${COMPREPLY[*]-}" "$wanted"
}
ok "sanx-run: options" runs "--dgram --profile --strict --summary --verbose --help --version" --
ok "sanx-run: what follows a profile" runs "mkfifo" --profile redis mkfif
ok "sanx-run: a command" runs "mkfifo" --dgram mkfif
ok "sanx-run: a command behind --" runs "mkfifo" -- mkfif

# zsh: the same words, by functions in the place of the shell's own.
zsh_completes() {
	local wanted=$1
	shift
	# shellcheck disable=SC2016
	is "$(zsh -f -c '
		sanxctl() {
			case $1 in
			nodemap) printf "10.0.0.1 1 10.1.0.1\nfd00::2 2\n" ;;
			key) printf "default 0012abcd\n7 00000001\n7 00000002\n" ;;
			rail) printf "node 2 rail 0 transport verbs local 10.0.0.1 remote 10.0.0.2 state up\nnode 2 rail 1 transport tcp-rail local fd00::1 remote fd00::2 state up\n" ;;
			link) printf "node 2 transport verbs device a lane 5 state up\nnode 2 transport verbs device a lane 6 state up\nnode 3 transport loop device a lane 1 state up\n" ;;
			ports) printf "deny 22\nallow 80-90\ndeny 23\n" ;;
			esac
		}
		compadd() { shift; out+=("$@") }
		_files() { out+=(FILES) }
		_users() { out+=(USERS) }
		_hosts() { out+=(HOSTS) }
		_ports() { out+=(PORTS) }
		_command_names() { out+=(COMMANDS) }
		typeset -a out words=(sanxctl "${@[2,-1]}")
		CURRENT=$#words
		. $1
		print -- $out' zsh "$here/../completion/_sanxctl" "$@")" "$wanted"
}
ok "zsh: objects" zsh_completes "nodemap ports key link rail socket stats explain doctor monitor top help" ""
ok "zsh: objects behind options" zsh_completes "nodemap ports key link rail socket stats explain doctor monitor top help" -j -n x ""
ok "zsh: options" zsh_completes "-json -pretty -netns -Version -help" -
ok "zsh: commands" zsh_completes "show load sync add del flush help" no ""
ok "zsh: an ambiguous object" zsh_completes "" s ""
ok "zsh: a file" zsh_completes "FILES --allow-empty" nodemap load ""
ok "zsh: hosts that are there" zsh_completes "10.0.0.1 fd00::2" nodemap del ""
ok "zsh: peers with keys" zsh_completes "default 7" key del ""
ok "zsh: keys of a peer" zsh_completes "00000001 00000002" key del 7 ""
ok "zsh: rules" zsh_completes "in out from to explicit default" ports add deny ""
ok "zsh: rules that are there" zsh_completes "22 23" ports del deny ""
ok "zsh: rails" zsh_completes "10.0.0.1 10.0.0.2 tcp:fd00::1 tcp:fd00::2" rail set ""
ok "zsh: what a rail can be set to" zsh_completes "up drain down weight" rail set 10.0.0.1 ""
ok "zsh: states of sockets" zsh_completes "established connecting listening connected unconnected" socket show state ""
ok "zsh: filters of sockets" zsh_completes "all -p -m state transport fallback node port sport dport pid uid" socket show all ""
ok "zsh: hosts to explain" zsh_completes "10.0.0.1 fd00::2 node pid help" explain ""
ok "zsh: nodes with links" zsh_completes "2 3" link reset ""
ok "zsh: lanes of a node" zsh_completes "5 6" link reset 2 lane ""
ok "zsh: what there is to be told" zsh_completes "socket link rail help" monitor ""
ok "zsh: sums" zsh_completes "socket node program" top count 3 by ""
ok "zsh: ports to explain" zsh_completes "PORTS" explain 10.0.0.1 ""
ok "zsh: all files are in order" zsh -f -n "$here/../completion/_sanxctl" "$here/../completion/_sanx-run"

tap_done
