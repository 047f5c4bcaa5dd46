// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of a connection: makes, advertises, follows, unmaps and frees them.
 *
 * lc->rxgen (ringgen.h) says which memory is in which state, what the peer may
 * say, and what is owed to it.  This file does what lc->rxgen says:
 *
 *	lc->ring	memory of rxgen.active; none if that is lc->first
 *	lc->next	memory of rxgen.next, once it is MADE
 *	lc->old		memory of rxgen.old; none if that is lc->first
 *	lc->first	the memory that the connection starts with, and returns to
 *
 * The queue (conn->rx) moves with rxgen.active (sanx_rxq_move()), the reader
 * follows (sanx_rxq_follow()), and rxgen.old is then DRAINED.  A worker makes
 * rings, follows in place of a reader that does not read, and frees what is
 * DRAINED.  grow.c decides when a ring is made, and of which size.  Credits count
 * all free room, before and after a move, so a sender notices only that there is
 * more room.
 *
 * link->tx_lock guards lc->rxgen, lc->ring, lc->next and lc->old.
 * sanx_rxq_move() stores rx.in.buf with release, and sanx_rxq_follow() loads it
 * with acquire; sanx_rxq_follow() stores rx.out.buf with release, and
 * sanx_rxq_moving() loads it with acquire.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "config/cov.h"
#include "stream_priv.h"

/* Delay before memory for the first ring is requested again, in jiffies. */
#define RINGS_AGAIN	HZ

/* Allocates the memory that a connection starts with.  Return: 0 or -ENOMEM. */
int sanx_rings_init(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	struct mem_cgroup *memcg;

	memcg = set_active_memcg(conn->memcg);
	/* A peer must not be able to cause an OOM kill. */
	lc->first = kmalloc(SANX_RING_FIRST, GFP_KERNEL_ACCOUNT | __GFP_NOWARN |
					     __GFP_NORETRY);
	set_active_memcg(memcg);
	if (!lc->first)
		return -ENOMEM;
	sanx_rxgen_init(&lc->rxgen);
	sanx_rxq_init(&conn->rx, lc->first, SANX_RING_FIRST);
	return 0;
}

/* Moves memory and queue as lc->rxgen has moved. */
static void rings_move(struct sanx_lconn *lc, enum sanx_ringgen_move move)
{
	struct sanx_rxq *q = &lc->conn.rx;

	switch (move) {
	case SANX_RINGGEN_STAY:
		return;
	case SANX_RINGGEN_TO_NEXT:
		sanx_rxq_move(q, lc->next.buf, lc->next.size);
		lc->old = lc->ring;
		lc->ring = lc->next;
		lc->next = (struct sanx_lring){};
		return;
	case SANX_RINGGEN_TO_FIRST:
		sanx_rxq_move(q, lc->first, SANX_RING_FIRST);
		lc->old = lc->ring;
		lc->ring = (struct sanx_lring){};
		return;
	}
}

static bool rings_publish(struct sanx_lconn *lc, struct sanx_link *link,
			  const struct sanx_lring *ring)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = lc->link == link && link->state == SANX_LINK_UP &&
	       sanx_lconn_is_open(&lc->state) &&
	       !sanx_lconn_is_done(&lc->state) &&
	       sanx_rxgen_made(&lc->rxgen, ring->size);
	if (ours) {
		lc->next = *ring;
		sanx_xmit_pend(lc, LCONN_P_RING);
	}
	sanx_xmit_unlock(link);
	return ours;
}

/*
 * Makes a ring, and has it advertised.  Takes tx_lock.
 *
 * A ring that is not the first one is SANX_CLAIM_GROWN.
 *
 * Return: 0; -EAGAIN if the connection has no usable link now; -ENOMEM.
 */
int sanx_rings_make(struct sanx_lconn *lc, struct sanx_link *link, u32 size)
{
	struct sanx_lring ring = {};
	int err;

	if (!lc->ring.buf)
		err = sanx_lring_alloc(&ring, size, lc, link, SANX_CLAIM_RING);
	else if (size > lc->ring.size)
		err = sanx_lring_alloc(&ring, size, lc, link, SANX_CLAIM_GROWN);
	else
		err = -ENOMEM;
	if (!err)
		err = sanx_lring_map(&ring, link, (u64)lc->id << 32);
	if (err)
		err = -ENOMEM;
	else if (!rings_publish(lc, link, &ring))
		err = -EAGAIN;
	if (err) {
		sanx_lring_unmap(&ring);
		sanx_lring_free(&ring);
	}
	return err;
}

/*
 * Nothing was made while rxgen.next or rxgen.old was in use, so sanx_offer_check()
 * is called again.  A connection that has to resume first is checked when it has
 * resumed.
 */
