// SPDX-License-Identifier: GPL-2.0
/* The operations of the netlink family that are about rails. */
#include <linux/slab.h>
#include <net/netlink.h>

#include "config/config.h"
#include "conn/conn.h"
#include "netlink_priv.h"
#include "netlink_gen.h"

static int put_what(struct sk_buff *skb, const struct sanx_rail_info *info)
{
	return nla_put_u32(skb, SANX_A_RAIL_NODE, info->node) ||
	       nla_put_u32(skb, SANX_A_RAIL_NUMBER, info->number) ||
	       nla_put_string(skb, SANX_A_RAIL_TRANSPORT, info->transport) ||
	       (!ipv6_addr_any(&info->local) &&
		nla_put_in6_addr(skb, SANX_A_RAIL_LOCAL, &info->local)) ||
	       nla_put_in6_addr(skb, SANX_A_RAIL_REMOTE, &info->remote) ||
	       nla_put_string(skb, SANX_A_RAIL_STATE, info->state) ||
	       nla_put_u32(skb, SANX_A_RAIL_ADMIN, info->admin) ||
	       nla_put_u32(skb, SANX_A_RAIL_WEIGHT, info->weight);
}

static int put_counts(struct sk_buff *skb, const struct sanx_rail_info *info)
{
	return nla_put_u32(skb, SANX_A_RAIL_LINKS, info->links) ||
	       nla_put_u32(skb, SANX_A_RAIL_CONNS, info->conns) ||
	       nla_put_u32(skb, SANX_A_RAIL_RTT, info->rtt) ||
	       nla_put_u64_64bit(skb, SANX_A_RAIL_TX_BYTES, info->tx_bytes,
				 SANX_A_RAIL_PAD) ||
	       nla_put_u64_64bit(skb, SANX_A_RAIL_RX_BYTES, info->rx_bytes,
				 SANX_A_RAIL_PAD) ||
	       nla_put_u32(skb, SANX_A_RAIL_ERRORS, info->errors) ||
	       (info->retry_secs &&
		nla_put_u32(skb, SANX_A_RAIL_RETRY_SECS, info->retry_secs)) ||
	       (info->cause && nla_put_string(skb, SANX_A_RAIL_CAUSE, info->cause));
}

/* Put a rail into a message.  Return: 0, or not 0 if there is no room. */
int sanx_nl_put_rail_attrs(struct sk_buff *skb, const struct sanx_rail_info *info)
{
	return put_what(skb, info) || put_counts(skb, info);
}

static int rail_put(void *arg, const struct sanx_rail_info *info)
{
	const struct sanx_nl_dump *d = arg;
	void *hdr = sanx_nl_dump_start(d->skb, d->cb, SANX_CMD_RAIL_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (sanx_nl_put_rail_attrs(d->skb, info)) {
		genlmsg_cancel(d->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(d->skb, hdr);
	return 0;
}

int sanx_nl_rail_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sanx_nl_dump d = { skb, cb };

	/* The dump begins anew if the node map, which it counts in, changes. */
	cb->seq = READ_ONCE(sanx_net(sock_net(skb->sk))->config_seq);
	sanx_rails_dump(sock_net(skb->sk), &cb->args[0], rail_put, &d);
	return skb->len;
}

/* Changes what is said about an address, and leaves the rest as it is. */
static int rail_set(struct sanx_net *sn, struct genl_info *info,
		    enum sanx_wire_kind kind, const struct in6_addr *addr)
{
	struct sanx_rail_settings *old, *new;
	struct sanx_rail_setting set;

	old = rcu_dereference_protected(sn->rail_settings,
					lockdep_is_held(&sn->config_mutex));
	set = sanx_rail_settings_find(old, kind, addr);
	/* What was said of a rail that the node map has no more can be taken back. */
	if (!sanx_rail_node(sn->net, kind, addr) &&
	    set.admin == SANX_RAIL_ADMIN_UP && set.weight == SANX_RAIL_WEIGHT)
		return sanx_nl_fail(info, "no rail in the node map has this address",
				    -ENOENT);
	if (info->attrs[SANX_A_RAIL_ADMIN])
		set.admin = nla_get_u32(info->attrs[SANX_A_RAIL_ADMIN]);
	if (info->attrs[SANX_A_RAIL_WEIGHT])
		set.weight = nla_get_u32(info->attrs[SANX_A_RAIL_WEIGHT]);
	new = sanx_rail_settings_with(old, &set);
	if (!new)
		return sanx_nl_fail(info, "more than 1024 settings, or out of memory",
				    -ENOMEM);
	sanx_rail_settings_publish(sn, new);
	sanx_link_rails_changed(sn->net);
	return 0;
}

int sanx_nl_rail_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct nlattr *tcp = info->attrs[SANX_A_RAIL_TCP];
	enum sanx_wire_kind kind = SANX_WIRE_RDMA;
	struct in6_addr addr;
	int err;

	if (!info->attrs[SANX_A_RAIL_ADDR])
		return sanx_nl_fail(info, "the address of a rail is missing", -EINVAL);
	addr = nla_get_in6_addr(info->attrs[SANX_A_RAIL_ADDR]);
	if (tcp && nla_get_u32(tcp))
		kind = SANX_WIRE_TCP;
	mutex_lock(&sn->config_mutex);
	err = rail_set(sn, info, kind, &addr);
	mutex_unlock(&sn->config_mutex);
	return err;
}
