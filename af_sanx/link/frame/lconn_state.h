/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of a connection between two nodes, as the engine sees it.
 *
 * Four parts, each of which changes by a table of its own:
 *
 *	phase	what the two nodes know of each other, on which link
 *	tx	our direction of the stream
 *	rx	the peer's direction
 *	close	our end as a whole
 *
 * The parts are separate because each combination occurs: a program may close
 * while the link is lost, and the peer may end its direction before or after.
 *
 *	connector		NEW -> OPENING -> OPEN_SENT -> OPEN
 *	the peer is busy	OPEN_SENT -> IDLE -> OPENING
 *	its link is lost	OPENING, OPEN_SENT or IDLE -> ADRIFT -> OPENING
 *	acceptor		NEW -> ACCEPTING -> ADMITTED -> OPEN
 *	the link is lost	OPEN -> SUSPENDED
 *	connector resumes	SUSPENDED -> RESUMING -> RESUME_SENT -> OPEN
 *	acceptor resumes	SUSPENDED -> RESUMING -> RESUMED -> OPEN
 *
 * The three phases of resuming lead back to SUSPENDED if the new link is lost.
 * All phases but NEW lead to OVER or RELEASED, and OVER to RELEASED.
 * What is owed to the peer follows from the phase: OPENING owes OPEN, ADMITTED
 * owes OPEN_ACK, RESUMING owes RESUME (connector) and RESUMED owes RESUME_ACK.
 *
 * Which list of the engine has the connection is told apart from that (enum
 * sanx_lconn_owner): a phase says what the peer knows, and the owner who takes care here.
 *
 * lconn_next.h has the tables.  This code takes no lock and needs only the kernel's types;
 * kunit/lconn_state_test.c tests it.  link->tx_lock guards the object, and
 * sanx_lconn_set_phase() and its siblings in lconn_state.c change it.
 */
#ifndef _SANX_LCONN_STATE_H
#define _SANX_LCONN_STATE_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

/**
 * enum sanx_lconn_phase - what the two nodes know of each other
 * @SANX_LCONN_NEW: not attached to a link yet
 * @SANX_LCONN_IDLE: the peer was busy; the core asks again later
 * @SANX_LCONN_ADRIFT: the link was lost before the peer's answer; not attached, or about
 *	to be detached; the core asks again, on any link
 * @SANX_LCONN_OPENING: OPEN is pending
 * @SANX_LCONN_OPEN_SENT: OPEN was posted, and is not answered
 * @SANX_LCONN_ACCEPTING: the peer's OPEN is being served
 * @SANX_LCONN_ADMITTED: OPEN_ACK is pending, so the peer does not know our id
 * @SANX_LCONN_OPEN: both nodes know each other's id
 * @SANX_LCONN_SUSPENDED: the link was lost; not attached
 * @SANX_LCONN_RESUMING: attached again; RESUME is pending, or the peer's RESUME
 *	is being served
 * @SANX_LCONN_RESUME_SENT: RESUME was posted, and is not answered
 * @SANX_LCONN_RESUMED: RESUME_ACK is pending
 * @SANX_LCONN_OVER: no further frame is sent or received; posted ones may not
 *	have completed
 * @SANX_LCONN_RELEASED: lconn_release() will run, or has run
 */
enum sanx_lconn_phase {
	SANX_LCONN_NEW,
	SANX_LCONN_IDLE,
	SANX_LCONN_ADRIFT,
	SANX_LCONN_OPENING,
	SANX_LCONN_OPEN_SENT,
	SANX_LCONN_ACCEPTING,
	SANX_LCONN_ADMITTED,
	SANX_LCONN_OPEN,
	SANX_LCONN_SUSPENDED,
	SANX_LCONN_RESUMING,
	SANX_LCONN_RESUME_SENT,
	SANX_LCONN_RESUMED,
	SANX_LCONN_OVER,
	SANX_LCONN_RELEASED,
	/* private: */
	__SANX_LCONN_PHASES
};

/**
 * enum sanx_lconn_tx - our direction of the stream
 * @SANX_LCONN_TX_STREAM: payload is sent
 * @SANX_LCONN_TX_FIN: FIN was posted, on this link or an earlier one
 * @SANX_LCONN_TX_LAST: closed with a reset, before which the peer gets what it has room
 *	for, as TCP would have sent that already.  RESET follows; such a connection ends with
 *	its link, too.
 * @SANX_LCONN_TX_RESET: nothing is sent any more but CLOSE, which carries RESET, and the
 *	peer's program gets ECONNRESET.  Such a connection ends with its link.
 */
enum sanx_lconn_tx {
	SANX_LCONN_TX_STREAM,
	SANX_LCONN_TX_FIN,
	SANX_LCONN_TX_LAST,
	SANX_LCONN_TX_RESET,
	/* private: */
	__SANX_LCONN_TXS
};

