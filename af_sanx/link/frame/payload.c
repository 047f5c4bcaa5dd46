// SPDX-License-Identifier: GPL-2.0
/*
 * Payload: which bytes of a stream the next frame carries, and how.
 *
 * Invariant: bytes are sent in stream order, from lc->posted on.  lc->posted
 * never exceeds lc->announced (the bytes taken from the program, less those that
 * are held back) nor conn->tx.limit (the peer's credit).  link->tx_lock guards
 * lc->posted and lc->announced.
 *
 * A few bytes travel in the frame itself.  The wire writes everything else into
 * the peer's ring, from chunks (chunk.c), and a frame behind the write describes
 * it.  If the 32 bits of immediate data can express all that the frame would say,
 * the write carries them and the frame is saved, on wires that have writes with
 * immediate data.
 */
#include <linux/skbuff.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "frame_priv.h"

/*
 * Is a grant or a stream credit about to be due?  The limits are at most half
 * of those at which a PING or a CREDIT would be sent for it.
 */
static bool payload_news(const struct sanx_link *link,
			 const struct sanx_lconn *lc)
{
	const struct sanx_rxq *q = &lc->conn.rx;
	u32 few = q->size / 8;

	return link_credit_unadvertised(&link->credit) >= SANX_WIRE_RECVS / 8 ||
	       (s64)(READ_ONCE(q->head) + q->size - q->granted) >= (s64)few;
}

/*
 * Can the write carry immediate data, without a frame?  Immediate data carries
 * neither credit nor grant.  If one of them is about to be due, a frame now
 * saves a CREDIT or a PING of its own later.
 */
static bool payload_imm_ok(const struct sanx_link *link,
			   const struct sanx_lconn *lc, u8 flags, int writes)
{
	return link->caps.imm && writes == 1 && !(flags & ~SANX_IMM_FLAGS) &&
	       lc->peer_id <= SANX_IMM_CONN_MAX && !payload_news(link, lc);
}

/* The bytes may go on in the next chunk: payload_span().  Return: the number of writes, 1 or 2. */
static int payload_writes(struct sanx_wire_msg *m, struct sanx_lconn *lc,
			  const struct sanx_chunk *c, u64 offset, u32 len)
{
	struct sanx_span span[2];
	int i, n, done = 0;
	u32 part;

	for (; len; len -= part, done += n, c = list_next_entry(c, node)) {
		part = min_t(u64, len, c->to - offset);
		n = sanx_ring_spans(lc->txgen.win.size, offset, part, span);
		for (i = 0; i < n; i++) {
			sanx_msg_write(m, lc, c, offset, span[i].len);
			offset += span[i].len;
		}
	}
	return done;
}

/*
 * Is a larger ring wanted?  It would take more: all credit is used, or the send buffer is
 * full, whose size follows that of the ring unless SO_SNDBUF limits it.  Or the message is
 * so much of it that the peer sends a credit for each one or two (sanx_rxq_credit_due()).
 */
static bool payload_rwnd_limited(const struct sanx_lconn *lc, u32 len)
{
	u32 size = lc->txgen.win.size;

	return lc->posted == lc->conn.tx.limit ||
	       (size && (len >= size / 4 ||
			 (sanx_sndbuf_cap(lc) == size && !sanx_sndbuf_room(lc))));
}

/* Where the payload of a frame is. */
static void *payload_of(const struct sanx_slot *slot)
{
	return slot->buf + sizeof(struct sanx_frame_hdr);
}

