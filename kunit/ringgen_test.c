// SPDX-License-Identifier: GPL-2.0
/*
 * Generations of rings (af_sanx/link/frame/ringgen.h): each rule by itself, and then a
 * receiver and a sender with a channel between them, together with the queue's
 * cursors and credits (msgq.h).
 *
 * The two ends are walked in two ways.  With few bytes and few frames in flight,
 * each state that can be reached is looked at once, the link lost in each of
 * them included.  With more of both, steps are taken at random, from a fixed
 * seed.  What must hold is written down here a second time, over memory instead
 * of generations: the sender writes only where the receiver has memory for it,
 * nothing is freed that may still be written, what is stored is where the reader
 * looks for it, and whoever waits gets an answer.
 *
 * The walk is shown to see something: a sender that writes on after LEAVE.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "conn/msgq.h"
#include "link/frame/ringgen.h"

/* What may be sent without a window, and the size of all payload here. */
#define UNIT		1024U
/* Memories of a receiver: at most two and one that is being advertised. */
#define MEMS		3
#define FLIGHT_MAX	8
/* Where the reader of each state is; enough that nothing wraps. */
#define WALK_START	0x100000U

enum note_type { DATA = 1, LEAVE, RING, CREDIT, RESUME };

/**
 * struct note - a frame in flight
 * @type: enum note_type
 * @gen: DATA: as in the frame
 * @in_ring: DATA: bytes are written to @mem
 * @mem: DATA: written to; RING, RESUME: advertised; or 0
 * @nr: number of a generation, in other frames than DATA and CREDIT
 * @size: RING, RESUME: of @mem, or 0
 * @zero: where there would be a hole; states are hashed
 * @offset: stream offset
 * @credit: stream offset
 */
struct note {
	u8 type;
	u8 gen;
	u8 in_ring;
	u8 mem;
	u32 nr;
	u32 size;
	u32 zero;
	u64 offset;
	u64 credit;
};

struct flight {
	u32 n;
	u32 most;
	struct note note[FLIGHT_MAX];
};

/**
 * struct pair - a receiver and a sender
 * @rx: the receiver's generations
 * @rxq: its queue; where its rings are is the number of a memory
 * @active: memory of rx.active, or 0
 * @next: of rx.next
 * @old: of rx.old
 * @live: memory is allocated
 * @tx: the sender's side
 * @txq: its queue
 * @posted: offset of the next byte that it sends
 * @start: offset from which it has written to its window
 * @up: there is a link
 * @resuming: the sender has not received RESUME on it
 * @stubborn: the sender writes on after LEAVE
 * @large: bytes of the largest ring
 * @to_rx: frames to the receiver
 * @to_tx: frames to the sender
 * @wrong: what must not be, or NULL
 */
struct pair {
	struct sanx_rxgen rx;
	struct sanx_rxq rxq;
	u8 active, next, old;
	u8 live[MEMS + 1];
	bool up;
	bool resuming;
	bool stubborn;
	u32 large;
	struct sanx_txgen tx;
	struct sanx_txq txq;
	u64 posted;
	u64 start;
	struct flight to_rx;
	struct flight to_tx;
	const char *wrong;
};

static void wrong(struct pair *p, const char *what)
{
	if (!p->wrong)
		p->wrong = what;
}

/* The queue never looks into its memory here. */
static u8 *mem_buf(u8 mem)
{
	return (u8 *)(unsigned long)(mem + 1);
}

static u8 mem_new(struct pair *p)
{
	u8 mem;

	for (mem = 1; mem <= MEMS; mem++) {
		if (p->live[mem])
			continue;
		p->live[mem] = true;
		return mem;
	}
	wrong(p, "more memory than a connection may have");
	return 0;
}

static void mem_free(struct pair *p, u8 *at)
{
	u8 mem = *at;
	u32 i;

	for (i = 0; i < p->to_rx.n; i++)
		if (p->to_rx.note[i].in_ring && p->to_rx.note[i].mem == mem)
			wrong(p, "freed while a write was under way");
	for (i = 0; i < p->to_tx.n; i++)
		if (p->to_tx.note[i].mem == mem)
			wrong(p, "freed while it was being advertised");
	if (p->up && !p->resuming && p->tx.win.size && p->tx.win.rkey == mem)
		wrong(p, "freed while the sender might write there");
	if (!mem || !p->live[mem])
		wrong(p, "freed twice");
	p->live[mem] = false;
	*at = 0;
}

static struct note *flight_put(struct flight *f, u8 type)
{
	struct note *note = &f->note[f->n++];

	memset(note, 0, sizeof(*note));
	note->type = type;
	return note;
}

static struct note flight_take(struct flight *f)
{
	struct note note = f->note[0];

	f->n--;
	memmove(f->note, f->note + 1, f->n * sizeof(note));
	memset(&f->note[f->n], 0, sizeof(note));
	return note;
}

static bool flight_room(const struct flight *f)
{
	return f->n < f->most;
}

static void flight_drop(struct flight *f)
{
	memset(f->note, 0, sizeof(f->note));
	f->n = 0;
}

/* What the engine does with its memory (rings.c). */
static void rx_move(struct pair *p, int move)
{
	u32 size = p->rx.active.size ?: UNIT;

	if (move == SANX_RINGGEN_STAY)
		return;
	if (sanx_rxq_moving(&p->rxq) || p->old)
		wrong(p, "moved before the reader had followed");
	p->old = p->active;
	p->active = 0;
	if (move == SANX_RINGGEN_TO_NEXT) {
		p->active = p->next;
		p->next = 0;
	}
	sanx_rxq_move(&p->rxq, mem_buf(p->active), size);
}

static u64 rx_oldest(const struct pair *p)
{
	return sanx_rxq_moving(&p->rxq) ? max(p->rxq.head, p->rxq.from) :
					  p->rxq.head;
}

