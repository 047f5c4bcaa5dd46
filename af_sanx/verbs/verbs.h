/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verbs transport: connections over RDMA.
 *
 *	vnet	a namespace: listener and link groups		main.c
 *	vgroup	a lane to one node: a link, its orphans, and	group.c
 *		who waits for one
 *	vlink	one queue pair to that node			cm.c link.c recv.c
 *		what it sends, from the order down to work	xmit.c payload.c frames.c
 *		requests, and how much the peer can take	wr.c link_credit.h
 *	vconn	one connection, riding on a link		ask.c open.c conn.c send.c peer.c
 *		and its memory				grow.c shrink.c staging.c spill.c
 *							long.c
 *		and from one link to the next			orphan.c resume.c
 *		or to none any more				presence.h
 *	vring	memory that a queue pair may reach		ring.c
 *
 * References go upwards: a vconn has one of its vlink, a vlink one of its
 * vgroup, and a vgroup lives until its vnet stops.
 *
 * A connection can outlive its link (orphan.c) and go on by another.  So its
 * vlink changes: it is found with vconn_lock(), or used under RCU.
 *
 * Locks, outer to inner:
 *
 *	vnet.ctl	starting and stopping a namespace; may wait for links to go
 *	(handler mutex of an rdma_cm_id, held by its event handler)
 *	vnet.lock	groups, their links and waiters; never held over
 *			rdma_destroy_id(), which waits for event handlers
 *	vlink.tx_lock	all of a link's sending side, and the flags of its
 *			connections; taken in softirq
 *	(conn->lock of the core)
 */
#ifndef _SANX_VERBS_H
#define _SANX_VERBS_H

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
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <net/sanx.h>
#include <net/sanx_frame.h>

#include "link_credit.h"
#include "presence.h"

/* Receives that a link posts, and so frames that its peer may have under way. */
#define VLINK_RECVS	128U
/* Frames that a link may have under way itself. */
#define VLINK_SLOTS	128U
/* Work requests of one chain: a registration, two writes, the frame. */
#define VLINK_CHAIN	4U
/* Places in memory that one work request gathers from. */
#define VLINK_SGES	17U
/* Distance of frames in memory. */
#define VFRAME_STRIDE	ALIGN(SANX_FRAME_MAX, 64U)
/* Bytes that one chain moves at most, so that large sends overlap. */
#define VPAYLOAD_MAX	65536U
/* Staging memory, and rings, where completions say nothing of the peer. */
#define VSTAGING_EARLY	131072U
/* Against moving a piece of this, a chain of its own is little. */
#define VPAYLOAD_PIECE	32768U

/**
 * struct vnet - the transport in one network namespace
 * @net: the namespace
 * @ctl: guards @listen, @busy, @exiting and the changes of @running
 * @lock: guards @groups, what is in them, and @running for readers
 * @groups: &struct vgroup, one for each lane to each node we had to do with,
 *	the lanes 0 first
 * @listen: listeners, one an address family
 * @running: connections are possible
 * @busy: there are AF_SANX sockets
 * @exiting: the namespace or the module goes
 * @idle: stops what the last socket left, when its connections have ended
 * @idle_tries: how often @idle found connections
 * @n_links: links that are not yet gone
 * @gone: woken when @n_links becomes 0
 * @instance: drawn when it was made; tells peers that we started anew
 */
struct vnet {
	struct net		*net;
	struct mutex		ctl; /* see above */
	struct mutex		lock; /* see above */
	struct list_head	groups;
	struct rdma_cm_id	*listen[2];
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
 * @refs: the namespace's list has one, each link one
 * @rcu: frees it
 * @vnet: the namespace
 * @node: in vnet.groups
 * @peer: node id
 * @lane: which it is
 * @lanes: of lane 0: all to that node, by their number, itself too, or NULL
 * @links: &struct vlink, from its making to its end
 * @out: the link that takes our connections, with a reference, or NULL
 * @trying: our attempt to get one, with a reference, or NULL
 * @waiters: &struct vconn that wait for @out, with a reference each
 * @rail: the rail that @trying or the next attempt uses
 * @rails_left: rails that have a turn after that
 * @try_end: when @trying has had its share of the time, in jiffies
 * @deadline: when @waiters are refused, in jiffies
 * @held: there was no link to be had lately
 * @hold_end: until when that counts, in jiffies
 * @timer: runs at @try_end, or at @deadline where there is no @trying
 * @orphans: &struct vconn whose link was lost, with the reference of their
 *	attachment
 * @n_orphans: how many
 * @tries: attempts at a link for @orphans, since the last one was lost
 * @presence: what attempts for @orphans found at the peer, in jiffies
 * @resumed: when the peer last asked for one of @orphans, or could have begun
 *	to, in jiffies
 * @retry: makes an attempt, and looks after @orphans
 * @instance: the peer's, or 0
 * @ids: &struct vconn by our id, attached or orphaned; written under its own
 *	lock, read under RCU
 * @next_id: for the next connection; lock of @ids
 *
 * Guarded by vnet.lock, but for @refs, @ids and @next_id.
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
	bool			held;
	unsigned long		hold_end;
	struct delayed_work	timer;
	struct list_head	orphans;
	unsigned int		n_orphans;
	unsigned int		tries;
	struct presence		presence;
	unsigned long		resumed;
	struct delayed_work	retry;
	u64			instance;
	struct xarray		ids;
	u32			next_id;
};

