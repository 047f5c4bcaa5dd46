/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames: the messages between two nodes on a link.
 *
 * A frame is one message of a reliable, ordered channel (a SEND on an RC queue
 * pair): a header of 32 bytes and, by type, a body.  Bulk data does not travel
 * in frames.  It is written into the peer's ring first, and a DATA frame on the
 * same channel then announces it.
 *
 * Documentation/protocol.rst is the specification.  This file and format.c are
 * its only implementation.  They are pure: no socket and no device.
 *
 * Names here: F_FULL is rwnd-limited.
 */
#ifndef _SANX_FORMAT_H
#define _SANX_FORMAT_H

#include <linux/build_bug.h>
#include <linux/in6.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define SANX_HELLO_MAGIC	0x534e5831	/* "SNX1" */
#define SANX_PROTO_VERSION	8
#define SANX_INLINE_MAX		256U
#define SANX_FRAME_MAX		(32U + SANX_INLINE_MAX)
/* OPENs and RESUMEs of one side of a link that may be unanswered. */
#define SANX_OPENS_MAX		64U
/* Most lanes between two nodes for connections. */
#define SANX_LANES_MAX		8U
/* Lanes behind them for standby links, one for each rail. */
#define SANX_STANDBY_LANES	4U
#define SANX_LANES_ALL		(SANX_LANES_MAX + SANX_STANDBY_LANES)
/* Most keys that a hello has proofs of. */
#define SANX_PROOFS		2U
/* Bytes of the proof in a reply and in AUTH. */
#define SANX_PROOF_LEN		16U

/**
 * enum sanx_frame_type - type of a frame
 * @SANX_FRAME_DATA: payload, in the frame or already in the ring
 * @SANX_FRAME_CREDIT: the receiver has read; carries a new @credit
 * @SANX_FRAME_FIN: this side sends no more payload (half close)
 * @SANX_FRAME_CLOSE: this side neither sends nor reads any more
 * @SANX_FRAME_CLOSE_ACK: answer to CLOSE: this side writes nothing more to the
 *	peer's ring and sends nothing more to the peer's id
 * @SANX_FRAME_OPEN: request for a connection; body &struct sanx_open
 * @SANX_FRAME_OPEN_ACK: the request was admitted; body &struct sanx_admission
 * @SANX_FRAME_OPEN_REJ: the request was rejected; @count is enum sanx_reject
 * @SANX_FRAME_PING: asks for a PONG; also carries link credits when no other
 *	frame does
 * @SANX_FRAME_PONG: answer to PING
 * @SANX_FRAME_RESUME: continues a suspended connection on this link; body
 *	&struct sanx_resume
 * @SANX_FRAME_RESUME_ACK: the connection continues; body &struct sanx_resume
 * @SANX_FRAME_RESUME_REJ: there is no such connection
 * @SANX_FRAME_RING: a new generation of the ring of this side: a larger ring,
 *	or the answer to LEAVE; body &struct sanx_admission
 * @SANX_FRAME_LEAVE: this side does not write to the peer's ring any more, and
 *	sends what follows @offset in frames; the peer may use the memory itself
 * @SANX_FRAME_AUTH: first frame of the active side of a link: it has our hello,
 *	and our key; body SANX_PROOF_LEN bytes (auth.c)
 */
enum sanx_frame_type {
	SANX_FRAME_DATA = 1,
	SANX_FRAME_CREDIT,
	SANX_FRAME_FIN,
	SANX_FRAME_CLOSE,
	SANX_FRAME_CLOSE_ACK,
	SANX_FRAME_OPEN,
	SANX_FRAME_OPEN_ACK,
	SANX_FRAME_OPEN_REJ,
	SANX_FRAME_PING,
	SANX_FRAME_PONG,
	SANX_FRAME_RESUME,
	SANX_FRAME_RESUME_ACK,
	SANX_FRAME_RESUME_REJ,
	SANX_FRAME_RING,
	SANX_FRAME_LEAVE,
	SANX_FRAME_AUTH,
	/* private: */
	__SANX_FRAME_TYPE_END
};

/* Flag of DATA: the payload is in the ring, not behind the header. */
#define SANX_FRAME_F_IN_RING	0x01
/* Flag of DATA: the last byte of the payload is urgent. */
#define SANX_FRAME_F_URGENT	0x04
/*
 * Flags of DATA: number of the generation that the sender stores the payload
 * to, modulo SANX_RINGGEN_MOD.
 */
#define SANX_FRAME_F_GEN	0xc0
#define SANX_FRAME_GEN_SHIFT	6
/*
 * Flag of DATA: with this frame the sender has used all of its credit, or has
 * filled a send buffer of the size of the ring; or the frame has as many bytes as a
 * quarter of the ring, or more.
 */
#define SANX_FRAME_F_FULL	0x20
/*
 * Flag of DATA and FIN: the sender waits until it knows that the peer has the
 * frame.
 */
