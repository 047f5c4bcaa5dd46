// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit datagram sockets: the calls (dgram/explicit.c has the datagrams).
 *
 * The sock is one of UDP, as that of a stream is one of TCP: its receive queue, its accounts,
 * poll() and SIOCINQ are UDP's.  But it is in none of UDP's tables, has no port of UDP's, and
 * UDP never sends for it.  It has a struct sanx_sock that never has a connection, so it is in
 * the list of the namespace's sockets, and its port is among those of explicit.c.
 */
#include <linux/module.h>
#include <linux/sockios.h>
#include <net/inet_common.h>
#include <net/udp.h>
#include <asm/ioctls.h>

#include "config/config.h"
#include "dgram/dgram.h"
#include "socket_priv.h"

/* Those of UDP, with ours in their places; constant after init. */
static struct proto_ops dgram_ops __ro_after_init;

/* The peer of a connected socket as one value, which lookups read without a lock; 0 for none. */
static u64 peer_of(const struct sanx_endpoint *ep)
{
	return (u64)sanx_addr_port(&ep->addr) << 32 | sanx_addr_node(&ep->addr);
}

static void set_peer(struct sanx_explicit *ex, const struct sanx_endpoint *ep)
{
	WRITE_ONCE(ex->peer, ep ? peer_of(ep) : 0);
}

/**
 * sanx_explicit_peer() - the peer of a connected datagram socket
 * @ss: its AF_SANX part
 * @peer: set; port 0 for none, as all other explicit sockets have it
 *
 * Context: any; a hint without lock_sock().
 */
void sanx_explicit_peer(const struct sanx_sock *ss, struct sanx_endpoint *peer)
{
	u64 val = READ_ONCE(ss->explicit->peer);

	sanx_endpoint_explicit(peer, ss->sk->sk_type, val, val >> 32);
}

/* As struct sanx_dgram_ops. */
static struct sock *find(struct net *net, const struct sanx_endpoint *at,
			 const struct sanx_endpoint *peer, bool connected)
{
	const struct sanx_explicit *ex = sanx_explicit_of(net, SOCK_DGRAM,
							  sanx_addr_port(&at->addr));
	u32 node;
	u64 to;

	if (!ex)
		return NULL;
	node = be32_to_cpu(READ_ONCE(ex->local.addr.s6_addr32[3]));
	if (node && node != sanx_addr_node(&at->addr))
		return NULL;
	to = READ_ONCE(ex->peer);
	return to == peer_of(peer) || (!to && !connected) ? ex->sk : NULL;
}

const struct sanx_dgram_ops sanx_explicit_dgram_ops = {
	.find	= find,
};

/*
 * Where a datagram is to go; node 0 is this node.
 * Return: 0, or -errno as sanx_explicit_parse(); -EINVAL for port 0.
 */
static int parse_to(const struct sock *sk, const struct sockaddr *uaddr, int len,
		    struct sanx_endpoint *to)
{
	u32 node, port;
	int err = sanx_explicit_parse(sk, uaddr, len, &node, &port);

	if (err)
		return err;
	if (!port)
		return -EINVAL;
	sanx_endpoint_explicit(to, SOCK_DGRAM, node ?: sanx_node_self(sock_net(sk)), port);
	return 0;
}

/* Is there a node of that id?  Without a node map this one is 0, and can reach itself. */
static bool has_node(struct net *net, u32 node)
{
	return node == sanx_node_self(net) || sanx_node_by_id(net, node, NULL);
}

/* Context: lock_sock() held. */
static int connect_locked(struct sanx_sock *ss, const struct sanx_endpoint *to)
{
	struct sock *sk = ss->sk;
	int err;

	if (!has_node(sock_net(sk), sanx_addr_node(&to->addr)))
		return -ENETUNREACH;
	if (sanx_needs_packets(sk))
		return -EOPNOTSUPP;
	err = sanx_explicit_autobind(ss);
	if (err)
		return err;
	set_peer(ss->explicit, to);
	WRITE_ONCE(sk->sk_state, TCP_ESTABLISHED);
	sk->sk_socket->state = SS_CONNECTED;
	return 0;
}

/**
 * sanx_explicit_dgram_disconnect() - let a datagram socket have no peer
 * @ss: its AF_SANX part
 *
 * As __udp_disconnect().
 *
 * Context: process, may sleep; lock_sock() held.
 */
void sanx_explicit_dgram_disconnect(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	set_peer(ss->explicit, NULL);
	WRITE_ONCE(sk->sk_state, TCP_CLOSE);
	sk->sk_socket->state = SS_UNCONNECTED;
	sanx_explicit_disconnect(ss);
}

static int dgram_connect(struct socket *sock, struct sockaddr *uaddr, int len, int flags)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sock *sk = sock->sk;
	struct sanx_endpoint to;
	int err = 0;

	if (len < (int)sizeof(uaddr->sa_family))
		return -EINVAL;
	if (uaddr->sa_family != AF_UNSPEC)
		err = parse_to(sk, uaddr, len, &to);
	if (err)
		return err;
	lock_sock(sk);
	if (uaddr->sa_family == AF_UNSPEC)
		sanx_explicit_dgram_disconnect(ss);
	else
		err = connect_locked(ss, &to);
	release_sock(sk);
	return err;
}

