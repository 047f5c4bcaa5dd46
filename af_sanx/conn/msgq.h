/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The message queue: one direction of a stream, as a ring in the receiver's
 * memory that the sender writes (sci-socket.txt 5.3.1, "SCILib").
 *
 * All positions are stream offsets: 64-bit byte counts from the start of the
 * stream, which do not wrap in practice.  The ring stores the byte at offset o
 * at o & (size - 1).  A write is therefore idempotent: it can be repeated, over
 * another link too, and stores the same bytes at the same address.
 *
 * A queue starts with a small ring, or none, and moves to a larger ring when
 * needed.  Bytes from some offset on are stored in the new ring.  The reader
 * follows when it has read all bytes before that offset.  Where the reader may
 * be several rings behind (loop), each ring is a generation (struct
 * sanx_generation).
 *
 * Invariants; "sender" and "reader" are serialised by their callers:
 *
 * - sanx_txq.next <= sanx_txq.limit for the sender, except while it sends bytes
 *   again after sanx_txq_resume().  The sender writes @next, or its transport
 *   does; the receiver of credits writes @limit and @read.
 * - sanx_rxq.head <= sanx_rxq.tail <= sanx_rxq.granted.  The reader writes
 *   @head, the transport @tail, the granting side @granted.
 * - Bytes in [@head, @tail) do not change.  @tail is stored with release after
 *   the bytes, @head with release after the reads.
 *
 * msgq.c names the partner of each barrier.  Documentation/locking.rst has the
 * locks with which loop and verbs serialise each side.
 *
 * This unit is pure: it uses no socket, no device, no allocation and no lock.
 * Each function says which side may call it.
 */
#ifndef _SANX_MSGQ_H
#define _SANX_MSGQ_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/uio.h>
#include <asm/barrier.h>

#define SANX_RING_MIN	4096U
#define SANX_RING_MAX	1048576U
/* Size of a connection's first ring.  Devices do not write it. */
#define SANX_RING_FIRST	1024U

/* See sanx_ring_slack(). */
#define SANX_SLACK_MAX	16384U

/**
 * struct sanx_txq - the sender's view of its remote window
 * @next: offset of the next byte to send; written by the sender or its
 *	transport
 * @limit: first offset that may not be sent; advanced by credits
 *	(sanx_txq_credit(), sanx_txq_exceed()), moved back by sanx_txq_lower(),
 *	set by sanx_txq_resume()
 * @read: first offset that the peer is not known to have read; written under
 *	the lock that guards @limit
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
 * @buf: the bytes, or NULL for no ring
 * @size: bytes at @buf, a power of two
 */
struct sanx_ring {
	u8	*buf;
	u32	size;
};

/**
 * struct sanx_generation - one of several rings of a queue
 * @ring: its memory
 * @from: first stream offset that is stored in it
 * @next: the next generation; written once, with release, by sanx_rxq_append()
 *
 * A generation does not change once it was appended, except for @next.
 */
struct sanx_generation {
	struct sanx_ring	ring;
	u64			from;
	struct sanx_generation	*next;
};

/**
 * struct sanx_left - a ring that the reader has left
 * @buf: the ring
 * @gen: its generation, or NULL in a queue without generations
 */
struct sanx_left {
	u8			*buf;
	struct sanx_generation	*gen;
};

/**
 * struct sanx_rxq - the receiver's ring and its cursors
 * @in: the ring that takes bytes from @from on; written by the transport; a new
 *	@in.buf is stored with release
 * @from: first offset that is stored in @in; bytes before it are in @out, or in
 *	generations; written by the transport
 * @out: the ring that the reader reads; written by the reader, which follows to
 *	@in when it has read all bytes before @from; @out.buf is stored with
 *	release
 * @gen: the generation of @out, or NULL in a queue without generations; written
 *	by the reader
 * @size: bytes that the sender may have sent and the reader not read; the
 *	transport sets it together with sanx_rxq_grant()
 * @head: offset of the next byte that the program reads; written by the reader
 *	only
 * @tail: first offset that has not arrived; written by the transport only
 * @granted: last limit that was advertised to the sender; written by
 *	sanx_rxq_grant(), and by sanx_txq_exceed() for the sender
 */
