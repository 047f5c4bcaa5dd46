/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The node map that the module uses.
 */
#ifndef SANXCTL_NODEMAP_H
#define SANXCTL_NODEMAP_H

#include "sanxctl.h"

int nodemap_send(struct ctl *ctl, u8 cmd, const struct nodemap *map, const char *file);
int nodemap_fetch(struct ctl *ctl, struct nodemap *map);

/* sync.c */
int nodemap_sync(struct ctl *ctl, int argc, char **argv);

#endif /* SANXCTL_NODEMAP_H */
