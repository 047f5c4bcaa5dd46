// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver of a datagram on this node: UDP's own lookup finds it, and UDP's own
 * queue takes the datagram.
 */
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "config/config.h"
#include "conn/conn.h"
#include "dgram_priv.h"

/*
 * A packet that this node sends to itself seems to come in by the device that has the
 * address.  SO_REUSEPORT's choice and the filter of a connected socket are in the lookup.
 */
static struct sock *lookup(struct net *net, const struct sanx_dgram *d)
{
	const struct in6_addr *src = &d->route.saddr, *dst = &d->dest.daddr;
	int dif = d->route.ifindex;

	if (d->v4)
		return __udp4_lib_lookup(net, src->s6_addr32[3], d->sport,
					 dst->s6_addr32[3], d->dport, dif, 0,
					 sanx_udp_table(net), NULL);
#if IS_ENABLED(CONFIG_IPV6)
	return __udp6_lib_lookup(net, src, d->sport, dst, d->dport, dif, 0,
				 sanx_udp_table(net), NULL);
#else
	return NULL;
#endif
}

/* Has it asked for flow labels?  Only the stack makes them. */
static bool wants_flow(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	return sk->sk_family == AF_INET6 && inet6_sk(sk)->rxopt.bits.rxflow;
#else
	return false;
#endif
}

/* May it have datagrams that did not pass the IP stack? */
static bool takes(const struct sock *sk)
{
	return sanx_dgram_is_ours(sk) && !READ_ONCE(udp_sk(sk)->encap_type) &&
	       !wants_flow(sk) && !sanx_needs_stack(sk);
}

/* Do the port rules permit it?  @peer: the other side, as for sanx_port_allowed() */
bool sanx_dgram_allowed(const struct sanx_dgram *d, struct net *net, enum sanx_way way,
			const struct in6_addr *peer)
{
	const struct sanx_endpoint at = { .addr = d->dest.daddr, .port = d->dport };

	return sanx_port_allowed(net, way, peer, &at);
}

/*
 * Finds the socket that a datagram is for.
 * Context: under RCU, which keeps it (SOCK_RCU_FREE).
 * Return: the sock; or NULL if it is UDP's, or if there is none, which UDP tells the
 * sender.
 */
static struct sock *receiver(struct net *net, const struct sanx_dgram *d)
{
	struct sock *rsk = lookup(net, d);

	return rsk && takes(rsk) &&
	       sanx_dgram_allowed(d, net, SANX_WAY_IN, &d->route.saddr) ? rsk : NULL;
}

/**
 * sanx_dgram_takes() - is there a socket that could take a datagram now?
 * @d: the datagram, with its route
 * @net: its namespace
 * @gro: set on success: the receiver takes many at once (UDP_GRO)
 *
 * Context: process.
 * Return: true if so; a hint.
 */
bool sanx_dgram_takes(const struct sanx_dgram *d, struct net *net, bool *gro)
{
	struct sock *rsk;

	rcu_read_lock();
	rsk = receiver(net, d);
	if (rsk)
		*gro = udp_test_bit(GRO_ENABLED, rsk);
	rcu_read_unlock();
	return rsk;
}

/* Count as UDP does, which has counters for each version of IP. */
void sanx_dgram_count(const struct sanx_dgram *d, struct net *net, int field)
{
	if (d->v4)
		UDP_INC_STATS(net, field, 0);
	else
		UDP6_INC_STATS(net, field, 0);
}

/*
 * What UDP tells of the packet in control messages.  IPv6's is in the header and in
 * IP6CB, which skb.c has set.
 */
static void set_pktinfo(const struct sock *rsk, const struct sanx_dgram *d,
			struct sk_buff *skb)
{
	struct in_pktinfo *info = PKTINFO_SKB_CB(skb);

	if (!d->v4)
		return;
	if (sanx_wants_pktinfo(rsk)) {
		info->ipi_ifindex = d->route.ifindex;
		info->ipi_spec_dst.s_addr = ip_hdr(skb)->daddr;
	} else {
		info->ipi_ifindex = 0;
		info->ipi_spec_dst.s_addr = 0;
	}
}

