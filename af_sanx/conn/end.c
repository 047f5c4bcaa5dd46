// SPDX-License-Identifier: GPL-2.0
/* How a connection ends: one direction at a time, by a reset, or by close(). */
#include <net/tcp.h>

#include "conn_priv.h"
#include "trace.h"

static void conn_wake_end(struct sanx_conn *conn)
{
	struct sock *sk;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk) {
		if (!sanx_feed_changed(conn))
			sk->sk_state_change(sk);
		sk_wake_async(sk, SOCK_WAKE_WAITD,
			      READ_ONCE(conn->shutdown) == SHUTDOWN_MASK ?
			      POLL_HUP : POLL_IN);
	} else {
		sanx_conn_tell(conn);
	}
	rcu_read_unlock();
}

/* The peer, if it is the client, may connect again from the same port. */
static void conn_let_redial(struct sanx_conn *conn)
{
	struct sock *sk;

	lockdep_assert_held(&conn->lock);
	rcu_read_lock();
	sk = conn->accepted ? sanx_conn_sk(conn) : NULL;
	if (sk)
		sanx_native_unhash(sk);
	rcu_read_unlock();
}

/*
 * The peer sends no more, and may have forgotten the connection.
 * Return: 0, or -EPROTO if it had ended its direction before.
 */
static int conn_fin_rx(struct sanx_conn *conn)
{
	int err;

	lockdep_assert_held(&conn->lock);
	err = sanx_conn_event(conn, SANX_EV_FIN_RX);
	if (err)
		return err;
	sanx_conn_set_shutdown(conn, RCV_SHUTDOWN);
	conn_let_redial(conn);
	return 0;
}

/**
 * sanx_conn_suspended() - the connection has lost its link, and waits for another one
 * @conn: the connection
 *
 * If its client is not the node that it was, it may connect again by TCP from the same port,
 * and must not meet a sock that drops its SYN.
 *
 * Context: any.
 */
void sanx_conn_suspended(struct sanx_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn_let_redial(conn);
	spin_unlock_bh(&conn->lock);
}

/**
 * sanx_conn_fin() - the peer sends no more; what arrived can be read
 * @conn: the connection
 *
 * Context: any.
 * Return: 0, or -EPROTO if the peer had ended its direction before.
 */
int sanx_conn_fin(struct sanx_conn *conn)
{
	int err;

	spin_lock_bh(&conn->lock);
	err = conn_fin_rx(conn);
	spin_unlock_bh(&conn->lock);
	if (!err)
		conn_wake_end(conn);
	return err;
}

/**
 * sanx_conn_peer_closed() - the peer neither sends nor reads any more
 * @conn: the connection
 *
 * As with TCP, the program reads up to the end of the stream.  A failing send
 * tells it that the peer does not read any more.
 *
 * Context: any.
 */
void sanx_conn_peer_closed(struct sanx_conn *conn)
{
	spin_lock_bh(&conn->lock);
	WRITE_ONCE(conn->peer_gone, true);
	conn_fin_rx(conn);
	spin_unlock_bh(&conn->lock);
	conn_wake_end(conn);
	sanx_conn_tx_ready(conn);
}

/*
 * Is the connection in what TCP calls CLOSE-WAIT?  An acceptor on this node can
 * end its direction while this end is still CONNECTING.
 */
static bool conn_close_wait(const struct sanx_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->state == SANX_CONN_FIN_RCVD ||
	       (conn->state == SANX_CONN_CONNECTING &&
		conn->shutdown & RCV_SHUTDOWN);
}

/* Ends a connection that can.  Context: conn->lock held, and released here. */
static void conn_die(struct sanx_conn *conn, int err) __releases(&conn->lock)
{
	struct sock *sk;
	bool counted;

	lockdep_assert_held(&conn->lock);
	if (err == ECONNRESET && conn_close_wait(conn))
		err = EPIPE;
	/* Before accept() may find it, it is what a request is for TCP. */
	counted = sanx_conn_open(conn) && !READ_ONCE(conn->deferred) && !conn->user;
	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk)
		WRITE_ONCE(sk->sk_err, err);
	WRITE_ONCE(conn->err, err);
	/*
	 * The error is stored before all that tells of the end.  Otherwise a
	 * reader could take a reset for the end of the stream.  As in
	 * tcp_reset().  Pairs with smp_rmb() in sanx_recv_end(), sanx_send_may() and
	 * poll_conn(), which read sk_err last.
	 */
	smp_wmb();
	WRITE_ONCE(conn->peer_gone, true);
	sanx_conn_event(conn, SANX_EV_DIE);
	sanx_conn_set_shutdown(conn, SHUTDOWN_MASK);
	if (sk)
		sanx_native_done(sk);
	spin_unlock_bh(&conn->lock);
	if (sk) {
		sk_error_report(sk);
		if (!sanx_feed_changed(conn))
			sk->sk_state_change(sk);
	} else {
		sanx_conn_tell(conn);
	}
	rcu_read_unlock();
	if (counted)
		sanx_stat_add(conn->net, SANX_STAT_RESETS, 1);
}

