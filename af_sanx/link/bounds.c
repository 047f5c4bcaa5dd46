// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer may ask for.
 *
 * The limits are those of the node that is asked: sysctls net.sanx.  Requests for
 * connections that come too often are refused where they arrive, before the accept
 * thread, which serves all peers, has anything to do with them.
 */
#include <linux/ktime.h>

#include "internal.h"

static void bounds_refused(const struct sanx_group *g)
{
	sanx_stat_add(g->lnet->net, SANX_STAT_REQUESTS_REFUSED, 1);
}

/**
 * sanx_bounds_request() - may a peer ask for a connection now?
 * @g: the lane that it asks in
 *
 * As with SYNs that TCP drops, a peer that asks too often asks again later.
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_bounds_request(struct sanx_group *g)
{
	const struct sanx_net *sn = sanx_net(g->lnet->net);

	if (sanx_rate_take(&g->first->requests, ktime_get_ns(),
			   READ_ONCE(sn->requests_peer)))
		return true;
	bounds_refused(g);
	pr_notice_ratelimited("node %u asks for connections too often: net.sanx.requests_peer is reached\n",
			      g->peer);
	return false;
}

/**
 * sanx_bounds_conn() - may a peer have one more connection?
 * @g: the lane that it asks in; connections that a restarted peer has forgotten
 *	do not count any more
 *
 * Where a peer has too many, further ones are TCP.
 *
 * Context: process.
 * Return: true if so.
 */
bool sanx_bounds_conn(struct sanx_group *g)
{
	const struct sanx_net *sn = sanx_net(g->lnet->net);

	if (atomic_read(&g->first->conns) < READ_ONCE(sn->conns_peer))
		return true;
	bounds_refused(g);
	pr_notice_ratelimited("node %u asks for one connection more: net.sanx.conns_peer is reached\n",
			      g->peer);
	return false;
}

/**
 * sanx_bounds_unreachable() - a peer has asked for an address that TCP would not
 * let it reach
 * @g: the lane that it has asked in
 * @addr: our address
 *
 * Context: process.
 */
void sanx_bounds_unreachable(struct sanx_group *g, const struct in6_addr *addr)
{
	bounds_refused(g);
	pr_notice_ratelimited("node %u asks for a connection to %pI6c, to which it has no route here\n",
			      g->peer, addr);
}
