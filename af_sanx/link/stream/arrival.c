// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the peer about a connection.
 *
 * Frames of a link arrive one at a time, in order, in softirq.  Each is checked
 * against the state of its connection.  A frame that does not fit is a protocol
 * error and ends the link.
 *
 * What a frame does to the connection and to what is sent, it does in one section of
 * link->tx_lock (frame_take()).  Behind that its payload becomes readable
 * (frame_arrive()), and programs and the core are told (frame_tell()); the answer to OPEN
 * alone takes the lock once more, as what the core says decides what the peer may be told.
 */
#include "stream_priv.h"

/**
 * enum frame_then - what follows once tx_lock is released; bits
 * @THEN_ARRIVE: the payload of the frame arrives
 * @THEN_PEER_CLOSED: the peer has closed, in order
 * @THEN_RESET: the connection is reset
 * @THEN_TX_READY: a sender can go on
 * @THEN_FIN: the peer has ended its direction
 * @THEN_CONFIRMED: the peer knows that the connection is open
 * @THEN_ESTABLISHED: the peer has accepted the connection
 * @THEN_BUSY: the peer is busy; it is asked again
 * @THEN_REFUSED: the peer has refused
 */
enum frame_then {
	THEN_ARRIVE		= BIT(0),
	THEN_PEER_CLOSED	= BIT(1),
	THEN_RESET		= BIT(2),
	THEN_TX_READY		= BIT(3),
	THEN_FIN		= BIT(4),
	THEN_CONFIRMED		= BIT(5),
	THEN_ESTABLISHED	= BIT(6),
	THEN_BUSY		= BIT(7),
	THEN_REFUSED		= BIT(8),
};

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

/* May the peer send @f about this connection now?  tx_lock held. */
static int frame_check_open(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	if (!sanx_lconn_hears(&lc->state) ||
	    (lc->state.rx == SANX_LCONN_RX_FIN && !frame_after_fin(f)))
		return -EPROTO;
	if (f->type == SANX_FRAME_DATA && !sanx_lconn_is_cut(&lc->state))
		return frame_check_data(lc, f);
	if (f->type == SANX_FRAME_FIN)
		frame_take_fin(lc);
	return 0;
}

/*
 * Takes a credit, for which payload may have waited.  A sender that waits for
 * room is woken by the acknowledgment: sanx_ack_run().  tx_lock held.
 */
static int frame_credit(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	struct sanx_conn *conn = &lc->conn;
	int n = 0;

	if (f->credit == conn->tx.limit && f->type != SANX_FRAME_RING)
		return 0;
	/* LEAVE gave up the room that this credit is about: window.c. */
	if (!lc->txgen.left)
		n = sanx_txq_credit(&conn->tx, f->credit);
	/* LAST waits for the answer, even if that is: no more room. */
	if ((n > 0 || lc->state.tx == SANX_LCONN_TX_LAST) && lc->pending & LCONN_P_DATA)
		sanx_xmit_pend(lc, LCONN_P_DATA);
	if (n <= 0)
		return n;
	/*
	 * The credit of a new ring does not mean that the peer's program read.
	 */
	if (f->type != SANX_FRAME_RING)
		WRITE_ONCE(conn->drain_time, jiffies);
	if (lc->full)
		WRITE_ONCE(conn->ack_time, jiffies);
	else
		*then |= THEN_TX_READY;
	return 0;
}

/*
 * Takes payload for a program that has closed.  Nobody reads it, but it counts
 * as received, also in a later RESUME (sanx_emit_resume()).  Bytes of the
 * program that are still unsent are sent if the peer has room, and a reset follows.
 * tx_lock held.
 */
static int frame_unheard(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	int err = 0;

	/*
	 * A reset connection is not resumed, and the bytes before these may not
	 * have been counted (sanx_lconn_reset_unread()).
	 */
	if (!sanx_lconn_is_cut(&lc->state))
		err = sanx_rxq_arrive(&lc->conn.rx, f->offset, f->count);
	/* The room that it brings is room for the last words. */
	err = err ?: frame_credit(lc, f, then);
	if (!err)
		sanx_lconn_last_words(lc);
	return err;
}

static int frame_data(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	int err = frame_check_open(lc, f);

	if (err)
		return err;
	if (sanx_lconn_is_closed(&lc->state))
		return frame_unheard(lc, f, then);
	/* The bytes cause a reset, so they must not become readable. */
	if (sanx_conn_discards(&lc->conn)) {
		sanx_lconn_reset_unread(lc);
		*then |= THEN_RESET;
		return frame_unheard(lc, f, then);
	}
	*then |= THEN_ARRIVE;
	return frame_credit(lc, f, then);
}

