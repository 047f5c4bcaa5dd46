// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaim of memory that idle connections carried bytes in.
 *
 * Rings, and memory to send from, are allocated when needed.  Most connections of a
 * server need them at some time and then not for long.  So when no bytes have
 * passed for net.sanx.idle_ms, the transport is asked to free what it can
 * (sanx_transport_ops.reclaim()).  The connection then costs as little as a new
 * one.
 *
 * Nothing is recorded when bytes pass.  A timer is started when memory is
 * allocated.  It checks whether the stream offsets have changed since, and ends
 * when there is nothing left to free.
 *
 * reclaim.seen has no lock: it is written by the work and by
 * sanx_reclaim_soon().  A lost store delays a reclaim, or starts it early;
 * reclaim() itself checks whether memory is in use.
 */
#include "config/config.h"
#include "config/cov.h"
#include "conn_priv.h"

/* Interval of checks while idle_ms is 0, which turns reclaim off. */
#define RECLAIM_NEVER	(30 * HZ)
/* Idle time for memory that was allocated for a reader that did not read. */
#define RECLAIM_SOON	(HZ / 10)

/* Return: jiffies, or 0 for never. */
static unsigned long reclaim_time(const struct sanx_conn *conn)
{
	return msecs_to_jiffies(READ_ONCE(sanx_net(conn->net)->idle_ms));
}

/**
 * sanx_reclaim_arm() - a connection has memory that it can free later
 * @conn: the connection; the caller has a reference that this does not put
 *
 * Context: any.
 */
void sanx_reclaim_arm(struct sanx_conn *conn)
{
	sanx_conn_later(conn, &conn->reclaim.work,
			reclaim_time(conn) ?: RECLAIM_NEVER);
}

static u64 reclaim_offsets(const struct sanx_conn *conn)
{
	return READ_ONCE(conn->tx.next) + READ_ONCE(conn->rx.tail) +
	       READ_ONCE(conn->rx.head);
}

/* Have bytes passed, or been read, since the last check? */
static bool reclaim_moved(struct sanx_conn *conn)
{
	u64 now = reclaim_offsets(conn);
	bool moved = now != READ_ONCE(conn->reclaim.seen);

	WRITE_ONCE(conn->reclaim.seen, now);
	return moved;
}

/*
 * The kernel's memory reclaim may be the next to send on this socket, and could
 * not allocate the memory again.  So such a connection keeps it.
 */
static bool reclaim_exempt(struct sanx_conn *conn)
{
	const struct sock *sk;
	bool spares;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	spares = sk && sanx_memalloc_needed(sk);
	rcu_read_unlock();
	return spares;
}

/**
 * sanx_reclaim_soon() - memory beyond the usual is of no use any more
 * @conn: a connection for which sanx_reclaim_arm() was called
 *
 * It then counts as idle if no bytes pass for RECLAIM_SOON.
 *
 * Context: any.
 */
void sanx_reclaim_soon(struct sanx_conn *conn)
{
	/* A hint is enough: a wrong value belongs to a timer that is due. */
	if (!time_after(READ_ONCE(conn->reclaim.work.timer.expires),
			jiffies + RECLAIM_SOON))
		return;
	WRITE_ONCE(conn->reclaim.seen, reclaim_offsets(conn));
	sanx_conn_sooner(conn, &conn->reclaim.work, RECLAIM_SOON);
}

static void reclaim_work(struct work_struct *work)
{
	struct sanx_conn *conn = container_of(to_delayed_work(work),
					      struct sanx_conn, reclaim.work);
	bool cov = sanx_cov_start(conn->net);
	unsigned long delay = reclaim_time(conn);

	if (sanx_conn_open(conn) &&
	    (reclaim_moved(conn) || !delay || reclaim_exempt(conn) ||
	     conn->ops->reclaim(conn)))
		sanx_conn_later(conn, &conn->reclaim.work,
				delay ?: RECLAIM_NEVER);
	sanx_conn_later_done(conn);
	sanx_cov_stop(cov);
}

/* Initialise reclaim for a new connection. */
void sanx_reclaim_init(struct sanx_conn *conn)
{
	INIT_DELAYED_WORK(&conn->reclaim.work, reclaim_work);
}

/* The socket was closed. */
void sanx_reclaim_stop(struct sanx_conn *conn)
{
	sanx_conn_later_stop(conn, &conn->reclaim.work);
}
