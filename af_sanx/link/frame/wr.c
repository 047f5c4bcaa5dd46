// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of a link to its wire: slots, writes and completions.
 *
 * Invariants, guarded by link->tx_lock:
 *
 * - A slot is in link->free, or in link->posted and then in link->unacked in
 *   the order of posting (ack.c), or belongs to a function that took it and has
 *   held tx_lock since.
 * - slot->lc of a slot in link->posted is counted in lc->inflight.  A connection
 *   is not released while lc->inflight is not 0 (conn_over()).
 *
 * A completion covers all messages that were posted before it, so few
 * completions are requested (wr_signal()): one for each SANX_WIRE_SLOTS / 8
 * frames, so that the slots cannot run out with no completion under way; one for
 * each quarter of a send buffer, so that room comes before it is full; one for
 * each frame that asks for an acknowledgment; and one for each frame that may be
 * the last of its connection, because the release of the connection waits for
 * it.
 */
#include "frame_priv.h"

/**
 * sanx_msg_slot() - take a slot for a frame
 * @link: the link, with a free slot: after sanx_xmit_ok(), or link->free is not
 *	empty
 *
 * Context: tx_lock held.
 * Return: a slot.  The caller owns it until it calls sanx_msg_post().
 */
struct sanx_slot *sanx_msg_slot(struct sanx_link *link)
{
	struct sanx_slot *slot;

	lockdep_assert_held(&link->tx_lock);
	slot = list_first_entry(&link->free, struct sanx_slot, node);
	list_del_init(&slot->node);
	WRITE_ONCE(link->n_free, link->n_free - 1);
	return slot;
}

/* Lets a message enable the mapping of a ring, if that is due.  tx_lock held. */
void sanx_msg_enable(struct sanx_wire_msg *m, struct sanx_lring *ring)
{
	if (!sanx_lring_disabled(ring))
		return;
	m->enable = &ring->map;
	ring->map.enabled = true;
}

/* Adds a write to the peer's ring to a message.  tx_lock held. */
void sanx_msg_write(struct sanx_wire_msg *m, struct sanx_lconn *lc,
		    const struct sanx_chunk *c, u64 offset, u32 len)
{
	const struct sanx_window_info *win = &lc->txgen.win;
	struct sanx_wire_write *w = &m->write[m->n_writes++];

	w->to = win->addr + (offset & (win->size - 1));
	w->key = win->rkey;
	w->len = len;
	w->order = c->order;
	w->pages = c->page;
	w->pos = c->start + (offset - c->from);
}

/* Does this frame have to request a completion? */
static bool wr_signal(struct sanx_link *link, struct sanx_lconn *lc,
		      const struct sanx_frame *f)
{
	bool due = ++link->unsignaled >= SANX_WIRE_SLOTS / 8;

	switch (f->type) {
	case SANX_FRAME_DATA:
		lc->unsignaled += f->count;
		due |= f->flags & SANX_FRAME_F_ASK || sanx_sndbuf_signal(lc);
		break;
	/*
	 * A program sees the connection as over only after its last bytes and
	 * FIN (sanx_conn_over()), so the completion must not be late.
	 */
	case SANX_FRAME_FIN:
	case SANX_FRAME_OPEN:
	case SANX_FRAME_CLOSE:
	case SANX_FRAME_CLOSE_ACK:
	case SANX_FRAME_PING:
	case SANX_FRAME_PONG:
	case SANX_FRAME_RESUME:
	case SANX_FRAME_RESUME_ACK:
		due = true;
		break;
	default:
		break;
	}
	if (due) {
		link->unsignaled = 0;
		if (lc)
			lc->unsignaled = 0;
	}
	return due;
}

static void slot_fill(struct sanx_slot *slot, struct sanx_lconn *lc,
		      const struct sanx_frame *f)
{
	slot->lc = lc;
	slot->end = f->type == SANX_FRAME_DATA ? f->offset + f->count : 0;
	slot->len = f->type == SANX_FRAME_DATA ? f->len : 0;
	slot->posted = true;
	slot->at = jiffies;
	if (lc)
		lc->inflight++;
}

/*
 * Posts a message that delivers @f to the peer.  tx_lock held.  @slot belongs to @link
 * afterwards; @lc is not released before the completion.
 *
 * If posting fails, the link ends, and the slot counts as posted: taking the link down
 * handles it (sanx_suspend_save()).  So the caller does not see the error.
 */
void sanx_msg_post(struct sanx_link *link, struct sanx_slot *slot,
		   struct sanx_wire_msg *m, struct sanx_lconn *lc,
		   const struct sanx_frame *f)
{
	int err;

	lockdep_assert_held(&link->tx_lock);
	m->slot = slot - link->slots;
	m->signal = wr_signal(link, lc, f);
	m->pushed = link->push != SANX_PUSH_NONE;
	if (m->pushed)
		link->push = SANX_PUSH_DUE;
	slot_fill(slot, lc, f);
	list_add_tail(&slot->node, &link->posted);
	sanx_link_used(link);
	link_credit_sent(&link->credit);
	slot->seq = link->credit.sent;
	if (f->type == SANX_FRAME_PING && !link->timed) {
		link->timed = slot;
		link->timed_at = ktime_get_ns();
	}

	/* Posted frames of a lost link are sent again: stream/suspend.c. */
	err = link->wire->post(link->wl, m);
	if (!err)
		return;
	pr_debug("post to node %u failed: %d\n", link->payer->id, err);
	sanx_link_kill_locked(link, SANX_END_LOST);
}