/* What holds in each state. */
static void pair_check(struct pair *p)
{
	const struct sanx_rxgen *rx = &p->rx;
	const struct sanx_rxq *q = &p->rxq;
	bool draining = rx->old.state == SANX_RINGGEN_DRAINING;
	bool made = rx->next.state >= SANX_RINGGEN_MADE;

	if (rx->active.state != SANX_RINGGEN_ACTIVE ||
	    rx->next.state > SANX_RINGGEN_ADVERTISED ||
	    (rx->old.state != SANX_RINGGEN_NONE &&
	     (rx->old.state < SANX_RINGGEN_DRAINING ||
	      rx->next.state != SANX_RINGGEN_NONE)))
		wrong(p, "a state that must not be");
	if (rx->nr - rx->seen > 1 || rx->told - rx->seen > 2 ||
	    rx->nr + 1 - rx->told > 2)
		wrong(p, "more numbers than can be told apart");
	if (sanx_rxq_moving(q) != draining)
		wrong(p, "the reader and its generation disagree");
	if (!!p->active != !!rx->active.size || q->in.buf != mem_buf(p->active) ||
	    !!p->next != made ||
	    !!p->old != (rx->old.state != SANX_RINGGEN_NONE && rx->old.size))
		wrong(p, "memory and generation disagree");
	if (q->tail - rx_oldest(p) > (rx->active.size ?: UNIT))
		wrong(p, "more was stored than there is memory for");
	if (p->up && !p->resuming && p->posted > p->txq.limit)
		wrong(p, "more was sent than was granted");
}

enum step {
	STEP_TAKE,		/* the receiver takes a frame */
	STEP_TAKE_TX,		/* the sender does */
	STEP_RING,		/* a RING that is owed is sent */
	STEP_FOLLOW,		/* the reader goes to the next memory */
	STEP_FREE,		/* the worker frees the memory before */
	STEP_FAIL,		/* a ring that is being made is not made */
	STEP_RESUME,		/* there is a link again */
	STEP_READ,		/* the program reads */
	STEP_CREDIT,		/* a credit is sent */
	STEP_MAKE,		/* a ring is wanted */
	STEP_MADE,		/* it is made */
	STEP_DATA,		/* the sender sends a frame with payload */
	STEP_DATA_RING,		/* or writes to its window */
	STEP_LEAVE,		/* the sender leaves it */
	STEP_LOST,		/* the link is lost */
	STEPS
};

static u32 next_size(const struct pair *p)
{
	return p->rx.active.size ? p->large : 2 * UNIT;
}

static bool can_send(const struct pair *p)
{
	return p->up && !p->resuming && flight_room(&p->to_rx);
}

static bool can_tell(const struct pair *p)
{
	return p->up && flight_room(&p->to_tx);
}

static bool can_send_data(const struct pair *p)
{
	return can_send(p) && p->posted + UNIT <= p->txq.limit;
}

/* Return: the window that the sender writes to. */
static const struct sanx_window_info *window(const struct pair *p)
{
	return p->stubborn && p->tx.left ? &p->tx.left_win : &p->tx.win;
}

static bool step_can_rx(const struct pair *p, enum step step)
{
	const struct sanx_rxq *q = &p->rxq;

	switch (step) {
	case STEP_TAKE:
		return p->to_rx.n;
	case STEP_RING:
		return can_tell(p) && sanx_rxgen_owes(&p->rx);
	case STEP_FOLLOW:
		return sanx_rxq_moving(q) && q->head >= q->from;
	case STEP_FREE:
		return p->rx.old.state == SANX_RINGGEN_DRAINED;
	case STEP_FAIL:
	case STEP_MADE:
		return p->rx.next.state == SANX_RINGGEN_MAKING;
	case STEP_RESUME:
		return !p->up;
	case STEP_READ:
		return sanx_rxq_avail(q);
	case STEP_CREDIT:
		return can_tell(p) && !p->resuming &&
		       q->head + q->size != q->granted;
	default:
		return p->rx.active.size < p->large;
	}
}

static bool step_can(const struct pair *p, enum step step)
{
	switch (step) {
	case STEP_TAKE_TX:
		return p->to_tx.n;
	case STEP_DATA:
		return can_send_data(p);
	case STEP_DATA_RING:
		return can_send_data(p) && window(p)->size;
	case STEP_LEAVE:
		/* Not while bytes are sent again: that is not idle. */
		return can_send(p) && p->tx.win.size &&
		       p->posted == p->txq.next &&
		       p->posted + UNIT <= p->txq.limit;
	case STEP_LOST:
		return p->up;
	default:
		return step_can_rx(p, step);
	}
}

static void take_data(struct pair *p, const struct note *f)
{
	int move;

	if (f->offset != p->rxq.tail ||
	    f->offset + UNIT > p->rxq.granted)
		wrong(p, "sent beyond what was granted");
	move = sanx_rxgen_data(&p->rx, f->gen, f->offset + UNIT, f->in_ring);
	if (move < 0) {
		wrong(p, "refused DATA of a correct sender");
		return;
	}
	rx_move(p, move);
	if (f->in_ring && f->mem != p->active)
		wrong(p, "stored where nobody reads");
	if (sanx_rxq_arrive(&p->rxq, f->offset, UNIT))
		wrong(p, "refused payload of a correct sender");
}

static void take_leave(struct pair *p, const struct note *f)
{
	int move;

	move = sanx_rxgen_leave(&p->rx, f->nr, f->offset,
				!sanx_rxq_avail(&p->rxq));
	if (move < 0 || f->offset != p->rxq.tail) {
		wrong(p, "refused LEAVE of a correct sender");
		return;
	}
	rx_move(p, move);
	if (move == SANX_RINGGEN_TO_FIRST) {
		p->rxq.size = UNIT;
		sanx_rxq_grant(&p->rxq);
	}
}