/**
 * enum sanx_lconn_rx - the peer's direction of the stream
 * @SANX_LCONN_RX_STREAM: payload may arrive
 * @SANX_LCONN_RX_FIN: the peer sends no more payload
 * @SANX_LCONN_RX_CLOSED: the peer neither sends nor reads
 */
enum sanx_lconn_rx {
	SANX_LCONN_RX_STREAM,
	SANX_LCONN_RX_FIN,
	SANX_LCONN_RX_CLOSED,
	/* private: */
	__SANX_LCONN_RXS
};

/**
 * enum sanx_lconn_close - our end as a whole
 * @SANX_LCONN_USED: a program has it
 * @SANX_LCONN_CLOSED: closed or aborted
 * @SANX_LCONN_CLOSE_SENT: CLOSE was posted on this link
 * @SANX_LCONN_CLOSE_ACKED: CLOSE was answered
 */
enum sanx_lconn_close {
	SANX_LCONN_USED,
	SANX_LCONN_CLOSED,
	SANX_LCONN_CLOSE_SENT,
	SANX_LCONN_CLOSE_ACKED,
	/* private: */
	__SANX_LCONN_CLOSES
};

/**
 * enum sanx_lconn_owner - which list of the engine has the connection
 * @SANX_OWNER_NONE: none; the core alone has it: it is new, was refused or released, or asks
 *	again in a moment
 * @SANX_OWNER_WAITERS: lane.waiters; it waits for a link
 * @SANX_OWNER_LINK: link.conns; whoever ends that link decides what becomes of it
 * @SANX_OWNER_SUSPENDED: streams.suspended; between two links
 *
 * An owner has one reference of the connection.  To and from WAITERS it changes under
 * lnet.lock, to and from LINK under the tx_lock of that link, and to and from SUSPENDED under
 * both, but that one which is released leaves under lnet.lock.
 */
enum sanx_lconn_owner {
	SANX_OWNER_NONE,
	SANX_OWNER_WAITERS,
	SANX_OWNER_LINK,
	SANX_OWNER_SUSPENDED,
	/* private: */
	__SANX_OWNERS
};

/**
 * struct sanx_lconn_state - state of a connection in the engine; all 0 is new
 * @phase: enum sanx_lconn_phase
 * @tx: enum sanx_lconn_tx
 * @rx: enum sanx_lconn_rx
 * @close: enum sanx_lconn_close
 */
struct sanx_lconn_state {
	u8	phase;
	u8	tx;
	u8	rx;
	u8	close;
};

/**
 * sanx_lconn_is_over() - is the connection at its end?
 * @s: the state
 *
 * Return: true if no further frame of it is sent or received.
 */
static inline bool sanx_lconn_is_over(const struct sanx_lconn_state *s)
{
	return READ_ONCE(s->phase) >= SANX_LCONN_OVER;
}

/**
 * sanx_lconn_is_open() - do both nodes know each other's id, on a link?
 * @s: the state
 *
 * Return: true if so, and no answer is pending.
 */
static inline bool sanx_lconn_is_open(const struct sanx_lconn_state *s)
{
	return s->phase == SANX_LCONN_OPEN;
}

/**
 * sanx_lconn_was_open() - does the connection exist for both nodes?
 * @s: the state
 *
 * Return: true if it was admitted, is not over, and may be suspended.
 */
static inline bool sanx_lconn_was_open(const struct sanx_lconn_state *s)
{
	return s->phase >= SANX_LCONN_ACCEPTING && s->phase < SANX_LCONN_OVER;
}

/**
 * sanx_lconn_is_asking() - is our OPEN not answered yet?
 * @s: the state
 *
 * Return: true if so, posted or pending.
 */
static inline bool sanx_lconn_is_asking(const struct sanx_lconn_state *s)
{
	return s->phase == SANX_LCONN_OPENING ||
	       s->phase == SANX_LCONN_OPEN_SENT;
}

/**
 * sanx_lconn_may_ask_again() - could the connection be opened on another link?
 * @s: the state
 *
 * Return: true if the peer has not answered, and our program still waits for that.
 */
static inline bool sanx_lconn_may_ask_again(const struct sanx_lconn_state *s)
{
	return (s->phase == SANX_LCONN_IDLE || sanx_lconn_is_asking(s)) &&
	       s->close == SANX_LCONN_USED;
}

/**
 * sanx_lconn_is_adrift() - is the connection on no link, and to be opened on another?
 * @s: the state
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_is_adrift(const struct sanx_lconn_state *s)
{
	return READ_ONCE(s->phase) == SANX_LCONN_ADRIFT;
}

/**
 * sanx_lconn_is_answering() - does the peer wait for our answer?
 * @s: the state
 *
 * Return: true if OPEN_ACK or RESUME_ACK is pending; it describes our ring,
 * which must not change until it is posted.
 */
