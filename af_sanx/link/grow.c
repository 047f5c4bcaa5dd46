// SPDX-License-Identifier: GPL-2.0
/*
 * The ring that the peer may write: makes the first one when it is needed, and
 * a larger one when the stream is rwnd-limited.
 *
 * Most connections of a server are idle most of the time, and many never carry
 * more than a few bytes.  But a ring costs memory, and its registration is
 * expensive.  So a connection starts with SANX_RING_FIRST bytes of memory that
 * no device knows, and payload arrives in frames.  The first ring is made when
 * half of that memory is unread, when all granted credit is used, or when
 * GROW_AFTER bytes have arrived.  Its size is what SO_RCVBUF says at that time.
 * If memory is short, the ring is smaller, or is made later.
 *
 * A rwnd-limited stream gets a larger ring, as TCP's window grows to
 * tcp_rmem[2] unless SO_RCVBUF is set.  The goal is a ring that holds what the
 * reader reads in grow_ms.  The ring grows by a factor of GROW_TIMES, each time
 * after GROW_TIMES rings full in a row that were read within grow_ms each, and
 * for which the sender had used all credit (F_FULL).  A slow reader needs no
 * larger ring.  All rings that have grown share a limited part of the node's
 * memory (vring_alloc_grown()).
 *
 * WINDOW advertises the new ring.  The sender writes it from its next payload
 * on, and says so with the flag GEN.  The queue then moves to the new ring
 * (sanx_rxq_move()), the reader follows (sanx_rxq_follow()), and the ring
 * before is freed.  Credits count all free room, before and after the move, so
 * a sender notices only that there is more room.
 *
 * link->tx_lock guards vc->ring, vc->next, vc->old, vc->rx_gen,
 * vc->granted_before, vc->first, vc->base and vc->began.  conn->rx_mutex guards
 * vc->mark, vc->marked and vc->full_rings.  vc->rwnd_limited has no lock: it is
 * a hint to the reader.  sanx_rxq_move() stores rx.in.buf with release, and
 * sanx_rxq_follow() loads it with acquire; sanx_rxq_follow() stores rx.out.buf
 * with release, and sanx_rxq_moving() loads it with acquire.
 *
 * The states of the rings:
 *
 *	ring		next			old
 *	-		-			-	at the start
 *	-		made, advertised	-	WINDOW is sent
 *	written		-			-	GEN has arrived
 *	written		made, advertised	-	WINDOW is sent
 *	written		-			read	GEN has arrived
 *	written		-			-	old was read to its end
 */
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>

#include "internal.h"

/*
 * In bytes.  A stream whose reader keeps up never fills its memory, but gains
 * from a ring.
 */
#define GROW_AFTER	(8 * SANX_RING_FIRST)
#define GROW_TIMES	4
/* Delay before memory for the first ring is requested again, in jiffies. */
#define GROW_AGAIN	HZ

static bool grow_publish(struct vconn *vc, struct vlink *link,
			 const struct vring *ring)
{
	const u32 never = VCONN_RELEASED | VCONN_SUSPENDED | VCONN_RESUMING |
			  VCONN_CLOSED | VCONN_OVER | VCONN_PEER_CLOSED;
	/*
	 * These frames describe vc->ring, which must not change while they are
	 * pending.
	 */
	const u32 first = VCONN_P_OPEN_ACK | VCONN_P_RESUME_ACK;
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = vc->link == link && link->state == VLINK_UP &&
	       !(vc->flags & never) && !(vc->pending & first);
	if (ours) {
		if (!vc->ring.buf)
			vc->began = ring->size;
		vc->next = *ring;
		vxmit_enable(vc);
		vxmit_pend(vc, VCONN_P_WINDOW);
	}
	vxmit_unlock(link);
	return ours;
}

/*
 * There will be no ring of conn->rx_max bytes, for lack of memory or because of
 * the device.  Lowers conn->rx_max, and wakes a reader that waits for more.
 */
static void grow_limit_max(struct sanx_conn *conn, u32 size)
{
	WRITE_ONCE(conn->rx_max, size);
	sanx_conn_rx_ready(conn);
}

