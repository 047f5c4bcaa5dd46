/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine: the protocol between nodes, over any wire (net/sanx_wire.h).
 *
 *	vnet	a namespace: listener and link groups	main.c
 *	vgroup	one lane to a node: its links, its	group.c
 *		suspended connections, and connections
 *		that wait for a link
 *	vlink	one link to that node			setup.c link.c recv.c
 *		its sending side: order, payload,	xmit.c payload.c
 *		frames, work requests			frames.c wr.c
 *		credits for frames			link_credit.h
 *	vconn	one connection on a link		ask.c open.c conn.c
 *							send.c peer.c
 *		its memory				grow.c ring_return.c
 *							sndbuf.c spill.c long.c
 *		from a lost link to the next		suspend.c resume.c
 *		if the peer's AF_SANX is gone		presence.h
 *	vring	memory that a link's wire accesses	ring.c
 *
 * References go upwards: a vconn has one of its vlink, a vlink has one of its
 * vgroup, and a vgroup lives until its vnet stops.
 *
 * A connection can outlive its link (suspend.c) and continue on another one
 * (resume.c).  vconn.link therefore changes.  Code that needs it takes
 * vconn_lock(), or reads it under RCU.
 *
 * Locks, outer to inner; Documentation/locking.rst has the whole order:
 *
 *	vnet.ctl	start and stop of a namespace; may wait for links to
 *			end
 *	(locks that a wire holds in upcalls about set-up)
 *	vnet.lock	groups, their links and waiting connections; never
 *			held over quiesce(), stop() and free() of a wire, which
 *			wait for its upcalls
 *	vlink.tx_lock	the sending side of a link, and the flags of its
 *			connections; taken in softirq
 *	(conn->lock of the core)
 */
#ifndef _SANX_LINK_INTERNAL_H
#define _SANX_LINK_INTERNAL_H

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <net/sanx_wire.h>

#include "conn/transport.h"
#include "frame.h"
#include "link_credit.h"
#include "presence.h"

/*
 * Bytes of a send buffer, and of a ring at most, on devices that complete work
 * before the peer has it (iWARP).
 */
#define VSNDBUF_EARLY	131072U
/*
 * Pieces of this size are not coalesced: compared with moving the bytes, a
 * chain of their own costs little.
 */
#define VPAYLOAD_PIECE	32768U

/**
 * struct vnet - the engine in one network namespace
 * @net: the namespace
 * @ctl: guards @listener, @busy, @exiting and @idle_tries; changes of @running
 *	need @ctl and @lock
 * @lock: guards @groups, the groups as listed at &struct vgroup, and reads of
 *	@running
 * @groups: &struct vgroup, one for each lane to each node that was ever used;
 *	lanes 0 come first
 * @listener: the wire's listener, or NULL
 * @running: connections are possible
 * @busy: there are AF_SANX sockets
 * @exiting: the namespace or the module is going away
 * @idle: stops the transport after the last socket was closed, when its
 *	connections have ended
 * @idle_tries: how many times @idle found connections
 * @n_links: links that are not freed yet
 * @gone: woken when @n_links becomes 0
 * @instance: random number, drawn when the namespace was set up and then
 *	constant; it tells peers that this node has restarted
 */
struct vnet {
	struct net		*net;
	struct mutex		ctl; /* guards: see above */
	struct mutex		lock; /* guards: see above */
	struct list_head	groups;
	void			*listener;
	bool			running;
	bool			busy;
	bool			exiting;
	struct delayed_work	idle;
	unsigned int		idle_tries;
	atomic_t		n_links;
	wait_queue_head_t	gone;
	u64			instance;
};

