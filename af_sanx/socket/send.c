// SPDX-License-Identifier: GPL-2.0
/*
 * sendmsg().  send() returns bytes as taken when they are in the peer's ring,
 * in the transport's send buffer, or in spare memory (conn/spare.c).  The
 * transport delivers them in order, also after close().
 *
 * Locks: senders of a connection are serialised by conn->tx_mutex.  A sender of a stream
 * does not hold it while it waits for room, so one with MSG_DONTWAIT does not
 * wait behind one that may block.  seqpacket.c has records.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "config/config.h"
#include "socket_priv.h"

/* Most bytes that are a few: send_row(). */
#define SEND_FEW	4096

/*
 * Request a wake-up when there is room to send.
 *
 * Call this before looking for room.  Then either the caller sees the room, or
 * sanx_conn_tx_ready() sees SOCK_NOSPACE.
 */
void sanx_want_room(struct sock *sk)
{
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/*
	 * Store SOCK_NOSPACE before the caller loads the cursors.  Pairs with
	 * smp_mb() in sanx_conn_sk(): sanx_conn_tx_ready() makes room, and
	 * conn_write_space() loads SOCK_NOSPACE after that barrier.
	 */
	smp_mb__after_atomic();
}

static bool send_ready(const struct sanx_sock *ss, struct sanx_conn *conn,
		       enum sanx_room which)
{
	if (sanx_sock_connecting(ss, conn))
		return false;
	return !sanx_conn_open(conn) ||
	       READ_ONCE(conn->shutdown) & SEND_SHUTDOWN ||
	       READ_ONCE(conn->peer_gone) || sanx_hold_room(conn, which);
}

int sanx_send_wake(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key)
{
	return sanx_wake_for(EPOLLOUT, wait, mode, sync, key);
}

/*
 * Sleeps until a wake-up or the end of the timeout.  A sender that asks for
 * SANX_ROOM_WINDOW sleeps at most for the rest of @window_wait, in jiffies.
 * Return: the rest of @timeo, in jiffies.
 */
static long send_sleep(struct wait_queue_entry *wait, enum sanx_room which,
		       long *window_wait, long timeo)
{
	long left;

	if (which == SANX_ROOM_SPARE)
		return wait_woken(wait, TASK_INTERRUPTIBLE, timeo);
	left = wait_woken(wait, TASK_INTERRUPTIBLE, min(*window_wait, timeo));
	left = *window_wait - min(*window_wait, timeo) + left;
	if (timeo != MAX_SCHEDULE_TIMEOUT)
		timeo = max(timeo - (*window_wait - left), 0L);
	*window_wait = left;
	return timeo;
}

/*
 * A non-blocking caller may wait for EPOLLOUT next, so request the wake-up too.
 * Return: 0 to try again, or -EAGAIN.
 */
static int send_look(struct sanx_sock *ss, struct sanx_conn *conn,
		     enum sanx_room which)
{
	sanx_want_room(ss->sk);
	return send_ready(ss, conn, which) ? 0 : -EAGAIN;
}

/*
 * Waits for room or for a change of state.  A sender of a stream has no tx_mutex then.
 * @timeo: rest of the timeout in jiffies; 0 not to wait
 * @which: the kind of room that was refused; set to SANX_ROOM_SPARE if the peer
 *	did not read for SANX_WINDOW_WAIT
 *
 * The next blocking sender starts with conn->room_first: SANX_ROOM_SPARE if
 * this wait was in vain, otherwise SANX_ROOM_WINDOW.
 * Return: 0 to try again, -EAGAIN after the timeout, or -errno for a signal.
 */
int sanx_send_wait(struct sanx_sock *ss, struct sanx_conn *conn, long *timeo,
		   enum sanx_room *which)
{
	struct sock *sk = ss->sk;
	DEFINE_WAIT_FUNC(wait, sanx_send_wake);
	enum sanx_room first = SANX_ROOM_WINDOW;
	long window_wait = SANX_WINDOW_WAIT;
	int err = 0;

