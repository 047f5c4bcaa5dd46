// SPDX-License-Identifier: GPL-2.0
/*
 * Care for the rails to a node: sanx_rails_care_work() sees to all of them, after each change
 * and from time to time.  It moves lanes, adds lanes when the load is to be spread, makes
 * standby links, and says which link of a rail asks for all (beat.h).  It goes on as long as
 * the map has several rails of the node.  What a lane does that has no link is up to
 * attempt.c.
 *
 * Of two nodes, one makes standby links and moves lanes, so that they do not move twice
 * (rail_keeper()).  But each node moves lanes from a rail that it cannot use, or is to
 * leave, itself.
 */
#include <linux/sched/mm.h>

#include "config/cov.h"
#include "peer.h"

/* Intervals between calls of sanx_rails_care_work() if nothing changes, in jiffies. */
#define CARE_EVERY	(2 * HZ)
/* If all that matters tells when it changes: care_often(). */
#define CARE_SELDOM	(20 * HZ)

/*
 * How many lanes: as many as there are CPUs; and if the load is spread, as many for
 * each rail, whether it works at present or not.
 */
static unsigned int lanes_wanted(const struct sanx_peer *peer)
{
	const struct sanx_net *sn = sanx_net(peer->payer.net);
	unsigned int n = READ_ONCE(lanes) ?: num_online_cpus(), rails;
	struct sanx_rails_seen s;

	if (READ_ONCE(sn->rail_policy) != SANX_RAIL_IN_ORDER) {
		sanx_rails_look(peer, NULL, &s);
		rails = hweight32(rails_tier(&s.view, s.view.usable & ~s.view.drain));
		n = roundup(n, max(rails, 1U));
	}
	return min(n, SANX_LANES_MAX);
}

/* Sets up lanes for later connections.  lnet.lock held. */
void sanx_peer_widen(struct sanx_peer *peer, bool all)
{
	unsigned int i, n = lanes_wanted(peer);
	struct sanx_lane *lane;

	for (i = 0; i < n; i++) {
		lane = peer->lanes[i];
		if (lane && (lane->state != LANE_DOWN || sanx_lane_in_backoff(lane)))
			continue;
		lane = sanx_peer_lane(peer, i);
		if (!IS_ERR(lane))
			sanx_lane_try(lane);
		if (!all)
			return;
	}
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
	struct net *net = link->payer->net;
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
	bool measures = READ_ONCE(sanx_net(peer->payer.net)->rail_policy) ==
			SANX_RAIL_MIN_LATENCY;
	struct sanx_link *link = lane_link(peer, lane), *other = NULL;
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
			WRITE_ONCE(link->others, sanx_rail_others_in(s, link));
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

/* Sees to the rails of a node.  Takes lnet.lock. */
void sanx_rails_care_work(struct work_struct *work)
{
	struct sanx_peer *peer = container_of(to_delayed_work(work), struct sanx_peer, care);
	bool cov = sanx_cov_start(peer->payer.net);
	unsigned int noio = memalloc_noio_save();
	unsigned long wait = CARE_SELDOM;
	struct sanx_rails_seen s;

	mutex_lock(&peer->lnet->lock);
	sanx_rails_look(peer, NULL, &s);
	care_beats(peer, &s);
	rails_forget(&peer->rails, jiffies, sanx_rail_hold());
	/* Not if sanx_peers_revalidate() is about to free it. */
	if (peer->lnet->running && s.peer.n_rails > 1 && s.self.id != s.peer.id &&
	    xa_load(&peer->lnet->peers, s.peer.id) == peer) {
		if (care_often(&s))
			wait = CARE_EVERY;
		rail_care(peer, &s, &wait);
		wait = max_t(unsigned long, wait, SANX_CARE_SOON);
		/* It may be queued again already, to run sooner. */
		if (queue_delayed_work(sanx_link_wq, &peer->care, wait))
			WRITE_ONCE(peer->care_at, jiffies + wait);
	}
	mutex_unlock(&peer->lnet->lock);
	memalloc_noio_restore(noio);
	sanx_cov_stop(cov);
}
