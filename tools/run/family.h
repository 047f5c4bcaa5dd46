/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of the address family, from the module's parameter.
 */
#ifndef SANX_TOOLS_FAMILY_H
#define SANX_TOOLS_FAMILY_H

/* The tests define other files here. */
#ifndef SANX_FAMILY_PARAM
#define SANX_FAMILY_PARAM "/sys/module/af_sanx/parameters/family"
#endif

#ifndef SANX_DGRAM_SYSCTL
#define SANX_DGRAM_SYSCTL "/proc/sys/net/sanx/dgram"
#endif

int sanx_family_read(void);
int sanx_dgram_read(void);

#endif /* SANX_TOOLS_FAMILY_H */
