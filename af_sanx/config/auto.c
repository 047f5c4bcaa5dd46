// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes that are found by asking: which addresses may be nodes, which of them are not,
 * and how the map in use gets what was found.  Documentation/auto.rst has the whole.
 *
 * The functions above sanx_auto_on() are pure, but for the lock of the nos.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "config.h"

/* How long a no holds: the first, and the longest. */
#define NO_NS		(10ULL * NSEC_PER_SEC)
#define NO_DOUBLINGS	6
#define NO_MAX_NS	(600ULL * NSEC_PER_SEC)

/**
 * sanx_prefix_has() - has an address a prefix?
 * @prefix: the prefix
 * @addr: IPv6, or IPv4 as v4-mapped
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_prefix_has(const struct sanx_prefix *prefix,
		     const struct in6_addr *addr)
{
	return ipv6_prefix_equal(&prefix->addr, addr, prefix->len);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_prefix_has);

/**
 * sanx_auto_has() - may an address be a node that is not written?
 * @autos: of a map
 * @addr: IPv6, or IPv4 as v4-mapped
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_auto_has(const struct sanx_auto *autos, const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; i < autos->n; i++)
		if (sanx_prefix_has(&autos->prefix[i], addr))
			return sanx_addr_travels(addr);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_auto_has);

static struct sanx_no *no_find(struct sanx_nos *nos, const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; i < SANX_NOS; i++)
		if (ipv6_addr_equal(&nos->no[i].addr, addr))
			return &nos->no[i];
	return NULL;
}

/* Return: a free place, or that of the no which ends first. */
static struct sanx_no *no_place(struct sanx_nos *nos)
{
	struct sanx_no *first = &nos->no[0];
	unsigned int i;

	for (i = 0; i < SANX_NOS; i++) {
		if (ipv6_addr_any(&nos->no[i].addr))
			return &nos->no[i];
		if (nos->no[i].until < first->until)
			first = &nos->no[i];
	}
	return first;
}

/**
 * sanx_no_holds() - is an address not to be asked now?
 * @nos: what is remembered
 * @addr: the address
 * @now: ktime_get_ns()
 * @route: sanx_route_genid() of the address
 *
 * Context: process.
 * Return: true if so.
 */
bool sanx_no_holds(struct sanx_nos *nos, const struct in6_addr *addr, u64 now,
		   u32 route)
{
	struct sanx_no *no;
	bool holds;

	spin_lock(&nos->lock);
	no = no_find(nos, addr);
	if (no && no->route != route) {
		no->addr = in6addr_any;
		no = NULL;
	}
	holds = no && now < no->until;
	spin_unlock(&nos->lock);
	return holds;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_no_holds);

/**
 * sanx_no_add() - remember that an address is no node
 * @nos: what is remembered
 * @addr: the address
 * @now: ktime_get_ns()
 * @route: sanx_route_genid() of the address, from before it was asked
 * @round: nos.round from before it was asked
 *
 * If all were forgotten since, so is this: what was asked then may not hold now.
 *
 * Context: process.
 */
void sanx_no_add(struct sanx_nos *nos, const struct in6_addr *addr, u64 now,
		 u32 route, u32 round)
{
	struct sanx_no *no;

	spin_lock(&nos->lock);
	if (nos->round != round)
		goto out;
	no = no_find(nos, addr);
	if (!no) {
		no = no_place(nos);
		no->times = 0;
	}
	no->addr = *addr;
	no->route = route;
	no->until = now + min(NO_NS << no->times, NO_MAX_NS);
	if (no->times < NO_DOUBLINGS)
		no->times++;
out:
	spin_unlock(&nos->lock);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_no_add);

/**
 * sanx_no_del() - forget that an address is no node
 * @nos: what is remembered
 * @addr: the address
 *
 * Context: process.
 */
void sanx_no_del(struct sanx_nos *nos, const struct in6_addr *addr)
{
	struct sanx_no *no;

	spin_lock(&nos->lock);
	no = no_find(nos, addr);
	if (no)
		no->addr = in6addr_any;
	spin_unlock(&nos->lock);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_no_del);

/**
 * sanx_no_del_all() - forget all addresses that are no nodes
 * @nos: what is remembered
 *
 * Context: process.
 */
void sanx_no_del_all(struct sanx_nos *nos)
{
	spin_lock(&nos->lock);
	memset(nos->no, 0, sizeof(nos->no));
	nos->round++;
	spin_unlock(&nos->lock);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_no_del_all);

