// SPDX-License-Identifier: GPL-2.0
/*
 * The send buffer of a connection.
 *
 * send() copies bytes here, unless they go at once in a frame (INLINE) or from
 * the program's pages (long.c).  They are sent in order, as the peer's window
 * and the link permit, also after the program has closed.  The device writes
 * from here into the peer's ring.  After the loss of a link, bytes that the
 * peer may not have are sent again from here.  The byte at stream offset o is
 * at o modulo the size, as in a ring.
 *
 *	acked		posted		announced	end
 *	  | sent, may	  | not posted	 | held back	 |
 *	  | be lost	  | yet		 | (hold.c)	 |	free
 *
 * Bytes without room here are spilled behind lc->end: spill.c.
 *
 * The size is that of the peer's ring.  Without a ring it follows the bytes
 * that are about to be sent, and the size of the ring that there was before
 * memory was reclaimed (txgen.left_win).  SO_SNDBUF (lc->sndbuf_user_max), or
 * the device and the memory that there was (lc->sndbuf_mem_max), may make it
 * less.  A larger buffer replaces it only when it is empty, because a device may
 * read it.  A buffer that is too small and was full once takes no more bytes
 * until it is empty (lc->draining).
 *
 * A byte is kept until it is acknowledged (ack.c).
 *
 * lc->sndbuf changes under conn->tx_mutex and link->tx_lock, and save_sndbuf()
 * makes a first one under tx_lock alone.  Without a link it is memory only, which the
 * next link maps (resume.c).  tx_lock guards lc->posted,
 * lc->announced, lc->acked, lc->unsignaled and lc->full.  tx_mutex guards
 * lc->end, or tx_lock while bytes are spilled.
 */
#include <linux/log2.h>

#include "internal.h"

/*
 * Bytes while the peer has no ring; about what TCP takes on a new connection.
 */
#define SNDBUF_MIN	65536U
/* Delay before a larger buffer is requested again, in jiffies. */
#define SNDBUF_AGAIN	HZ

static u32 sndbuf_used(const struct sanx_lconn *lc)
{
	u64 acked = READ_ONCE(lc->acked);

	/* Without tx_lock the two may be seen out of order. */
	return max_t(s64, READ_ONCE(lc->end) - acked, 0);
}

/**
 * sanx_sndbuf_size() - size that the send buffer should have
 * @lc: an attached connection, or a suspended one
 * @len: bytes that are about to be sent
 *
 * Context: any.
 * Return: bytes, a power of two.
 */
u32 sanx_sndbuf_size(const struct sanx_lconn *lc, size_t len)
{
	u32 most = max(lc->conn.rx_max, SNDBUF_MIN);
	u32 size = READ_ONCE(lc->txgen.win.size);

	if (!size)
		size = clamp_t(size_t, roundup_pow_of_two(len ?: 1),
			       clamp(lc->txgen.left_win.size, SNDBUF_MIN,
				     most), most);
	size = min3(size, READ_ONCE(lc->sndbuf_user_max), READ_ONCE(lc->sndbuf_mem_max));
	/* Bytes that went in frames need room here if the link is lost. */
	return max_t(u32, size, roundup_pow_of_two(sndbuf_used(lc) + 1));
}

/* Should the send buffer be replaced by a larger one when it is empty? */
static bool sndbuf_outgrown(const struct sanx_lconn *lc)
{
	return READ_ONCE(lc->txgen.win.size) &&
	       lc->sndbuf.size < min3(READ_ONCE(lc->txgen.win.size),
				      READ_ONCE(lc->sndbuf_user_max),
				      READ_ONCE(lc->sndbuf_mem_max));
}

/**
 * sanx_sndbuf_cap() - bytes that the send buffer may hold
 * @lc: the connection
 *
 * Context: any.
 * Return: bytes; without a send buffer, what a new one would hold.
 */
u32 sanx_sndbuf_cap(const struct sanx_lconn *lc)
{
	if (!lc->sndbuf.buf)
		return sanx_sndbuf_size(lc, 0);
	return min(lc->sndbuf.size, READ_ONCE(lc->sndbuf_user_max));
}

/**
 * sanx_sndbuf_share() - are some bytes a large share of the send buffer?
 * @lc: the connection
 * @bytes: the bytes
 * @share: 4 for a quarter of it, and so on
 *
 * No send buffer is smaller than the smallest ring, so requests and answers of a
 * few bytes need no look at its size.
 *
 * Context: any.
 * Return: true if they are as much as that, or more.
 */
bool sanx_sndbuf_share(const struct sanx_lconn *lc, u32 bytes, u32 share)
{
	return bytes >= SANX_RING_MIN / share &&
	       bytes >= sanx_sndbuf_cap(lc) / share;
}

/**
 * sanx_sndbuf_set_user_max() - read SO_SNDBUF into lc->sndbuf_user_max
 * @lc: the connection
 *
 * Context: any.
 */
void sanx_sndbuf_set_user_max(struct sanx_lconn *lc)
{
	WRITE_ONCE(lc->sndbuf_user_max, sanx_conn_sndbuf(&lc->conn));
}

