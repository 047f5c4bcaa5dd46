// SPDX-License-Identifier: GPL-2.0
/*
 * Frames: parsing, with all checks of values from the wire, and building.  See
 * format.h and Documentation/protocol.rst.
 *
 * A parser copies each value out of the buffer once and checks the copy.  So a
 * buffer that the peer changes meanwhile cannot pass a check and then differ.
 *
 * The functions are pure: they may run in any context and take no lock.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "conn/msgq.h"
#include "format.h"

/**
 * struct frame_rule - checks for the frames of one type
 * @flags: flags that may be set
 * @body: exact length of the body in bytes; data_ok() checks DATA instead
 * @conn: the frame is about a connection of the receiver
 * @known: the type exists
 * @credit: the frame may carry a credit
 */
struct frame_rule {
	u8	flags;
	u8	body;
	bool	conn;
	bool	known;
	bool	credit;
};

static const struct frame_rule frame_rules[__SANX_FRAME_TYPE_END] = {
	[SANX_FRAME_DATA]	= { SANX_FRAME_F_IN_RING | SANX_FRAME_F_URGENT |
				    SANX_FRAME_F_GEN | SANX_FRAME_F_FULL |
				    SANX_FRAME_F_ASK, 0, true, true, true },
	[SANX_FRAME_CREDIT]	= { 0, 0, true, true, true },
	[SANX_FRAME_FIN]	= { SANX_FRAME_F_ASK, 0, true, true, true },
	[SANX_FRAME_CLOSE]	= { SANX_FRAME_F_RESET, 0, true, true },
	[SANX_FRAME_CLOSE_ACK]	= { 0, 0, true, true },
	[SANX_FRAME_OPEN]	= { 0, sizeof(struct sanx_open), false, true },
	[SANX_FRAME_OPEN_ACK]	= { 0, sizeof(struct sanx_admission), true,
				    true },
	[SANX_FRAME_OPEN_REJ]	= { 0, 0, true, true },
	[SANX_FRAME_PING]	= { 0, 0, false, true },
	[SANX_FRAME_PONG]	= { 0, 0, false, true },
	[SANX_FRAME_RESUME]	= { SANX_FRAME_F_FIN,
				    sizeof(struct sanx_resume), true, true,
				    true },
	[SANX_FRAME_RESUME_ACK]	= { SANX_FRAME_F_FIN,
				    sizeof(struct sanx_resume), true, true,
				    true },
	[SANX_FRAME_RESUME_REJ]	= { 0, 0, true, true },
	[SANX_FRAME_RING]	= { 0, sizeof(struct sanx_admission), true,
				    true, true },
	[SANX_FRAME_LEAVE]	= { 0, 0, true, true },
	[SANX_FRAME_AUTH]	= { 0, SANX_PROOF_LEN, false, true },
};

static bool data_ok(const struct sanx_frame *f)
{
	if (!f->count || f->count > SANX_RING_MAX)
		return false;
	if (f->flags & SANX_FRAME_F_IN_RING)
		return !f->len;
	return f->len == f->count && f->count <= SANX_INLINE_MAX;
}

/**
 * sanx_imm_build() - immediate data of an RDMA write that announces itself
 * @conn: the receiver's id of the connection, at most SANX_IMM_CONN_MAX
 * @flags: flags of SANX_IMM_FLAGS, with SANX_FRAME_F_IN_RING
 *
 * Return: the value, in host order.
 */
u32 sanx_imm_build(u32 conn, u8 flags)
{
	return conn << SANX_IMM_CONN_SHIFT | flags;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_imm_build);

/**
 * sanx_imm_parse() - convert a write with immediate data to a DATA frame
 * @f: filled; @f->offset, @f->credit and @f->grant are 0, because immediate
 *	data has no room for them, and mean no change
 * @imm: as received, in host order, unchecked
 * @bytes: bytes written, as the device reports
 *
 * Return: 0, or -EPROTO if no correct peer sends this.
 */
int sanx_imm_parse(struct sanx_frame *f, u32 imm, u32 bytes)
{
	*f = (struct sanx_frame){
		.type	= SANX_FRAME_DATA,
		.flags	= imm & ((1U << SANX_IMM_CONN_SHIFT) - 1),
		.conn	= imm >> SANX_IMM_CONN_SHIFT,
		.count	= bytes,
	};
	if ((f->flags & ~SANX_IMM_FLAGS) || !(f->flags & SANX_FRAME_F_IN_RING) ||
	    !f->conn || !data_ok(f))
		return -EPROTO;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_imm_parse);

static bool count_ok(const struct sanx_frame *f)
{
	switch (f->type) {
	case SANX_FRAME_OPEN_REJ:
		return f->count && f->count < __SANX_REJECT_END;
	case SANX_FRAME_RESUME:
	case SANX_FRAME_RESUME_ACK:
	case SANX_FRAME_RING:
	case SANX_FRAME_LEAVE:
		return true;
	default:
		return !f->count;
	}
}

