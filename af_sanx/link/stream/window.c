// SPDX-License-Identifier: GPL-2.0
/*
 * The peer's ring: which window we may write, and when we leave it.
 *
 * lc->txgen (ringgen.h) has the generation that the peer has advertised last.
 *
 * Reclaim of ring memory: a connection that was idle for net.sanx.idle_ms gives
 * its memory back and is as it was at first.  The sender starts it, because a
 * receiver cannot revoke credit that it has granted.  The sender frees its send
 * buffer.  It sends LEAVE, which says that it does not write the peer's ring any
 * more, and reduces its credit to what a connection without a ring may send
 * (SANX_RING_FIRST).  The peer answers with a RING: no ring if it has read
 * everything, else the same ring.  Until then, credits, which are from before,
 * are ignored.
 *
 * link->tx_lock guards lc->txgen.
 */
#include "stream_priv.h"

/**
 * sanx_window_ok() - can we send to a connection of the peer?
 * @link: its link
 * @win: the peer's ring, or none
 *
 * Return: 0, or -EPROTO if it has no ring and accepts no payload in frames.
 */
int sanx_window_ok(const struct sanx_link *link,
		   const struct sanx_window_info *win)
{
	return win->size || link->inline_max ? 0 : -EPROTO;
}

/* What a stream may send beyond what was read, with a window or none. */
static u32 window_credit(const struct sanx_window_info *win)
{
	return win->size ?: SANX_RING_FIRST;
}

/* There is memory that sanx_window_reclaim() can give back later. */
static void window_arm(struct sanx_lconn *lc,
		       const struct sanx_window_info *win)
{
	if (win->size)
		sanx_reclaim_arm(&lc->conn);
}

/**
 * sanx_window_open() - take the window of OPEN or OPEN_ACK
 * @lc: the connection, not open yet
 * @win: the peer's ring, or none
 *
 * Context: tx_lock held, or nothing else uses @lc.
 */
void sanx_window_open(struct sanx_lconn *lc,
		      const struct sanx_window_info *win)
{
	sanx_txgen_init(&lc->txgen, win);
	sanx_txq_init(&lc->conn.tx, window_credit(win));
}

/*
 * The peer advertises a ring, or answers LEAVE.  tx_lock held.
 * Return: 0; -EPROTO if no correct peer sends this RING now.
 */
int sanx_window_ring(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_window_info win;
	u32 id;

	lockdep_assert_held(&lc->link->tx_lock);
	if (sanx_ring_parse(f, &id, &win) || id != lc->peer_id ||
	    sanx_txgen_ring(&lc->txgen, f->count, &win))
		return -EPROTO;
	lc->conn.tx.size = window_credit(&win);
	window_arm(lc, &win);
	return 0;
}

/*
 * Takes window and credit of RESUME or RESUME_ACK.  tx_lock held.
 * Return: 0; -EPROTO if no correct peer says that; -ECONNRESET as sanx_txq_resume().
 */
int sanx_window_resume(struct sanx_lconn *lc, const struct sanx_frame *f,
		       const struct sanx_window_info *win)
{
	int err;

	lockdep_assert_held(&lc->link->tx_lock);
	if (sanx_window_ok(lc->link, win) ||
	    sanx_txgen_resume(&lc->txgen, f->count, win))
		return -EPROTO;
	err = sanx_txq_resume(&lc->conn.tx, window_credit(win), f->credit,
			      f->offset);
	if (!err)
		window_arm(lc, win);
	return err;
}

static bool window_quiet(const struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	return sanx_lconn_is_open(&lc->state) &&
	       !sanx_lconn_is_done(&lc->state) &&
	       lc->state.tx == SANX_LCONN_TX_STREAM &&
	       !lc->pending && !lc->inflight && lc->acked == lc->end &&
	       lc->posted == lc->end;
}

/* Return: true if there is a window and it cannot be left now. */
static bool window_leave(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool more = false;

	/*
	 * Few frames request a completion, and an idle connection sends no more
	 * frames that would, nor does the peer grant anything.
	 */
	if ((lc->inflight || lc->acked != lc->posted) &&
	    (lc->txgen.win.size || !list_empty(&lc->chunks)))
		sanx_ack_ask(lc);
	/* Not if the peer accepts no payload in frames. */
	if (!lc->txgen.win.size || !link->inline_max)
		goto out;
	more = !window_quiet(lc) || !sanx_xmit_ok(link) ||
	       !sanx_txq_lower(&lc->conn.tx, SANX_RING_FIRST);
	if (!more)
		sanx_emit_leave(link, lc);
out:
	sanx_xmit_unlock(link);
	return more;
}

/**
 * sanx_window_reclaim() - sanx_transport_ops.reclaim
 * @conn: the connection
 *
 * Context: process, may sleep; takes tx_mutex (trylock), tx_lock.
 * Return: true if there is memory left that cannot be given back now.
 */
bool sanx_window_reclaim(struct sanx_conn *conn)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	bool more;

	/* A sender whose copy faults holds tx_mutex for an unbounded time. */
	if (!mutex_trylock(&conn->tx_mutex))
		return true;
	more = sanx_chunks_reclaim(lc);
	more |= window_leave(lc);
	mutex_unlock(&conn->tx_mutex);
	return more;
}
