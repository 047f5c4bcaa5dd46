// SPDX-License-Identifier: GPL-2.0
/*
 * AF_SANX in a network namespace: its beginning and end, its sockets, and
 * whether transports have anything to do there.
 *
 * A namespace lives as long as something holds it.  Sockets do; nothing of
 * ours may that outlives them, or the namespace would never go.  So transports
 * are told when the last socket is gone, and let go then.
 */
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "af_sanx.h"

static unsigned int sanx_net_id;

/**
 * sanx_net() - AF_SANX's part of a namespace
 * @net: the namespace
 *
 * Return: it, as long as @net.
 */
struct sanx_net *sanx_net(const struct net *net)
{
	return net_generic(net, sanx_net_id);
}
EXPORT_SYMBOL_GPL(sanx_net);

static void call_net_busy(const struct sanx_transport_ops *ops, void *arg)
{
	if (ops->net_busy)
		ops->net_busy(arg);
}

static void call_net_idle(const struct sanx_transport_ops *ops, void *arg)
{
	if (ops->net_idle)
		ops->net_idle(arg, false);
}

static void call_net_exit(const struct sanx_transport_ops *ops, void *arg)
{
	if (ops->net_idle)
		ops->net_idle(arg, true);
}

/* Tells transports what is the case now, whoever came first. */
static void net_update_busy(struct sanx_net *sn)
{
	bool busy;

	mutex_lock(&sn->busy_mutex);
	spin_lock(&sn->socks_lock);
	busy = sn->n_socks;
	spin_unlock(&sn->socks_lock);
	if (busy != sn->busy) {
		sn->busy = busy;
		sanx_transport_each(busy ? call_net_busy : call_net_idle,
				    sn->net);
	}
	mutex_unlock(&sn->busy_mutex);
}

/**
 * sanx_net_add_sock() - a socket of AF_SANX came into being
 * @ss: its AF_SANX part
 *
 * Context: process, may sleep.
 */
void sanx_net_add_sock(struct sanx_sock *ss)
{
	struct sanx_net *sn = sanx_net(sock_net(ss->sk));
	bool first;

	spin_lock(&sn->socks_lock);
	list_add_tail(&ss->node, &sn->socks);
	first = !sn->n_socks++;
	spin_unlock(&sn->socks_lock);
	if (first)
		net_update_busy(sn);
}

static void net_busy_work(struct work_struct *work)
{
	net_update_busy(container_of(work, struct sanx_net, busy_work));
}

/**
 * sanx_net_del_sock() - a socket is released, or TCP from now on
 * @ss: its AF_SANX part
 * @defer: the caller holds lock_sock(), within which transports cannot be told
 *
 * Context: process; may sleep unless @defer.
 */
void sanx_net_del_sock(struct sanx_sock *ss, bool defer)
{
	struct sanx_net *sn = sanx_net(sock_net(ss->sk));
	bool last;

	spin_lock(&sn->socks_lock);
	list_del_init(&ss->node);
	last = !--sn->n_socks;
	spin_unlock(&sn->socks_lock);
	if (last && defer)
		schedule_work(&sn->busy_work);
	else if (last)
		net_update_busy(sn);
}

/**
 * sanx_netns_announce() - tell a new transport of namespaces in use
 * @ops: the transport; may be told twice of one that becomes so meanwhile
 */
void sanx_netns_announce(const struct sanx_transport_ops *ops)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net) {
		struct sanx_net *sn = sanx_net(net);

		mutex_lock(&sn->busy_mutex);
		if (sn->busy)
			ops->net_busy(net);
		mutex_unlock(&sn->busy_mutex);
	}
	up_read(&net_rwsem);
}

static int __net_init sanx_net_init(struct net *net)
{
	struct sanx_net *sn = sanx_net(net);
	int err;

	sn->net = net;
	/* A dump takes 0 for: not looked yet. */
	sn->config_seq = 1;
	mutex_init(&sn->config_mutex);
	mutex_init(&sn->busy_mutex);
	INIT_WORK(&sn->busy_work, net_busy_work);
	spin_lock_init(&sn->socks_lock);
	INIT_LIST_HEAD(&sn->socks);
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

	WARN_ON_ONCE(!list_empty(&sn->socks));
	/* A timer of a connection that is gone may just look at @sn. */
	flush_workqueue(sanx_wq);
	cancel_work_sync(&sn->busy_work);
	sanx_transport_each(call_net_exit, net);
	sanx_nodemap_publish(sn, NULL);
	sanx_ports_publish(sn, NULL);
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
	return register_pernet_subsys(&sanx_net_ops);
}

void sanx_netns_exit(void)
{
	unregister_pernet_subsys(&sanx_net_ops);
}
