// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: the lookup of the listener of an incoming connection (sci-socket.txt 5.1.4).
 * What waits at one for accept() is in backlog.c.
 *
 * The native socket listens too.  So the port is taken, and plain TCP clients
 * find it.  That of an explicit socket has no native one in TCP's tables, and is found in the
 * table here.
 *
 * sanx_listener_each() finds each connection that came in, from the moment it is
 * established until a socket shows it: in the queue of its listener, then in
 * table->taken.  Port rules are checked under the same lock.  So of a connection and
 * a rule that denies it, one sees the other: if sanx_listener_each() did not find the
 * connection, then the connection comes later, and finds the rule.
 *
 * Each namespace has a table of its listeners.  table->lock guards it, all fields
 * of a struct sanx_listener but @table, @watch, @work and @expire, conn->node while it is in
 * a list of a listener, conn->awaits, conn->came and writes of conn->deferred.
 * conn->lock is inside it.  sk_data_ready() of the listening sock is called without
 * it, because it may be a kernel program's.  The lock of the sock's wait queue guards
 * @watch.
 *
 * A listener has a reference of its table, because a socket may be closed after
 * the last reference of its namespace was put with the native socket.
 */
#include <net/inet_connection_sock.h>
#include <net/netns/generic.h>
#include <net/netns/hash.h>
#include <net/tcp.h>

#include "config/config.h"
#include "conn_priv.h"
#include "listener.h"

/**
 * struct listener_net - what a namespace has of listeners
 * @table: its table, with a reference; constant
 */
struct listener_net {
	struct sanx_listener_table	*table;
};

static unsigned int listener_net_id;

/* The namespace is alive, or in an exit that comes before listener_net_exit(). */
static struct sanx_listener_table *table_of(const struct net *net)
{
	struct listener_net *ln = net_generic(net, listener_net_id);

	return ln->table;
}

static void table_put(struct sanx_listener_table *table)
{
	if (refcount_dec_and_test(&table->refs))
		kfree_rcu(table, rcu);
}

/* Explicit sockets have their port in the address. */
static struct hlist_head *bucket(struct sanx_listener_table *table,
				 const struct sanx_endpoint *local)
{
	u32 port = sanx_addr_explicit(&local->addr) ? sanx_addr_port(&local->addr) :
						      (__force u16)local->port;

	return &table->heads[(port * table->mix) >> (32 - TABLE_BITS)];
}

/* Would it get the connection if there were no other listener? */
static bool match(const struct sanx_listener *lsk,
		  const struct sanx_endpoint *local)
{
	return lsk->local.port == local->port &&
	       (ipv6_addr_v4mapped(&local->addr) ? lsk->v4 : lsk->v6) &&
	       (ipv6_addr_any(&lsk->local.addr) ||
		ipv6_addr_equal(&lsk->local.addr, &local->addr));
}

/*
 * Does the native socket listen?  See listener_wake() for other ways in which
 * this ends.
 */
static bool listens(const struct sanx_listener *lsk)
{
	return READ_ONCE(lsk->sk->sk_state) == TCP_LISTEN;
}

/*
 * May the listener take a connection?  Its program can at any time set an
 * option that only the IP stack supports, such as a filter.  Its clients then
 * use TCP.  With @soon, @sk may be gone already.
 */
static bool takes(const struct sanx_listener *lsk)
{
	return lsk->soon || (listens(lsk) && !sanx_needs_stack(lsk->sk));
}

static struct sanx_listener *listener_of(struct sanx_listener_table *table,
					 const struct sock *sk)
{
	struct sanx_endpoint local = { .port = inet_sk(sk)->inet_sport };
	struct sanx_listener *lsk;

	hlist_for_each_entry(lsk, bucket(table, &local), node)
		if (lsk->sk == sk)
			return lsk;
	return NULL;
}

