/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link credits: how many frames the peer of a link can receive.
 *
 * A receive queue that runs empty breaks an iWARP link and stalls others.  So
 * each side counts the receives that it has posted, and advertises the count:
 * this is a grant.  The other side sends no frame beyond the grant.  This code
 * takes no lock, uses no device and needs only the kernel's types;
 * kunit/link_credit_test.c tests it.
 *
 * Invariant: at any time each of the N receives of a side is one of these:
 *
 *	a credit of the peer			limit - sent, at the peer
 *	in a grant in flight to the peer	advertised here - limit at the
 *						peer
 *	to be advertised			posted - advertised, here
 *	used by a frame				sent at the peer - (posted
 *						here - N)
 *
 * If callers obey the comments below, none of the four becomes negative, and
 * their sum is N.  So there are never more frames in flight than receives
 * posted for them, and the peer never has more credits than there are receives.
 * Counters are modulo 2^32.  Each of the four is at most N, which is far less
 * than 2^32, so differences are correct across the wrap.
 *
 * Rules, with Q = min(N / 4, LINK_CREDIT_GRANT) and R = LINK_CREDIT_RESERVE:
 *
 *  - A frame needs more than R credits, except the grants of the next rule.
 *  - A side owes a grant when Q or more of its receives are to be advertised.
 *    Any frame with a header carries the grant.  If no such frame is due, a
 *    frame of its own (a PING) carries it, which needs only one credit.
 *
 * A receive is posted again after its frame was processed.  So a grant also
 * tells how many frames the peer's processor has seen (link_credit_acked()).  A
 * side keeps each frame until then (ack.c), and so cannot send without limit
 * even if the peer has many receives.  Q is therefore LINK_CREDIT_GRANT at
 * most, however large N is: a side that keeps more than Q frames gets a grant.
 *
 * Claim: the rules cannot deadlock.  When ordinary frames stop, a finite number
 * of grants follows, and then both sides have more than R credits.  This needs
 * R >= 1, Q >= 2 and N >= Q + R (see LINK_CREDIT_RECVS_MIN), and frames that
 * arrive in order.  The two sides need not have the same N.
 *
 * The number of grants is finite.  A receive that is posted again turns a frame
 * in flight into a receive to be advertised.  A grant turns Q >= 2 receives to
 * be advertised into one frame.  So each grant reduces the sum of frames in
 * flight and receives to be advertised, over both sides, by at least Q - 1.
 * (The PONG that answers the PING is an ordinary frame and adds at most one to
 * the sum.  With the 16 receives that the protocol requires, Q - 1 is three.)
 *
 * Then both sides have more than R credits.  Proof: suppose that side X has R
 * or fewer, nothing is in flight, and no grant can be sent.
 *
 *  - By the invariant its peer Y has at least N - R >= Q receives to advertise,
 *    and owes a grant.  Y cannot send it, so Y has no credit.  That is R or
 *    fewer, so the same argument holds with the sides exchanged: X has no
 *    credit either.
 *  - Let t(S) be the time since when side S has had R or fewer credits, and let
 *    X be the side with t(X) <= t(Y).  After t(Y), Y went from R credits to
 *    none.  So Y sent m >= R frames, all of them grants in frames of their own,
 *    and all arrived after t(X).  Each raised the credits of X by Q >= 2 or
 *    more.
 *  - Between the arrivals of the first and the last of them, X posted m - 1
 *    receives again.  Of the grants that X sent in that time, each but the
 *    first advertised two or more of these receives.  So X sent at most m - 1
 *    grants, and no other frames, because it had R or fewer credits.
 *  - So when the last frame had arrived, X had at least 2m - (m - 1) = m + 1 >
 *    R credits.  That was after t(X), which contradicts the definition of t(X).
 */
#ifndef _SANX_LINK_CREDIT_H
#define _SANX_LINK_CREDIT_H

#include <linux/errno.h>
#include <linux/types.h>

/* R: the last credits, reserved for grants in frames of their own. */
#define LINK_CREDIT_RESERVE	4U
/* Q: with so many receives unadvertised, a grant is owed. */
#define LINK_CREDIT_SHARE	4U
#define LINK_CREDIT_GRANT	32U
/* The least N: Q >= 2, and N >= Q + R. */
#define LINK_CREDIT_RECVS_MIN	8U

