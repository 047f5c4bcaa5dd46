// SPDX-License-Identifier: GPL-2.0
/* What is known of the rails to a node, counted, and told to who listens. */
#include <linux/random.h>

#include "cause.h"
#include "conn/watch.h"
#include "peer.h"

/* Is there an attempt at a link on the rail? */
static bool rail_tried(const struct sanx_peer *peer, unsigned int rail)
{
	const struct sanx_lane *lane;
	unsigned int i;

	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		if (lane->trying && lane->rail == rail)
			return true;
	return false;
}

static const char *rail_state(const struct sanx_peer *peer,
			      const struct sanx_rails_seen *s, unsigned int i)
{
	if (!(s->wired & BIT(i)))
		return "no-wire";
	if (s->admin[i] == SANX_RAIL_ADMIN_DOWN)
		return "down";
	if (!(s->view.usable & BIT(i)))
		return "no-carrier";
	if (s->view.well & BIT(i))
		return "up";
	if (peer && rail_tried(peer, i))
		return "connecting";
	return peer && peer->rails.rail[i].fails ? "failed" : "idle";
}

static void rail_add_link(struct sanx_rail_info *info, const struct sanx_link *link)
{
	u32 rtt = min_t(u64, READ_ONCE(link->srtt_ns), U32_MAX);

	info->tx_bytes += READ_ONCE(link->tx_bytes);
	info->rx_bytes += READ_ONCE(link->rx_bytes);
	if (READ_ONCE(link->state) != SANX_LINK_UP)
		return;
	info->links++;
	info->conns += READ_ONCE(link->n_conns);
	if (rtt && (!info->rtt || rtt < info->rtt))
		info->rtt = rtt;
}

/* @well: set of rails on which a link is up */
static void rail_add_lanes(struct sanx_rail_info *info,
			   const struct sanx_peer *peer, u32 well)
{
	const struct rails *r = &peer->rails;
	unsigned int i, n = info->number;
	const struct sanx_link *link;
	const struct sanx_lane *lane;

	info->tx_bytes = peer->rail_count[n].tx_bytes;
	info->rx_bytes = peer->rail_count[n].rx_bytes;
	info->errors = peer->rail_count[n].errors;
	/* Links of other lanes may be up where one was lost. */
	if (!(well & BIT(n)))
		info->cause = sanx_cause_name(peer->rail_count[n].cause);
	if (rails_held(r, n, jiffies))
		info->retry_secs = DIV_ROUND_UP(r->rail[n].until - jiffies, HZ);
	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		list_for_each_entry(link, &lane->links, node)
			if (sanx_rail_of(link) == n)
				rail_add_link(info, link);
}

/**
 * sanx_rail_info() - how it is with a rail, as sanxctl shows it
 * @info: filled
 * @peer: the node, or NULL if it was never used
 * @s: its rails
 * @i: number of the rail
 *
 * Context: process, lnet.lock held.
 */
void sanx_rail_info(struct sanx_rail_info *info, const struct sanx_peer *peer,
		    const struct sanx_rails_seen *s, unsigned int i)
{
	*info = (struct sanx_rail_info) {
		.node		= s->peer.id,
		.number		= i,
		.transport	= sanx_link_kind_name(s->peer.kind[i]),
		.local		= s->local[i],
		.remote		= s->peer.rail[i],
		.state		= rail_state(peer, s, i),
		.admin		= s->admin[i],
		.weight		= s->view.weight[i],
	};

	if (peer)
		rail_add_lanes(info, peer, s->view.well);
}

/* Tells who listens how it is with a rail. */
static noinline_for_stack void rail_tell(const struct sanx_peer *peer, unsigned int rail)
{
	struct sanx_rail_info info;
	struct sanx_rails_seen s;

	sanx_rails_look(peer, NULL, &s);
	/* "sanxctl rail" does not show those of this node. */
	if (rail >= s.peer.n_rails || s.peer.id == s.self.id)
		return;
	sanx_rail_info(&info, peer, &s, rail);
	sanx_tell(rail, peer->payer.net, &info);
}

