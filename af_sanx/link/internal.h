/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine: the protocol between nodes, over any wire (net/sanx_wire.h).
 *
 *	lnet	a namespace: listeners and peers	main.c
 *		addresses and ports of this node	netdev.c
 *	peer	a node: its lanes			peer.c
 *		how much it may ask for			bounds.c rate.h
 *		how much a user may have		user.c
 *		its rails				rails.h rail.c
 *	lane	its links				lane.c lane.h
 *		attempts at one				attempt.c
 *		a connection finds its lane		connect.c
 *		a request of the peer for a link	admit.c
 *	link	one link to that node			setup.c link.c recv.c
 *		who is at the other end			auth.c
 *		its sending side: order, payload,	xmit.c payload.c
 *		frames, work requests			frames.c wr.c
 *		acknowledgments			ack.c
 *		the heartbeat			beat.c beat.h
 *		credits for frames			link_credit.h
 *	lconn	one connection on a link		ask.c open.c conn.c
 *							send.c arrival.c
 *		its rings: states, memory, sizes	ringgen.h rings.c grow.c
 *		the peer's ring				window.c
 *		what it sends				chunk.c sndbuf.c long.c
 *		from a lost link to the next		suspend.c resume.c
 *		if the peer's AF_SANX is gone		presence.h
 *		what follows an error			outcome.h
 *	lring	memory that a link's wire accesses	ring.c
 *
 * References go upwards: a lconn has one of its link, and a link has one of its peer,
 * whose lanes live as long as it does: until its lnet stops or the node map loses it.
 *
 * A connection can outlive its link (suspend.c) and continue on another one
 * (resume.c).  lconn.link therefore changes.  Code that needs it takes
 * sanx_lconn_lock(), or reads it under RCU.
 *
 * Locks, outer to inner; Documentation/locking.rst has the whole order:
 *
 *	lnet.ctl	start and stop of a namespace; may wait for links to
 *			end
 *	(locks that a wire holds in upcalls about set-up)
 *	lnet.lock	peers, lanes, their links and waiting connections; never
 *			held over quiesce(), stop() and free() of a wire, which
 *			wait for its upcalls
 *	link.tx_lock	the sending side of a link, and the flags of its
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
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <net/sanx_wire.h>

#include "auth.h"
#include "beat.h"
#include "cause.h"
#include "config/config.h"
#include "conn/transport.h"
#include "frame.h"
#include "lane.h"
#include "lconn_state.h"
#include "link.h"
#include "link_credit.h"
#include "outcome.h"
#include "presence.h"
#include "rails.h"
#include "rate.h"
#include "ringgen.h"

/*
 * Pieces of this size are not coalesced: compared with moving the bytes, a
 * chain of their own costs little.
 */
#define PAYLOAD_PIECE	32768U

/**
 * struct sanx_lnet - the engine in one network namespace
 * @net: the namespace
 * @user: whose it is, with a reference, or NULL for the administrator's; constant
 * @ctl: guards @listener, @busy, @exiting and @idle_tries; changes of @running, and taking
 *	peers out of @peers, need @ctl and @lock
 * @lock: guards @peers, peers and lanes as listed at &struct sanx_peer and
 *	&struct sanx_lane, and reads of @running
 * @peers: &struct sanx_peer by node id: each node that was used, and is in the node map or
 *	was before it last changed
 * @all: in all_lnets
 * @listener: the listener of each kind of wire, or NULL
 * @running: connections are possible
 * @busy: there are AF_SANX sockets
 * @exiting: the namespace or the module is going away
 * @idle: stops the transport after the last socket was closed, when its
 *	connections have ended
 * @idle_tries: how many times @idle found connections
 * @orphans: connections that were closed and are not released yet
 * @n_links: links over each kind of wire that are not freed yet
 * @half_open: links that peers have asked for and that are not up, or not any more
 * @gone: woken when one of @n_links becomes 0
 * @ports: applies changes of addresses and ports of this node
 * @ports_seen: which of them worked when it last ran; used by it only
 * @ports_config: the configuration then; used by it only
 * @ports_again: how many times more it is to look; no lock
 * @seek_lock: guards @seeks, @n_seeks and @seek_wq; innermost
 * @seeks: &struct sanx_seek, addresses that are being asked who is there
 * @n_seeks: number of @seeks
 * @seek_wq: asks them, or NULL; changes need @ctl, too, until @exiting is set
 * @answers: questions of others that were answered
 * @instance_key: random, drawn when the namespace was set up and then constant:
 *	what tells peers that this node has restarted (setup_instance())
 */
struct sanx_lnet {
	struct net		*net;
	struct sanx_user	*user;
	struct mutex		ctl; /* guards: see above */
	struct mutex		lock; /* guards: see above */
	struct xarray		peers;
	struct list_head	all;
	void			*listener[__SANX_WIRES];
	bool			running;
	bool			busy;
	bool			exiting;
	struct delayed_work	idle;
	unsigned int		idle_tries;
	atomic_t		orphans;
	atomic_t		n_links[__SANX_WIRES];
	atomic_t		half_open;
	wait_queue_head_t	gone;
	struct delayed_work	ports;
	u64			ports_seen;
	unsigned int		ports_config;
	atomic_t		ports_again;
	spinlock_t		seek_lock; /* guards: see above */
	struct list_head	seeks;
	unsigned int		n_seeks;
	struct workqueue_struct	*seek_wq;
	struct sanx_rate	answers;
	siphash_key_t		instance_key;
};

/**
 * enum sanx_move - why connections went to another rail
 * @SANX_MOVE_NONE: they did not
 * @SANX_MOVE_LOST: the link on the other rail was lost
 * @SANX_MOVE_MAP: the node map does not have the other rail any more
 * @SANX_MOVE_ADMIN: the administrator keeps the other rail free
 * @SANX_MOVE_BETTER: this rail is preferred to the other
 * @SANX_MOVE_BALANCE: this rail had less to carry than the other
 * @SANX_MOVE_PEER: the peer asked for a link on this rail
 */
enum sanx_move {
	SANX_MOVE_NONE,
	SANX_MOVE_LOST,
	SANX_MOVE_MAP,
	SANX_MOVE_ADMIN,
	SANX_MOVE_BETTER,
	SANX_MOVE_BALANCE,
	SANX_MOVE_PEER,
	/* private: */
	__SANX_MOVES
};

/**
 * struct sanx_rail_count - what happened on a rail since its node was first used
 * @addr: the peer's address; tells which rail it is when the node map changes.  Unspecified:
 *	there is no such rail, nor one behind it
 * @kind: kind of the rail, as well
 * @tx_bytes: payload that links sent which have ended
 * @rx_bytes: payload that they received
 * @errors: links that were lost, and attempts that failed
 * @cause: why there is no link, or SANX_CAUSE_UP, as the log says it; SANX_CAUSE_NONE as long
 *	as nothing is known
 */
struct sanx_rail_count {
	struct in6_addr		addr;
	u8			kind;
	u64			tx_bytes;
	u64			rx_bytes;
	u32			errors;
	enum sanx_cause		cause;
};

