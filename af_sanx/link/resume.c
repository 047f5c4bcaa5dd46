// SPDX-License-Identifier: GPL-2.0
/*
 * Resumes a suspended connection on another link.
 *
 * The connector sends RESUME once there is a link to the same peer in the lane.
 * Each side says how much of the other's stream it has received, where its ring
 * is now, and how much room the ring has.  Each side then sends again, from its
 * send buffer, what the other has not received.  Bytes are identified by their
 * stream offset, so none is lost and none is delivered twice ("Resuming" in
 * Documentation/protocol.rst).
 *
 * The peer may send RESUME before this node has noticed that the old link is
 * lost.  Its RESUME proves that the old link is lost, so that link is taken
 * down.  The request waits in vc->parked until the link is down: frames that
 * arrived on it count, and then none can arrive any more.
 *
 * vnet.lock serialises all attempts to attach a suspended connection.  vc->link
 * changes under vnet.lock and the tx_lock of the old link.
 */
#include "internal.h"

static int resume_map(struct vconn *vc, struct vlink *link)
{
	u64 iova = (u64)vc->id << 32;
	int err;

	if (link->caps.early && !vsndbuf_early_ok(vc))
		return -EMSGSIZE;
	vgrow_one_ring(vc);
	err = vc->ring.buf ? vring_map(&vc->ring, link, iova) : 0;
	if (!err && vc->sndbuf.buf)
		err = vring_map(&vc->sndbuf, link, iova);
	return err;
}

static void resume_unmap(struct vconn *vc)
{
	vgrow_unmap(vc);
	vring_unmap(&vc->sndbuf);
}

/*
 * Moves the connection to the new link: vconn_lock() returns it from here on.
 */
static int resume_switch(struct vconn *vc, struct vlink *link)
{
	struct vlink *old = vconn_lock(vc);
	int err = -ENOTCONN;

	if (!(vc->flags & VCONN_RELEASED)) {
		list_del_init(&vc->room);
		kref_get(&link->refs);
		/*
		 * Publishes the mappings that resume_map() made.  Pairs with
		 * the acquire loads of vc->link in vconn_lock() and
		 * vconn_frame().
		 */
		smp_store_release(&vc->link, link);
		err = 0;
	}
	spin_unlock_bh(&old->tx_lock);
	if (!err)
		vlink_put(old);
	return err;
}

static int resume_publish(struct vconn *vc, struct vlink *link)
{
	int err = -ENOTCONN;

	spin_lock_bh(&link->tx_lock);
	if (link->state == VLINK_UP && !(vc->flags & VCONN_RELEASED)) {
		vc->flags &= ~VCONN_SUSPENDED;
		vc->flags |= VCONN_RESUMING;
		vconn_join(vc, link);
		err = 0;
	}
	vxmit_unlock(link);
	return err;
}

/*
 * Attaches a suspended connection to a link.  If that fails, the connection
 * stays suspended.  If it was RELEASED meanwhile, vsuspend_release() takes it
 * off the list once it gets vnet.lock.
 */
static int resume_attach(struct vconn *vc, struct vlink *link)
{
	struct vgroup *g = link->group;
	int err;

	lockdep_assert_held(&g->vnet->lock);
	if (!refcount_inc_not_zero(&link->users))
		return -ENOTCONN;
	err = resume_map(vc, link);
	if (!err)
		err = resume_switch(vc, link);
	if (!err)
		err = resume_publish(vc, link);
	if (err) {
		resume_unmap(vc);
		vlink_user_put(link);
		return err;
	}
	list_del_init(&vc->wait);
	g->n_suspended--;
	vgrow_resumed(vc);
	return 0;
}

/**
 * vresume_ask() - ask the peer to continue a connection that we opened
 * @vc: a suspended connection
 * @link: a link that is up
 *
 * Context: process, may sleep; vnet.lock held; takes tx_lock.
 * Return: 0, and the peer will answer; or -errno, and the connection is still
 * suspended.
 */
int vresume_ask(struct vconn *vc, struct vlink *link)
{
	struct sanx_conn *conn = sanx_conn_get(vconn_conn(vc));
	int err = resume_attach(vc, link);

	if (!err) {
		spin_lock_bh(&link->tx_lock);
		vxmit_pend(vc, VCONN_P_OPEN);
		vxmit_unlock(link);
	}
	sanx_conn_put(conn);
	return err;
}

