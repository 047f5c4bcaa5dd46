// SPDX-License-Identifier: GPL-2.0
/*
 * recvmsg().  One copy, from the receive ring to the program.
 *
 * Locks: readers of a connection are serialised by conn->rx_mutex, which guards
 * rx.head.  It is not held while a reader waits.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <net/inet_common.h>

#include "config/config.h"
#include "socket_priv.h"

/*
 * Can a peek wait for no more bytes?  A peek frees no ring memory, so it sees
 * at most what was granted before.  Up to half of rx_max may never arrive:
 * bytes that were read and not granted again, and the slack that a sender does
 * not use (sanx_ring_slack()).
 */
static bool peek_full(const struct sanx_conn *conn, u32 seen)
{
	return seen && seen >= READ_ONCE(conn->rx_max) / 2;
}

/*
 * Is there more than @seen bytes to read, or a reason not to wait for it?
 * @any: the caller has bytes to return
 */
static bool recv_ready(struct sanx_sock *ss, struct sanx_conn *conn,
		       u32 seen, bool any)
{
	bool some;

	if (sanx_sock_connecting(ss, conn))
		return false;
	if (sanx_sk_records(ss->sk) && !any)
		some = sanx_record_poll(ss, conn);
	else
		some = sanx_rxq_avail(&conn->rx) > seen;
	return some || (any && peek_full(conn, seen)) ||
	       READ_ONCE(conn->shutdown) & RCV_SHUTDOWN ||
	       READ_ONCE(ss->sk->sk_err) || !sanx_conn_open(conn);
}

/*
 * Busy polls until recv_ready() or the end of the time, and lets the tasks run
 * that want this CPU.
 * @timeo: reduced by the time spent, in jiffies
 * Return: true if there is no need to sleep.
 */
static bool recv_busy_poll(struct sanx_sock *ss, struct sanx_conn *conn,
			   u32 seen, bool any,
			   const struct sanx_busy_poll *poll, long *timeo)
{
	unsigned long start = jiffies;
	bool ready = false;

	while (!ready && sanx_busy_poll_again(poll))
		ready = recv_ready(ss, conn, seen, any);
	if (!ready && sanx_busy_poll_cede(conn)) {
		ready = recv_ready(ss, conn, seen, any);
		sanx_busy_poll_ceded(conn, ready);
	}
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo = max_t(long, *timeo - (long)(jiffies - start), 0);
	return ready;
}

static int recv_wake(struct wait_queue_entry *wait, unsigned int mode, int sync,
		     void *key)
{
	/* The latter: conn_data_ready(). */
	return sanx_wake_for(EPOLLIN | EPOLLMSG, wait, mode, sync, key);
}

/*
 * Waits for more than @seen bytes or for a change of state, without rx_mutex.
 * @any: the caller has bytes to return.  Of SOCK_SEQPACKET, one that has none waits for a
 *	record that it can begin with
 * @state: TASK_INTERRUPTIBLE or TASK_KILLABLE
 * @timeo: rest of the timeout in jiffies; 0 not to wait
 * Return: 0 to look again, -EAGAIN after the timeout, or -errno for a signal.
 */
int sanx_recv_wait(struct sanx_sock *ss, struct sanx_conn *conn, u32 seen, bool any,
		   unsigned int state, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, recv_wake);
	struct sanx_busy_poll poll;
	int err = 0;

	/*
	 * The answer may depend on bytes that are still coalesced: send them
	 * now.
	 */
	sanx_hold_answer(conn);
	if (!*timeo)
		return -EAGAIN;
	sanx_liveness_wait(conn, ss->sk);
	sanx_busy_poll_start(&poll, conn, ss->sk, *timeo);
	if (recv_busy_poll(ss, conn, seen, any, &poll, timeo))
		return 0;
	add_wait_queue(sk_sleep(ss->sk), &wait);
	/*
	 * Enter the wait queue before loading the cursors and the state.  Pairs
	 * with the barrier in skwq_has_sleeper(), which the wake-ups call after
	 * they stored them.
	 */
	smp_mb();
	while (!recv_ready(ss, conn, seen, any)) {
		if (!*timeo) {
			err = -EAGAIN;
			break;
		}
		if (signal_pending_state(state, current)) {
			err = sock_intr_errno(*timeo);
			break;
		}
		*timeo = wait_woken(&wait, state, *timeo);
	}
	remove_wait_queue(sk_sleep(ss->sk), &wait);
	if (!err && poll.ns_max)
		sanx_busy_poll_adapt(&poll, conn);
	return err;
}

