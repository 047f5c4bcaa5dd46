// SPDX-License-Identifier: GPL-2.0
/*
 * The sending side of a link: frame slots, chains of work requests, and the
 * pump.
 *
 * One message is one chain of work requests and one doorbell: a registration
 * if one is due, up to two RDMA writes (two where the ring wraps), and a SEND
 * with the frame that says so.  Where there is nothing to say that the 32 bits of
 * immediate data do not hold, the RDMA write says it itself (post_imm_ok()), and
 * the SEND is saved; iWARP has no such writes.
 *
 * Completions are asked for seldom: each tells of all work before it.  They
 * are asked for often enough that slots cannot run out with none under way, and
 * that little has to be sent again on another link (post_signal()); and for
 * every frame that may be a connection's last, as its release waits for it.
 *
 * Nothing that must be said is lost for lack of room: a connection remembers
 * it as a bit, and the pump says it when there is room.
 *
 * Registrations on rxe: it repeats one together with what it has to send again,
 * finds the region taken, and ends the queue pair.  So on such a device (see
 * vlink.reg_alone) nothing that may have to be sent again stands before one:
 * posting waits until all is acknowledged, then some registrations go out, and
 * behind them a PONG for each, which tells when the region may be given back.
 */
#include "verbs.h"

/* Connections whose registrations are posted behind each other. */
#define VPOST_REGS	16U

static_assert(VPOST_REGS <= VLINK_SLOTS);
static_assert(VLINK_RECVS >= LINK_CREDIT_RECVS_MIN);
static_assert(SANX_RECVS_MIN >= LINK_CREDIT_RECVS_MIN);

/**
 * struct chain - work requests on their way to be posted
 * @reg: registration
 * @write: RDMA writes
 * @sge: of @write, from the staging memory
 * @n_lent: how many of link->lent are of @write, from a program's pages
 * @send: the frame
 * @send_sge: of @send
 * @first: first of the chain
 * @next: where the next one is linked in
 */
struct chain {
	struct ib_reg_wr	reg;
	struct ib_rdma_wr	write[2];
	struct ib_sge		sge[2];
	int			n_lent;
	struct ib_send_wr	send;
	struct ib_sge		send_sge;
	struct ib_send_wr	*first;
	struct ib_send_wr	**next;
};

static void chain_init(struct chain *c)
{
	c->first = NULL;
	c->next = &c->first;
	c->n_lent = 0;
}

static void chain_add(struct chain *c, struct ib_send_wr *wr)
{
	wr->next = NULL;
	*c->next = wr;
	c->next = &wr->next;
}

static void chain_reg(struct chain *c, struct vlink *link, struct vring *ring)
{
	if (!vring_unregistered(ring))
		return;
	vring_reg_wr(ring, &c->reg);
	c->reg.wr.wr_cqe = &link->chain_cqe;
	chain_add(c, &c->reg.wr);
}

static bool post_room(const struct vlink *link)
{
	return READ_ONCE(link->state) == VLINK_UP &&
	       link_credit_room(&link->credit) && !list_empty(&link->free);
}

/**
 * vpost_ok() - can an ordinary frame be posted now?
 * @link: the link
 *
 * Context: tx_lock held, or to be asked again with it.
 * Return: true if there is a slot and a link credit, and no registration that
 * all has to wait for.
 */
bool vpost_ok(const struct vlink *link)
{
	return post_room(link) && list_empty(&link->regs);
}

static struct vslot *slot_take(struct vlink *link)
{
	struct vslot *slot;

	slot = list_first_entry(&link->free, struct vslot, node);
	list_del_init(&slot->node);
	return slot;
}

/* Whoever waits looks again, and says so if it is to wait on. */
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

