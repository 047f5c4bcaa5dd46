// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams that have come from another node.
 *
 * A peer says where a datagram comes from and goes to, so each one is checked as a request
 * for a connection is: the node map has to give the peer the source, and a packet between
 * the two addresses would have to be received (config/reach.c).
 *
 * Those of explicit sockets are in explicit.c.
 *
 * Sockets of AF_SANX get it directly.  If there is none for it, the IP stack receives it, as
 * if it had come by the device by which packets to its source leave: so sockets of UDP get
 * it behind the packet filters that they rely on, and the sender is told by ICMP if there
 * is none.
 *
 * What this node has sent to itself was for a socket of AF_SANX when it was sent (ops.c).  If
 * that has gone since, it is dropped: from its own address, the IP stack takes no packets.
 */
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "config/config.h"
#include "carrier.h"
#include "record.h"
#include "dgram_priv.h"

static_assert(UDP_MAX_SEGMENTS <= DGRAM_SEGMENTS);

/* Where the headers are.  The packet begins with that of IP. */
static void set_headers(struct sk_buff *skb, const struct sanx_dgram *d)
{
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, sanx_dgram_header_size(d) - sizeof(struct udphdr));
}

/*
 * Reads and checks the headers.  All of them are in the linear part.
 * Return: false if no correct peer sends that.
 */
static bool parse(struct sk_buff *skb, u16 gso_size, struct sanx_dgram *d)
{
	struct dgram_packet k;

	if (!dgram_packet_parse(skb->data, skb->len, gso_size, &k))
		return false;
	if (dgram_explicit(&k) ? !dgram_explicit_valid(&k, skb->len, gso_size) :
				 !(k.v4 || IS_ENABLED(CONFIG_IPV6)))
		return false;
	memset(d, 0, sizeof(*d));
	d->v4 = k.v4;
	d->dest.daddr = k.daddr;
	d->dest.tos = k.tos;
	d->route.saddr = k.saddr;
	d->hops = k.hops;
	d->sport = k.sport;
	d->dport = k.dport;
	d->gso_size = gso_size;
	set_headers(skb, d);
	return true;
}

/*
 * Would a packet between these addresses be received?  Rules of routing that are about UDP or
 * its ports alone are not asked.  What was found last is remembered until a route or the node
 * map changes.
 */
static bool admitted(struct sanx_carrier *c, const struct sanx_dgram *d,
		     struct sanx_arrival *by)
{
	struct sanx_endpoint remote = { .addr = d->route.saddr };
	struct sanx_endpoint local = { .addr = d->dest.daddr };
	u32 genid = sanx_route_genid(c->net, &local.addr);
	u32 seq = READ_ONCE(sanx_net(c->net)->config_seq);
	struct carrier_known *known = &c->known;

	if (known->genid == genid && known->seq == seq &&
	    ipv6_addr_equal(&known->local, &local.addr) &&
	    ipv6_addr_equal(&known->remote, &remote.addr)) {
		*by = known->by;
		return true;
	}
	if (!sanx_addr_travels(&local.addr) ||
	    !sanx_node_has_addr(c->net, c->peer, &remote.addr) ||
	    !sanx_route_reaches(c->net, carrier_loops(c), &local, &remote, by))
		return false;
	*known = (struct carrier_known){
		.local = local.addr, .remote = remote.addr,
		.genid = genid, .seq = seq, .by = *by,
	};
	return true;
}

/* Writes the lengths of one that was cut out of @whole. */
static void set_lengths(struct sk_buff *skb, const struct sanx_dgram *d)
{
	if (d->v4)
		ip_hdr(skb)->tot_len = htons(skb->len);
	else
		ipv6_hdr(skb)->payload_len = htons(skb->len - sizeof(struct ipv6hdr));
	udp_hdr(skb)->len = htons(skb->len - skb_transport_offset(skb));
}

/* Return: a datagram of @len bytes of payload, from @from on; or NULL. */
static struct sk_buff *cut_one(const struct sk_buff *whole, const struct sanx_dgram *d,
			       u32 from, u32 len)
{
	u32 headers = sanx_dgram_header_size(d);
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + headers + len, GFP_KERNEL | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_copy_bits(whole, 0, skb_put(skb, headers), headers);
	skb_copy_bits(whole, headers + from, skb_put(skb, len), len);
	set_headers(skb, d);
	set_lengths(skb, d);
	sanx_dgram_set_cb(skb, d);
	return skb;
}

/* Cuts what UDP_SEGMENT would have cut.  Takes over @whole. */
static void cut(struct net *net, struct sk_buff *whole, const struct sanx_dgram *d,
		struct sk_buff_head *list)
{
	u32 left = whole->len - sanx_dgram_header_size(d), from = 0, n;
	struct sk_buff *skb;

