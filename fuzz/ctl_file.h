/* SPDX-License-Identifier: GPL-2.0 */
/* For the targets that are files which sanxctl reads (tools/sanxctl/parse.c). */
#ifndef _FUZZ_CTL_FILE_H
#define _FUZZ_CTL_FILE_H

#include "fuzz/fuzz.h"
#include "tools/sanxctl/parse.h"

/* @text as a file, to be closed. */
static inline FILE *ctl_file(const void *text, size_t size)
{
	return size ? fmemopen((void *)text, size, "r") : fopen("/dev/null", "r");
}

/* What is refused has a message, and a line of the file. */
static inline void ctl_check_error(const struct parse_source *src, const uint8_t *text,
				   size_t size)
{
	unsigned int lines = 1;
	const char *c;
	size_t i;

	for (i = 0; i < size; i++)
		lines += text[i] == '\n';
	fuzz_assert(src->error.line && src->error.line <= lines);
	fuzz_assert(*src->error.text);
	/* Nothing that could control a terminal. */
	for (c = src->error.text; *c; c++)
		fuzz_assert(*c >= ' ' && *c <= '~');
}

#endif /* _FUZZ_CTL_FILE_H */
