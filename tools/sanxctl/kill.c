// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl socket kill: end sockets of the family, as "ss -K" does.
 *
 * The module says which sockets there are, and sock_diag(7) ends them.  It does not have explicit
 * sockets, which the module ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "diag.h"
#include "kill.h"

/**
 * kill_add - add a socket to those that kill_all() ends
 * @list: the sockets
 * @attr: the socket, as the module tells it
 */
void kill_add(struct kill_list *list, const struct nlattr **attr)
{
	struct in6_addr local = nl_addr(attr[SANX_A_SOCKET_LOCAL_ADDR]);

	if (addr_is_explicit(&local)) {
		list->inodes = ctl_grow(list->inodes, list->inode_count, &list->inode_room,
					sizeof(*list->inodes));
		list->inodes[list->inode_count++] = nl_uint(attr[SANX_A_SOCKET_INODE]);
		return;
	}
	list->ends = ctl_grow(list->ends, list->count, &list->room, sizeof(*list->ends));
	list->ends[list->count++] = (struct kill_ends) {
		.local = local,
		.remote = nl_addr(attr[SANX_A_SOCKET_REMOTE_ADDR]),
		.lport = nl_uint(attr[SANX_A_SOCKET_LOCAL_PORT]),
		.rport = nl_uint(attr[SANX_A_SOCKET_REMOTE_PORT]),
	};
}

/**
 * kill_clear - take all sockets from a list
 * @list: the list
 */
void kill_clear(struct kill_list *list)
{
	list->count = 0;
	list->inode_count = 0;
}

void kill_free(struct kill_list *list)
{
	free(list->ends);
	free(list->inodes);
}

static void addr_of(const struct inet_diag_msg *sock, const __be32 *from, struct in6_addr *addr)
{
	struct in_addr v4 = { .s_addr = from[0] };

	if (sock->idiag_family == AF_INET)
		addr_from_v4(&v4, addr);
	else
		memcpy(addr, from, sizeof(*addr));
}

/* No address, of either family. */
static bool is_any(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_UNSPECIFIED(addr) ||
	       (IN6_IS_ADDR_V4MAPPED(addr) && !addr->s6_addr32[3]);
}

static bool same_addr(const struct in6_addr *a, const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a)) || (is_any(a) && is_any(b));
}

static bool is_wanted(const struct inet_diag_msg *sock, const void *arg)
{
	const struct kill_list *wanted = arg;
	struct in6_addr local, remote;
	const struct kill_ends *e;

	addr_of(sock, sock->id.idiag_src, &local);
	addr_of(sock, sock->id.idiag_dst, &remote);
	for (e = wanted->ends; e < wanted->ends + wanted->count; e++)
		if (e->lport == ntohs(sock->id.idiag_sport) &&
		    e->rport == ntohs(sock->id.idiag_dport) &&
		    same_addr(&e->local, &local) && same_addr(&e->remote, &remote))
			return true;
	return false;
}

static int destroy(const struct inet_diag_msg *sock)
{
	if (!diag_destroy(sock))
		return 1;
	if (errno == ENOENT)
		return 0;
	if (errno == EPERM)
		return ctl_fail("Operation not permitted (CAP_NET_ADMIN is needed)");
	if (errno == EOPNOTSUPP)
		return ctl_fail("this kernel ends no sockets: CONFIG_INET_DIAG_DESTROY");
	return ctl_fail("sock_diag: %s", strerror(errno));
}

/* Return: how many were ended, or -1 after a message. */
static int destroy_all(const struct kill_list *list)
{
	struct diag_socks found = { };
	int rc, ended = 0;
	size_t i;

	rc = diag_find(&found, is_wanted, list);
	for (i = 0; rc >= 0 && i < found.count; i++) {
		rc = destroy(&found.sock[i]);
		ended += rc > 0;
	}
	diag_free(&found);
	return rc < 0 ? rc : ended;
}

/* Return: 1; 0 if there is nothing to end any more; -1 after a message. */
static int end_explicit(struct ctl *ctl, u64 inode)
{
	struct nl_request req;
	struct nl_error error;
	int rc;

	if (nl_request_init(&req, SANX_CMD_SOCKET_END, 1, MNL_ATTR_HDRLEN + sizeof(inode)))
		return ctl_fail("out of memory");
	mnl_attr_put_u64(req.nlh, SANX_A_SOCKET_INODE, inode);
	rc = ctl_send(ctl, &req, NULL, NULL, &error);
	nl_request_free(&req);
	if (!rc)
		return 1;
	if (error.err == ENOENT)
		return 0;
	ctl_fail_nl(NULL, 0, &error);
	return -1;
}

/* Return: as destroy_all(). */
static int end_all_explicit(struct ctl *ctl, const struct kill_list *list)
{
	int rc = 0, ended = 0;
	size_t i;

	for (i = 0; rc >= 0 && i < list->inode_count; i++) {
		rc = end_explicit(ctl, list->inodes[i]);
		ended += rc > 0;
	}
	return rc < 0 ? rc : ended;
}

/**
 * kill_all - end all sockets that were added
 * @ctl: this run; prints how many there were
 * @list: the sockets
 *
 * One that has ended by itself meanwhile is not counted.
 *
 * Return: 0, or -1 after a message.
 */
int kill_all(struct ctl *ctl, const struct kill_list *list)
{
	int destroyed = list->count ? destroy_all(list) : 0, ended;

	if (destroyed < 0)
		return -1;
	ended = end_all_explicit(ctl, list);
	if (ended < 0)
		return -1;
	print_uint(&ctl->out, "ended", "%llu ended\n", destroyed + ended);
	return 0;
}
