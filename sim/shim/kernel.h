/* SPDX-License-Identifier: GPL-2.0 */
/* All that the module includes of the kernel: each kernel header leads here. */
#ifndef _SIM_KERNEL_H
#define _SIM_KERNEL_H

#include "net.h"

#endif /* _SIM_KERNEL_H */
