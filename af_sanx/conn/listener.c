// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: which one a connection that comes in belongs to, and the queue in
 * which it waits for accept() (sci-socket.txt 5.1.4).
 *
 * The native socket listens too, so the port is taken, and plain TCP clients
 * find it.
 */
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "config/config.h"
#include "internal.h"

#define TABLE_BITS	8

/* Guards the table, and all of each struct sanx_listener in it. */
static DEFINE_SPINLOCK(table_lock);
static struct hlist_head table[1 << TABLE_BITS];

static struct hlist_head *bucket(const struct net *net, __be16 port)
{
	return &table[hash_32((__force u16)port ^ net_hash_mix(net),
			      TABLE_BITS)];
}

/* As TCP: an exact address before any address; 0 is no match. */
static int match(const struct sanx_listener *lsk, const struct net *net,
		 const struct sanx_endpoint *local)
{
	bool v4 = ipv6_addr_v4mapped(&local->addr);

	if (lsk->net != net || lsk->local.port != local->port ||
	    !(v4 ? lsk->v4 : lsk->v6))
		return 0;
	if (ipv6_addr_equal(&lsk->local.addr, &local->addr))
		return 3;
	if (!ipv6_addr_any(&lsk->local.addr))
		return 0;
	/* Any-v4 is before any-v6 that takes v4 too. */
	return lsk->v4 && lsk->v6 && v4 ? 1 : 2;
}

/* Does the native socket listen?  See listener_wake() for who else ends that. */
static bool listens(const struct sanx_listener *lsk)
{
	return READ_ONCE(lsk->sk->sk_state) == TCP_LISTEN;
}

/*
 * May it take a connection?  Its program can have attached a filter, say, at
 * any time; then its clients are TCP's.  One that takes nothing now may have
 * lost its sock.
 */
static bool takes(const struct sanx_listener *lsk)
{
	return lsk->soon || (listens(lsk) && !sanx_needs_stack(lsk->sk));
}

/*
 * The best match; among equals (SO_REUSEPORT) the client's hash decides.  One
 * that takes nothing now, as its listen() or close() is under way, is better
 * than none.
 */
static struct sanx_listener *lookup(const struct net *net,
				    const struct sanx_endpoint *local,
				    const struct sanx_endpoint *remote)
{
	struct hlist_head *head = bucket(net, local->port);
	struct sanx_listener *lsk, *found = NULL, *soon = NULL;
	int best = 0, equal = 0, n;

	lockdep_assert_held(&table_lock);
	hlist_for_each_entry(lsk, head, node) {
		n = match(lsk, net, local);
		if (n && lsk->soon) {
			soon = lsk;
			continue;
		}
		if (!n || !takes(lsk))
			continue;
		if (n > best) {
			best = n;
			equal = 0;
			found = lsk;
		}
		equal += n == best;
	}
	if (equal < 2)
		return found ?: soon;
	n = reciprocal_scale(jhash(remote, sizeof(remote->addr),
				   (__force u16)remote->port), equal);
	hlist_for_each_entry(lsk, head, node)
		if (!lsk->soon && match(lsk, net, local) == best &&
		    takes(lsk) && n-- == 0)
			return lsk;
	return found;
}

/*
 * How long TCP_DEFER_ACCEPT waits for data: TCP counts it in repetitions of the
 * SYN-ACK, each after twice the time (retrans_to_secs()).
 */
static unsigned long defer_time(const struct sock *sk)
{
	u8 n = READ_ONCE(inet_csk(sk)->icsk_accept_queue.rskq_defer_accept);
	unsigned long step = TCP_TIMEOUT_INIT, sum = 0;

	for (; n; n--) {
		sum += step;
		step = min(2 * step, TCP_RTO_MAX + 0UL);
	}
	return sum;
}

/* For accept() to find. */
static void enqueue(struct sanx_listener *lsk, struct sanx_conn *conn)
{
	lockdep_assert_held(&table_lock);
	list_add_tail(&conn->node, &lsk->queue);
	lsk->queued++;
	lsk->sk->sk_data_ready(lsk->sk);
}

