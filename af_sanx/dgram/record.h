/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagrams in the stream of an implicit connection.
 *
 * Each is a header, and behind it the packet that UDP would have sent, from its IP header
 * on, without checksums.  Documentation/protocol.rst is the specification.
 *
 * This file is pure: it uses no socket and no sk_buff; kunit/record_test.c tests it.
 */
#ifndef _SANX_DGRAM_RECORD_H
#define _SANX_DGRAM_RECORD_H

#include <linux/errno.h>
#include <linux/in6.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/net.h>
#include <net/ipv6.h>
#include <asm/byteorder.h>

#include "config/config.h"

/* Bytes of the headers of a packet, IP's and UDP's; those of IPv4 make the shortest one. */
#define DGRAM_HEADERS_V4	28U
#define DGRAM_HEADERS_V6	48U
#define DGRAM_LEN_MIN		DGRAM_HEADERS_V4
/* The longest packet is one of IPv6. */
#define DGRAM_LEN_MAX		(40U + 0xffffU)
/* Datagrams that one packet may be cut into: UDP_MAX_SEGMENTS of any kernel. */
#define DGRAM_SEGMENTS		128U

/**
 * struct dgram_record - header of a datagram, little endian
 * @len: bytes of the packet behind it
 * @gso_size: the payload is that of several datagrams, of so many bytes each but for the
 *	last one (UDP_SEGMENT); or 0
 * @reserved: 0
 */
struct dgram_record {
	__le32	len;
	__le16	gso_size;
	__le16	reserved;
} __packed;

/**
 * dgram_record_fill() - write a header
 * @f: filled
 * @len: bytes of the packet
 * @gso_size: as in &struct dgram_record
 */
static inline void dgram_record_fill(struct dgram_record *f, u32 len, u16 gso_size)
{
	f->len = cpu_to_le32(len);
	f->gso_size = cpu_to_le16(gso_size);
	f->reserved = 0;
}

/**
 * dgram_record_parse() - read and check a header
 * @f: as it came
 * @len: set to the bytes of the packet
 * @gso_size: set, as in &struct dgram_record
 *
 * Return: 0, or -EPROTO if no correct peer sends that.
 */
static inline int dgram_record_parse(const struct dgram_record *f, u32 *len, u16 *gso_size)
{
	*len = le32_to_cpu(f->len);
	*gso_size = le16_to_cpu(f->gso_size);
	return f->reserved || *len < DGRAM_LEN_MIN || *len > DGRAM_LEN_MAX ? -EPROTO : 0;
}

/**
 * struct dgram_packet - the headers of a packet
 * @saddr: where it comes from; IPv4 as v4-mapped
 * @daddr: where it goes to
 * @sport: source port
 * @dport: destination port
 * @tos: type of service or traffic class
 * @hops: TTL or hop limit
 * @v4: it is one of IPv4
 */
struct dgram_packet {
	struct in6_addr	saddr;
	struct in6_addr	daddr;
	__be16		sport;
	__be16		dport;
	u8		tos;
	u8		hops;
	bool		v4;
};

static inline u32 dgram_be16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

/* RFC 791, 3.1: no options, not a fragment. */
static inline bool dgram_parse_v4(const u8 *p, u32 len, struct dgram_packet *k)
{
	__be32 addr[2];

	if (p[0] != 0x45 || dgram_be16(p + 2) != len || dgram_be16(p + 6) || p[9] != 17)
		return false;
	memcpy(addr, p + 12, sizeof(addr));
	ipv6_addr_set_v4mapped(addr[0], &k->saddr);
	ipv6_addr_set_v4mapped(addr[1], &k->daddr);
	k->tos = p[1];
	k->hops = p[8];
	k->v4 = true;
	return true;
}

/* RFC 8200, 3: no extension headers.  v4-mapped addresses are those of IPv4. */
static inline bool dgram_parse_v6(const u8 *p, u32 len, struct dgram_packet *k)
{
	if (len < DGRAM_HEADERS_V6 || p[0] >> 4 != 6 || dgram_be16(p + 4) != len - 40 ||
	    p[6] != 17)
		return false;
	memcpy(&k->saddr, p + 8, sizeof(k->saddr));
	memcpy(&k->daddr, p + 24, sizeof(k->daddr));
	k->tos = dgram_be16(p) >> 4;
	k->hops = p[7];
	k->v4 = false;
	return !ipv6_addr_v4mapped(&k->saddr) && !ipv6_addr_v4mapped(&k->daddr);
}

/* Has a correct peer cut it so?  More pieces than one, and not too many. */
static inline bool dgram_gso_valid(u32 payload, u16 gso_size)
{
	return !gso_size ||
	       (payload > gso_size && payload <= (u32)gso_size * DGRAM_SEGMENTS);
}

/**
 * dgram_packet_parse() - read and check the headers of a packet
 * @p: its bytes, of which the first DGRAM_HEADERS_V6 are there, or all
 * @len: bytes of the packet, at least DGRAM_LEN_MIN
 * @gso_size: as in &struct dgram_record
 * @k: set
 *
 * Return: false if no correct peer sends that.
 */
static inline bool dgram_packet_parse(const u8 *p, u32 len, u16 gso_size,
				      struct dgram_packet *k)
{
	u32 headers;

	if (!dgram_parse_v4(p, len, k) && !dgram_parse_v6(p, len, k))
		return false;
	headers = k->v4 ? DGRAM_HEADERS_V4 : DGRAM_HEADERS_V6;
	p += headers - 8;
	memcpy(&k->sport, p, 2);
	memcpy(&k->dport, p + 2, 2);
	return k->dport && dgram_be16(p + 4) == len - headers + 8 &&
	       dgram_gso_valid(len - headers, gso_size);
}

/* Is it one between explicit sockets?  Both ends are, then (struct sanx_endpoint). */
static inline bool dgram_explicit(const struct dgram_packet *k)
{
	return sanx_addr_explicit(&k->saddr) || sanx_addr_explicit(&k->daddr);
}

/**
 * dgram_explicit_valid() - check a packet of which an end is that of an explicit socket
 * @k: its headers.  @sport is 0 if there is no socket at that end: it answers a datagram which
 *	went there
 * @len: bytes of it
 * @gso_size: as in &struct dgram_record
 *
 * Return: false if no correct peer sends that.
 */
static inline bool dgram_explicit_valid(const struct dgram_packet *k, u32 len, u16 gso_size)
{
	return sanx_addr_explicit(&k->saddr) && sanx_addr_explicit(&k->daddr) &&
	       sanx_addr_port(&k->saddr) && sanx_addr_port(&k->daddr) &&
	       k->dport == htons(SOCK_DGRAM) && !gso_size &&
	       (k->sport ? k->sport == htons(SOCK_DGRAM) : len == DGRAM_HEADERS_V6);
}

#endif /* _SANX_DGRAM_RECORD_H */
