// SPDX-License-Identifier: GPL-2.0
/*
 * Frames, immediate data and hellos (af_sanx/link/frame/format.c).
 *
 * The first byte of the input chooses one of the three; the rest is what a peer has
 * sent.  What a parser accepts has to be in range for its type, and has to give the
 * same bytes when it is built again: so no bit that the peer sends is ignored.
 */
#include "conn/msgq.h"
#include "fuzz/fuzz.h"
#include "link/frame/format.h"
#include "sim/shim/report.h"

/* The wire format of a window at @wire says what the parser has said. */
static void check_window(const struct sanx_window_info *win, const void *wire)
{
	struct sanx_window w;

	sanx_window_build(&w, win);
	fuzz_assert(!memcmp(&w, wire, sizeof(w)));
	if (!win->size) {
		fuzz_assert(!win->addr && !win->rkey);
		return;
	}
	fuzz_assert(win->size >= SANX_RING_MIN && win->size <= SANX_RING_MAX);
	fuzz_assert(!(win->size & (win->size - 1)));
	fuzz_assert(win->addr <= U64_MAX - win->size);
}

static void check_open(const struct sanx_frame *f)
{
	const struct sanx_open *wire = f->body;
	struct sanx_window_info win;
	struct sanx_open open;
	u32 conn;

	if (sanx_open_parse(f, &open, &conn, &win))
		return;
	fuzz_assert(f->type == SANX_FRAME_OPEN && f->len == sizeof(open));
	fuzz_assert(!memcmp(&open, wire, sizeof(open)));
	fuzz_assert(conn && conn == le32_to_cpu(open.conn));
	check_window(&win, &open.window);
}

static void check_admission(const struct sanx_frame *f, u32 conn,
			    const struct sanx_window_info *win)
{
	struct sanx_admission adm;

	fuzz_assert(f->len >= sizeof(adm));
	memcpy(&adm, f->body, sizeof(adm));
	fuzz_assert(conn && conn == le32_to_cpu(adm.conn) && !adm.reserved);
	check_window(win, &adm.window);
}

/* Each parser of a body gets each frame: it has to refuse those of other types. */
static void check_body(const struct sanx_frame *f)
{
	struct sanx_window_info win;
	struct sanx_resume body;
	u64 token;
	u32 conn;

	check_open(f);
	if (!sanx_open_ack_parse(f, &conn, &win)) {
		fuzz_assert(f->type == SANX_FRAME_OPEN_ACK);
		check_admission(f, conn, &win);
	}
	if (!sanx_ring_parse(f, &conn, &win)) {
		fuzz_assert(f->type == SANX_FRAME_RING);
		check_admission(f, conn, &win);
	}
	if (!sanx_resume_parse(f, &conn, &win, &token)) {
		fuzz_assert(f->type == SANX_FRAME_RESUME ||
			    f->type == SANX_FRAME_RESUME_ACK);
		fuzz_assert(f->len == sizeof(body));
		memcpy(&body, f->body, sizeof(body));
		fuzz_assert(token == le64_to_cpu(body.token));
		check_admission(f, conn, &win);
	}
}

static void check_data(const struct sanx_frame *f)
{
	fuzz_assert(f->conn && f->count && f->count <= SANX_RING_MAX);
	if (f->flags & SANX_FRAME_F_IN_RING)
		fuzz_assert(!f->len);
	else
		fuzz_assert(f->len == f->count && f->len <= SANX_INLINE_MAX);
}

static void try_frame(struct fuzz_input *in)
{
	u8 again[SANX_FRAME_MAX];
	struct sanx_frame f;
	size_t size;
	u8 *wire = fuzz_rest(in, &size);
	int err = sanx_frame_parse(&f, wire, size);

	fuzz_assert(!err || err == -EPROTO);
	if (err)
		goto out;
	fuzz_assert(f.type && f.type < __SANX_FRAME_TYPE_END);
	fuzz_assert(f.body == wire + sizeof(struct sanx_frame_hdr));
	fuzz_assert(f.len <= SANX_INLINE_MAX);
	fuzz_assert(sanx_frame_build(again, &f) == size);
	memcpy(again + sizeof(struct sanx_frame_hdr), f.body, f.len);
	fuzz_assert(!memcmp(again, wire, size));
	sanx_frame_set_grant(again, ~f.grant);
	fuzz_assert(!sanx_frame_parse(&f, again, size));
	if (f.type == SANX_FRAME_DATA)
		check_data(&f);
	else
		check_body(&f);
out:
	free(wire);
}

/* A write with immediate data is a DATA frame, and as one it is accepted too. */
static void try_imm(struct fuzz_input *in)
{
	u32 imm = fuzz_u32(in), bytes = fuzz_u32(in);
	struct sanx_frame f, g;
	u8 wire[SANX_FRAME_MAX];

	if (sanx_imm_parse(&f, imm, bytes))
		return;
	fuzz_assert(sanx_imm_build(f.conn, f.flags) == imm);
	fuzz_assert(f.conn <= SANX_IMM_CONN_MAX && f.count == bytes);
	fuzz_assert(f.type == SANX_FRAME_DATA && f.flags & SANX_FRAME_F_IN_RING);
	fuzz_assert(!f.offset && !f.credit && !f.grant);
	check_data(&f);
	fuzz_assert(!sanx_frame_parse(&g, wire, sanx_frame_build(wire, &f)));
	fuzz_assert(g.conn == f.conn && g.flags == f.flags && g.count == f.count);
}

static void try_hello(struct fuzz_input *in)
{
	struct sanx_hello_info info;
	struct sanx_hello hello;
	size_t size;
	void *wire = fuzz_rest(in, &size);
	int err = sanx_hello_parse(&info, wire, size);

	fuzz_assert(!err || err == -EPROTO || err == -EPROTONOSUPPORT);
	if (err)
		goto out;
	fuzz_assert(size >= sizeof(hello));
	fuzz_assert(info.from && info.to && info.instance);
	fuzz_assert(info.recvs >= SANX_RECVS_MIN && info.recvs <= SANX_RECVS_MAX);
	fuzz_assert(info.inline_max <= SANX_INLINE_MAX && info.lane < SANX_LANES_ALL);
	fuzz_assert(info.keys <= SANX_PROOFS);
	sanx_hello_build(&hello, &info);
	fuzz_assert(!memcmp(&hello, wire, offsetof(struct sanx_hello, proof)));
out:
	free(wire);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };

	sim_abort = true;
	switch (fuzz_u8(&in) % 3) {
	case 0:
		try_frame(&in);
		break;
	case 1:
		try_imm(&in);
		break;
	default:
		try_hello(&in);
	}
	return 0;
}
