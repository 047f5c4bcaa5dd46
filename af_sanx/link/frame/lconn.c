// SPDX-License-Identifier: GPL-2.0
/*
 * What frames need of a connection: the link that it is on, its token, and whether anything
 * is left to send or receive.
 */
#include "frames.h"

/**
 * sanx_lconn_lock() - lock the current or last link of a connection
 * @lc: a connection that is, or was, attached
 *
 * RCU keeps the memory of the link until its lock is taken.  The link is
 * checked again then, because lc->link may have changed; it changes only under
 * the tx_lock of the old link.
 *
 * Context: any.
 * Return: the link, with tx_lock held; lc->link does not change until the
 * caller releases it.
 */
struct sanx_link *sanx_lconn_lock(struct sanx_lconn *lc)
	__acquires(&lc->link->tx_lock)
{
	struct sanx_link *link;

	rcu_read_lock();
again:
	/* Pairs with smp_store_release() in resume_switch(). */
	link = smp_load_acquire(&lc->link);
	spin_lock_bh(&link->tx_lock);
	if (unlikely(link != READ_ONCE(lc->link))) {
		spin_unlock_bh(&link->tx_lock);
		goto again;
	}
	rcu_read_unlock();
	return link;
}

/**
 * sanx_lconn_link_get() - get the current or last link of a connection, as a
 * user
 * @lc: a connection that is, or was, attached
 *
 * The link keeps its device resources until the caller calls
 * sanx_link_user_put().
 *
 * Context: any.
 * Return: the link, or NULL if it has no users any more.
 */
struct sanx_link *sanx_lconn_link_get(struct sanx_lconn *lc)
{
	struct sanx_link *link;

	rcu_read_lock();
	link = READ_ONCE(lc->link);
	if (!refcount_inc_not_zero(&link->users))
		link = NULL;
	rcu_read_unlock();
	return link;
}

/**
 * sanx_lconn_token() - the token of a connection
 * @lc: a connection that both ends know
 * @link: the link that it is to continue on
 * @ours: what we show in RESUME or RESUME_ACK; else what the peer shows
 *
 * Context: any.
 * Return: the token.
 */
u64 sanx_lconn_token(struct sanx_lconn *lc, const struct sanx_link *link,
		     bool ours)
{
	bool acceptor = sanx_lconn_accepted(lc);

	return sanx_auth_token(&lc->resume_key, &link->auth.resume,
			       acceptor ? lc->peer_id : lc->id,
			       acceptor == ours);
}

static bool conn_over(const struct sanx_lconn *lc)
{
	return !lc->pending && !lc->inflight &&
	       sanx_lconn_has_ended(&lc->state);
}

/**
 * sanx_lconn_set_released() - a connection is over
 * @lc: an attached or suspended connection; the caller arranges for lconn_release()
 *
 * One that was closed before is not counted any more; one that is closed later never is
 * (close_attached()).
 *
 * Context: tx_lock held.
 */
void sanx_lconn_set_released(struct sanx_lconn *lc)
{
	if (sanx_lconn_is_closed(&lc->state))
		atomic_dec(&sanx_net(lc->conn.net)->n_orphans);
	sanx_lconn_set_phase(lc, SANX_LCONN_RELEASED);
}

/**
 * sanx_lconn_check_over() - release a connection if nothing is left to send or
 * receive
 * @lc: an attached connection
 *
 * Context: tx_lock held.
 */
void sanx_lconn_check_over(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	if (lc->state.phase == SANX_LCONN_RELEASED || !conn_over(lc))
		return;
	sanx_lconn_set_released(lc);
	queue_work(sanx_lconn_wq, &lc->work);
}

/**
 * sanx_lconn_abort() - end a connection without another frame
 * @lc: a connection that the peer does not know, or has refused; or one that is
 *	suspended and will not be resumed
 *
 * Context: tx_lock held.
 */
void sanx_lconn_abort(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	if (!sanx_lconn_is_over(&lc->state))
		sanx_lconn_set_phase(lc, SANX_LCONN_OVER);
	lc->pending = 0;
	list_del_init(&lc->wait_turn);
	sanx_lconn_check_over(lc);
}
