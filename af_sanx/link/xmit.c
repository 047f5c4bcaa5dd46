// SPDX-License-Identifier: GPL-2.0
/*
 * The xmit path of a link: which connection sends the next frame, and which
 * frame.
 *
 * Invariants, all guarded by link->tx_lock:
 *
 * - vc->pending has one bit for each frame that a connection still has to send.
 *   A bit is cleared when its frame is posted, or when the frame has become
 *   pointless, never for lack of room.
 * - A connection with a pending frame that may be sent now is in link->pending,
 *   or in link->openers for OPEN and RESUME.
 * - Everything else that a link has to send is in link->regs, link->rejects,
 *   link->ping or link->pong.
 *
 * vxmit_run() posts frames as long as there are slots and link credits.  It
 * runs again after each completion, after each received frame, and whenever a
 * frame becomes pending.  So a frame that found no room is sent later.
 *
 * Order: registrations that must be posted alone, then OPEN_REJ and RESUME_REJ
 * (short, and they free what the peer keeps for the request), then connections
 * in round robin with one frame each, then OPEN and RESUME, then PONG and PING.
 *
 * Registrations on rxe: when rxe retransmits, it executes a registration in the
 * retransmitted work a second time.  The memory region is then not free any
 * more, and the queue pair fails.  So on such a device (sanx_wire_caps.enable_alone) no
 * unacknowledged work may precede a registration.  The xmit path waits until
 * all work is acknowledged, posts up to XMIT_REGS registrations, and posts one
 * PONG for each of their connections behind them.  The completion of the PONG
 * tells when the region may be released.
 */
#include "xmit.h"

/* Connections whose registrations one round trip may carry. */
#define XMIT_REGS	16U

static_assert(XMIT_REGS <= SANX_WIRE_SLOTS);
static_assert(SANX_WIRE_RECVS >= LINK_CREDIT_RECVS_MIN);
static_assert(SANX_RECVS_MIN >= LINK_CREDIT_RECVS_MIN);

static bool xmit_room(const struct vlink *link)
{
	return READ_ONCE(link->state) == VLINK_UP &&
	       link_credit_room(&link->credit) && !list_empty(&link->free);
}

/**
 * vxmit_ok() - can an ordinary frame be sent now?
 * @link: the link
 *
 * Context: tx_lock held.  Without tx_lock the answer is a hint and must be
 * checked again.
 * Return: true if there is a slot and a link credit, and no registration waits
 * to be posted alone.
 */
bool vxmit_ok(const struct vlink *link)
{
	return xmit_room(link) && list_empty(&link->regs);
}

/*
 * Return: the pending frames that may be sent now.  DATA needs stream credit.
 * FIN and CLOSE end the stream, so they wait for all payload, spilled bytes
 * included.
 */
static u32 xmit_todo(const struct vconn *vc)
{
	u32 todo = vc->pending;

	if (todo & VCONN_P_DATA || vspill_waits(vc))
		todo &= ~(VCONN_P_FIN | VCONN_P_CLOSE);
	if (todo & VCONN_P_DATA) {
		if (vc->posted == vconn_conn((struct vconn *)vc)->tx.limit)
			todo &= ~VCONN_P_DATA;
	}
	return todo;
}

/*
 * Sends the first pending frame that may be sent.
 * Return: true if there was one.
 */
static bool xmit_pending(struct vlink *link, struct vconn *vc)
{
	u32 todo = xmit_todo(vc);

	if (todo & VCONN_P_OPEN_ACK) {
		vc->pending &= ~VCONN_P_OPEN_ACK;
		vframe_open_ack(link, vc);
	} else if (todo & VCONN_P_RESUME_ACK) {
		vc->pending &= ~VCONN_P_RESUME_ACK;
		vframe_resume(link, vc, SANX_FRAME_RESUME_ACK);
		vgrow_check(vc, vconn_conn(vc)->rx.tail);
	} else if (todo & VCONN_P_RETURN_ACK) {
		vc->pending &= ~VCONN_P_RETURN_ACK;
		vframe_return_ack(link, vc);
	} else if (todo & VCONN_P_WINDOW) {
		/*
		 * vframe_window() clears VCONN_P_WINDOW (vgrow_advertised()).
		 */
		vframe_window(link, vc);
	} else if (todo & VCONN_P_DATA) {
		vpayload_next(link, vc);
	} else if (todo & VCONN_P_FIN) {
		vc->pending &= ~(VCONN_P_FIN | VCONN_P_CREDIT);
		vc->flags |= VCONN_FIN_SENT;
		vframe_bare(link, vc, SANX_FRAME_FIN, 0);
	} else if (todo & VCONN_P_CREDIT) {
		vc->pending &= ~VCONN_P_CREDIT;
		vframe_bare(link, vc, SANX_FRAME_CREDIT, 0);
	} else if (todo & VCONN_P_CLOSE) {
		vc->pending &= ~VCONN_P_CLOSE;
		vc->flags |= VCONN_CLOSE_SENT;
		vframe_bare(link, vc, SANX_FRAME_CLOSE,
			    vc->flags & VCONN_RESET ? SANX_FRAME_F_RESET : 0);
	} else if (todo & VCONN_P_CLOSE_ACK) {
		vc->pending &= ~VCONN_P_CLOSE_ACK;
		vframe_bare(link, vc, SANX_FRAME_CLOSE_ACK, 0);
	}
	return todo;
}

