// SPDX-License-Identifier: GPL-2.0
/*
 * The ring that the peer may write: made when there is a need, and a larger one
 * when a stream needs that.
 *
 * Most connections of a server are idle most of the time, and many never carry
 * more than a few bytes; but a ring is memory, and to register it is dear.  So
 * a connection begins without, and with room for a few frames' payload
 * (SANX_RING_FIRST) in memory that no device knows.  When half of that is
 * filled, or all that is granted was sent, or GROW_AFTER bytes have come, a
 * ring is made, as large as SO_RCVBUF says then; or smaller, if there is no memory
 * for that, or later.
 *
 * A stream whose sender uses all of it gets a larger one, as TCP's window grows
 * to tcp_rmem[2] where SO_RCVBUF was not set: one that holds what its reader
 * reads in grow_ms, in steps of GROW_TIMES, and each after so many rings full that
 * were read in that time and of which the sender had no more room for (F_FULL).  A
 * reader that is slow needs none.  What all connections have so is a part of the
 * memory at most (vring_alloc_grown()).
 *
 * The peer is told with WINDOW.  What it writes there continues what it sent
 * before, and says so (F_TURN): the queue moves (sanx_rxq_move()), the reader
 * follows it, and then the ring before is given back.  As much is granted as
 * there is room for, before and after, so that a sender finds nothing changed but
 * the room.
 *
 *	ring		next		old
 *	-		-		-	begins
 *	-		made, told	-	WINDOW
 *	written		-		-	F_TURN
 *	written		made, told	-	WINDOW
 *	written		-		read	F_TURN
 *	written		-		-	read to its end
 */
#include <linux/sched/clock.h>

#include "verbs.h"

/* A stream whose reader keeps up fills nothing, and yet is one. */
#define GROW_AFTER	(8 * SANX_RING_FIRST)
#define GROW_TIMES	4
/* When memory is asked for again. */
#define GROW_AGAIN	HZ

