// SPDX-License-Identifier: GPL-2.0
/*
 * How a connection that a program opens finds its link: which lane it goes to; or it waits
 * for the first link of lane 0.  Further lanes get links when connections would share one.
 */
#include "peer.h"

/*
 * Finds the link with the fewest connections in one of @lanes; among equals, the one
 * of this CPU.
 * Return: the link; NULL if no link is up; or an error pointer if the peer does
 * not answer OPENs on any link that is up.
 */
static struct sanx_link *lanes_best(const struct sanx_peer *peer, u32 lanes_set)
{
	unsigned int i, n, start = raw_smp_processor_id();
	struct sanx_link *best = NULL;
	bool unanswered = false;
	struct sanx_lane *lane;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		n = (start + i) % SANX_LANES_MAX;
		lane = peer->lanes[n];
		if (!lane || !sanx_lane_linked(lane) || !(lanes_set & BIT(n)))
			continue;
		if (sanx_ask_unanswered(lane->out))
			unanswered = true;
		else if (!best || READ_ONCE(lane->out->n_conns) <
				  READ_ONCE(best->n_conns))
			best = lane->out;
	}
	return best ?: unanswered ? ERR_PTR(-EHOSTUNREACH) : NULL;
}

/* What a rail has of that which a policy keeps small; 0 if that is not known. */
static u64 rail_burden(const struct sanx_peer *peer,
		       const struct sanx_rails_seen *s, unsigned int rail,
		       enum sanx_rail_policy policy)
{
	const struct sanx_link *link;
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < SANX_LANES_MAX; i++) {
		if (s->lane_rail[i] != rail)
			continue;
		link = peer->lanes[i]->out;
		if (policy == SANX_RAIL_MIN_INFLIGHT)
			sum += link_credit_inflight(&link->credit);
		else
			sum = max(sum, READ_ONCE(link->srtt_ns));
	}
	return sum;
}

/* The rail of the tier to which a connection goes, by the policy. */
static unsigned int rail_for_conn(struct sanx_peer *peer,
				  const struct sanx_rails_seen *s, u32 tier)
{
	enum sanx_rail_policy policy =
		READ_ONCE(sanx_net(peer->payer.net)->rail_policy);
	u64 burden, least = U64_MAX;
	unsigned int i;
	u32 best = 0;

	for (i = 0; i < RAILS_MAX && policy != SANX_RAIL_ROUND_ROBIN; i++) {
		if (!(tier & BIT(i)))
			continue;
		burden = div_u64(rail_burden(peer, s, i, policy),
				 max(s->view.weight[i], 1U));
		if (burden < least)
			best = 0;
		if (burden <= least)
			best |= BIT(i);
		least = min(least, burden);
	}
	return rails_give(&peer->given, &s->view, tier, best ?: tier);
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

/*
 * Finds the link for a new connection.
 * Return: as lanes_best(); an error pointer also if all rails are to be left: the
 * connections that are there stay, and no others come.
 */
static struct sanx_link *peer_best(struct sanx_peer *peer, bool choice)
{
	struct sanx_link *best = NULL;
	struct sanx_rails_seen s;
	u32 tier;

	if (!choice || sanx_peer_is_self(peer))
		return lanes_best(peer, ~0U);
	sanx_rails_look(peer, NULL, &s);
	if (s.view.usable && !(s.view.usable & ~s.view.drain))
		return ERR_PTR(-EHOSTUNREACH);
	tier = rails_tier(&s.view, s.used & s.view.usable & ~s.view.drain);
	if (s.view.spread && tier)
		best = lanes_best(peer, lanes_of(&s, BIT(rail_for_conn(peer, &s, tier))));
	/* The peer may not answer on that rail. */
	if (!best || IS_ERR(best))
		best = lanes_best(peer, lanes_of(&s, ~s.view.drain));
	return best;
}

static int connect_wait(struct sanx_lane *lane, struct sanx_lconn *lc)
{
	int err;

	if (list_empty(&lane->waiters)) {
		err = sanx_attempt_wanted(lane);
		if (err)
			return err;
	}
	sanx_conn_get(&lc->conn);
	sanx_lconn_set_owner(lc, SANX_OWNER_WAITERS);
	list_add_tail(&lc->wait_link, &lane->waiters);
	return 0;
}

static int connect_locked(struct sanx_lnet *lnet, const struct sanx_node_info *info,
			  struct sanx_lconn *lc, struct sanx_link **out)
{
	struct sanx_link *best;
	struct sanx_peer *peer;
	struct sanx_lane *lane;

	lockdep_assert_held(&lnet->lock);
	if (!lnet->running)
		return -ENETDOWN;
	peer = sanx_peer_get(lnet, info->id);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	best = peer_best(peer, info->n_rails > 1 || sanx_rail_any_setting(lnet->net));
	if (IS_ERR(best))
		return PTR_ERR(best);
	if (best) {
		kref_get(&best->refs);
		*out = best;
		if (READ_ONCE(best->n_conns))
			sanx_peer_widen(peer, false);
		return 0;
	}
	lane = sanx_peer_lane(peer, 0);
	if (IS_ERR(lane))
		return PTR_ERR(lane);
	if (sanx_lane_in_backoff(lane))
		return -EHOSTUNREACH;
	return connect_wait(lane, lc);
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

/* sanx_transport_ops.connect.  lock_sock() held.  Return: as connect(). */
int sanx_lane_connect(struct sanx_lconn *lc)
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
	/* sanx_lane_link_up() holds it, from taking a waiter to having opened it. */
	mutex_lock(&lnet->lock);
	if (connect_begins(lc))
		err = mapped ? connect_locked(lnet, &info, lc, &out) : -EHOSTUNREACH;
	mutex_unlock(&lnet->lock);
	if (out) {
		err = sanx_lane_open(lc, out);
		sanx_link_put(out);
	}
	return err;
}
