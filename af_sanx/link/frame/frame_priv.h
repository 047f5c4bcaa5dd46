/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of this folder share; frames.h has what others use.  The sending side of a
 * link, from the bottom up:
 *
 *	wr.c		messages to the wire: slots, completions
 *	emit.c		contents of the frames of the protocol
 *	payload.c	payload: the bytes of the next frame, and how they are
 *			sent
 *	xmit.c		the order in which pending frames are sent
 *
 * link->tx_lock guards all of it.
 */
#ifndef _SANX_FRAME_PRIV_H
#define _SANX_FRAME_PRIV_H

#include "frames.h"

/**
 * sanx_msg_init() - start a message
 * @m: the message; empty on return
 */
static inline void sanx_msg_init(struct sanx_wire_msg *m)
{
	m->enable = NULL;
	m->n_writes = 0;
}

/* wr.c */
struct sanx_slot *sanx_msg_slot(struct sanx_link *link);
void sanx_msg_enable(struct sanx_wire_msg *m, struct sanx_lring *ring);
void sanx_msg_write(struct sanx_wire_msg *m, struct sanx_lconn *lc,
		    const struct sanx_chunk *c, u64 offset, u32 len);
void sanx_msg_post(struct sanx_link *link, struct sanx_slot *slot,
		   struct sanx_wire_msg *m, struct sanx_lconn *lc,
		   const struct sanx_frame *f);

/* emit.c */
void sanx_emit_frame(struct sanx_link *link, struct sanx_slot *slot,
		     struct sanx_wire_msg *m, struct sanx_lconn *lc,
		     struct sanx_frame *f);
void sanx_emit_open(struct sanx_link *link, struct sanx_lconn *lc);
void sanx_emit_open_ack(struct sanx_link *link, struct sanx_lconn *lc);
void sanx_emit_ring(struct sanx_link *link, struct sanx_lconn *lc);
void sanx_emit_resume(struct sanx_link *link, struct sanx_lconn *lc, u8 type);
void sanx_emit_bare(struct sanx_link *link, struct sanx_lconn *lc, u8 type,
		    u8 flags);
void sanx_emit_reject(struct sanx_link *link, const struct sanx_request *o);
void sanx_emit_ping(struct sanx_link *link);
void sanx_emit_pong(struct sanx_link *link);

/* payload.c */
void sanx_payload_next(struct sanx_link *link, struct sanx_lconn *lc);

/* offer.c */
struct sanx_lring *sanx_offer_ring(struct sanx_lconn *lc);

/* link.c */
void sanx_link_doubt(struct sanx_link *link);

/* ack.c */
bool sanx_ack_wanted(const struct sanx_lconn *lc);
bool sanx_ack_last(const struct sanx_lconn *lc);

/* ringmem.c */
bool sanx_lring_mapped(const struct sanx_lring *ring);
bool sanx_lring_disabled(const struct sanx_lring *ring);

/* chunk.c */
void sanx_chunk_add(struct sanx_lconn *lc, struct sanx_chunk *c);
void sanx_chunks_acked(struct sanx_lconn *lc, struct list_head *spent);

/* sndbuf.c */
u32 sanx_sndbuf_cap(const struct sanx_lconn *lc);
bool sanx_sndbuf_signal(const struct sanx_lconn *lc);
bool sanx_sndbuf_share(const struct sanx_lconn *lc, u32 bytes, u32 share);

/* payer.c */
bool sanx_payer_claim(struct sanx_link *link, u32 pages, enum sanx_claim what);
void sanx_payer_unclaim(struct sanx_payer *payer, u32 pages);

/* user.c */
bool sanx_user_full(const struct sanx_user *user, u32 pages);
void sanx_user_half_open(struct sanx_user *user, int n);

#endif /* _SANX_FRAME_PRIV_H */
