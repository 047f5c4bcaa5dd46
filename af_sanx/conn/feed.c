// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes for a kernel consumer that reads the receive queue of its sock.
 *
 * The kernel's iSCSI initiator takes a connected socket over from a program.  It replaces
 * the callbacks of the sock, and reads with tcp_read_sock(), that is from sk_receive_queue,
 * where AF_SANX has nothing.  Others that replace sk_data_ready() call recvmsg() later.
 *
 * Which of the two an owner does shows when bytes arrive.  The first ones are offered: they
 * are put into the queue, and stay in the ring.  If the owner takes some, it reads the queue:
 * from then on bytes are moved there.  If it calls recvmsg(), the offer is withdrawn, and
 * from then on its sk_data_ready() is called as TCP does it.
 *
 * Such an owner also looks at sk_state, which is TCP_CLOSE, but takes that for the end only
 * when sk_rmem_alloc is 0.  So a byte is held there until the stream has ended and was read.
 * Once there is a feed, only feed_work() calls the owner, and it holds the byte first.
 *
 * lock_sock() guards the queue and all fields; the ring is read under rx_mutex, inside it.
 * The callbacks are called under lock_sock(), as by TCP.  That is why they are called by work,
 * which waits for neither lock, as programs can hold both for long.
 *
 * References: queued work and each sk_buff have one of the connection.  Work is not queued
 * when sanx_feed_stop() is done: feed_kick() queues it and then looks at conn->detached,
 * which is stored before sanx_feed_stop() cancels the work.
 */
#include <linux/sched/mm.h>
#include <linux/skbuff.h>
#include <net/tcp.h>

#include "config/config.h"
#include "conn_priv.h"

/* Most bytes that are offered, and that are moved at once; and such pieces of one work. */
#define FEED_OFFER	4096U
#define FEED_PIECE	32768U
#define FEED_PIECES	32
/* TCP's receive window, so large that tcp_read_sock() never sends an ACK. */
#define FEED_WINDOW	0x3fffffffU

/**
 * enum sanx_feed_use - what the owner of a sock does with it
 * @SANX_FEED_UNKNOWN: it was told of no byte yet, or has not done anything since
 * @SANX_FEED_QUEUE: it reads the queue
 * @SANX_FEED_CALLS: it calls recvmsg()
 * @SANX_FEED_OVER: it has read all, and the stream has ended; or it has lost the sock
 */
enum sanx_feed_use {
	SANX_FEED_UNKNOWN,
	SANX_FEED_QUEUE,
	SANX_FEED_CALLS,
	SANX_FEED_OVER,
};

/**
 * struct sanx_feed - a connection whose sock a kernel consumer may read
 * @conn: the connection, which owns this
 * @work: moves bytes, and calls the owner
 * @use: see there; read without the lock, too
 * @offered: bytes of the ring that are in the queue, too; 0 unless UNKNOWN
 * @from: stream offset of the first of these
 * @held: bytes that are held in sk_rmem_alloc, 0 or 1
 * @runs: feed_run() runs, and looks again itself
 * @changed: 1 if sk_state_change() is to be called; any context
 */
struct sanx_feed {
	struct sanx_conn	*conn;
	struct delayed_work	work;
	enum sanx_feed_use	use;
	u32			offered;
	u64			from;
	u32			held;
	bool			runs;
	u32			changed;
};

/* Runs the work after @delay jiffies; at once, if that is 0.  Context: any. */
static void feed_kick(struct sanx_feed *feed, unsigned long delay)
{
	struct sanx_conn *conn = feed->conn;
	bool has;

	sanx_conn_get(conn);
	/* Work that was queued before has a reference already. */
	has = delay ? !queue_delayed_work(sanx_wq, &feed->work, delay) :
		      mod_delayed_work(sanx_wq, &feed->work, 0);
	if (has)
		sanx_conn_put(conn);
	/* Pairs with that in sanx_feed_stop(). */
	smp_mb();
	if (READ_ONCE(conn->detached))
		sanx_conn_later_stop(conn, &feed->work);
}

/* No more comes from the peer. */
static bool feed_ended(const struct sanx_conn *conn)
{
	return sanx_conn_fin_rcvd(conn) || !sanx_conn_open(conn);
}

/*
 * As sock_rfree().  The owner may be behind, so bytes, or the end, may wait for this.
 * Context: lock_sock() held.
 */
