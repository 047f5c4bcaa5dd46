/* SPDX-License-Identifier: GPL-2.0 */
/* Datagram sockets, for the family. */
#ifndef _SANX_DGRAM_H
#define _SANX_DGRAM_H

#include <linux/types.h>

struct socket;

int sanx_dgram_adopt(struct socket *native, struct socket *sock);
void sanx_dgram_init(bool loop);

#endif /* _SANX_DGRAM_H */
