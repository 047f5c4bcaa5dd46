/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What sanxctl doctor has found.
 */
#ifndef SANXCTL_DOCTOR_H
#define SANXCTL_DOCTOR_H

#include <stdbool.h>

#include "nodemap.h"

struct ifaddrs;

/**
 * enum finding - how it is
 * @FINDING_OK: nothing is wrong
 * @FINDING_NOTE: something to know, or that could be better
 * @FINDING_BAD: something is wrong, so connections are TCP or are lost
 */
enum finding {
	FINDING_OK,
	FINDING_NOTE,
	FINDING_BAD,
};

/**
 * struct doctor - one examination
 * @ctl: this run
 * @root: where /sys and /proc are: empty, or a directory with copies
 * @map: its node map
 * @addrs: the addresses of this node
 * @self: our node id by that map; 0 if it does not have us
 * @found: number of findings of each kind
 */
struct doctor {
	struct ctl *ctl;
	const char *root;
	struct nodemap map;
	struct ifaddrs *addrs;
	u32 self;
	unsigned int found[FINDING_BAD + 1];
};

/* @advice: what to do; NULL if there is nothing */
__printf(5, 6)
void doctor_find(struct doctor *d, enum finding how, const char *about, const char *advice,
		 const char *fmt, ...);

/* Reads a file below @root as one line.  Return: whether it is there. */
__printf(4, 5)
bool doctor_read(const struct doctor *d, char *to, size_t room, const char *fmt, ...);

/* doctor_dev.c */
void doctor_devices(struct doctor *d, enum finding unused);
void doctor_rail(struct doctor *d, const struct in6_addr *addr, enum finding without);
const char *doctor_interface(const struct doctor *d, const struct in6_addr *addr);

/* dcb.c */
int dcb_pfc(const char *interface);

#endif /* SANXCTL_DOCTOR_H */
