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
 * (vc->first) and answers RETURN_ACK without a window.  Else RETURN_ACK says
 * that the ring stays.  A new ring is made when it is needed (grow.c).
 *
 * Until the answer arrives, vc->return_sent is set, and credits, which are from
 * before, are ignored.  If the receiver had just advertised a larger ring, that
 * WINDOW is the answer.  It ignores RETURN then: GEN in RETURN has the old
 * value, so RETURN was sent before WINDOW was received.  The sender uses the
 * larger ring.
 *
 * See "Giving a ring back" in Documentation/protocol.rst.  vc->return_sent and
 * vc->returned_win are guarded by link->tx_lock.
 */
#include "internal.h"

static bool return_quiet(const struct vconn *vc)
{
	const u32 never = VCONN_ACCEPTING | VCONN_CLOSED | VCONN_FIN_SENT |
			  VCONN_PEER_CLOSED | VCONN_OVER | VCONN_RELEASED |
			  VCONN_SUSPENDED | VCONN_RESUMING;

	lockdep_assert_held(&vc->link->tx_lock);
	return (vc->flags & VCONN_OPEN) && !(vc->flags & never) &&
	       !vc->pending && !vc->inflight && vc->acked == vc->end &&
	       vc->posted == vc->end && !vc->spilled;
}

/*
 * Few frames request a completion, and an idle connection sends no more frames
 * that would.  A PONG is always signaled and completes them all.
 */
static void return_ask(struct vlink *link)
{
	if (!link->unsignaled)
		return;
	link->pong = true;
	vxmit_run(link);
}

/* Return: true if there is a ring and it cannot be given back now. */
static bool return_ring(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link = vconn_lock(vc);
	bool more = false;

	if (vc->inflight && (vc->win.size || vc->sndbuf.buf))
		return_ask(link);
	/*
	 * Not on iWARP, where sent bytes are kept until they are read, and
	 * rings are small.  Not if the peer accepts no payload in frames.
	 */
	if (!vc->win.size || vc->early || !link->inline_max)
		goto out;
	more = true;
	if (!return_quiet(vc) || !vxmit_ok(link) ||
	    !sanx_txq_return(&conn->tx, SANX_RING_FIRST))
		goto out;
	vc->returned_win = vc->win;
	vc->win.addr = 0;
	vc->win.rkey = 0;
	WRITE_ONCE(vc->win.size, 0);
	vc->return_sent = true;
	vxmit_return(vc);
	more = false;
out:
	vxmit_unlock(link);
	return more;
}

/**
 * vreturn_reclaim() - sanx_transport_ops.reclaim
 * @conn: the connection
 *
 * Context: process, may sleep; takes tx_mutex (trylock), tx_lock.
 * Return: true if there is memory left that cannot be given back now.
 */
bool vreturn_reclaim(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);
	bool more;

	/* A sender whose copy faults holds tx_mutex for an unbounded time. */
	if (!mutex_trylock(&conn->tx_mutex))
		return true;
	more = vsndbuf_reclaim(vc);
	more |= return_ring(vc);
	mutex_unlock(&conn->tx_mutex);
	return more;
}

/* Is all of the queue read, and is no other ring in use or being made? */
static bool return_ready(const struct vconn *vc)
{
	const struct sanx_rxq *q = &vconn_conn((struct vconn *)vc)->rx;

	return vc->first && !vc->old.buf && !(vc->flags & VCONN_GROWING) &&
	       !sanx_rxq_moving(q) && !sanx_rxq_avail(q);
}

static void return_move(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);

	sanx_rxq_move(&conn->rx, vc->first, SANX_RING_FIRST);
	vc->first = NULL;
	vc->old = vc->ring;
	vc->ring = (struct vring){};
	vc->base = conn->rx.tail;
	WRITE_ONCE(conn->rx.size, SANX_RING_FIRST);
	/* The next ring need not be larger than the first one was. */
	if (conn->rx_max > vc->began)
		WRITE_ONCE(conn->rx_max, vc->began);
	/*
	 * Grant what the memory holds: tail equals head, so that is
	 * SANX_RING_FIRST.
	 */
	sanx_rxq_grant(&conn->rx);
	vgrow_follow(vc);
}

/**
 * vreturn_serve() - the peer gives our ring back
 * @vc: an open connection
 * @f: its RETURN
 *
 * Context: softirq, tx_lock held; the caller releases it with vxmit_unlock().
 * Return: 0; -EPROTO if RETURN is not permitted now, or its offset is wrong.
 */
int vreturn_serve(struct vconn *vc, const struct sanx_frame *f)
{
	const u32 never = VCONN_RELEASED | VCONN_SUSPENDED | VCONN_OVER |
			  VCONN_CLOSED;

	lockdep_assert_held(&vc->link->tx_lock);
	/* tx_lock was released since frame_check_open() looked at the flags. */
	if (vc->flags & never)
		return 0;
	if (f->offset != vconn_conn(vc)->rx.tail || vgrow_note_gen(vc, f) ||
	    !vc->ring.buf || vc->pending & VCONN_P_RETURN_ACK)
		return -EPROTO;
	/* A larger ring was advertised: the WINDOW is the answer. */
	if (vc->flags & VCONN_WINDOW)
		return 0;
	if (return_ready(vc))
		return_move(vc);
	else if (sanx_rxq_moving(&vconn_conn(vc)->rx))
		/*
		 * Have the worker follow, so that a later RETURN finds no ring
		 * before this one.
		 */
		vgrow_follow(vc);
	vxmit_pend(vc, VCONN_P_RETURN_ACK);
	return 0;
}

/**
 * vreturn_answer() - the peer answers RETURN: no ring, or the same ring
 * @vc: an open connection
 * @f: the peer's RETURN_ACK; the caller applies its credit afterwards
 *
 * Context: softirq, tx_lock held.
 * Return: 0; -EPROTO if no RETURN is unanswered, or the window is another one.
 */
int vreturn_answer(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_window_info win;
	u32 id;

	lockdep_assert_held(&vc->link->tx_lock);
	if (sanx_return_parse(f, &id, &win) || !vc->return_sent ||
	    id != vc->peer_id)
		return -EPROTO;
	if (win.size && memcmp(&win, &vc->returned_win, sizeof(win)))
		return -EPROTO;
	vc->return_sent = false;
	vconn_set_window(vc, &win);
	if (!win.size)
		vconn_conn(vc)->tx.size = SANX_RING_FIRST;
	return 0;
}

/**
 * vreturn_crossed() - check a WINDOW, which may have crossed our RETURN
 * @vc: an open connection
 * @win: the ring in it
 *
 * If RETURN is unanswered, the WINDOW is its answer.
 *
 * Context: softirq, tx_lock held.
 * Return: true if the ring is larger than the ring before, as it must be.
 */
bool vreturn_crossed(struct vconn *vc, const struct sanx_window_info *win)
{
	lockdep_assert_held(&vc->link->tx_lock);
	if (!vc->return_sent)
		return win->size > vc->win.size;
	vc->return_sent = false;
	return win->size > vc->returned_win.size;
}