/**
 * enum vlink_state - where a link is
 * @VLINK_CONNECTING: our attempt, from the address on
 * @VLINK_ACCEPTING: the peer's attempt, until its first frame
 * @VLINK_UP: frames pass
 * @VLINK_DYING: no more users; being taken down
 * @VLINK_DEAD: nothing left but memory
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
 * @cqe: its completion
 * @link: whose it is
 * @node: in vlink.free or, in the order of posting, vlink.posted
 * @vc: the connection that it is about, kept from release until the
 *	completion, or NULL
 * @end: DATA: stream offset behind the payload
 * @len: DATA: bytes of payload in the frame
 * @posted: under way
 * @signaled: its completion was asked for
 * @at: when it was posted, in jiffies
 * @buf: VFRAME_STRIDE bytes
 * @dma: their address for the device
 */
struct vslot {
	struct ib_cqe		cqe;
	struct vlink		*link;
	struct list_head	node;
	struct vconn		*vc;
	u64			end;
	u32			len;
	bool			posted;
	bool			signaled;
	unsigned long		at;
	void			*buf;
	u64			dma;
};

/**
 * struct vrecv - a frame to receive
 * @cqe: its completion
 * @link: whose it is
 * @buf: VFRAME_STRIDE bytes
 * @dma: their address for the device
 */
struct vrecv {
	struct ib_cqe		cqe;
	struct vlink		*link;
	void			*buf;
	u64			dma;
};

/**
 * struct vopen - an OPEN or RESUME of the peer that the accept thread is to
 *	answer
 * @work: in the accept thread
 * @link: where it came in
 * @node: in vlink.opens_free or vlink.rejects
 * @open: body of an OPEN, a copy
 * @peer_id: the connector's id
 * @win: its window
 * @f: header of a RESUME; its @type is that of OPEN else
 * @reject: enum sanx_reject, while in vlink.rejects
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
 * struct vframes - memory for frames, mapped for the device
 * @buf: page aligned
 * @dma: its address for the device
 * @bytes: size
 * @dir: who writes it
 */
struct vframes {
	void			*buf;
	u64			dma;
	size_t			bytes;
	enum dma_data_direction	dir;
};

