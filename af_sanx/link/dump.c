// SPDX-License-Identifier: GPL-2.0
/* What sanxctl shows of links and rails. */
#include "conn/watch.h"
#include "internal.h"

/* The key that the peer has proved, or 0. */
static u32 link_key_id(const struct sanx_link *link)
{
	lockdep_assert_held(&link->group->lnet->lock);
	if (READ_ONCE(link->auth.phase) != SANX_AUTH_PROVEN || !link->auth.key)
		return 0;
	return link->auth.key->id;
}

/**
 * struct link_dump - a dump of links
 * @skip: links that the dump has had
 * @put: takes a link
 * @arg: its first argument
 */
struct link_dump {
	long	skip;
	int	(*put)(void *arg, const struct sanx_link_info *info);
	void	*arg;
};

static int dump_link(struct sanx_link *link, const struct link_dump *d)
{
	const struct sanx_group *g = link->group;
	unsigned int rail = sanx_rail_of(link);
	struct sanx_link_info info = {
		.node		= link->group->peer,
		.transport	= sanx_link_kind_name(link->kind),
		.device		= link->devname,
		.state		= sanx_link_state_name(READ_ONCE(link->state)),
		.conns		= READ_ONCE(link->n_conns),
		.local		= link->local,
		.remote		= link->remote,
		.rtt		= min_t(u64, READ_ONCE(link->rtt_ns), U32_MAX),
		.long_min	= sanx_long_cutoff(link),
		.lane		= link->group->lane,
		.key		= link_key_id(link),
		.rail		= rail < RAILS_MAX ? rail : -1,
		.standby	= sanx_group_standby(g),
		.up		= g->out == link,
		.up_secs	= (jiffies - g->out_since) / HZ,
		.moves		= g->moves,
		.moved		= sanx_move_name(g->moved),
		.moved_secs	= (jiffies - g->moved_at) / HZ,
	};

	return d->put(d->arg, &info);
}

/*
 * Reports a group without a link, to show why its connections wait, or why new
 * ones are TCP.
 */
static int dump_none(struct sanx_group *g, const struct link_dump *d)
{
	struct sanx_link_info info = {
		.node		= g->peer,
		.transport	= "-",
		.device		= "",
		.state		= g->n_suspended ? "lost" : "held",
		.conns		= g->n_suspended,
		.lane		= g->lane,
		.rail		= -1,
	};

	if (sanx_group_in_backoff(g))
		info.retry_secs = DIV_ROUND_UP(g->backoff_end - jiffies, HZ);
	return d->put(d->arg, &info);
}

static int dump_group(struct sanx_group *g, struct link_dump *d)
{
	struct sanx_link *link;
	int err = 0;

	list_for_each_entry(link, &g->links, node) {
		if (d->skip-- > 0)
			continue;
		err = dump_link(link, d);
		if (err)
			return err;
	}
	if (sanx_group_standby(g))
		return 0;
	if ((g->n_suspended ||
	     (list_empty(&g->links) && sanx_group_in_backoff(g))) &&
	    d->skip-- <= 0)
		err = dump_none(g, d);
	return err;
}

/**
 * sanx_links_dump() - report the links of a namespace
 * @net: the namespace
 * @skip: number of links that were reported before
 * @put: takes a link, under lnet.lock; what is not 0 ends the dump
 * @arg: its first argument
 *
 * Context: process, may sleep; takes lnet.lock.
 */
void sanx_links_dump(struct net *net, long skip,
		     int (*put)(void *arg, const struct sanx_link_info *info), void *arg)
{
	struct link_dump d = { skip, put, arg };
	struct sanx_lnet *lnet = sanx_lnet_of(net);
	struct sanx_group *g;

	mutex_lock(&lnet->lock);
	list_for_each_entry(g, &lnet->groups, node)
		if (dump_group(g, &d))
			break;
	mutex_unlock(&lnet->lock);
}

/* Is there an attempt at a link on the rail? */
static bool rail_tried(const struct sanx_group *first, unsigned int rail)
{
	const struct sanx_group *g;
	unsigned int i;

	for (i = 0; i < SANX_LANES_ALL; i++) {
		g = first->lanes[i];
		if (g && g->trying && g->rail == rail)
			return true;
	}
	return false;
}

