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
 * memory (sanx_lring_alloc_grown()).
 *
 * WINDOW advertises the new ring.  The sender writes it from its next payload
 * on, and says so with the flag GEN.  The queue then moves to the new ring
 * (sanx_rxq_move()), the reader follows (sanx_rxq_follow()), and the ring
 * before is freed.  Credits count all free room, before and after the move, so
 * a sender notices only that there is more room.
 *
 * link->tx_lock guards lc->ring, lc->next, lc->old, lc->rx_gen,
 * lc->granted_before, lc->first, lc->base and lc->began.  conn->rx_mutex guards
 * lc->mark, lc->marked and lc->full_rings.  lc->rwnd_limited has no lock: it is
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

static bool grow_publish(struct sanx_lconn *lc, struct sanx_link *link,
			 const struct sanx_lring *ring)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = lc->link == link && link->state == SANX_LINK_UP &&
	       sanx_lconn_is_open(&lc->state) && !sanx_lconn_is_done(&lc->state);
	if (ours) {
		if (!lc->ring.buf)
			lc->began = ring->size;
		lc->next = *ring;
		sanx_xmit_enable(lc);
		sanx_xmit_pend(lc, LCONN_P_WINDOW);
	}
	sanx_xmit_unlock(link);
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
static int grow_make(struct sanx_lconn *lc, u32 size)
{
	struct sanx_link *link = sanx_lconn_link_get(lc);
	struct sanx_lring ring = {};
	int err;

	if (!link)
		return -EAGAIN;
	size = min(size, sanx_lring_max(link));
	/*
	 * On iWARP the sender keeps all unread bytes, in a send buffer of that
	 * size: sndbuf.c.
	 */
	if (link->caps.early)
		size = min(size, SNDBUF_EARLY);
	if (!lc->ring.buf)
		err = sanx_lring_alloc(&ring, size, sanx_lconn_conn(lc)->memcg,
				       true);
	else if (size > lc->ring.size)
		err = sanx_lring_alloc_grown(&ring, size,
					     sanx_lconn_conn(lc)->memcg);
	else
		err = -ENOMEM;
	if (!err)
		err = sanx_lring_map(&ring, link, (u64)lc->id << 32);
	if (err)
		err = -ENOMEM;
	else if (!grow_publish(lc, link, &ring))
		err = -EAGAIN;
	if (err) {
		sanx_lring_unmap(&ring);
		sanx_lring_free(&ring);
	} else if (size < sanx_lconn_conn(lc)->rx_max) {
		grow_limit_max(sanx_lconn_conn(lc), size);
	}
	sanx_link_user_put(link);
	return err;
}

static int grow_first(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = sanx_lconn_conn(lc);
	/* grow_limit_max() may have lowered rx_max. */
	u32 size = max3(conn->rx_max, sanx_conn_rcvbuf_set(conn),
			SANX_RING_MIN);
	int err;

	do {
		err = grow_make(lc, size);
		size /= 2;
	} while (err == -ENOMEM && size >= SANX_RING_MIN);
	if (err == -ENOMEM)
		grow_limit_max(conn, SANX_RING_FIRST);
	return err;
}

static int grow_larger(struct sanx_lconn *lc)
{
	u64 size = (u64)lc->ring.size * GROW_TIMES;

	return grow_make(lc, min_t(u64, size,
				   sanx_conn_rcvbuf(sanx_lconn_conn(lc))));
}

/*
 * sanx_grow_check() did nothing while LCONN_GROWING was set or lc->old existed,
 * so it is called again.  A connection that has to resume first is checked when
 * it has resumed.
 */
static void grow_ask_again(struct sanx_lconn *lc)
{
	if (lc->link->state == SANX_LINK_UP && sanx_lconn_is_open(&lc->state) &&
	    lc->state.rx != SANX_LCONN_RX_CLOSED)
		sanx_grow_check(lc, sanx_lconn_conn(lc)->rx.tail);
}

/* Decides when a failed attempt is repeated. */
static void grow_failed(struct sanx_lconn *lc, int err)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	/* Without memory for the first ring, try again after GROW_AGAIN. */
	if (err == -ENOMEM && !lc->ring.buf && !sanx_lconn_is_done(&lc->state) &&
	    lc->state.rx == SANX_LCONN_RX_STREAM) {
		sanx_conn_get(sanx_lconn_conn(lc));
		if (!queue_delayed_work(sanx_lconn_wq, &lc->grow, GROW_AGAIN))
			sanx_conn_put(sanx_lconn_conn(lc));
		spin_unlock_bh(&link->tx_lock);
		return;
	}
	lc->flags &= ~LCONN_GROWING;
	grow_ask_again(lc);
	spin_unlock_bh(&link->tx_lock);
}

