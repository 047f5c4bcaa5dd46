// SPDX-License-Identifier: GPL-2.0
/*
 * The heartbeat of links (af_sanx/link/frame/beat.h): each case from several times on, so that the
 * clock wraps in some; and a peer that goes silent, with all links of a rail.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>

#include "link/frame/beat.h"

/* In jiffies, or in any other unit. */
#define EVERY		250
#define FAILOVER	480

static const unsigned long begins[] = { 0, 1, LONG_MAX, ULONG_MAX - 300 };

/**
 * struct beat_case - a link
 * @desc: in words
 * @b: what is known; times since some time
 * @sees: set of enum beat_sees
 * @now: the time
 * @lost: it is lost
 * @asks: it asks
 * @doubts: it has doubts
 * @pace: its pace from then on
 */
struct beat_case {
	const char	*desc;
	struct beat	b;
	u32		sees;
	long		now;
	bool		lost;
	bool		asks;
	bool		doubts;
	enum beat_pace	pace;
};

#define LINK(heard, asked, failover, pace) \
	{ heard, asked, EVERY, failover, 0, pace, true }
#define PASSIVE(heard, asked, failover) \
	{ heard, asked, EVERY, failover, 0, BEAT_ASKS, false }
#define SETUP(most) \
	{ 0, 0, EVERY, FAILOVER, most, BEAT_ASKS, false }

