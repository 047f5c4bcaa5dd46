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
 *	acked		posted		end			+ spilled
 *	  | sent, may	  | not posted	 |			 |
 *	  | be lost	  | yet		 | in pieces		 |
 *
 * The link and the protocol do not know of spilled bytes.  FIN and CLOSE wait
 * until all of them were moved (xmit_todo()).  The loss of a link does not
 * affect them.
 *
 * link->tx_lock guards lc->spill, lc->filling and changes of lc->spilled, and
 * while bytes are spilled, changes of lc->end too.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "config/cov.h"
#include "internal.h"

#define SPILL_PIECE	65536U

/**
 * struct sanx_piece - memory with spilled bytes
 * @node: in lconn.spill
 * @from: position in @buf of the first byte that was not moved; written by the
 *	worker under tx_lock
 * @to: position behind the last byte; written by the sender under tx_lock
 * @buf: SPILL_PIECE bytes
 */
struct sanx_piece {
	struct list_head	node;
	u32			from;
	u32			to;
	u8			*buf;
};

static void piece_free(struct sanx_piece *piece)
{
	if (!piece)
		return;
	sanx_mem_uncharge(SPILL_PIECE / PAGE_SIZE);
	kvfree(piece->buf);
	kfree(piece);
}

static void pieces_free(struct list_head *pieces)
{
	struct sanx_piece *piece, *next;

	list_for_each_entry_safe(piece, next, pieces, node)
		piece_free(piece);
	INIT_LIST_HEAD(pieces);
}

/* __GFP_NORETRY: no process is killed for this memory.  The sender waits. */
static struct sanx_piece *piece_alloc(struct mem_cgroup *payer)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY;
	struct sanx_piece *piece;

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
 * sanx_spill_any() - are there spilled bytes?
 * @lc: the connection
 *
 * Context: any; under tx_mutex, false does not change.
 * Return: true if so.
 */
bool sanx_spill_any(const struct sanx_lconn *lc)
{
	/*
	 * Pairs with the release in move_done(): a sender that sees 0 sees the
	 * final lc->end, and all bytes before it in the send buffer.
	 */
	return smp_load_acquire(&lc->spilled);
}

/**
 * sanx_spill_end() - stream offset behind the last byte taken from the program
 * @lc: the connection
 *
 * Context: any; exact under tx_lock, else a hint.
 * Return: the stream offset.
 */
u64 sanx_spill_end(const struct sanx_lconn *lc)
{
	u32 spilled = READ_ONCE(lc->spilled);

	return READ_ONCE(lc->end) + spilled;
}

/**
 * sanx_spill_waits() - are there spilled bytes that are still to be sent?
 * @lc: the connection
 *
 * Context: tx_lock held.
 * Return: true if so.
 */
bool sanx_spill_waits(const struct sanx_lconn *lc)
{
	return lc->spilled && !sanx_lconn_is_mute(&lc->state);
}

/**
 * sanx_spill_kick() - have the worker look for room in the send buffer
 * @lc: a connection with a reference
 *
 * The work gets a reference of its own.
 *
 * Context: any.
 */
void sanx_spill_kick(struct sanx_lconn *lc)
{
	if (!sanx_spill_any(lc))
		return;
	sanx_conn_get(&lc->conn);
	if (!queue_work(sanx_lconn_wq, &lc->move))
		sanx_conn_put(&lc->conn);
}

/**
 * sanx_spill_tx_ready() - wake the worker and the sender: there is room
 * @lc: a connection with a reference
 *
 * Context: any.
 */
void sanx_spill_tx_ready(struct sanx_lconn *lc)
{
	sanx_spill_kick(lc);
	sanx_conn_tx_ready(&lc->conn);
}

/**
 * sanx_spill_room() - bytes that can be spilled now
 * @lc: the connection
 *
 * Context: any.
 * Return: bytes, enough for any small message; or 0, and the sender is woken
 * when that may have changed.
 */
u32 sanx_spill_room(struct sanx_lconn *lc)
{
	struct sanx_conn *conn = &lc->conn;
	u64 end = sanx_spill_end(lc), used = end - READ_ONCE(lc->acked), most;

	if (!READ_ONCE(lc->sndbuf.buf) || !sanx_conn_spares(conn, end))
		return 0;
	/*
	 * The size of a ring is rounded down to a power of two, so spilled
	 * bytes may make up for the rest.
	 */
	most = (u64)sanx_conn_spare(conn) +
	       READ_ONCE(lc->txgen.win.size);
	return used + SANX_SLACK_MAX <= most ?
	       min_t(u64, most - used, U32_MAX) : 0;
}

/*
 * Returns the last piece if it has room for @n bytes.  lc->filling keeps the
 * worker from freeing it until spill_publish().
 */
static struct sanx_piece *spill_last(struct sanx_lconn *lc, u32 n)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct sanx_piece *last = NULL;

	if (!list_empty(&lc->spill))
		last = list_last_entry(&lc->spill, struct sanx_piece, node);
	if (last && SPILL_PIECE - last->to < n)
		last = NULL;
	lc->filling = last;
	spin_unlock_bh(&link->tx_lock);
	return last;
}

