/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rails to a node: which one is tried next, and when a better one is.
 *
 * Rails have numbers, in the order of preference of the node map.  A rail that
 * fails is held: others are preferred to it for a time, which doubles with each
 * failure in a row.  So connections do not move to a rail that comes and goes as often
 * as it comes.  A rail on which a link was up for RAILS_STABLE has done well, and what
 * was before does not count any more.
 *
 * A held rail is still tried if there is nothing else.
 *
 * This code takes no lock, reads no clock and needs only the kernel's types;
 * kunit/rails_test.c tests it.
 */
#ifndef _SANX_RAILS_H
#define _SANX_RAILS_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define RAILS_MAX	4U
/* Most doublings of the time for which a rail is held. */
#define RAILS_DOUBLE	4U
/* Times for which a rail is held first that make a link on it a success. */
#define RAILS_STABLE	16U

/**
 * struct rails - rails to a node.  All 0: none has failed
 * @rail: by number
 * @rail.fails: failures in a row
 * @rail.until: end of the time for which it is held, if @fails is not 0
 * @rail.was_up: a link has come up since the last failure
 * @rail.up: when, if @was_up
 *
 * Times are in the caller's unit, modulo its range.  The caller serialises all calls
 * for one object (lnet.lock).
 */
struct rails {
	struct {
		unsigned int	fails;
		unsigned long	until;
		bool		was_up;
		unsigned long	up;
	} rail[RAILS_MAX];
};

static inline bool rails_held(const struct rails *r, unsigned int i,
			      unsigned long now)
{
	return r->rail[i].fails && (long)(now - r->rail[i].until) < 0;
}

/**
 * rails_choose() - which rail to try
 * @r: the rails
 * @usable: set of rails that may be tried
 * @now: the time
 *
 * Return: the first one that is not held; else the one whose time ends first;
 * RAILS_MAX if @usable is empty.
 */
static inline unsigned int rails_choose(const struct rails *r, u32 usable,
					unsigned long now)
{
	unsigned int i, best = RAILS_MAX;

	for (i = 0; i < RAILS_MAX; i++) {
		if (!(usable & BIT(i)))
			continue;
		if (!rails_held(r, i, now))
			return i;
		if (best == RAILS_MAX ||
		    (long)(r->rail[i].until - r->rail[best].until) < 0)
			best = i;
	}
	return best;
}

/**
 * rails_failed() - an attempt on a rail has failed, or its link was lost
 * @r: the rails
 * @i: number of the rail
 * @now: the time
 * @hold: how long a rail is held first
 * @jitter: any number; so that not all nodes try at once
 *
 * The time does not become longer while it is held, unless it has done well since.
 */
static inline void rails_failed(struct rails *r, unsigned int i,
				unsigned long now, unsigned long hold,
				u32 jitter)
{
	bool stable = r->rail[i].was_up &&
		      now - r->rail[i].up >= RAILS_STABLE * hold;
	unsigned long time;

	r->rail[i].was_up = false;
	if (stable)
		r->rail[i].fails = 0;
	/* Its other links are lost for the same reason. */
	else if (rails_held(r, i, now))
		return;
	time = hold << min(r->rail[i].fails, RAILS_DOUBLE);
	r->rail[i].fails++;
	r->rail[i].until = now + time + jitter % (time / 4 + 1);
}

/**
 * rails_up() - a link has come up on a rail
 * @r: the rails
 * @i: number of the rail
 * @now: the time
 */
static inline void rails_up(struct rails *r, unsigned int i, unsigned long now)
{
	if (r->rail[i].was_up)
		return;
	r->rail[i].was_up = true;
	r->rail[i].up = now;
}

/**
 * rails_better() - find a rail that connections should move to
 * @r: the rails
 * @usable: set of rails that may be tried
 * @current_rail: number of the rail that is used
 * @now: the time
 * @wait: set to the time until there may be one, if there is none now
 *
 * Return: the best of the usable rails in front of @current_rail that is not held;
 * else RAILS_MAX, with @wait set to ULONG_MAX if there never will be one.
 */
static inline unsigned int rails_better(const struct rails *r, u32 usable,
					unsigned int current_rail,
					unsigned long now, unsigned long *wait)
{
	unsigned int i;

	*wait = ULONG_MAX;
	for (i = 0; i < current_rail && i < RAILS_MAX; i++) {
		if (!(usable & BIT(i)))
			continue;
		if (!rails_held(r, i, now))
			return i;
		*wait = min(*wait, r->rail[i].until - now);
	}
	return RAILS_MAX;
}

#endif /* _SANX_RAILS_H */
