// SPDX-License-Identifier: GPL-2.0
/*
 * Links for suspended connections (stream/suspend.c): when a lane tries for one, and what
 * becomes of the connections.
 *
 * A suspended connection ends early if the peer turns out to have forgotten it.
 * The peer has started anew (another instance in its hello), refuses links for some
 * time, has no AF_SANX any more, does not know the connection, or has a link and does
 * not ask for a connection that it opened.
 *
 * lnet.lock guards lane.tries and .presence, and streams.resumed.
 */
#include <linux/sched/mm.h>

#include "config/cov.h"
#include "patience.h"
#include "peer.h"

/*
 * How long a connection that its program has closed waits for a link, in
 * jiffies.  TCP limits this by its retries.
 */
#define CLOSED_MAX	(60 * HZ)
/*
 * How long links may be refused, in jiffies: presence.h.  For want of AF_SANX, until a
 * device is there; by AF_SANX itself, until an administrator has changed the node map
 * or the keys of both nodes.
 */
#define ABSENT_MAX	(5 * HZ)
#define DENIED_MAX	(60 * HZ)
/* Delay between attempts at a link, in jiffies. */
#define TRY_FIRST	(HZ / 4)
#define TRY_MAX		(5 * HZ)

/* A link of a lane is about to end.  lnet.lock held. */
void sanx_retry_lost(struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	if (lane->streams.n_suspended)
		return;
	lane->tries = 0;
	presence_renew(&lane->presence);
}

/* The peer has rejected a link.  lnet.lock held. */
void sanx_retry_refused(struct sanx_lane *lane, bool never)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	if (presence_refused(&lane->presence, jiffies, never ? DENIED_MAX : ABSENT_MAX))
		sanx_suspend_reset_all(&lane->streams, ECONNRESET);
}

/* Ends a lane's suspended connections, and waits for that.  Takes lnet.lock. */
void sanx_retry_stop(struct sanx_lane *lane)
{
	mutex_lock(&lane->peer->lnet->lock);
	sanx_suspend_reset_all(&lane->streams, ECONNRESET);
	mutex_unlock(&lane->peer->lnet->lock);
	flush_workqueue(sanx_lconn_wq);
}

/*
 * A connection could not be attached.
 * Return: what became of it: OUTCOME_WAITS, OUTCOME_LEAVES or OUTCOME_ENDS.
 */
static enum outcome retry_failed(struct sanx_lconn *lc, struct sanx_link *link,
				 enum attached how)
{
	enum outcome then = outcome_of_attach(how, READ_ONCE(link->n_conns),
					      sanx_rail_may_leave(link));

	if (then == OUTCOME_LEAVES)
		sanx_link_kill(link, SANX_END_LOST);
	else if (then == OUTCOME_ENDS)
		sanx_suspend_reset(lc, ECONNRESET);
	return then;
}

/* The connection, one that we opened, is asked for, or is suspended still, or ends. */
static void retry_ask(struct sanx_lconn *lc, struct sanx_link *link)
{
	struct sanx_conn *conn = sanx_conn_get(&lc->conn);
	enum attached how = sanx_resume_ask(lc, link);

	if (how != ATTACHED)
		retry_failed(lc, link, how);
	sanx_conn_put(conn);
}

/*
 * Has the connector had its time to resume?  There is a link.  Its request may have to
 * wait behind others (sanx_bounds_request()), or has waited for memory (@asked).
 */
static bool retry_expired(const struct sanx_lane *lane,
			  const struct sanx_lconn *lc, bool asked)
{
	const struct sanx_patience p = {
		.lost	= lc->lost,
		.up	= lane->streams.resumed,
		.heard	= READ_ONCE(lane->out->heard),
		.links	= lc->passed,
		.asking	= asked || !list_empty_careful(&lane->out->requests),
	};

	return sanx_patience_over(&p, jiffies);
}

/*
 * Asks for a connection that we opened if there is a link, and ends a
 * connection whose time is over.
 */
static void retry_look_after(struct sanx_lane *lane, struct sanx_lconn *lc)
{
	bool closed = sanx_lconn_is_closed(&lc->state);
	bool asked = lc->resume_req;

	sanx_suspend_serve(lc);

	/*
	 * The liveness timer has to run: the program may have set options, or
	 * sent.
	 */
	if (!closed)
		sanx_conn_quiet(&lc->conn);
	if (closed && time_after(jiffies, lc->lost + CLOSED_MAX))
		sanx_suspend_reset(lc, ETIMEDOUT);
	else if (lane->out && !sanx_lconn_accepted(lc))
		retry_ask(lc, lane->out);
	else if (lane->out && retry_expired(lane, lc, asked))
		sanx_suspend_reset(lc, ECONNRESET);
}

