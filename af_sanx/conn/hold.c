// SPDX-License-Identifier: GPL-2.0
/*
 * Holding bytes back: coalescing and corking, for all transports.
 *
 * hold_rule.h has the rule.  This file asks it for each send(), keeps the time,
 * and has the transport announce bytes that were held back.
 *
 * conn->hold.state is how bytes at the end of the stream are held back.
 *
 * Invariant: if a transport has stored bytes without announcing them, the state
 * is not NONE, or some CPU is about to announce them.  The state may say that
 * bytes are held back when they are announced already: then the end of the delay
 * announces nothing.
 *
 * - The sender stores the state after the bytes, under conn->tx_mutex.
 * - Any CPU may end a delay (hold_end()): it changes the state to NONE with
 *   cmpxchg() and then has the transport announce all bytes.
 * - A sender that announces a piece, and shutdown() and close(), have the
 *   transport announce all bytes, whatever the state is.  Before that, the sender
 *   changes COALESCED to NONE, because the delay is over.
 *
 * Full barriers:
 *
 * - hold_coalesce() stores the state and then looks at @armed, with xchg().
 *   hold_timer() clears @armed and then looks at the state.  So either the timer
 *   finds the bytes, or hold_coalesce() starts the timer again.
 * - hold_cork() stores the state, with xchg(), and then looks whether
 *   conn->tx_timer is pending.  The timer, which is not pending then, executes
 *   smp_mb() and then calls sanx_hold_expire(), which looks at the state.
 *
 * conn->tx_mutex guards the fields that the sender writes, see struct sanx_hold.
 */
#include <linux/hrtimer.h>
#include <linux/sched/rt.h>
#include <linux/timekeeping.h>

#include "config/config.h"
#include "conn_priv.h"

/* "A 200 millisecond ceiling", tcp(7). */
#define CORK_TIME	(HZ / 5)

static void hold_announce(struct sanx_conn *conn, enum sanx_held held)
{
	/*
	 * The connection may be closed meanwhile.  Over loop the peer may then
	 * be freed, but not before a grace period.
	 */
	rcu_read_lock();
	if (sanx_conn_open(conn))
		conn->ops->announce(conn);
	rcu_read_unlock();
	/* Fewer bytes are unsent: wakes TCP_NOTSENT_LOWAT waiters. */
	if (held == SANX_HELD_CORKED)
		sanx_conn_tx_look(conn);
}

/**
 * sanx_hold_ended() - end a delay, if that is what happened
 * @conn: the connection, in any state
 * @why: what has happened
 *
 * Context: any; no lock of @conn but tx_mutex held.
 */
void sanx_hold_ended(struct sanx_conn *conn, enum sanx_hold_end why)
{
	struct sanx_hold *hold = &conn->hold;
	u8 held = READ_ONCE(hold->state);

	/*
	 * A state that has changed meanwhile is that of other bytes, behind
	 * these, which were announced.
	 */
	if (sanx_hold_ends(held, why) &&
	    cmpxchg(&hold->state, held, SANX_HELD_NONE) == held)
		hold_announce(conn, held);
}

/* In ns modulo 2^32, as all times of struct sanx_pace. */
static u32 hold_ns(void)
{
	return ktime_get_ns();
}

static struct sanx_pace_now hold_now(void)
{
	/* Preemption changes the latter, here as anywhere else. */
	return (struct sanx_pace_now){
		.ns = hold_ns(),
		.slept = READ_ONCE(current->nvcsw),
		.preempted = READ_ONCE(current->nivcsw),
	};
}

static enum hrtimer_restart hold_timer(struct hrtimer *timer)
{
	struct sanx_conn *conn = container_of(timer, struct sanx_conn,
					      hold.timer);
	struct sanx_hold *hold = &conn->hold;

	sanx_pace_over(&hold->pace, hold_ns(),
		       READ_ONCE(hold->state) == SANX_HELD_COALESCED);
	/* Pairs with xchg() in hold_coalesce(). */
	smp_store_mb(hold->armed, 0);
	sanx_hold_ended(conn, SANX_HOLD_TIME);
	/* This CPU is the sender's, which could not send meanwhile. */
	if (READ_ONCE(hold->pace.quick))
		WRITE_ONCE(hold->pace.last, hold_ns());
	return HRTIMER_NORESTART;
}

/*
 * Announce corked bytes whose time is over.  From conn->tx_timer, after a full barrier.
 * Return: the rest of the time of bytes that stay corked, in jiffies, or 0.
 */