/**
 * struct vlink - one queue pair to a node
 * @refs: memory: its own life has one, each connection one
 * @rcu: frees it
 * @group: whose it is, with a reference
 * @node: in vgroup.links; vnet.lock
 * @active: our attempt, not the peer's
 * @rail: the peer's rail that it uses, of an active one
 * @tied: gives way to the peer's attempt; vnet.lock
 * @taken: vgroup_link_up() was here; written under vnet.lock
 * @self: our node id when it was made
 * @local: our address
 * @remote: the peer's address
 * @devname: the device's name
 *
 * @id: the connection manager's part
 * @pd: protection domain, of this link alone: what is registered in it no
 *	other peer can name
 * @cq: of both directions
 * @qp: the queue pair, from setup to the end of teardown
 * @live: @qp has left the initial states and must be drained
 * @early: the device completes work before the peer has it
 * @reg_alone: no work that is not acknowledged may stand before a registration
 * @max_sge: places in memory that a work request gathers from, VLINK_SGES at most
 * @copy_ns: what a copy of 64 KiB takes here, or 0
 * @tx_mem: memory of @slots
 * @rx_mem: memory of @recvs
 * @chain_cqe: of work requests that are no frames; they complete only if they
 *	fail
 * @slots: frames to send
 * @recvs: frames to receive
 * @opens: SANX_OPENS_MAX requests
 *
 * @tx_lock: guards @state, @err and all that follows, but for @heard and
 *	@users
 * @state: changed by vlink_set_state() only
 * @err: errno (positive) that connections get; with ETIMEDOUT the peer was lost
 *	and may come back, and connections wait for that
 * @free: &struct vslot
 * @posted: &struct vslot under way, in order
 * @unsignaled: frames posted since the last with a completion
 * @credit: how many frames the peer can take, and what it was told of us
 * @instance: the peer's
 * @inline_max: bytes of payload that it takes in a frame
 * @lent: for work that is being posted from programs' pages; one more for where
 *	the peer's ring wraps
 * @timed: a PING whose acknowledgment is waited for, or NULL
 * @timed_at: when it was posted, ktime
 * @rtt_ns: what that took at the least, or 0
 * @ping: a PING is due
 * @pong: a PONG is due
 * @regs: &struct vconn with a registration that all else waits for
 * @pending: &struct vconn with frames to send, OPEN apart
 * @openers: &struct vconn with an OPEN or RESUME to send
 * @opening: OPENs and RESUMEs posted and not answered, SANX_OPENS_MAX at most
 * @asking: &struct vconn whose OPEN is not answered and still in time, the oldest
 *	first
 * @late: OPENs that were not answered in time, since the last answer
 * @late_at: when the last of them was given up, in jiffies
 * @ready: &struct vconn whose sender can go on, to be told
 * @rejects: &struct vopen to be answered in the negative
 * @opens_free: &struct vopen
 * @conns: &struct vconn that are attached
 * @n_conns: how many
 *
 * @heard: when the last frame came, in jiffies
 * @swept: when connections were last looked through, in jiffies; its beat's own
 * @asked: when the first PING since then was due; earlier if none was
 * @users: those who must be gone before the queue pair goes: attached
 *	connections, requests in the accept thread, and one for itself
 * @unused: completed with the last user
 *
 * @start: begins an active link
 * @up: tells the group
 * @beat: the heartbeat
 * @patience: gives up OPENs
 * @end: takes the link down
 */
struct vlink {
	struct kref		refs;
	struct rcu_head		rcu;
	struct vgroup		*group;
	struct list_head	node;
	bool			active;
	unsigned int		rail;
	bool			tied;
	bool			taken;
	u32			self;
	struct in6_addr		local;
	struct in6_addr		remote;
	char			devname[IB_DEVICE_NAME_MAX];

	struct rdma_cm_id	*id;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	bool			live;
	bool			early;
	bool			reg_alone;
	u32			max_sge;
	u64			copy_ns;
	struct vframes		tx_mem;
	struct vframes		rx_mem;
	struct ib_cqe		chain_cqe;
	struct vslot		*slots;
	struct vrecv		*recvs;
	struct vopen		*opens;

