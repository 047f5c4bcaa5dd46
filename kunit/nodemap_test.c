// SPDX-License-Identifier: GPL-2.0
/*
 * The node map (af_sanx/config/nodemap.c), all that is pure of it: what is refused,
 * sorting and looking up, and maps made from maps.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/in6.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "config/config.h"

#define HOSTS_MAX	4

/* One host of a table: 10.0.0.@host, node @id; no host for @id 0. */
struct host {
	u8	host;
	u32	id;
};

static void free_map(void *map)
{
	kvfree(map);
}

/* Takes over what the unit allocated; a test that stops early leaks nothing. */
static struct sanx_nodemap *ours(struct kunit *test, struct sanx_nodemap *map)
{
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, map);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_map, map),
			0);
	return map;
}

static struct in6_addr v4(u32 addr)
{
	struct in6_addr a;

	ipv6_addr_set_v4mapped(htonl(addr), &a);
	return a;
}

static struct in6_addr host_addr(u32 host)
{
	return v4(0x0a000000 + host);
}

static struct sanx_nodemap *fill(struct kunit *test, const struct host *h,
				 unsigned int n)
{
	struct sanx_nodemap *map = ours(test, sanx_nodemap_alloc(n));
	unsigned int i;

	KUNIT_ASSERT_EQ(test, map->n, n);
	for (i = 0; i < n; i++) {
		map->entry[i].addr = host_addr(h[i].host);
		map->entry[i].node.id = h[i].id;
	}
	return map;
}

static void finish(struct kunit *test, struct sanx_nodemap *map)
{
	const char *why = NULL;
	unsigned int bad = 0;

	KUNIT_ASSERT_EQ_MSG(test, sanx_nodemap_finish(map, &bad, &why), 0,
			    "entry %u: %s", bad, why);
}

static struct sanx_nodemap *make(struct kunit *test, const struct host *h,
				 unsigned int n)
{
	struct sanx_nodemap *map = fill(test, h, n);

	finish(test, map);
	return map;
}

#define MAKE(test_, ...) ({					\
	static const struct host hosts_[] = { __VA_ARGS__ };	\
	make(test_, hosts_, ARRAY_SIZE(hosts_));		\
})

/* Sorted by address, each address once, each host with a rail. */
static void expect_finished(struct kunit *test, const struct sanx_nodemap *map)
{
	unsigned int i;

	for (i = 0; i < map->n; i++) {
		const struct sanx_node_info *node = &map->entry[i].node;

		if (i)
			KUNIT_ASSERT_LT_MSG(test,
					    memcmp(&map->entry[i - 1].addr,
						   &map->entry[i].addr,
						   sizeof(struct in6_addr)),
					    0, "entry %u", i);
		KUNIT_ASSERT_GE_MSG(test, node->n_rails, 1, "entry %u", i);
		KUNIT_ASSERT_LE_MSG(test, node->n_rails, SANX_NODE_RAILS,
				    "entry %u", i);
	}
}

/* @h in the order of addresses */
static void expect_hosts(struct kunit *test, const struct sanx_nodemap *map,
			 const struct host *h, unsigned int n)
{
	unsigned int i;

	expect_finished(test, map);
	KUNIT_ASSERT_EQ(test, map->n, n);
	for (i = 0; i < n; i++) {
		const struct sanx_nodemap_entry *e = &map->entry[i];
		struct in6_addr addr = host_addr(h[i].host);

		KUNIT_EXPECT_MEMEQ(test, &e->addr, &addr, sizeof(addr));
		KUNIT_EXPECT_EQ_MSG(test, e->node.id, h[i].id, "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, e->node.n_rails, 1, "entry %u", i);
		KUNIT_EXPECT_MEMEQ(test, &e->node.rail[0], &addr,
				   sizeof(addr));
	}
}

#define EXPECT_HOSTS(test_, map_, ...) do {			\
	static const struct host hosts_[] = { __VA_ARGS__ };	\
	expect_hosts(test_, map_, hosts_, ARRAY_SIZE(hosts_));	\
} while (0)

static u32 find_id(const struct sanx_nodemap *map, u32 host)
{
	struct in6_addr addr = host_addr(host);
	const struct sanx_nodemap_entry *e = sanx_nodemap_find(map, &addr);

	return e ? e->node.id : 0;
}

struct addr_case {
	const char *desc;
	struct in6_addr addr;
	int want;
	const char *word;
};

#define IN6(...)	{ .s6_addr = { __VA_ARGS__ } }
#define MAPPED(...)	{ .s6_addr = { [10] = 0xff, 0xff, __VA_ARGS__ } }

