// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes that are found by asking (af_sanx/config/auto.c), all that is pure of it: which
 * addresses are asked, how long a no holds, what may become an entry, and what a new
 * map keeps.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/in6.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "config/config.h"

#define SELF	0x80000001U
#define SEC	NSEC_PER_SEC

static struct in6_addr v4(u8 a, u8 b, u8 c, u8 d)
{
	struct in6_addr addr;

	ipv6_addr_set_v4mapped(htonl(a << 24 | b << 16 | c << 8 | d), &addr);
	return addr;
}

static struct in6_addr v6(u16 first, u16 last)
{
	return (struct in6_addr) {
		.s6_addr16 = { [0] = htons(first), [7] = htons(last) },
	};
}

/* Nodes of 10.5.0.0/16 and fd05::/16 are found. */
static struct sanx_nodemap *make(struct kunit *test, unsigned int room)
{
	struct sanx_nodemap *map = sanx_nodemap_alloc(room);

	KUNIT_ASSERT_NOT_NULL(test, map);
	map->n = 0;
	map->autos.self = SELF;
	map->autos.n = 2;
	map->autos.prefix[0] = (struct sanx_prefix) { v4(10, 5, 0, 0), 112 };
	map->autos.prefix[1] = (struct sanx_prefix) { v6(0xfd05, 0), 16 };
	return map;
}

/* Entries are added in the order of addresses. */
static void put(struct sanx_nodemap *map, struct in6_addr addr, u32 id, u64 found)
{
	struct sanx_nodemap_entry *e = &map->entry[map->n++];

	sanx_auto_entry(e, &addr, id);
	e->node.found = found;
}

static void auto_covers(struct kunit *test)
{
	static const struct sanx_auto none;
	struct sanx_nodemap *map = make(test, 0);
	struct in6_addr in[] = { v4(10, 5, 0, 0), v4(10, 5, 255, 255), v6(0xfd05, 1) };
	struct in6_addr out[] = {
		v4(10, 4, 255, 255), v4(10, 6, 0, 0), v6(0xfd06, 1), v6(0, 1),
		in6addr_any,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(in); i++) {
		KUNIT_EXPECT_TRUE_MSG(test, sanx_auto_has(&map->autos, &in[i]),
				      "%pI6c", &in[i]);
		KUNIT_EXPECT_FALSE(test, sanx_auto_has(&none, &in[i]));
	}
	for (i = 0; i < ARRAY_SIZE(out); i++)
		KUNIT_EXPECT_FALSE_MSG(test, sanx_auto_has(&map->autos, &out[i]),
				       "%pI6c", &out[i]);
	/* No prefix makes an address one that travels. */
	map->autos.prefix[0] = (struct sanx_prefix) { v4(127, 0, 0, 0), 104 };
	map->autos.prefix[1] = (struct sanx_prefix) { v6(0xfe80, 0), 10 };
	in[0] = v4(127, 0, 0, 1);
	in[1] = v6(0xfe80, 1);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, sanx_prefix_has(&map->autos.prefix[i],
							&in[i]));
		KUNIT_EXPECT_FALSE(test, sanx_auto_has(&map->autos, &in[i]));
	}
	kvfree(map);
}

static struct sanx_nos *make_nos(struct kunit *test)
{
	struct sanx_nos *nos = kunit_kzalloc(test, sizeof(*nos), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, nos);
	spin_lock_init(&nos->lock);
	return nos;
}

static void auto_no_doubles(struct kunit *test)
{
	static const u16 secs[] = { 10, 20, 40, 80, 160, 320, 600, 600, 600 };
	struct sanx_nos *nos = make_nos(test);
	struct in6_addr a = v4(10, 5, 0, 1), b = v4(10, 5, 0, 2);
	u64 now = 5 * SEC;
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, sanx_no_holds(nos, &a, now, 1));
	for (i = 0; i < ARRAY_SIZE(secs); i++) {
		sanx_no_add(nos, &a, now, 1, 0);
		KUNIT_EXPECT_TRUE(test, sanx_no_holds(nos, &a, now, 1));
		KUNIT_EXPECT_FALSE(test, sanx_no_holds(nos, &b, now, 1));
		now += secs[i] * SEC;
		KUNIT_EXPECT_TRUE_MSG(test, sanx_no_holds(nos, &a, now - 1, 1),
				      "no %u", i);
		KUNIT_EXPECT_FALSE_MSG(test, sanx_no_holds(nos, &a, now, 1),
				       "no %u", i);
	}
}

