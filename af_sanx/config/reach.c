// SPDX-License-Identifier: GPL-2.0
/*
 * May a peer have a connection between these two addresses?
 *
 * A request of a peer names the addresses of the connection.  With TCP, a SYN
 * would carry them, and the routing of this node would decide what becomes of
 * it: routes, rules by device and address, VRFs, and whether there is a way back.
 * An address that no packet of the peer reaches is often the only protection of
 * what listens there.  So each request is routed as if it were such a SYN.
 *
 * It counts as arriving at the device by which the answer leaves, where rp_filter
 * demands that it arrives.  The device of the link says nothing: links often have a
 * network of their own, to which the addresses of programs do not belong.  Packet
 * filters, and what they mark, are not asked (Documentation/trust.rst).  Between
 * addresses for which there is an IPsec policy, connections are TCP.
 */
#include <linux/inetdevice.h>
#include <linux/tcp.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/l3mdev.h>
#include <net/route.h>

#include "config.h"

/* Room for the headers of a SYN. */
#define SYN_SIZE	128

/*
 * The device that the stack sees a packet come from: a VRF stands for its devices.
 * A listener that is not bound to a VRF hears its packets only if
 * net.ipv4.tcp_l3mdev_accept says so.  One that is bound is TCP's
 * (sanx_needs_stack()).
 * Return: the device, or NULL.
 */
static struct net_device *arrival_device(struct net *net,
					 struct net_device *out)
{
	struct net_device *vrf = l3mdev_master_dev_rcu(out);

	/* A device that goes has left the route to another namespace's. */
	if (out->flags & IFF_LOOPBACK || !net_eq(dev_net(out), net))
		return NULL;
	if (!vrf)
		return out;
#ifdef CONFIG_NET_L3_MASTER_DEV
	if (!READ_ONCE(net->ipv4.sysctl_tcp_l3mdev_accept))
		return NULL;
#endif
	return vrf;
}

/* Policy rules may look at ports, so they get a packet with ports. */
static struct sk_buff *syn_alloc(const struct sanx_endpoint *local,
				 const struct sanx_endpoint *remote)
{
	struct sk_buff *skb = alloc_skb(SYN_SIZE, GFP_KERNEL | __GFP_NORETRY |
						  __GFP_NOWARN);
	struct tcphdr *th;
	struct iphdr *iph;

	if (!skb)
		return NULL;
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
	iph = skb_put_zero(skb, sizeof(*iph));
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->protocol = IPPROTO_TCP;
	iph->saddr = remote->addr.s6_addr32[3];
	iph->daddr = local->addr.s6_addr32[3];
	skb_set_transport_header(skb, skb->len);
	th = skb_put_zero(skb, sizeof(*th));
	th->source = remote->port;
	th->dest = local->port;
	th->doff = sizeof(*th) / 4;
	th->syn = 1;
	return skb;
}

static bool arrives_v4(struct net_device *dev, struct sk_buff *skb)
{
	const struct rtable *rt;
	bool arrives = false;

	skb->dev = dev;
	if (!ip_route_input_noref(skb, ip_hdr(skb)->daddr, ip_hdr(skb)->saddr, 0,
				  dev)) {
		rt = skb_rtable(skb);
		arrives = rt && rt->rt_type == RTN_LOCAL;
	}
	return arrives;
}

