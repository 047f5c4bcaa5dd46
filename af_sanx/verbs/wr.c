// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests of a link: slots, chains, the doorbell and completions.
 *
 * Invariant: a slot is in link->free, or in link->posted in the order of posting, or
 * with the one who took it and holds link->tx_lock since.  A connection whose frame
 * is in a slot under way (slot->vc, counted in vc->inflight) is not released.
 *
 * One message is one chain of work requests and one doorbell: a registration if one
 * is due, up to two RDMA writes, and a SEND with the frame that tells of them, or
 * immediate data with the write in its place.
 *
 * Each completion tells of all work before it, so few are asked for: as many as it
 * takes that slots cannot run out with none under way and that little is sent again
 * on another link; and one for each frame that may be a connection's last, as its
 * release waits for that (wr_signal()).
 */
#include "xmit.h"

/**
 * vwr_slot() - take a slot for a frame
 * @link: the link; there is a slot: vxmit_ok(), or link->free is not empty
 *
 * Context: tx_lock held.
 * Return: a slot that is the caller's until vwr_post_send() or vwr_post_imm().
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
 * vwr_reg() - add a registration to a chain, if it is due
 * @c: the chain, with nothing in it
 * @link: its link
 * @ring: memory mapped for the device of @link, or none; counts as registered
 *	after this
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
 * @i: which of its writes, 0 or 1
 * @vc: the connection
 * @l: the program's pages that it is from; NULL: the send buffer
 * @offset: stream offset of the first byte
 * @len: bytes; they wrap neither in the send buffer nor in the peer's ring
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

/* Is a completion due with this frame? */
static bool wr_signal(struct vlink *link, struct vconn *vc, u8 type, u32 len,
		      bool lent)
{
	bool due = ++link->unsignaled >= VLINK_SLOTS / 8 || lent;

	switch (type) {
	case SANX_FRAME_DATA:
		vc->unsignaled += len;
		due |= vstaging_signal(vc);
		break;
	/* Whether a FIN has come decides on what the program sees: sanx_conn_over(). */
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
 * Posts a chain, of which @last is what the peer takes for @f.  A failure ends the
 * link, which is taken down as a whole, and counts as posted; so the caller need
 * not know of it.
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

	/* What is under way when a link ends is sent again: orphan.c. */
	err = ib_post_send(link->qp, c->first, NULL);
	if (!err)
		return;
	pr_debug("post to node %u failed: %d\n", link->group->peer, err);
	vlink_kill_locked(link, ETIMEDOUT);
}

/**
 * vwr_post_send() - post a chain that a frame of its own ends
 * @link: the link, with a link credit for the frame
 * @slot: with the frame in slot->buf; the link's from here on
 * @c: what goes before the frame
 * @vc: the connection that the frame is about, kept until the completion, or NULL
 * @f: the frame, parsed
 * @bytes: of the frame in slot->buf
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
 * vwr_post_imm() - post a chain whose only write tells of itself
 * @link: as of vwr_post_send()
 * @slot: with nothing in it; the link's from here on
 * @c: the chain, which write[0] ends
 * @vc: the connection, kept until the completion
 * @f: DATA that immediate data can say
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
 * vwr_post_reg() - post a registration alone, if it is due
 * @link: the link
 * @ring: as of vwr_reg()
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

/* A sender that waits looks again, and says so if it is to wait on. */
static void slot_freed_room(struct vconn *vc)
{
	if (!vc->full)
		return;
	vc->full = false;
	if (list_empty(&vc->room))
		list_add_tail(&vc->room, &vc->link->ready);
}

/* What the completion of @slot means to the connection; @read: vlong_acked(). */
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

/* What a PING takes to be acknowledged, in the best case so far. */
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
 * vwr_done() - completion of a frame, and so of all before it
 * @cq: the link's
 * @wc: what came
 *
 * Context: softirq; takes tx_lock.
 */
void vwr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vslot *slot = container_of(wc->wr_cqe, struct vslot, cqe);
	struct vlink *link = slot->link;
	struct vslot *s, *next;
	LIST_HEAD(read);

	/* Then it is as good as under way: see vorphan_save(). */
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
