// SPDX-License-Identifier: GPL-2.0
/*
 * Implicit connections: the way of datagrams to other nodes (sci-socket.txt 5.1.7).
 *
 * An implicit connection is a connection of the engine as all others are, but the kernel
 * asks for it, at port 0 of the peer (conn/user.c), and all sockets share it, in both
 * directions.  A carrier is what a node knows of one.  There are CARRIERS to a node, as
 * the engine spreads connections over the lanes; a datagram goes by the one that the hash of
 * its ports says, so those between the same two sockets keep their order.
 *
 * No datagram of UDP waits for a connection.  While none is open, or it is away, they are
 * UDP's, and the first one has a connection asked for.  Those of explicit sockets have no other
 * way: they wait in the queue of one that may open.
 *
 * The work of a carrier asks, reads and closes, so that these need no lock among each other.
 * Senders find one (find.c) and write (stream.c).
 *
 * Invariants: a carrier in the table has a reference for that.  c->conn is set once, by the
 * work or before the carrier is in the table, and its reference is put with the last one of
 * the carrier.  Once a carrier is OVER or CUT, its work closes the connection.  A sender that
 * looked at the state before may still queue a datagram, which is dropped: by the work, or
 * with the last reference.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "config/config.h"
#include "carrier.h"
#include "dgram_priv.h"
#include "link/peer/engine.h"

/* Bytes of the ring of one at each end: some of the largest datagrams. */
#define RING_SIZE	(SANX_RING_MAX / 4)
/* Until a peer that has refused, or takes nothing, is asked again. */
#define REST_TIME	(10 * HZ)
/* Until one that has refused is asked again for a datagram that has no other way. */
#define ASK_AGAIN	HZ
/* Datagrams that have waited for so long are dropped. */
#define STALL_TIME	(HZ / 2)
/* How long none is taken then, at least.  sanx_carrier_moves() has the rest. */
#define STALL_REST	(2 * HZ)
/* One that is unused for so long gives way if there are as many as may be. */
#define SPARE_TIME	HZ
/* How often all are looked at, while nothing waits; else every STALL_TIME. */
#define SWEEP_EVERY	(5 * HZ)

static unsigned int carriers_id;
/* Not sanx_wq, which memory reclaim may wait for: this work allocates as it likes. */
static struct workqueue_struct *carrier_wq __ro_after_init;

struct carriers *sanx_carriers_of(const struct net *net)
{
	return net_generic(net, carriers_id);
}

/* Put a reference. */
void sanx_carrier_put(struct sanx_carrier *c)
{
	if (!refcount_dec_and_test(&c->refs))
		return;
	/* Of a sender that has found it before it was over. */
	sanx_carrier_purge(c);
	kfree_skb(c->in);
	if (c->conn)
		sanx_conn_put(c->conn);
	kfree_rcu(c, rcu);
}

/* Have the work look at what there is to do.  The caller has a reference, or RCU. */
void sanx_carrier_kick(struct sanx_carrier *c)
{
	if (!refcount_inc_not_zero(&c->refs))
		return;
	if (!queue_work(carrier_wq, &c->work))
		sanx_carrier_put(c);
}

static void carrier_news(struct sanx_conn_user *user)
{
	sanx_carrier_kick(container_of(user, struct sanx_carrier, user));
}

static void carrier_work(struct work_struct *work);

static struct sanx_carrier *carrier_alloc(struct net *net, u32 peer, u32 nr,
					  const struct sanx_endpoint *local,
					  const struct sanx_endpoint *remote)
{
	struct sanx_carrier *c = kzalloc(sizeof(*c), GFP_KERNEL | __GFP_NOWARN);

	if (!c)
		return NULL;
	c->user.news = carrier_news;
	refcount_set(&c->refs, 1);
	c->net = net;
	c->peer = peer;
	c->self = sanx_node_self(net);
	c->nr = nr;
	c->used = jiffies;
	c->local = *local;
	c->remote = *remote;
	INIT_WORK(&c->work, carrier_work);
	skb_queue_head_init(&c->queue);
	return c;
}

static bool is_over(const struct sanx_carrier *c)
{
	return READ_ONCE(c->state) >= CARRIER_OVER;
}