/**
 * sanx_auto_entry() - make an entry with the rails that a node has by itself
 * @e: filled; as written
 * @addr: address of the host
 * @id: its node id
 *
 * Context: any.
 */
void sanx_auto_entry(struct sanx_nodemap_entry *e, const struct in6_addr *addr,
		     u32 id)
{
	*e = (struct sanx_nodemap_entry) {
		.addr		= *addr,
		.node.id	= id,
		.node.n_rails	= 2,
		.node.rail	= { *addr, *addr },
		.node.kind	= { SANX_WIRE_RDMA, SANX_WIRE_TCP },
	};
}
EXPORT_SYMBOL_IF_KUNIT(sanx_auto_entry);

static unsigned int found_count(const struct sanx_nodemap *map)
{
	unsigned int i, n = 0;

	for (i = 0; i < map->n; i++)
		n += !!map->entry[i].node.found;
	return n;
}

/**
 * sanx_nodemap_fault() - may what was found become an entry of a map?
 * @map: a finished map
 * @e: the entry of another node
 *
 * Context: any; the caller keeps @map.
 * Return: 0; -EALREADY if the map has that host; -ENOENT if no prefix covers the host
 * or one of its rails; -EEXIST if the id is that of this or of another node; -ENOSPC
 * if too many were found.
 */
int sanx_nodemap_fault(const struct sanx_nodemap *map,
		       const struct sanx_nodemap_entry *e)
{
	const struct sanx_nodemap_entry *same = sanx_nodemap_find(map, &e->addr);
	unsigned int i;

	if (same)
		return same->node.id == e->node.id ? -EALREADY : -EEXIST;
	if (!sanx_auto_has(&map->autos, &e->addr))
		return -ENOENT;
	for (i = 0; i < e->node.n_rails; i++)
		if (!sanx_auto_has(&map->autos, &e->node.rail[i]))
			return -ENOENT;
	if (e->node.id == map->autos.self ||
	    sanx_nodemap_find_id(map, e->node.id))
		return -EEXIST;
	return found_count(map) >= SANX_FOUND_MAX ? -ENOSPC : 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_fault);

/* Does what was found in an old map stay in a new one? */
static bool found_stays(const struct sanx_nodemap *old,
			const struct sanx_nodemap *map,
			const struct sanx_nodemap_entry *e, bool self_written)
{
	unsigned int i;

	if (!e->node.found || sanx_nodemap_find(map, &e->addr) ||
	    sanx_nodemap_find_id(map, e->node.id))
		return false;
	/* Our own: it is made again when the id that we have now is used. */
	if (e->node.id == old->autos.self &&
	    (self_written || map->autos.self != old->autos.self))
		return false;
	for (i = 0; i < e->node.n_rails; i++)
		if (!sanx_auto_has(&map->autos, &e->node.rail[i]))
			return false;
	return sanx_auto_has(&map->autos, &e->addr);
}

/**
 * sanx_nodemap_carry() - take what was found into a new map
 * @old: the map in use, or NULL
 * @map: a finished map
 * @self_written: @map has an address of this node
 *
 * Context: process, may sleep.
 * Return: a new finished map, owned by the caller; or NULL without memory or for more
 * than SANX_NODEMAP_MAX hosts.  @old and @map stay the caller's.
 */
struct sanx_nodemap *sanx_nodemap_carry(const struct sanx_nodemap *old,
					const struct sanx_nodemap *map,
					bool self_written)
{
	struct sanx_nodemap *found, *sum;
	unsigned int i, n = 0;

	found = sanx_nodemap_alloc(old ? found_count(old) : 0);
	if (!found)
		return NULL;
	for (i = 0; old && i < old->n; i++)
		if (found_stays(old, map, &old->entry[i], self_written))
			found->entry[n++] = old->entry[i];
	found->n = n;
	found->autos = map->autos;
	sum = sanx_nodemap_merge(found, map);
	kvfree(found);
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_carry);

/* The map in use. */

/**
 * sanx_auto_on() - are nodes found by asking?
 * @net: the namespace
 *
 * Context: any.
 * Return: true if the node map has a prefix.
 */
bool sanx_auto_on(struct net *net)
{
	return sanx_auto_self(net);
}

/**
 * sanx_auto_self() - the node id that this machine has by itself
 * @net: the namespace
 *
 * Context: any.
 * Return: the id, or 0 if no nodes are found by asking.
 */
