// SPDX-License-Identifier: GPL-2.0
/* What sanxctl shows of links and rails. */
#include "conn/watch.h"
#include "peer.h"

/* The key that the peer has proved, or 0. */
static u32 link_key_id(const struct sanx_link *link)
{
	lockdep_assert_held(&sanx_peer_of(link)->lnet->lock);
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
	const struct sanx_lane *lane = sanx_lane_of(link);
	unsigned int rail = sanx_rail_of(link);
	struct sanx_link_info info = {
		.node		= link->payer->id,
		.transport	= sanx_link_kind_name(link->kind),
		.device		= link->devname,
		.state		= sanx_link_state_name(READ_ONCE(link->state)),
		.conns		= READ_ONCE(link->n_conns),
		.local		= link->local,
		.remote		= link->remote,
		.rtt		= min_t(u64, READ_ONCE(link->rtt_ns), U32_MAX),
		.long_min	= sanx_long_cutoff(link),
		.lane		= link->lane,
		.key		= link_key_id(link),
		.rail		= rail < RAILS_MAX ? rail : -1,
		.standby	= sanx_lane_standby(lane),
		.up		= lane->out == link,
		.up_secs	= (jiffies - lane->out_since) / HZ,
		.moves		= lane->moves,
		.moved		= sanx_move_name(lane->moved),
		.moved_secs	= (jiffies - lane->moved_at) / HZ,
	};

	return d->put(d->arg, &info);
}

/*
 * Reports a lane without a link, to show why its connections wait, or why new
 * ones are TCP.
 */
static int dump_none(const struct sanx_lane *lane, const struct link_dump *d)
{
	struct sanx_link_info info = {
		.node		= lane->peer->payer.id,
		.transport	= "-",
		.device		= "",
		.state		= lane->streams.n_suspended ? "lost" : "held",
		.conns		= lane->streams.n_suspended,
		.lane		= lane->number,
		.rail		= -1,
	};

	if (sanx_lane_in_backoff(lane))
		info.retry_secs = DIV_ROUND_UP(lane->backoff_end - jiffies, HZ);
	return d->put(d->arg, &info);
}

static int dump_lane(const struct sanx_lane *lane, struct link_dump *d)
{
	struct sanx_link *link;
	int err = 0;

	list_for_each_entry(link, &lane->links, node) {
		if (d->skip-- > 0)
			continue;
		err = dump_link(link, d);
		if (err)
			return err;
	}
	if (sanx_lane_standby(lane))
		return 0;
	if ((lane->streams.n_suspended ||
	     (list_empty(&lane->links) && sanx_lane_in_backoff(lane))) &&
	    d->skip-- <= 0)
		err = dump_none(lane, d);
	return err;
}

static int dump_lanes(const struct sanx_peer *peer, struct link_dump *d)
{
	const struct sanx_lane *lane;
	unsigned int i;
	int err;

	for (i = 0; (lane = sanx_lane_next(peer, &i));) {
		err = dump_lane(lane, d);
		if (err)
			return err;
	}
	return 0;
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
	struct sanx_peer *peer;
	unsigned long id;

	mutex_lock(&lnet->lock);
	xa_for_each(&lnet->peers, id, peer)
		if (dump_lanes(peer, &d))
			break;
	mutex_unlock(&lnet->lock);
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
static int dump_rails_of(struct sanx_lnet *lnet, u32 self, u32 id, const struct rail_dump *d)
{
	const struct sanx_peer *peer = xa_load(&lnet->peers, id);
	struct sanx_rail_info info;
	struct sanx_rails_seen s;
	unsigned int i;
	int err;

	if (peer)
		sanx_rails_look(peer, NULL, &s);
	else
		sanx_rails_see(lnet->net, self, id, &s);
	for (i = *d->at % RAILS_MAX; i < s.peer.n_rails; i++) {
		sanx_rail_info(&info, peer, &s, i);
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
	u32 self = sanx_node_self(net), id;
	unsigned int i = *at / RAILS_MAX;

	/* Without a node of our own there are no rails to others. */
	if (!self)
		return;
	mutex_lock(&lnet->lock);
	while (sanx_node_nth(net, i, &id)) {
		cond_resched();
		if (id && id != self && dump_rails_of(lnet, self, id, &d))
			break;
		*at = ++i * RAILS_MAX;
	}
	mutex_unlock(&lnet->lock);
}
