/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SANX_SELFTESTS_CGROUP_H
#define SANX_SELFTESTS_CGROUP_H

#include <stddef.h>

/* Where they are; to be in none is to be in this. */
#define CGROUPS	"/tmp/sanx-cgroups"

/* Makes a cgroup of its own for this process; its directory's descriptor. */
int enter_cgroup(char *path, size_t size);
/* Goes back to where all are, and removes it. */
void leave_cgroup(const char *path, int fd);
/* Attaches a BPF program to a cgroup that always says @verdict; or -errno. */
int attach_verdict(int cgroup, int type, int where, int verdict);

#endif /* SANX_SELFTESTS_CGROUP_H */
