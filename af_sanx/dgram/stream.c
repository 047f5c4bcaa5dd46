// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams in the stream of an implicit connection, both ways.
 *
 * Writing: a sender queues its datagram.  If it gets tx_mutex at once, it writes what is
 * queued; else the work of the carrier does, which waits for tx_mutex.  So whoever holds the
 * mutex need not look at the queue behind it.  Without room, sanx_conn_user.news() has the
 * work go on.
 *
 * Reading: the work reads all that comes, whatever becomes of it, so one datagram never
 * waits for the reader of another.
 */
#include <linux/skbuff.h>
#include <linux/uio.h>

#include "config/config.h"
#include "carrier.h"
#include "dgram_priv.h"
#include "record.h"

/* Datagrams that are read or written at once, before others have their turn. */
#define AT_ONCE		64U
/* A header, and the parts of a packet. */
#define PARTS		(2 + MAX_SKB_FRAGS)

/* Fills @vec with the parts of a packet.  Its pages are not in high memory. */
static unsigned int skb_parts(const struct sk_buff *skb, struct kvec *vec)
{
	unsigned int i, n = 0;
	const skb_frag_t *frag;

	if (skb_headlen(skb))
		vec[n++] = (struct kvec){ skb->data, skb_headlen(skb) };
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		frag = &skb_shinfo(skb)->frags[i];
		vec[n++] = (struct kvec){ skb_frag_address(frag), skb_frag_size(frag) };
	}
	return n;
}

/**
 * enum write_end - why nothing more is written
 * @WRITE_DONE: there is nothing more
 * @WRITE_WAITS: there is no room, or the connection is over; the work is told when that
 *	changes
 * @WRITE_TURN: others have their turn
 */
enum write_end {
	WRITE_DONE,
	WRITE_WAITS,
	WRITE_TURN,
};

/*
 * Writes what is left of c->out.
 * @more: another one follows at once
 * Context: tx_mutex held.
 * Return: bytes that are left, or -errno as sanx_transport_ops.send().
 */
static ssize_t write_bytes(struct sanx_carrier *c, bool more)
{
	struct sanx_conn *conn = c->conn;
	struct sk_buff *skb = c->out;
	struct dgram_record f;
	struct kvec vec[PARTS];
	struct msghdr msg = {};
	u32 left = sizeof(f) + skb->len - c->sent;
	unsigned int n;
	ssize_t done;

	dgram_record_fill(&f, skb->len, skb_shinfo(skb)->gso_size);
	vec[0] = (struct kvec){ &f, sizeof(f) };
	n = 1 + skb_parts(skb, vec + 1);
	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, vec, n, sizeof(f) + skb->len);
	iov_iter_advance(&msg.msg_iter, c->sent);
	done = conn->ops->send(conn, &msg, left, MSG_DONTWAIT,
			       more ? SANX_HELD_COALESCED : SANX_HELD_NONE);
	if (done < 0)
		return done;
	c->sent += done;
	WRITE_ONCE(conn->tx_time, jiffies);
	return left - done;
}

/* Announces what was coalesced before.  Context: tx_mutex held. */
static void announce(struct sanx_conn *conn)
{
	rcu_read_lock();
	if (sanx_conn_open(conn))
		conn->ops->announce(conn);
	rcu_read_unlock();
}

/*
 * Is there room?  If not, sanx_conn_user.news() is called when there is.
 * Context: tx_mutex held.
 */
static bool write_room(struct sanx_conn *conn)
{
	announce(conn);
	return conn->ops->room(conn, SANX_ROOM_WINDOW);
}

/*
 * Has the peer all that was written?  If not, sanx_conn_user.news() is called when it has more.
 * Context: tx_mutex held.
 */
static bool has_come(struct sanx_conn *conn)
{
	announce(conn);
	return conn->ops->drained(conn);
}

/* Counts one that a program has sent.  c->conn has or had a link. */
void sanx_carrier_count(const struct sanx_carrier *c)
{
	static const enum sanx_stat stat[] = {
		[SANX_STAT_CONNS_VERBS]		= SANX_STAT_DGRAMS_VERBS,
		[SANX_STAT_CONNS_TCP_RAIL]	= SANX_STAT_DGRAMS_TCP_RAIL,
	};
	struct sanx_via via;

	c->conn->ops->via(c->conn, &via);
	sanx_stat_add(c->net, stat[via.stat], 1);
}

