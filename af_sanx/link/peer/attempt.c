// SPDX-License-Identifier: GPL-2.0
/*
 * Attempts at a link: a lane tries its rails one after the other, as rail.c and rails.h
 * choose them, within one time limit.
 *
 * A rail on which no link is up is left before its time is over if one is up on another.
 *
 * If both nodes try to set up a link at once, the attempt of the node with the lower id wins:
 * that node rejects the request of the other, which then waits for the winner's link
 * (admit.c).
 *
 * If no link is up, a connect waits for one, for a bounded time (choose.c).  When that time
 * expires, or the peer refuses, a backoff follows, in which connects do not wait.  A link
 * from the peer ends the backoff.
 */
#include "config/cov.h"
#include "peer.h"

/*
 * The peer has refused a link that we asked for.  lnet.lock held.  Takes tx_lock.
 *
 * The peer as a whole refuses when no other rail could still carry the connections:
 * one that carries them now, or that could not be reached, also for want of a carrier
 * of our own.
 */
void sanx_lane_refused(struct sanx_link *link, bool never)
{
	struct sanx_lane *lane = sanx_lane_of(link);
	struct sanx_rails_seen s;

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (lane->trying != link)
		return;
	lane->refused |= BIT(lane->rail);
	sanx_rails_look(lane->peer, NULL, &s);
	if (!lane->out && !(s.allowed & ~lane->refused))
		sanx_retry_refused(lane, never);
}

/* Starts an attempt on the best rail that was not tried yet; @waits: for a connection. */
static int attempt_begin(struct sanx_lane *lane, bool waits)
{
	const struct sanx_wire_ops *wire = NULL;
	struct sanx_rails_seen s;
	struct sanx_link *link;

	lockdep_assert_held(&lane->peer->lnet->lock);
	sanx_rails_look(lane->peer, lane, &s);
	lane->rail = rails_choose(&lane->peer->rails, &s.view, lane->tried, waits, jiffies);
	if (lane->rail < RAILS_MAX)
		wire = sanx_link_wire(lane->peer->lnet, s.peer.kind[lane->rail]);
	if (!wire)
		return -ENODEV;
	link = sanx_link_alloc(lane, wire, true);
	if (IS_ERR(link)) {
		sanx_rail_note(lane->peer, lane->rail, SANX_CAUSE_NO_WAY);
		return PTR_ERR(link);
	}
	link->remote = s.peer.rail[lane->rail];
	if (sanx_lane_linked(lane) || sanx_lane_standby(lane))
		link->use = SANX_LINK_TRIAL;
	lane->tried |= BIT(lane->rail);
	sanx_lane_step(lane, LANE_ATTEMPT, link);
	queue_work(sanx_link_wq, &link->start);
	return 0;
}

static void attempt_arm(struct sanx_lane *lane, unsigned long until)
{
	unsigned long now = jiffies;

	mod_delayed_work(sanx_link_wq, &lane->timer,
			 time_before(now, until) ? until - now : 0);
}

/* The rail that is tried, and those that were not yet, have equal shares of the time. */
static void attempt_set_limit(struct sanx_lane *lane)
{
	unsigned long now = jiffies;
	unsigned long rest = time_before(now, lane->deadline) ? lane->deadline - now : 0;
	struct sanx_rails_seen s;

	sanx_rails_look(lane->peer, NULL, &s);
	lane->try_end = now + rest / (hweight32(s.view.usable & ~lane->tried) + 1);
	attempt_arm(lane, lane->try_end);
}

/* Starts the time limit for a link, and plans to try each rail. */
static void attempt_set_deadline(struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	lane->tried = 0;
	lane->refused = 0;
	lane->final = 0;
	lane->deadline = jiffies + msecs_to_jiffies(READ_ONCE(link_timeout_ms));
}

static int attempt_first(struct sanx_lane *lane, bool waits)
{
	int err;

	attempt_set_deadline(lane);
	err = attempt_begin(lane, waits);
	attempt_set_limit(lane);
	return err;
}

/*
 * A request of the peer was accepted, and sanx_lane_link_up() will follow; an attempt
 * of ours would disturb it.
 */
