// SPDX-License-Identifier: GPL-2.0
/*
 * Suspended connections: connections whose link was lost.
 *
 * A program notices nothing when a cable is cut or a peer falls silent, as with
 * TCP.  Its data waits, and the connection ends by keepalive, by
 * TCP_USER_TIMEOUT, or after as many retries as TCP would make.  So the
 * connections of a lost link (vlink.err is ETIMEDOUT) are suspended.  A
 * suspended connection keeps its id, its rings, and the payload that the peer
 * may not have.  It gives back everything that belongs to a device.  Both nodes
 * try for a new link while they have suspended connections, and continue them
 * there: resume.c.
 *
 * A suspended connection ends early if the peer turns out to have forgotten it.
 * The peer has started anew (another instance in its hello), refuses a link,
 * has no AF_SANX any more, does not know the connection, or has a link and does
 * not ask for a connection that it opened.
 *
 * vnet.lock guards vgroup.suspended, .n_suspended, .tries, .resumed and
 * .presence, and vconn.wait, .lost and .parked.  VCONN_SUSPENDED is set under
 * link->tx_lock.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "internal.h"

/*
 * How long a connection that its program has closed waits for a link, in
 * jiffies.  TCP limits this by its retries.
 */
#define CLOSED_MAX	(60 * HZ)
/* How long an acceptor waits for the connector's RESUME, in jiffies. */
#define RESUME_MAX	(10 * HZ)
/*
 * How long links may be rejected for want of AF_SANX, in jiffies: presence.h.
 */
#define ABSENT_MAX	(5 * HZ)
/* Delay between attempts at a link, in jiffies. */
#define TRY_FIRST	(HZ / 4)
#define TRY_MAX		(5 * HZ)

/*
 * Makes a send buffer for a connection without one.  Payload that was sent in
 * frames is copied there, as if it had been sent from there.  Without memory
 * the connection becomes RESET, and so ends with its link.
 */
static void save_sndbuf(struct vlink *link, struct vconn *vc)
{
	struct vring ring = {};
	int err;

	err = vring_alloc(&ring, vsndbuf_size(vc, 0), vconn_conn(vc)->memcg,
			  false);
	spin_lock_bh(&link->tx_lock);
	if (err) {
		vc->flags |= VCONN_RESET;
	} else if (!vc->sndbuf.buf) {
		vc->sndbuf.size = ring.size;
		vc->sndbuf.remote = ring.remote;
		/*
		 * Pairs with the acquire of vc->sndbuf.buf in sndbuf_good(): a
		 * sender that sees the buffer sees its size.
		 */
		smp_store_release(&vc->sndbuf.buf, ring.buf);
		ring.buf = NULL;
	}
	spin_unlock_bh(&link->tx_lock);
	vring_free(&ring);
}

static bool save_wants_sndbuf(const struct vlink *link,
			      const struct vslot *slot)
{
	return link->err == ETIMEDOUT && slot->vc && slot->len &&
	       !slot->vc->sndbuf.buf && !(slot->vc->flags & VCONN_RESET);
}

/*
 * Copies payload of a frame to the send buffer, but no byte before
 * vsndbuf_first(): the peer has those, and the position of such a byte may hold
 * a later one.
 */
static void save_payload(struct vconn *vc, const struct vslot *slot)
{
	const void *data = slot->buf + sizeof(struct sanx_frame_hdr);
	u64 from = max(slot->end - slot->len, vsndbuf_first(vc));

	if (slot->len && from < slot->end)
		vring_keep(&vc->sndbuf, from,
			   data + slot->len - (slot->end - from),
			   slot->end - from);
}

static void save_slot(struct vlink *link, struct vslot *slot)
{
	struct vconn *vc = slot->vc;

	list_move(&slot->node, &link->free);
	slot->posted = false;
	slot->vc = NULL;
	if (!vc)
		return;
	vc->inflight--;
	save_payload(vc, slot);
}

/**
 * vsuspend_save() - keep payload that the peer may not have received
 * @link: a link whose wire has stopped
 *
 * Afterwards all slots are free, and the payload of frames that were not
 * completed is in the send buffers of their connections.
 *
 * Context: process, may sleep; takes tx_lock.
 */
