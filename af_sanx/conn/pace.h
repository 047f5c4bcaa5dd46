/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a sender stream, and how fast?  hold_rule.h holds only such a one's bytes back.
 *
 * This code takes no lock and reads no clock; kunit/hold_test.c tests it.
 */
#ifndef _SANX_PACE_H
#define _SANX_PACE_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#define SANX_COALESCE_NS	(100 * NSEC_PER_USEC)
/* Sends that are announced at once before a sender is taken for a stream. */
#define SANX_COALESCE_AFTER	4
/* So many more in a delay that was too long for them show that it streams. */
#define SANX_COALESCE_MANY	2
/* With so many sends in a delay the next one is twice as long. */
#define SANX_COALESCE_FAST	16
/* Sends that are announced at once after a sender was found not to stream. */
#define SANX_COALESCE_PAUSE	64

/*
 * The same with TCP_NODELAY ("quick" in names).  Programs that pipeline requests
 * seldom have more than SANX_QUICK_AFTER of them without an answer.
 */
#define SANX_QUICK_AFTER	16
#define SANX_QUICK_FAST		8
#define SANX_QUICK_PAUSE_MAX	4096

/**
 * struct sanx_pace - does a sender stream, and how fast?
 * @sends: sends since this end last received anything, but for corked ones;
 *	below 0 after the sender was found not to stream
 * @armed_at: value of @sends when the delay began
 * @ns: longest delay with @quick; constant during a delay
 * @since: when the delay began, with @quick
 * @last: when the last send with TCP_NODELAY returned, or the delay ended
 * @slept: voluntary context switches of the task that has sent last with
 *	TCP_NODELAY
 * @preempted: likewise its involuntary ones
 * @pause: sends that will be announced at once when the sender is found not to
 *	stream
 * @slow: few sends came in the last delay
 * @fast: many sends came in the last delay
 * @quick: the delay is that with TCP_NODELAY; constant during a delay
 * @near: the last piece with TCP_NODELAY followed the one before fast
 *
 * Times are in ns modulo 2^32, to keep connections small.
 *
 * The sender calls these functions under conn->tx_mutex, except
 * sanx_pace_received() (any context) and sanx_pace_over() (the timer).  Several
 * CPUs may write @sends.  A lost count or a lost reset moves an announcement by
 * at most one delay.  So does a time that is taken for one of 4.3 s later.
 * The timer alone writes @pause.  It sets and clears @slow; the sender clears it, too.
 */
struct sanx_pace {
	int	sends;
	int	armed_at;
	u32	ns;
	u32	since;
	u32	last;
	u32	slept;
	u32	preempted;
	u16	pause;
	bool	slow;
	bool	fast;
	bool	quick;
	bool	near;
};

/**
 * struct sanx_pace_now - the clocks of the sending task
 * @ns: the time
 * @slept: its voluntary context switches
 * @preempted: its involuntary ones
 */
struct sanx_pace_now {
	u32	ns;
	u32	slept;
	u32	preempted;
};

/**
 * sanx_pace_init() - begin to look at a sender
 * @p: zeroed
 */
static inline void sanx_pace_init(struct sanx_pace *p)
{
	p->pause = SANX_COALESCE_PAUSE;
}

/**
 * sanx_pace_streams() - count a send: does the sender stream?
 * @p: of the sender
 * @quick: TCP_NODELAY
 *
 * The first sends without anything received in between are announced at once,
 * so requests and answers have no delay, also those in a few pieces.
 *
 * Return: true if so.
 */
static inline bool sanx_pace_streams(struct sanx_pace *p, bool quick)
{
	int sends = READ_ONCE(p->sends);

	if (likely(sends < INT_MAX))
		WRITE_ONCE(p->sends, ++sends);
	return sends > (quick ? SANX_QUICK_AFTER : SANX_COALESCE_AFTER);
}

/**
 * sanx_pace_received() - the sender has received something
 * @p: of the sender
 *
 * A sender that was found not to stream remains so.
 */
static inline void sanx_pace_received(struct sanx_pace *p)
{
	if (READ_ONCE(p->sends) > 0)
		WRITE_ONCE(p->sends, 0);
}

/**
 * sanx_pace_sent() - a send with TCP_NODELAY returns
 * @p: of the sender
 * @now: the clocks
 *
 * The time of an announcement does not count as a gap between pieces: over
 * verbs it includes the work of a software device.
 */
static inline void sanx_pace_sent(struct sanx_pace *p,
				  const struct sanx_pace_now *now)
{
	p->slept = now->slept;
	p->preempted = now->preempted;
	WRITE_ONCE(p->last, now->ns);
}

