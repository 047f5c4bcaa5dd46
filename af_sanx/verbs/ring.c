// SPDX-License-Identifier: GPL-2.0
/*
 * Ring memory and its registration.
 *
 * Each ring has a memory region of its own, registered by a work request on
 * the queue pair (fast registration), so that the peer's key reaches this ring
 * and nothing else, and only while the connection lives.  Addresses in the
 * region start at a value of our choice: neither a kernel pointer nor a bus
 * address is shown to the peer.
 *
 * Memory and registration have lives of their own: the program may still read
 * what arrived when the link is long gone.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "verbs.h"

static struct page *ring_page(const struct vring *ring, u32 i)
{
	void *p = ring->buf + (size_t)i * PAGE_SIZE;

	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

static u32 ring_pages(const struct vring *ring)
{
	return DIV_ROUND_UP(ring->size, PAGE_SIZE);
}

static void *ring_buf(u32 size, gfp_t gfp)
{
	void *buf = alloc_pages_exact(size, gfp | __GFP_NORETRY);

	return buf ?: __vmalloc(size, gfp);
}

static int ring_alloc(struct vring *ring, u32 size, struct mem_cgroup *memcg,
		      enum dma_data_direction dir)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL;

	if (dir == DMA_FROM_DEVICE)
		gfp |= __GFP_ZERO;
	memcg = set_active_memcg(memcg);
	ring->buf = ring_buf(size, gfp);
	set_active_memcg(memcg);
	if (!ring->buf)
		return -ENOMEM;
	ring->size = size;
	ring->dir = dir;
	return 0;
}

/**
 * vring_alloc() - get memory for a ring
 * @ring: a ring without memory
 * @size: bytes, a power of two
 * @memcg: the memory cgroup that is charged, or NULL for the caller's
 * @remote: the peer writes it, else we send from it
 *
 * What the peer writes starts out as zeroes: it may claim to have written
 * bytes that it has not.  Not from the slab: what some devices send, they send
 * by reference to the page.  Nobody is killed for it, as it may come at the will
 * of a peer.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int vring_alloc(struct vring *ring, u32 size, struct mem_cgroup *memcg,
		bool remote)
{
	return ring_alloc(ring, size, memcg,
			  remote ? DMA_FROM_DEVICE : DMA_TO_DEVICE);
}

/* The part of the node's memory that rings may have grown to, beyond SO_RCVBUF. */
#define GROWN_PART	16

static atomic_long_t ring_grown;

/**
 * vring_alloc_grown() - get memory for a ring that is larger than was asked for
 * @ring: a ring without memory
 * @size: bytes, a power of two
 * @memcg: the memory cgroup that is charged, or NULL for the caller's
 *
 * Nobody is killed for it, and all together they have no more than a part of the
 * memory, as TCP has tcp_mem for what windows grow to.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int vring_alloc_grown(struct vring *ring, u32 size, struct mem_cgroup *memcg)
{
	long most = totalram_pages() / GROWN_PART;
	long n = DIV_ROUND_UP(size, PAGE_SIZE);

	if (atomic_long_add_return(n, &ring_grown) <= most &&
	    !ring_alloc(ring, size, memcg, DMA_FROM_DEVICE)) {
		ring->grown = true;
		return 0;
	}
	atomic_long_sub(n, &ring_grown);
	return -ENOMEM;
}

/**
 * vring_free_sleeps() - does vring_free() need to sleep?
 * @ring: a ring
 * Return: true if so.
 */
bool vring_free_sleeps(const struct vring *ring)
{
	return is_vmalloc_addr(ring->buf);
}

/**
 * vring_free() - give the memory back
 * @ring: a ring that is not mapped; may be without memory
 *
 * Context: any, but process if vring_free_sleeps().
 */
void vring_free(struct vring *ring)
{
	WARN_ON_ONCE(ring->mr);
	if (is_vmalloc_addr(ring->buf))
		vfree(ring->buf);
	else if (ring->buf)
		free_pages_exact(ring->buf, ring->size);
	ring->buf = NULL;
	if (ring->grown)
		atomic_long_sub(ring_pages(ring), &ring_grown);
	ring->grown = false;
}

/**
 * vring_keep() - put bytes that travel in a frame into staging memory too
 * @ring: staging memory; may be without memory, and then nothing happens
 * @offset: stream offset of the first byte
 * @data: the bytes
 * @len: how many
 *
 * Should the link be lost, they are sent again from there.
 *
 * Context: any.
 */
void vring_keep(struct vring *ring, u64 offset, const void *data, u32 len)
{
	struct sanx_rxq q = { .in = { .buf = ring->buf, .size = ring->size } };

	if (ring->buf)
		sanx_rxq_store(&q, offset, data, len);
}

/**
 * vring_unregistered() - is a work request due that registers it?
 * @ring: a ring; may be without memory
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool vring_unregistered(const struct vring *ring)
{
	return ring->mr && !ring->registered;
}

/*
 * The ring can hold bytes that the CPU put there (inline payload), of which a
 * bounce buffer would know nothing: it is not to be copied back as a whole.
 */