/* One for which the IP stack does not look yet, or does not any more. */
static struct sanx_listener *soon_of(struct sanx_listener_table *table,
				     const struct sanx_endpoint *local)
{
	struct sanx_listener *lsk;

	hlist_for_each_entry(lsk, bucket(table, local), node)
		if (lsk->soon && match(lsk, local))
			return lsk;
	return NULL;
}

/* One without a node is found by the ids that this node has, one after the other. */
static bool match_explicit(const struct sanx_endpoint *at, const struct sanx_endpoint *local)
{
	u32 node = sanx_addr_node(&at->addr);

	return sanx_addr_explicit(&at->addr) && at->port == local->port &&
	       sanx_addr_port(&at->addr) == sanx_addr_port(&local->addr) &&
	       (!node || node == sanx_addr_node(&local->addr));
}

/* That of an explicit socket.  A port has one. */
static struct sanx_listener *explicit_of(struct sanx_listener_table *table,
					 const struct sanx_endpoint *local)
{
	struct sanx_listener *lsk;

	hlist_for_each_entry(lsk, bucket(table, local), node)
		if (match_explicit(&lsk->local, local))
			return takes(lsk) ? lsk : NULL;
	return NULL;
}

/*
 * Return: the listener that gets the connection, or one with @soon set, whose clients
 * ask again; NULL if TCP is to take it.
 */
static struct sanx_listener *lookup(struct net *net,
				    struct sanx_listener_table *table,
				    const struct sanx_endpoint *local,
				    const struct sanx_endpoint *remote,
				    const struct sanx_arrival *by)
{
	struct sanx_listener *lsk = NULL;
	const struct sock *sk;

	lockdep_assert_held(&table->lock);
	if (sanx_addr_explicit(&local->addr))
		return explicit_of(table, local);
	rcu_read_lock();
	sk = sanx_native_listener(net, local, remote, by);
	if (sk)
		lsk = listener_of(table, sk);
	rcu_read_unlock();
	if (!sk)
		return soon_of(table, local);
	return lsk && takes(lsk) ? lsk : NULL;
}

/**
 * sanx_conn_incoming() - queue a connection at its listener
 * @conn: a NEW connection.  Its ring is ready, its window is set, and its
 *	@local and @remote are checked.  On success the listener takes over the
 *	caller's reference.
 * @by: where its SYN would have arrived
 *
 * One to port 0 is for the kernel itself: user.c.
 *
 * accept() finds it after sanx_conn_confirmed(), or after data or their end have come.
 *
 * Context: process or softirq.
 * Return: 0 if the connection is established at this end; -ECONNREFUSED if TCP is to
 * take it, as another program's socket or one that needs the IP stack would get it or
 * none listens there, or if a port rule denies the connection; -EAGAIN if
 * the backlog is full, or if listen() or close() of the listener has not finished;
 * -EPROTO if it has died.
 */
int sanx_conn_incoming(struct sanx_conn *conn, const struct sanx_arrival *by)
{
	struct sanx_listener_table *table = table_of(conn->net);
	struct sanx_listener *lsk;
	int err = -ECONNREFUSED;

	if (!conn->local.port)
		return sanx_service_take(conn);
	spin_lock_bh(&table->lock);
	lsk = lookup(conn->net, table, &conn->local, &conn->remote, by);
	if (!lsk || !sanx_port_allowed(conn->net, SANX_WAY_IN, &conn->remote.addr, &conn->local))
		goto out;
	err = -EAGAIN;
	if (lsk->soon || sanx_backlog_full(lsk, &conn->remote.addr))
		goto out;
	err = sanx_conn_accept(conn);
	if (err)
		goto out;
	err = sanx_backlog_add(lsk, conn);
out:
	spin_unlock_bh(&table->lock);
	return err;
}

/**
 * sanx_listener_ring_size() - ring size of a connection to a listener
 * @net: the namespace
 * @local: address and port at this end
 * @remote: the client
 * @by: where its SYN would have arrived
 * @memcg: set to the listener's memory cgroup, with a reference, or to NULL;
 *	for sanx_conn.memcg
 *
 * As in TCP, a connection inherits SO_RCVBUF of its listener.
 *
 * Context: any; takes the lock of the table.
 * Return: bytes, or 0 if TCP is to take it (sanx_conn_incoming()).
 */
