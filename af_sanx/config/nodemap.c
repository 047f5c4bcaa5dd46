// SPDX-License-Identifier: GPL-2.0
/*
 * The node map: the addresses of hosts with AF_SANX, the node of each host, and
 * the addresses between which links run (rails; sci-socket.txt 4.3).
 *
 * A map is made, checked and sorted as a whole.  One store then replaces the
 * map in use.  So a load succeeds or fails as a whole, and a lookup takes no
 * lock.  The functions above sanx_nodemap_publish() are pure.
 */
#include <linux/bsearch.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "config.h"

/**
 * sanx_nodemap_alloc() - allocate an empty map
 * @n: number of entries, at most SANX_NODEMAP_MAX; the caller fills them in and
 *	calls sanx_nodemap_finish()
 *
 * Context: process, may sleep.
 * Return: the map, owned by the caller, to be freed with kvfree(); or NULL.
 */
struct sanx_nodemap *sanx_nodemap_alloc(unsigned int n)
{
	struct sanx_nodemap *map;

	if (n > SANX_NODEMAP_MAX)
		return NULL;
	map = kvzalloc(struct_size(map, entry, n) +
		       n * (1 + SANX_NODE_RAILS) * sizeof(u32),
		       GFP_KERNEL_ACCOUNT);
	if (!map)
		return NULL;
	map->n = n;
	/* The indexes (nodeindex.c) lie behind the entries. */
	map->by_id = (u32 *)&map->entry[n];
	map->by_rail = map->by_id + n;
	return map;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_alloc);

static int entry_cmp(const void *a, const void *b)
{
	const struct sanx_nodemap_entry *x = a, *y = b;

	return memcmp(&x->addr, &y->addr, sizeof(x->addr));
}

#define FAULT(kind) "an address is " kind ", expected a unicast one that is " \
		    "valid on every node"

static const char *addr_fault(const struct in6_addr *addr)
{
	int type = ipv6_addr_type(addr);

	if (type == IPV6_ADDR_ANY)
		return FAULT("unspecified");
	if (type & IPV6_ADDR_MULTICAST)
		return FAULT("multicast");
	if (type & IPV6_ADDR_LOOPBACK)
		return FAULT("loopback");
	if (type & IPV6_ADDR_LINKLOCAL)
		return FAULT("link-local");
	if (sanx_addr_explicit(addr))
		return FAULT("that of an explicit socket");
	if (!(type & IPV6_ADDR_MAPPED))
		return NULL;
	if (ipv4_is_zeronet(addr->s6_addr32[3]))
		return FAULT("unspecified");
	if (ipv4_is_loopback(addr->s6_addr32[3]))
		return FAULT("loopback");
	if (ipv4_is_multicast(addr->s6_addr32[3]) ||
	    ipv4_is_lbcast(addr->s6_addr32[3]))
		return FAULT("multicast");
	return NULL;
}

static bool has_rdma(const struct sanx_node_info *node)
{
	unsigned int i;

	for (i = 0; i < node->n_rails; i++)
		if (node->kind[i] == SANX_WIRE_RDMA)
			return true;
	return false;
}

/* Return: why there is no room for it, or NULL. */
static const char *add_default_rail(struct sanx_nodemap_entry *e)
{
	struct sanx_node_info *node = &e->node;

	if (has_rdma(node))
		return NULL;
	if (node->n_rails == SANX_NODE_RAILS)
		return "a host has no RDMA rail and no room for one, expected fewer TCP rails";
	memmove(&node->rail[1], &node->rail[0],
		node->n_rails * sizeof(node->rail[0]));
	memmove(&node->kind[1], &node->kind[0],
		node->n_rails * sizeof(node->kind[0]));
	node->rail[0] = e->addr;
	node->kind[0] = SANX_WIRE_RDMA;
	node->n_rails++;
	return NULL;
}

/**
 * sanx_node_has_twins() - does a node have a rail twice?
 * @node: the node
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_node_has_twins(const struct sanx_node_info *node)
{
	unsigned int i, k;

	for (i = 0; i < node->n_rails; i++)
		for (k = 0; k < i; k++)
			if (node->kind[i] == node->kind[k] &&
			    ipv6_addr_equal(&node->rail[i], &node->rail[k]))
				return true;
	return false;
}

/* Can a link lead from one rail to the other? */
static bool rails_match(const struct sanx_node_info *a, unsigned int i,
			const struct sanx_node_info *b, unsigned int k)
{
	return a->kind[i] == b->kind[k] &&
	       !!ipv6_addr_v4mapped(&a->rail[i]) == !!ipv6_addr_v4mapped(&b->rail[k]);
}

