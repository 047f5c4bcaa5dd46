// SPDX-License-Identifier: GPL-2.0
/* The verbs wire: the module. */
#include <linux/module.h>

#include "verbs.h"

unsigned int service_port = 6180;
module_param(service_port, uint, 0444);
MODULE_PARM_DESC(service_port, "port of the RDMA connection manager that nodes link on (default: 6180)");

static const struct sanx_wire_ops verbs_ops = {
	.name		= "verbs",
	.owner		= THIS_MODULE,
	.listen		= verbs_listen,
	.unlisten	= verbs_unlisten,
	.create		= verbs_create,
	.connect	= verbs_connect,
	.quiesce	= verbs_quiesce,
	.stop		= verbs_stop,
	.free		= verbs_free,
	.post		= verbs_post,
	.enable		= verbs_enable,
	.map		= verbs_map,
	.unmap		= verbs_unmap,
	.sync		= verbs_sync,
	.map_page	= verbs_map_page,
	.unmap_page	= verbs_unmap_page,
};

static int __init verbs_init(void)
{
	if (!service_port || service_port > U16_MAX)
		return -EINVAL;
	return sanx_wire_register(&verbs_ops);
}

static void __exit verbs_exit(void)
{
	sanx_wire_unregister(&verbs_ops);
}

module_init(verbs_init);
module_exit(verbs_exit);

MODULE_AUTHOR("The AF_SANX developers");
MODULE_DESCRIPTION("AF_SANX over RDMA");
MODULE_LICENSE("GPL");
