/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is on the TCP connection of a link; Documentation/protocol.rst.
 *
 * The active end sends a request, and the passive end a reply or a refusal: struct
 * tlink_setup.  Then each end sends messages: struct tlink_head, a struct
 * tlink_write for each write, the payload of the writes, and the frame.
 *
 * All numbers are little endian.
 */
#ifndef _SANX_TCP_FORMAT_H
#define _SANX_TCP_FORMAT_H

#include <linux/types.h>
#include <net/sanx_wire.h>

#define TLINK_MAGIC	0x54584e53U	/* "SNXT" */
#define TLINK_VERSION	2

/* The longest body: an answer. */
#define TLINK_BODY	SANX_WIRE_ANSWER

/**
 * enum tlink_setup_type - type of a message of the set-up
 * @TLINK_ASK: request; the body is the hello of the active end
 * @TLINK_ACCEPT: reply; the body is the hello of the passive end
 * @TLINK_REFUSE: refusal; the body is sanx_wire_refusal()
 * @TLINK_WHO: who is there? the body is sanx_wire_question()
 * @TLINK_HERE: answer to that; the body is that of sanx_wire_who()
 */
enum tlink_setup_type {
	TLINK_ASK	= 1,
	TLINK_ACCEPT	= 2,
	TLINK_REFUSE	= 3,
	TLINK_WHO	= 4,
	TLINK_HERE	= 5,
};

/**
 * struct tlink_setup - a message of the set-up
 * @magic: TLINK_MAGIC
 * @version: TLINK_VERSION
 * @type: enum tlink_setup_type
 * @len: bytes of @body that count
 * @qpn: what takes the place of the queue pair number in authentication: random
 * @body: see @type; 0 behind @len
 */
struct tlink_setup {
	__le32	magic;
	u8	version;
	u8	type;
	__le16	len;
	__le32	qpn;
	u8	body[TLINK_BODY];
} __packed;

/* The last write carries immediate data; there is no frame. */
#define TLINK_F_IMM	BIT(0)

/**
 * struct tlink_head - begin of a message
 * @n_writes: number of writes, at most 2
 * @flags: TLINK_F_*
 * @bytes: bytes of the frame
 * @imm: immediate data, with TLINK_F_IMM; else 0
 */
struct tlink_head {
	u8	n_writes;
	u8	flags;
	__le16	bytes;
	__le32	imm;
};

/**
 * struct tlink_write - a write to the peer's memory
 * @to: address, as the peer's mapping has it
 * @key: key of the peer's mapping
 * @len: bytes, 1 to SANX_WIRE_PAYLOAD_MAX
 */
struct tlink_write {
	__le64	to;
	__le32	key;
	__le32	len;
};

#endif /* _SANX_TCP_FORMAT_H */
