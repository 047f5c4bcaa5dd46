// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "sanx", what its operations share, and the counters.
 * netlink_gen.c, with the policies, is generated from
 * Documentation/netlink/specs/sanx.yaml.
 *
 * Changes need CAP_NET_ADMIN in the namespace.  Genetlink checks this, by flags
 * in the generated table.  Every error has a message.
 *
 * Locks: changes are serialised by config_mutex of struct sanx_net.  Dumps read
 * the node map and the port rules under RCU, links and rails under lnet.lock
 * (sanx_links_dump()), and sockets as sockets.c says.
 */
#include <net/netlink.h>

#include "config/config.h"
#include "netlink_priv.h"
#include "netlink.h"
#include "netlink_gen.h"

/* Number of attributes of a type. */
int sanx_nl_attr_count(struct genl_info *info, int type)
{
	struct nlattr *attr;
	int rem, n = 0;

	nla_for_each_attr(attr, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rem)
		n += nla_type(attr) == type;
	return n;
}

/* Return: the @i-th attribute of a type, which caused an error; or NULL. */
struct nlattr *sanx_nl_attr_nth(struct genl_info *info, int type, int i)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rem)
		if (nla_type(attr) == type && i-- == 0)
			return attr;
	return NULL;
}

/**
 * sanx_nl_fail() - fail a request with a message
 * @info: the request
 * @why: the message; a literal, since genetlink reads it after the return
 * @err: -errno
 *
 * Context: any.
 * Return: @err.
 */
int sanx_nl_fail(struct genl_info *info, const char *why, int err)
{
	if (info->extack)
		info->extack->_msg = why;
	return err;
}

/* As sanx_nl_fail(), and say that it is about the @i-th attribute of a type. */
int sanx_nl_fail_attr(struct genl_info *info, int type, int i, const char *why, int err)
{
	if (info->extack)
		info->extack->bad_attr = sanx_nl_attr_nth(info, type, i);
	return sanx_nl_fail(info, why, err);
}

/**
 * sanx_nl_dump_start() - start a message of a dump
 * @skb: the buffer
 * @cb: the dump
 * @cmd: SANX_CMD_*
 *
 * Context: process.
 * Return: its header, or NULL when the buffer is full.
 */
void *sanx_nl_dump_start(struct sk_buff *skb, struct netlink_callback *cb,
			 u8 cmd)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				cb->nlh->nlmsg_seq, &sanx_nl_family,
				NLM_F_MULTI, cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

/*
 * Prepares an answer that is one number, before what it counts is done.
 * @number: where the number goes
 */
struct sk_buff *sanx_nl_reply_u32(struct genl_info *info, u8 cmd, int attr, u32 **number)
{
	struct sk_buff *reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlattr *nla;
	void *hdr;

	if (!reply)
		return NULL;
	hdr = genlmsg_put_reply(reply, info, &sanx_nl_family, 0, cmd);
	nla = hdr ? nla_reserve(reply, attr, sizeof(u32)) : NULL;
	if (!nla) {
		nlmsg_free(reply);
		return NULL;
	}
	*number = nla_data(nla);
	genlmsg_end(reply, hdr);
	return reply;
}

