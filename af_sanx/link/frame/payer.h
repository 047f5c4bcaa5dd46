/* SPDX-License-Identifier: GPL-2.0 */
/* Who pays for what connections take: see payer.c and user.c. */
#ifndef _SANX_PAYER_H
#define _SANX_PAYER_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/types.h>

#include "rate.h"

struct net;
struct sanx_link;
struct sanx_user;

/**
 * struct sanx_payer - a node, as far as its links and connections need to know it
 * @refs: its namespace has one while it knows the node, each link has one, and so has memory
 *	that is in @memory
 * @release: called with the last reference
 * @net: the namespace
 * @user: whose that is, with a reference, or NULL for the administrator's
 * @id: its node id
 * @memory: pages of connections, of rings and of what is sent from; no lock
 * @conns: connections, attached or suspended
 * @half_open: links that it has asked for and that are not up, or not any more
 * @reserves: a connection to it is, or was, for memory reclaim itself; set only, no lock
 *
 * @release, @net, @user and @id are constant.
 */
struct sanx_payer {
	struct kref		refs;
	void			(*release)(struct kref *refs);
	struct net		*net;
	struct sanx_user	*user;
	u32			id;
	atomic_long_t		memory;
	atomic_t		conns;
	atomic_t		half_open;
	bool			reserves;
};

/**
 * enum sanx_claim - what memory is for, and so, how much of it there may be
 * @SANX_CLAIM_SAVED: what a lost link has not delivered; there is no limit, as slots have
 *	so few bytes
 * @SANX_CLAIM_LEAST: memory to send from without which a connection cannot go on; there
 *	is no limit, as programs pay for it
 * @SANX_CLAIM_SNDBUF: other memory to send from
 * @SANX_CLAIM_RING: a ring as large as the program asked for
 * @SANX_CLAIM_GROWN: a larger ring: half of what there may be is for the others
 */
enum sanx_claim {
	SANX_CLAIM_SAVED,
	SANX_CLAIM_LEAST,
	SANX_CLAIM_SNDBUF,
	SANX_CLAIM_RING,
	SANX_CLAIM_GROWN,
};

/* payer.c */
void sanx_payer_put(struct sanx_payer *payer);
bool sanx_payer_full(const struct sanx_link *link);
void sanx_payer_conn_add(struct sanx_payer *payer);
void sanx_payer_conn_del(struct sanx_payer *payer);
void sanx_payer_half_open(struct sanx_payer *payer, int n);

/* user.c */
struct sanx_user *sanx_user_find(const struct net *net);
struct sanx_user *sanx_user_get(struct sanx_user *user);
void sanx_user_put(struct sanx_user *user);
bool sanx_user_claim(struct sanx_user *user, u32 pages, u32 quarters);
void sanx_user_take(struct sanx_user *user, u32 pages);
void sanx_user_unclaim(struct sanx_user *user, u32 pages);
bool sanx_user_half_open_full(const struct sanx_user *user);
bool sanx_user_setup(struct sanx_user *user);

#endif /* _SANX_PAYER_H */
