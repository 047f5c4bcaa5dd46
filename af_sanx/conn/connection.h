/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection, and what it consists of.
 *
 * Memory beyond the ring is called spare in the names here.
 *
 * struct sanx_conn has three locks.  tx_mutex and rx_mutex of one connection
 * are never held together.  lock is inside both.  Documentation/locking.rst has
 * the whole order:
 *
 *	tx_mutex	the sender: what is held back, lent pages; over loop also
 *			tx.next
 *	rx_mutex	the reader: rx.head, rx.out, rx.gen, record_left
 *	lock		state, err, shutdown, peer_gone, detached, urg,
 *			liveness.sending, liveness.sent; softirq
 *
 * The socket callbacks of @sk run without these locks, under RCU.
 */
#ifndef _SANX_CONNECTION_H
#define _SANX_CONNECTION_H

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

#include "config/config.h"
#include "hold_rule.h"
#include "msgq.h"
#include "pace.h"

struct iov_iter;
struct mem_cgroup;
struct sanx_listener;
struct sanx_net;
struct sanx_sock;
struct sanx_stats;
struct sock;

/**
 * enum sanx_conn_state - state of a connection
 * @SANX_CONN_NEW: allocated
 * @SANX_CONN_CONNECTING: requested, not answered yet
 * @SANX_CONN_ESTABLISHED: both directions are open
 * @SANX_CONN_FIN_SENT: our direction has ended
 * @SANX_CONN_FIN_RCVD: the peer's direction has ended
 * @SANX_CONN_FINISHED: both directions have ended, in order
 * @SANX_CONN_REFUSED: not established; the socket becomes TCP, or DEAD if it is explicit
 * @SANX_CONN_DEAD: reset, aborted or closed
 * @SANX_CONN_ENDED: as DEAD, but the peer's direction had ended before
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
 * enum sanx_urg_state - state of the urgent mark
 * @SANX_URG_NONE: there is no mark ahead of the reader
 * @SANX_URG_NEW: the urgent byte was not read yet
 * @SANX_URG_READ: recv(MSG_OOB) has read the byte; reading still stops at the
 *	mark
 */
enum sanx_urg_state {
	SANX_URG_NONE,
	SANX_URG_NEW,
	SANX_URG_READ,
};

/**
 * struct sanx_urg - urgent data, as the reader sees it
 * @state: state of the mark
 * @seq: stream offset of the urgent byte
 * @hole: offset of an earlier urgent byte that reading still leaves out, or
 *	U64_MAX for none; always before @seq, so there is none without a mark
 *
 * conn->lock guards all fields.  Reads of @state without it are hints.
 */
struct sanx_urg {
	enum sanx_urg_state	state;
	u64			seq;
	u64			hole;
};

/**
 * struct sanx_liveness - liveness of the peer: liveness.c
 * @timer: checks the peer while it may be gone; holds a reference of the
 *	connection while it is pending
 * @watch: sends are recorded in @sending; no lock
 * @sending: bytes are on the way to the peer, or wait to be sent, since @sent
 * @sent: in jiffies
 * @shut: the peer's program has read nothing since @shut_since
 * @shut_since: in jiffies
 * @read: how far the peer was known to have read at @shut_since, stream offset
 *
 * conn->lock guards @sending and @sent.  Only @timer uses @shut, @shut_since
 * and @read.
 */
struct sanx_liveness {
	struct timer_list	timer;
	bool			watch;
	bool			sending;
	unsigned long		sent;
	bool			shut;
	unsigned long		shut_since;
	u64			read;
};

/**
 * struct sanx_liveness_report - a transport's answer about the liveness of the
 * peer
 * @heard: until when the peer was there, as far as is known, in jiffies
 * @lost: the peer was silent for so long that what is on the way to it counts
 *	as lost
 * @unacked: something was sent that the peer may not have received
 * @acked: when the peer was last known to have received something, in jiffies
 */
struct sanx_liveness_report {
	unsigned long		heard;
	bool			lost;
	bool			unacked;
	unsigned long		acked;
};

/**
 * struct sanx_hold - bytes of a sender that are held back: hold.c
 * @timer: ends the delay of coalesced bytes
 * @state: how bytes at the end of the stream are held back, enum sanx_held.  The
 *	sender stores it with release, or with xchg(), under tx_mutex;
 *	sanx_hold_ended() changes it to NONE with cmpxchg() in any context.
 * @armed: @timer is set, or has not looked at @state yet; written with full
 *	barriers by hold_coalesce() and hold_timer()
 * @cork: the program has set TCP_CORK.  A copy, because kernel users change the
 *	flag of the sock without a call to AF_SANX.  No lock.
 * @bytes: bytes held back, unless @state is NONE; written under tx_mutex
 * @held_max: bytes that may be held back at once; set by the transport before bytes
 *	are sent
 * @cork_since: when the first corked byte was, in jiffies; written under
 *	tx_mutex
 * @pace: does the sender stream; see there
 */
