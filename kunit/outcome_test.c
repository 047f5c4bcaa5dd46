// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a connection after an error (af_sanx/link/frame/outcome.h): every error
 * against every state that a connection may be in, and every link that could be there.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "link/frame/lconn_next.h"
#include "link/frame/outcome.h"

static void check_end(struct kunit *test, enum sanx_link_end why,
		      const struct sanx_lconn_state *s, u32 asks)
{
	enum outcome then = outcome_of_end(why, s, asks);
	bool opened = s->phase >= SANX_LCONN_OPEN && s->phase < SANX_LCONN_OVER;
	bool asking = s->phase == SANX_LCONN_OPENING ||
		      s->phase == SANX_LCONN_OPEN_SENT || s->phase == SANX_LCONN_IDLE;

	/* What both nodes know goes on, but not where the peer has forgotten it. */
	KUNIT_EXPECT_EQ_MSG(test, then == OUTCOME_SUSPENDED, why == SANX_END_LOST &&
			    opened && sanx_lconn_may_survive(s),
			    "end %u, phase %u", why, s->phase);
	/* What only we know is asked for again, unless nobody waits for the answer. */
	KUNIT_EXPECT_EQ_MSG(test, then == OUTCOME_ADRIFT, asking && asks < ASKS_MAX &&
			    s->close == SANX_LCONN_USED &&
			    (why == SANX_END_LOST || why == SANX_END_RESTARTED),
			    "end %u, phase %u", why, s->phase);
	/* The steps that follow are permitted. */
	if (then == OUTCOME_ADRIFT)
		KUNIT_EXPECT_TRUE(test, sanx_lconn_phase_may(s->phase, SANX_LCONN_ADRIFT));
	if (then == OUTCOME_SUSPENDED && s->phase != SANX_LCONN_SUSPENDED)
		KUNIT_EXPECT_TRUE(test, sanx_lconn_phase_may(s->phase, SANX_LCONN_SUSPENDED));
	KUNIT_EXPECT_TRUE(test, then == OUTCOME_SUSPENDED || then == OUTCOME_ADRIFT ||
			  then == OUTCOME_ENDS);
}

static void check_ends(struct kunit *test, const struct sanx_lconn_state *s)
{
	enum sanx_link_end why;

	for (why = 0; why < __SANX_ENDS; why++) {
		check_end(test, why, s, 0);
		check_end(test, why, s, ASKS_MAX - 1);
		check_end(test, why, s, ASKS_MAX);
	}
}

static void outcome_ends(struct kunit *test)
{
	struct sanx_lconn_state s;

	for (s.phase = 0; s.phase < SANX_LCONN_RELEASED; s.phase++)
		for (s.tx = 0; s.tx < __SANX_LCONN_TXS; s.tx++)
			for (s.rx = 0; s.rx < __SANX_LCONN_RXS; s.rx++)
				for (s.close = 0; s.close < __SANX_LCONN_CLOSES; s.close++)
					check_ends(test, &s);
}

/**
 * struct attach_case - an attempt that was in vain
 * @how: why
 * @others: connections on the link
 * @rail: there is another rail
 * @then: what follows
 */
struct attach_case {
	enum attached how;
	u32 others;
	bool rail;
	enum outcome then;
};

static const struct attach_case attach_cases[] = {
	/* It asks on the next link. */
	{ ATTACH_NO_LINK, 0, false, OUTCOME_WAITS },
	{ ATTACH_NO_LINK, 3, false, OUTCOME_WAITS },
	{ ATTACH_NO_LINK, 0, true, OUTCOME_WAITS },
	{ ATTACH_NO_LINK, 3, true, OUTCOME_WAITS },
	/* There may be room later; others do not pay for it. */
	{ ATTACH_NO_ROOM, 0, false, OUTCOME_WAITS },
	{ ATTACH_NO_ROOM, 3, false, OUTCOME_WAITS },
	{ ATTACH_NO_ROOM, 0, true, OUTCOME_LEAVES },
	{ ATTACH_NO_ROOM, 3, true, OUTCOME_WAITS },
	/* It continues on another rail, or not at all. */
	{ ATTACH_NEVER, 0, false, OUTCOME_ENDS },
	{ ATTACH_NEVER, 3, false, OUTCOME_ENDS },
	{ ATTACH_NEVER, 0, true, OUTCOME_LEAVES },
	{ ATTACH_NEVER, 3, true, OUTCOME_LEAVES },
};

static void outcome_attach(struct kunit *test)
{
	const struct attach_case *c = attach_cases;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attach_cases); i++, c++)
		KUNIT_EXPECT_EQ_MSG(test, outcome_of_attach(c->how, c->others, c->rail),
				    c->then, "%u, %u others, rail %u", c->how, c->others,
				    c->rail);
}

static struct kunit_case outcome_cases[] = {
	KUNIT_CASE(outcome_ends),
	KUNIT_CASE(outcome_attach),
	{}
};

static struct kunit_suite outcome_suite = {
	.name = "sanx_outcome",
	.test_cases = outcome_cases,
};

kunit_test_suite(outcome_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: what becomes of a connection after an error");
MODULE_LICENSE("GPL");
