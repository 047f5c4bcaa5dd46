// SPDX-License-Identifier: GPL-2.0
/* Addresses of this node. */
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/route.h>

#include "config.h"

/**
 * sanx_addr_is_local() - does an address belong to this node?
 * @net: the namespace
 * @addr: IPv6, or IPv4 as v4-mapped
 *
 * Context: any.
 * Return: true if so; loopback addresses are local.
 */
bool sanx_addr_is_local(struct net *net, const struct in6_addr *addr)
{
	if (sanx_addr_explicit(addr))
		return sanx_addr_node(addr) == sanx_node_self(net);
	if (ipv6_addr_v4mapped(addr))
		return inet_addr_type(net, addr->s6_addr32[3]) == RTN_LOCAL;
#if IS_ENABLED(CONFIG_IPV6)
	if (ipv6_addr_loopback(addr))
		return true;
	return ipv6_mod_enabled() && ipv6_chk_addr(net, addr, NULL, 0);
#else
	return false;
#endif
}
