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
 * (group.out, guarded by lnet.lock).  If both nodes try to set up a link at
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

#include "config/cov.h"
#include "internal.h"

static void group_timeout(struct work_struct *work);

/* Returns lane 0 of a peer, which has pointers to the others. */
static struct sanx_group *group_find(struct sanx_lnet *lnet, u32 peer)
{
	struct sanx_group *g;

	lockdep_assert_held(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node) {
		if (g->lane)
			break;
		if (g->peer == peer)
			return g;
	}
	return NULL;
}

static struct sanx_group *group_alloc(struct sanx_lnet *lnet, u32 peer,
				      u32 lane)
{
	/*
	 * No I/O: a connection that moves to another link needs lnet.lock, and
	 * reclaim may wait for that connection.
	 */
	struct sanx_group *g = kzalloc(sizeof(*g), GFP_NOIO);

	if (!g)
		return NULL;
	kref_init(&g->refs);
	g->lnet = lnet;
	g->peer = peer;
	g->lane = lane;
	INIT_LIST_HEAD(&g->links);
	INIT_LIST_HEAD(&g->waiters);
	INIT_DELAYED_WORK(&g->timer, group_timeout);
	INIT_LIST_HEAD(&g->suspended);
	INIT_DELAYED_WORK(&g->retry, sanx_suspend_work);
	xa_init_flags(&g->ids, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	if (lane)
		list_add_tail(&g->node, &lnet->groups);
	else
		list_add(&g->node, &lnet->groups);
	return g;
}

/*
 * Finds or makes a group.  Groups are freed only when the lnet stops, so there
 * is at most one for each node id and lane that was ever used.
 */
static struct sanx_group *group_get(struct sanx_lnet *lnet, u32 peer, u32 lane)
{
	struct sanx_group *first = group_find(lnet, peer);

	if (!first) {
		first = group_alloc(lnet, peer, 0);
		if (!first)
			return NULL;
		first->lanes[0] = first;
		first->first = first;
	}
	if (first->lanes[lane])
		return first->lanes[lane];
	first->lanes[lane] = group_alloc(lnet, peer, lane);
	if (first->lanes[lane]) {
		kref_get(&first->refs);
		first->lanes[lane]->first = first;
	}
	return first->lanes[lane];
}

static void group_free(struct kref *refs)
{
	struct sanx_group *g = container_of(refs, struct sanx_group, refs);

	/* Each ring has a reference: sanx_lring_alloc(). */
	WARN_ON_ONCE(atomic_long_read(&g->memory));
	xa_destroy(&g->ids);
	if (g->first != g)
		sanx_group_put(g->first);
	kfree_rcu(g, rcu);
}

/**
 * sanx_group_put() - put a reference
 * @g: the group, not valid for the caller afterwards
 *
 * Context: any.
 */
void sanx_group_put(struct sanx_group *g)
{
	kref_put(&g->refs, group_free);
}

static bool group_self(const struct sanx_group *g)
{
	return g->peer == sanx_node_self(g->lnet->net);
}

static bool group_in_backoff(const struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	return g->backoff && time_before(jiffies, g->backoff_end);
}

static void group_start_backoff(struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	g->backoff = true;
	g->backoff_end = jiffies + msecs_to_jiffies(READ_ONCE(link_hold_ms));
}

static struct sanx_lconn *group_pop_waiter(struct sanx_group *g)
{
	struct sanx_lconn *lc;

	lockdep_assert_held(&g->lnet->lock);
	lc = list_first_entry_or_null(&g->waiters, struct sanx_lconn, wait);
	if (lc) {
		list_del_init(&lc->wait);
		lc->waiting = false;
	}
	return lc;
}

/* Refuses waiting connections, and starts a backoff for later ones. */
static void group_refuse(struct sanx_group *g)
{
	struct sanx_lconn *lc;

	group_start_backoff(g);
	while ((lc = group_pop_waiter(g))) {
		sanx_conn_refused(&lc->conn, SANX_FALLBACK_LINK);
		sanx_conn_put(&lc->conn);
	}
}

static void group_drop_out(struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	if (g->out)
		sanx_link_put(g->out);
	g->out = NULL;
}

static void group_drop_trying(struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	if (g->trying)
		sanx_link_put(g->trying);
	g->trying = NULL;
}

static int group_try(struct sanx_group *g)
{
	struct sanx_link *link;

	lockdep_assert_held(&g->lnet->lock);
	link = sanx_link_alloc(g, true);
	if (!link)
		return -ENOMEM;
	link->rail = g->rail;
	kref_get(&link->refs);
	g->trying = link;
	queue_work(sanx_link_wq, &link->start);
	return 0;
}

static void group_arm(struct sanx_group *g, unsigned long until)
{
	unsigned long now = jiffies;

	mod_delayed_work(sanx_link_wq, &g->timer,
			 time_before(now, until) ? until - now : 0);
}

/* Rails that were not tried yet have equal shares of the remaining time. */
static void group_set_limit(struct sanx_group *g)
{
	unsigned long now = jiffies;
	unsigned long rest = time_before(now, g->deadline) ? g->deadline - now : 0;

	g->try_end = now + rest / (g->rails_left + 1);
	group_arm(g, g->try_end);
}

/* Starts the time limit for a link, and plans to try each rail once. */
static void group_set_deadline(struct sanx_group *g)
{
	struct sanx_node_info info;

	lockdep_assert_held(&g->lnet->lock);
	g->rails_left = 0;
	if (sanx_node_by_id(g->lnet->net, g->peer, &info))
		g->rails_left = info.n_rails - 1;
	g->deadline = jiffies + msecs_to_jiffies(READ_ONCE(link_timeout_ms));
	group_set_limit(g);
}

/* A request of the peer was accepted; an attempt of ours would disturb it. */
static bool group_accepting(const struct sanx_group *g)
{
	struct sanx_link *link;

	if (group_self(g))
		return false;
	list_for_each_entry(link, &g->links, node)
		if (READ_ONCE(link->state) == SANX_LINK_ACCEPTING)
			return true;
	return false;
}

/**
 * sanx_group_try() - try to set up a link that no connect() waits for
 * @g: a group without a link
 * @n: number of the attempt; rail @n, modulo the number of rails, is tried
 *	first
 *
 * Context: process, lnet.lock held.
 */
void sanx_group_try(struct sanx_group *g, unsigned int n)
{
	struct sanx_node_info info;

	lockdep_assert_held(&g->lnet->lock);
	if (g->trying || group_accepting(g) ||
	    !sanx_node_by_id(g->lnet->net, g->peer, &info))
		return;
	g->rail = n % info.n_rails;
	group_set_deadline(g);
	group_try(g);
}

static int group_wait(struct sanx_group *g, struct sanx_lconn *lc)
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
	sanx_conn_get(&lc->conn);
	lc->waiting = true;
	list_add_tail(&lc->wait, &g->waiters);
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
static struct sanx_link *lanes_best(const struct sanx_group *first)
{
	unsigned int i, start = raw_smp_processor_id();
	struct sanx_link *best = NULL;
	bool unanswered = false;
	struct sanx_group *g;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		g = first->lanes[(start + i) % SANX_LANES_MAX];
		if (!g || !g->out)
			continue;
		if (sanx_ask_unanswered(g->out))
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
static void lanes_widen(struct sanx_group *first, unsigned int rail)
{
	unsigned int i, n = lanes_wanted();
	struct sanx_group *g;

	for (i = 0; i < n; i++) {
		g = first->lanes[i];
		if (g && (g->out || g->trying || group_in_backoff(g)))
			continue;
		g = group_get(first->lnet, first->peer, i);
		if (g)
			sanx_group_try(g, rail);
		return;
	}
}

static int group_connect(struct sanx_lnet *lnet, u32 peer,
			 struct sanx_lconn *lc, struct sanx_link **out)
{
	struct sanx_link *best;
	struct sanx_group *g;

	lockdep_assert_held(&lnet->lock);
	if (!lnet->running)
		return -ENETDOWN;
	g = group_get(lnet, peer, 0);
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
	return group_wait(g, lc);
}

/**
 * sanx_group_connect() - sanx_transport_ops.connect
 * @lc: the connection; after the first attempt it may still be attached
 *
 * Context: process, lock_sock() held.
 * Return: as connect().
 */
int sanx_group_connect(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_lnet *lnet = sanx_lnet_of(conn->net);
	struct sanx_node_info info;
	struct sanx_link *out = NULL;
	int err;

	if (lc->link)
		return sanx_lconn_reopen(lc);
	/* sanx_lconn_destroy() follows in any case. */
	sanx_lconn_init(lc);
	if (!sanx_node_by_addr(conn->net, &conn->remote.addr, &info))
		return -EHOSTUNREACH;
	mutex_lock(&lnet->lock);
	err = group_connect(lnet, info.id, lc, &out);
	mutex_unlock(&lnet->lock);
	if (out) {
		err = sanx_lconn_open(lc, out);
		sanx_link_put(out);
	}
	return err;
}

/**
 * sanx_group_cancel() - stop waiting for a link
 * @lc: a connection that is not attached; if it waits, it may become attached
 *	at any time
 *
 * Context: process, may sleep.
 * Return: true if it waited, and then no answer will come and its reference was
 * put; false if it is attached, or does not wait.
 */
bool sanx_group_cancel(struct sanx_lconn *lc)
{
	struct sanx_lnet *lnet = sanx_lnet_of(lc->conn.net);
	bool waited;

	mutex_lock(&lnet->lock);
	waited = lc->waiting;
	if (waited) {
		list_del_init(&lc->wait);
		lc->waiting = false;
	}
	mutex_unlock(&lnet->lock);
	if (waited)
		sanx_conn_put(&lc->conn);
	return waited;
}

/* After a failed attempt: tries the next rail, if there is one and time. */
static void group_try_next(struct sanx_group *g)
{
	struct sanx_node_info info;

	lockdep_assert_held(&g->lnet->lock);
	if (!g->lnet->running || !g->rails_left ||
	    (list_empty(&g->waiters) && !g->n_suspended) ||
	    !time_before(jiffies, g->deadline) ||
	    !sanx_node_by_id(g->lnet->net, g->peer, &info)) {
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
	struct sanx_group *g = container_of(to_delayed_work(work),
					    struct sanx_group, timer);
	bool cov = sanx_cov_start(g->lnet->net);

	mutex_lock(&g->lnet->lock);
	/* The timer is not cancelled when an attempt succeeds. */
	if (g->trying && time_after_eq(jiffies, g->try_end)) {
		sanx_link_kill(g->trying, SANX_END_LOST);
		group_drop_trying(g);
		group_try_next(g);
	} else if (!g->trying && !list_empty(&g->waiters)) {
		/* The connections wait for the peer's attempt. */
		if (time_after_eq(jiffies, g->deadline))
			group_refuse(g);
		else
			group_arm(g, g->deadline);
	}
	mutex_unlock(&g->lnet->lock);
	sanx_cov_stop(cov);
}

/* Links that peers have asked for and that are not up, of all peers or of one. */
static unsigned int half_open(const struct sanx_lnet *lnet, u32 peer)
{
	const struct sanx_group *g;
	const struct sanx_link *link;
	unsigned int n = 0;

	lockdep_assert_held(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node) {
		if (peer && g->peer != peer)
			continue;
		list_for_each_entry(link, &g->links, node)
			n += !link->active &&
			     READ_ONCE(link->state) != SANX_LINK_UP;
	}
	return n;
}

/*
 * As TCP's queue of SYNs, each such link is memory that a peer takes before it
 * has shown that it will use it.
 */
static bool half_open_full(const struct sanx_lnet *lnet, u32 peer)
{
	const struct sanx_net *sn = sanx_net(lnet->net);

	return half_open(lnet, peer) >= READ_ONCE(sn->half_open_peer) ||
	       half_open(lnet, 0) >= READ_ONCE(sn->half_open);
}

/**
 * sanx_group_accept() - decide on a request of a peer for a link
 * @lnet: the namespace
 * @ask: the request
 * @hello: the peer's hello, checked by itself and against the node map
 * @auth: what it proves; copied, with a reference of its key
 * @wl: the wire's part; on success the link owns it
 *
 * Context: process, in an upcall of the wire.
 * Return: a link that is accepting, with a reference for the caller; or an
 * error pointer: -EALREADY if our attempt has precedence, -EACCES if the
 * node map has changed, -EKEYREJECTED if the key is not valid any more,
 * -EBUSY if too many links are half open, -EUSERS if the peer asks too often,
 * -ENETDOWN, -ENOMEM.
 */
struct sanx_link *sanx_group_accept(struct sanx_lnet *lnet,
				    const struct sanx_wire_ask *ask,
				    const struct sanx_hello_info *hello,
				    const struct sanx_auth *auth,
				    struct sanx_wire_link *wl)
{
	struct sanx_link *link = ERR_PTR(-ENETDOWN);
	struct sanx_group *g;

	mutex_lock(&lnet->lock);
	if (!lnet->running)
		goto out;
	link = ERR_PTR(-EACCES);
	if (!sanx_node_has_rail(lnet->net, hello->from, &ask->remote) ||
	    sanx_node_self(lnet->net) != hello->to)
		goto out;
	link = ERR_PTR(-EKEYREJECTED);
	if (!sanx_key_valid(lnet->net, hello->from, auth->key))
		goto out;
	link = ERR_PTR(-EBUSY);
	if (half_open_full(lnet, hello->from))
		goto out;
	link = ERR_PTR(-ENOMEM);
	g = group_get(lnet, hello->from, hello->lane);
	if (!g)
		goto out;
	link = ERR_PTR(-EUSERS);
	if (!sanx_bounds_link(g))
		goto out;
	if (g->trying && !group_self(g)) {
		link = ERR_PTR(-EALREADY);
		if (hello->to < hello->from)
			goto out;
		g->trying->yields = true;
		sanx_link_kill(g->trying, SANX_END_REFUSED);
	}
	link = sanx_link_alloc(g, false);
	if (!link) {
		link = ERR_PTR(-ENOMEM);
		goto out;
	}
	/* If map or keys change from here on, sanx_group_revalidate() follows. */
	link->self = hello->to;
	link->local = ask->local;
	link->remote = ask->remote;
	link->auth = *auth;
	sanx_key_get(link->auth.key);
	kref_get(&link->refs);
	link->wl = wl;
	wl->link = link;
out:
	mutex_unlock(&lnet->lock);
	return link;
}

/* Ends what is left in other lanes of a peer that has restarted. */
static void group_forgotten(struct sanx_group *g, const struct sanx_link *link)
{
	struct sanx_group *first = group_find(g->lnet, g->peer);
	struct sanx_link *other;
	unsigned int i;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		g = first->lanes[i];
		if (!g || g == link->group || !g->instance ||
		    g->instance == link->instance)
			continue;
		list_for_each_entry(other, &g->links, node)
			if (READ_ONCE(other->state) == SANX_LINK_UP &&
			    other->instance != link->instance)
				sanx_link_kill(other, SANX_END_RESTARTED);
		sanx_suspend_reset_all(g, ECONNRESET);
	}
}

static void group_replace(struct sanx_group *g, struct sanx_link *link)
{
	enum sanx_link_end why = g->instance == link->instance ?
				 SANX_END_LOST : SANX_END_RESTARTED;
	struct sanx_link *other;

	lockdep_assert_held(&g->lnet->lock);
	if (!group_self(g))
		list_for_each_entry(other, &g->links, node)
			if (other != link)
				sanx_link_kill(other, why);
	group_drop_trying(g);
	group_drop_out(g);
	kref_get(&link->refs);
	g->out = link;
	g->backoff = false;
	group_forgotten(g, link);
	sanx_suspend_link_up(g, link);
}

/**
 * sanx_group_link_up() - let a link take connections
 * @link: a link that came up; nothing happens if this was called before
 *
 * On return, the peer's instance was compared with that of the existing
 * connections.  Those that a restarted peer has forgotten were reset, or their
 * links are dying.  Requests of the peer must not be served before.
 *
 * Context: process, may sleep.
 */
void sanx_group_link_up(struct sanx_link *link)
{
	struct sanx_group *g = link->group;
	struct sanx_lnet *lnet = g->lnet;
	struct sanx_lconn *lc;

	/* Pairs with smp_store_release() below. */
	if (smp_load_acquire(&link->taken))
		return;
	mutex_lock(&lnet->lock);
	if (link->taken || READ_ONCE(link->state) != SANX_LINK_UP ||
	    (group_self(g) && !link->active))
		goto out;
	group_replace(g, link);
	/*
	 * Under lnet.lock, so sanx_group_cancel() sees each waiting or
	 * attached.
	 */
	while ((lc = group_pop_waiter(g))) {
		if (sanx_lconn_open(lc, link))
			sanx_conn_refused(&lc->conn, SANX_FALLBACK_LINK);
		sanx_conn_put(&lc->conn);
	}
	/* Pairs with smp_load_acquire() above, which runs without lnet.lock. */
	smp_store_release(&link->taken, true);
out:
	mutex_unlock(&lnet->lock);
}

/**
 * sanx_group_link_ends() - let a link take no more connections
 * @link: a dying link
 *
 * Context: process, may sleep.
 */
void sanx_group_link_ends(struct sanx_link *link)
{
	struct sanx_group *g = link->group;

	mutex_lock(&g->lnet->lock);
	if (g->out == link)
		group_drop_out(g);
	mutex_unlock(&g->lnet->lock);
}

/**
 * sanx_group_link_gone() - remove a dead link from its group
 * @link: a dead link; its own reference is put
 *
 * Context: process, may sleep.
 */
void sanx_group_link_gone(struct sanx_link *link)
{
	struct sanx_group *g = link->group;
	struct sanx_lnet *lnet = g->lnet;

	mutex_lock(&lnet->lock);
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
	mutex_unlock(&lnet->lock);
	sanx_link_put(link);
	/*
	 * Last access to lnet: net_exit() flushes sanx_link_wq before it is
	 * freed.
	 */
	if (atomic_dec_and_test(&lnet->n_links))
		wake_up(&lnet->gone);
}

static bool link_key_valid(const struct sanx_link *link)
{
	const struct sanx_group *g = link->group;

	return !link->auth.key ||
	       sanx_key_valid(g->lnet->net, g->peer, link->auth.key);
}

static bool link_valid(const struct sanx_link *link)
{
	struct net *net = link->group->lnet->net;

	if (link->self != sanx_node_self(net))
		return false;
	/* Not resolved yet: there is no address to check. */
	return ipv6_addr_any(&link->remote) ||
	       sanx_node_has_rail(net, link->group->peer, &link->remote);
}

/**
 * sanx_group_revalidate() - apply a changed node map, or changed keys
 * @lnet: the namespace
 *
 * Ends links to nodes and rails that are no longer in the map, and all links if
 * the id of this node has changed, resets suspended connections to such nodes,
 * and ends all backoffs.  A link with a key that is not valid any more, or
 * without one if there is one now, is taken for lost: its connections continue on
 * one with a valid key.
 *
 * Context: process, may sleep.
 */
void sanx_group_revalidate(struct sanx_lnet *lnet)
{
	struct sanx_node_info info;
	struct sanx_group *g;
	struct sanx_link *link;

	mutex_lock(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node) {
		g->backoff = false;
		if (!sanx_node_by_id(lnet->net, g->peer, &info))
			sanx_suspend_reset_all(g, ECONNRESET);
		list_for_each_entry(link, &g->links, node)
			if (!link_valid(link))
				sanx_link_kill(link, SANX_END_CONFIG);
			else if (!link_key_valid(link))
				sanx_link_kill(link, SANX_END_LOST);
	}
	mutex_unlock(&lnet->lock);
}

static void group_stop(struct sanx_group *g)
{
	struct sanx_link *link;

	lockdep_assert_held(&g->lnet->lock);
	group_drop_trying(g);
	group_drop_out(g);
	list_for_each_entry(link, &g->links, node)
		sanx_link_kill(link, SANX_END_CONFIG);
	group_refuse(g);
	g->backoff = false;
}

/**
 * sanx_group_stop() - end all links of a namespace, and wait for that
 * @lnet: a namespace that is not running, without listeners
 *
 * Context: process, may sleep; lnet.ctl held.
 */
void sanx_group_stop(struct sanx_lnet *lnet)
{
	struct sanx_group *g, *next;
	LIST_HEAD(groups);

	mutex_lock(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node)
		group_stop(g);
	mutex_unlock(&lnet->lock);
	wait_event(lnet->gone, !atomic_read(&lnet->n_links));

	mutex_lock(&lnet->lock);
	list_splice_init(&lnet->groups, &groups);
	mutex_unlock(&lnet->lock);
	list_for_each_entry_safe(g, next, &groups, node) {
		list_del_init(&g->node);
		sanx_suspend_stop(g);
		cancel_delayed_work_sync(&g->timer);
		sanx_group_put(g);
	}
}

/**
 * sanx_group_has_conns() - are there connections, attached or suspended?
 * @lnet: the namespace
 *
 * Context: process, may sleep.
 * Return: true if there are.
 */
bool sanx_group_has_conns(struct sanx_lnet *lnet)
{
	struct sanx_link *link;
	struct sanx_group *g;
	bool found = false;

	mutex_lock(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node) {
		found |= g->n_suspended;
		list_for_each_entry(link, &g->links, node)
			found |= READ_ONCE(link->n_conns);
	}
	mutex_unlock(&lnet->lock);
	return found;
}

/* The key that the peer has proved, or 0. */
static u32 link_key_id(const struct sanx_link *link)
{
	lockdep_assert_held(&link->group->lnet->lock);
	if (READ_ONCE(link->auth.phase) != SANX_AUTH_PROVEN || !link->auth.key)
		return 0;
	return link->auth.key->id;
}

static int dump_link(struct sanx_link *link, struct sk_buff *skb,
		     struct netlink_callback *cb)
{
	struct sanx_link_info info = {
		.node		= link->group->peer,
		.transport	= sanx_link_wire->name,
		.device		= link->devname,
		.state		= sanx_link_state_name(READ_ONCE(link->state)),
		.conns		= READ_ONCE(link->n_conns),
		.local		= link->local,
		.remote		= link->remote,
		.rtt		= min_t(u64, READ_ONCE(link->rtt_ns), U32_MAX),
		.long_min	= sanx_long_cutoff(link),
		.lane		= link->group->lane,
		.key		= link_key_id(link),
	};

	return sanx_nl_put_link(skb, cb, &info);
}

/*
 * Reports a group without a link, to show why its connections wait, or why new
 * ones are TCP.
 */
static int dump_none(struct sanx_group *g, struct sk_buff *skb,
		     struct netlink_callback *cb)
{
	struct sanx_link_info info = {
		.node		= g->peer,
		.transport	= sanx_link_wire->name,
		.device		= "",
		.state		= g->n_suspended ? "lost" : "held",
		.conns		= g->n_suspended,
		.lane		= g->lane,
	};

	return sanx_nl_put_link(skb, cb, &info);
}

static int dump_group(struct sanx_group *g, struct sk_buff *skb,
		      struct netlink_callback *cb, int skip, int *n)
{
	struct sanx_link *link;
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
 * sanx_group_dump() - sanx_transport_ops.dump_links
 * @lnet: the namespace
 * @skb: as there
 * @cb: as there
 * @skip: as there
 *
 * Context: process, may sleep.
 * Return: as dump_links().
 */
int sanx_group_dump(struct sanx_lnet *lnet, struct sk_buff *skb,
		    struct netlink_callback *cb, int skip)
{
	struct sanx_group *g;
	int err = 0, n = 0;

	mutex_lock(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node) {
		err = dump_group(g, skb, cb, skip, &n);
		if (err)
			break;
	}
	mutex_unlock(&lnet->lock);
	return err ?: n;
}