unsigned long sanx_hold_expire(struct sanx_conn *conn)
{
	struct sanx_hold *hold = &conn->hold;
	u32 past = (u32)jiffies - READ_ONCE(hold->cork_since);

	if (READ_ONCE(hold->state) != SANX_HELD_CORKED)
		return 0;
	if (past < CORK_TIME)
		return CORK_TIME - past;
	sanx_hold_ended(conn, SANX_HOLD_CORK_TIME);
	return 0;
}

/*
 * Can the delay be bounded?  A timer without high resolution would take
 * milliseconds.  A real-time sender could keep the timer from its CPU for an
 * unbounded time (PREEMPT_RT).
 */
static bool hold_bounded(void)
{
	return hrtimer_resolution <= SANX_COALESCE_NS && !rt_task(current);
}

static bool hold_follows(struct sanx_conn *conn)
{
	u32 ns = READ_ONCE(sanx_net(conn->net)->nodelay_us) * NSEC_PER_USEC;
	struct sanx_pace_now now = hold_now();

	return sanx_pace_follows(&conn->hold.pace, &now, ns,
				 READ_ONCE(conn->hold.armed));
}

/* What the rule says to a piece that is corked, or part of a stream. */
static enum sanx_held hold_ask(struct sanx_conn *conn, size_t len, int flags)
{
	struct sanx_hold *hold = &conn->hold;
	struct sanx_piece_sent piece = {
		.len = len,
		.held = READ_ONCE(hold->state) ? hold->bytes : 0,
		.held_max = hold->held_max,
		.small = conn->ops->piece,
		.urgent = flags & MSG_OOB,
		.more = flags & MSG_MORE,
		.streams = true,
		.follows = true,
		.bounded = true,
	};
	enum sanx_held held = sanx_hold_rule(&piece);
	bool quick = !(flags & MSG_BATCH);

	if (held != SANX_HELD_COALESCED)
		return held;
	/* What costs more to find out. */
	if (quick)
		piece.follows = hold_follows(conn);
	piece.bounded = hold_bounded() &&
			sanx_pace_turn(&hold->pace, quick, READ_ONCE(hold->armed));
	return sanx_hold_rule(&piece);
}

