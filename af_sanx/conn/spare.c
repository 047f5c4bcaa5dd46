// SPDX-License-Identifier: GPL-2.0
/*
 * Memory beyond the ring (spare in names), for a reader that does not read.
 *
 * A ring is as large as a stream needs whose reader keeps up, and no larger:
 * memory that is written and read alternately should fit the cache.  But a
 * program may need more.  Two programs that send much to each other before they
 * read would hang if less is taken than over TCP, which has the sender's buffer
 * and the receiver's.  So a sender may use memory beyond the ring, as much as
 * its send buffer would hold over TCP: SO_SNDBUF, or if that was not set
 * tcp_wmem[2].
 *
 * The transport allocates this memory as it is filled and frees it as it is
 * read: further rings over loop, further chunks over verbs.  The sender's
 * memory cgroup is charged, and TCP's account (tcp_mem), as for the rings of loop
 * themselves.  Under memory pressure in tcp_mem, no such memory is allocated.
 *
 * A stream whose reader keeps up should not use it.  So a blocking sender first
 * waits for SANX_WINDOW_WAIT, unless the last such wait was in vain.  No sender
 * gets the memory if the peer has read within that time.
 *
 * As over TCP, a sender must find room after poll() reported it, although the
 * reader may have read meanwhile.  So the stream offset at which room was
 * reported is recorded in conn->promised.  It is valid until something is sent,
 * which changes the offset.
 *
 * If memory cannot be allocated, in the cgroup or at all, no task is killed for
 * it.  As over TCP, the sender waits and tries again.
 *
 * conn->promised and conn->short_until have no lock: they are accessed with
 * READ_ONCE() and WRITE_ONCE().
 */
#include <linux/log2.h>
#include <linux/sizes.h>
#include <net/tcp.h>

#include "conn_priv.h"

/* TCP exceeds the limit by so much, because it checks it for each sk_buff. */
#define SPARE_OVER	65536U
/* SO_SNDBUFFORCE has no limit of its own. */
#define SPARE_MAX	((u32)SZ_512M)
/* Most pages that are charged at once. */
#define SPARE_PAGES	(SANX_RING_MAX / PAGE_SIZE)
/* A ring takes at most one part in so many of what is left, once half of tcp_mem is used. */
#define MEM_SHARES	1024U
/* Jiffies until an allocation is tried again. */
#define SHORT_TIME	(HZ / 10)

/**
 * sanx_conn_spare() - bytes that a sender may have taken and not given to the
 * peer
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes that TCP would take into its send buffer now.
 */
u32 sanx_conn_spare(struct sanx_conn *conn)
{
	u32 most = 0, size;
	struct sock *sk;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk) {
		size = max(READ_ONCE(sk->sk_sndbuf), 0);
		if (!(sk->sk_userlocks & SOCK_SNDBUF_LOCK))
			size = max_t(u32, size,
				     READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[2]));
		size = min(size, SPARE_MAX);
		most = min(size, tcp_notsent_lowat(tcp_sk(sk))) +
		       SPARE_OVER;
	}
	rcu_read_unlock();
	return most;
}

/**
 * sanx_conn_recheck() - wake the sender to look for room again
 * @conn: the connection
 * @delay: delay of the wake-up, in jiffies
 *
 * Context: any.
 */
void sanx_conn_recheck(struct sanx_conn *conn, unsigned long delay)
{
	sanx_tx_timer_arm(conn, delay);
}

/*
 * Has the peer read within SANX_WINDOW_WAIT?  If so, the sender is woken when that
 * time is over.
 */
static bool sanx_conn_draining(struct sanx_conn *conn)
{
	u32 past = (u32)jiffies - READ_ONCE(conn->drain_time);

	if (past >= SANX_WINDOW_WAIT)
		return false;
	sanx_conn_recheck(conn, SANX_WINDOW_WAIT - past);
	return true;
}

/**
 * sanx_conn_set_short() - there was no memory to send more
 * @conn: the connection
 *
 * The sender is woken after SHORT_TIME.
 *
 * Context: any.
 */
void sanx_conn_set_short(struct sanx_conn *conn)
{
	WRITE_ONCE(conn->short_until, jiffies + SHORT_TIME);
	sanx_conn_recheck(conn, SHORT_TIME);
}

/**
 * sanx_conn_short() - was there no memory to send more, within SHORT_TIME?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if so; the sender is then woken when it may try again.
 */
