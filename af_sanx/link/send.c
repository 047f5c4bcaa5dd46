// SPDX-License-Identifier: GPL-2.0
/*
 * The sender of a connection: payload, credit, the end of the stream.
 *
 * A few bytes travel in the frame that announces them (INLINE), at once if no
 * bytes are before them.  All other bytes are copied to the connection's send
 * buffer (sndbuf.c) and sent from there.  If the peer has no ring yet (grow.c),
 * or if few bytes are left, they travel in frames as well; else the device
 * writes them into the peer's ring.  Small pieces of a stream are coalesced
 * there (coalesce.c of the core), and corked bytes wait there too (cork.c).
 *
 * conn->tx_mutex serialises the senders of a connection.  link->tx_lock guards
 * vc->posted, and changes of vc->end.  The sender loads vc->posted under
 * tx_mutex alone, as a hint.
 */
#include <linux/uio.h>

#include "internal.h"

/*
 * Is the last of @n bytes urgent, if the caller sends @len bytes?  As with TCP,
 * a call that is cut short for lack of room marks the last byte that it sent.
 */
static bool send_urgent(size_t n, size_t len, u32 room, int flags)
{
	return (flags & MSG_OOB) && (n == len || n == room);
}

static ssize_t send_frame(struct vconn *vc, struct iov_iter *from, size_t len,
			  u32 most, int flags)
{
	u8 buf[SANX_INLINE_MAX];
	size_t n;
	int err;

	/*
	 * The copy may fault, so it comes before a slot or a link credit is
	 * taken.
	 */
	n = copy_from_iter(buf, min_t(size_t, len, most), from);
	if (!n)
		return -EFAULT;
	err = vpayload_inline(vc, buf, n, send_urgent(n, len, 0, flags));
	if (err) {
		iov_iter_revert(from, n);
		return err;
	}
	return n;
}

/* Return: bytes that were sent; if none, the error. */
static ssize_t send_inline(struct vconn *vc, struct iov_iter *from, size_t len,
			   u32 most, int flags)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = send_frame(vc, from, len - done, most, flags);
		if (n < 0)
			return done ?: n;
		done += n;
	} while (done < len);
	return done;
}

static ssize_t send_buffered(struct vconn *vc, struct iov_iter *from,
			     size_t len, int flags, enum vpayload_when when)
{
	struct sanx_rxq sndbuf = {};
	u32 room;
	size_t n;
	int err;

	/*
	 * vconn_room() arms the wake-up.  If there is room after that, no
	 * wake-up need come, so try again.
	 */
	do {
		err = vsndbuf_make(vc, len);
		if (err == -ENOMEM)
			sanx_conn_set_short(vconn_conn(vc));
		if (err && err != -EAGAIN)
			return -EAGAIN;
		room = err ? 0 : vsndbuf_room(vc);
	} while (!room && vconn_room(vconn_conn(vc), SANX_ROOM_WINDOW));
	if (!room)
		return -EAGAIN;
	sndbuf.in.buf = vc->sndbuf.buf;
	sndbuf.in.size = vc->sndbuf.size;
	n = min3(len, (size_t)room, (size_t)SANX_WIRE_PAYLOAD_MAX);
	n = sanx_rxq_fill(&sndbuf, vc->end, from, n);
	if (!n)
		return -EFAULT;
	err = vpayload_taken(vc, n, send_urgent(n, len, room, flags), when);
	if (err) {
		iov_iter_revert(from, n);
		return err;
	}
	if (when == VPAYLOAD_CORKED)
		sanx_cork_hold(vconn_conn(vc), n);
	else
		sanx_cork_release(vconn_conn(vc));
	if (when == VPAYLOAD_SOON)
		sanx_coalesce_arm(&vc->coalesce);
	return n;
}

/*
 * Bytes that each of one or more frames may carry; 0 if frames are not to be
 * used.  This is a hint: vpayload_inline() decides.  Without a ring, frames may
 * be all that the peer has room for.  Not on iWARP, where sent bytes have to be
 * kept.
 */
static u32 send_small(struct vconn *vc, size_t len)
{
	u32 most;

	if (vc->early || vc->posted != vc->end)
		return 0;
	rcu_read_lock();
	most = READ_ONCE(vc->link)->inline_max;
	rcu_read_unlock();
	if (len > most && (READ_ONCE(vc->win.size) ||
			   len > sanx_txq_room(&vconn_conn(vc)->tx)))
		return 0;
	return most;
}

