// SPDX-License-Identifier: GPL-2.0
/*
 * Routes and network devices of a node, in place of af_sanx/config/reach.c and
 * af_sanx/link/peer/netdev.c: there is always a route, and devices work.
 */
#include "link/peer/peer.h"
#include "sim.h"

void sanx_route_loops(struct net *net, const struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote, struct sanx_arrival *by)
{
}

bool sanx_route_reaches(struct net *net, bool own, const struct sanx_endpoint *local,
			const struct sanx_endpoint *remote, struct sanx_arrival *by)
{
	/* The request was checked against the rules. */
	sim_rule_soon(net->id);
	return true;
}

bool sanx_addr_works(struct net *net, const struct in6_addr *addr)
{
	return true;
}

/* No node is found by asking, so routes choose nothing. */
bool sanx_route_source(struct net *net, const struct in6_addr *remote,
		       struct in6_addr *local)
{
	return false;
}

int sanx_netdev_init(void)
{
	return 0;
}

void sanx_netdev_exit(void)
{
}

void sanx_netdev_work(struct work_struct *work)
{
}

u32 sanx_route_genid(struct net *net, const struct in6_addr *addr)
{
	return 0;
}
