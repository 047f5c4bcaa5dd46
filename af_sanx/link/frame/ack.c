// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgments: when a frame that was sent is not needed any more.
 *
 * A completion says that our device does not read the frame and its payload any
 * more.  It does not say that the peer has them: on InfiniBand and RoCE the
 * peer's device may acknowledge a message and fail before memory has it
 * (Documentation/networking/rds.rst, "ACK and retransmit handling"), and iWARP
 * completes work before anything was sent.  A grant of the peer says that its
 * processor has seen the frame (link_credit_acked()), but our device may still
 * read it, to send it again.  So a frame is acknowledged when both have come, in
 * any order:
 *
 *	link->free -> link->posted -> link->unacked -> link->free
 *		posted	      completed		  granted
 *
 * A frame keeps its slot until then, with payload that it carries itself.  The memory
 * that it refers to is kept as well (lc->acked, chunk.c).  What is not acknowledged when
 * the link is lost is sent again on the next link (stream/suspend.c).
 *
 * Most frames of the peer carry a grant, so most acknowledgments come without
 * being asked for.  Where somebody waits for one that may not come, a DATA frame
 * asks for it (SANX_FRAME_F_ASK), or a PING if none is left to send: the grant of
 * the answer covers that frame and all before, and so does its completion, which
 * is then requested.
 *
 * link->tx_lock guards all of it.
 */
#include <linux/export.h>

#include "config/cov.h"
#include "frame_priv.h"

/*
 * How long a sender waits for what the peer sends by itself, in jiffies: a
 * credit, when its program reads.
 */
#define ACK_DELAY	max(HZ / 500, 1)

/*
 * Wakes a sender that waits for room.  It sets lc->full again if it has to wait
 * longer (sanx_ack_await()).
 */
static void ack_wake(struct sanx_lconn *lc)
{
	if (!lc->full)
		return;
	lc->full = false;
	if (list_empty(&lc->wait_wake))
		list_add_tail(&lc->wait_wake, &lc->link->ready);
}

/*
 * Measures the time from posting a PING to its acknowledgment: the shortest is kept
 * (link->rtt_ns), and an average of late (link->srtt_ns, as in RFC 6298, 2.3).
 */
static void ack_timed(struct sanx_link *link, const struct sanx_slot *slot)
{
	u64 ns;

	if (link->timed != slot)
		return;
	link->timed = NULL;
	ns = max(ktime_get_ns() - link->timed_at, 1ULL);
	if (!link->rtt_ns || ns < link->rtt_ns)
		WRITE_ONCE(link->rtt_ns, ns);
	WRITE_ONCE(link->srtt_ns, link->srtt_ns ?
		   link->srtt_ns - link->srtt_ns / 8 + ns / 8 : ns);
}

/**
 * sanx_slot_free() - put a slot back
 * @link: the link
 * @slot: the slot, in a list or new
 *
 * Context: tx_lock held, or the link is not up yet.
 */
void sanx_slot_free(struct sanx_link *link, struct sanx_slot *slot)
{
	list_move(&slot->node, &link->free);
	WRITE_ONCE(link->n_free, link->n_free + 1);
}

/* Chunks that are acknowledged go to @spent (sanx_chunks_acked()). */
static void ack_slot(struct sanx_link *link, struct sanx_slot *slot,
		     struct list_head *spent)
{
	struct sanx_lconn *lc = slot->lc;

	sanx_slot_free(link, slot);
	link->acked_at = jiffies;
	ack_timed(link, slot);
	slot->lc = NULL;
	if (!lc)
		return;
	WRITE_ONCE(lc->acked, slot->end);
	lc->acked_at = jiffies;
	sanx_chunks_acked(lc, spent);
	ack_wake(lc);
}

/*
 * The device does not read a frame any more.  tx_lock held.
 *
 * sanx_ack_run() follows.
 */
static void ack_completed(struct sanx_link *link, struct sanx_slot *slot)
{
	struct sanx_lconn *lc = slot->lc;

	lockdep_assert_held(&link->tx_lock);
	list_move_tail(&slot->node, &link->unacked);
	slot->posted = false;
	if (!lc)
		return;
	lc->inflight--;
	/* Only payload matters to the connection from here on. */
	if (!slot->end) {
		slot->lc = NULL;
		ack_wake(lc);
	}
	sanx_lconn_check_over(lc);
}

/**
 * sanx_ack_run() - free what is acknowledged
 * @link: the link, after completions or a grant
 * @spent: list to which chunks are added, for sanx_chunks_spent()
 *
 * Context: tx_lock held, and released with sanx_xmit_unlock().
 */
void sanx_ack_run(struct sanx_link *link, struct list_head *spent)
{
	struct sanx_slot *slot, *next;

	lockdep_assert_held(&link->tx_lock);
	list_for_each_entry_safe(slot, next, &link->unacked, node) {
		if (!link_credit_is_acked(&link->credit, slot->seq))
			break;
		ack_slot(link, slot, spent);
	}
}

/**
 * sanx_ack_forget() - a connection does not need acknowledgments any more
 * @lc: a connection that is RELEASED and has no frames in flight
 *
 * Context: tx_lock held.
 */
void sanx_ack_forget(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;
	struct sanx_slot *slot;

	lockdep_assert_held(&link->tx_lock);
	list_for_each_entry(slot, &link->unacked, node) {
		if (slot->lc == lc)
			slot->lc = NULL;
	}
}

/**
 * sanx_ack_ask() - ask the peer for an acknowledgment of all bytes that were
 * sent
 * @lc: an attached connection, or a suspended one
 *
 * Context: tx_lock held, to be released by sanx_xmit_unlock().
 */
