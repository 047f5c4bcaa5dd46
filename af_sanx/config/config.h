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

struct ctl_table_header;
struct dst_entry;

/**
 * struct sanx_endpoint - an address and a port
 * @addr: IPv6 address, or IPv4 address as v4-mapped
 * @port: big endian
 */
struct sanx_endpoint {
	struct in6_addr	addr;
	__be16		port;
};

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

#define SANX_NODE_RAILS	4

/**
 * struct sanx_node_info - a copy of a node's entry in the node map
 * @id: node id
 * @n_rails: entries of @rail, at least 1
 * @rail: addresses on which it answers, in order of preference
 * @kind: kind of the wire of each rail
 * @found: ktime_get_ns() when it was found by asking; 0: it is written
 */
struct sanx_node_info {
	u32		id;
	unsigned int	n_rails;
	struct in6_addr	rail[SANX_NODE_RAILS];
	u8		kind[SANX_NODE_RAILS]; /* enum sanx_wire_kind */
	u64		found;
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

/* Bytes of a key. */
#define SANX_SECRET_LEN	32U
/* Bytes of what sanx_key_mac() makes. */
#define SANX_MAC_LEN	32U
/* Keys of a peer that are valid at a time: one, and the one that follows it. */
#define SANX_KEYS_PEER	2U
/* Most peers with keys of their own. */
#define SANX_KEYS_MAX	4096U

struct crypto_shash;

/**
 * struct sanx_key - a secret that this node and a peer share
 * @refs: the list of the namespace has one, each link that uses it has one
 * @mac: HMAC-SHA256 with the key; the only place that has the key
 * @id: tells keys apart in messages, made of the key; 0 for "no key"
 */
struct sanx_key {
	struct kref		refs;
	struct crypto_shash	*mac;
	u32			id;
};

/**
 * struct sanx_key_entry - the keys of a peer
 * @node: in sanx_net.keys, sorted by @peer
 * @peer: node id, or 0 for all that have no entry of their own
 * @n: number of @key, at least 1
 * @key: the oldest first
 */
struct sanx_key_entry {
	struct list_head	node;
	u32			peer;
	unsigned int		n;
	struct sanx_key		*key[SANX_KEYS_PEER];
};

/**
 * struct sanx_keys - the keys that are valid for a peer, with a reference each
 * @n: number of @key, at least 1
 * @key: the oldest first.  One with the id 0 is the only one: the peer has no
 *	key, and what is made with it shows nothing
 */
struct sanx_keys {
	unsigned int	n;
	struct sanx_key	*key[SANX_KEYS_PEER];
};

/* keys.c */
int sanx_keys_init(void);
void sanx_keys_exit(void);
void sanx_keys_net_init(struct sanx_net *sn);
void sanx_keys_net_exit(struct sanx_net *sn);
struct sanx_key *sanx_key_make(const u8 *secret);
int sanx_key_add(struct sanx_net *sn, u32 peer, const u8 *secret, u32 *id);
int sanx_key_del(struct sanx_net *sn, u32 peer, u32 id);
void sanx_keys_each(struct sanx_net *sn, bool (*fn)(u32 peer, u32 id, void *arg),
		    void *arg);
int sanx_keys_get(struct net *net, u32 peer, struct sanx_keys *keys);
bool sanx_key_valid(struct net *net, u32 peer, const struct sanx_key *key);
void sanx_keys_put(struct sanx_keys *keys);
bool sanx_keys_secret(const struct sanx_keys *keys);
void sanx_key_put(struct sanx_key *key);
int sanx_key_mac(const struct sanx_key *key, const void *data, size_t len,
		 u8 *mac);

static inline struct sanx_key *sanx_key_get(struct sanx_key *key)
{
	kref_get(&key->refs);
	return key;
}

/* nodemap.c */
bool sanx_addr_travels(const struct in6_addr *addr);
bool sanx_node_has_twins(const struct sanx_node_info *node);
bool sanx_node_rail_end(const struct sanx_node_info *self,
			const struct sanx_node_info *peer,
			unsigned int number, struct in6_addr *local);
bool sanx_node_by_addr(struct net *net, const struct in6_addr *addr,
		       struct sanx_node_info *info);
bool sanx_node_by_id(struct net *net, u32 id, struct sanx_node_info *info);
bool sanx_node_nth(struct net *net, unsigned int i, u32 *id);
bool sanx_node_has_addr(struct net *net, u32 id, const struct in6_addr *addr);
u32 sanx_rail_node(struct net *net, enum sanx_wire_kind kind,
		   const struct in6_addr *addr);
bool sanx_node_has_rail(struct net *net, u32 id, enum sanx_wire_kind kind,
			const struct in6_addr *addr);
u32 sanx_node_self(struct net *net);
u32 sanx_node_last_self(struct net *net);
bool sanx_nodemap_empty(struct net *net);

/**
 * struct sanx_nodemap_entry - one host of the node map
 * @addr: its address, IPv4 as v4-mapped
 * @node: its node; if no rail was given, @addr is the only rail
 */
struct sanx_nodemap_entry {
	struct in6_addr		addr;
	struct sanx_node_info	node;
};

/* Most prefixes under auto in a map, most entries that were found. */
#define SANX_AUTO_MAX		64U
#define SANX_FOUND_MAX		4096U

/**
 * struct sanx_prefix - the first bits of addresses
 * @addr: IPv6, or IPv4 as v4-mapped; bits behind @len are 0
 * @len: number of bits
 */
struct sanx_prefix {
	struct in6_addr	addr;
	u8		len;
};

/**
 * struct sanx_auto - where nodes are found by asking
 * @self: node id of this machine, if the map does not have it; 0 without prefixes
 * @n: number of @prefix
 * @prefix: an address with one of them may be a node
 */
struct sanx_auto {
	u32			self;
	unsigned int		n;
	struct sanx_prefix	prefix[SANX_AUTO_MAX];
};

/**
 * struct sanx_nodemap - a node map; constant after sanx_nodemap_publish(), but for @self
 * @rcu: frees the map
 * @autos: where nodes are found
 * @n: number of entries
 * @self: 1 + number of an entry that was found to be this node, or 0; no lock
 * @n_rails: number of rails of all entries
 * @by_id: numbers of entries, by node id; of one node written ones first, then in the
 *	order of @entry
 * @by_rail: numbers of rails, by kind and address; rail r of entry i has number
 *	SANX_NODE_RAILS * i + r
 * @entry: sorted by address, without duplicates
 */
struct sanx_nodemap {
	struct rcu_head			rcu;
	struct sanx_auto		autos;
	unsigned int			n;
	unsigned int			self;
	unsigned int			n_rails;
	u32				*by_id;
	u32				*by_rail;
	struct sanx_nodemap_entry	entry[];
};

#define SANX_NODEMAP_MAX	65536

struct sanx_nodemap *sanx_nodemap_alloc(unsigned int n);
int sanx_nodemap_finish(struct sanx_nodemap *map, unsigned int *bad,
			const char **why);
const struct sanx_nodemap_entry *
sanx_nodemap_find(const struct sanx_nodemap *map, const struct in6_addr *addr);
struct sanx_nodemap *sanx_nodemap_merge(const struct sanx_nodemap *map,
					const struct sanx_nodemap *more);
struct sanx_nodemap *sanx_nodemap_without(const struct sanx_nodemap *map,
					  const struct sanx_nodemap *less,
					  unsigned int *missing);
void sanx_nodemap_publish(struct sanx_net *sn, struct sanx_nodemap *map);

/* nodeindex.c */
void sanx_nodemap_index(struct sanx_nodemap *map);
const struct sanx_nodemap_entry *
sanx_nodemap_find_id(const struct sanx_nodemap *map, u32 id);
u32 sanx_nodemap_rail_node(const struct sanx_nodemap *map, u32 id,
			   enum sanx_wire_kind kind, const struct in6_addr *addr);

/* Addresses that are remembered as no nodes. */
#define SANX_NOS	256U

/**
 * struct sanx_no - an address under auto that is no node
 * @addr: the address; unspecified if there is none
 * @until: it is not asked again before, in ns of ktime_get_ns()
 * @route: sanx_route_genid() when it was asked
 * @times: how often it was asked in vain
 */
struct sanx_no {
	struct in6_addr	addr;
	u64		until;
	u32		route;
	u8		times;
};

/**
 * struct sanx_nos - the addresses under auto that are no nodes
 * @lock: guards the others
 * @round: how often all were forgotten; an answer to a question from before that does not
 *	count
 * @no: in no order
 */
struct sanx_nos {
	spinlock_t	lock; /* guards: see above */
	u32		round;
	struct sanx_no	no[SANX_NOS];
};

/* auto.c */
bool sanx_prefix_has(const struct sanx_prefix *prefix,
		     const struct in6_addr *addr);
bool sanx_auto_has(const struct sanx_auto *autos, const struct in6_addr *addr);
bool sanx_no_holds(struct sanx_nos *nos, const struct in6_addr *addr, u64 now,
		   u32 route);
void sanx_no_add(struct sanx_nos *nos, const struct in6_addr *addr, u64 now,
		 u32 route, u32 round);
void sanx_no_del(struct sanx_nos *nos, const struct in6_addr *addr);
void sanx_no_del_all(struct sanx_nos *nos);
int sanx_nodemap_fault(const struct sanx_nodemap *map,
		       const struct sanx_nodemap_entry *e);
struct sanx_nodemap *sanx_nodemap_carry(const struct sanx_nodemap *old,
					const struct sanx_nodemap *map,
					bool self_written);
bool sanx_auto_on(struct net *net);
bool sanx_auto_covers(struct net *net, const struct in6_addr *addr);
bool sanx_auto_wants(struct net *net, const struct in6_addr *addr);
u32 sanx_auto_self(struct net *net);
u32 sanx_auto_round(struct net *net);
void sanx_auto_no(struct net *net, const struct in6_addr *addr, u32 route,
		  u32 round);
void sanx_auto_forget(struct net *net, const struct in6_addr *addr);
void sanx_auto_forget_all(struct sanx_net *sn);
int sanx_auto_load(struct sanx_net *sn, struct sanx_nodemap **map,
		   const char **why);
int sanx_auto_check(struct net *net, const struct sanx_nodemap_entry *e);
int sanx_auto_drop(struct sanx_net *sn, const struct in6_addr *addr);
bool sanx_auto_addr(struct net *net, u32 id, struct in6_addr *addr);
int sanx_auto_add(struct sanx_net *sn, const struct sanx_nodemap_entry *e);
void sanx_auto_entry(struct sanx_nodemap_entry *e, const struct in6_addr *addr,
		     u32 id);

/* ports.c */
/**
 * enum sanx_way - which connections a port rule is about; bits
 * @SANX_WAY_OUT: those that programs of this node ask for
 * @SANX_WAY_IN: those that come to listeners of this node
 */
enum sanx_way {
	SANX_WAY_OUT	= BIT(0),
	SANX_WAY_IN	= BIT(1),
};

/**
 * struct sanx_port_rule - one port rule
 * @first: first port of the range, in host byte order; 0: it decides for all ports
 *	for which no other rule does
 * @last: last port of the range, in host byte order; 0 if @first is
 * @allow: true to allow these ports, false to deny them
 * @ways: set of enum sanx_way; 0 for both
 * @prefix_len: bits of @prefix that the peer's address must have
 * @node: node that the peer must be, or 0 for any
 * @prefix: IPv6, or IPv4 as v4-mapped; the bits behind @prefix_len are 0
 */
struct sanx_port_rule {
	u16		first;
	u16		last;
	bool		allow;
	u8		ways;
	u8		prefix_len;
	u32		node;
	struct in6_addr	prefix;
};

/**
 * struct sanx_port_use - a connection that port rules decide about
 * @way: who asks for it
 * @port: the listener's port, in host byte order
 * @node: the peer's node, or 0 if the node map does not have it
 * @peer: the peer's address: the listener's for SANX_WAY_OUT
 */
struct sanx_port_use {
	enum sanx_way	way;
	u16			port;
	u32			node;
	struct in6_addr		peer;
};

/**
 * struct sanx_ports - the port rules; constant after sanx_ports_publish()
 * @rcu: frees the rules
 * @n: number of rules
 * @rule: the rules; the first that matches decides
 */
struct sanx_ports {
	struct rcu_head		rcu;
	unsigned int		n;
	struct sanx_port_rule	rule[];
};

#define SANX_PORTS_MAX	4096

struct sanx_ports *sanx_ports_alloc(unsigned int n);
bool sanx_ports_allow(const struct sanx_ports *ports,
		      const struct sanx_port_use *use);
struct sanx_ports *sanx_ports_append(const struct sanx_ports *ports,
				     const struct sanx_ports *more);
struct sanx_ports *sanx_ports_without(const struct sanx_ports *ports,
				      const struct sanx_ports *less,
				      unsigned int *missing);
void sanx_ports_publish(struct sanx_net *sn, struct sanx_ports *ports);
bool sanx_port_rule(struct net *net, enum sanx_way way,
		    const struct in6_addr *peer, __be16 port, unsigned int *nr);
bool sanx_port_allowed(struct net *net, enum sanx_way way,
		       const struct in6_addr *peer, __be16 port);

/* rails.c */
/**
 * enum sanx_rail_policy - which of several rails a connection uses
 * @SANX_RAIL_IN_ORDER: all use the first that works
 * @SANX_RAIL_ROUND_ROBIN: those that work are taken in turn
 * @SANX_RAIL_MIN_INFLIGHT: the one with the fewest frames in flight
 * @SANX_RAIL_MIN_LATENCY: the one with the shortest round trip
 */
enum sanx_rail_policy {
	SANX_RAIL_IN_ORDER,
	SANX_RAIL_ROUND_ROBIN,
	SANX_RAIL_MIN_INFLIGHT,
	SANX_RAIL_MIN_LATENCY,
	/* private: */
	__SANX_RAIL_POLICIES
};

/* The weight of a rail of which nothing is said. */
#define SANX_RAIL_WEIGHT	1U
#define SANX_RAIL_SETTINGS_MAX	1024U

/**
 * struct sanx_rail_setting - what is said about the rails of an address
 * @addr: the address, of this node or of another
 * @kind: kind of the rails (enum sanx_wire_kind)
 * @admin: enum sanx_rail_admin: may they be used?
 * @weight: the part of the load that they shall have, 0 to 255; 0: none while another
 *	rail works
 */
struct sanx_rail_setting {
	struct in6_addr	addr;
	u8		kind;
	u8		admin;
	u8		weight;
};

/**
 * struct sanx_rail_settings - settings of rails; constant once published
 * @rcu: frees them
 * @n: number of settings
 * @setting: the settings, one for each address and kind, none of them the default
 */
struct sanx_rail_settings {
	struct rcu_head			rcu;
	unsigned int			n;
	struct sanx_rail_setting	setting[];
};

struct sanx_rail_settings *
sanx_rail_settings_with(const struct sanx_rail_settings *old,
			const struct sanx_rail_setting *s);
struct sanx_rail_setting
sanx_rail_settings_find(const struct sanx_rail_settings *settings,
			enum sanx_wire_kind kind, const struct in6_addr *addr);
void sanx_rail_settings_publish(struct sanx_net *sn,
				struct sanx_rail_settings *settings);
bool sanx_rail_any_setting(struct net *net);
void sanx_rail_setting(struct net *net, enum sanx_wire_kind kind,
		       const struct in6_addr *local,
		       const struct in6_addr *remote,
		       struct sanx_rail_setting *s);

/* addr.c */
bool sanx_addr_is_local(struct net *net, const struct in6_addr *addr);

/**
 * struct sanx_arrival - the device by which the SYN of a connection would come
 * @dif: its index; that of a VRF for the devices in it
 * @sdif: index of the device in that VRF; else 0
 */
struct sanx_arrival {
	int	dif;
	int	sdif;
};

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
