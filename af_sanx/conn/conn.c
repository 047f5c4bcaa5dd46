// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: their lifetime, their state, and the wake-ups of their sock.
 *
 * References: the socket (or the accept queue) has one, the transport as many
 * as it needs, each queued work and the armed liveness timer have one each.
 * Socket and transport may put theirs in any order.
 *
 * Invariants:
 *
 * - conn_event() is the only writer of conn->state.  It runs under conn->lock,
 *   and stores the state with release: code that sees a state with
 *   sanx_conn_open() or sanx_conn_fin_rcvd(), which load with acquire, sees
 *   what was set up before.
 * - conn->lock guards err, shutdown, peer_gone and detached as well.  Under it, and for a
 *   sock that is not detached only, sanx_native_done() changes TCP's tables.
 * - conn->sk is set from sanx_conn_attach() until a grace period after
 *   sanx_conn_detach().  Wake-ups come from any context and use it under RCU.
 *   Therefore the reference of the sock is put after that grace period.
 *
 * Full barriers: a wake-up stores its cause, and then looks for the sock and at
 * SOCK_NOSPACE.  smp_mb() in sanx_conn_sk() is between the two.  Its partners
 * are smp_mb() in sanx_conn_attach(), and smp_mb__after_atomic() in
 * sanx_want_room().
 */
#include <linux/export.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "config/config.h"
#include "config/cov.h"
#include "internal.h"
#include "trace.h"
#include "watch.h"

/* After a full backlog: retry after 1, 2, 4 ... 1000 ms. */
#define RETRY_MAX_MS	1000

/*
 * SO_RCVBUFFORCE has no limit of its own.  TCP exceeds the limit by an sk_buff.
 */
#define RCVMOST_MAX	SZ_512M
#define RCVMOST_OVER	65536

static void conn_retry_work(struct kthread_work *work);

/* sk_data_ready and sk_write_space of TCP, which are not exported. */
static void (*conn_native_data_ready)(struct sock *sk) __ro_after_init;
static void (*conn_native_write_space)(struct sock *sk) __ro_after_init;

static void conn_start_clocks(struct sanx_conn *conn)
{
	WRITE_ONCE(conn->tx_time, jiffies);
	WRITE_ONCE(conn->rx_time, jiffies);
	WRITE_ONCE(conn->ack_time, jiffies);
	WRITE_ONCE(conn->drain_time, jiffies - SANX_WINDOW_WAIT);
}

/**
 * sanx_conn_alloc() - allocate a connection
 * @ops: its transport, pinned by the caller during the call
 * @net: its namespace
 * @local: our end
 * @remote: the peer's end
 * @memcg: the cgroup that is charged, with a reference, which the connection takes
 *	over; or NULL for the caller's
 *
 * A peer can cause the allocation, so no process is killed for it
 * (__GFP_RETRY_MAYFAIL).
 *
 * Context: process, may sleep.
 * Return: a NEW connection with one reference, which is the caller's, or NULL
 * if there is no memory.  The connection pins the transport's module until it
 * is freed.
 */
struct sanx_conn *sanx_conn_alloc(const struct sanx_transport_ops *ops,
				  struct net *net,
				  const struct sanx_endpoint *local,
				  const struct sanx_endpoint *remote,
				  struct mem_cgroup *memcg)
{
	struct mem_cgroup *was = set_active_memcg(memcg);
	struct sanx_conn *conn;

	conn = kzalloc(ops->conn_size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN |
				       __GFP_RETRY_MAYFAIL);
	set_active_memcg(was);
	if (!conn) {
		mem_cgroup_put(memcg);
		return NULL;
	}
	conn->memcg = memcg;
	refcount_set(&conn->refs, 1);
	__module_get(THIS_MODULE);
	conn->ops = ops;
	conn->net = net;
	conn->stats = sanx_net(net)->stats;
	conn->local = *local;
	conn->remote = *remote;
	conn_start_clocks(conn);
	spin_lock_init(&conn->lock);
	mutex_init(&conn->tx_mutex);
	mutex_init(&conn->rx_mutex);
	sanx_urg_init(&conn->urg);
	sanx_liveness_init(conn);
	sanx_hold_init(conn);
	sanx_tx_timer_init(conn);
	sanx_reclaim_init(conn);
	INIT_LIST_HEAD(&conn->node);
	sanx_conn_work_init(&conn->retry, conn, conn_retry_work);
	/* sanx_conn_connect() sets the function. */
	sanx_conn_work_init(&conn->work, conn, NULL);
	if (ops->init)
		ops->init(conn);
	return conn;
}