static int frame_news(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	int err = frame_check_open(lc, f);

	if (err)
		return err;
	/* Bytes of a reset connection are not counted: frame_unheard(). */
	if (f->type == SANX_FRAME_FIN && f->offset != lc->conn.rx.tail &&
	    !sanx_lconn_is_cut(&lc->state))
		return -EPROTO;
	/* The peer may have sent it before it received our CLOSE. */
	if (!sanx_lconn_is_closed(&lc->state))
		*then |= f->type == SANX_FRAME_FIN ? THEN_FIN : THEN_CONFIRMED;
	return frame_credit(lc, f, then);
}

/*
 * RING: the peer has a larger ring, or answers our LEAVE.  Bytes sent before our program
 * closed may wait for it.
 */
static int frame_ring(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	return frame_check_open(lc, f) ?: sanx_window_ring(lc, f) ?:
	       frame_credit(lc, f, then);
}

/* LEAVE: the peer does not write our ring any more. */
static int frame_leave(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	int err = frame_check_open(lc, f);

	if (err || sanx_lconn_is_closed(&lc->state))
		return err;
	return sanx_rings_leave(lc, f);
}

static int frame_close(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	bool unsent = lc->posted != lc->announced;

	if (!sanx_lconn_hears(&lc->state))
		return -EPROTO;
	sanx_lconn_set_rx(lc, SANX_LCONN_RX_CLOSED);
	/* The peer reads no more, so pending frames are dropped. */
	lc->pending = 0;
	sanx_xmit_pend(lc, LCONN_P_CLOSE_ACK);
	if (sanx_lconn_is_closed(&lc->state))
		return 0;
	*then |= f->flags & SANX_FRAME_F_RESET ? THEN_RESET : THEN_PEER_CLOSED;
	/* TCP's peer would have answered these bytes with a reset. */
	if (unsent)
		*then |= THEN_RESET;
	return 0;
}