static void undefer(struct sanx_conn *conn)
{
	struct sanx_listener *lsk = conn->deferred;

	lockdep_assert_held(&table_lock);
	WRITE_ONCE(conn->deferred, NULL);
	list_del_init(&conn->node);
	lsk->n_deferred--;
}

/*
 * Its time is over.  As TCP does, it is accepted even so, unless it is dead.
 * Context: the connect thread, with a reference.
 */
static void defer_over(struct kthread_work *work)
{
	struct sanx_conn *conn = container_of(work, struct sanx_conn,
					      retry.work);
	struct sanx_listener *lsk;
	bool drop = false;

	spin_lock_bh(&table_lock);
	lsk = conn->deferred;
	if (lsk) {
		undefer(conn);
		drop = !sanx_conn_open(conn);
		if (!drop)
			enqueue(lsk, conn);
	}
	spin_unlock_bh(&table_lock);
	if (drop) {
		sanx_conn_close(conn, true);
		sanx_conn_put(conn);
	}
	sanx_conn_put(conn);
}

static void defer(struct sanx_listener *lsk, struct sanx_conn *conn,
		  unsigned long delay)
{
	lockdep_assert_held(&table_lock);
	list_add_tail(&conn->node, &lsk->deferred);
	lsk->n_deferred++;
	WRITE_ONCE(conn->deferred, lsk);
	kthread_init_delayed_work(&conn->retry, defer_over);
	sanx_conn_get(conn);
	kthread_queue_delayed_work(sanx_connect_worker, &conn->retry, delay);
}

/**
 * sanx_listener_news() - data, or their end, came to a connection without sock
 * @conn: the connection, seen to be deferred
 *
 * Context: any, no lock of the core held.
 */
void sanx_listener_news(struct sanx_conn *conn)
{
	struct sanx_listener *lsk;

	/* One that died is left to the end of its time. */
	if (!sanx_conn_open(conn))
		return;
	spin_lock_bh(&table_lock);
	lsk = conn->deferred;
	if (lsk) {
		undefer(conn);
		enqueue(lsk, conn);
	}
	spin_unlock_bh(&table_lock);
}

/**
 * sanx_conn_incoming() - queue a connection at its listener
 * @conn: a NEW connection whose ring is ready, whose window is set, and whose
 *	@local and @remote are checked; on success the caller's reference is
 *	the listener's
 *
 * Context: process or softirq.
 * Return: 0 and the connection is established at this end; -ECONNREFUSED if
 * nothing of AF_SANX listens there; -EAGAIN if the backlog is full, or its
 * listen() or close() is under way.
 */
int sanx_conn_incoming(struct sanx_conn *conn)
{
	struct sanx_listener *lsk;
	int err = -ECONNREFUSED;
	unsigned long wait;

	spin_lock_bh(&table_lock);
	lsk = lookup(conn->net, &conn->local, &conn->remote);
	if (!lsk)
		goto out;
	err = -EAGAIN;
	/* One more than the backlog, as TCP's sk_acceptq_is_full(). */
	if (lsk->soon || lsk->queued > lsk->backlog ||
	    lsk->n_deferred > lsk->backlog)
		goto out;
	err = sanx_conn_accept(conn);
	if (err)
		goto out;
	wait = defer_time(lsk->sk);
	if (wait)
		defer(lsk, conn, wait);
	else
		enqueue(lsk, conn);
out:
	spin_unlock_bh(&table_lock);
	return err;
}
EXPORT_SYMBOL_GPL(sanx_conn_incoming);

/**
 * sanx_listener_ring_size() - ring size for a connection to a listener
 * @net: the namespace
 * @local: address and port on this side
 * @remote: the client
 * @memcg: set to the listener's memory cgroup, with a reference, or to NULL;
 *	for sanx_conn.memcg
 *
 * As in TCP, a connection has its listener's SO_RCVBUF.
 *
 * Return: bytes, or 0 if nothing of AF_SANX listens there.
 */
