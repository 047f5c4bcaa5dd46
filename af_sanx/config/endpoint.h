/* SPDX-License-Identifier: GPL-2.0 */
/* Where a connection ends, and by what it comes; config.h has it. */
#ifndef _SANX_ENDPOINT_H
#define _SANX_ENDPOINT_H

#include <linux/types.h>
#include <net/ipv6.h>

/**
 * struct sanx_endpoint - an address and a port
 * @addr: IPv6 address, or IPv4 address as v4-mapped
 * @port: big endian
 *
 * That of an explicit socket is a node, a port of 32 bits and the type of the socket.  It
 * is held, sent and compared in this form too, so that what carries connections need not
 * tell the two kinds apart: @addr has the prefix 0100::/64, which RFC 6666 keeps for what is
 * to be discarded, then the port and the node; and @port has the type, which is never 0, as
 * 0 means something in OPEN.  No packet has such an address, and the node map takes none.
 */
struct sanx_endpoint {
	struct in6_addr	addr;
	__be16		port;
};

/* The first 32 bits of the address of an explicit socket; the next 32 are 0. */
#define SANX_EXPLICIT_PREFIX	cpu_to_be32(0x01000000)

/**
 * sanx_addr_explicit() - is it the address of an end of an explicit socket?
 * @addr: the address
 *
 * Return: true if so.
 */
static inline bool sanx_addr_explicit(const struct in6_addr *addr)
{
	return addr->s6_addr32[0] == SANX_EXPLICIT_PREFIX && !addr->s6_addr32[1];
}

/**
 * sanx_addr_node() - node of an end of an explicit socket
 * @addr: its address
 *
 * Return: a node id; 0 for any.
 */
static inline u32 sanx_addr_node(const struct in6_addr *addr)
{
	return be32_to_cpu(addr->s6_addr32[3]);
}

/**
 * sanx_addr_port() - port of an end of an explicit socket
 * @addr: its address
 *
 * Return: a port; 0 for none.
 */
static inline u32 sanx_addr_port(const struct in6_addr *addr)
{
	return be32_to_cpu(addr->s6_addr32[2]);
}

/**
 * sanx_endpoint_explicit() - the end of an explicit socket
 * @ep: set to it
 * @type: SOCK_STREAM and so on
 * @node: node id, or 0 for any
 * @port: port, or 0 for none
 */
static inline void sanx_endpoint_explicit(struct sanx_endpoint *ep, u16 type, u32 node,
					  u32 port)
{
	ep->addr.s6_addr32[0] = SANX_EXPLICIT_PREFIX;
	ep->addr.s6_addr32[1] = 0;
	ep->addr.s6_addr32[2] = cpu_to_be32(port);
	ep->addr.s6_addr32[3] = cpu_to_be32(node);
	ep->port = cpu_to_be16(type);
}

/**
 * sanx_addr_same_host() - are two addresses those of one host, as far as they say?
 * @a: address
 * @b: address
 *
 * Those of explicit sockets have a port, too.
 *
 * Return: true if so.
 */
static inline bool sanx_addr_same_host(const struct in6_addr *a, const struct in6_addr *b)
{
	if (sanx_addr_explicit(a) && sanx_addr_explicit(b))
		return sanx_addr_node(a) == sanx_addr_node(b);
	return ipv6_addr_equal(a, b);
}

/**
 * struct sanx_arrival - the device by which the SYN of a connection would come
 * @dif: its index; that of a VRF for the devices in it
 * @sdif: index of the device in that VRF; else 0
 */
struct sanx_arrival {
	int	dif;
	int	sdif;
};

#endif /* _SANX_ENDPOINT_H */