static bool reg_due(const struct vconn *vc)
{
	return vring_disabled(&vc->ring) ||
	       vring_disabled(&vc->next) ||
	       vring_disabled(&vc->sndbuf);
}

/*
 * Posts registrations, and then one PONG for each connection that has one.  The
 * PONG counts in vc->inflight, so the connection is not released before its
 * registration has completed.
 */
static void reg_alone(struct vlink *link)
{
	u32 i, n = 0, most = min(XMIT_REGS, link_credit_room(&link->credit));
	struct vconn *vc, *vcs[XMIT_REGS];

	while (n < most && !list_empty(&link->regs)) {
		vc = list_first_entry(&link->regs, struct vconn, reg);
		list_del_init(&vc->reg);
		vwr_post_enable(link, &vc->ring);
		vwr_post_enable(link, &vc->next);
		vwr_post_enable(link, &vc->sndbuf);
		vcs[n++] = vc;
	}
	for (i = 0; i < n; i++)
		vframe_pong(link, vcs[i]);
}

/*
 * Posts registrations alone, up to XMIT_REGS connections per round trip.  If
 * unacknowledged work is in the way and none of it asks for a completion, a
 * PONG, which is always signaled, gets one.
 */
static void xmit_regs(struct vlink *link)
{
	if (list_empty(&link->regs) || !xmit_room(link))
		return;
	/* With nothing posted, all slots are free. */
	if (list_empty(&link->posted))
		reg_alone(link);
	else if (link->unsignaled)
		vframe_pong(link, NULL);
}

/*
 * The peer has preallocated SANX_OPENS_MAX requests (vlink.opens), and the
 * protocol forbids more.  So the peer never has to allocate in softirq, nor to
 * leave a request in a receive, where it would block the frames behind it.
 */
static void xmit_opens(struct vlink *link)
{
	struct vconn *vc;

	while (vxmit_ok(link) && link->opening < SANX_OPENS_MAX) {
		vc = list_first_entry_or_null(&link->openers, struct vconn,
					      pend);
		if (!vc)
			break;
		list_del_init(&vc->pend);
		vc->pending &= ~VCONN_P_OPEN;
		WRITE_ONCE(link->opening, link->opening + 1);
		if (vc->flags & VCONN_RESUMING)
			vframe_resume(link, vc, SANX_FRAME_RESUME);
		else
			vframe_open(link, vc);
	}
}

static void xmit_conns(struct vlink *link)
{
	struct vconn *vc;

	while (vxmit_ok(link)) {
		vc = list_first_entry_or_null(&link->pending, struct vconn,
					      pend);
		if (!vc)
			break;
		/*
		 * Round robin.  A connection without stream credit leaves the
		 * list with DATA still pending; frame_credit() queues it again.
		 */
		if (xmit_pending(link, vc) && vc->pending)
			list_move_tail(&vc->pend, &link->pending);
		else
			list_del_init(&vc->pend);
	}
}

static void xmit_rejects(struct vlink *link)
{
	struct vopen *o;

	while (vxmit_ok(link)) {
		o = list_first_entry_or_null(&link->rejects, struct vopen,
					     node);
		if (!o)
			break;
		vframe_reject(link, o);
		vopen_put(o);
	}
}

static void xmit_pings(struct vlink *link)
{
	bool due;

	if (link->pong && vxmit_ok(link)) {
		link->pong = false;
		vframe_pong(link, NULL);
	}
	/*
	 * A PING that carries a grant may use the reserved link credits, and
	 * does not wait for registrations.
	 */
	due = link_credit_grant_due(&link->credit) &&
	      link->state == VLINK_UP && !list_empty(&link->free);
	if (due || (link->ping && vxmit_ok(link))) {
		link->ping = false;
		vframe_ping(link);
	}
}

/**
 * vxmit_run() - send pending frames while there are slots and link credits
 * @link: the link
 *
 * Context: tx_lock held, and released with vxmit_unlock().
 */
