// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams between explicit sockets (sci-socket.txt 5.1).
 *
 * They are packets as those of other sockets, between the addresses that struct sanx_endpoint
 * says, and so they share the implicit connections, and the queue of a receiver is UDP's.  No
 * packet of IP has such an address: what has no socket goes to no stack, and what has no
 * implicit connection waits for one.
 *
 * Who sends to no socket is told.  On the same node that is the result of send().  From
 * another node an answer comes, which has source port 0 instead of a type; as with UDP, a
 * connected socket gets an error, and others do not.
 *
 * The sockets are in af_sanx/socket/, which has given us what finds them.
 */
#include <linux/skbuff.h>
#include <net/ipv6.h>

#include "config/config.h"
#include "conn/conn.h"
#include "carrier.h"
#include "dgram_priv.h"
#include "loop/loop.h"
#include "record.h"

static const struct sanx_dgram_ops *dgram_ops __ro_after_init;

void __init sanx_dgram_set_ops(const struct sanx_dgram_ops *ops)
{
	dgram_ops = ops;
}

static void get_ends(const struct sanx_dgram *d, struct sanx_endpoint *from,
		     struct sanx_endpoint *to)
{
	*from = (struct sanx_endpoint){ .addr = d->route.saddr, .port = d->sport };
	*to = (struct sanx_endpoint){ .addr = d->dest.daddr, .port = d->dport };
}

/* As queue() of receiver.c; a filter of the socket sees the payload, as over AF_UNIX. */
static void queue(struct sock *rsk, struct sk_buff *skb)
{
	if (READ_ONCE(rsk->sk_flags) & SK_FLAGS_TIMESTAMP)
		__net_timestamp(skb);
	__skb_pull(skb, DGRAM_HEADERS_V6);
	if (sk_filter(rsk, skb)) {
		atomic_inc(&rsk->sk_drops);
		kfree_skb(skb);
		return;
	}
	sanx_dgram_enqueue(rsk, skb);
}

/*
 * Gives a packet to its socket.
 * @skb: taken over if it is delivered
 * Context: process.
 * Return: 0; -EACCES if a port rule denies it; -ECONNREFUSED if there is no socket.
 */
static int deliver(struct net *net, const struct sanx_dgram *d, struct sk_buff *skb)
{
	struct sanx_endpoint from, to;
	int err = -ECONNREFUSED;
	struct sock *rsk;

	if (!sanx_dgram_allowed(d, net, SANX_WAY_IN, &d->route.saddr))
		return -EACCES;
	get_ends(d, &from, &to);
	/* As sanx_dgram_deliver(). */
	local_bh_disable();
	rcu_read_lock();
	rsk = dgram_ops->find(net, &to, &from, false);
	if (rsk && !sanx_needs_packets(rsk)) {
		queue(rsk, skb);
		err = 0;
	}
	rcu_read_unlock();
	local_bh_enable();
	return err;
}

/* Return: 0, and @skb is taken over; or -errno. */
static int send_local(struct net *net, const struct sanx_dgram *d, struct sk_buff *skb)
{
	int err;

	/* From here on it is the receiver's, as that of UDP which passes lo. */
	skb_orphan(skb);
	err = deliver(net, d, skb);
	if (!err)
		sanx_stat_add(net, SANX_STAT_DGRAMS_LOOP, 1);
	return err;
}

/* Likewise. */
static int send_remote(struct net *net, const struct sanx_dgram *d, struct sk_buff *skb)
{
	struct sanx_carrier *c = sanx_carrier_ask(net, d);

	if (IS_ERR(c))
		return PTR_ERR(c);
	sanx_carrier_send(c, skb);
	sanx_carrier_put(c);
	return 0;
}

/* Is it for a socket of this node, and goes through memory?  @node: where to */
static bool stays(struct net *net, u32 node)
{
	return sanx_loop && node == sanx_node_self(net);
}

/**
 * sanx_dgram_send_explicit() - send a datagram of an explicit socket
 * @sk: its sock
 * @from: its end, with its node and port
 * @to: where to, with node and port
 * @msg: the payload; MSG_DONTWAIT counts
 * @len: bytes of it, at most SANX_DGRAM_EXPLICIT_MAX
 *
 * Context: process, may sleep.
 * Return: @len; -ENETUNREACH if the node map does not have the node, or not this one, or the
 * node wants no datagrams; -EACCES if a port rule denies it; -ECONNREFUSED, on this node only;
 * -EOPNOTSUPP if only the IP stack could obey the socket's options; -ENOBUFS; -EFAULT; or as
 * sock_alloc_send_pskb().
 */
