// SPDX-License-Identifier: GPL-2.0
/*
 * What would connect() do here and now, and why?  SANX_EXPLAIN goes the way of connect(), and
 * asks the peer with a question in place of a connection (conn/question.c).
 *
 * It is an option of a socket and no request of netlink, as the answer depends on the socket:
 * on its user, mark, address, options and cgroup; and as it may take seconds, in which a
 * request of generic netlink would hold up others.
 *
 * For the sake of explicit sockets, SANX_NODE_OF says which node has an IP address.
 */
#include <uapi/linux/sanx.h>

#include "socket_priv.h"
#include "loop/loop.h"

static_assert(sizeof(struct sanx_explain) == 72);
static_assert(sizeof(struct sanx_node_of) == 20);

/* Likewise, of an explicit socket, whose ends have the type where others have the port. */
static int target_explicit(struct sanx_target *t, const struct sock *sk)
{
	u32 self = sanx_node_self(sock_net(sk)), port;
	const struct in6_addr *addr = &t->remote.addr;

	if (t->remote.port || !sanx_addr_explicit(addr))
		return -EINVAL;
	port = sanx_addr_port(addr);
	sanx_endpoint_explicit(&t->remote, port ? sk->sk_type : 0, sanx_addr_node(addr) ?: self,
			       port);
	sanx_endpoint_explicit(&t->local, sk->sk_type, self, 0);
	return 0;
}

/* As sanx_endpoint_parse(), for an address that connect() would get in another form. */
static int target_parse(struct sanx_target *t, const struct sanx_sock *ss,
			const struct sanx_explain *x)
{
	const struct sock *sk = ss->sk;

	BUILD_BUG_ON(sizeof(x->remote) != sizeof(t->remote.addr));
	memcpy(&t->remote.addr, x->remote, sizeof(x->remote));
	t->remote.port = x->port;
	if (ss->explicit)
		return target_explicit(t, sk);
	sanx_endpoint_here(&t->remote);
	return sanx_endpoint_takes(&t->remote, sk) ? 0 : -EINVAL;
}

/* As connect_locked(): is there a connect() to be explained, and may this one be made? */
static int explain_may(struct socket *sock, struct sanx_sock *ss, const struct sanx_target *t)
{
	struct sock *sk = sock->sk;
	struct sockaddr_storage addr;
	int len;

	if (READ_ONCE(ss->fell_back))
		return -ENOPROTOOPT;
	if (ss->conn || sock->state != SS_UNCONNECTED || sk->sk_state != TCP_CLOSE)
		return -EISCONN;
	if (ss->explicit)
		return 0;
	len = sanx_endpoint_fill(&t->remote, sk->sk_family, (struct sockaddr *)&addr);
	return sanx_label_may_connect(sk, (struct sockaddr *)&addr, len);
}

/*
 * What needs no answer of the peer.
 * Return: 1 if it is to be asked; 0 if the connection would be TCP; -errno.
 */
static int explain_here(struct socket *sock, struct sanx_sock *ss, struct sanx_target *t)
{
	struct sock *sk = sock->sk;
	int asks;

	lock_sock(sk);
	asks = explain_may(sock, ss, t);
	if (!asks)
		asks = sanx_target_pick(ss, t);
	/* TCP has its own error then, in place of a connection. */
	if (asks >= 0 && !ss->explicit && sanx_route(sk, &t->remote, &t->local) && asks) {
		t->why = SANX_FALLBACK_ROUTE;
		asks = 0;
	}
	release_sock(sk);
	return asks;
}

/* Context: process, may sleep.  Return: 0, -ENOMEM or -EINTR. */
static int explain(struct socket *sock, struct sanx_sock *ss, struct sanx_explain *x)
{
	struct net *net = sock_net(sock->sk);
	struct sanx_target t = {};
	struct sanx_node_info info;
	struct sanx_via via = {};
	unsigned int rule = 0;
	int err;

	err = target_parse(&t, ss, x);
	if (err)
		return err;
	memset(x->transport, 0, sizeof(x->transport));
	memset(x->fallback, 0, sizeof(x->fallback));
	if (t.remote.port)
		sanx_port_rule(net, SANX_WAY_OUT, &t.remote.addr, &t.remote, &rule);
	x->rule = rule;
	x->node = sanx_node_by_addr(net, &t.remote.addr, &info) ? info.id : 0;
	err = explain_here(sock, ss, &t);
	if (err > 0) {
		err = sanx_conn_question(t.ops, sock->sk, &t.local, &t.remote, &via, &t.why);
		/* Without a link, nobody was asked. */
		if (t.ops == &sanx_loop_ops || via.node)
			strscpy(x->transport, via.name, sizeof(x->transport));
	}
	memcpy(x->local, &t.local.addr, sizeof(x->local));
	if (err)
		return err;
	if (t.why != SANX_FALLBACK_NONE)
		strscpy(x->fallback, sanx_fallback_name(t.why), sizeof(x->fallback));
	return 0;
}

/*
 * getsockopt(SOL_SANX, SANX_EXPLAIN).  Takes lock_sock().
 * Return: 0; -EINVAL for an address that AF_SANX does not support, or that the socket's
 * connect() would not take; -EFAULT; -EISCONN; -EACCES; -ENOPROTOOPT if it is TCP; -ENOMEM;
 * -EINTR.
 */
int sanx_explain(struct socket *sock, struct sanx_sock *ss, char __user *optval,
		 int __user *optlen)
{
	struct sanx_explain x;
	int len, err;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < (int)sizeof(x))
		return -EINVAL;
	if (copy_from_user(&x, optval, sizeof(x)))
		return -EFAULT;
	err = explain(sock, ss, &x);
	if (err)
		return err;
	len = sizeof(x);
	if (put_user(len, optlen) || copy_to_user(optval, &x, sizeof(x)))
		return -EFAULT;
	return 0;
}

/*
 * Context: process, may sleep.
 * Return: 0, with @of->node set; -EINVAL; -EAGAIN if the host is being asked; -ENOENT.
 */
static int node_of(struct net *net, struct sanx_node_of *of)
{
	struct sanx_endpoint ep = {};
	struct sanx_node_info info;

	memcpy(&ep.addr, of->addr, sizeof(ep.addr));
	sanx_endpoint_here(&ep);
	if (sanx_addr_explicit(&ep.addr))
		return -EINVAL;
	if (sanx_addr_is_local(net, &ep.addr)) {
		of->node = sanx_node_self(net);
		return 0;
	}
	if (sanx_node_by_addr(net, &ep.addr, &info)) {
		of->node = info.id;
		return 0;
	}
	return sanx_seek(net, &ep.addr) == SANX_FALLBACK_ASKED ? -EAGAIN : -ENOENT;
}

/*
 * getsockopt(SOL_SANX, SANX_NODE_OF).
 * Return: as node_of(); -EFAULT; -ENOPROTOOPT if the socket is no explicit one.
 */
int sanx_explain_node(struct socket *sock, struct sanx_sock *ss, char __user *optval,
		      int __user *optlen)
{
	struct sanx_node_of of;
	int len, err;

	if (!ss->explicit)
		return -ENOPROTOOPT;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < (int)sizeof(of))
		return -EINVAL;
	if (copy_from_user(&of, optval, sizeof(of)))
		return -EFAULT;
	err = node_of(sock_net(sock->sk), &of);
	if (err)
		return err;
	len = sizeof(of);
	if (put_user(len, optlen) || copy_to_user(optval, &of, sizeof(of)))
		return -EFAULT;
	return 0;
}
