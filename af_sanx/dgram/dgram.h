/* SPDX-License-Identifier: GPL-2.0 */
/* Datagram sockets, for the family. */
#ifndef _SANX_DGRAM_H
#define _SANX_DGRAM_H

#include <linux/types.h>

struct socket;

int sanx_dgram_adopt(struct socket *native, struct socket *sock);
int sanx_dgram_init(void);
void sanx_dgram_exit(void);

#endif /* _SANX_DGRAM_H */