/**
 * sanx_conn_reset() - the connection breaks
 * @conn: the connection; bytes that arrived can still be read
 * @err: errno (positive) for the program.  ECONNRESET becomes EPIPE after the
 *	peer's end of stream and before ours, as in TCP.
 *
 * Does nothing if the connection is dead already, or was refused: its socket becomes
 * TCP, or sanx_conn_refused_end() ends it.
 *
 * Context: any; no lock of the core held.
 */
void sanx_conn_reset(struct sanx_conn *conn, int err)
{
	spin_lock_bh(&conn->lock);
	if (conn->state == SANX_CONN_REFUSED || sanx_state_next(conn->state, SANX_EV_DIE) < 0)
		spin_unlock_bh(&conn->lock);
	else
		conn_die(conn, err);
}

/**
 * sanx_conn_refused_end() - a refused connection ends, as its socket cannot be TCP
 * @conn: the connection; nothing happens unless it was refused and has not ended
 * @err: errno (positive) for the program
 *
 * Context: as sanx_conn_reset(), or lock_sock() held.
 */
void sanx_conn_refused_end(struct sanx_conn *conn, int err)
{
	spin_lock_bh(&conn->lock);
	if (conn->state != SANX_CONN_REFUSED)
		spin_unlock_bh(&conn->lock);
	else
		conn_die(conn, err);
}

/**
 * sanx_conn_discards() - has the program shut down both directions?
 * @conn: the connection
 *
 * No program reads what the peer sends after that.  As with TCP the peer gets a
 * reset: the transport calls sanx_conn_reset() when bytes arrive, and makes
 * sure that the peer gets ECONNRESET.
 *
 * Context: any.
 * Return: true if it has, and the peer has not ended its direction.
 */
bool sanx_conn_discards(const struct sanx_conn *conn)
{
	return READ_ONCE(conn->state) == SANX_CONN_FIN_SENT &&
	       READ_ONCE(conn->shutdown) & RCV_SHUTDOWN;
}

/**
 * sanx_conn_shutdown() - end one or both directions at this end
 * @conn: an open connection
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 *
 * Context: process, may sleep; takes tx_mutex.
 * Return: 0, or -ENOTCONN if the connection is over.
 */
int sanx_conn_shutdown(struct sanx_conn *conn, int how)
{
	bool fin = false;

	if (sanx_conn_over(conn))
		return -ENOTCONN;
	mutex_lock(&conn->tx_mutex);
	spin_lock_bh(&conn->lock);
	if (!sanx_conn_open(conn)) {
		spin_unlock_bh(&conn->lock);
		mutex_unlock(&conn->tx_mutex);
		return -ENOTCONN;
	}
	if (how & SEND_SHUTDOWN)
		fin = !sanx_conn_event(conn, SANX_EV_FIN_TX);
	sanx_conn_set_shutdown(conn, how);
	spin_unlock_bh(&conn->lock);
	if (fin) {
		sanx_hold_fin(conn);
		conn->ops->fin(conn);
	}
	mutex_unlock(&conn->tx_mutex);
	conn_wake_end(conn);
	return 0;
}

/**
 * sanx_conn_stop() - cancel all work of a connection in the connect thread
 * @conn: a closed connection
 *
 * Context: process, may sleep; lock_sock() not held, because the thread takes
 * it.
 */
void sanx_conn_stop(struct sanx_conn *conn)
{
	sanx_conn_work_stop(&conn->retry);
	sanx_conn_work_stop(&conn->work);
}

/**
 * sanx_conn_close() - the socket releases its connection
 * @conn: the connection; the caller keeps its reference
 * @reset: the peer must get a reset and not the end of the stream
 *
 * Unread bytes cause a reset, as in TCP (RFC 2525, section 2.17).  There is no
 * reset if both directions have ended and our end was acknowledged.
 *
 * Context: process, may sleep; no lock of @conn held.
 */
void sanx_conn_close(struct sanx_conn *conn, bool reset)
{
	enum sanx_conn_state was = READ_ONCE(conn->state);
	bool over = was == SANX_CONN_FINISHED && sanx_conn_over(conn);

	spin_lock_bh(&conn->lock);
	was = conn->state;
	if (sanx_rxq_avail(&conn->rx))
		reset = true;
	/* Its program never had it, so the peer's must not find it. */
	if (was != SANX_CONN_NEW && !sanx_conn_was_open(conn))
		reset = true;
	if (over)
		reset = false;
	sanx_conn_event(conn, SANX_EV_DIE);
	spin_unlock_bh(&conn->lock);
	sanx_liveness_stop(conn);
	sanx_hold_stop(conn);
	sanx_tx_timer_stop(conn);
	if (was != SANX_CONN_NEW)
		conn->ops->close(conn, reset);
	sanx_reclaim_stop(conn);
}