	spinlock_t		tx_lock; /* see above */
	enum vlink_state	state;
	int			err;
	struct list_head	free;
	struct list_head	posted;
	u32			unsignaled;
	struct link_credit	credit;
	u64			instance;
	u32			inline_max;
	struct ib_sge		lent[VLINK_SGES + 1];
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
 * struct vring - memory that a queue pair may reach
 * @buf: page aligned, contiguous for the CPU; NULL if there is none
 * @size: bytes, a power of two; the memory is whole pages
 * @dev: the device that it is mapped for, or NULL
 * @mr: its registration
 * @dma: address of each page for the device, or NULL where that needs no
 *	thought (software devices)
 * @dir: who writes it
 * @iova: address of the first byte in the registration
 * @key: of the registration, local and remote
 * @registered: the registration was posted
 * @grown: counts as more than was asked for: vring_alloc_grown()
 */
struct vring {
	u8			*buf;
	u32			size;
	struct ib_device	*dev;
	struct ib_mr		*mr;
	u64			*dma;
	enum dma_data_direction	dir;
	u64			iova;
	u32			key;
	bool			registered;
	bool			grown;
};

/*
 * Flags of a connection.  IDLE, OPENING and OPEN exclude each other; the rest
 * only ever gets set, but for ACCEPTING, CLOSE_SENT, ORPHAN, RESUMING, GROWING,
 * WINDOW and LEFT.
 *
 * IDLE: attached, refused as busy; connect() will come again
 * OPENING: OPEN is pending or sent, not answered
 * ACCEPTING: OPEN came, our answer is not pending yet
 * OPEN: both sides know each other's id
 * CLOSED: our socket is gone
 * RESET: and the peer's stream is to end in a reset
 * CLOSE_SENT: CLOSE was posted
 * CLOSE_ACKED: and answered
 * FIN_RCVD: the peer sends no more
 * PEER_CLOSED: the peer neither sends nor reads
 * OVER: aborted, refused or of a dead link
 * RELEASED: handed to vconn_release()
 * ORPHAN: the link was lost; not attached
 * RESUMING: attached again, RESUME is pending or sent, not answered
 * FIN_SENT: FIN was posted, on this link or an earlier one
 * GROWING: a ring for the peer to write, or a larger one, is being made, or
 *	was and the peer does not write there yet, or cannot be
 * WINDOW: and the peer was told of it
 * LEFT: the ring before is to be given back
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
#define VCONN_ORPHAN		BIT(12)
#define VCONN_RESUMING		BIT(13)
#define VCONN_FIN_SENT		BIT(14)
#define VCONN_GROWING		BIT(15)
#define VCONN_WINDOW		BIT(16)
#define VCONN_LEFT		BIT(17)

/* Frames that a connection has pending; xmit_pending() has their order. */
#define VCONN_P_OPEN		BIT(0)	/* or RESUME, of one that is RESUMING */
#define VCONN_P_OPEN_ACK	BIT(1)
#define VCONN_P_CREDIT		BIT(2)
#define VCONN_P_FIN		BIT(3)
#define VCONN_P_CLOSE		BIT(4)
#define VCONN_P_CLOSE_ACK	BIT(5)
#define VCONN_P_RESUME_ACK	BIT(6)
#define VCONN_P_DATA		BIT(7)	/* from the staging memory */
#define VCONN_P_WINDOW		BIT(8)
#define VCONN_P_RETURN_ACK	BIT(9)

/**
 * struct vconn - the transport's part of a connection
 * @link: the link, or the last that it had, with a reference from the first
 *	attach to the end of the connection; set under vnet.lock or the socket
 *	lock, changed under vnet.lock and the tx_lock of the old one
 * @wait: in vgroup.waiters or vgroup.orphans; vnet.lock
 * @waiting: is in vgroup.waiters; vnet.lock
 * @parked: a RESUME that came while it was on another link; vnet.lock and
 *	tx_lock
 * @lost: when it became an orphan, in jiffies; vnet.lock
 * @id: ours
 * @peer_id: the peer's
 * @win: the peer's ring; its size is 0 as long as it has none
 * @turned: value of SANX_FRAME_F_TURN for what we send; tx_lock
 * @returned: RETURN was posted, and nothing came to that yet; tx_lock
 * @kept: the ring that it was about
 * @ring: our ring, which the peer writes, if it has been told of one; tx_lock, as
 *	all to @tight
 * @next: the one that is to follow, until the peer writes there
 * @old: the one before, until it is given back
 * @turn: value of SANX_FRAME_F_TURN with which the peer writes to @ring
 * @told: what was granted before the peer was told of @next
 * @first: what the connection began with, while that is of no use, or NULL; written
 *	under tx_lock
 * @base: stream offset from which it went by that
 * @began: bytes of the first ring
 * @tight: the peer would have sent more; no lock
 * @mark: stream offset up to which a ring full was read last; rx_mutex, as
 *	@marked and @full_rings
 * @marked: when, local_clock()
 * @full_rings: how many of them in a row were read in good time
 * @staging: what is on its way to the peer's ring: staging.c; made by the first
 *	send that needs it; tx_mutex, and to change it tx_lock too
 * @longs: &struct vlong, what is on its way from the program's own pages; tx_lock
 * @bound: bytes that SO_SNDBUF permits it
 * @most: bytes that it can have, by the device and by what memory there was
 * @gather: small pieces that are held back
 * @corked: bytes behind @posted wait for more; tx_lock
 * @end: stream offset behind the last byte taken from the program, but for what is
 *	in @spill; tx_lock to change it, and tx_mutex if there is nothing
 * @spill: &struct vpiece, what there was no room for: spill.c; tx_lock
 * @spilled: bytes there; tx_lock to change it
 * @filling: of them, the one that a sender copies to; tx_lock
 * @move: moves it to @staging; with a reference of the connection while it is
 *	queued
 * @unsignaled: bytes sent since the last completion; link->tx_lock, as all
 *	that follows
 * @posted: stream offset of the next byte to be posted; less than tx.next
 *	while bytes are sent again on another link
 * @acked: stream offset up to which the device has completed all
 * @sure: what the peer had for sure when it came to another link
 * @said: what the peer said then that it had
 * @acked_at: since when, or since the connection is on a link or was closed, in
 *	jiffies
 * @urgent: stream offset behind the last urgent byte that was sent, or 0
 * @full: someone waits for room in @staging, or until it is empty
 * @draining: @staging takes nothing until it is empty, and replaced
 * @early: on a device that completes work before the peer has it (iWARP)
 * @flags: VCONN_*
 * @pending: VCONN_P_*
 * @inflight: frames posted and not completed
 * @reg: in vlink.regs
 * @pend: in vlink.pending or vlink.openers
 * @ask: in vlink.asking
 * @asked: since when, in jiffies
 * @room: in vlink.ready
 * @node: in vlink.conns
 * @work: releases, or frees
 * @grow: makes @next, and gives @old back; with a reference of the connection
 *	while it is queued
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
	bool			turned;
	bool			returned;
	struct sanx_window_info	kept;
	struct vring		ring;
	struct vring		next;
	struct vring		old;
	bool			turn;
	u64			told;
	u8			*first;
	u64			base;
	u32			began;
	bool			tight;
	u64			mark;
	u64			marked;
	unsigned int		full_rings;
	struct vring		staging;
	struct list_head	longs;
	u32			bound;
	u32			most;
	struct sanx_gather	gather;
	bool			corked;
	u64			end;
	struct list_head	spill;
	u32			spilled;
	struct vpiece		*filling;
	struct work_struct	move;
	u32			unsignaled;
	u64			posted;
	u64			acked;
	u64			sure;
	u64			said;
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
extern const struct sanx_transport_ops sanx_verbs_ops;
extern struct workqueue_struct *vlink_wq;
extern struct workqueue_struct *vconn_wq;
extern unsigned int service_port;
extern unsigned int link_timeout_ms;
extern unsigned int link_hold_ms;
extern unsigned int heartbeat_ms;
extern unsigned int lanes;
extern unsigned int grow_ms;
extern unsigned int long_min;
struct vnet *vnet_of(const struct net *net);

/*
 * On kernels that are there to make things fail, tests open windows that are small
 * elsewhere.
 */
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
			    struct rdma_cm_id *id);
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

