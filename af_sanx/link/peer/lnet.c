// SPDX-License-Identifier: GPL-2.0
/*
 * Namespaces of the engine, and the wires that they use, which come and go.
 *
 * A wire may pin a namespace (over verbs, an rdma_cm_id does).  So a namespace other
 * than the initial one has listeners and links only while it has AF_SANX
 * sockets.  Otherwise it could never be freed.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/netns/generic.h>

#include "config/cov.h"
#include "peer.h"

/* Guards all_lnets. */
static DEFINE_MUTEX(lnets_mutex);
static LIST_HEAD(all_lnets);

/*
 * Number of checks for remaining connections of an idle namespace, and ms from
 * one to the next.
 */
#define IDLE_TRIES	10000
#define IDLE_MS		100

/*
 * Our own node.  A namespace that has links stays the node that it was while no address
 * of it is local: the connections of these links wait for one.
 */
static u32 net_self(const struct sanx_lnet *lnet)
{
	lockdep_assert_held(&lnet->ctl);
	return lnet->running ? sanx_node_last_self(lnet->net) :
			       sanx_node_self(lnet->net);
}

static bool net_wanted(const struct sanx_lnet *lnet)
{
	lockdep_assert_held(&lnet->ctl);
	return !lnet->exiting &&
	       (lnet->busy || net_eq(lnet->net, &init_net)) &&
	       (sanx_auto_on(lnet->net) ||
		(!sanx_nodemap_empty(lnet->net) && net_self(lnet)));
}

static void net_set_running(struct sanx_lnet *lnet, bool running)
{
	mutex_lock(&lnet->lock);
	lnet->running = running;
	mutex_unlock(&lnet->lock);
}

static void net_unlisten(struct sanx_lnet *lnet, const struct sanx_wire_ops *wire)
{
	lockdep_assert_held(&lnet->ctl);
	if (lnet->listener[wire->kind])
		wire->unlisten(lnet->listener[wire->kind]);
	lnet->listener[wire->kind] = NULL;
}

/*
 * Does the node map give this node a rail of a kind?  Before it is found, a node is
 * asked over any.
 */
static bool net_has_rail(const struct sanx_lnet *lnet, enum sanx_wire_kind kind)
{
	struct sanx_node_info self;
	unsigned int i;

	if (sanx_auto_on(lnet->net))
		return true;
	if (!sanx_node_by_id(lnet->net, net_self(lnet), &self))
		return false;
	for (i = 0; i < self.n_rails; i++)
		if (self.kind[i] == kind)
			return true;
	return false;
}

static void net_listen(struct sanx_lnet *lnet, enum sanx_wire_kind kind)
{
	const struct sanx_wire_ops *wire = sanx_link_wire(lnet, kind);

	lockdep_assert_held(&lnet->ctl);
	if (!wire)
		return;
	/*
	 * Without a listener active links still work; the next change retries.
	 */
	if (net_has_rail(lnet, kind))
		wire->listen(lnet->net, lnet, &lnet->listener[kind]);
	else
		net_unlisten(lnet, wire);
}

static void net_stop(struct sanx_lnet *lnet)
{
	const struct sanx_wire_ops *wire;
	int kind;

	lockdep_assert_held(&lnet->ctl);
	net_set_running(lnet, false);
	for (kind = 0; kind < __SANX_WIRES; kind++) {
		wire = sanx_link_wire(lnet, kind);
		if (wire)
			net_unlisten(lnet, wire);
	}
	sanx_peers_stop(lnet);
}

/*
 * Starts or stops the namespace, as its current state requires; @reachable as
 * sanx_peers_revalidate().
 */
static void net_update(struct sanx_lnet *lnet, bool reachable)
{
	int kind;

	lockdep_assert_held(&lnet->ctl);
	if (!net_wanted(lnet)) {
		net_stop(lnet);
		return;
	}
	if (sanx_auto_on(lnet->net))
		sanx_seek_net_start(lnet);
	net_set_running(lnet, true);
	for (kind = 0; kind < __SANX_WIRES; kind++)
		net_listen(lnet, kind);
	sanx_peers_revalidate(lnet, reachable);
}