/* Return: 0; -EAGAIN if the connection has no usable link now; -ENOMEM. */
static int grow_make(struct vconn *vc, u32 size)
{
	struct vlink *link = vconn_link_get(vc);
	struct vring ring = {};
	int err;

	if (!link)
		return -EAGAIN;
	size = min(size, vring_max(link));
	/*
	 * On iWARP the sender keeps all unread bytes, in a send buffer of that
	 * size: sndbuf.c.
	 */
	if (link->caps.early)
		size = min(size, VSNDBUF_EARLY);
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
		grow_limit_max(vconn_conn(vc), size);
	}
	vlink_user_put(link);
	return err;
}

static int grow_first(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	/* grow_limit_max() may have lowered rx_max. */
	u32 size = max3(conn->rx_max, sanx_conn_rcvbuf_set(conn),
			SANX_RING_MIN);
	int err;

	do {
		err = grow_make(vc, size);
		size /= 2;
	} while (err == -ENOMEM && size >= SANX_RING_MIN);
	if (err == -ENOMEM)
		grow_limit_max(conn, SANX_RING_FIRST);
	return err;
}

static int grow_larger(struct vconn *vc)
{
	u64 size = (u64)vc->ring.size * GROW_TIMES;

	return grow_make(vc, min_t(u64, size,
				   sanx_conn_rcvbuf(vconn_conn(vc))));
}

/*
 * vgrow_check() did nothing while VCONN_GROWING was set or vc->old existed, so
 * it is called again.  A connection that has to resume first is checked when it
 * has resumed.
 */
static void grow_ask_again(struct vconn *vc)
{
	const u32 later = VCONN_SUSPENDED | VCONN_RESUMING;
	const u32 never = VCONN_RELEASED | VCONN_OVER | VCONN_PEER_CLOSED;
	const u32 first = VCONN_P_OPEN_ACK | VCONN_P_RESUME_ACK;

	if (vc->link->state == VLINK_UP && !(vc->flags & (later | never)) &&
	    !(vc->pending & first))
		vgrow_check(vc, vconn_conn(vc)->rx.tail);
}

