// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of the frames that a link sends.
 *
 * Each function fills one frame and posts it.  A frame with a header carries a
 * grant of link credits, whatever it is about (sanx_emit_frame()).  If the
 * frame has a field for the credit of its connection, it carries that too.
 * Documentation/protocol.rst defines the frames; sanx_frame_build() writes the
 * header.
 *
 * The caller makes sure that there is a slot and a link credit
 * (sanx_xmit_ok()), and clears the bit in lc->pending.  For RING,
 * sanx_offer_ring() clears it.
 */
#include "frame_priv.h"

/*
 * Finishes a frame, and posts the message that ends with it.  tx_lock held.  @link: the link,
 * which owns @slot afterwards.
 */
void sanx_emit_frame(struct sanx_link *link, struct sanx_slot *slot,
		     struct sanx_wire_msg *m, struct sanx_lconn *lc,
		     struct sanx_frame *f)
{
	f->grant = link_credit_advertise(&link->credit);
	m->bytes = sanx_frame_build(slot->buf, f);
	sanx_msg_post(link, slot, m, lc, f);
}

/* Sends a frame without a body. */
static void frame_plain(struct sanx_link *link, struct sanx_lconn *lc,
			struct sanx_frame *f)
{
	struct sanx_wire_msg m;

	sanx_msg_init(&m);
	sanx_emit_frame(link, sanx_msg_slot(link), &m, lc, f);
}

static void frame_window(struct sanx_window *w, const struct sanx_lring *ring)
{
	struct sanx_window_info win = {
		.addr	= ring->map.addr,
		.rkey	= ring->map.key,
		.size	= sanx_lring_mapped(ring) ? ring->size : 0,
	};

	sanx_window_build(w, &win);
}

/* Sends OPEN.  tx_lock held. */
void sanx_emit_open(struct sanx_link *link, struct sanx_lconn *lc)
{
	const struct sanx_conn *conn = &lc->conn;
	struct sanx_slot *slot = sanx_msg_slot(link);
	struct sanx_open *open = slot->buf + sizeof(struct sanx_frame_hdr);
	struct sanx_frame f = {
		.type	= SANX_FRAME_OPEN,
		.len	= sizeof(*open),
	};
	struct sanx_wire_msg m;

	sanx_msg_init(&m);
	open->src = conn->local.addr;
	open->dst = conn->remote.addr;
	open->sport = conn->local.port;
	open->dport = conn->remote.port;
	open->conn = cpu_to_le32(lc->id);
	frame_window(&open->window, &lc->ring);
	sanx_emit_frame(link, slot, &m, lc, &f);
}

/*
 * Sends a frame with our id of the connection and the window of @ring, and in
 * RESUME and RESUME_ACK our token.
 */
static void frame_admission(struct sanx_link *link, struct sanx_lconn *lc,
			    struct sanx_lring *ring, struct sanx_frame *f)
{
	struct sanx_slot *slot = sanx_msg_slot(link);
	struct sanx_resume *body = slot->buf + sizeof(struct sanx_frame_hdr);
	struct sanx_wire_msg m;

	sanx_msg_init(&m);
	sanx_msg_enable(&m, ring);
	body->adm.conn = cpu_to_le32(lc->id);
	body->adm.reserved = 0;
	frame_window(&body->adm.window, ring);
	f->len = sizeof(body->adm);
	if (f->type == SANX_FRAME_RESUME || f->type == SANX_FRAME_RESUME_ACK) {
		body->token = cpu_to_le64(sanx_lconn_token(lc, link, true));
		f->len = sizeof(*body);
	}
	f->conn = lc->peer_id;
	sanx_emit_frame(link, slot, &m, lc, f);
}

/* Sends OPEN_ACK.  tx_lock held. */
void sanx_emit_open_ack(struct sanx_link *link, struct sanx_lconn *lc)
{
	struct sanx_frame f = { .type = SANX_FRAME_OPEN_ACK };

	frame_admission(link, lc, &lc->ring, &f);
}

