/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a connection between two nodes (lconn_state.h): what may follow what.
 *
 * This code takes no lock and needs only the kernel's types;
 * kunit/lconn_state_test.c tests it.
 */
#ifndef _SANX_LCONN_NEXT_H
#define _SANX_LCONN_NEXT_H

#include "lconn_state.h"

#define SANX_LCONN_ENDS	(BIT(SANX_LCONN_OVER) | BIT(SANX_LCONN_RELEASED))

/**
 * sanx_lconn_phase_may() - may a phase follow another one?
 * @from: the phase
 * @to: the next one
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_phase_may(u8 from, u8 to)
{
	static const u16 next[__SANX_LCONN_PHASES] = {
		[SANX_LCONN_NEW]	= BIT(SANX_LCONN_OPENING) |
					  BIT(SANX_LCONN_ACCEPTING),
		[SANX_LCONN_IDLE]	= BIT(SANX_LCONN_OPENING) |
					  BIT(SANX_LCONN_ADRIFT) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_ADRIFT]	= BIT(SANX_LCONN_OPENING) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_OPENING]	= BIT(SANX_LCONN_OPEN_SENT) |
					  BIT(SANX_LCONN_ADRIFT) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_OPEN_SENT]	= BIT(SANX_LCONN_IDLE) |
					  BIT(SANX_LCONN_ADRIFT) |
					  BIT(SANX_LCONN_OPEN) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_ACCEPTING]	= BIT(SANX_LCONN_ADMITTED) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_ADMITTED]	= BIT(SANX_LCONN_OPEN) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_OPEN]	= BIT(SANX_LCONN_SUSPENDED) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_SUSPENDED]	= BIT(SANX_LCONN_RESUMING) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_RESUMING]	= BIT(SANX_LCONN_RESUME_SENT) |
					  BIT(SANX_LCONN_RESUMED) |
					  BIT(SANX_LCONN_SUSPENDED) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_RESUME_SENT] = BIT(SANX_LCONN_OPEN) |
					  BIT(SANX_LCONN_SUSPENDED) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_RESUMED]	= BIT(SANX_LCONN_OPEN) |
					  BIT(SANX_LCONN_SUSPENDED) |
					  SANX_LCONN_ENDS,
		[SANX_LCONN_OVER]	= BIT(SANX_LCONN_RELEASED),
	};

	return from < __SANX_LCONN_PHASES && next[from] & BIT(to);
}

/**
 * sanx_lconn_tx_may() - may a state of our direction follow another one?
 * @from: the state
 * @to: the next one
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_tx_may(u8 from, u8 to)
{
	static const u8 next[__SANX_LCONN_TXS] = {
		[SANX_LCONN_TX_STREAM]	= BIT(SANX_LCONN_TX_FIN) |
					  BIT(SANX_LCONN_TX_LAST) |
					  BIT(SANX_LCONN_TX_RESET),
		/* After the loss of a link FIN is sent again. */
		[SANX_LCONN_TX_FIN]	= BIT(SANX_LCONN_TX_FIN) |
					  BIT(SANX_LCONN_TX_LAST) |
					  BIT(SANX_LCONN_TX_RESET),
		[SANX_LCONN_TX_LAST]	= BIT(SANX_LCONN_TX_RESET),
		[SANX_LCONN_TX_RESET]	= BIT(SANX_LCONN_TX_RESET),
	};

	return from < __SANX_LCONN_TXS && next[from] & BIT(to);
}

/**
 * sanx_lconn_rx_may() - may a state of the peer's direction follow another one?
 * @from: the state
 * @to: the next one
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_rx_may(u8 from, u8 to)
{
	return to < __SANX_LCONN_RXS && to > from;
}

/**
 * sanx_lconn_close_may() - may a state of our end follow another one?
 * @from: the state
 * @to: the next one
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_close_may(u8 from, u8 to)
{
	/* After the loss of a link CLOSE is sent again. */
	if (from == SANX_LCONN_CLOSE_SENT && to == SANX_LCONN_CLOSED)
		return true;
	return to < __SANX_LCONN_CLOSES && to == from + 1;
}

/**
 * sanx_lconn_owner_may() - may an owner follow another one?
 * @from: the owner
 * @to: the next one
 *
 * Return: true if so.
 */
static inline bool sanx_lconn_owner_may(u8 from, u8 to)
{
	static const u8 next[__SANX_OWNERS] = {
		/* connect() without and with a link, or the peer's OPEN */
		[SANX_OWNER_NONE]	= BIT(SANX_OWNER_WAITERS) |
					  BIT(SANX_OWNER_LINK),
		/* It is opened on the link that came, refused, or closed. */
		[SANX_OWNER_WAITERS]	= BIT(SANX_OWNER_NONE),
		/* It ends, or is adrift; or is to continue elsewhere. */
		[SANX_OWNER_LINK]	= BIT(SANX_OWNER_NONE) |
					  BIT(SANX_OWNER_SUSPENDED),
		[SANX_OWNER_SUSPENDED]	= BIT(SANX_OWNER_LINK) |
					  BIT(SANX_OWNER_NONE),
	};

	return from < __SANX_OWNERS && next[from] & BIT(to);
}

#endif /* _SANX_LCONN_NEXT_H */
