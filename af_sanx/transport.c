// SPDX-License-Identifier: GPL-2.0
/*
 * The transports that are there: at most one for this node's own addresses
 * and one for other nodes.
 */
#include <linux/export.h>
#include <linux/module.h>

#include "af_sanx.h"

/* Guards transports[]; held over calls into them that may sleep. */
static DEFINE_MUTEX(transport_mutex);
static const struct sanx_transport_ops __rcu *transports[2];

/**
 * sanx_transport_register() - offer a transport
 * @ops: it; must stay until sanx_transport_unregister()
 *
 * Namespaces that have sockets are announced to it by net_busy() in this call.
 *
 * Context: process, may sleep.
 * Return: 0, or -EBUSY if there is one of its kind.
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
		sanx_busy_announce(ops);
	return err;
}
EXPORT_SYMBOL_GPL(sanx_transport_register);

/**
 * sanx_transport_unregister() - withdraw a transport
 * @ops: it
 *
 * On return no call into it is under way nor will come.  Its connections pin
 * its module, so in a module's exit there are none.
 *
 * Context: process, may sleep.
 */
void sanx_transport_unregister(const struct sanx_transport_ops *ops)
{
	mutex_lock(&transport_mutex);
	RCU_INIT_POINTER(transports[ops->same_node], NULL);
	mutex_unlock(&transport_mutex);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(sanx_transport_unregister);

/**
 * sanx_transport_get() - the transport for a connection, pinned
 * @same_node: the peer is this node
 *
 * Context: any.
 * Return: the transport, to be given back with sanx_transport_put(), or NULL.
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
 * sanx_transport_put() - unpin a transport
 * @ops: what sanx_transport_get() returned
 */
void sanx_transport_put(const struct sanx_transport_ops *ops)
{
	module_put(ops->owner);
}

/**
 * sanx_transport_each() - call a function for each transport
 * @fn: the function; may sleep, may not register or unregister
 * @arg: its second argument
 *
 * Context: process, may sleep.
 */
void sanx_transport_each(void (*fn)(const struct sanx_transport_ops *ops,
				    void *arg), void *arg)
{
	const struct sanx_transport_ops *ops;
	int i;

	mutex_lock(&transport_mutex);
	for (i = 0; i < ARRAY_SIZE(transports); i++) {
		ops = rcu_dereference_protected(transports[i],
						lockdep_is_held(&transport_mutex));
		if (ops)
			fn(ops, arg);
	}
	mutex_unlock(&transport_mutex);
}