static bool grow_publish(struct vconn *vc, struct vlink *link,
			 const struct vring *ring)
{
	const u32 never = VCONN_RELEASED | VCONN_ORPHAN | VCONN_RESUMING |
			  VCONN_CLOSED | VCONN_OVER | VCONN_PEER_CLOSED;
	/* What these say of a ring is not to change while they wait. */
	const u32 first = VCONN_P_OPEN_ACK | VCONN_P_RESUME_ACK;
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = vc->link == link && link->state == VLINK_UP &&
	       !(vc->flags & never) && !(vc->pending & first);
	if (ours) {
		if (!vc->ring.buf)
			vc->began = ring->size;
		vc->next = *ring;
		vxmit_reg(vc);
		vxmit_pend(vc, VCONN_P_WINDOW);
	}
	vxmit_unlock(link);
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
	if (!vc->ring.buf)
		err = vring_alloc(&ring, size, vconn_conn(vc)->memcg, true);
	else if (size > vc->ring.size)
		err = vring_alloc_grown(&ring, size, vconn_conn(vc)->memcg);
	else
		err = -ENOMEM;
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

static int grow_first(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	/* It may have been settled for less. */
	u32 size = max3(conn->rx_max, sanx_conn_rcvbuf_set(conn),
			SANX_RING_MIN);
	int err;

	do {
		err = grow_make(vc, size);
		size /= 2;
	} while (err == -ENOMEM && size >= SANX_RING_MIN);
	if (err == -ENOMEM)
		grow_settle(conn, SANX_RING_FIRST);
	return err;
}

static int grow_larger(struct vconn *vc)
{
	u64 size = (u64)vc->ring.size * GROW_TIMES;

	return grow_make(vc, min_t(u64, size,
				   sanx_conn_rcvbuf(vconn_conn(vc))));
}

/* What came meanwhile asked in vain.  On the next link it is asked. */
static void grow_ask_again(struct vconn *vc)
{
	const u32 later = VCONN_ORPHAN | VCONN_RESUMING;
	const u32 never = VCONN_RELEASED | VCONN_OVER | VCONN_PEER_CLOSED;
	const u32 first = VCONN_P_OPEN_ACK | VCONN_P_RESUME_ACK;

	if (vc->link->state == VLINK_UP && !(vc->flags & (later | never)) &&
	    !(vc->pending & first))
		vgrow_check(vc, vconn_conn(vc)->rx.tail);
}

/* It was not to be: who may ask again, and when? */
static void grow_failed(struct vconn *vc, int err)
{
	const u32 over = VCONN_RELEASED | VCONN_OVER | VCONN_CLOSED |
			 VCONN_PEER_CLOSED | VCONN_FIN_RCVD;
	struct vlink *link;

	link = vconn_lock(vc);
	/* There is not memory for the first one: later, maybe. */
	if (err == -ENOMEM && !vc->ring.buf && !(vc->flags & over)) {
		sanx_conn_get(vconn_conn(vc));
		if (!queue_delayed_work(vconn_wq, &vc->grow, GROW_AGAIN))
			sanx_conn_put(vconn_conn(vc));
		spin_unlock_bh(&link->tx_lock);
		return;
	}
	vc->flags &= ~VCONN_GROWING;
	grow_ask_again(vc);
	spin_unlock_bh(&link->tx_lock);
}

static void grow_ring(struct vconn *vc)
{
	int err = vc->ring.buf ? grow_larger(vc) : grow_first(vc);

	if (err)
		grow_failed(vc, err);
}

/*
 * The peer writes there no more, it has said, and the device is to hold it to
 * that.  Of an orphan, or one that ends, it is unmapped by who takes its link
 * from it, and given back later.
 */
static void grow_give_back(struct vconn *vc)
{
	const u32 theirs = VCONN_ORPHAN | VCONN_RELEASED;
	struct vlink *user, *link;
	struct vring old = {};
	bool again;

	do {
		user = vconn_link_get(vc);
		link = vconn_lock(vc);
		/* It came to another link in between. */
		again = user && user != link;
		if (user == link && vc->flags & VCONN_LEFT &&
		    !(vc->flags & theirs)) {
			swap(old, vc->old);
			vc->flags &= ~VCONN_LEFT;
			grow_ask_again(vc);
		}
		spin_unlock_bh(&link->tx_lock);
		vring_unmap(&old);
		vring_free(&old);
		if (user)
			vlink_user_put(user);
	} while (again);
}

/*
 * A reader would come to it with the next byte that it reads, but need not read
 * one.  It may be in a call that does not, and for as long as it likes.
 */
static void grow_follow(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct sanx_left left;

	if (!sanx_rxq_turning(&conn->rx))
		return;
	if (!mutex_trylock(&conn->rx_mutex)) {
		sanx_conn_get(conn);
		if (!queue_delayed_work(vconn_wq, &vc->grow, 1))
			sanx_conn_put(conn);
		return;
	}
	if (sanx_rxq_follow(&conn->rx, &left))
		vgrow_left(conn, &left);
	mutex_unlock(&conn->rx_mutex);
}

/* Is one to be made?  What was made already can be turned to meanwhile. */
static bool grow_wanted(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);
	bool wanted = (vc->flags & VCONN_GROWING) && !vc->next.buf;

	spin_unlock_bh(&link->tx_lock);
	return wanted;
}

/**
 * vgrow_work() - make a connection's ring, or give the one before back
 * @work: vconn.grow, with a reference of the connection
 *
 * Context: process, may sleep.
 */
void vgrow_work(struct work_struct *work)
{
	struct vconn *vc = container_of(to_delayed_work(work), struct vconn,
					grow);

	grow_follow(vc);
	if (READ_ONCE(vc->flags) & VCONN_LEFT)
		grow_give_back(vc);
	if (grow_wanted(vc))
		grow_ring(vc);
	sanx_conn_put(vconn_conn(vc));
}

