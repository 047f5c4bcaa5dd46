// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: their lifetime, their state, and their sock.  How one begins is in begin.c, how
 * it ends in end.c, and what wakes programs meanwhile in wake.c.
 *
 * References: the socket (or the accept queue) has one, the transport as many
 * as it needs, each queued work and the armed liveness timer have one each.
 * Socket and transport may put theirs in any order.
 *
 * Invariants:
 *
 * - sanx_conn_event() is the only writer of conn->state.  It runs under conn->lock,
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
#include "conn_priv.h"
#include "trace.h"
#include "watch.h"

/*
 * SO_RCVBUFFORCE has no limit of its own.  TCP exceeds the limit by an sk_buff.
 */
#define RCVMOST_MAX	SZ_512M
#define RCVMOST_OVER	65536

void sanx_conn_start_clocks(struct sanx_conn *conn)
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
	sanx_conn_start_clocks(conn);
	spin_lock_init(&conn->lock);
	mutex_init(&conn->tx_mutex);
	mutex_init(&conn->rx_mutex);
	sanx_urg_init(&conn->urg);
	sanx_liveness_init(conn);
	sanx_hold_init(conn);
	sanx_tx_timer_init(conn);
	sanx_reclaim_init(conn);
	INIT_LIST_HEAD(&conn->node);
	sanx_conn_work_init(&conn->retry, conn, sanx_conn_retry_work);
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
void sanx_conn_tell_user(struct sanx_conn *conn)
{
	struct sanx_conn_user *user = READ_ONCE(conn->user);

	if (user)
		user->news(user);
}

/* Likewise, or the listener, if accept() does not find the connection yet. */
void sanx_conn_tell(struct sanx_conn *conn)
{
	sanx_conn_tell_user(conn);
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
int sanx_conn_event(struct sanx_conn *conn, enum sanx_conn_event ev)
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

void sanx_conn_set_shutdown(struct sanx_conn *conn, u8 how)
{
	lockdep_assert_held(&conn->lock);
	/*
	 * A reader that sees the end of the stream sees all bytes before it.
	 * Pairs with the second smp_rmb() in sanx_recv_end().
	 */
	smp_wmb();
	WRITE_ONCE(conn->shutdown, conn->shutdown | how);
	if (conn->sk && !conn->detached)
		WRITE_ONCE(conn->sk->sk_shutdown, conn->shutdown);
}

int sanx_conn_event_locked(struct sanx_conn *conn, enum sanx_conn_event ev)
{
	int err;

	spin_lock_bh(&conn->lock);
	err = sanx_conn_event(conn, ev);
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
	/* Pairs with smp_store_release() in sanx_conn_event(). */
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
	/* Pairs with smp_store_release() in sanx_conn_event(). */
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

void sanx_conn_exit(void)
{
	/*
	 * conn_detach_rcu() can put the last reference, which queues
	 * conn_free_rcu().
	 */
	rcu_barrier();
	rcu_barrier();
}
