// SPDX-License-Identifier: GPL-2.0
/* Datagrams in the stream of an implicit connection (af_sanx/dgram/record.h). */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>

#include "dgram/record.h"

static void dgram_record_limits(struct kunit *test)
{
	static const struct {
		u32	len;
		bool	valid;
	} cases[] = {
		{ 0, false },
		{ DGRAM_LEN_MIN - 1, false },
		{ DGRAM_LEN_MIN, true },
		{ 1500, true },
		{ DGRAM_LEN_MAX, true },
		{ DGRAM_LEN_MAX + 1, false },
		{ U32_MAX, false },
	};
	struct dgram_record f;
	u16 gso_size;
	u32 len;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		dgram_record_fill(&f, cases[i].len, 1000 + i);
		KUNIT_EXPECT_EQ(test, !dgram_record_parse(&f, &len, &gso_size), cases[i].valid);
		KUNIT_EXPECT_EQ(test, len, cases[i].len);
		KUNIT_EXPECT_EQ(test, gso_size, 1000 + i);
	}
}

/* As in Documentation/protocol.rst. */
static void dgram_record_bytes(struct kunit *test)
{
	static const u8 bytes[] = { 0x44, 0x33, 0x00, 0x00, 0x22, 0x11, 0x00, 0x00 };
	struct dgram_record f;
	u16 gso_size;
	u32 len;

	KUNIT_EXPECT_EQ(test, sizeof(f), sizeof(bytes));
	dgram_record_fill(&f, 0x3344, 0x1122);
	KUNIT_EXPECT_MEMEQ(test, &f, bytes, sizeof(f));
	f.reserved = cpu_to_le16(1);
	KUNIT_EXPECT_EQ(test, dgram_record_parse(&f, &len, &gso_size), -EPROTO);
}

/* Two bytes of payload, from port 1 to port 2. */
static const u8 packet_v4[] = {
	0x45, 0x28, 0x00, 0x1e, 0x00, 0x00, 0x00, 0x00, 0x40, 0x11, 0x00, 0x00,
	10, 0, 0, 1, 10, 0, 0, 2,
	0x00, 0x01, 0x00, 0x02, 0x00, 0x0a, 0x00, 0x00, 0xaa, 0xbb,
};

static const u8 packet_v6[] = {
	0x62, 0x80, 0x00, 0x00, 0x00, 0x0a, 0x11, 0x40,
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	0x00, 0x01, 0x00, 0x02, 0x00, 0x0a, 0x00, 0x00, 0xaa, 0xbb,
};

static bool parses(const u8 *p, u32 len, u16 gso_size)
{
	struct dgram_packet k;

	return dgram_packet_parse(p, len, gso_size, &k);
}

static void dgram_packet_fields(struct kunit *test)
{
	struct dgram_packet k;

	KUNIT_EXPECT_TRUE(test, dgram_packet_parse(packet_v4, sizeof(packet_v4), 0, &k));
	KUNIT_EXPECT_TRUE(test, k.v4);
	KUNIT_EXPECT_MEMEQ(test, &k.saddr.s6_addr[12], packet_v4 + 12, 4);
	KUNIT_EXPECT_MEMEQ(test, &k.daddr.s6_addr[12], packet_v4 + 16, 4);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_v4mapped(&k.saddr) && ipv6_addr_v4mapped(&k.daddr));
	KUNIT_EXPECT_EQ(test, ntohs(k.sport), 1);
	KUNIT_EXPECT_EQ(test, ntohs(k.dport), 2);
	KUNIT_EXPECT_EQ(test, k.tos, 0x28);
	KUNIT_EXPECT_EQ(test, k.hops, 64);

	KUNIT_EXPECT_TRUE(test, dgram_packet_parse(packet_v6, sizeof(packet_v6), 0, &k));
	KUNIT_EXPECT_FALSE(test, k.v4);
	KUNIT_EXPECT_MEMEQ(test, &k.saddr, packet_v6 + 8, 16);
	KUNIT_EXPECT_MEMEQ(test, &k.daddr, packet_v6 + 24, 16);
	KUNIT_EXPECT_EQ(test, ntohs(k.sport), 1);
	KUNIT_EXPECT_EQ(test, ntohs(k.dport), 2);
	KUNIT_EXPECT_EQ(test, k.tos, 0x28);
	KUNIT_EXPECT_EQ(test, k.hops, 64);
}