/* Is a completion due with this frame? */
static bool post_signal(struct vlink *link, struct vconn *vc, u8 type, u32 len,
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

/*
 * Posts a chain, of which @last is what the peer takes for @f.  A failure is the
 * end of the link, which is taken down as a whole, and counts as posted; so nobody
 * needs to hear of it.
 */
static void post_chain(struct vlink *link, struct vslot *slot, struct chain *c,
		       struct ib_send_wr *last, struct vconn *vc,
		       const struct sanx_frame *f)
{
	bool signal = post_signal(link, vc, f->type, f->count, c->n_lent);
	int err;

	lockdep_assert_held(&link->tx_lock);
	last->wr_cqe = &slot->cqe;
	last->send_flags = signal ? IB_SEND_SIGNALED : 0;
	slot->vc = vc;
	slot->end = f->type == SANX_FRAME_DATA ? f->offset + f->count : 0;
	slot->len = f->type == SANX_FRAME_DATA ? f->len : 0;
	slot->posted = true;
	slot->signaled = signal;
	slot->at = jiffies;
	if (vc)
		vc->inflight++;
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

/* Posts a chain that ends with a frame.  Its body is in the slot already. */
static void post_frame(struct vlink *link, struct vslot *slot, struct chain *c,
		       struct vconn *vc, struct sanx_frame *f)
{
	f->grant = link_credit_advertise(&link->credit);
	c->send_sge.length = sanx_frame_build(slot->buf, f);
	c->send_sge.addr = slot->dma;
	c->send_sge.lkey = link->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(link->pd->device, slot->dma,
				      c->send_sge.length, DMA_TO_DEVICE);
	c->send = (struct ib_send_wr){
		.sg_list	= &c->send_sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
	};
	chain_add(c, &c->send);
	post_chain(link, slot, c, &c->send, vc, f);
}

static void post_plain(struct vlink *link, struct vconn *vc,
		       struct sanx_frame *f)
{
	struct chain c;

	chain_init(&c);
	post_frame(link, slot_take(link), &c, vc, f);
}

static void window_of(struct sanx_window *w, const struct vring *ring)
{
	struct sanx_window_info win = {
		.addr	= ring->iova,
		.rkey	= ring->key,
		.size	= ring->mr ? ring->size : 0,
	};

	sanx_window_build(w, &win);
}

static void post_open(struct vlink *link, struct vconn *vc)
{
	const struct sanx_conn *conn = vconn_conn(vc);
	struct vslot *slot = slot_take(link);
	struct sanx_open *open = slot->buf + sizeof(struct sanx_frame_hdr);
	struct sanx_frame f = {
		.type	= SANX_FRAME_OPEN,
		.len	= sizeof(*open),
	};
	struct chain c;

	chain_init(&c);
	open->src = conn->local.addr;
	open->dst = conn->remote.addr;
	open->sport = conn->local.port;
	open->dport = conn->remote.port;
	open->conn = cpu_to_le32(vc->id);
	window_of(&open->window, &vc->ring);
	post_frame(link, slot, &c, vc, &f);
}

/* A frame that says where our end of a connection is, and @ring, if it has one. */
static void post_place(struct vlink *link, struct vconn *vc,
		       struct vring *ring, struct sanx_frame *f)
{
	struct vslot *slot = slot_take(link);
	struct sanx_place *place = slot->buf + sizeof(struct sanx_frame_hdr);
	struct chain c;

	chain_init(&c);
	chain_reg(&c, link, ring);
	place->conn = cpu_to_le32(vc->id);
	place->reserved = 0;
	window_of(&place->window, ring);
	f->len = sizeof(*place);
	f->conn = vc->peer_id;
	post_frame(link, slot, &c, vc, f);
}

static void post_open_ack(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_OPEN_ACK };

	post_place(link, vc, &vc->ring, &f);
}

static void post_window(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_WINDOW };

	vgrow_told(vc);
	f.credit = sanx_rxq_grant(&vconn_conn(vc)->rx);
	post_place(link, vc, &vc->next, &f);
}

static void post_return_ack(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_RETURN_ACK };

	vc->pending &= ~VCONN_P_RETURN_ACK;
	f.credit = sanx_rxq_grant(&vconn_conn(vc)->rx);
	post_place(link, vc, &vc->ring, &f);
}

/* Says what we have of the peer's stream, and where it may go on. */
static void post_resume(struct vlink *link, struct vconn *vc, u8 type)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct sanx_frame f = {
		.type	= type,
		.flags	= vc->flags & VCONN_FIN_RCVD ? SANX_FRAME_F_FIN : 0,
		.offset	= conn->rx.tail,
	};

	f.credit = sanx_rxq_grant(&conn->rx);
	post_place(link, vc, &vc->ring, &f);
}

