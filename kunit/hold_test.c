// SPDX-License-Identifier: GPL-2.0
/*
 * The rule for holding bytes back (af_sanx/conn/hold_rule.h, pace.h).  Each two reasons
 * that can meet in one send() do so here, in each kind of send; each event meets
 * each way of holding back; and the pace of a sender is judged over stories with
 * a clock that wraps.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>

#include "conn/hold_rule.h"
#include "conn/pace.h"

#define NONE		SANX_HELD_NONE
#define COALESCED	SANX_HELD_COALESCED
#define CORKED		SANX_HELD_CORKED

/* A connection whose limits do not matter, and a piece that is held back. */
#define SMALL		8192U
#define MOST		1000000U
#define LEN		100U

enum kind { STREAM, CORK, KINDS };

/* What happens to a piece of each kind that is as any other. */
static const enum sanx_held usual[KINDS] = { COALESCED, CORKED };

/**
 * struct reason - something about a piece that is not as usual
 * @desc: in words
 * @apply: makes the piece so
 * @announces: bit by kind: pieces of the kind are announced for it
 */
struct reason {
	const char *desc;
	void (*apply)(struct sanx_piece_sent *p);
	u32 announces;
};

#define IN(kind)	BIT(kind)
#define IN_ALL		(IN(STREAM) | IN(CORK))

static void nothing(struct sanx_piece_sent *p)
{
}

static void urgent(struct sanx_piece_sent *p)
{
	p->urgent = true;
}

/* All limits are tried at the last byte that is held back, and one further. */
static void up_to(struct sanx_piece_sent *p, u32 bytes)
{
	p->held = max(p->held, bytes - LEN);
}

static void cork_almost_full(struct sanx_piece_sent *p)
{
	up_to(p, SANX_CORK_BYTES - 1);
}

static void cork_full(struct sanx_piece_sent *p)
{
	up_to(p, SANX_CORK_BYTES);
}

static void coalesced_almost_full(struct sanx_piece_sent *p)
{
	up_to(p, SANX_COALESCE_BYTES - 1);
}

static void coalesced_full(struct sanx_piece_sent *p)
{
	up_to(p, SANX_COALESCE_BYTES);
}

static void window_almost_half(struct sanx_piece_sent *p)
{
	p->held_max = p->held + LEN + 1;
}

static void window_half(struct sanx_piece_sent *p)
{
	p->held_max = p->held + LEN;
}

static void held_wraps(struct sanx_piece_sent *p)
{
	p->held = U32_MAX;
	p->held_max = U32_MAX;
}

static void not_small(struct sanx_piece_sent *p)
{
	p->small = min(p->small, LEN);
}

static void barely_small(struct sanx_piece_sent *p)
{
	p->small = min(p->small, LEN + 1);
}

static void no_stream(struct sanx_piece_sent *p)
{
	p->streams = false;
}

static void late(struct sanx_piece_sent *p)
{
	p->follows = false;
}

static void unbounded(struct sanx_piece_sent *p)
{
	p->bounded = false;
}

/* The window comes last: it depends on the bytes. */
static const struct reason reasons[] = {
	{ "nothing", nothing, 0 },
	{ "urgent", urgent, IN_ALL },
	{ "almost 32 KiB", cork_almost_full, 0 },
	{ "32 KiB", cork_full, IN(CORK) },
	{ "almost 64 KiB", coalesced_almost_full, IN(CORK) },
	{ "64 KiB", coalesced_full, IN_ALL },
	{ "no small piece", not_small, IN(STREAM) },
	{ "a piece that is small yet", barely_small, 0 },
	{ "no stream", no_stream, IN(STREAM) },
	{ "late, or after a sleep", late, IN(STREAM) },
	{ "no bound for the delay", unbounded, IN(STREAM) },
	{ "more bytes than can be counted", held_wraps, IN_ALL },
	{ "almost half of the window", window_almost_half, 0 },
	{ "half of the window", window_half, IN_ALL },
};

static struct sanx_piece_sent piece(enum kind kind)
{
	return (struct sanx_piece_sent){
		.len = LEN,
		.held_max = MOST,
		.small = SMALL,
		.more = kind == CORK,
		.streams = true,
		.follows = true,
		.bounded = true,
	};
}

