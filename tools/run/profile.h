/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What somebody wants of sanx-run, by its options or by a profile.
 */
#ifndef SANX_TOOLS_PROFILE_H
#define SANX_TOOLS_PROFILE_H

#include <stdbool.h>

#include "family.h"

/**
 * struct choice - what is to be done
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

int profile_read(struct choice *choice, const char *name);

#endif /* SANX_TOOLS_PROFILE_H */