static void auto_no_forgotten(struct kunit *test)
{
	struct sanx_nos *nos = make_nos(test);
	struct in6_addr a = v4(10, 5, 0, 1);

	sanx_no_add(nos, &a, 0, 1, 0);
	sanx_no_del(nos, &a);
	KUNIT_EXPECT_FALSE(test, sanx_no_holds(nos, &a, 0, 1));
	sanx_no_add(nos, &a, 0, 1, 0);
	sanx_no_add(nos, &a, 0, 1, 0);
	KUNIT_EXPECT_TRUE(test, sanx_no_holds(nos, &a, 19 * SEC, 1));
	KUNIT_EXPECT_FALSE(test, sanx_no_holds(nos, &a, 0, 2));
	/* It is gone, and not only passed over; it begins anew. */
	KUNIT_EXPECT_FALSE(test, sanx_no_holds(nos, &a, 0, 1));
	sanx_no_add(nos, &a, 0, 2, 0);
	KUNIT_EXPECT_FALSE(test, sanx_no_holds(nos, &a, 10 * SEC, 2));
}

/* An answer to a question from before all were forgotten does not count. */
static void auto_no_late(struct kunit *test)
{
	struct sanx_nos *nos = make_nos(test);
	struct in6_addr a = v4(10, 5, 0, 1), b = v4(10, 5, 0, 2);
	u32 before = nos->round;

	sanx_no_add(nos, &a, 0, 1, before);
	KUNIT_EXPECT_TRUE(test, sanx_no_holds(nos, &a, 0, 1));
	sanx_no_del_all(nos);
	KUNIT_EXPECT_FALSE(test, sanx_no_holds(nos, &a, 0, 1));
	sanx_no_add(nos, &a, 0, 1, before);
	sanx_no_add(nos, &b, 0, 1, nos->round);
	KUNIT_EXPECT_FALSE(test, sanx_no_holds(nos, &a, 0, 1));
	KUNIT_EXPECT_TRUE(test, sanx_no_holds(nos, &b, 0, 1));
}

static void auto_no_bounded(struct kunit *test)
{
	struct sanx_nos *nos = make_nos(test);
	struct in6_addr a;
	unsigned int i;

	for (i = 0; i < SANX_NOS + 2; i++) {
		a = v4(10, 5, i >> 8, i);
		sanx_no_add(nos, &a, i * SEC / 100, 1, 0);
	}
	/* The two that end first have made room. */
	for (i = 0; i < SANX_NOS + 2; i++) {
		a = v4(10, 5, i >> 8, i);
		KUNIT_EXPECT_EQ_MSG(test, sanx_no_holds(nos, &a, 3 * SEC, 1),
				    i >= 2, "no %u", i);
	}
}

static void auto_fault(struct kunit *test)
{
	struct in6_addr a = v4(10, 5, 0, 1), rail = v4(10, 6, 0, 1);
	struct sanx_nodemap *map = make(test, SANX_FOUND_MAX + 2);
	struct sanx_nodemap_entry e;
	unsigned int i;

	put(map, v4(10, 0, 0, 7), 7, 0);
	put(map, v4(10, 5, 0, 9), SELF + 9, 1);
	sanx_nodemap_index(map);
	sanx_auto_entry(&e, &a, SELF + 1);
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), 0);
	e.node.rail[1] = rail;
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), -ENOENT);
	sanx_auto_entry(&e, &rail, SELF + 1);
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), -ENOENT);
	sanx_auto_entry(&e, &a, SELF);
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), -EEXIST);
	sanx_auto_entry(&e, &a, 7);
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), -EEXIST);
	sanx_auto_entry(&e, &a, SELF + 9);
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), -EEXIST);
	sanx_auto_entry(&e, &map->entry[1].addr, SELF + 9);
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), -EALREADY);
	sanx_auto_entry(&e, &map->entry[1].addr, SELF + 1);
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), -EEXIST);
	for (i = 1; i < SANX_FOUND_MAX; i++)
		put(map, v4(10, 5, 1 + (i >> 8), i), SELF + 100 + i, 1);
	sanx_nodemap_index(map);
	sanx_auto_entry(&e, &a, SELF + 1);
	KUNIT_EXPECT_EQ(test, sanx_nodemap_fault(map, &e), -ENOSPC);
	kvfree(map);
}

