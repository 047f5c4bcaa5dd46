// SPDX-License-Identifier: GPL-2.0
/*
 * What a sender may keep beyond its staging memory (spare.c of the core).
 *
 * Staging memory is registered, and as large as the peer's ring, so that a stream in
 * flow has what it needs and no more.  Where the peer's reader does not read, what
 * send() takes further is put into plain memory, in pieces, and a worker moves it to
 * the staging memory as that empties.  As long as there is some, it is the only
 * writer there, and all that is sent goes behind it.
 *
 *	first		posted		end			+ spilled
 *	  | not known	  | not given	 |			 |
 *	  | to be there	  | to the link	 | in pieces		 |
 *
 * To the link and to the protocol there is none of it; the end of the stream waits
 * until all is moved.  A link that is lost has nothing to do with it, either.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "verbs.h"

#define SPILL_PIECE	65536U

/**
 * struct vpiece - bytes that were sent
 * @node: in vconn.spill
 * @from: where the first is that was not moved
 * @to: behind the last
 * @buf: SPILL_PIECE bytes
 */
struct vpiece {
	struct list_head	node;
	u32			from;
	u32			to;
	u8			*buf;
};

static void piece_free(struct vpiece *piece)
{
	if (!piece)
		return;
	sanx_mem_uncharge(SPILL_PIECE / PAGE_SIZE);
	kvfree(piece->buf);
	kfree(piece);
}

static void pieces_free(struct list_head *pieces)
{
	struct vpiece *piece, *next;

	list_for_each_entry_safe(piece, next, pieces, node)
		piece_free(piece);
	INIT_LIST_HEAD(pieces);
}

/* Nobody is killed for want of memory: the sender waits. */
static struct vpiece *piece_alloc(struct mem_cgroup *payer)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY;
	struct vpiece *piece;

	if (!sanx_mem_charge(SPILL_PIECE / PAGE_SIZE))
		return NULL;
	payer = set_active_memcg(payer);
	piece = kzalloc(sizeof(*piece), gfp);
	if (piece)
		piece->buf = kvmalloc(SPILL_PIECE, gfp);
	set_active_memcg(payer);
	if (piece && piece->buf)
		return piece;
	sanx_mem_uncharge(SPILL_PIECE / PAGE_SIZE);
	kfree(piece);
	return NULL;
}

/**
 * vspill_any() - is there something in pieces?
 * @vc: the connection
 *
 * Context: any; under tx_mutex, if there is nothing it stays so.
 * Return: true if so.
 */
bool vspill_any(const struct vconn *vc)
{
	/* Who sees that all is moved sees to where: move_done(). */
	return smp_load_acquire(&vc->spilled);
}

/**
 * vspill_end() - behind the last byte that was taken from the program
 * @vc: the connection
 *
 * Context: any; exact under tx_lock, else a moment's estimate.
 * Return: the stream offset.
 */
u64 vspill_end(const struct vconn *vc)
{
	u32 spilled = READ_ONCE(vc->spilled);

	return READ_ONCE(vc->end) + spilled;
}

/**
 * vspill_waits() - and is it still to be sent?
 * @vc: the connection
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool vspill_waits(const struct vconn *vc)
{
	const u32 never = VCONN_RESET | VCONN_PEER_CLOSED | VCONN_OVER |
			  VCONN_RELEASED;

	return vc->spilled && !(vc->flags & never);
}

/**
 * vspill_kick() - there may be room in the staging memory
 * @vc: a connection that is there
 *
 * Context: any.
 */
void vspill_kick(struct vconn *vc)
{
	if (!vspill_any(vc))
		return;
	sanx_conn_get(vconn_conn(vc));
	if (!queue_work(vconn_wq, &vc->move))
		sanx_conn_put(vconn_conn(vc));
}

/**
 * vspill_tx_ready() - sanx_conn_tx_ready(), for whoever has something to put there
 * @vc: a connection that is there
 *
 * Context: any.
 */
void vspill_tx_ready(struct vconn *vc)
{
	vspill_kick(vc);
	sanx_conn_tx_ready(vconn_conn(vc));
}

/*
 * What the peer's ring lacks of what SO_RCVBUF may have TCP take: over iWARP it stays
 * as it was made, and the peer may have asked for any size up to tcp_rmem's largest,
 * as far as is known here.
 */
static u32 spill_for_ring(const struct vconn *vc)
{
	const struct net *net = vconn_conn((struct vconn *)vc)->net;
	u32 size = READ_ONCE(vc->win.size), most;

	if (!vc->early)
		return 0;
	most = max(READ_ONCE(net->ipv4.sysctl_tcp_rmem[2]), 0);
	return most - min(most, size);
}

/**
 * vspill_room() - bytes that it takes now
 * @vc: the connection
 *
 * Context: any.
 * Return: bytes, enough for any small message; or 0, and the sender is told when
 * that may have changed.
 */
u32 vspill_room(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	u64 end = vspill_end(vc), used = end - vstaging_first(vc), most;

	if (!READ_ONCE(vc->staging.buf) || !sanx_conn_spares(conn, end))
		return 0;
	/* A ring is rounded down: what it lacks may be here. */
	most = (u64)sanx_conn_spare(conn, spill_for_ring(vc)) +
	       READ_ONCE(vc->win.size);
	return used + SANX_SLACK_MAX <= most ?
	       min_t(u64, most - used, U32_MAX) : 0;
}

/* The last piece, if it has so much room; nobody frees it until it was filled. */
static struct vpiece *spill_last(struct vconn *vc, u32 n)
{
	struct vlink *link = vconn_lock(vc);
	struct vpiece *last = NULL;

