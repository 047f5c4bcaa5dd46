// SPDX-License-Identifier: GPL-2.0
/*
 * Which rail is tried (af_sanx/link/rails.h): stories of rails that fail and come up,
 * each told from several times on, so that the clock wraps in some.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>

#include "link/rails.h"

#define HOLD	100UL
#define ALL	GENMASK(RAILS_MAX - 1, 0)
#define NONE	RAILS_MAX

enum what {
	END,
	FAILED,
	UP,
	/* rails_choose() of all rails; of all but the first. */
	CHOICE,
	CHOICE_BUT_0,
	/* rails_better() than the last rail. */
	BETTER,
};

/**
 * struct step - something that happens, or is asked
 * @what: it
 * @rail: the rail that it happens to, or the answer
 * @at: when, from the beginning of the story
 * @wait: BETTER: the time to wait
 */
struct step {
	enum what what;
	unsigned int rail;
	unsigned long at;
	unsigned long wait;
};

/**
 * struct story - what happens to the rails to a node
 * @desc: in words
 * @steps: in their order
 */
struct story {
	const char *desc;
	struct step steps[12];
};

static const struct story stories[] = {
	{ "the first is preferred", {
		{ CHOICE, 0, 0 }, { CHOICE_BUT_0, 1, 0 }, { BETTER, 0, 0, ULONG_MAX },
	} },
	{ "one that failed is held, and no longer", {
		{ FAILED, 0, 0 }, { CHOICE, 1, 1 }, { BETTER, 1, 1, 99 },
		{ CHOICE, 1, HOLD - 1 }, { CHOICE, 0, HOLD }, { BETTER, 0, HOLD, 99 },
	} },
	{ "all but the last are held: nothing is better, for a time", {
		{ FAILED, 0, 0 }, { FAILED, 1, 10 }, { FAILED, 2, 20 },
		{ BETTER, NONE, 30, 70 }, { BETTER, 0, HOLD, ULONG_MAX },
	} },
	{ "all are held: the one whose time ends first", {
		{ FAILED, 0, 40 }, { FAILED, 1, 20 }, { FAILED, 2, 10 }, { FAILED, 3, 30 },
		{ CHOICE, 2, 50 }, { CHOICE_BUT_0, 2, 50 },
	} },
	{ "the time doubles with each failure", {
		{ FAILED, 0, 0 }, { CHOICE, 0, 100 }, { FAILED, 0, 100 },
		{ CHOICE, 1, 299 }, { CHOICE, 0, 300 }, { FAILED, 0, 300 },
		{ CHOICE, 1, 699 }, { CHOICE, 0, 700 },
	} },
	{ "but not for ever", {
		{ FAILED, 0, 0 }, { FAILED, 0, 100 }, { FAILED, 0, 300 },
		{ FAILED, 0, 700 }, { FAILED, 0, 1500 }, { FAILED, 0, 3100 },
		{ CHOICE, 1, 4699 }, { CHOICE, 0, 4700 },
	} },
	{ "failures while it is held are the same one", {
		{ FAILED, 0, 0 }, { FAILED, 0, 50 }, { FAILED, 0, 99 },
		{ CHOICE, 0, 100 }, { FAILED, 0, 100 }, { CHOICE, 0, 300 },
	} },
	{ "a short success does not count", {
		{ FAILED, 0, 0 }, { UP, 0, 100 }, { FAILED, 0, 100 + 16 * HOLD - 1 },
		{ CHOICE, 1, 100 + 16 * HOLD + 198 }, { CHOICE, 0, 100 + 16 * HOLD + 199 },
	} },
	{ "nor does one while it is held, later", {
		{ FAILED, 0, 0 }, { UP, 0, 10 }, { FAILED, 0, 20 }, { UP, 0, 1600 },
		{ FAILED, 0, 1650 }, { CHOICE, 1, 1849 }, { CHOICE, 0, 1850 },
	} },
	{ "a long one does", {
		{ FAILED, 0, 0 }, { UP, 0, 100 }, { FAILED, 0, 100 + 16 * HOLD },
		{ CHOICE, 1, 100 + 17 * HOLD - 1 }, { CHOICE, 0, 100 + 17 * HOLD },
	} },
	{ "of several links the first counts", {
		{ FAILED, 0, 0 }, { UP, 0, 100 }, { UP, 0, 900 },
		{ FAILED, 0, 100 + 16 * HOLD }, { CHOICE, 0, 100 + 17 * HOLD },
	} },
};