u32 sanx_listener_ring_size(struct net *net, const struct sanx_endpoint *local,
			    const struct sanx_endpoint *remote,
			    struct mem_cgroup **memcg)
{
	struct sanx_listener *lsk;
	u32 size = 0;

	*memcg = NULL;
	spin_lock_bh(&table_lock);
	lsk = lookup(net, local, remote);
	/* One that takes nothing now may have lost its sock. */
	if (lsk)
		size = SANX_RING_MIN;
	if (lsk && !lsk->soon) {
		size = sanx_ring_size(READ_ONCE(lsk->sk->sk_rcvbuf));
		*memcg = sanx_memcg_get(lsk->sk);
	}
	spin_unlock_bh(&table_lock);
	return size;
}
EXPORT_SYMBOL_GPL(sanx_listener_ring_size);

static void listener_fill(struct sanx_listener *lsk, struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);

	lsk->net = sock_net(sk);
	lsk->sk = sk;
	lsk->local.port = inet->inet_sport;
	lsk->v4 = true;
	lsk->v6 = false;
	if (sk->sk_family == AF_INET) {
		if (inet->inet_rcv_saddr)
			ipv6_addr_set_v4mapped(inet->inet_rcv_saddr,
					       &lsk->local.addr);
		else
			lsk->local.addr = in6addr_any;
		return;
	}
#if IS_ENABLED(CONFIG_IPV6)
	lsk->local.addr = sk->sk_v6_rcv_saddr;
	lsk->v4 = !ipv6_only_sock(sk);
	lsk->v6 = !ipv6_addr_v4mapped(&lsk->local.addr);
#endif
}

/* All who wait, for drop_queue(). */
static void take_queue(struct sanx_listener *lsk, struct list_head *queue)
{
	struct sanx_conn *conn, *next;

	lockdep_assert_held(&table_lock);
	list_for_each_entry_safe(conn, next, &lsk->deferred, node) {
		undefer(conn);
		list_add_tail(&conn->node, queue);
	}
	list_splice_init(&lsk->queue, queue);
	lsk->queued = 0;
}

/* As in TCP, clients of connections that nobody accepted get a reset. */
static void drop_queue(struct list_head *queue)
{
	struct sanx_conn *conn, *next;

	list_for_each_entry_safe(conn, next, queue, node) {
		list_del_init(&conn->node);
		sanx_conn_close(conn, true);
		sanx_conn_stop(conn);
		sanx_conn_put(conn);
	}
}

/* One that takes nothing now is looked after by whoever has it do so. */
static void listener_ended(struct work_struct *work)
{
	struct sanx_listener *lsk = container_of(work, struct sanx_listener,
						 end);
	LIST_HEAD(queue);

	spin_lock_bh(&table_lock);
	if (!hlist_unhashed(&lsk->node) && !lsk->soon && !listens(lsk)) {
		hlist_del_init(&lsk->node);
		take_queue(lsk, &queue);
	}
	spin_unlock_bh(&table_lock);
	drop_queue(&queue);
}

/*
 * SOCK_DESTROY of sock_diag, and bpf_sock_destroy(), make an end of listening
 * with no call of the socket.  They wake who waits on it, and so this.
 * Context: any, with the lock of the wait queue.
 */
static int listener_wake(wait_queue_entry_t *watch, unsigned int mode,
			 int flags, void *key)
{
	struct sanx_listener *lsk = container_of(watch, struct sanx_listener,
						 watch);

	if (!listens(lsk))
		queue_work(sanx_wq, &lsk->end);
	return 0;
}

/**
 * sanx_listener_init() - what can be waited for is there from the start
 * @lsk: of a socket that is made
 */
void sanx_listener_init(struct sanx_listener *lsk)
{
	INIT_LIST_HEAD(&lsk->queue);
	INIT_LIST_HEAD(&lsk->deferred);
	init_waitqueue_func_entry(&lsk->watch, listener_wake);
	INIT_LIST_HEAD(&lsk->watch.entry);
	INIT_WORK(&lsk->end, listener_ended);
}

