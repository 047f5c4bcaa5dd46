// SPDX-License-Identifier: GPL-2.0
/*
 * Connections on a link, from attach to release.
 *
 * End of a connection: FIN ends one direction.  CLOSE says that its sender
 * neither sends nor reads any more.  The peer answers CLOSE_ACK at once,
 * whatever its program does, and promises to write and send nothing more.  So
 * the side that closes can reuse its ring and its id after one round trip.  The
 * side that answers sends no CLOSE of its own later, because nobody would read
 * it.  If both sides send CLOSE at once, both answer.  A connection stays
 * attached until its last frame has been completed, and with it all frames
 * before.
 *
 * When a link is lost, connections that are not over are suspended (suspend.c)
 * and lose no bytes.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "config/cov.h"
#include "internal.h"

/*
 * How long a closed connection waits for a live peer that does not read, in
 * jiffies.
 */
#define UNREAD_MAX	(15 * 60 * HZ)
/* The same for one that is LAST: its peer makes no ring, and does not read. */
#define LAST_MAX	(2 * HZ)
/* The longest time between two calls of sanx_lconn_sweep(), in jiffies. */
#define SWEEP_EVERY	(60 * HZ)

static void release_work(struct work_struct *work)
{
	struct sanx_lconn *lc = container_of(work, struct sanx_lconn, work);
	bool cov = sanx_cov_start(lc->conn.net);

	sanx_lconn_release(lc);
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
	INIT_LIST_HEAD(&lc->wait);
	INIT_LIST_HEAD(&lc->pend);
	INIT_LIST_HEAD(&lc->ask);
	INIT_LIST_HEAD(&lc->room);
	INIT_LIST_HEAD(&lc->node);
	INIT_LIST_HEAD(&lc->chunks);
	INIT_WORK(&lc->work, release_work);
	INIT_DELAYED_WORK(&lc->grow, sanx_rings_work);
	lc->state = (struct sanx_lconn_state){};
}

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
 * sanx_lconn_find() - find a connection by its id
 * @lane: the lane
 * @id: our id, as the peer sends it
 *
 * Context: any.
 * Return: the connection with a reference, or NULL.  It may be attached,
 * suspended, or neither any more.
 */
struct sanx_lconn *sanx_lconn_find(struct sanx_lane *lane, u32 id)
{
	struct sanx_lconn *lc;

	rcu_read_lock();
	lc = xa_load(&lane->ids, id);
	if (lc && !refcount_inc_not_zero(&lc->conn.refs))
		lc = NULL;
	rcu_read_unlock();
	return lc;
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

/**
 * sanx_lconn_join() - add a connection to its link, for link_end() to find
 * @lc: a connection with the module of the wire; its rings, if any, are mapped for
 *	@link
 * @link: a link that is up
 *
 * Context: tx_lock held.
 */
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
 * sanx_lconn_release(); or -errno, and nothing has changed.
 */
int sanx_lconn_attach(struct sanx_lconn *lc, struct sanx_link *link,
		      enum sanx_lconn_phase phase)
{
	struct sanx_lane *lane = link->lane;
	int err;

