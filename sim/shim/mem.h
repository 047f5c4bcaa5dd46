/* SPDX-License-Identifier: GPL-2.0 */
/* Memory: every allocation is counted, and can be refused. */
#ifndef _SIM_MEM_H
#define _SIM_MEM_H

#include "work.h"

#define __GFP_ZERO		1U
#define __GFP_DIRECT_RECLAIM	2U
#define __GFP_IO		4U
#define __GFP_FS		8U
#define __GFP_NOWARN		16U
#define __GFP_NORETRY		32U
#define __GFP_RETRY_MAYFAIL	64U
#define __GFP_ACCOUNT		128U
#define __GFP_NOFAIL		256U
#define __GFP_COMP		512U
#define GFP_ATOMIC		0U
#define GFP_NOWAIT		0U
#define GFP_NOIO		__GFP_DIRECT_RECLAIM
#define GFP_KERNEL		(__GFP_DIRECT_RECLAIM | __GFP_IO | __GFP_FS)
#define GFP_KERNEL_ACCOUNT	(GFP_KERNEL | __GFP_ACCOUNT)

void *sim_alloc(size_t size, gfp_t gfp, const char *where);
void *sim_alloc_pages(size_t size, gfp_t gfp, bool vmalloc, const char *where);
void sim_free(const void *p);
void sim_free_pages(const void *p);
bool is_vmalloc_addr(const void *p);
unsigned long sim_mem_live(void);
unsigned long sim_mem_bytes(void);
void sim_mem_sum(void);
void sim_mem_dump(void);
void sim_mem_refuse(unsigned int one_in);
unsigned long sim_mem_refused(void);
/* The simulator's: memory was refused at @where. */
void sim_refused(const char *where);

#define __sim_where		__FILE__ ":" __stringify(__LINE__)
#define kmalloc(n, gfp)		sim_alloc(n, gfp, __sim_where)
#define kzalloc(n, gfp)		sim_alloc(n, (gfp) | __GFP_ZERO, __sim_where)
#define kcalloc(n, s, gfp)	kzalloc(array_size(n, s), gfp)
#define kvmalloc(n, gfp)	kmalloc(n, gfp)
#define kvzalloc(n, gfp)	kzalloc(n, gfp)
#define kfree(p)		sim_free(p)
#define kvfree(p)		sim_free(p)
#define alloc_pages_exact(n, gfp) sim_alloc_pages(n, gfp, false, __sim_where)
#define free_pages_exact(p, n)	((void)(n), sim_free_pages(p))
#define __get_free_pages(gfp, order) \
	((unsigned long)alloc_pages_exact(PAGE_SIZE << (order), gfp))
#define free_pages(p, order)	free_pages_exact((const void *)(p), order)
/* Of whole pages, a power of two. */
#define get_order(size)		((unsigned int)ilog2(DIV_ROUND_UP((u32)(size), PAGE_SIZE)))
#define __vmalloc(n, gfp)	sim_alloc_pages(n, gfp, true, __sim_where)
void vfree(const void *p);
#define totalram_pages()	(1UL << 20)

#define alloc_percpu(type)	((type *)kzalloc(sizeof(type), GFP_KERNEL))
#define free_percpu(p)		kfree(p)
#define this_cpu_add(x, n)	((void)((x) += (n)))
#define per_cpu_ptr(p, cpu)	((void)(cpu), p)
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < 1; (cpu)++)
#define num_online_cpus()	2U
#define raw_smp_processor_id()	((int)sim_rnd(2))

struct cgroup_subsys_state {
	int refs;
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
};

#define css_tryget(c)		((c)->refs++, true)

static inline void mem_cgroup_put(struct mem_cgroup *m)
{
	if (m)
		m->css.refs--;
}

static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *m)
{
	return NULL;
}

static inline unsigned int memalloc_noio_save(void)
{
	return sim_current->noio++;
}

static inline void memalloc_noio_restore(unsigned int was)
{
	sim_assert((int)was == --sim_current->noio);
}

#define PF_MEMALLOC			0x800
#define memalloc_noreclaim_save()	0U
#define memalloc_noreclaim_restore(x)	((void)(x))

/**
 * struct page - a page of a program, or some of the engine
 * @refs: references
 * @order: there are 2^@order pages
 * @mem: their bytes
 */
struct page {
	int		refs;
	unsigned int	order;
	u8		*mem;
};

struct page *sim_get_pages(gfp_t gfp, unsigned int order, const char *where);
#define alloc_pages(gfp, order)	sim_get_pages(gfp, order, __sim_where)
void __free_pages(struct page *p, unsigned int order);

#define kmap_local_page(p)	((void *)(p)->mem)
#define kunmap_local(p)		((void)(p))
#define page_address(p)		((void *)(p)->mem)

static inline void get_page(struct page *p)
{
	p->refs++;
}

static inline void put_page(struct page *p)
{
	sim_assert(p->refs > 0);
	p->refs--;
}

struct kvec {
	void	*iov_base;
	size_t	iov_len;
};

/**
 * struct iov_iter - bytes of a program
 * @vec: parts of the kernel's memory, which count from 0 on; or NULL
 * @base: else its memory
 * @pages: the pages of @base, or NULL if it is memory of the kernel
 * @pos: bytes that are done
 * @count: bytes that are left
 * @fault: copies fail from this position on
 * @bvec: the pages are those of a file
 * @head: bytes of the first of two parts, or 0
 */