	if (!*timeo)
		return send_look(ss, conn, *which);
	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		sanx_want_room(sk);
		if (send_ready(ss, conn, *which))
			break;
		if (!window_wait) {
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
		*timeo = send_sleep(&wait, *which, &window_wait, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	WRITE_ONCE(conn->room_first, first);
	return err;
}

/*
 * The peer has closed its socket.  As over TCP, the first send() succeeds and
 * provokes the reset.  Later ones fail with EPIPE or ECONNRESET.
 */
static ssize_t send_to_nobody(struct sanx_conn *conn, struct msghdr *msg)
{
	size_t len = msg_data_left(msg);

	iov_iter_advance(&msg->msg_iter, len);
	sanx_conn_reset(conn, ECONNRESET);
	return len;
}

/*
 * Is the connection one that sends?
 * Context: tx_mutex held.
 * Return: 0; -EAGAIN if it still connects; -EPIPE.
 */
int sanx_send_may(const struct sanx_sock *ss, struct sanx_conn *conn)
{
	/* The caller replaces -EPIPE by sk_err (sk_stream_error()). */
	if (READ_ONCE(ss->sk->sk_err))
		return -EPIPE;
	if (sanx_sock_connecting(ss, conn))
		return -EAGAIN;
	if (!sanx_conn_open(conn) ||
	    (READ_ONCE(conn->shutdown) & SEND_SHUTDOWN)) {
		/*
		 * Load the state before sk_err, which sk_stream_error() loads.
		 * Pairs with smp_wmb() in sanx_conn_reset().
		 */
		smp_rmb();
		return -EPIPE;
	}
	return 0;
}

/*
 * Sends once, without waiting for room.
 * Context: tx_mutex held.
 */
static ssize_t send_some(struct sanx_sock *ss, struct sanx_conn *conn,
			 struct msghdr *msg, int flags)
{
	int err = sanx_send_may(ss, conn);

	if (err)
		return err;
	if (!msg_data_left(msg))
		return 0;
	if (READ_ONCE(conn->peer_gone))
		return send_to_nobody(conn, msg);
	if (unlikely(READ_ONCE(conn->liveness.watch)))
		sanx_liveness_send(conn, ss->sk);
	return sanx_hold_send(conn, msg, msg_data_left(msg), flags);
}

/* Context: tx_mutex held, since another thread may clear TCP_CORK. */
int sanx_send_flags(const struct sock *sk, const struct sanx_conn *conn,
		    const struct msghdr *msg, long timeo, enum sanx_room which)
{
	int flags = msg->msg_flags & (MSG_OOB | MSG_MORE);

	if (which == SANX_ROOM_SPARE)
		flags |= SANX_MSG_SPARE;

	/*
	 * A sender with a timeout cannot wait for the device without a bound
	 * either.
	 */
	if (timeo != MAX_SCHEDULE_TIMEOUT)
		flags |= MSG_DONTWAIT;
	if (READ_ONCE(conn->hold.cork) || msg->msg_flags & MSG_SENDPAGE_NOTLAST)
		flags |= MSG_MORE;
	if (!(tcp_sk(sk)->nonagle & TCP_NAGLE_OFF))
		flags |= MSG_BATCH;
	return flags;
}

/*
 * TCP looks for room before it takes a piece, not after.  So there is nearly always room for
 * a few bytes behind a send() that was taken whole without blocking, and programs rely on it
 * (libuv's tcp_write_in_a_row).  @len bytes are about to be sent.
 * Context: tx_mutex held.
 */
static void send_row(struct sanx_conn *conn, size_t len, long timeo)
{
	if (likely(!conn->row))
		return;
	conn->row = false;
	if (!timeo && len <= SEND_FEW)
		sanx_conn_promise(conn, READ_ONCE(conn->tx.next) +
					(conn->ops->counts_unsent ? 0 : sanx_conn_unsent(conn)));
}

/* @len bytes were sent, all of them without blocking.  Context: tx_mutex held. */
static void send_whole(struct sanx_conn *conn, size_t len)
{
	conn->row = len > SEND_FEW && !conn->ops->room(conn, SANX_ROOM_WINDOW);
}

/*
 * Sends all of @msg.
 * @lent: set to the stream offset up to which the transport sends from the
 *	program's pages; unchanged if it lends none
 * Return: bytes taken, or -errno if there are none.
 */
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
		send_row(conn, msg_data_left(msg), *timeo);
		n = send_some(ss, conn, msg,
			      sanx_send_flags(ss->sk, conn, msg, *timeo, which));
		if (conn->lent != before)
			*lent = conn->lent;
		if (n > 0 && !*timeo && !msg_data_left(msg))
			send_whole(conn, sent + n);
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
			n = sanx_send_wait(ss, conn, timeo, &which);
		if (n)
			return sent ?: n;
	}
}

/*
 * MSG_ZEROCOPY (Documentation/networking/msg_zerocopy.rst).  The transport keeps a reference
 * of msg->msg_ubuf for as long as it sends from the program's pages.
 * Return: 0, with *@uarg set for zerocopy_end() or NULL; or -ENOBUFS.
 */
