// SPDX-License-Identifier: GPL-2.0
/*
 * Stream sockets: the table of socket calls, and the short ones of them.
 *
 * Every call asks first whether the socket fell back (sanx_sk() is NULL): a
 * call that was on its way in while another made the socket TCP goes on as a
 * call of the native socket.
 */
#include <linux/module.h>
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "internal.h"

/**
 * sanx_sk() - the AF_SANX part of a socket
 * @sock: the socket, of a call that came in by AF_SANX's ops
 *
 * Return: it, or NULL if the socket is TCP, by now or from the start; then the
 * call is one for sanx_native_ops().
 */
struct sanx_sock *sanx_sk(struct socket *sock)
{
	/* Pairs with the release in sanx_fallback_adopt(). */
	struct sanx_sock *ss = READ_ONCE(SOCK_INODE(sock)->i_private);

	return ss && !READ_ONCE(ss->fell_back) ? ss : NULL;
}

/**
 * sanx_native_ops() - the ops of a socket that sanx_sk() says is TCP
 * @sock: the socket, with a sock
 *
 * Also of one that is not: the native socket is there from the start.
 *
 * Return: the native socket's ops.
 */
const struct proto_ops *sanx_native_ops(struct socket *sock)
{
	struct sanx_sock *ss = READ_ONCE(SOCK_INODE(sock)->i_private);

	if (ss)
		return ss->native;
	return READ_ONCE(sock->sk->sk_family) == AF_INET ?
	       &inet_stream_ops : READ_ONCE(sanx_inet6_ops);
}

/**
 * sanx_sock_conn() - the connection of a socket
 * @ss: the socket's AF_SANX part
 *
 * Return: a connection that stays until the socket is released, or NULL.
 */
struct sanx_conn *sanx_sock_conn(const struct sanx_sock *ss)
{
	/* Pairs with the releases in connect and accept. */
	return smp_load_acquire(&ss->conn);
}

/**
 * sanx_sock_connecting() - is it not decided yet what a socket becomes?
 * @ss: the socket's AF_SANX part
 * @conn: its connection
 *
 * Return: true from connect() until the peer accepted, or the socket is TCP.
 */
bool sanx_sock_connecting(const struct sanx_sock *ss,
			  const struct sanx_conn *conn)
{
	switch (READ_ONCE(conn->state)) {
	case SANX_CONN_CONNECTING:
		return true;
	case SANX_CONN_REFUSED:
		return !READ_ONCE(ss->fell_back);
	default:
		return false;
	}
}

/**
 * sanx_sock_forget() - drop a socket's connection; it can connect again
 * @sock: the socket
 * @ss: its AF_SANX part, with a connection
 *
 * What a failed connect() and connect(AF_UNSPEC) leave.  Calls under way keep
 * using the connection, dead as it is; it goes with the socket.
 *
 * Context: process, lock_sock() held.
 */
void sanx_sock_forget(struct socket *sock, struct sanx_sock *ss)
{
	struct sanx_conn *conn = ss->conn;
	struct sock *sk = sock->sk;

	conn->ss = NULL;
	sanx_conn_detach(conn);
	sanx_conn_close(conn, true);
	list_add(&conn->node, &ss->old);
	ss->n_old++;
	WRITE_ONCE(ss->conn, NULL);
	sanx_unbind_auto(ss);
	WRITE_ONCE(sk->sk_shutdown, 0);
	WRITE_ONCE(sock->state, SS_UNCONNECTED);
	/* Detached, the connection wakes nobody: those who wait on it. */
	sk->sk_state_change(sk);
}

static int sanx_bind(struct socket *sock, struct sockaddr *uaddr, int len)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_conn *conn = ss ? sanx_sock_conn(ss) : NULL;

	/* TCP refuses a connected socket, which to the native one we are not. */
	if (conn && READ_ONCE(sock->state) != SS_UNCONNECTED)
		return -EINVAL;
	return sanx_native_ops(sock)->bind(sock, uaddr, len);
}

static int sanx_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_conn *conn;

	if (!ss)
		return sanx_native_ops(sock)->getname(sock, uaddr, peer);
	conn = sanx_sock_conn(ss);
	if (!conn || READ_ONCE(conn->state) == SANX_CONN_REFUSED)
		return ss->native->getname(sock, uaddr, peer);
	if (!peer)
		return sanx_endpoint_fill(&conn->local, sock->sk->sk_family,
					  uaddr);
	/* accept() names a peer that is gone already (2), as TCP does. */
	if (peer == 1 && sanx_conn_over(conn))
		return -ENOTCONN;
	return sanx_endpoint_fill(&conn->remote, sock->sk->sk_family, uaddr);
}

/* Room, and no more than TCP_NOTSENT_LOWAT not sent; asking arms the wake-up. */
static bool poll_room(struct sanx_conn *conn, const struct sock *sk)
{
	if (!sanx_conn_open(conn) || !conn->ops->room(conn, SANX_ROOM_SPARE))
		return false;
	return sanx_conn_unsent(conn) < tcp_notsent_lowat(tcp_sk(sk)) ||
	       conn->ops->drained(conn);
}

