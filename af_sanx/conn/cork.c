// SPDX-License-Identifier: GPL-2.0
/*
 * Corking: TCP_CORK and MSG_MORE.
 *
 * The transport keeps bytes back if the program says that more will follow.
 * The peer sees nothing of them until
 *
 * - the program sends without saying so, clears TCP_CORK, or sets TCP_NODELAY;
 * - the stream ends, by shutdown() or close();
 * - a part is urgent;
 * - SANX_CORK_MAX bytes are there, as TCP sends full segments, or little room
 *   is left;
 * - CORK_TIME has passed.
 *
 * This is the behaviour of tcp(7) and of tcp_push() in net/ipv4/tcp.c.  Waiting
 * for an answer does not send corked bytes.  (TCP also sends bytes that only
 * MSG_MORE keeps back when anything arrives from the peer.  AF_SANX waits in
 * this case as well.)  A reset drops corked bytes.
 *
 * Coalescing (coalesce.c) is different: it lasts much shorter, ends when the
 * program waits, and hides nothing over loop.
 *
 * conn->tx_mutex guards cork.bytes and cork.since.
 */
#include "internal.h"

/* "A 200 millisecond ceiling", tcp(7). */
#define CORK_TIME	(HZ / 5)

/**
 * sanx_cork_hold() - bytes were corked
 * @conn: the connection; close() was not called for it yet
 * @n: bytes, at least 1
 *
 * The core calls sanx_transport_ops.uncork() later, unless the transport calls
 * sanx_cork_release() before.  A timer that is armed already is not changed; it
 * checks @since when it expires.
 *
 * Context: process, tx_mutex held.
 */
void sanx_cork_hold(struct sanx_conn *conn, u32 n)
{
	struct sanx_cork *c = &conn->cork;
	u32 before = c->bytes;

	lockdep_assert_held(&conn->tx_mutex);
	WRITE_ONCE(c->bytes, before + n);
	if (before)
		return;
	c->since = jiffies;
	sanx_conn_later(conn, &c->work, CORK_TIME);
}

static void cork_out(struct sanx_conn *conn)
{
	lockdep_assert_held(&conn->tx_mutex);
	if (!sanx_cork_release(conn) || !sanx_conn_open(conn))
		return;
	conn->ops->uncork(conn);
}

static void cork_work(struct work_struct *work)
{
	struct sanx_conn *conn = container_of(to_delayed_work(work),
					      struct sanx_conn, cork.work);
	long more = 1;

	/*
	 * Only tries the mutex: a copy of a sender can fault for an unbounded
	 * time.
	 */
	if (mutex_trylock(&conn->tx_mutex)) {
		more = conn->cork.bytes ?
		       conn->cork.since + CORK_TIME - jiffies : 0;
		if (more <= 0)
			cork_out(conn);
		mutex_unlock(&conn->tx_mutex);
	}
	if (more > 0 && sanx_conn_open(conn))
		sanx_conn_later(conn, &conn->cork.work, more);
	/* sanx_conn_recheck() uses this work to wake senders. */
	sanx_conn_tx_look(conn);
	sanx_conn_later_done(conn);
}

/**
 * sanx_cork_init() - initialise corking of a new connection
 * @conn: the connection
 */
void sanx_cork_init(struct sanx_conn *conn)
{
	INIT_DELAYED_WORK(&conn->cork.work, cork_work);
}

/**
 * sanx_cork_pull() - announce corked bytes
 * @conn: the connection
 *
 * Context: process, may sleep: takes tx_mutex; lock_sock() may be held.
 */
void sanx_cork_pull(struct sanx_conn *conn)
{
	mutex_lock(&conn->tx_mutex);
	cork_out(conn);
	mutex_unlock(&conn->tx_mutex);
}

/**
 * sanx_cork_stop() - the socket was closed
 * @conn: a connection that is not open any more
 *
 * The transport sends corked bytes, or drops them.
 *
 * Context: process.
 */
void sanx_cork_stop(struct sanx_conn *conn)
{
	sanx_conn_later_stop(conn, &conn->cork.work);
}