void sanx_ack_ask(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	lc->ack_asked = lc->posted;
	sanx_link_ask(lc->link);
}

/* If nothing of the peer acknowledges it by then, sanx_ack_work() asks. */
static void ack_later(struct sanx_link *link)
{
	if (link->state == SANX_LINK_UP)
		queue_delayed_work(sanx_link_wq, &link->ack, ACK_DELAY);
}

/*
 * Should an acknowledgment be asked for now?  tx_lock held.
 *
 * One is, when more than half of the send buffer is not acknowledged, so that it
 * comes before the buffer is full; or more than a quarter, if some of it is lent, as programs
 * wait for that; or when a sender waits, and all bytes are
 * posted.  Otherwise a credit is likely to come, whose frame carries a grant.  If
 * none comes, sanx_ack_work() asks: a reader may be idle, or may read less than
 * a credit is for, and the next bytes are to find the send buffer empty.
 *
 * Return: true if so; sanx_ack_ask(), or a frame with SANX_FRAME_F_ASK, follows.
 */
bool sanx_ack_wanted(const struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;
	bool lent = lc->conn.lent > lc->acked;

	lockdep_assert_held(&link->tx_lock);
	if (lc->posted == lc->acked)
		return false;
	/* Asked for already; what was lent since may be the last. */
	if (lc->ack_asked > lc->acked) {
		if (lent)
			ack_later(link);
		return false;
	}
	/* More than that share of it. */
	if (sanx_sndbuf_share(lc, lc->posted - lc->acked - 1, lent ? 4 : 2) ||
	    (lc->full && lc->posted == lc->announced))
		return true;
	ack_later(link);
	return false;
}

/*
 * Should the FIN that is about to be sent ask for an acknowledgment?  tx_lock held.
 *
 * After FINs in both directions the peer may send nothing more.  The connection
 * is over for its program when the last bytes are acknowledged
 * (sanx_lconn_drained()).
 */
bool sanx_ack_last(const struct sanx_lconn *lc)
{
	return lc->state.rx == SANX_LCONN_RX_FIN && lc->acked != lc->posted;
}

/**
 * sanx_ack_fin() - the peer has sent FIN
 * @lc: an attached connection
 *
 * If it crossed our FIN, its grant may not cover our last bytes.
 *
 * Context: tx_lock held.
 */
void sanx_ack_fin(struct sanx_lconn *lc)
{
	struct sanx_link *link = lc->link;

	lockdep_assert_held(&link->tx_lock);
	if (lc->state.tx == SANX_LCONN_TX_FIN && lc->acked != lc->posted)
		ack_later(link);
}

/**
 * sanx_ack_await() - have the sender woken when bytes were acknowledged
 * @lc: an attached connection, or a suspended one
 *
 * sanx_conn_tx_ready() follows.
 *
 * Context: tx_lock held, to be released by sanx_xmit_unlock().
 */
void sanx_ack_await(struct sanx_lconn *lc)
{
	lockdep_assert_held(&lc->link->tx_lock);
	lc->full = true;
	if (sanx_ack_wanted(lc))
		sanx_ack_ask(lc);
}

/**
 * sanx_ack_work() - ask for acknowledgments that have not come by themselves
 * @work: link.ack
 *
 * The oldest bytes may be younger than ACK_DELAY: what the work was queued for may
 * be acknowledged by now.
 *
 * Context: process; takes tx_lock.
 */
void sanx_ack_work(struct work_struct *work)
{
	struct sanx_link *link = container_of(to_delayed_work(work),
					      struct sanx_link, ack);
	bool cov = sanx_cov_start(link->payer->net);
	const struct sanx_slot *slot;

	spin_lock_bh(&link->tx_lock);
	slot = sanx_ack_oldest(link);
	if (slot && time_before(jiffies, slot->at + ACK_DELAY) &&
	    link->state == SANX_LINK_UP)
		ack_later(link);
	else if (slot)
		sanx_link_ask(link);
	sanx_xmit_unlock(link);
	sanx_cov_stop(cov);
}

/**
 * sanx_ack_oldest() - the frame that waits longest for a completion, or, if it
 * carries payload, for an acknowledgment
 * @link: the link
 *
 * Other frames may wait for a grant without limit, as nobody waits for them.
 *
 * Context: tx_lock held.
 * Return: its slot, or NULL.
 */
const struct sanx_slot *sanx_ack_oldest(struct sanx_link *link)
{
	const struct sanx_slot *slot;

	lockdep_assert_held(&link->tx_lock);
	list_for_each_entry(slot, &link->unacked, node) {
		if (slot->lc)
			return slot;
	}
	return list_first_entry_or_null(&link->posted, struct sanx_slot, node);
}

/**
 * sanx_wire_sent() - a message is complete, and all that were posted before it
 * @link: the link
 * @slot: number of its slot
 *
 * Not called for a message that failed: the slot stays in link->posted, and
 * sanx_suspend_save() treats it as in flight.
 *
 * Context: any, one at a time for a link; takes tx_lock.
 */
void sanx_wire_sent(struct sanx_link *link, u32 slot)
{
	struct sanx_slot *done = &link->slots[slot], *s, *next;
	bool cov = sanx_cov_start(link->payer->net);
	LIST_HEAD(spent);

	spin_lock_bh(&link->tx_lock);
	list_for_each_entry_safe(s, next, &link->posted, node) {
		if (!done->posted)
			break;
		ack_completed(link, s);
	}
	sanx_ack_run(link, &spent);
	sanx_xmit_run(link);
	sanx_xmit_unlock(link);
	sanx_chunks_spent(link, &spent);
	sanx_cov_stop(cov);
}
EXPORT_SYMBOL_GPL(sanx_wire_sent);
