// SPDX-License-Identifier: GPL-2.0
/*
 * The message queue (af_sanx/conn/msgq.c), function by function: ring sizes, spans,
 * cursors, what a peer may say, and bytes going in and out.  How the two sides
 * work together is in credit_test.c.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "conn/msgq.h"

#define RING		16U
#define GUARD		32U
#define CANARY		0xee

/* Offsets that a 32-bit cursor would get wrong. */
#define FAR		((u64)U32_MAX - 2)

struct size_case {
	const char *desc;
	int bytes;
	u32 want;
};

static const struct size_case size_cases[] = {
	{ "least int", INT_MIN, 4096 },
	{ "negative", -1, 4096 },
	{ "0", 0, 4096 },
	{ "1", 1, 4096 },
	{ "4095", 4095, 4096 },
	{ "4096", 4096, 4096 },
	{ "4097", 4097, 4096 },
	{ "8191", 8191, 4096 },
	{ "8192", 8192, 8192 },
	{ "131071", 131071, 65536 },
	{ "131072", 131072, 131072 },
	{ "212992", 212992, 131072 },
	{ "1 MiB - 1", 1048575, 524288 },
	{ "1 MiB", 1048576, 1048576 },
	{ "1 MiB + 1", 1048577, 1048576 },
	{ "2 MiB", 2097152, 1048576 },
	{ "greatest int", INT_MAX, 1048576 },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, desc);

static void msgq_ring_size(struct kunit *test)
{
	const struct size_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, sanx_ring_size(c->bytes), c->want);
}

struct span_case {
	const char *desc;
	u32 size;
	u64 offset;
	u32 len;
	int n;
	struct sanx_span span[2];
};

static const struct span_case span_cases[] = {
	{ "empty", 4096, 5, 0, 0 },
	{ "one byte", 4096, 0, 1, 1, { { 0, 1 } } },
	{ "last byte", 4096, 4095, 1, 1, { { 4095, 1 } } },
	{ "up to the end", 4096, 4000, 96, 1, { { 4000, 96 } } },
	{ "a byte over the end", 4096, 4000, 97, 2, { { 4000, 96 }, { 0, 1 } } },
	{ "whole ring", 4096, 0, 4096, 1, { { 0, 4096 } } },
	{ "whole ring from 1", 4096, 1, 4096, 2, { { 1, 4095 }, { 0, 1 } } },
	{ "whole ring from the last", 4096, 4095, 4096, 2,
	  { { 4095, 1 }, { 0, 4095 } } },
	{ "third time round", 4096, 3 * 4096 + 7, 8, 1, { { 7, 8 } } },
	{ "behind 4 GiB", 4096, (1ULL << 32) + 4090, 10, 2,
	  { { 4090, 6 }, { 0, 4 } } },
	{ "across 4 GiB", 4096, (1ULL << 32) - 1, 3, 2,
	  { { 4095, 1 }, { 0, 2 } } },
	{ "at the end of all", 4096, U64_MAX, 1, 1, { { 4095, 1 } } },
	{ "largest ring", 1 << 20, (1 << 20) - 1, 1 << 20, 2,
	  { { (1 << 20) - 1, 1 }, { 0, (1 << 20) - 1 } } },
};

KUNIT_ARRAY_PARAM_DESC(span, span_cases, desc);

static void msgq_spans(struct kunit *test)
{
	const struct span_case *c = test->param_value;
	struct sanx_span span[2] = {};
	int i;

	KUNIT_ASSERT_EQ(test, sanx_ring_spans(c->size, c->offset, c->len, span),
			c->n);
	for (i = 0; i < c->n; i++) {
		KUNIT_EXPECT_EQ(test, span[i].pos, c->span[i].pos);
		KUNIT_EXPECT_EQ(test, span[i].len, c->span[i].len);
	}
}

/* All there is of a small ring, byte by byte. */
static void msgq_spans_every(struct kunit *test)
{
	struct sanx_span span[2];
	u32 offset, len, at, b;
	int i, n;

	for (offset = 0; offset < 3 * RING; offset++)
		for (len = 0; len <= RING; len++) {
			n = sanx_ring_spans(RING, offset, len, span);
			for (i = 0, at = 0; i < n; i++)
				for (b = 0; b < span[i].len; b++, at++)
					KUNIT_ASSERT_EQ(test, span[i].pos + b,
							(offset + at) % RING);
			KUNIT_ASSERT_EQ(test, at, len);
		}
}

static void msgq_txq(struct kunit *test)
{
	struct sanx_txq q;

	memset(&q, 0xff, sizeof(q));
	sanx_txq_init(&q, 4096);
	KUNIT_EXPECT_EQ(test, q.next, 0);
	KUNIT_EXPECT_EQ(test, q.size, 4096);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 4096);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 0);
	sanx_txq_advance(&q, 1000);
	KUNIT_EXPECT_EQ(test, q.next, 1000);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 3096);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 1000);
	sanx_txq_advance(&q, 3096);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 0);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 4096);
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, 4096 + 10), 1);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 10);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 4086);
}

