// SPDX-License-Identifier: GPL-2.0
/*
 * The receiving side of a link.
 *
 * Frames of a link are processed in softirq, one at a time and in order.
 * Nothing that arrives is trusted: sanx_frame_parse() has checked each value by
 * itself, and this file, arrival.c of stream/ and their callees check it against the
 * state of the connection.  A value that no correct peer sends is counted as a
 * protocol error and ends the link.
 */
#include <linux/export.h>

#include "config/cov.h"
#include "peer.h"

/* Processes a frame about a connection; @imm: it arrived as immediate data. */
static int recv_conn_frame(struct sanx_link *link, struct sanx_frame *f,
			   bool imm)
{
	struct sanx_lconn *lc = sanx_lconn_find(link->streams, f->conn);
	int err;

	if (!lc)
		return -EPROTO;
	/*
	 * Immediate data has neither offset nor credit nor grant.  The order of frames
	 * gives them: the next offset of the stream, and what was granted last.
	 */
	if (imm) {
		f->offset = lc->conn.rx.tail;
		f->credit = READ_ONCE(lc->conn.tx.limit);
		f->grant = link->credit.limit;
	}
	err = sanx_lconn_frame(lc, link, f);
	sanx_conn_put(&lc->conn);
	return err;
}

/* PING or PONG */
static int recv_beat(struct sanx_link *link, const struct sanx_frame *f)
{
	int err;

	spin_lock_bh(&link->tx_lock);
	err = link_credit_granted(&link->credit, f->grant);
	if (f->type == SANX_FRAME_PING)
		link->answer = SANX_ANSWER_ASKED;
	spin_unlock_bh(&link->tx_lock);
	return err;
}

static int recv_frame(struct sanx_link *link, struct sanx_frame *f)
{
	switch (f->type) {
	case SANX_FRAME_OPEN:
	case SANX_FRAME_RESUME:
		return sanx_request_take(link, f);
	case SANX_FRAME_PING:
	case SANX_FRAME_PONG:
		return recv_beat(link, f);
	case SANX_FRAME_AUTH:
		/* It is the first frame, or an error: recv_auth(). */
		return -EPROTO;
	default:
		return recv_conn_frame(link, f, false);
	}
}

/*
 * The first frame of a peer that has asked for the link: it is AUTH, and makes
 * the link usable (setup.c).  Until then nothing else that the peer sends is
 * looked at.
 */
static int recv_auth(struct sanx_link *link, const void *buf, u32 bytes)
{
	struct sanx_frame f;
	int err;

	/* Before our hello is made there is no proof that could be right. */
	if (READ_ONCE(link->state) != SANX_LINK_ACCEPTING ||
	    READ_ONCE(link->auth.phase) != SANX_AUTH_SAID)
		return -ENOTCONN;
	err = sanx_frame_parse(&f, buf, bytes);
	if (err)
		return err;
	if (f.type != SANX_FRAME_AUTH)
		return -EPROTO;
	if (!sanx_auth_proves(&link->auth, f.body)) {
		sanx_setup_unproven(link);
		return -EKEYREJECTED;
	}
	spin_lock_bh(&link->tx_lock);
	err = link_credit_granted(&link->credit, f.grant);
	spin_unlock_bh(&link->tx_lock);
	if (!err)
		sanx_link_came_up(link);
	return err;
}

static bool recv_proven(const struct sanx_link *link)
{
	return READ_ONCE(link->auth.phase) == SANX_AUTH_PROVEN;
}

/*
 * Frames that arrived before a link was lost count, so that the peer need not
 * send them again.
 */
static bool recv_state_ok(const struct sanx_link *link)
{
	enum sanx_link_state state;

	/*
	 * Pairs with sanx_link_set_state(), so that link->why is that of
	 * SANX_LINK_DYING.
	 */
	state = smp_load_acquire(&link->state);
	return state == SANX_LINK_UP ||
	       (state == SANX_LINK_DYING && READ_ONCE(link->why) == SANX_END_LOST);
}

