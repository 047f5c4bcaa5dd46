/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is AF_SANX still there at a peer that refuses links?
 *
 * A node that a link was lost to may have no AF_SANX any more, and then suspended
 * connections end.  But while its RDMA device is new, its connection manager is there
 * before its listeners are, and refuses in the same way.  So only refusals that go on
 * for some time say that AF_SANX is gone.  Pure: no lock, no clock, and no more of the
 * kernel than its types; kunit/presence_test.c tries it.
 *
 * Invariant: PEER_GONE is reached only from PEER_ABSENT, by a refusal more than the
 * limit after the first one, with no link between them.
 *
 *	PEER_ASKED --first refusal--> PEER_ABSENT --refusal after the limit--> PEER_GONE
 *	     ^                             |                                       |
 *	     +----- a link is up, or the first connection is suspended ------------+
 *
 * A refusal by the peer's AF_SANX itself (REJECT_NEVER) is an answer of its own: it
 * ends suspended connections at once, and leaves the state as it is, as it says
 * nothing of absence.
 */
#ifndef _SANX_PRESENCE_H
#define _SANX_PRESENCE_H

#include <linux/types.h>

/**
 * enum presence_state - what attempts at a link have found at the peer
 * @PEER_ASKED: none was refused for want of AF_SANX
 * @PEER_ABSENT: there was no AF_SANX, since presence.since
 * @PEER_GONE: there was none for longer than the limit
 */
enum presence_state {
	PEER_ASKED,
	PEER_ABSENT,
	PEER_GONE,
};

/**
 * struct presence - what is known of AF_SANX at a peer; all 0 is PEER_ASKED
 * @state: where it is
 * @since: PEER_ABSENT: when it was first refused, in the caller's unit of time
 *
 * The caller serialises all calls for one object.
 */
struct presence {
	enum presence_state	state;
	unsigned long		since;
};

/**
 * presence_renew() - what was found before does not count any more
 * @p: a peer that there is a link to now, or that the first connection was suspended
 *	of, where there was none
 */
static inline void presence_renew(struct presence *p)
{
	p->state = PEER_ASKED;
}

/**
 * presence_refused() - the peer refused a link
 * @p: the peer
 * @never: its AF_SANX has said so; else there was none, this time
 * @now: the time, in any unit, modulo its range; it does not go back from call to call
 * @limit: how long there may be none, in that unit
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
