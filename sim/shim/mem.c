// SPDX-License-Identifier: GPL-2.0
/* Memory of the module: counted, refused now and then, and listed at the end. */
#include <stdio.h>
#include <stdlib.h>

#include "mem.h"

/**
 * struct sim_block - in front of each allocation
 * @list: all allocations
 * @where: who allocated it
 * @size: bytes
 * @pages: allocated by sim_alloc_pages()
 * @vmalloc: by __vmalloc()
 */
struct sim_block {
	struct list_head	list;
	const char		*where;
	size_t			size;
	bool			pages;
	bool			vmalloc;
} __aligned(64);

static LIST_HEAD(blocks);
static unsigned long n_blocks, n_bytes, n_refused;
static unsigned int refuse_one_in;

/**
 * sim_mem_refuse() - let allocations fail
 * @one_in: one in so many fails; 0 for none
 */
void sim_mem_refuse(unsigned int one_in)
{
	refuse_one_in = one_in;
}

unsigned long sim_mem_refused(void)
{
	return n_refused;
}

/* The rescuer of such a queue runs for the sake of I/O that frees memory. */
static void check_noio(gfp_t gfp, const char *where)
{
	const struct sim_task *t = sim_current;

	if (t && t->wq && t->wq->flags & WQ_MEM_RECLAIM && gfp & __GFP_IO &&
	    !t->noio)
		sim_fail("%s may wait for I/O, in work for memory reclaim",
			 where);
}

static bool refused(gfp_t gfp, const char *where)
{
	check_noio(gfp, where);
	if (gfp & __GFP_DIRECT_RECLAIM)
		sim_may_sleep(where);
	else
		sim_point();
	if (!sim_current || (gfp & __GFP_NOFAIL) || !sim_chance(refuse_one_in))
		return false;
	n_refused++;
	sim_refused(where);
	return true;
}

static void *block_add(struct sim_block *b, size_t size, gfp_t gfp,
		       const char *where)
{
	b->size = size;
	b->where = where;
	b->pages = false;
	b->vmalloc = false;
	list_add_tail(&b->list, &blocks);
	n_blocks++;
	n_bytes += size;
	sim_work.allocs++;
	/* What is not zeroed must not be read. */
	memset(b + 1, gfp & __GFP_ZERO ? 0 : 0xa5, min(size, (size_t)4096));
	if (gfp & __GFP_ZERO && size > 4096)
		memset((u8 *)(b + 1) + 4096, 0, size - 4096);
	return b + 1;
}

void *sim_alloc(size_t size, gfp_t gfp, const char *where)
{
	struct sim_block *b;

	if (refused(gfp, where))
		return NULL;
	/* Of the exact size, so that AddressSanitizer sees who writes behind it. */
	if (posix_memalign((void **)&b, 64, sizeof(*b) + size))
		return NULL;
	return block_add(b, size, gfp, where);
}

void *sim_alloc_pages(size_t size, gfp_t gfp, bool vmalloc, const char *where)
{
	struct sim_block *b;
	u8 *p;

	if (refused(gfp, where))
		return NULL;
	p = aligned_alloc(PAGE_SIZE, PAGE_SIZE + roundup(size, PAGE_SIZE));
	b = (struct sim_block *)(p + PAGE_SIZE) - 1;
	block_add(b, size, gfp, where);
	b->pages = true;
	b->vmalloc = vmalloc;
	return b + 1;
}

struct page *sim_get_pages(gfp_t gfp, unsigned int order, const char *where)
{
	void *mem = sim_alloc_pages(PAGE_SIZE << order, gfp, false, where);
	struct page *p;

	if (!mem)
		return NULL;
	p = calloc(1, sizeof(*p));
	*p = (struct page){ .refs = 1, .order = order, .mem = mem };
	return p;
}

void __free_pages(struct page *p, unsigned int order)
{
	sim_assert(p->refs == 1 && p->order == order);
	sim_free_pages(p->mem);
	free(p);
}

static struct sim_block *block_del(const void *p)
{
	struct sim_block *b = (struct sim_block *)p - 1;

	list_del(&b->list);
	n_blocks--;
	n_bytes -= b->size;
	return b;
}

void sim_free(const void *p)
{
	struct sim_block *b;

	sim_point();
	if (!p)
		return;
	b = block_del(p);
	sim_assert(!b->pages);
	free(b);
}

void sim_free_pages(const void *p)
{
	struct sim_block *b = block_del(p);

	sim_assert(b->pages && !b->vmalloc);
	free((u8 *)p - PAGE_SIZE);
}

void vfree(const void *p)
{
	struct sim_block *b;

	sim_may_sleep("vfree()");
	if (!p)
		return;
	b = block_del(p);
	sim_assert(b->vmalloc);
	free((u8 *)p - PAGE_SIZE);
}

