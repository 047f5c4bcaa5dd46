// SPDX-License-Identifier: GPL-2.0
/*
 * Frames: parsing with every check that a value from the wire gets, and
 * building.  See include/net/sanx_frame.h and Documentation/protocol.rst.
 *
 * A parser copies each value out of the buffer once and checks the copy, so
 * that a buffer that changes underneath cannot pass a check and then differ.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include <net/sanx_frame.h>
#include <net/sanx_msgq.h>

/**
 * struct frame_rule - what a frame of one type may look like
 * @flags: flags that may be set
 * @body: exact bytes of body; DATA has a rule of its own
 * @conn: is about a connection of the receiver
 * @known: the type exists
 * @credit: may carry a credit
 */
struct frame_rule {
	u8	flags;
	u8	body;
	bool	conn;
	bool	known;
	bool	credit;
};

static const struct frame_rule frame_rules[__SANX_FRAME_TYPE_END] = {
	[SANX_FRAME_DATA]	= { SANX_FRAME_F_RING | SANX_FRAME_F_URGENT |
				    SANX_FRAME_F_TURN | SANX_FRAME_F_FULL, 0,
				    true, true, true },
	[SANX_FRAME_CREDIT]	= { 0, 0, true, true, true },
	[SANX_FRAME_FIN]	= { 0, 0, true, true, true },
	[SANX_FRAME_CLOSE]	= { SANX_FRAME_F_RESET, 0, true, true },
	[SANX_FRAME_CLOSE_ACK]	= { 0, 0, true, true },
	[SANX_FRAME_OPEN]	= { 0, sizeof(struct sanx_open), false, true },
	[SANX_FRAME_OPEN_ACK]	= { 0, sizeof(struct sanx_place), true,
				    true },
	[SANX_FRAME_OPEN_REJ]	= { 0, 0, true, true },
	[SANX_FRAME_PING]	= { 0, 0, false, true },
	[SANX_FRAME_PONG]	= { 0, 0, false, true },
	[SANX_FRAME_RESUME]	= { SANX_FRAME_F_FIN,
				    sizeof(struct sanx_place), true, true,
				    true },
	[SANX_FRAME_RESUME_ACK]	= { SANX_FRAME_F_FIN,
				    sizeof(struct sanx_place), true, true,
				    true },
	[SANX_FRAME_RESUME_REJ]	= { 0, 0, true, true },
	[SANX_FRAME_WINDOW]	= { 0, sizeof(struct sanx_place), true, true,
				    true },
	[SANX_FRAME_RETURN]	= { SANX_FRAME_F_TURN, 0, true, true },
	[SANX_FRAME_RETURN_ACK]	= { 0, sizeof(struct sanx_place), true, true,
				    true },
};

static bool data_ok(const struct sanx_frame *f)
{
	if (!f->count || f->count > SANX_RING_MAX)
		return false;
	if (f->flags & SANX_FRAME_F_RING)
		return !f->len;
	return f->len == f->count && f->count <= SANX_INLINE_MAX;
}

/**
 * sanx_imm_build() - immediate data of an RDMA write that tells of itself
 * @conn: the receiver's id of the connection, at most SANX_IMM_CONN_MAX
 * @flags: of SANX_IMM_FLAGS, with SANX_FRAME_F_RING
 *
 * Return: the value, in host order.
 */
u32 sanx_imm_build(u32 conn, u8 flags)
{
	return conn << SANX_IMM_CONN_SHIFT | flags;
}
EXPORT_SYMBOL_GPL(sanx_imm_build);

/**
 * sanx_imm_parse() - take a write that tells of itself for a DATA frame
 * @f: filled; what immediate data has no room for, @f->offset, @f->credit and
 *	@f->grant, are 0 and no news
 * @imm: as received, in host order, unchecked
 * @bytes: that were written, as the device says
 *
 * Return: 0, or -EPROTO if no correct peer sends that.
 */