/**
 * sanx_memcg_get() - get the memory cgroup of a sock
 * @sk: the sock
 *
 * As TCP does, memory that a socket holds is charged to the cgroup of its
 * program, whoever sends it.  So a connection's ring is charged to the
 * receiver's.
 *
 * Context: any.
 * Return: the cgroup, with a reference for mem_cgroup_put(), or NULL for none.
 */
struct mem_cgroup *sanx_memcg_get(const struct sock *sk)
{
	struct mem_cgroup *memcg = NULL;

#ifdef CONFIG_MEMCG
	memcg = READ_ONCE(sk->sk_memcg);
	if (memcg && !css_tryget(&memcg->css))
		memcg = NULL;
#endif
	return memcg;
}

static void conn_free_rcu(struct rcu_head *rcu)
{
	struct sanx_conn *conn = container_of(rcu, struct sanx_conn, rcu);

	mem_cgroup_put(conn->memcg);
	module_put(THIS_MODULE);
	kfree(conn->feed);
	kfree(conn);
}

/**
 * sanx_conn_free() - free a connection, as the last step of a transport's
 * destroy()
 * @conn: a connection without references and with nothing attached
 *
 * The memory, and the reference of the transport's module, are kept for a grace
 * period.
 *
 * Context: any.
 */
void sanx_conn_free(struct sanx_conn *conn)
{
	call_rcu(&conn->rcu, conn_free_rcu);
}

/**
 * sanx_conn_put() - put a reference
 * @conn: a connection; the caller must not use it any more
 *
 * Context: any.
 */
void sanx_conn_put(struct sanx_conn *conn)
{
	if (refcount_dec_and_test(&conn->refs))
		conn->ops->destroy(conn);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_conn_put);

/**
 * sanx_conn_attach() - give a connection its sock
 * @conn: a connection without one
 * @sk: the sock; the connection takes a reference
 *
 * Context: process; takes conn->lock.
 */
void sanx_conn_attach(struct sanx_conn *conn, struct sock *sk)
{
	sock_hold(sk);
	spin_lock_bh(&conn->lock);
	/*
	 * Pairs with smp_load_acquire() in sanx_conn_sk() and
	 * conn_note_arrival().
	 */
	smp_store_release(&conn->sk, sk);
	WRITE_ONCE(sk->sk_shutdown, conn->shutdown);
	/* It was reset before it had a sock. */
	if (conn->err) {
		WRITE_ONCE(sk->sk_err, conn->err);
		sanx_native_done(sk);
	}
	spin_unlock_bh(&conn->lock);
	/*
	 * Pairs with smp_mb() in sanx_conn_sk(): if a wake-up did not see @sk,
	 * its cause is visible to the loads below, and to the caller's.
	 */
	smp_mb();
	WRITE_ONCE(conn->hold.cork, tcp_sk(sk)->nonagle & TCP_NAGLE_CORK);
	sanx_liveness_options(conn, sk);
}

static void conn_detach_rcu(struct rcu_head *rcu)
{
	struct sanx_conn *conn = container_of(rcu, struct sanx_conn, rcu);
	struct sock *sk = conn->sk;

	conn->sk = NULL;
	sock_put(sk);
	sanx_conn_put(conn);
}

/**
 * sanx_conn_detach() - take a connection's sock away
 * @conn: a connection; wake-ups that already run may use the sock for a grace
 *	period
 *
 * Context: process; at most once for each sanx_conn_attach().
 */
void sanx_conn_detach(struct sanx_conn *conn)
{
	spin_lock_bh(&conn->lock);
	WRITE_ONCE(conn->detached, true);
	spin_unlock_bh(&conn->lock);
	/* With this reference, sanx_conn_put() does not use @rcu meanwhile. */
	sanx_conn_get(conn);
	call_rcu(&conn->rcu, conn_detach_rcu);
}

