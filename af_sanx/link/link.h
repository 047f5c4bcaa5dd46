/* SPDX-License-Identifier: GPL-2.0 */
/* The engine, as the module's init and exit see it. */
#ifndef _SANX_LINK_H
#define _SANX_LINK_H

int sanx_link_init(void);
void sanx_link_exit(void);

#endif /* _SANX_LINK_H */
