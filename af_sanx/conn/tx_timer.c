// SPDX-License-Identifier: GPL-2.0
/*
 * The sender's timer: it ends corking (hold.c), and has senders look for room
 * again (spare.c).  Both need a timer seldom, and for milliseconds.
 *
 * A pending timer has a reference of the connection.  It is not set for a closed
 * connection.
 *
 * Full barriers:
 *
 * - sanx_tx_timer_arm() sets the timer and then looks at the state.
 *   sanx_conn_close() stores the state and then cancels the timer.  At least one
 *   of the two sees the other's store.
 * - A caller that finds the timer pending has stored before what the timer is to
 *   see, with a full barrier in between; smp_mb() in tx_timer_expired() is the
 *   partner.
 */
#include <linux/timer.h>

#include "config/cov.h"
#include "conn_priv.h"

/**
 * sanx_tx_timer_arm() - set the timer, unless it expires sooner already
 * @conn: the connection; the caller has a reference
 * @delay: in jiffies
 *
 * Context: any.
 */
void sanx_tx_timer_arm(struct sanx_conn *conn, unsigned long delay)
{
	struct timer_list *timer = &conn->tx_timer;
	unsigned long when = jiffies + delay;

	if (timer_pending(timer) &&
	    time_before_eq(READ_ONCE(timer->expires), when))
		return;
	sanx_conn_get(conn);
	if (timer_reduce(timer, when))
		sanx_conn_put(conn);
	/* See above: pairs with sanx_conn_close(). */
	smp_mb();
	if (!sanx_conn_open(conn) && del_timer(timer))
		sanx_conn_put(conn);
}

static void tx_timer_expired(struct timer_list *timer)
{
	struct sanx_conn *conn = container_of(timer, struct sanx_conn,
					      tx_timer);
	bool cov = sanx_cov_start(conn->net);
	unsigned long rest;

	/* See above: a caller that found the timer pending. */
	smp_mb();
	rest = sanx_hold_expire(conn);
	if (rest)
		sanx_tx_timer_arm(conn, rest);
	sanx_conn_tx_look(conn);
	sanx_conn_put(conn);
	sanx_cov_stop(cov);
}

/* Initialise the timer of a new connection. */
void sanx_tx_timer_init(struct sanx_conn *conn)
{
	timer_setup(&conn->tx_timer, tx_timer_expired, 0);
}

/*
 * The socket was closed.  May sleep: no lock of @conn is held.
 *
 * The timer does not run any more after this.  sanx_tx_timer_arm() on another
 * CPU may still set it, but then cancels it again.
 */
void sanx_tx_timer_stop(struct sanx_conn *conn)
{
	if (del_timer_sync(&conn->tx_timer))
		sanx_conn_put(conn);
}
