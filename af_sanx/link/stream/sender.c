// SPDX-License-Identifier: GPL-2.0
/*
 * The sender of a connection: payload, credit, the end of the stream.
 *
 * A few bytes travel in the frame that announces them (INLINE), at once if no
 * bytes are before them.  Others are lent (lend.c, long.c), or copied to memory of the connection
 * (chunk.c), and sent from there.  If the peer has no ring yet (grow.c), or if few
 * bytes are left, they travel in frames as well; else the device writes them into
 * the peer's ring.  Bytes that are held back (hold.c of the core) wait there too,
 * behind lc->announced.
 *
 * conn->tx_mutex serialises the senders of a connection.  link->tx_lock guards
 * lc->posted and lc->announced.  The sender loads lc->posted under tx_mutex
 * alone, as a hint.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "stream_priv.h"

/*
 * Is the last of @n bytes urgent, if the caller sends @len bytes?  As with TCP,
 * a call that is cut short for lack of room marks the last byte that it sent.
 */
static bool send_urgent(size_t n, size_t len, u32 room, int flags)
{
	return (flags & MSG_OOB) && (n == len || n == room);
}

/* Return: bytes that were sent; if none, the error. */
static ssize_t send_inline(struct sanx_lconn *lc, struct iov_iter *from,
			   size_t len, u32 most, int flags)
{
	size_t done = 0, n;
	int err;

	do {
		n = min_t(size_t, len - done, most);
		err = sanx_payload_inline(lc, from, n, send_urgent(n, len - done, 0, flags));
		if (!err)
			done += n;
		/* What is not in memory is fetched without tx_lock. */
		else if (err != -EFAULT || fatal_signal_pending(current) ||
			 fault_in_iov_iter_readable(from, n))
			return done ?: err;
	} while (done < len);
	return done;
}

/* The caller sends @len bytes, @n now; is there room for some of the rest? */
static enum sanx_publish send_how(bool announce, size_t n, size_t len, u32 room)
{
	if (!announce)
		return SANX_PUBLISH_HELD;
	return n < len && n < room ? SANX_PUBLISH_MORE : SANX_PUBLISH_LAST;
}

static ssize_t send_buffered(struct sanx_lconn *lc, struct iov_iter *from,
			     size_t len, int flags, bool announce)
{
	enum sanx_chunk_kind kind = SANX_CHUNK_WINDOW;
	u32 room, n;
	size_t got;
	void *to;
	int err;

	/*
	 * sanx_lconn_room() arms the wake-up.  If there is room after that, no
	 * wake-up need come, so try again.
	 */
	do {
		room = sanx_sndbuf_room(lc);
	} while (!room &&
		 sanx_lconn_room(&lc->conn, SANX_ROOM_WINDOW));
	if (!room) {
		room = sanx_sndbuf_beyond(lc, flags);
		kind = SANX_CHUNK_SPARE;
		/* Bytes beyond the window are not held back. */
		announce = true;
	}
	if (!room)
		return -EAGAIN;
	n = min3(len, (size_t)room, (size_t)SANX_WIRE_PAYLOAD_MAX);
	to = sanx_chunk_tail(lc, n, kind, &n);
	if (!to)
		return -EAGAIN;
	got = _copy_from_iter(to, n, from);
	if (!got)
		return -EFAULT;
	err = sanx_payload_taken(lc, got, send_urgent(got, len, room, flags),
				 send_how(announce, got, len, room));
	if (err) {
		iov_iter_revert(from, got);
		return err;
	}
	return got;
}

/*
 * Bytes that each of one or more frames may carry; 0 if frames are not to be
 * used.  This is a hint: sanx_payload_inline() decides.  Without a ring, frames
 * may be all that the peer has room for.
 */
static u32 send_small(struct sanx_lconn *lc, size_t len)
{
	u32 most;

	if (lc->posted != lc->end)
		return 0;
	rcu_read_lock();
	most = READ_ONCE(lc->link)->inline_max;
	rcu_read_unlock();
	if (len > most && (READ_ONCE(lc->txgen.win.size) ||
			   len > sanx_txq_room(&lc->conn.tx)))
		return 0;
	return most;
}

