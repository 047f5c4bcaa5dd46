// SPDX-License-Identifier: GPL-2.0
/*
 * How a connection begins: it is asked for or comes in, is established, or is refused, and
 * then its socket becomes TCP; that of an explicit one gets an error.
 */
#include <net/tcp.h>

#include "config/config.h"
#include "config/cov.h"
#include "conn_priv.h"
#include "trace.h"

/* After a full backlog: retry after 1, 2, 4 ... 1000 ms. */
#define RETRY_MAX_MS	1000

/* Count a connection that begins. */
void sanx_conn_count(const struct sanx_conn *conn)
{
	struct sanx_via via;

	conn->ops->via(conn, &via);
	sanx_stat_add(conn->net, via.stat, 1);
}

/**
 * sanx_conn_connect() - request a connection
 * @conn: a NEW connection with its sock attached
 * @refused: function of conn->work; it makes the socket TCP
 *
 * sanx_conn_refused() and sanx_conn_refused_later() queue conn->work with a
 * reference of @conn.  The connect thread calls @refused without a lock held.
 * @refused must pass the reference on to sanx_conn_refused_later(), or put it.
 * sanx_conn_stop() cancels the work and waits for @refused.
 *
 * Only a CONNECTING connection can be refused, so a connection that came in has
 * no such function.
 *
 * Context: process, lock_sock() held.
 * Return: 0 if the answer is there or will come, else -errno as
 * sanx_transport_ops.connect().
 */
int sanx_conn_connect(struct sanx_conn *conn, kthread_work_func_t refused)
{
	int err;

	sanx_conn_work_set(&conn->work, refused);
	err = sanx_conn_event_locked(conn, SANX_EV_CONNECT);
	if (err)
		return err;
	/*
	 * Store the state before loading the rules.  Pairs with smp_mb() in
	 * sanx_denied_end(), which finds this connection unless this finds the rules.
	 */
	smp_mb();
	/* Rules are about the ports of programs. */
	if (!conn->user && !sanx_port_allowed(conn->net, SANX_WAY_OUT, &conn->remote.addr,
					      &conn->remote)) {
		sanx_conn_refused(conn, SANX_FALLBACK_PORT);
		return 0;
	}
	conn->started = ktime_get_ns();
	return conn->ops->connect(conn);
}

/**
 * sanx_conn_accept() - establish a connection that came in, at this end
 * @conn: a NEW connection; sanx_conn_count() is still to be called
 *
 * Context: any; takes conn->lock.
 * Return: 0, or -EPROTO if it has died.
 */
int sanx_conn_accept(struct sanx_conn *conn)
{
	conn->accepted = true;
	return sanx_conn_event_locked(conn, SANX_EV_ESTABLISH);
}

/* Age of the last request, in us.  Never 0, because 0 means not known. */
static u32 conn_age_us(const struct sanx_conn *conn)
{
	return clamp_t(u64, div_u64(ktime_get_ns() - conn->started,
				    NSEC_PER_USEC), 1, U32_MAX);
}

/**
 * sanx_conn_established() - the peer accepted
 * @conn: a CONNECTING connection with both windows set up
 *
 * Context: any.
 * Return: 0, or -EPROTO if the connection is not CONNECTING any more.  The
 * transport then undoes its part when close() is called, which may have
 * happened already.
 */
int sanx_conn_established(struct sanx_conn *conn)
{
	struct sock *sk;
	int err;

	spin_lock_bh(&conn->lock);
	err = sanx_conn_event(conn, SANX_EV_ESTABLISH);
	if (!err && (conn->shutdown & RCV_SHUTDOWN))
		sanx_conn_event(conn, SANX_EV_FIN_RX);
	spin_unlock_bh(&conn->lock);
	if (err)
		return err;
	/* Programs did not make one that the kernel uses. */
	if (!conn->user)
		sanx_conn_count(conn);
	sanx_conn_start_clocks(conn);
	WRITE_ONCE(conn->rtt_us, conn_age_us(conn));
	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk) {
		sk_incoming_cpu_update(sk);
		sanx_liveness_options(conn, sk);
		sk->sk_state_change(sk);
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	} else {
		sanx_conn_tell(conn);
	}
	rcu_read_unlock();
	return 0;
}