struct sanx_hold {
	struct hrtimer		timer;
	u8			state;
	u8			armed;
	bool			cork;
	u32			bytes;
	u32			held_max;
	u32			cork_since;
	struct sanx_pace	pace;
};

/**
 * struct sanx_reclaim - reclaim of memory of an idle connection: reclaim.c
 * @work: checks whether the connection is idle
 * @seen: sum of the stream offsets at the last check; no lock
 */
struct sanx_reclaim {
	struct delayed_work	work;
	u64			seen;
};

/**
 * enum sanx_room - which room a sender asks for
 * @SANX_ROOM_WINDOW: the room while the peer's reader keeps up
 * @SANX_ROOM_SPARE: also the room that a sender may use beyond it, for a reader
 *	that does not keep up (SO_SNDBUF; spare.c)
 */
enum sanx_room {
	SANX_ROOM_WINDOW,
	SANX_ROOM_SPARE,
};

/**
 * struct sanx_conn_work - work of a connection in the connect thread; work.c
 * @work: the work
 * @timer: queues @work when the delay is over
 * @conn: the connection
 */
struct sanx_conn_work {
	struct kthread_work	work;
	struct timer_list	timer;
	struct sanx_conn	*conn;
};

/* Flag of a send: it may use SANX_ROOM_SPARE and allocate memory for it. */
#define SANX_MSG_SPARE	MSG_PROBE
/* Likewise: a record has begun (socket/seqpacket.c), for all of which there is room. */
#define SANX_MSG_WHOLE	MSG_CONFIRM

/**
 * enum sanx_awaits - what a connection that came in waits for, before accept() may
 * find it
 * @SANX_AWAITS_NOTHING: nothing; or it did not come in
 * @SANX_AWAITS_PEER: for its connector to know of it: it is half-open
 * @SANX_AWAITS_PEER_LATE: the same, and it does not count towards the backlog any
 *	more
 * @SANX_AWAITS_DATA: for data (TCP_DEFER_ACCEPT)
 */
enum sanx_awaits {
	SANX_AWAITS_NOTHING,
	SANX_AWAITS_PEER,
	SANX_AWAITS_PEER_LATE,
	SANX_AWAITS_DATA,
};

