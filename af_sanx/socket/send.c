// SPDX-License-Identifier: GPL-2.0
/*
 * Sending.  A byte that send() took is in the peer's ring, or on its way there
 * in order, also when the program closes.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "config/config.h"
#include "internal.h"

/**
 * sanx_want_room() - ask for a wake-up when there is room to send
 * @sk: the sock of an open socket
 *
 * To be asked before it is looked for room: one of the two sees the other, this
 * or sanx_conn_tx_ready().
 *
 * Context: a call on the socket.
 */
void sanx_want_room(struct sock *sk)
{
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Pairs with the barrier in sanx_conn_sk(). */
	smp_mb__after_atomic();
}

static bool send_ready(const struct sanx_sock *ss, struct sanx_conn *conn,
		       enum sanx_room which)
{
	if (sanx_sock_connecting(ss, conn))
		return false;
	return !sanx_conn_open(conn) ||
	       READ_ONCE(conn->shutdown) & SEND_SHUTDOWN ||
	       READ_ONCE(conn->peer_gone) || conn->ops->room(conn, which);
}

/* Waits for SANX_PATIENCE at most where the reader may do something, yet. */
static long send_sleep(struct wait_queue_entry *wait, enum sanx_room which,
		       long *patience, long timeo)
{
	long left;

	if (which == SANX_ROOM_SPARE)
		return wait_woken(wait, TASK_INTERRUPTIBLE, timeo);
	left = wait_woken(wait, TASK_INTERRUPTIBLE, min(*patience, timeo));
	left = *patience - min(*patience, timeo) + left;
	if (timeo != MAX_SCHEDULE_TIMEOUT)
		timeo = max(timeo - (*patience - left), 0L);
	*patience = left;
	return timeo;
}

/* Who does not wait for room here may wait for EPOLLOUT. */
static int send_look(struct sanx_sock *ss, struct sanx_conn *conn,
		     enum sanx_room which)
{
	sanx_want_room(ss->sk);
	return send_ready(ss, conn, which) ? 0 : -EAGAIN;
}

/*
 * Waits until there is room or news.  The mutex is not held meanwhile, so that
 * a sender who may not wait does not wait for one who does.
 * @which: the room that was asked for; moved to what is to be asked for next
 */
static int send_wait(struct sanx_sock *ss, struct sanx_conn *conn, long *timeo,
		     enum sanx_room *which)
{
	struct sock *sk = ss->sk;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	enum sanx_room first = SANX_ROOM_WINDOW;
	long patience = SANX_PATIENCE;
	int err = 0;

	if (!*timeo)
		return send_look(ss, conn, *which);
	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		sanx_want_room(sk);
		if (send_ready(ss, conn, *which))
			break;
		if (!patience) {
			*which = SANX_ROOM_SPARE;
			first = SANX_ROOM_SPARE;
			break;
		}
		if (!*timeo) {
			err = -EAGAIN;
			break;
		}
		if (signal_pending(current)) {
			err = sock_intr_errno(*timeo);
			break;
		}
		*timeo = send_sleep(&wait, *which, &patience, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	WRITE_ONCE(conn->room_first, first);
	return err;
}

/*
 * The peer has closed its socket.  As over TCP, the first send succeeds and
 * fetches the reset that later ones see.
 */
static ssize_t send_to_nobody(struct sanx_conn *conn, struct msghdr *msg)
{
	size_t len = msg_data_left(msg);

	iov_iter_advance(&msg->msg_iter, len);
	sanx_conn_reset(conn, ECONNRESET);
	return len;
}

/* One go at sending; under tx_mutex. */
static ssize_t send_some(struct sanx_sock *ss, struct sanx_conn *conn,
			 struct msghdr *msg, int flags)
{
	/* sk_stream_error() finds the true error. */
	if (READ_ONCE(ss->sk->sk_err))
		return -EPIPE;
	if (sanx_sock_connecting(ss, conn))
		return -EAGAIN;
	if (!sanx_conn_open(conn) ||
	    (READ_ONCE(conn->shutdown) & SEND_SHUTDOWN)) {
		/* Pairs with sanx_conn_reset(). */
		smp_rmb();
		return -EPIPE;
	}
	if (!msg_data_left(msg))
		return 0;
	if (READ_ONCE(conn->peer_gone))
		return send_to_nobody(conn, msg);
	if (unlikely(READ_ONCE(conn->alive.watch)))
		sanx_alive_send(conn, ss->sk);
	return conn->ops->send(conn, &msg->msg_iter, msg_data_left(msg), flags);
}

/* Under tx_mutex, as another thread may take the cork out meanwhile. */
static int send_flags(const struct sock *sk, const struct sanx_conn *conn,
		      const struct msghdr *msg, long timeo,
		      enum sanx_room which)
{
	int flags = msg->msg_flags & (MSG_OOB | MSG_MORE);

	if (which == SANX_ROOM_SPARE)
		flags |= SANX_MSG_SPARE;

	/* Who waits for so long at most does not wait for a device, either. */
	if (timeo != MAX_SCHEDULE_TIMEOUT)
		flags |= MSG_DONTWAIT;
	if (READ_ONCE(conn->cork.on) || msg->msg_flags & MSG_SENDPAGE_NOTLAST)
		flags |= MSG_MORE;
	if (!(tcp_sk(sk)->nonagle & TCP_NAGLE_OFF))
		flags |= MSG_BATCH;
	return flags;
}

/* @lent: moved to where the transport lends the program's pages up to. */
static ssize_t send_all(struct sanx_sock *ss, struct sanx_conn *conn,
			struct msghdr *msg, long *timeo, u64 *lent)
{
	enum sanx_room which = *timeo ? READ_ONCE(conn->room_first) :
					SANX_ROOM_SPARE;
	u64 before;
	size_t sent = 0;
	ssize_t n;

