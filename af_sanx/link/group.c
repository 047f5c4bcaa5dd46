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
 * Which rail a link runs over, and when a lane moves to another, is decided in rail.c.
 * Lanes from SANX_LANES_MAX on are for standby links, which carry no connections.
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

/* Pages that a lane takes. */
#define GROUP_PAGES	DIV_ROUND_UP(sizeof(struct sanx_group), PAGE_SIZE)

static void group_timeout(struct work_struct *work);

/* Returns lane 0 of a peer, which has pointers to the others. */
static struct sanx_group *group_find(struct sanx_lnet *lnet, u32 peer)
{
	lockdep_assert_held(&lnet->lock);
	return xa_load(&lnet->peers, peer);
}

/* Return: a lane; or an error pointer: -ENOMEM, or -EDQUOT if the user may have no more. */
static struct sanx_group *group_alloc(struct sanx_lnet *lnet, u32 peer,
				      u32 lane)
{
	struct sanx_group *g;

	lockdep_assert_held(&lnet->lock);
	if (!sanx_user_claim(lnet->user, GROUP_PAGES, 4))
		return ERR_PTR(-EDQUOT);
	/*
	 * No I/O: a connection that moves to another link needs lnet.lock, and
	 * reclaim may wait for that connection.
	 */
	g = kzalloc(sizeof(*g), GFP_NOIO);
	if (!g) {
		sanx_user_unclaim(lnet->user, GROUP_PAGES);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&g->refs);
	g->lnet = lnet;
	g->user = sanx_user_get(lnet->user);
	g->peer = peer;
	g->lane = lane;
	INIT_LIST_HEAD(&g->links);
	INIT_LIST_HEAD(&g->waiters);
	INIT_DELAYED_WORK(&g->timer, group_timeout);
	INIT_DELAYED_WORK(&g->care, sanx_rails_care_work);
	INIT_LIST_HEAD(&g->suspended);
	INIT_DELAYED_WORK(&g->retry, sanx_suspend_work);
	xa_init_flags(&g->ids, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	list_add_tail(&g->node, &lnet->groups);
	return g;
}

/*
 * Finds or makes a group.  Groups are freed when the lnet stops, and when the node map
 * changes and does not have their node.
 */
static struct sanx_group *group_get(struct sanx_lnet *lnet, u32 peer, u32 lane)
{
	struct sanx_group *first = group_find(lnet, peer);

	if (!first) {
		first = group_alloc(lnet, peer, 0);
		if (IS_ERR(first))
			return first;
		first->lanes[0] = first;
		first->first = first;
		sanx_rails_renumber(first);
		if (xa_err(xa_store(&lnet->peers, peer, first, GFP_NOIO))) {
			list_del(&first->node);
			sanx_group_put(first);
			return ERR_PTR(-ENOMEM);
		}
	}
	return sanx_group_lane(first, lane);
}

/**
 * sanx_group_lane() - find or make another lane to a node
 * @first: lane 0
 * @lane: number of the lane, below SANX_LANES_ALL
 *
 * Context: process, lnet.lock held.
 * Return: the lane; or an error pointer: -ENOMEM, or -EDQUOT if the user may have no more.
 */
struct sanx_group *sanx_group_lane(struct sanx_group *first, u32 lane)
{
	struct sanx_group *g = first->lanes[lane];

	if (g)
		return g;
	g = group_alloc(first->lnet, first->peer, lane);
	if (IS_ERR(g))
		return g;
	kref_get(&first->refs);
	g->first = first;
	first->lanes[lane] = g;
	return g;
}

static void group_free(struct kref *refs)
{
	struct sanx_group *g = container_of(refs, struct sanx_group, refs);

	/* Each ring and chunk has a reference. */
	WARN_ON_ONCE(atomic_long_read(&g->memory));
	xa_destroy(&g->ids);
	if (g->first != g)
		sanx_group_put(g->first);
	sanx_user_unclaim(g->user, GROUP_PAGES);
	sanx_user_put(g->user);
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

/**
 * sanx_group_in_backoff() - do connects not wait for a link?
 * @g: the lane
 *
 * Context: process, lnet.lock held.
 * Return: true if the last attempt has failed lately.
 */
bool sanx_group_in_backoff(const struct sanx_group *g)
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
		sanx_lconn_set_owner(lc, SANX_OWNER_NONE);
		list_del_init(&lc->wait);
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

static void group_drop(struct sanx_link **link)
{
	if (*link)
		sanx_link_put(*link);
	*link = NULL;
}

/*
 * What happens to the links of a lane.  This alone changes .state, .out and .trying.
 * @link: for LANE_ATTEMPT and LANE_LINK, of which the lane takes a reference; else NULL
 */
static void group_step(struct sanx_group *g, enum lane_event event,
		       struct sanx_link *link)
{
	enum lane_state to = lane_next(g->state, event);

	lockdep_assert_held(&g->lnet->lock);
	if (WARN_ONCE(to == __LANE_STATES, "lane: event %d in state %d\n", event, g->state))
		return;
	if (link)
		kref_get(&link->refs);
	if (event != LANE_LOST)
		group_drop(&g->trying);
	if (event != LANE_ATTEMPT && event != LANE_FAILED)
		group_drop(&g->out);
	if (event == LANE_ATTEMPT)
		g->trying = link;
	else if (event == LANE_LINK)
		g->out = link;
	/* Who could not be reached was, or will not be asked for. */
	if (event == LANE_LINK || event == LANE_STOPS)
		g->backoff = false;
	g->state = to;
}

/**
 * sanx_group_refused() - the peer has refused a link that we asked for
 * @link: the link
 * @never: the peer's AF_SANX has refused; else no AF_SANX answered
 *
 * The peer as a whole refuses when no other rail could still carry the connections:
 * one that carries them now, or that could not be reached, also for want of a carrier
 * of our own.
 *
 * Context: process, lnet.lock held; takes tx_lock.
 */
void sanx_group_refused(struct sanx_link *link, bool never)
{
	struct sanx_group *g = link->group;
	struct sanx_rails_seen s;

	lockdep_assert_held(&g->lnet->lock);
	if (g->trying != link)
		return;
	g->refused |= BIT(g->rail);
	sanx_rails_look(g, &s);
	if (!g->out && !(s.allowed & ~g->refused))
		sanx_suspend_refused(g, never);
}

/* Does a link take connections?  One that was lost stays group.out for a moment. */
static bool group_linked(const struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	return g->out && READ_ONCE(g->out->state) == SANX_LINK_UP;
}

/* Starts an attempt on the best rail that was not tried yet; @waits: for a connection. */
static int group_try(struct sanx_group *g, bool waits)
{
	const struct sanx_wire_ops *wire = NULL;
	struct sanx_rails_seen s;
	struct sanx_link *link;

	lockdep_assert_held(&g->lnet->lock);
	sanx_rails_look(g, &s);
	g->rail = rails_choose(&g->first->rails, &s.view, g->tried, waits, jiffies);
	if (g->rail < RAILS_MAX)
		wire = sanx_link_wire(g->lnet, s.peer.kind[g->rail]);
	if (!wire)
		return -ENODEV;
	link = sanx_link_alloc(g, wire, true);
	if (IS_ERR(link)) {
		sanx_rail_note(g, g->rail, SANX_CAUSE_NO_WAY);
		return PTR_ERR(link);
	}
	link->remote = s.peer.rail[g->rail];
	if (group_linked(g) || sanx_group_standby(g))
		link->use = SANX_LINK_TRIAL;
	g->tried |= BIT(g->rail);
	group_step(g, LANE_ATTEMPT, link);
	queue_work(sanx_link_wq, &link->start);
	return 0;
}

static void group_arm(struct sanx_group *g, unsigned long until)
{
	unsigned long now = jiffies;

	mod_delayed_work(sanx_link_wq, &g->timer,
			 time_before(now, until) ? until - now : 0);
}

/* The rail that is tried, and those that were not yet, have equal shares of the time. */
static void group_set_limit(struct sanx_group *g)
{
	unsigned long now = jiffies;
	unsigned long rest = time_before(now, g->deadline) ? g->deadline - now : 0;
	struct sanx_rails_seen s;

	sanx_rails_look(g, &s);
	g->try_end = now + rest / (hweight32(s.view.usable & ~g->tried) + 1);
	group_arm(g, g->try_end);
}

/* Starts the time limit for a link, and plans to try each rail. */
static void group_set_deadline(struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	g->tried = 0;
	g->refused = 0;
	g->final = 0;
	g->deadline = jiffies + msecs_to_jiffies(READ_ONCE(link_timeout_ms));
}

static int group_try_first(struct sanx_group *g, bool waits)
{
	int err;

	group_set_deadline(g);
	err = group_try(g, waits);
	group_set_limit(g);
	return err;
}

/*
 * A request of the peer was accepted, and sanx_group_link_up() will follow; an attempt
 * of ours would disturb it.
 */
static bool group_accepting(const struct sanx_group *g)
{
	enum sanx_link_state state;
	struct sanx_link *link;

	lockdep_assert_held(&g->lnet->lock);
	if (group_self(g))
		return false;
	list_for_each_entry(link, &g->links, node) {
		state = READ_ONCE(link->state);
		if (state == SANX_LINK_ACCEPTING ||
		    (state == SANX_LINK_UP && !link->active &&
		     READ_ONCE(link->use) != SANX_LINK_TAKEN))
			return true;
	}
	return false;
}

/* Is a link up, or asked for by the peer, that will take the place of group.out? */
static bool group_replacing(const struct sanx_group *g)
{
	return group_accepting(g) ||
	       (g->trying && READ_ONCE(g->trying->state) == SANX_LINK_UP &&
		READ_ONCE(g->trying->use) != SANX_LINK_TRIAL);
}

/**
 * sanx_group_can_try() - may this node try to set up a link in a lane?
 * @g: the lane
 *
 * Context: process, lnet.lock held.
 * Return: false if an attempt of either node is under way.
 */
bool sanx_group_can_try(const struct sanx_group *g)
{
	return !g->trying && !group_accepting(g);
}

/**
 * sanx_group_try_only() - try to set up a link on a rail, and on no other
 * @g: a lane without an attempt under way; if it has a link, the new one replaces it
 * @rail: number of the rail
 *
 * Context: process, lnet.lock held.
 * Return: 0; or -ENOMEM or -EDQUOT, and then nothing tells when it may succeed.
 */
int sanx_group_try_only(struct sanx_group *g, unsigned int rail)
{
	int err;

	lockdep_assert_held(&g->lnet->lock);
	group_set_deadline(g);
	g->tried = ~(u32)BIT(rail);
	g->final = g->tried;
	err = group_try(g, false);
	if (!err)
		group_set_limit(g);
	return err;
}

/**
 * sanx_group_try() - try to set up a link that no connect() waits for
 * @g: a group without a link
 *
 * Context: process, lnet.lock held.
 */
void sanx_group_try(struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	if (sanx_group_can_try(g))
		group_try_first(g, g->n_suspended);
}

static int group_wait(struct sanx_group *g, struct sanx_lconn *lc)
{
	int err;

	if (list_empty(&g->waiters)) {
		if (g->trying || group_accepting(g)) {
			group_set_deadline(g);
			if (g->trying)
				g->tried = BIT(g->rail);
			group_set_limit(g);
			err = 0;
		} else {
			err = group_try_first(g, true);
		}
		if (err)
			return err;
	}
	sanx_conn_get(&lc->conn);
	sanx_lconn_set_owner(lc, SANX_OWNER_WAITERS);
	list_add_tail(&lc->wait, &g->waiters);
	return 0;
}

/*
 * How many lanes: as many as there are CPUs; and if the load is spread, as many for
 * each rail, whether it works at present or not.
 */
static unsigned int lanes_wanted(const struct sanx_group *first)
{
	const struct sanx_net *sn = sanx_net(first->lnet->net);
	unsigned int n = READ_ONCE(lanes) ?: num_online_cpus(), rails;
	struct sanx_rails_seen s;

	if (READ_ONCE(sn->rail_policy) != SANX_RAIL_IN_ORDER) {
		sanx_rails_look(first, &s);
		rails = hweight32(rails_tier(&s.view, s.view.usable & ~s.view.drain));
		n = roundup(n, max(rails, 1U));
	}
	return min(n, SANX_LANES_MAX);
}

/*
 * Finds the link with the fewest connections in one of @lanes; among equals, the one
 * of this CPU.
 * Return: the link; NULL if no link is up; or an error pointer if the peer does
 * not answer OPENs on any link that is up.
 */
static struct sanx_link *lanes_best(const struct sanx_group *first, u32 lanes_set)
{
	unsigned int i, n, start = raw_smp_processor_id();
	struct sanx_link *best = NULL;
	bool unanswered = false;
	struct sanx_group *g;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		n = (start + i) % SANX_LANES_MAX;
		g = first->lanes[n];
		if (!g || !group_linked(g) || !(lanes_set & BIT(n)))
			continue;
		if (sanx_ask_unanswered(g->out))
			unanswered = true;
		else if (!best || READ_ONCE(g->out->n_conns) <
				  READ_ONCE(best->n_conns))
			best = g->out;
	}
	return best ?: unanswered ? ERR_PTR(-EHOSTUNREACH) : NULL;
}

/* What a rail has of that which a policy keeps small; 0 if that is not known. */
static u64 rail_burden(const struct sanx_group *first,
		       const struct sanx_rails_seen *s, unsigned int rail,
		       enum sanx_rail_policy policy)
{
	const struct sanx_link *link;
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		if (s->lane_rail[i] != rail)
			continue;
		link = first->lanes[i]->out;
		if (policy == SANX_RAIL_MIN_INFLIGHT)
			sum += link_credit_inflight(&link->credit);
		else
			sum = max(sum, READ_ONCE(link->srtt_ns));
	}
	return sum;
}

