// SPDX-License-Identifier: GPL-2.0
/*
 * The message queue: cursors and credits of one direction of a stream.  See
 * include/net/sanx_msgq.h for the model.
 *
 * The two sides of a queue meet in two places only: @tail of the receiver,
 * which publishes bytes, and @limit of the sender, which publishes room.  Each
 * is stored with release and loaded with acquire semantics, so that whoever
 * sees the cursor sees the bytes, or the freed ring, behind it.
 */
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>

#include <net/sanx_msgq.h>

/**
 * sanx_ring_size() - ring size for a receive buffer of so many bytes
 * @bytes: what the program asked for, as in sk->sk_rcvbuf
 *
 * Return: a power of two in SANX_RING_MIN..SANX_RING_MAX, at most @bytes
 * where the range permits, so that SO_RCVBUF bounds the ring.
 */
u32 sanx_ring_size(int bytes)
{
	u32 n = clamp_t(u32, max(bytes, 0), SANX_RING_MIN, SANX_RING_MAX);

	return rounddown_pow_of_two(n);
}
EXPORT_SYMBOL_GPL(sanx_ring_size);

/**
 * sanx_ring_slack() - where no message is to begin
 * @size: bytes of what is sent to
 *
 * Whatever has less room than this is full.  So a message that is no longer than
 * that goes whole, and does not mix with those of other writers; as over TCP,
 * whose limit is soft.
 *
 * Return: bytes.
 */
u32 sanx_ring_slack(u32 size)
{
	return min(size / 4, SANX_SLACK_MAX);
}
EXPORT_SYMBOL_GPL(sanx_ring_slack);

/**
 * sanx_ring_spans() - where in the ring a stretch of the stream lies
 * @size: bytes of the ring, a power of two
 * @offset: stream offset of the first byte
 * @len: bytes, at most @size
 * @span: filled with one or two stretches that do not wrap
 *
 * Return: the number of spans, 0 for an empty stretch.
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
EXPORT_SYMBOL_GPL(sanx_ring_spans);

/**
 * sanx_txq_init() - start a sender's side with an empty remote ring
 * @q: the queue
 * @size: bytes of the remote ring, a power of two; all of it is permitted
 */
void sanx_txq_init(struct sanx_txq *q, u32 size)
{
	q->next = 0;
	q->read = 0;
	q->size = size;
	WRITE_ONCE(q->limit, size);
}
EXPORT_SYMBOL_GPL(sanx_txq_init);

/**
 * sanx_txq_room() - bytes that may be sent now
 * @q: the queue
 *
 * Return: bytes; exact for the sender, for anyone else a moment's estimate.
 */
u32 sanx_txq_room(const struct sanx_txq *q)
{
	u64 next, limit;

	/* Before the limit, which can be further than any earlier one. */
	next = smp_load_acquire(&q->next);
	/* Pairs with the release in sanx_txq_credit(). */
	limit = smp_load_acquire(&q->limit);
	/* It may just be given back (sanx_txq_return()). */
	return limit > next ? limit - next : 0;
}
EXPORT_SYMBOL_GPL(sanx_txq_room);

/**
 * sanx_txq_unread() - bytes sent that the peer has not said it read
 * @q: the queue
 *
 * Context: any.
 * Return: bytes; a moment's estimate.
 */
u32 sanx_txq_unread(const struct sanx_txq *q)
{
	u64 read = READ_ONCE(q->read);

	return READ_ONCE(q->next) - read;
}
EXPORT_SYMBOL_GPL(sanx_txq_unread);

/**
 * sanx_txq_advance() - count bytes as sent
 * @q: the queue
 * @len: bytes, at most sanx_txq_room()
 *
 * Called before the peer can see the bytes: the peer may read them and send a
 * credit at once, and sanx_txq_credit() holds that against @next.
 *
 * Context: the sender, or its transport; one at a time.
 */
