// SPDX-License-Identifier: GPL-2.0
/*
 * Link credits (af_sanx/link/frame/link_credit.h): each rule from both sides, grants that
 * cross sends, counters that wrap, peers that lie; and two ends of a link with a
 * channel between them.
 *
 * Two ends are walked in two ways.  The least window that the rules permit is small
 * enough for all that can happen in any order: each state that can be reached is
 * looked at once.  Larger ones go at random, from a fixed seed.  What is looked for is
 * written down here a second time: where each receive is, that none is taken twice,
 * and that nobody has to wait for ever.
 *
 * The walk is shown to see something: ends that keep no credits in reserve deadlock.
 */
#include <kunit/test.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "link/frame/link_credit.h"

/* Written down a second time, as the protocol has it. */
#define RESERVE		4

static u32 grant_due_at(u32 recvs)
{
	return recvs < 128 ? recvs / 4 : 32;
}

/* Two sides that have just met; counters begin at @base instead of 0. */
static struct link_credit credit_at(u32 base, u32 recvs, u32 peer_recvs)
{
	struct link_credit c = {};

	link_credit_init_rx(&c, recvs);
	link_credit_init_tx(&c, peer_recvs);
	c.sent += base;
	c.limit += base;
	c.posted += base;
	c.advertised += base;
	return c;
}

static void send_frames(struct link_credit *c, u32 n)
{
	while (n--)
		link_credit_sent(c);
}

static void post_recvs(struct link_credit *c, u32 n)
{
	while (n--)
		link_credit_posted(c);
}

static const u32 bases[] = {
	0, 1, 1U << 31, (1U << 31) - 5, U32_MAX - 200, U32_MAX - 17, U32_MAX - 3,
	U32_MAX,
};

static void base_desc(const u32 *base, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "counters from %u", *base);
}

KUNIT_ARRAY_PARAM(base, bases, base_desc);

static u32 base_of(struct kunit *test)
{
	return *(const u32 *)test->param_value;
}

/* Windows: the least of the rules, the least of the protocol, ours, the most. */
static const u32 windows[] = { 8, 11, 16, 19, 128, 65536 };

/* Ordinary frames leave the reserve, to the frame. */
static void credit_reserve(struct kunit *test)
{
	struct link_credit c;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		n = windows[i];
		c = credit_at(base_of(test), 16, n);
		KUNIT_EXPECT_EQ(test, link_credit_left(&c), n);
		KUNIT_EXPECT_EQ(test, link_credit_room(&c), n - RESERVE);
		send_frames(&c, n - RESERVE - 1);
		KUNIT_EXPECT_EQ(test, link_credit_room(&c), 1);
		link_credit_sent(&c);
		KUNIT_EXPECT_EQ(test, link_credit_room(&c), 0);
		KUNIT_EXPECT_EQ(test, link_credit_left(&c), RESERVE);
		/* Nothing is owed: the reserve stays. */
		KUNIT_EXPECT_FALSE(test, link_credit_grant_due(&c));
	}
}

/* A grant is owed from a quarter on, and not before. */
static void credit_due(struct kunit *test)
{
	struct link_credit c;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		n = grant_due_at(windows[i]);
		c = credit_at(base_of(test), windows[i], 16);
		KUNIT_EXPECT_FALSE(test, link_credit_grant_due(&c));
		post_recvs(&c, n - 1);
		KUNIT_EXPECT_FALSE(test, link_credit_grant_due(&c));
		link_credit_posted(&c);
		KUNIT_EXPECT_TRUE(test, link_credit_grant_due(&c));
		KUNIT_EXPECT_EQ(test, link_credit_unadvertised(&c), n);
		/* Whatever frame brings it, it is owed no more. */
		KUNIT_EXPECT_EQ(test, link_credit_advertise(&c), c.posted);
		KUNIT_EXPECT_EQ(test, link_credit_unadvertised(&c), 0);
		KUNIT_EXPECT_FALSE(test, link_credit_grant_due(&c));
	}
}

