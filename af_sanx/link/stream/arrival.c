// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the peer about a connection.
 *
 * Frames of a link arrive one at a time, in order, in softirq.  Each is checked
 * against the state of its connection.  A frame that does not fit is a protocol
 * error and ends the link.
 */
#include "parts.h"

static int frame_check_data(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	const struct sanx_rxq *q = &lc->conn.rx;
	int err = -EPROTO;

	/*
	 * Check against the credit granted so far: more may be granted before
	 * sanx_conn_arrive() checks it.
	 */
	if (f->offset == q->tail && f->count <= q->granted - q->tail)
		err = sanx_rings_arrival(lc, f);
	if (err)
		return err;
	sanx_grow_arrival(lc, f);
	if (f->flags & SANX_FRAME_F_IN_RING)
		sanx_lring_sync(&lc->ring, f->offset,
				min(f->count, lc->ring.size));
	return 0;
}

/* These frames are about the other direction, and may follow a FIN. */
static bool frame_after_fin(const struct sanx_frame *f)
{
	return f->type == SANX_FRAME_CREDIT || f->type == SANX_FRAME_RING;
}

static void frame_take_fin(struct sanx_lconn *lc)
{
	sanx_lconn_set_rx(lc, SANX_LCONN_RX_FIN);
	sanx_ack_fin(lc);
}

/*
 * May the peer send @f about this connection now? @ignore: our side has closed,
 * and nobody reads payload any more.
 */
static int frame_check_open(struct sanx_lconn *lc, const struct sanx_frame *f,
			    bool *ignore)
{
	struct sanx_link *link = lc->link;
	int err = 0;

	spin_lock_bh(&link->tx_lock);
	if (!sanx_lconn_hears(&lc->state) ||
	    (lc->state.rx == SANX_LCONN_RX_FIN && !frame_after_fin(f)))
		err = -EPROTO;
	else if (f->type == SANX_FRAME_DATA && !sanx_lconn_is_cut(&lc->state))
		err = frame_check_data(lc, f);
	else if (f->type == SANX_FRAME_FIN)
		frame_take_fin(lc);
	/* The peer may have sent it before it received our CLOSE. */
	*ignore = sanx_lconn_is_closed(&lc->state);
	spin_unlock_bh(&link->tx_lock);
	return err;
}

/*
 * Takes a credit, for which payload may have waited.  A sender that waits for
 * room is woken by the acknowledgment: sanx_ack_run().
 */
static int frame_credit(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_link *link = lc->link;
	bool full;
	int n = 0;

	if (f->credit == READ_ONCE(conn->tx.limit) &&
	    f->type != SANX_FRAME_RING)
		return 0;
	spin_lock_bh(&link->tx_lock);
	/* LEAVE gave up the room that this credit is about: window.c. */
	if (!lc->txgen.left)
		n = sanx_txq_credit(&conn->tx, f->credit);
	/* LAST waits for the answer, even if that is: no more room. */
	if ((n > 0 || lc->state.tx == SANX_LCONN_TX_LAST) && lc->pending & LCONN_P_DATA)
		sanx_xmit_pend(lc, LCONN_P_DATA);
	full = lc->full;
	sanx_xmit_unlock(link);
	if (n <= 0)
		return n;
	/*
	 * The credit of a new ring does not mean that the peer's program read.
	 */
	if (f->type != SANX_FRAME_RING)
		WRITE_ONCE(conn->drain_time, jiffies);
	if (full)
		WRITE_ONCE(conn->ack_time, jiffies);
	else
		sanx_conn_tx_ready(conn);
	return 0;
}

/*
 * Takes payload for a program that has closed.  Nobody reads it, but it counts
 * as received, also in a later RESUME (sanx_emit_resume()).  Bytes of the
 * program that are still unsent are sent if the peer has room, and a reset follows.
 */
static int frame_unheard(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_link *link = lc->link;
	int err = 0;

	/*
	 * A reset connection is not resumed, and the bytes before these may not
	 * have been counted (sanx_lconn_reset_unread()).
	 */
	if (!sanx_lconn_is_cut(&lc->state))
		err = sanx_rxq_arrive(&lc->conn.rx, f->offset, f->count);
	/* The room that it brings is room for the last words. */
	err = err ?: frame_credit(lc, f);
	if (err)
		return err;
	spin_lock_bh(&link->tx_lock);
	sanx_lconn_last_words(lc);
	sanx_xmit_unlock(link);
	return 0;
}

