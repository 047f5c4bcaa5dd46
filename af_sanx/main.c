// SPDX-License-Identifier: GPL-2.0
/*
 * AF_SANX: sockets over system area networks.
 *
 * Init and exit of the module, in the order of the layers
 * (Documentation/layers.rst).  The family comes last, since sockets can be made
 * from then on.
 */
#include <linux/module.h>
#include <uapi/linux/sanx.h>

#include "config/config.h"
#include "conn/conn.h"
#include "dgram/dgram.h"
#include "link/peer/engine.h"
#include "netlink/netlink.h"
#include "socket/socket.h"
#include "tcp/tcp.h"

static int __init sanx_init(void)
{
	int err;

	err = sanx_conn_init() ?: sanx_worker_init();
	if (err)
		return err;
	err = sanx_netns_init();
	if (err)
		goto err_worker;
	err = sanx_listeners_init();
	if (err)
		goto err_netns;
	/* Before the count of sockets, which has it end what it has of a namespace. */
	err = sanx_dgram_init(&sanx_explicit_dgram_ops);
	if (err)
		goto err_listeners;
	err = sanx_netuse_init();
	if (err)
		goto err_dgram;
	err = sanx_socks_init();
	if (err)
		goto err_busy;
	err = sanx_explicit_init();
	if (err)
		goto err_socks;
	err = sanx_link_init();
	if (err)
		goto err_explicit;
	err = sanx_tcp_init();
	if (err)
		goto err_link;
	err = sanx_netlink_init();
	if (err)
		goto err_tcp;
	err = sanx_label_init();
	if (err)
		goto err_netlink;
	sanx_fallback_init();
	err = sanx_family_init();
	if (err)
		goto err_label;
	return 0;

err_label:
	sanx_label_exit();
err_netlink:
	sanx_netlink_exit();
err_tcp:
	sanx_tcp_exit();
err_link:
	sanx_link_exit();
err_explicit:
	sanx_explicit_exit();
err_socks:
	sanx_socks_exit();
err_busy:
	sanx_netuse_exit();
err_dgram:
	sanx_dgram_exit();
err_listeners:
	sanx_listeners_exit();
err_netns:
	sanx_netns_exit();
err_worker:
	sanx_worker_exit();
	return err;
}

/*
 * Each socket holds the module, so no socket is left.  These may still run: a
 * callback that put the last reference of the module and has not returned, an
 * RCU callback, or a work item.  The functions called here wait for them.
 */
static void __exit sanx_exit(void)
{
	sanx_family_exit();
	sanx_label_exit();
	sanx_netlink_exit();
	sanx_tcp_exit();
	sanx_link_exit();
	sanx_fallback_drain();
	sanx_explicit_exit();
	sanx_socks_exit();
	sanx_netuse_exit();
	sanx_dgram_exit();
	sanx_listeners_exit();
	sanx_netns_exit();
	/* Work items may still put connections, which RCU then frees. */
	sanx_worker_exit();
	sanx_conn_exit();
}

module_init(sanx_init);
module_exit(sanx_exit);

MODULE_AUTHOR("The AF_SANX developers");
MODULE_DESCRIPTION("Sockets over system area networks");
MODULE_VERSION(__stringify(SANX_VERSION));
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(SANX_FAMILY_DEFAULT);