static const u8 stat_attr[__SANX_STATS] = {
	[SANX_STAT_CONNS_LOOP]		= SANX_A_STATS_CONNS_LOOP,
	[SANX_STAT_CONNS_VERBS]		= SANX_A_STATS_CONNS_VERBS,
	[SANX_STAT_CONNS_TCP_RAIL]	= SANX_A_STATS_CONNS_TCP_RAIL,
	[SANX_STAT_DGRAMS_LOOP]		= SANX_A_STATS_DGRAMS_LOOP,
	[SANX_STAT_DGRAMS_UDP]		= SANX_A_STATS_DGRAMS_UDP,
	[SANX_STAT_DGRAMS_VERBS]	= SANX_A_STATS_DGRAMS_VERBS,
	[SANX_STAT_DGRAMS_TCP_RAIL]	= SANX_A_STATS_DGRAMS_TCP_RAIL,
	[SANX_STAT_DROPPED_DENIED]	= SANX_A_STATS_DROPPED_DENIED,
	[SANX_STAT_DROPPED_MEMORY]	= SANX_A_STATS_DROPPED_MEMORY,
	[SANX_STAT_DROPPED_FULL]	= SANX_A_STATS_DROPPED_FULL,
	[SANX_STAT_DROPPED_WAITED]	= SANX_A_STATS_DROPPED_WAITED,
	[SANX_STAT_DROPPED_CLOSED]	= SANX_A_STATS_DROPPED_CLOSED,
	[SANX_STAT_TX_BYTES]		= SANX_A_STATS_TX_BYTES,
	[SANX_STAT_LENT_BYTES]		= SANX_A_STATS_LENT_BYTES,
	[SANX_STAT_RX_BYTES]		= SANX_A_STATS_RX_BYTES,
	[SANX_STAT_RESETS]		= SANX_A_STATS_RESETS,
	[SANX_STAT_PROTOCOL_ERRORS]	= SANX_A_STATS_PROTOCOL_ERRORS,
	[SANX_STAT_LINKS_REFUSED]	= SANX_A_STATS_LINKS_REFUSED,
	[SANX_STAT_REQUESTS_REFUSED]	= SANX_A_STATS_REQUESTS_REFUSED,
	[SANX_STAT_REQUESTS_DELAYED]	= SANX_A_STATS_REQUESTS_DELAYED,
	[SANX_STAT_MEMORY_REFUSED]	= SANX_A_STATS_MEMORY_REFUSED,
	[SANX_STAT_AUTO_REFUSED]	= SANX_A_STATS_AUTO_REFUSED,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_UNMAPPED] =
		SANX_A_STATS_FALLBACK_UNMAPPED,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_PORT] =
		SANX_A_STATS_FALLBACK_PORT,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_LINK] =
		SANX_A_STATS_FALLBACK_LINK,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_REFUSED] =
		SANX_A_STATS_FALLBACK_REFUSED,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_OPTION] =
		SANX_A_STATS_FALLBACK_OPTION,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_ACCEPT] =
		SANX_A_STATS_FALLBACK_ACCEPT,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_ASKED] =
		SANX_A_STATS_FALLBACK_ASKED,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_ROUTE] =
		SANX_A_STATS_FALLBACK_ROUTE,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_DENIED] =
		SANX_A_STATS_FALLBACK_DENIED,
	[SANX_STAT_FALLBACK + SANX_FALLBACK_LIMIT] =
		SANX_A_STATS_FALLBACK_LIMIT,
};

static int stats_put(struct sk_buff *skb, const struct sanx_net *sn)
{
	u64 value, fallbacks = 0;
	int i;

	for (i = 0; i < __SANX_STATS; i++) {
		value = sanx_stat_sum(sn, i);
		if (i >= SANX_STAT_FALLBACK)
			fallbacks += value;
		if (nla_put_u64_64bit(skb, stat_attr[i], value,
				      SANX_A_STATS_PAD))
			return -EMSGSIZE;
	}
	return nla_put_u64_64bit(skb, SANX_A_STATS_CONNS_FALLBACK, fallbacks,
				 SANX_A_STATS_PAD);
}

int sanx_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!reply)
		return sanx_nl_fail(info, "out of memory", -ENOMEM);
	hdr = genlmsg_put_reply(reply, info, &sanx_nl_family, 0,
				SANX_CMD_STATS_GET);
	if (!hdr || stats_put(reply, sanx_net(genl_info_net(info)))) {
		nlmsg_free(reply);
		return sanx_nl_fail(info, "the counters do not fit a message",
			    -EMSGSIZE);
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

static const struct genl_multicast_group groups[] = {
	[SANX_NLGRP_EVENTS]	= { .name = SANX_MCGRP_EVENTS },
};

struct genl_family sanx_nl_family __ro_after_init = {
	.name		= SANX_FAMILY_NAME,
	.version	= SANX_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	SANX_GENL_OPS,
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
	.resv_start_op	= __SANX_CMD_MAX,
};

int __init sanx_netlink_init(void)
{
	int err = genl_register_family(&sanx_nl_family);

	if (err)
		return err;
	sanx_monitor_init();
	return 0;
}

void sanx_netlink_exit(void)
{
	sanx_monitor_exit();
	genl_unregister_family(&sanx_nl_family);
}