/* Sends RING, which advertises a generation of our ring.  tx_lock held. */
void sanx_emit_ring(struct sanx_link *link, struct sanx_lconn *lc)
{
	struct sanx_lring *ring = sanx_offer_ring(lc);
	struct sanx_frame f = {
		.type	= SANX_FRAME_RING,
		.credit	= sanx_rxq_grant(&lc->conn.rx),
		.count	= lc->rxgen.told,
	};

	frame_admission(link, lc, ring, &f);
}

/**
 * sanx_emit_leave() - send LEAVE, which gives up the peer's window
 * @link: the link
 * @lc: the connection, with a window and all bytes sent
 *
 * Context: tx_lock held, after sanx_xmit_ok().
 */
void sanx_emit_leave(struct sanx_link *link, struct sanx_lconn *lc)
{
	struct sanx_frame f = {
		.type	= SANX_FRAME_LEAVE,
		.conn	= lc->peer_id,
		.offset	= lc->conn.tx.next,
		.count	= sanx_txgen_leave(&lc->txgen),
	};

	frame_plain(link, lc, &f);
}

/*
 * Sends RESUME or RESUME_ACK.  tx_lock held.
 *
 * The frame says how many bytes of the peer's stream were received, and where
 * the peer may write from there on.
 */
void sanx_emit_resume(struct sanx_link *link, struct sanx_lconn *lc, u8 type)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_frame f = {
		.type	= type,
		.flags	= lc->state.rx == SANX_LCONN_RX_FIN ? SANX_FRAME_F_FIN :
							       0,
		.offset	= conn->rx.tail,
		.credit	= sanx_rxq_grant(&conn->rx),
		.count	= sanx_rxgen_resume(&lc->rxgen),
	};

	frame_admission(link, lc, &lc->ring, &f);
}

/* Sends a frame of a connection that has no body.  tx_lock held. */
void sanx_emit_bare(struct sanx_link *link, struct sanx_lconn *lc, u8 type,
		    u8 flags)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_frame f = {
		.type	= type,
		.flags	= flags,
		.conn	= lc->peer_id,
	};

	if (type == SANX_FRAME_CREDIT || type == SANX_FRAME_FIN)
		f.credit = sanx_rxq_grant(&conn->rx);
	if (type == SANX_FRAME_FIN)
		f.offset = conn->tx.next;
	frame_plain(link, lc, &f);
}

/* Sends OPEN_REJ or RESUME_REJ.  tx_lock held. */
void sanx_emit_reject(struct sanx_link *link, const struct sanx_request *o)
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
 * sanx_emit_auth() - send AUTH, the first frame of an active link
 * @link: the link, which has sent nothing; so there is room
 *
 * Context: tx_lock held.
 */
void sanx_emit_auth(struct sanx_link *link)
{
	struct sanx_slot *slot = sanx_msg_slot(link);
	struct sanx_frame f = {
		.type	= SANX_FRAME_AUTH,
		.len	= sizeof(link->auth.proof),
	};
	struct sanx_wire_msg m;

	sanx_msg_init(&m);
	memcpy(slot->buf + sizeof(struct sanx_frame_hdr), link->auth.proof,
	       sizeof(link->auth.proof));
	sanx_emit_frame(link, slot, &m, NULL, &f);
}

/* Sends PING, to get an answer or to advertise a grant.  tx_lock held. */
void sanx_emit_ping(struct sanx_link *link)
{
	struct sanx_frame f = { .type = SANX_FRAME_PING };

	frame_plain(link, NULL, &f);
}

/* Sends PONG, the answer to a PING.  tx_lock held. */
void sanx_emit_pong(struct sanx_link *link)
{
	struct sanx_frame f = { .type = SANX_FRAME_PONG };

	frame_plain(link, NULL, &f);
}