	err = xa_alloc_cyclic_bh(&lane->ids, &lc->id, lc,
				 XA_LIMIT(1, SANX_IMM_CONN_MAX), &lane->next_id,
				 GFP_KERNEL);
	if (err < 0)
		return err;
	/* Before it can be released. */
	sanx_bounds_conn_add(link->peer);
	err = sanx_rings_init(lc);
	if (!err)
		err = attach_publish(lc, link, phase);
	if (!err)
		return 0;
	sanx_bounds_conn_del(link->peer);
	xa_erase_bh(&lane->ids, lc->id);
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

static bool conn_over(const struct sanx_lconn *lc)
{
	return !lc->pending && !lc->inflight &&
	       sanx_lconn_has_ended(&lc->state);
}

static struct sanx_lnet *conn_lnet(const struct sanx_lconn *lc)
{
	return lc->link->peer->lnet;
}

/*
 * The caller arranges for sanx_lconn_release().  One that was closed before is not
 * counted any more; one that is closed later never is (close_attached()).
 */
static void conn_set_released(struct sanx_lconn *lc)
{
	if (sanx_lconn_is_closed(&lc->state))
		atomic_dec(&conn_lnet(lc)->orphans);
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
	conn_set_released(lc);
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
	list_del_init(&lc->pend);
	sanx_lconn_check_over(lc);
}

/* The peer may use its id for another connection from here on. */
static void release_id(struct sanx_lconn *lc, struct sanx_link *link)
{
	xa_erase_bh(&link->lane->ids, lc->id);
	sanx_bounds_conn_del(link->peer);
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
	list_del_init(&lc->pend);
	list_del_init(&lc->ask);
	list_del_init(&lc->room);
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

/**
 * sanx_lconn_release() - detach a connection from its link
 * @lc: a connection that the caller has marked RELEASED; called once
 *
 * On return our ring may still be read, but no device can write it.  The link's
 * reference of the connection is put.
 *
 * Context: process, may sleep.
 */
void sanx_lconn_release(struct sanx_lconn *lc)
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

/**
 * sanx_lconn_survives() - can a connection continue on another link?
 * @lc: a connection whose link ends
 *
 * It cannot if the link was not lost but ended, or if the connection is not
 * open, was reset, or was closed by the peer.
 *
 * Context: tx_lock held.
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
		conn_set_released(lc);
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
	sanx_lconn_release(lc);
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

/*
 * Counts a connection that is being closed.  As with tcp_max_orphans, one that is
 * too many is reset: a peer that does not read, or does not answer CLOSE, could
 * have any number of them here, beyond the limits of the programs that made them.
 * Return: true if it is one too many.
 */
static bool close_count(struct sanx_lconn *lc)
{
	struct sanx_lnet *lnet = conn_lnet(lc);

	lockdep_assert_held(&lc->link->tx_lock);
	if (lc->state.phase == SANX_LCONN_RELEASED ||
	    atomic_inc_return(&lnet->orphans) <=
	    READ_ONCE(sanx_net(lnet->net)->max_orphans))
		return false;
	pr_notice_ratelimited("net.sanx.max_orphans is reached: a connection to node %u is reset\n",
			      lc->link->peer->id);
	return true;
}

/* Do bytes wait for room at the peer? */
static bool close_has_rest(const struct sanx_lconn *lc)
{
	return lc->pending & LCONN_P_DATA;
}

/* Does the peer get bytes before a reset?  What is corked, TCP would not have sent by now. */
static bool close_has_last(struct sanx_lconn *lc)
{
	if (!sanx_lconn_is_open(&lc->state))
		return false;
	if (READ_ONCE(lc->conn.hold.state) != SANX_HELD_CORKED)
		sanx_xmit_announce(lc);
	return close_has_rest(lc);
}

/* The next sweep is at @when, in jiffies, or before. */
static void sweep_by(struct sanx_link *link, unsigned long when)
{
	if (!time_before(when, link->next_sweep))
		return;
	link->next_sweep = when;
	sanx_beat_use(link);
}

static void close_last(struct sanx_lconn *lc)
{
	sanx_lconn_set_tx(lc, SANX_LCONN_TX_LAST);
	lc->acked_at = jiffies;
	sweep_by(lc->link, jiffies + LAST_MAX + 1);
}

/*
 * @tx: how our direction ends: in order (STREAM), or by a reset, with (LAST) or without
 *	(RESET) the bytes that were taken before
 */
static void close_attached(struct sanx_lconn *lc, enum sanx_lconn_tx tx)
{
	lockdep_assert_held(&lc->link->tx_lock);
	if (sanx_lconn_is_closed(&lc->state))
		return;
	/* It is on no link, or link_end() takes it off. */
	if (sanx_lconn_is_adrift(&lc->state)) {
		sanx_lconn_set_close(lc, SANX_LCONN_CLOSED);
		sanx_lconn_set_phase(lc, SANX_LCONN_RELEASED);
		return;
	}
	if (close_count(lc) || (tx == SANX_LCONN_TX_LAST && !close_has_last(lc)))
		tx = SANX_LCONN_TX_RESET;
	sanx_lconn_set_close(lc, SANX_LCONN_CLOSED);
	if (tx == SANX_LCONN_TX_LAST)
		close_last(lc);
	else if (tx == SANX_LCONN_TX_RESET)
		sanx_lconn_set_tx(lc, tx);
	lc->pending &= ~LCONN_P_CREDIT;
	lc->acked_at = jiffies;
	list_del_init(&lc->room);
	sanx_chunks_drop_unused(lc);
	if (sanx_lconn_is_over(&lc->state) ||
	    lc->state.rx == SANX_LCONN_RX_CLOSED)
		return;
	/*
	 * We refuse the peer's RESUME; if RESUME is up to us, the peer gives
	 * the connection up after RESUME_MAX.
	 */
	if (lc->state.phase == SANX_LCONN_SUSPENDED && tx == SANX_LCONN_TX_RESET) {
		sanx_lconn_abort(lc);
		return;
	}
	if (sanx_lconn_was_open(&lc->state)) {
		if (tx != SANX_LCONN_TX_STREAM)
			lc->pending &= ~LCONN_P_FIN;
		if (tx == SANX_LCONN_TX_RESET)
			lc->pending &= ~LCONN_P_DATA;
		else if (tx == SANX_LCONN_TX_STREAM)
			sanx_xmit_announce(lc);
		sanx_xmit_pend(lc, LCONN_P_CLOSE);
		return;
	}
	/* An OPEN that was sent is answered first. */
	if (lc->state.phase != SANX_LCONN_OPEN_SENT)
		sanx_lconn_abort(lc);
}

/**
 * sanx_lconn_last_words() - the peer sends to a connection whose program has closed it
 * @lc: an attached connection that is CLOSED
 *
 * It gets a reset, as from TCP, behind the bytes that it has room for.
 *
 * Context: tx_lock held, to be released by sanx_xmit_unlock().
 */
void sanx_lconn_last_words(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	if (!close_has_rest(lc))
		return;
	lc->pending &= ~LCONN_P_FIN;
	if (!sanx_lconn_is_cut(&lc->state))
		close_last(lc);
	sanx_xmit_pend(lc, LCONN_P_CLOSE);
}

/* How long does it wait for its peer, in jiffies? */
static unsigned long close_most(const struct sanx_lconn *lc)
{
	return lc->state.tx == SANX_LCONN_TX_LAST && close_has_rest(lc) ? LAST_MAX : UNREAD_MAX;
}

/* The peer gets a reset, and nothing before it. */
static void close_drop(struct sanx_lconn *lc)
{
	lc->pending &= ~(LCONN_P_DATA | LCONN_P_FIN);
	sanx_lconn_set_tx(lc, SANX_LCONN_TX_RESET);
	sanx_xmit_pend(lc, LCONN_P_CLOSE);
}

/**
 * sanx_lconn_cut_locked() - send nothing more of a connection but a reset
 * @lc: an attached connection; its program may have closed it
 *
 * Context: tx_lock held, to be released by sanx_xmit_unlock().
 */
void sanx_lconn_cut_locked(struct sanx_lconn *lc)
{
	close_attached(lc, SANX_LCONN_TX_RESET);
	/* The program had closed it in order: that becomes a reset. */
	if (!sanx_lconn_is_mute(&lc->state))
		close_drop(lc);
}

/**
 * sanx_lconn_sweep() - give up closed connections whose peers do not read
 * @link: the link
 *
 * TCP keeps such connections until there are too many (tcp_max_orphans).  No
 * tool can end these, so they also have a time limit (UNREAD_MAX).  One that has
 * no bytes to send waits for an answer that does not depend on the peer's
 * program, so its peer is at fault, and the link ends.
 *
 * Context: tx_lock held, to be released by sanx_xmit_unlock().
 */
void sanx_lconn_sweep(struct sanx_link *link)
{
	struct sanx_lconn *lc;
	unsigned long due;

	lockdep_assert_held(&link->tx_lock);
	link->next_sweep = jiffies + SWEEP_EVERY;
	list_for_each_entry(lc, &link->conns, node) {
		if (!sanx_lconn_is_closed(&lc->state))
			continue;
		due = lc->acked_at + close_most(lc) + 1;
		sweep_by(link, due);
		if (time_before(jiffies, due))
			continue;
		lc->acked_at = jiffies;
		if (close_has_rest(lc)) {
			close_drop(lc);
			continue;
		}
		sanx_count_protocol_error(link->peer->lnet->net);
		sanx_link_kill_locked(link, SANX_END_FAULT);
		return;
	}
}

/**
 * sanx_lconn_close() - sanx_transport_ops.close
 * @conn: the connection
 * @reset: as there
 *
 * Context: process, may sleep; takes tx_lock.
 */
void sanx_lconn_close(struct sanx_conn *conn, bool reset)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link;

	/* sanx_lane_link_up() may attach a waiting connection at any time. */
	if ((!READ_ONCE(lc->link) || sanx_lconn_is_adrift(&lc->state)) &&
	    sanx_lane_cancel(lc))
		return;
	if (!READ_ONCE(lc->link))
		return;
	link = sanx_lconn_lock(lc);
	close_attached(lc, reset ? SANX_LCONN_TX_LAST : SANX_LCONN_TX_STREAM);
	sanx_xmit_unlock(link);
}

/**
 * sanx_lconn_cut() - sanx_transport_ops.abort
 * @conn: the connection
 *
 * Context: any; takes tx_lock.
 */
void sanx_lconn_cut(struct sanx_conn *conn)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);

