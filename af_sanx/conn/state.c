// SPDX-License-Identifier: GPL-2.0
/*
 * The state table of connections: the next state for each state and event.
 * Pure; sanx_conn_event() applies it, under conn->lock.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kernel.h>

#include "conn_priv.h"

#define NO	0xff

/*
 * Index: state, then event (CONNECT, ESTABLISH, REFUSE, FIN_TX, FIN_RX, DIE).
 */
static const u8 state_table[__SANX_CONN_STATES][__SANX_EVS] = {
	[SANX_CONN_NEW] = {
		SANX_CONN_CONNECTING, SANX_CONN_ESTABLISHED, NO, NO, NO,
		SANX_CONN_DEAD,
	},
	[SANX_CONN_CONNECTING] = {
		NO, SANX_CONN_ESTABLISHED, SANX_CONN_REFUSED, NO,
		/*
		 * An acceptor on this node can end its direction before
		 * sanx_conn_established() runs, which then repeats the event.
		 */
		SANX_CONN_CONNECTING, SANX_CONN_DEAD,
	},
	[SANX_CONN_ESTABLISHED] = {
		NO, NO, NO, SANX_CONN_FIN_SENT, SANX_CONN_FIN_RCVD,
		SANX_CONN_DEAD,
	},
	[SANX_CONN_FIN_SENT] = {
		NO, NO, NO, NO, SANX_CONN_FINISHED, SANX_CONN_DEAD,
	},
	[SANX_CONN_FIN_RCVD] = {
		NO, NO, NO, SANX_CONN_FINISHED, NO, SANX_CONN_ENDED,
	},
	[SANX_CONN_FINISHED] = {
		NO, NO, NO, NO, NO, SANX_CONN_ENDED,
	},
	[SANX_CONN_REFUSED] = {
		NO, NO, NO, NO, NO, SANX_CONN_DEAD,
	},
	[SANX_CONN_DEAD] = {
		NO, NO, NO, NO, NO, NO,
	},
	[SANX_CONN_ENDED] = {
		NO, NO, NO, NO, NO, NO,
	},
};

/**
 * sanx_state_next() - the next state
 * @state: the current state
 * @ev: the event
 *
 * Context: any.
 * Return: the next state, or -EPROTO if the event cannot occur in @state.
 */
int sanx_state_next(enum sanx_conn_state state, enum sanx_conn_event ev)
{
	u8 next;

	if (state >= __SANX_CONN_STATES || ev >= __SANX_EVS)
		return -EPROTO;
	next = state_table[state][ev];
	return next == NO ? -EPROTO : next;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_state_next);

static const char * const state_names[__SANX_CONN_STATES] = {
	[SANX_CONN_NEW]		= "NEW",
	[SANX_CONN_CONNECTING]	= "CONNECTING",
	[SANX_CONN_ESTABLISHED]	= "ESTAB",
	[SANX_CONN_FIN_SENT]	= "FIN-WAIT",
	[SANX_CONN_FIN_RCVD]	= "CLOSE-WAIT",
	[SANX_CONN_FINISHED]	= "CLOSING",
	[SANX_CONN_REFUSED]	= "REFUSED",
	[SANX_CONN_DEAD]	= "CLOSED",
	[SANX_CONN_ENDED]	= "CLOSED",
};

/**
 * sanx_state_name() - name of a state, for people
 * @state: the state
 *
 * Context: any.
 * Return: a constant string.
 */
const char *sanx_state_name(enum sanx_conn_state state)
{
	return state < __SANX_CONN_STATES ? state_names[state] : "?";
}
EXPORT_SYMBOL_IF_KUNIT(sanx_state_name);
