// SPDX-License-Identifier: GPL-2.0
/*
 * Words that people have written: numbers, and words in messages.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

bool parse_number(const char *text, int base, u32 max, u32 *number)
{
	unsigned long long n;

	if (!*text || text[strspn(text, base == 16 ? "0123456789abcdefABCDEF" : "0123456789")])
		return false;

	/* ULLONG_MAX if it is more. */
	n = strtoull(text, NULL, base);
	if (n > max)
		return false;

	*number = n;
	return true;
}

const char *quote(const char *word, char buf[QUOTE_LEN])
{
	size_t len = 0;

	buf[len++] = '"';
	for (; *word && len < QUOTE_LEN - 5; word++)
		buf[len++] = isprint((unsigned char)*word) ? *word : '?';
	snprintf(&buf[len], QUOTE_LEN - len, "%s\"", *word ? "..." : "");
	return buf;
}