/* Posts the next @len bytes of the stream: from @c, or if that is NULL, those in @slot. */
static void payload_post(struct sanx_link *link, struct sanx_lconn *lc,
			 struct sanx_slot *slot,
			 const struct sanx_chunk *c, u32 len, u8 flags)
{
	struct sanx_conn *conn = &lc->conn;
	struct sanx_frame f = {
		.type	= SANX_FRAME_DATA,
		.flags	= flags,
		.conn	= lc->peer_id,
		.offset	= lc->posted,
		.count	= len,
	};
	struct sanx_wire_msg m;
	int n = 0;

	sanx_msg_init(&m);
	if (c) {
		f.flags |= SANX_FRAME_F_IN_RING;
		n = payload_writes(&m, lc, c, lc->posted, len);
	} else {
		f.len = len;
	}
	lc->posted += len;
	WRITE_ONCE(link->tx_bytes, link->tx_bytes + len);
	f.flags |= lc->txgen.nr << SANX_FRAME_GEN_SHIFT & SANX_FRAME_F_GEN;
	if (payload_rwnd_limited(lc, len))
		f.flags |= SANX_FRAME_F_FULL;
	if (sanx_ack_wanted(lc))
		f.flags |= SANX_FRAME_F_ASK;
	if (f.flags & SANX_FRAME_F_ASK)
		lc->ack_asked = lc->posted;
	/*
	 * Before posting: the peer may answer with a credit before
	 * ib_post_send() returns, and the credit is checked against tx.next.
	 * Bytes that are sent again are counted already.
	 */
	if (lc->posted > conn->tx.next)
		sanx_txq_advance(&conn->tx, lc->posted - conn->tx.next);
	if (payload_imm_ok(link, lc, f.flags, n)) {
		m.bytes = 0;
		m.imm = sanx_imm_build(f.conn, f.flags);
		sanx_msg_post(link, slot, &m, lc, &f);
	} else {
		f.credit = sanx_rxq_grant(&conn->rx);
		lc->pending &= ~LCONN_P_CREDIT;
		sanx_emit_frame(link, slot, &m, lc, &f);
	}
}

/*
 * Ends the frame at the urgent byte, because URGENT marks the last byte of a
 * frame.
 */
static u32 payload_urgent(const struct sanx_lconn *lc, u32 len, u8 *flags)
{
	if (lc->urgent <= lc->posted || lc->urgent - lc->posted > len)
		return len;
	*flags = SANX_FRAME_F_URGENT;
	return lc->urgent - lc->posted;
}

/*
 * A message has up to two writes: where the peer's ring wraps, or where a chunk ends.
 * Return: bytes of @most that it takes from lc->posted on, in @c and perhaps in the next.
 */
static u32 payload_span(const struct sanx_lconn *lc, const struct sanx_chunk *c, u32 most)
{
	const struct sanx_chunk *next = list_next_entry(c, node);
	u32 size = lc->txgen.win.size, part, rest;

	part = min_t(u64, most, c->to - lc->posted);
	rest = size - (lc->posted & (size - 1));
	if (part == most || part > rest || list_is_last(&c->node, &lc->chunks) ||
	    next->from != c->to || !sanx_chunk_is_ours(c) || !sanx_chunk_is_ours(next))
		return part;
	rest = part == rest ? size : rest - part;
	return part + min_t(u64, min(most - part, rest), next->to - next->from);
}

/* Most bytes that one message can have of a chunk. */
static u32 payload_most(const struct sanx_link *link, const struct sanx_chunk *c)
{
	return sanx_chunk_is_ours(c) ? SANX_WIRE_PAYLOAD_MAX :
				       min(link->caps.lend_max, SANX_WIRE_PAYLOAD_MAX);
}

/*
 * Sends the next bytes that were taken.  tx_lock held.
 *
 * The bytes go in the frame if they are few, or if the peer has no ring.
 * Clears LCONN_P_DATA with the last byte.
 */
void sanx_payload_next(struct sanx_link *link, struct sanx_lconn *lc)
{
	u32 most = min_t(u64, SANX_WIRE_PAYLOAD_MAX, lc->announced - lc->posted), len;
	const struct sanx_chunk *c = sanx_chunk_at(lc, lc->posted);
	struct sanx_slot *slot;
	const void *data;
	u8 flags = 0;

	if (WARN_ON_ONCE(!c)) {
		sanx_link_kill_locked(link, SANX_END_FAULT);
		return;
	}
	most = min_t(u64, most, lc->conn.tx.limit - lc->posted);
	most = payload_urgent(lc, most, &flags);
	slot = sanx_msg_slot(link);
	if (!lc->txgen.win.size || most <= link->inline_max) {
		len = min(most, link->inline_max);
		data = sanx_chunk_bytes(c, lc->posted, &len);
		memcpy(payload_of(slot), data, len);
		c = NULL;
	} else {
		len = min3(most, lc->txgen.win.size, payload_most(link, c));
		len = payload_span(lc, c, len);
	}
	payload_post(link, lc, slot, c, len, len < most ? 0 : flags);
	if (lc->posted == lc->announced)
		lc->pending &= ~LCONN_P_DATA;
}

