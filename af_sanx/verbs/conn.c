// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a connection on a link, from attach to release.
 *
 * The end of a connection.  FIN ends one direction.  CLOSE says that its sender
 * neither sends nor reads any more; CLOSE_ACK answers at once, whatever the
 * program there does, and promises to write and say nothing more.  So the
 * closer gets its ring and its id back after one round trip.  The side that
 * answers needs no CLOSE of its own later: nobody would read it.  When both
 * close at once both answer.  Until its last frame has been completed, and all
 * before it with that, a connection stays attached.
 *
 * A link that is lost takes nothing with it that may still be said: what is
 * not over becomes an orphan (orphan.c).
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "verbs.h"

/* How long what a program has sent and closed waits for a peer that is there. */
#define UNREAD_MAX	(15 * 60 * HZ)

static void release_work(struct work_struct *work)
{
	vconn_release(container_of(work, struct vconn, work));
}

/**
 * vconn_init() - start a connection's part, not attached
 * @vc: zeroed, or refused before
 *
 * Context: process.
 */
void vconn_init(struct vconn *vc)
{
	INIT_LIST_HEAD(&vc->wait);
	INIT_LIST_HEAD(&vc->reg);
	INIT_LIST_HEAD(&vc->pend);
	INIT_LIST_HEAD(&vc->ask);
	INIT_LIST_HEAD(&vc->room);
	INIT_LIST_HEAD(&vc->node);
	INIT_LIST_HEAD(&vc->longs);
	INIT_LIST_HEAD(&vc->spill);
	INIT_WORK(&vc->move, vspill_work);
	INIT_WORK(&vc->work, release_work);
	INIT_DELAYED_WORK(&vc->grow, vgrow_work);
	sanx_gather_init(&vc->gather, VPAYLOAD_PIECE, vconn_flush);
	vc->most = SANX_RING_MAX;
}

/**
 * vconn_lock() - lock the link that a connection is on, or was on last
 * @vc: a connection that is, or was, attached
 *
 * Context: any.
 * Return: the link, its tx_lock held; it stays for as long as that is.
 */
struct vlink *vconn_lock(struct vconn *vc) __acquires(&vc->link->tx_lock)
{
	struct vlink *link;

	rcu_read_lock();
again:
	/* Pairs with the release in resume_switch(). */
	link = smp_load_acquire(&vc->link);
	spin_lock_bh(&link->tx_lock);
	if (unlikely(link != READ_ONCE(vc->link))) {
		spin_unlock_bh(&link->tx_lock);
		goto again;
	}
	rcu_read_unlock();
	return link;
}

/**
 * vconn_link_get() - the link that a connection is on, as a user
 * @vc: a connection that is, or was, attached
 *
 * Context: any.
 * Return: the link, for vlink_user_put(); or NULL if it is at its end.
 */
struct vlink *vconn_link_get(struct vconn *vc)
{
	struct vlink *link;

	rcu_read_lock();
	link = READ_ONCE(vc->link);
	if (!refcount_inc_not_zero(&link->users))
		link = NULL;
	rcu_read_unlock();
	return link;
}

/**
 * vconn_find() - the connection of an id
 * @g: the group
 * @id: ours, as the peer knows it
 *
 * Context: any.
 * Return: it, with a reference, attached, or an orphan, or neither any more; or
 * NULL.
 */
struct vconn *vconn_find(struct vgroup *g, u32 id)
{
	struct vconn *vc;

	rcu_read_lock();
	vc = xa_load(&g->ids, id);
	if (vc && !refcount_inc_not_zero(&vconn_conn(vc)->refs))
		vc = NULL;
	rcu_read_unlock();
	return vc;
}

/* What it begins with: see grow.c. */
static int attach_first(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct mem_cgroup *memcg;
	u8 *buf;

	memcg = set_active_memcg(conn->memcg);
	/* Nobody is killed at the will of a peer. */
	buf = kmalloc(SANX_RING_FIRST, GFP_KERNEL_ACCOUNT | __GFP_NOWARN |
				       __GFP_NORETRY);
	set_active_memcg(memcg);
	if (!buf)
		return -ENOMEM;
	sanx_rxq_init(&conn->rx, buf, SANX_RING_FIRST);
	return 0;
}