/* Return: how many of the first @n rails of @info match rail @i of @of. */
static unsigned int rails_like(const struct sanx_node_info *info, unsigned int n,
			       const struct sanx_node_info *of, unsigned int i)
{
	unsigned int k, like = 0;

	for (k = 0; k < n; k++)
		like += rails_match(info, k, of, i);
	return like;
}

/**
 * sanx_node_rail_end() - find our end of a rail
 * @self: our node
 * @peer: the peer
 * @number: number of the rail, of @peer
 * @local: set to our address: of those of the same kind and address family the one that
 *	has the place that the peer's has among its own; if we have fewer, they take turns
 *
 * So two nodes may have rails of different kinds in different orders, and find the
 * same pairs.
 *
 * Context: any.
 * Return: true if there is one.
 */
bool sanx_node_rail_end(const struct sanx_node_info *self,
			const struct sanx_node_info *peer,
			unsigned int number, struct in6_addr *local)
{
	unsigned int place = rails_like(peer, number, peer, number);
	unsigned int n = rails_like(self, self->n_rails, peer, number);
	unsigned int i;

	for (i = 0; i < self->n_rails; i++)
		if (rails_match(self, i, peer, number) &&
		    rails_like(self, i, peer, number) == place % n) {
			*local = self->rail[i];
			return true;
		}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_node_rail_end);

static const char *entry_fault(const struct sanx_nodemap_entry *e)
{
	const char *why = addr_fault(&e->addr);
	unsigned int i;

	if (!e->node.id)
		return "a node id is 0, expected 1 or more";
	for (i = 0; !why && i < e->node.n_rails; i++)
		why = addr_fault(&e->node.rail[i]);
	if (!why && sanx_node_has_twins(&e->node))
		why = "a host has a rail twice, expected it once";
	return why;
}

/* Return: how two entries for one address contradict each other, or NULL. */
static const char *conflict(const struct sanx_node_info *a,
			    const struct sanx_node_info *b)
{
	if (a->id != b->id)
		return "a host is given to two nodes, expected one";
	if (a->n_rails != b->n_rails ||
	    memcmp(a->rail, b->rail, a->n_rails * sizeof(a->rail[0])) ||
	    memcmp(a->kind, b->kind, a->n_rails * sizeof(a->kind[0])))
		return "a host is given twice with other rails, expected it once";
	return NULL;
}

/*
 * Merges equal entries, which are adjacent after sorting.
 * Return: the index of an entry that contradicts another, or -1.
 */
static int merge_equal(struct sanx_nodemap *map, const char **why)
{
	unsigned int i, n = 0;

	for (i = 0; i < map->n; i++) {
		if (n && !entry_cmp(&map->entry[n - 1], &map->entry[i])) {
			*why = conflict(&map->entry[n - 1].node,
					&map->entry[i].node);
			if (*why)
				return i;
			continue;
		}
		map->entry[n++] = map->entry[i];
	}
	map->n = n;
	return -1;
}

/*
 * Return: the index in the unsorted map of an entry that contradicts an earlier
 * one for @addr.
 */
static unsigned int contradiction_of(const struct sanx_nodemap *map,
				     const struct in6_addr *addr)
{
	const struct sanx_nodemap_entry *first = NULL;
	unsigned int i;

	for (i = 0; i < map->n; i++) {
		if (!ipv6_addr_equal(&map->entry[i].addr, addr))
			continue;
		if (!first)
			first = &map->entry[i];
		else if (conflict(&first->node, &map->entry[i].node))
			return i;
	}
	return 0;
}

/**
 * sanx_nodemap_finish() - check a map and sort it
 * @map: filled in, in any order; an entry without an RDMA rail gets its address
 *	as the first one
 * @bad: on failure, the index of the invalid entry as it was filled in
 * @why: on failure, a message that describes the error; NULL for -ENOMEM
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL for an invalid entry; -EEXIST for an entry that
 * contradicts another; or -ENOMEM.
 */
