/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the files of af_sanx/netlink/ only. */
#ifndef _SANX_NETLINK_INTERNAL_H
#define _SANX_NETLINK_INTERNAL_H

#include <net/genetlink.h>

/* netlink.c */
extern struct genl_family sanx_nl_family;
int sanx_nl_fail(struct genl_info *info, const char *why, int err);
void *sanx_nl_dump_start(struct sk_buff *skb, struct netlink_callback *cb,
			 u8 cmd);
void sanx_nl_map_changed(struct net *net);

#endif /* _SANX_NETLINK_INTERNAL_H */
