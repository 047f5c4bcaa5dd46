// SPDX-License-Identifier: GPL-2.0
/*
 * Suspended connections: connections whose link was lost.
 *
 * A program notices nothing when a cable is cut or a peer falls silent, as with
 * TCP.  Its data waits, and the connection ends by keepalive, by
 * TCP_USER_TIMEOUT, or after as many retries as TCP would make.  So the
 * connections of a lost link (SANX_END_LOST) are suspended.  A
 * suspended connection keeps its id, its rings, and the payload that the peer
 * may not have.  It gives back everything that belongs to a device.  Both nodes
 * try for a new link while they have suspended connections (peer/retry.c), and continue
 * them there: resume.c.
 *
 * lnet.lock guards streams.suspended and .n_suspended, and lconn.wait_link, .lost, .passed and
 * .resume_req.
 */
#include <linux/sched/mm.h>

#include "stream_priv.h"

/*
 * Makes memory for bytes from @offset on, which were sent in frames, as if they had been
 * sent from there.  Without memory the connection becomes RESET, and so ends with its link.
 */
static void save_chunk(struct sanx_link *link, struct sanx_lconn *lc, u64 offset)
{
	struct sanx_chunk *c = sanx_chunk_alloc(lc, link, SANX_CHUNK_WINDOW, PAGE_SIZE,
						PAGE_SIZE, SANX_CLAIM_SAVED);

	spin_lock_bh(&link->tx_lock);
	/* Nobody else makes any for what was sent. */
	if (c)
		sanx_chunk_insert(lc, c, offset);
	else
		sanx_lconn_set_tx(lc, SANX_LCONN_TX_RESET);
	spin_unlock_bh(&link->tx_lock);
}

/*
 * Copies payload of a frame to chunks, but no byte before lc->acked: the peer has those.
 * Return: true; or false if there is no chunk for the byte at @offset.
 */
static bool save_payload(struct sanx_lconn *lc, const struct sanx_slot *slot, u64 *offset)
{
	const u8 *data = slot->buf + sizeof(struct sanx_frame_hdr);
	u64 from = max(slot->end - slot->len, lc->acked);
	u32 n, len;

	if (!slot->len || from >= slot->end || !sanx_lconn_survives(lc) ||
	    lc->state.tx == SANX_LCONN_TX_RESET)
		return true;
	len = slot->end - from;
	n = sanx_chunk_keep(lc, from, data + slot->len - len, len);
	*offset = from + n;
	return n == len;
}

static void save_slot(struct sanx_link *link, struct sanx_slot *slot)
{
	if (slot->lc && slot->posted)
		slot->lc->inflight--;
	sanx_slot_free(link, slot);
	slot->posted = false;
	slot->lc = NULL;
}

/* The frame that was sent first of those that are not acknowledged, or NULL. */
static struct sanx_slot *save_next(struct sanx_link *link)
{
	struct list_head *from = list_empty(&link->unacked) ? &link->posted :
							      &link->unacked;

	return list_first_entry_or_null(from, struct sanx_slot, node);
}

/**
 * sanx_suspend_save() - keep payload that the peer may not have received
 * @link: a link whose wire has stopped
 *
 * Afterwards all slots are free, and the payload of frames that were not
 * acknowledged is in the chunks of their connections.
 *
 * Context: process, may sleep; takes tx_lock.
 */
void sanx_suspend_save(struct sanx_link *link)
{
	/* If memory reclaim waits for the link, this must not wait for memory reclaim. */
	bool reserves = READ_ONCE(link->reserves);
	unsigned int was = reserves ? memalloc_noreclaim_save() : 0;
	struct sanx_slot *slot;
	struct sanx_lconn *lc;
	u64 offset;

	spin_lock_bh(&link->tx_lock);
	while ((slot = save_next(link))) {
		/* If it is released meanwhile, sanx_ack_forget() clears it. */
		lc = slot->lc;
		if (!lc || save_payload(lc, slot, &offset)) {
			save_slot(link, slot);
			continue;
		}
		sanx_conn_get(&lc->conn);
		spin_unlock_bh(&link->tx_lock);
		save_chunk(link, lc, offset);
		sanx_conn_put(&lc->conn);
		spin_lock_bh(&link->tx_lock);
	}
	spin_unlock_bh(&link->tx_lock);
	if (reserves)
		memalloc_noreclaim_restore(was);
}

/* FIN and CLOSE may be lost with the link, so they are sent again. */
static void suspend_pend_again(struct sanx_lconn *lc)
{
	lc->pending &= LCONN_P_FIN | LCONN_P_CLOSE;
	if (lc->state.tx == SANX_LCONN_TX_FIN)
		lc->pending |= LCONN_P_FIN;
	if (sanx_lconn_is_closed(&lc->state))
		lc->pending |= LCONN_P_CLOSE;
}

