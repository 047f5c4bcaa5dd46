// SPDX-License-Identifier: GPL-2.0
/* The scheduler: any entry of the ready list may be the next. */
#include <stdio.h>
#include <stdlib.h>

#include "sched.h"
#include "lock.h"
#include "switch.h"

struct sim_task *sim_current;
int sim_countdown;
u64 sim_steps;
u64 sim_now;

static struct sim_entry **ready;
static unsigned int n_ready, most_ready;
static struct sim_task *all_tasks, *free_tasks;
static unsigned int pace;
static u64 clock_ns;
static const char *slow_name;

/**
 * sim_ready() - let an entry run
 * @e: the entry; nothing happens if it is ready already
 */
void sim_ready(struct sim_entry *e)
{
	if (e->slot >= 0)
		return;
	if (n_ready == most_ready) {
		most_ready = most_ready ? 2 * most_ready : 64;
		ready = realloc(ready, most_ready * sizeof(*ready));
	}
	e->slot = n_ready;
	ready[n_ready++] = e;
}

/**
 * sim_unready() - do not let an entry run any more
 * @e: the entry, ready or not
 */
void sim_unready(struct sim_entry *e)
{
	struct sim_entry *last;

	if (e->slot < 0)
		return;
	last = ready[--n_ready];
	ready[e->slot] = last;
	last->slot = e->slot;
	e->slot = -1;
}

unsigned int sim_n_ready(void)
{
	return n_ready;
}

struct sim_task *sim_tasks(void)
{
	return all_tasks;
}

/**
 * sim_set_pace() - how often tasks give way
 * @points: sim_point() gives way once in so many calls on average; 0 for never
 */
void sim_set_pace(unsigned int points)
{
	pace = points;
	sim_countdown = 0;
}

struct sim_work sim_work;

/**
 * sim_set_clock() - how long steps take
 * @ns: at most
 */
void sim_set_clock(unsigned int ns)
{
	clock_ns = ns;
}

/**
 * sim_set_slow() - what is overtaken by everything else
 * @name: of entries; or NULL
 *
 * As an interrupt, or work of another priority, on a CPU that has much to do.
 */
void sim_set_slow(const char *name)
{
	slow_name = name;
}

static void give_way(struct sim_task *t)
{
	sim_switch_to_main(&t->sp);
}

/**
 * sim_yield() - let another entry run
 */
void sim_yield(void)
{
	struct sim_task *t = sim_current;

	if (!t)
		return;
	t->nivcsw++;
	sim_ready(&t->entry);
	give_way(t);
}

/**
 * sim_preempt() - the countdown of sim_point() has ended
 */
void sim_preempt(void)
{
	sim_countdown = pace ? sim_rnd(2 * pace) : 1 << 30;
	if (pace)
		sim_yield();
}

/**
 * sim_block() - wait for sim_unblock()
 * @why: for people
 */
void sim_block(const char *why)
{
	struct sim_task *t = sim_current;

	sim_assert(t);
	t->why = why;
	give_way(t);
	t->why = NULL;
}

void sim_unblock(struct sim_task *t)
{
	sim_ready(&t->entry);
}

/**
 * sim_wait() - wait for sim_wake() of the same list
 * @w: the list
 * @why: for people
 *
 * The caller checks again what it waits for.
 */
void sim_wait(struct sim_waiters *w, const char *why)
{
	struct sim_task *t = sim_current;

	t->next = w->first;
	w->first = t;
	sim_block(why);
}

void sim_wake(struct sim_waiters *w)
{
	struct sim_task *t = w->first, *next;

	w->first = NULL;
	for (; t; t = next) {
		next = t->next;
		t->next = NULL;
		sim_unblock(t);
	}
}

/**
 * sim_may_sleep() - the caller may sleep here, and has to be allowed to
 * @what: what it does
 */
void sim_may_sleep(const char *what)
{
	struct sim_task *t = sim_current;

	if (unlikely(t && (t->atomic || t->rcu)))
		sim_fail("%s may sleep, but the context is atomic", what);
	sim_point();
}

/* A task that must not sleep is an RCU reader as well, as in the kernel. */
static void note_reader(struct sim_task *t)
{
	if (!t->atomic && !t->rcu)
		t->reads_since = 0;
	else if (!t->reads_since)
		t->reads_since = sim_steps + 1;
}

/**
 * sim_atomic() - the current task enters (1) or leaves (-1) atomic context
 */
void sim_atomic(int n)
{
	struct sim_task *t = sim_current;

	if (!t)
		return;
	t->atomic += n;
	note_reader(t);
}

void rcu_read_lock(void)
{
	if (!sim_current)
		return;
	sim_current->rcu++;
	note_reader(sim_current);
	sim_point();
}

