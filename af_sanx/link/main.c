// SPDX-License-Identifier: GPL-2.0
/*
 * The engine: wires come and go, and network namespaces.
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
#include "internal.h"

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

/*
 * The wires by kind, or NULL; wire_mutex guards changes.  Who reads one under
 * lnet.ctl or lnet.lock, and lists under that lock what uses it, need not pin it:
 * wire_gone() takes both locks later, and ends what is listed.
 */
static const struct sanx_wire_ops *wires[__SANX_WIRES];

/* Guards all_lnets. */
static DEFINE_MUTEX(lnets_mutex);
static LIST_HEAD(all_lnets);

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

/**
 * sanx_link_wire() - find a wire
 * @lnet: the namespace that uses it
 * @kind: kind of the wire
 *
 * Context: process, lnet.ctl or lnet.lock held.
 * Return: the wire, valid while the lock is held and for a listener or link that
 * was listed under it; or NULL.
 */
const struct sanx_wire_ops *sanx_link_wire(const struct sanx_lnet *lnet,
					   enum sanx_wire_kind kind)
{
	lockdep_assert(lockdep_is_held(&lnet->ctl) ||
		       lockdep_is_held(&lnet->lock));
	return READ_ONCE(wires[kind]);
}

/**
 * sanx_link_has_wire() - is there a wire of a kind?
 * @kind: the kind
 *
 * Context: any.
 * Return: true if so; a moment later it may be wrong.
 */
bool sanx_link_has_wire(enum sanx_wire_kind kind)
{
	return READ_ONCE(wires[kind]);
}

/**
 * sanx_seek_wire() - find a wire to ask over
 * @kind: the kind
 *
 * Context: process, work of seek.c.
 * Return: the wire, valid until the work returns; or NULL.
 */
const struct sanx_wire_ops *sanx_seek_wire(enum sanx_wire_kind kind)
{
	return READ_ONCE(wires[kind]);
}

/**
 * sanx_link_kind_name() - name of a kind of wires, as users see it
 * @kind: the kind
 * Return: a constant string.
 */
const char *sanx_link_kind_name(enum sanx_wire_kind kind)
{
	static const char *const names[] = {
		[SANX_WIRE_RDMA]	= "verbs",
		[SANX_WIRE_TCP]		= "tcp-rail",
	};

	return names[kind];
}

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
	WARN_ON_ONCE(atomic_read(&lnet->orphans));
}

/**
 * sanx_lnet_idle() - the last AF_SANX socket of a namespace is gone
 * @net: the namespace
 *
 * What pins it is released.  Bytes that were sent may still be in flight, so links
 * stay until their connections have ended.
 *
 * Context: process, may sleep; takes lnet.ctl.
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

/**
 * sanx_lnet_busy() - the first AF_SANX socket of a namespace is made
 * @net: the namespace
 *
 * In the initial one links have stayed, and so has what is known of nodes that
 * cannot be reached.
 *
 * Context: process, may sleep; takes lnet.ctl.
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

static void link_init(struct sanx_conn *conn)
{
	sanx_lconn_init(sanx_lconn_of(conn));
}

static int link_connect(struct sanx_conn *conn)
{
	return sanx_lane_connect(sanx_lconn_of(conn));
}

/*
 * The link of a connection may be dead, and its wire gone, so the kind of the wire
 * is looked at, and not the wire.
 */
static void link_via(const struct sanx_conn *conn, struct sanx_via *via)
{
	static const enum sanx_stat stat[] = {
		[SANX_WIRE_RDMA]	= SANX_STAT_CONNS_VERBS,
		[SANX_WIRE_TCP]		= SANX_STAT_CONNS_TCP_RAIL,
	};
	enum sanx_wire_kind kind = SANX_WIRE_RDMA;
	const struct sanx_link *link;

	via->node = 0;
	rcu_read_lock();
	link = READ_ONCE(container_of(conn, struct sanx_lconn, conn)->link);
	if (link) {
		kind = link->kind;
		via->node = link->peer->id;
	}
	rcu_read_unlock();
	via->name = sanx_link_kind_name(kind);
	via->stat = stat[kind];
}

static bool link_away(const struct sanx_conn *conn)
{
	const struct sanx_lconn *lc = container_of(conn, struct sanx_lconn, conn);

	return READ_ONCE(lc->state.phase) == SANX_LCONN_SUSPENDED;
}

const struct sanx_transport_ops sanx_link_ops = {
	.conn_size	= sizeof(struct sanx_lconn),
	.via		= link_via,
	.away		= link_away,
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
};

static int link_alloc_wqs(void)
{
	sanx_link_wq = alloc_workqueue("sanx_link", WQ_UNBOUND | WQ_MEM_RECLAIM,
				       0);
	sanx_lconn_wq = alloc_workqueue("sanx_conn",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	sanx_accept_wq = alloc_workqueue("sanx_accept",
					 WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return sanx_link_wq && sanx_lconn_wq && sanx_accept_wq ? 0 : -ENOMEM;
}

static void link_free_wqs(void)
{
	if (sanx_accept_wq)
		destroy_workqueue(sanx_accept_wq);
	if (sanx_lconn_wq)
		destroy_workqueue(sanx_lconn_wq);
	if (sanx_link_wq)
		destroy_workqueue(sanx_link_wq);
}

/**
 * sanx_link_init() - start the engine, without wires
 *
 * Context: process, may sleep; when connections and namespaces are set up.
 * Return: 0 or -ENOMEM.
 */
int __init sanx_link_init(void)
{
	int err;

	err = link_alloc_wqs();
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
	link_free_wqs();
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
	link_free_wqs();
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

/* Ends what uses a wire that is not in wires[] any more. */
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
	if (!wires[ops->kind]) {
		WRITE_ONCE(wires[ops->kind], ops);
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
	if (!WARN_ON_ONCE(wires[ops->kind] != ops)) {
		WRITE_ONCE(wires[ops->kind], NULL);
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
