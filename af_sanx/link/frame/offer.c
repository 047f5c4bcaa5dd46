// SPDX-License-Identifier: GPL-2.0
/*
 * The ring that a connection offers to its peer: when it needs one, and which it advertises.
 * stream/rings.c makes it.
 */
#include "frame_priv.h"

/*
 * In bytes.  A stream whose reader keeps up never fills its memory, but gains
 * from a ring.
 */
#define GROW_AFTER	(8 * SANX_RING_FIRST)

/**
 * sanx_offer_queue() - have the worker see to the rings of a connection
 * @lc: the connection
 * @delay: in jiffies
 *
 * Context: any.
 */
void sanx_offer_queue(struct sanx_lconn *lc, unsigned long delay)
{
	sanx_conn_get(&lc->conn);
	if (!queue_delayed_work(sanx_lconn_wq, &lc->grow, delay))
		sanx_conn_put(&lc->conn);
}

/**
 * sanx_offer_size() - set the bytes that credits count
 * @lc: the connection
 * @gen: the generation that the peer was told last
 *
 * Context: tx_lock held.
 */
void sanx_offer_size(struct sanx_lconn *lc, const struct sanx_ringgen *gen)
{
	WRITE_ONCE(lc->conn.rx.size, gen->size ?: SANX_RING_FIRST);
}

/**
 * sanx_offer_want() - have the worker make a ring
 * @lc: a connection
 *
 * sanx_grow_ring() decides its size.  Does nothing while that is not possible;
 * sanx_offer_check() is called again then.
 *
 * Context: tx_lock held.
 */
void sanx_offer_want(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	if (sanx_rxgen_make(&lc->rxgen))
		sanx_offer_queue(lc, 0);
}

/*
 * A RING is about to be sent.  tx_lock held.
 *
 * Credits count by the size of the advertised ring from here on.
 *
 * Return: the ring to advertise; without memory if there is none.
 */
struct sanx_lring *sanx_offer_ring(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	const struct sanx_ringgen *gen;

	lockdep_assert_held(&lc->link->tx_lock);
	gen = sanx_rxgen_advertise(&lc->rxgen, conn->rx.granted);
	if (!sanx_rxgen_owes(&lc->rxgen))
		lc->pending &= ~LCONN_P_RING;
	if (gen == &lc->rxgen.active)
		return &lc->ring;
	sanx_offer_size(lc, gen);
	if (!lc->rxgen.active.size)
		lc->began = gen->size;
	if (conn->rx_max < gen->size)
		WRITE_ONCE(conn->rx_max, gen->size);
	return &lc->next;
}

/**
 * sanx_offer_check() - make a ring if the first memory is too small
 * @lc: an open connection
 * @tail: stream offset up to which bytes have arrived, or are about to arrive
 *
 * Context: tx_lock held.
 */
void sanx_offer_check(struct sanx_lconn *lc, u64 tail)
{
	const struct sanx_rxq *q = &lc->conn.rx;

	lockdep_assert_held(&lc->link->tx_lock);
	/* Behind the end of the stream nothing arrives. */
	if (lc->rxgen.active.size || lc->state.rx != SANX_LCONN_RX_STREAM ||
	    sanx_lconn_is_closed(&lc->state))
		return;
	/*
	 * Not half full, credit left, and fewer than GROW_AFTER bytes so far.
	 */
	if (tail - READ_ONCE(q->head) <= SANX_RING_FIRST / 2 &&
	    tail != q->granted && tail - lc->base < GROW_AFTER)
		return;
	sanx_offer_want(lc);
}
