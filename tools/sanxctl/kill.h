/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ends sockets of the family.
 */
#ifndef SANXCTL_KILL_H
#define SANXCTL_KILL_H

#include <netinet/in.h>

#include "sanxctl.h"

/* What the module and TCP's tables both know of a socket; a listener has no remote end. */
struct kill_ends {
	struct in6_addr local, remote;
	u16 lport, rport;
};

/**
 * struct kill_list - sockets that are to end
 * @ends: the sockets
 * @count: their number
 * @room: how many there is room for
 * @inodes: explicit sockets, which are not among @ends, by their inode numbers
 * @inode_count: their number
 * @inode_room: how many there is room for
 */
struct kill_list {
	struct kill_ends *ends;
	size_t count;
	size_t room;
	u64 *inodes;
	size_t inode_count;
	size_t inode_room;
};

void kill_add(struct kill_list *list, const struct nlattr **attr);
void kill_clear(struct kill_list *list);
int kill_all(struct ctl *ctl, const struct kill_list *list);
void kill_free(struct kill_list *list);

#endif /* SANXCTL_KILL_H */
