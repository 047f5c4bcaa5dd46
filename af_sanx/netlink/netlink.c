// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "sanx": its operations.  netlink_gen.c, with
 * the policies, is generated from Documentation/netlink/specs/sanx.yaml.
 *
 * Changes need CAP_NET_ADMIN in the namespace.  Genetlink checks this, by flags
 * in the generated table.  Every error has a message.
 *
 * Locks: changes are serialised by config_mutex of struct sanx_net.  Dumps read
 * the node map and the port rules under RCU, links and rails under lnet.lock
 * (sanx_links_dump()), and sockets as sockets.c says.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "config/config.h"
#include "conn/conn.h"
#include "internal.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "socket/socket.h"

/* For callers that hold config_mutex. */
#define config_dereference(sn, p) \
	rcu_dereference_protected(p, lockdep_is_held(&(sn)->config_mutex))

static int attr_count(struct genl_info *info, int type)
{
	struct nlattr *attr;
	int rem, n = 0;

	nla_for_each_attr(attr, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rem)
		n += nla_type(attr) == type;
	return n;
}

/* Return: the @i-th attribute of a type, which caused an error; or NULL. */
static struct nlattr *attr_nth(struct genl_info *info, int type, int i)
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

static int fail_attr(struct genl_info *info, int type, int i, const char *why,
		     int err)
{
	if (info->extack)
		info->extack->bad_attr = attr_nth(info, type, i);
	return sanx_nl_fail(info, why, err);
}

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
	int n = attr_count(info, SANX_A_NODEMAP_AUTO), rem, err;

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
	int n = attr_count(info, SANX_A_NODEMAP_NODE), i = 0, rem, err;
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
	fail_attr(info, SANX_A_NODEMAP_NODE, bad, why ?: "out of memory", err);
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
		info->extack->bad_attr = attr_nth(info, SANX_A_NODEMAP_NODE, 0);
	kvfree(less);
	if (err == -ENOENT)
		return sanx_nl_fail(info, "no such host in the node map", err);
	return err ? sanx_nl_fail(info, "out of memory", err) : 0;
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

static_assert(SANX_WAY_OUT == (int)SANX_PORT_WAY_OUT);
static_assert(SANX_WAY_IN == (int)SANX_PORT_WAY_IN);

/* Rules that say the same are equal: bits that do not count become 0. */
static void rule_parse_peer(struct sanx_port_rule *rule, struct nlattr **tb)
{
	struct in6_addr addr;

	if (tb[SANX_A_PORT_RULE_WAY])
		rule->ways = nla_get_u32(tb[SANX_A_PORT_RULE_WAY]);
	if (rule->ways == (SANX_WAY_OUT | SANX_WAY_IN))
		rule->ways = 0;
	if (tb[SANX_A_PORT_RULE_NODE])
		rule->node = nla_get_u32(tb[SANX_A_PORT_RULE_NODE]);
	if (!tb[SANX_A_PORT_RULE_PREFIX])
		return;
	rule->prefix_len = tb[SANX_A_PORT_RULE_PREFIX_LEN] ?
			   nla_get_u8(tb[SANX_A_PORT_RULE_PREFIX_LEN]) : 128;
	addr = nla_get_in6_addr(tb[SANX_A_PORT_RULE_PREFIX]);
	ipv6_addr_prefix(&rule->prefix, &addr, rule->prefix_len);
}

static int rule_parse(struct sanx_port_rule *rule, struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SANX_A_PORT_RULE_MAX + 1];
	int err;

	err = nla_parse_nested(tb, SANX_A_PORT_RULE_MAX, nest,
			       sanx_port_rule_nl_policy, extack);
	if (err)
		return err;
	if (!tb[SANX_A_PORT_RULE_ACTION]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a port rule needs an action");
		return -EINVAL;
	}
	rule->allow = nla_get_u32(tb[SANX_A_PORT_RULE_ACTION]) ==
		      SANX_PORT_ACTION_ALLOW;
	rule_parse_peer(rule, tb);
	if (rule->node && tb[SANX_A_PORT_RULE_PREFIX]) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a port rule has a node and a prefix, expected one of them");
		return -EINVAL;
	}
	if (!tb[SANX_A_PORT_RULE_FIRST] && !tb[SANX_A_PORT_RULE_LAST])
		return 0;
	if (!tb[SANX_A_PORT_RULE_FIRST]) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a port range needs its first port");
		return -EINVAL;
	}
	rule->first = nla_get_u16(tb[SANX_A_PORT_RULE_FIRST]);
	rule->last = tb[SANX_A_PORT_RULE_LAST] ?
		     nla_get_u16(tb[SANX_A_PORT_RULE_LAST]) : rule->first;
	if (!rule->first || rule->last < rule->first) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a port range is empty or has port 0, expected 1 to 65535, the lower first");
		return -EINVAL;
	}
	return 0;
}

static struct sanx_ports *ports_parse(struct genl_info *info)
{
	int n = attr_count(info, SANX_A_PORTS_RULE), i = 0, rem, err;
	struct sanx_ports *ports;
	struct nlattr *attr;

