// SPDX-License-Identifier: GPL-2.0
/*
 * What waits at a listener for accept(), and until when (sci-socket.txt 5.1.4).
 *
 * A connection is half-open until its connector is established too; over a link,
 * until something arrives that only a connector sends that has our answer.  As in
 * TCP's three-way handshake (RFC 9293, section 3.5), accept() does not find it before:
 * if the answer is lost or late, the connector's socket becomes TCP, and the program
 * here would see two connections.
 *
 * One that TCP_DEFER_ACCEPT keeps from accept() waits for data.
 */
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "config/config.h"
#include "config/cov.h"
#include "conn_priv.h"
#include "listener.h"

/*
 * How long a half-open connection counts towards the backlog, in jiffies.  Its
 * connector answers within a round trip, or the link is lost.
 */
#define HALF_MAX	(3 * HZ)
/* How long there is such a connection, as with TCP's defaults (tcp_synack_retries). */
#define HALF_END	(60 * HZ)

/*
 * Return: how long TCP_DEFER_ACCEPT waits for data, in jiffies.  TCP counts it
 * in retransmissions of the SYN-ACK, with an interval that doubles each time
 * (retrans_to_secs()).
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

/*
 * Queues a connection for accept(), behind those of TCP that wait in the queue of the sock.
 * Return: the sock, with a reference, for sanx_backlog_ready().
 */
static struct sock *enqueue(struct sanx_listener *lsk, struct sanx_conn *conn)
{
	lockdep_assert_held(&lsk->table->lock);
	conn->turn = lsk->natives + READ_ONCE(lsk->sk->sk_ack_backlog);
	list_add_tail(&conn->node, &lsk->queue);
	lsk->queued++;
	sock_hold(lsk->sk);
	return lsk->sk;
}

/*
 * Wakes a listening sock, which may be closed meanwhile, as tcp_child_process()
 * does: under RCU, for the module that the callback may be in.
 * @sk: NULL for none; the reference is put
 */
void sanx_backlog_ready(struct sock *sk)
{
	if (!sk)
		return;
	rcu_read_lock();
	sk->sk_data_ready(sk);
	rcu_read_unlock();
	sock_put(sk);
}

/* Takes a connection out of the list that it waits in, to be put into another. */
static void deferred_del(struct sanx_conn *conn)
{
	struct sanx_listener *lsk = conn->deferred;

	lockdep_assert_held(&lsk->table->lock);
	WRITE_ONCE(conn->deferred, NULL);
	list_del_init(&conn->node);
	if (conn->awaits == SANX_AWAITS_DATA)
		lsk->n_deferred--;
	else if (conn->awaits == SANX_AWAITS_PEER)
		lsk->n_half--;
	conn->awaits = SANX_AWAITS_NOTHING;
}

static void deferred_add(struct sanx_listener *lsk, struct sanx_conn *conn,
			 enum sanx_awaits awaits, struct list_head *list)
{
	lockdep_assert_held(&lsk->table->lock);
	list_add_tail(&conn->node, list);
	conn->awaits = awaits;
	/* Pairs with smp_load_acquire() in listener_news(). */
	smp_store_release(&conn->deferred, lsk);
}

static void data_add(struct sanx_listener *lsk, struct sanx_conn *conn)
{
	lsk->n_deferred++;
	deferred_add(lsk, conn, SANX_AWAITS_DATA, &lsk->deferred);
}

static void half_add(struct sanx_listener *lsk, struct sanx_conn *conn)
{
	conn->came = jiffies;
	lsk->n_half++;
	deferred_add(lsk, conn, SANX_AWAITS_PEER, &lsk->half);
	if (!delayed_work_pending(&lsk->expire))
		queue_delayed_work(sanx_wq, &lsk->expire, HALF_END);
}

static void defer_over(struct kthread_work *work);

/*
 * An established connection comes to its listener.
 * Return: as enqueue(), or NULL if it waits for data.
 */
static struct sock *arrive(struct sanx_listener *lsk, struct sanx_conn *conn)
{
	unsigned long wait = defer_time(lsk->sk);

	lockdep_assert_held(&lsk->table->lock);
	sanx_conn_count(conn);
	if (!wait)
		return enqueue(lsk, conn);
	data_add(lsk, conn);
	sanx_conn_work_set(&conn->retry, defer_over);
	sanx_conn_work_queue(&conn->retry, wait);
	return NULL;
}

