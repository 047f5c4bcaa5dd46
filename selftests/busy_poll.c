// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting by looking: SO_BUSY_POLL, net.sanx.spin_us.  It loses nothing and keeps
 * nobody from a CPU.  Whether it saves what it is there for: busy_poll_saves.c.
 */
#include "sanx_test.h"

/* Who looks on the only CPU does so until the next tick, in each round. */
#define ROUNDS	100
#include "busy_poll_test.h"

/* For ever, almost; and still the other one comes to its CPU. */
SANX_TEST(busy_poll)
{
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, set_option(self->end[i], SOL_SOCKET, SO_BUSY_POLL,
					1000000));
	ask(_metadata, self->end);
}

SANX_TEST(learnt)
{
	ASSERT_EQ(0, spin_us_set("10000"));
	ask(_metadata, self->end);
	ASSERT_EQ(0, spin_us_set("20"));
}

/* SO_RCVTIMEO, signals and MSG_DONTWAIT are as without. */
SANX_TEST(limits)
{
	struct task t = { .fn = task_recv, .fd = self->server };
	long start;
	char c;

	t.buf = &c;
	t.len = 1;
	ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_BUSY_POLL,
				1000000000));
	ASSERT_EQ(-EAGAIN, rc(recv(self->server, &c, 1, MSG_DONTWAIT)));
	signal_handle(false);
	task_start(&t);
	sleep_ms(A_WHILE);
	/* It does not sleep, so whether it has begun cannot be seen. */
	for (start = now_ms(); !t.done && now_ms() < start + SOON;) {
		pthread_kill(t.thread, SIGUSR1);
		sleep_ms(20);
	}
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(-EINTR, t.ret);
	ASSERT_EQ(0, set_timeout(self->server, SO_RCVTIMEO, LIMIT));
	start = now_ms();
	ASSERT_EQ(-EAGAIN, rc(recv(self->server, &c, 1, 0)));
	EXPECT_LE(LIMIT_AT_LEAST, now_ms() - start);
	EXPECT_GT(SOON, now_ms() - start);
}

/* Of each namespace its own, and no value that makes no sense. */
SANX_TEST(sysctl)
{
	ASSERT_EQ(-EINVAL, spin_us_set("10001"));
	ASSERT_EQ(-EINVAL, spin_us_set("-1"));
	ASSERT_EQ(0, spin_us_set("10000"));
	ASSERT_EQ(0, spin_us_set("20"));
}

SANX_TEST_MAIN
