// SPDX-License-Identifier: GPL-2.0
/*
 * A world: nodes that start, are disturbed for some steps, are left in peace
 * until all programs have ended, and go.
 */
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "dgram/dgram_priv.h"
#include "link/peer/peer.h"
#include "program.h"
#include "wire.h"

struct sim_plan sim_plan;
struct sim_node sim_nodes[SIM_NODES + 1];
struct sim_counts sim_counts;
bool sim_calm, sim_peace;
u32 (*sim_fuzz)(u8 *frame, u32 bytes);

/* Restarts and outages that have not ended. */
static int sim_restarting;
/* Number of the key that all nodes have, and the ids of keys by number. */
static u8 sim_key = 1;
static u32 sim_key_ids[256];

/* Links die often; when that changes; steps without deaths in the end. */
static bool sim_storm;
static u64 sim_weather, sim_tail;

/* Address 10.0.0.0 + N belongs to node N, and 10.1+R.0.0 + N to its rail R. */
void sim_addr(struct in6_addr *addr, int node)
{
	ipv6_addr_set_v4mapped(htonl(0x0a000000U + node), addr);
}

void sim_rail(struct in6_addr *addr, int node, int rail)
{
	ipv6_addr_set_v4mapped(htonl(0x0a010000U + 65536 * rail + node), addr);
}

static u32 pick(const u32 *from, u32 n)
{
	return from[sim_rnd(n)];
}

#define PICK(...) \
	pick((const u32[]){ __VA_ARGS__ }, sizeof((u32[]){ __VA_ARGS__ }) / 4)

static void plan_wire(struct sim_plan *p)
{
	p->early = sim_chance(3);
	p->imm = sim_chance(2);
	p->lend = sim_chance(2);
	p->sync = sim_chance(3);
	p->map_max[SANX_WIRE_RDMA] = PICK(262144, 1 << 20, 1 << 20);
	p->map_max[SANX_WIRE_TCP] = p->map_max[SANX_WIRE_RDMA];
}

static void plan_trouble(struct sim_plan *p)
{
	p->death = PICK(0, 3, 3, 4, 6, 8, 20, 200);
	p->gusts = sim_chance(3);
	p->outage = PICK(0, 0, 20, 50);
	p->silent = PICK(0, 10, 50);
	p->device = PICK(0, 0, 2, 6);
	p->refuse = PICK(0, 0, 10, 50, 300);
	p->restart = PICK(0, 0, 2000, 10000);
	p->fault = PICK(0, 0, 100);
	p->config = PICK(0, 0, 0, 2000);
	p->rules = PICK(0, 0, 0, 0, 2, 8);
	p->rekey = p->keyed ? PICK(0, 500, 3000) : 0;
	p->deaf = PICK(0, 0, 2000);
	p->regret = PICK(0, 0, 20, 200);
	p->setups = PICK(0, 0, 0, 2);
	p->requests = PICK(0, 0, 20, 200);
	p->mem_mb = PICK(0, 0, 1, 2);
	if (!sim_chance(6))
		return;
	p->hostile = 1 + sim_rnd(p->nodes);
	p->lies = PICK(3, 20, 100, 400);
	p->reborn = PICK(0, 100, 300);
	if (!p->reborn)
		return;
	/* Connections that other lies end are not there to be resumed. */
	p->lies = PICK(0, 400);
	if (sim_chance(2))
		p->slow = "link_up_work";
}

/* Links die as soon as they are up, and nothing else keeps them from being up. */
static void plan_deaths(struct sim_plan *p)
{
	p->pace = 0;
	p->death = 3;
	p->gusts = false;
	p->outage = 0;
	p->refuse = 0;
	p->deaf = 0;
	p->requests = 0;
	p->slow = NULL;
	p->times = 4;
	lanes = 3;
}

/* The work of a link is the most that can come too early or too late. */
static const char *plan_slow(void)
{
	static const char *const names[] = { "link_up_work", "link_end",
		"sanx_request_work", "sanx_retry_work", "sanx_rings_work",
		"arrival", "completion" };
	u32 n = sim_rnd(2 * ARRAY_SIZE(names));

	return n < ARRAY_SIZE(names) ? names[n] : NULL;
}

