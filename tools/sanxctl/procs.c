// SPDX-License-Identifier: GPL-2.0
/*
 * The processes that have a socket open, found in /proc as ss(8) finds them: the descriptors
 * of the caller's processes, and for root those of all.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parse.h"
#include "procs.h"
#include "sanxctl.h"

/* The next number that a directory has as a name, or -1. */
static int next_number(DIR *dir)
{
	struct dirent *entry;
	u32 number;

	while ((entry = readdir(dir)))
		if (parse_number(entry->d_name, 10, INT_MAX, &number))
			return number;
	return -1;
}

/* The inode of the socket that a link of /proc/PID/fd names; false if it is something else. */
static bool socket_inode(int dir, int fd, u64 *inode)
{
	char name[16], text[64];
	ssize_t len;
	char end;

	snprintf(name, sizeof(name), "%d", fd);
	len = readlinkat(dir, name, text, sizeof(text) - 1);
	if (len < 0)
		return false;
	text[len] = '\0';
	return sscanf(text, "socket:[%llu%c", (unsigned long long *)inode, &end) == 2 &&
	       end == ']';
}

/*
 * The kernel has no longer names than struct holder has room for.  A process may call itself
 * whatever it likes.
 */
static void name_read(int proc, char *name, size_t room)
{
	int file = openat(proc, "comm", O_RDONLY | O_CLOEXEC);
	ssize_t len = file < 0 ? 0 : read(file, name, room - 1);

	if (file >= 0)
		close(file);
	name[len > 0 ? len : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	for (; *name; name++)
		if (*name < ' ' || *name > '~')
			*name = '?';
}

static int holder_add(struct procs *procs, const struct holder *holder)
{
	struct holder *more;

	more = table_grow(procs->holder, procs->count, &procs->room, sizeof(*more));
	if (!more)
		return -1;
	procs->holder = more;
	procs->holder[procs->count++] = *holder;
	return 0;
}

/* What of a process has gone meanwhile, or is another user's, is left out. */
static int proc_scan(struct procs *procs, int root, pid_t pid)
{
	struct holder holder = { .pid = pid };
	int proc, fds, rc = 0;
	char name[16];
	DIR *dir;

	snprintf(name, sizeof(name), "%d", pid);
	proc = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return 0;
	fds = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fds < 0 ? NULL : fdopendir(fds);
	if (dir) {
		name_read(proc, holder.name, sizeof(holder.name));
		while (!rc && (holder.fd = next_number(dir)) >= 0)
			if (socket_inode(fds, holder.fd, &holder.inode))
				rc = holder_add(procs, &holder);
		closedir(dir);
	} else if (fds >= 0) {
		close(fds);
	}
	close(proc);
	return rc;
}

static int holder_order(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

/**
 * procs_scan - find out who has which sockets open
 * @procs: filled; to be freed with procs_free(), also on failure
 *
 * Return: 0, or -1 after a message.
 */
int procs_scan(struct procs *procs)
{
	DIR *dir = opendir("/proc");
	int pid, rc = 0;

	*procs = (struct procs) { };
	if (!dir)
		return ctl_fail("/proc: %s", strerror(errno));
	while (!rc && (pid = next_number(dir)) >= 0)
		rc = proc_scan(procs, dirfd(dir), pid);
	closedir(dir);
	if (rc)
		return ctl_fail("out of memory");
	if (procs->count)
		qsort(procs->holder, procs->count, sizeof(*procs->holder), holder_order);
	return 0;
}

/**
 * procs_find - who has a socket open?
 * @procs: as procs_scan() has filled it
 * @inode: the socket's
 * @count: set to the number of descriptors
 *
 * Return: the first of them, in the order of processes and descriptors; NULL if there is none.
 */
const struct holder *procs_find(const struct procs *procs, u64 inode, size_t *count)
{
	size_t low = 0, high = procs->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (procs->holder[middle].inode < inode)
			low = middle + 1;
		else
			high = middle;
	}
	for (*count = 0; low + *count < procs->count; ++*count)
		if (procs->holder[low + *count].inode != inode)
			break;
	return *count ? procs->holder + low : NULL;
}

void procs_free(struct procs *procs)
{
	free(procs->holder);
	*procs = (struct procs) { };
}
