// SPDX-License-Identifier: GPL-2.0
/* An array by number, for a few entries. */
#include "mem.h"

struct xa_node {
	struct hlist_node	node;
	unsigned long		index;
	void			*entry;
};

static struct hlist_head *slot_of(struct xarray *xa, unsigned long index)
{
	return &xa->slot[index % ARRAY_SIZE(xa->slot)];
}

static struct xa_node *find(struct xarray *xa, unsigned long index)
{
	struct xa_node *n;

	hlist_for_each_entry(n, slot_of(xa, index), node)
		if (n->index == index)
			return n;
	return NULL;
}

void xa_init_flags(struct xarray *xa, gfp_t flags)
{
	*xa = (struct xarray){ .gfp = flags };
}

void xa_destroy(struct xarray *xa)
{
	struct xa_node *n;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(xa->slot); i++)
		while (xa->slot[i].first) {
			n = container_of(xa->slot[i].first, struct xa_node,
					 node);
			hlist_del_init(&n->node);
			kfree(n);
		}
}

void *xa_load(struct xarray *xa, unsigned long index)
{
	struct xa_node *n;

	sim_point();
	n = find(xa, index);
	return n ? n->entry : NULL;
}

/* Return: the entry with the lowest index from @index on, which is set to it, or NULL. */
void *xa_find(struct xarray *xa, unsigned long *index)
{
	struct xa_node *n, *best = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(xa->slot); i++)
		hlist_for_each_entry(n, &xa->slot[i], node)
			if (n->index >= *index && (!best || n->index < best->index))
				best = n;
	if (!best)
		return NULL;
	*index = best->index;
	return best->entry;
}

/* Of a number that is not in use. */
void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp)
{
	struct xa_node *n = kmalloc(sizeof(*n), gfp);

	if (!n)
		return ERR_PTR(-ENOMEM);
	sim_assert(!find(xa, index));
	n->index = index;
	n->entry = entry;
	hlist_add_head(&n->node, slot_of(xa, index));
	return NULL;
}

void *xa_erase_bh(struct xarray *xa, unsigned long index)
{
	struct xa_node *n;
	void *entry;

	sim_point();
	n = find(xa, index);
	if (!n)
		return NULL;
	entry = n->entry;
	hlist_del_init(&n->node);
	kfree(n);
	return entry;
}

int xa_alloc_cyclic_bh(struct xarray *xa, u32 *id, void *entry,
		       struct xa_limit limit, u32 *next, gfp_t gfp)
{
	struct xa_node *n = kmalloc(sizeof(*n), gfp);
	u32 i = max(*next, limit.min);

	if (!n)
		return -ENOMEM;
	while (find(xa, i))
		i = i == limit.max ? limit.min : i + 1;
	n->index = i;
	n->entry = entry;
	hlist_add_head(&n->node, slot_of(xa, i));
	*id = i;
	*next = i == limit.max ? limit.min : i + 1;
	return 0;
}
