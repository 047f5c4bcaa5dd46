// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the netlink family that are about keys.
 *
 * A key goes in, and never out: a message that had one is cleared when it was
 * processed.
 */
#include <linux/string.h>
#include <net/netlink.h>

#include "config/config.h"
#include "netlink_priv.h"
#include "netlink_gen.h"

static_assert(SANX_KEY_LEN == SANX_SECRET_LEN);

static u32 key_peer(struct genl_info *info)
{
	return info->attrs[SANX_A_KEY_NODE] ?
	       nla_get_u32(info->attrs[SANX_A_KEY_NODE]) : 0;
}

/* Sends @reply, an empty message. */
static int key_reply(struct genl_info *info, struct sk_buff *reply, u32 id)
{
	void *hdr;

	hdr = genlmsg_put_reply(reply, info, &sanx_nl_family, 0,
				SANX_CMD_KEY_ADD);
	if (!hdr || nla_put_u32(reply, SANX_A_KEY_ID, id)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

static int key_add_fault(struct genl_info *info, int err)
{
	switch (err) {
	case -EEXIST:
		return sanx_nl_fail(info, "the peer has this key", err);
	case -ENOSPC:
		return sanx_nl_fail(info, "the peer has two keys, remove one first",
				    err);
	case -EUSERS:
		return sanx_nl_fail(info, "4096 peers have keys, the most there can be",
				    err);
	case -ENOMEM:
		return sanx_nl_fail(info, "out of memory", err);
	default:
		return sanx_nl_fail(info, "the kernel cannot compute HMAC-SHA256",
				    err);
	}
}

static int key_add(struct genl_info *info, const struct nlattr *secret)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct sk_buff *reply;
	u32 id;
	int err;

	if (!secret)
		return sanx_nl_fail(info, "a key is missing", -EINVAL);
	/* Nothing may fail once the key is there. */
	reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return sanx_nl_fail(info, "out of memory", -ENOMEM);
	mutex_lock(&sn->config_mutex);
	err = sanx_key_add(sn, key_peer(info), nla_data(secret), &id);
	if (!err)
		sanx_nl_map_changed(sn->net);
	mutex_unlock(&sn->config_mutex);
	if (!err)
		return key_reply(info, reply, id);
	nlmsg_free(reply);
	return key_add_fault(info, err);
}

/* Of several, genetlink has accepted all and found the last. */
static void secrets_clear(struct genl_info *info)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rem)
		if (nla_type(attr) == SANX_A_KEY_SECRET)
			memzero_explicit(nla_data(attr), nla_len(attr));
}

int sanx_nl_key_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = key_add(info, info->attrs[SANX_A_KEY_SECRET]);

	secrets_clear(info);
	return err;
}

int sanx_nl_key_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sanx_net *sn = sanx_net(genl_info_net(info));
	struct nlattr *id = info->attrs[SANX_A_KEY_ID];
	int err;

	mutex_lock(&sn->config_mutex);
	err = sanx_key_del(sn, key_peer(info), id ? nla_get_u32(id) : 0);
	if (!err)
		sanx_nl_map_changed(sn->net);
	mutex_unlock(&sn->config_mutex);
	return err ? sanx_nl_fail(info, "no such key", err) : 0;
}

static int key_put_msg(struct sk_buff *skb, struct netlink_callback *cb,
		       u32 peer, u32 id)
{
	void *hdr = sanx_nl_dump_start(skb, cb, SANX_CMD_KEY_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SANX_A_KEY_NODE, peer) ||
	    nla_put_u32(skb, SANX_A_KEY_ID, id)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * struct key_dump - state of a dump of keys
 * @skb: the message buffer
 * @cb: the dump; cb->args[0] counts the keys added
 * @seen: keys passed over or added in this call
 */
struct key_dump {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	long			seen;
};

static bool dump_key(u32 peer, u32 id, void *arg)
{
	struct key_dump *d = arg;

	if (d->seen++ < d->cb->args[0])
		return true;
	if (key_put_msg(d->skb, d->cb, peer, id))
		return false;
	d->cb->args[0]++;
	return true;
}

int sanx_nl_key_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sanx_net *sn = sanx_net(sock_net(skb->sk));
	struct key_dump d = { skb, cb };

	/* Before the keys: one that changes behind it makes the dump start anew. */
	cb->seq = READ_ONCE(sn->config_seq);
	sanx_keys_each(sn, dump_key, &d);
	return skb->len;
}