void vxmit_run(struct vlink *link)
{
	lockdep_assert_held(&link->tx_lock);
	xmit_regs(link);
	xmit_rejects(link);
	xmit_conns(link);
	/*
	 * Payload may have found that the send buffer must be registered alone
	 * first (vpayload_next()).
	 */
	if (!list_empty(&link->regs)) {
		xmit_regs(link);
		xmit_conns(link);
	}
	xmit_opens(link);
	xmit_pings(link);
}

/**
 * vxmit_unlock() - release tx_lock and wake senders that can go on
 * @link: the link; the function does not touch it after it has released tx_lock
 *	for the last time
 *
 * Takes connections off link->ready.  It releases tx_lock before it wakes each
 * of them, because a wake-up runs socket callbacks.
 *
 * Context: any; tx_lock held, and no other spinlock.
 */
void vxmit_unlock(struct vlink *link) __releases(&link->tx_lock)
{
	struct sanx_conn *conn;
	struct vconn *vc;

	lockdep_assert_held(&link->tx_lock);
	if (list_empty(&link->ready)) {
		spin_unlock_bh(&link->tx_lock);
		return;
	}
	kref_get(&link->refs);
	while (!list_empty(&link->ready)) {
		vc = list_first_entry(&link->ready, struct vconn, room);
		list_del_init(&vc->room);
		/*
		 * A connection in link->ready is attached, and its attachment
		 * holds a reference.
		 */
		conn = sanx_conn_get(vconn_conn(vc));
		spin_unlock_bh(&link->tx_lock);
		vspill_tx_ready(vc);
		sanx_conn_put(conn);
		spin_lock_bh(&link->tx_lock);
	}
	spin_unlock_bh(&link->tx_lock);
	vlink_put(link);
}

/**
 * vxmit_pend() - have frames of a connection sent
 * @vc: an attached connection
 * @frames: VCONN_P_*; 0 to send what is pending already
 *
 * Does nothing for a connection that is OVER or RELEASED.
 *
 * Context: tx_lock held, and released with vxmit_unlock().
 */
void vxmit_pend(struct vconn *vc, u32 frames)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	if (vc->flags & (VCONN_OVER | VCONN_RELEASED))
		return;
	vc->pending |= frames;
	/*
	 * An acceptor sends nothing before OPEN_ACK.  While a connection is
	 * SUSPENDED or RESUMING, only RESUME may be sent: the answer has to
	 * tell first what the peer has received.
	 */
	if (vc->flags & (VCONN_ACCEPTING | VCONN_SUSPENDED) ||
	    (vc->flags & VCONN_RESUMING && !(frames & VCONN_P_OPEN)))
		return;
	if (list_empty(&vc->pend))
		list_add_tail(&vc->pend, frames & VCONN_P_OPEN ?
			      &link->openers : &link->pending);
	vxmit_run(link);
}

/**
 * vxmit_enable() - have a connection's memory registered
 * @vc: an attached connection, with a ring or a send buffer mapped
 *
 * On a device without sanx_wire_caps.enable_alone this does nothing: there the first frame
 * that needs the memory carries the registration in its chain.
 *
 * Context: tx_lock held; the caller calls vxmit_run().
 */
void vxmit_enable(struct vconn *vc)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	/* One entry covers all memory of the connection. */
	if (link->caps.enable_alone && list_empty(&vc->reg) && reg_due(vc))
		list_add_tail(&vc->reg, &link->regs);
}

/**
 * vxmit_return() - send RETURN: give the peer's ring back
 * @vc: an attached connection, with nothing pending
 *
 * Context: tx_lock held, after vxmit_ok(), and released with vxmit_unlock().
 */
void vxmit_return(struct vconn *vc)
{
	vframe_bare(vc->link, vc, SANX_FRAME_RETURN,
		    vc->tx_gen ? SANX_FRAME_F_GEN : 0);
}

/**
 * vxmit_flush() - send bytes that are coalesced, unless they are corked
 * @vc: a connection that is, or was, attached
 *
 * Context: tx_lock held, and released with vxmit_unlock().
 */
void vxmit_flush(struct vconn *vc)
{
	const u32 never = VCONN_PEER_CLOSED | VCONN_RESET | VCONN_OVER;

	lockdep_assert_held(&vc->link->tx_lock);
	if (vc->posted != vc->end && !vc->corked && !(vc->flags & never))
		vxmit_pend(vc, VCONN_P_DATA);
}

/**
 * vxmit_uncork() - send bytes that are corked or coalesced
 * @vc: a connection that is, or was, attached
 *
 * Context: tx_lock held, and released with vxmit_unlock().
 */
void vxmit_uncork(struct vconn *vc)
{
	vc->corked = false;
	vxmit_flush(vc);
}