/**
 * struct vgroup - one lane to a node, and all links that it had
 * @refs: the list of the namespace has one, each link has one
 * @rcu: frees the group
 * @vnet: the namespace
 * @node: in vnet.groups
 * @peer: node id
 * @lane: number of the lane
 * @lanes: in lane 0: all lanes to the node by number, lane 0 included, or NULL;
 *	in other lanes: not used
 * @links: &struct vlink, from allocation to the end
 * @out: the link that takes our connections, with a reference, or NULL
 * @trying: our attempt to set up a link, with a reference, or NULL
 * @waiters: &struct vconn that wait for @out, with a reference each
 * @rail: the rail that @trying or the next attempt uses
 * @rails_left: rails that will be tried after @rail
 * @try_end: when the share of the time of @trying ends, in jiffies
 * @deadline: when @waiters are refused, in jiffies
 * @backoff: the last attempt at a link failed
 * @backoff_end: end of the backoff, in jiffies
 * @timer: runs at @try_end, or at @deadline if there is no @trying
 * @suspended: suspended &struct vconn, with the reference of their attachment
 * @n_suspended: number of @suspended
 * @tries: attempts at a link for @suspended since the last one was lost
 * @presence: what attempts for @suspended found at the peer, in jiffies
 * @resumed: when the peer last resumed one of @suspended, or when the link came
 *	up on which it could begin to, in jiffies
 * @retry: makes the next attempt, and checks the time limits of @suspended
 * @instance: the peer's instance, or 0 if not known yet
 * @ids: &struct vconn by our id, attached or suspended; written under the
 *	xa_lock, read under RCU
 * @next_id: where the search for the next id starts; xa_lock of @ids
 *
 * vnet.lock guards all fields but @refs, @ids and @next_id.
 */
struct vgroup {
	struct kref		refs;
	struct rcu_head		rcu;
	struct vnet		*vnet;
	struct list_head	node;
	u32			peer;
	u32			lane;
	struct vgroup		*lanes[SANX_LANES_MAX];
	struct list_head	links;
	struct vlink		*out;
	struct vlink		*trying;
	struct list_head	waiters;
	unsigned int		rail;
	unsigned int		rails_left;
	unsigned long		try_end;
	unsigned long		deadline;
	bool			backoff;
	unsigned long		backoff_end;
	struct delayed_work	timer;
	struct list_head	suspended;
	unsigned int		n_suspended;
	unsigned int		tries;
	struct presence		presence;
	unsigned long		resumed;
	struct delayed_work	retry;
	u64			instance;
	struct xarray		ids;
	u32			next_id;
};

/**
 * enum vlink_state - state of a link
 * @VLINK_CONNECTING: our attempt, from address resolution on
 * @VLINK_ACCEPTING: the peer's attempt, until its first frame
 * @VLINK_UP: frames are sent and received
 * @VLINK_DYING: accepts no new users and is being taken down
 * @VLINK_DEAD: only the memory is left
 */
enum vlink_state {
	VLINK_CONNECTING,
	VLINK_ACCEPTING,
	VLINK_UP,
	VLINK_DYING,
	VLINK_DEAD,
	/* private: */
	__VLINK_STATES
};

/**
 * struct vslot - a frame to send
 * @node: in vlink.free; or in vlink.posted, in the order of posting
 * @vc: the connection that the frame is about, or NULL; it is not released
 *	before the completion
 * @end: DATA: stream offset behind the payload; else 0
 * @len: DATA: bytes of payload in the frame; else 0
 * @posted: the frame is in flight
 * @signaled: a completion was requested
 * @at: when it was posted, in jiffies
 * @buf: SANX_WIRE_STRIDE bytes
 *
 * Its number is its index in vlink.slots.  vlink.tx_lock guards all fields that
 * change.
 */
struct vslot {
	struct list_head	node;
	struct vconn		*vc;
	u64			end;
	u32			len;
	bool			posted;
	bool			signaled;
	unsigned long		at;
	void			*buf;
};

/**
 * struct vopen - an OPEN or RESUME of the peer, to be served by the accept
 * thread
 * @work: in the accept thread
 * @link: the link that it arrived on
 * @node: in vlink.opens_free or vlink.rejects
 * @open: OPEN: a copy of the body
 * @peer_id: the connector's id of the connection
 * @win: the connector's window
 * @f: the header, without a body; its type tells OPEN from RESUME
 * @reject: enum sanx_reject, while in vlink.rejects
 *
 * vlink.tx_lock guards all fields while the request is in a list.  Otherwise
 * the accept thread owns it, or vconn.parked refers to it.
 */
struct vopen {
	struct kthread_work	work;
	struct vlink		*link;
	struct list_head	node;
	struct sanx_open	open;
	u32			peer_id;
	struct sanx_window_info	win;
	struct sanx_frame	f;
	u32			reject;
};

