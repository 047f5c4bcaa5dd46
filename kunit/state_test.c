// SPDX-License-Identifier: GPL-2.0
/*
 * The connection state table (af_sanx/conn/state.c): every state with every event,
 * against the transitions that a connection's life has.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>

#include "conn/conn_priv.h"

static const char * const event_names[__SANX_EVS] = {
	[SANX_EV_CONNECT]	= "CONNECT",
	[SANX_EV_ESTABLISH]	= "ESTABLISH",
	[SANX_EV_REFUSE]	= "REFUSE",
	[SANX_EV_FIN_TX]	= "FIN_TX",
	[SANX_EV_FIN_RX]	= "FIN_RX",
	[SANX_EV_DIE]		= "DIE",
};

/* All that may happen; whatever is not here must be refused. */
static const struct {
	enum sanx_conn_state from;
	enum sanx_conn_event ev;
	enum sanx_conn_state to;
} moves[] = {
	/* The connector asks; the acceptor has its connection at once. */
	{ SANX_CONN_NEW, SANX_EV_CONNECT, SANX_CONN_CONNECTING },
	{ SANX_CONN_NEW, SANX_EV_ESTABLISH, SANX_CONN_ESTABLISHED },
	/* The answer. */
	{ SANX_CONN_CONNECTING, SANX_EV_ESTABLISH, SANX_CONN_ESTABLISHED },
	{ SANX_CONN_CONNECTING, SANX_EV_REFUSE, SANX_CONN_REFUSED },
	/* An acceptor on the same node may end its direction before that. */
	{ SANX_CONN_CONNECTING, SANX_EV_FIN_RX, SANX_CONN_CONNECTING },
	/* Each direction ends once, in either order. */
	{ SANX_CONN_ESTABLISHED, SANX_EV_FIN_TX, SANX_CONN_FIN_SENT },
	{ SANX_CONN_ESTABLISHED, SANX_EV_FIN_RX, SANX_CONN_FIN_RCVD },
	{ SANX_CONN_FIN_SENT, SANX_EV_FIN_RX, SANX_CONN_FINISHED },
	{ SANX_CONN_FIN_RCVD, SANX_EV_FIN_TX, SANX_CONN_FINISHED },
	/* Anything alive can die. */
	{ SANX_CONN_NEW, SANX_EV_DIE, SANX_CONN_DEAD },
	{ SANX_CONN_CONNECTING, SANX_EV_DIE, SANX_CONN_DEAD },
	{ SANX_CONN_ESTABLISHED, SANX_EV_DIE, SANX_CONN_DEAD },
	{ SANX_CONN_FIN_SENT, SANX_EV_DIE, SANX_CONN_DEAD },
	{ SANX_CONN_FIN_RCVD, SANX_EV_DIE, SANX_CONN_ENDED },
	{ SANX_CONN_FINISHED, SANX_EV_DIE, SANX_CONN_ENDED },
	{ SANX_CONN_REFUSED, SANX_EV_DIE, SANX_CONN_DEAD },
};

static int expected(enum sanx_conn_state state, enum sanx_conn_event ev)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(moves); i++)
		if (moves[i].from == state && moves[i].ev == ev)
			return moves[i].to;
	return -EPROTO;
}

struct cell {
	enum sanx_conn_state state;
	enum sanx_conn_event ev;
};

/* Walks the whole matrix; KUnit wants a pointer that is not NULL. */
static const void *matrix_gen_params(const void *prev, char *desc)
{
	static struct cell cell;

	if (!prev)
		cell = (struct cell){ 0 };
	else if (++cell.ev == __SANX_EVS)
		cell = (struct cell){ .state = cell.state + 1 };
	if (cell.state == __SANX_CONN_STATES)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s",
		 sanx_state_name(cell.state), event_names[cell.ev]);
	return &cell;
}

static void state_matrix(struct kunit *test)
{
	const struct cell *c = test->param_value;

	KUNIT_EXPECT_EQ(test, sanx_state_next(c->state, c->ev),
			expected(c->state, c->ev));
}

static void state_dead_is_terminal(struct kunit *test)
{
	int ev;

	for (ev = 0; ev < __SANX_EVS; ev++) {
		KUNIT_EXPECT_EQ_MSG(test, sanx_state_next(SANX_CONN_DEAD, ev),
				    -EPROTO, "event %d", ev);
		KUNIT_EXPECT_EQ_MSG(test, sanx_state_next(SANX_CONN_ENDED, ev),
				    -EPROTO, "event %d", ev);
	}
}

static bool is_dead(int state)
{
	return state == SANX_CONN_DEAD || state == SANX_CONN_ENDED;
}