static void rings_check_again(struct sanx_lconn *lc)
{
	if (lc->link->state == SANX_LINK_UP && sanx_lconn_is_open(&lc->state))
		sanx_offer_check(lc, lc->conn.rx.tail);
}

/* Decides when a failed attempt is repeated. */
static void rings_failed(struct sanx_lconn *lc, int err)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	/* Without memory for the first ring, try again after RINGS_AGAIN. */
	if (err == -ENOMEM && !lc->ring.buf && !sanx_lconn_is_done(&lc->state) &&
	    lc->state.rx == SANX_LCONN_RX_STREAM) {
		sanx_offer_queue(lc, RINGS_AGAIN);
	} else {
		sanx_rxgen_failed(&lc->rxgen);
		rings_check_again(lc);
	}
	spin_unlock_bh(&link->tx_lock);
}

/* Unmaps and frees rings that are in no use. */
static void rings_free(struct sanx_lring *ring)
{
	sanx_lring_unmap(ring);
	sanx_lring_free(ring);
}

/*
 * Frees lc->old once it is DRAINED.  The peer has said that it does not write
 * there any more; unmapping makes the device enforce it.  For a suspended or
 * RELEASED connection, sanx_suspend_take() or lconn_release() unmaps the
 * ring, and sanx_rings_drop(), sanx_rings_work() or sanx_rings_destroy() frees
 * it later.
 */
static void rings_free_old(struct sanx_lconn *lc)
{
	struct sanx_link *user, *link;
	struct sanx_lring old = {};
	bool again;

	do {
		user = sanx_lconn_link_get(lc);
		link = sanx_lconn_lock(lc);
		/* The connection moved to another link in between. */
		again = user && user != link;
		if (user == link && lc->state.phase != SANX_LCONN_SUSPENDED &&
		    lc->state.phase != SANX_LCONN_RELEASED &&
		    sanx_rxgen_free(&lc->rxgen)) {
			swap(old, lc->old);
			rings_check_again(lc);
		}
		spin_unlock_bh(&link->tx_lock);
		rings_free(&old);
		if (user)
			sanx_link_user_put(user);
	} while (again);
}

/*
 * Follows to the active generation in the reader's stead.  A reader follows with
 * its next read, but the program need not read again.  A call may also hold
 * rx_mutex for an unbounded time without reading, so this only tries the mutex
 * and queues itself again.
 */
static void rings_follow(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_left left;

	if (!sanx_rxq_moving(&conn->rx))
		return;
	if (!mutex_trylock(&conn->rx_mutex)) {
		sanx_offer_queue(lc, 1);
		return;
	}
	if (sanx_rxq_follow(&conn->rx, &left))
		sanx_rings_left(conn, &left);
	mutex_unlock(&conn->rx_mutex);
}

static bool rings_in(struct sanx_lconn *lc, const struct sanx_ringgen *gen,
		     enum sanx_ringgen_state state)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool is = gen->state == state;

	spin_unlock_bh(&link->tx_lock);
	return is;
}

/**
 * sanx_rings_work() - make a ring, or free one
 * @work: lconn.grow; owns a reference of the connection, which this puts
 *
 * Context: process, may sleep; takes rx_mutex (trylock), tx_lock.
 */
void sanx_rings_work(struct work_struct *work)
{
	struct sanx_lconn *lc = container_of(to_delayed_work(work),
					     struct sanx_lconn, grow);
	bool cov = sanx_cov_start(lc->conn.net);
	/*
	 * A block device may wait for the ring.
	 */
	unsigned int noio = memalloc_noio_save();
	int err;

	rings_follow(lc);
	if (rings_in(lc, &lc->rxgen.old, SANX_RINGGEN_DRAINED))
		rings_free_old(lc);
	if (rings_in(lc, &lc->rxgen.next, SANX_RINGGEN_MAKING)) {
		err = sanx_grow_ring(lc);
		if (err)
			rings_failed(lc, err);
	}
	memalloc_noio_restore(noio);
	sanx_conn_put(&lc->conn);
	sanx_cov_stop(cov);
}

/*
 * Checks payload that is about to arrive.  tx_lock held.
 * Return: 0; -EPROTO if the payload is in a ring that was not advertised, or exceeds what was
 * granted for the generation in @f.
 */
int sanx_rings_arrival(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	int move;

	lockdep_assert_held(&lc->link->tx_lock);
	move = sanx_rxgen_data(&lc->rxgen, f->flags >> SANX_FRAME_GEN_SHIFT,
			       f->offset + f->count,
			       f->flags & SANX_FRAME_F_IN_RING);
	if (move < 0)
		return move;
	if (move)
		rings_move(lc, move);
	return 0;
}

