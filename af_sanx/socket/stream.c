// SPDX-License-Identifier: GPL-2.0
/*
 * Stream sockets: the proto_ops tables, and the short calls.
 *
 * Each call first asks sanx_sk() whether the socket is TCP.  A fallback can run
 * while another call has already loaded AF_SANX's ops.  Such a call continues
 * as a call of the native socket.
 */
#include <linux/module.h>
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "socket_priv.h"

/**
 * sanx_sk() - the AF_SANX part of a socket
 * @sock: the socket of a call that came through AF_SANX's ops
 *
 * Context: any.
 * Return: it, valid until the socket is released; or NULL if the socket is TCP,
 * from the start or after a fallback.  Then the call belongs to
 * sanx_native_ops().
 */
struct sanx_sock *sanx_sk(struct socket *sock)
{
	/*
	 * Pairs with smp_store_release() in sanx_fallback_adopt(): a caller
	 * that loads the pointer also sees ss->fell_back.
	 */
	struct sanx_sock *ss = READ_ONCE(SOCK_INODE(sock)->i_private);

	return ss && !READ_ONCE(ss->fell_back) ? ss : NULL;
}

/**
 * sanx_native_ops() - the ops of the native socket
 * @sock: the socket, with a sock
 *
 * Valid for sockets that are TCP, and for others too: each has a native socket
 * from the start.
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
 * Context: any.
 * Return: the connection, valid until the socket is released, or NULL.
 */
struct sanx_conn *sanx_sock_conn(const struct sanx_sock *ss)
{
	/*
	 * Pairs with smp_store_release() in start() of connect.c and in
	 * accept_conn(): the connection is set up before it becomes visible.
	 */
	return smp_load_acquire(&ss->conn);
}

/**
 * sanx_sock_connecting() - may a socket still become either AF_SANX's or TCP?
 * @ss: the socket's AF_SANX part
 * @conn: its connection
 *
 * Context: any.
 * Return: true from connect() until the peer accepted, or until the socket is
 * TCP after a refusal.
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

/*
 * Drop a socket's connection, so that it can connect again.  lock_sock() held.
 *
 * For a failed connect() and for connect(AF_UNSPEC).  Other calls may still use
 * the dead connection, so its reference moves to @ss->old and is put with @ss.
 */
void sanx_sock_forget(struct socket *sock, struct sanx_sock *ss)
{
	struct sanx_conn *conn = ss->conn;
	struct sock *sk = sock->sk;

	conn->ss = NULL;
	sanx_conn_detach(conn);
	sanx_feed_stop(conn, sk);
	sanx_conn_close(conn, true);
	sanx_tally_conn(ss, conn);
	list_add(&conn->node, &ss->old);
	ss->n_old++;
	WRITE_ONCE(ss->conn, NULL);
	sanx_ends_forget(ss);
	WRITE_ONCE(sk->sk_shutdown, 0);
	WRITE_ONCE(sock->state, SS_UNCONNECTED);
	/* The connection no longer wakes anyone: wake its waiters here. */
	sk->sk_state_change(sk);
}

static int sanx_bind(struct socket *sock, struct sockaddr *uaddr, int len)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_conn *conn = ss ? sanx_sock_conn(ss) : NULL;

	/*
	 * TCP refuses bind() on a connected socket.  The native socket is not
	 * connected, so refuse it here.
	 */
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
	/*
	 * With @peer 2, accept() asks for the address of a peer that may
	 * already be gone, as over TCP.
	 */
	if (peer == 1 && sanx_conn_over(conn))
		return -ENOTCONN;
	return sanx_endpoint_fill(&conn->remote, sock->sk->sk_family, uaddr);
}

/*
 * Is there room, and are fewer bytes unsent than TCP_NOTSENT_LOWAT?  A false
 * answer arms sanx_conn_tx_ready(), see sanx_transport_ops.room().
 */
