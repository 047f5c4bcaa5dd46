/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configuration and counters of a namespace, and the kernel threads.  All other
 * folders use this one; it uses none of them.
 */
#ifndef _SANX_CONFIG_H
#define _SANX_CONFIG_H

#include <linux/bits.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/sanx_wire.h>
#include <uapi/linux/sanx_netlink.h>

#include "endpoint.h"
#include "keys.h"
#include "nodemap.h"
#include "ports.h"
#include "rail_settings.h"

struct ctl_table_header;
struct dst_entry;

/**
 * enum sanx_fallback - why a socket became plain TCP; each has a name in socket/fallback.c
 * @SANX_FALLBACK_UNMAPPED: the peer is not in the node map, or this node not in the peer's
 * @SANX_FALLBACK_PORT: a port rule denies the port
 * @SANX_FALLBACK_LINK: there is no link to the peer
 * @SANX_FALLBACK_REFUSED: the peer has no AF_SANX listener at that address
 * @SANX_FALLBACK_OPTION: the program uses an option that only TCP supports
 * @SANX_FALLBACK_ACCEPT: a plain TCP client connected to an AF_SANX listener
 * @SANX_FALLBACK_ASKED: the peer is under auto, and is being asked who it is
 * @SANX_FALLBACK_ROUTE: what a TCP peer would answer would not come back to this node, or
 *	an IPsec policy holds
 * @SANX_FALLBACK_DENIED: a port rule of the peer denies the port
 * @SANX_FALLBACK_LIMIT: a limit of the peer is reached, or it has no memory
 * @SANX_FALLBACK_NONE: there is no such reason, as an answer to a question
 */
enum sanx_fallback {
	SANX_FALLBACK_UNMAPPED,
	SANX_FALLBACK_PORT,
	SANX_FALLBACK_LINK,
	SANX_FALLBACK_REFUSED,
	SANX_FALLBACK_OPTION,
	SANX_FALLBACK_ACCEPT,
	SANX_FALLBACK_ASKED,
	SANX_FALLBACK_ROUTE,
	SANX_FALLBACK_DENIED,
	SANX_FALLBACK_LIMIT,
	/* private: */
	__SANX_FALLBACKS,
	/* public: */
	SANX_FALLBACK_NONE = __SANX_FALLBACKS
};

/**
 * enum sanx_stat - the counters of a namespace
 * @SANX_STAT_CONNS_LOOP: connection ends established over loop
 * @SANX_STAT_CONNS_VERBS: connection ends established over verbs
 * @SANX_STAT_CONNS_TCP_RAIL: connection ends established over a TCP rail
 * @SANX_STAT_DGRAMS_LOOP: datagrams of AF_SANX sockets sent over loop
 * @SANX_STAT_DGRAMS_UDP: datagrams of AF_SANX sockets sent over UDP
 * @SANX_STAT_DGRAMS_VERBS: datagrams of AF_SANX sockets sent by an implicit connection
 *	over verbs
 * @SANX_STAT_DGRAMS_TCP_RAIL: likewise over a TCP rail
 * @SANX_STAT_DROPPED_DENIED: datagrams that peers must not send, or no more
 * @SANX_STAT_DROPPED_MEMORY: datagrams for which there was no memory when they came
 * @SANX_STAT_DROPPED_FULL: datagrams for which their receiver had no room
 * @SANX_STAT_DROPPED_WAITED: datagrams that an implicit connection did not take in time
 * @SANX_STAT_DROPPED_CLOSED: datagrams that one did not take before it ended
 * @SANX_STAT_TX_BYTES: payload bytes taken from programs
 * @SANX_STAT_LENT_BYTES: of those, bytes that devices read from programs' own pages
 * @SANX_STAT_RX_BYTES: payload bytes given to programs
 * @SANX_STAT_RESETS: established connections that ended in a reset
 * @SANX_STAT_PROTOCOL_ERRORS: messages that no correct peer sends
 * @SANX_STAT_LINKS_REFUSED: requests of peers for a link that were refused
 * @SANX_STAT_REQUESTS_REFUSED: requests of peers for a connection that were
 *	refused because of a limit, or because TCP would not answer them
 * @SANX_STAT_REQUESTS_DELAYED: how often requests of a peer had to wait because it
 *	asks too often
 * @SANX_STAT_MEMORY_REFUSED: how often a ring or a send buffer was not made, or not
 *	made larger, because of a limit
 * @SANX_STAT_AUTO_REFUSED: answers under auto that were refused, because their node
 *	id is ours or belongs to another address
 * @SANX_STAT_FALLBACK: the first of one counter for each enum sanx_fallback
 */
