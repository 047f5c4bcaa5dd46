/* SPDX-License-Identifier: GPL-2.0 */
/* Datagram sockets, for the family. */
#ifndef _SANX_DGRAM_H
#define _SANX_DGRAM_H

#include <linux/types.h>

struct msghdr;
struct net;
struct sanx_endpoint;
struct sk_buff;
struct sock;
struct socket;

/* Bytes of the longest datagram of an explicit socket: those of UDP over IPv6. */
#define SANX_DGRAM_EXPLICIT_MAX	(0xffffU - 8)

/**
 * struct sanx_dgram_ops - what af_sanx/socket/ does for datagrams
 * @find: find the explicit socket whose end is @at, and which is connected to @peer or, unless
 *	@connected, to none.  Context: under RCU, which keeps the sock (SOCK_RCU_FREE).
 *	Return: its sock, which is one of UDP, or NULL.
 */
struct sanx_dgram_ops {
	struct sock *(*find)(struct net *net, const struct sanx_endpoint *at,
			     const struct sanx_endpoint *peer, bool connected);
};

/* ops.c */
int sanx_dgram_adopt(struct socket *native, struct socket *sock);
int sanx_dgram_init(const struct sanx_dgram_ops *ops);
void sanx_dgram_exit(void);

/* carrier.c */
void sanx_carriers_serve(struct net *net);

/* explicit.c */
int sanx_dgram_send_explicit(struct sock *sk, const struct sanx_endpoint *from,
			     const struct sanx_endpoint *to, struct msghdr *msg, size_t len);
void sanx_dgram_source(const struct sk_buff *skb, struct sanx_endpoint *from);

#endif /* _SANX_DGRAM_H */
