// SPDX-License-Identifier: GPL-2.0
/*
 * What has come to a connection, and whom it wakes: bytes for a reader, room for a sender.
 * conn.c has the barriers.
 */
#include <linux/export.h>
#include <net/tcp.h>

#include "conn_priv.h"

/* sk_data_ready and sk_write_space of TCP, which are not exported. */
static void (*conn_native_data_ready)(struct sock *sk) __ro_after_init;
static void (*conn_native_write_space)(struct sock *sk) __ro_after_init;

/*
 * Records an arrival: the CPU (SO_INCOMING_CPU), and the time if the program
 * wants it.  Without a sock the program cannot have asked yet, so the time is
 * recorded.
 */
static void conn_note_arrival(struct sanx_conn *conn)
{
	struct sock *sk;

	WRITE_ONCE(conn->rx_time, jiffies);
	rcu_read_lock();
	/*
	 * Pairs with smp_store_release() in sanx_conn_attach().  Unlike
	 * sanx_conn_sk(), this is no wake-up and needs no full barrier.
	 */
	sk = smp_load_acquire(&conn->sk);
	if (READ_ONCE(conn->detached))
		sk = NULL;
	if (sk)
		sk_incoming_cpu_update(sk);
	if (unlikely(!sk || sk->sk_flags & SK_FLAGS_TIMESTAMP))
		WRITE_ONCE(conn->rx_stamp, ktime_get_real_ns());
	else if (unlikely(conn->rx_stamp))
		WRITE_ONCE(conn->rx_stamp, 0);
	rcu_read_unlock();
}

/**
 * sanx_conn_arrive() - publish bytes that are in the ring
 * @conn: the connection
 * @offset: stream offset of the first byte
 * @len: bytes
 *
 * Context: the transport, one at a time; any.
 * Return: 0, or -EPROTO as sanx_rxq_arrive().
 */
int sanx_conn_arrive(struct sanx_conn *conn, u64 offset, u32 len)
{
	conn_note_arrival(conn);
	return sanx_rxq_arrive(&conn->rx, offset, len);
}

/**
 * sanx_conn_readable() - is there so much to read that programs are told?
 * @conn: the connection
 * @sk: its sock
 * @avail: bytes that can be read
 *
 * SO_RCVLOWAT says from how many, as in tcp_epollin_ready(), and under memory pressure one
 * is enough.  A sender may not be able to fill more than half of the ring, so it must not
 * wait for more.
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_conn_readable(const struct sanx_conn *conn, const struct sock *sk, u32 avail)
{
	u32 enough = min_t(u32, sock_rcvlowat(sk, 0, INT_MAX),
			   READ_ONCE(conn->rx_max) / 2);

	return avail && (avail >= enough || sanx_mem_pressure(conn, sk));
}

/**
 * sanx_conn_pass() - the reader has the first bytes of the ring
 * @conn: the connection
 * @n: bytes, at most sanx_rxq_avail()
 *
 * Frees the ring memory, and each ring that was read to its end.
 *
 * Context: process, rx_mutex held.
 */
void sanx_conn_pass(struct sanx_conn *conn, u32 n)
{
	struct sanx_left left;

	sanx_rxq_consume(&conn->rx, n);
	while (unlikely(sanx_rxq_follow(&conn->rx, &left)))
		conn->ops->left(conn, &left);
	sanx_urg_passed(conn);
	sanx_hold_received(conn);
	conn->ops->consumed(conn);
}

/**
 * sanx_conn_tell_reader() - call sk_data_ready(), or have it called
 * @conn: the connection
 * @sk: its sock
 *
 * Context: any; the caller keeps @sk.
 */
void sanx_conn_tell_reader(struct sanx_conn *conn, struct sock *sk)
{
	void (*ready)(struct sock *sk) = READ_ONCE(sk->sk_data_ready);

	if (likely(ready == conn_native_data_ready) || !sanx_feed_arrived(conn, sk))
		ready(sk);
}

/*
 * As tcp_data_ready(): an arrival below SO_RCVLOWAT is no event, and no signal.  A recv() of
 * fewer bytes waits for fewer.  Only that looks for EPOLLMSG, which nothing sends otherwise.
 */
static void conn_data_ready(struct sanx_conn *conn, struct sock *sk)
{
	struct socket_wq *wq;

	if (likely(READ_ONCE(sk->sk_rcvlowat) <= 1) ||
	    sanx_conn_readable(conn, sk, sanx_rxq_avail(&conn->rx))) {
		sanx_conn_tell_reader(conn, sk);
		return;
	}
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLMSG);
}

/**
 * sanx_conn_rx_ready() - wake readers: there are bytes to read
 * @conn: the connection
 *
 * A reader that enters the wait queue looks at the ring behind a full barrier,
 * which pairs with skwq_has_sleeper() in sk_data_ready() and conn_data_ready().
 *
 * Context: any; no lock of the core held.
 */
void sanx_conn_rx_ready(struct sanx_conn *conn)
{
	struct sock *sk;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk)
		conn_data_ready(conn, sk);
	else
		sanx_conn_tell(conn);
	rcu_read_unlock();
}

/*
 * As sk_stream_write_space(), without its condition.  That condition is about
 * the native sock's own queue, through which no bytes pass, and which
 * connect(AF_UNSPEC) leaves as if it held some.  If a kernel consumer has
 * replaced sk_write_space, its function is called.
 */
static void conn_write_space(struct sock *sk)
{
	struct socket *sock = READ_ONCE(sk->sk_socket);
	struct socket_wq *wq;

	/*
	 * The room was made before, see sanx_conn_sk().  The barrier there
	 * pairs with smp_mb__after_atomic() in sanx_want_room(), which sets the
	 * flag.
	 */
	if (!sock || !test_bit(SOCK_NOSPACE, &sock->flags))
		return;
	if (sk->sk_write_space != conn_native_write_space) {
		sk->sk_write_space(sk);
		return;
	}
	clear_bit(SOCK_NOSPACE, &sock->flags);
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM |
						      EPOLLWRBAND);
	if (wq && wq->fasync_list &&
	    !(READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN))
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
}

/**
 * sanx_conn_tx_look() - wake senders: there may be room
 * @conn: the connection
 *
 * Context: any.
 */
void sanx_conn_tx_look(struct sanx_conn *conn)
{
	struct sock *sk;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk)
		conn_write_space(sk);
	else
		sanx_conn_tell_user(conn);
	rcu_read_unlock();
}

/**
 * sanx_conn_tx_ready() - wake senders: there is room
 * @conn: the connection
 *
 * Wakes only senders that called sanx_want_room().
 *
 * Context: any.
 */
void sanx_conn_tx_ready(struct sanx_conn *conn)
{
	WRITE_ONCE(conn->ack_time, jiffies);
	sanx_conn_tx_look(conn);
}

int __init sanx_conn_init(void)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			       &sock);
	if (err)
		return err;
	conn_native_data_ready = sock->sk->sk_data_ready;
	conn_native_write_space = sock->sk->sk_write_space;
	sock_release(sock);
	return 0;
}
