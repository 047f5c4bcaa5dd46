// SPDX-License-Identifier: GPL-2.0
/*
 * Many nodes in one process, undisturbed: what a node costs as their number grows.
 *
 * All nodes have all others in their maps.  Each connects to so many others, drawn at
 * random, one connection after the other, so that what happens meanwhile is the cost of
 * that connect, at both ends.  Then all are idle for a minute, which shows the cost of the
 * heartbeat.  Last, one node gets its map again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "link/peer/peer.h"
#include "program.h"

/**
 * struct cost - what something has cost
 * @times: how often it happened
 * @ns: simulated time
 * @cpu: time of this machine's CPU, in ns
 * @work: locks taken, allocations, routes looked up, and frames sent
 */
struct cost {
	u64		times;
	u64		ns;
	u64		cpu;
	struct sim_work	work;
};

static struct cost first, more, idle, load;
static struct sim_sock *listeners[SIM_NODES + 1];
static bool stop;
static unsigned int n_conns, want;
static struct sim_sock **socks;
static unsigned int n_socks;

static u64 cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void begin(struct cost *c)
{
	c->ns -= sim_now;
	c->cpu -= cpu_ns();
	c->work.locks -= sim_work.locks;
	c->work.allocs -= sim_work.allocs;
	c->work.routes -= sim_work.routes;
	c->work.frames -= sim_work.frames;
}

static void end(struct cost *c)
{
	c->times++;
	c->ns += sim_now;
	c->cpu += cpu_ns();
	c->work.locks += sim_work.locks;
	c->work.allocs += sim_work.allocs;
	c->work.routes += sim_work.routes;
	c->work.frames += sim_work.frames;
}

static void keep(struct sim_sock *s)
{
	socks[n_socks++] = s;
}

static void accept_task(void *arg)
{
	int node = (long)arg;
	struct sim_sock *l = sim_socket(node), *s;

	sim_listen(l, SIM_PORT, 64);
	listeners[node] = l;
	while (!stop) {
		s = sim_accept(l, HZ);
		if (s)
			keep(s);
	}
	sim_close(l, false);
	listeners[node] = NULL;
}

static unsigned int links_of(int node)
{
	struct sanx_lnet *lnet = sanx_lnet_of(sim_nodes[node].net);
	const struct sanx_link *link;
	const struct sanx_lane *lane;
	struct sanx_peer *peer;
	unsigned int i, n = 0;
	unsigned long id;

	xa_for_each(&lnet->peers, id, peer)
		for (i = 0; (lane = sanx_lane_next(peer, &i));)
			list_for_each_entry(link, &lane->links, node)
				n++;
	return n;
}

static bool has_link(int from, int to)
{
	struct sanx_lnet *lnet = sanx_lnet_of(sim_nodes[from].net);
	const struct sanx_peer *peer = xa_load(&lnet->peers, to);
	const struct sanx_lane *lane;
	unsigned int i;

	if (!peer)
		return false;
	for (i = 0; (lane = sanx_lane_next(peer, &i));)
		if (lane->out)
			return true;
	return false;
}

static void connect_one(int from, int to)
{
	struct cost *c = has_link(from, to) ? &more : &first;
	struct sim_sock *s = sim_socket(from);
	int err;

	begin(c);
	err = sim_connect(s, to, SIM_PORT, 1024 + n_conns++ % 60000, 100 * HZ);
	end(c);
	sim_assert(!err);
	keep(s);
	/* Links of further lanes come up beside it, and belong to none. */
	sim_sleep(10 * NSEC_PER_MSEC, "between connects");
}

static void connect_task(void *unused)
{
	int n = sim_plan.nodes, node, to;
	unsigned int i;

	for (node = 1; node <= n; node++)
		while (!listeners[node])
			sim_sleep(NSEC_PER_MSEC, "the listeners");
	for (i = 0; i < want; i++)
		for (node = 1; node <= n; node++) {
			to = 1 + sim_rnd(n - 1);
			connect_one(node, to + (to >= node));
		}
}

