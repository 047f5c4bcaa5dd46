// SPDX-License-Identifier: GPL-2.0
/*
 * The number of AF_SANX sockets in a namespace, for the transports.
 *
 * A socket holds its namespace.  A transport may hold it as well, for example
 * with an rdma_cm id, and then the namespace would never go.  So transports are
 * called when the last socket of a namespace is gone (net_idle()), and release
 * the namespace then.
 *
 * Names here: told is what was announced to transports.
 */
#include <linux/atomic.h>
#include <linux/mutex.h>
#include <net/netns/generic.h>

#include "config/config.h"
#include "internal.h"

/**
 * struct busy - the sockets of a namespace, and what transports know of them
 * @net: the namespace
 * @socks: number of sockets there that are not plain TCP
 * @mutex: guards @told, and orders net_busy() and net_idle() calls of
 *	transports
 * @told: the last call to transports was net_busy()
 * @work: calls transports, for callers that must not
 */
struct busy {
	struct net		*net;
	atomic_t		socks;
	struct mutex		mutex; /* guards: see above */
	bool			told;
	struct work_struct	work;
};

static unsigned int busy_id;

static struct busy *busy_of(const struct net *net)
{
	return net_generic(net, busy_id);
}

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

/*
 * Calls transports if they do not know the current state.  The order of callers
 * does not matter, because @socks is read under the mutex.
 */
static void busy_update(struct busy *b)
{
	bool busy;

	mutex_lock(&b->mutex);
	busy = atomic_read(&b->socks);
	if (busy != b->told) {
		b->told = busy;
		sanx_transport_each(busy ? call_net_busy : call_net_idle,
				    b->net);
	}
	mutex_unlock(&b->mutex);
}

static void busy_work(struct work_struct *work)
{
	busy_update(container_of(work, struct busy, work));
}

/**
 * sanx_busy_get() - count a new socket of a namespace
 * @net: the namespace
 *
 * Context: process, may sleep: takes busy.mutex and transport_mutex.
 */
void sanx_busy_get(struct net *net)
{
	struct busy *b = busy_of(net);

	if (atomic_inc_return(&b->socks) == 1)
		busy_update(b);
}

/**
 * sanx_busy_put() - a socket was released or became TCP
 * @net: the namespace
 * @defer: the caller holds lock_sock(); a work item calls the transports
 *
 * Context: process.  May sleep unless @defer is set: takes busy.mutex and
 * transport_mutex, which are outside lock_sock().
 */
void sanx_busy_put(struct net *net, bool defer)
{
	struct busy *b = busy_of(net);

	if (!atomic_dec_and_test(&b->socks))
		return;
	if (defer)
		schedule_work(&b->work);
	else
		busy_update(b);
}

/**
 * sanx_busy_announce() - call net_busy() of a new transport
 * @ops: the transport, with a net_busy().  It may be called twice for a
 *	namespace that gets its first socket meanwhile.
 *
 * Context: process, may sleep: takes net_rwsem and busy.mutex.
 */
void sanx_busy_announce(const struct sanx_transport_ops *ops)
{
	struct net *net;
	struct busy *b;

	down_read(&net_rwsem);
	for_each_net(net) {
		b = busy_of(net);
		mutex_lock(&b->mutex);
		if (b->told)
			ops->net_busy(net);
		mutex_unlock(&b->mutex);
	}
	up_read(&net_rwsem);
}

static int __net_init busy_net_init(struct net *net)
{
	struct busy *b = busy_of(net);

	b->net = net;
	mutex_init(&b->mutex);
	INIT_WORK(&b->work, busy_work);
	return 0;
}

/* Runs before the exit of netns.c, which frees what sanx_net() returns. */
static void __net_exit busy_net_exit(struct net *net)
{
	/* Delayed work of a closed connection may still use sanx_net(). */
	flush_workqueue(sanx_wq);
	cancel_work_sync(&busy_of(net)->work);
	sanx_transport_each(call_net_exit, net);
}

static struct pernet_operations busy_net_ops = {
	.init	= busy_net_init,
	.exit	= busy_net_exit,
	.id	= &busy_id,
	.size	= sizeof(struct busy),
};

int __init sanx_busy_init(void)
{
	return register_pernet_subsys(&busy_net_ops);
}

void sanx_busy_exit(void)
{
	unregister_pernet_subsys(&busy_net_ops);
}