/* Each of these bytes has one value only, and the length has to be that of the packet. */
static void dgram_packet_refused(struct kunit *test)
{
	static const u8 fixed_v4[] = { 0, 2, 3, 6, 7, 9, 24, 25 };
	static const u8 fixed_v6[] = { 4, 5, 6, 44, 45 };
	u8 buf[sizeof(packet_v6)];
	int i;

	for (i = 0; i < ARRAY_SIZE(fixed_v4); i++) {
		memcpy(buf, packet_v4, sizeof(packet_v4));
		buf[fixed_v4[i]] ^= 1;
		KUNIT_EXPECT_FALSE_MSG(test, parses(buf, sizeof(packet_v4), 0), "byte %d",
				       fixed_v4[i]);
	}
	for (i = 0; i < ARRAY_SIZE(fixed_v6); i++) {
		memcpy(buf, packet_v6, sizeof(packet_v6));
		buf[fixed_v6[i]] ^= 1;
		KUNIT_EXPECT_FALSE_MSG(test, parses(buf, sizeof(packet_v6), 0), "byte %d",
				       fixed_v6[i]);
	}
	KUNIT_EXPECT_FALSE(test, parses(packet_v4, sizeof(packet_v4) - 1, 0));
	KUNIT_EXPECT_FALSE(test, parses(packet_v6, DGRAM_LEN_MIN, 0));
	/* Port 0 is no destination. */
	memcpy(buf, packet_v4, sizeof(packet_v4));
	buf[23] = 0;
	KUNIT_EXPECT_FALSE(test, parses(buf, sizeof(packet_v4), 0));
	/* A v4-mapped source. */
	memcpy(buf, packet_v6, sizeof(packet_v6));
	memset(buf + 8, 0, 10);
	memset(buf + 18, 0xff, 2);
	KUNIT_EXPECT_FALSE(test, parses(buf, sizeof(packet_v6), 0));
}

static void dgram_packet_gso(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, parses(packet_v4, sizeof(packet_v4), 1));
	KUNIT_EXPECT_FALSE(test, parses(packet_v4, sizeof(packet_v4), 2));
	KUNIT_EXPECT_TRUE(test, dgram_gso_valid(64000, 500));
	KUNIT_EXPECT_FALSE(test, dgram_gso_valid(64001, 500));
	KUNIT_EXPECT_FALSE(test, dgram_gso_valid(0, 1));
}

/* The end of an explicit socket of datagrams. */
static void set_end(struct in6_addr *addr, __be16 *type, u32 port)
{
	struct sanx_endpoint ep;

	sanx_endpoint_explicit(&ep, SOCK_DGRAM, 1, port);
	*addr = ep.addr;
	*type = ep.port;
}

/* Both ends are explicit, with ports, of the type; without one it is a refusal. */
static void dgram_explicit_packets(struct kunit *test)
{
	struct dgram_packet good = {}, k;

	set_end(&good.saddr, &good.sport, 0x40000000);
	set_end(&good.daddr, &good.dport, 1);
	KUNIT_EXPECT_TRUE(test, dgram_explicit(&good));
	KUNIT_EXPECT_TRUE(test, dgram_explicit_valid(&good, 50, 0));
	KUNIT_EXPECT_TRUE(test, dgram_explicit_valid(&good, 48, 0));
	KUNIT_EXPECT_FALSE(test, dgram_explicit_valid(&good, 50, 1));

	k = good;
	k.sport = 0;
	KUNIT_EXPECT_TRUE(test, dgram_explicit_valid(&k, 48, 0));
	KUNIT_EXPECT_FALSE(test, dgram_explicit_valid(&k, 49, 0));
	k = good;
	set_end(&k.daddr, &k.dport, 0);
	KUNIT_EXPECT_FALSE(test, dgram_explicit_valid(&k, 50, 0));
	k = good;
	set_end(&k.saddr, &k.sport, 0);
	KUNIT_EXPECT_FALSE(test, dgram_explicit_valid(&k, 50, 0));
	k = good;
	k.sport = htons(SOCK_STREAM);
	KUNIT_EXPECT_FALSE(test, dgram_explicit_valid(&k, 50, 0));
	k = good;
	k.dport = htons(SOCK_STREAM);
	KUNIT_EXPECT_FALSE(test, dgram_explicit_valid(&k, 50, 0));

	/* One end is another address, and then both. */
	k = good;
	k.saddr.s6_addr[7] = 1;
	KUNIT_EXPECT_TRUE(test, dgram_explicit(&k));
	KUNIT_EXPECT_FALSE(test, dgram_explicit_valid(&k, 50, 0));
	k.daddr.s6_addr[7] = 1;
	KUNIT_EXPECT_FALSE(test, dgram_explicit(&k));
}

static struct kunit_case dgram_record_cases[] = {
	KUNIT_CASE(dgram_record_limits),
	KUNIT_CASE(dgram_record_bytes),
	KUNIT_CASE(dgram_packet_fields),
	KUNIT_CASE(dgram_packet_refused),
	KUNIT_CASE(dgram_packet_gso),
	KUNIT_CASE(dgram_explicit_packets),
	{}
};

static struct kunit_suite dgram_record_suite = {
	.name = "sanx_record",
	.test_cases = dgram_record_cases,
};

kunit_test_suite(dgram_record_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: headers of datagrams");
MODULE_LICENSE("GPL");