/**
 * struct link_credit - credits of one side of a link, in frames
 * @sent: frames sent since the link came up, modulo 2^32
 * @limit: the peer's last grant: how many frames may be sent, modulo 2^32
 * @peer_recvs: N of the peer: the first value of @limit
 * @posted: receives posted since the link came up, modulo 2^32
 * @advertised: the value of @posted that was last advertised to the peer
 * @recvs: N of this side: the first value of @posted
 *
 * The caller serialises all calls for one object: by link.tx_lock, or because
 * no frames are sent or received before the link is set up.  The exception is
 * link_credit_room(): without the lock its result is a hint.
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
 * link_credit_init_rx() - note that this side has posted its receives
 * @c: credits of a link that is not up
 * @recvs: number of receives, LINK_CREDIT_RECVS_MIN or more; the hello
 *	advertises it, which is the first grant
 */
static inline void link_credit_init_rx(struct link_credit *c, u32 recvs)
{
	c->recvs = recvs;
	c->posted = recvs;
	c->advertised = recvs;
}

/**
 * link_credit_init_tx() - note the number of receives of the peer
 * @c: credits of a link that is not up
 * @recvs: number of receives from the peer's hello, LINK_CREDIT_RECVS_MIN or
 *	more
 */
static inline void link_credit_init_tx(struct link_credit *c, u32 recvs)
{
	c->peer_recvs = recvs;
	c->limit = recvs;
}

/**
 * link_credit_left() - frames that the peer can receive, the reserve included
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
 * link_credit_unadvertised() - receives that were not advertised to the peer
 * yet
 * @c: credits of a link
 * Return: 0 to N of this side.
 */
static inline u32 link_credit_unadvertised(const struct link_credit *c)
{
	return c->posted - c->advertised;
}

/**
 * link_credit_grant_due() - is a grant owed, and may it be sent?
 * @c: credits of a link
 *
 * Return: true if a frame should be sent only for the grant in it.  That frame
 * may use the reserve.
 */
static inline bool link_credit_grant_due(const struct link_credit *c)
{
	u32 due = c->recvs / LINK_CREDIT_SHARE;

	if (due > LINK_CREDIT_GRANT)
		due = LINK_CREDIT_GRANT;
	return link_credit_unadvertised(c) >= due && link_credit_left(c);
}

/**
 * link_credit_advertise() - get the grant of the next frame
 * @c: credits of a link
 *
 * The caller sends the frame before any other: grants must arrive in the order
 * of their values.
 *
 * Return: the grant for the header of the frame.
 */
static inline u32 link_credit_advertise(struct link_credit *c)
{
	c->advertised = c->posted;
	return c->advertised;
}

/**
 * link_credit_sent() - count a frame that was sent, with or without a grant
 * @c: credits of a link; either link_credit_room() was not 0, or
 *	link_credit_grant_due() was true and the frame was sent for the grant
 */
static inline void link_credit_sent(struct link_credit *c)
{
	c->sent++;
}

/**
 * link_credit_posted() - count a receive that was posted again
 * @c: credits of a link
 */
static inline void link_credit_posted(struct link_credit *c)
{
	c->posted++;
}

/**
 * link_credit_granted() - take a grant from the peer
 * @c: credits of a link
 * @grant: as received, unchecked
 *
 * A grant does not go back, and does not exceed the number of frames sent by
 * more than the peer's receives.  Either would mean more frames in flight than
 * the peer can receive.
 *
 * Return: 0; or -EPROTO if no correct peer could have sent it, and then nothing
 * has changed.
 */
static inline int link_credit_granted(struct link_credit *c, u32 grant)
{
	if ((s32)(grant - c->limit) < 0 || grant - c->sent > c->peer_recvs)
		return -EPROTO;
	c->limit = grant;
	return 0;
}

/**
 * link_credit_acked() - frames that the peer has processed
 * @c: credits of a link
 * Return: the number of frames, counted as in @c->sent, modulo 2^32; @c->sent at
 * most.
 */
static inline u32 link_credit_acked(const struct link_credit *c)
{
	return c->limit - c->peer_recvs;
}

/**
 * link_credit_inflight() - frames that the peer has not processed
 * @c: credits of a link; without its lock the result is a hint
 * Return: the number of frames.
 */
static inline u32 link_credit_inflight(const struct link_credit *c)
{
	u32 acked = READ_ONCE(c->limit) - READ_ONCE(c->peer_recvs);

	/* Frames that were sent after the first load may be acknowledged by the second. */
	return max_t(s32, READ_ONCE(c->sent) - acked, 0);
}

/**
 * link_credit_is_acked() - has the peer processed a frame?
 * @c: credits of a link
 * @seq: the value of @c->sent after the frame was counted, at most 2^31 frames
 *	ago
 * Return: true if so.
 */
static inline bool link_credit_is_acked(const struct link_credit *c, u32 seq)
{
	return (s32)(link_credit_acked(c) - seq) >= 0;
}

#endif /* _SANX_LINK_CREDIT_H */
