// SPDX-License-Identifier: GPL-2.0
/*
 * Port rules (af_sanx/config/ports.c): the first rule that matches decides, and a
 * port that no rule names is allowed.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "config/config.h"

#define RULES_MAX	4

static void free_ports(void *ports)
{
	kvfree(ports);
}

/* Takes over what the unit allocated; a test that stops early leaks nothing. */
static struct sanx_ports *ours(struct kunit *test, struct sanx_ports *ports)
{
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ports);
	KUNIT_ASSERT_EQ(test,
			kunit_add_action_or_reset(test, free_ports, ports), 0);
	return ports;
}

static struct sanx_ports *make(struct kunit *test, unsigned int n,
			       const struct sanx_port_rule *rule)
{
	struct sanx_ports *ports = ours(test, sanx_ports_alloc(n));

	KUNIT_ASSERT_EQ(test, ports->n, n);
	if (n)
		memcpy(ports->rule, rule, n * sizeof(*rule));
	return ports;
}

#define MAKE(test_, ...) ({						\
	static const struct sanx_port_rule rules_[] = { __VA_ARGS__ };	\
	make(test_, ARRAY_SIZE(rules_), rules_);			\
})

static void expect_rules(struct kunit *test, const struct sanx_ports *got,
			 const struct sanx_ports *want)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, got->n, want->n);
	for (i = 0; i < want->n; i++) {
		KUNIT_EXPECT_EQ_MSG(test, got->rule[i].first,
				    want->rule[i].first, "rule %u", i);
		KUNIT_EXPECT_EQ_MSG(test, got->rule[i].last,
				    want->rule[i].last, "rule %u", i);
		KUNIT_EXPECT_EQ_MSG(test, got->rule[i].allow,
				    want->rule[i].allow, "rule %u", i);
		KUNIT_EXPECT_EQ_MSG(test, got->rule[i].space,
				    want->rule[i].space, "rule %u", i);
	}
}

#define ALLOW	true
#define DENY	false

/* Rules without a peer decide alike for all that connect. */
static bool allows(const struct sanx_ports *ports, u16 port)
{
	struct sanx_port_use use = { .way = SANX_WAY_OUT, .port = port };

	return sanx_ports_allow(ports, &use);
}

struct match_case {
	const char *desc;
	unsigned int n;
	struct sanx_port_rule rule[RULES_MAX];
	u16 port;
	bool want;
};

static const struct match_case match_cases[] = {
	{ "no rules, first port", 0, {}, 1, ALLOW },
	{ "no rules, last port", 0, {}, 65535, ALLOW },
	{ "one port, below", 1, { { 80, 80, DENY } }, 79, ALLOW },
	{ "one port, hit", 1, { { 80, 80, DENY } }, 80, DENY },
	{ "one port, above", 1, { { 80, 80, DENY } }, 81, ALLOW },
	{ "range, below", 1, { { 100, 200, DENY } }, 99, ALLOW },
	{ "range, first", 1, { { 100, 200, DENY } }, 100, DENY },
	{ "range, inside", 1, { { 100, 200, DENY } }, 150, DENY },
	{ "range, last", 1, { { 100, 200, DENY } }, 200, DENY },
	{ "range, above", 1, { { 100, 200, DENY } }, 201, ALLOW },
	{ "all ports, first", 1, { { 1, 65535, DENY } }, 1, DENY },
	{ "all ports, last", 1, { { 1, 65535, DENY } }, 65535, DENY },
	{ "an allow does not turn the default", 1, { { 80, 80, ALLOW } }, 81,
	  ALLOW },
	{ "exception before a denial, hit", 2,
	  { { 80, 80, ALLOW }, { 1, 65535, DENY } }, 80, ALLOW },
	{ "exception before a denial, others", 2,
	  { { 80, 80, ALLOW }, { 1, 65535, DENY } }, 81, DENY },
	{ "exception after a denial comes too late", 2,
	  { { 1, 65535, DENY }, { 80, 80, ALLOW } }, 80, DENY },
	{ "denial after an allow comes too late", 2,
	  { { 1, 65535, ALLOW }, { 80, 80, DENY } }, 80, ALLOW },
	{ "the first match decides, not the narrowest", 3,
	  { { 10, 90, DENY }, { 50, 60, ALLOW }, { 55, 55, ALLOW } }, 55,
	  DENY },
	{ "the last of many", 4,
	  { { 1, 1, ALLOW }, { 2, 2, ALLOW }, { 3, 3, ALLOW },
	    { 4, 4, DENY } }, 4, DENY },
	{ "byte order: 0x1234 is not 0x3412", 1, { { 0x1234, 0x1234, DENY } },
	  0x3412, ALLOW },
};

