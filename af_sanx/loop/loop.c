// SPDX-License-Identifier: GPL-2.0
/*
 * The loop transport: both ends of a connection are on this node.
 *
 * A sender copies from its program straight into the receiver's ring.  A reader
 * copies from there into its program.  There is no link, no frame and no
 * thread.  Where another transport sends a frame, loop calls a function on the
 * peer's connection.
 *
 * Invariants:
 *
 * - Each end holds a reference of the other end, from loop_pair() until both
 *   ends are closed.  The end that closes second puts both references.
 * - A ring has one writer, the peer's sender, serialised by the sender's
 *   tx_mutex.  It has one reader, serialised by the rx_mutex of the receiving
 *   end.
 * - The sender allocates the rings of the receiver.  The first ring is
 *   allocated by the first send(), so a connection that carries nothing has
 *   none.  That ring has SANX_RING_FIRST bytes as long as these are enough.
 * - The queue of rings is a list of generations.  Bytes beyond the receiver's
 *   ring go to spare rings (conn/spare.c).
 *   The reader goes from each ring to the next.  Each ring is freed when it was
 *   read to its end.
 * - Rings of more than SANX_RING_FIRST bytes are in TCP's account (tcp_mem).
 *   Under memory pressure there are no new ones, and a connection goes on with
 *   a ring of SANX_RING_FIRST bytes.
 */
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "conn/conn.h"
#include "loop.h"

bool sanx_loop __ro_after_init = true;
module_param_named(loop, sanx_loop, bool, 0444);
MODULE_PARM_DESC(loop, "reach addresses of this node through memory (default: Y)");

/**
 * struct loop_ring - a ring of a connection
 * @gen: its place in the list of generations of the receiver's queue
 * @spare: it is for bytes beyond the receiver's own ring
 *
 * The ring does not change after it was appended to the queue.
 */
struct loop_ring {
	struct sanx_generation	gen;
	bool			spare;
};

/**
 * struct loop_conn - a connection over loop
 * @conn: what all transports have; first
 * @peer: the other end, with a reference; set before either end is established,
 *	then constant
 * @last: the ring that was appended last to the peer's queue; tx_mutex
 * @announced: stream offset up to which the peer sees bytes; @lock while
 *	@corked, else tx_mutex
 * @granted: low 32 bits of the last limit that this end granted as the
 *	receiver; differs from rx.granted after the sender has exceeded its
 *	limit; rx_mutex
 * @step: low 32 bits of the offset up to which the sender was notified that
 *	bytes beyond the ring were read; rx_mutex
 * @lock: guards tx.limit and tx.read of this end and rx.granted of the peer:
 *	loop_exceed() and loop_grant() change them; also @corked; softirq,
 *	innermost
 * @corked: bytes behind @announced are corked.  Only the sender sets it, under
 *	tx_mutex and @lock.  loop_uncork() clears it with release, after it has
 *	moved @announced.
 * @closed: close() was called for this end; loop_close_lock
 */
struct loop_conn {
	struct sanx_conn	conn;
	struct sanx_conn	*peer;
	struct loop_ring	*last;
	u64			announced;
	u32			granted;
	u32			step;
	spinlock_t		lock; /* guards: see above */
	bool			corked;
	bool			closed;
};

static struct loop_conn *loop_conn(struct sanx_conn *conn)
{
	return container_of(conn, struct loop_conn, conn);
}

/* Guards loop_conn.closed of both ends of every connection. */
static DEFINE_SPINLOCK(loop_close_lock);

/* Pieces of this size are not coalesced: the copy costs more than a wake-up. */
#define LOOP_PIECE	8192
/* Least bytes of a spare ring. */
#define SPARE_MIN	65536U
/* Bytes read from spare rings between two notifications of the sender. */
#define SPARE_STEP	32768U