/**
 * sanx_pace_follows() - TCP_NODELAY: does a send follow the previous one fast?
 * @p: of the sender
 * @now: the clocks
 * @longest: the longest delay, in ns; 0 for none
 * @armed: a delay has begun
 *
 * TCP_NODELAY turns Nagle's rule off: a piece does not wait for the peer.  TCP
 * coalesces such pieces too, while the device has not sent what was sent before
 * (tcp_should_autocork()); the completion of the device ends the delay, and
 * network devices delay their interrupts in addition.  Over loop there is no
 * device.  Over verbs most work asks for no completion (wr_signal()), so the
 * end of it is not known.  Therefore the clock limits the delay here.
 *
 * A sender that has slept since the previous send has waited for something.  One
 * that was preempted after a fast piece may be late for lack of the CPU only: on
 * one CPU, the reader takes it after each announcement.  So a sender that
 * announces each event when it happens, and sleeps or works in between, is never
 * delayed.
 *
 * The timer may expire while such a sender has no CPU, and sanx_pace_over() then takes
 * it for one that does not go on.  The send that follows takes that back: it clears
 * @p->slow.
 *
 * Bytes that are held back are announced after @p->ns here too, because the
 * timer may be late: under PREEMPT_RT, and under load elsewhere, it runs in a
 * thread that competes with the sender.
 *
 * Return: true if it follows within a quarter of the longest delay, and the
 * delay is not over.
 */
static inline bool sanx_pace_follows(struct sanx_pace *p,
				     const struct sanx_pace_now *now,
				     u32 longest, bool armed)
{
	/* hold_timer() writes it, too. */
	bool near = now->ns - READ_ONCE(p->last) < longest / 4;
	bool late = !near && p->near && p->preempted != now->preempted;
	bool follows = near || late;

	if (p->slept != now->slept || !longest)
		follows = false;
	else if (late)
		WRITE_ONCE(p->slow, false);
	if (!armed) {
		WRITE_ONCE(p->ns, READ_ONCE(p->fast) ? longest : longest / 2);
		p->since = now->ns;
	} else if (now->ns - p->since >= p->ns) {
		follows = false;
	}
	p->near = near;
	sanx_pace_sent(p, now);
	return follows;
}

/**
 * sanx_pace_turn() - may a delay of this kind begin, or go on?
 * @p: of the sender
 * @quick: TCP_NODELAY
 * @armed: a delay has begun
 *
 * A timer that runs for the other kind of delay is not changed.  Until it has
 * expired, nothing is coalesced.
 *
 * Return: true if so.
 */
static inline bool sanx_pace_turn(struct sanx_pace *p, bool quick, bool armed)
{
	if (likely(p->quick == quick))
		return true;
	if (armed)
		return false;
	WRITE_ONCE(p->quick, quick);
	return true;
}

/**
 * sanx_pace_begin() - a delay begins
 * @p: of the sender
 *
 * Return: its longest time, in ns.
 */
static inline u32 sanx_pace_begin(struct sanx_pace *p)
{
	WRITE_ONCE(p->armed_at, READ_ONCE(p->sends));
	return p->quick ? p->ns : SANX_COALESCE_NS << READ_ONCE(p->fast);
}

/*
 * With TCP_NODELAY the sender streams if it has just sent: the end of a burst
 * must not be late.  Without, fewer sends will do if they were so many bytes that
 * these did not have to wait for the end of the delay.
 */
static inline bool sanx_pace_goes_on(const struct sanx_pace *p, u32 sends,
				     u32 now, bool held)
{
	if (!READ_ONCE(p->quick))
		return sends >= (held ? SANX_COALESCE_AFTER : SANX_COALESCE_MANY);
	return now - READ_ONCE(p->last) < READ_ONCE(p->ns) / 2;
}

/**
 * sanx_pace_over() - a delay is over: was it worth while?
 * @p: of the sender
 * @now: the time
 * @held: bytes are coalesced still; else they were announced meanwhile, because
 *	they were many
 *
 * A sender that does not go on, twice in a row, does not stream, and its next
 * sends are announced at once.  It must fail twice, because it can fail once when
 * the reader had its CPU; with TCP_NODELAY sanx_pace_follows() sees that, and the
 * failure does not count.  With TCP_NODELAY the number of these sends is doubled each
 * time that this happens again.
 */
static inline void sanx_pace_over(struct sanx_pace *p, u32 now, bool held)
{
	/* Above INT_MAX if this end has received something meanwhile. */
	u32 sends = READ_ONCE(p->sends) - READ_ONCE(p->armed_at);
	bool quick = READ_ONCE(p->quick);
	u32 fast = quick ? SANX_QUICK_FAST : SANX_COALESCE_FAST;

	WRITE_ONCE(p->fast, sends >= fast && sends <= INT_MAX);
	if (quick && !held)
		return;
	if (sanx_pace_goes_on(p, sends, now, held)) {
		WRITE_ONCE(p->slow, false);
		p->pause = SANX_COALESCE_PAUSE;
	} else if (!READ_ONCE(p->slow)) {
		WRITE_ONCE(p->slow, true);
	} else {
		WRITE_ONCE(p->slow, quick);
		WRITE_ONCE(p->sends, -(int)p->pause);
		if (quick)
			p->pause = min(2 * p->pause, SANX_QUICK_PAUSE_MAX);
	}
}

#endif /* _SANX_PACE_H */
