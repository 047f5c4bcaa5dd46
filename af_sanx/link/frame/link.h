/* SPDX-License-Identifier: GPL-2.0 */
/* Links: see link.c. */
#ifndef _SANX_LINK_H
#define _SANX_LINK_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include <net/sanx_wire.h>

#include "beat.h"
#include "format.h"
#include "link_credit.h"
#include "outcome.h"
#include "payer.h"
#include "proof.h"

struct sanx_lconn;
struct sanx_streams;

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
 * @payer: the node at the other end, with a reference
 * @lane: number of its lane to that node; constant
 * @streams: the connections of that lane, attached or suspended; constant
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
 *	at (peer/rail.c); no lock
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
	struct sanx_payer	*payer;
	u32			lane;
	struct sanx_streams	*streams;
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

#endif /* _SANX_LINK_H */
