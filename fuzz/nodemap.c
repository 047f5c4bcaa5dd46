// SPDX-License-Identifier: GPL-2.0
/*
 * The node map as the kernel takes it (af_sanx/config/nodemap.c).
 *
 * The input makes two lists of hosts: for each a byte with the number of rails, a
 * byte with the node id, and addresses, of which most are few, so that hosts meet.
 * The netlink target has the attributes that such lists come in.
 *
 * A map is accepted exactly if a naive look at each pair of hosts finds nothing
 * wrong.  An accepted map is sorted, has each host with its node, and no other
 * host.  Hosts that are added and removed are compared with naive lists too.
 */
#include "config/config.h"
#include "fuzz/fuzz.h"
#include "sim/shim/report.h"

#define HOSTS	12

static void take_addr(struct fuzz_input *in, struct in6_addr *addr)
{
	static const u8 first[][16] = {
		{ 0xfd, 0x77 }, { 0x20, 0x01 }, { 0xfe, 0x80 }, { 0xff, 0x02 }, { 0 },
		{ [10] = 0xff, 0xff, 10 }, { [10] = 0xff, 0xff, 192 }, { [10] = 0xff, 0xff },
		{ [10] = 0xff, 0xff, 127 }, { [10] = 0xff, 0xff, 255, 255, 255, 255 },
		{ [10] = 0xff, 0xff, 224 },
	};
	u8 which = fuzz_u8(in);

	if (which == 255) {
		fuzz_bytes(in, addr, sizeof(*addr));
		return;
	}
	memcpy(addr, first[which % 16 < ARRAY_SIZE(first) ? which % 16 : 0], sizeof(*addr));
	addr->s6_addr[15] |= which / 16;
}

/* An address of many is over TCP, so that the inputs of before keep their meaning. */
static void take_rail(struct fuzz_input *in, struct sanx_node_info *node, unsigned int r)
{
	take_addr(in, &node->rail[r]);
	node->kind[r] = node->rail[r].s6_addr[15] & 1 ? SANX_WIRE_TCP : SANX_WIRE_RDMA;
}

static struct sanx_nodemap *take_map(struct fuzz_input *in)
{
	unsigned int i, r, n = fuzz_u8(in) % (HOSTS + 1);
	struct sanx_nodemap *map = sanx_nodemap_alloc(n);
	struct sanx_nodemap_entry *e;

	for (i = 0; i < n; i++) {
		e = &map->entry[i];
		e->node.n_rails = fuzz_u8(in) % (SANX_NODE_RAILS + 1);
		e->node.id = fuzz_u8(in) % 8;
		take_addr(in, &e->addr);
		for (r = 0; r < e->node.n_rails; r++)
			take_rail(in, &e->node, r);
	}
	return map;
}

static struct sanx_nodemap *copy(const struct sanx_nodemap *map)
{
	struct sanx_nodemap *same = sanx_nodemap_alloc(map->n);

	memcpy(same->entry, map->entry, map->n * sizeof(map->entry[0]));
	return same;
}

/* From documentation: unicast, and not only on one node or link. */
static bool addr_ok(const struct in6_addr *addr)
{
	static const u8 mapped[12] = { [10] = 0xff, 0xff };
	const u8 *a = addr->s6_addr;
	unsigned int i, sum = 0;

	if (!memcmp(a, mapped, sizeof(mapped)))
		return a[12] && a[12] != 127 && a[12] / 16 != 14 &&
		       (a[12] & a[13] & a[14] & a[15]) != 255;
	for (i = 0; i < 15; i++)
		sum |= a[i];
	return (sum || a[15] > 1) && a[0] != 0xff && (a[0] != 0xfe || a[1] / 64 != 2);
}

static unsigned int rdma_rails(const struct sanx_node_info *node)
{
	unsigned int r, n = 0;

	for (r = 0; r < node->n_rails; r++)
		n += node->kind[r] == SANX_WIRE_RDMA;
	return n;
}

static bool rails_differ(const struct sanx_node_info *node)
{
	unsigned int r, k;

	for (r = 1; r < node->n_rails; r++)
		for (k = 0; k < r; k++)
			if (node->kind[k] == node->kind[r] &&
			    !memcmp(&node->rail[k], &node->rail[r], sizeof(node->rail[k])))
				return false;
	return true;
}

static bool entry_ok(const struct sanx_nodemap_entry *e)
{
	unsigned int r;

	for (r = 0; r < e->node.n_rails; r++)
		if (!addr_ok(&e->node.rail[r]))
			return false;
	return e->node.id && addr_ok(&e->addr) && rails_differ(&e->node) &&
	       (e->node.n_rails < SANX_NODE_RAILS || rdma_rails(&e->node));
}

/* No RDMA rail says the same as the host's own address in front of the others. */
static struct sanx_node_info node_of(const struct sanx_nodemap_entry *e)
{
	struct sanx_node_info node = { .id = e->node.id };
	unsigned int r;

	if (rdma_rails(&e->node))
		return e->node;
	node.rail[node.n_rails++] = e->addr;
	for (r = 0; r < e->node.n_rails; r++) {
		node.kind[node.n_rails] = e->node.kind[r];
		node.rail[node.n_rails++] = e->node.rail[r];
	}
	return node;
}

static bool same_node(const struct sanx_node_info *a, const struct sanx_node_info *b)
{
	return a->id == b->id && a->n_rails == b->n_rails &&
	       !memcmp(a->rail, b->rail, a->n_rails * sizeof(a->rail[0])) &&
	       !memcmp(a->kind, b->kind, a->n_rails * sizeof(a->kind[0]));
}

