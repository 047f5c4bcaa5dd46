// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim of ring memory: a connection that was idle for net.sanx.idle_ms gives
 * its memory back and is as it was at first.
 *
 * The sender starts it, because a receiver cannot revoke credit that it has
 * granted.  The sender frees its send buffer.  It sends RETURN, which says that
 * it does not write the peer's ring any more, and reduces its credit to what a
 * connection without a ring may send (SANX_RING_FIRST).  If all bytes were
 * read, the receiver moves its queue back to the memory that it started with
 * (lc->first) and answers RETURN_ACK without a window.  Else RETURN_ACK says
 * that the ring stays.  A new ring is made when it is needed (grow.c).
 *
 * Until the answer arrives, lc->return_sent is set, and credits, which are from
 * before, are ignored.  If the receiver had just advertised a larger ring, that
 * WINDOW is the answer.  It ignores RETURN then: GEN in RETURN has the old
 * value, so RETURN was sent before WINDOW was received.  The sender uses the
 * larger ring.
 *
 * See "Giving a ring back" in Documentation/protocol.rst.  lc->return_sent and
 * lc->returned_win are guarded by link->tx_lock.
 */
#include "internal.h"

static bool return_quiet(const struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	return sanx_lconn_is_open(&lc->state) &&
	       !sanx_lconn_is_done(&lc->state) &&
	       lc->state.tx == SANX_LCONN_TX_STREAM &&
	       !lc->pending && !lc->inflight && lc->acked == lc->end &&
	       lc->posted == lc->end && !lc->spilled;
}

/*
 * Few frames request a completion, and an idle connection sends no more frames
 * that would.  A PONG is always signaled and completes them all.
 */
static void return_ask(struct sanx_link *link)
{
	if (!link->unsignaled)
		return;
	link->pong = true;
	sanx_xmit_run(link);
}

/* Return: true if there is a ring and it cannot be given back now. */
static bool return_ring(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = sanx_lconn_conn(lc);
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool more = false;

	if (lc->inflight && (lc->win.size || lc->sndbuf.buf))
		return_ask(link);
	/*
	 * Not on iWARP, where sent bytes are kept until they are read, and
	 * rings are small.  Not if the peer accepts no payload in frames.
	 */
	if (!lc->win.size || lc->early || !link->inline_max)
		goto out;
	more = true;
	if (!return_quiet(lc) || !sanx_xmit_ok(link) ||
	    !sanx_txq_return(&conn->tx, SANX_RING_FIRST))
		goto out;
	lc->returned_win = lc->win;
	lc->win.addr = 0;
	lc->win.rkey = 0;
	WRITE_ONCE(lc->win.size, 0);
	lc->return_sent = true;
	sanx_xmit_return(lc);
	more = false;
out:
	sanx_xmit_unlock(link);
	return more;
}

/**
 * sanx_return_reclaim() - sanx_transport_ops.reclaim
 * @conn: the connection
 *
 * Context: process, may sleep; takes tx_mutex (trylock), tx_lock.
 * Return: true if there is memory left that cannot be given back now.
 */
bool sanx_return_reclaim(struct sanx_conn *conn)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	bool more;

	/* A sender whose copy faults holds tx_mutex for an unbounded time. */
	if (!mutex_trylock(&conn->tx_mutex))
		return true;
	more = sanx_sndbuf_reclaim(lc);
	more |= return_ring(lc);
	mutex_unlock(&conn->tx_mutex);
	return more;
}

/* Is all of the queue read, and is no other ring in use or being made? */
static bool return_ready(const struct sanx_lconn *lc)
{
	const struct sanx_rxq *q = &sanx_lconn_conn(lc)->rx;

	return lc->first && !lc->old.buf && !(lc->flags & LCONN_GROWING) &&
	       !sanx_rxq_moving(q) && !sanx_rxq_avail(q);
}

static void return_move(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = sanx_lconn_conn(lc);

	sanx_rxq_move(&conn->rx, lc->first, SANX_RING_FIRST);
	lc->first = NULL;
	lc->old = lc->ring;
	lc->ring = (struct sanx_lring){};
	lc->base = conn->rx.tail;
	WRITE_ONCE(conn->rx.size, SANX_RING_FIRST);
	/* The next ring need not be larger than the first one was. */
	if (conn->rx_max > lc->began)
		WRITE_ONCE(conn->rx_max, lc->began);
	/*
	 * Grant what the memory holds: tail equals head, so that is
	 * SANX_RING_FIRST.
	 */
	sanx_rxq_grant(&conn->rx);
	sanx_grow_follow(lc);
}

/**
 * sanx_return_serve() - the peer gives our ring back
 * @lc: an open connection
 * @f: its RETURN
 *
 * Context: softirq, tx_lock held; the caller releases it with
 * sanx_xmit_unlock().
 * Return: 0; -EPROTO if RETURN is not permitted now, or its offset is wrong.
 */
int sanx_return_serve(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	lockdep_assert_held(&lc->link->tx_lock);
	/* tx_lock was released since frame_check_open() looked at the state. */
	if (!sanx_lconn_is_open(&lc->state) || sanx_lconn_is_closed(&lc->state))
		return 0;
	if (f->offset != sanx_lconn_conn(lc)->rx.tail ||
	    sanx_grow_note_gen(lc, f) ||
	    !lc->ring.buf || lc->pending & LCONN_P_RETURN_ACK)
		return -EPROTO;
	/* A larger ring was advertised: the WINDOW is the answer. */
	if (lc->flags & LCONN_WINDOW)
		return 0;
	if (return_ready(lc))
		return_move(lc);
	else if (sanx_rxq_moving(&sanx_lconn_conn(lc)->rx))
		/*
		 * Have the worker follow, so that a later RETURN finds no ring
		 * before this one.
		 */
		sanx_grow_follow(lc);
	sanx_xmit_pend(lc, LCONN_P_RETURN_ACK);
	return 0;
}

/**
 * sanx_return_answer() - the peer answers RETURN: no ring, or the same ring
 * @lc: an open connection
 * @f: the peer's RETURN_ACK; the caller applies its credit afterwards
 *
 * Context: softirq, tx_lock held.
 * Return: 0; -EPROTO if no RETURN is unanswered, or the window is another one.
 */
int sanx_return_answer(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_window_info win;
	u32 id;

	lockdep_assert_held(&lc->link->tx_lock);
	if (sanx_return_parse(f, &id, &win) || !lc->return_sent ||
	    id != lc->peer_id)
		return -EPROTO;
	if (win.size && memcmp(&win, &lc->returned_win, sizeof(win)))
		return -EPROTO;
	lc->return_sent = false;
	sanx_lconn_set_window(lc, &win);
	if (!win.size)
		sanx_lconn_conn(lc)->tx.size = SANX_RING_FIRST;
	return 0;
}

/**
 * sanx_return_crossed() - check a WINDOW, which may have crossed our RETURN
 * @lc: an open connection
 * @win: the ring in it
 *
 * If RETURN is unanswered, the WINDOW is its answer.
 *
 * Context: softirq, tx_lock held.
 * Return: true if the ring is larger than the ring before, as it must be.
 */
bool sanx_return_crossed(struct sanx_lconn *lc,
			 const struct sanx_window_info *win)
{
	lockdep_assert_held(&lc->link->tx_lock);
	if (!lc->return_sent)
		return win->size > lc->win.size;
	lc->return_sent = false;
	return win->size > lc->returned_win.size;
}