static void step_take(struct pair *p)
{
	struct note f = flight_take(&p->to_rx);

	if (f.type == DATA)
		take_data(p, &f);
	else
		take_leave(p, &f);
}

static void step_take_tx(struct pair *p)
{
	struct note f = flight_take(&p->to_tx);
	struct sanx_window_info win = {
		.addr = f.mem, .rkey = f.mem, .size = f.size,
	};
	int err = 0;

	if (f.type == RESUME) {
		err = sanx_txgen_resume(&p->tx, f.nr, &win) ?:
		      sanx_txq_resume(&p->txq, f.size ?: UNIT, f.credit,
				      f.offset);
		p->posted = f.offset;
		p->start = f.offset;
		p->resuming = false;
	} else if (f.type == RING) {
		err = sanx_txgen_ring(&p->tx, f.nr, &win);
		p->txq.size = f.size ?: UNIT;
		if (f.mem != p->tx.left_win.rkey)
			p->start = p->posted;
	}
	if (!err && f.type != RESUME && !p->tx.left)
		err = min(sanx_txq_credit(&p->txq, f.credit), 0);
	if (err)
		wrong(p, "refused what a correct receiver says");
}

static void step_ring(struct pair *p)
{
	const struct sanx_ringgen *gen = sanx_rxgen_advertise(&p->rx,
							      p->rxq.granted);
	struct note *f = flight_put(&p->to_tx, RING);

	f->mem = p->active;
	if (gen == &p->rx.next) {
		f->mem = p->next;
		p->rxq.size = gen->size;
	}
	f->nr = p->rx.told;
	f->size = gen->size;
	f->credit = sanx_rxq_grant(&p->rxq);
}

static void step_data(struct pair *p, bool in_ring)
{
	struct note *f = flight_put(&p->to_rx, DATA);
	const struct sanx_window_info *win = window(p);

	f->gen = p->tx.nr % SANX_RINGGEN_MOD;
	f->offset = p->posted;
	p->posted += UNIT;
	if (p->posted > p->txq.next)
		sanx_txq_advance(&p->txq, p->posted - p->txq.next);
	if (!in_ring)
		return;
	f->in_ring = true;
	f->mem = win->rkey;
	/* The bytes may be in memory as early as this. */
	if (!p->live[f->mem] || (f->mem != p->active && f->mem != p->next))
		wrong(p, "wrote to memory that was freed");
	if (p->posted - max(p->rxq.head, p->start) > win->size)
		wrong(p, "wrote over bytes that were not read");
}

static void step_leave(struct pair *p)
{
	struct note *f = flight_put(&p->to_rx, LEAVE);

	if (!sanx_txq_lower(&p->txq, UNIT))
		wrong(p, "room that is not there");
	f->offset = p->posted;
	f->nr = sanx_txgen_leave(&p->tx);
}

static void step_lost(struct pair *p)
{
	flight_drop(&p->to_rx);
	flight_drop(&p->to_tx);
	p->up = false;
	p->resuming = false;
	rx_move(p, sanx_rxgen_lost(&p->rx));
	p->rxq.size = p->rx.active.size ?: UNIT;
	if (p->next)
		mem_free(p, &p->next);
}

static void step_resume(struct pair *p)
{
	struct note *f;

	p->up = true;
	p->resuming = true;
	f = flight_put(&p->to_tx, RESUME);
	f->nr = sanx_rxgen_resume(&p->rx);
	f->mem = p->active;
	f->size = p->rx.active.size;
	f->offset = p->rxq.tail;
	f->credit = sanx_rxq_grant(&p->rxq);
}

static void step_made(struct pair *p)
{
	if (!sanx_rxgen_made(&p->rx, next_size(p)))
		sanx_rxgen_failed(&p->rx);
	else
		p->next = mem_new(p);
}

static void step_follow(struct pair *p)
{
	struct sanx_left left;

	if (!sanx_rxq_follow(&p->rxq, &left))
		wrong(p, "the reader cannot follow");
	else if (left.buf != mem_buf(p->old))
		wrong(p, "the reader leaves what it should not");
	else if (sanx_rxgen_drained(&p->rx) != !!p->old)
		wrong(p, "freed what is not to be, or the other way round");
}

static void step_do_rx(struct pair *p, enum step step)
{
	switch (step) {
	case STEP_TAKE:
		return step_take(p);
	case STEP_RING:
		return step_ring(p);
	case STEP_FOLLOW:
		return step_follow(p);
	case STEP_FREE:
		if (sanx_rxgen_free(&p->rx))
			mem_free(p, &p->old);
		return;
	case STEP_FAIL:
		return sanx_rxgen_failed(&p->rx);
	case STEP_RESUME:
		return step_resume(p);
	case STEP_READ:
		return sanx_rxq_consume(&p->rxq, UNIT);
	case STEP_MAKE:
		sanx_rxgen_make(&p->rx);
		return;
	case STEP_MADE:
		return step_made(p);
	default:
		flight_put(&p->to_tx, CREDIT)->credit = sanx_rxq_grant(&p->rxq);
		return;
	}
}

static void step_do(struct pair *p, enum step step)
{
	switch (step) {
	case STEP_TAKE_TX:
		step_take_tx(p);
		break;
	case STEP_DATA:
	case STEP_DATA_RING:
		step_data(p, step == STEP_DATA_RING);
		break;
	case STEP_LEAVE:
		step_leave(p);
		break;
	case STEP_LOST:
		step_lost(p);
		break;
	default:
		step_do_rx(p, step);
		break;
	}
	pair_check(p);
}