enum sanx_stat {
	SANX_STAT_CONNS_LOOP,
	SANX_STAT_CONNS_VERBS,
	SANX_STAT_CONNS_TCP_RAIL,
	SANX_STAT_DGRAMS_LOOP,
	SANX_STAT_DGRAMS_UDP,
	SANX_STAT_DGRAMS_VERBS,
	SANX_STAT_DGRAMS_TCP_RAIL,
	SANX_STAT_DROPPED_DENIED,
	SANX_STAT_DROPPED_MEMORY,
	SANX_STAT_DROPPED_FULL,
	SANX_STAT_DROPPED_WAITED,
	SANX_STAT_DROPPED_CLOSED,
	SANX_STAT_TX_BYTES,
	SANX_STAT_LENT_BYTES,
	SANX_STAT_RX_BYTES,
	SANX_STAT_RESETS,
	SANX_STAT_PROTOCOL_ERRORS,
	SANX_STAT_LINKS_REFUSED,
	SANX_STAT_REQUESTS_REFUSED,
	SANX_STAT_REQUESTS_DELAYED,
	SANX_STAT_MEMORY_REFUSED,
	SANX_STAT_AUTO_REFUSED,
	SANX_STAT_FALLBACK,
	/* private: */
	__SANX_STATS = SANX_STAT_FALLBACK + __SANX_FALLBACKS
};

/**
 * struct sanx_stats - the counters of one CPU
 * @v: counters, by enum sanx_stat
 */
struct sanx_stats {
	u64 v[__SANX_STATS];
};

/**
 * struct sanx_net - configuration and counters of a network namespace
 * @net: the namespace
 * @stats: counters, one set for each CPU
 * @config_mutex: guards writes of @nodemap, @ports, @rail_settings, @keys and
 *	@config_seq
 * @config_seq: incremented with each change of one of them, so that a dump can detect
 *	changes; dumps read it without @config_mutex
 * @nodemap: the node map, replaced as a whole; read under RCU
 * @nos: addresses under auto that are no nodes; NULL until a map has prefixes, and
 *	constant then
 * @ports: the port rules, replaced as a whole; read under RCU
 * @rail_settings: settings of rails, replaced as a whole; read under RCU
 * @keys_mutex: guards @keys, @n_keys and @self_key; nothing is locked or allocated
 *	inside, because it is taken under lnet.lock, for which reclaim may wait
 * @keys: &struct sanx_key_entry, one for each peer with keys
 * @n_keys: number of @keys
 * @self_key: key of links of this node to itself, random; NULL before the first
 * @spin_us: sysctl net.sanx.spin_us: most time of a busy poll, in microseconds
 * @idle_ms: sysctl net.sanx.idle_ms: idle time before ring memory is reclaimed,
 *	in ms; 0 for never
 * @nodelay_us: sysctl net.sanx.nodelay_us: longest delay of a piece with
 *	TCP_NODELAY, in microseconds; 0 for none
 * @half_open: sysctl net.sanx.half_open: most links that peers have asked for
 *	and that are not up
 * @half_open_peer: sysctl net.sanx.half_open_peer: most of them of one peer
 * @setups_peer: sysctl net.sanx.setups_peer: most links that a peer may ask for in
 *	a second
 * @requests_peer: sysctl net.sanx.requests_peer: most connections that a peer may
 *	ask for in a second
 * @conns_peer: sysctl net.sanx.conns_peer: most connections with a peer, beyond
 *	which it gets no more
 * @mem_peer_percent: sysctl net.sanx.mem_peer_percent: the part of sanx_mem_mb that
 *	connections with one peer may have
 * @max_orphans: sysctl net.sanx.max_orphans: most connections that were closed
 *	and that a peer has not let go
 * @n_orphans: how many there are; no lock
 * @n_half_open: links that peers have asked for and that are not up, or not any more;
 *	no lock
 * @rail_policy: sysctl net.sanx.rail_policy: enum sanx_rail_policy
 * @dgram: sysctl net.sanx.dgram, which is for the preload library: UDP sockets of
 *	programs are to be AF_SANX's
 * @dgram_conns: sysctl net.sanx.dgram_conns: most implicit connections
 * @dgram_idle_ms: sysctl net.sanx.dgram_idle_ms: how long one is kept that carries nothing
 * @events_lost: events of the netlink family that its listeners have not got, and have not
 *	been told of
 * @cov: KCOV handle of who has made a socket last, or 0; cov.h; no lock
 * @sysctl: the sysctls
 */
