/* SPDX-License-Identifier: GPL-2.0 */
/* Implicit connections: what the files that have parts of them share. */
#ifndef _SANX_DGRAM_CARRIER_H
#define _SANX_DGRAM_CARRIER_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "config/config.h"
#include "conn/conn.h"

struct sanx_dgram;

/* Connections to a node that it asks for: they take some lanes each. */
#define CARRIERS	4U

/**
 * enum carrier_state - what is known of an implicit connection
 * @CARRIER_ASKS: the peer was asked, or will be, or asks; datagrams are UDP's, and those of
 *	explicit sockets wait
 * @CARRIER_OPEN: it carries datagrams
 * @CARRIER_STALLS: datagrams have waited for too long and were dropped; others are UDP's, or
 *	cannot be sent
 * @CARRIER_RESTS: the peer does not want it, or cannot be asked; nobody asks again until
 *	its time is over
 * @CARRIER_OVER: it is not in the table any more; what was written still arrives
 * @CARRIER_CUT: likewise, but the connection is reset, and what was written may be lost
 *
 *	ASKS --answer--> OPEN
 *	ASKS --no--> RESTS
 *	OPEN --they wait--> STALLS --time, and all has come--> OPEN
 *	ASKS, OPEN, RESTS --end, time, or unused--> OVER
 *	ASKS, OPEN --replaced by the peer, or broken--> CUT
 *	STALLS --time, or an end--> CUT
 */
enum carrier_state {
	CARRIER_ASKS,
	CARRIER_OPEN,
	CARRIER_STALLS,
	CARRIER_RESTS,
	CARRIER_OVER,
	CARRIER_CUT,
};

/**
 * struct carrier_known - addresses of datagrams that a peer may send
 * @local: where they go to
 * @remote: where they come from
 * @genid: number of the routes that say so
 * @seq: number of the configuration that does
 * @by: where they arrive
 */
struct carrier_known {
	struct in6_addr		local;
	struct in6_addr		remote;
	u32			genid;
	u32			seq;
	struct sanx_arrival	by;
};

/**
 * struct sanx_carrier - an implicit connection to a node
 * @user: is told of what happens to @conn; first
 * @node: in the table; its lock
 * @refs: the table has one, queued work has one, and whoever sends or takes
 * @net: its namespace; no carrier outlives sanx_conn_service.idle()
 * @peer: the node
 * @self: this node, when it was asked for or taken
 * @nr: which of the connections to that node, from 1
 * @state: see there; lock of the table, read without it
 * @used: when a datagram last went or came, in jiffies; no lock
 * @until: in CARRIER_RESTS and CARRIER_STALLS: when its time is over; in CARRIER_OPEN: until
 *	when it does not stall, for what has waited before; in jiffies; lock of the table
 * @conn: the connection, with a reference that goes with the last one of this; set before
 *	CARRIER_OPEN
 * @local: our end; its port is @nr if we have asked, else 0
 * @remote: the peer's, the other way round
 * @work: asks, reads, and closes; one at a time
 * @queue: datagrams that were taken; its lock
 * @queued: memory of them and of @out; an estimate
 * @out: the one that is being written, or NULL; conn->tx_mutex
 * @sent: bytes of it, with its header, that are in the stream; conn->tx_mutex
 * @since: when it was taken, in jiffies; written under conn->tx_mutex
 * @in: the datagram that is arriving, or NULL; only @work uses it and what follows
 * @came: bytes of it that have come
 * @skip: bytes of one for which there was no memory that are still to come
 * @gso_size: of @in
 * @known: the addresses of the last datagram that has come; only @work
 * @rcu: frees it
 */
struct sanx_carrier {
	struct sanx_conn_user	user;
	struct hlist_node	node;
	refcount_t		refs;
	struct net		*net;
	u32			peer;
	u32			self;
	u32			nr;
	enum carrier_state	state;
	unsigned long		used;
	unsigned long		until;
	struct sanx_conn	*conn;
	struct sanx_endpoint	local;
	struct sanx_endpoint	remote;
	struct work_struct	work;

