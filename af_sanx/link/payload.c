// SPDX-License-Identifier: GPL-2.0
/*
 * Payload: which bytes of a stream the next frame carries, and how.
 *
 * Invariant: bytes are sent in stream order, from vc->posted on.  vc->posted
 * never exceeds vc->end (the bytes taken from the program) nor conn->tx.limit
 * (the peer's credit).  link->tx_lock guards vc->posted and changes of vc->end.
 *
 * A few bytes travel in the frame itself.  The wire writes everything else into
 * the peer's ring, from the send buffer or from the program's own pages, and a
 * frame behind the write describes it.  If the 32 bits of immediate data can
 * express all that the frame would say, the write carries them and the frame is
 * saved, on wires that have writes with immediate data.
 *
 * "Send buffer" is vc->sndbuf.
 */
#include "xmit.h"

/*
 * A range that does not wrap in the smaller of the send buffer and the peer's
 * ring wraps in neither, because both sizes are powers of two.
 */
static u32 payload_wraps(const struct vconn *vc)
{
	return min(vc->sndbuf.size, vc->win.size);
}

/*
 * Is a grant or a stream credit about to be due?  The limits are at most half
 * of those at which a PING or a CREDIT would be sent for it.
 */
static bool payload_news(const struct vlink *link, const struct vconn *vc)
{
	const struct sanx_rxq *q = &vconn_conn((struct vconn *)vc)->rx;
	u32 few = min(q->size / 4, SANX_CREDIT_MAX) / 2;

	return link_credit_unadvertised(&link->credit) >= SANX_WIRE_RECVS / 8 ||
	       (s64)(READ_ONCE(q->head) + q->size - q->granted) >= (s64)few;
}

/*
 * Can the write carry immediate data, without a frame?  Immediate data carries
 * neither credit nor grant.  If one of them is about to be due, a frame now
 * saves a CREDIT or a PING of its own later.
 */
static bool payload_imm_ok(const struct vlink *link, const struct vconn *vc,
			   u8 flags, int writes)
{
	return link->caps.imm && writes == 1 && !(flags & ~SANX_IMM_FLAGS) &&
	       vc->peer_id <= SANX_IMM_CONN_MAX && !payload_news(link, vc);
}

/* Return: the number of writes, 1 or 2. */
static int payload_writes(struct sanx_wire_msg *m, struct vconn *vc,
			  const struct vlong *l, u64 offset, u32 len)
{
	struct sanx_span span[2];
	int i, n;

	if (!l)
		vwr_enable(m, &vc->sndbuf);
	n = sanx_ring_spans(l ? vc->win.size : payload_wraps(vc), offset, len,
			    span);
	for (i = 0; i < n; i++) {
		vwr_write(m, vc, l, offset, span[i].len);
		offset += span[i].len;
	}
	return n;
}

/*
 * Posts the next @len bytes of the stream: from @data in the frame if it is not
 * NULL, else from the program's pages @l, else from the send buffer.
 */
static void payload_post(struct vlink *link, struct vconn *vc, const void *data,
			 const struct vlong *l, u32 len, u8 flags)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct vslot *slot = vwr_slot(link);
	struct sanx_frame f = {
		.type	= SANX_FRAME_DATA,
		.flags	= flags,
		.conn	= vc->peer_id,
		.offset	= vc->posted,
		.count	= len,
	};
	struct sanx_wire_msg m;
	int n = 0;

	vwr_init(&m);
	if (data) {
		f.len = len;
		memcpy(slot->buf + sizeof(struct sanx_frame_hdr), data, len);
	} else {
		f.flags |= SANX_FRAME_F_RING;
		n = payload_writes(&m, vc, l, vc->posted, len);
	}
	vc->posted += len;
	if (vc->tx_gen)
		f.flags |= SANX_FRAME_F_GEN;
	if (vc->posted == conn->tx.limit)
		f.flags |= SANX_FRAME_F_FULL;
	/*
	 * Before posting: the peer may answer with a credit before
	 * ib_post_send() returns, and the credit is checked against tx.next.
	 * Bytes that are sent again are counted already.
	 */
	if (vc->posted > conn->tx.next)
		sanx_txq_advance(&conn->tx, vc->posted - conn->tx.next);
	if (payload_imm_ok(link, vc, f.flags, n)) {
		vwr_post_imm(link, slot, &m, vc, &f);
		return;
	}
	f.credit = sanx_rxq_grant(&conn->rx);
	vc->pending &= ~VCONN_P_CREDIT;
	vframe_post(link, slot, &m, vc, &f);
}

/*
 * Ends the frame at the urgent byte, because URGENT marks the last byte of a
 * frame.
 */
static u32 payload_urgent(const struct vconn *vc, u32 len, u8 *flags)
{
	if (vc->urgent <= vc->posted || vc->urgent - vc->posted > len)
		return len;
	*flags = SANX_FRAME_F_URGENT;
	return vc->urgent - vc->posted;
}

/**
 * vpayload_next() - send the next bytes of the send buffer
 * @link: the link
 * @vc: the connection, with VCONN_P_DATA pending and stream credit for it
 *
 * The bytes go in the frame if they are few, or if the peer has no ring.
 * Clears VCONN_P_DATA with the last byte.  If the mapping of the send buffer
 * has to be enabled alone first, nothing is sent and vxmit_enable() has been
 * called.
 *
 * Context: tx_lock held, after vxmit_ok().
 */
