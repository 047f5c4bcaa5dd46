// SPDX-License-Identifier: GPL-2.0
/*
 * SOCK_SEQPACKET of explicit sockets: records in a stream (seqpacket.h).
 *
 * The connection is that of a stream, and its bytes take the same way without a further copy.
 * A record may be larger than the peer's ring.  Its bytes then come while it is read.
 *
 * Senders: conn->tx_mutex is held for a whole record, so no bytes of others, and no end of the
 * stream, come into it.  A sender waits for room before the first byte.  Once there is room for
 * one, a record is taken whole, beyond SO_SNDBUF if need be (SANX_MSG_WHOLE), as other sockets
 * take a whole sk_buff.  So for the peer's program a sender waits no longer than RECORD_PACED
 * with tx_mutex held, and none leaves a part of a record.
 *
 * Readers: sanx_explicit.reading is held by one that reads a record, also while it waits for
 * the rest.  The sender has given all of that to its kernel, so even a reader with MSG_DONTWAIT
 * waits for it.  conn->record_left counts what is missing.  A reader that is killed leaves that
 * to the next one, which passes over it.
 *
 * A sender that has no memory for the rest, and a reader to which nothing comes, end the
 * connection after RECORD_PATIENCE.
 *
 * Order of locks: reading, conn->rx_mutex.
 */
#include <linux/sched/signal.h>

#include "seqpacket.h"
#include "socket_priv.h"

/* A record of up to so many bytes is copied behind its header: two pieces would cost more. */
#define RECORD_COPIED	256U
/*
 * The header of one from so many bytes on is announced at once.  A transport lends pages only
 * if it holds nothing back.
 */
#define RECORD_AHEAD	32768U
/* Jiffies in which a sender leaves the peer's program time to read what is in its ring. */
#define RECORD_PACED	(HZ / 20)
/* Jiffies until a sender asks for memory again; spare.c. */
#define RECORD_SHORT	(HZ / 10)
/* Jiffies until a record that does not go on is given up, but for times without a link. */
#define RECORD_PATIENCE	(30 * HZ)

/**
 * struct record_out - the first bytes of a record that is sent
 * @f: its header
 * @data: its bytes, if it has few
 */
struct record_out {
	struct sanx_record	f;
	u8			data[RECORD_COPIED];
} __packed;

/**
 * struct record_put - a record that is being sent
 * @ss: the socket's AF_SANX part
 * @conn: its connection
 * @flags: of the sends
 * @since: when bytes of it were last taken, in jiffies
 * @paced: until when the peer's program has time, in jiffies
 */
struct record_put {
	struct sanx_sock	*ss;
	struct sanx_conn	*conn;
	int			flags;
	unsigned long		since;
	unsigned long		paced;
};

/*
 * There is no memory for more of a record that has begun.
 * Return: 0 to try again; -EINTR if the program is killed; -ENOBUFS.
 */
static int put_wait_memory(struct record_put *put)
{
	struct sock *sk = put->ss->sk;
	DEFINE_WAIT_FUNC(wait, sanx_send_wake);

	add_wait_queue(sk_sleep(sk), &wait);
	sanx_want_room(sk);
	if (sanx_conn_open(put->conn))
		wait_woken(&wait, TASK_KILLABLE,
			   put->conn->ops->room(put->conn, SANX_ROOM_WINDOW) ? 1 : RECORD_SHORT);
	remove_wait_queue(sk_sleep(sk), &wait);
	if (fatal_signal_pending(current))
		return -EINTR;
	return time_after(jiffies, put->since + RECORD_PATIENCE) ? -ENOBUFS : 0;
}

/*
 * There is no room for more of a record that has begun.  If the peer does not read, there need
 * be none (SANX_MSG_WHOLE).
 * Return: as put_wait_memory().
 */
