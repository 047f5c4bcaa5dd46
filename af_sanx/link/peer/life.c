// SPDX-License-Identifier: GPL-2.0
/* Links: from the allocation over coming up to the end, and their resources. */
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "config/cov.h"
#include "peer.h"

/**
 * sanx_wire_cause() - say more of why the set-up of a link fails
 * @link: the link, which sanx_wire_failed() or sanx_wire_refused() follows for
 * @cause: why; what was said first counts
 *
 * Context: process, in an upcall about the set-up, of which there is one at a time.
 */
void sanx_wire_cause(struct sanx_link *link, enum sanx_cause cause)
{
	/* sanx_attempt_work() may read it. */
	if (!link->cause)
		WRITE_ONCE(link->cause, cause);
}
EXPORT_SYMBOL_GPL(sanx_wire_cause);

/**
 * sanx_link_came_up() - let a link send frames
 * @link: a link that is connecting or accepting; else nothing happens
 *
 * The first frame of an active link is AUTH, which the peer waits for.
 *
 * Context: any; takes tx_lock.
 */
void sanx_link_came_up(struct sanx_link *link)
{
	spin_lock_bh(&link->tx_lock);
	if (link->state < SANX_LINK_UP) {
		sanx_link_set_state(link, SANX_LINK_UP);
		WRITE_ONCE(link->heard, jiffies);
		link->up_at = jiffies;
		/*
		 * Before the first frame: if it cannot be posted, the link ends,
		 * and link_end() cancels this work without tx_lock.
		 */
		queue_work(sanx_link_wq, &link->up);
		link->auth.phase = SANX_AUTH_PROVEN;
		if (link->active)
			sanx_emit_auth(link);
		/* It also measures the round trip for sanx_long_cutoff(). */
		link->ping = true;
		sanx_xmit_run(link);
	}
	sanx_xmit_unlock(link);
}

static void link_up_work(struct work_struct *work)
{
	struct sanx_link *link = container_of(work, struct sanx_link, up);
	bool cov = sanx_cov_start(link->payer->net);
	unsigned int noio = memalloc_noio_save();

	sanx_debug_hold_up();
	sanx_lane_link_up(link);
	memalloc_noio_restore(noio);
	sanx_cov_stop(cov);
}

static void link_init_lists(struct sanx_link *link)
{
	INIT_LIST_HEAD(&link->free);
	INIT_LIST_HEAD(&link->posted);
	INIT_LIST_HEAD(&link->unacked);
	INIT_LIST_HEAD(&link->pending);
	INIT_LIST_HEAD(&link->openers);
	INIT_LIST_HEAD(&link->asking);
	INIT_LIST_HEAD(&link->ready);
	INIT_LIST_HEAD(&link->rejects);
	INIT_LIST_HEAD(&link->requests);
	INIT_LIST_HEAD(&link->opens_free);
	INIT_LIST_HEAD(&link->conns);
}

static void link_end(struct work_struct *work);

/* Pages that a link takes: its own, and what its wire receives frames in. */
#define LINK_PAGES	DIV_ROUND_UP(sizeof(struct sanx_link) + \
				     SANX_WIRE_SLOTS * (SANX_WIRE_STRIDE + \
							sizeof(struct sanx_slot)) + \
				     SANX_WIRE_RECVS * SANX_WIRE_STRIDE + \
				     SANX_OPENS_MAX * sizeof(struct sanx_request), PAGE_SIZE)

/*
 * Connections that have lost their link, perhaps without our knowing it yet, get another one
 * in any case: else they could neither go on nor end, and they are what takes the memory.
 */
static bool link_claim(struct sanx_lane *lane)
{
	if (lane->streams.n_suspended || (lane->out && READ_ONCE(lane->out->n_conns))) {
		sanx_user_take(lane->peer->payer.user, LINK_PAGES);
		return true;
	}
	return sanx_bounds_user(lane->peer->payer.user, LINK_PAGES);
}

/* May the user of a namespace have another link?  lnet.lock held. */
bool sanx_link_may(struct sanx_lane *lane)
{
	if (!link_claim(lane))
		return false;
	sanx_user_unclaim(lane->peer->payer.user, LINK_PAGES);
	return true;
}