/*
 * The connector of a half-open connection knows of it, or the connection is dead.
 * No program here has seen one that is dead, so it is only closed: listener_work().
 * @data: there is something to read
 * Return: as enqueue(), or NULL if it was not queued.
 */
static struct sock *half_over(struct sanx_conn *conn, bool data)
{
	struct sanx_listener *lsk = conn->deferred;

	lockdep_assert_held(&lsk->table->lock);
	deferred_del(conn);
	if (!sanx_conn_open(conn)) {
		list_add_tail(&conn->node, &lsk->dead);
		queue_work(sanx_wq, &lsk->work);
		return NULL;
	}
	if (!data)
		return arrive(lsk, conn);
	sanx_conn_count(conn);
	return enqueue(lsk, conn);
}

/*
 * Queues a connection that waits for data and has some, or whose time is over.
 * @dead: NULL to leave a dead connection where it is; else set if it is dead, and
 *	then it is in no list
 * Return: as enqueue(), or NULL if it was not queued.
 */
static struct sock *undefer(struct sanx_conn *conn, bool *dead)
{
	struct sanx_listener *lsk = conn->deferred;

	lockdep_assert_held(&lsk->table->lock);
	if (sanx_conn_open(conn)) {
		deferred_del(conn);
		return enqueue(lsk, conn);
	}
	if (dead) {
		deferred_del(conn);
		*dead = true;
	}
	return NULL;
}

/* What a connection that accept() does not find yet has to be looked at for. */
enum news {
	NEWS_PEER,	/* its connector knows of it */
	NEWS_DATA,	/* data, their end, or a reset */
	NEWS_TIME,	/* the time of TCP_DEFER_ACCEPT is over */
};

/*
 * Takes news of a connection that accept() does not find yet, if it is one.
 *
 * RCU keeps the listener and its table: both are freed after a grace period,
 * and conn->deferred is NULL before it begins.
 * @dead: for NEWS_TIME: as undefer()
 */
static void listener_news(struct sanx_conn *conn, enum news news, bool *dead)
{
	struct sock *sk = NULL;
	struct sanx_listener *lsk;

	rcu_read_lock();
	/* Pairs with smp_store_release() in deferred_add(). */
	lsk = smp_load_acquire(&conn->deferred);
	if (lsk) {
		spin_lock_bh(&lsk->table->lock);
		if (!conn->deferred)
			;	/* it was queued, or its listener has ended */
		else if (conn->awaits != SANX_AWAITS_DATA)
			sk = half_over(conn, news == NEWS_DATA);
		else if (news != NEWS_PEER)
			sk = undefer(conn, dead);
		spin_unlock_bh(&lsk->table->lock);
		sanx_backlog_ready(sk);
	}
	rcu_read_unlock();
}

/*
 * The time of a deferred connection is over.  As in TCP, it can be accepted
 * then, unless it is dead.
 * Context: the connect thread, with a reference.
 */
static void defer_over(struct kthread_work *work)
{
	struct sanx_conn *conn = container_of(work, struct sanx_conn,
					      retry.work);
	bool cov = sanx_cov_start(conn->net);
	bool dead = false;

	listener_news(conn, NEWS_TIME, &dead);
	if (dead) {
		sanx_conn_close(conn, true);
		sanx_conn_put(conn);
	}
	sanx_conn_put(conn);
	sanx_cov_stop(cov);
}

/* Data, their end, or a reset came to a connection without a sock.  No lock of the core held. */
void sanx_listener_news(struct sanx_conn *conn)
{
	/* A dead connection that waits for data does so until its time is over. */
	listener_news(conn, NEWS_DATA, NULL);
}

/**
 * sanx_conn_confirmed() - the connector of a connection that came in knows of it
 * @conn: the connection; half-open, or nothing is done
 *
 * Data and their end say so too, and need no call of this.
 *
 * Context: any; no lock of the core held.
 */
void sanx_conn_confirmed(struct sanx_conn *conn)
{
	if (unlikely(READ_ONCE(conn->deferred)))
		listener_news(conn, NEWS_PEER, NULL);
}

static void half_late(struct sanx_listener *lsk, struct sanx_conn *conn)
{
	conn->awaits = SANX_AWAITS_PEER_LATE;
	list_move_tail(&conn->node, &lsk->late);
	lsk->n_half--;
}

