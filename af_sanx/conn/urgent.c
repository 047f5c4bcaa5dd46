// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data (MSG_OOB): a mark in the stream, as in TCP (RFC 9293, section
 * 3.8.5; tcp(7)).
 *
 * The urgent byte is in the ring like any other, and the mark has its offset.
 * Reading stops at the mark once, and then leaves the byte out unless
 * SO_OOBINLINE is set.  recv(MSG_OOB) reads the byte from the ring.  A later
 * mark replaces an earlier one, whose byte then becomes ordinary.
 *
 * The mark arrives together with its byte.  TCP sends the mark ahead, even
 * while the receiver's window is closed.  Here a sender with urgent data waits
 * for room like any other.
 *
 * conn->lock guards conn->urg.  Readers look at urg.state without it first.
 * sanx_conn_urgent() stores the mark before sanx_rxq_arrive() publishes its
 * byte with release.  So a reader that sees the byte in sanx_rxq_avail(), which
 * loads with acquire, sees the mark.
 */
#include "conn_priv.h"

/* Initialise urgent data of a new connection. */
void sanx_urg_init(struct sanx_urg *urg)
{
	urg->state = SANX_URG_NONE;
	urg->hole = U64_MAX;
}

static bool urg_inline(const struct sock *sk)
{
	return sock_flag(sk, SOCK_URGINLINE);
}

/* Is the byte at @pos left out by reading?  Context: conn->lock held. */
static bool urg_hole(const struct sanx_urg *urg, const struct sock *sk, u64 pos)
{
	return urg->hole == pos || (urg->state != SANX_URG_NONE &&
				    urg->seq == pos && !urg_inline(sk));
}

/*
 * Called before a new mark replaces the old one.  If the reader is at the old
 * mark, whose byte was to be left out, that byte is still left out
 * (tcp_check_urg()).
 */
static void urg_keep_hole(struct sanx_conn *conn, const struct sock *sk)
{
	struct sanx_urg *urg = &conn->urg;

	if (urg->state != SANX_URG_NONE &&
	    urg->seq == READ_ONCE(conn->rx.head) &&
	    !(sk && urg_inline(sk)))
		urg->hole = urg->seq;
}

/**
 * sanx_conn_urgent() - a byte that is about to arrive is urgent
 * @conn: the connection
 * @offset: its stream offset; sanx_rxq_arrive() has not published it yet
 *
 * Context: the transport, one at a time; any.
 */
void sanx_conn_urgent(struct sanx_conn *conn, u64 offset)
{
	struct sanx_urg *urg = &conn->urg;
	struct sock *sk;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	spin_lock_bh(&conn->lock);
	urg_keep_hole(conn, sk);
	urg->seq = offset;
	WRITE_ONCE(urg->state, SANX_URG_NEW);
	spin_unlock_bh(&conn->lock);
	rcu_read_unlock();
}

/**
 * sanx_conn_urgent_came() - an urgent byte has arrived
 * @conn: the connection; sanx_conn_urgent() was called for it
 *
 * A handler of SIGURG finds the byte in the ring.  The signal goes to the owner
 * of the socket's file.  close() frees the file while this function uses the
 * sock, but not before sock_orphan(), which needs sk_callback_lock.
 *
 * Context: the transport; any.
 */
void sanx_conn_urgent_came(struct sanx_conn *conn)
{
	struct sock *sk;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk) {
		read_lock_bh(&sk->sk_callback_lock);
		sk_send_sigurg(sk);
		read_unlock_bh(&sk->sk_callback_lock);
		/* As in tcp_urg(), whatever SO_RCVLOWAT is. */
		sanx_conn_tell_reader(conn, sk);
	}
	rcu_read_unlock();
}

/**
 * sanx_urg_at_mark() - is the reader at the mark?
 * @conn: the connection
 * @pos: stream offset of the next byte that it reads
 *
 * Context: any; takes conn->lock.
 * Return: true if it is, whether or not recv(MSG_OOB) has read the byte.
 */
bool sanx_urg_at_mark(struct sanx_conn *conn, u64 pos)
{
	bool at;

	if (READ_ONCE(conn->urg.state) == SANX_URG_NONE)
		return false;
	spin_lock_bh(&conn->lock);
	at = conn->urg.state != SANX_URG_NONE && conn->urg.seq == pos;
	spin_unlock_bh(&conn->lock);
	return at;
}

/**
 * sanx_urg_run() - number of bytes that a reader may read without a stop
 * @conn: the connection
 * @sk: its sock
 * @pos: stream offset of the next byte that it reads
 * @avail: bytes from @pos on that have arrived, determined before this call
 * @hole: set to true if the byte at @pos is to be left out
 *
 * Context: the reader; takes conn->lock.
 * Return: bytes before the next mark; 0 if @hole is true.
 */