/* Room is a difference of 64-bit offsets, on either side of 4 GiB. */
static void msgq_txq_far(struct kunit *test)
{
	struct sanx_txq q = { .next = FAR, .read = FAR,
			      .limit = FAR + 4096, .size = 4096 };

	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 4096);
	sanx_txq_advance(&q, 4096);
	KUNIT_EXPECT_EQ(test, q.next, FAR + 4096);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 0);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 4096);
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, FAR + 2 * 4096), 1);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 4096);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 0);
	/* The same in 32 bits, and nonsense in 64. */
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, (u32)q.limit), -EPROTO);
}

/* Room that is given up, and is permitted anew. */
static void msgq_txq_lower(struct kunit *test)
{
	struct sanx_txq q = { .next = FAR, .read = FAR - 100,
			      .limit = FAR + 5000, .size = 8192 };

	KUNIT_EXPECT_FALSE(test, sanx_txq_lower(&q, 5001));
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 5000);
	KUNIT_EXPECT_TRUE(test, sanx_txq_lower(&q, 1024));
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 1024);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 100);
	/* The answer: it was all read, and from now on the size is that. */
	q.size = 1024;
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, FAR + 1024), 0);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 0);
	sanx_txq_advance(&q, 1024);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 0);
	KUNIT_EXPECT_FALSE(test, sanx_txq_lower(&q, 1));
	/* By the size that counts now. */
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, FAR + 2049), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, FAR + 2048), 1);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 1024);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 0);
}

/**
 * struct resume_case - what a RESUME says, and whether it can be right
 * @desc: in words
 * @size: bytes of the ring from now on
 * @limit: first offset that may not be sent
 * @received: bytes that the peer has received
 * @want: the verdict
 */
struct resume_case {
	const char *desc;
	u32 size;
	u64 limit;
	u64 received;
	int want;
};

/* 9000 bytes were sent, 5000 of them read, into a ring of 8192. */
static const struct resume_case resume_cases[] = {
	{ "as it was", 8192, 13192, 9000, 0 },
	{ "more was read", 8192, 15192, 9000, 0 },
	{ "all was read", 8192, 17192, 9000, 0 },
	{ "more was read than received", 8192, 16193, 8000, -EPROTO },
	{ "less was read than before", 8192, 13191, 9000, -ECONNRESET },
	{ "a larger ring", 16384, 21384, 9000, 0 },
	{ "a smaller ring", 4096, 9096, 9000, 0 },
	{ "a smaller ring, all of it unread", 4096, 9096, 9096, 0 },
	{ "a smaller ring that does not hold what is unread", 4096, 9096,
	  9097, -EPROTO },
	{ "no ring", 1024, 6024, 6000, 0 },
	{ "no ring that holds what is unread", 1024, 6024, 6025, -EPROTO },
	{ "the credit of a larger ring", 4096, 13192, 9000, -EPROTO },
	{ "no credit", 8192, 0, 9000, -EPROTO },
	{ "credit at its most", 8192, U64_MAX, 9000, -EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(resume, resume_cases, desc);

static void msgq_txq_resume(struct kunit *test)
{
	const struct resume_case *c = test->param_value;
	struct sanx_txq q = { .next = 9100, .read = 5000, .limit = 13192,
			      .size = 8192 };
	struct sanx_txq before = q;

	KUNIT_ASSERT_EQ(test, sanx_txq_resume(&q, c->size, c->limit,
					      c->received), c->want);
	if (c->want == -EPROTO) {
		KUNIT_EXPECT_MEMEQ(test, (u8 *)&q, (u8 *)&before, sizeof(q));
		return;
	}
	KUNIT_EXPECT_EQ(test, q.size, c->size);
	KUNIT_EXPECT_EQ(test, q.limit, c->limit);
	KUNIT_EXPECT_EQ(test, q.next, 9100);
	KUNIT_EXPECT_EQ(test, q.read, c->limit - c->size);
}

/* A limit before what was sent: no room, until credits have passed that. */
static void msgq_txq_resume_sends_again(struct kunit *test)
{
	struct sanx_txq q = { .next = FAR + 9000, .read = FAR + 5000,
			      .limit = FAR + 13192, .size = 8192 };

	KUNIT_ASSERT_EQ(test, sanx_txq_resume(&q, 1024, FAR + 6024, FAR + 5000),
			0);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 0);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&q), 4000);
	KUNIT_EXPECT_FALSE(test, sanx_txq_lower(&q, 1024));
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, FAR + 7049), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, FAR + 7048), 1);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 0);
	q.size = 8192;
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, FAR + 14216), 1);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&q), 5216);
}

