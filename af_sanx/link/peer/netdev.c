// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses and ports of this node that come and go.
 *
 * A node map may be loaded before the addresses in it are there.  A port may lose its
 * carrier, its address or its device.  When the state of one of our rails has changed,
 * listeners are started that were not, and links on rails whose port has gone are taken
 * for lost if there is another rail, before their silence shows it (rail.c).
 *
 * When this node has no address any more, everything stays as it is, as with TCP: the
 * address may come back.
 *
 * Notifiers run under RTNL or in softirq, so they only start a work item.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>

#include "config/cov.h"
#include "peer.h"

/* One change is followed by others. */
#define PORTS_DELAY	(HZ / 20)
/*
 * An IPv6 address can be used only when nobody else has claimed it (RFC 4862, 5.4), of
 * which there is no notification: so many looks follow from the first on, a second from
 * one to the next.
 */
#define PORTS_AGAIN	5

static void netdev_changed(struct net *net)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);

	/* Sooner than one of the looks that follow. */
	if (atomic_read(&lnet->ports_again))
		mod_delayed_work(system_long_wq, &lnet->ports, PORTS_DELAY);
	else
		queue_delayed_work(system_long_wq, &lnet->ports, PORTS_DELAY);
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_UNREGISTER:
		netdev_changed(dev_net(netdev_notifier_info_to_dev(ptr)));
		break;
	}
	return NOTIFY_DONE;
}

static int netdev_inet_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	netdev_changed(dev_net(ifa->ifa_dev->dev));
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };
static struct notifier_block netdev_inet_nb = {
	.notifier_call = netdev_inet_event,
};

#if IS_ENABLED(CONFIG_IPV6)
static int netdev_inet6_event(struct notifier_block *nb, unsigned long event,
			      void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	atomic_set(&sanx_lnet_of(dev_net(ifa->idev->dev))->ports_again, PORTS_AGAIN);
	netdev_changed(dev_net(ifa->idev->dev));
	return NOTIFY_DONE;
}

static struct notifier_block netdev_inet6_nb = {
	.notifier_call = netdev_inet6_event,
};
#endif

/* What there is of our rails: a bit for each that works, and our id above them. */
static u64 netdev_look(struct net *net)
{
	struct sanx_node_info self;
	u64 seen = 0;
	u32 id;
	unsigned int i;

	id = sanx_node_self(net);
	if (!sanx_node_by_id(net, id, &self))
		return 0;
	for (i = 0; i < self.n_rails; i++)
		if (sanx_addr_works(net, &self.rail[i]))
			seen |= BIT(i);
	return (u64)id << 32 | seen;
}

/* Applies changes of addresses and ports.  Takes lnet.ctl. */
void sanx_netdev_work(struct work_struct *work)
{
	struct sanx_lnet *lnet = container_of(to_delayed_work(work),
					      struct sanx_lnet, ports);
	bool cov = sanx_cov_start(lnet->net);
	unsigned int config = READ_ONCE(sanx_net(lnet->net)->config_seq);
	u64 seen = netdev_look(lnet->net);
	bool changed = seen != lnet->ports_seen || config != lnet->ports_config;

	/* A node that is found has more addresses than those of its first entry. */
	if (seen && (changed || sanx_auto_on(lnet->net)))
		sanx_lnet_refresh(lnet, changed);
	lnet->ports_seen = seen;
	lnet->ports_config = config;
	if (atomic_dec_if_positive(&lnet->ports_again) > 0)
		queue_delayed_work(system_long_wq, &lnet->ports, HZ);
	sanx_cov_stop(cov);
}

/* Begins to watch addresses and ports. */
int sanx_netdev_init(void)
{
	int err = register_netdevice_notifier(&netdev_nb);

	if (err)
		return err;
	err = register_inetaddr_notifier(&netdev_inet_nb);
	if (err)
		goto err_netdev;
#if IS_ENABLED(CONFIG_IPV6)
	err = register_inet6addr_notifier(&netdev_inet6_nb);
	if (err)
		goto err_inet;
#endif
	return 0;

#if IS_ENABLED(CONFIG_IPV6)
err_inet:
	unregister_inetaddr_notifier(&netdev_inet_nb);
#endif
err_netdev:
	unregister_netdevice_notifier(&netdev_nb);
	return err;
}

/* Undoes sanx_netdev_init(). */
void sanx_netdev_exit(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	unregister_inet6addr_notifier(&netdev_inet6_nb);
#endif
	unregister_inetaddr_notifier(&netdev_inet_nb);
	unregister_netdevice_notifier(&netdev_nb);
}
