// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams between nodes: what goes by an implicit connection arrives as it was sent, once,
 * where it was sent to, or never.  Nothing is lost where nothing is disturbed.  Those between the
 * same two explicit sockets keep their order.
 *
 * arrive.c is not here: what has come is checked in its place.
 */
#include <stdlib.h>

#include "dgram/carrier.h"
#include "dgram/dgram_priv.h"
#include "dgram/record.h"
#include "link/peer/engine.h"
#include "sim.h"

/* Datagrams of a world; the rest of them are for the end. */
#define MOST	100000U
#define TALK	90000U
#define LARGEST	DGRAM_LEN_MAX
/* Sockets of a node. */
#define PORTS	64U

/**
 * enum fate - what is known of a datagram
 * @UNSENT: it was not sent by a connection
 * @SENT: it was
 * @CAME: and has arrived
 */
enum fate {
	UNSENT,
	SENT,
	CAME,
};

/* What each one begins with. */
struct head {
	u32	number;
	u32	len;
	u32	from;
	u32	to;
	u32	port;
};

static u8 fates[MOST];
static u32 next_number;
/* By sender, receiver and the sender's port: what may come next, at least. */
static u32 due[SIM_NODES + 1][SIM_NODES + 1][PORTS + 1];
/* By node: tasks that send, sockets, and whether they are to end. */
static unsigned int running[SIM_NODES + 1];
static bool stop[SIM_NODES + 1];
/* In the end: has one arrived, by who has sent it and who has it? */
static bool reached[SIM_NODES + 1][SIM_NODES + 1];
static bool ending;
/* Tasks that have not reached all others. */
static unsigned int n_trying;

/* Is nothing disturbed that a datagram could be lost by? */
static bool lossless(void)
{
	const struct sim_plan *p = &sim_plan;

	/* With a slow clock, nothing moves for longer than datagrams wait. */
	return sim_calm && !p->cut && !p->swap && !p->admin && !p->unload && p->clock <= 1024;
}

/* Another way, or several of them, can be closed to a node for longer than the world lasts. */
static bool all_reach(void)
{
	return !sim_plan.hostile && !sim_plan.mem_mb;
}

static u8 byte(u32 number, u32 i)
{
	return (number * 131 + i * 7) >> 1;
}

static u16 size_of_parts(u32 number)
{
	return number % 5 ? 0 : number;
}

static void fill(u8 *buf, const struct head *h)
{
	u32 i;

	for (i = sizeof(*h); i < h->len; i++)
		buf[i] = byte(h->number, i);
	memcpy(buf, h, sizeof(*h));
}

/* Copies between a packet and @buf. */
static void copy(struct sk_buff *skb, u8 *buf, bool out)
{
	u32 n = skb_headlen(skb);
	const skb_frag_t *f;
	unsigned int i;

	memcpy(out ? buf : skb->data, out ? skb->data : buf, n);
	for (i = 0; i < skb->shared.nr_frags; i++) {
		f = &skb->shared.frags[i];
		memcpy(out ? buf + n : f->mem, out ? f->mem : buf + n, f->bytes);
		n += f->bytes;
	}
	sim_assert(n == skb->len);
}

static u32 draw_len(void)
{
	u32 most = sim_chance(4) ? LARGEST : sim_chance(4) ? 9000 : 200;

	return DGRAM_LEN_MIN + sim_rnd(most - DGRAM_LEN_MIN + 1);
}

/* @h: its ends are set; the rest is set here */
static struct sk_buff *packet(struct head *h)
{
	static u8 buf[LARGEST];
	u32 len = draw_len(), linear = min_t(u32, len, 1 + sim_rnd(4096));
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(linear, len - linear, PAGE_ALLOC_COSTLY_ORDER, &err,
				   GFP_KERNEL);
	if (!skb)
		return NULL;
	skb_put(skb, linear);
	skb->data_len = len - linear;
	skb->len = len;
	h->number = next_number++;
	h->len = len;
	skb_shinfo(skb)->gso_size = size_of_parts(h->number);
	fill(buf, h);
	copy(skb, buf, false);
	return skb;
}