/* The peer's end has heard us if it asks for connections; else it answers perhaps nothing. */
static bool recv_shows(const struct sanx_link *link, const struct sanx_frame *f)
{
	return link->active || sanx_link_standby(link) ||
	       f->type == SANX_FRAME_OPEN || f->type == SANX_FRAME_RESUME;
}

static int recv_buf(struct sanx_link *link, const void *buf, u32 bytes)
{
	struct sanx_frame f;
	int err;

	if (!recv_proven(link))
		return recv_auth(link, buf, bytes);
	if (!recv_state_ok(link))
		return -ENOTCONN;
	err = sanx_frame_parse(&f, buf, bytes);
	if (err)
		return err;
	WRITE_ONCE(link->heard, jiffies);
	if (unlikely(READ_ONCE(link->use) == SANX_LINK_TRIAL) &&
	    recv_shows(link, &f))
		sanx_lane_heard(link);
	return recv_frame(link, &f);
}

static int recv_imm(struct sanx_link *link, u32 imm, u32 bytes)
{
	struct sanx_frame f;
	int err;

	if (!recv_proven(link))
		return -EPROTO;
	if (!recv_state_ok(link))
		return -ENOTCONN;
	if (!link->caps.imm)
		return -EPROTO;
	err = sanx_imm_parse(&f, imm, bytes);
	if (err)
		return err;
	WRITE_ONCE(link->heard, jiffies);
	return recv_conn_frame(link, &f, true);
}

static bool recv_done(struct sanx_link *link, int err)
{
	if (!err)
		return true;
	if (err == -EPROTO) {
		pr_debug("node %u sent what it must not\n", link->payer->id);
		sanx_count_protocol_error(link->payer->net);
	}
	sanx_link_kill(link, SANX_END_FAULT);
	return false;
}

/**
 * sanx_wire_arrived() - a frame has arrived
 * @link: the link
 * @buf: the frame
 * @bytes: its size
 *
 * Context: softirq, one upcall about arrivals at a time for a link; takes
 * tx_lock.
 * Return: true if the receive may be posted again; sanx_wire_received() must
 * follow.  False if the link ends.
 */
bool sanx_wire_arrived(struct sanx_link *link, const void *buf, u32 bytes)
{
	bool cov = sanx_cov_start(link->payer->net);
	bool again = recv_done(link, recv_buf(link, buf, bytes));

	sanx_cov_stop(cov);
	return again;
}
EXPORT_SYMBOL_GPL(sanx_wire_arrived);

/**
 * sanx_wire_written() - a write with immediate data has arrived
 * @link: the link
 * @imm: the immediate data
 * @bytes: bytes that were written
 *
 * Context: as sanx_wire_arrived().
 * Return: as sanx_wire_arrived().
 */
bool sanx_wire_written(struct sanx_link *link, u32 imm, u32 bytes)
{
	bool cov = sanx_cov_start(link->payer->net);
	bool again = recv_done(link, recv_imm(link, imm, bytes));

	sanx_cov_stop(cov);
	return again;
}
EXPORT_SYMBOL_GPL(sanx_wire_written);

/**
 * sanx_wire_received() - a receive was posted again
 * @link: the link
 *
 * Context: as sanx_wire_arrived(); takes tx_lock.
 */
void sanx_wire_received(struct sanx_link *link)
{
	bool cov = sanx_cov_start(link->payer->net);
	LIST_HEAD(spent);

	spin_lock_bh(&link->tx_lock);
	link_credit_posted(&link->credit);
	if (link->answer == SANX_ANSWER_ASKED)
		link->answer = SANX_ANSWER_DUE;
	/* The frame that used the receive may have had a grant. */
	sanx_ack_run(link, &spent);
	sanx_xmit_run(link);
	sanx_xmit_unlock(link);
	sanx_chunks_spent(link, &spent);
	sanx_cov_stop(cov);
}
EXPORT_SYMBOL_GPL(sanx_wire_received);
