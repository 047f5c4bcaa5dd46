// SPDX-License-Identifier: GPL-2.0
/*
 * What a sender may keep for a reader that does not read.
 *
 * A ring is as large as a stream needs whose reader keeps up, and no larger: what
 * is written and read in turns should be in the cache.  But a program may count
 * on more.  Two that send much to each other before they read hang where less
 * is taken than over TCP, which has the sender's buffer and then the receiver's.
 * So beyond the ring a sender may have as much as its buffer would hold over TCP:
 * SO_SNDBUF, or where that was not set the third figure of tcp_wmem.  The
 * transport has the memory, gets it as it is filled, and gives it back as it is
 * read.  It is the sender's memory cgroup that pays, and TCP's account (tcp_mem)
 * that it is in; where that is under pressure, there is none.
 *
 * A stream whose reader keeps up is not to come to that.  So a sender that may wait
 * does so for SANX_PATIENCE first, unless it has waited in vain the last time; and
 * nobody gets it while the reader was at work within that time.
 *
 * Who was told by poll() that there is room is to find it, as over TCP, though the
 * reader may have gone on meanwhile.  So it is noted at which offset of the stream
 * that was said.  It holds until something is sent, which moves the offset.
 *
 * Where there is no memory, in the cgroup or at all, nobody is killed for it: as
 * over TCP, the sender waits, and tries again.
 */
#include <linux/export.h>
#include <linux/sizes.h>
#include <net/tcp.h>

#include "internal.h"

/* What TCP takes beyond the limit: that is looked at for each sk_buff. */
#define SPARE_OVER	65536U
/* SO_SNDBUFFORCE knows no bounds. */
#define SPARE_MAX	((u32)SZ_512M)
/* What is charged at a time, at the most. */
#define SPARE_PAGES	(SANX_RING_MAX / PAGE_SIZE)
/* When memory is asked for again. */
#define SHORT_TIME	(HZ / 10)

/**
 * sanx_conn_spare() - bytes that a sender may have taken and not yet given to the
 *	peer
 * @conn: the connection
 * @more: bytes that the peer's TCP would take, and its ring does not
 *
 * Context: any.
 * Return: bytes, as TCP would take them into its send buffer, now.
 */
u32 sanx_conn_spare(struct sanx_conn *conn, u32 more)
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
		size = min(size, SPARE_MAX) + min(more, SPARE_MAX);
		most = min(size, tcp_notsent_lowat(tcp_sk(sk))) +
		       SPARE_OVER;
	}
	rcu_read_unlock();
	return most;
}
EXPORT_SYMBOL_GPL(sanx_conn_spare);

/**
 * sanx_conn_recheck() - have the sender look for room again
 * @conn: the connection
 * @delay: when, in jiffies
 *
 * Context: any.
 */
void sanx_conn_recheck(struct sanx_conn *conn, unsigned long delay)
{
	sanx_conn_sooner(conn, &conn->cork.work, delay);
}
EXPORT_SYMBOL_GPL(sanx_conn_recheck);

/* Is the peer's reader at work?  If so, the sender is told when that is over. */
static bool sanx_conn_draining(struct sanx_conn *conn)
{
	u32 past = (u32)jiffies - READ_ONCE(conn->drain_time);

	if (past >= SANX_PATIENCE)
		return false;
	sanx_conn_recheck(conn, SANX_PATIENCE - past);
	return true;
}

/**
 * sanx_conn_set_short() - there was no memory to send more
 * @conn: the connection
 *
 * Context: any.
 */
void sanx_conn_set_short(struct sanx_conn *conn)
{
	WRITE_ONCE(conn->short_until, jiffies + SHORT_TIME);
	sanx_conn_recheck(conn, SHORT_TIME);
}
EXPORT_SYMBOL_GPL(sanx_conn_set_short);

/**
 * sanx_conn_short() - was there no memory to send more, just now?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if so; the sender is told when it is to ask again.
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
	/* If it has been set anew meanwhile, that is tried again too early. */
	WRITE_ONCE(conn->short_until, 0);
	return false;
}
EXPORT_SYMBOL_GPL(sanx_conn_short);

/* Would TCP's windows not grow any more, either? */
static bool mem_pressure(u32 pages)
{
	return atomic_long_read(tcp_prot.memory_allocated) + pages >
	       READ_ONCE(tcp_prot.sysctl_mem[1]);
}

/**
 * sanx_conn_promise() - note that the sender is told of room
 * @conn: the connection
 * @end: stream offset behind the last byte that was taken from it
 *
 * The next bytes at @end are spared though the peer's reader be at work: see
 * sanx_conn_spares().
 *
 * Context: any.
 */
void sanx_conn_promise(struct sanx_conn *conn, u64 end)
{
	if (READ_ONCE(conn->promised) != (u32)end)
		WRITE_ONCE(conn->promised, end);
}
EXPORT_SYMBOL_GPL(sanx_conn_promise);

/**
 * sanx_conn_spares() - may a sender have more than the peer's ring has room for?
 * @conn: the connection
 * @end: stream offset behind the last byte that was taken from the sender
 *
 * Context: any.
 * Return: true if so, which is then promised; else the sender is told when that
 * may have changed.
 */
bool sanx_conn_spares(struct sanx_conn *conn, u64 end)
{
	if (sanx_conn_short(conn))
		return false;
	if (READ_ONCE(conn->promised) != (u32)end && sanx_conn_draining(conn))
		return false;
	if (mem_pressure(SPARE_PAGES)) {
		sanx_conn_recheck(conn, SHORT_TIME);
		return false;
	}
	sanx_conn_promise(conn, end);
	return true;
}
EXPORT_SYMBOL_GPL(sanx_conn_spares);

/**
 * sanx_mem_charge() - take pages into TCP's account
 * @pages: how many
 *
 * Context: any.
 * Return: false if TCP would rather have no more.
 */
bool sanx_mem_charge(u32 pages)
{
	if (mem_pressure(pages))
		return false;
	atomic_long_add(pages, tcp_prot.memory_allocated);
	return true;
}
EXPORT_SYMBOL_GPL(sanx_mem_charge);

/**
 * sanx_mem_uncharge() - give back what sanx_mem_charge() took
 * @pages: how many
 *
 * Context: any.
 */
void sanx_mem_uncharge(u32 pages)
{
	atomic_long_sub(pages, tcp_prot.memory_allocated);
}
EXPORT_SYMBOL_GPL(sanx_mem_uncharge);