/* Takes the next one from the queue.  Context: tx_mutex held. */
static bool out_next(struct sanx_carrier *c)
{
	struct sk_buff *skb = skb_dequeue(&c->queue);

	if (skb) {
		WRITE_ONCE(c->since, carrier_cb(skb)->since);
		if (!carrier_cb(skb)->counted)
			sanx_carrier_count(c);
	}
	/* Pairs with smp_load_acquire() in waits_since(): @since is its. */
	smp_store_release(&c->out, skb);
	return skb;
}

/* Frees c->out.  Context: tx_mutex held. */
static void out_done(struct sanx_carrier *c)
{
	struct sk_buff *skb = c->out;

	WRITE_ONCE(c->out, NULL);
	c->sent = 0;
	atomic_sub(skb->truesize, &c->queued);
	consume_skb(skb);
}

/*
 * Writes c->out.
 * Context: tx_mutex held.
 * Return: false if the rest of it has to wait.
 */
static bool write_out(struct sanx_carrier *c)
{
	bool stuck = false;
	ssize_t left;

	do {
		left = write_bytes(c, !skb_queue_empty_lockless(&c->queue));
		/* Room that cannot be used once will not be the next time. */
		if (left < 0 && (stuck || left != -EAGAIN || !write_room(c->conn)))
			return false;
		stuck = left < 0;
	} while (left);
	out_done(c);
	return true;
}

/* Does the peer read what is written?  Context: tx_mutex held. */
static bool can_write(const struct sanx_conn *conn)
{
	return conn->user && sanx_conn_open(conn) && !READ_ONCE(conn->peer_gone);
}

/* Context: tx_mutex held. */
static enum write_end write_some(struct sanx_carrier *c)
{
	unsigned int n;

	if (!can_write(c->conn))
		return WRITE_WAITS;
	for (n = 0; n < AT_ONCE; n++) {
		if (!c->out && !out_next(c))
			return WRITE_DONE;
		if (!write_out(c))
			return WRITE_WAITS;
	}
	return WRITE_TURN;
}

/* Write queued datagrams. */
void sanx_carrier_write(struct sanx_carrier *c, bool wait)
{
	struct sanx_conn *conn = c->conn;
	enum write_end end = WRITE_TURN;

	if (wait)
		mutex_lock(&conn->tx_mutex);
	if (wait || mutex_trylock(&conn->tx_mutex)) {
		end = write_some(c);
		mutex_unlock(&conn->tx_mutex);
	}
	if (end == WRITE_TURN)
		sanx_carrier_kick(c);
	else if (end == WRITE_WAITS)
		sanx_carrier_waits(c);
}

/* Drops the queue.  @why: SANX_STAT_DROPPED_WAITED or SANX_STAT_DROPPED_CLOSED */
static void drop_queue(struct sanx_carrier *c, enum sanx_stat why)
{
	struct sk_buff *skb;
	u64 n = 0;

	while ((skb = skb_dequeue(&c->queue))) {
		atomic_sub(skb->truesize, &c->queued);
		kfree_skb(skb);
		n++;
	}
	if (n)
		sanx_stat_add(c->net, why, n);
}

/* Drop what waits for a connection that there will not be, or is over. */
void sanx_carrier_purge(struct sanx_carrier *c)
{
	drop_queue(c, SANX_STAT_DROPPED_CLOSED);
}

/* Have the senders of what waits go on: it is not charged to them any more. */
void sanx_carrier_orphan(struct sanx_carrier *c)
{
	struct sk_buff *skb;

	spin_lock_bh(&c->queue.lock);
	skb_queue_walk(&c->queue, skb)
		skb_orphan(skb);
	spin_unlock_bh(&c->queue.lock);
}

/*
 * Drops what waits; and if the connection is over, what is in the stream in part.
 * @why: as for drop_queue()
 * Context: tx_mutex held.
 */
static void drop_waiting(struct sanx_carrier *c, enum sanx_stat why)
{
	if (c->out && (why == SANX_STAT_DROPPED_CLOSED || !c->sent)) {
		out_done(c);
		sanx_stat_add(c->net, why, 1);
	}
	drop_queue(c, why);
}

/*
 * Does a carrier that stalls take datagrams again?
 *
 * It does once the peer has all that was written: room alone may be that of a buffer of this
 * node, which has some whether the peer lives or not.
 *
 * What waits is dropped, so that no program waits for it.  One that is in the stream in part
 * is written in full, and is not charged to its sender any more.
 *
 * Return: true if so, else the work is told when it does.
 */
