// SPDX-License-Identifier: GPL-2.0
/*
 * accept(): returns the connection that comes first, AF_SANX or plain TCP
 * (sci-socket.txt 5.1.6).  A TCP connection becomes an ordinary TCP socket.
 */
#include <linux/module.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "config/config.h"
#include "socket_priv.h"

static bool accept_ready(const struct sanx_sock *ss)
{
	struct inet_connection_sock *icsk = inet_csk(ss->sk);

	return sanx_listener_waiting(&ss->lsk) ||
	       !reqsk_queue_empty(&icsk->icsk_accept_queue);
}

/*
 * As inet_csk_wait_for_connect(): an exclusive waiter, so that one connection
 * wakes one waiter.
 * @timeo: rest of the timeout in jiffies; 0 not to wait
 * Return: 0 to look again, or -errno.
 */
static int accept_wait(struct sanx_sock *ss, long *timeo)
{
	struct sock *sk = ss->sk;
	DEFINE_WAIT(wait);
	int err = 0;

	/* Another accept() may have taken one of TCP's that was to be the first. */
	if (!*timeo)
		return accept_ready(ss) ? 0 : -EAGAIN;
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

/*
 * Makes @newsock the socket of @conn, as sanx_listener_take() returned it, and
 * takes the caller's reference of @conn, also on failure.
 * Return: 0 or -errno.
 */
static int accept_conn(struct sanx_sock *lss, struct socket *newsock,
		       struct sanx_conn *conn)
{
	struct sock *lsk = lss->sk;
	struct socket *native;
	struct sanx_sock *ss;
	int err;

	err = __sock_create(sock_net(lsk), lss->explicit ? AF_INET : lsk->sk_family, SOCK_STREAM,
			    IPPROTO_TCP, &native, lsk->sk_kern_sock);
	if (err)
		goto err_conn;
	err = -ENOMEM;
	ss = sanx_sock_alloc(native->sk, native->ops);
	if (!ss)
		goto err_native;
	sanx_inherit_options(native->sk, lsk);
	if (lss->explicit)
		err = sanx_explicit_accept(ss, lsk->sk_type);
	else
		err = sanx_ends_accept(ss, lsk, conn);
	if (err) {
		sanx_sock_free(ss);
		goto err_native;
	}
	sanx_tally_child(ss, lss);
	sanx_native_graft(native, newsock, ss);
	sock_release(native);
	sanx_label_child(ss->sk, lsk);
	newsock->state = SS_CONNECTED;
	sanx_conn_attach(conn, ss->sk);
	/*
	 * The connection is set up before it is published.  Pairs with
	 * smp_load_acquire() in sanx_sock_conn().
	 */
	smp_store_release(&ss->conn, conn);
	sanx_ends_show(ss);
	sanx_socks_add(ss);
	/* In this order: sanx_denied_end() looks there first. */
	sanx_listener_taken(&lss->lsk, conn);
	return 0;

err_native:
	sock_release(native);
err_conn:
	sanx_listener_taken(&lss->lsk, conn);
	sanx_conn_close(conn, true);
	/* Its TCP_DEFER_ACCEPT work may still be queued. */
	sanx_conn_stop(conn);
	sanx_conn_put(conn);
	return err;
}

/*
 * Makes the socket of a TCP connection ordinary TCP.  The reference of this
 * module that newsock->ops holds is put with the ops; the listener holds its
 * own.  kernel_accept() (@kern) takes its reference, and stores our ops again,
 * after this function.
 */
static void accepted_native(const struct proto_ops *native,
			    struct socket *newsock, bool kern)
{
	if (!kern) {
		__module_get(native->owner);
		newsock->ops = native;
		module_put(THIS_MODULE);
	}
	/*
	 * The sock got the class of @newsock's inode, which is the listener's.
	 */
	sanx_label(newsock->sk);
	sanx_stat_add(sock_net(newsock->sk),
		      SANX_STAT_FALLBACK + SANX_FALLBACK_ACCEPT, 1);
}

/* Does not wait: another accept() may take the TCP connection first. */
static int accept_native(struct sanx_sock *ss, struct socket *sock,
			 struct socket *newsock,
			 const struct proto_accept_arg *arg)
{
	struct proto_accept_arg once = *arg;
	int err;

	once.flags |= O_NONBLOCK;
	err = sanx_native_accept(ss->native, sock, newsock, &once);
	if (!err) {
		sanx_listener_native_taken(&ss->lsk);
		accepted_native(ss->native, newsock, arg->kern);
		sanx_tally_fallback(ss, newsock->sk, NULL, SANX_FALLBACK_ACCEPT);
	}
	return err;
}

/* The listener fell back during the call.  @newsock still has AF_SANX's ops. */
static int accept_fallen(struct socket *sock, struct socket *newsock,
			 struct proto_accept_arg *arg)
{
	const struct proto_ops *native = sanx_native_ops(sock);
	int err = sanx_native_accept(native, sock, newsock, arg);

	if (!err)
		accepted_native(native, newsock, arg->kern);
	return err;
}

/* Waits for the next connection, of whichever kind. */
static int accept_next(struct sanx_sock *ss, struct socket *sock,
		       struct socket *newsock,
		       const struct proto_accept_arg *arg)
{
	struct sock *sk = sock->sk;
	long timeo = sock_rcvtimeo(sk, arg->flags & O_NONBLOCK);
	struct sanx_conn *conn;
	int err;

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

/**
 * sanx_accept() - proto_ops.accept
 * @sock: the listening socket
 * @newsock: becomes the connection's socket
 * @arg: flags; is_empty is set to whether none waits any more, which io_uring hands on
 *	(IORING_CQE_F_SOCK_NONEMPTY)
 *
 * Context: process, may sleep.
 * Return: 0, or -errno as in accept(2).
 */
int sanx_accept(struct socket *sock, struct socket *newsock,
		struct proto_accept_arg *arg)
{
	struct sanx_sock *ss = sanx_sk(sock);
	int err;

	if (!ss)
		return accept_fallen(sock, newsock, arg);
	err = accept_next(ss, sock, newsock, arg);
	if (!err)
		arg->is_empty = !accept_ready(ss);
	return err;
}
