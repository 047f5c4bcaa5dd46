// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a connection in the engine (af_sanx/link/frame/lconn_state.h): each
 * table, written down a second time; and what follows from the state, for every
 * combination of its four parts.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "link/frame/lconn_next.h"

#define ALL	BIT(__SANX_LCONN_PHASES)

/**
 * struct step - a change that must be possible
 * @from: before
 * @to: after
 */
struct step {
	u8 from;
	u8 to;
};

/* What happens to a connection, in the words of the protocol. */
static const struct step phase_steps[] = {
	/* connect() */
	{ SANX_LCONN_NEW, SANX_LCONN_OPENING },
	{ SANX_LCONN_OPENING, SANX_LCONN_OPEN_SENT },
	{ SANX_LCONN_OPEN_SENT, SANX_LCONN_OPEN },
	/* the peer is busy, and is asked again */
	{ SANX_LCONN_OPEN_SENT, SANX_LCONN_IDLE },
	{ SANX_LCONN_IDLE, SANX_LCONN_OPENING },
	/* the link is lost before the answer, and another one is asked */
	{ SANX_LCONN_OPENING, SANX_LCONN_ADRIFT },
	{ SANX_LCONN_OPEN_SENT, SANX_LCONN_ADRIFT },
	{ SANX_LCONN_IDLE, SANX_LCONN_ADRIFT },
	{ SANX_LCONN_ADRIFT, SANX_LCONN_OPENING },
	/* the peer's OPEN */
	{ SANX_LCONN_NEW, SANX_LCONN_ACCEPTING },
	{ SANX_LCONN_ACCEPTING, SANX_LCONN_ADMITTED },
	{ SANX_LCONN_ADMITTED, SANX_LCONN_OPEN },
	/* the link is lost, also while the connection resumes */
	{ SANX_LCONN_OPEN, SANX_LCONN_SUSPENDED },
	{ SANX_LCONN_RESUMING, SANX_LCONN_SUSPENDED },
	{ SANX_LCONN_RESUME_SENT, SANX_LCONN_SUSPENDED },
	{ SANX_LCONN_RESUMED, SANX_LCONN_SUSPENDED },
	/* it resumes: at the connector, at the acceptor */
	{ SANX_LCONN_SUSPENDED, SANX_LCONN_RESUMING },
	{ SANX_LCONN_RESUMING, SANX_LCONN_RESUME_SENT },
	{ SANX_LCONN_RESUME_SENT, SANX_LCONN_OPEN },
	{ SANX_LCONN_RESUMING, SANX_LCONN_RESUMED },
	{ SANX_LCONN_RESUMED, SANX_LCONN_OPEN },
};

static bool is_phase_step(u8 from, u8 to)
{
	unsigned int i;

	/* The end may come at any time, once there was a link. */
	if (to == SANX_LCONN_RELEASED)
		return from != SANX_LCONN_NEW && from != SANX_LCONN_RELEASED;
	if (to == SANX_LCONN_OVER)
		return from != SANX_LCONN_NEW && from < SANX_LCONN_OVER;
	for (i = 0; i < ARRAY_SIZE(phase_steps); i++)
		if (phase_steps[i].from == from && phase_steps[i].to == to)
			return true;
	return false;
}

static void lconn_phases(struct kunit *test)
{
	u8 from, to;

	for (from = 0; from <= __SANX_LCONN_PHASES; from++)
		for (to = 0; to < __SANX_LCONN_PHASES; to++)
			KUNIT_EXPECT_EQ_MSG(test,
					    from < __SANX_LCONN_PHASES &&
					    is_phase_step(from, to),
					    sanx_lconn_phase_may(from, to),
					    "%u -> %u", from, to);
}

/* Phases that can be reached from @from, itself included. */
static u32 reached(u8 from)
{
	u32 found = BIT(from), before;
	u8 a, b;

	do {
		before = found;
		for (a = 0; a < __SANX_LCONN_PHASES; a++)
			for (b = 0; b < __SANX_LCONN_PHASES; b++)
				if (found & BIT(a) && sanx_lconn_phase_may(a, b))
					found |= BIT(b);
	} while (found != before);
	return found;
}

/* Nothing is a dead end but RELEASED, and nothing comes back from the end. */
static void lconn_ways(struct kunit *test)
{
	u8 from;

	KUNIT_EXPECT_EQ(test, reached(SANX_LCONN_NEW), ALL - 1);
	KUNIT_EXPECT_EQ(test, reached(SANX_LCONN_OVER), (u32)SANX_LCONN_ENDS);
	KUNIT_EXPECT_EQ(test, reached(SANX_LCONN_RELEASED),
			(u32)BIT(SANX_LCONN_RELEASED));
	for (from = 0; from < SANX_LCONN_OVER; from++) {
		KUNIT_EXPECT_TRUE(test, reached(from) & BIT(SANX_LCONN_OPEN));
		KUNIT_EXPECT_TRUE(test, reached(from) & BIT(SANX_LCONN_RELEASED));
	}
	/* Once a connection was suspended, only RESUME brings it back. */
	KUNIT_EXPECT_FALSE(test, reached(SANX_LCONN_SUSPENDED) &
			   (BIT(SANX_LCONN_OPENING) | BIT(SANX_LCONN_ACCEPTING)));
}

