// SPDX-License-Identifier: GPL-2.0
/*
 * The rails to a node: which ones this node can use, which lane uses which, and when
 * a lane moves.
 *
 * A rail is an address of the peer and the address of this node from which it is
 * reached.  Its number is that of the peer's address in the node map.  All lanes to a
 * node share what is known of its rails: peer.rails and .rail_count.
 *
 * A rail is usable if this node has a wire for it, the port of its own address has a
 * carrier, and the administrator does not say that it is down.  A rail is well if a link
 * is up on it.  On a usable rail that no lane uses, one of the two nodes keeps a
 * standby link, in a lane of its own that has no connections.  So a rail that is broken
 * is seen before it is needed, and a lane moves only to a rail that works.
 *
 * sanx_rails_care_work() sees to all of that, after each change and from time to time: it moves
 * lanes, adds lanes when the load is to be spread, makes standby links, and says which link
 * of a rail asks for all (beat.h).  It goes on as long as the map has several rails of the
 * node.  What a lane does that has no link is up to attempt.c.
 *
 * Of two nodes, one makes standby links and moves lanes, so that they do not move twice
 * (rail_keeper()).  But each node moves lanes from a rail that it cannot use, or is to
 * leave, itself.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>

#include "config/cov.h"
#include "internal.h"

/* Intervals between calls of sanx_rails_care_work() if nothing changes, in jiffies. */
#define CARE_EVERY	(2 * HZ)
/* If all that matters tells when it changes: care_often(). */
#define CARE_SELDOM	(20 * HZ)
/* Not at once after a link came up: others may be about to. */
#define CARE_SOON	(HZ / 10)

static_assert(RAILS_MAX == SANX_NODE_RAILS);
static_assert(RAILS_MAX == SANX_STANDBY_LANES);

static unsigned int rail_index(const struct sanx_node_info *info,
			       enum sanx_wire_kind kind,
			       const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; i < info->n_rails; i++)
		if (info->kind[i] == kind && ipv6_addr_equal(&info->rail[i], addr))
			return i;
	return RAILS_MAX;
}

static bool rail_counted_as(const struct sanx_peer *peer, unsigned int k,
			    const struct sanx_node_info *info, unsigned int i)
{
	const struct sanx_rail_count *c = &peer->rail_count[k];

	return c->kind == info->kind[i] && ipv6_addr_equal(&c->addr, &info->rail[i]);
}

static void lane_renumber(struct sanx_lane *lane, const unsigned int *to)
{
	lane->rail = to[min(lane->rail, RAILS_MAX)];
	lane->tried = lane->rail < RAILS_MAX ? BIT(lane->rail) : 0;
	lane->refused = 0;
	lane->final = 0;
}

/**
 * sanx_rails_renumber() - apply the order of the rails in a changed node map
 * @peer: the node
 *
 * What is known of a rail stays with it, and attempts go on.  Until this is called, the
 * lanes have the rails and numbers that they had, whatever the node map has by now.
 *
 * Context: process, lnet.lock held.
 */
void sanx_rails_renumber(struct sanx_peer *peer)
{
	struct sanx_rail_count count[RAILS_MAX] = {};
	unsigned int i, k, to[RAILS_MAX + 1];
	struct sanx_node_info info = {};
	struct rails rails = {};
	struct sanx_lane *lane;
	bool same = true;

	lockdep_assert_held(&peer->lnet->lock);
	for (k = 0; k <= RAILS_MAX; k++)
		to[k] = RAILS_MAX;
	sanx_node_by_id(peer->lnet->net, peer->id, &info);
	for (i = 0; i < info.n_rails; i++) {
		for (k = 0; k < RAILS_MAX && !rail_counted_as(peer, k, &info, i); k++)
			;
		same &= k == i;
		if (k < RAILS_MAX) {
			to[k] = i;
			count[i] = peer->rail_count[k];
			rails.rail[i] = peer->rails.rail[k];
		}
		count[i].addr = info.rail[i];
		count[i].kind = info.kind[i];
	}
	memcpy(peer->rail_count, count, sizeof(count));
	peer->rails = rails;
	if (same)
		return;
	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		lane_renumber(lane, to);
}