/**
 * sanx_lnet_refresh() - use what this node has got, and do without what it has lost
 * @lnet: the namespace; nothing happens if it is not to be used
 * @reachable: who could not be reached may be now
 *
 * Context: process, may sleep; takes lnet.ctl.
 */
void sanx_lnet_refresh(struct sanx_lnet *lnet, bool reachable)
{
	mutex_lock(&lnet->ctl);
	/* One that is not wanted may still have bytes in flight. */
	if (net_wanted(lnet))
		net_update(lnet, reachable);
	mutex_unlock(&lnet->ctl);
}

static void net_idle_work(struct work_struct *work)
{
	struct sanx_lnet *lnet = container_of(to_delayed_work(work),
					      struct sanx_lnet, idle);
	bool cov = sanx_cov_start(lnet->net);

	mutex_lock(&lnet->ctl);
	if (lnet->busy) {
		/* in use again */
	} else if (sanx_peers_have_conns(lnet) &&
		   lnet->idle_tries++ < IDLE_TRIES) {
		queue_delayed_work(system_long_wq, &lnet->idle,
				   msecs_to_jiffies(IDLE_MS));
	} else {
		net_stop(lnet);
	}
	mutex_unlock(&lnet->ctl);
	sanx_cov_stop(cov);
}

static void net_exit(struct sanx_lnet *lnet)
{
	mutex_lock(&lnet->ctl);
	lnet->exiting = true;
	net_stop(lnet);
	mutex_unlock(&lnet->ctl);
	cancel_delayed_work_sync(&lnet->idle);
	/* The work that decremented n_links to 0 may not have returned yet. */
	flush_workqueue(sanx_link_wq);
	WARN_ON_ONCE(atomic_read(&sanx_net(lnet->net)->n_orphans));
}

/*
 * The last AF_SANX socket of a namespace is gone.  Takes lnet.ctl.
 *
 * What pins it is released.  Bytes that were sent may still be in flight, so links
 * stay until their connections have ended.
 */
void sanx_lnet_idle(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	mutex_lock(&lnet->ctl);
	lnet->busy = false;
	lnet->idle_tries = 0;
	if (!net_eq(net, &init_net))
		mod_delayed_work(system_long_wq, &lnet->idle, 0);
	mutex_unlock(&lnet->ctl);
}

/*
 * The first AF_SANX socket of a namespace is made.  Takes lnet.ctl.
 *
 * In the initial one links have stayed, and so has what is known of nodes that
 * cannot be reached.
 */
void sanx_lnet_busy(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	mutex_lock(&lnet->ctl);
	lnet->busy = true;
	net_update(lnet, false);
	mutex_unlock(&lnet->ctl);
}

/**
 * sanx_link_map_changed() - the node map or the keys of a namespace have changed
 * @net: the namespace
 *
 * Context: process, may sleep, config_mutex held; takes lnet.ctl.
 */
void sanx_link_map_changed(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	mutex_lock(&lnet->ctl);
	net_update(lnet, true);
	mutex_unlock(&lnet->ctl);
}

/**
 * sanx_link_rails_changed() - the administrator says something else about rails
 * @net: the namespace
 *
 * Context: process, may sleep, config_mutex held; takes lnet.ctl.
 */
void sanx_link_rails_changed(struct net *net)
{
	sanx_lnet_refresh(sanx_lnet_of(net), true);
}

static int link_net_init(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	lnet->net = net;
	lnet->ops = &sanx_link_ops;
	lnet->user = sanx_user_find(net);
	if (IS_ERR(lnet->user))
		return PTR_ERR(lnet->user);
	get_random_bytes(&lnet->instance_key, sizeof(lnet->instance_key));
	mutex_init(&lnet->ctl);
	mutex_init(&lnet->lock);
	xa_init(&lnet->peers);
	INIT_DELAYED_WORK(&lnet->idle, net_idle_work);
	init_waitqueue_head(&lnet->gone);
	INIT_DELAYED_WORK(&lnet->ports, sanx_netdev_work);
	sanx_seek_net_init(lnet);
	mutex_lock(&lnets_mutex);
	list_add(&lnet->all, &all_lnets);
	mutex_unlock(&lnets_mutex);
	return 0;
}