static void free_first(struct vconn *vc)
{
	struct sanx_rxq *q = &vconn_conn(vc)->rx;

	if (q->out.buf != vc->ring.buf && q->out.buf != vc->old.buf)
		kfree(q->out.buf);
	/* The reader has not come back to it. */
	if (q->in.buf != vc->ring.buf && q->in.buf != q->out.buf)
		kfree(q->in.buf);
	kfree(vc->first);
	vc->first = NULL;
	sanx_rxq_init(q, NULL, 0);
}

/**
 * vconn_window_ok() - can anything be sent to a connection?
 * @link: its link
 * @win: the peer's ring, or none
 *
 * Return: 0, or -EPROTO if it has no ring and takes nothing in frames.
 */
int vconn_window_ok(const struct vlink *link,
		    const struct sanx_window_info *win)
{
	return win->size || link->inline_max ? 0 : -EPROTO;
}

/**
 * vconn_set_window() - the peer has told where its ring is
 * @vc: a connection that knew of none, or of a smaller one, or of the same on
 *	another link
 * @win: the ring; none is no news
 *
 * Context: as sanx_txq_credit(), which is to follow; and tx_lock held.
 */
void vconn_set_window(struct vconn *vc, const struct sanx_window_info *win)
{
	lockdep_assert_held(&vc->link->tx_lock);
	if (!win->size)
		return;
	sanx_trim_arm(vconn_conn(vc));
	vconn_conn(vc)->tx.size = win->size;
	vc->win.addr = win->addr;
	vc->win.rkey = win->rkey;
	WRITE_ONCE(vc->win.size, win->size);
}

/**
 * vconn_join() - from here on link_end() finds a connection
 * @vc: a connection with what rings it has mapped for @link
 * @link: a link that is up
 *
 * Context: tx_lock held, and given back with vxmit_unlock().
 */
void vconn_join(struct vconn *vc, struct vlink *link)
{
	lockdep_assert_held(&link->tx_lock);
	vc->early |= link->early;
	list_add_tail(&vc->node, &link->conns);
	WRITE_ONCE(link->n_conns, link->n_conns + 1);
	vxmit_reg(vc);
	vxmit_run(link);
}

static int attach_publish(struct vconn *vc, struct vlink *link, u32 flags)
{
	int err = -ENOTCONN;

	spin_lock_bh(&link->tx_lock);
	if (link->state == VLINK_UP) {
		vc->flags = flags;
		vc->acked_at = jiffies;
		kref_get(&link->refs);
		WRITE_ONCE(vc->link, link);
		sanx_conn_get(vconn_conn(vc));
		refcount_inc(&link->users);
		vconn_join(vc, link);
		err = 0;
	}
	vxmit_unlock(link);
	return err;
}

/**
 * vconn_attach() - put a connection on a link
 * @vc: the connection, initialised
 * @link: the link, with a reference of the caller's, and if it is dying not
 *	yet without its device: by vnet.lock, or as a user
 * @flags: VCONN_* to begin with
 *
 * Context: process, may sleep.
 * Return: 0, and the link has a reference of the connection until
 * vconn_release(); or -errno, and nothing has changed.
 */
int vconn_attach(struct vconn *vc, struct vlink *link, u32 flags)
{
	struct vgroup *g = link->group;
	int err;

	err = xa_alloc_cyclic_bh(&g->ids, &vc->id, vc,
				 XA_LIMIT(1, SANX_IMM_CONN_MAX), &g->next_id,
				 GFP_KERNEL);
	if (err < 0)
		return err;
	err = attach_first(vc);
	if (!err)
		err = attach_publish(vc, link, flags);
	if (!err)
		return 0;
	xa_erase_bh(&g->ids, vc->id);
	free_first(vc);
	return err;
}

static void conn_ask(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);

	/* Its link may have ended, and it with that. */
	if (!(vc->flags & VCONN_RELEASED))
		vask_begin(vc);
	vxmit_pend(vc, VCONN_P_OPEN);
	vxmit_unlock(link);
}