/**
 * sanx_conn_sk() - get the sock to wake
 * @conn: the connection
 *
 * Context: any, under RCU.
 * Return: the sock, valid while RCU is held, or NULL.
 */
struct sock *sanx_conn_sk(struct sanx_conn *conn)
{
	struct sock *sk;

	/*
	 * The caller has stored the cause of the wake-up.  Pairs with smp_mb()
	 * in sanx_conn_attach() and smp_mb__after_atomic() in sanx_want_room().
	 */
	smp_mb();
	/* Pairs with smp_store_release() in sanx_conn_attach(). */
	sk = smp_load_acquire(&conn->sk);
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "conn->sk needs RCU");
	return READ_ONCE(conn->detached) ? NULL : sk;
}

/**
 * sanx_conn_sndbuf() - size of the send buffer
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes, a power of two: SO_SNDBUF if the program has set it, else
 * SANX_RING_MAX, which is the most that is of use.
 */
u32 sanx_conn_sndbuf(struct sanx_conn *conn)
{
	u32 size = SANX_RING_MAX;
	struct sock *sk;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk && sk->sk_userlocks & SOCK_SNDBUF_LOCK)
		size = sanx_ring_size(READ_ONCE(sk->sk_sndbuf));
	rcu_read_unlock();
	return size;
}

/*
 * Tells the part of the kernel that uses the connection in place of a sock, if there is one.
 * Context: any, under RCU; the caller has found no sock with sanx_conn_sk(), whose barrier
 * is between the cause and this.
 */
static void conn_tell_user(struct sanx_conn *conn)
{
	struct sanx_conn_user *user = READ_ONCE(conn->user);

	if (user)
		user->news(user);
}

/* Likewise, or the listener, if accept() does not find the connection yet. */
static void conn_tell(struct sanx_conn *conn)
{
	conn_tell_user(conn);
	if (unlikely(READ_ONCE(conn->deferred)))
		sanx_listener_news(conn);
}

static u32 rcvbuf_moderate(const struct sanx_conn *conn, const struct net *net)
{
	u32 most = sanx_ring_size(READ_ONCE(net->ipv4.sysctl_tcp_rmem[2]));

	return READ_ONCE(net->ipv4.sysctl_tcp_moderate_rcvbuf) ?
	       max(most, READ_ONCE(conn->rx_max)) : READ_ONCE(conn->rx_max);
}

/**
 * sanx_conn_rcvbuf_set() - ring size that the program has set with SO_RCVBUF
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes for the current value, or 0 if the program has not set it.
 */
u32 sanx_conn_rcvbuf_set(struct sanx_conn *conn)
{
	struct sock *sk;
	u32 size = 0;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk && sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		size = sanx_ring_size(READ_ONCE(sk->sk_rcvbuf));
	rcu_read_unlock();
	return size;
}

/**
 * sanx_conn_rcvbuf() - bytes to which the ring may grow
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes.  SO_RCVBUF if the program has set it, and not less than
 * conn->rx_max; else as much as TCP's window may grow to (tcp_rmem,
 * tcp_moderate_rcvbuf).  conn->rx_max if it has no sock, but a user; else 0.
 */
u32 sanx_conn_rcvbuf(struct sanx_conn *conn)
{
	u32 size = sanx_conn_rcvbuf_set(conn);
	struct sock *sk;

	if (size)
		return max(size, READ_ONCE(conn->rx_max));
	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk)
		size = rcvbuf_moderate(conn, sock_net(sk));
	else if (READ_ONCE(conn->user))
		size = READ_ONCE(conn->rx_max);
	rcu_read_unlock();
	return size;
}

/**
 * sanx_conn_rcvmost() - bytes that TCP would hold for its reader
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes.  The current sk_rcvbuf; if the program has not set SO_RCVBUF
 * and has read more than a ring, at least as much as TCP's window may have
 * grown to.
 */