struct iov_iter {
	const struct kvec *vec;
	u8		*base;
	struct page	*pages;
	size_t		pos;
	size_t		count;
	size_t		fault;
	bool		bvec;
	size_t		head;
};

size_t _copy_from_iter(void *to, size_t n, struct iov_iter *from);
size_t _copy_to_iter(const void *from, size_t n, struct iov_iter *to);
#define copy_from_iter(to, n, from)	_copy_from_iter(to, n, from)
size_t fault_in_iov_iter_readable(const struct iov_iter *i, size_t n);
/* The next copy finds pages that are there, and may find that some are not. */
extern bool sim_nofault;
#define pagefault_disable()	((void)(sim_nofault = true))
#define pagefault_enable()	((void)0)
ssize_t iov_iter_get_pages2(struct iov_iter *i, struct page **pages,
			    size_t most, unsigned int n, size_t *start);

static inline void iov_iter_advance(struct iov_iter *i, size_t n)
{
	i->pos += n;
	i->count -= n;
}

static inline void iov_iter_revert(struct iov_iter *i, size_t n)
{
	i->pos -= n;
	i->count += n;
}

static inline size_t iov_iter_count(const struct iov_iter *i)
{
	return i->count;
}

#define ITER_SOURCE		1
#define ITER_DEST		0

static inline void iov_iter_kvec(struct iov_iter *i, unsigned int direction,
				 const struct kvec *vec, unsigned long n, size_t count)
{
	*i = (struct iov_iter){ .vec = vec, .count = count };
}

static inline size_t iov_iter_single_seg_count(const struct iov_iter *i)
{
	return i->pos < i->head ? min(i->head - i->pos, i->count) : i->count;
}

#define PAGE_ALIGNED(x)		(!((x) & (PAGE_SIZE - 1)))
#define user_backed_iter(i)		((i)->pages && !(i)->bvec)
#define iov_iter_is_bvec(i)		((i)->bvec)
#define sendpage_ok(p)			((void)(p), true)
#define MSG_SPLICE_PAGES		0x8000000

struct xarray {
	gfp_t			gfp;
	spinlock_t		xa_lock;
	struct hlist_head	slot[64];
};

struct xa_limit {
	u32 max;
	u32 min;
};

#define XA_LIMIT(_min, _max)	((struct xa_limit){ .min = _min, .max = _max })
#define xa_limit_32b		XA_LIMIT(0, U32_MAX)
#define XA_FLAGS_ALLOC		1
#define XA_FLAGS_ALLOC1		2
#define XA_FLAGS_LOCK_BH	4
void xa_init_flags(struct xarray *xa, gfp_t flags);
#define xa_init(xa)		xa_init_flags(xa, 0)
void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp);
#define xa_err(p)		PTR_ERR_OR_ZERO(p)
void xa_destroy(struct xarray *xa);
void *xa_load(struct xarray *xa, unsigned long index);
void *xa_erase_bh(struct xarray *xa, unsigned long index);
#define xa_erase(xa, index)	xa_erase_bh(xa, index)
void *xa_find(struct xarray *xa, unsigned long *index);
#define xa_for_each(xa, index, entry)					\
	for ((index) = 0; ((entry) = xa_find(xa, &(index))); (index)++)
int xa_alloc_cyclic_bh(struct xarray *xa, u32 *id, void *entry,
		       struct xa_limit limit, u32 *next, gfp_t gfp);

#define get_random_u64()	sim_rnd64()
#define get_random_u32()	((u32)sim_rnd64())

static inline void get_random_bytes(void *buf, size_t len)
{
	u64 r;

	for (; len; buf += min(len, sizeof(r)), len -= min(len, sizeof(r))) {
		r = sim_rnd64();
		memcpy(buf, &r, min(len, sizeof(r)));
	}
}

/* linux/siphash.h: any function of key and value will do. */
typedef struct {
	u64 key[2];
} siphash_key_t;

static inline u64 siphash_1u32(u32 a, const siphash_key_t *key)
{
	return (key->key[0] ^ a) * 0x9e3779b97f4a7c15ULL ^ key->key[1];
}

static inline u64 siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key)
{
	siphash_key_t x = { { siphash_1u32(a, key), key->key[0] } };
	siphash_key_t y = { { siphash_1u32(b, &x), x.key[0] } };

	return siphash_1u32(c ^ c >> 32, &y);
}

static inline u64 siphash_2u32(u32 a, u32 b, const siphash_key_t *key)
{
	siphash_key_t more = { { siphash_1u32(a, key), key->key[0] } };

	return siphash_1u32(b, &more);
}

/* crypto/hash.h: likewise. */
struct crypto_shash {
	u64 key;
};

struct crypto_shash *crypto_alloc_shash(const char *name, u32 type, u32 mask);
void crypto_free_shash(struct crypto_shash *mac);
int crypto_shash_setkey(struct crypto_shash *mac, const u8 *key, unsigned int len);
int crypto_shash_tfm_digest(struct crypto_shash *mac, const u8 *data,
			    unsigned int len, u8 *out);
#define crypto_memneq(a, b, n)	(!!memcmp(a, b, n))
#define memzero_explicit(p, n)	memset(p, 0, n)

#endif /* _SIM_MEM_H */
