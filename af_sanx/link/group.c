// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups: the links, and the connections, from this node to another.
 *
 * Frames are sent under the lock of their link, and one CPU at a time processes
 * the frames that arrive on it.  So nodes with several CPUs have several links
 * to a node, each in a lane of its own, and connections are distributed among
 * them.  A connection stays in its lane.  Connections wait for the first link
 * only.  Further links are set up beside it when connections would share one.
 *
 * Invariant: in a lane at most one link at a time takes our connections
 * (vgroup.out, guarded by vnet.lock).  If both nodes try to set up a link at
 * once, the attempt of the node with the lower id wins: that node rejects the
 * request of the other, which then waits for the winner's link.  A link that
 * comes up replaces an older one, because the peer has restarted, or lost the
 * older link, or won the tie.
 *
 * A link of a node to itself has an active and a passive end.  The
 * active one takes the connections, and neither is replaced.
 *
 * If no link is up, a connect waits for one, for a bounded time.  When that
 * time expires, or the peer refuses, a backoff follows, in which connects do
 * not wait.  A link from the peer ends the backoff.
 */
#include <linux/slab.h>
#include <net/ipv6.h>

#include "internal.h"

static void group_timeout(struct work_struct *work);

/* Returns lane 0 of a peer, which has pointers to the others. */
static struct vgroup *group_find(struct vnet *vnet, u32 peer)
{
	struct vgroup *g;

	lockdep_assert_held(&vnet->lock);
	list_for_each_entry(g, &vnet->groups, node) {
		if (g->lane)
			break;
		if (g->peer == peer)
			return g;
	}
	return NULL;
}

static struct vgroup *group_alloc(struct vnet *vnet, u32 peer, u32 lane)
{
	/*
	 * No I/O: a connection that moves to another link needs vnet.lock, and
	 * reclaim may wait for that connection.
	 */
	struct vgroup *g = kzalloc(sizeof(*g), GFP_NOIO);

	if (!g)
		return NULL;
	kref_init(&g->refs);
	g->vnet = vnet;
	g->peer = peer;
	g->lane = lane;
	INIT_LIST_HEAD(&g->links);
	INIT_LIST_HEAD(&g->waiters);
	INIT_DELAYED_WORK(&g->timer, group_timeout);
	INIT_LIST_HEAD(&g->suspended);
	INIT_DELAYED_WORK(&g->retry, vsuspend_work);
	xa_init_flags(&g->ids, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	if (lane)
		list_add_tail(&g->node, &vnet->groups);
	else
		list_add(&g->node, &vnet->groups);
	return g;
}

/*
 * Finds or makes a group.  Groups are freed only when the vnet stops, so there
 * is at most one for each node id and lane that was ever used.
 */
static struct vgroup *group_get(struct vnet *vnet, u32 peer, u32 lane)
{
	struct vgroup *first = group_find(vnet, peer);

	if (!first) {
		first = group_alloc(vnet, peer, 0);
		if (!first)
			return NULL;
		first->lanes[0] = first;
	}
	if (!first->lanes[lane])
		first->lanes[lane] = group_alloc(vnet, peer, lane);
	return first->lanes[lane];
}

static void group_free(struct kref *refs)
{
	struct vgroup *g = container_of(refs, struct vgroup, refs);

	xa_destroy(&g->ids);
	kfree_rcu(g, rcu);
}

/**
 * vgroup_put() - put a reference
 * @g: the group, not valid for the caller afterwards
 *
 * Context: any.
 */
void vgroup_put(struct vgroup *g)
{
	kref_put(&g->refs, group_free);
}

static bool group_self(const struct vgroup *g)
{
	return g->peer == sanx_node_self(g->vnet->net);
}

static bool group_in_backoff(const struct vgroup *g)
{
	lockdep_assert_held(&g->vnet->lock);
	return g->backoff && time_before(jiffies, g->backoff_end);
}

static void group_start_backoff(struct vgroup *g)
{
	lockdep_assert_held(&g->vnet->lock);
	g->backoff = true;
	g->backoff_end = jiffies + msecs_to_jiffies(READ_ONCE(link_hold_ms));
}

static struct vconn *group_pop_waiter(struct vgroup *g)
{
	struct vconn *vc;