/*
 * Decides whether a reader that found the ring empty has reached the end.
 *
 * The ring and the state are two loads.  Bytes, and then the end of the stream,
 * may have arrived between them.  So rx.tail is loaded again after the state.
 * Otherwise the last bytes of a stream would be lost.
 * @seen: bytes that a peek has passed over
 * @none: the caller has no bytes to return
 * @err: set for SANX_RECV_STOP: -errno, or 0 for the end of the stream
 */
enum sanx_recv_next sanx_recv_end(struct sanx_sock *ss, struct sanx_conn *conn, u32 seen,
				  bool none, int *err)
{
	bool fin = READ_ONCE(conn->shutdown) & RCV_SHUTDOWN;
	bool dead = !sanx_conn_open(conn);
	bool failed;

	/*
	 * Load the state before sk_err.  Pairs with smp_wmb() in
	 * sanx_conn_reset().
	 */
	smp_rmb();
	failed = READ_ONCE(ss->sk->sk_err);
	if (sanx_sock_connecting(ss, conn) || (!fin && !dead && !failed))
		return SANX_RECV_WAIT;
	/* The caller passes the call on to TCP, which has the answer. */
	*err = -ENOTCONN;
	if (READ_ONCE(ss->fell_back))
		return SANX_RECV_STOP;
	/*
	 * Load conn->shutdown and conn->state before rx.tail.  The writer
	 * stores rx.tail first, and the end later, under conn->lock
	 * (sanx_conn_fin(), sanx_conn_peer_closed(), sanx_conn_reset()).
	 */
	smp_rmb();
	if (sanx_rxq_avail(&conn->rx) > seen)
		return SANX_RECV_AGAIN;
	if (!none)
		return SANX_RECV_STOP;
	/* In TCP's order: the end of the stream precedes a later error. */
	if (sanx_conn_fin_rcvd(conn))
		*err = 0;
	else if (failed)
		*err = sock_error(ss->sk);
	else
		*err = fin ? 0 : -ENOTCONN;
	return SANX_RECV_STOP;
}

/*
 * Passes over @n bytes.  A peek only advances @skip, its distance from rx.head.
 * Context: rx_mutex held.
 */
static void recv_pass(struct sanx_conn *conn, u32 n, int flags, u32 *skip)
{
	if (flags & MSG_PEEK)
		*skip += n;
	else
		sanx_conn_pass(conn, n);
}

/*
 * Passes over urgent bytes that a read leaves out.
 * @end: stream offset behind the last byte to read
 * Return: bytes to read in one go: up to @end or the next mark.
 */
static u32 recv_run(const struct sanx_sock *ss, struct sanx_conn *conn,
		    u64 end, int flags, u32 *skip)
{
	bool hole;
	u64 pos;
	u32 n;

	do {
		pos = conn->rx.head + *skip;
		n = end > pos ? end - pos : 0;
		n = sanx_urg_run(conn, ss->sk, pos, n, &hole);
		if (hole)
			recv_pass(conn, 1, flags, skip);
	} while (hole);
	return n;
}

/*
 * Reads what is there up to @end.
 * Context: rx_mutex held.
 * Return: bytes, 0 for none, or -EFAULT.
 */
static ssize_t recv_some(const struct sanx_sock *ss, struct sanx_conn *conn,
			 struct msghdr *msg, size_t len, u64 end, int flags,
			 u32 *skip)
{
	size_t n;

	if (!len)
		return 0;
	n = min_t(size_t, len, recv_run(ss, conn, end, flags, skip));
	if (n && !(flags & MSG_TRUNC)) {
		n = sanx_rxq_read(&conn->rx, *skip, &msg->msg_iter, n);
		if (!n)
			return -EFAULT;
	}
	if (n)
		recv_pass(conn, n, flags, skip);
	return n;
}

/*
 * A read stops at the urgent mark if it has returned bytes, or if a signal is
 * pending, since SIGURG must be handled first.
 */
static bool recv_stop_at_mark(struct sanx_conn *conn, u32 skip, size_t done)
{
	return (done || signal_pending(current)) &&
	       sanx_urg_at_mark(conn, conn->rx.head + skip);
}

/* SO_PEEK_OFF: moves the offset where the next peek begins. */
static void recv_move_peek(struct sock *sk, ssize_t n, int flags)
{
	if (n > 0 && (flags & MSG_PEEK))
		sk_peek_offset_fwd(sk, n);
	else if (n > 0)
		sk_peek_offset_bwd(sk, n);
}

/*
 * Reads what is there.
 * @done: bytes that the call has read before
 * @mark: set to true if the read stops at the urgent mark
 * Return: as recv_some().
 */
