// SPDX-License-Identifier: GPL-2.0
/*
 * Which implicit connection does a datagram take?
 *
 * A datagram of UDP takes a connection that carries now, or none.  A datagram of an explicit
 * socket may also wait for a connection that opens, or that has lost its link.
 */
#include <linux/jhash.h>

#include "config/config.h"
#include "carrier.h"
#include "dgram_priv.h"

/* Most bytes that wait for room in one; beyond it, datagrams are UDP's, or are refused. */
#define QUEUE_MOST	(4 << 20)

/* May datagrams to @peer go by it, as far as it does not depend on its state? */
static bool leads_to(const struct sanx_carrier *c, u32 peer, u32 nr)
{
	if (c->peer != peer || c->nr != nr)
		return false;
	/* Of the two ends the same one always, so that datagrams keep their order. */
	return !carrier_loops(c) || carrier_ours(c);
}

static bool carries(const struct sanx_carrier *c)
{
	/* Pairs with smp_store_release() in carrier_opened(): c->conn is set. */
	return smp_load_acquire(&c->state) == CARRIER_OPEN && !sanx_conn_away(c->conn);
}

/*
 * Context: under RCU.
 * Return: one that carries now; else NULL, and *@asked is set if somebody has asked for one.
 */
static struct sanx_carrier *carrier_find(struct carriers *all, u32 peer, u32 nr, bool *asked)
{
	struct sanx_carrier *c;

	*asked = false;
	hash_for_each_possible_rcu(all->table, c, node, peer) {
		if (!leads_to(c, peer, nr))
			continue;
		*asked = true;
		if (carries(c))
			return c;
	}
	return NULL;
}

/**
 * enum fit - how well does a connection do for a datagram that has no other way?
 * @FIT_NONE: there is no connection
 * @FIT_RESTS: the peer does not want one
 * @FIT_THEIRS: it takes datagrams, perhaps later; the peer has asked for it
 * @FIT_OURS: likewise; this node has asked for it.  If there are both, all datagrams go by this
 *	one, so that none overtakes another
 */
enum fit {
	FIT_NONE,
	FIT_RESTS,
	FIT_THEIRS,
	FIT_OURS,
};

static enum fit fit_of(const struct sanx_carrier *c)
{
	switch (READ_ONCE(c->state)) {
	case CARRIER_ASKS:
	case CARRIER_OPEN:
	case CARRIER_STALLS:
		return carrier_ours(c) ? FIT_OURS : FIT_THEIRS;
	case CARRIER_RESTS:
		return FIT_RESTS;
	default:
		return FIT_NONE;
	}
}

/* Context: under RCU.  Return: how well the best one does; *@best is set to it. */
static enum fit find_best(struct carriers *all, u32 peer, u32 nr, struct sanx_carrier **best)
{
	enum fit fit, found = FIT_NONE;
	struct sanx_carrier *c;

	*best = NULL;
	hash_for_each_possible_rcu(all->table, c, node, peer) {
		fit = leads_to(c, peer, nr) ? fit_of(c) : FIT_NONE;
		if (fit > found) {
			found = fit;
			*best = c;
		}
	}
	return found;
}

/* Datagrams between the same two sockets go by the same one. */
static u32 carrier_nr(const struct sanx_dgram *d)
{
	u32 ports = (u32)(__force u16)d->sport << 16 | (__force u16)d->dport;

	if (sanx_addr_explicit(&d->dest.daddr))
		ports = jhash_2words(sanx_addr_port(&d->route.saddr),
				     sanx_addr_port(&d->dest.daddr), 0);
	return 1 + reciprocal_scale(hash_32(ports, 32), CARRIERS);
}

/* Context: under RCU.  Return: one that takes the datagram now, or NULL. */
static struct sanx_carrier *carrier_taking(struct net *net, const struct sanx_dgram *d,
					   bool *asked)
{
	struct sanx_carrier *c = NULL;

	if (READ_ONCE(sanx_net(net)->dgram_conns))
		c = carrier_find(sanx_carriers_of(net), d->route.peer, carrier_nr(d), asked);
	return c && !sanx_carrier_full(c) ? c : NULL;
}