void vpayload_next(struct vlink *link, struct vconn *vc)
{
	u32 len = min_t(u64, SANX_WIRE_PAYLOAD_MAX, vc->end - vc->posted);
	const void *data = NULL;
	struct sanx_span span[2];
	u8 flags = 0;

	len = min_t(u64, len, vconn_conn(vc)->tx.limit - vc->posted);
	len = payload_urgent(vc, len, &flags);
	if (!vc->win.size || len <= link->inline_max) {
		sanx_ring_spans(vc->sndbuf.size, vc->posted,
				min(len, link->inline_max), span);
		data = vc->sndbuf.buf + span[0].pos;
		if (span[0].len < len)
			flags = 0;
		len = span[0].len;
	} else if (link->caps.enable_alone && vring_disabled(&vc->sndbuf)) {
		vxmit_enable(vc);
		return;
	} else if (len > payload_wraps(vc)) {
		len = payload_wraps(vc);
		flags = 0;
	}
	payload_post(link, vc, data, NULL, len, flags);
	if (vc->posted == vc->end)
		vc->pending &= ~VCONN_P_DATA;
}

/*
 * Return: 0 if the connection takes payload; -EAGAIN if it was closed or reset,
 * of which the core learns by other means; -EPIPE if it is not open.
 */
static int payload_takes(const struct vconn *vc)
{
	const u32 over = VCONN_CLOSED | VCONN_PEER_CLOSED | VCONN_OVER;

	if (!(vc->flags & VCONN_OPEN))
		return -EPIPE;
	return vc->flags & over ? -EAGAIN : 0;
}

/*
 * Bytes that can be sent at once, without the send buffer.  None on iWARP,
 * where sent bytes have to be kept (vc->early).
 */
static u32 payload_directly(const struct vconn *vc)
{
	const u32 later = VCONN_ACCEPTING | VCONN_SUSPENDED | VCONN_RESUMING;
	const u32 first = VCONN_P_OPEN_ACK | VCONN_P_RESUME_ACK;
	const struct sanx_conn *conn = vconn_conn((struct vconn *)vc);

	if (vc->posted != vc->end || !vxmit_ok(vc->link) ||
	    (vc->flags & later) || (vc->pending & first) || vc->early)
		return 0;
	return min(vsndbuf_room(vc), sanx_txq_room(&conn->tx));
}

/**
 * vpayload_inline() - send payload in a frame, at once
 * @vc: the connection
 * @data: the bytes
 * @len: number of bytes, at least 1
 * @urgent: the last byte is urgent
 *
 * Context: process, conn->tx_mutex held; takes tx_lock.
 * Return: 0; -EAGAIN if it cannot be sent now, or the connection was closed;
 * -EPIPE if the connection is not open.
 */
int vpayload_inline(struct vconn *vc, const void *data, u32 len, bool urgent)
{
	struct vlink *link = vconn_lock(vc);
	int err = payload_takes(vc);

	if (!err && (len > link->inline_max || len > payload_directly(vc)))
		err = -EAGAIN;
	if (!err) {
		WRITE_ONCE(vc->end, vc->end + len);
		if (urgent)
			vc->urgent = vc->end;
		payload_post(link, vc, data, NULL, len,
			     urgent ? SANX_FRAME_F_URGENT : 0);
		if (!vc->pending)
			list_del_init(&vc->pend);
	}
	vxmit_unlock(link);
	return err;
}

/**
 * vpayload_long() - send payload from a program's pages, at once
 * @vc: the connection
 * @link: the link that @l is mapped for; nothing is sent if @vc has left it
 * @l: the pages, mapped; if anything is sent, they belong to vc->longs
 *	afterwards, else to the caller
 * @len: bytes to send, at least 1
 *
 * Each frame requests a completion, because the program waits until the device
 * has read its pages.
 *
 * Context: process, conn->tx_mutex held; takes tx_lock.
 * Return: bytes that were sent, 0 if none can be sent now.
 */
u32 vpayload_long(struct vconn *vc, struct vlink *link, struct vlong *l, u32 len)
{
	u32 most = min(link->caps.lend_max, SANX_WIRE_PAYLOAD_MAX);
	struct vlink *now = vconn_lock(vc);
	u32 n, done = 0;

	if (now != link || payload_takes(vc))
		len = 0;
	while (done < len) {
		n = min3(len - done, most, payload_directly(vc));
		n = min(n, vc->win.size);
		if (!n)
			break;
		WRITE_ONCE(vc->end, vc->end + n);
		payload_post(link, vc, NULL, l, n, 0);
		done += n;
	}
	if (done) {
		vlong_lent(vc, l, vc->end);
		if (!vc->pending)
			list_del_init(&vc->pend);
	}
	vxmit_unlock(now);
	return done;
}

/**
 * vpayload_taken() - publish payload that was copied to the send buffer
 * @vc: the connection
 * @len: bytes copied behind vc->end, at least 1
 * @urgent: the last byte is urgent
 * @when: when to send the bytes
 *
 * Context: process, conn->tx_mutex held; takes tx_lock.
 * Return: 0; -EAGAIN if the connection was closed or reset, of which the core
 * learns by other means; -EPIPE if it is not open.
 */
int vpayload_taken(struct vconn *vc, u32 len, bool urgent, enum vpayload_when when)
{
	struct vlink *link = vconn_lock(vc);
	int err = payload_takes(vc);

	if (!err) {
		/* Bytes before this call are not corked. */
		if (when == VPAYLOAD_CORKED)
			vxmit_flush(vc);
		vc->corked = when == VPAYLOAD_CORKED;
		WRITE_ONCE(vc->end, vc->end + len);
		if (urgent)
			vc->urgent = vc->end;
		if (when == VPAYLOAD_NOW)
			vxmit_flush(vc);
	}
	vxmit_unlock(link);
	return err;
}