/* cm.c */
int vcm_listen(struct vnet *vnet);
void vcm_unlisten(struct vnet *vnet);
void vcm_start(struct work_struct *work);

/* link.c */
struct vlink *vlink_alloc(struct vgroup *g, bool active);
void vlink_put(struct vlink *link);
int vlink_setup(struct vlink *link);
void vlink_set_state(struct vlink *link, enum vlink_state to);
void vlink_came_up(struct vlink *link);
void vlink_ask(struct vlink *link);
bool vlink_quiet(const struct vlink *link);
void vlink_kill_locked(struct vlink *link, int err);
void vlink_kill(struct vlink *link, int err);
void vlink_wc_error(struct vlink *link, const struct ib_wc *wc,
		    const char *what);
const char *vlink_state_name(enum vlink_state state);
void vlink_user_put(struct vlink *link);

/* xmit.c; what it sends by is in xmit.h */
bool vxmit_ok(const struct vlink *link);
void vxmit_run(struct vlink *link);
void vxmit_pend(struct vconn *vc, u32 frames);
void vxmit_flush(struct vconn *vc);
void vxmit_uncork(struct vconn *vc);
void vxmit_reg(struct vconn *vc);
void vxmit_return(struct vconn *vc);
void vxmit_unlock(struct vlink *link) __releases(&link->tx_lock);

/**
 * enum vpayload_when - when payload is to go
 * @VPAYLOAD_NOW: as soon as it can
 * @VPAYLOAD_SOON: vxmit_flush() will come
 * @VPAYLOAD_CORKED: vxmit_uncork() will
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

/* wr.c */
void vwr_done(struct ib_cq *cq, struct ib_wc *wc);

/* recv.c */
void vrecv_done(struct ib_cq *cq, struct ib_wc *wc);
int vrecv_post(struct vrecv *r);