/* @word is in the text that the person gets to read. */
static const struct addr_case addr_cases[] = {
	{ "2001:db8::1", IN6(0x20, 0x01, 0x0d, 0xb8, [15] = 1), 0 },
	{ "fd00::1, unique local", IN6(0xfd, [15] = 1), 0 },
	{ "10.0.0.1", MAPPED(10, 0, 0, 1), 0 },
	/* Linux has it for an address as good as any since 5.3. */
	{ "0.0.0.1", MAPPED(0, 0, 0, 1), 0 },
	{ "1.0.0.0", MAPPED(1, 0, 0, 0), 0 },
	{ "126.255.255.255", MAPPED(126, 255, 255, 255), 0 },
	{ "128.0.0.1", MAPPED(128, 0, 0, 1), 0 },
	{ "223.255.255.255", MAPPED(223, 255, 255, 255), 0 },
	/* Looks like a loopback or multicast IPv4 address and is none. */
	{ "2001:db8::7f00:1", IN6(0x20, 0x01, 0x0d, 0xb8, [12] = 127, 0, 0, 1),
	  0 },
	{ "2001:db8::e000:1", IN6(0x20, 0x01, 0x0d, 0xb8, [12] = 224, 0, 0, 1),
	  0 },
	{ "100:0:0:1::1", IN6(1, [7] = 1, [15] = 1), 0 },
	{ "101::1", IN6(1, 1, [15] = 1), 0 },
	{ "100::", IN6(1), -EINVAL, "explicit" },
	{ "100::ffff:0:0:1", IN6(1, [8] = 0xff, 0xff, [15] = 1), -EINVAL, "explicit" },
	{ "::", IN6(0), -EINVAL, "unspecified" },
	{ "::1", IN6([15] = 1), -EINVAL, "loopback" },
	{ "ff02::1", IN6(0xff, 0x02, [15] = 1), -EINVAL, "multicast" },
	{ "ff01::1", IN6(0xff, 0x01, [15] = 1), -EINVAL, "multicast" },
	{ "ff0e::1", IN6(0xff, 0x0e, [15] = 1), -EINVAL, "multicast" },
	{ "fe80::1", IN6(0xfe, 0x80, [15] = 1), -EINVAL, "link-local" },
	{ "febf::1", IN6(0xfe, 0xbf, [15] = 1), -EINVAL, "link-local" },
	{ "0.0.0.0", MAPPED(0, 0, 0, 0), -EINVAL, "unspecified" },
	{ "127.0.0.1", MAPPED(127, 0, 0, 1), -EINVAL, "loopback" },
	{ "127.255.255.255", MAPPED(127, 255, 255, 255), -EINVAL, "loopback" },
	{ "224.0.0.1", MAPPED(224, 0, 0, 1), -EINVAL, "multicast" },
	{ "239.255.255.255", MAPPED(239, 255, 255, 255), -EINVAL,
	  "multicast" },
	{ "255.255.255.255", MAPPED(255, 255, 255, 255), -EINVAL,
	  "multicast" },
};

KUNIT_ARRAY_PARAM_DESC(addr, addr_cases, desc);

static void expect_verdict(struct kunit *test, struct sanx_nodemap *map,
			   const struct addr_case *c, unsigned int at)
{
	const char *why = NULL;
	unsigned int bad = 99;

	KUNIT_ASSERT_EQ(test, sanx_nodemap_finish(map, &bad, &why), c->want);
	if (!c->want)
		return;
	KUNIT_EXPECT_EQ(test, bad, at);
	KUNIT_ASSERT_NOT_NULL(test, why);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(why, c->word), "%s", why);
}

/* The end of an explicit socket, as it is sent (protocol.rst). */
static void endpoint_explicit(struct kunit *test)
{
	static const struct in6_addr wire = IN6(1, [8] = 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32,
						0x10);
	static const struct in6_addr not[] = {
		IN6(0), IN6([15] = 1), MAPPED(1, 0, 0, 0), IN6(1, 1), IN6(1, [7] = 1),
		IN6(2), IN6(0xfd, [15] = 1),
	};
	struct sanx_endpoint ep;
	unsigned int i;

	sanx_endpoint_explicit(&ep, SOCK_STREAM, 0x76543210, 0xfedcba98);
	KUNIT_EXPECT_MEMEQ(test, &ep.addr, &wire, sizeof(wire));
	KUNIT_EXPECT_EQ(test, ntohs(ep.port), SOCK_STREAM);
	KUNIT_EXPECT_TRUE(test, sanx_addr_explicit(&ep.addr));
	KUNIT_EXPECT_EQ(test, sanx_addr_node(&ep.addr), 0x76543210);
	KUNIT_EXPECT_EQ(test, sanx_addr_port(&ep.addr), 0xfedcba98);
	sanx_endpoint_explicit(&ep, SOCK_STREAM, 0, 0);
	KUNIT_EXPECT_TRUE(test, sanx_addr_explicit(&ep.addr));
	for (i = 0; i < ARRAY_SIZE(not); i++)
		KUNIT_EXPECT_FALSE(test, sanx_addr_explicit(&not[i]));
}

