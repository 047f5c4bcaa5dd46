/* SPDX-License-Identifier: GPL-2.0 */
/* For all fuzz targets: the function that they are, and what they use. */
#ifndef _FUZZ_FUZZ_H
#define _FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name is libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* abort() makes libFuzzer keep the input. */
#define fuzz_assert(cond)						\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "fuzz: %s:%d: not so: %s\n",	\
				__FILE__, __LINE__, #cond);		\
			abort();					\
		}							\
	} while (0)

/**
 * struct fuzz_input - what is left of an input
 * @data: the next byte
 * @size: number of bytes
 */
struct fuzz_input {
	const uint8_t	*data;
	size_t		size;
};

/* Bytes behind the end of an input are 0. */
static inline void fuzz_bytes(struct fuzz_input *in, void *to, size_t n)
{
	size_t some = n < in->size ? n : in->size;

	memset(to, 0, n);
	if (some)
		memcpy(to, in->data, some);
	in->data += some;
	in->size -= some;
}

static inline uint8_t fuzz_u8(struct fuzz_input *in)
{
	uint8_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint16_t fuzz_u16(struct fuzz_input *in)
{
	uint16_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint32_t fuzz_u32(struct fuzz_input *in)
{
	uint32_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

/**
 * fuzz_rest() - copy the rest of an input
 * @in: the input
 * @size: set to the number of bytes
 *
 * Return: memory of exactly that size, so that AddressSanitizer sees who reads
 * behind it; to be freed.
 */
static inline void *fuzz_rest(struct fuzz_input *in, size_t *size)
{
	void *copy = malloc(in->size);

	*size = in->size;
	if (in->size)
		memcpy(copy, in->data, in->size);
	return copy;
}

#endif /* _FUZZ_FUZZ_H */
