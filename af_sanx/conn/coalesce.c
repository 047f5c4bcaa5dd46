// SPDX-License-Identifier: GPL-2.0
/*
 * Coalescing: delays the announcement of many small pieces.
 *
 * Over loop, waking a sleeping reader, and its going to sleep again, cost more
 * than a small piece.  Over verbs, a message does.  TCP has Nagle's rule
 * against small pieces, and keeps them back until what was sent before is
 * acknowledged; so do SOVIA and SCI SOCKET.
 *
 * Over loop no bytes are kept back: they are in the reader's ring at once, and
 * a reader that calls recv(), poll() or FIONREAD finds them.  Only the wake-up
 * of a sleeping reader is delayed.  Over verbs the message is delayed.  The
 * delay ends when
 *
 * - COALESCE_BYTES are there, or over loop half of the ring is full;
 * - the sender looks for an answer: recv() that finds nothing, or poll() for
 *   it;
 * - the stream ends, by shutdown(), close() or a reset, each of which wakes the
 *   peer itself;
 * - COALESCE_NS have passed, or twice that where pieces come fast.  TCP's limit
 *   is 40 ms.
 *
 * Only senders that stream are delayed.  The first COALESCE_AFTER sends without
 * anything received in between are announced at once, so requests and answers
 * have no delay, also those in a few pieces.  Urgent data and large pieces have
 * no delay either.  If fewer than COALESCE_AFTER sends come before the timer
 * expires, twice in a row, the sender does not stream, and its next
 * COALESCE_PAUSE sends are announced at once.
 *
 * TCP_NODELAY turns Nagle's rule off: a piece does not wait for the peer.  TCP
 * coalesces such pieces too, while the device has not sent what was sent before
 * (tcp_should_autocork()); the completion of the device ends the delay, and
 * network devices delay their interrupts in addition.  Over loop there is no
 * device.  Over verbs most work asks for no completion (wr_signal()), so the
 * end of it is not known.  Therefore the clock limits the delay here.  With
 * TCP_NODELAY bytes are held back only if
 *
 * - the sender streams, and QUICK_AFTER sends were announced at once;
 * - it has not slept since its previous send, so it does not wait for anything;
 * - that send returned less than a quarter of the longest delay ago; a stream
 *   that was preempted, for example by its reader, may continue later.
 *
 * A sender that announces each event when it happens, and sleeps or works in
 * between, is never delayed.  The last piece of a burst is late by at most
 * net.sanx.nodelay_us, or half of that at the begin of a stream.  If the sender
 * is at rest when the timer expires, twice in a row, it sends in bursts.  Its
 * next COALESCE_PAUSE sends are announced at once then, and twice as many each
 * time that this happens again.
 *
 * No bytes are forgotten.  sanx_coalesce_arm() comes after the bytes were
 * published, and sets @armed with xchg(), a full barrier.  coalesce_timer()
 * clears @armed with smp_store_mb() before it looks for bytes.  So either the
 * timer finds the bytes, or sanx_coalesce_arm() finds @armed clear and starts
 * the timer again.
 *
 * conn->tx_mutex guards @held.  The other fields have no lock, see struct
 * sanx_coalesce in transport.h.
 */
#include <linux/hrtimer.h>
#include <linux/sched/rt.h>
#include <linux/timekeeping.h>

#include "config/config.h"
#include "internal.h"

/*
 * 64 pieces of a KiB, or some of a few KiB, so that the announcement is a small
 * part of the cost.  Also half of a ring of the usual size, so that the reader
 * has something to do while a sender on another CPU continues.
 */
#define COALESCE_BYTES	65536
#define COALESCE_NS	(100 * NSEC_PER_USEC)
#define COALESCE_AFTER	4
#define COALESCE_FAST	16
#define COALESCE_PAUSE	64

/*
 * With TCP_NODELAY.  Programs that pipeline requests seldom have more than
 * QUICK_AFTER of them without an answer.  The time is net.sanx.nodelay_us.
 */
#define QUICK_BYTES	32768
#define QUICK_AFTER	16
#define QUICK_FAST	8
#define QUICK_PAUSE_MAX	4096

/**
 * struct coalesce_limit - when to hold bytes back
 * @after: sends that are announced at once before
 * @fast: with so many sends before the timer expires the next delay is twice as
 *	long
 * @bytes: bytes that are announced at once
 */
struct coalesce_limit {
	int	after;
	u32	fast;
	u32	bytes;
};