/* Half-open connections of one host do not take each other's places. */
static void endpoint_same_host(struct kunit *test)
{
	static const struct in6_addr v6 = IN6(0xfd, [15] = 1), v4 = MAPPED(10, 0, 0, 1);
	struct sanx_endpoint a, b;

	sanx_endpoint_explicit(&a, SOCK_STREAM, 3, 70000);
	sanx_endpoint_explicit(&b, SOCK_STREAM, 3, 70001);
	KUNIT_EXPECT_TRUE(test, sanx_addr_same_host(&a.addr, &b.addr));
	sanx_endpoint_explicit(&b, SOCK_STREAM, 4, 70000);
	KUNIT_EXPECT_FALSE(test, sanx_addr_same_host(&a.addr, &b.addr));
	KUNIT_EXPECT_FALSE(test, sanx_addr_same_host(&a.addr, &v6));
	KUNIT_EXPECT_FALSE(test, sanx_addr_same_host(&v4, &b.addr));
	KUNIT_EXPECT_TRUE(test, sanx_addr_same_host(&v4, &v4));
	KUNIT_EXPECT_FALSE(test, sanx_addr_same_host(&v4, &v6));
}

static void nodemap_host_addr(struct kunit *test)
{
	static const struct host hosts[] = { { 3, 1 }, { 2, 2 }, { 3, 1 } };
	const struct addr_case *c = test->param_value;
	struct sanx_nodemap *map;
	unsigned int at;

	for (at = 0; at < 3; at++) {
		map = fill(test, hosts, ARRAY_SIZE(hosts));
		map->entry[at].addr = c->addr;
		expect_verdict(test, map, c, at);
	}
}

static void nodemap_rail_addr(struct kunit *test)
{
	static const struct host hosts[] = { { 1, 1 }, { 2, 2 } };
	const struct addr_case *c = test->param_value;
	struct sanx_nodemap *map;
	unsigned int rail, i;

	for (rail = 0; rail < SANX_NODE_RAILS; rail++) {
		map = fill(test, hosts, ARRAY_SIZE(hosts));
		map->entry[1].node.n_rails = SANX_NODE_RAILS;
		for (i = 0; i < SANX_NODE_RAILS; i++)
			map->entry[1].node.rail[i] = host_addr(100 + i);
		map->entry[1].node.rail[rail] = c->addr;
		expect_verdict(test, map, c, 1);
	}
}

/* Only as many rails count as the entry says it has. */
static void nodemap_rails_kept(struct kunit *test)
{
	static const struct host hosts[] = { { 2, 7 }, { 1, 8 } };
	struct sanx_nodemap *map = fill(test, hosts, ARRAY_SIZE(hosts));
	const struct sanx_nodemap_entry *e;
	struct in6_addr addr = host_addr(2), rail[2];

	rail[0] = host_addr(102);
	rail[1] = host_addr(101);
	map->entry[0].node.n_rails = 2;
	memcpy(map->entry[0].node.rail, rail, sizeof(rail));
	finish(test, map);
	e = sanx_nodemap_find(map, &addr);
	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_EXPECT_EQ(test, e->node.n_rails, 2);
	KUNIT_EXPECT_MEMEQ(test, e->node.rail, rail, sizeof(rail));
	addr = host_addr(1);
	e = sanx_nodemap_find(map, &addr);
	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_EXPECT_EQ(test, e->node.n_rails, 1);
	KUNIT_EXPECT_MEMEQ(test, &e->node.rail[0], &addr, sizeof(addr));
}

/* One address may have a rail of each kind, and no two of one kind. */
static void nodemap_rail_twice(struct kunit *test)
{
	static const struct host hosts[] = { { 1, 1 } };
	struct in6_addr addr = host_addr(101);
	struct sanx_nodemap *map;
	unsigned int bad, i;
	const char *why;

	for (i = 0; i < 2; i++) {
		map = fill(test, hosts, ARRAY_SIZE(hosts));
		map->entry[0].node.n_rails = 2;
		map->entry[0].node.rail[0] = addr;
		map->entry[0].node.rail[1] = addr;
		map->entry[0].node.kind[1] = i ? SANX_WIRE_TCP : SANX_WIRE_RDMA;
		KUNIT_EXPECT_EQ(test, sanx_nodemap_finish(map, &bad, &why),
				i ? 0 : -EINVAL);
	}
}

struct finish_case {
	const char *desc;
	unsigned int n;
	struct host h[HOSTS_MAX];
	int want;
	unsigned int bad;
	unsigned int left;
};