int sanx_dgram_send_explicit(struct sock *sk, const struct sanx_endpoint *from,
			     const struct sanx_endpoint *to, struct msghdr *msg, size_t len)
{
	u32 node = sanx_addr_node(&to->addr);
	struct sanx_dgram d = {
		.dest.daddr	= to->addr,
		.route.saddr	= from->addr,
		.route.hops	= 64,
		.route.peer	= node,
		.sport		= from->port,
		.dport		= to->port,
		.hops		= -1,
	};
	struct net *net = sock_net(sk);
	struct sk_buff *skb;
	int err;

	if (sanx_needs_packets(sk))
		return -EOPNOTSUPP;
	/* A node that has no id cannot be answered. */
	if (!stays(net, node) &&
	    (!sanx_addr_node(&from->addr) || !sanx_node_by_id(net, node, NULL)))
		return -ENETUNREACH;
	if (!sanx_dgram_allowed(&d, net, SANX_WAY_OUT, &to->addr))
		return -EACCES;
	/* This may wait; what follows finds what there is then. */
	skb = sanx_dgram_make_charged(sk, &d, msg, len, &err);
	if (!skb)
		return err;
	err = stays(net, node) ? send_local(net, &d, skb) : send_remote(net, &d, skb);
	if (!err)
		return len;
	kfree_skb(skb);
	return err;
}

/**
 * sanx_dgram_source() - where a datagram of an explicit socket came from
 * @skb: the datagram, as it is in the receiver's queue
 * @from: set
 *
 * Context: any.
 */
void sanx_dgram_source(const struct sk_buff *skb, struct sanx_endpoint *from)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);

	from->addr = ip6h->saddr;
	from->port = htons(SOCK_DGRAM);
}

/* Tells the sender that there is no socket; unless much waits for it already. */
static void refuse(struct sanx_carrier *c, const struct sanx_dgram *d)
{
	struct sanx_dgram answer = {
		.dest.daddr	= d->route.saddr,
		.route.saddr	= d->dest.daddr,
		.route.hops	= 64,
		.dport		= d->sport,
		.hops		= -1,
	};
	struct sk_buff *skb = NULL;

	if (!sanx_carrier_full(c))
		skb = sanx_dgram_make_headers(&answer);
	if (skb)
		sanx_carrier_answer(c, skb);
}

/* There is no socket where one of this node has sent to. */
static void refused(struct net *net, const struct sanx_dgram *d)
{
	struct sanx_endpoint from, to;
	struct sock *sk;

	get_ends(d, &from, &to);
	rcu_read_lock();
	sk = dgram_ops->find(net, &to, &from, true);
	if (sk) {
		WRITE_ONCE(sk->sk_err, ECONNREFUSED);
		sk_error_report(sk);
	}
	rcu_read_unlock();
}

/* Return: as deliver(); @skb is taken over on success. */
static int receive(struct sanx_carrier *c, const struct sanx_dgram *d, struct sk_buff *skb)
{
	/* A node sends for itself.  The node map may have given an id to another one meanwhile. */
	if (sanx_addr_node(&d->route.saddr) != c->peer ||
	    sanx_addr_node(&d->dest.daddr) != sanx_node_self(c->net))
		return -EACCES;
	if (d->sport)
		return deliver(c->net, d, skb);
	refused(c->net, d);
	consume_skb(skb);
	return 0;
}

/*
 * The work of @c: receive a packet between explicit sockets.
 * @skb: the packet, from its IP header on, which is taken over
 */
void sanx_dgram_arrive_explicit(struct sanx_carrier *c, const struct sanx_dgram *d,
				struct sk_buff *skb)
{
	int err = receive(c, d, skb);

	if (!err)
		return;
	if (err == -ECONNREFUSED)
		refuse(c, d);
	else
		sanx_stat_add(c->net, SANX_STAT_DROPPED_DENIED, 1);
	kfree_skb(skb);
}
