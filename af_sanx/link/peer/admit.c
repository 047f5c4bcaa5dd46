// SPDX-License-Identifier: GPL-2.0
/* What this node says to a peer that asks for a link. */
#include "peer.h"

/*
 * As TCP's queue of SYNs, each such link is memory that a peer takes before it
 * has shown that it will use it.
 */
static bool half_open_full(struct sanx_lnet *lnet, u32 id)
{
	const struct sanx_net *sn = sanx_net(lnet->net);
	const struct sanx_peer *peer = sanx_peer_find(lnet, id);
	unsigned int of_peer = peer ? atomic_read(&peer->payer.half_open) : 0;

	return of_peer >= READ_ONCE(sn->half_open_peer) ||
	       atomic_read(&sn->n_half_open) >= READ_ONCE(sn->half_open) ||
	       sanx_user_half_open_full(lnet->user);
}

/* Is a request of what the node map has now? */
static bool accept_mapped(struct net *net, const struct sanx_wire_ask *ask,
			  const struct sanx_hello_info *hello)
{
	return sanx_node_has_rail(net, hello->from, ask->kind, &ask->remote) &&
	       sanx_node_self(net) == hello->to;
}

/*
 * Both nodes try for a link: does ours have precedence?  Both must agree, or both give way.
 * But if the peer has not answered for half of the time, it may not hear us, and what it
 * asks for comes through.
 */
static bool accept_tie(const struct sanx_lane *lane, const struct sanx_hello_info *hello)
{
	unsigned long now = jiffies;

	return lane->trying && !sanx_peer_is_self(lane->peer) && hello->to < hello->from &&
	       time_before_eq(now + (now - READ_ONCE(lane->trying->heard)), lane->try_end);
}

/* May the peer have a link in this lane?  As sanx_lane_accept(). */
static enum sanx_cause accept_check(struct sanx_lane *lane,
				    const struct sanx_wire_ask *ask,
				    const struct sanx_hello_info *hello)
{
	/* First: a peer that may ask for one rail of several must not wait for ever. */
	if (!sanx_link_may(lane))
		return SANX_CAUSE_QUOTA;
	if (!sanx_bounds_link(lane->peer))
		return SANX_CAUSE_RATE;
	if (!sanx_rail_takes(lane->peer, hello->to, ask))
		return SANX_CAUSE_RAIL;
	if (accept_tie(lane, hello))
		return SANX_CAUSE_TIE;
	return SANX_CAUSE_NONE;
}

/* What the user has may stay as it is, and the peer must not wait for ever. */
static enum sanx_cause accept_failed(int err)
{
	return err == -EDQUOT ? SANX_CAUSE_QUOTA : SANX_CAUSE_UNABLE;
}

/* Return: the lane that is asked for; or as sanx_peer_lane(). */
static struct sanx_lane *accept_lane(struct sanx_lnet *lnet, const struct sanx_hello_info *hello)
{
	struct sanx_peer *peer = sanx_peer_get(lnet, hello->from);

	return IS_ERR(peer) ? ERR_CAST(peer) : sanx_peer_lane(peer, hello->lane);
}

/* Return: a link that is accepting, with its own reference only; or as sanx_link_alloc(). */
static struct sanx_link *accept_link(struct sanx_lane *lane,
				     const struct sanx_wire_ops *wire,
				     const struct sanx_wire_ask *ask,
				     const struct sanx_hello_info *hello,
				     const struct sanx_auth *auth)
{
	struct sanx_link *link = sanx_link_alloc(lane, wire, false);

	if (IS_ERR(link))
		return link;
	if (lane->trying && !sanx_peer_is_self(lane->peer)) {
		lane->trying->yields = true;
		sanx_link_kill(lane->trying, SANX_END_REFUSED);
	}
	if (hello->features & SANX_HELLO_F_TRIAL || sanx_lane_standby(lane))
		link->use = SANX_LINK_TRIAL;
	/* If map or keys change from here on, sanx_peers_revalidate() follows. */
	link->self = hello->to;
	link->local = ask->local;
	link->remote = ask->remote;
	link->auth = *auth;
	sanx_key_get(link->auth.key);
	return link;
}

/*
 * Decides on a request of a peer for a link.  @auth: what it proves; copied, with a reference of
 * its key.  @wl: the wire's part; on success the link owns it, and it has the link.
 * Return: SANX_CAUSE_NONE, and @wl->link is accepting, with a reference for the caller; else
 * why there is none.
 */
enum sanx_cause sanx_lane_accept(struct sanx_lnet *lnet,
				 const struct sanx_wire_ask *ask,
				 const struct sanx_hello_info *hello,
				 const struct sanx_auth *auth,
				 struct sanx_wire_link *wl)
{
	enum sanx_cause why = SANX_CAUSE_STOPPED;
	const struct sanx_wire_ops *wire;
	struct sanx_link *link;
	struct sanx_lane *lane;

	mutex_lock(&lnet->lock);
	wire = sanx_link_wire(lnet, ask->kind);
	if (!lnet->running || !wire)
		goto out;
	why = SANX_CAUSE_UNMAPPED;
	if (!accept_mapped(lnet->net, ask, hello))
		goto out;
	why = SANX_CAUSE_OTHER_KEY;
	if (!sanx_key_valid(lnet->net, hello->from, auth->key))
		goto out;
	why = SANX_CAUSE_HALF_OPEN;
	if (half_open_full(lnet, hello->from))
		goto out;
	lane = accept_lane(lnet, hello);
	if (IS_ERR(lane)) {
		why = accept_failed(PTR_ERR(lane));
		goto out;
	}
	why = accept_check(lane, ask, hello);
	if (why)
		goto out;
	link = accept_link(lane, wire, ask, hello, auth);
	if (IS_ERR(link)) {
		why = accept_failed(PTR_ERR(link));
		goto out;
	}
	kref_get(&link->refs);
	link->wl = wl;
	wl->link = link;
	why = SANX_CAUSE_NONE;
out:
	mutex_unlock(&lnet->lock);
	return why;
}