/* Begins with the memory of the start again. */
static void rings_begin_again(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;

	lc->base = conn->rx.tail;
	sanx_offer_size(lc, &lc->rxgen.active);
	/* The next ring need not be larger than the first one was. */
	if (conn->rx_max > lc->began)
		WRITE_ONCE(conn->rx_max, lc->began);
	/*
	 * Grant what the memory holds: tail equals head, so that is
	 * SANX_RING_FIRST.
	 */
	sanx_rxq_grant(&conn->rx);
}

/*
 * The peer leaves our ring.  tx_lock held, to be released by sanx_xmit_unlock().
 * Return: 0; -EPROTO if LEAVE is not permitted now, or its offset is wrong.
 */
int sanx_rings_leave(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	const struct sanx_rxq *q = &lc->conn.rx;
	int move;

	lockdep_assert_held(&lc->link->tx_lock);
	if (f->offset != q->tail)
		return -EPROTO;
	move = sanx_rxgen_leave(&lc->rxgen, f->count, f->offset,
				!sanx_rxq_avail(q));
	if (move < 0)
		return move;
	rings_move(lc, move);
	if (move == SANX_RINGGEN_TO_FIRST)
		rings_begin_again(lc);
	/*
	 * Have the worker follow, so that the ring before is freed, or a later
	 * LEAVE finds none before this one.
	 */
	if (lc->rxgen.old.state == SANX_RINGGEN_DRAINING)
		sanx_offer_queue(lc, 0);
	if (sanx_rxgen_owes(&lc->rxgen))
		sanx_xmit_pend(lc, LCONN_P_RING);
	return 0;
}

/**
 * sanx_rings_left() - sanx_transport_ops.left
 * @conn: the connection
 * @left: the memory that the reader has left
 *
 * A ring is freed by the worker.
 *
 * Context: process, rx_mutex held; takes tx_lock.
 */
void sanx_rings_left(struct sanx_conn *conn, const struct sanx_left *left)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);

	if (sanx_rxgen_drained(&lc->rxgen))
		sanx_offer_queue(lc, 0);
	spin_unlock_bh(&link->tx_lock);
}

/*
 * A connection is suspended.  tx_lock held.
 *
 * sanx_rings_unmap() and sanx_rings_drop() follow.
 */
void sanx_rings_lost(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	rings_move(lc, sanx_rxgen_lost(&lc->rxgen));
	sanx_offer_size(lc, &lc->rxgen.active);
}

/*
 * Frees rings that a suspended connection does not need.  lnet.lock held.  Takes tx_lock.
 *
 * These are a ring that was not advertised, and one that nobody uses any more.
 */
void sanx_rings_drop(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct sanx_lring next = {}, old = {};

	swap(next, lc->next);
	if (sanx_rxgen_free(&lc->rxgen))
		swap(old, lc->old);
	spin_unlock_bh(&link->tx_lock);
	sanx_lring_free(&next);
	sanx_lring_free(&old);
}

/*
 * Maps the ring of a suspended connection for another link.  lnet.lock held.
 *
 * RESUME or RESUME_ACK will advertise it.
 */
int sanx_rings_map(struct sanx_lconn *lc, struct sanx_link *link)
{
	if (!lc->ring.buf)
		return 0;
	return sanx_lring_map(&lc->ring, link, (u64)lc->id << 32);
}

/* A connection was attached to another link.  lnet.lock held.  Takes tx_lock. */
void sanx_rings_resumed(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	/* The reader left it while the connection was suspended. */
	if (lc->rxgen.old.state == SANX_RINGGEN_DRAINED)
		sanx_offer_queue(lc, 0);
	spin_unlock_bh(&link->tx_lock);
}

/**
 * sanx_rings_unmap() - end the device's access to all memory that the peer may
 * write
 * @lc: a connection that is RELEASED, or suspended, or not yet on its new link
 *
 * Context: process, may sleep.
 */
void sanx_rings_unmap(struct sanx_lconn *lc)
{
	sanx_lring_unmap(&lc->ring);
	sanx_lring_unmap(&lc->next);
	sanx_lring_unmap(&lc->old);
}

/*
 * Does sanx_rings_destroy() need to sleep?
 * Return: true if sanx_rings_destroy() may sleep.
 */
bool sanx_rings_destroy_sleeps(const struct sanx_lconn *lc)
{
	return sanx_lring_free_sleeps(&lc->ring) ||
	       sanx_lring_free_sleeps(&lc->next) ||
	       sanx_lring_free_sleeps(&lc->old);
}

/**
 * sanx_rings_destroy() - free all memory that the peer's bytes were stored in
 * @lc: a connection without readers, its rings unmapped
 *
 * Context: any; process if sanx_rings_destroy_sleeps().
 */
void sanx_rings_destroy(struct sanx_lconn *lc)
{
	sanx_lring_free(&lc->ring);
	sanx_lring_free(&lc->next);
	sanx_lring_free(&lc->old);
	kfree(lc->first);
	lc->first = NULL;
	sanx_rxq_init(&lc->conn.rx, NULL, 0);
}
