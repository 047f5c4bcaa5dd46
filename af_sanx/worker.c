// SPDX-License-Identifier: GPL-2.0
/*
 * The named kernel threads: sanx_connect does what a connect() leaves to be
 * done later, sanx_accept what an incoming request needs that an interrupt
 * cannot give (sci-socket.txt 5.1.4 and 5.1.5, "dedicated kernel thread").  And
 * a workqueue for what has to do with neither.
 */
#include <linux/err.h>
#include <linux/export.h>

#include "af_sanx.h"

struct kthread_worker *sanx_connect_worker;
struct workqueue_struct *sanx_wq;
static struct kthread_worker *accept_worker;

/**
 * sanx_connect_queue() - have work done by the connect thread
 * @work: the work; may sleep, but holds up every other connect while it does
 *
 * Context: any.
 */
void sanx_connect_queue(struct kthread_work *work)
{
	kthread_queue_work(sanx_connect_worker, work);
}
EXPORT_SYMBOL_GPL(sanx_connect_queue);

/**
 * sanx_accept_queue() - have work done by the accept thread
 * @work: the work; may sleep, but holds up every other accept while it does
 *
 * Context: any.
 */
void sanx_accept_queue(struct kthread_work *work)
{
	kthread_queue_work(accept_worker, work);
}
EXPORT_SYMBOL_GPL(sanx_accept_queue);

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

int sanx_worker_init(void)
{
	int err;

	/* What is corked goes by it, and reclaim may wait for that. */
	sanx_wq = alloc_workqueue("sanx", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!sanx_wq)
		return -ENOMEM;
	sanx_connect_worker = kthread_create_worker(0, "sanx_connect");
	err = PTR_ERR_OR_ZERO(sanx_connect_worker);
	if (err)
		goto err_wq;
	accept_worker = kthread_create_worker(0, "sanx_accept");
	err = PTR_ERR_OR_ZERO(accept_worker);
	if (err)
		goto err_connect;
	return 0;

err_connect:
	kthread_destroy_worker(sanx_connect_worker);
err_wq:
	destroy_workqueue(sanx_wq);
	return err;
}

void sanx_worker_exit(void)
{
	destroy_workqueue(sanx_wq);
	kthread_destroy_worker(accept_worker);
	kthread_destroy_worker(sanx_connect_worker);
}
