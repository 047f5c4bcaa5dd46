/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sending side of a link: declarations that its files share.  From the
 * bottom up:
 *
 *	wr.c		messages to the wire: slots, completions
 *	frames.c	contents of the frames of the protocol
 *	payload.c	payload: the bytes of the next frame, and how they are
 *			sent
 *	xmit.c		the order in which pending frames are sent
 *
 * link->tx_lock guards all of it.
 */
#ifndef _SANX_LINK_XMIT_H
#define _SANX_LINK_XMIT_H

#include "internal.h"

/**
 * vwr_init() - start a message
 * @m: the message; empty on return
 */
static inline void vwr_init(struct sanx_wire_msg *m)
{
	m->enable = NULL;
	m->n_writes = 0;
}

/* wr.c */
struct vslot *vwr_slot(struct vlink *link);
void vwr_enable(struct sanx_wire_msg *m, struct vring *ring);
void vwr_write(struct sanx_wire_msg *m, struct vconn *vc, const struct vlong *l,
	       u64 offset, u32 len);
void vwr_post_frame(struct vlink *link, struct vslot *slot,
		    struct sanx_wire_msg *m, struct vconn *vc,
		    const struct sanx_frame *f, u32 bytes);
void vwr_post_imm(struct vlink *link, struct vslot *slot,
		  struct sanx_wire_msg *m, struct vconn *vc,
		  const struct sanx_frame *f);
void vwr_post_enable(struct vlink *link, struct vring *ring);

/* frames.c */
void vframe_post(struct vlink *link, struct vslot *slot,
		 struct sanx_wire_msg *m, struct vconn *vc,
		 struct sanx_frame *f);
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

#endif /* _SANX_LINK_XMIT_H */
