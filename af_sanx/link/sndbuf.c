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
 *	first		posted		end
 *	  | sent, may	  | not posted	 |
 *	  | be lost	  | yet		 |	free
 *
 * Bytes without room here are spilled behind vc->end: spill.c.
 *
 * The size is that of the peer's ring.  Without a ring it follows the bytes
 * that are about to be sent, and the size of the ring that there was before
 * memory was reclaimed (vc->returned_win).  SO_SNDBUF (vc->bound), or the
 * device and the memory that there was (vc->most), may make it less.  A larger
 * buffer replaces it only when it is empty, because a device may read it.  A
 * buffer that is too small and was full once takes no more bytes until it is
 * empty (vc->draining).
 *
 * A byte is kept until its write has completed.  iWARP completes work before
 * the peer has the bytes, which may then be lost with the link.  So there a
 * byte is kept until the peer's program has read it.  SO_SNDBUF does not count
 * there: credits, which tell what was read, come after up to SANX_CREDIT_MAX
 * bytes, so the size is VSNDBUF_EARLY, which is also the largest ring there.
 *
 * vc->sndbuf changes under conn->tx_mutex and link->tx_lock, and save_sndbuf()
 * makes a first one under tx_lock alone.  tx_lock guards vc->posted, vc->acked,
 * vc->unsignaled, vc->full, and changes of vc->end.
 */
#include <linux/log2.h>

#include "internal.h"

/*
 * Bytes while the peer has no ring; about what TCP takes on a new connection.
 */
#define SNDBUF_MIN	65536U
/* So a credit is due before the buffer is full. */
static_assert(VSNDBUF_EARLY - SANX_SLACK_MAX > SANX_CREDIT_MAX);

/**
 * vsndbuf_first() - stream offset of the first byte that the peer may not have
 * @vc: the connection
 *
 * Context: any.
 * Return: the stream offset.
 */
u64 vsndbuf_first(const struct vconn *vc)
{
	const struct sanx_conn *conn = vconn_conn((struct vconn *)vc);

	return vc->early ? max(READ_ONCE(conn->tx.read),
			       READ_ONCE(vc->peer_has)) :
			   READ_ONCE(vc->acked);
}

static u32 sndbuf_used(const struct vconn *vc)
{
	u64 first = vsndbuf_first(vc);

	/* Without tx_lock the two may be seen out of order. */
	return max_t(s64, READ_ONCE(vc->end) - first, 0);
}

/**
 * vsndbuf_size() - size that the send buffer should have
 * @vc: an attached connection, or a suspended one
 * @len: bytes that are about to be sent
 *
 * Context: any.
 * Return: bytes, a power of two.
 */
u32 vsndbuf_size(const struct vconn *vc, size_t len)
{
	u32 most = max(vconn_conn((struct vconn *)vc)->rx_max, SNDBUF_MIN);
	u32 size = READ_ONCE(vc->win.size);

	if (!size)
		size = clamp_t(size_t, roundup_pow_of_two(len ?: 1),
			       clamp(vc->returned_win.size, SNDBUF_MIN,
				     most), most);
	if (vc->early)
		size = VSNDBUF_EARLY;
	else
		size = min3(size, READ_ONCE(vc->bound), READ_ONCE(vc->most));
	/* Bytes that went in frames need room here if the link is lost. */
	return max_t(u32, size, roundup_pow_of_two(sndbuf_used(vc) + 1));
}

/* Should the send buffer be replaced by a larger one when it is empty? */
static bool sndbuf_outgrown(const struct vconn *vc)
{
	return READ_ONCE(vc->win.size) && !vc->early &&
	       vc->sndbuf.size < min3(READ_ONCE(vc->win.size),
				      READ_ONCE(vc->bound),
				      READ_ONCE(vc->most));
}

/* Bytes that the send buffer may hold. */
static u32 sndbuf_cap(const struct vconn *vc)
{
	if (!vc->sndbuf.buf)
		return vsndbuf_size(vc, 0);
	return vc->early ? vc->sndbuf.size :
			   min(vc->sndbuf.size, READ_ONCE(vc->bound));
}

/**
 * vsndbuf_bound() - read SO_SNDBUF into vc->bound
 * @vc: the connection
 *
 * Context: any.
 */
void vsndbuf_bound(struct vconn *vc)
{
	WRITE_ONCE(vc->bound, sanx_conn_sndbuf(vconn_conn(vc)));
}

/**
 * vsndbuf_room() - bytes that the send buffer takes now
 * @vc: the connection
 *
 * Context: any; exact under tx_mutex, else a hint.
 * Return: bytes, enough for any small message, or 0.  Without a send buffer,
 * what a new one would take.
 */
u32 vsndbuf_room(const struct vconn *vc)
{
	u32 used = sndbuf_used(vc), cap = sndbuf_cap(vc);

	if (used && READ_ONCE(vc->draining) && sndbuf_outgrown(vc))
		return 0;
	if (used + sanx_ring_slack(cap) > cap)
		return 0;
	return cap - used;
}

