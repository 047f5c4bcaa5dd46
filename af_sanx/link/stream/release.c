// SPDX-License-Identifier: GPL-2.0
/*
 * A connection leaves its link: because it is over, or because the link ends.
 *
 * A connection stays attached until its last frame has been completed, and with it all
 * frames before.  When a link is lost, connections that are not over are suspended
 * (suspend.c) and lose no bytes.
 */
#include "config/cov.h"
#include "stream_priv.h"

/* The peer may use its id for another connection from here on. */
static void release_id(struct sanx_lconn *lc, struct sanx_link *link)
{
	xa_erase_bh(&link->streams->ids, lc->id);
	sanx_payer_conn_del(link->payer);
	/*
	 * The worker may wait for memory for a ring, with a reference.  Nobody
	 * needs a ring now, and the namespace may be gone by then.
	 */
	if (cancel_delayed_work(&lc->grow))
		sanx_conn_put(&lc->conn);
}

static void release_attached(struct sanx_lconn *lc, struct sanx_link *link)
{
	if (lc->resume_req)
		sanx_request_queue(lc->resume_req);
	sanx_rings_unmap(lc);
	/* One that is adrift begins anew. */
	if (sanx_lconn_is_adrift(&lc->state))
		sanx_rings_destroy(lc);
	spin_lock_bh(&link->tx_lock);
	list_del_init(&lc->wait_turn);
	list_del_init(&lc->wait_answer);
	list_del_init(&lc->wait_wake);
	sanx_chunks_over(lc);
	sanx_lconn_set_owner(lc, SANX_OWNER_NONE);
	list_del_init(&lc->node);
	if (lc->acked != lc->posted)
		sanx_ack_forget(lc);
	WRITE_ONCE(link->n_conns, link->n_conns - 1);
	spin_unlock_bh(&link->tx_lock);
	sanx_link_user_put(link);
	sanx_conn_put(&lc->conn);
}

/*
 * Detaches a connection from its link.
 *
 * On return our ring may still be read, but no device can write it.  The link's
 * reference of the connection is put.
 */
static void lconn_release(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	enum sanx_lconn_owner owner = lc->owner;

	spin_unlock_bh(&link->tx_lock);
	release_id(lc, link);
	if (owner == SANX_OWNER_LINK)
		release_attached(lc, link);
	else
		sanx_suspend_release(lc);
}

static void release_work(struct work_struct *work)
{
	struct sanx_lconn *lc = container_of(work, struct sanx_lconn, work);
	bool cov = sanx_cov_start(lc->conn.net);

	lconn_release(lc);
	sanx_cov_stop(cov);
}

/**
 * sanx_lconn_init() - initialise the transport's part of a connection
 * @lc: zeroed, or refused before; not attached
 *
 * Context: process.
 */
void sanx_lconn_init(struct sanx_lconn *lc)
{
	INIT_LIST_HEAD(&lc->wait_link);
	INIT_LIST_HEAD(&lc->wait_turn);
	INIT_LIST_HEAD(&lc->wait_answer);
	INIT_LIST_HEAD(&lc->wait_wake);
	INIT_LIST_HEAD(&lc->node);
	INIT_LIST_HEAD(&lc->chunks);
	INIT_WORK(&lc->work, release_work);
	INIT_DELAYED_WORK(&lc->grow, sanx_rings_work);
	lc->state = (struct sanx_lconn_state){};
}

/*
 * Can a connection continue on another link?  tx_lock held.
 *
 * It cannot if the link was not lost but ended, or if the connection is not
 * open, was reset, or was closed by the peer.
 *
 * Return: true if it can.
 */
bool sanx_lconn_survives(const struct sanx_lconn *lc)
{
	return outcome_of_end(lc->link->why, &lc->state, lc->asks) == OUTCOME_SUSPENDED;
}

static enum outcome fail_outcome(struct sanx_lconn *lc)
{
	enum outcome then = outcome_of_end(lc->link->why, &lc->state, lc->asks);

	if (then == OUTCOME_SUSPENDED)
		return then;
	lc->pending = 0;
	if (then == OUTCOME_ENDS) {
		sanx_lconn_set_released(lc);
		return then;
	}
	sanx_lconn_set_phase(lc, SANX_LCONN_ADRIFT);
	lc->asks++;
	return then;
}

/*
 * Finds the next connection of a link that is not RELEASED.  If it does not survive, it is
 * for the caller to release.
 * Return: the connection with a reference, or NULL.
 */
static struct sanx_lconn *fail_next(struct sanx_link *link, enum outcome *then,
				    struct sanx_lconn_state *before)
{
	struct sanx_lconn *lc;

	spin_lock_bh(&link->tx_lock);
	list_for_each_entry(lc, &link->conns, node) {
		if (lc->state.phase == SANX_LCONN_RELEASED)
			continue;
		*before = lc->state;
		*then = fail_outcome(lc);
		sanx_conn_get(&lc->conn);
		spin_unlock_bh(&link->tx_lock);
		return lc;
	}
	spin_unlock_bh(&link->tx_lock);
	return NULL;
}

static void fail_conn(struct sanx_lconn *lc,
		      const struct sanx_lconn_state *before, int err)
{
	struct sanx_conn *conn = &lc->conn;

	if (sanx_lconn_is_closed(before))
		;	/* closed: no program to inform */
	else if (sanx_lconn_may_ask_again(before))
		sanx_conn_refused(conn, SANX_FALLBACK_LINK);
	else if (sanx_lconn_was_open(before) &&
		 before->rx != SANX_LCONN_RX_CLOSED)
		sanx_conn_reset(conn, err);
	lconn_release(lc);
}

static void fail_adrift(struct sanx_lconn *lc, struct sanx_link *link)
{
	release_id(lc, link);
	release_attached(lc, link);
	sanx_conn_again(&lc->conn);
}

/**
 * sanx_lconn_fail_all() - take all connections off a link
 * @link: a link whose wire has stopped and whose slots are free
 *
 * Context: process, may sleep.
 */
void sanx_lconn_fail_all(struct sanx_link *link)
{
	struct sanx_lconn_state before;
	struct sanx_lconn *lc;
	enum outcome then;

	while ((lc = fail_next(link, &then, &before))) {
		/* If it no longer survives, it is found again and fails. */
		if (then == OUTCOME_SUSPENDED)
			sanx_suspend_take(lc, link);
		else if (then == OUTCOME_ADRIFT)
			fail_adrift(lc, link);
		else
			fail_conn(lc, &before, -sanx_link_errno(link));
		sanx_conn_put(&lc->conn);
	}
}

static void destroy_work(struct work_struct *work)
{
	struct sanx_lconn *lc = container_of(work, struct sanx_lconn, work);

	sanx_chunks_free(lc);
	sanx_rings_destroy(lc);
	sanx_conn_free(&lc->conn);
}

/**
 * sanx_lconn_destroy() - sanx_transport_ops.destroy
 * @conn: the connection, not attached any more
 *
 * Context: any.
 */
void sanx_lconn_destroy(struct sanx_conn *conn)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);

	sanx_lconn_pin(lc, NULL);
	if (lc->link)
		sanx_link_put(lc->link);
	if (sanx_rings_destroy_sleeps(lc)) {
		INIT_WORK(&lc->work, destroy_work);
		queue_work(sanx_lconn_wq, &lc->work);
		return;
	}
	destroy_work(&lc->work);
}
