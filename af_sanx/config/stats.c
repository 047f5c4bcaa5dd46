// SPDX-License-Identifier: GPL-2.0
/* Counters: one set for each CPU and namespace. */
#include <linux/export.h>

#include "config.h"
#include "trace.h"

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

/**
 * sanx_count_protocol_error() - count a message that no correct peer sends
 * @net: the namespace of the link or connection
 *
 * Context: any.
 */
void sanx_count_protocol_error(struct net *net)
{
	trace_sanx_protocol_error(net);
	sanx_stat_add(net, SANX_STAT_PROTOCOL_ERRORS, 1);
}
EXPORT_SYMBOL_GPL(sanx_count_protocol_error);
