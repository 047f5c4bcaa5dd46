// SPDX-License-Identifier: GPL-2.0
/*
 * The number of AF_SANX sockets in a namespace.
 *
 * A socket holds its namespace.  A wire may hold it as well, for example with an
 * rdma_cm id, and then the namespace would never go.  So the engine is told when the
 * last socket of a namespace is gone (sanx_lnet_idle()), and releases the namespace
 * then.
 */
#include <linux/atomic.h>
#include <linux/mutex.h>
#include <net/netns/generic.h>

#include "conn/conn.h"
#include "peer.h"

/**
 * struct netuse - the sockets of a namespace, and what the engine knows of them
 * @net: the namespace
 * @socks: number of sockets there that are not plain TCP
 * @mutex: guards writes of @announced, and orders sanx_lnet_busy() and
 *	sanx_lnet_idle()
 * @announced: the engine knows that there are some; false while it is told
 * @work: tells it, for callers that must not
 */
struct netuse {
	struct net		*net;
	atomic_t		socks;
	struct mutex		mutex; /* guards: see above */
	bool			announced;
	struct work_struct	work;
};

static unsigned int netuse_id;

static struct netuse *netuse_of(const struct net *net)
{
	return net_generic(net, netuse_id);
}

/*
 * Tells the engine what it does not know yet.  The order of callers does not matter,
 * because @socks is read under the mutex.
 *
 * @announced is false before @socks is read.  So a sanx_netuse_get() that still
 * finds it true has counted its socket in time, and the namespace is busy here.
 */
static void netuse_update(struct netuse *use)
{
	bool busy, was;

	mutex_lock(&use->mutex);
	was = use->announced;
	WRITE_ONCE(use->announced, false);
	/* Pairs with smp_mb__after_atomic() in sanx_netuse_get(). */
	smp_mb();
	busy = atomic_read(&use->socks);
	if (busy && !was)
		sanx_lnet_busy(use->net);
	if (was && !busy) {
		sanx_service_idle(use->net);
		sanx_lnet_idle(use->net);
	}
	/* Pairs with smp_load_acquire() in sanx_netuse_get(). */
	smp_store_release(&use->announced, busy);
	mutex_unlock(&use->mutex);
}

static void netuse_work(struct work_struct *work)
{
	netuse_update(container_of(work, struct netuse, work));
}

/**
 * sanx_netuse_get() - count a new socket of a namespace
 * @net: the namespace
 *
 * The engine knows of the namespace when this returns, also for a socket that is
 * made beside the first one.
 *
 * Context: process, may sleep: takes netuse.mutex and lnet.ctl.
 */
void sanx_netuse_get(struct net *net)
{
	struct netuse *use = netuse_of(net);

	atomic_inc(&use->socks);
	/* Pairs with smp_mb() in netuse_update(). */
	smp_mb__after_atomic();
	/* Pairs with smp_store_release() in netuse_update(). */
	if (!smp_load_acquire(&use->announced))
		netuse_update(use);
}

/**
 * sanx_netuse_put() - a socket was released or became TCP
 * @net: the namespace
 * @defer: the caller holds lock_sock(); a work item tells the engine
 *
 * Context: process.  May sleep unless @defer is set: takes netuse.mutex and lnet.ctl,
 * which are outside lock_sock().
 */
void sanx_netuse_put(struct net *net, bool defer)
{
	struct netuse *use = netuse_of(net);

	if (!atomic_dec_and_test(&use->socks))
		return;
	if (defer)
		schedule_work(&use->work);
	else
		netuse_update(use);
}

/*
 * A namespace exits; it has no socket any more.
 *
 * What the last socket has left is done by now: a work item of a socket that became TCP
 * does not hold the module, and is not to find the engine gone.
 */
void sanx_netuse_stop(struct net *net)
{
	cancel_work_sync(&netuse_of(net)->work);
	sanx_service_idle(net);
}

static int __net_init netuse_net_init(struct net *net)
{
	struct netuse *use = netuse_of(net);

	use->net = net;
	mutex_init(&use->mutex);
	INIT_WORK(&use->work, netuse_work);
	return 0;
}

/* Runs before the exit of netns.c, which frees what sanx_net() returns. */
static void __net_exit netuse_net_exit(struct net *net)
{
	/* Delayed work of a closed connection may still use sanx_net(). */
	flush_workqueue(sanx_wq);
}

static struct pernet_operations netuse_net_ops = {
	.init	= netuse_net_init,
	.exit	= netuse_net_exit,
	.id	= &netuse_id,
	.size	= sizeof(struct netuse),
};

int __init sanx_netuse_init(void)
{
	return register_pernet_subsys(&netuse_net_ops);
}

void sanx_netuse_exit(void)
{
	unregister_pernet_subsys(&netuse_net_ops);
}
