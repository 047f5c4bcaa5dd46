// SPDX-License-Identifier: GPL-2.0
/*
 * Staging memory: what is on its way to the peer's ring.
 *
 * The device writes from there, and what the peer may not have when a link is
 * lost is sent again from there.  A byte at stream offset o lies at o modulo
 * the size, as in the ring.  The size is that of the peer's ring, or less if
 * SO_SNDBUF says so, or more if more went in frames before there was any.
 *
 * A byte is needed until its write has been completed.  On a device that
 * completes work before the peer has it (iWARP), and may lose it with the link,
 * that is until the peer's program has read it; so there SO_SNDBUF does not
 * count: credits, which tell of that, come by the quarter of a ring.
 */
#include <linux/log2.h>

#include "verbs.h"

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

	return vc->early ? READ_ONCE(conn->tx.read) : READ_ONCE(vc->acked);
}

static u32 staging_used(const struct vconn *vc)
{
	const struct sanx_conn *conn = vconn_conn((struct vconn *)vc);
	u64 first = vstaging_first(vc);

	return READ_ONCE(conn->tx.next) - first;
}

/* Bytes that may be in it; without it, of what is in frames. */
static u32 staging_cap(const struct vconn *vc)
{
	u32 cap = vc->staging.buf ? vc->staging.size :
				    READ_ONCE(vc->win.size) ?: SANX_RING_MIN;

	return vc->early ? cap : min(cap, READ_ONCE(vc->bound));
}

/**
 * vstaging_size() - how large it should be
 * @vc: an attached connection, or an orphan
 *
 * Context: process, tx_mutex held; or nothing is sent.
 * Return: bytes, a power of two.
 */
u32 vstaging_size(const struct vconn *vc)
{
	u32 size = READ_ONCE(vc->win.size) ?: SANX_RING_MIN;

	if (!vc->early)
		size = min(size, READ_ONCE(vc->bound));
	/* What went in frames before has to find its place, should it have to. */
	return max_t(u32, size, roundup_pow_of_two(staging_used(vc) ?: 1));
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
 * vstaging_room() - bytes that may be sent now
 * @vc: the connection
 *
 * Context: any.
 * Return: bytes; what the peer's window has room for is another matter.
 */
u32 vstaging_room(const struct vconn *vc)
{
	u32 used, cap;

	if (!vc->staging.buf)
		return U32_MAX;
	used = staging_used(vc);
	cap = staging_cap(vc);
	return cap - min(used, cap);
}

/**
 * vstaging_signal() - is it time to ask for a completion?
 * @vc: the connection
 *
 * A quarter: so that one is under way when there is no room.
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool vstaging_signal(const struct vconn *vc)
{
	return vc->unsignaled >= staging_cap(vc) / 4;
}

/**
 * vstaging_await() - wait for room
 * @vc: an attached connection
 *
 * Context: tx_lock held, and given back with vpost_unlock().
 * Return: true if there is none, and sanx_conn_tx_ready() will come; false if
 * there is some after all.
 */
bool vstaging_await(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	if (vstaging_room(vc))
		return false;
	vc->full = true;
	/* SO_SNDBUF is less than it was, maybe, and nothing asked for. */
	if (vc->unsignaled && !vc->early) {
		vc->unsignaled = 0;
		vc->link->pong = true;
		vpost_pump(vc->link);
	}
	return true;
}

/* Is there one that will do?  Where the device reads, it has to be empty. */
static bool staging_good(const struct vconn *vc)
{
	if (!vc->staging.buf)
		return false;
	return vc->staging.size >= vstaging_size(vc) ||
	       (!vc->early && (staging_used(vc) || READ_ONCE(vc->inflight)));
}

/*
 * Puts @ring in place, and leaves in it what was there before: nothing that a
 * device uses still, nor a registration that is under way.
 */
static bool staging_publish(struct vconn *vc, struct vlink *link,
			    struct vring *ring)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = vc->link == link && link->state == VLINK_UP &&
	       !(vc->flags & (VCONN_RELEASED | VCONN_ORPHAN |
			      VCONN_RESUMING)) &&
	       !(vc->pending & VCONN_P_REPLAY) &&
	       (!vc->staging.registered || !vc->inflight);
	if (ours) {
		swap(vc->staging, *ring);
		vpost_reg(vc);
		vpost_pump(link);
	}
	vpost_unlock(link);
	return ours;
}

/**
 * vstaging_make() - see to it that there is staging memory
 * @vc: an attached connection
 *
 * Beside vconn_release() and vorphan_take(), which unmap what they find.
 *
 * Context: process, tx_mutex held.
 * Return: 0, -ENOMEM, or -EAGAIN for no link now.
 */
int vstaging_make(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vring ring = {};
	struct vlink *link;
	int err;

	if (staging_good(vc))
		return 0;
	link = vconn_link_get(vc);
	if (!link)
		return -EAGAIN;
	err = vring_alloc(&ring, vstaging_size(vc), conn->memcg, false);
	if (!err)
		err = vring_map(&ring, link, (u64)vc->id << 32);
	if (err)
		err = -ENOMEM;
	else if (vc->early)
		vring_copy(&ring, &vc->staging, vstaging_first(vc),
			   conn->tx.next);
	if (!err && !staging_publish(vc, link, &ring))
		err = -EAGAIN;
	vring_unmap(&ring);
	vring_free(&ring);
	vlink_user_put(link);
	/* A small one does too. */
	return vc->staging.buf && !vc->early ? 0 : err;
}
