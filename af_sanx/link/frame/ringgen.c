// SPDX-License-Identifier: GPL-2.0
/*
 * Generations of rings: ringgen.h describes them, their states and invariants.
 *
 * "First" is SANX_RING_FIRST, the bytes that a sender may send without a window.
 */
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/string.h>

#include "conn/msgq.h"
#include "ringgen.h"

/* To each state, the states that may follow. */
static const u8 ringgen_steps[__SANX_RINGGEN_STATES] = {
	/* ACTIVE: the start memory, which needs no making. */
	[SANX_RINGGEN_NONE]	  = BIT(SANX_RINGGEN_MAKING) |
				    BIT(SANX_RINGGEN_ACTIVE),
	[SANX_RINGGEN_MAKING]	  = BIT(SANX_RINGGEN_MADE) |
				    BIT(SANX_RINGGEN_NONE),
	[SANX_RINGGEN_MADE]	  = BIT(SANX_RINGGEN_ADVERTISED) |
				    BIT(SANX_RINGGEN_NONE),
	[SANX_RINGGEN_ADVERTISED] = BIT(SANX_RINGGEN_ACTIVE),
	[SANX_RINGGEN_ACTIVE]	  = BIT(SANX_RINGGEN_DRAINING),
	/* NONE: the start memory, which is not freed. */
	[SANX_RINGGEN_DRAINING]	  = BIT(SANX_RINGGEN_DRAINED) |
				    BIT(SANX_RINGGEN_NONE),
	[SANX_RINGGEN_DRAINED]	  = BIT(SANX_RINGGEN_NONE),
};

static void ringgen_step(struct sanx_ringgen *gen, enum sanx_ringgen_state to)
{
	WARN_ON_ONCE(!(ringgen_steps[gen->state] & BIT(to)));
	gen->state = to;
}

/**
 * sanx_rxgen_init() - begin with the start memory
 * @rx: the generations of a receiver, of whatever contents
 *
 * It is generation 0, and active.  OPEN and OPEN_ACK advertise it.
 */
void sanx_rxgen_init(struct sanx_rxgen *rx)
{
	memset(rx, 0, sizeof(*rx));
	ringgen_step(&rx->active, SANX_RINGGEN_ACTIVE);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_init);

/**
 * sanx_rxgen_make() - begin to make a generation
 * @rx: the generations
 *
 * Return: true, and sanx_rxgen_made() or sanx_rxgen_failed() must follow; false
 * if one is made or advertised already, or memory is still to be freed.
 */
bool sanx_rxgen_make(struct sanx_rxgen *rx)
{
	if (rx->next.state != SANX_RINGGEN_NONE ||
	    rx->old.state != SANX_RINGGEN_NONE)
		return false;
	ringgen_step(&rx->next, SANX_RINGGEN_MAKING);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_make);

/**
 * sanx_rxgen_failed() - there is no memory for the next generation
 * @rx: the generations, after sanx_rxgen_make()
 */
void sanx_rxgen_failed(struct sanx_rxgen *rx)
{
	ringgen_step(&rx->next, SANX_RINGGEN_NONE);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_failed);

/**
 * sanx_rxgen_made() - the memory of the next generation is made
 * @rx: the generations, after sanx_rxgen_make()
 * @size: bytes of its window; more than those of the active one
 *
 * Return: true, and a RING is owed; false if the link was lost meanwhile, and
 * the memory is still the caller's.
 */
bool sanx_rxgen_made(struct sanx_rxgen *rx, u32 size)
{
	if (rx->lost)
		return false;
	WARN_ON_ONCE(size <= rx->active.size);
	ringgen_step(&rx->next, SANX_RINGGEN_MADE);
	rx->next.size = size;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_made);

/**
 * sanx_rxgen_owes() - is a RING owed?
 * @rx: the generations
 *
 * Return: true if sanx_rxgen_advertise() may be called.
 */
bool sanx_rxgen_owes(const struct sanx_rxgen *rx)
{
	return rx->owed || rx->next.state == SANX_RINGGEN_MADE;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_owes);

/**
 * sanx_rxgen_advertise() - a RING is about to be sent
 * @rx: the generations, with a RING owed
 * @granted: stream offset that was granted so far
 *
 * An answer to LEAVE goes before a new ring, so that numbers follow each other.
 *
 * Return: the generation that the RING advertises, &rx->active or &rx->next.
 * Its number is rx->told.
 */
struct sanx_ringgen *sanx_rxgen_advertise(struct sanx_rxgen *rx, u64 granted)
{
	rx->told++;
	if (rx->owed) {
		rx->owed = false;
		return &rx->active;
	}
	ringgen_step(&rx->next, SANX_RINGGEN_ADVERTISED);
	rx->before = granted;
	return &rx->next;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_advertise);

