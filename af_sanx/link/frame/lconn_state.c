// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the state of connections (lconn_state.h).
 *
 * Invariant: these functions alone change lc->state, under the tx_lock of lc->link, and
 * lc->owner, under the locks that enum sanx_lconn_owner names; and only as the tables
 * permit.
 */
#include "conn/trace.h"
#include "frames.h"
#include "lconn_next.h"

static const char * const phase_names[__SANX_LCONN_PHASES] = {
	[SANX_LCONN_NEW]		= "new",
	[SANX_LCONN_IDLE]		= "idle",
	[SANX_LCONN_ADRIFT]		= "adrift",
	[SANX_LCONN_OPENING]		= "opening",
	[SANX_LCONN_OPEN_SENT]		= "open sent",
	[SANX_LCONN_ACCEPTING]		= "accepting",
	[SANX_LCONN_ADMITTED]		= "admitted",
	[SANX_LCONN_OPEN]		= "open",
	[SANX_LCONN_SUSPENDED]		= "suspended",
	[SANX_LCONN_RESUMING]		= "resuming",
	[SANX_LCONN_RESUME_SENT]	= "resume sent",
	[SANX_LCONN_RESUMED]		= "resumed",
	[SANX_LCONN_OVER]		= "over",
	[SANX_LCONN_RELEASED]		= "released",
};

static const char * const tx_names[__SANX_LCONN_TXS] = {
	[SANX_LCONN_TX_STREAM]		= "stream",
	[SANX_LCONN_TX_FIN]		= "fin sent",
	[SANX_LCONN_TX_LAST]		= "last",
	[SANX_LCONN_TX_RESET]		= "reset",
};

static const char * const rx_names[__SANX_LCONN_RXS] = {
	[SANX_LCONN_RX_STREAM]		= "stream",
	[SANX_LCONN_RX_FIN]		= "fin received",
	[SANX_LCONN_RX_CLOSED]		= "peer closed",
};

static const char * const close_names[__SANX_LCONN_CLOSES] = {
	[SANX_LCONN_USED]		= "used",
	[SANX_LCONN_CLOSED]		= "closed",
	[SANX_LCONN_CLOSE_SENT]		= "close sent",
	[SANX_LCONN_CLOSE_ACKED]	= "close answered",
};

/*
 * Changes one part of the state, @field; @may: its table permits that.
 * Context: tx_lock held.
 */
static void state_set(struct sanx_lconn *lc, u8 *field, u8 to, bool may,
		      const char *part, const char * const *names)
{
	u8 from = *field;

	lockdep_assert_held(&lc->link->tx_lock);
	if (WARN_ONCE(!may, "%s: %s -> %s\n", part, names[from], names[to]))
		return;
	trace_sanx_lconn_state(lc->link->payer->id, lc->id, part, names[from],
			       names[to]);
	WRITE_ONCE(*field, to);
}

/**
 * sanx_lconn_set_phase() - change the phase of a connection
 * @lc: a connection that is, or was, attached
 * @to: a phase that may follow the present one
 *
 * Context: tx_lock held.
 */
void sanx_lconn_set_phase(struct sanx_lconn *lc, enum sanx_lconn_phase to)
{
	state_set(lc, &lc->state.phase, to,
		  sanx_lconn_phase_may(lc->state.phase, to), "phase",
		  phase_names);
}

/**
 * sanx_lconn_set_tx() - change the state of our direction
 * @lc: a connection that is, or was, attached
 * @to: a state that may follow the present one
 *
 * Context: tx_lock held.
 */
void sanx_lconn_set_tx(struct sanx_lconn *lc, enum sanx_lconn_tx to)
{
	state_set(lc, &lc->state.tx, to,
		  sanx_lconn_tx_may(lc->state.tx, to), "tx",
		  tx_names);
}

/**
 * sanx_lconn_set_rx() - change the state of the peer's direction
 * @lc: a connection that is attached
 * @to: a state that may follow the present one
 *
 * Context: tx_lock held.
 */
void sanx_lconn_set_rx(struct sanx_lconn *lc, enum sanx_lconn_rx to)
{
	state_set(lc, &lc->state.rx, to,
		  sanx_lconn_rx_may(lc->state.rx, to), "rx",
		  rx_names);
}

/**
 * sanx_lconn_set_close() - change the state of our end
 * @lc: a connection that is, or was, attached
 * @to: a state that may follow the present one
 *
 * Context: tx_lock held.
 */
void sanx_lconn_set_close(struct sanx_lconn *lc, enum sanx_lconn_close to)
{
	state_set(lc, &lc->state.close, to,
		  sanx_lconn_close_may(lc->state.close, to), "close",
		  close_names);
}

/**
 * sanx_lconn_set_owner() - change which list of the engine has a connection
 * @lc: the connection; the caller moves it between the lists, with the reference
 * @to: an owner that may follow the present one
 *
 * Context: the locks that enum sanx_lconn_owner names.
 */
void sanx_lconn_set_owner(struct sanx_lconn *lc, enum sanx_lconn_owner to)
{
	if (WARN_ONCE(!sanx_lconn_owner_may(lc->owner, to), "owner: %d -> %d\n",
		      lc->owner, to))
		return;
	WRITE_ONCE(lc->owner, to);
}