/*
 * Checks the number of bytes that the peer says it has received.  It lies
 * between what the peer has said before, or has read, and what was sent on the
 * lost link.  It may be less than what the peer's device has acknowledged,
 * because the device can fail before memory has the bytes.  Nobody has kept
 * such bytes, so the connection cannot continue.
 * Return: 0; -EPROTO if no correct peer says that; -ECONNRESET if bytes are
 * missing.
 */
static int resume_offset(const struct vconn *vc, const struct sanx_frame *f)
{
	const struct sanx_conn *conn = vconn_conn((struct vconn *)vc);

	if (f->offset < max(conn->tx.read, vc->peer_received) ||
	    f->offset > vc->posted ||
	    (f->flags & SANX_FRAME_F_FIN &&
	     (!(vc->flags & VCONN_FIN_SENT) || f->offset != conn->tx.next)))
		return -EPROTO;
	if (f->offset < vsndbuf_first(vc) ||
	    (f->offset < vc->end && !vc->sndbuf.buf))
		return -ECONNRESET;
	return 0;
}

/*
 * Applies a RESUME or RESUME_ACK.  Unless it returns -EPROTO, the caller calls
 * vxmit_pend() afterwards, for what became pending.
 * Return: 0; -EPROTO if no correct peer says that; -ECONNRESET if bytes are
 * missing: the connection then sends CLOSE with RESET, and the caller resets it
 * here (resume_tell()).
 */
static int resume_take(struct vconn *vc, const struct sanx_frame *f, u32 id,
		       const struct sanx_window_info *win)
{
	struct sanx_conn *conn = vconn_conn(vc);
	int err;

	lockdep_assert_held(&vc->link->tx_lock);
	if (id != vc->peer_id || vconn_window_ok(vc->link, win) ||
	    win->size < vc->win.size)
		return -EPROTO;
	vconn_set_window(vc, win);
	if (!win->size)
		conn->tx.size = SANX_RING_FIRST;
	vc->tx_gen = false;
	vc->return_sent = false;
	err = resume_offset(vc, f);
	if (err == -EPROTO || sanx_txq_credit(&conn->tx, f->credit) < 0)
		return -EPROTO;
	vc->peer_received = f->offset;
	vc->full = false;
	vc->unsignaled = 0;
	if (err) {
		pr_debug("node %u lacks what it acknowledged of connection %u\n",
			 vc->link->group->peer, vc->id);
		/*
		 * While RESUMING is set, CLOSE is not sent yet, so that the
		 * acceptor's RESUME_ACK goes first.
		 */
		vconn_cut_locked(vc);
		vc->flags &= ~VCONN_RESUMING;
		return err;
	}
	WRITE_ONCE(vc->acked, f->offset);
	WRITE_ONCE(vc->peer_has, f->offset);
	vc->acked_at = jiffies;
	if (f->flags & SANX_FRAME_F_FIN)
		vc->pending &= ~VCONN_P_FIN;
	vc->posted = f->offset;
	vc->pending &= ~VCONN_P_DATA;
	if (vc->posted != vc->end && !(vc->flags & VCONN_RESET))
		vc->pending |= VCONN_P_DATA;
	vc->flags &= ~VCONN_RESUMING;
	if (!vconn_accepted(vc))
		vgrow_check(vc, conn->rx.tail);
	return 0;
}

/* Tells the program the result of resume_take(); tx_lock is not held. */
static int resume_tell(struct vconn *vc, int err)
{
	if (!err)
		vspill_tx_ready(vc);
	else if (err == -ECONNRESET)
		sanx_conn_reset(vconn_conn(vc), ECONNRESET);
	return err == -ECONNRESET ? 0 : err;
}

/*
 * Takes the answer to RESUME into account.
 * Return: true if a RESUME of ours is unanswered.
 */
static bool resume_answers(struct vconn *vc)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	if (!(vc->flags & VCONN_RESUMING) || vconn_accepted(vc) ||
	    (vc->pending & VCONN_P_OPEN) ||
	    (vc->flags & (VCONN_OVER | VCONN_RELEASED)))
		return false;
	WRITE_ONCE(link->opening, link->opening - 1);
	return true;
}

/**
 * vresume_answer() - the peer continues a connection
 * @vc: the connection
 * @f: its RESUME_ACK
 *
 * Context: softirq; takes tx_lock.
 * Return: 0; -EPROTO if RESUME_ACK is not permitted now, or is invalid.
 */
int vresume_answer(struct vconn *vc, const struct sanx_frame *f)
{
	struct sanx_window_info win;
	struct vlink *link;
	u32 id;
	int err;

	if (sanx_resume_parse(f, &id, &win))
		return -EPROTO;
	link = vconn_lock(vc);
	err = resume_answers(vc) ? resume_take(vc, f, id, &win) : -EPROTO;
	if (err != -EPROTO)
		vxmit_pend(vc, 0);
	vxmit_unlock(link);
	return resume_tell(vc, err);
}