static void loop_pair(struct sanx_conn *a, struct sanx_conn *b)
{
	loop_conn(a)->peer = sanx_conn_get(b);
	loop_conn(b)->peer = sanx_conn_get(a);
	spin_lock_init(&loop_conn(a)->lock);
	spin_lock_init(&loop_conn(b)->lock);
	loop_conn(a)->granted = a->rx.granted;
	loop_conn(b)->granted = b->rx.granted;
	sanx_txq_init(&a->tx, b->rx.size);
	sanx_txq_init(&b->tx, a->rx.size);
	/* The reader has something to do before the ring is full. */
	a->hold.held_max = a->tx.size / 2;
	b->hold.held_max = b->tx.size / 2;
}

static int loop_connect(struct sanx_conn *conn)
{
	struct sanx_arrival by;
	struct sanx_conn *server;
	struct mem_cgroup *memcg;
	u32 size;
	int err;

	sanx_route_loops(conn->net, &conn->remote, &conn->local, &by);
	if (sanx_conn_asks(conn)) {
		if (!sanx_question_admits(conn->net, &conn->remote, &conn->local, &by))
			return -ECONNREFUSED;
		sanx_conn_refused(conn, SANX_FALLBACK_NONE);
		return 0;
	}
	size = sanx_listener_ring_size(conn->net, &conn->remote, &conn->local,
				       &by, &memcg);
	if (!size)
		return -ECONNREFUSED;
	server = sanx_conn_alloc(conn->ops, conn->net, &conn->remote,
				 &conn->local, memcg);
	if (!server)
		return -ENOMEM;
	server->rx_max = size;
	sanx_rxq_init(&server->rx, NULL, size);
	loop_pair(conn, server);

	err = sanx_conn_incoming(server, &by);
	if (err) {
		/*
		 * The server was not queued, so nothing else refers to the pair
		 * yet: undo loop_pair(), and put the reference of the
		 * allocation.
		 */
		loop_conn(conn)->peer = NULL;
		loop_conn(server)->peer = NULL;
		sanx_conn_put(conn);
		sanx_conn_put(server);
		sanx_conn_put(server);
		if (err != -EAGAIN)
			return err;
		sanx_conn_busy(conn);
		return 0;
	}
	/*
	 * The listener now owns the reference of the allocation.  If the connector was
	 * refused meanwhile, close() resets the server (sanx_conn_close()), which
	 * accept() does not find then.  The caller's lock_sock() keeps @conn from being
	 * closed, and so the references of the pair.
	 */
	if (!sanx_conn_established(conn))
		sanx_conn_confirmed(server);
	return 0;
}

/* Pages of a ring in TCP's account: that of SANX_RING_FIRST bytes is not in it. */
static u32 ring_pages(u32 size)
{
	return size > SANX_RING_FIRST ? DIV_ROUND_UP(size, PAGE_SIZE) : 0;
}

/*
 * __GFP_NORETRY: a lack of memory must not invoke the OOM killer.  The sender
 * waits instead.
 */
static struct loop_ring *ring_alloc_uncharged(u32 size, struct mem_cgroup *payer)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY;
	struct loop_ring *ring;

	payer = set_active_memcg(payer);
	ring = kmalloc(sizeof(*ring), gfp);
	if (ring)
		ring->gen.ring.buf = kvmalloc(size, gfp);
	set_active_memcg(payer);
	if (!ring || !ring->gen.ring.buf) {
		kfree(ring);
		return NULL;
	}
	ring->gen.ring.size = size;
	ring->gen.from = 0;
	ring->gen.next = NULL;
	ring->spare = false;
	return ring;
}

/*
 * @payer: the memory cgroup to charge, or NULL for the caller's
 * Return: a ring that is in no queue, or NULL.
 */
static struct loop_ring *ring_alloc(u32 size, struct mem_cgroup *payer)
{
	u32 pages = ring_pages(size);
	struct loop_ring *ring;

	if (pages && !sanx_mem_charge(pages))
		return NULL;
	ring = ring_alloc_uncharged(size, payer);
	if (!ring)
		sanx_mem_uncharge(pages);
	return ring;
}

