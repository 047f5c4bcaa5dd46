// SPDX-License-Identifier: GPL-2.0
/* Memory cgroups of a test's own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "util.h"

/* Makes a cgroup of its own for this process; its directory's descriptor. */
int enter_cgroup(char *path, size_t size)
{
	static int serial;
	char procs[128];

	snprintf(path, size, CGROUPS "/%d-%d", getpid(), serial++);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	mkdir(CGROUPS, 0755);
	if (mount("none", CGROUPS, "cgroup2", 0, NULL) && errno != EBUSY)
		return -errno;
	write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	if (mkdir(path, 0755))
		return -errno;
	if (write_file(procs, "0"))
		return -EPERM;
	return rc(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void leave_cgroup(const char *path, int fd)
{
	write_file(CGROUPS "/cgroup.procs", "0");
	close(fd);
	rmdir(path);
}