void vsuspend_save(struct vlink *link)
{
	struct vslot *slot;
	struct vconn *vc;

	spin_lock_bh(&link->tx_lock);
	while (!list_empty(&link->posted)) {
		slot = list_first_entry(&link->posted, struct vslot, node);
		if (!save_wants_sndbuf(link, slot)) {
			save_slot(link, slot);
			continue;
		}
		/*
		 * vc->inflight is not 0, so the connection stays attached
		 * without tx_lock.
		 */
		vc = slot->vc;
		spin_unlock_bh(&link->tx_lock);
		save_sndbuf(link, vc);
		spin_lock_bh(&link->tx_lock);
	}
	spin_unlock_bh(&link->tx_lock);
}

/* FIN and CLOSE may be lost with the link, so they are sent again. */
static void suspend_pend_again(struct vconn *vc)
{
	vc->pending &= VCONN_P_FIN | VCONN_P_CLOSE;
	if (vc->flags & VCONN_FIN_SENT)
		vc->pending |= VCONN_P_FIN;
	if (vc->flags & VCONN_CLOSED)
		vc->pending |= VCONN_P_CLOSE;
}

static bool suspend_detach(struct vconn *vc, struct vlink *link)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = !(vc->flags & VCONN_RELEASED) && vconn_survives(vc);
	if (ours) {
		vc->flags |= VCONN_SUSPENDED;
		vc->flags &= ~(VCONN_RESUMING | VCONN_CLOSE_SENT);
		vc->peer_has = vsndbuf_first(vc);
		suspend_pend_again(vc);
		list_del_init(&vc->reg);
		list_del_init(&vc->pend);
		list_del_init(&vc->room);
		list_del_init(&vc->node);
		WRITE_ONCE(link->n_conns, link->n_conns - 1);
	}
	spin_unlock_bh(&link->tx_lock);
	return ours;
}

/**
 * vsuspend_take() - suspend a connection
 * @vc: an open connection; the caller has a reference
 * @link: its link, drained and with its slots free
 *
 * The reference of the attachment becomes that of vgroup.suspended, and @link
 * loses a user.  Nothing happens if the connection was RELEASED or reset
 * meanwhile.
 *
 * Context: process, may sleep; takes vnet.lock, tx_lock.
 */
void vsuspend_take(struct vconn *vc, struct vlink *link)
{
	struct vgroup *g = link->group;
	bool ours;

	mutex_lock(&g->vnet->lock);
	ours = suspend_detach(vc, link);
	if (ours) {
		vlong_save(vc);
		vgrow_unmap(vc);
		vring_unmap(&vc->sndbuf);
		vc->lost = jiffies;
		list_add_tail(&vc->wait, &g->suspended);
		if (!g->n_suspended++) {
			g->tries = 0;
			presence_renew(&g->presence);
		}
		if (vc->parked)
			vopen_requeue(vc->parked);
		vc->parked = NULL;
		mod_delayed_work(vlink_wq, &g->retry, 0);
	}
	mutex_unlock(&g->vnet->lock);
	if (ours) {
		sanx_conn_quiet(vconn_conn(vc));
		vlink_user_put(link);
	}
}

/**
 * vsuspend_release() - take a suspended connection off the list, for good
 * @vc: a connection that the caller has marked RELEASED
 *
 * Puts the reference of vgroup.suspended.
 *
 * Context: process, may sleep; takes vnet.lock.
 */
void vsuspend_release(struct vconn *vc)
{
	struct vgroup *g = vc->link->group;

	/*
	 * resume_attach() fails for a RELEASED connection, and leaves it
	 * unmapped.
	 */
	mutex_lock(&g->vnet->lock);
	list_del_init(&vc->wait);
	g->n_suspended--;
	mutex_unlock(&g->vnet->lock);
	sanx_conn_put(vconn_conn(vc));
}

/**
 * vsuspend_reset() - end a suspended connection
 * @vc: the connection; valid until vnet.lock is released
 * @err: errno (positive) for its program
 *
 * Context: process, vnet.lock held; takes tx_lock.
 */
void vsuspend_reset(struct vconn *vc, int err)
{
	struct vlink *link = vconn_lock(vc);
	u32 flags = vc->flags;

	if (!(flags & VCONN_RELEASED))
		vconn_abort(vc);
	spin_unlock_bh(&link->tx_lock);
	if (!(flags & (VCONN_RELEASED | VCONN_CLOSED)))
		sanx_conn_reset(vconn_conn(vc), err);
}

/**
 * vsuspend_reset_all() - end all suspended connections of a group
 * @g: the group
 * @err: errno (positive) for their programs
 *
 * Context: process, vnet.lock held; takes tx_lock.
 */
