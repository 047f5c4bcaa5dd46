// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests of a link: slots, chains, the doorbell and completions.
 *
 * Invariants, guarded by link->tx_lock:
 *
 * - A slot is in link->free, or in link->posted in the order of posting, or
 *   belongs to a function that took it and has held tx_lock since.
 * - slot->vc of a posted slot is counted in vc->inflight.  A connection is not
 *   released while vc->inflight is not 0 (conn_over()).
 *
 * One message is one chain of work requests and one doorbell: a registration if
 * one is due, up to two RDMA writes, and a SEND with the frame that describes
 * them.  Instead of the SEND, the last write may carry immediate data.
 *
 * A completion covers all work that was posted before it, so few completions
 * are requested (wr_signal()): one for each VLINK_SLOTS / 8 frames, so that the
 * slots cannot run out with no completion under way; one for each quarter of a
 * send buffer, so that little has to be sent again on another link; one for
 * each frame from a program's pages, because the program waits; and one for
 * each frame that may be the last of its connection, because the release of the
 * connection waits for it.
 */
#include "xmit.h"

/**
 * vwr_slot() - take a slot for a frame
 * @link: the link, with a free slot: after vxmit_ok(), or link->free is not
 *	empty
 *
 * Context: tx_lock held.
 * Return: a slot.  The caller owns it until it calls vwr_post_send() or
 * vwr_post_imm().
 */
struct vslot *vwr_slot(struct vlink *link)
{
	struct vslot *slot;

	lockdep_assert_held(&link->tx_lock);
	slot = list_first_entry(&link->free, struct vslot, node);
	list_del_init(&slot->node);
	return slot;
}

static void wr_add(struct vchain *c, struct ib_send_wr *wr)
{
	wr->next = NULL;
	*c->next = wr;
	c->next = &wr->next;
}

/**
 * vwr_reg() - add a registration to a chain, if one is due
 * @c: the chain, still empty
 * @link: its link
 * @ring: memory that is mapped for the device of @link, or that is not mapped;
 *	counts as registered afterwards
 *
 * Context: tx_lock held.
 */
void vwr_reg(struct vchain *c, struct vlink *link, struct vring *ring)
{
	if (!vring_unregistered(ring))
		return;
	vring_reg_wr(ring, &c->reg);
	c->reg.wr.wr_cqe = &link->chain_cqe;
	wr_add(c, &c->reg.wr);
}

/**
 * vwr_write() - add an RDMA write to the peer's ring to a chain
 * @c: the chain
 * @i: index of the write in the chain, 0 or 1
 * @vc: the connection
 * @l: the program's pages to write from; NULL for the send buffer
 * @offset: stream offset of the first byte
 * @len: bytes; the range wraps neither in the send buffer (if that is the
 *	source) nor in the peer's ring
 *
 * Context: tx_lock held.
 */
void vwr_write(struct vchain *c, int i, struct vconn *vc, const struct vlong *l,
	       u64 offset, u32 len)
{
	struct ib_sge *sge = l ? &vc->link->lent[c->n_lent] : &c->sge[i];
	int n = 1;

	if (l) {
		n = vlong_sges(l, vc->link->pd->local_dma_lkey, offset, len,
			       sge);
		c->n_lent += n;
	} else {
		*sge = (struct ib_sge){
			.addr	= vc->staging.iova +
				  (offset & (vc->staging.size - 1)),
			.length	= len,
			.lkey	= vc->staging.key,
		};
	}
	c->write[i] = (struct ib_rdma_wr){
		.wr.wr_cqe	= &vc->link->chain_cqe,
		.wr.sg_list	= sge,
		.wr.num_sge	= n,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.remote_addr	= vc->win.addr + (offset & (vc->win.size - 1)),
		.rkey		= vc->win.rkey,
	};
	wr_add(c, &c->write[i].wr);
}

/* Does this frame have to request a completion? */
static bool wr_signal(struct vlink *link, struct vconn *vc, u8 type, u32 len,
		      bool lent)
{
	bool due = ++link->unsignaled >= VLINK_SLOTS / 8 || lent;

	switch (type) {
	case SANX_FRAME_DATA:
		vc->unsignaled += len;
		due |= vstaging_signal(vc);
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
		if (vc)
			vc->unsignaled = 0;
	}
	return due;
}

static void slot_fill(struct vslot *slot, struct vconn *vc,
		      const struct sanx_frame *f, bool signal)
{
	slot->vc = vc;
	slot->end = f->type == SANX_FRAME_DATA ? f->offset + f->count : 0;
	slot->len = f->type == SANX_FRAME_DATA ? f->len : 0;
	slot->posted = true;
	slot->signaled = signal;
	slot->at = jiffies;
	if (vc)
		vc->inflight++;
}

/*
 * Posts a chain; @last is the work request that delivers @f to the peer.  If
 * posting fails, the link ends, and the slot counts as posted: taking the link
 * down handles it (vorphan_save()).  So the caller does not see the error.
 */