static void check_order(const struct head *h)
{
	u32 *at = &due[h->from][h->to][h->port];

	sim_assert(h->port && h->port <= PORTS);
	if (sim_plan.explicit && h->number < *at)
		sim_fail("datagram %u came behind a later one", h->number);
	*at = h->number + 1;
}

void sanx_dgram_arrive(struct sanx_carrier *c, struct sk_buff *skb, u16 gso_size)
{
	static u8 buf[LARGEST];
	struct head h;
	u32 i;

	copy(skb, buf, true);
	memcpy(&h, buf, sizeof(h));
	if (sim_hostile(c->peer, c->net->id))
		goto out;
	sim_assert(h.len == skb->len && h.number < next_number);
	sim_assert(h.from == c->peer && h.to == (u32)c->net->id);
	sim_assert(gso_size == size_of_parts(h.number));
	for (i = sizeof(h); i < h.len; i++)
		sim_assert(buf[i] == byte(h.number, i));
	if (fates[h.number] != SENT)
		sim_fail("datagram %u came twice", h.number);
	fates[h.number] = CAME;
	check_order(&h);
	sim_note_text("datagram %u came", h.number);
	reached[h.from][h.to] = true;
	sim_counts.dgrams++;
out:
	kfree_skb(skb);
}

/* The implicit connection for a datagram, as its sender finds it; or NULL. */
static struct sanx_carrier *carrier_for(struct net *net, const struct sanx_dgram *d)
{
	struct sanx_carrier *c;

	if (!sim_plan.explicit)
		return sanx_carrier_get(net, d);
	c = sanx_carrier_ask(net, d);
	sim_assert(!IS_ERR(c) || PTR_ERR(c) == -ENETUNREACH || PTR_ERR(c) == -ENOBUFS);
	return IS_ERR(c) ? NULL : c;
}

static void set_ends(struct sanx_dgram *d, const struct head *h)
{
	struct sanx_endpoint ep;

	if (!sim_plan.explicit) {
		sim_addr(&d->dest.daddr, h->to);
		sim_addr(&d->route.saddr, h->from);
		return;
	}
	sanx_endpoint_explicit(&ep, SOCK_DGRAM, h->from, h->port);
	d->route.saddr = ep.addr;
	sanx_endpoint_explicit(&ep, SOCK_DGRAM, h->to, 1);
	d->dest.daddr = ep.addr;
}

static void send_one(struct net *net, u32 to)
{
	struct head h = { .from = net->id, .to = to, .port = 1 + sim_rnd(PORTS) };
	struct sanx_dgram d = {
		.route.peer = to, .v4 = !sim_plan.explicit, .sport = htons(h.port),
		.dport = htons(1),
	};
	struct sanx_carrier *c;
	struct sk_buff *skb;

	/* Others may be about to send as well. */
	if (next_number >= MOST - SIM_NODES)
		return;
	set_ends(&d, &h);
	if (!sim_plan.explicit && !sanx_carrier_there(net, &d))
		return;
	skb = packet(&h);
	if (!skb)
		return;
	c = carrier_for(net, &d);
	if (!c) {
		kfree_skb(skb);
		return;
	}
	fates[h.number] = SENT;
	sanx_carrier_send(c, skb);
	sanx_carrier_put(c);
}

static u32 draw_other(u32 node)
{
	u32 to = 1 + sim_rnd(sim_plan.nodes - 1);

	return to + (to >= node);
}

/* A socket sends for some time. */
static void talk(int node, struct net *net)
{
	unsigned int bursts = 1 + sim_rnd(20), n;

	while (bursts-- && next_number < TALK && !stop[node] && !ending) {
		for (n = 1 + sim_rnd(8); n; n--)
			send_one(net, draw_other(node));
		sim_sleep(sim_rnd(sim_chance(10) ? NSEC_PER_SEC : NSEC_PER_MSEC),
			  "between datagrams");
	}
}