/* Return: 0, or an error as of sanx_lconn_takes(). */
static int spill_publish(struct sanx_lconn *lc, struct sanx_piece *piece, u32 n,
			 bool urgent)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	int err = sanx_lconn_takes(&lc->state);

	if (!err && n) {
		/* Spilled bytes are not held back, so bytes before are not. */
		sanx_xmit_announce(lc);
		if (piece != lc->filling)
			list_add_tail(&piece->node, &lc->spill);
		piece->to += n;
		WRITE_ONCE(lc->spilled, lc->spilled + n);
		if (urgent)
			lc->urgent = sanx_spill_end(lc);
	}
	lc->filling = NULL;
	sanx_xmit_unlock(link);
	return err;
}

/**
 * sanx_spill_send() - take bytes that the send buffer has no room for
 * @lc: the connection, with a send buffer
 * @from: the data to send; advanced by the bytes that were taken
 * @len: bytes of it
 * @flags: as of sanx_transport_ops.send
 *
 * Context: process, tx_mutex held; may fault and may sleep for memory; takes
 * tx_lock.
 * Return: as send().
 */
ssize_t sanx_spill_send(struct sanx_lconn *lc, struct iov_iter *from,
			size_t len, int flags)
{
	struct sanx_conn *conn = &lc->conn;
	u32 room = sanx_spill_room(lc), n, got;
	struct sanx_piece *piece, *fresh = NULL;
	bool urgent;
	int err;

	n = min3(len, (size_t)room, (size_t)SPILL_PIECE);
	if (!n)
		return -EAGAIN;
	piece = spill_last(lc, n);
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
	err = spill_publish(lc, piece, got, urgent);
	if (err || !got) {
		piece_free(fresh);
		iov_iter_revert(from, got);
		sanx_spill_kick(lc);
		return err ?: -EFAULT;
	}
	sanx_spill_kick(lc);
	return got;
}

/*
 * Takes out pieces that are empty or whose bytes are not sent any more; none
 * while a sender copies to one.
 */
static void move_clean(struct sanx_lconn *lc, struct list_head *empty)
{
	struct sanx_piece *piece, *next;

	lockdep_assert_held(&lc->link->tx_lock);
	if (lc->filling)
		return;
	list_for_each_entry_safe(piece, next, &lc->spill, node) {
		if (piece->from != piece->to && sanx_spill_waits(lc))
			break;
		list_move_tail(&piece->node, empty);
	}
}

/*
 * Returns the piece with the next bytes to move, and their number in @n; NULL
 * if there is no room, or nothing to move.
 */
static struct sanx_piece *move_next(struct sanx_lconn *lc, u32 *n)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct sanx_piece *piece = NULL;
	LIST_HEAD(empty);

	move_clean(lc, &empty);
	*n = 0;
	if (sanx_spill_waits(lc)) {
		/*
		 * While bytes are spilled the send buffer is not replaced, so
		 * it need not become empty first.
		 */
		WRITE_ONCE(lc->draining, false);
		piece = list_first_entry(&lc->spill, struct sanx_piece, node);
		*n = min(sanx_sndbuf_room(lc), piece->to - piece->from);
		/*
		 * An acknowledgment then queues the worker again
		 * (sanx_xmit_unlock()).
		 */
		if (!*n)
			sanx_sndbuf_await(lc);
	}
	sanx_xmit_unlock(link);
	pieces_free(&empty);
	return *n ? piece : NULL;
}

/* Publishes bytes that were copied to the send buffer. */
static void move_done(struct sanx_lconn *lc, struct sanx_piece *piece, u32 n)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	piece->from += n;
	WRITE_ONCE(lc->end, lc->end + n);
	/*
	 * After lc->end and the copy.  Pairs with the acquire in
	 * sanx_spill_any().
	 */
	smp_store_release(&lc->spilled, lc->spilled - n);
	sanx_xmit_announce(lc);
	sanx_xmit_unlock(link);
}

/**
 * sanx_spill_work() - move spilled bytes to the send buffer
 * @work: lconn.move; owns a reference of the connection, which this puts
 *
 * Context: process, may sleep; takes tx_lock.
 */
void sanx_spill_work(struct work_struct *work)
{
	struct sanx_lconn *lc = container_of(work, struct sanx_lconn, move);
	bool cov = sanx_cov_start(lc->conn.net);
	struct sanx_piece *piece;
	bool moved = false;
	u32 n;

	while ((piece = move_next(lc, &n))) {
		struct sanx_rxq sndbuf = {
			.in = { .buf = lc->sndbuf.buf,
				.size = lc->sndbuf.size },
		};

		sanx_rxq_store(&sndbuf, lc->end, piece->buf + piece->from, n);
		move_done(lc, piece, n);
		moved = true;
		cond_resched();
	}
	if (moved)
		sanx_conn_tx_ready(&lc->conn);
	sanx_conn_put(&lc->conn);
	sanx_cov_stop(cov);
}

/**
 * sanx_spill_free() - free all pieces
 * @lc: a connection without senders
 *
 * Context: process.
 */
void sanx_spill_free(struct sanx_lconn *lc)
{
	pieces_free(&lc->spill);
}
