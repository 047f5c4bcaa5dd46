// SPDX-License-Identifier: GPL-2.0
/*
 * Corks: TCP_CORK and MSG_MORE.
 *
 * A program that says that more is to come has what it sends put away by the
 * transport, and the peer sees nothing of it until
 *
 * - the program sends without saying so, takes the cork out, or sets TCP_NODELAY;
 * - the stream ends, by shutdown() or close();
 * - a part is urgent;
 * - SANX_CORK_MAX bytes are there, as TCP sends full segments, or little room
 *   is left;
 * - CORK_TIME is over.
 *
 * That is tcp(7) and tcp_push() of net/ipv4/tcp.c.  Waiting for an answer does
 * not take it out.  (What MSG_MORE alone keeps back TCP also sends when anything
 * comes from the peer, which here it waits for no less.)  A reset drops what is put
 * away.
 *
 * It is not gathering (gather.c), which is over in a moment, ends when the
 * program waits, and over loop hides nothing.
 */
#include <linux/export.h>

#include "internal.h"

/* "A 200 millisecond ceiling", tcp(7). */
#define CORK_TIME	(HZ / 5)

/**
 * sanx_cork_hold() - something is put away
 * @conn: the connection, not told to close
 * @n: bytes, at least 1
 *
 * sanx_transport_ops.uncork() will come, unless the transport says with
 * sanx_cork_release() that there is no need.  An armed timer is left alone; it
 * looks how long it has been.
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
EXPORT_SYMBOL_GPL(sanx_cork_hold);

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

	/* A sender may wait for its pages for as long as it likes. */
	if (mutex_trylock(&conn->tx_mutex)) {
		more = conn->cork.bytes ?
		       conn->cork.since + CORK_TIME - jiffies : 0;
		if (more <= 0)
			cork_out(conn);
		mutex_unlock(&conn->tx_mutex);
	}
	if (more > 0 && sanx_conn_open(conn))
		sanx_conn_later(conn, &conn->cork.work, more);
	/* Or it was armed for who waits: sanx_conn_recheck(). */
	sanx_conn_tx_look(conn);
	sanx_conn_later_done(conn);
}

/**
 * sanx_cork_init() - a connection with nothing put away
 * @conn: the connection
 */
void sanx_cork_init(struct sanx_conn *conn)
{
	INIT_DELAYED_WORK(&conn->cork.work, cork_work);
}

/**
 * sanx_cork_pull() - what is put away is to go
 * @conn: the connection
 *
 * Context: process, may sleep; lock_sock() may be held.
 */
void sanx_cork_pull(struct sanx_conn *conn)
{
	mutex_lock(&conn->tx_mutex);
	cork_out(conn);
	mutex_unlock(&conn->tx_mutex);
}

/**
 * sanx_cork_stop() - the socket is gone
 * @conn: a connection that is not open any more
 *
 * What is put away is the transport's to send, or to drop.
 *
 * Context: process.
 */
void sanx_cork_stop(struct sanx_conn *conn)
{
	sanx_conn_later_stop(conn, &conn->cork.work);
}