void vsuspend_reset_all(struct vgroup *g, int err)
{
	struct vconn *vc, *next;

	lockdep_assert_held(&g->vnet->lock);
	list_for_each_entry_safe(vc, next, &g->suspended, wait)
		vsuspend_reset(vc, err);
}

/**
 * vsuspend_refused() - the peer has rejected a link
 * @g: the group
 * @never: the peer's AF_SANX has refused; else no AF_SANX answered, this time
 *
 * Context: process, vnet.lock held.
 */
void vsuspend_refused(struct vgroup *g, bool never)
{
	lockdep_assert_held(&g->vnet->lock);
	if (presence_refused(&g->presence, never, jiffies, ABSENT_MAX))
		vsuspend_reset_all(g, ECONNRESET);
}

/**
 * vsuspend_stop() - end a group's suspended connections, and wait for that
 * @g: a group without links, of a namespace that is not running
 *
 * Context: process, may sleep; takes vnet.lock.
 */
void vsuspend_stop(struct vgroup *g)
{
	mutex_lock(&g->vnet->lock);
	vsuspend_reset_all(g, ECONNRESET);
	mutex_unlock(&g->vnet->lock);
	flush_workqueue(vconn_wq);
	cancel_delayed_work_sync(&g->retry);
}

/*
 * Asks the peer to continue a connection.  Without a link or without memory, a
 * later attempt may succeed; other errors end the connection.
 */
static void suspend_ask(struct vconn *vc, struct vlink *link)
{
	int err = vresume_ask(vc, link);

	if (err && err != -ENOTCONN && err != -ENOMEM)
		vsuspend_reset(vc, ECONNRESET);
}

/*
 * Asks for a connection that we opened if there is a link, and ends a
 * connection whose time is over.
 */
static void suspend_look_after(struct vgroup *g, struct vconn *vc)
{
	bool closed = READ_ONCE(vc->flags) & VCONN_CLOSED;
	unsigned long since = vc->lost;

	if (time_after(g->resumed, since))
		since = g->resumed;
	/*
	 * The liveness timer has to run: the program may have set options, or
	 * sent.
	 */
	if (!closed)
		sanx_conn_quiet(vconn_conn(vc));
	if (closed && time_after(jiffies, vc->lost + CLOSED_MAX))
		vsuspend_reset(vc, ETIMEDOUT);
	else if (g->out && !vconn_accepted(vc))
		suspend_ask(vc, g->out);
	else if (g->out && time_after(jiffies, since + RESUME_MAX))
		vsuspend_reset(vc, ECONNRESET);
}

/**
 * vsuspend_link_up() - a group has a link again
 * @g: a group
 * @link: the link that takes its connections from now on
 *
 * Ends all suspended connections if the peer has started anew.
 *
 * Context: process, vnet.lock held.
 */
void vsuspend_link_up(struct vgroup *g, struct vlink *link)
{
	lockdep_assert_held(&g->vnet->lock);
	if (g->instance != link->instance)
		vsuspend_reset_all(g, ECONNRESET);
	g->instance = link->instance;
	g->resumed = jiffies;
	g->tries = 0;
	presence_renew(&g->presence);
	if (g->n_suspended)
		mod_delayed_work(vlink_wq, &g->retry, 0);
}

static unsigned long suspend_delay(const struct vgroup *g)
{
	if (g->out)
		return HZ;
	return min(TRY_FIRST << min(g->tries, 8U), TRY_MAX);
}

/**
 * vsuspend_work() - look after suspended connections, and try for a link
 * @work: vgroup.retry
 *
 * Context: process, may sleep; takes vnet.lock.
 */
void vsuspend_work(struct work_struct *work)
{
	struct vgroup *g = container_of(to_delayed_work(work), struct vgroup,
					retry);
	unsigned int noio = memalloc_noio_save();
	struct vconn *vc, *next;

	mutex_lock(&g->vnet->lock);
	list_for_each_entry_safe(vc, next, &g->suspended, wait)
		suspend_look_after(g, vc);
	if (g->n_suspended && g->vnet->running) {
		if (!g->out)
			vgroup_try(g, g->tries++);
		queue_delayed_work(vlink_wq, &g->retry, suspend_delay(g));
	}
	mutex_unlock(&g->vnet->lock);
	memalloc_noio_restore(noio);
}