u32 sanx_conn_rcvmost(struct sanx_conn *conn)
{
	struct sock *sk;
	int size = 0;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk)
		size = READ_ONCE(sk->sk_rcvbuf);
	if (sk && !(sk->sk_userlocks & SOCK_RCVBUF_LOCK) &&
	    READ_ONCE(conn->rx.head) > READ_ONCE(conn->rx_max))
		size = max(size, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]));
	rcu_read_unlock();
	return clamp(size, 0, RCVMOST_MAX) + RCVMOST_OVER;
}

/* Changes the state; the only writer of conn->state. */
static int conn_event(struct sanx_conn *conn, enum sanx_conn_event ev)
{
	int next = sanx_state_next(conn->state, ev);

	lockdep_assert_held(&conn->lock);
	if (next < 0)
		return next;
	trace_sanx_conn_state(conn, next);
	sanx_tell(conn, conn, next);
	/*
	 * Pairs with smp_load_acquire() in sanx_conn_open() and
	 * sanx_conn_fin_rcvd(): a reader that sees the new state sees all that
	 * was set up before.
	 */
	smp_store_release(&conn->state, next);
	return 0;
}

static void conn_set_shutdown(struct sanx_conn *conn, u8 how)
{
	lockdep_assert_held(&conn->lock);
	/*
	 * A reader that sees the end of the stream sees all bytes before it.
	 * Pairs with the second smp_rmb() in recv_end().
	 */
	smp_wmb();
	WRITE_ONCE(conn->shutdown, conn->shutdown | how);
	if (conn->sk && !conn->detached)
		WRITE_ONCE(conn->sk->sk_shutdown, conn->shutdown);
}

static int conn_event_locked(struct sanx_conn *conn, enum sanx_conn_event ev)
{
	int err;

	spin_lock_bh(&conn->lock);
	err = conn_event(conn, ev);
	spin_unlock_bh(&conn->lock);
	return err;
}

/**
 * sanx_conn_open() - can bytes pass in at least one direction?
 * @conn: a connection
 *
 * Context: any.
 * Return: true from establishment until the connection dies.
 */
bool sanx_conn_open(const struct sanx_conn *conn)
{
	/* Pairs with smp_store_release() in conn_event(). */
	switch (smp_load_acquire(&conn->state)) {
	case SANX_CONN_ESTABLISHED:
	case SANX_CONN_FIN_SENT:
	case SANX_CONN_FIN_RCVD:
	case SANX_CONN_FINISHED:
		return true;
	default:
		return false;
	}
}

/**
 * sanx_conn_fin_rcvd() - has the end of the peer's stream arrived?
 * @conn: a connection
 *
 * Like SOCK_DONE of a TCP sock, this stays true after the connection died, and
 * shutdown(SHUT_RD) does not make it true.
 *
 * Context: any.
 * Return: true if it has arrived; all bytes before it are in the ring.
 */
bool sanx_conn_fin_rcvd(const struct sanx_conn *conn)
{
	/* Pairs with smp_store_release() in conn_event(). */
	switch (smp_load_acquire(&conn->state)) {
	case SANX_CONN_FIN_RCVD:
	case SANX_CONN_FINISHED:
	case SANX_CONN_ENDED:
		return true;
	default:
		return false;
	}
}

/**
 * sanx_conn_over() - is the connection what TCP calls CLOSED?
 * @conn: a connection
 *
 * TCP is in CLOSED when the connection is dead.  When the peer's end of stream
 * has arrived and our own was acknowledged, TCP is in CLOSED or in TIME-WAIT,
 * which programs cannot tell apart.
 *
 * Context: any; no lock of @conn held.
 * Return: true if no bytes can come or go any more.
 */
