// SPDX-License-Identifier: GPL-2.0
/*
 * Work of a connection in the connect thread (af_sanx/conn/work.c): whatever it
 * is that cancels it, and whenever, its reference is put once.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/refcount.h>

#include "conn/conn_priv.h"

/* Work that expires at one tick, and ticks at which it does. */
#define MANY	64
#define ROUNDS	100

/**
 * struct subject - a connection that has nothing but work
 * @conn: with one reference, which the test keeps
 * @work: its work
 * @ran: completed by the work
 * @again: how often the work queues itself again
 */
struct subject {
	struct sanx_conn	conn;
	struct sanx_conn_work	work;
	struct completion	ran;
	int			again;
};

static void run(struct kthread_work *work)
{
	struct subject *s = container_of(work, struct subject, work.work);

	if (s->again) {
		s->again--;
		sanx_conn_work_again(&s->work, 1);
		return;
	}
	sanx_conn_put(&s->conn);
	complete(&s->ran);
}

static struct subject *subjects(struct kunit *test, unsigned int n)
{
	struct subject *all = kunit_kcalloc(test, n, sizeof(*all), GFP_KERNEL);
	struct subject *s;

	KUNIT_ASSERT_NOT_NULL(test, all);
	for (s = all; s < all + n; s++) {
		refcount_set(&s->conn.refs, 1);
		init_completion(&s->ran);
		sanx_conn_work_init(&s->work, &s->conn, run);
	}
	return all;
}

static unsigned int refs(const struct subject *s)
{
	return refcount_read(&s->conn.refs);
}

static void runs_and_puts(struct kunit *test)
{
	struct subject *s = subjects(test, 1);
	unsigned long delay;

	for (delay = 0; delay < 3; delay++) {
		s->again = delay;
		sanx_conn_work_queue(&s->work, delay);
		KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&s->ran, 10 * HZ));
		sanx_conn_work_stop(&s->work);
		KUNIT_EXPECT_EQ(test, refs(s), 1U);
	}
}

static void queued_twice(struct kunit *test)
{
	struct subject *s = subjects(test, 1);

	sanx_conn_work_queue(&s->work, 1000 * HZ);
	sanx_conn_work_queue(&s->work, 2000 * HZ);
	KUNIT_EXPECT_EQ(test, refs(s), 2U);
	sanx_conn_work_stop(&s->work);
	KUNIT_EXPECT_EQ(test, refs(s), 1U);
	KUNIT_EXPECT_FALSE(test, completion_done(&s->ran));
}

/*
 * Timers of one jiffy expire at the second tick from now.  Waits until it is @lead
 * ns away.
 */
static void wait_for_second_tick(u64 lead)
{
	unsigned long now = jiffies;
	u64 from;

	while (!time_after(jiffies, now))
		cpu_relax();
	from = ktime_get_ns();
	while (ktime_get_ns() - from + lead < TICK_NSEC)
		cpu_relax();
}

/*
 * One tick for all, so that it comes while one of them is cancelled, after
 * sanx_conn_work_stop() began with it and before its timer is off the clock.
 */
static void expires_while_cancelled(struct kunit *test)
{
	struct subject *all = subjects(test, MANY), *s;
	u64 took = TICK_NSEC / 8, from;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		for (s = all; s < all + MANY; s++)
			sanx_conn_work_queue(&s->work, 1);
		wait_for_second_tick(min_t(u64, took / 2, TICK_NSEC / 2));
		from = ktime_get_ns();
		for (s = all; s < all + MANY; s++)
			sanx_conn_work_stop(&s->work);
		took = ktime_get_ns() - from;
		for (s = all; s < all + MANY; s++)
			KUNIT_ASSERT_EQ_MSG(test, refs(s), 1U, "round %u", round);
	}
}

/* Work that runs while it is cancelled, and has itself run again. */
static void runs_while_cancelled(struct kunit *test)
{
	struct subject *s = subjects(test, 1);
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		s->again = 1;
		sanx_conn_work_queue(&s->work, 0);
		if (round % 2)
			usleep_range(10, 20);
		sanx_conn_work_stop(&s->work);
		KUNIT_ASSERT_EQ_MSG(test, refs(s), 1U, "round %u", round);
	}
}

static struct kunit_case conn_work_cases[] = {
	KUNIT_CASE(runs_and_puts),
	KUNIT_CASE(queued_twice),
	KUNIT_CASE(expires_while_cancelled),
	KUNIT_CASE(runs_while_cancelled),
	{}
};

static struct kunit_suite conn_work_suite = {
	.name = "sanx_conn_work",
	.test_cases = conn_work_cases,
};

kunit_test_suite(conn_work_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: work of a connection");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