/* Copies @len bytes, or as many as there is room for.  Return: as sanx_lconn_send(). */
static ssize_t send_copied(struct sanx_lconn *lc, struct iov_iter *from, size_t len, int flags,
			   bool announce)
{
	u32 most = announce ? send_small(lc, len) : 0;
	ssize_t n, done = 0;

	if (most) {
		n = send_inline(lc, from, len, most, flags);
		if (n == len || (n < 0 && n != -EAGAIN))
			return n;
		done = max(n, 0L);
	}
	/* The rest follows in the same call, before another writer's bytes. */
	if (done)
		flags &= ~SANX_MSG_SPARE;
	n = send_buffered(lc, from, len - done, flags, announce);
	return n < 0 ? done ?: n : done + n;
}

static size_t send_counted(struct sanx_lconn *lc, size_t n)
{
	if (n)
		this_cpu_add(lc->conn.stats->v[SANX_STAT_LENT_BYTES], n);
	return n;
}

/*
 * Sends from the pages themselves, without waiting for them, but copies what is before them.
 * Return: as sanx_lconn_send().
 */
static ssize_t send_lent(struct sanx_lconn *lc, struct msghdr *msg, size_t len, int flags,
			 bool announce)
{
	size_t head = sanx_lend_head(lc, msg, len, flags), n;
	struct iov_iter *from = &msg->msg_iter;
	ssize_t done = 0;

	if (head)
		done = send_copied(lc, from, head, flags, announce);
	if (done < (ssize_t)head || head == len)
		return done;
	n = send_counted(lc, sanx_lend(lc, msg, len - head, flags, announce));
	if (done + n)
		return done + n;
	return send_copied(lc, from, len, flags, announce);
}

/* Memory reclaim sends itself, or waits for who sends: the link may use the reserves. */
static void send_reserves(struct sanx_lconn *lc)
{
	struct sanx_link *link;

	rcu_read_lock();
	link = READ_ONCE(lc->link);
	if (!READ_ONCE(link->reserves) && sanx_conn_reserves(&lc->conn))
		sanx_link_set_reserves(link);
	rcu_read_unlock();
}

/**
 * sanx_lconn_send() - sanx_transport_ops.send
 * @conn: the connection
 * @msg: the data to send; advanced by the bytes that were taken
 * @len: bytes of it
 * @flags: MSG_OOB, MSG_MORE, SANX_MSG_SPARE, SANX_MSG_WHOLE; MSG_DONTWAIT does not keep
 *	it from waiting for memory, as with TCP
 * @held: how to hold the bytes back; those beyond the window are not
 *
 * Context: process, tx_mutex held; may fault and may sleep for memory; takes
 * tx_lock.
 * Return: as send().
 */
ssize_t sanx_lconn_send(struct sanx_conn *conn, struct msghdr *msg,
			size_t len, int flags, enum sanx_held held)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	bool announce = held == SANX_HELD_NONE;
	struct iov_iter *from = &msg->msg_iter;
	size_t n;

	/* As sanx_memalloc_save() has said. */
	if (unlikely(current->flags & PF_MEMALLOC))
		send_reserves(lc);
	/* Coalesced bytes come between announced ones, and are few. */
	if (held != SANX_HELD_COALESCED)
		sanx_sndbuf_set_max(lc);
	if (unlikely(sanx_lend_asked(msg)))
		return send_lent(lc, msg, len, flags, announce);
	if (sanx_long_wants(lc, from, len, flags)) {
		n = send_counted(lc, sanx_long_send(lc, from,
						    min(len, sanx_long_room(lc, from))));
		if (n)
			return n;
	}
	return send_copied(lc, from, len, flags, announce);
}

/* Room in the send buffer, without bytes beyond the window. */
static u32 room_buffered(struct sanx_lconn *lc)
{
	u32 room = sanx_sndbuf_room(lc);
	struct sanx_link *link;

	if (!room) {
		link = sanx_lconn_lock(lc);
		room = sanx_sndbuf_room(lc);
		if (!room)
			sanx_ack_await(lc);
		sanx_xmit_unlock(link);
	}
	return room && sanx_chunk_lacks(lc) ? 0 : room;
}