/**
 * vconn_open() - ask the peer for a connection
 * @vc: the connection, initialised
 * @link: a link, with a reference of the caller's
 *
 * Context: process, may sleep.
 * Return: 0, and the answer will come; or -errno.
 */
int vconn_open(struct vconn *vc, struct vlink *link)
{
	int err = -ENOTCONN;

	/* What is to be got of the device has to be got while there is one. */
	if (!refcount_inc_not_zero(&link->users))
		return err;
	if (READ_ONCE(link->state) == VLINK_UP)
		err = vconn_attach(vc, link, VCONN_OPENING);
	vlink_user_put(link);
	if (!err)
		conn_ask(vc);
	return err;
}

/**
 * vconn_reopen() - ask again, after the peer was busy
 * @vc: the connection
 *
 * Context: process, lock_sock() held.
 * Return: 0, and the answer will come; or -EHOSTUNREACH if the link is gone.
 */
int vconn_reopen(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);
	int err = -EHOSTUNREACH;

	if (link->state == VLINK_UP && (vc->flags & VCONN_IDLE) &&
	    !(vc->flags & VCONN_RELEASED)) {
		vc->flags ^= VCONN_IDLE | VCONN_OPENING;
		vask_begin(vc);
		vxmit_pend(vc, VCONN_P_OPEN);
		err = 0;
	}
	vxmit_unlock(link);
	return err;
}

static bool conn_over(const struct vconn *vc)
{
	if (vc->pending || vc->inflight)
		return false;
	if (vc->flags & VCONN_OVER)
		return true;
	if ((vc->flags & VCONN_PEER_CLOSED) && !(vc->flags & VCONN_CLOSE_SENT))
		return true;
	return vc->flags & VCONN_CLOSE_ACKED;
}

/* Who calls this sees to vconn_release(). */
static void conn_set_released(struct vconn *vc)
{
	vc->flags |= VCONN_RELEASED;
	list_del_init(&vc->reg);
}

/**
 * vconn_check_over() - release a connection about which all is said
 * @vc: an attached connection
 *
 * Context: tx_lock held.
 */
void vconn_check_over(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	if ((vc->flags & VCONN_RELEASED) || !conn_over(vc))
		return;
	conn_set_released(vc);
	queue_work(vconn_wq, &vc->work);
}

/**
 * vconn_abort() - nothing more is to be said about a connection
 * @vc: an attached connection that the peer does not know, or has refused
 *
 * Context: tx_lock held.
 */
void vconn_abort(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	vc->flags |= VCONN_OVER;
	vc->pending = 0;
	list_del_init(&vc->pend);
	vconn_check_over(vc);
}

/**
 * vconn_release() - take a connection off its link
 * @vc: a connection that is RELEASED, by who calls this, once
 *
 * Our ring may still be read after this, but not written.
 *
 * Context: process, may sleep.
 */
void vconn_release(struct vconn *vc)
{
	struct vlink *link = vc->link;

	xa_erase_bh(&link->group->ids, vc->id);
	/* It was released before, so it stays an orphan or none. */
	if (READ_ONCE(vc->flags) & VCONN_ORPHAN) {
		vorphan_release(vc);
		return;
	}
	if (vc->parked)
		vopen_requeue(vc->parked);
	vlong_drop(vc);
	vgrow_unmap(vc);
	vring_unmap(&vc->staging);
	spin_lock_bh(&link->tx_lock);
	list_del_init(&vc->pend);
	list_del_init(&vc->ask);
	list_del_init(&vc->room);
	list_del_init(&vc->node);
	WRITE_ONCE(link->n_conns, link->n_conns - 1);
	/* All others may have waited for its registration. */
	vxmit_run(link);
	vxmit_unlock(link);
	vlink_user_put(link);
	sanx_conn_put(vconn_conn(vc));
}

/**
 * vconn_survives() - could anything still be said on another link?
 * @vc: a connection whose link ends
 *
 * Not of one that is not open, or was cut off, or whose peer has said its last
 * word.
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool vconn_survives(const struct vconn *vc)
{
	const u32 over = VCONN_ACCEPTING | VCONN_PEER_CLOSED | VCONN_OVER |
			 VCONN_RESET | VCONN_CLOSE_ACKED;

	return vc->link->err == ETIMEDOUT && (vc->flags & VCONN_OPEN) &&
	       !(vc->flags & over) && !(vc->pending & VCONN_P_OPEN_ACK);
}

/* The next connection that nobody else releases, with a reference. */
static struct vconn *fail_next(struct vlink *link, bool *survives, u32 *flags)
{
	struct vconn *vc;

