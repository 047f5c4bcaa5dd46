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

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), n;

	if (fd < 0)
		return -errno;
	n = rc(write(fd, text, strlen(text)));
	close(fd);
	return n < 0 ? n : 0;
}

long read_number(const char *path)
{
	char buf[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (read(fd, buf, sizeof(buf) - 1) < 0)
		buf[0] = 0;
	close(fd);
	return atol(buf);
}

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
