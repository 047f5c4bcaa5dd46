// SPDX-License-Identifier: GPL-2.0
/*
 * The links of a lane: which one takes its connections, and what follows when one comes up
 * or ends.  How we try for one is in attempt.c, and what we say to the peer's requests in
 * admit.c.
 *
 * Invariant: in a lane at most one link at a time takes our connections (lane.out, guarded
 * by lnet.lock).  A link that comes up replaces an older one, because the peer has
 * restarted, or lost the older link, or won the tie of two attempts.
 *
 * A link of a node to itself has an active and a passive end.  The active one takes the
 * connections, and neither is replaced.
 */
#include "peer.h"

/* Initializes a lane.  lnet.lock held. */
void sanx_lane_init(struct sanx_lane *lane)
{
	INIT_LIST_HEAD(&lane->links);
	INIT_LIST_HEAD(&lane->waiters);
	lane->rail = RAILS_MAX;
	INIT_DELAYED_WORK(&lane->timer, sanx_attempt_work);
	lane->streams.lock = &lane->peer->lnet->lock;
	INIT_LIST_HEAD(&lane->streams.suspended);
	INIT_DELAYED_WORK(&lane->streams.retry, sanx_retry_work);
	xa_init_flags(&lane->streams.ids, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
}

static void lane_drop(struct sanx_link **link)
{
	if (*link)
		sanx_link_put(*link);
	*link = NULL;
}

/*
 * Something happens to the links of a lane.  lnet.lock held.  @link: for LANE_ATTEMPT and
 * LANE_LINK, of which the lane takes a reference; else NULL.
 */
void sanx_lane_step(struct sanx_lane *lane, enum lane_event event, struct sanx_link *link)
{
	enum lane_state to = lane_next(lane->state, event);

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (WARN_ONCE(to == __LANE_STATES, "lane: event %d in state %d\n", event, lane->state))
		return;
	if (link)
		kref_get(&link->refs);
	if (event != LANE_LOST)
		lane_drop(&lane->trying);
	if (event != LANE_ATTEMPT && event != LANE_FAILED)
		lane_drop(&lane->out);
	if (event == LANE_ATTEMPT)
		lane->trying = link;
	else if (event == LANE_LINK)
		lane->out = link;
	/* Who could not be reached was, or will not be asked for. */
	if (event == LANE_LINK || event == LANE_STOPS)
		lane->backoff = false;
	lane->state = to;
}

/* Ends what is left in other lanes of a peer that has restarted. */
static void lane_forgotten(const struct sanx_link *link)
{
	struct sanx_link *other;
	struct sanx_lane *lane;
	unsigned int i;

	for (i = 0; (lane = sanx_lane_next(sanx_peer_of(link), &i));) {
		if (lane == sanx_lane_of(link) || !lane->instance ||
		    lane->instance == link->instance)
			continue;
		list_for_each_entry(other, &lane->links, node)
			if (READ_ONCE(other->state) == SANX_LINK_UP &&
			    other->instance != link->instance)
				sanx_link_kill(other, SANX_END_RESTARTED);
		sanx_suspend_reset_all(&lane->streams, ECONNRESET);
	}
}

static void lane_replace(struct sanx_lane *lane, struct sanx_link *link)
{
	enum sanx_link_end why = lane->instance == link->instance ?
				 SANX_END_LOST : SANX_END_RESTARTED;
	struct sanx_link *other;

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (!sanx_peer_is_self(lane->peer))
		list_for_each_entry(other, &lane->links, node)
			if (other != link)
				sanx_link_kill(other, why);
	sanx_rail_note_move(lane, link);
	sanx_lane_step(lane, LANE_LINK, link);
	lane_forgotten(link);
	sanx_retry_link_up(lane, link);
	sanx_rails_care(lane->peer);
}

/* A peer has one link of that kind in a lane, or it could have any number. */
static void lane_end_other_trials(struct sanx_lane *lane, const struct sanx_link *link)
{
	struct sanx_link *other;

	list_for_each_entry(other, &lane->links, node)
		if (other != link && !other->active && other != lane->out &&
		    READ_ONCE(other->state) == SANX_LINK_UP)
			sanx_link_kill(other, SANX_END_LOST);
}

/*
 * Does a link have to show first that it works?  Not if there is none that does, or if the
 * peer has restarted.
 */
static bool lane_on_trial(const struct sanx_lane *lane, const struct sanx_link *link)
{
	if (READ_ONCE(link->use) != SANX_LINK_TRIAL)
		return false;
	return sanx_lane_standby(lane) ||
	       (sanx_lane_linked(lane) && lane->instance == link->instance);
}

/* A link is on trial no more; @use: READY or SHOWN. */
static void lane_ready(struct sanx_link *link, enum sanx_link_use use)
{
	spin_lock_bh(&link->tx_lock);
	if (link->use == SANX_LINK_TRIAL)
		WRITE_ONCE(link->use, use);
	/* link_end() cancels this work after the state has changed. */
	if (link->state == SANX_LINK_UP)
		queue_work(sanx_link_wq, &link->up);
	spin_unlock_bh(&link->tx_lock);
}

/*
 * Is a link still on trial?  Takes lnet.lock, tx_lock.
 * Return: false if there is no other by now, and then it takes connections at once.
 */
bool sanx_lane_trial(struct sanx_link *link)
{
	struct sanx_lane *lane = sanx_lane_of(link);
	bool trial;

	if (READ_ONCE(link->use) != SANX_LINK_TRIAL)
		return false;
	mutex_lock(&lane->peer->lnet->lock);
	trial = sanx_lane_linked(lane) || sanx_lane_standby(lane);
	if (!trial)
		lane_ready(link, SANX_LINK_READY);
	mutex_unlock(&lane->peer->lnet->lock);
	return trial;
}

/* Can the wire of a link map what a connection has mapped now? */
static bool lane_fits_conn(const struct sanx_lconn *lc, u32 most)
{
	return !lc->ring.buf || lc->ring.size <= most;
}

/*
 * Could a link carry the connections of its lane?  Takes lnet.lock, tx_lock.
 * Return: false if one has a ring that the wire cannot map.
 */
bool sanx_lane_fits(const struct sanx_link *link)
{
	const struct sanx_lane *lane = sanx_lane_of(link);
	u32 most = sanx_lring_max(link);
	const struct sanx_lconn *lc;
	bool fits = true;

	mutex_lock(&lane->peer->lnet->lock);
	if (lane->out) {
		spin_lock_bh(&lane->out->tx_lock);
		list_for_each_entry(lc, &lane->out->conns, node)
			fits &= lane_fits_conn(lc, most);
		spin_unlock_bh(&lane->out->tx_lock);
	}
	mutex_unlock(&lane->peer->lnet->lock);
	return fits;
}

/* A link on trial has shown that it works.  Takes tx_lock. */
void sanx_lane_heard(struct sanx_link *link)
{
	lane_ready(link, SANX_LINK_SHOWN);
}

/**
 * sanx_lane_link_up() - let a link take connections
 * @link: a link that came up, or has shown that it works; nothing happens if it has taken
 *	them before
 *
 * On return, the peer's instance was compared with that of the existing
 * connections.  Those that a restarted peer has forgotten were reset, or their
 * links are dying.  Requests of the peer must not be served before.
 *
 * Context: process, may sleep.
 */
void sanx_lane_link_up(struct sanx_link *link)
{
	struct sanx_lane *lane = sanx_lane_of(link);
	struct sanx_lnet *lnet = lane->peer->lnet;

	/* Pairs with smp_store_release() below. */
	if (smp_load_acquire(&link->use) == SANX_LINK_TAKEN)
		return;
	mutex_lock(&lnet->lock);
	if (link->use == SANX_LINK_TAKEN ||
	    READ_ONCE(link->state) != SANX_LINK_UP ||
	    (sanx_peer_is_self(lane->peer) && !link->active))
		goto out;
	/* Its rail may have been taken out of service meanwhile. */
	if (!sanx_rail_stays(link)) {
		sanx_link_kill(link, SANX_END_LOST);
		goto out;
	}
	if (lane_on_trial(lane, link)) {
		lane_end_other_trials(lane, link);
		goto out;
	}
	lane_replace(lane, link);
	sanx_waiters_open(lane, link);
	/* sanx_lane_heard() must not change it any more. */
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
	const struct sanx_peer *peer = sanx_peer_of(link);

	return !link->auth.key ||
	       sanx_key_valid(peer->payer.net, peer->payer.id, link->auth.key);
}

/* A link on trial is the best that there is. */
static void lane_take_trial(struct sanx_lane *lane)
{
	struct sanx_link *link;

	lockdep_assert_held(&lane->peer->lnet->lock);
	list_for_each_entry(link, &lane->links, node)
		if (READ_ONCE(link->state) == SANX_LINK_UP &&
		    READ_ONCE(link->use) != SANX_LINK_TAKEN)
			sanx_lane_heard(link);
}

/* Lets a link take no more connections. */
void sanx_lane_link_ends(struct sanx_link *link)
{
	struct sanx_lane *lane = sanx_lane_of(link);

	mutex_lock(&lane->peer->lnet->lock);
	sanx_retry_lost(lane);
	/* Requests of the link that wait for memory hold it. */
	sanx_suspend_serve_all(&lane->streams);
	if (lane->out == link) {
		/*
		 * With another key it may do.  The peer may have ended it because
		 * the next one is about to come up.
		 */
		if (READ_ONCE(link->why) == SANX_END_LOST && link_key_valid(link) &&
		    !sanx_lane_replacing(lane))
			sanx_rail_lost(link);
		else if (READ_ONCE(link->why) == SANX_END_FAULT)
			sanx_rail_note(lane->peer, sanx_rail_of(link), SANX_CAUSE_FAULT);
		sanx_lane_step(lane, LANE_LOST, NULL);
		sanx_rails_care(lane->peer);
		lane_take_trial(lane);
		sanx_attempt_broaden(lane);
	}
	mutex_unlock(&lane->peer->lnet->lock);
}

/* Removes a dead link from its lane. */
void sanx_lane_link_gone(struct sanx_link *link)
{
	struct sanx_lane *lane = sanx_lane_of(link);
	struct sanx_lnet *lnet = lane->peer->lnet;
	enum sanx_wire_kind kind = link->kind;

	mutex_lock(&lnet->lock);
	list_del_init(&link->node);
	sanx_rail_count_link(link);
	if (!link->active)
		sanx_payer_half_open(link->payer, -1);
	sanx_rails_care(lane->peer);
	if (!link->active)
		sanx_attempt_instead(lane);
	if (lane->trying == link)
		sanx_attempt_ends(lane);
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
	struct net *net = link->payer->net;
	u32 self = sanx_node_self(net);

	return self ? link->self == self : sanx_node_by_id(net, link->self, NULL);
}

static bool link_rail_valid(const struct sanx_link *link)
{
	struct net *net = link->payer->net;

	return sanx_node_has_rail(net, link->payer->id, link->kind,
				  &link->remote);
}

/* Applies a changed node map, or changed keys, to a lane.  lnet.lock held.  Takes tx_lock. */
void sanx_lane_revalidate(struct sanx_lane *lane, bool mapped, bool reachable)
{
	struct sanx_link *link;

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (reachable)
		lane->backoff = false;
	if (!mapped)
		sanx_suspend_reset_all(&lane->streams, ECONNRESET);
	list_for_each_entry(link, &lane->links, node)
		if (!mapped || !link_of_self(link))
			sanx_link_kill(link, SANX_END_CONFIG);
		else if (!link_rail_valid(link) || !link_key_valid(link) ||
			 !sanx_rail_stays(link))
			sanx_link_kill(link, SANX_END_LOST);
}

/*
 * Ends the links of a lane, as if they were lost.  lnet.lock held.  Takes tx_lock.
 * Return: number of links.
 */
unsigned int sanx_lane_reset(struct sanx_lane *lane)
{
	struct sanx_link *link;
	unsigned int n = 0;

	lane->backoff = false;
	list_for_each_entry(link, &lane->links, node) {
		/* What is being tried is tried at once already. */
		if (READ_ONCE(link->state) != SANX_LINK_UP)
			continue;
		sanx_link_kill(link, SANX_END_LOST);
		n++;
	}
	if (lane->streams.n_suspended && !lane->out) {
		lane->tries = 0;
		mod_delayed_work(sanx_link_wq, &lane->streams.retry, 0);
	}
	return n;
}

/* Ends the links of a lane, and attempts at them, for good.  lnet.lock held.  Takes tx_lock. */
void sanx_lane_stop(struct sanx_lane *lane)
{
	struct sanx_link *link;

	lockdep_assert_held(&lane->peer->lnet->lock);
	list_for_each_entry(link, &lane->links, node)
		sanx_link_kill(link, SANX_END_CONFIG);
	sanx_waiters_refuse(lane);
	sanx_lane_step(lane, LANE_STOPS, NULL);
}