/* The rails of a node as its lanes have them: sanx_rails_renumber(). */
static void rails_numbered(const struct sanx_peer *peer, struct sanx_node_info *info)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX && !ipv6_addr_any(&peer->rail_count[i].addr); i++) {
		info->rail[i] = peer->rail_count[i].addr;
		info->kind[i] = peer->rail_count[i].kind;
	}
	info->n_rails = i;
}

/**
 * sanx_rail_in() - number of the rail of a link in a node map
 * @info: the peer, as the node map has it
 * @link: the link
 *
 * The peer may have numbered it, and the map may have changed.
 *
 * Context: process; lnet.lock held, or nobody else sets the addresses of @link now.
 * Return: the number, or RAILS_MAX if the node map does not have it.
 */
unsigned int sanx_rail_in(const struct sanx_node_info *info,
			  const struct sanx_link *link)
{
	return rail_index(info, link->kind, &link->remote);
}

/**
 * sanx_rail_of() - our number of the rail of a link
 * @link: the link
 *
 * Context: process, lnet.lock held.
 * Return: the number, or RAILS_MAX if there is none.
 */
unsigned int sanx_rail_of(const struct sanx_link *link)
{
	struct sanx_node_info info;

	lockdep_assert_held(&link->peer->lnet->lock);
	rails_numbered(link->peer, &info);
	return sanx_rail_in(&info, link);
}

/*
 * Finds our end of a rail.  Nodes that were found have found each other at the addresses
 * between which the routes lead (setup_path()).
 */
static bool rail_end(struct net *net, struct sanx_rails_seen *s, unsigned int i)
{
	const struct in6_addr *remote = &s->peer.rail[i];
	enum sanx_wire_kind kind = s->peer.kind[i];

	if (!s->peer.found && !s->self.found)
		return sanx_node_rail_end(&s->self, &s->peer, i, &s->local[i]);
	return sanx_route_source(net, remote, &s->local[i]) &&
	       sanx_node_has_rail(net, s->self.id, kind, &s->local[i]);
}

static void look_at(struct net *net, struct sanx_rails_seen *s, unsigned int i)
{
	enum sanx_wire_kind kind = s->peer.kind[i];
	struct rails_view *v = &s->view;
	struct sanx_rail_setting set;

	v->kind[i] = kind;
	v->weight[i] = SANX_RAIL_WEIGHT;
	if (!sanx_link_has_wire(kind) || !rail_end(net, s, i))
		return;
	s->wired |= BIT(i);
	sanx_rail_setting(net, kind, &s->local[i], &s->peer.rail[i], &set);
	s->admin[i] = set.admin;
	v->weight[i] = set.weight;
	if (set.admin == SANX_RAIL_ADMIN_DOWN)
		return;
	s->allowed |= BIT(i);
	if (!sanx_addr_works(net, &s->local[i]))
		return;
	v->usable |= BIT(i);
	if (set.admin == SANX_RAIL_ADMIN_DRAIN)
		v->drain |= BIT(i);
}

/* Return: false if the node map does not have one of the nodes. */
static bool rails_ends(struct net *net, u32 self, u32 peer, struct sanx_rails_seen *s)
{
	memset(s, 0, sizeof(*s));
	if (sanx_node_by_id(net, self, &s->self) &&
	    sanx_node_by_id(net, peer, &s->peer))
		return true;
	s->peer.n_rails = 0;
	return false;
}

static void rails_view(struct net *net, struct sanx_rails_seen *s)
{
	unsigned int i;

	s->view.spread = READ_ONCE(sanx_net(net)->rail_policy) != SANX_RAIL_IN_ORDER;
	for (i = 0; i < s->peer.n_rails; i++)
		look_at(net, s, i);
}

