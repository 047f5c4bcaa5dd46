/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generations of rings: how the memory that a peer writes changes hands.
 *
 * The memory in which a receiver stores a stream changes while the stream flows:
 * from the memory that a connection starts with, which no device knows, to a
 * ring that the sender writes, to larger rings, and back when the connection is
 * idle.  Each of these is a generation with a number.  The receiver says
 * RING(G, window or none): what follows is stored in generation G.  The sender
 * says in DATA which generation it has stored to, and LEAVE(G): it writes
 * nothing more to the window of G.  Every LEAVE is answered by a RING.  The
 * newest RING counts, so frames that cross need no other rule.
 *
 * struct sanx_rxgen is the receiver's side: which memory is being made, is
 * advertised, is written, and is still read, and what the sender may say next.
 * struct sanx_txgen is the sender's side: which window it may write.
 *
 * Each generation of a receiver is in one state:
 *
 *	NONE --> MAKING --> MADE --> ADVERTISED --> ACTIVE --> DRAINING --> DRAINED
 *	  ^        |failed   |lost                                |            |
 *	  +--------+---------+------------------------------------+------------+
 *							start memory	 freed
 *
 * Invariants of struct sanx_rxgen:
 *
 * - Exactly one generation is ACTIVE: @active.  What arrives is stored there.
 * - @next is NONE, MAKING, MADE or ADVERTISED.  @old is NONE, DRAINING or
 *   DRAINED.  One of the two is NONE: nothing is made before the memory before
 *   @active is free, so the queue has at most two rings (sanx_rxq_move()).
 * - Memory that the sender may write is in @active or in @next.  Memory gets to
 *   @old only when the sender has said that it does not write there: with a
 *   later number in DATA, or with LEAVE.  So what is DRAINED may be freed.
 * - seen <= nr <= seen + 1, and told <= nr + 1, told >= seen.  A frame of a
 *   correct sender has a number from @seen to @told.  These are at most three
 *   numbers, so DATA carries the number modulo SANX_RINGGEN_MOD, and a value
 *   that is none of them is an error.
 *
 * A lost link takes with it what was not answered: frames of the link that did
 * arrive count, and no other will.  A ring that was advertised becomes ACTIVE,
 * as if a frame with its number had arrived.  A ring that was not advertised is
 * dropped.  RESUME then advertises what is ACTIVE, with a new number.  So
 * nothing that was said on the lost link matters any more.
 *
 * The code is pure: no lock, no allocation, no device.  The caller serialises
 * all calls for one object (link.tx_lock).  kunit/ringgen_test.c walks both
 * sides through all orders of events, with the link lost at each step.
 */
#ifndef _SANX_RINGGEN_H
#define _SANX_RINGGEN_H

#include <linux/types.h>

#include "format.h"

/* DATA carries the number of a generation modulo this. */
#define SANX_RINGGEN_MOD	4U

/**
 * enum sanx_ringgen_state - state of a generation of the receiver
 * @SANX_RINGGEN_NONE: there is none
 * @SANX_RINGGEN_MAKING: its memory is being made
 * @SANX_RINGGEN_MADE: its memory is made; a RING is owed
 * @SANX_RINGGEN_ADVERTISED: the RING was sent; the sender may write there
 * @SANX_RINGGEN_ACTIVE: what arrives is stored there
 * @SANX_RINGGEN_DRAINING: the sender has left it, the reader has not
 * @SANX_RINGGEN_DRAINED: both have left it; its memory is to be freed
 */
enum sanx_ringgen_state {
	SANX_RINGGEN_NONE,
	SANX_RINGGEN_MAKING,
	SANX_RINGGEN_MADE,
	SANX_RINGGEN_ADVERTISED,
	SANX_RINGGEN_ACTIVE,
	SANX_RINGGEN_DRAINING,
	SANX_RINGGEN_DRAINED,
	/* private: */
	__SANX_RINGGEN_STATES
};

/**
 * enum sanx_ringgen_move - what a call has done to the receiver's memory
 * @SANX_RINGGEN_STAY: nothing
 * @SANX_RINGGEN_TO_NEXT: the memory of @next is that of @active now, and the
 *	memory of @active is that of @old
 * @SANX_RINGGEN_TO_FIRST: the memory of @active is that of @old now, and the
 *	start memory is that of @active
 *
 * The caller moves its memory accordingly, and the queue with it.
 */
enum sanx_ringgen_move {
	SANX_RINGGEN_STAY,
	SANX_RINGGEN_TO_NEXT,
	SANX_RINGGEN_TO_FIRST,
};

/**
 * struct sanx_ringgen - one generation of the receiver
 * @state: changed by ringgen_step() only
 * @size: bytes of its window; 0 for the start memory, which has none
 */
struct sanx_ringgen {
	enum sanx_ringgen_state	state;
	u32			size;
};

/**
 * struct sanx_rxgen - the generations of a receiver
 * @active: stores what arrives
 * @next: is being made, or advertised
 * @old: is still being read, or freed
 * @nr: number of @active; that of @next is one more
 * @told: the last number that the sender was told
 * @seen: the last number that the sender has used
 * @owed: @active was not advertised yet under @nr: the answer to a LEAVE
 * @left: the sender has left the window of @seen: no writes any more, and no
 *	payload beyond @left_to
 * @left_to: see @left; stream offset
 * @before: stream offset that was granted before @next was ADVERTISED
 * @lost: the link is lost; nothing arrives, and nothing is sent, before RESUME
 */
struct sanx_rxgen {
	struct sanx_ringgen	active;
	struct sanx_ringgen	next;
	struct sanx_ringgen	old;
	u32			nr;
	u32			told;
	u32			seen;
	bool			owed;
	bool			left;
	u64			left_to;
	u64			before;
	bool			lost;
};

/**
 * struct sanx_txgen - the generation that a sender uses
 * @nr: its number
 * @left: LEAVE was sent for it and is not answered; credits do not count
 * @win: the window that may be written now, or none; the size is also read
 *	without a lock
 * @left_win: the window that was left last
 */
struct sanx_txgen {
	u32			nr;
	bool			left;
	struct sanx_window_info	win;
	struct sanx_window_info	left_win;
};

void sanx_rxgen_init(struct sanx_rxgen *rx);
bool sanx_rxgen_make(struct sanx_rxgen *rx);
void sanx_rxgen_failed(struct sanx_rxgen *rx);
bool sanx_rxgen_made(struct sanx_rxgen *rx, u32 size);
bool sanx_rxgen_owes(const struct sanx_rxgen *rx);
struct sanx_ringgen *sanx_rxgen_advertise(struct sanx_rxgen *rx, u64 granted);
int sanx_rxgen_data(struct sanx_rxgen *rx, u8 gen, u64 end, bool in_ring);
int sanx_rxgen_leave(struct sanx_rxgen *rx, u32 nr, u64 offset, bool empty);
bool sanx_rxgen_drained(struct sanx_rxgen *rx);
bool sanx_rxgen_free(struct sanx_rxgen *rx);
int sanx_rxgen_lost(struct sanx_rxgen *rx);
u32 sanx_rxgen_resume(struct sanx_rxgen *rx);

void sanx_txgen_init(struct sanx_txgen *tx, const struct sanx_window_info *win);
int sanx_txgen_ring(struct sanx_txgen *tx, u32 nr,
		    const struct sanx_window_info *win);
u32 sanx_txgen_leave(struct sanx_txgen *tx);
int sanx_txgen_resume(struct sanx_txgen *tx, u32 nr,
		      const struct sanx_window_info *win);

#endif /* _SANX_RINGGEN_H */
