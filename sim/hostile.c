// SPDX-License-Identifier: GPL-2.0
/*
 * A node that says anything at all: its frames are changed, repeated and made
 * up, its writes go elsewhere, and its hello is not true.  The worst that this
 * may do is to end its own links.
 */
#include "link/peer/peer.h"
#include "wire.h"

/* Frames that hostile nodes have sent. */
#define OLD_FRAMES	64

static struct old_frame {
	u32	bytes;
	u8	frame[SANX_WIRE_FRAME_MAX];
} old[OLD_FRAMES];

static unsigned int n_old;
/* By what its instance differs from the true one. */
static u64 reborn_as;

/**
 * sim_hostile_reset() - forget what was said in the world before
 */
void sim_hostile_reset(void)
{
	n_old = 0;
	reborn_as = 0;
}

static bool now(const struct wire_end *e)
{
	return sim_plan.hostile == e->node && !sim_peace &&
	       sim_chance(sim_plan.lies);
}

static void flip(void *p, u32 size)
{
	((u8 *)p)[sim_rnd(size)] ^= 1 + sim_rnd(255);
}

static u64 odd(u64 v)
{
	switch (sim_rnd(6)) {
	case 0:
		return v + 1 + sim_rnd(4096);
	case 1:
		return v - 1 - sim_rnd(4096);
	case 2:
		return 0;
	case 3:
		return v ^ (1ULL << sim_rnd(64));
	case 4:
		return v + (1ULL << 31);
	default:
		return sim_rnd64();
	}
}

/* One field becomes another.  A wrong grant ends the link, so it is rare. */
static void change_field(struct sanx_frame_hdr *h)
{
	switch (sim_rnd(8)) {
	case 0:
		h->type = 1 + sim_rnd(17);
		break;
	case 1:
		h->flags ^= 1U << sim_rnd(8);
		break;
	case 2:
		h->conn = cpu_to_le32(sim_rnd(24));
		break;
	case 3:
		h->offset = cpu_to_le64(odd(le64_to_cpu(h->offset)));
		break;
	case 4:
	case 5:
		h->credit = cpu_to_le64(odd(le64_to_cpu(h->credit)));
		break;
	case 6:
		h->count = cpu_to_le32(odd(le32_to_cpu(h->count)));
		break;
	default:
		if (sim_chance(4))
			h->grant = cpu_to_le32(odd(le32_to_cpu(h->grant)));
	}
}

static u32 body_of(u8 type)
{
	switch (type) {
	case SANX_FRAME_OPEN:
		return 56;
	case SANX_FRAME_RESUME:
	case SANX_FRAME_RESUME_ACK:
		return sizeof(struct sanx_resume);
	case SANX_FRAME_AUTH:
		return SANX_PROOF_LEN;
	case SANX_FRAME_OPEN_ACK:
	case SANX_FRAME_RING:
		return 24;
	case SANX_FRAME_DATA:
		return sim_rnd(64);
	default:
		return 0;
	}
}

/* A frame of any type that is well-formed, more or less. */
static u32 make_up(struct sanx_frame_hdr *h)
{
	u8 *body = (u8 *)(h + 1);
	u32 i, len;

	h->type = 1 + sim_rnd(16);
	h->flags = sim_chance(2) ? 0 : sim_rnd(256);
	len = body_of(h->type);
	h->len = cpu_to_le16(len);
	h->conn = cpu_to_le32(sim_rnd(24));
	h->count = cpu_to_le32(sim_chance(2) ? len : sim_rnd(8));
	if (sim_chance(2))
		h->credit = cpu_to_le64(sim_rnd(200000));
	for (i = 0; i < len; i++)
		body[i] = i < 4 || sim_chance(2) ? sim_rnd(32) : 0;
	return sizeof(*h) + len;
}

static u32 repeat(struct sanx_frame_hdr *h, u32 bytes)
{
	const struct old_frame *o = &old[sim_rnd(OLD_FRAMES)];
	__le32 grant = h->grant;

	if (!o->bytes || n_old < OLD_FRAMES)
		return bytes;
	memcpy(h, o->frame, o->bytes);
	h->grant = grant;
	return o->bytes;
}