/* Takes it out of the table; its work closes the connection.  @how: CARRIER_OVER or CARRIER_CUT */
static void carrier_end(struct carriers *all, struct sanx_carrier *c, enum carrier_state how)
{
	lockdep_assert_held(&all->lock);
	if (is_over(c))
		return;
	all->resting -= c->state == CARRIER_RESTS;
	/* Who takes nothing would not take what is left either. */
	if (c->state == CARRIER_STALLS)
		how = CARRIER_CUT;
	WRITE_ONCE(c->state, how);
	hash_del_rcu(&c->node);
	all->n--;
	sanx_carrier_kick(c);
	sanx_carrier_put(c);
}

/* The one of that number that the same node has asked for. */
static struct sanx_carrier *find_same(struct carriers *all, const struct sanx_carrier *c)
{
	struct sanx_carrier *other;

	hash_for_each_possible(all->table, other, node, c->peer) {
		if (other->peer == c->peer && other->nr == c->nr &&
		    carrier_ours(other) == carrier_ours(c))
			return other;
	}
	return NULL;
}

/*
 * Puts a carrier into the table, which takes over a reference.  A peer that asks anew does not
 * know of the old one any more.
 * Return: false if it must not be there.
 */
static bool carrier_add(struct carriers *all, struct sanx_carrier *c)
{
	struct sanx_carrier *other;
	bool added = false;

	spin_lock_bh(&all->lock);
	other = find_same(all, c);
	if (other && carrier_ours(c))
		goto out;
	if (other)
		carrier_end(all, other, CARRIER_CUT);
	added = all->serves && carriers_room(all);
	if (added) {
		hash_add_rcu(all->table, &c->node, c->peer);
		if (!all->n++) {
			WRITE_ONCE(all->next, jiffies + SWEEP_EVERY);
			queue_delayed_work(carrier_wq, &all->sweep, SWEEP_EVERY);
		}
	}
out:
	spin_unlock_bh(&all->lock);
	return added;
}

/* Context: the work. */
static int carrier_ask(struct sanx_carrier *c)
{
	struct sanx_conn *conn = sanx_conn_alloc(&sanx_link_ops, c->net, &c->local,
						 &c->remote, NULL);

	if (!conn)
		return -ENOMEM;
	conn->rx_max = RING_SIZE;
	sanx_rxq_init(&conn->rx, NULL, conn->rx_max);
	c->conn = conn;
	sanx_conn_use(conn, &c->user);
	if (!sanx_conn_ask(conn))
		return 0;
	sanx_conn_give_up(conn);
	return -EHOSTUNREACH;
}

/* Context: the work. */
static void carrier_close(struct sanx_carrier *c)
{
	struct sanx_conn *conn = c->conn;
	bool closed;

	if (!conn) {
		sanx_carrier_purge(c);
		return;
	}
	/* It may have rested before. */
	closed = !conn->user;
	/* A sender may have queued something again. */
	sanx_carrier_drop(c);
	if (closed)
		return;
	sanx_conn_close(conn, READ_ONCE(c->state) == CARRIER_CUT);
	sanx_conn_stop(conn);
}

static void carrier_ended(struct sanx_carrier *c, enum carrier_state how)
{
	struct carriers *all = sanx_carriers_of(c->net);

	spin_lock_bh(&all->lock);
	carrier_end(all, c, how);
	spin_unlock_bh(&all->lock);
}

/* The peer does not want it: nobody asks again for some time. */
static void carrier_rest(struct sanx_carrier *c)
{
	struct carriers *all = sanx_carriers_of(c->net);

	if (!carrier_ours(c)) {
		carrier_ended(c, CARRIER_OVER);
		return;
	}
	spin_lock_bh(&all->lock);
	if (c->state == CARRIER_ASKS) {
		c->until = jiffies + REST_TIME;
		WRITE_ONCE(c->state, CARRIER_RESTS);
		all->resting++;
	}
	spin_unlock_bh(&all->lock);
	carrier_close(c);
}

/* The state becomes OPEN if it is still @from. */
static void carrier_opened(struct sanx_carrier *c, enum carrier_state from)
{
	struct carriers *all = sanx_carriers_of(c->net);

	spin_lock_bh(&all->lock);
	if (c->state == from) {
		c->until = jiffies + STALL_TIME;
		/* Pairs with smp_load_acquire() in carries() of find.c. */
		smp_store_release(&c->state, CARRIER_OPEN);
	}
	spin_unlock_bh(&all->lock);
}

