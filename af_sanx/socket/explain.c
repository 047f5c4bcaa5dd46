// SPDX-License-Identifier: GPL-2.0
/*
 * What would connect() do here and now, and why?  SANX_EXPLAIN goes the way of connect(), and
 * asks the peer with a question in place of a connection (conn/question.c).
 *
 * It is an option of a socket and no request of netlink, as the answer depends on the socket:
 * on its user, mark, address, options and cgroup; and as it may take seconds, in which a
 * request of generic netlink would hold up others.
 */
#include <uapi/linux/sanx.h>

#include "socket_priv.h"
#include "loop/loop.h"

static_assert(sizeof(struct sanx_explain) == 72);

/* As sanx_endpoint_parse(), for an address that connect() would get in another form. */
static int target_parse(struct sanx_target *t, const struct sock *sk,
			const struct sanx_explain *x)
{
	BUILD_BUG_ON(sizeof(x->remote) != sizeof(t->remote.addr));
	memcpy(&t->remote.addr, x->remote, sizeof(x->remote));
	t->remote.port = x->port;
	sanx_endpoint_here(&t->remote);
	return sanx_endpoint_takes(&t->remote, sk) ? 0 : -EINVAL;
}

/* As connect_locked(): is there a connect() to be explained, and may this one be made? */
static int explain_may(struct socket *sock, struct sanx_sock *ss, const struct sanx_target *t)
{
	struct sock *sk = sock->sk;
	struct sockaddr_storage addr;
	int len;

	if (READ_ONCE(ss->fell_back) || ss->explicit)
		return -ENOPROTOOPT;
	if (ss->conn || sock->state != SS_UNCONNECTED || sk->sk_state != TCP_CLOSE)
		return -EISCONN;
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
	if (asks >= 0 && sanx_route(sk, &t->remote, &t->local) && asks) {
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

	err = target_parse(&t, sock->sk, x);
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