static inline bool sanx_lconn_is_answering(const struct sanx_lconn_state *s)
{
	return s->phase == SANX_LCONN_ADMITTED ||
	       s->phase == SANX_LCONN_RESUMED;
}

/**
 * sanx_lconn_is_lost() - was the link lost, and does the peer not know yet where
 * the connection continues?
 * @s: the state
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_is_lost(const struct sanx_lconn_state *s)
{
	return s->phase >= SANX_LCONN_SUSPENDED &&
	       s->phase <= SANX_LCONN_RESUME_SENT;
}

/**
 * sanx_lconn_may_send() - may ordinary frames be sent, or follow those that are
 * owed?
 * @s: the state
 *
 * Before its answer an acceptor sends nothing.  While a connection resumes, the
 * answer has to say first what the peer has received.
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_may_send(const struct sanx_lconn_state *s)
{
	return s->phase == SANX_LCONN_OPEN || sanx_lconn_is_answering(s);
}

/**
 * sanx_lconn_is_closed() - has our program no use for the connection any more?
 * @s: the state
 *
 * Return: true if it was closed or aborted at this end.
 */
static inline bool sanx_lconn_is_closed(const struct sanx_lconn_state *s)
{
	return READ_ONCE(s->close) != SANX_LCONN_USED;
}

/**
 * sanx_lconn_hears() - may the peer send a frame about the connection?
 * @s: the state
 *
 * Return: true if so; else it is a protocol error.
 */
static inline bool sanx_lconn_hears(const struct sanx_lconn_state *s)
{
	return s->phase == SANX_LCONN_OPEN &&
	       s->rx != SANX_LCONN_RX_CLOSED &&
	       s->close != SANX_LCONN_CLOSE_ACKED;
}

/**
 * sanx_lconn_is_mute() - is no payload sent any more, whatever is unsent?
 * @s: the state
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_is_mute(const struct sanx_lconn_state *s)
{
	return sanx_lconn_is_over(s) || s->tx == SANX_LCONN_TX_RESET ||
	       s->rx == SANX_LCONN_RX_CLOSED;
}

/**
 * sanx_lconn_is_cut() - does our direction end by a reset?
 * @s: the state
 *
 * Then what the peer sends is neither counted nor checked: nobody reads it, and the
 * connection does not continue on another link.  Without tx_lock the answer is of some moment,
 * but does not become false again.
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_is_cut(const struct sanx_lconn_state *s)
{
	u8 tx = READ_ONCE(s->tx);

	return tx == SANX_LCONN_TX_LAST || tx == SANX_LCONN_TX_RESET;
}

/**
 * sanx_lconn_is_done() - has one of the two ends no use for the connection?
 * @s: the state
 *
 * Return: true if our program has closed, or the peer has, or the connection is
 * over.
 */
static inline bool sanx_lconn_is_done(const struct sanx_lconn_state *s)
{
	return sanx_lconn_is_over(s) ||
	       READ_ONCE(s->rx) == SANX_LCONN_RX_CLOSED ||
	       sanx_lconn_is_closed(s);
}

/**
 * sanx_lconn_takes() - does the connection take payload?
 * @s: the state
 *
 * Without tx_lock the answer is of some moment: what is taken just before the
 * end is dropped, as if the end had come later.
 *
 * Return: 0; -EAGAIN if it was closed or reset, of which the core learns by
 * other means; -EPIPE if it is not open yet.
 */
static inline int sanx_lconn_takes(const struct sanx_lconn_state *s)
{
	if (READ_ONCE(s->phase) < SANX_LCONN_ACCEPTING)
		return -EPIPE;
	return sanx_lconn_is_done(s) ? -EAGAIN : 0;
}

/**
 * sanx_lconn_may_survive() - could the connection continue on another link?
 * @s: the state
 *
 * Not if the peer does not know it yet, or one of the two needs it no more.
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_may_survive(const struct sanx_lconn_state *s)
{
	return s->phase >= SANX_LCONN_OPEN && s->phase < SANX_LCONN_OVER &&
	       !sanx_lconn_is_cut(s) &&
	       s->rx != SANX_LCONN_RX_CLOSED &&
	       s->close != SANX_LCONN_CLOSE_ACKED;
}

/**
 * sanx_lconn_has_ended() - can the connection be released, once nothing is
 * pending or in flight?
 * @s: the state
 *
 * The side that has answered CLOSE sends none of its own, unless it already has.
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_has_ended(const struct sanx_lconn_state *s)
{
	if (s->phase == SANX_LCONN_OVER ||
	    s->close == SANX_LCONN_CLOSE_ACKED)
		return true;
	return s->rx == SANX_LCONN_RX_CLOSED &&
	       s->close != SANX_LCONN_CLOSE_SENT;
}

#endif /* _SANX_LCONN_STATE_H */
