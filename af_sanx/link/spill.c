// SPDX-License-Identifier: GPL-2.0
/*
 * Spilled bytes: what a sender may keep beyond the send buffer (spare.c of the
 * core).
 *
 * The send buffer is registered, and as large as the peer's ring, which
 * suffices for a stream whose reader keeps up.  If the peer's reader does not
 * read, further bytes of send() go to plain memory, in pieces.  A worker moves
 * them to the send buffer as that empties.  While bytes are spilled, the worker
 * is the only writer of the send buffer, and everything that is sent goes
 * behind them.
 *
 *	first		posted		end			+ spilled
 *	  | sent, may	  | not posted	 |			 |
 *	  | be lost	  | yet		 | in pieces		 |
 *
 * The link and the protocol do not know of spilled bytes.  FIN and CLOSE wait
 * until all of them were moved (xmit_todo()).  The loss of a link does not
 * affect them.
 *
 * link->tx_lock guards vc->spill, vc->filling and changes of vc->spilled, and
 * changes of vc->end too.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "internal.h"

#define SPILL_PIECE	65536U

/**
 * struct vpiece - memory with spilled bytes
 * @node: in vconn.spill
 * @from: position in @buf of the first byte that was not moved; written by the
 *	worker under tx_lock
 * @to: position behind the last byte; written by the sender under tx_lock
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

/* __GFP_NORETRY: no process is killed for this memory.  The sender waits. */
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
 * vspill_any() - are there spilled bytes?
 * @vc: the connection
 *
 * Context: any; under tx_mutex, false does not change.
 * Return: true if so.
 */
bool vspill_any(const struct vconn *vc)
{
	/*
	 * Pairs with the release in move_done(): a sender that sees 0 sees the
	 * final vc->end, and all bytes before it in the send buffer.
	 */
	return smp_load_acquire(&vc->spilled);
}

/**
 * vspill_end() - stream offset behind the last byte taken from the program
 * @vc: the connection
 *
 * Context: any; exact under tx_lock, else a hint.
 * Return: the stream offset.
 */
u64 vspill_end(const struct vconn *vc)
{
	u32 spilled = READ_ONCE(vc->spilled);

	return READ_ONCE(vc->end) + spilled;
}

/**
 * vspill_waits() - are there spilled bytes that are still to be sent?
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
 * vspill_kick() - have the worker look for room in the send buffer
 * @vc: a connection with a reference
 *
 * The work gets a reference of its own.
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
 * vspill_tx_ready() - wake the worker and the sender: there is room
 * @vc: a connection with a reference
 *
 * Context: any.
 */
void vspill_tx_ready(struct vconn *vc)
{
	vspill_kick(vc);
	sanx_conn_tx_ready(vconn_conn(vc));
}

/*
 * The bytes by which the peer's ring may be smaller than what its TCP would
 * take.  Over iWARP a ring does not grow, and SO_RCVBUF of the peer is not
 * known here: it may be anything up to tcp_rmem[2].
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
 * vspill_room() - bytes that can be spilled now
 * @vc: the connection
 *
 * Context: any.
 * Return: bytes, enough for any small message; or 0, and the sender is woken
 * when that may have changed.
 */
u32 vspill_room(struct vconn *vc)
{
	struct sanx_conn *conn = vconn_conn(vc);
	u64 end = vspill_end(vc), used = end - vsndbuf_first(vc), most;

	if (!READ_ONCE(vc->sndbuf.buf) || !sanx_conn_spares(conn, end))
		return 0;
	/*
	 * The size of a ring is rounded down to a power of two, so spilled
	 * bytes may make up for the rest.
	 */
	most = (u64)sanx_conn_spare(conn, spill_for_ring(vc)) +
	       READ_ONCE(vc->win.size);
	return used + SANX_SLACK_MAX <= most ?
	       min_t(u64, most - used, U32_MAX) : 0;
}

/*
 * Returns the last piece if it has room for @n bytes.  vc->filling keeps the
 * worker from freeing it until spill_publish().
 */
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

/* Return: 0, or an error as of vpayload_taken(). */
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
		/* Bytes before these are not corked. */
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
 * vspill_send() - take bytes that the send buffer has no room for
 * @vc: the connection, with a send buffer
 * @from: the data to send; advanced by the bytes that were taken
 * @len: bytes of it
 * @flags: as of sanx_transport_ops.send
 *
 * Context: process, tx_mutex held; may fault and may sleep for memory; takes
 * tx_lock.
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
	/* Without tx_lock: the worker reads only bytes before piece->to. */
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

/*
 * Takes out pieces that are empty or whose bytes are not sent any more; none
 * while a sender copies to one.
 */
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

/*
 * Returns the piece with the next bytes to move, and their number in @n; NULL
 * if there is no room, or nothing to move.
 */
static struct vpiece *move_next(struct vconn *vc, u32 *n)
{
	struct vlink *link = vconn_lock(vc);
	struct vpiece *piece = NULL;
	LIST_HEAD(empty);

	move_clean(vc, &empty);
	*n = 0;
	if (vspill_waits(vc)) {
		/*
		 * While bytes are spilled the send buffer is not replaced, so
		 * it need not become empty first.
		 */
		WRITE_ONCE(vc->draining, false);
		piece = list_first_entry(&vc->spill, struct vpiece, node);
		*n = min(vsndbuf_room(vc), piece->to - piece->from);
		/*
		 * A completion then queues the worker again (vxmit_unlock()).
		 */
		if (!*n)
			vsndbuf_await(vc);
	}
	vxmit_unlock(link);
	pieces_free(&empty);
	return *n ? piece : NULL;
}

/* Publishes bytes that were copied to the send buffer. */
static void move_done(struct vconn *vc, struct vpiece *piece, u32 n)
{
	struct vlink *link = vconn_lock(vc);

	piece->from += n;
	WRITE_ONCE(vc->end, vc->end + n);
	/*
	 * After vc->end and the copy.  Pairs with the acquire in vspill_any().
	 */
	smp_store_release(&vc->spilled, vc->spilled - n);
	vxmit_flush(vc);
	vxmit_unlock(link);
}

/**
 * vspill_work() - move spilled bytes to the send buffer
 * @work: vconn.move; owns a reference of the connection, which this puts
 *
 * Context: process, may sleep; takes tx_lock.
 */
void vspill_work(struct work_struct *work)
{
	struct vconn *vc = container_of(work, struct vconn, move);
	struct vpiece *piece;
	bool moved = false;
	u32 n;

	while ((piece = move_next(vc, &n))) {
		struct sanx_rxq sndbuf = {
			.in = { .buf = vc->sndbuf.buf,
				.size = vc->sndbuf.size },
		};

		sanx_rxq_store(&sndbuf, vc->end, piece->buf + piece->from, n);
		move_done(vc, piece, n);
		moved = true;
		cond_resched();
	}
	if (moved)
		sanx_conn_tx_ready(vconn_conn(vc));
	sanx_conn_put(vconn_conn(vc));
}

/**
 * vspill_free() - free all pieces
 * @vc: a connection without senders
 *
 * Context: process.
 */
void vspill_free(struct vconn *vc)
{
	pieces_free(&vc->spill);
}