bool sanx_conn_over(struct sanx_conn *conn)
{
	if (!sanx_conn_open(conn))
		return true;
	return READ_ONCE(conn->state) == SANX_CONN_FINISHED &&
	       (!conn->ops->drained || conn->ops->drained(conn));
}

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
	err = conn_event_locked(conn, SANX_EV_CONNECT);
	if (err)
		return err;
	/*
	 * Store the state before loading the rules.  Pairs with smp_mb() in
	 * sanx_denied_end(), which finds this connection unless this finds the rules.
	 */
	smp_mb();
	/* Rules are about the ports of programs. */
	if (!conn->user && !sanx_port_allowed(conn->net, SANX_WAY_OUT, &conn->remote.addr,
					      conn->remote.port)) {
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
	return conn_event_locked(conn, SANX_EV_ESTABLISH);
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
	err = conn_event(conn, SANX_EV_ESTABLISH);
	if (!err && (conn->shutdown & RCV_SHUTDOWN))
		conn_event(conn, SANX_EV_FIN_RX);
	spin_unlock_bh(&conn->lock);
	if (err)
		return err;
	/* Programs did not make one that the kernel uses. */
	if (!conn->user)
		sanx_conn_count(conn);
	conn_start_clocks(conn);
	WRITE_ONCE(conn->rtt_us, conn_age_us(conn));
	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk) {
		sk_incoming_cpu_update(sk);
		sanx_liveness_options(conn, sk);
		sk->sk_state_change(sk);
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	} else {
		conn_tell(conn);
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
		err = conn_event(conn, SANX_EV_REFUSE);
	spin_unlock_bh(&conn->lock);
	return err;
}

/**
 * sanx_conn_refused() - no connection is possible: the socket becomes TCP
 * @conn: a CONNECTING connection
 * @why: reason, for the counters
 *
 * The connect thread makes the socket TCP, or the caller of connect() does, if
 * it still runs.
 *
 * Context: any.
 */
void sanx_conn_refused(struct sanx_conn *conn, enum sanx_fallback why)
{
	spin_lock_bh(&conn->lock);
	if (conn_event(conn, SANX_EV_REFUSE)) {
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

static void conn_retry_work(struct kthread_work *work)
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
		conn_tell(conn);
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
		conn_tell_user(conn);
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
		conn_tell(conn);
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
	err = conn_event(conn, SANX_EV_FIN_RX);
	if (err)
		return err;
	conn_set_shutdown(conn, RCV_SHUTDOWN);
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

/**
 * sanx_conn_reset() - the connection breaks
 * @conn: the connection; bytes that arrived can still be read
 * @err: errno (positive) for the program.  ECONNRESET becomes EPIPE after the
 *	peer's end of stream and before ours, as in TCP.
 *
 * Does nothing if the connection is dead already, or was refused: its socket is
 * TCP's then.
 *
 * Context: any; no lock of the core held.
 */
void sanx_conn_reset(struct sanx_conn *conn, int err)
{
	bool counted;
	struct sock *sk;

	spin_lock_bh(&conn->lock);
	if (conn->state == SANX_CONN_REFUSED ||
	    sanx_state_next(conn->state, SANX_EV_DIE) < 0) {
		spin_unlock_bh(&conn->lock);
		return;
	}
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
	 * tcp_reset().  Pairs with smp_rmb() in recv_end(), send_some() and
	 * poll_conn(), which read sk_err last.
	 */
	smp_wmb();
	WRITE_ONCE(conn->peer_gone, true);
	conn_event(conn, SANX_EV_DIE);
	conn_set_shutdown(conn, SHUTDOWN_MASK);
	if (sk)
		sanx_native_done(sk);
	spin_unlock_bh(&conn->lock);
	if (sk) {
		sk_error_report(sk);
		if (!sanx_feed_changed(conn))
			sk->sk_state_change(sk);
	} else {
		conn_tell(conn);
	}
	rcu_read_unlock();
	if (counted)
		sanx_stat_add(conn->net, SANX_STAT_RESETS, 1);
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
		fin = !conn_event(conn, SANX_EV_FIN_TX);
	conn_set_shutdown(conn, how);
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
	conn_event(conn, SANX_EV_DIE);
	spin_unlock_bh(&conn->lock);
	sanx_liveness_stop(conn);
	sanx_hold_stop(conn);
	sanx_tx_timer_stop(conn);
	if (was != SANX_CONN_NEW)
		conn->ops->close(conn, reset);
	sanx_reclaim_stop(conn);
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

void sanx_conn_exit(void)
{
	/*
	 * conn_detach_rcu() can put the last reference, which queues
	 * conn_free_rcu().
	 */
	rcu_barrier();
	rcu_barrier();
}