static void post_simple(struct vlink *link, struct vconn *vc, u8 type, u8 flags)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct sanx_frame f = {
		.type	= type,
		.flags	= flags,
		.conn	= vc->peer_id,
	};

	if (type == SANX_FRAME_CREDIT || type == SANX_FRAME_FIN)
		f.credit = sanx_rxq_grant(&conn->rx);
	if (type == SANX_FRAME_FIN || type == SANX_FRAME_RETURN)
		f.offset = conn->tx.next;
	post_plain(link, vc, &f);
}

/*
 * Writes what wraps neither in the staging memory nor in the peer's ring, from
 * there or from @l.
 */
static void chain_write(struct chain *c, int i, struct vconn *vc,
			const struct vlong *l, u64 offset, u32 len)
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
	chain_add(c, &c->write[i].wr);
}

/* Where a stretch wraps in one of the two, or in both. */
static u32 post_wraps(const struct vconn *vc)
{
	return min(vc->staging.size, vc->win.size);
}

/* Is it so long ago that the peer was told of receives, or of room? */
static bool post_news(const struct vlink *link, const struct vconn *vc)
{
	const struct sanx_rxq *q = &vconn_conn((struct vconn *)vc)->rx;
	u32 few = min(q->size / 4, SANX_CREDIT_MAX) / 2;

	return link_credit_unadvertised(&link->credit) >= VLINK_RECVS / 8 ||
	       (s64)(READ_ONCE(q->head) + q->size - q->granted) >= (s64)few;
}

/*
 * Can the write tell of itself?  It says neither credits nor grants, but those that
 * are due would go in frames of their own, so they are let ride in time.
 */
static bool post_imm_ok(const struct vlink *link, const struct vconn *vc,
			u8 flags, int writes)
{
	return !link->early && writes == 1 && !(flags & ~SANX_IMM_FLAGS) &&
	       vc->peer_id <= SANX_IMM_CONN_MAX && !post_news(link, vc);
}

static void post_imm(struct vlink *link, struct vslot *slot, struct chain *c,
		     struct vconn *vc, const struct sanx_frame *f)
{
	struct ib_send_wr *wr = &c->write[0].wr;

	wr->opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr->ex.imm_data = cpu_to_be32(sanx_imm_build(f->conn, f->flags));
	post_chain(link, slot, c, wr, vc, f);
}

/*
 * Payload of @len bytes, the next of the stream: @data, in the frame, or what is
 * in the staging memory, or the program's own.
 */
static void post_payload(struct vlink *link, struct vconn *vc, const void *data,
			 const struct vlong *l, u32 len, u8 flags)
{
	struct sanx_conn *conn = vconn_conn(vc);
	u64 offset = vc->posted;
	struct vslot *slot = slot_take(link);
	struct sanx_frame f = {
		.type	= SANX_FRAME_DATA,
		.flags	= flags,
		.conn	= vc->peer_id,
		.offset	= offset,
		.count	= len,
	};
	struct sanx_span span[2];
	struct chain c;
	int i, n = 0;

	chain_init(&c);
	if (data) {
		f.len = len;
		memcpy(slot->buf + sizeof(struct sanx_frame_hdr), data, len);
	} else {
		f.flags |= SANX_FRAME_F_RING;
		if (!l) {
			vring_sync(&vc->staging, offset, len);
			chain_reg(&c, link, &vc->staging);
		}
		n = sanx_ring_spans(l ? vc->win.size : post_wraps(vc), offset,
				    len, span);
		for (i = 0; i < n; i++) {
			chain_write(&c, i, vc, l, offset, span[i].len);
			offset += span[i].len;
		}
	}
	vc->posted += len;
	if (vc->turned)
		f.flags |= SANX_FRAME_F_TURN;
	if (vc->posted == conn->tx.limit)
		f.flags |= SANX_FRAME_F_FULL;
	/* The peer may answer with credit before this returns. */
	if (vc->posted > conn->tx.next)
		sanx_txq_advance(&conn->tx, vc->posted - conn->tx.next);
	if (post_imm_ok(link, vc, f.flags, n)) {
		post_imm(link, slot, &c, vc, &f);
		return;
	}
	f.credit = sanx_rxq_grant(&conn->rx);
	vc->pending &= ~VCONN_P_CREDIT;
	post_frame(link, slot, &c, vc, &f);
}

