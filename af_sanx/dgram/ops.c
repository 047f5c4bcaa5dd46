// SPDX-License-Identifier: GPL-2.0
/*
 * Datagram sockets: UDP sockets of which only sendmsg() is AF_SANX's.
 *
 * The sock of a native UDP socket is the visible socket's, as with streams.  A
 * datagram to an AF_SANX socket of this node is put into the receive queue of that
 * sock, as UDP itself would have done after the packet has passed the IP stack and
 * lo.  One to a node in the node map goes by an implicit connection (carrier.c).
 * Everything else is UDP's own: ports, connect(), recvmsg() and its control
 * messages, poll(), errors, multicast, and the datagrams of all other peers.  UDP
 * peers are sent nothing but UDP.
 *
 * The order of two datagrams of one socket can change if one goes this way and the
 * other through the stack, as it can with UDP.
 *
 * proto_ops are a copy of the native ones, because each call but one is native.  Those
 * of IPv6 are not exported, so they are copied from the first socket, and do not change
 * any more: they cannot be constant.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "config/config.h"
#include "conn/conn.h"
#include "dgram_priv.h"
#include "link/peer/engine.h"

static DEFINE_MUTEX(ops_mutex); /* guards: writes of the tables below */
static struct proto_ops dgram_ops;
static struct proto_ops dgram6_ops;

/*
 * Is it a datagram socket of this family?  Under RCU, which keeps the inode of the socket.
 *
 * A datagram that passes by the IP stack also passes by its packet filters.  So only
 * sockets that have asked for it get one.
 */
bool sanx_dgram_is_ours(const struct sock *sk)
{
	const struct socket *sock = READ_ONCE(sk->sk_socket);
	const struct proto_ops *ops = sock ? READ_ONCE(sock->ops) : NULL;

	return ops == &dgram_ops || ops == &dgram6_ops;
}

static struct sanx_dgram_sock *dgram_sock(struct socket *sock)
{
	return SOCK_INODE(sock)->i_private;
}

static const struct proto_ops *native_of(struct socket *sock)
{
	return READ_ONCE(dgram_sock(sock)->native);
}

/*
 * Sends a datagram to a socket of this node.
 *
 * Copying the payload may take as long as the program likes.  So who receives the
 * datagram, and whether in this way, is decided afterwards; that it looks so before is
 * a hint, which spares UDP's datagrams the copy.
 * Return: @len, -errno, or -ENOTSUPP to leave it to UDP, and then @msg is as it was.
 */
static int send_local(struct sock *sk, const struct sanx_dgram *d,
		      struct msghdr *msg, size_t len)
{
	struct iov_iter saved = msg->msg_iter;
	struct sk_buff_head list;
	bool gro;
	int err;

	if (!sanx_dgram_takes(d, sock_net(sk), &gro))
		return -ENOTSUPP;
	__skb_queue_head_init(&list);
	err = sanx_dgram_make(sk, d, gro, msg, len, &list);
	if (err)
		return err;
	if (sanx_dgram_deliver(d, sock_net(sk), gro, &list)) {
		sanx_dgram_count(d, sock_net(sk), UDP_MIB_OUTDATAGRAMS);
		sanx_stat_add(sock_net(sk), SANX_STAT_DGRAMS_LOOP, 1);
		return len;
	}
	__skb_queue_purge(&list);
	msg->msg_iter = saved;
	return -ENOTSUPP;
}

/*
 * Sends a datagram by an implicit connection, to another node, or to this one if nothing goes
 * through memory.  As with send_local(), that there is one is a hint until the payload is
 * copied.
 * Return: as send_local().
 */
static int send_remote(struct sock *sk, const struct sanx_dgram *d,
		       struct msghdr *msg, size_t len)
{
	struct iov_iter saved = msg->msg_iter;
	struct net *net = sock_net(sk);
	struct sanx_carrier *c;
	struct sk_buff *skb;
	bool gro;
	int err;

	/* What a UDP socket of this node gets, it gets from UDP. */
	if (d->route.local && !sanx_dgram_takes(d, net, &gro))
		return -ENOTSUPP;
	if (!sanx_carrier_there(net, d))
		return -ENOTSUPP;
	skb = sanx_dgram_make_charged(sk, d, msg, len, &err);
	if (!skb)
		return err;
	c = sanx_carrier_get(net, d);
	if (!c) {
		kfree_skb(skb);
		msg->msg_iter = saved;
		return -ENOTSUPP;
	}
	sanx_dgram_count(d, net, UDP_MIB_OUTDATAGRAMS);
	sanx_carrier_send(c, skb);
	sanx_carrier_put(c);
	return len;
}

