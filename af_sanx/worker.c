// SPDX-License-Identifier: GPL-2.0
/*
 * The named kernel threads: sanx_connect does what a connect() leaves to be
 * done later, sanx_accept what an incoming request needs that an interrupt
 * cannot give (sci-socket.txt 5.1.4 and 5.1.5, "dedicated kernel thread").
 */
#include <linux/err.h>
#include <linux/export.h>

#include "af_sanx.h"

struct kthread_worker *sanx_connect_worker;
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
	sanx_connect_worker = kthread_create_worker(0, "sanx_connect");
	if (IS_ERR(sanx_connect_worker))
		return PTR_ERR(sanx_connect_worker);
	accept_worker = kthread_create_worker(0, "sanx_accept");
	if (IS_ERR(accept_worker)) {
		kthread_destroy_worker(sanx_connect_worker);
		return PTR_ERR(accept_worker);
	}
	return 0;
}

void sanx_worker_exit(void)
{
	kthread_destroy_worker(accept_worker);
	kthread_destroy_worker(sanx_connect_worker);
}
