// SPDX-License-Identifier: GPL-2.0
/*
 * Does a datagram stay on this node, does it go to one in the node map, and from which
 * address does it come?
 *
 * IP's routes answer, as for UDP, and the node map.  The answer for the last destination of
 * a socket is kept, and is valid until one of them changes.
 */
#include <linux/string.h>
#include <net/dst.h>
#include <net/inet_dscp.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "config/config.h"
#include "dgram_priv.h"
#include "loop/loop.h"

/* An address of a VRF is reached by the VRF's device, and is left to UDP. */
static bool by_lo(const struct net *net, const struct dst_entry *dst)
{
	return dst->dev == net->loopback_dev && dst->dev->flags & IFF_UP;
}

/*
 * Is there an IPsec policy?
 *
 * Which packets one applies to, and whether to those over lo, is left to the IP stack.
 */
bool sanx_dgram_policies(const struct net *net)
{
#ifdef CONFIG_XFRM
	return READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_IN]) ||
	       READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]) ||
	       READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_IN]) ==
			XFRM_USERPOLICY_BLOCK ||
	       READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_OUT]) ==
			XFRM_USERPOLICY_BLOCK;
#else
	return false;
#endif
}

/*
 * The node that a datagram is for, if it can go by a link.  The node has the destination, the node
 * map gives this node the source, and a packet of another node would come back by the same way.
 * @way: the route
 * @r: its source is set
 * Return: the node id, or 0 to leave it to UDP.
 */
static u32 node_of(struct net *net, const struct dst_entry *way,
		   const struct sanx_dgram_dest *dest, const struct sanx_dgram_route *r)
{
	struct sanx_endpoint remote = { .addr = dest->daddr };
	struct sanx_endpoint local = { .addr = r->saddr };
	struct sanx_node_info node;
	u32 self = sanx_node_self(net);
	bool own;

	if (!sanx_node_by_addr(net, &dest->daddr, &node) ||
	    !sanx_node_has_addr(net, self, &r->saddr))
		return 0;
	/* The map may give an address of this node to another one, or the other way round. */
	own = node.id == self;
	if (r->local != own || !sanx_route_answered(net, way, &local, &remote))
		return 0;
	return node.id;
}

static void ask_v4(struct sock *sk, const struct sanx_dgram_dest *dest,
		   struct sanx_dgram_route *r)
{
	struct net *net = sock_net(sk);
	struct flowi4 fl4 = {
		.daddr		= dest->daddr.s6_addr32[3],
		.saddr		= dest->saddr.s6_addr32[3],
		.flowi4_oif	= dest->oif,
		.flowi4_mark	= dest->mark,
		.flowi4_tos	= dest->tos & INET_DSCP_MASK,
		.flowi4_proto	= IPPROTO_UDP,
		.flowi4_uid	= sock_net_uid(net, sk),
	};
	struct rtable *rt = ip_route_output_flow(net, &fl4, sk);

	if (IS_ERR(rt))
		return;
	ipv6_addr_set_v4mapped(fl4.saddr, &r->saddr);
	r->ifindex = rt->rt_iif ?: rt->dst.dev->ifindex;
	r->hops = ip4_dst_hoplimit(&rt->dst);
	r->mtu = dst_mtu(&rt->dst);
	r->local = rt->rt_type == RTN_LOCAL && by_lo(net, &rt->dst);
	r->gateway = rt->rt_uses_gateway;
	if ((rt->rt_type == RTN_UNICAST || r->local) && !dest->oif)
		r->peer = node_of(net, &rt->dst, dest, r);
	ip_rt_put(rt);
}

#if IS_ENABLED(CONFIG_IPV6)
static void ask_v6(struct sock *sk, const struct sanx_dgram_dest *dest,
		   struct sanx_dgram_route *r)
{
	struct net *net = sock_net(sk);
	struct flowi6 fl6 = {
		.daddr		= dest->daddr,
		.saddr		= dest->saddr,
		.flowi6_oif	= dest->oif,
		.flowi6_mark	= dest->mark,
		.flowlabel	= ip6_make_flowinfo(dest->tos, 0),
		.flowi6_proto	= IPPROTO_UDP,
		.flowi6_uid	= sock_net_uid(net, sk),
	};
	struct inet6_dev *idev;
	struct dst_entry *dst;
	u32 flags;