struct credit_case {
	const char *desc;
	u64 next;
	u64 limit;
	u64 credit;
	int want;
};

/* The ring has 4096 bytes. */
static const struct credit_case credit_cases[] = {
	{ "nothing new, unused", 0, 4096, 4096, 0 },
	{ "nothing new, used up", 4096, 4096, 4096, 0 },
	{ "one byte", 4096, 4096, 4097, 1 },
	{ "one byte of many", 1000, 4096, 4097, 1 },
	{ "all that was sent", 1000, 4096, 5096, 1 },
	{ "the whole ring", 4096, 4096, 8192, 1 },
	{ "more than was sent", 1000, 4096, 5097, -EPROTO },
	{ "anything, of nothing sent", 0, 4096, 4097, -EPROTO },
	{ "more than the ring", 4096, 4096, 8193, -EPROTO },
	{ "back by one", 1000, 4096, 4095, -EPROTO },
	{ "back to what was sent", 1000, 4096, 1000, -EPROTO },
	{ "back behind what was sent", 1000, 4096, 999, -EPROTO },
	{ "back to 0", 1000, 4096, 0, -EPROTO },
	{ "back by one, used up", 4096, 4096, 4095, -EPROTO },
	{ "far ahead", 4096, 4096, U64_MAX, -EPROTO },
	{ "far ahead, low bits right", 4096, 4096, (1ULL << 32) + 8192,
	  -EPROTO },
	{ "half way round", 4096, 4096, 4096 + (1ULL << 63), -EPROTO },
	{ "across 4 GiB", U32_MAX, U32_MAX, (1ULL << 32) + 9, 1 },
	{ "across 4 GiB, truncated", U32_MAX, U32_MAX, 9, -EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(credit, credit_cases, desc);

static void msgq_txq_credit(struct kunit *test)
{
	const struct credit_case *c = test->param_value;
	struct sanx_txq q = { .next = c->next, .limit = c->limit,
			      .size = 4096 };

	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, c->credit), c->want);
	KUNIT_EXPECT_EQ(test, q.limit, c->want == 1 ? c->credit : c->limit);
	KUNIT_EXPECT_EQ(test, q.next, c->next);
	KUNIT_EXPECT_EQ(test, q.size, 4096);
	/* The same again is no news, and an error stays one. */
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&q, c->credit),
			c->want == 1 ? 0 : c->want);
}

static void msgq_rxq(struct kunit *test)
{
	struct sanx_rxq q;
	u8 ring[1];

	memset(&q, 0xff, sizeof(q));
	sanx_rxq_init(&q, ring, 4096);
	KUNIT_EXPECT_PTR_EQ(test, q.in.buf, &ring[0]);
	KUNIT_EXPECT_FALSE(test, sanx_rxq_moving(&q));
	KUNIT_EXPECT_EQ(test, q.size, 4096);
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&q), 0);
	KUNIT_EXPECT_FALSE(test, sanx_rxq_credit_due(&q));
	KUNIT_EXPECT_EQ(test, sanx_rxq_arrive(&q, 0, 1500), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&q), 1500);
	sanx_rxq_consume(&q, 500);
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&q), 1000);
	KUNIT_EXPECT_EQ(test, sanx_rxq_grant(&q), 4096 + 500);
	KUNIT_EXPECT_EQ(test, sanx_rxq_arrive(&q, 1500, 3096), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&q), 4096);
	sanx_rxq_consume(&q, 4096);
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&q), 0);
	KUNIT_EXPECT_EQ(test, q.head, 4596);
	KUNIT_EXPECT_EQ(test, q.tail, 4596);
}

struct arrive_case {
	const char *desc;
	u64 tail;
	u64 granted;
	u64 offset;
	u32 len;
	int want;
};

