/* SPDX-License-Identifier: GPL-2.0 */
/* Links and rails, as users see them. */
#ifndef _SANX_INFO_H
#define _SANX_INFO_H

#include <linux/in6.h>
#include <linux/types.h>

/**
 * struct sanx_link_info - a link, as sanxctl shows it
 * @node: the peer's node id
 * @transport: name of the transport
 * @device: name of the device
 * @state: name of the state
 * @conns: connections on the link
 * @local: local address of the rail
 * @remote: remote address of the rail
 * @rtt: the shortest time until the peer acknowledged a frame, in ns; or 0
 * @long_min: bytes from which a send() uses the program's pages, or U32_MAX
 * @lane: number of the lane
 * @key: id of the key that the two nodes have shown to each other, or 0
 * @rail: number of the rail, or -1
 * @standby: it only shows that the rail works
 * @up: it takes connections: @up_secs, @moves and @moved apply
 * @up_secs: seconds since it came up
 * @moves: moves of the lane's connections from rail to rail
 * @moved: cause of the last one, or NULL
 * @moved_secs: seconds since then, if @moved
 * @retry_secs: seconds until connects wait for a link again, or 0
 * @why: why it ends, in words; NULL of one that does not, and in dumps
 */
struct sanx_link_info {
	u32		node;
	const char	*transport;
	const char	*device;
	const char	*state;
	u32		conns;
	struct in6_addr	local;
	struct in6_addr	remote;
	u32		rtt;
	u32		long_min;
	u32		lane;
	u32		key;
	int		rail;
	bool		standby;
	bool		up;
	u32		up_secs;
	u32		moves;
	const char	*moved;
	u32		moved_secs;
	u32		retry_secs;
	const char	*why;
};

/**
 * struct sanx_rail_info - a rail, as sanxctl shows it
 * @node: the peer's node id
 * @number: number of the rail
 * @transport: name of the transport
 * @local: our address, or unspecified
 * @remote: the peer's address
 * @state: name of the state
 * @admin: enum sanx_rail_admin
 * @weight: its part of the load
 * @links: links on it that are up
 * @conns: connections on these
 * @rtt: average round trip of late, in ns; or 0
 * @tx_bytes: payload sent
 * @rx_bytes: payload received
 * @errors: links that were lost, and attempts that failed
 * @retry_secs: seconds until it is not held any more, or 0
 * @cause: name of why it has no link, or NULL
 */
struct sanx_rail_info {
	u32		node;
	u32		number;
	const char	*transport;
	struct in6_addr	local;
	struct in6_addr	remote;
	const char	*state;
	u32		admin;
	u32		weight;
	u32		links;
	u32		conns;
	u32		rtt;
	u64		tx_bytes;
	u64		rx_bytes;
	u32		errors;
	u32		retry_secs;
	const char	*cause;
};

#endif /* _SANX_INFO_H */
