// SPDX-License-Identifier: GPL-2.0
/*
 * The xmit path of a link: which connection sends the next frame, and which
 * frame.
 *
 * Invariants, all guarded by link->tx_lock:
 *
 * - lc->pending has one bit for each frame that a connection still has to send,
 *   except those that its phase owes (lconn_state.h).  A bit is cleared when its
 *   frame is posted, or when the frame has become pointless, never for lack of
 *   room.
 * - A connection with a pending frame that may be sent now is in link->pending,
 *   or in link->openers for OPEN and RESUME.
 * - Everything else that a link has to send is in link->rejects, link->ping or
 *   link->answer.
 *
 * sanx_xmit_run() posts frames as long as there are slots and link credits.  It
 * runs again after each completion, after each received frame, and whenever a
 * frame becomes pending.  So a frame that found no room is sent later.
 *
 * Order: OPEN_REJ and RESUME_REJ (short, and they free what the peer keeps for
 * the request), then connections in round robin with one frame each, then OPEN
 * and RESUME, then PONG and PING.
 */
#include "frame_priv.h"

static_assert(SANX_WIRE_RECVS >= LINK_CREDIT_RECVS_MIN);
static_assert(SANX_RECVS_MIN >= LINK_CREDIT_RECVS_MIN);

/**
 * sanx_xmit_ok() - can an ordinary frame be sent now?
 * @link: the link
 *
 * The last free slot is reserved for a PING that carries a grant, as the last
 * link credits are.  Without it, two sides that each keep as many frames as they
 * have slots could wait for each other's grants: all slots are free again only
 * with a grant of the peer.  A peer that gets this one can send, and its frames
 * carry grants.
 *
 * Context: tx_lock held.  Without tx_lock the answer is a hint and must be
 * checked again.
 * Return: true if there is a slot and a link credit.
 */
bool sanx_xmit_ok(const struct sanx_link *link)
{
	return READ_ONCE(link->state) == SANX_LINK_UP &&
	       link_credit_room(&link->credit) && READ_ONCE(link->n_free) >= 2;
}

/*
 * Return: the pending frames that may be sent now.  DATA needs stream credit.
 * FIN and CLOSE end the stream, so they wait for all payload.
 */
static u32 xmit_todo(const struct sanx_lconn *lc)
{
	u32 todo = lc->pending;

	if (todo & LCONN_P_DATA) {
		todo &= ~(LCONN_P_FIN | LCONN_P_CLOSE);
		if (lc->posted == lc->conn.tx.limit)
			todo &= ~LCONN_P_DATA;
	}
	return todo;
}

/* Sends the answer that the phase owes. */
static void xmit_answer(struct sanx_link *link, struct sanx_lconn *lc)
{
	bool resumed = lc->state.phase == SANX_LCONN_RESUMED;

	sanx_lconn_set_phase(lc, SANX_LCONN_OPEN);
	if (resumed) {
		sanx_emit_resume(link, lc, SANX_FRAME_RESUME_ACK);
		sanx_offer_check(lc, lc->conn.rx.tail);
	} else {
		sanx_emit_open_ack(link, lc);
	}
}

/*
 * A peer that has made its ring, and has no room in it, gets the reset without the rest.  One
 * that has none yet is about to make it.
 */
static void xmit_last(struct sanx_lconn *lc)
{
	if (lc->state.tx != SANX_LCONN_TX_LAST || !lc->txgen.win.size ||
	    lc->posted != lc->conn.tx.limit)
		return;
	lc->pending &= ~LCONN_P_DATA;
	sanx_lconn_set_tx(lc, SANX_LCONN_TX_RESET);
}

static void xmit_close(struct sanx_link *link, struct sanx_lconn *lc)
{
	lc->pending &= ~LCONN_P_CLOSE;
	if (lc->state.tx == SANX_LCONN_TX_LAST)
		sanx_lconn_set_tx(lc, SANX_LCONN_TX_RESET);
	sanx_lconn_set_close(lc, SANX_LCONN_CLOSE_SENT);
	sanx_emit_bare(link, lc, SANX_FRAME_CLOSE,
		       lc->state.tx == SANX_LCONN_TX_RESET ? SANX_FRAME_F_RESET : 0);
}

/*
 * Sends the first pending frame that may be sent.
 * Return: true if there was one.
 */
