// SPDX-License-Identifier: GPL-2.0
/*
 * Rails: a world has some of two kinds, in any order.  Between two nodes each is cut
 * and joined by itself, in both directions or in one.  Node maps change their order and
 * leave some out, the administrator drains rails, and the wire of RDMA rails goes and
 * comes back.
 *
 * In a strict world nothing else is disturbed, and one rail always works.  So no
 * connection may end with an error there, or wait for long.  In the end all rails are
 * well for some time: then connections have to be on the best one, and to stay there.
 */
#include "link/peer/peer.h"
#include "program.h"

/* Cuts that are not over, and a change of what all nodes have. */
static unsigned int n_cuts;
static bool changing;
/* What node A sends to node B does not arrive from one rail to another. */
static bool cuts[SIM_NODES + 1][SIM_NODES + 1][SIM_RAILS][SIM_RAILS];
/* Nothing arrives over rails of a kind. */
static bool kind_down[__SANX_WIRES];
static bool registered[__SANX_WIRES];
/* The rails of each host in the node maps, and those that they have at all. */
static u8 order[SIM_NODES + 1][SIM_RAILS];
static u32 mapped;

static u32 all_rails(void)
{
	return BIT(sim_plan.rails) - 1;
}

static u32 rails_of_kind(enum sanx_wire_kind kind)
{
	unsigned int r;
	u32 set = 0;

	for (r = 0; r < sim_plan.rails; r++)
		if (sim_plan.kind[r] == kind)
			set |= BIT(r);
	return set;
}

static void draw_order(u8 *o)
{
	unsigned int i, k;

	for (i = 0; i < sim_plan.rails; i++) {
		k = sim_rnd(i + 1);
		o[i] = o[k];
		o[k] = i;
	}
}

/**
 * sim_rails_orders() - draw the order of the rails in node maps
 */
void sim_rails_orders(void)
{
	unsigned int n;

	mapped = all_rails();
	draw_order(order[1]);
	for (n = 2; n <= sim_plan.nodes; n++) {
		memcpy(order[n], order[1], sizeof(order[n]));
		if (sim_plan.crossed)
			draw_order(order[n]);
	}
}

/* Which rail can always be used?  Where orders differ, rails may cross. */
static int draw_safe(const struct sim_plan *p)
{
	int r = sim_rnd(p->rails);

	if (p->crossed && hweight32(rails_of_kind(p->kind[r])) > 1)
		return -1;
	return r;
}

static u32 one_of(const u32 *from, u32 n)
{
	return from[sim_rnd(n)];
}

#define ONE_OF(...) \
	one_of((const u32[]){ __VA_ARGS__ }, sizeof((u32[]){ __VA_ARGS__ }) / 4)

/* What else is disturbed would be a reason for errors, and for time to pass. */
static void plan_strict(struct sim_plan *p)
{
	p->strict = p->safe >= 0;
	p->death = 0;
	p->outage = 0;
	p->silent = 0;
	p->device = 0;
	p->refuse = 0;
	p->restart = 0;
	p->config = 0;
	p->rules = 0;
	p->rekey = 0;
	p->deaf = 0;
	p->regret = 0;
	p->setups = 0;
	p->requests = 0;
	p->mem_mb = 0;
	p->hostile = 0;
}

/* Times are short, so that many of them pass in a world. */
static void plan_times(struct sim_plan *p)
{
	p->clock = 20000;
	failover_ms = ONE_OF(100, 200, 400);
	rail_hold_ms = ONE_OF(20, 50, 100);
	link_timeout_ms = ONE_OF(100, 300, 1000);
	heartbeat_ms = ONE_OF(50, 200, 1000);
}

/*
 * Rings that grow over TCP are too large for RDMA then.  Their connections can stay where
 * they are as long as there is TCP.
 */
static void plan_maps(struct sim_plan *p)
{
	if (p->strict && p->kind[p->safe] == SANX_WIRE_RDMA)
		return;
	p->map_max[SANX_WIRE_RDMA] = 65536;
	p->map_max[SANX_WIRE_TCP] = 4 << 20;
}

/**
 * sim_rails_plan() - decide which rails a world has, and what happens to them
 * @p: the plan, with everything else
 */