/**
 * sanx_rails_see() - see what does not depend on links of the rails to a node
 * @net: the namespace
 * @self: our node id
 * @peer: the node
 * @s: filled
 *
 * Context: process, may sleep.
 * Return: false, and @s has no rails, if the node map does not have one of the nodes.
 */
bool sanx_rails_see(struct net *net, u32 self, u32 peer, struct sanx_rails_seen *s)
{
	if (!rails_ends(net, self, peer, s))
		return false;
	rails_view(net, s);
	return true;
}

/*
 * Our node id, as the peer's links have it: sanx_node_self() looks an address up in the
 * routes, and finds none when the address has just gone with the last link.
 */
static u32 peer_self_id(const struct sanx_peer *peer)
{
	const struct sanx_link *link, *dying = NULL;
	const struct sanx_lane *lane;
	unsigned int i;

	for (i = 0; (lane = sanx_lane_next(peer, &i));) {
		link = lane->out ?: lane->trying;
		if (link && READ_ONCE(link->state) < SANX_LINK_DYING)
			return link->self;
		dying = link ?: dying;
	}
	return dying ? dying->self : sanx_node_self(peer->lnet->net);
}

static void look_at_lane(const struct sanx_lane *lane, bool asks, struct sanx_rails_seen *s)
{
	const struct sanx_link *link;
	unsigned int n = RAILS_MAX;

	list_for_each_entry(link, &lane->links, node)
		if (READ_ONCE(link->state) == SANX_LINK_UP &&
		    READ_ONCE(link->use) == SANX_LINK_TAKEN &&
		    sanx_rail_in(&s->peer, link) < RAILS_MAX)
			s->view.well |= BIT(sanx_rail_in(&s->peer, link));
	if (sanx_lane_standby(lane))
		return;
	if (lane->out)
		n = sanx_rail_in(&s->peer, lane->out);
	s->lane_rail[lane->number] = n;
	if (n < RAILS_MAX)
		s->used |= BIT(n);
	if (lane->trying)
		n = lane->rail;
	if (!asks && n < RAILS_MAX)
		s->view.load[n]++;
}

/**
 * sanx_rails_look() - see what the rails to a node are like
 * @peer: the node
 * @asks: the lane that is to have a rail, which is no load of one; or NULL
 * @s: filled, with the rails and numbers that the lanes have: sanx_rails_renumber(); as
 *	without rails if the node map does not have the node
 *
 * Context: process, lnet.lock held.
 */
void sanx_rails_look(const struct sanx_peer *peer, const struct sanx_lane *asks,
		     struct sanx_rails_seen *s)
{
	struct net *net = peer->lnet->net;
	const struct sanx_lane *lane;
	unsigned int i;

	lockdep_assert_held(&peer->lnet->lock);
	if (!rails_ends(net, peer_self_id(peer), peer->id, s))
		return;
	rails_numbered(peer, &s->peer);
	rails_view(net, s);
	memset(s->lane_rail, RAILS_MAX, sizeof(s->lane_rail));
	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		look_at_lane(lane, lane == asks, s);
}

static unsigned int others_in(const struct sanx_rails_seen *s, const struct sanx_link *link)
{
	return hweight32(s->view.usable & ~BIT(sanx_rail_in(&s->peer, link)));
}

/**
 * sanx_rail_others() - by how many other rails could connections of a link go?
 * @link: the link
 *
 * Context: process, may sleep.
 * Return: the number.
 */
unsigned int sanx_rail_others(const struct sanx_link *link)
{
	const struct sanx_peer *peer = link->peer;
	struct sanx_rails_seen s;

	if (!sanx_rails_see(peer->lnet->net, link->self, peer->id, &s))
		return 0;
	return others_in(&s, link);
}

/**
 * sanx_rail_may_leave() - is there a rail to which the connections of a link could go?
 * @link: the link
 *
 * Context: process, may sleep; lnet.lock held.
 * Return: true if there is one that is usable, and has not failed lately.
 */
