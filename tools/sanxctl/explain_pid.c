// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl explain pid: why the sockets of a process are what they are.
 *
 * The module knows those of AF_SANX, also if they became plain TCP.  What /proc/PID/net
 * has beside them never was of AF_SANX, or accept() returned it for a TCP client.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addr.h"
#include "explain.h"
#include "parse.h"
#include "procs.h"
#include "sanxctl.h"

/**
 * struct held - a socket of the process
 * @fd: its descriptor
 * @inode: its inode
 * @known: how it is known: of the module, or a TCP socket of the kernel's list, or no stream
 * @local: its address and port
 * @remote: the peer's; the port is 0 without a connection
 * @s: what the module says of it
 */
struct held {
	int fd;
	u64 inode;
	enum { HELD_OTHER, HELD_SANX, HELD_TCP } known;
	struct in6_addr local, remote;
	u16 lport, rport;
	struct explain_socket s;
};

/* The sockets of one process. */
struct held_list {
	struct held *held;
	size_t count;
};

/* A socket may be there by several descriptors. */
static void held_each(struct held_list *list, u64 inode,
		      void (*fn)(struct held *held, const void *arg), const void *arg)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->held[i].inode == inode)
			fn(&list->held[i], arg);
}

static int held_order(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return (x->fd > y->fd) - (x->fd < y->fd);
}

/* @fd: one descriptor, or -1 for all */
static int held_collect(struct held_list *list, u32 pid, int fd)
{
	struct procs procs;
	size_t i;

	if (procs_scan(&procs)) {
		procs_free(&procs);
		return -1;
	}
	list->held = calloc(procs.count + 1, sizeof(*list->held));
	for (i = 0; list->held && i < procs.count; i++) {
		if ((u32)procs.holder[i].pid != pid || (fd >= 0 && procs.holder[i].fd != fd))
			continue;
		list->held[list->count].fd = procs.holder[i].fd;
		list->held[list->count++].inode = procs.holder[i].inode;
	}
	procs_free(&procs);
	if (!list->held)
		return ctl_fail("out of memory");
	qsort(list->held, list->count, sizeof(*list->held), held_order);
	return 0;
}

/*
 * What the module has
 */

static void held_sanx(struct held *held, const void *arg)
{
	const struct nlattr *const *attr = arg;

	held->known = HELD_SANX;
	held->local = nl_addr(attr[SANX_A_SOCKET_LOCAL_ADDR]);
	held->lport = nl_uint(attr[SANX_A_SOCKET_LOCAL_PORT]);
	held->remote = nl_addr(attr[SANX_A_SOCKET_REMOTE_ADDR]);
	held->rport = nl_uint(attr[SANX_A_SOCKET_REMOTE_PORT]);
	held->s.node = nl_uint(attr[SANX_A_SOCKET_NODE]);
	nl_word(held->s.state, sizeof(held->s.state), attr[SANX_A_SOCKET_STATE]);
	nl_word(held->s.transport, sizeof(held->s.transport), attr[SANX_A_SOCKET_TRANSPORT]);
	nl_word(held->s.fallback, sizeof(held->s.fallback), attr[SANX_A_SOCKET_FALLBACK]);
}

static void socket_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_SOCKET_MAX + 1];

	nl_parse(nlh, attr, SANX_A_SOCKET_MAX);
	held_each(data, nl_uint(attr[SANX_A_SOCKET_INODE]), held_sanx, attr);
}

/*
 * What the kernel's list of TCP sockets has: proc(5)
 */

/* Words of 32 bits in the order of the machine: one for IPv4, four for IPv6. */
static bool tcp_addr(const char *text, struct in6_addr *addr)
{
	struct in_addr v4;
	size_t i, words = strlen(text) / 8;

	for (i = 0; i < words && i < 4; i++)
		if (sscanf(text + 8 * i, "%8" SCNx32, words == 1 ? &v4.s_addr :
			   &addr->s6_addr32[i]) != 1)
			return false;
	if (words == 1)
		addr_from_v4(&v4, addr);
	return words == 1 || words == 4;
}

struct tcp_line {
	struct in6_addr local, remote;
	unsigned int lport, rport, state;
};

/* As ss(8) has the states of the kernel. */
static const char *tcp_state(unsigned int state)
{
	static const char *const names[] = {
		"?", "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT",
		"UNCONN", "CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING", "NEW-SYN-RECV",
	};

	return names[state < ARRAY_SIZE(names) ? state : 0];
}

