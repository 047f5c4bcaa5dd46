// SPDX-License-Identifier: GPL-2.0
/*
 * Gathering: a sender of many small pieces does not wake the reader for each.
 *
 * Waking a reader that sleeps, and its going to sleep again, cost more than a
 * small piece itself.  TCP has Nagle's rule against small pieces, and keeps
 * them back until what went before is acknowledged; so do the rules of SOVIA
 * and of SCI SOCKET.  Here nothing is kept back: the bytes are in the reader's
 * ring at once, and a reader that looks, by recv(), poll() or FIONREAD, finds
 * them.  What waits is the wake-up of one that sleeps, until
 *
 * - GATHER_BYTES are there, or half of the ring is full;
 * - the sender looks for an answer: recv() that finds nothing, poll() for it;
 * - the stream ends, by shutdown(), close() or a reset, which wakes by itself;
 * - the time is over: GATHER_NS.  TCP's is 40 ms.
 *
 * Only who streams is gathered from: the first GATHER_AFTER sends without
 * anything received in between wake at once, so requests and answers, also in
 * a few pieces, know no delay.  Nor do TCP_NODELAY, urgent data and large
 * pieces.  A sender that takes GATHER_NS for so few sends, and then does so
 * again, does not stream, and its next GATHER_PAUSE sends wake at once.
 *
 * No wake-up is lost: whoever holds one back finds the timer armed or arms it,
 * after the bytes were published, and the timer is disarmed before it looks for
 * bytes.  One of the two sees the other.
 */
#include <linux/hrtimer.h>
#include <linux/sched/rt.h>

#include "af_sanx.h"

/*
 * Many pieces of one KiB, or some of a few, so that the wake-up is a small part;
 * a quarter of a ring of usual size, so that the reader has something to do while
 * a sender on another CPU goes on.  Against a piece of GATHER_PIECE a wake-up is
 * little.
 */
#define GATHER_BYTES	32768
#define GATHER_PIECE	8192
#define GATHER_NS	(50 * NSEC_PER_USEC)
#define GATHER_AFTER	4
#define GATHER_PAUSE	64

static void gather_wake(struct sanx_gather *g)
{
	/* Who has read it all by now need not be woken to find nothing. */
	if (sanx_rxq_avail(&g->peer->rx))
		sanx_conn_rx_ready(g->peer);
}

/*
 * Does the sender stream?  Twice in a row it must not have, as once can mean
 * that the reader had its CPU.
 */
static void gather_judge(struct sanx_gather *g)
{
	/* Fewer than when it was armed: it has received something since. */
	unsigned int sends = READ_ONCE(g->sends) - READ_ONCE(g->armed_at);

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
	/* Disarmed before the ring is looked at; pairs with gather_arm(). */
	smp_store_mb(g->armed, 0);
	gather_wake(g);
	return HRTIMER_NORESTART;
}

/*
 * An armed timer is left alone, also where its bytes were announced meanwhile:
 * that it runs now and then for nothing is cheaper than setting it each time.
 */
static void gather_arm(struct sanx_gather *g)
{
	/* The bytes are published before this; pairs with gather_timer(). */
	if (xchg(&g->armed, 1))
		return;
	WRITE_ONCE(g->armed_at, READ_ONCE(g->sends));
	hrtimer_start(&g->timer, ns_to_ktime(GATHER_NS),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * sanx_gather_init() - begin without anything gathered
 * @g: it, zeroed
 * @peer: the reader's connection; stays until sanx_gather_stop()
 */
void sanx_gather_init(struct sanx_gather *g, struct sanx_conn *peer)
{
	g->peer = peer;
	hrtimer_init(&g->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	g->timer.function = gather_timer;
}

/*
 * A timer that only goes by the tick would make it milliseconds, and one that a
 * real-time sender keeps from its CPU could make it any time (PREEMPT_RT).
 */
static bool gather_can(void)
{
	return hrtimer_resolution <= GATHER_NS && !rt_task(current);
}

/**
 * sanx_gather_sent() - bytes arrived in the peer's ring: wake it, now or soon
 * @g: of the sender
 * @len: how many
 * @now: not later
 *
 * Context: process, tx_mutex held.
 */
void sanx_gather_sent(struct sanx_gather *g, u32 len, bool now)
{
	int sends = READ_ONCE(g->sends);

	if (sends < INT_MAX)
		WRITE_ONCE(g->sends, ++sends);
	g->held += len;
	if (!now && len < GATHER_PIECE && sends > GATHER_AFTER &&
	    g->held < GATHER_BYTES && gather_can()) {
		gather_arm(g);
		return;
	}
	g->held = 0;
	sanx_conn_rx_ready(g->peer);
}

/**
 * sanx_gather_push() - the sender waits for its peer: wake it now
 * @g: of the sender
 *
 * The connection can be closed meanwhile, and the peer be gone: a grace period
 * after sanx_gather_stop() at the earliest.
 *
 * Context: any.
 */
void sanx_gather_push(struct sanx_gather *g)
{
	WRITE_ONCE(g->sends, 0);
	rcu_read_lock();
	if (READ_ONCE(g->armed))
		gather_wake(g);
	rcu_read_unlock();
}

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

/**
 * sanx_gather_stop() - nothing is sent any more
 * @g: of the sender
 *
 * The peer has been told of the end.  No timer runs after this.
 *
 * Context: process, may sleep; nobody is in sanx_gather_sent() nor comes there.
 */
void sanx_gather_stop(struct sanx_gather *g)
{
	hrtimer_cancel(&g->timer);
	WRITE_ONCE(g->armed, 0);
}