static const struct arrive_case arrive_cases[] = {
	{ "first byte", 0, 4096, 0, 1, 0 },
	{ "whole ring", 0, 4096, 0, 4096, 0 },
	{ "whole ring and a byte", 0, 4096, 0, 4097, -EPROTO },
	{ "a gap", 0, 4096, 1, 1, -EPROTO },
	{ "a repetition", 100, 4096, 99, 1, -EPROTO },
	{ "an overlap", 100, 4096, 0, 200, -EPROTO },
	{ "from the start again", 100, 4096, 0, 1, -EPROTO },
	{ "the last byte granted", 4095, 4096, 4095, 1, 0 },
	{ "one more", 4095, 4096, 4095, 2, -EPROTO },
	{ "a byte, of none granted", 4096, 4096, 4096, 1, -EPROTO },
	{ "nothing, of none granted", 4096, 4096, 4096, 0, 0 },
	{ "largest length", 100, 4096, 100, U32_MAX, -EPROTO },
	{ "length that brings 32 bits round", 1, 4096, 1, U32_MAX, -EPROTO },
	{ "offset right in 32 bits only", 100, 4096, (1ULL << 32) + 100, 1,
	  -EPROTO },
	{ "largest offset", 100, 4096, U64_MAX, 1, -EPROTO },
	{ "across 4 GiB", FAR, FAR + 4096, FAR, 4096, 0 },
	{ "across 4 GiB and a byte", FAR, FAR + 4096, FAR, 4097, -EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(arrive, arrive_cases, desc);

static void msgq_rxq_arrive(struct kunit *test)
{
	const struct arrive_case *c = test->param_value;
	/* All of the ring is free, but only what was granted may be used. */
	struct sanx_rxq q = { .size = 8192, .head = c->tail, .tail = c->tail,
			      .granted = c->granted };

	KUNIT_EXPECT_EQ(test, sanx_rxq_arrive(&q, c->offset, c->len), c->want);
	KUNIT_EXPECT_EQ(test, q.tail, c->tail + (c->want ? 0 : c->len));
	KUNIT_EXPECT_EQ(test, q.head, c->tail);
	KUNIT_EXPECT_EQ(test, q.granted, c->granted);
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&q), c->want ? 0 : c->len);
}

/* Free ring that the sender was not told of, and whether it is time to. */
static void msgq_rxq_credit_due(struct kunit *test)
{
	static const struct {
		u32 freed;
		bool due;
	} cases[] = {
		{ 0, false }, { 1, false }, { 1023, false }, { 1024, true },
		{ 1025, true }, { 4095, true }, { 4096, true },
	};
	static const u64 bases[] = { 0, FAR };
	unsigned int i, b;

	for (b = 0; b < ARRAY_SIZE(bases); b++)
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			struct sanx_rxq q = {
				.size = 4096,
				.head = bases[b] + cases[i].freed,
				.tail = bases[b] + 4096,
				.granted = bases[b] + 4096,
			};

			KUNIT_EXPECT_EQ_MSG(test, sanx_rxq_credit_due(&q),
					    cases[i].due, "%u from %llu",
					    cases[i].freed, bases[b]);
			KUNIT_EXPECT_EQ(test, sanx_rxq_grant(&q),
					q.head + q.size);
			KUNIT_EXPECT_EQ(test, q.granted, q.head + q.size);
			KUNIT_EXPECT_FALSE(test, sanx_rxq_credit_due(&q));
		}
}

/*
 * A reader that waits for half of a ring gets it without a credit: what was read and
 * not granted, and the slack that a sender leaves unused, are less than the other half.
 */
static void msgq_credit_half(struct kunit *test)
{
	u32 size, freed;

	for (size = SANX_RING_MIN; size <= SANX_RING_MAX; size *= 2) {
		struct sanx_rxq q = { .size = size, .granted = size };

		for (freed = 0; !sanx_rxq_credit_due(&q); freed += 64)
			q.head = freed;
		KUNIT_EXPECT_EQ(test, q.head, size / 2 - sanx_ring_slack(size));
	}
}

/* Bytes: a ring between guards that nobody may touch. */
struct bytes {
	u8 mem[GUARD + RING + GUARD];
	struct sanx_rxq q;
};

static void bytes_init(struct bytes *b, u64 head)
{
	memset(b->mem, CANARY, sizeof(b->mem));
	sanx_rxq_init(&b->q, b->mem + GUARD, RING);
	b->q.head = head;
	b->q.tail = head;
	b->q.granted = head + RING;
}

/* A byte of the stream; never the canary. */
static u8 stream_byte(u64 offset)
{
	return offset % 199;
}

static void stream_fill(u8 *to, u64 offset, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		to[i] = stream_byte(offset + i);
}

/* The ring holds @len bytes of the stream from @offset, and nothing else. */
static void expect_ring(struct kunit *test, const struct bytes *b, u64 offset,
			u32 len)
{
	u8 want[GUARD + RING + GUARD];
	u32 i;

	memset(want, CANARY, sizeof(want));
	for (i = 0; i < len; i++)
		want[GUARD + (offset + i) % RING] = stream_byte(offset + i);
	KUNIT_EXPECT_MEMEQ(test, b->mem, want, sizeof(want));
}

struct bytes_case {
	const char *desc;
	u64 offset;
	u32 len;
};

static const struct bytes_case bytes_cases[] = {
	{ "nothing", 3, 0 },
	{ "one byte", 0, 1 },
	{ "last byte of the ring", RING - 1, 1 },
	{ "up to the end", RING - 5, 5 },
	{ "a byte over the end", RING - 5, 6 },
	{ "whole ring", 0, RING },
	{ "whole ring from 1", 1, RING },
	{ "whole ring from the last", RING - 1, RING },
	{ "fifth time round", 5 * RING + 9, 12 },
	{ "across 4 GiB", FAR, 10 },
};