/**
 * struct vlink - one link to a node
 * @refs: references to the memory: the link has one until it is dead, each
 *	connection has one, vgroup.out and vgroup.trying have one each
 * @rcu: frees the link
 * @group: the group, with a reference
 * @node: in vgroup.links; vnet.lock
 * @active: our attempt, not the peer's
 * @rail: active link: the peer's rail that it connects to
 * @yields: gives way to the peer's attempt; vnet.lock
 * @taken: vgroup_link_up() has finished for this link; written under vnet.lock
 *	with release semantics, read without it with acquire semantics, both in
 *	vgroup_link_up()
 * @self: our node id when the link was allocated
 * @local: our address; vnet.lock
 * @remote: the peer's address; vnet.lock
 * @devname: name of the device
 *
 * @wl: the wire's part, or NULL; set by the @start work or vgroup_accept()
 * @caps: what the wire can do; constant once the link has come up
 * @copy_ns: ns that a copy of 64 KiB takes on this node, or 0
 * @frames: memory of the frames in @slots
 * @slots: frames to send
 * @opens: SANX_OPENS_MAX requests
 *
 * @tx_lock: guards @state, @err and all fields behind them except @heard,
 *	@swept, @users, @unused and the work items; also, for connections on
 *	this link, the fields that &struct vconn lists.  Reads without it are
 *	hints.
 * @state: changed by vlink_set_state() only
 * @err: errno (positive) for connections; ETIMEDOUT means that the peer was
 *	lost and may come back, and open connections are suspended
 * @free: &struct vslot
 * @posted: &struct vslot in flight, in order
 * @unsignaled: frames posted since the last one with a completion
 * @credit: credits for frames: what the peer can take, and what was advertised
 *	to it
 * @instance: the peer's instance
 * @inline_max: bytes of payload that the peer accepts in a frame
 * @timed: a PING whose round trip is being measured, or NULL
 * @timed_at: when @timed was posted, ktime in ns
 * @rtt_ns: the shortest round trip so far in ns, or 0
 * @ping: a PING is due
 * @pong: a PONG is due
 * @regs: &struct vconn with a registration that all other work waits for
 * @pending: &struct vconn with frames to send, except OPEN and RESUME
 * @openers: &struct vconn with an OPEN or RESUME to send
 * @opening: OPENs and RESUMEs posted and not answered, at most SANX_OPENS_MAX
 * @asking: &struct vconn whose OPEN is not answered and not late, oldest first
 * @late: OPENs that were not answered in time, since the last answer
 * @late_at: when the last of them was given up, in jiffies
 * @ready: &struct vconn whose sender can continue and is to be woken
 * @rejects: &struct vopen to be rejected
 * @opens_free: &struct vopen
 * @conns: &struct vconn that are attached
 * @n_conns: number of @conns
 *
 * @heard: when the last frame arrived, in jiffies; no lock
 * @asked: when the first PING after @heard was requested, in jiffies; not after
 *	@heard if none was
 * @swept: when connections were last checked by vconn_sweep(), in jiffies; used
 *	by @beat only
 * @users: users that end before the wire's part is freed: attached
 *	connections, requests in the accept thread, callers of vconn_link_get(),
 *	and one for the link itself
 * @unused: completed with the last user
 *
 * @start: starts an active link
 * @up: tells the group that the link is up
 * @beat: the heartbeat
 * @patience: gives up late OPENs
 * @end: takes the link down
 */
struct vlink {
	struct kref		refs;
	struct rcu_head		rcu;
	struct vgroup		*group;
	struct list_head	node;
	bool			active;
	unsigned int		rail;
	bool			yields;
	bool			taken;
	u32			self;
	struct in6_addr		local;
	struct in6_addr		remote;
	char			devname[64];

	struct sanx_wire_link	*wl;
	struct sanx_wire_caps	caps;
	u64			copy_ns;
	void			*frames;
	struct vslot		*slots;
	struct vopen		*opens;

	spinlock_t		tx_lock; /* guards: see above */
	enum vlink_state	state;
	int			err;
	struct list_head	free;
	struct list_head	posted;
	u32			unsignaled;
	struct link_credit	credit;
	u64			instance;
	u32			inline_max;
	struct vslot		*timed;
	u64			timed_at;
	u64			rtt_ns;
	bool			ping;
	bool			pong;
	struct list_head	regs;
	struct list_head	pending;
	struct list_head	openers;
	u32			opening;
	struct list_head	asking;
	u32			late;
	unsigned long		late_at;
	struct list_head	ready;
	struct list_head	rejects;
	struct list_head	opens_free;
	struct list_head	conns;
	u32			n_conns;

