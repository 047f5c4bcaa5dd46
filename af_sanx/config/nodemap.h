/* SPDX-License-Identifier: GPL-2.0 */
/* The node map, and nodes that find each other; config.h has it. */
#ifndef _SANX_NODEMAP_H
#define _SANX_NODEMAP_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/types.h>
#include <net/sanx_wire.h>

struct net;
struct sanx_net;

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
bool sanx_nodemap_node_in(const struct sanx_nodemap *map, u32 id,
			  const struct in6_addr *prefix, unsigned int len);
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

#endif /* _SANX_NODEMAP_H */
