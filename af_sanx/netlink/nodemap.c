// SPDX-License-Identifier: GPL-2.0
/* The node map, over netlink. */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "config/config.h"
#include "netlink_priv.h"
#include "netlink_gen.h"

static int node_parse(struct sanx_nodemap_entry *e, struct nlattr *nest,
		      bool addr_only, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SANX_A_NODE_MAX + 1], *attr;
	int rem, err;

	err = nla_parse_nested(tb, SANX_A_NODE_MAX, nest, sanx_node_nl_policy,
			       extack);
	if (err)
		return err;
	if (!tb[SANX_A_NODE_ADDR] || (!addr_only && !tb[SANX_A_NODE_ID])) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a host needs an address and a node id");
		return -EINVAL;
	}
	e->addr = nla_get_in6_addr(tb[SANX_A_NODE_ADDR]);
	if (addr_only)
		return 0;
	e->node.id = nla_get_u32(tb[SANX_A_NODE_ID]);
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != SANX_A_NODE_RAIL &&
		    nla_type(attr) != SANX_A_NODE_TCP_RAIL)
			continue;
		if (e->node.n_rails == SANX_NODE_RAILS) {
			NL_SET_ERR_MSG_ATTR(extack, nest,
					    "a host has more rails than the 4 expected at most");
			return -E2BIG;
		}
		e->node.kind[e->node.n_rails] =
			nla_type(attr) == SANX_A_NODE_RAIL ? SANX_WIRE_RDMA :
							     SANX_WIRE_TCP;
		e->node.rail[e->node.n_rails++] = nla_get_in6_addr(attr);
	}
	return 0;
}

static int prefix_parse(struct sanx_prefix *prefix, struct nlattr *nest,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SANX_A_AUTO_MAX + 1];
	struct in6_addr addr;
	int err;

	err = nla_parse_nested(tb, SANX_A_AUTO_MAX, nest, sanx_auto_nl_policy,
			       extack);
	if (err)
		return err;
	if (!tb[SANX_A_AUTO_PREFIX]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "auto needs a prefix");
		return -EINVAL;
	}
	addr = nla_get_in6_addr(tb[SANX_A_AUTO_PREFIX]);
	prefix->len = tb[SANX_A_AUTO_PREFIX_LEN] ?
		      nla_get_u8(tb[SANX_A_AUTO_PREFIX_LEN]) : 128;
	ipv6_addr_prefix(&prefix->addr, &addr, prefix->len);
	return 0;
}

/* Reads where nodes are to be found. */
static int autos_parse(struct sanx_auto *autos, struct genl_info *info)
{
	struct nlattr *self = info->attrs[SANX_A_NODEMAP_SELF], *attr;
	int n = sanx_nl_attr_count(info, SANX_A_NODEMAP_AUTO), rem, err;

	if (!n)
		return 0;
	if (n > SANX_AUTO_MAX)
		return sanx_nl_fail(info, "more than 64 prefixes under auto", -E2BIG);
	if (!self)
		return sanx_nl_fail(info, "auto needs the node id of this machine",
				    -EINVAL);
	autos->self = nla_get_u32(self);
	nla_for_each_attr(attr, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rem) {
		if (nla_type(attr) != SANX_A_NODEMAP_AUTO)
			continue;
		err = prefix_parse(&autos->prefix[autos->n++], attr,
				   info->extack);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Reads and checks the map in a message.
 * @addr_only: entries need no node id
 * Return: the map, owned by the caller; or ERR_PTR() with the message set.
 */
static struct sanx_nodemap *nodemap_parse(struct genl_info *info,
					  bool addr_only)
{
	int n = sanx_nl_attr_count(info, SANX_A_NODEMAP_NODE), i = 0, rem, err;
	struct sanx_nodemap *map;
	struct nlattr *attr;
	const char *why = NULL;
	unsigned int bad = 0;

	if (n > SANX_NODEMAP_MAX)
		return ERR_PTR(sanx_nl_fail(info, "more than 65536 hosts", -E2BIG));
	map = sanx_nodemap_alloc(n);
	if (!map)
		return ERR_PTR(sanx_nl_fail(info, "out of memory", -ENOMEM));
	nla_for_each_attr(attr, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rem) {
		if (nla_type(attr) != SANX_A_NODEMAP_NODE)
			continue;
		err = node_parse(&map->entry[i++], attr, addr_only,
				 info->extack);
		if (err)
			goto err_free;
	}
	if (addr_only)
		for (i = 0; i < n; i++)
			map->entry[i].node.id = 1;
	err = sanx_nodemap_finish(map, &bad, &why);
	if (!err)
		return map;
	sanx_nl_fail_attr(info, SANX_A_NODEMAP_NODE, bad, why ?: "out of memory", err);
err_free:
	kvfree(map);
	return ERR_PTR(err);
}

/*
 * Have the engine apply a changed node map, or keys.  config_mutex held.
 *
 * What was no node by the map and the keys of before may be one now.
 */
void sanx_nl_map_changed(struct net *net)
{
	sanx_auto_forget_all(sanx_net(net));
	sanx_link_map_changed(net);
}

static void nodemap_replace(struct sanx_net *sn, struct sanx_nodemap *map)
{
	sanx_nodemap_publish(sn, map);
	sanx_nl_map_changed(sn->net);
}

int sanx_nl_nodemap_load_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct sanx_nodemap *map = nodemap_parse(info, false);
	const char *why;
	int err;

	if (IS_ERR(map))
		return PTR_ERR(map);
	err = autos_parse(&map->autos, info);
	if (err) {
		kvfree(map);
		return err;
	}
	mutex_lock(&sn->config_mutex);
	err = sanx_auto_load(sn, &map, &why);
	if (!err)
		nodemap_replace(sn, map);
	mutex_unlock(&sn->config_mutex);
	if (!err)
		return 0;
	kvfree(map);
	return sanx_nl_fail(info, why ?: "more than 65536 hosts, or out of memory",
			    err);
}

int sanx_nl_nodemap_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct sanx_nodemap *more = nodemap_parse(info, false), *map;

	if (IS_ERR(more))
		return PTR_ERR(more);
	mutex_lock(&sn->config_mutex);
	map = sanx_nodemap_merge(config_dereference(sn, sn->nodemap), more);
	if (map)
		nodemap_replace(sn, map);
	mutex_unlock(&sn->config_mutex);
	kvfree(more);
	return map ? 0 : sanx_nl_fail(info, "more than 65536 hosts, or out of memory",
			      -ENOMEM);
}

