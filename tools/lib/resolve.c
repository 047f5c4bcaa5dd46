// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * libsanx: addresses of explicit sockets.
 */
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../run/family.h"
#include "sanx.h"

/* Flags about hosts, which getaddrinfo() gets. */
#define HOST_FLAGS	(AI_NUMERICHOST | AI_CANONNAME | AI_ADDRCONFIG | AI_IDN | AI_CANONIDN)
/* All.  AI_V4MAPPED and AI_ALL choose among IP addresses, of which there are none here. */
#define FLAGS		(HOST_FLAGS | AI_PASSIVE | AI_NUMERICSERV | AI_V4MAPPED | AI_ALL)

/* Hosts under "auto" are waited for so long: longer than the kernel waits for their answer. */
#define ASK_SECS	10
#define ASK_INTERVAL	50000000	/* ns */

#define TYPES		3

/* In the order of what is found. */
static const int types[TYPES] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };

/* One that is found; it is freed by its first member. */
struct result {
	struct addrinfo info;
	struct sockaddr_sanx addr;
};

/**
 * struct query - one call
 * @hints: its hints
 * @type: the types of sockets that are wanted, and have a port
 * @port: the port of each
 * @types: how many these are
 * @fd: a socket to ask the kernel by
 * @until: when hosts that are asked are waited for no more, or 0 if none has been yet
 * @first: what is found
 * @end: where the next one is put
 */
struct query {
	const struct addrinfo *hints;
	int type[TYPES];
	__u32 port[TYPES];
	int types;
	int fd;
	time_t until;
	struct addrinfo *first;
	struct addrinfo **end;
};

int sanx_family(void)
{
	int family = sanx_family_read();

	return family ? family : SANX_FAMILY_DEFAULT;
}

void sanx_freeaddrinfo(struct addrinfo *res)
{
	struct addrinfo *next;

	for (; res; res = next) {
		next = res->ai_next;
		free(res->ai_canonname);
		free(res);
	}
}

/* Decimal, or hexadecimal with 0x; 010 is ten. */
static bool parse_u32(const char *text, __u32 *val)
{
	int base = strncasecmp(text, "0x", 2) ? 10 : 16;
	unsigned long long n;
	char *end;

	/* strtoull() takes blanks and signs, too. */
	if (!isdigit((unsigned char)*text))
		return false;
	n = strtoull(text, &end, base);
	*val = n;
	return !*end && n <= UINT32_MAX;
}

/*
 * Services
 */

/* That of services(5).  Streams of records have the names of TCP, too. */
static int named_port(const char *service, int type, __u32 *port)
{
	const struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = type == SOCK_DGRAM ? SOCK_DGRAM : SOCK_STREAM,
	};
	struct addrinfo *info;
	int err = getaddrinfo(NULL, service, &hints, &info);

	if (err)
		return err;
	*port = ntohs(((struct sockaddr_in *)info->ai_addr)->sin_port);
	freeaddrinfo(info);
	return 0;
}

/* getaddrinfo() takes these for ports, with blanks and signs, and leaves out what is too much. */
static bool is_number(const char *service)
{
	char *end;

	strtoul(service, &end, 10);
	return !*end;
}

static int find_port(const char *service, int flags, int type, __u32 *port)
{
	*port = SANX_PORT_ANY;
	if (!service || parse_u32(service, port))
		return 0;
	if (is_number(service))
		return EAI_SERVICE;
	return flags & AI_NUMERICSERV ? EAI_NONAME : named_port(service, type, port);
}

/* Return: 0 if a type of sockets has such a service. */
static int find_ports(struct query *q, const char *service)
{
	int err = EAI_SOCKTYPE, i;

	for (i = 0; i < TYPES; i++) {
		if (q->hints->ai_socktype && q->hints->ai_socktype != types[i])
			continue;
		err = find_port(service, q->hints->ai_flags, types[i], &q->port[q->types]);
		if (!err)
			q->type[q->types++] = types[i];
		else if (err != EAI_SERVICE)
			return err;
	}
	return q->types ? 0 : err;
}

/*
 * Nodes
 */

static bool has_node(const struct query *q, __u32 node)
{
	const struct addrinfo *info;

	for (info = q->first; info; info = info->ai_next)
		if (((struct sockaddr_sanx *)info->ai_addr)->sanx_node == node)
			return true;
	return false;
}

/* Return: 0, also if it has been found before; or EAI_MEMORY. */
static int add_node(struct query *q, __u32 node)
{
	int family = sanx_family(), i;
	struct result *r;

	if (has_node(q, node))
		return 0;
	for (i = 0; i < q->types; i++) {
		r = calloc(1, sizeof(*r));
		if (!r)
			return EAI_MEMORY;
		r->addr.sanx_family = family;
		r->addr.sanx_node = node;
		r->addr.sanx_port = q->port[i];
		r->info.ai_flags = q->hints->ai_flags;
		r->info.ai_family = family;
		r->info.ai_socktype = q->type[i];
		r->info.ai_protocol = SANXPROTO_EXPLICIT;
		r->info.ai_addr = (struct sockaddr *)&r->addr;
		r->info.ai_addrlen = sizeof(r->addr);
		*q->end = &r->info;
		q->end = &r->info.ai_next;
	}
	return 0;
}

