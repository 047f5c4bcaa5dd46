// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of rings, and its mapping for the wire of a link.
 *
 * Each has a mapping of its own, so the peer's key gives access to this ring and
 * nothing else, and only while the connection lives.  Addresses in the mapping
 * start at a value that we choose: the peer sees neither a kernel pointer nor a
 * bus address.
 *
 * Memory and mapping have separate lifetimes: a program may still read bytes
 * that arrived when the link is long gone.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "frame_priv.h"

static u32 ring_pages(const struct sanx_lring *ring)
{
	return DIV_ROUND_UP(ring->size, PAGE_SIZE);
}

/* A compound page: mr_lose() of verbs/ keeps each of its pages by a reference. */
static void *ring_buf(u32 size, gfp_t gfp)
{
	void *buf = (void *)__get_free_pages(gfp | __GFP_NORETRY | __GFP_COMP,
					     get_order(size));

	return buf ?: __vmalloc(size, gfp);
}

static int ring_alloc(struct sanx_lring *ring, u32 size,
		      const struct sanx_conn *conn)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL | __GFP_ZERO;
	struct mem_cgroup *memcg = set_active_memcg(conn->memcg);

	/* What all programs share is charged to none. */
	if (!READ_ONCE(conn->user))
		gfp |= __GFP_ACCOUNT;
	ring->buf = ring_buf(size, gfp);
	set_active_memcg(memcg);
	if (!ring->buf)
		return -ENOMEM;
	ring->size = size;
	return 0;
}

/**
 * sanx_lring_alloc() - allocate memory for a ring
 * @ring: a ring without memory
 * @size: bytes, a power of two
 * @lc: the connection that it is for, whose memory cgroup is charged
 * @link: its link, which has a reference or a user
 * @claim: how much it is needed
 *
 * The memory starts as zeroes, because the peer may claim to have written bytes that
 * it has not written.  A peer can cause the allocation, so no process is killed for it
 * (__GFP_RETRY_MAYFAIL), and all that it causes is limited (sanx_payer_claim()).
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.  The caller owns the memory: sanx_lring_free().
 */
int sanx_lring_alloc(struct sanx_lring *ring, u32 size,
		     const struct sanx_lconn *lc, struct sanx_link *link,
		     enum sanx_claim claim)
{
	struct sanx_payer *payer = link->payer;
	u32 pages = DIV_ROUND_UP(size, PAGE_SIZE);

	if (!sanx_payer_claim(link, pages, claim))
		return -ENOMEM;
	if (ring_alloc(ring, size, &lc->conn)) {
		sanx_payer_unclaim(payer, pages);
		return -ENOMEM;
	}
	kref_get(&payer->refs);
	ring->payer = payer;
	return 0;
}

/**
 * sanx_lring_free_sleeps() - does sanx_lring_free() need to sleep?
 * @ring: a ring
 * Return: true if sanx_lring_free() may sleep.
 */
bool sanx_lring_free_sleeps(const struct sanx_lring *ring)
{
	return is_vmalloc_addr(ring->buf);
}

/**
 * sanx_lring_free() - free the memory of a ring
 * @ring: a ring that is not mapped; may be without memory
 *
 * Context: any; process if sanx_lring_free_sleeps().
 */
void sanx_lring_free(struct sanx_lring *ring)
{
	WARN_ON_ONCE(sanx_lring_mapped(ring));
	if (is_vmalloc_addr(ring->buf))
		vfree(ring->buf);
	else if (ring->buf)
		free_pages((unsigned long)ring->buf, get_order(ring->size));
	ring->buf = NULL;
	if (!ring->payer)
		return;
	sanx_payer_unclaim(ring->payer, ring_pages(ring));
	sanx_payer_put(ring->payer);
	ring->payer = NULL;
}

/* Is a ring mapped?  tx_lock held. */
bool sanx_lring_mapped(const struct sanx_lring *ring)
{
	return ring->map.priv;
}

/*
 * Does a message have to enable the mapping of a ring?  tx_lock held.
 * Return: true if it is mapped and was not enabled yet.
 */
bool sanx_lring_disabled(const struct sanx_lring *ring)
{
	return ring->map.priv && !ring->map.enabled;
}

/**
 * sanx_lring_map() - map a ring for a link
 * @ring: a ring with memory, not mapped
 * @link: the link; it still has its wire's part
 * @addr: address of the first byte for the peer; a multiple of the page size
 *
 * The mapping takes effect with the message that enables it.
 *
 * Context: process, may sleep.
 * Return: 0 or -errno.
 */
int sanx_lring_map(struct sanx_lring *ring, struct sanx_link *link, u64 addr)
{
	ring->map.enabled = false;
	ring->wire = link->wire;
	return link->wire->map(link->wl, &ring->map, ring->buf, ring->size, addr);
}

/**
 * sanx_lring_unmap() - end the access of a link's wire to a ring
 * @ring: a ring; may be not mapped
 *
 * Called when the peer has said that it does not write there any more, or the
 * wire has stopped.
 *
 * Context: process, may sleep.
 */
void sanx_lring_unmap(struct sanx_lring *ring)
{
	if (!sanx_lring_mapped(ring))
		return;
	ring->wire->unmap(&ring->map);
	ring->map.priv = NULL;
}

/**
 * sanx_lring_sync() - let the CPU see what the peer wrote
 * @ring: a mapped ring
 * @offset: stream offset of the first byte
 * @len: bytes, at most the size of the ring
 *
 * Context: any.
 */
void sanx_lring_sync(const struct sanx_lring *ring, u64 offset, u32 len)
{
	struct sanx_span span[2];
	int i, n;

	if (!ring->map.sync)
		return;
	n = sanx_ring_spans(ring->size, offset, len, span);
	for (i = 0; i < n; i++)
		ring->wire->sync(&ring->map, span[i].pos, span[i].len);
}

/**
 * sanx_lring_max() - the largest ring that the wire of a link can map
 * @link: the link, set up
 *
 * Return: bytes, a power of two.
 */
u32 sanx_lring_max(const struct sanx_link *link)
{
	return rounddown_pow_of_two(clamp_t(u64, link->caps.map_max, PAGE_SIZE,
					    SANX_RING_MAX));
}