int sanx_nl_nodemap_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct sanx_nodemap *less = nodemap_parse(info, true), *map;
	unsigned int missing;
	int err = 0;

	if (IS_ERR(less))
		return PTR_ERR(less);
	mutex_lock(&sn->config_mutex);
	map = sanx_nodemap_without(config_dereference(sn, sn->nodemap), less,
				   &missing);
	if (!map)
		err = -ENOMEM;
	else if (IS_ERR(map))
		err = PTR_ERR(map);
	else
		nodemap_replace(sn, map);
	mutex_unlock(&sn->config_mutex);
	/*
	 * nodemap_parse() has sorted the map, so the index in the message is
	 * known only for a single host.
	 */
	if (err == -ENOENT && info->extack && less->n == 1)
		info->extack->bad_attr = sanx_nl_attr_nth(info, SANX_A_NODEMAP_NODE, 0);
	kvfree(less);
	if (err == -ENOENT)
		return sanx_nl_fail(info, "no such host in the node map", err);
	return err ? sanx_nl_fail(info, "out of memory", err) : 0;
}

static int node_put(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct sanx_nodemap_entry *e)
{
	void *hdr = sanx_nl_dump_start(skb, cb, SANX_CMD_NODEMAP_GET);
	struct nlattr *nest;
	unsigned int i;

	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SANX_A_NODEMAP_NODE);
	if (!nest || nla_put_in6_addr(skb, SANX_A_NODE_ADDR, &e->addr) ||
	    nla_put_u32(skb, SANX_A_NODE_ID, e->node.id))
		goto full;
	for (i = 0; i < e->node.n_rails; i++)
		if (nla_put_in6_addr(skb, e->node.kind[i] == SANX_WIRE_RDMA ?
				     SANX_A_NODE_RAIL : SANX_A_NODE_TCP_RAIL,
				     &e->node.rail[i]))
			goto full;
	if (e->node.found &&
	    nla_put_u32(skb, SANX_A_NODE_FOUND_SECS,
			div_u64(ktime_get_ns() - e->node.found, NSEC_PER_SEC)))
		goto full;
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;
full:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

static int prefix_put(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct sanx_prefix *prefix)
{
	void *hdr = sanx_nl_dump_start(skb, cb, SANX_CMD_NODEMAP_GET);
	struct nlattr *nest;

	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SANX_A_NODEMAP_AUTO);
	if (!nest || nla_put_in6_addr(skb, SANX_A_AUTO_PREFIX, &prefix->addr) ||
	    nla_put_u8(skb, SANX_A_AUTO_PREFIX_LEN, prefix->len)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;
}

/* Prefixes come first, then entries: @i counts both. */
static int map_put(struct sk_buff *skb, struct netlink_callback *cb,
		   const struct sanx_nodemap *map, unsigned int i)
{
	if (i < map->autos.n)
		return prefix_put(skb, cb, &map->autos.prefix[i]);
	return node_put(skb, cb, &map->entry[i - map->autos.n]);
}

int sanx_nl_nodemap_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sanx_net *sn = sanx_net(sock_net(skb->sk));
	const struct sanx_nodemap *map;

	rcu_read_lock();
	cb->seq = READ_ONCE(sn->config_seq);
	map = rcu_dereference(sn->nodemap);
	while (map && cb->args[0] < map->autos.n + map->n &&
	       !map_put(skb, cb, map, cb->args[0]))
		cb->args[0]++;
	rcu_read_unlock();
	return skb->len;
}