static bool poll_writable(struct sanx_conn *conn, struct sock *sk)
{
	if (poll_room(conn, sk))
		return true;
	sanx_want_room(sk);
	return poll_room(conn, sk);
}

static __poll_t poll_conn(struct sanx_sock *ss, struct sanx_conn *conn)
{
	struct sock *sk = ss->sk;
	u8 shutdown = READ_ONCE(conn->shutdown);
	u32 avail = sanx_rxq_avail(&conn->rx);
	__poll_t mask;

	if (sanx_sock_connecting(ss, conn))
		return READ_ONCE(sk->sk_err) ? EPOLLERR : 0;
	mask = sanx_urg_poll(conn, sk, &avail);
	if (shutdown == SHUTDOWN_MASK || !sanx_conn_open(conn))
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	/* More than half a ring need never gather: it must not be waited for. */
	if (avail && avail >= min_t(u32, sock_rcvlowat(sk, 0, INT_MAX),
				    READ_ONCE(conn->rx_max) / 2))
		mask |= EPOLLIN | EPOLLRDNORM;
	if ((shutdown & SEND_SHUTDOWN) || READ_ONCE(conn->peer_gone) ||
	    poll_writable(conn, sk))
		mask |= EPOLLOUT | EPOLLWRNORM;
	/* Pairs with sanx_conn_reset(). */
	smp_rmb();
	if (READ_ONCE(sk->sk_err) ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

static __poll_t sanx_poll(struct file *file, struct socket *sock,
			  struct poll_table_struct *wait)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_conn *conn;
	__poll_t mask;

	if (!ss)
		return sanx_native_ops(sock)->poll(file, sock, wait);
	/* Whatever becomes of it from here on wakes the caller. */
	sock_poll_wait(file, sock, wait);
	conn = sanx_sock_conn(ss);
	if (conn) {
		mask = poll_conn(ss, conn);
		sanx_alive_wait(conn, ss->sk);
		/* As recv() that is about to wait. */
		if (conn->ops->push && !(mask & EPOLLIN) &&
		    poll_requested_events(wait) & (EPOLLIN | EPOLLRDNORM))
			conn->ops->push(conn);
		/* A connection that died of a fallback says nothing of TCP. */
		if (!READ_ONCE(ss->fell_back))
			return mask;
	}
	/* It waits already. */
	mask = ss->native->poll(file, sock, NULL);
	if (sanx_listener_waiting(&ss->lsk))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

static int ioctl_conn(const struct sanx_sock *ss, struct sanx_conn *conn,
		      unsigned int cmd, int __user *arg)
{
	u32 n;

	switch (cmd) {
	case SIOCINQ:
		n = sanx_urg_inq(conn, ss->sk);
		break;
	case SIOCOUTQ:
		n = sanx_conn_outq(conn);
		break;
	case SIOCOUTQNSD:
		n = sanx_conn_unsent(conn);
		break;
	case SIOCATMARK:
		n = sanx_urg_at_mark(conn, READ_ONCE(conn->rx.head));
		break;
	default:
		return -ENOIOCTLCMD;
	}
	return put_user(n, arg);
}

static int sanx_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_conn *conn;
	int err;

	if (!ss)
		return sanx_native_ops(sock)->ioctl(sock, cmd, arg);
	conn = sanx_sock_conn(ss);
	if (conn && !sanx_sock_connecting(ss, conn)) {
		err = ioctl_conn(ss, conn, cmd, (int __user *)arg);
		if (err != -ENOIOCTLCMD)
			return err;
	}
	return ss->native->ioctl(sock, cmd, arg);
}

#ifdef CONFIG_COMPAT
static int sanx_compat_ioctl(struct socket *sock, unsigned int cmd,
			     unsigned long arg)
{
	struct sanx_sock *ss = sanx_sk(sock);
	const struct proto_ops *ops = sanx_native_ops(sock);

	/* What ioctl_conn() answers is the same for both: a pointer to int. */
	if (ss && (cmd == SIOCINQ || cmd == SIOCOUTQ || cmd == SIOCOUTQNSD ||
		   cmd == SIOCATMARK))
		return sanx_ioctl(sock, cmd, (unsigned long)compat_ptr(arg));
	return ops->compat_ioctl ? ops->compat_ioctl(sock, cmd, arg) :
				   -ENOIOCTLCMD;
}
#endif

/* As TCP in SYN-SENT: the attempt ends and the call succeeds. */
static int shutdown_connecting(struct socket *sock, struct sanx_sock *ss)
{
	WRITE_ONCE(sock->sk->sk_err, ECONNRESET);
	sanx_sock_forget(sock, ss);
	return 0;
}

static int sanx_shutdown(struct socket *sock, int how)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sock *sk = sock->sk;
	struct sanx_conn *conn;
	int err;

	if (!ss)
		return sanx_native_ops(sock)->shutdown(sock, how);
	/* SHUT_RD, SHUT_WR, SHUT_RDWR to RCV_SHUTDOWN, SEND_SHUTDOWN, both */
	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	conn = sanx_sock_conn(ss);
	if (!conn) {
		err = ss->native->shutdown(sock, how);
		if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
			sanx_listener_stop(&ss->lsk);
		return err;
	}
	lock_sock(sk);
	if (READ_ONCE(ss->fell_back) || ss->conn != conn)
		err = 1;
	else if (sanx_sock_connecting(ss, conn))
		err = shutdown_connecting(sock, ss);
	else
		err = sanx_conn_shutdown(conn, how + 1);
	release_sock(sk);
	return err > 0 ? ss->native->shutdown(sock, how) : err;
}