static void ring_free(struct loop_ring *ring)
{
	sanx_mem_uncharge(ring_pages(ring->gen.ring.size));
	kvfree(ring->gen.ring.buf);
	kfree(ring);
}

static struct loop_ring *ring_of(struct sanx_generation *gen)
{
	return container_of(gen, struct loop_ring, gen);
}

/*
 * A spare ring, for bytes that do not fit the receiver's own ring.  The
 * sender's memory cgroup is charged.
 */
static struct loop_ring *ring_alloc_spare(struct sanx_conn *conn)
{
	u32 size = max(loop_conn(conn)->peer->rx_max, SPARE_MIN);
	struct loop_ring *ring = ring_alloc(size, conn->memcg);

	if (ring)
		ring->spare = true;
	return ring;
}

/*
 * The receiver's own ring; its memory cgroup is charged.
 * @n: bytes to send
 */
static struct loop_ring *ring_alloc_own(struct sanx_conn *conn, u32 n)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	bool first = !peer->rx.in.buf;
	struct loop_ring *ring = NULL;

	if (!first || n > SANX_RING_FIRST)
		ring = ring_alloc(sanx_mem_share(peer->rx_max), peer->memcg);
	if (!ring && first)
		ring = ring_alloc(SANX_RING_FIRST, peer->memcg);
	return ring;
}

/*
 * Appends @ring to the peer's queue, which owns it then.  Under tx_mutex.
 * Return: false if @ring is NULL for lack of memory; sanx_conn_set_short() then
 * arranges a wake-up of the sender.
 */
static bool loop_add(struct sanx_conn *conn, struct loop_ring *ring)
{
	struct loop_conn *lc = loop_conn(conn);
	struct sanx_rxq *q = &lc->peer->rx;

	if (!ring) {
		sanx_conn_set_short(conn);
		/* A reader may wait for more than there will be. */
		sanx_conn_rx_ready(lc->peer);
		return false;
	}
	sanx_reclaim_arm(conn);
	if (q->in.buf)
		sanx_rxq_append(q, &lc->last->gen, &ring->gen, conn->tx.next);
	else
		sanx_rxq_begin(q, &ring->gen);
	lc->last = ring;
	return true;
}

/*
 * Makes all stored bytes readable.
 * Context: tx_mutex held, and no byte is corked; or lc->lock held.
 */
static void loop_publish(struct sanx_conn *conn)
{
	struct loop_conn *lc = loop_conn(conn);
	/* Pairs with smp_store_release() in sanx_txq_advance(). */
	u64 next = smp_load_acquire(&conn->tx.next);

	sanx_conn_arrive(lc->peer, lc->announced, next - lc->announced);
	lc->announced = next;
}

/* Makes corked bytes readable.  Context: any, under RCU or tx_mutex. */
static void loop_uncork(struct sanx_conn *conn)
{
	struct loop_conn *lc = loop_conn(conn);

	spin_lock_bh(&lc->lock);
	if (lc->corked) {
		loop_publish(conn);
		/* Pairs with smp_load_acquire() in loop_advertise(). */
		smp_store_release(&lc->corked, false);
	}
	spin_unlock_bh(&lc->lock);
}

/* Keeps bytes that were stored from being readable.  Under tx_mutex. */
static void loop_cork(struct sanx_conn *conn)
{
	struct loop_conn *lc = loop_conn(conn);

	spin_lock_bh(&lc->lock);
	lc->corked = true;
	spin_unlock_bh(&lc->lock);
}

/*
 * The peer's program has shut down both directions.  Bytes then cause a reset,
 * as in TCP, and must not become readable.
 */
static void loop_discard(struct sanx_conn *conn)
{
	sanx_conn_reset(loop_conn(conn)->peer, ECONNRESET);
	sanx_conn_reset(conn, ECONNRESET);
}

