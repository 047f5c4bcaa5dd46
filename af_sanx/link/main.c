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
 * Work on vlink_wq (link_end()) waits for connections to be released.
 * Connections are released on vconn_wq, so there are two workqueues.
 *
 * Memory reclaim may wait for bytes that a connection sends, and the connection
 * may wait for work on either queue, above all for another link.  So both
 * queues have a rescuer, and work that a sender may wait for allocates memory
 * without I/O (sanx_memalloc_save()).
 */
struct workqueue_struct *vlink_wq;
struct workqueue_struct *vconn_wq;

/*
 * The wire, or NULL.  Constant from sanx_wire_register() to
 * sanx_wire_unregister(), and with it all that uses it: namespaces of the
 * engine, links and connections.
 */
const struct sanx_wire_ops *vwire;

static unsigned int vnet_id;

/*
 * Number of checks for remaining connections of an idle namespace, and ms from
 * one to the next.
 */
#define IDLE_TRIES	10000
#define IDLE_MS		100

/**
 * vnet_of() - get the engine's part of a namespace
 * @net: the namespace
 * Return: the &struct vnet, valid as long as @net.
 */
struct vnet *vnet_of(const struct net *net)
{
	return net_generic(net, vnet_id);
}

static bool net_wanted(const struct vnet *vnet)
{
	lockdep_assert_held(&vnet->ctl);
	return !vnet->exiting &&
	       (vnet->busy || net_eq(vnet->net, &init_net)) &&
	       !sanx_nodemap_empty(vnet->net) && sanx_node_self(vnet->net);
}

static void net_set_running(struct vnet *vnet, bool running)
{
	mutex_lock(&vnet->lock);
	vnet->running = running;
	mutex_unlock(&vnet->lock);
}

static void net_stop(struct vnet *vnet)
{
	lockdep_assert_held(&vnet->ctl);
	net_set_running(vnet, false);
	if (vnet->listener)
		vwire->unlisten(vnet->listener);
	vnet->listener = NULL;
	vgroup_stop(vnet);
}

/* Starts or stops the namespace, as its current state requires. */
static void net_update(struct vnet *vnet)
{
	lockdep_assert_held(&vnet->ctl);
	if (!net_wanted(vnet)) {
		net_stop(vnet);
		return;
	}
	net_set_running(vnet, true);
	/*
	 * Without a listener active links still work; the next change retries.
	 */
	vwire->listen(vnet->net, vnet, &vnet->listener);
	vgroup_revalidate(vnet);
}

static void net_idle_work(struct work_struct *work)
{
	struct vnet *vnet = container_of(to_delayed_work(work), struct vnet,
					 idle);

	mutex_lock(&vnet->ctl);
	if (vnet->busy) {
		/* in use again */
	} else if (vgroup_has_conns(vnet) && vnet->idle_tries++ < IDLE_TRIES) {
		queue_delayed_work(system_long_wq, &vnet->idle,
				   msecs_to_jiffies(IDLE_MS));
	} else {
		net_update(vnet);
	}
	mutex_unlock(&vnet->ctl);
}

static void net_exit(struct vnet *vnet)
{
	mutex_lock(&vnet->ctl);
	vnet->exiting = true;
	net_stop(vnet);
	mutex_unlock(&vnet->ctl);
	cancel_delayed_work_sync(&vnet->idle);
	/* The work that decremented n_links to 0 may not have returned yet. */
	flush_workqueue(vlink_wq);
}

/*
 * The last socket of a namespace was closed.  Bytes that it sent may still be
 * in flight, so links stay until their connections have ended.
 */
static void link_net_idle(struct net *net, bool exit)
{
	struct vnet *vnet = vnet_of(net);

	if (exit) {
		net_exit(vnet);
		return;
	}
	mutex_lock(&vnet->ctl);
	vnet->busy = false;
	vnet->idle_tries = 0;
	if (!net_eq(net, &init_net))
		mod_delayed_work(system_long_wq, &vnet->idle, 0);
	mutex_unlock(&vnet->ctl);
}

static void link_net_busy(struct net *net)
{
	struct vnet *vnet = vnet_of(net);

	mutex_lock(&vnet->ctl);
	vnet->busy = true;
	net_update(vnet);
	mutex_unlock(&vnet->ctl);
}