/* A grant of so many more receives acknowledges so many frames, no more. */
static void credit_acked(struct kunit *test)
{
	u32 base = base_of(test), i;
	struct link_credit c = credit_at(base, 16, 16);

	send_frames(&c, 10);
	for (i = 0; i <= 10; i++) {
		KUNIT_EXPECT_EQ(test, link_credit_granted(&c, base + 16 + i), 0);
		KUNIT_EXPECT_EQ(test, link_credit_acked(&c), base + i);
		KUNIT_EXPECT_TRUE(test, link_credit_is_acked(&c, base + i));
		KUNIT_EXPECT_FALSE(test, link_credit_is_acked(&c, base + i + 1));
	}
	/* What was not sent cannot be acknowledged. */
	KUNIT_EXPECT_EQ(test, link_credit_granted(&c, base + 16 + i), -EPROTO);
	KUNIT_EXPECT_EQ(test, link_credit_acked(&c), base + 10);
}

/* Each of the last credits does for a grant, and for nothing else. */
static void credit_last(struct kunit *test)
{
	struct link_credit c = credit_at(base_of(test), 16, 16);
	u32 left;

	send_frames(&c, 16 - RESERVE);
	for (left = RESERVE; left; left--) {
		KUNIT_EXPECT_EQ(test, link_credit_left(&c), left);
		KUNIT_EXPECT_EQ(test, link_credit_room(&c), 0);
		post_recvs(&c, 3);
		KUNIT_EXPECT_FALSE(test, link_credit_grant_due(&c));
		link_credit_posted(&c);
		KUNIT_EXPECT_TRUE(test, link_credit_grant_due(&c));
		link_credit_advertise(&c);
		link_credit_sent(&c);
	}
	/* None is left: the next grant is owed, and waits. */
	post_recvs(&c, 16);
	KUNIT_EXPECT_EQ(test, link_credit_left(&c), 0);
	KUNIT_EXPECT_FALSE(test, link_credit_grant_due(&c));
	/* One credit, and it goes. */
	KUNIT_EXPECT_EQ(test, link_credit_granted(&c, c.limit + 1), 0);
	KUNIT_EXPECT_TRUE(test, link_credit_grant_due(&c));
	KUNIT_EXPECT_EQ(test, link_credit_room(&c), 0);
}

/* Neither side has any: a grant that is under way is what they go on by. */
static void credit_none_both_ways(struct kunit *test)
{
	struct link_credit a = credit_at(base_of(test), 16, 16), b = a;
	u32 from_a;

	send_frames(&a, 15);
	send_frames(&b, 16);
	post_recvs(&a, 4);
	KUNIT_EXPECT_TRUE(test, link_credit_grant_due(&a));
	from_a = link_credit_advertise(&a);
	link_credit_sent(&a);
	KUNIT_EXPECT_EQ(test, link_credit_left(&a), 0);
	KUNIT_EXPECT_EQ(test, link_credit_left(&b), 0);
	post_recvs(&b, 15);
	post_recvs(&a, 12);
	KUNIT_EXPECT_FALSE(test, link_credit_grant_due(&a));
	KUNIT_EXPECT_FALSE(test, link_credit_grant_due(&b));
	/* Now it arrives. */
	KUNIT_EXPECT_EQ(test, link_credit_granted(&b, from_a), 0);
	link_credit_posted(&b);
	KUNIT_EXPECT_EQ(test, link_credit_left(&b), 4);
	KUNIT_EXPECT_EQ(test, link_credit_room(&b), 0);
	KUNIT_EXPECT_TRUE(test, link_credit_grant_due(&b));
	KUNIT_EXPECT_EQ(test, link_credit_granted(&a, link_credit_advertise(&b)),
			0);
	link_credit_sent(&b);
	link_credit_posted(&a);
	KUNIT_EXPECT_EQ(test, link_credit_left(&a), 16);
	KUNIT_EXPECT_TRUE(test, link_credit_grant_due(&a));
	KUNIT_EXPECT_EQ(test, link_credit_granted(&b, link_credit_advertise(&a)),
			0);
	link_credit_sent(&a);
	KUNIT_EXPECT_EQ(test, link_credit_left(&b), 16);
}

