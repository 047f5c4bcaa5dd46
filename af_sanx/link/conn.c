// SPDX-License-Identifier: GPL-2.0
/*
 * Connections on a link, from attach to release.
 *
 * End of a connection: FIN ends one direction.  CLOSE says that its sender
 * neither sends nor reads any more.  The peer answers CLOSE_ACK at once,
 * whatever its program does, and promises to write and send nothing more.  So
 * the side that closes can reuse its ring and its id after one round trip.  The
 * side that answers sends no CLOSE of its own later, because nobody would read
 * it.  If both sides send CLOSE at once, both answer.  A connection stays
 * attached until its last frame has been completed, and with it all frames
 * before.
 *
 * When a link is lost, connections that are not over are suspended (suspend.c)
 * and lose no bytes.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "internal.h"

/*
 * How long a closed connection waits for a live peer that does not read, in
 * jiffies.
 */
#define UNREAD_MAX	(15 * 60 * HZ)

static void release_work(struct work_struct *work)
{
	vconn_release(container_of(work, struct vconn, work));
}

/**
 * vconn_init() - initialise the transport's part of a connection
 * @vc: zeroed, or refused before; not attached
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
	sanx_coalesce_init(&vc->coalesce, VPAYLOAD_PIECE, vconn_flush);
	vc->most = SANX_RING_MAX;
}

/**
 * vconn_lock() - lock the current or last link of a connection
 * @vc: a connection that is, or was, attached
 *
 * RCU keeps the memory of the link until its lock is taken.  The link is
 * checked again then, because vc->link may have changed; it changes only under
 * the tx_lock of the old link.
 *
 * Context: any.
 * Return: the link, with tx_lock held; vc->link does not change until the
 * caller releases it.
 */
struct vlink *vconn_lock(struct vconn *vc) __acquires(&vc->link->tx_lock)
{
	struct vlink *link;

