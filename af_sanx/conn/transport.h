/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between connections (connection.h) and a transport.
 *
 * A transport carries the bytes of connections: loop/ on this node, link/ to
 * other nodes.  It is one struct sanx_transport_ops, and knows nothing of
 * sockets.
 */
#ifndef _SANX_TRANSPORT_H
#define _SANX_TRANSPORT_H

#include "connection.h"

/**
 * struct sanx_conn_user - a part of the kernel that uses a connection without a socket
 * @news: the connection was established or refused, has ended, has bytes to read, or has
 *	room.  Called in any context, under RCU, also when nothing of that is so.
 *
 * It is what a sock is to other connections: user.c.
 */
struct sanx_conn_user {
	void (*news)(struct sanx_conn_user *user);
};

/**
 * struct sanx_via - what carries a connection
 * @name: shown by sanxctl
 * @stat: counts connections that begin over it
 * @node: node id of the peer; 0 over loop, and while the connection has no link
 */
struct sanx_via {
	const char	*name;
	enum sanx_stat	stat;
	u32		node;
};

/**
 * struct sanx_transport_ops - a transport
 *
 * @conn_size: bytes of the transport's own structure of a connection, of which
 *	struct sanx_conn is the first member; zeroed at allocation
 * @piece: bytes from which a piece is not coalesced, because the announcement
 *	costs little compared with it
 * @counts_unsent: conn->tx.next counts bytes as soon as send() has taken them,
 *	also those that @unsent counts; else it counts them when the peer was
 *	given them
 */
struct sanx_transport_ops {
	size_t		conn_size;
	u32		piece;
	bool		counts_unsent;

	/**
	 * @init: initialise the transport's own structure of a new connection.
	 * May be NULL.
	 *
	 * Context: process.
	 */
	void (*init)(struct sanx_conn *conn);

	/**
	 * @via: tell what carries a connection now.
	 *
	 * Context: any.
	 */
	void (*via)(const struct sanx_conn *conn, struct sanx_via *via);

	/**
	 * @connect: ask the peer for a connection.
	 *
	 * @conn is CONNECTING, its endpoints are set, and conn->rx_max is the
	 * size of the ring that the program wants.  The transport answers by
	 * calling exactly one of sanx_conn_established(), sanx_conn_refused(),
	 * sanx_conn_busy() and sanx_conn_again(), in this call or later, in any
	 * context.  After the last two, connect() is called again.  close() may be called
	 * before there is an answer, and a port rule may have refused it.
	 *
	 * Context: process, lock_sock() held; must not wait for the peer.
	 * Return: 0, or -errno if no answer will come.  -ENOMEM goes to the
	 * program.  -ECONNREFUSED is like sanx_conn_refused() with
	 * SANX_FALLBACK_REFUSED, all else like SANX_FALLBACK_LINK.
	 */
	int (*connect)(struct sanx_conn *conn);

	/**
	 * @send: store bytes for the peer, and announce them.
	 *
	 * With @held, the bytes are stored without an announcement.
	 * SANX_HELD_COALESCED: a peer that looks may see them, but is not
	 * woken for them.  SANX_HELD_CORKED: the peer does not see them.
	 * Without @held, all bytes that were stored before are announced too.
	 * hold.c decides.
	 *
	 * Takes as many bytes as there is room for, in the peer's window or in
	 * a send buffer of the transport.  Does not wait for room.  It may
	 * fault on @msg, and may wait for memory unless MSG_DONTWAIT is in
	 * @flags.  When there is room again, the transport calls
	 * sanx_conn_tx_ready().
	 *
	 * It may send from the pages of @msg, and then moves conn->lent: with
	 * msg->msg_ubuf, of which it keeps a reference until they are the
	 * program's again; without, if MSG_DONTWAIT is not in @flags, and the
	 * caller calls wait_pages().  With MSG_SPLICE_PAGES in msg->msg_flags
	 * nobody waits for the pages.  Nothing else of @msg matters but the
	 * data.
	 *
	 * MSG_OOB in @flags: the last of @len bytes is urgent.  If not all
	 * bytes are taken, the last one taken is urgent.  The peer's transport
	 * calls sanx_conn_urgent() before the byte can be read, and
	 * sanx_conn_urgent_came() afterwards.
	 *
	 * The calls for MSG_OOB are made for announced bytes only: urgent bytes
	 * are never held back.
	 *
	 * SANX_MSG_SPARE: the room is SANX_ROOM_SPARE, else SANX_ROOM_WINDOW.
	 * SANX_MSG_WHOLE: there is no bound but memory, as long as the peer takes bytes.
	 *
	 * Context: process, tx_mutex held.
	 * Return: bytes taken, at least 1; -EAGAIN if there is no room, or no
	 * memory at present (sanx_conn_set_short()); -EFAULT; -EPIPE if the
	 * connection is over.
	 */
	ssize_t (*send)(struct sanx_conn *conn, struct msghdr *msg,
			size_t len, int flags, enum sanx_held held);

