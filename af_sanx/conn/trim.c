// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim (trim in names) of memory that idle connections carried bytes in.
 *
 * Rings and send buffers are allocated when needed.  Most connections of a
 * server need them at some time and then not for long.  So when no bytes have
 * passed for net.sanx.idle_ms, the transport is asked to free what it can
 * (sanx_transport_ops.trim()).  The connection then costs as little as a new
 * one.
 *
 * Nothing is recorded when bytes pass.  A timer is started when memory is
 * allocated.  It checks whether the stream offsets have changed since, and ends
 * when there is nothing left to free.
 *
 * trim.seen has no lock: it is written by the work and by sanx_trim_soon().  A
 * lost store delays a reclaim, or starts it early; trim() itself checks whether
 * memory is in use.
 */
#include "config/config.h"
#include "internal.h"

/* Interval of checks while idle_ms is 0, which turns reclaim off. */
#define TRIM_NEVER	(30 * HZ)
/* Idle time for memory that was allocated for a reader that did not read. */
#define TRIM_SOON	(HZ / 10)

/* Return: jiffies, or 0 for never. */
static unsigned long trim_time(const struct sanx_conn *conn)
{
	return msecs_to_jiffies(READ_ONCE(sanx_net(conn->net)->idle_ms));
}

/**
 * sanx_trim_arm() - a connection has memory that it can free later
 * @conn: the connection; the caller has a reference that this does not put
 *
 * Context: any.
 */
void sanx_trim_arm(struct sanx_conn *conn)
{
	sanx_conn_later(conn, &conn->trim.work, trim_time(conn) ?: TRIM_NEVER);
}

static u64 trim_now(const struct sanx_conn *conn)
{
	return READ_ONCE(conn->tx.next) + READ_ONCE(conn->rx.tail) +
	       READ_ONCE(conn->rx.head);
}

/* Have bytes passed, or been read, since the last check? */
static bool trim_moved(struct sanx_conn *conn)
{
	u64 now = trim_now(conn);
	bool moved = now != READ_ONCE(conn->trim.seen);

	WRITE_ONCE(conn->trim.seen, now);
	return moved;
}

/*
 * The kernel's memory reclaim may be the next to send on this socket, and could
 * not allocate the memory again.  So such a connection keeps it.
 */
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
 * sanx_trim_soon() - memory beyond the usual is of no use any more
 * @conn: a connection for which sanx_trim_arm() was called
 *
 * It then counts as idle if no bytes pass for TRIM_SOON.
 *
 * Context: any.
 */
void sanx_trim_soon(struct sanx_conn *conn)
{
	/* A hint is enough: a wrong value belongs to a timer that is due. */
	if (!time_after(READ_ONCE(conn->trim.work.timer.expires),
			jiffies + TRIM_SOON))
		return;
	WRITE_ONCE(conn->trim.seen, trim_now(conn));
	sanx_conn_sooner(conn, &conn->trim.work, TRIM_SOON);
}

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
 * sanx_trim_init() - initialise reclaim for a new connection
 * @conn: the connection
 */
void sanx_trim_init(struct sanx_conn *conn)
{
	INIT_DELAYED_WORK(&conn->trim.work, trim_work);
}

/**
 * sanx_trim_stop() - the socket was closed
 * @conn: a connection that is not open any more
 *
 * Context: any.
 */
void sanx_trim_stop(struct sanx_conn *conn)
{
	sanx_conn_later_stop(conn, &conn->trim.work);
}