/* The route of a SYN-ACK, with a reference; or ERR_PTR(). */
static struct dst_entry *answer_v4(struct net *net,
				   const struct sanx_endpoint *local,
				   const struct sanx_endpoint *remote)
{
	struct flowi4 fl4;
	struct rtable *rt;

	rt = ip_route_output_ports(net, &fl4, NULL, remote->addr.s6_addr32[3],
				   local->addr.s6_addr32[3], remote->port,
				   local->port, IPPROTO_TCP, 0, 0);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool arrives_v6(struct net_device *dev, const struct sanx_endpoint *local,
		       const struct sanx_endpoint *remote)
{
	struct flowi6 fl6 = {
		.flowi6_iif	= dev->ifindex,
		.flowi6_proto	= IPPROTO_TCP,
		.saddr		= remote->addr,
		.daddr		= local->addr,
		.fl6_sport	= remote->port,
		.fl6_dport	= local->port,
	};
	struct dst_entry *dst;
	bool arrives;

	dst = ip6_route_input_lookup(dev_net(dev), dev, &fl6, NULL,
				     RT6_LOOKUP_F_HAS_SADDR);
	arrives = !dst->error &&
		  ((struct rt6_info *)dst)->rt6i_flags & RTF_LOCAL;
	dst_release(dst);
	return arrives;
}

static struct dst_entry *answer_v6(struct net *net,
				   const struct sanx_endpoint *local,
				   const struct sanx_endpoint *remote)
{
	struct flowi6 fl6 = {
		.flowi6_proto	= IPPROTO_TCP,
		.flowi6_uid	= sock_net_uid(net, NULL),
		.saddr		= local->addr,
		.daddr		= remote->addr,
		.fl6_sport	= local->port,
		.fl6_dport	= remote->port,
	};

	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl6, NULL);
}
#else
static bool arrives_v6(struct net_device *dev, const struct sanx_endpoint *local,
		       const struct sanx_endpoint *remote)
{
	return false;
}

static struct dst_entry *answer_v6(struct net *net,
				   const struct sanx_endpoint *local,
				   const struct sanx_endpoint *remote)
{
	return ERR_PTR(-EAFNOSUPPORT);
}
#endif

static bool stays(const struct dst_entry *dst, bool v4)
{
	if (v4)
		return container_of(dst, struct rtable, dst)->rt_type == RTN_LOCAL;
	return container_of(dst, struct rt6_info, dst)->rt6i_flags & RTF_LOCAL;
}

/*
 * Does no IPsec policy hold for what takes this route?  While the keys of one are being
 * negotiated, packets are queued, or dropped (make_blackhole() of the address family).
 */
static bool in_clear(const struct dst_entry *dst)
{
	return !dst_xfrm(dst) && !(dst->flags & DST_XFRM_QUEUE) &&
	       dst->output != dst_discard_out;
}

/*
 * Does a SYN from @remote arrive at @local, at the device by which packets to @remote leave?
 * @out: that device
 * @by: set to where it would arrive, if so
 */
static bool arrives(struct net *net, struct net_device *out,
		    const struct sanx_endpoint *local,
		    const struct sanx_endpoint *remote, struct sanx_arrival *by)
{
	struct sk_buff *skb = syn_alloc(local, remote);
	struct net_device *dev;
	bool here;

	/* The route of a packet that arrives is valid under RCU only. */
	rcu_read_lock();
	dev = skb ? arrival_device(net, out) : NULL;
	here = dev && (ipv6_addr_v4mapped(&local->addr) ?
		       arrives_v4(dev, skb) : arrives_v6(dev, local, remote));
	if (here) {
		by->dif = dev->ifindex;
		by->sdif = dev == out ? 0 : out->ifindex;
	}
	/* With its route. */
	consume_skb(skb);
	rcu_read_unlock();
	return here;
}

static struct dst_entry *answer(struct net *net, const struct sanx_endpoint *local,
				const struct sanx_endpoint *remote)
{
	if (ipv6_addr_v4mapped(&local->addr))
		return answer_v4(net, local, remote);
	return answer_v6(net, local, remote);
}

/* Would TCP answer a SYN of another node?  If so, sets @by. */
static bool admits(struct net *net, const struct sanx_endpoint *local,
		   const struct sanx_endpoint *remote, struct sanx_arrival *by)
{
	struct dst_entry *dst = answer(net, local, remote);
	bool yes;

	if (IS_ERR(dst))
		return false;
	yes = in_clear(dst) && arrives(net, dst->dev, local, remote, by);
	dst_release(dst);
	return yes;
}

/**
 * sanx_route_stays() - do packets between these addresses stay on this node, in clear?
 * @net: the namespace
 * @local: where they come from
 * @remote: where they go to, of the same address family
 *
 * Context: process, may sleep.
 * Return: true if so.
 */
