// SPDX-License-Identifier: GPL-2.0
/*
 * accept(): whichever comes first, a connection of AF_SANX or of plain TCP
 * (sci-socket.txt 5.1.6).  The latter leaves as an ordinary TCP socket.
 */
#include <linux/module.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "config/config.h"
#include "internal.h"

static bool accept_ready(const struct sanx_sock *ss)
{
	struct inet_connection_sock *icsk = inet_csk(ss->sk);

	return sanx_listener_waiting(&ss->lsk) ||
	       !reqsk_queue_empty(&icsk->icsk_accept_queue);
}

/* Waits as inet_csk_wait_for_connect(): exclusively, one wake-up one waiter. */
static int accept_wait(struct sanx_sock *ss, long *timeo)
{
	struct sock *sk = ss->sk;
	DEFINE_WAIT(wait);
	int err = 0;

	if (!*timeo)
		return -EAGAIN;
	prepare_to_wait_exclusive(sk_sleep(sk), &wait, TASK_INTERRUPTIBLE);
	if (!accept_ready(ss)) {
		if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
			err = -EINVAL;
		else if (signal_pending(current))
			err = sock_intr_errno(*timeo);
		else
			*timeo = schedule_timeout(*timeo);
		if (!err && !*timeo && !accept_ready(ss))
			err = -EAGAIN;
	}
	finish_wait(sk_sleep(sk), &wait);
	return err;
}

/* Makes @newsock the socket of @conn, whose reference it takes. */
static int accept_conn(struct sanx_sock *lss, struct socket *newsock,
		       struct sanx_conn *conn)
{
	struct sock *lsk = lss->sk;
	struct socket *native;
	struct sanx_sock *ss;
	int err;

	err = __sock_create(sock_net(lsk), lsk->sk_family, SOCK_STREAM,
			    IPPROTO_TCP, &native, lsk->sk_kern_sock);
	if (err)
		goto err_conn;
	err = -ENOMEM;
	ss = sanx_sock_alloc(native->sk, native->ops);
	if (!ss)
		goto err_native;
	sanx_inherit_options(native->sk, lsk);
	sanx_native_graft(native, newsock, ss);
	sock_release(native);
	sanx_label_child(ss->sk, lsk);
	newsock->state = SS_CONNECTED;
	sanx_conn_attach(conn, ss->sk);
	/* Pairs with the acquire in sanx_sock_conn(). */
	smp_store_release(&ss->conn, conn);
	sanx_socks_add(ss);
	return 0;

err_native:
	sock_release(native);
err_conn:
	sanx_conn_close(conn, true);
	/* Taken before its time of TCP_DEFER_ACCEPT was over. */
	sanx_conn_stop(conn);
	sanx_conn_put(conn);
	return err;
}

/*
 * A plain TCP connection.  newsock's reference of this module came from our
 * ops and goes with them; the listener has one of its own.  Only
 * kernel_accept() takes its reference, and sets our ops again, after us.
 */
static void accepted_native(const struct proto_ops *native,
			    struct socket *newsock, bool kern)
{
	if (!kern) {
		__module_get(native->owner);
		newsock->ops = native;
		module_put(THIS_MODULE);
	}
	/* It took the class of @newsock's inode, which is the listener's. */
	sanx_label(newsock->sk);
	sanx_stat_add(sock_net(newsock->sk),
		      SANX_STAT_FALLBACK + SANX_FALLBACK_ACCEPT, 1);
}

/* A native connection that another accept() takes first is no reason to wait. */
static int accept_native(struct sanx_sock *ss, struct socket *sock,
			 struct socket *newsock,
			 const struct proto_accept_arg *arg)
{
	struct proto_accept_arg once = *arg;
	int err;

	once.flags |= O_NONBLOCK;
	err = sanx_native_accept(ss->native, sock, newsock, &once);
	if (!err)
		accepted_native(ss->native, newsock, arg->kern);
	return err;
}

/* The listener fell back while the call was on its way: newsock has our ops. */
static int accept_fallen(struct socket *sock, struct socket *newsock,
			 struct proto_accept_arg *arg)
{
	const struct proto_ops *native = sanx_native_ops(sock);
	int err = sanx_native_accept(native, sock, newsock, arg);

	if (!err)
		accepted_native(native, newsock, arg->kern);
	return err;
}

/**
 * sanx_accept() - proto_ops.accept
 * @sock: the listening socket
 * @newsock: becomes the connection
 * @arg: flags
 *
 * Return: 0, or -errno as accept(2).
 */
int sanx_accept(struct socket *sock, struct socket *newsock,
		struct proto_accept_arg *arg)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sock *sk = sock->sk;
	struct sanx_conn *conn;
	long timeo;
	int err;

	if (!ss)
		return accept_fallen(sock, newsock, arg);
	timeo = sock_rcvtimeo(sk, arg->flags & O_NONBLOCK);
	for (;;) {
		if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
			return -EINVAL;
		conn = sanx_listener_take(&ss->lsk);
		if (conn)
			return accept_conn(ss, newsock, conn);
		if (!reqsk_queue_empty(&inet_csk(sk)->icsk_accept_queue)) {
			err = accept_native(ss, sock, newsock, arg);
			if (err != -EAGAIN)
				return err;
		}
		err = accept_wait(ss, &timeo);
		if (err)
			return err;
	}
}