KUNIT_ARRAY_PARAM_DESC(bytes, bytes_cases, desc);

static void msgq_store(struct kunit *test)
{
	const struct bytes_case *c = test->param_value;
	struct bytes b;
	u8 data[RING];

	bytes_init(&b, c->offset);
	stream_fill(data, c->offset, c->len);
	sanx_rxq_store(&b.q, c->offset, data, c->len);
	expect_ring(test, &b, c->offset, c->len);
	/* Nothing is published before sanx_rxq_arrive(). */
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&b.q), 0);
}

/* Whatever a peer says, nothing is written beside the ring. */
static void msgq_store_hostile(struct kunit *test)
{
	static const u64 offsets[] = {
		0, 1, RING - 1, RING, FAR, U64_MAX - RING, U64_MAX - 1,
		U64_MAX, 1ULL << 63,
	};
	static const u32 lens[] = { RING, RING + 1, 2 * RING, 4 * RING };
	unsigned int i, l, g;
	struct bytes b;
	u8 data[4 * RING];

	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		for (l = 0; l < ARRAY_SIZE(lens); l++) {
			bytes_init(&b, 0);
			stream_fill(data, offsets[i], sizeof(data));
			sanx_rxq_store(&b.q, offsets[i], data, lens[l]);
			for (g = 0; g < GUARD; g++) {
				KUNIT_ASSERT_EQ(test, b.mem[g], CANARY);
				KUNIT_ASSERT_EQ(test,
						b.mem[GUARD + RING + g],
						CANARY);
			}
			KUNIT_ASSERT_EQ(test, b.mem[GUARD + offsets[i] % RING],
					stream_byte(offsets[i]));
		}
}

static void msgq_fill(struct kunit *test)
{
	const struct bytes_case *c = test->param_value;
	struct iov_iter from;
	struct kvec vec;
	u8 data[RING];
	struct bytes b;

	bytes_init(&b, c->offset);
	stream_fill(data, c->offset, c->len);
	vec = (struct kvec){ data, c->len };
	iov_iter_kvec(&from, ITER_SOURCE, &vec, 1, c->len);
	KUNIT_EXPECT_EQ(test, sanx_rxq_fill(&b.q, c->offset, &from, c->len),
			c->len);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&from), 0);
	expect_ring(test, &b, c->offset, c->len);
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&b.q), 0);
}

/* The source has more than is asked for: the rest stays there. */
static void msgq_fill_part(struct kunit *test)
{
	struct iov_iter from;
	struct kvec vec[3];
	u8 data[RING];
	struct bytes b;

	bytes_init(&b, 13);
	stream_fill(data, 13, RING);
	vec[0] = (struct kvec){ data, 2 };
	vec[1] = (struct kvec){ data + 2, 5 };
	vec[2] = (struct kvec){ data + 7, RING - 7 };
	iov_iter_kvec(&from, ITER_SOURCE, vec, 3, RING);
	KUNIT_EXPECT_EQ(test, sanx_rxq_fill(&b.q, 13, &from, 9), 9);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&from), RING - 9);
	expect_ring(test, &b, 13, 9);
	KUNIT_EXPECT_EQ(test, sanx_rxq_fill(&b.q, 22, &from, 2), 2);
	expect_ring(test, &b, 13, 11);
}

/* A source that ends early, in the first span or in the second. */
static void msgq_fill_short(struct kunit *test)
{
	struct iov_iter from;
	struct kvec vec;
	u8 data[RING];
	struct bytes b;
	u32 have;

	for (have = 0; have < 10; have++) {
		bytes_init(&b, 11);
		stream_fill(data, 11, RING);
		vec = (struct kvec){ data, have };
		iov_iter_kvec(&from, ITER_SOURCE, &vec, 1, have);
		KUNIT_EXPECT_EQ(test, sanx_rxq_fill(&b.q, 11, &from, 10), have);
		expect_ring(test, &b, 11, have);
	}
}

/* Reads, and holds the bytes against the stream. */
static void expect_read(struct kunit *test, const struct sanx_rxq *q, u32 skip,
			u32 len)
{
	u8 got[3 * RING], want[3 * RING];
	struct kvec vec = { got, len };
	struct iov_iter to;

	stream_fill(want, q->head + skip, len);
	iov_iter_kvec(&to, ITER_DEST, &vec, 1, len);
	KUNIT_EXPECT_EQ(test, sanx_rxq_read(q, skip, &to, len), len);
	KUNIT_EXPECT_MEMEQ(test, got, want, len);
}

static void store_stream(struct kunit *test, struct sanx_rxq *q, u32 len)
{
	u8 data[2 * RING];

	stream_fill(data, q->tail, len);
	sanx_rxq_store(q, q->tail, data, len);
	KUNIT_ASSERT_EQ(test, sanx_rxq_arrive(q, q->tail, len), 0);
}

