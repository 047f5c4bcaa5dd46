// SPDX-License-Identifier: GPL-2.0
/*
 * From which of our addresses a rail of a peer is reached (sanx_node_rail_end() of
 * af_sanx/config/nodemap.c).
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "config/config.h"

/**
 * struct ends_case - two nodes, and what leads where
 * @desc: in words
 * @self: our rails: a letter for each, r and t for RDMA and TCP over IPv4, R and T over
 *	IPv6, and the number of the network that it is in
 * @peer: those of the peer
 * @ends: for each rail of the peer the network of our end, or - for none
 */
struct ends_case {
	const char *desc;
	const char *self;
	const char *peer;
	const char *ends;
};

static const struct ends_case ends_cases[] = {
	{ "one each", "r1", "r1", "1" },
	{ "the same order", "r1t3r2", "r1t3r2", "132" },
	{ "TCP is last here", "r1r2t3", "r1t3r2", "132" },
	{ "TCP is last there", "r1t3r2", "r1r2t3", "123" },
	{ "TCP is first here", "t3r1r2", "r1r2t3", "123" },
	{ "IPv6 is first here", "R4r1r2", "r1r2R4", "124" },
	{ "both kinds over both", "T5R4t3r1", "r1t3R4T5", "1345" },
	{ "we have one for two", "r1t3", "r1r2t3", "113" },
	{ "we have two for one", "r1r2", "r1", "1" },
	{ "two of ours take turns", "r1r2", "r1r2r3r4", "1212" },
	{ "no RDMA here", "t3", "r1t3", "-3" },
	{ "no TCP here", "r1r2", "t3r1", "-1" },
	{ "another family", "R1", "r1", "-" },
	{ "nothing here", "", "r1t3", "--" },
};

static void ends_fill(struct sanx_node_info *info, const char *rails, u32 node)
{
	for (; *rails; rails += 2, info->n_rails++) {
		struct in6_addr *addr = &info->rail[info->n_rails];
		u32 net = rails[1] - '0';

		info->kind[info->n_rails] = rails[0] == 'r' || rails[0] == 'R' ?
					    SANX_WIRE_RDMA : SANX_WIRE_TCP;
		if (rails[0] == 'r' || rails[0] == 't')
			ipv6_addr_set_v4mapped(htonl(0x0a000000 + 256 * net + node),
					       addr);
		else
			ipv6_addr_set(addr, htonl(0xfd000000 + net), 0, 0,
				      htonl(node));
	}
}

static char ends_net(const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return '0' + addr->s6_addr[14];
	return '0' + addr->s6_addr[3];
}

static void rail_ends(struct kunit *test)
{
	const struct ends_case *c = test->param_value;
	struct sanx_node_info self = {}, peer = {};
	char got[SANX_NODE_RAILS + 1] = "";
	struct in6_addr local;
	unsigned int i;

	ends_fill(&self, c->self, 1);
	ends_fill(&peer, c->peer, 2);
	for (i = 0; i < peer.n_rails; i++)
		got[i] = sanx_node_rail_end(&self, &peer, i, &local) ?
			 ends_net(&local) : '-';
	KUNIT_EXPECT_STREQ(test, got, c->ends);
}

static void ends_describe(const struct ends_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ends, ends_cases, ends_describe);

static struct kunit_case ends_test_cases[] = {
	KUNIT_CASE_PARAM(rail_ends, ends_gen_params),
	{}
};

static struct kunit_suite ends_suite = {
	.name = "sanx_rail_ends",
	.test_cases = ends_test_cases,
};

kunit_test_suite(ends_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: the ends of a rail");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