static void rail_log(const struct sanx_peer *peer, const struct sanx_rail_count *c)
{
	if (c->cause == SANX_CAUSE_UP)
		pr_info_ratelimited("node %u is reached at %s %pI6c\n", peer->payer.id,
				    sanx_link_kind_name(c->kind), &c->addr);
	else if (c->cause == SANX_CAUSE_LOST)
		pr_notice_ratelimited("node %u is lost at %s %pI6c\n", peer->payer.id,
				      sanx_link_kind_name(c->kind), &c->addr);
	else
		pr_notice_ratelimited("no link to node %u at %s %pI6c: %s\n", peer->payer.id,
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
	rail_tell(peer, rail);
}

/* An attempt on a rail has failed, or a link was lost.  lnet.lock held. */
void sanx_rail_failed(struct sanx_peer *peer, unsigned int rail)
{
	lockdep_assert_held(&peer->lnet->lock);
	if (rail >= RAILS_MAX)
		return;
	rails_failed(&peer->rails, rail, jiffies, sanx_rail_hold(), get_random_u32());
	peer->rail_count[rail].errors++;
}

/* The peer has a rail and does not take a link on it now.  lnet.lock held. */
void sanx_rail_refused(struct sanx_peer *peer, unsigned int rail)
{
	lockdep_assert_held(&peer->lnet->lock);
	if (rail < RAILS_MAX)
		rails_refused(&peer->rails, rail, jiffies, sanx_rail_hold(),
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

/*
 * lane.out was lost.  lnet.lock held.
 *
 * What the administrator has ended is no failure.  Nor is a standby link that ends beside
 * one with connections, or that the peer keeps and ends: it was not needed any more.
 */
void sanx_rail_lost(const struct sanx_link *link)
{
	struct sanx_peer *peer = sanx_peer_of(link);
	unsigned int rail = sanx_rail_of(link);
	struct sanx_rail_setting set;

	sanx_rail_setting(peer->payer.net, link->kind, &link->local, &link->remote, &set);
	if (set.admin != SANX_RAIL_ADMIN_UP)
		return;
	if (!sanx_link_standby(link) ||
	    (link->active && !rail_used(peer, rail))) {
		sanx_rail_failed(peer, rail);
		sanx_rail_note(peer, rail, SANX_CAUSE_LOST);
	}
}

/* Adds what a link has carried to the count of its rail.  lnet.lock held. */
void sanx_rail_count_link(const struct sanx_link *link)
{
	struct sanx_peer *peer = sanx_peer_of(link);
	unsigned int rail = sanx_rail_of(link);

	lockdep_assert_held(&peer->lnet->lock);
	if (rail >= RAILS_MAX)
		return;
	peer->rail_count[rail].tx_bytes += READ_ONCE(link->tx_bytes);
	peer->rail_count[rail].rx_bytes += READ_ONCE(link->rx_bytes);
}

/* Does not hold rails any more that now may work.  Takes lnet.lock. */
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

/* Name of a cause.  Return: a constant string, or NULL for SANX_MOVE_NONE. */
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
	from = sanx_rail_index(&s.peer, lane->out_kind, &lane->out_rail);
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

/*
 * A link takes the connections of its lane.  lnet.lock held.
 *
 * A standby lane has none, so nothing moves when its next link is over another rail.
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
		pr_debug("node %u lane %u moves to %s %pI6c: %s\n", lane->peer->payer.id,
			 lane->number, sanx_link_kind_name(link->kind), &link->remote,
			 move_names[lane->moved]);
	}
	lane->out_kind = link->kind;
	lane->out_rail = link->remote;
	lane->out_since = jiffies;
}

/* There is a link on a rail.  lnet.lock held. */
void sanx_rail_up(const struct sanx_link *link)
{
	struct sanx_peer *peer = sanx_peer_of(link);
	unsigned int rail = sanx_rail_of(link);

	lockdep_assert_held(&peer->lnet->lock);
	if (rail >= RAILS_MAX)
		return;
	rails_up(&peer->rails, rail, jiffies);
	sanx_rail_note(peer, rail, SANX_CAUSE_UP);
}