bool sanx_carrier_moves(struct sanx_carrier *c)
{
	struct sanx_conn *conn = c->conn;
	bool moves = false;

	mutex_lock(&conn->tx_mutex);
	drop_waiting(c, SANX_STAT_DROPPED_WAITED);
	if (c->out)
		skb_orphan(c->out);
	if (can_write(conn))
		moves = (!c->out || write_out(c)) && has_come(conn);
	mutex_unlock(&conn->tx_mutex);
	return moves;
}

/* Drop what is not written, and have no user any more. */
void sanx_carrier_drop(struct sanx_carrier *c)
{
	/* Who writes looks at conn->user under the mutex. */
	mutex_lock(&c->conn->tx_mutex);
	sanx_conn_leave(c->conn);
	drop_waiting(c, SANX_STAT_DROPPED_CLOSED);
	mutex_unlock(&c->conn->tx_mutex);
}

/* Return: a packet of @len bytes to be filled; or NULL. */
static struct sk_buff *skb_for(u32 len)
{
	u32 linear = len <= SANX_DGRAM_LINEAR ? len : 128;
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(linear, len - linear, PAGE_ALLOC_COSTLY_ORDER, &err,
				   GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	if (!skb)
		return NULL;
	sanx_dgram_put(skb, linear, len - linear);
	return skb;
}

/* Context: rx_mutex held. */
static void copy(struct sanx_conn *conn, void *to, u32 len)
{
	struct kvec vec = { to, len };
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_DEST, &vec, 1, len);
	sanx_rxq_read(&conn->rx, 0, &iter, len);
	sanx_conn_pass(conn, len);
}

/*
 * The header of the next datagram.
 * Context: rx_mutex held.
 * Return: 0; -EAGAIN if it has not come; -EPROTO.
 */
static int read_header(struct sanx_carrier *c)
{
	struct dgram_record f;
	u32 len;

	if (sanx_rxq_avail(&c->conn->rx) < sizeof(f))
		return -EAGAIN;
	copy(c->conn, &f, sizeof(f));
	if (dgram_record_parse(&f, &len, &c->gso_size))
		return -EPROTO;
	c->came = 0;
	c->in = skb_for(len);
	if (!c->in) {
		c->skip = len;
		sanx_stat_add(c->net, SANX_STAT_DROPPED_MEMORY, 1);
	}
	return 0;
}

/* Copies what has come of the datagram.  Context: rx_mutex held. */
static void read_some(struct sanx_carrier *c, u32 len)
{
	struct kvec vec[PARTS];
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_DEST, vec, skb_parts(c->in, vec), c->in->len);
	iov_iter_advance(&iter, c->came);
	sanx_rxq_read(&c->conn->rx, 0, &iter, len);
	sanx_conn_pass(c->conn, len);
	c->came += len;
}

/*
 * Reads what has come of one datagram.
 * Context: rx_mutex held.
 * Return: 0 if it is there in full, or is skipped; -EAGAIN if more has to come; -EPROTO.
 */
static int read_one(struct sanx_carrier *c)
{
	struct sanx_conn *conn = c->conn;
	u32 n;
	int err;

	if (!c->in && !c->skip) {
		err = read_header(c);
		if (err)
			return err;
	}
	n = min(sanx_rxq_avail(&conn->rx), c->in ? c->in->len - c->came : c->skip);
	if (c->in && n)
		read_some(c, n);
	if (!c->in) {
		sanx_conn_pass(conn, n);
		c->skip -= n;
	}
	return (c->in ? c->came < c->in->len : c->skip) ? -EAGAIN : 0;
}

/*
 * Take the datagrams that have come.
 * Return: what that has come to; after CARRIER_READ_BROKEN it must not be called again.
 */
enum carrier_read sanx_carrier_read(struct sanx_carrier *c)
{
	struct sanx_conn *conn = c->conn;
	struct sk_buff *skb;
	unsigned int n;
	int err = 0;

	for (n = 0; n < AT_ONCE && !err; n++) {
		mutex_lock(&conn->rx_mutex);
		err = read_one(c);
		mutex_unlock(&conn->rx_mutex);
		skb = err ? NULL : c->in;
		if (!skb)
			continue;
		c->in = NULL;
		WRITE_ONCE(c->used, jiffies);
		sanx_dgram_arrive(c, skb, c->gso_size);
	}
	if (err == -EPROTO) {
		sanx_count_protocol_error(c->net);
		return CARRIER_READ_BROKEN;
	}
	return err ? CARRIER_READ_ALL : CARRIER_READ_MORE;
}