	lockdep_assert_held(&g->vnet->lock);
	vc = list_first_entry_or_null(&g->waiters, struct vconn, wait);
	if (vc) {
		list_del_init(&vc->wait);
		vc->waiting = false;
	}
	return vc;
}

/* Refuses waiting connections, and starts a backoff for later ones. */
static void group_refuse(struct vgroup *g)
{
	struct vconn *vc;

	group_start_backoff(g);
	while ((vc = group_pop_waiter(g))) {
		sanx_conn_refused(vconn_conn(vc), SANX_FALLBACK_LINK);
		sanx_conn_put(vconn_conn(vc));
	}
}

static void group_drop_out(struct vgroup *g)
{
	lockdep_assert_held(&g->vnet->lock);
	if (g->out)
		vlink_put(g->out);
	g->out = NULL;
}

static void group_drop_trying(struct vgroup *g)
{
	lockdep_assert_held(&g->vnet->lock);
	if (g->trying)
		vlink_put(g->trying);
	g->trying = NULL;
}

static int group_try(struct vgroup *g)
{
	struct vlink *link;

	lockdep_assert_held(&g->vnet->lock);
	link = vlink_alloc(g, true);
	if (!link)
		return -ENOMEM;
	link->rail = g->rail;
	kref_get(&link->refs);
	g->trying = link;
	queue_work(vlink_wq, &link->start);
	return 0;
}

static void group_arm(struct vgroup *g, unsigned long until)
{
	unsigned long now = jiffies;

	mod_delayed_work(vlink_wq, &g->timer,
			 time_before(now, until) ? until - now : 0);
}

/* Rails that were not tried yet have equal shares of the remaining time. */
static void group_set_limit(struct vgroup *g)
{
	unsigned long now = jiffies;
	unsigned long rest = time_before(now, g->deadline) ? g->deadline - now : 0;

	g->try_end = now + rest / (g->rails_left + 1);
	group_arm(g, g->try_end);
}

/* Starts the time limit for a link, and plans to try each rail once. */
static void group_set_deadline(struct vgroup *g)
{
	struct sanx_node_info info;

	lockdep_assert_held(&g->vnet->lock);
	g->rails_left = 0;
	if (sanx_node_by_id(g->vnet->net, g->peer, &info))
		g->rails_left = info.n_rails - 1;
	g->deadline = jiffies + msecs_to_jiffies(READ_ONCE(link_timeout_ms));
	group_set_limit(g);
}

/* A request of the peer was accepted; an attempt of ours would disturb it. */
static bool group_accepting(const struct vgroup *g)
{
	struct vlink *link;

	if (group_self(g))
		return false;
	list_for_each_entry(link, &g->links, node)
		if (READ_ONCE(link->state) == VLINK_ACCEPTING)
			return true;
	return false;
}

/**
 * vgroup_try() - try to set up a link that no connect() waits for
 * @g: a group without a link
 * @n: number of the attempt; rail @n, modulo the number of rails, is tried
 *	first
 *
 * Context: process, vnet.lock held.
 */
void vgroup_try(struct vgroup *g, unsigned int n)
{
	struct sanx_node_info info;

	lockdep_assert_held(&g->vnet->lock);
	if (g->trying || group_accepting(g) ||
	    !sanx_node_by_id(g->vnet->net, g->peer, &info))
		return;
	g->rail = n % info.n_rails;
	group_set_deadline(g);
	group_try(g);
}

static int group_wait(struct vgroup *g, struct vconn *vc)
{
	int err;

	if (list_empty(&g->waiters)) {
		if (!g->trying)
			g->rail = 0;
		group_set_deadline(g);
		err = g->trying || group_accepting(g) ? 0 : group_try(g);
		if (err)
			return err;
	}
	sanx_conn_get(vconn_conn(vc));
	vc->waiting = true;
	list_add_tail(&vc->wait, &g->waiters);
	return 0;
}

static unsigned int lanes_wanted(void)
{
	return min(READ_ONCE(lanes) ?: num_online_cpus(), SANX_LANES_MAX);
}

/*
 * Finds the link with the fewest connections; among equals, the one of this
 * CPU.
 * Return: the link; NULL if no link is up; or an error pointer if the peer does
 * not answer OPENs on any link that is up.
 */
static struct vlink *lanes_best(const struct vgroup *first)
{
	unsigned int i, start = raw_smp_processor_id();
	struct vlink *best = NULL;
	bool unanswered = false;
	struct vgroup *g;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		g = first->lanes[(start + i) % SANX_LANES_MAX];
		if (!g || !g->out)
			continue;
		if (vask_unanswered(g->out))
			unanswered = true;
		else if (!best || READ_ONCE(g->out->n_conns) <
				  READ_ONCE(best->n_conns))
			best = g->out;
	}
	return best ?: unanswered ? ERR_PTR(-EHOSTUNREACH) : NULL;
}

