// SPDX-License-Identifier: GPL-2.0
/*
 * Resumes a suspended connection on another link.
 *
 * The connector sends RESUME once there is a link to the same peer in the lane.
 * Each side says how much of the other's stream it has received, where its ring
 * is now, and how much room the ring has.  Each side then sends again, from its
 * chunks (chunk.c), what the other has not received.  Bytes are identified by their
 * stream offset, so none is lost and none is delivered twice ("Resuming" in
 * Documentation/protocol.rst).
 *
 * The peer may send RESUME before this node has noticed that the old link is
 * lost.  Its RESUME proves that the old link is lost, so that link is taken
 * down.  The request waits in lc->resume_req until the link is down: frames that
 * arrived on it count, and then none can arrive any more.
 *
 * lnet.lock serialises all attempts to attach a suspended connection.  lc->link
 * changes under lnet.lock and the tx_lock of the old link.
 */
#include "stream_priv.h"

static enum attached resume_map_result(int err)
{
	if (!err)
		return ATTACHED;
	/* Drivers also say that the device has no more of something, at present. */
	if (err == -ENOMEM || err == -EAGAIN || err == -EBUSY)
		return ATTACH_NO_ROOM;
	return ATTACH_NEVER;
}

/*
 * Moves the connection to the new link: sanx_lconn_lock() returns it from here
 * on.
 */
static enum attached resume_switch(struct sanx_lconn *lc, struct sanx_link *link)
{
	struct sanx_link *old = sanx_lconn_lock(lc);
	enum attached how = ATTACH_NO_LINK;

	if (!sanx_lconn_is_over(&lc->state)) {
		list_del_init(&lc->wait_wake);
		kref_get(&link->refs);
		/*
		 * Publishes the mappings of the rings.  Pairs with
		 * the acquire loads of lc->link in sanx_lconn_lock() and
		 * sanx_lconn_frame().
		 */
		smp_store_release(&lc->link, link);
		how = ATTACHED;
	}
	spin_unlock_bh(&old->tx_lock);
	if (how == ATTACHED)
		sanx_link_put(old);
	return how;
}

static enum attached resume_join(struct sanx_lconn *lc, struct sanx_link *link)
{
	enum attached how = ATTACH_NO_LINK;

	spin_lock_bh(&link->tx_lock);
	if (link->state != SANX_LINK_UP || sanx_lconn_is_over(&lc->state)) {
		/* It stays suspended, or is released. */
	} else if (!sanx_lconn_pin(lc, link->wire)) {
		/* Its module is being removed, and the peer must ask again. */
		sanx_link_kill_locked(link, SANX_END_LOST);
	} else {
		how = resume_map_result(sanx_chunks_map(lc));
		if (how == ATTACHED) {
			sanx_lconn_set_phase(lc, SANX_LCONN_RESUMING);
			sanx_lconn_join(lc, link);
		}
	}
	sanx_xmit_unlock(link);
	return how;
}

/*
 * Attaches a suspended connection to a link.  If that fails, the connection
 * stays suspended.  If it was RELEASED meanwhile, sanx_suspend_release() takes
 * it off the list once it gets lnet.lock.
 */
static enum attached resume_attach(struct sanx_lconn *lc, struct sanx_link *link)
{
	struct sanx_streams *streams = link->streams;
	enum attached how;

	lockdep_assert_held(streams->lock);
	if (!refcount_inc_not_zero(&link->users))
		return ATTACH_NO_LINK;
	/* Pages of programs go only where they may be lent. */
	how = link->caps.lend_max ? ATTACHED : resume_map_result(sanx_lend_save(lc, true));
	if (how == ATTACHED)
		how = resume_map_result(sanx_rings_map(lc, link));
	if (how == ATTACHED)
		how = resume_switch(lc, link);
	if (how == ATTACHED)
		how = resume_join(lc, link);
	if (how != ATTACHED) {
		sanx_rings_unmap(lc);
		sanx_link_user_put(link);
		return how;
	}
	list_del_init(&lc->wait_link);
	streams->n_suspended--;
	sanx_rings_resumed(lc);
	return how;
}

/*
 * Checks the number of bytes that the peer says it has received: not more than
 * was sent on the lost link, and not less than it has acknowledged.  Nobody has
 * kept the bytes before that, so such a connection cannot continue.  It alone
 * ends, and the link stays: its other connections miss nothing.  A program may
 * have reset a connection whose FIN the peer has, since RESUME was sent.
 * Return: 0; -EPROTO if no correct peer says that; -ECONNRESET if bytes are
 * missing.
 */
