// SPDX-License-Identifier: GPL-2.0
/*
 * Frames (af_sanx/link/frame/format.c): building, the bytes on the wire, and a parser that
 * takes every frame of the protocol and nothing else.
 *
 * What is right is written down here a second time, over plain bytes and
 * without the unit's constants, and the parser is held against it: for frames
 * that are wrong in one field, and for bytes at random.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "link/frame/format.h"
#include "conn/msgq.h"

#define HDR	32
#define MOST	(HDR + 256)

/* Where the fields are. */
enum {
	POS_TYPE = 0, POS_FLAGS = 1, POS_LEN = 2, POS_CONN = 4, POS_OFFSET = 8,
	POS_CREDIT = 16, POS_COUNT = 24, POS_GRANT = 28,
};

struct good_case {
	const char *desc;
	struct sanx_frame f;
};

static const struct good_case good_cases[] = {
	{ "DATA, one byte inline",
	  { 1, 0, 1, 7, 5, 4096, 1, 9 } },
	{ "DATA, most inline",
	  { 1, 0, 256, 7, 5, 4096, 256, 9 } },
	{ "DATA, one byte in the ring",
	  { 1, 1, 0, 7, 5, 4096, 1, 9 } },
	{ "DATA, most in the ring",
	  { 1, 1, 0, 7, 5, 4096, 1 << 20, 9 } },
	{ "DATA, all fields at their most",
	  { 1, 1, 0, U32_MAX, U64_MAX, U64_MAX, 1 << 20, U32_MAX } },
	{ "DATA, all fields at their least",
	  { 1, 1, 0, 1, 0, 0, 1, 0 } },
	{ "DATA, urgent",
	  { 1, 4, 8, 7, 100, 8192, 8, 9 } },
	{ "DATA, urgent, in the ring",
	  { 1, 5, 0, 7, 100, 8192, 1000, 9 } },
	{ "CREDIT",
	  { 2, 0, 0, 7, 0, 8192, 0, 9 } },
	{ "CREDIT, far",
	  { 2, 0, 0, U32_MAX, 0, U64_MAX, 0, U32_MAX } },
	{ "FIN",
	  { 3, 0, 0, 7, 12345, 8192, 0, 9 } },
	{ "FIN, of nothing sent",
	  { 3, 0, 0, 7, 0, 4096, 0, 0 } },
	{ "CLOSE",
	  { 4, 0, 0, 7, 0, 0, 0, 9 } },
	{ "CLOSE, reset",
	  { 4, 2, 0, 7, 0, 0, 0, 9 } },
	{ "CLOSE_ACK",
	  { 5, 0, 0, 7, 0, 0, 0, 9 } },
	{ "OPEN",
	  { 6, 0, 56, 0, 0, 0, 0, 9 } },
	{ "OPEN_ACK",
	  { 7, 0, 24, 7, 0, 0, 0, 9 } },
	{ "OPEN_REJ, no listener",
	  { 8, 0, 0, 7, 0, 0, 1, 9 } },
	{ "OPEN_REJ, denied",
	  { 8, 0, 0, 7, 0, 0, 2, 9 } },
	{ "OPEN_REJ, busy",
	  { 8, 0, 0, 7, 0, 0, 3, 9 } },
	{ "OPEN_REJ, not in the map",
	  { 8, 0, 0, 7, 0, 0, 4, 9 } },
	{ "OPEN_REJ, no route",
	  { 8, 0, 0, 7, 0, 0, 5, 9 } },
	{ "OPEN_REJ, a limit",
	  { 8, 0, 0, 7, 0, 0, 6, 9 } },
	{ "OPEN_REJ, the answer to a question",
	  { 8, 0, 0, 7, 0, 0, 7, 9 } },
	{ "PING",
	  { 9, 0, 0, 0, 0, 0, 0, 9 } },
	{ "PONG",
	  { 10, 0, 0, 0, 0, 0, 0, 9 } },
	{ "DATA, in the ring of the last generation",
	  { 1, 0xc1, 0, 7, 100, 8192, 1000, 9 } },
	{ "DATA, all flags",
	  { 1, 0xf5, 0, 7, 100, 8192, 1000, 9 } },
	{ "RESUME",
	  { 11, 0, 32, 7, 12345, 8192, 3, 9 } },
	{ "RESUME, FIN received",
	  { 11, 8, 32, 7, 12345, 8192, 3, 9 } },
	{ "RESUME_ACK, of nothing received",
	  { 12, 0, 32, 7, 0, 4096, 0, 9 } },
	{ "RESUME_ACK, all fields at their most",
	  { 12, 8, 32, U32_MAX, U64_MAX, U64_MAX, U32_MAX, U32_MAX } },
	{ "RESUME_REJ",
	  { 13, 0, 0, 7, 0, 0, 0, 9 } },
	{ "RING",
	  { 14, 0, 24, 7, 0, 8192, 1, 9 } },
	{ "RING, all fields at their most",
	  { 14, 0, 24, U32_MAX, U64_MAX, U64_MAX, U32_MAX, U32_MAX } },
	{ "LEAVE",
	  { 15, 0, 0, 7, 12345, 0, 1, 9 } },
	{ "LEAVE, all fields at their most",
	  { 15, 0, 0, U32_MAX, U64_MAX, 0, U32_MAX, U32_MAX } },
	{ "AUTH",
	  { 16, 0, 16, 0, 0, 0, 0, 9 } },
};

