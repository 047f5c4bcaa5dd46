// SPDX-License-Identifier: GPL-2.0
/*
 * What opens a link and a connection (af_sanx/link/frame/format.c): hello, open, open_ack, resume
 * and the window in them.  Each is taken as built, refused with any one field
 * wrong, and never trusted when it is random.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "link/frame/format.h"
#include "conn/msgq.h"

/* The bytes of a good one of each. */
static const u8 good_hello[56] = {
	0x31, 0x58, 0x4e, 0x53, 0x08, 0x00, 0xc0, 0x00,
	0x78, 0x56, 0x34, 0x12, 0xf0, 0xde, 0xbc, 0x9a,
	0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
	0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe,
	0x00, 0x01, 0x05, 0x03, 0x00, 0x00, 0x02, 0x00,
};

static const u8 good_open[56] = {
	0x20, 0x01, 0x0d, 0xb8, [15] = 1,
	[16] = 0, [26] = 0xff, 0xff, 10, 77, 0, 2,
	0x9c, 0x40, 0x00, 0x50, 0x44, 0x33, 0x22, 0x11,
	0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70,
	0xd4, 0xc3, 0xb2, 0xa1, 0x00, 0x00, 0x01, 0x00,
};

static const u8 good_ack[24] = {
	0x44, 0x33, 0x22, 0x11, 0, 0, 0, 0,
	0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70,
	0xd4, 0xc3, 0xb2, 0xa1, 0x00, 0x00, 0x01, 0x00,
};

/**
 * struct wrong_case - one field overwritten
 * @desc: in words
 * @at: byte it starts at
 * @width: bytes of it
 * @value: what it becomes, little endian
 * @want: the verdict
 */
struct wrong_case {
	const char *desc;
	u8 at;
	u8 width;
	u64 value;
	int want;
};

static void overwrite(u8 *buf, const struct wrong_case *c)
{
	__le64 value = cpu_to_le64(c->value);

	memcpy(buf + c->at, &value, c->width);
}

static const struct wrong_case hello_cases[] = {
	{ "as it is", 0, 0, 0, 0 },
	{ "magic, one bit", 0, 4, 0x534e5830, -EPROTO },
	{ "magic, big endian", 0, 4, 0x31584e53, -EPROTO },
	{ "magic 0", 0, 4, 0, -EPROTO },
	{ "version 0", 4, 2, 0, -EPROTONOSUPPORT },
	{ "version 1", 4, 2, 1, -EPROTONOSUPPORT },
	{ "version 2", 4, 2, 2, -EPROTONOSUPPORT },
	{ "version 3", 4, 2, 3, -EPROTONOSUPPORT },
	{ "version 7", 4, 2, 7, -EPROTONOSUPPORT },
	{ "version 9", 4, 2, 9, -EPROTONOSUPPORT },
	{ "version 8 in the wrong byte", 4, 2, 0x800, -EPROTONOSUPPORT },
	{ "version 8 and more", 4, 2, 0x108, -EPROTONOSUPPORT },
	{ "inline 0", 6, 2, 0, 0 },
	{ "inline 256", 6, 2, 256, 0 },
	{ "inline 257", 6, 2, 257, -EPROTO },
	{ "inline 65535", 6, 2, 65535, -EPROTO },
	{ "from nobody", 8, 4, 0, -EPROTO },
	{ "from node 1", 8, 4, 1, 0 },
	{ "from the last node", 8, 4, U32_MAX, 0 },
	{ "from a node with low bits 0", 8, 4, 1 << 16, 0 },
	{ "to nobody", 12, 4, 0, -EPROTO },
	{ "to node 1", 12, 4, 1, 0 },
	{ "to the last node", 12, 4, U32_MAX, 0 },
	{ "instance 0", 16, 8, 0, -EPROTO },
	{ "instance 1", 16, 8, 1, 0 },
	{ "instance with low half 0", 16, 8, 1ULL << 32, 0 },
	{ "instance at its most", 16, 8, U64_MAX, 0 },
	{ "nonce 0", 24, 8, 0, 0 },
	{ "nonce at its most", 24, 8, U64_MAX, 0 },
	{ "no receives", 32, 2, 0, -EPROTO },
	{ "15 receives", 32, 2, 15, -EPROTO },
	{ "16 receives", 32, 2, 16, 0 },
	{ "65535 receives", 32, 2, 65535, 0 },
	{ "lane 0", 34, 1, 0, 0 },
	{ "lane 11", 34, 1, 11, 0 },
	{ "lane 12", 34, 1, 12, -EPROTO },
	{ "lane 255", 34, 1, 255, -EPROTO },
	{ "rail 0", 35, 1, 0, 0 },
	{ "rail 255", 35, 1, 255, 0 },
	{ "on trial", 36, 2, 1, 0 },
	{ "a feature, the second", 36, 2, 2, -EPROTO },
	{ "on trial and a feature", 36, 2, 3, -EPROTO },
	{ "a feature, the last", 36, 2, 1U << 15, -EPROTO },
	{ "no key", 38, 2, 0, 0 },
	{ "two keys", 38, 2, 2, 0 },
	{ "three keys", 38, 2, 3, -EPROTO },
	{ "256 keys", 38, 2, 256, -EPROTO },
	{ "proof, first byte", 40, 1, 1, 0 },
	{ "proof, last byte", 55, 1, 0x80, 0 },
};