/* The peer closed before it saw the bytes: reset, as TCP does. */
static void loop_check_peer(struct sanx_conn *conn)
{
	/*
	 * Store rx.tail of the peer before loading peer_gone.  Pairs with the
	 * barrier in loop_close(), which stores peer_gone before it loads
	 * rx.tail.
	 */
	smp_mb();
	if (READ_ONCE(conn->peer_gone))
		sanx_conn_reset(conn, ECONNRESET);
}

/* Makes all bytes in the peer's ring readable.  Under tx_mutex. */
static void loop_advertise(struct sanx_conn *conn)
{
	struct loop_conn *lc = loop_conn(conn);

	bool corked;

	/* Pairs with smp_store_release() in loop_uncork(). */
	corked = smp_load_acquire(&lc->corked);
	if (!corked && conn->tx.next == lc->announced)
		return;
	if (sanx_conn_discards(lc->peer)) {
		loop_discard(conn);
		return;
	}
	if (unlikely(corked))
		loop_uncork(conn);
	else
		loop_publish(conn);
	loop_check_peer(conn);
}

/* Corked bytes become readable here; coalesced ones are. */
static void loop_announce(struct sanx_conn *conn)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;

	if (READ_ONCE(loop_conn(conn)->corked)) {
		if (sanx_conn_discards(peer)) {
			loop_discard(conn);
			return;
		}
		loop_uncork(conn);
		loop_check_peer(conn);
	}
	if (sanx_rxq_avail(&peer->rx))
		sanx_conn_rx_ready(peer);
}

/*
 * Free bytes in the ring that the sender writes to.  Exact under tx_mutex,
 * otherwise an estimate.
 */
static u32 loop_memory(struct sanx_conn *conn)
{
	const struct sanx_rxq *q = &loop_conn(conn)->peer->rx;
	u64 next = READ_ONCE(conn->tx.next), first;
	u32 size = READ_ONCE(q->in.size);

	if (!READ_ONCE(q->in.buf))
		return 0;
	/*
	 * Pairs with the release in sanx_rxq_consume(): the reader has copied
	 * the bytes before this overwrites them.
	 */
	first = max(smp_load_acquire(&q->head), READ_ONCE(q->from));
	return size - min_t(u64, next - min(first, next), size);
}

/*
 * Allocates a ring if there is too little memory for @n bytes.  Only the sender
 * allocates: tx_mutex.  The first ring has SANX_RING_FIRST bytes if these are
 * enough.  Otherwise, or next, comes one of rx_max bytes, as much as the
 * receiver grants.  All further ones are spare rings.
 * Return: how many of @n bytes there is memory for; 0 for none.
 */
static u32 loop_space(struct sanx_conn *conn, u32 n)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	const struct sanx_rxq *q = &peer->rx;
	u32 space = loop_memory(conn);
	struct loop_ring *ring;

	/*
	 * With SANX_SLACK_MAX bytes of space the message may be split.  With
	 * less, it goes to the next ring whole, see sanx_ring_slack().
	 */
	if (likely(n <= space) || space >= SANX_SLACK_MAX)
		return min(n, space);
	if (sanx_conn_short(conn))
		return space;
	if (q->in.buf && q->in.size > SANX_RING_FIRST)
		ring = ring_alloc_spare(conn);
	else
		ring = ring_alloc_own(conn, n);
	return loop_add(conn, ring) ? min(n, q->in.size) : space;
}

/* Bytes that the peer has not read; an estimate without tx_mutex. */
static u32 loop_unread(struct sanx_conn *conn)
{
	/*
	 * Load head before next, as in sanx_rxq_avail(): next only grows, so
	 * the difference cannot be negative.  Pairs with the release in
	 * sanx_rxq_consume().
	 */
	u64 head = smp_load_acquire(&loop_conn(conn)->peer->rx.head);

	return READ_ONCE(conn->tx.next) - head;
}

/*
 * The most bytes that may be unread: what TCP's send and receive buffers hold.
 * TCP's receive buffer grows with what was read (sanx_conn_rcvmost()).
 */
