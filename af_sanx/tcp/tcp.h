/* SPDX-License-Identifier: GPL-2.0 */
/* The TCP wire, as the module's init and exit see it. */
#ifndef _SANX_TCP_H
#define _SANX_TCP_H

int sanx_tcp_init(void);
void sanx_tcp_exit(void);

#endif /* _SANX_TCP_H */