bool sanx_rail_may_leave(const struct sanx_link *link)
{
	const struct sanx_peer *peer = link->peer;
	struct sanx_rails_seen s;
	u32 others;

	sanx_rails_look(peer, NULL, &s);
	others = s.view.usable & ~s.view.drain & ~BIT(sanx_rail_in(&s.peer, link));
	return rails_not_held(&peer->rails, others, jiffies);
}

/**
 * sanx_rail_stays() - may a link stay on its rail?
 * @link: the link
 *
 * Context: process, lnet.lock held.
 * Return: false if the rail is down; a port without a carrier counts only if there is
 * another rail, as it may come back.
 */
bool sanx_rail_stays(const struct sanx_link *link)
{
	const struct sanx_peer *peer = link->peer;
	struct sanx_rail_setting set;
	struct sanx_rails_seen s;

	/* Not resolved yet. */
	if (ipv6_addr_any(&link->local))
		return true;
	sanx_rail_setting(peer->lnet->net, link->kind, &link->local, &link->remote,
			  &set);
	if (set.admin == SANX_RAIL_ADMIN_DOWN)
		return false;
	if (sanx_addr_works(peer->lnet->net, &link->local))
		return true;
	return !sanx_rails_see(peer->lnet->net, link->self, peer->id, &s) ||
	       !(s.view.usable & ~s.view.drain);
}

/**
 * sanx_rail_takes() - may a peer have a link on a rail?
 * @peer: the node
 * @self: our node id
 * @ask: the request
 *
 * Context: process, lnet.lock held.
 * Return: false if the rail is down, or if it is to be left and there is another.
 */
bool sanx_rail_takes(const struct sanx_peer *peer, u32 self,
		     const struct sanx_wire_ask *ask)
{
	struct sanx_rail_setting set;
	struct sanx_rails_seen s;

	sanx_rail_setting(peer->lnet->net, ask->kind, &ask->local, &ask->remote, &set);
	if (set.admin == SANX_RAIL_ADMIN_DOWN)
		return false;
	return set.admin != SANX_RAIL_ADMIN_DRAIN ||
	       !sanx_rails_see(peer->lnet->net, self, peer->id, &s) ||
	       !(s.view.usable & ~s.view.drain);
}

static unsigned long rail_hold(void)
{
	return msecs_to_jiffies(READ_ONCE(rail_hold_ms));
}

static void rail_log(const struct sanx_peer *peer, const struct sanx_rail_count *c)
{
	if (c->cause == SANX_CAUSE_UP)
		pr_info_ratelimited("node %u is reached at %s %pI6c\n", peer->id,
				    sanx_link_kind_name(c->kind), &c->addr);
	else if (c->cause == SANX_CAUSE_LOST)
		pr_notice_ratelimited("node %u is lost at %s %pI6c\n", peer->id,
				      sanx_link_kind_name(c->kind), &c->addr);
	else
		pr_notice_ratelimited("no link to node %u at %s %pI6c: %s\n", peer->id,
				      sanx_link_kind_name(c->kind), &c->addr,
				      sanx_cause_asks(c->cause));
}

/*
 * Is something wrong with a rail, if a lane has no link on it?  Not if another lane has one
 * there, or if this node does not want one.
 */
static noinline_for_stack bool rail_ails(const struct sanx_peer *peer, unsigned int rail)
{
	struct sanx_rails_seen s;

	sanx_rails_look(peer, NULL, &s);
	return s.allowed & ~s.view.well & BIT(rail);
}

/**
 * sanx_rail_note() - remember why there is no link on a rail, or that there is one
 * @peer: the node
 * @rail: number of the rail, or RAILS_MAX
 * @cause: why; or SANX_CAUSE_UP
 *
 * The log says it once, until it is something else.
 *
 * Context: process, lnet.lock held.
 */
