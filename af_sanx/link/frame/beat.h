/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The heartbeat: when a link asks its peer for an answer, when it is lost because none
 * comes, and how long it need not look.
 *
 * Links of several lanes that go by the same rail to the same node find the same out, so one
 * of them asks for all (BEAT_ASKS), and the others rely on it (BEAT_LEANS).  One of those
 * that nobody uses rests: it costs a look in a minute.  It leans again when something is sent
 * on it, or when the one that asks has doubts.
 *
 *	BEAT_ASKS <--care--> BEAT_LEANS --idle--> BEAT_RESTS
 *	    ^		         ^                    |  |
 *	    |			 +- a frame, a doubt -+  |
 *	    +------------------------ care --------------+
 *
 * With another rail, of the time after which a silent link is lost (failover_ms), 3/8 pass
 * until it asks, 1/8 until it has doubts and the others ask, too, and 1/2 is for their
 * answers.  So all links of a rail are lost at the same time, and on each was asked before.
 * Of its two ends, the active one asks a little sooner: the other hears that and need not.
 *
 * This code takes no lock, reads no clock and needs only the kernel's types;
 * kunit/beat_test.c tests it.
 */
#ifndef _SANX_BEAT_H
#define _SANX_BEAT_H

#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Heartbeats of silence after which a link is lost if there is no other rail. */
#define BEATS_LOST	20
/* Heartbeats between two looks at a link that rests. */
#define BEATS_REST	60

/**
 * enum beat_pace - how closely a link looks after its peer
 * @BEAT_ASKS: it asks when it has heard nothing for some time
 * @BEAT_LEANS: another link of the rail does; this one asks if it is used and is not
 *	answered
 * @BEAT_RESTS: likewise, and it is not used
 */
enum beat_pace {
	BEAT_ASKS,
	BEAT_LEANS,
	BEAT_RESTS,
};

/**
 * enum beat_sees - why a link may have to ask, or must not rest; bits
 * @BEAT_USED: a frame waits for its acknowledgment
 * @BEAT_LATE: it has waited for as long as beat_idle()
 * @BEAT_MEASURES: the round trip is to be known
 * @BEAT_EXPECTS: frames wait to be sent or answered, or connections are to continue on it
 */
enum beat_sees {
	BEAT_USED	= BIT(0),
	BEAT_LATE	= BIT(1),
	BEAT_MEASURES	= BIT(2),
	BEAT_EXPECTS	= BIT(3),
	/* private: */
	__BEAT_SEES	= BIT(4)
};

/**
 * struct beat - what the heartbeat of a link knows; times in jiffies
 * @heard: when the last frame arrived
 * @asked: when the first question after @heard was due; not after @heard if none was
 * @every: heartbeat_ms
 * @failover: failover_ms if connections could go by another rail, else 0
 * @setup: how long a link that is not up yet may be silent; 0 if it is up
 * @pace: the pace
 * @active: this end has asked for the link
 */
struct beat {
	unsigned long	heard;
	unsigned long	asked;
	unsigned long	every;
	unsigned long	failover;
	unsigned long	setup;
	enum beat_pace	pace;
	bool		active;
};

/**
 * beat_idle() - for how long does a link that asks hear nothing until it does?
 * @b: the link
 *
 * Return: jiffies, not 0.
 */
static inline unsigned long beat_idle(const struct beat *b)
{
	unsigned long idle = b->every;

	if (b->failover)
		idle = min(idle, b->failover * 3 / 8);
	return max(b->active ? idle : idle + idle / 6, 1UL);
}

/**
 * beat_waits() - is a question not answered?
 * @b: the link
 *
 * Return: true if so.
 */
static inline bool beat_waits(const struct beat *b)
{
	return time_before(b->heard, b->asked);
}

static inline unsigned long beat_doubt_at(const struct beat *b)
{
	if (b->failover && b->failover / 8 < b->every)
		return b->asked + max(b->failover / (b->active ? 8 : 16), 2UL);
	return b->asked + b->every;
}

/**
 * beat_doubts() - has the peer not answered one link, so that the others ask, too?
 * @b: the link
 * @now: the time
 *
 * Return: true if so.
 */
static inline bool beat_doubts(const struct beat *b, unsigned long now)
{
	return b->pace == BEAT_ASKS && beat_waits(b) && time_after_eq(now, beat_doubt_at(b));
}

/*
 * A link that rests has heard nothing for long: what counts is when it has asked, or when
 * that one has that asks for it.
 */
static inline unsigned long beat_lost_at(const struct beat *b)
{
	unsigned long most = BEATS_LOST * b->every, silent, unanswered;

	if (b->setup)
		return b->heard + b->setup;
	if (b->failover)
		most = min(most, b->failover);
	silent = b->heard + most;
	unanswered = b->asked + most - min(most / 2, beat_idle(b));
	return time_after(unanswered, silent) ? unanswered : silent;
}

/**
 * beat_lost() - has a link been silent for too long?
 * @b: the link
 * @now: the time
 *
 * Return: true if so.
 */
static inline bool beat_lost(const struct beat *b, unsigned long now)
{
	return (b->setup || beat_waits(b)) && time_after_eq(now, beat_lost_at(b));
}

/**
 * beat_asks() - does a link ask now?
 * @b: the link
 * @sees: set of enum beat_sees
 * @now: the time
 *
 * Return: true if so.
 */
static inline bool beat_asks(const struct beat *b, u32 sees, unsigned long now)
{
	unsigned long idle = beat_idle(b);

	if (b->setup)
		return false;
	if (sees & (BEAT_LATE | BEAT_MEASURES))
		return true;
	if (b->pace != BEAT_ASKS && !(sees & BEAT_EXPECTS))
		idle = BEATS_REST * b->every;
	return time_after_eq(now, b->heard + idle);
}

/**
 * beat_pace() - what pace does a link have from now on?
 * @b: the link
 * @sees: set of enum beat_sees
 * @now: the time
 *
 * Return: the pace.
 */
static inline enum beat_pace beat_pace(const struct beat *b, u32 sees, unsigned long now)
{
	if (b->pace == BEAT_ASKS)
		return BEAT_ASKS;
	if (b->setup || sees || beat_waits(b) || time_before(now, b->heard + beat_idle(b)))
		return BEAT_LEANS;
	return BEAT_RESTS;
}

/**
 * beat_next() - for how long need a link not look?
 * @b: the link, after it has asked if it does
 * @now: the time
 *
 * Return: jiffies, not 0.
 */
static inline unsigned long beat_next(const struct beat *b, unsigned long now)
{
	unsigned long at = b->heard + beat_idle(b);

	if (b->setup)
		at = now + beat_idle(b);
	else if (b->pace == BEAT_RESTS)
		at = now + BEATS_REST * b->every;
	else if (beat_waits(b))
		at = beat_doubts(b, now) || b->pace != BEAT_ASKS ? now + beat_idle(b) :
								   beat_doubt_at(b);
	else if (time_before_eq(at, now))
		at = now + beat_idle(b);
	if ((b->setup || beat_waits(b)) && time_before(beat_lost_at(b), at))
		at = beat_lost_at(b);
	return time_after(at, now) ? at - now : 1;
}

#endif /* _SANX_BEAT_H */
