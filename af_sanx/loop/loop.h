/* SPDX-License-Identifier: GPL-2.0 */
/* The loop transport, for what makes connections over it. */
#ifndef _SANX_LOOP_H
#define _SANX_LOOP_H

#include "conn/transport.h"

/* The parameter loop: is it used?  Else addresses of this node are as others. */
extern bool sanx_loop;
extern const struct sanx_transport_ops sanx_loop_ops;

#endif /* _SANX_LOOP_H */