/**
 * struct sanx_rails_seen - the rails to a node, as they are now
 * @self: this node
 * @peer: the node; @peer.n_rails is 0 if the node map does not have one of them
 * @local: our end of each rail
 * @wired: set of rails that have one, and for which there is a wire
 * @allowed: set of those that the administrator allows; their port may have no carrier
 * @admin: enum sanx_rail_admin of each rail
 * @used: set of rails that lanes with connections use
 * @lane_rail: the rail of each of those lanes, or RAILS_MAX
 * @view: what decides which rail a lane uses
 */
struct sanx_rails_seen {
	struct sanx_node_info	self;
	struct sanx_node_info	peer;
	struct in6_addr		local[RAILS_MAX];
	u32			wired;
	u32			allowed;
	u8			admin[RAILS_MAX];
	u32			used;
	u8			lane_rail[SANX_LANES_MAX];
	struct rails_view	view;
};

/**
 * struct sanx_peer - a node that has, or had, links with this one
 * @refs: lnet.peers has one, each link has one, and so has memory that is in @memory
 * @rcu: frees the peer and its lanes
 * @lnet: the namespace
 * @user: as there, with a reference of its own; constant
 * @id: its node id
 * @lanes: by number; NULL if not used yet.  They live as long as the peer
 * @memory: pages of connections, of rings and of what is sent from; no lock
 * @setups: set-ups of links that it asked for; no lock
 * @requests: its OPENs and RESUMEs; no lock
 * @conns: connections, attached or suspended
 * @half_open: those of lnet.half_open
 * @reserves: a connection to it is, or was, for memory reclaim itself; set only, no lock
 * @rails: its rails
 * @rail_count: what happened on each of them
 * @given: connections that they were given
 * @care: looks after them
 * @care_at: when it is due, in jiffies; no lock
 *
 * lnet.lock guards @lanes, @rails, @rail_count and @given.
 */
struct sanx_peer {
	struct kref		refs;
	struct rcu_head		rcu;
	struct sanx_lnet	*lnet;
	struct sanx_user	*user;
	u32			id;
	struct sanx_lane	*lanes[SANX_LANES_ALL];
	atomic_long_t		memory;
	struct sanx_rate	setups;
	struct sanx_rate	requests;
	atomic_t		conns;
	atomic_t		half_open;
	bool			reserves;
	struct rails		rails;
	struct sanx_rail_count	rail_count[RAILS_MAX];
	struct rails_given	given;
	struct delayed_work	care;
	unsigned long		care_at;
};

/**
 * struct sanx_lane - one lane to a node, and all links that it had
 * @peer: the node, without a reference; constant
 * @number: its number; from SANX_LANES_MAX on it has a standby link, which carries no
 *	connections; constant
 * @links: &struct sanx_link, from allocation to the end
 * @state: of the next two; all three are changed by sanx_lane_step() only
 * @out: the link that takes our connections, with a reference, or NULL
 * @trying: our attempt to set up a link, with a reference, or NULL
 * @waiters: &struct sanx_lconn that wait for @out, with a reference each
 * @rail: the rail that @trying uses
 * @tried: set of the rails that were tried since the time limit was set, but for those that
 *	are to be tried once more
 * @refused: set of the rails on which the peer has refused since then
 * @final: set of those that are not tried once more, because they were or were answered
 * @try_end: when the share of the time of @trying ends, in jiffies
 * @deadline: when @waiters are refused, in jiffies
 * @backoff: the last attempt at a link failed
 * @backoff_end: end of the backoff, in jiffies
 * @timer: runs at @try_end, or at @deadline if there is no @trying
 * @out_kind: kind of the rail of @out, or of the last one
 * @out_rail: the peer's address of that rail; unspecified: there was no link
 * @out_since: when @out came up, in jiffies
 * @moved: why they last went from one rail to another
 * @moves: how often they did
 * @moved_at: when they last did, in jiffies
 * @suspended: suspended &struct sanx_lconn, with the reference of their
 *	attachment
 * @n_suspended: number of @suspended
 * @tries: attempts at a link for @suspended since the last one was lost
 * @presence: what attempts for @suspended found at the peer, in jiffies
 * @resumed: when the peer last resumed one of @suspended, or when the link came
 *	up on which it could begin to, in jiffies
 * @retry: makes the next attempt, and checks the time limits of @suspended
 * @instance: the peer's instance, or 0 if not known yet
 * @ids: &struct sanx_lconn by our id, attached or suspended; written under the
 *	xa_lock, read under RCU
 * @next_id: where the search for the next id starts; xa_lock of @ids
 *
 * lnet.lock guards all fields but @peer, @number, @ids and @next_id.
 */
