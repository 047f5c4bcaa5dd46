// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that are older than the port rule that denies them.  Rules decide when a
 * connection is made, so a new rule ends none.  The administrator can see the connections
 * that would not be made now, and end them.
 *
 * None is missed.  Each connection is in a list from before its rules are checked for
 * the last time, or from the same critical section on, until it is closed:
 *
 * - One that came in is found by sanx_listener_each() (conn/listener.c), and then by
 *   sanx_socks_each().  It is in the second list before it leaves the first one.
 * - The socket of one that was asked for here is in its list before connect().  Rules
 *   are checked again after it became CONNECTING (sanx_conn_connect()).
 */
#include "config/config.h"
#include "socket.h"

static bool rules_deny(const struct sanx_conn *conn)
{
	return conn->accepted ?
	       !sanx_port_allowed(conn->net, SANX_WAY_IN, &conn->remote.addr, &conn->local) :
	       !sanx_port_allowed(conn->net, SANX_WAY_OUT, &conn->remote.addr, &conn->remote);
}

/**
 * sanx_denied() - would port rules deny a connection if it were made now?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if it is established, and they would.
 */
bool sanx_denied(const struct sanx_conn *conn)
{
	return sanx_conn_open(conn) && rules_deny(conn);
}

/**
 * struct denied_batch - connections that port rules deny
 * @n: number of @conn
 * @n_open: of these, the number that are established
 * @conn: the connections, with a reference each
 */
struct denied_batch {
	unsigned int		n;
	unsigned int		n_open;
	struct sanx_conn	*conn[32];
};

/* accept() may have it in both lists. */
static bool has(const struct denied_batch *b, const struct sanx_conn *conn)
{
	unsigned int i;

	for (i = 0; i < b->n; i++)
		if (b->conn[i] == conn)
			return true;
	return false;
}

static bool collect(struct sanx_conn *conn, void *arg)
{
	struct denied_batch *b = arg;
	bool connects, open;

	if (b->n == ARRAY_SIZE(b->conn))
		return false;
	/* In this order: it may be established meanwhile. */
	connects = READ_ONCE(conn->state) == SANX_CONN_CONNECTING;
	open = sanx_conn_open(conn);
	if ((!connects && !open) || !rules_deny(conn) || has(b, conn))
		return true;
	b->n_open += open;
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
 * it has not called accept() yet.  Those that still connect become TCP, or get EACCES if they are
 * explicit.
 *
 * Resets call the callbacks of sockets, so they are outside of socks.lock and of the
 * listeners' lock.  A connection that was reset or refused is not found again.
 *
 * Context: process, may sleep.
 * Return: number of ends of connections.
 */
unsigned int sanx_denied_end(const struct net *net)
{
	struct denied_batch b;
	unsigned int i, n = 0;

	/* The rules were stored.  Pairs with smp_mb() in sanx_conn_connect(). */
	smp_mb();
	do {
		b.n = 0;
		b.n_open = 0;
		/* In this order: accept() moves them from here to there. */
		sanx_listener_each(net, collect, &b);
		sanx_socks_each(net, collect_of, &b);
		for (i = 0; i < b.n; i++) {
			sanx_conn_deny(b.conn[i]);
			sanx_conn_put(b.conn[i]);
		}
		n += b.n_open;
	} while (b.n);
	return n;
}