bool sanx_route_stays(struct net *net, const struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote)
{
	struct dst_entry *dst = answer(net, local, remote);
	bool here;

	if (IS_ERR(dst))
		return false;
	here = in_clear(dst) && stays(dst, ipv6_addr_v4mapped(&local->addr));
	dst_release(dst);
	return here;
}

/**
 * sanx_route_answered() - would the answer to a SYN of this node come back to it?
 * @net: the namespace
 * @way: the route of the SYN
 * @local: where it comes from; the port may be 0
 * @remote: where it goes to, of the same address family
 *
 * TCP has no connection from an address that is not this node's, as the answer goes
 * elsewhere.  Any user may bind to such an address (IPV6_FREEBIND), and whoever
 * accepts a connection takes the address for proven.
 *
 * Context: process, may sleep.
 * Return: true if so, and both go in clear; false also if there is no memory to find out.
 */
bool sanx_route_answered(struct net *net, const struct dst_entry *way,
			 const struct sanx_endpoint *local,
			 const struct sanx_endpoint *remote)
{
	struct sanx_arrival by;

	if (!in_clear(way))
		return false;
	if (!stays(way, ipv6_addr_v4mapped(&local->addr)))
		return arrives(net, way->dev, local, remote, &by);
	/* To itself, the answer goes as the SYN did. */
	return ipv6_addr_equal(&local->addr, &remote->addr) ||
	       sanx_route_stays(net, remote, local);
}

#if IS_ENABLED(CONFIG_IPV6)
/* As inet6_iif() of a packet that has looped: the device that has the address. */
static int loops_by_v6(struct net *net, const struct sanx_endpoint *local,
		       const struct sanx_endpoint *remote)
{
	struct dst_entry *dst = answer_v6(net, remote, local);
	int index = LOOPBACK_IFINDEX;

	if (IS_ERR(dst))
		return index;
	rcu_read_lock();
	if (ip6_dst_idev(dst))
		index = ip6_dst_idev(dst)->dev->ifindex;
	rcu_read_unlock();
	dst_release(dst);
	return index;
}
#else
static int loops_by_v6(struct net *net, const struct sanx_endpoint *local,
		       const struct sanx_endpoint *remote)
{
	return LOOPBACK_IFINDEX;
}
#endif

/* As inet_iif() of such a packet. */
static int loops_by_v4(struct net *net, const struct sanx_endpoint *local,
		       const struct sanx_endpoint *remote)
{
	struct dst_entry *dst = answer_v4(net, remote, local);
	int index;

	if (IS_ERR(dst))
		return LOOPBACK_IFINDEX;
	index = container_of(dst, struct rtable, dst)->rt_iif ?: LOOPBACK_IFINDEX;
	dst_release(dst);
	return index;
}

/**
 * sanx_route_loops() - where does a SYN arrive that this node sends to itself?
 * @net: the namespace
 * @local: where it goes to, an address of this node
 * @remote: where it comes from, of the same address family
 * @by: set to the device that has the address of @local, as the stack sees it, though the
 *	packet passes the loopback device; to none for explicit sockets
 *
 * Context: process, may sleep.
 */
void sanx_route_loops(struct net *net, const struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote, struct sanx_arrival *by)
{
	*by = (struct sanx_arrival){};
	if (sanx_addr_explicit(&local->addr))
		return;
	by->dif = ipv6_addr_v4mapped(&local->addr) ? loops_by_v4(net, local, remote) :
						     loops_by_v6(net, local, remote);
}

/*
 * Both ends are those of explicit sockets of one type, which a question does not say of the
 * other one, and this one is here.
 */
static bool explicit_reaches(struct net *net, const struct sanx_endpoint *local,
			     const struct sanx_endpoint *remote)
{
	return sanx_addr_explicit(&local->addr) && sanx_addr_explicit(&remote->addr) &&
	       (!remote->port || local->port == remote->port) &&
	       sanx_addr_is_local(net, &local->addr);
}