static bool poll_room(struct sanx_conn *conn, const struct sock *sk)
{
	if (!sanx_conn_open(conn) || !sanx_hold_room(conn, SANX_ROOM_SPARE))
		return false;
	if (sanx_sk_records(sk) && !sanx_conn_affords(conn))
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

	/*
	 * Not sk_err, which is stored before the state (sanx_conn_reset()):
	 * EPOLLERR alone would be half of the answer.  A wake-up follows when
	 * this state ends.
	 */
	if (sanx_sock_connecting(ss, conn))
		return 0;
	mask = sanx_urg_poll(conn, sk, &avail);
	if (shutdown == SHUTDOWN_MASK || !sanx_conn_open(conn))
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (sanx_sk_records(sk) ? sanx_record_poll(ss, conn) : sanx_conn_readable(conn, sk, avail))
		mask |= EPOLLIN | EPOLLRDNORM;
	if ((shutdown & SEND_SHUTDOWN) || READ_ONCE(conn->peer_gone) ||
	    poll_writable(conn, sk))
		mask |= EPOLLOUT | EPOLLWRNORM;
	/*
	 * Load the state, above, before sk_err.  Pairs with smp_wmb() in
	 * sanx_conn_reset().
	 */
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
	/*
	 * Enter the wait queue before loading the state.  Pairs with the
	 * barrier in skwq_has_sleeper() of the wake-ups.
	 */
	sock_poll_wait(file, sock, wait);
	conn = sanx_sock_conn(ss);
	if (conn) {
		mask = poll_conn(ss, conn);
		sanx_liveness_wait(conn, ss->sk);
		/*
		 * As recv() before it waits: the answer may depend on bytes
		 * that are coalesced.
		 */
		if (!(mask & EPOLLIN) &&
		    poll_requested_events(wait) & (EPOLLIN | EPOLLRDNORM))
			sanx_hold_answer(conn);
		/*
		 * After a fallback the connection is dead, and only TCP knows
		 * the state.
		 */
		if (!READ_ONCE(ss->fell_back))
			return mask;
	}
	/* NULL: the caller is in the wait queue already. */
	mask = ss->native->poll(file, sock, NULL);
	if (sanx_listener_waiting(&ss->lsk))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

/*
 * What ioctl() and io_uring ask about a connection.
 * Return: 0, or -ENOIOCTLCMD if TCP has the answer.
 */
int sanx_sock_ask(struct sanx_sock *ss, unsigned int cmd, int *answer)
{
	struct sanx_conn *conn = sanx_sock_conn(ss);

	if (!conn || sanx_sock_connecting(ss, conn))
		return -ENOIOCTLCMD;
	switch (cmd) {
	case SIOCINQ:
		*answer = sanx_sk_records(ss->sk) ? sanx_record_inq(ss, conn) :
						    sanx_urg_inq(conn, ss->sk);
		return 0;
	case SIOCOUTQ:
		*answer = sanx_conn_outq(conn);
		return 0;
	case SIOCOUTQNSD:
		*answer = sanx_conn_unsent(conn);
		return 0;
	case SIOCATMARK:
		*answer = sanx_urg_at_mark(conn, READ_ONCE(conn->rx.head));
		return 0;
	default:
		return -ENOIOCTLCMD;
	}
}

static int sanx_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sanx_sock *ss = sanx_sk(sock);
	int answer;

	if (!ss)
		return sanx_native_ops(sock)->ioctl(sock, cmd, arg);
	if (sanx_sock_ask(ss, cmd, &answer))
		return ss->native->ioctl(sock, cmd, arg);
	return put_user(answer, (int __user *)arg);
}

#ifdef CONFIG_COMPAT
static int sanx_compat_ioctl(struct socket *sock, unsigned int cmd,
			     unsigned long arg)
{
	struct sanx_sock *ss = sanx_sk(sock);
	const struct proto_ops *ops = sanx_native_ops(sock);

	/*
	 * sanx_ioctl() takes a pointer to int, which compat tasks have as well.
	 */
	if (ss && (cmd == SIOCINQ || cmd == SIOCOUTQ || cmd == SIOCOUTQNSD ||
		   cmd == SIOCATMARK))
		return sanx_ioctl(sock, cmd, (unsigned long)compat_ptr(arg));
	return ops->compat_ioctl ? ops->compat_ioctl(sock, cmd, arg) :
				   -ENOIOCTLCMD;
}
#endif