static int dgram_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sanx_dgram_sock *ds = dgram_sock(sock);
	enum sanx_dgram_way way = SANX_DGRAM_UDP;
	struct sock *sk = sock->sk;
	struct sanx_dgram d;
	int n = -ENOTSUPP;

	if (sanx_dgram_parse(sk, msg, len, &d))
		way = sanx_dgram_route(ds, sk, &d, len);
	if (way == SANX_DGRAM_LOOP)
		n = send_local(sk, &d, msg, len);
	else if (way == SANX_DGRAM_LINK)
		n = send_remote(sk, &d, msg, len);
	if (n != -ENOTSUPP)
		return n;
	n = native_of(sock)->sendmsg(sock, msg, len);
	if (n >= 0)
		sanx_stat_add(sock_net(sk), SANX_STAT_DGRAMS_UDP, 1);
	return n;
}

static int dgram_release(struct socket *sock)
{
	struct sanx_dgram_sock *ds = dgram_sock(sock);
	int err;

	/* accept() gives a socket that it then releases the ops, and no sock. */
	if (!sock->sk)
		return 0;
	sanx_netuse_put(sock_net(sock->sk), false);
	err = ds->native->release(sock);
	module_put(ds->native->owner);
	SOCK_INODE(sock)->i_private = NULL;
	kfree(ds);
	return err;
}

static int dgram_setsockopt(struct socket *sock, int level, int optname,
			    sockptr_t optval, unsigned int optlen);

static void ops_copy(struct proto_ops *ops, const struct proto_ops *native)
{
	struct proto_ops copy;

	/* Pairs with smp_store_release() below: all is copied then. */
	if (smp_load_acquire(&ops->owner))
		return;
	copy = *native;
	copy.owner = NULL;
	copy.release = dgram_release;
	copy.setsockopt = dgram_setsockopt;
	copy.sendmsg = dgram_sendmsg;
	mutex_lock(&ops_mutex);
	if (!ops->owner) {
		*ops = copy;
		/* Pairs with smp_load_acquire() above. */
		smp_store_release(&ops->owner, THIS_MODULE);
	}
	mutex_unlock(&ops_mutex);
}

/*
 * IPV6_ADDRFORM makes the socket one of IPv4: it stores UDP's ops, and puts the
 * reference of the old ones' owner.  sendmsg() and release() stay AF_SANX's.
 */
static void became_v4(struct socket *sock)
{
	struct sanx_dgram_sock *ds = dgram_sock(sock);

	ops_copy(&dgram_ops, &inet_dgram_ops);
	WRITE_ONCE(ds->native, &inet_dgram_ops);
	WRITE_ONCE(sock->ops, &dgram_ops);
}

static int dgram_setsockopt(struct socket *sock, int level, int optname,
			    sockptr_t optval, unsigned int optlen)
{
	int err;

	err = native_of(sock)->setsockopt(sock, level, optname, optval, optlen);
	if (level == SOL_IPV6 && optname == IPV6_ADDRFORM &&
	    READ_ONCE(sock->ops) == &inet_dgram_ops)
		became_v4(sock);
	return err;
}

/**
 * sanx_dgram_adopt() - make a socket one of AF_SANX with the sock of a UDP socket
 * @native: the UDP socket; afterwards an empty shell without ops, which the caller
 *	releases
 * @sock: takes the sock
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM, and then @native is as it was.
 */
int sanx_dgram_adopt(struct socket *native, struct socket *sock)
{
	struct sock *sk = native->sk;
	struct proto_ops *ops = sk->sk_family == AF_INET6 ? &dgram6_ops :
							    &dgram_ops;
	struct sanx_dgram_sock *ds = kzalloc(sizeof(*ds), GFP_KERNEL_ACCOUNT);

	if (!ds)
		return -ENOMEM;
	seqlock_init(&ds->lock);
	ds->native = native->ops;
	ops_copy(ops, native->ops);

	native->sk = NULL;
	sock->flags |= native->flags & SANX_SOCK_FLAGS;
	sock_graft(sk, sock);
	/* ds->native now owns the reference of the ops' owner. */
	native->ops = NULL;
	SOCK_INODE(sock)->i_private = ds;
	sock->ops = ops;
	sanx_netuse_get(sock_net(sk));
	sanx_carriers_serve(sock_net(sk));
	return 0;
}

/**
 * sanx_dgram_init() - set up datagram sockets
 * @ops: what the sockets do for them; constant
 *
 * Context: init of the module.
 * Return: 0 or -ENOMEM.
 */
int __init sanx_dgram_init(const struct sanx_dgram_ops *ops)
{
	sanx_dgram_set_ops(ops);
	return sanx_carriers_init();
}

/**
 * sanx_dgram_exit() - no datagram socket is left
 *
 * Context: exit of the module.
 */
void sanx_dgram_exit(void)
{
	sanx_carriers_exit();
}
