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
 * care.c sees to all of that.
 */
#include "peer.h"

static_assert(RAILS_MAX == SANX_NODE_RAILS);
static_assert(RAILS_MAX == SANX_STANDBY_LANES);

/* Finds a rail in a node map.  Return: its number, or RAILS_MAX. */
unsigned int sanx_rail_index(const struct sanx_node_info *info, enum sanx_wire_kind kind,
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

/*
 * Applies the order of the rails in a changed node map.  lnet.lock held.
 *
 * What is known of a rail stays with it, and attempts go on.  Until this is called, the
 * lanes have the rails and numbers that they had, whatever the node map has by now.
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
	sanx_node_by_id(peer->payer.net, peer->payer.id, &info);
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
	return sanx_rail_index(info, link->kind, &link->remote);
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

	lockdep_assert_held(&sanx_peer_of(link)->lnet->lock);
	rails_numbered(sanx_peer_of(link), &info);
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

/*
 * Sees what does not depend on links of the rails to a node.
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
	return dying ? dying->self : sanx_node_self(peer->payer.net);
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
	struct net *net = peer->payer.net;
	const struct sanx_lane *lane;
	unsigned int i;

	lockdep_assert_held(&peer->lnet->lock);
	if (!rails_ends(net, peer_self_id(peer), peer->payer.id, s))
		return;
	rails_numbered(peer, &s->peer);
	rails_view(net, s);
	memset(s->lane_rail, RAILS_MAX, sizeof(s->lane_rail));
	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		look_at_lane(lane, lane == asks, s);
}

/* By how many other rails could connections of a link go?  lnet.lock held. */
unsigned int sanx_rail_others_in(const struct sanx_rails_seen *s, const struct sanx_link *link)
{
	return hweight32(s->view.usable & ~BIT(sanx_rail_in(&s->peer, link)));
}

/* By how many other rails could connections of a link go? */
unsigned int sanx_rail_others(const struct sanx_link *link)
{
	const struct sanx_peer *peer = sanx_peer_of(link);
	struct sanx_rails_seen s;

	if (!sanx_rails_see(peer->payer.net, link->self, peer->payer.id, &s))
		return 0;
	return sanx_rail_others_in(&s, link);
}

/*
 * Is there a rail to which the connections of a link could go?  lnet.lock held.
 * Return: true if there is one that is usable, and has not failed lately.
 */
bool sanx_rail_may_leave(const struct sanx_link *link)
{
	const struct sanx_peer *peer = sanx_peer_of(link);
	struct sanx_rails_seen s;
	u32 others;

	sanx_rails_look(peer, NULL, &s);
	others = s.view.usable & ~s.view.drain & ~BIT(sanx_rail_in(&s.peer, link));
	return rails_not_held(&peer->rails, others, jiffies);
}

/*
 * May a link stay on its rail?  lnet.lock held.
 * Return: false if the rail is down; a port without a carrier counts only if there is another
 * rail, as it may come back.
 */
bool sanx_rail_stays(const struct sanx_link *link)
{
	const struct sanx_peer *peer = sanx_peer_of(link);
	struct sanx_rail_setting set;
	struct sanx_rails_seen s;

	/* Not resolved yet. */
	if (ipv6_addr_any(&link->local))
		return true;
	sanx_rail_setting(peer->payer.net, link->kind, &link->local, &link->remote,
			  &set);
	if (set.admin == SANX_RAIL_ADMIN_DOWN)
		return false;
	if (sanx_addr_works(peer->payer.net, &link->local))
		return true;
	return !sanx_rails_see(peer->payer.net, link->self, peer->payer.id, &s) ||
	       !(s.view.usable & ~s.view.drain);
}

/*
 * May a peer have a link on a rail?  lnet.lock held.
 * Return: false if the rail is down, or if it is to be left and there is another.
 */
bool sanx_rail_takes(const struct sanx_peer *peer, u32 self,
		     const struct sanx_wire_ask *ask)
{
	struct sanx_rail_setting set;
	struct sanx_rails_seen s;

	sanx_rail_setting(peer->payer.net, ask->kind, &ask->local, &ask->remote, &set);
	if (set.admin == SANX_RAIL_ADMIN_DOWN)
		return false;
	return set.admin != SANX_RAIL_ADMIN_DRAIN ||
	       !sanx_rails_see(peer->payer.net, self, peer->payer.id, &s) ||
	       !(s.view.usable & ~s.view.drain);
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
	    time_before(jiffies + SANX_CARE_SOON, READ_ONCE(peer->care_at))) {
		WRITE_ONCE(peer->care_at, jiffies + SANX_CARE_SOON);
		mod_delayed_work(sanx_link_wq, &peer->care, SANX_CARE_SOON);
	}
}

/* Sees to the rails of a node, which does not answer on one. */
void sanx_rails_doubt(struct sanx_peer *peer)
{
	WRITE_ONCE(peer->care_at, jiffies);
	mod_delayed_work(sanx_link_wq, &peer->care, 0);
}