/* Takes all steps before @end that can be taken, until there is none. */
static void settle(struct pair *p, enum step end)
{
	bool moved = true;
	u32 step, n = 0;

	while (moved && !p->wrong && n++ < 1000) {
		moved = false;
		for (step = 0; step < end; step++) {
			if (!step_can(p, step))
				continue;
			step_do(p, step);
			moved = true;
		}
	}
	if (n >= 1000)
		wrong(p, "it does not come to rest");
}

/* Both know the same: @tx is at the newest generation, and has its window. */
static void pair_agrees(struct pair *p)
{
	if (p->tx.left || p->rx.next.state != SANX_RINGGEN_NONE)
		wrong(p, "waits for ever");
	if (p->tx.nr != p->rx.told || p->rx.nr != p->rx.told)
		wrong(p, "the two disagree about the generation");
	if (p->tx.win.size != p->rx.active.size ||
	    p->tx.win.rkey != p->active)
		wrong(p, "the two disagree about the window");
	if (p->txq.limit != p->rxq.granted)
		wrong(p, "the two disagree about the credit");
}

/*
 * From each state, nodes by themselves come to rest, with every LEAVE answered,
 * whether the program reads or not.  Once it has read, the sender can send.
 */
static const char *pair_rest(const struct pair *from)
{
	struct pair p = *from;

	settle(&p, STEP_READ);
	/* A ring that was advertised last is used with the next byte. */
	if (p.rx.next.state == SANX_RINGGEN_ADVERTISED && !p.wrong) {
		if (p.tx.nr != p.rx.told || p.tx.left)
			wrong(&p, "waits for ever");
		if (can_send_data(&p))
			step_do(&p, STEP_DATA_RING);
		settle(&p, STEP_READ);
	}
	settle(&p, STEP_MAKE);
	if (p.wrong)
		return p.wrong;
	if (p.rx.next.state == SANX_RINGGEN_ADVERTISED)
		step_do(&p, STEP_DATA_RING);
	settle(&p, STEP_MAKE);
	pair_agrees(&p);
	if (p.posted + UNIT > p.txq.limit)
		wrong(&p, "nothing can be sent any more");
	if (p.rx.old.state != SANX_RINGGEN_NONE)
		wrong(&p, "memory stays");
	return p.wrong;
}

/*
 * A frame that nobody sent: refused without a trace, or such that the memory
 * stays whole.
 */
static const char *pair_lie(const struct pair *from, bool leave, u32 what,
			    bool in_ring)
{
	u64 end = from->rxq.tail + UNIT;
	struct pair p = *from;
	int move;

	if (!leave && end > p.rxq.granted)
		return NULL;
	if (leave)
		move = sanx_rxgen_leave(&p.rx, from->rx.seen - 3 + what,
					p.rxq.tail, !sanx_rxq_avail(&p.rxq));
	else
		move = sanx_rxgen_data(&p.rx, what, end, in_ring);
	if (move < 0)
		return memcmp(&p.rx, &from->rx, sizeof(p.rx)) ?
		       "refused, and changed something" : NULL;
	if (!p.up)
		return "taken without a link";
	rx_move(&p, move);
	if (!leave && in_ring && !p.active)
		return "in a ring where there is none";
	if (!leave && sanx_rxq_arrive(&p.rxq, from->rxq.tail, UNIT))
		return "more than was granted";
	pair_check(&p);
	return p.wrong;
}

static const char *pair_lies(const struct pair *p)
{
	const char *what = NULL;
	u32 i;

	for (i = 0; i < SANX_RINGGEN_MOD && !what; i++)
		what = pair_lie(p, false, i, false) ?:
		       pair_lie(p, false, i, true);
	for (i = 0; i < 8 && !what; i++)
		what = pair_lie(p, true, i, false);
	return what;
}

static void pair_init(struct pair *p, u32 flight, u32 large, u32 nr, u64 offset)
{
	static const struct sanx_window_info none;

	memset(p, 0, sizeof(*p));
	sanx_rxgen_init(&p->rx);
	sanx_txgen_init(&p->tx, &none);
	sanx_rxq_init(&p->rxq, mem_buf(0), UNIT);
	sanx_txq_init(&p->txq, UNIT);
	p->rx.nr = nr;
	p->rx.told = nr;
	p->rx.seen = nr;
	p->tx.nr = nr;
	p->rxq.head = offset;
	p->rxq.tail = offset;
	p->rxq.granted += offset;
	p->txq.next = offset;
	p->txq.read = offset;
	p->txq.limit += offset;
	p->posted = offset;
	p->start = offset;
	p->large = large;
	p->to_rx.most = flight;
	p->to_tx.most = flight;
	p->up = true;
}

/*
 * All orders.  States that differ in where the stream is, in how many
 * generations there were, or in what nothing depends on, are one.
 */

static void flight_shift(struct flight *f, u64 base, u32 nr)
{
	u32 i;

	for (i = 0; i < f->n; i++) {
		struct note *note = &f->note[i];

		if (note->type != CREDIT)
			note->offset -= note->type == RING ? 0 : base;
		if (note->type >= RING)
			note->credit -= base;
		if (note->type != DATA && note->type != CREDIT)
			note->nr -= nr;
	}
}

/* The sender has no say before RESUME, and RESUME tells it everything. */
static void pair_forget(struct pair *p)
{
	memset(&p->tx, 0, sizeof(p->tx));
	p->tx.nr = p->rx.nr - 1;
	p->txq.limit = p->rxq.head;
	p->txq.size = 0;
	p->posted = p->txq.next;
	p->start = p->rxq.head;
}

