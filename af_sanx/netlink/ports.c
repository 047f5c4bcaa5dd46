// SPDX-License-Identifier: GPL-2.0
/* Port rules, over netlink. */
#include <linux/slab.h>
#include <net/netlink.h>

#include "config/config.h"
#include "netlink_priv.h"
#include "netlink_gen.h"
#include "socket/socket.h"

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

/* The attributes of a range of each kind. */
static const struct {
	int	first;
	int	last;
} ranges[] = {
	[SANX_PORT_SPACE_INET] = { SANX_A_PORT_RULE_FIRST, SANX_A_PORT_RULE_LAST },
	[SANX_PORT_SPACE_EXPLICIT] = {
		SANX_A_PORT_RULE_EXPLICIT_FIRST, SANX_A_PORT_RULE_EXPLICIT_LAST
	},
};

static bool has_range(struct nlattr **tb, enum sanx_port_space space)
{
	return tb[ranges[space].first] || tb[ranges[space].last];
}

static u32 port_get(const struct nlattr *attr, enum sanx_port_space space)
{
	return space == SANX_PORT_SPACE_EXPLICIT ? nla_get_u32(attr) : nla_get_u16(attr);
}

static int rule_parse_range(struct sanx_port_rule *rule, struct nlattr *nest, struct nlattr **tb,
			    struct netlink_ext_ack *extack)
{
	const struct nlattr *first = tb[ranges[rule->space].first];
	const struct nlattr *last = tb[ranges[rule->space].last];

	if (!first) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a port range needs its first port");
		return -EINVAL;
	}
	rule->first = port_get(first, rule->space);
	rule->last = last ? port_get(last, rule->space) : rule->first;
	if (!rule->first || rule->last < rule->first) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a port range is empty or has port 0, expected ports from 1, the lower first");
		return -EINVAL;
	}
	return 0;
}

static int rule_parse_ports(struct sanx_port_rule *rule, struct nlattr *nest, struct nlattr **tb,
			    struct netlink_ext_ack *extack)
{
	bool explicit = has_range(tb, SANX_PORT_SPACE_EXPLICIT);
	bool inet = has_range(tb, SANX_PORT_SPACE_INET);

	if (explicit && inet) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a port rule has ports and explicit ports, expected one of them");
		return -EINVAL;
	}
	if (!explicit && !inet)
		return 0;
	rule->space = explicit ? SANX_PORT_SPACE_EXPLICIT : SANX_PORT_SPACE_INET;
	return rule_parse_range(rule, nest, tb, extack);
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
	return rule_parse_ports(rule, nest, tb, extack);
}

static struct sanx_ports *ports_parse(struct genl_info *info)
{
	int n = sanx_nl_attr_count(info, SANX_A_PORTS_RULE), i = 0, rem, err;
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
		sanx_nl_fail_attr(info, SANX_A_PORTS_RULE, missing, err == -ENOENT ?
			 "no such port rule" : "out of memory", err);
	return err;
}

static bool range_put(struct sk_buff *skb, const struct sanx_port_rule *rule)
{
	if (!rule->first)
		return true;
	if (rule->space == SANX_PORT_SPACE_EXPLICIT)
		return !nla_put_u32(skb, SANX_A_PORT_RULE_EXPLICIT_FIRST, rule->first) &&
		       !nla_put_u32(skb, SANX_A_PORT_RULE_EXPLICIT_LAST, rule->last);
	return !nla_put_u16(skb, SANX_A_PORT_RULE_FIRST, rule->first) &&
	       !nla_put_u16(skb, SANX_A_PORT_RULE_LAST, rule->last);
}

static bool rule_put_attrs(struct sk_buff *skb,
			   const struct sanx_port_rule *rule)
{
	return !nla_put_u32(skb, SANX_A_PORT_RULE_ACTION,
			    rule->allow ? SANX_PORT_ACTION_ALLOW :
					  SANX_PORT_ACTION_DENY) &&
	       range_put(skb, rule) &&
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

int sanx_nl_ports_apply_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	u32 *ended;

	reply = sanx_nl_reply_u32(info, SANX_CMD_PORTS_APPLY, SANX_A_PORTS_ENDED, &ended);
	if (!reply)
		return -ENOMEM;
	*ended = sanx_denied_end(genl_info_net(info));
	return genlmsg_reply(reply, info);
}