/**
 * sanx_sndbuf_room() - bytes that the send buffer takes now
 * @lc: the connection
 *
 * Context: any; exact under tx_mutex, else a hint.
 * Return: bytes, enough for any small message, or 0.  Without a send buffer,
 * what a new one would take.
 */
u32 sanx_sndbuf_room(const struct sanx_lconn *lc)
{
	u32 used = sndbuf_used(lc), cap = sanx_sndbuf_cap(lc);

	if (used && READ_ONCE(lc->draining) && sndbuf_outgrown(lc))
		return 0;
	if (used + sanx_ring_slack(cap) > cap)
		return 0;
	return cap - used;
}

/**
 * sanx_sndbuf_signal() - should the next frame request a completion?
 * @lc: the connection
 *
 * Each quarter of the buffer does, so that a completion is under way when there
 * is no room.  While a sender waits, each frame does.
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool sanx_sndbuf_signal(const struct sanx_lconn *lc)
{
	return lc->full || sanx_sndbuf_share(lc, lc->unsignaled, 4);
}

/**
 * sanx_sndbuf_await() - have the sender woken when there is room, or the send
 * buffer is empty
 * @lc: an attached connection, or a suspended one
 *
 * sanx_conn_tx_ready() follows.
 *
 * Context: tx_lock held, and released with sanx_xmit_unlock().
 */
void sanx_sndbuf_await(struct sanx_lconn *lc)
{
	if (lc->sndbuf.buf && sndbuf_outgrown(lc))
		WRITE_ONCE(lc->draining, true);
	sanx_ack_await(lc);
}

/* Can the send buffer stay?  It must if a device may read it. */
static bool sndbuf_good(const struct sanx_lconn *lc, size_t len)
{
	/* Pairs with the release in sanx_sndbuf_first(), for the size. */
	if (!smp_load_acquire(&lc->sndbuf.buf))
		return false;
	return sndbuf_used(lc) || READ_ONCE(lc->inflight) ||
	       lc->sndbuf.size >= sanx_sndbuf_size(lc, len);
}

/*
 * Can a send buffer that is mapped for a link be taken?  While the connection resumes on
 * that link it can, if there is none yet.
 */
static bool sndbuf_fits(const struct sanx_lconn *lc, const struct sanx_link *link)
{
	if (lc->link != link || link->state != SANX_LINK_UP ||
	    sanx_lconn_is_over(&lc->state))
		return false;
	if (!lc->sndbuf.buf)
		return lc->state.phase != SANX_LCONN_SUSPENDED;
	return !sanx_lconn_is_lost(&lc->state) && !lc->inflight;
}

/* Makes @ring the send buffer, and leaves the old one in it. */
static bool sndbuf_publish(struct sanx_lconn *lc, struct sanx_link *link,
			   struct sanx_lring *ring)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = sndbuf_fits(lc, link);
	if (ours)
		swap(lc->sndbuf, *ring);
	spin_unlock_bh(&link->tx_lock);
	if (ours)
		sanx_reclaim_arm(&lc->conn);
	return ours;
}

/**
 * sanx_sndbuf_reclaim() - reclaim the send buffer, if it is empty
 * @lc: a connection
 *
 * Context: process, may sleep; tx_mutex held; takes tx_lock.
 * Return: true if there is a send buffer that cannot be freed now.
 */
bool sanx_sndbuf_reclaim(struct sanx_lconn *lc)
{
	struct sanx_link *user = sanx_lconn_link_get(lc), *link;
	struct sanx_lring ring = {};

	link = sanx_lconn_lock(lc);
	if (user == link && !sanx_lconn_is_over(&lc->state) &&
	    !sanx_lconn_is_lost(&lc->state) && !lc->inflight &&
	    !sndbuf_used(lc) && lc->posted == lc->end &&
	    !lc->spilled &&
	    list_empty(&lc->longs)) {
		swap(lc->sndbuf, ring);
		WRITE_ONCE(lc->draining, false);
	}
	spin_unlock_bh(&link->tx_lock);
	sanx_lring_unmap(&ring);
	sanx_lring_free(&ring);
	if (user)
		sanx_link_user_put(user);
	return lc->sndbuf.buf;
}

/**
 * sanx_sndbuf_alloc() - allocate memory for a send buffer, or a larger one
 * @lc: the connection; if it has no send buffer, less memory is better than none,
 *	and what it cannot go on without is not limited
 * @link: its link
 * @ring: gets the memory
 * @size: bytes, as sanx_sndbuf_size() says
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int sanx_sndbuf_alloc(struct sanx_lconn *lc, struct sanx_link *link,
		      struct sanx_lring *ring, u32 size)
{
	u32 least = roundup_pow_of_two(max_t(u32, sndbuf_used(lc) + 1, PAGE_SIZE));

	for (; size > least; size /= 2) {
		if (!sanx_lring_alloc(ring, size, lc, link, SANX_CLAIM_SNDBUF))
			return 0;
		if (lc->sndbuf.buf)
			return -ENOMEM;
	}
	return sanx_lring_alloc(ring, least, lc, link, SANX_CLAIM_LEAST);
}

/**
 * sanx_sndbuf_first() - give a connection a send buffer that is not mapped
 * @lc: the connection; nothing happens if it has one
 * @ring: memory for it; without any afterwards if it was taken
 *
 * Its next link maps it: resume_join().
 *
 * Context: tx_lock held; the wire of the link has stopped, or the link ends, or the
 * connection is suspended.
 */
