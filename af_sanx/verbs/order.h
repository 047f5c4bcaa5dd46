/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a message may be posted to a queue pair where a registration must go alone.
 * Pure; kunit/order_test.c tests it.
 *
 * Messages are counted as they are posted.  A completion covers all that were posted
 * before it, and few request one.  So who waits for the last message may have to ask:
 * with a fence, work that does nothing and requests a completion.
 */
#ifndef _SANX_VERBS_ORDER_H
#define _SANX_VERBS_ORDER_H

#include <linux/types.h>

/**
 * struct verbs_order - what is under way
 * @posted: messages that were posted
 * @asked: of them, those that the last requested completion will cover
 * @done: of them, those that are known to be complete
 * @waiting: messages that wait until all these are complete
 *
 * All but @waiting count modulo 2^32.
 */
struct verbs_order {
	u32	posted;
	u32	asked;
	u32	done;
	u32	waiting;
};

/**
 * verbs_order_may() - may a message be posted now?
 * @o: what is under way
 * @reg: it has a registration
 *
 * Context: any.
 * Return: false if it has to wait: behind other work, or behind another that waits.
 */
static inline bool verbs_order_may(const struct verbs_order *o, bool reg)
{
	return !o->waiting && (!reg || o->posted == o->done);
}

/**
 * verbs_order_posted() - a message is posted
 * @o: what is under way
 * @signal: it requests a completion
 *
 * Context: any.
 */
static inline void verbs_order_posted(struct verbs_order *o, bool signal)
{
	o->posted++;
	if (signal)
		o->asked = o->posted;
}

/**
 * verbs_order_wait() - a message waits
 * @o: what is under way
 *
 * Context: any.
 * Return: true if a fence is to be posted, as no completion will tell when it may be posted.
 */
static inline bool verbs_order_wait(struct verbs_order *o)
{
	bool fence = o->asked != o->posted;

	o->waiting++;
	o->asked = o->posted;
	return fence;
}

/**
 * verbs_order_done() - a completion came
 * @o: what is under way
 * @n: messages that were posted when what is complete was posted, itself included
 *
 * Context: any.
 * Return: true if what waits is to be posted now.
 */
static inline bool verbs_order_done(struct verbs_order *o, u32 n)
{
	o->done = n;
	return o->waiting && o->posted == o->done;
}

#endif /* _SANX_VERBS_ORDER_H */