	/**
	 * @announce: announce all bytes that were stored without an
	 *	announcement, if there are any.
	 *
	 * Calls may overlap each other and send().
	 *
	 * Context: any, under RCU; the connection was open a moment ago.
	 */
	void (*announce)(struct sanx_conn *conn);

	/**
	 * @wait_pages: wait until programs have their pages back.  Only for a
	 *	transport whose send() moves conn->lent.
	 * @to: stream offset up to which the pages must be back
	 *
	 * Context: process, no lock held.
	 */
	void (*wait_pages)(struct sanx_conn *conn, u64 to);

	/**
	 * @room: bytes that send() could take now, roughly; for poll().
	 *
	 * A return value of 0 arms a wake-up: the transport calls
	 * sanx_conn_tx_ready() when there is room.  After any other value, for
	 * SANX_ROOM_SPARE, the next send() takes at least a byte.  The reader
	 * may have read by then, so sanx_conn_promise() records the offset.
	 *
	 * Context: any, no lock needed.
	 */
	u32 (*room)(struct sanx_conn *conn, enum sanx_room which);

	/**
	 * @unsent: bytes that send() took and that the peer was not given yet;
	 *	for SIOCOUTQNSD.  Optional.
	 *
	 * Context: any.
	 * Return: bytes; a hint.
	 */
	u32 (*unsent)(struct sanx_conn *conn);

	/**
	 * @away: has the connection lost its link, so that what is sent waits for
	 *	another one?  Optional.
	 *
	 * Context: any.
	 */
	bool (*away)(const struct sanx_conn *conn);

	/**
	 * @drained: has the peer received all bytes that were sent, and the end
	 *	of the stream if that was sent?  For SO_LINGER and
	 *	TCP_NOTSENT_LOWAT.  Optional.
	 *
	 * A return value of false arms sanx_conn_tx_ready(), as for @room.
	 *
	 * Context: any.
	 */
	bool (*drained)(struct sanx_conn *conn);

	/**
	 * @consumed: the reader freed ring memory; send credits that are due.
	 *
	 * Context: process, rx_mutex held; may not sleep for long.
	 */
	void (*consumed)(struct sanx_conn *conn);

	/**
	 * @left: the reader has left the ring before the current one.  The
	 *	transport may free that ring, or use it again.
	 * @left: that ring
	 *
	 * Context: process, rx_mutex held.
	 */
	void (*left)(struct sanx_conn *conn, const struct sanx_left *left);

	/**
	 * @reclaim: give back memory that is of no use now.  Called when no
	 *	bytes have passed for some time, if sanx_reclaim_arm() was
	 *	called.
	 *
	 * Context: process, may sleep; @conn was open a moment ago.
	 * Return: true if there is more to give back that could not be given
	 * back now.
	 */
	bool (*reclaim)(struct sanx_conn *conn);

	/**
	 * @fin: no more bytes will be sent; the peer reads up to the end of the
	 *	stream.  Announces all bytes before it.
	 *
	 * Called at most once, after the last send().
	 *
	 * Context: process, tx_mutex held.
	 */
	void (*fin)(struct sanx_conn *conn);

	/**
	 * @close: the socket was closed: this end neither sends nor reads any
	 *	more.
	 * @reset: the peer must get ECONNRESET and not the end of the stream.
	 *	Bytes that the peer was not given yet are dropped.  Without
	 *	@reset the peer gets those bytes first.
	 *
	 * Called exactly once for each connection for which connect() was
	 * called or that sanx_conn_incoming() took.  The transport holds a
	 * reference of its own for as long as the peer can access the ring.
	 *
	 * Context: process, may sleep; no lock of the connection held.
	 */
	void (*close)(struct sanx_conn *conn, bool reset);

	/**
	 * @abort: liveness gave the peer up, or the administrator ends the
	 *	connection, and sanx_conn_reset() follows.  A peer that is alive
	 *	must get ECONNRESET.
	 *
	 * close() is called later, and finds nothing left to do.
	 *
	 * Context: any.
	 */
	void (*abort)(struct sanx_conn *conn);

	/**
	 * @liveness: report the liveness of the peer.  Optional; for peers that
	 *	can be lost.  A transport with @liveness calls sanx_conn_quiet()
	 *	when it has not heard of a peer for some time.
	 * @report: to be filled
	 *
	 * Context: any, softirq too.
	 */
	void (*liveness)(struct sanx_conn *conn,
			 struct sanx_liveness_report *report);

	/**
	 * @probe: make the peer send something, if it is alive.  Optional.
	 *
	 * Context: any, softirq too.
	 */
	void (*probe)(struct sanx_conn *conn);

	/**
	 * @destroy: the last reference was put.  Frees what the transport
	 *	attached, and calls sanx_conn_free() as its last step, now or
	 *	later.
	 *
	 * Context: any; may not sleep.
	 */
	void (*destroy)(struct sanx_conn *conn);
};

