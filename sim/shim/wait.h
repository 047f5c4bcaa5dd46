/* SPDX-License-Identifier: GPL-2.0 */
/* Wait queues, completions and sleeping. */
#ifndef _SIM_WAIT_H
#define _SIM_WAIT_H

#include "time.h"

typedef struct wait_queue_entry wait_queue_entry_t;
typedef int (*wait_queue_func_t)(wait_queue_entry_t *e, unsigned int mode,
				 int flags, void *key);

struct wait_queue_entry {
	unsigned int		flags;
	struct sim_task		*task;
	bool			woken;
	bool			asleep;
	wait_queue_func_t	func;
	struct list_head	entry;
};

typedef struct wait_queue_head {
	spinlock_t		lock;
	struct list_head	head;
} wait_queue_head_t;

struct completion {
	unsigned int		done;
	wait_queue_head_t	wait;
};

#define TASK_INTERRUPTIBLE	1
#define TASK_NORMAL		3
#define MAX_SCHEDULE_TIMEOUT	LONG_MAX

#define DEFINE_WAIT_FUNC(name, fn) \
	wait_queue_entry_t name = { .task = sim_current, .func = fn, \
				    .entry = LIST_HEAD_INIT((name).entry) }

void init_waitqueue_head(wait_queue_head_t *wq);
void init_waitqueue_func_entry(wait_queue_entry_t *e, wait_queue_func_t fn);
void add_wait_queue(wait_queue_head_t *wq, wait_queue_entry_t *e);
void remove_wait_queue(wait_queue_head_t *wq, wait_queue_entry_t *e);
int woken_wake_function(wait_queue_entry_t *e, unsigned int mode, int flags,
			void *key);
long wait_woken(wait_queue_entry_t *e, unsigned int mode, long timeout);
void __wake_up(wait_queue_head_t *wq);
bool skwq_has_waiters(wait_queue_head_t *wq);
#define wake_up(wq)			__wake_up(wq)
#define wake_up_all(wq)			__wake_up(wq)
#define wake_up_interruptible_poll(wq, m) ((void)(m), __wake_up(wq))

#define wait_event(wq, cond) do {				\
	DEFINE_WAIT_FUNC(_w, woken_wake_function);		\
	add_wait_queue(&(wq), &_w);				\
	while (!(cond))						\
		wait_woken(&_w, TASK_NORMAL, MAX_SCHEDULE_TIMEOUT); \
	remove_wait_queue(&(wq), &_w);				\
	} while (0)

void init_completion(struct completion *c);
void complete(struct completion *c);
void complete_all(struct completion *c);
void wait_for_completion(struct completion *c);
int wait_for_completion_killable(struct completion *c);
int wait_for_completion_interruptible(struct completion *c);
void msleep(unsigned int ms);

#define current			sim_current
#define signal_pending(t)	(false)
#define fatal_signal_pending(t)	(false)
#define need_resched()		(false)
#define single_task_running()	(true)
#define rt_task(t)		(false)

#endif /* _SIM_WAIT_H */