static void feed_skb_free(struct sk_buff *skb)
{
	struct sanx_conn *conn = skb_shinfo(skb)->destructor_arg;
	struct sanx_feed *feed = conn->feed;

	atomic_sub(skb->truesize, &skb->sk->sk_rmem_alloc);
	if (READ_ONCE(feed->use) < SANX_FEED_CALLS && !feed->runs &&
	    (feed->offered || sanx_rxq_avail(&conn->rx) || feed_ended(conn)))
		feed_kick(feed, 0);
	sanx_conn_put(conn);
}

/* Return: a sk_buff with room for @n bytes, which belongs to @sk; or NULL. */
static struct sk_buff *feed_skb(struct sanx_conn *conn, struct sock *sk, u32 n)
{
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(0, n, PAGE_ALLOC_COSTLY_ORDER, &err, sk->sk_allocation);
	if (!skb)
		return NULL;
	skb->len = n;
	skb->data_len = n;
	skb->sk = sk;
	skb->destructor = feed_skb_free;
	skb_shinfo(skb)->destructor_arg = sanx_conn_get(conn);
	atomic_add(skb->truesize, &sk->sk_rmem_alloc);
	return skb;
}

/* Copies the first bytes of the ring to @skb.  Context: rx_mutex held. */
static void feed_copy(struct sanx_conn *conn, struct sk_buff *skb)
{
	struct bio_vec bv[MAX_SKB_FRAGS];
	struct iov_iter to;
	unsigned int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		bv[i].bv_page = skb_frag_page(frag);
		bv[i].bv_offset = skb_frag_off(frag);
		bv[i].bv_len = skb_frag_size(frag);
	}
	iov_iter_bvec(&to, READ, bv, i, skb->len);
	sanx_rxq_read(&conn->rx, 0, &to, skb->len);
}

/* Appends @skb to the queue, as tcp_queue_rcv() does. */
static void feed_queue(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	TCP_SKB_CB(skb)->seq = tp->rcv_nxt;
	TCP_SKB_CB(skb)->end_seq = tp->rcv_nxt + skb->len;
	TCP_SKB_CB(skb)->tcp_flags = 0;
	WRITE_ONCE(tp->rcv_nxt, TCP_SKB_CB(skb)->end_seq);
	tp->rcv_wup = tp->rcv_nxt;
	tp->rcv_wnd = FEED_WINDOW;
	__skb_queue_tail(&sk->sk_receive_queue, skb);
}

/* The first @n bytes of the ring are the owner's now.  Context: rx_mutex held. */
static void feed_pass(struct sanx_conn *conn, u32 n)
{
	sanx_conn_pass(conn, n);
	this_cpu_add(conn->stats->v[SANX_STAT_RX_BYTES], n);
}

/*
 * Puts some bytes into the queue.  For an owner that reads it, they leave the ring.
 * Context: rx_mutex held.
 * Return: bytes; 0 if there are none, or too many in the queue, or an offer is open; or
 * -ENOMEM.
 */
static int feed_more(struct sanx_feed *feed, struct sock *sk)
{
	bool offer = feed->use == SANX_FEED_UNKNOWN;
	struct sanx_conn *conn = feed->conn;
	u32 n = min(sanx_rxq_avail(&conn->rx), offer ? FEED_OFFER : FEED_PIECE);
	struct sk_buff *skb;

	if (!n || feed->offered || atomic_read(&sk->sk_rmem_alloc) > READ_ONCE(conn->rx_max))
		return 0;
	skb = feed_skb(conn, sk, n);
	if (!skb)
		return -ENOMEM;
	feed_copy(conn, skb);
	feed_queue(sk, skb);
	if (offer) {
		feed->offered = n;
		feed->from = conn->rx.head;
	} else {
		feed_pass(conn, n);
	}
	return n;
}

/*
 * Has the owner taken something of the offer?  Then all of it leaves the ring, but for what a
 * recv() has read meanwhile.
 * Context: rx_mutex held.
 */
static void feed_settle(struct sanx_feed *feed, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sanx_conn *conn = feed->conn;
	u64 end = feed->from + feed->offered;

	if (!feed->offered || tp->rcv_nxt - tp->copied_seq == feed->offered)
		return;
	WRITE_ONCE(feed->use, SANX_FEED_QUEUE);
	feed->offered = 0;
	if (end > conn->rx.head)
		feed_pass(conn, end - conn->rx.head);
}

static void feed_hold(struct sanx_feed *feed, struct sock *sk)
{
	if (feed->held)
		return;
	/* Nothing was read before, neither from the queue. */
	WRITE_ONCE(tcp_sk(sk)->copied_seq, tcp_sk(sk)->rcv_nxt);
	feed->held = 1;
	atomic_add(1, &sk->sk_rmem_alloc);
}

