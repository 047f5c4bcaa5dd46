// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that rest give back the memory that they carried bytes in.
 *
 * Rings and send buffers are made when there is a need, and most connections of a
 * server have one at some time and then none for long.  So where nothing has
 * passed for net.sanx.idle_ms, the transport is asked to give back what it can
 * (sanx_transport_ops.trim()), and the connection costs as little as a new one.
 *
 * Nobody looks at the time for that when bytes pass: a timer is started when
 * memory is got, looks whether the stream offsets have changed since, and ends
 * when there is nothing left to give back.
 */
#include <linux/export.h>

#include "config/config.h"
#include "internal.h"

/* Where nothing is to be given back, how often it is looked if that is still so. */
#define TRIM_NEVER	(30 * HZ)
/* When what was made for a reader that did not read is given back. */
#define TRIM_SOON	(HZ / 10)

/* Return: 0 for never. */
static unsigned long trim_time(const struct sanx_conn *conn)
{
	return msecs_to_jiffies(READ_ONCE(sanx_net(conn->net)->idle_ms));
}

/**
 * sanx_trim_arm() - a connection has memory that it can give back later
 * @conn: the connection; with a reference that is not given back by this
 *
 * Context: any.
 */
void sanx_trim_arm(struct sanx_conn *conn)
{
	sanx_conn_later(conn, &conn->trim.work, trim_time(conn) ?: TRIM_NEVER);
}
EXPORT_SYMBOL_GPL(sanx_trim_arm);

static u64 trim_now(const struct sanx_conn *conn)
{
	return READ_ONCE(conn->tx.next) + READ_ONCE(conn->rx.tail) +
	       READ_ONCE(conn->rx.head);
}

/* Has anything passed, or been read, since it was asked last? */
static bool trim_moved(struct sanx_conn *conn)
{
	u64 now = trim_now(conn);
	bool moved = now != READ_ONCE(conn->trim.seen);

	WRITE_ONCE(conn->trim.seen, now);
	return moved;
}

/* Who reclaims memory may be the next to send, and could not get it back. */
static bool trim_spares(struct sanx_conn *conn)
{
	const struct sock *sk;
	bool spares;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	spares = sk && sanx_reclaim_waits(sk);
	rcu_read_unlock();
	return spares;
}

/**
 * sanx_trim_soon() - more memory than usual is of no use any more
 * @conn: a connection that is armed
 *
 * It rests already if nothing passes for TRIM_SOON.
 *
 * Context: any.
 */
void sanx_trim_soon(struct sanx_conn *conn)
{
	/* Of a timer that is due a moment's estimate will do. */
	if (!time_after(READ_ONCE(conn->trim.work.timer.expires),
			jiffies + TRIM_SOON))
		return;
	WRITE_ONCE(conn->trim.seen, trim_now(conn));
	sanx_conn_sooner(conn, &conn->trim.work, TRIM_SOON);
}
EXPORT_SYMBOL_GPL(sanx_trim_soon);

static void trim_work(struct work_struct *work)
{
	struct sanx_conn *conn = container_of(to_delayed_work(work),
					      struct sanx_conn, trim.work);
	unsigned long delay = trim_time(conn);

	if (sanx_conn_open(conn) &&
	    (trim_moved(conn) || !delay || trim_spares(conn) ||
	     conn->ops->trim(conn)))
		sanx_conn_later(conn, &conn->trim.work, delay ?: TRIM_NEVER);
	sanx_conn_later_done(conn);
}

/**
 * sanx_trim_init() - a connection without memory
 * @conn: the connection
 */
void sanx_trim_init(struct sanx_conn *conn)
{
	INIT_DELAYED_WORK(&conn->trim.work, trim_work);
}

/**
 * sanx_trim_stop() - the socket is gone
 * @conn: a connection that is not open any more
 *
 * Context: any.
 */
void sanx_trim_stop(struct sanx_conn *conn)
{
	sanx_conn_later_stop(conn, &conn->trim.work);
}
