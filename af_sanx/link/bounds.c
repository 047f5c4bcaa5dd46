// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer may ask for.
 *
 * The limits are those of the node that is asked: sysctls net.sanx.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sizes.h>

#include "internal.h"

/*
 * Pages that the structures of a connection take, with its registrations and its first
 * ring.  Those of its socket are TCP's.
 */
#define CONN_PAGES	DIV_ROUND_UP(4096, PAGE_SIZE)

/* Pages of connections, of rings and of what is sent from, of all peers. */
static atomic_long_t memory;
/* Connections, of all peers. */
static atomic_long_t conns;

static void bounds_refused(const struct sanx_peer *peer)
{
	sanx_stat_add(peer->lnet->net, SANX_STAT_REQUESTS_REFUSED, 1);
}

/**
 * sanx_bounds_link() - may a peer have a link set up now?
 * @peer: the peer
 *
 * A set-up takes memory, a queue pair and registrations, and replaces the link that
 * was there.
 *
 * Context: process.
 * Return: true if so.
 */
bool sanx_bounds_link(struct sanx_peer *peer)
{
	const struct sanx_net *sn = sanx_net(peer->lnet->net);

	return !sanx_rate_wait(&peer->setups, ktime_get_ns(),
			       READ_ONCE(sn->setups_peer)) && sanx_user_setup(peer->user);
}

/**
 * sanx_bounds_request() - when may a request for a connection be served?
 * @peer: the peer
 *
 * A peer that asks too often is not refused: what it asks for is served at the
 * rate that is allowed.  As it has at most SANX_OPENS_MAX requests without an answer,
 * it asks no more often then.
 *
 * Context: process.
 * Return: 0, and it counts; else jiffies until it may.
 */
unsigned long sanx_bounds_request(struct sanx_peer *peer)
{
	const struct sanx_net *sn = sanx_net(peer->lnet->net);
	u64 ns = sanx_rate_wait(&peer->requests, ktime_get_ns(),
				READ_ONCE(sn->requests_peer));

	if (!ns)
		return 0;
	sanx_stat_add(peer->lnet->net, SANX_STAT_REQUESTS_DELAYED, 1);
	pr_notice_ratelimited("node %u asks for connections too often: net.sanx.requests_peer is reached\n",
			      peer->id);
	return nsecs_to_jiffies(ns) + 1;
}

static bool claim(atomic_long_t *account, u32 pages, u64 most)
{
	if (atomic_long_add_return(pages, account) <= most)
		return true;
	atomic_long_sub(pages, account);
	return false;
}

/**
 * struct shares - the most memory that there may be, in pages
 * @all: of connections with all peers
 * @peer: of those with one peer
 */
struct shares {
	u64	all;
	u64	peer;
};

static struct shares shares_of(const struct sanx_link *link)
{
	const struct sanx_peer *peer = link->peer;
	struct shares s = {
		.all = (u64)READ_ONCE(sanx_mem_mb) * (SZ_1M / PAGE_SIZE),
	};
	u32 percent = READ_ONCE(sanx_net(peer->lnet->net)->mem_peer_percent);
	u32 most_percent = READ_ONCE(sanx_net(&init_net)->mem_peer_percent);

	/* A node's connections to itself are its own programs' only. */
	if (peer->id == link->self)
		percent = 100;
	else
		percent = min(percent, most_percent);
	s.peer = div_u64(s.all * percent, 100);
	return s;
}

/* Half is for those who have nothing yet. */
static bool claim_all(struct sanx_link *link, u32 pages, enum sanx_claim what)
{
	u32 part = what == SANX_CLAIM_GROWN ? 2 : 1;
	struct sanx_peer *peer = link->peer;
	struct shares s = shares_of(link);

	if (!claim(&memory, pages, div_u64(s.all, part)))
		return false;
	if (!claim(&peer->memory, pages, div_u64(s.peer, part)))
		goto err_all;
	/* A quarter is for links: without one, nobody gets rid of what waits. */
	if (!sanx_user_claim(peer->user, pages, what == SANX_CLAIM_GROWN ? 2 : 3))
		goto err_peer;
	return true;

err_peer:
	atomic_long_sub(pages, &peer->memory);
err_all:
	atomic_long_sub(pages, &memory);
	return false;
}

