/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coverage for fuzzers (KCOV) of what is not done in a call of a program: by kernel
 * threads, work items, timers, and when frames of a peer arrive.
 *
 * A link serves all sockets of a namespace, so its coverage belongs to no program in
 * particular.  It goes to whoever last made a socket there and had asked for remote
 * coverage (KCOV_REMOTE_ENABLE), by the common handle of that task.  A fuzzer that wants
 * its own coverage gives each of its processes a namespace.
 *
 * Without CONFIG_KCOV nothing is left of this but sanx_net.cov.
 */
#ifndef _SANX_COV_H
#define _SANX_COV_H

#include "config.h"

#ifdef CONFIG_KCOV
#include <linux/kcov.h>
#include <linux/preempt.h>
#include <linux/sched.h>

/**
 * sanx_cov_opener() - the caller makes a socket
 * @net: its namespace
 *
 * Context: process.
 */
static inline void sanx_cov_opener(const struct net *net)
{
	u64 handle = kcov_common_handle();

	if (handle)
		WRITE_ONCE(sanx_net(net)->cov, handle);
}

/*
 * Is coverage of this context recorded already, or can it not be?  Sections do not nest,
 * and a program may run the same code in a call of its own.  In a process that has
 * disabled softirqs kcov_remote_start() would allocate where it must not.
 */
static inline bool sanx_cov_recorded(void)
{
	if (!in_serving_softirq() && in_interrupt())
		return true;
	return in_serving_softirq() ? current->kcov_softirq :
				      READ_ONCE(current->kcov_mode);
}

/**
 * sanx_cov_start() - what follows is not done in a call of a program
 * @net: the namespace that it is done for
 *
 * Context: any but hardirq; no spinlock held.
 * Return: for sanx_cov_stop(), which must follow in the same context.
 */
static inline bool sanx_cov_start(const struct net *net)
{
	u64 handle = READ_ONCE(sanx_net(net)->cov);

	if (!handle || sanx_cov_recorded())
		return false;
	kcov_remote_start_common(handle);
	return true;
}

/**
 * sanx_cov_stop() - the end of what sanx_cov_start() began
 * @started: what it returned
 *
 * Context: as sanx_cov_start().
 */
static inline void sanx_cov_stop(bool started)
{
	if (started)
		kcov_remote_stop();
}
#else
static inline void sanx_cov_opener(const struct net *net)
{
}

static inline bool sanx_cov_start(const struct net *net)
{
	return false;
}

static inline void sanx_cov_stop(bool started)
{
}
#endif

#endif /* _SANX_COV_H */