static enum vpayload_when send_when(struct vconn *vc, size_t len, int flags)
{
	bool urgent = flags & MSG_OOB;

	if ((flags & MSG_MORE) && !urgent &&
	    vc->end - READ_ONCE(vc->posted) + len <= SANX_CORK_MAX &&
	    len < vsndbuf_room(vc))
		return VPAYLOAD_CORKED;
	return sanx_coalesce_wants(&vc->coalesce, vconn_conn(vc), len, urgent,
				   !(flags & MSG_BATCH)) ?
	       VPAYLOAD_SOON : VPAYLOAD_NOW;
}

/**
 * vconn_send() - sanx_transport_ops.send
 * @conn: the connection
 * @from: the data to send; advanced by the bytes that were taken
 * @len: bytes of it
 * @flags: MSG_OOB, MSG_MORE, MSG_BATCH, SANX_MSG_SPARE; MSG_DONTWAIT does not
 *	keep it from waiting for memory, as with TCP
 *
 * Context: process, tx_mutex held; may fault and may sleep for memory; takes
 * tx_lock.
 * Return: as send().
 */
ssize_t vconn_send(struct sanx_conn *conn, struct iov_iter *from, size_t len,
		   int flags)
{
	struct vconn *vc = vconn_of(conn);
	ssize_t n, done = 0;
	enum vpayload_when when;
	u32 most;

	vsndbuf_bound(vc);
	if (vspill_any(vc))
		return flags & SANX_MSG_SPARE ?
		       vspill_send(vc, from, len, flags) : -EAGAIN;
	if (vlong_wants(vc, from, len, flags) && !vsndbuf_make(vc, len)) {
		n = vlong_send(vc, from, min(len, vlong_room(vc, from)));
		if (n)
			return n;
	}
	when = send_when(vc, len, flags);
	most = when == VPAYLOAD_NOW ? send_small(vc, len) : 0;
	if (most) {
		n = send_inline(vc, from, len, most, flags);
		if (n == len)
			sanx_coalesce_sent(&vc->coalesce, !(flags & MSG_BATCH));
		if (n == len || (n < 0 && n != -EAGAIN))
			return n;
		done = max(n, 0L);
	}
	/* The rest follows in the same call, before another writer's bytes. */
	n = send_buffered(vc, from, len - done, flags, when);
	if (n == -EAGAIN && !done && flags & SANX_MSG_SPARE)
		n = vspill_send(vc, from, len, flags);
	if (when == VPAYLOAD_NOW)
		sanx_coalesce_sent(&vc->coalesce, !(flags & MSG_BATCH));
	return n < 0 ? done ?: n : done + n;
}

/*
 * There is no send buffer.  Could the next send() make one?  If not, the sender
 * is woken when that has changed.
 */
static bool room_first(struct vconn *vc)
{
	const u32 no_use = VCONN_SUSPENDED | VCONN_RESUMING | VCONN_RELEASED |
			   VCONN_OVER | VCONN_PEER_CLOSED | VCONN_CLOSED;

	lockdep_assert_held(&vc->link->tx_lock);
	return vc->link->state == VLINK_UP && !(vc->flags & no_use);
}

/* Room in the send buffer, without bytes that could be spilled. */
static u32 room_buffered(struct vconn *vc)
{
	u32 room = vsndbuf_room(vc);
	struct vlink *link;

	if (room && vc->sndbuf.buf)
		return room;
	link = vconn_lock(vc);
	room = vsndbuf_room(vc);
	if (!vc->sndbuf.buf)
		room = room_first(vc) ? max(room, 1U) : 0;
	else if (!room)
		vsndbuf_await(vc);
	vxmit_unlock(link);
	if (room && !vc->sndbuf.buf && sanx_conn_short(vconn_conn(vc)))
		room = 0;
	return room;
}

/**
 * vconn_room() - sanx_transport_ops.room
 * @conn: the connection
 * @which: with SANX_ROOM_WINDOW, only the send buffer counts; else spilled
 *	bytes as well
 *
 * A return value of 0 arms a wake-up.
 *
 * Context: any; takes tx_lock.
 * Return: bytes, as room().
 */