void sim_rails_plan(struct sim_plan *p)
{
	unsigned int r;

	failover_ms = 2000;
	rail_hold_ms = 4000;
	link_timeout_ms = 3000;
	p->safe = -1;
	for (r = 1; r < p->rails; r++)
		p->kind[r] = sim_chance(2) ? SANX_WIRE_TCP : SANX_WIRE_RDMA;
	p->crossed = sim_chance(4);
	p->policy = sim_chance(2) ? SANX_RAIL_IN_ORDER : sim_rnd(__SANX_RAIL_POLICIES);
	sim_rails_orders();
	if (sim_fuzz || sim_calm || p->rails == 1 || !sim_chance(4))
		return;
	p->cut = ONE_OF(30, 100, 400);
	p->swap = ONE_OF(0, 0, 200);
	p->admin = ONE_OF(0, 200);
	p->lasting = !sim_chance(4);
	p->safe = draw_safe(p);
	if (p->safe < 0 || p->kind[p->safe] == SANX_WIRE_TCP)
		p->unload = ONE_OF(0, 1000);
	plan_times(p);
	if (!sim_chance(4))
		plan_strict(p);
	if (sim_chance(2))
		plan_maps(p);
}

/**
 * sim_rails_differ() - does TCP map larger rings than RDMA?
 */
bool sim_rails_differ(void)
{
	return sim_plan.map_max[SANX_WIRE_RDMA] !=
	       sim_plan.map_max[SANX_WIRE_TCP];
}

/**
 * sim_rails_strict() - is a rail always usable, and nothing else disturbed?
 */
bool sim_rails_strict(void)
{
	return sim_plan.strict;
}

/**
 * sim_rails_busy() - is there a change that is not over?
 */
bool sim_rails_busy(void)
{
	return n_cuts || changing;
}

/**
 * sim_rails_fill() - put the rails of a host into an entry of a node map
 * @e: the entry
 * @id: the host's node
 * @which: set of the rails
 */
void sim_rails_fill(struct sanx_nodemap_entry *e, int id, u32 which)
{
	struct sanx_node_info *info = &e->node;
	unsigned int i, r;

	info->n_rails = 0;
	for (i = 0; i < sim_plan.rails; i++) {
		r = order[min(id, SIM_NODES)][i];
		if (!(which & mapped & BIT(r)))
			continue;
		sim_rail(&info->rail[info->n_rails], id, r);
		info->kind[info->n_rails++] = sim_plan.kind[r];
	}
}

/**
 * sim_rails_pass() - does what a node sends arrive?
 * @from: the node
 * @rail: its rail
 * @to: another node
 * @to_rail: its rail
 */
bool sim_rails_pass(int from, int rail, int to, int to_rail)
{
	const struct sim_node *a = &sim_nodes[from], *b = &sim_nodes[to];

	return !a->dark && !b->dark && !a->rail_down[rail] &&
	       !b->rail_down[to_rail] && !kind_down[sim_plan.kind[rail]] &&
	       !cuts[from][to][rail][to_rail];
}

static void wire_register(enum sanx_wire_kind kind)
{
	sim_wire_module[kind].going = false;
	sim_assert(!sanx_wire_register(&sim_wire_ops[kind]));
	registered[kind] = true;
}

/* Nobody uses it any more when that returns. */
static void wire_unregister(enum sanx_wire_kind kind)
{
	sim_wire_module[kind].going = true;
	registered[kind] = false;
	sanx_wire_unregister(&sim_wire_ops[kind]);
	sim_assert(!sim_wire_module[kind].refs);
}

static u64 ms(u64 n)
{
	return n * NSEC_PER_MSEC;
}

/* What a connection may have to wait for, if one rail always works. */
static u64 stall_most(void)
{
	return ms(2 * failover_ms + link_timeout_ms + 500);
}

/*
 * Shorter than what is noticed; so long that rails are held for longer each time; or
 * longer than connections may wait.
 */
static void some_time(const char *why)
{
	u64 most = ms(4 * (failover_ms + rail_hold_ms));

	if (sim_chance(4))
		most = ms(10);
	else if (sim_chance(3))
		most = ms(failover_ms);
	else if (sim_chance(3))
		most = 2 * stall_most();
	sim_sleep(1 + 1000ULL * sim_rnd(most / 1000), why);
}