	rcu_read_lock();
again:
	/* Pairs with smp_store_release() in resume_switch(). */
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
 * vconn_link_get() - get the current or last link of a connection, as a user
 * @vc: a connection that is, or was, attached
 *
 * The link keeps its device resources until the caller calls vlink_user_put().
 *
 * Context: any.
 * Return: the link, or NULL if it has no users any more.
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
 * vconn_find() - find a connection by its id
 * @g: the group
 * @id: our id, as the peer sends it
 *
 * Context: any.
 * Return: the connection with a reference, or NULL.  It may be attached,
 * suspended, or neither any more.
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

/* Allocates the memory that a connection begins with: see grow.c. */
static int attach_first(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	struct mem_cgroup *memcg;
	u8 *buf;

	memcg = set_active_memcg(conn->memcg);
	/* A peer must not be able to cause an OOM kill. */
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
	/* The queue moved back to it, and the reader has not followed yet. */
	if (q->in.buf != vc->ring.buf && q->in.buf != q->out.buf)
		kfree(q->in.buf);
	kfree(vc->first);
	vc->first = NULL;
	sanx_rxq_init(q, NULL, 0);
}

/**
 * vconn_window_ok() - can we send to a connection of the peer?
 * @link: its link
 * @win: the peer's ring, or none
 *
 * Return: 0, or -EPROTO if it has no ring and accepts no payload in frames.
 */
int vconn_window_ok(const struct vlink *link,
		    const struct sanx_window_info *win)
{
	return win->size || link->inline_max ? 0 : -EPROTO;
}

/**
 * vconn_set_window() - note the ring that the peer advertised
 * @vc: a connection whose peer had no ring, or a smaller one, or had this ring
 *	on another link
 * @win: the ring; if it is none, nothing changes
 *
 * Context: tx_lock held; sanx_txq_credit() must follow, and its rules apply.
 */
void vconn_set_window(struct vconn *vc, const struct sanx_window_info *win)
{
	lockdep_assert_held(&vc->link->tx_lock);
	if (!win->size)
		return;
	sanx_reclaim_arm(vconn_conn(vc));
	vconn_conn(vc)->tx.size = win->size;
	vc->win.addr = win->addr;
	vc->win.rkey = win->rkey;
	WRITE_ONCE(vc->win.size, win->size);
}

/**
 * vconn_join() - add a connection to its link, for link_end() to find
 * @vc: a connection; its rings, if any, are mapped for @link
 * @link: a link that is up
 *
 * Context: tx_lock held, to be released by vxmit_unlock().
 */
void vconn_join(struct vconn *vc, struct vlink *link)
{
	lockdep_assert_held(&link->tx_lock);
	vc->early |= link->caps.early;
	list_add_tail(&vc->node, &link->conns);
	WRITE_ONCE(link->n_conns, link->n_conns + 1);
	vxmit_enable(vc);
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
 * vconn_attach() - attach a connection to a link
 * @vc: the connection, initialised
 * @link: the link; the caller has a reference, and vnet.lock or a user that
 *	keeps its device resources even if it is dying
 * @flags: the first VCONN_* flags
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

	/* The link may have ended meanwhile, and the connection with it. */
	if (!(vc->flags & VCONN_RELEASED))
		vask_begin(vc);
	vxmit_pend(vc, VCONN_P_OPEN);
	vxmit_unlock(link);
}

/**
 * vconn_open() - request a connection of the peer
 * @vc: the connection, initialised
 * @link: a link; the caller has a reference
 *
 * Context: process, may sleep.
 * Return: 0, and the answer will come; or -errno.
 */
int vconn_open(struct vconn *vc, struct vlink *link)
{
	int err = -ENOTCONN;

	/* A user keeps the device resources until the attach is done. */
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
 * vconn_reopen() - request a connection again, after the peer was busy
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

/* The caller arranges for vconn_release(). */
static void conn_set_released(struct vconn *vc)
{
	vc->flags |= VCONN_RELEASED;
	list_del_init(&vc->reg);
}

/**
 * vconn_check_over() - release a connection if nothing is left to send or
 * receive
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
 * vconn_abort() - end a connection without another frame
 * @vc: a connection that the peer does not know, or has refused; or one that is
 *	suspended and will not be resumed
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
 * vconn_release() - detach a connection from its link
 * @vc: a connection that the caller has marked RELEASED; called once
 *
 * On return our ring may still be read, but no device can write it.  The link's
 * reference of the connection is put.
 *
 * Context: process, may sleep.
 */
void vconn_release(struct vconn *vc)
{
	struct vlink *link = vc->link;

	xa_erase_bh(&link->group->ids, vc->id);
	/* SUSPENDED does not change any more once RELEASED is set. */
	if (READ_ONCE(vc->flags) & VCONN_SUSPENDED) {
		vsuspend_release(vc);
		return;
	}
	if (vc->parked)
		vopen_requeue(vc->parked);
	vlong_drop(vc);
	vgrow_unmap(vc);
	vring_unmap(&vc->sndbuf);
	spin_lock_bh(&link->tx_lock);
	list_del_init(&vc->pend);
	list_del_init(&vc->ask);
	list_del_init(&vc->room);
	list_del_init(&vc->node);
	WRITE_ONCE(link->n_conns, link->n_conns - 1);
	/* Other frames may have waited for its mapping. */
	vxmit_run(link);
	vxmit_unlock(link);
	vlink_user_put(link);
	sanx_conn_put(vconn_conn(vc));
}

/**
 * vconn_survives() - can a connection continue on another link?
 * @vc: a connection whose link ends
 *
 * It cannot if the link was not lost but ended, or if the connection is not
 * open, was reset, or was closed by the peer.
 *
 * Context: tx_lock held.
 * Return: true if it can.
 */
bool vconn_survives(const struct vconn *vc)
{
	const u32 over = VCONN_ACCEPTING | VCONN_PEER_CLOSED | VCONN_OVER |
			 VCONN_RESET | VCONN_CLOSE_ACKED;

	return vc->link->err == ETIMEDOUT && (vc->flags & VCONN_OPEN) &&
	       !(vc->flags & over) && !(vc->pending & VCONN_P_OPEN_ACK);
}

/*
 * Finds the next connection of a link that is not RELEASED.  One that cannot
 * survive is marked RELEASED for the caller.
 * Return: the connection with a reference, or NULL.
 */
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
		;	/* closed: no program to inform */
	else if (flags & VCONN_OPENING)
		sanx_conn_refused(conn, SANX_FALLBACK_LINK);
	else if ((flags & VCONN_OPEN) && !(flags & VCONN_PEER_CLOSED))
		sanx_conn_reset(conn, err);
	vconn_release(vc);
}

/**
 * vconn_fail_all() - suspend or end all connections of a link
 * @link: a link whose wire has stopped and whose slots are free
 *
 * Context: process, may sleep.
 */
void vconn_fail_all(struct vlink *link)
{
	struct vconn *vc;
	bool survives;
	u32 flags;

	while ((vc = fail_next(link, &survives, &flags))) {
		/* If it no longer survives, it is found again and fails. */
		if (!survives)
			fail_conn(vc, flags, link->err);
		else
			vsuspend_take(vc, link);
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
	/*
	 * We refuse the peer's RESUME; if RESUME is up to us, the peer gives
	 * the connection up after RESUME_MAX.
	 */
	if ((vc->flags & VCONN_SUSPENDED) && reset) {
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
	/* An OPEN that was sent is answered first. */
	if ((vc->flags & VCONN_IDLE) || (vc->pending & VCONN_P_OPEN))
		vconn_abort(vc);
}

/**
 * vconn_give_up() - drop the unsent bytes of a closed connection
 * @vc: an attached connection that is CLOSED
 *
 * If there are any, the peer gets a reset.
 *
 * Context: tx_lock held, to be released by vxmit_unlock().
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
 * vconn_cut_locked() - send nothing more of a connection but a reset
 * @vc: an attached connection; its program may have closed it
 *
 * Context: tx_lock held, to be released by vxmit_unlock().
 */
void vconn_cut_locked(struct vconn *vc)
{
	close_attached(vc, true);
	/* The program had closed it in order: that becomes a reset. */
	if (vc->flags & (VCONN_OVER | VCONN_PEER_CLOSED | VCONN_RESET))
		return;
	vc->pending &= ~(VCONN_P_DATA | VCONN_P_FIN);
	vc->flags |= VCONN_RESET;
	vxmit_pend(vc, VCONN_P_CLOSE);
}

/**
 * vconn_sweep() - give up closed connections whose peers do not read
 * @link: the link
 *
 * TCP keeps such connections until there are too many (tcp_max_orphans).  No
 * tool can end these, so they have a time limit (UNREAD_MAX).
 *
 * Context: tx_lock held, to be released by vxmit_unlock().
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
 * Context: process, may sleep; takes tx_mutex.
 */
void vconn_close(struct sanx_conn *conn, bool reset)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link;

	/* vgroup_link_up() may attach a waiting connection at any time. */
	if (!READ_ONCE(vc->link) && vgroup_cancel(vc))
		return;
	if (!READ_ONCE(vc->link))
		return;
	/* With connect(AF_UNSPEC) another call may still be sending. */
	mutex_lock(&conn->tx_mutex);
	sanx_coalesce_stop(&vc->coalesce);
	mutex_unlock(&conn->tx_mutex);
	link = vconn_lock(vc);
	close_attached(vc, reset);
	vxmit_unlock(link);
}

/**
 * vconn_cut() - sanx_transport_ops.abort
 * @conn: the connection
 *
 * Context: any; takes tx_lock.
 */
void vconn_cut(struct sanx_conn *conn)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);