static int frame_close_ack(struct sanx_lconn *lc)
{
	if (lc->state.close != SANX_LCONN_CLOSE_SENT ||
	    sanx_lconn_is_over(&lc->state))
		return -EPROTO;
	sanx_lconn_set_close(lc, SANX_LCONN_CLOSE_ACKED);
	sanx_lconn_check_over(lc);
	return 0;
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

static int frame_open_ack(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	struct sanx_link *link = lc->link;
	struct sanx_window_info win;
	u32 id;

	if (sanx_open_ack_parse(f, &id, &win) || sanx_window_ok(link, &win) ||
	    sanx_conn_asks(&lc->conn) || !frame_answers(lc))
		return -EPROTO;
	lc->peer_id = id;
	sanx_window_open(lc, &win);
	sanx_lconn_set_phase(lc, SANX_LCONN_OPEN);
	if (sanx_lconn_is_closed(&lc->state)) {
		sanx_lconn_set_tx(lc, SANX_LCONN_TX_RESET);
		sanx_xmit_pend(lc, LCONN_P_CLOSE);
	} else {
		*then |= THEN_ESTABLISHED;
		sanx_xmit_run(link);
	}
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

static int frame_open_rej(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	bool busy = f->count == SANX_REJECT_BUSY, closed;

	if (!rej_fits(&lc->conn, f->count) || !frame_answers(lc))
		return -EPROTO;
	closed = sanx_lconn_is_closed(&lc->state);
	if (busy && !closed) {
		sanx_lconn_set_phase(lc, SANX_LCONN_IDLE);
		/* What the peer answers does not end links. */
		lc->asks = 0;
	} else {
		sanx_lconn_abort(lc);
	}
	if (!closed)
		*then |= busy ? THEN_BUSY : THEN_REFUSED;
	sanx_xmit_run(lc->link);
	return 0;
}

static int frame_resume_ack(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	int err = sanx_resume_answer(lc, f);

	if (!err)
		*then |= THEN_TX_READY;
	else if (err == -ECONNRESET)
		*then |= THEN_RESET;
	return err == -ECONNRESET ? 0 : err;
}

static int frame_resume_rej(struct sanx_lconn *lc, u32 *then)
{
	bool closed = sanx_lconn_is_closed(&lc->state);
	int err = sanx_resume_refused(lc);

	if (!err && !closed)
		*then |= THEN_RESET;
	return err;
}

/* The part that needs tx_lock: of the connection, and of what is sent. */
static int frame_take(struct sanx_lconn *lc, const struct sanx_frame *f, u32 *then)
{
	lockdep_assert_held(&lc->link->tx_lock);
	switch (f->type) {
	case SANX_FRAME_DATA:
		return frame_data(lc, f, then);
	case SANX_FRAME_CREDIT:
	case SANX_FRAME_FIN:
		return frame_news(lc, f, then);
	case SANX_FRAME_RING:
		return frame_ring(lc, f, then);
	case SANX_FRAME_LEAVE:
		return frame_leave(lc, f);
	case SANX_FRAME_CLOSE:
		return frame_close(lc, f, then);
	case SANX_FRAME_CLOSE_ACK:
		return frame_close_ack(lc);
	case SANX_FRAME_OPEN_ACK:
		return frame_open_ack(lc, f, then);
	case SANX_FRAME_OPEN_REJ:
		return frame_open_rej(lc, f, then);
	case SANX_FRAME_RESUME_ACK:
		return frame_resume_ack(lc, f, then);
	case SANX_FRAME_RESUME_REJ:
		return frame_resume_rej(lc, then);
	default:
		return -EPROTO;
	}
}

/* Payload is readable once it has arrived.  Frames of a link arrive one at a time. */
static int frame_arrive(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = &lc->conn;

	if (f->flags & SANX_FRAME_F_URGENT)
		sanx_conn_urgent(conn, f->offset + f->count - 1);
	if (!(f->flags & SANX_FRAME_F_IN_RING))
		sanx_rxq_store(&conn->rx, f->offset, f->body, f->count);
	return sanx_conn_arrive(conn, f->offset, f->count);
}

static void frame_readable(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_link *link = lc->link;

	WRITE_ONCE(link->rx_bytes, link->rx_bytes + f->count);
	if (f->flags & SANX_FRAME_F_URGENT)
		sanx_conn_urgent_came(&lc->conn);
	sanx_conn_rx_ready(&lc->conn);
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

/* The part that wakes programs, or the core, which tx_lock must not be held for. */
static void frame_tell(struct sanx_lconn *lc, const struct sanx_frame *f, u32 then)
{
	struct sanx_conn *conn = &lc->conn;

	if (then & THEN_PEER_CLOSED)
		sanx_conn_peer_closed(conn);
	if (then & THEN_RESET)
		sanx_conn_reset(conn, ECONNRESET);
	if (then & THEN_TX_READY)
		sanx_conn_tx_ready(conn);
	if (then & THEN_ARRIVE)
		frame_readable(lc, f);
	if (then & THEN_FIN)
		sanx_conn_fin(conn);
	if (then & THEN_CONFIRMED)
		sanx_conn_confirmed(conn);
	if (then & THEN_ESTABLISHED)
		frame_established(lc);
	if (then & THEN_BUSY)
		sanx_conn_busy(conn);
	if (then & THEN_REFUSED)
		sanx_conn_refused(conn, reject_reasons[f->count]);
}

/* Does the frame ask for an answer? */
static bool frame_asks(const struct sanx_frame *f)
{
	return (f->type == SANX_FRAME_DATA || f->type == SANX_FRAME_FIN) &&
	       f->flags & SANX_FRAME_F_ASK;
}

/**
 * sanx_lconn_frame() - take a frame about a connection
 * @lc: the connection; the caller has a reference; it may be not yet, or not
 *	any more, attached
 * @link: the link that the frame arrived on
 * @f: the frame; its grant is taken here
 *
 * Context: softirq, one at a time for a link; takes tx_lock.
 * Return: 0, or -EPROTO if no correct peer sends the frame now.
 */
int sanx_lconn_frame(struct sanx_lconn *lc, struct sanx_link *link,
		     const struct sanx_frame *f)
{
	u32 then = 0;
	int err;

	/*
	 * A connection on @link does not move while frames arrive there: it
	 * moves after @link was drained.  Pairs with smp_store_release() in
	 * resume_switch().
	 */
	if (smp_load_acquire(&lc->link) != link)
		return -EPROTO;
	spin_lock_bh(&link->tx_lock);
	err = link_credit_granted(&link->credit, f->grant) ?: frame_take(lc, f, &then);
	if (frame_asks(f))
		link->answer = SANX_ANSWER_ASKED;
	sanx_xmit_unlock(link);
	if (!err && then & THEN_ARRIVE)
		err = frame_arrive(lc, f);
	/* A reset that was begun is not undone by what else is wrong with the frame. */
	frame_tell(lc, f, err ? then & THEN_RESET : then);
	return err;
}