static bool suspend_detach(struct sanx_lconn *lc, struct sanx_link *link)
{
	bool ours;

	spin_lock_bh(&link->tx_lock);
	ours = sanx_lconn_survives(lc);
	if (ours) {
		sanx_lconn_set_phase(lc, SANX_LCONN_SUSPENDED);
		if (lc->state.close == SANX_LCONN_CLOSE_SENT)
			sanx_lconn_set_close(lc, SANX_LCONN_CLOSED);
		sanx_chunks_drop_unused(lc);
		sanx_chunks_unmap(lc);
		sanx_rings_lost(lc);
		suspend_pend_again(lc);
		list_del_init(&lc->wait_turn);
		list_del_init(&lc->wait_wake);
		sanx_lconn_set_owner(lc, SANX_OWNER_SUSPENDED);
		list_del_init(&lc->node);
		WRITE_ONCE(link->n_conns, link->n_conns - 1);
	}
	spin_unlock_bh(&link->tx_lock);
	return ours;
}

/*
 * Suspends a connection.  Takes lnet.lock, tx_lock.  @lc: an open connection; the caller has a
 * reference.
 *
 * The reference of the attachment becomes that of streams.suspended, and @link
 * loses a user.  Nothing happens if the connection was RELEASED or reset
 * meanwhile.
 */
void sanx_suspend_take(struct sanx_lconn *lc, struct sanx_link *link)
{
	struct sanx_streams *streams = link->streams;
	bool ours;

	mutex_lock(streams->lock);
	ours = suspend_detach(lc, link);
	if (ours) {
		sanx_lend_save(lc, false);
		sanx_rings_unmap(lc);
		sanx_rings_drop(lc);
		lc->lost = jiffies;
		lc->passed = 0;
		list_add_tail(&lc->wait_link, &streams->suspended);
		streams->n_suspended++;
		if (lc->resume_req)
			sanx_request_queue(lc->resume_req);
		lc->resume_req = NULL;
		mod_delayed_work(sanx_link_wq, &streams->retry, 0);
	}
	mutex_unlock(streams->lock);
	if (ours) {
		sanx_conn_suspended(&lc->conn);
		sanx_conn_quiet(&lc->conn);
		sanx_link_user_put(link);
	}
}

/**
 * sanx_suspend_serve() - have a request that waits in lc->resume_req served
 * @lc: a suspended connection; one without such a request is left alone
 *
 * Context: process, may sleep; lnet.lock held; takes tx_lock.
 */
void sanx_suspend_serve(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	if (lc->resume_req)
		sanx_request_queue(lc->resume_req);
	lc->resume_req = NULL;
	spin_unlock_bh(&link->tx_lock);
}

/**
 * sanx_suspend_serve_all() - likewise for all suspended connections of a lane
 * @streams: the connections of the lane
 *
 * Context: process, may sleep; lnet.lock held; takes tx_lock.
 */
void sanx_suspend_serve_all(struct sanx_streams *streams)
{
	struct sanx_lconn *lc;

	lockdep_assert_held(streams->lock);
	list_for_each_entry(lc, &streams->suspended, wait_link)
		sanx_suspend_serve(lc);
}

/*
 * Takes a suspended connection off the list, for good.  Takes lnet.lock.
 *
 * Puts the reference of streams.suspended.
 */
void sanx_suspend_release(struct sanx_lconn *lc)
{
	struct sanx_streams *streams = lc->link->streams;
	struct sanx_link *link;

	/*
	 * resume_attach() fails for a RELEASED connection, and leaves it
	 * unmapped.
	 */
	mutex_lock(streams->lock);
	sanx_lconn_set_owner(lc, SANX_OWNER_NONE);
	list_del_init(&lc->wait_link);
	streams->n_suspended--;
	link = sanx_lconn_lock(lc);
	sanx_chunks_over(lc);
	spin_unlock_bh(&link->tx_lock);
	sanx_suspend_serve(lc);
	mutex_unlock(streams->lock);
	sanx_conn_put(&lc->conn);
}

/**
 * sanx_suspend_reset() - end a suspended connection
 * @lc: the connection; valid until lnet.lock is released
 * @err: errno (positive) for its program
 *
 * Context: process, lnet.lock held; takes tx_lock.
 */
void sanx_suspend_reset(struct sanx_lconn *lc, int err)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool over = sanx_lconn_is_over(&lc->state);
	bool closed = sanx_lconn_is_closed(&lc->state);

	if (!over)
		sanx_lconn_abort(lc);
	spin_unlock_bh(&link->tx_lock);
	if (!over && !closed)
		sanx_conn_reset(&lc->conn, err);
}

/**
 * sanx_suspend_reset_all() - end all suspended connections of a lane
 * @streams: the connections of the lane
 * @err: errno (positive) for their programs
 *
 * Context: process, lnet.lock held; takes tx_lock.
 */
void sanx_suspend_reset_all(struct sanx_streams *streams, int err)
{
	struct sanx_lconn *lc, *next;

	lockdep_assert_held(streams->lock);
	list_for_each_entry_safe(lc, next, &streams->suspended, wait_link)
		sanx_suspend_reset(lc, err);
}
