/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rails to a node: which one a lane tries, and when it moves to another.
 *
 * Rails have numbers, in the order of preference of the node map.  A rail that
 * fails is held: others are preferred to it for a time, which doubles with each
 * failure in a row.  So connections do not move to a rail that comes and goes as often
 * as it comes.  A rail on which a link was up for RAILS_STABLE has done well, and what
 * was before does not count any more.
 *
 * A held rail is still tried if there is nothing else.
 *
 * The rails that carry connections are the tier: the first rail that can, or, if the
 * load is to be spread, all that can of the same kind as the first.  Each lane uses
 * one rail of the tier, in proportion to the weights of the rails.
 *
 * This code takes no lock, reads no clock and needs only the kernel's types;
 * kunit/rails_test.c tests it.
 */
#ifndef _SANX_RAILS_H
#define _SANX_RAILS_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#define RAILS_MAX	4U
/* Most doublings of the time for which a rail is held. */
#define RAILS_DOUBLE	4U
/*
 * A link that has been up for so many times as long as a rail is held first is a success: the
 * failures before it are forgotten.
 */
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
 * struct rails_view - the rails as a lane sees them
 * @usable: set of rails that may be tried
 * @drain: set of rails that connections are to leave
 * @well: set of rails on which a link is up
 * @spread: the load is to be spread over equal rails
 * @kind: what kind each rail is of
 * @weight: the part of the load that each rail shall have; one of 0 has none while
 *	another rail can
 * @load: other lanes that use, or try, each rail
 */
struct rails_view {
	u32		usable;
	u32		drain;
	u32		well;
	bool		spread;
	u8		kind[RAILS_MAX];
	unsigned int	weight[RAILS_MAX];
	unsigned int	load[RAILS_MAX];
};

/**
 * rails_tier() - which rails share the load
 * @v: the rails
 * @among: set of those that can
 *
 * Return: a set; empty only if @among is.
 */
static inline u32 rails_tier(const struct rails_view *v, u32 among)
{
	unsigned int i, first = RAILS_MAX;
	u32 heavy = 0, tier = 0;

	for (i = 0; i < RAILS_MAX; i++)
		if (among & BIT(i) && v->weight[i])
			heavy |= BIT(i);
	among = heavy ?: among;
	for (i = 0; i < RAILS_MAX; i++) {
		if (!(among & BIT(i)))
			continue;
		if (first == RAILS_MAX)
			first = i;
		if (i == first || (v->spread && v->kind[i] == v->kind[first]))
			tier |= BIT(i);
	}
	return tier;
}

/* Would rail @a with one lane more have less to carry for its weight than @b? */
static inline bool rails_lighter(const struct rails_view *v, unsigned int a,
				 unsigned int b)
{
	return (u64)(v->load[a] + 1) * max(v->weight[b], 1U) <
	       (u64)(v->load[b] + 1) * max(v->weight[a], 1U);
}

/* The rail of a tier that has the least to carry; RAILS_MAX if there is none. */
static inline unsigned int rails_lightest(const struct rails_view *v, u32 tier)
{
	unsigned int i, best = RAILS_MAX;

	for (i = 0; i < RAILS_MAX; i++)
		if (tier & BIT(i) &&
		    (best == RAILS_MAX || rails_lighter(v, i, best)))
			best = i;
	return best;
}

/* The rail whose time ends first. */
static inline unsigned int rails_soonest(const struct rails *r, u32 among)
{
	unsigned int i, best = RAILS_MAX;

	for (i = 0; i < RAILS_MAX; i++)
		if (among & BIT(i) &&
		    (best == RAILS_MAX ||
		     (long)(r->rail[i].until - r->rail[best].until) < 0))
			best = i;
	return best;
}

static inline u32 rails_not_held(const struct rails *r, u32 among,
				 unsigned long now)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++)
		if (rails_held(r, i, now))
			among &= ~BIT(i);
	return among;
}

/**
 * rails_choose() - which rail a lane without a link tries
 * @r: the rails
 * @v: the same, as the lane sees them
 * @tried: set of those that it has tried
 * @sure: connections wait, so one on which a link is up is preferred
 * @now: the time
 *
 * Return: one of those that are not held; else the one whose time ends first; else one
 * that connections are to leave; RAILS_MAX if there is none.
 */
static inline unsigned int rails_choose(const struct rails *r,
					const struct rails_view *v, u32 tried,
					bool sure, unsigned long now)
{
	u32 left = v->usable & ~tried, stay = left & ~v->drain;
	u32 ready = rails_not_held(r, stay, now);

	if (sure && ready & v->well)
		ready &= v->well;
	if (ready)
		return rails_lightest(v, rails_tier(v, ready));
	return rails_soonest(r, stay ?: left);
}