static void pair_normal(struct pair *p)
{
	u32 nr = p->rx.seen & ~(SANX_RINGGEN_MOD - 1);
	u64 base = p->rxq.head - WALK_START;

	if (!p->up || p->resuming)
		pair_forget(p);
	if (!p->tx.left)
		memset(&p->tx.left_win, 0, sizeof(p->tx.left_win));
	if (!p->tx.win.size && !p->tx.left)
		p->start = 0;
	p->start = max(p->start, p->rxq.head);
	p->rx.nr -= nr;
	p->rx.told -= nr;
	p->rx.seen -= nr;
	p->tx.nr -= nr;
	p->rx.left_to = p->rx.left ? p->rx.left_to - base : 0;
	p->rx.before = p->rx.next.state == SANX_RINGGEN_ADVERTISED ?
		       p->rx.before - base : 0;
	p->rxq.from = sanx_rxq_moving(&p->rxq) ?
		      max(p->rxq.from, p->rxq.head) - base : 0;
	p->rxq.head -= base;
	p->rxq.tail -= base;
	p->rxq.granted -= base;
	p->txq.next -= base;
	p->txq.limit -= base;
	p->txq.read -= base;
	p->posted -= base;
	p->start -= base;
	flight_shift(&p->to_rx, base, nr);
	flight_shift(&p->to_tx, base, nr);
}

#define WALK_SLOTS	0x80000U
#define WALK_STACK	0x2000U

/* What the walk has to have come to, or it shows little. */
enum feature {
	RING_CROSSES_LEAVE,	/* both are in flight */
	MADE_BEHIND_ANSWER,	/* two RINGs are owed */
	THREE_NUMBERS,		/* the sender may use any of them */
	LOST_MAKING,		/* the link is lost while a ring is made, */
	LOST_DRAINING,		/* while the reader has not followed, */
	LOST_DRAINED,		/* and while memory is to be freed */
	FEATURES
};

static u32 features(const struct pair *p)
{
	const struct sanx_rxgen *rx = &p->rx;
	u32 has = 0;

	if (rx->next.state == SANX_RINGGEN_ADVERTISED && p->tx.left &&
	    p->up && !p->resuming)
		has |= BIT(RING_CROSSES_LEAVE);
	if (rx->owed && rx->next.state == SANX_RINGGEN_MADE)
		has |= BIT(MADE_BEHIND_ANSWER);
	if (rx->told - rx->seen == 2)
		has |= BIT(THREE_NUMBERS);
	if (rx->lost && rx->next.state == SANX_RINGGEN_MAKING)
		has |= BIT(LOST_MAKING);
	if (rx->lost && rx->old.state == SANX_RINGGEN_DRAINING)
		has |= BIT(LOST_DRAINING);
	if (rx->lost && rx->old.state == SANX_RINGGEN_DRAINED)
		has |= BIT(LOST_DRAINED);
	return has;
}

/**
 * struct walk - states that can be reached
 * @features: BIT() of what was come to, of enum feature
 * @seen: hash table of them; what is in it are 64 bits of a hash of each
 * @n: how many
 * @stack: those that are still to be looked at
 * @depth: how many
 * @wrong: what must not be, or NULL
 */
struct walk {
	u32 features;
	u64 *seen;
	u32 n;
	struct pair *stack;
	u32 depth;
	const char *wrong;
};

static void walk_see(struct walk *w, struct pair *p)
{
	const u32 *words = (const u32 *)p;
	u64 key;
	u32 at;

	pair_normal(p);
	key = jhash2(words, sizeof(*p) / 4, 1);
	key = key << 32 | jhash2(words, sizeof(*p) / 4, 2) | 1;
	for (at = key >> 33; w->seen[at % WALK_SLOTS]; at++)
		if (w->seen[at % WALK_SLOTS] == key)
			return;
	w->seen[at % WALK_SLOTS] = key;
	if (w->n++ > WALK_SLOTS / 2 || w->depth == WALK_STACK)
		w->wrong = "more states than there is room for";
	else
		w->stack[w->depth++] = *p;
}

static void walk_from(struct walk *w, const struct pair *from)
{
	struct pair p;
	u32 step;

	w->features |= features(from);
	w->wrong = pair_rest(from) ?: pair_lies(from);
	for (step = 0; step < STEPS && !w->wrong; step++) {
		if (!step_can(from, step))
			continue;
		p = *from;
		step_do(&p, step);
		w->wrong = p.wrong;
		if (!w->wrong)
			walk_see(w, &p);
	}
}

/* Reaches all states that follow @p, until something is wrong. */
static struct walk walk(struct pair *p)
{
	struct walk w = { .wrong = "no memory" };

	w.seen = vzalloc(array_size(WALK_SLOTS, sizeof(*w.seen)));
	w.stack = vmalloc(array_size(WALK_STACK, sizeof(*w.stack)));
	if (w.seen && w.stack) {
		w.wrong = NULL;
		walk_see(&w, p);
		while (w.depth && !w.wrong) {
			*p = w.stack[--w.depth];
			walk_from(&w, p);
			cond_resched();
		}
	}
	vfree(w.seen);
	vfree(w.stack);
	return w;
}

