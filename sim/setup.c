// SPDX-License-Identifier: GPL-2.0
/* Set-up of links over the simulator's wire. */
#include <stdlib.h>

#include "wire.h"

static void setup_step(struct sim_entry *en);

/**
 * struct wire_request - a request for a link on its way
 * @timer: delivers it
 * @from: the end that asks, with a reference
 * @hello: what it says
 */
struct wire_request {
	struct sim_timer	timer;
	struct wire_end		*from;
	u8			hello[SANX_WIRE_HELLO];
};

void wire_step_init(struct wire_end *e)
{
	mutex_init(&e->handler);
	e->step_timer = (struct sim_timer){ .slot = -1,
		.entry = SIM_ENTRY(setup_step, "link set-up", false) };
	e->step_timer.entry.node = e->node;
}

static int listen_kind(struct net *net, struct sanx_lnet *lnet,
		       void **listener, enum sanx_wire_kind kind)
{
	struct wire_listener *l = *listener;

	sim_may_sleep("listen()");
	if (l)
		return 0;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->node = net->id;
	l->kind = kind;
	l->lnet = lnet;
	*listener = l;
	sim_nodes[net->id].listener[kind] = l;
	return 0;
}

int wire_listen_rdma(struct net *net, struct sanx_lnet *lnet, void **listener)
{
	return listen_kind(net, lnet, listener, SANX_WIRE_RDMA);
}

int wire_listen_tcp(struct net *net, struct sanx_lnet *lnet, void **listener)
{
	return listen_kind(net, lnet, listener, SANX_WIRE_TCP);
}

void wire_unlisten(void *listener)
{
	struct wire_listener *l = listener;

	sim_nodes[l->node].listener[l->kind] = NULL;
	while (l->running)
		sim_wait(&l->idle, "unlisten");
	kfree(l);
}

static struct sanx_wire_link *create_kind(struct sanx_link *link,
					  struct net *net,
					  enum sanx_wire_kind kind)
{
	struct wire_end *e;

	sim_may_sleep("create()");
	e = wire_end_new(net->id, kind, true);
	if (!e)
		return ERR_PTR(-ENOMEM);
	e->wl.link = link;
	return &e->wl;
}

struct sanx_wire_link *wire_create_rdma(struct sanx_link *link, struct net *net)
{
	return create_kind(link, net, SANX_WIRE_RDMA);
}

struct sanx_wire_link *wire_create_tcp(struct sanx_link *link, struct net *net)
{
	return create_kind(link, net, SANX_WIRE_TCP);
}

static void next_step(struct wire_end *e, enum wire_step step, u64 ns)
{
	if (e->stopped)
		return;
	e->step = step;
	sim_timer_set(&e->step_timer, sim_now + ns);
}

/* Which node and rail have an address of a rail? */
static bool find_rail(const struct in6_addr *addr, int *node, int *rail)
{
	struct in6_addr a;
	int n, r;

	for (n = 1; n <= (int)sim_plan.nodes; n++)
		for (r = 0; r < (int)sim_plan.rails; r++) {
			sim_rail(&a, n, r);
			if (!ipv6_addr_equal(&a, addr))
				continue;
			*node = n;
			*rail = r;
			return true;
		}
	return false;
}

int wire_connect(struct sanx_wire_link *wl, const struct sanx_wire_path *path)
{
	struct wire_end *e = wire_end_of(wl);
	int self;

	sim_may_sleep("connect()");
	/* A host without RDMA rails is mapped as if it had one. */
	if (!find_rail(&path->src, &self, &e->rail))
		return -ENODEV;
	sim_assert(self == e->node);
	if (!find_rail(&path->dst, &e->to, &e->to_rail))
		return -EHOSTUNREACH;
	sim_assert(sim_plan.kind[e->rail] == e->kind &&
		   sim_plan.kind[e->to_rail] == e->kind);
	e->path = *path;
	next_step(e, WIRE_RESOLVE, sim_rnd(200000));
	return 0;
}

void wire_quiesce(struct sanx_wire_link *wl)
{
	struct wire_end *e = wire_end_of(wl);

	mutex_lock(&e->handler);
	mutex_unlock(&e->handler);
}

/**
 * wire_setup_stop() - no upcall about the set-up follows
 * @e: an end that is stopped
 */
void wire_setup_stop(struct wire_end *e)
{
	sim_timer_cancel(&e->step_timer);
	mutex_lock(&e->handler);
	mutex_unlock(&e->handler);
}

static void refuse(struct wire_end *e, enum sanx_cause why)
{
	e->has_said = why != SANX_CAUSE_ABSENT;
	if (e->has_said)
		sanx_wire_refusal(e->said, why);
	next_step(e, WIRE_REFUSED, sim_rnd(100000));
}

static void join(struct wire_end *a, struct wire_end *p)
{
	/* What the link is for may be too large for it. */
	if (sanx_wire_hello(p->wl.link, a->hello)) {
		sim_assert(sim_rails_differ());
		next_step(a, WIRE_LOST, sim_rnd(100000));
		return;
	}
	/* Others may have run meanwhile. */
	if (a->stopped || a->broken)
		return;
	a->peer = p;
	p->peer = a;
	sim_hostile_hello(p, a->hello);
	a->wl.peer_qpn = p->wl.qpn;
	next_step(a, WIRE_ACCEPTED, sim_rnd(100000));
}

/*
 * What the wire knows of who asks.  Where there are keys, they alone tell, as over
 * InfiniBand; a node that asks itself has one in any case.
 */
static enum sanx_wire_origin origin(int from, int to)
{
	return sim_plan.keyed || from == to ? SANX_WIRE_ANYONE : SANX_WIRE_KERNEL;
}

