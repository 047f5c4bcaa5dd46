// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets for which the kernel's memory reclaim waits.  (Reclaim of ring memory
 * is in reclaim.c.)
 *
 * The owner of a block device, or of a network file system, says with
 * sk_allocation that allocations on its I/O path must not wait for its own I/O,
 * and with sk_set_memalloc() that they may use the reserves.  TCP passes both
 * with each allocation.  A transport allocates in more places, and a device's
 * driver in some that take no flags.  So each call as a whole is in a scope
 * (core-api/gfp_mask-from-fs-io).
 *
 * Other work for a connection is done by kernel threads, or by workqueues with
 * a rescuer.  Where a connection may wait for that work, it allocates without
 * I/O as well, because reclaim may wait for another connection next.
 */
#include <linux/sched/mm.h>
#include <net/sock.h>

#include "conn_priv.h"

/* May memory reclaim wait for a socket?  Return: true if its owner has said so. */
bool sanx_memalloc_needed(const struct sock *sk)
{
	const gfp_t all = __GFP_IO | __GFP_FS | __GFP_DIRECT_RECLAIM;

	return (READ_ONCE(sk->sk_allocation) & all) != all ||
	       sock_flag(sk, SOCK_MEMALLOC);
}

/**
 * sanx_conn_reserves() - is a connection for memory reclaim itself?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if the owner of its socket has called sk_set_memalloc().
 */
bool sanx_conn_reserves(struct sanx_conn *conn)
{
	const struct sock *sk;
	bool reserves;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	reserves = sk && sock_flag(sk, SOCK_MEMALLOC);
	rcu_read_unlock();
	return reserves;
}

/**
 * sanx_memalloc_save() - allocate as the socket's owner has said, from now on
 * @sk: the sock
 * @scope: filled, for sanx_memalloc_restore()
 *
 * Context: process.
 */
void sanx_memalloc_save(const struct sock *sk, struct sanx_memalloc *scope)
{
	scope->noio = sanx_memalloc_needed(sk);
	scope->reserves = sock_flag(sk, SOCK_MEMALLOC);
	if (unlikely(scope->noio))
		scope->noio_was = memalloc_noio_save();
	if (unlikely(scope->reserves))
		scope->reserves_was = memalloc_noreclaim_save();
}

/**
 * sanx_memalloc_restore() - allocate as before again
 * @scope: as filled by sanx_memalloc_save()
 *
 * Context: process.
 */
void sanx_memalloc_restore(const struct sanx_memalloc *scope)
{
	if (unlikely(scope->reserves))
		memalloc_noreclaim_restore(scope->reserves_was);
	if (unlikely(scope->noio))
		memalloc_noio_restore(scope->noio_was);
}
