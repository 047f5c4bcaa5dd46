// SPDX-License-Identifier: GPL-2.0
/* RCU: a callback runs at a random time after the readers of its time ended. */
#include "lock.h"
#include "mem.h"

static struct rcu_head *first, **last = &first;
static unsigned int n_callbacks;
static u64 n_queued, n_called;
static struct sim_waiters barrier_waiters;

/* What kfree_rcu() will free. */
struct rcu_free {
	struct rcu_head	head;
	void		*p;
};

static void call_ready(struct sim_entry *e)
{
	u64 oldest = sim_oldest_reader();
	struct rcu_head *h;

	/* This task is a reader itself, but a late one. */
	while (first && first->seq < oldest) {
		h = first;
		first = h->next;
		if (!first)
			last = &first;
		sim_current->node = h->node;
		h->func(h);
		n_callbacks--;
		n_called++;
		sim_wake(&barrier_waiters);
		if (sim_chance(4))
			break;
	}
}

static struct sim_entry rcu_entry = {
	.fn = call_ready, .name = "rcu", .node = -1, .slot = -1, .softirq = true,
};

/**
 * sim_rcu_poll() - let callbacks run if a grace period has ended
 */
void sim_rcu_poll(void)
{
	if (!first || rcu_entry.slot >= 0)
		return;
	if (sim_n_ready() && !sim_chance(8))
		return;
	if (first->seq < sim_oldest_reader())
		sim_ready(&rcu_entry);
}

bool sim_rcu_idle(void)
{
	return !n_callbacks;
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	sim_point();
	head->func = func;
	head->next = NULL;
	head->seq = sim_steps + 1;
	head->node = sim_current ? sim_current->node : -1;
	*last = head;
	last = &head->next;
	n_callbacks++;
	n_queued++;
	sim_point();
}

static void free_one(struct rcu_head *head)
{
	struct rcu_free *f = container_of(head, struct rcu_free, head);

	sim_free(f->p);
	sim_free(f);
}

/* The offset of @head in @p is not known later, so remember both. */
void sim_kfree_rcu(void *p, struct rcu_head *head)
{
	struct rcu_free *f = sim_alloc(sizeof(*f), __GFP_NOFAIL, __sim_where);

	f->p = p;
	call_rcu(&f->head, free_one);
}

void rcu_barrier(void)
{
	u64 last_queued = n_queued;

	while (n_called < last_queued)
		sim_wait(&barrier_waiters, "rcu_barrier");
}

static void wake_sync(struct rcu_head *head)
{
	head->seq = 0;
	sim_wake(&barrier_waiters);
}

void synchronize_rcu(void)
{
	struct rcu_head head;

	sim_may_sleep("synchronize_rcu()");
	call_rcu(&head, wake_sync);
	while (head.seq)
		sim_wait(&barrier_waiters, "synchronize_rcu");
}
