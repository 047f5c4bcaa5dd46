/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/sanx.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_SANX_GEN_H
#define _LINUX_SANX_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/sanx_netlink.h>

/* Common nested types */
extern const struct nla_policy sanx_auto_nl_policy[SANX_A_AUTO_PREFIX_LEN + 1];
extern const struct nla_policy sanx_node_nl_policy[SANX_A_NODE_FOUND_SECS + 1];
extern const struct nla_policy sanx_port_rule_nl_policy[SANX_A_PORT_RULE_EXPLICIT_LAST + 1];

/* Ops table for sanx */
extern const struct genl_split_ops sanx_nl_ops[19];

int sanx_nl_nodemap_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int sanx_nl_nodemap_load_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_nodemap_add_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_nodemap_del_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_ports_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sanx_nl_ports_load_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_ports_add_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_ports_del_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sanx_nl_socket_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sanx_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_ports_apply_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_key_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sanx_nl_key_add_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_key_del_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_rail_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sanx_nl_rail_set_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_link_reset_doit(struct sk_buff *skb, struct genl_info *info);
int sanx_nl_socket_end_doit(struct sk_buff *skb, struct genl_info *info);

#endif /* _LINUX_SANX_GEN_H */