static int resume_offset(struct sanx_lconn *lc,
			 const struct sanx_frame *f)
{
	const struct sanx_conn *conn = &lc->conn;

	if (f->offset > lc->posted ||
	    (f->flags & SANX_FRAME_F_FIN &&
	     (lc->state.tx == SANX_LCONN_TX_STREAM || f->offset != conn->tx.next)))
		return -EPROTO;
	if (f->offset < lc->acked ||
	    (f->offset < lc->announced && !sanx_chunk_at(lc, f->offset)))
		return -ECONNRESET;
	return 0;
}

/* The acceptor still owes RESUME_ACK. */
static void resume_done(struct sanx_lconn *lc)
{
	sanx_lconn_set_phase(lc, sanx_lconn_accepted(lc) ? SANX_LCONN_RESUMED :
							   SANX_LCONN_OPEN);
}

/*
 * Applies a RESUME or RESUME_ACK.  Unless it returns -EPROTO, the caller calls
 * sanx_xmit_pend() afterwards, for what became pending.
 * Return: 0; -EPROTO if no correct peer says that; -ECONNRESET if bytes are
 * missing: the connection then sends CLOSE with RESET, and the caller resets it
 * here, without tx_lock.
 */
static int resume_take(struct sanx_lconn *lc, const struct sanx_frame *f,
		       u32 id, const struct sanx_window_info *win)
{
	struct sanx_conn *conn = &lc->conn;
	int err, err2;

	lockdep_assert_held(&lc->link->tx_lock);
	err = resume_offset(lc, f);
	if (id != lc->peer_id || err == -EPROTO)
		return -EPROTO;
	err2 = sanx_window_resume(lc, f, win);
	if (err2 == -EPROTO)
		return err2;
	err = err ?: err2;
	lc->full = false;
	lc->unsignaled = 0;
	if (err) {
		pr_debug("node %u lacks what it had received of connection %u\n",
			 lc->link->payer->id, lc->id);
		/*
		 * In the present phase, CLOSE is not sent yet, so that the
		 * acceptor's RESUME_ACK goes first.
		 */
		sanx_lconn_cut_locked(lc);
		resume_done(lc);
		return err;
	}
	WRITE_ONCE(lc->acked, f->offset);
	sanx_chunks_settle(lc);
	lc->ack_asked = f->offset;
	/* A link that flaps does not keep a closed connection (UNREAD_MAX). */
	if (!sanx_lconn_is_closed(&lc->state))
		lc->acked_at = jiffies;
	if (f->flags & SANX_FRAME_F_FIN)
		lc->pending &= ~LCONN_P_FIN;
	lc->posted = f->offset;
	lc->pending &= ~LCONN_P_DATA;
	if (lc->posted != lc->announced &&
	    lc->state.tx != SANX_LCONN_TX_RESET)
		lc->pending |= LCONN_P_DATA;
	resume_done(lc);
	if (!sanx_lconn_accepted(lc))
		sanx_offer_check(lc, conn->rx.tail);
	return 0;
}

/* Tells the program the result of resume_take(); tx_lock is not held. */
static int resume_tell(struct sanx_lconn *lc, int err)
{
	if (!err)
		sanx_conn_tx_ready(&lc->conn);
	else if (err == -ECONNRESET)
		sanx_conn_reset(&lc->conn, ECONNRESET);
	return err == -ECONNRESET ? 0 : err;
}

/*
 * Takes the answer to RESUME into account.
 * Return: true if a RESUME of ours is unanswered.
 */
static bool resume_answers(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;

	lockdep_assert_held(&link->tx_lock);
	if (lc->state.phase != SANX_LCONN_RESUME_SENT)
		return false;
	WRITE_ONCE(link->opening, link->opening - 1);
	return true;
}

/*
 * The peer continues a connection.  tx_lock held, to be released by sanx_xmit_unlock().
 * Return: as resume_take(); -EPROTO also if RESUME_ACK is not permitted now, or is invalid.
 */
int sanx_resume_answer(struct sanx_lconn *lc, const struct sanx_frame *f)
{
	struct sanx_window_info win;
	u64 token;
	u32 id;
	int err;

	if (sanx_resume_parse(f, &id, &win, &token) ||
	    token != sanx_lconn_token(lc, lc->link, false) || !resume_answers(lc))
		return -EPROTO;
	err = resume_take(lc, f, id, &win);
	if (err != -EPROTO)
		sanx_xmit_pend(lc, 0);
	return err;
}

