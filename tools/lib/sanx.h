/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libsanx: what programs do with AF_SANX that takes more than a call of the kernel.
 *
 * See sanx_getaddrinfo(3).  All functions may be called by several threads at once.
 */
#ifndef SANX_H
#define SANX_H

#include <linux/sanx.h>

#ifdef __cplusplus
extern "C" {
#endif

struct addrinfo;

/**
 * sanx_family() - the number of the address family
 *
 * May change errno.
 *
 * Return: what socket() takes: the module's parameter, or SANX_FAMILY_DEFAULT if the module is
 * not loaded, so that socket() loads it.
 */
int sanx_family(void);

/**
 * sanx_getaddrinfo() - find addresses of explicit sockets, as getaddrinfo() those of others
 * @node: a node id; or the name or an address of a host, which the node map gives a node;
 *	NULL for this node
 * @service: a port of up to 32 bits; or a name of services(5); NULL for SANX_PORT_ANY
 * @hints: which of them, as for getaddrinfo(); NULL for all
 * @res: set on success, to be freed by sanx_freeaddrinfo().  Each ai_addr is a
 *	struct sockaddr_sanx
 *
 * For a host the kernel is asked.  A host under "auto" in the node map that is not known yet is
 * asked who it is, for up to ten seconds.
 *
 * Return: 0; or an error as those of getaddrinfo(), for gai_strerror().  EAI_ADDRFAMILY: the host
 * is no node.
 */
int sanx_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		     struct addrinfo **res);

/**
 * sanx_freeaddrinfo() - free what sanx_getaddrinfo() has found
 * @res: the first one, or NULL
 */
void sanx_freeaddrinfo(struct addrinfo *res);

#ifdef __cplusplus
}
#endif

#endif /* SANX_H */