struct cut {
	int	a, b, rail, to_rail, ways;
};

static void cut_set(const struct cut *c, bool down)
{
	if (c->ways & 1)
		cuts[c->a][c->b][c->rail][c->to_rail] = down;
	if (c->ways & 2)
		cuts[c->b][c->a][c->to_rail][c->rail] = down;
	sim_note(down ? "a rail is cut: rail, ways" : "a rail is joined: rail, ways",
		 c->rail, c->ways);
	sim_wire_kick();
}

static void cut_task(void *arg)
{
	struct cut c = *(struct cut *)arg;

	kfree(arg);
	sim_counts.cuts++;
	cut_set(&c, true);
	some_time("a rail is cut");
	cut_set(&c, false);
	n_cuts--;
}

static void cut(void)
{
	struct cut c = {
		.a = 1 + sim_rnd(sim_plan.nodes), .b = 1 + sim_rnd(sim_plan.nodes),
		.rail = sim_rnd(sim_plan.rails), .ways = 1 + sim_rnd(3),
	}, *p;

	c.to_rail = sim_plan.crossed ? sim_rnd(sim_plan.rails) : c.rail;
	if (c.a == c.b || c.rail == sim_plan.safe || c.to_rail == sim_plan.safe ||
	    cuts[c.a][c.b][c.rail][c.to_rail] || cuts[c.b][c.a][c.to_rail][c.rail])
		return;
	p = kmalloc(sizeof(*p), GFP_KERNEL | __GFP_NOFAIL);
	*p = c;
	n_cuts++;
	sim_spawn(-1, "cut", cut_task, p);
}

/* All node maps become what order[] and mapped say, one after the other. */
static void map_each(void)
{
	unsigned int i, first = sim_rnd(sim_plan.nodes);
	struct sim_node *n;

	for (i = 0; i < sim_plan.nodes; i++) {
		n = &sim_nodes[1 + (first + i) % sim_plan.nodes];
		sim_mem_refuse(0);
		if (n->net)
			sim_map_change(n, 0, all_rails());
		sim_mem_refuse(sim_plan.refuse);
		some_time("node maps change");
	}
}

/* Without a rail that stays, both may have lost all that they had in common. */
static void map_excuse(void)
{
	unsigned int i;

	if (!sim_plan.strict)
		for (i = 1; i <= sim_plan.nodes; i++)
			sim_excuse(i, 0, "rails have changed");
}

static void swap_task(void *unused)
{
	sim_rails_orders();
	if (sim_chance(2)) {
		map_excuse();
		mapped = 1 + sim_rnd(all_rails());
		if (sim_plan.safe >= 0)
			mapped |= BIT(sim_plan.safe);
	}
	map_each();
	some_time("node maps have other rails");
	if (mapped != all_rails()) {
		mapped = all_rails();
		map_excuse();
		map_each();
	}
	changing = false;
}

/* As "sanxctl rail set" of a node for one of its own rails. */
static void admin_set(struct sim_node *n, unsigned int rail, u8 admin, u8 weight)
{
	struct sanx_rail_setting set = {
		.kind = sim_plan.kind[rail], .admin = admin, .weight = weight,
	};
	struct sanx_rail_settings *new;

	if (!n->net)
		return;
	sim_rail(&set.addr, n->id, rail);
	sim_note("rail set: rail, what", rail, admin);
	sim_mem_refuse(0);
	mutex_lock(&sanx_net(n->net)->config_mutex);
	new = sanx_rail_settings_with(sanx_net(n->net)->rail_settings, &set);
	sanx_rail_settings_publish(sanx_net(n->net), new);
	mutex_unlock(&sanx_net(n->net)->config_mutex);
	sim_map_change(n, 0, all_rails());
	sim_mem_refuse(sim_plan.refuse);
}

static void admin_task(void *unused)
{
	struct sim_node *n = &sim_nodes[1 + sim_rnd(sim_plan.nodes)];
	unsigned int rail = sim_rnd(sim_plan.rails);

	if ((int)rail != sim_plan.safe) {
		map_excuse();
		admin_set(n, rail, sim_rnd(3), sim_rnd(3));
		some_time("a rail is set");
		map_excuse();
		admin_set(n, rail, SANX_RAIL_ADMIN_UP, SANX_RAIL_WEIGHT);
	}
	changing = false;
}

