/* SPDX-License-Identifier: GPL-2.0 */
/* Connections between nodes, and memory that they have: see lconn.c, ringmem.c and chunk.c. */
#ifndef _SANX_LCONN_H
#define _SANX_LCONN_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/workqueue.h>

#include <net/sanx_wire.h>

#include "conn/transport.h"
#include "lconn_state.h"
#include "payer.h"
#include "ringgen.h"

struct sanx_link;
struct sanx_request;
struct sk_buff;

/**
 * struct sanx_lring - memory that the peer of a link may write
 * @buf: page aligned, contiguous for the CPU; NULL if there is none
 * @size: bytes, a power of two; the memory is whole pages
 * @wire: the wire that has mapped it last
 * @map: its mapping for @wire
 * @payer: whose memory it is, with a reference, while @buf is set
 *
 * A ring has no lock of its own: see @ring of &struct sanx_lconn.
 */
struct sanx_lring {
	u8			*buf;
	u32			size;
	const struct sanx_wire_ops *wire;
	struct sanx_wire_map	map;
	struct sanx_payer	*payer;
};

/**
 * enum sanx_chunk_kind - whose memory a chunk is
 * @SANX_CHUNK_WINDOW: ours; it is in the account of the peer (bounds.c)
 * @SANX_CHUNK_SPARE: ours, beyond the window; it is in TCP's account (spare.c of the core)
 * @SANX_CHUNK_LENT: a program's, or a file's, for which nobody waits (lend.c)
 * @SANX_CHUNK_LONG: that of a program which waits for it (long.c)
 */
enum sanx_chunk_kind {
	SANX_CHUNK_WINDOW,
	SANX_CHUNK_SPARE,
	SANX_CHUNK_LENT,
	SANX_CHUNK_LONG,
};

/**
 * struct sanx_chunk - memory that a connection sends from (chunk.c)
 * @node: in lconn.chunks; tx_lock
 * @refs: the list has one, who waits for @done another
 * @done: completed when the memory is not needed any more
 * @from: stream offset of the first byte
 * @to: stream offset behind the last byte that it has, or has room for
 * @kind: whose memory it is
 * @payer: whose account it is in, with a reference, if it is WINDOW
 * @order: each piece is of 2^@order pages
 * @n: number of pieces; 1 of memory of ours
 * @mapped: pieces that are mapped for the wire of the connection's link
 * @notice: tells the program when it has LENT pages again; NULL for those of a file
 * @start: offset of the first byte in the first piece; 0 of memory of ours
 * @page: the pieces
 */
struct sanx_chunk {
	struct list_head	node;
	refcount_t		refs;
	struct completion	done;
	u64			from;
	u64			to;
	enum sanx_chunk_kind	kind;
	struct sanx_payer	*payer;
	u32			order;
	u32			n;
	u32			mapped;
	struct sk_buff		*notice;
	size_t			start;
	struct sanx_wire_page	page[];
};

/*
 * Pending frames of a connection, besides those that its phase owes
 * (lconn_state.h); xmit_pending() sends them in order.
 */
#define LCONN_P_CREDIT		BIT(0)
#define LCONN_P_FIN		BIT(1)
#define LCONN_P_CLOSE		BIT(2)
#define LCONN_P_CLOSE_ACK	BIT(3)
#define LCONN_P_DATA		BIT(4)	/* from chunks */
#define LCONN_P_RING		BIT(5)	/* as sanx_rxgen_owes() */

