// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the netlink family (af_sanx/netlink/), and the configuration that they
 * change (af_sanx/config/), in a namespace of the simulator, where the engine hears of
 * them, but has no wire.
 *
 * The input is a list of requests: a byte with the command, two bytes of length, and
 * the attributes, of any contents.  The attributes are first checked with the policy
 * of the command, as genetlink does (sim/shim/netlink.c).  Who may do it, sockets
 * and the buffers of netlink are genetlink's, and not here.
 *
 * A request that fails has a message, blames an attribute of its own or none, and
 * changes nothing.  A dump in small pieces is a dump in one, and loaded again it
 * gives the same dump.  A request with a key is cleared.  No memory is left.
 */
#include "config/config.h"
#include "fuzz/fuzz.h"
#include "netlink/netlink_priv.h"
#include "netlink/netlink_gen.h"
#include "sim/sim.h"
#include "socket/socket.h"

#define INPUT_MAX	4096
/* More than the dumps of such an input need. */
#define DUMP_SIZE	65536
/* No piece of a dump is smaller; one entry has to fit. */
#define PIECE_SIZE	256

static struct fuzz_input input;
static struct net *net;
static struct sock the_sock;

static unsigned int replies;

int genlmsg_reply(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlmsghdr *nlh = (void *)skb->data;

	fuzz_assert(nlh->nlmsg_len == skb->len && nlh->nlmsg_seq == info->snd_seq);
	replies++;
	nlmsg_free(skb);
	return 0;
}

/* Nothing becomes TCP here. */
bool sanx_fallen_each(const struct net *net, unsigned int chain,
		      bool (*fn)(const struct sock *sk, enum sanx_fallback why, void *arg),
		      void *arg)
{
	fuzz_assert(chain < SANX_FALLEN_CHAINS);
	return true;
}

/* Nor does TCP know any. */
void sanx_native_ends(const struct sock *sk, struct sanx_endpoint *local,
		      struct sanx_endpoint *remote)
{
	memset(local, 0, sizeof(*local));
	memset(remote, 0, sizeof(*remote));
}

void sanx_sock_ends(const struct sanx_sock *ss, struct sanx_endpoint *local,
		    struct sanx_endpoint *remote)
{
	sanx_native_ends(ss->sk, local, remote);
}

int sanx_explicit_abort(const struct net *net, unsigned long inode)
{
	return -ENOENT;
}

const char *sanx_fallback_name(enum sanx_fallback why)
{
	fuzz_assert(why < __SANX_FALLBACKS);
	return "";
}

static const struct genl_split_ops *op_find(u8 cmd)
{
	unsigned int i;

	for (i = 0; i < sanx_nl_family.n_split_ops; i++)
		if (sanx_nl_family.split_ops[i].cmd == cmd)
			return &sanx_nl_family.split_ops[i];
	return NULL;
}

/*
 * Dumps with the command @cmd, at most @piece bytes at a time.
 * Return: the messages, to be freed.
 */
static struct sk_buff *dump(u8 cmd, u32 piece)
{
	struct sk_buff *all = sim_skb_new(DUMP_SIZE), *some;
	struct nlmsghdr nlh = { .nlmsg_seq = 1 };
	struct sk_buff request = { .sk = &the_sock };
	struct netlink_callback cb = { .skb = &request, .nlh = &nlh };

	do {
		some = sim_skb_new(piece);
		some->sk = &the_sock;
		fuzz_assert(op_find(cmd)->dumpit(some, &cb) == (int)some->len);
		fuzz_assert(some->len <= piece && all->len + some->len <= DUMP_SIZE);
		memcpy(all->data + all->len, some->data, some->len);
		all->len += some->len;
		piece = some->len ? piece : 0;
		nlmsg_free(some);
	} while (piece);
	return all;
}

static bool same(const struct sk_buff *a, const struct sk_buff *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/* @attrs: memory of exactly that size, which the request may change */
static struct sk_buff *request_make(u8 cmd, const void *attrs, u32 bytes)
{
	struct sk_buff *skb = sim_skb_new(NLMSG_HDRLEN + GENL_HDRLEN + bytes);
	void *hdr;

	skb->sk = &the_sock;
	hdr = genlmsg_put(skb, 1, 1, &sanx_nl_family, NLM_F_REQUEST, cmd);
	/* Attributes need not end on a boundary. */
	memcpy(hdr, attrs, bytes);
	skb->len += bytes;
	genlmsg_end(skb, hdr);
	return skb;
}

static void check_failed(const struct netlink_ext_ack *extack, const struct sk_buff *skb)
{
	const u8 *bad = (const u8 *)extack->bad_attr;

	fuzz_assert(extack->_msg && *extack->_msg);
	fuzz_assert(!bad || (bad > skb->data && bad < skb->data + skb->len));
}

/* No byte of a secret is left in a request that was processed. */
static void check_cleared(const struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr;
	int rem, i;

	nla_for_each_attr(attr, genlmsg_data(info->genlhdr), genlmsg_len(info->genlhdr), rem)
		for (i = 0; nla_type(attr) == SANX_A_KEY_SECRET && i < nla_len(attr); i++)
			fuzz_assert(!((u8 *)nla_data(attr))[i]);
}

static bool answers(u8 cmd)
{
	switch (cmd) {
	case SANX_CMD_KEY_ADD:
	case SANX_CMD_STATS_GET:
	case SANX_CMD_PORTS_APPLY:
	case SANX_CMD_LINK_RESET:
		return true;
	default:
		return false;
	}
}

/* Genetlink's part of a request.  Return: 0 or -errno. */
static int do_request(const struct genl_split_ops *op, struct sk_buff *skb)
{
	struct nlattr *attrs[64] = {};
	struct netlink_ext_ack extack = {};
	struct genl_info info = {
		.snd_seq = 1, .snd_portid = 1, .net = net, .extack = &extack,
		.nlhdr = (void *)skb->data, .attrs = attrs,
		.genlhdr = (void *)(skb->data + NLMSG_HDRLEN),
	};
	int err = 0;

	fuzz_assert(op->maxattr < ARRAY_SIZE(attrs));
	if (op->policy)
		err = sim_nla_parse(attrs, op->maxattr, genlmsg_data(info.genlhdr),
				    genlmsg_len(info.genlhdr), op->policy, &extack);
	if (err)
		return err;
	replies = 0;
	err = op->doit(skb, &info);
	if (err)
		check_failed(&extack, skb);
	fuzz_assert(err <= 0 && replies == (!err && answers(op->cmd)));
	if (op->cmd == SANX_CMD_KEY_ADD)
		check_cleared(skb, &info);
	return err;
}

static const u8 dumps[] = { SANX_CMD_NODEMAP_GET, SANX_CMD_PORTS_GET, SANX_CMD_KEY_GET };

static void config_get(struct sk_buff **all)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dumps); i++)
		all[i] = dump(dumps[i], DUMP_SIZE);
}

