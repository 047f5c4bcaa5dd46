// SPDX-License-Identifier: GPL-2.0
/* A connection gets on a link: with its id, its first memory and the module of its wire. */
#include "stream_priv.h"

/**
 * sanx_lconn_find() - find a connection by its id
 * @streams: the connections of the lane
 * @id: our id, as the peer sends it
 *
 * Context: any.
 * Return: the connection with a reference, or NULL.  It may be attached,
 * suspended, or neither any more.
 */
struct sanx_lconn *sanx_lconn_find(struct sanx_streams *streams, u32 id)
{
	struct sanx_lconn *lc;

	rcu_read_lock();
	lc = xa_load(&streams->ids, id);
	if (lc && !refcount_inc_not_zero(&lc->conn.refs))
		lc = NULL;
	rcu_read_unlock();
	return lc;
}

/**
 * sanx_lconn_pin() - use the module of a wire
 * @lc: the connection
 * @wire: the wire that it will use; or NULL, and it uses none
 *
 * A connection pins the module of the wire that it uses, or used last, so that it is not
 * unloaded while the connection is suspended.
 *
 * Context: any; calls for one connection are serialised.
 * Return: true; or false if the module is being removed, and nothing has changed.
 */
bool sanx_lconn_pin(struct sanx_lconn *lc, const struct sanx_wire_ops *wire)
{
	if (lc->wire == wire)
		return true;
	if (wire && !try_module_get(wire->owner))
		return false;
	if (lc->wire)
		module_put(lc->wire->owner);
	lc->wire = wire;
	return true;
}

/* Adds a connection to its link, for link_end() to find.  tx_lock held. */
void sanx_lconn_join(struct sanx_lconn *lc, struct sanx_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	sanx_lconn_set_owner(lc, SANX_OWNER_LINK);
	list_add_tail(&lc->node, &link->conns);
	WRITE_ONCE(link->n_conns, link->n_conns + 1);
	if (unlikely(sanx_conn_reserves(&lc->conn)))
		sanx_link_set_reserves(link);
}

/*
 * Moves a connection that is adrift to another link: sanx_lconn_lock() returns that from
 * here on.
 * Return: false if the program has closed it.
 */
static bool attach_switch(struct sanx_lconn *lc, struct sanx_link *link)
{
	struct sanx_link *old = sanx_lconn_lock(lc);
	bool adrift = sanx_lconn_is_adrift(&lc->state);

	if (adrift) {
		kref_get(&link->refs);
		/* Pairs with sanx_lconn_lock() and sanx_lconn_frame(). */
		smp_store_release(&lc->link, link);
	}
	spin_unlock_bh(&old->tx_lock);
	if (adrift)
		sanx_link_put(old);
	return adrift;
}

static bool attach_permitted(const struct sanx_lconn *lc,
			     const struct sanx_link *link)
{
	return link->state == SANX_LINK_UP &&
	       (lc->state.phase == SANX_LCONN_NEW ||
		sanx_lconn_is_adrift(&lc->state));
}

static int attach_publish(struct sanx_lconn *lc, struct sanx_link *link,
			  enum sanx_lconn_phase phase)
{
	int err = -ENOTCONN;

	if (lc->link && !attach_switch(lc, link))
		return err;
	spin_lock_bh(&link->tx_lock);
	if (attach_permitted(lc, link) && sanx_lconn_pin(lc, link->wire)) {
		lc->acked_at = jiffies;
		lc->resume_key = link->auth.resume;
		if (!lc->link) {
			kref_get(&link->refs);
			WRITE_ONCE(lc->link, link);
		}
		sanx_lconn_set_phase(lc, phase);
		sanx_conn_get(&lc->conn);
		refcount_inc(&link->users);
		sanx_lconn_join(lc, link);
		err = 0;
	}
	sanx_xmit_unlock(link);
	return err;
}

/**
 * sanx_lconn_attach() - attach a connection to a link
 * @lc: the connection, initialised
 * @link: the link; the caller has a reference, and lnet.lock or a user that
 *	keeps its device resources even if it is dying
 * @phase: SANX_LCONN_OPENING or SANX_LCONN_ACCEPTING
 *
 * Context: process, may sleep.
 * Return: 0, and the link has a reference of the connection until
 * lconn_release(); or -errno, and nothing has changed.
 */
int sanx_lconn_attach(struct sanx_lconn *lc, struct sanx_link *link,
		      enum sanx_lconn_phase phase)
{
	struct sanx_streams *streams = link->streams;
	int err;

	err = xa_alloc_cyclic_bh(&streams->ids, &lc->id, lc,
				 XA_LIMIT(1, SANX_IMM_CONN_MAX), &streams->next_id,
				 GFP_KERNEL);
	if (err < 0)
		return err;
	/* Before it can be released. */
	sanx_payer_conn_add(link->payer);
	err = sanx_rings_init(lc);
	if (!err)
		err = attach_publish(lc, link, phase);
	if (!err)
		return 0;
	sanx_payer_conn_del(link->payer);
	xa_erase_bh(&streams->ids, lc->id);
	sanx_rings_destroy(lc);
	return err;
}

static void conn_ask(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	/* The link may have ended meanwhile, and the connection with it. */
	if (lc->state.phase == SANX_LCONN_OPENING)
		sanx_ask_begin(lc);
	sanx_xmit_request(lc);
	sanx_xmit_unlock(link);
}

/**
 * sanx_lconn_open() - request a connection of the peer
 * @lc: the connection, initialised
 * @link: a link; the caller has a reference
 *
 * Context: process, may sleep.
 * Return: 0, and the answer will come; or -errno.
 */
int sanx_lconn_open(struct sanx_lconn *lc, struct sanx_link *link)
{
	int err = -ENOTCONN;

	/* A user keeps the device resources until the attach is done. */
	if (!refcount_inc_not_zero(&link->users))
		return err;
	if (READ_ONCE(link->state) == SANX_LINK_UP)
		err = sanx_lconn_attach(lc, link, SANX_LCONN_OPENING);
	sanx_link_user_put(link);
	if (!err)
		conn_ask(lc);
	return err;
}

/**
 * sanx_lconn_reopen() - request a connection again
 * @lc: the connection, to which the peer was busy, or whose link was lost
 *
 * A link that is going down takes its connections off, and then has the core ask again.
 *
 * Context: process, lock_sock() held.
 * Return: 0, and the answer will come, or another call; -EAGAIN if it is on no link, and
 * can be attached to any; -EHOSTUNREACH if its link has ended for good.
 */
int sanx_lconn_reopen(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	int err = 0;

	/* A retry that was due before may come late. */
	if (sanx_lconn_is_adrift(&lc->state)) {
		if (lc->owner != SANX_OWNER_LINK)
			err = -EAGAIN;
	} else if (sanx_lconn_is_over(&lc->state)) {
		err = -EHOSTUNREACH;
	} else if (lc->state.phase == SANX_LCONN_IDLE &&
		   link->state == SANX_LINK_UP) {
		sanx_lconn_set_phase(lc, SANX_LCONN_OPENING);
		sanx_ask_begin(lc);
		sanx_xmit_request(lc);
	}
	sanx_xmit_unlock(link);
	return err;
}
