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
 * The peer may still be working on the OPEN.  So an OPEN that was posted keeps
 * its connection, and counts towards SANX_OPENS_MAX, until it is answered or
 * the link ends.  An OPEN_ACK that comes late is answered with a reset.
 *
 * Later connects should not wait in vain as well.  After a late OPEN the link
 * takes no connects: they fall back to TCP at once, for link_hold_ms or while
 * SANX_OPENS_MAX requests are unanswered, whichever is longer.  Any answer to
 * an OPEN ends this.
 */
#include "internal.h"

static void ask_arm(struct vlink *link, unsigned long delay)
{
	lockdep_assert_held(&link->tx_lock);
	/*
	 * end_starts() cancels this work after vlink_kill_locked() has changed
	 * the state, so it must not be queued in any later state.
	 */
	if (link->state == VLINK_UP)
		queue_delayed_work(vlink_wq, &link->patience, delay);
}

/**
 * vask_begin() - start the time limit of an OPEN
 * @vc: an attached connection that is OPENING
 *
 * Context: tx_lock held.
 */
void vask_begin(struct vconn *vc)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	vc->asked = jiffies;
	list_add_tail(&vc->ask, &link->asking);
	ask_arm(link, msecs_to_jiffies(READ_ONCE(link_timeout_ms)));
}

/**
 * vask_answered() - stop the time limit of an OPEN that was answered
 * @vc: the connection of the OPEN
 *
 * Context: tx_lock held.
 */
void vask_answered(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	list_del_init(&vc->ask);
	WRITE_ONCE(vc->link->late, 0);
}

/**
 * vask_unanswered() - does the peer leave OPENs on this link unanswered?
 * @link: a link
 *
 * Context: any; without tx_lock the result is an estimate.
 * Return: true if connects should not use the link now.
 */
bool vask_unanswered(const struct vlink *link)
{
	unsigned long hold = msecs_to_jiffies(READ_ONCE(link_hold_ms));

	return READ_ONCE(link->late) &&
	       (READ_ONCE(link->opening) >= SANX_OPENS_MAX ||
		time_before(jiffies, READ_ONCE(link->late_at) + hold));
}

static void ask_give_up(struct vconn *vc)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	list_del_init(&vc->ask);
	WRITE_ONCE(link->late_at, jiffies);
	WRITE_ONCE(link->late, link->late + 1);
	/* The OPEN was not sent, so the peer does not know the connection. */
	if (vc->pending & VCONN_P_OPEN)
		vconn_abort(vc);
}

/*
 * Takes the next late OPEN off the list.  If there is none that is late yet,
 * the work is queued again for the oldest one.
 * Return: its connection, with a reference, or NULL.
 */
static struct vconn *ask_next(struct vlink *link)
{
	unsigned long limit = msecs_to_jiffies(READ_ONCE(link_timeout_ms));
	struct vconn *vc;

	spin_lock_bh(&link->tx_lock);
	vc = list_first_entry_or_null(&link->asking, struct vconn, ask);
	if (vc && time_before(jiffies, vc->asked + limit)) {
		ask_arm(link, vc->asked + limit - jiffies);
		vc = NULL;
	}
	if (vc) {
		sanx_conn_get(vconn_conn(vc));
		ask_give_up(vc);
	}
	spin_unlock_bh(&link->tx_lock);
	return vc;
}

/**
 * vask_work() - give up late OPENs
 * @work: vlink.patience
 *
 * Context: process.
 */
void vask_work(struct work_struct *work)
{
	struct vlink *link = container_of(to_delayed_work(work), struct vlink,
					  patience);
	struct vconn *vc;

	while ((vc = ask_next(link))) {
		/* No effect if the connection was closed meanwhile. */
		sanx_conn_refused(vconn_conn(vc), SANX_FALLBACK_LINK);
		sanx_conn_put(vconn_conn(vc));
	}
}