static void config_put(struct sk_buff **all)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dumps); i++)
		nlmsg_free(all[i]);
}

static void request(void)
{
	u8 cmd = fuzz_u8(&input) % __SANX_CMD_MAX;
	const struct genl_split_ops *op = op_find(cmd);
	struct sk_buff *was[ARRAY_SIZE(dumps)], *is[ARRAY_SIZE(dumps)];
	u32 bytes = fuzz_u16(&input) % 2048, i;
	struct sk_buff *skb;
	u8 attrs[2048];

	bytes = min_t(u32, bytes, input.size);
	fuzz_bytes(&input, attrs, bytes);
	if (!op || !op->doit)
		return;
	skb = request_make(cmd, attrs, bytes);
	config_get(was);
	if (do_request(op, skb)) {
		config_get(is);
		for (i = 0; i < ARRAY_SIZE(dumps); i++)
			fuzz_assert(same(was[i], is[i]));
		config_put(is);
	}
	config_put(was);
	nlmsg_free(skb);
}

/* A dump with the command @get is loaded with @load, and dumped again. */
static void try_load(u8 get, u8 load)
{
	struct sk_buff *was = dump(get, PIECE_SIZE), *is = dump(get, DUMP_SIZE), *skb;
	struct sk_buff *attrs = sim_skb_new(DUMP_SIZE);
	const struct nlmsghdr *nlh;
	u32 at, bytes;

	fuzz_assert(same(was, is));
	nlmsg_free(is);
	for (at = 0; at < was->len; at += nlh->nlmsg_len) {
		nlh = (void *)(was->data + at);
		fuzz_assert(nlh->nlmsg_len > NLMSG_HDRLEN + GENL_HDRLEN);
		fuzz_assert(nlh->nlmsg_len <= was->len - at);
		fuzz_assert(nlh->nlmsg_flags == NLM_F_MULTI);
		bytes = nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
		memcpy(attrs->data + attrs->len, (u8 *)nlh + NLMSG_HDRLEN + GENL_HDRLEN,
		       bytes);
		attrs->len += bytes;
	}
	skb = request_make(load, attrs->data, attrs->len);
	fuzz_assert(!do_request(op_find(load), skb));
	nlmsg_free(skb);
	nlmsg_free(attrs);
	is = dump(get, DUMP_SIZE);
	fuzz_assert(same(was, is));
	nlmsg_free(is);
	nlmsg_free(was);
}

/* Rules say who the peer is in one way, as files of rules do; and defaults are all alike. */
static void check_rules(void)
{
	struct sanx_ports *ports;
	unsigned int i;

	rcu_read_lock();
	ports = rcu_dereference(sanx_net(net)->ports);
	for (i = 0; ports && i < ports->n; i++) {
		fuzz_assert(!ports->rule[i].node || !ports->rule[i].prefix_len);
		fuzz_assert(ports->rule[i].first || !ports->rule[i].space);
	}
	rcu_read_unlock();
}

static void run(void *unused)
{
	sim_engine_start();
	net = sim_net_new(1);
	the_sock.sim_net = net;
	while (input.size)
		request();
	check_rules();
	try_load(SANX_CMD_NODEMAP_GET, SANX_CMD_NODEMAP_LOAD);
	try_load(SANX_CMD_PORTS_GET, SANX_CMD_PORTS_LOAD);
	nlmsg_free(dump(SANX_CMD_KEY_GET, PIECE_SIZE));
	nlmsg_free(dump(SANX_CMD_LINK_GET, PIECE_SIZE));
	nlmsg_free(dump(SANX_CMD_SOCKET_GET, PIECE_SIZE));
	sim_net_exit(net);
	sim_engine_stop();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = (struct fuzz_input){ data, min_t(size_t, size, INPUT_MAX) };
	sim_abort = true;
	sim_seed(1);
	sim_now = 0;
	sim_set_pace(0);
	sim_mem_refuse(0);
	sim_nets_init();
	sim_call(-1, "netlink", run, NULL);
	if (sim_mem_live())
		sim_mem_dump();
	fuzz_assert(!sim_mem_live());
	return 0;
}