	unsigned long		heard;
	unsigned long		asked;
	unsigned long		swept;
	refcount_t		users;
	struct completion	unused;

	struct work_struct	start;
	struct work_struct	up;
	struct delayed_work	beat;
	struct delayed_work	patience;
	struct work_struct	end;
};

/**
 * struct vring - memory that the wire of a link may access
 * @buf: page aligned, contiguous for the CPU; NULL if there is none
 * @size: bytes, a power of two; the memory is whole pages
 * @map: its mapping for the wire of a link
 * @remote: the peer writes it; else it is a send buffer
 * @grown: counts as larger than the program asked for: vring_alloc_grown()
 *
 * A ring has no lock of its own: see @ring and @sndbuf of &struct vconn.
 */
struct vring {
	u8			*buf;
	u32			size;
	struct sanx_wire_map	map;
	bool			remote;
	bool			grown;
};

/*
 * Flags of a connection, guarded by vlink.tx_lock.  At most one of IDLE,
 * OPENING and OPEN is set.  The others are never cleared, except ACCEPTING,
 * CLOSE_SENT, SUSPENDED, RESUMING, GROWING, WINDOW and LEFT.
 *
 * IDLE: attached, the peer was busy; connect() is called again
 * OPENING: OPEN is pending or sent, and not answered
 * ACCEPTING: OPEN was received, our answer is not pending yet
 * OPEN: both sides know each other's id
 * CLOSED: closed or aborted at this end
 * RESET: CLOSE carries RESET, and the peer's program gets ECONNRESET
 * CLOSE_SENT: CLOSE was posted
 * CLOSE_ACKED: CLOSE was answered
 * FIN_RCVD: the peer sends no more payload
 * PEER_CLOSED: the peer neither sends nor reads
 * OVER: aborted, refused, or its link ended without a chance to resume
 * RELEASED: vconn_release() will run, or has run
 * SUSPENDED: the link was lost; not attached
 * RESUMING: attached again, RESUME is pending or sent, and not answered
 * FIN_SENT: FIN was posted, on this link or an earlier one
 * GROWING: a first or a larger ring is being made, or will be when there is
 *	memory; or it was made and the peer does not write to it yet
 * WINDOW: vconn.next was advertised
 * LEFT: vconn.old is to be unmapped and freed
 */
#define VCONN_IDLE		BIT(0)
#define VCONN_OPENING		BIT(1)
#define VCONN_ACCEPTING		BIT(2)
#define VCONN_OPEN		BIT(3)
#define VCONN_CLOSED		BIT(4)
#define VCONN_CLOSE_SENT	BIT(5)
#define VCONN_CLOSE_ACKED	BIT(6)
#define VCONN_FIN_RCVD		BIT(7)
#define VCONN_PEER_CLOSED	BIT(8)
#define VCONN_OVER		BIT(9)
#define VCONN_RELEASED		BIT(10)
#define VCONN_RESET		BIT(11)
#define VCONN_SUSPENDED		BIT(12)
#define VCONN_RESUMING		BIT(13)
#define VCONN_FIN_SENT		BIT(14)
#define VCONN_GROWING		BIT(15)
#define VCONN_WINDOW		BIT(16)
#define VCONN_LEFT		BIT(17)

/* Pending frames of a connection; xmit_pending() sends them in order. */
#define VCONN_P_OPEN		BIT(0)	/* or RESUME, while RESUMING */
#define VCONN_P_OPEN_ACK	BIT(1)
#define VCONN_P_CREDIT		BIT(2)
#define VCONN_P_FIN		BIT(3)
#define VCONN_P_CLOSE		BIT(4)
#define VCONN_P_CLOSE_ACK	BIT(5)
#define VCONN_P_RESUME_ACK	BIT(6)
#define VCONN_P_DATA		BIT(7)	/* from the send buffer */
#define VCONN_P_WINDOW		BIT(8)
#define VCONN_P_RETURN_ACK	BIT(9)