u32 sanx_listener_ring_size(struct net *net, const struct sanx_endpoint *local,
			    const struct sanx_endpoint *remote,
			    const struct sanx_arrival *by,
			    struct mem_cgroup **memcg)
{
	struct sanx_listener_table *table = table_of(net);
	struct sanx_listener *lsk;
	u32 size = 0;

	*memcg = NULL;
	if (!local->port)
		return sanx_service_ring_size(net);
	spin_lock_bh(&table->lock);
	lsk = lookup(net, table, local, remote, by);
	/* With @soon, the listener's @sk may be gone already. */
	if (lsk)
		size = SANX_RING_MIN;
	if (lsk && !lsk->soon) {
		size = sanx_ring_size(READ_ONCE(lsk->sk->sk_rcvbuf));
		*memcg = sanx_memcg_get(lsk->sk);
	}
	spin_unlock_bh(&table->lock);
	return size;
}

static bool each_of(const struct sanx_listener *lsk,
		    bool (*fn)(struct sanx_conn *conn, void *arg), void *arg)
{
	const struct list_head *list[] = {
		&lsk->queue, &lsk->deferred, &lsk->half, &lsk->late,
	};
	struct sanx_conn *conn;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		list_for_each_entry(conn, list[i], node)
			if (!fn(conn, arg))
				return false;
	return true;
}

/**
 * sanx_listener_each() - look at all connections that came in and that no socket
 * shows
 * @net: the namespace
 * @fn: called for each, under the lock of the table of listeners; returns false to
 *	end it
 * @arg: for @fn
 *
 * Context: any.
 */
void sanx_listener_each(const struct net *net,
			bool (*fn)(struct sanx_conn *conn, void *arg),
			void *arg)
{
	struct sanx_listener_table *table = table_of(net);
	const struct sanx_listener *lsk;
	struct sanx_conn *conn;
	unsigned int i;

	spin_lock_bh(&table->lock);
	for (i = 0; i < ARRAY_SIZE(table->heads); i++)
		hlist_for_each_entry(lsk, &table->heads[i], node)
			if (!each_of(lsk, fn, arg))
				goto out;
	list_for_each_entry(conn, &table->taken, node)
		if (!fn(conn, arg))
			break;
out:
	spin_unlock_bh(&table->lock);
}

static void listener_fill(struct sanx_listener *lsk, struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);

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

static void listener_fill_explicit(struct sanx_listener *lsk, struct sock *sk,
				   const struct sanx_endpoint *at)
{
	lsk->sk = sk;
	lsk->local = *at;
	lsk->v4 = false;
	lsk->v6 = false;
}

/*
 * The listener that gets a connection which waits at one that ends: another one of its group
 * of SO_REUSEPORT, by a hash, as reuseport_migrate_sock() chooses.
 */
static struct sanx_listener *heir_of(const struct sanx_listener *lsk,
				     const struct sanx_conn *conn)
{
	const void *group = rcu_access_pointer(lsk->sk->sk_reuseport_cb);
	struct sanx_listener *other, *heir = NULL;
	u32 lot, highest = 0;

	lockdep_assert_held(&lsk->table->lock);
	if (!group || !READ_ONCE(conn->net->ipv4.sysctl_tcp_migrate_req))
		return NULL;
	hlist_for_each_entry(other, bucket(lsk->table, &lsk->local), node) {
		if (other == lsk || other->soon || !takes(other) ||
		    rcu_access_pointer(other->sk->sk_reuseport_cb) != group)
			continue;
		/* Each of them draws a lot. */
		lot = hash_32((u32)(unsigned long)other ^ (__force u16)conn->remote.port, 32);
		if (!heir || lot > highest) {
			heir = other;
			highest = lot;
		}
	}
	return heir;
}

