/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink: attributes and messages, for the fuzz target of af_sanx/netlink/.  The
 * formats are those of the system's headers; checks of attributes are those that
 * the kernel calls strict.
 */
#ifndef _SIM_NETLINK_H
#define _SIM_NETLINK_H

#include "kernel.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#define NLMSG_DEFAULT_SIZE	3776

enum {
	NLA_UNSPEC,
	NLA_U8,
	NLA_U16,
	NLA_U32,
	NLA_U64,
	NLA_NESTED,
	NLA_EXACT_LEN,
};

/**
 * struct nla_policy - what an attribute must be
 * @type: NLA_*
 * @len: NLA_EXACT_LEN: bytes
 * @min: least value of an integer
 * @max: largest value; 0 for any
 * @mask: bits that may be set; 0 for any
 * @nested: NLA_NESTED: policies of what is inside, by type
 * @nested_max: number of the last of them
 */
struct nla_policy {
	u8				type;
	u16				len;
	u32				min;
	u32				max;
	u32				mask;
	const struct nla_policy		*nested;
	u16				nested_max;
};

#define NLA_POLICY_EXACT_LEN(n)	{ .type = NLA_EXACT_LEN, .len = (n) }
#define NLA_POLICY_MIN(t, v)	{ .type = (t), .min = (v) }
#define NLA_POLICY_MAX(t, v)	{ .type = (t), .max = (v) }
#define NLA_POLICY_MASK(t, v)	{ .type = (t), .mask = (v) }
#define NLA_POLICY_NESTED(p)	{ .type = NLA_NESTED, .nested = (p), \
				  .nested_max = ARRAY_SIZE(p) - 1 }

struct netlink_ext_ack {
	const char		*_msg;
	const struct nlattr	*bad_attr;
};

#define NL_SET_ERR_MSG_ATTR(ack, attr, text) do {	\
	(ack)->_msg = (text);				\
	(ack)->bad_attr = (attr);			\
} while (0)

#define NETLINK_CB(skb)		(*(skb))
#define sk_user_ns(sk)		NULL
#define from_kuid_munged(ns, u)	((u32)(u))
#define sock_i_uid(sk)		((void)(sk), 0)
#define sock_i_ino(sk)		((void)(sk), 0UL)

struct genl_info {
	u32			snd_seq;
	u32			snd_portid;
	const struct nlmsghdr	*nlhdr;
	struct genlmsghdr	*genlhdr;
	struct nlattr		**attrs;
	struct net		*net;
	struct netlink_ext_ack	*extack;
};

#define genl_info_net(info)	((info)->net)
#define GENL_UNS_ADMIN_PERM	0x10
#define GENL_CMD_CAP_DO		0x02
#define GENL_CMD_CAP_DUMP	0x04

