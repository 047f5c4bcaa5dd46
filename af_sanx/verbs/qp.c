// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: resources of a link, work requests and completions.
 *
 * A message is one chain of work requests and one doorbell: a registration if
 * the message enables a mapping (alone.c has another order), up to two RDMA
 * writes, and a SEND with the frame.  Without a frame, the last write carries
 * immediate data.
 */
#include <linux/dma-mapping.h>
#include <linux/error-injection.h>
#include <linux/gfp.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "status.h"
#include "verbs.h"

/**
 * struct verbs_chain - work requests that are about to be posted
 * @reg: registration
 * @write: RDMA writes
 * @send: the frame
 * @send_sge: of @send
 * @first: first work request of the chain
 * @next: where the next work request is linked
 *
 * It is on the stack of verbs_post_chain().  The device has copied what it needs when
 * ib_post_send() returns.
 */
struct verbs_chain {
	struct ib_reg_wr	reg;
	struct ib_rdma_wr	write[2];
	struct ib_send_wr	send;
	struct ib_sge		send_sge;
	struct ib_send_wr	*first;
	struct ib_send_wr	**next;
};

static void chain_add(struct verbs_chain *c, struct ib_send_wr *wr)
{
	wr->next = NULL;
	*c->next = wr;
	c->next = &wr->next;
}

/* Fills the SGEs of a write.  Returns how many. */
static int write_sges(struct verbs_link *vl, struct ib_sge *sge,
		      const struct sanx_wire_write *w)
{
	const struct sanx_wire_page *p;
	u32 done, n;
	size_t pos;
	int i = 0;

	for (done = 0; done < w->len; done += n) {
		p = sanx_wire_piece(w, done, &pos, &n);
		ib_dma_sync_single_for_device(vl->pd->device, p->addr + pos, n,
					      DMA_TO_DEVICE);
		sge[i++] = (struct ib_sge){
			.addr	= p->addr + pos,
			.length	= n,
			.lkey	= vl->pd->local_dma_lkey,
		};
	}
	return i;
}

static void chain_writes(struct verbs_chain *c, struct verbs_link *vl,
			 const struct sanx_wire_msg *m)
{
	const struct sanx_wire_write *w;
	struct ib_sge *sge = vl->sge;
	int i, n;

	for (i = 0; i < m->n_writes; i++, sge += n) {
		w = &m->write[i];
		n = write_sges(vl, sge, w);
		c->write[i] = (struct ib_rdma_wr){
			.wr.wr_cqe	= &vl->chain,
			.wr.sg_list	= sge,
			.wr.num_sge	= n,
			.wr.opcode	= IB_WR_RDMA_WRITE,
			.remote_addr	= w->to,
			.rkey		= w->key,
		};
		chain_add(c, &c->write[i].wr);
	}
}

static struct ib_send_wr *chain_frame(struct verbs_chain *c,
				      struct verbs_link *vl,
				      const struct sanx_wire_msg *m)
{
	u64 dma = vl->tx.dma + m->slot * SANX_WIRE_STRIDE;

	c->send_sge.length = m->bytes;
	c->send_sge.addr = dma;
	c->send_sge.lkey = vl->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(vl->pd->device, dma, m->bytes,
				      DMA_TO_DEVICE);
	c->send = (struct ib_send_wr){
		.sg_list	= &c->send_sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
	};
	chain_add(c, &c->send);
	return &c->send;
}

static struct ib_send_wr *chain_imm(struct verbs_chain *c,
				    const struct sanx_wire_msg *m)
{
	struct ib_send_wr *wr = &c->write[m->n_writes - 1].wr;

	wr->opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr->ex.imm_data = cpu_to_be32(m->imm);
	return wr;
}

/* Post a message to the device. */
int verbs_post_chain(struct verbs_link *vl, const struct sanx_wire_msg *m)
{
	struct ib_send_wr *last;
	struct verbs_chain c;

	c.next = &c.first;
	if (m->enable) {
		verbs_reg_wr(m->enable, &c.reg);
		c.reg.wr.wr_cqe = &vl->chain;
		chain_add(&c, &c.reg.wr);
	}
	chain_writes(&c, vl, m);
	last = m->bytes ? chain_frame(&c, vl, m) : chain_imm(&c, m);
	last->wr_cqe = &vl->sent[m->slot].cqe;
	last->send_flags = m->signal ? IB_SEND_SIGNALED : 0;
	return ib_post_send(vl->qp, c.first, NULL);
}

/* sanx_wire_ops.post. */
int verbs_post(struct sanx_wire_link *wl, const struct sanx_wire_msg *m)
{
	struct verbs_link *vl = verbs_link_of(wl);

	return vl->alone ? verbs_alone_post(vl, m) : verbs_post_chain(vl, m);
}
ALLOW_ERROR_INJECTION(verbs_post, ERRNO);

/* Post a registration to the device. */
int verbs_post_reg(struct verbs_link *vl, const struct sanx_wire_map *map)
{
	struct ib_reg_wr wr;

	verbs_reg_wr(map, &wr);
	wr.wr.wr_cqe = &vl->chain;
	return ib_post_send(vl->qp, &wr.wr, NULL);
}

