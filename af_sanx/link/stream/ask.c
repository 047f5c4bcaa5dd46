// SPDX-License-Identifier: GPL-2.0
/*
 * Time limit for the answer to an OPEN.
 *
 * A peer can keep a link up and not answer OPENs: it may be short of memory,
 * broken or hostile.  TCP's connect() always ends.  So connect() waits here no
 * longer than it waits for a link (link_timeout_ms), and then falls back to
 * TCP, which has retries and an error of its own for a node that does not
 * answer.
 *
 * A link on which nothing arrives may be lost, which is found out soon where there is another
 * rail (failover_ms).  So that is waited for.
 *
 * The peer may still be working on the OPEN.  So an OPEN that was posted keeps
 * its connection, and counts towards SANX_OPENS_MAX, until it is answered or
 * the link ends.  An OPEN_ACK that comes late is answered with a reset.
 *
 * Later connects should not wait in vain as well.  After a late OPEN the link
 * takes no connects: they fall back to TCP at once, for link_hold_ms or while
 * SANX_OPENS_MAX requests are unanswered, whichever is longer.  Any answer to
 * an OPEN ends this.
 */
#include "config/cov.h"
#include "stream_priv.h"

static void ask_arm(struct sanx_link *link, unsigned long delay)
{
	lockdep_assert_held(&link->tx_lock);
	/*
	 * end_starts() cancels this work after sanx_link_kill_locked() has
	 * changed the state, so it must not be queued in any later state.
	 */
	if (link->state == SANX_LINK_UP)
		queue_delayed_work(sanx_link_wq, &link->open_timeout, delay);
}

/* Starts the time limit of an OPEN.  tx_lock held. */
void sanx_ask_begin(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;

	lockdep_assert_held(&link->tx_lock);
	lc->asked = jiffies;
	list_add_tail(&lc->wait_answer, &link->asking);
	ask_arm(link, msecs_to_jiffies(READ_ONCE(link_timeout_ms)));
}

/* Stops the time limit of an OPEN that was answered.  tx_lock held. */
void sanx_ask_answered(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	list_del_init(&lc->wait_answer);
	WRITE_ONCE(lc->link->late, 0);
}

/**
 * sanx_ask_unanswered() - does the peer leave OPENs on this link unanswered?
 * @link: a link
 *
 * Context: any; without tx_lock the result is an estimate.
 * Return: true if connects should not use the link now.
 */
bool sanx_ask_unanswered(const struct sanx_link *link)
{
	unsigned long hold = msecs_to_jiffies(READ_ONCE(link_hold_ms));

	return READ_ONCE(link->late) &&
	       (READ_ONCE(link->opening) >= SANX_OPENS_MAX ||
		time_before(jiffies, READ_ONCE(link->late_at) + hold));
}

static void ask_give_up(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;

	lockdep_assert_held(&link->tx_lock);
	list_del_init(&lc->wait_answer);
	WRITE_ONCE(link->late_at, jiffies);
	WRITE_ONCE(link->late, link->late + 1);
	/* The OPEN was not sent, so the peer does not know the connection. */
	if (lc->state.phase == SANX_LCONN_OPENING)
		sanx_lconn_abort(lc);
}

/*
 * Would an answer have arrived?  Frames keep their order, so an answer that the peer has sent
 * is here before the PONG to a PING of after @end.  That a PING of the peer arrives says
 * nothing: the way to it may be the one that is cut.  What the peer has received, it
 * acknowledges sooner than this, if it is well.
 */
static bool ask_arrives(struct sanx_link *link, unsigned long end, unsigned long failover)
{
	const struct sanx_slot *slot = sanx_ack_oldest(link);

	return time_after_eq(link->asked, end) &&
	       time_after_eq(READ_ONCE(link->heard), link->asked) &&
	       !link->ping && !link->timed &&
	       (!slot || time_after(slot->at, jiffies - failover / 4));
}

/*
 * How long to wait for the answer to an OPEN, from now on, in jiffies.  If the whole link
 * seems to be lost, and there is an @other rail, beat.c decides: once it is lost, the
 * connection is asked for on the other one.
 */
static unsigned long ask_wait(struct sanx_link *link,
			      const struct sanx_lconn *lc, bool other)
{
	unsigned long failover = msecs_to_jiffies(READ_ONCE(failover_ms));
	unsigned long end = lc->asked +
			    msecs_to_jiffies(READ_ONCE(link_timeout_ms));

	lockdep_assert_held(&link->tx_lock);
	if (time_before(jiffies, end))
		return end - jiffies;
	if (!other || ask_arrives(link, end, failover) ||
	    time_after_eq(jiffies, end + 2 * failover))
		return 0;
	sanx_link_ask(link);
	return failover / 4 + 1;
}

/*
 * Takes the next late OPEN off the list.  If there is none that is late yet,
 * the work is queued again for the oldest one.
 * Return: its connection, with a reference, or NULL.
 */
static struct sanx_lconn *ask_next(struct sanx_link *link, bool other)
{
	struct sanx_lconn *lc;
	unsigned long wait;

	spin_lock_bh(&link->tx_lock);
	lc = list_first_entry_or_null(&link->asking, struct sanx_lconn, wait_answer);
	wait = lc ? ask_wait(link, lc, other) : 0;
	if (wait) {
		ask_arm(link, wait);
		lc = NULL;
	}
	if (lc) {
		sanx_conn_get(&lc->conn);
		ask_give_up(lc);
	}
	sanx_xmit_unlock(link);
	return lc;
}

/**
 * sanx_ask_work() - give up late OPENs
 * @work: link.open_timeout
 *
 * Context: process.
 */
void sanx_ask_work(struct work_struct *work)
{
	struct sanx_link *link = container_of(to_delayed_work(work),
					      struct sanx_link, open_timeout);
	bool cov = sanx_cov_start(link->payer->net);
	bool other = READ_ONCE(link->others);
	struct sanx_lconn *lc;

	while ((lc = ask_next(link, other))) {
		/* No effect if the connection was closed meanwhile. */
		sanx_conn_refused(&lc->conn, SANX_FALLBACK_LINK);
		sanx_conn_put(&lc->conn);
	}
	sanx_cov_stop(cov);
}