static int zerocopy_start(struct sock *sk, struct msghdr *msg, size_t len,
			  struct ubuf_info **uarg)
{
	*uarg = NULL;
	/* A caller with its own ubuf (io_uring) sends its own notification. */
	if (!(msg->msg_flags & MSG_ZEROCOPY) || !len || msg->msg_ubuf ||
	    !sock_flag(sk, SOCK_ZEROCOPY))
		return 0;
	lock_sock(sk);
	*uarg = msg_zerocopy_realloc(sk, len, NULL);
	/* zerocopy_end() assigns the number, if any bytes were sent. */
	if (*uarg)
		atomic_dec(&sk->sk_zckey);
	release_sock(sk);
	if (!*uarg)
		return -ENOBUFS;
	msg->msg_ubuf = *uarg;
	return 0;
}

/*
 * Numbers the calls that have sent bytes, without gaps.  TCP numbers a call
 * when it begins.  This is correct only if calls do not overlap.  Calls of
 * AF_SANX do: send_all() releases its locks while it waits.
 *
 * If nothing was @lent, the bytes were copied, as TCP does when a device cannot use the pages,
 * and the notification says so (SO_EE_CODE_ZEROCOPY_COPIED).
 */
static void zerocopy_end(struct sock *sk, struct msghdr *msg, struct ubuf_info *uarg,
			 ssize_t sent, bool lent)
{
	if (!uarg)
		return;
	msg->msg_ubuf = NULL;
	if (!lent)
		uarg_to_msgzc(uarg)->zerocopy = 0;
	lock_sock(sk);
	uarg_to_msgzc(uarg)->id = (u32)atomic_inc_return(&sk->sk_zckey) - 1;
	if (sent > 0)
		net_zcopy_put(uarg);
	else
		net_zcopy_put_abort(uarg, true);
	release_sock(sk);
}

/* MSG_FASTOPEN on an unconnected socket sends data in TCP's SYN. */
static bool wants_tcp(struct socket *sock, const struct msghdr *msg)
{
	return (msg->msg_flags & MSG_FASTOPEN) &&
	       READ_ONCE(sock->state) == SS_UNCONNECTED;
}

typedef ssize_t send_fn(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
			long *timeo, u64 *lent);

static __always_inline int send_by(struct socket *sock, struct msghdr *msg, size_t len,
				   send_fn *fn)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sock *sk = sock->sk;
	struct sanx_memalloc scope;
	struct ubuf_info *uarg;
	struct sanx_conn *conn;
	u64 lent = 0;
	ssize_t n;
	long timeo;

	if (ss && !ss->explicit && wants_tcp(sock, msg)) {
		lock_sock(sk);
		if (!READ_ONCE(ss->fell_back) && !ss->conn &&
		    sk->sk_state == TCP_CLOSE)
			sanx_fall_back(sock, ss, NULL, SANX_FALLBACK_OPTION);
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
	sanx_memalloc_save(sk, &scope);
	n = fn(ss, conn, msg, &timeo, &lent);
	sanx_memalloc_restore(&scope);
	/* With msg_ubuf, whoever made it is notified; and nobody waits for pages of files. */
	if (lent && !msg->msg_ubuf && !(msg->msg_flags & MSG_SPLICE_PAGES))
		conn->ops->wait_pages(conn, lent);
	zerocopy_end(sk, msg, uarg, n, lent);
	if (n > 0) {
		WRITE_ONCE(conn->tx_time, jiffies);
		this_cpu_add(conn->stats->v[SANX_STAT_TX_BYTES], n);
	}
	if (n < 0 && READ_ONCE(ss->fell_back))
		return sanx_native_ops(sock)->sendmsg(sock, msg, len);
	return n < 0 ? sk_stream_error(sk, msg->msg_flags, n) : n;
}

/* proto_ops.sendmsg.  Return: bytes taken, or -errno as in tcp(7). */
int sanx_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	return send_by(sock, msg, len, send_all);
}

/* Likewise, of SOCK_SEQPACKET. */
int sanx_record_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	return send_by(sock, msg, len, sanx_record_send);
}

/**
 * sanx_splice_eof() - proto_ops.splice_eof: sendfile() reached the end of the
 *	file before the number of bytes that it announced
 * @sock: the socket
 *
 * Sends the bytes that were corked because sendfile() announced more, unless
 * TCP_CORK is set.  Kernels before 6.5 have no such call; the bytes then wait
 * for the cork timer, as over TCP.
 *
 * Context: process, may sleep; takes tx_mutex.
 */
void sanx_splice_eof(struct socket *sock)
{
	struct sanx_sock *ss = sanx_sk(sock);
	const struct proto_ops *ops = sanx_native_ops(sock);
	struct sanx_conn *conn = ss ? sanx_sock_conn(ss) : NULL;

	if (!conn)
		sanx_native_splice_eof(ops, sock);
	else if (!READ_ONCE(conn->hold.cork))
		sanx_hold_pull(conn);
}