void sanx_rail_note(struct sanx_peer *peer, unsigned int rail, enum sanx_cause cause)
{
	struct sanx_rail_count *c;

	lockdep_assert_held(&peer->lnet->lock);
	if (rail >= RAILS_MAX)
		return;
	c = &peer->rail_count[rail];
	if (c->cause == cause || (cause != SANX_CAUSE_UP && !rail_ails(peer, rail)))
		return;
	/* Another lane has lost its link later, and an attempt has found out more. */
	if (cause == SANX_CAUSE_LOST && c->cause != SANX_CAUSE_UP)
		return;
	c->cause = cause;
	rail_log(peer, c);
	sanx_rail_tell(peer, rail);
}

/**
 * sanx_rail_failed() - an attempt on a rail has failed, or a link was lost
 * @peer: the node
 * @rail: number of the rail, or RAILS_MAX
 *
 * Context: process, lnet.lock held.
 */
void sanx_rail_failed(struct sanx_peer *peer, unsigned int rail)
{
	lockdep_assert_held(&peer->lnet->lock);
	if (rail >= RAILS_MAX)
		return;
	rails_failed(&peer->rails, rail, jiffies, rail_hold(), get_random_u32());
	peer->rail_count[rail].errors++;
}

/**
 * sanx_rail_refused() - the peer has a rail and does not take a link on it now
 * @peer: the node
 * @rail: number of the rail
 *
 * Context: process, lnet.lock held.
 */
void sanx_rail_refused(struct sanx_peer *peer, unsigned int rail)
{
	lockdep_assert_held(&peer->lnet->lock);
	if (rail < RAILS_MAX)
		rails_refused(&peer->rails, rail, jiffies, rail_hold(),
			      get_random_u32());
}

/* Does a lane with connections use the rail? */
static bool rail_used(const struct sanx_peer *peer, unsigned int rail)
{
	const struct sanx_lane *lane;
	unsigned int i;

	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		if (!sanx_lane_standby(lane) && lane->out &&
		    READ_ONCE(lane->out->state) == SANX_LINK_UP &&
		    sanx_rail_of(lane->out) == rail)
			return true;
	return false;
}

/**
 * sanx_rail_lost() - lane.out was lost
 * @link: it
 *
 * What the administrator has ended is no failure.  Nor is a standby link that ends beside
 * one with connections, or that the peer keeps and ends: it was not needed any more.
 *
 * Context: process, lnet.lock held.
 */
void sanx_rail_lost(const struct sanx_link *link)
{
	struct sanx_peer *peer = link->peer;
	unsigned int rail = sanx_rail_of(link);
	struct sanx_rail_setting set;

	sanx_rail_setting(peer->lnet->net, link->kind, &link->local, &link->remote, &set);
	if (set.admin != SANX_RAIL_ADMIN_UP)
		return;
	if (!sanx_lane_standby(link->lane) ||
	    (link->active && !rail_used(peer, rail))) {
		sanx_rail_failed(peer, rail);
		sanx_rail_note(peer, rail, SANX_CAUSE_LOST);
	}
}

/**
 * sanx_rail_count_link() - add what a link has carried to the count of its rail
 * @link: a link that carries nothing any more
 *
 * Context: process, lnet.lock held.
 */
void sanx_rail_count_link(const struct sanx_link *link)
{
	struct sanx_peer *peer = link->peer;
	unsigned int rail = sanx_rail_of(link);

	lockdep_assert_held(&peer->lnet->lock);
	if (rail >= RAILS_MAX)
		return;
	peer->rail_count[rail].tx_bytes += READ_ONCE(link->tx_bytes);
	peer->rail_count[rail].rx_bytes += READ_ONCE(link->rx_bytes);
}

/**
 * sanx_rails_forgive() - do not hold rails any more that now may work
 * @lnet: the namespace
 * @kind: kind of the rails
 *
 * Context: process; takes lnet.lock.
 */
void sanx_rails_forgive(struct sanx_lnet *lnet, enum sanx_wire_kind kind)
{
	struct sanx_peer *peer;
	unsigned long id;
	unsigned int i;

	mutex_lock(&lnet->lock);
	xa_for_each(&lnet->peers, id, peer)
		for (i = 0; i < RAILS_MAX; i++)
			if (peer->rail_count[i].kind == kind)
				rails_forgive(&peer->rails, i);
	mutex_unlock(&lnet->lock);
}

