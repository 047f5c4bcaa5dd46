/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The links of a lane: whether one takes its connections, whether an attempt of ours is
 * under way, and what follows when one has failed.
 *
 *	LANE_DOWN       --attempt--> LANE_TRIES       --link--> LANE_UP
 *	LANE_UP         --attempt--> LANE_UP_TRIES    --link--> LANE_UP
 *	LANE_TRIES      --failed---> LANE_DOWN
 *	LANE_UP_TRIES   --failed---> LANE_UP          --lost--> LANE_DOWN
 *	LANE_UP_TRIES   --lost-----> LANE_TRIES
 *
 * A link of the peer takes the connections from any state, and ends an attempt of ours.
 * Standby lanes have the same states, though no connection uses their links.
 *
 * This code takes no lock, reads no clock and needs only the kernel's types;
 * kunit/lane_test.c tests it.
 */
#ifndef _SANX_LANE_H
#define _SANX_LANE_H

#include <linux/bits.h>
#include <linux/types.h>

/**
 * enum lane_state - the links of a lane
 * @LANE_DOWN: there is none, and we do not try for one; the peer may
 * @LANE_TRIES: there is none, and an attempt of ours is under way
 * @LANE_UP: a link takes the connections
 * @LANE_UP_TRIES: likewise, and an attempt of ours is under way, for another rail
 */
enum lane_state {
	LANE_DOWN,
	LANE_TRIES,
	LANE_UP,
	LANE_UP_TRIES,
	/* private: */
	__LANE_STATES
};

/**
 * enum lane_event - what happens to the links of a lane
 * @LANE_ATTEMPT: an attempt of ours begins
 * @LANE_FAILED: it has failed, run out of time, or given way to the peer's, or to one on a
 *	rail that works
 * @LANE_LINK: a link, of either node, takes the connections from here on
 * @LANE_LOST: the link that took them does not any more
 * @LANE_STOPS: nothing is to be left
 */
enum lane_event {
	LANE_ATTEMPT,
	LANE_FAILED,
	LANE_LINK,
	LANE_LOST,
	LANE_STOPS,
	/* private: */
	__LANE_EVENTS
};

/**
 * lane_next() - the state that follows
 * @state: the state
 * @event: what happens
 *
 * Return: the next state; __LANE_STATES if that cannot happen.
 */
static inline enum lane_state lane_next(enum lane_state state, enum lane_event event)
{
	static const u8 next[__LANE_STATES][__LANE_EVENTS] = {
		[LANE_DOWN] = {
			[LANE_ATTEMPT]	= LANE_TRIES,
			[LANE_FAILED]	= __LANE_STATES,
			[LANE_LINK]	= LANE_UP,
			[LANE_LOST]	= __LANE_STATES,
			[LANE_STOPS]	= LANE_DOWN,
		},
		[LANE_TRIES] = {
			[LANE_ATTEMPT]	= __LANE_STATES,
			[LANE_FAILED]	= LANE_DOWN,
			[LANE_LINK]	= LANE_UP,
			[LANE_LOST]	= __LANE_STATES,
			[LANE_STOPS]	= LANE_DOWN,
		},
		[LANE_UP] = {
			[LANE_ATTEMPT]	= LANE_UP_TRIES,
			[LANE_FAILED]	= __LANE_STATES,
			[LANE_LINK]	= LANE_UP,
			[LANE_LOST]	= LANE_DOWN,
			[LANE_STOPS]	= LANE_DOWN,
		},
		[LANE_UP_TRIES] = {
			[LANE_ATTEMPT]	= __LANE_STATES,
			[LANE_FAILED]	= LANE_UP,
			[LANE_LINK]	= LANE_UP,
			[LANE_LOST]	= LANE_TRIES,
			[LANE_STOPS]	= LANE_DOWN,
		},
	};

	return next[state][event];
}

/**
 * enum lane_sees - what decides about the next attempt; bits
 * @LANE_RUNS: the namespace may have links
 * @LANE_CARRIES: the link that takes the connections is up, and not about to go
 * @LANE_WAITED: a connect() waits for a link
 * @LANE_SUSPENDS: a connection has lost its link
 * @LANE_UNTRIED: there are rails that were not tried; with LANE_CARRIES, only those that
 *	connections are not to leave
 * @LANE_TIME: the time for a link is not over
 */
enum lane_sees {
	LANE_RUNS	= BIT(0),
	LANE_CARRIES	= BIT(1),
	LANE_WAITED	= BIT(2),
	LANE_SUSPENDS	= BIT(3),
	LANE_UNTRIED	= BIT(4),
	LANE_TIME	= BIT(5),
	/* private: */
	__LANE_SEES	= BIT(6)
};

/**
 * enum lane_then - what follows an attempt that has failed
 * @LANE_RESTS: nothing; whoever needs a link tries again
 * @LANE_REFUSES: those who wait become TCP, and others do not wait for some time
 * @LANE_GOES_ON: the next rail is tried, or one once more
 */
enum lane_then {
	LANE_RESTS,
	LANE_REFUSES,
	LANE_GOES_ON,
};

/**
 * lane_after_failure() - an attempt has failed: what follows?
 * @state: the state since: LANE_DOWN or LANE_UP
 * @sees: set of enum lane_sees
 *
 * Return: what follows.
 */
static inline enum lane_then lane_after_failure(enum lane_state state, u32 sees)
{
	bool wanted = sees & (LANE_WAITED | LANE_SUSPENDS);
	u32 more = LANE_RUNS | LANE_UNTRIED | LANE_TIME;

	/* It was for another rail.  Who waits does so because connections are to leave this one. */
	if (sees & LANE_CARRIES && sees & LANE_WAITED)
		return (sees & more) == more ? LANE_GOES_ON : LANE_REFUSES;
	if (sees & LANE_CARRIES || (state == LANE_UP && !wanted))
		return LANE_RESTS;
	if (!(sees & LANE_RUNS))
		return LANE_REFUSES;
	/* Whoever connects next tries the others, if there are any. */
	if (!wanted)
		return sees & LANE_UNTRIED ? LANE_RESTS : LANE_REFUSES;
	return sees & LANE_TIME ? LANE_GOES_ON : LANE_REFUSES;
}

#endif /* _SANX_LANE_H */
