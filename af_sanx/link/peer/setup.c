// SPDX-License-Identifier: GPL-2.0
/*
 * Set-up of links: which rail is tried, who may have a link, and what the two
 * nodes say to each other before the first frame.
 *
 * The request for a link and the reply carry a &struct sanx_hello, which names
 * both nodes.  Both sides check it against the node map.  The passive side
 * accepts a request only if it names this node, comes from a node in the map,
 * and comes from an address that is a rail of that node.
 *
 * Both also check that the other has their key, if there is one (auth.c).
 *
 * The active side sends the first frame, AUTH, as iWARP requires (MPA, RFC 5044).
 * The passive side considers the link up when that frame arrives.  The frame
 * follows the last message of the set-up, and unlike that message it cannot be
 * lost.
 */
#include <linux/export.h>
#include <net/ipv6.h>

#include "config/cov.h"
#include "peer.h"

static_assert(sizeof(struct sanx_hello) == SANX_WIRE_HELLO);
static_assert(SANX_FRAME_MAX <= SANX_WIRE_FRAME_MAX);
static_assert(SANX_WIRE_FRAME_MAX <= SANX_WIRE_STRIDE);

/**
 * sanx_wire_set_addrs() - say between which addresses a link runs
 * @link: the link
 * @local: our address
 * @remote: the peer's address
 *
 * Context: process, may sleep; takes lnet.lock.
 */
void sanx_wire_set_addrs(struct sanx_link *link, const struct in6_addr *local,
			 const struct in6_addr *remote)
{
	mutex_lock(&sanx_peer_of(link)->lnet->lock);
	link->local = *local;
	link->remote = *remote;
	mutex_unlock(&sanx_peer_of(link)->lnet->lock);
}
EXPORT_SYMBOL_GPL(sanx_wire_set_addrs);

/*
 * What tells this boot of this node from earlier ones.  Each peer is told another
 * value, so that no peer can tell others what it was told, to pass for us.
 */
static u64 setup_instance(const struct sanx_peer *peer)
{
	return siphash_1u32(peer->payer.id, &peer->lnet->instance_key) ?: 1;
}

static void setup_text(struct sanx_auth_text *t, const struct in6_addr *active,
		       const struct in6_addr *passive, u32 qpn, u32 passive_qpn)
{
	t->addr[0] = *active;
	t->addr[1] = *passive;
	t->qpn[0] = cpu_to_le32(qpn);
	t->qpn[1] = cpu_to_le32(passive_qpn);
}

/* Our hello in the request. */
static int setup_ask(struct sanx_link *link, const struct sanx_hello *h)
{
	struct sanx_peer *peer = sanx_peer_of(link);
	struct sanx_auth *auth = &link->auth;
	struct sanx_keys keys;
	int err;

	err = sanx_keys_get(peer->payer.net, peer->payer.id, &keys);
	if (err)
		return err;
	setup_text(&auth->text, &link->local, &link->remote, link->wl->qpn, 0);
	auth->text.ask = *h;
	err = sanx_auth_ask(auth, &keys);
	sanx_keys_put(&keys);
	return err;
}

/* Our hello in the reply. */
static int setup_answer(struct sanx_link *link, const struct sanx_hello *h)
{
	struct sanx_auth *auth = &link->auth;

	auth->text.qpn[1] = cpu_to_le32(link->wl->qpn);
	auth->text.answer = *h;
	return sanx_auth_answer(auth);
}

/**
 * sanx_wire_hello() - what the peer is told in the request or the reply
 * @link: a link that is prepared; its addresses are set
 * @hello: SANX_WIRE_HELLO bytes, filled
 *
 * Context: process, may sleep; takes lnet.lock.
 * Return: 0 or -errno; -ENOSPC if the link is for connections whose rings its wire cannot
 * map, which stay where they are.  The link ends then.
 */