void sanx_txq_advance(struct sanx_txq *q, u32 len)
{
	WRITE_ONCE(q->next, q->next + len);
}
EXPORT_SYMBOL_GPL(sanx_txq_advance);

/**
 * sanx_txq_credit() - take a new limit from the peer
 * @q: the queue
 * @limit: first offset that is not permitted, as received, unchecked
 *
 * A limit moves forward only and never past a whole ring of unread bytes; a
 * repeated one is no news.  The value is the peer's: it is checked here.
 *
 * Context: whatever takes credits, one at a time.
 * Return: 1 if there is more room now, 0 if nothing changed, -EPROTO if no
 * correct peer could have sent it; then nothing changed.
 */
int sanx_txq_credit(struct sanx_txq *q, u64 limit)
{
	if (limit == q->limit) {
		/* What was given up is permitted: all before was read. */
		if ((s64)(limit - q->size - q->read) > 0)
			WRITE_ONCE(q->read, limit - q->size);
		return 0;
	}
	/* The last matters where the ring has just become a larger one. */
	if (limit - q->limit > q->size ||
	    limit - READ_ONCE(q->next) > q->size ||
	    (s64)(limit - q->size - q->read) < 0)
		return -EPROTO;
	WRITE_ONCE(q->read, limit - q->size);
	/* Room becomes visible after the peer's reads that made it. */
	smp_store_release(&q->limit, limit);
	return 1;
}
EXPORT_SYMBOL_GPL(sanx_txq_credit);

/**
 * sanx_txq_return() - give up room
 * @q: the queue
 * @room: bytes of it to keep
 *
 * The peer is to be told, and what it permitted before that does not count.  As
 * long as it has not answered, @q->size is that of the ring which it knows.
 *
 * Context: the sender, or its transport; and nobody takes credits at the same time.
 * Return: true; or false if there is no more room than that anyway.
 */
bool sanx_txq_return(struct sanx_txq *q, u32 room)
{
	if (q->limit - q->next < room)
		return false;
	WRITE_ONCE(q->limit, q->next + room);
	return true;
}
EXPORT_SYMBOL_GPL(sanx_txq_return);

/**
 * sanx_txq_exceed() - permit more than the receiver's ring has room for
 * @tx: the queue of a sender that has memory for it
 * @rx: the receiver's end
 * @to: offset up to which it has bytes to put there
 *
 * The receiver grants anew when so much is read that its own ring will do.
 *
 * Context: the sender; and nobody grants or takes credits at the same time.
 */
void sanx_txq_exceed(struct sanx_txq *tx, struct sanx_rxq *rx, u64 to)
{
	if ((s64)(to - tx->limit) <= 0)
		return;
	WRITE_ONCE(rx->granted, to);
	/* As in sanx_txq_credit(). */
	smp_store_release(&tx->limit, to);
}
EXPORT_SYMBOL_GPL(sanx_txq_exceed);

/**
 * sanx_rxq_init() - start a receiver's side with an empty ring
 * @q: the queue
 * @buf: the ring, or NULL if it comes later; stays the caller's
 * @size: bytes of the ring, a power of two; all of it counts as granted
 */
void sanx_rxq_init(struct sanx_rxq *q, u8 *buf, u32 size)
{
	q->in = (struct sanx_ring){ .buf = buf, .size = size };
	q->out = q->in;
	q->turn = NULL;
	q->from = 0;
	q->size = size;
	q->head = 0;
	q->tail = 0;
	q->granted = size;
}
EXPORT_SYMBOL_GPL(sanx_rxq_init);

/**
 * sanx_rxq_turning() - has the queue moved, and the reader not yet followed?
 * @q: the queue
 *
 * Return: true if so; then it must not move again.
 */
bool sanx_rxq_turning(const struct sanx_rxq *q)
{
	/* Pairs with the release in sanx_rxq_follow(). */
	return smp_load_acquire(&q->out.buf) != READ_ONCE(q->in.buf);
}
EXPORT_SYMBOL_GPL(sanx_rxq_turning);

