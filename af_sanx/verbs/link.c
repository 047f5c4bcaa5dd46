// SPDX-License-Identifier: GPL-2.0
/*
 * Links: set-up, states, heartbeat and end.
 *
 * Invariant: vlink_set_state() alone changes link->state, under link->tx_lock,
 * and only as state_next permits.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "verbs.h"

static const char *const state_names[__VLINK_STATES] = {
	[VLINK_CONNECTING]	= "connecting",
	[VLINK_ACCEPTING]	= "accepting",
	[VLINK_UP]		= "up",
	[VLINK_DYING]		= "dying",
	[VLINK_DEAD]		= "dead",
};

/* For each state, the states that may follow it. */
static const u8 state_next[__VLINK_STATES] = {
	[VLINK_CONNECTING]	= BIT(VLINK_UP) | BIT(VLINK_DYING),
	[VLINK_ACCEPTING]	= BIT(VLINK_UP) | BIT(VLINK_DYING),
	[VLINK_UP]		= BIT(VLINK_DYING),
	[VLINK_DYING]		= BIT(VLINK_DEAD),
};

/* Heartbeats without an answer after which the link is lost. */
#define BEATS_LOST	20
/* Interval between calls of vconn_sweep(), in jiffies. */
#define SWEEP_EVERY	(60 * HZ)

/**
 * vlink_state_name() - name of a state
 * @state: the state
 * Return: a constant string.
 */
const char *vlink_state_name(enum vlink_state state)
{
	return state_names[state];
}

/**
 * vlink_set_state() - change the state of a link
 * @link: the link
 * @to: a state that may follow the current one
 *
 * Context: tx_lock held.
 */
void vlink_set_state(struct vlink *link, enum vlink_state to)
{
	lockdep_assert_held(&link->tx_lock);
	if (WARN_ON_ONCE(!(state_next[link->state] & BIT(to))))
		return;
	pr_debug("link to node %u: %s -> %s\n", link->group->peer,
		 state_names[link->state], state_names[to]);
	/* Pairs with recv_state_ok(): vlink_kill_locked() stores link->err first. */
	smp_store_release(&link->state, to);
}

/**
 * vlink_kill_locked() - start to end a link, in any state
 * @link: the link
 * @err: errno (positive) for its connections.  ETIMEDOUT means that the peer
 *	was lost; open connections are then suspended.  Any other value resets
 *	them, even if the link was lost before.
 *
 * link_end() does the rest.
 *
 * Context: tx_lock held.
 */
void vlink_kill_locked(struct vlink *link, int err)
{
	lockdep_assert_held(&link->tx_lock);
	if (err != ETIMEDOUT || link->state < VLINK_DYING)
		WRITE_ONCE(link->err, err);
	if (link->state >= VLINK_DYING)
		return;
	vlink_set_state(link, VLINK_DYING);
	queue_work(vlink_wq, &link->end);
}

/**
 * vlink_kill() - start to end a link, without tx_lock
 * @link: the link
 * @err: see vlink_kill_locked()
 *
 * Context: any; takes tx_lock.
 */
void vlink_kill(struct vlink *link, int err)
{
	spin_lock_bh(&link->tx_lock);
	vlink_kill_locked(link, err);
	spin_unlock_bh(&link->tx_lock);
}

/**
 * vlink_wc_error() - end a link after a failed completion
 * @link: the link
 * @wc: the completion
 * @what: name of the operation, for the log
 *
 * Context: softirq; takes tx_lock.
 */
void vlink_wc_error(struct vlink *link, const struct ib_wc *wc,
		    const char *what)
{
	/*
	 * Work behind a failed request completes as flushed, so a flush alone
	 * counts as a lost link.  If the failure means something else, the
	 * completion of the failed request says so, in whatever order they
	 * arrive (see vlink_kill_locked()).
	 */
	bool lost = wc->status == IB_WC_RETRY_EXC_ERR ||
		    wc->status == IB_WC_RNR_RETRY_EXC_ERR ||
		    wc->status == IB_WC_FATAL_ERR ||
		    wc->status == IB_WC_WR_FLUSH_ERR;

	if (wc->status != IB_WC_WR_FLUSH_ERR)
		pr_debug("%s to node %u: %s\n", what, link->group->peer,
			 ib_wc_status_msg(wc->status));
	vlink_kill(link, lost ? ETIMEDOUT : ECONNRESET);
}