KUNIT_ARRAY_PARAM_DESC(good, good_cases, desc);

/* Does the protocol have such a frame? */
static bool in_protocol(const u8 *buf, size_t bytes)
{
	u32 len, conn, count, body = 0;
	u8 flags = 0;
	bool about_conn = true, has_credit = false;

	if (bytes < HDR || bytes > MOST)
		return false;
	len = get_unaligned_le16(buf + POS_LEN);
	conn = get_unaligned_le32(buf + POS_CONN);
	count = get_unaligned_le32(buf + POS_COUNT);
	if (HDR + len != bytes)
		return false;
	switch (buf[POS_TYPE]) {
	case 1:
		if ((buf[POS_FLAGS] & ~0xf5) || !conn || !count)
			return false;
		return buf[POS_FLAGS] & 1 ? count <= 1048576 && !len :
				       count <= 256 && len == count;
	case 2:
		has_credit = true;
		break;
	case 3:
		has_credit = true;
		flags = 0x10;
		break;
	case 4:
		flags = 2;
		break;
	case 5:
		break;
	case 6:
		about_conn = false;
		body = 56;
		break;
	case 7:
		body = 24;
		break;
	case 8:
		if (count < 1 || count > 7)
			return false;
		count = 0;
		break;
	case 9:
	case 10:
		about_conn = false;
		break;
	case 11:
	case 12:
		has_credit = true;
		flags = 8;
		body = 32;
		count = 0;
		break;
	case 13:
		break;
	case 14:
		has_credit = true;
		body = 24;
		count = 0;
		break;
	case 15:
		count = 0;
		break;
	case 16:
		about_conn = false;
		body = 16;
		break;
	default:
		return false;
	}
	if (!has_credit && get_unaligned_le64(buf + POS_CREDIT))
		return false;
	return (buf[POS_FLAGS] == 0 || buf[POS_FLAGS] == flags) &&
	       about_conn == !!conn && len == body && !count;
}

