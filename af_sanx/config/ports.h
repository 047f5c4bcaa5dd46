/* SPDX-License-Identifier: GPL-2.0 */
/* Port rules; config.h has it. */
#ifndef _SANX_PORTS_H
#define _SANX_PORTS_H

#include <linux/bits.h>
#include <linux/in6.h>
#include <linux/types.h>

#include "endpoint.h"

struct net;
struct sanx_net;

/* ports.c */
/**
 * enum sanx_way - which connections a port rule is about; bits
 * @SANX_WAY_OUT: those that programs of this node ask for
 * @SANX_WAY_IN: those that come to listeners of this node
 */
enum sanx_way {
	SANX_WAY_OUT	= BIT(0),
	SANX_WAY_IN	= BIT(1),
};

/**
 * enum sanx_port_space - which ports a port rule is about
 * @SANX_PORT_SPACE_INET: those of TCP and UDP
 * @SANX_PORT_SPACE_EXPLICIT: those of explicit sockets
 */
enum sanx_port_space {
	SANX_PORT_SPACE_INET,
	SANX_PORT_SPACE_EXPLICIT,
};

/**
 * struct sanx_port_rule - one port rule
 * @first: first port of the range, in host byte order; 0: it decides for all ports
 *	of both kinds for which no other rule does
 * @last: last port of the range, in host byte order; 0 if @first is
 * @allow: true to allow these ports, false to deny them
 * @ways: set of enum sanx_way; 0 for both
 * @prefix_len: bits of @prefix that the peer's address must have; 0 for any peer.  For
 *	explicit sockets any address of the peer's node does
 * @node: node that the peer must be, or 0 for any
 * @prefix: IPv6, or IPv4 as v4-mapped; the bits behind @prefix_len are 0
 * @space: whose ports the range has; SANX_PORT_SPACE_INET if @first is 0
 */
struct sanx_port_rule {
	u32			first;
	u32			last;
	bool			allow;
	u8			ways;
	u8			prefix_len;
	u32			node;
	struct in6_addr		prefix;
	enum sanx_port_space	space;
};

/**
 * struct sanx_port_use - a connection that port rules decide about
 * @way: who asks for it
 * @port: the listener's port, in host byte order
 * @node: the peer's node, or 0 if the node map does not have it
 * @peer: the peer's address: the listener's for SANX_WAY_OUT.  It does not count for an
 *	explicit port: those of @node do
 * @space: whose port @port is
 * @map: the node map; NULL for none
 */
struct sanx_port_use {
	enum sanx_way		way;
	u32			port;
	u32			node;
	struct in6_addr		peer;
	enum sanx_port_space	space;
	const struct sanx_nodemap *map;
};

/**
 * struct sanx_ports - the port rules; constant after sanx_ports_publish()
 * @rcu: frees the rules
 * @n: number of rules
 * @rule: the rules; the first that matches decides
 */
struct sanx_ports {
	struct rcu_head		rcu;
	unsigned int		n;
	struct sanx_port_rule	rule[];
};

#define SANX_PORTS_MAX	4096

struct sanx_ports *sanx_ports_alloc(unsigned int n);
bool sanx_ports_allow(const struct sanx_ports *ports,
		      const struct sanx_port_use *use);
struct sanx_ports *sanx_ports_append(const struct sanx_ports *ports,
				     const struct sanx_ports *more);
struct sanx_ports *sanx_ports_without(const struct sanx_ports *ports,
				      const struct sanx_ports *less,
				      unsigned int *missing);
void sanx_ports_publish(struct sanx_net *sn, struct sanx_ports *ports);
bool sanx_port_rule(struct net *net, enum sanx_way way,
		    const struct in6_addr *peer, const struct sanx_endpoint *at,
		    unsigned int *nr);
bool sanx_port_allowed(struct net *net, enum sanx_way way, const struct in6_addr *peer,
		       const struct sanx_endpoint *at);

#endif /* _SANX_PORTS_H */