static const struct beat_case cases[] = {
	{ "just heard", LINK(0, 0, FAILOVER, BEAT_ASKS), 0, 1, false, false, false, BEAT_ASKS },
	{ "a frame arrives meanwhile", LINK(5, 0, FAILOVER, BEAT_ASKS), 0, 4,
	  false, false, false, BEAT_ASKS },
	{ "not yet idle", LINK(0, 0, FAILOVER, BEAT_ASKS), 0, 179,
	  false, false, false, BEAT_ASKS },
	{ "idle", LINK(0, 0, FAILOVER, BEAT_ASKS), 0, 180, false, true, false, BEAT_ASKS },
	{ "idle, the end that asks later", PASSIVE(0, 0, FAILOVER), 0, 209,
	  false, false, false, BEAT_ASKS },
	{ "idle for longer", PASSIVE(0, 0, FAILOVER), 0, 210, false, true, false, BEAT_ASKS },
	{ "idle, without another rail", LINK(0, 0, 0, BEAT_ASKS), 0, 249,
	  false, false, false, BEAT_ASKS },
	{ "a heartbeat, without another rail", LINK(0, 0, 0, BEAT_ASKS), 0, 250,
	  false, true, false, BEAT_ASKS },
	{ "asked", LINK(0, 180, FAILOVER, BEAT_ASKS), 0, 239, false, true, false, BEAT_ASKS },
	{ "not answered", LINK(0, 180, FAILOVER, BEAT_ASKS), 0, 240, false, true, true, BEAT_ASKS },
	{ "not answered, the other end", PASSIVE(0, 210, FAILOVER), 0, 240,
	  false, true, true, BEAT_ASKS },
	{ "not answered, without another rail", LINK(0, 250, 0, BEAT_ASKS), 0, 500,
	  false, true, true, BEAT_ASKS },
	{ "not lost yet", LINK(0, 180, FAILOVER, BEAT_ASKS), 0, 479, false, true, true, BEAT_ASKS },
	{ "lost", LINK(0, 180, FAILOVER, BEAT_ASKS), 0, 480, true, true, true, BEAT_ASKS },
	{ "asked late", LINK(0, 400, FAILOVER, BEAT_ASKS), 0, 699,
	  false, true, true, BEAT_ASKS },
	{ "asked late, and lost", LINK(0, 400, FAILOVER, BEAT_ASKS), 0, 700,
	  true, true, true, BEAT_ASKS },
	{ "silent, and not asked", LINK(0, 0, FAILOVER, BEAT_ASKS), 0, 5000,
	  false, true, false, BEAT_ASKS },
	{ "silent, without another rail", LINK(0, 250, 0, BEAT_ASKS), 0, 20 * EVERY - 1,
	  false, true, true, BEAT_ASKS },
	{ "lost, without another rail", LINK(0, 250, 0, BEAT_ASKS), 0, 20 * EVERY,
	  true, true, true, BEAT_ASKS },
	{ "answered", LINK(200, 180, FAILOVER, BEAT_ASKS), 0, 300, false, false, false, BEAT_ASKS },
	{ "leans, idle", LINK(0, 0, FAILOVER, BEAT_LEANS), 0, 180,
	  false, false, false, BEAT_RESTS },
	{ "leans, not yet idle", LINK(0, 0, FAILOVER, BEAT_LEANS), 0, 179,
	  false, false, false, BEAT_LEANS },
	{ "leans, used", LINK(0, 0, FAILOVER, BEAT_LEANS), BEAT_USED, 200,
	  false, false, false, BEAT_LEANS },
	{ "leans, and a frame waits for long", LINK(0, 0, FAILOVER, BEAT_LEANS),
	  BEAT_USED | BEAT_LATE, 200, false, true, false, BEAT_LEANS },
	{ "leans, and is expected to carry connections", LINK(0, 0, FAILOVER, BEAT_LEANS),
	  BEAT_EXPECTS, 180, false, true, false, BEAT_LEANS },
	{ "leans, and the round trip is wanted", LINK(0, 0, FAILOVER, BEAT_LEANS),
	  BEAT_MEASURES, 1, false, true, false, BEAT_LEANS },
	{ "leans, and was asked", LINK(0, 180, FAILOVER, BEAT_LEANS), 0, 479,
	  false, false, false, BEAT_LEANS },
	{ "leans, was asked, and is lost", LINK(0, 180, FAILOVER, BEAT_LEANS), 0, 480,
	  true, false, false, BEAT_LEANS },
	{ "rests", LINK(0, 0, FAILOVER, BEAT_RESTS), 0, 60 * EVERY - 1,
	  false, false, false, BEAT_RESTS },
	{ "has rested for long", LINK(0, 0, FAILOVER, BEAT_RESTS), 0, 60 * EVERY,
	  false, true, false, BEAT_RESTS },
	{ "has rested, and was asked", LINK(0, 10000, FAILOVER, BEAT_RESTS), 0, 10299,
	  false, false, false, BEAT_LEANS },
	{ "has rested, was asked, and is lost", LINK(0, 10000, FAILOVER, BEAT_RESTS), 0, 10300,
	  true, false, false, BEAT_LEANS },
	{ "has rested without another rail, was asked", LINK(0, 9000, 0, BEAT_RESTS), 0,
	  9000 + 19 * EVERY - 1, false, false, false, BEAT_LEANS },
	{ "has rested without another rail, and is lost", LINK(0, 9000, 0, BEAT_RESTS), 0,
	  9000 + 19 * EVERY, true, false, false, BEAT_LEANS },
	{ "is set up", SETUP(100), BEAT_MEASURES, 99, false, false, false, BEAT_ASKS },
	{ "is set up for too long", SETUP(100), BEAT_MEASURES, 100,
	  true, false, false, BEAT_ASKS },
};

static void each_case(struct kunit *test)
{
	const struct beat_case *c;
	unsigned long begin, now;
	unsigned int i;
	struct beat b;

	for (i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(begins); i++) {
		c = &cases[i / ARRAY_SIZE(begins)];
		begin = begins[i % ARRAY_SIZE(begins)];
		now = begin + c->now;
		b = c->b;
		b.heard += begin;
		b.asked += begin;
		KUNIT_EXPECT_EQ_MSG(test, beat_lost(&b, now), c->lost,
				    "%s, from %lu on", c->desc, begin);
		KUNIT_EXPECT_EQ_MSG(test, beat_asks(&b, c->sees, now), c->asks,
				    "%s, from %lu on", c->desc, begin);
		KUNIT_EXPECT_EQ_MSG(test, beat_doubts(&b, now), c->doubts,
				    "%s, from %lu on", c->desc, begin);
		KUNIT_EXPECT_EQ_MSG(test, beat_pace(&b, c->sees, now), c->pace,
				    "%s, from %lu on", c->desc, begin);
	}
}