/* Bytes that can be sent at once: there is room for a frame, and none is before them. */
static u32 payload_directly(const struct sanx_lconn *lc)
{
	const struct sanx_conn *conn = &lc->conn;

	if (lc->posted != lc->end || !sanx_xmit_ok(lc->link) ||
	    !sanx_lconn_is_open(&lc->state))
		return 0;
	return min(sanx_sndbuf_room(lc), sanx_txq_room(&conn->tx));
}

/* @len more bytes were taken, and may be sent. */
static void payload_taken(struct sanx_lconn *lc, u32 len, bool urgent)
{
	lockdep_assert_held(&lc->link->tx_lock);
	WRITE_ONCE(lc->end, lc->end + len);
	lc->announced = lc->end;
	if (urgent)
		lc->urgent = lc->end;
}

/*
 * Copies payload to a slot.
 * Return: the slot, or NULL if not all of it was in memory.
 */
static struct sanx_slot *payload_copy(struct sanx_link *link, struct iov_iter *from, u32 len)
{
	struct sanx_slot *slot = sanx_msg_slot(link);
	size_t n;

	pagefault_disable();
	n = copy_from_iter(payload_of(slot), len, from);
	pagefault_enable();
	if (likely(n == len))
		return slot;
	iov_iter_revert(from, n);
	sanx_slot_free(link, slot);
	return NULL;
}

/**
 * sanx_payload_inline() - send payload in a frame, at once
 * @lc: the connection
 * @from: the bytes; advanced by those that were sent
 * @len: number of bytes, at least 1
 * @urgent: the last byte is urgent
 *
 * Context: process, conn->tx_mutex held; takes tx_lock.
 * Return: 0; -EAGAIN if it cannot be sent now, or the connection was closed;
 * -EPIPE if the connection is not open; -EFAULT if not all bytes are in memory now.
 */
int sanx_payload_inline(struct sanx_lconn *lc, struct iov_iter *from, u32 len,
			bool urgent)
{
	struct sanx_link *link = sanx_xmit_lock_push(lc);
	int err = sanx_lconn_takes(&lc->state);
	struct sanx_slot *slot = NULL;

	if (!err && (len > link->inline_max || len > payload_directly(lc)))
		err = -EAGAIN;
	if (!err) {
		slot = payload_copy(link, from, len);
		err = slot ? 0 : -EFAULT;
	}
	if (!err) {
		payload_taken(lc, len, urgent);
		payload_post(link, lc, slot, NULL, len,
			     urgent ? SANX_FRAME_F_URGENT : 0);
		if (!lc->pending)
			list_del_init(&lc->wait_turn);
	}
	sanx_xmit_unlock_push(link, false);
	return err;
}

/**
 * sanx_payload_long() - send payload from a program's pages, at once
 * @lc: the connection
 * @link: the link that @c is mapped for; nothing is sent if @lc has left it
 * @c: pages of the program, mapped; if anything is sent, they belong to
 *	lc->chunks afterwards, else to the caller
 * @len: bytes to send, at least 1
 *
 * Asks for an acknowledgment, because the program waits for its pages.
 *
 * Context: process, conn->tx_mutex held; takes tx_lock.
 * Return: bytes that were sent, 0 if none can be sent now.
 */
u32 sanx_payload_long(struct sanx_lconn *lc, struct sanx_link *link,
		      struct sanx_chunk *c, u32 len)
{
	struct sanx_link *now = sanx_lconn_lock(lc);
	u32 n, done = 0;