static void feed_let_go(struct sanx_feed *feed, struct sock *sk)
{
	atomic_sub(feed->held, &sk->sk_rmem_alloc);
	feed->held = 0;
}

/* Empties the queue.  What was offered is still in the ring. */
static void feed_drop(struct sanx_feed *feed, struct sock *sk)
{
	__skb_queue_purge(&sk->sk_receive_queue);
	WRITE_ONCE(tcp_sk(sk)->copied_seq, tcp_sk(sk)->rcv_nxt);
	feed->offered = 0;
	feed_let_go(feed, sk);
}

/*
 * Calls the owner as TCP does: with lock_sock(), and in a context that does not sleep.  It may
 * be another one, or none, at any time, so its function is loaded under RCU.
 */
static void feed_tell(struct sock *sk, bool changed)
{
	void (*fn)(struct sock *sk);

	local_bh_disable();
	rcu_read_lock();
	fn = changed ? READ_ONCE(sk->sk_state_change) : READ_ONCE(sk->sk_data_ready);
	fn(sk);
	rcu_read_unlock();
	local_bh_enable();
}

/* If no more can come, and all was read, the owner may believe what it sees. */
static void feed_end(struct sanx_feed *feed, struct sock *sk)
{
	if (!feed_ended(feed->conn))
		return;
	/* Load the end before rx.tail, as sanx_recv_end() does. */
	smp_rmb();
	if (sanx_rxq_avail(&feed->conn->rx) || !skb_queue_empty(&sk->sk_receive_queue))
		return;
	WRITE_ONCE(feed->use, SANX_FEED_OVER);
	feed_let_go(feed, sk);
	WRITE_ONCE(feed->changed, 1);
}

/* Context: lock_sock() and rx_mutex held. */
static void feed_run(struct sanx_feed *feed, struct sock *sk)
{
	int n, pieces = 0;

	feed_hold(feed, sk);
	feed->runs = true;
	feed_settle(feed, sk);
	/* As TCP, tell of each arrival an owner that has not done anything yet. */
	if (feed->offered)
		feed_tell(sk, false);
	do {
		feed_settle(feed, sk);
		n = feed_more(feed, sk);
		if (n > 0)
			feed_tell(sk, false);
	} while (n > 0 && ++pieces < FEED_PIECES && !need_resched());
	feed_settle(feed, sk);
	feed->runs = false;
	if (n)
		feed_kick(feed, n < 0 ? HZ / 10 : 0);
	else
		feed_end(feed, sk);
}

/* Context: lock_sock() and rx_mutex held. */
static void feed_look(struct sanx_feed *feed, struct sock *sk)
{
	struct sanx_memalloc scope;

	sanx_memalloc_save(sk, &scope);
	if (feed->use < SANX_FEED_CALLS)
		feed_run(feed, sk);
	else if (feed->use == SANX_FEED_CALLS && sanx_rxq_avail(&feed->conn->rx))
		/* These came just when the owner began to call recvmsg(). */
		feed_tell(sk, false);
	if (xchg(&feed->changed, 0))
		feed_tell(sk, true);
	sanx_memalloc_restore(&scope);
}

/*
 * The queue of a sock that becomes TCP stays empty: a connection that is refused is left alone,
 * and one that still connects is looked at again later.
 * Return: false if it is to be tried again, also if a program has rx_mutex.
 */
static bool feed_try_locked(struct sanx_feed *feed, struct sock *sk)
{
	struct sanx_conn *conn = feed->conn;
	/* Read once, as CONNECTING may become REFUSED at any time. */
	enum sanx_conn_state state = READ_ONCE(conn->state);

	if (READ_ONCE(conn->detached) || state == SANX_CONN_REFUSED)
		return true;
	if (state == SANX_CONN_CONNECTING || !mutex_trylock(&conn->rx_mutex))
		return false;
	feed_look(feed, sk);
	mutex_unlock(&conn->rx_mutex);
	return true;
}

/* Return: as feed_try_locked(), and false if a program has lock_sock(). */
static bool feed_try(struct sanx_feed *feed, struct sock *sk)
{
	bool done;

	if (!sanx_lock_sock_soon(sk))
		return false;
	done = feed_try_locked(feed, sk);
	release_sock(sk);
	return done;
}

