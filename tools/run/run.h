/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of sanx-run share.
 */
#ifndef SANX_TOOLS_RUN_H
#define SANX_TOOLS_RUN_H

#include <limits.h>
#include <stdbool.h>

#include "family.h"
#include "words.h"

/* As for env(1) and nohup(1). */
enum {
	EXIT_OURS	= 125,
	EXIT_CANNOT	= 126,
	EXIT_ENOENT	= 127,
};

/**
 * struct choice - what is to be done, by options or by a profile
 * @dgram: UDP sockets are to be AF_SANX sockets, too
 * @strict: fail rather than run over TCP
 * @summary: what is to be said at the end
 * @options: socket options, as in SANX_OPTIONS_ENV
 * @n_options: number of them
 */
struct choice {
	bool		dgram;
	bool		strict;
	enum {
		SUMMARY_NONE,
		SUMMARY_SUMS,
		SUMMARY_EACH,
	} summary;
	char		options[SANX_OPTIONS_MAX * 36];
	unsigned int	n_options;
};

/* sanx-run.c */
__printf(1, 2)
void say(const char *fmt, ...);
bool find_beside(const char *below, char path[PATH_MAX]);

/* profile.c */
int profile_read(struct choice *choice, const char *name);

/* summary.c */
int command_exec(char **command);
int summary_run(char **command, bool each);

#endif /* SANX_TOOLS_RUN_H */