/* Those that wait for their connectors for too long count no more. */
static void half_expire(struct sanx_listener *lsk)
{
	struct sanx_conn *conn, *next;

	lockdep_assert_held(&lsk->table->lock);
	list_for_each_entry_safe(conn, next, &lsk->half, node) {
		if (time_before(jiffies, conn->came + HALF_MAX))
			return;
		half_late(lsk, conn);
	}
}

/* The oldest one counts no more if it is not from @remote. */
static void half_give_way(struct sanx_listener *lsk, const struct in6_addr *remote)
{
	struct sanx_conn *oldest;

	oldest = list_first_entry_or_null(&lsk->half, struct sanx_conn, node);
	if (oldest && !sanx_addr_same_host(&oldest->remote.addr, remote))
		half_late(lsk, oldest);
}

static bool listener_crowded(const struct sanx_listener *lsk)
{
	lockdep_assert_held(&lsk->table->lock);
	return lsk->queued + lsk->n_half > lsk->backlog;
}

/*
 * One more than the backlog, as in sk_acceptq_is_full() of TCP.  A peer that leaves
 * connections half-open takes no room from others: theirs then have precedence.
 */
bool sanx_backlog_full(struct sanx_listener *lsk, const struct in6_addr *remote)
{
	if (listener_crowded(lsk))
		half_expire(lsk);
	if (listener_crowded(lsk))
		half_give_way(lsk, remote);
	return listener_crowded(lsk) || lsk->n_deferred > lsk->backlog;
}

/*
 * Has a connection died before conn->deferred was set?  Then sanx_conn_reset() has told
 * nobody.  It looks at conn->deferred behind conn->lock, so one of the two sees the other.
 */
static bool half_is_dead(struct sanx_conn *conn)
{
	bool dead;

	lockdep_assert_held(&conn->deferred->table->lock);
	spin_lock(&conn->lock);
	dead = !sanx_conn_open(conn);
	spin_unlock(&conn->lock);
	return dead;
}

/*
 * Has a connection come in, and wait for its connector.
 * Return: 0; -EPROTO if it has died, and then it waits nowhere.
 */
int sanx_backlog_add(struct sanx_listener *lsk, struct sanx_conn *conn)
{
	half_add(lsk, conn);
	if (!half_is_dead(conn))
		return 0;
	deferred_del(conn);
	return -EPROTO;
}

