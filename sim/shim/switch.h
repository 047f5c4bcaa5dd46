/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks, and the switch from one to another. */
#ifndef _SIM_SWITCH_H
#define _SIM_SWITCH_H

#include <stddef.h>

void *sim_stack_new(void **sp, void (*fn)(void *arg), void *arg);
void sim_switch_to_task(void **save, void *sp, void *stack);
void sim_switch_to_main(void **save);

#endif /* _SIM_SWITCH_H */