/*
 * Sets up one lane more for later connections, on a rail that is known to work.
 */
static void lanes_widen(struct vgroup *first, unsigned int rail)
{
	unsigned int i, n = lanes_wanted();
	struct vgroup *g;

	for (i = 0; i < n; i++) {
		g = first->lanes[i];
		if (g && (g->out || g->trying || group_in_backoff(g)))
			continue;
		g = group_get(first->vnet, first->peer, i);
		if (g)
			vgroup_try(g, rail);
		return;
	}
}

static int group_connect(struct vnet *vnet, u32 peer, struct vconn *vc,
			 struct vlink **out)
{
	struct vlink *best;
	struct vgroup *g;

	lockdep_assert_held(&vnet->lock);
	if (!vnet->running)
		return -ENETDOWN;
	g = group_get(vnet, peer, 0);
	if (!g)
		return -ENOMEM;
	best = lanes_best(g);
	if (IS_ERR(best))
		return PTR_ERR(best);
	if (best) {
		kref_get(&best->refs);
		*out = best;
		if (READ_ONCE(best->n_conns))
			lanes_widen(g, best->rail);
		return 0;
	}
	if (group_in_backoff(g))
		return -EHOSTUNREACH;
	return group_wait(g, vc);
}

/**
 * vgroup_connect() - sanx_transport_ops.connect
 * @vc: the connection; after the first attempt it may still be attached
 *
 * Context: process, lock_sock() held.
 * Return: as connect().
 */
int vgroup_connect(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vnet *vnet = vnet_of(conn->net);
	struct sanx_node_info info;
	struct vlink *out = NULL;
	int err;

	if (vc->link)
		return vconn_reopen(vc);
	if (!sanx_node_by_addr(conn->net, &conn->remote.addr, &info))
		return -EHOSTUNREACH;
	vconn_init(vc);
	mutex_lock(&vnet->lock);
	err = group_connect(vnet, info.id, vc, &out);
	mutex_unlock(&vnet->lock);
	if (out) {
		err = vconn_open(vc, out);
		vlink_put(out);
	}
	return err;
}

/**
 * vgroup_cancel() - stop waiting for a link
 * @vc: a connection that is not attached; if it waits, it may become attached
 *	at any time
 *
 * Context: process, may sleep.
 * Return: true if it waited, and then no answer will come and its reference was
 * put; false if it is attached, or does not wait.
 */
bool vgroup_cancel(struct vconn *vc)
{
	struct vnet *vnet = vnet_of(vconn_conn(vc)->net);
	bool waited;

	mutex_lock(&vnet->lock);
	waited = vc->waiting;
	if (waited) {
		list_del_init(&vc->wait);
		vc->waiting = false;
	}
	mutex_unlock(&vnet->lock);
	if (waited)
		sanx_conn_put(vconn_conn(vc));
	return waited;
}

