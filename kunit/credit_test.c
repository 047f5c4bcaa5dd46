// SPDX-License-Identifier: GPL-2.0
/*
 * Both sides of a message queue at work: a sender, a receiver and a channel
 * between them that delays, with sizes and timing drawn from a fixed seed.
 *
 * A model knows of each byte of the ring whether it holds a byte that was not
 * yet read.  Bytes are written into the ring as early as an RDMA write can land
 * there, when they are sent, so a sender that was permitted too much is caught
 * overwriting; and the program at the end must read the stream as it was sent.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/string.h>
#include <linux/uio.h>

#include "conn/msgq.h"

#define FLIGHT_MAX	64

/**
 * struct credit_case - how the two sides behave
 * @desc: in words
 * @size: bytes of the ring
 * @start: stream offset that all begins at
 * @send_max: bytes of a message at most
 * @read_max: bytes that the program reads at once at most
 * @flight: messages under way at most, each way
 * @lazy: one in how many turns the reader reads
 * @via_store: bytes travel in the message, not ahead of it
 * @bytes: to be moved in all
 */
struct credit_case {
	const char *desc;
	u32 size;
	u64 start;
	u32 send_max;
	u32 read_max;
	u32 flight;
	u32 lazy;
	bool via_store;
	u32 bytes;
};

static const struct credit_case credit_cases[] = {
	{ "bytes", 64, 0, 1, 1, 8, 1, false, 3000 },
	{ "bytes, one message at a time", 64, 0, 1, 1, 1, 1, false, 2000 },
	{ "small writes, big reads", 256, 0, 7, 256, 64, 3, false, 20000 },
	{ "big writes, small reads", 256, 0, 256, 5, 8, 1, false, 10000 },
	{ "whole rings", 4096, 0, 4096, 4096, 4, 1, false, 400000 },
	{ "whole rings, by message", 4096, 0, 4096, 4096, 4, 1, true, 400000 },
	{ "odd sizes", 4096, 0, 1999, 1501, 8, 2, false, 400000 },
	{ "odd sizes, by message", 4096, 0, 255, 333, 32, 2, true, 100000 },
	{ "slow reader", 1024, 0, 700, 100, 16, 9, false, 50000 },
	{ "across 4 GiB", 1024, U32_MAX - 20000ULL, 300, 500, 8, 2, false,
	  50000 },
	{ "smallest ring", 4, 0, 4, 4, 4, 1, false, 4000 },
	{ "far in the stream", 256, 1ULL << 62, 99, 77, 8, 2, true, 20000 },
};

KUNIT_ARRAY_PARAM_DESC(credit, credit_cases, desc);

struct news {
	u64 offset;
	u32 len;
};

struct flight {
	struct news news[FLIGHT_MAX];
	u32 first;
	u32 n;
};

/**
 * struct sim - a run
 * @test: the test
 * @c: its parameters
 * @rnd: where chance comes from
 * @tx: the sender
 * @rx: the receiver
 * @mem: the ring
 * @unread: by place in the ring: it holds a byte that was not read
 * @scratch: bytes on their way to and from
 * @data: messages that bytes are there, under way
 * @credits: limits under way
 * @sent: offset that the model has sent up to
 * @read: offset that the model has read up to
 * @end: offset to come to
 * @refused: lies that were told
 */
struct sim {
	struct kunit *test;
	const struct credit_case *c;
	struct rnd_state rnd;
	struct sanx_txq tx;
	struct sanx_rxq rx;
	u8 *mem;
	bool *unread;
	u8 *scratch;
	struct flight data;
	struct flight credits;
	u64 sent;
	u64 read;
	u64 end;
	u32 refused;
};

static u8 stream_byte(u64 offset)
{
	return (offset * 0x9e3779b97f4a7c15ULL) >> 56;
}

static u32 chance(struct sim *s, u32 below)
{
	return prandom_u32_state(&s->rnd) % below;
}