void sanx_sndbuf_first(struct sanx_lconn *lc, struct sanx_lring *ring)
{
	lockdep_assert_held(&lc->link->tx_lock);
	if (lc->sndbuf.buf)
		return;
	lc->sndbuf.size = ring->size;
	lc->sndbuf.remote = ring->remote;
	lc->sndbuf.payer = ring->payer;
	/*
	 * Pairs with the acquire of lc->sndbuf.buf in sndbuf_good() and resume_map(): who
	 * sees the buffer sees its size.
	 */
	smp_store_release(&lc->sndbuf.buf, ring->buf);
	ring->buf = NULL;
	ring->payer = NULL;
}

/* Return: the current or last link, with a reference. */
static struct sanx_link *sndbuf_last_link(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	kref_get(&link->refs);
	spin_unlock_bh(&link->tx_lock);
	return link;
}

/*
 * Makes a send buffer while there is no link.  TCP takes what a program sends into an
 * empty send buffer, whatever has become of the path, and programs count on it: what
 * they send first on a non-blocking socket, some send without a poll().
 * Return: 0; -ENOMEM; or -EAGAIN if there is a link by now, or the connection ends.
 */
static int sndbuf_make_lost(struct sanx_lconn *lc, size_t len)
{
	struct sanx_link *link = sndbuf_last_link(lc);
	struct sanx_lring ring = {};
	int err;

	err = sanx_sndbuf_alloc(lc, link, &ring, sanx_sndbuf_size(lc, len));
	sanx_link_put(link);
	if (err)
		return err;
	link = sanx_lconn_lock(lc);
	if (!sanx_lconn_is_over(&lc->state) &&
	    (link->state != SANX_LINK_UP ||
	     lc->state.phase == SANX_LCONN_SUSPENDED))
		sanx_sndbuf_first(lc, &ring);
	spin_unlock_bh(&link->tx_lock);
	sanx_lring_free(&ring);
	if (!lc->sndbuf.buf)
		return -EAGAIN;
	sanx_reclaim_arm(&lc->conn);
	return 0;
}

/**
 * sanx_sndbuf_make() - make a send buffer, or a larger one, if needed
 * @lc: an attached connection, or a suspended one
 * @len: bytes that are about to be sent
 *
 * sanx_lconn_release() and sanx_suspend_take() may run at the same time, and
 * unmap the buffer that they find; sndbuf_publish() checks for them under
 * tx_lock.  The buffer is registered when the device reads it for the first
 * time.
 *
 * Context: process, may sleep; tx_mutex held; takes tx_lock.
 * Return: 0; -ENOMEM; -EAGAIN if a link has just come or gone, or the connection ends.
 */
int sanx_sndbuf_make(struct sanx_lconn *lc, size_t len)
{
	struct sanx_lring ring = {};
	struct sanx_link *link;
	bool lost;
	u32 size;
	int err;

	if (lc->draining && !sndbuf_used(lc))
		WRITE_ONCE(lc->draining, false);
	if (unlikely(lc->sndbuf_mem_until && time_after(jiffies, lc->sndbuf_mem_until))) {
		lc->sndbuf_mem_until = 0;
		WRITE_ONCE(lc->sndbuf_mem_max, SANX_RING_MAX);
	}
	if (likely(sndbuf_good(lc, len)))
		return 0;
	link = sanx_lconn_link_get(lc);
	if (!link)
		return lc->sndbuf.buf ? 0 : sndbuf_make_lost(lc, len);
	WRITE_ONCE(lc->sndbuf_mem_max, sanx_lring_max(link));
	size = sanx_sndbuf_size(lc, len);
	err = sanx_sndbuf_alloc(lc, link, &ring, size);
	if (!err)
		err = sanx_lring_map(&ring, link, (u64)lc->id << 32);
	if (err)
		err = -ENOMEM;
	else if (!sndbuf_publish(lc, link, &ring))
		err = -EAGAIN;
	sanx_lring_unmap(&ring);
	sanx_lring_free(&ring);
	lost = err == -EAGAIN || READ_ONCE(link->state) != SANX_LINK_UP;
	sanx_link_user_put(link);
	if (!lc->sndbuf.buf)
		return lost ? sndbuf_make_lost(lc, len) : err;
	/* The smaller buffer suffices.  Do not try again for a larger one too soon. */
	if (err == -ENOMEM) {
		WRITE_ONCE(lc->sndbuf_mem_max, lc->sndbuf.size);
		lc->sndbuf_mem_until = (jiffies + SNDBUF_AGAIN) | 1;
	}
	return 0;
}