/* After a failed attempt: tries the next rail, if there is one and time. */
static void group_try_next(struct vgroup *g)
{
	struct sanx_node_info info;

	lockdep_assert_held(&g->vnet->lock);
	if (!g->vnet->running || !g->rails_left ||
	    (list_empty(&g->waiters) && !g->n_suspended) ||
	    !time_before(jiffies, g->deadline) ||
	    !sanx_node_by_id(g->vnet->net, g->peer, &info)) {
		group_refuse(g);
		return;
	}
	g->rails_left--;
	g->rail = (g->rail + 1) % info.n_rails;
	group_set_limit(g);
	if (group_try(g))
		group_refuse(g);
}

static void group_timeout(struct work_struct *work)
{
	struct vgroup *g = container_of(to_delayed_work(work), struct vgroup,
					timer);

	mutex_lock(&g->vnet->lock);
	/* The timer is not cancelled when an attempt succeeds. */
	if (g->trying && time_after_eq(jiffies, g->try_end)) {
		vlink_kill(g->trying, ETIMEDOUT);
		group_drop_trying(g);
		group_try_next(g);
	} else if (!g->trying && !list_empty(&g->waiters)) {
		/* The connections wait for the peer's attempt. */
		if (time_after_eq(jiffies, g->deadline))
			group_refuse(g);
		else
			group_arm(g, g->deadline);
	}
	mutex_unlock(&g->vnet->lock);
}

/**
 * vgroup_accept() - decide on a request of a peer for a link
 * @vnet: the namespace
 * @peer: node id of the peer
 * @lane: lane of the link, less than SANX_LANES_MAX
 * @wl: the wire's part; on success the link owns it
 *
 * Context: process, in an upcall of the wire.
 * Return: a link that is accepting, with a reference for the caller; or an
 * error pointer: -EALREADY if our attempt has precedence, -ENETDOWN, -ENOMEM.
 */
struct vlink *vgroup_accept(struct vnet *vnet, u32 peer, u32 lane,
			    struct sanx_wire_link *wl)
{
	struct vlink *link = ERR_PTR(-ENETDOWN);
	struct vgroup *g;

	mutex_lock(&vnet->lock);
	if (!vnet->running)
		goto out;
	link = ERR_PTR(-ENOMEM);
	g = group_get(vnet, peer, lane);
	if (!g)
		goto out;
	if (g->trying && !group_self(g)) {
		link = ERR_PTR(-EALREADY);
		if (sanx_node_self(vnet->net) < peer)
			goto out;
		g->trying->yields = true;
		vlink_kill(g->trying, ECONNREFUSED);
	}
	link = vlink_alloc(g, false);
	if (!link) {
		link = ERR_PTR(-ENOMEM);
		goto out;
	}
	kref_get(&link->refs);
	link->wl = wl;
	wl->link = link;
out:
	mutex_unlock(&vnet->lock);
	return link;
}

/* Ends what is left in other lanes of a peer that has restarted. */
static void group_forgotten(struct vgroup *g, const struct vlink *link)
{
	struct vgroup *first = group_find(g->vnet, g->peer);
	struct vlink *other;
	unsigned int i;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		g = first->lanes[i];
		if (!g || g == link->group || !g->instance ||
		    g->instance == link->instance)
			continue;
		list_for_each_entry(other, &g->links, node)
			if (READ_ONCE(other->state) == VLINK_UP &&
			    other->instance != link->instance)
				vlink_kill(other, ECONNRESET);
		vsuspend_reset_all(g, ECONNRESET);
	}
}

static void group_replace(struct vgroup *g, struct vlink *link)
{
	int err = g->instance == link->instance ? ETIMEDOUT : ECONNRESET;
	struct vlink *other;

	lockdep_assert_held(&g->vnet->lock);
	if (!group_self(g))
		list_for_each_entry(other, &g->links, node)
			if (other != link)
				vlink_kill(other, err);
	group_drop_trying(g);
	group_drop_out(g);
	kref_get(&link->refs);
	g->out = link;
	g->backoff = false;
	group_forgotten(g, link);
	vsuspend_link_up(g, link);
}

