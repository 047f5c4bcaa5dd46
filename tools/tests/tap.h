/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test results in the Test Anything Protocol.
 */
#ifndef SANX_TOOLS_TAP_H
#define SANX_TOOLS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "words.h"

static int tap_count;
static int tap_failed;

/* Prints one result: @good, and its description. */
__printf(2, 3)
static inline bool ok(bool good, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	tap_failed += !good;
	return good;
}

/* Prints the plan, which comes last.  Return: the program's exit status. */
static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif /* SANX_TOOLS_TAP_H */
