// SPDX-License-Identifier: GPL-2.0
/*
 * A connection gets the ring that the peer may write.
 *
 * Most connections of a server are idle most of the time, and many never carry
 * more than a few bytes; but a ring is memory, and to register it is dear.  So
 * a connection begins without, and with room for a few frames' payload
 * (SANX_RING_FIRST) in memory that no device knows.  When half of that is
 * filled, a ring is made and the peer is told (WINDOW).  What it writes there
 * continues what it sent before: the queue moves (sanx_rxq_move()), and the
 * reader follows it.  As much is granted as there is room for, before and
 * after, so that a sender finds nothing changed but the room.
 */
#include "verbs.h"

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

/* Return: 0, -EAGAIN if there is no link for it now, or -ENOMEM. */
static int grow_make(struct vconn *vc, u32 size)
{
	struct vlink *link = vconn_link_get(vc);
	struct vring ring = {};
	int err;

	if (!link)
		return -EAGAIN;
	size = min(size, vring_max(link));
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
	}
	vlink_user_put(link);
	return err;
}

/* Without memory the connection works as it is, and nobody waits for more. */
static void grow_give_up(struct sanx_conn *conn)
{
	WRITE_ONCE(conn->rx_max, SANX_RING_FIRST);
	sanx_conn_rx_ready(conn);
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
		grow_give_up(conn);
	if (err == -EAGAIN) {
		/* The next frame by another link asks again. */
		link = vconn_lock(vc);
		vc->flags &= ~VCONN_GROWING;
		spin_unlock_bh(&link->tx_lock);
	}
	sanx_conn_put(conn);
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
	u64 unread;

	lockdep_assert_held(&vc->link->tx_lock);
	if (vc->flags & VCONN_WINDOW) {
		if (unlikely(conn->rx.in.buf != vc->ring.buf))
			sanx_rxq_move(&conn->rx, vc->ring.buf, vc->ring.size);
		return 0;
	}
	if (f->flags & SANX_FRAME_F_RING)
		return -EPROTO;
	unread = f->offset + f->count - READ_ONCE(conn->rx.head);
	if (unread > SANX_RING_FIRST / 2 && !(vc->flags & VCONN_GROWING)) {
		vc->flags |= VCONN_GROWING;
		sanx_conn_get(conn);
		queue_work(vconn_wq, &vc->grow);
	}
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