static void wr_post(struct vlink *link, struct vslot *slot, struct vchain *c,
		    struct ib_send_wr *last, struct vconn *vc,
		    const struct sanx_frame *f)
{
	bool signal = wr_signal(link, vc, f->type, f->count, c->n_lent);
	int err;

	lockdep_assert_held(&link->tx_lock);
	last->wr_cqe = &slot->cqe;
	last->send_flags = signal ? IB_SEND_SIGNALED : 0;
	slot_fill(slot, vc, f, signal);
	list_add_tail(&slot->node, &link->posted);
	link_credit_sent(&link->credit);
	if (f->type == SANX_FRAME_PING && !link->timed) {
		link->timed = slot;
		link->timed_at = ktime_get_ns();
	}

	/* Posted frames of a lost link are sent again: orphan.c. */
	err = ib_post_send(link->qp, c->first, NULL);
	if (!err)
		return;
	pr_debug("post to node %u failed: %d\n", link->group->peer, err);
	vlink_kill_locked(link, ETIMEDOUT);
}

/**
 * vwr_post_send() - post a chain that ends with a frame
 * @link: the link, with a link credit for the frame
 * @slot: slot with the frame in slot->buf; belongs to @link afterwards
 * @c: the work requests before the frame
 * @vc: the connection that the frame is about, or NULL; it is not released
 *	before the completion
 * @f: the frame, parsed
 * @bytes: bytes of the frame in slot->buf
 *
 * Context: tx_lock held.
 */
void vwr_post_send(struct vlink *link, struct vslot *slot, struct vchain *c,
		   struct vconn *vc, const struct sanx_frame *f, u32 bytes)
{
	c->send_sge.length = bytes;
	c->send_sge.addr = slot->dma;
	c->send_sge.lkey = link->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(link->pd->device, slot->dma, bytes,
				      DMA_TO_DEVICE);
	c->send = (struct ib_send_wr){
		.sg_list	= &c->send_sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
	};
	wr_add(c, &c->send);
	wr_post(link, slot, c, &c->send, vc, f);
}

/**
 * vwr_post_imm() - post a chain whose only write carries immediate data
 * @link: the link, with a link credit
 * @slot: slot with an empty buffer; belongs to @link afterwards
 * @c: the chain; write[0] is its last work request
 * @vc: the connection; it is not released before the completion
 * @f: a DATA frame that immediate data can express
 *
 * Context: tx_lock held.
 */
void vwr_post_imm(struct vlink *link, struct vslot *slot, struct vchain *c,
		  struct vconn *vc, const struct sanx_frame *f)
{
	struct ib_send_wr *wr = &c->write[0].wr;

	wr->opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr->ex.imm_data = cpu_to_be32(sanx_imm_build(f->conn, f->flags));
	wr_post(link, slot, c, wr, vc, f);
}

/**
 * vwr_post_reg() - post a registration alone, if one is due
 * @link: the link
 * @ring: memory that is mapped for the device of @link, or that is not mapped;
 *	counts as registered afterwards
 *
 * Context: tx_lock held.
 */
void vwr_post_reg(struct vlink *link, struct vring *ring)
{
	struct ib_reg_wr wr;

	lockdep_assert_held(&link->tx_lock);
	if (!vring_unregistered(ring))
		return;
	vring_reg_wr(ring, &wr);
	wr.wr.wr_cqe = &link->chain_cqe;
	if (ib_post_send(link->qp, &wr.wr, NULL))
		vlink_kill_locked(link, ETIMEDOUT);
}

/*
 * Wakes a sender that waits for room.  It sets vc->full again if it has to wait
 * longer (vstaging_await()).
 */
static void slot_freed_room(struct vconn *vc)
{
	if (!vc->full)
		return;
	vc->full = false;
	if (list_empty(&vc->room))
		list_add_tail(&vc->room, &vc->link->ready);
}

/*
 * Applies the completion of @slot to its connection.  Pages that the device has
 * read go to @read (vlong_acked()).
 */
static void slot_done(struct vslot *slot, struct list_head *read)
{
	struct vconn *vc = slot->vc;

	slot->vc = NULL;
	slot->posted = false;
	if (!vc)
		return;
	vc->inflight--;
	if (slot->end) {
		WRITE_ONCE(vc->acked, slot->end);
		vc->acked_at = jiffies;
		vlong_acked(vc, read);
	}
	slot_freed_room(vc);
	vconn_check_over(vc);
}

/*
 * Keeps the shortest time from posting a PING to its completion (link->rtt_ns).
 */
static void wr_timed(struct vlink *link, const struct vslot *slot)
{
	u64 ns;

	if (link->timed != slot)
		return;
	link->timed = NULL;
	ns = max(ktime_get_ns() - link->timed_at, 1ULL);
	if (!link->rtt_ns || ns < link->rtt_ns)
		WRITE_ONCE(link->rtt_ns, ns);
}

/**
 * vwr_done() - completion of a frame, and of all work posted before it
 * @cq: the link's completion queue
 * @wc: the completion
 *
 * Context: softirq; takes tx_lock.
 */
void vwr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vslot *slot = container_of(wc->wr_cqe, struct vslot, cqe);
	struct vlink *link = slot->link;
	struct vslot *s, *next;
	LIST_HEAD(read);

	/*
	 * The slot stays in link->posted: vorphan_save() treats it as in
	 * flight.
	 */
	if (wc->status != IB_WC_SUCCESS) {
		vlink_wc_error(link, wc, "send");
		return;
	}
	spin_lock_bh(&link->tx_lock);
	wr_timed(link, slot);
	list_for_each_entry_safe(s, next, &link->posted, node) {
		if (!slot->posted)
			break;
		list_move(&s->node, &link->free);
		slot_done(s, &read);
	}
	vxmit_run(link);
	vxmit_unlock(link);
	vlong_read(&read);
}
