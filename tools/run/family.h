/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of the address family, as the module says it.
 */
#ifndef SANX_TOOLS_FAMILY_H
#define SANX_TOOLS_FAMILY_H

/* The tests put a file of their own here. */
#ifndef SANX_FAMILY_PARAM
#define SANX_FAMILY_PARAM "/sys/module/af_sanx/parameters/family"
#endif

int sanx_family_read(void);

#endif /* SANX_TOOLS_FAMILY_H */
