// SPDX-License-Identifier: GPL-2.0
/* Links, over netlink. */
#include <net/netlink.h>

#include "netlink_priv.h"
#include "netlink_gen.h"

static int link_put_moves(struct sk_buff *skb, const struct sanx_link_info *info)
{
	if (info->rail >= 0 && nla_put_u32(skb, SANX_A_LINK_RAIL, info->rail))
		return -EMSGSIZE;
	if (info->standby && nla_put_u32(skb, SANX_A_LINK_STANDBY, 1))
		return -EMSGSIZE;
	if (info->retry_secs &&
	    nla_put_u32(skb, SANX_A_LINK_RETRY_SECS, info->retry_secs))
		return -EMSGSIZE;
	if (!info->up)
		return 0;
	if (nla_put_u32(skb, SANX_A_LINK_UP_SECS, info->up_secs) ||
	    nla_put_u32(skb, SANX_A_LINK_MOVES, info->moves))
		return -EMSGSIZE;
	if (!info->moved)
		return 0;
	return nla_put_string(skb, SANX_A_LINK_MOVED, info->moved) ?:
	       nla_put_u32(skb, SANX_A_LINK_MOVED_SECS, info->moved_secs);
}

/* Put a link into a message.  Return: 0, or not 0 if there is no room. */
int sanx_nl_put_link_attrs(struct sk_buff *skb, const struct sanx_link_info *info)
{
	return nla_put_u32(skb, SANX_A_LINK_NODE, info->node) ||
	       nla_put_string(skb, SANX_A_LINK_TRANSPORT, info->transport) ||
	       nla_put_string(skb, SANX_A_LINK_DEVICE, info->device) ||
	       nla_put_string(skb, SANX_A_LINK_STATE, info->state) ||
	       nla_put_u32(skb, SANX_A_LINK_CONNS, info->conns) ||
	       nla_put_in6_addr(skb, SANX_A_LINK_LOCAL, &info->local) ||
	       nla_put_in6_addr(skb, SANX_A_LINK_REMOTE, &info->remote) ||
	       nla_put_u32(skb, SANX_A_LINK_RTT, info->rtt) ||
	       nla_put_u32(skb, SANX_A_LINK_LONG_MIN, info->long_min) ||
	       nla_put_u32(skb, SANX_A_LINK_LANE, info->lane) ||
	       (info->key && nla_put_u32(skb, SANX_A_LINK_KEY, info->key)) ||
	       (info->why && nla_put_string(skb, SANX_A_LINK_WHY, info->why)) ||
	       link_put_moves(skb, info);
}

/* Adds a link to a dump; cb->args[0] counts the links added. */
static int link_put(void *arg, const struct sanx_link_info *info)
{
	const struct sanx_nl_dump *d = arg;
	void *hdr = sanx_nl_dump_start(d->skb, d->cb, SANX_CMD_LINK_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (sanx_nl_put_link_attrs(d->skb, info)) {
		genlmsg_cancel(d->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(d->skb, hdr);
	d->cb->args[0]++;
	return 0;
}

int sanx_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sanx_nl_dump d = { skb, cb };

	sanx_links_dump(sock_net(skb->sk), cb->args[0], link_put, &d);
	return skb->len;
}

int sanx_nl_link_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *node = info->attrs[SANX_A_LINK_NODE];
	const struct nlattr *lane = info->attrs[SANX_A_LINK_LANE];
	struct sk_buff *reply;
	int which = -1;
	u32 *ended;

	if (!node)
		return sanx_nl_fail(info, "no node", -EINVAL);
	if (lane)
		which = min_t(u32, nla_get_u32(lane), INT_MAX);
	reply = sanx_nl_reply_u32(info, SANX_CMD_LINK_RESET, SANX_A_LINK_ENDED, &ended);
	if (!reply)
		return -ENOMEM;
	*ended = sanx_links_reset(genl_info_net(info), nla_get_u32(node), which);
	return genlmsg_reply(reply, info);
}
