// SPDX-License-Identifier: GPL-2.0
/* kthread workers: threads that do one work at a time, in order. */
#include "mem.h"

static void run_next(struct sim_entry *e)
{
	struct kthread_worker *w = container_of(e, struct kthread_worker,
						entry);
	struct kthread_work *work;

	if (list_empty(&w->list))
		return;
	work = list_first_entry(&w->list, struct kthread_work, list);
	list_del_init(&work->list);
	w->current_work = work;
	sim_current->node = work->node;
	work->func(work);
	w->current_work = NULL;
	sim_wake(&w->changed);
	if (!list_empty(&w->list))
		sim_ready(&w->entry);
}

struct kthread_worker *kthread_create_worker(unsigned int flags,
					     const char *name)
{
	struct kthread_worker *w = kzalloc(sizeof(*w), GFP_KERNEL);

	if (!w)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&w->list);
	w->entry = SIM_ENTRY(run_next, name, false);
	return w;
}

static bool busy(const struct kthread_worker *w)
{
	return w->current_work || !list_empty(&w->list);
}

void kthread_destroy_worker(struct kthread_worker *w)
{
	while (busy(w))
		sim_wait(&w->changed, "kthread_destroy_worker");
	sim_unready(&w->entry);
	kfree(w);
}

void kthread_init_work(struct kthread_work *work, kthread_work_func_t fn)
{
	*work = (struct kthread_work){ .func = fn };
	INIT_LIST_HEAD(&work->list);
}

static void put_on(struct kthread_worker *w, struct kthread_work *work)
{
	work->worker = w;
	work->node = sim_current ? sim_current->node : -1;
	list_add_tail(&work->list, &w->list);
	if (!w->current_work)
		sim_ready(&w->entry);
}

bool kthread_queue_work(struct kthread_worker *w, struct kthread_work *work)
{
	sim_point();
	if (!list_empty(&work->list) || work->canceling)
		return false;
	put_on(w, work);
	return true;
}

static void wait_until_done(struct kthread_work *work)
{
	while (work->worker->current_work == work)
		sim_wait(&work->worker->changed, "kthread work");
}

bool kthread_cancel_work_sync(struct kthread_work *work)
{
	bool was;

	sim_may_sleep("kthread_cancel_work_sync()");
	if (!work->worker)
		return false;
	was = !list_empty(&work->list);
	list_del_init(&work->list);
	work->canceling++;
	wait_until_done(work);
	work->canceling--;
	return was;
}

void kthread_flush_work(struct kthread_work *work)
{
	struct kthread_worker *w = work->worker;

	if (!w)
		return;
	while (!list_empty(&work->list) || w->current_work == work)
		sim_wait(&w->changed, "kthread_flush_work");
}
