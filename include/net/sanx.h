/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_SANX: what a transport sees of the core, and the core of a transport.
 *
 * The core (af_sanx.ko) has the sockets, the connections and the node map.  A
 * transport carries the bytes of connections; it is one const struct
 * sanx_transport_ops.  The core includes nothing of rdma/, and a transport
 * knows nothing of sockets.
 */
#ifndef _NET_SANX_H
#define _NET_SANX_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <net/net_namespace.h>

struct iov_iter;
struct mem_cgroup;
struct netlink_callback;
struct sanx_listener;
struct sanx_net;
struct sanx_sock;
struct sanx_stats;
struct sk_buff;
struct sock;

#include <net/sanx_msgq.h>

/**
 * struct sanx_endpoint - an address and a port
 * @addr: IPv6, or IPv4 as v4-mapped
 * @port: big endian
 */
struct sanx_endpoint {
	struct in6_addr	addr;
	__be16		port;
};

/**
 * enum sanx_conn_state - where a connection is
 * @SANX_CONN_NEW: allocated
 * @SANX_CONN_CONNECTING: asked for, not yet answered
 * @SANX_CONN_ESTABLISHED: both directions open
 * @SANX_CONN_FIN_SENT: our direction ended
 * @SANX_CONN_FIN_RCVD: the peer's direction ended
 * @SANX_CONN_FINISHED: both directions ended, in order
 * @SANX_CONN_REFUSED: never came to be; the socket goes on as TCP
 * @SANX_CONN_DEAD: reset, aborted or closed
 * @SANX_CONN_ENDED: likewise, after the peer's direction had ended
 */
enum sanx_conn_state {
	SANX_CONN_NEW,
	SANX_CONN_CONNECTING,
	SANX_CONN_ESTABLISHED,
	SANX_CONN_FIN_SENT,
	SANX_CONN_FIN_RCVD,
	SANX_CONN_FINISHED,
	SANX_CONN_REFUSED,
	SANX_CONN_DEAD,
	SANX_CONN_ENDED,
	/* private: */
	__SANX_CONN_STATES
};

/**
 * enum sanx_fallback - why a socket became plain TCP
 * @SANX_FALLBACK_UNMAPPED: the peer is not in the node map
 * @SANX_FALLBACK_PORT: a port rule denies the port
 * @SANX_FALLBACK_LINK: no link to the peer
 * @SANX_FALLBACK_REFUSED: the peer has no AF_SANX listener there
 * @SANX_FALLBACK_OPTION: the program asked for what only TCP does
 * @SANX_FALLBACK_ACCEPT: a plain TCP client came to an AF_SANX listener
 */
enum sanx_fallback {
	SANX_FALLBACK_UNMAPPED,
	SANX_FALLBACK_PORT,
	SANX_FALLBACK_LINK,
	SANX_FALLBACK_REFUSED,
	SANX_FALLBACK_OPTION,
	SANX_FALLBACK_ACCEPT,
	/* private: */
	__SANX_FALLBACKS
};

/**
 * enum sanx_urg_state - the mark of urgent data
 * @SANX_URG_NONE: there is none ahead of the reader
 * @SANX_URG_NEW: nobody has got the urgent byte
 * @SANX_URG_READ: recv(MSG_OOB) has; reading still stops there
 */
enum sanx_urg_state {
	SANX_URG_NONE,
	SANX_URG_NEW,
	SANX_URG_READ,
};

/**
 * struct sanx_urg - urgent data, as the reader sees it
 * @state: of the mark
 * @seq: stream offset of the urgent byte
 * @hole: offset of an earlier one that reading leaves out all the same, or
 *	U64_MAX; always before @seq, so there is none without a mark
 */
struct sanx_urg {
	enum sanx_urg_state	state;
	u64			seq;
	u64			hole;
};

/**
 * struct sanx_alive - what is known of whether the peer is there: alive.c
 * @timer: looks, while there is reason to doubt
 * @watch: sends are to be noted in @sending
 * @sending: something is on its way, or wants to be, since @sent
 * @sent: in jiffies
 * @shut: the peer has not read since @shut_since; the timer's own, as the rest
 * @shut_since: in jiffies
 * @read: how far the peer was known to have read then
 *
 * @sending and @sent are guarded by the connection's lock.
 */
struct sanx_alive {
	struct timer_list	timer;
	bool			watch;
	bool			sending;
	unsigned long		sent;
	bool			shut;
	unsigned long		shut_since;
	u64			read;
};