static bool lane_accepting(const struct sanx_lane *lane)
{
	enum sanx_link_state state;
	struct sanx_link *link;

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (sanx_peer_is_self(lane->peer))
		return false;
	list_for_each_entry(link, &lane->links, node) {
		state = READ_ONCE(link->state);
		if (state == SANX_LINK_ACCEPTING ||
		    (state == SANX_LINK_UP && !link->active &&
		     READ_ONCE(link->use) != SANX_LINK_TAKEN))
			return true;
	}
	return false;
}

/* Is a link up, or asked for by the peer, that will be lane.out?  lnet.lock held. */
bool sanx_lane_replacing(const struct sanx_lane *lane)
{
	return lane_accepting(lane) ||
	       (lane->trying && READ_ONCE(lane->trying->state) == SANX_LINK_UP &&
		READ_ONCE(lane->trying->use) != SANX_LINK_TRIAL);
}

/*
 * May this node try to set up a link in a lane?  lnet.lock held.
 * Return: false if an attempt of either node is under way.
 */
bool sanx_lane_can_try(const struct sanx_lane *lane)
{
	return !lane->trying && !lane_accepting(lane);
}

/*
 * Tries to set up a link on a rail, and on no other.  lnet.lock held.
 * Return: 0; or -ENOMEM or -EDQUOT, and then nothing tells when it may succeed.
 */
int sanx_lane_try_only(struct sanx_lane *lane, unsigned int rail)
{
	int err;

	lockdep_assert_held(&lane->peer->lnet->lock);
	attempt_set_deadline(lane);
	lane->tried = ~(u32)BIT(rail);
	lane->final = lane->tried;
	err = attempt_begin(lane, false);
	if (!err)
		attempt_set_limit(lane);
	return err;
}

/* An attempt that is under way has the whole time, and then each other rail is tried. */
static void attempt_anew(struct sanx_lane *lane)
{
	attempt_set_deadline(lane);
	if (lane->trying)
		lane->tried = BIT(lane->rail);
	attempt_set_limit(lane);
}

/*
 * The link of a lane was lost: an attempt at a better rail is one at any rail now.  lnet.lock
 * held.
 */
void sanx_attempt_broaden(struct sanx_lane *lane)
{
	if (lane->trying)
		attempt_anew(lane);
}

/*
 * The first connection is about to wait for a link.  lnet.lock held.
 * Return: 0 if an attempt of either node is under way now; else -errno.
 */
int sanx_attempt_wanted(struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	if (sanx_lane_can_try(lane))
		return attempt_first(lane, true);
	attempt_anew(lane);
	return 0;
}

/**
 * sanx_lane_try() - try to set up a link that no connect() waits for
 * @lane: a lane without a link
 *
 * Context: process, lnet.lock held.
 */
void sanx_lane_try(struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	if (sanx_lane_can_try(lane))
		attempt_first(lane, lane->streams.n_suspended);
}

/* Does no connection wait for a link? */
static bool lane_unwanted(const struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	return list_empty(&lane->waiters) && !lane->streams.n_suspended;
}

/* Return: set of enum lane_sees. */
static u32 attempt_sees(const struct sanx_lane *lane)
{
	bool linked = sanx_lane_linked(lane);
	struct sanx_rails_seen s;
	u32 left;

	sanx_rails_look(lane->peer, NULL, &s);
	left = s.view.usable & ~lane->tried & ~(linked ? s.view.drain : 0);
	return (lane->peer->lnet->running ? LANE_RUNS : 0) |
	       (linked ? LANE_CARRIES : 0) |
	       (list_empty(&lane->waiters) ? 0 : LANE_WAITED) |
	       (lane->streams.n_suspended ? LANE_SUSPENDS : 0) |
	       (left ? LANE_UNTRIED : 0) |
	       (time_before(jiffies, lane->deadline) ? LANE_TIME : 0);
}

/*
 * Those of @rails that were tried, and are not final, are tried once more.  One packet may
 * have been lost: the RDMA CM asks for the peer's hardware address at the beginning of a
 * step and when its time is over, and not in between (drivers/infiniband/core/addr.c).
 */