	spin_lock_bh(&link->tx_lock);
	list_for_each_entry(vc, &link->conns, node) {
		if (vc->flags & VCONN_RELEASED)
			continue;
		*flags = vc->flags;
		*survives = vconn_survives(vc);
		if (!*survives) {
			vc->flags |= VCONN_OVER;
			vc->pending = 0;
			conn_set_released(vc);
		}
		sanx_conn_get(vconn_conn(vc));
		spin_unlock_bh(&link->tx_lock);
		return vc;
	}
	spin_unlock_bh(&link->tx_lock);
	return NULL;
}

static void fail_conn(struct vconn *vc, u32 flags, int err)
{
	struct sanx_conn *conn = vconn_conn(vc);

	if (flags & VCONN_CLOSED)
		;	/* nobody to tell */
	else if (flags & VCONN_OPENING)
		sanx_conn_refused(conn, SANX_FALLBACK_LINK);
	else if ((flags & VCONN_OPEN) && !(flags & VCONN_PEER_CLOSED))
		sanx_conn_reset(conn, err);
	vconn_release(vc);
}

/**
 * vconn_fail_all() - the link is dead, and its connections are orphans or dead
 * @link: a link whose queue pair is drained, and whose slots are free
 *
 * Context: process, may sleep.
 */
void vconn_fail_all(struct vlink *link)
{
	struct vconn *vc;
	bool survives;
	u32 flags;

	while ((vc = fail_next(link, &survives, &flags))) {
		/* If it turns out not to survive, it fails next time. */
		if (!survives)
			fail_conn(vc, flags, link->err);
		else
			vorphan_take(vc, link);
		sanx_conn_put(vconn_conn(vc));
	}
}

static void close_attached(struct vconn *vc, bool reset)
{
	lockdep_assert_held(&vc->link->tx_lock);
	if (vc->flags & VCONN_CLOSED)
		return;
	vc->flags |= VCONN_CLOSED | (reset ? VCONN_RESET : 0);
	vc->pending &= ~VCONN_P_CREDIT;
	vc->acked_at = jiffies;
	list_del_init(&vc->room);
	if (vc->flags & (VCONN_OVER | VCONN_PEER_CLOSED))
		return;
	/* The peer learns of it when it asks for the connection. */
	if ((vc->flags & VCONN_ORPHAN) && reset) {
		vconn_abort(vc);
		return;
	}
	if (vc->flags & VCONN_OPEN) {
		if (reset)
			vc->pending &= ~(VCONN_P_FIN | VCONN_P_DATA);
		else
			vxmit_uncork(vc);
		vxmit_pend(vc, VCONN_P_CLOSE);
		return;
	}
	/* An OPEN that is under way gets its answer first. */
	if ((vc->flags & VCONN_IDLE) || (vc->pending & VCONN_P_OPEN))
		vconn_abort(vc);
}

/**
 * vconn_give_up() - what is left of a closed connection is not to be sent
 * @vc: an attached connection that is CLOSED
 *
 * The peer gets a reset.
 *
 * Context: tx_lock held, and given back with vxmit_unlock().
 */
void vconn_give_up(struct vconn *vc)
{
	lockdep_assert_held(&vc->link->tx_lock);
	if (!(vc->pending & VCONN_P_DATA) && !vspill_waits(vc))
		return;
	vc->pending &= ~(VCONN_P_DATA | VCONN_P_FIN);
	vc->flags |= VCONN_RESET;
	vxmit_pend(vc, VCONN_P_CLOSE);
}

/**
 * vconn_cut_locked() - nothing more of a connection is to be sent but a reset
 * @vc: an attached connection; its program may have closed it
 *
 * Context: tx_lock held, and given back with vxmit_unlock().
 */