/* Two of the limits in one piece: the larger number of bytes counts. */
static void hold_crossings(struct kunit *test)
{
	const struct reason *a, *b;
	struct sanx_piece_sent p;
	enum sanx_held expect;
	u32 i, j, kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < ARRAY_SIZE(reasons); i++) {
			for (j = i; j < ARRAY_SIZE(reasons); j++) {
				a = &reasons[i];
				b = &reasons[j];
				p = piece(kind);
				a->apply(&p);
				b->apply(&p);
				expect = (a->announces | b->announces) &
					 BIT(kind) ? NONE : usual[kind];
				KUNIT_EXPECT_EQ_MSG(test, sanx_hold_rule(&p),
						    expect,
						    "kind %u: %s, %s", kind,
						    a->desc, b->desc);
			}
		}
	}
}

/* A send() may be of any size. */
static void hold_sizes(struct kunit *test)
{
	static const size_t sizes[] = { SMALL, MOST, U32_MAX, (size_t)U32_MAX + 1,
					(size_t)U32_MAX + LEN, SIZE_MAX / 2 };
	struct sanx_piece_sent p;
	u32 i, kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			p = piece(kind);
			p.held_max = U32_MAX;
			p.len = sizes[i];
			KUNIT_EXPECT_EQ_MSG(test, sanx_hold_rule(&p),
					    kind == CORK && sizes[i] == SMALL ?
					    CORKED : NONE,
					    "kind %u, %zu bytes", kind,
					    sizes[i]);
		}
	}
}

/**
 * struct end_case - an event
 * @desc: in words
 * @why: it
 * @coalesced: it ends the delay of coalesced bytes
 * @corked: it ends corking
 */
struct end_case {
	const char *desc;
	enum sanx_hold_end why;
	bool coalesced;
	bool corked;
};

static const struct end_case end_cases[] = {
	{ "waits for an answer", SANX_HOLD_ANSWER, true, false },
	{ "corks what follows", SANX_HOLD_CORK, true, false },
	{ "short time", SANX_HOLD_TIME, true, false },
	{ "long time", SANX_HOLD_CORK_TIME, true, true },
	{ "pulls", SANX_HOLD_PULL, true, true },
	{ "no room", SANX_HOLD_NO_ROOM, true, true },
};

KUNIT_ARRAY_PARAM_DESC(end, end_cases, desc);

static void hold_ends(struct kunit *test)
{
	const struct end_case *c = test->param_value;

	KUNIT_EXPECT_FALSE(test, sanx_hold_ends(NONE, c->why));
	KUNIT_EXPECT_EQ(test, sanx_hold_ends(COALESCED, c->why), c->coalesced);
	KUNIT_EXPECT_EQ(test, sanx_hold_ends(CORKED, c->why), c->corked);
}

/* How many sends in a row are announced before the sender streams? */
static u32 sends_before(struct sanx_pace *p, bool quick)
{
	u32 n = 0;

	while (n < 10000 && !sanx_pace_streams(p, quick))
		n++;
	return n;
}

static void pace_streams(struct kunit *test)
{
	struct sanx_pace p = {};
	u32 i;

	sanx_pace_init(&p);
	KUNIT_EXPECT_EQ(test, sends_before(&p, false), SANX_COALESCE_AFTER);
	KUNIT_EXPECT_FALSE(test, sanx_pace_streams(&p, true));
	sanx_pace_received(&p);
	KUNIT_EXPECT_EQ(test, sends_before(&p, true), SANX_QUICK_AFTER);
	/* Requests of a few pieces, and answers. */
	for (i = 0; i < 100; i++) {
		sanx_pace_received(&p);
		KUNIT_EXPECT_FALSE(test, sanx_pace_streams(&p, false));
		KUNIT_EXPECT_FALSE(test, sanx_pace_streams(&p, false));
		sanx_pace_received(&p);
	}
	/* A sender that never receives. */
	p.sends = INT_MAX - 1;
	KUNIT_EXPECT_TRUE(test, sanx_pace_streams(&p, true));
	KUNIT_EXPECT_TRUE(test, sanx_pace_streams(&p, true));
	KUNIT_EXPECT_EQ(test, p.sends, INT_MAX);
}