/* Payload up to the urgent byte goes apart. */
static u32 data_urgent(const struct vconn *vc, u32 len, u8 *flags)
{
	if (vc->urgent <= vc->posted || vc->urgent - vc->posted > len)
		return len;
	*flags = SANX_FRAME_F_URGENT;
	return vc->urgent - vc->posted;
}

/*
 * The next that is in the staging memory: in the frame if it is little, or if
 * there is no ring to write.
 */
static void post_data(struct vlink *link, struct vconn *vc)
{
	u32 len = min_t(u64, VPOST_MAX, vc->end - vc->posted);
	const void *data = NULL;
	struct sanx_span span[2];
	u8 flags = 0;

	len = min_t(u64, len, vconn_conn(vc)->tx.limit - vc->posted);
	len = data_urgent(vc, len, &flags);
	if (!vc->win.size || len <= link->inline_max) {
		sanx_ring_spans(vc->staging.size, vc->posted,
				min(len, link->inline_max), span);
		data = vc->staging.buf + span[0].pos;
		if (span[0].len < len)
			flags = 0;
		len = span[0].len;
	} else if (link->reg_alone && vring_unregistered(&vc->staging)) {
		vpost_reg(vc);
		return;
	} else if (len > post_wraps(vc)) {
		len = post_wraps(vc);
		flags = 0;
	}
	post_payload(link, vc, data, NULL, len, flags);
	if (vc->posted == vc->end)
		vc->pending &= ~VCONN_P_DATA;
}

/*
 * What can be said now: payload when the peer permits, and what ends the stream
 * behind it.
 */
static u32 post_todo(const struct vconn *vc)
{
	u32 todo = vc->pending;

	if (todo & VCONN_P_DATA || vspill_waits(vc))
		todo &= ~(VCONN_P_FIN | VCONN_P_CLOSE);
	if (todo & VCONN_P_DATA) {
		if (vc->posted == vconn_conn((struct vconn *)vc)->tx.limit)
			todo &= ~VCONN_P_DATA;
	}
	return todo;
}

/* Sends the first of what a connection has pending, if any of it can be. */
static bool post_pending(struct vlink *link, struct vconn *vc)
{
	u32 todo = post_todo(vc);

	if (todo & VCONN_P_OPEN_ACK) {
		vc->pending &= ~VCONN_P_OPEN_ACK;
		post_open_ack(link, vc);
	} else if (todo & VCONN_P_RESUME_ACK) {
		vc->pending &= ~VCONN_P_RESUME_ACK;
		post_resume(link, vc, SANX_FRAME_RESUME_ACK);
		vgrow_check(vc, vconn_conn(vc)->rx.tail);
	} else if (todo & VCONN_P_RETURN_ACK) {
		post_return_ack(link, vc);
	} else if (todo & VCONN_P_WINDOW) {
		post_window(link, vc);
	} else if (todo & VCONN_P_DATA) {
		post_data(link, vc);
	} else if (todo & VCONN_P_FIN) {
		vc->pending &= ~(VCONN_P_FIN | VCONN_P_CREDIT);
		vc->flags |= VCONN_FIN_SENT;
		post_simple(link, vc, SANX_FRAME_FIN, 0);
	} else if (todo & VCONN_P_CREDIT) {
		vc->pending &= ~VCONN_P_CREDIT;
		post_simple(link, vc, SANX_FRAME_CREDIT, 0);
	} else if (todo & VCONN_P_CLOSE) {
		vc->pending &= ~VCONN_P_CLOSE;
		vc->flags |= VCONN_CLOSE_SENT;
		post_simple(link, vc, SANX_FRAME_CLOSE,
			    vc->flags & VCONN_RESET ? SANX_FRAME_F_RESET : 0);
	} else if (todo & VCONN_P_CLOSE_ACK) {
		vc->pending &= ~VCONN_P_CLOSE_ACK;
		post_simple(link, vc, SANX_FRAME_CLOSE_ACK, 0);
	}
	return todo;
}

/*
 * A frame that is always completed, and that a peer need not have asked for; if
 * for @vc, so that it is not released before.
 */
static void post_pong(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_PONG };
	struct chain c;

	chain_init(&c);
	post_frame(link, slot_take(link), &c, vc, &f);
}

static bool reg_due(const struct vconn *vc)
{
	return vring_unregistered(&vc->ring) ||
	       vring_unregistered(&vc->next) ||
	       vring_unregistered(&vc->staging);
}