/**
 * sanx_rxq_provide() - give a queue its first ring
 * @q: a queue without one, in which nothing has arrived
 * @buf: the ring
 * @size: bytes of it, a power of two
 *
 * Context: the transport, as for sanx_rxq_arrive(), which publishes it.
 */
void sanx_rxq_provide(struct sanx_rxq *q, u8 *buf, u32 size)
{
	q->in = (struct sanx_ring){ .buf = buf, .size = size };
	q->out = q->in;
}
EXPORT_SYMBOL_GPL(sanx_rxq_provide);

/**
 * sanx_rxq_move() - what arrives from now on goes to another ring
 * @q: the queue, with a ring and not sanx_rxq_turning()
 * @buf: the other ring, not the one before
 * @size: bytes of it, a power of two
 *
 * The ring before is the reader's from here on.
 *
 * Context: the transport, as for sanx_rxq_arrive().
 */
void sanx_rxq_move(struct sanx_rxq *q, u8 *buf, u32 size)
{
	WRITE_ONCE(q->from, q->tail);
	WRITE_ONCE(q->in.size, size);
	/* Who sees that it moved sees where, and to what. */
	smp_store_release(&q->in.buf, buf);
}
EXPORT_SYMBOL_GPL(sanx_rxq_move);

/**
 * sanx_rxq_begin() - give a queue its first ring, of several
 * @q: as for sanx_rxq_provide(); it goes by turns from here on
 * @first: the ring; its @next is to be NULL
 *
 * Context: as for sanx_rxq_provide().
 */
void sanx_rxq_begin(struct sanx_rxq *q, struct sanx_turn *first)
{
	q->turn = first;
	sanx_rxq_provide(q, first->ring.buf, first->ring.size);
}
EXPORT_SYMBOL_GPL(sanx_rxq_begin);

/**
 * sanx_rxq_append() - what is put there from now on goes to another ring
 * @q: a queue that goes by turns
 * @last: the turn that was appended last, or the first
 * @turn: the other ring
 * @from: the next offset that the sender puts there
 *
 * Unlike sanx_rxq_move(), it need not wait for the reader.
 *
 * Context: the sender.
 */
void sanx_rxq_append(struct sanx_rxq *q, struct sanx_turn *last,
		     struct sanx_turn *turn, u64 from)
{
	turn->from = from;
	turn->next = NULL;
	WRITE_ONCE(q->from, from);
	WRITE_ONCE(q->in.size, turn->ring.size);
	/* Who sees it sees what is in it. */
	smp_store_release(&last->next, turn);
	/* Who sees that this is not where it is finds the next turn. */
	smp_store_release(&q->in.buf, turn->ring.buf);
}
EXPORT_SYMBOL_GPL(sanx_rxq_append);

/* The ring to go to, from a turn that is read to its end, or NULL. */
static const struct sanx_ring *follow_turn(struct sanx_rxq *q)
{
	/* Pairs with the release in sanx_rxq_append(). */
	struct sanx_turn *next = smp_load_acquire(&q->turn->next);

	if (!next || q->head < next->from)
		return NULL;
	q->turn = next;
	return &next->ring;
}

/**
 * sanx_rxq_follow() - go to where the queue has moved, or one ring further
 * @q: the queue
 * @left: filled: the ring before, which nobody uses any more
 *
 * Context: the reader.
 * Return: true if it went there; false if there was no need, or something is
 * still to be read before.
 */
