// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that the kernel itself uses, without a socket.
 *
 * They are connections like all others, with a user (struct sanx_conn_user) where others
 * have a sock.  At the end that is asked, their port is 0, where no program can listen, and
 * one service takes them; or they are questions (question.c).  No counter and no rule of
 * connections and ports is about them.
 */
#include "config/config.h"
#include "conn_priv.h"

/* Set before the first connection is made, and not changed any more. */
static const struct sanx_conn_service *service __ro_after_init;

/**
 * sanx_conn_serve() - have connections to port 0 served
 * @s: what takes them; stays valid
 *
 * Context: init of the module.
 */
void __init sanx_conn_serve(const struct sanx_conn_service *s)
{
	service = s;
}

/*
 * Ring size of a connection that a peer's kernel asks for.
 * Return: bytes, or 0 if there are to be none.
 */
u32 sanx_service_ring_size(struct net *net)
{
	return service ? service->ring_size(net) : 0;
}

/* As sanx_conn_incoming(), for a connection to port 0. */
int sanx_service_take(struct sanx_conn *conn)
{
	return service ? service->take(conn) : -ECONNREFUSED;
}

/**
 * sanx_service_idle() - a namespace has no AF_SANX socket any more
 * @net: the namespace; no connection with a user is left there on return
 *
 * Context: process, may sleep.
 */
void sanx_service_idle(struct net *net)
{
	if (service)
		service->idle(net);
}

/* As the function for sanx_conn_connect(): there is no socket that could become TCP. */
static void user_refused(struct kthread_work *work)
{
	struct sanx_conn *conn = container_of(work, struct sanx_conn, work.work);
	struct sanx_conn_user *user;

	rcu_read_lock();
	user = READ_ONCE(conn->user);
	if (user)
		user->news(user);
	rcu_read_unlock();
	sanx_conn_put(conn);
}

/**
 * sanx_conn_use() - have a part of the kernel use a connection
 * @conn: a NEW connection to, at or from port 0
 * @user: is told of what happens to it; it must not be freed before a grace period after
 *	sanx_conn_leave()
 *
 * Context: process.
 */
void sanx_conn_use(struct sanx_conn *conn, struct sanx_conn_user *user)
{
	/* Pairs with the dependency of READ_ONCE(): who reads it finds what it is. */
	smp_store_release(&conn->user, user);
}

/**
 * sanx_conn_ask() - request a connection
 * @conn: a connection with a user, and with its ring set up
 *
 * It is REFUSED if the peer does not accept it, and is not asked for again.
 *
 * Context: process; not at the same time as sanx_conn_close().
 * Return: 0 if there is or will be an answer, else -errno.
 */
int sanx_conn_ask(struct sanx_conn *conn)
{
	return sanx_conn_connect(conn, user_refused);
}

/**
 * sanx_conn_admit() - accept a connection
 * @conn: a connection with a user, which sanx_service_take() was called for
 *
 * Context: process.
 * Return: 0; or -EPROTO if it has died.
 */
int sanx_conn_admit(struct sanx_conn *conn)
{
	return sanx_conn_accept(conn);
}

/**
 * sanx_conn_leave() - a connection has no user any more
 * @conn: the connection; its user may be called for a grace period
 *
 * Context: process.
 */
void sanx_conn_leave(struct sanx_conn *conn)
{
	WRITE_ONCE(conn->user, NULL);
}

/**
 * sanx_conn_away() - does what is sent wait for another link?
 * @conn: the connection
 *
 * Context: any.
 * Return: true if it has lost its link; a hint.
 */
bool sanx_conn_away(const struct sanx_conn *conn)
{
	return conn->ops->away && conn->ops->away(conn);
}