/**
 * vresume_refused() - the peer refuses to continue a connection
 * @vc: the connection
 *
 * The connection ends.  Its program gets ECONNRESET, unless it has closed.
 *
 * Context: softirq; takes tx_lock.
 * Return: 0; -EPROTO if no RESUME is unanswered.
 */
int vresume_refused(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);
	bool closed = vc->flags & VCONN_CLOSED;

	if (!resume_answers(vc)) {
		spin_unlock_bh(&link->tx_lock);
		return -EPROTO;
	}
	vconn_abort(vc);
	vxmit_run(link);
	vxmit_unlock(link);
	if (!closed)
		sanx_conn_reset(vconn_conn(vc), ECONNRESET);
	return 0;
}

/* Is this the connection that the peer asks for, and can it continue? */
static bool serve_known(struct vconn *vc, const struct vopen *o)
{
	const u32 never = VCONN_RELEASED | VCONN_OVER | VCONN_PEER_CLOSED |
			  VCONN_ACCEPTING;

	return vconn_accepted(vc) && vc->peer_id == o->peer_id &&
	       (vc->flags & VCONN_OPEN) && !(vc->flags & never);
}

/*
 * Return: 0 if the connection is suspended and can be attached; -EINPROGRESS if
 * the request waits in vc->parked until it is; -EPROTO if the connection is on
 * the link of the request, or another request of that link is parked already;
 * else the reason to refuse.
 */
static int serve_check(struct vconn *vc, struct vopen *o)
{
	struct vlink *link = vconn_lock(vc);
	int err = 0;

	if (!serve_known(vc, o)) {
		err = SANX_REJECT_DENIED;
	} else if (!(vc->flags & VCONN_SUSPENDED) &&
		   (link == o->link ||
		    (vc->parked && vc->parked->link == o->link))) {
		err = -EPROTO;
	} else if (!(vc->flags & VCONN_SUSPENDED)) {
		/*
		 * The peer asks on another link, so the link of the earlier
		 * request is lost.  vopen_work() drops the request.
		 */
		if (vc->parked)
			vopen_requeue(vc->parked);
		vc->parked = o;
		vlink_kill_locked(link, ETIMEDOUT);
		err = -EINPROGRESS;
	}
	spin_unlock_bh(&link->tx_lock);
	return err;
}

static int serve_attach(struct vconn *vc, const struct vopen *o)
{
	struct vlink *link = o->link;
	int err;

	/*
	 * -ENOTCONN: the link is going down and carries no refusal.  The peer
	 * asks again on the next link, so the connection stays.
	 */
	err = resume_attach(vc, link);
	if (err) {
		if (err != -ENOTCONN)
			vsuspend_reset(vc, ECONNRESET);
		return SANX_REJECT_DENIED;
	}
	spin_lock_bh(&link->tx_lock);
	err = resume_take(vc, &o->f, o->peer_id, &o->win);
	if (err != -EPROTO)
		vxmit_pend(vc, VCONN_P_RESUME_ACK);
	vxmit_unlock(link);
	return resume_tell(vc, err);
}

/**
 * vresume_serve() - the peer asks to continue a connection that it opened
 * @o: its request
 *
 * Context: the accept thread; takes vnet.lock, tx_lock.
 * Return: 0 if @o is done with; -EINPROGRESS if @o was parked, will be served
 * again, and does not belong to the caller any more; else the reason to refuse.
 */
int vresume_serve(struct vopen *o)
{
	struct vlink *link = o->link;
	struct vgroup *g = link->group;
	struct vconn *vc = vconn_find(g, o->f.conn);
	int err;

	if (!vc)
		return SANX_REJECT_DENIED;
	/* The peer does not know this id yet, so it guesses. */
	if (!READ_ONCE(vc->link)) {
		sanx_conn_put(vconn_conn(vc));
		return SANX_REJECT_DENIED;
	}
	mutex_lock(&g->vnet->lock);
	err = serve_check(vc, o);
	if (!err)
		err = serve_attach(vc, o);
	if (!err)
		g->resumed = jiffies;
	mutex_unlock(&g->vnet->lock);
	sanx_conn_put(vconn_conn(vc));
	if (err == -EPROTO) {
		sanx_count_protocol_error(g->vnet->net);
		vlink_kill(link, ECONNRESET);
		err = 0;
	}
	return err;
}
