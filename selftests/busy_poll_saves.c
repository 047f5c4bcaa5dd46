// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting by looking saves going to sleep, where two programs have a CPU each and
 * nothing but the socket between them.
 * cpus: 2
 * clock: host how often a program sleeps
 */
#include <sys/sysinfo.h>

#include "busy_poll_test.h"

/* How often one that asks sleeps, if nobody looks. */
static long sleeps_without(struct __test_metadata *_metadata, const int end[2])
{
	ASSERT_LE(2, get_nprocs());
	ASSERT_EQ(0, spin_us_set("0"));
	return ask(_metadata, end);
}

SANX_TEST_OF("loop", busy_poll)
{
	long before = sleeps_without(_metadata, self->end);

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, set_option(self->end[i], SOL_SOCKET, SO_BUSY_POLL,
					1000000));
	EXPECT_GT(before / 2, ask(_metadata, self->end));
	ASSERT_EQ(0, spin_us_set("20"));
}

/* It is learnt that an answer comes soon. */
SANX_TEST_OF("loop", learnt)
{
	long before = sleeps_without(_metadata, self->end);

	ASSERT_EQ(0, spin_us_set("10000"));
	EXPECT_GT(before / 2, ask(_metadata, self->end));
	ASSERT_EQ(0, spin_us_set("20"));
}

SANX_TEST_MAIN