static const struct finish_case finish_cases[] = {
	{ "nothing", 0, {}, 0, 0, 0 },
	{ "one", 1, { { 1, 1 } }, 0, 0, 1 },
	{ "any id", 1, { { 1, U32_MAX } }, 0, 0, 1 },
	{ "two hosts of one node", 2, { { 1, 1 }, { 2, 1 } }, 0, 0, 2 },
	{ "in reverse", 4, { { 4, 4 }, { 3, 3 }, { 2, 2 }, { 1, 1 } }, 0, 0,
	  4 },
	{ "equal lines", 2, { { 1, 1 }, { 1, 1 } }, 0, 0, 1 },
	{ "equal lines, apart", 4,
	  { { 3, 3 }, { 1, 1 }, { 3, 3 }, { 2, 2 } }, 0, 0, 3 },
	{ "all equal", 4, { { 3, 3 }, { 3, 3 }, { 3, 3 }, { 3, 3 } }, 0, 0,
	  1 },
	{ "id 0, first", 2, { { 1, 0 }, { 2, 2 } }, -EINVAL, 0 },
	{ "id 0, last", 2, { { 1, 1 }, { 2, 0 } }, -EINVAL, 1 },
	{ "two at fault: the first is named", 4,
	  { { 4, 4 }, { 3, 0 }, { 2, 2 }, { 1, 0 } }, -EINVAL, 1 },
	{ "contradiction", 2, { { 1, 1 }, { 1, 2 } }, -EEXIST, 1 },
	{ "contradiction, the other way round", 2, { { 1, 2 }, { 1, 1 } },
	  -EEXIST, 1 },
	{ "contradiction, apart", 4,
	  { { 9, 9 }, { 5, 1 }, { 1, 3 }, { 5, 2 } }, -EEXIST, 3 },
	{ "contradiction, with others behind", 4,
	  { { 5, 1 }, { 5, 2 }, { 9, 9 }, { 1, 3 } }, -EEXIST, 1 },
	{ "contradiction, between others", 4,
	  { { 9, 9 }, { 5, 1 }, { 5, 2 }, { 1, 3 } }, -EEXIST, 2 },
};

KUNIT_ARRAY_PARAM_DESC(finish, finish_cases, desc);

static void nodemap_finish(struct kunit *test)
{
	const struct finish_case *c = test->param_value;
	struct sanx_nodemap *map = fill(test, c->h, c->n);
	const char *why = NULL;
	unsigned int bad = 99, i;

	KUNIT_ASSERT_EQ(test, sanx_nodemap_finish(map, &bad, &why), c->want);
	if (c->want) {
		KUNIT_EXPECT_EQ(test, bad, c->bad);
		KUNIT_EXPECT_NOT_NULL(test, why);
		return;
	}
	expect_finished(test, map);
	KUNIT_EXPECT_EQ(test, map->n, c->left);
	for (i = 0; i < c->n; i++)
		KUNIT_EXPECT_EQ(test, find_id(map, c->h[i].host), c->h[i].id);
}

/* The entry at fault is the one that contradicts, not one that repeats. */
static void nodemap_finish_names_contradiction(struct kunit *test)
{
	static const struct {
		struct host h[HOSTS_MAX];
		unsigned int bad;
	} cases[] = {
		{ { { 5, 1 }, { 5, 1 }, { 5, 2 }, { 6, 1 } }, 2 },
		{ { { 5, 1 }, { 5, 1 }, { 5, 1 }, { 5, 2 } }, 3 },
		{ { { 5, 2 }, { 6, 1 }, { 5, 2 }, { 5, 1 } }, 3 },
		{ { { 5, 2 }, { 5, 1 }, { 5, 2 }, { 5, 2 } }, 1 },
	};
	struct sanx_nodemap *map;
	const char *why;
	unsigned int i, bad;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		map = fill(test, cases[i].h, HOSTS_MAX);
		KUNIT_ASSERT_EQ(test, sanx_nodemap_finish(map, &bad, &why),
				-EEXIST);
		KUNIT_EXPECT_EQ_MSG(test, bad, cases[i].bad, "case %u", i);
	}
}