/*
 * The listener ends: with tcp_migrate_req, others get what waits at it.  It takes nothing
 * more meanwhile, as it has @soon set or does not listen.
 * Context: the lock of the table held; released in between.
 * Return: false if it listens again meanwhile, so that what waits now may stay.
 */
static bool migrate_all(struct sanx_listener *lsk)
{
	u32 round = lsk->round;
	struct sanx_listener *heir;
	struct sanx_conn *conn;
	struct sock *sk;

	while (lsk->round == round) {
		conn = sanx_backlog_first(lsk);
		heir = conn ? heir_of(lsk, conn) : NULL;
		if (!heir)
			return true;
		sk = sanx_backlog_migrate(lsk, heir, conn);
		spin_unlock_bh(&lsk->table->lock);
		sanx_backlog_ready(sk);
		spin_lock_bh(&lsk->table->lock);
	}
	return false;
}

/*
 * Closes half-open connections that have died, and ends a listener whose sock does
 * not listen any more.  One with @soon set is left to the caller that set it.
 */
static void listener_work(struct work_struct *work)
{
	struct sanx_listener *lsk = container_of(work, struct sanx_listener,
						 work);
	LIST_HEAD(queue);

	spin_lock_bh(&lsk->table->lock);
	list_splice_init(&lsk->dead, &queue);
	if (!hlist_unhashed(&lsk->node) && !lsk->soon && !listens(lsk)) {
		hlist_del_init(&lsk->node);
		if (migrate_all(lsk))
			sanx_backlog_take(lsk, &queue);
	}
	spin_unlock_bh(&lsk->table->lock);
	sanx_backlog_drop(&queue);
}

/*
 * SOCK_DESTROY of sock_diag, and bpf_sock_destroy(), end listening without a
 * call of the socket.  They wake its wait queue, and so call this.
 * Context: any, with the lock of the wait queue held.
 */
static int listener_wake(wait_queue_entry_t *watch, unsigned int mode,
			 int flags, void *key)
{
	struct sanx_listener *lsk = container_of(watch, struct sanx_listener,
						 watch);

	if (!listens(lsk))
		queue_work(sanx_wq, &lsk->work);
	return 0;
}

/**
 * sanx_listener_init() - initialise the listener of a new socket
 * @lsk: the listener; everything that can be waited for or emptied is valid
 *	after this
 * @net: namespace of the socket
 *
 * sanx_listener_destroy() must follow.
 *
 * Context: any.
 */
void sanx_listener_init(struct sanx_listener *lsk, const struct net *net)
{
	lsk->table = table_of(net);
	refcount_inc(&lsk->table->refs);
	INIT_LIST_HEAD(&lsk->queue);
	INIT_LIST_HEAD(&lsk->deferred);
	INIT_LIST_HEAD(&lsk->half);
	INIT_LIST_HEAD(&lsk->late);
	INIT_LIST_HEAD(&lsk->dead);
	init_waitqueue_func_entry(&lsk->watch, listener_wake);
	INIT_LIST_HEAD(&lsk->watch.entry);
	INIT_WORK(&lsk->work, listener_work);
	INIT_DELAYED_WORK(&lsk->expire, sanx_backlog_expire);
}

/**
 * sanx_listener_destroy() - end the use of a listener
 * @lsk: the listener; sanx_listener_stop() was called if it ever listened.  Its
 *	memory must stay for a grace period (listener_news()).
 *
 * Context: process, may sleep.
 */
void sanx_listener_destroy(struct sanx_listener *lsk)
{
	/*
	 * The listener has left the wait queue, so listener_wake() cannot queue it
	 * again, and no connection waits at it, so half_over() cannot.
	 */
	cancel_work_sync(&lsk->work);
	cancel_delayed_work_sync(&lsk->expire);
	table_put(lsk->table);
}

