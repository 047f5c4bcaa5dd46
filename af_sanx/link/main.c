// SPDX-License-Identifier: GPL-2.0
/*
 * The engine: a wire comes and goes, and network namespaces.
 *
 * A wire may pin a namespace (over verbs, an rdma_cm_id does).  So a namespace other
 * than the initial one has a listener and links only while it has AF_SANX
 * sockets.  Otherwise it could never be freed.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/netns/generic.h>

#include "config/cov.h"
#include "internal.h"

unsigned int link_timeout_ms = 3000;
module_param(link_timeout_ms, uint, 0644);
MODULE_PARM_DESC(link_timeout_ms, "how long a connect waits for a link before it becomes TCP, in ms (default: 3000)");

unsigned int link_hold_ms = 10000;
module_param(link_hold_ms, uint, 0644);
MODULE_PARM_DESC(link_hold_ms, "how long a node without a link is taken to be without, in ms (default: 10000)");

unsigned int heartbeat_ms = 1000;
module_param(heartbeat_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_ms, "a link that is idle so long is probed, after twenty times as long it is lost, in ms (default: 1000)");

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

/*
 * The wire, or NULL.  Constant from sanx_wire_register() to
 * sanx_wire_unregister(), and with it all that uses it: namespaces of the
 * engine, links and connections.
 */
const struct sanx_wire_ops *sanx_link_wire;

static unsigned int sanx_lnet_id;

/*
 * Number of checks for remaining connections of an idle namespace, and ms from
 * one to the next.
 */
#define IDLE_TRIES	10000
#define IDLE_MS		100

/**
 * sanx_lnet_of() - get the engine's part of a namespace
 * @net: the namespace
 * Return: the &struct sanx_lnet, valid as long as @net.
 */
struct sanx_lnet *sanx_lnet_of(const struct net *net)
{
	return net_generic(net, sanx_lnet_id);
}

static bool net_wanted(const struct sanx_lnet *lnet)
{
	lockdep_assert_held(&lnet->ctl);
	return !lnet->exiting &&
	       (lnet->busy || net_eq(lnet->net, &init_net)) &&
	       !sanx_nodemap_empty(lnet->net) && sanx_node_self(lnet->net);
}

static void net_set_running(struct sanx_lnet *lnet, bool running)
{
	mutex_lock(&lnet->lock);
	lnet->running = running;
	mutex_unlock(&lnet->lock);
}

static void net_stop(struct sanx_lnet *lnet)
{
	lockdep_assert_held(&lnet->ctl);
	net_set_running(lnet, false);
	if (lnet->listener)
		sanx_link_wire->unlisten(lnet->listener);
	lnet->listener = NULL;
	sanx_group_stop(lnet);
}

/* Starts or stops the namespace, as its current state requires. */
static void net_update(struct sanx_lnet *lnet)
{
	lockdep_assert_held(&lnet->ctl);
	if (!net_wanted(lnet)) {
		net_stop(lnet);
		return;
	}
	net_set_running(lnet, true);
	/*
	 * Without a listener active links still work; the next change retries.
	 */
	sanx_link_wire->listen(lnet->net, lnet, &lnet->listener);
	sanx_group_revalidate(lnet);
}

static void net_idle_work(struct work_struct *work)
{
	struct sanx_lnet *lnet = container_of(to_delayed_work(work),
					      struct sanx_lnet, idle);
	bool cov = sanx_cov_start(lnet->net);

	mutex_lock(&lnet->ctl);
	if (lnet->busy) {
		/* in use again */
	} else if (sanx_group_has_conns(lnet) &&
		   lnet->idle_tries++ < IDLE_TRIES) {
		queue_delayed_work(system_long_wq, &lnet->idle,
				   msecs_to_jiffies(IDLE_MS));
	} else {
		net_update(lnet);
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
	WARN_ON_ONCE(atomic_read(&lnet->orphans));
}

/*
 * The last socket of a namespace was closed.  Bytes that it sent may still be
 * in flight, so links stay until their connections have ended.
 */
static void link_net_idle(struct net *net, bool exit)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	if (exit) {
		net_exit(lnet);
		return;
	}
	mutex_lock(&lnet->ctl);
	lnet->busy = false;
	lnet->idle_tries = 0;
	if (!net_eq(net, &init_net))
		mod_delayed_work(system_long_wq, &lnet->idle, 0);
	mutex_unlock(&lnet->ctl);
}

static void link_net_busy(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	mutex_lock(&lnet->ctl);
	lnet->busy = true;
	net_update(lnet);
	mutex_unlock(&lnet->ctl);
}

static void link_map_changed(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	mutex_lock(&lnet->ctl);
	net_update(lnet);
	mutex_unlock(&lnet->ctl);
}

static int link_dump_links(struct net *net, struct sk_buff *skb,
			   struct netlink_callback *cb, int skip)
{
	return sanx_group_dump(sanx_lnet_of(net), skb, cb, skip);
}