static u32 loop_most(struct sanx_conn *conn)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	u32 theirs = READ_ONCE(peer->rx_max);

	theirs = max(theirs, sanx_conn_rcvmost(peer));
	return theirs + sanx_conn_spare(conn);
}

/* Room beyond the receiver's ring, for a sender whose peer does not read. */
static u32 loop_room_spare(struct sanx_conn *conn)
{
	u32 most, unread;

	if (!sanx_conn_spares(conn, READ_ONCE(conn->tx.next)))
		return 0;
	most = loop_most(conn);
	unread = loop_unread(conn);
	/* Less room than this counts as none, see sanx_ring_slack(). */
	return unread + SANX_SLACK_MAX <= most ? most - unread : 0;
}

static u32 loop_room(struct sanx_conn *conn, enum sanx_room which)
{
	u32 room = sanx_txq_room(&conn->tx);

	if (room < sanx_ring_slack(conn->tx.size))
		return which == SANX_ROOM_SPARE ? loop_room_spare(conn) : 0;
	if (unlikely(READ_ONCE(conn->short_until)) && sanx_conn_short(conn))
		room = min(room, loop_memory(conn));
	return room;
}

/*
 * Moves the sender's limit to @to without a grant: the sender has provided a
 * spare ring for the bytes.  Under tx_mutex.
 */
static void loop_exceed(struct sanx_conn *conn, u64 to)
{
	struct loop_conn *lc = loop_conn(conn);

	if (likely((s64)(to - READ_ONCE(conn->tx.limit)) <= 0))
		return;
	spin_lock_bh(&lc->lock);
	sanx_txq_exceed(&conn->tx, &lc->peer->rx, to);
	spin_unlock_bh(&lc->lock);
}

/* How many bytes may be sent now? */
static u32 loop_bound(struct sanx_conn *conn, int flags)
{
	return flags & SANX_MSG_WHOLE ? U32_MAX :
	       loop_room(conn, flags & SANX_MSG_SPARE ? SANX_ROOM_SPARE : SANX_ROOM_WINDOW);
}

static ssize_t loop_send(struct sanx_conn *conn, struct msghdr *msg,
			 size_t len, int flags, enum sanx_held held)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	u32 n;

	n = min_t(size_t, len, loop_bound(conn, flags));
	if (n)
		n = loop_space(conn, n);
	if (!n)
		return -EAGAIN;
	n = sanx_rxq_fill(&peer->rx, conn->tx.next, &msg->msg_iter, n);
	if (!n)
		return -EFAULT;
	if (flags & MSG_OOB)
		sanx_conn_urgent(peer, conn->tx.next + n - 1);
	loop_exceed(conn, conn->tx.next + n);
	sanx_txq_advance(&conn->tx, n);
	if (held == SANX_HELD_CORKED) {
		loop_cork(conn);
		return n;
	}
	loop_advertise(conn);
	if (flags & MSG_OOB)
		sanx_conn_urgent_came(peer);
	if (held == SANX_HELD_NONE)
		sanx_conn_rx_ready(peer);
	return n;
}

/*
 * Bytes that TCP would not have sent yet: corked ones, and those beyond the
 * size of the peer's own ring.  @announced is not used here: it lags behind
 * tx.next for a moment in each send(), and no wake-up follows when it catches
 * up.
 * Context: any; an estimate.
 */
static u32 loop_unsent(struct sanx_conn *conn)
{
	u32 unread = loop_unread(conn), size = READ_ONCE(conn->tx.size);

	return max(sanx_hold_corked(conn), unread - min(unread, size));
}

static bool loop_drained(struct sanx_conn *conn)
{
	return !loop_unsent(conn);
}

/*
 * Grants the free part of the ring, if a credit is due.  Otherwise bytes beyond
 * the ring were read, and only tx.read is updated.
 * Context: rx_mutex held.
 * Return: true if a new limit was granted.
 */