/**
 * sanx_frame_parse() - check a received frame and extract its values
 * @f: filled; @f->body points into @buf
 * @buf: the received bytes; stays the caller's
 * @bytes: number of bytes in @buf
 *
 * Return: 0, or -EPROTO if no correct peer sends this.
 */
int sanx_frame_parse(struct sanx_frame *f, const void *buf, size_t bytes)
{
	const struct frame_rule *rule;
	struct sanx_frame_hdr h;

	if (bytes < sizeof(h) || bytes > SANX_FRAME_MAX)
		return -EPROTO;
	memcpy(&h, buf, sizeof(h));
	*f = (struct sanx_frame){
		.type	= h.type,
		.flags	= h.flags,
		.len	= le16_to_cpu(h.len),
		.conn	= le32_to_cpu(h.conn),
		.offset	= le64_to_cpu(h.offset),
		.credit	= le64_to_cpu(h.credit),
		.count	= le32_to_cpu(h.count),
		.grant	= le32_to_cpu(h.grant),
		.body	= buf + sizeof(h),
	};
	if (f->type >= __SANX_FRAME_TYPE_END)
		return -EPROTO;
	rule = &frame_rules[f->type];
	if (!rule->known || (f->flags & ~rule->flags) ||
	    rule->conn != !!f->conn || (f->credit && !rule->credit) ||
	    f->len != bytes - sizeof(h))
		return -EPROTO;
	if (f->type == SANX_FRAME_DATA)
		return data_ok(f) ? 0 : -EPROTO;
	return f->len == rule->body && count_ok(f) ? 0 : -EPROTO;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_frame_parse);

/**
 * sanx_frame_build() - write the header of a frame
 * @buf: at least SANX_FRAME_MAX bytes.  The caller writes the body, before or
 *	after this call, at sizeof(struct sanx_frame_hdr).
 * @f: the values; @f->body is ignored
 *
 * Return: bytes of the whole frame, header and body.
 */
u32 sanx_frame_build(void *buf, const struct sanx_frame *f)
{
	struct sanx_frame_hdr *h = buf;

	h->type = f->type;
	h->flags = f->flags;
	h->len = cpu_to_le16(f->len);
	h->conn = cpu_to_le32(f->conn);
	h->offset = cpu_to_le64(f->offset);
	h->credit = cpu_to_le64(f->credit);
	h->count = cpu_to_le32(f->count);
	h->grant = cpu_to_le32(f->grant);
	return sizeof(*h) + f->len;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_frame_build);

/**
 * sanx_frame_set_grant() - set the grant of a frame
 * @buf: a frame from sanx_frame_build()
 * @grant: see &struct sanx_frame_hdr
 *
 * The grant is known only when the frame is posted.
 */
void sanx_frame_set_grant(void *buf, u32 grant)
{
	struct sanx_frame_hdr *h = buf;

	h->grant = cpu_to_le32(grant);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_frame_set_grant);

static int window_parse(struct sanx_window_info *info,
			const struct sanx_window *w)
{
	info->addr = le64_to_cpu(w->addr);
	info->rkey = le32_to_cpu(w->rkey);
	info->size = le32_to_cpu(w->size);
	if (!info->size)
		return info->addr || info->rkey ? -EPROTO : 0;
	if (!is_power_of_2(info->size) || info->size < SANX_RING_MIN ||
	    info->size > SANX_RING_MAX || info->addr + info->size < info->addr)
		return -EPROTO;
	return 0;
}

/**
 * sanx_window_build() - convert a window to its wire format
 * @w: written
 * @info: the values
 */
void sanx_window_build(struct sanx_window *w,
		       const struct sanx_window_info *info)
{
	w->addr = cpu_to_le64(info->addr);
	w->rkey = cpu_to_le32(info->rkey);
	w->size = cpu_to_le32(info->size);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_window_build);

/**
 * sanx_open_parse() - extract and check the body of OPEN
 * @f: a parsed frame of type OPEN
 * @open: filled with a copy of the body
 * @conn: set to the connector's id, not 0
 * @win: filled with its window
 *
 * The caller must check with the node map that the peer may use the addresses.
 *
 * Return: 0, or -EPROTO.
 */
int sanx_open_parse(const struct sanx_frame *f, struct sanx_open *open,
		    u32 *conn, struct sanx_window_info *win)
{
	if (f->type != SANX_FRAME_OPEN || f->len != sizeof(*open))
		return -EPROTO;
	memcpy(open, f->body, sizeof(*open));
	*conn = le32_to_cpu(open->conn);
	if (!*conn)
		return -EPROTO;
	return window_parse(win, &open->window);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_open_parse);

/* @len: bytes of the body, of which &struct sanx_admission is the first part. */
static int admission_parse(const struct sanx_frame *f, size_t len, u32 *conn,
			   struct sanx_window_info *win)
{
	struct sanx_admission adm;

