// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl socket kill: end sockets of the family, as "ss -K" does.
 *
 * The module says which sockets there are, and sock_diag(7) ends them.
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
		list->explicit++;
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

void kill_free(struct kill_list *list)
{
	free(list->ends);
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

/**
 * kill_all - end all sockets that were added
 * @ctl: this run; prints how many there were
 * @list: the sockets
 *
 * One that has ended by itself meanwhile is not counted.  sock_diag(7) does not have explicit
 * sockets.
 *
 * Return: 0, or -1 after a message.
 */
int kill_all(struct ctl *ctl, const struct kill_list *list)
{
	struct diag_socks found = { };
	u64 ended = 0;
	size_t i;
	int rc;

	rc = diag_find(&found, is_wanted, list);
	for (i = 0; !rc && i < found.count; i++) {
		rc = destroy(&found.sock[i]);
		ended += rc > 0;
		rc = rc < 0 ? rc : 0;
	}
	diag_free(&found);
	if (!rc)
		print_uint(&ctl->out, "ended", "%llu ended\n", ended);
	if (!rc && list->explicit)
		return ctl_fail("%zu explicit sockets are left, which a port rule ends",
				list->explicit);
	return rc;
}
