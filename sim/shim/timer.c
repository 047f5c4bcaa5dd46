// SPDX-License-Identifier: GPL-2.0
/* Virtual time: a heap of timers. */
#include <stdlib.h>

#include "time.h"

static struct sim_timer **heap;
static int n_heap, most_heap;
static struct sim_waiters timer_done;

/* Marks the timers of sleeping tasks. */
static void sleep_over(struct sim_entry *e)
{
	struct sim_task *t = container_of(e, struct sim_task, wake.entry);

	t->timed_out = true;
	sim_unblock(t);
}

static void heap_put(int i, struct sim_timer *t)
{
	heap[i] = t;
	t->slot = i;
}

static void heap_up(int i)
{
	struct sim_timer *t = heap[i];

	for (; i && heap[(i - 1) / 2]->at > t->at; i = (i - 1) / 2)
		heap_put(i, heap[(i - 1) / 2]);
	heap_put(i, t);
}

static void heap_down(int i)
{
	struct sim_timer *t = heap[i];
	int c;

	for (; (c = 2 * i + 1) < n_heap; i = c) {
		if (c + 1 < n_heap && heap[c + 1]->at < heap[c]->at)
			c++;
		if (heap[c]->at >= t->at)
			break;
		heap_put(i, heap[c]);
	}
	heap_put(i, t);
}

static void heap_remove(struct sim_timer *t)
{
	struct sim_timer *last = heap[--n_heap];
	int i = t->slot;

	t->slot = -1;
	if (last == t)
		return;
	heap_put(i, last);
	heap_up(i);
	heap_down(last->slot);
}

/**
 * sim_timer_set() - set a timer; one that was set changes its time
 * @t: the timer
 * @at: virtual time in ns
 */
void sim_timer_set(struct sim_timer *t, u64 at)
{
	sim_timer_cancel(t);
	t->at = at;
	if (n_heap == most_heap) {
		most_heap = most_heap ? 2 * most_heap : 64;
		heap = realloc(heap, most_heap * sizeof(*heap));
	}
	heap_put(n_heap++, t);
	heap_up(t->slot);
}

/**
 * sim_timer_cancel() - cancel a timer
 * @t: the timer
 * Return: true if its function will not run for the last sim_timer_set().
 */
bool sim_timer_cancel(struct sim_timer *t)
{
	bool was = sim_timer_active(t);

	if (t->slot >= 0)
		heap_remove(t);
	sim_unready(&t->entry);
	return was;
}

bool sim_timer_active(const struct sim_timer *t)
{
	return t->slot >= 0 || t->entry.slot >= 0;
}

/**
 * sim_timers_expire() - make the timers ready whose time has come
 */
void sim_timers_expire(void)
{
	struct sim_timer *t;

	while (n_heap && heap[0]->at <= sim_now) {
		t = heap[0];
		heap_remove(t);
		if (t->entry.fn == sleep_over)
			sleep_over(&t->entry);
		else
			sim_ready(&t->entry);
	}
}

/**
 * sim_timers_next() - when the next timer expires, or U64_MAX
 */
u64 sim_timers_next(void)
{
	return n_heap ? heap[0]->at : U64_MAX;
}

/**
 * sim_timers_advance() - let time pass until the next timer expires
 * Return: false if there is none.
 */
bool sim_timers_advance(void)
{
	if (!n_heap)
		return false;
	if (heap[0]->at > sim_now)
		sim_now = heap[0]->at;
	sim_timers_expire();
	return true;
}

/* Reading the clock takes time, so that measurements are not 0. */
u64 ktime_get_ns(void)
{
	sim_now += 200;
	return sim_now;
}

/**
 * sim_sleep() - wait for sim_unblock() or the end of a time
 * @ns: the time
 * @why: for people
 *
 * t->timed_out tells which.
 */
void sim_sleep(u64 ns, const char *why)
{
	struct sim_task *t = sim_current;

	t->timed_out = false;
	t->wake.entry.fn = sleep_over;
	sim_timer_set(&t->wake, sim_now + ns);
	sim_block(why);
	sim_timer_cancel(&t->wake);
}