/* The node map may have given the address to another node meanwhile. */
static bool is_peer(const struct sanx_carrier *c)
{
	struct sanx_via via;

	c->conn->ops->via(c->conn, &via);
	return via.node == c->peer;
}

/*
 * Does a datagram wait?
 * @since: set to when the first of them was taken, in jiffies
 */
static bool waits_since(struct sanx_carrier *c, unsigned long *since)
{
	struct sk_buff *skb;

	/* Pairs with smp_store_release() in out_next(). */
	if (smp_load_acquire(&c->out)) {
		*since = READ_ONCE(c->since);
		return true;
	}
	spin_lock_bh(&c->queue.lock);
	skb = skb_peek(&c->queue);
	if (skb)
		*since = carrier_cb(skb)->since;
	spin_unlock_bh(&c->queue.lock);
	return skb;
}

/* Has a datagram waited for the answer for so long that its sender is to go on? */
static bool asks_for_long(struct sanx_carrier *c)
{
	unsigned long since;

	return waits_since(c, &since) && time_after_eq(jiffies, since + STALL_TIME);
}

/* Looks at what has become of the request. */
static void carrier_answer(struct sanx_carrier *c)
{
	if (!c->conn && carrier_ask(c))
		carrier_rest(c);
	else if (sanx_conn_open(c->conn) && is_peer(c))
		carrier_opened(c, CARRIER_ASKS);
	else if (READ_ONCE(c->conn->state) > SANX_CONN_CONNECTING)
		carrier_rest(c);
	else if (asks_for_long(c))
		sanx_carrier_orphan(c);
}

/* Has it taken none for long enough? */
static bool has_rested(struct sanx_carrier *c)
{
	struct carriers *all = sanx_carriers_of(c->net);
	bool has;

	spin_lock_bh(&all->lock);
	has = time_after_eq(jiffies, c->until - REST_TIME + STALL_REST);
	spin_unlock_bh(&all->lock);
	return has;
}

static void carrier_run(struct sanx_carrier *c)
{
	/* Before the bytes: those before the end are read, and those before a reset. */
	bool end = !sanx_conn_open(c->conn) || sanx_conn_fin_rcvd(c->conn);

	switch (sanx_carrier_read(c)) {
	case CARRIER_READ_BROKEN:
		carrier_ended(c, CARRIER_CUT);
		return;
	case CARRIER_READ_MORE:
		sanx_carrier_kick(c);
		break;
	case CARRIER_READ_ALL:
		if (!end)
			break;
		carrier_ended(c, CARRIER_OVER);
		return;
	}
	if (READ_ONCE(c->state) == CARRIER_OPEN)
		sanx_carrier_write(c, true);
	else if (READ_ONCE(c->state) == CARRIER_STALLS && sanx_carrier_moves(c) && has_rested(c))
		carrier_opened(c, CARRIER_STALLS);
}

/* Context: takes the reference that the queued work has. */
static void carrier_work(struct work_struct *work)
{
	struct sanx_carrier *c = container_of(work, struct sanx_carrier, work);
	enum carrier_state state;

	if (READ_ONCE(c->state) == CARRIER_ASKS)
		carrier_answer(c);
	state = READ_ONCE(c->state);
	if (state == CARRIER_OPEN || state == CARRIER_STALLS)
		carrier_run(c);
	/* Of one that rests, what came into the queue since. */
	if (is_over(c) || state == CARRIER_RESTS)
		carrier_close(c);
	sanx_carrier_put(c);
}

/* Has it been unused for so long that it is to end? */
static bool unused(const struct sanx_carrier *c, unsigned long idle)
{
	unsigned long until = READ_ONCE(c->used) + idle;

	if (c->state == CARRIER_RESTS || c->state == CARRIER_STALLS)
		until = c->until;
	return time_after_eq(jiffies, until);
}

/*
 * Looks at one with datagrams that may wait.  While it asks, its work has their senders go on.
 * Its work drops them if it stalls, and later finds out whether all has come.
 * Return: true if it is to be looked at again soon.
 */
