/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sending side of a link: declarations that its files share.  From the
 * bottom up:
 *
 *	wr.c		work requests: slots, chains, the doorbell, completions
 *	frames.c	contents of the frames of the protocol
 *	payload.c	payload: the bytes of the next frame, and how they are
 *			sent
 *	xmit.c		the order in which pending frames are sent
 *
 * link->tx_lock guards all of it.
 */
#ifndef _SANX_VERBS_XMIT_H
#define _SANX_VERBS_XMIT_H

#include "verbs.h"

/**
 * struct vchain - work requests that are about to be posted
 * @reg: registration
 * @write: RDMA writes; two where a ring wraps
 * @sge: of @write, for payload in the send buffer
 * @n_lent: entries of link->lent that @write uses, for payload in a program's
 *	pages
 * @send: the frame
 * @send_sge: of @send
 * @first: first work request of the chain
 * @next: where the next work request is linked
 *
 * A chain is on the stack of the caller.  The device has copied what it needs
 * when ib_post_send() returns.
 */
struct vchain {
	struct ib_reg_wr	reg;
	struct ib_rdma_wr	write[2];
	struct ib_sge		sge[2];
	int			n_lent;
	struct ib_send_wr	send;
	struct ib_sge		send_sge;
	struct ib_send_wr	*first;
	struct ib_send_wr	**next;
};

/**
 * vwr_init() - start a chain
 * @c: the chain; empty on return
 */
static inline void vwr_init(struct vchain *c)
{
	c->first = NULL;
	c->next = &c->first;
	c->n_lent = 0;
}

/* wr.c */
struct vslot *vwr_slot(struct vlink *link);
void vwr_reg(struct vchain *c, struct vlink *link, struct vring *ring);
void vwr_write(struct vchain *c, int i, struct vconn *vc, const struct vlong *l,
	       u64 offset, u32 len);
void vwr_post_send(struct vlink *link, struct vslot *slot, struct vchain *c,
		   struct vconn *vc, const struct sanx_frame *f, u32 bytes);
void vwr_post_imm(struct vlink *link, struct vslot *slot, struct vchain *c,
		  struct vconn *vc, const struct sanx_frame *f);
void vwr_post_reg(struct vlink *link, struct vring *ring);

/* frames.c */
void vframe_post(struct vlink *link, struct vslot *slot, struct vchain *c,
		 struct vconn *vc, struct sanx_frame *f);
void vframe_open(struct vlink *link, struct vconn *vc);
void vframe_open_ack(struct vlink *link, struct vconn *vc);
void vframe_window(struct vlink *link, struct vconn *vc);
void vframe_return_ack(struct vlink *link, struct vconn *vc);
void vframe_resume(struct vlink *link, struct vconn *vc, u8 type);
void vframe_bare(struct vlink *link, struct vconn *vc, u8 type, u8 flags);
void vframe_reject(struct vlink *link, const struct vopen *o);
void vframe_ping(struct vlink *link);
void vframe_pong(struct vlink *link, struct vconn *vc);

/* payload.c */
void vpayload_next(struct vlink *link, struct vconn *vc);

#endif /* _SANX_VERBS_XMIT_H */