static bool xmit_pending(struct sanx_link *link, struct sanx_lconn *lc)
{
	u32 todo;

	xmit_last(lc);
	todo = xmit_todo(lc);
	if (sanx_lconn_is_answering(&lc->state)) {
		xmit_answer(link, lc);
		return true;
	}
	if (todo & LCONN_P_RING) {
		/* sanx_offer_ring() clears the bit with the last one. */
		sanx_emit_ring(link, lc);
	} else if (todo & LCONN_P_DATA) {
		sanx_payload_next(link, lc);
	} else if (todo & LCONN_P_FIN) {
		lc->pending &= ~(LCONN_P_FIN | LCONN_P_CREDIT);
		sanx_lconn_set_tx(lc, SANX_LCONN_TX_FIN);
		sanx_emit_bare(link, lc, SANX_FRAME_FIN,
			       sanx_ack_last(lc) ? SANX_FRAME_F_ASK : 0);
	} else if (todo & LCONN_P_CREDIT) {
		lc->pending &= ~LCONN_P_CREDIT;
		sanx_emit_bare(link, lc, SANX_FRAME_CREDIT, 0);
	} else if (todo & LCONN_P_CLOSE) {
		xmit_close(link, lc);
	} else if (todo & LCONN_P_CLOSE_ACK) {
		lc->pending &= ~LCONN_P_CLOSE_ACK;
		sanx_emit_bare(link, lc, SANX_FRAME_CLOSE_ACK, 0);
	}
	return todo;
}

/*
 * The peer has preallocated SANX_OPENS_MAX requests (link.opens), and the
 * protocol forbids more.  So the peer never has to allocate in softirq, nor to
 * leave a request in a receive, where it would block the frames behind it.
 */
static void xmit_opens(struct sanx_link *link)
{
	struct sanx_lconn *lc;

	while (!list_empty(&link->openers) && sanx_xmit_ok(link) &&
	       link->opening < SANX_OPENS_MAX) {
		lc = list_first_entry(&link->openers, struct sanx_lconn, wait_turn);
		list_del_init(&lc->wait_turn);
		WRITE_ONCE(link->opening, link->opening + 1);
		if (lc->state.phase == SANX_LCONN_RESUMING) {
			sanx_lconn_set_phase(lc, SANX_LCONN_RESUME_SENT);
			sanx_emit_resume(link, lc, SANX_FRAME_RESUME);
		} else {
			sanx_lconn_set_phase(lc, SANX_LCONN_OPEN_SENT);
			sanx_emit_open(link, lc);
		}
	}
}

static void xmit_conns(struct sanx_link *link)
{
	struct sanx_lconn *lc;

	while (!list_empty(&link->pending) && sanx_xmit_ok(link)) {
		lc = list_first_entry(&link->pending, struct sanx_lconn, wait_turn);
		/*
		 * Round robin.  A connection without stream credit leaves the
		 * list with DATA still pending; frame_credit() queues it again.
		 */
		if (xmit_pending(link, lc) && lc->pending)
			list_move_tail(&lc->wait_turn, &link->pending);
		else
			list_del_init(&lc->wait_turn);
	}
}

static void xmit_rejects(struct sanx_link *link)
{
	struct sanx_request *o;

	while (!list_empty(&link->rejects) && sanx_xmit_ok(link)) {
		o = list_first_entry(&link->rejects, struct sanx_request, node);
		sanx_emit_reject(link, o);
		sanx_request_put(o);
	}
}

/* A PONG, unless a frame that was sent meanwhile has carried the grant. */
static void xmit_answer_due(struct sanx_link *link)
{
	if (link->answer != SANX_ANSWER_DUE)
		return;
	if (!link_credit_unadvertised(&link->credit)) {
		link->answer = SANX_ANSWER_NONE;
	} else if (sanx_xmit_ok(link)) {
		link->answer = SANX_ANSWER_NONE;
		sanx_emit_pong(link);
	}
}

static void xmit_pings(struct sanx_link *link)
{
	bool due;

	xmit_answer_due(link);
	/*
	 * A PING that carries a grant may use the reserved link credits and the
	 * reserved slot.
	 */
	due = link_credit_grant_due(&link->credit) &&
	      link->state == SANX_LINK_UP && !list_empty(&link->free);
	if (due || (link->ping && sanx_xmit_ok(link))) {
		link->ping = false;
		sanx_emit_ping(link);
	}
}

/**
 * sanx_xmit_run() - send pending frames while there are slots and link credits
 * @link: the link
 *
 * Context: tx_lock held, and released with sanx_xmit_unlock().
 */
void sanx_xmit_run(struct sanx_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	xmit_rejects(link);
	xmit_conns(link);
	xmit_opens(link);
	xmit_pings(link);
}

/**
 * sanx_link_ask() - request an answer of the peer
 * @link: the link
 *
 * Context: tx_lock held, to be released by sanx_xmit_unlock().
 */
void sanx_link_ask(struct sanx_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	link->ping = true;
	sanx_link_doubt(link);
	/* The PING may have to wait. */
	sanx_link_used(link);
	sanx_xmit_run(link);
}

