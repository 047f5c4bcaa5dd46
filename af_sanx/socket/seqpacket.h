/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records in the stream of a connection, for SOCK_SEQPACKET.
 *
 * Each is a header, and its bytes behind it.  Documentation/protocol.rst is the specification.
 *
 * This file is pure: it uses no socket and no connection; kunit/seqpacket_test.c tests it.
 */
#ifndef _SANX_SEQPACKET_H
#define _SANX_SEQPACKET_H

#include <linux/errno.h>
#include <linux/types.h>
#include <asm/byteorder.h>

/* Bytes of the longest record. */
#define SANX_RECORD_MAX		1048576U

/* The sender has set MSG_EOR. */
#define SANX_RECORD_F_EOR	0x1U

/**
 * struct sanx_record - header of a record, little endian
 * @len: bytes of the record behind it, at most SANX_RECORD_MAX
 * @flags: SANX_RECORD_F_*; other bits are 0
 */
struct sanx_record {
	__le32	len;
	__le32	flags;
} __packed;

/**
 * sanx_record_fill() - write a header
 * @f: filled
 * @len: bytes of the record
 * @flags: SANX_RECORD_F_*
 */
static inline void sanx_record_fill(struct sanx_record *f, u32 len, u32 flags)
{
	f->len = cpu_to_le32(len);
	f->flags = cpu_to_le32(flags);
}

/**
 * sanx_record_parse() - read and check a header
 * @f: as it came
 * @len: set to the bytes of the record
 * @flags: set to SANX_RECORD_F_*
 *
 * Return: 0, or -EPROTO if no correct peer sends that.
 */
static inline int sanx_record_parse(const struct sanx_record *f, u32 *len, u32 *flags)
{
	*len = le32_to_cpu(f->len);
	*flags = le32_to_cpu(f->flags);
	return *len > SANX_RECORD_MAX || *flags & ~SANX_RECORD_F_EOR ? -EPROTO : 0;
}

/**
 * enum sanx_record_state - what a reader finds at the head of its ring
 * @SANX_RECORD_NONE: no record, or the first bytes of its header
 * @SANX_RECORD_PART: a record of which bytes are missing
 * @SANX_RECORD_FULL: likewise, and no more may come before some are read: the record is larger
 *	than the ring
 * @SANX_RECORD_WHOLE: a record
 * @SANX_RECORD_BROKEN: what no correct peer sends
 */
enum sanx_record_state {
	SANX_RECORD_NONE,
	SANX_RECORD_PART,
	SANX_RECORD_FULL,
	SANX_RECORD_WHOLE,
	SANX_RECORD_BROKEN,
};

/**
 * sanx_record_look() - what is there of a record?
 * @f: the first bytes of the ring, if there are so many
 * @avail: bytes in the ring
 * @most: bytes of it that a sender can always fill
 * @len: set to the bytes of the record, unless there is none
 * @flags: likewise
 *
 * Return: see there.
 */
static inline enum sanx_record_state
sanx_record_look(const struct sanx_record *f, u32 avail, u32 most, u32 *len, u32 *flags)
{
	if (avail < sizeof(*f))
		return SANX_RECORD_NONE;
	if (sanx_record_parse(f, len, flags))
		return SANX_RECORD_BROKEN;
	if (avail - sizeof(*f) >= *len)
		return SANX_RECORD_WHOLE;
	return avail >= most ? SANX_RECORD_FULL : SANX_RECORD_PART;
}

/* May a recv() that does not wait begin with it?  poll() reports that it may. */
static inline bool sanx_record_readable(enum sanx_record_state state)
{
	return state >= SANX_RECORD_FULL;
}

#endif /* _SANX_SEQPACKET_H */