static void grow_ring(struct sanx_lconn *lc)
{
	int err = lc->ring.buf ? grow_larger(lc) : grow_first(lc);

	if (err)
		grow_failed(lc, err);
}

/*
 * Unmaps and frees lc->old.  The peer has said with GEN that it does not write
 * there any more; unmapping makes the device enforce it.  For a suspended or
 * RELEASED connection, sanx_suspend_take() or sanx_lconn_release() unmaps the
 * ring, and sanx_grow_one_ring(), sanx_grow_work() or sanx_grow_free() frees it
 * later.
 */
static void grow_give_back(struct sanx_lconn *lc)
{
	struct sanx_link *user, *link;
	struct sanx_lring old = {};
	bool again;

	do {
		user = sanx_lconn_link_get(lc);
		link = sanx_lconn_lock(lc);
		/* The connection moved to another link in between. */
		again = user && user != link;
		if (user == link && lc->flags & LCONN_LEFT &&
		    lc->state.phase != SANX_LCONN_SUSPENDED &&
		    lc->state.phase != SANX_LCONN_RELEASED) {
			swap(old, lc->old);
			lc->flags &= ~LCONN_LEFT;
			grow_ask_again(lc);
		}
		spin_unlock_bh(&link->tx_lock);
		sanx_lring_unmap(&old);
		sanx_lring_free(&old);
		if (user)
			sanx_link_user_put(user);
	} while (again);
}

/*
 * Follows to the new ring in the reader's stead.  A reader follows with its
 * next read, but the program need not read again.  A call may also hold
 * rx_mutex for an unbounded time without reading, so this only tries the mutex
 * and queues itself again.
 */
static void grow_follow(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = sanx_lconn_conn(lc);
	struct sanx_left left;

	if (!sanx_rxq_moving(&conn->rx))
		return;
	if (!mutex_trylock(&conn->rx_mutex)) {
		sanx_conn_get(conn);
		if (!queue_delayed_work(sanx_lconn_wq, &lc->grow, 1))
			sanx_conn_put(conn);
		return;
	}
	if (sanx_rxq_follow(&conn->rx, &left))
		sanx_grow_left(conn, &left);
	mutex_unlock(&conn->rx_mutex);
}

/*
 * Is a ring to be made?  While LCONN_GROWING is set and lc->next exists, the
 * ring is made, and the peer may switch to it at any time (grow_next_gen()),
 * hence tx_lock.
 */
static bool grow_wanted(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool wanted = (lc->flags & LCONN_GROWING) && !lc->next.buf;

	spin_unlock_bh(&link->tx_lock);
	return wanted;
}

/**
 * sanx_grow_work() - make a connection's ring, or free the ring before
 * @work: lconn.grow; owns a reference of the connection, which this puts
 *
 * Context: process, may sleep; takes rx_mutex (trylock), tx_lock.
 */
void sanx_grow_work(struct work_struct *work)
{
	struct sanx_lconn *lc = container_of(to_delayed_work(work),
					     struct sanx_lconn, grow);
	/*
	 * Spilled bytes of a block device may wait behind this: sanx_lconn_wq.
	 */
	unsigned int noio = memalloc_noio_save();

	grow_follow(lc);
	if (READ_ONCE(lc->flags) & LCONN_LEFT)
		grow_give_back(lc);
	if (grow_wanted(lc))
		grow_ring(lc);
	memalloc_noio_restore(noio);
	sanx_conn_put(sanx_lconn_conn(lc));
}

static void grow_queue(struct sanx_lconn *lc, u32 flag)
{
	lockdep_assert_held(&lc->link->tx_lock);
	lc->flags |= flag;
	sanx_conn_get(sanx_lconn_conn(lc));
	if (!queue_delayed_work(sanx_lconn_wq, &lc->grow, 0))
		sanx_conn_put(sanx_lconn_conn(lc));
}

/**
 * sanx_grow_check() - make a ring if the first memory is too small
 * @lc: an open connection
 * @tail: stream offset up to which bytes have arrived, or are about to arrive
 *
 * Context: tx_lock held.
 */
void sanx_grow_check(struct sanx_lconn *lc, u64 tail)
{
	struct sanx_conn *conn = sanx_lconn_conn(lc);
	const struct sanx_rxq *q = &conn->rx;

	lockdep_assert_held(&lc->link->tx_lock);
	if (lc->ring.buf || (lc->flags & LCONN_GROWING) ||
	    sanx_lconn_is_closed(&lc->state))
		return;
	/*
	 * The ring before is still being freed.  grow_give_back() checks again.
	 */
	if (lc->old.buf)
		return;
	/*
	 * Not half full, credit left, and fewer than GROW_AFTER bytes so far.
	 */
	if (tail - READ_ONCE(q->head) <= SANX_RING_FIRST / 2 &&
	    tail != q->granted && tail - lc->base < GROW_AFTER)
		return;
	grow_queue(lc, LCONN_GROWING);
}

