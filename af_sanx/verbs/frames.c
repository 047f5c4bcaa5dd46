// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that a link sends: what is in them.
 *
 * Each function here fills one frame, finishes it and posts it.  A frame with a
 * header brings a grant of link credits, whatever it is about (vframe_post()); where
 * it has a field for that, it also brings the credit of its connection.
 * Documentation/protocol.rst says what they mean, sanx_frame_build() has the bytes.
 *
 * The caller has seen to it that there is a slot and a link credit (vxmit_ok()), and
 * takes what it sends from vc->pending.
 */
#include "xmit.h"

/**
 * vframe_post() - finish a frame and post the chain that it ends
 * @link: the link
 * @slot: a slot of vwr_slot(), with the frame's body in it already; the link's from
 *	here on
 * @c: what goes before the frame
 * @vc: the connection that it is about, kept until the completion, or NULL
 * @f: what its header says; the grant is filled in
 *
 * Context: tx_lock held.
 */
void vframe_post(struct vlink *link, struct vslot *slot, struct vchain *c,
		 struct vconn *vc, struct sanx_frame *f)
{
	f->grant = link_credit_advertise(&link->credit);
	vwr_post_send(link, slot, c, vc, f, sanx_frame_build(slot->buf, f));
}

/* A frame without a body. */
static void frame_plain(struct vlink *link, struct vconn *vc,
			struct sanx_frame *f)
{
	struct vchain c;

	vwr_init(&c);
	vframe_post(link, vwr_slot(link), &c, vc, f);
}

static void frame_window(struct sanx_window *w, const struct vring *ring)
{
	struct sanx_window_info win = {
		.addr	= ring->iova,
		.rkey	= ring->key,
		.size	= ring->mr ? ring->size : 0,
	};

	sanx_window_build(w, &win);
}

/**
 * vframe_open() - send OPEN
 * @link: the link
 * @vc: the connection, OPENING
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_open(struct vlink *link, struct vconn *vc)
{
	const struct sanx_conn *conn = vconn_conn(vc);
	struct vslot *slot = vwr_slot(link);
	struct sanx_open *open = slot->buf + sizeof(struct sanx_frame_hdr);
	struct sanx_frame f = {
		.type	= SANX_FRAME_OPEN,
		.len	= sizeof(*open),
	};
	struct vchain c;

	vwr_init(&c);
	open->src = conn->local.addr;
	open->dst = conn->remote.addr;
	open->sport = conn->local.port;
	open->dport = conn->remote.port;
	open->conn = cpu_to_le32(vc->id);
	frame_window(&open->window, &vc->ring);
	vframe_post(link, slot, &c, vc, &f);
}

/* A frame that says where our end of a connection is, and @ring, if it has one. */
static void frame_place(struct vlink *link, struct vconn *vc,
			struct vring *ring, struct sanx_frame *f)
{
	struct vslot *slot = vwr_slot(link);
	struct sanx_place *place = slot->buf + sizeof(struct sanx_frame_hdr);
	struct vchain c;

	vwr_init(&c);
	vwr_reg(&c, link, ring);
	place->conn = cpu_to_le32(vc->id);
	place->reserved = 0;
	frame_window(&place->window, ring);
	f->len = sizeof(*place);
	f->conn = vc->peer_id;
	vframe_post(link, slot, &c, vc, f);
}

/**
 * vframe_open_ack() - send OPEN_ACK
 * @link: the link
 * @vc: the connection, accepted
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_open_ack(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_OPEN_ACK };

	frame_place(link, vc, &vc->ring, &f);
}

/**
 * vframe_window() - send WINDOW: the next ring is advertised
 * @link: the link
 * @vc: the connection, with a ring in vc->next
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_window(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_WINDOW };

	vgrow_told(vc);
	f.credit = sanx_rxq_grant(&vconn_conn(vc)->rx);
	frame_place(link, vc, &vc->next, &f);
}

/**
 * vframe_return_ack() - send RETURN_ACK, with the ring that there is now
 * @link: the link
 * @vc: the connection
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_return_ack(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_RETURN_ACK };

	f.credit = sanx_rxq_grant(&vconn_conn(vc)->rx);
	frame_place(link, vc, &vc->ring, &f);
}

/**
 * vframe_resume() - send RESUME or RESUME_ACK
 * @link: the link that the connection goes on by
 * @vc: the connection
 * @type: SANX_FRAME_RESUME or SANX_FRAME_RESUME_ACK
 *
 * It says what we have of the peer's stream, and where that may go on.
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_resume(struct vlink *link, struct vconn *vc, u8 type)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct sanx_frame f = {
		.type	= type,
		.flags	= vc->flags & VCONN_FIN_RCVD ? SANX_FRAME_F_FIN : 0,
		.offset	= conn->rx.tail,
	};

	f.credit = sanx_rxq_grant(&conn->rx);
	frame_place(link, vc, &vc->ring, &f);
}

/**
 * vframe_bare() - send a frame of a connection that is all header
 * @link: the link
 * @vc: the connection
 * @type: SANX_FRAME_CREDIT, FIN, CLOSE, CLOSE_ACK or RETURN
 * @flags: SANX_FRAME_F_*
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_bare(struct vlink *link, struct vconn *vc, u8 type, u8 flags)
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
	frame_plain(link, vc, &f);
}

/**
 * vframe_reject() - send OPEN_REJ or RESUME_REJ
 * @link: the link
 * @o: the request; the caller's to put
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_reject(struct vlink *link, const struct vopen *o)
{
	struct sanx_frame f = {
		.type	= SANX_FRAME_OPEN_REJ,
		.conn	= o->peer_id,
	};

	if (o->f.type == SANX_FRAME_RESUME)
		f.type = SANX_FRAME_RESUME_REJ;
	else
		f.count = o->reject;
	frame_plain(link, NULL, &f);
}

/**
 * vframe_ping() - send PING: the peer is to answer, or to have a grant
 * @link: the link
 *
 * Context: tx_lock held, after vxmit_ok() or, for a grant that is due, with a slot.
 */
void vframe_ping(struct vlink *link)
{
	struct sanx_frame f = { .type = SANX_FRAME_PING };

	frame_plain(link, NULL, &f);
}

/**
 * vframe_pong() - send PONG, which is always completed
 * @link: the link
 * @vc: a connection that is not to be released before that, or NULL
 *
 * The peer need not have asked for it.
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_pong(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_PONG };

	frame_plain(link, vc, &f);
}
