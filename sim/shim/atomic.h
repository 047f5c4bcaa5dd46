/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marked accesses, atomics and references.  One thread runs everything, so plain
 * accesses suffice; each is a place at which another task may run.
 */
#ifndef _SIM_ATOMIC_H
#define _SIM_ATOMIC_H

#include "sched.h"

#define __sim_load(x)		(*(const volatile typeof(x) *)&(x))
#define READ_ONCE(x)		({ sim_point(); __sim_load(x); })
#define WRITE_ONCE(x, v)	\
	do { sim_point(); *(volatile typeof(x) *)&(x) = (v); } while (0)
#define smp_load_acquire(p)	({ typeof(*(p)) _l = __sim_load(*(p)); sim_point(); _l; })
#define smp_store_release(p, v)	\
	do { sim_point(); *(volatile typeof(*(p)) *)(p) = (v); } while (0)
#define smp_store_mb(x, v)	do { WRITE_ONCE(x, v); sim_point(); } while (0)
#define smp_mb()		sim_point()
#define smp_rmb()		sim_point()
#define smp_wmb()		sim_point()
#define smp_mb__after_atomic()	sim_point()
#define smp_mb__before_atomic()	sim_point()
#define xchg(p, v) ({ sim_point(); typeof(*(p)) _x = *(p); *(p) = (v); sim_point(); _x; })
#define cmpxchg(p, o, n) ({ sim_point(); typeof(*(p)) _x = *(p);	\
	*(p) = _x == (o) ? (n) : _x; sim_point(); _x; })

typedef struct { int v; } atomic_t;
typedef struct { long v; } atomic_long_t;
typedef struct { s64 v; } atomic64_t;
typedef struct { int v; } refcount_t;

#define ATOMIC_INIT(n)		{ n }
#define atomic_read(a)		READ_ONCE((a)->v)
#define atomic_set(a, n)	WRITE_ONCE((a)->v, n)
#define __sim_add(a, n) ({ sim_point(); (a)->v += (n); typeof((a)->v) _v = (a)->v; sim_point(); _v; })
#define atomic_inc(a)		((void)__sim_add(a, 1))
#define atomic_add(n, a)	((void)__sim_add(a, n))
#define atomic_sub(n, a)	((void)__sim_add(a, -(n)))
#define atomic_dec(a)		((void)__sim_add(a, -1))
#define atomic_xchg(a, n)	({ int _was = atomic_read(a); atomic_set(a, n); _was; })
#define atomic_inc_return(a)	__sim_add(a, 1)
#define atomic_dec_return(a)	__sim_add(a, -1)
#define atomic_dec_and_test(a)	(__sim_add(a, -1) == 0)
#define atomic64_read(a)	READ_ONCE((a)->v)
#define atomic64_try_cmpxchg(a, old, new) ({ sim_point();			\
	bool _same = (a)->v == *(old);					\
	if (_same)							\
		(a)->v = (new);						\
	else								\
		*(old) = (a)->v;					\
	sim_point(); _same; })
#define atomic_long_read(a)	READ_ONCE((a)->v)
#define atomic_long_add(n, a)	((void)__sim_add(a, n))
#define atomic_long_sub(n, a)	((void)__sim_add(a, -(long)(n)))
#define atomic_long_add_return(n, a) __sim_add(a, n)

#define REFCOUNT_INIT(n)	{ n }
#define refcount_set(r, n)	((void)((r)->v = (n)))
#define refcount_read(r)	READ_ONCE((r)->v)

static inline void refcount_inc(refcount_t *r)
{
	sim_point();
	if (unlikely(r->v <= 0))
		sim_fail("a reference is taken of what is gone");
	r->v++;
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	sim_point();
	if (!r->v)
		return false;
	r->v++;
	return true;
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	bool last;

	sim_point();
	if (unlikely(r->v <= 0))
		sim_fail("a reference is put twice");
	last = --r->v == 0;
	sim_point();
	return last;
}

static inline void refcount_dec(refcount_t *r)
{
	if (refcount_dec_and_test(r))
		sim_fail("the last reference is put by refcount_dec()");
}

struct kref {
	refcount_t refcount;
};

static inline void kref_init(struct kref *k)
{
	refcount_set(&k->refcount, 1);
}

static inline unsigned int kref_read(const struct kref *k)
{
	return refcount_read(&k->refcount);
}

static inline void kref_get(struct kref *k)
{
	refcount_inc(&k->refcount);
}

static inline int kref_get_unless_zero(struct kref *k)
{
	return refcount_inc_not_zero(&k->refcount);
}

static inline int kref_put(struct kref *k, void (*release)(struct kref *k))
{
	if (!refcount_dec_and_test(&k->refcount))
		return 0;
	release(k);
	return 1;
}

#define test_bit(n, p)		(!!(READ_ONCE(*(p)) & BIT(n)))
#define set_bit(n, p)		do { sim_point(); *(p) |= BIT(n); } while (0)
#define clear_bit(n, p)		do { sim_point(); *(p) &= ~BIT(n); } while (0)

#endif /* _SIM_ATOMIC_H */