static const char *rail_state(const struct sanx_group *first,
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
	if (first && rail_tried(first, i))
		return "connecting";
	return first && first->rails.rail[i].fails ? "failed" : "idle";
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
			   const struct sanx_group *first, u32 well)
{
	const struct rails *r = &first->rails;
	unsigned int i, n = info->number;
	const struct sanx_link *link;

	info->tx_bytes = first->rail_count[n].tx_bytes;
	info->rx_bytes = first->rail_count[n].rx_bytes;
	info->errors = first->rail_count[n].errors;
	/* Links of other lanes may be up where one was lost. */
	if (!(well & BIT(n)))
		info->cause = sanx_cause_name(first->rail_count[n].cause);
	if (rails_held(r, n, jiffies))
		info->retry_secs = DIV_ROUND_UP(r->rail[n].until - jiffies, HZ);
	for (i = 0; i < SANX_LANES_ALL; i++) {
		if (!first->lanes[i])
			continue;
		list_for_each_entry(link, &first->lanes[i]->links, node)
			if (sanx_rail_of(link) == n)
				rail_add_link(info, link);
	}
}

static void rail_info_fill(struct sanx_rail_info *info, const struct sanx_group *first,
			   const struct sanx_rails_seen *s, unsigned int i)
{
	*info = (struct sanx_rail_info) {
		.node		= s->peer.id,
		.number		= i,
		.transport	= sanx_link_kind_name(s->peer.kind[i]),
		.local		= s->local[i],
		.remote		= s->peer.rail[i],
		.state		= rail_state(first, s, i),
		.admin		= s->admin[i],
		.weight		= s->view.weight[i],
	};

	if (first)
		rail_add_lanes(info, first, s->view.well);
}

/**
 * sanx_rail_tell() - tell who listens how it is with a rail
 * @first: the first lane of the node
 * @rail: number of the rail
 *
 * Context: process, lnet.lock held.
 */
noinline_for_stack void sanx_rail_tell(const struct sanx_group *first, unsigned int rail)
{
	struct sanx_rail_info info;
	struct sanx_rails_seen s;

	sanx_rails_look(first, &s);
	/* "sanxctl rail" does not show those of this node. */
	if (rail >= s.peer.n_rails || s.peer.id == s.self.id)
		return;
	rail_info_fill(&info, first, &s, rail);
	sanx_tell(rail, first->lnet->net, &info);
}

/**
 * struct rail_dump - a dump of rails
 * @at: number of an entry of the node map, times RAILS_MAX, plus that of a rail; from
 *	there on they are reported
 * @put: takes a rail
 * @arg: its first argument
 */
struct rail_dump {
	long	*at;
	int	(*put)(void *arg, const struct sanx_rail_info *info);
	void	*arg;
};

/* Reports the rails of a node. */
static int dump_rails_of(struct sanx_lnet *lnet, u32 self, u32 peer, const struct rail_dump *d)
{
	const struct sanx_group *first = xa_load(&lnet->peers, peer);
	struct sanx_rail_info info;
	struct sanx_rails_seen s;
	unsigned int i;
	int err;

	if (first)
		sanx_rails_look(first, &s);
	else
		sanx_rails_see(lnet->net, self, peer, &s);
	for (i = *d->at % RAILS_MAX; i < s.peer.n_rails; i++) {
		rail_info_fill(&info, first, &s, i);
		err = d->put(d->arg, &info);
		if (err)
			return err;
		++*d->at;
	}
	return 0;
}

/**
 * sanx_rails_dump() - report the rails of a namespace
 * @net: the namespace
 * @at: 0 at first, and for the next part of the dump what it was left at
 * @put: takes a rail, under lnet.lock; what is not 0 ends this part of the dump
 * @arg: its first argument
 *
 * Context: process, may sleep; takes lnet.lock.
 */
void sanx_rails_dump(struct net *net, long *at,
		     int (*put)(void *arg, const struct sanx_rail_info *info), void *arg)
{
	const struct rail_dump d = { at, put, arg };
	struct sanx_lnet *lnet = sanx_lnet_of(net);
	u32 self = sanx_node_self(net), peer;
	unsigned int i = *at / RAILS_MAX;

	/* Without a node of our own there are no rails to others. */
	if (!self)
		return;
	mutex_lock(&lnet->lock);
	while (sanx_node_nth(net, i, &peer)) {
		cond_resched();
		if (peer && peer != self && dump_rails_of(lnet, self, peer, &d))
			break;
		*at = ++i * RAILS_MAX;
	}
	mutex_unlock(&lnet->lock);
}