/*
 * Not drawn, so that worlds without datagrams stay what they were.  Where it is strict, how
 * long bytes of connections wait is measured.
 */
static void plan_dgrams(struct sim_plan *p)
{
	p->dgrams = sim_world_seed % 3 == 0 && !p->strict;
	p->dgram_conns = sim_calm ? 0 : sim_world_seed / 3 % 3 * 2;
}

/* Not drawn, either. */
static void plan_explicit(struct sim_plan *p)
{
	p->explicit = sim_world_seed % 5 == 4;
	p->records = sim_world_seed % 10 == 9;
	/* A record is in memory before it is begun. */
	if (p->records)
		p->fault = 0;
}

static void plan_draw(struct sim_plan *p)
{
	*p = (struct sim_plan){ .times = 1 };
	p->nodes = PICK(2, 2, 2, 3);
	p->rails = PICK(1, 2, 2, 3);
	p->pace = PICK(0, 3, 10, 50, 200, 1000);
	p->conns = PICK(1, 2, 4, 8, 12);
	p->hasty = sim_chance(5);
	p->keyed = sim_chance(2);
	p->bulk = sim_chance(6);
	p->clock = PICK(1024, 1024, 1024, 20000, 200000);
	p->slow = plan_slow();
	plan_wire(p);
	if (!sim_chance(8))
		plan_trouble(p);
	if (sim_fuzz)
		p->hostile = SIM_HOSTILE_ALL;
	sim_calm = !p->hostile && !p->death && !p->refuse && !p->restart &&
		   !p->config && !p->rules && !p->rekey && !p->deaf && !p->mem_mb;
	lanes = 1 + sim_rnd(3);
	grow_ms = PICK(0, 20, 20, 2000);
	long_min = PICK(0, 32768, 65536);
	link_hold_ms = PICK(1, 20, 20, 10000);
	/* The heartbeat comes beside frames that arrive. */
	if (sim_calm && sim_chance(2))
		p->clock = 200000;
	heartbeat_ms = sim_calm && p->clock > 100000 ? 50 : 1000;
	sim_rails_plan(p);
	plan_dgrams(p);
	plan_explicit(p);
	if (!sim_fuzz && !sim_calm && !p->cut && sim_chance(2))
		plan_deaths(p);
}

static void map_fill(struct sanx_nodemap_entry *e, int id, u32 which)
{
	sim_addr(&e->addr, id);
	/* Those come first, so that looking through the map finds them. */
	if (id > (int)sim_plan.nodes)
		ipv6_addr_set_v4mapped(htonl(0x09000000U + id), &e->addr);
	e->node.id = id;
	sim_rails_fill(e, id, which);
}

/* The map of node @n, without @without, which may be 0, and with a set of rails. */
static void map_load(struct sim_node *n, int without, u32 which)
{
	struct sanx_nodemap *map;
	unsigned int i = 0, bad;
	const char *why;
	int id;

	/* Who calls has said so, but something else may go on beside it. */
	sim_mem_refuse(0);
	map = sanx_nodemap_alloc(sim_plan.nodes + sim_plan.absent - !!without);
	for (id = 1; id <= (int)(sim_plan.nodes + sim_plan.absent); id++)
		if (id != without)
			map_fill(&map->entry[i++], id, which);
	if (sanx_nodemap_finish(map, &bad, &why))
		sim_fail("the node map is wrong: %s", why);
	sanx_nodemap_publish(sanx_net(n->net), map);
}

/**
 * sim_map_change() - give a node another node map
 * @n: the node
 * @without: the node that it lacks, or 0
 * @which: set of the rails that it has
 */
void sim_map_change(struct sim_node *n, int without, u32 which)
{
	mutex_lock(&sanx_net(n->net)->config_mutex);
	map_load(n, without, which);
	sanx_link_map_changed(n->net);
	mutex_unlock(&sanx_net(n->net)->config_mutex);
}

/* Key number @nr of the world: 32 bytes @nr. */
static void key_add(struct sim_node *n, u8 nr)
{
	struct sanx_net *sn = sanx_net(n->net);
	u8 secret[SANX_SECRET_LEN];
	u32 id;

	memset(secret, nr, sizeof(secret));
	mutex_lock(&sn->config_mutex);
	sim_assert(!sanx_key_add(sn, 0, secret, &id));
	sim_key_ids[nr] = id;
	sanx_link_map_changed(n->net);
	mutex_unlock(&sn->config_mutex);
}

