// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of connections, which the peer pays for.
 *
 * The limits are those of the node that is asked: sysctls net.sanx.
 */
#include <linux/math64.h>
#include <linux/sizes.h>

#include "frame_priv.h"

/**
 * sanx_payer_put() - put a reference
 * @payer: the peer, not valid for the caller afterwards
 *
 * Context: any.
 */
void sanx_payer_put(struct sanx_payer *payer)
{
	kref_put(&payer->refs, payer->release);
}

/*
 * Pages that the structures of a connection take, with its registrations and its first
 * ring.  Those of its socket are TCP's.
 */
#define CONN_PAGES	DIV_ROUND_UP(4096, PAGE_SIZE)

/* Pages of connections, of rings and of what is sent from, of all peers. */
static atomic_long_t memory;
/* Connections, of all peers. */
static atomic_long_t conns;

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
	const struct sanx_payer *payer = link->payer;
	struct shares s = {
		.all = (u64)READ_ONCE(sanx_mem_mb) * (SZ_1M / PAGE_SIZE),
	};
	u32 percent = READ_ONCE(sanx_net(payer->net)->mem_peer_percent);
	u32 most_percent = READ_ONCE(sanx_net(&init_net)->mem_peer_percent);

	/* A node's connections to itself are its own programs' only. */
	if (payer->id == link->self)
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
	struct sanx_payer *payer = link->payer;
	struct shares s = shares_of(link);

	if (!claim(&memory, pages, div_u64(s.all, part)))
		return false;
	if (!claim(&payer->memory, pages, div_u64(s.peer, part)))
		goto err_all;
	/* A quarter is for links: without one, nobody gets rid of what waits. */
	if (!sanx_user_claim(payer->user, pages, what == SANX_CLAIM_GROWN ? 2 : 3))
		goto err_peer;
	return true;

err_peer:
	atomic_long_sub(pages, &payer->memory);
err_all:
	atomic_long_sub(pages, &memory);
	return false;
}

static void count(struct sanx_payer *payer, u32 pages)
{
	atomic_long_add(pages, &memory);
	atomic_long_add(pages, &payer->memory);
	sanx_user_take(payer->user, pages);
}

/**
 * sanx_payer_claim() - may a peer's connections have more memory?
 * @link: a link to the peer
 * @pages: number of pages
 * @what: what they are for
 *
 * As with TCP under pressure (tcp_mem), connections go on with what they have.
 * SANX_CLAIM_SAVED and SANX_CLAIM_LEAST are never refused.
 *
 * Context: any.
 * Return: true if so, and they count until sanx_payer_unclaim().
 */
bool sanx_payer_claim(struct sanx_link *link, u32 pages, enum sanx_claim what)
{
	struct sanx_payer *payer = link->payer;

	if (what == SANX_CLAIM_SAVED || what == SANX_CLAIM_LEAST) {
		count(payer, pages);
		return true;
	}
	if (claim_all(link, pages, what))
		return true;
	sanx_stat_add(payer->net, SANX_STAT_MEMORY_REFUSED, 1);
	/* Rings that do not grow are no news. */
	if (what != SANX_CLAIM_GROWN)
		pr_notice_ratelimited("no memory for a connection with node %u: net.sanx.mem_mb or mem_peer_percent is reached\n",
				      payer->id);
	return false;
}

/**
 * sanx_payer_unclaim() - pages that sanx_payer_claim() has counted are free
 * @payer: the peer
 * @pages: number of pages
 *
 * Context: any.
 */
void sanx_payer_unclaim(struct sanx_payer *payer, u32 pages)
{
	sanx_user_unclaim(payer->user, pages);
	atomic_long_sub(pages, &payer->memory);
	atomic_long_sub(pages, &memory);
}

/**
 * sanx_payer_conn_add() - a peer has one more connection
 * @payer: the peer
 *
 * Its structures count as memory.  They are never refused here: our own programs may
 * connect, and pay for it.
 *
 * Context: any.
 */
void sanx_payer_conn_add(struct sanx_payer *payer)
{
	atomic_inc(&payer->conns);
	atomic_long_add(1, &conns);
	count(payer, CONN_PAGES);
}

/**
 * sanx_payer_conn_del() - a peer has one connection less
 * @payer: the peer
 *
 * Context: any.
 */
void sanx_payer_conn_del(struct sanx_payer *payer)
{
	sanx_payer_unclaim(payer, CONN_PAGES);
	atomic_long_sub(1, &conns);
	atomic_dec(&payer->conns);
}

/**
 * sanx_payer_full() - would one more connection take more than there may be?
 * @link: a link to the peer
 *
 * What the connections themselves take counts, and not their rings, which do without.
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_payer_full(const struct sanx_link *link)
{
	const struct sanx_payer *payer = link->payer;
	u64 has = atomic_read(&payer->conns);
	struct shares s = shares_of(link);

	return (has + 1) * CONN_PAGES > s.peer ||
	       (atomic_long_read(&conns) + 1) * CONN_PAGES > s.all ||
	       sanx_user_full(payer->user, CONN_PAGES);
}

/**
 * sanx_payer_half_open() - count links that a peer has asked for and that are not up
 * @payer: the peer
 * @n: 1, or -1 when one is up or gone
 *
 * Context: any.
 */
void sanx_payer_half_open(struct sanx_payer *payer, int n)
{
	atomic_add(n, &sanx_net(payer->net)->n_half_open);
	atomic_add(n, &payer->half_open);
	sanx_user_half_open(payer->user, n);
}
