// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting by looking: SO_BUSY_POLL, net.sanx.spin_us.  Whether it saves what it
 * is there for is seen where two programs have a CPU each; everywhere, that it
 * loses nothing and keeps nobody from a CPU.
 */
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "sanx_test.h"

#define SPIN_US		"/proc/sys/net/sanx/spin_us"
#define ROUNDS		400

static int spin_us_set(const char *us)
{
	return write_file(SPIN_US, us);
}

static long answer(struct task *t)
{
	char c;

	for (int i = 0; i < ROUNDS; i++) {
		if (recv(t->fd, &c, 1, 0) != 1 || send(t->fd, &c, 1, 0) != 1)
			return -1;
	}
	return 0;
}

/* How often the caller slept while asking. */
static long ask(struct __test_metadata *_metadata, const int end[2])
{
	struct task t = { .fn = answer, .fd = end[1] };
	struct rusage before, after;
	char c;

	task_start(&t);
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(1, send(end[0], "q", 1, 0));
		ASSERT_EQ(1, recv(end[0], &c, 1, 0));
	}
	getrusage(RUSAGE_THREAD, &after);
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	return after.ru_nvcsw - before.ru_nvcsw;
}

/* Two programs on a CPU each, and nothing but the socket between them. */
static bool sleeps_show(const FIXTURE_VARIANT(stream) *v)
{
	return get_nprocs() > 1 && v->carried == SANX_A_STATS_CONNS_LOOP;
}

SANX_TEST(busy_poll)
{
	long before, sleeps;

	ASSERT_EQ(0, spin_us_set("0"));
	before = ask(_metadata, self->end);
	/* For ever, almost; and still the other one comes to its CPU. */
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, set_option(self->end[i], SOL_SOCKET, SO_BUSY_POLL,
					1000000));
	sleeps = ask(_metadata, self->end);
	if (sleeps_show(variant))
		EXPECT_LT(sleeps, before);
	ASSERT_EQ(0, spin_us_set("20"));
}

/* It is learnt that an answer comes soon. */
SANX_TEST(learnt)
{
	long before, sleeps;

	ASSERT_EQ(0, spin_us_set("0"));
	before = ask(_metadata, self->end);
	ASSERT_EQ(0, spin_us_set("10000"));
	sleeps = ask(_metadata, self->end);
	if (sleeps_show(variant))
		EXPECT_LT(sleeps, before);
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
	pthread_kill(t.thread, SIGUSR1);
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