static struct sanx_link *link_alloc(struct sanx_lane *lane)
{
	struct sanx_link *link;

	if (!link_claim(lane))
		return ERR_PTR(-EDQUOT);
	/*
	 * No I/O: a connection that moves to another link needs lnet.lock, and
	 * reclaim may wait for that connection.
	 */
	link = kzalloc(sizeof(*link), GFP_NOIO);
	if (link)
		return link;
	sanx_user_unclaim(lane->peer->payer.user, LINK_PAGES);
	return ERR_PTR(-ENOMEM);
}

/**
 * sanx_link_alloc() - allocate a link, without the resources of an end
 * @lane: its lane
 * @wire: its wire
 * @active: true for our attempt, false for the peer's
 *
 * Context: process, lnet.lock held.
 * Return: a link in @lane; or an error pointer: -ENOMEM, or -EDQUOT if the user of the
 * namespace may have no more.  The link has one reference, its own, which
 * sanx_lane_link_gone() puts after sanx_link_kill().
 */
struct sanx_link *sanx_link_alloc(struct sanx_lane *lane,
				  const struct sanx_wire_ops *wire, bool active)
{
	struct sanx_link *link;

	lockdep_assert_held(&lane->peer->lnet->lock);
	link = link_alloc(lane);
	if (IS_ERR(link))
		return link;
	kref_init(&link->refs);
	kref_get(&lane->peer->payer.refs);
	link->payer = &lane->peer->payer;
	link->lane = lane->number;
	link->streams = &lane->streams;
	link->wire = wire;
	link->kind = wire->kind;
	link->active = active;
	link->state = active ? SANX_LINK_CONNECTING : SANX_LINK_ACCEPTING;
	link->use = SANX_LINK_READY;
	link->reserves = READ_ONCE(lane->peer->payer.reserves);
	link->self = sanx_node_self(lane->peer->payer.net);
	spin_lock_init(&link->tx_lock);
	link_init_lists(link);
	link->heard = jiffies;
	link->next_sweep = jiffies;
	link->asked = link->heard;
	link->pace = BEAT_ASKS;
	link->acked_at = link->heard;
	refcount_set(&link->users, 1);
	init_completion(&link->unused);
	INIT_WORK(&link->start, sanx_attempt_start);
	INIT_WORK(&link->up, link_up_work);
	timer_setup(&link->beat, sanx_beat_timer, 0);
	INIT_DELAYED_WORK(&link->ack, sanx_ack_work);
	INIT_DELAYED_WORK(&link->open_timeout, sanx_ask_work);
	spin_lock_init(&link->requests_lock);
	INIT_DELAYED_WORK(&link->serve, sanx_request_work);
	INIT_WORK(&link->end, link_end);
	atomic_inc(&lane->peer->lnet->n_links[link->kind]);
	list_add_tail(&link->node, &lane->links);
	if (!active)
		sanx_payer_half_open(link->payer, 1);
	return link;
}

static int prepare_slots(struct sanx_link *link)
{
	struct sanx_slot *slot;
	u32 i;

	link->frames = alloc_pages_exact(SANX_WIRE_SLOTS * SANX_WIRE_STRIDE,
					 GFP_KERNEL | __GFP_ZERO);
	link->slots = kcalloc(SANX_WIRE_SLOTS, sizeof(*link->slots),
			      GFP_KERNEL);
	if (!link->frames || !link->slots)
		return -ENOMEM;
	for (i = 0; i < SANX_WIRE_SLOTS; i++) {
		slot = &link->slots[i];
		slot->buf = link->frames + i * SANX_WIRE_STRIDE;
		INIT_LIST_HEAD(&slot->node);
		sanx_slot_free(link, slot);
	}
	return 0;
}

static int prepare_opens(struct sanx_link *link)
{
	struct sanx_request *o;
	u32 i;

	link->opens = kcalloc(SANX_OPENS_MAX, sizeof(*link->opens), GFP_KERNEL);
	if (!link->opens)
		return -ENOMEM;
	for (i = 0; i < SANX_OPENS_MAX; i++) {
		o = &link->opens[i];
		o->link = link;
		list_add_tail(&o->node, &link->opens_free);
	}
	return 0;
}