static int put_wait(struct record_put *put)
{
	enum sanx_room which = SANX_ROOM_WINDOW;
	long timeo = SANX_WINDOW_WAIT;

	if (put->flags & SANX_MSG_WHOLE)
		return put_wait_memory(put);
	/* A signal ends the wait, too. */
	if (put->flags & SANX_MSG_SPARE || time_after(jiffies, put->paced) ||
	    sanx_send_wait(put->ss, put->conn, &timeo, &which) || which == SANX_ROOM_SPARE)
		put->flags |= SANX_MSG_SPARE | SANX_MSG_WHOLE;
	return 0;
}

/*
 * Sends all of @m, of a record that has begun.
 * Context: tx_mutex held.
 * Return: 0, or -errno, and the record is not whole.
 */
static int put_all(struct record_put *put, struct msghdr *m)
{
	ssize_t n;
	int err;

	while (msg_data_left(m)) {
		err = sanx_send_may(put->ss, put->conn);
		if (!err && READ_ONCE(put->conn->peer_gone))
			err = -EPIPE;
		if (err)
			return err;
		n = sanx_hold_send(put->conn, m, msg_data_left(m), put->flags);
		if (n > 0)
			put->since = jiffies;
		else
			n = n == -EAGAIN ? put_wait(put) : n;
		if (n < 0)
			return n;
		cond_resched();
	}
	return 0;
}

/*
 * Sends a record, of which @head has the first bytes and @msg the others.
 * Context: tx_mutex held.
 * Return: 0; or -errno, and nothing was sent or the connection is over.
 */
static int record_put(struct record_put *put, struct msghdr *head, struct msghdr *msg)
{
	struct sanx_conn *conn = put->conn;
	size_t rest = msg_data_left(msg);
	ssize_t n;
	int err;

	if (!rest)
		n = sanx_hold_send(conn, head, msg_data_left(head), put->flags);
	else
		n = conn->ops->send(conn, head, msg_data_left(head), put->flags & ~MSG_MORE,
				    rest < RECORD_AHEAD ? SANX_HELD_CORKED : SANX_HELD_NONE);
	if (n < 0)
		return n;
	err = put_all(put, head) ?: put_all(put, msg);
	if (err)
		sanx_conn_abort(conn, err == -EPIPE ? ECONNRESET : ECONNABORTED);
	return err;
}

/*
 * Sends a record if there is room.
 * @len: bytes of it
 * Context: tx_mutex held.
 * Return: @len; -EAGAIN, or as record_put().
 */
static ssize_t record_try(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *head,
			  struct msghdr *msg, size_t len, long timeo, enum sanx_room which)
{
	struct record_put put = { .ss = ss, .conn = conn };
	int err = sanx_send_may(ss, conn);
	u32 room;

	if (err)
		return err;
	/* As send_to_nobody(). */
	if (READ_ONCE(conn->peer_gone)) {
		sanx_conn_reset(conn, ECONNRESET);
		return len;
	}
	if (unlikely(READ_ONCE(conn->liveness.watch)))
		sanx_liveness_send(conn, ss->sk);
	room = sanx_hold_room(conn, which);
	/* Who does not wait for room does not wait for memory, either. */
	if (!room || (!timeo && room < len && !sanx_conn_affords(conn)))
		return -EAGAIN;
	put.flags = sanx_send_flags(ss->sk, conn, msg, timeo, which);
	put.since = jiffies;
	put.paced = jiffies + RECORD_PACED;
	return record_put(&put, head, msg) ?: len;
}

/* Fills @out.  What @msg has left then is in memory.  Return: bytes in @out, or -EFAULT. */
static int record_start(struct record_out *out, struct msghdr *msg, size_t len)
{
	sanx_record_fill(&out->f, len, msg->msg_flags & MSG_EOR ? SANX_RECORD_F_EOR : 0);
	if (len > RECORD_COPIED)
		return fault_in_iov_iter_readable(&msg->msg_iter, len) ? -EFAULT :
									 sizeof(out->f);
	if (!copy_from_iter_full(out->data, len, &msg->msg_iter))
		return -EFAULT;
	return sizeof(out->f) + len;
}