	close_attached(vc, true);
	vxmit_unlock(link);
}

/**
 * vconn_reset_unread() - reset a connection, for bytes that nobody will read
 * @vc: a connection that is sanx_conn_discards()
 *
 * Later, close() by the program has nothing left to do.
 *
 * Context: softirq; takes tx_lock.
 */
void vconn_reset_unread(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);

	vconn_cut(conn);
	sanx_conn_reset(conn, ECONNRESET);
}

/**
 * vconn_liveness() - sanx_transport_ops.liveness
 * @conn: the connection
 * @report: as there
 *
 * Context: any; takes tx_lock.
 */
void vconn_liveness(struct sanx_conn *conn, struct sanx_liveness_report *report)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);

	report->heard = READ_ONCE(link->heard);
	report->lost = vc->flags & (VCONN_SUSPENDED | VCONN_RESUMING) ||
		       link->state != VLINK_UP || vlink_quiet(link);
	report->unacked = vc->acked != (vc->corked ? vc->posted : vc->end) ||
			  (vc->pending & VCONN_P_FIN);
	report->acked = vc->acked_at;
	spin_unlock_bh(&link->tx_lock);
}

/**
 * vconn_probe() - sanx_transport_ops.probe
 * @conn: the connection
 *
 * Context: any; takes tx_lock.
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
	vring_free(&vc->sndbuf);
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
	if (vgrow_free_sleeps(vc) || vring_free_sleeps(&vc->sndbuf) ||
	    !list_empty(&vc->spill)) {
		INIT_WORK(&vc->work, destroy_work);
		queue_work(vconn_wq, &vc->work);
		return;
	}
	destroy_work(&vc->work);
}