static void load_task(void *unused)
{
	begin(&load);
	sim_map_change(&sim_nodes[1], 0, U32_MAX);
	end(&load);
}

static void close_task(void *unused)
{
	while (n_socks)
		sim_close(socks[--n_socks], false);
	stop = true;
}

static void wait_for(u64 ns)
{
	u64 end = sim_now + ns;

	while (sim_now < end)
		if (!sim_step())
			break;
}

/* A function of its own, for a tool that counts its instructions (scaling.rst). */
static noinline void idle_minute(void)
{
	wait_for(60 * NSEC_PER_SEC);
}

static void print_cost(const char *what, const struct cost *c, double per)
{
	printf("  %-34s %9.0f %9.0f %9.0f %9.1f %9.1f %9.1f\n", what, c->cpu / per / 1000,
	       c->work.locks / per, c->work.routes / per, c->work.allocs / per,
	       c->work.frames / per, c->ns / per / 1e6);
}

static void print(void)
{
	unsigned int n = sim_plan.nodes, links = 0, i;
	double per = n * (idle.ns / 1e9);

	for (i = 1; i <= n; i++)
		links += links_of(i);
	printf("%u nodes of %u, %u rails, %u lanes, %u connections each: ", n,
	       n + sim_plan.absent, sim_plan.rails, lanes, want);
	printf("%.1f links and %.0f KiB a node\n", (double)links / n,
	       sim_mem_bytes() / 1024.0 / n);
	printf("  %-34s %9s %9s %9s %9s %9s %9s\n", "", "CPU us", "locks", "routes",
	       "allocs", "frames", "ms");
	print_cost("connect, with a new link", &first, first.times);
	if (more.times)
		print_cost("connect, on a link that is up", &more, more.times);
	idle.ns = 0;
	print_cost("idle, a second of a node", &idle, per);
	print_cost("a node map is loaded", &load, 1);
}

static void plan(unsigned int nodes, unsigned int absent, unsigned int rails)
{
	unsigned int r;

	sim_plan = (struct sim_plan){
		.nodes = nodes, .absent = absent, .rails = rails, .safe = -1,
		.imm = true, .lend = true, .map_max = { 1 << 20, 1 << 20 }, .clock = 1024,
	};
	for (r = 0; r < rails; r++)
		sim_plan.kind[r] = r && r == rails - 1 ? SANX_WIRE_TCP :
							 SANX_WIRE_RDMA;
	sim_rails_orders();
}

/**
 * sim_nodes_run() - print what a number of nodes costs
 * @nodes: how many
 * @absent: how many more are in their maps
 * @rails: rails of each; the last one of several is TCP
 * @n_lanes: lanes
 * @conns: connections that each of them asks for
 */
void sim_nodes_run(unsigned int nodes, unsigned int absent, unsigned int rails,
		   unsigned int n_lanes, unsigned int conns)
{
	unsigned int i;

	first = (struct cost){ 0 };
	more = first;
	idle = first;
	load = first;
	stop = false;
	n_conns = 0;
	lanes = n_lanes;
	want = conns;
	socks = calloc(2 * nodes * conns, sizeof(*socks));
	sim_seed(1);
	plan(nodes, absent, rails);
	sim_world_begin();
	for (i = 1; i <= nodes; i++)
		sim_spawn(i, "listener", accept_task, (void *)(long)i);
	sim_call(-1, "connects", connect_task, NULL);
	/* Until links that nobody uses are at rest. */
	wait_for(5 * NSEC_PER_SEC);
	begin(&idle);
	idle_minute();
	end(&idle);
	sim_call(1, "map", load_task, NULL);
	print();
	if (sim_trace_all)
		sim_mem_sum();
	sim_call(-1, "close", close_task, NULL);
	wait_for(5 * NSEC_PER_SEC);
	sim_world_end();
	free(socks);
}