static int dgram_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_endpoint ep;
	u32 node;

	sanx_explicit_peer(ss, &ep);
	if (peer)
		return sanx_addr_port(&ep.addr) ? sanx_explicit_fill(&ep, uaddr) : -ENOTCONN;
	node = sanx_addr_node(&ss->explicit->local.addr);
	/* One that is connected knows from which node it sends. */
	if (!node && sanx_addr_port(&ep.addr))
		node = sanx_node_self(sock_net(sock->sk));
	sanx_endpoint_explicit(&ep, SOCK_DGRAM, node, READ_ONCE(ss->explicit->port.nr));
	return sanx_explicit_fill(&ep, uaddr);
}

/* This end, of a datagram that is sent; the socket gets a port if it has none. */
static int source(struct sanx_sock *ss, struct sanx_endpoint *from)
{
	u32 port = READ_ONCE(ss->explicit->port.nr);
	int err = 0;

	if (unlikely(!port)) {
		lock_sock(ss->sk);
		err = sanx_explicit_autobind(ss);
		port = ss->explicit->port.nr;
		release_sock(ss->sk);
	}
	sanx_endpoint_explicit(from, SOCK_DGRAM, sanx_node_self(sock_net(ss->sk)), port);
	return err;
}

static int destination(const struct sanx_sock *ss, const struct msghdr *msg,
		       struct sanx_endpoint *to)
{
	if (msg->msg_name)
		return parse_to(ss->sk, msg->msg_name, msg->msg_namelen, to);
	sanx_explicit_peer(ss, to);
	return sanx_addr_port(&to->addr) ? 0 : -EDESTADDRREQ;
}

static int dgram_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_endpoint from, to;
	struct sockcm_cookie sockc = {};
	struct sock *sk = sock->sk;
	int err;

	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (len > SANX_DGRAM_EXPLICIT_MAX)
		return -EMSGSIZE;
	err = msg->msg_controllen ? sock_cmsg_send(sk, msg, &sockc) : 0;
	err = err ?: destination(ss, msg, &to) ?: source(ss, &from);
	return err ?: sanx_dgram_send_explicit(sk, &from, &to, msg, len);
}

static void put_name(const struct sk_buff *skb, struct msghdr *msg)
{
	struct sanx_endpoint from;

	if (!msg->msg_name)
		return;
	sanx_dgram_source(skb, &from);
	msg->msg_namelen = sanx_explicit_fill(&from, msg->msg_name);
}

/* As udp_recvmsg(). */
static int dgram_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	bool peek = flags & MSG_PEEK;
	struct sock *sk = sock->sk;
	struct sk_buff *skb;
	size_t copied, all;
	int off, err;

	if (flags & MSG_ERRQUEUE)
		return sock_recv_errqueue(sk, msg, len, SOL_IP, IP_RECVERR);
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	off = sk_peek_offset(sk, flags);
	skb = __skb_recv_udp(sk, flags, &off, &err);
	if (!skb)
		return err;
	all = skb->len;
	copied = min_t(size_t, len, all - off);
	if (copied < all - off)
		msg->msg_flags |= MSG_TRUNC;
	err = skb_copy_datagram_msg(skb, off, msg, copied);
	if (err) {
		if (!peek)
			atomic_inc(&sk->sk_drops);
		kfree_skb(skb);
		return err;
	}
	sock_recv_cmsgs(msg, sk, skb);
	put_name(skb, msg);
	err = flags & MSG_TRUNC ? all : copied;
	skb_consume_udp(sk, skb, peek ? -err : err);
	return err;
}

/* Only what is about the socket and not about a network. */
static int dgram_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	if (cmd != SIOCINQ && cmd != SIOCOUTQ)
		return -ENOIOCTLCMD;
	return inet_ioctl(sock, cmd, arg);
}

/* What the kernel asks, if UDP has a part in SOL_SOCKET: SO_RCVBUF. */
static int dgram_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			    unsigned int optlen)
{
	struct sock *sk = sock->sk;

	if (level != SOL_SOCKET)
		return -EOPNOTSUPP;
	return sk->sk_prot->setsockopt(sk, level, optname, optval, optlen);
}

/**
 * sanx_explicit_dgram_graft() - make a socket an explicit datagram one
 * @sock: the socket, with its AF_SANX part
 *
 * Context: process; nobody else uses the socket yet.
 */
void sanx_explicit_dgram_graft(struct socket *sock)
{
	/* dgram/explicit.c finds it without a reference. */
	sock_set_flag(sock->sk, SOCK_RCU_FREE);
	sock->ops = &dgram_ops;
}

void __init sanx_explicit_dgram_init(void)
{
	dgram_ops = inet_dgram_ops;
	dgram_ops.owner = THIS_MODULE;
	dgram_ops.release = sanx_release;
	dgram_ops.bind = sanx_explicit_bind;
	dgram_ops.connect = dgram_connect;
	dgram_ops.getname = dgram_getname;
	dgram_ops.ioctl = dgram_ioctl;
#ifdef CONFIG_COMPAT
	dgram_ops.compat_ioctl = NULL;
#endif
	dgram_ops.setsockopt = dgram_setsockopt;
	dgram_ops.getsockopt = NULL;
	dgram_ops.sendmsg = dgram_sendmsg;
	dgram_ops.recvmsg = dgram_recvmsg;
	dgram_ops.read_skb = NULL;
	sanx_ops_by_sendmsg(&dgram_ops);
}