/*
 * Is there an implicit connection for a datagram?
 *
 * If there is none, one is asked for.
 *
 * Return: true if so; a hint.
 */
bool sanx_carrier_there(struct net *net, const struct sanx_dgram *d)
{
	struct carriers *all = sanx_carriers_of(net);
	bool asked = true, there;

	rcu_read_lock();
	there = carrier_taking(net, d, &asked);
	rcu_read_unlock();
	if (!asked && carriers_room(all))
		sanx_carrier_want(all, d->route.peer, carrier_nr(d), d);
	return there;
}

/*
 * Find the implicit connection for a datagram.
 * Return: it, with a reference for sanx_carrier_put(); or NULL, and UDP has to send the
 * datagram.
 */
struct sanx_carrier *sanx_carrier_get(struct net *net, const struct sanx_dgram *d)
{
	struct sanx_carrier *c;
	bool asked;

	rcu_read_lock();
	c = carrier_taking(net, d, &asked);
	if (c && !refcount_inc_not_zero(&c->refs))
		c = NULL;
	rcu_read_unlock();
	return c;
}

/*
 * Find the implicit connection for a datagram that has no other way, or ask for one.
 * Return: it, with a reference for sanx_carrier_put(); it may not be open yet.  -ENETUNREACH if
 * the peer does not want one; -ENOBUFS if it does not take what is sent, there are too many
 * connections, or there is no memory.
 */
struct sanx_carrier *sanx_carrier_ask(struct net *net, const struct sanx_dgram *d)
{
	struct carriers *all = sanx_carriers_of(net);
	u32 peer = d->route.peer, nr = carrier_nr(d);
	struct sanx_carrier *c;
	enum fit fit;

	if (!READ_ONCE(sanx_net(net)->dgram_conns))
		return ERR_PTR(-ENETUNREACH);
	rcu_read_lock();
	fit = find_best(all, peer, nr, &c);
	if (fit == FIT_RESTS && sanx_carrier_rested(all, c))
		fit = FIT_NONE;
	if (fit == FIT_NONE && carriers_room(all)) {
		rcu_read_unlock();
		sanx_carrier_want(all, peer, nr, d);
		rcu_read_lock();
		fit = find_best(all, peer, nr, &c);
	}
	if (fit == FIT_RESTS)
		c = ERR_PTR(-ENETUNREACH);
	else if (fit == FIT_NONE || READ_ONCE(c->state) == CARRIER_STALLS ||
		 sanx_carrier_full(c) || !refcount_inc_not_zero(&c->refs))
		c = ERR_PTR(-ENOBUFS);
	rcu_read_unlock();
	return c;
}

/* Does so much wait that it takes no more?  A hint. */
bool sanx_carrier_full(const struct sanx_carrier *c)
{
	return atomic_read(&c->queued) > QUEUE_MOST;
}

/* @skb: taken over */
static void carrier_queue(struct sanx_carrier *c, struct sk_buff *skb, bool counted)
{
	WRITE_ONCE(c->used, jiffies);
	*carrier_cb(skb) = (struct carrier_cb){ .since = jiffies, .counted = counted };
	atomic_add(skb->truesize, &c->queued);
	skb_queue_tail(&c->queue, skb);
	/*
	 * The work looks at the queue after it has changed the state.  Both take the lock of the
	 * queue: so either it has found @skb, or its state is seen here.
	 */
	switch (smp_load_acquire(&c->state)) {
	case CARRIER_ASKS:
		sanx_carrier_waits(c);
		break;
	case CARRIER_OPEN:
		sanx_carrier_write(c, false);
		break;
	default:
		sanx_carrier_kick(c);
	}
}

/* Send a datagram.  @skb: the packet, from its IP header on, which is taken over. */
void sanx_carrier_send(struct sanx_carrier *c, struct sk_buff *skb)
{
	/* Pairs with smp_store_release() in carrier_opened(): c->conn is set. */
	bool counted = smp_load_acquire(&c->state) == CARRIER_OPEN;

	if (counted)
		sanx_carrier_count(c);
	carrier_queue(c, skb, counted);
}

/* Likewise, what no program sends. */
void sanx_carrier_answer(struct sanx_carrier *c, struct sk_buff *skb)
{
	carrier_queue(c, skb, true);
}