/**
 * sanx_lconn_room() - sanx_transport_ops.room
 * @conn: the connection
 * @which: with SANX_ROOM_WINDOW, only the send buffer counts; else also what may
 *	be kept beyond the window
 *
 * A return value of 0 arms a wake-up.
 *
 * Context: any; takes tx_lock.
 * Return: bytes, as room().
 */
u32 sanx_lconn_room(struct sanx_conn *conn, enum sanx_room which)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	u32 room;

	sanx_sndbuf_set_max(lc);
	room = room_buffered(lc);
	if (which == SANX_ROOM_WINDOW)
		return room;
	if (!room)
		return sanx_sndbuf_spare(lc);
	/* The send buffer may be smaller when send() looks. */
	sanx_conn_promise(conn, READ_ONCE(lc->end));
	return room;
}

/**
 * sanx_lconn_unsent() - sanx_transport_ops.unsent
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes; a hint.
 */
u32 sanx_lconn_unsent(struct sanx_conn *conn)
{
	const struct sanx_lconn *lc = sanx_lconn_of(conn);
	u64 next = READ_ONCE(conn->tx.next);

	return max_t(s64, READ_ONCE(lc->end) - next, 0);
}

/**
 * sanx_lconn_drained() - sanx_transport_ops.drained
 * @conn: the connection
 *
 * A return value of false arms a wake-up.
 *
 * Context: any; takes tx_lock.
 * Return: true if the peer has all bytes and no FIN is pending, or if nothing
 * will be sent any more.
 */
bool sanx_lconn_drained(struct sanx_conn *conn)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool drained;

	drained = sanx_lconn_is_over(&lc->state) ||
		  lc->state.rx == SANX_LCONN_RX_CLOSED ||
		  (lc->acked == lc->end &&
		   !(lc->pending & LCONN_P_FIN));
	if (!drained)
		sanx_ack_await(lc);
	sanx_xmit_unlock(link);
	return drained;
}

/**
 * sanx_lconn_announce() - sanx_transport_ops.announce
 * @conn: the connection
 *
 * Context: any; takes tx_lock.
 */
void sanx_lconn_announce(struct sanx_conn *conn)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool late;

	sanx_xmit_announce(lc);
	late = lc->state.rx == SANX_LCONN_RX_CLOSED && lc->posted != lc->announced;
	sanx_xmit_unlock(link);
	/*
	 * The peer closed before it got the bytes.  TCP's peer would answer
	 * them with a reset.
	 */
	if (late)
		sanx_conn_reset(conn, ECONNRESET);
}

/**
 * sanx_lconn_consumed() - sanx_transport_ops.consumed
 * @conn: the connection
 *
 * Context: process, rx_mutex held; takes tx_lock.
 */
void sanx_lconn_consumed(struct sanx_conn *conn)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link;

	if (unlikely(READ_ONCE(lc->rwnd_limited)))
		sanx_grow_read(lc);
	if (!sanx_rxq_credit_due(&conn->rx))
		return;
	link = sanx_xmit_lock_push(lc);
	if (lc->state.rx == SANX_LCONN_RX_STREAM &&
	    !sanx_lconn_is_closed(&lc->state))
		sanx_xmit_pend(lc, LCONN_P_CREDIT);
	sanx_xmit_unlock_push(link, false);
}

/**
 * sanx_lconn_fin() - sanx_transport_ops.fin
 * @conn: the connection
 *
 * Context: process, tx_mutex held; takes tx_lock.
 */
void sanx_lconn_fin(struct sanx_conn *conn)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);

	/* FIN may not follow CLOSE, which sanx_lconn_cut() may have sent. */
	if (lc->state.rx != SANX_LCONN_RX_CLOSED &&
	    !sanx_lconn_is_closed(&lc->state)) {
		sanx_xmit_announce(lc);
		sanx_xmit_pend(lc, LCONN_P_FIN);
	}
	sanx_xmit_unlock(link);
}