static void grow_queue(struct vconn *vc, u32 flag)
{
	lockdep_assert_held(&vc->link->tx_lock);
	vc->flags |= flag;
	sanx_conn_get(vconn_conn(vc));
	if (!queue_delayed_work(vconn_wq, &vc->grow, 0))
		sanx_conn_put(vconn_conn(vc));
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
	/* The one before was given up just now; it is asked again then. */
	if (vc->old.buf)
		return;
	/* Neither filled, nor used up, nor in use for long. */
	if (tail - READ_ONCE(q->head) <= SANX_RING_FIRST / 2 &&
	    tail != q->granted && tail - vc->base < GROW_AFTER)
		return;
	grow_queue(vc, VCONN_GROWING);
}

/* Has a ring full been read, and in time?  Then the next one begins. */
static bool grow_in_flow(struct vconn *vc, u64 head)
{
	u64 now, most = (u64)READ_ONCE(grow_ms) * NSEC_PER_MSEC;
	bool fast;

	if (head - vc->mark < READ_ONCE(vconn_conn(vc)->rx.size))
		return false;
	now = local_clock();
	fast = now - vc->marked <= most && most;
	vc->mark = head;
	vc->marked = now;
	WRITE_ONCE(vc->tight, false);
	if (!fast)
		vc->full_rings = 0;
	return fast;
}

/**
 * vgrow_read() - bytes were read, of which the sender had no more room for
 * @vc: a connection
 *
 * Context: process, rx_mutex held.
 */
void vgrow_read(struct vconn *vc)
{
	const u32 never = VCONN_GROWING | VCONN_CLOSED | VCONN_FIN_RCVD |
			  VCONN_PEER_CLOSED;
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link;

	if (!grow_in_flow(vc, conn->rx.head) ||
	    ++vc->full_rings < GROW_TIMES)
		return;
	vc->full_rings = 0;
	link = vconn_lock(vc);
	if (vc->ring.buf && !vc->old.buf && !sanx_rxq_turning(&conn->rx) &&
	    !vc->early && !(vc->flags & never) &&
	    vc->ring.size < sanx_conn_rcvbuf(conn))
		grow_queue(vc, VCONN_GROWING);
	spin_unlock_bh(&link->tx_lock);
}

/* The peer writes to @next from here on. */
static void grow_turn(struct vconn *vc)
{
	sanx_rxq_move(&vconn_conn(vc)->rx, vc->next.buf, vc->next.size);
	vc->old = vc->ring;
	vc->ring = vc->next;
	vc->next = (struct vring){};
	vc->flags &= ~(VCONN_WINDOW | VCONN_GROWING);
}

/**
 * vgrow_turned() - by which ring does the peer go?
 * @vc: an open connection
 * @f: a DATA or RETURN
 *
 * Context: softirq, tx_lock held.
 * Return: 0, or -EPROTO if it is not one that it was told of.
 */
int vgrow_turned(struct vconn *vc, const struct sanx_frame *f)
{
	bool turn = f->flags & SANX_FRAME_F_TURN;

	if (turn == vc->turn)
		return 0;
	if (!(vc->flags & VCONN_WINDOW))
		return -EPROTO;
	grow_turn(vc);
	vc->turn = turn;
	return 0;
}

/**
 * vgrow_arrival() - bytes are about to arrive: where, and is there enough room?
 * @vc: an open connection
 * @f: the frame that tells of them
 *
 * Context: softirq, tx_lock held, before sanx_conn_arrive().
 * Return: 0, or -EPROTO if they are said to be where the peer was not told of, or
 * to be more than was granted there.
 */
int vgrow_arrival(struct vconn *vc, const struct sanx_frame *f)
{
	int err = vgrow_turned(vc, f);

	lockdep_assert_held(&vc->link->tx_lock);
	if (err)
		return err;
	/* Of what was granted for the ring to come it has not heard. */
	if (vc->flags & VCONN_WINDOW && f->count > vc->told - f->offset)
		return -EPROTO;
	if (f->flags & SANX_FRAME_F_RING && !vc->ring.buf)
		return -EPROTO;
	if (f->flags & SANX_FRAME_F_FULL && vc->ring.buf)
		WRITE_ONCE(vc->tight, true);
	vgrow_check(vc, f->offset + f->count);
	return 0;
}

