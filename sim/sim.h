/* SPDX-License-Identifier: GPL-2.0 */
/* The simulator: nodes, wire, sockets, programs, and what may happen to them. */
#ifndef _SIM_SIM_H
#define _SIM_SIM_H

#include <net/sanx_wire.h>

#include "config/config.h"
#include "conn/conn.h"
#include "sim/shim/report.h"

#define SIM_NODES	3
#define SIM_RAILS	2
#define SIM_PORT	1000
/* Every node says anything. */
#define SIM_HOSTILE_ALL	(-1)

/**
 * struct sim_plan - what a world is like; drawn from its seed
 * @nodes: number of nodes
 * @rails: rails of each node
 * @pace: tasks give way once in so many points; 0 for never
 * @refuse: one in so many allocations fails; 0 for none
 * @death: a link dies once in so many steps; 0 for never
 * @gusts: links die so often only now and then
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
 * @bulk: programs often send many bytes at a time
 * @hasty: programs often close while the other end still sends
 * @fault: one in so many copies faults; 0 for never
 * @early: messages complete before the peer has them
 * @imm: writes carry immediate data
 * @enable_alone: see &struct sanx_wire_caps
 * @lend: devices read pages of programs
 * @sync: the CPU does not see writes of devices before sync()
 * @map_max: largest mapping
 */
struct sim_plan {
	unsigned int	nodes;
	unsigned int	rails;
	unsigned int	pace;
	unsigned int	refuse;
	unsigned int	death;
	bool		gusts;
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
	unsigned int	fault;
	bool		bulk;
	bool		hasty;
	bool		early;
	bool		imm;
	bool		enable_alone;
	bool		lend;
	bool		sync;
	u32		map_max;
};

/**
 * struct sim_node - a node
 * @id: its number, from 1
 * @net: its namespace, or NULL while it is down
 * @dark: nothing that it sends arrives anywhere, and nothing arrives there
 * @rail_down: likewise for a rail
 * @listener: of the wire
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
	struct wire_listener	*listener;
	unsigned int		boot;
	bool			deaf;
	int			unmapped;
	int			denied;
	struct sanx_port_rule	applied;
};

/**
 * struct sim_counts - figures of a run
 * @worlds: worlds
 * @deaths: links that were up and were ended by the simulator
 * @conns: connections that were established
 * @resumed: RESUME_ACK frames
 * @bytes: bytes that programs read
 * @frames: frames that arrived
 * @restarts: restarts of a node
 * @errors: connections that ended with an error that was due
 * @finished: connections that ended in order, with all their bytes
 */
struct sim_counts {
	u64 worlds;
	u64 deaths;
	u64 conns;
	u64 resumed;
	u64 bytes;
	u64 frames;
	u64 restarts;
	u64 errors;
	u64 finished;
	u64 refused;
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
extern const struct sanx_wire_ops sim_wire_ops;
void sim_wire_chaos(void);
void sim_wire_kill(bool silent, bool device);
void sim_wire_kill_node(int node);
void sim_wire_kill_rail(int node, int rail);
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
int sim_listen(struct sim_sock *s, u16 port, unsigned int backlog);
struct sim_sock *sim_accept(struct sim_sock *l, long timeo);
int sim_connect(struct sim_sock *s, int to, u16 port, u16 from, long timeo);
ssize_t sim_send(struct sim_sock *s, struct iov_iter *from, int flags,
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

/* rules.c */
struct sanx_sock;
void sim_socks_add(struct sanx_sock *ss);
void sim_socks_del(struct sanx_sock *ss);
void sim_rule_set(struct sim_node *n, const struct sanx_port_rule *rule);
void sim_rule_apply(struct sim_node *n, const struct sanx_port_rule *rule);
void sim_rule_soon(int node);
int sim_rule_due(void);
void sim_rules_check(void);

/* check.c */
void sim_check(void);

/* hostile.c */
void sim_hostile_reset(void);
void sim_hostile_reborn(void);

/* main.c; UBSan calls it */
void __ubsan_on_report(void);

/* world.c */
void sim_world(u64 seed, u64 steps);

#endif /* _SIM_SIM_H */