/**
 * vgroup_link_up() - let a link take connections
 * @link: a link that came up; nothing happens if this was called before
 *
 * On return, the peer's instance was compared with that of the existing
 * connections.  Those that a restarted peer has forgotten were reset, or their
 * links are dying.  Requests of the peer must not be served before.
 *
 * Context: process, may sleep.
 */
void vgroup_link_up(struct vlink *link)
{
	struct vgroup *g = link->group;
	struct vnet *vnet = g->vnet;
	struct vconn *vc;

	/* Pairs with smp_store_release() below. */
	if (smp_load_acquire(&link->taken))
		return;
	mutex_lock(&vnet->lock);
	if (link->taken || READ_ONCE(link->state) != VLINK_UP ||
	    (group_self(g) && !link->active))
		goto out;
	group_replace(g, link);
	/* Under vnet.lock, so vgroup_cancel() sees each waiting or attached. */
	while ((vc = group_pop_waiter(g))) {
		if (vconn_open(vc, link))
			sanx_conn_refused(vconn_conn(vc), SANX_FALLBACK_LINK);
		sanx_conn_put(vconn_conn(vc));
	}
	/* Pairs with smp_load_acquire() above, which runs without vnet.lock. */
	smp_store_release(&link->taken, true);
out:
	mutex_unlock(&vnet->lock);
}

/**
 * vgroup_link_ends() - let a link take no more connections
 * @link: a dying link
 *
 * Context: process, may sleep.
 */
void vgroup_link_ends(struct vlink *link)
{
	struct vgroup *g = link->group;

	mutex_lock(&g->vnet->lock);
	if (g->out == link)
		group_drop_out(g);
	mutex_unlock(&g->vnet->lock);
}

/**
 * vgroup_link_gone() - remove a dead link from its group
 * @link: a dead link; its own reference is put
 *
 * Context: process, may sleep.
 */
void vgroup_link_gone(struct vlink *link)
{
	struct vgroup *g = link->group;
	struct vnet *vnet = g->vnet;

	mutex_lock(&vnet->lock);
	list_del_init(&link->node);
	if (g->trying == link) {
		group_drop_trying(g);
		/*
		 * A link that gave way to the peer's leaves the waiters to that
		 * one.
		 */
		if (!link->yields)
			group_try_next(g);
	}
	mutex_unlock(&vnet->lock);
	vlink_put(link);
	/*
	 * Last access to vnet: net_exit() flushes vlink_wq before it is freed.
	 */
	if (atomic_dec_and_test(&vnet->n_links))
		wake_up(&vnet->gone);
}

static bool link_valid(const struct vlink *link)
{
	struct net *net = link->group->vnet->net;

	if (link->self != sanx_node_self(net))
		return false;
	/* Not resolved yet: there is no address to check. */
	return ipv6_addr_any(&link->remote) ||
	       sanx_node_has_rail(net, link->group->peer, &link->remote);
}

/**
 * vgroup_revalidate() - apply a changed node map
 * @vnet: the namespace
 *
 * Ends links to nodes and rails that are no longer in the map, and all links if
 * the id of this node has changed, resets suspended connections to such nodes,
 * and ends all backoffs.
 *
 * Context: process, may sleep.
 */
void vgroup_revalidate(struct vnet *vnet)
{
	struct sanx_node_info info;
	struct vgroup *g;
	struct vlink *link;

	mutex_lock(&vnet->lock);
	list_for_each_entry(g, &vnet->groups, node) {
		g->backoff = false;
		if (!sanx_node_by_id(vnet->net, g->peer, &info))
			vsuspend_reset_all(g, ECONNRESET);
		list_for_each_entry(link, &g->links, node)
			if (!link_valid(link))
				vlink_kill(link, ECONNRESET);
	}
	mutex_unlock(&vnet->lock);
}

static void group_stop(struct vgroup *g)
{
	struct vlink *link;

	lockdep_assert_held(&g->vnet->lock);
	group_drop_trying(g);
	group_drop_out(g);
	list_for_each_entry(link, &g->links, node)
		vlink_kill(link, ECONNRESET);
	group_refuse(g);
	g->backoff = false;
}

