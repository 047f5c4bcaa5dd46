/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A limit on events per second (generic cell rate algorithm, ITU-T I.371).
 *
 * The state is the time at which all events so far would have taken place, had they
 * come at the rate that is allowed.  That may be up to RATE_BURST_NS ahead of now, so
 * a burst of one second's events passes at once.  Pure: no lock, no clock.
 */
#ifndef _SANX_RATE_H
#define _SANX_RATE_H

#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#define RATE_BURST_NS	NSEC_PER_SEC

/**
 * struct sanx_rate - events that are limited
 * @until: see above, in ns; 0 at first
 */
struct sanx_rate {
	atomic64_t	until;
};

/**
 * sanx_rate_wait() - when may an event take place?
 * @rate: the state; changed only if it may now
 * @now: a clock that does not go back, in ns
 * @per_second: events that are allowed per second, 1 to NSEC_PER_SEC
 *
 * Context: any; callers may race.
 * Return: 0, and it counts; else ns until it may, if no other is first.
 */
static inline u64 sanx_rate_wait(struct sanx_rate *rate, u64 now,
				 u32 per_second)
{
	u64 cost = (u32)NSEC_PER_SEC / per_second;
	s64 was = atomic64_read(&rate->until);
	u64 next;

	do {
		next = max_t(u64, was, now) + cost;
		if (next > now + RATE_BURST_NS)
			return next - now - RATE_BURST_NS;
	} while (!atomic64_try_cmpxchg(&rate->until, &was, next));
	return 0;
}

#endif /* _SANX_RATE_H */
