// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces by name, as "ip netns" keeps them.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "sanxctl.h"

#define NETNS_DIR	"/run/netns/"

/**
 * netns_enter - do the rest in another network namespace
 * @name: its name in /run/netns, or the path of a file such as /proc/PID/ns/net
 *
 * Return: 0, or -1 after a message.
 */
int netns_enter(const char *name)
{
	char path[4096];
	int fd, rc;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : NETNS_DIR, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ctl_fail("network namespace \"%s\": %s", name, strerror(errno));
	rc = setns(fd, CLONE_NEWNET);
	if (rc)
		rc = ctl_fail("network namespace \"%s\": %s", name, strerror(errno));
	close(fd);
	return rc;
}
