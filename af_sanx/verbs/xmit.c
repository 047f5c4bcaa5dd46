// SPDX-License-Identifier: GPL-2.0
/*
 * The order of sending: what is pending on a connection and on a link, and who goes
 * next.
 *
 * Invariant: nothing that must be said is lost for lack of room.  A connection has a
 * bit for each frame that it has pending (vc->pending), and while it has one that may
 * go it is in link->pending or link->openers; the link has a list or a flag for all
 * else.  vxmit_run() sends what there is a slot and a link credit for, and runs again
 * with each completion, each frame that came and each thing that becomes pending.
 * All of it is under link->tx_lock.
 *
 * Connections take turns, a frame each.  Registrations that stand alone go before
 * anything else; then what is short and frees the peer (rejections), connections,
 * OPENs, and what only the link has to say.
 *
 * Registrations on rxe: it repeats one together with what it has to send again,
 * finds the region taken, and ends the queue pair.  So on such a device (see
 * vlink.reg_alone) nothing that may have to be sent again stands before one: sending
 * waits until all is acknowledged, then some registrations go out, and behind them a
 * PONG for each connection, which tells when the region may be given back.
 */
#include "xmit.h"

/* Connections whose registrations are posted behind each other. */
#define XMIT_REGS	16U

static_assert(XMIT_REGS <= VLINK_SLOTS);
static_assert(VLINK_RECVS >= LINK_CREDIT_RECVS_MIN);
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
 * Context: tx_lock held, or to be asked again with it.
 * Return: true if there is a slot and a link credit, and no registration that
 * all has to wait for.
 */
bool vxmit_ok(const struct vlink *link)
{
	return xmit_room(link) && list_empty(&link->regs);
}

/*
 * What can be said now: payload when the peer permits, and what ends the stream
 * behind it.
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

/* Sends the first of what a connection has pending, if any of it can be. */
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
		/* vgrow_told() clears VCONN_P_WINDOW. */
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
	return vring_unregistered(&vc->ring) ||
	       vring_unregistered(&vc->next) ||
	       vring_unregistered(&vc->staging);
}

/* Posts registrations, and then a PONG for each connection that has one. */
static void reg_alone(struct vlink *link)
{
	u32 i, n = 0, most = min(XMIT_REGS, link_credit_room(&link->credit));
	struct vconn *vc, *vcs[XMIT_REGS];

	while (n < most && !list_empty(&link->regs)) {
		vc = list_first_entry(&link->regs, struct vconn, reg);
		list_del_init(&vc->reg);
		vwr_post_reg(link, &vc->ring);
		vwr_post_reg(link, &vc->next);
		vwr_post_reg(link, &vc->staging);
		vcs[n++] = vc;
	}
	for (i = 0; i < n; i++)
		vframe_pong(link, vcs[i]);
}

/* Registrations that stand alone, some a round trip; mostly nothing waits. */
static void xmit_regs(struct vlink *link)
{
	if (list_empty(&link->regs) || !xmit_room(link))
		return;
	/* All slots are free then. */
	if (list_empty(&link->posted))
		reg_alone(link);
	else if (link->unsignaled)
		vframe_pong(link, NULL);
}

/*
 * The peer keeps memory for SANX_OPENS_MAX requests, so that it need not get
 * any, nor leave a request in a receive and so hold up what comes behind it.
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
		/* In turn, should it have more to say; see also frame_credit(). */
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
	/* A grant may use the reserve, and waits for no registration. */
	due = link_credit_grant_due(&link->credit) &&
	      link->state == VLINK_UP && !list_empty(&link->free);
	if (due || (link->ping && vxmit_ok(link))) {
		link->ping = false;
		vframe_ping(link);
	}
}

/**
 * vxmit_run() - send what is pending, as far as there is room
 * @link: the link
 *
 * Context: tx_lock held, and given back with vxmit_unlock().
 */
void vxmit_run(struct vlink *link)
{
	lockdep_assert_held(&link->tx_lock);
	xmit_regs(link);
	xmit_rejects(link);
	xmit_conns(link);
	/* Payload may turn out to need a registration first. */
	if (!list_empty(&link->regs)) {
		xmit_regs(link);
		xmit_conns(link);
	}
	xmit_opens(link);
	xmit_pings(link);
}

/**
 * vxmit_unlock() - give tx_lock back and tell senders who may go on
 * @link: the link; not touched once the lock is given back for good
 *
 * Context: any; no lock of the core held.
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
		/* It is attached, so there is a reference to go by. */
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
 * @frames: VCONN_P_*
 *
 * Context: tx_lock held, and given back with vxmit_unlock().
 */
void vxmit_pend(struct vconn *vc, u32 frames)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	if (vc->flags & (VCONN_OVER | VCONN_RELEASED))
		return;
	vc->pending |= frames;
	/*
	 * An acceptor says nothing before its OPEN_ACK, and nobody anything
	 * before it is known what the peer has of what was said before.
	 */
	if (vc->flags & (VCONN_ACCEPTING | VCONN_ORPHAN) ||
	    (vc->flags & VCONN_RESUMING && !(frames & VCONN_P_OPEN)))
		return;
	if (list_empty(&vc->pend))
		list_add_tail(&vc->pend, frames & VCONN_P_OPEN ?
			      &link->openers : &link->pending);
	vxmit_run(link);
}

/**
 * vxmit_reg() - a connection has a ring to be registered
 * @vc: an attached connection, its ring or its send buffer mapped
 *
 * Where that need not stand alone it is registered with the first frame that needs
 * it, and this does nothing.
 *
 * Context: tx_lock held; vxmit_run() is up to the caller.
 */
void vxmit_reg(struct vconn *vc)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	/* Once is enough for both. */
	if (link->reg_alone && list_empty(&vc->reg) && reg_due(vc))
		list_add_tail(&vc->reg, &link->regs);
}

/**
 * vxmit_return() - we write to the peer's ring no more
 * @vc: an attached connection, with nothing pending
 *
 * Context: tx_lock held, after vxmit_ok(), and given back with vxmit_unlock().
 */
void vxmit_return(struct vconn *vc)
{
	vframe_bare(vc->link, vc, SANX_FRAME_RETURN,
		    vc->turned ? SANX_FRAME_F_TURN : 0);
}

/**
 * vxmit_flush() - what is held back is to go, unless it is corked
 * @vc: a connection that is, or was, attached
 *
 * Context: tx_lock held, and given back with vxmit_unlock().
 */
void vxmit_flush(struct vconn *vc)
{
	const u32 never = VCONN_PEER_CLOSED | VCONN_RESET | VCONN_OVER;

	lockdep_assert_held(&vc->link->tx_lock);
	if (vc->posted != vc->end && !vc->corked && !(vc->flags & never))
		vxmit_pend(vc, VCONN_P_DATA);
}

/**
 * vxmit_uncork() - what is held back is to go
 * @vc: as of vxmit_flush()
 *
 * Context: tx_lock held, and given back with vxmit_unlock().
 */
void vxmit_uncork(struct vconn *vc)
{
	vc->corked = false;
	vxmit_flush(vc);
}