/**
 * vgrow_told() - the peer is told of the ring to come, with this frame
 * @vc: a connection
 *
 * Context: tx_lock held, before sanx_rxq_grant() for the frame.
 */
void vgrow_told(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);

	lockdep_assert_held(&vc->link->tx_lock);
	vc->pending &= ~VCONN_P_WINDOW;
	vc->flags |= VCONN_WINDOW;
	vc->told = conn->rx.granted;
	WRITE_ONCE(conn->rx.size, vc->next.size);
	if (conn->rx_max < vc->next.size)
		WRITE_ONCE(conn->rx_max, vc->next.size);
}

/**
 * vgrow_left() - sanx_transport_ops.left
 * @conn: the connection
 * @left: as there
 *
 * Context: process, rx_mutex held.
 */
void vgrow_left(struct sanx_conn *conn, const struct sanx_left *left)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);
	bool first = left->buf != vc->old.buf;

	if (first)
		vc->first = left->buf;
	else
		grow_queue(vc, VCONN_LEFT);
	spin_unlock_bh(&link->tx_lock);
}

/**
 * vgrow_follow() - have the reader come to where the queue has moved
 * @vc: a connection
 *
 * Context: tx_lock held.
 */
void vgrow_follow(struct vconn *vc)
{
	grow_queue(vc, 0);
}

/**
 * vgrow_settle() - on another link, there is one ring
 * @vc: an orphan
 *
 * The peer will be told of it with RESUME, and goes by that, whatever it was
 * told on the link that was lost.  Of a ring that it was not told of nobody knows,
 * and another device may not take one so large.
 *
 * Context: process, vnet.lock held.
 */
void vgrow_settle(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);
	struct vring old = {}, untold = {};

	if (vc->flags & VCONN_WINDOW)
		grow_turn(vc);
	if (vc->flags & VCONN_LEFT)
		swap(old, vc->old);
	swap(untold, vc->next);
	if (untold.buf)
		vc->flags &= ~VCONN_GROWING;
	vc->flags &= ~VCONN_LEFT;
	vc->pending &= ~VCONN_P_WINDOW;
	vc->turn = false;
	if (vc->ring.buf)
		WRITE_ONCE(vconn_conn(vc)->rx.size, vc->ring.size);
	spin_unlock_bh(&link->tx_lock);
	vring_free(&untold);
	vring_free(&old);
}

/**
 * vgrow_resumed() - a connection is on another link
 * @vc: an attached connection
 *
 * Context: process, may sleep.
 */
void vgrow_resumed(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link = vconn_lock(vc);
	bool early = vc->early;

	if (vc->flags & VCONN_LEFT)
		grow_queue(vc, VCONN_LEFT);
	spin_unlock_bh(&link->tx_lock);
	/* The sender has no more to keep it in. */
	if (early && READ_ONCE(conn->rx_max) > VSTAGING_EARLY)
		grow_settle(conn, VSTAGING_EARLY);
}

/**
 * vgrow_unmap() - end all access by the device to what the peer may write
 * @vc: a connection that is RELEASED, an orphan, or one that is not on its new
 *	link yet
 *
 * Context: process, may sleep.
 */
void vgrow_unmap(struct vconn *vc)
{
	vring_unmap(&vc->ring);
	vring_unmap(&vc->next);
	vring_unmap(&vc->old);
}

/**
 * vgrow_free_sleeps() - does vgrow_free() need to sleep?
 * @vc: a connection
 * Return: true if so.
 */
bool vgrow_free_sleeps(const struct vconn *vc)
{
	return vring_free_sleeps(&vc->ring) || vring_free_sleeps(&vc->next) ||
	       vring_free_sleeps(&vc->old);
}

/**
 * vgrow_free() - give all of it back
 * @vc: a connection that nobody reads any more
 *
 * Context: any, but process if vgrow_free_sleeps().
 */
void vgrow_free(struct vconn *vc)
{
	vring_free(&vc->ring);
	vring_free(&vc->next);
	vring_free(&vc->old);
}