static const char *const move_names[__SANX_MOVES] = {
	[SANX_MOVE_LOST]	= "lost",
	[SANX_MOVE_MAP]		= "map",
	[SANX_MOVE_ADMIN]	= "admin",
	[SANX_MOVE_BETTER]	= "better",
	[SANX_MOVE_BALANCE]	= "balance",
	[SANX_MOVE_PEER]	= "peer",
};

/**
 * sanx_move_name() - name of a cause
 * @move: the cause
 * Return: a constant string, or NULL for SANX_MOVE_NONE.
 */
const char *sanx_move_name(enum sanx_move move)
{
	return move_names[move];
}

static enum sanx_move move_cause(const struct sanx_lane *lane,
				 const struct sanx_link *link)
{
	struct sanx_rails_seen s;
	unsigned int from, to;
	bool planned;

	/* The peer that has planned it may have ended the other link already. */
	planned = lane->out || (!link->active && READ_ONCE(link->use) == SANX_LINK_SHOWN);
	sanx_rails_look(lane->peer, NULL, &s);
	from = rail_index(&s.peer, lane->out_kind, &lane->out_rail);
	to = sanx_rail_in(&s.peer, link);
	if (from == RAILS_MAX || to == RAILS_MAX)
		return SANX_MOVE_MAP;
	if (s.admin[from] != SANX_RAIL_ADMIN_UP)
		return SANX_MOVE_ADMIN;
	if (s.view.spread && s.view.kind[from] == s.view.kind[to])
		return planned ? SANX_MOVE_BALANCE : SANX_MOVE_LOST;
	if (to < from)
		return SANX_MOVE_BETTER;
	return planned ? SANX_MOVE_PEER : SANX_MOVE_LOST;
}

/**
 * sanx_rail_note_move() - a link takes the connections of its lane
 * @lane: the lane; lane.out is the link that took them before, if it is still there
 * @link: the link
 *
 * A standby lane has none, so nothing moves when its next link is over another rail.
 *
 * Context: process, lnet.lock held.
 */
void sanx_rail_note_move(struct sanx_lane *lane, const struct sanx_link *link)
{
	bool same = lane->out_kind == link->kind &&
		    ipv6_addr_equal(&lane->out_rail, &link->remote);

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (!same && !ipv6_addr_any(&lane->out_rail) && !sanx_lane_standby(lane)) {
		lane->moved = move_cause(lane, link);
		lane->moves++;
		lane->moved_at = jiffies;
		pr_debug("node %u lane %u moves to %s %pI6c: %s\n", lane->peer->id,
			 lane->number, sanx_link_kind_name(link->kind), &link->remote,
			 move_names[lane->moved]);
	}
	lane->out_kind = link->kind;
	lane->out_rail = link->remote;
	lane->out_since = jiffies;
}

/**
 * sanx_rail_up() - there is a link on a rail
 * @link: it; link.use is TAKEN, without which the rail is not well
 *
 * Context: process, lnet.lock held.
 */
void sanx_rail_up(const struct sanx_link *link)
{
	struct sanx_peer *peer = link->peer;
	unsigned int rail = sanx_rail_of(link);

	lockdep_assert_held(&peer->lnet->lock);
	if (rail >= RAILS_MAX)
		return;
	rails_up(&peer->rails, rail, jiffies);
	sanx_rail_note(peer, rail, SANX_CAUSE_UP);
}

/**
 * sanx_rails_care() - see to the rails of a node soon
 * @peer: the node
 *
 * Context: process, lnet.lock held.
 */
void sanx_rails_care(struct sanx_peer *peer)
{
	lockdep_assert_held(&peer->lnet->lock);
	/* Only to run sooner: a row of changes must not postpone it. */
	if (!delayed_work_pending(&peer->care) ||
	    time_before(jiffies + CARE_SOON, READ_ONCE(peer->care_at))) {
		WRITE_ONCE(peer->care_at, jiffies + CARE_SOON);
		mod_delayed_work(sanx_link_wq, &peer->care, CARE_SOON);
	}
}