	if (n > SANX_PORTS_MAX)
		return ERR_PTR(sanx_nl_fail(info, "more than 4096 port rules", -E2BIG));
	ports = sanx_ports_alloc(n);
	if (!ports)
		return ERR_PTR(sanx_nl_fail(info, "out of memory", -ENOMEM));
	nla_for_each_attr(attr, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rem) {
		if (nla_type(attr) != SANX_A_PORTS_RULE)
			continue;
		err = rule_parse(&ports->rule[i++], attr, info->extack);
		if (err) {
			kvfree(ports);
			return ERR_PTR(err);
		}
	}
	return ports;
}

int sanx_nl_ports_load_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct sanx_ports *ports = ports_parse(info);

	if (IS_ERR(ports))
		return PTR_ERR(ports);
	mutex_lock(&sn->config_mutex);
	sanx_ports_publish(sn, ports);
	mutex_unlock(&sn->config_mutex);
	return 0;
}

int sanx_nl_ports_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct sanx_ports *more = ports_parse(info), *ports;

	if (IS_ERR(more))
		return PTR_ERR(more);
	mutex_lock(&sn->config_mutex);
	ports = sanx_ports_append(config_dereference(sn, sn->ports), more);
	if (ports)
		sanx_ports_publish(sn, ports);
	mutex_unlock(&sn->config_mutex);
	kvfree(more);
	return ports ? 0 : sanx_nl_fail(info, "more than 4096 port rules, or out of memory",
				-ENOMEM);
}

int sanx_nl_ports_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct sanx_ports *less = ports_parse(info), *ports;
	unsigned int missing = 0;
	int err = 0;

	if (IS_ERR(less))
		return PTR_ERR(less);
	mutex_lock(&sn->config_mutex);
	ports = sanx_ports_without(config_dereference(sn, sn->ports), less,
				   &missing);
	if (!ports)
		err = -ENOMEM;
	else if (IS_ERR(ports))
		err = PTR_ERR(ports);
	else
		sanx_ports_publish(sn, ports);
	mutex_unlock(&sn->config_mutex);
	kvfree(less);
	if (err)
		fail_attr(info, SANX_A_PORTS_RULE, missing, err == -ENOENT ?
			 "no such port rule" : "out of memory", err);
	return err;
}

static bool rule_put_attrs(struct sk_buff *skb,
			   const struct sanx_port_rule *rule)
{
	return !nla_put_u32(skb, SANX_A_PORT_RULE_ACTION,
			    rule->allow ? SANX_PORT_ACTION_ALLOW :
					  SANX_PORT_ACTION_DENY) &&
	       (!rule->first ||
		(!nla_put_u16(skb, SANX_A_PORT_RULE_FIRST, rule->first) &&
		 !nla_put_u16(skb, SANX_A_PORT_RULE_LAST, rule->last))) &&
	       (!rule->ways ||
		!nla_put_u32(skb, SANX_A_PORT_RULE_WAY, rule->ways)) &&
	       (!rule->node ||
		!nla_put_u32(skb, SANX_A_PORT_RULE_NODE, rule->node)) &&
	       (!rule->prefix_len ||
		(!nla_put_in6_addr(skb, SANX_A_PORT_RULE_PREFIX,
				   &rule->prefix) &&
		 !nla_put_u8(skb, SANX_A_PORT_RULE_PREFIX_LEN,
			     rule->prefix_len)));
}

static int rule_put(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct sanx_port_rule *rule)
{
	void *hdr = sanx_nl_dump_start(skb, cb, SANX_CMD_PORTS_GET);
	struct nlattr *nest;

	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SANX_A_PORTS_RULE);
	if (!nest || !rule_put_attrs(skb, rule)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;
}

int sanx_nl_ports_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sanx_net *sn = sanx_net(sock_net(skb->sk));
	const struct sanx_ports *ports;

	rcu_read_lock();
	cb->seq = READ_ONCE(sn->config_seq);
	ports = rcu_dereference(sn->ports);
	while (ports && cb->args[0] < ports->n &&
	       !rule_put(skb, cb, &ports->rule[cb->args[0]]))
		cb->args[0]++;
	rcu_read_unlock();
	return skb->len;
}

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

/*
 * Prepares an answer that is one number, before what it counts is done.
 * @number: where the number goes
 */
static struct sk_buff *reply_u32(struct genl_info *info, u8 cmd, int attr, u32 **number)
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
	reply = reply_u32(info, SANX_CMD_LINK_RESET, SANX_A_LINK_ENDED, &ended);
	if (!reply)
		return -ENOMEM;
	*ended = sanx_links_reset(genl_info_net(info), nla_get_u32(node), which);
	return genlmsg_reply(reply, info);
}

int sanx_nl_ports_apply_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	u32 *ended;

	reply = reply_u32(info, SANX_CMD_PORTS_APPLY, SANX_A_PORTS_ENDED, &ended);
	if (!reply)
		return -ENOMEM;
	*ended = sanx_denied_end(genl_info_net(info));
	return genlmsg_reply(reply, info);
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
