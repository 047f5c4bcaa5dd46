/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests ask of the module, over generic netlink. */
#ifndef SANX_NODE_H
#define SANX_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/sanx_netlink.h>

/**
 * struct node_stats - the counters of this network namespace
 * @v: by SANX_A_STATS_*
 */
struct node_stats {
	uint64_t v[SANX_A_STATS_MAX + 1];
};

/**
 * node_stats() - read the counters
 * @st: filled; all zero if it fails
 *
 * Return: 0, or -errno; -ENOENT if the module is not loaded.
 */
int node_stats(struct node_stats *st);

/**
 * node_ports_deny() - replace all port rules
 * @deny: deny every port; else allow every port
 *
 * Return: 0, or -errno.
 */
int node_ports_deny(bool deny);

/**
 * node_family() - the number of the address family
 *
 * Return: it, or -errno if the module is not loaded.
 */
int node_family(void);

#endif /* SANX_NODE_H */
