// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the peer about a connection.
 *
 * Frames of a link arrive one at a time, in order, in softirq.  Each is checked
 * against the state of its connection.  A frame that does not fit is a protocol
 * error and ends the link.
 */
#include "internal.h"

/* In these states the peer sends no frame about the connection, or not yet. */
#define NEVER	(VCONN_PEER_CLOSED | VCONN_OVER | VCONN_RELEASED | \
		 VCONN_CLOSE_ACKED | VCONN_ACCEPTING | VCONN_SUSPENDED | \
		 VCONN_RESUMING)

static int frame_check_data(struct vconn *vc, const struct sanx_frame *f)
{
	const struct sanx_rxq *q = &vconn_conn(vc)->rx;
	int err = -EPROTO;

	/*
	 * Check against the credit granted so far: more may be granted before
	 * sanx_conn_arrive() checks it.
	 */
	if (f->offset == q->tail && f->count <= q->granted - q->tail)
		err = vgrow_arrival(vc, f);
	if (!err && (f->flags & SANX_FRAME_F_RING))
		vring_sync(&vc->ring, f->offset, min(f->count, vc->ring.size));
	return err;
}

/* These frames are about the other direction, and may follow a FIN. */
static bool frame_after_fin(const struct sanx_frame *f)
{
	return f->type == SANX_FRAME_CREDIT || f->type == SANX_FRAME_WINDOW ||
	       f->type == SANX_FRAME_RETURN_ACK;
}

/*
 * May the peer send @f about this connection now? @ignore: our side has closed,
 * and nobody reads payload any more.
 */
static int frame_check_open(struct vconn *vc, const struct sanx_frame *f,
			    bool *ignore)
{
	struct vlink *link = vc->link;
	int err = 0;

	spin_lock_bh(&link->tx_lock);
	if (!(vc->flags & VCONN_OPEN) || (vc->flags & NEVER) ||
	    (vc->pending & (VCONN_P_OPEN_ACK | VCONN_P_RESUME_ACK)) ||
	    ((vc->flags & VCONN_FIN_RCVD) && !frame_after_fin(f)))
		err = -EPROTO;
	else if (f->type == SANX_FRAME_DATA && !(vc->flags & VCONN_RESET))
		err = frame_check_data(vc, f);
	else if (f->type == SANX_FRAME_FIN)
		vc->flags |= VCONN_FIN_RCVD;
	/* The peer may have sent it before it received our CLOSE. */
	*ignore = vc->flags & VCONN_CLOSED;
	spin_unlock_bh(&link->tx_lock);
	return err;
}

/*
 * Takes a credit, for which payload may have waited.  Senders wait for
 * completions instead.  Only on devices that complete early (iWARP) a
 * completion says nothing about the peer, and senders wait for credits.
 */
static int frame_credit(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link = vc->link;
	int n = 0;

	if (f->credit == READ_ONCE(conn->tx.limit) &&
	    f->type != SANX_FRAME_RETURN_ACK)
		return 0;
	spin_lock_bh(&link->tx_lock);
	/* RETURN gave up the room that this credit is about: ring_return.c. */
	if (!vc->return_sent)
		n = sanx_txq_credit(&conn->tx, f->credit);
	if (n > 0 && vc->pending & VCONN_P_DATA)
		vxmit_pend(vc, VCONN_P_DATA);
	vxmit_unlock(link);
	if (n <= 0)
		return n;
	/*
	 * The credit of a new ring does not mean that the peer's program read.
	 */
	if (f->type != SANX_FRAME_WINDOW && f->type != SANX_FRAME_RETURN_ACK)
		WRITE_ONCE(conn->drain_time, jiffies);
	if (vc->full && !vc->early)
		WRITE_ONCE(conn->ack_time, jiffies);
	else
		vspill_tx_ready(vc);
	return 0;
}

/*
 * Takes payload for a program that has closed.  Nobody reads it, but it counts
 * as received, also in a later RESUME (vframe_resume()).  Bytes of the program
 * that are still unsent are dropped, as by TCP.
 */
static int frame_unheard(struct vconn *vc, const struct sanx_frame *f)
{
	struct vlink *link = vc->link;
	int err = 0;

	/*
	 * A reset connection is not resumed, and the bytes before these may not
	 * have been counted (vconn_reset_unread()).
	 */
	if (!(READ_ONCE(vc->flags) & VCONN_RESET))
		err = sanx_rxq_arrive(&vconn_conn(vc)->rx, f->offset, f->count);
	spin_lock_bh(&link->tx_lock);
	if (!err)
		vconn_give_up(vc);
	vxmit_unlock(link);
	return err ?: frame_credit(vc, f);
}