struct sanx_lane {
	struct sanx_peer	*peer;
	u32			number;
	struct list_head	links;
	enum lane_state		state;
	struct sanx_link	*out;
	struct sanx_link	*trying;
	struct list_head	waiters;
	unsigned int		rail;
	u32			tried;
	u32			refused;
	u32			final;
	unsigned long		try_end;
	unsigned long		deadline;
	bool			backoff;
	unsigned long		backoff_end;
	struct delayed_work	timer;
	enum sanx_wire_kind	out_kind;
	struct in6_addr		out_rail;
	unsigned long		out_since;
	enum sanx_move		moved;
	u32			moves;
	unsigned long		moved_at;
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
 * enum sanx_link_state - state of a link
 * @SANX_LINK_CONNECTING: our attempt, from address resolution on
 * @SANX_LINK_ACCEPTING: the peer's attempt, until its first frame
 * @SANX_LINK_UP: frames are sent and received
 * @SANX_LINK_DYING: accepts no new users and is being taken down
 * @SANX_LINK_DEAD: only the memory is left
 */
enum sanx_link_state {
	SANX_LINK_CONNECTING,
	SANX_LINK_ACCEPTING,
	SANX_LINK_UP,
	SANX_LINK_DYING,
	SANX_LINK_DEAD,
	/* private: */
	__SANX_LINK_STATES
};

/**
 * enum sanx_link_use - what its lane has of a link
 * @SANX_LINK_TRIAL: it takes the place of lane.out once it has shown that it works: to the
 *	active end by a frame of the peer, to the passive end by a request.  A standby link
 *	shows it by any frame
 * @SANX_LINK_READY: it takes that place as soon as it is up
 * @SANX_LINK_SHOWN: likewise; it was on trial, and has shown it
 * @SANX_LINK_TAKEN: sanx_lane_link_up() has finished for it
 */
enum sanx_link_use {
	SANX_LINK_TRIAL,
	SANX_LINK_READY,
	SANX_LINK_SHOWN,
	SANX_LINK_TAKEN,
};

/**
 * enum sanx_push - who sends what is posted (sanx_wire_ops.push)
 * @SANX_PUSH_NONE: the wire
 * @SANX_PUSH_READY: the process that has tx_lock, and nothing is posted yet
 * @SANX_PUSH_DUE: the same, and something is posted
 */
enum sanx_push {
	SANX_PUSH_NONE,
	SANX_PUSH_READY,
	SANX_PUSH_DUE,
};

/**
 * enum sanx_publish - what becomes of payload that was copied to the send buffer
 * @SANX_PUBLISH_HELD: it is held back
 * @SANX_PUBLISH_MORE: it is sent, with all bytes before, and the sender is about to
 *	publish more
 * @SANX_PUBLISH_LAST: it is sent, with all bytes before
 */
enum sanx_publish {
	SANX_PUBLISH_HELD,
	SANX_PUBLISH_MORE,
	SANX_PUBLISH_LAST,
};

/**
 * enum sanx_answer - an answer that the peer has asked for: a grant that covers
 * the frame that asked
 * @SANX_ANSWER_NONE: none
 * @SANX_ANSWER_ASKED: the frame is being processed
 * @SANX_ANSWER_DUE: its receive was posted again, so the next grant covers it
 */
enum sanx_answer {
	SANX_ANSWER_NONE,
	SANX_ANSWER_ASKED,
	SANX_ANSWER_DUE,
};

/**
 * struct sanx_slot - a frame to send
 * @node: in link.free; or in link.posted and then in link.unacked, in the order
 *	of posting
 * @lc: the connection that the frame is about, or NULL; it is not released
 *	before the completion.  After that, NULL unless the frame is DATA and the
 *	connection is attached
 * @end: DATA: stream offset behind the payload; else 0
 * @len: DATA: bytes of payload in the frame; else 0
 * @posted: in link.posted
 * @seq: number of the frame on its link, counted from 1, modulo 2^32
 * @at: when it was posted, in jiffies
 * @buf: SANX_WIRE_STRIDE bytes
 *
 * Its number is its index in link.slots.  link.tx_lock guards all fields that
 * change.
 */
struct sanx_slot {
	struct list_head	node;
	struct sanx_lconn	*lc;
	u64			end;
	u32			len;
	bool			posted;
	u32			seq;
	unsigned long		at;
	void			*buf;
};

/**
 * struct sanx_request - an OPEN or RESUME of the peer
 * @link: the link that it arrived on
 * @node: in link.opens_free, .requests or .rejects
 * @open: OPEN: a copy of the body
 * @peer_id: the connector's id of the connection
 * @token: RESUME: the connector's token
 * @win: the connector's window
 * @f: the header, without a body; its type tells OPEN from RESUME
 * @reject: enum sanx_reject, while in link.rejects
 *
 * A request is in a list, or sanx_request_work() owns it, or lconn.resume_req refers to
 * it.  The lock of the list guards all fields while it is in one.
 */
struct sanx_request {
	struct sanx_link	*link;
	struct list_head	node;
	struct sanx_open	open;
	u32			peer_id;
	u64			token;
	struct sanx_window_info	win;
	struct sanx_frame	f;
	u32			reject;
};

/**
 * struct sanx_link - one link to a node
 * @refs: references to the memory: the link has one until it is dead, each
 *	connection has one, lane.out and lane.trying have one each
 * @rcu: frees the link
 * @peer: the node at the other end, with a reference
 * @lane: its lane to that node
 * @node: in lane.links; lnet.lock
 * @wire: its wire; not valid once the link is dead
 * @kind: kind of @wire
 * @active: our attempt, not the peer's
 * @rail: number of the rail of the passive side that the link runs over, as the
 *	active side's node map had it when the set-up began
 * @yields: gives way to the peer's attempt; lnet.lock
 * @cause: why the set-up failed, as far as it was said: sanx_wire_cause(); read under
 *	lnet.lock
 * @use: changes to READY or SHOWN under tx_lock, and to TAKEN under lnet.lock with release
 *	semantics; sanx_lane_link_up() reads it without a lock with acquire semantics
 * @up_at: when it came up, in jiffies
 * @self: our node id when the link was allocated
 * @local: our address, unspecified until it is resolved; lnet.lock
 * @remote: the peer's address: that of the rail that we ask for, then that of the
 *	connection; lnet.lock
 * @auth: what the two ends have proved to each other.  The set-up of the link owns
 *	it, but for its key, which is set under lnet.lock; its phase is written
 *	under tx_lock from sanx_link_came_up() on
 * @devname: name of the device
 *
 * @wl: the wire's part, or NULL; set by the @start work or sanx_lane_accept()
 * @caps: what the wire can do; constant once the link has come up
 * @copy_ns: ns that a copy of 64 KiB takes on this node, or 0
 * @frames: memory of the frames in @slots
 * @slots: frames to send
 * @opens: SANX_OPENS_MAX requests
 *
 * @tx_lock: guards @state, @why and all fields behind them except @heard, @others,
 *	@users, @unused, @requests and the work items, but with @beat; also, for
 *	connections on this link, the fields that &struct sanx_lconn lists.  Reads
 *	without it are hints.
 * @state: changed by sanx_link_set_state() only
 * @why: why the link ends, once it is SANX_LINK_DYING
 * @free: &struct sanx_slot, put there by sanx_slot_free()
 * @n_free: how many
 * @posted: &struct sanx_slot that are not completed, in order
 * @unacked: &struct sanx_slot that are completed, and that the peer may not have
 *	processed, in order
 * @acked_at: when the last slot was acknowledged, in jiffies
 * @unsignaled: frames posted since the last one with a completion
 * @push: who sends what is posted now; SANX_PUSH_NONE without tx_lock
 * @credit: credits for frames: what the peer can take, and what was advertised
 *	to it
 * @instance: the peer's instance
 * @inline_max: bytes of payload that the peer accepts in a frame
 * @timed: a PING whose round trip is being measured, or NULL
 * @timed_at: when @timed was posted, ktime in ns
 * @rtt_ns: the shortest round trip so far in ns, or 0
 * @srtt_ns: the average of round trips of late, or 0
 * @tx_bytes: payload sent
 * @ping: a PING is due
 * @answer: the peer has asked for an answer
 * @pending: &struct sanx_lconn with frames to send, except OPEN and RESUME
 * @openers: &struct sanx_lconn with an OPEN or RESUME to send
 * @opening: OPENs and RESUMEs posted and not answered, at most SANX_OPENS_MAX
 * @asking: &struct sanx_lconn whose OPEN is not answered and not late, oldest
 *	first
 * @late: OPENs that were not answered in time, since the last answer
 * @late_at: when the last of them was given up, in jiffies
 * @ready: &struct sanx_lconn whose sender can continue and is to be woken
 * @rejects: &struct sanx_request to be rejected
 * @opens_free: &struct sanx_request
 * @conns: &struct sanx_lconn that are attached
 * @n_conns: number of @conns
 * @reserves: one of its connections is, or was, for memory reclaim itself; set only, no
 *	lock
 *
 * @heard: when the last frame arrived, in jiffies; no lock
 * @rx_bytes: payload received; written by the frames that arrive, one at a time; no
 *	lock
 * @asked: when the first PING after @heard was requested, in jiffies; not after
 *	@heard if none was
 * @pace: how closely @beat looks after the peer
 * @others: number of other rails by which connections could go, as it was last looked
 *	at (rail.c); no lock
 * @next_sweep: when @beat calls sanx_lconn_sweep() again, in jiffies
 * @users: users that end before the wire's part is freed: attached connections,
 *	requests that are not answered, callers of sanx_lconn_link_get(), and one
 *	for the link itself
 * @unused: completed with the last user
 *
 * @start: starts an active link
 * @up: tells the lane that the link is up
 * @beat: the heartbeat
 * @ack: asks for acknowledgments that a sender waits for
 * @open_timeout: gives up late OPENs
 * @requests_lock: guards @requests; may be taken under any tx_lock
 * @requests: &struct sanx_request to be served, in the order of their arrival
 * @serve: serves them, on sanx_accept_wq
 * @end: takes the link down
 */
struct sanx_link {
	struct kref		refs;
	struct rcu_head		rcu;
	struct sanx_peer	*peer;
	struct sanx_lane	*lane;
	struct list_head	node;
	const struct sanx_wire_ops *wire;
	enum sanx_wire_kind	kind;
	bool			active;
	unsigned int		rail;
	bool			yields;
	enum sanx_cause		cause;
	enum sanx_link_use	use;
	unsigned long		up_at;
	u32			self;
	struct in6_addr		local;
	struct in6_addr		remote;
	struct sanx_auth	auth;
	char			devname[64];