/*
 * A socket that is TCP, and still came here.  If it fell back, its reaper puts
 * the module, and so does the caller, who looked at the owner of our ops: that
 * is one for each; and nobody puts the owner of the ops that it has now.  The
 * file keeps the two apart (sanx_fallback_work()), so this is a kernel socket,
 * which has none.
 */
static int release_native(struct socket *sock)
{
	struct module *owner = NULL;
	int err;

	if (SOCK_INODE(sock)->i_private) {
		__module_get(THIS_MODULE);
		owner = READ_ONCE(sock->ops)->owner;
	}
	err = sanx_native_ops(sock)->release(sock);
	module_put(owner);
	return err;
}

/*
 * SO_LINGER: close() waits until the peer has it all.  As in TCP, it does so
 * on non-blocking sockets too, and not when a program exits, nor where unread
 * bytes make it a reset.
 */
static void release_linger(const struct sanx_sock *ss, struct sanx_conn *conn)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = ss->sk;
	long timeo = sk->sk_lingertime;

	if (!sock_flag(sk, SOCK_LINGER) || !timeo || !conn->ops->drained ||
	    (current->flags & PF_EXITING) || sanx_rxq_avail(&conn->rx) ||
	    !sanx_conn_open(conn))
		return;
	sanx_conn_shutdown(conn, SHUTDOWN_MASK);
	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		sanx_want_room(sk);
		if (conn->ops->drained(conn) || !sanx_conn_open(conn) ||
		    signal_pending(current) || !timeo)
			break;
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
}

static int sanx_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct sanx_conn *conn;
	struct sanx_sock *ss;
	int err;

	/* A socket that accept() did not fill has our ops and nothing else. */
	if (!sk)
		return 0;
	ss = sanx_sk(sock);
	if (!ss)
		return release_native(sock);

	conn = sanx_sock_conn(ss);
	if (conn)
		release_linger(ss, conn);
	/* The connect thread works on the socket under the lock. */
	lock_sock(sk);
	if (READ_ONCE(ss->fell_back)) {
		release_sock(sk);
		return release_native(sock);
	}
	sanx_listener_pause(&ss->lsk);
	conn = ss->conn;
	if (conn) {
		conn->ss = NULL;
		sanx_conn_detach(conn);
	}
	sanx_unbind_auto(ss);
	release_sock(sk);

	if (conn)
		sanx_conn_close(conn, sock_flag(sk, SOCK_LINGER) &&
				!sk->sk_lingertime);
	sanx_socks_del(ss, false);
	err = ss->native->release(sock);
	module_put(ss->native->owner);
	sanx_listener_stop(&ss->lsk);
	SOCK_INODE(sock)->i_private = NULL;
	sanx_sock_free(ss);
	return err;
}

#ifdef CONFIG_COMPAT
#define COMPAT_IOCTL	.compat_ioctl = sanx_compat_ioctl,
#else
#define COMPAT_IOCTL
#endif

SANX_DEFINE_ACCEPT(sanx_accept);

/* The families differ in what proto_ops.family says, and in nothing else. */
#define STREAM_OPS(family_)				\
	.family		= (family_),			\
	.owner		= THIS_MODULE,			\
	.release	= sanx_release,			\
	.bind		= sanx_bind,			\
	.connect	= sanx_connect,			\
	.socketpair	= sock_no_socketpair,		\
	SANX_PROTO_ACCEPT(sanx_accept),			\
	.getname	= sanx_getname,			\
	.poll		= sanx_poll,			\
	.ioctl		= sanx_ioctl,			\
	COMPAT_IOCTL					\
	.gettstamp	= sock_gettstamp,		\
	.listen		= sanx_listen,			\
	.shutdown	= sanx_shutdown,		\
	.setsockopt	= sanx_setsockopt,		\
	.getsockopt	= sanx_getsockopt,		\
	.set_rcvlowat	= sanx_set_rcvlowat,		\
	.sendmsg	= sanx_sendmsg,			\
	.recvmsg	= sanx_recvmsg,			\
	SANX_PROTO_SENDPAGE				\
	SANX_PROTO_PEEK_OFF				\
	.mmap		= sock_no_mmap

const struct proto_ops sanx_stream_ops = {
	STREAM_OPS(AF_INET),
};

const struct proto_ops sanx_stream6_ops = {
	STREAM_OPS(AF_INET6),
};
