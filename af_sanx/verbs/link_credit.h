/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link credits: how many frames the peer of a link can take.
 *
 * A receive queue that runs empty breaks an iWARP link and stalls others.  So each
 * side counts the receives that it has posted and advertises that count: this is a
 * grant.  The other side sends no frame beyond it.  Pure: no lock, no device, and no
 * more of the kernel than its types; kunit/link_credit_test.c walks it.
 *
 * Invariant: each of the N receives of a side is one of four things at any time:
 *
 *	a credit of the peer			limit - sent, at the peer
 *	on its way to the peer in a grant	advertised here - limit at the peer
 *	to be advertised			posted - advertised, here
 *	taken by a frame			sent at the peer - (posted here - N)
 *
 * Called as said below, no function makes one of them negative, and their sum is N.
 * So there are never more frames under way than receives posted for them, and never
 * more credits than the peer has receives.  Counters run modulo 2^32; each of the four
 * is at most N, which is far less, so differences are right across the wrap.
 *
 * Rules, with Q = N / 4 and R = LINK_CREDIT_RESERVE:
 *
 *  - A frame needs more than R credits, but for the grants of the next rule.
 *  - A side owes a grant when Q of its receives or more are to be advertised.  Any
 *    frame with a header brings it.  If there is none, a frame of its own (a PING)
 *    does, which needs one credit only.
 *
 * Claim: the rules cannot deadlock.  Once ordinary frames stop, a finite number of
 * grants follows, and then both sides have more than R credits.  It takes R >= 1,
 * Q >= 2 and N >= Q + R, which LINK_CREDIT_RECVS_MIN says, and frames that arrive in
 * order.  The two sides need not have the same N.
 *
 * The number of grants is finite: a receive that is posted anew makes of a frame
 * that is under way a receive to be advertised; a grant makes of Q >= 2 of those one
 * frame.  So frames under way and receives to be advertised, of both sides together,
 * become fewer by Q - 1 with each grant.  (The PONG that answers it, an ordinary frame,
 * makes them one more at most: with the 16 receives that the protocol asks for, Q - 1
 * is three.)
 *
 * Then both have more than R credits.  Proof: suppose that X has R or fewer, while
 * nothing is under way and no grant can be sent.
 *
 *  - By the invariant its peer Y has N - R >= Q receives or more to advertise, and
 *    owes a grant.  As it cannot send that, it has no credit.  No credit is R or
 *    fewer, so the same holds the other way: X has none either.
 *  - Let t(S) be the time since which S has had R credits or fewer, and let X be the
 *    side with t(X) <= t(Y).  After t(Y), Y came from R credits to none.  So it sent
 *    m >= R frames, all of them grants of their own, and all arrived after t(X).
 *    Each raised the credits of X by Q >= 2 or more.
 *  - From the arrival of the first of them to that of the last, X posted m - 1
 *    receives anew.  Of the grants that X sent meanwhile, each but the first took
 *    two of those or more; so there were m - 1 of them at most, and no other frames,
 *    as X had no more than R credits.
 *  - So when the last had arrived, X had 2m - (m - 1) = m + 1 > R credits or more.
 *    That was after t(X), which contradicts what t(X) is.
 */
#ifndef _SANX_LINK_CREDIT_H
#define _SANX_LINK_CREDIT_H

#include <linux/errno.h>
#include <linux/types.h>

/* R: the last credits, which only grants of their own may use. */
#define LINK_CREDIT_RESERVE	4U
/* One of so many receives that are to be advertised makes a grant owed. */
#define LINK_CREDIT_SHARE	4U
/* N at the least: Q >= 2, and N >= Q + R. */
#define LINK_CREDIT_RECVS_MIN	8U

/**
 * struct link_credit - credits of one side of a link, in frames
 * @sent: frames sent since the link came up, modulo 2^32
 * @limit: what the peer has advertised: how many may be sent, likewise
 * @peer_recvs: N of the peer: what @limit began with
 * @posted: receives posted since the link came up, likewise
 * @advertised: value of @posted that the peer was told last
 * @recvs: N of this side: what @posted began with
 *
 * The caller serialises all calls for one object.  The exception is
 * link_credit_room(): read without that it is a hint.
 */