/* As over TCP in SYN-SENT: the attempt ends, and the call succeeds. */
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
	/*
	 * SHUT_RD, SHUT_WR and SHUT_RDWR plus 1 are RCV_SHUTDOWN, SEND_SHUTDOWN
	 * and both.
	 */
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
	if (READ_ONCE(ss->fell_back) || ss->conn != conn) {
		err = 1;
	} else if (sanx_sock_connecting(ss, conn)) {
		err = shutdown_connecting(sock, ss);
	} else {
		err = sanx_conn_shutdown(conn, how + 1);
		/* As inet_shutdown(): a later connect() says EISCONN, or EINVAL. */
		if (sock->state == SS_CONNECTING)
			WRITE_ONCE(sock->state, err ? SS_DISCONNECTING : SS_CONNECTED);
	}
	release_sock(sk);
	return err > 0 ? ss->native->shutdown(sock, how) : err;
}

/*
 * Releases a TCP socket whose call still came through AF_SANX's ops.
 *
 * After a fallback, two references of this module are put: the reaper puts one,
 * and the caller puts one for the owner of the ops that it loaded.  Only one
 * was taken, so take another.  On the other hand nobody puts the reference of
 * the owner of the present ops, so put it here.
 *
 * Only a kernel socket comes here, since it has no file.  For a socket with a
 * file, sanx_fallback_work() holds the file until the ops were changed.
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
 * SO_LINGER: waits until the peer has received everything.  As over TCP, this
 * applies to non-blocking sockets too, but not to a program that exits, and not
 * if unread bytes turn the close into a reset.
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

int sanx_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct sanx_conn *conn;
	struct sanx_sock *ss;
	bool reset;
	int err;

	/*
	 * accept() leaves our ops and no sock in a socket that it did not fill.
	 */
	if (!sk)
		return 0;
	ss = sanx_sk(sock);
	if (!ss)
		return release_native(sock);

	conn = sanx_sock_conn(ss);
	if (conn)
		release_linger(ss, conn);
	/* The connect thread uses the socket under this lock. */
	lock_sock(sk);
	if (READ_ONCE(ss->fell_back)) {
		release_sock(sk);
		return release_native(sock);
	}
	sanx_listener_pause(&ss->lsk);
	reset = sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime;
	conn = ss->conn;
	if (conn) {
		conn->ss = NULL;
		sanx_conn_detach(conn);
		reset |= sanx_feed_stop(conn, sk);
	}
	sanx_ends_forget(ss);
	release_sock(sk);

	if (conn)
		sanx_conn_close(conn, reset);
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

#define ALL_OPS(family_)				\
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
	SANX_PROTO_SENDPAGE				\
	.mmap		= sock_no_mmap

/* The two tables differ in proto_ops.family only. */
#define STREAM_OPS(family_)				\
	ALL_OPS(family_),				\
	SANX_PROTO_PEEK_OFF				\
	.set_rcvlowat	= sanx_set_rcvlowat,		\
	.sendmsg	= sanx_sendmsg,			\
	.recvmsg	= sanx_recvmsg

const struct proto_ops sanx_stream_ops = {
	STREAM_OPS(AF_INET),
};

const struct proto_ops sanx_stream6_ops = {
	STREAM_OPS(AF_INET6),
};

/* Of explicit sockets only; all of them have this family. */
const struct proto_ops sanx_seqpacket_ops = {
	ALL_OPS(AF_INET),
	.set_rcvlowat	= sanx_record_set_rcvlowat,
	.sendmsg	= sanx_record_sendmsg,
	.recvmsg	= sanx_record_recvmsg,
};