struct sanx_rxq {
	struct sanx_ring	in;
	u64			from;
	struct sanx_ring	out;
	struct sanx_generation	*gen;
	u32			size;
	u64			head;
	u64			tail;
	u64			granted;
};

/**
 * struct sanx_span - a part of the ring that does not wrap
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
int sanx_txq_credit(struct sanx_txq *q, u64 limit);
bool sanx_txq_lower(struct sanx_txq *q, u32 room);
int sanx_txq_resume(struct sanx_txq *q, u32 size, u64 limit, u64 received);
void sanx_txq_exceed(struct sanx_txq *tx, struct sanx_rxq *rx, u64 to);

void sanx_rxq_init(struct sanx_rxq *q, u8 *buf, u32 size);
void sanx_rxq_provide(struct sanx_rxq *q, u8 *buf, u32 size);
bool sanx_rxq_moving(const struct sanx_rxq *q);
void sanx_rxq_move(struct sanx_rxq *q, u8 *buf, u32 size);
void sanx_rxq_begin(struct sanx_rxq *q, struct sanx_generation *first);
void sanx_rxq_append(struct sanx_rxq *q, struct sanx_generation *last,
		     struct sanx_generation *gen, u64 from);
bool sanx_rxq_follow(struct sanx_rxq *q, struct sanx_left *left);
u8 sanx_rxq_byte(const struct sanx_rxq *q, u64 offset);
int sanx_rxq_arrive(struct sanx_rxq *q, u64 offset, u32 len);
u32 sanx_rxq_avail(const struct sanx_rxq *q);
void sanx_rxq_consume(struct sanx_rxq *q, u32 len);
bool sanx_rxq_credit_due(const struct sanx_rxq *q);
u64 sanx_rxq_grant(struct sanx_rxq *q);
void sanx_rxq_store(struct sanx_rxq *q, u64 offset, const void *data, u32 len);
size_t sanx_rxq_read(const struct sanx_rxq *q, u32 skip, struct iov_iter *to,
		     u32 len);

int sanx_ring_spans(u32 size, u64 offset, u32 len, struct sanx_span span[2]);
u32 sanx_ring_size(int bytes);
u32 sanx_ring_slack(u32 size);
size_t sanx_ring_fill(const struct sanx_ring *ring, u64 offset,
		      struct iov_iter *from, u32 len);

/**
 * sanx_txq_advance() - count bytes as sent
 * @q: the queue
 * @len: bytes, at most sanx_txq_room()
 *
 * Must be called before the peer can see the bytes.  The peer may read them and
 * send a credit at once, and sanx_txq_credit() checks that credit against
 * @next.
 *
 * Context: the sender or its transport; one at a time.
 */
static inline void sanx_txq_advance(struct sanx_txq *q, u32 len)
{
	/*
	 * Pairs with smp_load_acquire() in loop_publish(), which may run on
	 * another CPU: who sees @next finds the bytes in the ring.
	 */
	smp_store_release(&q->next, q->next + len);
}

/**
 * sanx_rxq_fill() - copy bytes of a program into the ring that takes bytes
 * @q: the queue
 * @offset: as for sanx_ring_fill()
 * @from: likewise
 * @len: likewise
 *
 * Context: as sanx_ring_fill().
 * Return: as sanx_ring_fill().
 */
static inline size_t sanx_rxq_fill(struct sanx_rxq *q, u64 offset,
				   struct iov_iter *from, u32 len)
{
	return sanx_ring_fill(&q->in, offset, from, len);
}

#endif /* _SANX_MSGQ_H */