/**
 * struct run - the links of a rail, which look as those of beat.c and rail.c do
 * @b: the links
 * @due: when each looks
 * @asked: when each has asked
 * @lost: when each was lost, or 0
 * @looks: how often they looked
 */
struct run {
	struct beat	b[3];
	unsigned long	due[3];
	unsigned long	asked[3];
	unsigned long	lost[3];
	unsigned int	looks;
};

static void ask(struct run *r, unsigned int i, unsigned long asked, unsigned long now)
{
	if (beat_waits(&r->b[i]))
		return;
	r->b[i].asked = asked;
	r->asked[i] = now;
}

static void look(struct run *r, unsigned int i, unsigned long now)
{
	struct beat *b = &r->b[i];
	unsigned int k;

	r->looks++;
	if (beat_lost(b, now)) {
		r->lost[i] = now;
		return;
	}
	b->pace = beat_pace(b, 0, now);
	if (beat_asks(b, 0, now))
		ask(r, i, now, now);
	for (k = 0; k < ARRAY_SIZE(r->b) && beat_doubts(b, now); k++) {
		if (r->lost[k] || r->b[k].pace == BEAT_ASKS)
			continue;
		r->b[k].pace = BEAT_LEANS;
		ask(r, k, b->asked, now);
		r->due[k] = now + beat_next(&r->b[k], now);
	}
	r->due[i] = now + beat_next(b, now);
}

static void run(struct run *r, unsigned long from, unsigned long ticks)
{
	unsigned long now;
	unsigned int i;

	for (now = from; now < from + ticks; now++)
		for (i = 0; i < ARRAY_SIZE(r->b); i++)
			if (!r->lost[i] && r->due[i] == now)
				look(r, i, now);
}

static void silence(struct kunit *test, unsigned long failover, bool active,
		    unsigned long most)
{
	unsigned long from = 100000;
	struct run r = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(r.b); i++) {
		r.b[i] = (struct beat){ from, from, EVERY, failover, 0,
					i ? BEAT_LEANS : BEAT_ASKS, active };
		/* One rests for long when the peer goes silent. */
		if (i == 2) {
			r.b[i].heard -= 50 * EVERY;
			r.b[i].asked = r.b[i].heard;
		}
		r.due[i] = from + beat_next(&r.b[i], from);
	}
	run(&r, from, 2 * most);
	for (i = 0; i < ARRAY_SIZE(r.b); i++) {
		/* Each had time to answer. */
		KUNIT_EXPECT_GE(test, r.lost[i], r.asked[i] + most / 2 - 3);
		KUNIT_EXPECT_LE_MSG(test, r.lost[i], from + most + 2,
				    "link %u, failover %lu, active %d", i, failover, active);
	}
	KUNIT_EXPECT_LE(test, r.looks, 3 * 30U);
}

/* All links of a rail are lost in time, also those that nobody uses. */
static void all_are_lost(struct kunit *test)
{
	unsigned long failover;

	for (failover = 25; failover < 20 * EVERY; failover += 25) {
		silence(test, failover, true, failover);
		silence(test, failover, false, failover);
	}
	silence(test, 0, true, 20 * EVERY);
	silence(test, 0, false, 20 * EVERY + EVERY / 2);
}

/* A link that rests costs a look in so many heartbeats. */
static void rest(struct kunit *test)
{
	struct beat b = { 0, 0, EVERY, FAILOVER, 0, BEAT_LEANS, true };

	b.pace = beat_pace(&b, 0, 180);
	KUNIT_EXPECT_EQ(test, b.pace, BEAT_RESTS);
	KUNIT_EXPECT_EQ(test, beat_next(&b, 180), BEATS_REST * (unsigned long)EVERY);
}

static struct kunit_case beat_cases[] = {
	KUNIT_CASE(each_case),
	KUNIT_CASE(all_are_lost),
	KUNIT_CASE(rest),
	{}
};

static struct kunit_suite beat_suite = {
	.name = "sanx_beat",
	.test_cases = beat_cases,
};

kunit_test_suite(beat_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: heartbeats of links");
MODULE_LICENSE("GPL");
