// SPDX-License-Identifier: GPL-2.0
/*
 * What holds after each step: the credits of links, the credits of streams, and
 * the generations of rings (link_credit.h, msgq.h, ringgen.h).
 *
 * link.tx_lock guards most of it, so nothing is checked while a task holds that
 * lock.  Plain accesses: nobody else runs.
 */
#include "link/internal.h"
#include "program.h"
#include "wire.h"

#define check(what, x)	do {						\
	if (unlikely(!(x)))						\
		sim_fail("node %d: %s: %s is wrong", node, what, #x);	\
	} while (0)

/* What an end has in the engine, if it can be looked at now. */
static const struct sanx_lconn *lconn_of(const struct sim_end *e)
{
	const struct sanx_lconn *lc;
	struct sanx_conn *conn;

	if (!e->s || e->closed)
		return NULL;
	conn = sim_sock_conn(e->s);
	if (!conn || conn->ops != &sanx_link_transport)
		return NULL;
	lc = sanx_lconn_of(conn);
	if (!lc->link || lc->link->tx_lock.owner ||
	    !sanx_lconn_was_open(&lc->state))
		return NULL;
	return lc;
}

static void check_receiver(int node, const struct sanx_lconn *lc)
{
	static const char what[] = "generations of a receiver";
	const struct sanx_rxgen *rx = &lc->rxgen;

	check(what, rx->active.state == SANX_RINGGEN_ACTIVE);
	check(what, rx->next.state <= SANX_RINGGEN_ADVERTISED);
	check(what, !rx->old.state || rx->old.state >= SANX_RINGGEN_DRAINING);
	check(what, !rx->next.state || !rx->old.state);
	check(what, rx->nr - rx->seen <= 1);
	check(what, rx->told - rx->seen <= rx->nr + 1 - rx->seen);
	check(what, lc->ring.size == rx->active.size);
	check(what, !lc->ring.buf == !rx->active.size);
	check(what, !lc->old.buf == !(rx->old.state && rx->old.size));
	/* sanx_rings_drop() frees what was not advertised a bit later. */
	if (!rx->lost)
		check(what, !lc->next.buf == (rx->next.state < SANX_RINGGEN_MADE));
}

/* The window that a sender may write is one that the receiver has for it. */
static void check_window(int node, const struct sanx_txgen *tx,
			 const struct sanx_rxgen *rx)
{
	bool next = rx->next.state == SANX_RINGGEN_ADVERTISED;
	static const char what[] = "window of a sender";

	check(what, tx->nr - rx->seen <= rx->told - rx->seen);
	if (tx->left)
		return;
	check(what, tx->nr - rx->nr <= 1);
	if (tx->nr == rx->nr)
		check(what, tx->win.size == rx->active.size);
	else
		check(what, next && tx->win.size == rx->next.size);
}

static void check_stream(int node, const struct sanx_lconn *s,
			 const struct sanx_lconn *r)
{
	const struct sanx_rxq *rx = &r->conn.rx;
	const struct sanx_txq *tx = &s->conn.tx;
	static const char what[] = "credits of a stream";

	check(what, tx->limit <= rx->granted);
	check(what, tx->read <= rx->head);
	check(what, rx->head <= rx->tail);
	check(what, rx->tail <= s->posted);
	/* Nothing is let go that the peer's processor has not seen. */
	check(what, s->acked <= rx->tail);
	check(what, s->posted <= tx->next && s->posted <= s->announced);
	check(what, s->announced <= s->end);
}

static bool streams(const struct sanx_lconn *lc)
{
	return lc && lc->state.phase == SANX_LCONN_OPEN &&
	       lc->state.tx != SANX_LCONN_TX_RESET &&
	       lc->state.rx != SANX_LCONN_RX_CLOSED;
}

static void check_pair(const struct sim_pair *p)
{
	const struct sanx_lconn *lc[2];
	int i;

	for (i = 0; i < 2; i++) {
		lc[i] = lconn_of(&p->end[i]);
		if (lc[i])
			check_receiver(p->end[i].node, lc[i]);
	}
	if (!streams(lc[0]) || !streams(lc[1]) ||
	    sim_hostile(p->end[0].node, p->end[1].node))
		return;
	for (i = 0; i < 2; i++) {
		check_window(p->end[i].node, &lc[i]->txgen, &lc[!i]->rxgen);
		check_stream(p->end[i].node, lc[i], lc[!i]);
	}
}

/**
 * sim_check_link() - check the credits of a link that is up
 * @e: an end
 */
void sim_check_link(const struct wire_end *e)
{
	const struct sanx_link *link = e->wl.link, *peer = e->peer->wl.link;
	const struct link_credit *c = &link->credit, *p = &peer->credit;
	static const char what[] = "credits of a link";
	int node = e->node;

	if (link->tx_lock.owner || peer->tx_lock.owner ||
	    link->state != SANX_LINK_UP || peer->state != SANX_LINK_UP)
		return;
	check(what, c->limit - c->sent <= c->peer_recvs);
	check(what, c->posted - c->advertised <= c->recvs);
	if (sim_hostile(e->node, e->to))
		return;
	check(what, (s32)(p->advertised - c->limit) >= 0);
	check(what, (s32)(c->sent - (p->posted - p->recvs)) >= 0);
}

/**
 * sim_check() - check what holds after each step
 */
void sim_check(void)
{
	const struct sim_pair *p;

	list_for_each_entry(p, &sim_pairs, list)
		check_pair(p);
	sim_wire_check();
	sim_rules_check();
}