/*
 * A queue moves with so many bytes unread, and so many follow: the reader finds
 * them all in their order, here in one go, in pieces or one by one.
 */
static void msgq_move(struct kunit *test)
{
	u8 first[RING], larger[2 * RING];
	struct sanx_left left;
	u32 unread, more, i;
	struct sanx_rxq q;

	for (unread = 0; unread <= RING; unread++) {
		sanx_rxq_init(&q, first, RING);
		q.head = FAR;
		q.tail = FAR;
		q.granted = FAR + RING;
		store_stream(test, &q, unread);
		KUNIT_EXPECT_FALSE(test, sanx_rxq_follow(&q, &left));
		sanx_rxq_move(&q, larger, 2 * RING);
		KUNIT_EXPECT_TRUE(test, sanx_rxq_moving(&q));
		q.size = 2 * RING;
		KUNIT_EXPECT_EQ(test, sanx_rxq_grant(&q), FAR + 2 * RING);
		more = 2 * RING - unread;
		store_stream(test, &q, more);
		expect_read(test, &q, 0, unread + more);
		expect_read(test, &q, unread / 2, more);
		for (i = 0; i < unread + more; i++)
			KUNIT_ASSERT_EQ(test, sanx_rxq_byte(&q, FAR + i),
					stream_byte(FAR + i));
		if (unread) {
			sanx_rxq_consume(&q, unread - 1);
			KUNIT_EXPECT_FALSE(test, sanx_rxq_follow(&q, &left));
			sanx_rxq_consume(&q, 1);
		}
		KUNIT_EXPECT_TRUE(test, sanx_rxq_follow(&q, &left));
		KUNIT_EXPECT_PTR_EQ(test, left.buf, &first[0]);
		KUNIT_EXPECT_NULL(test, left.gen);
		KUNIT_EXPECT_FALSE(test, sanx_rxq_moving(&q));
		KUNIT_EXPECT_FALSE(test, sanx_rxq_follow(&q, &left));
		/* Nobody looks there any more. */
		memset(first, CANARY, sizeof(first));
		expect_read(test, &q, 0, more);
		sanx_rxq_consume(&q, more);
		KUNIT_EXPECT_EQ(test, sanx_rxq_grant(&q),
				FAR + unread + more + 2 * RING);
		store_stream(test, &q, 2 * RING);
		expect_read(test, &q, 0, 2 * RING);
	}
}

/*
 * A queue with generations need not wait for its reader: it finds all bytes in
 * their order, and leaves each ring once.
 */
static void msgq_generations(struct kunit *test)
{
	enum { GENS = 4 };
	struct sanx_generation gen[GENS] = {};
	u8 ring[GENS][RING];
	struct sanx_left left;
	struct sanx_rxq q;
	u32 i, n = RING - 3;

	sanx_rxq_init(&q, NULL, RING);
	q.head = FAR;
	q.tail = FAR;
	q.granted = FAR + GENS * RING;
	for (i = 0; i < GENS; i++) {
		gen[i].ring.buf = ring[i];
		gen[i].ring.size = RING;
		if (i)
			sanx_rxq_append(&q, &gen[i - 1], &gen[i], q.tail);
		else
			sanx_rxq_begin(&q, &gen[0]);
		store_stream(test, &q, n);
	}
	KUNIT_EXPECT_TRUE(test, sanx_rxq_moving(&q));
	expect_read(test, &q, 0, 3 * RING);
	expect_read(test, &q, n - 1, 2);
	expect_read(test, &q, RING, GENS * n - RING);
	for (i = 0; i < GENS * n; i++)
		KUNIT_ASSERT_EQ(test, sanx_rxq_byte(&q, FAR + i),
				stream_byte(FAR + i));
	for (i = 1; i < GENS; i++) {
		sanx_rxq_consume(&q, n - 1);
		KUNIT_EXPECT_FALSE(test, sanx_rxq_follow(&q, &left));
		sanx_rxq_consume(&q, 1);
		KUNIT_ASSERT_TRUE(test, sanx_rxq_follow(&q, &left));
		KUNIT_EXPECT_PTR_EQ(test, left.gen, &gen[i - 1]);
		KUNIT_EXPECT_PTR_EQ(test, left.buf, &ring[i - 1][0]);
		/* Nobody looks there any more. */
		memset(ring[i - 1], CANARY, RING);
		expect_read(test, &q, 0, n);
	}
	KUNIT_EXPECT_FALSE(test, sanx_rxq_moving(&q));
	KUNIT_EXPECT_FALSE(test, sanx_rxq_follow(&q, &left));
}