static void count(struct sanx_peer *peer, u32 pages)
{
	atomic_long_add(pages, &memory);
	atomic_long_add(pages, &peer->memory);
	sanx_user_take(peer->user, pages);
}

/**
 * sanx_bounds_memory() - may a peer's connections have more memory?
 * @link: a link to the peer
 * @pages: number of pages
 * @what: what they are for
 *
 * As with TCP under pressure (tcp_mem), connections go on with what they have.
 * SANX_CLAIM_SAVED and SANX_CLAIM_LEAST are never refused.
 *
 * Context: any.
 * Return: true if so, and they count until sanx_bounds_memory_put().
 */
bool sanx_bounds_memory(struct sanx_link *link, u32 pages, enum sanx_claim what)
{
	struct sanx_peer *peer = link->peer;

	if (what == SANX_CLAIM_SAVED || what == SANX_CLAIM_LEAST) {
		count(peer, pages);
		return true;
	}
	if (claim_all(link, pages, what))
		return true;
	sanx_stat_add(peer->lnet->net, SANX_STAT_MEMORY_REFUSED, 1);
	/* Rings that do not grow are no news. */
	if (what != SANX_CLAIM_GROWN)
		pr_notice_ratelimited("no memory for a connection with node %u: net.sanx.mem_mb or mem_peer_percent is reached\n",
				      peer->id);
	return false;
}

/**
 * sanx_bounds_memory_put() - pages that sanx_bounds_memory() has counted are free
 * @peer: the peer
 * @pages: number of pages
 *
 * Context: any.
 */
void sanx_bounds_memory_put(struct sanx_peer *peer, u32 pages)
{
	sanx_user_unclaim(peer->user, pages);
	atomic_long_sub(pages, &peer->memory);
	atomic_long_sub(pages, &memory);
}

static bool one_too_many(const struct sanx_peer *peer, const char *which)
{
	bounds_refused(peer);
	pr_notice_ratelimited("node %u asks for one connection more: %s is reached\n",
			      peer->id, which);
	return false;
}

/**
 * sanx_bounds_conn() - may a peer have one more connection?
 * @link: the link that it asks on; connections that a restarted peer has forgotten
 *	do not count any more
 *
 * Where a peer has too many, further ones are TCP.  It may get a few more, by asking
 * in several lanes at once.  The connections alone do not take more memory than there
 * may be.
 *
 * Context: process.
 * Return: true if so.
 */
bool sanx_bounds_conn(struct sanx_link *link)
{
	struct sanx_peer *peer = link->peer;
	const struct sanx_net *sn = sanx_net(peer->lnet->net);
	u64 has = atomic_read(&peer->conns);
	struct shares s = shares_of(link);

	if (has >= READ_ONCE(sn->conns_peer))
		return one_too_many(peer, "net.sanx.conns_peer");
	if ((has + 1) * CONN_PAGES > s.peer ||
	    (atomic_long_read(&conns) + 1) * CONN_PAGES > s.all ||
	    sanx_user_full(peer->user, CONN_PAGES))
		return one_too_many(peer, "net.sanx.mem_mb or mem_peer_percent");
	return true;
}

/**
 * sanx_bounds_conn_add() - a peer has one more connection
 * @peer: the peer
 *
 * Its structures count as memory.  They are never refused here: our own programs may
 * connect, and pay for it.
 *
 * Context: any.
 */
void sanx_bounds_conn_add(struct sanx_peer *peer)
{
	atomic_inc(&peer->conns);
	atomic_long_add(1, &conns);
	count(peer, CONN_PAGES);
}

/**
 * sanx_bounds_conn_del() - a peer has one connection less
 * @peer: the peer
 *
 * Context: any.
 */
void sanx_bounds_conn_del(struct sanx_peer *peer)
{
	sanx_bounds_memory_put(peer, CONN_PAGES);
	atomic_long_sub(1, &conns);
	atomic_dec(&peer->conns);
}

/**
 * sanx_bounds_unreachable() - a peer has asked for an address that TCP would not
 * let it reach
 * @peer: the peer
 * @addr: our address
 *
 * Context: process.
 */
void sanx_bounds_unreachable(struct sanx_peer *peer, const struct in6_addr *addr)
{
	bounds_refused(peer);
	pr_notice_ratelimited("node %u asks for a connection to %pI6c, to which it has no route here\n",
			      peer->id, addr);
}