/**
 * sanx_record_send() - send a record
 * @ss: the socket's AF_SANX part
 * @conn: its connection
 * @msg: the record
 * @timeo: how long to wait for room, in jiffies
 * @lent: set to the stream offset up to which the transport sends from the program's pages;
 *	unchanged if it lends none
 *
 * Context: process, may sleep; takes tx_mutex.
 * Return: bytes of the record; -EMSGSIZE; -EOPNOTSUPP for MSG_OOB; or as send() of a stream.
 */
ssize_t sanx_record_send(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
			 long *timeo, u64 *lent)
{
	enum sanx_room which = *timeo ? READ_ONCE(conn->room_first) : SANX_ROOM_SPARE;
	size_t len = msg_data_left(msg);
	struct msghdr head = { };
	struct record_out out;
	struct kvec kv;
	ssize_t n;
	u64 before;

	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (len > SANX_RECORD_MAX)
		return -EMSGSIZE;
	n = record_start(&out, msg, len);
	if (n < 0)
		return n;
	kv = (struct kvec){ .iov_base = &out, .iov_len = n };
	iov_iter_kvec(&head.msg_iter, WRITE, &kv, 1, n);
	do {
		n = -EINTR;
		if (mutex_lock_killable(&conn->tx_mutex))
			break;
		before = conn->lent;
		n = record_try(ss, conn, &head, msg, len, *timeo, which);
		if (conn->lent != before)
			*lent = conn->lent;
		mutex_unlock(&conn->tx_mutex);
		if (n == -EAGAIN)
			n = sanx_send_wait(ss, conn, timeo, &which);
		else if (n >= 0)
			return n;
	} while (!n);
	/* io_uring tries again with it. */
	if (len <= RECORD_COPIED)
		iov_iter_revert(&msg->msg_iter, len);
	return n;
}

/*
 * Passes over @n bytes of a record, and over @skip before them.
 * Context: reading and rx_mutex held.
 */
static void record_pass(struct sanx_conn *conn, u32 skip, u32 n)
{
	WRITE_ONCE(conn->record_left, conn->record_left - n);
	if (skip + n)
		sanx_conn_pass(conn, skip + n);
}

/*
 * Passes over what a reader left that was killed.
 * Context: reading and rx_mutex held.
 * Return: true if there was something left.
 */
static bool record_skip(struct sanx_conn *conn)
{
	if (likely(!conn->record_left))
		return false;
	record_pass(conn, 0, min(conn->record_left, sanx_rxq_avail(&conn->rx)));
	return true;
}

/*
 * What is at the head of the ring?
 * @avail: set to the bytes there
 * Context: rx_mutex held.
 */
static enum sanx_record_state record_look(const struct sanx_conn *conn, const struct sock *sk,
					  u32 *avail, u32 *len, u32 *flags)
{
	u32 most = READ_ONCE(conn->rx_max) / 2;
	enum sanx_record_state state;
	struct sanx_record f;
	unsigned int i;

	*avail = sanx_rxq_avail(&conn->rx);
	if (conn->record_left || *avail < sizeof(f))
		return SANX_RECORD_NONE;
	for (i = 0; i < sizeof(f); i++)
		((u8 *)&f)[i] = sanx_rxq_byte(&conn->rx, conn->rx.head + i);
	state = sanx_record_look(&f, *avail, most, len, flags);
	/* As in sanx_conn_readable(): there may be no ring as large as that. */
	return state == SANX_RECORD_PART && sanx_mem_pressure(conn, sk) ? SANX_RECORD_FULL : state;
}

/*
 * The stream ends within a record.  No correct peer does that, but this end may have shut down
 * receiving.
 */
static int record_cut(const struct sanx_conn *conn)
{
	return sanx_conn_fin_rcvd(conn) ? -ECONNRESET : -ESHUTDOWN;
}

/*
 * Waits for more of a record, without rx_mutex.
 * Context: reading and rx_mutex held.
 * Return: 0; -EINTR if the program is killed; -ETIMEDOUT; or -errno if no more comes.
 */
