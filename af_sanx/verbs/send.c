// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection sends: payload, credit, the end of the stream.
 *
 * A few bytes travel in the frame that announces them (INLINE), and so does
 * everything as long as the peer has no ring that we may write (grow.c).  More
 * are put into the connection's staging memory (staging.c) and written from
 * there into the peer's ring by the device.
 */
#include <linux/uio.h>

#include "verbs.h"

/* Messages up to here are not cut for want of a ring; the peer's credit is due. */
#define SEND_WHOLE	(SANX_RING_FIRST / 2)

/* Is payload to wait for what was said on an earlier link? */
static bool send_later(const struct vconn *vc)
{
	return (READ_ONCE(vc->flags) & (VCONN_ORPHAN | VCONN_RESUMING)) ||
	       (READ_ONCE(vc->pending) & (VCONN_P_RESUME_ACK |
					  VCONN_P_REPLAY));
}

/*
 * Waits for link credits or slots, for staging memory, or for a link?  Then
 * sanx_conn_tx_ready() will come; or a reset.
 */
static bool send_blocked(struct vconn *vc)
{
	struct vlink *link;
	bool blocked;

	rcu_read_lock();
	blocked = send_later(vc) || !vpost_ok(READ_ONCE(vc->link));
	rcu_read_unlock();
	if (!blocked && vstaging_room(vc))
		return false;
	link = vconn_lock(vc);
	blocked = send_later(vc) || !vpost_ok(link);
	if (blocked)
		vpost_starve(vc);
	else
		blocked = vstaging_await(vc);
	vpost_unlock(link);
	return blocked;
}

/* Bytes that go now; both windows, of the peer and of the staging memory. */
static u32 send_room(const struct vconn *vc)
{
	const struct sanx_conn *conn = vconn_conn((struct vconn *)vc);

	return min(sanx_txq_room(&conn->tx), vstaging_room(vc));
}

/*
 * Is the last of @n bytes urgent, of @len that the caller has?  As with TCP, a
 * call that is cut for want of room marks the last that went.
 */
static bool send_urgent(struct vconn *vc, size_t n, size_t len, int flags)
{
	return (flags & MSG_OOB) && (n == len || n == send_room(vc));
}

static ssize_t send_inline(struct vconn *vc, struct iov_iter *from, u32 most,
			   int flags)
{
	size_t len = iov_iter_count(from);
	u8 buf[SANX_INLINE_MAX];
	size_t n;
	int err;

	/* The copy may fault, which no slot or link credit should wait for. */
	n = copy_from_iter(buf, min_t(size_t, len, most), from);
	if (!n)
		return -EFAULT;
	err = vpost_data(vc, buf, n, send_urgent(vc, n, len, flags));
	if (err) {
		iov_iter_revert(from, n);
		return err;
	}
	return n;
}

static ssize_t send_ring(struct vconn *vc, struct iov_iter *from, u32 most,
			 int flags)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct sanx_rxq staging = {
		.in = { .buf = vc->staging.buf, .size = vc->staging.size },
	};
	size_t n, len = iov_iter_count(from);
	int err;

	most = min(most, VPOST_MAX);
	n = sanx_rxq_fill(&staging, conn->tx.next, from, most);
	if (!n)
		return -EFAULT;
	err = vpost_data(vc, NULL, n, send_urgent(vc, n, len, flags));
	if (err) {
		iov_iter_revert(from, n);
		return err;
	}
	return n;
}

/*
 * Without a ring of the peer's.  A message goes whole if it fits, like any small
 * one where there is a ring: other writers come in between where one has to wait.
 */
static ssize_t send_frames(struct vconn *vc, struct iov_iter *from, u32 n,
			   u32 most, int flags)
{
	size_t done = 0;
	ssize_t got;

	if (n < iov_iter_count(from) && n < SEND_WHOLE)
		return -EAGAIN;
	while (done < n) {
		got = send_inline(vc, from, min_t(u32, n - done, most), flags);
		if (got < 0)
			return done ?: got;
		done += got;
	}
	return done;
}

/* Staging memory may take a while to be registered; poll() said "now". */
static ssize_t send_first(struct vconn *vc, struct iov_iter *from, u32 most,
			  int flags)
{
	ssize_t n = send_inline(vc, from, most, flags);

	/* Should there be none, small frames have to do this time too. */
	if (n > 0)
		vstaging_make(vc);
	return n;
}

static u32 send_inline_max(struct vconn *vc)
{
	u32 most;

	rcu_read_lock();
	most = READ_ONCE(vc->link)->inline_max;
	rcu_read_unlock();
	return most;
}

/**
 * vconn_send() - sanx_transport_ops.send
 * @conn: the connection
 * @from: what to send
 * @len: bytes of it
 * @flags: MSG_OOB; as with TCP, memory is waited for anyway
 *
 * A few bytes travel in the frame that announces them (INLINE), more are
 * gathered in the staging memory and written into the peer's ring by the
 * device.
 *
 * Context: process, tx_mutex held.
 * Return: as send().
 */
ssize_t vconn_send(struct sanx_conn *conn, struct iov_iter *from, size_t len,
		   int flags)
{
	struct vconn *vc = vconn_of(conn);
	bool window = READ_ONCE(vc->win.size);
	u32 most = send_inline_max(vc);
	u32 n;
	int err;

	vstaging_bound(vc);
	if (!sanx_txq_room(&conn->tx) || send_blocked(vc))
		return -EAGAIN;
	n = min_t(size_t, len, send_room(vc));
	if ((n > most && window) || vc->early) {
		if (!vc->staging.buf && most && !vc->early)
			return send_first(vc, from, most, flags);
		err = vstaging_make(vc);
		if (err)
			return err;
		n = min(n, send_room(vc));
	}
	if (!n)
		return -EAGAIN;
	if (!window)
		return send_frames(vc, from, n, most, flags);
	if (n <= most)
		return send_inline(vc, from, n, flags);
	return send_ring(vc, from, n, flags);
}

/**
 * vconn_room() - sanx_transport_ops.room
 * @conn: the connection
 *
 * Context: any.
 * Return: as room().
 */
u32 vconn_room(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);

	u32 room;

	vstaging_bound(vc);
	do {
		if (!sanx_txq_room(&conn->tx) || send_blocked(vc))
			return 0;
		/* Another thread may have had it: then that is to be told. */
		room = send_room(vc);
	} while (!room);
	return room < SEND_WHOLE && !READ_ONCE(vc->win.size) ? 0 : room;
}

/**
 * vconn_consumed() - sanx_transport_ops.consumed
 * @conn: the connection
 *
 * Context: process, rx_mutex held.
 */
void vconn_consumed(struct sanx_conn *conn)
{
	const u32 no_use = VCONN_FIN_RCVD | VCONN_PEER_CLOSED | VCONN_CLOSED;
	struct vconn *vc = vconn_of(conn);
	struct vlink *link;

	if (!sanx_rxq_credit_due(&conn->rx))
		return;
	link = vconn_lock(vc);
	if (!(vc->flags & no_use))
		vpost_pend(vc, VCONN_P_CREDIT);
	vpost_unlock(link);
}

/**
 * vconn_fin() - sanx_transport_ops.fin
 * @conn: the connection
 *
 * Context: process, tx_mutex held.
 */
void vconn_fin(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);

	if (!(vc->flags & VCONN_PEER_CLOSED))
		vpost_pend(vc, VCONN_P_FIN);
	vpost_unlock(link);
}