	for (;;) {
		mutex_lock(&conn->tx_mutex);
		before = conn->lent;
		n = send_some(ss, conn, msg,
			      send_flags(ss->sk, conn, msg, *timeo, which));
		if (conn->lent != before)
			*lent = conn->lent;
		mutex_unlock(&conn->tx_mutex);
		if (n >= 0) {
			sent += n;
			if (!msg_data_left(msg))
				return sent;
			if (fatal_signal_pending(current))
				return sent;
			cond_resched();
			continue;
		}
		if (n == -EAGAIN)
			n = send_wait(ss, conn, timeo, &which);
		if (n)
			return sent ?: n;
	}
}

/*
 * MSG_ZEROCOPY: the bytes are copied, as TCP does where it cannot do without,
 * so the program has its pages back at once, and is told so
 * (SO_EE_CODE_ZEROCOPY_COPIED, Documentation/networking/msg_zerocopy.rst).
 */
static int zerocopy_start(struct sock *sk, const struct msghdr *msg, size_t len,
			  struct ubuf_info **uarg)
{
	*uarg = NULL;
	/* With a ubuf of its own the caller, io_uring, notifies itself. */
	if (!(msg->msg_flags & MSG_ZEROCOPY) || !len || msg->msg_ubuf ||
	    !sock_flag(sk, SOCK_ZEROCOPY))
		return 0;
	lock_sock(sk);
	*uarg = msg_zerocopy_realloc(sk, len, NULL);
	/* It gets its number when it has sent anything: zerocopy_end(). */
	if (*uarg)
		atomic_dec(&sk->sk_zckey);
	release_sock(sk);
	if (!*uarg)
		return -ENOBUFS;
	uarg_to_msgzc(*uarg)->zerocopy = 0;
	return 0;
}

/*
 * Numbers the calls that have sent anything, without a gap.  TCP numbers a call
 * when it begins, which holds as long as calls do not overlap; ours do.
 */
static void zerocopy_end(struct sock *sk, struct ubuf_info *uarg, ssize_t sent)
{
	if (!uarg)
		return;
	lock_sock(sk);
	uarg_to_msgzc(uarg)->id = (u32)atomic_inc_return(&sk->sk_zckey) - 1;
	if (sent > 0)
		net_zcopy_put(uarg);
	else
		net_zcopy_put_abort(uarg, true);
	release_sock(sk);
}

/* Calls that only TCP can serve, before there is a connection. */
static bool wants_tcp(struct socket *sock, const struct msghdr *msg)
{
	return (msg->msg_flags & MSG_FASTOPEN) &&
	       READ_ONCE(sock->state) == SS_UNCONNECTED;
}

/**
 * sanx_sendmsg() - proto_ops.sendmsg
 * @sock: the socket
 * @msg: what to send; an address in it is ignored, as by TCP
 * @len: bytes of it
 *
 * Return: bytes taken, or -errno as tcp(7).
 */
int sanx_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sock *sk = sock->sk;
	struct sanx_reclaim scope;
	struct ubuf_info *uarg;
	struct sanx_conn *conn;
	u64 lent = 0;
	ssize_t n;
	long timeo;

	if (ss && wants_tcp(sock, msg)) {
		lock_sock(sk);
		if (!READ_ONCE(ss->fell_back) && !ss->conn &&
		    sk->sk_state == TCP_CLOSE)
			sanx_fall_back(sock, ss, SANX_FALLBACK_OPTION);
		release_sock(sk);
		ss = sanx_sk(sock);
	}
	if (!ss)
		return sanx_native_ops(sock)->sendmsg(sock, msg, len);
	conn = sanx_sock_conn(ss);
	if (!conn)
		return ss->native->sendmsg(sock, msg, len);

	n = zerocopy_start(sk, msg, len, &uarg);
	if (n)
		return n;
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	sanx_reclaim_enter(sk, &scope);
	n = send_all(ss, conn, msg, &timeo, &lent);
	sanx_reclaim_leave(&scope);
	if (lent)
		conn->ops->settle(conn, lent);
	zerocopy_end(sk, uarg, n);
	if (n > 0) {
		WRITE_ONCE(conn->tx_time, jiffies);
		this_cpu_add(conn->stats->v[SANX_STAT_TX_BYTES], n);
	}
	if (n < 0 && READ_ONCE(ss->fell_back))
		return sanx_native_ops(sock)->sendmsg(sock, msg, len);
	return n < 0 ? sk_stream_error(sk, msg->msg_flags, n) : n;
}

/**
 * sanx_splice_eof() - proto_ops.splice_eof: sendfile() announced more than the
 *	file had
 * @sock: the socket
 *
 * Kernels before 6.5 leave that to the cork's time, for TCP too.
 *
 * Context: process, may sleep.
 */
void sanx_splice_eof(struct socket *sock)
{
	struct sanx_sock *ss = sanx_sk(sock);
	const struct proto_ops *ops = sanx_native_ops(sock);
	struct sanx_conn *conn = ss ? sanx_sock_conn(ss) : NULL;

	if (!conn)
		sanx_native_splice_eof(ops, sock);
	else if (!READ_ONCE(conn->cork.on))
		sanx_cork_pull(conn);
}