static bool loop_grant(struct sanx_conn *conn)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	struct sanx_rxq *q = &conn->rx;
	bool more;

	/* loop_exceed() may have moved the limit meanwhile. */
	spin_lock_bh(&loop_conn(peer)->lock);
	more = sanx_rxq_credit_due(q);
	if (more) {
		loop_conn(conn)->granted = sanx_rxq_grant(q);
		sanx_txq_credit(&peer->tx, q->granted);
	} else {
		WRITE_ONCE(peer->tx.read, q->head);
	}
	spin_unlock_bh(&loop_conn(peer)->lock);
	return more;
}

/*
 * The receiver cannot grant while the sender is beyond the ring, so the sender
 * needs other notifications: after each SPARE_STEP bytes, and when all spare
 * bytes were read.
 * Context: rx_mutex held.
 * Return: true if the sender must be notified now.
 */
static bool loop_spare_read(struct sanx_conn *conn)
{
	u64 granted = READ_ONCE(conn->rx.granted), head = conn->rx.head;
	struct loop_conn *lc = loop_conn(conn);
	bool over;

	/* The last limit is a grant, so the sender has not exceeded it. */
	if (likely((u32)granted == lc->granted))
		return false;
	over = (s64)(granted - head) > conn->rx.size;
	if (over && (u32)head - lc->step < SPARE_STEP)
		return false;
	lc->step = head;
	if (!over)
		lc->granted = granted;
	return true;
}

static void loop_consumed(struct sanx_conn *conn)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	const struct sanx_rxq *q = &conn->rx;

	/*
	 * After loop_close() of this end, the reference of the peer may be
	 * gone.  A connection that is open here keeps it: loop_quiesce() waits
	 * for rx_mutex.
	 */
	if (!sanx_conn_open(conn))
		return;
	if (unlikely(q->gen && ring_of(q->gen)->spare) && !sanx_rxq_avail(q))
		sanx_reclaim_soon(peer);
	/* A sender without memory for a larger ring has room in this one again. */
	if (unlikely(READ_ONCE(peer->short_until)) && !sanx_rxq_avail(q))
		sanx_conn_tx_ready(peer);
	if (!sanx_rxq_credit_due(q) && !loop_spare_read(conn))
		return;
	WRITE_ONCE(peer->drain_time, jiffies);
	if (loop_grant(conn))
		sanx_conn_tx_ready(peer);
	else
		sanx_conn_recheck(peer, SANX_WINDOW_WAIT);
}

/*
 * Frees the rings of the peer if all bytes in them were read.  This end
 * allocated them, and holds both mutexes, so neither a sender nor a reader uses
 * them.
 * Return: true if bytes are still unread; try again later.
 */
static bool loop_reclaim_ring(struct sanx_conn *conn)
{
	struct loop_conn *lc = loop_conn(conn);
	struct sanx_rxq *q = &lc->peer->rx;
	struct sanx_generation *gen;
	struct sanx_left left;

	lockdep_assert_held(&conn->tx_mutex);
	lockdep_assert_held(&lc->peer->rx_mutex);
	while (sanx_rxq_follow(q, &left))
		ring_free(ring_of(left.gen));
	if (sanx_rxq_moving(q) || q->head != conn->tx.next)
		return true;
	gen = q->gen;
	if (!gen)
		return false;
	q->gen = NULL;
	sanx_rxq_provide(q, NULL, 0);
	lc->last = NULL;
	ring_free(ring_of(gen));
	return false;
}

static bool loop_reclaim(struct sanx_conn *conn)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	bool more = true;

	/*
	 * trylock: a holder may fault for an unbounded time, and it uses the
	 * rings.
	 */
	if (!mutex_trylock(&conn->tx_mutex))
		return true;
	/*
	 * If it is open, sanx_conn_close() of this end waits for tx_mutex
	 * (sanx_hold_stop()), so the reference of the peer stays until the
	 * unlock.
	 */
	if (!sanx_conn_open(conn)) {
		more = false;
	} else if (mutex_trylock(&peer->rx_mutex)) {
		more = loop_reclaim_ring(conn);
		mutex_unlock(&peer->rx_mutex);
	}
	mutex_unlock(&conn->tx_mutex);
	return more;
}