int sanx_wire_hello(struct sanx_link *link, void *hello)
{
	bool trial = sanx_lane_trial(link);
	struct sanx_hello_info info = {
		.from		= link->self,
		.to		= link->payer->id,
		.recvs		= SANX_WIRE_RECVS,
		.inline_max	= SANX_INLINE_MAX,
		.lane		= link->lane,
		.rail		= link->rail,
		.features	= link->active && trial ? SANX_HELLO_F_TRIAL : 0,
		.instance	= setup_instance(sanx_peer_of(link)),
		.nonce		= get_random_u64(),
	};
	const struct sanx_auth_text *t = &link->auth.text;
	struct sanx_hello h;
	int err;

	if (trial && !sanx_lane_fits(link)) {
		sanx_link_kill(link, SANX_END_UNFIT);
		return -ENOSPC;
	}
	sanx_hello_build(&h, &info);
	err = link->active ? setup_ask(link, &h) : setup_answer(link, &h);
	/* @hello is bytes of the wire, of any alignment. */
	memcpy(hello, link->active ? &t->ask : &t->answer, sizeof(h));
	return err;
}
EXPORT_SYMBOL_GPL(sanx_wire_hello);

/* Takes the values of the peer's hello, before frames are sent or received. */
static void hello_take(struct sanx_link *link,
		       const struct sanx_hello_info *info)
{
	spin_lock_bh(&link->tx_lock);
	link_credit_init_tx(&link->credit, info->recvs);
	link->rail = info->rail;
	link->inline_max = info->inline_max;
	link->instance = info->instance;
	spin_unlock_bh(&link->tx_lock);
}

/*
 * Without keys, what a hello proves is that it is about the addresses that this end sees.
 * @h: the peer's
 */
static enum sanx_cause setup_auth_fault(int err, const struct sanx_hello *h)
{
	if (err == -ENOKEY)
		return SANX_CAUSE_NO_KEY;
	return h->keys ? SANX_CAUSE_OTHER_KEY : SANX_CAUSE_TRANSLATED;
}

/*
 * Checks what the reply proves.  A key that was removed meanwhile does not count:
 * sanx_peers_revalidate() follows, or has seen link->auth.key.
 */
static int setup_proven(struct sanx_link *link, const struct sanx_hello *reply)
{
	struct sanx_peer *peer = sanx_peer_of(link);
	struct sanx_keys keys;
	int err;

	mutex_lock(&peer->lnet->lock);
	err = sanx_keys_get(peer->payer.net, peer->payer.id, &keys);
	if (!err) {
		link->auth.text.qpn[1] = cpu_to_le32(link->wl->peer_qpn);
		err = sanx_auth_check_answer(&link->auth, &keys, reply);
		sanx_keys_put(&keys);
	}
	mutex_unlock(&peer->lnet->lock);
	return err;
}

static int setup_reply(struct sanx_link *link, const void *data, size_t len)
{
	struct sanx_hello_info info;
	struct sanx_hello h;
	int err;

	err = sanx_hello_parse(&info, data, len);
	if (err == -EPROTONOSUPPORT)
		sanx_wire_cause(link, SANX_CAUSE_VERSION);
	if (err)
		return err;
	if (info.from != link->payer->id || info.to != link->self ||
	    info.lane != link->lane || info.rail != link->rail ||
	    info.features)
		return -EPROTO;
	memcpy(&h, data, sizeof(h));
	err = setup_proven(link, &h);
	if (err == -ENOKEY || err == -EKEYREJECTED)
		sanx_wire_cause(link, setup_auth_fault(err, &h));
	else if (err)
		sanx_wire_cause(link, SANX_CAUSE_NO_WAY);
	if (err)
		return err;
	hello_take(link, &info);
	sanx_link_came_up(link);
	return 0;
}

/**
 * sanx_wire_connected() - the peer has accepted our request
 * @link: an active link
 * @data: the peer's hello
 * @len: its size in bytes
 *
 * Context: process, may sleep; takes lnet.lock, tx_lock.
 */
void sanx_wire_connected(struct sanx_link *link, const void *data, size_t len)
{
	bool cov = sanx_cov_start(link->payer->net);
	int err = setup_reply(link, data, len);

	if (err == -EPROTO)
		sanx_count_protocol_error(link->payer->net);
	if (err)
		sanx_link_kill(link, SANX_END_FAULT);
	sanx_cov_stop(cov);
}
EXPORT_SYMBOL_GPL(sanx_wire_connected);

/* Does a link show that the node is still the one that it was? */
static bool setup_linked(const struct sanx_peer *peer)
{
	const struct sanx_lane *lane;
	unsigned int i;

	lockdep_assert_held(&peer->lnet->lock);
	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		if (lane->out)
			return true;
	return false;
}