void vconn_cut_locked(struct vconn *vc)
{
	close_attached(vc, true);
	/* What a program had closed in order it is too late for. */
	if (vc->flags & (VCONN_OVER | VCONN_PEER_CLOSED | VCONN_RESET))
		return;
	vc->pending &= ~(VCONN_P_DATA | VCONN_P_FIN);
	vc->flags |= VCONN_RESET;
	vxmit_pend(vc, VCONN_P_CLOSE);
}

/**
 * vconn_sweep() - give up connections that a program has closed long ago, and
 *	whose peers do not read
 * @link: the link
 *
 * TCP lets them be until there are too many; but nobody can see to these.
 *
 * Context: tx_lock held, and given back with vxmit_unlock().
 */
void vconn_sweep(struct vlink *link)
{
	struct vconn *vc;

	lockdep_assert_held(&link->tx_lock);
	list_for_each_entry(vc, &link->conns, node)
		if ((vc->flags & VCONN_CLOSED) &&
		    time_after(jiffies, vc->acked_at + UNREAD_MAX))
			vconn_give_up(vc);
}

/**
 * vconn_close() - sanx_transport_ops.close
 * @conn: the connection
 * @reset: as there
 *
 * Context: process, may sleep.
 */
void vconn_close(struct sanx_conn *conn, bool reset)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link;

	/* One that waits for a link may get attached at any time. */
	if (!READ_ONCE(vc->link) && vgroup_cancel(vc))
		return;
	if (!READ_ONCE(vc->link))
		return;
	/* connect(AF_UNSPEC) closes what another call may be sending on. */
	mutex_lock(&conn->tx_mutex);
	sanx_gather_stop(&vc->gather);
	mutex_unlock(&conn->tx_mutex);
	link = vconn_lock(vc);
	close_attached(vc, reset);
	vxmit_unlock(link);
}

/**
 * vconn_cut() - sanx_transport_ops.abort
 * @conn: the connection
 *
 * Context: any.
 */
void vconn_cut(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);

	close_attached(vc, true);
	vxmit_unlock(link);
}

/**
 * vconn_reset_deaf() - bytes came that nobody will ever read
 * @vc: a connection that is sanx_conn_deaf()
 *
 * The program's own close() then finds all done.
 *
 * Context: softirq.
 */
void vconn_reset_deaf(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);

	vconn_cut(conn);
	sanx_conn_reset(conn, ECONNRESET);
}

/**
 * vconn_pulse() - sanx_transport_ops.pulse
 * @conn: the connection
 * @pulse: as there
 *
 * Context: any.
 */
void vconn_pulse(struct sanx_conn *conn, struct sanx_pulse *pulse)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);

	pulse->heard = READ_ONCE(link->heard);
	pulse->lost = vc->flags & (VCONN_ORPHAN | VCONN_RESUMING) ||
		      link->state != VLINK_UP || vlink_quiet(link);
	pulse->unacked = vc->acked != (vc->corked ? vc->posted : vc->end) ||
			 (vc->pending & VCONN_P_FIN);
	pulse->acked = vc->acked_at;
	spin_unlock_bh(&link->tx_lock);
}

/**
 * vconn_probe() - sanx_transport_ops.probe
 * @conn: the connection
 *
 * Context: any.
 */
void vconn_probe(struct sanx_conn *conn)
{
	struct vlink *link = vconn_lock(vconn_of(conn));

	vlink_ask(link);
	vxmit_unlock(link);
}

static void destroy_work(struct work_struct *work)
{
	struct vconn *vc = container_of(work, struct vconn, work);

	free_first(vc);
	vspill_free(vc);
	vgrow_free(vc);
	vring_free(&vc->staging);
	sanx_conn_free(vconn_conn(vc));
}

/**
 * vconn_destroy() - sanx_transport_ops.destroy
 * @conn: the connection, not attached any more
 *
 * Context: any.
 */
void vconn_destroy(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);

	if (vc->link)
		vlink_put(vc->link);
	if (vgrow_free_sleeps(vc) || vring_free_sleeps(&vc->staging) ||
	    !list_empty(&vc->spill)) {
		INIT_WORK(&vc->work, destroy_work);
		queue_work(vconn_wq, &vc->work);
		return;
	}
	destroy_work(&vc->work);
}