KUNIT_ARRAY_PARAM_DESC(match, match_cases, desc);

static void ports_match(struct kunit *test)
{
	const struct match_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, allows(make(test, c->n, c->rule), c->port),
			c->want);
}

#define V4(a, b, c, d)	{ .s6_addr = { [10] = 0xff, 0xff, a, b, c, d } }
#define V6(a, b)	{ .s6_addr = { a, b, [15] = 1 } }
/* As rules are stored: no bits behind the prefix. */
#define NET10		.prefix = V4(10, 0, 0, 0), .prefix_len = 104
#define HOST1		.prefix = V4(10, 0, 0, 1), .prefix_len = 128
#define NETFD		.prefix = { .s6_addr = { 0xfd } }, .prefix_len = 8
#define IN		.ways = SANX_WAY_IN
#define OUT		.ways = SANX_WAY_OUT

struct peer_case {
	const char *desc;
	unsigned int n;
	struct sanx_port_rule rule[RULES_MAX];
	struct sanx_port_use use;
	bool want;
};

static const struct peer_case peer_cases[] = {
	{ "in, and it comes in", 1, { { 22, 22, DENY, IN } },
	  { SANX_WAY_IN, 22 }, DENY },
	{ "in, and it goes out", 1, { { 22, 22, DENY, IN } },
	  { SANX_WAY_OUT, 22 }, ALLOW },
	{ "out, and it goes out", 1, { { 22, 22, DENY, OUT } },
	  { SANX_WAY_OUT, 22 }, DENY },
	{ "out, and it comes in", 1, { { 22, 22, DENY, OUT } },
	  { SANX_WAY_IN, 22 }, ALLOW },
	{ "from a node", 1, { { 22, 22, DENY, IN, .node = 3 } },
	  { SANX_WAY_IN, 22, 3 }, DENY },
	{ "from another node", 1, { { 22, 22, DENY, IN, .node = 3 } },
	  { SANX_WAY_IN, 22, 4 }, ALLOW },
	{ "from who is no node", 1, { { 22, 22, DENY, IN, .node = 3 } },
	  { SANX_WAY_IN, 22, 0 }, ALLOW },
	{ "from a network", 1, { { 22, 22, DENY, IN, NET10 } },
	  { SANX_WAY_IN, 22, 1, V4(10, 255, 0, 1) }, DENY },
	{ "from beside a network", 1, { { 22, 22, DENY, IN, NET10 } },
	  { SANX_WAY_IN, 22, 1, V4(11, 0, 0, 1) }, ALLOW },
	{ "an IPv6 peer is in no IPv4 network", 1,
	  { { 22, 22, DENY, IN, NET10 } },
	  { SANX_WAY_IN, 22, 1, V6(0xfd, 0x77) }, ALLOW },
	{ "from an IPv6 network", 1, { { 22, 22, DENY, IN, NETFD } },
	  { SANX_WAY_IN, 22, 1, V6(0xfd, 0x77) }, DENY },
	{ "from beside an IPv6 network", 1, { { 22, 22, DENY, IN, NETFD } },
	  { SANX_WAY_IN, 22, 1, V6(0xfc, 0x77) }, ALLOW },
	{ "to a host", 1, { { 22, 22, DENY, OUT, HOST1 } },
	  { SANX_WAY_OUT, 22, 1, V4(10, 0, 0, 1) }, DENY },
	{ "to the host beside it", 1, { { 22, 22, DENY, OUT, HOST1 } },
	  { SANX_WAY_OUT, 22, 1, V4(10, 0, 0, 2) }, ALLOW },
	{ "another port of that host", 1, { { 22, 22, DENY, OUT, HOST1 } },
	  { SANX_WAY_OUT, 23, 1, V4(10, 0, 0, 1) }, ALLOW },
	{ "node and network, both right", 1,
	  { { 22, 22, DENY, IN, .node = 3, NET10 } },
	  { SANX_WAY_IN, 22, 3, V4(10, 0, 0, 1) }, DENY },
	{ "node and network, one wrong", 1,
	  { { 22, 22, DENY, IN, .node = 3, NET10 } },
	  { SANX_WAY_IN, 22, 4, V4(10, 0, 0, 1) }, ALLOW },
	{ "the default", 1, { { 0, 0, DENY } }, { SANX_WAY_IN, 22 }, DENY },
	{ "a rule behind the default", 2,
	  { { 0, 0, DENY }, { 22, 22, ALLOW } }, { SANX_WAY_IN, 22 }, ALLOW },
	{ "the default before a rule for another port", 2,
	  { { 0, 0, DENY }, { 22, 22, ALLOW } }, { SANX_WAY_IN, 23 }, DENY },
	{ "the first default that matches", 3,
	  { { 0, 0, DENY, OUT }, { 0, 0, ALLOW, IN }, { 0, 0, DENY } },
	  { SANX_WAY_IN, 22 }, ALLOW },
	{ "a default for one way", 1, { { 0, 0, DENY, OUT } },
	  { SANX_WAY_IN, 22 }, ALLOW },
	{ "a default for a network", 1, { { 0, 0, DENY, IN, NET10 } },
	  { SANX_WAY_IN, 65535, 1, V4(10, 0, 0, 1) }, DENY },
};

