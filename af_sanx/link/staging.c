// SPDX-License-Identifier: GPL-2.0
/*
 * The send buffer of a connection (staging in the names here).
 *
 * send() copies bytes here, unless they go at once in a frame (INLINE) or from
 * the program's pages (long.c).  They are sent in order, as the peer's window
 * and the link permit, also after the program has closed.  The device writes
 * from here into the peer's ring.  After the loss of a link, bytes that the
 * peer may not have are sent again from here.  The byte at stream offset o is
 * at o modulo the size, as in a ring.
 *
 *	first		posted		end
 *	  | sent, may	  | not posted	 |
 *	  | be lost	  | yet		 |	free
 *
 * Bytes without room here are spilled behind vc->end: spill.c.
 *
 * The size is that of the peer's ring.  Without a ring it follows the bytes
 * that are about to be sent, and the size of the ring that there was before
 * memory was reclaimed (vc->kept).  SO_SNDBUF (vc->bound), or the device and
 * the memory that there was (vc->most), may make it less.  A larger buffer
 * replaces it only when it is empty, because a device may read it.  A buffer
 * that is too small and was full once takes no more bytes until it is empty
 * (vc->draining).
 *
 * A byte is kept until its write has completed.  iWARP completes work before
 * the peer has the bytes, which may then be lost with the link.  So there a
 * byte is kept until the peer's program has read it.  SO_SNDBUF does not count
 * there: credits, which tell what was read, come after up to SANX_CREDIT_MAX
 * bytes, so the size is VSTAGING_EARLY, which is also the largest ring there.
 *
 * vc->staging changes under conn->tx_mutex and link->tx_lock, and
 * save_staging() makes a first one under tx_lock alone.  tx_lock guards
 * vc->posted, vc->acked, vc->unsignaled, vc->full, and changes of vc->end.
 */
#include <linux/log2.h>

#include "internal.h"

/*
 * Bytes while the peer has no ring; about what TCP takes on a new connection.
 */
#define STAGING_MIN	65536U
/* So a credit is due before the buffer is full. */
static_assert(VSTAGING_EARLY - SANX_SLACK_MAX > SANX_CREDIT_MAX);

/**
 * vstaging_first() - stream offset of the first byte that the peer may not have
 * @vc: the connection
 *
 * Context: any.
 * Return: the stream offset.
 */
u64 vstaging_first(const struct vconn *vc)
{
	const struct sanx_conn *conn = vconn_conn((struct vconn *)vc);

	return vc->early ? max(READ_ONCE(conn->tx.read), READ_ONCE(vc->sure)) :
			   READ_ONCE(vc->acked);
}

static u32 staging_used(const struct vconn *vc)
{
	u64 first = vstaging_first(vc);

	/* Without tx_lock the two may be seen out of order. */
	return max_t(s64, READ_ONCE(vc->end) - first, 0);
}

/**
 * vstaging_size() - size that the send buffer should have
 * @vc: an attached connection, or a suspended one (orphan)
 * @len: bytes that are about to be sent
 *
 * Context: any.
 * Return: bytes, a power of two.
 */
u32 vstaging_size(const struct vconn *vc, size_t len)
{
	u32 most = max(vconn_conn((struct vconn *)vc)->rx_max, STAGING_MIN);
	u32 size = READ_ONCE(vc->win.size);

	if (!size)
		size = clamp_t(size_t, roundup_pow_of_two(len ?: 1),
			       clamp(vc->kept.size, STAGING_MIN, most), most);
	if (vc->early)
		size = VSTAGING_EARLY;
	else
		size = min3(size, READ_ONCE(vc->bound), READ_ONCE(vc->most));
	/* Bytes that went in frames need room here if the link is lost. */
	return max_t(u32, size, roundup_pow_of_two(staging_used(vc) + 1));
}

/* Should the send buffer be replaced by a larger one when it is empty? */
static bool staging_outgrown(const struct vconn *vc)
{
	return READ_ONCE(vc->win.size) && !vc->early &&
	       vc->staging.size < min3(READ_ONCE(vc->win.size),
				       READ_ONCE(vc->bound),
				       READ_ONCE(vc->most));
}

/* Bytes that the send buffer may hold. */
static u32 staging_cap(const struct vconn *vc)
{
	if (!vc->staging.buf)
		return vstaging_size(vc, 0);
	return vc->early ? vc->staging.size :
			   min(vc->staging.size, READ_ONCE(vc->bound));
}

/**
 * vstaging_bound() - read SO_SNDBUF into vc->bound
 * @vc: the connection
 *
 * Context: any.
 */
void vstaging_bound(struct vconn *vc)
{
	WRITE_ONCE(vc->bound, sanx_conn_sndbuf(vconn_conn(vc)));
}

/**
 * vstaging_room() - bytes that the send buffer takes now
 * @vc: the connection
 *
 * Context: any; exact under tx_mutex, else a hint.
 * Return: bytes, enough for any small message, or 0.  Without a send buffer,
 * what a new one would take.
 */
u32 vstaging_room(const struct vconn *vc)
{
	u32 used = staging_used(vc), cap = staging_cap(vc);

	if (used && READ_ONCE(vc->draining) && staging_outgrown(vc))
		return 0;
	if (used + sanx_ring_slack(cap) > cap)
		return 0;
	return cap - used;
}