/* A send and a grant that cross give the same, in either order. */
static void credit_grant_crosses_send(struct kunit *test)
{
	struct link_credit a, b;
	u32 sent, freed, grant;

	for (sent = 1; sent <= 12; sent++) {
		for (freed = 0; freed <= sent; freed++) {
			a = credit_at(base_of(test), 16, 16);
			send_frames(&a, sent);
			b = a;
			grant = a.limit + freed;
			if (sent < 12)
				link_credit_sent(&a);
			KUNIT_EXPECT_EQ(test, link_credit_granted(&a, grant), 0);
			KUNIT_EXPECT_EQ(test, link_credit_granted(&b, grant), 0);
			if (sent < 12)
				link_credit_sent(&b);
			KUNIT_EXPECT_EQ(test, memcmp(&a, &b, sizeof(a)), 0);
			KUNIT_EXPECT_EQ(test, link_credit_left(&a),
					16 - min(sent + 1, 12U) + freed);
		}
	}
}

/* A receive that is posted while the grant before it is under way is not lost. */
static void credit_grant_crosses_post(struct kunit *test)
{
	struct link_credit c = credit_at(base_of(test), 16, 16);
	u32 first;

	post_recvs(&c, 4);
	first = link_credit_advertise(&c);
	link_credit_sent(&c);
	post_recvs(&c, 4);
	KUNIT_EXPECT_EQ(test, link_credit_unadvertised(&c), 4);
	KUNIT_EXPECT_TRUE(test, link_credit_grant_due(&c));
	KUNIT_EXPECT_EQ(test, link_credit_advertise(&c), first + 4);
}

/**
 * struct lie_case - a grant, and whether a correct peer could have sent it
 * @desc: in words
 * @sent: frames sent before
 * @grants: of them, frames that were granted again
 * @by: the grant, relative to the last one
 * @want: the verdict
 */
struct lie_case {
	const char *desc;
	u32 sent;
	u32 grants;
	s64 by;
	int want;
};

