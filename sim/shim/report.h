/* SPDX-License-Identifier: GPL-2.0 */
/* Failures and traces. */
#ifndef _SIM_REPORT_H
#define _SIM_REPORT_H

#include "sched.h"

extern unsigned int sim_trace_lines;
extern bool sim_trace_all;
/* A failure is abort(), so that libFuzzer keeps the input. */
extern bool sim_abort;
extern u64 sim_world_seed;

void sim_report(void);
/* The simulator's: print the connections. */
void sim_programs_dump(void);

#endif /* _SIM_REPORT_H */