/**
 * struct sanx_pulse - a transport's answer to whether the peer is there
 * @heard: when it was last heard of, in jiffies
 * @lost: it was quiet for so long that what is on its way to it counts as lost
 * @unacked: something was sent that it may not have received
 * @acked: when it last was known to have received something, in jiffies
 */
struct sanx_pulse {
	unsigned long		heard;
	bool			lost;
	bool			unacked;
	unsigned long		acked;
};

/**
 * struct sanx_gather - what a sender holds back of small pieces: gather.c
 * @timer: the end of patience
 * @flush: announces what is held back
 * @piece: pieces of so many bytes are not held back
 * @armed: @timer is set, or about to look
 * @sends: since this end received anything; below 0 after it was found not to
 *	stream
 * @armed_at: @sends when @timer was set
 * @slow: few sends came until @timer last ran; the timer's own
 * @fast: many did
 * @held: bytes held back; guarded by tx_mutex
 *
 * @sends may lose a count or a reset to another CPU, which moves an
 * announcement by GATHER_NS at most.
 */
struct sanx_gather {
	struct hrtimer		timer;
	void			(*flush)(struct sanx_gather *g);
	u32			piece;
	int			armed;
	bool			slow;
	bool			fast;
	int			sends;
	int			armed_at;
	u32			held;
};

/* Bytes that are not put away any longer: a message of good size. */
#define SANX_CORK_MAX	32768U

/**
 * struct sanx_cork - what is put away because more is to come: cork.c
 * @work: the end of patience; of who waits for room, too (spare.c)
 * @on: the program has set TCP_CORK; the sock's own flag kernel users change
 *	without our hearing of it
 * @bytes: so many are put away; written under tx_mutex, as @since
 * @since: in jiffies
 */
struct sanx_cork {
	struct delayed_work	work;
	bool			on;
	u32			bytes;
	unsigned long		since;
};

/**
 * struct sanx_trim - memory that a connection can give back: trim.c
 * @work: looks whether it rests
 * @seen: what its stream offsets were the last time; @work's
 */
struct sanx_trim {
	struct delayed_work	work;
	u64			seen;
};

/**
 * enum sanx_room - which room is asked for
 * @SANX_ROOM_WINDOW: what there is while the peer's reader keeps up
 * @SANX_ROOM_SPARE: or beyond that, of what a sender may keep for one who does
 *	not (SO_SNDBUF)
 */
enum sanx_room {
	SANX_ROOM_WINDOW,
	SANX_ROOM_SPARE,
};

/* Flag of a send: it may go beyond the window, and take memory for that. */
#define SANX_MSG_SPARE	MSG_PROBE

/**
 * struct sanx_conn - one connection, as one node sees it
 * @refs: the socket or accept queue has one, the transport as many as it needs
 * @ops: the transport
 * @net: where it lives; outlived by the transport's net_exit()
 * @stats: the counters there
 * @local: our end
 * @remote: the peer's end
 * @memcg: who pays for our ring, with a reference, or NULL for whoever makes it
 * @lock: guards @state, @err, @shutdown, @peer_gone, @detached, @urg; taken in
 *	softirq
 * @state: changed by the functions below only
 * @err: errno (positive) of a connection that died
 * @shutdown: RCV_SHUTDOWN and SEND_SHUTDOWN, mirrored in sk->sk_shutdown
 * @peer_gone: the peer reads no more: what is sent now ends in a reset
 * @accepted: came in by a listener
 * @detached: @sk is not to be used any more
 * @sk: the socket's sock while one is attached; valid under RCU
 * @ss: the socket while connecting; guarded by lock_sock(@sk)
 * @tx_mutex: serialises senders; guards @tx but for its limit, where the
 *	transport has no send buffer
 * @rx_mutex: serialises readers; guards the reader's part of @rx
 * @tx: the peer's ring, as we may write it
 * @rx: our ring
 * @rx_max: bytes that it may come to have (SO_RCVBUF)
 * @room_first: what a sender that may wait asks for first; send.c
 * @urg: urgent data in it
 * @alive: is the peer there?
 * @cork: bytes that are put away
 * @trim: memory that it can give back
 * @lent: stream offset up to which the transport sends from programs' pages;
 *	tx_mutex
 * @spin_ns: how long a reader looks before it sleeps; spin.c
 * @tx_time: jiffies of the last send
 * @rx_time: jiffies when bytes last arrived
 * @ack_time: jiffies of the last credit
 * @drain_time: jiffies when the peer was last known to read what fills its ring
 * @promised: stream offset (its low half) where the sender was last told that
 *	there is room; spare.c
 * @started: ktime of the request for the connection
 * @rtt_us: microseconds until it was accepted; 0 at the accepting end
 * @short_until: no memory is asked for to send more before that, in jiffies
 * @rx_stamp: wall-clock time when bytes last arrived, in ns; 0 if the program
 *	does not want it (SO_TIMESTAMP)
 * @node: in the accept queue of a listener
 * @deferred: the listener, while accept() is not to find this connection yet
 * @fallback: why it was refused
 * @tries: how often @retry ran
 * @retry: connects again after a full backlog; of one that came in, ends the
 *	time that it is @deferred
 * @work: turns the socket into TCP after a refusal: sanx_conn_connect()
 * @rcu: frees it
 * @detach_rcu: drops @sk
 *
 * A transport's own part follows, see sanx_conn_priv().  With loop's it has 1 KiB on
 * 64-bit kernels without lock debugging, which is what the allocator has, too: what
 * makes it larger costs as much again.
 */