static void post_reg(struct vlink *link, struct vring *ring)
{
	struct ib_reg_wr wr;

	if (!vring_unregistered(ring))
		return;
	vring_reg_wr(ring, &wr);
	wr.wr.wr_cqe = &link->chain_cqe;
	if (ib_post_send(link->qp, &wr.wr, NULL))
		vlink_kill_locked(link, ETIMEDOUT);
}

/* Posts registrations, and then a PONG for each connection that has one. */
static void post_regs(struct vlink *link)
{
	u32 i, n = 0, most = min(VPOST_REGS, link_credit_room(&link->credit));
	struct vconn *vc, *vcs[VPOST_REGS];

	while (n < most && !list_empty(&link->regs)) {
		vc = list_first_entry(&link->regs, struct vconn, reg);
		list_del_init(&vc->reg);
		post_reg(link, &vc->ring);
		post_reg(link, &vc->next);
		post_reg(link, &vc->staging);
		vcs[n++] = vc;
	}
	for (i = 0; i < n; i++)
		post_pong(link, vcs[i]);
}

/* Registrations that stand alone, some a round trip; mostly nothing waits. */
static void pump_regs(struct vlink *link)
{
	if (list_empty(&link->regs) || !post_room(link))
		return;
	/* All slots are free then. */
	if (list_empty(&link->posted))
		post_regs(link);
	else if (link->unsignaled)
		post_pong(link, NULL);
}

/*
 * The peer keeps memory for SANX_OPENS_MAX requests, so that it need not get
 * any, nor leave a request in a receive and so hold up what comes behind it.
 */
static void pump_opens(struct vlink *link)
{
	struct vconn *vc;

	while (vpost_ok(link) && link->opening < SANX_OPENS_MAX) {
		vc = list_first_entry_or_null(&link->openers, struct vconn,
					      pend);
		if (!vc)
			break;
		list_del_init(&vc->pend);
		vc->pending &= ~VCONN_P_OPEN;
		WRITE_ONCE(link->opening, link->opening + 1);
		if (vc->flags & VCONN_RESUMING)
			post_resume(link, vc, SANX_FRAME_RESUME);
		else
			post_open(link, vc);
	}
}

static void pump_conns(struct vlink *link)
{
	struct vconn *vc;

	while (vpost_ok(link)) {
		vc = list_first_entry_or_null(&link->pending, struct vconn,
					      pend);
		if (!vc)
			break;
		/* In turn, should it have more to say; see also frame_credit(). */
		if (post_pending(link, vc) && vc->pending)
			list_move_tail(&vc->pend, &link->pending);
		else
			list_del_init(&vc->pend);
	}
}

static void pump_rejects(struct vlink *link)
{
	struct vopen *o;

	while (vpost_ok(link)) {
		struct sanx_frame f = { .type = SANX_FRAME_OPEN_REJ };

		o = list_first_entry_or_null(&link->rejects, struct vopen,
					     node);
		if (!o)
			break;
		f.conn = o->peer_id;
		if (o->f.type == SANX_FRAME_RESUME)
			f.type = SANX_FRAME_RESUME_REJ;
		else
			f.count = o->reject;
		post_plain(link, NULL, &f);
		vopen_put(o);
	}
}

static void pump_pings(struct vlink *link)
{
	struct sanx_frame f = { .type = SANX_FRAME_PING };
	bool owed;

	if (link->pong && vpost_ok(link)) {
		link->pong = false;
		post_pong(link, NULL);
	}
	owed = link_credit_grant_due(&link->credit) &&
	       link->state == VLINK_UP && !list_empty(&link->free);
	if (owed || (link->ping && vpost_ok(link))) {
		link->ping = false;
		post_plain(link, NULL, &f);
	}
}

/**
 * vpost_pump() - send what is pending, as far as there is room
 * @link: the link
 *
 * Context: tx_lock held, and given back with vpost_unlock().
 */
void vpost_pump(struct vlink *link)
{
	lockdep_assert_held(&link->tx_lock);
	pump_regs(link);
	pump_rejects(link);
	pump_conns(link);
	/* Payload may turn out to need a registration first. */
	if (!list_empty(&link->regs)) {
		pump_regs(link);
		pump_conns(link);
	}
	pump_opens(link);
	pump_pings(link);
}

