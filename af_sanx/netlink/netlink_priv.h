/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the files of af_sanx/netlink/ only. */
#ifndef _SANX_NETLINK_PRIV_H
#define _SANX_NETLINK_PRIV_H

#include <net/genetlink.h>

#include "conn/transport.h"
#include "link/peer/engine.h"

/**
 * struct sanx_nl_dump - a dump of what lower layers report
 * @skb: the message buffer
 * @cb: the dump
 */
struct sanx_nl_dump {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
};

/* Multicast groups of the family. */
enum {
	SANX_NLGRP_EVENTS,
};

/* For callers that hold config_mutex. */
#define config_dereference(sn, p) \
	rcu_dereference_protected(p, lockdep_is_held(&(sn)->config_mutex))

/* netlink.c */
extern struct genl_family sanx_nl_family;
int sanx_nl_attr_count(struct genl_info *info, int type);
struct nlattr *sanx_nl_attr_nth(struct genl_info *info, int type, int i);
int sanx_nl_fail(struct genl_info *info, const char *why, int err);
int sanx_nl_fail_attr(struct genl_info *info, int type, int i, const char *why, int err);
void *sanx_nl_dump_start(struct sk_buff *skb, struct netlink_callback *cb,
			 u8 cmd);
struct sk_buff *sanx_nl_reply_u32(struct genl_info *info, u8 cmd, int attr, u32 **number);

/* nodemap.c */
void sanx_nl_map_changed(struct net *net);

/* links.c */
int sanx_nl_put_link_attrs(struct sk_buff *skb, const struct sanx_link_info *info);

/* rails.c */
int sanx_nl_put_rail_attrs(struct sk_buff *skb, const struct sanx_rail_info *info);

/* sockets.c */
const char *sanx_nl_tcp_state(int state);
bool sanx_nl_put_ends(struct sk_buff *skb, const struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote);
bool sanx_nl_put_bytes(struct sk_buff *skb, u64 sent, u64 came);

/* monitor.c */
void sanx_monitor_init(void);
void sanx_monitor_exit(void);

#endif /* _SANX_NETLINK_PRIV_H */
