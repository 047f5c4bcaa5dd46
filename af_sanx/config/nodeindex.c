// SPDX-License-Identifier: GPL-2.0
/*
 * Indexes of a node map: its hosts by node id, and their rails.
 *
 * A node map has up to SANX_NODEMAP_MAX hosts, and is asked for a node or for a rail with
 * each link.  So it has two lists beside its hosts, made with it: the
 * numbers of the hosts in the order of their node ids, and the numbers of all rails in the
 * order of their kinds and addresses.  Everything here is pure.
 */
#include <linux/export.h>
#include <linux/sort.h>

#include "config.h"

static int id_cmp(const void *a, const void *b, const void *priv)
{
	const struct sanx_nodemap *map = priv;
	u32 i = *(const u32 *)a, k = *(const u32 *)b;
	u32 x = map->entry[i].node.id, y = map->entry[k].node.id;

	if (x != y)
		return x < y ? -1 : 1;
	/* What is written of a node comes before what was found of it. */
	if (!map->entry[i].node.found != !map->entry[k].node.found)
		return map->entry[i].node.found ? 1 : -1;
	return i < k ? -1 : i > k;
}

static int rail_order(enum sanx_wire_kind kind, const struct in6_addr *addr,
		      enum sanx_wire_kind kind2, const struct in6_addr *addr2)
{
	if (kind != kind2)
		return kind < kind2 ? -1 : 1;
	return memcmp(addr, addr2, sizeof(*addr));
}

/* Compares rail number @nr of a map, SANX_NODE_RAILS for each host, with another. */
static int rail_cmp_with(const struct sanx_nodemap *map, u32 nr,
			 enum sanx_wire_kind kind, const struct in6_addr *addr)
{
	const struct sanx_node_info *node =
		&map->entry[nr / SANX_NODE_RAILS].node;
	u32 r = nr % SANX_NODE_RAILS;

	return rail_order(node->kind[r], &node->rail[r], kind, addr);
}

static int rail_cmp(const void *a, const void *b, const void *priv)
{
	const struct sanx_nodemap *map = priv;
	u32 nr = *(const u32 *)b, r = nr % SANX_NODE_RAILS;
	const struct sanx_node_info *node =
		&map->entry[nr / SANX_NODE_RAILS].node;

	return rail_cmp_with(map, *(const u32 *)a, node->kind[r], &node->rail[r]);
}

/**
 * sanx_nodemap_index() - make the indexes of a map
 * @map: a map that is sorted, without duplicates
 *
 * Context: process, may sleep.
 */
void sanx_nodemap_index(struct sanx_nodemap *map)
{
	unsigned int i, r;

	map->n_rails = 0;
	for (i = 0; i < map->n; i++) {
		map->by_id[i] = i;
		for (r = 0; r < map->entry[i].node.n_rails; r++)
			map->by_rail[map->n_rails++] = SANX_NODE_RAILS * i + r;
	}
	sort_r(map->by_id, map->n, sizeof(map->by_id[0]), id_cmp, NULL, map);
	sort_r(map->by_rail, map->n_rails, sizeof(map->by_rail[0]), rail_cmp,
	       NULL, map);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_index);

/* Return: where the hosts of a node begin in by_id, if it has any. */
static unsigned int first_of(const struct sanx_nodemap *map, u32 id)
{
	unsigned int from = 0, to = map ? map->n : 0, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (map->entry[map->by_id[mid]].node.id < id)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/**
 * sanx_nodemap_find_id() - look up a node
 * @map: a finished map, or NULL
 * @id: node id
 *
 * Context: any; the caller keeps @map.
 * Return: the entry of the node's first host, a written one if there is any; or NULL.
 */
const struct sanx_nodemap_entry *
sanx_nodemap_find_id(const struct sanx_nodemap *map, u32 id)
{
	unsigned int from = first_of(map, id);

	if (!map || from == map->n || map->entry[map->by_id[from]].node.id != id)
		return NULL;
	return &map->entry[map->by_id[from]];
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_find_id);

/**
 * sanx_nodemap_node_in() - has a node an address of a network?
 * @map: a finished map, or NULL
 * @id: the node
 * @prefix: the network's prefix
 * @len: bits of it
 *
 * Context: any; the caller keeps @map.
 * Return: true if a host of the node is there.
 */
bool sanx_nodemap_node_in(const struct sanx_nodemap *map, u32 id,
			  const struct in6_addr *prefix, unsigned int len)
{
	const struct sanx_nodemap_entry *e;
	unsigned int i;

	for (i = first_of(map, id); map && i < map->n; i++) {
		e = &map->entry[map->by_id[i]];
		if (e->node.id != id)
			break;
		if (ipv6_prefix_equal(&e->addr, prefix, len))
			return true;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_node_in);

/**
 * sanx_nodemap_rail_node() - which node has a rail?
 * @map: a finished map, or NULL
 * @id: the node that has it, or 0 for any
 * @kind: kind of the rail
 * @addr: the address
 *
 * Context: any; the caller keeps @map.
 * Return: id of the node that has it as a rail of one of its hosts; 0 for none.
 */
u32 sanx_nodemap_rail_node(const struct sanx_nodemap *map, u32 id,
			   enum sanx_wire_kind kind, const struct in6_addr *addr)
{
	unsigned int from = 0, to = map ? map->n_rails : 0, mid;
	u32 nr, has;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (rail_cmp_with(map, map->by_rail[mid], kind, addr) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	/* The hosts of a node often share their rails. */
	for (; map && from < map->n_rails; from++) {
		nr = map->by_rail[from];
		if (rail_cmp_with(map, nr, kind, addr))
			return 0;
		has = map->entry[nr / SANX_NODE_RAILS].node.id;
		if (!id || has == id)
			return has;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_nodemap_rail_node);
