// SPDX-License-Identifier: GPL-2.0
/*
 * A connection gets the ring that the peer may write.
 *
 * Most connections of a server are idle most of the time, and many never carry
 * more than a few bytes; but a ring is memory, and to register it is dear.  So
 * a connection begins without, and with room for a few frames' payload
 * (SANX_RING_FIRST) in memory that no device knows.  When half of that is
 * filled, or all that is granted was sent, or GROW_AFTER bytes have come, a
 * ring is made and the peer is told (WINDOW).  What it writes there continues
 * what it sent before: the queue moves (sanx_rxq_move()), and the reader
 * follows it.  As much is granted as there is room for, before and after, so
 * that a sender finds nothing changed but the room.
 */
#include "verbs.h"

/* A stream whose reader keeps up fills nothing, and yet is one. */
#define GROW_AFTER	(8 * SANX_RING_FIRST)

static bool grow_publish(struct vconn *vc, struct vlink *link,
			 const struct vring *ring)
{
	const u32 never = VCONN_RELEASED | VCONN_ORPHAN | VCONN_CLOSED |
			  VCONN_OVER | VCONN_PEER_CLOSED;
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = vc->link == link && link->state == VLINK_UP &&
	       !(vc->flags & never);
	if (ours) {
		vc->ring = *ring;
		vpost_reg(vc);
		vpost_pend(vc, VCONN_P_WINDOW);
	}
	vpost_unlock(link);
	return ours;
}

/* There is not memory for more: whoever waits for that has what there will be. */
static void grow_settle(struct sanx_conn *conn, u32 size)
{
	WRITE_ONCE(conn->rx_max, size);
	sanx_conn_rx_ready(conn);
}

/* Return: 0, -EAGAIN if there is no link for it now, or -ENOMEM. */
static int grow_make(struct vconn *vc, u32 size)
{
	struct vlink *link = vconn_link_get(vc);
	struct vring ring = {};
	int err;

	if (!link)
		return -EAGAIN;
	size = min(size, vring_max(link));
	/* The sender keeps all that is unread: staging.c. */
	if (link->early)
		size = min(size, VSTAGING_EARLY);
	err = vring_alloc(&ring, size, vconn_conn(vc)->memcg, true);
	if (!err)
		err = vring_map(&ring, link, (u64)vc->id << 32);
	if (err)
		err = -ENOMEM;
	else if (!grow_publish(vc, link, &ring))
		err = -EAGAIN;
	if (err) {
		vring_unmap(&ring);
		vring_free(&ring);
	} else if (size < vconn_conn(vc)->rx_max) {
		grow_settle(vconn_conn(vc), size);
	}
	vlink_user_put(link);
	return err;
}

/**
 * vgrow_work() - make a connection's ring
 * @work: vconn.grow, with a reference of the connection
 *
 * Context: process, may sleep.
 */
void vgrow_work(struct work_struct *work)
{
	struct vconn *vc = container_of(work, struct vconn, grow);
	struct sanx_conn *conn = vconn_conn(vc);
	u32 size = conn->rx_max;
	struct vlink *link;
	int err;

	do {
		err = grow_make(vc, size);
		size /= 2;
	} while (err == -ENOMEM && size >= SANX_RING_MIN);
	if (err == -ENOMEM)
		grow_settle(conn, SANX_RING_FIRST);
	if (err == -EAGAIN) {
		/* The next link, or what comes by it, asks again. */
		link = vconn_lock(vc);
		vc->flags &= ~VCONN_GROWING;
		spin_unlock_bh(&link->tx_lock);
	}
	sanx_conn_put(conn);
}

/**
 * vgrow_check() - is there enough room?
 * @vc: an open connection
 * @tail: stream offset up to which bytes have come, or are about to
 *
 * Context: tx_lock held.
 */
void vgrow_check(struct vconn *vc, u64 tail)
{
	struct sanx_conn *conn = vconn_conn(vc);
	const struct sanx_rxq *q = &conn->rx;

	lockdep_assert_held(&vc->link->tx_lock);
	if (vc->ring.buf || (vc->flags & (VCONN_GROWING | VCONN_CLOSED)))
		return;
	/* Neither filled, nor used up, nor in use for long. */
	if (tail - READ_ONCE(q->head) <= SANX_RING_FIRST / 2 &&
	    tail != q->granted && tail < GROW_AFTER)
		return;
	vc->flags |= VCONN_GROWING;
	sanx_conn_get(conn);
	queue_work(vconn_wq, &vc->grow);
}

/**
 * vgrow_arrival() - bytes are about to arrive: where, and is there enough room?
 * @vc: an open connection
 * @f: the frame that tells of them
 *
 * Context: softirq, tx_lock held, before sanx_conn_arrive().
 * Return: 0, or -EPROTO if they are said to be in a ring that the peer was not
 * told of.
 */
int vgrow_arrival(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_conn *conn = vconn_conn(vc);

	lockdep_assert_held(&vc->link->tx_lock);
	if (vc->flags & VCONN_WINDOW) {
		if (unlikely(conn->rx.in.buf != vc->ring.buf))
			sanx_rxq_move(&conn->rx, vc->ring.buf, vc->ring.size);
		return 0;
	}
	if (f->flags & SANX_FRAME_F_RING)
		return -EPROTO;
	vgrow_check(vc, f->offset + f->count);
	return 0;
}

/**
 * vgrow_told() - the peer is told of the ring, with this frame
 * @vc: a connection, with a ring or without
 *
 * Context: tx_lock held, before sanx_rxq_grant() for the frame.
 */
void vgrow_told(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	vc->pending &= ~VCONN_P_WINDOW;
	if (!vc->ring.buf)
		return;
	vc->flags |= VCONN_WINDOW;
	vconn_conn(vc)->rx.size = vc->ring.size;
}