/* What a sender has memory for of its own is granted, and the rest when it is due. */
static void msgq_exceed(struct kunit *test)
{
	struct sanx_txq tx;
	struct sanx_rxq rx;
	u8 ring[1];

	sanx_txq_init(&tx, RING);
	sanx_rxq_init(&rx, ring, RING);
	/* That is permitted anyway. */
	sanx_txq_exceed(&tx, &rx, RING);
	KUNIT_EXPECT_EQ(test, tx.limit, RING);
	sanx_txq_exceed(&tx, &rx, 5 * RING);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&tx), 5 * RING);
	sanx_txq_advance(&tx, 5 * RING);
	KUNIT_EXPECT_EQ(test, sanx_rxq_arrive(&rx, 0, 5 * RING), 0);
	sanx_rxq_consume(&rx, 4 * RING);
	KUNIT_EXPECT_FALSE(test, sanx_rxq_credit_due(&rx));
	sanx_rxq_consume(&rx, RING);
	KUNIT_EXPECT_TRUE(test, sanx_rxq_credit_due(&rx));
	KUNIT_EXPECT_EQ(test, sanx_txq_credit(&tx, sanx_rxq_grant(&rx)), 1);
	KUNIT_EXPECT_EQ(test, sanx_txq_room(&tx), RING);
	KUNIT_EXPECT_EQ(test, sanx_txq_unread(&tx), 0);
}

/* The first ring is where the reader is from the beginning. */
static void msgq_provide(struct kunit *test)
{
	struct sanx_rxq q;
	u8 ring[RING];

	sanx_rxq_init(&q, NULL, 2 * RING);
	sanx_rxq_provide(&q, ring, RING);
	KUNIT_EXPECT_FALSE(test, sanx_rxq_moving(&q));
	store_stream(test, &q, RING);
	expect_read(test, &q, 0, RING);
	KUNIT_EXPECT_EQ(test, sanx_rxq_grant(&q), 2 * RING);
}

static void msgq_read(struct kunit *test)
{
	const struct bytes_case *c = test->param_value;
	u8 data[RING], got[RING + 1], want[RING + 1];
	struct iov_iter to;
	struct kvec vec;
	struct bytes b;

	bytes_init(&b, c->offset);
	stream_fill(data, c->offset, c->len);
	sanx_rxq_store(&b.q, c->offset, data, c->len);
	KUNIT_ASSERT_EQ(test, sanx_rxq_arrive(&b.q, c->offset, c->len), 0);
	memset(got, CANARY, sizeof(got));
	memset(want, CANARY, sizeof(want));
	stream_fill(want, c->offset, c->len);
	vec = (struct kvec){ got, sizeof(got) };
	iov_iter_kvec(&to, ITER_DEST, &vec, 1, sizeof(got));
	KUNIT_EXPECT_EQ(test, sanx_rxq_read(&b.q, 0, &to, c->len), c->len);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&to), sizeof(got) - c->len);
	KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(got));
	/* Reading is not consuming. */
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&b.q), c->len);
	KUNIT_EXPECT_EQ(test, b.q.head, c->offset);
	expect_ring(test, &b, c->offset, c->len);
}

/* Every part of a full ring, as peeks with an offset read it. */
static void msgq_read_skip(struct kunit *test)
{
	u8 data[RING], got[RING], want[RING];
	struct iov_iter to;
	u32 head, skip, len;
	struct kvec vec;
	struct bytes b;

	for (head = 0; head < RING; head += 5) {
		bytes_init(&b, head);
		stream_fill(data, head, RING);
		sanx_rxq_store(&b.q, head, data, RING);
		KUNIT_ASSERT_EQ(test, sanx_rxq_arrive(&b.q, head, RING), 0);
		for (skip = 0; skip <= RING; skip++)
			for (len = 0; len <= RING - skip; len++) {
				vec = (struct kvec){ got, len };
				iov_iter_kvec(&to, ITER_DEST, &vec, 1, len);
				KUNIT_ASSERT_EQ(test,
						sanx_rxq_read(&b.q, skip, &to,
							      len), len);
				stream_fill(want, head + skip, len);
				KUNIT_ASSERT_EQ(test, memcmp(got, want, len),
						0);
			}
	}
}

/* A destination that ends early, in the first span or in the second. */
static void msgq_read_short(struct kunit *test)
{
	u8 data[RING], got[RING], want[RING];
	struct iov_iter to;
	struct kvec vec;
	struct bytes b;
	u32 have;

	bytes_init(&b, 11);
	stream_fill(data, 11, 10);
	sanx_rxq_store(&b.q, 11, data, 10);
	KUNIT_ASSERT_EQ(test, sanx_rxq_arrive(&b.q, 11, 10), 0);
	for (have = 0; have < 10; have++) {
		memset(got, CANARY, sizeof(got));
		memset(want, CANARY, sizeof(want));
		stream_fill(want, 11, have);
		vec = (struct kvec){ got, have };
		iov_iter_kvec(&to, ITER_DEST, &vec, 1, have);
		KUNIT_EXPECT_EQ(test, sanx_rxq_read(&b.q, 0, &to, 10), have);
		KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(got));
	}
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&b.q), 10);
}

