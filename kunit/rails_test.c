// SPDX-License-Identifier: GPL-2.0
/*
 * Which rail is tried (af_sanx/link/peer/rails.h): stories of rails that fail and come up,
 * each told from several times on, so that the clock wraps in some.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/string.h>

#include "link/peer/rails.h"

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
	/* rails_move() from the last rail; all are well. */
	BETTER,
	REFUSED,
	FORGET,
	FORGIVE,
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
		{ CHOICE, 1, HOLD - 1 }, { CHOICE, 0, HOLD }, { BETTER, 0, HOLD, ULONG_MAX },
	} },
	{ "all but the last are held: nothing is better, for a time", {
		{ FAILED, 0, 0 }, { FAILED, 1, 10 }, { FAILED, 2, 20 },
		{ BETTER, NONE, 30, 70 }, { BETTER, 0, HOLD, 10 },
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
	{ "a success is forgotten as late as it counts", {
		{ FAILED, 0, 0 }, { UP, 0, 100 }, { FORGET, 0, 1699 }, { FAILED, 0, 1699 },
		{ CHOICE, 1, 1898 }, { FORGET, 0, 1900 }, { UP, 0, 1900 },
		{ FORGET, 0, 3500 }, { REFUSED, 0, 3500 }, { CHOICE, 1, 3599 },
	} },
	{ "refusals do not make it longer", {
		{ REFUSED, 0, 0 }, { CHOICE, 1, 99 }, { CHOICE, 0, 100 },
		{ REFUSED, 0, 100 }, { CHOICE, 1, 199 }, { CHOICE, 0, 200 },
		{ REFUSED, 0, 200 }, { CHOICE, 1, 299 }, { CHOICE, 0, 300 },
	} },
	{ "nor do they make it shorter", {
		{ FAILED, 0, 0 }, { FAILED, 0, 100 }, { REFUSED, 0, 250 },
		{ CHOICE, 1, 299 }, { CHOICE, 0, 300 }, { FAILED, 0, 300 },
		{ CHOICE, 1, 699 }, { CHOICE, 0, 700 },
	} },
	{ "one that is forgiven is not held, and what follows is a first failure", {
		{ FAILED, 0, 0 }, { FAILED, 0, 100 }, { CHOICE, 1, 150 }, { FORGIVE, 0, 150 },
		{ CHOICE, 0, 150 }, { BETTER, 0, 150, ULONG_MAX }, { FAILED, 0, 160 },
		{ CHOICE, 1, 259 }, { CHOICE, 0, 260 },
	} },
	{ "of several links the first counts", {
		{ FAILED, 0, 0 }, { UP, 0, 100 }, { UP, 0, 900 },
		{ FAILED, 0, 100 + 16 * HOLD }, { CHOICE, 0, 100 + 17 * HOLD },
	} },
};

/* All rails, of one kind and equal weight, with links on all. */
static const struct rails_view all = {
	.usable	= ALL,
	.well	= ALL,
	.weight	= { 1, 1, 1, 1 },
};

static unsigned int choose(const struct rails *r, u32 tried, unsigned long now)
{
	return rails_choose(r, &all, tried, false, now);
}

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
		case FORGET:
			rails_forget(&r, from + e->at, HOLD);
			break;
		case FORGIVE:
			rails_forgive(&r, e->rail);
			break;
		case REFUSED:
			rails_refused(&r, e->rail, from + e->at, HOLD, 0);
			break;
		case UP:
			rails_up(&r, e->rail, from + e->at);
			break;
		case CHOICE:
			KUNIT_EXPECT_EQ_MSG(test, e->rail, choose(&r, 0, from + e->at),
					    "%s: at %lu", s->desc, e->at);
			break;
		case CHOICE_BUT_0:
			KUNIT_EXPECT_EQ(test, e->rail,
					choose(&r, BIT(0), from + e->at));
			break;
		case BETTER:
			KUNIT_EXPECT_EQ_MSG(test, e->rail,
					    rails_move(&r, &all, RAILS_MAX - 1,
						       from + e->at, &wait),
					    "%s: at %lu", s->desc, e->at);
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

static bool in(u32 set, unsigned int i)
{
	return i < RAILS_MAX && set & BIT(i);
}

/* There is no rail but the usable ones, whatever has failed. */
static void usable_test(struct kunit *test)
{
	struct rails_view v = all;
	struct rails r = {};
	unsigned long wait;
	unsigned int i;

	v.usable = 0;
	KUNIT_EXPECT_EQ(test, NONE, rails_choose(&r, &v, 0, false, 0));
	rails_failed(&r, 1, 0, HOLD, 0);
	rails_failed(&r, 3, 0, HOLD, 0);
	for (v.usable = 1; v.usable <= ALL; v.usable++) {
		KUNIT_EXPECT_TRUE(test, in(v.usable, rails_choose(&r, &v, 0, false, 1)));
		i = rails_move(&r, &v, 2, 1, &wait);
		KUNIT_EXPECT_EQ(test, i, v.usable & BIT(0) ? 0 : NONE);
		KUNIT_EXPECT_EQ(test, wait, v.usable & (BIT(1) | BIT(3)) ? HOLD - 1 :
									   ULONG_MAX);
	}
}

/* One that is to be left is taken if there is nothing else, and never moved to. */
static void drain_test(struct kunit *test)
{
	struct rails_view v = all;
	struct rails r = {};
	unsigned long wait;

	v.drain = BIT(0);
	KUNIT_EXPECT_EQ(test, 1, rails_choose(&r, &v, 0, false, 0));
	KUNIT_EXPECT_EQ(test, 1, rails_move(&r, &v, 0, 0, &wait));
	KUNIT_EXPECT_EQ(test, 1, rails_move(&r, &v, 3, 0, &wait));
	/* Held ones are better. */
	rails_failed(&r, 1, 0, HOLD, 0);
	rails_failed(&r, 2, 0, HOLD, 0);
	rails_failed(&r, 3, 0, HOLD, 0);
	KUNIT_EXPECT_EQ(test, 1, rails_choose(&r, &v, 0, false, 1));
	KUNIT_EXPECT_EQ(test, 0, rails_choose(&r, &v, ~1U, false, 1));
	/* But no link is given up for one. */
	KUNIT_EXPECT_EQ(test, NONE, rails_move(&r, &v, 0, 1, &wait));
	KUNIT_EXPECT_EQ(test, HOLD - 1, wait);
	v.drain = ALL;
	KUNIT_EXPECT_EQ(test, 0, rails_choose(&r, &v, 0, false, 1));
	KUNIT_EXPECT_EQ(test, NONE, rails_move(&r, &v, 0, HOLD, &wait));
	KUNIT_EXPECT_EQ(test, NONE, rails_move(&r, &v, 2, HOLD, &wait));
}

/* Where connections wait, a rail that works is tried first. */
static void sure_test(struct kunit *test)
{
	struct rails_view v = all;
	struct rails r = {};
	unsigned long wait;

	v.well = BIT(2) | BIT(3);
	KUNIT_EXPECT_EQ(test, 0, rails_choose(&r, &v, 0, false, 0));
	KUNIT_EXPECT_EQ(test, 2, rails_choose(&r, &v, 0, true, 0));
	KUNIT_EXPECT_EQ(test, 0, rails_choose(&r, &v, BIT(2) | BIT(3), true, 0));
	rails_failed(&r, 2, 0, HOLD, 0);
	KUNIT_EXPECT_EQ(test, 3, rails_choose(&r, &v, 0, true, 1));
	rails_failed(&r, 3, 0, HOLD, 0);
	KUNIT_EXPECT_EQ(test, 0, rails_choose(&r, &v, 0, true, 1));
	/* No lane gives up its link for a rail that may not work. */
	KUNIT_EXPECT_EQ(test, NONE, rails_move(&r, &v, 1, 1, &wait));
	KUNIT_EXPECT_EQ(test, 2, rails_move(&r, &v, 3, HOLD, &wait));
	/* Its own has no link when the map does not have it any more. */
	KUNIT_EXPECT_EQ(test, 2, rails_move(&r, &v, NONE, HOLD, &wait));
	v.well = 0;
	KUNIT_EXPECT_EQ(test, NONE, rails_move(&r, &v, NONE, HOLD, &wait));
}

/* Those who wait for a rail on which no link is up go where one is, and back for nothing. */
static void leave_test(struct kunit *test)
{
	struct rails_view v = all;
	struct rails r = {};

	v.well = BIT(2);
	KUNIT_EXPECT_TRUE(test, rails_leave(&r, &v, BIT(0), 0, 0));
	KUNIT_EXPECT_FALSE(test, rails_leave(&r, &v, BIT(2), 2, 0));
	KUNIT_EXPECT_FALSE(test, rails_leave(&r, &v, BIT(0), NONE, 0));
	/* It was tried, in vain. */
	KUNIT_EXPECT_FALSE(test, rails_leave(&r, &v, BIT(0) | BIT(2), 0, 0));
	/* What rails_choose() would not choose. */
	rails_failed(&r, 2, 0, HOLD, 0);
	KUNIT_EXPECT_FALSE(test, rails_leave(&r, &v, BIT(0), 0, HOLD - 1));
	KUNIT_EXPECT_TRUE(test, rails_leave(&r, &v, BIT(0), 0, HOLD));
	v.drain = BIT(2);
	KUNIT_EXPECT_FALSE(test, rails_leave(&r, &v, BIT(0), 0, HOLD));
	v.drain = 0;
	v.usable = ALL & ~BIT(2);
	KUNIT_EXPECT_FALSE(test, rails_leave(&r, &v, BIT(0), 0, HOLD));
	/* Nothing works. */
	v.usable = ALL;
	v.well = 0;
	KUNIT_EXPECT_FALSE(test, rails_leave(&r, &v, BIT(0), 0, HOLD));
}

/* The tier is the first rail; or all of its kind; spares count when alone. */
static void tier_test(struct kunit *test)
{
	struct rails_view v = {
		.kind	= { 0, 1, 0, 1 },
		.weight	= { 1, 1, 5, 0 },
	};

	KUNIT_EXPECT_EQ(test, rails_tier(&v, ALL), BIT(0));
	KUNIT_EXPECT_EQ(test, rails_tier(&v, ALL & ~BIT(0)), BIT(1));
	KUNIT_EXPECT_EQ(test, rails_tier(&v, BIT(3)), BIT(3));
	KUNIT_EXPECT_EQ(test, rails_tier(&v, 0), 0);
	v.spread = true;
	KUNIT_EXPECT_EQ(test, rails_tier(&v, ALL), BIT(0) | BIT(2));
	KUNIT_EXPECT_EQ(test, rails_tier(&v, ALL & ~BIT(0)), BIT(1));
	KUNIT_EXPECT_EQ(test, rails_tier(&v, BIT(2) | BIT(3)), BIT(2));
	KUNIT_EXPECT_EQ(test, rails_tier(&v, BIT(3)), BIT(3));
	v.weight[0] = 0;
	v.weight[2] = 0;
	KUNIT_EXPECT_EQ(test, rails_tier(&v, ALL), BIT(1));
	KUNIT_EXPECT_EQ(test, rails_tier(&v, BIT(0) | BIT(2)), BIT(0) | BIT(2));
	v.spread = false;
	KUNIT_EXPECT_EQ(test, rails_tier(&v, ALL), BIT(1));
}

#define LANES	8

/* Which rails the lanes use, as they see it. */
static void see_load(struct rails_view *v, const unsigned int *on, unsigned int but)
{
	unsigned int i;

	memset(v->load, 0, sizeof(v->load));
	for (i = 0; i < LANES; i++)
		if (i != but && on[i] < RAILS_MAX)
			v->load[on[i]]++;
}

/* Moves lanes until none wants to any more.  Returns the number of moves. */
static unsigned int settle(struct rails_view *v, unsigned int *on)
{
	static const struct rails none;
	unsigned int i, to, moves = 0, still = 0;
	unsigned long wait;

	for (i = 0; still < LANES && moves < 1000; i = (i + 1) % LANES, still++) {
		see_load(v, on, i);
		to = rails_move(&none, v, on[i], 0, &wait);
		if (to == RAILS_MAX)
			continue;
		on[i] = to;
		moves++;
		still = 0;
	}
	return moves;
}

/*
 * From any distribution, with any weights, lanes come to rest after a move each at
 * most, and then no move of one would make the load more equal.
 */
static void settle_test(struct kunit *test)
{
	unsigned int seed = 1, n, i, k, on[LANES];
	struct rails_view v = all;

	v.spread = true;
	for (n = 0; n < 5000; n++) {
		for (i = 0; i < RAILS_MAX; i++)
			v.weight[i] = 1 + (seed = seed * 1103515245 + 12345) / 65536 % 5;
		v.well = 1 + (seed = seed * 1103515245 + 12345) / 65536 % ALL;
		for (i = 0; i < LANES; i++)
			on[i] = (seed = seed * 1103515245 + 12345) / 65536 % RAILS_MAX;
		/* Nobody leaves a rail only because no link is seen on it. */
		for (i = 0; i < LANES; i++)
			v.well |= BIT(on[i]);
		KUNIT_ASSERT_LE(test, settle(&v, on), LANES);
		see_load(&v, on, LANES);
		for (i = 0; i < LANES; i++)
			for (k = 0; k < RAILS_MAX; k++)
				if (v.well & BIT(k))
					KUNIT_ASSERT_GE(test, (v.load[k] + 1) * v.weight[on[i]],
							v.load[on[i]] * v.weight[k]);
	}
}

/* When a rail goes, only its lanes move; when it comes back, only as many. */
static void rebalance_test(struct kunit *test)
{
	unsigned int on[LANES] = { 0, 1, 2, 3, 0, 1, 2, 3 };
	struct rails_view v = all;

	v.spread = true;
	KUNIT_EXPECT_EQ(test, 0, settle(&v, on));
	v.usable = ALL & ~BIT(2);
	KUNIT_EXPECT_EQ(test, 2, settle(&v, on));
	v.usable = ALL;
	KUNIT_EXPECT_EQ(test, 2, settle(&v, on));
	/* Three quarters on one of two. */
	v.usable = BIT(0) | BIT(1);
	v.weight[0] = 3;
	settle(&v, on);
	see_load(&v, on, LANES);
	KUNIT_EXPECT_EQ(test, 6, v.load[0]);
	KUNIT_EXPECT_EQ(test, 2, v.load[1]);
}

/*
 * A rail that another lane cannot use is held, with links on it: those who share the load
 * with it stay where they are, and who does not shares in what is left.
 */
static void held_test(struct kunit *test)
{
	struct rails_view v = {
		.usable	= BIT(0) | BIT(1) | BIT(2),
		.well	= BIT(0) | BIT(1) | BIT(2),
		.kind	= { 0, 1, 0 },
		.weight	= { 1, 1, 1 },
		.spread	= true,
	};
	struct rails r = {};
	unsigned long wait;

	rails_failed(&r, 0, 0, HOLD, 0);
	KUNIT_EXPECT_EQ(test, NONE, rails_move(&r, &v, 2, 1, &wait));
	KUNIT_EXPECT_EQ(test, HOLD - 1, wait);
	KUNIT_EXPECT_EQ(test, NONE, rails_move(&r, &v, 1, 1, &wait));
	KUNIT_EXPECT_EQ(test, 0, rails_move(&r, &v, 1, HOLD, &wait));
	/* No link is up on it: what is left has another order. */
	v.well = BIT(1) | BIT(2);
	KUNIT_EXPECT_EQ(test, 1, rails_move(&r, &v, 2, 1, &wait));
	v.usable = BIT(0) | BIT(1);
	v.well = BIT(0) | BIT(1);
	KUNIT_EXPECT_EQ(test, 1, rails_move(&r, &v, 2, 1, &wait));
}

/* Connections are given in turn, as often as the weights say. */
static void give_test(struct kunit *test)
{
	unsigned int i, got[RAILS_MAX] = {};
	struct rails_given g = {};
	struct rails_view v = all;

	v.spread = true;
	v.weight[1] = 2;
	v.weight[2] = 0;
	for (i = 0; i < 400; i++)
		got[rails_give(&g, &v, ALL & ~BIT(2), ALL & ~BIT(2))]++;
	KUNIT_EXPECT_EQ(test, 100, got[0]);
	KUNIT_EXPECT_EQ(test, 200, got[1]);
	KUNIT_EXPECT_EQ(test, 0, got[2]);
	KUNIT_EXPECT_EQ(test, 100, got[3]);
	/* Long ones, too. */
	for (i = 0; i < 4 * RAILS_GIVEN_MAX; i++)
		got[rails_give(&g, &v, ALL & ~BIT(2), ALL & ~BIT(2))]++;
	KUNIT_EXPECT_EQ(test, 100 + RAILS_GIVEN_MAX, got[0]);
	KUNIT_EXPECT_EQ(test, 200 + 2 * RAILS_GIVEN_MAX, got[1]);
	/* One that comes back does not make up for what it has missed. */
	memset(got, 0, sizeof(got));
	v.weight[1] = 1;
	for (i = 0; i < 1000; i++)
		rails_give(&g, &v, BIT(0), BIT(0));
	for (i = 0; i < 100; i++)
		got[rails_give(&g, &v, BIT(0) | BIT(1), BIT(0) | BIT(1))]++;
	KUNIT_EXPECT_EQ(test, 50, got[0]);
	KUNIT_EXPECT_EQ(test, 50, got[1]);
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

/* A rail that nobody tries, as its port is dark, is not held again as the clock goes on. */
static void wrap_test(struct kunit *test)
{
	unsigned long now = ULONG_MAX / 3;
	struct rails r = {};
	int i;

	rails_failed(&r, 0, now, HOLD, 0);
	now += HOLD;
	for (i = 0; i < 8; i++) {
		rails_forget(&r, now, HOLD);
		KUNIT_EXPECT_FALSE(test, rails_held(&r, 0, now));
		now += ULONG_MAX / 4;
		KUNIT_EXPECT_FALSE(test, rails_held(&r, 0, now));
	}
}

static struct kunit_case rails_cases[] = {
	KUNIT_CASE(stories_test),
	KUNIT_CASE(usable_test),
	KUNIT_CASE(drain_test),
	KUNIT_CASE(sure_test),
	KUNIT_CASE(leave_test),
	KUNIT_CASE(tier_test),
	KUNIT_CASE(settle_test),
	KUNIT_CASE(rebalance_test),
	KUNIT_CASE(held_test),
	KUNIT_CASE(give_test),
	KUNIT_CASE(jitter_test),
	KUNIT_CASE(wrap_test),
	{}
};

static struct kunit_suite rails_suite = {
	.name		= "sanx_rails",
	.test_cases	= rails_cases,
};

kunit_test_suite(rails_suite);

MODULE_DESCRIPTION("KUnit tests of the choice of rails");
MODULE_LICENSE("GPL");
