// SPDX-License-Identifier: GPL-2.0
/*
 * Print the frequency of this machine's time stamp counter in kHz, for the
 * kernel parameter tsc_early_khz of an emulated node.
 *
 * qemu's emulation passes the host's counter on.  A node that measures it against
 * an emulated timer while the host is busy may be wrong by an order of magnitude:
 * its clock then runs as much too fast, and all its timeouts are as much too short.
 *
 * Copyright (C) 2026 The AF_SANX authors
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct reading {
	uint64_t tsc;
	int64_t ns;
};

/*
 * One reading of both clocks.  Of several tries the one with the fewest cycles
 * between the counter before and after the other clock counts: that one was not
 * interrupted.
 */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < 100; i++) {
		struct timespec ts;
		uint64_t before, after;

		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC, &ts);
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		best.tsc = before + least / 2;
		best.ns = ts.tv_sec * 1000000000LL + ts.tv_nsec;
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	struct reading from, to;

	from = read_both();
	nanosleep(&pause, NULL);
	to = read_both();
	printf("%.0f\n", (to.tsc - from.tsc) * 1e6 / (to.ns - from.ns));
	return 0;
}