	struct sanx_wire_link	*wl;
	struct sanx_wire_caps	caps;
	u64			copy_ns;
	void			*frames;
	struct sanx_slot	*slots;
	struct sanx_request	*opens;

	spinlock_t		tx_lock; /* guards: see above */
	enum sanx_link_state	state;
	enum sanx_link_end	why;
	struct list_head	free;
	u32			n_free;
	struct list_head	posted;
	struct list_head	unacked;
	unsigned long		acked_at;
	u32			unsignaled;
	enum sanx_push		push;
	struct link_credit	credit;
	u64			instance;
	u32			inline_max;
	struct sanx_slot	*timed;
	u64			timed_at;
	u64			rtt_ns;
	u64			srtt_ns;
	u64			tx_bytes;
	bool			ping;
	enum sanx_answer	answer;
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
	bool			reserves;

	unsigned long		heard;
	u64			rx_bytes;
	unsigned long		asked;
	enum beat_pace		pace;
	unsigned int		others;
	unsigned long		next_sweep;
	refcount_t		users;
	struct completion	unused;

	struct work_struct	start;
	struct work_struct	up;
	struct timer_list	beat;
	struct delayed_work	ack;
	struct delayed_work	open_timeout;
	spinlock_t		requests_lock; /* guards: see above */
	struct list_head	requests;
	struct delayed_work	serve;
	struct work_struct	end;
};

/**
 * enum sanx_claim - what memory is for, and so, how much of it there may be
 * @SANX_CLAIM_SAVED: what a lost link has not delivered; there is no limit, as slots have
 *	so few bytes
 * @SANX_CLAIM_LEAST: memory to send from without which a connection cannot go on; there
 *	is no limit, as programs pay for it
 * @SANX_CLAIM_SNDBUF: other memory to send from
 * @SANX_CLAIM_RING: a ring as large as the program asked for
 * @SANX_CLAIM_GROWN: a larger ring: half of what there may be is for the others
 */
enum sanx_claim {
	SANX_CLAIM_SAVED,
	SANX_CLAIM_LEAST,
	SANX_CLAIM_SNDBUF,
	SANX_CLAIM_RING,
	SANX_CLAIM_GROWN,
};

/**
 * struct sanx_lring - memory that the peer of a link may write
 * @buf: page aligned, contiguous for the CPU; NULL if there is none
 * @size: bytes, a power of two; the memory is whole pages
 * @wire: the wire that has mapped it last
 * @map: its mapping for @wire
 * @payer: the peer that the memory counts for, with a reference, while @buf is set
 *
 * A ring has no lock of its own: see @ring of &struct sanx_lconn.
 */
struct sanx_lring {
	u8			*buf;
	u32			size;
	const struct sanx_wire_ops *wire;
	struct sanx_wire_map	map;
	struct sanx_peer	*payer;
};

/**
 * enum sanx_chunk_kind - whose memory a chunk is
 * @SANX_CHUNK_WINDOW: ours; it is in the account of the peer (bounds.c)
 * @SANX_CHUNK_SPARE: ours, beyond the window; it is in TCP's account (spare.c of the core)
 * @SANX_CHUNK_LENT: a program's (long.c)
 */
enum sanx_chunk_kind {
	SANX_CHUNK_WINDOW,
	SANX_CHUNK_SPARE,
	SANX_CHUNK_LENT,
};

/**
 * struct sanx_chunk - memory that a connection sends from (chunk.c)
 * @node: in lconn.chunks; tx_lock
 * @refs: the list has one, who waits for @done another
 * @done: completed when the memory is not needed any more
 * @from: stream offset of the first byte
 * @to: stream offset behind the last byte that it has, or has room for
 * @kind: whose memory it is
 * @payer: the peer in whose account it is, with a reference, if it is WINDOW
 * @order: each piece is of 2^@order pages
 * @n: number of pieces; 1 of memory of ours
 * @mapped: pieces that are mapped for the wire of the connection's link
 * @start: offset of the first byte in the first piece; 0 of memory of ours
 * @page: the pieces
 */
struct sanx_chunk {
	struct list_head	node;
	refcount_t		refs;
	struct completion	done;
	u64			from;
	u64			to;
	enum sanx_chunk_kind	kind;
	struct sanx_peer	*payer;
	u32			order;
	u32			n;
	u32			mapped;
	size_t			start;
	struct sanx_wire_page	page[];
};

/*
 * Pending frames of a connection, besides those that its phase owes
 * (lconn_state.h); xmit_pending() sends them in order.
 */
#define LCONN_P_CREDIT		BIT(0)
#define LCONN_P_FIN		BIT(1)
#define LCONN_P_CLOSE		BIT(2)
#define LCONN_P_CLOSE_ACK	BIT(3)
#define LCONN_P_DATA		BIT(4)	/* from chunks */
#define LCONN_P_RING		BIT(5)	/* as sanx_rxgen_owes() */

/**
 * struct sanx_lconn - a connection to another node
 * @conn: what all transports have; first
 * @link: the current link, or the last one, with a reference from the first
 *	attach to the end of the connection.  sanx_lconn_attach() sets it under
 *	the tx_lock of the link; its callers hold lock_sock() or lnet.lock, or
 *	have just made the connection.  resume_switch() changes it under lnet.lock and
 *	the tx_lock of the old link, with release semantics; sanx_lconn_lock()
 *	and sanx_lconn_frame() load it with acquire semantics.
 * @wire: the wire of @link, whose module it pins, or NULL; tx_lock
 * @owner: which list has it; changed by sanx_lconn_set_owner() only
 * @wait: in lane.waiters or lane.suspended; lnet.lock
 * @resume_req: a RESUME that arrived while the connection was on another link;
 *	lnet.lock and tx_lock
 * @lost: when it was suspended, in jiffies; lnet.lock
 * @passed: links that have come up since, on which it was not resumed; lnet.lock
 * @id: our id
 * @peer_id: the peer's id
 * @asks: links that were lost before the peer's answer; tx_lock
 * @resume_key: &struct sanx_auth.resume of the link that it was opened on
 * @txgen: the generation of the peer's ring that we write; written under
 *	tx_lock, the size of its window is also read without it
 * @rxgen: the generations of our ring; tx_lock, as all fields up to @began
 * @ring: our ring, the active generation
 * @next: the generation that will follow, from MADE on
 * @old: the generation before, until it is unmapped and freed
 * @first: the memory that the connection starts with; it does not change
 * @base: stream offset from which payload was last stored in that memory
 * @began: bytes of the first ring
 * @rwnd_limited: the peer was rwnd-limited; no lock
 * @mark: stream offset up to which the last full ring was read; rx_mutex, as
 *	@marked and @full_rings
 * @marked: when that was, local_clock() in ns
 * @full_rings: how many rings in a row were read in time
 * @chunks: &struct sanx_chunk, what was taken and the peer may not have, but for what
 *	slots of frames have; tx_lock
 * @fill: the chunk that the sender copies to, or NULL; changes need conn.tx_mutex and
 *	tx_lock
 * @at: where sanx_chunk_at() has looked last, or NULL; tx_lock
 * @sndbuf_max: bytes that SO_SNDBUF permits to keep; no lock
 * @announced: stream offset up to which bytes may be sent; bytes behind it are
 *	held back (hold.c of the core); tx_lock
 * @end: stream offset behind the last byte taken from the program; changes need
 *	conn.tx_mutex.  The release store in payload_hold() pairs with the acquire
 *	load in sanx_xmit_announce().
 * @unsignaled: bytes sent since the last completion was requested; tx_lock, as
 *	all fields up to @node
 * @posted: stream offset of the next byte to be posted; less than tx.next while
 *	bytes are sent again on another link
 * @acked: stream offset up to which the peer has all bytes, and no device reads
 *	them any more (ack.c)
 * @ack_asked: stream offset up to which the peer was asked for an
 *	acknowledgment
 * @acked_at: when @acked last changed, or the connection was attached, resumed
 *	or closed, or its bytes were given up, whichever is last; in jiffies.
 *	Resuming a closed connection does not count
 * @urgent: stream offset behind the last urgent byte that was sent, or 0
 * @full: a sender waits until bytes are acknowledged
 * @state: state of the connection; changed by sanx_lconn_set_phase() and its
 *	siblings only; tx_lock
 * @pending: LCONN_P_*
 * @inflight: frames posted and not completed
 * @pend: in link.pending or link.openers
 * @ask: in link.asking
 * @asked: when the OPEN became pending, in jiffies
 * @room: in link.ready
 * @node: in link.conns
 * @work: releases or frees the connection
 * @grow: sanx_rings_work(): makes @next, and frees @old; holds a reference of the connection while
 *	it is queued
 */
struct sanx_lconn {
	struct sanx_conn	conn;
	struct sanx_link	*link;
	const struct sanx_wire_ops *wire;
	enum sanx_lconn_owner	owner;
	struct list_head	wait;
	struct sanx_request	*resume_req;
	unsigned long		lost;
	unsigned int		passed;
	u32			id;
	u32			peer_id;
	u32			asks;
	siphash_key_t		resume_key;
	struct sanx_txgen	txgen;
	struct sanx_rxgen	rxgen;
	struct sanx_lring	ring;
	struct sanx_lring	next;
	struct sanx_lring	old;
	u8			*first;
	u64			base;
	u32			began;
	bool			rwnd_limited;
	u64			mark;
	u64			marked;
	unsigned int		full_rings;
	struct list_head	chunks;
	struct sanx_chunk	*fill;
	struct sanx_chunk	*at;
	u32			sndbuf_max;
	u64			announced;
	u64			end;
	u32			unsignaled;
	u64			posted;
	u64			acked;
	u64			ack_asked;
	unsigned long		acked_at;
	u64			urgent;
	bool			full;
	struct sanx_lconn_state	state;
	u32			pending;
	u32			inflight;
	struct list_head	pend;
	struct list_head	ask;
	unsigned long		asked;
	struct list_head	room;
	struct list_head	node;
	struct work_struct	work;
	struct delayed_work	grow;
};

static inline struct sanx_lconn *sanx_lconn_of(struct sanx_conn *conn)
{
	return container_of(conn, struct sanx_lconn, conn);
}

/* lconn_state.c */
void sanx_lconn_set_phase(struct sanx_lconn *lc, enum sanx_lconn_phase to);
void sanx_lconn_set_tx(struct sanx_lconn *lc, enum sanx_lconn_tx to);
void sanx_lconn_set_rx(struct sanx_lconn *lc, enum sanx_lconn_rx to);
void sanx_lconn_set_close(struct sanx_lconn *lc, enum sanx_lconn_close to);
void sanx_lconn_set_owner(struct sanx_lconn *lc, enum sanx_lconn_owner to);

static inline bool sanx_lconn_accepted(struct sanx_lconn *lc)
{
	return lc->conn.accepted;
}

/* main.c */
extern struct workqueue_struct *sanx_link_wq;
extern struct workqueue_struct *sanx_accept_wq;
extern struct workqueue_struct *sanx_lconn_wq;
extern unsigned int link_timeout_ms;
extern unsigned int link_hold_ms;
extern unsigned int heartbeat_ms;
extern unsigned int failover_ms;
extern unsigned int rail_hold_ms;
extern unsigned int lanes;
extern unsigned int grow_ms;
extern unsigned int long_min;
const struct sanx_wire_ops *sanx_seek_wire(enum sanx_wire_kind kind);
struct sanx_lnet *sanx_lnet_of(const struct net *net);
const struct sanx_wire_ops *sanx_link_wire(const struct sanx_lnet *lnet,
					   enum sanx_wire_kind kind);
bool sanx_link_has_wire(enum sanx_wire_kind kind);
const char *sanx_link_kind_name(enum sanx_wire_kind kind);
void sanx_lnet_refresh(struct sanx_lnet *lnet, bool reachable);
void sanx_lnet_idle(struct net *net);
void sanx_lnet_busy(struct net *net);

/* netuse.c */
void sanx_netuse_stop(struct net *net);

/* On kernels with fault injection, tests widen short race windows. */
#ifdef CONFIG_FAULT_INJECTION
extern unsigned int hold_up_ms;

static inline void sanx_debug_hold_up(void)
{
	if (READ_ONCE(hold_up_ms))
		msleep(READ_ONCE(hold_up_ms));
}
#else
static inline void sanx_debug_hold_up(void)
{
}
#endif

/* peer.c */
struct sanx_peer *sanx_peer_find(struct sanx_lnet *lnet, u32 id);
struct sanx_peer *sanx_peer_get(struct sanx_lnet *lnet, u32 id);
struct sanx_lane *sanx_peer_lane(struct sanx_peer *peer, u32 number);
void sanx_peer_put(struct sanx_peer *peer);
void sanx_peers_revalidate(struct sanx_lnet *lnet, bool reachable);
void sanx_peers_stop(struct sanx_lnet *lnet);
void sanx_peers_stop_wire(struct sanx_lnet *lnet, enum sanx_wire_kind kind);
bool sanx_peers_have_conns(struct sanx_lnet *lnet);

/* Is a peer this node itself? */
static inline bool sanx_peer_is_self(const struct sanx_peer *peer)
{
	return peer->id == sanx_node_self(peer->lnet->net);
}

/* The lane with the lowest number from *@i on, which becomes the number after its; or NULL. */
static inline struct sanx_lane *sanx_lane_next(const struct sanx_peer *peer, unsigned int *i)
{
	while (*i < SANX_LANES_ALL && !peer->lanes[*i])
		++*i;
	return *i < SANX_LANES_ALL ? peer->lanes[(*i)++] : NULL;
}

/* lane.c */
void sanx_lane_init(struct sanx_lane *lane);
void sanx_lane_step(struct sanx_lane *lane, enum lane_event event, struct sanx_link *link);
bool sanx_lane_trial(struct sanx_link *link);
bool sanx_lane_fits(const struct sanx_link *link);
void sanx_lane_heard(struct sanx_link *link);
void sanx_lane_link_up(struct sanx_link *link);
void sanx_lane_link_ends(struct sanx_link *link);
void sanx_lane_link_gone(struct sanx_link *link);
void sanx_lane_revalidate(struct sanx_lane *lane, bool mapped, bool reachable);
unsigned int sanx_lane_reset(struct sanx_lane *lane);
void sanx_lane_stop(struct sanx_lane *lane);

/* Is the lane for a standby link? */
static inline bool sanx_lane_standby(const struct sanx_lane *lane)
{
	return lane->number >= SANX_LANES_MAX;
}

/* Does a link take connections?  One that was lost stays lane.out for a moment. */
static inline bool sanx_lane_linked(const struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	return lane->out && READ_ONCE(lane->out->state) == SANX_LINK_UP;
}

/* attempt.c */
void sanx_lane_refused(struct sanx_link *link, bool never);
bool sanx_lane_replacing(const struct sanx_lane *lane);
bool sanx_lane_can_try(const struct sanx_lane *lane);
int sanx_lane_try_only(struct sanx_lane *lane, unsigned int rail);
void sanx_lane_try(struct sanx_lane *lane);
int sanx_attempt_wanted(struct sanx_lane *lane);
void sanx_attempt_broaden(struct sanx_lane *lane);
void sanx_attempt_look(struct sanx_lane *lane, const struct rails_view *v);
void sanx_attempt_instead(struct sanx_lane *lane);
void sanx_attempt_ends(struct sanx_lane *lane);
void sanx_attempt_work(struct work_struct *work);

/* connect.c */
int sanx_lane_connect(struct sanx_lconn *lc);
bool sanx_lane_cancel(struct sanx_lconn *lc);
bool sanx_lane_in_backoff(const struct sanx_lane *lane);
void sanx_waiters_open(struct sanx_lane *lane, struct sanx_link *link);
void sanx_waiters_refuse(struct sanx_lane *lane);
void sanx_peer_widen(struct sanx_peer *peer, bool all);

/* admit.c */
void sanx_link_half_open(const struct sanx_link *link, int n);
enum sanx_cause sanx_lane_accept(struct sanx_lnet *lnet,
				 const struct sanx_wire_ask *ask,
				 const struct sanx_hello_info *hello,
				 const struct sanx_auth *auth,
				 struct sanx_wire_link *wl);

/* dump.c */
void sanx_rail_tell(const struct sanx_peer *peer, unsigned int rail);

/* rail.c */
unsigned int sanx_rail_in(const struct sanx_node_info *info,
			  const struct sanx_link *link);
unsigned int sanx_rail_of(const struct sanx_link *link);
void sanx_rails_renumber(struct sanx_peer *peer);
void sanx_rails_look(const struct sanx_peer *peer, const struct sanx_lane *asks,
		     struct sanx_rails_seen *s);
bool sanx_rails_see(struct net *net, u32 self, u32 peer, struct sanx_rails_seen *s);
unsigned int sanx_rail_others(const struct sanx_link *link);
bool sanx_rail_may_leave(const struct sanx_link *link);
bool sanx_rail_stays(const struct sanx_link *link);
bool sanx_rail_takes(const struct sanx_peer *peer, u32 self,
		     const struct sanx_wire_ask *ask);
void sanx_rail_failed(struct sanx_peer *peer, unsigned int rail);
void sanx_rail_refused(struct sanx_peer *peer, unsigned int rail);
void sanx_rail_note(struct sanx_peer *peer, unsigned int rail, enum sanx_cause cause);
void sanx_rail_lost(const struct sanx_link *link);
void sanx_rail_count_link(const struct sanx_link *link);
void sanx_rails_forgive(struct sanx_lnet *lnet, enum sanx_wire_kind kind);
const char *sanx_move_name(enum sanx_move move);
void sanx_rail_up(const struct sanx_link *link);
void sanx_rail_note_move(struct sanx_lane *lane, const struct sanx_link *link);
void sanx_rails_care(struct sanx_peer *peer);
void sanx_rails_doubt(struct sanx_peer *peer);
void sanx_rails_care_work(struct work_struct *work);

/* netdev.c */
int sanx_netdev_init(void);
void sanx_netdev_exit(void);
void sanx_netdev_work(struct work_struct *work);

/* bounds.c */
bool sanx_bounds_link(struct sanx_peer *peer);
unsigned long sanx_bounds_request(struct sanx_peer *peer);
bool sanx_bounds_conn(struct sanx_link *link);
void sanx_bounds_conn_add(struct sanx_peer *peer);
void sanx_bounds_conn_del(struct sanx_peer *peer);
bool sanx_bounds_memory(struct sanx_link *link, u32 pages, enum sanx_claim what);
void sanx_bounds_memory_put(struct sanx_peer *peer, u32 pages);
void sanx_bounds_unreachable(struct sanx_peer *peer, const struct in6_addr *addr);

/* user.c */
struct sanx_user *sanx_user_find(const struct net *net);
struct sanx_user *sanx_user_get(struct sanx_user *user);
void sanx_user_put(struct sanx_user *user);
bool sanx_user_full(const struct sanx_user *user, u32 pages);
bool sanx_user_claim(struct sanx_user *user, u32 pages, u32 quarters);
void sanx_user_take(struct sanx_user *user, u32 pages);
void sanx_user_unclaim(struct sanx_user *user, u32 pages);
void sanx_user_half_open(struct sanx_user *user, int n);
bool sanx_user_half_open_full(const struct sanx_user *user);
bool sanx_user_setup(struct sanx_user *user);

/* seek.c */
void sanx_seek_again(struct sanx_lnet *lnet, u32 id);
void sanx_seek_net_init(struct sanx_lnet *lnet);
void sanx_seek_net_start(struct sanx_lnet *lnet);
void sanx_seek_net_exit(struct sanx_lnet *lnet);
void sanx_seek_flush(void);

/* setup.c */
void sanx_setup_start(struct work_struct *work);
void sanx_setup_unproven(struct sanx_link *link);

/* link.c */
struct sanx_link *sanx_link_alloc(struct sanx_lane *lane,
				  const struct sanx_wire_ops *wire, bool active);
void sanx_link_put(struct sanx_link *link);
bool sanx_link_may(struct sanx_lane *lane);
void sanx_link_set_state(struct sanx_link *link, enum sanx_link_state to);
void sanx_link_came_up(struct sanx_link *link);
void sanx_link_set_reserves(struct sanx_link *link);
void sanx_link_kill_locked(struct sanx_link *link, enum sanx_link_end why);
int sanx_link_errno(const struct sanx_link *link);
void sanx_link_kill(struct sanx_link *link, enum sanx_link_end why);
const char *sanx_link_state_name(enum sanx_link_state state);
void sanx_link_user_put(struct sanx_link *link);

/* beat.c */
void sanx_link_doubt(struct sanx_link *link);
void sanx_link_ask(struct sanx_link *link);
bool sanx_link_quiet(const struct sanx_link *link);
unsigned long sanx_link_heard(const struct sanx_link *link);
void sanx_beat_start(struct sanx_link *link);
void sanx_beat_wake(struct sanx_link *link);
bool sanx_beat_doubts(struct sanx_link *link);
void sanx_beat_ask(struct sanx_link *link, const struct sanx_link *other);
void sanx_beat_stir(struct sanx_link *link);
void sanx_beat_leads(struct sanx_link *link, bool leads);
void sanx_beat_timer(struct timer_list *t);

/* A link is used, or about to be; tx_lock held.  If it rests, it looks after its peer again. */
static inline void sanx_beat_use(struct sanx_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	if (unlikely(link->pace == BEAT_RESTS))
		sanx_beat_wake(link);
}

/* xmit.c; the functions that it sends with are in xmit.h */
bool sanx_xmit_ok(const struct sanx_link *link);
void sanx_xmit_run(struct sanx_link *link);
void sanx_xmit_pend(struct sanx_lconn *lc, u32 frames);
struct sanx_link *sanx_xmit_lock_push(struct sanx_lconn *lc)
	__acquires(&lc->link->tx_lock);
void sanx_xmit_unlock_push(struct sanx_link *link, bool more)
	__releases(&link->tx_lock);
void sanx_xmit_request(struct sanx_lconn *lc);
void sanx_xmit_announce(struct sanx_lconn *lc);
void sanx_xmit_unlock(struct sanx_link *link) __releases(&link->tx_lock);

/* ack.c */
void sanx_slot_free(struct sanx_link *link, struct sanx_slot *slot);
void sanx_ack_completed(struct sanx_link *link, struct sanx_slot *slot);
void sanx_ack_run(struct sanx_link *link, struct list_head *spent);
void sanx_ack_forget(struct sanx_lconn *lc);
void sanx_ack_ask(struct sanx_lconn *lc);
bool sanx_ack_wanted(const struct sanx_lconn *lc);
bool sanx_ack_last(const struct sanx_lconn *lc);
void sanx_ack_fin(struct sanx_lconn *lc);
void sanx_ack_await(struct sanx_lconn *lc);
void sanx_ack_work(struct work_struct *work);
const struct sanx_slot *sanx_ack_oldest(struct sanx_link *link);

/* payload.c */
int sanx_payload_inline(struct sanx_lconn *lc, const void *data, u32 len,
			bool urgent);
int sanx_payload_taken(struct sanx_lconn *lc, u32 len, bool urgent,
		       enum sanx_publish how);
u32 sanx_payload_long(struct sanx_lconn *lc, struct sanx_link *link,
		      struct sanx_chunk *c, u32 len);

/* ask.c */
void sanx_ask_begin(struct sanx_lconn *lc);
void sanx_ask_answered(struct sanx_lconn *lc);
bool sanx_ask_unanswered(const struct sanx_link *link);
void sanx_ask_work(struct work_struct *work);

/* open.c */
int sanx_request_take(struct sanx_link *link, const struct sanx_frame *f);
void sanx_request_queue(struct sanx_request *o);
void sanx_request_work(struct work_struct *work);
void sanx_request_hurry(struct sanx_link *link);
void sanx_request_put(struct sanx_request *o);

/* send.c */
ssize_t sanx_lconn_send(struct sanx_conn *conn, struct iov_iter *from,
			size_t len, int flags, enum sanx_held held);
void sanx_lconn_announce(struct sanx_conn *conn);
u32 sanx_lconn_room(struct sanx_conn *conn, enum sanx_room which);
u32 sanx_lconn_unsent(struct sanx_conn *conn);
bool sanx_lconn_drained(struct sanx_conn *conn);
void sanx_lconn_consumed(struct sanx_conn *conn);
void sanx_lconn_fin(struct sanx_conn *conn);

/* suspend.c */
void sanx_suspend_save(struct sanx_link *link);
void sanx_suspend_take(struct sanx_lconn *lc, struct sanx_link *link);
void sanx_suspend_serve(struct sanx_lconn *lc);
void sanx_suspend_serve_all(struct sanx_lane *lane);
void sanx_suspend_release(struct sanx_lconn *lc);
void sanx_suspend_reset(struct sanx_lconn *lc, int err);
void sanx_suspend_reset_all(struct sanx_lane *lane, int err);
void sanx_suspend_refused(struct sanx_lane *lane, bool never);
void sanx_suspend_stop(struct sanx_lane *lane);
void sanx_suspend_link_up(struct sanx_lane *lane, struct sanx_link *link);
void sanx_suspend_work(struct work_struct *work);

/* resume.c */
void sanx_resume_ask(struct sanx_lconn *lc, struct sanx_link *link);
int sanx_resume_serve(struct sanx_request *o);
int sanx_resume_answer(struct sanx_lconn *lc, const struct sanx_frame *f);
int sanx_resume_refused(struct sanx_lconn *lc);

/* conn.c */
struct sanx_link *sanx_lconn_lock(struct sanx_lconn *lc)
	__acquires(&lc->link->tx_lock);
u64 sanx_lconn_token(struct sanx_lconn *lc, const struct sanx_link *link,
		     bool ours);
struct sanx_lconn *sanx_lconn_find(struct sanx_lane *lane, u32 id);
void sanx_lconn_close(struct sanx_conn *conn, bool reset);
void sanx_lconn_reset_unread(struct sanx_lconn *lc);
void sanx_lconn_last_words(struct sanx_lconn *lc);
void sanx_lconn_sweep(struct sanx_link *link);
void sanx_lconn_cut(struct sanx_conn *conn);
void sanx_lconn_cut_locked(struct sanx_lconn *lc);
void sanx_lconn_liveness(struct sanx_conn *conn,
			 struct sanx_liveness_report *report);
void sanx_lconn_probe(struct sanx_conn *conn);
void sanx_lconn_destroy(struct sanx_conn *conn);
int sanx_lconn_open(struct sanx_lconn *lc, struct sanx_link *link);
int sanx_lconn_reopen(struct sanx_lconn *lc);
int sanx_lconn_attach(struct sanx_lconn *lc, struct sanx_link *link,
		      enum sanx_lconn_phase phase);
struct sanx_link *sanx_lconn_link_get(struct sanx_lconn *lc);
bool sanx_lconn_pin(struct sanx_lconn *lc, const struct sanx_wire_ops *wire);
void sanx_lconn_join(struct sanx_lconn *lc, struct sanx_link *link);
void sanx_lconn_check_over(struct sanx_lconn *lc);
bool sanx_lconn_survives(const struct sanx_lconn *lc);
void sanx_lconn_fail_all(struct sanx_link *link);
void sanx_lconn_release(struct sanx_lconn *lc);
void sanx_lconn_init(struct sanx_lconn *lc);
void sanx_lconn_abort(struct sanx_lconn *lc);

/* arrival.c */
int sanx_lconn_frame(struct sanx_lconn *lc, const struct sanx_link *link,
		     const struct sanx_frame *f);

/* ring.c */
int sanx_lring_alloc(struct sanx_lring *ring, u32 size,
		     const struct sanx_lconn *lc, struct sanx_link *link,
		     enum sanx_claim claim);
void sanx_lring_free(struct sanx_lring *ring);
bool sanx_lring_free_sleeps(const struct sanx_lring *ring);
bool sanx_lring_mapped(const struct sanx_lring *ring);
bool sanx_lring_disabled(const struct sanx_lring *ring);
int sanx_lring_map(struct sanx_lring *ring, struct sanx_link *link, u64 iova);
void sanx_lring_unmap(struct sanx_lring *ring);
void sanx_lring_sync(const struct sanx_lring *ring, u64 offset, u32 len);
u32 sanx_lring_max(const struct sanx_link *link);

/* rings.c */
int sanx_rings_init(struct sanx_lconn *lc);
void sanx_rings_want(struct sanx_lconn *lc);
int sanx_rings_make(struct sanx_lconn *lc, struct sanx_link *link, u32 size);
void sanx_rings_work(struct work_struct *work);
struct sanx_lring *sanx_rings_advertise(struct sanx_lconn *lc);
int sanx_rings_arrival(struct sanx_lconn *lc, const struct sanx_frame *f);
int sanx_rings_leave(struct sanx_lconn *lc, const struct sanx_frame *f);
void sanx_rings_left(struct sanx_conn *conn, const struct sanx_left *left);
void sanx_rings_lost(struct sanx_lconn *lc);
void sanx_rings_drop(struct sanx_lconn *lc);
int sanx_rings_map(struct sanx_lconn *lc, struct sanx_link *link);
void sanx_rings_resumed(struct sanx_lconn *lc);
void sanx_rings_unmap(struct sanx_lconn *lc);
bool sanx_rings_destroy_sleeps(const struct sanx_lconn *lc);
void sanx_rings_destroy(struct sanx_lconn *lc);

/* grow.c */
void sanx_grow_limit(struct sanx_conn *conn, u32 size);
int sanx_grow_ring(struct sanx_lconn *lc);
void sanx_grow_check(struct sanx_lconn *lc, u64 tail);
void sanx_grow_arrival(struct sanx_lconn *lc, const struct sanx_frame *f);
void sanx_grow_read(struct sanx_lconn *lc);

/* window.c */
int sanx_window_ok(const struct sanx_link *link,
		   const struct sanx_window_info *win);
void sanx_window_open(struct sanx_lconn *lc,
		      const struct sanx_window_info *win);
int sanx_window_ring(struct sanx_lconn *lc, const struct sanx_frame *f);
int sanx_window_resume(struct sanx_lconn *lc, const struct sanx_frame *f,
		       const struct sanx_window_info *win);
bool sanx_window_reclaim(struct sanx_conn *conn);

/* long.c */
bool sanx_long_wants(struct sanx_lconn *lc, const struct iov_iter *from,
		     size_t len, int flags);
size_t sanx_long_room(struct sanx_lconn *lc, const struct iov_iter *from);
size_t sanx_long_send(struct sanx_lconn *lc, struct iov_iter *from, size_t len);
int sanx_long_save(struct sanx_lconn *lc);
void sanx_long_wait(struct sanx_conn *conn, u64 to);
u32 sanx_long_cutoff(const struct sanx_link *link);
void sanx_long_tune(struct sanx_link *link);

/* chunk.c */
struct sanx_chunk *sanx_chunk_new(enum sanx_chunk_kind kind, u32 n);
struct sanx_chunk *sanx_chunk_alloc(struct sanx_lconn *lc, struct sanx_link *link,
				    enum sanx_chunk_kind kind, u32 size, u32 least,
				    enum sanx_claim claim);
void sanx_chunk_free(struct sanx_chunk *c);
void sanx_chunk_put(struct sanx_chunk *c);
int sanx_chunk_map(struct sanx_chunk *c, struct sanx_link *link);
void sanx_chunk_unmap(struct sanx_chunk *c, struct sanx_link *link);
void sanx_chunk_add(struct sanx_lconn *lc, struct sanx_chunk *c);
void sanx_chunk_drop(struct sanx_lconn *lc, struct sanx_chunk *c);
struct sanx_chunk *sanx_chunk_at(struct sanx_lconn *lc, u64 offset);
const void *sanx_chunk_bytes(const struct sanx_chunk *c, u64 offset, u32 *len);
void *sanx_chunk_tail(struct sanx_lconn *lc, u32 want, enum sanx_chunk_kind kind, u32 *n);
bool sanx_chunk_lacks(struct sanx_lconn *lc);
u32 sanx_chunk_keep(struct sanx_lconn *lc, u64 offset, const u8 *data, u32 len);
void sanx_chunk_insert(struct sanx_lconn *lc, struct sanx_chunk *c, u64 offset);
void sanx_chunks_acked(struct sanx_lconn *lc, struct list_head *spent);
void sanx_chunks_spent(struct sanx_link *link, struct list_head *spent);
int sanx_chunks_map(struct sanx_lconn *lc);
void sanx_chunks_unmap(struct sanx_lconn *lc);
void sanx_chunks_over(struct sanx_lconn *lc);
void sanx_chunks_drop_unused(struct sanx_lconn *lc);
bool sanx_chunks_reclaim(struct sanx_lconn *lc);
void sanx_chunks_free(struct sanx_lconn *lc);

/* sndbuf.c */
u32 sanx_sndbuf_cap(const struct sanx_lconn *lc);
void sanx_sndbuf_set_max(struct sanx_lconn *lc);
u32 sanx_sndbuf_room(const struct sanx_lconn *lc);
u32 sanx_sndbuf_spare(struct sanx_lconn *lc);
bool sanx_sndbuf_signal(const struct sanx_lconn *lc);
bool sanx_sndbuf_share(const struct sanx_lconn *lc, u32 bytes, u32 share);

#endif /* _SANX_LINK_INTERNAL_H */