/* The rail of the tier to which a connection goes, by the policy. */
static unsigned int rail_for_conn(struct sanx_group *first,
				  const struct sanx_rails_seen *s, u32 tier)
{
	enum sanx_rail_policy policy =
		READ_ONCE(sanx_net(first->lnet->net)->rail_policy);
	u64 burden, least = U64_MAX;
	unsigned int i;
	u32 best = 0;

	for (i = 0; i < RAILS_MAX && policy != SANX_RAIL_ROUND_ROBIN; i++) {
		if (!(tier & BIT(i)))
			continue;
		burden = div_u64(rail_burden(first, s, i, policy),
				 max(s->view.weight[i], 1U));
		if (burden < least)
			best = 0;
		if (burden <= least)
			best |= BIT(i);
		least = min(least, burden);
	}
	return rails_give(&first->given, &s->view, tier, best ?: tier);
}

/* The lanes of some rails, with those of which the map does not have the rail any more. */
static u32 lanes_of(const struct sanx_rails_seen *s, u32 rails)
{
	unsigned int i;
	u32 set = 0;

	for (i = 0; i < SANX_LANES_MAX; i++)
		if (rails & BIT(s->lane_rail[i]))
			set |= BIT(i);
	return set;
}

/**
 * sanx_group_widen() - set up lanes for later connections
 * @first: lane 0
 * @all: all that there should be; else one more
 *
 * Context: process, lnet.lock held.
 */
