// SPDX-License-Identifier: GPL-2.0
/*
 * The address family: how its sockets are made.
 *
 * socket() makes a native TCP or UDP socket, moves its sock into the visible socket,
 * and drops the empty shell.  The visible socket gets AF_SANX's ops.  So ports,
 * options, labels and accounting are the kernel's own, and a fallback only
 * changes the ops (Documentation/overview.rst).  Datagram sockets are in dgram/.
 *
 * i_private of the inode of a stream socket points to struct sanx_sock.  It is NULL in
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
#include "dgram/dgram.h"
#include "socket_priv.h"

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
	if (ss->conn) {
		sanx_tally_conn(ss, ss->conn);
		drop_conn(ss->conn);
	}
	sanx_tally_leave(ss);
	if (ss->explicit)
		kfree_rcu(ss->explicit, rcu);
	kfree_rcu(ss, rcu);
}

/*
 * Move a native socket's sock into another socket.
 *
 * sock_orphan() would mark the sock as dead and stop wake-ups, so it is not
 * used.
 */
void sanx_native_graft(struct socket *native, struct socket *sock,
		       struct sanx_sock *ss)
{
	struct sock *sk = native->sk;

	native->sk = NULL;
	sock->flags |= native->flags & SANX_SOCK_FLAGS;
	sock_graft(sk, sock);
	/* ss->native now owns the reference of the ops' owner. */
	native->ops = NULL;

	SOCK_INODE(sock)->i_private = ss;
	sock->ops = &sanx_stream_ops;
	if (sk->sk_family == AF_INET6) {
		WRITE_ONCE(sanx_inet6_ops, ss->native);
		sock->ops = &sanx_stream6_ops;
	}
	if (ss->explicit)
		sanx_explicit_graft(sock);
}

/* @shell: the file of @native, or NULL */
static void drop_native(struct socket *native, struct file *shell)
{
	if (shell)
		fput(shell);
	else
		sock_release(native);
}

/* Makes one that is not UDP's, but for sendmsg(). */
static int create_own(struct socket *native, struct socket *sock, bool explicit)
{
	struct sanx_sock *ss = sanx_sock_alloc(native->sk, native->ops);

	if (!ss)
		return -ENOMEM;
	if (explicit && sanx_explicit_make(ss, sock->type)) {
		sanx_sock_free(ss);
		return -ENOMEM;
	}
	sanx_native_graft(native, sock, ss);
	sanx_socks_add(ss);
	/* After it is counted: the namespace stops serving when there is no socket. */
	if (sock->type == SOCK_DGRAM)
		sanx_carriers_serve(sock_net(ss->sk));
	return 0;
}

/* Return: IPPROTO_TCP or IPPROTO_UDP, of which the sock is, or -errno. */
static int native_protocol(int type, int protocol)
{
	int inet;

	if (type == SOCK_STREAM)
		inet = IPPROTO_TCP;
	else if (type == SOCK_DGRAM)
		inet = IPPROTO_UDP;
	else if (type == SOCK_SEQPACKET && protocol == SANXPROTO_EXPLICIT)
		inet = IPPROTO_TCP;
	else
		return -ESOCKTNOSUPPORT;
	if (protocol != SANXPROTO_INET && protocol != SANXPROTO_INET6 &&
	    protocol != SANXPROTO_EXPLICIT && protocol != inet)
		return -EPROTONOSUPPORT;
	return inet;
}

/*
 * Makes @sock one with the sock of @native.
 * @shell: the file of @native, or NULL
 */
static int adopt(struct socket *native, struct socket *sock, struct file *shell,
		 bool explicit)
{
	int err;

	err = sock->type == SOCK_DGRAM && !explicit ? sanx_dgram_adopt(native, sock) :
						      create_own(native, sock, explicit);
	if (!err && shell)
		sanx_label_later(native, sock->sk);
	return err;
}

static int sanx_create(struct net *net, struct socket *sock, int protocol,
		       int kern)
{
	int family = protocol == SANXPROTO_INET6 ? AF_INET6 : AF_INET;
	bool explicit = protocol == SANXPROTO_EXPLICIT;
	struct socket *native;
	struct file *shell = NULL;
	int err;

	err = native_protocol(sock->type, protocol);
	if (err < 0)
		return err;
	err = __sock_create(net, family, err == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM, err,
			    &native, kern);
	if (err)
		return err;
	/* A security policy does not apply to a kernel socket, and TCP's not to explicit ones. */
	if (!kern && !explicit && sanx_label_due(native->sk))
		shell = sock_alloc_file(native, 0, NULL);
	/* sock_alloc_file() has released @native. */
	if (IS_ERR(shell))
		return PTR_ERR(shell);
	err = adopt(native, sock, shell, explicit);
	drop_native(native, shell);
	if (!err)
		sanx_cov_opener(net);
	return err;
}

static struct net_proto_family sanx_proto_family __ro_after_init = {
	.create	= sanx_create,
	.owner	= THIS_MODULE,
};

/* The number of the family, which is that of addresses of explicit sockets. */
u16 sanx_family_number(void)
{
	return sanx_family;
}

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