/**
 * struct sanx_conn - one connection, as one node sees it
 * @refs: the socket or accept queue has one, the transport as many as it needs
 * @tries: how often the peer's backlog was full; of one with a user, not 0 also if the way to
 *	the peer was lost before its answer
 * @ops: the transport
 * @net: its namespace, without a reference: sockets hold it, and the engine leaves no
 *	connection there when it exits
 * @stats: counters of @net
 * @feed: bytes for a kernel consumer, or NULL; feed.c; freed with the connection
 * @local: our end
 * @remote: the peer's end
 * @memcg: the memory cgroup that is charged for our ring, with a reference;
 *	NULL to charge the task that allocates it
 * @lock: guards @state, @err, @shutdown, @peer_gone, @detached, @urg,
 *	@liveness.sending and @liveness.sent; taken in softirq.  Other readers
 *	use READ_ONCE() or the acquire in sanx_conn_open().
 * @state: changed by sanx_conn_event() only; stored with release
 * @err: errno (positive) of a connection that died
 * @shutdown: RCV_SHUTDOWN and SEND_SHUTDOWN, copied to sk->sk_shutdown
 * @peer_gone: the peer reads no more: what is sent now causes a reset
 * @accepted: came in through a listener
 * @detached: @sk must not be used any more
 * @sk: the sock while one is attached, with a reference; stored with release by
 *	sanx_conn_attach(), valid under RCU
 * @ss: the socket while connecting; guarded by lock_sock(@sk)
 * @user: what uses it in place of a socket, or NULL; valid under RCU
 * @tx_mutex: serialises senders; guards what they write in @hold, and @lent,
 *	and over loop @tx.next.  A lock of the transport guards the rest of @tx,
 *	loop_conn.lock or link.tx_lock.
 * @rx_mutex: serialises readers; guards @rx.head, @rx.out, @rx.gen and @record_left
 * @tx: the peer's ring, as we may write it
 * @rx: our ring
 * @rx_max: bytes to which @rx may grow (SO_RCVBUF)
 * @room_first: the room that a blocking sender asks for first; send.c; no lock
 * @row: the last send() did not block, was taken whole, and left no room: a few bytes more
 *	are taken; send.c; tx_mutex
 * @record_left: bytes at @rx.head that belong to a record of which a reader has had the first
 *	ones, or 0; socket/seqpacket.c; rx_mutex
 * @urg: urgent data in @rx
 * @liveness: liveness of the peer
 * @hold: bytes that are held back
 * @tx_timer: ends corking and wakes senders; tx_timer.c
 * @reclaim: memory that it can give back
 * @lent: stream offset up to which the transport sends from programs' pages;
 *	changes need tx_mutex and the lock of the transport
 * @busy_poll_ns: ns that a reader polls before it sleeps; busy_poll.c; no lock
 * @cede_pause: waits that sleep without ceding the CPU first; busy_poll.c; no
 *	lock
 * @tx_time: when bytes were last sent, in jiffies
 * @rx_time: when bytes last arrived, in jiffies
 * @ack_time: when a credit last arrived, in jiffies
 * @drain_time: when the peer was last known to read bytes that fill its ring,
 *	in jiffies
 * @promised: stream offset, modulo 2^32, at which room was last reported to the
 *	sender; spare.c; no lock
 * @started: when the connection was requested, ktime in ns
 * @rtt_us: us until it was accepted; 0 at the accepting end
 * @fallback: why the connection was refused; written under @lock
 * @short_until: until then no memory is requested to send more, in jiffies
 * @rx_stamp: wall-clock time when bytes last arrived, in ns; 0 if the program
 *	did not ask for it (SO_TIMESTAMP)
 * @node: in a list of a listener or in sanx_listener_table.taken, guarded by the lock
 *	of the listener table; later in sanx_sock.old, guarded by lock_sock()
 * @deferred: the listener, while accept() must not find this connection yet;
 *	written under the lock of the listener table, read under RCU
 * @came: when it became half-open, in jiffies; lock of the listener table
 * @turn: accept() returns it when the listener's @natives has come to this; lock of
 *	the listener table
 * @awaits: why accept() must not find it yet; lock of the listener table
 * @retry: connects again after a full backlog; for a connection that came in,
 *	ends the time that it is @deferred
 * @work: makes the socket TCP after a refusal: sanx_conn_connect()
 * @rcu: puts the reference of @sk, later frees the connection
 *
 * It is the first member of a transport's own structure, of
 * sanx_transport_ops.conn_size bytes.  That of loop has at most 1 KiB on 64-bit
 * kernels without lock debugging.  That is also the size class of the allocator,
 * so a larger structure would take twice as much.
 */
struct sanx_conn {
	refcount_t			refs;
	unsigned int			tries;
	const struct sanx_transport_ops	*ops;
	struct net			*net;
	struct sanx_stats __percpu	*stats;
	struct sanx_feed		*feed;
	struct sanx_endpoint		local;
	struct sanx_endpoint		remote;
	struct mem_cgroup		*memcg;

	spinlock_t			lock; /* guards: see above */
	enum sanx_conn_state		state;
	int				err;
	u8				shutdown;
	bool				peer_gone;
	bool				accepted;
	bool				detached;

	struct sock			*sk;
	struct sanx_sock		*ss;
	struct sanx_conn_user		*user;
	struct mutex			tx_mutex; /* guards: see above */
	struct mutex			rx_mutex; /* guards: see above */
	struct sanx_txq			tx;
	struct sanx_rxq			rx;
	u32				rx_max;
	enum sanx_room			room_first;
	bool				row;
	u32				record_left;
	struct sanx_urg			urg;
	struct sanx_liveness		liveness;
	struct sanx_hold		hold;
	struct timer_list		tx_timer;
	struct sanx_reclaim		reclaim;
	u64				lent;
	u32				busy_poll_ns;
	u32				tx_time;
	u32				rx_time;
	u32				ack_time;
	u32				drain_time;
	u32				promised;
	u32				rtt_us;
	enum sanx_fallback		fallback;
	unsigned long			short_until;
	u64				started;
	u64				rx_stamp;

	struct list_head		node;
	struct sanx_listener		*deferred;
	unsigned long			came;
	u32				turn;
	enum sanx_awaits		awaits;
	u8				cede_pause;
	struct sanx_conn_work		retry;
	struct sanx_conn_work		work;
	struct rcu_head			rcu;
};

#endif /* _SANX_CONNECTION_H */