/* A delay in which @sends sends come, and the last of them at @last. */
static u32 one_delay(struct sanx_pace *p, bool quick, u32 begin, u32 sends,
		     u32 last)
{
	u32 ns, i;

	sanx_pace_turn(p, quick, false);
	ns = sanx_pace_begin(p);
	for (i = 0; i < sends; i++)
		sanx_pace_streams(p, quick);
	p->last = begin + last;
	sanx_pace_over(p, begin + ns, true);
	return ns;
}

static void pace_without_nodelay(struct kunit *test)
{
	const u32 few = SANX_COALESCE_AFTER - 1, fast = SANX_COALESCE_FAST;
	struct sanx_pace p = {};

	sanx_pace_init(&p);
	KUNIT_EXPECT_EQ(test, one_delay(&p, false, 0, fast - 1, 0),
			SANX_COALESCE_NS);
	KUNIT_EXPECT_EQ(test, one_delay(&p, false, 0, fast, 0),
			SANX_COALESCE_NS);
	KUNIT_EXPECT_EQ(test, one_delay(&p, false, 0, few, 0),
			2 * SANX_COALESCE_NS);
	/* One that fails once, or not twice in a row, streams. */
	KUNIT_EXPECT_EQ(test, one_delay(&p, false, 0, few + 1, 0),
			SANX_COALESCE_NS);
	one_delay(&p, false, 0, few, 0);
	KUNIT_EXPECT_GT(test, p.sends, 0);
	one_delay(&p, false, 0, few, 0);
	KUNIT_EXPECT_EQ(test, p.sends, -SANX_COALESCE_PAUSE);
	/* An answer does not end the pause. */
	sanx_pace_received(&p);
	KUNIT_EXPECT_EQ(test, sends_before(&p, false),
			SANX_COALESCE_PAUSE + SANX_COALESCE_AFTER);
	/* It begins anew, and the pause is not longer. */
	one_delay(&p, false, 0, few, 0);
	KUNIT_EXPECT_GT(test, p.sends, 0);
	one_delay(&p, false, 0, few, 0);
	KUNIT_EXPECT_EQ(test, p.sends, -SANX_COALESCE_PAUSE);
}

/* A sender whose first delays are in vain has the usual pause. */
static void pace_first_pause(struct kunit *test)
{
	struct sanx_pace p = {};

	sanx_pace_init(&p);
	one_delay(&p, false, 0, 1, 0);
	one_delay(&p, false, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, p.sends, -SANX_COALESCE_PAUSE);
}

/* The count of sends goes back while a delay lasts. */
static void pace_received_meanwhile(struct kunit *test)
{
	struct sanx_pace p = {};

	sanx_pace_init(&p);
	p.sends = 100;
	sanx_pace_begin(&p);
	sanx_pace_received(&p);
	sanx_pace_streams(&p, false);
	sanx_pace_over(&p, 0, true);
	KUNIT_EXPECT_FALSE(test, p.fast);
	/* It may have sent much before that. */
	KUNIT_EXPECT_FALSE(test, p.slow);
}

/* When a story begins; in the last ones the clock wraps. */
static const u32 starts[] = {
	0, 1, 1000000, INT_MAX, U32_MAX - 200000, U32_MAX - 40000,
	U32_MAX - 1000, U32_MAX,
};

#define LONGEST	50000U

static void pace_with_nodelay(struct kunit *test)
{
	u32 i, n, pause = SANX_COALESCE_PAUSE;
	struct sanx_pace p = {};

	sanx_pace_init(&p);
	p.ns = LONGEST;
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		/* It has just sent when the time is over. */
		one_delay(&p, true, starts[i], 1, LONGEST / 2 + 1);
		KUNIT_EXPECT_FALSE(test, p.slow);
		KUNIT_EXPECT_FALSE(test, p.fast);
		one_delay(&p, true, starts[i], SANX_QUICK_FAST, LONGEST - 1);
		KUNIT_EXPECT_TRUE(test, p.fast);
		KUNIT_EXPECT_FALSE(test, p.slow);
		/* It rests. */
		one_delay(&p, true, starts[i], SANX_QUICK_FAST, LONGEST / 2);
		KUNIT_EXPECT_TRUE(test, p.slow);
		one_delay(&p, true, starts[i], 1, LONGEST - 1);
		KUNIT_EXPECT_FALSE(test, p.slow);
	}
	/* Bursts: a pause after two, and then after each, twice as long. */
	one_delay(&p, true, 0, 1, 0);
	for (n = 0; n < 10; n++) {
		one_delay(&p, true, 0, 1, 0);
		KUNIT_EXPECT_EQ(test, p.sends, -(int)pause);
		pause = min(2 * pause, (u32)SANX_QUICK_PAUSE_MAX);
	}
	KUNIT_EXPECT_EQ(test, pause, SANX_QUICK_PAUSE_MAX);
	one_delay(&p, true, 0, 1, LONGEST);
	KUNIT_EXPECT_EQ(test, p.pause, SANX_COALESCE_PAUSE);
}

