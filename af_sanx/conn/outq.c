// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes that send() took and that the peer was not given, or has not read.  The
 * figures are estimates that are comparable with those of TCP.
 */
#include "conn_priv.h"

/**
 * sanx_conn_outq() - SIOCOUTQ: bytes that TCP would hold in its send queue
 * @conn: the connection
 *
 * One half of the peer's ring counts as its receive buffer, the other half as
 * data on the way.  So the result is 0 if the peer reads, or has little to
 * read, and not 0 if nothing moves any more.
 *
 * Context: any.
 * Return: bytes; a hint.
 */
u32 sanx_conn_outq(struct sanx_conn *conn)
{
	u32 unread = sanx_txq_unread(&conn->tx), unsent;

	unread -= min(unread, conn->tx.size / 2);
	unsent = sanx_conn_unsent(conn);
	return conn->ops->counts_unsent ? max(unread, unsent) : unread + unsent;
}

/**
 * sanx_conn_taken() - bytes that send() took and the peer's program has not
 * read
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes; a hint.
 */
u32 sanx_conn_taken(struct sanx_conn *conn)
{
	u32 unread = sanx_txq_unread(&conn->tx);

	if (conn->ops->counts_unsent)
		return unread;
	return unread + sanx_conn_unsent(conn);
}

/**
 * sanx_conn_unsent() - SIOCOUTQNSD: bytes that the peer was not given yet
 * @conn: the connection
 *
 * Context: any.
 * Return: bytes; a hint.
 */
u32 sanx_conn_unsent(struct sanx_conn *conn)
{
	return conn->ops->unsent ? conn->ops->unsent(conn) : 0;
}

/**
 * sanx_conn_bytes() - how many bytes a connection has carried
 * @conn: the connection
 * @sent: set to those that the program has sent
 * @came: set to those of the peer's that have arrived
 *
 * Context: any.  Hints.
 */
void sanx_conn_bytes(struct sanx_conn *conn, u64 *sent, u64 *came)
{
	u64 next;

	/* What is posted meanwhile goes from the one to the other. */
	do {
		next = READ_ONCE(conn->tx.next);
		*sent = next;
		if (!conn->ops->counts_unsent)
			*sent += sanx_conn_unsent(conn);
	} while (next != READ_ONCE(conn->tx.next));
	*came = READ_ONCE(conn->rx.tail);
}
