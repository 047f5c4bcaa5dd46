#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# nodes.sh [KERNEL]: two virtual nodes that stay up, with a shell on each.
#
# In a terminal the shells open in tmux, and leaving it switches the nodes off.
# Otherwise they stay until told, as is printed.
set -euo pipefail
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$SCRIPTS/lib.sh"

kernel=${1:-6.1}
export SANX_LAB=${SANX_LAB:-nodes}
lab=$SCRIPTS/lab

setup() {
	# shellcheck source=scripts/lablib.sh
	. "$SCRIPTS/lablib.sh"
	trap - EXIT
	say "loading af_sanx and sanx_verbs, making rxe0, loading a node map"
	fresh
	load_verbs
	nodemap_std
}

explain() {
	cat <<END

Two nodes are up: node1 (10.77.0.1, fd77::1) and node2 (10.77.0.2, fd77::2).
Both run kernel $kernel, have AF_SANX loaded and know each other; they see this
machine's files, of which they change only their own copy.

  scripts/lab --name $SANX_LAB shell 1       a shell on node1
  scripts/lab --name $SANX_LAB shell 2       a shell on node2
  scripts/lab --name $SANX_LAB down          switch them off

Try, on node1:    iperf3 -s
and on node2:     sanx-run iperf3 -c node1

END
}

terminals() {
	local session=sanx-$SANX_LAB
	tmux new-session -d -s "$session" "$lab --name $SANX_LAB shell 1"
	tmux split-window -h -t "$session" "$lab --name $SANX_LAB shell 2"
	tmux attach -t "$session"
}

"$SCRIPTS/deps.sh" build lab programs
"$SCRIPTS/build-modules.sh" "$kernel"
make -s -C "$SANX_TREE/tools" O="$SANX_TREE/build/tools"
"$lab" up --kernel "$kernel"
trap '"$lab" down' ERR INT TERM
(setup)
explain
if [ -t 0 ] && [ -t 1 ] && [ -z "${TMUX:-}" ] && command -v tmux >/dev/null; then
	terminals
	say "switching the nodes off"
	"$lab" down
fi