bool is_vmalloc_addr(const void *p)
{
	return p && ((const struct sim_block *)p)[-1].vmalloc;
}

unsigned long sim_mem_bytes(void)
{
	return n_bytes;
}

/**
 * sim_mem_sum() - print who has allocated what there is
 */
void sim_mem_sum(void)
{
	static struct {
		const char	*where;
		unsigned long	n, bytes;
	} sum[256];
	const struct list_head *p;
	const struct sim_block *b;
	unsigned int i, n = 0;

	for (p = blocks.next; p != &blocks; p = p->next) {
		b = list_entry(p, struct sim_block, list);
		for (i = 0; i < n && sum[i].where != b->where; i++)
			;
		if (i == ARRAY_SIZE(sum))
			continue;
		if (i == n)
			sum[n++].where = b->where;
		sum[i].n++;
		sum[i].bytes += b->size;
	}
	for (i = 0; i < n; i++) {
		printf("  %10lu bytes in %6lu of %s\n", sum[i].bytes, sum[i].n,
		       sum[i].where);
		sum[i].n = 0;
		sum[i].bytes = 0;
	}
}

unsigned long sim_mem_live(void)
{
	return n_blocks;
}

void sim_mem_dump(void)
{
	const struct sim_block *b;
	const struct list_head *p;
	int n = 0;

	/* Not list_for_each_entry(): the head is not aligned like a block. */
	for (p = blocks.next; p != &blocks; p = p->next) {
		b = list_entry(p, struct sim_block, list);
		if (n++ < 20)
			fprintf(stderr, "  leak: %zu bytes of %s\n", b->size,
				b->where);
	}
}

/*
 * Copies from and to a program stop at a page that faults, and other tasks run
 * meanwhile.
 */
static size_t copy_most(const struct iov_iter *i, size_t n)
{
	sim_point();
	n = min(n, i->count);
	if (i->pages && i->pos + n > i->fault)
		n = i->fault > i->pos ? i->fault - i->pos : 0;
	return n;
}

/* Where byte @pos is; *@n is cut to what is there in one part. */
static u8 *iter_part(const struct iov_iter *i, size_t pos, size_t *n)
{
	const struct kvec *v = i->vec;

	if (!v)
		return i->base + pos;
	for (; pos >= v->iov_len; v++)
		pos -= v->iov_len;
	*n = min(*n, v->iov_len - pos);
	return (u8 *)v->iov_base + pos;
}

static void copy_from(u8 *to, size_t n, const struct iov_iter *from, size_t pos)
{
	const u8 *part;
	size_t m;

	for (; n; n -= m, to += m, pos += m) {
		m = n;
		part = iter_part(from, pos, &m);
		memcpy(to, part, m);
	}
}

static void copy_to(const u8 *from, size_t n, const struct iov_iter *to, size_t pos)
{
	u8 *part;
	size_t m;

	for (; n; n -= m, from += m, pos += m) {
		m = n;
		part = iter_part(to, pos, &m);
		memcpy(part, from, m);
	}
}

bool sim_nofault;

size_t fault_in_iov_iter_readable(const struct iov_iter *i, size_t n)
{
	sim_point();
	if (!i->pages || i->pos + n <= i->fault)
		return 0;
	return i->pos + n - max(i->pos, i->fault);
}

size_t _copy_from_iter(void *to, size_t n, struct iov_iter *from)
{
	bool nofault = sim_nofault;
	size_t half;

	sim_nofault = false;
	if (nofault && from->pages && !sim_rnd(8))
		n = sim_rnd(n);
	n = copy_most(from, n);
	half = n / 2;
	copy_from(to, half, from, from->pos);
	sim_point();
	copy_from((u8 *)to + half, n - half, from, from->pos + half);
	iov_iter_advance(from, n);
	sim_point();
	return n;
}

size_t _copy_to_iter(const void *from, size_t n, struct iov_iter *to)
{
	size_t half;

	n = copy_most(to, n);
	half = n / 2;
	copy_to(from, half, to, to->pos);
	sim_point();
	copy_to((const u8 *)from + half, n - half, to, to->pos + half);
	iov_iter_advance(to, n);
	sim_point();
	return n;
}

ssize_t iov_iter_get_pages2(struct iov_iter *i, struct page **pages,
			    size_t most, unsigned int n, size_t *start)
{
	size_t len = copy_most(i, most);
	unsigned int k, first = i->pos >> PAGE_SHIFT;

	sim_may_sleep("iov_iter_get_pages2()");
	*start = offset_in_page(i->pos);
	len = min(len, n * PAGE_SIZE - *start);
	if (!len)
		return -EFAULT;
	for (k = 0; k < DIV_ROUND_UP(*start + len, PAGE_SIZE); k++) {
		pages[k] = &i->pages[first + k];
		get_page(pages[k]);
	}
	iov_iter_advance(i, len);
	return len;
}