/* Do two hosts say different things of one address? */
static bool clash(const struct sanx_nodemap_entry *a, const struct sanx_nodemap_entry *b)
{
	struct sanx_node_info x = node_of(a), y = node_of(b);

	return ipv6_addr_equal(&a->addr, &b->addr) && !same_node(&x, &y);
}

static bool clashes_before(const struct sanx_nodemap *map, unsigned int i)
{
	unsigned int k;

	for (k = 0; k < i; k++)
		if (clash(&map->entry[k], &map->entry[i]))
			return true;
	return false;
}

/* What sanx_nodemap_finish() has to return for @map. */
static int naive_verdict(const struct sanx_nodemap *map)
{
	unsigned int i;

	for (i = 0; i < map->n; i++)
		if (!entry_ok(&map->entry[i]))
			return -EINVAL;
	for (i = 0; i < map->n; i++)
		if (clashes_before(map, i))
			return -EEXIST;
	return 0;
}

static const struct sanx_nodemap_entry *naive_find(const struct sanx_nodemap *map,
						   const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; map && i < map->n; i++)
		if (ipv6_addr_equal(&map->entry[i].addr, addr))
			return &map->entry[i];
	return NULL;
}

/* The indexes find what a look at all of the map finds. */
static void check_indexed(const struct sanx_nodemap *map)
{
	const struct sanx_node_info *node;
	const struct sanx_nodemap_entry *e;
	unsigned int i, r;

	fuzz_assert(!sanx_nodemap_find_id(map, 0));
	for (i = 0; i < map->n; i++) {
		node = &map->entry[i].node;
		e = sanx_nodemap_find_id(map, node->id);
		fuzz_assert(e && e <= &map->entry[i] && e->node.id == node->id);
		for (r = 0; r < node->n_rails; r++) {
			fuzz_assert(sanx_nodemap_rail_node(map, node->id, node->kind[r],
							   &node->rail[r]) == node->id);
			fuzz_assert(!sanx_nodemap_rail_node(map, 99, node->kind[r],
							    &node->rail[r]));
		}
	}
}

/* @map has what the hosts of @given say, and what is not in @given it has not. */
static void check_has(const struct sanx_nodemap *map, const struct sanx_nodemap *given)
{
	const struct sanx_nodemap_entry *e;
	struct sanx_node_info node;
	unsigned int i;

	for (i = 0; given && i < given->n; i++) {
		node = node_of(&given->entry[i]);
		e = sanx_nodemap_find(map, &given->entry[i].addr);
		fuzz_assert(e && same_node(&e->node, &node));
	}
}

static void check_sorted(const struct sanx_nodemap *map)
{
	unsigned int i;

	for (i = 1; i < map->n; i++)
		fuzz_assert(memcmp(&map->entry[i - 1].addr, &map->entry[i].addr,
				   sizeof(map->entry[i].addr)) < 0);
	for (i = 0; i < map->n; i++)
		fuzz_assert(map->entry[i].node.n_rails);
	check_indexed(map);
}

/* Return: the finished map, or NULL if it was refused. */
static struct sanx_nodemap *finish(struct sanx_nodemap *map)
{
	struct sanx_nodemap *given = copy(map);
	const char *why = NULL;
	unsigned int bad = ~0U, i;
	int err = sanx_nodemap_finish(map, &bad, &why);

	fuzz_assert(err == naive_verdict(given));
	if (err) {
		fuzz_assert(why && bad < given->n);
		fuzz_assert(err == -EINVAL ? !entry_ok(&given->entry[bad]) :
					     clashes_before(given, bad));
		kvfree(map);
		map = NULL;
	} else {
		check_sorted(map);
		check_has(map, given);
		for (i = 0; i < map->n; i++)
			fuzz_assert(naive_find(given, &map->entry[i].addr));
	}
	kvfree(given);
	return map;
}

static void try_merge(const struct sanx_nodemap *map, const struct sanx_nodemap *more)
{
	struct sanx_nodemap *sum = sanx_nodemap_merge(map, more);
	const struct sanx_nodemap_entry *e, *old;
	unsigned int i, n = more->n;

	check_sorted(sum);
	check_has(sum, more);
	for (i = 0; map && i < map->n; i++) {
		old = &map->entry[i];
		e = sanx_nodemap_find(sum, &old->addr);
		fuzz_assert(e);
		if (naive_find(more, &old->addr))
			continue;
		fuzz_assert(same_node(&e->node, &old->node));
		n++;
	}
	fuzz_assert(sum->n == n);
	kvfree(sum);
}

static void try_without(const struct sanx_nodemap *map, const struct sanx_nodemap *less)
{
	unsigned int missing = ~0U, i, n = 0;
	struct sanx_nodemap *rest = sanx_nodemap_without(map, less, &missing);

	if (IS_ERR(rest)) {
		fuzz_assert(PTR_ERR(rest) == -ENOENT && missing < less->n);
		fuzz_assert(!naive_find(map, &less->entry[missing].addr));
		return;
	}
	for (i = 0; i < less->n; i++)
		fuzz_assert(naive_find(map, &less->entry[i].addr));
	for (i = 0; map && i < map->n; i++)
		n += !naive_find(less, &map->entry[i].addr);
	fuzz_assert(rest->n == n);
	check_sorted(rest);
	check_has(map, rest);
	kvfree(rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct sanx_nodemap *a, *b;

	sim_abort = true;
	a = finish(take_map(&in));
	b = finish(take_map(&in));
	if (b) {
		try_merge(a, b);
		try_merge(b, b);
		try_without(a, b);
		try_without(b, b);
	}
	kvfree(a);
	kvfree(b);
	fuzz_assert(!sim_mem_live());
	return 0;
}