/* Bytes that were announced because they were many say nothing of bursts. */
static void pace_nothing_held(struct kunit *test)
{
	struct sanx_pace p = {};
	u32 i;

	sanx_pace_init(&p);
	p.ns = LONGEST;
	sanx_pace_turn(&p, true, false);
	for (i = 0; i < 4; i++) {
		sanx_pace_begin(&p);
		sanx_pace_over(&p, 10 * LONGEST, false);
		KUNIT_EXPECT_FALSE(test, p.slow);
		KUNIT_EXPECT_EQ(test, p.sends, 0);
	}
}

/* A delay that ends early, because @sends sends were many bytes. */
static void short_delay(struct sanx_pace *p, u32 sends)
{
	sanx_pace_begin(p);
	while (sends--)
		sanx_pace_streams(p, false);
	sanx_pace_over(p, 0, false);
}

/* A few pieces of some size are many bytes: the sender streams. */
static void pace_many_bytes(struct kunit *test)
{
	struct sanx_pace p = {};

	sanx_pace_init(&p);
	one_delay(&p, false, 0, SANX_COALESCE_MANY, 0);
	KUNIT_EXPECT_TRUE(test, p.slow);
	short_delay(&p, SANX_COALESCE_MANY);
	KUNIT_EXPECT_FALSE(test, p.slow);
	KUNIT_EXPECT_FALSE(test, p.fast);
	/* One large piece behind a small one is no stream. */
	short_delay(&p, SANX_COALESCE_MANY - 1);
	KUNIT_EXPECT_TRUE(test, p.slow);
	short_delay(&p, SANX_COALESCE_MANY - 1);
	KUNIT_EXPECT_EQ(test, p.sends, -SANX_COALESCE_PAUSE);
}

static void pace_turn(struct kunit *test)
{
	struct sanx_pace p = {};
	u32 from, to, armed;

	for (from = 0; from < 2; from++) {
		for (to = 0; to < 2; to++) {
			for (armed = 0; armed < 2; armed++) {
				bool can = from == to || !armed;

				p.quick = from;
				KUNIT_EXPECT_EQ(test,
						sanx_pace_turn(&p, to, armed),
						can);
				KUNIT_EXPECT_EQ(test, p.quick,
						can ? to : from);
			}
		}
	}
}

/**
 * struct follow_case - a send with TCP_NODELAY, after another one
 * @desc: in words
 * @gap: ns between them
 * @longest: the longest delay
 * @slept: the sender has slept in between
 * @preempted: it was preempted in between
 * @near: the one before was fast
 * @delay: ns since a delay has begun, or 0 for none
 * @follows: the result
 * @excuses: if the timer took the sender for one that has stopped, that does not count
 */
struct follow_case {
	const char *desc;
	u32 gap;
	u32 longest;
	bool slept;
	bool preempted;
	bool near;
	u32 delay;
	bool follows;
	bool excuses;
};

#define GAP	(LONGEST / 4)

static const struct follow_case follow_cases[] = {
	{ "at once", 0, LONGEST, .follows = true },
	{ "fast", GAP - 1, LONGEST, .follows = true },
	{ "slow", GAP, LONGEST },
	{ "long after", 1000000000, LONGEST },
	{ "no delay wanted", 0, 0 },
	{ "no delay wanted, preempted", 0, 0, .preempted = true, .near = true },
	{ "slept", 0, LONGEST, .slept = true },
	{ "slept and preempted", GAP, LONGEST, .slept = true,
	  .preempted = true, .near = true },
	{ "preempted after a fast piece", 10 * LONGEST, LONGEST,
	  .preempted = true, .near = true, .follows = true, .excuses = true },
	{ "preempted, and not late", 0, LONGEST, .preempted = true, .near = true,
	  .follows = true },
	{ "preempted after a slow piece", GAP, LONGEST, .preempted = true },
	{ "slow after a fast piece", GAP, LONGEST, .near = true },
	{ "within the delay", 0, LONGEST, .delay = LONGEST / 2 - 1,
	  .follows = true },
	{ "the delay is over", 0, LONGEST, .delay = LONGEST / 2 },
	{ "the delay is over, preempted", GAP, LONGEST, .preempted = true,
	  .near = true, .delay = LONGEST / 2, .excuses = true },
};