/* A host named twice must be said to have the same rails, named or not. */
static void nodemap_finish_rails(struct kunit *test)
{
	static const struct host hosts[] = { { 1, 1 }, { 2, 2 }, { 2, 2 } };
	static const struct {
		unsigned int n[2];
		u8 rail[2][2];
		int want;
	} cases[] = {
		{ { 1, 1 }, { { 9 }, { 9 } }, 0 },
		{ { 2, 2 }, { { 8, 9 }, { 8, 9 } }, 0 },
		/* A host without rails has its address for one. */
		{ { 0, 1 }, { { 0 }, { 2 } }, 0 },
		{ { 1, 1 }, { { 8 }, { 9 } }, -EEXIST },
		{ { 1, 2 }, { { 8 }, { 8, 9 } }, -EEXIST },
		{ { 2, 1 }, { { 8, 9 }, { 8 } }, -EEXIST },
		{ { 2, 2 }, { { 8, 9 }, { 8, 7 } }, -EEXIST },
		{ { 0, 1 }, { { 0 }, { 9 } }, -EEXIST },
	};
	struct sanx_nodemap *map;
	unsigned int i, k, r, bad;
	const char *why;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		map = fill(test, hosts, ARRAY_SIZE(hosts));
		for (k = 0; k < 2; k++) {
			struct sanx_node_info *node = &map->entry[1 + k].node;

			node->n_rails = cases[i].n[k];
			for (r = 0; r < node->n_rails; r++)
				node->rail[r] = host_addr(cases[i].rail[k][r]);
		}
		bad = 2;
		why = "";
		KUNIT_EXPECT_EQ_MSG(test, sanx_nodemap_finish(map, &bad, &why),
				    cases[i].want, "case %u", i);
		if (cases[i].want) {
			KUNIT_EXPECT_EQ_MSG(test, bad, 2, "case %u", i);
			KUNIT_EXPECT_NOT_NULL_MSG(test, why, "case %u", i);
		} else {
			KUNIT_EXPECT_EQ_MSG(test, map->n, 2, "case %u", i);
		}
	}
}

static void nodemap_find(struct kunit *test)
{
	struct sanx_nodemap *map = MAKE(test, { 20, 2 }, { 40, 4 }, { 10, 1 },
					{ 30, 3 });
	struct in6_addr v6 = IN6([12] = 10, 0, 0, 10);
	unsigned int host;

	for (host = 0; host < 256; host++)
		KUNIT_ASSERT_EQ_MSG(test, find_id(map, host),
				    host && host <= 40 && host % 10 == 0 ?
				    host / 10 : 0, "host %u", host);
	/* 10.0.0.10 is ::ffff:10.0.0.10 here, and not ::10.0.0.10. */
	KUNIT_EXPECT_NULL(test, sanx_nodemap_find(map, &v6));
	KUNIT_EXPECT_EQ(test, find_id(NULL, 10), 0);
	KUNIT_EXPECT_EQ(test, find_id(make(test, NULL, 0), 10), 0);
}

/* Addresses differ in any of their bytes, the first and the last included. */
static void nodemap_find_every_byte(struct kunit *test)
{
	struct in6_addr addr = IN6(0x20, 0x01, 0x0d, 0xb8, [15] = 1);
	struct sanx_nodemap *map = ours(test, sanx_nodemap_alloc(17));
	const struct sanx_nodemap_entry *e;
	unsigned int i;

	for (i = 0; i < 17; i++) {
		map->entry[i].addr = addr;
		map->entry[i].node.id = 1 + i;
		if (i < 16)
			map->entry[i].addr.s6_addr[i] ^= 0x10;
	}
	finish(test, map);
	expect_finished(test, map);
	KUNIT_ASSERT_EQ(test, map->n, 17);
	for (i = 0; i < 17; i++) {
		struct in6_addr key = addr;

		if (i < 16)
			key.s6_addr[i] ^= 0x10;
		e = sanx_nodemap_find(map, &key);
		KUNIT_ASSERT_NOT_NULL(test, e);
		KUNIT_EXPECT_EQ(test, e->node.id, 1 + i);
	}
}

static void nodemap_alloc_limits(struct kunit *test)
{
	struct sanx_nodemap *map;

	KUNIT_EXPECT_EQ(test, ours(test, sanx_nodemap_alloc(0))->n, 0);
	map = ours(test, sanx_nodemap_alloc(SANX_NODEMAP_MAX));
	KUNIT_EXPECT_EQ(test, map->n, SANX_NODEMAP_MAX);
	/* The last entry is there to be written. */
	map->entry[SANX_NODEMAP_MAX - 1].node.id = 1;
	KUNIT_EXPECT_NULL(test, sanx_nodemap_alloc(SANX_NODEMAP_MAX + 1));
	KUNIT_EXPECT_NULL(test, sanx_nodemap_alloc(UINT_MAX));
}

