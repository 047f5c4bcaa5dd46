/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets, for the module's init and exit, and for the socket dump of netlink. */
#ifndef _SANX_SOCKET_H
#define _SANX_SOCKET_H

#include "conn/conn.h"

/**
 * struct sanx_sock - what AF_SANX adds to a socket; i_private of its inode
 * @native: the proto_ops of the native socket, with a reference of their owner,
 *	which goes to sock->ops in a fallback
 * @sk: the native socket's sock, which is also the visible socket's
 * @conn: the connection, once connect() or accept() made one; it stays, dead
 *	or alive, until this struct goes
 * @old: connections that a failed connect() or connect(AF_UNSPEC) gave up;
 *	they go with this struct, as calls may be using them
 * @n_old: how many
 * @fell_back: sock->ops is @native
 * @autobound: the port was taken by connect() and not by bind(), and the sock
 *	is in TCP's table of connections (autobind.c)
 * @tcp_only: listens for TCP only
 * @lsk: the listener
 * @node: in the list of the namespace's sockets (socks.c), or after a fallback in
 *	the reaper's
 * @sock: the socket, after a fallback
 *
 * @conn and @fell_back are written under lock_sock(@sk) and read anywhere.
 */
struct sanx_sock {
	const struct proto_ops	*native;
	struct sock		*sk;
	struct sanx_conn	*conn;
	struct list_head	old;
	unsigned int		n_old;
	bool			fell_back;
	bool			autobound;
	bool			tcp_only;
	struct sanx_listener	lsk;
	struct list_head	node;
	struct socket		*sock;
};

/* family.c */
int sanx_family_init(void);
void sanx_family_exit(void);

/* label.c */
int sanx_label_init(void);
void sanx_label_exit(void);

/* stream.c */
struct sanx_conn *sanx_sock_conn(const struct sanx_sock *ss);

/* fallback.c */
void sanx_fallback_drain(void);

/* socks.c */
int sanx_socks_init(void);
void sanx_socks_exit(void);
void sanx_socks_each(const struct net *net,
		     bool (*fn)(const struct sanx_sock *ss, void *arg),
		     void *arg);

#endif /* _SANX_SOCKET_H */
