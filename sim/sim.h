/* SPDX-License-Identifier: GPL-2.0 */
/* The simulator: nodes, wire, sockets, programs, and what may happen to them. */
#ifndef _SIM_SIM_H
#define _SIM_SIM_H

#include <net/sanx_wire.h>

#include "config/config.h"
#include "conn/conn.h"
#include "sim/shim/report.h"

#define SIM_NODES	100
#define SIM_RAILS	3
#define SIM_PORT	1000
/* Every node says anything. */
#define SIM_HOSTILE_ALL	(-1)

/**
 * struct sim_plan - what a world is like; drawn from its seed
 * @nodes: number of nodes
 * @absent: nodes more that are in the node maps, and do not exist
 * @rails: rails of each node
 * @kind: kind of each rail
 * @policy: enum sanx_rail_policy of all nodes
 * @crossed: rails are in another order for each host of a node map
 * @cut: a rail between two nodes is cut once in so many steps; 0 for never
 * @swap: the rails in a node map change once in so many steps; 0 for never
 * @admin: a rail is drained, taken out of service or given a weight once in so many
 *	steps; 0 for never
 * @unload: the wire of RDMA rails goes once in so many steps, if no connection uses
 *	it; 0 for never
 * @safe: rail that is neither cut nor taken away, or -1
 * @strict: nothing else is disturbed, and there is such a rail
 * @lasting: most connections last until the world is at peace
 * @pace: tasks give way once in so many points; 0 for never
 * @refuse: one in so many allocations fails; 0 for none
 * @death: a link dies once in so many steps; 0 for never
 * @gusts: links die so often only now and then
 * @times: disturbed for so many times the steps of other worlds
 * @outage: of the deaths, one in so many cuts a rail for some time
 * @silent: of the deaths, one in so many is not noticed by the wire
 * @device: of the deaths, one in so many loses what a device had acknowledged
 * @restart: a node restarts once in so many steps; 0 for never
 * @hostile: the node that says anything at all; SIM_HOSTILE_ALL; 0 for none
 * @lies: it does so once in so many messages
 * @reborn: it says that it has restarted once in so many steps; 0 for never
 * @config: a node map changes once in so many steps; 0 for never
 * @rules: a port rule comes and goes with one in so many connections; 0 for never
 * @keyed: the nodes share a key
 * @rekey: all nodes replace it once in so many steps; 0 for never
 * @deaf: for some seconds once, a node refuses links as if it had no AF_SANX,
 *	once in so many steps; 0 for never
 * @setups: net.sanx.setups_peer, 0 for none
 * @regret: where a connection is being resumed, its program resets it once in so
 *	many steps; 0 for never
 * @requests: net.sanx.requests_peer, 0 for none
 * @mem_mb: net.sanx.mem_mb, 0 for plenty
 * @clock: most ns that a step takes
 * @slow: name of what is overtaken by everything else, or NULL
 * @conns: connections that programs try to have
 * @explicit: all sockets are explicit
 * @records: what a send() has sent is as a record of SOCK_SEQPACKET: all or nothing
 * @dgrams: nodes send datagrams
 * @dgram_conns: net.sanx.dgram_conns, 0 for plenty
 * @bulk: programs often send many bytes at a time
 * @hasty: programs often close while the other end still sends
 * @fault: one in so many copies faults; 0 for never
 * @early: messages complete before the peer has them
 * @imm: writes carry immediate data
 * @lend: devices read pages of programs
 * @sync: the CPU does not see writes of devices before sync()
 * @map_max: largest mapping, by the kind of the wire
 */