/* What came out is what is in the buffer. */
static void expect_values(struct kunit *test, const struct sanx_frame *f,
			  const u8 *buf)
{
	KUNIT_EXPECT_EQ(test, f->type, buf[POS_TYPE]);
	KUNIT_EXPECT_EQ(test, f->flags, buf[POS_FLAGS]);
	KUNIT_EXPECT_EQ(test, f->len, get_unaligned_le16(buf + POS_LEN));
	KUNIT_EXPECT_EQ(test, f->conn, get_unaligned_le32(buf + POS_CONN));
	KUNIT_EXPECT_EQ(test, f->offset, get_unaligned_le64(buf + POS_OFFSET));
	KUNIT_EXPECT_EQ(test, f->credit, get_unaligned_le64(buf + POS_CREDIT));
	KUNIT_EXPECT_EQ(test, f->count, get_unaligned_le32(buf + POS_COUNT));
	KUNIT_EXPECT_EQ(test, f->grant, get_unaligned_le32(buf + POS_GRANT));
	KUNIT_EXPECT_PTR_EQ(test, f->body, (const void *)(buf + HDR));
}

/*
 * The parser's verdict on @bytes of @buf must be that of in_protocol().  Ends
 * the case if not: thousands of complaints would push the first out of the log.
 */
static bool verdict(struct kunit *test, const u8 *buf, size_t bytes,
		    const char *what, u64 value)
{
	bool ok = in_protocol(buf, bytes);
	struct sanx_frame f;

	KUNIT_ASSERT_EQ_MSG(test, sanx_frame_parse(&f, buf, bytes),
			    ok ? 0 : -EPROTO, "%s %llu: %*ph", what, value,
			    (int)min(bytes, (size_t)HDR), buf);
	if (ok)
		expect_values(test, &f, buf);
	return ok;
}

static u32 build(u8 *buf, const struct sanx_frame *f)
{
	memset(buf, 0x5a, MOST);
	return sanx_frame_build(buf, f);
}

static void frame_good(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	struct sanx_frame f = {};
	u8 buf[MOST];
	u32 bytes;

	bytes = build(buf, &c->f);
	KUNIT_EXPECT_EQ(test, bytes, HDR + c->f.len);
	KUNIT_EXPECT_TRUE(test, in_protocol(buf, bytes));
	KUNIT_ASSERT_EQ(test, sanx_frame_parse(&f, buf, bytes), 0);
	KUNIT_EXPECT_EQ(test, f.type, c->f.type);
	KUNIT_EXPECT_EQ(test, f.flags, c->f.flags);
	KUNIT_EXPECT_EQ(test, f.len, c->f.len);
	KUNIT_EXPECT_EQ(test, f.conn, c->f.conn);
	KUNIT_EXPECT_EQ(test, f.offset, c->f.offset);
	KUNIT_EXPECT_EQ(test, f.credit, c->f.credit);
	KUNIT_EXPECT_EQ(test, f.count, c->f.count);
	KUNIT_EXPECT_EQ(test, f.grant, c->f.grant);
	KUNIT_EXPECT_PTR_EQ(test, f.body, (const void *)(buf + HDR));
}

/* The header to the byte, and not a byte behind it. */
static void frame_wire(struct kunit *test)
{
	static const u8 want[HDR] = {
		0x01, 0x00, 0x22, 0x11, 0x44, 0x33, 0x22, 0x11,
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
		0xf8, 0xe7, 0xd6, 0xc5, 0xb4, 0xa3, 0x92, 0x81,
		0xd4, 0xc3, 0xb2, 0xa1, 0x0d, 0x0c, 0x0b, 0x0a,
	};
	const struct sanx_frame f = {
		.type = 1,
		.len = 0x1122,
		.conn = 0x11223344,
		.offset = 0x1122334455667788,
		.credit = 0x8192a3b4c5d6e7f8,
		.count = 0xa1b2c3d4,
		.grant = 0x0a0b0c0d,
	};
	u8 buf[MOST], rest[MOST - HDR];

	KUNIT_EXPECT_EQ(test, build(buf, &f), HDR + 0x1122);
	KUNIT_EXPECT_MEMEQ(test, buf, want, HDR);
	memset(rest, 0x5a, sizeof(rest));
	KUNIT_EXPECT_MEMEQ(test, buf + HDR, rest, sizeof(rest));
}