/**
 * struct vconn - the engine's part of a connection
 * @link: the current link, or the last one, with a reference from the first
 *	attach to the end of the connection.  vconn_attach() sets it under the
 *	tx_lock of the link; its callers hold lock_sock() or vnet.lock, or are
 *	the accept thread.  resume_switch() changes it under vnet.lock and the
 *	tx_lock of the old link, with release semantics; vconn_lock() and
 *	vconn_frame() load it with acquire semantics.
 * @wait: in vgroup.waiters or vgroup.suspended; vnet.lock
 * @waiting: is in vgroup.waiters; vnet.lock
 * @parked: a RESUME that arrived while the connection was on another link;
 *	vnet.lock and tx_lock
 * @lost: when it was suspended, in jiffies; vnet.lock
 * @id: our id
 * @peer_id: the peer's id
 * @win: the peer's ring; its size is 0 while there is none; written under
 *	tx_lock, the size is also read without it
 * @tx_gen: value of SANX_FRAME_F_GEN in what we send; tx_lock
 * @return_sent: RETURN was posted and is not answered; tx_lock
 * @returned_win: the ring that this RETURN was about; tx_lock
 * @ring: our ring, the current generation, which the peer writes; tx_lock, as
 *	all fields up to @began
 * @next: the generation that will follow, until the peer writes to it
 * @old: the generation before, until it is unmapped and freed
 * @rx_gen: value of SANX_FRAME_F_GEN with which the peer writes to @ring
 * @granted_before: stream offset that was granted before @next was advertised
 * @first: the memory that the connection began with, while it is not used, or
 *	NULL
 * @base: stream offset from which payload was last stored in that memory
 * @began: bytes of the first ring
 * @rwnd_limited: the peer was rwnd-limited; no lock
 * @mark: stream offset up to which the last full ring was read; rx_mutex, as
 *	@marked and @full_rings
 * @marked: when that was, local_clock() in ns
 * @full_rings: how many rings in a row were read in time
 * @sndbuf: send buffer (sndbuf.c), made by the first send that needs it.  The
 *	sender replaces it under tx_mutex and tx_lock.  For a lost link,
 *	save_sndbuf() makes the first one under tx_lock; its release store of
 *	the address pairs with the acquire load in sndbuf_good().
 * @longs: &struct vlong, payload in flight from the program's own pages;
 *	tx_lock
 * @bound: bytes that SO_SNDBUF permits in @sndbuf; no lock
 * @most: bytes that the device and the memory permit in @sndbuf; no lock
 * @coalesce: small pieces that are being coalesced
 * @corked: bytes behind @posted wait for more; tx_lock
 * @end: stream offset behind the last byte taken from the program, except for
 *	the bytes in @spill; changes need tx_lock, and also tx_mutex while
 *	@spill is empty
 * @spill: &struct vpiece, bytes that @sndbuf had no room for (spill.c); tx_lock
 * @spilled: bytes in @spill; changes need tx_lock.  The release store in
 *	move_done() pairs with the acquire load in vspill_any().
 * @filling: the piece that a sender copies to, or NULL; tx_lock
 * @move: moves @spill to @sndbuf; holds a reference of the connection while it
 *	is queued
 * @unsignaled: bytes sent since the last completion was requested; tx_lock, as
 *	all fields up to @node
 * @posted: stream offset of the next byte to be posted; less than tx.next while
 *	bytes are sent again on another link
 * @acked: stream offset up to which the device has completed all writes
 * @peer_has: stream offset up to which the peer had all bytes when the
 *	connection last lost a link or was resumed
 * @peer_received: offset in the peer's last RESUME or RESUME_ACK
 * @acked_at: when @acked last changed, or the connection was attached, resumed
 *	or closed, whichever is last; in jiffies
 * @urgent: stream offset behind the last urgent byte that was sent, or 0
 * @full: a sender waits for room in @sndbuf, or until it is empty
 * @draining: @sndbuf takes no bytes until it is empty and is replaced
 * @early: is, or was once, on a device that completes work before the peer has
 *	it (iWARP)
 * @flags: VCONN_*
 * @pending: VCONN_P_*
 * @inflight: frames posted and not completed
 * @reg: in vlink.regs
 * @pend: in vlink.pending or vlink.openers
 * @ask: in vlink.asking
 * @asked: when the OPEN became pending, in jiffies
 * @room: in vlink.ready
 * @node: in vlink.conns
 * @work: releases or frees the connection
 * @grow: makes @next, and frees @old; holds a reference of the connection while
 *	it is queued
 */