static void link_map_changed(struct net *net)
{
	struct vnet *vnet = vnet_of(net);

	mutex_lock(&vnet->ctl);
	net_update(vnet);
	mutex_unlock(&vnet->ctl);
}

static int link_dump_links(struct net *net, struct sk_buff *skb,
			   struct netlink_callback *cb, int skip)
{
	return vgroup_dump(vnet_of(net), skb, cb, skip);
}

static int link_net_init(struct net *net)
{
	struct vnet *vnet = vnet_of(net);

	vnet->net = net;
	do
		vnet->instance = get_random_u64();
	while (!vnet->instance);
	mutex_init(&vnet->ctl);
	mutex_init(&vnet->lock);
	INIT_LIST_HEAD(&vnet->groups);
	INIT_DELAYED_WORK(&vnet->idle, net_idle_work);
	init_waitqueue_head(&vnet->gone);
	return 0;
}

/*
 * Runs before the core's exit function, whose net_idle() call then finds
 * nothing to do.
 */
static void link_net_exit(struct net *net)
{
	net_exit(vnet_of(net));
}

static struct pernet_operations link_net_ops = {
	.init	= link_net_init,
	.exit	= link_net_exit,
	.id	= &vnet_id,
	.size	= sizeof(struct vnet),
};

static void no_work(struct kthread_work *work)
{
}

/* On return, work that was queued to the accept thread before has returned. */
static void flush_accept(void)
{
	struct kthread_work work;

	kthread_init_work(&work, no_work);
	sanx_accept_queue(&work);
	kthread_flush_work(&work);
}

static int link_connect(struct sanx_conn *conn)
{
	return vgroup_connect(vconn_of(conn));
}

/* The transport; its name and owner are those of the wire. */
struct sanx_transport_ops vlink_transport = {
	.priv_size	= sizeof(struct vconn),
	.connect	= link_connect,
	.send		= vconn_send,
	.room		= vconn_room,
	.push		= vconn_push,
	.wait_pages	= vlong_wait,
	.uncork		= vconn_uncork,
	.unsent		= vconn_unsent,
	.drained	= vconn_drained,
	.consumed	= vconn_consumed,
	.left		= vgrow_left,
	.reclaim	= vreturn_reclaim,
	.fin		= vconn_fin,
	.close		= vconn_close,
	.abort		= vconn_cut,
	.liveness	= vconn_liveness,
	.probe		= vconn_probe,
	.destroy	= vconn_destroy,
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

	vlink_wq = alloc_workqueue("sanx_link", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	vconn_wq = alloc_workqueue("sanx_conn", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!vlink_wq || !vconn_wq)
		goto err_wq;
	err = register_pernet_subsys(&link_net_ops);
	if (err)
		goto err_wq;
	err = sanx_transport_register(&vlink_transport);
	if (err)
		goto err_net;
	link_map_changed(&init_net);
	return 0;

err_net:
	unregister_pernet_subsys(&link_net_ops);
err_wq:
	if (vconn_wq)
		destroy_workqueue(vconn_wq);
	if (vlink_wq)
		destroy_workqueue(vlink_wq);
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
	if (!vwire) {
		vwire = ops;
		vlink_transport.name = ops->name;
		vlink_transport.owner = ops->owner;
		err = wire_start();
		if (err)
			vwire = NULL;
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
 * they end here.  The work that freed the last connection or request may not
 * have returned yet.
 *
 * Context: process, may sleep; from the exit function of the wire's module.
 */
void sanx_wire_unregister(const struct sanx_wire_ops *ops)
{
	mutex_lock(&wire_mutex);
	if (!WARN_ON_ONCE(vwire != ops)) {
		sanx_transport_unregister(&vlink_transport);
		unregister_pernet_subsys(&link_net_ops);
		flush_accept();
		destroy_workqueue(vconn_wq);
		destroy_workqueue(vlink_wq);
		rcu_barrier();
		vwire = NULL;
	}
	mutex_unlock(&wire_mutex);
}
EXPORT_SYMBOL_GPL(sanx_wire_unregister);
