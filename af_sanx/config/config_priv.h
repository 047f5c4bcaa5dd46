/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the files of af_sanx/config/ only. */
#ifndef _SANX_CONFIG_PRIV_H
#define _SANX_CONFIG_PRIV_H

#include "config.h"

/* sysctl.c */
int sanx_sysctl_net_init(struct sanx_net *sn);
void sanx_sysctl_net_exit(struct sanx_net *sn);

#endif /* _SANX_CONFIG_PRIV_H */