struct vconn {
	struct vlink		*link;
	struct list_head	wait;
	bool			waiting;
	struct vopen		*parked;
	unsigned long		lost;
	u32			id;
	u32			peer_id;
	struct sanx_window_info	win;
	bool			tx_gen;
	bool			return_sent;
	struct sanx_window_info	returned_win;
	struct vring		ring;
	struct vring		next;
	struct vring		old;
	bool			rx_gen;
	u64			granted_before;
	u8			*first;
	u64			base;
	u32			began;
	bool			rwnd_limited;
	u64			mark;
	u64			marked;
	unsigned int		full_rings;
	struct vring		sndbuf;
	struct list_head	longs;
	u32			bound;
	u32			most;
	struct sanx_coalesce	coalesce;
	bool			corked;
	u64			end;
	struct list_head	spill;
	u32			spilled;
	struct vpiece		*filling;
	struct work_struct	move;
	u32			unsignaled;
	u64			posted;
	u64			acked;
	u64			peer_has;
	u64			peer_received;
	unsigned long		acked_at;
	u64			urgent;
	bool			full;
	bool			draining;
	bool			early;
	u32			flags;
	u32			pending;
	u32			inflight;
	struct list_head	reg;
	struct list_head	pend;
	struct list_head	ask;
	unsigned long		asked;
	struct list_head	room;
	struct list_head	node;
	struct work_struct	work;
	struct delayed_work	grow;
};

struct vlong;
struct vpiece;

static inline struct vconn *vconn_of(struct sanx_conn *conn)
{
	return sanx_conn_priv(conn);
}

static inline struct sanx_conn *vconn_conn(struct vconn *vc)
{
	return sanx_conn_of_priv(vc);
}

static inline bool vconn_accepted(struct vconn *vc)
{
	return vconn_conn(vc)->accepted;
}

/* main.c */
extern const struct sanx_wire_ops *vwire;
extern struct sanx_transport_ops vlink_transport;
extern struct workqueue_struct *vlink_wq;
extern struct workqueue_struct *vconn_wq;
extern unsigned int link_timeout_ms;
extern unsigned int link_hold_ms;
extern unsigned int heartbeat_ms;
extern unsigned int lanes;
extern unsigned int grow_ms;
extern unsigned int long_min;
struct vnet *vnet_of(const struct net *net);

/* On kernels with fault injection, tests widen short race windows. */
#ifdef CONFIG_FAULT_INJECTION
extern unsigned int hold_up_ms;

static inline void vdebug_hold_up(void)
{
	if (READ_ONCE(hold_up_ms))
		msleep(READ_ONCE(hold_up_ms));
}
#else
static inline void vdebug_hold_up(void)
{
}
#endif

/* group.c */
int vgroup_connect(struct vconn *vc);
bool vgroup_cancel(struct vconn *vc);
struct vlink *vgroup_accept(struct vnet *vnet, u32 peer, u32 lane,
			    struct sanx_wire_link *wl);
void vgroup_link_up(struct vlink *link);
void vgroup_link_ends(struct vlink *link);
void vgroup_link_gone(struct vlink *link);
void vgroup_revalidate(struct vnet *vnet);
void vgroup_stop(struct vnet *vnet);
bool vgroup_has_conns(struct vnet *vnet);
int vgroup_dump(struct vnet *vnet, struct sk_buff *skb,
		struct netlink_callback *cb, int skip);
void vgroup_put(struct vgroup *g);
void vgroup_try(struct vgroup *g, unsigned int n);

/* setup.c */
void vsetup_start(struct work_struct *work);

/* link.c */
struct vlink *vlink_alloc(struct vgroup *g, bool active);
void vlink_put(struct vlink *link);
void vlink_set_state(struct vlink *link, enum vlink_state to);
void vlink_came_up(struct vlink *link);
void vlink_ask(struct vlink *link);
bool vlink_quiet(const struct vlink *link);
void vlink_kill_locked(struct vlink *link, int err);
void vlink_kill(struct vlink *link, int err);
const char *vlink_state_name(enum vlink_state state);
void vlink_user_put(struct vlink *link);