static void nodemap_merge(struct kunit *test)
{
	struct sanx_nodemap *map = MAKE(test, { 1, 1 }, { 3, 3 }, { 5, 5 });
	struct sanx_nodemap *more = MAKE(test, { 4, 40 }, { 3, 30 }, { 2, 20 });
	struct sanx_nodemap *none = make(test, NULL, 0);

	/* Where both have a host, the new word counts. */
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_merge(map, more)),
		     { 1, 1 }, { 2, 20 }, { 3, 30 }, { 4, 40 }, { 5, 5 });
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_merge(more, map)),
		     { 1, 1 }, { 2, 20 }, { 3, 3 }, { 4, 40 }, { 5, 5 });
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_merge(map, map)),
		     { 1, 1 }, { 3, 3 }, { 5, 5 });
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_merge(NULL, map)),
		     { 1, 1 }, { 3, 3 }, { 5, 5 });
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_merge(none, map)),
		     { 1, 1 }, { 3, 3 }, { 5, 5 });
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_merge(map, none)),
		     { 1, 1 }, { 3, 3 }, { 5, 5 });
	expect_hosts(test, ours(test, sanx_nodemap_merge(NULL, none)), NULL,
		     0);
	/* Readers still use the old map: it does not change. */
	EXPECT_HOSTS(test, map, { 1, 1 }, { 3, 3 }, { 5, 5 });
	EXPECT_HOSTS(test, more, { 2, 20 }, { 3, 30 }, { 4, 40 });
}

static void nodemap_without(struct kunit *test)
{
	struct sanx_nodemap *map = MAKE(test, { 1, 1 }, { 2, 2 }, { 3, 3 },
					{ 4, 4 });
	struct sanx_nodemap *none = make(test, NULL, 0);
	unsigned int missing = 99;

	/* Only addresses count. */
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_without(map,
							   MAKE(test, { 2, 9 }),
							   &missing)),
		     { 1, 1 }, { 3, 3 }, { 4, 4 });
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_without(map,
							   MAKE(test, { 4, 1 },
								{ 1, 1 }),
							   &missing)),
		     { 2, 2 }, { 3, 3 });
	expect_hosts(test, ours(test, sanx_nodemap_without(map, map,
							   &missing)), NULL, 0);
	EXPECT_HOSTS(test, ours(test, sanx_nodemap_without(map, none,
							   &missing)),
		     { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 });
	expect_hosts(test, ours(test, sanx_nodemap_without(NULL, none,
							   &missing)), NULL, 0);
	/* Readers still use the old map: it does not change. */
	EXPECT_HOSTS(test, map, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 });
}

static void nodemap_without_missing(struct kunit *test)
{
	struct sanx_nodemap *map = MAKE(test, { 2, 2 }, { 4, 4 });
	struct sanx_nodemap *less, *rest;
	unsigned int missing = 99;

	less = MAKE(test, { 2, 2 }, { 3, 3 }, { 4, 4 });
	rest = sanx_nodemap_without(map, less, &missing);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rest), -ENOENT);
	KUNIT_EXPECT_EQ(test, missing, 1);
	less = MAKE(test, { 2, 2 }, { 4, 4 }, { 5, 5 });
	rest = sanx_nodemap_without(map, less, &missing);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rest), -ENOENT);
	KUNIT_EXPECT_EQ(test, missing, 2);
	rest = sanx_nodemap_without(NULL, less, &missing);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rest), -ENOENT);
	KUNIT_EXPECT_EQ(test, missing, 0);
}

/* Every address once, in an order that is far from sorted. */
static struct sanx_nodemap *make_full(struct kunit *test)
{
	struct sanx_nodemap *map = ours(test,
					sanx_nodemap_alloc(SANX_NODEMAP_MAX));
	unsigned int i;

	for (i = 0; i < SANX_NODEMAP_MAX; i++) {
		/* An odd factor: a permutation. */
		u16 host = i * 40503;

		map->entry[i].addr = host_addr(host);
		map->entry[i].node.id = host + 1;
	}
	finish(test, map);
	return map;
}

static void nodemap_full(struct kunit *test)
{
	struct sanx_nodemap *map = make_full(test);
	struct sanx_nodemap *one, *but_one;
	unsigned int i, wrong = 0, missing;

	KUNIT_ASSERT_EQ(test, map->n, SANX_NODEMAP_MAX);
	expect_finished(test, map);
	for (i = 0; i < SANX_NODEMAP_MAX; i++)
		wrong += find_id(map, i) != i + 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, find_id(map, SANX_NODEMAP_MAX), 0);

	/* One out and in again; one more is too many. */
	one = MAKE(test, { 77, 5 });
	but_one = ours(test, sanx_nodemap_without(map, one, &missing));
	KUNIT_EXPECT_EQ(test, but_one->n, SANX_NODEMAP_MAX - 1);
	KUNIT_EXPECT_EQ(test, find_id(but_one, 77), 0);
	map = ours(test, sanx_nodemap_merge(but_one, one));
	KUNIT_EXPECT_EQ(test, map->n, SANX_NODEMAP_MAX);
	KUNIT_EXPECT_EQ(test, find_id(map, 77), 5);
	KUNIT_EXPECT_EQ(test, find_id(map, 78), 79);
	one = fill(test, (struct host[]){ { 1, 5 } }, 1);
	one->entry[0].addr = host_addr(SANX_NODEMAP_MAX);
	finish(test, one);
	KUNIT_EXPECT_NULL(test, sanx_nodemap_merge(map, one));
}