struct sanx_net {
	struct net			*net;
	struct sanx_stats __percpu	*stats;
	struct mutex			config_mutex; /* guards: see above */
	unsigned int			config_seq;
	struct sanx_nodemap __rcu	*nodemap;
	struct sanx_nos			*nos;
	struct sanx_ports __rcu		*ports;
	struct sanx_rail_settings __rcu	*rail_settings;
	struct mutex			keys_mutex; /* guards: see above */
	struct list_head		keys;
	unsigned int			n_keys;
	struct sanx_key			*self_key;
	unsigned int			spin_us;
	unsigned int			idle_ms;
	unsigned int			nodelay_us;
	unsigned int			half_open;
	unsigned int			half_open_peer;
	unsigned int			setups_peer;
	unsigned int			requests_peer;
	unsigned int			conns_peer;
	unsigned int			mem_peer_percent;
	unsigned int			max_orphans;
	atomic_t			n_orphans;
	atomic_t			n_half_open;
	unsigned int			rail_policy;
	unsigned int			dgram;
	unsigned int			dgram_conns;
	unsigned int			dgram_idle_ms;
	atomic_t			events_lost;
	u64				cov;
	struct ctl_table_header		*sysctl;
};

/* netns.c */
int sanx_netns_init(void);
void sanx_netns_exit(void);
struct sanx_net *sanx_net(const struct net *net);

/* addr.c */
bool sanx_addr_is_local(struct net *net, const struct in6_addr *addr);

/* reach.c */
bool sanx_route_stays(struct net *net, const struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote);
bool sanx_route_answered(struct net *net, const struct dst_entry *way,
			 const struct sanx_endpoint *local,
			 const struct sanx_endpoint *remote);
void sanx_route_loops(struct net *net, const struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote, struct sanx_arrival *by);
bool sanx_route_reaches(struct net *net, bool own, const struct sanx_endpoint *local,
			const struct sanx_endpoint *remote, struct sanx_arrival *by);
bool sanx_route_source(struct net *net, const struct in6_addr *remote,
		       struct in6_addr *local);
bool sanx_addr_works(struct net *net, const struct in6_addr *addr);
u32 sanx_route_genid(struct net *net, const struct in6_addr *addr);

/* sysctl.c */
extern unsigned int sanx_mem_mb;

/* stats.c */
u64 sanx_stat_sum(const struct sanx_net *sn, enum sanx_stat stat);

/**
 * sanx_stat_add() - add to a counter
 * @net: the namespace
 * @stat: the counter
 * @n: the increment
 *
 * Context: any.
 */
static inline void sanx_stat_add(const struct net *net, enum sanx_stat stat,
				 u64 n)
{
	this_cpu_add(sanx_net(net)->stats->v[stat], n);
}

/* worker.c */
extern struct kthread_worker *sanx_connect_worker;
extern struct workqueue_struct *sanx_wq;
int sanx_worker_init(void);
void sanx_worker_exit(void);

#endif /* _SANX_CONFIG_H */
