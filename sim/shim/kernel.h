/* SPDX-License-Identifier: GPL-2.0 */
/* All that the module includes of the kernel: each kernel header leads here. */
#ifndef _SIM_KERNEL_H
#define _SIM_KERNEL_H

#include "net.h"

/* There are no versions of it. */
#define _SANX_COMPAT_H

#ifndef offsetofend
#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))
#endif

static inline void *memchr_inv(const void *from, int c, size_t n)
{
	const unsigned char *p = from;

	for (; n; n--, p++)
		if (*p != (unsigned char)c)
			return (void *)p;
	return NULL;
}

#endif /* _SIM_KERNEL_H */
