// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that the reclaim of memory waits for.
 *
 * The owner of a block device, or of a network file system, says by sk_allocation
 * that what is allocated on its way must not wait for its own I/O, and by
 * sk_set_memalloc() that it is to have the reserves.  TCP passes both on with each
 * allocation.  A transport allocates in more places, and a device's driver in some
 * that take no flags; so all of a call is in a scope (core-api/gfp_mask-from-fs-io).
 *
 * What is done for a connection elsewhere is done by threads, or by workqueues with a
 * thread of their own in reserve, and where a connection may wait for it, likewise
 * without I/O: another one's memory may be what is to be had next.
 */
#include <linux/sched/mm.h>
#include <net/sock.h>

#include "internal.h"

/**
 * sanx_reclaim_waits() - may reclaim wait for a socket?
 * @sk: the sock
 *
 * Context: any.
 * Return: true if its owner has said so.
 */
bool sanx_reclaim_waits(const struct sock *sk)
{
	const gfp_t all = __GFP_IO | __GFP_FS | __GFP_DIRECT_RECLAIM;

	return (READ_ONCE(sk->sk_allocation) & all) != all ||
	       sock_flag(sk, SOCK_MEMALLOC);
}

/**
 * sanx_reclaim_enter() - from here on, the caller allocates as its socket says
 * @sk: the sock
 * @scope: filled, for sanx_reclaim_leave()
 *
 * Context: process.
 */
void sanx_reclaim_enter(const struct sock *sk, struct sanx_reclaim *scope)
{
	scope->noio = sanx_reclaim_waits(sk);
	scope->reserves = sock_flag(sk, SOCK_MEMALLOC);
	if (unlikely(scope->noio))
		scope->noio_was = memalloc_noio_save();
	if (unlikely(scope->reserves))
		scope->reserves_was = memalloc_noreclaim_save();
}

/**
 * sanx_reclaim_leave() - the caller allocates as before
 * @scope: as sanx_reclaim_enter() left it
 *
 * Context: process.
 */
void sanx_reclaim_leave(const struct sanx_reclaim *scope)
{
	if (unlikely(scope->reserves))
		memalloc_noreclaim_restore(scope->reserves_was);
	if (unlikely(scope->noio))
		memalloc_noio_restore(scope->noio_was);
}