int sanx_imm_parse(struct sanx_frame *f, u32 imm, u32 bytes)
{
	*f = (struct sanx_frame){
		.type	= SANX_FRAME_DATA,
		.flags	= imm & ((1U << SANX_IMM_CONN_SHIFT) - 1),
		.conn	= imm >> SANX_IMM_CONN_SHIFT,
		.count	= bytes,
	};
	if ((f->flags & ~SANX_IMM_FLAGS) || !(f->flags & SANX_FRAME_F_RING) ||
	    !f->conn || !data_ok(f))
		return -EPROTO;
	return 0;
}
EXPORT_SYMBOL_GPL(sanx_imm_parse);

static bool count_ok(const struct sanx_frame *f)
{
	if (f->type == SANX_FRAME_OPEN_REJ)
		return f->count && f->count < __SANX_REJECT_END;
	return !f->count;
}

/**
 * sanx_frame_parse() - check a received frame and take its values out
 * @f: filled; @f->body points into @buf
 * @buf: what was received
 * @bytes: how much
 *
 * Return: 0, or -EPROTO if no correct peer sends such a frame.
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
EXPORT_SYMBOL_GPL(sanx_frame_parse);

/**
 * sanx_frame_build() - write a frame's header
 * @buf: at least SANX_FRAME_MAX bytes; a body goes to sizeof(struct
 *	sanx_frame_hdr) and is the caller's to write, before or after
 * @f: its values; @f->body is ignored
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
EXPORT_SYMBOL_GPL(sanx_frame_build);

/**
 * sanx_frame_set_grant() - give a built frame its link credit
 * @buf: a frame built by sanx_frame_build()
 * @grant: see &struct sanx_frame_hdr
 *
 * The grant is known only when the frame is posted.
 */
void sanx_frame_set_grant(void *buf, u32 grant)
{
	struct sanx_frame_hdr *h = buf;

	h->grant = cpu_to_le32(grant);
}
EXPORT_SYMBOL_GPL(sanx_frame_set_grant);

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
 * sanx_window_build() - write a window for the wire
 * @w: written
 * @info: its values
 */
void sanx_window_build(struct sanx_window *w,
		       const struct sanx_window_info *info)
{
	w->addr = cpu_to_le64(info->addr);
	w->rkey = cpu_to_le32(info->rkey);
	w->size = cpu_to_le32(info->size);
}
EXPORT_SYMBOL_GPL(sanx_window_build);

/**
 * sanx_open_parse() - take an OPEN's body out and check it
 * @f: a parsed frame of type OPEN
 * @open: a copy of the body
 * @conn: the connector's id, not 0
 * @win: its window
 *
 * Whether the peer may speak for the addresses is for the caller to check,
 * against the node map.
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
	if (!*conn || !open->sport || !open->dport)
		return -EPROTO;
	return window_parse(win, &open->window);
}
EXPORT_SYMBOL_GPL(sanx_open_parse);

static int place_parse(const struct sanx_frame *f, u32 *conn,
		       struct sanx_window_info *win)
{
	struct sanx_place place;

	if (f->len != sizeof(place))
		return -EPROTO;
	memcpy(&place, f->body, sizeof(place));
	*conn = le32_to_cpu(place.conn);
	if (!*conn || place.reserved)
		return -EPROTO;
	return window_parse(win, &place.window);
}

/**
 * sanx_open_ack_parse() - take an OPEN_ACK's body out and check it
 * @f: a parsed frame of type OPEN_ACK
 * @conn: the acceptor's id, not 0
 * @win: its window
 *
 * Return: 0, or -EPROTO.
 */
int sanx_open_ack_parse(const struct sanx_frame *f, u32 *conn,
			struct sanx_window_info *win)
{
	if (f->type != SANX_FRAME_OPEN_ACK)
		return -EPROTO;
	return place_parse(f, conn, win);
}
EXPORT_SYMBOL_GPL(sanx_open_ack_parse);

/**
 * sanx_resume_parse() - take the body of a RESUME or RESUME_ACK out and check it
 * @f: a parsed frame
 * @conn: the sender's id, not 0
 * @win: its window
 *
 * Return: 0, or -EPROTO.
 */