	if (!list_empty(&vc->spill))
		last = list_last_entry(&vc->spill, struct vpiece, node);
	if (last && SPILL_PIECE - last->to < n)
		last = NULL;
	vc->filling = last;
	spin_unlock_bh(&link->tx_lock);
	return last;
}

/* Return: 0, or as vpayload_taken(). */
static int spill_publish(struct vconn *vc, struct vpiece *piece, u32 n,
			 bool urgent)
{
	const u32 closed = VCONN_CLOSED | VCONN_PEER_CLOSED | VCONN_OVER;
	struct vlink *link = vconn_lock(vc);
	int err = 0;

	if (!(vc->flags & VCONN_OPEN))
		err = -EPIPE;
	else if (vc->flags & closed)
		err = -EAGAIN;
	if (!err && n) {
		/* What is before is not corked. */
		vxmit_uncork(vc);
		if (piece != vc->filling)
			list_add_tail(&piece->node, &vc->spill);
		piece->to += n;
		WRITE_ONCE(vc->spilled, vc->spilled + n);
		if (urgent)
			vc->urgent = vspill_end(vc);
	}
	vc->filling = NULL;
	vxmit_unlock(link);
	return err;
}

/**
 * vspill_send() - take bytes that the staging memory has no room for
 * @vc: the connection, with staging memory
 * @from: what to send; advanced by what was taken
 * @len: bytes of it
 * @flags: as of sanx_transport_ops.send
 *
 * Context: process, tx_mutex held.
 * Return: as send().
 */
ssize_t vspill_send(struct vconn *vc, struct iov_iter *from, size_t len,
		    int flags)
{
	struct sanx_conn *conn = vconn_conn(vc);
	u32 room = vspill_room(vc), n, got;
	struct vpiece *piece, *fresh = NULL;
	bool urgent;
	int err;

	n = min3(len, (size_t)room, (size_t)SPILL_PIECE);
	if (!n)
		return -EAGAIN;
	piece = spill_last(vc, n);
	if (!piece) {
		fresh = piece_alloc(conn->memcg);
		piece = fresh;
	}
	if (!piece) {
		sanx_conn_set_short(conn);
		return -EAGAIN;
	}
	/* Behind what is there, where nobody looks. */
	got = _copy_from_iter(piece->buf + piece->to, n, from);
	urgent = (flags & MSG_OOB) && (got == len || got == room);
	err = spill_publish(vc, piece, got, urgent);
	if (err || !got) {
		piece_free(fresh);
		iov_iter_revert(from, got);
		vspill_kick(vc);
		return err ?: -EFAULT;
	}
	sanx_cork_release(conn);
	vspill_kick(vc);
	return got;
}

/* Takes out what is empty, or of no use; where a sender is at work, nothing. */
static void move_clean(struct vconn *vc, struct list_head *empty)
{
	struct vpiece *piece, *next;

	lockdep_assert_held(&vc->link->tx_lock);
	if (vc->filling)
		return;
	list_for_each_entry_safe(piece, next, &vc->spill, node) {
		if (piece->from != piece->to && vspill_waits(vc))
			break;
		list_move_tail(&piece->node, empty);
	}
}

/* The next bytes to move, and how many; none if there is no room or no need. */
static struct vpiece *move_next(struct vconn *vc, u32 *n)
{
	struct vlink *link = vconn_lock(vc);
	struct vpiece *piece = NULL;
	LIST_HEAD(empty);

	move_clean(vc, &empty);
	*n = 0;
	if (vspill_waits(vc)) {
		/* It cannot be replaced now, so it need not be empty. */
		WRITE_ONCE(vc->draining, false);
		piece = list_first_entry(&vc->spill, struct vpiece, node);
		*n = min(vstaging_room(vc), piece->to - piece->from);
		/* Whatever leaves it comes back here: vxmit_unlock(). */
		if (!*n)
			vstaging_await(vc);
	}
	vxmit_unlock(link);
	pieces_free(&empty);
	return *n ? piece : NULL;
}

/* They are in the staging memory. */
static void move_done(struct vconn *vc, struct vpiece *piece, u32 n)
{
	struct vlink *link = vconn_lock(vc);

	piece->from += n;
	WRITE_ONCE(vc->end, vc->end + n);
	/* Pairs with the acquire in vspill_any(). */
	smp_store_release(&vc->spilled, vc->spilled - n);
	vxmit_flush(vc);
	vxmit_unlock(link);
}

/**
 * vspill_work() - move what was spilled to where there is room now
 * @work: vconn.move, with a reference of the connection
 *
 * Context: process, may sleep.
 */
void vspill_work(struct work_struct *work)
{
	struct vconn *vc = container_of(work, struct vconn, move);
	struct vpiece *piece;
	bool moved = false;
	u32 n;

	while ((piece = move_next(vc, &n))) {
		struct sanx_rxq staging = {
			.in = { .buf = vc->staging.buf,
				.size = vc->staging.size },
		};

		sanx_rxq_store(&staging, vc->end, piece->buf + piece->from, n);
		move_done(vc, piece, n);
		moved = true;
		cond_resched();
	}
	if (moved)
		sanx_conn_tx_ready(vconn_conn(vc));
	sanx_conn_put(vconn_conn(vc));
}

/**
 * vspill_free() - give all of it back
 * @vc: a connection that nobody sends on any more
 *
 * Context: process.
 */
void vspill_free(struct vconn *vc)
{
	pieces_free(&vc->spill);
}