	if (now != link || sanx_lconn_takes(&lc->state))
		len = 0;
	c->to = c->from + len;
	while (done < len) {
		n = min3(len - done, payload_most(link, c), payload_directly(lc));
		n = min(n, lc->txgen.win.size);
		if (!n)
			break;
		payload_taken(lc, n, false);
		done += n;
		payload_post(link, lc, sanx_msg_slot(link), c, n,
			     done == len ? SANX_FRAME_F_ASK : 0);
	}
	if (done) {
		c->to = lc->end;
		sanx_chunk_add(lc, c);
		lc->conn.lent = lc->end;
		if (!lc->pending)
			list_del_init(&lc->wait_turn);
		/* The loop may have ended for lack of room. */
		if (lc->ack_asked != lc->posted)
			sanx_ack_ask(lc);
	}
	sanx_xmit_unlock(now);
	return done;
}

/*
 * @len more bytes were taken, and are held back.  The xmit path does not look at
 * them before sanx_xmit_announce(), so tx_lock is not needed.  If the connection
 * ends meanwhile, they are dropped as if it had ended later.
 * Context: tx_mutex held.
 */
static int payload_hold(struct sanx_lconn *lc, u32 len)
{
	int err = sanx_lconn_takes(&lc->state);

	if (!err) {
		/* Pairs with smp_load_acquire() in sanx_xmit_announce(). */
		smp_store_release(&lc->end, lc->end + len);
	}
	return err;
}

/*
 * @len more bytes are in a chunk, and may be sent; what can be is, at once.  tx_lock held.
 */
static void payload_publish(struct sanx_link *link, struct sanx_lconn *lc, u32 len,
			    bool urgent)
{
	bool directly = len <= payload_directly(lc);

	payload_taken(lc, len, urgent);
	if (directly)
		sanx_payload_next(link, lc);
	if (lc->posted != lc->end)
		sanx_xmit_announce(lc);
	else if (!lc->pending)
		list_del_init(&lc->wait_turn);
}

/**
 * sanx_payload_taken() - publish payload that was copied to where sanx_chunk_tail() has said
 * @lc: the connection
 * @len: bytes copied behind lc->end, at least 1
 * @urgent: the last byte is urgent, and not held back
 * @how: what becomes of them
 *
 * Context: process, conn->tx_mutex held; takes tx_lock.
 * Return: 0; -EAGAIN if the connection was closed or reset, of which the core
 * learns by other means; -EPIPE if it is not open.
 */
int sanx_payload_taken(struct sanx_lconn *lc, u32 len, bool urgent,
		       enum sanx_publish how)
{
	struct sanx_link *link;
	int err;

	if (how == SANX_PUBLISH_HELD)
		return payload_hold(lc, len);
	link = sanx_xmit_lock_push(lc);
	err = sanx_lconn_takes(&lc->state);
	if (!err)
		payload_publish(link, lc, len, urgent);
	sanx_xmit_unlock_push(link, how == SANX_PUBLISH_MORE);
	return err;
}

/**
 * sanx_payload_lent() - publish payload in pages that nobody waits for
 * @lc: the connection
 * @link: the link that @c is mapped for
 * @c: the pages, mapped, with offsets from lc->end on; they belong to lc->chunks afterwards, if
 *	there is no error
 * @ubuf: whom to notify, by c->notice, which gets a reference of it; or NULL
 * @how: what becomes of them
 *
 * Moves conn->lent.
 *
 * Context: process, conn->tx_mutex held; takes tx_lock.
 * Return: 0; -EAGAIN if the connection has left the link, or has ended; -EPIPE if it is not
 * open.
 */
int sanx_payload_lent(struct sanx_lconn *lc, struct sanx_link *link, struct sanx_chunk *c,
		      struct ubuf_info *ubuf, enum sanx_publish how)
{
	struct sanx_link *now = sanx_xmit_lock_push(lc);
	int err = sanx_lconn_takes(&lc->state);

	if (!err && (now != link || lc->owner != SANX_OWNER_LINK))
		err = -EAGAIN;
	if (!err) {
		sanx_chunk_add(lc, c);
		if (ubuf)
			skb_zcopy_set(c->notice, ubuf, NULL);
		lc->conn.lent = c->to;
		if (how == SANX_PUBLISH_HELD)
			payload_hold(lc, c->to - c->from);
		else
			payload_publish(link, lc, c->to - c->from, false);
	}
	sanx_xmit_unlock_push(now, how == SANX_PUBLISH_MORE);
	return err;
}