/* Decides when a failed attempt is repeated. */
static void grow_failed(struct vconn *vc, int err)
{
	const u32 over = VCONN_RELEASED | VCONN_OVER | VCONN_CLOSED |
			 VCONN_PEER_CLOSED | VCONN_FIN_RCVD;
	struct vlink *link;

	link = vconn_lock(vc);
	/* Without memory for the first ring, try again after GROW_AGAIN. */
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
 * Unmaps and frees vc->old.  The peer has said with GEN that it does not write
 * there any more; unmapping makes the device enforce it.  For a suspended or
 * RELEASED connection, vsuspend_take() or vconn_release() unmaps the ring, and
 * vgrow_one_ring(), vgrow_work() or vgrow_free() frees it later.
 */
static void grow_give_back(struct vconn *vc)
{
	const u32 theirs = VCONN_SUSPENDED | VCONN_RELEASED;
	struct vlink *user, *link;
	struct vring old = {};
	bool again;

	do {
		user = vconn_link_get(vc);
		link = vconn_lock(vc);
		/* The connection moved to another link in between. */
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
 * Follows to the new ring in the reader's stead.  A reader follows with its
 * next read, but the program need not read again.  A call may also hold
 * rx_mutex for an unbounded time without reading, so this only tries the mutex
 * and queues itself again.
 */
static void grow_follow(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct sanx_left left;

	if (!sanx_rxq_moving(&conn->rx))
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

/*
 * Is a ring to be made?  While VCONN_GROWING is set and vc->next exists, the
 * ring is made, and the peer may switch to it at any time (grow_next_gen()),
 * hence tx_lock.
 */
static bool grow_wanted(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);
	bool wanted = (vc->flags & VCONN_GROWING) && !vc->next.buf;

	spin_unlock_bh(&link->tx_lock);
	return wanted;
}

/**
 * vgrow_work() - make a connection's ring, or free the ring before
 * @work: vconn.grow; owns a reference of the connection, which this puts
 *
 * Context: process, may sleep; takes rx_mutex (trylock), tx_lock.
 */
void vgrow_work(struct work_struct *work)
{
	struct vconn *vc = container_of(to_delayed_work(work), struct vconn,
					grow);
	/* Spilled bytes of a block device may wait behind this: vconn_wq. */
	unsigned int noio = memalloc_noio_save();

	grow_follow(vc);
	if (READ_ONCE(vc->flags) & VCONN_LEFT)
		grow_give_back(vc);
	if (grow_wanted(vc))
		grow_ring(vc);
	memalloc_noio_restore(noio);
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
 * vgrow_check() - make a ring if the first memory is too small
 * @vc: an open connection
 * @tail: stream offset up to which bytes have arrived, or are about to arrive
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
	/*
	 * The ring before is still being freed.  grow_give_back() checks again.
	 */
	if (vc->old.buf)
		return;
	/*
	 * Not half full, credit left, and fewer than GROW_AFTER bytes so far.
	 */
	if (tail - READ_ONCE(q->head) <= SANX_RING_FIRST / 2 &&
	    tail != q->granted && tail - vc->base < GROW_AFTER)
		return;
	grow_queue(vc, VCONN_GROWING);
}

/*
 * Has the reader read a whole ring since vc->mark, and within grow_ms?  Starts
 * the next measurement when a whole ring was read.
 */
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
	WRITE_ONCE(vc->rwnd_limited, false);
	if (!fast)
		vc->full_rings = 0;
	return fast;
}

/**
 * vgrow_read() - bytes of a rwnd-limited sender were read
 * @vc: a connection with vc->rwnd_limited set
 *
 * Counts the rings that were read in time, and makes a larger ring after
 * GROW_TIMES of them in a row.
 *
 * Context: process, rx_mutex held; takes tx_lock.
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
	if (vc->ring.buf && !vc->old.buf && !sanx_rxq_moving(&conn->rx) &&
	    !vc->early && !(vc->flags & never) &&
	    vc->ring.size < sanx_conn_rcvbuf(conn))
		grow_queue(vc, VCONN_GROWING);
	spin_unlock_bh(&link->tx_lock);
}

/* The next generation: the peer writes vc->next from here on. */
static void grow_next_gen(struct vconn *vc)
{
	sanx_rxq_move(&vconn_conn(vc)->rx, vc->next.buf, vc->next.size);
	vc->old = vc->ring;
	vc->ring = vc->next;
	vc->next = (struct vring){};
	vc->flags &= ~(VCONN_WINDOW | VCONN_GROWING);
}

/**
 * vgrow_note_gen() - take note of the generation that the peer writes
 * @vc: an open connection
 * @f: a DATA or RETURN frame
 *
 * Context: softirq, tx_lock held.
 * Return: 0; -EPROTO if GEN has a new value and no ring was advertised.
 */
int vgrow_note_gen(struct vconn *vc, const struct sanx_frame *f)
{
	bool gen = f->flags & SANX_FRAME_F_GEN;

	if (gen == vc->rx_gen)
		return 0;
	if (!(vc->flags & VCONN_WINDOW))
		return -EPROTO;
	grow_next_gen(vc);
	vc->rx_gen = gen;
	return 0;
}

/**
 * vgrow_arrival() - check payload that is about to arrive
 * @vc: an open connection
 * @f: the DATA frame that describes it
 *
 * Has a ring made if the first memory is too small.
 *
 * Context: softirq, tx_lock held, before sanx_conn_arrive().
 * Return: 0; -EPROTO if the payload is in a ring that was not advertised, or
 * exceeds what was granted for that ring.
 */
int vgrow_arrival(struct vconn *vc, const struct sanx_frame *f)
{
	int err = vgrow_note_gen(vc, f);

	lockdep_assert_held(&vc->link->tx_lock);
	if (err)
		return err;
	/*
	 * The peer sent this before it received WINDOW, so it had no more
	 * credit than was granted before WINDOW.
	 */
	if (vc->flags & VCONN_WINDOW &&
	    f->count > vc->granted_before - f->offset)
		return -EPROTO;
	if (f->flags & SANX_FRAME_F_RING && !vc->ring.buf)
		return -EPROTO;
	if (f->flags & SANX_FRAME_F_FULL && vc->ring.buf)
		WRITE_ONCE(vc->rwnd_limited, true);
	vgrow_check(vc, f->offset + f->count);
	return 0;
}

/**
 * vgrow_advertised() - WINDOW is being sent: vc->next becomes the advertised
 * ring
 * @vc: a connection with a ring in vc->next
 *
 * Keeps the last credit that was granted before, and counts credits by the size
 * of the new ring from here on.
 *
 * Context: tx_lock held, before sanx_rxq_grant() for the frame.
 */
void vgrow_advertised(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);

	lockdep_assert_held(&vc->link->tx_lock);
	vc->pending &= ~VCONN_P_WINDOW;
	vc->flags |= VCONN_WINDOW;
	vc->granted_before = conn->rx.granted;
	WRITE_ONCE(conn->rx.size, vc->next.size);
	if (conn->rx_max < vc->next.size)
		WRITE_ONCE(conn->rx_max, vc->next.size);
}

/**
 * vgrow_left() - sanx_transport_ops.left
 * @conn: the connection
 * @left: the memory that the reader has left
 *
 * A ring is freed by the worker.  The memory that the connection started with
 * becomes vc->first again.
 *
 * Context: process, rx_mutex held; takes tx_lock.
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
 * vgrow_follow() - have the worker follow in the reader's stead
 * @vc: a connection whose queue has moved
 *
 * Context: tx_lock held.
 */
void vgrow_follow(struct vconn *vc)
{
	grow_queue(vc, 0);
}

/**
 * vgrow_one_ring() - reduce a suspended connection to one ring, for another
 * link
 * @vc: a suspended connection
 *
 * RESUME or RESUME_ACK will advertise the ring, and replaces every WINDOW of
 * the lost link.  A ring that was advertised becomes vc->ring.  A ring that was
 * not advertised is freed: the peer does not know it, and another device may
 * not be able to register one of its size.  GEN starts at 0 again.
 *
 * Context: process, vnet.lock held; takes tx_lock.
 */
void vgrow_one_ring(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);
	struct vring old = {}, unadvertised = {};

	if (vc->flags & VCONN_WINDOW)
		grow_next_gen(vc);
	if (vc->flags & VCONN_LEFT)
		swap(old, vc->old);
	swap(unadvertised, vc->next);
	if (unadvertised.buf)
		vc->flags &= ~VCONN_GROWING;
	vc->flags &= ~VCONN_LEFT;
	vc->pending &= ~VCONN_P_WINDOW;
	vc->rx_gen = false;
	if (vc->ring.buf)
		WRITE_ONCE(vconn_conn(vc)->rx.size, vc->ring.size);
	spin_unlock_bh(&link->tx_lock);
	vring_free(&unadvertised);
	vring_free(&old);
}