static void run_timer(struct sim_entry *e)
{
	struct timer_list *t = container_of(e, struct timer_list, t.entry);
	struct sim_task *task = sim_current;

	task->timer = t;
	t->function(t);
	task->timer = NULL;
	sim_wake(&timer_done);
}

static bool timer_runs(const void *t)
{
	struct sim_task *task;

	for (task = sim_tasks(); task; task = task->all)
		if (task->timer == t && task != sim_current)
			return true;
	return false;
}

void timer_setup(struct timer_list *t, void (*fn)(struct timer_list *t),
		 unsigned int flags)
{
	t->expires = 0;
	t->function = fn;
	t->t = (struct sim_timer){ .slot = -1,
		.entry = SIM_ENTRY(run_timer, "timer", true) };
}

static u64 jiffies_at(unsigned long j)
{
	long left = (long)(j - jiffies);

	if (left <= 0)
		return sim_now;
	return (sim_now / SIM_JIFFY_NS + left) * SIM_JIFFY_NS;
}

/**
 * sim_timer_arm() - mod_timer() in one go
 */
bool sim_timer_arm(struct timer_list *t, unsigned long expires)
{
	bool was = sim_timer_active(&t->t);

	t->expires = expires;
	t->t.entry.node = sim_current ? sim_current->node : -1;
	sim_timer_set(&t->t, jiffies_at(expires));
	return was;
}

int mod_timer(struct timer_list *t, unsigned long expires)
{
	bool was;

	sim_point();
	was = sim_timer_arm(t, expires);
	sim_point();
	return was;
}

int timer_reduce(struct timer_list *t, unsigned long expires)
{
	bool was;

	sim_point();
	was = sim_timer_active(&t->t) && time_before_eq(t->expires, expires);
	if (!was)
		was = sim_timer_arm(t, expires);
	sim_point();
	return was;
}

int del_timer(struct timer_list *t)
{
	bool was;

	sim_point();
	was = sim_timer_cancel(&t->t);
	sim_point();
	return was;
}

/*
 * As the kernel's: cancels once, when the function does not run, so that who
 * counts a reference for each timer that was set loses none.
 */
int del_timer_sync(struct timer_list *t)
{
	bool was;

	sim_point();
	while (timer_runs(t))
		sim_wait(&timer_done, "del_timer_sync");
	was = sim_timer_cancel(&t->t);
	sim_point();
	return was;
}

bool timer_pending(const struct timer_list *t)
{
	sim_point();
	return sim_timer_active(&t->t);
}

static void run_hrtimer(struct sim_entry *e)
{
	struct hrtimer *t = container_of(e, struct hrtimer, t.entry);
	struct sim_task *task = sim_current;

	task->timer = t;
	sim_assert(t->function(t) == HRTIMER_NORESTART);
	task->timer = NULL;
	sim_wake(&timer_done);
}

void hrtimer_init(struct hrtimer *t, int clock, int mode)
{
	t->t = (struct sim_timer){ .slot = -1,
		.entry = SIM_ENTRY(run_hrtimer, "hrtimer", true) };
}

void hrtimer_start(struct hrtimer *t, ktime_t delay, int mode)
{
	sim_point();
	t->t.entry.node = sim_current ? sim_current->node : -1;
	sim_timer_set(&t->t, sim_now + delay);
}

int hrtimer_cancel(struct hrtimer *t)
{
	bool was;

	sim_point();
	was = sim_timer_cancel(&t->t);
	while (timer_runs(t)) {
		sim_wait(&timer_done, "hrtimer_cancel");
		was |= sim_timer_cancel(&t->t);
	}
	return was;
}

int hrtimer_try_to_cancel(struct hrtimer *t)
{
	return timer_runs(t) ? -1 : sim_timer_cancel(&t->t);
}

bool hrtimer_active(const struct hrtimer *t)
{
	return sim_timer_active(&t->t) || timer_runs(t);
}

void msleep(unsigned int ms)
{
	sim_may_sleep("msleep()");
	sim_sleep(ms * NSEC_PER_MSEC, "msleep");
}