/**
 * struct sanx_lconn - a connection to another node
 * @conn: what all transports have; first
 * @link: the current link, or the last one, with a reference from the first
 *	attach to the end of the connection.  sanx_lconn_attach() sets it under
 *	the tx_lock of the link; its callers hold lock_sock() or lnet.lock, or
 *	have just made the connection.  resume_switch() changes it under lnet.lock and
 *	the tx_lock of the old link, with release semantics; sanx_lconn_lock()
 *	and sanx_lconn_frame() load it with acquire semantics.
 * @wire: the wire of @link, whose module it pins, or NULL; tx_lock
 * @owner: which list has it; changed by sanx_lconn_set_owner() only
 * @wait_link: in lane.waiters or streams.suspended; lnet.lock
 * @resume_req: a RESUME that arrived while the connection was on another link;
 *	lnet.lock and tx_lock
 * @lost: when it was suspended, in jiffies; lnet.lock
 * @passed: links that have come up since, on which it was not resumed; lnet.lock
 * @id: our id
 * @peer_id: the peer's id
 * @asks: links that were lost since the peer has answered last; tx_lock
 * @resume_key: &struct sanx_auth.resume of the link that it was opened on
 * @txgen: the generation of the peer's ring that we write; written under
 *	tx_lock, the size of its window is also read without it
 * @rxgen: the generations of our ring; tx_lock, as all fields up to @began
 * @ring: our ring, the active generation
 * @next: the generation that will follow, from MADE on
 * @old: the generation before, until it is unmapped and freed
 * @first: the memory that the connection starts with; it does not change
 * @base: stream offset from which payload was last stored in that memory
 * @began: bytes of the first ring
 * @rwnd_limited: the peer was rwnd-limited; no lock
 * @mark: stream offset up to which the last full ring was read; rx_mutex, as
 *	@marked and @full_rings
 * @marked: when that was, local_clock() in ns
 * @full_rings: how many rings in a row were read in time
 * @chunks: &struct sanx_chunk, what was taken and the peer may not have, but for what
 *	slots of frames have; tx_lock
 * @fill: the chunk that the sender copies to, or NULL; changes need conn.tx_mutex and
 *	tx_lock
 * @at: where sanx_chunk_at() has looked last, or NULL; tx_lock
 * @sndbuf_max: bytes that SO_SNDBUF permits to keep; no lock
 * @announced: stream offset up to which bytes may be sent; bytes behind it are
 *	held back (hold.c of the core); tx_lock
 * @end: stream offset behind the last byte taken from the program; changes need
 *	conn.tx_mutex.  The release store in payload_hold() pairs with the acquire
 *	load in sanx_xmit_announce().
 * @unsignaled: bytes sent since the last completion was requested; tx_lock, as
 *	all fields up to @node
 * @posted: stream offset of the next byte to be posted; less than tx.next while
 *	bytes are sent again on another link
 * @acked: stream offset up to which the peer has all bytes, and no device reads
 *	them any more (ack.c)
 * @ack_asked: stream offset up to which the peer was asked for an
 *	acknowledgment
 * @acked_at: when @acked last changed, or the connection was attached, resumed
 *	or closed, or its bytes were given up, whichever is last; in jiffies.
 *	Resuming a closed connection does not count
 * @urgent: stream offset behind the last urgent byte that was sent, or 0
 * @full: a sender waits until bytes are acknowledged
 * @state: state of the connection; changed by sanx_lconn_set_phase() and its
 *	siblings only; tx_lock
 * @pending: LCONN_P_*
 * @inflight: frames posted and not completed
 * @wait_turn: in link.pending or link.openers
 * @wait_answer: in link.asking
 * @asked: when the OPEN became pending, in jiffies
 * @wait_wake: in link.ready
 * @node: in link.conns
 * @work: releases or frees the connection
 * @grow: sanx_rings_work(): makes @next, and frees @old; holds a reference of the connection while
 *	it is queued
 */
struct sanx_lconn {
	struct sanx_conn	conn;
	struct sanx_link	*link;
	const struct sanx_wire_ops *wire;
	enum sanx_lconn_owner	owner;
	struct list_head	wait_link;
	struct sanx_request	*resume_req;
	unsigned long		lost;
	unsigned int		passed;
	u32			id;
	u32			peer_id;
	u32			asks;
	siphash_key_t		resume_key;
	struct sanx_txgen	txgen;
	struct sanx_rxgen	rxgen;
	struct sanx_lring	ring;
	struct sanx_lring	next;
	struct sanx_lring	old;
	u8			*first;
	u64			base;
	u32			began;
	bool			rwnd_limited;
	u64			mark;
	u64			marked;
	unsigned int		full_rings;
	struct list_head	chunks;
	struct sanx_chunk	*fill;
	struct sanx_chunk	*at;
	u32			sndbuf_max;
	u64			announced;
	u64			end;
	u32			unsignaled;
	u64			posted;
	u64			acked;
	u64			ack_asked;
	unsigned long		acked_at;
	u64			urgent;
	bool			full;
	struct sanx_lconn_state	state;
	u32			pending;
	u32			inflight;
	struct list_head	wait_turn;
	struct list_head	wait_answer;
	unsigned long		asked;
	struct list_head	wait_wake;
	struct list_head	node;
	struct work_struct	work;
	struct delayed_work	grow;
};

static inline bool sanx_chunk_is_ours(const struct sanx_chunk *c)
{
	return c->kind == SANX_CHUNK_WINDOW || c->kind == SANX_CHUNK_SPARE;
}

static inline struct sanx_lconn *sanx_lconn_of(struct sanx_conn *conn)
{
	return container_of(conn, struct sanx_lconn, conn);
}

static inline bool sanx_lconn_accepted(struct sanx_lconn *lc)
{
	return lc->conn.accepted;
}

/* lconn_state.c */
void sanx_lconn_set_phase(struct sanx_lconn *lc, enum sanx_lconn_phase to);
void sanx_lconn_set_tx(struct sanx_lconn *lc, enum sanx_lconn_tx to);
void sanx_lconn_set_rx(struct sanx_lconn *lc, enum sanx_lconn_rx to);
void sanx_lconn_set_close(struct sanx_lconn *lc, enum sanx_lconn_close to);
void sanx_lconn_set_owner(struct sanx_lconn *lc, enum sanx_lconn_owner to);

#endif /* _SANX_LCONN_H */