KUNIT_ARRAY_PARAM_DESC(follow, follow_cases, desc);

static void pace_follows(struct kunit *test)
{
	const struct follow_case *c = test->param_value;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		struct sanx_pace_now now = {
			.ns = starts[i] + c->gap,
			.slept = 7 + c->slept,
			.preempted = U32_MAX + c->preempted,
		};
		struct sanx_pace p = {
			.last = starts[i],
			.slept = 7,
			.preempted = U32_MAX,
			.near = c->near,
			.slow = true,
			.ns = LONGEST / 2,
			.since = now.ns - c->delay,
		};

		KUNIT_EXPECT_EQ_MSG(test,
				    sanx_pace_follows(&p, &now, c->longest,
						      c->delay),
				    c->follows, "from %u", starts[i]);
		KUNIT_EXPECT_EQ(test, p.near, c->gap < c->longest / 4);
		KUNIT_EXPECT_EQ(test, p.slow, !c->excuses);
		KUNIT_EXPECT_EQ(test, p.last, now.ns);
		KUNIT_EXPECT_EQ(test, p.slept, now.slept);
		KUNIT_EXPECT_EQ(test, p.preempted, now.preempted);
		KUNIT_EXPECT_EQ(test, p.ns,
				c->delay ? LONGEST / 2 : c->longest / 2);
	}
}

/* A delay is twice as long where pieces come fast, and not while it lasts. */
static void pace_longest(struct kunit *test)
{
	struct sanx_pace_now now = {};
	struct sanx_pace p = {};

	sanx_pace_turn(&p, true, false);
	sanx_pace_follows(&p, &now, LONGEST, false);
	KUNIT_EXPECT_EQ(test, sanx_pace_begin(&p), LONGEST / 2);
	p.fast = true;
	sanx_pace_follows(&p, &now, LONGEST, true);
	KUNIT_EXPECT_EQ(test, p.ns, LONGEST / 2);
	sanx_pace_follows(&p, &now, LONGEST, false);
	KUNIT_EXPECT_EQ(test, sanx_pace_begin(&p), LONGEST);
}

/* Sends that follow each other fast follow until the delay is over. */
static void pace_until_over(struct kunit *test)
{
	struct sanx_pace_now now;
	u32 i, ns;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		struct sanx_pace p = { .last = starts[i] };

		for (ns = 0; ns <= LONGEST; ns += GAP / 5) {
			now = (struct sanx_pace_now){ .ns = starts[i] + ns };
			KUNIT_EXPECT_EQ_MSG(test,
					    sanx_pace_follows(&p, &now, LONGEST,
							      ns),
					    ns < LONGEST / 2,
					    "from %u, at %u", starts[i], ns);
		}
	}
}

static struct kunit_case hold_cases[] = {
	KUNIT_CASE(hold_crossings),
	KUNIT_CASE(hold_sizes),
	KUNIT_CASE_PARAM(hold_ends, end_gen_params),
	KUNIT_CASE(pace_streams),
	KUNIT_CASE(pace_without_nodelay),
	KUNIT_CASE(pace_first_pause),
	KUNIT_CASE(pace_received_meanwhile),
	KUNIT_CASE(pace_with_nodelay),
	KUNIT_CASE(pace_nothing_held),
	KUNIT_CASE(pace_many_bytes),
	KUNIT_CASE(pace_turn),
	KUNIT_CASE_PARAM(pace_follows, follow_gen_params),
	KUNIT_CASE(pace_longest),
	KUNIT_CASE(pace_until_over),
	{}
};

static struct kunit_suite hold_suite = {
	.name = "sanx_hold",
	.test_cases = hold_cases,
};

kunit_test_suite(hold_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: holding bytes back");
MODULE_LICENSE("GPL");