static struct pair *pair_alloc(struct kunit *test)
{
	struct pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

/**
 * struct walk_case - how much the two ends have
 * @desc: in words
 * @flight: frames in flight each way
 * @large: bytes of the largest ring
 * @nr: number of the first generation
 */
struct walk_case {
	const char *desc;
	u32 flight;
	u32 large;
	u32 nr;
};

static const struct walk_case walk_cases[] = {
	{ "one ring, two frames", 2, 2 * UNIT, 0 },
	{ "two sizes, two frames", 2, 3 * UNIT, 1 },
	{ "two sizes, three frames", 3, 4 * UNIT, 2 },
	{ "two sizes, four frames", 4, 3 * UNIT, 3 },
};

KUNIT_ARRAY_PARAM_DESC(walk, walk_cases, desc);

/* No order of events, nor of lost links, ends in harm or in a wait. */
static void walk_all_orders(struct kunit *test)
{
	const struct walk_case *c = test->param_value;
	struct pair *p = pair_alloc(test);
	u32 all = BIT(FEATURES) - 1;
	struct walk w;

	/* With one size a ring is followed by none but the start memory. */
	if (c->large == 2 * UNIT)
		all &= ~(BIT(RING_CROSSES_LEAVE) | BIT(MADE_BEHIND_ANSWER));
	pair_init(p, c->flight, c->large, c->nr, WALK_START);
	w = walk(p);
	KUNIT_EXPECT_NULL_MSG(test, w.wrong, "%s, in state %u", w.wrong, w.n);
	KUNIT_EXPECT_EQ(test, w.features & all, all);
	KUNIT_EXPECT_GT(test, w.n, 3000);
	kunit_info(test, "%u states\n", w.n);
}

/* A sender that writes on after LEAVE does harm, and the walk comes to it. */
static void walk_stubborn_sender(struct kunit *test)
{
	struct pair *p = pair_alloc(test);
	struct walk w;

	pair_init(p, 2, 3 * UNIT, 0, WALK_START);
	p->stubborn = true;
	w = walk(p);
	KUNIT_EXPECT_NOT_NULL(test, w.wrong);
}

/**
 * struct run_case - two ends, at random
 * @desc: in words
 * @flight: frames in flight each way
 * @large: bytes of the largest ring
 * @nr: number of the first generation
 * @offset: where the stream begins
 * @lost: one in how many chances a link is lost
 * @read: one in how many chances the program reads
 */
struct run_case {
	const char *desc;
	u32 flight;
	u32 large;
	u32 nr;
	u64 offset;
	u32 lost;
	u32 read;
};

static const struct run_case run_cases[] = {
	{ "a small ring", 8, 2 * UNIT, 0, 0, 50, 1 },
	{ "a large ring", 8, 16 * UNIT, 0, 0, 50, 1 },
	{ "numbers that wrap", 4, 4 * UNIT, U32_MAX - 100, 0, 20, 1 },
	{ "numbers that change their sign", 4, 4 * UNIT, S32_MAX - 100, 0, 20,
	  1 },
	{ "across 4 GiB", 8, 8 * UNIT, 0, U32_MAX - 50 * UNIT, 50, 1 },
	{ "a slow reader", 8, 8 * UNIT, 0, 0, 50, 20 },
	{ "links that are always lost", 8, 8 * UNIT, 0, 0, 1, 1 },
	{ "links that are hardly ever lost", 8, 8 * UNIT, 0, 0, 5000, 1 },
};

KUNIT_ARRAY_PARAM_DESC(run, run_cases, desc);

static void run_at_random(struct kunit *test)
{
	const struct run_case *c = test->param_value;
	struct pair *p = pair_alloc(test);
	const char *what = NULL;
	struct rnd_state rnd;
	u32 i, step, one_in;

	pair_init(p, c->flight, c->large, c->nr, c->offset);
	prandom_seed_state(&rnd, 0x72696e67ULL + c->large + c->lost);
	for (i = 0; i < 100000 && !what; i++) {
		step = prandom_u32_state(&rnd) % STEPS;
		one_in = step == STEP_LOST ? c->lost :
			 step == STEP_READ ? c->read : 1;
		if (prandom_u32_state(&rnd) % one_in || !step_can(p, step))
			continue;
		step_do(p, step);
		what = p->wrong ?: pair_lies(p);
		if (!what && !(i % 16))
			what = pair_rest(p);
	}
	KUNIT_EXPECT_NULL_MSG(test, what, "%s, in step %u", what, i);
	/* It has come far, and through many generations. */
	KUNIT_EXPECT_GT(test, p->rx.nr - c->nr, 200);
	KUNIT_EXPECT_GT(test, p->rxq.head - c->offset, 200 * UNIT);
}

/* A receiver whose generation @nr has a ring of @size bytes. */
static struct sanx_rxgen rx_with_ring(struct kunit *test, u32 size)
{
	struct sanx_rxgen rx;

	sanx_rxgen_init(&rx);
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_make(&rx));
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_made(&rx, size));
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_PTR_EQ(test, sanx_rxgen_advertise(&rx, UNIT), &rx.next);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_EQ(test, rx.told, 1);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 10, true),
			SANX_RINGGEN_TO_NEXT);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_drained(&rx));
	return rx;
}

/* The start memory: frames only, and one ring is made at a time. */
static void rx_start(struct kunit *test)
{
	struct sanx_rxgen rx;

	memset(&rx, 0xff, sizeof(rx));
	sanx_rxgen_init(&rx);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_free(&rx));
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 0, 100, false), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 0, 100, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 100, false), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 3, 100, false), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 0, 100, true), -EPROTO);
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_make(&rx));
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_make(&rx));
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_owes(&rx));
	sanx_rxgen_failed(&rx);
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_make(&rx));
}

/* What was sent before RING was received is bound by the grant before RING. */
static void rx_before_ring(struct kunit *test)
{
	struct sanx_rxgen rx;

	sanx_rxgen_init(&rx);
	sanx_rxgen_make(&rx);
	sanx_rxgen_made(&rx, 4096);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 100, true), -EPROTO);
	sanx_rxgen_advertise(&rx, 1000);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 0, 1000, false), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 0, 1001, false), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 0, 1000, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 2, 1000, true), -EPROTO);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_make(&rx));
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 5000, true),
			SANX_RINGGEN_TO_NEXT);
	/* There is no way back. */
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 0, 5000, false), -EPROTO);
	/* Nothing is made before the reader has followed. */
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_make(&rx));
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_drained(&rx));
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_make(&rx));
}

