// SPDX-License-Identifier: GPL-2.0
/*
 * Refusals (af_sanx/link/peer/cause.c): who asks reads what who is asked has said, also if that
 * is of another version, or makes no sense.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "link/peer/cause.h"

#define TIE	0x534e5854
#define LATER	0x534e584c
#define NEVER	0x534e584e

/* Each cause that is told: the word that goes with it, as the protocol says. */
static const u32 words[__SANX_CAUSES_TOLD] = {
	[SANX_CAUSE_TIE]	= TIE,
	[SANX_CAUSE_VERSION]	= NEVER,
	[SANX_CAUSE_MALFORMED]	= NEVER,
	[SANX_CAUSE_PROGRAM]	= NEVER,
	[SANX_CAUSE_FORGED]	= NEVER,
	[SANX_CAUSE_APART]	= NEVER,
	[SANX_CAUSE_UNMAPPED]	= NEVER,
	[SANX_CAUSE_OTHER_ID]	= NEVER,
	[SANX_CAUSE_NO_KEY]	= LATER,
	[SANX_CAUSE_OTHER_KEY]	= LATER,
	[SANX_CAUSE_TRANSLATED]	= LATER,
	[SANX_CAUSE_FABRIC]	= LATER,
	[SANX_CAUSE_RATE]	= LATER,
	[SANX_CAUSE_HALF_OPEN]	= LATER,
	[SANX_CAUSE_UNABLE]	= LATER,
	[SANX_CAUSE_QUOTA]	= NEVER,
	[SANX_CAUSE_RAIL]	= LATER,
	[SANX_CAUSE_STOPPED]	= NEVER,
	[SANX_CAUSE_CHANGING]	= LATER,
	[SANX_CAUSE_MUTE]	= NEVER,
};

/* The numbers of Documentation/protocol.rst. */
static_assert(SANX_CAUSE_VERSION == 2);
static_assert(SANX_CAUSE_OTHER_KEY == 10);
static_assert(SANX_CAUSE_MUTE == 20);

static enum sanx_refusal follows(u32 word)
{
	switch (word) {
	case TIE:
		return SANX_REFUSED_TIE;
	case LATER:
		return SANX_REFUSED_LATER;
	case NEVER:
		return SANX_REFUSED_NEVER;
	}
	return SANX_REFUSED_ABSENT;
}

/* What comes of a word and a cause. */
static void reads(struct kunit *test, u32 word, u32 said, size_t len,
		  enum sanx_cause wanted)
{
	__le32 data[3] = { cpu_to_le32(word), cpu_to_le32(said) };
	enum sanx_cause cause = SANX_CAUSE_NONE;

	KUNIT_EXPECT_EQ(test, sanx_refusal_parse(data, len, &cause), follows(word));
	KUNIT_EXPECT_EQ_MSG(test, cause, wanted, "word %x, cause %u, %zu bytes", word, said,
			    len);
}

static void cause_told(struct kunit *test)
{
	enum sanx_cause why, cause;
	__le32 said[SANX_WIRE_REFUSAL / sizeof(__le32)];

	for (why = SANX_CAUSE_TIE; why < __SANX_CAUSES_TOLD; why++) {
		sanx_wire_refusal(said, why);
		KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(said[0]), words[why], "cause %u", why);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(said[1]), why);
		KUNIT_EXPECT_EQ(test, sanx_refusal_parse(said, sizeof(said), &cause),
				follows(words[why]));
		KUNIT_EXPECT_EQ(test, cause, why);
	}
}

/* Of another version, or of nobody who knows the protocol. */
static void cause_odd(struct kunit *test)
{
	static const u32 all[] = { TIE, LATER, NEVER };
	enum sanx_cause cause = SANX_CAUSE_NONE;
	unsigned int i;
	u32 said;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		reads(test, all[i], 0, 4, SANX_CAUSE_REFUSED);
		reads(test, all[i], 0, 12, SANX_CAUSE_REFUSED);
		reads(test, all[i], SANX_CAUSE_VERSION, 7,
		      all[i] == NEVER ? SANX_CAUSE_VERSION : SANX_CAUSE_REFUSED);
		reads(test, all[i], __SANX_CAUSES_TOLD, 8, SANX_CAUSE_REFUSED);
		reads(test, all[i], U32_MAX, 8, SANX_CAUSE_REFUSED);
		for (said = SANX_CAUSE_TIE; said < __SANX_CAUSES_TOLD; said++)
			reads(test, all[i], said, 12,
			      all[i] == words[said] ? said : SANX_CAUSE_REFUSED);
	}
	reads(test, 0, SANX_CAUSE_VERSION, 8, SANX_CAUSE_ABSENT);
	reads(test, NEVER + 1, SANX_CAUSE_VERSION, 8, SANX_CAUSE_ABSENT);
	KUNIT_EXPECT_EQ(test, sanx_refusal_parse(NULL, 0, &cause), SANX_REFUSED_ABSENT);
	KUNIT_EXPECT_EQ(test, cause, SANX_CAUSE_ABSENT);
	cause = SANX_CAUSE_NONE;
	KUNIT_EXPECT_EQ(test, sanx_refusal_parse(&all, 3, &cause), SANX_REFUSED_ABSENT);
	KUNIT_EXPECT_EQ(test, cause, SANX_CAUSE_ABSENT);
}

/* Each has a name of its own, and words for the log. */
static void cause_words(struct kunit *test)
{
	enum sanx_cause a, b;

	KUNIT_EXPECT_NULL(test, sanx_cause_name(SANX_CAUSE_NONE));
	KUNIT_EXPECT_NULL(test, sanx_cause_name(SANX_CAUSE_UP));
	for (a = SANX_CAUSE_TIE; a < SANX_CAUSE_UP; a++) {
		KUNIT_ASSERT_NOT_NULL(test, sanx_cause_name(a));
		if (a != SANX_CAUSE_TIE)
			KUNIT_EXPECT_NOT_NULL(test, sanx_cause_asks(a));
		for (b = SANX_CAUSE_TIE; b < a; b++)
			KUNIT_EXPECT_NE(test, strcmp(sanx_cause_name(a), sanx_cause_name(b)), 0);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(cause_told),
	KUNIT_CASE(cause_odd),
	KUNIT_CASE(cause_words),
	{}
};

static struct kunit_suite suite = {
	.name		= "sanx_cause",
	.test_cases	= cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: why there is no link");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