/**
 * vpost_unlock() - give tx_lock back and tell senders who may go on
 * @link: the link; not touched once the lock is given back for good
 *
 * Context: any; no lock of the core held.
 */
void vpost_unlock(struct vlink *link) __releases(&link->tx_lock)
{
	struct sanx_conn *conn;
	struct vconn *vc;

	lockdep_assert_held(&link->tx_lock);
	if (list_empty(&link->ready)) {
		spin_unlock_bh(&link->tx_lock);
		return;
	}
	kref_get(&link->refs);
	while (!list_empty(&link->ready)) {
		vc = list_first_entry(&link->ready, struct vconn, room);
		list_del_init(&vc->room);
		/* It is attached, so there is a reference to go by. */
		conn = sanx_conn_get(vconn_conn(vc));
		spin_unlock_bh(&link->tx_lock);
		vspill_tx_ready(vc);
		sanx_conn_put(conn);
		spin_lock_bh(&link->tx_lock);
	}
	spin_unlock_bh(&link->tx_lock);
	vlink_put(link);
}

/**
 * vpost_pend() - have frames of a connection sent
 * @vc: an attached connection
 * @frames: VCONN_P_*
 *
 * Context: tx_lock held, and given back with vpost_unlock().
 */
void vpost_pend(struct vconn *vc, u32 frames)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	if (vc->flags & (VCONN_OVER | VCONN_RELEASED))
		return;
	vc->pending |= frames;
	/*
	 * An acceptor says nothing before its OPEN_ACK, and nobody anything
	 * before it is known what the peer has of what was said before.
	 */
	if (vc->flags & (VCONN_ACCEPTING | VCONN_ORPHAN) ||
	    (vc->flags & VCONN_RESUMING && !(frames & VCONN_P_OPEN)))
		return;
	if (list_empty(&vc->pend))
		list_add_tail(&vc->pend, frames & VCONN_P_OPEN ?
			      &link->openers : &link->pending);
	vpost_pump(link);
}

/**
 * vpost_reg() - a connection has a ring to be registered
 * @vc: an attached connection, its ring or its staging memory mapped
 *
 * Otherwise it is registered with the first frame that needs it.
 *
 * Context: tx_lock held; vpost_pump() is up to the caller.
 */
void vpost_reg(struct vconn *vc)
{
	struct vlink *link = vc->link;

	lockdep_assert_held(&link->tx_lock);
	/* Once is enough for both. */
	if (link->reg_alone && list_empty(&vc->reg) && reg_due(vc))
		list_add_tail(&vc->reg, &link->regs);
}

/**
 * vpost_return() - we write to the peer's ring no more
 * @vc: an attached connection, with nothing pending
 *
 * Context: tx_lock held, after vpost_ok(), and given back with vpost_unlock().
 */
void vpost_return(struct vconn *vc)
{
	post_simple(vc->link, vc, SANX_FRAME_RETURN,
		    vc->turned ? SANX_FRAME_F_TURN : 0);
}

/**
 * vpost_flush() - what is held back is to go, unless it is corked
 * @vc: a connection that is, or was, attached
 *
 * Context: tx_lock held, and given back with vpost_unlock().
 */
void vpost_flush(struct vconn *vc)
{
	const u32 never = VCONN_PEER_CLOSED | VCONN_RESET | VCONN_OVER;

	lockdep_assert_held(&vc->link->tx_lock);
	if (vc->posted != vc->end && !vc->corked && !(vc->flags & never))
		vpost_pend(vc, VCONN_P_DATA);
}

/**
 * vpost_uncork() - what is held back is to go
 * @vc: as of vpost_flush()
 *
 * Context: tx_lock held, and given back with vpost_unlock().
 */
void vpost_uncork(struct vconn *vc)
{
	vc->corked = false;
	vpost_flush(vc);
}

/* Does a connection take payload?  If not now, the core is about to be told. */
static int post_takes(const struct vconn *vc)
{
	const u32 over = VCONN_CLOSED | VCONN_PEER_CLOSED | VCONN_OVER;

	if (!(vc->flags & VCONN_OPEN))
		return -EPIPE;
	return vc->flags & over ? -EAGAIN : 0;
}

