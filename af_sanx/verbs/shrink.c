// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that rest do without memory, as when they began.
 *
 * The sender begins.  It gives back its send buffer, and tells the peer with RETURN
 * that it writes to the ring no more, and goes by what can be sent in frames to a
 * connection that has none (SANX_RING_FIRST).  It alone can: what was permitted
 * cannot be taken back by who permitted it.  The receiver, if all is read, moves its
 * queue to the memory that it began with, and says so with RETURN_ACK; or it says
 * there that the ring stays.  A new one is made when there is a need (grow.c).
 *
 * Until the answer comes, credits are of the time before, and do not count.  If
 * the receiver had just told of a larger ring, that is the answer: it ignores RETURN,
 * which it knows by F_TURN to have been sent before that was received, and the
 * sender goes by the larger one.
 */
#include "verbs.h"

static bool shrink_quiet(const struct vconn *vc)
{
	const u32 never = VCONN_ACCEPTING | VCONN_CLOSED | VCONN_FIN_SENT |
			  VCONN_PEER_CLOSED | VCONN_OVER | VCONN_RELEASED |
			  VCONN_ORPHAN | VCONN_RESUMING;

	lockdep_assert_held(&vc->link->tx_lock);
	return (vc->flags & VCONN_OPEN) && !(vc->flags & never) &&
	       !vc->pending && !vc->inflight && vc->acked == vc->end &&
	       vc->posted == vc->end && !vc->spilled;
}

/* Completions are asked for seldom, and what rests may get none of its own. */
static void shrink_ask(struct vlink *link)
{
	if (!link->unsignaled)
		return;
	link->pong = true;
	vxmit_run(link);
}

/* Return: true if there is a ring, and it cannot be now. */
static bool shrink_ring(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link = vconn_lock(vc);
	bool more = false;

	if (vc->inflight && (vc->win.size || vc->staging.buf))
		shrink_ask(link);
	/*
	 * On iWARP, what was sent is kept until it is read, and a ring is small.
	 * And the peer may take nothing in frames.
	 */
	if (!vc->win.size || vc->early || !link->inline_max)
		goto out;
	more = true;
	if (!shrink_quiet(vc) || !vxmit_ok(link) ||
	    !sanx_txq_return(&conn->tx, SANX_RING_FIRST))
		goto out;
	vc->kept = vc->win;
	vc->win.addr = 0;
	vc->win.rkey = 0;
	WRITE_ONCE(vc->win.size, 0);
	vc->returned = true;
	vxmit_return(vc);
	more = false;
out:
	vxmit_unlock(link);
	return more;
}

/**
 * vshrink_trim() - sanx_transport_ops.trim
 * @conn: the connection
 *
 * Context: process, may sleep.
 * Return: as there.
 */
bool vshrink_trim(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);
	bool more;

	/* A sender that waits for its pages has it for as long. */
	if (!mutex_trylock(&conn->tx_mutex))
		return true;
	more = vstaging_trim(vc);
	more |= shrink_ring(vc);
	mutex_unlock(&conn->tx_mutex);
	return more;
}

/* Is there nothing in it, and does nobody write there, now or soon? */
static bool shrink_free(const struct vconn *vc)
{
	const struct sanx_rxq *q = &vconn_conn((struct vconn *)vc)->rx;

	return vc->first && !vc->old.buf && !(vc->flags & VCONN_GROWING) &&
	       !sanx_rxq_turning(q) && !sanx_rxq_avail(q);
}

static void shrink_move(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);

	sanx_rxq_move(&conn->rx, vc->first, SANX_RING_FIRST);
	vc->first = NULL;
	vc->old = vc->ring;
	vc->ring = (struct vring){};
	vc->base = conn->rx.tail;
	WRITE_ONCE(conn->rx.size, SANX_RING_FIRST);
	/* The next one begins as this did. */
	if (conn->rx_max > vc->began)
		WRITE_ONCE(conn->rx_max, vc->began);
	/* From here on there is no more for the peer than that. */
	sanx_rxq_grant(&conn->rx);
	vgrow_follow(vc);
}

/**
 * vshrink_returned() - the peer goes by frames
 * @vc: an open connection
 * @f: its RETURN
 *
 * Context: softirq, tx_lock held; the answer is up to vxmit_unlock().
 * Return: 0, or -EPROTO if no correct peer sends that now.
 */
int vshrink_returned(struct vconn *vc, const struct sanx_frame *f)
{
	const u32 never = VCONN_RELEASED | VCONN_ORPHAN | VCONN_OVER |
			  VCONN_CLOSED;

	lockdep_assert_held(&vc->link->tx_lock);
	/* Since it was looked at. */
	if (vc->flags & never)
		return 0;
	if (f->offset != vconn_conn(vc)->rx.tail || vgrow_turned(vc, f) ||
	    !vc->ring.buf || vc->pending & VCONN_P_RETURN_ACK)
		return -EPROTO;
	/* It was told of another one meanwhile. */
	if (vc->flags & VCONN_WINDOW)
		return 0;
	if (shrink_free(vc))
		shrink_move(vc);
	else if (sanx_rxq_turning(&vconn_conn(vc)->rx))
		/* When it comes again, there is no ring before this. */
		vgrow_follow(vc);
	vxmit_pend(vc, VCONN_P_RETURN_ACK);
	return 0;
}

/**
 * vshrink_answer() - there is no ring any more, or still the same
 * @vc: an open connection
 * @f: the peer's RETURN_ACK; its credit is to follow
 *
 * Context: softirq, tx_lock held.
 * Return: 0, or -EPROTO if no correct peer sends that now.
 */
int vshrink_answer(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_window_info win;
	u32 id;

	lockdep_assert_held(&vc->link->tx_lock);
	if (sanx_return_parse(f, &id, &win) || !vc->returned ||
	    id != vc->peer_id)
		return -EPROTO;
	if (win.size && memcmp(&win, &vc->kept, sizeof(win)))
		return -EPROTO;
	vc->returned = false;
	vconn_set_window(vc, &win);
	if (!win.size)
		vconn_conn(vc)->tx.size = SANX_RING_FIRST;
	return 0;
}

/**
 * vshrink_crossed() - a larger ring, told of before the peer got our RETURN
 * @vc: an open connection
 * @win: the ring
 *
 * Context: softirq, tx_lock held.
 * Return: true if it is one; it is to be used.
 */
bool vshrink_crossed(struct vconn *vc, const struct sanx_window_info *win)
{
	lockdep_assert_held(&vc->link->tx_lock);
	if (!vc->returned)
		return win->size > vc->win.size;
	vc->returned = false;
	return win->size > vc->kept.size;
}
