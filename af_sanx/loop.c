// SPDX-License-Identifier: GPL-2.0
/*
 * The loop transport: both ends of a connection are on this node.
 *
 * A sender copies from its program straight into the receiver's ring, a reader
 * from there into its program.  There is no link, no message and no thread:
 * what a frame would say is done to the peer's connection by a call.
 *
 * Each end holds a reference of the other until both are closed.  The ring is
 * made by the first sender, so a connection that carries nothing costs none, and
 * is a small one as long as that does.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "af_sanx.h"

/**
 * struct loop_conn - this transport's part of a connection
 * @peer: the other end; set before either end is established, kept until
 *	this end is freed
 * @closed: close() was called for this end
 * @shown: stream offset up to which the peer was told of bytes; tx_mutex
 * @gather: the peer's wake-ups
 */
struct loop_conn {
	struct sanx_conn	*peer;
	u64			shown;
	bool			closed;
	struct sanx_gather	gather;
};

static struct loop_conn *loop_conn(struct sanx_conn *conn)
{
	return sanx_conn_priv(conn);
}

/* Guards loop_conn.closed of both ends of any connection, for close(). */
static DEFINE_SPINLOCK(loop_close_lock);

/* Against copying a piece of this, waking the reader is little. */
#define LOOP_PIECE	8192

/* Who has read it all by now need not be woken to find nothing. */
static void loop_flush(struct sanx_gather *g)
{
	struct sanx_conn *peer;

	peer = container_of(g, struct loop_conn, gather)->peer;
	if (sanx_rxq_avail(&peer->rx))
		sanx_conn_rx_ready(peer);
}

static void loop_pair(struct sanx_conn *a, struct sanx_conn *b)
{
	loop_conn(a)->peer = sanx_conn_get(b);
	loop_conn(b)->peer = sanx_conn_get(a);
	sanx_gather_init(&loop_conn(a)->gather, LOOP_PIECE, loop_flush);
	sanx_gather_init(&loop_conn(b)->gather, LOOP_PIECE, loop_flush);
	sanx_txq_init(&a->tx, b->rx.size);
	sanx_txq_init(&b->tx, a->rx.size);
}

static int loop_connect(struct sanx_conn *conn)
{
	struct sanx_conn *server;
	struct mem_cgroup *memcg;
	u32 size;
	int err;

	size = sanx_listener_ring_size(conn->net, &conn->remote, &conn->local,
				       &memcg);
	if (!size)
		return -ECONNREFUSED;
	server = sanx_conn_alloc(conn->ops, conn->net, &conn->remote,
				 &conn->local);
	if (!server) {
		mem_cgroup_put(memcg);
		return -ENOMEM;
	}
	server->memcg = memcg;
	server->rx_max = size;
	sanx_rxq_init(&server->rx, NULL, size);
	loop_pair(conn, server);

	err = sanx_conn_incoming(server);
	if (err) {
		/* Nobody has seen it; unpair() by hand, both ways. */
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
	/* The listener has the reference of the allocation. */
	sanx_conn_established(conn);
	return 0;
}

/* What is put away goes along: the peer is to follow where it was shown bytes. */
static void loop_carry(struct sanx_conn *conn, u8 *buf, u32 size)
{
	const struct sanx_ring *in = &loop_conn(conn)->peer->rx.in;
	struct sanx_rxq to = { .in = { .buf = buf, .size = size } };
	u64 offset = loop_conn(conn)->shown;
	struct sanx_span span[2];
	int i, n;

	n = sanx_ring_spans(in->size, offset, conn->tx.next - offset, span);
	for (i = 0; i < n; i++) {
		sanx_rxq_store(&to, offset, in->buf + span[i].pos, span[i].len);
		offset += span[i].len;
	}
}

static bool loop_ring(struct sanx_conn *conn, u32 size)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	struct sanx_rxq *q = &peer->rx;
	struct mem_cgroup *memcg;
	u8 *buf;

	memcg = set_active_memcg(peer->memcg);
	buf = kvmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(memcg);
	if (buf)
		sanx_trim_arm(conn);
	if (buf && q->in.buf) {
		loop_carry(conn, buf, size);
		sanx_rxq_move(q, buf, size);
	} else if (buf) {
		sanx_rxq_provide(q, buf, size);
	}
	return buf;
}