/* What a map keeps of another: @want has the last bytes of the addresses. */
static void expect_kept(struct kunit *test, const struct sanx_nodemap *old,
			const struct sanx_nodemap *map, bool self_written,
			const char *want)
{
	struct sanx_nodemap *sum = sanx_nodemap_carry(old, map, self_written);
	char got[64] = "";
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, sum);
	for (i = 0; i < sum->n; i++)
		sprintf(got + strlen(got), "%u%s ", sum->entry[i].addr.s6_addr[15],
			sum->entry[i].node.found ? "" : "!");
	KUNIT_EXPECT_STREQ(test, got, want);
	KUNIT_EXPECT_MEMEQ(test, &sum->autos, &map->autos, sizeof(sum->autos));
	kvfree(sum);
}

static void auto_carry(struct kunit *test)
{
	struct sanx_nodemap *old = make(test, 5), *map = make(test, 2);

	put(old, v4(10, 5, 0, 1), SELF, 1);
	put(old, v4(10, 5, 0, 2), SELF + 2, 1);
	put(old, v4(10, 5, 0, 3), 3, 0);
	put(old, v4(10, 5, 0, 4), SELF + 4, 1);
	old->entry[3].node.rail[0] = v4(10, 5, 1, 4);
	expect_kept(test, NULL, map, false, "");
	expect_kept(test, old, map, false, "1 2 4 ");
	expect_kept(test, old, map, true, "2 4 ");
	map->autos.self++;
	expect_kept(test, old, map, false, "2 4 ");
	map->autos.self--;
	put(map, v4(10, 5, 0, 2), 2, 0);
	expect_kept(test, old, map, false, "1 2! 4 ");
	map->n = 0;
	put(map, v4(10, 5, 0, 9), SELF + 2, 0);
	expect_kept(test, old, map, false, "1 4 9! ");
	map->n = 0;
	map->autos.prefix[0] = (struct sanx_prefix) { v4(10, 5, 0, 0), 120 };
	expect_kept(test, old, map, false, "1 2 ");
	map->autos.prefix[0] = (struct sanx_prefix) { v4(10, 5, 0, 2), 127 };
	expect_kept(test, old, map, false, "2 ");
	map->autos = (struct sanx_auto) {};
	expect_kept(test, old, map, false, "");
	kvfree(old);
	kvfree(map);
}

/* A change of single hosts leaves prefixes, and what was found. */
static void auto_edited(struct kunit *test)
{
	struct sanx_nodemap *map = make(test, 2), *more = sanx_nodemap_alloc(1), *sum;
	unsigned int missing;

	KUNIT_ASSERT_NOT_NULL(test, more);
	put(map, v4(10, 5, 0, 1), SELF + 1, 1);
	more->n = 0;
	put(more, v4(10, 5, 0, 2), 2, 0);
	sum = sanx_nodemap_merge(map, more);
	KUNIT_ASSERT_NOT_NULL(test, sum);
	KUNIT_EXPECT_EQ(test, sum->n, 2);
	KUNIT_EXPECT_MEMEQ(test, &sum->autos, &map->autos, sizeof(map->autos));
	KUNIT_EXPECT_EQ(test, sum->entry[0].node.found, 1);
	kvfree(map);
	map = sanx_nodemap_without(sum, more, &missing);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, map);
	KUNIT_EXPECT_EQ(test, map->n, 1);
	KUNIT_EXPECT_MEMEQ(test, &sum->autos, &map->autos, sizeof(map->autos));
	kvfree(map);
	kvfree(sum);
	kvfree(more);
}

/* What is written of a node speaks for it, wherever it is found as well. */
static void auto_written_first(struct kunit *test)
{
	struct sanx_nodemap *map = make(test, 3);
	const struct sanx_nodemap_entry *e;

	put(map, v4(10, 5, 0, 1), 7, 1);
	put(map, v4(10, 5, 0, 2), 7, 0);
	put(map, v4(10, 5, 0, 3), 7, 2);
	sanx_nodemap_index(map);
	e = sanx_nodemap_find_id(map, 7);
	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_EXPECT_EQ(test, e->node.found, 0);
	kvfree(map);
}

static struct kunit_case auto_cases[] = {
	KUNIT_CASE(auto_covers),
	KUNIT_CASE(auto_no_doubles),
	KUNIT_CASE(auto_no_forgotten),
	KUNIT_CASE(auto_no_late),
	KUNIT_CASE(auto_no_bounded),
	KUNIT_CASE(auto_fault),
	KUNIT_CASE(auto_carry),
	KUNIT_CASE(auto_edited),
	KUNIT_CASE(auto_written_first),
	{}
};

static struct kunit_suite auto_suite = {
	.name = "sanx_auto",
	.test_cases = auto_cases,
};

kunit_test_suite(auto_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: nodes that are found by asking");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
