// SPDX-License-Identifier: GPL-2.0
/*
 * Generations of rings (af_sanx/link/frame/ringgen.c) against a peer that says anything.
 *
 * The input is a list of events of one connection: a byte that says which, and what
 * belongs to it.  Frames of the peer have any values, mostly near those that are
 * valid, and pass the parsers of format.c.  The events of this node come only when
 * they may.
 *
 * After each event the invariants of ringgen.h hold.  A frame that is refused has
 * changed nothing.  Every memory that was made is in the place that ringgen.h says,
 * and is freed once.
 */
#include "conn/msgq.h"
#include "fuzz/fuzz.h"
#include "link/frame/ringgen.h"
#include "sim/shim/report.h"

/* Our memory in the places that @rx has; 0 is the start memory, or none. */
static struct {
	struct sanx_rxgen	rx;
	struct sanx_txgen	tx;
	unsigned int		active;
	unsigned int		next;
	unsigned int		old;
	unsigned int		made;
	unsigned int		freed;
	u64			end;
} c;

/* A size of a window that is larger than @than, or 0. */
static u32 larger(u32 than, u8 by)
{
	u32 size = (than ?: SANX_RING_MIN / 2) << (1 + by % 3);

	return size > than && size <= SANX_RING_MAX ? size : 0;
}

static void memory_move(int move)
{
	if (move == SANX_RINGGEN_STAY)
		return;
	fuzz_assert(!c.old);
	c.old = c.active;
	c.active = move == SANX_RINGGEN_TO_NEXT ? c.next : 0;
	if (move == SANX_RINGGEN_TO_NEXT)
		c.next = 0;
}

/* @move: what a parser of the peer's words has returned; @was: before it. */
static void check_answer(int move, const struct sanx_rxgen *was)
{
	if (move < 0)
		fuzz_assert(move == -EPROTO && !memcmp(was, &c.rx, sizeof(*was)));
	else
		memory_move(move);
}

static void peer_data(struct fuzz_input *in)
{
	struct sanx_rxgen was = c.rx;
	u8 how = fuzz_u8(in);

	c.end += how >> 3;
	check_answer(sanx_rxgen_data(&c.rx, how & (SANX_RINGGEN_MOD - 1), c.end,
				     how & SANX_RINGGEN_MOD), &was);
}

static void peer_leave(struct fuzz_input *in)
{
	struct sanx_rxgen was = c.rx;
	u8 how = fuzz_u8(in);
	struct sanx_frame f = {
		.type = SANX_FRAME_LEAVE, .conn = 1, .offset = c.end,
		.count = c.rx.seen + (s8)how / 32,
	};
	u8 wire[SANX_FRAME_MAX];

	fuzz_assert(!sanx_frame_parse(&f, wire, sanx_frame_build(wire, &f)));
	check_answer(sanx_rxgen_leave(&c.rx, f.count, f.offset, how & 1), &was);
}

/* The body of a frame of the peer that has a window. */
static void put_window(struct fuzz_input *in, struct sanx_admission *adm)
{
	u8 how = fuzz_u8(in);
	struct sanx_window_info win = c.tx.left ? c.tx.left_win : c.tx.win;

	switch (how % 4) {
	case 0:
		win.size = larger(win.size, how >> 2);
		win.addr = fuzz_u32(in);
		break;
	case 1:
		win = (struct sanx_window_info){};
		break;
	case 2:
		win.rkey ^= how >> 2;
		break;
	default:
		win.addr = (u64)fuzz_u32(in) << 32;
		win.rkey = fuzz_u32(in);
		win.size = fuzz_u32(in);
	}
	*adm = (struct sanx_admission){ .conn = cpu_to_le32(1) };
	sanx_window_build(&adm->window, &win);
}

static void peer_ring(struct fuzz_input *in, bool resume)
{
	struct sanx_frame f = {
		.type = resume ? SANX_FRAME_RESUME : SANX_FRAME_RING, .conn = 1,
		.len = resume ? sizeof(struct sanx_resume) : sizeof(struct sanx_admission),
		.count = c.tx.nr + (s8)fuzz_u8(in) % 4,
	};
	struct sanx_txgen was = c.tx;
	struct sanx_window_info win;
	u8 wire[SANX_FRAME_MAX] = {};
	u64 token;
	u32 id;
	int err;

	put_window(in, (void *)(wire + sizeof(struct sanx_frame_hdr)));
	fuzz_assert(!sanx_frame_parse(&f, wire, sanx_frame_build(wire, &f)));
	if (resume)
		err = sanx_resume_parse(&f, &id, &win, &token) ?:
		      sanx_txgen_resume(&c.tx, f.count, &win);
	else
		err = sanx_ring_parse(&f, &id, &win) ?:
		      sanx_txgen_ring(&c.tx, f.count, &win);
	if (err) {
		fuzz_assert(err == -EPROTO && !memcmp(&was, &c.tx, sizeof(was)));
		return;
	}
	fuzz_assert(!c.tx.left && (s32)(c.tx.nr - was.nr) > 0);
	fuzz_assert(c.tx.win.addr == win.addr && c.tx.win.rkey == win.rkey &&
		    c.tx.win.size == win.size);
	/* Without LEAVE, the peer cannot take back what it has granted. */
	fuzz_assert(resume || was.left || win.size > was.win.size);
}

