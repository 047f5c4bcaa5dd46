// SPDX-License-Identifier: GPL-2.0
/* A limit on events per second (af_sanx/link/frame/rate.h). */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>

#include "link/frame/rate.h"

struct rate_case {
	const char *desc;
	u32 per_second;
};

static const struct rate_case rate_cases[] = {
	{ "one a second", 1 },
	{ "four a second", 4 },
	{ "a thousand", 1000 },
	{ "a million", 1000000 },
};

KUNIT_ARRAY_PARAM_DESC(rate, rate_cases, desc);

static bool may(struct sanx_rate *rate, u64 now, u32 per_second)
{
	return !sanx_rate_wait(rate, now, per_second);
}

/* How many may take place at once? */
static u32 take_all(struct sanx_rate *rate, u64 now, u32 per_second)
{
	u32 n = 0;

	while (n <= per_second && may(rate, now, per_second))
		n++;
	return n;
}

/* At first, and after a second of silence, those of one second. */
static void rate_burst(struct kunit *test)
{
	const struct rate_case *c = test->param_value;
	struct sanx_rate rate = {};
	u64 now = 5 * (u64)NSEC_PER_SEC;

	KUNIT_EXPECT_EQ(test, take_all(&rate, now, c->per_second), c->per_second);
	KUNIT_EXPECT_FALSE(test, may(&rate, now, c->per_second));
	now += 100 * (u64)NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, take_all(&rate, now, c->per_second), c->per_second);
}

/* Then one at a time; those that were refused cost nothing. */
static void rate_steady(struct kunit *test)
{
	const struct rate_case *c = test->param_value;
	u64 step = NSEC_PER_SEC / c->per_second, now = step;
	struct sanx_rate rate = {};
	int i;

	take_all(&rate, now, c->per_second);
	for (i = 0; i < 100; i++) {
		now += step - 1;
		KUNIT_EXPECT_FALSE(test, may(&rate, now, c->per_second));
		now++;
		KUNIT_EXPECT_TRUE(test, may(&rate, now, c->per_second));
	}
}

/* Who waits as long as he was told may go on then, and not before. */
static void rate_told(struct kunit *test)
{
	const struct rate_case *c = test->param_value;
	struct sanx_rate rate = {};
	u64 now = NSEC_PER_SEC, wait;
	int i;

	take_all(&rate, now, c->per_second);
	for (i = 0; i < 100; i++) {
		wait = sanx_rate_wait(&rate, now, c->per_second);
		KUNIT_ASSERT_GT(test, wait, 0);
		KUNIT_ASSERT_LE(test, wait, NSEC_PER_SEC / c->per_second);
		KUNIT_EXPECT_FALSE(test, may(&rate, now + wait - 1, c->per_second));
		now += wait;
		KUNIT_EXPECT_TRUE(test, may(&rate, now, c->per_second));
	}
}

/* Whenever they come, no more than those of a second beyond the rate. */
static void rate_random(struct kunit *test)
{
	struct rnd_state rnd;
	struct sanx_rate rate = {};
	u64 start = NSEC_PER_SEC, now = start, taken = 0;
	u32 i, refused = 0;

	prandom_seed_state(&rnd, 0x52617465);
	for (i = 0; i < 100000; i++) {
		now += prandom_u32_state(&rnd) % (i % 1000 < 500 ? 100000 : 3000000);
		if (may(&rate, now, 1000))
			taken++;
		else
			refused++;
		KUNIT_ASSERT_LE(test, taken,
				1000 + (now - start) / (NSEC_PER_SEC / 1000));
	}
	/* It is neither closed nor open. */
	KUNIT_EXPECT_GT(test, taken, 50000);
	KUNIT_EXPECT_GT(test, refused, 1000);
}

static struct kunit_case rate_cases_all[] = {
	KUNIT_CASE_PARAM(rate_burst, rate_gen_params),
	KUNIT_CASE_PARAM(rate_steady, rate_gen_params),
	KUNIT_CASE_PARAM(rate_told, rate_gen_params),
	KUNIT_CASE(rate_random),
	{}
};

static struct kunit_suite rate_suite = {
	.name = "sanx_rate",
	.test_cases = rate_cases_all,
};

kunit_test_suite(rate_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: limits of events per second");
MODULE_LICENSE("GPL");
