// SPDX-License-Identifier: GPL-2.0
/* The engine as the core calls it. */
#include "peer.h"

static void link_init(struct sanx_conn *conn)
{
	sanx_lconn_init(sanx_lconn_of(conn));
}

/* sanx_lane_link_up() may attach a connection that waits at any time. */
static void link_close(struct sanx_conn *conn, bool reset)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);

	if ((!READ_ONCE(lc->link) || sanx_lconn_is_adrift(&lc->state)) &&
	    sanx_lane_cancel(lc))
		return;
	if (READ_ONCE(lc->link))
		sanx_lconn_close(conn, reset);
}

static int link_connect(struct sanx_conn *conn)
{
	return sanx_lane_connect(sanx_lconn_of(conn));
}

/*
 * The link of a connection may be dead, and its wire gone, so the kind of the wire
 * is looked at, and not the wire.
 */
static void link_via(const struct sanx_conn *conn, struct sanx_via *via)
{
	static const enum sanx_stat stat[] = {
		[SANX_WIRE_RDMA]	= SANX_STAT_CONNS_VERBS,
		[SANX_WIRE_TCP]		= SANX_STAT_CONNS_TCP_RAIL,
	};
	enum sanx_wire_kind kind = SANX_WIRE_RDMA;
	const struct sanx_link *link;

	via->node = 0;
	rcu_read_lock();
	link = READ_ONCE(container_of(conn, struct sanx_lconn, conn)->link);
	if (link) {
		kind = link->kind;
		via->node = link->payer->id;
	}
	rcu_read_unlock();
	via->name = sanx_link_kind_name(kind);
	via->stat = stat[kind];
}

static bool link_away(const struct sanx_conn *conn)
{
	const struct sanx_lconn *lc = container_of(conn, struct sanx_lconn, conn);

	return READ_ONCE(lc->state.phase) == SANX_LCONN_SUSPENDED;
}

const struct sanx_transport_ops sanx_link_ops = {
	.conn_size	= sizeof(struct sanx_lconn),
	.via		= link_via,
	.away		= link_away,
	.piece		= PAYLOAD_PIECE,
	.init		= link_init,
	.connect	= link_connect,
	.send		= sanx_lconn_send,
	.announce	= sanx_lconn_announce,
	.room		= sanx_lconn_room,
	.wait_pages	= sanx_long_wait,
	.unsent		= sanx_lconn_unsent,
	.drained	= sanx_lconn_drained,
	.consumed	= sanx_lconn_consumed,
	.left		= sanx_rings_left,
	.reclaim	= sanx_window_reclaim,
	.fin		= sanx_lconn_fin,
	.close		= link_close,
	.abort		= sanx_lconn_cut,
	.liveness	= sanx_lconn_liveness,
	.probe		= sanx_lconn_probe,
	.destroy	= sanx_lconn_destroy,
};
