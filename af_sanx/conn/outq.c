// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes that send() took, and that the peer was not given or has not read.  The
 * figures are estimates, and comparable with those of TCP.
 */
#include "internal.h"

/**
 * sanx_conn_outq() - SIOCOUTQ: what TCP would hold in its send queue
 * @conn: the connection
 *
 * Of the peer's ring, one half stands for the receive buffer there, the other
 * for what is on its way: so this is 0 where the peer reads, or has not much to
 * read, and not 0 where nothing moves any more.
 *
 * Return: bytes; a moment's estimate.
 */
u32 sanx_conn_outq(struct sanx_conn *conn)
{
	u32 unread = sanx_txq_unread(&conn->tx), unsent;

	unread -= min(unread, conn->tx.size / 2);
	unsent = sanx_conn_unsent(conn);
	/* What TCP would not have sent lies in the peer's memory all the same. */
	return conn->ops->same_node ? max(unread, unsent) : unread + unsent;
}

/**
 * sanx_conn_taken() - what send() took and the peer's program has not read
 * @conn: the connection
 *
 * Return: bytes; a moment's estimate.
 */
u32 sanx_conn_taken(struct sanx_conn *conn)
{
	u32 unread = sanx_txq_unread(&conn->tx);

	return conn->ops->same_node ? unread : unread + sanx_conn_unsent(conn);
}

/**
 * sanx_conn_unsent() - SIOCOUTQNSD: what the peer has not been given yet
 * @conn: the connection
 *
 * Return: bytes; a moment's estimate.
 */
u32 sanx_conn_unsent(struct sanx_conn *conn)
{
	return conn->ops->unsent ? conn->ops->unsent(conn) : 0;
}