static bool find_stalled(struct carriers *all, struct sanx_carrier *c)
{
	unsigned long since;

	lockdep_assert_held(&all->lock);
	if (c->state == CARRIER_ASKS) {
		if (!waits_since(c, &since))
			return false;
		if (asks_for_long(c))
			sanx_carrier_kick(c);
		return true;
	}
	if (c->state == CARRIER_OPEN) {
		if (!waits_since(c, &since))
			return false;
		if (time_before(jiffies, since + STALL_TIME) || time_before(jiffies, c->until))
			return true;
		c->until = jiffies + REST_TIME;
		WRITE_ONCE(c->state, CARRIER_STALLS);
	}
	if (c->state != CARRIER_STALLS)
		return false;
	sanx_carrier_kick(c);
	return true;
}

static void carriers_sweep(struct work_struct *work)
{
	struct carriers *all = container_of(to_delayed_work(work), struct carriers, sweep);
	const struct sanx_net *sn = sanx_net(all->net);
	unsigned long idle = msecs_to_jiffies(READ_ONCE(sn->dgram_idle_ms));
	unsigned int most = READ_ONCE(sn->dgram_conns);
	bool soon = false;
	struct sanx_carrier *c;
	struct hlist_node *next;
	int i;

	spin_lock_bh(&all->lock);
	WRITE_ONCE(all->next, jiffies + SWEEP_EVERY);
	/* Store @next before looking at queues.  Pairs with that in sanx_carrier_waits(). */
	smp_mb();
	if (carriers_counted(all) >= most)
		idle = min_t(unsigned long, idle, SPARE_TIME);
	hash_for_each_safe(all->table, i, next, c, node) {
		if (unused(c, idle) || (c->state != CARRIER_RESTS && carriers_counted(all) > most))
			carrier_end(all, c, CARRIER_OVER);
		else
			soon |= find_stalled(all, c);
	}
	if (soon)
		WRITE_ONCE(all->next, jiffies + STALL_TIME);
	if (all->n)
		queue_delayed_work(carrier_wq, &all->sweep, soon ? STALL_TIME : SWEEP_EVERY);
	spin_unlock_bh(&all->lock);
}

/* There is no room for a datagram of the queue, or for one that is being written. */
void sanx_carrier_waits(struct sanx_carrier *c)
{
	struct carriers *all = sanx_carriers_of(c->net);
	unsigned long next = jiffies + STALL_TIME;

	/* Pairs with that in carriers_sweep(): either that sees what waits, or this its time. */
	smp_mb();
	if (!time_after(READ_ONCE(all->next), next))
		return;
	spin_lock_bh(&all->lock);
	if (all->n && time_after(all->next, next)) {
		WRITE_ONCE(all->next, next);
		mod_delayed_work(carrier_wq, &all->sweep, STALL_TIME);
	}
	spin_unlock_bh(&all->lock);
}

/*
 * Is a peer that has refused to be asked again?  Then its carrier gives way to another one.
 * Context: under RCU.
 */
bool sanx_carrier_rested(struct carriers *all, struct sanx_carrier *c)
{
	bool ended = false;

	spin_lock_bh(&all->lock);
	if (c->state == CARRIER_RESTS &&
	    time_after_eq(jiffies, c->until - REST_TIME + ASK_AGAIN)) {
		carrier_end(all, c, CARRIER_OVER);
		ended = true;
	}
	spin_unlock_bh(&all->lock);
	return ended;
}

/* Have the peer asked for a connection. */
void sanx_carrier_want(struct carriers *all, u32 peer, u32 nr, const struct sanx_dgram *d)
{
	struct sanx_endpoint remote = { .addr = d->dest.daddr };
	struct sanx_endpoint local = { .addr = d->route.saddr, .port = htons(nr) };
	struct sanx_carrier *c = carrier_alloc(all->net, peer, nr, &local, &remote);

	if (!c)
		return;
	/* The table's reference. */
	refcount_inc(&c->refs);
	if (carrier_add(all, c))
		sanx_carrier_kick(c);
	else
		sanx_carrier_put(c);
	sanx_carrier_put(c);
}

static u32 service_ring_size(struct net *net)
{
	return READ_ONCE(sanx_carriers_of(net)->serves) ? RING_SIZE : 0;
}