/**
 * sanx_listener_watch() - notice when SOCK_DESTROY or BPF ends listening
 * @lsk: a listener that sanx_listener_add() has put into the table
 *
 * Context: process, lock_sock() of its sock held; the sock stays in TCP_LISTEN
 * until that lock is released.
 */
void sanx_listener_watch(struct sanx_listener *lsk)
{
	sock_owned_by_me(lsk->sk);
	if (list_empty(&lsk->watch.entry))
		add_wait_queue(sk_sleep(lsk->sk), &lsk->watch);
}

/*
 * May run more than once and concurrently.  The last time the sock can be gone,
 * but @watch is in no list then.
 */
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
 * @at: the end of an explicit socket; NULL for that of @sk
 * @soon: it takes no connection yet
 *
 * Context: process, lock_sock(@sk) held.
 */
void sanx_listener_add(struct sanx_listener *lsk, struct sock *sk,
		       const struct sanx_endpoint *at, bool soon)
{
	sock_owned_by_me(sk);
	spin_lock_bh(&lsk->table->lock);
	if (!hlist_unhashed(&lsk->node))
		hlist_del_init(&lsk->node);
	lsk->soon = soon;
	lsk->round++;
	lsk->backlog = READ_ONCE(sk->sk_max_ack_backlog);
	if (at)
		listener_fill_explicit(lsk, sk, at);
	else
		listener_fill(lsk, sk);
	hlist_add_head(&lsk->node, bucket(lsk->table, &lsk->local));
	spin_unlock_bh(&lsk->table->lock);
}

static void listener_end(struct sanx_listener *lsk, bool soon)
{
	LIST_HEAD(queue);

	listener_unwatch(lsk);
	spin_lock_bh(&lsk->table->lock);
	lsk->soon = true;
	if (migrate_all(lsk)) {
		lsk->soon = soon;
		if (!soon && !hlist_unhashed(&lsk->node))
			hlist_del_init(&lsk->node);
		sanx_backlog_take(lsk, &queue);
	}
	spin_unlock_bh(&lsk->table->lock);
	sanx_backlog_drop(&queue);
}

/**
 * sanx_listener_stop() - accept no more connections, and reset those that wait
 * @lsk: of a socket, listening or not
 *
 * Context: process, may sleep.
 */
void sanx_listener_stop(struct sanx_listener *lsk)
{
	listener_end(lsk, false);
}

/**
 * sanx_listener_pause() - as sanx_listener_stop(), before the socket is closed
 * @lsk: of a socket, listening or not
 *
 * The listener stays in the table until the native socket is closed too.
 * Otherwise a client would switch to TCP, be accepted there, and lose its
 * connection at once.  So the client gets the answer to ask again.
 * sanx_listener_stop() must follow.
 *
 * Context: process, may sleep.
 */
void sanx_listener_pause(struct sanx_listener *lsk)
{
	listener_end(lsk, true);
}

static int __net_init listener_net_init(struct net *net)
{
	struct listener_net *ln = net_generic(net, listener_net_id);

	ln->table = kzalloc(sizeof(*ln->table), GFP_KERNEL);
	if (!ln->table)
		return -ENOMEM;
	refcount_set(&ln->table->refs, 1);
	ln->table->mix = net_hash_mix(net) | 1;
	spin_lock_init(&ln->table->lock);
	INIT_LIST_HEAD(&ln->table->taken);
	return 0;
}

/* Runs after the exits of all that can have a connection come in. */
static void __net_exit listener_net_exit(struct net *net)
{
	table_put(table_of(net));
}

static struct pernet_operations listener_net_ops = {
	.init	= listener_net_init,
	.exit	= listener_net_exit,
	.id	= &listener_net_id,
	.size	= sizeof(struct listener_net),
};

int __init sanx_listeners_init(void)
{
	return register_pernet_subsys(&listener_net_ops);
}

void sanx_listeners_exit(void)
{
	unregister_pernet_subsys(&listener_net_ops);
}