struct sim_plan {
	unsigned int	nodes;
	unsigned int	absent;
	unsigned int	rails;
	enum sanx_wire_kind kind[SIM_RAILS];
	unsigned int	policy;
	bool		crossed;
	unsigned int	cut;
	unsigned int	swap;
	unsigned int	admin;
	unsigned int	unload;
	int		safe;
	bool		strict;
	bool		lasting;
	unsigned int	pace;
	unsigned int	refuse;
	unsigned int	death;
	bool		gusts;
	u32		times;
	unsigned int	outage;
	unsigned int	silent;
	unsigned int	device;
	unsigned int	restart;
	int		hostile;
	unsigned int	lies;
	unsigned int	reborn;
	unsigned int	config;
	unsigned int	rules;
	bool		keyed;
	unsigned int	rekey;
	unsigned int	deaf;
	unsigned int	setups;
	unsigned int	regret;
	unsigned int	requests;
	unsigned int	mem_mb;
	unsigned int	clock;
	const char	*slow;
	unsigned int	conns;
	bool		explicit;
	bool		records;
	bool		dgrams;
	unsigned int	dgram_conns;
	unsigned int	fault;
	bool		bulk;
	bool		hasty;
	bool		early;
	bool		imm;
	bool		lend;
	bool		sync;
	u32		map_max[__SANX_WIRES];
};

/**
 * struct sim_node - a node
 * @id: its number, from 1
 * @net: its namespace, or NULL while it is down
 * @dark: nothing that it sends arrives anywhere, and nothing arrives there
 * @rail_down: likewise for a rail
 * @listener: of each wire
 * @boot: counts its restarts
 * @deaf: its device answers requests for links, and nobody listens yet
 * @unmapped: the node that its node map lacks, itself if rails are missing, or 0
 * @denied: the node that a port rule denies, or 0
 * @applied: this rule, once connections that it denies have ended; else empty
 */
struct sim_node {
	int			id;
	struct net		*net;
	bool			dark;
	bool			rail_down[SIM_RAILS];
	struct wire_listener	*listener[__SANX_WIRES];
	unsigned int		boot;
	bool			deaf;
	int			unmapped;
	int			denied;
	struct sanx_port_rule	applied;
};

/**
 * struct sim_counts - figures of a run
 * @worlds: worlds
 * @deaths: links that were up and were ended by the simulator, or cut
 * @conns: connections that were established
 * @resumed: RESUME_ACK frames
 * @bytes: bytes that programs read
 * @frames: frames that arrived
 * @restarts: restarts of a node
 * @cuts: rails between two nodes that were cut, in one direction or in both
 * @moves: times that the connections of a lane went to another rail
 * @unloads: times that a wire went and came back
 * @errors: connections that ended with an error that was due
 * @finished: connections that ended in order, with all their bytes
 * @dgrams: datagrams that came by a connection
 */
struct sim_counts {
	u64 worlds;
	u64 deaths;
	u64 conns;
	u64 resumed;
	u64 bytes;
	u64 frames;
	u64 restarts;
	u64 cuts;
	u64 moves;
	u64 unloads;
	u64 errors;
	u64 finished;
	u64 dgrams;
	u64 refused;
	u64 welcomes;
};

extern struct sim_plan sim_plan;
extern struct sim_node sim_nodes[SIM_NODES + 1];
extern struct sim_counts sim_counts;
/* Nothing happens that is not in order; nothing does any more. */
extern bool sim_calm, sim_peace;
/* Changes a frame that arrives, and returns its size; or NULL. */
extern u32 (*sim_fuzz)(u8 *frame, u32 bytes);

/* May these two nodes say to each other what is not true? */
static inline bool sim_hostile(int a, int b)
{
	return sim_plan.hostile && (sim_plan.hostile == SIM_HOSTILE_ALL ||
				    sim_plan.hostile == a ||
				    sim_plan.hostile == b);
}

void sim_addr(struct in6_addr *addr, int node);
void sim_rail(struct in6_addr *addr, int node, int rail);

/* spawn.c */
void sim_spawn(int node, const char *name, void (*fn)(void *arg), void *arg);
void sim_call(int node, const char *name, void (*fn)(void *arg), void *arg);