static void key_del(struct sim_node *n, u8 nr)
{
	struct sanx_net *sn = sanx_net(n->net);

	mutex_lock(&sn->config_mutex);
	sim_assert(!sanx_key_del(sn, 0, sim_key_ids[nr]));
	sanx_link_map_changed(n->net);
	mutex_unlock(&sn->config_mutex);
}

static void node_start(struct sim_node *n)
{
	sim_mem_refuse(0);
	n->net = sim_net_new(n->id);
	sanx_net(n->net)->idle_ms = PICK(0, 100, 1000, 30000);
	n->net->ipv4.sysctl_tcp_rmem[2] = PICK(65536, 262144, 262144, 6291456);
	n->net->ipv4.sysctl_tcp_wmem[2] = PICK(16384, 262144, 4194304);
	sim_map_change(n, 0, U32_MAX);
	if (sim_plan.keyed)
		key_add(n, sim_key);
	n->dark = false;
	n->boot++;
}

/**
 * sim_engine_start() - what the module's init does, without sockets and wires
 */
void sim_engine_start(void)
{
	sim_assert(!sanx_conn_init());
	system_wq = alloc_workqueue("events", 0, 0);
	system_long_wq = alloc_workqueue("events_long", 0, 0);
	sim_assert(!sanx_worker_init());
	sim_assert(!sanx_netns_init());
	sim_assert(!sanx_listeners_init());
	sim_assert(!sanx_carriers_init());
	sim_assert(!sanx_netuse_init());
	sim_assert(!sanx_link_init());
}

/**
 * sim_engine_stop() - what its exit does; no namespace is left
 */
void sim_engine_stop(void)
{
	sanx_link_exit();
	sanx_netuse_exit();
	sanx_carriers_exit();
	sanx_listeners_exit();
	sanx_netns_exit();
	sanx_worker_exit();
	sanx_conn_exit();
	destroy_workqueue(system_wq);
	destroy_workqueue(system_long_wq);
	rcu_barrier();
}

static void start_all(void *unused)
{
	unsigned int i;

	sim_engine_start();
	sim_rails_start();
	for (i = 1; i <= sim_plan.nodes; i++) {
		sim_nodes[i] = (struct sim_node){ .id = i };
		node_start(&sim_nodes[i]);
	}
}

static void stop_all(void *unused)
{
	unsigned int i;

	for (i = 1; i <= sim_plan.nodes; i++) {
		sim_net_exit(sim_nodes[i].net);
		sim_nodes[i].net = NULL;
	}
	sim_rails_stop();
	sim_engine_stop();
}

/* A node goes down, for its peers without a word, and starts anew. */
static void restart(void *arg)
{
	struct sim_node *n = arg;
	u64 end = sim_now + 200 * NSEC_PER_SEC;
	struct net *net = n->net;

	sim_counts.restarts++;
	sim_wire_kill_node(n->id);
	n->dark = sim_chance(2);
	sim_programs_kill(n->id);
	sim_dgrams_kill(n->id);
	while (sim_programs_on(n->id) || sim_dgrams_on(n->id)) {
		sim_sleep(NSEC_PER_MSEC, "restart");
		if (sim_now > end)
			sim_fail("killed programs of node %d do not end",
				 n->id);
	}
	n->net = NULL;
	sim_net_exit(net);
	sim_sleep(sim_rnd(3) * NSEC_PER_SEC, "a node is down");
	node_start(n);
	sim_mem_refuse(sim_plan.refuse);
	sim_programs_boot(n->id);
	sim_dgrams_boot(n->id);
	sim_restarting--;
}

/**
 * sim_busy() - is there a restart, an outage or a change that has not ended?
 */
bool sim_busy(void)
{
	return sim_restarting;
}

static void rail_up(void *arg)
{
	bool *down = arg;

	sim_sleep(1 + sim_rnd(2000) * NSEC_PER_MSEC, "a rail is down");
	*down = false;
	sim_restarting--;
}