/* xmit.c; the functions that it sends with are in xmit.h */
bool vxmit_ok(const struct vlink *link);
void vxmit_run(struct vlink *link);
void vxmit_pend(struct vconn *vc, u32 frames);
void vxmit_flush(struct vconn *vc);
void vxmit_uncork(struct vconn *vc);
void vxmit_enable(struct vconn *vc);
void vxmit_return(struct vconn *vc);
void vxmit_unlock(struct vlink *link) __releases(&link->tx_lock);

/**
 * enum vpayload_when - when payload is sent
 * @VPAYLOAD_NOW: as soon as possible
 * @VPAYLOAD_SOON: coalesced, until vxmit_flush() is called
 * @VPAYLOAD_CORKED: corked, until vxmit_uncork() is called
 */
enum vpayload_when {
	VPAYLOAD_NOW,
	VPAYLOAD_SOON,
	VPAYLOAD_CORKED,
};

/* payload.c */
int vpayload_inline(struct vconn *vc, const void *data, u32 len, bool urgent);
int vpayload_taken(struct vconn *vc, u32 len, bool urgent, enum vpayload_when when);
u32 vpayload_long(struct vconn *vc, struct vlink *link, struct vlong *l, u32 len);

/* ask.c */
void vask_begin(struct vconn *vc);
void vask_answered(struct vconn *vc);
bool vask_unanswered(const struct vlink *link);
void vask_work(struct work_struct *work);

/* open.c */
int vopen_take(struct vlink *link, const struct sanx_frame *f);
void vopen_requeue(struct vopen *o);
void vopen_work(struct kthread_work *work);
void vopen_put(struct vopen *o);

/* send.c */
ssize_t vconn_send(struct sanx_conn *conn, struct iov_iter *from, size_t len,
		   int flags);
u32 vconn_room(struct sanx_conn *conn, enum sanx_room which);
u32 vconn_unsent(struct sanx_conn *conn);
bool vconn_drained(struct sanx_conn *conn);
void vconn_push(struct sanx_conn *conn);
void vconn_uncork(struct sanx_conn *conn);
void vconn_flush(struct sanx_coalesce *g);
void vconn_consumed(struct sanx_conn *conn);
void vconn_fin(struct sanx_conn *conn);

/* suspend.c */
void vsuspend_save(struct vlink *link);
void vsuspend_take(struct vconn *vc, struct vlink *link);
void vsuspend_release(struct vconn *vc);
void vsuspend_reset(struct vconn *vc, int err);
void vsuspend_reset_all(struct vgroup *g, int err);
void vsuspend_refused(struct vgroup *g, bool never);
void vsuspend_stop(struct vgroup *g);
void vsuspend_link_up(struct vgroup *g, struct vlink *link);
void vsuspend_work(struct work_struct *work);

/* resume.c */
int vresume_ask(struct vconn *vc, struct vlink *link);
int vresume_serve(struct vopen *o);
int vresume_answer(struct vconn *vc, const struct sanx_frame *f);
int vresume_refused(struct vconn *vc);

/* conn.c */
struct vlink *vconn_lock(struct vconn *vc) __acquires(&vc->link->tx_lock);
struct vconn *vconn_find(struct vgroup *g, u32 id);
void vconn_close(struct sanx_conn *conn, bool reset);
void vconn_reset_unread(struct vconn *vc);
void vconn_give_up(struct vconn *vc);
void vconn_sweep(struct vlink *link);
void vconn_cut(struct sanx_conn *conn);
void vconn_cut_locked(struct vconn *vc);
void vconn_liveness(struct sanx_conn *conn,
		    struct sanx_liveness_report *report);
void vconn_probe(struct sanx_conn *conn);
void vconn_destroy(struct sanx_conn *conn);
int vconn_open(struct vconn *vc, struct vlink *link);
int vconn_reopen(struct vconn *vc);
int vconn_attach(struct vconn *vc, struct vlink *link, u32 flags);
int vconn_window_ok(const struct vlink *link,
		    const struct sanx_window_info *win);