/* wire.c */
extern const struct sanx_wire_ops sim_wire_ops[__SANX_WIRES];
extern struct module sim_wire_module[__SANX_WIRES];
void sim_wire_chaos(void);
void sim_wire_kill(bool silent, bool device);
void sim_wire_kill_node(int node);
void sim_wire_kill_rail(int node, int rail);
void sim_wire_kick(void);
unsigned int sim_wire_up(void);
void sim_wire_check(void);
void sim_wire_reset(void);

/* setup.c */
struct wire_end;
void sim_setup_connect(struct wire_end *e, const struct sanx_wire_path *path);
void sim_setup_stop(struct wire_end *e);

/* sock.c */
struct sim_sock;
struct sim_sock *sim_socket(int node);
u16 sim_port(const struct sanx_endpoint *ep);
int sim_listen(struct sim_sock *s, u16 port, unsigned int backlog);
struct sim_sock *sim_accept(struct sim_sock *l, long timeo);
int sim_connect(struct sim_sock *s, int to, u16 port, u16 from, long timeo);
enum sanx_fallback sim_question(struct sim_sock *s, int to, u16 port);
ssize_t sim_send(struct sim_sock *s, struct msghdr *msg, int flags,
		 long timeo);
ssize_t sim_recv(struct sim_sock *s, struct iov_iter *to, int flags,
		 long timeo);
int sim_shutdown(struct sim_sock *s, int how);
void sim_close(struct sim_sock *s, bool abort);
void sim_cork(struct sim_sock *s, bool on);
struct tcp_sock *sim_sock_tp(struct sim_sock *s);
struct sanx_conn *sim_sock_conn(struct sim_sock *s);

/* program.c */
void sim_programs_start(void);
void sim_programs_look(void);
void sim_programs_regret(void);
void sim_programs_end(void);
bool sim_programs_done(void);
void sim_excuse(int a, int b, const char *why);
void sim_programs_free(void);
void sim_programs_dump(void);
void sim_programs_node_down(int node);
void sim_programs_stalled(u64 most);
void sim_programs_slow_down(void);

/* dgram.c */
void sim_dgrams_boot(int node);
void sim_dgrams_kill(int node);
bool sim_dgrams_on(int node);
void sim_dgrams_start(void);
void sim_dgrams_end(void);
bool sim_dgrams_done(void);

/* rules.c */
struct sanx_sock;
void sim_socks_add(struct sanx_sock *ss);
void sim_socks_del(struct sanx_sock *ss);
void sim_rule_set(struct sim_node *n, const struct sanx_port_rule *rule);
void sim_rule_apply(struct sim_node *n, const struct sanx_port_rule *rule);
void sim_rule_soon(int node);
int sim_rule_due(void);
void sim_rules_check(void);

/* rails.c */
void sim_rails_plan(struct sim_plan *p);
void sim_rails_orders(void);
void sim_rails_start(void);
void sim_rails_stop(void);
void sim_rails_fill(struct sanx_nodemap_entry *e, int id, u32 which);
bool sim_rails_pass(int from, int rail, int to, int to_rail);
bool sim_rails_differ(void);
bool sim_rails_strict(void);
bool sim_rails_admitted(int node, u16 port);
void sim_rails_disturb(void);
void sim_rails_settle(void);
void sim_rails_check(void);
bool sim_rails_busy(void);

/* check.c */
void sim_check(void);

/* hostile.c */
void sim_hostile_reset(void);
void sim_hostile_reborn(void);

/* main.c; UBSan calls it */
void __ubsan_on_report(void);

/* nodes.c */
void sim_nodes_run(unsigned int nodes, unsigned int absent, unsigned int rails,
		   unsigned int n_lanes, unsigned int conns);

/* world.c */
void sim_world(u64 seed, u64 steps);
void sim_world_begin(void);
void sim_world_end(void);
void sim_engine_start(void);
void sim_engine_stop(void);
void sim_map_change(struct sim_node *n, int without, u32 which);
bool sim_busy(void);

#endif /* _SIM_SIM_H */