int sanx_nodemap_finish(struct sanx_nodemap *map, unsigned int *bad,
			const char **why)
{
	struct sanx_nodemap *given;
	struct sanx_nodemap_entry *e;
	int i;

	for (i = 0; i < map->n; i++) {
		e = &map->entry[i];
		*bad = i;
		*why = entry_fault(e);
		if (*why)
			return -EINVAL;
		*why = add_default_rail(e);
		if (*why)
			return -EINVAL;
	}
	*bad = 0;
	given = sanx_nodemap_alloc(map->n);
	if (!given)
		return -ENOMEM;
	memcpy(given->entry, map->entry, array_size(map->n, sizeof(*e)));
	sort(map->entry, map->n, sizeof(map->entry[0]), entry_cmp, NULL);
	i = merge_equal(map, why);
	if (i >= 0)
		*bad = contradiction_of(given, &map->entry[i].addr);
	else
		sanx_nodemap_index(map);
	kvfree(given);
	return i >= 0 ? -EEXIST : 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_finish);

/**
 * sanx_nodemap_find() - look up a host
 * @map: a finished map, or NULL
 * @addr: the host's address
 *
 * Context: any; the caller keeps @map.
 * Return: the entry, valid as long as @map, or NULL.
 */
const struct sanx_nodemap_entry *
sanx_nodemap_find(const struct sanx_nodemap *map, const struct in6_addr *addr)
{
	struct sanx_nodemap_entry key = { .addr = *addr };

	if (!map)
		return NULL;
	return bsearch(&key, map->entry, map->n, sizeof(key), entry_cmp);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_find);

/**
 * sanx_nodemap_merge() - add hosts to a map
 * @map: a finished map, or NULL
 * @more: the hosts to add, a finished map; it takes precedence for hosts in
 *	both
 *
 * Context: process, may sleep.
 * Return: a new finished map, owned by the caller; or NULL without memory or
 * for more than SANX_NODEMAP_MAX hosts.  @map and @more stay the caller's.
 */
struct sanx_nodemap *sanx_nodemap_merge(const struct sanx_nodemap *map,
					const struct sanx_nodemap *more)
{
	unsigned int old = map ? map->n : 0, i, n = more->n;
	struct sanx_nodemap *sum;

	for (i = 0; i < old; i++)
		n += !sanx_nodemap_find(more, &map->entry[i].addr);
	sum = sanx_nodemap_alloc(n);
	if (!sum)
		return NULL;
	if (map)
		sum->autos = map->autos;
	n = more->n;
	memcpy(sum->entry, more->entry, n * sizeof(sum->entry[0]));
	for (i = 0; i < old; i++)
		if (!sanx_nodemap_find(more, &map->entry[i].addr))
			sum->entry[n++] = map->entry[i];
	sum->n = n;
	sort(sum->entry, n, sizeof(sum->entry[0]), entry_cmp, NULL);
	sanx_nodemap_index(sum);
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_merge);

/**
 * sanx_nodemap_without() - remove hosts from a map
 * @map: a finished map, or NULL
 * @less: the hosts to remove; only their addresses are used
 * @missing: set to the index in @less of a host that @map lacks
 *
 * Context: process, may sleep.
 * Return: a new finished map, owned by the caller; NULL without memory; or
 * ERR_PTR(-ENOENT).  @map and @less stay the caller's.
 */
struct sanx_nodemap *sanx_nodemap_without(const struct sanx_nodemap *map,
					  const struct sanx_nodemap *less,
					  unsigned int *missing)
{
	struct sanx_nodemap *rest;
	unsigned int i, n = 0;

	for (i = 0; i < less->n; i++) {
		*missing = i;
		if (!sanx_nodemap_find(map, &less->entry[i].addr))
			return ERR_PTR(-ENOENT);
	}
	rest = sanx_nodemap_alloc(map ? map->n : 0);
	if (!rest)
		return NULL;
	if (map)
		rest->autos = map->autos;
	for (i = 0; map && i < map->n; i++)
		if (!sanx_nodemap_find(less, &map->entry[i].addr))
			rest->entry[n++] = map->entry[i];
	rest->n = n;
	sanx_nodemap_index(rest);
	return rest;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_without);

/**
 * sanx_addr_travels() - may packets between nodes have this address?
 * @addr: IPv6, or IPv4 as v4-mapped
 *
 * Context: any.
 * Return: true if so; false for addresses that the node map refuses too:
 * loopback, multicast and so on.
 */