/**
 * sanx_rails_doubt() - see to the rails of a node, which does not answer on one
 * @peer: the node
 *
 * Context: the timer of a link to @peer, for which link_end() waits, so @peer stays.
 */
void sanx_rails_doubt(struct sanx_peer *peer)
{
	WRITE_ONCE(peer->care_at, jiffies);
	mod_delayed_work(sanx_link_wq, &peer->care, 0);
}

/*
 * Does this node make standby links, and move lanes?  The other one sees fewer rails; or
 * as many, and has the higher id.
 */
static bool rail_keeper(const struct sanx_rails_seen *s)
{
	if (s->self.n_rails != s->peer.n_rails)
		return s->self.n_rails < s->peer.n_rails;
	return s->self.id < s->peer.id;
}

/*
 * Does this node move the lane of a link from its rail?  A node that is not the keeper
 * judges the link and not the rail: the keeper may have numbered the rails otherwise, and
 * the link may end at another address of this node than sanx_node_rail_end() says.
 */
static bool care_decides(const struct sanx_rails_seen *s,
			 const struct sanx_link *link, unsigned int from)
{
	struct net *net = link->peer->lnet->net;
	struct sanx_rail_setting set;

	if (rail_keeper(s) || from == RAILS_MAX)
		return true;
	sanx_rail_setting(net, link->kind, &link->local, &link->remote, &set);
	return set.admin != SANX_RAIL_ADMIN_UP ||
	       !sanx_addr_works(net, &link->local);
}

static void care_lane(struct sanx_lane *lane, unsigned long *wait)
{
	struct sanx_rails_seen s;
	unsigned int from, to;
	unsigned long until;

	if (!lane->out || !sanx_lane_can_try(lane))
		return;
	sanx_rails_look(lane->peer, lane, &s);
	from = sanx_rail_in(&s.peer, lane->out);
	to = rails_move(&lane->peer->rails, &s.view, from, jiffies, &until);
	*wait = min(*wait, until);
	if (to < RAILS_MAX && care_decides(&s, lane->out, from) &&
	    sanx_lane_try_only(lane, to))
		*wait = min_t(unsigned long, *wait, CARE_EVERY);
}

static bool same_rail(const struct sanx_link *a, const struct sanx_link *b)
{
	return a->kind == b->kind && ipv6_addr_equal(&a->local, &b->local) &&
	       ipv6_addr_equal(&a->remote, &b->remote);
}

static struct sanx_link *lane_link(const struct sanx_peer *peer, unsigned int lane)
{
	struct sanx_link *link = peer->lanes[lane] ? peer->lanes[lane]->out : NULL;

	return link && READ_ONCE(link->state) == SANX_LINK_UP ? link : NULL;
}

/*
 * Of the links of a rail, that of the first lane asks (beat.h).  When it is not answered, the
 * others do.  All do if the choice of a rail needs their round trips.
 */
static void care_beat(const struct sanx_peer *peer, unsigned int lane)
{
	bool measures = READ_ONCE(sanx_net(peer->lnet->net)->rail_policy) ==
			SANX_RAIL_MIN_LATENCY;
	struct sanx_link *link = lane_link(peer, lane), *other;
	unsigned int i;

	if (!link)
		return;
	for (i = 0; i < lane; i++) {
		other = lane_link(peer, i);
		if (other && same_rail(link, other))
			break;
	}
	sanx_beat_leads(link, i == lane || measures);
	if (i < lane && sanx_beat_doubts(other))
		sanx_beat_ask(link, other);
}

/* The heartbeats of the links to a node: which of them ask, and when they are lost. */
static void care_beats(const struct sanx_peer *peer, const struct sanx_rails_seen *s)
{
	const struct sanx_lane *lane;
	struct sanx_link *link;
	unsigned int i;

	for (i = 0; (lane = sanx_lane_next(peer, &i));) {
		list_for_each_entry(link, &lane->links, node)
			WRITE_ONCE(link->others, others_in(s, link));
		care_beat(peer, lane->number);
	}
}

