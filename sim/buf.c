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

static int lent;

/* The program uses its memory for something else at once. */
static void buf_told(struct ubuf_info *ubuf)
{
	struct sim_buf *b = container_of(ubuf, struct sim_buf, ubuf);

	sim_buf_spoil(b);
	if (buf_busy(b))
		sim_fail("a program is told that its pages are back, and they are not");
	lent--;
	free(b->mem);
	free(b);
}

/**
 * sim_buf_lend() - have memory freed when it is not lent any more
 * @b: memory; the caller has a reference of b->ubuf
 */
void sim_buf_lend(struct sim_buf *b)
{
	lent++;
	b->ubuf = (struct ubuf_info){ .refs = 1, .done = buf_told };
}

static LIST_HEAD(files);

/* Return: parts of files that are being sent. */
static int files_busy(void)
{
	struct sim_buf *b, *next;
	int n = 0;

	list_for_each_entry_safe(b, next, &files, file) {
		if (buf_busy(b)) {
			n++;
			continue;
		}
		list_del(&b->file);
		free(b->mem);
		free(b);
	}
	return n;
}

/**
 * sim_buf_file() - memory is a part of a file, and freed when nobody needs it
 * @b: memory that is to be sent, and that does not change
 */
void sim_buf_file(struct sim_buf *b)
{
	files_busy();
	list_add_tail(&b->file, &files);
}

/**
 * sim_bufs_lent() - calls whose pages are in use
 */
int sim_bufs_lent(void)
{
	return lent + files_busy();
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