void sanx_group_widen(struct sanx_group *first, bool all)
{
	unsigned int i, n = lanes_wanted(first);
	struct sanx_group *g;

	for (i = 0; i < n; i++) {
		g = first->lanes[i];
		if (g && (g->state != LANE_DOWN || sanx_group_in_backoff(g)))
			continue;
		g = sanx_group_lane(first, i);
		if (!IS_ERR(g))
			sanx_group_try(g);
		if (!all)
			return;
	}
}

/*
 * Finds the link for a new connection.
 * Return: as lanes_best(); an error pointer also if all rails are to be left: the
 * connections that are there stay, and no others come.
 */
static struct sanx_link *group_best(struct sanx_group *first, bool choice)
{
	struct sanx_link *best = NULL;
	struct sanx_rails_seen s;
	u32 tier;

	if (!choice || group_self(first))
		return lanes_best(first, ~0U);
	sanx_rails_look(first, &s);
	if (s.view.usable && !(s.view.usable & ~s.view.drain))
		return ERR_PTR(-EHOSTUNREACH);
	tier = rails_tier(&s.view, s.used & s.view.usable & ~s.view.drain);
	if (s.view.spread && tier)
		best = lanes_best(first, lanes_of(&s, BIT(rail_for_conn(first, &s, tier))));
	/* The peer may not answer on that rail. */
	if (!best || IS_ERR(best))
		best = lanes_best(first, lanes_of(&s, ~s.view.drain));
	return best;
}

static int group_connect(struct sanx_lnet *lnet, const struct sanx_node_info *peer,
			 struct sanx_lconn *lc, struct sanx_link **out)
{
	struct sanx_link *best;
	struct sanx_group *g;

	lockdep_assert_held(&lnet->lock);
	if (!lnet->running)
		return -ENETDOWN;
	g = group_get(lnet, peer->id, 0);
	if (IS_ERR(g))
		return PTR_ERR(g);
	best = group_best(g, peer->n_rails > 1 || sanx_rail_any_setting(lnet->net));
	if (IS_ERR(best))
		return PTR_ERR(best);
	if (best) {
		kref_get(&best->refs);
		*out = best;
		if (READ_ONCE(best->n_conns))
			sanx_group_widen(g, false);
		return 0;
	}
	if (sanx_group_in_backoff(g))
		return -EHOSTUNREACH;
	return group_wait(g, lc);
}

