// SPDX-License-Identifier: GPL-2.0
/*
 * The message queue: cursors and credits of one direction of a stream.
 * msgq.h describes the model and its invariants.
 *
 * The receiver publishes bytes with rx.tail.  The sender gets room with
 * tx.limit.  Both, and the pointers to rings, are stored with release and
 * loaded with acquire:
 *
 *			stored with release in	loaded with acquire in
 *	rx.tail		sanx_rxq_arrive()	sanx_rxq_avail()
 *	rx.head		sanx_rxq_consume()	sanx_rxq_avail(); loop_memory(),
 *						loop_unread() in loop.c
 *	tx.limit	sanx_txq_credit()	sanx_txq_room()
 *			sanx_txq_exceed()
 *			sanx_txq_resume()
 *	tx.next		sanx_txq_advance()	sanx_txq_room(); loop_publish()
 *						in loop.c
 *	rx.in.buf	sanx_rxq_move()		sanx_rxq_follow()
 *			sanx_rxq_append()	rxq_ring()
 *	rx.out.buf	sanx_rxq_follow()	sanx_rxq_moving()
 *	gen->next	sanx_rxq_append()	follow_gen(), rxq_gen()
 *
 * A side that sees a cursor therefore also sees the bytes that arrived, or that
 * the reads of the freed bytes are done.
 */
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>

#include "msgq.h"

/**
 * sanx_ring_size() - ring size for a receive buffer
 * @bytes: size of the receive buffer, as in sk->sk_rcvbuf
 *
 * Context: any.
 * Return: bytes, a power of two in SANX_RING_MIN..SANX_RING_MAX.  It is at most
 * @bytes where that range permits, so that SO_RCVBUF bounds the ring.
 */
u32 sanx_ring_size(int bytes)
{
	u32 n = clamp_t(u32, max(bytes, 0), SANX_RING_MIN, SANX_RING_MAX);

	return rounddown_pow_of_two(n);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ring_size);

/**
 * sanx_ring_slack() - room below which a buffer counts as full
 * @size: bytes of the buffer
 *
 * No message starts when less than this is free.  So a message of at most this
 * length is stored whole, and does not mix with messages of other writers.  TCP
 * behaves the same way, because its limit is soft.
 *
 * Context: any.
 * Return: bytes.
 */