/* The address as the kernel has it. */
static void get_address(const struct addrinfo *info, __u8 addr[16])
{
	if (info->ai_family == AF_INET6) {
		memcpy(addr, &((struct sockaddr_in6 *)info->ai_addr)->sin6_addr, 16);
		return;
	}
	memset(addr, 0, 10);
	memset(addr + 10, 0xff, 2);
	memcpy(addr + 12, &((struct sockaddr_in *)info->ai_addr)->sin_addr, 4);
}

/* Waits before a host is looked for again.  Return: false if there was time enough. */
static bool pause_asking(struct query *q)
{
	const struct timespec interval = { .tv_nsec = ASK_INTERVAL };
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!q->until)
		q->until = now.tv_sec + ASK_SECS;
	if (now.tv_sec >= q->until)
		return false;
	/* A signal only makes it ask sooner. */
	nanosleep(&interval, NULL);
	return true;
}

/*
 * The node that has an IP address.
 *
 * Return: 0; EAI_ADDRFAMILY if no node has it; EAI_AGAIN if that is not known yet; EAI_SYSTEM.
 */
static int find_node(struct query *q, const struct addrinfo *info, __u32 *node)
{
	struct sanx_node_of of = { .node = SANX_NODE_ANY };
	socklen_t len = sizeof(of);

	get_address(info, of.addr);
	while (getsockopt(q->fd, SOL_SANX, SANX_NODE_OF, &of, &len)) {
		if (errno == ENOENT || errno == EINVAL)
			return EAI_ADDRFAMILY;
		if (errno != EAGAIN)
			return EAI_SYSTEM;
		if (!pause_asking(q))
			return EAI_AGAIN;
	}
	*node = of.node;
	return 0;
}

/* Return: 0 if one of the host's addresses is that of a node. */
static int add_nodes(struct query *q, const struct addrinfo *host)
{
	int all = EAI_ADDRFAMILY, err;
	__u32 node;

	for (; host; host = host->ai_next) {
		err = find_node(q, host, &node);
		if (!err)
			err = add_node(q, node);
		/* Other addresses of the host may be known. */
		if (err == EAI_AGAIN)
			all = err;
		else if (err && err != EAI_ADDRFAMILY)
			return err;
	}
	return q->first ? 0 : all;
}

/* Likewise; asks the kernel. */
static int ask_nodes(struct query *q, const struct addrinfo *host)
{
	int err, saved;

	q->fd = socket(sanx_family(), SOCK_STREAM | SOCK_CLOEXEC, SANXPROTO_EXPLICIT);
	if (q->fd < 0)
		return EAI_SYSTEM;
	err = add_nodes(q, host);
	saved = errno;
	close(q->fd);
	errno = saved;
	return err;
}

static int set_name(struct query *q, const char *name)
{
	if (!(q->hints->ai_flags & AI_CANONNAME) || !name)
		return 0;
	q->first->ai_canonname = strdup(name);
	return q->first->ai_canonname ? 0 : EAI_MEMORY;
}

static int find_host(struct query *q, const char *name)
{
	const struct addrinfo hints = {
		.ai_flags = q->hints->ai_flags & HOST_FLAGS,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *host;
	int err = getaddrinfo(name, NULL, &hints, &host), saved;

	if (err)
		return err;
	err = ask_nodes(q, host);
	if (!err)
		err = set_name(q, host->ai_canonname);
	/* With EAI_SYSTEM it says why. */
	saved = errno;
	freeaddrinfo(host);
	errno = saved;
	return err;
}

static int find_nodes(struct query *q, const char *name)
{
	__u32 node = SANX_NODE_ANY;
	int err;

	if (name && !parse_u32(name, &node))
		return find_host(q, name);
	err = add_node(q, node);
	return err ? err : set_name(q, name);
}

/*
 * The call
 */

static int check(const char *node, const char *service, const struct addrinfo *hints)
{
	if (!node && !service)
		return EAI_NONAME;
	if ((hints->ai_flags & ~FLAGS) || (!node && (hints->ai_flags & AI_CANONNAME)))
		return EAI_BADFLAGS;
	if (hints->ai_family != AF_UNSPEC && hints->ai_family != sanx_family())
		return EAI_FAMILY;
	if (hints->ai_protocol && hints->ai_protocol != SANXPROTO_EXPLICIT)
		return EAI_SOCKTYPE;
	return 0;
}

int sanx_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		     struct addrinfo **res)
{
	static const struct addrinfo all;
	struct query q = { .hints = hints ? hints : &all, .end = &q.first };
	int err = check(node, service, q.hints), saved;

	if (!err)
		err = find_ports(&q, service);
	if (!err)
		err = find_nodes(&q, node);
	if (!err) {
		*res = q.first;
		return 0;
	}
	saved = errno;
	sanx_freeaddrinfo(q.first);
	errno = saved;
	return err;
}
