/* SPDX-License-Identifier: GPL-2.0 */
/* Workqueues and kthread workers. */
#ifndef _SIM_WORK_H
#define _SIM_WORK_H

#include "wait.h"

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);

/**
 * struct work_struct - work
 * @func: its function
 * @wq: the queue that it was put on last
 * @pending: queued, and not started
 * @canceling: calls of cancel_work_sync() that wait; it cannot be queued
 * @seq: when it was queued
 * @entry: starts it
 * @list: in the list of pending work
 */
struct work_struct {
	work_func_t		func;
	struct workqueue_struct	*wq;
	bool			pending;
	int			canceling;
	u64			seq;
	struct sim_entry	entry;
	struct list_head	list;
};

struct delayed_work {
	struct work_struct	work;
	struct timer_list	timer;
	struct workqueue_struct	*wq;
};

struct workqueue_struct {
	const char		*name;
	unsigned int		flags;
	struct list_head	pending;
};

extern struct workqueue_struct *system_wq;
extern struct workqueue_struct *system_long_wq;

#define WQ_UNBOUND		2
#define WQ_MEM_RECLAIM		8
#define WQ_HIGHPRI		16

void sim_work_init(struct work_struct *w, work_func_t fn, const char *name);
void sim_delayed_work_init(struct delayed_work *d, work_func_t fn,
			   const char *name);
#define INIT_WORK(w, fn)		sim_work_init(w, fn, #fn)
#define INIT_DELAYED_WORK(d, fn)	sim_delayed_work_init(d, fn, #fn)

static inline struct delayed_work *to_delayed_work(struct work_struct *work)
{
	return container_of(work, struct delayed_work, work);
}

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max, ...);
void destroy_workqueue(struct workqueue_struct *wq);
void flush_workqueue(struct workqueue_struct *wq);
bool queue_work(struct workqueue_struct *wq, struct work_struct *w);
bool cancel_work_sync(struct work_struct *w);
bool flush_work(struct work_struct *w);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *d,
			unsigned long delay);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *d,
		      unsigned long delay);
bool cancel_delayed_work(struct delayed_work *d);
bool cancel_delayed_work_sync(struct delayed_work *d);
#define work_pending(w)			READ_ONCE((w)->pending)
#define delayed_work_pending(d)		work_pending(&(d)->work)
#define schedule_work(w)		queue_work(system_wq, w)

struct kthread_work;
typedef void (*kthread_work_func_t)(struct kthread_work *work);

struct kthread_work {
	struct list_head	list;
	kthread_work_func_t	func;
	struct kthread_worker	*worker;
	int			canceling;
	int			node;
};

/**
 * struct kthread_worker - a thread that does one work at a time, in order
 * @list: &struct kthread_work
 * @current_work: the one that it does, or NULL
 * @entry: does the next one
 * @changed: woken after each work
 */
struct kthread_worker {
	struct list_head	list;
	struct kthread_work	*current_work;
	struct sim_entry	entry;
	struct sim_waiters	changed;
};

struct kthread_worker *kthread_create_worker(unsigned int flags,
					     const char *name);
void kthread_destroy_worker(struct kthread_worker *w);
void kthread_init_work(struct kthread_work *work, kthread_work_func_t fn);
bool kthread_queue_work(struct kthread_worker *w, struct kthread_work *work);
bool kthread_cancel_work_sync(struct kthread_work *work);
void kthread_flush_work(struct kthread_work *work);

#endif /* _SIM_WORK_H */
