// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of the frames that a link sends.
 *
 * Each function fills one frame and posts it.  A frame with a header carries a
 * grant of link credits, whatever it is about (vframe_post()).  If the frame
 * has a field for the credit of its connection, it carries that too.
 * Documentation/protocol.rst defines the frames; sanx_frame_build() writes the
 * header.
 *
 * The caller makes sure that there is a slot and a link credit (vxmit_ok()),
 * and clears the bit in vc->pending.  For WINDOW, vgrow_advertised() clears it.
 */
#include "xmit.h"

/**
 * vframe_post() - finish a frame, and post the message that ends with it
 * @link: the link, which owns @slot afterwards
 * @slot: a slot of vwr_slot(), which already holds the body of the frame
 * @m: the message; its writes precede the frame
 * @vc: the connection that the frame is about, or NULL; it is not released
 *	before the completion
 * @f: values of the header; the grant is filled in here
 *
 * Context: tx_lock held.
 */
void vframe_post(struct vlink *link, struct vslot *slot,
		 struct sanx_wire_msg *m, struct vconn *vc,
		 struct sanx_frame *f)
{
	f->grant = link_credit_advertise(&link->credit);
	vwr_post_frame(link, slot, m, vc, f, sanx_frame_build(slot->buf, f));
}

/* Sends a frame without a body. */
static void frame_plain(struct vlink *link, struct vconn *vc,
			struct sanx_frame *f)
{
	struct sanx_wire_msg m;

	vwr_init(&m);
	vframe_post(link, vwr_slot(link), &m, vc, f);
}

static void frame_window(struct sanx_window *w, const struct vring *ring)
{
	struct sanx_window_info win = {
		.addr	= ring->map.addr,
		.rkey	= ring->map.key,
		.size	= vring_mapped(ring) ? ring->size : 0,
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
	struct sanx_wire_msg m;

	vwr_init(&m);
	open->src = conn->local.addr;
	open->dst = conn->remote.addr;
	open->sport = conn->local.port;
	open->dport = conn->remote.port;
	open->conn = cpu_to_le32(vc->id);
	frame_window(&open->window, &vc->ring);
	vframe_post(link, slot, &m, vc, &f);
}

/* Sends a frame with our id of the connection and the window of @ring. */
static void frame_admission(struct vlink *link, struct vconn *vc,
			    struct vring *ring, struct sanx_frame *f)
{
	struct vslot *slot = vwr_slot(link);
	struct sanx_admission *adm = slot->buf + sizeof(struct sanx_frame_hdr);
	struct sanx_wire_msg m;

	vwr_init(&m);
	vwr_enable(&m, ring);
	adm->conn = cpu_to_le32(vc->id);
	adm->reserved = 0;
	frame_window(&adm->window, ring);
	f->len = sizeof(*adm);
	f->conn = vc->peer_id;
	vframe_post(link, slot, &m, vc, f);
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

	frame_admission(link, vc, &vc->ring, &f);
}

/**
 * vframe_window() - send WINDOW, which advertises the next ring
 * @link: the link
 * @vc: the connection, with a ring in vc->next
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_window(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_WINDOW };

	vgrow_advertised(vc);
	f.credit = sanx_rxq_grant(&vconn_conn(vc)->rx);
	frame_admission(link, vc, &vc->next, &f);
}

/**
 * vframe_return_ack() - send RETURN_ACK with the current ring, or "no ring"
 * @link: the link
 * @vc: the connection
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_return_ack(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_RETURN_ACK };

	f.credit = sanx_rxq_grant(&vconn_conn(vc)->rx);
	frame_admission(link, vc, &vc->ring, &f);
}

/**
 * vframe_resume() - send RESUME or RESUME_ACK
 * @link: the link on which the connection continues
 * @vc: the connection
 * @type: SANX_FRAME_RESUME or SANX_FRAME_RESUME_ACK
 *
 * The frame says how many bytes of the peer's stream were received, and where
 * the peer may write from there on.
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
	frame_admission(link, vc, &vc->ring, &f);
}

/**
 * vframe_bare() - send a frame of a connection that has no body
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
 * @o: the request; the caller still has to put it
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
 * vframe_ping() - send PING, to get an answer or to advertise a grant
 * @link: the link
 *
 * Context: tx_lock held, after vxmit_ok(); for a grant that is due,
 * link_credit_grant_due() and a free slot are enough.
 */
void vframe_ping(struct vlink *link)
{
	struct sanx_frame f = { .type = SANX_FRAME_PING };

	frame_plain(link, NULL, &f);
}

/**
 * vframe_pong() - send PONG, with a completion
 * @link: the link
 * @vc: a connection that must not be released before the completion, or NULL
 *
 * A PONG may be sent without a PING.
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vframe_pong(struct vlink *link, struct vconn *vc)
{
	struct sanx_frame f = { .type = SANX_FRAME_PONG };

	frame_plain(link, vc, &f);
}