struct sanx_conn {
	refcount_t			refs;
	const struct sanx_transport_ops	*ops;
	struct net			*net;
	struct sanx_stats __percpu	*stats;
	struct sanx_endpoint		local;
	struct sanx_endpoint		remote;
	struct mem_cgroup		*memcg;

	spinlock_t			lock; /* see above */
	enum sanx_conn_state		state;
	int				err;
	u8				shutdown;
	bool				peer_gone;
	bool				accepted;
	bool				detached;

	struct sock			*sk;
	struct sanx_sock		*ss;
	struct mutex			tx_mutex; /* see above */
	struct mutex			rx_mutex; /* see above */
	struct sanx_txq			tx;
	struct sanx_rxq			rx;
	u32				rx_max;
	enum sanx_room			room_first;
	struct sanx_urg			urg;
	struct sanx_alive		alive;
	struct sanx_cork		cork;
	struct sanx_trim		trim;
	u64				lent;
	u32				spin_ns;
	u32				tx_time;
	u32				rx_time;
	u32				ack_time;
	u32				drain_time;
	u32				promised;
	u32				rtt_us;
	unsigned long			short_until;
	u64				started;
	u64				rx_stamp;

	struct list_head		node;
	struct sanx_listener		*deferred;
	enum sanx_fallback		fallback;
	unsigned int			tries;
	struct kthread_delayed_work	retry;
	struct kthread_delayed_work	work;
	struct rcu_head			rcu;
	struct rcu_head			detach_rcu;
};

/**
 * struct sanx_transport_ops - a transport
 *
 * @name: shown by sanxctl
 * @owner: pinned by each connection
 * @priv_size: bytes of its own part of a connection
 * @same_node: carries connections to addresses of this node, and needs no map
 */
struct sanx_transport_ops {
	const char	*name;
	struct module	*owner;
	size_t		priv_size;
	bool		same_node;

	/**
	 * @connect: ask the peer for a connection.
	 *
	 * @conn is CONNECTING, its endpoints are set and conn->rx_max says
	 * how large a ring the program wants.  The answer is given, in this call
	 * or later, in any context, by exactly one of sanx_conn_established(),
	 * sanx_conn_refused() and sanx_conn_busy(); after the last, it is
	 * called once more.  Before an answer, close() may come.
	 *
	 * Context: process, lock_sock() held; must not wait for the peer.
	 * Return: 0, or -errno when no answer will come: -ENOMEM goes to the
	 * program, -ECONNREFUSED is as sanx_conn_refused() with
	 * SANX_FALLBACK_REFUSED, all else with SANX_FALLBACK_LINK.
	 */
	int (*connect)(struct sanx_conn *conn);

