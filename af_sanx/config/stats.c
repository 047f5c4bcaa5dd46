// SPDX-License-Identifier: GPL-2.0
/* Counters: one set for each CPU and namespace. */
#include "config.h"

/**
 * sanx_stat_sum() - read a counter
 * @sn: the namespace
 * @stat: the counter
 *
 * Context: any.
 * Return: the sum over all CPUs; an estimate while CPUs count.
 */
u64 sanx_stat_sum(const struct sanx_net *sn, enum sanx_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(sn->stats, cpu)->v[stat]);
	return sum;
}