static void tell(struct kunit *test, const struct story *s, unsigned long from)
{
	struct rails r = {};
	const struct step *e;
	unsigned long wait;

	for (e = s->steps; e->what != END; e++) {
		switch (e->what) {
		case FAILED:
			rails_failed(&r, e->rail, from + e->at, HOLD, 0);
			break;
		case UP:
			rails_up(&r, e->rail, from + e->at);
			break;
		case CHOICE:
			KUNIT_EXPECT_EQ_MSG(test, e->rail, rails_choose(&r, ALL, from + e->at),
					    "%s: at %lu", s->desc, e->at);
			break;
		case CHOICE_BUT_0:
			KUNIT_EXPECT_EQ(test, e->rail,
					rails_choose(&r, ALL & ~BIT(0), from + e->at));
			break;
		case BETTER:
			KUNIT_EXPECT_EQ_MSG(test, e->rail,
					    rails_better(&r, ALL, RAILS_MAX - 1,
							 from + e->at, &wait),
					    "%s: at %lu", s->desc, e->at);
			if (e->rail == NONE)
				KUNIT_EXPECT_EQ(test, e->wait, wait);
			break;
		default:
			break;
		}
	}
}

static void stories_test(struct kunit *test)
{
	static const unsigned long from[] = {
		0, 1, LONG_MAX - 500, LONG_MAX, ULONG_MAX - 700, ULONG_MAX - 50, ULONG_MAX,
	};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(stories); i++)
		for (k = 0; k < ARRAY_SIZE(from); k++)
			tell(test, &stories[i], from[k]);
}

/* There is no rail but the usable ones, whatever has failed. */
static void usable_test(struct kunit *test)
{
	struct rails r = {};
	unsigned long wait;
	u32 usable;

	KUNIT_EXPECT_EQ(test, NONE, rails_choose(&r, 0, 0));
	rails_failed(&r, 1, 0, HOLD, 0);
	rails_failed(&r, 3, 0, HOLD, 0);
	for (usable = 1; usable <= ALL; usable++) {
		unsigned int i = rails_choose(&r, usable, 1);

		KUNIT_EXPECT_LT(test, i, NONE);
		KUNIT_EXPECT_TRUE(test, usable & BIT(i));
		i = rails_better(&r, usable, 2, 1, &wait);
		KUNIT_EXPECT_EQ(test, i, usable & BIT(0) ? 0 : NONE);
		if (i == NONE)
			KUNIT_EXPECT_EQ(test, wait, usable & BIT(1) ? HOLD - 1 : ULONG_MAX);
	}
}

/* The time is longer by a quarter at most, and not the same for all nodes. */
static void jitter_test(struct kunit *test)
{
	unsigned long least = ULONG_MAX, most = 0;
	u32 jitter;

	for (jitter = 0; jitter < 1000; jitter++) {
		struct rails r = {};

		rails_failed(&r, 0, 0, HOLD, jitter * 7919);
		least = min(least, r.rail[0].until);
		most = max(most, r.rail[0].until);
	}
	KUNIT_EXPECT_EQ(test, least, HOLD);
	KUNIT_EXPECT_EQ(test, most, HOLD + HOLD / 4);
}

static struct kunit_case rails_cases[] = {
	KUNIT_CASE(stories_test),
	KUNIT_CASE(usable_test),
	KUNIT_CASE(jitter_test),
	{}
};

static struct kunit_suite rails_suite = {
	.name		= "sanx_rails",
	.test_cases	= rails_cases,
};

kunit_test_suite(rails_suite);

MODULE_DESCRIPTION("KUnit tests of the choice of rails");
MODULE_LICENSE("GPL");
