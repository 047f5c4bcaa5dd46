// SPDX-License-Identifier: GPL-2.0
/*
 * How long a peer has to answer an OPEN.
 *
 * A link can be up and a peer not serve what is asked for by it: it may be short of
 * memory, or broken, or hostile.  TCP's connect() comes to its end all the same, so a
 * program waits here for as long as it would wait for a link (link_timeout_ms),
 * and then goes on as TCP, which has retries and an error of its own for a node
 * that does not answer.
 *
 * The peer may still be at it, so an OPEN that was posted keeps its connection and
 * its place among the SANX_OPENS_MAX until the answer comes, which is a reset then, or
 * the link ends.  Who comes next shall not wait in vain, too: the link is mute, and
 * connects are TCP at once, for link_hold_ms, or as long as there is no place; or
 * until there is any answer.
 */
#include "verbs.h"

static void ask_arm(struct vlink *link, unsigned long delay)
{
	lockdep_assert_held(&link->tx_lock);
	/* vlink_kill_locked() comes before the work is cancelled. */
	if (link->state == VLINK_UP)
		queue_delayed_work(vlink_wq, &link->patience, delay);
}

/**
 * vask_begin() - the time of an OPEN begins
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
 * vask_answered() - the peer answers an OPEN
 * @vc: the connection that it is about
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
 * vask_mute() - would an OPEN wait in vain?
 * @link: a link
 *
 * Context: any; without tx_lock a moment's estimate.
 * Return: true if so.
 */
bool vask_mute(const struct vlink *link)
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
	/* There was no place for it, so the peer knows nothing of it. */
	if (vc->pending & VCONN_P_OPEN)
		vconn_abort(vc);
}

/* The next whose time is over, with a reference; or the work comes again. */
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
 * vask_work() - look for OPENs whose time is over
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
		/* Of one that was closed meanwhile nobody hears. */
		sanx_conn_refused(vconn_conn(vc), SANX_FALLBACK_LINK);
		sanx_conn_put(vconn_conn(vc));
	}
}