/**
 * sanx_wire_prepare() - make a link ready for its wire
 * @link: a link that is being set up
 * @caps: what its wire can do
 * @frames: set to SANX_WIRE_SLOTS buffers of SANX_WIRE_STRIDE bytes, one behind
 *	the other, which the device reads.  They are valid until free().
 *
 * The wire calls it once for each link, and then posts SANX_WIRE_RECVS receives
 * before it lets the peer send.  The link ends itself if nothing follows.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int sanx_wire_prepare(struct sanx_link *link, const struct sanx_wire_caps *caps,
		      void **frames)
{
	int err;

	link->caps = *caps;
	strscpy(link->devname, caps->device, sizeof(link->devname));
	if (caps->lend_max)
		sanx_long_tune(link);
	err = prepare_slots(link);
	if (!err)
		err = prepare_opens(link);
	if (err)
		return err;
	link_credit_init_rx(&link->credit, SANX_WIRE_RECVS);
	*frames = link->frames;
	sanx_beat_start(link);
	return 0;
}
EXPORT_SYMBOL_GPL(sanx_wire_prepare);

/*
 * Stops everything that could start new work.  sanx_link_kill() has changed the
 * state, and code that adds a user checks the state first.  So does the wire
 * (sanx_wire_ending()).
 */
static void end_starts(struct sanx_link *link)
{
	cancel_work_sync(&link->start);
	if (link->wl)
		link->wire->quiesce(link->wl);
	cancel_work_sync(&link->up);
	del_timer_sync(&link->beat);
	cancel_delayed_work_sync(&link->ack);
	cancel_delayed_work_sync(&link->open_timeout);
	sanx_lane_link_ends(link);
}

/*
 * Stops the wire.  Then it is done with all messages that were posted, and its
 * upcalls have returned.
 */
static void end_traffic(struct sanx_link *link)
{
	if (link->wl)
		link->wire->stop(link->wl);
	sanx_suspend_save(link);
}

static void end_rejects(struct sanx_link *link)
{
	struct sanx_request *o, *next;

	spin_lock_bh(&link->tx_lock);
	list_for_each_entry_safe(o, next, &link->rejects, node)
		sanx_request_put(o);
	spin_unlock_bh(&link->tx_lock);
}

/* Detaches all connections, and waits for them and for requests. */
static void end_users(struct sanx_link *link)
{
	sanx_lconn_fail_all(link);
	end_rejects(link);
	sanx_request_hurry(link);
	sanx_link_user_put(link);
	wait_for_completion(&link->unused);
	/* It may not have returned since it put the last user. */
	cancel_delayed_work_sync(&link->serve);
}

static void end_resources(struct sanx_link *link)
{
	if (link->wl)
		link->wire->free(link->wl);
	if (link->frames)
		free_pages_exact(link->frames,
				 SANX_WIRE_SLOTS * SANX_WIRE_STRIDE);
	kfree(link->slots);
	kfree(link->opens);
	sanx_user_unclaim(link->payer->user, LINK_PAGES);
	/* sanx_links_dump() and sanx_peers_revalidate() look at the key. */
	mutex_lock(link->streams->lock);
	sanx_auth_end(&link->auth);
	mutex_unlock(link->streams->lock);
}

/*
 * Ends a link.  The order matters: first nothing may start new work, then the
 * wire stops, then the users leave, and then the resources are freed.
 */
static void link_end(struct work_struct *work)
{
	struct sanx_link *link = container_of(work, struct sanx_link, end);
	bool cov = sanx_cov_start(link->payer->net);
	unsigned int noio = memalloc_noio_save();

	end_starts(link);
	end_traffic(link);
	end_users(link);
	end_resources(link);
	spin_lock_bh(&link->tx_lock);
	sanx_link_set_state(link, SANX_LINK_DEAD);
	spin_unlock_bh(&link->tx_lock);
	sanx_lane_link_gone(link);
	memalloc_noio_restore(noio);
	sanx_cov_stop(cov);
}