/* LEAVE of a ring that is read to its end: no ring. */
static void rx_leave(struct kunit *test)
{
	struct sanx_rxgen rx = rx_with_ring(test, 4096);

	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 0, 10, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 2, 10, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 1, 10, true),
			SANX_RINGGEN_TO_FIRST);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 1, 10, true), -EPROTO);
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_owes(&rx));
	/* Frames may follow, up to what may be sent without a ring. */
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 10 + UNIT, false), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 11 + UNIT, false),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 20, true), -EPROTO);
	/* The answer was not sent yet. */
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 2, 20, false), -EPROTO);
	KUNIT_EXPECT_PTR_EQ(test, sanx_rxgen_advertise(&rx, 0), &rx.active);
	KUNIT_EXPECT_EQ(test, rx.told, 2);
	KUNIT_EXPECT_EQ(test, rx.active.size, 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 2, 5000, false), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 5000, false), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 2, 5000, true), -EPROTO);
	/* The ring is freed when the reader has left it. */
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_free(&rx));
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_drained(&rx));
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_free(&rx));
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_free(&rx));
}

/* LEAVE with bytes unread, or while a ring is made: the same ring. */
static void rx_leave_stays(struct kunit *test)
{
	struct sanx_rxgen rx = rx_with_ring(test, 4096);

	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 1, 10, false), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 20, true), -EPROTO);
	KUNIT_EXPECT_PTR_EQ(test, sanx_rxgen_advertise(&rx, 0), &rx.active);
	KUNIT_EXPECT_EQ(test, rx.active.size, 4096);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 2, 3000, true), 0);
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_make(&rx));
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 2, 3000, true), 0);
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_made(&rx, 8192));
	/* The answer goes first, and then the larger ring. */
	KUNIT_EXPECT_PTR_EQ(test, sanx_rxgen_advertise(&rx, 0), &rx.active);
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_PTR_EQ(test, sanx_rxgen_advertise(&rx, 7000), &rx.next);
	KUNIT_EXPECT_EQ(test, rx.told, 4);
	/* All three numbers are possible. */
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 2, 3100, false), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 3, 7000, true), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 2, 7000, false), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 3, 7001, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 0, 8000, true),
			SANX_RINGGEN_TO_NEXT);
	KUNIT_EXPECT_EQ(test, rx.nr, 4);
}

/* RING and LEAVE cross: RING is the answer, and LEAVE binds its sender. */
static void rx_leave_crosses(struct kunit *test)
{
	struct sanx_rxgen rx = rx_with_ring(test, 4096);

	sanx_rxgen_make(&rx);
	sanx_rxgen_made(&rx, 8192);
	sanx_rxgen_advertise(&rx, 4000);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 1, 10, true), 0);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 1, 10, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 10 + UNIT, false), 0);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 11 + UNIT, false),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 20, true), -EPROTO);
	/* The next LEAVE may be the first frame with the new number. */
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 2, 10, true),
			SANX_RINGGEN_TO_NEXT);
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_PTR_EQ(test, sanx_rxgen_advertise(&rx, 0), &rx.active);
	KUNIT_EXPECT_EQ(test, rx.told, 3);
}

/* A RING that is about to be sent is the answer, and the only one. */
static void rx_leave_made(struct kunit *test)
{
	struct sanx_rxgen rx = rx_with_ring(test, 4096);

	sanx_rxgen_make(&rx);
	sanx_rxgen_made(&rx, 8192);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 1, 10, true), 0);
	KUNIT_EXPECT_PTR_EQ(test, sanx_rxgen_advertise(&rx, 4000), &rx.next);
	KUNIT_EXPECT_EQ(test, rx.told, 2);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 2, 20, true),
			SANX_RINGGEN_TO_NEXT);
}

/* A lost link: what was advertised counts, what was not is dropped. */
static void rx_lost(struct kunit *test)
{
	struct sanx_rxgen rx = rx_with_ring(test, 4096);

	sanx_rxgen_make(&rx);
	sanx_rxgen_made(&rx, 8192);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_lost(&rx), SANX_RINGGEN_STAY);
	KUNIT_EXPECT_EQ(test, rx.next.state, SANX_RINGGEN_NONE);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 20, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 1, 20, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_resume(&rx), 2);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 1, 20, true), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 2, 20, true), 0);
	sanx_rxgen_make(&rx);
	sanx_rxgen_made(&rx, 8192);
	sanx_rxgen_advertise(&rx, 100);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_lost(&rx), SANX_RINGGEN_TO_NEXT);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_lost(&rx), SANX_RINGGEN_STAY);
	KUNIT_EXPECT_EQ(test, rx.active.size, 8192);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_resume(&rx), 4);
	/* What was granted before is nothing to the new link. */
	KUNIT_EXPECT_EQ(test, sanx_rxgen_data(&rx, 0, 5000, true), 0);
}

/* A ring that is made while there is no link, and one whose LEAVE is lost. */
static void rx_lost_making(struct kunit *test)
{
	struct sanx_rxgen rx = rx_with_ring(test, 4096);

	sanx_rxgen_make(&rx);
	sanx_rxgen_lost(&rx);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_made(&rx, 8192));
	sanx_rxgen_failed(&rx);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_resume(&rx), 2);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_leave(&rx, 2, 10, true),
			SANX_RINGGEN_TO_FIRST);
	KUNIT_EXPECT_EQ(test, sanx_rxgen_lost(&rx), SANX_RINGGEN_STAY);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_EQ(test, sanx_rxgen_resume(&rx), 4);
	KUNIT_EXPECT_FALSE(test, sanx_rxgen_owes(&rx));
	KUNIT_EXPECT_EQ(test, rx.active.size, 0);
	/* LEAVE said that nothing is written there, on whatever link. */
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_drained(&rx));
	KUNIT_EXPECT_TRUE(test, sanx_rxgen_free(&rx));
}

