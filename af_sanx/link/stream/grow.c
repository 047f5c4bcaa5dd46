// SPDX-License-Identifier: GPL-2.0
/*
 * When a connection gets a ring, or a larger one, and of which size.
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
 * for which the sender wanted a larger one (F_FULL).  A slow reader needs no
 * larger ring.  There is a limit for the memory of all rings (SANX_CLAIM_GROWN).
 *
 * rings.c makes and advertises the ring.
 *
 * link->tx_lock guards lc->base and lc->began.  conn->rx_mutex guards lc->mark,
 * lc->marked and lc->full_rings.  lc->rwnd_limited has no lock: it is a hint to
 * the reader.
 */
#include <linux/sched/clock.h>

#include "stream_priv.h"

#define GROW_TIMES	4

/*
 * There will be no ring of conn->rx_max bytes.
 *
 * For lack of memory, or because of the device.  Lowers conn->rx_max, and wakes
 * a reader that waits for more.
 */
static void grow_limit(struct sanx_conn *conn, u32 size)
{
	WRITE_ONCE(conn->rx_max, size);
	sanx_conn_rx_ready(conn);
}

/* Return: 0; -EAGAIN if the connection has no usable link now; -ENOMEM. */
static int grow_make(struct sanx_lconn *lc, u32 size)
{
	struct sanx_link *link = sanx_lconn_link_get(lc);
	int err;

	if (!link)
		return -EAGAIN;
	size = min(size, sanx_lring_max(link));
	err = sanx_rings_make(lc, link, size);
	if (!err && size < lc->conn.rx_max)
		grow_limit(&lc->conn, size);
	sanx_link_user_put(link);
	return err;
}

static int grow_first(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	/* grow_limit() may have lowered rx_max. */
	u32 size = max3(conn->rx_max, sanx_conn_rcvbuf_set(conn),
			SANX_RING_MIN);
	int err;

	do {
		err = grow_make(lc, size);
		size /= 2;
	} while (err == -ENOMEM && size >= SANX_RING_MIN);
	if (err == -ENOMEM)
		grow_limit(conn, SANX_RING_FIRST);
	return err;
}

static int grow_larger(struct sanx_lconn *lc)
{
	u64 size = (u64)lc->ring.size * GROW_TIMES;

	return grow_make(lc, min_t(u64, size,
				   sanx_conn_rcvbuf(&lc->conn)));
}

/*
 * Makes a ring of the size that is right now.  Takes tx_lock.
 * Return: 0; -EAGAIN if the connection has no usable link now; -ENOMEM.
 */
int sanx_grow_ring(struct sanx_lconn *lc)
{
	return lc->ring.buf ? grow_larger(lc) : grow_first(lc);
}

/*
 * Payload is about to arrive.  tx_lock held.
 *
 * Has a ring made if the first memory is too small.
 */
void sanx_grow_arrival(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	if (f->flags & SANX_FRAME_F_FULL && lc->rxgen.active.size)
		WRITE_ONCE(lc->rwnd_limited, true);
	sanx_offer_check(lc, f->offset + f->count);
}

/*
 * Has the reader read a whole ring since lc->mark, and within grow_ms?  Starts
 * the next measurement when a whole ring was read.
 */
static bool grow_in_flow(struct sanx_lconn *lc, u64 head)
{
	u64 now, most = (u64)READ_ONCE(grow_ms) * NSEC_PER_MSEC;
	bool fast;

	if (head - lc->mark < READ_ONCE(lc->conn.rx.size))
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

/*
 * Bytes of a rwnd-limited sender were read.  rx_mutex held.  Takes tx_lock.
 *
 * Counts the rings that were read in time, and makes a larger ring after
 * GROW_TIMES of them in a row.
 */
void sanx_grow_read(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_link *link;

	if (!grow_in_flow(lc, conn->rx.head) ||
	    ++lc->full_rings < GROW_TIMES)
		return;
	lc->full_rings = 0;
	link = sanx_lconn_lock(lc);
	if (lc->rxgen.active.size &&
	    lc->state.rx == SANX_LCONN_RX_STREAM &&
	    !sanx_lconn_is_closed(&lc->state) &&
	    lc->rxgen.active.size < sanx_conn_rcvbuf(conn))
		sanx_offer_want(lc);
	spin_unlock_bh(&link->tx_lock);
}
