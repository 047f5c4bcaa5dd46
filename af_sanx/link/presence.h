/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a peer that refuses links still have AF_SANX?
 *
 * A node may have no AF_SANX any more after a link to it was lost.  Then its
 * suspended connections end.  But when an RDMA device is new, its connection
 * manager answers before AF_SANX listens there, and refuses in the same way.
 * So only refusals that continue for some time mean that AF_SANX is gone.  This
 * code takes no lock, reads no clock and needs only the kernel's types;
 * kunit/presence_test.c tests it.
 *
 * Invariant: PEER_GONE is reached only from PEER_ABSENT, by a refusal later
 * than the limit after the first refusal, with no link in between.
 *
 *	PEER_ASKED --first refusal--> PEER_ABSENT --after the limit--> PEER_GONE
 *	     ^                             |                              |
 *	     +--- a link comes up, or the first connection is suspended --+
 *
 * A refusal by the peer's AF_SANX itself (REJECT_NEVER) is different.  It ends
 * suspended connections at once.  It does not change the state, because it says
 * nothing about absence.
 */
#ifndef _SANX_PRESENCE_H
#define _SANX_PRESENCE_H

#include <linux/types.h>

/**
 * enum presence_state - what attempts at a link have found at the peer
 * @PEER_ASKED: no attempt was refused because AF_SANX was absent
 * @PEER_ABSENT: AF_SANX was absent, first at presence.since
 * @PEER_GONE: AF_SANX was absent for longer than the limit
 */
enum presence_state {
	PEER_ASKED,
	PEER_ABSENT,
	PEER_GONE,
};

/**
 * struct presence - is there AF_SANX at a peer? All 0 is PEER_ASKED
 * @state: the state
 * @since: PEER_ABSENT: time of the first refusal, in the caller's unit
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
 * @never: the peer's AF_SANX refused; else AF_SANX was absent this time
 * @now: the time, in any unit, modulo its range; it does not go back between
 *	calls
 * @limit: how long AF_SANX may be absent, in the same unit
 *
 * Return: true if suspended connections are to be reset.
 */
static inline bool presence_refused(struct presence *p, bool never,
				    unsigned long now, unsigned long limit)
{
	if (never)
		return true;
	switch (p->state) {
	case PEER_ASKED:
		p->state = PEER_ABSENT;
		p->since = now;
		return false;
	case PEER_ABSENT:
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
