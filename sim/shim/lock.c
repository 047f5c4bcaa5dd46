// SPDX-License-Identifier: GPL-2.0
/* Locks.  A task that finds one taken waits, whatever the kind. */
#include "lock.h"

static void take(struct sim_lock *l, const char *why)
{
	if (unlikely(l->owner == sim_current && sim_current))
		sim_fail("a lock is taken twice by one task");
	sim_work.locks++;
	while (l->owner)
		sim_wait(&l->waiters, why);
	l->owner = sim_current;
}

static void give(struct sim_lock *l)
{
	if (unlikely(l->owner != sim_current))
		sim_fail("a lock is released by a task that does not hold it");
	l->owner = NULL;
	if (l->waiters.first)
		sim_wake(&l->waiters);
}

void sim_spin_lock(struct sim_lock *l)
{
	sim_point();
	sim_atomic(1);
	take(l, "spinlock");
}

void sim_spin_unlock(struct sim_lock *l)
{
	give(l);
	sim_atomic(-1);
	sim_point();
}

void sim_mutex_lock(struct sim_lock *l)
{
	sim_may_sleep("mutex_lock()");
	take(l, "mutex");
}

bool sim_mutex_trylock(struct sim_lock *l)
{
	sim_point();
	if (l->owner)
		return false;
	l->owner = sim_current;
	return true;
}

void sim_mutex_unlock(struct sim_lock *l)
{
	give(l);
	sim_point();
}
