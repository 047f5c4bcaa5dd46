/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses in the format of the kernel interface: 16 bytes, IPv4 as v4-mapped.
 */
#ifndef SANXCTL_ADDR_H
#define SANXCTL_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "words.h"

#define ADDR_STRLEN	INET6_ADDRSTRLEN
#define ENDPOINT_STRLEN	(ADDR_STRLEN + sizeof("[]:65535"))

bool addr_parse(const char *text, struct in6_addr *addr);
bool addr_is_host(const struct in6_addr *addr);
void addr_from_v4(const struct in_addr *v4, struct in6_addr *addr);
int addr_resolve(const char *name, struct in6_addr *addrs, int max, const char **why);

const char *addr_format(const struct in6_addr *addr, char buf[ADDR_STRLEN]);
/* Is it that of an explicit socket?  Then it has node and port, and @port is its type. */
bool addr_is_explicit(const struct in6_addr *addr);
/* That of a node and no port, and the node of one. */
void addr_of_node(u32 node, struct in6_addr *addr);
u32 addr_node(const struct in6_addr *addr);
u32 endpoint_port(const struct in6_addr *addr, u16 port);
const char *endpoint_format(const struct in6_addr *addr, u16 port,
			    char buf[ENDPOINT_STRLEN]);

#endif /* SANXCTL_ADDR_H */