static int frame_data(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = &lc->conn;
	bool ignore;
	int err;

	err = frame_check_open(lc, f, &ignore);
	if (err)
		return err;
	if (ignore)
		return frame_unheard(lc, f);
	/* The bytes cause a reset, so they must not become readable. */
	if (sanx_conn_discards(conn)) {
		sanx_lconn_reset_unread(lc);
		return frame_unheard(lc, f);
	}
	if (f->flags & SANX_FRAME_F_URGENT)
		sanx_conn_urgent(conn, f->offset + f->count - 1);
	if (!(f->flags & SANX_FRAME_F_IN_RING))
		sanx_rxq_store(&conn->rx, f->offset, f->body, f->count);
	err = sanx_conn_arrive(conn, f->offset, f->count) ?:
	      frame_credit(lc, f);
	if (err)
		return err;
	/* Frames of a link arrive one at a time. */
	WRITE_ONCE(lc->link->rx_bytes, lc->link->rx_bytes + f->count);
	if (f->flags & SANX_FRAME_F_URGENT)
		sanx_conn_urgent_came(conn);
	sanx_conn_rx_ready(conn);
	return 0;
}

static int frame_news(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = &lc->conn;
	bool ignore;
	int err;

	err = frame_check_open(lc, f, &ignore);
	if (err)
		return err;
	/* Bytes of a reset connection are not counted: frame_unheard(). */
	if (f->type == SANX_FRAME_FIN && f->offset != conn->rx.tail &&
	    !sanx_lconn_is_cut(&lc->state))
		return -EPROTO;
	err = frame_credit(lc, f);
	if (err || ignore)
		return err;
	/* Not an error, even if our program has closed meanwhile. */
	if (f->type == SANX_FRAME_FIN)
		sanx_conn_fin(conn);
	else
		sanx_conn_confirmed(conn);
	return 0;
}

/* RING: the peer has a larger ring, or answers our LEAVE. */
static int frame_ring(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_link *link = lc->link;
	bool ignore;
	int err;

	/* Bytes sent before our program closed may wait for it. */
	err = frame_check_open(lc, f, &ignore);
	if (err)
		return err;
	spin_lock_bh(&link->tx_lock);
	err = sanx_window_ring(lc, f);
	spin_unlock_bh(&link->tx_lock);
	return err ?: frame_credit(lc, f);
}

/* LEAVE: the peer does not write our ring any more. */
static int frame_leave(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_link *link = lc->link;
	bool ignore;
	int err;

	err = frame_check_open(lc, f, &ignore);
	if (err || ignore)
		return err;
	spin_lock_bh(&link->tx_lock);
	err = sanx_rings_leave(lc, f);
	sanx_xmit_unlock(link);
	return err;
}

static int frame_close(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_link *link = lc->link;
	bool unsent, closed;

	spin_lock_bh(&link->tx_lock);
	closed = sanx_lconn_is_closed(&lc->state);
	if (!sanx_lconn_hears(&lc->state)) {
		spin_unlock_bh(&link->tx_lock);
		return -EPROTO;
	}
	sanx_lconn_set_rx(lc, SANX_LCONN_RX_CLOSED);
	/* The peer reads no more, so pending frames are dropped. */
	unsent = lc->posted != lc->announced;
	lc->pending = 0;
	sanx_xmit_pend(lc, LCONN_P_CLOSE_ACK);
	sanx_xmit_unlock(link);

	if (closed)
		return 0;
	if (f->flags & SANX_FRAME_F_RESET)
		sanx_conn_reset(conn, ECONNRESET);
	else
		sanx_conn_peer_closed(conn);
	/* TCP's peer would have answered these bytes with a reset. */
	if (unsent)
		sanx_conn_reset(conn, ECONNRESET);
	return 0;
}

static int frame_close_ack(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;
	int err = 0;

	spin_lock_bh(&link->tx_lock);
	if (lc->state.close != SANX_LCONN_CLOSE_SENT ||
	    sanx_lconn_is_over(&lc->state)) {
		err = -EPROTO;
	} else {
		sanx_lconn_set_close(lc, SANX_LCONN_CLOSE_ACKED);
		sanx_lconn_check_over(lc);
	}
	spin_unlock_bh(&link->tx_lock);
	return err;
}

/*
 * Takes the answer to an OPEN.  The caller sets the next phase.
 * Return: true if an answer was due.
 */
static bool frame_answers(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;

	lockdep_assert_held(&link->tx_lock);
	if (lc->state.phase != SANX_LCONN_OPEN_SENT)
		return false;
	sanx_ask_answered(lc);
	WRITE_ONCE(link->opening, link->opening - 1);
	return true;
}

/*
 * Tells the program that it is connected, and the peer that we know of the
 * connection.  The program may send at once, which says so too.  If its socket is
 * TCP's by now, nothing may say so, and a reset follows from close().
 */
static void frame_established(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;

	/* If this fails, close() was called or will be. */
	if (sanx_conn_established(&lc->conn))
		return;
	spin_lock_bh(&link->tx_lock);
	if (sanx_lconn_is_open(&lc->state) && !sanx_lconn_is_closed(&lc->state))
		sanx_xmit_pend(lc, LCONN_P_CREDIT);
	sanx_xmit_unlock(link);
}