/* Tells the peer of all that lies in its ring. */
static void loop_show(struct sanx_conn *conn)
{
	struct loop_conn *lc = loop_conn(conn);
	u32 n = conn->tx.next - lc->shown;

	if (!n)
		return;
	sanx_conn_arrive(lc->peer, lc->shown, n);
	lc->shown = conn->tx.next;
	/* One of the two sees the other: this, or loop_close(). */
	smp_mb();
	if (sanx_conn_deaf(lc->peer))
		sanx_conn_reset(lc->peer, ECONNRESET);
	else if (!READ_ONCE(conn->peer_gone))
		return;
	/* It closed before it was shown this: that fetches TCP's reset. */
	sanx_conn_reset(conn, ECONNRESET);
}

static void loop_uncork(struct sanx_conn *conn)
{
	loop_show(conn);
	sanx_conn_rx_ready(loop_conn(conn)->peer);
	/* Who waits for TCP_NOTSENT_LOWAT. */
	sanx_conn_tx_ready(conn);
}

/*
 * How many of @n bytes the receiver's ring has memory for.  The sender is the
 * only one to make it: tx_mutex.  The first may be a small one; the next takes
 * all that is granted.
 */
static u32 loop_space(struct sanx_conn *conn, u32 n)
{
	struct sanx_rxq *q = &loop_conn(conn)->peer->rx;
	u32 unread, space;

	/* Pairs with the release in sanx_rxq_consume(). */
	unread = conn->tx.next - smp_load_acquire(&q->head);
	space = q->in.buf ? q->in.size - min(unread, q->in.size) : 0;
	if (likely(n <= space))
		return n;
	if (!q->in.buf && n <= SANX_RING_FIRST &&
	    loop_ring(conn, SANX_RING_FIRST))
		return n;
	return loop_ring(conn, loop_conn(conn)->peer->rx_max) ? n : space;
}

/* Need the peer not know at once? */
static bool loop_waits(const struct sanx_conn *conn, int flags)
{
	return !(flags & MSG_OOB) &&
	       sanx_txq_room(&conn->tx) >= conn->tx.size / 2;
}

/* May the peer's reader sleep on for a moment, though bytes have come? */
static bool loop_gathers(const struct sanx_conn *conn, int flags)
{
	return (flags & MSG_BATCH) && loop_waits(conn, flags);
}

/* Is the peer not to know of it at all? */
static bool loop_corks(struct sanx_conn *conn, int flags)
{
	return (flags & MSG_MORE) && loop_waits(conn, flags) &&
	       conn->tx.next - loop_conn(conn)->shown < SANX_CORK_MAX;
}

static u32 loop_room(struct sanx_conn *conn)
{
	u32 room = sanx_txq_room(&conn->tx);

	return room < sanx_ring_slack(conn->tx.size) ? 0 : room;
}

static ssize_t loop_send(struct sanx_conn *conn, struct iov_iter *from,
			 size_t len, int flags)
{
	struct sanx_gather *gather = &loop_conn(conn)->gather;
	struct sanx_conn *peer = loop_conn(conn)->peer;
	u32 n = min_t(size_t, len, loop_room(conn));

	if (!n)
		return -EAGAIN;
	n = loop_space(conn, n);
	if (!n)
		return -ENOMEM;
	n = sanx_rxq_fill(&peer->rx, conn->tx.next, from, n);
	if (!n)
		return -EFAULT;
	if (flags & MSG_OOB)
		sanx_conn_urgent(peer, conn->tx.next + n - 1);
	sanx_txq_advance(&conn->tx, n);
	if (loop_corks(conn, flags)) {
		sanx_cork_hold(conn, n);
		return n;
	}
	loop_show(conn);
	if (flags & MSG_OOB)
		sanx_conn_urgent_came(peer);
	if (unlikely(sanx_cork_release(conn)))
		sanx_conn_tx_ready(conn);
	if (sanx_gather_wants(gather, n, !loop_gathers(conn, flags)))
		sanx_gather_arm(gather);
	else
		sanx_conn_rx_ready(peer);
	return n;
}

static void loop_push(struct sanx_conn *conn)
{
	sanx_gather_push(&loop_conn(conn)->gather);
}

