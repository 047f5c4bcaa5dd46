// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the state of connections (lconn_state.h).
 *
 * Invariant: these functions alone change lc->state, under the tx_lock of
 * lc->link, and only as the tables permit.
 */
#include "internal.h"
#include "trace.h"

static const char * const phase_names[__SANX_LCONN_PHASES] = {
	[SANX_LCONN_NEW]		= "new",
	[SANX_LCONN_IDLE]		= "idle",
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

static void state_changes(const struct sanx_lconn *lc, const char *part,
			  const char *from, const char *to)
{
	trace_sanx_lconn_state(lc->link->group->peer, lc->id, part, from, to);
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
	u8 from = lc->state.phase;

	lockdep_assert_held(&lc->link->tx_lock);
	if (WARN_ONCE(!sanx_lconn_phase_may(from, to), "%s -> %s\n",
		      phase_names[from], phase_names[to]))
		return;
	state_changes(lc, "phase", phase_names[from], phase_names[to]);
	WRITE_ONCE(lc->state.phase, to);
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
	u8 from = lc->state.tx;

	lockdep_assert_held(&lc->link->tx_lock);
	if (WARN_ONCE(!sanx_lconn_tx_may(from, to), "%s -> %s\n",
		      tx_names[from], tx_names[to]))
		return;
	state_changes(lc, "tx", tx_names[from], tx_names[to]);
	WRITE_ONCE(lc->state.tx, to);
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
	u8 from = lc->state.rx;

	lockdep_assert_held(&lc->link->tx_lock);
	if (WARN_ONCE(!sanx_lconn_rx_may(from, to), "%s -> %s\n",
		      rx_names[from], rx_names[to]))
		return;
	state_changes(lc, "rx", rx_names[from], rx_names[to]);
	WRITE_ONCE(lc->state.rx, to);
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
	u8 from = lc->state.close;

	lockdep_assert_held(&lc->link->tx_lock);
	if (WARN_ONCE(!sanx_lconn_close_may(from, to), "%s -> %s\n",
		      close_names[from], close_names[to]))
		return;
	state_changes(lc, "close", close_names[from], close_names[to]);
	WRITE_ONCE(lc->state.close, to);
}