	close_attached(lc, SANX_LCONN_TX_RESET);
	sanx_xmit_unlock(link);
}

/**
 * sanx_lconn_reset_unread() - reset a connection, for bytes that nobody will
 * read
 * @lc: a connection that is sanx_conn_discards()
 *
 * Later, close() by the program has nothing left to do.  Nothing is done if it has closed it
 * meanwhile.
 *
 * Context: softirq; takes tx_lock.
 */
void sanx_lconn_reset_unread(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool closed = sanx_lconn_is_closed(&lc->state);

	close_attached(lc, SANX_LCONN_TX_LAST);
	sanx_xmit_unlock(link);
	if (!closed)
		sanx_conn_reset(conn, ECONNRESET);
}

/**
 * sanx_lconn_liveness() - sanx_transport_ops.liveness
 * @conn: the connection
 * @report: as there
 *
 * Context: any; takes tx_lock.
 */
void sanx_lconn_liveness(struct sanx_conn *conn,
			 struct sanx_liveness_report *report)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);

	report->heard = sanx_link_heard(link);
	report->lost = sanx_lconn_is_lost(&lc->state) ||
		       link->state != SANX_LINK_UP || sanx_link_quiet(link);
	report->unacked = lc->acked != lc->announced ||
			  (lc->pending & LCONN_P_FIN);
	report->acked = lc->acked_at;
	spin_unlock_bh(&link->tx_lock);
}

/**
 * sanx_lconn_probe() - sanx_transport_ops.probe
 * @conn: the connection
 *
 * Context: any; takes tx_lock.
 */
void sanx_lconn_probe(struct sanx_conn *conn)
{
	struct sanx_link *link = sanx_lconn_lock(sanx_lconn_of(conn));

	sanx_link_ask(link);
	sanx_xmit_unlock(link);
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
