// SPDX-License-Identifier: GPL-2.0
/*
 * When a peer that refuses links is given up (af_sanx/link/peer/presence.h): stories of
 * refusals and links, each told from several times on, so that the clock wraps in
 * some; and all short ones, against the rule written down a second time.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>

#include "link/peer/presence.h"

#define LIMIT		100UL
#define DENIED_LIMIT	1000UL

enum event {
	END,
	/* No AF_SANX is there, or it refuses: two limits. */
	REFUSED,
	DENIED,
	/* A link is up, or the first connection is suspended: both begin anew. */
	RENEWED,
};

/**
 * struct event_case - something that happens
 * @what: it
 * @at: when, from the beginning of the story
 * @reset: suspended connections are to be reset
 * @state: what is known then
 */
struct event_case {
	enum event what;
	unsigned long at;
	bool reset;
	enum presence_state state;
};

/**
 * struct story - what happens at one peer
 * @desc: in words
 * @events: in their order
 */
struct story {
	const char *desc;
	struct event_case events[8];
};

static const struct story stories[] = {
	{ "first refusal", {
		{ REFUSED, 0, false, PEER_REFUSES },
	} },
	{ "first refusal, late", {
		{ REFUSED, 100 * LIMIT, false, PEER_REFUSES },
	} },
	{ "refusals before the limit", {
		{ REFUSED, 7, false, PEER_REFUSES },
		{ REFUSED, 7, false, PEER_REFUSES },
		{ REFUSED, 8, false, PEER_REFUSES },
		{ REFUSED, 7 + LIMIT - 1, false, PEER_REFUSES },
		{ REFUSED, 7 + LIMIT, false, PEER_REFUSES },
	} },
	{ "the one after the limit", {
		{ REFUSED, 7, false, PEER_REFUSES },
		{ REFUSED, 7 + LIMIT + 1, true, PEER_GONE },
	} },
	{ "long after the limit", {
		{ REFUSED, 0, false, PEER_REFUSES },
		{ REFUSED, 1000 * LIMIT, true, PEER_GONE },
	} },
	{ "it counts from the first, not from the last", {
		{ REFUSED, 0, false, PEER_REFUSES },
		{ REFUSED, LIMIT - 1, false, PEER_REFUSES },
		{ REFUSED, LIMIT + 1, true, PEER_GONE },
	} },
	{ "gone stays gone", {
		{ REFUSED, 0, false, PEER_REFUSES },
		{ REFUSED, LIMIT + 1, true, PEER_GONE },
		{ REFUSED, LIMIT + 1, true, PEER_GONE },
		{ REFUSED, 3 * LIMIT, true, PEER_GONE },
	} },
	{ "denied before the limit of that", {
		{ DENIED, 7, false, PEER_REFUSES },
		{ DENIED, 7 + LIMIT + 1, false, PEER_REFUSES },
		{ DENIED, 7 + DENIED_LIMIT, false, PEER_REFUSES },
	} },
	{ "denied for longer", {
		{ DENIED, 0, false, PEER_REFUSES },
		{ DENIED, DENIED_LIMIT + 1, true, PEER_GONE },
		{ DENIED, DENIED_LIMIT + 2, true, PEER_GONE },
	} },
	{ "two maps change, one after the other", {
		{ DENIED, 0, false, PEER_REFUSES },
		{ DENIED, LIMIT + 1, false, PEER_REFUSES },
		{ RENEWED, LIMIT + 2, false, PEER_ASKED },
		{ DENIED, DENIED_LIMIT + 1, false, PEER_REFUSES },
	} },
	{ "absent, and then denied", {
		{ REFUSED, 0, false, PEER_REFUSES },
		{ DENIED, LIMIT + 1, false, PEER_REFUSES },
		{ DENIED, DENIED_LIMIT + 1, true, PEER_GONE },
	} },
	{ "denied, and then absent", {
		{ DENIED, 0, false, PEER_REFUSES },
		{ REFUSED, LIMIT, false, PEER_REFUSES },
		{ REFUSED, LIMIT + 1, true, PEER_GONE },
	} },
	{ "denied, when gone", {
		{ REFUSED, 0, false, PEER_REFUSES },
		{ REFUSED, LIMIT + 1, true, PEER_GONE },
		{ DENIED, LIMIT + 2, true, PEER_GONE },
	} },
	{ "a link, or the first suspended, in between", {
		{ REFUSED, 0, false, PEER_REFUSES },
		{ RENEWED, LIMIT - 1, false, PEER_ASKED },
		{ REFUSED, LIMIT + 1, false, PEER_REFUSES },
		{ REFUSED, 2 * LIMIT + 1, false, PEER_REFUSES },
		{ REFUSED, 2 * LIMIT + 2, true, PEER_GONE },
	} },
	{ "a link, or the first suspended, after it was gone", {
		{ REFUSED, 0, false, PEER_REFUSES },
		{ REFUSED, LIMIT + 1, true, PEER_GONE },
		{ RENEWED, LIMIT + 2, false, PEER_ASKED },
		{ REFUSED, LIMIT + 3, false, PEER_REFUSES },
		{ REFUSED, 2 * LIMIT + 4, true, PEER_GONE },
	} },
	{ "renewed before anything was refused", {
		{ RENEWED, 0, false, PEER_ASKED },
		{ RENEWED, LIMIT, false, PEER_ASKED },
		{ REFUSED, 3 * LIMIT, false, PEER_REFUSES },
	} },
};

