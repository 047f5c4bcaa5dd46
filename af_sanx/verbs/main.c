// SPDX-License-Identifier: GPL-2.0
/* The verbs wire: the module. */
#include <linux/module.h>
#include <net/sock.h>

#include "verbs.h"

/* A program without privileges cannot listen there in place of the kernel. */
unsigned int service_port = 659;
module_param(service_port, uint, 0444);
MODULE_PARM_DESC(service_port, "port of the RDMA connection manager that nodes link on, below 1024 to keep programs out (default: 659)");

static const struct sanx_wire_ops verbs_ops = {
	.kind		= SANX_WIRE_RDMA,
	.owner		= THIS_MODULE,
	.listen		= verbs_listen,
	.unlisten	= verbs_unlisten,
	.create		= verbs_create,
	.connect	= verbs_connect,
	.who		= verbs_who,
	.quiesce	= verbs_quiesce,
	.stop		= verbs_stop,
	.free		= verbs_free,
	.post		= verbs_post,
	.map		= verbs_map,
	.unmap		= verbs_unmap,
	.sync		= verbs_sync,
	.map_page	= verbs_map_page,
	.unmap_page	= verbs_unmap_page,
};

static int __init verbs_init(void)
{
	int err;

	if (!service_port || service_port > U16_MAX)
		return -EINVAL;
	if (service_port >= PROT_SOCK)
		pr_warn("service_port %u is open to programs without privileges\n",
			service_port);
	err = verbs_cm_init();
	if (err)
		return err;
	err = sanx_wire_register(&verbs_ops);
	if (err)
		verbs_cm_exit();
	return err;
}

static void __exit verbs_exit(void)
{
	sanx_wire_unregister(&verbs_ops);
	verbs_cm_exit();
}

module_init(verbs_init);
module_exit(verbs_exit);

MODULE_AUTHOR("The AF_SANX developers");
MODULE_DESCRIPTION("AF_SANX over RDMA");
MODULE_VERSION(__stringify(SANX_VERSION));
MODULE_LICENSE("GPL");