#define SANX_FRAME_F_ASK	0x10
/* Flag of CLOSE: the stream was cut short; the reader gets ECONNRESET. */
#define SANX_FRAME_F_RESET	0x02
/* Flag of RESUME and RESUME_ACK: the peer's FIN was received. */
#define SANX_FRAME_F_FIN	0x08

/*
 * DATA in the ring can be announced by the RDMA write itself, with 32 bits of
 * immediate data: some of the flags, and the connection id if it fits.
 */
#define SANX_IMM_FLAGS	(SANX_FRAME_F_IN_RING | SANX_FRAME_F_GEN | \
			 SANX_FRAME_F_FULL | SANX_FRAME_F_ASK)
#define SANX_IMM_CONN_SHIFT	8
#define SANX_IMM_CONN_MAX	0xffffffU

/**
 * enum sanx_reject - why an OPEN was not admitted
 * @SANX_REJECT_NO_LISTENER: no AF_SANX socket listens there: use TCP
 * @SANX_REJECT_DENIED: a port rule forbids it, or the address is none for others: use TCP
 * @SANX_REJECT_BUSY: the backlog is full: try again later
 * @SANX_REJECT_UNMAPPED: the node map does not give its source to the peer: use TCP
 * @SANX_REJECT_ROUTE: TCP would not answer it: use TCP, which has the error
 * @SANX_REJECT_LIMIT: a limit is reached, or there is no memory: use TCP
 * @SANX_REJECT_WELCOME: it was a question, and a connection would be admitted
 */
enum sanx_reject {
	SANX_REJECT_NO_LISTENER = 1,
	SANX_REJECT_DENIED,
	SANX_REJECT_BUSY,
	SANX_REJECT_UNMAPPED,
	SANX_REJECT_ROUTE,
	SANX_REJECT_LIMIT,
	SANX_REJECT_WELCOME,
	/* private: */
	__SANX_REJECT_END
};

/**
 * struct sanx_frame_hdr - header of every frame, little endian
 * @type: enum sanx_frame_type
 * @flags: SANX_FRAME_F_*, by type; unknown flags are an error
 * @len: bytes of body behind the header
 * @conn: the receiver's id of the connection; 0 for PING, PONG and OPEN
 * @offset: DATA: stream offset of the first byte; FIN, LEAVE: stream offset of
 *	the end, which is the number of bytes sent; RESUME, RESUME_ACK: bytes
 *	received so far
 * @credit: DATA, CREDIT, FIN, RESUME, RESUME_ACK, RING: the stream offset up to
 *	which the receiver of this frame may send; 0 in all others
 * @count: DATA: bytes of payload; OPEN_REJ: enum sanx_reject; RING, LEAVE,
 *	RESUME, RESUME_ACK: number of a generation; 0 in all others
 * @grant: number of receives that the sender of this frame has posted on this
 *	link since it came up, modulo 2^32.  The peer may have sent so many
 *	frames in all.
 */
struct sanx_frame_hdr {
	u8	type;
	u8	flags;
	__le16	len;
	__le32	conn;
	__le64	offset;
	__le64	credit;
	__le32	count;
	__le32	grant;
};

static_assert(sizeof(struct sanx_frame_hdr) == 32);
static_assert(offsetof(struct sanx_frame_hdr, credit) == 16);

/**
 * struct sanx_window - a ring that the receiver of this may write, little
 * endian
 * @addr: address of the first byte, for an RDMA write
 * @rkey: key of the registration
 * @size: bytes, a power of two
 *
 * All fields are 0 for no ring.  SANX_RING_FIRST bytes are then granted, and
 * the payload comes in frames.
 */
struct sanx_window {
	__le64	addr;
	__le32	rkey;
	__le32	size;
};

static_assert(sizeof(struct sanx_window) == 16);

/**
 * struct sanx_open - body of OPEN
 * @src: address of the connecting socket; IPv4 as v4-mapped
 * @dst: address to which it connects
 * @sport: port of the connecting socket, big endian; 0 in a question
 * @dport: port to which it connects, big endian; 0 is the peer's kernel, or no port of a
 *	question
 * @conn: the connector's id of the connection
 * @window: the connector's ring
 */
struct sanx_open {
	struct in6_addr	src;
	struct in6_addr	dst;
	__be16	sport;
	__be16	dport;
	__le32	conn;
	struct sanx_window window;
};

static_assert(sizeof(struct sanx_open) == 56);
static_assert(offsetof(struct sanx_open, window) == 40);

/**
 * struct sanx_admission - body of OPEN_ACK and RING
 * @conn: the sender's id of the connection
 * @reserved: 0
 * @window: the sender's ring
 */
struct sanx_admission {
	__le32	conn;
	__le32	reserved;
	struct sanx_window window;
};

static_assert(sizeof(struct sanx_admission) == 24);

/**
 * struct sanx_resume - body of RESUME and RESUME_ACK
 * @adm: as in OPEN_ACK; the ring is registered again
 * @token: shows that the sender is the node that the connection was opened with
 *	(sanx_auth_token())
 */
struct sanx_resume {
	struct sanx_admission adm;
	__le64	token;
};

static_assert(sizeof(struct sanx_resume) == 32);