u32 sanx_auto_self(struct net *net)
{
	const struct sanx_nodemap *map;
	u32 id = 0;

	rcu_read_lock();
	map = rcu_dereference(sanx_net(net)->nodemap);
	if (map && map->autos.n)
		id = map->autos.self;
	rcu_read_unlock();
	return id;
}

/**
 * sanx_auto_covers() - may an address be a node that is not written?
 * @net: the namespace
 * @addr: IPv6, or IPv4 as v4-mapped
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_auto_covers(struct net *net, const struct in6_addr *addr)
{
	const struct sanx_nodemap *map;
	bool covers;

	rcu_read_lock();
	map = rcu_dereference(sanx_net(net)->nodemap);
	covers = map && sanx_auto_has(&map->autos, addr);
	rcu_read_unlock();
	return covers;
}

static struct sanx_nos *auto_nos(struct net *net)
{
	/* Pairs with the release in auto_make_nos(). */
	return smp_load_acquire(&sanx_net(net)->nos);
}

/**
 * sanx_auto_wants() - is an address to be asked now?
 * @net: the namespace
 * @addr: an address that the node map does not have
 *
 * Context: process.
 * Return: true if so.
 */
bool sanx_auto_wants(struct net *net, const struct in6_addr *addr)
{
	struct sanx_nos *nos = auto_nos(net);

	return nos && sanx_auto_covers(net, addr) &&
	       !sanx_no_holds(nos, addr, ktime_get_ns(),
			      sanx_route_genid(net, addr));
}

/**
 * sanx_auto_round() - for sanx_auto_no(), before an address is asked
 * @net: the namespace
 *
 * Context: process.
 * Return: how often all addresses that are no nodes were forgotten.
 */
u32 sanx_auto_round(struct net *net)
{
	struct sanx_nos *nos = auto_nos(net);
	u32 round = 0;

	if (nos) {
		spin_lock(&nos->lock);
		round = nos->round;
		spin_unlock(&nos->lock);
	}
	return round;
}

/**
 * sanx_auto_no() - an address is no node
 * @net: the namespace
 * @addr: the address
 * @route: sanx_route_genid() of the address, from before it was asked
 * @round: sanx_auto_round() from before it was asked
 *
 * Context: process.
 */
void sanx_auto_no(struct net *net, const struct in6_addr *addr, u32 route,
		  u32 round)
{
	struct sanx_nos *nos = auto_nos(net);

	if (nos)
		sanx_no_add(nos, addr, ktime_get_ns(), route, round);
}

/**
 * sanx_auto_forget() - an address that was no node may be one now
 * @net: the namespace
 * @addr: the address
 *
 * Context: process.
 */
void sanx_auto_forget(struct net *net, const struct in6_addr *addr)
{
	struct sanx_nos *nos = auto_nos(net);

	if (nos)
		sanx_no_del(nos, addr);
}

/**
 * sanx_auto_forget_all() - what makes an address a node, or none, has changed
 * @sn: the namespace
 *
 * The caller has made the change visible: who asks after this asks with it.
 *
 * Context: process.
 */
void sanx_auto_forget_all(struct sanx_net *sn)
{
	struct sanx_nos *nos = auto_nos(sn->net);

	if (nos)
		sanx_no_del_all(nos);
}

/* Makes the table of nos, if there is none. */
static int auto_make_nos(struct sanx_net *sn)
{
	struct sanx_nos *nos;

	if (sn->nos)
		return 0;
	nos = kzalloc(sizeof(*nos), GFP_KERNEL_ACCOUNT);
	if (!nos)
		return -ENOMEM;
	spin_lock_init(&nos->lock);
	/* It is set up before it is seen.  Pairs with the load in auto_nos(). */
	smp_store_release(&sn->nos, nos);
	return 0;
}

static bool self_written(struct net *net, const struct sanx_nodemap *map)
{
	unsigned int i;

	for (i = 0; i < map->n; i++)
		if (sanx_addr_is_local(net, &map->entry[i].addr))
			return true;
	return false;
}

/**
 * sanx_auto_load() - complete a map that is loaded by what was found
 * @sn: the namespace
 * @map: a finished map; on success it may be replaced by another
 * @why: on failure, a message that describes the error; NULL for -ENOMEM
 *
 * Context: process, may sleep; config_mutex held.
 * Return: 0, -EEXIST or -ENOMEM.
 */
