// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer may ask for.
 *
 * The limits are those of the node that is asked: sysctls net.sanx.
 */
#include <linux/ktime.h>

#include "peer.h"

static void bounds_refused(const struct sanx_peer *peer)
{
	sanx_stat_add(peer->payer.net, SANX_STAT_REQUESTS_REFUSED, 1);
}

/*
 * May a peer have a link set up now?
 *
 * A set-up takes memory, a queue pair and registrations, and replaces the link that
 * was there.
 */
bool sanx_bounds_link(struct sanx_peer *peer)
{
	const struct sanx_net *sn = sanx_net(peer->payer.net);

	return !sanx_rate_wait(&peer->setups, ktime_get_ns(),
			       READ_ONCE(sn->setups_peer)) && sanx_user_setup(peer->payer.user);
}

/*
 * When may a request for a connection be served?
 *
 * A peer that asks too often is not refused: what it asks for is served at the
 * rate that is allowed.  As it has at most SANX_OPENS_MAX requests without an answer,
 * it asks no more often then.
 *
 * Return: 0, and it counts; else jiffies until it may.
 */
unsigned long sanx_bounds_request(struct sanx_peer *peer)
{
	const struct sanx_net *sn = sanx_net(peer->payer.net);
	u64 ns = sanx_rate_wait(&peer->requests, ktime_get_ns(),
				READ_ONCE(sn->requests_peer));

	if (!ns)
		return 0;
	sanx_stat_add(peer->payer.net, SANX_STAT_REQUESTS_DELAYED, 1);
	pr_notice_ratelimited("node %u asks for connections too often: net.sanx.requests_peer is reached\n",
			      peer->payer.id);
	return nsecs_to_jiffies(ns) + 1;
}

static bool one_too_many(const struct sanx_peer *peer, const char *which)
{
	bounds_refused(peer);
	pr_notice_ratelimited("node %u asks for one connection more: %s is reached\n",
			      peer->payer.id, which);
	return false;
}

/*
 * May a peer have one more connection?
 *
 * Where a peer has too many, further ones are TCP.  It may get a few more, by asking
 * in several lanes at once.  The connections alone do not take more memory than there
 * may be.
 */
bool sanx_bounds_conn(struct sanx_link *link)
{
	struct sanx_peer *peer = sanx_peer_of(link);
	const struct sanx_net *sn = sanx_net(peer->payer.net);

	if (atomic_read(&peer->payer.conns) >= READ_ONCE(sn->conns_peer))
		return one_too_many(peer, "net.sanx.conns_peer");
	if (sanx_payer_full(link))
		return one_too_many(peer, "net.sanx.mem_mb or mem_peer_percent");
	return true;
}

/* A peer has asked for an address that TCP would not let it reach. */
void sanx_bounds_unreachable(struct sanx_peer *peer, const struct in6_addr *addr)
{
	bounds_refused(peer);
	pr_notice_ratelimited("node %u asks for a connection to %pI6c, to which it has no route here\n",
			      peer->payer.id, addr);
}

/**
 * sanx_bounds_user() - may a user have memory for links, lanes or peers?
 * @user: the user, or NULL
 * @pages: number of pages
 *
 * Context: any.
 * Return: true if so, and they count until sanx_user_unclaim().
 */
bool sanx_bounds_user(struct sanx_user *user, u32 pages)
{
	if (sanx_user_claim(user, pages, 4))
		return true;
	pr_notice_ratelimited("no memory for a link in a namespace of a user: net.sanx.mem_mb or mem_peer_percent is reached\n");
	return false;
}