KUNIT_ARRAY_PARAM_DESC(hello, hello_cases, desc);

static void expect_hello(struct kunit *test, const struct sanx_hello_info *i,
			 const u8 *buf)
{
	KUNIT_EXPECT_EQ(test, i->from, get_unaligned_le32(buf + 8));
	KUNIT_EXPECT_EQ(test, i->to, get_unaligned_le32(buf + 12));
	KUNIT_EXPECT_EQ(test, i->inline_max, get_unaligned_le16(buf + 6));
	KUNIT_EXPECT_EQ(test, i->instance, get_unaligned_le64(buf + 16));
	KUNIT_EXPECT_EQ(test, i->nonce, get_unaligned_le64(buf + 24));
	KUNIT_EXPECT_EQ(test, i->recvs, get_unaligned_le16(buf + 32));
	KUNIT_EXPECT_EQ(test, i->lane, buf[34]);
	KUNIT_EXPECT_EQ(test, i->rail, buf[35]);
	KUNIT_EXPECT_EQ(test, i->features, get_unaligned_le16(buf + 36));
	KUNIT_EXPECT_EQ(test, i->keys, get_unaligned_le16(buf + 38));
}

static void hello_field(struct kunit *test)
{
	const struct wrong_case *c = test->param_value;
	u8 buf[sizeof(good_hello)];
	struct sanx_hello_info info;

	memcpy(buf, good_hello, sizeof(buf));
	overwrite(buf, c);
	KUNIT_ASSERT_EQ(test, sanx_hello_parse(&info, buf, sizeof(buf)),
			c->want);
	if (!c->want)
		expect_hello(test, &info, buf);
}

/*
 * Another version says so whatever else it says, and however long it is: it has
 * other rules.
 */
static void hello_other_version(struct kunit *test)
{
	struct sanx_hello_info info;
	u8 buf[64];
	u32 size;

	memset(buf, 0xff, sizeof(buf));
	KUNIT_EXPECT_EQ(test, sanx_hello_parse(&info, buf, sizeof(buf)),
			-EPROTO);
	memcpy(buf, good_hello, 4);
	for (size = 0; size <= sizeof(buf); size++)
		KUNIT_EXPECT_EQ(test, sanx_hello_parse(&info, buf, size),
				size < 6 ? -EPROTO : -EPROTONOSUPPORT);
}

/* Connection managers pad private data; shorter than a hello is none. */
static void hello_size(struct kunit *test)
{
	struct sanx_hello_info info;
	size_t size;
	u8 *buf;

	KUNIT_EXPECT_EQ(test, sanx_hello_parse(&info, NULL, 0), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_hello_parse(&info, NULL, 56), -EPROTO);
	for (size = 1; size <= 256; size++) {
		/* No larger than it says, so that KASAN sees reads behind. */
		buf = kmalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		memset(buf, 0xff, size);
		memcpy(buf, good_hello, min(size, sizeof(good_hello)));
		KUNIT_EXPECT_EQ_MSG(test, sanx_hello_parse(&info, buf, size),
				    size < 56 ? -EPROTO : 0, "%zu bytes", size);
		kfree(buf);
	}
}

