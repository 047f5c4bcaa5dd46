/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The processes that have a socket open, found in /proc.
 */
#ifndef SANXCTL_PROCS_H
#define SANXCTL_PROCS_H

#include <stddef.h>
#include <sys/types.h>

#include "words.h"

/**
 * struct holder - a descriptor of a socket
 * @inode: number of the socket's inode
 * @pid: the process
 * @fd: its descriptor
 * @name: the process's name, as ps(1) shows it
 */
struct holder {
	u64 inode;
	pid_t pid;
	int fd;
	char name[16];
};

/**
 * struct procs - who has which sockets open
 * @holder: all descriptors of sockets, in the order of @inode
 * @count: their number
 * @room: how many there is room for
 */
struct procs {
	struct holder *holder;
	size_t count;
	size_t room;
};

int procs_scan(struct procs *procs);
const struct holder *procs_find(const struct procs *procs, u64 inode, size_t *count);
void procs_free(struct procs *procs);

#endif /* SANXCTL_PROCS_H */
