/* SPDX-License-Identifier: GPL-2.0 */
/* The netlink family, for the module's init and exit. */
#ifndef _SANX_NETLINK_FAMILY_H
#define _SANX_NETLINK_FAMILY_H

int sanx_netlink_init(void);
void sanx_netlink_exit(void);

#endif /* _SANX_NETLINK_FAMILY_H */