/*
 * Has the reader read a whole ring since lc->mark, and within grow_ms?  Starts
 * the next measurement when a whole ring was read.
 */
static bool grow_in_flow(struct sanx_lconn *lc, u64 head)
{
	u64 now, most = (u64)READ_ONCE(grow_ms) * NSEC_PER_MSEC;
	bool fast;

	if (head - lc->mark < READ_ONCE(sanx_lconn_conn(lc)->rx.size))
		return false;
	now = local_clock();
	fast = now - lc->marked <= most && most;
	lc->mark = head;
	lc->marked = now;
	WRITE_ONCE(lc->rwnd_limited, false);
	if (!fast)
		lc->full_rings = 0;
	return fast;
}

/**
 * sanx_grow_read() - bytes of a rwnd-limited sender were read
 * @lc: a connection with lc->rwnd_limited set
 *
 * Counts the rings that were read in time, and makes a larger ring after
 * GROW_TIMES of them in a row.
 *
 * Context: process, rx_mutex held; takes tx_lock.
 */
void sanx_grow_read(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = sanx_lconn_conn(lc);
	struct sanx_link *link;

	if (!grow_in_flow(lc, conn->rx.head) ||
	    ++lc->full_rings < GROW_TIMES)
		return;
	lc->full_rings = 0;
	link = sanx_lconn_lock(lc);
	if (lc->ring.buf && !lc->old.buf && !sanx_rxq_moving(&conn->rx) &&
	    !lc->early && !(lc->flags & LCONN_GROWING) &&
	    lc->state.rx == SANX_LCONN_RX_STREAM &&
	    !sanx_lconn_is_closed(&lc->state) &&
	    lc->ring.size < sanx_conn_rcvbuf(conn))
		grow_queue(lc, LCONN_GROWING);
	spin_unlock_bh(&link->tx_lock);
}

/* The next generation: the peer writes lc->next from here on. */
static void grow_next_gen(struct sanx_lconn *lc)
{
	sanx_rxq_move(&sanx_lconn_conn(lc)->rx, lc->next.buf, lc->next.size);
	lc->old = lc->ring;
	lc->ring = lc->next;
	lc->next = (struct sanx_lring){};
	lc->flags &= ~(LCONN_WINDOW | LCONN_GROWING);
}

/**
 * sanx_grow_note_gen() - take note of the generation that the peer writes
 * @lc: an open connection
 * @f: a DATA or RETURN frame
 *
 * Context: softirq, tx_lock held.
 * Return: 0; -EPROTO if GEN has a new value and no ring was advertised.
 */
int sanx_grow_note_gen(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	bool gen = f->flags & SANX_FRAME_F_GEN;

	if (gen == lc->rx_gen)
		return 0;
	if (!(lc->flags & LCONN_WINDOW))
		return -EPROTO;
	grow_next_gen(lc);
	lc->rx_gen = gen;
	return 0;
}

/**
 * sanx_grow_arrival() - check payload that is about to arrive
 * @lc: an open connection
 * @f: the DATA frame that describes it
 *
 * Has a ring made if the first memory is too small.
 *
 * Context: softirq, tx_lock held, before sanx_conn_arrive().
 * Return: 0; -EPROTO if the payload is in a ring that was not advertised, or
 * exceeds what was granted for that ring.
 */
int sanx_grow_arrival(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	int err = sanx_grow_note_gen(lc, f);

	lockdep_assert_held(&lc->link->tx_lock);
	if (err)
		return err;
	/*
	 * The peer sent this before it received WINDOW, so it had no more
	 * credit than was granted before WINDOW.
	 */
	if (lc->flags & LCONN_WINDOW &&
	    f->count > lc->granted_before - f->offset)
		return -EPROTO;
	if (f->flags & SANX_FRAME_F_RING && !lc->ring.buf)
		return -EPROTO;
	if (f->flags & SANX_FRAME_F_FULL && lc->ring.buf)
		WRITE_ONCE(lc->rwnd_limited, true);
	sanx_grow_check(lc, f->offset + f->count);
	return 0;
}

/**
 * sanx_grow_advertised() - WINDOW is being sent: lc->next becomes the
 * advertised ring
 * @lc: a connection with a ring in lc->next
 *
 * Keeps the last credit that was granted before, and counts credits by the size
 * of the new ring from here on.
 *
 * Context: tx_lock held, before sanx_rxq_grant() for the frame.
 */
