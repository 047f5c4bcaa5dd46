// SPDX-License-Identifier: GPL-2.0
/* Wait queues and completions. */
#include "wait.h"

void init_waitqueue_head(wait_queue_head_t *wq)
{
	spin_lock_init(&wq->lock);
	INIT_LIST_HEAD(&wq->head);
}

void init_waitqueue_func_entry(wait_queue_entry_t *e, wait_queue_func_t fn)
{
	e->flags = 0;
	e->task = NULL;
	e->func = fn;
}

void add_wait_queue(wait_queue_head_t *wq, wait_queue_entry_t *e)
{
	spin_lock(&wq->lock);
	list_add(&e->entry, &wq->head);
	spin_unlock(&wq->lock);
}

void remove_wait_queue(wait_queue_head_t *wq, wait_queue_entry_t *e)
{
	spin_lock(&wq->lock);
	list_del_init(&e->entry);
	spin_unlock(&wq->lock);
}

int woken_wake_function(wait_queue_entry_t *e, unsigned int mode, int flags,
			void *key)
{
	e->woken = true;
	if (e->asleep)
		sim_unblock(e->task);
	return 1;
}

/**
 * wait_woken() - wait until woken_wake_function() was called
 * @e: the caller's entry
 * @mode: not used
 * @timeout: in jiffies
 * Return: the rest of @timeout.
 */
long wait_woken(wait_queue_entry_t *e, unsigned int mode, long timeout)
{
	u64 start = sim_now;

	sim_may_sleep("wait_woken()");
	sim_current->nvcsw++;
	while (!e->woken) {
		e->asleep = true;
		if (timeout == MAX_SCHEDULE_TIMEOUT)
			sim_block("wait_woken");
		else
			sim_sleep(timeout * SIM_JIFFY_NS,
				  "wait_woken with a timeout");
		e->asleep = false;
		if (timeout == MAX_SCHEDULE_TIMEOUT)
			continue;
		if (sim_current->timed_out && !e->woken)
			return 0;
	}
	e->woken = false;
	if (timeout == MAX_SCHEDULE_TIMEOUT)
		return timeout;
	return max(timeout - (long)((sim_now - start) / SIM_JIFFY_NS), 0L);
}

static void wake_locked(wait_queue_head_t *wq)
{
	wait_queue_entry_t *e, *next;

	list_for_each_entry_safe(e, next, &wq->head, entry)
		e->func(e, TASK_NORMAL, 0, NULL);
}

void __wake_up(wait_queue_head_t *wq)
{
	spin_lock(&wq->lock);
	wake_locked(wq);
	spin_unlock(&wq->lock);
}

bool skwq_has_waiters(wait_queue_head_t *wq)
{
	return !list_empty(&wq->head);
}

void init_completion(struct completion *c)
{
	c->done = 0;
	init_waitqueue_head(&c->wait);
}

void complete(struct completion *c)
{
	spin_lock(&c->wait.lock);
	if (c->done != UINT_MAX)
		c->done++;
	wake_locked(&c->wait);
	spin_unlock(&c->wait.lock);
}

void complete_all(struct completion *c)
{
	spin_lock(&c->wait.lock);
	c->done = UINT_MAX;
	wake_locked(&c->wait);
	spin_unlock(&c->wait.lock);
}

/*
 * As in the kernel, a waiter returns only after complete() has released the
 * lock: the memory of @c may be freed then.
 */
void wait_for_completion(struct completion *c)
{
	DEFINE_WAIT_FUNC(w, woken_wake_function);

	sim_may_sleep("wait_for_completion()");
	spin_lock(&c->wait.lock);
	list_add(&w.entry, &c->wait.head);
	while (!c->done) {
		spin_unlock(&c->wait.lock);
		wait_woken(&w, TASK_NORMAL, MAX_SCHEDULE_TIMEOUT);
		spin_lock(&c->wait.lock);
	}
	if (c->done != UINT_MAX)
		c->done--;
	list_del_init(&w.entry);
	spin_unlock(&c->wait.lock);
}

int wait_for_completion_killable(struct completion *c)
{
	wait_for_completion(c);
	return 0;
}

int wait_for_completion_interruptible(struct completion *c)
{
	wait_for_completion(c);
	return 0;
}