bool sanx_addr_travels(const struct in6_addr *addr)
{
	return !addr_fault(addr);
}

/* The map in use. */

static void map_keep_self(const struct sanx_nodemap *old, struct sanx_nodemap *map)
{
	unsigned int i = READ_ONCE(old->self);
	const struct sanx_nodemap_entry *e;

	if (!i)
		return;
	e = sanx_nodemap_find(map, &old->entry[i - 1].addr);
	if (e && e->node.id == old->entry[i - 1].node.id)
		map->self = 1 + (e - map->entry);
}

/**
 * sanx_nodemap_publish() - replace the map in use
 * @sn: the namespace
 * @map: a finished map, or NULL for none; owned by the namespace afterwards
 *
 * The own node stays the one that was found, if @map has the same node at that address.
 * Frees the old map after a grace period.  Readers use rcu_dereference(), which pairs
 * with the release in rcu_assign_pointer().
 *
 * Context: process, may sleep; config_mutex held, or the namespace is exiting.
 */
void sanx_nodemap_publish(struct sanx_net *sn, struct sanx_nodemap *map)
{
	struct sanx_nodemap *old = rcu_dereference_protected(sn->nodemap, true);

	if (map && old)
		map_keep_self(old, map);
	WRITE_ONCE(sn->config_seq, sn->config_seq + 1);
	rcu_assign_pointer(sn->nodemap, map);
	if (old)
		kvfree_rcu(old, rcu);
}

/**
 * sanx_node_by_addr() - find the node of a host
 * @net: the namespace
 * @addr: the host's address; IPv6, or IPv4 as v4-mapped; or that of an explicit socket
 * @info: filled if the host is found, unless NULL
 *
 * Context: any.
 * Return: true if the node map has the host.
 */
bool sanx_node_by_addr(struct net *net, const struct in6_addr *addr,
		       struct sanx_node_info *info)
{
	const struct sanx_nodemap_entry *e;

	if (sanx_addr_explicit(addr))
		return sanx_node_by_id(net, sanx_addr_node(addr), info);
	rcu_read_lock();
	e = sanx_nodemap_find(rcu_dereference(sanx_net(net)->nodemap), addr);
	if (e && info)
		*info = e->node;
	rcu_read_unlock();
	return e;
}

/**
 * sanx_node_by_id() - find a node
 * @net: the namespace
 * @id: node id
 * @info: filled with the rails of the node's first host, unless NULL
 *
 * Context: any.
 * Return: true if the node map has the node.
 */
bool sanx_node_by_id(struct net *net, u32 id, struct sanx_node_info *info)
{
	const struct sanx_nodemap_entry *e;

	rcu_read_lock();
	e = sanx_nodemap_find_id(rcu_dereference(sanx_net(net)->nodemap), id);
	if (e && info)
		*info = e->node;
	rcu_read_unlock();
	return e;
}

/**
 * sanx_node_nth() - which node is in an entry of the node map?
 * @net: the namespace
 * @i: number of the entry
 * @id: set to the node id; 0 if an entry before it has the same node
 *
 * Context: any.
 * Return: true if there is such an entry.
 */
bool sanx_node_nth(struct net *net, unsigned int i, u32 *id)
{
	const struct sanx_nodemap *map;
	bool found;

	rcu_read_lock();
	map = rcu_dereference(sanx_net(net)->nodemap);
	found = map && i < map->n;
	if (found) {
		*id = map->entry[i].node.id;
		if (sanx_nodemap_find_id(map, *id) != &map->entry[i])
			*id = 0;
	}
	rcu_read_unlock();
	return found;
}

/**
 * sanx_node_has_addr() - does an address belong to a node?
 * @net: the namespace
 * @id: node id
 * @addr: the address
 *
 * Context: any.
 * Return: true if the node map gives the address to that node.
 */
bool sanx_node_has_addr(struct net *net, u32 id, const struct in6_addr *addr)
{
	struct sanx_node_info info;

	return sanx_node_by_addr(net, addr, &info) && info.id == id;
}

static u32 map_rail_node(struct net *net, u32 id, enum sanx_wire_kind kind,
			 const struct in6_addr *addr)
{
	u32 has;

	rcu_read_lock();
	has = sanx_nodemap_rail_node(rcu_dereference(sanx_net(net)->nodemap),
				     id, kind, addr);
	rcu_read_unlock();
	return has;
}