	if (f->len != len)
		return -EPROTO;
	memcpy(&adm, f->body, sizeof(adm));
	*conn = le32_to_cpu(adm.conn);
	if (!*conn || adm.reserved)
		return -EPROTO;
	return window_parse(win, &adm.window);
}

/**
 * sanx_open_ack_parse() - extract and check the body of OPEN_ACK
 * @f: a parsed frame of type OPEN_ACK
 * @conn: set to the acceptor's id, not 0
 * @win: filled with its window
 *
 * Return: 0, or -EPROTO.
 */
int sanx_open_ack_parse(const struct sanx_frame *f, u32 *conn,
			struct sanx_window_info *win)
{
	if (f->type != SANX_FRAME_OPEN_ACK)
		return -EPROTO;
	return admission_parse(f, sizeof(struct sanx_admission), conn, win);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_open_ack_parse);

/**
 * sanx_resume_parse() - extract and check the body of RESUME or RESUME_ACK
 * @f: a parsed frame
 * @conn: set to the sender's id, not 0
 * @win: filled with its window
 * @token: set to its token
 *
 * Return: 0, or -EPROTO.
 */
int sanx_resume_parse(const struct sanx_frame *f, u32 *conn,
		      struct sanx_window_info *win, u64 *token)
{
	struct sanx_resume body;

	if ((f->type != SANX_FRAME_RESUME &&
	     f->type != SANX_FRAME_RESUME_ACK) ||
	    admission_parse(f, sizeof(body), conn, win))
		return -EPROTO;
	memcpy(&body, f->body, sizeof(body));
	*token = le64_to_cpu(body.token);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_resume_parse);

/**
 * sanx_ring_parse() - extract and check the body of RING
 * @f: a parsed frame
 * @conn: set to the sender's id, not 0
 * @win: filled with its window, or with "no ring"
 *
 * Return: 0, or -EPROTO.
 */
int sanx_ring_parse(const struct sanx_frame *f, u32 *conn,
		    struct sanx_window_info *win)
{
	if (f->type != SANX_FRAME_RING)
		return -EPROTO;
	return admission_parse(f, sizeof(struct sanx_admission), conn, win);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ring_parse);

/**
 * sanx_hello_parse() - check the private data of a link set-up
 * @info: filled
 * @buf: private data as received; may be longer than a hello, because it is
 *	padded
 * @bytes: number of bytes in @buf
 *
 * Return: 0; -EPROTO if it is not a valid hello; -EPROTONOSUPPORT if it is a
 * hello of another version.
 */
int sanx_hello_parse(struct sanx_hello_info *info, const void *buf,
		     size_t bytes)
{
	struct sanx_hello h = {};

	if (!buf)
		return -EPROTO;
	memcpy(&h, buf, min(bytes, sizeof(h)));
	if (bytes < offsetofend(struct sanx_hello, version) ||
	    le32_to_cpu(h.magic) != SANX_HELLO_MAGIC)
		return -EPROTO;
	/* Hellos of other versions may be shorter. */
	if (le16_to_cpu(h.version) != SANX_PROTO_VERSION)
		return -EPROTONOSUPPORT;
	if (bytes < sizeof(h))
		return -EPROTO;
	info->from = le32_to_cpu(h.from);
	info->to = le32_to_cpu(h.to);
	info->recvs = le16_to_cpu(h.recvs);
	info->inline_max = le16_to_cpu(h.inline_max);
	info->lane = h.lane;
	info->rail = h.rail;
	info->keys = le16_to_cpu(h.keys);
	info->features = le16_to_cpu(h.features);
	info->instance = le64_to_cpu(h.instance);
	info->nonce = le64_to_cpu(h.nonce);
	if (!info->from || !info->to || !info->instance ||
	    info->features & ~SANX_HELLO_F_TRIAL ||
	    info->lane >= SANX_LANES_ALL || info->keys > SANX_PROOFS ||
	    info->recvs < SANX_RECVS_MIN ||
	    info->inline_max > SANX_INLINE_MAX)
		return -EPROTO;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_hello_parse);

/**
 * sanx_hello_build() - write the private data of a link set-up
 * @hello: written, but for the proof, which is 0
 * @info: the values
 */
void sanx_hello_build(struct sanx_hello *hello,
		      const struct sanx_hello_info *info)
{
	*hello = (struct sanx_hello){
		.magic		= cpu_to_le32(SANX_HELLO_MAGIC),
		.version	= cpu_to_le16(SANX_PROTO_VERSION),
		.from		= cpu_to_le32(info->from),
		.to		= cpu_to_le32(info->to),
		.instance	= cpu_to_le64(info->instance),
		.nonce		= cpu_to_le64(info->nonce),
		.recvs		= cpu_to_le16(info->recvs),
		.inline_max	= cpu_to_le16(info->inline_max),
		.lane		= info->lane,
		.rail		= info->rail,
		.keys		= cpu_to_le16(info->keys),
		.features	= cpu_to_le16(info->features),
	};
}
EXPORT_SYMBOL_IF_KUNIT(sanx_hello_build);
