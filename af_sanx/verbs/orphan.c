// SPDX-License-Identifier: GPL-2.0
/*
 * Connections whose link was lost.
 *
 * To a program nothing happens when a cable is cut or a peer falls silent, as
 * with TCP: what it sends waits, and it learns of a lost peer by keepalive, by
 * TCP_USER_TIMEOUT, or after as many retries as TCP would make.  So a
 * connection of a link that was lost (vlink.err is ETIMEDOUT) becomes an
 * orphan.  It keeps its id, its rings and what the peer may not have received,
 * and gives back all that belongs to a device.  Both nodes try for a new link
 * while there are orphans, and go on by it where they were: resume.c.
 *
 * An orphan ends early if its peer turns out to have forgotten it: it has
 * started anew (another instance in its hello), refuses a link, has no AF_SANX any
 * more, does not know the connection, or has a link and does not ask for what it
 * opened.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "verbs.h"

/* How long what a program has closed waits for a link, as TCP's retries do. */
#define CLOSED_MAX	(60 * HZ)
/* How long the side that opened a connection has to ask for it. */
#define RESUME_MAX	(10 * HZ)
/* How long there may be no AF_SANX at the peer: presence.h. */
#define ABSENT_MAX	(5 * HZ)
/* From one attempt at a link to the next. */
#define TRY_FIRST	(HZ / 4)
#define TRY_MAX		(5 * HZ)

/* Staging memory for a connection that did without; as if sent from there. */
static void save_staging(struct vlink *link, struct vconn *vc)
{
	struct vring ring = {};
	int err;

	err = vring_alloc(&ring, vstaging_size(vc, 0), vconn_conn(vc)->memcg,
			  false);
	spin_lock_bh(&link->tx_lock);
	if (err) {
		vc->flags |= VCONN_RESET;
	} else if (!vc->staging.buf) {
		vc->staging.size = ring.size;
		vc->staging.dir = ring.dir;
		/* Pairs with the acquire in staging_good(). */
		smp_store_release(&vc->staging.buf, ring.buf);
		ring.buf = NULL;
	}
	spin_unlock_bh(&link->tx_lock);
	vring_free(&ring);
}

static bool save_wants_staging(const struct vlink *link,
			       const struct vslot *slot)
{
	return link->err == ETIMEDOUT && slot->vc && slot->len &&
	       !slot->vc->staging.buf && !(slot->vc->flags & VCONN_RESET);
}