/**
 * sanx_wire_refused() - a link was refused
 * @link: a link that is being set up
 * @data: the peer's sanx_wire_refusal(), or NULL
 * @len: its size in bytes
 *
 * A refusal without a word of ours does not come from AF_SANX.  Either the peer
 * has no AF_SANX any more, or its device is new and AF_SANX does not listen
 * there yet.
 *
 * Context: process, may sleep; takes lnet.lock, tx_lock.
 */
void sanx_wire_refused(struct sanx_link *link, const void *data, size_t len)
{
	struct sanx_peer *peer = sanx_peer_of(link);
	enum sanx_refusal how;
	enum sanx_cause cause;
	bool cov = sanx_cov_start(peer->payer.net);
	bool doubt = false;

	how = sanx_refusal_parse(data, len, &cause);
	mutex_lock(&peer->lnet->lock);
	sanx_wire_cause(link, cause);
	switch (how) {
	case SANX_REFUSED_TIE:
		/* Both sides tried, and the peer's request has precedence. */
		link->yields = true;
		break;
	case SANX_REFUSED_NEVER:
	case SANX_REFUSED_ABSENT:
		/* A peer that gives up its own attempt has AF_SANX. */
		if (!link->active)
			break;
		/* It may be another node by now. */
		doubt = !setup_linked(peer);
		sanx_lane_refused(link, how == SANX_REFUSED_NEVER);
		break;
	default:
		break;
	}
	mutex_unlock(&peer->lnet->lock);
	if (doubt)
		sanx_seek_again(peer->lnet, peer->payer.id);
	sanx_link_kill(link, SANX_END_REFUSED);
	sanx_cov_stop(cov);
}
EXPORT_SYMBOL_GPL(sanx_wire_refused);

/* Is who has sent a request refused for that? */
static enum sanx_cause setup_origin(enum sanx_wire_origin origin)
{
	switch (origin) {
	case SANX_WIRE_KERNEL:
	case SANX_WIRE_ANYONE:
		return SANX_CAUSE_NONE;
	case SANX_WIRE_PROGRAM:
		return SANX_CAUSE_PROGRAM;
	case SANX_WIRE_FORGED:
		return SANX_CAUSE_FORGED;
	case SANX_WIRE_APART:
		return SANX_CAUSE_APART;
	}
	return SANX_CAUSE_MALFORMED;
}

/*
 * Checks all of a request that needs no lock and no key.
 * Return: why it is refused, or SANX_CAUSE_NONE.
 */
static enum sanx_cause setup_check(struct sanx_lnet *lnet,
				   const struct sanx_wire_ask *ask,
				   const struct sanx_hello_info *hello, int parsed)
{
	enum sanx_cause why = setup_origin(ask->origin);

	if (why)
		return why;
	if (parsed == -EPROTONOSUPPORT)
		return SANX_CAUSE_VERSION;
	if (parsed)
		return SANX_CAUSE_MALFORMED;
	/* Before our own id: without one, each host of the map is looked up. */
	if (!sanx_node_has_rail(lnet->net, hello->from, ask->kind,
				&ask->remote))
		return SANX_CAUSE_UNMAPPED;
	if (hello->to != sanx_node_self(lnet->net))
		return SANX_CAUSE_OTHER_ID;
	return SANX_CAUSE_NONE;
}

/*
 * Checks the proofs of a request, of which the rest was checked.
 * Return: why it is refused, or SANX_CAUSE_NONE.
 */
static enum sanx_cause setup_check_auth(struct sanx_lnet *lnet, struct sanx_auth *auth,
					const struct sanx_wire_ask *ask, u32 qpn, u32 peer)
{
	struct sanx_keys keys;
	int err;

	if (sanx_keys_get(lnet->net, peer, &keys))
		return SANX_CAUSE_UNABLE;
	setup_text(&auth->text, &ask->remote, &ask->local, qpn, 0);
	memcpy(&auth->text.ask, ask->data, sizeof(auth->text.ask));
	if (ask->origin == SANX_WIRE_ANYONE && !sanx_keys_secret(&keys))
		err = -ENOKEY;
	else
		err = sanx_auth_check_ask(auth, &keys);
	sanx_keys_put(&keys);
	if (err == -ENOKEY && ask->origin == SANX_WIRE_ANYONE)
		return SANX_CAUSE_FABRIC;
	if (err == -ENOKEY || err == -EKEYREJECTED)
		return setup_auth_fault(err, &auth->text.ask);
	return err ? SANX_CAUSE_UNABLE : SANX_CAUSE_NONE;
}