/**
 * sanx_listener_watch() - notice when SOCK_DESTROY or BPF ends listening
 * @lsk: a listener that sanx_listener_add() has put into the table
 *
 * Context: process, lock_sock() of its sock held; the sock stays in TCP_LISTEN
 * until the lock is released.
 */
void sanx_listener_watch(struct sanx_listener *lsk)
{
	sock_owned_by_me(lsk->sk);
	if (list_empty(&lsk->watch.entry))
		add_wait_queue(sk_sleep(lsk->sk), &lsk->watch);
}

/* More than one may come; and the last one after the sock is gone. */
static void listener_unwatch(struct sanx_listener *lsk)
{
	wait_queue_head_t *wq;
	unsigned long flags;

	if (list_empty_careful(&lsk->watch.entry))
		return;
	wq = sk_sleep(lsk->sk);
	spin_lock_irqsave(&wq->lock, flags);
	list_del_init(&lsk->watch.entry);
	spin_unlock_irqrestore(&wq->lock, flags);
}

/**
 * sanx_listener_add() - put a listener into the table
 * @lsk: the listener; if it is in the table already, its port may have changed
 * @sk: its sock, bound to a port.  The caller keeps @sk until it has called
 *	sanx_listener_pause() or sanx_listener_stop().
 * @soon: it takes no connection yet
 *
 * Context: process, lock_sock(@sk) held.
 */
void sanx_listener_add(struct sanx_listener *lsk, struct sock *sk, bool soon)
{
	sock_owned_by_me(sk);
	spin_lock_bh(&table_lock);
	if (!hlist_unhashed(&lsk->node))
		hlist_del_init(&lsk->node);
	lsk->soon = soon;
	lsk->backlog = READ_ONCE(sk->sk_max_ack_backlog);
	listener_fill(lsk, sk);
	hlist_add_head(&lsk->node, bucket(lsk->net, lsk->local.port));
	spin_unlock_bh(&table_lock);
}

static void listener_end(struct sanx_listener *lsk, bool soon)
{
	LIST_HEAD(queue);

	listener_unwatch(lsk);
	spin_lock_bh(&table_lock);
	lsk->soon = soon;
	if (!soon && !hlist_unhashed(&lsk->node))
		hlist_del_init(&lsk->node);
	take_queue(lsk, &queue);
	spin_unlock_bh(&table_lock);
	drop_queue(&queue);
}

/**
 * sanx_listener_stop() - take no more connections, and drop those that wait
 * @lsk: of a socket, listening or not
 *
 * Context: process, may sleep.
 */
void sanx_listener_stop(struct sanx_listener *lsk)
{
	listener_end(lsk, false);
}

/**
 * sanx_listener_pause() - likewise, of a socket that is about to be closed
 * @lsk: of a socket, listening or not
 *
 * Until the native socket is closed too, a client is to find something here,
 * or it would go on as TCP, be taken there, and lose its connection at once.
 * It has to ask again, and sanx_listener_stop() is to follow.
 *
 * Context: process, may sleep.
 */
void sanx_listener_pause(struct sanx_listener *lsk)
{
	listener_end(lsk, true);
}

/**
 * sanx_listener_take() - the connection that waits longest
 * @lsk: of a listening socket
 *
 * Return: a connection, the reference now the caller's, or NULL.
 */
struct sanx_conn *sanx_listener_take(struct sanx_listener *lsk)
{
	struct sanx_conn *conn;

	if (!READ_ONCE(lsk->queued))
		return NULL;
	spin_lock_bh(&table_lock);
	conn = list_first_entry_or_null(&lsk->queue, struct sanx_conn, node);
	if (conn) {
		list_del_init(&conn->node);
		lsk->queued--;
	}
	spin_unlock_bh(&table_lock);
	return conn;
}

/**
 * sanx_listener_waiting() - how many connections wait for accept()
 * @lsk: of a socket, listening or not
 *
 * Return: connections; a moment's estimate.
 */
unsigned int sanx_listener_waiting(const struct sanx_listener *lsk)
{
	return READ_ONCE(lsk->queued);
}
