/* SPDX-License-Identifier: GPL-2.0 */
/* Types, compiler attributes and small helpers, as the kernel has them. */
#ifndef _SIM_TYPES_H
#define _SIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <errno.h>
#include <limits.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
typedef unsigned int gfp_t;
typedef s64 ktime_t;
typedef unsigned int __poll_t;

#define __percpu
#define __rcu
#define __user
#define __init
#define __exit
#define __net_init
#define __net_exit
#define __ro_after_init
#define __force
#define __acquires(x)
#define __must_hold(x)
#define __releases(x)
#define __must_check
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define __aligned(n)		__attribute__((aligned(n)))
#undef __packed
#define __packed		__attribute__((packed))
#define __maybe_unused		__attribute__((unused))
#define __printf(a, b)		__attribute__((format(printf, a, b)))
#define noinline		__attribute__((noinline))
#define noinline_for_stack	noinline
#define fallthrough		__attribute__((fallthrough))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define static_assert(x, ...)	_Static_assert(x, #x)
#define typeof_member(T, m)	typeof(((T *)0)->m)
#define BUILD_BUG_ON(x)		_Static_assert(!(x), #x)
#define IS_ENABLED(x)		0
#define __stringify_1(x)	#x
#define __stringify(x)		__stringify_1(x)

#define BIT(n)			(1UL << (n))
#define hweight32(v)		__builtin_popcount(v)
#define BIT_ULL(n)		(1ULL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define U8_MAX			UINT8_MAX
#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define U64_MAX			(~0ULL)
#define S64_MAX			INT64_MAX
#define SZ_1M			0x00100000
#define SZ_512M			0x20000000
#define ENOTSUPP		524
#define ERESTARTSYS		512

#define PAGE_SHIFT		12
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define offset_in_page(p)	((unsigned long)(p) & (PAGE_SIZE - 1))

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (size_t)(n))
#define array_size(a, b)	((size_t)(a) * (b))

#define __sim_cmp(a, op, b) ({				\
	typeof(a) _a = (a);				\
	typeof(b) _b = (b);				\
	_a op _b ? _a : _b; })
#define min(a, b)		__sim_cmp(a, <, b)
#define max(a, b)		__sim_cmp(a, >, b)
#define min3(a, b, c)		min(min(a, b), c)
#define max3(a, b, c)		max(max(a, b), c)
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp(v, lo, hi)	min((typeof(v))max(v, lo), hi)
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)
#define swap(a, b) ({ typeof(a) _s = (a); (a) = (b); (b) = _s; })
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define roundup(n, d)		(DIV_ROUND_UP(n, d) * (d))

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline int ilog2(u64 n)
{
	return 63 - __builtin_clzll(n);
}

#define round_down(x, y)	((x) & ~((typeof(x))(y) - 1))

static inline unsigned long rounddown_pow_of_two(unsigned long n)
{
	return 1UL << ilog2(n);
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return n > 1 ? 1UL << (ilog2(n - 1) + 1) : 1;
}

static inline u32 reciprocal_scale(u32 val, u32 n)
{
	return ((u64)val * n) >> 32;
}

static inline u32 hash_32(u32 val, unsigned int bits)
{
	return (val * 0x61C88647U) >> (32 - bits);
}

/* A little endian host is all that the simulator supports. */
#define cpu_to_le16(x)		((__force __le16)(u16)(x))
#define cpu_to_le32(x)		((__force __le32)(u32)(x))
#define cpu_to_le64(x)		((__force __le64)(u64)(x))
#define le16_to_cpu(x)		((u16)(x))
#define le32_to_cpu(x)		((u32)(x))
#define le64_to_cpu(x)		((u64)(x))
#define cpu_to_be16(x)		((__be16)__builtin_bswap16(x))
#define be16_to_cpu(x)		__builtin_bswap16(x)
#define cpu_to_be32(x)		((__be32)__builtin_bswap32(x))
#define be32_to_cpu(x)		__builtin_bswap32(x)
#define htons(x)		cpu_to_be16(x)
#define ntohs(x)		be16_to_cpu(x)
#define htonl(x)		cpu_to_be32(x)
#define ntohl(x)		be32_to_cpu(x)

#define MAX_ERRNO		4095
#define IS_ERR_VALUE(x)		((unsigned long)(x) >= (unsigned long)-MAX_ERRNO)

static inline void *ERR_PTR(long err)
{
	return (void *)err;
}

static inline long PTR_ERR(const void *p)
{
	return (long)p;
}

static inline bool IS_ERR(const void *p)
{
	return IS_ERR_VALUE(p);
}

static inline int PTR_ERR_OR_ZERO(const void *p)
{
	return IS_ERR(p) ? PTR_ERR(p) : 0;
}

static inline void *ERR_CAST(const void *p)
{
	return (void *)p;
}

static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
	return n;
}

u32 jhash(const void *key, u32 len, u32 seed);

static inline u32 jhash_2words(u32 a, u32 b, u32 seed)
{
	u32 words[2] = { a, b };

	return jhash(words, sizeof(words), seed);
}

void *bsearch(const void *key, const void *base, size_t n, size_t size,
	      int (*cmp)(const void *a, const void *b));
void sort(void *base, size_t n, size_t size,
	  int (*cmp)(const void *a, const void *b),
	  void (*swap_fn)(void *a, void *b, int size));

void sort_r(void *base, size_t n, size_t size,
	    int (*cmp)(const void *a, const void *b, const void *priv),
	    void (*swap_fn)(void *a, void *b, int size, const void *priv),
	    const void *priv);

struct module {
	int	refs;
	bool	going;
};

extern struct module sim_module;
#define THIS_MODULE		(&sim_module)
#define EXPORT_SYMBOL_GPL(x)
#define EXPORT_SYMBOL_IF_KUNIT(x)
#define module_param(name, type, mode)
#define module_param_named(name, value, type, mode)
#define MODULE_PARM_DESC(name, desc)

static inline void __module_get(struct module *m)
{
	if (m)
		m->refs++;
}

static inline bool try_module_get(struct module *m)
{
	if (m && m->going)
		return false;
	if (m)
		m->refs++;
	return true;
}

static inline void module_put(struct module *m)
{
	if (m)
		m->refs--;
}

#endif /* _SIM_TYPES_H */
