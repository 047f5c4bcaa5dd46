// SPDX-License-Identifier: GPL-2.0
/* Memory that the wire accesses: keys, bounds and when it may. */
#include "wire.h"

#define KEYS	256

static struct list_head maps[KEYS];
static u32 next_key;

static struct list_head *maps_of(u32 key)
{
	struct list_head *h = &maps[key % KEYS];

	if (!h->next)
		INIT_LIST_HEAD(h);
	return h;
}

/* A registration takes more than one allocation. */
static struct wire_map *map_alloc(void)
{
	void *p;
	int i;

	for (i = 0; i < 3; i++) {
		p = kmalloc(1, GFP_KERNEL);
		if (!p)
			return NULL;
		kfree(p);
	}
	return kzalloc(sizeof(struct wire_map), GFP_KERNEL);
}

/**
 * wire_map() - sanx_wire_ops.map
 */
int wire_map(struct sanx_wire_link *wl, struct sanx_wire_map *map, void *buf,
	     u32 size, u64 addr)
{
	struct wire_end *e = wire_end_of(wl);
	struct wire_map *m = map_alloc();

	if (size > e->caps.map_max && !sim_rails_differ())
		sim_fail("%u bytes are mapped, more than %llu", size,
			 e->caps.map_max);
	if (size > e->caps.map_max) {
		kfree(m);
		return -EINVAL;
	}
	sim_assert(is_power_of_2(size) && !offset_in_page(addr));
	sim_assert(!offset_in_page(buf));
	if (!m)
		return -ENOMEM;
	m->end = e;
	m->map = map;
	m->buf = buf;
	m->size = size;
	m->addr = addr;
	m->key = ++next_key;
	if (sim_plan.sync && e->kind == SANX_WIRE_RDMA)
		m->shadow = kzalloc(size, GFP_KERNEL | __GFP_NOFAIL);
	list_add(&m->list, maps_of(m->key));
	map->priv = m;
	map->addr = addr;
	map->key = m->key;
	map->sync = m->shadow;
	map->enabled = false;
	return 0;
}

/* Messages that read @m must have completed, unless the wire has stopped. */
static void check_unused(const struct wire_map *m)
{
	const struct wire_end *e = m->end;
	const struct wire_msg *q;
	u64 i;

	if (e->stopped)
		return;
	for (i = e->head; i < e->tail; i++) {
		q = &e->q[i % WIRE_QUEUE];
		if (i >= e->exec && q->enable == m)
			sim_fail("memory is unmapped that will be enabled");
	}
}

/**
 * wire_unmap() - sanx_wire_ops.unmap
 */
void wire_unmap(struct sanx_wire_map *map)
{
	struct wire_map *m = map->priv;

	sim_may_sleep("unmap()");
	check_unused(m);
	list_del(&m->list);
	kfree(m->shadow);
	kfree(m);
}

/**
 * wire_sync() - sanx_wire_ops.sync
 */
void wire_sync(const struct sanx_wire_map *map, u32 pos, u32 len)
{
	const struct wire_map *m = map->priv;

	sim_assert(m->shadow && pos + len <= m->size);
	memcpy(m->buf + pos, m->shadow + pos, len);
}

/**
 * wire_map_page() - sanx_wire_ops.map_page
 */
int wire_map_page(struct sanx_wire_link *wl, struct sanx_wire_page *page, unsigned int order)
{
	sim_assert(page->page->refs > 0 && page->page->order == order);
	if (sim_chance(4 * sim_plan.refuse))
		return -ENOMEM;
	page->addr = (u64)page->page;
	return 0;
}

/* Does a write read the memory? */
static bool reads(const struct sanx_wire_write *w, const struct sanx_wire_page *page)
{
	const struct sanx_wire_page *p;
	u32 done, n;
	size_t pos;

	for (done = 0; done < w->len; done += n) {
		p = sanx_wire_piece(w, done, &pos, &n);
		if (p == page)
			return true;
	}
	return false;
}

/**
 * wire_unmap_page() - sanx_wire_ops.unmap_page
 */
void wire_unmap_page(struct sanx_wire_link *wl, struct sanx_wire_page *page,
		     unsigned int order)
{
	const struct wire_end *e = wire_end_of(wl);
	const struct wire_msg *q;
	u64 i;
	int k;

	sim_assert(page->addr == (u64)page->page);
	page->addr = 0;
	for (i = e->head; i < e->tail && !e->stopped; i++) {
		q = &e->q[i % WIRE_QUEUE];
		for (k = 0; k < q->m.n_writes && !q->data; k++)
			if (reads(&q->m.write[k], page))
				sim_fail("memory is given back that a message reads");
	}
}

/**
 * wire_target() - where a write of the peer goes
 * @e: the end that is written to
 * @w: the write
 */
u8 *wire_target(struct wire_end *e, const struct sanx_wire_write *w)
{
	struct wire_map *m;
	u64 pos;

	list_for_each_entry(m, maps_of(w->key), list) {
		if (m->key != w->key)
			continue;
		pos = w->to - m->addr;
		if (m->end != e || !m->enabled ||
		    pos >= m->size || w->len > m->size - pos)
			break;
		return (m->shadow ?: m->buf) + pos;
	}
	return NULL;
}

unsigned int wire_maps(const struct wire_end *e)
{
	struct wire_map *m;
	unsigned int i, n = 0;

	for (i = 0; i < KEYS; i++)
		list_for_each_entry(m, maps_of(i), list)
			n += m->end == e;
	return n;
}