/* Runs before those of lower layers.  The namespace has no socket any more. */
static void link_net_exit(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	sanx_netuse_stop(net);
	net_exit(lnet);
	/* The namespace has no network devices any more, or nobody watches them. */
	cancel_delayed_work_sync(&lnet->ports);
	sanx_seek_net_exit(lnet);
	mutex_lock(&lnets_mutex);
	list_del(&lnet->all);
	mutex_unlock(&lnets_mutex);
	sanx_user_put(lnet->user);
}

static struct pernet_operations link_net_ops = {
	.init	= link_net_init,
	.exit	= link_net_exit,
	.id	= &sanx_lnet_id,
	.size	= sizeof(struct sanx_lnet),
};

/**
 * sanx_link_init() - start the engine, without wires
 *
 * Context: process, may sleep; when connections and namespaces are set up.
 * Return: 0 or -ENOMEM.
 */
int __init sanx_link_init(void)
{
	int err;

	err = sanx_params_init();
	if (err)
		goto err_wqs;
	err = register_pernet_subsys(&link_net_ops);
	if (err)
		goto err_wqs;
	err = sanx_netdev_init();
	if (err)
		goto err_net;
	return 0;

err_net:
	unregister_pernet_subsys(&link_net_ops);
err_wqs:
	sanx_params_exit();
	return err;
}

/**
 * sanx_link_exit() - stop the engine
 *
 * No wire is registered, and there are no connections.  The work that freed the
 * last one may not have returned yet.
 *
 * Context: process, may sleep.
 */
void sanx_link_exit(void)
{
	sanx_netdev_exit();
	unregister_pernet_subsys(&link_net_ops);
	sanx_params_exit();
	rcu_barrier();
}

/* Guards registration of wires. */
static DEFINE_MUTEX(wire_mutex);

/* Lets a namespace use a wire that is new. */
static void wire_came(struct sanx_lnet *lnet, enum sanx_wire_kind kind)
{
	sanx_rails_forgive(lnet, kind);
	sanx_lnet_refresh(lnet, true);
}

/* Ends what uses a wire that is not in sanx_wires[] any more. */
static void wire_gone(struct sanx_lnet *lnet, const struct sanx_wire_ops *ops)
{
	mutex_lock(&lnet->ctl);
	net_unlisten(lnet, ops);
	sanx_peers_stop_wire(lnet, ops->kind);
	mutex_unlock(&lnet->ctl);
}

/**
 * sanx_wire_register() - let the engine use a wire
 * @ops: the wire; must stay valid until sanx_wire_unregister() returns
 *
 * Context: process, may sleep; from the init function of the wire's module.
 * Return: 0; -EBUSY if there is a wire of that kind already.
 */
int sanx_wire_register(const struct sanx_wire_ops *ops)
{
	struct sanx_lnet *lnet;
	int err = -EBUSY;

	mutex_lock(&wire_mutex);
	if (!sanx_wires[ops->kind]) {
		WRITE_ONCE(sanx_wires[ops->kind], ops);
		mutex_lock(&lnets_mutex);
		list_for_each_entry(lnet, &all_lnets, all)
			wire_came(lnet, ops->kind);
		mutex_unlock(&lnets_mutex);
		err = 0;
	}
	mutex_unlock(&wire_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(sanx_wire_register);

/**
 * sanx_wire_unregister() - stop using a wire
 * @ops: the wire
 *
 * Each connection pins the module of its wire, so there are none, but for what was set
 * up meanwhile.  Links may be up; they end here, as lost.
 *
 * Context: process, may sleep; from the exit function of the wire's module.
 */
void sanx_wire_unregister(const struct sanx_wire_ops *ops)
{
	struct sanx_lnet *lnet;

	mutex_lock(&wire_mutex);
	if (!WARN_ON_ONCE(sanx_wires[ops->kind] != ops)) {
		WRITE_ONCE(sanx_wires[ops->kind], NULL);
		mutex_lock(&lnets_mutex);
		list_for_each_entry(lnet, &all_lnets, all)
			wire_gone(lnet, ops);
		mutex_unlock(&lnets_mutex);
		sanx_seek_flush();
		/* The work that ended the last link may not have returned yet. */
		flush_workqueue(sanx_link_wq);
	}
	mutex_unlock(&wire_mutex);
}
EXPORT_SYMBOL_GPL(sanx_wire_unregister);
