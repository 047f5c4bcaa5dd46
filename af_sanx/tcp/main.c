// SPDX-License-Identifier: GPL-2.0
/* The TCP wire: operations and parameters. */
#include <linux/module.h>
#include <net/sock.h>

#include "tcp_priv.h"
#include "tcp.h"

/*
 * A program without privileges cannot listen there in place of the kernel.  It is below
 * 665 so that no kernel takes it as the source port of a connection.  It differs from
 * service_port, where an RDMA device over TCP (iWARP) listens.
 */
unsigned int tcp_rail_port = 658;
module_param(tcp_rail_port, uint, 0444);
MODULE_PARM_DESC(tcp_rail_port, "TCP port that nodes link on over TCP rails, below 1024 to keep programs out (default: 658)");

/* A link that memory reclaim waits for may need it. */
struct workqueue_struct *tlink_wq;

static const struct sanx_wire_ops tlink_ops = {
	.kind		= SANX_WIRE_TCP,
	.owner		= THIS_MODULE,
	.listen		= tlink_listen,
	.unlisten	= tlink_unlisten,
	.create		= tlink_create,
	.connect	= tlink_connect,
	.who		= tlink_who,
	.quiesce	= tlink_quiesce,
	.stop		= tlink_stop,
	.free		= tlink_free,
	.post		= tlink_post,
	.push		= tlink_push,
	.map		= tlink_map,
	.unmap		= tlink_unmap,
};

/**
 * sanx_tcp_init() - let the engine use TCP
 *
 * Context: process, may sleep; after sanx_link_init().
 * Return: 0; -EINVAL for a parameter; or -ENOMEM.
 */
int __init sanx_tcp_init(void)
{
	int err;

	if (!tcp_rail_port || tcp_rail_port > U16_MAX)
		return -EINVAL;
	if (tcp_rail_port >= PROT_SOCK)
		pr_warn("tcp_rail_port %u is open to programs without privileges\n",
			tcp_rail_port);
	tlink_wq = alloc_workqueue("sanx_tcp", WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	if (!tlink_wq)
		return -ENOMEM;
	err = sanx_wire_register(&tlink_ops);
	if (err)
		destroy_workqueue(tlink_wq);
	return err;
}

/**
 * sanx_tcp_exit() - undo sanx_tcp_init()
 *
 * Context: process, may sleep.
 */
void sanx_tcp_exit(void)
{
	sanx_wire_unregister(&tlink_ops);
	destroy_workqueue(tlink_wq);
}
