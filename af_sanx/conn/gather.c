// SPDX-License-Identifier: GPL-2.0
/*
 * Gathering: a sender of many small pieces does not bother the peer with each.
 *
 * Over loop, waking a reader that sleeps, and its going to sleep again, cost
 * more than a small piece itself; over verbs, a message does.  TCP has Nagle's
 * rule against small pieces, and keeps them back until what went before is
 * acknowledged; so do the rules of SOVIA and of SCI SOCKET.  Over loop nothing
 * is kept back: the bytes are in the reader's ring at once, and a reader that
 * looks, by recv(), poll() or FIONREAD, finds them.  What waits is the wake-up
 * of one that sleeps; over verbs it is the message.  It waits until
 *
 * - GATHER_BYTES are there, or over loop half of the ring is full;
 * - the sender looks for an answer: recv() that finds nothing, poll() for it;
 * - the stream ends, by shutdown(), close() or a reset, which wakes by itself;
 * - the time is over: GATHER_NS, or twice that where pieces come fast.  TCP's is
 *   40 ms.
 *
 * Only who streams is gathered from: the first GATHER_AFTER sends without
 * anything received in between wake at once, so requests and answers, also in
 * a few pieces, know no delay.  Nor do TCP_NODELAY, urgent data and large
 * pieces.  A sender that takes GATHER_NS for so few sends, and then does so
 * again, does not stream, and its next GATHER_PAUSE sends wake at once.
 *
 * Nothing is forgotten: whoever holds bytes back finds the timer armed or arms
 * it, after the bytes were published, and the timer is disarmed before it looks
 * for bytes.  One of the two sees the other.
 */
#include <linux/export.h>
#include <linux/hrtimer.h>
#include <linux/sched/rt.h>

#include "internal.h"

/*
 * Many pieces of one KiB, or some of a few, so that the announcement is a small
 * part; half of a ring of usual size, so that the reader has something to do
 * while a sender on another CPU goes on.
 */
#define GATHER_BYTES	65536
#define GATHER_NS	(100 * NSEC_PER_USEC)
#define GATHER_AFTER	4
#define GATHER_FAST	16
#define GATHER_PAUSE	64

/*
 * Does the sender stream?  Twice in a row it must not have, as once can mean
 * that the reader had its CPU.
 */
static void gather_judge(struct sanx_gather *g)
{
	/* Fewer than when it was armed: it has received something since. */
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
	/* Disarmed before anyone looks for bytes; pairs with sanx_gather_arm(). */
	smp_store_mb(g->armed, 0);
	g->flush(g);
	return HRTIMER_NORESTART;
}

/**
 * sanx_gather_arm() - bytes are held back: not for long
 * @g: of the sender; sanx_gather_wants() said so
 *
 * The bytes are where sanx_gather.flush() finds them.  An armed timer is left
 * alone, also where its bytes were announced meanwhile: that it runs now and
 * then for nothing is cheaper than setting it each time.
 *
 * Context: process, tx_mutex held.
 */
void sanx_gather_arm(struct sanx_gather *g)
{
	/* The bytes are published before this; pairs with gather_timer(). */
	if (xchg(&g->armed, 1))
		return;
	WRITE_ONCE(g->armed_at, READ_ONCE(g->sends));
	hrtimer_start(&g->timer,
		      ns_to_ktime(GATHER_NS << READ_ONCE(g->fast)),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}
EXPORT_SYMBOL_GPL(sanx_gather_arm);

/**
 * sanx_gather_init() - begin without anything gathered
 * @g: it, zeroed or stopped
 * @piece: bytes against which an announcement is little
 * @flush: announces what is held back, if anything is; in any context
 */
void sanx_gather_init(struct sanx_gather *g, u32 piece,
		      void (*flush)(struct sanx_gather *g))
{
	g->piece = piece;
	g->flush = flush;
	hrtimer_init(&g->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	g->timer.function = gather_timer;
}
EXPORT_SYMBOL_GPL(sanx_gather_init);

/*
 * A timer that only goes by the tick would make it milliseconds, and one that a
 * real-time sender keeps from its CPU could make it any time (PREEMPT_RT).
 */
static bool gather_can(void)
{
	return hrtimer_resolution <= GATHER_NS && !rt_task(current);
}

/**
 * sanx_gather_wants() - are bytes to be held back?
 * @g: of the sender
 * @len: how many are sent
 * @now: they are not to be
 *
 * Context: process, tx_mutex held.
 * Return: true if so, and sanx_gather_arm() is to follow; false if they, and
 * all that was held back before, are to be announced now.
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
EXPORT_SYMBOL_GPL(sanx_gather_wants);

/**
 * sanx_gather_push() - the sender waits for its peer: announce what is held
 * @g: of the sender
 *
 * The connection can be closed meanwhile, and over loop the peer be gone: a
 * grace period after sanx_gather_stop() at the earliest.
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
EXPORT_SYMBOL_GPL(sanx_gather_push);

/**
 * sanx_gather_received() - the sender got an answer
 * @g: of the sender
 *
 * Context: any.
 */
void sanx_gather_received(struct sanx_gather *g)
{
	WRITE_ONCE(g->sends, 0);
}
EXPORT_SYMBOL_GPL(sanx_gather_received);

/**
 * sanx_gather_stop() - nothing is sent any more
 * @g: of the sender
 *
 * No timer runs after this.
 *
 * Context: process, may sleep; nobody is about to call sanx_gather_arm(), nor
 * comes there.
 */
void sanx_gather_stop(struct sanx_gather *g)
{
	hrtimer_cancel(&g->timer);
	WRITE_ONCE(g->armed, 0);
}
EXPORT_SYMBOL_GPL(sanx_gather_stop);
