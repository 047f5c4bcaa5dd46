/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long does an acceptor wait for the connector to resume a connection?
 *
 * The connector asks for its suspended connections once there is a link.  If it does
 * not ask for one, it has forgotten it.  This code takes no lock, reads no clock and
 * needs only the kernel's types; kunit/patience_test.c tests it.
 */
#ifndef _SANX_PATIENCE_H
#define _SANX_PATIENCE_H

#include <linux/jiffies.h>
#include <linux/types.h>

/*
 * How long an acceptor waits for the connector's RESUME, in jiffies.  The time
 * ends with a frame of the peer: while the new link is silent, the peer may not
 * know of it.
 */
#define RESUME_MAX	(10 * HZ)
/*
 * RESUME_MAX begins anew with each link, and does not end while requests of the peer
 * wait.  So that a peer whose links come and go, or who always asks for something, does
 * not keep for ever what it does not resume, the time in all is limited, too: to what
 * TCP spends on retransmissions.  A link that comes up after a longer time counts from
 * then on, unless so many links have come up.
 */
#define RESUME_LINKS	10
#define RESUME_IN_ALL	(15 * 60 * HZ)

/**
 * struct sanx_patience - a suspended connection whose lane has a link; in jiffies
 * @lost: when its last link was lost
 * @up: when the lane's link came up, before or after @lost
 * @heard: when the peer was last heard of on that link
 * @links: links that have come up since @lost
 * @asking: requests of the peer wait to be served, and its own may be among them
 */
struct sanx_patience {
	unsigned long	lost;
	unsigned long	up;
	unsigned long	heard;
	unsigned int	links;
	bool		asking;
};

/**
 * sanx_patience_over() - has the connector had its time to resume?
 * @p: the connection
 * @now: the time, in jiffies
 *
 * Return: true if the connection is to be reset.
 */
static inline bool sanx_patience_over(const struct sanx_patience *p,
				      unsigned long now)
{
	unsigned long since = time_after(p->up, p->lost) ? p->up : p->lost;

	if (p->links > RESUME_LINKS && time_after(now, p->lost + RESUME_IN_ALL))
		return true;
	if (p->asking)
		return time_after(now, since + RESUME_IN_ALL);
	return time_after(p->heard, since + RESUME_MAX);
}

#endif /* _SANX_PATIENCE_H */