static int frame_open_ack(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_link *link = lc->link;
	struct sanx_window_info win;
	bool closed;
	u32 id;

	if (sanx_open_ack_parse(f, &id, &win) ||
	    sanx_window_ok(link, &win) || sanx_conn_asks(&lc->conn))
		return -EPROTO;
	spin_lock_bh(&link->tx_lock);
	if (!frame_answers(lc)) {
		spin_unlock_bh(&link->tx_lock);
		return -EPROTO;
	}
	lc->peer_id = id;
	sanx_window_open(lc, &win);
	sanx_lconn_set_phase(lc, SANX_LCONN_OPEN);
	closed = sanx_lconn_is_closed(&lc->state);
	if (closed) {
		sanx_lconn_set_tx(lc, SANX_LCONN_TX_RESET);
		sanx_xmit_pend(lc, LCONN_P_CLOSE);
	} else {
		sanx_xmit_run(link);
	}
	sanx_xmit_unlock(link);
	if (!closed)
		frame_established(lc);
	return 0;
}

/* Why a connection is TCP, by OPEN_REJ.  BUSY is no such reason. */
static const enum sanx_fallback reject_reasons[__SANX_REJECT_END] = {
	[SANX_REJECT_NO_LISTENER]	= SANX_FALLBACK_REFUSED,
	[SANX_REJECT_DENIED]		= SANX_FALLBACK_DENIED,
	[SANX_REJECT_UNMAPPED]		= SANX_FALLBACK_UNMAPPED,
	[SANX_REJECT_ROUTE]		= SANX_FALLBACK_ROUTE,
	[SANX_REJECT_LIMIT]		= SANX_FALLBACK_LIMIT,
	[SANX_REJECT_WELCOME]		= SANX_FALLBACK_NONE,
};

/* Is it an answer to what was asked?  A question is answered at once, and never admitted. */
static bool rej_fits(const struct sanx_conn *conn, u32 reason)
{
	return reason != (sanx_conn_asks(conn) ? SANX_REJECT_BUSY : SANX_REJECT_WELCOME);
}

static int frame_open_rej(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	bool busy = f->count == SANX_REJECT_BUSY;
	struct sanx_conn *conn = &lc->conn;
	struct sanx_link *link = lc->link;
	bool closed;

	if (!rej_fits(conn, f->count))
		return -EPROTO;
	spin_lock_bh(&link->tx_lock);
	if (!frame_answers(lc)) {
		spin_unlock_bh(&link->tx_lock);
		return -EPROTO;
	}
	closed = sanx_lconn_is_closed(&lc->state);
	if (busy && !closed)
		sanx_lconn_set_phase(lc, SANX_LCONN_IDLE);
	else
		sanx_lconn_abort(lc);
	sanx_xmit_run(link);
	sanx_xmit_unlock(link);
	if (closed)
		return 0;
	if (busy)
		sanx_conn_busy(conn);
	else
		sanx_conn_refused(conn, reject_reasons[f->count]);
	return 0;
}

/**
 * sanx_lconn_frame() - take a frame about a connection
 * @lc: the connection; the caller has a reference; it may be not yet, or not
 *	any more, attached
 * @link: the link that the frame arrived on
 * @f: the frame
 *
 * Context: softirq, one at a time for a link; takes tx_lock.
 * Return: 0, or -EPROTO if no correct peer sends the frame now.
 */
int sanx_lconn_frame(struct sanx_lconn *lc, const struct sanx_link *link,
		     const struct sanx_frame *f)
{
	/*
	 * A connection on @link does not move while frames arrive there: it
	 * moves after @link was drained.  Pairs with smp_store_release() in
	 * resume_switch().
	 */
	if (smp_load_acquire(&lc->link) != link)
		return -EPROTO;
	switch (f->type) {
	case SANX_FRAME_DATA:
		return frame_data(lc, f);
	case SANX_FRAME_CREDIT:
	case SANX_FRAME_FIN:
		return frame_news(lc, f);
	case SANX_FRAME_RING:
		return frame_ring(lc, f);
	case SANX_FRAME_LEAVE:
		return frame_leave(lc, f);
	case SANX_FRAME_CLOSE:
		return frame_close(lc, f);
	case SANX_FRAME_CLOSE_ACK:
		return frame_close_ack(lc);
	case SANX_FRAME_OPEN_ACK:
		return frame_open_ack(lc, f);
	case SANX_FRAME_OPEN_REJ:
		return frame_open_rej(lc, f);
	case SANX_FRAME_RESUME_ACK:
		return sanx_resume_answer(lc, f);
	case SANX_FRAME_RESUME_REJ:
		return sanx_resume_refused(lc);
	default:
		return -EPROTO;
	}
}