/**
 * sanx_rail_node() - which node has a rail?
 * @net: the namespace
 * @kind: kind of the rail
 * @addr: its address
 *
 * Context: any.
 * Return: its id, of one of them if several have it; 0 for none.
 */
u32 sanx_rail_node(struct net *net, enum sanx_wire_kind kind,
		   const struct in6_addr *addr)
{
	return map_rail_node(net, 0, kind, addr);
}

/**
 * sanx_node_has_rail() - is an address a rail of a node?
 * @net: the namespace
 * @id: node id
 * @kind: kind of the rail
 * @addr: the address
 *
 * Context: any.
 * Return: true if it is a rail of one of the node's hosts.
 */
bool sanx_node_has_rail(struct net *net, u32 id, enum sanx_wire_kind kind,
			const struct in6_addr *addr)
{
	return id && map_rail_node(net, id, kind, addr);
}

static bool host_is_local(struct net *net, const struct sanx_nodemap_entry *e)
{
	return sanx_addr_is_local(net, &e->addr);
}

static bool rail_is_local(struct net *net, const struct sanx_nodemap_entry *e)
{
	unsigned int i;

	for (i = 0; i < e->node.n_rails; i++)
		if (sanx_addr_is_local(net, &e->node.rail[i]))
			return true;
	return false;
}

static unsigned int map_find(struct net *net, struct sanx_nodemap *map,
			     bool (*is_local)(struct net *net,
					      const struct sanx_nodemap_entry *e))
{
	unsigned int i;

	for (i = 0; i < map->n; i++)
		if (is_local(net, &map->entry[i])) {
			WRITE_ONCE(map->self, i + 1);
			return i + 1;
		}
	return 0;
}

/*
 * Looks hosts up in the routes until one is local, and remembers it.  Addresses come and
 * go: while the host of a port without a carrier has none, the node has its other rails.
 * Return: 1 + its number, or 0.
 */
static unsigned int map_self(struct net *net, struct sanx_nodemap *map)
{
	unsigned int i = READ_ONCE(map->self);

	if (i && (host_is_local(net, &map->entry[i - 1]) ||
		  rail_is_local(net, &map->entry[i - 1])))
		return i;
	return map_find(net, map, host_is_local) ?:
	       map_find(net, map, rail_is_local);
}

/**
 * sanx_node_self() - find our own node
 * @net: the namespace
 *
 * If local addresses belong to several nodes of the map, it stays the one that was
 * found first, as long as its address or one of its rails is local.
 *
 * Context: any.
 * Return: the node id of a host in the map with a local address, or rail; or 0.
 */
u32 sanx_node_self(struct net *net)
{
	struct sanx_nodemap *map;
	unsigned int i = 0;
	u32 id = 0;

	rcu_read_lock();
	map = rcu_dereference(sanx_net(net)->nodemap);
	if (map)
		i = map_self(net, map);
	if (i)
		id = map->entry[i - 1].node.id;
	rcu_read_unlock();
	return id;
}

/**
 * sanx_node_last_self() - find our own node, also while it has none of its addresses
 * @net: the namespace
 *
 * Context: any.
 * Return: as sanx_node_self(); if no address is local, the node that was found last, if
 * the map has it at the address where it was found; or 0.
 */
u32 sanx_node_last_self(struct net *net)
{
	u32 id = sanx_node_self(net);
	const struct sanx_nodemap *map;
	unsigned int i;

	if (id)
		return id;
	rcu_read_lock();
	map = rcu_dereference(sanx_net(net)->nodemap);
	i = map ? READ_ONCE(map->self) : 0;
	if (i)
		id = map->entry[i - 1].node.id;
	rcu_read_unlock();
	return id;
}

/**
 * sanx_nodemap_empty() - is the node map empty?
 * @net: the namespace
 *
 * Context: any.
 * Return: true if there is no map, or no host in it.
 */
bool sanx_nodemap_empty(struct net *net)
{
	const struct sanx_nodemap *map;
	bool empty;

	rcu_read_lock();
	map = rcu_dereference(sanx_net(net)->nodemap);
	empty = !map || !map->n;
	rcu_read_unlock();
	return empty;
}