static noinline void hold_start(struct sanx_hold *hold)
{
	hrtimer_start(&hold->timer, ns_to_ktime(sanx_pace_begin(&hold->pace)),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/*
 * @n bytes were stored, and are coalesced.  A timer that is armed is not
 * changed, even if its bytes were announced meanwhile: a timer that expires for
 * nothing now and then costs less than setting it each time.
 */
static void hold_coalesce(struct sanx_hold *hold, u32 n)
{
	u32 before = READ_ONCE(hold->state) ? hold->bytes : 0;

	WRITE_ONCE(hold->bytes, before + n);
	/*
	 * Release: who changes the state, and announces, finds the bytes.  The
	 * store must not be left out if the state seems right: the timer may
	 * change it.
	 */
	smp_store_release(&hold->state, SANX_HELD_COALESCED);
	/* Pairs with smp_store_mb() in hold_timer(). */
	if (!xchg(&hold->armed, 1))
		hold_start(hold);
}

/*
 * @n bytes were stored, and are corked.  A pending timer is not changed:
 * sanx_hold_expire() checks the time.
 */
static void hold_cork(struct sanx_conn *conn, u32 n)
{
	struct sanx_hold *hold = &conn->hold;
	u32 before = READ_ONCE(hold->state) ? hold->bytes : 0;

	if (!before)
		WRITE_ONCE(hold->cork_since, (u32)jiffies);
	WRITE_ONCE(hold->bytes, before + n);
	/* Pairs with smp_mb() in conn->tx_timer, see above. */
	if (xchg(&hold->state, SANX_HELD_CORKED) != SANX_HELD_CORKED)
		sanx_tx_timer_arm(conn, CORK_TIME);
}

/* Not inline, because requests and answers are announced without this. */
static noinline void hold_note(struct sanx_hold *hold)
{
	struct sanx_pace_now now = hold_now();

	sanx_pace_sent(&hold->pace, &now);
}

/* The transport has announced all bytes. */
static void hold_none(struct sanx_hold *hold, int flags)
{
	if (unlikely(READ_ONCE(hold->state)))
		WRITE_ONCE(hold->state, SANX_HELD_NONE);
	if (!(flags & MSG_BATCH) &&
	    READ_ONCE(hold->pace.sends) > SANX_QUICK_AFTER)
		hold_note(hold);
}

static void hold_sent(struct sanx_conn *conn, u32 n, enum sanx_held held,
		      int flags)
{
	struct sanx_hold *hold = &conn->hold;
	u8 before = READ_ONCE(hold->state);

	if (likely(held == SANX_HELD_NONE))
		hold_none(hold, flags);
	else if (held == SANX_HELD_COALESCED)
		hold_coalesce(hold, n);
	else
		hold_cork(conn, n);
	/* Fewer bytes are unsent: wakes TCP_NOTSENT_LOWAT waiters. */
	if (unlikely(before == SANX_HELD_CORKED) && held != SANX_HELD_CORKED)
		sanx_conn_tx_look(conn);
}

/*
 * A piece is about to be announced, and with it the bytes that are coalesced.  A
 * timer that expires during the announcement, which may take longer than the
 * delay, must not take the sender for one that has stopped (sanx_pace_over()).
 * Return: true if there may be such bytes.
 */
static bool hold_coalesced_ends(struct sanx_hold *hold)
{
	if (likely(READ_ONCE(hold->state) != SANX_HELD_COALESCED))
		return false;
	WRITE_ONCE(hold->state, SANX_HELD_NONE);
	return true;
}

/**
 * sanx_hold_send() - send, and hold the bytes back or announce them
 * @conn: the connection
 * @msg: as for sanx_transport_ops.send()
 * @len: likewise
 * @flags: likewise; with MSG_MORE the bytes are corked, and MSG_BATCH is set
 *	without TCP_NODELAY
 *
 * Context: process, tx_mutex held.
 * Return: as sanx_transport_ops.send().
 */
ssize_t sanx_hold_send(struct sanx_conn *conn, struct msghdr *msg,
		       size_t len, int flags)
{
	enum sanx_held held = SANX_HELD_NONE;
	bool ended = false;
	ssize_t n;

	lockdep_assert_held(&conn->tx_mutex);
	if (unlikely(flags & MSG_MORE) ||
	    sanx_pace_streams(&conn->hold.pace, !(flags & MSG_BATCH)))
		held = hold_ask(conn, len, flags);
	if (unlikely(held == SANX_HELD_CORKED))
		sanx_hold_ended(conn, SANX_HOLD_CORK);
	else if (held == SANX_HELD_NONE)
		ended = hold_coalesced_ends(&conn->hold);
	n = conn->ops->send(conn, msg, len, flags, held);
	if (n > 0)
		hold_sent(conn, n, held, flags);
	else if (ended)
		hold_announce(conn, SANX_HELD_COALESCED);
	return n;
}

/**
 * sanx_hold_room() - look for room, and announce all bytes if there is none
 * @conn: the connection
 * @which: as for sanx_transport_ops.room()
 *
 * Without room, the peer has to read before more can be sent.
 *
 * Context: any, no lock needed.
 * Return: as sanx_transport_ops.room().
 */
u32 sanx_hold_room(struct sanx_conn *conn, enum sanx_room which)
{
	u32 room = conn->ops->room(conn, which);

	if (!room)
		sanx_hold_ended(conn, SANX_HOLD_NO_ROOM);
	return room;
}

/**
 * sanx_hold_pull() - the program pulls what is held back
 * @conn: the connection
 *
 * Waits for a send() that began before, and may have been told to hold its bytes
 * back.
 *
 * Context: process, may sleep: takes tx_mutex; lock_sock() may be held.
 */
void sanx_hold_pull(struct sanx_conn *conn)
{
	mutex_lock(&conn->tx_mutex);
	sanx_hold_ended(conn, SANX_HOLD_PULL);
	mutex_unlock(&conn->tx_mutex);
}

/* Initialise what a new connection holds back. */
void sanx_hold_init(struct sanx_conn *conn)
{
	struct sanx_hold *hold = &conn->hold;

	hold->held_max = U32_MAX;
	sanx_pace_init(&hold->pace);
	hrtimer_init(&hold->timer, CLOCK_MONOTONIC,
		     HRTIMER_MODE_REL_PINNED_SOFT);
	hold->timer.function = hold_timer;
}

/* The stream ends: the transport announces all bytes itself.  tx_mutex held. */
void sanx_hold_fin(struct sanx_conn *conn)
{
	lockdep_assert_held(&conn->tx_mutex);
	WRITE_ONCE(conn->hold.state, SANX_HELD_NONE);
}

/*
 * The socket was closed.  Takes tx_mutex.
 *
 * Senders that found it open have returned after this, and the timer of
 * coalesced bytes does not run any more.  The transport then announces bytes
 * that are held back, or drops them.
 */
void sanx_hold_stop(struct sanx_conn *conn)
{
	mutex_lock(&conn->tx_mutex);
	hrtimer_cancel(&conn->hold.timer);
	WRITE_ONCE(conn->hold.armed, 0);
	mutex_unlock(&conn->tx_mutex);
}
