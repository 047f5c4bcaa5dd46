/* SPDX-License-Identifier: GPL-2.0 */
/* The ops table of the loop transport; af_sanx/main.c registers it. */
#ifndef _SANX_LOOP_H
#define _SANX_LOOP_H

#include "conn/transport.h"

extern const struct sanx_transport_ops sanx_loop_ops;

#endif /* _SANX_LOOP_H */
