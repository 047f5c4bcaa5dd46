// SPDX-License-Identifier: GPL-2.0
/* Netlink: attributes and messages. */
#include "netlink.h"

static int nla_refuse(struct netlink_ext_ack *extack, const struct nlattr *nla,
		      const char *why)
{
	extack->bad_attr = nla;
	extack->_msg = why;
	return -EINVAL;
}

/* Return: is the value of an integer what @p says? */
static bool value_ok(const struct nlattr *nla, const struct nla_policy *p)
{
	u64 v = 0;

	/* All that the simulator supports is little endian. */
	memcpy(&v, nla_data(nla), nla_len(nla));
	return v >= p->min && (!p->max || v <= p->max) &&
	       (!p->mask || !(v & ~p->mask));
}

static int check_int(const struct nlattr *nla, const struct nla_policy *p,
		     struct netlink_ext_ack *extack)
{
	static const u8 size[] = { [NLA_U8] = 1, [NLA_U16] = 2, [NLA_U32] = 4, [NLA_U64] = 8 };

	if (nla_len(nla) != size[p->type])
		return nla_refuse(extack, nla, "invalid attribute length");
	return value_ok(nla, p) ? 0 :
	       nla_refuse(extack, nla, "integer out of range");
}

static int check_attr(const struct nlattr *nla, const struct nla_policy *p,
		      struct netlink_ext_ack *extack)
{
	bool nested = nla->nla_type & NLA_F_NESTED;
	struct nlattr *tb[16];

	if (nested ? p->type != NLA_NESTED : p->type == NLA_NESTED)
		return nla_refuse(extack, nla, "wrong flags");
	if (nla->nla_type & NLA_F_NET_BYTEORDER)
		return nla_refuse(extack, nla, "wrong flags");
	switch (p->type) {
	case NLA_U8:
	case NLA_U16:
	case NLA_U32:
	case NLA_U64:
		return check_int(nla, p, extack);
	case NLA_EXACT_LEN:
		return nla_len(nla) == p->len ? 0 :
		       nla_refuse(extack, nla, "invalid attribute length");
	case NLA_NESTED:
		sim_assert(p->nested_max < ARRAY_SIZE(tb));
		return sim_nla_parse(tb, p->nested_max, nla_data(nla),
				     nla_len(nla), p->nested, extack);
	default:
		return nla_refuse(extack, nla, "unsupported attribute");
	}
}

/**
 * sim_nla_parse() - check attributes, and find them
 * @tb: filled with the last attribute of each type, or NULL; @max + 1 entries
 * @max: the last type
 * @head: the attributes
 * @bytes: their size
 * @policy: what they must be, by type
 * @extack: filled on failure
 *
 * Return: 0 or -EINVAL.
 */
int sim_nla_parse(struct nlattr **tb, int max, const void *head, int bytes,
		  const struct nla_policy *policy,
		  struct netlink_ext_ack *extack)
{
	struct nlattr *nla;
	int rem, err;

	memset(tb, 0, (max + 1) * sizeof(*tb));
	nla_for_each_attr(nla, head, bytes, rem) {
		if (!nla_type(nla) || nla_type(nla) > max)
			return nla_refuse(extack, nla, "unknown attribute type");
		err = check_attr(nla, &policy[nla_type(nla)], extack);
		if (err)
			return err;
		tb[nla_type(nla)] = nla;
	}
	return rem > 0 ? nla_refuse(extack, NULL, "bytes left over") : 0;
}

/**
 * sim_skb_new() - make an empty buffer
 * @size: room in it
 *
 * Return: the buffer, to be freed with nlmsg_free(); or NULL.
 */
struct sk_buff *sim_skb_new(u32 size)
{
	struct sk_buff *skb = kzalloc(sizeof(*skb), GFP_KERNEL);

	if (!skb)
		return NULL;
	skb->size = size;
	skb->data = kmalloc(size, GFP_KERNEL);
	if (skb->data)
		return skb;
	kfree(skb);
	return NULL;
}

void nlmsg_free(struct sk_buff *skb)
{
	kfree(skb->data);
	kfree(skb);
}

/* Takes room, aligned and with zeroes; NULL if there is not so much. */
static void *put(struct sk_buff *skb, u32 bytes)
{
	void *p = skb->data + skb->len;

	if (NLMSG_ALIGN(bytes) > skb->size - skb->len)
		return NULL;
	memset(p, 0, NLMSG_ALIGN(bytes));
	skb->len += NLMSG_ALIGN(bytes);
	return p;
}

int nla_put(struct sk_buff *skb, int type, int len, const void *data)
{
	struct nlattr *nla = put(skb, NLA_HDRLEN + len);

	if (!nla)
		return -EMSGSIZE;
	nla->nla_type = type;
	nla->nla_len = NLA_HDRLEN + len;
	memcpy(nla_data(nla), data, len);
	return 0;
}

struct nlattr *nla_nest_start(struct sk_buff *skb, int type)
{
	struct nlattr *nest = put(skb, NLA_HDRLEN);

	if (nest)
		nest->nla_type = type | NLA_F_NESTED;
	return nest;
}

void nla_nest_end(struct sk_buff *skb, struct nlattr *nest)
{
	nest->nla_len = skb->data + skb->len - (u8 *)nest;
}

void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq,
		  const struct genl_family *family, int flags, u8 cmd)
{
	struct nlmsghdr *nlh = put(skb, NLMSG_HDRLEN + GENL_HDRLEN);
	struct genlmsghdr *genl;

	if (!nlh)
		return NULL;
	nlh->nlmsg_type = GENL_MIN_ID;
	nlh->nlmsg_flags = flags;
	nlh->nlmsg_seq = seq;
	nlh->nlmsg_pid = portid;
	genl = (void *)((u8 *)nlh + NLMSG_HDRLEN);
	genl->cmd = cmd;
	genl->version = family->version;
	return genlmsg_data(genl);
}

static struct nlmsghdr *header_of(void *hdr)
{
	return (void *)((u8 *)hdr - GENL_HDRLEN - NLMSG_HDRLEN);
}

void genlmsg_end(struct sk_buff *skb, void *hdr)
{
	struct nlmsghdr *nlh = header_of(hdr);

	nlh->nlmsg_len = skb->data + skb->len - (u8 *)nlh;
}

void genlmsg_cancel(struct sk_buff *skb, void *hdr)
{
	skb->len = (u8 *)header_of(hdr) - skb->data;
}

void genl_dump_check_consistent(struct netlink_callback *cb, void *hdr)
{
	if (cb->prev_seq && cb->prev_seq != cb->seq)
		header_of(hdr)->nlmsg_flags |= NLM_F_DUMP_INTR;
	cb->prev_seq = cb->seq;
}
