// SPDX-License-Identifier: GPL-2.0
/* The list of a namespace's sockets.  A socket that became TCP is not in it. */
#include <linux/spinlock.h>
#include <net/netns/generic.h>

#include "socket_priv.h"
#include "link/peer/engine.h"

/**
 * struct socks - the sockets of a namespace
 * @lock: guards @list and sanx_sock.node of the sockets in it
 * @list: &struct sanx_sock, by @node
 */
struct socks {
	spinlock_t		lock; /* guards: see above */
	struct list_head	list;
};

static unsigned int socks_id;

static struct socks *socks_of(const struct net *net)
{
	return net_generic(net, socks_id);
}

/**
 * sanx_socks_add() - add a new socket to the list
 * @ss: its AF_SANX part
 *
 * Context: process, may sleep.
 */
void sanx_socks_add(struct sanx_sock *ss)
{
	struct net *net = sock_net(ss->sk);
	struct socks *socks = socks_of(net);

	spin_lock(&socks->lock);
	list_add_tail(&ss->node, &socks->list);
	spin_unlock(&socks->lock);
	sanx_netuse_get(net);
}

/**
 * sanx_socks_del() - remove a socket that is released, or becomes TCP
 * @ss: its AF_SANX part
 * @defer: the caller holds lock_sock(), see sanx_netuse_put()
 *
 * Context: process; may sleep unless @defer is set.
 */
void sanx_socks_del(struct sanx_sock *ss, bool defer)
{
	struct net *net = sock_net(ss->sk);
	struct socks *socks = socks_of(net);

	spin_lock(&socks->lock);
	list_del_init(&ss->node);
	spin_unlock(&socks->lock);
	sanx_netuse_put(net, defer);
}

/**
 * sanx_socks_each() - call a function for each socket of a namespace
 * @net: the namespace
 * @fn: the function; returns false to stop.  It runs under socks.lock and must
 *	not sleep.  The socket is valid until it returns.
 * @arg: second argument of @fn
 *
 * Context: process.
 * Return: false if @fn did.
 */
bool sanx_socks_each(const struct net *net,
		     bool (*fn)(const struct sanx_sock *ss, void *arg),
		     void *arg)
{
	struct socks *socks = socks_of(net);
	const struct sanx_sock *ss;
	bool go_on = true;

	spin_lock(&socks->lock);
	list_for_each_entry(ss, &socks->list, node) {
		go_on = fn(ss, arg);
		if (!go_on)
			break;
	}
	spin_unlock(&socks->lock);
	return go_on;
}

static int __net_init socks_net_init(struct net *net)
{
	struct socks *socks = socks_of(net);

	spin_lock_init(&socks->lock);
	INIT_LIST_HEAD(&socks->list);
	return 0;
}

static void __net_exit socks_net_exit(struct net *net)
{
	WARN_ON_ONCE(!list_empty(&socks_of(net)->list));
}

static struct pernet_operations socks_net_ops = {
	.init	= socks_net_init,
	.exit	= socks_net_exit,
	.id	= &socks_id,
	.size	= sizeof(struct socks),
};

int __init sanx_socks_init(void)
{
	return register_pernet_subsys(&socks_net_ops);
}

void sanx_socks_exit(void)
{
	unregister_pernet_subsys(&socks_net_ops);
}
