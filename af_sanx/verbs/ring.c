// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of rings and send buffers, and its registration.
 *
 * Each has a memory region of its own, registered by a work request on the
 * queue pair (fast registration).  So the peer's key gives access to this ring
 * and nothing else, and only while the connection lives.  Addresses in the
 * region start at a value that we choose: the peer sees neither a kernel
 * pointer nor a bus address.
 *
 * Memory and registration have separate lifetimes: a program may still read
 * bytes that arrived when the link is long gone.
 *
 * In the names here, staging is the send buffer.
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
 * vring_alloc() - allocate memory for a ring
 * @ring: a ring without memory
 * @size: bytes, a power of two
 * @memcg: the memory cgroup that is charged, or NULL for the caller's
 * @remote: the peer writes it; else it is a send buffer
 *
 * Memory that the peer writes starts as zeroes, because the peer may claim to
 * have written bytes that it has not written.  The memory is not from the slab,
 * because some devices send by reference to the page.  A peer can cause the
 * allocation, so no process is killed for it (__GFP_RETRY_MAYFAIL).
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.  The caller owns the memory: vring_free().
 */
int vring_alloc(struct vring *ring, u32 size, struct mem_cgroup *memcg,
		bool remote)
{
	return ring_alloc(ring, size, memcg,
			  remote ? DMA_FROM_DEVICE : DMA_TO_DEVICE);
}

/*
 * Rings that have grown beyond SO_RCVBUF get this part of the node's memory at
 * most: 1 / GROWN_PART.
 */
#define GROWN_PART	16

static atomic_long_t ring_grown;

/**
 * vring_alloc_grown() - allocate memory for a ring that has grown
 * @ring: a ring without memory
 * @size: bytes, a power of two
 * @memcg: the memory cgroup that is charged, or NULL for the caller's
 *
 * No process is killed for the memory.  All such rings together have a limited
 * part of the node's memory (ring_grown), as TCP has tcp_mem for its windows.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.  The caller owns the memory: vring_free().
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
 * Return: true if vring_free() may sleep.
 */
bool vring_free_sleeps(const struct vring *ring)
{
	return is_vmalloc_addr(ring->buf);
}

/**
 * vring_free() - free the memory of a ring
 * @ring: a ring that is not mapped; may be without memory
 *
 * Context: any; process if vring_free_sleeps().
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
 * vring_keep() - copy bytes to a send buffer
 * @ring: the send buffer; without memory nothing happens
 * @offset: stream offset of the first byte
 * @data: the bytes
 * @len: number of bytes
 *
 * After the loss of a link, bytes that went in a frame or from a program's
 * pages are sent again from there.
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
 * vring_unregistered() - does a registration have to be posted?
 * @ring: a ring; may be without memory
 *
 * Context: tx_lock held.
 * Return: true if it is mapped and not registered.
 */
bool vring_unregistered(const struct vring *ring)
{
	return ring->mr && !ring->registered;
}

/*
 * DMA_ATTR_SKIP_CPU_SYNC: the CPU has stored inline payload in the ring, which
 * a bounce buffer does not have.  Copying the bounce buffer back would
 * overwrite it.
 */
static void ring_dma_unmap(struct vring *ring)
{
	u32 i;

	if (!ring->dma)
		return;
	for (i = 0; i < ring_pages(ring); i++) {
		/* The page that could not be mapped, and so ended ring_dma_map(). */
		if (ring->dma[i] == DMA_MAPPING_ERROR)
			break;
		dma_unmap_page_attrs(ring->dev->dma_device, ring->dma[i],
				     PAGE_SIZE, ring->dir,
				     DMA_ATTR_SKIP_CPU_SYNC);
	}
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
		/* 0 is an address that an IOMMU may use. */
		if (ring->dma)
			ring->dma[i] = addr;
		if (ib_dma_mapping_error(ring->dev, addr))
			return -ENOMEM;
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
 * vring_map() - map a ring for a link's device
 * @ring: a ring with memory, not mapped
 * @link: the link; it still has its device
 * @iova: address of the first byte in the region; a multiple of the page size
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
 * vring_unmap() - end the device's access to a ring
 * @ring: a ring; may be not mapped
 *
 * Called when the peer has said that it does not write there any more, or the
 * queue pair is drained; for a send buffer, when its work has completed.
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
 * vring_reg_wr() - fill the work request that registers a ring
 * @ring: a mapped ring; counts as registered afterwards
 * @wr: filled, except its cqe; the device copies it when it is posted
 *
 * Context: tx_lock held.
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
 * vring_sync() - sync part of a mapping between device and CPU
 * @ring: a mapped ring: a ring is synced for the CPU, a send buffer for the
 *	device
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
 * vring_max() - the largest ring that a link's device can register
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