/**
 * sanx_xmit_unlock() - release tx_lock and wake senders that can go on
 * @link: the link; the function does not touch it after it has released tx_lock
 *	for the last time
 *
 * Takes connections off link->ready.  It releases tx_lock before it wakes each
 * of them, because a wake-up runs socket callbacks.
 *
 * Context: any; tx_lock held, and no other spinlock.
 */
void sanx_xmit_unlock(struct sanx_link *link) __releases(&link->tx_lock)
{
	struct sanx_conn *conn;
	struct sanx_lconn *lc;

	lockdep_assert_held(&link->tx_lock);
	if (list_empty(&link->ready)) {
		spin_unlock_bh(&link->tx_lock);
		return;
	}
	kref_get(&link->refs);
	while (!list_empty(&link->ready)) {
		lc = list_first_entry(&link->ready, struct sanx_lconn, wait_wake);
		list_del_init(&lc->wait_wake);
		/*
		 * A connection in link->ready is attached, and its attachment
		 * holds a reference.
		 */
		conn = sanx_conn_get(&lc->conn);
		spin_unlock_bh(&link->tx_lock);
		sanx_conn_tx_ready(conn);
		sanx_conn_put(conn);
		spin_lock_bh(&link->tx_lock);
	}
	spin_unlock_bh(&link->tx_lock);
	sanx_link_put(link);
}

/**
 * sanx_xmit_lock_push() - lock the link of a connection, to send on it
 * @lc: as of sanx_lconn_lock()
 *
 * On a wire that cannot send in any context, what is posted until tx_lock is released
 * is sent by the caller, and needs no turn of a worker.
 *
 * Context: process, may sleep; released with sanx_xmit_unlock_push().
 * Return: as sanx_lconn_lock().
 */
struct sanx_link *sanx_xmit_lock_push(struct sanx_lconn *lc)
	__acquires(&lc->link->tx_lock)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	if (link->state == SANX_LINK_UP && link->wire->push)
		link->push = SANX_PUSH_READY;
	return link;
}

/**
 * sanx_xmit_unlock_push() - sanx_xmit_unlock(), and send what was posted
 * @link: locked with sanx_xmit_lock_push()
 * @more: as in sanx_wire_ops.push
 *
 * Context: process, may sleep; tx_lock held, and no other spinlock.
 */
void sanx_xmit_unlock_push(struct sanx_link *link, bool more)
	__releases(&link->tx_lock)
{
	/* If it has no users any more, nothing is sent on it. */
	bool due = link->push == SANX_PUSH_DUE &&
		   refcount_inc_not_zero(&link->users);

	link->push = SANX_PUSH_NONE;
	sanx_xmit_unlock(link);
	if (!due)
		return;
	link->wire->push(link->wl, more);
	sanx_link_user_put(link);
}

/**
 * sanx_xmit_request() - have OPEN or RESUME sent
 * @lc: a connection of which the phase owes it; else nothing happens
 *
 * Context: tx_lock held, and released with sanx_xmit_unlock().
 */
void sanx_xmit_request(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;

	lockdep_assert_held(&link->tx_lock);
	if (lc->state.phase != SANX_LCONN_OPENING &&
	    lc->state.phase != SANX_LCONN_RESUMING)
		return;
	if (list_empty(&lc->wait_turn))
		list_add_tail(&lc->wait_turn, &link->openers);
	sanx_xmit_run(link);
}

/**
 * sanx_xmit_pend() - have frames of a connection sent
 * @lc: an attached connection
 * @frames: LCONN_P_*; 0 to send what is pending already, or owed by the phase
 *	(OPEN_ACK, RESUME_ACK)
 *
 * Does nothing for a connection that is over.
 *
 * Context: tx_lock held, and released with sanx_xmit_unlock().
 */
void sanx_xmit_pend(struct sanx_lconn *lc, u32 frames)
{
	struct sanx_link *link = lc->link;

	lockdep_assert_held(&link->tx_lock);
	if (sanx_lconn_is_over(&lc->state))
		return;
	lc->pending |= frames;
	if (!sanx_lconn_may_send(&lc->state))
		return;
	if (list_empty(&lc->wait_turn))
		list_add_tail(&lc->wait_turn, &link->pending);
	sanx_xmit_run(link);
}

/**
 * sanx_xmit_announce() - send all bytes that were taken, also those held back
 * @lc: a connection that is, or was, attached
 *
 * Context: tx_lock held, and released with sanx_xmit_unlock().
 */
void sanx_xmit_announce(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	/* Pairs with smp_store_release() in payload_hold(). */
	lc->announced = smp_load_acquire(&lc->end);
	if (lc->posted != lc->announced &&
	    !sanx_lconn_is_mute(&lc->state))
		sanx_xmit_pend(lc, LCONN_P_DATA);
}