bool sanx_rxq_follow(struct sanx_rxq *q, struct sanx_left *left)
{
	/* Pairs with the release in sanx_rxq_move(), sanx_rxq_append(). */
	u8 *buf = smp_load_acquire(&q->in.buf);
	const struct sanx_ring *to = &q->in;

	if (likely(buf == q->out.buf))
		return false;
	left->buf = q->out.buf;
	left->turn = q->turn;
	if (q->turn)
		to = follow_turn(q);
	else if (q->head < READ_ONCE(q->from))
		to = NULL;
	if (!to)
		return false;
	q->out.size = READ_ONCE(to->size);
	buf = READ_ONCE(to->buf);
	/* The reads there are done before it is moved again. */
	smp_store_release(&q->out.buf, buf);
	return true;
}
EXPORT_SYMBOL_GPL(sanx_rxq_follow);

/* As rxq_ring(), where there are turns. */
static const struct sanx_ring *rxq_turn(const struct sanx_rxq *q, u64 offset,
					u32 *most)
{
	const struct sanx_turn *turn = q->turn, *next;

	/* Pairs with the release in sanx_rxq_append(). */
	while ((next = smp_load_acquire(&turn->next)) && offset >= next->from)
		turn = next;
	if (next)
		*most = min_t(u64, *most, next->from - offset);
	return &turn->ring;
}

/* The ring that a byte is in; @most is cut to how many from there on are. */
static const struct sanx_ring *rxq_ring(const struct sanx_rxq *q, u64 offset,
					u32 *most)
{
	/* Pairs with the release in sanx_rxq_move(), sanx_rxq_append(). */
	u8 *buf = smp_load_acquire(&q->in.buf);
	u64 from;

	if (likely(buf == q->out.buf))
		return &q->out;
	if (q->turn)
		return rxq_turn(q, offset, most);
	from = READ_ONCE(q->from);
	if (offset >= from)
		return &q->in;
	*most = min_t(u64, *most, from - offset);
	return &q->out;
}

/**
 * sanx_rxq_byte() - one byte that has arrived
 * @q: the queue
 * @offset: its stream offset; it has arrived and was not consumed
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
EXPORT_SYMBOL_GPL(sanx_rxq_byte);

/**
 * sanx_rxq_arrive() - publish bytes that lie in the ring
 * @q: the queue
 * @offset: stream offset of the first of them, as received, unchecked
 * @len: bytes, as received, unchecked
 *
 * Context: the transport, one at a time.
 * Return: 0, or -EPROTO if @offset is not the next one or @len overruns what
 * was granted; then nothing changed.
 */
int sanx_rxq_arrive(struct sanx_rxq *q, u64 offset, u32 len)
{
	if (offset != q->tail ||
	    len > READ_ONCE(q->granted) - q->tail)
		return -EPROTO;
	/* The bytes are in the ring before anyone sees the cursor. */
	smp_store_release(&q->tail, q->tail + len);
	return 0;
}
EXPORT_SYMBOL_GPL(sanx_rxq_arrive);

/**
 * sanx_rxq_avail() - bytes that can be read now
 * @q: the queue
 *
 * Return: bytes; exact for the reader, for anyone else a moment's estimate.
 */
u32 sanx_rxq_avail(const struct sanx_rxq *q)
{
	u64 head;

	/* Not the other way round, or it could be less than nothing. */
	head = smp_load_acquire(&q->head);
	/* Pairs with the release in sanx_rxq_arrive(). */
	return smp_load_acquire(&q->tail) - head;
}
EXPORT_SYMBOL_GPL(sanx_rxq_avail);

/**
 * sanx_rxq_consume() - free the ring behind bytes that were read
 * @q: the queue
 * @len: bytes, at most sanx_rxq_avail()
 *
 * Context: the reader.
 */
void sanx_rxq_consume(struct sanx_rxq *q, u32 len)
{
	/* The reads are done before the sender may write there again. */
	smp_store_release(&q->head, q->head + len);
}
EXPORT_SYMBOL_GPL(sanx_rxq_consume);