	/**
	 * @send: write bytes into the peer's window and let it know.
	 *
	 * Takes what there is room for, in the peer's window or in a send
	 * buffer of the transport, and never waits for room; it may fault on @from and may
	 * wait for memory, unless MSG_DONTWAIT is in @flags.  When room comes
	 * later it calls sanx_conn_tx_ready().  With MSG_OOB in @flags, the
	 * last of @len bytes is urgent, and so is the last one taken where
	 * the room ends: the peer calls sanx_conn_urgent(), and when it
	 * can be read sanx_conn_urgent_came().  With MSG_MORE,
	 * the peer learns nothing of it yet (cork.c).  With MSG_BATCH, which
	 * is there without TCP_NODELAY, the peer may learn of it somewhat
	 * later, when there is more (gather.c).  With SANX_MSG_SPARE, the
	 * room is that of SANX_ROOM_SPARE, else of SANX_ROOM_WINDOW.
	 *
	 * Context: process, tx_mutex held.
	 * Return: bytes taken, at least 1; -EAGAIN for no room, or no memory
	 * for now (sanx_conn_set_short()); -EFAULT; or -EPIPE if the connection
	 * is no more.
	 */
	ssize_t (*send)(struct sanx_conn *conn, struct iov_iter *from,
			size_t len, int flags);

	/**
	 * @uncork: let the peer know what was sent with MSG_MORE.
	 *
	 * Context: process, tx_mutex held.
	 */
	void (*uncork)(struct sanx_conn *conn);

	/**
	 * @push: the program waits for the peer: let it know all, if MSG_BATCH
	 * has kept send() from that.  Optional.
	 *
	 * Context: process; the connection may be any, closed too.
	 */
	void (*push)(struct sanx_conn *conn);

	/**
	 * @settle: wait until programs have their pages back.  For a transport
	 * whose send() moves conn->lent.
	 * @to: how far
	 *
	 * Context: process, no lock held.
	 */
	void (*settle)(struct sanx_conn *conn, u64 to);

	/**
	 * @room: bytes that send() could take now, roughly; for poll.
	 *
	 * Asking is what arms sanx_conn_tx_ready(): if it returns 0, the
	 * call comes once that has changed.  If not, and for all that may be
	 * spared, the next send() takes something: sanx_conn_promise() notes
	 * what may have changed by then.  Context: any, no lock needed.
	 */
	u32 (*room)(struct sanx_conn *conn, enum sanx_room which);

	/**
	 * @unsent: bytes that send() took and that the peer has not been given
	 * yet.  For a transport with a send buffer, as @drained; others have
	 * neither.
	 *
	 * Context: any.  Return: bytes; a moment's estimate.
	 */
	u32 (*unsent)(struct sanx_conn *conn);

	/**
	 * @drained: has the peer received all that was sent, and the end of
	 * the stream if that was?  For SO_LINGER and TCP_NOTSENT_LOWAT.
	 *
	 * Asking is what arms sanx_conn_tx_ready(), as for @room.
	 * Context: any.
	 */
	bool (*drained)(struct sanx_conn *conn);

	/**
	 * @consumed: the reader freed ring; pass on credits that are due.
	 *
	 * Context: process, rx_mutex held; may not sleep for long.
	 */
	void (*consumed)(struct sanx_conn *conn);

	/**
	 * @left: the reader is through with the ring before the one that it
	 * followed to: it can be given back.
	 * @left: that ring
	 *
	 * Context: process, rx_mutex held.
	 */
	void (*left)(struct sanx_conn *conn, const struct sanx_left *left);

	/**
	 * @trim: nothing has passed for some time: give back what memory is
	 * of no use now.  Asked for with sanx_trim_arm().
	 *
	 * Context: process, may sleep; @conn was open a moment ago.
	 * Return: true if there is more to give back, and that could not be
	 * now.
	 */
	bool (*trim)(struct sanx_conn *conn);

	/**
	 * @fin: no more bytes will be sent; the peer reads to the end.
	 *
	 * Once at most, after the last send().  Context: process, tx_mutex
	 * held.
	 */
	void (*fin)(struct sanx_conn *conn);

	/**
	 * @close: the socket is gone: nobody sends or reads here any more.
	 * @reset: the peer is to get ECONNRESET and not the end of the stream;
	 *	what it was not given yet is dropped.  Else it gets that first.
	 *
	 * Exactly once for each connection that connect() was called for or
	 * that sanx_conn_incoming() took.  The transport holds a reference of
	 * its own for as long as the peer can touch the ring.  Context:
	 * process, may sleep; no lock of the connection held.
	 */
	void (*close)(struct sanx_conn *conn, bool reset);

	/**
	 * @abort: the peer is taken for gone, and sanx_conn_reset() follows; if
	 * it is there after all, it is to get ECONNRESET.
	 *
	 * close() comes later, and finds all done.  Context: any.
	 */
	void (*abort)(struct sanx_conn *conn);