/* Connections use RDMA no more, if they can do without. */
static void leave_rdma(bool by_map)
{
	if (by_map) {
		map_excuse();
		mapped = rails_of_kind(SANX_WIRE_TCP);
		map_each();
	} else {
		kind_down[SANX_WIRE_RDMA] = true;
	}
}

static void use_rdma(bool by_map)
{
	kind_down[SANX_WIRE_RDMA] = false;
	sim_wire_kick();
	if (by_map) {
		mapped = all_rails();
		map_excuse();
		map_each();
	}
}

/* rmmod: it fails while a connection uses the module. */
static void unload_task(void *unused)
{
	bool by_map = sim_chance(2) && rails_of_kind(SANX_WIRE_TCP);
	u64 end = sim_now + ms(4 * failover_ms + link_timeout_ms);

	leave_rdma(by_map);
	while (sim_wire_module[SANX_WIRE_RDMA].refs && sim_now < end)
		sim_sleep(NSEC_PER_MSEC, "rmmod");
	if (!sim_wire_module[SANX_WIRE_RDMA].refs) {
		sim_counts.unloads++;
		sim_mem_refuse(0);
		wire_unregister(SANX_WIRE_RDMA);
		sim_mem_refuse(sim_plan.refuse);
		some_time("there is no wire");
		sim_mem_refuse(0);
		wire_register(SANX_WIRE_RDMA);
		sim_mem_refuse(sim_plan.refuse);
	}
	use_rdma(by_map);
	changing = false;
}

/**
 * sim_rails_disturb() - perhaps, something happens to rails
 */
void sim_rails_disturb(void)
{
	if (sim_chance(sim_plan.cut) && n_cuts < 6)
		cut();
	if (changing || sim_busy())
		return;
	if (sim_chance(sim_plan.swap)) {
		changing = true;
		sim_spawn(-1, "swap", swap_task, NULL);
	} else if (sim_chance(sim_plan.admin)) {
		changing = true;
		sim_spawn(-1, "admin", admin_task, NULL);
	} else if (sim_chance(sim_plan.unload)) {
		changing = true;
		sim_spawn(-1, "unload", unload_task, NULL);
	}
}

/**
 * sim_rails_start() - load the modules of the wires
 */
void sim_rails_start(void)
{
	bool first = sim_chance(2);

	n_cuts = 0;
	changing = false;
	wire_register(first);
	wire_register(!first);
}

/**
 * sim_rails_stop() - unload them, when there is no namespace any more
 */
void sim_rails_stop(void)
{
	wire_unregister(SANX_WIRE_RDMA);
	wire_unregister(SANX_WIRE_TCP);
}

/* Calls a function for each lane to another node; false ends that. */
static bool each_lane(bool (*fn)(struct sim_node *n, const struct sanx_lane *lane))
{
	const struct sanx_lane *lane;
	struct sanx_peer *peer;
	unsigned int i, k;
	unsigned long id;

	for (i = 1; i <= sim_plan.nodes; i++) {
		if (!sim_nodes[i].net)
			continue;
		xa_for_each(&sanx_lnet_of(sim_nodes[i].net)->peers, id, peer)
			for (k = 0; (lane = sanx_lane_next(peer, &k));)
				if (id != i && !fn(&sim_nodes[i], lane))
					return false;
	}
	return true;
}

static bool lane_admitted(struct sanx_lane *lane, u16 port)
{
	struct sanx_lconn *lc;
	unsigned long id;

	xa_for_each(&lane->streams.ids, id, lc)
		if (sanx_lconn_accepted(lc) && sim_port(&lc->conn.remote) == port)
			return true;
	return false;
}

/**
 * sim_rails_admitted() - has a node admitted a connection?
 * @node: the node, which is up
 * @port: the port of its client
 *
 * Return: true if so; the client need not know yet.
 */