static void remember(const u8 *frame, u32 bytes)
{
	struct old_frame *o = &old[n_old++ % OLD_FRAMES];

	o->bytes = bytes;
	memcpy(o->frame, frame, bytes);
}

/**
 * sim_hostile_frame() - a frame is sent
 * @e: the end that sends it
 * @frame: memory of SANX_WIRE_FRAME_MAX bytes
 * @bytes: size of the frame
 * Return: its size now.
 */
u32 sim_hostile_frame(const struct wire_end *e, u8 *frame, u32 bytes)
{
	struct sanx_frame_hdr *h = (void *)frame;

	if (sim_plan.hostile != e->node || bytes < sizeof(*h))
		return bytes;
	remember(frame, bytes);
	if (!now(e))
		return bytes;
	sim_note("a frame is changed: type", h->type, 0);
	switch (sim_rnd(6)) {
	case 0:
		flip(frame, bytes);
		return bytes;
	case 1:
		return repeat(h, bytes);
	case 2:
		return make_up(h);
	case 3:
		return sim_rnd(SANX_WIRE_FRAME_MAX + 1);
	default:
		change_field(h);
		return bytes;
	}
}

/**
 * sim_hostile_extra() - does a hostile node send one more frame?
 * @e: an end
 * @frame: memory of SANX_WIRE_FRAME_MAX bytes, with the frame sent before
 * @bytes: its size
 * Return: the size of the additional frame, or 0.
 */
u32 sim_hostile_extra(const struct wire_end *e, u8 *frame, u32 bytes)
{
	struct sanx_frame_hdr *h = (void *)frame;

	if (bytes < sizeof(*h) || !now(e))
		return 0;
	if (sim_chance(3))
		return bytes;
	return sim_chance(2) ? repeat(h, bytes) : make_up(h);
}

/**
 * sim_hostile_imm() - immediate data is sent
 * @e: the end that sends it
 * @imm: the immediate data
 * Return: what the peer gets.
 */
u32 sim_hostile_imm(const struct wire_end *e, u32 imm)
{
	return now(e) ? imm ^ (1U << sim_rnd(32)) : imm;
}

/**
 * sim_hostile_write() - a write is carried out
 * @e: the end that writes
 * @w: the write
 */
void sim_hostile_write(const struct wire_end *e, struct sanx_wire_write *w)
{
	if (!now(e))
		return;
	if (sim_chance(2))
		w->to = odd(w->to);
	else
		w->key = 1 + sim_rnd(w->key + 2);
}

/* Whoever has the key can prove what is not true. */
static void prove(struct sanx_link *link, u8 *hello)
{
	struct sanx_hello *h = link->active ? &link->auth.text.ask :
					      &link->auth.text.answer;
	struct sanx_keys keys;

	memcpy(h, hello, sizeof(*h));
	sim_assert(!sanx_keys_get(link->payer->net, link->payer->id,
				  &keys));
	sim_assert(!(link->active ? sanx_auth_ask(&link->auth, &keys) :
				    sanx_auth_answer(&link->auth)));
	sanx_keys_put(&keys);
	memcpy(hello, h, sizeof(*h));
}

/**
 * sim_hostile_reborn() - a hostile node says that it has restarted
 *
 * It remembers its connections, and wants to continue them.
 */
void sim_hostile_reborn(void)
{
	reborn_as = sim_rnd64();
	sim_note("a node says that it has restarted", reborn_as, 0);
	sim_wire_kill_node(sim_plan.hostile);
}

static void be_reborn(struct sanx_link *link, u8 *hello)
{
	struct sanx_hello h;

	/* In private data of rdma_cm a hello is not aligned. */
	memcpy(&h, hello, sizeof(h));
	h.instance ^= cpu_to_le64(reborn_as);
	memcpy(hello, &h, sizeof(h));
	prove(link, hello);
}

/**
 * sim_hostile_hello() - a hello is sent
 * @e: the end that sends it
 * @hello: SANX_WIRE_HELLO bytes
 */
void sim_hostile_hello(const struct wire_end *e, u8 *hello)
{
	if (sim_plan.hostile == e->node && reborn_as)
		be_reborn(e->wl.link, hello);
	if (!now(e))
		return;
	flip(hello, SANX_WIRE_HELLO);
	if (!sim_chance(4))
		prove(e->wl.link, hello);
}
