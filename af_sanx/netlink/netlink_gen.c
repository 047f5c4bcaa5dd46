// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/sanx.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/sanx_netlink.h>

/* Common nested types */
const struct nla_policy sanx_auto_nl_policy[SANX_A_AUTO_PREFIX_LEN + 1] = {
	[SANX_A_AUTO_PREFIX] = NLA_POLICY_EXACT_LEN(SANX_ADDR_LEN),
	[SANX_A_AUTO_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
};

const struct nla_policy sanx_node_nl_policy[SANX_A_NODE_FOUND_SECS + 1] = {
	[SANX_A_NODE_ADDR] = NLA_POLICY_EXACT_LEN(SANX_ADDR_LEN),
	[SANX_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SANX_A_NODE_RAIL] = NLA_POLICY_EXACT_LEN(SANX_ADDR_LEN),
	[SANX_A_NODE_TCP_RAIL] = NLA_POLICY_EXACT_LEN(SANX_ADDR_LEN),
	[SANX_A_NODE_FOUND_SECS] = { .type = NLA_U32, },
};

const struct nla_policy sanx_port_rule_nl_policy[SANX_A_PORT_RULE_EXPLICIT_LAST + 1] = {
	[SANX_A_PORT_RULE_ACTION] = NLA_POLICY_MAX(NLA_U32, 1),
	[SANX_A_PORT_RULE_FIRST] = { .type = NLA_U16, },
	[SANX_A_PORT_RULE_LAST] = { .type = NLA_U16, },
	[SANX_A_PORT_RULE_WAY] = NLA_POLICY_MASK(NLA_U32, 0x3),
	[SANX_A_PORT_RULE_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
	[SANX_A_PORT_RULE_PREFIX] = NLA_POLICY_EXACT_LEN(SANX_ADDR_LEN),
	[SANX_A_PORT_RULE_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[SANX_A_PORT_RULE_EXPLICIT_FIRST] = { .type = NLA_U32, },
	[SANX_A_PORT_RULE_EXPLICIT_LAST] = { .type = NLA_U32, },
};

/* SANX_CMD_NODEMAP_LOAD - do */
static const struct nla_policy sanx_nodemap_load_nl_policy[SANX_A_NODEMAP_SELF + 1] = {
	[SANX_A_NODEMAP_NODE] = NLA_POLICY_NESTED(sanx_node_nl_policy),
	[SANX_A_NODEMAP_AUTO] = NLA_POLICY_NESTED(sanx_auto_nl_policy),
	[SANX_A_NODEMAP_SELF] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* SANX_CMD_NODEMAP_ADD - do */
static const struct nla_policy sanx_nodemap_add_nl_policy[SANX_A_NODEMAP_NODE + 1] = {
	[SANX_A_NODEMAP_NODE] = NLA_POLICY_NESTED(sanx_node_nl_policy),
};

/* SANX_CMD_NODEMAP_DEL - do */
static const struct nla_policy sanx_nodemap_del_nl_policy[SANX_A_NODEMAP_NODE + 1] = {
	[SANX_A_NODEMAP_NODE] = NLA_POLICY_NESTED(sanx_node_nl_policy),
};

/* SANX_CMD_PORTS_LOAD - do */
static const struct nla_policy sanx_ports_load_nl_policy[SANX_A_PORTS_RULE + 1] = {
	[SANX_A_PORTS_RULE] = NLA_POLICY_NESTED(sanx_port_rule_nl_policy),
};

/* SANX_CMD_PORTS_ADD - do */
static const struct nla_policy sanx_ports_add_nl_policy[SANX_A_PORTS_RULE + 1] = {
	[SANX_A_PORTS_RULE] = NLA_POLICY_NESTED(sanx_port_rule_nl_policy),
};

/* SANX_CMD_PORTS_DEL - do */
static const struct nla_policy sanx_ports_del_nl_policy[SANX_A_PORTS_RULE + 1] = {
	[SANX_A_PORTS_RULE] = NLA_POLICY_NESTED(sanx_port_rule_nl_policy),
};

/* SANX_CMD_KEY_ADD - do */
static const struct nla_policy sanx_key_add_nl_policy[SANX_A_KEY_SECRET + 1] = {
	[SANX_A_KEY_NODE] = { .type = NLA_U32, },
	[SANX_A_KEY_SECRET] = NLA_POLICY_EXACT_LEN(SANX_KEY_LEN),
};

/* SANX_CMD_KEY_DEL - do */
static const struct nla_policy sanx_key_del_nl_policy[SANX_A_KEY_ID + 1] = {
	[SANX_A_KEY_NODE] = { .type = NLA_U32, },
	[SANX_A_KEY_ID] = { .type = NLA_U32, },
};

/* SANX_CMD_RAIL_SET - do */
static const struct nla_policy sanx_rail_set_nl_policy[SANX_A_RAIL_TCP + 1] = {
	[SANX_A_RAIL_ADDR] = NLA_POLICY_EXACT_LEN(SANX_ADDR_LEN),
	[SANX_A_RAIL_TCP] = NLA_POLICY_MAX(NLA_U32, 1),
	[SANX_A_RAIL_ADMIN] = NLA_POLICY_MAX(NLA_U32, 2),
	[SANX_A_RAIL_WEIGHT] = NLA_POLICY_MAX(NLA_U32, 255),
};

/* SANX_CMD_LINK_RESET - do */
static const struct nla_policy sanx_link_reset_nl_policy[SANX_A_LINK_LANE + 1] = {
	[SANX_A_LINK_NODE] = { .type = NLA_U32, },
	[SANX_A_LINK_LANE] = { .type = NLA_U32, },
};

/* SANX_CMD_SOCKET_END - do */
static const struct nla_policy sanx_socket_end_nl_policy[SANX_A_SOCKET_INODE + 1] = {
	[SANX_A_SOCKET_INODE] = { .type = NLA_U64, },
};

/* Ops table for sanx */
const struct genl_split_ops sanx_nl_ops[19] = {
	{
		.cmd	= SANX_CMD_NODEMAP_GET,
		.dumpit	= sanx_nl_nodemap_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SANX_CMD_NODEMAP_LOAD,
		.doit		= sanx_nl_nodemap_load_doit,
		.policy		= sanx_nodemap_load_nl_policy,
		.maxattr	= SANX_A_NODEMAP_SELF,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SANX_CMD_NODEMAP_ADD,
		.doit		= sanx_nl_nodemap_add_doit,
		.policy		= sanx_nodemap_add_nl_policy,
		.maxattr	= SANX_A_NODEMAP_NODE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SANX_CMD_NODEMAP_DEL,
		.doit		= sanx_nl_nodemap_del_doit,
		.policy		= sanx_nodemap_del_nl_policy,
		.maxattr	= SANX_A_NODEMAP_NODE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SANX_CMD_PORTS_GET,
		.dumpit	= sanx_nl_ports_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SANX_CMD_PORTS_LOAD,
		.doit		= sanx_nl_ports_load_doit,
		.policy		= sanx_ports_load_nl_policy,
		.maxattr	= SANX_A_PORTS_RULE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SANX_CMD_PORTS_ADD,
		.doit		= sanx_nl_ports_add_doit,
		.policy		= sanx_ports_add_nl_policy,
		.maxattr	= SANX_A_PORTS_RULE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SANX_CMD_PORTS_DEL,
		.doit		= sanx_nl_ports_del_doit,
		.policy		= sanx_ports_del_nl_policy,
		.maxattr	= SANX_A_PORTS_RULE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SANX_CMD_LINK_GET,
		.dumpit	= sanx_nl_link_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= SANX_CMD_SOCKET_GET,
		.dumpit	= sanx_nl_socket_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= SANX_CMD_STATS_GET,
		.doit	= sanx_nl_stats_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SANX_CMD_PORTS_APPLY,
		.doit	= sanx_nl_ports_apply_doit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SANX_CMD_KEY_GET,
		.dumpit	= sanx_nl_key_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SANX_CMD_KEY_ADD,
		.doit		= sanx_nl_key_add_doit,
		.policy		= sanx_key_add_nl_policy,
		.maxattr	= SANX_A_KEY_SECRET,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SANX_CMD_KEY_DEL,
		.doit		= sanx_nl_key_del_doit,
		.policy		= sanx_key_del_nl_policy,
		.maxattr	= SANX_A_KEY_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SANX_CMD_RAIL_GET,
		.dumpit	= sanx_nl_rail_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SANX_CMD_RAIL_SET,
		.doit		= sanx_nl_rail_set_doit,
		.policy		= sanx_rail_set_nl_policy,
		.maxattr	= SANX_A_RAIL_TCP,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SANX_CMD_LINK_RESET,
		.doit		= sanx_nl_link_reset_doit,
		.policy		= sanx_link_reset_nl_policy,
		.maxattr	= SANX_A_LINK_LANE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SANX_CMD_SOCKET_END,
		.doit		= sanx_nl_socket_end_doit,
		.policy		= sanx_socket_end_nl_policy,
		.maxattr	= SANX_A_SOCKET_INODE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};