/* Bytes that can be sent at once, past the staging memory. */
static u32 post_directly(const struct vconn *vc)
{
	const u32 later = VCONN_ACCEPTING | VCONN_ORPHAN | VCONN_RESUMING;
	const u32 first = VCONN_P_OPEN_ACK | VCONN_P_RESUME_ACK;
	const struct sanx_conn *conn = vconn_conn((struct vconn *)vc);

	if (vc->posted != vc->end || !vpost_ok(vc->link) ||
	    (vc->flags & later) || (vc->pending & first) || vc->early)
		return 0;
	return min(vstaging_room(vc), sanx_txq_room(&conn->tx));
}

/**
 * vpost_inline() - send payload in a frame, at once
 * @vc: the connection
 * @data: the bytes
 * @len: how many, at least 1
 * @urgent: the last one is urgent
 *
 * Context: process, conn->tx_mutex held.
 * Return: 0; -EAGAIN if that cannot be now; -EPIPE if the connection takes no
 * more.
 */
int vpost_inline(struct vconn *vc, const void *data, u32 len, bool urgent)
{
	struct vlink *link = vconn_lock(vc);
	int err = post_takes(vc);

	if (!err && (len > link->inline_max || len > post_directly(vc)))
		err = -EAGAIN;
	if (!err) {
		WRITE_ONCE(vc->end, vc->end + len);
		if (urgent)
			vc->urgent = vc->end;
		post_payload(link, vc, data, NULL, len,
			     urgent ? SANX_FRAME_F_URGENT : 0);
		if (!vc->pending)
			list_del_init(&vc->pend);
	}
	vpost_unlock(link);
	return err;
}

/**
 * vpost_long() - send payload from a program's pages, at once
 * @vc: the connection
 * @link: its link, as far as is known
 * @l: the pages, mapped for that; its list's from here on, if any is sent
 * @len: bytes, at least 1
 *
 * Each frame is completed: the pages are to be given back soon.
 *
 * Context: process, conn->tx_mutex held.
 * Return: bytes that were sent; or 0 if none can be now.
 */
u32 vpost_long(struct vconn *vc, struct vlink *link, struct vlong *l, u32 len)
{
	u32 most = min((link->max_sge - 1) * (u32)PAGE_SIZE, VPOST_MAX);
	struct vlink *now = vconn_lock(vc);
	u32 n, done = 0;

	if (now != link || post_takes(vc))
		len = 0;
	while (done < len) {
		n = min3(len - done, most, post_directly(vc));
		n = min(n, vc->win.size);
		if (!n)
			break;
		WRITE_ONCE(vc->end, vc->end + n);
		post_payload(link, vc, NULL, l, n, 0);
		done += n;
	}
	if (done) {
		vlong_lent(vc, l, vc->end);
		if (!vc->pending)
			list_del_init(&vc->pend);
	}
	vpost_unlock(now);
	return done;
}

/**
 * vpost_taken() - payload is in the staging memory
 * @vc: the connection
 * @len: bytes, at least 1, behind what was there
 * @urgent: the last one is urgent
 * @when: to be sent
 *
 * Context: process, conn->tx_mutex held.
 * Return: 0; -EAGAIN if the peer has closed, which the core is about to be told;
 * -EPIPE if the connection takes no more.
 */
int vpost_taken(struct vconn *vc, u32 len, bool urgent, enum vpost_when when)
{
	struct vlink *link = vconn_lock(vc);
	int err = post_takes(vc);

	if (!err) {
		/* What was before is not corked. */
		if (when == VPOST_CORKED)
			vpost_flush(vc);
		vc->corked = when == VPOST_CORKED;
		WRITE_ONCE(vc->end, vc->end + len);
		if (urgent)
			vc->urgent = vc->end;
		if (when == VPOST_NOW)
			vpost_flush(vc);
	}
	vpost_unlock(link);
	return err;
}

/* What a PING takes to be acknowledged, in the best case so far. */
static void post_timed(struct vlink *link, const struct vslot *slot)
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
 * vpost_done() - completion of a frame, and so of all before it
 * @cq: the link's
 * @wc: what came
 */
void vpost_done(struct ib_cq *cq, struct ib_wc *wc)
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
	post_timed(link, slot);
	list_for_each_entry_safe(s, next, &link->posted, node) {
		if (!slot->posted)
			break;
		list_move(&s->node, &link->free);
		slot_done(s, &read);
	}
	vpost_pump(link);
	vpost_unlock(link);
	vlong_read(&read);
}