static void frame_set_grant(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	u8 buf[MOST], want[MOST];

	build(buf, &c->f);
	memcpy(want, buf, MOST);
	put_unaligned_le32(0xfedcba98, want + POS_GRANT);
	sanx_frame_set_grant(buf, 0xfedcba98);
	KUNIT_EXPECT_MEMEQ(test, buf, want, MOST);
}

/* Every value of the small fields, and the telling ones of the large. */
static void frame_one_field_off(struct kunit *test)
{
	static const u32 values[] = {
		0, 1, 2, 3, 4, 5, 15, 16, 17, 23, 24, 25, 31, 32, 33, 55, 56, 57, 255, 256, 257,
		258, 4096, 65535, 65536, 65537, (1 << 20) - 1, 1 << 20,
		(1 << 20) + 1, 1U << 31, U32_MAX - 1, U32_MAX,
	};
	const struct good_case *c = test->param_value;
	u8 good[MOST], buf[MOST];
	unsigned int i;
	u32 bytes;

	bytes = build(good, &c->f);
	for (i = 0; i < 256; i++) {
		memcpy(buf, good, MOST);
		buf[POS_TYPE] = i;
		verdict(test, buf, bytes, "type", i);
		memcpy(buf, good, MOST);
		buf[POS_FLAGS] = i;
		verdict(test, buf, bytes, "flags", i);
	}
	for (i = 0; i < 65536; i += i < 300 ? 1 : 251) {
		memcpy(buf, good, MOST);
		put_unaligned_le16(i, buf + POS_LEN);
		verdict(test, buf, bytes, "len", i);
	}
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		memcpy(buf, good, MOST);
		put_unaligned_le32(values[i], buf + POS_CONN);
		verdict(test, buf, bytes, "conn", values[i]);
		memcpy(buf, good, MOST);
		put_unaligned_le32(values[i], buf + POS_COUNT);
		verdict(test, buf, bytes, "count", values[i]);
		memcpy(buf, good, MOST);
		put_unaligned_le32(values[i], buf + POS_GRANT);
		KUNIT_EXPECT_TRUE(test, verdict(test, buf, bytes, "grant",
						values[i]));
	}
}

static bool type_has_credit(u8 type)
{
	return type <= 3 || type == 11 || type == 12 || type == 14;
}

/* Offsets and credits that this frame has: any at all, msgq.c judges them. */
static void frame_offsets_any(struct kunit *test)
{
	static const u64 values[] = {
		0, 1, 4096, U32_MAX, 1ULL << 32, 1ULL << 63, U64_MAX,
	};
	const struct good_case *c = test->param_value;
	u8 good[MOST], buf[MOST];
	unsigned int i;
	u32 bytes;

	bytes = build(good, &c->f);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		if (type_has_credit(c->f.type) && c->f.type != 2) {
			memcpy(buf, good, MOST);
			put_unaligned_le64(values[i], buf + POS_OFFSET);
			KUNIT_EXPECT_TRUE(test, verdict(test, buf, bytes,
							"offset", values[i]));
		}
		if (type_has_credit(c->f.type)) {
			memcpy(buf, good, MOST);
			put_unaligned_le64(values[i], buf + POS_CREDIT);
			KUNIT_EXPECT_TRUE(test, verdict(test, buf, bytes,
							"credit", values[i]));
		}
	}
}

/* A credit where the protocol has none is an error: the field is 0 there. */
static void frame_credit_misplaced(struct kunit *test)
{
	static const u64 values[] = { 1, 1ULL << 32, U64_MAX };
	unsigned int i, k;
	struct sanx_frame f;
	u8 buf[MOST];
	u32 bytes;

	for (i = 0; i < ARRAY_SIZE(good_cases); i++) {
		if (type_has_credit(good_cases[i].f.type))
			continue;
		for (k = 0; k < ARRAY_SIZE(values); k++) {
			bytes = build(buf, &good_cases[i].f);
			put_unaligned_le64(values[k], buf + POS_CREDIT);
			KUNIT_EXPECT_EQ_MSG(test,
					    sanx_frame_parse(&f, buf, bytes),
					    -EPROTO, "%s", good_cases[i].desc);
		}
	}
}

