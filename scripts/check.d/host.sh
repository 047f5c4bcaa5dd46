# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# How fast the host is, which decides how long a run may take and never what it says.
#
# A native node makes processes and page tables all the time, and what that costs differs
# between hosts more than anything else: where the page tables of a virtual machine are
# shadowed, a process takes 3 ms and not 1, and labs beside each other take 2 to 7 times as
# long as scripts/check.d/seconds says, with the same results.

# process_us: what a process takes here, in microseconds; the least of five rounds, as
# something else may run beside it.
process_us() {
	local _ start us least=0
	for _ in 1 2 3 4 5; do
		start=${EPOCHREALTIME/[.,]/}
		for _ in {1..40}; do /bin/true; done
		us=$(((${EPOCHREALTIME/[.,]/} - start) / 40))
		[ "$least" != 0 ] && [ "$least" -le "$us" ] || least=$us
	done
	echo "$least"
}

# measure_host: sets and exports SANX_HOST_SLOW, how many times as long as usual a test may
# take, from 1 to 4, once for all stages of a run.
measure_host() {
	local us
	[ -z "${SANX_HOST_SLOW:-}" ] || return 0
	us=$(process_us)
	SANX_HOST_SLOW=$(((us + 500) / 1000))
	[ "$SANX_HOST_SLOW" -ge 1 ] || SANX_HOST_SLOW=1
	[ "$SANX_HOST_SLOW" -le 4 ] || SANX_HOST_SLOW=4
	export SANX_HOST_SLOW
	[ "$SANX_HOST_SLOW" = 1 ] ||
		say "a process takes $us us on this host: tests may take $SANX_HOST_SLOW times as long"
}
