// SPDX-License-Identifier: GPL-2.0
/*
 * The receiving side of a link.
 *
 * Frames of a link are processed in softirq, one at a time and in order.
 * Nothing that arrives is trusted: sanx_frame_parse() has checked each value by
 * itself, and this file, conn.c, peer.c and their callees check it against the
 * state of the connection.  A value that no correct peer sends is counted as a
 * protocol error and ends the link.
 */
#include "verbs.h"

/**
 * vrecv_post() - post a receive, so that the peer can send one more frame
 * @r: a receive that is not posted
 *
 * Context: any.
 * Return: 0; or -errno, and the receive is not posted.
 */
int vrecv_post(struct vrecv *r)
{
	struct vlink *link = r->link;
	struct ib_sge sge = {
		.addr	= r->dma,
		.length	= SANX_FRAME_MAX,
		.lkey	= link->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe	= &r->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	ib_dma_sync_single_for_device(link->pd->device, r->dma, SANX_FRAME_MAX,
				      DMA_FROM_DEVICE);
	return ib_post_recv(link->qp, &wr, NULL);
}

/* Processes a frame about a connection; @imm: it arrived as immediate data. */
static int recv_conn_frame(struct vlink *link, struct sanx_frame *f, bool imm)
{
	struct vconn *vc = vconn_find(link->group, f->conn);
	int err;

	if (!vc)
		return -EPROTO;
	/*
	 * Immediate data has neither offset nor credit.  The order of frames
	 * gives them: the next offset of the stream, and an unchanged credit.
	 */
	if (imm) {
		f->offset = vconn_conn(vc)->rx.tail;
		f->credit = READ_ONCE(vconn_conn(vc)->tx.limit);
	}
	err = vconn_frame(vc, link, f);
	sanx_conn_put(vconn_conn(vc));
	return err;
}

static int recv_frame(struct vlink *link, struct sanx_frame *f)
{
	switch (f->type) {
	case SANX_FRAME_OPEN:
	case SANX_FRAME_RESUME:
		return vopen_take(link, f);
	case SANX_FRAME_PING:
		spin_lock_bh(&link->tx_lock);
		link->pong = true;
		spin_unlock_bh(&link->tx_lock);
		return 0;
	case SANX_FRAME_PONG:
		return 0;
	default:
		return recv_conn_frame(link, f, false);
	}
}

/*
 * The first frame makes a passive link usable: see cm.c.  Frames that arrived
 * before a link was lost count, because the peer may have seen their
 * completions.
 */
static bool recv_state_ok(struct vlink *link)
{
	enum vlink_state state;

	if (READ_ONCE(link->state) == VLINK_ACCEPTING)
		vlink_came_up(link);
	/* Pairs with vlink_set_state(), so that link->err is that of VLINK_DYING. */
	state = smp_load_acquire(&link->state);
	return state == VLINK_UP ||
	       (state == VLINK_DYING && READ_ONCE(link->err) == ETIMEDOUT);
}

/* A write with immediate data; iWARP has none. */
static int recv_write(struct vlink *link, const struct ib_wc *wc)
{
	struct sanx_frame f;
	int err;

	if (link->early)
		return -EPROTO;
	err = sanx_imm_parse(&f, be32_to_cpu(wc->ex.imm_data), wc->byte_len);
	if (err)
		return err;
	WRITE_ONCE(link->heard, jiffies);
	return recv_conn_frame(link, &f, true);
}

static int recv_buf(struct vlink *link, const void *buf, const struct ib_wc *wc)
{
	struct sanx_frame f;
	int err;

	if (!recv_state_ok(link))
		return -ENOTCONN;
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		return recv_write(link, wc);
	err = sanx_frame_parse(&f, buf, wc->byte_len);
	if (err)
		return err;
	WRITE_ONCE(link->heard, jiffies);
	spin_lock_bh(&link->tx_lock);
	err = link_credit_granted(&link->credit, f.grant);
	spin_unlock_bh(&link->tx_lock);
	return err ?: recv_frame(link, &f);
}

/**
 * vrecv_done() - a frame has arrived
 * @cq: the link's completion queue
 * @wc: the completion
 *
 * Context: softirq, one at a time for a link; takes tx_lock.
 */
void vrecv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vrecv *r = container_of(wc->wr_cqe, struct vrecv, cqe);
	struct vlink *link = r->link;
	int err;

	if (wc->status != IB_WC_SUCCESS) {
		vlink_wc_error(link, wc, "receive");
		return;
	}
	ib_dma_sync_single_for_cpu(link->pd->device, r->dma, SANX_FRAME_MAX,
				   DMA_FROM_DEVICE);
	err = recv_buf(link, r->buf, wc);
	if (err == -EPROTO) {
		pr_debug("node %u sent what it must not\n", link->group->peer);
		sanx_count_protocol_error(link->group->vnet->net);
	}
	if (!err && vrecv_post(r)) {
		vlink_kill(link, ETIMEDOUT);
		return;
	}
	if (err) {
		vlink_kill(link, ECONNRESET);
		return;
	}
	spin_lock_bh(&link->tx_lock);
	link_credit_posted(&link->credit);
	vxmit_run(link);
	vxmit_unlock(link);
}
