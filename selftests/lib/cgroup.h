/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SANX_SELFTESTS_CGROUP_H
#define SANX_SELFTESTS_CGROUP_H

#include <stddef.h>

/* Where they are; to be in none is to be in this. */
#define CGROUPS	"/tmp/sanx-cgroups"

/* Writes a file of the kernel's; 0 or -errno. */
int write_file(const char *path, const char *text);
/* A file's number, or -errno. */
long read_number(const char *path);
/* Makes a cgroup of its own for this process; its directory's descriptor. */
int enter_cgroup(char *path, size_t size);
/* Goes back to where all are, and removes it. */
void leave_cgroup(const char *path, int fd);

#endif /* SANX_SELFTESTS_CGROUP_H */
