#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-kcsan.sh: build the kernel of make kcsan unless the cache has it; print its
# folder.
#
# It is made as the debug kernel is, from the same fragments with kcsan.config put into
# them.  Of the kernel itself only what copies to and from programs is instrumented, so
# that all that KCSAN waits for are accesses of our modules.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Barriers are, for accesses that KCSAN delays as a CPU would.
instrumented="KCSAN_SANITIZE=n KCSAN_SANITIZE_iov_iter.o=y"
for object in spinlock mutex rwsem semaphore qspinlock qrwlock completion swait wait \
	workqueue kthread timer hrtimer softirq tree srcutree update sock slub; do
	instrumented+=" KCSAN_INSTRUMENT_BARRIERS_$object.o=y"
done

# without FRAGMENT: its lines but those that kcsan.config has other ones for.
without() {
	awk 'function name(line) {
			sub(/^(# )?CONFIG_/, "", line)
			sub(/(=| is not set).*/, "", line)
			return line
		}
		FNR == NR {
			if (/^CONFIG_/) { set[name($0)] = 1 }
			if (/=n$/) { off[name($0) "_"] = 1 }
			next
		}
		/^(# )?CONFIG_/ {
			n = name($0)
			if (n in set) next
			for (prefix in off) if (index(n, prefix) == 1) next
			print
		}' "$here/kcsan.config" "$1"
}

# What build-debug.sh takes from beside itself is in a folder of its own, with other
# fragments.  These have no comments, which shall not name another kernel.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/kernel"
ln -s "$here/../lib.sh" "$work/"
ln -s "$here/build-debug.sh" "$here/source.sh" "$here/patches" "$work/kernel/"
{
	without "$here/debug.config"
	grep '^CONFIG_' "$here/kcsan.config"
	echo "# $instrumented"
} >"$work/kernel/debug.config"
without "$here/debug-x86.config" >"$work/kernel/debug-x86.config"
MAKEFLAGS="-- $instrumented" "$work/kernel/build-debug.sh" x86
