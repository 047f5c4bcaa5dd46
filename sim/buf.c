// SPDX-License-Identifier: GPL-2.0
/* Contents of the streams, which both ends can compute. */
#include <stdlib.h>

#include "program.h"

/* A prime, so that no ring has a size that divides it. */
#define PATTERN	1048583U

static u8 *pattern;

static void pattern_make(void)
{
	u64 x = 88172645463325252ULL;
	u32 i;

	pattern = malloc(PATTERN);
	for (i = 0; i < PATTERN; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		pattern[i] = x;
	}
}

static u32 pattern_pos(const struct sim_end *e, u64 offset)
{
	return (offset + (2ULL * e->pair->id + e->side) * 7919) % PATTERN;
}

struct sim_buf *sim_buf_new(void)
{
	struct sim_buf *b = calloc(1, sizeof(*b));
	unsigned int i;

	if (!pattern)
		pattern_make();
	b->mem = aligned_alloc(PAGE_SIZE, SIM_BUF);
	for (i = 0; i < ARRAY_SIZE(b->page); i++) {
		b->page[i].refs = 1;
		b->page[i].mem = b->mem + i * PAGE_SIZE;
	}
	return b;
}

static bool buf_busy(const struct sim_buf *b)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(b->page); i++)
		if (b->page[i].refs != 1)
			return true;
	return false;
}

/* The references of pages that the device has read are put a bit later. */
void sim_buf_free(struct sim_buf *b)
{
	u64 end = sim_now + 100 * NSEC_PER_SEC;

	while (buf_busy(b)) {
		sim_sleep(NSEC_PER_USEC, "pages");
		if (sim_now > end)
			sim_fail("the pages of a program do not come back");
	}
	free(b->mem);
	free(b);
}

/**
 * sim_buf_fill() - write the next bytes of a stream
 * @b: memory
 * @e: the end that sends them
 * @len: bytes
 */
void sim_buf_fill(struct sim_buf *b, const struct sim_end *e, u32 len)
{
	u32 pos = pattern_pos(e, e->sent), n = min(len, PATTERN - pos);

	memcpy(b->mem, pattern + pos, n);
	memcpy(b->mem + n, pattern, len - n);
	b->used = len;
}

struct iov_iter sim_buf_iter(struct sim_buf *b, u32 len)
{
	return (struct iov_iter){ .base = b->mem, .pages = b->page,
				  .count = len, .fault = SIZE_MAX };
}

/**
 * sim_buf_spoil() - use the memory for something else, as programs may
 * @b: memory that was sent
 */
void sim_buf_spoil(struct sim_buf *b)
{
	u32 i;

	for (i = 0; i < b->used; i += 1024)
		memset(b->mem + i, 0xee, min(b->used - i, 64U));
}

/**
 * sim_buf_check() - compare what was read
 * @b: the bytes
 * @from: the end that sent them
 * @offset: of the first byte in the stream
 * @len: bytes
 */
void sim_buf_check(const struct sim_buf *b, const struct sim_end *from,
		   u64 offset, u32 len)
{
	u32 pos = pattern_pos(from, offset), n = min(len, PATTERN - pos), i;

	if (!memcmp(b->mem, pattern + pos, n) &&
	    !memcmp(b->mem + n, pattern, len - n))
		return;
	for (i = 0; b->mem[i] == pattern[(pos + i) % PATTERN]; i++)
		;
	sim_fail("connection %u: byte %llu of node %d is wrong",
		 from->pair->id, offset + i, from->node);
}
