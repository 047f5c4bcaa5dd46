// SPDX-License-Identifier: GPL-2.0
/*
 * The links of a lane (af_sanx/link/peer/lane.h): each state against each event; and what
 * follows a failed attempt, for everything that may be seen, against rules in words.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "link/peer/lane.h"

/* A state is two answers. */
static bool has_link(enum lane_state s)
{
	return s == LANE_UP || s == LANE_UP_TRIES;
}

static bool tries(enum lane_state s)
{
	return s == LANE_TRIES || s == LANE_UP_TRIES;
}

/* One attempt at a time; only what is there can fail or be lost. */
static bool possible(enum lane_state from, enum lane_event event)
{
	switch (event) {
	case LANE_ATTEMPT:
		return !tries(from);
	case LANE_FAILED:
		return tries(from);
	case LANE_LOST:
		return has_link(from);
	default:
		return true;
	}
}

static void lane_states(struct kunit *test)
{
	enum lane_event event;
	enum lane_state from, to;

	for (from = 0; from < __LANE_STATES; from++) {
		for (event = 0; event < __LANE_EVENTS; event++) {
			to = lane_next(from, event);
			KUNIT_EXPECT_EQ_MSG(test, possible(from, event),
					    to < __LANE_STATES, "%u, %u", from, event);
			if (to == __LANE_STATES)
				continue;
			KUNIT_EXPECT_EQ_MSG(test, has_link(to), event == LANE_LINK ||
					    (has_link(from) && event != LANE_LOST &&
					     event != LANE_STOPS),
					    "%u, %u: link", from, event);
			KUNIT_EXPECT_EQ_MSG(test, tries(to), event == LANE_ATTEMPT ||
					    (tries(from) && event == LANE_LOST),
					    "%u, %u: attempt", from, event);
		}
	}
}

static void check_then(struct kunit *test, enum lane_state state, u32 sees)
{
	enum lane_then then = lane_after_failure(state, sees);
	bool wanted = sees & (LANE_WAITED | LANE_SUSPENDS);

	/* No attempt that nobody needs, and none at the end. */
	if (!wanted || !(sees & LANE_RUNS) || !(sees & LANE_TIME))
		KUNIT_EXPECT_NE_MSG(test, then, LANE_GOES_ON, "%u, %#x", state, sees);
	/* Beside a link that works, only for those that are to have another. */
	else if (sees & LANE_CARRIES && !(sees & LANE_WAITED && sees & LANE_UNTRIED))
		KUNIT_EXPECT_NE_MSG(test, then, LANE_GOES_ON, "%u, %#x", state, sees);
	else
		KUNIT_EXPECT_EQ_MSG(test, then, LANE_GOES_ON, "%u, %#x", state, sees);
	/* Nobody is left waiting. */
	if (sees & LANE_WAITED)
		KUNIT_EXPECT_NE_MSG(test, then, LANE_RESTS, "%u, %#x", state, sees);
	/* Others wait in vain only where nothing is left to be tried. */
	if (!wanted && (has_link(state) || sees & LANE_CARRIES ||
			(sees & LANE_RUNS && sees & LANE_UNTRIED)))
		KUNIT_EXPECT_EQ_MSG(test, then, LANE_RESTS, "%u, %#x", state, sees);
	if (!wanted && !has_link(state) && sees & LANE_RUNS &&
	    !(sees & (LANE_UNTRIED | LANE_CARRIES)))
		KUNIT_EXPECT_EQ_MSG(test, then, LANE_REFUSES, "%u, %#x", state, sees);
}

static void lane_failures(struct kunit *test)
{
	static const enum lane_state after[] = { LANE_DOWN, LANE_UP };
	unsigned int i;
	u32 sees;

	for (i = 0; i < ARRAY_SIZE(after); i++)
		for (sees = 0; sees < __LANE_SEES; sees++)
			check_then(test, after[i], sees);
}

static struct kunit_case lane_cases[] = {
	KUNIT_CASE(lane_states),
	KUNIT_CASE(lane_failures),
	{}
};

static struct kunit_suite lane_suite = {
	.name = "sanx_lane",
	.test_cases = lane_cases,
};

kunit_test_suite(lane_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: the links of a lane");
MODULE_LICENSE("GPL");