/* The worker makes memory, which can fail, and meanwhile the link can be lost. */
static void make(u8 how)
{
	u32 size = larger(c.rx.active.size, how);

	if (c.rx.next.state == SANX_RINGGEN_NONE) {
		if (!c.rx.lost)
			sanx_rxgen_make(&c.rx);
	} else if (c.rx.next.state == SANX_RINGGEN_MAKING) {
		if (!size || how & 128 || !sanx_rxgen_made(&c.rx, size))
			sanx_rxgen_failed(&c.rx);
		else
			c.next = ++c.made;
	}
}

static void advertise(void)
{
	struct sanx_ringgen *gen;

	if (c.rx.lost || !sanx_rxgen_owes(&c.rx))
		return;
	gen = sanx_rxgen_advertise(&c.rx, c.end);
	fuzz_assert(gen == &c.rx.active || gen == &c.rx.next);
	fuzz_assert(gen->state == (gen == &c.rx.active ? SANX_RINGGEN_ACTIVE :
				   SANX_RINGGEN_ADVERTISED));
}

static void reader_is_done(void)
{
	if (c.rx.old.state == SANX_RINGGEN_DRAINING) {
		fuzz_assert(sanx_rxgen_drained(&c.rx) == !!c.old);
	} else if (sanx_rxgen_free(&c.rx)) {
		fuzz_assert(c.old);
		c.old = 0;
		c.freed++;
	}
}

static void lose_or_resume(void)
{
	bool made = c.rx.next.state == SANX_RINGGEN_MADE;
	u32 nr = c.rx.nr;

	if (c.rx.lost) {
		fuzz_assert(sanx_rxgen_resume(&c.rx) == nr + 1);
		return;
	}
	memory_move(sanx_rxgen_lost(&c.rx));
	if (made) {
		c.next = 0;
		c.freed++;
	}
}

static void check(void)
{
	const struct sanx_rxgen *rx = &c.rx;

	fuzz_assert(rx->active.state == SANX_RINGGEN_ACTIVE);
	fuzz_assert(rx->next.state <= SANX_RINGGEN_ADVERTISED);
	fuzz_assert(rx->old.state == SANX_RINGGEN_NONE ||
		    rx->old.state >= SANX_RINGGEN_DRAINING);
	fuzz_assert(rx->old.state == SANX_RINGGEN_NONE ||
		    rx->next.state == SANX_RINGGEN_NONE);
	fuzz_assert(rx->nr - rx->seen <= 1 && rx->told - rx->seen <= 2);
	fuzz_assert((s32)(rx->nr + 1 - rx->told) >= 0);
	fuzz_assert(!!c.active == !!rx->active.size);
	fuzz_assert(!!c.next == (rx->next.state == SANX_RINGGEN_MADE ||
				 rx->next.state == SANX_RINGGEN_ADVERTISED));
	fuzz_assert(!!c.old == (rx->old.state != SANX_RINGGEN_NONE && rx->old.size));
	fuzz_assert(c.made == c.freed + !!c.active + !!c.next + !!c.old);
	fuzz_assert(!c.tx.left || !c.tx.win.size);
}

static void event(struct fuzz_input *in)
{
	u8 what = fuzz_u8(in);

	switch (what % 8) {
	case 0:
		peer_data(in);
		break;
	case 1:
		peer_leave(in);
		break;
	case 2:
		peer_ring(in, what & 128);
		break;
	case 3:
		make(what);
		break;
	case 4:
		advertise();
		break;
	case 5:
		reader_is_done();
		break;
	case 6:
		lose_or_resume();
		break;
	default:
		if (c.tx.win.size)
			fuzz_assert(sanx_txgen_leave(&c.tx) == c.tx.nr);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	static const struct sanx_window_info none;

	sim_abort = true;
	memset(&c, 0, sizeof(c));
	sanx_rxgen_init(&c.rx);
	sanx_txgen_init(&c.tx, &none);
	while (in.size) {
		event(&in);
		check();
	}
	return 0;
}