/* Not by @shown, which lags for a moment in each send(), and nobody tells of that. */
static u32 loop_unsent(struct sanx_conn *conn)
{
	return READ_ONCE(conn->cork.bytes);
}

static bool loop_drained(struct sanx_conn *conn)
{
	return !loop_unsent(conn);
}

static void loop_consumed(struct sanx_conn *conn)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;

	sanx_gather_received(&loop_conn(conn)->gather);
	/* A dead one has no peer to tell: see loop_close(). */
	if (!sanx_rxq_credit_due(&conn->rx) ||
	    READ_ONCE(conn->state) == SANX_CONN_DEAD)
		return;
	sanx_txq_credit(&peer->tx, sanx_rxq_grant(&conn->rx));
	sanx_conn_tx_ready(peer);
}

/* The peer's ring is the sender's to make, and so to give back: it is empty. */
static bool loop_trim_ring(struct sanx_conn *conn)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	struct sanx_rxq *q = &peer->rx;
	u8 *buf = q->in.buf;

	lockdep_assert_held(&conn->tx_mutex);
	lockdep_assert_held(&peer->rx_mutex);
	if (sanx_rxq_turning(q) || q->head != conn->tx.next)
		return true;
	sanx_rxq_provide(q, NULL, 0);
	kvfree(buf);
	return false;
}

static bool loop_trim(struct sanx_conn *conn)
{
	struct sanx_conn *peer = loop_conn(conn)->peer;
	bool more = true;

	/* Who has one of these is using it. */
	if (!mutex_trylock(&conn->tx_mutex))
		return true;
	/* If it is, close() waits for us, and the peer is there until then. */
	if (!sanx_conn_open(conn)) {
		more = false;
	} else if (mutex_trylock(&peer->rx_mutex)) {
		more = loop_trim_ring(conn);
		mutex_unlock(&peer->rx_mutex);
	}
	mutex_unlock(&conn->tx_mutex);
	return more;
}

static void loop_left(struct sanx_conn *conn, u8 *buf)
{
	kvfree(buf);
}

static void loop_fin(struct sanx_conn *conn)
{
	loop_show(conn);
	sanx_conn_fin(loop_conn(conn)->peer);
}

/*
 * connect(AF_UNSPEC) closes a connection that other calls are using.  When this
 * returns, those that had found it open are through with the peer, and none
 * finds it open any more.
 */
static void loop_quiesce(struct sanx_conn *conn)
{
	mutex_lock(&conn->tx_mutex);
	sanx_gather_stop(&loop_conn(conn)->gather);
	mutex_unlock(&conn->tx_mutex);
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
		loop_show(conn);
		mutex_unlock(&conn->tx_mutex);
		sanx_conn_peer_closed(peer);
		/* What came since it was looked at nobody reads, either. */
		smp_mb();
		if (sanx_rxq_avail(&conn->rx))
			sanx_conn_reset(peer, ECONNRESET);
	}
	loop_quiesce(conn);

	/* The later one to close takes the references that hold the pair. */
	spin_lock(&loop_close_lock);
	loop_conn(conn)->closed = true;
	alone = loop_conn(peer)->closed;
	spin_unlock(&loop_close_lock);
	if (alone) {
		sanx_conn_put(peer);
		sanx_conn_put(conn);
	}
}

static void loop_abort(struct sanx_conn *conn)
{
	sanx_conn_reset(loop_conn(conn)->peer, ECONNRESET);
}

static void loop_destroy(struct sanx_conn *conn)
{
	if (sanx_rxq_turning(&conn->rx))
		kvfree(conn->rx.out.buf);
	kvfree(conn->rx.in.buf);
	sanx_conn_free(conn);
}

const struct sanx_transport_ops sanx_loop_ops = {
	.name		= "loop",
	.priv_size	= sizeof(struct loop_conn),
	.same_node	= true,
	.connect	= loop_connect,
	.send		= loop_send,
	.uncork		= loop_uncork,
	.push		= loop_push,
	.room		= loop_room,
	.unsent		= loop_unsent,
	.drained	= loop_drained,
	.consumed	= loop_consumed,
	.left		= loop_left,
	.trim		= loop_trim,
	.fin		= loop_fin,
	.close		= loop_close,
	.abort		= loop_abort,
	.destroy	= loop_destroy,
};