/* Tests have a completion fail as no software device lets it. */
#ifdef CONFIG_FAULT_INJECTION
static unsigned int fail_status;
module_param(fail_status, uint, 0644);
MODULE_PARM_DESC(fail_status, "debug kernels only: the next frame that is sent completes with this status, a number of enum ib_wc_status (default: 0, its own)");

static void debug_status(struct ib_wc *wc)
{
	if (unlikely(READ_ONCE(fail_status)))
		wc->status = xchg(&fail_status, 0);
}
#else
static void debug_status(struct ib_wc *wc)
{
}
#endif

/* Work has failed. */
void verbs_wc_error(struct verbs_link *vl, const struct ib_wc *wc, const char *what)
{
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		pr_debug("%s to node %u: %s\n", what,
			 sanx_wire_peer(vl->wl.link),
			 ib_wc_status_msg(wc->status));
	sanx_wire_failed(vl->wl.link, verbs_status_failure(wc->status));
}

static void chain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_link *vl = container_of(wc->wr_cqe, struct verbs_link,
					     chain);

	if (wc->status != IB_WC_SUCCESS)
		verbs_wc_error(vl, wc, "write");
}

static void sent_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_cqe *e = container_of(wc->wr_cqe, struct verbs_cqe, cqe);

	debug_status(wc);
	if (wc->status != IB_WC_SUCCESS) {
		verbs_wc_error(e->vl, wc, "send");
		return;
	}
	if (e->vl->alone)
		verbs_alone_sent(e->vl, e - e->vl->sent);
	sanx_wire_sent(e->vl->wl.link, e - e->vl->sent);
}

/* Posts a receive, so that the peer can send one more message. */
static noinline int verbs_recv_post(struct verbs_cqe *e)
{
	struct verbs_link *vl = e->vl;
	u64 dma = vl->rx.dma + (e - vl->recv) * SANX_WIRE_STRIDE;
	struct ib_sge sge = {
		.addr	= dma,
		.length	= SANX_WIRE_FRAME_MAX,
		.lkey	= vl->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe	= &e->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	ib_dma_sync_single_for_device(vl->pd->device, dma, SANX_WIRE_FRAME_MAX,
				      DMA_FROM_DEVICE);
	return ib_post_recv(vl->qp, &wr, NULL);
}
ALLOW_ERROR_INJECTION(verbs_recv_post, ERRNO);

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_cqe *e = container_of(wc->wr_cqe, struct verbs_cqe, cqe);
	struct verbs_link *vl = e->vl;
	struct sanx_link *link = vl->wl.link;
	u32 pos = (e - vl->recv) * SANX_WIRE_STRIDE;
	bool again;

	if (wc->status != IB_WC_SUCCESS) {
		verbs_wc_error(vl, wc, "receive");
		return;
	}
	ib_dma_sync_single_for_cpu(vl->pd->device, vl->rx.dma + pos,
				   SANX_WIRE_FRAME_MAX, DMA_FROM_DEVICE);
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		again = sanx_wire_written(link, be32_to_cpu(wc->ex.imm_data),
					  wc->byte_len);
	else
		again = sanx_wire_arrived(link, vl->rx.buf + pos, wc->byte_len);
	if (!again)
		return;
	if (verbs_recv_post(e))
		sanx_wire_failed(link, SANX_WIRE_LOST);
	else
		sanx_wire_received(link);
}

static int frames_map(struct verbs_frames *fr, struct ib_device *dev, void *buf,
		      u32 n, enum dma_data_direction dir)
{
	size_t bytes = n * SANX_WIRE_STRIDE;
	u64 dma = ib_dma_map_single(dev, buf, bytes, dir);

	if (ib_dma_mapping_error(dev, dma))
		return -ENOMEM;
	fr->buf = buf;
	fr->dma = dma;
	fr->bytes = bytes;
	fr->dir = dir;
	return 0;
}

static void frames_unmap(struct verbs_frames *fr, struct ib_device *dev)
{
	if (fr->buf)
		ib_dma_unmap_single(dev, fr->dma, fr->bytes, fr->dir);
}

static struct verbs_cqe *setup_cqes(struct verbs_link *vl, u32 n,
				    void (*done)(struct ib_cq *cq,
						 struct ib_wc *wc))
{
	struct verbs_cqe *e = kcalloc(n, sizeof(*e), GFP_KERNEL);
	u32 i;

	for (i = 0; e && i < n; i++) {
		e[i].cqe.done = done;
		e[i].vl = vl;
	}
	return e;
}