	/**
	 * @pulse: is the peer there?  Optional, for peers that can get lost;
	 * such a transport calls sanx_conn_quiet() when it has heard nothing
	 * of one for a while.
	 * @pulse: to be filled
	 *
	 * Context: any, softirq too.
	 */
	void (*pulse)(struct sanx_conn *conn, struct sanx_pulse *pulse);

	/**
	 * @probe: make the peer say something, if it is there.  Optional.
	 * Context: any, softirq too.
	 */
	void (*probe)(struct sanx_conn *conn);

	/**
	 * @destroy: the last reference is gone.  Gives back what the transport
	 * attached and ends with sanx_conn_free(), now or later.  Context:
	 * any; may not sleep.
	 */
	void (*destroy)(struct sanx_conn *conn);

	/**
	 * @net_idle: the last AF_SANX socket of a namespace is gone, or (with
	 * @exit) the namespace itself dies: let go of everything that pins it.
	 * With @exit, no connection of @net is left on return.  Optional.
	 * Context: process, may sleep.
	 */
	void (*net_idle)(struct net *net, bool exit);

	/**
	 * @net_busy: the first socket of a namespace was made.  Optional.
	 * Context: process, may sleep.
	 */
	void (*net_busy)(struct net *net);

	/**
	 * @map_changed: the node map of @net is another one now.  Optional.
	 * Context: process, may sleep, the configuration mutex held.
	 */
	void (*map_changed)(struct net *net);

	/**
	 * @dump_links: report each link of @net by sanx_nl_put_link(), going
	 * on behind the first @skip.  Optional.
	 * Context: process; RTNL not held.
	 * Return: links reported or skipped, or -EMSGSIZE when @skb is full.
	 */
	int (*dump_links)(struct net *net, struct sk_buff *skb,
			  struct netlink_callback *cb, int skip);
};

/**
 * struct sanx_link_info - a link, as sanxctl shows it
 * @node: peer's node id
 * @transport: name of the transport
 * @device: name of the device
 * @state: state in a word
 * @conns: connections on it
 * @local: local address of the rail
 * @remote: remote address of the rail
 * @rtt: ns until the peer's device acknowledges, at the least; or 0
 * @long_min: bytes from which a send() is made from the program's pages, or
 *	U32_MAX
 * @lane: which of the links to that node
 */
struct sanx_link_info {
	u32		node;
	const char	*transport;
	const char	*device;
	const char	*state;
	u32		conns;
	struct in6_addr	local;
	struct in6_addr	remote;
	u32		rtt;
	u32		long_min;
	u32		lane;
};

#define SANX_NODE_RAILS	4

/**
 * struct sanx_node_info - a copy of what the node map says of a node
 * @id: node id
 * @n_rails: entries of @rail, at least 1
 * @rail: addresses that its RDMA devices answer on
 */
struct sanx_node_info {
	u32		id;
	unsigned int	n_rails;
	struct in6_addr	rail[SANX_NODE_RAILS];
};

/**
 * sanx_conn_priv() - a transport's own part of a connection
 * @conn: the connection
 *
 * Return: sanx_transport_ops.priv_size bytes, zeroed when it was made.
 */
static inline void *sanx_conn_priv(struct sanx_conn *conn)
{
	return conn + 1;
}

/**
 * sanx_conn_of_priv() - the connection that a transport's part belongs to
 * @priv: as returned by sanx_conn_priv()
 *
 * Return: the connection.
 */
static inline struct sanx_conn *sanx_conn_of_priv(void *priv)
{
	return (struct sanx_conn *)priv - 1;
}

/* conn.c */
struct sanx_conn *sanx_conn_alloc(const struct sanx_transport_ops *ops,
				  struct net *net,
				  const struct sanx_endpoint *local,
				  const struct sanx_endpoint *remote);
