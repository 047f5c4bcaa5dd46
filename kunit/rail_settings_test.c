// SPDX-License-Identifier: GPL-2.0
/* What the administrator says about rails (af_sanx/config/rails.c). */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "config/config.h"

static struct in6_addr addr_of(u32 n)
{
	struct in6_addr addr;

	ipv6_addr_set_v4mapped(htonl(0x0a000000 + n), &addr);
	return addr;
}

/* Changes the setting of an address, and frees the settings before. */
static struct sanx_rail_settings *with(struct sanx_rail_settings *old, u32 n,
				       u8 kind, u8 admin, u8 weight)
{
	struct sanx_rail_setting s = {
		.addr = addr_of(n), .kind = kind, .admin = admin, .weight = weight,
	};
	struct sanx_rail_settings *new = sanx_rail_settings_with(old, &s);

	kfree(old);
	return new;
}

static void expect(struct kunit *test, const struct sanx_rail_settings *settings,
		   u32 n, u8 kind, u8 admin, u8 weight)
{
	struct in6_addr addr = addr_of(n);
	struct sanx_rail_setting s = sanx_rail_settings_find(settings, kind, &addr);

	KUNIT_EXPECT_EQ(test, s.admin, admin);
	KUNIT_EXPECT_EQ(test, s.weight, weight);
	KUNIT_EXPECT_EQ(test, s.kind, kind);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&s.addr, &addr));
}

static void settings_change(struct kunit *test)
{
	struct sanx_rail_settings *s = NULL;

	expect(test, s, 1, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_UP, 1);
	s = with(s, 1, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_DOWN, 1);
	s = with(s, 1, SANX_WIRE_TCP, SANX_RAIL_ADMIN_DRAIN, 0);
	s = with(s, 2, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_UP, 255);
	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_EQ(test, s->n, 3);
	expect(test, s, 1, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_DOWN, 1);
	expect(test, s, 1, SANX_WIRE_TCP, SANX_RAIL_ADMIN_DRAIN, 0);
	expect(test, s, 2, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_UP, 255);
	expect(test, s, 2, SANX_WIRE_TCP, SANX_RAIL_ADMIN_UP, 1);
	/* Said again, it replaces what was said. */
	s = with(s, 1, SANX_WIRE_TCP, SANX_RAIL_ADMIN_DOWN, 7);
	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_EQ(test, s->n, 3);
	expect(test, s, 1, SANX_WIRE_TCP, SANX_RAIL_ADMIN_DOWN, 7);
	/* The default needs no room. */
	s = with(s, 1, SANX_WIRE_TCP, SANX_RAIL_ADMIN_UP, 1);
	s = with(s, 1, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_UP, 1);
	s = with(s, 2, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_UP, 1);
	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_EQ(test, s->n, 0);
	kfree(s);
}

static void settings_limit(struct kunit *test)
{
	struct sanx_rail_setting one_more = {
		.addr	= addr_of(SANX_RAIL_SETTINGS_MAX),
		.admin	= SANX_RAIL_ADMIN_DOWN,
		.weight	= 1,
	};
	struct sanx_rail_settings *s = NULL;
	u32 i;

	for (i = 0; i < SANX_RAIL_SETTINGS_MAX; i++) {
		s = with(s, i, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_DOWN, 1);
		KUNIT_ASSERT_NOT_NULL(test, s);
	}
	KUNIT_EXPECT_NULL(test, sanx_rail_settings_with(s, &one_more));
	/* One of them can be changed. */
	s = with(s, 5, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_DRAIN, 1);
	KUNIT_ASSERT_NOT_NULL(test, s);
	expect(test, s, 5, SANX_WIRE_RDMA, SANX_RAIL_ADMIN_DRAIN, 1);
	kfree(s);
}

static struct kunit_case rail_settings_cases[] = {
	KUNIT_CASE(settings_change),
	KUNIT_CASE(settings_limit),
	{}
};

static struct kunit_suite rail_settings_suite = {
	.name		= "sanx_rail_settings",
	.test_cases	= rail_settings_cases,
};

kunit_test_suite(rail_settings_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: settings of rails");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
