// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed work of a connection.  The work holds a reference of the connection
 * while it is queued and while it runs.  It is not queued for a closed
 * connection.
 *
 * Full barriers: sanx_conn_later() and sanx_conn_sooner() queue the work and
 * then look at the state.  sanx_conn_close() stores the state and then cancels
 * the work.  At least one of the two sees the other's store.
 */
#include <linux/workqueue.h>

#include "config/config.h"
#include "conn_priv.h"

/*
 * Queue delayed work of a connection, of which the caller has a reference.
 *
 * Cancels the work again if @conn is not open, because close() may have looked
 * for it already.
 */
void sanx_conn_later(struct sanx_conn *conn, struct delayed_work *work,
		     unsigned long delay)
{
	sanx_conn_get(conn);
	if (!queue_delayed_work(sanx_wq, work, delay))
		sanx_conn_put(conn);
	/* See above: pairs with sanx_conn_close(). */
	smp_mb();
	if (!sanx_conn_open(conn))
		sanx_conn_later_stop(conn, work);
}

/* As sanx_conn_later(), and move queued work forward. */
void sanx_conn_sooner(struct sanx_conn *conn, struct delayed_work *work,
		      unsigned long delay)
{
	if (delayed_work_pending(work) &&
	    !time_after(READ_ONCE(work->timer.expires), jiffies + delay))
		return;
	sanx_conn_get(conn);
	/* Work that was queued before has a reference already. */
	if (mod_delayed_work(sanx_wq, work, delay))
		sanx_conn_put(conn);
	/* See above: pairs with sanx_conn_close(). */
	smp_mb();
	if (!sanx_conn_open(conn))
		sanx_conn_later_stop(conn, work);
}

/**
 * sanx_conn_later_done() - put the reference of delayed work
 * @conn: the connection; the caller returns afterwards
 *
 * The put is under RCU, because the transport's module can go a grace period
 * after the last put, and destroy() must have returned then.  Bottom halves are
 * disabled, so that vfree() in destroy() defers its work instead of waiting.
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
 * sanx_conn_later_stop() - cancel delayed work of a connection
 * @conn: the connection; the caller has a reference other than the work's
 * @work: work in @conn; if it runs, this does not wait for it
 *
 * Context: any.
 */
void sanx_conn_later_stop(struct sanx_conn *conn, struct delayed_work *work)
{
	if (cancel_delayed_work(work))
		sanx_conn_put(conn);
}
