/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets, for init and exit of the module and for the socket dump of netlink.
 */
#ifndef _SANX_SOCKET_H
#define _SANX_SOCKET_H

#include "conn/conn.h"

/**
 * enum sanx_ends - what connect() or accept() entered into TCP's tables (ends.c), or, of an
 *	explicit socket, into its ports (explicit.c)
 * @SANX_ENDS_NONE: nothing
 * @SANX_ENDS_NAMED: addresses and ports; the port is bind()'s
 * @SANX_ENDS_PORT: the port, too
 */
enum sanx_ends {
	SANX_ENDS_NONE,
	SANX_ENDS_NAMED,
	SANX_ENDS_PORT,
};

struct sanx_explicit;
struct tally;

/**
 * struct sanx_sock - AF_SANX's part of a socket; i_private of its inode
 * @native: the proto_ops of the native socket, with a reference of their owner;
 *	a fallback moves both to sock->ops; constant
 * @sk: the native socket's sock, which is also the visible socket's; constant
 * @conn: the connection, with a reference, or NULL; stays here, open or dead,
 *	until it moves to @old or this struct is freed
 * @old: connections that were dropped by a failed connect() or by
 *	connect(AF_UNSPEC), with a reference each; other calls may still use
 *	them, so they are put when this struct is freed
 * @n_old: number of @old
 * @why: why it became TCP; set by a fallback, then constant
 * @fell_back: sock->ops is @native
 * @ends: what of the sock connect() or accept() entered into TCP's tables
 * @tcp_only: listens for TCP only
 * @lsk: the listener; guarded as conn/listener.c says
 * @node: in the list of the namespace's sockets (socks.lock); after a fallback
 *	in the table of the reaper (fallen_lock)
 * @sock: the socket, with a reference of its inode; set by a fallback for the
 *	reaper, then constant
 * @tally: what counts it, or NULL; set once
 * @explicit: set if it is an explicit socket; constant
 * @rcu: frees it: sanx_listener_destroy()
 *
 * lock_sock(@sk) guards @old, @n_old, @ends and @tcp_only, and writes of
 * @conn, @fell_back and @tally.  sanx_sock_conn() reads @conn without it, with acquire
 * semantics.  sanx_sk() reads @fell_back without it.
 */
struct sanx_sock {
	const struct proto_ops	*native;
	struct sock		*sk;
	struct sanx_conn	*conn;
	struct list_head	old;
	unsigned int		n_old;
	enum sanx_fallback	why;
	bool			fell_back;
	enum sanx_ends		ends;
	bool			tcp_only;
	struct sanx_listener	lsk;
	struct list_head	node;
	struct socket		*sock;
	struct tally		*tally;
	struct sanx_explicit	*explicit;
	struct rcu_head		rcu;
};

/* family.c */
int sanx_family_init(void);
void sanx_family_exit(void);

/* explicit.c */
int sanx_explicit_init(void);
void sanx_explicit_exit(void);

/* explicit_abort.c */
int sanx_explicit_abort(const struct net *net, unsigned long inode);

/* explicit_dgram.c */
extern const struct sanx_dgram_ops sanx_explicit_dgram_ops;

/* label.c */
int sanx_label_init(void);
void sanx_label_exit(void);

/* stream.c */
struct sanx_conn *sanx_sock_conn(const struct sanx_sock *ss);

/* Lists in which the sockets are that became TCP; a power of two. */
#define SANX_FALLEN_CHAINS	256U

/* fallback.c */
void sanx_fallback_init(void);
void sanx_fallback_drain(void);
const char *sanx_fallback_name(enum sanx_fallback why);
bool sanx_fallen_each(const struct net *net, unsigned int chain,
		      bool (*fn)(const struct sock *sk, enum sanx_fallback why, void *arg),
		      void *arg);

/* denied.c */
bool sanx_denied(const struct sanx_conn *conn);
unsigned int sanx_denied_end(const struct net *net);

/* ends.c */
void sanx_native_ends(const struct sock *sk, struct sanx_endpoint *local,
		      struct sanx_endpoint *remote);
void sanx_sock_ends(const struct sanx_sock *ss, struct sanx_endpoint *local,
		    struct sanx_endpoint *remote);

/* socks.c */
int sanx_socks_init(void);
void sanx_socks_exit(void);
bool sanx_socks_each(const struct net *net,
		     bool (*fn)(const struct sanx_sock *ss, void *arg),
		     void *arg);

#endif /* _SANX_SOCKET_H */