static void attempt_once_more(struct sanx_lane *lane, u32 rails)
{
	u32 more = rails & lane->tried & ~lane->final;

	lane->final |= more;
	lane->tried &= ~more;
}

/* After a failed attempt: tries the next rail, or one once more, if there is time. */
static void attempt_next(struct sanx_lane *lane)
{
	u32 sees = attempt_sees(lane);
	enum lane_then then = lane_after_failure(lane->state, sees);

	lockdep_assert_held(&lane->peer->lnet->lock);
	/* A peer that has refused a link for good, on any rail, is there and wants none. */
	if (then == LANE_GOES_ON && !(sees & LANE_UNTRIED) && !lane->refused)
		attempt_once_more(lane, ~0U);
	if (then == LANE_GOES_ON && attempt_begin(lane, true))
		then = LANE_REFUSES;
	if (then == LANE_GOES_ON)
		attempt_set_limit(lane);
	else if (then == LANE_REFUSES)
		sanx_waiters_refuse(lane);
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
static void attempt_failed(struct sanx_lane *lane, enum sanx_cause cause)
{
	unsigned int rail = lane->rail;

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (lane->trying->yields)
		cause = SANX_CAUSE_NONE;
	sanx_lane_step(lane, LANE_FAILED, NULL);
	if (cause)
		sanx_rail_note(lane->peer, rail, cause);
}

/*
 * Has the attempt run out of time?  The timer is not cancelled when one succeeds, and
 * link.up of one that has may not have run yet.
 */
static bool attempt_over(const struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	return lane->trying && READ_ONCE(lane->trying->state) != SANX_LINK_UP &&
	       time_after_eq(jiffies, lane->try_end);
}

/* A time limit of a lane is over.  Takes lnet.lock. */
void sanx_attempt_work(struct work_struct *work)
{
	struct sanx_lane *lane = container_of(to_delayed_work(work), struct sanx_lane, timer);
	bool cov = sanx_cov_start(lane->peer->payer.net);
	enum sanx_cause cause;

	mutex_lock(&lane->peer->lnet->lock);
	if (attempt_over(lane)) {
		cause = failure_cause(lane->trying);
		sanx_link_kill(lane->trying, SANX_END_LOST);
		sanx_rail_failed(lane->peer, lane->rail);
		sanx_rails_care(lane->peer);
		attempt_failed(lane, cause);
		attempt_next(lane);
	} else if (!lane->trying && !list_empty(&lane->waiters)) {
		/*
		 * The connections wait for the peer's attempt.  It may have failed, and
		 * nobody at the peer may wait for another one.
		 */
		if (time_after_eq(jiffies, lane->deadline))
			sanx_waiters_refuse(lane);
		else if (!lane_accepting(lane) && attempt_sees(lane) & LANE_UNTRIED)
			attempt_next(lane);
		else
			attempt_arm(lane, lane->deadline);
	}
	mutex_unlock(&lane->peer->lnet->lock);
	sanx_cov_stop(cov);
}

/* Does an attempt only wait for what follows its end, or its success? */
static bool attempt_decided(const struct sanx_lane *lane)
{
	const struct sanx_link *link = lane->trying;

	return READ_ONCE(link->state) != SANX_LINK_CONNECTING || link->yields ||
	       lane->refused & BIT(lane->rail);
}

/*
 * Do connections wait for a rail while another works?  lnet.lock held.  Takes tx_lock.
 *
 * A link that is up on a rail, such as a standby link, shows that it works.  A rail on which
 * none is up may not answer for all the time that it has.  What is known of that rail stays
 * as it is, and it is tried again if need be.
 */
void sanx_attempt_look(struct sanx_lane *lane, const struct rails_view *v)
{
	struct sanx_link *link = lane->trying;

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (!link || lane->out || lane_unwanted(lane) || lane_accepting(lane) ||
	    attempt_decided(lane) ||
	    !rails_leave(&lane->peer->rails, v, lane->tried, lane->rail, jiffies))
		return;
	sanx_link_kill(link, SANX_END_LOST);
	lane->tried &= ~BIT(lane->rail);
	attempt_failed(lane, SANX_CAUSE_NONE);
	/* If there is no memory for a link now, it goes on when the time of this one is over. */
	if (!attempt_begin(lane, true))
		attempt_set_limit(lane);
}

/* A link that the peer has asked for is gone.  lnet.lock held. */
void sanx_attempt_instead(struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	if (lane->trying || lane->out || list_empty(&lane->waiters) ||
	    lane_accepting(lane))
		return;
	lane->tried = 0;
	attempt_next(lane);
}

/*
 * Holds the rail of an attempt that has failed; longer each time, but if the peer has
 * refused it for now only.  A rail on which the peer has refused is held only if that
 * leaves the lane with nothing to wait for: else all rails are tried again, and
 * presence.h decides.
 */
static void attempt_hold_rail(struct sanx_lane *lane)
{
	bool waits = !lane->out && !sanx_lane_standby(lane) && !lane_unwanted(lane);
	const struct sanx_link *link = lane->trying;
	enum sanx_link_end why = READ_ONCE(link->why);

	if (why == SANX_END_LOST || why == SANX_END_NO_WAY || why == SANX_END_UNFIT ||
	    (!waits && lane->refused & BIT(lane->rail)))
		sanx_rail_failed(lane->peer, lane->rail);
	else if (!waits && !link->yields)
		sanx_rail_refused(lane->peer, lane->rail);
}

/* An attempt of ours has failed: what follows for those who wait? */
static void attempt_after(struct sanx_lane *lane, const struct sanx_link *link)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	if (!link->yields) {
		if (READ_ONCE(link->why) != SANX_END_LOST)
			lane->final |= BIT(lane->rail);
		attempt_next(lane);
		return;
	}
	/*
	 * They wait for the peer's attempt.  It may fail without our knowledge, so we ask
	 * once more when half of the time that is left is over, on the same rail if need be.
	 */
	attempt_once_more(lane, BIT(lane->rail));
	if (!list_empty(&lane->waiters))
		attempt_set_limit(lane);
}