struct genl_split_ops {
	int			(*doit)(struct sk_buff *skb, struct genl_info *info);
	int			(*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	const struct nla_policy	*policy;
	unsigned int		maxattr;
	u8			cmd;
	u8			flags;
};

struct genl_multicast_group {
	char			name[16];
};

struct genl_family {
	char				name[16];
	unsigned int			version;
	bool				netnsok;
	bool				parallel_ops;
	struct module			*module;
	const struct genl_split_ops	*split_ops;
	u8				n_split_ops;
	const struct genl_multicast_group *mcgrps;
	u8				n_mcgrps;
	u8				resv_start_op;
};

/* As compat.h has it. */
#define SANX_GENL_OPS		.split_ops = sanx_nl_ops, \
				.n_split_ops = ARRAY_SIZE(sanx_nl_ops)

static inline int genl_register_family(struct genl_family *family)
{
	return 0;
}

#define genl_unregister_family(family)	((void)(family))

/* Nobody listens to events. */
#define genl_has_listeners(family, net, group)	((void)(net), 0)
#define genlmsg_multicast_netns(family, net, skb, portid, group, gfp) \
	nlmsg_free(skb)
#define genl_set_err(family, net, portid, group, err)	((void)(net))
#define maybe_get_net(net)	(net)
#define put_net(net)		((void)(net))

static inline int nla_type(const struct nlattr *nla)
{
	return nla->nla_type & NLA_TYPE_MASK;
}

static inline void *nla_data(const struct nlattr *nla)
{
	return (u8 *)nla + NLA_HDRLEN;
}

static inline int nla_len(const struct nlattr *nla)
{
	return nla->nla_len - NLA_HDRLEN;
}

static inline bool nla_ok(const struct nlattr *nla, int rem)
{
	return rem >= (int)sizeof(*nla) && nla->nla_len >= sizeof(*nla) &&
	       nla->nla_len <= rem;
}

static inline struct nlattr *nla_next(const struct nlattr *nla, int *rem)
{
	*rem -= NLA_ALIGN(nla->nla_len);
	return (void *)((u8 *)nla + NLA_ALIGN(nla->nla_len));
}

#define nla_for_each_attr(pos, head, bytes, rem)			\
	for (pos = (void *)(head), rem = (bytes); nla_ok(pos, rem);	\
	     pos = nla_next(pos, &(rem)))
#define nla_for_each_nested(pos, nest, rem)				\
	nla_for_each_attr(pos, nla_data(nest), nla_len(nest), rem)

#define __sim_nla_get(name, type)				\
	static inline type name(const struct nlattr *nla)	\
	{							\
		type v;						\
								\
		memcpy(&v, nla_data(nla), sizeof(v));		\
		return v;					\
	}

__sim_nla_get(nla_get_u8, u8)
__sim_nla_get(nla_get_u16, u16)
__sim_nla_get(nla_get_u32, u32)
__sim_nla_get(nla_get_u64, u64)
__sim_nla_get(nla_get_in6_addr, struct in6_addr)

int sim_nla_parse(struct nlattr **tb, int max, const void *head, int bytes,
		  const struct nla_policy *policy,
		  struct netlink_ext_ack *extack);
#define nla_parse_nested(tb, max, nest, policy, extack)			\
	sim_nla_parse(tb, max, nla_data(nest), nla_len(nest), policy, extack)

struct sk_buff *sim_skb_new(u32 size);
int nla_put(struct sk_buff *skb, int type, int len, const void *data);
void nlmsg_free(struct sk_buff *skb);
void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq,
		  const struct genl_family *family, int flags, u8 cmd);
void genlmsg_end(struct sk_buff *skb, void *hdr);
void genlmsg_cancel(struct sk_buff *skb, void *hdr);
struct nlattr *nla_nest_start(struct sk_buff *skb, int type);
void nla_nest_end(struct sk_buff *skb, struct nlattr *nest);
void genl_dump_check_consistent(struct netlink_callback *cb, void *hdr);
/* The simulator's user has it. */
int genlmsg_reply(struct sk_buff *skb, struct genl_info *info);

#define genlmsg_new(size, gfp)	sim_skb_new(GENL_HDRLEN + (size))
#define genlmsg_put_reply(skb, info, family, flags, cmd)		\
	genlmsg_put(skb, (info)->snd_portid, (info)->snd_seq, family,	\
		    flags, cmd)
#define genlmsg_data(g)		((void *)((u8 *)(g) + GENL_HDRLEN))

static inline int genlmsg_len(const struct genlmsghdr *genl)
{
	const struct nlmsghdr *nlh = (void *)((u8 *)genl - NLMSG_HDRLEN);

	return nlh->nlmsg_len - GENL_HDRLEN - NLMSG_HDRLEN;
}

#define __sim_nla_put(name, type)				\
	static inline int name(struct sk_buff *skb, int attr, type v) \
	{							\
		return nla_put(skb, attr, sizeof(v), &v);	\
	}

static inline struct nlattr *nla_reserve(struct sk_buff *skb, int attr, int len)
{
	static const u8 none[sizeof(u32)];
	struct nlattr *nla = (void *)(skb->data + skb->len);

	return nla_put(skb, attr, len, none) ? NULL : nla;
}

__sim_nla_put(nla_put_u8, u8)
__sim_nla_put(nla_put_u16, u16)
__sim_nla_put(nla_put_u32, u32)
#define nla_put_u64_64bit(skb, attr, v, pad)			\
	nla_put(skb, attr, sizeof(u64), &(u64){ v })
#define nla_put_in6_addr(skb, attr, addr)			\
	nla_put(skb, attr, sizeof(struct in6_addr), addr)
#define nla_put_string(skb, attr, s)	nla_put(skb, attr, strlen(s) + 1, s)

#endif /* _SIM_NETLINK_H */
