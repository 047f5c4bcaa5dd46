// SPDX-License-Identifier: GPL-2.0
/*
 * Peers, which are the nodes that a namespace has, or had, links with; and their lanes.
 *
 * Frames are sent under the lock of their link, and one CPU at a time processes
 * the frames that arrive on it.  So nodes with several CPUs have several links
 * to a node, each in a lane of its own, and connections are distributed among
 * them.  A connection stays in its lane.
 *
 * Lanes from SANX_LANES_MAX on are for standby links, which carry no connections: care.c.
 *
 * A peer is made when it is first used, and freed when the namespace stops; and when the node
 * map changes and does not have the node.
 */
#include <linux/slab.h>

#include "peer.h"

/* Pages that a lane takes. */
#define LANE_PAGES	DIV_ROUND_UP(sizeof(struct sanx_lane), PAGE_SIZE)
/* Pages that a peer takes. */
#define PEER_PAGES	DIV_ROUND_UP(sizeof(struct sanx_peer), PAGE_SIZE)

/*
 * Memory for a peer or a lane, which counts for the user of the namespace.  No I/O: a
 * connection that moves to another link needs lnet.lock, and reclaim may wait for that
 * connection.
 * Return: the memory; or an error pointer: -ENOMEM, or -EDQUOT if the user may have no more.
 */
static void *peer_alloc(struct sanx_lnet *lnet, size_t size, u32 pages)
{
	void *p;

	lockdep_assert_held(&lnet->lock);
	if (!sanx_bounds_user(lnet->user, pages))
		return ERR_PTR(-EDQUOT);
	p = kzalloc(size, GFP_NOIO);
	if (p)
		return p;
	sanx_user_unclaim(lnet->user, pages);
	return ERR_PTR(-ENOMEM);
}

/* Finds a peer.  lnet.lock held.  Return: the peer, or NULL. */
struct sanx_peer *sanx_peer_find(struct sanx_lnet *lnet, u32 id)
{
	lockdep_assert_held(&lnet->lock);
	return xa_load(&lnet->peers, id);
}

static void peer_free_rcu(struct rcu_head *rcu)
{
	struct sanx_peer *peer = container_of(rcu, struct sanx_peer, rcu);
	unsigned int i;

	for (i = 0; i < SANX_LANES_ALL; i++)
		kfree(peer->lanes[i]);
	kfree(peer);
}

static void peer_free(struct kref *refs)
{
	struct sanx_peer *peer = container_of(refs, struct sanx_peer, payer.refs);
	struct sanx_lane *lane;
	unsigned int i;

	/* Each ring and chunk has a reference. */
	WARN_ON_ONCE(atomic_long_read(&peer->payer.memory));
	for (i = 0; (lane = sanx_lane_next(peer, &i));) {
		xa_destroy(&lane->streams.ids);
		sanx_user_unclaim(peer->payer.user, LANE_PAGES);
	}
	sanx_user_unclaim(peer->payer.user, PEER_PAGES);
	sanx_user_put(peer->payer.user);
	call_rcu(&peer->rcu, peer_free_rcu);
}

/**
 * sanx_peer_get() - find or make a peer
 * @lnet: the namespace
 * @id: its node id
 *
 * Context: process, lnet.lock held.
 * Return: the peer, without a reference; or an error pointer: -ENOMEM, or -EDQUOT if the user
 * may have no more.
 */
struct sanx_peer *sanx_peer_get(struct sanx_lnet *lnet, u32 id)
{
	struct sanx_peer *peer = sanx_peer_find(lnet, id);
	int err;

	if (peer)
		return peer;
	peer = peer_alloc(lnet, sizeof(*peer), PEER_PAGES);
	if (IS_ERR(peer))
		return peer;
	kref_init(&peer->payer.refs);
	peer->payer.release = peer_free;
	peer->payer.net = lnet->net;
	peer->lnet = lnet;
	peer->payer.user = sanx_user_get(lnet->user);
	peer->payer.id = id;
	INIT_DELAYED_WORK(&peer->care, sanx_rails_care_work);
	sanx_rails_renumber(peer);
	err = xa_err(xa_store(&lnet->peers, id, peer, GFP_NOIO));
	if (!err)
		return peer;
	sanx_payer_put(&peer->payer);
	return ERR_PTR(err);
}

/**
 * sanx_peer_lane() - find or make a lane to a node
 * @peer: the node
 * @number: number of the lane, below SANX_LANES_ALL
 *
 * Context: process, lnet.lock held.
 * Return: the lane; or an error pointer: -ENOMEM, or -EDQUOT if the user may have no more.
 */
struct sanx_lane *sanx_peer_lane(struct sanx_peer *peer, u32 number)
{
	struct sanx_lane *lane = peer->lanes[number];

	if (lane)
		return lane;
	lane = peer_alloc(peer->lnet, sizeof(*lane), LANE_PAGES);
	if (IS_ERR(lane))
		return lane;
	lane->peer = peer;
	lane->number = number;
	sanx_lane_init(lane);
	peer->lanes[number] = lane;
	return lane;
}

/* Does nothing use a peer?  Links and memory have references. */
static bool peer_idle(const struct sanx_peer *peer)
{
	const struct sanx_lane *lane;
	unsigned int i;

	lockdep_assert_held(&peer->lnet->lock);
	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		if (!list_empty(&lane->waiters) || lane->streams.n_suspended)
			return false;
	return kref_read(&peer->payer.refs) == 1;
}

