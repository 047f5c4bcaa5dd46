// SPDX-License-Identifier: GPL-2.0
/*
 * Coalescing (gather in names): delays the announcement of many small pieces.
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
 * - GATHER_BYTES are there, or over loop half of the ring is full;
 * - the sender looks for an answer: recv() that finds nothing, or poll() for
 *   it;
 * - the stream ends, by shutdown(), close() or a reset, each of which wakes the
 *   peer itself;
 * - GATHER_NS have passed, or twice that where pieces come fast.  TCP's limit
 *   is 40 ms.
 *
 * Only senders that stream are delayed.  The first GATHER_AFTER sends without
 * anything received in between are announced at once, so requests and answers
 * have no delay, also those in a few pieces.  TCP_NODELAY, urgent data and
 * large pieces have no delay either.  If fewer than GATHER_AFTER sends come
 * before the timer expires, twice in a row, the sender does not stream, and its
 * next GATHER_PAUSE sends are announced at once.
 *
 * No bytes are forgotten.  sanx_gather_arm() comes after the bytes were
 * published, and sets @armed with xchg(), a full barrier.  gather_timer()
 * clears @armed with smp_store_mb() before it looks for bytes.  So either the
 * timer finds the bytes, or sanx_gather_arm() finds @armed clear and starts the
 * timer again.
 *
 * conn->tx_mutex guards @held.  The other fields have no lock, see struct
 * sanx_gather in transport.h.
 */
#include <linux/hrtimer.h>
#include <linux/sched/rt.h>

#include "internal.h"

/*
 * 64 pieces of a KiB, or some of a few KiB, so that the announcement is a small
 * part of the cost.  Also half of a ring of the usual size, so that the reader
 * has something to do while a sender on another CPU continues.
 */
#define GATHER_BYTES	65536
#define GATHER_NS	(100 * NSEC_PER_USEC)
#define GATHER_AFTER	4
#define GATHER_FAST	16
#define GATHER_PAUSE	64

/*
 * Does the sender stream?  It must fail twice in a row, because it can fail
 * once when the reader had its CPU.
 */
static void gather_judge(struct sanx_gather *g)
{
	/*
	 * Above INT_MAX if this end has received something since it was armed.
	 */
	unsigned int sends = READ_ONCE(g->sends) - READ_ONCE(g->armed_at);

	WRITE_ONCE(g->fast, sends >= GATHER_FAST && sends <= INT_MAX);
	if (sends >= GATHER_AFTER) {
		g->slow = false;
	} else if (!g->slow) {
		g->slow = true;
	} else {
		g->slow = false;
		WRITE_ONCE(g->sends, -GATHER_PAUSE);
	}
}

static enum hrtimer_restart gather_timer(struct hrtimer *timer)
{
	struct sanx_gather *g = container_of(timer, struct sanx_gather, timer);

	gather_judge(g);
	/* Pairs with xchg() in sanx_gather_arm(). */
	smp_store_mb(g->armed, 0);
	g->flush(g);
	return HRTIMER_NORESTART;
}

/**
 * sanx_gather_arm() - bytes are held back: limit the delay
 * @g: of the sender; sanx_gather_wants() has returned true
 *
 * sanx_gather.flush() must find the bytes already.  An armed timer is not
 * changed, even if its bytes were announced meanwhile: a timer that expires for
 * nothing now and then costs less than setting it each time.
 *
 * Context: process, tx_mutex held.
 */
void sanx_gather_arm(struct sanx_gather *g)
{
	/*
	 * The bytes were published before.  Pairs with smp_store_mb() in
	 * gather_timer().
	 */
	if (xchg(&g->armed, 1))
		return;
	WRITE_ONCE(g->armed_at, READ_ONCE(g->sends));
	hrtimer_start(&g->timer,
		      ns_to_ktime(GATHER_NS << READ_ONCE(g->fast)),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * sanx_gather_init() - initialise coalescing
 * @g: zeroed or stopped
 * @piece: bytes from which a piece is not coalesced, because the announcement
 *	costs little compared with it
 * @flush: announces held back bytes, if there are any; called in any context
 */
void sanx_gather_init(struct sanx_gather *g, u32 piece,
		      void (*flush)(struct sanx_gather *g))
{
	g->piece = piece;
	g->flush = flush;
	hrtimer_init(&g->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	g->timer.function = gather_timer;
}

/*
 * Can the delay be bounded?  A timer without high resolution would take
 * milliseconds.  A real-time sender could keep the timer from its CPU for an
 * unbounded time (PREEMPT_RT).
 */
static bool gather_can(void)
{
	return hrtimer_resolution <= GATHER_NS && !rt_task(current);
}

/**
 * sanx_gather_wants() - should these bytes be held back?
 * @g: of the sender
 * @len: bytes that are sent
 * @now: they must not be held back
 *
 * Context: process, tx_mutex held.
 * Return: true to hold them back; the caller must then call sanx_gather_arm().
 * False to announce them, and all bytes that were held back before.
 */
bool sanx_gather_wants(struct sanx_gather *g, size_t len, bool now)
{
	int sends = READ_ONCE(g->sends);

	if (sends < INT_MAX)
		WRITE_ONCE(g->sends, ++sends);
	if (!now && len < g->piece && sends > GATHER_AFTER &&
	    g->held + len < GATHER_BYTES && gather_can()) {
		g->held += len;
		return true;
	}
	g->held = 0;
	return false;
}

/**
 * sanx_gather_push() - the sender waits for its peer: announce held back bytes
 * @g: of the sender
 *
 * The connection may be closed meanwhile.  Over loop the peer may then be
 * freed, but not before a grace period after sanx_gather_stop().  Therefore
 * flush() runs under RCU.
 *
 * Context: any.
 */
void sanx_gather_push(struct sanx_gather *g)
{
	WRITE_ONCE(g->sends, 0);
	rcu_read_lock();
	if (READ_ONCE(g->armed))
		g->flush(g);
	rcu_read_unlock();
}

/**
 * sanx_gather_received() - the sender has received something
 * @g: of the sender
 *
 * Context: any.
 */
void sanx_gather_received(struct sanx_gather *g)
{
	WRITE_ONCE(g->sends, 0);
}

/**
 * sanx_gather_stop() - nothing is sent any more
 * @g: of the sender
 *
 * The timer does not run any more after this.
 *
 * Context: process, may sleep; no code runs or will run sanx_gather_arm() for
 * @g.
 */
void sanx_gather_stop(struct sanx_gather *g)
{
	hrtimer_cancel(&g->timer);
	WRITE_ONCE(g->armed, 0);
}
