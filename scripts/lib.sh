# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What every script here starts with: where things are, and how to say things.

SANX_TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SANX_CACHE=${SANX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/af_sanx}
export SANX_TREE SANX_CACHE
[ -d "$SANX_CACHE" ] || mkdir -p "$SANX_CACHE"

# say WORDS...: progress, on stderr so that a command's output stays clean.
say() {
	printf '%s\n' "== $*" >&2
}

warn() {
	printf '%s\n' "warning: $*" >&2
}

die() {
	printf '%s\n' "error: $*" >&2
	exit 1
}

# use_ccache: where it is installed, compilers do again only what they have not done yet.
use_ccache() {
	export CCACHE_DIR=$SANX_CACHE/ccache CCACHE_MAXSIZE=2G CCACHE_NOHASHDIR=1
	export PATH=/usr/lib/ccache:$PATH
}

# nap SECONDS: sleep, in this process.  A loop that starts a program for each of its turns
# takes a good part of a CPU, where processes are dear.
nap() {
	# Nothing is ever written to this pipe, nor is it at its end.
	[ -n "${NAP:-}" ] || exec {NAP}<> <(:)
	read -r -t "$1" -u "$NAP" || true
}

# slow_of KERNEL: what waits for a node waits this many times longer, as it does more.
slow_of() {
	case $1 in
	debug | kcsan) echo 5 ;;
	um) echo 2 ;;
	*) echo 1 ;;
	esac
}

# with_lock NAME CMD...: one at a time among all scripts that share the cache.
# CMD runs under set -e as long as nobody puts with_lock itself in a condition.
with_lock() {
	local name=$1 fd
	shift
	exec {fd}>"$SANX_CACHE/$name.lock"
	flock "$fd"
	"$@" {fd}>&-
	exec {fd}>&-
}