KUNIT_ARRAY_PARAM_DESC(story, stories, desc);

/* When a story begins; in the last ones the clock wraps, and changes its sign. */
static const unsigned long starts[] = {
	0, 1, 300 * 1000, ULONG_MAX / 2 - LIMIT / 2, ULONG_MAX / 2 + 1,
	ULONG_MAX - 2 * LIMIT, ULONG_MAX - LIMIT, ULONG_MAX - LIMIT / 2,
	ULONG_MAX - 7, ULONG_MAX - 1, ULONG_MAX,
};

static unsigned long limit_of(enum event what)
{
	return what == DENIED ? DENIED_LIMIT : LIMIT;
}

static bool happen(struct presence *p, enum event what, unsigned long now)
{
	if (what != RENEWED)
		return presence_refused(p, now, limit_of(what));
	presence_renew(p);
	return false;
}

static void presence_story(struct kunit *test)
{
	const struct story *story = test->param_value;
	const struct event_case *e;
	struct presence p;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		p = (struct presence){};
		KUNIT_EXPECT_EQ(test, p.state, PEER_ASKED);
		for (e = story->events; e->what != END; e++) {
			KUNIT_EXPECT_EQ_MSG(test, happen(&p, e->what, starts[i] + e->at),
					    e->reset, "from %lu, at %lu",
					    starts[i], e->at);
			KUNIT_EXPECT_EQ_MSG(test, p.state, e->state,
					    "from %lu, at %lu", starts[i], e->at);
		}
	}
}

/* The rule as protocol and programs see it: over all that has happened. */
static bool rule(const enum event *what, const unsigned long *at, u32 n)
{
	u32 i, first = n;
	bool late = false;

	if (what[n] == RENEWED)
		return false;
	for (i = n + 1; i-- > 0 && what[i] != RENEWED;)
		first = i;
	for (i = first; i <= n; i++)
		late |= at[i] - at[first] > limit_of(what[i]);
	return late;
}

#define STORY_MAX	5

/* Each story of five events, with short, just enough and long times between. */
static void presence_all_stories(struct kunit *test)
{
	static const unsigned long gaps[] = { 0, LIMIT, LIMIT + 1, DENIED_LIMIT };
	const u32 per_event = 3 * ARRAY_SIZE(gaps);
	enum event what[STORY_MAX];
	unsigned long at[STORY_MAX];
	u32 n, i, rest, all = 1;
	struct presence p;

	for (i = 0; i < STORY_MAX; i++)
		all *= per_event;
	for (n = 0; n < all; n++) {
		unsigned long now = ULONG_MAX - LIMIT;

		p = (struct presence){};
		for (i = 0, rest = n; i < STORY_MAX; i++, rest /= per_event) {
			now += gaps[rest % ARRAY_SIZE(gaps)];
			at[i] = now;
			what[i] = REFUSED + rest / ARRAY_SIZE(gaps) % 3;
			KUNIT_ASSERT_EQ_MSG(test, happen(&p, what[i], now),
					    rule(what, at, i),
					    "story %u, event %u", n, i);
		}
	}
}

static struct kunit_case presence_cases[] = {
	KUNIT_CASE_PARAM(presence_story, story_gen_params),
	KUNIT_CASE(presence_all_stories),
	{}
};

static struct kunit_suite presence_suite = {
	.name = "sanx_presence",
	.test_cases = presence_cases,
};

kunit_test_suite(presence_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: peers that refuse links");
MODULE_LICENSE("GPL");
