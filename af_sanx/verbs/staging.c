// SPDX-License-Identifier: GPL-2.0
/*
 * Staging memory: the send buffer of a connection.
 *
 * What send() takes is put here, unless it goes at once in a frame of its own
 * (INLINE), and is on its way from here: in order, as the peer's window and the
 * link permit, also when the program has closed.  The device writes from here
 * into the peer's ring, and what the peer may not have when a link is lost is
 * sent again from here.  A byte at stream offset o lies at o modulo the size, as
 * in the ring.
 *
 *	first		posted		end
 *	  | not known	  | not given	 |
 *	  | to be there	  | to the link	 |	free
 *
 * What there is no room for here is spilled behind @end: spill.c.
 *
 * The size is that of the peer's ring, as soon as there is one, and before it
 * what is to be sent, or that of the ring that was there before the connection
 * rested; or less if SO_SNDBUF says so.  It is replaced by a larger
 * one only when it is empty, as a device may read what is there; and once it was
 * full, nothing more is taken until then.
 *
 * A byte is needed until its write has been completed.  On a device that
 * completes work before the peer has it (iWARP), and may lose it with the link,
 * that is until the peer's program has read it; so there SO_SNDBUF does not
 * count: credits, which tell of that, come by SANX_CREDIT_MAX bytes at most, and it
 * has VSTAGING_EARLY, which is also as large as rings are made there.
 */
#include <linux/log2.h>

#include "verbs.h"

/* Before the peer has a ring; about what TCP takes on a new connection. */
#define STAGING_MIN	65536U
/* Then a credit is due before it is full. */
static_assert(VSTAGING_EARLY - SANX_SLACK_MAX > SANX_CREDIT_MAX);

/**
 * vstaging_first() - what the peer may not have begins here
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

	/* Who looks without the lock may see them out of order. */
	return max_t(s64, READ_ONCE(vc->end) - first, 0);
}

/**
 * vstaging_size() - how large it should be
 * @vc: an attached connection, or an orphan
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
	/* What went in frames before has to find its place, should it have to. */
	return max_t(u32, size, roundup_pow_of_two(staging_used(vc) + 1));
}

/* Is there one that should be larger, and will be when it is empty? */
static bool staging_outgrown(const struct vconn *vc)
{
	return READ_ONCE(vc->win.size) && !vc->early &&
	       vc->staging.size < min3(READ_ONCE(vc->win.size),
				       READ_ONCE(vc->bound),
				       READ_ONCE(vc->most));
}

/* Bytes that may be in it. */
static u32 staging_cap(const struct vconn *vc)
{
	if (!vc->staging.buf)
		return vstaging_size(vc, 0);
	return vc->early ? vc->staging.size :
			   min(vc->staging.size, READ_ONCE(vc->bound));
}

/**
 * vstaging_bound() - see what SO_SNDBUF says now
 * @vc: the connection
 *
 * Context: any.
 */
void vstaging_bound(struct vconn *vc)
{
	WRITE_ONCE(vc->bound, sanx_conn_sndbuf(vconn_conn(vc)));
}

/**
 * vstaging_room() - bytes that it takes now
 * @vc: the connection
 *
 * Context: any; exact under tx_mutex, else a moment's estimate.
 * Return: bytes, enough for any small message; without staging memory, what it
 * would take; or 0.
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
 * vstaging_signal() - is it time to ask for a completion?
 * @vc: the connection
 *
 * A quarter: so that one is under way when there is no room; and whenever
 * someone waits.
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool vstaging_signal(const struct vconn *vc)
{
	return vc->full || vc->unsignaled >= staging_cap(vc) / 4;
}

/**
 * vstaging_await() - wait until something has left it
 * @vc: an attached connection, or an orphan
 *
 * Context: tx_lock held, and given back with vxmit_unlock();
 * sanx_conn_tx_ready() will come.
 */
void vstaging_await(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	vc->full = true;
	vxmit_uncork(vc);
	if (vc->staging.buf && staging_outgrown(vc))
		WRITE_ONCE(vc->draining, true);
	/* Less than a quarter is under way, maybe, and nothing asked for. */
	if (vc->unsignaled) {
		vc->unsignaled = 0;
		vc->link->pong = true;
		vxmit_run(vc->link);
	}
}

/**
 * vstaging_early_ok() - does it do on a device that completes work early?
 * @vc: a connection
 *
 * Context: any.
 * Return: false if it could be full, and the peer not say that it was read.
 */
bool vstaging_early_ok(const struct vconn *vc)
{
	return !vc->staging.buf || vc->staging.size >= VSTAGING_EARLY;
}

/* Is there one that will do?  Where a device may read, it has to. */
static bool staging_good(const struct vconn *vc, size_t len)
{
	/* Pairs with the release in save_staging(). */
	if (!smp_load_acquire(&vc->staging.buf))
		return false;
	return vc->early || vc->staging.size >= vstaging_size(vc, len) ||
	       staging_used(vc) || READ_ONCE(vc->inflight);
}

/* Puts @ring in place, and leaves in it what was there before. */
static bool staging_publish(struct vconn *vc, struct vlink *link,
			    struct vring *ring)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = vc->link == link && link->state == VLINK_UP &&
	       !(vc->flags & (VCONN_RELEASED | VCONN_ORPHAN |
			      VCONN_RESUMING)) &&
	       (!vc->staging.buf || !vc->inflight) &&
	       (!link->early || ring->size >= VSTAGING_EARLY);
	if (ours)
		swap(vc->staging, *ring);
	spin_unlock_bh(&link->tx_lock);
	if (ours)
		sanx_trim_arm(vconn_conn(vc));
	return ours;
}

/**
 * vstaging_trim() - give it back, if there is nothing in it
 * @vc: a connection
 *
 * Context: process, tx_mutex held.
 * Return: true if there is some, and it cannot be now.
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
 * vstaging_make() - see to it that there is staging memory
 * @vc: an attached connection
 * @len: bytes that are about to be sent
 *
 * Beside vconn_release() and vorphan_take(), which unmap what they find.  It is
 * registered when the device is first to read it.
 *
 * Context: process, tx_mutex held.
 * Return: 0, -ENOMEM, or -EAGAIN for no link now: then sanx_conn_tx_ready()
 * will come, or a reset.
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
	/* A small one does too. */
	if (err == -ENOMEM)
		WRITE_ONCE(vc->most, vc->staging.size);
	return 0;
}