/**
 * sanx_conn_give_up() - connect() itself switches to TCP
 * @conn: a connection that is not established
 *
 * Context: process, lock_sock() held.
 * Return: 0, or -EPROTO if it was established or has died meanwhile.
 */
int sanx_conn_give_up(struct sanx_conn *conn)
{
	int err = 0;

	spin_lock_bh(&conn->lock);
	if (conn->state != SANX_CONN_REFUSED)
		err = sanx_conn_event(conn, SANX_EV_REFUSE);
	spin_unlock_bh(&conn->lock);
	return err;
}

/**
 * sanx_conn_refused() - no connection is possible: the socket becomes TCP
 * @conn: a CONNECTING connection
 * @why: reason, for the counters
 *
 * The connect thread makes the socket TCP, or the caller of connect() does, if
 * it still runs.  An explicit socket gets an error instead.
 *
 * Context: any.
 */
void sanx_conn_refused(struct sanx_conn *conn, enum sanx_fallback why)
{
	spin_lock_bh(&conn->lock);
	if (sanx_conn_event(conn, SANX_EV_REFUSE)) {
		spin_unlock_bh(&conn->lock);
		return;
	}
	conn->fallback = why;
	sanx_conn_get(conn);
	spin_unlock_bh(&conn->lock);
	sanx_conn_work_queue(&conn->work, 0);
	sanx_conn_put(conn);
}

/**
 * sanx_conn_was_open() - has it ever been established?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if a program at the other end may know of it.
 */
bool sanx_conn_was_open(const struct sanx_conn *conn)
{
	return conn->accepted || READ_ONCE(conn->rtt_us);
}

/**
 * sanx_conn_abort() - end a connection, as "ss -K" does
 * @conn: the connection; nothing is done if it is over
 * @err: what the program here gets, a positive errno; the peer's gets ECONNRESET
 *
 * Context: any; no lock of the core held.
 */
void sanx_conn_abort(struct sanx_conn *conn, int err)
{
	/* In this order: it may be established meanwhile. */
	sanx_conn_reset(conn, err);
	if (sanx_conn_was_open(conn))
		conn->ops->abort(conn);
}

/**
 * sanx_conn_deny() - end a connection that port rules deny by now
 * @conn: a connection that connects, or is open
 *
 * One that still connects becomes TCP, as if the rules had been there.  Both ends of
 * one that is open get a reset; the program here gets ECONNABORTED.
 *
 * Context: any; no lock of the core held.
 */
void sanx_conn_deny(struct sanx_conn *conn)
{
	/* In this order: it may be established meanwhile. */
	sanx_conn_refused(conn, SANX_FALLBACK_PORT);
	if (sanx_conn_open(conn))
		sanx_conn_abort(conn, ECONNABORTED);
}

/**
 * sanx_conn_reason() - why was a connection refused?
 * @conn: the connection
 *
 * Context: any.
 * Return: the reason; SANX_FALLBACK_LINK if it has ended otherwise.
 */
enum sanx_fallback sanx_conn_reason(struct sanx_conn *conn)
{
	enum sanx_fallback why = SANX_FALLBACK_LINK;

	spin_lock_bh(&conn->lock);
	if (conn->state == SANX_CONN_REFUSED)
		why = conn->fallback;
	spin_unlock_bh(&conn->lock);
	return why;
}

/**
 * sanx_conn_refused_later() - requeue conn->work, because the socket is in use
 * @conn: a refused connection, with a reference for the work
 *
 * Context: conn->work.
 */
void sanx_conn_refused_later(struct sanx_conn *conn)
{
	sanx_conn_work_again(&conn->work, 1);
}