static const struct lie_case lie_cases[] = {
	{ "the same again, nothing sent", 0, 0, 0, 0 },
	{ "the same again, all sent", 16, 0, 0, 0 },
	{ "more, nothing sent", 0, 0, 1, -EPROTO },
	{ "one for one", 1, 0, 1, 0 },
	{ "two for one", 1, 0, 2, -EPROTO },
	{ "all that was sent", 16, 0, 16, 0 },
	{ "one more than that", 16, 0, 17, -EPROTO },
	{ "what was left of it", 16, 10, 6, 0 },
	{ "one more than was left of it", 16, 10, 7, -EPROTO },
	{ "back by one", 8, 8, -1, -EPROTO },
	{ "back by all, to where it began", 16, 16, -16, -EPROTO },
	{ "back to before it began", 0, 0, -16, -EPROTO },
	{ "ahead by 2^31 - 1", 4, 0, S32_MAX, -EPROTO },
	{ "ahead, or back, by 2^31", 4, 0, 1LL << 31, -EPROTO },
	{ "ahead by 2^32 - 1", 4, 0, U32_MAX, -EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(lie, lie_cases, desc);

static void credit_lie(struct kunit *test)
{
	const struct lie_case *c = test->param_value;
	struct link_credit credit, before;
	u32 i, grant;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		credit = credit_at(bases[i], 128, 16);
		send_frames(&credit, c->sent);
		KUNIT_ASSERT_EQ(test, link_credit_granted(&credit, credit.limit +
							  c->grants), 0);
		before = credit;
		grant = credit.limit + (u32)c->by;
		KUNIT_EXPECT_EQ_MSG(test, link_credit_granted(&credit, grant),
				    c->want, "from %u", bases[i]);
		/* What is refused changes nothing; what is taken, the limit. */
		if (!c->want)
			before.limit = grant;
		KUNIT_EXPECT_EQ(test, memcmp(&before, &credit, sizeof(before)), 0);
		KUNIT_EXPECT_LE(test, link_credit_left(&credit), 16);
	}
}

/* All values near what is right, against the rule as the protocol states it. */
static void credit_lie_all(struct kunit *test)
{
	struct link_credit c, tried;
	u32 sent, granted, base = base_of(test);
	s32 by;

	for (sent = 0; sent <= 16; sent++) {
		for (granted = 0; granted <= sent; granted++) {
			c = credit_at(base, 128, 16);
			send_frames(&c, sent);
			KUNIT_ASSERT_EQ(test, link_credit_granted(&c, c.limit +
								  granted), 0);
			for (by = -40; by <= 40; by++) {
				bool right = by >= 0 && granted + by <= sent;

				tried = c;
				KUNIT_ASSERT_EQ(test, link_credit_granted(&tried, c.limit + by),
						right ? 0 : -EPROTO);
			}
		}
	}
}

/*
 * Two ends, and a channel each way that keeps the order.
 */

#define FLIGHT_MAX	256

/**
 * struct end - one end of a link
 * @c: its credits
 * @recvs: receives that it posted at first
 * @grant: of each frame that it has under way, the grant
 * @first: the oldest of them
 * @flight: how many
 * @taken: one of them was taken from the channel, and its receive not posted anew
 */
struct end {
	struct link_credit c;
	u32 recvs;
	u32 grant[FLIGHT_MAX];
	u32 first;
	u32 flight;
	bool taken;
};

/**
 * struct pair - both ends
 * @end: they
 * @greedy: ordinary frames use the reserve, too
 * @wrong: what was seen that must not be, or NULL
 */
struct pair {
	struct end end[2];
	bool greedy;
	const char *wrong;
};

enum step {
	STEP_SEND,		/* an ordinary frame with a grant in it */
	STEP_SEND_WITHOUT,	/* one that has no room for a grant */
	STEP_GRANT,		/* a frame for a grant */
	STEP_ARRIVE,		/* the peer's next frame is taken from the channel */
	STEP_POST,		/* its receive is posted anew */
	STEPS
};

/* What a node does by itself, whatever the programs do. */
static bool step_forced(enum step step)
{
	return step >= STEP_GRANT;
}

static void pair_wrong(struct pair *p, const char *what)
{
	if (!p->wrong)
		p->wrong = what;
}

/* Where the receives of end @to are; see the head of link_credit.h. */
static void pair_check(struct pair *p, u32 to)
{
	const struct end *e = &p->end[to], *peer = &p->end[!to];
	u32 left = peer->c.limit - peer->c.sent;
	u32 told = e->c.advertised - peer->c.limit;
	u32 untold = e->c.posted - e->c.advertised;
	u32 taken = peer->flight + peer->taken;

	if (left > e->recvs || told > e->recvs || untold > e->recvs ||
	    taken > e->recvs)
		pair_wrong(p, "more than there are receives");
	else if (left + told + untold + taken != e->recvs)
		pair_wrong(p, "a receive is lost, or there twice");
	else if (peer->c.sent - link_credit_acked(&peer->c) !=
		 told + untold + taken)
		pair_wrong(p, "frames are acknowledged that were not processed");
}

static void frame_send(struct pair *p, u32 from, u32 grant)
{
	struct end *e = &p->end[from];

	/* The receives that are posted and not taken: one is needed. */
	if (e->flight + e->taken >= p->end[!from].recvs) {
		pair_wrong(p, "sent into an empty receive queue");
		return;
	}
	e->grant[(e->first + e->flight++) % FLIGHT_MAX] = grant;
	link_credit_sent(&e->c);
}

static void frame_arrive(struct pair *p, u32 to)
{
	struct end *e = &p->end[to], *peer = &p->end[!to];

	peer->flight--;
	peer->taken = true;
	if (link_credit_granted(&e->c, peer->grant[peer->first++ % FLIGHT_MAX]))
		pair_wrong(p, "refused a grant that is right");
}

static bool step_can(const struct pair *p, u32 at, enum step step)
{
	const struct end *e = &p->end[at], *peer = &p->end[!at];

	switch (step) {
	case STEP_SEND:
	case STEP_SEND_WITHOUT:
		return p->greedy ? link_credit_left(&e->c) :
				   link_credit_room(&e->c);
	case STEP_GRANT:
		return link_credit_grant_due(&e->c);
	case STEP_ARRIVE:
		return peer->flight && !peer->taken;
	default:
		return peer->taken;
	}
}

static void step_do(struct pair *p, u32 at, enum step step)
{
	struct end *e = &p->end[at];

	switch (step) {
	case STEP_SEND:
	case STEP_GRANT:
		frame_send(p, at, link_credit_advertise(&e->c));
		break;
	case STEP_SEND_WITHOUT:
		/* As if it said once more what was said last. */
		frame_send(p, at, e->c.advertised);
		break;
	case STEP_ARRIVE:
		frame_arrive(p, at);
		break;
	default:
		p->end[!at].taken = false;
		link_credit_posted(&e->c);
		break;
	}
	pair_check(p, 0);
	pair_check(p, 1);
}

/* Nodes have done what they do by themselves: then each program may send. */
static void pair_rest(struct pair *p)
{
	u32 at, step;

	for (at = 0; at < 2; at++)
		for (step = 0; step < STEPS; step++)
			if (step_forced(step) && step_can(p, at, step))
				return;
	if (!link_credit_room(&p->end[0].c) || !link_credit_room(&p->end[1].c))
		pair_wrong(p, "deadlock");
}

static void end_init(struct end *e, u32 base, u32 recvs, u32 peer_recvs)
{
	memset(e, 0, sizeof(*e));
	e->recvs = recvs;
	e->c = credit_at(base, recvs, peer_recvs);
}

static void pair_init(struct pair *p, u32 base, u32 recvs0, u32 recvs1)
{
	p->wrong = NULL;
	end_init(&p->end[0], base, recvs0, recvs1);
	end_init(&p->end[1], base, recvs1, recvs0);
	/* What one has advertised is what the other may send. */
	p->end[0].c.limit = p->end[1].c.advertised;
	p->end[0].c.sent = p->end[0].c.limit - recvs1;
	p->end[1].c.limit = p->end[0].c.advertised;
	p->end[1].c.sent = p->end[1].c.limit - recvs0;
}

/*
 * All orders.  A state is what is left when counters are taken relative to each
 * other: 4 bits each for credits, receives to be advertised, frames under way and
 * what the grant in each brings.  So a window is small.
 */
#define WALK_WINDOW	LINK_CREDIT_RECVS_MIN
#define WALK_STATES	0x180000U
#define WALK_SLOTS	0x400000U

struct state {
	u64 end[2];
};

/**
 * struct walk - states that can be reached
 * @p: the one that is looked at
 * @base: where counters begin, as they are taken apart again
 * @states: those that were seen, in the order of being seen
 * @n: how many
 * @slots: hash table of their numbers, plus 1
 */
struct walk {
	struct pair p;
	u32 base;
	struct state *states;
	u32 n;
	u32 *slots;
};

static u64 state_of_end(const struct end *e, const struct end *peer)
{
	u64 bits = e->taken;
	u32 i, last = peer->c.limit, grant;

	bits = bits << 4 | (e->c.limit - e->c.sent);
	bits = bits << 4 | (e->c.posted - e->c.advertised);
	bits = bits << 4 | e->flight;
	for (i = 0; i < e->flight; i++) {
		grant = e->grant[(e->first + i) % FLIGHT_MAX];
		bits |= (u64)(grant - last) << (16 + 4 * i);
		last = grant;
	}
	return bits;
}

/* Both are alike: a state and its mirror image are one. */
static struct state state_of(const struct pair *p)
{
	struct state s = { {
		state_of_end(&p->end[0], &p->end[1]),
		state_of_end(&p->end[1], &p->end[0]),
	} };

	if (s.end[0] > s.end[1])
		swap(s.end[0], s.end[1]);
	return s;
}

static void state_to_end(u64 bits, struct end *e, u32 base)
{
	u32 i, grant = base;

	e->recvs = WALK_WINDOW;
	e->c.recvs = WALK_WINDOW;
	e->c.peer_recvs = WALK_WINDOW;
	e->c.limit = base;
	e->flight = bits & 0xf;
	e->c.sent = base - (bits >> 8 & 0xf);
	e->taken = bits >> 12 & 1;
	e->first = 0;
	for (i = 0; i < e->flight; i++) {
		grant += bits >> (16 + 4 * i) & 0xf;
		e->grant[i] = grant;
	}
	e->c.advertised = grant;
	e->c.posted = grant + (bits >> 4 & 0xf);
}

static void walk_see(struct walk *w)
{
	struct state s = state_of(&w->p);
	u32 at = jhash2((const u32 *)&s, sizeof(s) / 4, 0) % WALK_SLOTS;

	for (; w->slots[at]; at = (at + 1) % WALK_SLOTS)
		if (!memcmp(&w->states[w->slots[at] - 1], &s, sizeof(s)))
			return;
	if (w->n == WALK_STATES) {
		pair_wrong(&w->p, "more states than there is room for");
		return;
	}
	w->states[w->n++] = s;
	w->slots[at] = w->n;
}

/* Takes each step that is possible in state @s. */
static void walk_from(struct walk *w, const struct state *s)
{
	u32 at, step;

	for (at = 0; at < 2 && !w->p.wrong; at++) {
		for (step = 0; step < STEPS && !w->p.wrong; step++) {
			state_to_end(s->end[0], &w->p.end[0], w->base);
			state_to_end(s->end[1], &w->p.end[1], w->base);
			if (!at && !step)
				pair_rest(&w->p);
			if (w->p.wrong || !step_can(&w->p, at, step))
				continue;
			step_do(&w->p, at, step);
			walk_see(w);
		}
	}
}

/* Return: states that were reached, until something was wrong: @wrong. */
static u32 walk(struct kunit *test, u32 base, bool greedy, const char **wrong)
{
	struct walk *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->states = vmalloc(array_size(WALK_STATES, sizeof(*w->states)));
	w->slots = vzalloc(array_size(WALK_SLOTS, sizeof(*w->slots)));
	*wrong = "no memory";
	if (w->states && w->slots) {
		pair_init(&w->p, base, WALK_WINDOW, WALK_WINDOW);
		w->p.greedy = greedy;
		w->base = base;
		walk_see(w);
		for (i = 0; i < w->n && !w->p.wrong; i++) {
			walk_from(w, &w->states[i]);
			if (!(i % 1024))
				cond_resched();
		}
		*wrong = w->p.wrong;
	}
	vfree(w->states);
	vfree(w->slots);
	return w->n;
}

/* No order of events ends in a wait, or in an empty receive queue. */
static void walk_all_orders(struct kunit *test)
{
	const char *wrong;
	u32 n = walk(test, 1000, false, &wrong);

	KUNIT_EXPECT_NULL_MSG(test, wrong, "%s, in state %u", wrong, n);
	KUNIT_EXPECT_GT(test, n, 4000);
	kunit_info(test, "%u states\n", n);
}

/* The same where the counters of each state are about to wrap, or just have. */
static void walk_all_orders_wrapping(struct kunit *test)
{
	const char *wrong;
	u32 n = walk(test, U32_MAX - 3, false, &wrong);

	KUNIT_EXPECT_NULL_MSG(test, wrong, "%s, in state %u", wrong, n);
}

/* Without a reserve there is a deadlock, and the walk comes to it. */
static void walk_without_reserve(struct kunit *test)
{
	const char *wrong;

	walk(test, 1000, true, &wrong);
	KUNIT_EXPECT_STREQ(test, wrong, "deadlock");
}

/**
 * struct run_case - two ends, at random
 * @desc: in words
 * @recvs: their receives
 * @base: where counters begin
 * @sends: one in how many turns of each end sends, if it can
 * @slow: one in how many turns of each end takes a frame
 */
struct run_case {
	const char *desc;
	u32 recvs[2];
	u32 base;
	u32 sends[2];
	u32 slow[2];
};

static const struct run_case run_cases[] = {
	{ "the least windows", { 8, 8 }, 0, { 1, 1 }, { 1, 1 } },
	{ "the least of the protocol", { 16, 16 }, 0, { 1, 1 }, { 1, 1 } },
	{ "ours", { 128, 128 }, 0, { 1, 1 }, { 1, 1 } },
	{ "ours, across the wrap", { 128, 128 }, U32_MAX - 5000, { 1, 1 },
	  { 1, 1 } },
	{ "unlike windows", { 8, 200 }, U32_MAX - 500, { 1, 1 }, { 1, 1 } },
	{ "windows that are no multiples", { 11, 19 }, 7, { 1, 1 }, { 1, 1 } },
	{ "one end only sends", { 16, 128 }, 0, { 1, 1000 }, { 1, 1 } },
	{ "one end hardly receives", { 16, 16 }, 0, { 1, 1 }, { 1, 50 } },
	{ "both hardly receive", { 16, 128 }, 0, { 1, 1 }, { 20, 20 } },
	{ "both hardly send", { 16, 16 }, 1U << 31, { 30, 30 }, { 1, 1 } },
};

KUNIT_ARRAY_PARAM_DESC(run, run_cases, desc);

/* One step of one end, drawn by chance. */
static void run_turn(struct pair *p, const struct run_case *c,
		     struct rnd_state *rnd)
{
	u32 at = prandom_u32_state(rnd) % 2;
	enum step step = prandom_u32_state(rnd) % STEPS;
	u32 one_in = 1;

	if (step == STEP_SEND || step == STEP_SEND_WITHOUT)
		one_in = c->sends[at];
	else if (step == STEP_ARRIVE)
		one_in = c->slow[at];
	if (prandom_u32_state(rnd) % one_in)
		return;
	if (step_can(p, at, step))
		step_do(p, at, step);
	pair_rest(p);
}

/* Nodes alone come to an end, and it takes them few frames. */
static u32 run_settle(struct pair *p)
{
	u32 n = 0, at, step;
	bool moved = true;

	while (moved && n < 100000) {
		moved = false;
		for (at = 0; at < 2; at++) {
			for (step = STEP_GRANT; step < STEPS; step++) {
				if (!step_can(p, at, step))
					continue;
				step_do(p, at, step);
				moved = true;
				n++;
			}
		}
	}
	pair_rest(p);
	return n;
}

/*
 * Grants follow the frames, fewer each time.  Then few frames are not
 * acknowledged, however many receives the peer has.
 */
static void run_settled(struct kunit *test, struct pair *p,
			const struct run_case *c)
{
	u32 i;

	KUNIT_EXPECT_LT(test, run_settle(p), 8 * (c->recvs[0] + c->recvs[1]));
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_LT(test, p->end[i].c.sent -
				      link_credit_acked(&p->end[i].c),
				grant_due_at(c->recvs[!i]));
}

static void run_at_random(struct kunit *test)
{
	const struct run_case *c = test->param_value;
	struct pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct rnd_state rnd;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	pair_init(p, c->base, c->recvs[0], c->recvs[1]);
	prandom_seed_state(&rnd, 0x6c696e6bULL + c->recvs[0] + c->base);
	for (i = 0; i < 300000 && !p->wrong; i++) {
		run_turn(p, c, &rnd);
		if (!(i % 1000))
			run_settled(test, p, c);
	}
	KUNIT_EXPECT_NULL_MSG(test, p->wrong, "%s, in turn %u", p->wrong, i);
	/* Each has sent many windows, and so has gone round in its counters. */
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_GT(test, p->end[i].c.sent - c->base, 50);
}

static struct kunit_case link_credit_cases[] = {
	KUNIT_CASE_PARAM(credit_reserve, base_gen_params),
	KUNIT_CASE_PARAM(credit_due, base_gen_params),
	KUNIT_CASE_PARAM(credit_acked, base_gen_params),
	KUNIT_CASE_PARAM(credit_last, base_gen_params),
	KUNIT_CASE_PARAM(credit_none_both_ways, base_gen_params),
	KUNIT_CASE_PARAM(credit_grant_crosses_send, base_gen_params),
	KUNIT_CASE_PARAM(credit_grant_crosses_post, base_gen_params),
	KUNIT_CASE_PARAM(credit_lie, lie_gen_params),
	KUNIT_CASE_PARAM(credit_lie_all, base_gen_params),
	KUNIT_CASE_SLOW(walk_all_orders),
	KUNIT_CASE_SLOW(walk_all_orders_wrapping),
	KUNIT_CASE_SLOW(walk_without_reserve),
	KUNIT_CASE_PARAM(run_at_random, run_gen_params),
	{}
};

static struct kunit_suite link_credit_suite = {
	.name = "sanx_link_credit",
	.test_cases = link_credit_cases,
};

kunit_test_suite(link_credit_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: credits of a link");
MODULE_LICENSE("GPL");
