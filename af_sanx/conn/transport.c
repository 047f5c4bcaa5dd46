// SPDX-License-Identifier: GPL-2.0
/*
 * The registered transports: at most one for addresses of this node, and one
 * for other nodes.
 *
 * transport_mutex guards writes of transports[], whose readers use RCU, and
 * put_link.
 */
#include <linux/module.h>
#include <linux/netlink.h>

#include "internal.h"
#include "trace.h"

/*
 * Guards transports[] and put_link.  Held over calls of transports that may
 * sleep.
 */
static DEFINE_MUTEX(transport_mutex);
static const struct sanx_transport_ops __rcu *transports[2];
/* Writes a link during sanx_transport_dump_links(), else NULL. */
static int (*put_link)(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct sanx_link_info *info);
/* Writes a rail during sanx_transport_dump_rails(), else NULL. */
static int (*put_rail)(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct sanx_rail_info *info);

/**
 * sanx_transport_register() - register a transport
 * @ops: the transport; must stay valid until sanx_transport_unregister()
 *	returns
 *
 * Calls its net_busy() for namespaces that have sockets.
 *
 * Context: process, may sleep; takes transport_mutex, and then net_rwsem and
 * netuse.mutex.
 * Return: 0, or -EBUSY if there is a transport for the same nodes.
 */
int sanx_transport_register(const struct sanx_transport_ops *ops)
{
	int err = -EBUSY;

	mutex_lock(&transport_mutex);
	if (!rcu_access_pointer(transports[ops->same_node])) {
		rcu_assign_pointer(transports[ops->same_node], ops);
		err = 0;
	}
	mutex_unlock(&transport_mutex);
	if (!err && ops->net_busy)
		sanx_netuse_announce(ops);
	return err;
}

/**
 * sanx_transport_unregister() - unregister a transport
 * @ops: the transport
 *
 * On return no call through transports[] runs or will run.  Connections, and
 * callers of sanx_transport_get(), pin its module, so there are none when the
 * module exits.
 *
 * Context: process, may sleep; takes transport_mutex.
 */
void sanx_transport_unregister(const struct sanx_transport_ops *ops)
{
	mutex_lock(&transport_mutex);
	RCU_INIT_POINTER(transports[ops->same_node], NULL);
	mutex_unlock(&transport_mutex);
	synchronize_rcu();
}

/**
 * sanx_transport_get() - get the transport for a connection
 * @same_node: the peer is this node
 *
 * Context: any.
 * Return: the transport, with its module pinned, to be put with
 * sanx_transport_put(); or NULL.
 */
const struct sanx_transport_ops *sanx_transport_get(bool same_node)
{
	const struct sanx_transport_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(transports[same_node]);
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	rcu_read_unlock();
	return ops;
}

/**
 * sanx_transport_put() - unpin the module of a transport
 * @ops: as returned by sanx_transport_get()
 *
 * Context: any.
 */
void sanx_transport_put(const struct sanx_transport_ops *ops)
{
	module_put(ops->owner);
}

static void each(void (*fn)(const struct sanx_transport_ops *ops, void *arg),
		 void *arg)
{
	const struct sanx_transport_ops *ops;
	int i;

	for (i = 0; i < ARRAY_SIZE(transports); i++) {
		ops = rcu_dereference_protected(transports[i],
						lockdep_is_held(&transport_mutex));
		if (ops)
			fn(ops, arg);
	}
}

/**
 * sanx_transport_each() - call a function for each transport
 * @fn: the function; may sleep, must not register or unregister transports
 * @arg: its second argument
 *
 * Context: process, may sleep; holds transport_mutex during the calls.
 */
void sanx_transport_each(void (*fn)(const struct sanx_transport_ops *ops,
				    void *arg), void *arg)
{
	mutex_lock(&transport_mutex);
	each(fn, arg);
	mutex_unlock(&transport_mutex);
}

/**
 * struct link_dump - a dump of links
 * @skb: the message buffer
 * @cb: the dump
 */
struct link_dump {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
};

static void dump_links(const struct sanx_transport_ops *ops, void *arg)
{
	struct link_dump *d = arg;

	if (ops->dump_links)
		ops->dump_links(sock_net(d->skb->sk), d->skb, d->cb,
				d->cb->args[0]);
}

/**
 * sanx_transport_dump_links() - have transports report their links
 * @skb: the message buffer of the dump
 * @cb: the dump; cb->args[0] counts the links reported
 * @put: writes one link into @skb and counts it in cb->args[0]; returns 0, or
 *	-EMSGSIZE when @skb is full.  sanx_nl_put_link() calls it under
 *	transport_mutex and locks of the transport, and not after this function
 *	returned.
 *
 * Context: process, may sleep.
 */
void sanx_transport_dump_links(struct sk_buff *skb, struct netlink_callback *cb,
			       int (*put)(struct sk_buff *skb,
					  struct netlink_callback *cb,
					  const struct sanx_link_info *info))
{
	struct link_dump d = { skb, cb };

	mutex_lock(&transport_mutex);
	put_link = put;
	each(dump_links, &d);
	put_link = NULL;
	mutex_unlock(&transport_mutex);
}

/**
 * sanx_nl_put_link() - report a link in a dump
 * @skb: the message buffer of the dump
 * @cb: the dump; cb->args[0] counts the links reported
 * @info: the link
 *
 * Context: sanx_transport_ops.dump_links(), with transport_mutex held.
 * Return: 0, or -EMSGSIZE when the buffer is full.
 */
int sanx_nl_put_link(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct sanx_link_info *info)
{
	lockdep_assert_held(&transport_mutex);
	return put_link(skb, cb, info);
}

static void dump_rails(const struct sanx_transport_ops *ops, void *arg)
{
	struct link_dump *d = arg;

	if (ops->dump_rails)
		ops->dump_rails(sock_net(d->skb->sk), d->skb, d->cb);
}

/**
 * sanx_transport_dump_rails() - have a transport report its rails
 * @skb: the message buffer of the dump
 * @cb: the dump; cb->args[0] is the transport's
 * @put: writes one rail into @skb; returns 0, or -EMSGSIZE when @skb is full.
 *	sanx_nl_put_rail() calls it under transport_mutex and locks of the
 *	transport, and not after this function returned.
 *
 * Context: process, may sleep.
 */
void sanx_transport_dump_rails(struct sk_buff *skb, struct netlink_callback *cb,
			       int (*put)(struct sk_buff *skb,
					  struct netlink_callback *cb,
					  const struct sanx_rail_info *info))
{
	struct link_dump d = { skb, cb };

	mutex_lock(&transport_mutex);
	put_rail = put;
	each(dump_rails, &d);
	put_rail = NULL;
	mutex_unlock(&transport_mutex);
}

/**
 * sanx_nl_put_rail() - report a rail in a dump
 * @skb: the message buffer of the dump
 * @cb: the dump
 * @info: the rail
 *
 * Context: sanx_transport_ops.dump_rails(), with transport_mutex held.
 * Return: 0, or -EMSGSIZE when the buffer is full.
 */
int sanx_nl_put_rail(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct sanx_rail_info *info)
{
	lockdep_assert_held(&transport_mutex);
	return put_rail(skb, cb, info);
}

/**
 * sanx_count_protocol_error() - count a message that no correct peer sends
 * @net: the namespace of the link or connection
 *
 * Context: any.
 */
void sanx_count_protocol_error(struct net *net)
{
	trace_sanx_protocol_error(net);
	sanx_stat_add(net, SANX_STAT_PROTOCOL_ERRORS, 1);
}