KUNIT_ARRAY_PARAM_DESC(peer, peer_cases, desc);

static void ports_peer(struct kunit *test)
{
	const struct peer_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test,
			sanx_ports_allow(make(test, c->n, c->rule), &c->use),
			c->want);
}

#define EXPLICIT	.space = SANX_PORT_SPACE_EXPLICIT

static const struct peer_case space_cases[] = {
	{ "an explicit rule, an explicit port", 1, { { 80, 80, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 80, EXPLICIT }, DENY },
	{ "an explicit rule, a port of TCP", 1, { { 80, 80, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 80 }, ALLOW },
	{ "a rule of TCP, an explicit port", 1, { { 80, 80, DENY } },
	  { SANX_WAY_IN, 80, EXPLICIT }, ALLOW },
	{ "all ports of TCP, an explicit port", 1, { { 1, 65535, DENY } },
	  { SANX_WAY_OUT, 65535, EXPLICIT }, ALLOW },
	{ "all explicit ports, a port of TCP", 1, { { 1, U32_MAX, DENY, EXPLICIT } },
	  { SANX_WAY_OUT, 65535 }, ALLOW },
	{ "all explicit ports, first", 1, { { 1, U32_MAX, DENY, EXPLICIT } },
	  { SANX_WAY_OUT, 1, EXPLICIT }, DENY },
	{ "all explicit ports, last", 1, { { 1, U32_MAX, DENY, EXPLICIT } },
	  { SANX_WAY_OUT, U32_MAX, EXPLICIT }, DENY },
	{ "beyond 65535, below", 1, { { 70000, 80000, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 69999, EXPLICIT }, ALLOW },
	{ "beyond 65535, first", 1, { { 70000, 80000, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 70000, EXPLICIT }, DENY },
	{ "beyond 65535, last", 1, { { 70000, 80000, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 80000, EXPLICIT }, DENY },
	{ "beyond 65535, above", 1, { { 70000, 80000, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 80001, EXPLICIT }, ALLOW },
	{ "not the lower 16 bits", 1, { { 0x10050, 0x10050, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 0x50, EXPLICIT }, ALLOW },
	{ "a port above INT_MAX", 1, { { 0x80000000, 0x80000001, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 0x80000001, EXPLICIT }, DENY },
	{ "a rule of the other kind comes first", 2,
	  { { 80, 80, ALLOW }, { 80, 80, DENY, EXPLICIT } },
	  { SANX_WAY_IN, 80, EXPLICIT }, DENY },
	{ "an explicit rule for another way", 1, { { 80, 80, DENY, OUT, EXPLICIT } },
	  { SANX_WAY_IN, 80, EXPLICIT }, ALLOW },
	{ "an explicit rule for a node", 1, { { 80, 80, DENY, IN, .node = 3, EXPLICIT } },
	  { SANX_WAY_IN, 80, 3, EXPLICIT }, DENY },
	{ "an explicit rule for another node", 1,
	  { { 80, 80, DENY, IN, .node = 3, EXPLICIT } },
	  { SANX_WAY_IN, 80, 4, EXPLICIT }, ALLOW },
	{ "a default, an explicit port", 1, { { 0, 0, DENY } },
	  { SANX_WAY_IN, 70000, EXPLICIT }, DENY },
	{ "a default, a port of TCP", 1, { { 0, 0, DENY } }, { SANX_WAY_IN, 80 }, DENY },
	{ "a default for a network, an explicit port", 1,
	  { { 0, 0, DENY, .prefix = { .s6_addr = { 1 } }, .prefix_len = 64 } },
	  { SANX_WAY_IN, 80, 3, { .s6_addr = { 1, [11] = 80, [15] = 3 } }, EXPLICIT }, ALLOW },
	{ "a default for a node, an explicit port", 1, { { 0, 0, DENY, .node = 3 } },
	  { SANX_WAY_IN, 80, 3, { .s6_addr = { 1, [11] = 80, [15] = 3 } }, EXPLICIT }, DENY },
	{ "an explicit rule behind the default", 2,
	  { { 0, 0, DENY }, { 80, 80, ALLOW, EXPLICIT } },
	  { SANX_WAY_IN, 80, EXPLICIT }, ALLOW },
	{ "the default, as an explicit rule is not about it", 2,
	  { { 0, 0, DENY }, { 80, 80, ALLOW, EXPLICIT } }, { SANX_WAY_IN, 80 }, DENY },
};

KUNIT_ARRAY_PARAM_DESC(space, space_cases, desc);

static void ports_space(struct kunit *test)
{
	const struct peer_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, sanx_ports_allow(make(test, c->n, c->rule), &c->use), c->want);
}

static void ports_none(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, allows(NULL, 1));
	KUNIT_EXPECT_TRUE(test, allows(NULL, 65535));
}

/*
 * Random lists against a map of all ports that is painted from the last rule
 * to the first, so that the first has the last word.
 */
static void ports_random(struct kunit *test)
{
	bool *want = kunit_kmalloc(test, 65536, GFP_KERNEL);
	struct sanx_ports *ports;
	struct rnd_state rnd;
	unsigned int round, i, p, bad;

	KUNIT_ASSERT_NOT_NULL(test, want);
	prandom_seed_state(&rnd, 0x506f727473);
	for (round = 0; round < 4; round++) {
		ports = make(test, 0, NULL);
		ports = ours(test, sanx_ports_alloc(1 + round * 5));
		for (i = 0; i < ports->n; i++) {
			u16 a = prandom_u32_state(&rnd);
			u16 b = prandom_u32_state(&rnd);

			ports->rule[i].first = min(a, b);
			ports->rule[i].last = max(a, b);
			ports->rule[i].allow = prandom_u32_state(&rnd) & 1;
		}
		memset(want, true, 65536);
		for (i = ports->n; i-- > 0;)
			memset(want + ports->rule[i].first,
			       ports->rule[i].allow,
			       ports->rule[i].last - ports->rule[i].first + 1);
		for (p = 0, bad = 0; p < 65536; p++)
			bad += allows(ports, p) != want[p];
		KUNIT_EXPECT_EQ_MSG(test, bad, 0, "round %u", round);
	}
}

static void ports_alloc_limits(struct kunit *test)
{
	struct sanx_ports *ports;

	KUNIT_EXPECT_EQ(test, ours(test, sanx_ports_alloc(0))->n, 0);
	ports = ours(test, sanx_ports_alloc(SANX_PORTS_MAX));
	KUNIT_EXPECT_EQ(test, ports->n, SANX_PORTS_MAX);
	/* The last rule is there to be written. */
	ports->rule[SANX_PORTS_MAX - 1].allow = true;
	KUNIT_EXPECT_NULL(test, sanx_ports_alloc(SANX_PORTS_MAX + 1));
	KUNIT_EXPECT_NULL(test, sanx_ports_alloc(UINT_MAX));
}

static void ports_append(struct kunit *test)
{
	struct sanx_ports *some = MAKE(test, { 1, 2, DENY }, { 3, 4, ALLOW });
	struct sanx_ports *more = MAKE(test, { 3, 4, ALLOW }, { 1, 9, DENY });
	struct sanx_ports *none = make(test, 0, NULL);

	expect_rules(test, ours(test, sanx_ports_append(some, more)),
		     MAKE(test, { 1, 2, DENY }, { 3, 4, ALLOW },
			  { 3, 4, ALLOW }, { 1, 9, DENY }));
	expect_rules(test, ours(test, sanx_ports_append(NULL, more)), more);
	expect_rules(test, ours(test, sanx_ports_append(none, more)), more);
	expect_rules(test, ours(test, sanx_ports_append(some, none)), some);
	expect_rules(test, ours(test, sanx_ports_append(NULL, none)), none);
	/* Readers still use the old list: it does not change. */
	expect_rules(test, some, MAKE(test, { 1, 2, DENY }, { 3, 4, ALLOW }));
}

static void ports_append_limit(struct kunit *test)
{
	struct sanx_ports *most = ours(test,
				       sanx_ports_alloc(SANX_PORTS_MAX - 1));
	struct sanx_ports *one = MAKE(test, { 7, 7, DENY });
	struct sanx_ports *two = MAKE(test, { 7, 7, DENY }, { 8, 8, DENY });
	struct sanx_ports *all;

	all = ours(test, sanx_ports_append(most, one));
	KUNIT_EXPECT_EQ(test, all->n, SANX_PORTS_MAX);
	KUNIT_EXPECT_EQ(test, all->rule[SANX_PORTS_MAX - 1].first, 7);
	KUNIT_EXPECT_NULL(test, sanx_ports_append(most, two));
	KUNIT_EXPECT_NULL(test, sanx_ports_append(all, one));
	KUNIT_EXPECT_NULL(test, sanx_ports_append(all, all));
}

static void ports_without(struct kunit *test)
{
	unsigned int missing = 99;
	struct sanx_ports *map = MAKE(test, { 1, 2, DENY }, { 5, 5, ALLOW },
				      { 1, 2, DENY }, { 8, 9, DENY });
	struct sanx_ports *none = make(test, 0, NULL);
	struct sanx_ports *less;

	/* Wherever it stands, and the rest keeps its order. */
	less = MAKE(test, { 1, 2, DENY });
	expect_rules(test,
		     ours(test, sanx_ports_without(map, less, &missing)),
		     MAKE(test, { 5, 5, ALLOW }, { 8, 9, DENY }));
	/* In any order, and named twice. */
	less = MAKE(test, { 8, 9, DENY }, { 1, 2, DENY }, { 8, 9, DENY });
	expect_rules(test,
		     ours(test, sanx_ports_without(map, less, &missing)),
		     MAKE(test, { 5, 5, ALLOW }));
	expect_rules(test, ours(test, sanx_ports_without(map, map, &missing)),
		     none);
	expect_rules(test, ours(test, sanx_ports_without(map, none, &missing)),
		     map);
	expect_rules(test,
		     ours(test, sanx_ports_without(NULL, none, &missing)),
		     none);
	/* Readers still use the old list: it does not change. */
	expect_rules(test, map, MAKE(test, { 1, 2, DENY }, { 5, 5, ALLOW },
				     { 1, 2, DENY }, { 8, 9, DENY }));
}

/* The same range of the other kind stays. */
static void ports_without_space(struct kunit *test)
{
	unsigned int missing = 99;
	struct sanx_ports *both = MAKE(test, { 5, 9, DENY }, { 5, 9, DENY, EXPLICIT });
	struct sanx_ports *inet = MAKE(test, { 5, 9, DENY });
	struct sanx_ports *explicit = MAKE(test, { 5, 9, DENY, EXPLICIT });

	expect_rules(test, ours(test, sanx_ports_without(both, inet, &missing)), explicit);
	expect_rules(test, ours(test, sanx_ports_without(both, explicit, &missing)), inet);
}

struct missing_case {
	const char *desc;
	unsigned int n;
	struct sanx_port_rule less[RULES_MAX];
	unsigned int missing;
};

/* Taken out of { 10-20 deny, 30 allow }. */
static const struct missing_case missing_cases[] = {
	{ "another first port", 1, { { 11, 20, DENY } }, 0 },
	{ "another last port", 1, { { 10, 19, DENY } }, 0 },
	{ "another action", 1, { { 10, 20, ALLOW } }, 0 },
	{ "another way", 1, { { 10, 20, DENY, IN } }, 0 },
	{ "another node", 1, { { 10, 20, DENY, .node = 1 } }, 0 },
	{ "another network", 1, { { 10, 20, DENY, 0, NET10 } }, 0 },
	{ "explicit ports", 1, { { 10, 20, DENY, EXPLICIT } }, 0 },
	{ "the last of three", 3,
	  { { 30, 30, ALLOW }, { 10, 20, DENY }, { 31, 31, ALLOW } }, 2 },
	{ "the middle of three", 3,
	  { { 10, 20, DENY }, { 31, 31, ALLOW }, { 30, 30, ALLOW } }, 1 },
};

KUNIT_ARRAY_PARAM_DESC(missing, missing_cases, desc);

static void ports_without_missing(struct kunit *test)
{
	const struct missing_case *c = test->param_value;
	struct sanx_ports *ports = MAKE(test, { 10, 20, DENY },
					{ 30, 30, ALLOW });
	struct sanx_ports *less = make(test, c->n, c->less);
	struct sanx_ports *rest;
	unsigned int at = 99;

	rest = sanx_ports_without(ports, less, &at);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rest), -ENOENT);
	KUNIT_EXPECT_EQ(test, at, c->missing);
	at = 99;
	rest = sanx_ports_without(NULL, less, &at);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rest), -ENOENT);
	KUNIT_EXPECT_EQ(test, at, 0);
}

static struct kunit_case ports_cases[] = {
	KUNIT_CASE_PARAM(ports_match, match_gen_params),
	KUNIT_CASE_PARAM(ports_peer, peer_gen_params),
	KUNIT_CASE_PARAM(ports_space, space_gen_params),
	KUNIT_CASE(ports_none),
	KUNIT_CASE_SLOW(ports_random),
	KUNIT_CASE(ports_alloc_limits),
	KUNIT_CASE(ports_append),
	KUNIT_CASE(ports_append_limit),
	KUNIT_CASE(ports_without),
	KUNIT_CASE(ports_without_space),
	KUNIT_CASE_PARAM(ports_without_missing, missing_gen_params),
	{}
};

static struct kunit_suite ports_suite = {
	.name = "sanx_ports",
	.test_cases = ports_cases,
};

kunit_test_suite(ports_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: port rules");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