/* The memory of @active is not written any more; @to follows it. */
static void rxgen_move(struct sanx_rxgen *rx, struct sanx_ringgen to)
{
	ringgen_step(&rx->active, SANX_RINGGEN_DRAINING);
	WARN_ON_ONCE(rx->old.state != SANX_RINGGEN_NONE);
	rx->old = rx->active;
	ringgen_step(&to, SANX_RINGGEN_ACTIVE);
	rx->active = to;
}

static enum sanx_ringgen_move rxgen_to_next(struct sanx_rxgen *rx)
{
	rxgen_move(rx, rx->next);
	rx->next = (struct sanx_ringgen){};
	return SANX_RINGGEN_TO_NEXT;
}

static enum sanx_ringgen_move rxgen_to_first(struct sanx_rxgen *rx)
{
	rxgen_move(rx, (struct sanx_ringgen){});
	return SANX_RINGGEN_TO_FIRST;
}

/* Takes note of the number that the sender uses; rxgen_known() is true. */
static enum sanx_ringgen_move rxgen_see(struct sanx_rxgen *rx, u32 nr)
{
	if (nr == rx->seen)
		return SANX_RINGGEN_STAY;
	rx->seen = nr;
	rx->left = false;
	if (nr == rx->nr)
		return SANX_RINGGEN_STAY;
	rx->nr = nr;
	return rxgen_to_next(rx);
}

static bool rxgen_known(const struct sanx_rxgen *rx, u32 nr)
{
	return !rx->lost && nr - rx->seen <= rx->told - rx->seen;
}

/* Has the sender left the window of generation @nr? */
static bool rxgen_left(const struct sanx_rxgen *rx, u32 nr)
{
	return rx->left && nr == rx->seen;
}

/* Bytes of the window that the sender may write in generation @nr. */
static u32 rxgen_window(const struct sanx_rxgen *rx, u32 nr)
{
	if (rxgen_left(rx, nr))
		return 0;
	return nr == rx->nr + 1 ? rx->next.size : rx->active.size;
}

/**
 * sanx_rxgen_data() - payload is about to arrive
 * @rx: the generations
 * @gen: number of the generation in the frame, modulo SANX_RINGGEN_MOD
 * @end: stream offset behind the payload
 * @in_ring: the sender says that it has written the payload to the window
 *
 * The caller has checked that the payload is the next of the stream, and within
 * what was granted.  This checks what was granted for the sender's generation.
 *
 * Return: enum sanx_ringgen_move; -EPROTO if no correct peer sends this, and
 * nothing has changed.
 */
int sanx_rxgen_data(struct sanx_rxgen *rx, u8 gen, u64 end, bool in_ring)
{
	u32 nr = rx->seen + ((gen - rx->seen) & (SANX_RINGGEN_MOD - 1));

	if (!rxgen_known(rx, nr) || (in_ring && !rxgen_window(rx, nr)) ||
	    (rxgen_left(rx, nr) && end > rx->left_to))
		return -EPROTO;
	/* Sent before RING was received, so with the credit from before it. */
	if (rx->next.state == SANX_RINGGEN_ADVERTISED && nr != rx->nr + 1 &&
	    end > rx->before)
		return -EPROTO;
	return rxgen_see(rx, nr);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_data);

/**
 * sanx_rxgen_leave() - the sender leaves its window
 * @rx: the generations
 * @nr: number of the generation in the frame
 * @offset: stream offset in the frame, checked by the caller
 * @empty: all that has arrived was read
 *
 * If a RING with a later number was sent, or is about to be, that is the answer.
 * Else an answer is owed: the start memory if nothing is unread and nothing else
 * is going on, else the same memory again.
 *
 * Return: as sanx_rxgen_data().
 */
int sanx_rxgen_leave(struct sanx_rxgen *rx, u32 nr, u64 offset, bool empty)
{
	enum sanx_ringgen_move move;

	if (!rxgen_known(rx, nr) || !rxgen_window(rx, nr))
		return -EPROTO;
	move = rxgen_see(rx, nr);
	rx->left = true;
	rx->left_to = offset + SANX_RING_FIRST;
	if (rx->next.state == SANX_RINGGEN_MADE ||
	    rx->next.state == SANX_RINGGEN_ADVERTISED)
		return move;
	rx->nr++;
	rx->owed = true;
	if (empty && rx->next.state == SANX_RINGGEN_NONE &&
	    rx->old.state == SANX_RINGGEN_NONE)
		return rxgen_to_first(rx);
	return move;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_leave);

/**
 * sanx_rxgen_drained() - the reader has left the old generation
 * @rx: the generations, with an old one that is DRAINING
 *
 * Return: true if its memory is to be unmapped and freed, and sanx_rxgen_free()
 * must follow; false if it is the start memory.
 */
bool sanx_rxgen_drained(struct sanx_rxgen *rx)
{
	bool ring = rx->old.size;

	ringgen_step(&rx->old, ring ? SANX_RINGGEN_DRAINED : SANX_RINGGEN_NONE);
	return ring;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_drained);