static int setup_recvs(struct verbs_link *vl, struct ib_device *dev)
{
	const size_t bytes = SANX_WIRE_RECVS * SANX_WIRE_STRIDE;
	void *buf = alloc_pages_exact(bytes, GFP_KERNEL | __GFP_ZERO);
	int err;
	u32 i;

	if (!buf)
		return -ENOMEM;
	err = frames_map(&vl->rx, dev, buf, SANX_WIRE_RECVS, DMA_FROM_DEVICE);
	if (err)
		free_pages_exact(buf, bytes);
	for (i = 0; i < SANX_WIRE_RECVS && !err; i++)
		err = verbs_recv_post(&vl->recv[i]);
	return err;
}

/*
 * One work request and one receive more than messages need, for ib_drain_qp(), and one
 * request for a fence (alone.c).
 */
static noinline int verbs_setup_qp(struct verbs_link *vl)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= vl->cq,
		.recv_cq	= vl->cq,
		.cap.max_send_wr = SANX_WIRE_SLOTS * VERBS_CHAIN + 2,
		.cap.max_recv_wr = SANX_WIRE_RECVS + 1,
		.cap.max_send_sge = vl->max_sge,
		.cap.max_recv_sge = 1,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int err;

	err = rdma_create_qp(vl->id, vl->pd, &attr);
	if (err && vl->max_sge > 1) {
		/*
		 * Some devices do not support as many.  They do not write from
		 * pages of programs.
		 */
		vl->max_sge = 1;
		attr.cap.max_send_sge = 1;
		err = rdma_create_qp(vl->id, vl->pd, &attr);
	}
	if (!err)
		vl->qp = vl->id->qp;
	return err;
}
ALLOW_ERROR_INJECTION(verbs_setup_qp, ERRNO);

static int setup_objects(struct verbs_link *vl, struct ib_device *dev)
{
	const int cqes = SANX_WIRE_SLOTS * VERBS_CHAIN + SANX_WIRE_RECVS + 3;
	struct ib_pd *pd;
	struct ib_cq *cq;

	pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	vl->pd = pd;
	vl->chain.done = chain_done;
	vl->sent = setup_cqes(vl, SANX_WIRE_SLOTS, sent_done);
	vl->recv = setup_cqes(vl, SANX_WIRE_RECVS, recv_done);
	if (!vl->sent || !vl->recv)
		return -ENOMEM;
	if (dev->ops.driver_id == RDMA_DRIVER_RXE && verbs_alone_alloc(vl))
		return -ENOMEM;
	vl->max_sge = min_t(u32, dev->attrs.max_send_sge, VERBS_SGES);
	cq = ib_alloc_cq_any(dev, vl, cqes, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	vl->cq = cq;
	return verbs_setup_qp(vl);
}

/* iWARP has no writes with immediate data. */
static int setup_engine(struct verbs_link *vl, struct ib_device *dev)
{
	struct sanx_wire_caps caps = {
		.device		= dev->name,
		.map_max	= (u64)dev->attrs.max_fast_reg_page_list_len *
				  PAGE_SIZE,
		.lend_max	= (vl->max_sge - 1) * PAGE_SIZE,
		.imm		= !rdma_protocol_iwarp(dev, vl->id->port_num),
	};
	void *buf;
	int err;

	err = sanx_wire_prepare(vl->wl.link, &caps, &buf);
	return err ?: frames_map(&vl->tx, dev, buf, SANX_WIRE_SLOTS,
				 DMA_TO_DEVICE);
}

/*
 * Allocate the device resources of a link, and post its receives.
 *
 * After a failure verbs_free() frees what was allocated.
 *
 * Return: 0 or -errno; -EOPNOTSUPP if the device lacks fast registration.
 */
int verbs_setup(struct verbs_link *vl)
{
	struct ib_device *dev = vl->id->device;
	int err;

	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return -EOPNOTSUPP;
	err = setup_objects(vl, dev);
	if (!err)
		err = setup_engine(vl, dev);
	return err ?: setup_recvs(vl, dev);
}
ALLOW_ERROR_INJECTION(verbs_setup, ERRNO);

/* sanx_wire_ops.stop. */
void verbs_stop(struct sanx_wire_link *wl)
{
	struct verbs_link *vl = verbs_link_of(wl);

	if (!vl->live)
		return;
	if (vl->alone)
		verbs_alone_stop(vl);
	rdma_disconnect(vl->id);
	ib_drain_qp(vl->qp);
}

/* sanx_wire_ops.free. */
void verbs_free(struct sanx_wire_link *wl)
{
	struct verbs_link *vl = verbs_link_of(wl);
	struct ib_device *dev = vl->pd ? vl->pd->device : NULL;

	if (vl->qp)
		rdma_destroy_qp(vl->id);
	if (vl->cq)
		ib_free_cq(vl->cq);
	frames_unmap(&vl->tx, dev);
	frames_unmap(&vl->rx, dev);
	if (vl->rx.buf)
		free_pages_exact(vl->rx.buf, vl->rx.bytes);
	kfree(vl->sent);
	kfree(vl->recv);
	verbs_alone_free(vl);
	if (vl->pd)
		ib_dealloc_pd(vl->pd);
	/* The removal of a device waits for this. */
	if (vl->id)
		rdma_destroy_id(vl->id);
	kfree(vl);
}
