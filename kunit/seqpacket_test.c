// SPDX-License-Identifier: GPL-2.0
/* Records in the stream of a connection (af_sanx/socket/seqpacket.h). */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>

#include "socket/seqpacket.h"

static void seqpacket_headers(struct kunit *test)
{
	static const struct {
		u32	len;
		u32	flags;
		bool	valid;
	} cases[] = {
		{ 0, 0, true },
		{ 1, SANX_RECORD_F_EOR, true },
		{ SANX_RECORD_MAX, SANX_RECORD_F_EOR, true },
		{ SANX_RECORD_MAX + 1, 0, false },
		{ U32_MAX, 0, false },
		{ 1, 2, false },
		{ 1, 3, false },
		{ 1, 1U << 31, false },
	};
	struct sanx_record f;
	u32 len, flags;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		sanx_record_fill(&f, cases[i].len, cases[i].flags);
		KUNIT_EXPECT_EQ(test, !sanx_record_parse(&f, &len, &flags), cases[i].valid);
		KUNIT_EXPECT_EQ(test, len, cases[i].len);
		KUNIT_EXPECT_EQ(test, flags, cases[i].flags);
	}
}

/* As in Documentation/protocol.rst. */
static void seqpacket_bytes(struct kunit *test)
{
	static const u8 bytes[] = { 0x44, 0x33, 0x02, 0x00, 0x01, 0x00, 0x00, 0x00 };
	struct sanx_record f;

	KUNIT_EXPECT_EQ(test, sizeof(f), sizeof(bytes));
	sanx_record_fill(&f, 0x23344, SANX_RECORD_F_EOR);
	KUNIT_EXPECT_MEMEQ(test, &f, bytes, sizeof(f));
}

#define MOST	4096

static void seqpacket_looks(struct kunit *test)
{
	static const struct {
		u32			len;
		u32			avail;
		enum sanx_record_state	state;
	} cases[] = {
		{ 0, 0, SANX_RECORD_NONE },
		{ 0, 7, SANX_RECORD_NONE },
		{ 0, 8, SANX_RECORD_WHOLE },
		{ 1, 8, SANX_RECORD_PART },
		{ 1, 9, SANX_RECORD_WHOLE },
		{ 1, 100, SANX_RECORD_WHOLE },
		{ 100, 107, SANX_RECORD_PART },
		{ 100, 108, SANX_RECORD_WHOLE },
		/* The record and its header have just that many bytes, and one more. */
		{ MOST - 8, MOST - 1, SANX_RECORD_PART },
		{ MOST - 8, MOST, SANX_RECORD_WHOLE },
		{ MOST - 7, MOST - 1, SANX_RECORD_PART },
		{ MOST - 7, MOST, SANX_RECORD_FULL },
		{ SANX_RECORD_MAX, MOST, SANX_RECORD_FULL },
		{ SANX_RECORD_MAX, MOST - 1, SANX_RECORD_PART },
		{ SANX_RECORD_MAX, SANX_RECORD_MAX + 8, SANX_RECORD_WHOLE },
		{ SANX_RECORD_MAX + 1, 8, SANX_RECORD_BROKEN },
		{ SANX_RECORD_MAX + 1, 7, SANX_RECORD_NONE },
		{ U32_MAX, U32_MAX, SANX_RECORD_BROKEN },
	};
	struct sanx_record f;
	u32 len, flags;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		sanx_record_fill(&f, cases[i].len, 0);
		KUNIT_EXPECT_EQ(test, sanx_record_look(&f, cases[i].avail, MOST, &len, &flags),
				cases[i].state);
	}
}

/* A sender always gets a ring of any size read, in whatever pieces its bytes come. */
static void seqpacket_never_stuck(struct kunit *test)
{
	static const u32 lens[] = { 0, 1, 7, 8, 9, 500, 4087, 4088, 4089, 9000, SANX_RECORD_MAX };
	u32 len, flags, ring, avail;
	enum sanx_record_state state;
	struct sanx_record f;
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		sanx_record_fill(&f, lens[i], 0);
		for (ring = 1024; ring <= 2 * SANX_RECORD_MAX; ring *= 2) {
			/* The most that comes before something is read. */
			avail = min(lens[i] + (u32)sizeof(f), ring / 2);
			state = sanx_record_look(&f, avail, ring / 2, &len, &flags);
			KUNIT_EXPECT_TRUE(test, sanx_record_readable(state));
		}
	}
}

static void seqpacket_readable(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, sanx_record_readable(SANX_RECORD_NONE));
	KUNIT_EXPECT_FALSE(test, sanx_record_readable(SANX_RECORD_PART));
	KUNIT_EXPECT_TRUE(test, sanx_record_readable(SANX_RECORD_FULL));
	KUNIT_EXPECT_TRUE(test, sanx_record_readable(SANX_RECORD_WHOLE));
	/* The error. */
	KUNIT_EXPECT_TRUE(test, sanx_record_readable(SANX_RECORD_BROKEN));
}

static struct kunit_case seqpacket_cases[] = {
	KUNIT_CASE(seqpacket_headers),
	KUNIT_CASE(seqpacket_bytes),
	KUNIT_CASE(seqpacket_looks),
	KUNIT_CASE(seqpacket_never_stuck),
	KUNIT_CASE(seqpacket_readable),
	{}
};

static struct kunit_suite seqpacket_suite = {
	.name = "sanx_seqpacket",
	.test_cases = seqpacket_cases,
};

kunit_test_suite(seqpacket_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of records of SOCK_SEQPACKET");