static void loop_left(struct sanx_conn *conn, const struct sanx_left *left)
{
	ring_free(ring_of(left->gen));
}

static void loop_fin(struct sanx_conn *conn)
{
	loop_advertise(conn);
	sanx_conn_fin(loop_conn(conn)->peer);
}

/*
 * connect(AF_UNSPEC) closes a connection that other calls may use.  Calls that
 * found it open hold tx_mutex or rx_mutex while they use the peer.
 * sanx_conn_close() has taken tx_mutex once (sanx_hold_stop()).  So after
 * rx_mutex was taken once, no call uses the peer, and later calls find the
 * connection closed.
 */
static void loop_quiesce(struct sanx_conn *conn)
{
	mutex_lock(&conn->rx_mutex);
	mutex_unlock(&conn->rx_mutex);
}

static void loop_close(struct sanx_conn *conn, bool reset)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	bool alone;

	if (!peer)
		return;
	if (reset) {
		sanx_conn_reset(peer, ECONNRESET);
	} else {
		mutex_lock(&conn->tx_mutex);
		loop_advertise(conn);
		mutex_unlock(&conn->tx_mutex);
		sanx_conn_peer_closed(peer);
		/*
		 * Store peer_gone of the peer before loading rx.tail.  Pairs
		 * with the barrier in loop_advertise().  Bytes that arrived
		 * after sanx_conn_close() looked remain unread too, so they
		 * reset the peer.
		 */
		smp_mb();
		if (!sanx_conn_fin_rcvd(conn) && sanx_rxq_avail(&conn->rx))
			sanx_conn_reset(peer, ECONNRESET);
	}
	loop_quiesce(conn);

	/* The end that closes second puts the references of the pair. */
	spin_lock_bh(&loop_close_lock);
	loop_conn(conn)->closed = true;
	alone = loop_conn(peer)->closed;
	spin_unlock_bh(&loop_close_lock);
	if (alone) {
		sanx_conn_put(peer);
		sanx_conn_put(conn);
	}
}

/* The pair has its references until both ends are closed. */
static void loop_abort(struct sanx_conn *conn)
{
	struct sanx_conn *peer = NULL;

	spin_lock_bh(&loop_close_lock);
	if (!loop_conn(conn)->closed && loop_conn(conn)->peer)
		peer = sanx_conn_get(loop_conn(conn)->peer);
	spin_unlock_bh(&loop_close_lock);
	if (!peer)
		return;
	/* In this order: loop_connect() may not have established it yet. */
	sanx_conn_refused(peer, SANX_FALLBACK_PORT);
	sanx_conn_reset(peer, ECONNRESET);
	sanx_conn_put(peer);
}

static void loop_destroy(struct sanx_conn *conn)
{
	struct sanx_generation *gen, *next;

	for (gen = conn->rx.gen; gen; gen = next) {
		next = gen->next;
		ring_free(ring_of(gen));
	}
	sanx_conn_free(conn);
}

static void loop_via(const struct sanx_conn *conn, struct sanx_via *via)
{
	*via = (struct sanx_via){ .name = "loop", .stat = SANX_STAT_CONNS_LOOP };
}

const struct sanx_transport_ops sanx_loop_ops = {
	.conn_size	= sizeof(struct loop_conn),
	.piece		= LOOP_PIECE,
	.counts_unsent	= true,
	.via		= loop_via,
	.connect	= loop_connect,
	.send		= loop_send,
	.announce	= loop_announce,
	.room		= loop_room,
	.unsent		= loop_unsent,
	.drained	= loop_drained,
	.consumed	= loop_consumed,
	.left		= loop_left,
	.reclaim	= loop_reclaim,
	.fin		= loop_fin,
	.close		= loop_close,
	.abort		= loop_abort,
	.destroy	= loop_destroy,
};