/* Reclaim may wait for another connection, so nothing here waits for it. */
static void feed_work(struct work_struct *work)
{
	struct sanx_feed *feed = container_of(to_delayed_work(work), struct sanx_feed, work);
	struct sock *sk = sanx_conn_sk_get(feed->conn);
	unsigned int noio = memalloc_noio_save();

	if (sk) {
		if (!feed_try(feed, sk))
			feed_kick(feed, 1);
		sock_put(sk);
	}
	memalloc_noio_restore(noio);
	sanx_conn_later_done(feed->conn);
}

/*
 * A connection gets its feed when it is first needed.  The owner would take its sock for
 * closed without it, so it may use reserves if the owner may.
 * Return: it, or NULL.
 */
static struct sanx_feed *feed_of(struct sanx_conn *conn, const struct sock *sk)
{
	struct sanx_feed *feed = READ_ONCE(conn->feed);

	if (feed)
		return feed;
	feed = kzalloc(sizeof(*feed), sk_gfp_mask(sk, GFP_ATOMIC) | __GFP_NOWARN);
	if (!feed)
		return NULL;
	feed->conn = conn;
	INIT_DELAYED_WORK(&feed->work, feed_work);
	/* Pairs with the loads of conn->feed, whose users depend on the address. */
	if (cmpxchg_release(&conn->feed, NULL, feed)) {
		kfree(feed);
		feed = READ_ONCE(conn->feed);
	}
	return feed;
}

/*
 * Bytes have arrived for a sock whose sk_data_ready() was replaced.
 * Return: true if the owner is told later; false if the caller is to do so.
 */
bool sanx_feed_arrived(struct sanx_conn *conn, const struct sock *sk)
{
	struct sanx_feed *feed = feed_of(conn, sk);

	if (!feed || READ_ONCE(feed->use) >= SANX_FEED_CALLS)
		return false;
	feed_kick(feed, 0);
	return true;
}

/*
 * A direction has ended, or the connection; the caller has stored what tells so.
 * Return: true if the owner is told later; false if the caller is to do so.
 */
bool sanx_feed_changed(struct sanx_conn *conn)
{
	struct sanx_feed *feed;

	/* Store the end before conn->feed is loaded: its work looks for the end. */
	smp_mb();
	feed = READ_ONCE(conn->feed);
	if (!feed || READ_ONCE(feed->use) >= SANX_FEED_CALLS)
		return false;
	WRITE_ONCE(feed->changed, 1);
	feed_kick(feed, 0);
	return true;
}

/**
 * sanx_feed_called() - the owner of a sock, or a program, calls recvmsg()
 * @conn: the connection, which has a feed
 * @sk: its sock
 *
 * Not for MSG_PEEK, which takes nothing.
 *
 * Context: process; takes lock_sock() and rx_mutex.
 */
void sanx_feed_called(struct sanx_conn *conn, struct sock *sk)
{
	struct sanx_feed *feed = READ_ONCE(conn->feed);

	if (READ_ONCE(feed->use) != SANX_FEED_UNKNOWN)
		return;
	lock_sock(sk);
	mutex_lock(&conn->rx_mutex);
	if (!READ_ONCE(conn->detached))
		feed_settle(feed, sk);
	if (!READ_ONCE(conn->detached) && feed->use == SANX_FEED_UNKNOWN) {
		WRITE_ONCE(feed->use, SANX_FEED_CALLS);
		feed_drop(feed, sk);
	}
	mutex_unlock(&conn->rx_mutex);
	release_sock(sk);
}

/**
 * sanx_feed_stop() - take back what is in the queue of a sock
 * @conn: a connection that has been detached from its sock
 * @sk: that
 *
 * Context: process, lock_sock() held.
 * Return: true if the owner has not read all that has left the ring.
 */
bool sanx_feed_stop(struct sanx_conn *conn, struct sock *sk)
{
	struct sanx_feed *feed = READ_ONCE(conn->feed);
	bool unread;

	sock_owned_by_me(sk);
	if (!feed)
		return false;
	/* Bytes that were read do not make the close a reset. */
	if (mutex_trylock(&conn->rx_mutex)) {
		feed_settle(feed, sk);
		mutex_unlock(&conn->rx_mutex);
	}
	unread = feed->use == SANX_FEED_QUEUE && !skb_queue_empty(&sk->sk_receive_queue);
	WRITE_ONCE(feed->use, SANX_FEED_OVER);
	feed_drop(feed, sk);
	/* conn->detached is stored.  Pairs with that in feed_kick(). */
	smp_mb();
	sanx_conn_later_stop(conn, &feed->work);
	return unread;
}
