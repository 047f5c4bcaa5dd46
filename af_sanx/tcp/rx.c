// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the peer.
 *
 * TCP's receive queue is parsed where TCP says that bytes have arrived, in softirq,
 * unless somebody has the sock locked, who then does it when the lock is released.
 * Payload is copied from the packets to the memory that it is for.
 */
#include <net/tcp.h>

#include "tcp_priv.h"

/* Copies what is missing of @want bytes of a part.  Returns the bytes taken. */
static u32 rx_part(struct tlink_rx *rx, void *part, u32 want,
		   struct sk_buff *skb, u32 pos, u32 len)
{
	u32 n = min(len, want - rx->have);

	if (skb_copy_bits(skb, pos, part + rx->have, n))
		return 0;
	rx->have += n;
	return n;
}

static void rx_enter(struct tlink_rx *rx, enum tlink_rx_phase phase)
{
	rx->phase = phase;
	rx->have = 0;
}

static u32 rx_len(const struct tlink_rx *rx, u32 n)
{
	return le32_to_cpu(rx->write[n].len);
}

/* Tells the engine of a whole message. */
static bool rx_deliver(struct tlink *tl)
{
	struct sanx_link *link = tl->wl.link;
	struct tlink_rx *rx = &tl->rx;
	bool again;

	rx_enter(rx, TLINK_RX_HEAD);
	if (rx->head.flags & TLINK_F_IMM)
		again = sanx_wire_written(link, le32_to_cpu(rx->head.imm),
					  rx_len(rx, rx->head.n_writes - 1));
	else
		again = sanx_wire_arrived(link, rx->frame,
					  le16_to_cpu(rx->head.bytes));
	if (again)
		sanx_wire_received(link);
	return again;
}

/* What follows a write, or the descriptors of the writes. */
static bool rx_next(struct tlink *tl, u32 n)
{
	struct tlink_rx *rx = &tl->rx;

	rx->n = n;
	rx->map = NULL;
	if (n < rx->head.n_writes) {
		rx->map = xa_load(&tl->maps, le32_to_cpu(rx->write[n].key));
		rx_enter(rx, TLINK_RX_PAYLOAD);
		return tlink_target(rx->map, &rx->write[n]);
	}
	if (rx->head.flags & TLINK_F_IMM)
		return rx_deliver(tl);
	rx_enter(rx, TLINK_RX_FRAME);
	return true;
}

static bool rx_head_ok(const struct tlink_head *h)
{
	u32 bytes = le16_to_cpu(h->bytes);

	if (h->n_writes > ARRAY_SIZE(((struct tlink_rx *)NULL)->write) ||
	    h->flags & ~TLINK_F_IMM)
		return false;
	if (h->flags & TLINK_F_IMM)
		return h->n_writes && !bytes;
	return bytes && bytes <= SANX_WIRE_FRAME_MAX && !h->imm;
}

static bool rx_writes_ok(const struct tlink_rx *rx)
{
	u32 i;

	for (i = 0; i < rx->head.n_writes; i++)
		if (!rx_len(rx, i) || rx_len(rx, i) > SANX_WIRE_PAYLOAD_MAX)
			return false;
	return true;
}

/* All bytes of a part are there.  Returns false if the link ends. */
static bool rx_part_done(struct tlink *tl)
{
	struct tlink_rx *rx = &tl->rx;

	switch (rx->phase) {
	case TLINK_RX_HEAD:
		if (!rx_head_ok(&rx->head))
			return false;
		if (!rx->head.n_writes)
			return rx_next(tl, 0);
		rx_enter(rx, TLINK_RX_WRITES);
		return true;
	case TLINK_RX_WRITES:
		return rx_writes_ok(rx) && rx_next(tl, 0);
	case TLINK_RX_PAYLOAD:
		return rx_next(tl, rx->n + 1);
	case TLINK_RX_FRAME:
		return rx_deliver(tl);
	}
	return false;
}

/* Where the part goes that arrives, and how long it is; or NULL. */
static void *rx_target(struct tlink *tl, u32 *want)
{
	struct tlink_rx *rx = &tl->rx;

	switch (rx->phase) {
	case TLINK_RX_HEAD:
		*want = sizeof(rx->head);
		return &rx->head;
	case TLINK_RX_WRITES:
		*want = rx->head.n_writes * sizeof(rx->write[0]);
		return rx->write;
	case TLINK_RX_PAYLOAD:
		*want = rx_len(rx, rx->n);
		/* It may have been unmapped since the first byte. */
		return tlink_target(rx->map, &rx->write[rx->n]);
	case TLINK_RX_FRAME:
		*want = le16_to_cpu(rx->head.bytes);
		return rx->frame;
	}
	return NULL;
}

/* tcp_read_sock()'s callback: takes all bytes, or ends the link. */
static int rx_skb(read_descriptor_t *desc, struct sk_buff *skb,
		  unsigned int pos, size_t len)
{
	struct tlink *tl = desc->arg.data;
	size_t left = len;
	u32 n, want;
	void *to;

	while (left) {
		to = rx_target(tl, &want);
		n = to ? rx_part(&tl->rx, to, want, skb, pos, left) : 0;
		if (!n)
			goto fault;
		pos += n;
		left -= n;
		if (tl->rx.have == want && !rx_part_done(tl))
			goto fault;
	}
	return len;

fault:
	/* If the engine has ended the link, this changes nothing. */
	sanx_wire_failed(tl->wl.link, SANX_WIRE_FAULT);
	tl->state = TLINK_STOPPED;
	desc->count = 0;
	return len;
}

/* Process what has arrived.  The lock of the sock held. */
void tlink_rx_run(struct tlink *tl)
{
	read_descriptor_t desc = { .arg.data = tl, .count = 1 };
	bool sends = tlink_tx_begin(tl);

	/* The engine expects what devices do: upcalls in softirq. */
	local_bh_disable();
	tcp_read_sock(tl->sock->sk, &desc, rx_skb);
	local_bh_enable();
	if (sends)
		tlink_tx_end(tl);
}