static int frame_data(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = vconn_conn(vc);
	bool ignore;
	int err;

	err = frame_check_open(vc, f, &ignore);
	if (err)
		return err;
	if (ignore)
		return frame_unheard(vc, f);
	/* The bytes cause a reset, so they must not become readable. */
	if (sanx_conn_discards(conn)) {
		vconn_reset_unread(vc);
		return 0;
	}
	if (f->flags & SANX_FRAME_F_URGENT)
		sanx_conn_urgent(conn, f->offset + f->count - 1);
	if (!(f->flags & SANX_FRAME_F_RING))
		sanx_rxq_store(&conn->rx, f->offset, f->body, f->count);
	err = sanx_conn_arrive(conn, f->offset, f->count) ?:
	      frame_credit(vc, f);
	if (err)
		return err;
	if (f->flags & SANX_FRAME_F_URGENT)
		sanx_conn_urgent_came(conn);
	sanx_conn_rx_ready(conn);
	return 0;
}

static int frame_news(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = vconn_conn(vc);
	bool ignore;
	int err;

	err = frame_check_open(vc, f, &ignore);
	if (err)
		return err;
	if (f->type == SANX_FRAME_FIN && f->offset != conn->rx.tail)
		return -EPROTO;
	err = frame_credit(vc, f);
	if (err || ignore || f->type != SANX_FRAME_FIN)
		return err;
	/* Not an error, even if our program has closed meanwhile. */
	sanx_conn_fin(conn);
	return 0;
}

/* WINDOW: the peer has its first ring, or a larger one. */
static int frame_window(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_window_info win;
	bool ignore;
	u32 id;
	int err;

	if (sanx_window_parse(f, &id, &win))
		return -EPROTO;
	err = frame_check_open(vc, f, &ignore);
	if (err)
		return err;
	spin_lock_bh(&vc->link->tx_lock);
	if (id != vc->peer_id || !vreturn_crossed(vc, &win)) {
		err = -EPROTO;
	} else {
		vconn_set_window(vc, &win);
		vc->tx_gen = !vc->tx_gen;
	}
	spin_unlock_bh(&vc->link->tx_lock);
	return err ?: frame_credit(vc, f);
}

/*
 * RETURN: the peer does not write our ring any more.  RETURN_ACK: the peer
 * knows that we do not write its ring any more.
 */
static int frame_return(struct vconn *vc, const struct sanx_frame *f)
{
	bool ours = f->type == SANX_FRAME_RETURN_ACK;
	struct vlink *link = vc->link;
	bool ignore;
	int err;

	err = frame_check_open(vc, f, &ignore);
	/* Bytes sent before our program closed may wait for the answer. */
	if (err || (ignore && !ours))
		return err;
	spin_lock_bh(&link->tx_lock);
	err = ours ? vreturn_answer(vc, f) : vreturn_serve(vc, f);
	vxmit_unlock(link);
	return err ?: ours ? frame_credit(vc, f) : 0;
}

static int frame_close(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link = vc->link;
	bool unsent;
	u32 flags;

	spin_lock_bh(&link->tx_lock);
	flags = vc->flags;
	if (!(flags & VCONN_OPEN) || (flags & NEVER) ||
	    (vc->pending & (VCONN_P_OPEN_ACK | VCONN_P_RESUME_ACK))) {
		spin_unlock_bh(&link->tx_lock);
		return -EPROTO;
	}
	vc->flags |= VCONN_PEER_CLOSED;
	/* The peer reads no more, so pending frames are dropped. */
	unsent = (vc->posted != vc->end && !vc->corked) ||
		 vc->spilled;
	vc->pending = 0;
	vxmit_pend(vc, VCONN_P_CLOSE_ACK);
	vxmit_unlock(link);

	/* The worker frees the spilled bytes, which are not sent any more. */
	vspill_kick(vc);
	if (flags & VCONN_CLOSED)
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

static int frame_close_ack(struct vconn *vc)
{
	struct vlink *link = vc->link;
	int err = 0;

	spin_lock_bh(&link->tx_lock);
	if (!(vc->flags & VCONN_CLOSE_SENT) ||
	    (vc->flags & (VCONN_CLOSE_ACKED | VCONN_RELEASED))) {
		err = -EPROTO;
	} else {
		vc->flags |= VCONN_CLOSE_ACKED;
		vconn_check_over(vc);
	}
	spin_unlock_bh(&link->tx_lock);
	return err;
}

/*
 * Takes the answer to an OPEN.
 * Return: true if an answer was due.
 */
static bool frame_answers(struct vconn *vc)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	if (!(vc->flags & VCONN_OPENING) || (vc->pending & VCONN_P_OPEN) ||
	    (vc->flags & (VCONN_OVER | VCONN_RELEASED)))
		return false;
	vc->flags &= ~VCONN_OPENING;
	vask_answered(vc);
	WRITE_ONCE(link->opening, link->opening - 1);
	return true;
}

