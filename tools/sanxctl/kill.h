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
 * @explicit: number of explicit sockets, which are not among them
 */
struct kill_list {
	struct kill_ends *ends;
	size_t count;
	size_t room;
	size_t explicit;
};

void kill_add(struct kill_list *list, const struct nlattr **attr);
int kill_all(struct ctl *ctl, const struct kill_list *list);
void kill_free(struct kill_list *list);

#endif /* SANXCTL_KILL_H */