static void flight_put(struct flight *f, u64 offset, u32 len)
{
	f->news[(f->first + f->n++) % FLIGHT_MAX] =
		(struct news){ offset, len };
}

static struct news flight_get(struct flight *f)
{
	f->n--;
	return f->news[f->first++ % FLIGHT_MAX];
}

static void ring_write(struct sim *s, u64 offset, u32 len)
{
	struct iov_iter from;
	struct kvec vec;
	u32 i;

	for (i = 0; i < len; i++)
		s->scratch[i] = stream_byte(offset + i);
	if (s->c->via_store) {
		sanx_rxq_store(&s->rx, offset, s->scratch, len);
		return;
	}
	vec = (struct kvec){ s->scratch, len };
	iov_iter_kvec(&from, ITER_SOURCE, &vec, 1, len);
	KUNIT_ASSERT_EQ(s->test, sanx_rxq_fill(&s->rx, offset, &from, len),
			len);
}

/* The sender; false if it may not send. */
static bool step_send(struct sim *s)
{
	u32 room = sanx_txq_room(&s->tx), len, i, at;

	KUNIT_ASSERT_LE(s->test, room, s->c->size);
	KUNIT_ASSERT_EQ(s->test, sanx_txq_unread(&s->tx), s->c->size - room);
	if (!room || s->data.n == s->c->flight || s->sent == s->end)
		return false;
	len = min3(room, 1 + chance(s, s->c->send_max),
		   (u32)min_t(u64, s->end - s->sent, U32_MAX));
	for (i = 0; i < len; i++) {
		at = (s->sent + i) % s->c->size;
		KUNIT_ASSERT_FALSE_MSG(s->test, s->unread[at],
				       "byte %llu overwrites",
				       s->sent + i - s->c->start);
		s->unread[at] = true;
	}
	sanx_txq_advance(&s->tx, len);
	if (!s->c->via_store)
		ring_write(s, s->sent, len);
	flight_put(&s->data, s->sent, len);
	s->sent += len;
	KUNIT_ASSERT_EQ(s->test, s->tx.next, s->sent);
	return true;
}

/* A message that bytes are there comes in; false if none is under way. */
static bool step_arrive(struct sim *s)
{
	struct news m;

	if (!s->data.n)
		return false;
	m = flight_get(&s->data);
	if (s->c->via_store)
		ring_write(s, m.offset, m.len);
	KUNIT_ASSERT_EQ(s->test, sanx_rxq_arrive(&s->rx, m.offset, m.len), 0);
	KUNIT_ASSERT_EQ(s->test, s->rx.tail, m.offset + m.len);
	return true;
}

/* The program reads; false if nothing is there. */
static bool step_read(struct sim *s)
{
	u32 avail = sanx_rxq_avail(&s->rx), len, i;
	struct iov_iter to;
	struct kvec vec;

	KUNIT_ASSERT_LE(s->test, avail, s->sent - s->read);
	if (!avail)
		return false;
	len = min(avail, 1 + chance(s, s->c->read_max));
	vec = (struct kvec){ s->scratch, len };
	iov_iter_kvec(&to, ITER_DEST, &vec, 1, len);
	KUNIT_ASSERT_EQ(s->test, sanx_rxq_read(&s->rx, 0, &to, len), len);
	for (i = 0; i < len; i++) {
		KUNIT_ASSERT_EQ_MSG(s->test, s->scratch[i],
				    stream_byte(s->read + i), "byte %llu",
				    s->read + i - s->c->start);
		s->unread[(s->read + i) % s->c->size] = false;
	}
	s->read += len;
	sanx_rxq_consume(&s->rx, len);
	return true;
}

/* The receiver tells of freed ring; false if it sees no need. */
static bool step_grant(struct sim *s)
{
	u64 limit;

	if (s->credits.n == s->c->flight || !sanx_rxq_credit_due(&s->rx))
		return false;
	limit = sanx_rxq_grant(&s->rx);
	KUNIT_ASSERT_EQ(s->test, limit, s->read + s->c->size);
	KUNIT_ASSERT_FALSE(s->test, sanx_rxq_credit_due(&s->rx));
	flight_put(&s->credits, limit, 0);
	return true;
}

