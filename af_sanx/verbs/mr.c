// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions, and memory that is sent from.
 *
 * Each mapping is a memory region of its own, registered by a work request on
 * the queue pair (fast registration).  So its key gives access to this memory
 * and to nothing else.  Addresses in the region start where the engine says: the
 * peer sees neither a kernel pointer nor a bus address.
 *
 * Memory that is sent from is not registered.  The device gets it with the local
 * DMA key of the protection domain, which no peer can name.
 */
#include <linux/dma-mapping.h>
#include <linux/error-injection.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "verbs.h"

/**
 * struct verbs_mr - a memory region (sanx_wire_map.priv)
 * @dev: the device
 * @mr: the region
 * @buf: the memory
 * @n: number of pages
 * @dma: DMA address of each page; NULL if the device uses virtual addresses
 *	(software devices)
 */
struct verbs_mr {
	struct ib_device	*dev;
	struct ib_mr		*mr;
	void			*buf;
	u32			n;
	u64			*dma;
};

static struct page *buf_page(void *buf, u32 i)
{
	void *p = buf + (size_t)i * PAGE_SIZE;

	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

/*
 * DMA_ATTR_SKIP_CPU_SYNC: the CPU has stored inline payload in the memory, which
 * a bounce buffer does not have.  Copying the bounce buffer back would
 * overwrite it.
 */
static void mr_dma_unmap(struct verbs_mr *m)
{
	u32 i;

	if (!m->dma)
		return;
	for (i = 0; i < m->n; i++) {
		/* The page that could not be mapped, and so ended mr_dma_map(). */
		if (m->dma[i] == DMA_MAPPING_ERROR)
			break;
		dma_unmap_page_attrs(m->dev->dma_device, m->dma[i], PAGE_SIZE,
				     DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC);
	}
	kvfree(m->dma);
}

static int mr_dma_map(struct verbs_mr *m, void *buf, struct scatterlist *sg)
{
	u64 addr;
	u32 i;

	if (!ib_uses_virt_dma(m->dev)) {
		m->dma = kvcalloc(m->n, sizeof(*m->dma), GFP_KERNEL);
		if (!m->dma)
			return -ENOMEM;
		/* Ends mr_dma_unmap() behind the pages that were mapped. */
		memset64(m->dma, DMA_MAPPING_ERROR, m->n);
	}
	for (i = 0; i < m->n; i++) {
		addr = ib_dma_map_page(m->dev, buf_page(buf, i), 0, PAGE_SIZE,
				       DMA_FROM_DEVICE);
		if (ib_dma_mapping_error(m->dev, addr))
			return -ENOMEM;
		/* 0 is an address that an IOMMU may use. */
		if (m->dma)
			m->dma[i] = addr;
		sg_set_page(&sg[i], buf_page(buf, i), PAGE_SIZE, 0);
		sg_dma_address(&sg[i]) = addr;
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	return 0;
}

static int mr_map(struct verbs_mr *m, void *buf, u64 addr)
{
	struct scatterlist *sg;
	int err;

	sg = kvmalloc_array(m->n, sizeof(*sg), GFP_KERNEL);
	if (!sg)
		return -ENOMEM;
	sg_init_table(sg, m->n);
	err = mr_dma_map(m, buf, sg);
	if (!err) {
		err = ib_map_mr_sg(m->mr, sg, m->n, NULL, PAGE_SIZE);
		err = err == m->n ? 0 : err < 0 ? err : -EINVAL;
	}
	kvfree(sg);
	if (err)
		return err;
	ib_update_fast_reg_key(m->mr, ib_inc_rkey(m->mr->rkey));
	m->mr->iova = addr;
	return 0;
}

/*
 * The device may still write the memory: nobody else may get it.  The owner frees
 * its references of the pages, and these stay.
 */
static void mr_lose(struct verbs_mr *m, int err)
{
	u32 i;

	for (i = 0; i < m->n; i++)
		get_page(buf_page(m->buf, i));
	pr_err_ratelimited("%s does not release a memory region: %d; %u pages are lost\n",
			   dev_name(&m->dev->dev), err, m->n);
}

static void mr_free(struct verbs_mr *m)
{
	int err = ib_dereg_mr(m->mr);

	if (err) {
		mr_lose(m, err);
		return;
	}
	mr_dma_unmap(m);
	kfree(m);
}

static struct verbs_mr *mr_alloc(struct verbs_link *vl, void *buf, u32 size)
{
	struct verbs_mr *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int err;

	if (!m)
		return ERR_PTR(-ENOMEM);
	m->dev = vl->pd->device;
	m->buf = buf;
	m->n = DIV_ROUND_UP(size, PAGE_SIZE);
	m->mr = ib_alloc_mr(vl->pd, IB_MR_TYPE_MEM_REG, m->n);
	err = PTR_ERR_OR_ZERO(m->mr);
	if (!err)
		return m;
	kfree(m);
	return ERR_PTR(err);
}

/*
 * sanx_wire_ops.map.
 *
 * The registration takes effect with the work request of verbs_reg_wr().
 */
int verbs_map(struct sanx_wire_link *wl, struct sanx_wire_map *map, void *buf,
	      u32 size, u64 addr)
{
	struct verbs_mr *m = mr_alloc(verbs_link_of(wl), buf, size);
	int err;

	if (IS_ERR(m))
		return PTR_ERR(m);
	err = mr_map(m, buf, addr);
	if (err) {
		mr_free(m);
		return err;
	}
	map->priv = m;
	map->addr = addr;
	map->key = m->mr->rkey;
	map->sync = m->dma;
	return 0;
}
ALLOW_ERROR_INJECTION(verbs_map, ERRNO);

/* sanx_wire_ops.unmap. */
void verbs_unmap(struct sanx_wire_map *map)
{
	mr_free(map->priv);
}

/* Fill the work request that registers a memory region. */
void verbs_reg_wr(const struct sanx_wire_map *map, struct ib_reg_wr *wr)
{
	const struct verbs_mr *m = map->priv;

	*wr = (struct ib_reg_wr){
		.wr.opcode = IB_WR_REG_MR,
		.mr	= m->mr,
		.key	= map->key,
		.access	= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
}

/* sanx_wire_ops.sync. */
void verbs_sync(const struct sanx_wire_map *map, u32 pos, u32 len)
{
	const struct verbs_mr *m = map->priv;
	u32 n;

	if (!m->dma)
		return;
	for (; len; len -= n, pos += n) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(pos));
		ib_dma_sync_single_for_cpu(m->dev, m->dma[pos >> PAGE_SHIFT] +
					   offset_in_page(pos), n, DMA_FROM_DEVICE);
	}
}

/* sanx_wire_ops.map_page. */
int verbs_map_page(struct sanx_wire_link *wl, struct sanx_wire_page *page,
		   unsigned int order)
{
	struct ib_device *dev = verbs_link_of(wl)->pd->device;

	page->addr = ib_dma_map_page(dev, page->page, 0, PAGE_SIZE << order,
				     DMA_TO_DEVICE);
	return ib_dma_mapping_error(dev, page->addr) ? -ENOMEM : 0;
}
ALLOW_ERROR_INJECTION(verbs_map_page, ERRNO);

/* sanx_wire_ops.unmap_page. */
void verbs_unmap_page(struct sanx_wire_link *wl, struct sanx_wire_page *page,
		      unsigned int order)
{
	ib_dma_unmap_page(verbs_link_of(wl)->pd->device, page->addr,
			  PAGE_SIZE << order, DMA_TO_DEVICE);
}