u32 vconn_room(struct sanx_conn *conn, enum sanx_room which)
{
	struct vconn *vc = vconn_of(conn);
	u32 room = 0;

	vsndbuf_bound(vc);
	/*
	 * While bytes are spilled there is none, and vspill_work() wakes the
	 * sender.
	 */
	if (!vspill_any(vc))
		room = room_buffered(vc);
	if (which == SANX_ROOM_WINDOW)
		return room;
	if (!room)
		return vspill_room(vc);
	/*
	 * send() may find that the send buffer has to be replaced first, and
	 * then has to spill the bytes.
	 */
	sanx_conn_promise(conn, vspill_end(vc));
	return room;
}

/**
 * vconn_unsent() - sanx_transport_ops.unsent
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes; a hint.
 */
u32 vconn_unsent(struct sanx_conn *conn)
{
	const struct vconn *vc = vconn_of(conn);
	u64 next = READ_ONCE(conn->tx.next);

	return max_t(s64, vspill_end(vc) - next, 0);
}

/**
 * vconn_drained() - sanx_transport_ops.drained
 * @conn: the connection
 *
 * A return value of false arms a wake-up.
 *
 * Context: any; takes tx_lock.
 * Return: true if the device has completed all bytes and no FIN is pending, or
 * if nothing will be sent any more.
 */
bool vconn_drained(struct sanx_conn *conn)
{
	const u32 over = VCONN_PEER_CLOSED | VCONN_OVER | VCONN_RELEASED;
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);
	bool drained;

	drained = (vc->flags & over) ||
		  (vc->acked == vspill_end(vc) && !(vc->pending & VCONN_P_FIN));
	/* vsndbuf_await() would send corked bytes.  They stay corked here. */
	if (!drained && vc->corked)
		vc->full = true;
	else if (!drained)
		vsndbuf_await(vc);
	vxmit_unlock(link);
	return drained;
}

/**
 * vconn_flush() - sanx_coalesce.flush: send bytes that are coalesced
 * @g: of a connection
 *
 * Context: any; takes tx_lock.
 */
void vconn_flush(struct sanx_coalesce *g)
{
	struct vconn *vc = container_of(g, struct vconn, coalesce);
	struct vlink *link = vconn_lock(vc);

	vxmit_flush(vc);
	vxmit_unlock(link);
}

/**
 * vconn_push() - sanx_transport_ops.push
 * @conn: the connection
 *
 * Context: process; takes tx_lock.
 */
void vconn_push(struct sanx_conn *conn)
{
	sanx_coalesce_push(&vconn_of(conn)->coalesce);
}

/**
 * vconn_uncork() - sanx_transport_ops.uncork
 * @conn: the connection
 *
 * Context: process, tx_mutex held; takes tx_lock.
 */
void vconn_uncork(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);
	bool late = vc->flags & VCONN_PEER_CLOSED && vc->corked &&
		    vc->posted != vc->end;

	vxmit_uncork(vc);
	vxmit_unlock(link);
	/*
	 * The peer closed before it got the corked bytes.  TCP's peer would
	 * answer them with a reset.
	 */
	if (late)
		sanx_conn_reset(conn, ECONNRESET);
}

/**
 * vconn_consumed() - sanx_transport_ops.consumed
 * @conn: the connection
 *
 * Context: process, rx_mutex held; takes tx_lock.
 */
void vconn_consumed(struct sanx_conn *conn)
{
	const u32 no_use = VCONN_FIN_RCVD | VCONN_PEER_CLOSED | VCONN_CLOSED;
	struct vconn *vc = vconn_of(conn);
	struct vlink *link;

	sanx_coalesce_received(&vc->coalesce);
	if (unlikely(READ_ONCE(vc->rwnd_limited)))
		vgrow_read(vc);
	if (!sanx_rxq_credit_due(&conn->rx))
		return;
	link = vconn_lock(vc);
	if (!(vc->flags & no_use))
		vxmit_pend(vc, VCONN_P_CREDIT);
	vxmit_unlock(link);
}

/**
 * vconn_fin() - sanx_transport_ops.fin
 * @conn: the connection
 *
 * Context: process, tx_mutex held; takes tx_lock.
 */
void vconn_fin(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);

	/* FIN may not follow CLOSE, which vconn_cut() may have sent. */
	if (!(vc->flags & (VCONN_PEER_CLOSED | VCONN_CLOSED))) {
		vxmit_uncork(vc);
		vxmit_pend(vc, VCONN_P_FIN);
	}
	vxmit_unlock(link);
}