void sanx_grow_advertised(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = sanx_lconn_conn(lc);

	lockdep_assert_held(&lc->link->tx_lock);
	lc->pending &= ~LCONN_P_WINDOW;
	lc->flags |= LCONN_WINDOW;
	lc->granted_before = conn->rx.granted;
	WRITE_ONCE(conn->rx.size, lc->next.size);
	if (conn->rx_max < lc->next.size)
		WRITE_ONCE(conn->rx_max, lc->next.size);
}

/**
 * sanx_grow_left() - sanx_transport_ops.left
 * @conn: the connection
 * @left: the memory that the reader has left
 *
 * A ring is freed by the worker.  The memory that the connection started with
 * becomes lc->first again.
 *
 * Context: process, rx_mutex held; takes tx_lock.
 */
void sanx_grow_left(struct sanx_conn *conn, const struct sanx_left *left)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool first = left->buf != lc->old.buf;

	if (first)
		lc->first = left->buf;
	else
		grow_queue(lc, LCONN_LEFT);
	spin_unlock_bh(&link->tx_lock);
}

/**
 * sanx_grow_follow() - have the worker follow in the reader's stead
 * @lc: a connection whose queue has moved
 *
 * Context: tx_lock held.
 */
void sanx_grow_follow(struct sanx_lconn *lc)
{
	grow_queue(lc, 0);
}

/**
 * sanx_grow_one_ring() - reduce a suspended connection to one ring, for another
 * link
 * @lc: a suspended connection
 *
 * RESUME or RESUME_ACK will advertise the ring, and replaces every WINDOW of
 * the lost link.  A ring that was advertised becomes lc->ring.  A ring that was
 * not advertised is freed: the peer does not know it, and another device may
 * not be able to register one of its size.  GEN starts at 0 again.
 *
 * Context: process, lnet.lock held; takes tx_lock.
 */
void sanx_grow_one_ring(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct sanx_lring old = {}, unadvertised = {};

	if (lc->flags & LCONN_WINDOW)
		grow_next_gen(lc);
	if (lc->flags & LCONN_LEFT)
		swap(old, lc->old);
	swap(unadvertised, lc->next);
	if (unadvertised.buf)
		lc->flags &= ~LCONN_GROWING;
	lc->flags &= ~LCONN_LEFT;
	lc->pending &= ~LCONN_P_WINDOW;
	lc->rx_gen = false;
	if (lc->ring.buf)
		WRITE_ONCE(sanx_lconn_conn(lc)->rx.size, lc->ring.size);
	spin_unlock_bh(&link->tx_lock);
	sanx_lring_free(&unadvertised);
	sanx_lring_free(&old);
}

/**
 * sanx_grow_resumed() - a connection was attached to another link
 * @lc: an attached connection
 *
 * Context: process, may sleep; lnet.lock held; takes tx_lock.
 */
void sanx_grow_resumed(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = sanx_lconn_conn(lc);
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool early = lc->early;

	if (lc->flags & LCONN_LEFT)
		grow_queue(lc, LCONN_LEFT);
	spin_unlock_bh(&link->tx_lock);
	/*
	 * On iWARP the peer's send buffer has no more than this for unread
	 * bytes.
	 */
	if (early && READ_ONCE(conn->rx_max) > SNDBUF_EARLY)
		grow_limit_max(conn, SNDBUF_EARLY);
}

/**
 * sanx_grow_unmap() - end the device's access to all memory that the peer may
 * write
 * @lc: a connection that is RELEASED, or suspended, or not yet on its new link
 *
 * Context: process, may sleep.
 */
void sanx_grow_unmap(struct sanx_lconn *lc)
{
	sanx_lring_unmap(&lc->ring);
	sanx_lring_unmap(&lc->next);
	sanx_lring_unmap(&lc->old);
}

/**
 * sanx_grow_free_sleeps() - does sanx_grow_free() need to sleep?
 * @lc: a connection
 * Return: true if sanx_grow_free() may sleep.
 */
bool sanx_grow_free_sleeps(const struct sanx_lconn *lc)
{
	return sanx_lring_free_sleeps(&lc->ring) ||
	       sanx_lring_free_sleeps(&lc->next) ||
	       sanx_lring_free_sleeps(&lc->old);
}

/**
 * sanx_grow_free() - free all rings of a connection
 * @lc: a connection without readers, its rings unmapped
 *
 * Context: any; process if sanx_grow_free_sleeps().
 */
void sanx_grow_free(struct sanx_lconn *lc)
{
	sanx_lring_free(&lc->ring);
	sanx_lring_free(&lc->next);
	sanx_lring_free(&lc->old);
}