/* Cut short or run on, header unchanged: from nothing to more than the most. */
static void frame_size_off(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	u8 good[MOST + 2] = {}, *buf;
	u32 bytes, size;

	bytes = sanx_frame_build(good, &c->f);
	for (size = 0; size <= MOST + 2; size++) {
		/* No larger than it says, so that KASAN sees reads behind. */
		buf = kunit_kmalloc(test, size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf, good, size);
		KUNIT_EXPECT_EQ(test, verdict(test, buf, size, "size", size),
				size == bytes);
		kunit_kfree(test, buf);
	}
}

/* A length that matches the size does not help where the size is wrong. */
static void frame_body_off(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	u8 buf[MOST + 2] = {};
	struct sanx_frame f = c->f;
	u32 size;

	for (size = HDR; size <= MOST + 2; size++) {
		f.len = size - HDR;
		sanx_frame_build(buf, &f);
		KUNIT_EXPECT_EQ(test, verdict(test, buf, size, "body", size),
				f.len == c->f.len);
	}
}

/* Inline payload of each size, and the first that is too large. */
static void frame_data_inline(struct kunit *test)
{
	struct sanx_frame f = { .type = 1, .conn = 1 };
	u8 buf[MOST + 2] = {};
	u32 n;

	for (n = 0; n <= 258; n++) {
		f.len = n;
		f.count = n;
		sanx_frame_build(buf, &f);
		KUNIT_EXPECT_EQ(test, verdict(test, buf, HDR + n, "inline", n),
				n >= 1 && n <= 256);
	}
}

/**
 * struct imm_case - a write that tells of itself
 * @desc: in words
 * @imm: immediate data
 * @bytes: that were written
 * @want: the verdict
 */
struct imm_case {
	const char *desc;
	u32 imm;
	u32 bytes;
	int want;
};

static const struct imm_case imm_cases[] = {
	{ "a byte", 0x101, 1, 0 },
	{ "a ring full", 0x101, 1048576, 0 },
	{ "the last connection, all flags", 0xfffffff1, 65536, 0 },
	{ "nothing written", 0x101, 0, -EPROTO },
	{ "more than a ring", 0x101, 1048577, -EPROTO },
	{ "2^32 - 1 bytes", 0x101, U32_MAX, -EPROTO },
	{ "no connection", 0x01, 1, -EPROTO },
	{ "no flags", 0x100, 1, -EPROTO },
	{ "not in the ring, GEN", 0x1c0, 1, -EPROTO },
	{ "generation 1", 0x141, 1, 0 },
	{ "generation 2", 0x181, 1, 0 },
	{ "urgent", 0x105, 1, -EPROTO },
	{ "reset", 0x103, 1, -EPROTO },
	{ "fin", 0x109, 1, -EPROTO },
	{ "an answer is asked for", 0x111, 1, 0 },
	{ "all ones", U32_MAX, 1, -EPROTO },
	{ "zero", 0, 1, -EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(imm, imm_cases, desc);

static void frame_imm(struct kunit *test)
{
	const struct imm_case *c = test->param_value;
	struct sanx_frame f;

	memset(&f, 0xff, sizeof(f));
	KUNIT_ASSERT_EQ(test, sanx_imm_parse(&f, c->imm, c->bytes), c->want);
	if (c->want)
		return;
	KUNIT_EXPECT_EQ(test, f.type, 1);
	KUNIT_EXPECT_EQ(test, f.flags, c->imm & 0xff);
	KUNIT_EXPECT_EQ(test, f.conn, c->imm >> 8);
	KUNIT_EXPECT_EQ(test, f.count, c->bytes);
	KUNIT_EXPECT_EQ(test, f.len, 0);
	KUNIT_EXPECT_EQ(test, f.offset, 0);
	KUNIT_EXPECT_EQ(test, f.credit, 0);
	KUNIT_EXPECT_EQ(test, f.grant, 0);
	KUNIT_EXPECT_EQ(test, sanx_imm_build(f.conn, f.flags), c->imm);
}

static void frame_limits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, SANX_FRAME_MAX, MOST);
	KUNIT_EXPECT_EQ(test, SANX_INLINE_MAX, 256);
	KUNIT_EXPECT_EQ(test, SANX_RING_MAX, 1048576);
	/* What was validated must fit where it is kept. */
	KUNIT_EXPECT_LE(test, SANX_INLINE_MAX, SANX_RING_MIN);
}

