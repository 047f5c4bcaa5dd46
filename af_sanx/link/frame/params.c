// SPDX-License-Identifier: GPL-2.0
/* Parameters and workqueues of the engine. */
#include <linux/module.h>

#include "frames.h"

unsigned int link_timeout_ms = 3000;
module_param(link_timeout_ms, uint, 0644);
MODULE_PARM_DESC(link_timeout_ms, "how long a connect waits for a link before it becomes TCP, in ms (default: 3000)");

unsigned int link_hold_ms = 10000;
module_param(link_hold_ms, uint, 0644);
MODULE_PARM_DESC(link_hold_ms, "how long connects to a node are TCP at once after a link to it has failed, in ms (default: 10000)");

unsigned int heartbeat_ms = 1000;
module_param(heartbeat_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_ms, "a link that is idle so long is probed, after twenty times as long it is lost, in ms (default: 1000)");

unsigned int failover_ms = 2000;
module_param(failover_ms, uint, 0644);
MODULE_PARM_DESC(failover_ms, "a link to a node with another rail is lost if it is silent so long, in ms (default: 2000)");

unsigned int rail_hold_ms = 4000;
module_param(rail_hold_ms, uint, 0644);
MODULE_PARM_DESC(rail_hold_ms, "other rails are preferred so long to one that failed, twice as long if it fails again, and so on up to 16 times, in ms (default: 4000)");

unsigned int lanes;
module_param(lanes, uint, 0644);
MODULE_PARM_DESC(lanes, "links to a node that its connections are shared out to, 8 at most; 0: as many as there are CPUs (default: 0)");

unsigned int grow_ms = 20;
module_param(grow_ms, uint, 0644);
MODULE_PARM_DESC(grow_ms, "rings grow to hold what is read of a stream in that time, in ms; 0: they do not (default: 20)");

unsigned int long_min;
module_param(long_min, uint, 0644);
MODULE_PARM_DESC(long_min, "a send() of so many bytes is made from the program's pages; 0: as is measured for each link (default: 0)");

#ifdef CONFIG_FAULT_INJECTION
unsigned int hold_up_ms;
module_param(hold_up_ms, uint, 0644);
MODULE_PARM_DESC(hold_up_ms, "debug kernels only: what is done about a link that came up begins so much later, in ms (default: 0)");
#endif

/*
 * Work on sanx_link_wq (link_end()) waits for connections to be released, which
 * happens on sanx_lconn_wq, and for requests, which sanx_accept_wq serves.  So there
 * are three workqueues.
 *
 * Memory reclaim may wait for bytes that a connection sends, and the connection
 * may wait for work on any of them, above all for another link.  So all have a
 * rescuer, and work that a sender may wait for allocates memory
 * without I/O (sanx_memalloc_save()).
 */
struct workqueue_struct *sanx_link_wq;
struct workqueue_struct *sanx_accept_wq;
struct workqueue_struct *sanx_lconn_wq;

/**
 * sanx_params_init() - make the workqueues
 *
 * Context: process, may sleep.
 * Return: 0; or -ENOMEM, and sanx_params_exit() is still to be called.
 */
int sanx_params_init(void)
{
	sanx_link_wq = alloc_workqueue("sanx_link", WQ_UNBOUND | WQ_MEM_RECLAIM,
				       0);
	sanx_lconn_wq = alloc_workqueue("sanx_conn",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	sanx_accept_wq = alloc_workqueue("sanx_accept",
					 WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return sanx_link_wq && sanx_lconn_wq && sanx_accept_wq ? 0 : -ENOMEM;
}

/**
 * sanx_params_exit() - destroy the workqueues, as far as they were made
 *
 * Context: process, may sleep; nothing is queued any more.
 */
void sanx_params_exit(void)
{
	if (sanx_accept_wq)
		destroy_workqueue(sanx_accept_wq);
	if (sanx_lconn_wq)
		destroy_workqueue(sanx_lconn_wq);
	if (sanx_link_wq)
		destroy_workqueue(sanx_link_wq);
}