/**
 * sanx_rxq_credit_due() - is it time to tell the sender of freed ring?
 * @q: the queue
 *
 * A quarter of the ring, SANX_CREDIT_MAX at most: seldom enough to cost little,
 * soon enough that a sender in full flow does not run dry (the delayed
 * acknowledgements of SOVIA).  As a full ring that was read whole is always due, a sender cannot
 * wait for ever.  Where there is little, half of it: else a few hundred bytes,
 * which are answered and told of with the answer, would be told of by themselves;
 * and not more than half, for which a sender may wait.
 *
 * Context: the reader.
 * Return: true once so much of the ring is free and not granted.
 */
bool sanx_rxq_credit_due(const struct sanx_rxq *q)
{
	u32 size = READ_ONCE(q->size), due = min(size / 4, SANX_CREDIT_MAX);

	if (size <= SANX_RING_FIRST)
		due *= 2;
	/* It may have become larger just now, and all of it be granted. */
	return (s64)(q->head + size - READ_ONCE(q->granted)) >= (s64)due;
}
EXPORT_SYMBOL_GPL(sanx_rxq_credit_due);

/**
 * sanx_rxq_grant() - grant all free ring to the sender
 * @q: the queue
 *
 * Context: any, one at a time and in the order in which the limits are sent:
 * a transport calls it under the lock under which it posts.
 * Return: the new limit, to be told to the peer.
 */
u64 sanx_rxq_grant(struct sanx_rxq *q)
{
	u64 limit = READ_ONCE(q->head) + q->size;

	WRITE_ONCE(q->granted, limit);
	return limit;
}
EXPORT_SYMBOL_GPL(sanx_rxq_grant);

/**
 * sanx_rxq_store() - put bytes that came by message into the ring
 * @q: the queue
 * @offset: stream offset of the first byte
 * @data: the bytes
 * @len: how many; the caller has checked that offset and length are in the
 *	granted part, or accepts that sanx_rxq_arrive() will refuse them
 *
 * Never writes outside the ring, whatever @offset and @len say.
 *
 * Context: the transport, one at a time.
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
EXPORT_SYMBOL_GPL(sanx_rxq_store);

/**
 * sanx_rxq_fill() - put a caller's bytes straight into the ring
 * @q: the queue
 * @offset: stream offset of the first byte
 * @from: where they come from; advanced by what was copied
 * @len: bytes, at most the size of the ring
 *
 * Context: process, may fault; one at a time.
 * Return: bytes copied; fewer than @len if @from faulted.
 */
size_t sanx_rxq_fill(struct sanx_rxq *q, u64 offset, struct iov_iter *from,
		     u32 len)
{
	struct sanx_span span[2];
	size_t done = 0, got;
	int i, n;

	n = sanx_ring_spans(q->in.size, offset, len, span);
	for (i = 0; i < n; i++) {
		/*
		 * Without what hardened usercopy asks, which takes longer than
		 * to copy some hundred bytes: a span is in the ring.
		 */
		got = _copy_from_iter(q->in.buf + span[i].pos, span[i].len,
				      from);
		done += got;
		if (got != span[i].len)
			break;
	}
	return done;
}
EXPORT_SYMBOL_GPL(sanx_rxq_fill);

/* Reads from one ring; @most is cut to what is in it. */
static size_t read_ring(const struct sanx_rxq *q, u64 offset,
			struct iov_iter *to, u32 *most)
{
	const struct sanx_ring *ring = rxq_ring(q, offset, most);
	struct sanx_span span[2];
	size_t done = 0, got;
	int i, n;

	n = sanx_ring_spans(ring->size, offset, *most, span);
	for (i = 0; i < n; i++) {
		/* As there. */
		got = _copy_to_iter(ring->buf + span[i].pos, span[i].len, to);
		done += got;
		if (got != span[i].len)
			break;
	}
	return done;
}

/**
 * sanx_rxq_read() - copy arrived bytes to a caller, without consuming them
 * @q: the queue
 * @skip: bytes after the head to leave out, as for a peek
 * @to: where they go; advanced by what was copied
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
EXPORT_SYMBOL_GPL(sanx_rxq_read);