/* conn.c */
struct sanx_conn *sanx_conn_alloc(const struct sanx_transport_ops *ops,
				  struct net *net,
				  const struct sanx_endpoint *local,
				  const struct sanx_endpoint *remote,
				  struct mem_cgroup *memcg);
void sanx_conn_free(struct sanx_conn *conn);
void sanx_conn_put(struct sanx_conn *conn);
u32 sanx_conn_sndbuf(struct sanx_conn *conn);
u32 sanx_conn_rcvbuf(struct sanx_conn *conn);
u32 sanx_conn_rcvbuf_set(struct sanx_conn *conn);

/* begin.c */
int sanx_conn_established(struct sanx_conn *conn);
void sanx_conn_refused(struct sanx_conn *conn, enum sanx_fallback why);
void sanx_conn_busy(struct sanx_conn *conn);
void sanx_conn_again(struct sanx_conn *conn);

/* wake.c */
int sanx_conn_arrive(struct sanx_conn *conn, u64 offset, u32 len);
bool sanx_conn_readable(const struct sanx_conn *conn, const struct sock *sk, u32 avail);
void sanx_conn_rx_ready(struct sanx_conn *conn);
void sanx_conn_tx_ready(struct sanx_conn *conn);

/* end.c */
int sanx_conn_fin(struct sanx_conn *conn);
void sanx_conn_suspended(struct sanx_conn *conn);
void sanx_conn_peer_closed(struct sanx_conn *conn);
void sanx_conn_reset(struct sanx_conn *conn, int err);
bool sanx_conn_discards(const struct sanx_conn *conn);

/* spare.c */
u32 sanx_conn_spare(struct sanx_conn *conn);
void sanx_conn_promise(struct sanx_conn *conn, u64 end);
bool sanx_conn_affords(struct sanx_conn *conn);
bool sanx_conn_spares(struct sanx_conn *conn, u64 end);
void sanx_conn_recheck(struct sanx_conn *conn, unsigned long delay);
void sanx_conn_set_short(struct sanx_conn *conn);
bool sanx_conn_short(struct sanx_conn *conn);
bool sanx_conn_reserves(struct sanx_conn *conn);
bool sanx_mem_pressure(const struct sanx_conn *conn, const struct sock *sk);
u32 sanx_mem_share(u32 size);
bool sanx_mem_charge(u32 pages);
void sanx_mem_uncharge(u32 pages);

/* Jiffies that a sender waits for the reader before it uses SANX_ROOM_SPARE. */
#define SANX_WINDOW_WAIT	(msecs_to_jiffies(2) + 1)

/* liveness.c */
void sanx_conn_quiet(struct sanx_conn *conn);

/* reclaim.c */
void sanx_reclaim_arm(struct sanx_conn *conn);
void sanx_reclaim_soon(struct sanx_conn *conn);

/**
 * sanx_hold_corked() - bytes that the peer cannot see, because they are corked
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes; a hint.
 */
static inline u32 sanx_hold_corked(const struct sanx_conn *conn)
{
	return READ_ONCE(conn->hold.state) == SANX_HELD_CORKED ?
	       READ_ONCE(conn->hold.bytes) : 0;
}

/* urgent.c */
void sanx_conn_urgent(struct sanx_conn *conn, u64 offset);
void sanx_conn_urgent_came(struct sanx_conn *conn);

/**
 * sanx_conn_get() - take a reference
 * @conn: a connection of which the caller has a reference, or knows that
 *	another one keeps it
 *
 * Return: @conn.
 */
static inline struct sanx_conn *sanx_conn_get(struct sanx_conn *conn)
{
	refcount_inc(&conn->refs);
	return conn;
}

/**
 * sanx_age_ms() - how long ago was something?
 * @when: jiffies of that time, modulo 2^32, as in &sanx_conn.tx_time
 *
 * Context: any.
 * Return: ms.
 */
static inline u32 sanx_age_ms(u32 when)
{
	return jiffies_to_msecs((u32)jiffies - when);
}

/* Is a connection of ours a question, whether one would be admitted?  question.c */
static inline bool sanx_conn_asks(const struct sanx_conn *conn)
{
	return !conn->local.port && !conn->accepted;
}

bool sanx_question_admits(struct net *net, const struct sanx_endpoint *local,
			  const struct sanx_endpoint *remote,
			  const struct sanx_arrival *by);

/* backlog.c */
void sanx_conn_confirmed(struct sanx_conn *conn);

/* listener.c */
int sanx_conn_incoming(struct sanx_conn *conn, const struct sanx_arrival *by);
u32 sanx_listener_ring_size(struct net *net, const struct sanx_endpoint *local,
			    const struct sanx_endpoint *remote,
			    const struct sanx_arrival *by,
			    struct mem_cgroup **memcg);

/* watch.c */
void sanx_count_protocol_error(struct net *net);

#endif /* _SANX_TRANSPORT_H */
