/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What sanx-run and the library share: the number of the address family, from the
 * module's parameter, and the names of variables.
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

/* What sanx-run tells the library: struct sanx_tally.key, in hexadecimal. */
#define SANX_TALLY_ENV		"SANX_TALLY"

/*
 * Likewise: options to set on each socket, as LEVEL:NUMBER:VALUE in decimal, each with a comma
 * behind it.
 */
#define SANX_OPTIONS_ENV	"SANX_OPTIONS"
#define SANX_OPTIONS_MAX	16

int sanx_family_read(void);
int sanx_dgram_read(void);

#endif /* SANX_TOOLS_FAMILY_H */
