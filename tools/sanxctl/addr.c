// SPDX-License-Identifier: GPL-2.0
/*
 * Reading, resolving and writing addresses.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "addr.h"

void addr_from_v4(const struct in_addr *v4, struct in6_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->s6_addr[10] = 0xff;
	addr->s6_addr[11] = 0xff;
	memcpy(&addr->s6_addr[12], v4, sizeof(*v4));
}

/* Only complete addresses: not "10.1", not "::1%lo". */
bool addr_parse(const char *text, struct in6_addr *addr)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		addr_from_v4(&v4, addr);
		return true;
	}

	return inet_pton(AF_INET6, text, addr) == 1;
}

/* Is this a unicast address, which a host can have? */
bool addr_is_host(const struct in6_addr *addr)
{
	in_addr_t v4 = ntohl(addr->s6_addr32[3]);

	if (IN6_IS_ADDR_V4MAPPED(addr))
		return v4 >> 24 && !IN_MULTICAST(v4) && v4 != INADDR_BROADCAST;

	return !IN6_IS_ADDR_UNSPECIFIED(addr) && !IN6_IS_ADDR_MULTICAST(addr);
}

static bool addr_known(const struct in6_addr *addrs, int count, const struct in6_addr *addr)
{
	int i;

	for (i = 0; i < count; i++)
		if (IN6_ARE_ADDR_EQUAL(&addrs[i], addr))
			return true;

	return false;
}

static int addrs_take(const struct addrinfo *info, struct in6_addr *addrs, int max)
{
	struct in6_addr addr;
	int count = 0;

	for (; info && count < max; info = info->ai_next) {
		if (info->ai_family == AF_INET)
			addr_from_v4(&((struct sockaddr_in *)info->ai_addr)->sin_addr, &addr);
		else if (info->ai_family == AF_INET6)
			addr = ((struct sockaddr_in6 *)info->ai_addr)->sin6_addr;
		else
			continue;

		if (!addr_known(addrs, count, &addr))
			addrs[count++] = addr;
	}

	return count;
}

/*
 * Does getaddrinfo() take the name for an address, such as "10.1" or "::1%lo"?
 */
static bool addr_is_odd(const char *name)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST };
	struct addrinfo *info;

	if (getaddrinfo(name, NULL, &hints, &info))
		return false;
	freeaddrinfo(info);
	return true;
}

/**
 * addr_resolve - find the addresses of a host name
 * @name: the name; not an address that addr_parse() takes
 * @addrs: filled with the addresses, without duplicates
 * @max: number of entries in @addrs
 * @why: on failure, the reason
 *
 * Return: the number of addresses stored, or -1.
 */
int addr_resolve(const char *name, struct in6_addr *addrs, int max, const char **why)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *info;
	int count, rc;

	if (addr_is_odd(name)) {
		*why = "not a whole address";
		return -1;
	}

	rc = getaddrinfo(name, NULL, &hints, &info);
	if (rc) {
		*why = gai_strerror(rc);
		return -1;
	}

	count = addrs_take(info, addrs, max);
	freeaddrinfo(info);
	return count;
}

const char *addr_format(const struct in6_addr *addr, char buf[ADDR_STRLEN])
{
	if (IN6_IS_ADDR_V4MAPPED(addr))
		return inet_ntop(AF_INET, &addr->s6_addr[12], buf, ADDR_STRLEN);

	return inet_ntop(AF_INET6, addr, buf, ADDR_STRLEN);
}

#define EXPLICIT_PREFIX	htonl(0x01000000)

bool addr_is_explicit(const struct in6_addr *addr)
{
	return addr->s6_addr32[0] == EXPLICIT_PREFIX && !addr->s6_addr32[1];
}

void addr_of_node(u32 node, struct in6_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->s6_addr32[0] = EXPLICIT_PREFIX;
	addr->s6_addr32[3] = htonl(node);
}

u32 addr_node(const struct in6_addr *addr)
{
	return ntohl(addr->s6_addr32[3]);
}

/* As ss(8) has those of vsock. */
static const char *explicit_format(const struct in6_addr *addr, char buf[ENDPOINT_STRLEN])
{
	u32 node = addr_node(addr), port = endpoint_port(addr, 0);
	char text[sizeof("4294967295")] = "*";

	if (node)
		snprintf(text, sizeof(text), "%u", node);
	snprintf(buf, ENDPOINT_STRLEN, port ? "%s:%u" : "%s:*", text, port);
	return buf;
}

u32 endpoint_port(const struct in6_addr *addr, u16 port)
{
	return addr_is_explicit(addr) ? ntohl(addr->s6_addr32[2]) : port;
}

const char *endpoint_format(const struct in6_addr *addr, u16 port,
			    char buf[ENDPOINT_STRLEN])
{
	const char *fmt = IN6_IS_ADDR_V4MAPPED(addr) ? "%s:%u" : "[%s]:%u";
	char text[ADDR_STRLEN];

	if (addr_is_explicit(addr))
		return explicit_format(addr, buf);
	snprintf(buf, ENDPOINT_STRLEN, fmt, addr_format(addr, text), port);
	return buf;
}
