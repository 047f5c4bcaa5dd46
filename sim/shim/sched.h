/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks, and the choice of what runs next.
 *
 * Each call of the kernel's code runs in a task, which has a stack of its own.
 * All tasks share one thread.  A task gives way at sim_point(), and when it has
 * to wait.  The scheduler then picks any of the entries that are ready, so the
 * orders that several CPUs would give come up, at the granularity of accesses
 * that are marked in the code: locks, READ_ONCE(), atomics and barriers.
 */
#ifndef _SIM_SCHED_H
#define _SIM_SCHED_H

#include "list.h"

/**
 * struct sim_entry - something that can run
 * @fn: called in a task when the scheduler picks the entry
 * @name: for traces
 * @node: the node on whose behalf it runs, or -1
 * @slot: index in the ready list, or -1
 * @softirq: must not sleep
 */
struct sim_entry {
	void		(*fn)(struct sim_entry *e);
	const char	*name;
	int		node;
	int		slot;
	bool		softirq;
};

#define SIM_ENTRY(fn_, name_, softirq_) \
	((struct sim_entry){ fn_, name_, -1, -1, softirq_ })

struct sim_task;

/**
 * struct sim_waiters - tasks that wait for something to change
 * @first: the tasks, linked by sim_task.next
 */
struct sim_waiters {
	struct sim_task *first;
};

/**
 * struct sim_timer - calls an entry at a time
 * @at: virtual time in ns
 * @slot: index in the heap of timers, or -1
 * @entry: made ready then
 */
struct sim_timer {
	u64			at;
	int			slot;
	struct sim_entry	entry;
};

/**
 * struct sim_task - a task
 * @entry: makes it go on; in the ready list if it can
 * @next: in a struct sim_waiters, or in the list of free tasks
 * @node: the node on whose behalf it runs, or -1
 * @atomic: locks held, and 1 in softirq: it must not sleep
 * @rcu: depth of rcu_read_lock()
 * @reads_since: number of the step in which it became an RCU reader, or 0
 * @noio: allocations do not wait for I/O
 * @work: work that it runs, or NULL
 * @work_fn: its function
 * @wq: the workqueue of @work
 * @work_seq: number of @work in the order of queueing
 * @timer: timer whose function it runs, or NULL
 * @wake: ends a sleep with a timeout
 * @woken: see wait_woken()
 * @timed_out: @wake has expired
 * @why: what it waits for, for people
 * @nvcsw: how often it has slept
 * @nivcsw: how often another task ran in its stead
 * @nr_cpus_allowed: nobody asks on whose behalf that matters
 * @all: in the list of all tasks
 * @job: what it runs, or NULL
 * @stack: its stack
 * @sp: its stack pointer while it does not run
 */
struct workqueue_struct;

struct sim_task {
	struct sim_entry	entry;
	struct sim_task		*next;
	int			node;
	int			atomic;
	int			rcu;
	u64			reads_since;
	int			noio;
	unsigned int		flags;
	void			*work;
	void			*work_fn;
	struct workqueue_struct	*wq;
	u64			work_seq;
	const void		*timer;
	struct sim_timer	wake;
	bool			timed_out;
	const char		*why;
	unsigned long		nvcsw;
	unsigned long		nivcsw;
	int			nr_cpus_allowed;
	struct sim_task		*all;
	struct sim_entry	*job;
	void			*stack;
	void			*sp;
};

extern struct sim_task *sim_current;
extern int sim_countdown;
extern u64 sim_steps;
extern u64 sim_now;

/**
 * struct sim_work - what the code of the kernel asks for, counted
 * @locks: locks taken
 * @allocs: allocations
 * @routes: addresses looked up in the routes
 * @frames: messages posted to a wire
 */
struct sim_work {
	u64 locks;
	u64 allocs;
	u64 routes;
	u64 frames;
};

extern struct sim_work sim_work;

/* rnd.c */
u64 sim_rnd64(void);
u32 sim_rnd(u32 n);
bool sim_chance(u32 one_in);
void sim_seed(u64 seed);

/* sched.c */
void sim_ready(struct sim_entry *e);
void sim_unready(struct sim_entry *e);
bool sim_step(void);
bool sim_step_now(void);
void sim_preempt(void);
void sim_yield(void);
void sim_set_pace(unsigned int points);
void sim_set_clock(unsigned int ns);
void sim_set_slow(const char *name);
void sim_wait(struct sim_waiters *w, const char *why);
void sim_wake(struct sim_waiters *w);
void sim_block(const char *why);
void sim_unblock(struct sim_task *t);
void sim_sleep(u64 ns, const char *why);
u64 sim_oldest_reader(void);
struct sim_task *sim_tasks(void);
unsigned int sim_n_ready(void);
void sim_dump_tasks(void);
void sim_may_sleep(const char *what);
void sim_atomic(int n);

/* timer.c */
void sim_timer_set(struct sim_timer *t, u64 at);
bool sim_timer_cancel(struct sim_timer *t);
bool sim_timer_active(const struct sim_timer *t);
bool sim_timers_advance(void);
void sim_timers_expire(void);
u64 sim_timers_next(void);

/* report.c */
void sim_fail(const char *fmt, ...) __printf(1, 2) __attribute__((noreturn));
void sim_note(const char *what, long a, long b);
void sim_note_text(const char *fmt, ...) __printf(1, 2);

#define sim_assert(x) \
	do { if (unlikely(!(x))) sim_fail("%s:%d: %s", __FILE__, __LINE__, #x); } while (0)

/* A place at which another task may run. */
static inline void sim_point(void)
{
	if (unlikely(--sim_countdown < 0))
		sim_preempt();
}

#define WARN_ON_ONCE(x) ({					\
	bool _w = (x);						\
	if (unlikely(_w))					\
		sim_fail("%s:%d: WARN_ON(%s)", __FILE__, __LINE__, #x);	\
	_w; })
#define WARN_ON(x)		WARN_ON_ONCE(x)
#define WARN_ONCE(x, ...)	WARN_ON_ONCE(x)
#define BUG_ON(x)		((void)WARN_ON_ONCE(x))
#define pr_debug(fmt, ...)	\
	sim_note_text(fmt, ##__VA_ARGS__)
#define pr_info(...)		do { } while (0)
#define pr_warn_ratelimited(...) do { } while (0)
#define pr_info_ratelimited(...) do { } while (0)
#define pr_notice_ratelimited(...) do { } while (0)
#define pr_err(...)		do { } while (0)

#define cond_resched()		sim_point()
#define schedule()		sim_yield()
#define cpu_relax()		sim_yield()
#define barrier()		__asm__ __volatile__("" ::: "memory")
#define barrier_data(p)		__asm__ __volatile__("" :: "r"(p) : "memory")

#endif /* _SIM_SCHED_H */