/* ask.c */
void vask_begin(struct vconn *vc);
void vask_answered(struct vconn *vc);
bool vask_mute(const struct vlink *link);
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
void vconn_flush(struct sanx_gather *g);
void vconn_consumed(struct sanx_conn *conn);
void vconn_fin(struct sanx_conn *conn);

/* orphan.c */
void vorphan_save(struct vlink *link);
void vorphan_take(struct vconn *vc, struct vlink *link);
void vorphan_release(struct vconn *vc);
void vorphan_reset(struct vconn *vc, int err);
void vorphan_reset_all(struct vgroup *g, int err);
void vorphan_refused(struct vgroup *g, bool never);
void vorphan_stop(struct vgroup *g);
void vorphan_link_up(struct vgroup *g, struct vlink *link);
void vorphan_work(struct work_struct *work);

/* resume.c */
int vresume_ask(struct vconn *vc, struct vlink *link);
int vresume_serve(struct vopen *o);
int vresume_answer(struct vconn *vc, const struct sanx_frame *f);
int vresume_refused(struct vconn *vc);

/* conn.c */
struct vlink *vconn_lock(struct vconn *vc) __acquires(&vc->link->tx_lock);
struct vconn *vconn_find(struct vgroup *g, u32 id);
void vconn_close(struct sanx_conn *conn, bool reset);
void vconn_reset_deaf(struct vconn *vc);
void vconn_give_up(struct vconn *vc);
void vconn_sweep(struct vlink *link);
void vconn_cut(struct sanx_conn *conn);
void vconn_cut_locked(struct vconn *vc);
void vconn_pulse(struct sanx_conn *conn, struct sanx_pulse *pulse);
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
bool vring_unregistered(const struct vring *ring);
int vring_map(struct vring *ring, struct vlink *link, u64 iova);
void vring_unmap(struct vring *ring);
void vring_reg_wr(struct vring *ring, struct ib_reg_wr *wr);
void vring_sync(const struct vring *ring, u64 offset, u32 len);
u32 vring_max(const struct vlink *link);

/* grow.c */
void vgrow_work(struct work_struct *work);
void vgrow_check(struct vconn *vc, u64 tail);
int vgrow_arrival(struct vconn *vc, const struct sanx_frame *f);
int vgrow_turned(struct vconn *vc, const struct sanx_frame *f);
void vgrow_told(struct vconn *vc);
void vgrow_follow(struct vconn *vc);
void vgrow_read(struct vconn *vc);
void vgrow_left(struct sanx_conn *conn, const struct sanx_left *left);
void vgrow_settle(struct vconn *vc);
void vgrow_resumed(struct vconn *vc);
void vgrow_unmap(struct vconn *vc);
bool vgrow_free_sleeps(const struct vconn *vc);
void vgrow_free(struct vconn *vc);

/* shrink.c */
bool vshrink_trim(struct sanx_conn *conn);
int vshrink_returned(struct vconn *vc, const struct sanx_frame *f);
int vshrink_answer(struct vconn *vc, const struct sanx_frame *f);
bool vshrink_crossed(struct vconn *vc, const struct sanx_window_info *win);

/* long.c */
bool vlong_wants(struct vconn *vc, const struct iov_iter *from, size_t len,
		 int flags);
size_t vlong_room(struct vconn *vc, const struct iov_iter *from);
size_t vlong_send(struct vconn *vc, struct iov_iter *from, size_t len);
int vlong_sges(const struct vlong *l, u32 lkey, u64 offset, u32 len,
	       struct ib_sge *sge);
void vlong_lent(struct vconn *vc, struct vlong *l, u64 to);
void vlong_acked(struct vconn *vc, struct list_head *read);
void vlong_read(struct list_head *read);
void vlong_save(struct vconn *vc);
void vlong_drop(struct vconn *vc);
void vlong_wait(struct sanx_conn *conn, u64 to);
u32 vlong_cutoff(const struct vlink *link);
void vlong_tune(struct vlink *link);

/* staging.c */
u64 vstaging_first(const struct vconn *vc);
u32 vstaging_size(const struct vconn *vc, size_t len);
void vstaging_bound(struct vconn *vc);
u32 vstaging_room(const struct vconn *vc);
bool vstaging_signal(const struct vconn *vc);
void vstaging_await(struct vconn *vc);
bool vstaging_early_ok(const struct vconn *vc);
bool vstaging_trim(struct vconn *vc);
int vstaging_make(struct vconn *vc, size_t len);

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

#endif /* _SANX_VERBS_H */
