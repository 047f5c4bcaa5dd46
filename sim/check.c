// SPDX-License-Identifier: GPL-2.0
/*
 * What holds after each step: the credits of links, the credits of streams, and
 * the generations of rings (link_credit.h, msgq.h, ringgen.h).
 *
 * link.tx_lock guards most of it, so nothing is checked while a task holds that
 * lock.  Plain accesses: nobody else runs.
 */
#include "link/peer/peer.h"
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
	if (!conn || conn->ops != &sanx_link_ops)
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

/* What is sent from, and that a device can read it. */
static void check_chunks(int node, const struct sanx_lconn *lc)
{
	static const char what[] = "memory of a sender";
	bool mapped = lc->owner == SANX_OWNER_LINK && lc->link->wire->map_page;
	const struct sanx_chunk *c;
	u64 to = 0;

	list_for_each_entry(c, &lc->chunks, node) {
		if (c->from == U64_MAX)
			continue;
		check(what, c->from >= to && c->to >= c->from);
		to = c->to;
		if (sanx_chunk_is_ours(c))
			continue;
		check(what, c->to <= lc->end && c->to > lc->acked);
		check(what, lc->conn.lent >= c->to);
		check(what, !mapped || c->mapped == c->n);
	}
}

static bool streams(const struct sanx_lconn *lc)
{
	return lc && lc->state.phase == SANX_LCONN_OPEN &&
	       lc->state.tx != SANX_LCONN_TX_RESET &&
	       lc->state.rx != SANX_LCONN_RX_CLOSED;
}

/*
 * A connection of a node that says nothing untrue is with one instance of its peer,
 * whatever that peer says.
 */
static void check_instance(struct sim_end *e, const struct sanx_lconn *lc)
{
	static const char what[] = "instance of a peer";
	u64 instance = lc->link->instance;
	int node = e->node;

	if (sim_plan.hostile == SIM_HOSTILE_ALL || sim_plan.hostile == node)
		return;
	e->instance = e->instance ?: instance;
	check(what, e->instance == instance);
}

static void check_pair(struct sim_pair *p)
{
	const struct sanx_lconn *lc[2];
	int i;

	for (i = 0; i < 2; i++) {
		lc[i] = lconn_of(&p->end[i]);
		if (!lc[i])
			continue;
		check_receiver(p->end[i].node, lc[i]);
		check_chunks(p->end[i].node, lc[i]);
		check_instance(&p->end[i], lc[i]);
	}
	if (!streams(lc[0]) || !streams(lc[1]) ||
	    sim_hostile(p->end[0].node, p->end[1].node))
		return;
	for (i = 0; i < 2; i++) {
		check_window(p->end[i].node, &lc[i]->txgen, &lc[!i]->rxgen);
		if (!sanx_lconn_is_cut(&lc[!i]->state))
			check_stream(p->end[i].node, lc[i], lc[!i]);
	}
}

/* CLOSE waits for payload that is pending (xmit_todo()), so a reset drops it. */
static void check_pending(int node, const struct sanx_link *link)
{
	static const char what[] = "what a reset leaves";
	const struct sanx_lconn *lc;

	list_for_each_entry(lc, &link->conns, node)
		check(what, lc->state.tx != SANX_LCONN_TX_RESET ||
		      !(lc->pending & LCONN_P_DATA));
}

/* Has everything that an end sent been processed at the other one? */
static bool is_heard(const struct wire_end *e)
{
	return e->exec == e->tail && e->peer->in_head == e->peer->in_tail &&
	       !e->peer->running;
}

/* Does the node have no request of its peer on this link, and owe no answer? */
static bool has_answered(const struct sanx_link *link)
{
	const struct sanx_lconn *lc;
	const struct sanx_request *o;
	u32 n = 0;

	list_for_each_entry(o, &link->opens_free, node)
		n++;
	if (n != SANX_OPENS_MAX)
		return false;
	list_for_each_entry(lc, &link->conns, node)
		if (sanx_lconn_is_answering(&lc->state))
			return false;
	return true;
}

static void check_requests(int node, const struct wire_end *e)
{
	static const char what[] = "requests without an answer";
	const struct sanx_link *link = e->wl.link;

	if (link->opening && is_heard(e) && is_heard(e->peer) &&
	    has_answered(e->peer->wl.link))
		check(what, !link->opening);
}

/**
 * sim_check_link() - check a link that is up: its credits and its connections
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
	check_pending(node, link);
	if (sim_hostile(e->node, e->to))
		return;
	check(what, (s32)(p->advertised - c->limit) >= 0);
	check(what, (s32)(c->sent - (p->posted - p->recvs)) >= 0);
	check_requests(node, e);
}

/**
 * sim_check() - check what holds after each step
 */
void sim_check(void)
{
	struct sim_pair *p;

	list_for_each_entry(p, &sim_pairs, list)
		check_pair(p);
	sim_wire_check();
	sim_rules_check();
	sim_rails_check();
}