static void chain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vlink *link = container_of(wc->wr_cqe, struct vlink, chain_cqe);

	if (wc->status != IB_WC_SUCCESS)
		vlink_wc_error(link, wc, "write");
}

/**
 * vlink_came_up() - let a link send frames
 * @link: a link that is connecting or accepting; else nothing happens
 *
 * With iWARP the peer of an active link may not send before our first frame, so
 * a PING is sent in any case.
 *
 * Context: any; takes tx_lock.
 */
void vlink_came_up(struct vlink *link)
{
	spin_lock_bh(&link->tx_lock);
	if (link->state < VLINK_UP) {
		vlink_set_state(link, VLINK_UP);
		WRITE_ONCE(link->heard, jiffies);
		/* It also measures the round trip for vlong_cutoff(). */
		link->ping = true;
		vxmit_run(link);
		queue_work(vlink_wq, &link->up);
	}
	vxmit_unlock(link);
}

static void link_up_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	vdebug_hold_up();
	vgroup_link_up(container_of(work, struct vlink, up));
	memalloc_noio_restore(noio);
}

/**
 * vlink_ask() - request an answer of the peer
 * @link: the link
 *
 * Context: tx_lock held, to be released by vxmit_unlock().
 */
void vlink_ask(struct vlink *link)
{
	lockdep_assert_held(&link->tx_lock);
	link->ping = true;
	if (time_after_eq(READ_ONCE(link->heard), link->asked))
		link->asked = jiffies;
	vxmit_run(link);
}

/**
 * vlink_quiet() - does the peer not answer?
 * @link: the link
 *
 * Context: tx_lock held.
 * Return: true if a PING was requested at least a heartbeat ago, and nothing
 * was received since.
 */
bool vlink_quiet(const struct vlink *link)
{
	unsigned long beat = msecs_to_jiffies(READ_ONCE(heartbeat_ms));

	lockdep_assert_held(&link->tx_lock);
	return time_before(READ_ONCE(link->heard), link->asked) &&
	       jiffies - link->asked >= beat;
}

static void link_tell_quiet(struct vlink *link)
{
	struct vconn *vc;

	spin_lock_bh(&link->tx_lock);
	if (vlink_quiet(link))
		list_for_each_entry(vc, &link->conns, node)
			sanx_conn_quiet(vconn_conn(vc));
	spin_unlock_bh(&link->tx_lock);
}

/*
 * Is the oldest frame with a completion in flight for longer than @most
 * jiffies? That ends the link even if the peer still sends, because a program
 * may wait for its pages (long.c).
 */
static bool link_stuck(struct vlink *link, unsigned long most)
{
	struct vslot *slot;

	lockdep_assert_held(&link->tx_lock);
	list_for_each_entry(slot, &link->posted, node)
		if (slot->signaled)
			return time_after(jiffies, slot->at + most);
	return false;
}

/*
 * The heartbeat.  It starts with vlink_setup(), so it also ends an attempt of
 * the peer that is not followed by a first frame.
 */