int sanx_auto_load(struct sanx_net *sn, struct sanx_nodemap **map,
		   const char **why)
{
	struct sanx_nodemap *old, *sum;
	bool self;

	*why = NULL;
	if (!(*map)->autos.n)
		return 0;
	self = self_written(sn->net, *map);
	if (!self && sanx_nodemap_find_id(*map, (*map)->autos.self)) {
		*why = "a host has the node id that this machine has by itself, expected another";
		return -EEXIST;
	}
	if (auto_make_nos(sn))
		return -ENOMEM;
	old = rcu_dereference_protected(sn->nodemap,
					lockdep_is_held(&sn->config_mutex));
	sum = sanx_nodemap_carry(old, *map, self);
	if (!sum)
		return -ENOMEM;
	kvfree(*map);
	*map = sum;
	return 0;
}

/**
 * sanx_auto_check() - may what was found become an entry of the node map?
 * @net: the namespace
 * @e: the entry of another node
 *
 * Context: any.
 * Return: as sanx_nodemap_fault().
 */
int sanx_auto_check(struct net *net, const struct sanx_nodemap_entry *e)
{
	const struct sanx_nodemap *map;
	int err = -ENOENT;

	rcu_read_lock();
	map = rcu_dereference(sanx_net(net)->nodemap);
	if (map)
		err = sanx_nodemap_fault(map, e);
	rcu_read_unlock();
	return err;
}

/* Our own entries have the same id, which others must not have. */
static int auto_fault(struct sanx_net *sn, const struct sanx_nodemap *map,
		      const struct sanx_nodemap_entry *e)
{
	int err = sanx_nodemap_fault(map, e);

	if (err != -EEXIST || !sanx_addr_is_local(sn->net, &e->addr))
		return err;
	return sanx_nodemap_find(map, &e->addr) ? -EALREADY : 0;
}

/**
 * sanx_auto_add() - publish a node that was found
 * @sn: the namespace
 * @e: its entry; node.found is set, and the rest was checked but for what depends on
 *	the map
 *
 * Context: process, may sleep; config_mutex held.
 * Return: 0, and the node map has changed; as sanx_nodemap_fault(); or -ENOMEM.
 */
int sanx_auto_add(struct sanx_net *sn, const struct sanx_nodemap_entry *e)
{
	struct sanx_nodemap *map, *one, *sum;
	int err;

	map = rcu_dereference_protected(sn->nodemap,
					lockdep_is_held(&sn->config_mutex));
	if (!map)
		return -ENOENT;
	err = auto_fault(sn, map, e);
	if (err)
		return err;
	one = sanx_nodemap_alloc(1);
	if (!one)
		return -ENOMEM;
	one->entry[0] = *e;
	sum = sanx_nodemap_merge(map, one);
	kvfree(one);
	if (!sum)
		return -ENOMEM;
	sanx_nodemap_publish(sn, sum);
	return 0;
}

/**
 * sanx_auto_drop() - a node that was found is not there any more
 * @sn: the namespace
 * @addr: its address
 *
 * Context: process, may sleep; config_mutex held.
 * Return: 0, and the node map has changed; -ENOENT if it was not found, or -ENOMEM.
 */
int sanx_auto_drop(struct sanx_net *sn, const struct in6_addr *addr)
{
	const struct sanx_nodemap_entry *e;
	struct sanx_nodemap *map, *one, *rest;
	unsigned int missing;

	map = rcu_dereference_protected(sn->nodemap,
					lockdep_is_held(&sn->config_mutex));
	e = sanx_nodemap_find(map, addr);
	if (!e || !e->node.found)
		return -ENOENT;
	one = sanx_nodemap_alloc(1);
	if (!one)
		return -ENOMEM;
	one->entry[0] = *e;
	rest = sanx_nodemap_without(map, one, &missing);
	kvfree(one);
	if (!rest)
		return -ENOMEM;
	sanx_nodemap_publish(sn, rest);
	return 0;
}

/**
 * sanx_auto_addr() - where was a node found?
 * @net: the namespace
 * @id: its node id
 * @addr: set to its address
 *
 * Context: any.
 * Return: true if it was found by asking.
 */
bool sanx_auto_addr(struct net *net, u32 id, struct in6_addr *addr)
{
	const struct sanx_nodemap_entry *e;
	bool found;

	rcu_read_lock();
	e = sanx_nodemap_find_id(rcu_dereference(sanx_net(net)->nodemap), id);
	found = e && e->node.found;
	if (found)
		*addr = e->addr;
	rcu_read_unlock();
	return found;
}
