/* SPDX-License-Identifier: GPL-2.0 */
/* Init and exit of the netlink family, for af_sanx/main.c. */
#ifndef _SANX_NETLINK_FAMILY_H
#define _SANX_NETLINK_FAMILY_H

int sanx_netlink_init(void);
void sanx_netlink_exit(void);

#endif /* _SANX_NETLINK_FAMILY_H */
