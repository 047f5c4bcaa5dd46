// SPDX-License-Identifier: GPL-2.0
/*
 * Files of hosts, as "sanxctl nodemap load" reads them (tools/sanxctl/parse.c).
 *
 * The input is the file.  Names resolve here without a network: to as many made-up
 * addresses as their length says.
 *
 * What is accepted has each address once, and gives the same when it is written as
 * "sanxctl nodemap show" does and read again.  What is refused has a message and a
 * line of the file.
 */
#include "fuzz/ctl_file.h"
#include "tools/sanxctl/addr.h"

static int resolve(const char *name, struct in6_addr *addrs, int max, const char **why)
{
	int i, n = strlen(name) % 4;

	if (*name == '-') {
		*why = "not known";
		return -1;
	}
	for (i = 0; i < n && i < max; i++) {
		addrs[i] = (struct in6_addr){ };
		addrs[i].s6_addr[0] = *name;
		addrs[i].s6_addr[15] = i;
	}
	return n;
}

static int parse(const void *text, size_t size, struct nodemap *map, struct parse_source *src)
{
	FILE *file = ctl_file(text, size);
	int rc;

	*map = (struct nodemap){ };
	*src = (struct parse_source){ .resolve = resolve };
	rc = nodemap_parse(src, file, map);
	fclose(file);
	return rc;
}

static bool same_rail(const struct rail *a, const struct rail *b)
{
	return a->tcp == b->tcp && IN6_ARE_ADDR_EQUAL(&a->addr, &b->addr);
}

static void check_node(const struct node *node)
{
	unsigned int i, k;

	fuzz_assert(node->id && node->line && node->rails <= SANX_MAX_RAILS);
	fuzz_assert(addr_is_host(&node->addr));
	for (i = 0; i < node->rails; i++) {
		fuzz_assert(addr_is_host(&node->rail[i].addr));
		for (k = 0; k < i; k++)
			fuzz_assert(!same_rail(&node->rail[i], &node->rail[k]));
	}
}

static void check_map(const struct nodemap *map)
{
	size_t i, k;

	for (i = 0; i < map->count; i++) {
		check_node(&map->node[i]);
		for (k = 0; k < i && k < 100; k++)
			fuzz_assert(!IN6_ARE_ADDR_EQUAL(&map->node[i].addr, &map->node[k].addr));
	}
}

static void write_prefix(const struct prefix *prefix, FILE *out)
{
	char addr[ADDR_STRLEN];

	fprintf(out, "auto %s/%u\n", addr_format(&prefix->addr, addr),
		prefix->len - (IN6_IS_ADDR_V4MAPPED(&prefix->addr) ? 96 : 0));
}

static char *write_map(const struct nodemap *map, size_t *size)
{
	char *text, addr[ADDR_STRLEN];
	FILE *out = open_memstream(&text, size);
	unsigned int r;
	size_t i;

	for (i = 0; i < map->count; i++) {
		fprintf(out, "%s %u", addr_format(&map->node[i].addr, addr), map->node[i].id);
		for (r = 0; r < map->node[i].rails; r++)
			fprintf(out, " %s:%s", map->node[i].rail[r].tcp ? "tcp" : "rdma",
				addr_format(&map->node[i].rail[r].addr, addr));
		fputc('\n', out);
	}
	for (i = 0; i < map->prefixes; i++)
		write_prefix(&map->prefix[i], out);
	fclose(out);
	return text;
}

static bool same_node(const struct node *a, const struct node *b)
{
	unsigned int i;

	if (!IN6_ARE_ADDR_EQUAL(&a->addr, &b->addr) || a->id != b->id || a->rails != b->rails)
		return false;
	for (i = 0; i < a->rails; i++)
		if (!same_rail(&a->rail[i], &b->rail[i]))
			return false;
	return true;
}

static void try_again(const struct nodemap *map)
{
	struct parse_source src;
	struct nodemap again;
	size_t size, i;
	char *text = write_map(map, &size);

	fuzz_assert(!parse(text, size, &again, &src));
	fuzz_assert(again.count == map->count);
	for (i = 0; i < map->count; i++)
		fuzz_assert(same_node(&map->node[i], &again.node[i]));
	fuzz_assert(nodemap_same(map, &again) && nodemap_same(&again, map));
	nodemap_free(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parse_source src;
	struct nodemap map;

	if (parse(data, size, &map, &src)) {
		ctl_check_error(&src, data, size);
	} else {
		check_map(&map);
		try_again(&map);
	}
	nodemap_free(&map);
	return 0;
}