static int link_net_init(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	lnet->net = net;
	get_random_bytes(&lnet->instance_key, sizeof(lnet->instance_key));
	mutex_init(&lnet->ctl);
	mutex_init(&lnet->lock);
	INIT_LIST_HEAD(&lnet->groups);
	INIT_DELAYED_WORK(&lnet->idle, net_idle_work);
	init_waitqueue_head(&lnet->gone);
	return 0;
}

/*
 * Runs before the core's exit function, whose net_idle() call then finds
 * nothing to do.
 */
static void link_net_exit(struct net *net)
{
	net_exit(sanx_lnet_of(net));
}

static struct pernet_operations link_net_ops = {
	.init	= link_net_init,
	.exit	= link_net_exit,
	.id	= &sanx_lnet_id,
	.size	= sizeof(struct sanx_lnet),
};

static void link_init(struct sanx_conn *conn)
{
	sanx_lconn_init(sanx_lconn_of(conn));
}

static int link_connect(struct sanx_conn *conn)
{
	return sanx_group_connect(sanx_lconn_of(conn));
}

/* The transport; its name and owner are those of the wire. */
struct sanx_transport_ops sanx_link_transport = {
	.conn_size	= sizeof(struct sanx_lconn),
	.stat		= SANX_STAT_CONNS_VERBS,
	.piece		= PAYLOAD_PIECE,
	.init		= link_init,
	.connect	= link_connect,
	.send		= sanx_lconn_send,
	.announce	= sanx_lconn_announce,
	.room		= sanx_lconn_room,
	.wait_pages	= sanx_long_wait,
	.unsent		= sanx_lconn_unsent,
	.drained	= sanx_lconn_drained,
	.consumed	= sanx_lconn_consumed,
	.left		= sanx_rings_left,
	.reclaim	= sanx_window_reclaim,
	.fin		= sanx_lconn_fin,
	.close		= sanx_lconn_close,
	.abort		= sanx_lconn_cut,
	.liveness	= sanx_lconn_liveness,
	.probe		= sanx_lconn_probe,
	.destroy	= sanx_lconn_destroy,
	.net_idle	= link_net_idle,
	.net_busy	= link_net_busy,
	.map_changed	= link_map_changed,
	.dump_links	= link_dump_links,
};

/* Guards registration of wires. */
static DEFINE_MUTEX(wire_mutex);

static int wire_start(void)
{
	int err = -ENOMEM;

	sanx_link_wq = alloc_workqueue("sanx_link", WQ_UNBOUND | WQ_MEM_RECLAIM,
				       0);
	sanx_lconn_wq = alloc_workqueue("sanx_conn",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	sanx_accept_wq = alloc_workqueue("sanx_accept",
					 WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!sanx_link_wq || !sanx_lconn_wq || !sanx_accept_wq)
		goto err_wq;
	err = register_pernet_subsys(&link_net_ops);
	if (err)
		goto err_wq;
	err = sanx_transport_register(&sanx_link_transport);
	if (err)
		goto err_net;
	link_map_changed(&init_net);
	return 0;

err_net:
	unregister_pernet_subsys(&link_net_ops);
err_wq:
	if (sanx_accept_wq)
		destroy_workqueue(sanx_accept_wq);
	if (sanx_lconn_wq)
		destroy_workqueue(sanx_lconn_wq);
	if (sanx_link_wq)
		destroy_workqueue(sanx_link_wq);
	return err;
}

/**
 * sanx_wire_register() - let the engine use a wire
 * @ops: the wire; must stay valid until sanx_wire_unregister() returns
 *
 * Context: process, may sleep; from the init function of the wire's module.
 * Return: 0; -EBUSY if there is a wire already; -ENOMEM.
 */
int sanx_wire_register(const struct sanx_wire_ops *ops)
{
	int err = -EBUSY;

	mutex_lock(&wire_mutex);
	if (!sanx_link_wire) {
		sanx_link_wire = ops;
		sanx_link_transport.name = ops->name;
		sanx_link_transport.owner = ops->owner;
		err = wire_start();
		if (err)
			sanx_link_wire = NULL;
	}
	mutex_unlock(&wire_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(sanx_wire_register);

/**
 * sanx_wire_unregister() - stop using a wire
 * @ops: the wire
 *
 * Each connection pins the wire's module, so there are none.  Links may be up;
 * they end here.  The work that freed the last connection may not have returned
 * yet.
 *
 * Context: process, may sleep; from the exit function of the wire's module.
 */
void sanx_wire_unregister(const struct sanx_wire_ops *ops)
{
	mutex_lock(&wire_mutex);
	if (!WARN_ON_ONCE(sanx_link_wire != ops)) {
		sanx_transport_unregister(&sanx_link_transport);
		unregister_pernet_subsys(&link_net_ops);
		destroy_workqueue(sanx_accept_wq);
		destroy_workqueue(sanx_lconn_wq);
		destroy_workqueue(sanx_link_wq);
		rcu_barrier();
		sanx_link_wire = NULL;
	}
	mutex_unlock(&wire_mutex);
}
EXPORT_SYMBOL_GPL(sanx_wire_unregister);