/**
 * vstaging_signal() - should the next frame request a completion?
 * @vc: the connection
 *
 * Each quarter of the buffer does, so that a completion is under way when there
 * is no room.  While a sender waits, each frame does.
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool vstaging_signal(const struct vconn *vc)
{
	return vc->full || vc->unsignaled >= staging_cap(vc) / 4;
}

/**
 * vstaging_await() - have the sender woken when bytes have left the send buffer
 * @vc: an attached connection, or a suspended one
 *
 * Sends corked bytes.  sanx_conn_tx_ready() follows.
 *
 * Context: tx_lock held, and released with vxmit_unlock().
 */
void vstaging_await(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	vc->full = true;
	vxmit_uncork(vc);
	if (vc->staging.buf && staging_outgrown(vc))
		WRITE_ONCE(vc->draining, true);
	/*
	 * The frames in flight may have requested no completion.  A PONG, which
	 * is always signaled, completes them.
	 */
	if (vc->unsignaled) {
		vc->unsignaled = 0;
		vc->link->pong = true;
		vxmit_run(vc->link);
	}
}

/**
 * vstaging_early_ok() - does the send buffer suffice for iWARP?
 * @vc: a connection
 *
 * Context: any.
 * Return: false if it could be full before the peer owes a credit.
 */
bool vstaging_early_ok(const struct vconn *vc)
{
	return !vc->staging.buf || vc->staging.size >= VSTAGING_EARLY;
}

/* Can the send buffer stay?  It must if a device may read it. */
static bool staging_good(const struct vconn *vc, size_t len)
{
	/* Pairs with the release in save_staging(), for the size. */
	if (!smp_load_acquire(&vc->staging.buf))
		return false;
	return vc->early || vc->staging.size >= vstaging_size(vc, len) ||
	       staging_used(vc) || READ_ONCE(vc->inflight);
}

/* Makes @ring the send buffer, and leaves the old one in it. */
static bool staging_publish(struct vconn *vc, struct vlink *link,
			    struct vring *ring)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = vc->link == link && link->state == VLINK_UP &&
	       !(vc->flags & (VCONN_RELEASED | VCONN_ORPHAN |
			      VCONN_RESUMING)) &&
	       (!vc->staging.buf || !vc->inflight) &&
	       (!link->caps.early || ring->size >= VSTAGING_EARLY);
	if (ours)
		swap(vc->staging, *ring);
	spin_unlock_bh(&link->tx_lock);
	if (ours)
		sanx_trim_arm(vconn_conn(vc));
	return ours;
}

/**
 * vstaging_trim() - reclaim the send buffer, if it is empty
 * @vc: a connection
 *
 * Context: process, may sleep; tx_mutex held; takes tx_lock.
 * Return: true if there is a send buffer that cannot be freed now.
 */
bool vstaging_trim(struct vconn *vc)
{
	const u32 theirs = VCONN_RELEASED | VCONN_ORPHAN | VCONN_RESUMING;
	struct vlink *user = vconn_link_get(vc), *link;
	struct vring ring = {};

	link = vconn_lock(vc);
	if (user == link && !(vc->flags & theirs) && !vc->inflight &&
	    !staging_used(vc) && vc->posted == vc->end &&
	    !vc->spilled &&
	    list_empty(&vc->longs) && list_empty(&vc->reg)) {
		swap(vc->staging, ring);
		WRITE_ONCE(vc->draining, false);
	}
	spin_unlock_bh(&link->tx_lock);
	vring_unmap(&ring);
	vring_free(&ring);
	if (user)
		vlink_user_put(user);
	return vc->staging.buf;
}

/**
 * vstaging_make() - make a send buffer, or a larger one, if needed
 * @vc: an attached connection
 * @len: bytes that are about to be sent
 *
 * vconn_release() and vorphan_take() may run at the same time, and unmap the
 * buffer that they find; staging_publish() checks for them under tx_lock.  The
 * buffer is registered when the device reads it for the first time.
 *
 * Context: process, may sleep; tx_mutex held; takes tx_lock.
 * Return: 0; -ENOMEM; -EAGAIN if there is no link now, and sanx_conn_tx_ready()
 * or a reset follows.
 */
int vstaging_make(struct vconn *vc, size_t len)
{
	struct vring ring = {};
	struct vlink *link;
	u32 size;
	int err;

	if (vc->draining && !staging_used(vc))
		WRITE_ONCE(vc->draining, false);
	if (likely(staging_good(vc, len)))
		return 0;
	link = vconn_link_get(vc);
	if (!link)
		return vc->staging.buf ? 0 : -EAGAIN;
	WRITE_ONCE(vc->most, vring_max(link));
	size = vstaging_size(vc, len);
	err = vring_alloc(&ring, size, vconn_conn(vc)->memcg, false);
	if (!err)
		err = vring_map(&ring, link, (u64)vc->id << 32);
	if (err)
		err = -ENOMEM;
	else if (!staging_publish(vc, link, &ring))
		err = -EAGAIN;
	vring_unmap(&ring);
	vring_free(&ring);
	vlink_user_put(link);
	if (!vc->staging.buf)
		return err;
	/* The smaller buffer suffices.  Do not try again for a larger one. */
	if (err == -ENOMEM)
		WRITE_ONCE(vc->most, vc->staging.size);
	return 0;
}