static void hello_build(struct kunit *test)
{
	const struct sanx_hello_info info = {
		.from = 0x12345678,
		.to = 0x9abcdef0,
		.recvs = 256,
		.inline_max = 192,
		.lane = 5,
		.rail = 3,
		.keys = 2,
		.instance = 0x0123456789abcdef,
		.nonce = 0xfedcba9876543210,
	};
	struct sanx_hello hello;

	memset(&hello, 0xff, sizeof(hello));
	sanx_hello_build(&hello, &info);
	KUNIT_EXPECT_EQ(test, sizeof(hello), sizeof(good_hello));
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&hello, good_hello, sizeof(good_hello));
}

/* A window, as it stands in an open and in an open_ack. */
static const struct wrong_case window_cases[] = {
	{ "as it is", 0, 0, 0, 0 },
	{ "size 0", 12, 4, 0, -EPROTO },
	{ "size 1", 12, 4, 1, -EPROTO },
	{ "size 2048", 12, 4, 2048, -EPROTO },
	{ "size 4095", 12, 4, 4095, -EPROTO },
	{ "size 4096", 12, 4, 4096, 0 },
	{ "size 4097", 12, 4, 4097, -EPROTO },
	{ "size 6144", 12, 4, 6144, -EPROTO },
	{ "size 8192", 12, 4, 8192, 0 },
	{ "size 1 MiB", 12, 4, 1 << 20, 0 },
	{ "size 1 MiB + 4 KiB", 12, 4, (1 << 20) + 4096, -EPROTO },
	{ "size 2 MiB", 12, 4, 1 << 21, -EPROTO },
	{ "size 2 GiB", 12, 4, 1U << 31, -EPROTO },
	{ "size 4 GiB - 1", 12, 4, U32_MAX, -EPROTO },
	{ "size, big endian", 12, 4, 0x00100000 >> 16, -EPROTO },
	{ "rkey 0", 8, 4, 0, 0 },
	{ "rkey at its most", 8, 4, U32_MAX, 0 },
	{ "address 0", 0, 8, 0, 0 },
	{ "address odd", 0, 8, 1, 0 },
	{ "address, last that fits", 0, 8, U64_MAX - 65536, 0 },
	/* Its end is not an address any more. */
	{ "address, ends at 2^64", 0, 8, U64_MAX - 65535, -EPROTO },
	{ "address, runs over 2^64", 0, 8, U64_MAX - 65534, -EPROTO },
	{ "address at its most", 0, 8, U64_MAX, -EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(window, window_cases, desc);

static void expect_window(struct kunit *test,
			  const struct sanx_window_info *w, const u8 *buf)
{
	KUNIT_EXPECT_EQ(test, w->addr, get_unaligned_le64(buf));
	KUNIT_EXPECT_EQ(test, w->rkey, get_unaligned_le32(buf + 8));
	KUNIT_EXPECT_EQ(test, w->size, get_unaligned_le32(buf + 12));
}

static struct sanx_frame open_frame(const u8 *body)
{
	return (struct sanx_frame){ .type = SANX_FRAME_OPEN, .len = 56,
				    .body = body };
}

static struct sanx_frame ack_frame(const u8 *body)
{
	return (struct sanx_frame){ .type = SANX_FRAME_OPEN_ACK, .len = 24,
				    .conn = 5, .body = body };
}

static struct sanx_frame resume_frame(const u8 *body)
{
	return (struct sanx_frame){ .type = SANX_FRAME_RESUME, .len = 32,
				    .conn = 5, .body = body };
}

static struct sanx_frame ring_frame(const u8 *body)
{
	return (struct sanx_frame){ .type = SANX_FRAME_RING, .len = 24,
				    .conn = 5, .body = body };
}

/* A window of 16 bytes, in each body that has one. */
static void window_verdict(struct kunit *test, const u8 *w, int want)
{
	struct sanx_window_info win;
	struct sanx_open open;
	struct sanx_frame f;
	u8 buf[56];
	u64 token;
	u32 conn;

	memcpy(buf, good_open, 56);
	memcpy(buf + 40, w, 16);
	f = open_frame(buf);
	KUNIT_EXPECT_EQ(test, sanx_open_parse(&f, &open, &conn, &win), want);
	if (!want)
		expect_window(test, &win, w);

	memcpy(buf, good_ack, 24);
	memcpy(buf + 8, w, 16);
	f = ack_frame(buf);
	KUNIT_EXPECT_EQ(test, sanx_open_ack_parse(&f, &conn, &win), want);
	if (!want)
		expect_window(test, &win, w);
	f = resume_frame(buf);
	KUNIT_EXPECT_EQ(test, sanx_resume_parse(&f, &conn, &win, &token),
			want);
	if (!want)
		expect_window(test, &win, w);
	f = ring_frame(buf);
	KUNIT_EXPECT_EQ(test, sanx_ring_parse(&f, &conn, &win), want);
	if (!want)
		expect_window(test, &win, w);
}

/* None at all is one. */
static void window_none(struct kunit *test)
{
	u8 w[16] = {};

	window_verdict(test, w, 0);
	/* Half of one is no window. */
	w[0] = 1;
	window_verdict(test, w, -EPROTO);
	w[0] = 0;
	w[8] = 1;
	window_verdict(test, w, -EPROTO);
}

static void window_field(struct kunit *test)
{
	const struct wrong_case *c = test->param_value;
	u8 w[16];

	memcpy(w, good_open + 40, 16);
	overwrite(w, c);
	window_verdict(test, w, c->want);
}

static void window_build(struct kunit *test)
{
	const struct sanx_window_info info = {
		.addr = 0x7060504030201000,
		.rkey = 0xa1b2c3d4,
		.size = 65536,
	};
	struct sanx_window w;

	sanx_window_build(&w, &info);
	KUNIT_EXPECT_EQ(test, sizeof(w), 16);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&w, good_ack + 8, 16);
}

static const struct wrong_case open_cases[] = {
	{ "as it is", 0, 0, 0, 0 },
	/* Ports are big endian and judged as such only by whether they are 0 */
	/* A question. */
	{ "source port 0", 32, 2, 0, 0 },
	{ "both ports 0", 32, 4, 0, 0 },
	{ "source port 256", 32, 2, 0x0001, 0 },
	{ "source port 1", 32, 2, 0x0100, 0 },
	/* For the kernel itself. */
	{ "destination port 0", 34, 2, 0, 0 },
	{ "destination port 256", 34, 2, 0x0001, 0 },
	{ "destination port 1", 34, 2, 0x0100, 0 },
	{ "id 0", 36, 4, 0, -EPROTO },
	{ "id 1", 36, 4, 1, 0 },
	{ "id with low bits 0", 36, 4, 1 << 16, 0 },
	{ "id at its most", 36, 4, U32_MAX, 0 },
	/* Whose addresses they are is for the node map to say. */
	{ "source address", 0, 8, U64_MAX, 0 },
	{ "destination address", 24, 8, U64_MAX, 0 },
};

KUNIT_ARRAY_PARAM_DESC(open, open_cases, desc);

static void open_field(struct kunit *test)
{
	const struct wrong_case *c = test->param_value;
	struct sanx_window_info win;
	struct sanx_open open;
	struct sanx_frame f;
	u8 buf[56];
	u32 conn;

	memcpy(buf, good_open, 56);
	overwrite(buf, c);
	f = open_frame(buf);
	KUNIT_ASSERT_EQ(test, sanx_open_parse(&f, &open, &conn, &win), c->want);
	if (c->want)
		return;
	KUNIT_EXPECT_EQ(test, conn, get_unaligned_le32(buf + 36));
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&open, buf, 56);
	KUNIT_EXPECT_EQ(test, ntohs(open.sport), get_unaligned_be16(buf + 32));
	KUNIT_EXPECT_EQ(test, ntohs(open.dport), get_unaligned_be16(buf + 34));
	expect_window(test, &win, buf + 40);
}

