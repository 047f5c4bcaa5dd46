// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the peer of a link writes.
 *
 * The keys of a link name memory of its own only, and what arrives is copied under the
 * lock of the sock.  So who takes memory out of tlink.maps under that lock knows that
 * nothing is written there any more.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "tcp_priv.h"

/* Tries to find a key that is not used. */
#define KEY_TRIES	16

static int map_publish(struct tlink_map *m)
{
	int i, err = -EBUSY;

	for (i = 0; i < KEY_TRIES && err == -EBUSY; i++) {
		m->key = get_random_u32() ?: 1;
		err = xa_insert_bh(&m->tl->maps, m->key, m, GFP_KERNEL);
	}
	return err;
}

/* sanx_wire_ops.map. */
int tlink_map(struct sanx_wire_link *wl, struct sanx_wire_map *map, void *buf,
	      u32 size, u64 addr)
{
	struct tlink_map *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int err;

	if (!m)
		return -ENOMEM;
	m->tl = tlink_of(wl);
	m->buf = buf;
	m->size = size;
	m->addr = addr;
	err = map_publish(m);
	if (err) {
		kfree(m);
		return err;
	}
	map->priv = m;
	map->addr = addr;
	map->key = m->key;
	map->sync = false;
	return 0;
}

/* sanx_wire_ops.unmap.  Takes the lock of the sock. */
void tlink_unmap(struct sanx_wire_map *map)
{
	struct tlink_map *m = map->priv;
	struct tlink *tl = m->tl;

	lock_sock(tl->sock->sk);
	xa_erase_bh(&tl->maps, m->key);
	if (tl->rx.map == m)
		tl->rx.map = NULL;
	release_sock(tl->sock->sk);
	kfree(m);
}

/* Let the peer write mapped memory. */
void tlink_enable(const struct sanx_wire_map *map)
{
	struct tlink_map *m = map->priv;

	WRITE_ONCE(m->enabled, true);
}

/*
 * Where a write of the peer goes.  The lock of the sock held.
 * Return: the first byte, of as many as the write has; NULL if the peer must not write there.
 */
u8 *tlink_target(struct tlink_map *map, const struct tlink_write *w)
{
	u64 to = le64_to_cpu(w->to);
	u32 len = le32_to_cpu(w->len);

	if (!map || !READ_ONCE(map->enabled) || to < map->addr ||
	    len > map->size || to - map->addr > map->size - len)
		return NULL;
	return map->buf + (to - map->addr);
}
