// SPDX-License-Identifier: GPL-2.0
/*
 * The send buffer of a connection: how many bytes it may keep (chunk.c).
 *
 * It is as large as the peer's ring, which suffices for a stream whose reader keeps up;
 * SO_SNDBUF (lc->sndbuf_max) may make it smaller.  If the peer's reader does not read, a
 * sender may keep more, beyond the window (spare.c of the core).
 */
#include "frame_priv.h"

/* Bytes while the peer has no ring; about what TCP takes on a new connection. */
#define SNDBUF_MIN	65536U

static u32 sndbuf_used(const struct sanx_lconn *lc)
{
	u64 acked = READ_ONCE(lc->acked);

	/* Without tx_lock the two may be seen out of order. */
	return max_t(s64, READ_ONCE(lc->end) - acked, 0);
}

/* Bytes that the send buffer may hold. */
u32 sanx_sndbuf_cap(const struct sanx_lconn *lc)
{
	u32 size = READ_ONCE(lc->txgen.win.size) ?: max(lc->conn.rx_max, SNDBUF_MIN);

	return min(size, READ_ONCE(lc->sndbuf_max));
}

/*
 * Are some bytes a large share of the send buffer?
 *
 * No send buffer is smaller than the smallest ring, so requests and answers of a
 * few bytes need no look at its size.
 *
 * Return: true if they are as much as that, or more.
 */
bool sanx_sndbuf_share(const struct sanx_lconn *lc, u32 bytes, u32 share)
{
	return bytes >= SANX_RING_MIN / share &&
	       bytes >= sanx_sndbuf_cap(lc) / share;
}

/**
 * sanx_sndbuf_set_max() - read SO_SNDBUF into lc->sndbuf_max
 * @lc: the connection
 *
 * Context: any.
 */
void sanx_sndbuf_set_max(struct sanx_lconn *lc)
{
	WRITE_ONCE(lc->sndbuf_max, sanx_conn_sndbuf(&lc->conn));
}

/**
 * sanx_sndbuf_room() - bytes that the send buffer takes now
 * @lc: the connection
 *
 * Context: any; exact under tx_mutex, else a hint.
 * Return: bytes, enough for any small message, or 0.
 */
u32 sanx_sndbuf_room(const struct sanx_lconn *lc)
{
	u32 used = sndbuf_used(lc), cap = sanx_sndbuf_cap(lc);

	return used + sanx_ring_slack(cap) > cap ? 0 : cap - used;
}

/**
 * sanx_sndbuf_spare() - bytes that a sender may keep beyond the window now
 * @lc: the connection
 *
 * Context: any.
 * Return: bytes, enough for any small message; or 0, and the sender is woken
 * when that may have changed.
 */
u32 sanx_sndbuf_spare(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	u64 used = sndbuf_used(lc), most;

	if (!sanx_conn_spares(conn, READ_ONCE(lc->end)))
		return 0;
	/* The size of a ring is rounded down to a power of two; this makes up for the rest. */
	most = (u64)sanx_conn_spare(conn) + READ_ONCE(lc->txgen.win.size);
	return used + SANX_SLACK_MAX <= most ? min_t(u64, most - used, U32_MAX) : 0;
}

/**
 * sanx_sndbuf_beyond() - bytes that a send() may keep beyond the window now
 * @lc: the connection
 * @flags: its flags
 *
 * Context: as sanx_sndbuf_spare().
 * Return: bytes; 0 as there, or if the flags have none of SANX_MSG_SPARE and SANX_MSG_WHOLE.
 */
u32 sanx_sndbuf_beyond(struct sanx_lconn *lc, int flags)
{
	if (flags & SANX_MSG_WHOLE)
		return U32_MAX;
	return flags & SANX_MSG_SPARE ? sanx_sndbuf_spare(lc) : 0;
}

/*
 * Should the next frame request a completion?  tx_lock held.
 *
 * Each quarter of the buffer does, so that a completion is under way when there
 * is no room.  While a sender waits, each frame does.
 */
bool sanx_sndbuf_signal(const struct sanx_lconn *lc)
{
	return lc->full || sanx_sndbuf_share(lc, lc->unsignaled, 4);
}