u32 sanx_urg_run(struct sanx_conn *conn, const struct sock *sk, u64 pos,
		 u32 avail, bool *hole)
{
	struct sanx_urg *urg = &conn->urg;
	u64 ahead;

	*hole = false;
	if (likely(READ_ONCE(urg->state) == SANX_URG_NONE))
		return avail;
	spin_lock_bh(&conn->lock);
	ahead = urg->seq - pos;
	*hole = avail && urg_hole(urg, sk, pos);
	spin_unlock_bh(&conn->lock);
	if (*hole)
		return 0;
	return ahead && ahead < avail ? ahead : avail;
}

/**
 * sanx_urg_passed() - remove a mark that the reader has passed
 * @conn: the connection
 *
 * Context: the reader; takes conn->lock.
 */
void sanx_urg_passed(struct sanx_conn *conn)
{
	struct sanx_urg *urg = &conn->urg;

	if (likely(READ_ONCE(urg->state) == SANX_URG_NONE))
		return;
	spin_lock_bh(&conn->lock);
	if (urg->seq < conn->rx.head)
		WRITE_ONCE(urg->state, SANX_URG_NONE);
	if (urg->hole < conn->rx.head)
		urg->hole = U64_MAX;
	spin_unlock_bh(&conn->lock);
}

/**
 * sanx_urg_poll() - urgent data for poll()
 * @conn: the connection
 * @sk: its sock
 * @avail: bytes that have arrived and were not read; reduced by a byte that
 *	reading will leave out first
 *
 * Context: any; takes conn->lock.
 * Return: EPOLLPRI if an urgent byte can be read, else 0.
 */
__poll_t sanx_urg_poll(struct sanx_conn *conn, const struct sock *sk,
		       u32 *avail)
{
	u64 head = READ_ONCE(conn->rx.head);
	struct sanx_urg *urg = &conn->urg;
	__poll_t mask = 0;

	if (likely(READ_ONCE(urg->state) == SANX_URG_NONE))
		return 0;
	spin_lock_bh(&conn->lock);
	if (urg->state == SANX_URG_NEW && urg->seq - head < *avail)
		mask = EPOLLPRI;
	if (*avail && urg_hole(urg, sk, head))
		--*avail;
	spin_unlock_bh(&conn->lock);
	return mask;
}

/**
 * sanx_urg_inq() - SIOCINQ: number of bytes up to the mark, if one is ahead
 * @conn: the connection
 * @sk: its sock
 *
 * Context: any; takes conn->lock.
 * Return: bytes, as tcp_inq().
 */
u32 sanx_urg_inq(struct sanx_conn *conn, const struct sock *sk)
{
	u32 avail = sanx_rxq_avail(&conn->rx);
	u64 head = READ_ONCE(conn->rx.head);
	struct sanx_urg *urg = &conn->urg;

	if (READ_ONCE(urg->state) == SANX_URG_NONE || urg_inline(sk))
		return avail;
	spin_lock_bh(&conn->lock);
	if (urg->state != SANX_URG_NONE && urg->seq - head < avail)
		avail = urg->seq - head;
	if (avail && urg->hole == head)
		avail--;
	spin_unlock_bh(&conn->lock);
	return avail;
}

/*
 * Context: rx_mutex held, so that the byte stays in the ring; takes conn->lock.
 */
static int urg_byte(struct sanx_conn *conn, bool peek, u8 *byte)
{
	struct sanx_urg *urg = &conn->urg;
	int err = -EINVAL;
	u64 ahead;

	spin_lock_bh(&conn->lock);
	if (urg->state == SANX_URG_NEW) {
		ahead = urg->seq - conn->rx.head;
		err = -EAGAIN;
		if (ahead < sanx_rxq_avail(&conn->rx)) {
			*byte = sanx_rxq_byte(&conn->rx, urg->seq);
			if (!peek)
				WRITE_ONCE(urg->state, SANX_URG_READ);
			err = 0;
		}
	}
	spin_unlock_bh(&conn->lock);
	return err;
}

/**
 * sanx_urg_recv() - recv(MSG_OOB)
 * @conn: the connection
 * @sk: its sock
 * @msg: destination of the byte
 * @len: bytes of room there
 * @flags: MSG_*
 *
 * Context: process; takes rx_mutex.
 * Return: 1; 0 at the end of the stream, or if @len is 0; -EINVAL if there is
 * no urgent data, if it is inline, or if it was read already; -EAGAIN if it has
 * not arrived yet; -EFAULT.
 */
int sanx_urg_recv(struct sanx_conn *conn, const struct sock *sk,
		  struct msghdr *msg, size_t len, int flags)
{
	u8 byte;
	int err;

	if (urg_inline(sk))
		return -EINVAL;
	mutex_lock(&conn->rx_mutex);
	err = urg_byte(conn, flags & MSG_PEEK, &byte);
	mutex_unlock(&conn->rx_mutex);
	if (err == -EAGAIN && (!sanx_conn_open(conn) ||
			       (READ_ONCE(conn->shutdown) & RCV_SHUTDOWN)))
		return 0;
	if (err)
		return err;
	msg->msg_flags |= MSG_OOB;
	if (!len) {
		msg->msg_flags |= MSG_TRUNC;
		return 0;
	}
	if (!(flags & MSG_TRUNC) && memcpy_to_msg(msg, &byte, 1))
		return -EFAULT;
	return 1;
}
