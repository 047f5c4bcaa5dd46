/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The message queue: one direction of a stream, as a ring in the receiver's
 * memory that the sender writes (sci-socket.txt 5.3.1, "SCILib").
 *
 * Everything is counted in stream offsets: 64-bit byte counts from the start
 * of the stream, which never wrap in practice.  The byte at offset o lives in
 * the ring at o & (size - 1).  A write therefore is idempotent: it can be
 * repeated, on another path if need be, and lands in the same place.
 *
 * A queue begins with little memory, or none, and moves to a larger ring when
 * there is a need: bytes from some offset on are in the new one, and the reader
 * follows when it has read all before.  Where the reader may be several rings
 * behind, each of them is a turn.
 *
 * This unit is pure: no socket, no device, no allocation and no lock.  Each
 * function says which side may call it; a side is serialised by its caller.
 */
#ifndef _NET_SANX_MSGQ_H
#define _NET_SANX_MSGQ_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/uio.h>

#define SANX_RING_MIN	4096U
#define SANX_RING_MAX	1048576U
/* What a connection begins with; no device writes it. */
#define SANX_RING_FIRST	1024U
/* So much is read at most before the sender is told. */
#define SANX_CREDIT_MAX	98304U

/* See sanx_ring_slack(). */
#define SANX_SLACK_MAX	16384U

/**
 * struct sanx_txq - the sender's view of its remote window
 * @next: offset of the next byte to be put into the window; written by the
 *	sender only, or by its transport
 * @limit: first offset that the peer has not permitted, moved by credits; or that we
 *	have given up: sanx_txq_return()
 * @read: first offset that the peer has not said it read
 * @size: bytes of the remote ring, a power of two
 */
struct sanx_txq {
	u64	next;
	u64	limit;
	u64	read;
	u32	size;
};

/**
 * struct sanx_ring - memory of a ring
 * @buf: the bytes; NULL for none
 * @size: how many, a power of two
 */
struct sanx_ring {
	u8	*buf;
	u32	size;
};

/**
 * struct sanx_turn - a ring among several of a queue
 * @ring: its memory
 * @from: first offset that is in it
 * @next: the one that follows; written once, by the writer
 */
struct sanx_turn {
	struct sanx_ring	ring;
	u64			from;
	struct sanx_turn	*next;
};

/**
 * struct sanx_left - a ring that the reader is through with
 * @buf: the ring
 * @turn: what it is the ring of, or NULL
 */
struct sanx_left {
	u8			*buf;
	struct sanx_turn	*turn;
};

/**
 * struct sanx_rxq - the receiver's ring and its cursors
 * @in: where bytes from @from on go; the transport's
 * @from: first offset that is in @in; all before are in @out, or in turns
 * @out: where the reader is; the reader's, and it follows to @in when it has
 *	read all before @from
 * @turn: that of @out, in a queue that goes by turns, or NULL; the reader's
 * @size: what the sender may have under way and unread, bytes; set by the
 *	transport along with sanx_rxq_grant()
 * @head: offset of the next byte the program reads; written by the reader only
 * @tail: first offset that has not arrived; written by the transport only
 * @granted: limit last told to the sender; written by sanx_rxq_grant() only
 */
struct sanx_rxq {
	struct sanx_ring	in;
	u64			from;
	struct sanx_ring	out;
	struct sanx_turn	*turn;
	u32			size;
	u64			head;
	u64			tail;
	u64			granted;
};

/**
 * struct sanx_span - a stretch of the ring that does not wrap
 * @pos: bytes from the start of the ring
 * @len: bytes
 */
struct sanx_span {
	u32	pos;
	u32	len;
};

void sanx_txq_init(struct sanx_txq *q, u32 size);
u32 sanx_txq_room(const struct sanx_txq *q);
u32 sanx_txq_unread(const struct sanx_txq *q);
void sanx_txq_advance(struct sanx_txq *q, u32 len);
int sanx_txq_credit(struct sanx_txq *q, u64 limit);
bool sanx_txq_return(struct sanx_txq *q, u32 room);
void sanx_txq_exceed(struct sanx_txq *tx, struct sanx_rxq *rx, u64 to);

void sanx_rxq_init(struct sanx_rxq *q, u8 *buf, u32 size);
void sanx_rxq_provide(struct sanx_rxq *q, u8 *buf, u32 size);
bool sanx_rxq_turning(const struct sanx_rxq *q);
void sanx_rxq_move(struct sanx_rxq *q, u8 *buf, u32 size);
void sanx_rxq_begin(struct sanx_rxq *q, struct sanx_turn *first);
void sanx_rxq_append(struct sanx_rxq *q, struct sanx_turn *last,
		     struct sanx_turn *turn, u64 from);
bool sanx_rxq_follow(struct sanx_rxq *q, struct sanx_left *left);
u8 sanx_rxq_byte(const struct sanx_rxq *q, u64 offset);
int sanx_rxq_arrive(struct sanx_rxq *q, u64 offset, u32 len);
u32 sanx_rxq_avail(const struct sanx_rxq *q);
void sanx_rxq_consume(struct sanx_rxq *q, u32 len);
bool sanx_rxq_credit_due(const struct sanx_rxq *q);
u64 sanx_rxq_grant(struct sanx_rxq *q);
void sanx_rxq_store(struct sanx_rxq *q, u64 offset, const void *data, u32 len);
size_t sanx_rxq_fill(struct sanx_rxq *q, u64 offset, struct iov_iter *from,
		     u32 len);
size_t sanx_rxq_read(const struct sanx_rxq *q, u32 skip, struct iov_iter *to,
		     u32 len);

int sanx_ring_spans(u32 size, u64 offset, u32 len, struct sanx_span span[2]);
u32 sanx_ring_size(int bytes);
u32 sanx_ring_slack(u32 size);

#endif /* _NET_SANX_MSGQ_H */
