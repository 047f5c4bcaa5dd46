// SPDX-License-Identifier: GPL-2.0
/*
 * The named kernel threads: sanx_connect does what a connect() leaves to be
 * done later, sanx_accept what an incoming request needs that an interrupt
 * cannot give (sci-socket.txt 5.1.4 and 5.1.5, "dedicated kernel thread").  And
 * a workqueue for what has to do with neither.
 */
#include <linux/err.h>
#include <linux/export.h>

#include "config.h"

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
