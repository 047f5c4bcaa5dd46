// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer may ask for.
 *
 * The limits are those of the node that is asked: sysctls net.sanx.  A request
 * beyond one is refused where it arrives, before the accept thread, which serves all
 * peers, has anything to do with it.
 */
#include <linux/ktime.h>

#include "internal.h"

static void bounds_refused(const struct sanx_group *g)
{
	sanx_stat_add(g->lnet->net, SANX_STAT_REQUESTS_REFUSED, 1);
}

/**
 * sanx_bounds_open() - may a peer have a connection that it asks for?
 * @g: the lane that it asks in
 *
 * As with SYNs that TCP drops, a peer that asks too often asks again later.  Where it has
 * too many connections, further ones are TCP.
 *
 * Context: any.
 * Return: 0, or enum sanx_reject.
 */
u32 sanx_bounds_open(struct sanx_group *g)
{
	const struct sanx_net *sn = sanx_net(g->lnet->net);
	struct sanx_group *first = g->first;

	if (!sanx_rate_take(&first->requests, ktime_get_ns(),
			    READ_ONCE(sn->requests_peer))) {
		bounds_refused(g);
		pr_notice_ratelimited("node %u asks for connections too often: net.sanx.requests_peer is reached\n",
				      g->peer);
		return SANX_REJECT_BUSY;
	}
	if (atomic_read(&first->conns) >= READ_ONCE(sn->conns_peer)) {
		bounds_refused(g);
		pr_notice_ratelimited("node %u asks for one connection more: net.sanx.conns_peer is reached\n",
				      g->peer);
		return SANX_REJECT_DENIED;
	}
	return 0;
}
