// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that a port rule denies which was made after them.  Rules decide when
 * a connection is made.  The administrator can see those that would not be made now,
 * and end them.
 */
#include "config/config.h"
#include "internal.h"

/**
 * sanx_denied() - would port rules deny a connection if it were made now?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if it is established, and they would.
 */
bool sanx_denied(const struct sanx_conn *conn)
{
	if (!sanx_conn_open(conn))
		return false;
	return conn->accepted ?
	       !sanx_port_allowed(conn->net, SANX_WAY_IN, &conn->remote.addr,
				  conn->local.port) :
	       !sanx_port_allowed(conn->net, SANX_WAY_OUT, &conn->remote.addr,
				  conn->remote.port);
}

/**
 * struct denied_batch - connections that port rules deny
 * @n: number of @conn
 * @conn: the connections, with a reference each
 */
struct denied_batch {
	unsigned int		n;
	struct sanx_conn	*conn[32];
};

static bool collect(struct sanx_conn *conn, void *arg)
{
	struct denied_batch *b = arg;

	if (b->n == ARRAY_SIZE(b->conn))
		return false;
	if (sanx_denied(conn))
		b->conn[b->n++] = sanx_conn_get(conn);
	return true;
}

static bool collect_of(const struct sanx_sock *ss, void *arg)
{
	struct sanx_conn *conn = sanx_sock_conn(ss);

	return !conn || collect(conn, arg);
}

/**
 * sanx_denied_end() - end the connections that port rules deny by now
 * @net: the namespace
 *
 * Both ends get a reset; the program here gets ECONNABORTED, as from "ss -K", also if
 * it has not called accept() yet.
 *
 * Resets call the callbacks of sockets, so they are outside of socks.lock and of the
 * listeners' lock.  A connection that was reset is not open, and not found again.
 *
 * Context: process, may sleep.
 * Return: number of ends of connections.
 */
unsigned int sanx_denied_end(const struct net *net)
{
	struct denied_batch b;
	unsigned int i, n = 0;

	do {
		b.n = 0;
		/* In this order: accept() moves them from here to there. */
		sanx_listener_each(net, collect, &b);
		sanx_socks_each(net, collect_of, &b);
		for (i = 0; i < b.n; i++) {
			b.conn[i]->ops->abort(b.conn[i]);
			sanx_conn_reset(b.conn[i], ECONNABORTED);
			sanx_conn_put(b.conn[i]);
		}
		n += b.n;
	} while (b.n);
	return n;
}
