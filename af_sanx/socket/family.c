// SPDX-License-Identifier: GPL-2.0
/*
 * The address family: how its sockets come into being.
 *
 * A socket of the family is a native socket's sock in a socket whose ops are
 * ours: the native socket is made, its sock is moved over, and the empty shell
 * is dropped.  So ports, options, labels and accounting are the kernel's own,
 * and falling back is to change the ops (Documentation/overview.rst).
 *
 * What we add hangs off the inode that every struct socket lives in.  It is
 * NULL in a socket that accept() has not filled, and in one that has our ops
 * without being ours: kernel_accept() gives a listener's ops to whatever its
 * accept() returned, be it plain TCP.  Such a one is passed on call by call.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <uapi/linux/sanx.h>

#include "internal.h"

/* inet6_stream_ops, which ipv6 does not export; as seen in a socket. */
const struct proto_ops *sanx_inet6_ops;

static unsigned int sanx_family = SANX_FAMILY_DEFAULT;
module_param_named(family, sanx_family, uint, 0444);
MODULE_PARM_DESC(family, "number of the address family");

/**
 * sanx_sock_alloc() - make the AF_SANX part of a socket
 * @sk: the native sock
 * @native: its proto_ops
 *
 * Return: it, to be freed with sanx_sock_free(), or NULL.
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
	sanx_listener_init(&ss->lsk);
	return ss;
}

static void drop_conn(struct sanx_conn *conn)
{
	sanx_conn_stop(conn);
	sanx_conn_put(conn);
}

/**
 * sanx_sock_free() - free the AF_SANX part of a socket that is released
 * @ss: it; its connections are closed
 *
 * Context: process, may sleep.
 */
void sanx_sock_free(struct sanx_sock *ss)
{
	struct sanx_conn *conn, *next;

	/* Nobody watches any more who could queue it again. */
	cancel_work_sync(&ss->lsk.end);
	list_for_each_entry_safe(conn, next, &ss->old, node)
		drop_conn(conn);
	if (ss->conn)
		drop_conn(ss->conn);
	kfree(ss);
}

/**
 * sanx_native_graft() - move a native socket's sock into another socket
 * @native: the native socket; an empty shell without ops after this
 * @sock: takes its sock
 * @ss: its AF_SANX part
 *
 * Not sock_orphan(): that would mark the sock dead, and wake-ups would stop.
 */
void sanx_native_graft(struct socket *native, struct socket *sock,
		       struct sanx_sock *ss)
{
	struct sock *sk = native->sk;

	native->sk = NULL;
	if (test_bit(SOCK_SUPPORT_ZC, &native->flags))
		set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	sock_graft(sk, sock);
	/* ss->native has the reference. */
	native->ops = NULL;

	SOCK_INODE(sock)->i_private = ss;
	sock->ops = &sanx_stream_ops;
	if (sk->sk_family == AF_INET6) {
		WRITE_ONCE(sanx_inet6_ops, ss->native);
		sock->ops = &sanx_stream6_ops;
	}
}

/* @shell: the file that it has, or NULL */
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
	/* What the kernel does with a socket of its own no policy is asked about. */
	if (!kern && sanx_label_due(native->sk))
		shell = sock_alloc_file(native, 0, NULL);
	/* Then @native is gone. */
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
	return 0;
}

static struct net_proto_family sanx_proto_family __ro_after_init = {
	.create	= sanx_create,
	.owner	= THIS_MODULE,
};

int __init sanx_family_init(void)
{
	/* AF_UNSPEC is no family, but sock_register() would take it for one. */
	if (!sanx_family)
		return -EINVAL;
	sanx_proto_family.family = sanx_family;
	return sock_register(&sanx_proto_family);
}

void sanx_family_exit(void)
{
	sock_unregister(sanx_family);
}
