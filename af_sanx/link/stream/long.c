// SPDX-License-Identifier: GPL-2.0
/*
 * LONG: the wire reads from the program's own pages (sci-socket.txt 5.3; the
 * zero-copy side of WSDLite's cut-off).
 *
 * A large send() that may block avoids the copy to the send buffer.  It lends
 * its pages to the device (lend.c) and returns when the peer has their bytes (ack.c), so
 * the program may reuse them afterwards.  If there is no memory to copy them when the link
 * is lost, the program waits on.  A program that is killed does not wait, and its pages stay
 * referenced until then.
 *
 * LONG is slower for few bytes: a copy overlaps with the device's work, and
 * LONG waits for an answer of the peer.  The cut-off is measured for
 * each link: the number of bytes that a copy moves in one round trip
 * (sanx_long_tune(), sanx_long_cutoff()).
 */
#include <linux/uio.h>

#include "stream_priv.h"

/*
 * Bytes.  For fewer, no measurement is reliable.  It is also more than
 * sanx_ring_slack(): a message that must not mix with those of other writers is
 * smaller, and is copied whole.
 */
#define LONG_LEAST	32768U
/*
 * No send() lends pages to a link that was silent for longer, in jiffies: it
 * might have to wait until the link is lost.
 */
#define LONG_HEARD	(3 * HZ / 2)
/* Bytes that sanx_long_tune() copies to measure how long it takes. */
#define LONG_SAMPLE	32768U

/*
 * Bytes that can be sent from a program's pages in one go.  tx_mutex held.
 * Return: bytes.
 */
size_t sanx_long_room(struct sanx_lconn *lc, const struct iov_iter *from)
{
	return min3(iov_iter_single_seg_count(from),
		    (size_t)sanx_sndbuf_room(lc),
		    (size_t)sanx_txq_room(&lc->conn.tx));
}

/* A link that rests has heard nothing for long, and has not asked either. */
static bool long_heard(const struct sanx_link *link)
{
	unsigned long heard = READ_ONCE(link->heard);

	return time_after_eq(heard, READ_ONCE(link->asked)) ||
	       time_before(jiffies, heard + LONG_HEARD);
}

/*
 * Should a send() lend its pages?  tx_mutex held.
 * Return: true if so; a hint, as sanx_long_send() may still find that it cannot.
 */
bool sanx_long_wants(struct sanx_lconn *lc, const struct iov_iter *from,
		     size_t len, int flags)
{
	const int never = MSG_OOB | MSG_DONTWAIT | MSG_MORE;
	struct sanx_link *link;
	bool wants;

	if (likely(len < LONG_LEAST) || (flags & never) ||
	    !user_backed_iter(from) ||
	    !READ_ONCE(lc->txgen.win.size) || lc->posted != lc->end)
		return false;
	rcu_read_lock();
	link = READ_ONCE(lc->link);
	wants = len >= sanx_long_cutoff(link) && sanx_xmit_ok(link) &&
		long_heard(link);
	rcu_read_unlock();
	return wants && sanx_long_room(lc, from) >= LONG_LEAST;
}

/*
 * Sends from the program's pages.  tx_mutex held.  Takes tx_lock.
 *
 * Moves conn->lent.  The core waits for the pages afterwards, with
 * sanx_long_wait() (sanx_transport_ops.wait_pages).
 *
 * Return: bytes that were sent; 0 if they have to be copied instead.
 */
size_t sanx_long_send(struct sanx_lconn *lc, struct iov_iter *from, size_t len)
{
	/* This may fault, so it comes before the link is used. */
	struct sanx_chunk *c = sanx_lend_pages(from, SANX_CHUNK_LONG, &len);
	struct sanx_link *link;
	u32 n = 0;

	if (!c)
		return 0;
	c->from = lc->end;
	link = sanx_lconn_link_get(lc);
	/* The connection may have moved since sanx_long_wants(). */
	if (link && link->caps.lend_max && !sanx_chunk_map(c, link))
		n = sanx_payload_long(lc, link, c, len);
	iov_iter_revert(from, len - n);
	/* Else the peer may have the bytes already, and @c be freed. */
	if (!n) {
		if (link)
			sanx_chunk_unmap(c, link);
		sanx_chunk_free(c);
	}
	if (link)
		sanx_link_user_put(link);
	return n;
}

/**
 * sanx_long_wait() - sanx_transport_ops.wait_pages
 * @conn: the connection
 * @to: stream offset up to which pages are waited for
 *
 * Returns early if the program is killed.
 *
 * Context: process, no lock held; sleeps; takes tx_lock.
 */
void sanx_long_wait(struct sanx_conn *conn, u64 to)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct sanx_chunk *c, *last = NULL;

	list_for_each_entry(c, &lc->chunks, node) {
		if (c->kind == SANX_CHUNK_LONG && c->from < to)
			last = c;
	}
	if (last)
		refcount_inc(&last->refs);
	spin_unlock_bh(&link->tx_lock);
	if (!last)
		return;
	wait_for_completion_killable(&last->done);
	sanx_chunk_put(last);
}

/**
 * sanx_long_cutoff() - smallest send() for which LONG pays on a link
 * @link: the link
 *
 * Context: any.
 * Return: bytes; U32_MAX for never.
 */
u32 sanx_long_cutoff(const struct sanx_link *link)
{
	u32 set = READ_ONCE(long_min);
	u64 ns = READ_ONCE(link->rtt_ns), copy = READ_ONCE(link->copy_ns);

	if (link->caps.lend_max < PAYLOAD_PIECE)
		return U32_MAX;
	if (set)
		return max(set, LONG_LEAST);
	if (!ns || !copy)
		return U32_MAX;
	return clamp_t(u64, div64_u64(ns * LONG_SAMPLE, copy), LONG_LEAST,
		       U32_MAX);
}

/**
 * sanx_long_tune() - measure how fast this node copies
 * @link: a link that is being set up
 *
 * The best of three copies counts.  The first one is slow, because nothing is
 * in the cache; a program has mostly just written the bytes that it sends.
 *
 * Context: process, may sleep.
 */
void sanx_long_tune(struct sanx_link *link)
{
	u8 *buf = kvmalloc(2 * LONG_SAMPLE, GFP_KERNEL | __GFP_ZERO);
	u64 start, ns, best = U64_MAX;
	int i;

	if (!buf)
		return;
	for (i = 0; i < 3; i++) {
		start = ktime_get_ns();
		memcpy(buf, buf + LONG_SAMPLE, LONG_SAMPLE);
		ns = ktime_get_ns() - start;
		best = min(best, ns);
		barrier_data(buf);
	}
	kvfree(buf);
	WRITE_ONCE(link->copy_ns, max(best, 1ULL));
}