/**
 * vsndbuf_signal() - should the next frame request a completion?
 * @vc: the connection
 *
 * Each quarter of the buffer does, so that a completion is under way when there
 * is no room.  While a sender waits, each frame does.
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool vsndbuf_signal(const struct vconn *vc)
{
	return vc->full || vc->unsignaled >= sndbuf_cap(vc) / 4;
}

/**
 * vsndbuf_await() - have the sender woken when bytes have left the send buffer
 * @vc: an attached connection, or a suspended one
 *
 * Sends corked bytes.  sanx_conn_tx_ready() follows.
 *
 * Context: tx_lock held, and released with vxmit_unlock().
 */
void vsndbuf_await(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	vc->full = true;
	vxmit_uncork(vc);
	if (vc->sndbuf.buf && sndbuf_outgrown(vc))
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
 * vsndbuf_early_ok() - does the send buffer suffice for iWARP?
 * @vc: a connection
 *
 * Context: any.
 * Return: false if it could be full before the peer owes a credit.
 */
bool vsndbuf_early_ok(const struct vconn *vc)
{
	return !vc->sndbuf.buf || vc->sndbuf.size >= VSNDBUF_EARLY;
}

/* Can the send buffer stay?  It must if a device may read it. */
static bool sndbuf_good(const struct vconn *vc, size_t len)
{
	/* Pairs with the release in save_sndbuf(), for the size. */
	if (!smp_load_acquire(&vc->sndbuf.buf))
		return false;
	return vc->early || vc->sndbuf.size >= vsndbuf_size(vc, len) ||
	       sndbuf_used(vc) || READ_ONCE(vc->inflight);
}

/* Makes @ring the send buffer, and leaves the old one in it. */
static bool sndbuf_publish(struct vconn *vc, struct vlink *link,
			   struct vring *ring)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = vc->link == link && link->state == VLINK_UP &&
	       !(vc->flags & (VCONN_RELEASED | VCONN_SUSPENDED |
			      VCONN_RESUMING)) &&
	       (!vc->sndbuf.buf || !vc->inflight) &&
	       (!link->caps.early || ring->size >= VSNDBUF_EARLY);
	if (ours)
		swap(vc->sndbuf, *ring);
	spin_unlock_bh(&link->tx_lock);
	if (ours)
		sanx_reclaim_arm(vconn_conn(vc));
	return ours;
}

/**
 * vsndbuf_reclaim() - reclaim the send buffer, if it is empty
 * @vc: a connection
 *
 * Context: process, may sleep; tx_mutex held; takes tx_lock.
 * Return: true if there is a send buffer that cannot be freed now.
 */
bool vsndbuf_reclaim(struct vconn *vc)
{
	const u32 theirs = VCONN_RELEASED | VCONN_SUSPENDED | VCONN_RESUMING;
	struct vlink *user = vconn_link_get(vc), *link;
	struct vring ring = {};

	link = vconn_lock(vc);
	if (user == link && !(vc->flags & theirs) && !vc->inflight &&
	    !sndbuf_used(vc) && vc->posted == vc->end &&
	    !vc->spilled &&
	    list_empty(&vc->longs) && list_empty(&vc->reg)) {
		swap(vc->sndbuf, ring);
		WRITE_ONCE(vc->draining, false);
	}
	spin_unlock_bh(&link->tx_lock);
	vring_unmap(&ring);
	vring_free(&ring);
	if (user)
		vlink_user_put(user);
	return vc->sndbuf.buf;
}

/**
 * vsndbuf_make() - make a send buffer, or a larger one, if needed
 * @vc: an attached connection
 * @len: bytes that are about to be sent
 *
 * vconn_release() and vsuspend_take() may run at the same time, and unmap the
 * buffer that they find; sndbuf_publish() checks for them under tx_lock.  The
 * buffer is registered when the device reads it for the first time.
 *
 * Context: process, may sleep; tx_mutex held; takes tx_lock.
 * Return: 0; -ENOMEM; -EAGAIN if there is no link now, and sanx_conn_tx_ready()
 * or a reset follows.
 */
int vsndbuf_make(struct vconn *vc, size_t len)
{
	struct vring ring = {};
	struct vlink *link;
	u32 size;
	int err;

	if (vc->draining && !sndbuf_used(vc))
		WRITE_ONCE(vc->draining, false);
	if (likely(sndbuf_good(vc, len)))
		return 0;
	link = vconn_link_get(vc);
	if (!link)
		return vc->sndbuf.buf ? 0 : -EAGAIN;
	WRITE_ONCE(vc->most, vring_max(link));
	size = vsndbuf_size(vc, len);
	err = vring_alloc(&ring, size, vconn_conn(vc)->memcg, false);
	if (!err)
		err = vring_map(&ring, link, (u64)vc->id << 32);
	if (err)
		err = -ENOMEM;
	else if (!sndbuf_publish(vc, link, &ring))
		err = -EAGAIN;
	vring_unmap(&ring);
	vring_free(&ring);
	vlink_user_put(link);
	if (!vc->sndbuf.buf)
		return err;
	/* The smaller buffer suffices.  Do not try again for a larger one. */
	if (err == -ENOMEM)
		WRITE_ONCE(vc->most, vc->sndbuf.size);
	return 0;
}
