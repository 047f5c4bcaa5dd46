/* SPDX-License-Identifier: GPL-2.0 */
/* Two threads that ask and answer, for the tests of waiting by looking. */
#ifndef BUSY_POLL_TEST_H
#define BUSY_POLL_TEST_H

#include <sched.h>
#include <sys/resource.h>

#include "sanx_test.h"

#define SPIN_US		"/proc/sys/net/sanx/spin_us"
#ifndef ROUNDS
#define ROUNDS		400
#endif

static inline int spin_us_set(const char *us)
{
	return write_file(SPIN_US, us);
}

/* A CPU of its own, where there are two. */
static inline void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static inline long answer(struct task *t)
{
	char c;

	stay_on(1);
	for (int i = 0; i < ROUNDS; i++) {
		if (recv(t->fd, &c, 1, 0) != 1 || send(t->fd, &c, 1, 0) != 1)
			return -1;
	}
	return 0;
}

/* How often the caller slept while asking. */
static inline long ask(struct __test_metadata *_metadata, const int end[2])
{
	struct task t = { .fn = answer, .fd = end[1] };
	struct rusage before, after;
	char c;

	stay_on(0);
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

#endif /* BUSY_POLL_TEST_H */