int sanx_resume_parse(const struct sanx_frame *f, u32 *conn,
		      struct sanx_window_info *win)
{
	if (f->type != SANX_FRAME_RESUME && f->type != SANX_FRAME_RESUME_ACK)
		return -EPROTO;
	return place_parse(f, conn, win);
}
EXPORT_SYMBOL_GPL(sanx_resume_parse);

/**
 * sanx_window_parse() - take the body of a WINDOW out and check it
 * @f: a parsed frame
 * @conn: the sender's id, not 0
 * @win: its window, not none
 *
 * Return: 0, or -EPROTO.
 */
int sanx_window_parse(const struct sanx_frame *f, u32 *conn,
		      struct sanx_window_info *win)
{
	if (f->type != SANX_FRAME_WINDOW || place_parse(f, conn, win))
		return -EPROTO;
	return win->size ? 0 : -EPROTO;
}
EXPORT_SYMBOL_GPL(sanx_window_parse);

/**
 * sanx_return_parse() - take a RETURN_ACK's body out and check it
 * @f: a parsed frame of type RETURN_ACK
 * @conn: the sender's id, not 0
 * @win: the window that there is now, or none
 *
 * Return: 0, or -EPROTO.
 */
int sanx_return_parse(const struct sanx_frame *f, u32 *conn,
		      struct sanx_window_info *win)
{
	if (f->type != SANX_FRAME_RETURN_ACK)
		return -EPROTO;
	return place_parse(f, conn, win);
}
EXPORT_SYMBOL_GPL(sanx_return_parse);

/**
 * sanx_hello_parse() - check the private data of a link set-up
 * @info: filled
 * @buf: private data as received, may be longer than a hello (it is padded)
 * @bytes: how much
 *
 * Return: 0, -EPROTO if it is not a hello, or -EPROTONOSUPPORT if it is one of
 * another version.
 */
int sanx_hello_parse(struct sanx_hello_info *info, const void *buf,
		     size_t bytes)
{
	struct sanx_hello h;

	if (!buf || bytes < sizeof(h))
		return -EPROTO;
	memcpy(&h, buf, sizeof(h));
	if (le32_to_cpu(h.magic) != SANX_HELLO_MAGIC)
		return -EPROTO;
	if (le16_to_cpu(h.version) != SANX_PROTO_VERSION)
		return -EPROTONOSUPPORT;
	info->from = le32_to_cpu(h.from);
	info->to = le32_to_cpu(h.to);
	info->recvs = le32_to_cpu(h.recvs);
	info->inline_max = le16_to_cpu(h.inline_max);
	info->lane = le16_to_cpu(h.lane);
	info->instance = le64_to_cpu(h.instance);
	if (!info->from || !info->to || !info->instance ||
	    h.reserved || info->lane >= SANX_LANES_MAX ||
	    info->recvs < SANX_RECVS_MIN || info->recvs > SANX_RECVS_MAX ||
	    info->inline_max > SANX_INLINE_MAX)
		return -EPROTO;
	return 0;
}
EXPORT_SYMBOL_GPL(sanx_hello_parse);

/**
 * sanx_hello_build() - write the private data of a link set-up
 * @hello: written
 * @info: its values
 */
void sanx_hello_build(struct sanx_hello *hello,
		      const struct sanx_hello_info *info)
{
	*hello = (struct sanx_hello){
		.magic		= cpu_to_le32(SANX_HELLO_MAGIC),
		.version	= cpu_to_le16(SANX_PROTO_VERSION),
		.from		= cpu_to_le32(info->from),
		.to		= cpu_to_le32(info->to),
		.recvs		= cpu_to_le32(info->recvs),
		.inline_max	= cpu_to_le16(info->inline_max),
		.lane		= cpu_to_le16(info->lane),
		.instance	= cpu_to_le64(info->instance),
	};
}
EXPORT_SYMBOL_GPL(sanx_hello_build);