/**
 * rails_leave() - should a lane for which connections wait leave the rail that it tries?
 * @r: the rails
 * @v: the same, as the lane sees them
 * @tried: set of those that it has tried, with the one that it tries
 * @rail: that one
 * @now: the time
 *
 * Return: true if no link is up on that rail, and one is on another that it would try next.
 */
static inline bool rails_leave(const struct rails *r, const struct rails_view *v,
			       u32 tried, unsigned int rail, unsigned long now)
{
	u32 next = v->usable & ~v->drain & ~tried;

	if (rail >= RAILS_MAX || v->well & BIT(rail))
		return false;
	return rails_not_held(r, next, now) & v->well;
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
 * rails_refused() - the peer does not take a link on a rail now
 * @r: the rails
 * @i: number of the rail
 * @now: the time
 * @hold: how long it is held
 * @jitter: as rails_failed()
 *
 * It works, so the time does not become longer; and links on it may be up.
 */
static inline void rails_refused(struct rails *r, unsigned int i,
				 unsigned long now, unsigned long hold,
				 u32 jitter)
{
	if (rails_held(r, i, now))
		return;
	r->rail[i].fails = max(r->rail[i].fails, 1U);
	r->rail[i].until = now + hold + jitter % (hold / 4 + 1);
}

/**
 * rails_forget() - forget the failures of rails that have done well
 * @r: the rails
 * @now: the time
 * @hold: how long a rail is held first
 *
 * Called once in half of the range of the clock at least: a time that is over follows
 * the clock, so that it does not become one to come.
 */
static inline void rails_forget(struct rails *r, unsigned long now,
				unsigned long hold)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++) {
		if (rails_held(r, i, now))
			continue;
		r->rail[i].until = now;
		if (r->rail[i].was_up && now - r->rail[i].up >= RAILS_STABLE * hold)
			r->rail[i].fails = 0;
	}
}

/**
 * rails_forgive() - do not hold a rail any more
 * @r: the rails
 * @i: number of the rail
 */
static inline void rails_forgive(struct rails *r, unsigned int i)
{
	r->rail[i].fails = 0;
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
 * rails_move() - should a lane move to another rail?
 * @r: the rails
 * @v: the same, as the lane sees them
 * @from: number of the rail that it uses; RAILS_MAX if it has none any more
 * @now: the time
 * @wait: set to the time until a rail is not held any more, or ULONG_MAX
 *
 * A lane moves only to a rail on which a link is up and that is not held; and within
 * the tier only if that makes the load more equal, so that lanes come to rest.  It does not
 * leave its tier because another rail of that is held: it may be so for another lane, whose
 * connections it cannot map.
 *
 * Return: the rail to move to, or RAILS_MAX.
 */
static inline unsigned int rails_move(const struct rails *r,
				      const struct rails_view *v,
				      unsigned int from, unsigned long now,
				      unsigned long *wait)
{
	u32 here = from < RAILS_MAX ? BIT(from) : 0;
	u32 stay = v->usable & ~v->drain, tier, ready;
	unsigned int i, to;

	*wait = ULONG_MAX;
	for (i = 0; i < RAILS_MAX; i++)
		if (stay & ~here & BIT(i) && rails_held(r, i, now))
			*wait = min(*wait, r->rail[i].until - now);
	ready = (rails_not_held(r, stay, now) & v->well) | (stay & here);
	tier = rails_tier(v, stay & (v->well | here));
	tier = tier & here ? tier & ready : rails_tier(v, ready);
	to = rails_lightest(v, tier);
	if (to == from || (tier & here && !rails_lighter(v, to, from)))
		return RAILS_MAX;
	return to;
}

/**
 * struct rails_given - what rails were given in turn
 * @n: connections, by number
 * @tier: the rails that took part.  When they change, all begin anew: one that comes
 *	back does not make up for what it has missed
 */
struct rails_given {
	unsigned int	n[RAILS_MAX];
	u32		tier;
};

/* Numbers stay below it, by halving all. */
#define RAILS_GIVEN_MAX	BIT(16)

/**
 * rails_give() - give a connection to the rails in turn
 * @g: what they were given before
 * @v: the rails
 * @tier: set of those that take part
 * @among: set of those of them that it may go to, not empty
 *
 * Return: the rail that has been given the least for its weight.
 */
static inline unsigned int rails_give(struct rails_given *g,
				      const struct rails_view *v, u32 tier,
				      u32 among)
{
	struct rails_view turn = *v;
	unsigned int i, to;

	if (g->tier != tier)
		memset(g, 0, sizeof(*g));
	g->tier = tier;
	memcpy(turn.load, g->n, sizeof(turn.load));
	to = rails_lightest(&turn, among);
	if (++g->n[to] == RAILS_GIVEN_MAX)
		for (i = 0; i < RAILS_MAX; i++)
			g->n[i] /= 2;
	return to;
}

#endif /* _SANX_RAILS_H */