/* A full map takes a new word on a host that it has: no host is added. */
static void nodemap_full_replace(struct kunit *test)
{
	struct sanx_nodemap *sum = sanx_nodemap_merge(make_full(test),
						      MAKE(test, { 77, 5 }));

	KUNIT_ASSERT_NOT_NULL(test, sum);
	sum = ours(test, sum);
	KUNIT_EXPECT_EQ(test, sum->n, SANX_NODEMAP_MAX);
	KUNIT_EXPECT_EQ(test, find_id(sum, 77), 5);
}

/* Random maps put together and taken apart, against an array of ids. */
static void nodemap_random(struct kunit *test)
{
	struct sanx_nodemap *map = NULL, *part, *next;
	unsigned int round, i, n, missing, lacking;
	struct rnd_state rnd;
	u32 ids[64] = {};

	prandom_seed_state(&rnd, 0x4e6f646573);
	for (round = 0; round < 150; round++) {
		bool add = prandom_u32_state(&rnd) % 5 < 3;

		part = ours(test,
			    sanx_nodemap_alloc(prandom_u32_state(&rnd) % 6));
		for (i = 0; i < part->n; i++) {
			u32 host = prandom_u32_state(&rnd) % ARRAY_SIZE(ids);

			part->entry[i].addr = host_addr(host);
			part->entry[i].node.id = round * 64 + host + 1;
		}
		finish(test, part);
		lacking = 0;
		for (i = 0; !add && i < part->n; i++)
			lacking += !ids[part->entry[i].node.id - 1 -
					round * 64];
		next = add ? sanx_nodemap_merge(map, part) :
			     sanx_nodemap_without(map, part, &missing);
		if (lacking) {
			KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(next), -ENOENT);
			continue;
		}
		map = ours(test, next);
		for (i = 0; i < part->n; i++) {
			u32 id = part->entry[i].node.id;

			ids[id - 1 - round * 64] = add ? id : 0;
		}
		expect_finished(test, map);
		for (i = 0, n = 0; i < ARRAY_SIZE(ids); i++) {
			n += !!ids[i];
			KUNIT_ASSERT_EQ_MSG(test, find_id(map, i), ids[i],
					    "round %u, host %u", round, i);
		}
		KUNIT_ASSERT_EQ(test, map->n, n);
	}
}

/* Looks at all of a map. */
static const struct sanx_nodemap_entry *
naive_id(const struct sanx_nodemap *map, u32 id)
{
	unsigned int i;

	for (i = 0; i < map->n; i++)
		if (map->entry[i].node.id == id)
			return &map->entry[i];
	return NULL;
}

static bool naive_rail(const struct sanx_nodemap *map, u32 id,
		       enum sanx_wire_kind kind, const struct in6_addr *addr)
{
	const struct sanx_node_info *node;
	unsigned int i, r;

	for (i = 0; i < map->n; i++) {
		node = &map->entry[i].node;
		for (r = 0; r < node->n_rails; r++)
			if ((!id || node->id == id) && node->kind[r] == kind &&
			    ipv6_addr_equal(&node->rail[r], addr))
				return true;
	}
	return false;
}

static void expect_indexed(struct kunit *test, const struct sanx_nodemap *map)
{
	struct in6_addr addr;
	u32 id, rail, kind, has;

	for (id = 0; id < 10; id++) {
		KUNIT_EXPECT_PTR_EQ(test, sanx_nodemap_find_id(map, id),
				    naive_id(map, id));
		for (rail = 0; rail < 24; rail++)
			for (kind = 0; kind < __SANX_WIRES; kind++) {
				addr = host_addr(rail);
				has = sanx_nodemap_rail_node(map, id, kind, &addr);
				KUNIT_EXPECT_EQ(test, has != 0,
						naive_rail(map, id, kind, &addr));
				KUNIT_EXPECT_EQ(test, has != 0,
						has && naive_rail(map, has, kind, &addr));
			}
	}
}