/**
 * sanx_route_reaches() - would a packet from one address to another be received?
 * @net: the namespace
 * @own: it comes from this node itself, else from another one
 * @local: where it would go to
 * @remote: where it would come from, of the same address family
 * @by: set to where it would arrive, if so
 *
 * Context: process, may sleep.
 * Return: true if so, and the answer goes in clear; false also if there is no memory to
 * find out.  Explicit sockets of two nodes reach each other: no packet has their addresses.
 */
bool sanx_route_reaches(struct net *net, bool own, const struct sanx_endpoint *local,
			const struct sanx_endpoint *remote, struct sanx_arrival *by)
{
	if (sanx_addr_explicit(&local->addr) || sanx_addr_explicit(&remote->addr)) {
		*by = (struct sanx_arrival){};
		return explicit_reaches(net, local, remote);
	}
	if (!own)
		return admits(net, local, remote, by);
	sanx_route_loops(net, local, remote, by);
	return sanx_route_stays(net, remote, local) && sanx_route_stays(net, local, remote);
}

#if IS_ENABLED(CONFIG_IPV6)
static bool source_v6(struct net *net, const struct in6_addr *remote,
		      struct in6_addr *local)
{
	struct flowi6 fl6 = {
		.flowi6_proto	= IPPROTO_TCP,
		.flowi6_uid	= sock_net_uid(net, NULL),
		.daddr		= *remote,
	};
	struct dst_entry *dst;

	dst = ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return false;
	dst_release(dst);
	*local = fl6.saddr;
	return true;
}
#else
static bool source_v6(struct net *net, const struct in6_addr *remote,
		      struct in6_addr *local)
{
	return false;
}
#endif

/**
 * sanx_route_source() - from which address do the routes lead to another one?
 * @net: the namespace
 * @remote: IPv6, or IPv4 as v4-mapped
 * @local: set to the address, of the same family
 *
 * Context: process, may sleep.
 * Return: false if there is no route.
 */
bool sanx_route_source(struct net *net, const struct in6_addr *remote,
		       struct in6_addr *local)
{
	struct flowi4 fl4;
	struct rtable *rt;

	if (!ipv6_addr_v4mapped(remote))
		return source_v6(net, remote, local);
	rt = ip_route_output_ports(net, &fl4, NULL, remote->s6_addr32[3], 0, 0, 0,
				   IPPROTO_TCP, 0, 0);
	if (IS_ERR(rt))
		return false;
	ip_rt_put(rt);
	ipv6_addr_set_v4mapped(fl4.saddr, local);
	return true;
}

static struct net_device *addr_dev(struct net *net, const struct in6_addr *addr)
{
	struct net_device *dev = NULL;

	if (ipv6_addr_v4mapped(addr))
		return __ip_dev_find(net, addr->s6_addr32[3], false);
#if IS_ENABLED(CONFIG_IPV6)
	if (ipv6_mod_enabled())
		dev = ipv6_dev_find(net, addr, NULL);
	/* Nobody may use a tentative one. */
	if (dev && !ipv6_chk_addr(net, addr, dev, 0))
		dev = NULL;
#endif
	return dev;
}

/**
 * sanx_addr_works() - can packets leave from an address now?
 * @net: the namespace
 * @addr: IPv6, or IPv4 as v4-mapped
 *
 * Context: any.
 * Return: true if a network device has the address, is up and has a carrier.
 */
bool sanx_addr_works(struct net *net, const struct in6_addr *addr)
{
	const struct net_device *dev;
	bool works;

	rcu_read_lock();
	dev = addr_dev(net, addr);
	works = dev && netif_running(dev) && netif_carrier_ok(dev);
	rcu_read_unlock();
	return works;
}

/**
 * sanx_route_genid() - tell whether routes have changed
 * @net: the namespace
 * @addr: an address, for its family
 *
 * Context: any.
 * Return: a number that is another one after a change of the routes.
 */
u32 sanx_route_genid(struct net *net, const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return rt_genid_ipv4(net);
#if IS_ENABLED(CONFIG_IPV6)
	return atomic_read(&net->ipv6.fib6_sernum);
#else
	return 0;
#endif
}
