/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's short type and attribute names, for programs.
 */
#ifndef SANX_TOOLS_WORDS_H
#define SANX_TOOLS_WORDS_H

#include <assert.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define WORDS_ATTRIBUTE(attribute) __attribute__((attribute))

#define __printf(fmt, args)	WORDS_ATTRIBUTE(format(printf, fmt, args))
#define __visible		WORDS_ATTRIBUTE(visibility("default"))

#endif /* SANX_TOOLS_WORDS_H */