	for (; left; left -= n, from += n) {
		n = min_t(u32, left, d->gso_size);
		skb = cut_one(whole, d, from, n);
		if (skb)
			__skb_queue_tail(list, skb);
		else
			sanx_stat_add(net, SANX_STAT_DROPPED_MEMORY, 1);
	}
	consume_skb(whole);
}

/*
 * The checksums that the IP stack looks at.
 * Context: the network header is first.
 */
static void set_checksums(struct sk_buff *skb, const struct sanx_dgram *d)
{
	if (d->v4)
		ip_send_check(ip_hdr(skb));
	else
		udp6_set_csum(false, skb, &ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr,
			      skb->len - skb_transport_offset(skb));
}

/* Those who look at the device expect a header of its kind. */
static bool set_device(struct sk_buff *skb, struct net_device *dev)
{
	skb->dev = dev;
	if (skb_cow_head(skb, LL_RESERVED_SPACE(dev)) ||
	    dev_hard_header(skb, dev, ntohs(skb->protocol), dev->dev_addr, NULL, skb->len) < 0)
		return false;
	skb_reset_mac_header(skb);
	__skb_pull(skb, skb_network_offset(skb));
	skb_reset_mac_len(skb);
	return true;
}

/*
 * Has the IP stack receive datagrams; all of @list are taken.  At once, and not by
 * netif_rx(): that puts them behind what waits on this CPU, and the work which brings the
 * next ones may run on another CPU by then and overtake them.
 */
static void to_stack(struct net *net, const struct sanx_dgram *d,
		     const struct sanx_arrival *by, struct sk_buff_head *list)
{
	struct net_device *dev;
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list))) {
		set_checksums(skb, d);
		rcu_read_lock();
		dev = dev_get_by_index_rcu(net, by->sdif ?: by->dif);
		/* As netif_rx() and tun do. */
		if (dev && !(dev->flags & IFF_UP))
			dev = NULL;
		if (dev && set_device(skb, dev)) {
			local_bh_disable();
			netif_receive_skb(skb);
			local_bh_enable();
		} else {
			sanx_stat_add(net, dev ? SANX_STAT_DROPPED_MEMORY :
						 SANX_STAT_DROPPED_DENIED, 1);
			kfree_skb(skb);
		}
		rcu_read_unlock();
	}
}

static void drop(struct net *net, struct sk_buff_head *list)
{
	sanx_stat_add(net, SANX_STAT_DROPPED_DENIED, skb_queue_len(list));
	__skb_queue_purge(list);
}

static void receive(struct net *net, const struct sanx_dgram *d,
		    const struct sanx_arrival *by, struct sk_buff *skb)
{
	struct sk_buff_head list;
	bool gro = false, ours;

	__skb_queue_head_init(&list);
	/* The stack knows what of a VRF a socket may have, and what is to come by IPsec. */
	ours = !by->sdif && !sanx_dgram_policies(net) && sanx_dgram_takes(d, net, &gro);
	if (d->gso_size && !(ours && gro)) {
		cut(net, skb, d, &list);
	} else {
		if (d->gso_size)
			sanx_dgram_set_gso(skb, d->gso_size);
		__skb_queue_tail(&list, skb);
	}
	if (ours && sanx_dgram_deliver(d, net, gro, &list))
		return;
	/* The socket has changed meanwhile, and nothing is taken from the list. */
	if (d->gso_size && gro)
		cut(net, __skb_dequeue(&list), d, &list);
	if (d->route.local)
		drop(net, &list);
	else
		to_stack(net, d, by, &list);
}

/* The work of @c: receive a packet, from its IP header on, which is taken over. */
void sanx_dgram_arrive(struct sanx_carrier *c, struct sk_buff *skb, u16 gso_size)
{
	struct sanx_arrival by;
	struct sanx_dgram d;

	if (!parse(skb, gso_size, &d)) {
		sanx_count_protocol_error(c->net);
		kfree_skb(skb);
		return;
	}
	if (sanx_addr_explicit(&d.dest.daddr)) {
		sanx_dgram_set_cb(skb, &d);
		sanx_dgram_arrive_explicit(c, &d, skb);
		return;
	}
	if (!admitted(c, &d, &by)) {
		sanx_stat_add(c->net, SANX_STAT_DROPPED_DENIED, 1);
		kfree_skb(skb);
		return;
	}
	d.route.ifindex = by.dif;
	d.route.local = carrier_loops(c);
	sanx_dgram_set_cb(skb, &d);
	receive(c->net, &d, &by, skb);
}