/* A credit comes in, now and then twice; false if none is under way. */
static bool step_credit(struct sim *s)
{
	struct news m;

	if (!s->credits.n)
		return false;
	m = flight_get(&s->credits);
	KUNIT_ASSERT_EQ(s->test, sanx_txq_credit(&s->tx, m.offset), 1);
	KUNIT_ASSERT_LE(s->test, s->tx.limit, s->read + s->c->size);
	if (!chance(s, 4))
		KUNIT_ASSERT_EQ(s->test, sanx_txq_credit(&s->tx, m.offset), 0);
	return true;
}

/* A peer that lies is refused, and nothing of the queue changes. */
static void step_lie(struct sim *s)
{
	struct sanx_txq tx = s->tx;
	struct sanx_rxq rx = s->rx;
	u32 by = 1 + (chance(s, 3) ? chance(s, 2 * s->c->size) :
				     prandom_u32_state(&s->rnd));
	int ret;

	switch (chance(s, 4)) {
	case 0:
		ret = sanx_txq_credit(&s->tx, s->tx.limit - by);
		break;
	case 1:
		ret = sanx_txq_credit(&s->tx, s->tx.next + s->c->size + by);
		break;
	case 2:
		ret = sanx_rxq_arrive(&s->rx, s->rx.tail + (s32)by, 1);
		break;
	default:
		by = min_t(u64, by, U32_MAX - (s->rx.granted - s->rx.tail));
		ret = sanx_rxq_arrive(&s->rx, s->rx.tail,
				      s->rx.granted - s->rx.tail + by);
		break;
	}
	KUNIT_ASSERT_EQ(s->test, ret, -EPROTO);
	KUNIT_ASSERT_EQ(s->test, memcmp(&tx, &s->tx, sizeof(tx)), 0);
	KUNIT_ASSERT_EQ(s->test, memcmp(&rx, &s->rx, sizeof(rx)), 0);
	s->refused++;
}

/*
 * One turn in an order that chance gives; if none of the five can move, the
 * two sides wait for each other for ever.
 */
static void turn(struct sim *s)
{
	bool (*const step[])(struct sim *s) = {
		step_send, step_arrive, step_grant, step_credit, step_read,
	};
	u32 first = chance(s, ARRAY_SIZE(step)), i;
	bool moved = false;

	if (!chance(s, 8))
		step_lie(s);
	for (i = 0; i < ARRAY_SIZE(step) && !moved; i++) {
		u32 n = (first + i) % ARRAY_SIZE(step);

		if (step[n] == step_read && chance(s, s->c->lazy))
			continue;
		moved = step[n](s);
	}
	/* A lazy reader is no deadlock. */
	if (!moved)
		moved = step_read(s);
	KUNIT_ASSERT_TRUE_MSG(s->test, moved,
			      "deadlock: sent %llu, read %llu, room %u",
			      s->sent - s->c->start, s->read - s->c->start,
			      sanx_txq_room(&s->tx));
}

static struct sim *sim_start(struct kunit *test, const struct credit_case *c)
{
	struct sim *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	s->c = c;
	s->mem = kunit_kzalloc(test, c->size, GFP_KERNEL);
	s->unread = kunit_kcalloc(test, c->size, sizeof(bool), GFP_KERNEL);
	s->scratch = kunit_kmalloc(test, c->size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s->mem);
	KUNIT_ASSERT_NOT_NULL(test, s->unread);
	KUNIT_ASSERT_NOT_NULL(test, s->scratch);
	prandom_seed_state(&s->rnd, 0x437265646974ULL + c->bytes + c->size);
	sanx_txq_init(&s->tx, c->size);
	sanx_rxq_init(&s->rx, s->mem, c->size);
	s->tx.next = c->start;
	s->tx.limit += c->start;
	s->tx.read += c->start;
	s->rx.head = c->start;
	s->rx.tail = c->start;
	s->rx.granted += c->start;
	s->sent = c->start;
	s->read = c->start;
	s->end = c->start + c->bytes;
	return s;
}

