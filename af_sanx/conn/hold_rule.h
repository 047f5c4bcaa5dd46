/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rule for holding bytes back: which bytes of a send() are announced to the
 * peer at once, and what ends the delay of the others.  This code takes no lock
 * and reads no clock; kunit/hold_test.c tests it.  hold.c applies it.  Whether a sender
 * streams is in pace.h.
 *
 * Bytes are held back in one of two ways:
 *
 * COALESCED
 *	A small piece of a stream, delayed for some 100 us, because an
 *	announcement costs more than the piece: over loop, waking a sleeping
 *	reader does; over verbs, a message does.  TCP has Nagle's rule against
 *	small pieces, and so do SOVIA and SCI SOCKET.
 *
 * CORKED
 *	The program said that more will follow (TCP_CORK, MSG_MORE).  The peer
 *	sees nothing of these bytes, as with tcp_push() in net/ipv4/tcp.c.
 *
 * Invariant: bytes become visible to the peer in stream order.  So an
 * announcement covers all bytes that were held back before, and coalesced bytes
 * are announced before bytes behind them are corked.
 *
 * What ends the delay (enum sanx_hold_end):
 *
 *	=====================================	=========  ======
 *	event					COALESCED  CORKED
 *	=====================================	=========  ======
 *	a send that is announced		ends	   ends
 *	shutdown(), close()			ends	   ends
 *	a reset					dropped	   dropped
 *	TCP_CORK cleared, TCP_NODELAY set	ends	   ends
 *	no room for more bytes			ends	   ends
 *	the program waits for an answer		ends	   -
 *	some 100 us				ends	   -
 *	200 ms					ends	   ends
 *	a corked send follows			ends	   -
 *	=====================================	=========  ======
 *
 * (TCP also sends bytes that only MSG_MORE keeps back when anything arrives from
 * the peer.  AF_SANX waits in this case as well.)
 */
#ifndef _SANX_HOLD_RULE_H
#define _SANX_HOLD_RULE_H

#include <linux/types.h>

/* Bytes that end corking, about as TCP sends full segments. */
#define SANX_CORK_BYTES		32768U

/*
 * 64 pieces of a KiB, or some of a few KiB, so that the announcement is a small
 * part of the cost.  Also half of a ring of the usual size, so that the reader
 * has something to do while a sender on another CPU continues.
 */
#define SANX_COALESCE_BYTES	65536U

/**
 * enum sanx_held - how bytes are held back
 * @SANX_HELD_NONE: they are announced
 * @SANX_HELD_COALESCED: for a short time.  Over loop the bytes are in the
 *	reader's ring, and a reader that calls recv(), poll() or FIONREAD finds
 *	them: only the wake-up of a sleeping reader is delayed.
 * @SANX_HELD_CORKED: until the program pulls them; the peer sees nothing
 */
enum sanx_held {
	SANX_HELD_NONE,
	SANX_HELD_COALESCED,
	SANX_HELD_CORKED,
};

/**
 * enum sanx_hold_end - what can end a delay
 * @SANX_HOLD_ANSWER: the program waits for its peer, in recv() or poll()
 * @SANX_HOLD_CORK: bytes that follow are corked
 * @SANX_HOLD_TIME: the time of coalesced bytes is over
 * @SANX_HOLD_CORK_TIME: the time of corked bytes is over
 * @SANX_HOLD_PULL: TCP_CORK was cleared, TCP_NODELAY was set, or sendfile() has
 *	no more bytes
 * @SANX_HOLD_NO_ROOM: there is no room for more bytes
 */
enum sanx_hold_end {
	SANX_HOLD_ANSWER,
	SANX_HOLD_CORK,
	SANX_HOLD_TIME,
	SANX_HOLD_CORK_TIME,
	SANX_HOLD_PULL,
	SANX_HOLD_NO_ROOM,
};

/**
 * struct sanx_piece_sent - a send(), as far as the rule needs it
 * @len: its bytes
 * @held: bytes before it that are held back, and would be announced with it
 * @held_max: bytes that may be held back at once in this connection
 * @small: bytes from which a piece is not coalesced, because the announcement
 *	costs little compared with it
 * @urgent: its last byte is urgent
 * @more: TCP_CORK or MSG_MORE
 * @streams: the sender streams, see sanx_pace_streams()
 * @follows: TCP_NODELAY is not set, or it follows the previous send fast, see
 *	sanx_pace_follows()
 * @bounded: the delay can be kept short
 */
struct sanx_piece_sent {
	size_t	len;
	u32	held;
	u32	held_max;
	u32	small;
	bool	urgent;
	bool	more;
	bool	streams;
	bool	follows;
	bool	bounded;
};

/**
 * sanx_hold_rule() - how to hold the bytes of a send() back
 * @p: the send
 *
 * Return: SANX_HELD_NONE to announce them, and all bytes that were held back
 * before.
 */
static inline enum sanx_held sanx_hold_rule(const struct sanx_piece_sent *p)
{
	u64 held = (u64)p->held + p->len;

	if (p->urgent || held >= p->held_max)
		return SANX_HELD_NONE;
	if (p->more)
		return held < SANX_CORK_BYTES ? SANX_HELD_CORKED :
						SANX_HELD_NONE;
	if (!p->streams || !p->follows || !p->bounded || p->len >= p->small)
		return SANX_HELD_NONE;
	return held < SANX_COALESCE_BYTES ? SANX_HELD_COALESCED : SANX_HELD_NONE;
}

/**
 * sanx_hold_ends() - does this end the delay?
 * @held: how bytes are held back
 * @why: what has happened
 *
 * Return: true if the bytes are to be announced now.
 */
static inline bool sanx_hold_ends(enum sanx_held held, enum sanx_hold_end why)
{
	switch (held) {
	case SANX_HELD_NONE:
		return false;
	case SANX_HELD_COALESCED:
		return true;
	case SANX_HELD_CORKED:
		break;
	}
	return why >= SANX_HOLD_CORK_TIME;
}

#endif /* _SANX_HOLD_RULE_H */
