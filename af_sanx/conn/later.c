// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed work of a connection.  The work holds a reference of the connection
 * while it is queued and while it runs.  It is not queued for a closed connection.
 */
#include <linux/workqueue.h>

#include "config/config.h"
#include "internal.h"

/**
 * sanx_conn_later() - have delayed work of a connection done
 * @conn: the connection, which has a reference for this
 * @work: what is in it, and ends with sanx_conn_later_done(); already queued, it
 *	is left alone
 * @delay: in jiffies
 *
 * Not for one that is not open: close() does not look for it any more.
 *
 * Context: any.
 */
void sanx_conn_later(struct sanx_conn *conn, struct delayed_work *work,
		     unsigned long delay)
{
	sanx_conn_get(conn);
	if (!queue_delayed_work(sanx_wq, work, delay))
		sanx_conn_put(conn);
	/* One of the two sees the other: this, or sanx_conn_close(). */
	smp_mb();
	if (!sanx_conn_open(conn))
		sanx_conn_later_stop(conn, work);
}

/**
 * sanx_conn_sooner() - as sanx_conn_later(), but no later than now
 * @conn: as there
 * @work: as there; already queued, it comes at @delay if that is sooner
 * @delay: in jiffies
 *
 * Context: any.
 */
void sanx_conn_sooner(struct sanx_conn *conn, struct delayed_work *work,
		      unsigned long delay)
{
	if (delayed_work_pending(work) &&
	    !time_after(READ_ONCE(work->timer.expires), jiffies + delay))
		return;
	sanx_conn_get(conn);
	/* Queued before, it has its reference. */
	if (mod_delayed_work(sanx_wq, work, delay))
		sanx_conn_put(conn);
	/* As there. */
	smp_mb();
	if (!sanx_conn_open(conn))
		sanx_conn_later_stop(conn, work);
}

/**
 * sanx_conn_later_done() - delayed work gives its reference back
 * @conn: the connection; the caller returns
 *
 * The transport's module can go a grace period after the last one; and what is
 * freed with it is not to be waited for here.
 *
 * Context: process.
 */
void sanx_conn_later_done(struct sanx_conn *conn)
{
	rcu_read_lock_bh();
	sanx_conn_put(conn);
	rcu_read_unlock_bh();
}

/**
 * sanx_conn_later_stop() - delayed work of a connection is not wanted any more
 * @conn: the connection; with a reference that is not the work's
 * @work: in it; one that runs is not waited for
 *
 * Context: any.
 */
void sanx_conn_later_stop(struct sanx_conn *conn, struct delayed_work *work)
{
	if (cancel_delayed_work(work))
		sanx_conn_put(conn);
}