/**
 * struct sanx_hello - private data of the connection manager's request and
 * reply, little endian
 * @magic: SANX_HELLO_MAGIC
 * @version: SANX_PROTO_VERSION
 * @inline_max: bytes of payload that the sender accepts in a DATA frame
 * @from: node id of the sender
 * @to: node id that the sender expects the receiver to have
 * @instance: random number that the sender drew for the receiver when it started,
 *	not 0
 * @nonce: random number that the sender drew for this link
 * @recvs: receives that the sender has posted; the first @grant
 * @lane: number of the lane, below SANX_LANES_ALL; the same in request and
 *	reply
 * @rail: number of the rail that the link runs over; the same in request and
 *	reply
 * @features: SANX_HELLO_F_*; 0 in a reply
 * @keys: keys that the sender has proofs of, at most SANX_PROOFS; in a reply at
 *	most 1
 * @proof: in a request one of 8 bytes for each key, in a reply one of
 *	SANX_PROOF_LEN (auth.c)
 *
 * It is as long as private data of a request can be over InfiniBand.
 */
struct sanx_hello {
	__le32	magic;
	__le16	version;
	__le16	inline_max;
	__le32	from;
	__le32	to;
	__le64	instance;
	__le64	nonce;
	__le16	recvs;
	u8	lane;
	u8	rail;
	__le16	features;
	__le16	keys;
	u8	proof[SANX_PROOF_LEN];
};

/*
 * The sender has a link in this lane that works.  It moves its connections to the new one
 * when that has shown that it works, too.
 */
#define SANX_HELLO_F_TRIAL	BIT(0)

static_assert(sizeof(struct sanx_hello) == 56);
static_assert(offsetof(struct sanx_hello, instance) == 16);
static_assert(offsetof(struct sanx_hello, proof) == 40);

/**
 * struct sanx_frame - a parsed frame; all values are in range for its type
 * @type: enum sanx_frame_type
 * @flags: SANX_FRAME_F_*
 * @len: bytes at @body
 * @conn: see &struct sanx_frame_hdr
 * @offset: see &struct sanx_frame_hdr
 * @credit: see &struct sanx_frame_hdr
 * @count: see &struct sanx_frame_hdr
 * @grant: see &struct sanx_frame_hdr
 * @body: the bytes behind the header, in the receive buffer
 */
struct sanx_frame {
	u8	type;
	u8	flags;
	u16	len;
	u32	conn;
	u64	offset;
	u64	credit;
	u32	count;
	u32	grant;
	const void *body;
};

/**
 * struct sanx_window_info - a parsed window
 * @addr: see &struct sanx_window
 * @rkey: see &struct sanx_window
 * @size: a power of two in SANX_RING_MIN..SANX_RING_MAX, or 0 for no ring
 */
struct sanx_window_info {
	u64	addr;
	u32	rkey;
	u32	size;
};

/**
 * struct sanx_hello_info - a parsed hello
 * @from: node id of the peer, not 0
 * @to: node id that the peer expects us to have, not 0
 * @recvs: receives that it has posted, in SANX_RECVS_MIN..SANX_RECVS_MAX
 * @inline_max: bytes of payload that it accepts in a frame, at most
 *	SANX_INLINE_MAX
 * @lane: number of the lane, below SANX_LANES_ALL
 * @rail: number of the rail
 * @keys: number of keys that it has proofs of, at most SANX_PROOFS
 * @features: SANX_HELLO_F_*
 * @instance: tells a restarted peer from the one before, not 0
 * @nonce: tells this hello from all others
 */
struct sanx_hello_info {
	u32	from;
	u32	to;
	u32	recvs;
	u16	inline_max;
	u16	lane;
	u16	rail;
	u16	keys;
	u16	features;
	u64	instance;
	u64	nonce;
};

#define SANX_RECVS_MIN	16U
#define SANX_RECVS_MAX	65535U

int sanx_frame_parse(struct sanx_frame *f, const void *buf, size_t bytes);
u32 sanx_frame_build(void *buf, const struct sanx_frame *f);
void sanx_frame_set_grant(void *buf, u32 grant);
u32 sanx_imm_build(u32 conn, u8 flags);
int sanx_imm_parse(struct sanx_frame *f, u32 imm, u32 bytes);
int sanx_open_parse(const struct sanx_frame *f, struct sanx_open *open,
		    u32 *conn, struct sanx_window_info *win);
int sanx_open_ack_parse(const struct sanx_frame *f, u32 *conn,
			struct sanx_window_info *win);
int sanx_resume_parse(const struct sanx_frame *f, u32 *conn,
		      struct sanx_window_info *win, u64 *token);
int sanx_ring_parse(const struct sanx_frame *f, u32 *conn,
		    struct sanx_window_info *win);
void sanx_window_build(struct sanx_window *w,
		       const struct sanx_window_info *info);
int sanx_hello_parse(struct sanx_hello_info *info, const void *buf,
		     size_t bytes);
void sanx_hello_build(struct sanx_hello *hello,
		      const struct sanx_hello_info *info);

#endif /* _SANX_FORMAT_H */
