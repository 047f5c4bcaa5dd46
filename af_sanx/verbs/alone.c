// SPDX-License-Identifier: GPL-2.0
/*
 * Devices on which a registration must go alone: rxe.
 *
 * When rxe retransmits, it goes through its send queue again from the first work request
 * that is not complete, and carries out a registration a second time.  The memory region
 * is not free any more then, and the queue pair fails (rxe_requester() does local
 * operations in any state).  So no work that is not complete may precede a registration.
 *
 * A message with a registration therefore waits until all work is complete, and so does
 * each message behind it.  Then the registrations of all that wait are posted first, and
 * the messages behind them.  So one wait serves the connections of many messages.
 *
 * verbs_alone.lock is inside link.tx_lock, under which messages come.  Completions take it
 * without that lock.
 */
#include <linux/error-injection.h>
#include <linux/slab.h>

#include "order.h"
#include "verbs.h"

/**
 * struct verbs_waiting - a message that waits
 * @m: the message
 * @enable: copy of its mapping to enable, if it has one
 */
struct verbs_waiting {
	struct sanx_wire_msg	m;
	struct sanx_wire_map	enable;
};

/**
 * struct verbs_alone - the order of work on a queue pair
 * @lock: guards all of it
 * @err: why nothing is posted any more, or 0
 * @order: what is under way
 * @fence: completion of a fence
 * @number: verbs_order.posted behind the message of each slot
 * @wait: messages that wait, in order
 */
struct verbs_alone {
	spinlock_t		lock; /* guards: see above */
	int			err;
	struct verbs_order	order;
	struct verbs_cqe	fence;
	u32			number[SANX_WIRE_SLOTS];
	struct verbs_waiting	wait[SANX_WIRE_SLOTS];
};

static void wait_add(struct verbs_alone *a, const struct sanx_wire_msg *m)
{
	struct verbs_waiting *w = &a->wait[a->order.waiting];

	w->m = *m;
	if (!m->enable)
		return;
	w->enable = *m->enable;
	w->m.enable = &w->enable;
}

/* A write of no bytes needs neither address nor key (IBTA volume 1, C9-88). */
static int fence_post(struct verbs_link *vl)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &vl->alone->fence.cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};

	return ib_post_send(vl->qp, &wr.wr, NULL);
}

static int post_now(struct verbs_link *vl, const struct sanx_wire_msg *m)
{
	struct verbs_alone *a = vl->alone;

	verbs_order_posted(&a->order, m->signal);
	a->number[m->slot] = a->order.posted;
	return verbs_post_chain(vl, m);
}

static noinline int alone_flush(struct verbs_link *vl)
{
	struct verbs_alone *a = vl->alone;
	u32 i, n = a->order.waiting;
	int err = 0;

	a->order.waiting = 0;
	for (i = 0; i < n && !err; i++) {
		if (a->wait[i].m.enable)
			err = verbs_post_reg(vl, a->wait[i].m.enable);
		a->wait[i].m.enable = NULL;
	}
	for (i = 0; i < n && !err; i++)
		err = post_now(vl, &a->wait[i].m);
	return err;
}
ALLOW_ERROR_INJECTION(alone_flush, ERRNO);

/* The first @n messages are complete. */
static void alone_done(struct verbs_link *vl, u32 n)
{
	struct verbs_alone *a = vl->alone;
	int err = 0;

	spin_lock_bh(&a->lock);
	if (verbs_order_done(&a->order, n) && !a->err) {
		err = alone_flush(vl);
		/* Nothing may take the place of what was not posted. */
		a->err = err;
	}
	spin_unlock_bh(&a->lock);
	if (err)
		sanx_wire_failed(vl->wl.link, SANX_WIRE_LOST);
}

static void fence_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_cqe *e = container_of(wc->wr_cqe, struct verbs_cqe, cqe);

	/* Nothing was posted behind it. */
	if (wc->status == IB_WC_SUCCESS)
		alone_done(e->vl, e->vl->alone->order.asked);
	else
		verbs_wc_error(e->vl, wc, "fence");
}

/*
 * Have registrations on a queue pair go alone, until verbs_alone_free().
 * Return: 0 or -ENOMEM.
 */
int verbs_alone_alloc(struct verbs_link *vl)
{
	struct verbs_alone *a = kvzalloc(sizeof(*a), GFP_KERNEL);

	if (!a)
		return -ENOMEM;
	spin_lock_init(&a->lock);
	a->fence.cqe.done = fence_done;
	a->fence.vl = vl;
	vl->alone = a;
	return 0;
}

/* Free what verbs_alone_alloc() has allocated, if it has. */
void verbs_alone_free(struct verbs_link *vl)
{
	kvfree(vl->alone);
}

/* Post a message, or have it wait. */
int verbs_alone_post(struct verbs_link *vl, const struct sanx_wire_msg *m)
{
	struct verbs_alone *a = vl->alone;
	int err;

	spin_lock_bh(&a->lock);
	err = a->err;
	if (err) {
		/* The engine will learn of it. */
	} else if (verbs_order_may(&a->order, m->enable)) {
		err = post_now(vl, m);
	} else {
		wait_add(a, m);
		if (verbs_order_wait(&a->order))
			err = fence_post(vl);
	}
	spin_unlock_bh(&a->lock);
	return err;
}

/* A message is complete. */
void verbs_alone_sent(struct verbs_link *vl, u32 slot)
{
	alone_done(vl, vl->alone->number[slot]);
}

/* Post nothing any more. */
void verbs_alone_stop(struct verbs_link *vl)
{
	spin_lock_bh(&vl->alone->lock);
	vl->alone->err = -ESHUTDOWN;
	spin_unlock_bh(&vl->alone->lock);
}