static void link_beat(struct work_struct *work)
{
	struct vlink *link = container_of(to_delayed_work(work), struct vlink,
					  beat);
	unsigned long beat = msecs_to_jiffies(READ_ONCE(heartbeat_ms));
	unsigned long heard = READ_ONCE(link->heard);

	/* A frame that arrives now may set a later time than jiffies has here. */
	if (time_after_eq(jiffies, heard + BEATS_LOST * beat)) {
		vlink_kill(link, ETIMEDOUT);
		return;
	}
	link_tell_quiet(link);
	spin_lock_bh(&link->tx_lock);
	if (link_stuck(link, BEATS_LOST * beat))
		vlink_kill_locked(link, ETIMEDOUT);
	if (time_after_eq(jiffies, heard + beat) || !link->rtt_ns)
		vlink_ask(link);
	if (time_after(jiffies, link->swept + SWEEP_EVERY)) {
		link->swept = jiffies;
		vconn_sweep(link);
	}
	vxmit_unlock(link);
	queue_delayed_work(vlink_wq, &link->beat, beat);
}

/**
 * vlink_user_put() - drop a user of a link
 * @link: the link
 *
 * Context: any.
 */
void vlink_user_put(struct vlink *link)
{
	if (refcount_dec_and_test(&link->users))
		complete(&link->unused);
}

static void link_init_lists(struct vlink *link)
{
	INIT_LIST_HEAD(&link->free);
	INIT_LIST_HEAD(&link->posted);
	INIT_LIST_HEAD(&link->regs);
	INIT_LIST_HEAD(&link->pending);
	INIT_LIST_HEAD(&link->openers);
	INIT_LIST_HEAD(&link->asking);
	INIT_LIST_HEAD(&link->ready);
	INIT_LIST_HEAD(&link->rejects);
	INIT_LIST_HEAD(&link->opens_free);
	INIT_LIST_HEAD(&link->conns);
}

static void link_end(struct work_struct *work);

/**
 * vlink_alloc() - allocate a link, without device resources
 * @g: its group
 * @active: true for our attempt, false for the peer's
 *
 * Context: process, vnet.lock held.
 * Return: a link in @g; or NULL if there is no memory.  The link has one
 * reference, its own, which vgroup_link_gone() puts after vlink_kill().
 */
struct vlink *vlink_alloc(struct vgroup *g, bool active)
{
	struct vlink *link;

	lockdep_assert_held(&g->vnet->lock);
	/*
	 * No I/O: a connection that moves to another link needs vnet.lock, and
	 * reclaim may wait for that connection.
	 */
	link = kzalloc(sizeof(*link), GFP_NOIO);
	if (!link)
		return NULL;
	kref_init(&link->refs);
	kref_get(&g->refs);
	link->group = g;
	link->active = active;
	link->state = active ? VLINK_CONNECTING : VLINK_ACCEPTING;
	link->self = sanx_node_self(g->vnet->net);
	link->chain_cqe.done = chain_done;
	spin_lock_init(&link->tx_lock);
	link_init_lists(link);
	link->heard = jiffies;
	link->swept = jiffies;
	link->asked = link->heard;
	refcount_set(&link->users, 1);
	init_completion(&link->unused);
	INIT_WORK(&link->start, vcm_start);
	INIT_WORK(&link->up, link_up_work);
	INIT_DELAYED_WORK(&link->beat, link_beat);
	INIT_DELAYED_WORK(&link->patience, vask_work);
	INIT_WORK(&link->end, link_end);
	atomic_inc(&g->vnet->n_links);
	list_add_tail(&link->node, &g->links);
	return link;
}

static void link_free(struct kref *refs)
{
	struct vlink *link = container_of(refs, struct vlink, refs);

	vgroup_put(link->group);
	kfree_rcu(link, rcu);
}

/**
 * vlink_put() - put a reference
 * @link: the link, not valid for the caller afterwards
 *
 * Context: any.
 */
void vlink_put(struct vlink *link)
{
	kref_put(&link->refs, link_free);
}

static int frames_alloc(struct vframes *fr, struct ib_device *dev, u32 n,
			enum dma_data_direction dir)
{
	fr->bytes = n * VFRAME_STRIDE;
	fr->dir = dir;
	fr->buf = alloc_pages_exact(fr->bytes, GFP_KERNEL | __GFP_ZERO);
	if (!fr->buf)
		return -ENOMEM;
	fr->dma = ib_dma_map_single(dev, fr->buf, fr->bytes, dir);
	if (!ib_dma_mapping_error(dev, fr->dma))
		return 0;
	free_pages_exact(fr->buf, fr->bytes);
	fr->buf = NULL;
	return -ENOMEM;
}