static int record_recv_wait(struct sanx_sock *ss, struct sanx_conn *conn)
{
	long timeo;
	int err;

	do {
		timeo = RECORD_PATIENCE;
		mutex_unlock(&conn->rx_mutex);
		err = sanx_recv_wait(ss, conn, 0, true, TASK_KILLABLE, &timeo);
		mutex_lock(&conn->rx_mutex);
		if (sanx_rxq_avail(&conn->rx))
			return 0;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (err && !sanx_conn_away(conn))
			return -ETIMEDOUT;
		if (sanx_recv_end(ss, conn, 0, true, &err) == SANX_RECV_STOP)
			return err ?: record_cut(conn);
	} while (!sanx_rxq_avail(&conn->rx));
	return 0;
}

/*
 * Reads the record at the head of the ring, and the rest of it as it comes.
 * @len: bytes of it
 * @size: how many of them the program wants; the others are dropped
 * Context: reading and rx_mutex held.
 * Return: 0; -EFAULT, and the record is dropped; or as record_recv_wait().
 */
static int record_read(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg, u32 len,
		       u32 size, bool *waited)
{
	u32 skip = sizeof(struct sanx_record), n, want;
	int fault = 0, err = 0;

	WRITE_ONCE(conn->record_left, len);
	for (;;) {
		n = min(conn->record_left, sanx_rxq_avail(&conn->rx) - skip);
		want = fault ? 0 : min(n, size);
		if (want && sanx_rxq_read(&conn->rx, skip, &msg->msg_iter, want) != want)
			fault = -EFAULT;
		size -= min(n, size);
		record_pass(conn, skip, n);
		skip = 0;
		if (!conn->record_left)
			break;
		*waited = true;
		err = record_recv_wait(ss, conn);
		if (err)
			break;
	}
	return err ?: fault;
}

/* recv(MSG_PEEK).  Context: rx_mutex held.  Return: 0 or -EFAULT. */
static int record_peek(struct sanx_conn *conn, struct msghdr *msg, u32 n)
{
	return sanx_rxq_read(&conn->rx, sizeof(struct sanx_record), &msg->msg_iter, n) == n ?
	       0 : -EFAULT;
}

/*
 * Reads a record if there is one.
 * @seen: set to the bytes that were there
 * @waited: set to true if poll() may have missed records, because of this reader
 * Context: reading held; takes rx_mutex.
 * Return: bytes; -EAGAIN; -EPROTO; or as record_read() and record_peek().
 */
static ssize_t record_take(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
			   size_t size, int flags, u32 *seen, bool *waited)
{
	enum sanx_record_state state;
	u32 len, f, n;
	int err;

	mutex_lock(&conn->rx_mutex);
	*waited = record_skip(conn);
	state = record_look(conn, ss->sk, seen, &len, &f);
	if (state == SANX_RECORD_BROKEN) {
		sanx_conn_pass(conn, *seen);
		err = -EPROTO;
	} else if (!sanx_record_readable(state)) {
		err = -EAGAIN;
	} else if (flags & MSG_PEEK) {
		n = min3((size_t)len, size, (size_t)*seen - sizeof(struct sanx_record));
		err = record_peek(conn, msg, n);
	} else {
		n = min_t(size_t, len, size);
		err = record_read(ss, conn, msg, len, n, waited);
	}
	mutex_unlock(&conn->rx_mutex);
	if (err)
		return err;
	if (n < len)
		msg->msg_flags |= MSG_TRUNC;
	if (f & SANX_RECORD_F_EOR)
		msg->msg_flags |= MSG_EOR;
	return flags & MSG_TRUNC ? len : n;
}

/* Return: 0; -EAGAIN or -errno for a signal if another reader waits for the rest of a record. */
static int record_lock(struct sanx_explicit *ex, const struct sanx_conn *conn, long timeo)
{
	if (mutex_trylock(&ex->reading))
		return 0;
	if (!timeo && READ_ONCE(conn->record_left))
		return -EAGAIN;
	return mutex_lock_interruptible(&ex->reading) ? sock_intr_errno(timeo) : 0;
}