static const struct wrong_case ack_cases[] = {
	{ "as it is", 0, 0, 0, 0 },
	{ "id 0", 0, 4, 0, -EPROTO },
	{ "id 1", 0, 4, 1, 0 },
	{ "id with low bits 0", 0, 4, 1 << 16, 0 },
	{ "id at its most", 0, 4, U32_MAX, 0 },
	{ "reserved, low", 4, 4, 1, -EPROTO },
	{ "reserved, high", 4, 4, 1U << 31, -EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(ack, ack_cases, desc);

typedef int admission_parser(const struct sanx_frame *f, u32 *conn,
			     struct sanx_window_info *win);

/* RESUME and RESUME_ACK have a token behind it. */
#define TOKEN	0x1122334455667788

static int resume_parse(const struct sanx_frame *f, u32 *conn,
			struct sanx_window_info *win)
{
	u64 token = 0;
	int err = sanx_resume_parse(f, conn, win, &token);

	return !err && token != TOKEN ? -EINVAL : err;
}

/* OPEN_ACK, RESUME, RESUME_ACK and RING have the same body at first. */
static void admission_field(struct kunit *test, struct sanx_frame f,
			    admission_parser *parse)
{
	const struct wrong_case *c = test->param_value;
	struct sanx_window_info win;
	u8 buf[32];
	u32 conn;

	memcpy(buf, good_ack, 24);
	put_unaligned_le64(TOKEN, buf + 24);
	overwrite(buf, c);
	f.body = buf;
	KUNIT_ASSERT_EQ(test, parse(&f, &conn, &win), c->want);
	if (c->want)
		return;
	KUNIT_EXPECT_EQ(test, conn, get_unaligned_le32(buf));
	expect_window(test, &win, buf + 8);
}

static void ack_field(struct kunit *test)
{
	admission_field(test, ack_frame(NULL), sanx_open_ack_parse);
}

static void resume_field(struct kunit *test)
{
	struct sanx_frame f = resume_frame(NULL);

	admission_field(test, f, resume_parse);
	f.type = SANX_FRAME_RESUME_ACK;
	admission_field(test, f, resume_parse);
	admission_field(test, ring_frame(NULL), sanx_ring_parse);
}

/* A body is read as what the frame says it is, and in full or not at all. */
static void open_wrong_frame(struct kunit *test)
{
	struct sanx_window_info win;
	struct sanx_open open;
	struct sanx_frame f;
	u8 good_resume[32];
	unsigned int i;
	u32 conn;

	memcpy(good_resume, good_ack, 24);
	put_unaligned_le64(TOKEN, good_resume + 24);
	for (i = 0; i < 256; i++) {
		f = open_frame(good_open);
		f.type = i;
		KUNIT_ASSERT_EQ_MSG(test,
				    sanx_open_parse(&f, &open, &conn, &win),
				    i == 6 ? 0 : -EPROTO, "type %u", i);
		f = ack_frame(good_ack);
		f.type = i;
		KUNIT_ASSERT_EQ_MSG(test, sanx_open_ack_parse(&f, &conn, &win),
				    i == 7 ? 0 : -EPROTO, "type %u", i);
		f = resume_frame(good_resume);
		f.type = i;
		KUNIT_ASSERT_EQ_MSG(test, resume_parse(&f, &conn, &win),
				    i == 11 || i == 12 ? 0 : -EPROTO,
				    "type %u", i);
		f = ring_frame(good_ack);
		f.type = i;
		KUNIT_ASSERT_EQ_MSG(test, sanx_ring_parse(&f, &conn, &win),
				    i == 14 ? 0 : -EPROTO, "type %u", i);
		f = open_frame(good_open);
		f.len = i;
		KUNIT_ASSERT_EQ_MSG(test,
				    sanx_open_parse(&f, &open, &conn, &win),
				    i == 56 ? 0 : -EPROTO, "length %u", i);
		f = ack_frame(good_ack);
		f.len = i;
		KUNIT_ASSERT_EQ_MSG(test, sanx_open_ack_parse(&f, &conn, &win),
				    i == 24 ? 0 : -EPROTO, "length %u", i);
		f = resume_frame(good_resume);
		f.len = i;
		KUNIT_ASSERT_EQ_MSG(test, resume_parse(&f, &conn, &win),
				    i == 32 ? 0 : -EPROTO, "length %u", i);
	}
}

/* An open as a peer receives it: built, framed, parsed twice. */
static void open_round_trip(struct kunit *test)
{
	u8 buf[SANX_FRAME_MAX];
	struct sanx_frame out = open_frame(NULL), in;
	struct sanx_window_info win;
	struct sanx_open open;
	u32 conn, bytes;

	bytes = sanx_frame_build(buf, &out);
	memcpy(buf + sizeof(struct sanx_frame_hdr), good_open, 56);
	KUNIT_ASSERT_EQ(test, sanx_frame_parse(&in, buf, bytes), 0);
	KUNIT_ASSERT_EQ(test, sanx_open_parse(&in, &open, &conn, &win), 0);
	KUNIT_EXPECT_EQ(test, conn, 0x11223344);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&open, good_open, 56);

	out = ack_frame(NULL);
	bytes = sanx_frame_build(buf, &out);
	memcpy(buf + sizeof(struct sanx_frame_hdr), good_ack, 24);
	KUNIT_ASSERT_EQ(test, sanx_frame_parse(&in, buf, bytes), 0);
	KUNIT_EXPECT_EQ(test, in.conn, 5);
	KUNIT_ASSERT_EQ(test, sanx_open_ack_parse(&in, &conn, &win), 0);
	KUNIT_EXPECT_EQ(test, conn, 0x11223344);
}

static bool window_promised(const struct sanx_window_info *w)
{
	if (!w->size)
		return !w->addr && !w->rkey;
	return is_power_of_2(w->size) && w->size >= 4096 &&
	       w->size <= 1048576 && w->addr < U64_MAX - w->size + 1;
}

/* Overwrites up to three bytes, often with what a parser looks for. */
static void mangle(struct rnd_state *rnd, u8 *buf, u32 size)
{
	u32 n;

	for (n = prandom_u32_state(rnd) % 4; n; n--) {
		u32 r = prandom_u32_state(rnd);

		buf[r % size] = r & (1 << 30) ? 0 : r >> 16;
	}
}

/* Whatever comes, what is taken keeps what the kernel-doc promises of it. */
static void open_fuzz(struct kunit *test)
{
	u32 i, conn, taken[3] = {};
	struct sanx_hello_info hello;
	struct sanx_window_info win;
	struct sanx_open open;
	struct rnd_state rnd;
	struct sanx_frame f;
	u8 buf[56];

	prandom_seed_state(&rnd, 0x4f70656e);
	for (i = 0; i < 10000; i++) {
		memcpy(buf, good_hello, 56);
		mangle(&rnd, buf, 40);
		if (!sanx_hello_parse(&hello, buf, 56)) {
			taken[0]++;
			KUNIT_ASSERT_MEMEQ(test, buf, good_hello, 6);
			KUNIT_ASSERT_NE(test, hello.from, 0);
			KUNIT_ASSERT_NE(test, hello.to, 0);
			KUNIT_ASSERT_GE(test, hello.recvs, 16);
			KUNIT_ASSERT_LE(test, hello.inline_max, 256);
			KUNIT_ASSERT_LT(test, hello.lane, 12);
			KUNIT_ASSERT_LE(test, hello.keys, 2);
			KUNIT_ASSERT_NE(test, hello.instance, 0);
		}
		memcpy(buf, good_open, 56);
		mangle(&rnd, buf, 56);
		f = open_frame(buf);
		if (!sanx_open_parse(&f, &open, &conn, &win)) {
			taken[1]++;
			KUNIT_ASSERT_NE(test, conn, 0);
			KUNIT_ASSERT_TRUE(test, window_promised(&win));
		}
		memcpy(buf, good_ack, 24);
		mangle(&rnd, buf, 24);
		f = ack_frame(buf);
		if (!sanx_open_ack_parse(&f, &conn, &win)) {
			taken[2]++;
			KUNIT_ASSERT_NE(test, conn, 0);
			KUNIT_ASSERT_EQ(test, get_unaligned_le32(buf + 4), 0);
			KUNIT_ASSERT_TRUE(test, window_promised(&win));
		}
	}
	/* A fuzzer that only ever sees one answer tests nothing. */
	for (i = 0; i < ARRAY_SIZE(taken); i++) {
		KUNIT_EXPECT_GT(test, taken[i], 1000);
		KUNIT_EXPECT_LT(test, taken[i], 9900);
	}
}

static struct kunit_case open_cases_all[] = {
	KUNIT_CASE_PARAM(hello_field, hello_gen_params),
	KUNIT_CASE(hello_other_version),
	KUNIT_CASE(hello_size),
	KUNIT_CASE(hello_build),
	KUNIT_CASE_PARAM(window_field, window_gen_params),
	KUNIT_CASE(window_none),
	KUNIT_CASE(window_build),
	KUNIT_CASE_PARAM(open_field, open_gen_params),
	KUNIT_CASE_PARAM(ack_field, ack_gen_params),
	KUNIT_CASE_PARAM(resume_field, ack_gen_params),
	KUNIT_CASE(open_wrong_frame),
	KUNIT_CASE(open_round_trip),
	KUNIT_CASE(open_fuzz),
	{}
};

static struct kunit_suite open_suite = {
	.name = "sanx_open",
	.test_cases = open_cases_all,
};

kunit_test_suite(open_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: hello, open and open_ack");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