/**
 * sanx_rxgen_free() - take the memory of the old generation, to free it
 * @rx: the generations
 *
 * Return: true if neither the sender nor the reader uses that memory, and it is
 * the caller's from now on.
 */
bool sanx_rxgen_free(struct sanx_rxgen *rx)
{
	if (rx->old.state != SANX_RINGGEN_DRAINED)
		return false;
	ringgen_step(&rx->old, SANX_RINGGEN_NONE);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_free);

/**
 * sanx_rxgen_lost() - the link is lost
 * @rx: the generations; all frames that arrived were taken
 *
 * If @next was MADE, it is NONE afterwards, and its memory is the caller's: the
 * peer does not know it, and the next device may not be able to map it.
 *
 * Return: enum sanx_ringgen_move.
 */
int sanx_rxgen_lost(struct sanx_rxgen *rx)
{
	enum sanx_ringgen_move move = SANX_RINGGEN_STAY;

	rx->lost = true;
	rx->owed = false;
	rx->left = false;
	if (rx->next.state == SANX_RINGGEN_MADE)
		ringgen_step(&rx->next, SANX_RINGGEN_NONE);
	if (rx->next.state == SANX_RINGGEN_ADVERTISED) {
		rx->nr++;
		move = rxgen_to_next(rx);
	}
	rx->told = rx->nr;
	rx->seen = rx->nr;
	return move;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_lost);

/**
 * sanx_rxgen_resume() - RESUME or RESUME_ACK is about to be sent
 * @rx: the generations, after sanx_rxgen_lost()
 *
 * The frame advertises the active generation.
 *
 * Return: its number; higher than each that the peer may know.
 */
u32 sanx_rxgen_resume(struct sanx_rxgen *rx)
{
	WARN_ON_ONCE(!rx->lost);
	rx->lost = false;
	rx->nr++;
	rx->told = rx->nr;
	rx->seen = rx->nr;
	return rx->nr;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rxgen_resume);

static void txgen_set(struct sanx_txgen *tx, const struct sanx_window_info *win)
{
	tx->left = false;
	tx->win.addr = win->addr;
	tx->win.rkey = win->rkey;
	WRITE_ONCE(tx->win.size, win->size);
}

/**
 * sanx_txgen_init() - begin with the window of OPEN or OPEN_ACK
 * @tx: the sender's side, of whatever contents
 * @win: the window, or none; generation 0
 */
void sanx_txgen_init(struct sanx_txgen *tx, const struct sanx_window_info *win)
{
	memset(tx, 0, sizeof(*tx));
	txgen_set(tx, win);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txgen_init);

static bool txgen_same(const struct sanx_window_info *a,
		       const struct sanx_window_info *b)
{
	return a->addr == b->addr && a->rkey == b->rkey && a->size == b->size;
}

/* May a RING with the window @win follow? */
static bool txgen_may_follow(const struct sanx_txgen *tx,
			     const struct sanx_window_info *win)
{
	if (!tx->left)
		return win->size > tx->win.size;
	return !win->size || win->size > tx->left_win.size ||
	       txgen_same(win, &tx->left_win);
}

/**
 * sanx_txgen_ring() - a RING has arrived
 * @tx: the sender's side
 * @nr: the number in it
 * @win: the window in it, or none
 *
 * Without a LEAVE, it is a larger window.  After LEAVE, it is the answer: the
 * window that was left, or none, or a larger one that crossed the LEAVE.
 *
 * Return: 0; -EPROTO if no correct peer sends this, and nothing has changed.
 */
int sanx_txgen_ring(struct sanx_txgen *tx, u32 nr,
		    const struct sanx_window_info *win)
{
	if (nr != tx->nr + 1 || !txgen_may_follow(tx, win))
		return -EPROTO;
	tx->nr = nr;
	txgen_set(tx, win);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txgen_ring);

/**
 * sanx_txgen_leave() - LEAVE is about to be sent
 * @tx: the sender's side, with a window
 *
 * The window is none afterwards.
 *
 * Return: the number for the frame.
 */
u32 sanx_txgen_leave(struct sanx_txgen *tx)
{
	static const struct sanx_window_info none;

	WARN_ON_ONCE(!tx->win.size);
	tx->left_win = tx->win;
	txgen_set(tx, &none);
	tx->left = true;
	return tx->nr;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txgen_leave);

/**
 * sanx_txgen_resume() - RESUME or RESUME_ACK has arrived
 * @tx: the sender's side
 * @nr: the number in it
 * @win: the window in it, or none; whatever window there was before
 *
 * Return: as sanx_txgen_ring().
 */
int sanx_txgen_resume(struct sanx_txgen *tx, u32 nr,
		      const struct sanx_window_info *win)
{
	if ((s32)(nr - tx->nr) <= 0)
		return -EPROTO;
	tx->nr = nr;
	txgen_set(tx, win);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_txgen_resume);