/* @why: NULL if nothing is wrong, or if the log has it already */
static void setup_refused(struct sanx_lnet *lnet, const struct in6_addr *remote,
			  const char *why)
{
	if (!why)
		return;
	sanx_stat_add(lnet->net, SANX_STAT_LINKS_REFUSED, 1);
	pr_notice_ratelimited("refused a link from %pI6c: %s\n", remote, why);
}

/* A peer that has asked for a link lacks its key. */
void sanx_setup_unproven(struct sanx_link *link)
{
	setup_refused(sanx_peer_of(link)->lnet, &link->remote,
		      "its first frame does not prove that it has the key");
}

/* Decides on a request that makes sense; as sanx_lane_accept(). */
static enum sanx_cause setup_accept(struct sanx_lnet *lnet,
				    struct sanx_wire_link *wl,
				    const struct sanx_wire_ask *ask,
				    const struct sanx_hello_info *hello)
{
	struct sanx_auth auth = {};
	enum sanx_cause why;

	why = setup_check_auth(lnet, &auth, ask, wl->peer_qpn, hello->from);
	if (why)
		return why;
	why = sanx_lane_accept(lnet, ask, hello, &auth, wl);
	sanx_auth_end(&auth);
	if (!why)
		hello_take(wl->link, hello);
	return why;
}

/**
 * sanx_wire_welcome() - may somebody who connects ask for a link?
 * @lnet: as passed to sanx_wire_ops.listen()
 * @ask: what is known before the request itself: all but the hello
 * @node: set to the node that has a rail at their address, or to 0
 *
 * For a wire on which connecting costs memory before there is a request.
 *
 * Context: process, may sleep.
 * Return: false, and then it was counted and logged, if any request would be refused.
 */
bool sanx_wire_welcome(struct sanx_lnet *lnet, const struct sanx_wire_ask *ask,
		       u32 *node)
{
	enum sanx_cause why = setup_origin(ask->origin);

	*node = sanx_rail_node(lnet->net, ask->kind, &ask->remote);
	if (!why && !*node && !sanx_auto_covers(lnet->net, &ask->remote))
		why = SANX_CAUSE_UNMAPPED;
	setup_refused(lnet, &ask->remote, sanx_cause_asked(why));
	return !why;
}

/**
 * sanx_wire_request() - a peer asks for a link
 * @lnet: as passed to sanx_wire_ops.listen()
 * @wl: the wire's part, with @wl->peer_qpn.  On success the link owns it, @wl->link is
 *	set, and sanx_wire_ops.free() frees it
 * @ask: the request
 *
 * The wire accepts or refuses the request.  If it refuses after success, it
 * calls sanx_wire_failed() as well.
 *
 * Context: process, may sleep; NOIO; takes lnet.lock.
 * Return: SANX_CAUSE_NONE, and @wl->link is the link, with its addresses, until
 * sanx_wire_request_put(); else what the peer is to be told, for sanx_wire_refusal().
 */
enum sanx_cause sanx_wire_request(struct sanx_lnet *lnet,
				  struct sanx_wire_link *wl,
				  const struct sanx_wire_ask *ask)
{
	bool cov = sanx_cov_start(lnet->net);
	struct sanx_hello_info info;
	enum sanx_cause why;
	int parsed;

	parsed = sanx_hello_parse(&info, ask->data, ask->len);
	why = setup_check(lnet, ask, &info, parsed);
	if (!why)
		why = setup_accept(lnet, wl, ask, &info);
	setup_refused(lnet, &ask->remote, sanx_cause_asked(why));
	sanx_cov_stop(cov);
	return why;
}
EXPORT_SYMBOL_GPL(sanx_wire_request);

/**
 * sanx_wire_request_put() - the wire has answered a request
 * @link: as sanx_wire_request() returned it
 *
 * Context: any.
 */
void sanx_wire_request_put(struct sanx_link *link)
{
	sanx_link_put(link);
}
EXPORT_SYMBOL_GPL(sanx_wire_request_put);