bool sanx_conn_short(struct sanx_conn *conn)
{
	unsigned long until = READ_ONCE(conn->short_until), now = jiffies;

	if (likely(!until))
		return false;
	if (time_before(now, until)) {
		sanx_conn_recheck(conn, until - now);
		return true;
	}
	/* If another CPU has just set it again, the sender tries too early. */
	WRITE_ONCE(conn->short_until, 0);
	return false;
}

/* Is TCP's memory under pressure, so that its windows would not grow either? */
static bool mem_pressure(u32 pages)
{
	return atomic_long_read(tcp_prot.memory_allocated) + pages >
	       READ_ONCE(tcp_prot.sysctl_mem[1]);
}

/**
 * sanx_mem_pressure() - is there no memory for a ring of the usual size?
 * @conn: the connection
 * @sk: its sock
 *
 * Context: any.
 * Return: true if so, in tcp_mem or in the memory cgroup; as tcp_rmem_pressure().
 */
bool sanx_mem_pressure(const struct sanx_conn *conn, const struct sock *sk)
{
	return mem_pressure(DIV_ROUND_UP(READ_ONCE(conn->rx_max), PAGE_SIZE)) ||
	       tcp_under_memory_pressure(sk);
}

/**
 * sanx_mem_share() - how large a ring may be now
 * @size: bytes that are wanted, a power of two
 *
 * When many want rings at once, each gets a smaller one, and not the first ones the largest
 * and the others none: a connection that has no ring gets far less through.
 *
 * Context: any.
 * Return: @size; or if more than half of tcp_mem is used, a smaller power of two, of a page at
 * least.
 */
u32 sanx_mem_share(u32 size)
{
	long most = READ_ONCE(tcp_prot.sysctl_mem[1]);
	long left = most - atomic_long_read(tcp_prot.memory_allocated);
	u64 share;

	if (left > most / 2)
		return size;
	share = (u64)max(left, 0L) * PAGE_SIZE / MEM_SHARES;
	if (share < PAGE_SIZE)
		return min_t(u32, size, PAGE_SIZE);
	return min_t(u64, size, rounddown_pow_of_two(share));
}

/**
 * sanx_conn_promise() - record that room was reported to the sender
 * @conn: the connection
 * @end: stream offset behind the last byte that was taken from the sender
 *
 * sanx_conn_spares() then permits the next bytes at @end, even if the peer has
 * read meanwhile.
 *
 * Context: any.
 */
void sanx_conn_promise(struct sanx_conn *conn, u64 end)
{
	if (READ_ONCE(conn->promised) != (u32)end)
		WRITE_ONCE(conn->promised, end);
}

/**
 * sanx_conn_affords() - is there memory for a ring of any size, or a record?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if so; a hint.  False if not; the sender is then woken when that may have
 * changed.
 */
bool sanx_conn_affords(struct sanx_conn *conn)
{
	if (sanx_conn_short(conn))
		return false;
	if (!mem_pressure(SPARE_PAGES))
		return true;
	sanx_conn_recheck(conn, SHORT_TIME);
	return false;
}

/**
 * sanx_conn_spares() - may a sender use memory beyond the peer's ring?
 * @conn: the connection
 * @end: stream offset behind the last byte that was taken from the sender
 *
 * Context: any.
 * Return: true if it may, which is recorded as with sanx_conn_promise().  False
 * if not; the sender is then woken when that may have changed.
 */
bool sanx_conn_spares(struct sanx_conn *conn, u64 end)
{
	if (sanx_conn_short(conn))
		return false;
	if (READ_ONCE(conn->promised) != (u32)end && sanx_conn_draining(conn))
		return false;
	if (!sanx_conn_affords(conn))
		return false;
	sanx_conn_promise(conn, end);
	return true;
}

/**
 * sanx_mem_charge() - charge pages to TCP's account
 * @pages: number of pages
 *
 * Context: any.
 * Return: true if they were charged; false under memory pressure.
 */
bool sanx_mem_charge(u32 pages)
{
	if (mem_pressure(pages))
		return false;
	atomic_long_add(pages, tcp_prot.memory_allocated);
	return true;
}

/**
 * sanx_mem_uncharge() - undo sanx_mem_charge()
 * @pages: number of pages
 *
 * Context: any.
 */
void sanx_mem_uncharge(u32 pages)
{
	atomic_long_sub(pages, tcp_prot.memory_allocated);
}
