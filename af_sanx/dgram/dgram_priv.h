/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the files of af_sanx/dgram/ only. */
#ifndef _SANX_DGRAM_PRIV_H
#define _SANX_DGRAM_PRIV_H

#include <linux/in6.h>
#include <linux/seqlock.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/types.h>

#include "config/config.h"
#include "dgram.h"

struct sanx_carrier;
struct sock;

/*
 * A packet of up to this size is one object of the allocator.  The payload of larger ones is
 * in pages.
 */
#define SANX_DGRAM_LINEAR	SKB_WITH_OVERHEAD(4096)

/*
 * Makes @linear more bytes at the end of a packet's first part valid, and @paged bytes in its
 * pages, as alloc_skb_with_frags() and sock_alloc_send_pskb() have left room for them.
 */
static inline void sanx_dgram_put(struct sk_buff *skb, u32 linear, u32 paged)
{
	skb_put(skb, linear);
	skb->data_len = paged;
	skb->len += paged;
}

/**
 * struct sanx_dgram_dest - where a datagram goes to, and what its route depends on
 * @daddr: destination; IPv4 as v4-mapped
 * @saddr: source that the program or bind() has chosen, or the unspecified address
 *	to have the route choose it; IPv4 as v4-mapped
 * @oif: index of the device that the program has chosen, or 0
 * @mark: SO_MARK
 * @tos: type of service or traffic class
 *
 * All of it is the key of a route.  There is no padding, so that memcmp() compares.
 */
struct sanx_dgram_dest {
	struct in6_addr	daddr;
	struct in6_addr	saddr;
	int		oif;
	u32		mark;
	u32		tos;
};

/**
 * struct sanx_dgram_route - what IP's routes say about a destination
 * @saddr: source address; IPv4 as v4-mapped
 * @ifindex: index of the device that has the destination, by which the packet seems to
 *	come in
 * @mtu: bytes of the largest packet
 * @hops: TTL or hop limit, if the program has chosen none
 * @local: packets to the destination come back by lo
 * @gateway: they pass a router
 * @peer: the node in the node map that has the destination, if datagrams can go there by a
 *	link; else 0
 */
struct sanx_dgram_route {
	struct in6_addr	saddr;
	int		ifindex;
	u32		mtu;
	u8		hops;
	bool		local;
	bool		gateway;
	u32		peer;
};

/**
 * enum sanx_dgram_way - where a datagram goes
 * @SANX_DGRAM_UDP: to UDP
 * @SANX_DGRAM_LOOP: to a socket of this node
 * @SANX_DGRAM_LINK: to a node in the node map
 */
enum sanx_dgram_way {
	SANX_DGRAM_UDP,
	SANX_DGRAM_LOOP,
	SANX_DGRAM_LINK,
};

/**
 * struct sanx_dgram - a datagram that a program sends
 * @dest: where to
 * @route: how
 * @v4: it is one of IPv4
 * @df: it must not be fragmented (IP_MTU_DISCOVER)
 * @sport: source port
 * @dport: destination port
 * @hops: TTL or hop limit that the program has chosen, or -1
 * @gso_size: bytes of each datagram that the payload is cut into, or 0
 */
struct sanx_dgram {
	struct sanx_dgram_dest	dest;
	struct sanx_dgram_route	route;
	bool			v4;
	bool			df;
	__be16			sport;
	__be16			dport;
	int			hops;
	u16			gso_size;
};

/**
 * struct sanx_dgram_sock - the AF_SANX part of a datagram socket
 * @native: proto_ops of the UDP socket, with a reference of their owner
 * @lock: guards the fields below
 * @genid: number of the routes that @route comes from
 * @seq: number of the configuration that it comes from
 * @dest: destination of the last datagram; zero before the first one, which no
 *	destination is
 * @route: its route; valid if @genid and @seq are those of now
 */
struct sanx_dgram_sock {
	const struct proto_ops	*native;
	seqlock_t		lock; /* guards: see above */
	u32			genid;
	u32			seq;
	struct sanx_dgram_dest	dest;
	struct sanx_dgram_route	route;
};

/* ops.c */
bool sanx_dgram_is_ours(const struct sock *sk);

/* msg.c */
bool sanx_dgram_parse(struct sock *sk, struct msghdr *msg, size_t len,
		      struct sanx_dgram *d);

/* route.c */
enum sanx_dgram_way sanx_dgram_route(struct sanx_dgram_sock *ds, struct sock *sk,
				     struct sanx_dgram *d, size_t len);
bool sanx_dgram_policies(const struct net *net);

/* receiver.c */
bool sanx_dgram_allowed(const struct sanx_dgram *d, struct net *net, enum sanx_way way,
			const struct in6_addr *peer);
bool sanx_dgram_takes(const struct sanx_dgram *d, struct net *net, bool *gro);
bool sanx_dgram_deliver(const struct sanx_dgram *d, struct net *net, bool gro,
			struct sk_buff_head *list);
void sanx_dgram_count(const struct sanx_dgram *d, struct net *net, int field);
int sanx_dgram_enqueue(struct sock *rsk, struct sk_buff *skb);

/* explicit.c */
void sanx_dgram_set_ops(const struct sanx_dgram_ops *ops);

/* skb.c */
unsigned int sanx_dgram_header_size(const struct sanx_dgram *d);
void sanx_dgram_set_gso(struct sk_buff *skb, u16 size);
void sanx_dgram_set_cb(struct sk_buff *skb, const struct sanx_dgram *d);
struct sk_buff *sanx_dgram_make_charged(struct sock *sk, const struct sanx_dgram *d,
					struct msghdr *msg, size_t len, int *err);
int sanx_dgram_make(struct sock *sk, const struct sanx_dgram *d, bool gro,
		    struct msghdr *msg, size_t len, struct sk_buff_head *list);
struct sk_buff *sanx_dgram_make_headers(const struct sanx_dgram *d);

/* find.c; sanx_carrier_put() is in carrier.c */
bool sanx_carrier_there(struct net *net, const struct sanx_dgram *d);
struct sanx_carrier *sanx_carrier_get(struct net *net, const struct sanx_dgram *d);
struct sanx_carrier *sanx_carrier_ask(struct net *net, const struct sanx_dgram *d);
void sanx_carrier_put(struct sanx_carrier *c);
bool sanx_carrier_full(const struct sanx_carrier *c);
void sanx_carrier_send(struct sanx_carrier *c, struct sk_buff *skb);
void sanx_carrier_answer(struct sanx_carrier *c, struct sk_buff *skb);
int sanx_carriers_init(void);
void sanx_carriers_exit(void);

#endif /* _SANX_DGRAM_PRIV_H */
