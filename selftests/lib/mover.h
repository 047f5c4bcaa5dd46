/* SPDX-License-Identifier: GPL-2.0 */
/* Streams moved in every way that there is, at random, and checked. */
#ifndef SANX_MOVER_H
#define SANX_MOVER_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct mover - one end of a connection and its two streams
 * @fd: the socket
 * @tx: bytes to send
 * @rx: bytes to receive; SIZE_MAX until the end
 * @tx_offset: where in the pattern what is sent begins
 * @rx_offset: and what is received
 * @sent: bytes sent so far
 * @got: bytes received so far, all of them right
 * @doing: the call that was made last, for reports
 */
struct mover {
	int		fd;
	size_t		tx;
	size_t		rx;
	uint64_t	tx_offset;
	uint64_t	rx_offset;
	size_t		sent;
	size_t		got;
	const char	*doing;
};

/*
 * Each returns 0, or -errno: -EBADMSG for wrong bytes, -ENODATA for an end that
 * came too early.  Both directions go on at the same time.
 */
int move_blocking(struct mover *m);
int move_epoll(struct mover *m);

#endif /* SANX_MOVER_H */