static void frames_free(struct vframes *fr, struct ib_device *dev)
{
	if (!fr->buf)
		return;
	ib_dma_unmap_single(dev, fr->dma, fr->bytes, fr->dir);
	free_pages_exact(fr->buf, fr->bytes);
	fr->buf = NULL;
}

static int setup_slots(struct vlink *link)
{
	struct vslot *slot;
	u32 i;

	link->slots = kcalloc(VLINK_SLOTS, sizeof(*link->slots), GFP_KERNEL);
	if (!link->slots)
		return -ENOMEM;
	for (i = 0; i < VLINK_SLOTS; i++) {
		slot = &link->slots[i];
		slot->cqe.done = vwr_done;
		slot->link = link;
		slot->buf = link->tx_mem.buf + i * VFRAME_STRIDE;
		slot->dma = link->tx_mem.dma + i * VFRAME_STRIDE;
		list_add_tail(&slot->node, &link->free);
	}
	return 0;
}

static int setup_opens(struct vlink *link)
{
	struct vopen *o;
	u32 i;

	link->opens = kcalloc(SANX_OPENS_MAX, sizeof(*link->opens), GFP_KERNEL);
	if (!link->opens)
		return -ENOMEM;
	for (i = 0; i < SANX_OPENS_MAX; i++) {
		o = &link->opens[i];
		o->link = link;
		kthread_init_work(&o->work, vopen_work);
		list_add_tail(&o->node, &link->opens_free);
	}
	return 0;
}

static int setup_recvs(struct vlink *link)
{
	struct vrecv *r;
	int err = 0;
	u32 i;

	link->recvs = kcalloc(VLINK_RECVS, sizeof(*link->recvs), GFP_KERNEL);
	if (!link->recvs)
		return -ENOMEM;
	for (i = 0; i < VLINK_RECVS && !err; i++) {
		r = &link->recvs[i];
		r->cqe.done = vrecv_done;
		r->link = link;
		r->buf = link->rx_mem.buf + i * VFRAME_STRIDE;
		r->dma = link->rx_mem.dma + i * VFRAME_STRIDE;
		err = vrecv_post(r);
	}
	link_credit_init_rx(&link->credit, VLINK_RECVS);
	return err;
}

/* One work request and one receive more than used, for ib_drain_qp(). */
static int setup_qp(struct vlink *link)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= link->cq,
		.recv_cq	= link->cq,
		.cap.max_send_wr = VLINK_SLOTS * VLINK_CHAIN + 1,
		.cap.max_recv_wr = VLINK_RECVS + 1,
		.cap.max_send_sge = link->max_sge,
		.cap.max_recv_sge = 1,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int err;

	err = rdma_create_qp(link->id, link->pd, &attr);
	if (err && link->max_sge > 1) {
		/*
		 * Some devices do not support as many.  They do not use LONG.
		 */
		link->max_sge = 1;
		attr.cap.max_send_sge = 1;
		err = rdma_create_qp(link->id, link->pd, &attr);
	}
	if (!err)
		link->qp = link->id->qp;
	return err;
}

