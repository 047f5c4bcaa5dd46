// SPDX-License-Identifier: GPL-2.0
/*
 * A connection goes on by another link.
 *
 * Who opened it asks, with RESUME, once there is a link to the same peer.  Each
 * side tells what it has received of the other's stream, where its ring is now,
 * and how much of it is free.  What the other has not received is then written
 * again from the staging memory.  A byte has its place in the stream, so that
 * none is lost and none comes twice (Documentation/protocol.rst, "Resuming").
 *
 * The peer may ask before this node has noticed that the old link is lost.
 * That it asks is proof, so the old link is taken down, and the request waits
 * until it is gone: what came by it counts, and nothing more can come.
 */
#include "verbs.h"

static int resume_map(struct vconn *vc, struct vlink *link)
{
	u64 iova = (u64)vc->id << 32;
	int err;

	if (link->early && !vstaging_early_ok(vc))
		return -EMSGSIZE;
	vgrow_settle(vc);
	err = vc->ring.buf ? vring_map(&vc->ring, link, iova) : 0;
	if (!err && vc->staging.buf)
		err = vring_map(&vc->staging, link, iova);
	return err;
}

static void resume_unmap(struct vconn *vc)
{
	vgrow_unmap(vc);
	vring_unmap(&vc->staging);
}

/* From here on, vconn_lock() finds the new link. */
static int resume_switch(struct vconn *vc, struct vlink *link)
{
	struct vlink *old = vconn_lock(vc);
	int err = -ENOTCONN;

	if (!(vc->flags & VCONN_RELEASED)) {
		list_del_init(&vc->room);
		kref_get(&link->refs);
		/* Pairs with the acquire in vconn_lock(). */
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
		vc->flags &= ~VCONN_ORPHAN;
		vc->flags |= VCONN_RESUMING;
		vconn_join(vc, link);
		err = 0;
	}
	vxmit_unlock(link);
	return err;
}

/*
 * Puts an orphan on a link; under vnet.lock.  If that fails it is an orphan
 * still, unless it was released, and then vorphan_release() waits for us.
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
	g->n_orphans--;
	vgrow_resumed(vc);
	return 0;
}

/**
 * vresume_ask() - ask the peer to go on with a connection that we opened
 * @vc: an orphan
 * @link: a link that is up
 *
 * Context: process, may sleep; vnet.lock held.
 * Return: 0, and the answer will come; or -errno, and it is an orphan still.
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
 * What the peer has received lies between what it has said to have, or to have
 * read, and what was sent on the link that was lost.  It may be less than what its
 * device has acknowledged: that can die before memory has it.  Then the stream has
 * a hole, as nobody has kept that.
 */
static int resume_offset(const struct vconn *vc, const struct sanx_frame *f)
{
	const struct sanx_conn *conn = vconn_conn((struct vconn *)vc);

	if (f->offset < max(conn->tx.read, vc->said) || f->offset > vc->posted ||
	    (f->flags & SANX_FRAME_F_FIN &&
	     (!(vc->flags & VCONN_FIN_SENT) || f->offset != conn->tx.next)))
		return -EPROTO;
	if (f->offset < vstaging_first(vc) ||
	    (f->offset < vc->end && !vc->staging.buf))
		return -ECONNRESET;
	return 0;
}

/*
 * Takes what the peer says of itself; vxmit_pend() is to follow, if only for what
 * is pending.
 * Return: 0; -EPROTO if no correct peer says that; -ECONNRESET if there is a hole:
 * the peer will be told, and our program is to be.
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
	vc->turned = false;
	vc->returned = false;
	err = resume_offset(vc, f);
	if (err == -EPROTO || sanx_txq_credit(&conn->tx, f->credit) < 0)
		return -EPROTO;
	vc->said = f->offset;
	vc->full = false;
	vc->unsignaled = 0;
	if (err) {
		pr_debug("node %u lacks what it acknowledged of connection %u\n",
			 vc->link->group->peer, vc->id);
		/* As it is RESUMING, a RESUME_ACK can go before that. */
		vconn_cut_locked(vc);
		vc->flags &= ~VCONN_RESUMING;
		return err;
	}
	WRITE_ONCE(vc->acked, f->offset);
	WRITE_ONCE(vc->sure, f->offset);
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

/* The program is told how resume_take() went. */
static int resume_tell(struct vconn *vc, int err)
{
	if (!err)
		vspill_tx_ready(vc);
	else if (err == -ECONNRESET)
		sanx_conn_reset(vconn_conn(vc), ECONNRESET);
	return err == -ECONNRESET ? 0 : err;
}

/* An answer to RESUME, if one is due. */
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
 * vresume_answer() - the peer goes on with a connection
 * @vc: the connection
 * @f: its RESUME_ACK
 *
 * Context: softirq.
 * Return: 0, or -EPROTO if no correct peer says that now.
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
 * vresume_refused() - the peer does not know a connection any more
 * @vc: the connection
 *
 * Context: softirq.
 * Return: 0, or -EPROTO if it was not asked.
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

/* Is it the connection that the peer means, and is it one to go on with? */
static bool serve_known(struct vconn *vc, const struct vopen *o)
{
	const u32 never = VCONN_RELEASED | VCONN_OVER | VCONN_PEER_CLOSED |
			  VCONN_ACCEPTING;

	return vconn_accepted(vc) && vc->peer_id == o->peer_id &&
	       (vc->flags & VCONN_OPEN) && !(vc->flags & never);
}

/*
 * Return: 0 if it is an orphan, to be attached; -EINPROGRESS if the request
 * waits for that; -EPROTO if it is on the link that it comes by; else the
 * reason to refuse.
 */
static int serve_check(struct vconn *vc, struct vopen *o)
{
	struct vlink *link = vconn_lock(vc);
	int err = 0;

	if (!serve_known(vc, o)) {
		err = SANX_REJECT_DENIED;
	} else if (!(vc->flags & VCONN_ORPHAN) &&
		   (link == o->link ||
		    (vc->parked && vc->parked->link == o->link))) {
		err = -EPROTO;
	} else if (!(vc->flags & VCONN_ORPHAN)) {
		/* The link of an earlier one is gone, too. */
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

	/* On a link that goes the refusal does not, and the peer asks again. */
	err = resume_attach(vc, link);
	if (err) {
		if (err != -ENOTCONN)
			vorphan_reset(vc, ECONNRESET);
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
 * vresume_serve() - the peer asks to go on with a connection that it opened
 * @o: its request
 *
 * Context: the accept thread.
 * Return: 0 if there is nothing more to do with @o, -EINPROGRESS if it will be
 * served again and is not the caller's any more, else the reason to refuse.
 */
int vresume_serve(struct vopen *o)
{
	struct vlink *link = o->link;
	struct vgroup *g = link->group;
	struct vconn *vc = vconn_find(g, o->f.conn);
	int err;

	if (!vc)
		return SANX_REJECT_DENIED;
	/* Nobody was told its id yet: the peer guesses. */
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