/* A link that is lost just now is no reason for TCP: there may be another. */
static int group_open(struct sanx_lconn *lc, struct sanx_link *link)
{
	int err = sanx_lconn_open(lc, link);

	if (err != -ENOTCONN)
		return err;
	sanx_conn_again(&lc->conn);
	return 0;
}

/*
 * A retry that was due before may come late: then it waits already, or was opened.
 * Return: true if the connection is to be opened.
 */
static bool connect_begins(struct sanx_lconn *lc)
{
	if (READ_ONCE(lc->owner) != SANX_OWNER_NONE)
		return false;
	/* It may have been refused before. */
	if (!lc->link)
		sanx_lconn_init(lc);
	return true;
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
	bool mapped;
	int err = 0;

	if (READ_ONCE(lc->link)) {
		err = sanx_lconn_reopen(lc);
		if (err != -EAGAIN)
			return err;
		err = 0;
	}
	mapped = sanx_node_by_addr(conn->net, &conn->remote.addr, &info);
	/* sanx_group_link_up() holds it, from taking a waiter to having opened it. */
	mutex_lock(&lnet->lock);
	if (connect_begins(lc))
		err = mapped ? group_connect(lnet, &info, lc, &out) : -EHOSTUNREACH;
	mutex_unlock(&lnet->lock);
	if (out) {
		err = group_open(lc, out);
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
	waited = lc->owner == SANX_OWNER_WAITERS;
	if (waited) {
		sanx_lconn_set_owner(lc, SANX_OWNER_NONE);
		list_del_init(&lc->wait);
	}
	mutex_unlock(&lnet->lock);
	if (waited)
		sanx_conn_put(&lc->conn);
	return waited;
}

/* Does no connection wait for a link? */
static bool group_unwanted(const struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	return list_empty(&g->waiters) && !g->n_suspended;
}

/* Return: set of enum lane_sees. */
static u32 group_sees(const struct sanx_group *g)
{
	struct sanx_rails_seen s;

	sanx_rails_look(g, &s);
	return (g->lnet->running ? LANE_RUNS : 0) |
	       (group_linked(g) ? LANE_CARRIES : 0) |
	       (list_empty(&g->waiters) ? 0 : LANE_WAITED) |
	       (g->n_suspended ? LANE_SUSPENDS : 0) |
	       (s.view.usable & ~g->tried ? LANE_UNTRIED : 0) |
	       (time_before(jiffies, g->deadline) ? LANE_TIME : 0);
}

/*
 * Those of @rails that were tried, and are not final, are tried once more.  One packet may
 * have been lost: the RDMA CM asks for the peer's hardware address at the beginning of a
 * step and when its time is over, and not in between (drivers/infiniband/core/addr.c).
 */
static void group_once_more(struct sanx_group *g, u32 rails)
{
	u32 more = rails & g->tried & ~g->final;

	g->final |= more;
	g->tried &= ~more;
}

/* After a failed attempt: tries the next rail, or one once more, if there is time. */
static void group_try_next(struct sanx_group *g)
{
	u32 sees = group_sees(g);
	enum lane_then then = lane_after_failure(g->state, sees);

	lockdep_assert_held(&g->lnet->lock);
	/* A peer that has refused a link for good, on any rail, is there and wants none. */
	if (then == LANE_GOES_ON && !(sees & LANE_UNTRIED) && !g->refused)
		group_once_more(g, ~0U);
	if (then == LANE_GOES_ON && group_try(g, true))
		then = LANE_REFUSES;
	if (then == LANE_GOES_ON)
		group_set_limit(g);
	else if (then == LANE_REFUSES)
		group_refuse(g);
}

/* Why has an attempt failed?  If nobody has said it, by how the link has ended. */
static enum sanx_cause failure_cause(const struct sanx_link *link)
{
	enum sanx_cause cause = READ_ONCE(link->cause);

	if (cause)
		return cause;
	switch (READ_ONCE(link->why)) {
	case SANX_END_LOST:
		return SANX_CAUSE_SILENT;
	case SANX_END_NO_WAY:
		return SANX_CAUSE_NO_WAY;
	case SANX_END_REFUSED:
		return SANX_CAUSE_REFUSED;
	case SANX_END_UNFIT:
		return SANX_CAUSE_UNFIT;
	case SANX_END_FAULT:
		return SANX_CAUSE_FAULT;
	default:
		/* Nothing is wrong with the rail. */
		return SANX_CAUSE_NONE;
	}
}

/*
 * The attempt has failed; and what is noted of its rail is told when it is so.
 * @cause: NONE if that says nothing of the rail
 */
static void group_attempt_failed(struct sanx_group *g, enum sanx_cause cause)
{
	unsigned int rail = g->rail;

	lockdep_assert_held(&g->lnet->lock);
	if (g->trying->yields)
		cause = SANX_CAUSE_NONE;
	group_step(g, LANE_FAILED, NULL);
	if (cause)
		sanx_rail_note(g, rail, cause);
}

/*
 * Has the attempt run out of time?  The timer is not cancelled when one succeeds, and
 * link.up of one that has may not have run yet.
 */
static bool group_attempt_over(const struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	return g->trying && READ_ONCE(g->trying->state) != SANX_LINK_UP &&
	       time_after_eq(jiffies, g->try_end);
}

static void group_timeout(struct work_struct *work)
{
	struct sanx_group *g = container_of(to_delayed_work(work),
					    struct sanx_group, timer);
	bool cov = sanx_cov_start(g->lnet->net);
	enum sanx_cause cause;

	mutex_lock(&g->lnet->lock);
	if (group_attempt_over(g)) {
		cause = failure_cause(g->trying);
		sanx_link_kill(g->trying, SANX_END_LOST);
		sanx_rail_failed(g, g->rail);
		sanx_rails_care(g);
		group_attempt_failed(g, cause);
		group_try_next(g);
	} else if (!g->trying && !list_empty(&g->waiters)) {
		/*
		 * The connections wait for the peer's attempt.  It may have failed, and
		 * nobody at the peer may wait for another one.
		 */
		if (time_after_eq(jiffies, g->deadline))
			group_refuse(g);
		else if (!group_accepting(g) && group_sees(g) & LANE_UNTRIED)
			group_try_next(g);
		else
			group_arm(g, g->deadline);
	}
	mutex_unlock(&g->lnet->lock);
	sanx_cov_stop(cov);
}

/**
 * sanx_group_half_open() - count a link that is not up, if the peer has asked for it
 * @link: the link
 * @n: 1, or -1 when it is up or gone
 *
 * Context: any.
 */
void sanx_group_half_open(const struct sanx_link *link, int n)
{
	if (link->active)
		return;
	atomic_add(n, &link->group->lnet->half_open);
	atomic_add(n, &link->group->first->half_open);
	sanx_user_half_open(link->group->user, n);
}

/*
 * As TCP's queue of SYNs, each such link is memory that a peer takes before it
 * has shown that it will use it.
 */
static bool half_open_full(struct sanx_lnet *lnet, u32 peer)
{
	const struct sanx_net *sn = sanx_net(lnet->net);
	const struct sanx_group *first = group_find(lnet, peer);
	unsigned int of_peer = first ? atomic_read(&first->half_open) : 0;

	return of_peer >= READ_ONCE(sn->half_open_peer) ||
	       atomic_read(&lnet->half_open) >= READ_ONCE(sn->half_open) ||
	       sanx_user_half_open_full(lnet->user);
}

/* Is a request of what the node map has now? */
static bool accept_mapped(struct net *net, const struct sanx_wire_ask *ask,
			  const struct sanx_hello_info *hello)
{
	return sanx_node_has_rail(net, hello->from, ask->kind, &ask->remote) &&
	       sanx_node_self(net) == hello->to;
}

/*
 * Both nodes try for a link: does ours have precedence?  Both must agree, or both give way.
 * But if the peer has not answered for half of the time, it may not hear us, and what it
 * asks for comes through.
 */
static bool accept_tie(const struct sanx_group *g, const struct sanx_hello_info *hello)
{
	unsigned long now = jiffies;

	return g->trying && !group_self(g) && hello->to < hello->from &&
	       time_before_eq(now + (now - READ_ONCE(g->trying->heard)), g->try_end);
}

/* May the peer have a link in this lane?  As sanx_group_accept(). */
static enum sanx_cause accept_check(struct sanx_group *g,
				    const struct sanx_wire_ask *ask,
				    const struct sanx_hello_info *hello)
{
	/* First: a peer that may ask for one rail of several must not wait for ever. */
	if (!sanx_link_may(g))
		return SANX_CAUSE_QUOTA;
	if (!sanx_bounds_link(g))
		return SANX_CAUSE_RATE;
	if (!sanx_rail_takes(g, hello->to, ask))
		return SANX_CAUSE_RAIL;
	if (accept_tie(g, hello))
		return SANX_CAUSE_TIE;
	return SANX_CAUSE_NONE;
}

/* What the user has may stay as it is, and the peer must not wait for ever. */
static enum sanx_cause accept_failed(int err)
{
	return err == -EDQUOT ? SANX_CAUSE_QUOTA : SANX_CAUSE_UNABLE;
}

/* Return: a link that is accepting, with its own reference only; or as sanx_link_alloc(). */
static struct sanx_link *accept_link(struct sanx_group *g,
				     const struct sanx_wire_ops *wire,
				     const struct sanx_wire_ask *ask,
				     const struct sanx_hello_info *hello,
				     const struct sanx_auth *auth)
{
	struct sanx_link *link = sanx_link_alloc(g, wire, false);

	if (IS_ERR(link))
		return link;
	if (g->trying && !group_self(g)) {
		g->trying->yields = true;
		sanx_link_kill(g->trying, SANX_END_REFUSED);
	}
	if (hello->features & SANX_HELLO_F_TRIAL || sanx_group_standby(g))
		link->use = SANX_LINK_TRIAL;
	/* If map or keys change from here on, sanx_group_revalidate() follows. */
	link->self = hello->to;
	link->local = ask->local;
	link->remote = ask->remote;
	link->auth = *auth;
	sanx_key_get(link->auth.key);
	return link;
}

/**
 * sanx_group_accept() - decide on a request of a peer for a link
 * @lnet: the namespace
 * @ask: the request
 * @hello: the peer's hello, checked by itself and against the node map
 * @auth: what it proves; copied, with a reference of its key
 * @wl: the wire's part; on success the link owns it, and it has the link
 *
 * Context: process, in an upcall of the wire.
 * Return: SANX_CAUSE_NONE, and @wl->link is accepting, with a reference for the caller;
 * else why there is none.
 */
enum sanx_cause sanx_group_accept(struct sanx_lnet *lnet,
				  const struct sanx_wire_ask *ask,
				  const struct sanx_hello_info *hello,
				  const struct sanx_auth *auth,
				  struct sanx_wire_link *wl)
{
	enum sanx_cause why = SANX_CAUSE_STOPPED;
	const struct sanx_wire_ops *wire;
	struct sanx_link *link;
	struct sanx_group *g;

	mutex_lock(&lnet->lock);
	wire = sanx_link_wire(lnet, ask->kind);
	if (!lnet->running || !wire)
		goto out;
	why = SANX_CAUSE_UNMAPPED;
	if (!accept_mapped(lnet->net, ask, hello))
		goto out;
	why = SANX_CAUSE_OTHER_KEY;
	if (!sanx_key_valid(lnet->net, hello->from, auth->key))
		goto out;
	why = SANX_CAUSE_HALF_OPEN;
	if (half_open_full(lnet, hello->from))
		goto out;
	g = group_get(lnet, hello->from, hello->lane);
	if (IS_ERR(g)) {
		why = accept_failed(PTR_ERR(g));
		goto out;
	}
	why = accept_check(g, ask, hello);
	if (why)
		goto out;
	link = accept_link(g, wire, ask, hello, auth);
	if (IS_ERR(link)) {
		why = accept_failed(PTR_ERR(link));
		goto out;
	}
	kref_get(&link->refs);
	link->wl = wl;
	wl->link = link;
	why = SANX_CAUSE_NONE;
out:
	mutex_unlock(&lnet->lock);
	return why;
}

/* Ends what is left in other lanes of a peer that has restarted. */
static void group_forgotten(struct sanx_group *g, const struct sanx_link *link)
{
	struct sanx_group *first = group_find(g->lnet, g->peer);
	struct sanx_link *other;
	unsigned int i;

	for (i = 0; i < SANX_LANES_ALL; i++) {
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
	sanx_rail_note_move(g, link);
	group_step(g, LANE_LINK, link);
	group_forgotten(g, link);
	sanx_suspend_link_up(g, link);
	sanx_rails_care(g);
}

/* A peer has one link of that kind in a lane, or it could have any number. */
static void group_end_other_trials(struct sanx_group *g, const struct sanx_link *link)
{
	struct sanx_link *other;

	list_for_each_entry(other, &g->links, node)
		if (other != link && !other->active && other != g->out &&
		    READ_ONCE(other->state) == SANX_LINK_UP)
			sanx_link_kill(other, SANX_END_LOST);
}

/*
 * Does a link have to show first that it works?  Not if there is none that does, or if the
 * peer has restarted.
 */
static bool group_on_trial(const struct sanx_group *g, const struct sanx_link *link)
{
	if (READ_ONCE(link->use) != SANX_LINK_TRIAL)
		return false;
	return sanx_group_standby(g) ||
	       (group_linked(g) && g->instance == link->instance);
}

/* A link is on trial no more; @use: READY or SHOWN. */
static void group_ready(struct sanx_link *link, enum sanx_link_use use)
{
	spin_lock_bh(&link->tx_lock);
	if (link->use == SANX_LINK_TRIAL)
		WRITE_ONCE(link->use, use);
	/* link_end() cancels this work after the state has changed. */
	if (link->state == SANX_LINK_UP)
		queue_work(sanx_link_wq, &link->up);
	spin_unlock_bh(&link->tx_lock);
}

/**
 * sanx_group_trial() - is a link still on trial?
 * @link: a link that is being set up
 *
 * Context: process, may sleep; takes lnet.lock, tx_lock.
 * Return: false if there is no other by now, and then it takes connections at once.
 */
bool sanx_group_trial(struct sanx_link *link)
{
	struct sanx_group *g = link->group;
	bool trial;

	if (READ_ONCE(link->use) != SANX_LINK_TRIAL)
		return false;
	mutex_lock(&g->lnet->lock);
	trial = group_linked(g) || sanx_group_standby(g);
	if (!trial)
		group_ready(link, SANX_LINK_READY);
	mutex_unlock(&g->lnet->lock);
	return trial;
}

/* Can the wire of a link map what a connection has mapped now? */
static bool group_fits_conn(const struct sanx_lconn *lc, u32 most)
{
	return !lc->ring.buf || lc->ring.size <= most;
}

/**
 * sanx_group_fits() - could a link carry the connections of its lane?
 * @link: a link that is prepared, on trial
 *
 * Context: process, may sleep; takes lnet.lock, tx_lock.
 * Return: false if one has a ring that the wire cannot map.
 */
bool sanx_group_fits(const struct sanx_link *link)
{
	const struct sanx_group *g = link->group;
	u32 most = sanx_lring_max(link);
	const struct sanx_lconn *lc;
	bool fits = true;

	mutex_lock(&g->lnet->lock);
	if (g->out) {
		spin_lock_bh(&g->out->tx_lock);
		list_for_each_entry(lc, &g->out->conns, node)
			fits &= group_fits_conn(lc, most);
		spin_unlock_bh(&g->out->tx_lock);
	}
	mutex_unlock(&g->lnet->lock);
	return fits;
}

/**
 * sanx_group_heard() - a link on trial has shown that it works
 * @link: the link
 *
 * Context: softirq; takes tx_lock.
 */
void sanx_group_heard(struct sanx_link *link)
{
	group_ready(link, SANX_LINK_SHOWN);
}

/**
 * sanx_group_link_up() - let a link take connections
 * @link: a link that came up, or has shown that it works; nothing happens if it has taken
 *	them before
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
	if (smp_load_acquire(&link->use) == SANX_LINK_TAKEN)
		return;
	mutex_lock(&lnet->lock);
	if (link->use == SANX_LINK_TAKEN ||
	    READ_ONCE(link->state) != SANX_LINK_UP ||
	    (group_self(g) && !link->active))
		goto out;
	/* Its rail may have been taken out of service meanwhile. */
	if (!sanx_rail_stays(link)) {
		sanx_link_kill(link, SANX_END_LOST);
		goto out;
	}
	if (group_on_trial(g, link)) {
		group_end_other_trials(g, link);
		goto out;
	}
	group_replace(g, link);
	/*
	 * Under lnet.lock, so sanx_group_cancel() sees each waiting or
	 * attached.
	 */
	while ((lc = group_pop_waiter(g))) {
		if (group_open(lc, link))
			sanx_conn_refused(&lc->conn, SANX_FALLBACK_LINK);
		sanx_conn_put(&lc->conn);
	}
	/* sanx_group_heard() must not change it any more. */
	spin_lock_bh(&link->tx_lock);
	/* Pairs with smp_load_acquire() above, which runs without lnet.lock. */
	smp_store_release(&link->use, SANX_LINK_TAKEN);
	spin_unlock_bh(&link->tx_lock);
	sanx_rail_up(link);
out:
	mutex_unlock(&lnet->lock);
}

static bool link_key_valid(const struct sanx_link *link)
{
	const struct sanx_group *g = link->group;

	return !link->auth.key ||
	       sanx_key_valid(g->lnet->net, g->peer, link->auth.key);
}

/* A link on trial is the best that there is. */
static void group_take_trial(struct sanx_group *g)
{
	struct sanx_link *link;

	lockdep_assert_held(&g->lnet->lock);
	list_for_each_entry(link, &g->links, node)
		if (READ_ONCE(link->state) == SANX_LINK_UP &&
		    READ_ONCE(link->use) != SANX_LINK_TAKEN)
			sanx_group_heard(link);
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
	/* Requests of the link that wait for memory hold it. */
	sanx_suspend_serve_all(g);
	if (g->out == link) {
		/*
		 * With another key it may do.  The peer may have ended it because
		 * the next one is about to come up.
		 */
		if (READ_ONCE(link->why) == SANX_END_LOST && link_key_valid(link) &&
		    !group_replacing(g))
			sanx_rail_lost(link);
		else if (READ_ONCE(link->why) == SANX_END_FAULT)
			sanx_rail_note(g, sanx_rail_of(link), SANX_CAUSE_FAULT);
		group_step(g, LANE_LOST, NULL);
		sanx_rails_care(g);
		group_take_trial(g);
		/* The attempt at a better rail is one for any rail now. */
		if (g->trying) {
			group_set_deadline(g);
			g->tried = BIT(g->rail);
			group_set_limit(g);
		}
	}
	mutex_unlock(&g->lnet->lock);
}

/* Connections have waited for a link that the peer asked for, and that is gone. */
static void group_try_instead(struct sanx_group *g)
{
	lockdep_assert_held(&g->lnet->lock);
	if (g->trying || g->out || list_empty(&g->waiters) ||
	    group_accepting(g))
		return;
	g->tried = 0;
	group_try_next(g);
}

/*
 * Holds the rail of an attempt that has failed; longer each time, but if the peer has
 * refused it for now only.  A rail on which the peer has refused is held only if that
 * leaves the lane with nothing to wait for: else all rails are tried again, and
 * presence.h decides.
 */
static void group_hold_rail(struct sanx_group *g)
{
	bool waits = !g->out && !sanx_group_standby(g) && !group_unwanted(g);
	const struct sanx_link *link = g->trying;
	enum sanx_link_end why = READ_ONCE(link->why);

	if (why == SANX_END_LOST || why == SANX_END_NO_WAY || why == SANX_END_UNFIT ||
	    (!waits && g->refused & BIT(g->rail)))
		sanx_rail_failed(g, g->rail);
	else if (!waits && !link->yields)
		sanx_rail_refused(g, g->rail);
}

/* An attempt of ours has failed: what follows for those who wait? */
static void group_after_attempt(struct sanx_group *g, const struct sanx_link *link)
{
	lockdep_assert_held(&g->lnet->lock);
	if (!link->yields) {
		if (READ_ONCE(link->why) != SANX_END_LOST)
			g->final |= BIT(g->rail);
		group_try_next(g);
		return;
	}
	/*
	 * They wait for the peer's attempt.  It may fail without our knowledge, so we ask
	 * once more when half of the time that is left is over, on the same rail if need be.
	 */
	group_once_more(g, BIT(g->rail));
	if (!list_empty(&g->waiters))
		group_set_limit(g);
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
	enum sanx_wire_kind kind = link->kind;

	mutex_lock(&lnet->lock);
	list_del_init(&link->node);
	sanx_rail_count_link(link);
	sanx_group_half_open(link, -1);
	sanx_rails_care(g);
	if (!link->active)
		group_try_instead(g);
	if (g->trying == link) {
		group_hold_rail(g);
		group_attempt_failed(g, failure_cause(link));
		group_after_attempt(g, link);
	}
	mutex_unlock(&lnet->lock);
	sanx_link_put(link);
	/*
	 * Last access to lnet: net_exit() flushes sanx_link_wq before it is
	 * freed.
	 */
	if (atomic_dec_and_test(&lnet->n_links[kind]))
		wake_up(&lnet->gone);
}

/* A node without any of its addresses is still itself, if the map has it. */
static bool link_of_self(const struct sanx_link *link)
{
	struct net *net = link->group->lnet->net;
	u32 self = sanx_node_self(net);

	return self ? link->self == self : sanx_node_by_id(net, link->self, NULL);
}

static bool link_rail_valid(const struct sanx_link *link)
{
	struct net *net = link->group->lnet->net;

	return sanx_node_has_rail(net, link->group->peer, link->kind,
				  &link->remote);
}

static bool lane_idle(const struct sanx_group *g, unsigned int refs)
{
	return kref_read(&g->refs) == refs && list_empty(&g->waiters) &&
	       !g->n_suspended;
}

/* Are the lanes to a node in lists only?  Links, connections and rings have references. */
static bool group_idle(const struct sanx_group *first)
{
	unsigned int i, refs = 1;

	lockdep_assert_held(&first->lnet->lock);
	for (i = 1; i < SANX_LANES_ALL; i++) {
		if (!first->lanes[i])
			continue;
		if (!lane_idle(first->lanes[i], 1))
			return false;
		refs++;
	}
	return lane_idle(first, refs);
}

/* Moves the lanes to nodes that are not in the map, and idle, to @removed. */
static void lanes_remove(struct sanx_lnet *lnet, struct list_head *removed)
{
	struct sanx_group *first;
	unsigned long peer;
	unsigned int i;

	lockdep_assert_held(&lnet->lock);
	xa_for_each(&lnet->peers, peer, first) {
		if (sanx_node_by_id(lnet->net, peer, NULL) || !group_idle(first))
			continue;
		xa_erase(&lnet->peers, peer);
		for (i = 0; i < SANX_LANES_ALL; i++)
			if (first->lanes[i])
				list_move_tail(&first->lanes[i]->node, removed);
	}
}

/* Frees groups that are in no other list. */
static void lanes_free(struct list_head *groups)
{
	struct sanx_group *g, *next;

	list_for_each_entry_safe(g, next, groups, node) {
		list_del_init(&g->node);
		cancel_delayed_work_sync(&g->timer);
		cancel_delayed_work_sync(&g->care);
		cancel_delayed_work_sync(&g->retry);
		sanx_group_put(g);
	}
}

/**
 * sanx_group_revalidate() - apply a changed node map, or changed keys
 * @lnet: the namespace
 * @reachable: who could not be reached may be now: all backoffs end
 *
 * Ends links to nodes that are no longer in the map, and all links if the id of this
 * node has changed, and resets suspended connections to such nodes.  A link on a rail
 * that is no longer in the map, with a key that is not valid any more, or without one
 * if there is one now, is taken for lost: its connections continue on another one.
 *
 * Frees what there is of nodes that are not in the map, once nothing uses it: at the latest
 * at the change after the next, so a namespace has no more groups than its maps had nodes.
 *
 * Context: process, may sleep; lnet.ctl held.
 */
void sanx_group_revalidate(struct sanx_lnet *lnet, bool reachable)
{
	struct sanx_group *g;
	struct sanx_link *link;
	LIST_HEAD(removed);
	bool mapped;

	lockdep_assert_held(&lnet->ctl);
	mutex_lock(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node) {
		if (reachable)
			g->backoff = false;
		if (!g->lane)
			sanx_rails_renumber(g);
		mapped = sanx_node_by_id(lnet->net, g->peer, NULL);
		if (!mapped)
			sanx_suspend_reset_all(g, ECONNRESET);
		list_for_each_entry(link, &g->links, node)
			if (!mapped || !link_of_self(link))
				sanx_link_kill(link, SANX_END_CONFIG);
			else if (!link_rail_valid(link) || !link_key_valid(link) ||
				 !sanx_rail_stays(link))
				sanx_link_kill(link, SANX_END_LOST);
		sanx_rails_care(g);
	}
	lanes_remove(lnet, &removed);
	mutex_unlock(&lnet->lock);
	lanes_free(&removed);
}

static unsigned int group_reset(struct sanx_group *g)
{
	struct sanx_link *link;
	unsigned int n = 0;

	g->backoff = false;
	list_for_each_entry(link, &g->links, node) {
		/* What is being tried is tried at once already. */
		if (READ_ONCE(link->state) != SANX_LINK_UP)
			continue;
		sanx_link_kill(link, SANX_END_LOST);
		n++;
	}
	if (g->n_suspended && !g->out) {
		g->tries = 0;
		mod_delayed_work(sanx_link_wq, &g->retry, 0);
	}
	return n;
}

/**
 * sanx_links_reset() - end the links to a node, as if they were lost
 * @net: the namespace
 * @node: its node id
 * @lane: number of a lane, or -1 for all
 *
 * Connections continue on new links.  Rails that have failed before are not held any more,
 * nor lanes in which connects do not wait; those of the links that end count it as a loss.
 *
 * Context: process, may sleep; takes lnet.lock.
 * Return: number of links.
 */
unsigned int sanx_links_reset(struct net *net, u32 node, int lane)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);
	struct sanx_group *first;
	unsigned int i, n = 0;

	mutex_lock(&lnet->lock);
	first = xa_load(&lnet->peers, node);
	for (i = 0; first && i < RAILS_MAX; i++)
		rails_forgive(&first->rails, i);
	for (i = 0; first && i < SANX_LANES_ALL; i++)
		if (first->lanes[i] && (lane < 0 || first->lanes[i]->lane == lane))
			n += group_reset(first->lanes[i]);
	if (first)
		sanx_rails_care(first);
	mutex_unlock(&lnet->lock);
	return n;
}