static void state_all_can_die(struct kunit *test)
{
	int state;

	for (state = 0; state < __SANX_CONN_STATES; state++)
		if (!is_dead(state))
			KUNIT_EXPECT_TRUE_MSG(test,
					      is_dead(sanx_state_next(state, SANX_EV_DIE)),
					      "state %d", state);
}

/* A connection is not born again, and only death ends what was refused. */
static void state_no_way_back(struct kunit *test)
{
	int state, ev, next;

	for (state = 0; state < __SANX_CONN_STATES; state++)
		for (ev = 0; ev < __SANX_EVS; ev++) {
			next = sanx_state_next(state, ev);
			if (next == -EPROTO)
				continue;
			KUNIT_EXPECT_GT_MSG(test, next, (int)SANX_CONN_NEW,
					    "state %d, event %d", state, ev);
			KUNIT_EXPECT_LT_MSG(test, next,
					    (int)__SANX_CONN_STATES,
					    "state %d, event %d", state, ev);
			KUNIT_EXPECT_GE_MSG(test, next, state,
					    "state %d, event %d", state, ev);
		}
}

static void state_all_reachable(struct kunit *test)
{
	unsigned long seen = BIT(SANX_CONN_NEW), before = 0;
	int state, ev, next;

	while (seen != before) {
		before = seen;
		for (state = 0; state < __SANX_CONN_STATES; state++)
			for (ev = 0; ev < __SANX_EVS; ev++) {
				next = sanx_state_next(state, ev);
				if ((before & BIT(state)) && next >= 0)
					seen |= BIT(next);
			}
	}
	KUNIT_EXPECT_EQ(test, seen, BIT(__SANX_CONN_STATES) - 1);
}

static void state_fins_commute(struct kunit *test)
{
	int tx_first = sanx_state_next(SANX_CONN_ESTABLISHED, SANX_EV_FIN_TX);
	int rx_first = sanx_state_next(SANX_CONN_ESTABLISHED, SANX_EV_FIN_RX);

	KUNIT_ASSERT_GE(test, tx_first, 0);
	KUNIT_ASSERT_GE(test, rx_first, 0);
	KUNIT_EXPECT_NE(test, tx_first, rx_first);
	KUNIT_EXPECT_EQ(test, sanx_state_next(tx_first, SANX_EV_FIN_RX),
			sanx_state_next(rx_first, SANX_EV_FIN_TX));
	KUNIT_EXPECT_EQ(test, sanx_state_next(tx_first, SANX_EV_FIN_TX),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_state_next(rx_first, SANX_EV_FIN_RX),
			-EPROTO);
}

static void state_out_of_range(struct kunit *test)
{
	static const int odd[] = { 1, 2, 100, 255, INT_MAX, INT_MIN, -1 };
	unsigned int i;

	KUNIT_EXPECT_EQ(test, sanx_state_next(__SANX_CONN_STATES, SANX_EV_DIE),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_state_next(SANX_CONN_NEW, __SANX_EVS),
			-EPROTO);
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		unsigned int by = odd[i];

		by = odd[i] > 0 && odd[i] < INT_MAX ? by + __SANX_CONN_STATES :
						      by;
		KUNIT_EXPECT_EQ(test, sanx_state_next(by, SANX_EV_DIE),
				-EPROTO);
		KUNIT_EXPECT_EQ(test, sanx_state_next(SANX_CONN_NEW, by),
				-EPROTO);
		KUNIT_EXPECT_STREQ(test, sanx_state_name(by), "?");
	}
	KUNIT_EXPECT_STREQ(test, sanx_state_name(__SANX_CONN_STATES), "?");
}

/* People and scripts read these; ss(8) has the same words for TCP. */
static void state_names(struct kunit *test)
{
	static const char * const want[__SANX_CONN_STATES] = {
		"NEW", "CONNECTING", "ESTAB", "FIN-WAIT", "CLOSE-WAIT",
		"CLOSING", "REFUSED", "CLOSED", "CLOSED",
	};
	int state;

	for (state = 0; state < __SANX_CONN_STATES; state++)
		KUNIT_EXPECT_STREQ(test, sanx_state_name(state), want[state]);
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE_PARAM(state_matrix, matrix_gen_params),
	KUNIT_CASE(state_dead_is_terminal),
	KUNIT_CASE(state_all_can_die),
	KUNIT_CASE(state_no_way_back),
	KUNIT_CASE(state_all_reachable),
	KUNIT_CASE(state_fins_commute),
	KUNIT_CASE(state_out_of_range),
	KUNIT_CASE(state_names),
	{}
};

static struct kunit_suite state_suite = {
	.name = "sanx_state",
	.test_cases = state_cases,
};

kunit_test_suite(state_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: connection states");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
