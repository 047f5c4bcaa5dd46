// SPDX-License-Identifier: GPL-2.0
/*
 * Work of a connection in the connect thread.  It holds a reference of the
 * connection while its timer is pending, while it is queued and while it runs.
 *
 * kthread_delayed_work is not used: while its timer expires,
 * kthread_cancel_delayed_work_sync() takes the work from the queue and returns
 * false, as if it had not been queued.  So the caller cannot know whether the
 * reference is still to be put.
 */
#include <linux/kthread.h>
#include <linux/timer.h>

#include "config/config.h"
#include "conn_priv.h"

/* Queues the work, with the reference that the timer had. */
static void work_expired(struct timer_list *timer)
{
	struct sanx_conn_work *work = container_of(timer, struct sanx_conn_work,
						   timer);

	if (!kthread_queue_work(sanx_connect_worker, &work->work))
		sanx_conn_put(work->conn);
}

/**
 * sanx_conn_work_init() - set up work of a connection
 * @work: work in @conn that is not queued
 * @conn: the connection
 * @fn: function of the work, which puts the reference, as its last step, or
 *	passes it to sanx_conn_work_again(); NULL to set it later with
 *	sanx_conn_work_set()
 *
 * Context: any.
 */
void sanx_conn_work_init(struct sanx_conn_work *work, struct sanx_conn *conn,
			 kthread_work_func_t fn)
{
	work->conn = conn;
	kthread_init_work(&work->work, fn);
	timer_setup(&work->timer, work_expired, 0);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_conn_work_init);

/**
 * sanx_conn_work_set() - set the function of work
 * @work: work that is not queued
 * @fn: as for sanx_conn_work_init()
 *
 * Context: any.
 */
void sanx_conn_work_set(struct sanx_conn_work *work, kthread_work_func_t fn)
{
	work->work.func = fn;
}

/**
 * sanx_conn_work_again() - queue work with the reference that it holds
 * @work: the work, whose function calls this and then returns
 * @delay: in jiffies; not 0
 *
 * Context: the work's function.
 */
void sanx_conn_work_again(struct sanx_conn_work *work, unsigned long delay)
{
	/* A timer that was pending has a reference of its own. */
	if (mod_timer(&work->timer, jiffies + delay))
		sanx_conn_put(work->conn);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_conn_work_again);

/**
 * sanx_conn_work_queue() - queue work
 * @work: the work; the caller has a reference of its connection, of which the
 *	work takes another
 * @delay: in jiffies, from now on also if the timer is pending already; 0 for
 *	as soon as possible
 *
 * Context: any.
 */
void sanx_conn_work_queue(struct sanx_conn_work *work, unsigned long delay)
{
	sanx_conn_get(work->conn);
	if (delay)
		sanx_conn_work_again(work, delay);
	else
		work_expired(&work->timer);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_conn_work_queue);

/* Cancels what is queued, and waits for the timer's function and the work's. */
static void work_cancel(struct sanx_conn_work *work)
{
	if (del_timer_sync(&work->timer))
		sanx_conn_put(work->conn);
	if (kthread_cancel_work_sync(&work->work))
		sanx_conn_put(work->conn);
}

/**
 * sanx_conn_work_stop() - cancel work and wait until it does not run
 * @work: work of a connection that has no sock any more; the caller has a
 *	reference of the connection
 *
 * Context: process, may sleep; no lock held that the work takes.
 */
void sanx_conn_work_stop(struct sanx_conn_work *work)
{
	/*
	 * Work that ran during the first call may have queued itself again,
	 * because the sock was locked.  It found that sock before the connection
	 * was detached from it.  Work that runs later finds none, and so does not
	 * queue itself.
	 */
	work_cancel(work);
	work_cancel(work);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_conn_work_stop);