void rcu_read_unlock(void)
{
	if (!sim_current)
		return;
	sim_assert(sim_current->rcu > 0);
	sim_current->rcu--;
	note_reader(sim_current);
	sim_point();
}

bool rcu_read_lock_held(void)
{
	return !sim_current || sim_current->rcu || sim_current->atomic;
}

/**
 * sim_oldest_reader() - the step in which the oldest RCU reader began
 * Return: the step + 1, or U64_MAX without readers.
 */
u64 sim_oldest_reader(void)
{
	struct sim_task *t;
	u64 oldest = U64_MAX;

	for (t = all_tasks; t; t = t->all)
		if (t->reads_since && t->reads_since < oldest)
			oldest = t->reads_since;
	return oldest;
}

static void task_check(struct sim_task *t)
{
	if (t->atomic || t->rcu || t->noio)
		sim_fail("%s returned with locks held: atomic %d, rcu %d, noio %d",
			 t->entry.name, t->atomic, t->rcu, t->noio);
}

static void task_loop(void *arg)
{
	struct sim_task *t = arg;
	struct sim_entry *e;

	for (;;) {
		e = t->job;
		t->job = NULL;
		if (e->softirq) {
			sim_atomic(1);
			e->fn(e);
			sim_atomic(-1);
		} else {
			e->fn(e);
		}
		task_check(t);
		t->next = free_tasks;
		free_tasks = t;
		give_way(t);
	}
}

static struct sim_task *task_new(void)
{
	struct sim_task *t = free_tasks;

	if (t) {
		free_tasks = t->next;
		t->next = NULL;
		return t;
	}
	t = calloc(1, sizeof(*t));
	t->entry = SIM_ENTRY(NULL, NULL, false);
	t->wake.slot = -1;
	t->wake.entry = SIM_ENTRY(NULL, "sleep", false);
	t->all = all_tasks;
	all_tasks = t;
	return t;
}

/* An entry without a function is that of a task, which goes on. */
static struct sim_task *task_of(struct sim_entry *e)
{
	struct sim_task *t;

	if (!e->fn)
		return container_of(e, struct sim_task, entry);
	t = task_new();
	t->job = e;
	if (!t->stack)
		t->stack = sim_stack_new(&t->sp, task_loop, t);
	return t;
}

/* The chance of a longer pause is small, so that jiffies rarely pass. */
static void let_time_pass(void)
{
	u64 r = sim_rnd64();

	sim_now += (r & U32_MAX) * clock_ns >> 32;
	if (unlikely((r >> 32) % 4096 == 0))
		sim_now += (r >> 44) % 2000000;
}

static struct sim_entry *next_entry(void)
{
	struct sim_entry *e = ready[sim_rnd(n_ready)];

	if (slow_name && !strcmp(e->name, slow_name) && !sim_chance(16))
		e = ready[sim_rnd(n_ready)];
	return e;
}

/* Work that queues itself without an end keeps a CPU busy, and nothing hangs. */
static void check_progress(const struct sim_entry *e)
{
	static const struct sim_entry *last;
	static unsigned int times;
	static u64 since;

	if (e != last) {
		last = e;
		times = 0;
		since = sim_now;
	} else if (++times > 10000 && sim_now - since < 5 * NSEC_PER_SEC) {
		sim_fail("%s starts again and again", e->name);
	}
}

/**
 * sim_step_now() - let one entry go on until it gives way
 * Return: false if nothing is ready.
 */
bool sim_step_now(void)
{
	struct sim_entry *e;
	struct sim_task *t;
	bool starts;

	sim_timers_expire();
	sim_rcu_poll();
	if (!n_ready)
		return false;
	sim_steps++;
	let_time_pass();
	e = next_entry();
	sim_unready(e);
	starts = e->fn;
	if (starts)
		check_progress(e);
	t = task_of(e);
	if (starts) {
		t->node = e->node;
		t->entry.name = e->name;
	}
	sim_current = t;
	if (starts)
		sim_note("starts", 0, 0);
	sim_switch_to_task(NULL, t->sp, t->stack);
	sim_current = NULL;
	return true;
}

/**
 * sim_step() - a step; if nothing is ready, time passes until something is
 * Return: false if nothing will ever be ready.
 */
bool sim_step(void)
{
	do {
		if (sim_step_now())
			return true;
	} while (sim_timers_advance());
	return false;
}

/**
 * sim_dump_tasks() - print what each task waits for
 */
void sim_dump_tasks(void)
{
	struct sim_task *t;

	for (t = all_tasks; t; t = t->all)
		if (t->why || t->entry.slot >= 0)
			fprintf(stderr, "  task %s of node %d: %s\n",
				t->entry.name, t->node, t->why ?: "ready");
}