static void cut_rail(void)
{
	int node = 1 + sim_rnd(sim_plan.nodes), rail = sim_rnd(sim_plan.rails);
	bool *down = &sim_nodes[node].rail_down[rail];

	if (*down)
		return;
	*down = true;
	sim_wire_kill_rail(node, rail);
	sim_restarting++;
	sim_spawn(-1, "rail", rail_up, down);
}

/* For some time, a node has another map, which ends some of its links. */
static void config(void *arg)
{
	struct sim_node *n = arg;
	int without = sim_chance(3) ? 0 : 1 + sim_rnd(sim_plan.nodes);

	sim_mem_refuse(0);
	if (without)
		sim_excuse(n->id, without == n->id ? 0 : without,
			   "the node map changed");
	else
		sim_excuse(n->id, 0, "rails have changed");
	n->unmapped = without ?: n->id;
	sim_map_change(n, without, without ? U32_MAX : BIT(0));
	sim_mem_refuse(sim_plan.refuse);
	sim_sleep(1 + sim_rnd(3000) * NSEC_PER_MSEC, "another node map");
	sim_mem_refuse(0);
	sim_map_change(n, 0, U32_MAX);
	n->unmapped = 0;
	sim_mem_refuse(sim_plan.refuse);
	sim_restarting--;
}

/* A port rule comes, is applied perhaps, and goes. */
static void deny(void *arg)
{
	struct sim_node *n = arg;
	struct sanx_port_rule rule = {
		.first = 1, .last = sim_plan.explicit ? U32_MAX : U16_MAX, .ways = sim_rnd(4),
		.space = sim_plan.explicit ? SANX_PORT_SPACE_EXPLICIT : SANX_PORT_SPACE_INET,
		.node = 1 + sim_rnd(sim_plan.nodes),
	};

	sim_mem_refuse(0);
	n->denied = rule.node;
	sim_excuse(n->id, rule.node, "a port rule");
	sim_rule_set(n, &rule);
	if (!sim_chance(4))
		sim_rule_apply(n, &rule);
	sim_mem_refuse(sim_plan.refuse);
	sim_sleep(1 + sim_rnd(20 * NSEC_PER_MSEC), "a port rule");
	n->applied = (struct sanx_port_rule){ 0 };
	n->denied = 0;
	sim_rule_set(n, NULL);
	sim_restarting--;
}

static void rekey_each(void (*change)(struct sim_node *n, u8 nr), u8 nr)
{
	unsigned int i, first = sim_rnd(sim_plan.nodes);

	for (i = 0; i < sim_plan.nodes; i++) {
		sim_mem_refuse(0);
		change(&sim_nodes[1 + (first + i) % sim_plan.nodes], nr);
		sim_mem_refuse(sim_plan.refuse);
		sim_sleep(sim_rnd(500) * NSEC_PER_MSEC, "keys change");
	}
}

/* All nodes replace their key, each when it likes.  Nobody is to notice. */
static void rekey(void *unused)
{
	u8 was = sim_key, next = was % 250 + 1;

	rekey_each(key_add, next);
	sim_key = next;
	rekey_each(key_del, was);
	sim_restarting--;
}

/* Shorter than what tells a peer that AF_SANX is gone, and once for that. */
static void deaf(void *arg)
{
	struct sim_node *n = arg;

	sim_sleep(1 + sim_rnd(3000) * NSEC_PER_MSEC, "nobody listens yet");
	n->deaf = false;
	sim_restarting--;
}

/*
 * In some worlds links die in gusts, so that they live for some time in
 * between.  None dies in the end, so that what has happened to connections by
 * then has its consequences.
 */
static void disturb_links(u64 left)
{
	const struct sim_plan *p = &sim_plan;
	bool silent;

	if (sim_steps >= sim_weather) {
		sim_weather = sim_steps + 100 + sim_rnd(1500);
		sim_storm = !sim_storm;
	}
	if (!sim_chance(sim_storm || !p->gusts ? p->death :
		       50 * p->death) ||
	    left < sim_tail)
		return;
	silent = sim_chance(p->silent);
	if (sim_chance(p->outage)) {
		cut_rail();
		return;
	}
	do
		sim_wire_kill(silent, sim_chance(p->device));
	while (sim_chance(2));
}