	dst = ipv6_stub->ipv6_dst_lookup_flow(net, sk, &fl6, NULL);
	if (IS_ERR(dst))
		return;
	idev = ip6_dst_idev(dst);
	r->saddr = fl6.saddr;
	r->ifindex = idev ? idev->dev->ifindex : dst->dev->ifindex;
	r->hops = ip6_dst_hoplimit(dst);
	r->mtu = dst_mtu(dst);
	flags = ((struct rt6_info *)dst)->rt6i_flags;
	r->local = flags & RTF_LOCAL && by_lo(net, dst);
	r->gateway = flags & RTF_GATEWAY;
	if ((!(flags & (RTF_LOCAL | RTF_ANYCAST)) || r->local) && !dest->oif)
		r->peer = node_of(net, dst, dest, r);
	dst_release(dst);
}
#else
static void ask_v6(struct sock *sk, const struct sanx_dgram_dest *dest,
		   struct sanx_dgram_route *r)
{
}
#endif

static bool cached(struct sanx_dgram_sock *ds, u32 genid, u32 seq, struct sanx_dgram *d)
{
	unsigned int begin;
	bool found;

	do {
		begin = read_seqbegin(&ds->lock);
		found = ds->genid == genid && ds->seq == seq &&
			!memcmp(&ds->dest, &d->dest, sizeof(d->dest));
		if (found)
			d->route = ds->route;
	} while (read_seqretry(&ds->lock, begin));
	return found;
}

static void cache(struct sanx_dgram_sock *ds, u32 genid, u32 seq,
		  const struct sanx_dgram *d)
{
	write_seqlock(&ds->lock);
	ds->genid = genid;
	ds->seq = seq;
	ds->dest = d->dest;
	ds->route = d->route;
	write_sequnlock(&ds->lock);
}

/* Asks the routes.  Most destinations on other nodes are found out in one lookup. */
static void ask(struct sock *sk, struct sanx_dgram *d)
{
	memset(&d->route, 0, sizeof(d->route));
	if (!sanx_addr_is_local(sock_net(sk), &d->dest.daddr) &&
	    !sanx_node_by_addr(sock_net(sk), &d->dest.daddr, NULL))
		return;
	if (d->v4)
		ask_v4(sk, &d->dest, &d->route);
	else
		ask_v6(sk, &d->dest, &d->route);
}

/*
 * UDP refuses what is longer than a packet if it must not be fragmented, or is cut by
 * UDP_SEGMENT.
 */
static bool fits(const struct sanx_dgram *d, size_t len)
{
	if (d->gso_size && len > d->gso_size)
		len = d->gso_size;
	else if (!d->df)
		return true;
	return sanx_dgram_header_size(d) + len <= d->route.mtu;
}

/* Find out where a datagram goes.  Return: where to. */
enum sanx_dgram_way sanx_dgram_route(struct sanx_dgram_sock *ds, struct sock *sk,
				     struct sanx_dgram *d, size_t len)
{
	struct net *net = sock_net(sk);
	/* Before the routes are asked, so that a change while they are is noticed. */
	u32 genid = sanx_route_genid(net, &d->dest.daddr);
	u32 seq = READ_ONCE(sanx_net(net)->config_seq);

	if (!cached(ds, genid, seq, d)) {
		ask(sk, d);
		cache(ds, genid, seq, d);
	}
	if (!fits(d, len) || sanx_dgram_policies(net))
		return SANX_DGRAM_UDP;
	if (d->route.local && sanx_loop)
		return SANX_DGRAM_LOOP;
	/* How far a chosen TTL lasts, only routers tell. */
	if (!d->route.peer || (d->route.gateway && d->hops >= 0))
		return SANX_DGRAM_UDP;
	return SANX_DGRAM_LINK;
}
