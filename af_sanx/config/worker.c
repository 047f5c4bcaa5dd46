// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel threads and the workqueue (sci-socket.txt 5.1.4 and 5.1.5, "dedicated
 * kernel thread"):
 *
 * - sanx_connect does the work that a connect() leaves for later: fallback
 *   after a refusal, and repeated requests.  It also ends the wait of
 *   TCP_DEFER_ACCEPT.
 * - sanx_accept serves incoming requests that need process context.
 * - sanx_wq does the other deferred work of this module.
 */
#include <linux/err.h>
#include "config.h"

struct kthread_worker *sanx_connect_worker;
struct workqueue_struct *sanx_wq;
static struct kthread_worker *accept_worker;

/**
 * sanx_accept_queue() - queue work for the accept thread
 * @work: the work; it may sleep, but delays all other accepts meanwhile
 *
 * Context: any.
 */
void sanx_accept_queue(struct kthread_work *work)
{
	kthread_queue_work(accept_worker, work);
}

int sanx_worker_init(void)
{
	int err;

	/*
	 * WQ_MEM_RECLAIM: reclaim.c frees memory.
	 */
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