bool sim_rails_admitted(int node, u16 port)
{
	struct sanx_lane *lane;
	struct sanx_peer *peer;
	unsigned long id;
	unsigned int i;

	xa_for_each(&sanx_lnet_of(sim_nodes[node].net)->peers, id, peer)
		for (i = 0; (lane = sanx_lane_next(peer, &i));)
			if (lane_admitted(lane, port))
				return true;
	return false;
}

/* A rail is held for no longer than 16 times rail_hold_ms, and what is added at random. */
static bool hold_ok(struct sim_node *n, const struct sanx_lane *lane)
{
	unsigned long hold = msecs_to_jiffies(rail_hold_ms) << RAILS_DOUBLE;
	const struct sanx_peer *peer = lane->peer;
	unsigned int r;

	for (r = 0; r < RAILS_MAX; r++)
		if (peer->rails.rail[r].fails &&
		    (long)(peer->rails.rail[r].until - jiffies - hold - hold / 4) > 0)
			sim_fail("node %d holds rail %u to node %u for %ld jiffies",
				 n->id, r, peer->payer.id,
				 (long)(peer->rails.rail[r].until - jiffies));
	return true;
}

/**
 * sim_rails_check() - check what holds after each step
 */
void sim_rails_check(void)
{
	if (!sim_plan.cut)
		return;
	each_lane(hold_ok);
	if (sim_plan.strict)
		sim_programs_stalled(stall_most());
}

static const struct sanx_node_info *info_of(const struct sim_node *n, u32 id)
{
	const struct sanx_nodemap *map = sanx_net(n->net)->nodemap;
	unsigned int i;

	for (i = 0; i < map->n; i++)
		if (map->entry[i].node.id == id)
			return &map->entry[i].node;
	return NULL;
}

/* Lanes of a node that use each rail, and rails on which a link is up. */
static u32 count_lanes(const struct sanx_peer *peer, unsigned int *load)
{
	const struct sanx_link *link;
	const struct sanx_lane *lane;
	unsigned int i, rail;
	u32 well = 0;

	for (i = 0; (lane = sanx_lane_next(peer, &i));) {
		list_for_each_entry(link, &lane->links, node) {
			rail = sanx_rail_of(link);
			if (link->state == SANX_LINK_UP && rail < RAILS_MAX)
				well |= BIT(rail);
		}
		link = lane->out;
		if (link && !sanx_lane_standby(lane) && sanx_rail_of(link) < RAILS_MAX)
			load[sanx_rail_of(link)]++;
	}
	return well;
}

/*
 * The one with the lower id has to see to it that each rail has a link; and that those
 * with connections are on the best rail, or spread over all of its kind.
 */
static bool on_best(struct sim_node *n, const struct sanx_lane *lane)
{
	const struct sanx_node_info *info = info_of(n, lane->peer->payer.id);
	unsigned int load[RAILS_MAX] = {}, least = UINT_MAX, most = 0, i;
	bool spread = sim_plan.policy != SANX_RAIL_IN_ORDER;
	u32 well;

	if (!lane->out || (u32)n->id > lane->peer->payer.id || sanx_lane_standby(lane))
		return true;
	/* Users may have no memory for as many links. */
	if (sim_plan.mem_mb)
		return true;
	well = count_lanes(lane->peer, load);
	if (well != BIT(info->n_rails) - 1)
		return false;
	/* What has grown over TCP stays there. */
	if (sim_rails_differ())
		return true;
	for (i = 0; i < info->n_rails; i++) {
		if (i && !(spread && info->kind[i] == info->kind[0])) {
			if (load[i])
				return false;
			continue;
		}
		least = min(least, load[i]);
		most = max(most, load[i]);
	}
	return most <= least + 1;
}

/* At most one link is left, and carries all connections of the lane. */
static bool is_settled(struct sim_node *n, const struct sanx_lane *lane)
{
	/*
	 * A rail that has no room for connections, or on which the peer has no memory for
	 * a link, is tried again and again.
	 */
	bool tries = sim_rails_differ() || sim_plan.mem_mb;
	const struct sanx_link *link;

	if (lane->peer->lnet->lock.l.owner)
		return tries;
	if (lane->streams.n_suspended || !on_best(n, lane))
		return false;
	if (tries)
		return true;
	if (lane->trying)
		return false;
	list_for_each_entry(link, &lane->links, node)
		if (link != lane->out)
			return false;
	return true;
}