static void disturb(void)
{
	const struct sim_plan *p = &sim_plan;
	struct sim_node *n;
	int node;

	if (sim_chance(p->restart) && !sim_restarting) {
		n = &sim_nodes[1 + sim_rnd(p->nodes)];
		sim_restarting++;
		sim_spawn(-1, "restart", restart, n);
	}
	if (sim_chance(p->config) && !sim_restarting) {
		n = &sim_nodes[1 + sim_rnd(p->nodes)];
		sim_restarting++;
		sim_spawn(n->id, "config", config, n);
	}
	node = sim_rule_due();
	if (node && !sim_restarting) {
		n = &sim_nodes[node];
		sim_restarting++;
		sim_spawn(n->id, "deny", deny, n);
	}
	if (sim_chance(p->rekey) && !sim_restarting) {
		sim_restarting++;
		sim_spawn(-1, "rekey", rekey, NULL);
	}
	if (sim_chance(sim_plan.deaf)) {
		n = &sim_nodes[1 + sim_rnd(p->nodes)];
		sim_plan.deaf = 0;
		n->deaf = true;
		sim_restarting++;
		sim_spawn(n->id, "deaf", deaf, n);
	}
	if (sim_chance(p->reborn))
		sim_hostile_reborn();
	if (sim_chance(p->regret))
		sim_programs_regret();
	sim_rails_disturb();
	if (sim_chance(50))
		sim_programs_look();
}

static void disturbed(u64 steps)
{
	u64 end = sim_steps + steps;

	sim_weather = 0;
	sim_storm = false;
	sim_tail = sim_rnd(steps / 4);
	while (sim_steps < end) {
		disturb_links(end - sim_steps);
		disturb();
		if (!sim_step())
			sim_fail("nothing can happen any more");
		sim_check();
	}
}

/* All that can go on does, in a time that TCP would take as well. */
static void peace(void)
{
	u64 end;

	sim_mem_refuse(0);
	sim_peace = true;
	while (sim_restarting || sim_rails_busy())
		sim_step();
	sim_rails_settle();
	end = sim_now + 600 * NSEC_PER_SEC;
	while (!sim_programs_done() || !sim_dgrams_done()) {
		sim_programs_end();
		sim_dgrams_end();
		sim_check();
		if (sim_step() && sim_now < end)
			continue;
		sim_fail("connections hang");
	}
}

static void check_gone(void)
{
	sim_assert(sim_rcu_idle());
	if (sim_bufs_lent())
		sim_fail("the pages of %d calls are lent for ever", sim_bufs_lent());
	if (sim_mem_live()) {
		sim_mem_dump();
		sim_fail("%lu allocations are left", sim_mem_live());
	}
	sim_assert(!sim_wire_module[0].refs && !sim_wire_module[1].refs);
	if (sim_module.refs)
		sim_fail("%d references of the module are left",
			 sim_module.refs);
}

/**
 * sim_world_begin() - start the nodes of a world that is planned
 */
void sim_world_begin(void)
{
	sim_now = 0;
	sim_set_pace(0);
	sim_mem_refuse(0);
	sim_nets_init();
	sim_restarting = 0;
	sim_peace = false;
	sim_hostile_reset();
	sim_rule_due();
	sim_set_clock(sim_plan.clock);
	sim_set_slow(sim_plan.slow);
	sim_call(-1, "start", start_all, NULL);
}

/**
 * sim_world_end() - stop the nodes, and look whether anything is left
 */
void sim_world_end(void)
{
	sim_call(-1, "stop", stop_all, NULL);
	check_gone();
}

/**
 * sim_world() - run a world
 * @seed: determines everything
 * @steps: steps with trouble; where links are to die often, four times as many
 */
void sim_world(u64 seed, u64 steps)
{
	sim_world_seed = seed;
	sim_seed(seed);
	plan_draw(&sim_plan);
	sim_world_begin();
	sim_set_pace(sim_plan.pace);
	sim_mem_refuse(sim_plan.refuse);
	sim_programs_start();
	sim_dgrams_start();
	disturbed(steps * sim_plan.times);
	peace();
	sim_world_end();
	sim_counts.worlds++;
}
