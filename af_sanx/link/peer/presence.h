/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a peer that refuses links mean it?
 *
 * A node may have no AF_SANX any more after a link to it was lost, or may not let us
 * in any more.  Then its suspended connections end.  But when an RDMA device is
 * new, its connection manager answers before AF_SANX listens there, and refuses in
 * the same way.  And while an administrator gives two nodes another node map or key, one
 * after the other, each refuses what the other one asks for.  So only refusals that
 * continue for some time count; how long depends on who refuses, and the caller
 * says it.  This code takes no lock, reads no clock and needs only the kernel's types;
 * kunit/presence_test.c tests it.
 *
 * Invariant: PEER_GONE is reached only from PEER_REFUSES, by a refusal later than its
 * limit after the first refusal, with no link in between.
 *
 *	PEER_ASKED --first refusal--> PEER_REFUSES --after a limit--> PEER_GONE
 *	     ^                             |                              |
 *	     +--- a link comes up, or the first connection is suspended --+
 */
#ifndef _SANX_PRESENCE_H
#define _SANX_PRESENCE_H

#include <linux/types.h>

/**
 * enum presence_state - what attempts at a link have found at the peer
 * @PEER_ASKED: no attempt was refused
 * @PEER_REFUSES: attempts are refused, first at presence.since
 * @PEER_GONE: they were refused for longer than the limit
 */
enum presence_state {
	PEER_ASKED,
	PEER_REFUSES,
	PEER_GONE,
};

/**
 * struct presence - does a peer refuse links? All 0 is PEER_ASKED
 * @state: the state
 * @since: PEER_REFUSES: time of the first refusal, in the caller's unit
 *
 * The caller serialises all calls for one object (lnet.lock).
 */
struct presence {
	enum presence_state	state;
	unsigned long		since;
};

/**
 * presence_renew() - forget earlier refusals
 * @p: a peer to which a link came up, or whose first connection was suspended
 *	when it had no other suspended one
 */
static inline void presence_renew(struct presence *p)
{
	p->state = PEER_ASKED;
}

/**
 * presence_refused() - the peer refused a link
 * @p: the peer
 * @now: the time, in any unit, modulo its range; it does not go back between
 *	calls
 * @limit: how long it may do so in the way in which it did now, in the same unit
 *
 * Return: true if suspended connections are to be reset.
 */
static inline bool presence_refused(struct presence *p, unsigned long now,
				    unsigned long limit)
{
	switch (p->state) {
	case PEER_ASKED:
		p->state = PEER_REFUSES;
		p->since = now;
		return false;
	case PEER_REFUSES:
		if (now - p->since <= limit)
			return false;
		p->state = PEER_GONE;
		return true;
	case PEER_GONE:
		break;
	}
	return true;
}

#endif /* _SANX_PRESENCE_H */
