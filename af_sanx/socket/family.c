// SPDX-License-Identifier: GPL-2.0
/*
 * The address family: how its sockets are made.
 *
 * socket() makes a native TCP socket, moves its sock into the visible socket,
 * and drops the empty shell.  The visible socket gets AF_SANX's ops.  So ports,
 * options, labels and accounting are the kernel's own, and a fallback only
 * changes the ops (Documentation/overview.rst).
 *
 * i_private of the socket's inode points to struct sanx_sock.  It is NULL in
 * two cases: in a socket that accept() has not filled, and in a TCP socket to
 * which kernel_accept() gave its listener's ops.  AF_SANX passes each call of
 * the latter on to TCP.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <uapi/linux/sanx.h>

#include "config/cov.h"
#include "internal.h"

/*
 * inet6_stream_ops, which ipv6 does not export; taken from a v6 socket.
 */
const struct proto_ops *sanx_inet6_ops;

static unsigned int sanx_family = SANX_FAMILY_DEFAULT;
module_param_named(family, sanx_family, uint, 0444);
MODULE_PARM_DESC(family, "number of the address family");

/**
 * sanx_sock_alloc() - make the AF_SANX part of a socket
 * @sk: the native sock
 * @native: its proto_ops
 *
 * Context: process, may sleep.
 * Return: it, owned by the caller, to be freed with sanx_sock_free(); or NULL.
 */
struct sanx_sock *sanx_sock_alloc(struct sock *sk,
				  const struct proto_ops *native)
{
	struct sanx_sock *ss;

	ss = kzalloc(sizeof(*ss), GFP_KERNEL_ACCOUNT);
	if (!ss)
		return NULL;
	ss->native = native;
	ss->sk = sk;
	INIT_LIST_HEAD(&ss->old);
	INIT_LIST_HEAD(&ss->node);
	sanx_listener_init(&ss->lsk, sock_net(sk));
	return ss;
}

static void drop_conn(struct sanx_conn *conn)
{
	sanx_conn_stop(conn);
	sanx_conn_put(conn);
}

/**
 * sanx_sock_free() - free the AF_SANX part of a released socket
 * @ss: it; its connections are closed
 *
 * Puts the references of @ss->conn and @ss->old.
 *
 * Context: process, may sleep; lock_sock() not held, see sanx_conn_stop().
 */
void sanx_sock_free(struct sanx_sock *ss)
{
	struct sanx_conn *conn, *next;

	sanx_listener_destroy(&ss->lsk);
	list_for_each_entry_safe(conn, next, &ss->old, node)
		drop_conn(conn);
	if (ss->conn)
		drop_conn(ss->conn);
	kfree_rcu(ss, rcu);
}

/**
 * sanx_native_graft() - move a native socket's sock into another socket
 * @native: the native socket; afterwards an empty shell without ops, which the
 *	caller releases
 * @sock: takes the sock and @ss
 * @ss: its AF_SANX part
 *
 * sock_orphan() would mark the sock as dead and stop wake-ups, so it is not
 * used.
 *
 * Context: process.
 */
void sanx_native_graft(struct socket *native, struct socket *sock,
		       struct sanx_sock *ss)
{
	struct sock *sk = native->sk;

	native->sk = NULL;
	if (test_bit(SOCK_SUPPORT_ZC, &native->flags))
		set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	sock_graft(sk, sock);
	/* ss->native now owns the reference of the ops' owner. */
	native->ops = NULL;

	SOCK_INODE(sock)->i_private = ss;
	sock->ops = &sanx_stream_ops;
	if (sk->sk_family == AF_INET6) {
		WRITE_ONCE(sanx_inet6_ops, ss->native);
		sock->ops = &sanx_stream6_ops;
	}
}

/* @shell: the file of @native, or NULL */
static void drop_native(struct socket *native, struct file *shell)
{
	if (shell)
		fput(shell);
	else
		sock_release(native);
}

static int sanx_create(struct net *net, struct socket *sock, int protocol,
		       int kern)
{
	struct socket *native;
	struct sanx_sock *ss;
	struct file *shell = NULL;
	int family, err;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	switch (protocol) {
	case SANXPROTO_INET:
	case IPPROTO_TCP:
		family = AF_INET;
		break;
	case SANXPROTO_INET6:
		family = AF_INET6;
		break;
	default:
		return -EPROTONOSUPPORT;
	}

	err = __sock_create(net, family, SOCK_STREAM, IPPROTO_TCP, &native,
			    kern);
	if (err)
		return err;
	/* A security policy does not apply to a kernel socket. */
	if (!kern && sanx_label_due(native->sk))
		shell = sock_alloc_file(native, 0, NULL);
	/* sock_alloc_file() has released @native. */
	if (IS_ERR(shell))
		return PTR_ERR(shell);
	ss = sanx_sock_alloc(native->sk, native->ops);
	if (!ss) {
		drop_native(native, shell);
		return -ENOMEM;
	}
	sanx_native_graft(native, sock, ss);
	if (shell)
		sanx_label_later(native, ss->sk);
	drop_native(native, shell);
	sanx_socks_add(ss);
	sanx_cov_opener(net);
	return 0;
}

static struct net_proto_family sanx_proto_family __ro_after_init = {
	.create	= sanx_create,
	.owner	= THIS_MODULE,
};

int __init sanx_family_init(void)
{
	/* sock_register() accepts AF_UNSPEC, but it is not a family. */
	if (!sanx_family)
		return -EINVAL;
	sanx_proto_family.family = sanx_family;
	return sock_register(&sanx_proto_family);
}

void sanx_family_exit(void)
{
	sock_unregister(sanx_family);
}