void vconn_set_window(struct vconn *vc, const struct sanx_window_info *win);
struct vlink *vconn_link_get(struct vconn *vc);
void vconn_join(struct vconn *vc, struct vlink *link);
void vconn_check_over(struct vconn *vc);
bool vconn_survives(const struct vconn *vc);
void vconn_fail_all(struct vlink *link);
void vconn_release(struct vconn *vc);
void vconn_init(struct vconn *vc);
void vconn_abort(struct vconn *vc);

/* peer.c */
int vconn_frame(struct vconn *vc, const struct vlink *link,
		const struct sanx_frame *f);

/* ring.c */
int vring_alloc(struct vring *ring, u32 size, struct mem_cgroup *memcg,
		bool remote);
int vring_alloc_grown(struct vring *ring, u32 size, struct mem_cgroup *memcg);
void vring_free(struct vring *ring);
bool vring_free_sleeps(const struct vring *ring);
void vring_keep(struct vring *ring, u64 offset, const void *data, u32 len);
bool vring_mapped(const struct vring *ring);
bool vring_disabled(const struct vring *ring);
int vring_map(struct vring *ring, struct vlink *link, u64 iova);
void vring_unmap(struct vring *ring);
void vring_sync(const struct vring *ring, u64 offset, u32 len);
u32 vring_max(const struct vlink *link);

/* grow.c */
void vgrow_work(struct work_struct *work);
void vgrow_check(struct vconn *vc, u64 tail);
int vgrow_arrival(struct vconn *vc, const struct sanx_frame *f);
int vgrow_note_gen(struct vconn *vc, const struct sanx_frame *f);
void vgrow_advertised(struct vconn *vc);
void vgrow_follow(struct vconn *vc);
void vgrow_read(struct vconn *vc);
void vgrow_left(struct sanx_conn *conn, const struct sanx_left *left);
void vgrow_one_ring(struct vconn *vc);
void vgrow_resumed(struct vconn *vc);
void vgrow_unmap(struct vconn *vc);
bool vgrow_free_sleeps(const struct vconn *vc);
void vgrow_free(struct vconn *vc);

/* ring_return.c */
bool vreturn_reclaim(struct sanx_conn *conn);
int vreturn_serve(struct vconn *vc, const struct sanx_frame *f);
int vreturn_answer(struct vconn *vc, const struct sanx_frame *f);
bool vreturn_crossed(struct vconn *vc, const struct sanx_window_info *win);

/* long.c */
bool vlong_wants(struct vconn *vc, const struct iov_iter *from, size_t len,
		 int flags);
size_t vlong_room(struct vconn *vc, const struct iov_iter *from);
size_t vlong_send(struct vconn *vc, struct iov_iter *from, size_t len);
void vlong_source(const struct vlong *l, u64 offset, struct sanx_wire_write *w);
void vlong_lent(struct vconn *vc, struct vlong *l, u64 to);
void vlong_acked(struct vconn *vc, struct list_head *read);
void vlong_read(struct list_head *read);
void vlong_save(struct vconn *vc);
void vlong_drop(struct vconn *vc);
void vlong_wait(struct sanx_conn *conn, u64 to);
u32 vlong_cutoff(const struct vlink *link);
void vlong_tune(struct vlink *link);

/* sndbuf.c */
u64 vsndbuf_first(const struct vconn *vc);
u32 vsndbuf_size(const struct vconn *vc, size_t len);
void vsndbuf_bound(struct vconn *vc);
u32 vsndbuf_room(const struct vconn *vc);
bool vsndbuf_signal(const struct vconn *vc);
void vsndbuf_await(struct vconn *vc);
bool vsndbuf_early_ok(const struct vconn *vc);
bool vsndbuf_reclaim(struct vconn *vc);
int vsndbuf_make(struct vconn *vc, size_t len);

/* spill.c */
bool vspill_any(const struct vconn *vc);
u64 vspill_end(const struct vconn *vc);
bool vspill_waits(const struct vconn *vc);
void vspill_kick(struct vconn *vc);
void vspill_tx_ready(struct vconn *vc);
u32 vspill_room(struct vconn *vc);
ssize_t vspill_send(struct vconn *vc, struct iov_iter *from, size_t len,
		    int flags);
void vspill_work(struct work_struct *work);
void vspill_free(struct vconn *vc);

#endif /* _SANX_LINK_INTERNAL_H */
