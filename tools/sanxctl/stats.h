/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters: names, and what they mean.
 */
#ifndef SANXCTL_STATS_H
#define SANXCTL_STATS_H

#include <stddef.h>

#include "words.h"

/**
 * struct counter - a counter of the module
 * @type: SANX_A_STATS_*
 * @key: its name
 * @family: its family in Prometheus, without "sanx_" and "_total"
 * @label: what tells the counters of a family apart; NULL if it has only this one
 * @value: the label's value for this one
 * @text: what it counts
 */
struct counter {
	u16 type;
	const char *key;
	const char *family;
	const char *label;
	const char *value;
	const char *text;
};

extern const struct counter counters[];
extern const size_t n_counters;

struct ctl;

/* prometheus.c */
int prometheus_show(struct ctl *ctl);

#endif /* SANXCTL_STATS_H */
