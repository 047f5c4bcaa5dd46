// SPDX-License-Identifier: GPL-2.0
/* Configuration and counters of a network namespace. */
#include <linux/export.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "config_priv.h"

static unsigned int sanx_net_id;

/**
 * sanx_net() - AF_SANX's configuration of a namespace
 * @net: the namespace
 *
 * Context: any.
 * Return: it, valid as long as @net.
 */
struct sanx_net *sanx_net(const struct net *net)
{
	return net_generic(net, sanx_net_id);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_net);

static int __net_init sanx_net_init(struct net *net)
{
	struct sanx_net *sn = sanx_net(net);
	int err;

	sn->net = net;
	/* To a dump, sequence number 0 means that it has none yet. */
	sn->config_seq = 1;
	mutex_init(&sn->config_mutex);
	sanx_keys_net_init(sn);
	sn->stats = alloc_percpu(struct sanx_stats);
	if (!sn->stats)
		return -ENOMEM;
	err = sanx_sysctl_net_init(sn);
	if (err)
		free_percpu(sn->stats);
	return err;
}

static void __net_exit sanx_net_exit(struct net *net)
{
	struct sanx_net *sn = sanx_net(net);

	sanx_nodemap_publish(sn, NULL);
	kfree(sn->nos);
	sanx_ports_publish(sn, NULL);
	sanx_rail_settings_publish(sn, NULL);
	sanx_keys_net_exit(sn);
	sanx_sysctl_net_exit(sn);
	free_percpu(sn->stats);
}

static struct pernet_operations sanx_net_ops = {
	.init	= sanx_net_init,
	.exit	= sanx_net_exit,
	.id	= &sanx_net_id,
	.size	= sizeof(struct sanx_net),
};

int __init sanx_netns_init(void)
{
	int err = sanx_keys_init();

	if (err)
		return err;
	err = register_pernet_subsys(&sanx_net_ops);
	if (err)
		sanx_keys_exit();
	return err;
}

void sanx_netns_exit(void)
{
	unregister_pernet_subsys(&sanx_net_ops);
	sanx_keys_exit();
}
