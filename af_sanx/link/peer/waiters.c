// SPDX-License-Identifier: GPL-2.0
/* Connections that wait for the first link of their lane. */
#include "peer.h"

/*
 * Requests a connection of the peer, on the link of its lane.  @link: the link; the caller has a
 * reference.
 *
 * A link that is lost just now is no reason for TCP: there may be another.
 *
 * Return: 0, and the answer will come, or the core asks again; or -errno.
 */
int sanx_lane_open(struct sanx_lconn *lc, struct sanx_link *link)
{
	int err = sanx_lconn_open(lc, link);

	if (err != -ENOTCONN)
		return err;
	sanx_conn_again(&lc->conn);
	return 0;
}

static struct sanx_lconn *pop_waiter(struct sanx_lane *lane)
{
	struct sanx_lconn *lc;

	lockdep_assert_held(&lane->peer->lnet->lock);
	lc = list_first_entry_or_null(&lane->waiters, struct sanx_lconn, wait_link);
	if (lc) {
		sanx_lconn_set_owner(lc, SANX_OWNER_NONE);
		list_del_init(&lc->wait_link);
	}
	return lc;
}

/* Opens the connections that have waited for a link.  lnet.lock held.  Takes tx_lock. */
void sanx_waiters_open(struct sanx_lane *lane, struct sanx_link *link)
{
	struct sanx_lconn *lc;

	while ((lc = pop_waiter(lane))) {
		if (sanx_lane_open(lc, link))
			sanx_conn_refused(&lc->conn, SANX_FALLBACK_LINK);
		sanx_conn_put(&lc->conn);
	}
}

/**
 * sanx_waiters_refuse() - refuse connections that wait, and start a backoff for later ones
 * @lane: the lane
 *
 * Context: process, lnet.lock held.
 */
void sanx_waiters_refuse(struct sanx_lane *lane)
{
	struct sanx_lconn *lc;

	lane->backoff = true;
	lane->backoff_end = jiffies + msecs_to_jiffies(READ_ONCE(link_hold_ms));
	while ((lc = pop_waiter(lane))) {
		sanx_conn_refused(&lc->conn, SANX_FALLBACK_LINK);
		sanx_conn_put(&lc->conn);
	}
}

/**
 * sanx_lane_in_backoff() - do connects not wait for a link?
 * @lane: the lane
 *
 * Context: process, lnet.lock held.
 * Return: true if the last attempt has failed lately.
 */
bool sanx_lane_in_backoff(const struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	return lane->backoff && time_before(jiffies, lane->backoff_end);
}

/*
 * Stops waiting for a link.
 * Return: true if it waited, and then no answer will come and its reference was put; false if
 * it is attached, or does not wait.
 */
bool sanx_lane_cancel(struct sanx_lconn *lc)
{
	struct sanx_lnet *lnet = sanx_lnet_of(lc->conn.net);
	bool waited;

	mutex_lock(&lnet->lock);
	waited = lc->owner == SANX_OWNER_WAITERS;
	if (waited) {
		sanx_lconn_set_owner(lc, SANX_OWNER_NONE);
		list_del_init(&lc->wait_link);
	}
	mutex_unlock(&lnet->lock);
	if (waited)
		sanx_conn_put(&lc->conn);
	return waited;
}
