/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The identity of this machine.
 */
#ifndef SANXCTL_MACHINE_H
#define SANXCTL_MACHINE_H

#include "words.h"

int machine_node_id(u32 *id);

#endif /* SANXCTL_MACHINE_H */