/* Frees a peer that is in lnet.peers no more, once nothing uses it. */
static void peer_end(struct sanx_peer *peer)
{
	struct sanx_lane *lane;
	unsigned int i;

	cancel_delayed_work_sync(&peer->care);
	for (i = 0; (lane = sanx_lane_next(peer, &i));) {
		cancel_delayed_work_sync(&lane->timer);
		cancel_delayed_work_sync(&lane->streams.retry);
	}
	sanx_payer_put(&peer->payer);
}

/*
 * Applies a changed node map, or changed keys.  lnet.ctl held.
 *
 * Ends links to nodes that are no longer in the map, and all links if the id of this
 * node has changed, and resets suspended connections to such nodes.  A link on a rail
 * that is no longer in the map, with a key that is not valid any more, or without one
 * if there is one now, is taken for lost: its connections continue on another one.
 *
 * Frees what there is of nodes that are not in the map, once nothing uses it: at the latest
 * at the change after the next, so a namespace has no more peers than its maps had nodes.
 */
void sanx_peers_revalidate(struct sanx_lnet *lnet, bool reachable)
{
	struct sanx_lane *lane;
	struct sanx_peer *peer;
	unsigned long id;
	unsigned int i;
	bool mapped;

	lockdep_assert_held(&lnet->ctl);
	mutex_lock(&lnet->lock);
	xa_for_each(&lnet->peers, id, peer) {
		mapped = sanx_node_by_id(lnet->net, id, NULL);
		sanx_rails_renumber(peer);
		for (i = 0; (lane = sanx_lane_next(peer, &i));)
			sanx_lane_revalidate(lane, mapped, reachable);
		sanx_rails_care(peer);
		if (mapped || !peer_idle(peer))
			continue;
		xa_erase(&lnet->peers, id);
		mutex_unlock(&lnet->lock);
		peer_end(peer);
		mutex_lock(&lnet->lock);
	}
	mutex_unlock(&lnet->lock);
}

/**
 * sanx_links_reset() - end the links to a node, as if they were lost
 * @net: the namespace
 * @node: its node id
 * @number: number of a lane, or -1 for all
 *
 * Connections continue on new links.  Rails that have failed before are not held any more,
 * nor lanes in which connects do not wait; those of the links that end count it as a loss.
 *
 * Context: process, may sleep; takes lnet.lock.
 * Return: number of links.
 */
unsigned int sanx_links_reset(struct net *net, u32 node, int number)
{
	struct sanx_lnet *lnet = sanx_lnet_of(net);
	struct sanx_lane *lane;
	struct sanx_peer *peer;
	unsigned int i, n = 0;

	mutex_lock(&lnet->lock);
	peer = sanx_peer_find(lnet, node);
	if (!peer)
		goto out;
	for (i = 0; i < RAILS_MAX; i++)
		rails_forgive(&peer->rails, i);
	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		if (number < 0 || lane->number == number)
			n += sanx_lane_reset(lane);
	sanx_rails_care(peer);
out:
	mutex_unlock(&lnet->lock);
	return n;
}

/* Ends all links of a namespace, and waits for that.  lnet.ctl held. */
void sanx_peers_stop(struct sanx_lnet *lnet)
{
	struct sanx_lane *lane;
	struct sanx_peer *peer;
	unsigned long id;
	unsigned int i;

	mutex_lock(&lnet->lock);
	xa_for_each(&lnet->peers, id, peer)
		for (i = 0; (lane = sanx_lane_next(peer, &i));)
			sanx_lane_stop(lane);
	mutex_unlock(&lnet->lock);
	for (i = 0; i < __SANX_WIRES; i++)
		wait_event(lnet->gone, !atomic_read(&lnet->n_links[i]));

	/* Nothing is added while the namespace is not running, and only who holds ctl removes. */
	xa_for_each(&lnet->peers, id, peer) {
		mutex_lock(&lnet->lock);
		xa_erase(&lnet->peers, id);
		mutex_unlock(&lnet->lock);
		for (i = 0; (lane = sanx_lane_next(peer, &i));)
			sanx_retry_stop(lane);
		peer_end(peer);
	}
}

/* Ends all links over a wire, and waits for that.  lnet.ctl held. */
void sanx_peers_stop_wire(struct sanx_lnet *lnet, enum sanx_wire_kind kind)
{
	struct sanx_link *link;
	struct sanx_lane *lane;
	struct sanx_peer *peer;
	unsigned long id;
	unsigned int i;

	mutex_lock(&lnet->lock);
	xa_for_each(&lnet->peers, id, peer)
		for (i = 0; (lane = sanx_lane_next(peer, &i));)
			list_for_each_entry(link, &lane->links, node)
				if (link->kind == kind)
					sanx_link_kill(link, SANX_END_LOST);
	mutex_unlock(&lnet->lock);
	wait_event(lnet->gone, !atomic_read(&lnet->n_links[kind]));
}

/* Are there connections, attached or suspended? */
bool sanx_peers_have_conns(struct sanx_lnet *lnet)
{
	struct sanx_link *link;
	struct sanx_lane *lane;
	struct sanx_peer *peer;
	bool found = false;
	unsigned long id;
	unsigned int i;

	mutex_lock(&lnet->lock);
	xa_for_each(&lnet->peers, id, peer) {
		for (i = 0; (lane = sanx_lane_next(peer, &i));) {
			found |= lane->streams.n_suspended;
			list_for_each_entry(link, &lane->links, node)
				found |= READ_ONCE(link->n_conns);
		}
	}
	mutex_unlock(&lnet->lock);
	return found;
}