static ssize_t recv_once(const struct sanx_sock *ss, struct sanx_conn *conn,
			 struct msghdr *msg, size_t len, size_t done,
			 int flags, u32 *skip, bool *mark)
{
	ssize_t n;
	u64 end;

	*mark = false;
	/*
	 * Nothing is there, as before each answer, and a mark stops nothing
	 * (recv_stop_at_mark()).  So this call does not use the ring.
	 */
	if (!done && !sanx_rxq_avail(&conn->rx) && !signal_pending(current))
		return 0;
	mutex_lock(&conn->rx_mutex);
	/*
	 * Load rx.tail before the mark.  sanx_conn_urgent() stores the mark of a
	 * byte before rx.tail covers that byte, so no mark before @end is
	 * missed.
	 */
	end = conn->rx.head + sanx_rxq_avail(&conn->rx);
	*mark = recv_stop_at_mark(conn, *skip, done);
	n = *mark ? 0 : recv_some(ss, conn, msg, len, end, flags, skip);
	recv_move_peek(ss->sk, n, flags);
	mutex_unlock(&conn->rx_mutex);
	return n;
}

static ssize_t recv_all(struct sanx_sock *ss, struct sanx_conn *conn,
			struct msghdr *msg, size_t len, int flags)
{
	long timeo = sock_rcvtimeo(ss->sk, flags & MSG_DONTWAIT);
	size_t target = sock_rcvlowat(ss->sk, flags & MSG_WAITALL, len);
	u32 skip = max(sk_peek_offset(ss->sk, flags), 0);
	size_t done = 0;
	ssize_t n;
	int err = 0;
	bool mark;

	for (;;) {
		n = recv_once(ss, conn, msg, len - done, done, flags, &skip,
			      &mark);
		if (mark)
			return done ?: timeo ? sock_intr_errno(timeo) : -EAGAIN;
		if (n < 0)
			return done ?: n;
		done += n;
		/*
		 * A read of 0 bytes waits until there is something to read, as
		 * over TCP.
		 */
		if (done == len && (len || sanx_rxq_avail(&conn->rx)))
			break;
		/* What arrived after the loads above may be taken too. */
		if (n && (done < target || sanx_rxq_avail(&conn->rx) > skip))
			continue;
		if (len && done >= target)
			break;
		if (flags & MSG_PEEK && done && peek_full(conn, skip))
			break;
		switch (sanx_recv_end(ss, conn, skip, !done, &err)) {
		case SANX_RECV_STOP:
			return done ?: err;
		case SANX_RECV_AGAIN:
			continue;
		case SANX_RECV_WAIT:
			break;
		}
		err = sanx_recv_wait(ss, conn, skip, done, TASK_INTERRUPTIBLE, &timeo);
		if (err)
			return done ?: err;
	}
	return done;
}

typedef ssize_t recv_fn(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
			size_t len, int flags);

static ssize_t recv_stream(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
			   size_t len, int flags)
{
	return flags & MSG_OOB ? sanx_urg_recv(conn, ss->sk, msg, len, flags) :
				 recv_all(ss, conn, msg, len, flags);
}

static __always_inline int recv_by(struct socket *sock, struct msghdr *msg, size_t len,
				   int flags, recv_fn *fn)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sock *sk = sock->sk;
	struct sanx_conn *conn;
	ssize_t n;

	if (!ss)
		return sanx_native_ops(sock)->recvmsg(sock, msg, len, flags);
	conn = sanx_sock_conn(ss);
	if (!conn || (flags & MSG_ERRQUEUE))
		return ss->native->recvmsg(sock, msg, len, flags);
	if (unlikely(READ_ONCE(conn->feed)) && !(flags & (MSG_PEEK | MSG_OOB)))
		sanx_feed_called(conn, sk);
	n = fn(ss, conn, msg, len, flags);
	if (n > 0 && !(flags & MSG_PEEK))
		this_cpu_add(conn->stats->v[SANX_STAT_RX_BYTES], n);
	if (n >= 0)
		sanx_recv_cmsg(conn, sk, msg, n);
	if (n < 0 && READ_ONCE(ss->fell_back))
		return sanx_native_ops(sock)->recvmsg(sock, msg, len, flags);
	return n;
}

/*
 * proto_ops.recvmsg.
 * Return: bytes, 0 at the end of the stream, or -errno as in tcp(7).
 */
int sanx_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	return recv_by(sock, msg, len, flags, recv_stream);
}

/* Likewise, of SOCK_SEQPACKET. */
int sanx_record_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	return recv_by(sock, msg, len, flags, sanx_record_recv);
}