/* Is it connected?  As UDP asks, for each version of IP. */
static bool connected(const struct sock *rsk, const struct sanx_dgram *d)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (!d->v4)
		return !ipv6_addr_any(&rsk->sk_v6_daddr);
#endif
	return inet_sk(rsk)->inet_daddr;
}

/* The device by which it came.  Context: under RCU. */
static struct net_device *device(struct net *net, const struct sanx_dgram *d)
{
	struct net_device *dev = NULL;

	if (!d->route.local)
		dev = dev_get_by_index_rcu(net, d->route.ifindex);
	return dev ?: net->loopback_dev;
}

/*
 * Put a datagram into the queue of its receiver, from its payload on.
 * @skb: taken over
 * Return: 0; -ENOMEM if the receiver has no room; else UDP as a whole has no memory.
 */
int sanx_dgram_enqueue(struct sock *rsk, struct sk_buff *skb)
{
	int err = __udp_enqueue_schedule_skb(rsk, skb);

	if (!err)
		return 0;
	sanx_stat_add(sock_net(rsk), err == -ENOMEM ? SANX_STAT_DROPPED_FULL :
						      SANX_STAT_DROPPED_MEMORY, 1);
	kfree_skb(skb);
	return err;
}

/* As __udp_queue_rcv_skb().  @err: of sanx_dgram_enqueue() */
static void count_dropped(const struct sanx_dgram *d, struct net *net, int err)
{
	bool full = err == -ENOMEM;

	sanx_dgram_count(d, net, full ? UDP_MIB_RCVBUFERRORS : UDP_MIB_MEMERRORS);
	sanx_dgram_count(d, net, UDP_MIB_INERRORS);
}

/* As udp_queue_rcv_one_skb() and __udp_queue_rcv_skb(). */
static void queue(struct sock *rsk, const struct sanx_dgram *d,
		  struct sk_buff *skb)
{
	int err;

	/* As a packet has it that came by the stack. */
	__skb_pull(skb, skb_transport_offset(skb));
	skb->dev = device(sock_net(rsk), d);
	skb->skb_iif = skb->dev->ifindex;
	if (READ_ONCE(rsk->sk_flags) & SK_FLAGS_TIMESTAMP)
		__net_timestamp(skb);
	if (sk_filter_trim_cap(rsk, skb, sizeof(struct udphdr))) {
		atomic_inc(&rsk->sk_drops);
		sanx_dgram_count(d, sock_net(rsk), UDP_MIB_INERRORS);
		kfree_skb(skb);
		return;
	}
	__skb_pull(skb, sizeof(struct udphdr));
	set_pktinfo(rsk, d, skb);
	if (connected(rsk, d))
		sk_incoming_cpu_update(rsk);
	err = sanx_dgram_enqueue(rsk, skb);
	if (err)
		count_dropped(d, sock_net(rsk), err);
}

/**
 * sanx_dgram_deliver() - give datagrams to their receiver
 * @d: what they have in common
 * @net: their namespace
 * @gro: they were made for a receiver that takes many at once, or that does not
 * @list: the datagrams, from their IP header on; empty afterwards on success
 *
 * A datagram for which the receiver has no room is dropped, and counted by UDP's
 * counters: the sender is not told and does not wait.
 *
 * Context: process.
 * Return: false if there is no such receiver any more; then UDP has to.
 */
bool sanx_dgram_deliver(const struct sanx_dgram *d, struct net *net, bool gro,
			struct sk_buff_head *list)
{
	struct sk_buff *skb;
	struct sock *rsk;

	/* In the state in which UDP receives: softirq, and for callbacks RCU. */
	local_bh_disable();
	rcu_read_lock();
	rsk = receiver(net, d);
	if (rsk && gro != udp_test_bit(GRO_ENABLED, rsk))
		rsk = NULL;
	while (rsk && (skb = __skb_dequeue(list)))
		queue(rsk, d, skb);
	rcu_read_unlock();
	local_bh_enable();
	return rsk;
}