static void group_stop(struct sanx_group *g)
{
	struct sanx_link *link;

	lockdep_assert_held(&g->lnet->lock);
	list_for_each_entry(link, &g->links, node)
		sanx_link_kill(link, SANX_END_CONFIG);
	group_refuse(g);
	group_step(g, LANE_STOPS, NULL);
}

/**
 * sanx_group_stop() - end all links of a namespace, and wait for that
 * @lnet: a namespace that is not running, without listeners
 *
 * Context: process, may sleep; lnet.ctl held.
 */
void sanx_group_stop(struct sanx_lnet *lnet)
{
	struct sanx_group *g;
	LIST_HEAD(groups);
	int kind;

	mutex_lock(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node)
		group_stop(g);
	mutex_unlock(&lnet->lock);
	for (kind = 0; kind < __SANX_WIRES; kind++)
		wait_event(lnet->gone, !atomic_read(&lnet->n_links[kind]));

	mutex_lock(&lnet->lock);
	list_splice_init(&lnet->groups, &groups);
	xa_destroy(&lnet->peers);
	mutex_unlock(&lnet->lock);
	list_for_each_entry(g, &groups, node)
		sanx_suspend_stop(g);
	lanes_free(&groups);
}

/**
 * sanx_group_stop_wire() - end all links over a wire, and wait for that
 * @lnet: a namespace that does not use the wire any more, without its listener
 * @kind: kind of the wire
 *
 * Context: process, may sleep; lnet.ctl held.
 */
void sanx_group_stop_wire(struct sanx_lnet *lnet, enum sanx_wire_kind kind)
{
	struct sanx_group *g;
	struct sanx_link *link;

	mutex_lock(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node)
		list_for_each_entry(link, &g->links, node)
			if (link->kind == kind)
				sanx_link_kill(link, SANX_END_LOST);
	mutex_unlock(&lnet->lock);
	wait_event(lnet->gone, !atomic_read(&lnet->n_links[kind]));
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