/* Two pages of a program, of which the second is not there. */
static unsigned long half_mapped(struct kunit *test)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE,
					   PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_LT(test, addr, (unsigned long)TASK_SIZE);
	KUNIT_ASSERT_EQ(test, vm_munmap(addr + PAGE_SIZE, PAGE_SIZE), 0);
	return addr + PAGE_SIZE;
}

/*
 * A program's memory faults after some bytes.  Just how many are copied before
 * it is the architecture's to say, but none beyond, and what is reported is
 * what was done.
 */
static void msgq_fill_fault(struct kunit *test)
{
	unsigned long end = half_mapped(test);
	struct iov_iter from;
	u32 have, got;
	struct bytes b;
	u8 data[RING];

	for (have = 0; have < 10; have++) {
		bytes_init(&b, 11);
		stream_fill(data, 11, have);
		KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)(end - have),
						   data, have), 0);
		iov_iter_ubuf(&from, ITER_SOURCE, (void __user *)(end - have),
			      10);
		got = sanx_rxq_fill(&b.q, 11, &from, 10);
		KUNIT_EXPECT_LE(test, got, have);
		KUNIT_EXPECT_EQ(test, iov_iter_count(&from), 10 - got);
		KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&b.q), 0);
		if (have > 5)
			KUNIT_EXPECT_GE(test, got, 5);
	}
}

static void msgq_read_fault(struct kunit *test)
{
	unsigned long end = half_mapped(test);
	u8 data[RING], seen[RING];
	struct iov_iter to;
	struct bytes b;
	u32 have, got;

	bytes_init(&b, 11);
	stream_fill(data, 11, 10);
	sanx_rxq_store(&b.q, 11, data, 10);
	KUNIT_ASSERT_EQ(test, sanx_rxq_arrive(&b.q, 11, 10), 0);
	for (have = 0; have < 10; have++) {
		iov_iter_ubuf(&to, ITER_DEST, (void __user *)(end - have), 10);
		got = sanx_rxq_read(&b.q, 0, &to, 10);
		KUNIT_EXPECT_LE(test, got, have);
		KUNIT_EXPECT_EQ(test, iov_iter_count(&to), 10 - got);
		KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&b.q), 10);
		KUNIT_ASSERT_EQ(test,
				copy_from_user(seen,
					       (void __user *)(end - have),
					       got), 0);
		KUNIT_EXPECT_EQ(test, memcmp(seen, data, got), 0);
		if (have > 5)
			KUNIT_EXPECT_GE(test, got, 5);
	}
}

static struct kunit_case msgq_cases[] = {
	KUNIT_CASE_PARAM(msgq_ring_size, size_gen_params),
	KUNIT_CASE_PARAM(msgq_spans, span_gen_params),
	KUNIT_CASE(msgq_spans_every),
	KUNIT_CASE(msgq_txq),
	KUNIT_CASE(msgq_txq_far),
	KUNIT_CASE(msgq_txq_lower),
	KUNIT_CASE_PARAM(msgq_txq_resume, resume_gen_params),
	KUNIT_CASE(msgq_txq_resume_sends_again),
	KUNIT_CASE_PARAM(msgq_txq_credit, credit_gen_params),
	KUNIT_CASE(msgq_rxq),
	KUNIT_CASE_PARAM(msgq_rxq_arrive, arrive_gen_params),
	KUNIT_CASE(msgq_rxq_credit_due),
	KUNIT_CASE(msgq_credit_half),
	KUNIT_CASE_PARAM(msgq_store, bytes_gen_params),
	KUNIT_CASE(msgq_store_hostile),
	KUNIT_CASE_PARAM(msgq_fill, bytes_gen_params),
	KUNIT_CASE(msgq_fill_part),
	KUNIT_CASE(msgq_fill_short),
	KUNIT_CASE(msgq_move),
	KUNIT_CASE(msgq_generations),
	KUNIT_CASE(msgq_exceed),
	KUNIT_CASE(msgq_provide),
	KUNIT_CASE_PARAM(msgq_read, bytes_gen_params),
	KUNIT_CASE(msgq_read_skip),
	KUNIT_CASE(msgq_read_short),
	KUNIT_CASE(msgq_fill_fault),
	KUNIT_CASE(msgq_read_fault),
	{}
};

static struct kunit_suite msgq_suite = {
	.name = "sanx_msgq",
	.test_cases = msgq_cases,
};

kunit_test_suite(msgq_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: the message queue");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
