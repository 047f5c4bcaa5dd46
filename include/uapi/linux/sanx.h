/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_SANX: sockets over system area networks.
 *
 * What a program needs to open one, and to ask what a connection would be over.
 * Addresses are struct sockaddr_in and struct sockaddr_in6 with AF_INET and
 * AF_INET6 in them, as for TCP; only the first argument of socket() differs.
 * Explicit sockets have struct sockaddr_sanx.  See af_sanx(7).
 */
#ifndef _UAPI_LINUX_SANX_H
#define _UAPI_LINUX_SANX_H

#include <linux/socket.h>
#include <linux/types.h>

/**
 * define SANX_FAMILY_DEFAULT - the family number when nothing else is asked for
 *
 * A number that the kernel once gave to a family that is gone (AF_WANPIPE).
 * The module parameter "family" overrides it, so a program must take the
 * number in use from /sys/module/af_sanx/parameters/family and use this one
 * only where that file cannot be read.
 */
#define SANX_FAMILY_DEFAULT	25

/*
 * The third argument of socket(): which native socket is beneath.  IPPROTO_TCP
 * means the same as SANXPROTO_INET.
 */
#define SANXPROTO_INET		0	/* sockaddr_in, as AF_INET */
#define SANXPROTO_INET6		41	/* sockaddr_in6, as AF_INET6 */
/* None; and the socket never becomes TCP.  An explicit socket: sockaddr_sanx */
#define SANXPROTO_EXPLICIT	1024

/* In struct sockaddr_sanx, for bind(): this node by whatever id; for connect(): this node. */
#define SANX_NODE_ANY		0
/* For bind(): a port that is free, of 0x40000000 to 0x7fffffff. */
#define SANX_PORT_ANY		0

/**
 * struct sockaddr_sanx - address of an explicit socket
 * @sanx_family: number of the family
 * @sanx_pad: 0
 * @sanx_port: port, in host byte order; those that are privileged of TCP's are so here, too.
 *	The ports of each type of sockets are their own, and not those of TCP and UDP
 * @sanx_node: node id, as in the node map, in host byte order
 * @sanx_zero: 0
 */
struct sockaddr_sanx {
	__kernel_sa_family_t	sanx_family;
	__u16			sanx_pad;
	__u32			sanx_port;
	__u32			sanx_node;
	__u8			sanx_zero[4];
};

/* The level of options of AF_SANX itself ("SANX"); no protocol's. */
#define SOL_SANX		0x53414e58

/* getsockopt() of a socket of streams or records that is not connected: struct sanx_explain. */
#define SANX_EXPLAIN		1

/* Bytes of names, with the 0 at the end. */
#define SANX_NAME_LEN		16

/**
 * struct sanx_explain - what would connect() do here and now, and why?
 * @remote: to be set: the peer's address; IPv4 as v4-mapped
 * @local: address of this end, or zeros if that is not known
 * @port: to be set: the peer's port, big endian; 0 to ask about the peer and no port
 * @rule: the port rule that decides, as "sanxctl ports show" counts them, from 1; 0 if
 *	there is none
 * @node: node id of @remote by the node map, or 0
 * @transport: what would carry, or was asked to carry, the connection: "loop", "verbs" or
 *	"tcp-rail"; empty if none was asked
 * @fallback: empty if it would be that; else why the connection would be plain TCP, as
 *	in af_sanx(7)
 *
 * The transport and the peer are asked, which takes as long as a connect() may take.  No
 * connection is made, and no program of the peer sees anything.
 *
 * Of an explicit socket, @port is 0, and @remote and @local are 0100::/64, the port, which may
 * be 0, and the node, each of these two in 32 bits, big endian.  @fallback is why there would
 * be no connection.
 */
struct sanx_explain {
	__u8	remote[16];
	__u8	local[16];
	__be16	port;
	__u16	rule;
	__u32	node;
	char	transport[SANX_NAME_LEN];
	char	fallback[SANX_NAME_LEN];
};

/*
 * setsockopt() of a stream socket: struct sanx_tally, once, before it is connected; accept()
 * hands it on.  getsockopt() of the first one: an array of struct sanx_tally_row, as many as
 * there is room for.
 */
#define SANX_TALLY		2
/* getsockopt(): likewise, each connection that was kept. */
#define SANX_TALLY_EACH		3

/* Most connections that a tally keeps. */
#define SANX_TALLY_EACH_MAX	1000

/**
 * struct sanx_tally - count this socket's connections, together with those of others
 * @key: says with whom; a number that nobody can guess.  The first socket with it makes the
 *	tally, which lasts as long as one of its sockets
 * @each: of the first one: how many connections to keep beside the sums, at most
 *	SANX_TALLY_EACH_MAX
 * @pad: 0
 */
struct sanx_tally {
	__u64	key;
	__u32	each;
	__u32	pad;
};

/**
 * struct sanx_tally_row - connections that have ended, or sockets that became TCP
 * @local: address of this end, or zeros; IPv4 as v4-mapped
 * @remote: likewise of the peer's
 * @local_port: big endian, or 0
 * @remote_port: likewise
 * @conns: how many this is the sum of
 * @transport: "loop", "verbs", "tcp-rail" or "tcp"
 * @fallback: why it became TCP, as in af_sanx(7); empty if it did not
 * @tx_bytes: bytes sent; of TCP not known, and 0
 * @rx_bytes: likewise received
 */
struct sanx_tally_row {
	__u8	local[16];
	__u8	remote[16];
	__be16	local_port;
	__be16	remote_port;
	__u32	conns;
	char	transport[SANX_NAME_LEN];
	char	fallback[SANX_NAME_LEN];
	__u64	tx_bytes;
	__u64	rx_bytes;
};

/*
 * getsockopt() of an explicit socket of streams or records: struct sanx_node_of.  ENOENT if no
 * node has the address; EAGAIN if its host is under "auto", and is being asked who it is.
 */
#define SANX_NODE_OF		4

/**
 * struct sanx_node_of - which node has an IP address?
 * @addr: to be set; IPv4 as v4-mapped
 * @node: its node id; of an address of this host, that of this host, which may be 0
 */
struct sanx_node_of {
	__u8	addr[16];
	__u32	node;
};

#endif /* _UAPI_LINUX_SANX_H */