static void ring_dma_unmap(struct vring *ring)
{
	u32 i;

	if (!ring->dma)
		return;
	for (i = 0; i < ring_pages(ring) && ring->dma[i]; i++)
		dma_unmap_page_attrs(ring->dev->dma_device, ring->dma[i],
				     PAGE_SIZE, ring->dir,
				     DMA_ATTR_SKIP_CPU_SYNC);
	kvfree(ring->dma);
	ring->dma = NULL;
}

static int ring_dma_map(struct vring *ring, struct scatterlist *sg)
{
	u32 i, n = ring_pages(ring);
	u64 addr;

	if (!ib_uses_virt_dma(ring->dev)) {
		ring->dma = kvcalloc(n, sizeof(*ring->dma), GFP_KERNEL);
		if (!ring->dma)
			return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		addr = ib_dma_map_page(ring->dev, ring_page(ring, i), 0,
				       PAGE_SIZE, ring->dir);
		if (ib_dma_mapping_error(ring->dev, addr))
			return -ENOMEM;
		if (ring->dma)
			ring->dma[i] = addr;
		sg_set_page(&sg[i], ring_page(ring, i), PAGE_SIZE, 0);
		sg_dma_address(&sg[i]) = addr;
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	return 0;
}

static int ring_map_mr(struct vring *ring, u64 iova)
{
	u32 n = ring_pages(ring);
	struct scatterlist *sg;
	int err;

	sg = kvmalloc_array(n, sizeof(*sg), GFP_KERNEL);
	if (!sg)
		return -ENOMEM;
	sg_init_table(sg, n);
	err = ring_dma_map(ring, sg);
	if (!err) {
		err = ib_map_mr_sg(ring->mr, sg, n, NULL, PAGE_SIZE);
		err = err == n ? 0 : err < 0 ? err : -EINVAL;
	}
	kvfree(sg);
	if (err)
		return err;
	ib_update_fast_reg_key(ring->mr, ib_inc_rkey(ring->mr->rkey));
	ring->mr->iova = iova;
	ring->iova = iova;
	ring->key = ring->mr->rkey;
	return 0;
}

/**
 * vring_map() - make a ring known to a link's device
 * @ring: a ring with memory, not mapped
 * @link: the link, not yet at its end
 * @iova: address that its first byte is to have; a multiple of the page size
 *
 * The registration takes effect with the work request of vring_reg_wr().
 *
 * Context: process, may sleep.
 * Return: 0 or -errno.
 */
int vring_map(struct vring *ring, struct vlink *link, u64 iova)
{
	struct ib_mr *mr;
	int err;

	mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, ring_pages(ring));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	ring->dev = link->pd->device;
	ring->mr = mr;
	ring->registered = false;
	err = ring_map_mr(ring, iova);
	if (err)
		vring_unmap(ring);
	return err;
}

/**
 * vring_unmap() - end all access by the device
 * @ring: a ring; may be not mapped
 *
 * The peer has promised to write no more, or the queue pair is drained; so has
 * what we sent from here been completed.
 *
 * Context: process, may sleep.
 */
void vring_unmap(struct vring *ring)
{
	if (!ring->mr)
		return;
	ib_dereg_mr(ring->mr);
	ring->mr = NULL;
	ring_dma_unmap(ring);
	ring->dev = NULL;
}

/**
 * vring_reg_wr() - the work request that registers a ring
 * @ring: a mapped ring
 * @wr: filled but for its cqe; copied by the device when posted
 *
 * Context: any.
 */
void vring_reg_wr(struct vring *ring, struct ib_reg_wr *wr)
{
	*wr = (struct ib_reg_wr){
		.wr.opcode = IB_WR_REG_MR,
		.mr	= ring->mr,
		.key	= ring->key,
		.access	= IB_ACCESS_LOCAL_WRITE,
	};
	if (ring->dir == DMA_FROM_DEVICE)
		wr->access |= IB_ACCESS_REMOTE_WRITE;
	ring->registered = true;
}

static void ring_sync_page(const struct vring *ring, u32 pos, u32 len)
{
	u64 addr = ring->dma[pos >> PAGE_SHIFT] + offset_in_page(pos);

	if (ring->dir == DMA_FROM_DEVICE)
		ib_dma_sync_single_for_cpu(ring->dev, addr, len, ring->dir);
	else
		ib_dma_sync_single_for_device(ring->dev, addr, len, ring->dir);
}

/**
 * vring_sync() - let the other side of a mapping see bytes
 * @ring: a mapped ring: the CPU is to see what the device wrote, or the device
 *	what the CPU wrote
 * @offset: stream offset of the first byte
 * @len: bytes, at most the size of the ring
 *
 * Context: any.
 */
void vring_sync(const struct vring *ring, u64 offset, u32 len)
{
	u32 pos, n;

	if (!ring->dma)
		return;
	for (; len; len -= n, offset += n) {
		pos = offset & (ring->size - 1);
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(pos));
		ring_sync_page(ring, pos, n);
	}
}

/**
 * vring_max() - the largest ring that a link's device registers
 * @link: the link, set up
 *
 * Return: bytes, a power of two.
 */
u32 vring_max(const struct vlink *link)
{
	u64 max = link->pd->device->attrs.max_fast_reg_page_list_len;

	return rounddown_pow_of_two(clamp_t(u64, max * PAGE_SIZE, PAGE_SIZE,
					    SANX_RING_MAX));
}
