// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection.
 *
 * FIN ends one direction.  CLOSE says that its sender neither sends nor reads any more.
 * The peer answers CLOSE_ACK at once, whatever its program does, and promises to write and
 * send nothing more.  So the side that closes can reuse its ring and its id after one round
 * trip.  The side that answers sends no CLOSE of its own later, because nobody would read
 * it.  If both sides send CLOSE at once, both answer.
 */
#include "stream_priv.h"

/*
 * How long a closed connection waits for a live peer that does not read, in
 * jiffies.
 */
#define UNREAD_MAX	(15 * 60 * HZ)
/*
 * The same if it has pages of programs.  io_uring waits for them when a program has ended, and
 * complains after five minutes.
 */
#define LENT_MAX	(4 * 60 * HZ)
/* The same for one that is LAST: its peer makes no ring, and does not read. */
#define LAST_MAX	(2 * HZ)
/* The longest time between two calls of sanx_lconn_sweep(), in jiffies. */
#define SWEEP_EVERY	(60 * HZ)

/*
 * Counts a connection that is being closed.  As with tcp_max_orphans, one that is
 * too many is reset: a peer that does not read, or does not answer CLOSE, could
 * have any number of them here, beyond the limits of the programs that made them.
 * Return: true if it is one too many.
 */
static bool close_count(struct sanx_lconn *lc)
{
	struct sanx_net *sn = sanx_net(lc->conn.net);

	lockdep_assert_held(&lc->link->tx_lock);
	if (lc->state.phase == SANX_LCONN_RELEASED ||
	    atomic_inc_return(&sn->n_orphans) <= READ_ONCE(sn->max_orphans))
		return false;
	pr_notice_ratelimited("net.sanx.max_orphans is reached: a connection to node %u is reset\n",
			      lc->link->payer->id);
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
	sanx_link_used(link);
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
	list_del_init(&lc->wait_wake);
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

/*
 * The peer sends to a connection whose program has closed it.  tx_lock held.
 *
 * It gets a reset, as from TCP, behind the bytes that it has room for.
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
	if (lc->state.tx == SANX_LCONN_TX_LAST && close_has_rest(lc))
		return LAST_MAX;
	return lc->conn.lent > lc->acked ? LENT_MAX : UNREAD_MAX;
}

/* The peer gets a reset, and nothing before it. */
static void close_drop(struct sanx_lconn *lc)
{
	lc->pending &= ~(LCONN_P_DATA | LCONN_P_FIN);
	sanx_lconn_set_tx(lc, SANX_LCONN_TX_RESET);
	sanx_xmit_pend(lc, LCONN_P_CLOSE);
}

/* Sends nothing more of a connection but a reset.  tx_lock held. */
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
		sanx_count_protocol_error(link->payer->net);
		sanx_link_kill_locked(link, SANX_END_FAULT);
		return;
	}
}

/**
 * sanx_lconn_close() - sanx_transport_ops.close
 * @conn: the connection, which is, or was, attached
 * @reset: as there
 *
 * Context: process, may sleep; takes tx_lock.
 */
void sanx_lconn_close(struct sanx_conn *conn, bool reset)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);

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

/*
 * The peer gets a reset, for bytes that nobody will read.  tx_lock held, to be released by
 * sanx_xmit_unlock().
 *
 * Later, close() by the program has nothing left to do.
 */
void sanx_lconn_reset_unread(struct sanx_lconn *lc)
{
	close_attached(lc, SANX_LCONN_TX_LAST);
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