/* By sanx_coalesce.quick. */
static const struct coalesce_limit coalesce_limits[] = {
	{ COALESCE_AFTER, COALESCE_FAST, COALESCE_BYTES },
	{ QUICK_AFTER, QUICK_FAST, QUICK_BYTES },
};

/* In ns modulo 2^32, to keep connections small. */
static u32 coalesce_now(void)
{
	return ktime_get_ns();
}

/*
 * Does the sender stream?  It must fail twice in a row, because it can fail
 * once when the reader had its CPU.
 */
static void coalesce_judge(struct sanx_coalesce *g)
{
	/*
	 * Above INT_MAX if this end has received something since it was armed.
	 */
	unsigned int sends = READ_ONCE(g->sends) - READ_ONCE(g->armed_at);
	bool quick = READ_ONCE(g->quick), streams = sends >= COALESCE_AFTER;
	u32 fast = coalesce_limits[quick].fast;

	WRITE_ONCE(g->fast, sends >= fast && sends <= INT_MAX);
	if (quick) {
		/* The bytes were announced meanwhile, because they were many. */
		if (!READ_ONCE(g->held))
			return;
		streams = coalesce_now() - READ_ONCE(g->last) <
			  READ_ONCE(g->ns) / 2;
	}
	if (streams) {
		g->slow = false;
		g->pause = COALESCE_PAUSE;
	} else if (!g->slow) {
		g->slow = true;
	} else {
		g->slow = quick;
		WRITE_ONCE(g->sends, -(int)g->pause);
		if (quick)
			g->pause = min(2 * g->pause, QUICK_PAUSE_MAX);
	}
}

static enum hrtimer_restart coalesce_timer(struct hrtimer *timer)
{
	struct sanx_coalesce *g = container_of(timer, struct sanx_coalesce,
					       timer);

	coalesce_judge(g);
	/* Pairs with xchg() in sanx_coalesce_arm(). */
	smp_store_mb(g->armed, 0);
	g->ops->flush(g);
	/* This CPU is the sender's, which could not send meanwhile. */
	if (READ_ONCE(g->quick))
		WRITE_ONCE(g->last, coalesce_now());
	return HRTIMER_NORESTART;
}

/**
 * sanx_coalesce_arm() - bytes are held back: limit the delay
 * @g: of the sender; sanx_coalesce_wants() has returned true
 *
 * sanx_coalesce_ops.flush() must find the bytes already.  An armed timer is not
 * changed, even if its bytes were announced meanwhile: a timer that expires for
 * nothing now and then costs less than setting it each time.
 *
 * Context: process, tx_mutex held.
 */