/* Is there a lane that has, or had, a link? */
static bool care_known(const struct sanx_peer *peer)
{
	unsigned int i;

	for (i = 0; i < SANX_LANES_MAX; i++)
		if (peer->lanes[i] && peer->lanes[i]->instance)
			return true;
	return false;
}

static void standby_end(struct sanx_lane *standby)
{
	if (standby && standby->out)
		sanx_link_kill(standby->out, SANX_END_CONFIG);
}

static void care_standby(struct sanx_peer *peer, unsigned int i,
			 const struct sanx_rails_seen *s, unsigned long *wait)
{
	struct sanx_lane *standby = peer->lanes[SANX_LANES_MAX + i];
	u32 wanted = s->view.usable & ~s->view.drain & ~s->used;

	if (!(wanted & BIT(i))) {
		standby_end(standby);
		return;
	}
	if (s->view.well & BIT(i))
		return;
	if (rails_held(&peer->rails, i, jiffies)) {
		*wait = min(*wait, peer->rails.rail[i].until - jiffies);
		return;
	}
	standby = sanx_peer_lane(peer, SANX_LANES_MAX + i);
	/* If that fails, the rail is not well, and care comes soon again. */
	if (!IS_ERR(standby) && sanx_lane_can_try(standby))
		sanx_lane_try_only(standby, i);
}

static noinline_for_stack void rail_care(struct sanx_peer *peer,
					 const struct sanx_rails_seen *s,
					 unsigned long *wait)
{
	unsigned int i;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		if (!peer->lanes[i])
			continue;
		sanx_attempt_look(peer->lanes[i], &s->view);
		care_lane(peer->lanes[i], wait);
	}
	if (s->view.spread && s->used)
		sanx_peer_widen(peer, true);
	if (!rail_keeper(s) || !care_known(peer))
		return;
	for (i = 0; i < RAILS_MAX; i++)
		care_standby(peer, i, s, wait);
}

/*
 * Does anything matter that tells nobody when it changes: the load, or routes, from which the
 * ends of rails between nodes come that have found each other?  A rail that is not well does
 * tell; but to try it may fail for want of memory.
 */
static bool care_often(const struct sanx_rails_seen *s)
{
	return s->view.spread || s->view.usable & ~s->view.well || s->peer.found ||
	       s->self.found;
}

/**
 * sanx_rails_care_work() - see to the rails of a node
 * @work: peer.care
 *
 * Context: process, may sleep; takes lnet.lock.
 */
void sanx_rails_care_work(struct work_struct *work)
{
	struct sanx_peer *peer = container_of(to_delayed_work(work), struct sanx_peer, care);
	bool cov = sanx_cov_start(peer->lnet->net);
	unsigned int noio = memalloc_noio_save();
	unsigned long wait = CARE_SELDOM;
	struct sanx_rails_seen s;

	mutex_lock(&peer->lnet->lock);
	sanx_rails_look(peer, NULL, &s);
	care_beats(peer, &s);
	rails_forget(&peer->rails, jiffies, rail_hold());
	/* Not if sanx_peers_revalidate() is about to free it. */
	if (peer->lnet->running && s.peer.n_rails > 1 && s.self.id != s.peer.id &&
	    xa_load(&peer->lnet->peers, s.peer.id) == peer) {
		if (care_often(&s))
			wait = CARE_EVERY;
		rail_care(peer, &s, &wait);
		wait = max_t(unsigned long, wait, CARE_SOON);
		/* It may be queued again already, to run sooner. */
		if (queue_delayed_work(sanx_link_wq, &peer->care, wait))
			WRITE_ONCE(peer->care_at, jiffies + wait);
	}
	mutex_unlock(&peer->lnet->lock);
	memalloc_noio_restore(noio);
	sanx_cov_stop(cov);
}