/* Any host of the node counts, and none of another. */
static void nodemap_node_in(struct kunit *test)
{
	static const struct host hosts[] = { { 1, 5 }, { 2, 7 }, { 3, 5 }, { 130, 7 }, { 200, 9 } };
	struct sanx_nodemap *map = fill(test, hosts, ARRAY_SIZE(hosts));
	struct in6_addr low = v4(0x0a000000), high = v4(0x0a000080), one = host_addr(3);

	finish(test, map);
	KUNIT_EXPECT_TRUE(test, sanx_nodemap_node_in(map, 5, &low, 96 + 25));
	KUNIT_EXPECT_FALSE(test, sanx_nodemap_node_in(map, 5, &high, 96 + 25));
	KUNIT_EXPECT_TRUE(test, sanx_nodemap_node_in(map, 5, &one, 128));
	KUNIT_EXPECT_TRUE(test, sanx_nodemap_node_in(map, 7, &low, 96 + 25));
	KUNIT_EXPECT_TRUE(test, sanx_nodemap_node_in(map, 7, &high, 96 + 25));
	KUNIT_EXPECT_FALSE(test, sanx_nodemap_node_in(map, 7, &one, 128));
	KUNIT_EXPECT_FALSE(test, sanx_nodemap_node_in(map, 9, &low, 96 + 25));
	KUNIT_EXPECT_TRUE(test, sanx_nodemap_node_in(map, 9, &low, 0));
	KUNIT_EXPECT_FALSE(test, sanx_nodemap_node_in(map, 6, &low, 0));
	KUNIT_EXPECT_FALSE(test, sanx_nodemap_node_in(map, 10, &low, 0));
	KUNIT_EXPECT_FALSE(test, sanx_nodemap_node_in(NULL, 5, &low, 0));
}

/* Few addresses and ids, so that hosts share them; also in maps made from maps. */
static void nodemap_index(struct kunit *test)
{
	struct sanx_nodemap *map, *part;
	struct sanx_nodemap_entry *e;
	unsigned int round, i, r, missing, bad;
	struct rnd_state rnd;
	const char *why;

	prandom_seed_state(&rnd, 7);
	for (round = 0; round < 200; round++) {
		map = ours(test, sanx_nodemap_alloc(prandom_u32_state(&rnd) % 12));
		for (i = 0; i < map->n; i++) {
			e = &map->entry[i];
			e->addr = host_addr(1 + i);
			e->node.id = 1 + prandom_u32_state(&rnd) % 8;
			e->node.n_rails = prandom_u32_state(&rnd) % SANX_NODE_RAILS;
			for (r = 0; r < e->node.n_rails; r++) {
				/* Hosts share rails, and none has one twice. */
				e->node.rail[r] = host_addr(1 + 6 * r +
							    prandom_u32_state(&rnd) % 6);
				e->node.kind[r] = prandom_u32_state(&rnd) % __SANX_WIRES;
			}
		}
		KUNIT_ASSERT_EQ(test, sanx_nodemap_finish(map, &bad, &why), 0);
		expect_indexed(test, map);
		part = fill(test, (struct host []){ { 3, 9 }, { 15, 4 } }, 2);
		finish(test, part);
		map = ours(test, sanx_nodemap_merge(map, part));
		expect_indexed(test, map);
		map = ours(test, sanx_nodemap_without(map, part, &missing));
		expect_indexed(test, map);
	}
	KUNIT_EXPECT_NULL(test, sanx_nodemap_find_id(NULL, 1));
	KUNIT_EXPECT_EQ(test, sanx_nodemap_rail_node(NULL, 0, 0, &in6addr_any), 0);
}

static struct kunit_case nodemap_cases[] = {
	KUNIT_CASE(endpoint_explicit),
	KUNIT_CASE(endpoint_same_host),
	KUNIT_CASE_PARAM(nodemap_host_addr, addr_gen_params),
	KUNIT_CASE_PARAM(nodemap_rail_addr, addr_gen_params),
	KUNIT_CASE(nodemap_rails_kept),
	KUNIT_CASE(nodemap_rail_twice),
	KUNIT_CASE_PARAM(nodemap_finish, finish_gen_params),
	KUNIT_CASE(nodemap_finish_names_contradiction),
	KUNIT_CASE(nodemap_finish_rails),
	KUNIT_CASE(nodemap_find),
	KUNIT_CASE(nodemap_find_every_byte),
	KUNIT_CASE(nodemap_alloc_limits),
	KUNIT_CASE(nodemap_merge),
	KUNIT_CASE(nodemap_without),
	KUNIT_CASE(nodemap_without_missing),
	KUNIT_CASE_SLOW(nodemap_full),
	KUNIT_CASE_SLOW(nodemap_full_replace),
	KUNIT_CASE(nodemap_random),
	KUNIT_CASE(nodemap_index),
	KUNIT_CASE(nodemap_node_in),
	{}
};

static struct kunit_suite nodemap_suite = {
	.name = "sanx_nodemap",
	.test_cases = nodemap_cases,
};

kunit_test_suite(nodemap_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: the node map");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