	struct sk_buff_head	queue;
	atomic_t		queued;
	struct sk_buff		*out;
	u32			sent;
	unsigned long		since;

	struct sk_buff		*in;
	u32			came;
	u32			skip;
	u16			gso_size;
	struct carrier_known	known;
	struct rcu_head		rcu;
};

/* Have we asked for it, and not the peer? */
static inline bool carrier_ours(const struct sanx_carrier *c)
{
	return c->local.port;
}

/* Is it a connection of this node to itself?  Both of its ends are carriers then. */
static inline bool carrier_loops(const struct sanx_carrier *c)
{
	return c->peer == c->self;
}

/**
 * struct carriers - the implicit connections of a namespace
 * @net: the namespace
 * @lock: guards @table, @n, @resting, @serves, and the states of all; softirq
 * @table: carriers by node; read under RCU
 * @n: how many
 * @resting: how many of them are in CARRIER_RESTS; they do not count towards dgram_conns
 * @serves: a program has made a datagram socket; until then none is asked for or taken
 * @sweep: ends those that are not used, and finds those that stall
 * @next: when it comes, in jiffies; written under @lock
 */
struct carriers {
	struct net		*net;
	spinlock_t		lock; /* guards: see above */
	DECLARE_HASHTABLE(table, 6);
	unsigned int		n;
	unsigned int		resting;
	bool			serves;
	struct delayed_work	sweep;
	unsigned long		next;
};

/* How many count towards dgram_conns; a hint without the lock. */
static inline unsigned int carriers_counted(const struct carriers *all)
{
	return READ_ONCE(all->n) - READ_ONCE(all->resting);
}

/* May there be another one?  The sweep makes room. */
static inline bool carriers_room(const struct carriers *all)
{
	return carriers_counted(all) < READ_ONCE(sanx_net(all->net)->dgram_conns);
}

/**
 * struct carrier_cb - in &sk_buff.cb of a datagram that waits
 * @since: when it was taken, in jiffies
 * @counted: it is, or no program has sent it; one that waits for the connection is not, as
 *	nobody knows what that will be over
 */
struct carrier_cb {
	unsigned long	since;
	bool		counted;
};

static inline struct carrier_cb *carrier_cb(struct sk_buff *skb)
{
	return (struct carrier_cb *)skb->cb;
}

/**
 * enum carrier_read - what reading has come to
 * @CARRIER_READ_ALL: there is nothing more at present
 * @CARRIER_READ_MORE: there may be more
 * @CARRIER_READ_BROKEN: the peer has sent what no correct one does
 */
enum carrier_read {
	CARRIER_READ_ALL,
	CARRIER_READ_MORE,
	CARRIER_READ_BROKEN,
};

/* carrier.c */
struct carriers *sanx_carriers_of(const struct net *net);
void sanx_carrier_kick(struct sanx_carrier *c);
void sanx_carrier_waits(struct sanx_carrier *c);
void sanx_carrier_want(struct carriers *all, u32 peer, u32 nr, const struct sanx_dgram *d);
bool sanx_carrier_rested(struct carriers *all, struct sanx_carrier *c);

/* stream.c */
void sanx_carrier_count(const struct sanx_carrier *c);
void sanx_carrier_write(struct sanx_carrier *c, bool wait);
bool sanx_carrier_moves(struct sanx_carrier *c);
void sanx_carrier_drop(struct sanx_carrier *c);
void sanx_carrier_purge(struct sanx_carrier *c);
void sanx_carrier_orphan(struct sanx_carrier *c);
enum carrier_read sanx_carrier_read(struct sanx_carrier *c);

/* arrive.c */
void sanx_dgram_arrive(struct sanx_carrier *c, struct sk_buff *skb, u16 gso_size);

/* explicit.c */
void sanx_dgram_arrive_explicit(struct sanx_carrier *c, const struct sanx_dgram *d,
				struct sk_buff *skb);

#endif /* _SANX_DGRAM_CARRIER_H */