static int setup_objects(struct vlink *link, struct ib_device *dev)
{
	const int cqes = VLINK_SLOTS * VLINK_CHAIN + VLINK_RECVS + 2;
	struct ib_pd *pd;
	struct ib_cq *cq;

	pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	link->pd = pd;
	link->max_sge = 1;
	if (!link->early) {
		link->max_sge = min_t(u32, dev->attrs.max_send_sge, VLINK_SGES);
		vlong_tune(link);
	}
	cq = ib_alloc_cq_any(dev, link, cqes, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	link->cq = cq;
	return setup_qp(link);
}

/**
 * vlink_setup() - allocate the device resources of a link, and post its
 * receives
 * @link: a link whose id is bound to a device
 *
 * After a failure link_end() frees what was allocated.
 *
 * Context: process, may sleep; in an event handler of the link's id.
 * Return: 0 or -errno; -EOPNOTSUPP if the device lacks fast registration.
 */
int vlink_setup(struct vlink *link)
{
	struct ib_device *dev = link->id->device;
	int err;

	strscpy(link->devname, dev->name, sizeof(link->devname));
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return -EOPNOTSUPP;
	link->reg_alone = dev->ops.driver_id == RDMA_DRIVER_RXE;
	link->early = rdma_protocol_iwarp(dev, link->id->port_num);
	err = setup_objects(link, dev);
	if (!err)
		err = frames_alloc(&link->tx_mem, dev, VLINK_SLOTS,
				   DMA_TO_DEVICE);
	if (!err)
		err = frames_alloc(&link->rx_mem, dev, VLINK_RECVS,
				   DMA_FROM_DEVICE);
	if (!err)
		err = setup_slots(link);
	if (!err)
		err = setup_opens(link);
	if (!err)
		err = setup_recvs(link);
	if (!err)
		queue_delayed_work(vlink_wq, &link->beat,
				   msecs_to_jiffies(READ_ONCE(heartbeat_ms)));
	return err;
}

/*
 * Stops everything that could start new work.  vlink_kill() has changed the
 * state, and code that adds a user checks the state first.  So does the event
 * handler: locking its mutex waits for a handler that runs now, and a later one
 * does nothing.
 */
static void end_starts(struct vlink *link)
{
	cancel_work_sync(&link->start);
	if (link->id) {
		rdma_lock_handler(link->id);
		rdma_unlock_handler(link->id);
	}
	cancel_work_sync(&link->up);
	cancel_delayed_work_sync(&link->beat);
	cancel_delayed_work_sync(&link->patience);
	vgroup_link_ends(link);
}

/*
 * Drains the queue pair.  Then the device is done with all work that was
 * posted, and all completion handlers have returned.
 */
static void end_traffic(struct vlink *link)
{
	if (!link->live)
		return;
	rdma_disconnect(link->id);
	ib_drain_qp(link->qp);
	vorphan_save(link);
}

static void end_rejects(struct vlink *link)
{
	struct vopen *o, *next;

	spin_lock_bh(&link->tx_lock);
	list_for_each_entry_safe(o, next, &link->rejects, node)
		vopen_put(o);
	spin_unlock_bh(&link->tx_lock);
}

/* Detaches all connections, and waits for them and the accept thread. */
static void end_users(struct vlink *link)
{
	vconn_fail_all(link);
	end_rejects(link);
	vlink_user_put(link);
	wait_for_completion(&link->unused);
}

static void end_objects(struct vlink *link)
{
	struct ib_device *dev = link->pd ? link->pd->device : NULL;

	if (link->qp)
		rdma_destroy_qp(link->id);
	if (link->cq)
		ib_free_cq(link->cq);
	frames_free(&link->tx_mem, dev);
	frames_free(&link->rx_mem, dev);
	kfree(link->slots);
	kfree(link->recvs);
	kfree(link->opens);
	if (link->pd)
		ib_dealloc_pd(link->pd);
	/* The removal of a device waits for this. */
	if (link->id)
		rdma_destroy_id(link->id);
}

/*
 * Ends a link.  The order matters: first nothing may start new work, then the
 * device stops, then the users leave, and then the resources are freed.
 */
static void link_end(struct work_struct *work)
{
	struct vlink *link = container_of(work, struct vlink, end);
	unsigned int noio = memalloc_noio_save();

	end_starts(link);
	end_traffic(link);
	end_users(link);
	end_objects(link);
	spin_lock_bh(&link->tx_lock);
	vlink_set_state(link, VLINK_DEAD);
	spin_unlock_bh(&link->tx_lock);
	vgroup_link_gone(link);
	memalloc_noio_restore(noio);
}