/* Without keys, nobody gets a link whom only a key could tell from others. */
static void ask_unproven(struct wire_listener *l, struct wire_end *e,
			 const struct sanx_wire_ask *ask)
{
	struct sanx_wire_ask unproven = *ask;

	if (ask->origin == SANX_WIRE_ANYONE)
		return;
	unproven.origin = SANX_WIRE_ANYONE;
	sim_assert(sanx_wire_request(l->lnet, &e->wl, &unproven));
}

/* The passive side takes a request. */
static enum sanx_cause take_request(struct wire_listener *l, struct wire_request *r)
{
	struct wire_end *a = r->from, *e = wire_end_new(l->node, l->kind, false);
	struct sanx_wire_ask ask = {
		.kind = l->kind, .origin = origin(a->node, l->node),
		.data = r->hello, .len = sizeof(r->hello),
	};
	enum sanx_cause why;
	struct sanx_link *link;

	if (!e)
		return SANX_CAUSE_UNABLE;
	e->to = a->node;
	e->rail = a->to_rail;
	e->to_rail = a->rail;
	sim_rail(&ask.remote, e->to, e->to_rail);
	sim_rail(&ask.local, e->node, e->rail);
	e->wl.peer_qpn = a->wl.qpn;
	ask_unproven(l, e, &ask);
	/* quiesce() waits until the request is answered. */
	mutex_lock(&e->handler);
	why = sanx_wire_request(l->lnet, &e->wl, &ask);
	if (why) {
		mutex_unlock(&e->handler);
		wire_end_put(e);
		return why;
	}
	link = e->wl.link;
	if (wire_prepare(e)) {
		refuse(a, SANX_CAUSE_UNABLE);
		sanx_wire_failed(link, SANX_WIRE_FAULT);
	} else {
		e->live = true;
		join(a, e);
	}
	mutex_unlock(&e->handler);
	sanx_wire_request_put(link);
	return SANX_CAUSE_NONE;
}

static void request_arrives(struct sim_entry *en)
{
	struct wire_request *r = container_of(en, struct wire_request,
					      timer.entry);
	struct wire_end *a = r->from;
	struct sim_node *n = &sim_nodes[a->to];
	struct wire_listener *l = n->listener[a->kind];
	unsigned int noio = memalloc_noio_save();
	enum sanx_cause why;

	if (a->stopped || !wire_path_out(a)) {
		next_step(a, WIRE_LOST, a->path.route_ms * NSEC_PER_MSEC);
	} else if (n->deaf) {
		refuse(a, SANX_CAUSE_ABSENT);
	} else if (!n->net || !l) {
		/* A node without memory for it seems to have no AF_SANX. */
		if (!sim_rails_strict())
			sim_excuse(a->node, a->to, "nobody listened for links");
		refuse(a, SANX_CAUSE_ABSENT);
	} else {
		l->running++;
		why = take_request(l, r);
		if (why)
			refuse(a, why);
		l->running--;
		sim_wake(&l->idle);
	}
	memalloc_noio_restore(noio);
	wire_end_put(a);
	free(r);
}

/* Memory for a key of its own may be missing. */
static bool request_hello(struct wire_end *e, u8 *hello)
{
	if (sanx_wire_hello(e->wl.link, hello)) {
		sanx_wire_failed(e->wl.link, SANX_WIRE_FAULT);
		return false;
	}
	sim_hostile_hello(e, hello);
	return true;
}

static void send_request(struct wire_end *e)
{
	struct wire_request *r = calloc(1, sizeof(*r));

	if (!request_hello(e, r->hello)) {
		free(r);
		return;
	}
	r->timer = (struct sim_timer){ .slot = -1,
		.entry = SIM_ENTRY(request_arrives, "link request", false) };
	r->timer.entry.node = e->to;
	r->from = e;
	wire_end_get(e);
	sim_timer_set(&r->timer, sim_now + sim_rnd(200000));
}

static void resolve(struct wire_end *e)
{
	if (!wire_path_up(e)) {
		next_step(e, WIRE_LOST, e->path.addr_ms * NSEC_PER_MSEC);
		return;
	}
	sanx_wire_set_addrs(e->wl.link, &e->path.src, &e->path.dst);
	if (wire_prepare(e)) {
		sanx_wire_failed(e->wl.link, SANX_WIRE_FAULT);
		return;
	}
	e->live = true;
	send_request(e);
}

static void do_step(struct wire_end *e)
{
	struct sanx_link *link = e->wl.link;

	if (e->step >= WIRE_ACCEPTED && !wire_path_in(e)) {
		next_step(e, WIRE_LOST, e->path.route_ms * NSEC_PER_MSEC);
		return;
	}
	switch (e->step) {
	case WIRE_RESOLVE:
		resolve(e);
		break;
	case WIRE_LOST:
		sanx_wire_failed(link, SANX_WIRE_LOST);
		break;
	case WIRE_ACCEPTED:
		sanx_wire_connected(link, e->hello, sizeof(e->hello));
		break;
	case WIRE_REFUSED:
		if (e->has_said)
			sanx_wire_refused(link, e->said, sizeof(e->said));
		else
			sanx_wire_refused(link, NULL, 0);
		break;
	case WIRE_IDLE:
		break;
	}
}

static void setup_step(struct sim_entry *en)
{
	struct wire_end *e = container_of(en, struct wire_end,
					  step_timer.entry);
	unsigned int noio = memalloc_noio_save();

	wire_end_get(e);
	mutex_lock(&e->handler);
	if (!e->stopped && !sanx_wire_ending(e->wl.link))
		do_step(e);
	mutex_unlock(&e->handler);
	wire_end_put(e);
	memalloc_noio_restore(noio);
}