static int frame_open_ack(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link = vc->link;
	struct sanx_window_info win;
	bool closed;
	u32 id;

	if (sanx_open_ack_parse(f, &id, &win) || vconn_window_ok(link, &win))
		return -EPROTO;
	spin_lock_bh(&link->tx_lock);
	if (!frame_answers(vc)) {
		spin_unlock_bh(&link->tx_lock);
		return -EPROTO;
	}
	vc->peer_id = id;
	vc->win = win;
	sanx_txq_init(&conn->tx, win.size ?: SANX_RING_FIRST);
	vc->flags |= VCONN_OPEN;
	closed = vc->flags & VCONN_CLOSED;
	if (closed) {
		vc->flags |= VCONN_RESET;
		vxmit_pend(vc, VCONN_P_CLOSE);
	} else {
		vxmit_run(link);
	}
	vxmit_unlock(link);
	/* If this fails, close() was called or will be. */
	if (!closed)
		sanx_conn_established(conn);
	return 0;
}

static int frame_open_rej(struct vconn *vc, const struct sanx_frame *f)
{
	bool busy = f->count == SANX_REJECT_BUSY;
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link = vc->link;
	bool closed;

	spin_lock_bh(&link->tx_lock);
	if (!frame_answers(vc)) {
		spin_unlock_bh(&link->tx_lock);
		return -EPROTO;
	}
	closed = vc->flags & VCONN_CLOSED;
	if (busy && !closed)
		vc->flags |= VCONN_IDLE;
	else
		vconn_abort(vc);
	vxmit_run(link);
	vxmit_unlock(link);
	if (closed)
		return 0;
	if (busy)
		sanx_conn_busy(conn);
	else
		sanx_conn_refused(conn, SANX_FALLBACK_REFUSED);
	return 0;
}

/**
 * vconn_frame() - take a frame about a connection
 * @vc: the connection; the caller has a reference; it may be not yet, or not
 *	any more, attached
 * @link: the link that the frame arrived on
 * @f: the frame
 *
 * Context: softirq, one at a time for a link; takes tx_lock.
 * Return: 0, or -EPROTO if no correct peer sends the frame now.
 */
int vconn_frame(struct vconn *vc, const struct vlink *link,
		const struct sanx_frame *f)
{
	/*
	 * A connection on @link does not move while frames arrive there: it
	 * moves after @link was drained.  Pairs with smp_store_release() in
	 * resume_switch().
	 */
	if (smp_load_acquire(&vc->link) != link)
		return -EPROTO;
	switch (f->type) {
	case SANX_FRAME_DATA:
		return frame_data(vc, f);
	case SANX_FRAME_CREDIT:
	case SANX_FRAME_FIN:
		return frame_news(vc, f);
	case SANX_FRAME_WINDOW:
		return frame_window(vc, f);
	case SANX_FRAME_RETURN:
	case SANX_FRAME_RETURN_ACK:
		return frame_return(vc, f);
	case SANX_FRAME_CLOSE:
		return frame_close(vc, f);
	case SANX_FRAME_CLOSE_ACK:
		return frame_close_ack(vc);
	case SANX_FRAME_OPEN_ACK:
		return frame_open_ack(vc, f);
	case SANX_FRAME_OPEN_REJ:
		return frame_open_rej(vc, f);
	case SANX_FRAME_RESUME_ACK:
		return vresume_answer(vc, f);
	case SANX_FRAME_RESUME_REJ:
		return vresume_refused(vc);
	default:
		return -EPROTO;
	}
}