/* Nothing but chance: what little of it is a frame, and all the rest. */
static void frame_fuzz_bytes(struct kunit *test)
{
	struct rnd_state rnd;
	u8 buf[MOST + 8];
	u32 i, size;

	prandom_seed_state(&rnd, 0x46757a7a);
	for (i = 0; i < 20000; i++) {
		size = prandom_u32_state(&rnd) % (sizeof(buf) + 1);
		prandom_bytes_state(&rnd, buf, min_t(u32, size, HDR));
		verdict(test, buf, size, "round", i);
	}
}

/* Good frames with a few fields overwritten: close to right. */
static void frame_fuzz_fields(struct kunit *test)
{
	static const u8 at[] = {
		POS_TYPE, POS_FLAGS, POS_LEN, POS_LEN + 1, POS_CONN, POS_CONN + 3,
		POS_OFFSET, POS_OFFSET + 7, POS_CREDIT, POS_COUNT, POS_COUNT + 1,
		POS_COUNT + 2, POS_GRANT,
	};
	u32 i, n, bytes, taken = 0, refused = 0;
	struct rnd_state rnd;
	u8 buf[MOST];

	prandom_seed_state(&rnd, 0x4669656c6473);
	for (i = 0; i < 20000; i++) {
		n = prandom_u32_state(&rnd) % ARRAY_SIZE(good_cases);
		bytes = build(buf, &good_cases[n].f);
		for (n = prandom_u32_state(&rnd) % 3; n < 3; n++) {
			u32 r = prandom_u32_state(&rnd);

			/* Small values are the ones that mean something. */
			buf[at[r % ARRAY_SIZE(at)]] = r & (1 << 30) ?
						      (r >> 16) % 4 : r >> 16;
		}
		if (!(prandom_u32_state(&rnd) % 8))
			bytes = HDR + (prandom_u32_state(&rnd) % 257);
		if (verdict(test, buf, bytes, "round", i))
			taken++;
		else
			refused++;
	}
	/* A fuzzer that only ever sees one answer tests nothing. */
	KUNIT_EXPECT_GT(test, taken, 1000);
	KUNIT_EXPECT_GT(test, refused, 1000);
}

static struct kunit_case frame_cases[] = {
	KUNIT_CASE_PARAM(frame_good, good_gen_params),
	KUNIT_CASE(frame_wire),
	KUNIT_CASE_PARAM(frame_set_grant, good_gen_params),
	KUNIT_CASE_PARAM(frame_one_field_off, good_gen_params),
	KUNIT_CASE_PARAM(frame_offsets_any, good_gen_params),
	KUNIT_CASE(frame_credit_misplaced),
	KUNIT_CASE_PARAM(frame_size_off, good_gen_params),
	KUNIT_CASE_PARAM(frame_body_off, good_gen_params),
	KUNIT_CASE(frame_data_inline),
	KUNIT_CASE_PARAM(frame_imm, imm_gen_params),
	KUNIT_CASE(frame_limits),
	KUNIT_CASE(frame_fuzz_bytes),
	KUNIT_CASE(frame_fuzz_fields),
	{}
};

static struct kunit_suite frame_suite = {
	.name = "sanx_frame",
	.test_cases = frame_cases,
};

kunit_test_suite(frame_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: frames");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