/* The link that a lane was trying for is dead.  lnet.lock held. */
void sanx_attempt_ends(struct sanx_lane *lane)
{
	struct sanx_link *link = lane->trying;

	attempt_hold_rail(lane);
	attempt_failed(lane, failure_cause(link));
	attempt_after(lane, link);
}

static int attempt_path(struct sanx_link *link, struct sanx_wire_path *path)
{
	struct net *net = link->payer->net;
	struct sanx_node_info info, self;

	if (!sanx_node_by_id(net, link->payer->id, &info) ||
	    !sanx_node_by_id(net, link->self, &self))
		return -ENOENT;
	/* Its number is that of a map which may have changed since. */
	link->rail = sanx_rail_in(&info, link);
	if (link->rail == RAILS_MAX)
		return -ENOENT;
	path->dst = info.rail[link->rail];
	/* Half of the rail's share of the time, so that a step can be repeated. */
	path->route_ms = READ_ONCE(link_timeout_ms);
	path->addr_ms = path->route_ms / info.n_rails / 2;
	if (!info.found && !self.found)
		return sanx_node_rail_end(&self, &info, link->rail, &path->src) ?
		       0 : -EADDRNOTAVAIL;
	/* Nodes find each other at the addresses between which the routes lead. */
	path->src = in6addr_any;
	if (ipv6_addr_v4mapped(&path->dst))
		ipv6_addr_set_v4mapped(htonl(INADDR_ANY), &path->src);
	return 0;
}

/* Starts to set up an active link. */
void sanx_attempt_start(struct work_struct *work)
{
	struct sanx_link *link = container_of(work, struct sanx_link, start);
	unsigned int noio = memalloc_noio_save();
	bool cov = sanx_cov_start(link->payer->net);
	struct sanx_wire_path path;
	struct sanx_wire_link *wl;
	int err;

	wl = link->wire->create(link, link->payer->net);
	err = PTR_ERR_OR_ZERO(wl);
	if (!err) {
		link->wl = wl;
		err = attempt_path(link, &path);
	}
	if (!err)
		err = link->wire->connect(wl, &path);
	if (err)
		sanx_link_kill(link, SANX_END_NO_WAY);
	sanx_cov_stop(cov);
	memalloc_noio_restore(noio);
}