struct link_credit {
	u32	sent;
	u32	limit;
	u32	peer_recvs;
	u32	posted;
	u32	advertised;
	u32	recvs;
};

/**
 * link_credit_init_rx() - this side has posted its receives
 * @c: credits of a link that is not up
 * @recvs: how many, LINK_CREDIT_RECVS_MIN or more; the peer is told when the link
 *	is made, which is the first grant
 */
static inline void link_credit_init_rx(struct link_credit *c, u32 recvs)
{
	c->recvs = recvs;
	c->posted = recvs;
	c->advertised = recvs;
}

/**
 * link_credit_init_tx() - the peer has posted its receives
 * @c: credits of a link that is not up
 * @recvs: how many, as it said when the link was made; LINK_CREDIT_RECVS_MIN or more
 */
static inline void link_credit_init_tx(struct link_credit *c, u32 recvs)
{
	c->peer_recvs = recvs;
	c->limit = recvs;
}

/**
 * link_credit_left() - frames that the peer can take, the reserve included
 * @c: credits of a link
 * Return: 0 to N of the peer.
 */
static inline u32 link_credit_left(const struct link_credit *c)
{
	return c->limit - c->sent;
}

/**
 * link_credit_room() - ordinary frames that may be sent
 * @c: credits of a link
 * Return: 0 to N of the peer, less the reserve.
 */
static inline u32 link_credit_room(const struct link_credit *c)
{
	u32 left = link_credit_left(c);

	return left > LINK_CREDIT_RESERVE ? left - LINK_CREDIT_RESERVE : 0;
}

/**
 * link_credit_unadvertised() - receives that the peer has not been told of
 * @c: credits of a link
 * Return: 0 to N of this side.
 */
static inline u32 link_credit_unadvertised(const struct link_credit *c)
{
	return c->posted - c->advertised;
}

/**
 * link_credit_grant_due() - is a grant owed that may be sent?
 * @c: credits of a link
 *
 * Return: true if a frame is to be sent for no more than the grant in it.  It may
 * use the reserve.
 */
static inline bool link_credit_grant_due(const struct link_credit *c)
{
	return link_credit_unadvertised(c) >= c->recvs / LINK_CREDIT_SHARE &&
	       link_credit_left(c);
}

/**
 * link_credit_advertise() - the grant of the next frame
 * @c: credits of a link
 *
 * The frame is to be sent next: grants arrive in the order of their values.
 *
 * Return: what its header is to say.
 */
static inline u32 link_credit_advertise(struct link_credit *c)
{
	c->advertised = c->posted;
	return c->advertised;
}

/**
 * link_credit_sent() - a frame was sent, with a grant in it or without
 * @c: credits of a link; link_credit_room() was not 0, or link_credit_grant_due()
 *	true and the frame for that
 */
static inline void link_credit_sent(struct link_credit *c)
{
	c->sent++;
}

/**
 * link_credit_posted() - the receive of a frame that came was posted anew
 * @c: credits of a link
 */
static inline void link_credit_posted(struct link_credit *c)
{
	c->posted++;
}

/**
 * link_credit_granted() - a frame with a grant came
 * @c: credits of a link
 * @grant: as received, unchecked
 *
 * A grant does not go back, and is not ahead of what was sent by more than all
 * receives of the peer: both would be more frames under way than it can take.
 *
 * Return: 0; or -EPROTO if no correct peer could have sent it, and nothing changes.
 */
static inline int link_credit_granted(struct link_credit *c, u32 grant)
{
	if ((s32)(grant - c->limit) < 0 || grant - c->sent > c->peer_recvs)
		return -EPROTO;
	c->limit = grant;
	return 0;
}

#endif /* _SANX_LINK_CREDIT_H */