static void credit_flow(struct kunit *test)
{
	struct sim *s = sim_start(test, test->param_value);
	u32 late = s->c->size / 4;

	/* Small ones are told of less often. */
	if (s->c->size <= 1024)
		late *= 2;
	while (s->read != s->end)
		turn(s);
	KUNIT_EXPECT_EQ(test, s->sent, s->end);
	KUNIT_EXPECT_EQ(test, sanx_rxq_avail(&s->rx), 0);
	KUNIT_EXPECT_GT(test, s->refused, 0);
	/* What the sender still holds for unread is at most a late credit. */
	while (step_credit(s))
		;
	step_grant(s);
	while (step_credit(s))
		;
	KUNIT_EXPECT_LT(test, sanx_txq_unread(&s->tx), max(late, 1U));
}

/* A sender that fills the ring, a reader that empties it: never a wait. */
static void credit_fill_and_drain(struct kunit *test)
{
	struct sanx_txq tx;
	struct sanx_rxq rx;
	unsigned int round;
	u32 size;

	for (size = 4; size <= SANX_RING_MAX; size *= 2) {
		sanx_txq_init(&tx, size);
		sanx_rxq_init(&rx, NULL, size);
		for (round = 0; round < 5; round++) {
			KUNIT_ASSERT_EQ(test, sanx_txq_room(&tx), size);
			KUNIT_ASSERT_EQ(test,
					sanx_rxq_arrive(&rx, tx.next, size),
					0);
			sanx_txq_advance(&tx, size);
			KUNIT_ASSERT_EQ(test, sanx_txq_room(&tx), 0);
			/* Full: there is nothing to grant yet. */
			KUNIT_ASSERT_FALSE(test, sanx_rxq_credit_due(&rx));
			KUNIT_ASSERT_EQ(test,
					sanx_txq_credit(&tx,
							sanx_rxq_grant(&rx)),
					0);
			sanx_rxq_consume(&rx, size);
			KUNIT_ASSERT_TRUE(test, sanx_rxq_credit_due(&rx));
			KUNIT_ASSERT_EQ(test,
					sanx_txq_credit(&tx,
							sanx_rxq_grant(&rx)),
					1);
		}
	}
}

/* Credits are few: one in a quarter of a ring, not one in a read. */
static void credit_seldom(struct kunit *test)
{
	struct sanx_txq tx;
	struct sanx_rxq rx;
	u32 i, credits = 0;

	sanx_txq_init(&tx, 4096);
	sanx_rxq_init(&rx, NULL, 4096);
	for (i = 0; i < 4 * 4096; i++) {
		KUNIT_ASSERT_GT(test, sanx_txq_room(&tx), 0);
		KUNIT_ASSERT_EQ(test, sanx_rxq_arrive(&rx, tx.next, 1), 0);
		sanx_txq_advance(&tx, 1);
		sanx_rxq_consume(&rx, 1);
		if (!sanx_rxq_credit_due(&rx))
			continue;
		credits++;
		KUNIT_ASSERT_EQ(test,
				sanx_txq_credit(&tx, sanx_rxq_grant(&rx)), 1);
	}
	KUNIT_EXPECT_EQ(test, credits, 16);
}

static struct kunit_case credit_cases_all[] = {
	KUNIT_CASE_PARAM(credit_flow, credit_gen_params),
	KUNIT_CASE(credit_fill_and_drain),
	KUNIT_CASE(credit_seldom),
	{}
};

static struct kunit_suite credit_suite = {
	.name = "sanx_credit",
	.test_cases = credit_cases_all,
};

kunit_test_suite(credit_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: credits between two sides");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
