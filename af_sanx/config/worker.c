// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel thread of connect() (sci-socket.txt 5.1.4, "dedicated kernel thread"),
 * and the workqueue.  Incoming requests are served per link (link/peer/serve.c).
 *
 * - sanx_connect does the work that a connect() leaves for later: fallback
 *   after a refusal, and repeated requests.  It also ends the wait of
 *   TCP_DEFER_ACCEPT.
 * - sanx_wq does the other deferred work of this module.
 */
#include <linux/err.h>
#include "config.h"

struct kthread_worker *sanx_connect_worker;
struct workqueue_struct *sanx_wq;

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
		destroy_workqueue(sanx_wq);
	return err;
}

void sanx_worker_exit(void)
{
	destroy_workqueue(sanx_wq);
	kthread_destroy_worker(sanx_connect_worker);
}