void sanx_coalesce_arm(struct sanx_coalesce *g)
{
	u32 ns;

	/*
	 * The bytes were published before.  Pairs with smp_store_mb() in
	 * coalesce_timer().
	 */
	if (xchg(&g->armed, 1))
		return;
	WRITE_ONCE(g->armed_at, READ_ONCE(g->sends));
	ns = g->quick ? g->ns : COALESCE_NS << READ_ONCE(g->fast);
	hrtimer_start(&g->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * sanx_coalesce_init() - initialise coalescing
 * @g: zeroed or stopped
 * @ops: of the transport, constant
 */
void sanx_coalesce_init(struct sanx_coalesce *g,
			const struct sanx_coalesce_ops *ops)
{
	g->ops = ops;
	g->pause = COALESCE_PAUSE;
	hrtimer_init(&g->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	g->timer.function = coalesce_timer;
}

/*
 * Can the delay be bounded?  A timer without high resolution would take
 * milliseconds.  A real-time sender could keep the timer from its CPU for an
 * unbounded time (PREEMPT_RT).
 */
static bool coalesce_can(void)
{
	return hrtimer_resolution <= COALESCE_NS && !rt_task(current);
}

/* Context: tx_mutex held. */
static void coalesce_note(struct sanx_coalesce *g, u32 now)
{
	g->slept = current->nvcsw;
	g->preempted = current->nivcsw;
	WRITE_ONCE(g->last, now);
}

/*
 * TCP_NODELAY: does this piece follow the previous one fast?  A sender that has
 * slept in between (nvcsw) has waited for something.  One that was preempted
 * (nivcsw) after a fast piece may be late for lack of the CPU only: on one CPU,
 * the reader takes it after each announcement.
 *
 * What is held back is announced after g->ns here too, because the timer may be
 * late: under PREEMPT_RT, and under load elsewhere, it runs in a thread that
 * competes with the sender.
 *
 * Context: tx_mutex held.
 */
static bool coalesce_follows(struct sanx_coalesce *g,
			     const struct sanx_conn *conn)
{
	u32 ns = READ_ONCE(sanx_net(conn->net)->nodelay_us) * NSEC_PER_USEC;
	u32 now = coalesce_now();
	bool near, follows;

	near = now - g->last < ns / 4;
	follows = near || (g->near && g->preempted != (u32)current->nivcsw);
	if (g->slept != (u32)current->nvcsw || !ns)
		follows = false;
	if (!READ_ONCE(g->armed)) {
		WRITE_ONCE(g->ns, READ_ONCE(g->fast) ? ns : ns / 2);
		g->since = now;
	} else if (now - g->since >= g->ns) {
		follows = false;
	}
	g->near = near;
	coalesce_note(g, now);
	return follows;
}

/*
 * A timer that runs for the other kind of delay is not changed.  Until it has
 * expired, nothing is held back.
 * Context: tx_mutex held.
 */
static bool coalesce_switch(struct sanx_coalesce *g, bool quick)
{
	if (likely(g->quick == quick))
		return true;
	if (READ_ONCE(g->armed))
		return false;
	WRITE_ONCE(g->quick, quick);
	return true;
}

/*
 * The sender streams.  Not inline, because requests and answers are announced
 * without this.
 * Context: tx_mutex held.
 */
static noinline bool coalesce_holds(struct sanx_coalesce *g,
				    const struct sanx_conn *conn, size_t len,
				    bool quick)
{
	/* Once the timer has expired, nothing is held back. */
	u32 held = READ_ONCE(g->armed) ? g->held : 0;

	if (quick && !coalesce_follows(g, conn))
		return false;
	if (held + len >= coalesce_limits[quick].bytes || !coalesce_can() ||
	    !coalesce_switch(g, quick))
		return false;
	WRITE_ONCE(g->held, held + len);
	return true;
}

/**
 * sanx_coalesce_wants() - should these bytes be held back?
 * @g: of the sender
 * @conn: its connection
 * @len: bytes that are sent
 * @now: they must not be held back
 * @quick: TCP_NODELAY is set
 *
 * Context: process, tx_mutex held.
 * Return: true to hold them back; the caller must then call
 * sanx_coalesce_arm().  False to announce them, and all bytes that were held
 * back before.
 */
bool sanx_coalesce_wants(struct sanx_coalesce *g, const struct sanx_conn *conn,
			 size_t len, bool now, bool quick)
{
	int sends = READ_ONCE(g->sends);

	if (sends < INT_MAX)
		WRITE_ONCE(g->sends, ++sends);
	if (!now && len < g->ops->piece && sends > coalesce_limits[quick].after &&
	    coalesce_holds(g, conn, len, quick))
		return true;
	WRITE_ONCE(g->held, 0);
	return false;
}

/**
 * sanx_coalesce_sent() - a piece was announced that was not to be held back
 * @g: of the sender
 * @quick: TCP_NODELAY is set
 *
 * The time of the announcement does not count as a gap between pieces: over
 * verbs it includes the work of a software device.
 *
 * Context: process, tx_mutex held.
 */
void sanx_coalesce_sent(struct sanx_coalesce *g, bool quick)
{
	if (quick && READ_ONCE(g->sends) > QUICK_AFTER)
		coalesce_note(g, coalesce_now());
}

/**
 * sanx_coalesce_received() - the sender has received something
 * @g: of the sender
 *
 * A sender that was found not to stream remains so.
 *
 * Context: any.
 */
void sanx_coalesce_received(struct sanx_coalesce *g)
{
	if (READ_ONCE(g->sends) > 0)
		WRITE_ONCE(g->sends, 0);
}

/**
 * sanx_coalesce_push() - the sender waits for its peer: announce held back
 * bytes
 * @g: of the sender
 *
 * The connection may be closed meanwhile.  Over loop the peer may then be
 * freed, but not before a grace period after sanx_coalesce_stop().  Therefore
 * flush() runs under RCU.
 *
 * Context: any.
 */
void sanx_coalesce_push(struct sanx_coalesce *g)
{
	sanx_coalesce_received(g);
	rcu_read_lock();
	if (READ_ONCE(g->armed))
		g->ops->flush(g);
	rcu_read_unlock();
}

/**
 * sanx_coalesce_stop() - nothing is sent any more
 * @g: of the sender
 *
 * The timer does not run any more after this.
 *
 * Context: process, may sleep; no code runs or will run sanx_coalesce_arm() for
 * @g.
 */
void sanx_coalesce_stop(struct sanx_coalesce *g)
{
	hrtimer_cancel(&g->timer);
	WRITE_ONCE(g->armed, 0);
}