u32 sanx_ring_slack(u32 size)
{
	return min(size / 4, SANX_SLACK_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ring_slack);

/**
 * sanx_ring_spans() - split a range of the stream where the ring wraps
 * @size: bytes of the ring, a power of two
 * @offset: stream offset of the first byte
 * @len: bytes, at most @size
 * @span: filled with one or two parts that do not wrap
 *
 * Context: any.
 * Return: the number of spans; 0 if @len is 0.
 */
int sanx_ring_spans(u32 size, u64 offset, u32 len, struct sanx_span span[2])
{
	u32 pos = offset & (size - 1);

	if (!len)
		return 0;
	span[0].pos = pos;
	span[0].len = min(len, size - pos);
	span[1].pos = 0;
	span[1].len = len - span[0].len;
	return span[1].len ? 2 : 1;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ring_spans);

/**
 * sanx_txq_init() - initialise a sender's side for an empty remote ring
 * @q: the queue
 * @size: bytes of the remote ring, a power of two; all of it is granted
 *
 * Context: before any other call for @q.
 */
void sanx_txq_init(struct sanx_txq *q, u32 size)
{
	q->next = 0;
	q->read = 0;
	q->size = size;
	WRITE_ONCE(q->limit, size);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txq_init);

/**
 * sanx_txq_room() - bytes that may be sent now
 * @q: the queue
 *
 * Context: any.
 * Return: bytes; exact for the sender, a hint for all others.
 */
u32 sanx_txq_room(const struct sanx_txq *q)
{
	u64 next, limit;

	/*
	 * Loaded before @limit, so that @limit is at least as new.  Orders
	 * these two loads only.
	 */
	next = smp_load_acquire(&q->next);
	/*
	 * Pairs with smp_store_release() in sanx_txq_credit(),
	 * sanx_txq_exceed() and sanx_txq_resume().
	 */
	limit = smp_load_acquire(&q->limit);
	/*
	 * @limit may be behind @next after sanx_txq_resume().  Callers other
	 * than the sender may see that at other times too: sanx_txq_lower()
	 * moves @limit back.
	 */
	return limit > next ? limit - next : 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txq_room);

/**
 * sanx_txq_unread() - bytes that were sent and that the peer is not known to
 * have read
 * @q: the queue
 *
 * Context: any.
 * Return: bytes; a hint.
 */
u32 sanx_txq_unread(const struct sanx_txq *q)
{
	u64 read = READ_ONCE(q->read);

	return READ_ONCE(q->next) - read;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txq_unread);

/**
 * sanx_txq_credit() - apply a limit that the peer sent
 * @q: the queue
 * @limit: first offset that may not be sent, as received, unchecked
 *
 * A limit only moves forward, and never further than a whole ring beyond the
 * bytes that were sent.  A repeated limit does not change the room.
 *
 * Context: the code that receives credits; one at a time.
 * Return: 1 if there is more room now; 0 if there is not; -EPROTO if no correct
 * peer could have sent @limit, and nothing changed.
 */
int sanx_txq_credit(struct sanx_txq *q, u64 limit)
{
	if (limit == q->limit) {
		/*
		 * After sanx_txq_lower() the peer grants the same limit again,
		 * for a smaller ring.  So it has read all bytes before @limit -
		 * @size.
		 */
		if ((s64)(limit - q->size - q->read) > 0)
			WRITE_ONCE(q->read, limit - q->size);
		return 0;
	}
	/*
	 * The second check is signed, because @next may be ahead after
	 * sanx_txq_resume().  The third one matters when the ring has just
	 * become larger.
	 */
	if (limit - q->limit > q->size ||
	    (s64)(limit - READ_ONCE(q->next)) > (s64)q->size ||
	    (s64)(limit - q->size - q->read) < 0)
		return -EPROTO;
	WRITE_ONCE(q->read, limit - q->size);
	/*
	 * Pairs with smp_load_acquire() in sanx_txq_room().  Over loop the
	 * caller is the reader, whose reads are done before the room becomes
	 * visible.
	 */
	smp_store_release(&q->limit, limit);
	return 1;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txq_credit);

/**
 * sanx_txq_lower() - give up room
 * @q: the queue
 * @room: bytes of room to keep
 *
 * The caller tells the peer.  Limits that the peer granted before it knows of
 * this do not count.  Until the peer has answered, @q->size is the size of the
 * ring that the peer knows.
 *
 * Context: the sender or its transport; no other code applies credits at the
 * same time.
 * Return: true, or false if there is less room than @room, and nothing changed.
 */
bool sanx_txq_lower(struct sanx_txq *q, u32 room)
{
	if (sanx_txq_room(q) < room)
		return false;
	WRITE_ONCE(q->limit, q->next + room);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txq_lower);

/**
 * sanx_txq_resume() - apply the limit with which a stream continues
 * @q: the queue
 * @size: bytes of the remote ring from now on
 * @limit: first offset that may not be sent, as received, unchecked
 * @received: bytes that the peer has received; at most @q->next
 *
 * Limits from before do not count any more, so @limit may be less.  It may also
 * be less than @q->next: bytes before that are sent again.
 *
 * Context: as sanx_txq_credit().
 * Return: 0; -ECONNRESET if the peer's program has read less than before, so
 * that bytes may be missing, and the limit counts all the same; -EPROTO if no
 * peer could have sent @limit, and nothing changed.
 */
int sanx_txq_resume(struct sanx_txq *q, u32 size, u64 limit, u64 received)
{
	u64 read = limit - size;
	int err = 0;

	if (limit < size || (s64)(received - read) < 0 ||
	    (s64)(limit - received) < 0)
		return -EPROTO;
	if ((s64)(read - q->read) < 0)
		err = -ECONNRESET;
	q->size = size;
	WRITE_ONCE(q->read, read);
	/* Pairs with smp_load_acquire() in sanx_txq_room(). */
	smp_store_release(&q->limit, limit);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txq_resume);

/**
 * sanx_txq_exceed() - permit more bytes than the receiver has granted
 * @tx: the queue of a sender that has memory for the bytes
 * @rx: the receiver's side
 * @to: stream offset behind the bytes
 *
 * The receiver grants again once it has read so much that its own ring has
 * room.
 *
 * Context: the sender; no other code grants or applies credits at the same
 * time.
 */
void sanx_txq_exceed(struct sanx_txq *tx, struct sanx_rxq *rx, u64 to)
{
	if ((s64)(to - tx->limit) <= 0)
		return;
	WRITE_ONCE(rx->granted, to);
	/* Pairs with smp_load_acquire() in sanx_txq_room(). */
	smp_store_release(&tx->limit, to);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txq_exceed);

/**
 * sanx_rxq_init() - initialise a receiver's side with an empty ring
 * @q: the queue
 * @buf: the ring, or NULL if it is provided later; the caller still owns it
 * @size: bytes of the ring, a power of two; all of it counts as granted
 *
 * Context: before any other call for @q.
 */
void sanx_rxq_init(struct sanx_rxq *q, u8 *buf, u32 size)
{
	q->in = (struct sanx_ring){ .buf = buf, .size = size };
	q->out = q->in;
	q->gen = NULL;
	q->from = 0;
	q->size = size;
	q->head = 0;
	q->tail = 0;
	q->granted = size;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_init);

/**
 * sanx_rxq_moving() - has the reader not yet followed to the ring of the queue?
 * @q: the queue
 *
 * Context: the transport, as for sanx_rxq_arrive().
 * Return: true if the reader has not followed; the queue must not move again
 * then.
 */
bool sanx_rxq_moving(const struct sanx_rxq *q)
{
	/* Pairs with smp_store_release() in sanx_rxq_follow(). */
	return smp_load_acquire(&q->out.buf) != READ_ONCE(q->in.buf);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_moving);

/**
 * sanx_rxq_provide() - give a queue its first ring
 * @q: a queue that holds no bytes
 * @buf: the ring, or NULL to leave the queue without one; the caller still owns
 *	it
 * @size: bytes of the ring, a power of two
 *
 * Context: the transport, as for sanx_rxq_arrive(), which publishes the ring.
 */
void sanx_rxq_provide(struct sanx_rxq *q, u8 *buf, u32 size)
{
	q->in = (struct sanx_ring){ .buf = buf, .size = size };
	q->out = q->in;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_provide);

/**
 * sanx_rxq_move() - store bytes that arrive from now on in another ring
 * @q: a queue with a ring, and for which sanx_rxq_moving() is false
 * @buf: the other ring, not the same as before; the caller still owns it
 * @size: bytes of the other ring, a power of two
 *
 * Only the reader uses the ring before from now on.  sanx_rxq_follow() says
 * when the reader has left it.
 *
 * Context: the transport, as for sanx_rxq_arrive().
 */
void sanx_rxq_move(struct sanx_rxq *q, u8 *buf, u32 size)
{
	WRITE_ONCE(q->from, q->tail);
	WRITE_ONCE(q->in.size, size);
	/*
	 * Pairs with smp_load_acquire() in sanx_rxq_follow() and rxq_ring(),
	 * which read @from and @in.size afterwards.
	 */
	smp_store_release(&q->in.buf, buf);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_move);

/**
 * sanx_rxq_begin() - give a queue its first generation
 * @q: as for sanx_rxq_provide(); from now on it has generations
 * @first: the generation; its @next must be NULL; the caller still owns it
 *
 * Context: as for sanx_rxq_provide().
 */
void sanx_rxq_begin(struct sanx_rxq *q, struct sanx_generation *first)
{
	q->gen = first;
	sanx_rxq_provide(q, first->ring.buf, first->ring.size);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_begin);

/**
 * sanx_rxq_append() - store bytes from now on in a new generation
 * @q: a queue with generations
 * @last: the generation that was appended last, or the first one
 * @gen: the new generation; the caller still owns it
 * @from: stream offset of the next byte that the sender stores
 *
 * Unlike sanx_rxq_move(), this does not need a reader that has followed.
 *
 * Context: the sender.
 */
void sanx_rxq_append(struct sanx_rxq *q, struct sanx_generation *last,
		     struct sanx_generation *gen, u64 from)
{
	gen->from = from;
	gen->next = NULL;
	WRITE_ONCE(q->from, from);
	WRITE_ONCE(q->in.size, gen->ring.size);
	/* Pairs with smp_load_acquire() in follow_gen() and rxq_gen(). */
	smp_store_release(&last->next, gen);
	/*
	 * Pairs with smp_load_acquire() in sanx_rxq_follow() and rxq_ring(): a
	 * reader that sees the new ring finds the new generation.
	 */
	smp_store_release(&q->in.buf, gen->ring.buf);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_append);

/*
 * Return: the ring of the next generation if the current one is read to its
 * end, else NULL.
 */
static const struct sanx_ring *follow_gen(struct sanx_rxq *q)
{
	/* Pairs with smp_store_release() in sanx_rxq_append(). */
	struct sanx_generation *next = smp_load_acquire(&q->gen->next);

	if (!next || q->head < next->from)
		return NULL;
	q->gen = next;
	return &next->ring;
}

/**
 * sanx_rxq_follow() - go to the ring to which the queue moved, or to the next
 * generation
 * @q: the queue
 * @left: filled with the ring before, on true; no code uses that ring any more
 *
 * Context: the reader.
 * Return: true if the reader went to another ring; false if there is none, or
 * if the ring before still has bytes to read.
 */
bool sanx_rxq_follow(struct sanx_rxq *q, struct sanx_left *left)
{
	/*
	 * Pairs with smp_store_release() in sanx_rxq_move() and
	 * sanx_rxq_append().
	 */
	u8 *buf = smp_load_acquire(&q->in.buf);
	const struct sanx_ring *to = &q->in;

	if (likely(buf == q->out.buf))
		return false;
	left->buf = q->out.buf;
	left->gen = q->gen;
	if (q->gen)
		to = follow_gen(q);
	else if (q->head < READ_ONCE(q->from))
		to = NULL;
	if (!to)
		return false;
	q->out.size = READ_ONCE(to->size);
	buf = READ_ONCE(to->buf);
	/*
	 * Pairs with smp_load_acquire() in sanx_rxq_moving(): the reads of the
	 * old ring are done before the queue can move again.
	 */
	smp_store_release(&q->out.buf, buf);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_follow);

/* As rxq_ring(), for a queue with generations. */
static const struct sanx_ring *rxq_gen(const struct sanx_rxq *q, u64 offset,
				       u32 *most)
{
	const struct sanx_generation *gen = q->gen, *next;

	/* Pairs with smp_store_release() in sanx_rxq_append(). */
	while ((next = smp_load_acquire(&gen->next)) && offset >= next->from)
		gen = next;
	if (next)
		*most = min_t(u64, *most, next->from - offset);
	return &gen->ring;
}

/*
 * Return: the ring that stores the byte at @offset.  @most is reduced to the
 * number of bytes from @offset on that are in that ring.
 */
static const struct sanx_ring *rxq_ring(const struct sanx_rxq *q, u64 offset,
					u32 *most)
{
	/*
	 * Pairs with smp_store_release() in sanx_rxq_move() and
	 * sanx_rxq_append().
	 */
	u8 *buf = smp_load_acquire(&q->in.buf);
	u64 from;

	if (likely(buf == q->out.buf))
		return &q->out;
	if (q->gen)
		return rxq_gen(q, offset, most);
	from = READ_ONCE(q->from);
	if (offset >= from)
		return &q->in;
	*most = min_t(u64, *most, from - offset);
	return &q->out;
}

/**
 * sanx_rxq_byte() - read one byte
 * @q: the queue
 * @offset: stream offset of a byte that has arrived and was not consumed
 *
 * Context: the reader.
 * Return: the byte.
 */
u8 sanx_rxq_byte(const struct sanx_rxq *q, u64 offset)
{
	u32 most = 1;
	const struct sanx_ring *ring = rxq_ring(q, offset, &most);

	return ring->buf[offset & (ring->size - 1)];
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_byte);

/**
 * sanx_rxq_arrive() - publish bytes that are in the ring
 * @q: the queue
 * @offset: stream offset of the first byte, as received, unchecked
 * @len: bytes, as received, unchecked
 *
 * Context: the transport; one at a time.
 * Return: 0, or -EPROTO if @offset is not the next one or @len exceeds what was
 * granted; nothing changed then.
 */
int sanx_rxq_arrive(struct sanx_rxq *q, u64 offset, u32 len)
{
	if (offset != q->tail ||
	    len > READ_ONCE(q->granted) - q->tail)
		return -EPROTO;
	/*
	 * Pairs with smp_load_acquire() in sanx_rxq_avail(): a reader that sees
	 * @tail sees the bytes.
	 */
	smp_store_release(&q->tail, q->tail + len);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_arrive);

/**
 * sanx_rxq_avail() - bytes that can be read now
 * @q: the queue
 *
 * Context: any.
 * Return: bytes; exact for the reader, a hint for all others.
 */
u32 sanx_rxq_avail(const struct sanx_rxq *q)
{
	u64 head;

	/*
	 * Pairs with smp_store_release() in sanx_rxq_consume().  Loaded before
	 * @tail: a newer @head than @tail could make the difference negative.
	 */
	head = smp_load_acquire(&q->head);
	/* Pairs with smp_store_release() in sanx_rxq_arrive(). */
	return smp_load_acquire(&q->tail) - head;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_avail);

/**
 * sanx_rxq_consume() - free ring memory of bytes that were read
 * @q: the queue
 * @len: bytes, at most sanx_rxq_avail()
 *
 * Context: the reader.
 */
void sanx_rxq_consume(struct sanx_rxq *q, u32 len)
{
	/*
	 * Pairs with smp_load_acquire() in sanx_rxq_avail(), loop_memory() and
	 * loop_unread(): the reads are done before the sender reuses the
	 * memory.
	 */
	smp_store_release(&q->head, q->head + len);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_consume);

/**
 * sanx_rxq_credit_due() - is it time to send a credit?
 * @q: the queue
 *
 * A credit is due when half of the ring, less sanx_ring_slack(), is free and not
 * granted.  That is rare enough to cost little, and early enough for a sender of a
 * continuous stream to have room (the delayed acknowledgments of SOVIA).  A later
 * one would break a promise: a reader that waits for half of the ring (SO_RCVLOWAT)
 * gets it without a credit, because the sender leaves at most the slack unused.  A
 * sender cannot wait for ever: a full ring that was read to its end always makes a
 * credit due.
 *
 * The slack of a ring of up to 64 KiB is a quarter, and so is what makes a credit
 * due.  A ring of at most SANX_RING_FIRST bytes needs one half instead.  With a
 * quarter, a request of a few hundred bytes would cause a credit of its
 * own, although the answer carries the credit.  With more than a half, a sender
 * may wait for the credit.
 *
 * Context: the reader.
 * Return: true if a credit is due.
 */
bool sanx_rxq_credit_due(const struct sanx_rxq *q)
{
	u32 size = READ_ONCE(q->size), due = size / 2 - sanx_ring_slack(size);

	if (size <= SANX_RING_FIRST)
		due *= 2;
	/* Signed: if the ring has just become larger, @granted can be ahead. */
	return (s64)(q->head + size - READ_ONCE(q->granted)) >= (s64)due;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_credit_due);

/**
 * sanx_rxq_grant() - grant all free ring memory to the sender
 * @q: the queue
 *
 * Context: any, one at a time, and in the order in which the limits are sent.
 * A transport calls it under the lock under which it posts.
 * Return: the new limit, to be sent to the peer.
 */
u64 sanx_rxq_grant(struct sanx_rxq *q)
{
	u64 limit = READ_ONCE(q->head) + q->size;

	WRITE_ONCE(q->granted, limit);
	return limit;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_grant);

/**
 * sanx_rxq_store() - copy bytes that came in a frame into the ring
 * @q: the queue
 * @offset: stream offset of the first byte
 * @data: the bytes
 * @len: bytes at @data.  The caller has checked that @offset and @len are
 *	within the granted part, or accepts that sanx_rxq_arrive() refuses them.
 *
 * Never writes outside the ring, whatever @offset and @len are.
 *
 * Context: the transport; one at a time.
 */
void sanx_rxq_store(struct sanx_rxq *q, u64 offset, const void *data, u32 len)
{
	struct sanx_span span[2];
	int i, n;

	n = sanx_ring_spans(q->in.size, offset, min(len, q->in.size), span);
	for (i = 0; i < n; i++) {
		memcpy(q->in.buf + span[i].pos, data, span[i].len);
		data += span[i].len;
	}
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_store);

/**
 * sanx_ring_fill() - copy bytes of a program into a ring
 * @ring: the ring
 * @offset: stream offset of the first byte
 * @from: source; advanced by the bytes copied
 * @len: bytes, at most the size of the ring
 *
 * Context: process, may fault; one at a time.
 * Return: bytes copied; fewer than @len if @from faulted.
 */
size_t sanx_ring_fill(const struct sanx_ring *ring, u64 offset,
		      struct iov_iter *from, u32 len)
{
	u32 pos = offset & (ring->size - 1), n = min(len, ring->size - pos);
	size_t done;

	/*
	 * Not copy_from_iter(): the check of hardened usercopy takes longer than
	 * copying some hundred bytes, and the bytes are always within the ring.
	 */
	done = _copy_from_iter(ring->buf + pos, n, from);
	if (unlikely(n < len) && done == n)
		done += _copy_from_iter(ring->buf, len - n, from);
	return done;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ring_fill);

/* Reads from one ring.  @most is reduced to the bytes that are in that ring. */
static size_t read_ring(const struct sanx_rxq *q, u64 offset,
			struct iov_iter *to, u32 *most)
{
	const struct sanx_ring *ring = rxq_ring(q, offset, most);
	u32 pos = offset & (ring->size - 1), n = min(*most, ring->size - pos);
	size_t done;

	/* As in sanx_ring_fill(). */
	done = _copy_to_iter(ring->buf + pos, n, to);
	if (unlikely(n < *most) && done == n)
		done += _copy_to_iter(ring->buf, *most - n, to);
	return done;
}

/**
 * sanx_rxq_read() - copy arrived bytes to a program, without consuming them
 * @q: the queue
 * @skip: bytes behind @head to leave out, as for MSG_PEEK
 * @to: destination; advanced by the bytes copied
 * @len: bytes; @skip + @len is at most sanx_rxq_avail()
 *
 * Context: the reader; process, may fault.
 * Return: bytes copied; fewer than @len if @to faulted.
 */
size_t sanx_rxq_read(const struct sanx_rxq *q, u32 skip, struct iov_iter *to,
		     u32 len)
{
	size_t done = 0, got;
	u32 most;

	while (done < len) {
		most = len - done;
		got = read_ring(q, q->head + skip + done, to, &most);
		done += got;
		if (got != most)
			break;
	}
	return done;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxq_read);