static const struct sanx_window_info no_window;
static const struct sanx_window_info small_window = { 0x1000, 7, 4096 };
static const struct sanx_window_info large_window = { 0x1000, 8, 8192 };

/**
 * struct ring_case - a RING, and whether a correct receiver could have sent it
 * @desc: in words
 * @win: window before
 * @left: LEAVE was sent
 * @nr: number in it; it was 5 before
 * @ring: window in it
 * @want: the verdict
 */
struct ring_case {
	const char *desc;
	const struct sanx_window_info *win;
	bool left;
	u32 nr;
	struct sanx_window_info ring;
	int want;
};

static const struct ring_case ring_cases[] = {
	{ "the first ring", &no_window, false, 6, { 0, 1, 4096 }, 0 },
	{ "none, and there was none", &no_window, false, 6, {}, -EPROTO },
	{ "a larger ring", &small_window, false, 6, { 0, 8, 8192 }, 0 },
	{ "the same ring", &small_window, false, 6, { 0x1000, 7, 4096 },
	  -EPROTO },
	{ "another ring of that size", &small_window, false, 6,
	  { 0x1000, 8, 4096 }, -EPROTO },
	{ "a smaller ring", &large_window, false, 6, { 0x1000, 8, 4096 },
	  -EPROTO },
	{ "none, unasked", &small_window, false, 6, {}, -EPROTO },
	{ "none, after LEAVE", &small_window, true, 6, {}, 0 },
	{ "the same, after LEAVE", &small_window, true, 6, { 0x1000, 7, 4096 },
	  0 },
	{ "another key, after LEAVE", &small_window, true, 6,
	  { 0x1000, 8, 4096 }, -EPROTO },
	{ "another address, after LEAVE", &small_window, true, 6,
	  { 0x2000, 7, 4096 }, -EPROTO },
	{ "larger, and crossed LEAVE", &small_window, true, 6, { 0, 8, 8192 },
	  0 },
	{ "smaller, after LEAVE", &large_window, true, 6, { 0, 8, 4096 },
	  -EPROTO },
	{ "a number left out", &small_window, false, 7, { 0, 8, 8192 },
	  -EPROTO },
	{ "a number again", &small_window, false, 5, { 0, 8, 8192 }, -EPROTO },
	{ "a number that goes back", &small_window, true, 4, {}, -EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(ring, ring_cases, desc);

static void tx_ring(struct kunit *test)
{
	const struct ring_case *c = test->param_value;
	struct sanx_txgen tx, before;

	memset(&tx, 0xff, sizeof(tx));
	sanx_txgen_init(&tx, c->win);
	KUNIT_EXPECT_EQ(test, tx.nr, 0);
	tx.nr = 5;
	if (c->left) {
		KUNIT_EXPECT_EQ(test, sanx_txgen_leave(&tx), 5);
		KUNIT_EXPECT_EQ(test, tx.win.size, 0);
		KUNIT_EXPECT_TRUE(test, tx.left);
	}
	before = tx;
	KUNIT_ASSERT_EQ(test, sanx_txgen_ring(&tx, c->nr, &c->ring), c->want);
	if (c->want) {
		KUNIT_EXPECT_MEMEQ(test, (u8 *)&tx, (u8 *)&before, sizeof(tx));
		return;
	}
	KUNIT_EXPECT_EQ(test, tx.nr, 6);
	KUNIT_EXPECT_FALSE(test, tx.left);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&tx.win, (u8 *)&c->ring, sizeof(tx.win));
}

/* RESUME: any window, and a number that is later than all before. */
static void tx_resume(struct kunit *test)
{
	struct sanx_txgen tx;

	sanx_txgen_init(&tx, &large_window);
	KUNIT_EXPECT_EQ(test, sanx_txgen_resume(&tx, 0, &no_window), -EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_txgen_resume(&tx, 3, &small_window), 0);
	KUNIT_EXPECT_EQ(test, tx.win.size, 4096);
	KUNIT_EXPECT_EQ(test, sanx_txgen_resume(&tx, 2, &small_window),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, sanx_txgen_resume(&tx, 3 + (1U << 31), &no_window),
			-EPROTO);
	sanx_txgen_leave(&tx);
	KUNIT_EXPECT_EQ(test, sanx_txgen_resume(&tx, 4, &large_window), 0);
	KUNIT_EXPECT_FALSE(test, tx.left);
	KUNIT_EXPECT_EQ(test, sanx_txgen_resume(&tx, 5, &no_window), 0);
	KUNIT_EXPECT_EQ(test, tx.win.size, 0);
	KUNIT_EXPECT_EQ(test, sanx_txgen_ring(&tx, 6, &small_window), 0);
}

static struct kunit_case ringgen_cases[] = {
	KUNIT_CASE(rx_start),
	KUNIT_CASE(rx_before_ring),
	KUNIT_CASE(rx_leave),
	KUNIT_CASE(rx_leave_stays),
	KUNIT_CASE(rx_leave_crosses),
	KUNIT_CASE(rx_leave_made),
	KUNIT_CASE(rx_lost),
	KUNIT_CASE(rx_lost_making),
	KUNIT_CASE_PARAM(tx_ring, ring_gen_params),
	KUNIT_CASE(tx_resume),
	KUNIT_CASE_PARAM(walk_all_orders, walk_gen_params),
	KUNIT_CASE_SLOW(walk_stubborn_sender),
	KUNIT_CASE_PARAM(run_at_random, run_gen_params),
	{}
};

static struct kunit_suite ringgen_suite = {
	.name = "sanx_ringgen",
	.test_cases = ringgen_cases,
};

kunit_test_suite(ringgen_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: generations of rings");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