/**
 * sanx_conn_sk_get() - get the sock of a connection
 * @conn: the connection
 *
 * Context: any.
 * Return: the sock, with a reference, or NULL.
 */
struct sock *sanx_conn_sk_get(struct sanx_conn *conn)
{
	struct sock *sk;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk && !refcount_inc_not_zero(&sk->sk_refcnt))
		sk = NULL;
	rcu_read_unlock();
	return sk;
}

/**
 * sanx_lock_sock_soon() - lock_sock() for the connect thread
 * @sk: the sock
 *
 * A program can hold the lock of its socket for an unbounded time, with options
 * that copy from memory that faults slowly.  The connect thread serves all
 * connections, so it must not wait for a lock that is taken.
 *
 * Context: any but hardirq; does not sleep.
 * Return: true with the lock held, or false if the caller must retry later.
 */
bool sanx_lock_sock_soon(struct sock *sk)
{
	bool free;

	/* As lock_sock_nested(), which would wait here. */
	spin_lock_bh(&sk->sk_lock.slock);
	free = !sock_owned_by_user_nocheck(sk);
	if (free)
		sk->sk_lock.owned = 1;
	spin_unlock_bh(&sk->sk_lock.slock);
	/* lockdep treats the lock as a mutex; this is a trylock of it. */
	if (free)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return free;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_lock_sock_soon);

/* Calls connect() of the transport again, or resets with ETIMEDOUT when TCP would give up. */
static void conn_retry_in(struct sanx_conn *conn, unsigned int ms)
{
	u32 past = (u32)jiffies - READ_ONCE(conn->tx_time);
	unsigned long most;
	struct sock *sk;

	/* It has its own idea of when to try again. */
	if (conn->user) {
		conn->tries++;
		sanx_conn_refused(conn, SANX_FALLBACK_LINK);
		return;
	}
	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	most = sk ? sanx_liveness_connects(sk) : ULONG_MAX;
	rcu_read_unlock();
	if (past >= most) {
		sanx_conn_reset(conn, ETIMEDOUT);
		return;
	}
	spin_lock_bh(&conn->lock);
	if (conn->state == SANX_CONN_CONNECTING && !conn->detached)
		sanx_conn_work_queue(&conn->retry, min(msecs_to_jiffies(ms), most - past));
	spin_unlock_bh(&conn->lock);
}

/**
 * sanx_conn_busy() - the listener's backlog is full: retry later
 * @conn: a CONNECTING connection; reset with ETIMEDOUT when TCP would give up
 *
 * Context: any.
 */
void sanx_conn_busy(struct sanx_conn *conn)
{
	conn_retry_in(conn, min(1U << min(conn->tries++, 10U), RETRY_MAX_MS + 0U));
}

/**
 * sanx_conn_again() - the way to the peer was lost before its answer: retry by another
 * @conn: a CONNECTING connection; reset with ETIMEDOUT when TCP would give up
 *
 * Context: any.
 */
void sanx_conn_again(struct sanx_conn *conn)
{
	conn_retry_in(conn, 0);
}

void sanx_conn_retry_work(struct kthread_work *work)
{
	struct sanx_conn *conn = container_of(work, struct sanx_conn,
					      retry.work);
	struct sock *sk = sanx_conn_sk_get(conn);
	bool cov;

	if (sk && !sanx_lock_sock_soon(sk)) {
		sock_put(sk);
		sanx_conn_work_again(&conn->retry, 1);
		return;
	}
	if (sk) {
		cov = sanx_cov_start(conn->net);
		conn->started = ktime_get_ns();
		if (READ_ONCE(conn->state) == SANX_CONN_CONNECTING &&
		    !READ_ONCE(conn->detached) && conn->ops->connect(conn))
			sanx_conn_refused(conn, SANX_FALLBACK_LINK);
		release_sock(sk);
		sanx_cov_stop(cov);
		sock_put(sk);
	}
	sanx_conn_put(conn);
}