void sanx_conn_free(struct sanx_conn *conn);
void sanx_conn_put(struct sanx_conn *conn);
int sanx_conn_established(struct sanx_conn *conn);
void sanx_conn_refused(struct sanx_conn *conn, enum sanx_fallback why);
void sanx_conn_busy(struct sanx_conn *conn);
int sanx_conn_arrive(struct sanx_conn *conn, u64 offset, u32 len);
void sanx_conn_rx_ready(struct sanx_conn *conn);
void sanx_conn_tx_ready(struct sanx_conn *conn);
int sanx_conn_fin(struct sanx_conn *conn);
void sanx_conn_peer_closed(struct sanx_conn *conn);
void sanx_conn_reset(struct sanx_conn *conn, int err);
u32 sanx_conn_sndbuf(struct sanx_conn *conn);
u32 sanx_conn_rcvbuf(struct sanx_conn *conn);
u32 sanx_conn_rcvbuf_set(struct sanx_conn *conn);
bool sanx_conn_deaf(const struct sanx_conn *conn);

/* spare.c */
u32 sanx_conn_spare(struct sanx_conn *conn, u32 more);
void sanx_conn_promise(struct sanx_conn *conn, u64 end);
bool sanx_conn_spares(struct sanx_conn *conn, u64 end);
void sanx_conn_recheck(struct sanx_conn *conn, unsigned long delay);
void sanx_conn_set_short(struct sanx_conn *conn);
bool sanx_conn_short(struct sanx_conn *conn);
bool sanx_mem_charge(u32 pages);
void sanx_mem_uncharge(u32 pages);

/* How long a sender waits for a reader before it goes on without. */
#define SANX_PATIENCE	(msecs_to_jiffies(2) + 1)

/* alive.c */
void sanx_conn_quiet(struct sanx_conn *conn);

/* gather.c */
void sanx_gather_init(struct sanx_gather *g, u32 piece,
		      void (*flush)(struct sanx_gather *g));
bool sanx_gather_wants(struct sanx_gather *g, size_t len, bool now);
void sanx_gather_arm(struct sanx_gather *g);
void sanx_gather_push(struct sanx_gather *g);
void sanx_gather_received(struct sanx_gather *g);
void sanx_gather_stop(struct sanx_gather *g);

/* trim.c */
void sanx_trim_arm(struct sanx_conn *conn);
void sanx_trim_soon(struct sanx_conn *conn);

/* cork.c */
void sanx_cork_hold(struct sanx_conn *conn, u32 n);

/**
 * sanx_cork_release() - nothing is put away any more
 * @conn: the connection
 *
 * Context: process, tx_mutex held.
 * Return: true if something was.
 */
static inline bool sanx_cork_release(struct sanx_conn *conn)
{
	bool held = conn->cork.bytes;

	if (unlikely(held))
		WRITE_ONCE(conn->cork.bytes, 0);
	return held;
}

/* urgent.c */
void sanx_conn_urgent(struct sanx_conn *conn, u64 offset);
void sanx_conn_urgent_came(struct sanx_conn *conn);

/**
 * sanx_conn_get() - take a reference
 * @conn: a connection that the caller has, or knows to have, a reference of
 *
 * Return: @conn.
 */
static inline struct sanx_conn *sanx_conn_get(struct sanx_conn *conn)
{
	refcount_inc(&conn->refs);
	return conn;
}

/* listener.c */
int sanx_conn_incoming(struct sanx_conn *conn);
u32 sanx_listener_ring_size(struct net *net, const struct sanx_endpoint *local,
			    const struct sanx_endpoint *remote,
			    struct mem_cgroup **memcg);

/* transport.c */
int sanx_transport_register(const struct sanx_transport_ops *ops);
void sanx_transport_unregister(const struct sanx_transport_ops *ops);
int sanx_nl_put_link(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct sanx_link_info *info);

/* nodemap.c */
bool sanx_addr_travels(const struct in6_addr *addr);
bool sanx_node_by_addr(struct net *net, const struct in6_addr *addr,
		       struct sanx_node_info *info);
bool sanx_node_by_id(struct net *net, u32 id, struct sanx_node_info *info);
bool sanx_node_has_addr(struct net *net, u32 id, const struct in6_addr *addr);
bool sanx_node_has_rail(struct net *net, u32 id, const struct in6_addr *addr);
u32 sanx_node_self(struct net *net);
bool sanx_nodemap_empty(struct net *net);

/* ports.c */
bool sanx_port_allowed(struct net *net, __be16 port);

/* addr.c */
bool sanx_addr_is_local(struct net *net, const struct in6_addr *addr);

/* stats.c */
void sanx_count_protocol_error(struct net *net);

/* worker.c: the named kernel threads */
void sanx_connect_queue(struct kthread_work *work);
void sanx_accept_queue(struct kthread_work *work);

#endif /* _NET_SANX_H */