static void lconn_directions(struct kunit *test)
{
	static const u8 tx[] = { 0xe, 0xe, 0x8, 0x8 };
	static const u8 rx[] = { 0x6, 0x4, 0x0 };
	static const u8 close[] = { 0x2, 0x4, 0xa, 0x0 };
	u8 from, to;

	for (from = 0; from < __SANX_LCONN_TXS; from++)
		for (to = 0; to < __SANX_LCONN_TXS; to++)
			KUNIT_EXPECT_EQ_MSG(test, !!(tx[from] & BIT(to)),
					    sanx_lconn_tx_may(from, to),
					    "tx %u -> %u", from, to);
	for (from = 0; from < __SANX_LCONN_RXS; from++)
		for (to = 0; to <= __SANX_LCONN_RXS; to++)
			KUNIT_EXPECT_EQ_MSG(test, !!(rx[from] & BIT(to)),
					    sanx_lconn_rx_may(from, to),
					    "rx %u -> %u", from, to);
	for (from = 0; from < __SANX_LCONN_CLOSES; from++)
		for (to = 0; to <= __SANX_LCONN_CLOSES; to++)
			KUNIT_EXPECT_EQ_MSG(test, !!(close[from] & BIT(to)),
					    sanx_lconn_close_may(from, to),
					    "close %u -> %u", from, to);
}

static void lconn_owners(struct kunit *test)
{
	static const u8 next[] = { 0x6, 0x1, 0x9, 0x5 };
	u8 from, to;

	for (from = 0; from <= __SANX_OWNERS; from++)
		for (to = 0; to <= __SANX_OWNERS; to++)
			KUNIT_EXPECT_EQ_MSG(test, from < __SANX_OWNERS &&
					    next[from] & BIT(to),
					    sanx_lconn_owner_may(from, to),
					    "owner %u -> %u", from, to);
}

/* What no frame, no close() and no lost link may contradict. */
static void check_state(struct kunit *test, const struct sanx_lconn_state *s)
{
	bool over = sanx_lconn_is_over(s), known = sanx_lconn_was_open(s);
	bool closed = sanx_lconn_is_closed(s);

	/* A connection is before its beginning, in use or at its end. */
	KUNIT_EXPECT_EQ(test, 1, over + known +
			(sanx_lconn_is_asking(s) ||
			 sanx_lconn_is_adrift(s) ||
			 s->phase == SANX_LCONN_NEW ||
			 s->phase == SANX_LCONN_IDLE));
	/* What the peer may know of is not asked for twice. */
	if (sanx_lconn_may_ask_again(s))
		KUNIT_EXPECT_TRUE(test, !known && !over && !closed &&
				  sanx_lconn_phase_may(s->phase, SANX_LCONN_ADRIFT));
	/* The peer is heard only where it knows our id and we its. */
	if (sanx_lconn_hears(s))
		KUNIT_EXPECT_TRUE(test, sanx_lconn_is_open(s));
	/* Answers go first, and nothing goes while the peer has to be asked. */
	if (sanx_lconn_is_answering(s))
		KUNIT_EXPECT_TRUE(test, sanx_lconn_may_send(s));
	if (sanx_lconn_is_lost(s) || over || !known)
		KUNIT_EXPECT_FALSE(test, sanx_lconn_may_send(s));
	/* Nobody takes payload that cannot be sent. */
	if (sanx_lconn_is_mute(s) && known)
		KUNIT_EXPECT_TRUE(test, s->tx == SANX_LCONN_TX_RESET ||
				  sanx_lconn_takes(s) == -EAGAIN);
	if (!sanx_lconn_takes(s))
		KUNIT_EXPECT_TRUE(test, known && !closed);
	/* A lost link costs a connection that both ends use nothing. */
	KUNIT_EXPECT_EQ(test, sanx_lconn_may_survive(s),
			known && s->phase != SANX_LCONN_ACCEPTING &&
			s->phase != SANX_LCONN_ADMITTED &&
			s->tx != SANX_LCONN_TX_LAST &&
			s->tx != SANX_LCONN_TX_RESET &&
			s->rx != SANX_LCONN_RX_CLOSED &&
			s->close != SANX_LCONN_CLOSE_ACKED);
	/* What has ended for both ends does not continue elsewhere. */
	if (sanx_lconn_has_ended(s))
		KUNIT_EXPECT_FALSE(test, sanx_lconn_may_survive(s));
	/* A CLOSE that is not answered keeps the connection. */
	if (s->close == SANX_LCONN_CLOSE_SENT && !over)
		KUNIT_EXPECT_FALSE(test, sanx_lconn_has_ended(s));
}

static void lconn_combinations(struct kunit *test)
{
	struct sanx_lconn_state s;

	for (s.phase = 0; s.phase < __SANX_LCONN_PHASES; s.phase++)
		for (s.tx = 0; s.tx < __SANX_LCONN_TXS; s.tx++)
			for (s.rx = 0; s.rx < __SANX_LCONN_RXS; s.rx++)
				for (s.close = 0; s.close < __SANX_LCONN_CLOSES;
				     s.close++)
					check_state(test, &s);
}

static struct kunit_case lconn_cases[] = {
	KUNIT_CASE(lconn_phases),
	KUNIT_CASE(lconn_ways),
	KUNIT_CASE(lconn_directions),
	KUNIT_CASE(lconn_owners),
	KUNIT_CASE(lconn_combinations),
	{}
};

static struct kunit_suite lconn_suite = {
	.name = "sanx_lconn_state",
	.test_cases = lconn_cases,
};

kunit_test_suite(lconn_suite);

MODULE_DESCRIPTION("KUnit: the state of a connection in the engine of AF_SANX");
MODULE_LICENSE("GPL");