static void held_tcp(struct held *held, const void *arg)
{
	const struct tcp_line *line = arg;

	if (held->known != HELD_OTHER)
		return;
	held->known = HELD_TCP;
	held->local = line->local;
	held->lport = line->lport;
	held->remote = line->remote;
	held->rport = line->rport;
	snprintf(held->s.transport, sizeof(held->s.transport), "tcp");
	snprintf(held->s.state, sizeof(held->s.state), "%s", tcp_state(line->state));
}

/* Number: local remote state queues timer retransmissions uid probes inode ... */
#define TCP_FORMAT	"%*d: %39[0-9A-F]:%x %39[0-9A-F]:%x %x %*s %*s %*s %*s %*s %" SCNu64

static void tcp_read(struct held_list *list, u32 pid, const char *name)
{
	char path[64], text[512], local[40], remote[40];
	struct tcp_line line;
	uint64_t inode;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/net/%s", pid, name);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(text, sizeof(text), file)) {
		if (sscanf(text, TCP_FORMAT, local, &line.lport, remote, &line.rport, &line.state,
			   &inode) != 6)
			continue;
		if (inode && tcp_addr(local, &line.local) && tcp_addr(remote, &line.remote))
			held_each(list, inode, held_tcp, &line);
	}
	fclose(file);
}

/*
 * Output
 */

static void endpoint_put(struct print *out, const char *key, const struct in6_addr *addr, u16 port)
{
	char text[ENDPOINT_STRLEN];

	print_string(out, key, " %s", endpoint_format(addr, port, text));
}

static void held_print(struct print *out, const struct held *held)
{
	char addr[ADDR_STRLEN];
	struct explain_words w;

	explain_socket_words(&held->s, held->known == HELD_SANX,
			     addr_format(&held->remote, addr), held->rport, &w);
	print_item_open(out);
	print_uint(out, "fd", "fd %llu", held->fd);
	endpoint_put(out, "local", &held->local, held->lport);
	endpoint_put(out, "remote", &held->remote, held->rport);
	print_string(out, "state", " %s", held->s.state);
	print_string(out, "transport", " %s", held->s.transport);
	print_string(out, "fallback", " fallback:%s", explain_word(held->s.fallback));
	print_string(out, "verdict", "\n  %s", w.verdict);
	print_string(out, "advice", "\n  %s", explain_word(w.advice));
	print_item_close(out);
}

static int pid_print(struct print *out, const struct held_list *list, u32 pid, int fd)
{
	size_t i, n = 0;

	for (i = 0; i < list->count; i++) {
		if (list->held[i].known == HELD_OTHER)
			continue;
		held_print(out, &list->held[i]);
		n++;
	}
	if (!n && fd >= 0)
		return ctl_fail("descriptor %d of %u is no stream socket, or not yours to see",
				fd, pid);
	if (!n)
		return ctl_fail("process %u has no stream sockets, or is not yours to see", pid);
	return 0;
}

/* The module tells of the caller's namespace. */
static bool is_elsewhere(u32 pid)
{
	char path[64], own[64], its[64];
	ssize_t n, m;

	snprintf(path, sizeof(path), "/proc/%u/ns/net", pid);
	n = readlink("/proc/self/ns/net", own, sizeof(own));
	m = readlink(path, its, sizeof(its));
	return n > 0 && m > 0 && (n != m || memcmp(own, its, n));
}

/**
 * explain_pid - say why the sockets of a process are what they are
 * @ctl: this run
 * @argc: number of @argv
 * @argv: PID [ fd FD ]
 *
 * Return: 0, or -1 after a message.
 */
int explain_pid(struct ctl *ctl, int argc, char **argv)
{
	struct held_list list = { };
	u32 pid, fd;
	int rc, only = -1;

	if (!argc)
		return ctl_fail("the number of a process is missing");
	if (!parse_number(argv[0], 10, INT32_MAX, &pid) || !pid)
		return ctl_fail("\"%s\" is not the number of a process", argv[0]);
	rc = ctl_named_number(argc - 1, argv + 1, "fd", "descriptor", INT32_MAX, &fd);
	if (rc < 0)
		return -1;
	if (rc)
		only = fd;
	if (is_elsewhere(pid))
		return ctl_fail("process %u has another network: nsenter -n -t %u sanxctl ...",
				pid, pid);
	rc = held_collect(&list, pid, only);
	if (!rc)
		rc = ctl_dump(ctl, SANX_CMD_SOCKET_GET, socket_take, NULL, &list);
	if (!rc) {
		tcp_read(&list, pid, "tcp");
		tcp_read(&list, pid, "tcp6");
		rc = pid_print(&ctl->out, &list, pid, only);
	}
	free(list.held);
	return rc;
}
