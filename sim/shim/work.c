// SPDX-License-Identifier: GPL-2.0
/*
 * Workqueues: any pending work may start at any time, beside other work; but a
 * work item does not run beside itself.
 */
#include <stdlib.h>

#include "work.h"

struct workqueue_struct *system_wq, *system_long_wq;

static u64 work_seq;
static struct sim_waiters work_done;

static struct sim_task *runner(const void *work, const void *fn)
{
	struct sim_task *t;

	for (t = sim_tasks(); t; t = t->all)
		if (t->work == work && (!fn || t->work_fn == fn))
			return t;
	return NULL;
}

/* Work that was queued while it ran may start now. */
static void start_again(struct workqueue_struct *wq, const void *work)
{
	struct work_struct *w;

	list_for_each_entry(w, &wq->pending, list)
		if (w == work)
			sim_ready(&w->entry);
}

static void run_work(struct sim_entry *e)
{
	struct work_struct *w = container_of(e, struct work_struct, entry);
	struct sim_task *t = sim_current;
	struct workqueue_struct *wq = w->wq;

	t->work = w;
	t->work_fn = (void *)w->func;
	t->wq = wq;
	t->work_seq = w->seq;
	list_del_init(&w->list);
	w->pending = false;
	w->func(w);
	t->work = NULL;
	t->wq = NULL;
	start_again(wq, w);
	sim_wake(&work_done);
}

void sim_work_init(struct work_struct *w, work_func_t fn, const char *name)
{
	*w = (struct work_struct){
		.func = fn,
		.entry = SIM_ENTRY(run_work, name, false),
	};
	INIT_LIST_HEAD(&w->list);
}

static void put_on(struct workqueue_struct *wq, struct work_struct *w)
{
	w->wq = wq;
	w->seq = ++work_seq;
	w->entry.node = sim_current ? sim_current->node : -1;
	list_add_tail(&w->list, &wq->pending);
	if (!runner(w, (void *)w->func))
		sim_ready(&w->entry);
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *w)
{
	sim_point();
	if (w->pending || w->canceling)
		return false;
	w->pending = true;
	put_on(wq, w);
	sim_point();
	return true;
}

static bool take_off(struct work_struct *w)
{
	bool was = w->pending;

	if (!list_empty(&w->list))
		list_del_init(&w->list);
	sim_unready(&w->entry);
	w->pending = false;
	return was;
}

static void wait_for_runner(struct work_struct *w)
{
	w->canceling++;
	while (runner(w, NULL))
		sim_wait(&work_done, "cancel_work_sync");
	w->canceling--;
}

bool cancel_work_sync(struct work_struct *w)
{
	bool was;

	sim_may_sleep("cancel_work_sync()");
	was = take_off(w);
	wait_for_runner(w);
	sim_point();
	return was;
}

static bool before(const struct workqueue_struct *wq, u64 seq)
{
	struct work_struct *w;
	struct sim_task *t;

	list_for_each_entry(w, &wq->pending, list)
		if (w->seq <= seq)
			return true;
	for (t = sim_tasks(); t; t = t->all)
		if (t->wq == wq && t->work_seq <= seq)
			return true;
	return false;
}

void flush_workqueue(struct workqueue_struct *wq)
{
	u64 seq = work_seq;

	sim_may_sleep("flush_workqueue()");
	while (before(wq, seq))
		sim_wait(&work_done, "flush_workqueue");
}

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max, ...)
{
	struct workqueue_struct *wq = kzalloc(sizeof(*wq), GFP_KERNEL);

	if (!wq)
		return NULL;
	wq->name = name;
	wq->flags = flags;
	INIT_LIST_HEAD(&wq->pending);
	return wq;
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	while (before(wq, U64_MAX))
		flush_workqueue(wq);
	kfree(wq);
}

static void delay_over(struct timer_list *t)
{
	struct delayed_work *d = container_of(t, struct delayed_work, timer);

	put_on(d->wq, &d->work);
}

void sim_delayed_work_init(struct delayed_work *d, work_func_t fn,
			   const char *name)
{
	sim_work_init(&d->work, fn, name);
	timer_setup(&d->timer, delay_over, 0);
	d->timer.t.entry.name = name;
}

static void put_on_later(struct workqueue_struct *wq, struct delayed_work *d,
			 unsigned long delay)
{
	d->work.pending = true;
	d->wq = wq;
	if (delay)
		sim_timer_arm(&d->timer, jiffies + delay);
	else
		put_on(wq, &d->work);
}

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *d,
			unsigned long delay)
{
	sim_point();
	if (d->work.pending || d->work.canceling)
		return false;
	put_on_later(wq, d, delay);
	return true;
}

static bool take_off_delayed(struct delayed_work *d)
{
	sim_timer_cancel(&d->timer.t);
	return take_off(&d->work);
}

/* As in the kernel, true also if it is being cancelled, and not queued then. */
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *d,
		      unsigned long delay)
{
	bool was;

	sim_point();
	if (d->work.canceling)
		return true;
	was = take_off_delayed(d);
	put_on_later(wq, d, delay);
	return was;
}

bool cancel_delayed_work(struct delayed_work *d)
{
	sim_point();
	return take_off_delayed(d);
}

bool cancel_delayed_work_sync(struct delayed_work *d)
{
	bool was;

	sim_may_sleep("cancel_delayed_work_sync()");
	was = take_off_delayed(d);
	wait_for_runner(&d->work);
	sim_point();
	return was;
}
