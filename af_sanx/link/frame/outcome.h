/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a connection after an error.
 *
 * An error has a name from where it arises on, and what follows is decided here, for both
 * ends: enum sanx_link_end, when a link ends, for each connection that is on it or was asked
 * for; enum attached, when a suspended connection cannot continue on a link.  (A third one,
 * enum sanx_refusal, is about links: sanx_wire_refused().)
 *
 * This code takes no lock and needs only the kernel's types; kunit/outcome_test.c tests it.
 */
#ifndef _SANX_OUTCOME_H
#define _SANX_OUTCOME_H

#include "lconn_state.h"

/* Links that a connection is asked for on, one after the other. */
#define ASKS_MAX	8U

/**
 * enum sanx_link_end - why a link ends
 * @SANX_END_LOST: the peer cannot be reached, or is silent
 * @SANX_END_NO_WAY: it could not be asked for: this node has no device, address or memory
 * @SANX_END_REFUSED: the peer has refused it, or it yields to the peer's attempt
 * @SANX_END_UNFIT: it could not carry the connections of its lane, which stay on another
 * @SANX_END_FAULT: one of the two nodes did what it must not
 * @SANX_END_RESTARTED: the peer is another instance and has forgotten it
 * @SANX_END_CONFIG: the node map does not have it any more, or the namespace
 *	stops
 */
enum sanx_link_end {
	SANX_END_LOST,
	SANX_END_NO_WAY,
	SANX_END_REFUSED,
	SANX_END_UNFIT,
	SANX_END_FAULT,
	SANX_END_RESTARTED,
	SANX_END_CONFIG,
	/* private: */
	__SANX_ENDS
};

/**
 * enum attached - how it went to attach a suspended connection to a link
 * @ATTACHED: it is on the link
 * @ATTACH_NO_LINK: the link is going down, or the connection is; it asks on the next one
 * @ATTACH_NO_ROOM: for want of memory, or of what the device has, at present
 * @ATTACH_NEVER: the device cannot map its rings
 */
enum attached {
	ATTACHED,
	ATTACH_NO_LINK,
	ATTACH_NO_ROOM,
	ATTACH_NEVER,
};

/**
 * enum outcome - what becomes of a connection
 * @OUTCOME_SUSPENDED: its link was lost, and it continues on another one
 * @OUTCOME_ADRIFT: its link was lost before the answer, and it is asked for on another one
 * @OUTCOME_WAITS: it stays suspended, and is tried again
 * @OUTCOME_LEAVES: likewise, and the lane gives this link up for one on another rail
 * @OUTCOME_ENDS: it ends
 */
enum outcome {
	OUTCOME_SUSPENDED,
	OUTCOME_ADRIFT,
	OUTCOME_WAITS,
	OUTCOME_LEAVES,
	OUTCOME_ENDS,
};

/**
 * outcome_of_end() - a link ends: what becomes of a connection on it?
 * @why: why it ends
 * @state: the state of the connection, not RELEASED
 * @asks: links that were lost since the peer has answered last
 *
 * Where the peer does not know the connection yet, another link serves as well; but one that
 * was tried too often may be what ends links.
 *
 * Return: OUTCOME_SUSPENDED, OUTCOME_ADRIFT or OUTCOME_ENDS.
 */
static inline enum outcome outcome_of_end(enum sanx_link_end why,
					  const struct sanx_lconn_state *state, u32 asks)
{
	if (why == SANX_END_LOST && sanx_lconn_may_survive(state))
		return OUTCOME_SUSPENDED;
	if ((why == SANX_END_LOST || why == SANX_END_RESTARTED) &&
	    sanx_lconn_may_ask_again(state) && asks < ASKS_MAX)
		return OUTCOME_ADRIFT;
	return OUTCOME_ENDS;
}

/**
 * outcome_of_attach() - a suspended connection is not attached: what becomes of it?
 * @how: why not; not ATTACHED
 * @others: number of connections that are on the link
 * @rail: there is another rail that may serve
 *
 * The others are not to pay for what the link lacks at present.
 *
 * Return: OUTCOME_WAITS, OUTCOME_LEAVES or OUTCOME_ENDS.
 */
static inline enum outcome outcome_of_attach(enum attached how, u32 others, bool rail)
{
	switch (how) {
	case ATTACH_NO_LINK:
		return OUTCOME_WAITS;
	case ATTACH_NO_ROOM:
		return rail && !others ? OUTCOME_LEAVES : OUTCOME_WAITS;
	default:
		return rail ? OUTCOME_LEAVES : OUTCOME_ENDS;
	}
}

#endif /* _SANX_OUTCOME_H */