static bool has_reached_all(u32 node)
{
	u32 to;

	for (to = 1; to <= sim_plan.nodes; to++)
		if (to != node && !reached[node][to])
			return false;
	return true;
}

/* All but those that were counted when the way stalled. */
static bool all_came(void)
{
	static const enum sanx_stat counted[] = {
		SANX_STAT_DROPPED_MEMORY, SANX_STAT_DROPPED_WAITED, SANX_STAT_DROPPED_CLOSED,
	};
	u32 i, k, missing = 0;
	u64 dropped = 0;

	for (i = 0; i < next_number; i++)
		missing += fates[i] == SENT;
	for (i = 1; i <= sim_plan.nodes; i++)
		for (k = 0; k < ARRAY_SIZE(counted); k++)
			dropped += sanx_stat_sum(sanx_net(sim_nodes[i].net), counted[k]);
	return missing <= dropped;
}

/* The world is at peace: datagrams find a connection again, to all nodes. */
static void last_words(u32 node, struct net *net)
{
	u32 to;

	memset(reached[node], 0, sizeof(reached[node]));
	while (all_reach() && !stop[node] && !has_reached_all(node)) {
		for (to = 1; to <= sim_plan.nodes; to++)
			if (to != node && !reached[node][to])
				send_one(net, to);
		sim_sleep(sim_rnd(500 * NSEC_PER_MSEC), "until a connection is there");
	}
	n_trying--;
	while (!stop[node] && (n_trying || (lossless() && !all_came())))
		sim_sleep(10 * NSEC_PER_MSEC, "for the others");
}

static void open_socket(struct net *net)
{
	sanx_netuse_get(net);
	sanx_carriers_serve(net);
}

static void talker(void *arg)
{
	int node = (long)arg;
	struct net *net = sim_nodes[node].net;

	open_socket(net);
	while (!stop[node] && !ending) {
		talk(node, net);
		if (lossless())
			continue;
		sanx_netuse_put(net, false);
		sim_sleep(sim_rnd(100 * NSEC_PER_MSEC), "no datagram socket");
		open_socket(net);
	}
	if (!stop[node])
		last_words(node, net);
	sanx_netuse_put(net, false);
	running[node]--;
}

/**
 * sim_dgrams_boot() - a node sends datagrams from now on
 * @node: it has started
 */
void sim_dgrams_boot(int node)
{
	stop[node] = false;
	if (!sim_plan.dgrams)
		return;
	running[node]++;
	sim_spawn(node, "datagrams", talker, (void *)(long)node);
}

/**
 * sim_dgrams_kill() - end what sends datagrams on a node
 * @node: it goes down
 */
void sim_dgrams_kill(int node)
{
	stop[node] = true;
}

/**
 * sim_dgrams_on() - does a node send datagrams?
 * @node: the node
 */
bool sim_dgrams_on(int node)
{
	return running[node];
}

/**
 * sim_dgrams_start() - nothing was sent yet
 */
void sim_dgrams_start(void)
{
	unsigned int i;

	next_number = 0;
	memset(fates, UNSENT, sizeof(fates));
	memset(due, 0, sizeof(due));
	ending = false;
	for (i = 1; i <= sim_plan.nodes; i++)
		sim_dgrams_boot(i);
}

/**
 * sim_dgrams_end() - the world is at peace
 */
void sim_dgrams_end(void)
{
	unsigned int i;

	if (ending)
		return;
	ending = true;
	n_trying = 0;
	for (i = 1; i <= sim_plan.nodes; i++)
		n_trying += running[i];
}

/**
 * sim_dgrams_done() - has all ended that sends datagrams?
 */
bool sim_dgrams_done(void)
{
	unsigned int i;

	for (i = 1; i <= sim_plan.nodes; i++)
		if (running[i])
			return false;
	return true;
}