/**
 * vgrow_resumed() - a connection was attached to another link
 * @vc: an attached connection
 *
 * Context: process, may sleep; vnet.lock held; takes tx_lock.
 */
void vgrow_resumed(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vlink *link = vconn_lock(vc);
	bool early = vc->early;

	if (vc->flags & VCONN_LEFT)
		grow_queue(vc, VCONN_LEFT);
	spin_unlock_bh(&link->tx_lock);
	/*
	 * On iWARP the peer's send buffer has no more than this for unread
	 * bytes.
	 */
	if (early && READ_ONCE(conn->rx_max) > VSNDBUF_EARLY)
		grow_limit_max(conn, VSNDBUF_EARLY);
}

/**
 * vgrow_unmap() - end the device's access to all memory that the peer may write
 * @vc: a connection that is RELEASED, or suspended, or not yet on its new link
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
 * Return: true if vgrow_free() may sleep.
 */
bool vgrow_free_sleeps(const struct vconn *vc)
{
	return vring_free_sleeps(&vc->ring) || vring_free_sleeps(&vc->next) ||
	       vring_free_sleeps(&vc->old);
}

/**
 * vgrow_free() - free all rings of a connection
 * @vc: a connection without readers, its rings unmapped
 *
 * Context: any; process if vgrow_free_sleeps().
 */
void vgrow_free(struct vconn *vc)
{
	vring_free(&vc->ring);
	vring_free(&vc->next);
	vring_free(&vc->old);
}