/*
 * The peer refuses to continue a connection, which ends.  tx_lock held, to be released by
 * sanx_xmit_unlock().
 * Return: 0; -EPROTO if no RESUME is unanswered.
 */
int sanx_resume_refused(struct sanx_lconn *lc)
{
	if (!resume_answers(lc))
		return -EPROTO;
	sanx_lconn_abort(lc);
	sanx_xmit_run(lc->link);
	return 0;
}

/* Is this the connection that the peer asks for, and can it continue? */
static bool serve_known(struct sanx_lconn *lc, const struct sanx_request *o)
{
	return sanx_lconn_accepted(lc) && lc->peer_id == o->peer_id &&
	       sanx_lconn_was_open(&lc->state) &&
	       lc->state.phase != SANX_LCONN_ACCEPTING &&
	       lc->state.rx != SANX_LCONN_RX_CLOSED;
}

/*
 * Return: 0 if the connection is suspended and can be attached; -EINPROGRESS if
 * the request waits in lc->resume_req until it is; -EPROTO if the token is not that
 * of the node that opened it, the connection is on the link of the request, or
 * another request of that link waits there already; else the reason to refuse.
 */
int sanx_resume_check(struct sanx_lconn *lc, struct sanx_request *o)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool suspended = lc->state.phase == SANX_LCONN_SUSPENDED;
	int err = 0;

	if (!serve_known(lc, o)) {
		err = SANX_REJECT_DENIED;
	} else if (o->token != sanx_lconn_token(lc, o->link, false)) {
		err = -EPROTO;
	} else if ((!suspended && link == o->link) ||
		   (lc->resume_req && lc->resume_req->link == o->link)) {
		err = -EPROTO;
	} else if (!suspended) {
		/*
		 * The peer asks on another link, so the link of the earlier
		 * request is lost.  sanx_request_work() drops the request.
		 */
		if (lc->resume_req)
			sanx_request_queue(lc->resume_req);
		lc->resume_req = o;
		sanx_link_kill_locked(link, SANX_END_LOST);
		err = -EINPROGRESS;
	}
	spin_unlock_bh(&link->tx_lock);
	return err;
}

/* The request waits for memory, and sanx_retry_work() has it served again. */
int sanx_resume_later(struct sanx_lconn *lc, struct sanx_request *o)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	lc->resume_req = o;
	spin_unlock_bh(&link->tx_lock);
	return -EINPROGRESS;
}

/**
 * sanx_resume_ask() - ask the peer to continue a connection that we opened
 * @lc: a suspended connection
 * @link: a link that is up
 *
 * Context: process, may sleep; lnet.lock held; takes tx_lock.
 * Return: ATTACHED, and the peer will answer; else why it is suspended still.
 */
enum attached sanx_resume_ask(struct sanx_lconn *lc, struct sanx_link *link)
{
	enum attached how = resume_attach(lc, link);

	if (how != ATTACHED)
		return how;
	spin_lock_bh(&link->tx_lock);
	sanx_xmit_request(lc);
	sanx_xmit_unlock(link);
	return how;
}

/**
 * sanx_resume_attach() - attach a connection for which the peer has asked
 * @lc: a suspended connection, after sanx_resume_check()
 * @link: the link of the request
 *
 * Context: process, may sleep; lnet.lock held; takes tx_lock.
 * Return: ATTACHED, and sanx_resume_take() follows; else why it is suspended still.
 */
enum attached sanx_resume_attach(struct sanx_lconn *lc, struct sanx_link *link)
{
	/* One that has waited came by an earlier link. */
	sanx_suspend_serve(lc);
	return resume_attach(lc, link);
}

/**
 * sanx_resume_take() - continue a connection as the peer's request says
 * @lc: a connection, after sanx_resume_attach()
 * @o: the request
 *
 * Context: process; lnet.lock held; takes tx_lock.
 * Return: 0; -EPROTO if no correct peer says that.
 */
int sanx_resume_take(struct sanx_lconn *lc, struct sanx_request *o)
{
	struct sanx_link *link = o->link;
	int err = 0;

	spin_lock_bh(&link->tx_lock);
	/* The link may have ended meanwhile, and the connection with it. */
	if (lc->state.phase == SANX_LCONN_RESUMING)
		err = resume_take(lc, &o->f, o->peer_id, &o->win);
	if (err != -EPROTO)
		sanx_xmit_pend(lc, 0);
	sanx_xmit_unlock(link);
	return resume_tell(lc, err);
}