/*
 * A lane has a link again.  lnet.lock held.
 *
 * Ends all suspended connections if the peer has started anew.
 */
void sanx_retry_link_up(struct sanx_lane *lane, struct sanx_link *link)
{
	struct sanx_lconn *lc;

	lockdep_assert_held(&lane->peer->lnet->lock);
	if (lane->instance != link->instance)
		sanx_suspend_reset_all(&lane->streams, ECONNRESET);
	list_for_each_entry(lc, &lane->streams.suspended, wait_link)
		lc->passed++;
	lane->instance = link->instance;
	lane->streams.resumed = jiffies;
	lane->tries = 0;
	presence_renew(&lane->presence);
	if (lane->streams.n_suspended)
		mod_delayed_work(sanx_link_wq, &lane->streams.retry, 0);
}

static unsigned long retry_delay(const struct sanx_lane *lane)
{
	if (lane->out)
		return HZ;
	return min(TRY_FIRST << min(lane->tries, 8U), TRY_MAX);
}

/* Looks after suspended connections, and tries for a link.  Takes lnet.lock. */
void sanx_retry_work(struct work_struct *work)
{
	struct sanx_lane *lane = container_of(to_delayed_work(work), struct sanx_lane,
					       streams.retry);
	bool cov = sanx_cov_start(lane->peer->payer.net);
	unsigned int noio = memalloc_noio_save();
	struct sanx_lconn *lc, *next;

	mutex_lock(&lane->peer->lnet->lock);
	/* retry_expired() needs to know that the peer is there. */
	if (lane->streams.n_suspended && lane->out)
		sanx_beat_stir(lane->out);
	list_for_each_entry_safe(lc, next, &lane->streams.suspended, wait_link)
		retry_look_after(lane, lc);
	if (lane->streams.n_suspended && lane->peer->lnet->running) {
		if (!lane->out) {
			lane->tries++;
			sanx_lane_try(lane);
		}
		queue_delayed_work(sanx_link_wq, &lane->streams.retry, retry_delay(lane));
	}
	mutex_unlock(&lane->peer->lnet->lock);
	memalloc_noio_restore(noio);
	sanx_cov_stop(cov);
}

/*
 * A link that is going down carries no refusal.  The peer asks again on the next one, so
 * the connection stays.
 */
static int retry_unattached(struct sanx_lconn *lc, struct sanx_request *o,
			    enum attached how)
{
	if (retry_failed(lc, o->link, how) == OUTCOME_WAITS && how == ATTACH_NO_ROOM &&
	    READ_ONCE(o->link->state) == SANX_LINK_UP)
		return sanx_resume_later(lc, o);
	return SANX_REJECT_DENIED;
}

static int retry_resume(struct sanx_lconn *lc, struct sanx_request *o)
{
	enum attached how;
	int err;

	err = sanx_resume_check(lc, o);
	if (err)
		return err;
	how = sanx_resume_attach(lc, o->link);
	return how == ATTACHED ? sanx_resume_take(lc, o) : retry_unattached(lc, o, how);
}

/*
 * The peer asks to continue a connection that it opened.  Takes lnet.lock, tx_lock.
 * Return: 0 if @o is done with; -EINPROGRESS if @o waits in lc->resume_req, will be served
 * again, and does not belong to the caller any more; else the reason to refuse.
 */
int sanx_retry_serve(struct sanx_request *o)
{
	struct sanx_link *link = o->link;
	struct sanx_streams *streams = link->streams;
	struct sanx_lconn *lc = sanx_lconn_find(streams, o->f.conn);
	int err;

	if (!lc)
		return SANX_REJECT_DENIED;
	/* The peer does not know this id yet, so it guesses. */
	if (!READ_ONCE(lc->link)) {
		sanx_conn_put(&lc->conn);
		return SANX_REJECT_DENIED;
	}
	mutex_lock(streams->lock);
	err = retry_resume(lc, o);
	if (!err)
		streams->resumed = jiffies;
	mutex_unlock(streams->lock);
	if (!err)
		sanx_conn_confirmed(&lc->conn);
	sanx_conn_put(&lc->conn);
	if (err == -EPROTO) {
		sanx_count_protocol_error(link->payer->net);
		sanx_link_kill(link, SANX_END_FAULT);
		err = 0;
	}
	return err;
}