/* sanx_conn_service.take() */
static int service_take(struct sanx_conn *conn)
{
	struct carriers *all = sanx_carriers_of(conn->net);
	u32 nr = ntohs(conn->remote.port);
	struct sanx_carrier *c;
	struct sanx_via via;
	int err;

	conn->ops->via(conn, &via);
	if (!via.node || nr > CARRIERS)
		return -ECONNREFUSED;
	c = carrier_alloc(conn->net, via.node, nr, &conn->local, &conn->remote);
	if (!c)
		return -ENOMEM;
	c->conn = sanx_conn_get(conn);
	/* Whoever finds it in the table may end it. */
	sanx_conn_use(conn, &c->user);
	/* The table's reference. */
	refcount_inc(&c->refs);
	if (!carrier_add(all, c)) {
		sanx_conn_leave(conn);
		sanx_carrier_put(c);
		sanx_carrier_put(c);
		return -ECONNREFUSED;
	}
	err = sanx_conn_admit(conn);
	if (err) {
		carrier_ended(c, CARRIER_CUT);
	} else {
		/* The caller's reference. */
		sanx_conn_put(conn);
		sanx_carrier_kick(c);
	}
	sanx_carrier_put(c);
	return err;
}

/* Does something wait that may still be written? */
static bool waits_yet(struct sanx_carrier *c)
{
	unsigned long since;

	if (c->state == CARRIER_ASKS)
		return !skb_queue_empty(&c->queue);
	return c->state == CARRIER_OPEN && waits_since(c, &since);
}

static bool any_waits(struct carriers *all)
{
	struct sanx_carrier *c;
	bool any = false;
	int i;

	spin_lock_bh(&all->lock);
	hash_for_each(all->table, i, c, node)
		any |= waits_yet(c);
	spin_unlock_bh(&all->lock);
	return any;
}

/* Programs may have ended when the last of what they have sent waits for room. */
static void flush(struct carriers *all)
{
	unsigned long end = jiffies + STALL_TIME;

	while (any_waits(all) && time_before(jiffies, end))
		msleep(20);
}

/* sanx_conn_service.idle() */
static void service_idle(struct net *net)
{
	struct carriers *all = sanx_carriers_of(net);
	struct sanx_carrier *c;
	struct hlist_node *next;
	int i;

	/* Most namespaces have never had a datagram socket, and a grace period takes its time. */
	if (!READ_ONCE(all->serves))
		return;
	flush(all);
	spin_lock_bh(&all->lock);
	all->serves = false;
	hash_for_each_safe(all->table, i, next, c, node)
		carrier_end(all, c, CARRIER_OVER);
	spin_unlock_bh(&all->lock);
	cancel_delayed_work_sync(&all->sweep);
	/* Nobody sends, so work has all references.  It closes the connections; */
	flush_workqueue(carrier_wq);
	/* then their news come to an end, and the work that they have queued. */
	synchronize_rcu();
	flush_workqueue(carrier_wq);
}

static const struct sanx_conn_service carrier_service = {
	.ring_size	= service_ring_size,
	.take		= service_take,
	.idle		= service_idle,
};

/* A namespace has a datagram socket. */
void sanx_carriers_serve(struct net *net)
{
	struct carriers *all = sanx_carriers_of(net);

	if (READ_ONCE(all->serves))
		return;
	spin_lock_bh(&all->lock);
	all->serves = true;
	spin_unlock_bh(&all->lock);
}

static int __net_init carriers_net_init(struct net *net)
{
	struct carriers *all = sanx_carriers_of(net);

	all->net = net;
	spin_lock_init(&all->lock);
	hash_init(all->table);
	INIT_DELAYED_WORK(&all->sweep, carriers_sweep);
	return 0;
}

static struct pernet_operations carriers_net_ops = {
	.init	= carriers_net_init,
	.id	= &carriers_id,
	.size	= sizeof(struct carriers),
};

int __init sanx_carriers_init(void)
{
	int err;

	carrier_wq = alloc_workqueue("sanx_dgram", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!carrier_wq)
		return -ENOMEM;
	err = register_pernet_subsys(&carriers_net_ops);
	if (!err)
		sanx_conn_serve(&carrier_service);
	else
		destroy_workqueue(carrier_wq);
	return err;
}

void sanx_carriers_exit(void)
{
	unregister_pernet_subsys(&carriers_net_ops);
	/* Work that has put the last reference may still return. */
	destroy_workqueue(carrier_wq);
}
