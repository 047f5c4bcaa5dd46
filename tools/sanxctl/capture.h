/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a command writes to its standard output.
 */
#ifndef SANXCTL_CAPTURE_H
#define SANXCTL_CAPTURE_H

#include <stddef.h>

int capture(char **argv, char **text, size_t *len);

#endif /* SANXCTL_CAPTURE_H */
