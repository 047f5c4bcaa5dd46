// SPDX-License-Identifier: GPL-2.0
/*
 * When a message may be posted where a registration must go alone
 * (af_sanx/verbs/order.h).
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "verbs/order.h"

/* Without registrations nothing waits, and nothing is asked of the device. */
static void others_pass(struct kunit *test)
{
	struct verbs_order o = {};
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_TRUE(test, verbs_order_may(&o, false));
		verbs_order_posted(&o, i == 2);
	}
	KUNIT_EXPECT_FALSE(test, verbs_order_done(&o, 3));
	KUNIT_EXPECT_TRUE(test, verbs_order_may(&o, false));
}

/* The first message on a queue pair, and one that finds all complete. */
static void alone_passes(struct kunit *test)
{
	struct verbs_order o = {};

	KUNIT_EXPECT_TRUE(test, verbs_order_may(&o, true));
	verbs_order_posted(&o, true);
	KUNIT_EXPECT_FALSE(test, verbs_order_may(&o, true));
	KUNIT_EXPECT_FALSE(test, verbs_order_done(&o, 1));
	KUNIT_EXPECT_TRUE(test, verbs_order_may(&o, true));
}

/* A registration behind work waits for the last of it, and no more of it. */
static void waits_for_last(struct kunit *test)
{
	struct verbs_order o = {};

	verbs_order_posted(&o, true);
	verbs_order_posted(&o, true);
	KUNIT_EXPECT_FALSE(test, verbs_order_may(&o, true));
	/* The last message says when it is complete. */
	KUNIT_EXPECT_FALSE(test, verbs_order_wait(&o));
	KUNIT_EXPECT_FALSE(test, verbs_order_done(&o, 1));
	KUNIT_EXPECT_TRUE(test, verbs_order_done(&o, 2));
}

/* What comes behind one that waits keeps its place, with a registration or without. */
static void others_wait_behind(struct kunit *test)
{
	struct verbs_order o = {};

	verbs_order_posted(&o, true);
	verbs_order_wait(&o);
	KUNIT_EXPECT_FALSE(test, verbs_order_may(&o, false));
	KUNIT_EXPECT_FALSE(test, verbs_order_wait(&o));
	KUNIT_EXPECT_FALSE(test, verbs_order_may(&o, true));
	KUNIT_EXPECT_FALSE(test, verbs_order_wait(&o));
	KUNIT_EXPECT_EQ(test, o.waiting, 3);
	KUNIT_EXPECT_TRUE(test, verbs_order_done(&o, 1));
}

/* Work that requests no completion is fenced, once, whoever is the first to wait. */
static void fence_once(struct kunit *test)
{
	struct verbs_order o = {};

	verbs_order_posted(&o, true);
	verbs_order_posted(&o, false);
	KUNIT_EXPECT_TRUE(test, verbs_order_wait(&o));
	KUNIT_EXPECT_FALSE(test, verbs_order_wait(&o));
	/* The completion of the first message, and then that of the fence. */
	KUNIT_EXPECT_FALSE(test, verbs_order_done(&o, 1));
	KUNIT_EXPECT_TRUE(test, verbs_order_done(&o, o.asked));
	KUNIT_EXPECT_EQ(test, o.asked, 2);
}

/* What waited is posted, and the next registration waits for that. */
static void waits_again(struct kunit *test)
{
	struct verbs_order o = {};

	verbs_order_posted(&o, false);
	KUNIT_EXPECT_TRUE(test, verbs_order_wait(&o));
	KUNIT_EXPECT_TRUE(test, verbs_order_done(&o, o.asked));
	o.waiting = 0;
	verbs_order_posted(&o, false);
	KUNIT_EXPECT_FALSE(test, verbs_order_may(&o, true));
	KUNIT_EXPECT_TRUE(test, verbs_order_may(&o, false));
	KUNIT_EXPECT_TRUE(test, verbs_order_wait(&o));
	KUNIT_EXPECT_TRUE(test, verbs_order_done(&o, o.asked));
}

/* The counts begin anew behind 2^32. */
static void counts_wrap(struct kunit *test)
{
	struct verbs_order o = { .posted = U32_MAX, .asked = U32_MAX, .done = U32_MAX };

	KUNIT_EXPECT_TRUE(test, verbs_order_may(&o, true));
	verbs_order_posted(&o, false);
	KUNIT_EXPECT_FALSE(test, verbs_order_may(&o, true));
	KUNIT_EXPECT_TRUE(test, verbs_order_wait(&o));
	KUNIT_EXPECT_TRUE(test, verbs_order_done(&o, 0));
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE(others_pass),
	KUNIT_CASE(alone_passes),
	KUNIT_CASE(waits_for_last),
	KUNIT_CASE(others_wait_behind),
	KUNIT_CASE(fence_once),
	KUNIT_CASE(waits_again),
	KUNIT_CASE(counts_wrap),
	{}
};

static struct kunit_suite order_suite = {
	.name		= "sanx_order",
	.test_cases	= order_cases,
};

kunit_test_suite(order_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: registrations that go alone");
MODULE_LICENSE("GPL");