/**
 * vgroup_stop() - end all links of a namespace, and wait for that
 * @vnet: a namespace that is not running, without listeners
 *
 * Context: process, may sleep; vnet.ctl held.
 */
void vgroup_stop(struct vnet *vnet)
{
	struct vgroup *g, *next;
	LIST_HEAD(groups);

	mutex_lock(&vnet->lock);
	list_for_each_entry(g, &vnet->groups, node)
		group_stop(g);
	mutex_unlock(&vnet->lock);
	wait_event(vnet->gone, !atomic_read(&vnet->n_links));

	mutex_lock(&vnet->lock);
	list_splice_init(&vnet->groups, &groups);
	mutex_unlock(&vnet->lock);
	list_for_each_entry_safe(g, next, &groups, node) {
		list_del_init(&g->node);
		vsuspend_stop(g);
		cancel_delayed_work_sync(&g->timer);
		vgroup_put(g);
	}
}

/**
 * vgroup_has_conns() - are there connections, attached or suspended?
 * @vnet: the namespace
 *
 * Context: process, may sleep.
 * Return: true if there are.
 */
bool vgroup_has_conns(struct vnet *vnet)
{
	struct vlink *link;
	struct vgroup *g;
	bool found = false;

	mutex_lock(&vnet->lock);
	list_for_each_entry(g, &vnet->groups, node) {
		found |= g->n_suspended;
		list_for_each_entry(link, &g->links, node)
			found |= READ_ONCE(link->n_conns);
	}
	mutex_unlock(&vnet->lock);
	return found;
}

static int dump_link(struct vlink *link, struct sk_buff *skb,
		     struct netlink_callback *cb)
{
	struct sanx_link_info info = {
		.node		= link->group->peer,
		.transport	= vwire->name,
		.device		= link->devname,
		.state		= vlink_state_name(READ_ONCE(link->state)),
		.conns		= READ_ONCE(link->n_conns),
		.local		= link->local,
		.remote		= link->remote,
		.rtt		= min_t(u64, READ_ONCE(link->rtt_ns), U32_MAX),
		.long_min	= vlong_cutoff(link),
		.lane		= link->group->lane,
	};

	return sanx_nl_put_link(skb, cb, &info);
}

/*
 * Reports a group without a link, to show why its connections wait, or why new
 * ones are TCP.
 */
static int dump_none(struct vgroup *g, struct sk_buff *skb,
		     struct netlink_callback *cb)
{
	struct sanx_link_info info = {
		.node		= g->peer,
		.transport	= vwire->name,
		.device		= "",
		.state		= g->n_suspended ? "lost" : "held",
		.conns		= g->n_suspended,
		.lane		= g->lane,
	};

	return sanx_nl_put_link(skb, cb, &info);
}

static int dump_group(struct vgroup *g, struct sk_buff *skb,
		      struct netlink_callback *cb, int skip, int *n)
{
	struct vlink *link;
	int err = 0;

	list_for_each_entry(link, &g->links, node) {
		if ((*n)++ < skip)
			continue;
		err = dump_link(link, skb, cb);
		if (err)
			return err;
	}
	if ((g->n_suspended ||
	     (list_empty(&g->links) && group_in_backoff(g))) &&
	    (*n)++ >= skip)
		err = dump_none(g, skb, cb);
	return err;
}

/**
 * vgroup_dump() - sanx_transport_ops.dump_links
 * @vnet: the namespace
 * @skb: as there
 * @cb: as there
 * @skip: as there
 *
 * Context: process, may sleep.
 * Return: as dump_links().
 */
int vgroup_dump(struct vnet *vnet, struct sk_buff *skb,
		struct netlink_callback *cb, int skip)
{
	struct vgroup *g;
	int err = 0, n = 0;

	mutex_lock(&vnet->lock);
	list_for_each_entry(g, &vnet->groups, node) {
		err = dump_group(g, skb, cb, skip, &n);
		if (err)
			break;
	}
	mutex_unlock(&vnet->lock);
	return err ?: n;
}