struct sanx_conn *sanx_backlog_first(const struct sanx_listener *lsk)
{
	const struct list_head *list[] = {
		&lsk->queue, &lsk->deferred, &lsk->half, &lsk->late,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		if (!list_empty(list[i]))
			return list_first_entry(list[i], struct sanx_conn, node);
	return NULL;
}

/*
 * Gives a connection to another listener, which waits there for what it has waited for.
 * conn->deferred is never NULL in between, as news would be lost: listener_news().
 * Return: as enqueue(), or NULL if accept() does not find it yet.
 */
struct sock *sanx_backlog_migrate(struct sanx_listener *lsk, struct sanx_listener *heir,
				  struct sanx_conn *conn)
{
	lockdep_assert_held(&lsk->table->lock);
	if (!conn->deferred) {
		list_del_init(&conn->node);
		lsk->queued--;
		return enqueue(heir, conn);
	}
	list_del(&conn->node);
	if (conn->awaits == SANX_AWAITS_DATA) {
		lsk->n_deferred--;
		data_add(heir, conn);
		return NULL;
	}
	if (conn->awaits == SANX_AWAITS_PEER)
		lsk->n_half--;
	half_add(heir, conn);
	return NULL;
}

static void take_deferred(struct list_head *list, struct list_head *queue)
{
	struct sanx_conn *conn, *next;

	list_for_each_entry_safe(conn, next, list, node) {
		deferred_del(conn);
		list_add_tail(&conn->node, queue);
	}
}

/* Moves all waiting connections to @queue, for sanx_backlog_drop(). */
void sanx_backlog_take(struct sanx_listener *lsk, struct list_head *queue)
{
	lockdep_assert_held(&lsk->table->lock);
	take_deferred(&lsk->deferred, queue);
	take_deferred(&lsk->half, queue);
	take_deferred(&lsk->late, queue);
	list_splice_init(&lsk->dead, queue);
	list_splice_init(&lsk->queue, queue);
	lsk->queued = 0;
}

/* Resets connections that were not accepted, as TCP does. */
void sanx_backlog_drop(struct list_head *queue)
{
	struct sanx_conn *conn, *next;

	list_for_each_entry_safe(conn, next, queue, node) {
		list_del_init(&conn->node);
		sanx_conn_close(conn, true);
		sanx_conn_stop(conn);
		sanx_conn_put(conn);
	}
}

/* Moves half-open connections whose time is over to @queue, for sanx_backlog_drop(). */
static void take_expired(struct list_head *list, struct list_head *queue)
{
	struct sanx_conn *conn, *next;

	/* The oldest is the first. */
	list_for_each_entry_safe(conn, next, list, node) {
		if (time_before(jiffies, conn->came + HALF_END))
			return;
		deferred_del(conn);
		list_add_tail(&conn->node, queue);
	}
}

/* A peer that never says that it knows of its connections must not keep them here. */
void sanx_backlog_expire(struct work_struct *work)
{
	struct sanx_listener *lsk = container_of(to_delayed_work(work),
						 struct sanx_listener, expire);
	LIST_HEAD(queue);

	spin_lock_bh(&lsk->table->lock);
	take_expired(&lsk->half, &queue);
	take_expired(&lsk->late, &queue);
	if (!list_empty(&lsk->half) || !list_empty(&lsk->late))
		queue_delayed_work(sanx_wq, &lsk->expire, HALF_END / 4);
	spin_unlock_bh(&lsk->table->lock);
	sanx_backlog_drop(&queue);
}

/*
 * Did one of TCP's connections come before this one?
 *
 * Another accept() takes one of TCP's first, and counts it in @natives later.  In between this
 * may be true of one more of TCP's, and enqueue() may put a connection one place too far ahead.
 */
static bool native_first(const struct sanx_listener *lsk, const struct sanx_conn *conn)
{
	lockdep_assert_held(&lsk->table->lock);
	return (s32)(conn->turn - lsk->natives) > 0 &&
	       !reqsk_queue_empty(&inet_csk(lsk->sk)->icsk_accept_queue);
}

/**
 * sanx_listener_take() - take the connection that has waited longest
 * @lsk: of a listening socket
 *
 * sanx_listener_taken() must follow.
 *
 * Context: any; takes the lock of the table.
 * Return: a connection, whose reference is now the caller's, or NULL if none waits or
 * one of TCP's has waited longer.
 */
struct sanx_conn *sanx_listener_take(struct sanx_listener *lsk)
{
	struct sanx_conn *conn;

	if (!READ_ONCE(lsk->queued))
		return NULL;
	spin_lock_bh(&lsk->table->lock);
	conn = list_first_entry_or_null(&lsk->queue, struct sanx_conn, node);
	if (conn && native_first(lsk, conn))
		conn = NULL;
	if (conn) {
		list_move_tail(&conn->node, &lsk->table->taken);
		lsk->queued--;
	}
	spin_unlock_bh(&lsk->table->lock);
	return conn;
}

/**
 * sanx_listener_native_taken() - accept() has returned a connection of TCP
 * @lsk: of the listening socket
 *
 * Context: any; takes the lock of the table.
 */
void sanx_listener_native_taken(struct sanx_listener *lsk)
{
	spin_lock_bh(&lsk->table->lock);
	lsk->natives++;
	spin_unlock_bh(&lsk->table->lock);
}

/**
 * sanx_listener_taken() - a connection that was taken is shown by a socket, or is
 * closed
 * @lsk: its listener
 * @conn: the connection, as sanx_listener_take() returned it
 *
 * Context: any; takes the lock of the table.
 */
void sanx_listener_taken(struct sanx_listener *lsk, struct sanx_conn *conn)
{
	spin_lock_bh(&lsk->table->lock);
	list_del_init(&conn->node);
	spin_unlock_bh(&lsk->table->lock);
}

/**
 * sanx_listener_waiting() - number of connections that wait for accept()
 * @lsk: of a socket, listening or not
 *
 * Context: any.
 * Return: connections; a hint.
 */
unsigned int sanx_listener_waiting(const struct sanx_listener *lsk)
{
	return READ_ONCE(lsk->queued);
}