/* Where the peer's program has read it, its place may be another byte's. */
static void save_payload(struct vconn *vc, const struct vslot *slot)
{
	const void *data = slot->buf + sizeof(struct sanx_frame_hdr);
	u64 from = max(slot->end - slot->len, vstaging_first(vc));

	if (slot->len && from < slot->end)
		vring_keep(&vc->staging, from,
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
 * vorphan_save() - keep what the peer may not have received
 * @link: a link whose queue pair is drained
 *
 * All payload that was not completed is in the staging memory of its
 * connection then, at its place, and all slots are free.
 *
 * Context: process, may sleep.
 */
void vorphan_save(struct vlink *link)
{
	struct vslot *slot;
	struct vconn *vc;

	spin_lock_bh(&link->tx_lock);
	while (!list_empty(&link->posted)) {
		slot = list_first_entry(&link->posted, struct vslot, node);
		if (!save_wants_staging(link, slot)) {
			save_slot(link, slot);
			continue;
		}
		/* It has a frame under way, and so is attached. */
		vc = slot->vc;
		spin_unlock_bh(&link->tx_lock);
		save_staging(link, vc);
		spin_lock_bh(&link->tx_lock);
	}
	spin_unlock_bh(&link->tx_lock);
}

/* What was said on the link, and may be lost with it, is to be said again. */
static void orphan_pend_again(struct vconn *vc)
{
	vc->pending &= VCONN_P_FIN | VCONN_P_CLOSE;
	if (vc->flags & VCONN_FIN_SENT)
		vc->pending |= VCONN_P_FIN;
	if (vc->flags & VCONN_CLOSED)
		vc->pending |= VCONN_P_CLOSE;
}

static bool orphan_detach(struct vconn *vc, struct vlink *link)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = !(vc->flags & VCONN_RELEASED) && vconn_survives(vc);
	if (ours) {
		vc->flags |= VCONN_ORPHAN;
		vc->flags &= ~(VCONN_RESUMING | VCONN_CLOSE_SENT);
		vc->sure = vstaging_first(vc);
		orphan_pend_again(vc);
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
 * vorphan_take() - a connection loses its link, and waits for another
 * @vc: a connection that is open, with a reference of the caller's
 * @link: its link, drained and with its slots free
 *
 * Or, if it was released or reset meanwhile, nothing happens.
 *
 * Context: process, may sleep.
 */
void vorphan_take(struct vconn *vc, struct vlink *link)
{
	struct vgroup *g = link->group;
	bool ours;

	mutex_lock(&g->vnet->lock);
	ours = orphan_detach(vc, link);
	if (ours) {
		vlong_save(vc);
		vgrow_unmap(vc);
		vring_unmap(&vc->staging);
		vc->lost = jiffies;
		list_add_tail(&vc->wait, &g->orphans);
		if (!g->n_orphans++) {
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
 * vorphan_release() - the end of an orphan
 * @vc: a connection that is RELEASED, by who calls this
 *
 * Context: process, may sleep.
 */
void vorphan_release(struct vconn *vc)
{
	struct vgroup *g = vc->link->group;

	/* Who tries to attach it finds it released, and leaves it as it was. */
	mutex_lock(&g->vnet->lock);
	list_del_init(&vc->wait);
	g->n_orphans--;
	mutex_unlock(&g->vnet->lock);
	sanx_conn_put(vconn_conn(vc));
}

/**
 * vorphan_reset() - an orphan ends
 * @vc: the orphan; it is there until the lock is given back
 * @err: errno (positive) for its program
 *
 * Context: process, vnet.lock held.
 */
void vorphan_reset(struct vconn *vc, int err)
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
 * vorphan_reset_all() - nobody knows the orphans of a group any more
 * @g: the group
 * @err: errno (positive) for their programs
 *
 * Context: process, vnet.lock held.
 */
void vorphan_reset_all(struct vgroup *g, int err)
{
	struct vconn *vc, *next;

	lockdep_assert_held(&g->vnet->lock);
	list_for_each_entry_safe(vc, next, &g->orphans, wait)
		vorphan_reset(vc, err);
}

/**
 * vorphan_refused() - the peer rejects a link
 * @g: the group
 * @never: its AF_SANX has said so; else there was none, this time
 *
 * Context: process, vnet.lock held.
 */
void vorphan_refused(struct vgroup *g, bool never)
{
	lockdep_assert_held(&g->vnet->lock);
	if (presence_refused(&g->presence, never, jiffies, ABSENT_MAX))
		vorphan_reset_all(g, ECONNRESET);
}

/**
 * vorphan_stop() - end all orphans of a group for good, and wait for that
 * @g: a group without links, of a namespace that is not running
 *
 * Context: process, may sleep.
 */
void vorphan_stop(struct vgroup *g)
{
	mutex_lock(&g->vnet->lock);
	vorphan_reset_all(g, ECONNRESET);
	mutex_unlock(&g->vnet->lock);
	flush_workqueue(vconn_wq);
	cancel_delayed_work_sync(&g->retry);
}

/* A link that goes, or memory that comes, makes another attempt worthwhile. */
static void orphan_ask(struct vconn *vc, struct vlink *link)
{
	int err = vresume_ask(vc, link);

	if (err && err != -ENOTCONN && err != -ENOMEM)
		vorphan_reset(vc, ECONNRESET);
}

/* Where there is a link, who opened the connection asks for it. */
static void orphan_look_after(struct vgroup *g, struct vconn *vc)
{
	bool closed = READ_ONCE(vc->flags) & VCONN_CLOSED;
	unsigned long since = vc->lost;

	if (time_after(g->resumed, since))
		since = g->resumed;
	/* Its program may have set options meanwhile, or sent. */
	if (!closed)
		sanx_conn_quiet(vconn_conn(vc));
	if (closed && time_after(jiffies, vc->lost + CLOSED_MAX))
		vorphan_reset(vc, ETIMEDOUT);
	else if (g->out && !vconn_accepted(vc))
		orphan_ask(vc, g->out);
	else if (g->out && time_after(jiffies, since + RESUME_MAX))
		vorphan_reset(vc, ECONNRESET);
}

/**
 * vorphan_link_up() - there is a link again
 * @g: a group
 * @link: the link that takes its connections from now on
 *
 * Context: process, vnet.lock held.
 */
void vorphan_link_up(struct vgroup *g, struct vlink *link)
{
	lockdep_assert_held(&g->vnet->lock);
	if (g->instance != link->instance)
		vorphan_reset_all(g, ECONNRESET);
	g->instance = link->instance;
	g->resumed = jiffies;
	g->tries = 0;
	presence_renew(&g->presence);
	if (g->n_orphans)
		mod_delayed_work(vlink_wq, &g->retry, 0);
}

static unsigned long orphan_delay(const struct vgroup *g)
{
	if (g->out)
		return HZ;
	return min(TRY_FIRST << min(g->tries, 8U), TRY_MAX);
}

/**
 * vorphan_work() - look after orphans, and try for a link
 * @work: vgroup.retry
 *
 * Context: process, may sleep.
 */
void vorphan_work(struct work_struct *work)
{
	struct vgroup *g = container_of(to_delayed_work(work), struct vgroup,
					retry);
	unsigned int noio = memalloc_noio_save();
	struct vconn *vc, *next;

	mutex_lock(&g->vnet->lock);
	list_for_each_entry_safe(vc, next, &g->orphans, wait)
		orphan_look_after(g, vc);
	if (g->n_orphans && g->vnet->running) {
		if (!g->out)
			vgroup_try(g, g->tries++);
		queue_delayed_work(vlink_wq, &g->retry, orphan_delay(g));
	}
	mutex_unlock(&g->vnet->lock);
	memalloc_noio_restore(noio);
}