/* As record_take(), with @reading. */
static ssize_t record_recv_once(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
				size_t size, int flags, u32 *seen)
{
	bool waited;
	ssize_t n;

	n = record_take(ss, conn, msg, size, flags, seen, &waited);
	mutex_unlock(&ss->explicit->reading);
	/* sanx_record_poll() found reading locked, and said that there is no record. */
	if (waited && sanx_rxq_avail(&conn->rx))
		sanx_conn_rx_ready(conn);
	if (n == -EPROTO) {
		sanx_count_protocol_error(conn->net);
		sanx_conn_abort(conn, EPROTO);
	} else if (n == -ETIMEDOUT) {
		sanx_conn_abort(conn, ETIMEDOUT);
	} else {
		return n == -ESHUTDOWN ? 0 : n;
	}
	/* The program is told once. */
	return sock_error(ss->sk) ?: n;
}

/**
 * sanx_record_recv() - read a record
 * @ss: the socket's AF_SANX part
 * @conn: its connection
 * @msg: where to; msg_flags gets MSG_TRUNC and MSG_EOR
 * @size: bytes there
 * @flags: MSG_*; with MSG_TRUNC the result is the length of the record
 *
 * Context: process, may sleep; takes reading and rx_mutex.
 * Return: bytes of the record that @msg has; 0 at the end of the stream; -EOPNOTSUPP for
 * MSG_OOB; -EPROTO if the peer has sent no record, and the connection ends; or -errno as of a
 * stream.
 */
ssize_t sanx_record_recv(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
			 size_t size, int flags)
{
	long timeo = sock_rcvtimeo(ss->sk, flags & MSG_DONTWAIT);
	ssize_t n;
	u32 seen;
	int err;

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	for (;;) {
		err = record_lock(ss->explicit, conn, timeo);
		if (err)
			return err;
		n = record_recv_once(ss, conn, msg, size, flags, &seen);
		if (n != -EAGAIN)
			return n;
		switch (sanx_recv_end(ss, conn, seen, true, &err)) {
		case SANX_RECV_STOP:
			if (!err && seen)
				err = record_cut(conn);
			return err == -ESHUTDOWN ? 0 : err;
		case SANX_RECV_AGAIN:
			continue;
		case SANX_RECV_WAIT:
			break;
		}
		err = sanx_recv_wait(ss, conn, seen, false, TASK_INTERRUPTIBLE, &timeo);
		if (err)
			return err;
	}
}

/**
 * sanx_record_poll() - can a record be read without waiting for it to begin?
 * @ss: the socket's AF_SANX part
 * @conn: its connection
 *
 * Context: process; tries reading and rx_mutex.
 * Return: true if so, or if another call uses the ring just now; it may take the record.
 */
bool sanx_record_poll(struct sanx_sock *ss, struct sanx_conn *conn)
{
	u32 avail, len, flags;
	bool readable;

	if (!sanx_rxq_avail(&conn->rx))
		return false;
	if (!mutex_trylock(&conn->rx_mutex))
		return true;
	/* If one reads, it wakes us when it is done: record_recv_once(). */
	if (conn->record_left && mutex_trylock(&ss->explicit->reading)) {
		record_skip(conn);
		mutex_unlock(&ss->explicit->reading);
	}
	readable = sanx_record_readable(record_look(conn, ss->sk, &avail, &len, &flags));
	mutex_unlock(&conn->rx_mutex);
	return readable;
}

/**
 * sanx_record_inq() - SIOCINQ: bytes of the next record
 * @ss: the socket's AF_SANX part
 * @conn: its connection
 *
 * Context: process, may sleep; takes rx_mutex.
 * Return: bytes, 0 if there is none; as for UDP.
 */
u32 sanx_record_inq(const struct sanx_sock *ss, struct sanx_conn *conn)
{
	u32 avail, len, flags;
	bool readable;

	mutex_lock(&conn->rx_mutex);
	readable = sanx_record_readable(record_look(conn, ss->sk, &avail, &len, &flags));
	mutex_unlock(&conn->rx_mutex);
	return readable && len <= SANX_RECORD_MAX ? len : 0;
}

/* proto_ops.set_rcvlowat: a record is enough, as for other sockets of the type. */
int sanx_record_set_rcvlowat(struct sock *sk, int val)
{
	return 0;
}
