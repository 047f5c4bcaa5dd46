/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a command, and says at its end what its connections went over.
 */
#ifndef SANX_TOOLS_SUMMARY_H
#define SANX_TOOLS_SUMMARY_H

#include <stdbool.h>

#include "words.h"

/* As for env(1) and nohup(1). */
enum {
	EXIT_OURS	= 125,
	EXIT_CANNOT	= 126,
	EXIT_ENOENT	= 127,
};

__printf(1, 2)
void say(const char *fmt, ...);

int command_exec(char **command);
int summary_run(char **command, bool each);

#endif /* SANX_TOOLS_SUMMARY_H */