/* Links that are not up are counted, and not looked for (half_open_full()). */
static void check_half_open(int node)
{
	struct sanx_lnet *lnet = sanx_lnet_of(sim_nodes[node].net);
	const struct sanx_link *link;
	const struct sanx_lane *lane;
	struct sanx_peer *peer;
	unsigned long id;
	unsigned int i;
	int n = 0;

	if (lnet->lock.l.owner)
		return;
	xa_for_each(&lnet->peers, id, peer)
		for (i = 0; (lane = sanx_lane_next(peer, &i));)
			list_for_each_entry(link, &lane->links, node) {
				if (link->tx_lock.owner)
					return;
				n += !link->active && link->state != SANX_LINK_UP;
			}
	if (sanx_net(lnet->net)->n_half_open.v != n)
		sim_fail("node %d counts %d links that are not up, and has %d",
			 node, sanx_net(lnet->net)->n_half_open.v, n);
}

static u64 total_moves, total_lanes, total_idle;

static bool count_moves(struct sim_node *n, const struct sanx_lane *lane)
{
	total_moves += lane->moves;
	total_idle += !lane->out;
	total_lanes++;
	return true;
}

static u64 moves(void)
{
	total_moves = 0;
	total_idle = 0;
	total_lanes = 0;
	each_lane(count_moves);
	return total_moves;
}

static bool show(struct sim_node *n, const struct sanx_lane *lane)
{
	const struct sanx_link *link;

	sim_note("lane to a node: node, lane", lane->peer->payer.id, lane->number);
	sim_note("suspended, settled", lane->streams.n_suspended, is_settled(n, lane));
	list_for_each_entry(link, &lane->links, node)
		sim_note("link: state, rail", link->state, link->rail);
	return true;
}

/* An acceptor waits so long for a connector that has forgotten a connection. */
#define SETTLE_SUSPENDED	(11 * NSEC_PER_SEC)
/* A connector waits so long for an acceptor that refuses links: its user has no memory. */
#define SETTLE_DENIED		(66 * NSEC_PER_SEC)

static u64 settle_most(void)
{
	u64 hold = (u64)rail_hold_ms << RAILS_DOUBLE;

	return ms(hold + hold / 4 + 20 * failover_ms + 6 * link_timeout_ms +
		  20 * heartbeat_ms + 5000) + SETTLE_SUSPENDED +
	       (sim_plan.mem_mb ? SETTLE_DENIED : 0);
}

static void step(void)
{
	if (!sim_step())
		sim_fail("nothing can happen any more");
	sim_check();
}

/* Nodes look at what has come about once more, after SANX_CARE_SOON (link/peer/rail.h). */
#define SETTLED_FOR	ms(250)

static void until_settled(void)
{
	u64 end = sim_now + settle_most(), since = sim_now;

	while (sim_now < since + SETTLED_FOR) {
		step();
		if (each_lane(is_settled))
			continue;
		since = sim_now;
		if (sim_now < end)
			continue;
		each_lane(show);
		sim_fail("connections are not on the best rail");
	}
}

/**
 * sim_rails_settle() - all rails are well now, and stay so
 *
 * Connections come to the best rail within the time for which it may be held, and do
 * not move any more.
 */
void sim_rails_settle(void)
{
	u64 end = sim_now + ms(2 * failover_ms + heartbeat_ms), most;
	unsigned int i;

	if (!sim_plan.cut || sim_plan.hostile || sim_plan.setups ||
	    sim_plan.requests)
		return;
	sim_programs_slow_down();
	while (sim_now < end)
		step();
	until_settled();
	for (i = 1; i <= sim_plan.nodes; i++)
		check_half_open(i);
	sim_counts.moves += moves();
	/* The next link of a lane that has had one counts as a move. */
	most = total_moves + total_idle;
	/* One that has lost what only TCP could map moves at last; or when there is memory. */
	if (sim_rails_differ() || sim_plan.mem_mb)
		most += total_lanes;
	end = sim_now + ms(2 * rail_hold_ms << RAILS_DOUBLE);
	while (sim_now < end)
		step();
	if (moves() > most) {
		each_lane(show);
		sim_fail("connections move between rails that are well");
	}
}
